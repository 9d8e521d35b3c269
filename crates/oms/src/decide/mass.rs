//! Cancels many orders at once: for a client, for an operator, or because a session disconnected.

use crate::decide::core::{Core, Sink};
use crate::decide::risk;
use crate::state::event::{OrderEvent, RequestEvent};
use crate::state::filter::OrderFilter;
use crate::values::ids::{Party, SessionNo};
use crate::values::reason::{Reason, Why};
use crate::values::value::Side;
use crate::values::verbs::By;

/// OrderMassCancelRequest(q).
#[derive(Clone, Copy, Debug)]
pub struct MassCancel<'a> {
    /// The client's session, by its number in the state.
    pub session: SessionNo,
    /// ClOrdID(11), of at most [`Text::MAX`](crate::Text::MAX) bytes.
    pub id: &'a [u8],
    /// MassCancelRequestType(530): 1 for one symbol, 7 for all orders; other values are not supported.
    pub kind: u8,
    /// Account(1); empty for all accounts.
    pub account: &'a [u8],
    /// Symbol(55); empty for none.
    pub symbol: &'a [u8],
    /// Side(54); an unsupported value matches no order.
    pub side: Option<u8>,
}

impl Core {
    /// A client cancels all its orders, or its orders in one symbol.
    pub fn mass_cancel(&mut self, at: i64, cancel: &MassCancel<'_>, sink: &mut impl Sink) {
        let session = cancel.session;
        let event = match self.accept_mass_cancel(at, cancel) {
            Ok(filter) => RequestEvent::MassCancelTaken {
                session: Some(session),
                filter,
                orders: filter.count(self.state()),
                id: cancel.id,
                who: b"",
                why: b"",
            },
            Err(reason) => RequestEvent::MassCancelRefused {
                session,
                id: cancel.id,
                used: reason.why != Why::Duplicate,
                reason,
            },
        };
        self.emit(at, &OrderEvent::Request(event), sink);
    }

    fn accept_mass_cancel(&self, at: i64, cancel: &MassCancel<'_>) -> Result<OrderFilter, Reason> {
        let state = self.state();
        let session = cancel.session;
        if state.used(session, cancel.id).is_some() {
            return Err(Reason::of(Why::Duplicate));
        }
        let named = state.accounts().find(cancel.account);
        if !self.may_with_all(session, named, |it| it.mass_cancel) {
            return Err(Reason::of(Why::NotAllowed));
        }
        // A mass cancel counts for the limits of its session only, not for the limits of accounts and symbols.
        risk::check_cancel(state, Party::of_session(session), at)?;
        let instrument = match cancel.kind {
            b'1' => state.instruments().find(cancel.symbol).map(Some),
            b'7' => Some(None),
            _ => return Err(Reason::of(Why::Unsupported)),
        };
        let instrument = instrument.ok_or(Reason::of(Why::Symbol))?;
        let account = match cancel.account {
            b"" => None,
            _ => Some(named.ok_or(Reason::of(Why::Account))?),
        };
        let side = cancel
            .side
            .map(|byte| Side::of(byte).ok_or(Reason::of(Why::Unsupported)));
        Ok(OrderFilter {
            session: Some(session),
            account,
            instrument,
            side: side.transpose()?,
        })
    }

    /// Starts to cancel open orders without a request of a client.
    pub(crate) fn withdraw(
        &mut self,
        at: i64,
        filter: OrderFilter,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) {
        let event = OrderEvent::Request(RequestEvent::MassCancelTaken {
            session: None,
            filter,
            orders: filter.count(self.state()),
            id: b"",
            who,
            why,
        });
        self.emit(at, &event, sink);
    }
}
