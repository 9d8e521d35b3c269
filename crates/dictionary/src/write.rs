//! Writes a dictionary as XML, in the QuickFIX form or as a FIX Orchestra repository.
//!
//! Reading the XML gives the same dictionary again, without its conditions, which only deltas can express. Components
//! are written with their members expanded, because a dictionary keeps them in this form.

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Write as _};

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{Dictionary, FieldDef, GroupDef, Member, OtherValues};

use crate::quickfix::LATEST;

/// Writes a QuickFIX data dictionary. If the attributes cannot express the version, FIX.5.0SP2 is written.
pub fn quickfix(dictionary: &Dictionary) -> String {
    let mut text = String::new();
    let (transport, major, minor, pack) = numbers(dictionary.version());
    let _ = writeln!(
        text,
        "<fix type=\"{transport}\" major=\"{major}\" minor=\"{minor}\" servicepack=\"{pack}\">"
    );
    let members = |text: &mut String, members: &[Member]| {
        quickfix_members(dictionary, text, members, 2);
    };
    text.push_str(" <header>\n");
    members(&mut text, dictionary.header().members());
    text.push_str(" </header>\n <messages>\n");
    for message in dictionary.messages() {
        let admin = matches!(message.msg_type(), "0" | "1" | "2" | "3" | "4" | "5" | "A");
        let _ = writeln!(
            text,
            "  <message name=\"{}\" msgtype=\"{}\" msgcat=\"{}\">",
            Escaped(message.name()),
            Escaped(message.msg_type()),
            if admin { "admin" } else { "app" }
        );
        quickfix_members(dictionary, &mut text, message.members(), 3);
        text.push_str("  </message>\n");
    }
    text.push_str(" </messages>\n <trailer>\n");
    members(&mut text, dictionary.trailer().members());
    text.push_str(" </trailer>\n <components>\n");
    for component in dictionary.components() {
        let _ = writeln!(text, "  <component name=\"{}\">", Escaped(&component.name));
        quickfix_members(dictionary, &mut text, &component.members, 3);
        text.push_str("  </component>\n");
    }
    text.push_str(" </components>\n <fields>\n");
    for field in dictionary.fields() {
        let _ = write!(
            text,
            "  <field number=\"{}\" name=\"{}\" type=\"{}\"",
            field.tag,
            Escaped(&field.name),
            field.kind.quickfix_name()
        );
        if field.others != OtherValues::None {
            text.push_str(" allowOtherValues=\"true\"");
            if field.others != OtherValues::Any {
                let _ = write!(text, " otherValues=\"{}\"", field.others);
            }
        }
        if field.values.is_empty() {
            text.push_str("/>\n");
            continue;
        }
        text.push_str(">\n");
        for value in &field.values {
            let _ = writeln!(
                text,
                "   <value enum=\"{}\" description=\"{}\"/>",
                Escaped(&value.value),
                Escaped(&value.name)
            );
        }
        text.push_str("  </field>\n");
    }
    text.push_str(" </fields>\n</fix>\n");
    text
}

/// The type, the major version, the minor version and the service pack of a version such as `FIX.5.0SP2`.
fn numbers(version: &str) -> (&str, &str, &str, &str) {
    let parts = || {
        let (transport, rest) = version.split_once('.')?;
        if (transport, rest) == ("FIX", LATEST) {
            return Some((transport, rest, "0", "0"));
        }
        let (major, rest) = rest.split_once('.')?;
        let (minor, pack) = rest.split_once("SP").unwrap_or((rest, "0"));
        let small = |text: &str| text.parse::<u8>().is_ok();
        let good = matches!(transport, "FIX" | "FIXT") && small(major) && small(minor);
        (good && small(pack)).then_some((transport, major, minor, pack))
    };
    parts().unwrap_or(("FIX", "5", "0", "2"))
}

fn quickfix_members(dictionary: &Dictionary, text: &mut String, members: &[Member], depth: usize) {
    for member in members {
        let element = if member.group.is_some() {
            "group"
        } else {
            "field"
        };
        let _ = write!(
            text,
            "{:depth$}<{element} name=\"{}\" required=\"{}\"",
            "",
            Escaped(name(dictionary, member.tag)),
            if member.required { 'Y' } else { 'N' }
        );
        let Some(group) = &member.group else {
            text.push_str("/>\n");
            continue;
        };
        text.push_str(">\n");
        quickfix_members(dictionary, text, group.members(), depth + 1);
        let _ = writeln!(text, "{:depth$}</group>", "");
    }
}

fn name(dictionary: &Dictionary, tag: Tag) -> &str {
    dictionary.field(tag).map_or("", |field| &field.name)
}

const NAMESPACE: &str = "http://fixprotocol.io/2020/orchestra/repository";

