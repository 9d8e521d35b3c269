//! Compares the reports of lines with the copies that venues send on drop copy sessions.

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_protocol::Nanos;

use crate::decide::core::{Core, Sink};
use crate::state::copies::{Awaited, CopyKey, ENDED};
use crate::state::event::{CopyEvent, OrderEvent};
use crate::values::ids::SessionNo;
use crate::values::value::BreakKind;
use crate::values::verbs::By;

impl Core {
    /// Whether the OMS compares fills with copies.
    pub(crate) fn has_copies(&self) -> bool {
        !self.state().copies.is_off()
    }

    /// Handles the logon or disconnect of a line or a drop copy session. After a logon, the session first gets the
    /// copies that it missed, so the time limit for copies starts again.
    pub(crate) fn copy_session(&mut self, at: i64, session: SessionNo, is_here: bool) {
        self.copy_since.remove(&session);
        if is_here {
            self.copy_since.insert(session, at);
        }
    }

    /// Raises or closes the break of a fill for which both the report and its copy have arrived.
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

    /// Raises the break for a copy of a fill whose symbol or side is not that of its order.
    pub(crate) fn copy_of_other(
        &mut self,
        at: i64,
        key: CopyKey,
        text: &str,
        sink: &mut impl Sink,
    ) {
        self.break_off(at, BreakKind::OtherCopy, key, text.as_bytes(), sink);
    }

    /// Raises the event for a fill of an order placed elsewhere that cannot be assigned to an account and instrument of
    /// the OMS.
    pub(crate) fn unplaced(&mut self, at: i64, text: &str, sink: &mut impl Sink) {
        let key = (0, 0);
        self.break_off(at, BreakKind::Unplaced, key, text.as_bytes(), sink);
    }

    /// The time by which an awaited copy must have arrived. The time limit starts at the report, or at the later logon
    /// of the two sessions. `None` while one of the two sessions is disconnected.
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

    /// Raises the next break that is due; returns when the next break is due.
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
            // When an order is closed, the OMS no longer awaits the copy of the order's end.
            (ENDED, _) => BreakKind::NotClosed,
            (_, Some(_)) => BreakKind::NoCopy,
            (_, None) => BreakKind::NoReport,
        };
        self.break_off(at, kind, key, b"", sink);
        Some(Nanos(0))
    }

    /// Closes a break because an operator accepts it.
    pub(crate) fn accept_break(
        &mut self,
        at: i64,
        number: &str,
        By { who, why }: By<'_>,
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
}
