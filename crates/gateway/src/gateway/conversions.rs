//! The conversions that rules need, one for each pair of versions.

use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;

use super::event::Trouble;
use crate::Draft;
use crate::convert::{BuiltInConversions, Conversion, ConversionTableError, Losses};

/// A conversion and its losses so far.
struct Made {
    from: Version,
    to: Version,
    conversion: Conversion,
    losses: Losses,
}

/// The conversions made so far.
#[derive(Default)]
pub(super) struct Conversions {
    made: Vec<Made>,
    /// The dictionaries and tables that the conversions share.
    built_in: BuiltInConversions,
    /// The versions of the file's tables, with the byte offset of each in the file.
    given: Vec<(Version, Version, usize)>,
}

impl Conversions {
    /// Makes the conversion between two versions if it does not exist yet; returns whether it exists now.
    pub fn make(&mut self, from: Version, to: Version) -> bool {
        if from == to || self.find(from, to).is_some() {
            return true;
        }
        let Some(conversion) = self.built_in.conversion(from, to) else {
            return false;
        };
        let losses = conversion.losses();
        self.made.push(Made {
            from,
            to,
            conversion,
            losses,
        });
        true
    }

    /// Replaces a built-in table by a table of the file.
    pub fn replace(
        &mut self,
        from: Version,
        to: Version,
        at: usize,
        text: &str,
    ) -> Result<(), ConversionTableError> {
        self.given.push((from, to, at));
        self.built_in.replace(from, to, text)
    }

    /// The tables of the file that no conversion uses.
    pub fn unused(&self) -> impl Iterator<Item = (Version, Version, usize)> {
        let given = self.given.iter().copied();
        given.filter(|&(from, to, _)| {
            let mut made = self.made.iter().map(|made| &made.conversion);
            !made.any(|by| self.built_in.is_used(from, to, by))
        })
    }

    /// The conversion between two versions, if it exists.
    pub fn find(&self, from: Version, to: Version) -> Option<&Conversion> {
        let mut made = self.made.iter();
        let made = made.find(|made| (made.from, made.to) == (from, to))?;
        Some(&made.conversion)
    }

    /// Takes the counts of losses over from `others`. Afterwards `others` has no counts.
    pub fn go_on_from(&mut self, others: &mut Self) {
        for old in core::mem::take(&mut others.made) {
            let same = |new: &&mut Made| (new.from, new.to) == (old.from, old.to);
            match self.made.iter_mut().find(same) {
                Some(new) => new.losses.go_on_from(&old.losses),
                None => self.made.push(old),
            }
        }
    }

    /// Converts a message; does nothing if both versions are the same.
    pub fn convert(
        &mut self,
        from: Version,
        to: Version,
        draft: &mut Draft,
    ) -> Result<(), Trouble> {
        if from == to {
            return Ok(());
        }
        let made = self.made.iter_mut();
        let mut made = made.filter(|made| (made.from, made.to) == (from, to));
        let made = made.next().ok_or(Trouble::NoConversion)?;
        made.conversion
            .convert(draft, &mut made.losses)
            .map_err(Trouble::Unconvertible)
    }

    /// The fields lost in conversions, for each pair of versions.
    pub fn losses(&self) -> impl Iterator<Item = (Version, Version, &Losses)> {
        self.made
            .iter()
            .map(|made| (made.from, made.to, &made.losses))
    }
}
