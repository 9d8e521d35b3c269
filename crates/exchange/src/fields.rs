//! Fields as bytes: of a request in a journal note, and of a report before it is sent.

use alloc::vec::Vec;

use fixwire_protocol::{Decimal, SOH, Tag};

/// Fields as in a message: `tag=value` and SOH each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// The value of the first field with this tag.
    pub(crate) fn get(self, tag: Tag) -> Option<&'a [u8]> {
        let mut fields = self.0.split(|byte| *byte == SOH);
        fields.find_map(|field| {
            let at = field.iter().position(|byte| *byte == b'=')?;
            (number(&field[..at])? == u64::from(tag)).then_some(&field[at + 1..])
        })
    }

    /// The value, or an empty one.
    pub(crate) fn text(self, tag: Tag) -> &'a [u8] {
        self.get(tag).unwrap_or_default()
    }

    /// The value, if it is one character.
    pub(crate) fn char(self, tag: Tag) -> Option<u8> {
        match self.get(tag)? {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// The value as a number; `Some(None)` when it is not a number.
    pub(crate) fn decimal(self, tag: Tag) -> Option<Option<Decimal>> {
        self.get(tag).map(|value| Decimal::parse(value).ok())
    }
}

/// Writes fields.
#[derive(Debug, Default)]
pub(crate) struct FieldWriter(pub(crate) Vec<u8>);

impl FieldWriter {
    /// Writes a field; skips an empty value, which FIX does not allow.
    pub(crate) fn put(&mut self, tag: Tag, value: &[u8]) -> &mut Self {
        if !value.is_empty() {
            put_number(&mut self.0, u64::from(tag));
            self.0.push(b'=');
            self.0.extend_from_slice(value);
            self.0.push(SOH);
        }
        self
    }

    pub(crate) fn char(&mut self, tag: Tag, value: u8) -> &mut Self {
        self.put(tag, &[value])
    }

    pub(crate) fn uint(&mut self, tag: Tag, value: u64) -> &mut Self {
        let mut digits = Vec::new();
        put_number(&mut digits, value);
        self.put(tag, &digits)
    }

    pub(crate) fn decimal(&mut self, tag: Tag, value: Decimal) -> &mut Self {
        self.put(tag, &text(value))
    }

    pub(crate) fn optional(&mut self, tag: Tag, value: Option<Decimal>) -> &mut Self {
        match value {
            Some(value) => self.decimal(tag, value),
            None => self,
        }
    }
}

/// Formats a decimal.
pub(crate) fn text(value: Decimal) -> Vec<u8> {
    let mut out = [0; Decimal::MAX_TEXT];
    let from = value.write(&mut out);
    out[from..].to_vec()
}

/// Writes a number in digits.
pub(crate) fn put_number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&text_of(value));
}

fn text_of(value: u64) -> Vec<u8> {
    alloc::string::ToString::to_string(&value).into_bytes()
}

/// Reads a number in digits.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    core::str::from_utf8(digits).ok()?.parse().ok()
}
