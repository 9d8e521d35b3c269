//! What requests over TMP say beside the terms of their order: who clears it, where it comes from, for whom it is.
//!
//! ```text
//!   Marks: of a user or a line, from the settings      Sent: those of the user, else of the line, stay with the order
//! ```

use alloc::vec::Vec;

use fixwire_ledger::{Put as _, Wire};

/// What requests over TMP say beside the terms of their order; zeros where nothing is set.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct RequestMarks {
    /// The clearing member.
    pub cm_id: u16,
    /// PositionEffect of an order that has none of its own.
    pub effect: u8,
    /// Where it comes from.
    pub order_source: u8,
    /// The information vendor.
    pub info_source: [u8; 3],
    /// The kind of investor.
    pub investor_flag: u8,
}

impl RequestMarks {
    /// Whether nothing is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These, and those of `other` where nothing is set.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let or = |one, other| if one == 0 { other } else { one };
        Self {
            cm_id: match self.cm_id {
                0 => other.cm_id,
                own => own,
            },
            effect: or(self.effect, other.effect),
            order_source: or(self.order_source, other.order_source),
            info_source: match self.info_source {
                [0, ..] => other.info_source,
                own => own,
            },
            investor_flag: or(self.investor_flag, other.investor_flag),
        }
    }

    pub(crate) fn put(self, to: &mut Vec<u8>) {
        self.cm_id.put(to);
        to.extend_from_slice(&[self.effect, self.order_source, self.investor_flag]);
        to.text(&self.info_source);
    }

    pub(crate) fn take(from: &mut &[u8]) -> Option<Self> {
        let cm_id = Wire::take(from)?;
        let (bytes, rest) = from.split_first_chunk::<6>()?;
        *from = rest;
        let [effect, order_source, investor_flag, info_source @ ..] = *bytes;
        Some(Self {
            cm_id,
            effect,
            order_source,
            info_source,
            investor_flag,
        })
    }
}
