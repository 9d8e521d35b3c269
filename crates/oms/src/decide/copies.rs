//! Compares the reports of lines with copies that the venue sends on a drop copy session.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write as _;

use fixwire_protocol::Nanos;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportKind, ReportOutcome, VenueReport};
use crate::state::copies::{Awaited, CopyBreak, CopyKey, ENDED, FillTerms};
use crate::state::event::{CopyEvent, OrderEvent};
use crate::state::spreads::leg_exec;
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::show::price;
use crate::values::show::text;
use crate::values::value::{BreakKind, End, Number};

impl Core {
    /// Whether fills are compared with copies.
    pub(crate) fn has_copies(&self) -> bool {
        !self.state().copies.is_off()
    }

    /// A line or a drop copy session logged on or disconnected: what it missed comes first, so the time for it starts
    /// anew.
    pub(crate) fn copy_session(&mut self, at: i64, session: SessionNo, is_here: bool) {
        self.copy_since.remove(&session);
        if is_here {
            self.copy_since.insert(session, at);
        }
    }

    /// Applies an ExecutionReport(8) of a drop copy session; `terms` and `exec_id` are of the same message.
    pub(crate) fn copy(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        (terms, exec_id): (&crate::decide::external::ExternalTerms, &[u8]),
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        if let Some(number) = self.copied_order(report) {
            return self.copy_of(at, number, report, exec_id, sink);
        }
        let (state, number) = (self.state(), report.id.order);
        let is_past = (1..=state.last).contains(&number) && state.orders().get(number).is_none();
        let instrument = state.instruments().find(report.symbol);
        let is_counted = self.has_counted(report.exec, instrument) || state.had_stray(report.exec);
        // An order of ours that is no longer in memory.
        if is_past && (is_counted || report.kind != ReportKind::Fill) {
            return ReportOutcome::Known;
        }
        self.external(at, report, (terms, exec_id), sink)
    }

    /// The order of ours that a copy is of.
    fn copied_order(&self, report: &VenueReport<'_>) -> Option<Number> {
        let key = (report.id.order, self.copied_exec(report));
        if self.state().copies.awaited(key).is_some() {
            // It may be in memory no longer.
            return Some(report.id.order);
        }
        let order = self.state().orders().get(report.id.order)?;
        let symbol = self.state().instruments().name(order.instrument);
        let venue_id = order.venue_id.bytes();
        let is_same = !order.is_external()
            && !order.state.is_unsent()
            && (((report.symbol.is_empty() || report.symbol == symbol)
                && report.side.is_none_or(|side| side == order.side))
                || self.copied_leg(order.number, report).is_some())
            && (venue_id.is_empty() || report.venue_id.is_empty() || venue_id == report.venue_id);
        is_same.then_some(order.number)
    }

    /// The leg of a spread that a copy is of.
    fn copied_leg(&self, order: Number, report: &VenueReport<'_>) -> Option<InstrumentNo> {
        if self.state().spreads.is_empty() {
            return None;
        }
        self.instrument_of_leg(order, report)
    }

    /// The number of the execution of a copy among the fills of its order.
    fn copied_exec(&self, report: &VenueReport<'_>) -> u64 {
        match self.copied_leg(report.id.order, report) {
            Some(leg) => leg_exec(report.exec, leg),
            None => report.exec,
        }
    }

    fn copy_of(
        &mut self,
        at: i64,
        order: Number,
        report: &VenueReport<'_>,
        exec_id: &[u8],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let state = self.state();
        let known = state.orders().get(order);
        if known.is_some_and(|it| {
            it.line()
                .and_then(|it| state.copies.session_of(it))
                .is_none()
        }) {
            return ReportOutcome::Known;
        }
        let is_open = known.is_some_and(|it| it.state.is_open());
        let instrument = known.map(|it| it.instrument);
        let (key, fill) = match report.kind {
            ReportKind::Fill => {
                let leg = self.copied_leg(order, report);
                let instrument = leg.or(instrument);
                let instrument = instrument.or_else(|| state.instruments().find(report.symbol));
                if let Some(instrument) = instrument {
                    self.widen(at, instrument, report.last_price, sink);
                }
                let fill = instrument.and_then(|it| self.execution(report, it));
                let Some(fill) = fill else {
                    return ReportOutcome::Unreadable;
                };
                ((order, self.copied_exec(report)), fill)
            }
            // The reports of the spread say what its order is.
            _ if self.copied_leg(order, report).is_some() => return ReportOutcome::Known,
            ReportKind::End(how) if is_open && !self.rests(order, how) && how != End::Filled => {
                ((order, ENDED), (0, 0))
            }
            _ => return ReportOutcome::Known,
        };
        let copies = &self.state().copies;
        let awaits = copies.awaited(key).is_some_and(|it| it.copy.is_none());
        let breaks = copies.break_of(key);
        let is_broken = breaks.is_some_and(|(_, it)| it.what.copy.is_none());
        let is_known = self.state().orders().has_fill(order, key.1)
            || copies.awaited(key).is_some()
            || breaks.is_some();
        if is_known && !awaits && !is_broken {
            // It is settled, or a duplicate.
            return ReportOutcome::Known;
        }
        let event = OrderEvent::Copy(CopyEvent::Copied {
            order,
            exec: key.1,
            quantity: fill.0,
            price: fill.1,
        });
        self.emit(at, &event, sink);
        self.compare(at, key, exec_id, sink);
        ReportOutcome::Taken
    }

