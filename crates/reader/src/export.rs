//! [`ExportColumns`]: the fields of messages that become columns of a table.

use std::io::{self, Write};

use fixwire_protocol::readable::ReadableValue;
use fixwire_protocol::{Dictionary, Message, Tag};

/// The columns; each shows the values of one tag.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ExportColumns {
    columns: Vec<(Tag, String)>,
}

impl ExportColumns {
    /// Reads columns from a text such as `11,55,OrderQty`: tags, or field names of this dictionary. The heading of a
    /// column is its text in the argument.
    ///
    /// # Errors
    ///
    /// A sentence that states the unknown name.
    pub fn parse(text: &str, names: &Dictionary) -> Result<Self, String> {
        let columns = text.split(',').map(str::trim).map(|name| {
            let number = name.parse::<Tag>().ok().filter(|tag| *tag > 0);
            let tag = number.or_else(|| names.tag_of(name));
            tag.map(|tag| (tag, name.to_owned())).ok_or_else(|| {
                format!("unknown field {name:?}: expected tags or names, as in 11,55,OrderQty")
            })
        });
        Ok(Self {
            columns: columns.collect::<Result<_, _>>()?,
        })
    }

    /// The headings.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(_, name)| &**name)
    }

    /// The values of a message for each column. The values are printable, and secrets are masked. `|` separates the
    /// values of a tag that occurs several times. `None` when the message lacks the tag.
    pub fn values(&self, message: &Message<'_>) -> impl Iterator<Item = Option<String>> {
        self.columns.iter().map(|(tag, _)| {
            let fields = message.fields().iter().filter(|field| field.tag == *tag);
            let values = fields.map(|field| ReadableValue(*tag, message.value(*field)).to_string());
            let values: Vec<_> = values.collect();
            (!values.is_empty()).then(|| values.join("|"))
        })
    }

    /// Writes the headings, each after a comma.
    ///
    /// # Errors
    ///
    /// When writing to the output fails.
    pub fn write_heads(&self, out: &mut impl Write) -> io::Result<()> {
        for name in self.names() {
            out.write_all(b",")?;
            Self::write_cell(name, out)?;
        }
        Ok(())
    }

    /// Writes the values of a message, each after a comma; empty when the message lacks the tag.
    ///
    /// # Errors
    ///
    /// When writing to the output fails.
    pub fn write_values(&self, message: &Message<'_>, out: &mut impl Write) -> io::Result<()> {
        for value in self.values(message) {
            out.write_all(b",")?;
            Self::write_cell(&value.unwrap_or_default(), out)?;
        }
        Ok(())
    }

    /// Writes a cell, quoted if necessary.
    ///
    /// # Errors
    ///
    /// When writing to the output fails.
    ///
    /// # Source
    ///
    /// RFC 4180.
    pub fn write_cell(text: &str, out: &mut impl Write) -> io::Result<()> {
        if text.contains([',', '"', '\r', '\n']) || text.starts_with(' ') || text.ends_with(' ') {
            write!(out, "\"{}\"", text.replace('"', "\"\""))
        } else {
            out.write_all(text.as_bytes())
        }
    }
}
