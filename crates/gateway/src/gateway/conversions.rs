//! The conversions between the versions that rules convert between, one for each pair of versions.

use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;

use super::event::Trouble;
use crate::Draft;
use crate::convert::{BuiltIn, Conversion, Losses};

/// A conversion with what it has lost so far.
struct Made {
    from: Version,
    to: Version,
    conversion: Conversion,
    losses: Losses,
}

/// Those that are there.
#[derive(Default)]
pub(super) struct Conversions {
    made: Vec<Made>,
    /// What they share: dictionaries and tables.
    built_in: BuiltIn,
}

impl Conversions {
    /// Makes the conversion between two versions, if it is not there yet; whether it is there now.
    pub fn make(&mut self, from: Version, to: Version) -> bool {
        if from == to
            || self
                .made
                .iter()
                .any(|made| (made.from, made.to) == (from, to))
        {
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

    /// Goes on counting where others are, which are empty then.
    pub fn go_on_from(&mut self, others: &mut Self) {
        for old in core::mem::take(&mut others.made) {
            let same = |new: &&mut Made| (new.from, new.to) == (old.from, old.to);
            match self.made.iter_mut().find(same) {
                Some(new) => new.losses = old.losses,
                None => self.made.push(old),
            }
        }
    }

    /// Converts a message; nothing happens when both versions are the same.
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

    /// What was lost on the way from one version to another.
    pub fn losses(&self) -> impl Iterator<Item = (Version, Version, &Losses)> {
        self.made
            .iter()
            .map(|made| (made.from, made.to, &made.losses))
    }
}
