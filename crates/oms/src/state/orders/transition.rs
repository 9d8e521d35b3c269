//! State transitions of an order: one table.
//!
//! ```text
//!    Held
//!    ^ |
//!    | | Trigger
//!    | v     Send            Accept, Fill            Fill of the rest, End
//!   Queued <-------> Sent ----------------> Working ------------------------> Ended
//!     | ^    Retry    | Lose   ^  Accept, Fill  | ^                             ^
//!     | |             v        |                | |                             |
//!     | +-- Retry - Unknown ---+                | +-- Replace                   |
//!     +--- End, Reject --------+--- Reject -----+-------------------------------+
//!                 Unknown <--- Doubt -----------|                               |
//!                                               | Rest   ^ Renew                ^
//!                                               v        |                      | Fill of the rest, End, Reject
//!                                            DoneForDay -+----------------------+
//! ```
//!
//! When a fill of a filled order is undone, the order is Working again if it is open at the venue; else it is
//! cancelled.
//! Lapse leads from Sent, Unknown and Working to Lapsed, and Fill of the rest, End and Reject from there to Ended.
//!
//! A parent order is never sent. Keep leads from Queued to Parent. In Parent, only Fill, Replace, End and Reject are
//! possible.

use crate::values::value::End;

/// The state of an order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OrderState {
    /// A parent order: only its child orders are sent.
    Parent,
    /// Held by the OMS until its condition is met.
    Held,
    /// Accepted by the OMS and not sent yet, or waiting to be sent again.
    Queued,
    /// Sent to the venue, not acknowledged.
    Sent,
    /// The session disconnected before the venue answered, so the state at the venue is unknown.
    Unknown,
    /// Open at the venue.
    Working,
    /// Done for the day, until the next trading day.
    DoneForDay,
    /// The trading day of the order is over, and the client knows the order as expired. The venue has not confirmed the
    /// end.
    Lapsed,
    /// Closed.
    Ended(End),
}

/// What happens to an order: an input of the state machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transition {
    /// The order has a condition.
    Hold,
    /// The order is a parent order.
    Keep,
    /// The condition of the order is met, and the controls passed.
    Trigger,
    /// The order is sent to the venue.
    Send,
    /// The session to the venue disconnected.
    Lose,
    /// The venue reports the order as open.
    Accept,
    /// The order is rejected.
    Reject,
    /// The order is rejected and will be sent again.
    Retry,
    /// A fill of the order.
    Fill {
        /// Whether the order is then filled.
        all: bool,
    },
    /// The order is replaced.
    Replace {
        /// Whether the order is then filled.
        all: bool,
    },
    /// A fill was cancelled or corrected, and the order is no longer filled.
    Undo {
        /// Whether the order is open at the venue.
        open: bool,
    },
    /// The order is done for the day, but works again on a later day.
    Rest,
    /// The venue reports that it does not have the order, although it has acknowledged the order.
    Doubt,
    /// The order works again.
    Renew,
    /// The trading day of the order is over, and the venue may still have the order.
    Lapse,
    /// The order is cancelled, has expired, or is done for its last day.
    End(End),
}

