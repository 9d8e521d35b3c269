//! Writes constants for the values of fields.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use core::fmt::Write as _;

use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::{DataType, Dictionary};

use super::lower;

/// Maximum length of a constant's name, in bytes. Documentation has a file for each constant.
const LONGEST_CONSTANT: usize = 60;

/// Writes a module with a constant for each value of a field.
pub(super) fn values(dictionary: &Dictionary, tag: Tag, text: &mut String) {
    let Some(field) = dictionary
        .field(tag)
        .filter(|field| !field.values.is_empty())
    else {
        return;
    };
    let module = lower(&field.name);
    let _ = writeln!(
        text,
        "/// Values of {}({tag}).\npub mod {module}_values {{",
        field.name
    );
    let mut names = BTreeSet::new();
    for value in &field.values {
        let letter = |letter: char| {
            if letter.is_ascii_alphanumeric() {
                letter.to_ascii_uppercase()
            } else {
                '_'
            }
        };
        let mut name: String = value.name.chars().map(letter).collect();
        if name.len() > LONGEST_CONSTANT {
            // Some values have a sentence as their name. The constant uses its first words.
            let end = name[..LONGEST_CONSTANT]
                .rfind('_')
                .unwrap_or(LONGEST_CONSTANT);
            name.truncate(end);
        }
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            name.insert_str(0, "V_");
        }
        if !names.insert(name.clone()) {
            let _ = write!(
                name,
                "_{}",
                value.value.chars().map(letter).collect::<String>()
            );
            if !names.insert(name.clone()) {
                continue;
            }
        }
        let literal = value.value.escape_default();
        let definition = match field.kind {
            DataType::Char if value.value.len() == 1 => format!("{name}: u8 = b'{literal}'"),
            DataType::Int if value.value.parse::<i64>().is_ok() => {
                format!("{name}: i64 = {literal}")
            }
            _ if value.value.is_ascii() => format!("{name}: &[u8] = b\"{literal}\""),
            _ => format!("{name}: &[u8] = \"{literal}\".as_bytes()"),
        };
        let _ = writeln!(text, "/// {literal}\npub const {definition};");
    }
    text.push_str("}\n");
}
