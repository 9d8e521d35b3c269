//! Writes Rust code, for use in build scripts: a typed view and a writer for each message.
//!
//! ```text
//! // build.rs, with fixwire-dictionary and fixwire-protocol as build-dependencies
//! let dictionary = Dictionary::built_in(Version::Fix42);
//! fs::write(out.join("fix42.rs"), generate::typed(&dictionary, &["D", "8"])?)?;
//!
//! // src/messages.rs, with fixwire-protocol as dependency
//! pub mod fix42 { include!(concat!(env!("OUT_DIR"), "/fix42.rs")); }
//!
//! // using it
//! let order = NewOrderSingle::of(message)?;
//! let what = order.instrument().symbol();          // components::Instrument, of any message that has it
//! ExecutionReport::write(outbox, session, ...).price(order.price()?).finish()
//! ```

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{
    DataType, Dictionary, FieldDef, GroupDef, Member, MessageDef, names,
};

mod component;
mod values;

/// The line that stands before each import in generated code.
const UNUSED: &str =
    "#[allow(unused_imports, reason = \"the types of the fields decide what is used\")]";

/// The error that the dictionary has no message with this type.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownMessage {
    /// The requested type.
    pub msg_type: String,
}

impl fmt::Display for UnknownMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the dictionary has no message of type {}", self.msg_type)
    }
}

impl core::error::Error for UnknownMessage {}

/// Rust source code with a view and a writer for each of these message types, and with the values that their fields
/// may have. The code uses `fixwire_protocol::typed`, and needs no dictionary at run time.
///
/// # Errors
///
/// [`UnknownMessage`] names a type that the dictionary does not have.
pub fn typed(dictionary: &Dictionary, msg_types: &[&str]) -> Result<String, UnknownMessage> {
    typed_in("fixwire_protocol", dictionary, msg_types)
}

/// As [`typed`], for a crate that has `fixwire_protocol` under another path. The path is `fixwire::protocol` if
/// `fixwire` is the only dependency.
///
/// # Errors
///
/// As for [`typed`].
pub fn typed_in(
    path: &str,
    dictionary: &Dictionary,
    msg_types: &[&str],
) -> Result<String, UnknownMessage> {
    let mut used = BTreeSet::new();
    let mut text = format!(
        "// Written by fixwire_dictionary::generate from {}.\n",
        dictionary.version()
    );
    let mut messages = Vec::new();
    for &msg_type in msg_types {
        let message = dictionary.message(msg_type.as_bytes());
        let message = message.ok_or_else(|| UnknownMessage {
            msg_type: msg_type.into(),
        })?;
        collect(message.members(), &mut used);
        let module = lower(message.name());
        let name = message.name();
        let _ = writeln!(text, "pub use {module}::{name};");
        let _ = writeln!(
            text,
            "/// {name}({msg_type}): its view, its writer and the entries of its groups."
        );
        let _ = writeln!(text, "pub mod {module} {{");
        let _ = writeln!(text, "use {path}::outbox::{{Body, BodyError}};");
        for names in [
            "typed::{Fields, Shape, read}",
            "{Decimal, Precision, Timestamp}",
            "{Message, Outbox, Refusal, SessionId}",
        ] {
            let _ = writeln!(text, "{UNUSED}\nuse {path}::{names};");
        }
        Module {
            dictionary,
            text: &mut text,
            groups: BTreeMap::new(),
            reads_only: false,
        }
        .message(message);
        text.push_str("}\n");
        messages.push(message);
    }
    component::module(path, dictionary, &messages, &mut text);
    for tag in used {
        values::values(dictionary, tag, &mut text);
    }
    Ok(text)
}

fn collect(members: &[Member], used: &mut BTreeSet<Tag>) {
    for member in members {
        used.insert(member.tag);
        if let Some(group) = &member.group {
            collect(group.members(), used);
        }
    }
}

/// How a field is read and written.
struct Field<'a> {
    def: &'a FieldDef,
    required: bool,
    group: Option<&'a GroupDef>,
    /// For a data field, its length field.
    length: Option<Tag>,
}