impl OrderState {
    /// The state after an input; `None` when the input is not possible in this state and has no effect.
    #[must_use]
    pub fn after(self, happening: Transition) -> Option<Self> {
        use OrderState::{DoneForDay, Ended, Held, Lapsed, Parent, Queued, Sent, Unknown, Working};
        use Transition::{
            Accept, Doubt, Fill, Hold, Keep, Lapse, Lose, Reject, Renew, Replace, Rest, Retry,
            Send, Trigger, Undo,
        };
        let filled = |all| if all { Ended(End::Filled) } else { Working };
        match (self, happening) {
            (Queued, Send) => Some(Sent),
            (Queued, Hold) => Some(Held),
            (Queued, Keep) => Some(Parent),
            // The venues fill only the children; the parent itself is not sent.
            (Parent, Fill { all: false } | Replace { all: false }) => Some(Parent),
            (Parent, Fill { .. } | Replace { .. }) => Some(Ended(End::Filled)),
            (Parent, Hold | Trigger | Send | Lose | Accept | Retry | Rest | Renew | Lapse) => None,
            (Parent | Held | Sent | Unknown | Working | DoneForDay, Keep) => None,
            // An order is triggered only once: at a second trigger the order is already queued or sent.
            (Held, Trigger) => Some(Queued),
            // The venue does not have the order, so the OMS carries out the replace itself.
            (Queued | Held, Replace { all: false }) => Some(self),
            (Queued | Held, Lose | Accept | Retry | Fill { .. } | Replace { .. }) => None,
            (Held, Send) => None,

            (Sent, Lose) => Some(Unknown),
            (Unknown, Lose) => None,
            (Sent | Unknown, Accept) => Some(Working),
            // An order that the venue rejected under one ClOrdID may be sent under another.
            (Sent | Unknown, Retry) => Some(Queued),

            (Sent | Unknown | Working, Send) => None,
            (Sent | Unknown | Working, Fill { all } | Replace { all }) => Some(filled(all)),
            (Working, Accept | Lose | Retry) => None,
            (Working, Doubt) => Some(Unknown),
            (Parent | Held | Queued | Sent | Unknown | DoneForDay, Doubt) => None,

            // The missing fills have arrived, so Done for Day is applied a second time.
            (Working | DoneForDay, Rest) => Some(DoneForDay),
            // The order stays Working, so that the arrival of the fills does not make it Done for Day.
            (Working | DoneForDay, Renew) => Some(Working),
            // A late report of an earlier fill, or a replace for the next day.
            (DoneForDay, Fill { all } | Replace { all }) if !all => Some(DoneForDay),
            (DoneForDay, Fill { .. } | Replace { .. }) => Some(Ended(End::Filled)),
            (DoneForDay, Send | Accept | Lose | Retry) => None,
            (Held | Queued | Sent | Unknown, Rest | Renew) => None,
            (Queued | Sent | Unknown | Working | DoneForDay, Trigger) => None,
            (Held | Sent | Unknown | Working | DoneForDay, Hold) => None,

            // These orders do not lapse: they end without a confirmation of the venue.
            (Held | Queued | DoneForDay, Lapse) => None,
            (Sent | Unknown | Working, Lapse) => Some(Lapsed),
            // A lapsed order may still trade until the venue reports its end.
            (Lapsed, Fill { all } | Replace { all }) if !all => Some(Lapsed),
            (Lapsed, Fill { .. } | Replace { .. }) => Some(Ended(End::Filled)),
            (
                Lapsed,
                Hold | Keep | Trigger | Send | Lose | Accept | Retry | Rest | Doubt | Renew | Lapse,
            ) => None,

            // A venue may reject an order that it has accepted.
            (Parent | Held | Queued | Sent | Unknown | Working | DoneForDay | Lapsed, Reject) => {
                Some(Ended(End::Rejected))
            }
            (
                Parent | Held | Queued | Sent | Unknown | Working | DoneForDay | Lapsed,
                Transition::End(how),
            ) => Some(Ended(how)),

            (Parent | Sent | Unknown | Working | DoneForDay | Lapsed, Undo { .. }) => Some(self),
            // An order that was never sent has no fill to undo.
            (Held | Queued, Undo { .. }) => None,
            (Ended(End::Filled), Undo { open: true }) => Some(Working),
            (Ended(End::Filled), Undo { open: false }) => Some(Ended(End::Cancelled)),
            (Ended(how), Undo { .. }) => Some(Ended(how)),

            // The venue had increased OrderQty(38) before the fill that seemed to be the last.
            (Ended(End::Filled), Replace { all }) => Some(filled(all)),
            // A fill at the venue always counts, whatever the state of the order.
            (Ended(how), Fill { .. }) => Some(Ended(how)),
            (Ended(_), _) => None,
        }
    }

    /// Whether the venue has acknowledged the order, or need not acknowledge it.
    #[must_use]
    pub fn is_answered(self) -> bool {
        !matches!(self, Self::Queued | Self::Sent | Self::Unknown)
    }

    /// Whether the order is not at the venue, so that the OMS carries out requests itself.
    #[must_use]
    pub fn is_unsent(self) -> bool {
        matches!(self, Self::Parent | Self::Held | Self::Queued)
    }

    /// Whether the order is open.
    #[must_use]
    pub fn is_open(self) -> bool {
        !matches!(self, Self::Ended(_))
    }

    /// Byte of the state in a checkpoint.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Parent => b'p',
            Self::Held => b'h',
            Self::Queued => b'q',
            Self::Sent => b's',
            Self::Unknown => b'u',
            Self::Working => b'w',
            Self::DoneForDay => b'd',
            Self::Lapsed => b'l',
            Self::Ended(how) => how.byte(),
        }
    }

    pub(crate) fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            b'p' => Self::Parent,
            b'h' => Self::Held,
            b'q' => Self::Queued,
            b's' => Self::Sent,
            b'u' => Self::Unknown,
            b'w' => Self::Working,
            b'd' => Self::DoneForDay,
            b'l' => Self::Lapsed,
            byte => Self::Ended(End::of(byte)?),
        })
    }
}

/// OrdStatus(39), by the precedence of FIX 4.4 Volume 4, Appendix D.
#[must_use]
pub fn ord_status(state: OrderState, filled: bool, pending: Option<crate::RequestKind>) -> u8 {
    match (pending, state) {
        (Some(crate::RequestKind::Cancel), _) => b'6',
        (Some(crate::RequestKind::Replace), _) => b'E',
        (None, OrderState::Ended(how)) => how.byte(),
        (None, OrderState::DoneForDay) => End::DoneForDay.byte(),
        (None, OrderState::Lapsed) => End::Expired.byte(),
        (None, _) if filled => b'1',
        (None, OrderState::Working | OrderState::Parent) => b'0',
        (None, _) => b'A',
    }
}

#[cfg(test)]
mod tests {
    use super::OrderState::{DoneForDay, Ended, Held, Parent, Queued, Sent, Unknown, Working};
    use super::Transition::{
        Accept, Fill, Hold, Keep, Lose, Reject, Renew, Replace, Rest, Retry, Send, Trigger,
    };
    use super::*;

