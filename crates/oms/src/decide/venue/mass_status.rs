//! OrderMassStatusRequest(AF), where the settings say that the venue supports it. When a line is connected again, the
//! OMS requests the status of all orders that the venue has open for the line.
//!
//! ```text
//!   line up > AF --- a status of each order it has, 912 = Y, or 911 of them ---+
//!              | +-- none: 39 = 8, or 911 = 0 ---------------------------------+--> MassAnswered
//!              +---- refused, or silent for 5 s -------------------------------+    what it did not list: H, one by one
//! ```
//!
//! A report of the answer is handled like the answer to an OrderStatusRequest(H) for its order. Reports of FIX 4.3 have
//! neither the id of the request nor the number of reports; there the answer ends when the venue has sent no report for
//! 5 s.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use fixwire_protocol::Nanos;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::unanswered::lost_of_closed;
use crate::decide::venue::{ReportKind, ReportOutcome, VenueReport};
use crate::decide::work::open;
use crate::state::OmsState;
use crate::state::event::{LineEvent, OrderEvent};
use crate::state::mass_status::{MassQuestion, MassReport};
use crate::values::ids::SessionNo;
use crate::values::value::{MassEnd, Number};

/// How long a venue may be silent during its answer, in nanoseconds.
const PATIENCE: i64 = 5_000_000_000;

/// The orders that the venue's answer should list: all orders that may be open on the line, and closed orders with a
/// request whose state is unknown.
fn expected(state: &OmsState, line: SessionNo) -> Vec<Number> {
    let mut orders = open(state, |order| {
        order.line() == Some(line) && !order.state.is_unsent() && !order.is_external()
    });
    orders.extend(lost_of_closed(state, line));
    orders.sort_unstable();
    orders
}

impl Core {
    /// Whether the answer of a venue is awaited.
    #[inline]
    pub(crate) fn is_asked_for_all(&self) -> bool {
        !self.work.mass.asked.is_empty()
    }

    /// The next line on which the OMS requests the status of all orders, when the line may send.
    pub(crate) fn next_mass_asked(&self, at: i64) -> Option<SessionNo> {
        let line = *self.work.mass.waiting.front()?;
        self.lines.room(at, line, true).is_ok().then_some(line)
    }

    pub(crate) fn due_mass_asking(&self, at: i64) -> Option<i64> {
        let line = *self.work.mass.waiting.front()?;
        self.lines.room(at, line, true).err()
    }

    /// Requests the status of all orders of a line from its venue.
    pub(crate) fn ask_for_all(&mut self, at: i64, line: SessionNo, sink: &mut impl Sink) {
        self.work.mass.waiting.pop_front();
        if !self.state().is_ready(line) {
            return;
        }
        let expected = expected(self.state(), line);
        // Lapsed orders that the answer lists are cancelled.
        self.work.lapsed.line_up(&self.state, &expected);
        self.work.mass.asked.push(MassQuestion {
            line,
            id: at,
            due: at.saturating_add(PATIENCE),
            count: 0,
            total: None,
            expected,
            listed: BTreeSet::new(),
        });
        self.emit(
            at,
            &OrderEvent::Line(LineEvent::MassAsked { line, at }),
            sink,
        );
    }

    /// Handles a report of a venue that may belong to the answer to a mass status request. Returns whether the report
    /// says that the venue has no open order; such a report names no order.
    #[cold]
    pub(crate) fn mass_reported(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        said: MassReport,
        heard: ReportOutcome,
        sink: &mut impl Sink,
    ) -> bool {
        let ReportKind::Status(status) = report.kind else {
            return false;
        };
        let order = self.reported_order(report);
        let asked = &mut self.work.mass.asked;
        let its =
            |it: &MassQuestion| it.line == report.line && said.id.is_none_or(|id| id == it.id);
        let Some(place) = asked.iter().position(its) else {
            return false;
        };
        let question = &mut asked[place];
        question.due = at.saturating_add(PATIENCE);
        question.total = said.total.or(question.total);
        let is_none = order.is_none()
            && matches!(heard, ReportOutcome::Unknown)
            && question.count == 0
            && (said.total == Some(0) || status == b'8');
        if !is_none {
            question.count += 1;
            question.listed.extend(order);
        }
        let has_all = question.total.is_some_and(|total| question.count >= total);
        if is_none || said.is_last || has_all {
            self.end_mass(at, report.line, MassEnd::Complete, sink);
        }
        is_none
    }

    /// Handles a venue's reject of the mass status request.
    #[cold]
    pub(crate) fn mass_refused(
        &mut self,
        at: i64,
        line: SessionNo,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        match self.work.mass.asked.iter().any(|it| it.line == line) {
            true => {
                self.end_mass(at, line, MassEnd::Refused, sink);
                ReportOutcome::Taken
            }
            false => ReportOutcome::Known,
        }
    }

    /// Ends the answers in which the venue has been silent for too long. Returns the time until the next answer ends.
    pub(crate) fn due_mass(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        let next = self.work.mass.asked.iter().min_by_key(|it| it.due)?;
        if next.due > at {
            return Some(Nanos((next.due - at).unsigned_abs()));
        }
        let how = match (next.count, next.total) {
            (0, _) => MassEnd::Silent,
            (_, Some(_)) => MassEnd::Incomplete,
            // FIX 4.3 does not have TotNumReports(911).
            (_, None) => MassEnd::Complete,
        };
        let line = next.line;
        self.end_mass(at, line, how, sink);
        Some(Nanos(0))
    }

    /// Requests the status of each order that the venue did not list.
    fn end_mass(&mut self, at: i64, line: SessionNo, how: MassEnd, sink: &mut impl Sink) {
        let asked = &mut self.work.mass.asked;
        let Some(place) = asked.iter().position(|it| it.line == line) else {
            return;
        };
        let question = asked.swap_remove(place);
        let still = expected(self.state(), line);
        let is_left = |number: &Number| {
            !question.listed.contains(number) && still.binary_search(number).is_ok()
        };
        let left: Vec<Number> = question.expected.into_iter().filter(is_left).collect();
        let event = OrderEvent::Line(LineEvent::MassAnswered {
            line,
            how,
            orders: left.len() as u64,
        });
        self.emit(at, &event, sink);
        self.work.ask_each(&self.state, left);
    }
}
