//! Fields of requests over TMP in addition to the terms of the order: clearing member, order source, investor.
//!
//! ```text
//!   Marks: of a user or a line, from the settings      Sent: those of the user, else of the line, stay with the order
//! ```

use core::fmt;

use fixwire_ledger::record;

use crate::values::fields::tmp_fields::TmpField;

/// Values of requests over TMP that do not come from the terms of their order; 0 for a value that is not set.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct RequestMarks {
    /// The clearing member.
    pub cm_id: u16,
    /// PositionEffect of an order without a PositionEffect(77).
    pub effect: u8,
    /// Source of the order.
    pub order_source: u8,
    /// The information vendor.
    pub info_source: [u8; 3],
    /// The kind of investor.
    pub investor_flag: u8,
}

record! { RequestMarks { cm_id, effect, order_source, investor_flag, info_source } }

impl fmt::Display for RequestMarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sign = "";
        for field in TmpField::ALL {
            let text = field.text(self);
            if !text.is_empty() {
                write!(f, "{sign}{} {text}", field.name())?;
                sign = ", ";
            }
        }
        Ok(())
    }
}

impl RequestMarks {
    /// Whether no value is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns these values, with the value of `other` for each value that is not set.
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
}