    /// Raises or closes the break of a fill that both sides have.
    pub(crate) fn compare(&mut self, at: i64, key: CopyKey, exec_id: &[u8], sink: &mut impl Sink) {
        let copies = &self.state().copies;
        if let Some((number, found)) = copies.break_of(key) {
            if found.what.is_equal() {
                let event = OrderEvent::Copy(CopyEvent::BreakClosed {
                    number,
                    who: Self::GUARD,
                    why: b"both sides are equal",
                });
                self.emit(at, &event, sink);
            }
            return;
        }
        if copies.awaited(key).is_some_and(Awaited::differs) {
            self.break_off(at, BreakKind::Differs, key, exec_id, sink);
        }
    }

    fn break_off(
        &mut self,
        at: i64,
        kind: BreakKind,
        (order, exec): CopyKey,
        text: &[u8],
        sink: &mut impl Sink,
    ) {
        let event = OrderEvent::Copy(CopyEvent::CopyBroken {
            kind,
            order,
            exec,
            text: &text[..text.len().min(crate::Text::MAX)],
        });
        self.emit(at, &event, sink);
    }

    /// A fill of an order placed elsewhere cannot be placed here.
    pub(crate) fn unplaced(&mut self, at: i64, text: &str, sink: &mut impl Sink) {
        let key = (0, 0);
        self.break_off(at, BreakKind::Unplaced, key, text.as_bytes(), sink);
    }

    /// When something awaited must be here: so long after it, and after both sessions logged on. Never while one is
    /// disconnected.
    fn copy_due(&self, awaited: &Awaited) -> Option<i64> {
        let session = awaited
            .line
            .and_then(|it| self.state().copies.session_of(it));
        let others = [session, awaited.line].into_iter().flatten();
        let mut since = awaited.since;
        for session in others {
            since = since.max(*self.copy_since.get(&session)?);
        }
        Some(since.saturating_add(self.rules.copy_within))
    }

    /// Raises the next break that is due; returns when one is.
    pub(crate) fn due_copies(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        if self.state().copies.is_off() {
            return None;
        }
        self.due_copy(at, sink)
    }

    #[cold]
    fn due_copy(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        let copies = &self.state().copies;
        let next = copies.oldest().filter_map(|(key, awaited)| {
            let due = self.copy_due(awaited)?;
            Some((due, key, awaited.ours))
        });
        let (due, key, ours) = next.min_by_key(|(due, ..)| *due)?;
        if due > at {
            return Some(Nanos((due - at).unsigned_abs()));
        }
        let kind = match (key.1, ours) {
            // When an order is closed, its end is awaited no longer.
            (ENDED, _) => BreakKind::NotClosed,
            (_, Some(_)) => BreakKind::NoCopy,
            (_, None) => BreakKind::NoReport,
        };
        self.break_off(at, kind, key, b"", sink);
        Some(Nanos(0))
    }

    /// Closes a break, as an operator says.
    pub(crate) fn accept_break(
        &mut self,
        at: i64,
        number: &str,
        (who, why): (&[u8], &[u8]),
        sink: &mut impl Sink,
    ) -> Result<String, String> {
        let number = number
            .parse::<u64>()
            .map_err(|_| "give the number of the break: break=57".to_string())?;
        if !self.state().copies.breaks().contains_key(&number) {
            return Err(format!(
                "no open break {number}: fixwire oms breaks lists them"
            ));
        }
        self.emit(
            at,
            &OrderEvent::Copy(CopyEvent::BreakClosed { number, who, why }),
            sink,
        );
        Ok(format!("break {number}: accepted"))
    }

    /// The open breaks.
    pub(crate) fn breaks(&self) -> String {
        let mut list = String::from(
            "break\twhat\torder\tsession\taccount\tsymbol\there\tvenue says\tvenue's ids",
        );
        for (number, found) in self.state().copies.breaks() {
            let _ = write!(list, "\n{number}\t{}", self.break_line(found));
        }
        self.list_breaks(&mut list);
        self.list_strays(&mut list);
        list
    }

    fn break_line(&self, found: &CopyBreak) -> String {
        let state = self.state();
        let order = state.orders().get(found.key.0);
        let scale = order.map_or(0, |order| state.scale(order.instrument));
        let said = |fill: Option<FillTerms>| match fill {
            None => "-".to_string(),
            Some((0, _)) => "closed".to_string(),
            Some((quantity, at)) => format!("{quantity} at {}", price(at, scale)),
        };
        let ours = match found.kind {
            BreakKind::NotClosed => "open".to_string(),
            _ => said(found.what.ours),
        };
        let order_text = match found.key.0 {
            0 => String::new(),
            order => order.to_string(),
        };
        format!(
            "{}\t{order_text}\t{}\t{}\t{}\t{ours}\t{}\t{}",
            found.kind,
            found
                .what
                .line
                .map_or_else(String::new, |it| text(state.sessions().name(it))),
            order.map_or_else(String::new, |it| text(state.accounts().name(it.account))),
            order.map_or_else(String::new, |it| text(
                state.instruments().name(it.instrument)
            )),
            said(found.what.copy),
            text(found.text.bytes()),
        )
    }
}
