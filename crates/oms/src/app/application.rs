//! The OMS as an application of the engine. Passes each message, session event, operator command and timer to the part
//! of the OMS that handles it.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::session::Config;
use fixwire_protocol::{
    Application, DiskRoom, Hangup, Ledger, Link, Message, Mono, Nanos, Now, OperatorCommand,
    OperatorRight, Outbox, Parting, PeerLogout, Permission, Refusal, SessionId, Timestamp, tag,
};

use super::Oms;
use super::requests::names;
use crate::decide::reload::RELOAD;
use crate::decide::venue::VenueId;
use crate::decide::work::earlier;
use crate::desk::command::of_application;
use crate::desk::positions::note_bytes;
use crate::state::OmsState;
use crate::values::value::Presence;

/// Pause of lists of instruments while the journal uses its reserved disk space.
const ON_RESERVE: Nanos = Nanos(100_000_000);

impl Application for Oms {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if !self.begin(now, outbox) || !self.has_room(outbox) {
            return Err(Refusal::NotAvailable);
        }
        let at = self.at(now);
        let written = outbox.entries().len();
        let done = if let Some(line) = self.line(from) {
            names::in_own_names(self, line, message, |oms, message| {
                oms.venue_says(at, line, message, outbox)
            })
        } else if let Some(index) = self.index(from) {
            let admitted = self.admit(at, from, index, outbox);
            admitted.and_then(|()| self.client_says(at, from, index, message, outbox))
        } else {
            Err(Refusal::NotAuthorized)
        };
        self.translate(written, outbox);
        if !self.links.tmp.lines.is_empty() {
            self.send_frames(now, outbox);
        }
        done
    }

    fn on_frame(
        &mut self,
        now: Now,
        from: SessionId,
        frame: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        self.link_says(now, from, frame, outbox)
    }

    fn on_link(&mut self, now: Now, session: SessionId, link: Link, outbox: &mut Outbox) {
        self.link_is(now, session, link, outbox);
    }

    fn on_logon(
        &mut self,
        now: Now,
        session: SessionId,
        _logon: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        self.changed.push_back((session, Some(Presence::Connected)));
        self.begin(now, outbox);
        if let Some(index) = self.index(session) {
            self.rates.logged_on(index);
        }
    }

    fn on_logout(&mut self, _now: Now, session: SessionId, _logout: PeerLogout<'_>) {
        if let Some(line) = self.line(session) {
            self.core.set_leaving(line, true);
        }
    }

    fn on_session_request(
        &mut self,
        _now: Now,
        name: &str,
        _config: &Config,
    ) -> Result<(), &'static str> {
        self.check_created(name)
    }

    fn on_session_added(&mut self, _now: Now, session: SessionId, name: &str, _config: &Config) {
        self.add_created(session, name);
    }

    fn on_disk(&mut self, _now: Now, room: DiskRoom) {
        self.core.set_on_reserve(room == DiskRoom::Reserve);
    }

    /// Requests the status of every open order, because messages that were sent may be lost after a sequence reset.
    fn on_reset(&mut self, _now: Now, session: SessionId, _outbox: &mut Outbox) {
        if let Some(line) = self.line(session) {
            self.core.set_reset(line);
        }
    }

    fn on_disconnect(
        &mut self,
        now: Now,
        session: SessionId,
        parting: Parting,
        _logout: PeerLogout<'_>,
        outbox: &mut Outbox,
    ) {
        let is = match parting {
            Parting::LoggedOut => Presence::LoggedOut,
            Parting::Lost => Presence::Lost,
        };
        self.recoveries.stop(session);
        self.securities.stop(session);
        self.links.watches.stop(session);
        self.changed.push_back((session, Some(is)));
        self.begin(now, outbox);
        if self.index(session).is_some_and(|it| self.gives_prices(it)) {
            self.core.forget_prices();
        }
    }

    fn on_reject(
        &mut self,
        now: Now,
        session: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        if let Some(line) = self.line(session)
            && self.has_room(outbox)
        {
            let at = self.at(now);
            self.session_reject(at, line, reject, refused, outbox);
        }
    }

    fn on_business_reject(
        &mut self,
        now: Now,
        from: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let Some(line) = self.line(from) else {
            return self.on_message(now, from, reject, outbox);
        };
        if !self.begin(now, outbox) || !self.has_room(outbox) {
            return Err(Refusal::NotAvailable);
        }
        let at = self.at(now);
        let written = outbox.entries().len();
        self.count_report(None, reject);
        self.business_reject(at, line, reject, refused, outbox);
        self.translate(written, outbox);
        if !self.links.tmp.lines.is_empty() {
            self.send_frames(now, outbox);
        }
        Ok(())
    }

    /// Whether a stored message is resent. An order that was cancelled in the meantime is not.
    fn on_resend(&mut self, _now: Now, session: SessionId, stored: &[u8]) -> bool {
        if self.line(session).is_none() {
            return true;
        }
        let message = self.decoder.decode(stored);
        // The OMS requests the state of trading and the status of all orders again at each logon, so an old request is
        // not resent.
        if matches!(message.msg_type(), b"g" | b"AF") {
            return false;
        }
        if message.msg_type() == b"R" {
            let id = message.get(tag::QUOTE_REQ_ID);
            return id.is_some_and(|id| self.core.inquires(id));
        }
        if !matches!(message.msg_type(), b"D" | b"G") {
            return true;
        }
        let id = message.get(tag::CL_ORD_ID).and_then(VenueId::parse);
        id.is_some_and(|id| self.core.may_resend(id))
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        if !self.begin(now, outbox) {
            return Some(now.mono);
        }
        let at = self.at(now);
        if !self.links.tmp.lines.is_empty() {
            self.links_at(now, outbox);
        }
        let today = self.today(now);
        let mut overdue = Vec::new();
        let is_today = today.day <= self.core.state().day() && self.core.far_day().is_none();
        let due = match self.core.idle_until(at).filter(|_| is_today) {
            Some(due) => {
                #[cfg(debug_assertions)]
                self.core.assert_idle(at, due);
                due
            }
            None => self.do_due(at, today.day, &mut overdue, outbox),
        };
        let carried = &mut self.core.state.carried.fields;
        if carried.is_low() {
            carried.set_more_aside();
        }
        if !self.listings.is_empty() {
            self.list(outbox);
        }
        let untold = self.links.watches.is_due() && self.report_markets(outbox);
        let recovering = match self.recoveries.is_empty() {
            true => None,
            false => self.recover(outbox),
        };
        let listing = match self.securities.is_empty() {
            true => None,
            // The answers go on when the disk has room again.
            false if self.core.work.is_on_reserve() => Some(ON_RESERVE),
            false => {
                let (messages, bytes) = self.room();
                let instruments = &self.core.rules().instruments;
                self.securities
                    .send(now.mono, instruments, messages, bytes, outbox)
            }
        };
        self.translate(0, outbox);
        for order in overdue {
            self.fills_missing(order);
        }
        if !self.links.tmp.lines.is_empty() {
            self.send_frames(now, outbox);
        }
        if !self.listings.is_empty() || untold {
            return Some(now.mono);
        }
        let next_day = Some(today.left(now.wall));
        let next = earlier(due, earlier(next_day, earlier(recovering, listing)));
        let day = self.core.state().day();
        let links = self.links.tmp.next_due(now.mono.0, day).map(Mono);
        earlier(next.map(|after| now.mono + after), links)
    }

    fn on_note(&mut self, _at: Timestamp, note: &[u8]) {
        self.core.replay_note(note);
    }

    fn ledger(&self) -> Option<Box<dyn Ledger>> {
        Some(Box::new(OmsState::default()))
    }

    fn on_checkpoint(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.core.read(version, state)
    }

    fn state_hash(&self) -> Option<u64> {
        Some(self.core.state().hash())
    }

    fn on_command(
        &mut self,
        now: Now,
        command: OperatorCommand<'_>,
        answer: &mut Vec<u8>,
        outbox: &mut Outbox,
    ) -> Result<(), String> {
        if !self.begin(now, outbox) || !self.has_room(outbox) {
            return Err("the OMS is busy: try again".into());
        }
        let (messages, bytes) = self.room();
        let bytes = bytes + note_bytes(command.bytes);
        let of = |verb| of_application(&self.core, verb, command);
        let done = match (of("bulletin"), of("differ")) {
            (Some(words), _) => words.and_then(|words| self.ask_bulletins(now, words)),
            (_, Some(words)) => words.and_then(|words| self.differ(command.who, words)),
            (None, None) if !outbox.has_room(messages, bytes) => Err(alloc::format!(
                "the OMS is busy, or these are too many rows for one record ({bytes} bytes): try again, or load fewer \
                 rows at a time"
            )),
            (None, None) if command.bytes == RELOAD => {
                let at = self.at(now);
                self.reload(at, command, outbox)
            }
            (None, None) => {
                let at = self.at(now);
                let (core, mut out) = self.parts(outbox, None);
                crate::desk::command::carry_out(core, at, command, &mut out)
            }
        };
        if !self.links.tmp.lines.is_empty() {
            self.send_frames(now, outbox);
        }
        answer.extend_from_slice(done?.as_bytes());
        Ok(())
    }

    fn on_query(&self, _now: Now, query: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        let text = match query {
            RELOAD => self.check_reload()?,
            b"status" => crate::desk::query::status(&self.core, &self.dropped),
            _ => crate::desk::query::answer(&self.core, query)?,
        };
        answer.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn command_right(&self, command: &[u8]) -> Option<OperatorRight> {
        crate::desk::command::right(command)
    }

    fn query_right(&self, query: &[u8]) -> Option<OperatorRight> {
        crate::desk::query::right(query)
    }

    fn permission(&self, who: &str, right: OperatorRight) -> Permission {
        self.core.permission(who, right)
    }

    /// Only the OMS may write messages on its sessions, because it must have a record of all orders, reports and
    /// limits.
    fn owns(&self, session: SessionId, msg_type: &[u8]) -> Option<&'static str> {
        // A request for market data is not an order.
        let is_for_prices = self.index(session).is_some_and(|it| self.gives_prices(it));
        if msg_type == b"V" && is_for_prices {
            return None;
        }
        let is_own = (session.0 as usize) < self.sessions.len() || self.index(session).is_some();
        is_own.then_some("one of the OMS")
    }

    /// False: after a panic, the state of the OMS may have events that the journal does not have.
    fn survives_panics(&self) -> bool {
        false
    }
}
