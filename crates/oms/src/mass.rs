//! Cancels of many orders at once: of a client, of an operator, of a session that is gone.

use alloc::vec::Vec;

use crate::core::{Core, Sink};
use crate::event::Event;
use crate::order::Order;
use crate::reason::{Reason, Why};
use crate::scope::Scope;
use crate::state::State;
use crate::value::Side;
use crate::wire::Wire;

/// Which orders: those that fit all that is named.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Filter {
    /// The client's session that they came from.
    pub session: Option<u32>,
    /// The account, with those that belong to it.
    pub account: Option<u32>,
    /// The instrument.
    pub instrument: Option<u32>,
    /// Side(54).
    pub side: Option<Side>,
}

impl Filter {
    /// The orders of a scope.
    #[must_use]
    pub fn of(scope: Scope) -> Self {
        let all = Self::default();
        match scope {
            Scope::Firm => all,
            Scope::Session(session) => Self {
                session: Some(session),
                ..all
            },
            Scope::Account(account) => Self {
                account: Some(account),
                ..all
            },
            Scope::Instrument(instrument) => Self {
                instrument: Some(instrument),
                ..all
            },
            Scope::Holding(account, instrument) => Self {
                account: Some(account),
                instrument: Some(instrument),
                ..all
            },
        }
    }

    /// Whether an order is one of them.
    #[must_use]
    pub fn has(&self, state: &State, order: &Order) -> bool {
        let owners = core::iter::successors(Some(order.account), |&of| state.parent(of));
        self.session.is_none_or(|it| it == order.session)
            && self.instrument.is_none_or(|it| it == order.instrument)
            && self.side.is_none_or(|it| it == order.side)
            && self
                .account
                .is_none_or(|it| owners.into_iter().any(|of| of == it))
    }

    /// How many open orders are of them.
    #[must_use]
    pub fn count(&self, state: &State) -> u64 {
        let orders = state.orders().iter();
        let open = orders.filter(|order| order.state.is_open() && self.has(state, order));
        open.count() as u64
    }
}

impl Wire<'_> for Filter {
    fn put(&self, to: &mut Vec<u8>) {
        self.session.put(to);
        self.account.put(to);
        self.instrument.put(to);
        self.side.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self {
            session: Wire::take(from)?,
            account: Wire::take(from)?,
            instrument: Wire::take(from)?,
            side: Wire::take(from)?,
        })
    }
}

/// OrderMassCancelRequest(q).
#[derive(Clone, Copy, Debug)]
pub struct MassCancel<'a> {
    /// The session, by its number in events.
    pub session: u32,
    /// ClOrdID(11), of at most [`Text::MAX`](crate::Text::MAX) bytes.
    pub id: &'a [u8],
    /// MassCancelRequestType(530): 1 for a symbol, 7 for all; others are not supported.
    pub kind: u8,
    /// Account(1); empty for all.
    pub account: &'a [u8],
    /// Symbol(55); empty for none.
    pub symbol: &'a [u8],
    /// Side(54); a byte that is no side of ours fits no order.
    pub side: Option<u8>,
}

impl Core {
    /// A client cancels its orders, or those of a symbol.
    pub fn mass_cancel(&mut self, at: i64, cancel: &MassCancel<'_>, sink: &mut impl Sink) {
        let session = cancel.session;
        match self.accept_mass_cancel(cancel) {
            Ok(filter) => self.withdraw(at, filter, (Some(session), cancel.id), (b"", b""), sink),
            Err(reason) => {
                let event = Event::MassCancelRefused {
                    session,
                    id: cancel.id,
                    used: reason.why != Why::Duplicate,
                    reason,
                };
                self.emit(at, &event, sink);
            }
        }
    }

    fn accept_mass_cancel(&self, cancel: &MassCancel<'_>) -> Result<Filter, Reason> {
        let state = self.state();
        let session = cancel.session;
        if state.used(session, cancel.id).is_some() {
            return Err(Reason::of(Why::Duplicate));
        }
        if !self.user(session)?.mass_cancel {
            return Err(Reason::of(Why::NotAllowed));
        }
        let instrument = match cancel.kind {
            b'1' => state.instruments().find(cancel.symbol).map(Some),
            b'7' => Some(None),
            _ => return Err(Reason::of(Why::Unsupported)),
        };
        let instrument = instrument.ok_or(Reason::of(Why::Symbol))?;
        let account = match cancel.account {
            b"" => None,
            name => {
                let known = state.accounts().find(name);
                Some(known.ok_or(Reason::of(Why::Account))?)
            }
        };
        let side = cancel
            .side
            .map(|byte| Side::of(byte).ok_or(Reason::of(Why::Unsupported)));
        Ok(Filter {
            session: Some(session),
            account,
            instrument,
            side: side.transpose()?,
        })
    }

    /// Open orders are to leave their venues: of a client's message by its id, or of somebody who says why.
    pub(crate) fn withdraw(
        &mut self,
        at: i64,
        filter: Filter,
        (session, id): (Option<u32>, &[u8]),
        (who, why): (&[u8], &[u8]),
        sink: &mut impl Sink,
    ) {
        let event = Event::MassCancelTaken {
            session,
            filter,
            orders: filter.count(self.state()),
            id,
            who,
            why,
        };
        self.emit(at, &event, sink);
    }
}