    #[test]
    fn only_a_fill_touches_an_order_that_has_ended() {
        let fill = Fill { all: true };
        for how in [
            End::Filled,
            End::Cancelled,
            End::Rejected,
            End::Expired,
            End::DoneForDay,
        ] {
            for other in [
                Send,
                Lose,
                Accept,
                Reject,
                Rest,
                Renew,
                Retry,
                Transition::End(how),
            ] {
                assert_eq!(Ended(how).after(other), None);
            }
            let larger = Ended(how).after(Replace { all: false });
            assert_eq!(larger, (how == End::Filled).then_some(Working));
            assert_eq!(Ended(how).after(fill), Some(Ended(how)));
        }
    }

    #[test]
    fn a_held_order_is_triggered_once_and_never_sent_before() {
        assert_eq!(Queued.after(Hold), Some(Held));
        assert_eq!(Held.after(Send), None);
        assert_eq!(Held.after(Trigger), Some(Queued));
        for other in [Queued, Sent, Unknown, Working, DoneForDay] {
            assert_eq!(other.after(Trigger), None, "{other:?}");
        }
        assert_eq!(Held.after(Replace { all: false }), Some(Held));
        let end = Transition::End(End::Expired);
        assert_eq!(Held.after(end), Some(Ended(End::Expired)));
        assert_eq!(Held.after(Reject), Some(Ended(End::Rejected)));
        assert_eq!(OrderState::of(Held.byte()), Some(Held));
    }

    #[test]
    fn a_parent_is_never_sent() {
        assert_eq!(Queued.after(Keep), Some(Parent));
        for other in [Send, Lose, Accept, Retry, Hold, Trigger, Rest, Renew, Keep] {
            assert_eq!(Parent.after(other), None, "{other:?}");
        }
        for other in [Parent, Held, Sent, Unknown, Working, DoneForDay] {
            assert_eq!(other.after(Keep), None, "{other:?}");
        }
        assert_eq!(Parent.after(Fill { all: false }), Some(Parent));
        assert_eq!(Parent.after(Fill { all: true }), Some(Ended(End::Filled)));
        assert_eq!(
            Parent.after(Replace { all: true }),
            Some(Ended(End::Filled))
        );
        assert_eq!(Parent.after(Reject), Some(Ended(End::Rejected)));
        assert!(Parent.is_unsent() && Parent.is_answered() && Parent.is_open());
        assert_eq!(OrderState::of(Parent.byte()), Some(Parent));
        assert_eq!(ord_status(Parent, false, None), b'0');
        assert_eq!(ord_status(Parent, true, None), b'1');
    }

    #[test]
    fn an_order_on_a_broken_line_is_unknown_until_the_venue_says_more() {
        assert_eq!(Sent.after(Lose), Some(Unknown));
        assert_eq!(Working.after(Lose), None, "the venue has it");
        assert_eq!(
            Working.after(Transition::Doubt),
            Some(Unknown),
            "it does not"
        );
        assert_eq!(Unknown.after(Accept), Some(Working));
        assert_eq!(Unknown.after(Reject), Some(Ended(End::Rejected)));
        assert_eq!(Unknown.after(Send), None, "it is never sent twice");
        assert_eq!(
            Unknown.after(Retry),
            Some(Queued),
            "but when it is rejected"
        );
        assert_eq!(Working.after(Retry), None);
        assert_eq!(Queued.after(Fill { all: true }), None, "it was never sent");
        assert_eq!(Queued.after(Replace { all: false }), Some(Queued));
    }

    #[test]
    fn an_order_that_is_done_for_the_day_works_again() {
        let (some, all) = (Fill { all: false }, Fill { all: true });
        assert_eq!(Working.after(Rest), Some(DoneForDay));
        assert_eq!(Sent.after(Rest), None, "it is accepted before");
        assert_eq!(DoneForDay.after(Renew), Some(Working));
        assert_eq!(Sent.after(Renew), None);
        assert_eq!(DoneForDay.after(some), Some(DoneForDay));
        assert_eq!(DoneForDay.after(all), Some(Ended(End::Filled)));
        assert_eq!(DoneForDay.after(Lose), None, "the venue has it");
        let cancelled = Ended(End::Cancelled);
        assert_eq!(
            DoneForDay.after(Transition::End(End::Cancelled)),
            Some(cancelled)
        );
        assert_eq!(OrderState::of(DoneForDay.byte()), Some(DoneForDay));
    }

    #[test]
    fn order_status_is_the_one_that_comes_first() {
        let cancel = Some(crate::RequestKind::Cancel);
        assert_eq!(ord_status(Ended(End::Filled), true, cancel), b'6');
        assert_eq!(ord_status(Ended(End::Filled), true, None), b'2');
        assert_eq!(ord_status(DoneForDay, true, cancel), b'6');
        assert_eq!(ord_status(DoneForDay, true, None), b'3');
        assert_eq!(ord_status(Working, true, None), b'1');
        assert_eq!(ord_status(Working, false, None), b'0');
        assert_eq!(ord_status(Unknown, false, None), b'A');
    }
}
