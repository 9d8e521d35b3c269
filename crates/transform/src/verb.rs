//! [`Verb`]: what rules and conversion tables do to a field, in one implementation for both.
//!
//! [`Fields`] is the place of the change: the fields of a message outside of groups, or the fields of one group entry.
//! The fields to change are in a [`Draft`](crate::Draft), or in the tree of a conversion.

use alloc::vec::Vec;

use fixwire_protocol::Tag;

use crate::TransformFailure;
use crate::draft::{ValueSpan, kept};
use crate::failure::MAX_ADDED;

/// The fields that a verb can read and change.
pub(crate) trait Fields {
    /// How a verb names a field.
    type Name;

    /// The tag of a field.
    fn tag(name: &Self::Name) -> Tag;

    /// The bytes of all values; new values are appended.
    fn text(&mut self) -> &mut Vec<u8>;

    /// The value of a field, if it is present.
    fn value(&self, name: &Self::Name) -> Option<ValueSpan>;

    /// Sets a field; adds the field if it is absent.
    fn put(&mut self, name: &Self::Name, value: ValueSpan) -> Result<(), TransformFailure>;

    /// Removes a field, if present. Removing a group's count field also removes its entries.
    fn remove(&mut self, name: &Self::Name) -> Result<(), TransformFailure>;

    /// Gives the value of a field to another field, and removes the first one.
    fn rename(&mut self, from: &Self::Name, to: &Self::Name) -> Result<(), TransformFailure> {
        let value = self.value(from);
        self.put(to, value.ok_or(TransformFailure::NoField(Self::tag(from)))?)?;
        self.remove(from)
    }
}

/// A change of one field, or of two.
#[derive(Clone, Debug)]
pub(crate) enum Verb<N> {
    /// Sets a field to a text. A copy sets a field to the value of another field.
    Set(N, Vec<Piece<N>>),
    Move(N, N),
    Remove(N),
}

/// A part of the value that is written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Piece<N> {
    Text(Vec<u8>),
    /// The value of another field.
    Field(N),
}

impl<N> Verb<N> {
    /// Changes the fields.
    ///
    /// # Errors
    ///
    /// [`TransformFailure::NoField`] if a field to be read is missing, and the errors of [`Fields::put`] and
    /// [`Fields::remove`].
    pub fn apply(&self, fields: &mut impl Fields<Name = N>) -> Result<(), TransformFailure> {
        match self {
            Self::Set(name, pieces) => {
                let value = joined(fields, pieces)?;
                fields.put(name, value)
            }
            Self::Move(from, to) => fields.rename(from, to),
            Self::Remove(name) => fields.remove(name),
        }
    }
}

/// Joins pieces to a value.
fn joined<F: Fields>(
    fields: &mut F,
    pieces: &[Piece<F::Name>],
) -> Result<ValueSpan, TransformFailure> {
    if let [piece] = pieces {
        return written(fields, piece);
    }
    let start = fields.text().len();
    for piece in pieces {
        match piece {
            Piece::Text(text) => fields.text().extend_from_slice(text),
            Piece::Field(_) => {
                let (from, to) = written(fields, piece)?;
                let text = fields.text();
                // A single value must not be longer than what rules may add to a whole message.
                if text.len() - start + (to - from) as usize > MAX_ADDED {
                    return Err(TransformFailure::TooLarge);
                }
                text.extend_from_within(from as usize..to as usize);
            }
        }
    }
    Ok((start as u32, fields.text().len() as u32))
}

/// The value of one piece.
pub(crate) fn written<F: Fields>(
    fields: &mut F,
    piece: &Piece<F::Name>,
) -> Result<ValueSpan, TransformFailure> {
    match piece {
        Piece::Text(text) => Ok(kept(fields.text(), text)),
        Piece::Field(name) => {
            let value = fields.value(name);
            value.ok_or(TransformFailure::NoField(F::tag(name)))
        }
    }
}