impl Field<'_> {
    fn name(&self) -> String {
        lower(&self.def.name)
    }

    /// The Rust type of one value. Text is borrowed.
    fn ty(&self, lifetime: &str) -> String {
        match self.def.kind {
            kind if kind.is_decimal() => "Decimal".into(),
            DataType::Int => "i64".into(),
            DataType::Length
            | DataType::SeqNum
            | DataType::NumInGroup
            | DataType::TagNum
            | DataType::DayOfMonth => "u64".into(),
            DataType::Char => "u8".into(),
            DataType::Boolean => "bool".into(),
            DataType::UtcTimestamp => "Timestamp".into(),
            _ if lifetime.is_empty() => "&[u8]".into(),
            _ => format!("&'{lifetime} [u8]"),
        }
    }

    fn is_text(&self) -> bool {
        self.ty("").starts_with('&')
    }

    /// The statement that writes the expression `value` into `body`.
    fn put(&self, body: &str, value: &str) -> String {
        let tag = self.def.tag;
        match (self.ty("").as_str(), self.length) {
            (_, Some(length)) => format!("{body}.data({length}, {tag}, {value});"),
            ("Decimal", _) => format!("{body}.decimal({tag}, {value});"),
            ("i64", _) => format!("{body}.int({tag}, {value});"),
            ("u64", _) => format!("{body}.uint({tag}, {value});"),
            ("u8", _) => format!("{body}.char({tag}, {value});"),
            ("bool", _) => format!("{body}.bool({tag}, {value});"),
            ("Timestamp", _) => format!("{body}.time({tag}, {value}, PRECISION);"),
            _ => format!("{body}.field({tag}, {value});"),
        }
    }
}

/// A module of generated code, with one message and its groups.
struct Module<'a> {
    dictionary: &'a Dictionary,
    text: &'a mut String,
    /// The members of each group's entries, by the Rust name of the group. If a second group has the same name, it
    /// gets another one.
    groups: BTreeMap<String, Vec<Tag>>,
    /// Whether this module writes no message, so that its groups only have views.
    reads_only: bool,
}

