//! Prints a message with the names of a dictionary: one field per line, entries of groups indented.

use std::io::{self, Write};

use fixwire_protocol::dictionary::{FieldDef, GroupDef};
use fixwire_protocol::group::entry_len;
use fixwire_protocol::readable::{Escaped, ReadableValue};
use fixwire_protocol::{Dictionary, Field, Message, Tag};

/// The column at which values begin.
const VALUES: usize = 36;

/// Writes messages with the names of a dictionary.
pub struct Decoded<'d> {
    /// The dictionary of the messages.
    pub dictionary: &'d Dictionary,
    /// Fields whose values are masked. Secrets are masked in addition.
    pub masked: &'d [Tag],
}

impl Decoded<'_> {
    /// The type of a message: `NewOrderSingle (D)`.
    pub fn kind(&self, message: &Message<'_>) -> String {
        let msg_type = message.msg_type();
        let code = Escaped(msg_type);
        match self.dictionary.message(msg_type) {
            Some(known) => format!("{} ({code})", known.name()),
            None => format!("({code})"),
        }
    }

    /// The fields of a message.
    ///
    /// # Errors
    ///
    /// Writing to `out` fails.
    pub fn write(&self, message: &Message<'_>, out: &mut impl Write) -> io::Result<()> {
        let definition = self.dictionary.message(message.msg_type());
        let header = self.dictionary.header();
        let group = |tag| {
            let own = definition.and_then(|definition| definition.group(tag));
            own.or_else(|| header.group(tag))
        };
        self.fields(message, message.fields(), &group, 1, out)
    }

    fn fields<'g>(
        &self,
        message: &Message<'_>,
        mut fields: &[Field],
        group: &dyn Fn(Tag) -> Option<&'g GroupDef>,
        depth: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        while let Some((field, rest)) = fields.split_first() {
            fields = rest;
            self.field(message, field, depth, out)?;
            let Some(def) = group(field.tag) else {
                continue;
            };
            let mut number = 0;
            while let Some(len) = entry_len(fields, def) {
                let (entry, rest) = fields.split_at(len);
                number += 1;
                writeln!(out, "{:1$}[{number}]", "", depth * 2)?;
                let nested = |tag| def.group(tag);
                self.fields(message, entry, &nested, depth + 1, out)?;
                fields = rest;
            }
        }
        Ok(())
    }

    fn field(
        &self,
        message: &Message<'_>,
        field: &Field,
        depth: usize,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let (tag, value) = (field.tag, message.value(*field));
        let known = self.dictionary.field(tag);
        let name = known.map_or("", |known| known.name.as_str());
        let name = format!("{:1$}{name}({tag})", "", depth * 2);
        write!(out, "{name:<VALUES$} ")?;
        if self.masked.contains(&tag) {
            return writeln!(out, "***");
        }
        write!(out, "{}", ReadableValue(tag, value))?;
        match known.and_then(|known| meaning(known, value)) {
            Some(meaning) => writeln!(out, " {meaning}"),
            None => writeln!(out),
        }
    }
}

/// The name that the dictionary gives to a value.
fn meaning<'d>(field: &'d FieldDef, value: &[u8]) -> Option<&'d str> {
    let mut values = field.values.iter();
    let found = values.find(|known| known.value.as_bytes() == value)?;
    Some(found.name.as_str()).filter(|name| !name.is_empty())
}