/// Writes a FIX Orchestra repository of version 1.0.
pub fn orchestra(dictionary: &Dictionary) -> String {
    let mut text = String::new();
    let version = Escaped(dictionary.version());
    let _ = writeln!(
        text,
        "<fixr:repository xmlns:fixr=\"{NAMESPACE}\" name=\"{version}\" version=\"{version}\">"
    );
    text.push_str(" <fixr:codeSets>\n");
    let listed = |field: &&FieldDef| !field.values.is_empty();
    for field in dictionary.fields().iter().filter(listed) {
        let _ = writeln!(
            text,
            "  <fixr:codeSet id=\"{}\" name=\"{}\" type=\"{}\">",
            field.tag,
            Escaped(&code_set(field)),
            field.kind.quickfix_name()
        );
        for value in &field.values {
            let (value, name) = (Escaped(&value.value), Escaped(&value.name));
            let _ = writeln!(text, "   <fixr:code name=\"{name}\" value=\"{value}\"/>");
        }
        text.push_str("  </fixr:codeSet>\n");
    }
    text.push_str(" </fixr:codeSets>\n <fixr:fields>\n");
    for field in dictionary.fields() {
        let ty = match field.values.is_empty() {
            true => field.kind.quickfix_name().into(),
            false => code_set(field),
        };
        let (name, ty) = (Escaped(&field.name), Escaped(&ty));
        let _ = write!(
            text,
            "  <fixr:field id=\"{}\" name=\"{name}\" type=\"{ty}\"",
            field.tag
        );
        match field.others {
            OtherValues::None => {}
            OtherValues::From(first) => {
                let _ = write!(text, " unionDataType=\"Reserved{first}Plus\"");
            }
            others => {
                let union = match others {
                    OtherValues::Tenor => "Tenor",
                    OtherValues::Country => "Country",
                    OtherValues::UpTo(_) | OtherValues::Quantity => "Qty",
                    _ => field.kind.quickfix_name(),
                };
                let _ = write!(text, " unionDataType=\"{union}\"");
            }
        }
        if let Some(length) = field.partner.filter(|_| field.kind.is_data()) {
            let _ = write!(text, " lengthId=\"{length}\"");
        }
        text.push_str("/>\n");
    }
    text.push_str(" </fixr:fields>\n");
    let mut groups = String::new();
    let mut repository = Repository {
        groups: &mut groups,
        count: FIRST_GROUP,
    };
    text.push_str(" <fixr:components>\n");
    let frame = [
        (HEADER, dictionary.header()),
        (TRAILER, dictionary.trailer()),
    ];
    for (id, part) in frame {
        let name = part.name();
        let _ = writeln!(text, "  <fixr:component id=\"{id}\" name=\"{name}\">");
        repository.members(&mut text, part.members());
        text.push_str("  </fixr:component>\n");
    }
    text.push_str(" </fixr:components>\n <fixr:messages>\n");
    for message in dictionary.messages() {
        let _ = writeln!(
            text,
            "  <fixr:message msgType=\"{}\" name=\"{}\">\n   <fixr:structure>",
            Escaped(message.msg_type()),
            Escaped(message.name())
        );
        let reference =
            |id| format!("    <fixr:componentRef id=\"{id}\" presence=\"required\"/>\n");
        text.push_str(&reference(HEADER));
        repository.members(&mut text, message.members());
        text.push_str(&reference(TRAILER));
        text.push_str("   </fixr:structure>\n  </fixr:message>\n");
    }
    text.push_str(" </fixr:messages>\n <fixr:groups>\n");
    text.push_str(&groups);
    text.push_str(" </fixr:groups>\n</fixr:repository>\n");
    text
}

/// Ids of the components that are header and trailer in the standard.
const HEADER: u32 = 1024;
const TRAILER: u32 = 1025;
const FIRST_GROUP: u32 = 2000;

/// The name of a field's code set. The name of a code set has a hyphen, because names of data types have none.
fn code_set(field: &FieldDef) -> String {
    let name: String = field.name.chars().take(64).collect();
    format!("{name}-{}-CodeSet", field.tag)
}

/// The repository that is written. Each group has an id of its own.
struct Repository<'a> {
    groups: &'a mut String,
    count: u32,
}

impl Repository<'_> {
    fn members(&mut self, text: &mut String, members: &[Member]) {
        for member in members {
            let (element, id) = match &member.group {
                None => ("fieldRef", member.tag),
                Some(group) => ("groupRef", self.group(group)),
            };
            let presence = if member.required {
                "required"
            } else {
                "optional"
            };
            let _ = writeln!(
                text,
                "    <fixr:{element} id=\"{id}\" presence=\"{presence}\"/>"
            );
        }
    }

    fn group(&mut self, group: &GroupDef) -> u32 {
        let id = self.count;
        self.count += 1;
        let mut text = format!(
            "  <fixr:group id=\"{id}\" name=\"Group{id}\">\n    <fixr:numInGroup id=\"{}\"/>\n",
            group.count()
        );
        self.members(&mut text, group.members());
        text.push_str("  </fixr:group>\n");
        self.groups.push_str(&text);
        id
    }
}

/// Text in an attribute, with the necessary escapes.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                // A parser would read these characters as spaces.
                '\n' | '\r' | '\t' => write!(f, "&#{};", u32::from(letter))?,
                letter => f.write_char(letter)?,
            }
        }
        Ok(())
    }
}
