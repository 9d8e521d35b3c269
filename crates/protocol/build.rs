//! Turns the dictionaries of the registry package into what the crate includes: `tags.rs`, a
//! constant per field name, and one table per version for `dictionary::built_in`. What the package
//! lacks or has wrong is corrected by the statements of `facts`.
//!
//! The package keeps its definitions in hash maps; everything here is sorted, so that two builds
//! write the same bytes.

extern crate alloc;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use hotfix_dictionary::{Dictionary, Field, FixDatatype, LayoutItem, LayoutItemKind};

#[path = "src/dictionary/names.rs"]
mod names;

#[path = "facts/apply.rs"]
mod facts;

type Load = fn() -> Dictionary;

/// The stem of the table's file name, the version as a person writes it, the definitions.
const VERSIONS: [(&str, &str, Load); 9] = [
    ("fix40", "FIX.4.0", Dictionary::fix40),
    ("fix41", "FIX.4.1", Dictionary::fix41),
    ("fix42", "FIX.4.2", Dictionary::fix42),
    ("fix43", "FIX.4.3", Dictionary::fix43),
    ("fix44", "FIX.4.4", Dictionary::fix44),
    ("fix50", "FIX.5.0", Dictionary::fix50),
    ("fix50sp1", "FIX.5.0SP1", Dictionary::fix50sp1),
    ("fix50sp2", "FIX.5.0SP2", Dictionary::fix50sp2),
    ("fixt11", "FIXT.1.1", Dictionary::fixt11),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/dictionary/names.rs");
    println!("cargo::rerun-if-changed=facts");
    let out = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    let out = Path::new(&out);
    let mut tags = Tags::default();
    for (stem, version, load) in VERSIONS {
        let path = format!("facts/{stem}.facts");
        let statements =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {path}: {error}"));
        let table = facts::apply(&table(&load()), &statements)
            .unwrap_or_else(|problem| panic!("{path}: {problem}"));
        tags.add(version, &table);
        write(&out.join(format!("{stem}.table")), &table);
    }
    write(&out.join("tags.rs"), &tags.source());
}

fn write(path: &Path, text: &str) {
    fs::write(path, text)
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// A constant: its tag, the field's name, and the versions that know it, oldest first.
struct Constant {
    tag: u32,
    name: String,
    versions: Vec<&'static str>,
}

/// The union of all field names. A name that two versions spell differently (`IOIid`, `IOIID`) is
/// one constant; a name that two versions give to different tags stops the build.
#[derive(Default)]
struct Tags(BTreeMap<String, Constant>);

impl Tags {
    fn add(&mut self, version: &'static str, table: &str) {
        for line in table.lines().filter_map(|line| line.strip_prefix("F|")) {
            let mut parts = line.split('|');
            let tag = parts.next().and_then(|tag| tag.parse().ok());
            let tag: u32 = tag.unwrap_or_else(|| panic!("{version}: no tag in {line}"));
            let name = parts.next().unwrap_or_default();
            let constant = self
                .0
                .entry(names::constant(name))
                .or_insert_with(|| Constant {
                    tag,
                    name: name.to_owned(),
                    versions: Vec::new(),
                });
            assert_eq!(
                constant.tag, tag,
                "{version} gives another tag to the name {name}"
            );
            constant.name = name.to_owned();
            constant.versions.push(version);
        }
    }

    fn source(&self) -> String {
        let mut text = String::from("// Written by build.rs.\n");
        for (
            constant,
            Constant {
                tag,
                name,
                versions,
            },
        ) in &self.0
        {
            let (first, last) = (versions[0], versions[versions.len() - 1]);
            let range = if first == last {
                first.to_owned()
            } else {
                format!("{first} to {last}")
            };
            let _ = writeln!(text, "/// {name}({tag}), {range}.");
            let _ = writeln!(text, "pub const {constant}: Tag = {tag};");
        }
        text
    }
}

/// One definition a line, its parts divided by `|`; `dictionary/built_in.rs` draws the format.
fn table(dictionary: &Dictionary) -> String {
    let mut text = String::new();
    let mut fields = dictionary.fields();
    fields.sort_by_key(|field| field.tag());
    for field in &fields {
        let _ = writeln!(text, "F|{}|{}|{}", field.tag(), field.name(), kind(field));
        for value in field.enums().into_iter().flatten() {
            let _ = writeln!(text, "V|{}|{}", value.value(), value.description());
        }
    }
    let mut components = dictionary.components();
    components.sort_by(|a, b| a.name().cmp(b.name()));
    for component in &components {
        match component.name() {
            "StandardHeader" => text.push_str("H\n"),
            "StandardTrailer" => text.push_str("T\n"),
            name => {
                let _ = writeln!(text, "C|{name}");
            }
        }
        component.items().for_each(|item| layout(&mut text, &item));
    }
    let mut messages = dictionary.messages();
    messages.sort_by(|a, b| a.msg_type().cmp(b.msg_type()));
    for message in &messages {
        let _ = writeln!(text, "M|{}|{}", message.msg_type(), message.name());
        message.layout().for_each(|item| layout(&mut text, &item));
    }
    text
}

fn layout(text: &mut String, item: &LayoutItem<'_>) {
    let required = if item.required() { 'Y' } else { 'N' };
    match item.kind() {
        LayoutItemKind::Field(field) => {
            let _ = writeln!(text, "f|{}|{required}", field.name());
        }
        LayoutItemKind::Component(component) => {
            let _ = writeln!(text, "c|{}|{required}", component.name());
        }
        LayoutItemKind::Group(count, members) => {
            let _ = writeln!(text, "g|{}|{required}", count.name());
            members.iter().for_each(|member| layout(text, member));
            text.push_str("e\n");
        }
    }
}

/// The type as a QuickFIX file names it. The package folds the two types with a time zone into
/// their UTC relatives, which would refuse correct values; the standard has them in these fields
/// only. It also takes MULTIPLEVALUESTRING for characters; some of those values are words.
fn kind(field: &Field<'_>) -> String {
    let words = || {
        field
            .enums()
            .is_some_and(|mut values| values.any(|value| value.value().len() > 1))
    };
    match (field.fix_datatype(), field.name()) {
        (FixDatatype::UtcTimeOnly, name) if name.ends_with("MaturityTime") => {
            "TZTIMEONLY".to_owned()
        }
        (FixDatatype::UtcTimestamp, "TZTransactTime") => "TZTIMESTAMP".to_owned(),
        (FixDatatype::MultipleCharValue, _) if words() => "MULTIPLESTRINGVALUE".to_owned(),
        (kind, _) => kind.to_quickfix_name().to_owned(),
    }
}