impl<'a> Module<'a> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// The members that get generated code. Length fields get no generated code, because their data fields include
    /// them.
    fn fields(&self, members: &'a [Member]) -> Vec<Field<'a>> {
        let here = |tag: Tag| members.iter().any(|member| member.tag == tag);
        let of_data = |def: &FieldDef| matches!(def.kind, DataType::Data | DataType::XmlData);
        let dictionary = self.dictionary;
        let field = |member: &'a Member| {
            let def = dictionary.field(member.tag)?;
            let partner = def.partner.filter(|&tag| here(tag));
            if partner.is_some() && !of_data(def) {
                return None;
            }
            Some(Field {
                def,
                required: member.required,
                group: member.group.as_deref(),
                length: partner,
            })
        };
        members.iter().filter_map(field).collect()
    }

    fn message(mut self, message: &'a MessageDef) {
        let fields = self.fields(message.members());
        let names: Vec<String> = fields
            .iter()
            .map(|field| self.group(field.group, ""))
            .collect();
        let (name, msg_type) = (message.name(), message.msg_type());
        let precision = match self.dictionary.version() {
            "FIX.4.0" | "FIX.4.1" => "Seconds",
            _ => "Millis",
        };
        self.line("#[allow(dead_code, reason = \"a message without times does not use it\")]");
        self.line(&format!(
            "const PRECISION: Precision = Precision::{precision};"
        ));
        self.line(&format!("/// A {name}({msg_type}) that was received."));
        self.line("#[derive(Clone, Copy, Debug)]");
        self.line(&format!("pub struct {name}<'a>(Fields<'a>);"));
        self.line(&format!("impl<'a> {name}<'a> {{"));
        self.line("/// MsgType(35).");
        self.line(&format!(
            "pub const MSG_TYPE: &'static [u8] = b\"{msg_type}\";"
        ));
        self.line("/// The message, if it is of this type.");
        self.line("pub fn of(message: &Message<'a>) -> Option<Self> {");
        self.line("(message.msg_type() == Self::MSG_TYPE).then(|| Self(Fields::of(message)))\n}");
        self.getters(&fields, &names);
        for component in component::of(self.dictionary, message) {
            let (name, method) = (&component.name, lower(&component.name));
            self.line(&format!(
                "/// Its {name}, for functions that take it from any message."
            ));
            self.line(&format!(
                "pub fn {method}(&self) -> super::components::{name}<'a> {{ super::components::{name}(self.0) }}"
            ));
        }
        self.writer(message, &fields, &names);
    }

    /// Writes the methods that read fields. The impl block is left open for more methods.
    fn getters(&mut self, fields: &[Field<'_>], names: &[String]) {
        for (field, entry) in fields.iter().zip(names) {
            let (method, tag, ty) = (field.name(), field.def.tag, field.ty("a"));
            let needed = if field.required { ", required" } else { "" };
            self.line(&format!(
                "/// {}({tag}), {:?}{needed}.",
                field.def.name, field.def.kind
            ));
            if field.group.is_some() {
                self.line(&format!(
                    "pub fn {method}(&self) -> impl Iterator<Item = {entry}View<'a>> + use<'a> {{"
                ));
                self.line(&format!(
                    "self.0.entries(&{}).map({entry}View)\n}}",
                    names::constant(entry)
                ));
                continue;
            }
            let (returns, body) = match (field.required, field.is_text()) {
                (true, true) => (
                    format!("Result<{ty}, Refusal>"),
                    format!("self.0.required({tag})"),
                ),
                (true, false) => (
                    format!("Result<{ty}, Refusal>"),
                    format!("read({tag}, self.0.required({tag})?)"),
                ),
                (false, true) => (format!("Option<{ty}>"), format!("self.0.get({tag})")),
                (false, false) => (
                    format!("Result<Option<{ty}>, Refusal>"),
                    format!("self.0.get({tag}).map(|text| read({tag}, text)).transpose()"),
                ),
            };
            if field.required || !field.is_text() {
                self.line("///\n/// # Errors\n///\n/// Says why the message is to be refused.");
            }
            self.line(&format!("pub fn {method}(&self) -> {returns} {{ {body} }}"));
        }
    }

    fn writer(&mut self, message: &MessageDef, fields: &[Field<'_>], names: &[String]) {
        let name = message.name();
        let required = || fields.iter().zip(names).filter(|(field, _)| field.required);
        let argument = |(field, entry): (&Field<'_>, &String)| match field.group {
            Some(_) => format!("{}: &[{entry}<'_>]", field.name()),
            None => format!("{}: {}", field.name(), field.ty("")),
        };
        let arguments: Vec<String> = required().map(argument).collect();
        self.line("/// Begins a message with the fields that it must have. Dropping the writer finishes it too.");
        self.line("#[allow(clippy::too_many_arguments)]");
        self.line(&format!(
            "pub fn write<'o>(outbox: &'o mut Outbox, session: SessionId, {}) -> {name}Writer<'o> {{",
            arguments.join(", ")
        ));
        let mutable = if arguments.is_empty() { "" } else { "mut " };
        self.line(&format!(
            "let {mutable}body = outbox.begin(session, Self::MSG_TYPE);"
        ));
        for (field, _) in required() {
            match field.group {
                Some(_) => {
                    self.line(&format!(
                        "body.uint({}, {}.len() as u64);",
                        field.def.tag,
                        field.name()
                    ));
                    self.line(&format!(
                        "{}.iter().for_each(|entry| entry.put(&mut body));",
                        field.name()
                    ));
                }
                None => self.line(&field.put("body", &field.name())),
            }
        }
        self.line(&format!("{name}Writer(body)\n}}\n}}"));
        self.line(&format!(
            "/// A {name}({}) that is being written.",
            message.msg_type()
        ));
        self.line(&format!(
            "#[derive(Debug)]\npub struct {name}Writer<'o>(Body<'o>);"
        ));
        self.line(&format!("impl<'o> {name}Writer<'o> {{"));
        for (field, entry) in fields
            .iter()
            .zip(names)
            .filter(|(field, _)| !field.required)
        {
            let (method, tag) = (field.name(), field.def.tag);
            self.line(&format!("/// {}({tag}).", field.def.name));
            match field.group {
                Some(_) => {
                    self.line(&format!(
                        "pub fn {method}(mut self, entries: &[{entry}<'_>]) -> Self {{"
                    ));
                    self.line(&format!("self.0.uint({tag}, entries.len() as u64);"));
                    self.line("entries.iter().for_each(|entry| entry.put(&mut self.0));");
                }
                None => {
                    self.line(&format!(
                        "pub fn {method}(mut self, value: {}) -> Self {{",
                        field.ty("")
                    ));
                    self.line(&field.put("self.0", "value"));
                }
            }
            self.line("self\n}");
        }
        self.line("/// The body, for fields that the dictionary does not have.");
        self.line("pub fn body(&mut self) -> &mut Body<'o> { &mut self.0 }");
        self.line("/// The message is complete.\n///\n/// # Errors\n///\n/// When it did not fit into the outbox.");
        self.line("pub fn finish(self) -> Result<(), BodyError> { self.0.finish() }\n}");
    }

    /// Writes the shape and the view of a group, and for messages that are written also its entry. Returns the
    /// group's name. Writes nothing for an empty group.
    fn group(&mut self, group: Option<&'a GroupDef>, outer: &str) -> String {
        let Some(group) = group else {
            return String::new();
        };
        let tags: Vec<Tag> = group.members().iter().map(|member| member.tag).collect();
        let count = self
            .dictionary
            .field(group.count())
            .map_or("Group", |field| field.name.as_str());
        let mut name = String::from(count);
        if self.groups.get(&name).is_some_and(|known| *known != tags) {
            name = format!("{outer}{count}");
        }
        while self.groups.get(&name).is_some_and(|known| *known != tags) {
            name.push_str("Other");
        }
        if self.groups.insert(name.clone(), tags).is_some() {
            return name;
        }
        let fields = self.fields(group.members());
        let names: Vec<String> = fields
            .iter()
            .map(|field| self.group(field.group, &name))
            .collect();
        self.shape(group, &name, &names);
        self.line(&format!(
            "/// An entry of {count}({}) that was received.",
            group.count()
        ));
        self.line(&format!(
            "#[derive(Clone, Copy, Debug)]\npub struct {name}View<'a>(Fields<'a>);"
        ));
        self.line(&format!("impl<'a> {name}View<'a> {{"));
        self.getters(&fields, &names);
        self.line("}");
        if !self.reads_only {
            self.entry(group, &name, &fields, &names);
        }
        name
    }

    fn shape(&mut self, group: &GroupDef, name: &str, names: &[String]) {
        let tags: Vec<String> = group
            .members()
            .iter()
            .map(|member| format!("{}", member.tag))
            .collect();
        let nested: Vec<String> = names
            .iter()
            .filter(|name| !name.is_empty())
            .map(|name| format!("{}_SHAPE", names::constant(name)))
            .collect();
        let constant = names::constant(name);
        self.line(&format!(
            "const {constant}_SHAPE: Shape = Shape {{ count: {}, delimiter: {}, members: &[{}], nested: &[{}] }};",
            group.count(),
            group.delimiter(),
            tags.join(", "),
            nested.join(", ")
        ));
        self.line(&format!("static {constant}: Shape = {constant}_SHAPE;"));
    }

    fn entry(&mut self, group: &GroupDef, name: &str, fields: &[Field<'_>], names: &[String]) {
        let must = |field: &Field<'_>| field.required || field.def.tag == group.delimiter();
        let ty = |field: &Field<'_>, entry: &str| match field.group {
            Some(_) => format!("&'v [{entry}<'v>]"),
            None => field.ty("v"),
        };
        self.line(&format!(
            "/// An entry of {name}({}) to write.",
            group.count()
        ));
        self.line(&format!(
            "#[derive(Clone, Copy, Debug)]\npub struct {name}<'v> {{"
        ));
        for (field, entry) in fields.iter().zip(names) {
            let ty = ty(field, entry);
            let ty = if must(field) || field.group.is_some() {
                ty
            } else {
                format!("Option<{ty}>")
            };
            self.line(&format!("/// {}({}).", field.def.name, field.def.tag));
            self.line(&format!("pub {}: {ty},", field.name()));
        }
        self.line("#[doc(hidden)]\npub borrows: core::marker::PhantomData<&'v ()>,\n}");
        let pairs = || fields.iter().zip(names);
        let arguments: Vec<String> = pairs()
            .filter(|(field, _)| must(field) && field.group.is_none())
            .map(|(field, entry)| format!("{}: {}", field.name(), ty(field, entry)))
            .collect();
        self.line(&format!("impl<'v> {name}<'v> {{"));
        self.line("/// An entry with the fields that it must have.");
        self.line("#[allow(clippy::too_many_arguments)]");
        self.line(&format!(
            "pub const fn new({}) -> Self {{\nSelf {{",
            arguments.join(", ")
        ));
        for (field, _) in pairs() {
            let name = field.name();
            match (field.group.is_some(), must(field)) {
                (true, _) => self.line(&format!("{name}: &[],")),
                (_, true) => self.line(&format!("{name},")),
                _ => self.line(&format!("{name}: None,")),
            }
        }
        self.line("borrows: core::marker::PhantomData,\n}\n}");
        self.line("fn put(&self, body: &mut Body<'_>) {");
        for (field, _) in pairs() {
            let (name, tag) = (field.name(), field.def.tag);
            match (field.group.is_some(), must(field)) {
                (true, _) => {
                    self.line(&format!("if !self.{name}.is_empty() {{ body.uint({tag}, self.{name}.len() as u64); }}"));
                    self.line(&format!(
                        "self.{name}.iter().for_each(|entry| entry.put(body));"
                    ));
                }
                (_, true) => self.line(&field.put("body", &format!("self.{name}"))),
                _ => self.line(&format!(
                    "if let Some(value) = self.{name} {{ {} }}",
                    field.put("body", "value")
                )),
            }
        }
        self.line("}\n}");
    }
}

/// The Rust name for a method, module or field.
fn lower(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter.to_ascii_lowercase()
        } else {
            '_'
        }
    };
    let mut lower: String = names::constant(name).chars().map(letter).collect();
    let keyword = [
        "yield", "type", "match", "move", "ref", "self", "use", "where", "loop", "in", "of",
        "write", "finish", "body",
    ];
    if keyword.contains(&lower.as_str()) {
        lower.push('_');
    }
    lower
}

