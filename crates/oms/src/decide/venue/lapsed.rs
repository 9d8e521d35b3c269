//! Lapsed orders: orders of a former trading day whose end the venue has not confirmed. When the line is connected
//! again, the OMS requests their status, and cancels the orders that are still open at the venue.
//!
//! ```text
//!   line up > OrderStatusRequest(H) --- has ended ----------> LapseConfirmed
//!                    |  |
//!                    |  +-- open there ---------+
//!                    +-- no answer in 5 s ------+--> LapseCancelled, OrderCancelRequest(F)
//! ```
//!
//! With `status_request = "no"` the OMS sends the cancel at once.
//!
//! Once for each logon of its line, the OMS cancels a lapsed order that is open at the venue, or about which the venue
//! does not answer; an earlier cancel that was in flight when the line disconnected or the process ended counts as sent
//! only if the venue has it. The venue's report of the order's end, or its refusal of the cancel, ends this until the
//! next logon: before that only an operator, or the client, can cancel the order again.
//!
//! ```text
//!   line up, cancel lost > OrderStatusRequest(H) --- cancel is pending there ---> its answer decides
//!                            |  |
//!                            |  +-- open there ----+
//!                            +-- no answer in 5 s -+--> Declined; LapseCancelled, F, at once or when the order lapses
//! ```

use fixwire_protocol::Nanos;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportKind, VenueReport};
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::orders::lapsed::may_be_cancelled;
use crate::values::value::Number;

impl Core {
    /// Handles the venue's answer about a lapsed order: an order that is still open at the venue is cancelled.
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
        let is_asked = self.work.lapsed.asked.remove(&number).is_some();
        if !is_asked && !self.work.lapsed.lost.contains(&number) {
            return;
        }
        // If the order is filled at the venue, its fills follow. If a cancel is pending at the venue, its report
        // follows.
        if !matches!(status, b'2' | b'6') {
            self.cancel_lapsed(at, number, sink);
        }
    }

    /// Cancels lapsed orders whose status request the venue did not answer in time. Returns the time until the next
    /// such cancel is due.
    pub(crate) fn due_lapsed(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        while let Some((due, number)) = self.work.lapsed.waiting.front().copied() {
            let is_asked = self.work.lapsed.asked.contains_key(&number);
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

    /// Cancels an order that has lapsed, if its earlier cancel was lost.
    #[inline]
    pub(crate) fn cancel_again(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        if self.work.lapsed.lost.contains(&number) {
            self.cancel_lapsed(at, number, sink);
        }
    }

    /// Whether the venue answers neither the lost cancel of a lapsed order nor the status request for it.
    pub(crate) fn is_lost_for_good(&self, number: Number) -> bool {
        self.work.lapsed.lost.contains(&number) && self.has_lapsed(number)
    }

    #[cold]
    fn cancel_lapsed(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let state = self.state();
        let order = state.orders().get(number);
        let order = order.filter(|it| may_be_cancelled(state, it) && state.is_line_ready(it));
        if let Some(line) = order.and_then(|order| order.line()) {
            let order = number;
            self.emit(
                at,
                &OrderEvent::Order(LifecycleEvent::LapseCancelled { order, line }),
                sink,
            );
            self.cancel_now(at, number, sink);
        }
    }
}
