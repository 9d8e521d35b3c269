//! What an operator should hear of, as an event and as a sentence.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use crate::rules::RateRule;

/// Something that an operator should hear of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OmsEvent<'a> {
    /// A fill of an order that had ended: the position has it.
    LateFill {
        /// The order.
        order: u64,
    },
    /// A fill of no order that is known: the position has it.
    StrayFill {
        /// ClOrdID(11) as the venue has it.
        id: &'a [u8],
        /// It has no PositionEffect(77), which its symbol needs: what was held on the other side is closed first.
        nets: bool,
    },
    /// A report that is about no order and no account of ours, or cannot be read; nothing has changed.
    StrayReport {
        /// ClOrdID(11) as the venue has it.
        id: &'a [u8],
        /// It cannot be read.
        unreadable: bool,
    },
    /// A limit was exceeded that kills trading.
    Killed {
        /// For whom or what.
        scope: &'a str,
        /// Which limit, and the figures.
        why: &'a [u8],
    },
    /// A client had too many requests rejected that were above its rate, and is logged out.
    LoggedOut {
        /// The name of its session.
        session: &'a str,
        /// The rate.
        rate: RateRule,
    },
    /// A line broke with orders in flight.
    Unknown {
        /// How many.
        orders: usize,
    },
    /// An end that fills are missing of has waited for them too long: the venue is asked.
    FillsMissing {
        /// The order.
        order: u64,
    },
    /// A tenth of the numbers of a pool is left, or less.
    NumbersLow {
        /// The pool.
        pool: &'a [u8],
        /// How many.
        left: u64,
    },
    /// Notes of the journal could not be read: no new order is taken.
    Incomplete {
        /// How many.
        notes: u64,
    },
}

impl fmt::Display for OmsEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LateFill { order } => write!(
                f,
                "order {order}: a fill arrived after its end; the position includes it, ask the venue"
            ),
            Self::StrayFill { id, nets } => write!(
                f,
                "fill for unknown order {}{}; the position includes it, ask the venue",
                String::from_utf8_lossy(id),
                if *nets {
                    " without PositionEffect(77): it has closed what was held on the other side first"
                } else {
                    ""
                }
            ),
            Self::StrayReport { id, unreadable } => write!(
                f,
                "report for {} order {} ignored; ask the venue",
                if *unreadable { "unreadable" } else { "unknown" },
                String::from_utf8_lossy(id)
            ),
            Self::Killed { scope, why } => write!(
                f,
                "trading of {scope} is killed: {}; fixwire oms arm lets it trade again",
                String::from_utf8_lossy(why)
            ),
            Self::LoggedOut { session, rate } => write!(
                f,
                "{session} is logged out: {} requests above {rate} were rejected; it may log on again",
                rate.logout_after.unwrap_or(0)
            ),
            Self::Unknown { orders } => write!(
                f,
                "{orders} orders in flight on a line that was disconnected: the venue is asked when it is back"
            ),
            Self::FillsMissing { order } => write!(
                f,
                "order {order}: the venue reports more fills than have arrived; the venue is asked"
            ),
            Self::NumbersLow { pool, left } => write!(
                f,
                "{left} order numbers are left in the pool {}: orders are rejected when none is; give it more",
                String::from_utf8_lossy(pool)
            ),
            Self::Incomplete { notes } => write!(
                f,
                "{notes} notes in the journal cannot be read: new orders are rejected; restore the journal"
            ),
        }
    }
}

/// The function that hears of [`OmsEvent`]s.
pub type OmsListener = Box<dyn FnMut(OmsEvent<'_>) + Send>;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_client_that_is_logged_out_is_named_with_its_rate() {
        let rate = RateRule {
            count: core::num::NonZeroUsize::new(100).unwrap(),
            time: 1_000_000_000,
            logout_after: Some(10),
        };
        let session = "CLIENT";
        assert_eq!(
            OmsEvent::LoggedOut { session, rate }.to_string(),
            "CLIENT is logged out: 10 requests above 100 in 1s were rejected; it may log on again"
        );
    }

    #[test]
    fn a_fill_that_says_too_little_is_told_as_one() {
        let told = |nets| OmsEvent::StrayFill { id: b"X", nets }.to_string();
        assert_eq!(
            told(false),
            "fill for unknown order X; the position includes it, ask the venue"
        );
        assert!(told(true).contains("without PositionEffect(77): it has closed"));
    }
}