#[cfg(test)]
mod tests {
    use fixwire_protocol::dictionary::Version;

    use super::*;

    #[test]
    fn a_type_that_is_not_there_is_named() {
        let dictionary = Dictionary::built_in(Version::Fix42);
        let error = typed(&dictionary, &["D", "AE"]).expect_err("4.2 has no AE");
        assert_eq!(error.msg_type, "AE");
    }

    #[test]
    fn every_message_of_every_version_can_be_written() {
        for version in Version::ALL {
            let dictionary = Dictionary::built_in(version);
            let types: Vec<&str> = dictionary
                .messages()
                .iter()
                .map(MessageDef::msg_type)
                .collect();
            let text = typed(&dictionary, &types).expect("its own messages");
            assert_eq!(text.matches("pub fn write<'o>").count(), types.len());
            assert_eq!(
                text.matches('{').count(),
                text.matches('}').count(),
                "{}",
                version.name()
            );
        }
    }

    #[test]
    fn names_are_words_and_no_keywords() {
        assert_eq!(lower("ClOrdID"), "cl_ord_id");
        assert_eq!(lower("Yield"), "yield_");
        assert_eq!(lower("NoMDEntries"), "no_md_entries");
        assert_eq!(lower("SecurityXMLLen"), "security_xml_len");
        assert_eq!(lower("OrderQty2"), "order_qty2");
    }
}
