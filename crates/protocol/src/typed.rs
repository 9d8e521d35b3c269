//! Support for generated code, which reads the fields of a message or group entry by type.
//!
//! `fixwire_dictionary::generate` writes views and writers that use this module. A read that fails gives a
//! [`Refusal`], which the application can return with `?`, so that the peer's message is rejected.

use crate::message::{Field, Message};
use crate::value::{self, ValueError};
use crate::{Decimal, Refusal, Tag, Timestamp};

/// A repeating group that is known at compile time.
#[derive(Debug)]
pub struct Shape {
    /// Counts the entries.
    pub count: Tag,
    /// The field with which each entry begins.
    pub delimiter: Tag,
    /// The members of an entry. Counts of nested groups are among the members.
    pub members: &'static [Tag],
    /// The nested groups.
    pub nested: &'static [Shape],
}

/// The fields of a message, or of an entry of a group.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    fields: &'a [Field],
}

impl<'a> Fields<'a> {
    /// All fields of a message.
    pub fn of(message: &Message<'a>) -> Self {
        Self {
            bytes: message.bytes(),
            fields: message.fields(),
        }
    }

    /// The value of the first field with this tag.
    pub fn get(&self, tag: Tag) -> Option<&'a [u8]> {
        let field = self.fields.iter().find(|field| field.tag == tag)?;
        self.bytes.get(field.start as usize..field.end as usize)
    }

    /// The value of a field that is required.
    ///
    /// # Errors
    ///
    /// [`Refusal::ConditionallyRequiredFieldMissing`] when the field is missing.
    pub fn required(&self, tag: Tag) -> Result<&'a [u8], Refusal> {
        self.get(tag)
            .ok_or(Refusal::ConditionallyRequiredFieldMissing(tag))
    }

    /// The entries of a group that are present; no entries when the count is missing.
    pub fn entries(&self, shape: &'static Shape) -> Entries<'a> {
        let count = self
            .fields
            .iter()
            .position(|field| field.tag == shape.count);
        let fields = count.map_or(&[][..], |count| &self.fields[count + 1..]);
        Entries {
            bytes: self.bytes,
            fields,
            shape,
        }
    }
}

/// The entries of a group, in the order of the message.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    bytes: &'a [u8],
    fields: &'a [Field],
    shape: &'static Shape,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Fields<'a>;

    fn next(&mut self) -> Option<Fields<'a>> {
        let (fields, rest) = self.fields.split_at(entry_len(self.fields, self.shape)?);
        self.fields = rest;
        Some(Fields {
            bytes: self.bytes,
            fields,
        })
    }
}

/// The number of fields in one entry; `None` when the fields do not begin with an entry.
fn entry_len(fields: &[Field], shape: &Shape) -> Option<usize> {
    if fields.first()?.tag != shape.delimiter {
        return None;
    }
    let mut len = 0;
    while let Some(field) = fields.get(len)
        && shape.members.contains(&field.tag)
        && (len == 0 || field.tag != shape.delimiter)
    {
        len += 1;
        if let Some(nested) = shape.nested.iter().find(|nested| nested.count == field.tag) {
            while let Some(more) = entry_len(&fields[len..], nested) {
                len += more;
            }
        }
    }
    Some(len)
}

/// A type to which the value of a field can be converted.
pub trait Value<'a>: Sized {
    /// Reads the value.
    ///
    /// # Errors
    ///
    /// [`ValueError`] when the text does not have this type.
    fn read(text: &'a [u8]) -> Result<Self, ValueError>;
}

/// Reads the value of a field.
///
/// # Errors
///
/// [`Refusal::IncorrectDataFormat`] or [`Refusal::ValueOutOfRange`], each with the tag.
pub fn read<'a, T: Value<'a>>(tag: Tag, text: &'a [u8]) -> Result<T, Refusal> {
    T::read(text).map_err(|error| match error {
        ValueError::Form => Refusal::IncorrectDataFormat(tag),
        ValueError::Range => Refusal::ValueOutOfRange(tag),
    })
}

impl<'a> Value<'a> for u64 {
    fn read(text: &'a [u8]) -> Result<Self, ValueError> {
        value::uint(text)
    }
}

impl<'a> Value<'a> for i64 {
    fn read(text: &'a [u8]) -> Result<Self, ValueError> {
        value::int(text)
    }
}

impl<'a> Value<'a> for u8 {
    fn read(text: &'a [u8]) -> Result<Self, ValueError> {
        value::character(text)
    }
}

impl<'a> Value<'a> for bool {
    fn read(text: &'a [u8]) -> Result<Self, ValueError> {
        value::boolean(text)
    }
}

impl<'a> Value<'a> for Decimal {
    fn read(text: &'a [u8]) -> Result<Self, ValueError> {
        value::decimal(text)
    }
}

impl<'a> Value<'a> for Timestamp {
    fn read(text: &'a [u8]) -> Result<Self, ValueError> {
        value::time(text)
    }
}
