//! Orders of a former trading day that their venue has not confirmed, when their line is up again: the venue is asked,
//! then what it still has is cancelled.
//!
//! ```text
//!   line up > OrderStatusRequest(H) --- has ended ----------> LapseConfirmed
//!                    |  |
//!                    |  +-- open there ---------+
//!                    +-- no answer in 5 s ------+--> LapseCancelled, OrderCancelRequest(F)
//! ```
//!
//! Where the venue is not to be asked, `status_request = "no"`, the cancel goes out at once.
//! This is once for each logon of the line, and not at all over a cancel that is in flight: its answer, or that of the
//! status request for it, decides. What the venue refuses to cancel stays known, and is an operator's to cancel.

use alloc::collections::{BTreeSet, VecDeque};

use fixwire_protocol::Nanos;

use crate::core::{Core, Sink};
use crate::event::OrderEvent;
use crate::order::Order;
use crate::state::OmsState;
use crate::transition::OrderState;
use crate::value::{Number, RequestKind};
use crate::venue::{ReportKind, VenueReport};

/// How long a venue may take for the answer, in nanoseconds.
const PATIENCE: i64 = 5_000_000_000;

/// Lapsed orders of lines that are up again; derived from the state.
#[derive(Debug, Default)]
pub(crate) struct LapsedOrders {
    /// Those that the venue is asked about.
    asked: BTreeSet<Number>,
    /// Until when it may answer, in this order.
    waiting: VecDeque<(i64, Number)>,
}

impl LapsedOrders {
    /// Whether there is none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// A line is up, and the venue will be asked about these orders.
    pub(crate) fn line_up(&mut self, state: &OmsState, asked: &[Number]) {
        let orders = asked.iter().filter_map(|order| state.orders().get(*order));
        let lapsed = orders.filter(|order| may_be_cancelled(state, order));
        for number in lapsed.map(|order| order.number) {
            self.asked.insert(number);
            self.waiting.retain(|(_, waits)| *waits != number);
        }
    }

    /// The venue was asked about an order.
    pub(crate) fn sent(&mut self, at: i64, order: Number) {
        if self.asked.contains(&order) && !self.waiting.iter().any(|(_, waits)| *waits == order) {
            self.waiting.push_back((at.saturating_add(PATIENCE), order));
        }
    }

    /// The venue is not to be asked: the cancel is due.
    pub(crate) fn not_asked(&mut self, at: i64, order: Number) {
        if self.asked.contains(&order) {
            let place = self.waiting.partition_point(|(due, _)| *due <= at);
            self.waiting.insert(place, (at, order));
        }
    }
}

/// Whether a lapsed order may be cancelled without an operator: no cancel of it is in flight.
fn may_be_cancelled(state: &OmsState, order: &Order) -> bool {
    let request = state.orders().request_of(order);
    let is_cancelled = request.is_some_and(|it| it.kind == RequestKind::Cancel);
    order.state == OrderState::Lapsed && order.pended.is_none() && !is_cancelled
}

impl Core {
    /// The venue answers about an order that lapsed: what it has open is cancelled.
    #[cold]
    pub(crate) fn lapsed_reported(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) {
        let number = report.id.order;
        let ReportKind::Status(status) = report.kind else {
            return;
        };
        if !self.work.lapsed.asked.remove(&number) {
            return;
        }
        // Filled there: its fills come. Pending cancel: its end comes.
        if !matches!(status, b'2' | b'6') {
            self.cancel_lapsed(at, number, sink);
        }
    }

    /// Cancels lapsed orders that the venue did not answer about in time; returns when the next is due.
    pub(crate) fn due_lapsed(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        while let Some((due, number)) = self.work.lapsed.waiting.front().copied() {
            let is_asked = self.work.lapsed.asked.contains(&number);
            if is_asked && due > at {
                return Some(Nanos((due - at).unsigned_abs()));
            }
            self.work.lapsed.waiting.pop_front();
            if is_asked {
                self.work.lapsed.asked.remove(&number);
                self.cancel_lapsed(at, number, sink);
                return Some(Nanos(0));
            }
        }
        None
    }

    fn cancel_lapsed(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let state = self.state();
        let order = state.orders().get(number);
        let order = order.filter(|it| may_be_cancelled(state, it) && state.is_ready(it.line));
        if let Some(line) = order.map(|order| order.line) {
            let order = number;
            self.emit(at, &OrderEvent::LapseCancelled { order, line }, sink);
            self.cancel_now(at, number, sink);
        }
    }
}
