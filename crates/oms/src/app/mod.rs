//! The OMS as an [`Application`]: client sessions on one side, sessions to venues on the other.

pub mod recovery;
mod roll;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::{
    Application, Decoder, DiskRoom, Hangup, Ledger, Link, Message, Mono, Nanos, Now,
    OperatorCommand, OperatorRight, Outbox, Parting, PeerLogout, Permission, Refusal, SessionId,
    Timestamp, tag,
};

use crate::decide::core::Core;
use crate::decide::reload::{RELOAD, SettingsSource};
use crate::decide::venue::VenueId;
use crate::decide::work::earlier;
use crate::desk::notice::{OmsEvent, OmsListener};
use crate::fix::before::Before;
use crate::fix::clients::Client;
use crate::fix::market_requests;
use crate::fix::mass::Listing;
use crate::state::OmsState;
use crate::state::client_rate::ClientRates;
use crate::state::tag_counts::{DroppedFields, NotUsed};
use crate::values::day::{DayFinder, DaySpan};
use crate::values::ids::SessionNo;
use crate::values::rules::{RiskRules, UserRule};
use crate::values::value::{Number, Presence};

mod bulletins;
mod copies;
mod fields;
mod frames;
pub(crate) mod market_watches;
mod markets;
mod out;
mod recoveries;
mod refusals;
mod reload;
mod requests;
mod says;
mod session;
mod sessions;
#[cfg(any(test, feature = "state-lines"))]
mod state_lines;
mod texts;

pub use session::OmsSession;

use out::{Links, Out};
use recoveries::Recoveries;
use session::versions;
use texts::Languages;

/// Maximum output of handling one message: notes and messages, and their bytes.
const ROOM: (usize, usize) = (16, 16 << 10);
/// The same for each client that gets the reports of orders placed elsewhere.
const WATCHED: (usize, usize) = (4, 2 << 10);
/// Events in one step of a longer task.
const STEP: usize = 64;

/// An order management system over FIX sessions.
pub struct Oms {
    core: Core,
    sessions: Vec<OmsSession>,
    /// Hash key for the ids of client messages.
    key: u128,
    begun: bool,
    /// Sessions that logged on or disconnected, which the state does not know yet; without a presence those that
    /// were not connected at the start.
    changed: VecDeque<(SessionId, Option<Presence>)>,
    /// Start time by both clocks.
    start: Option<(Mono, i64)>,
    /// State number of each engine session.
    indices: Vec<Option<SessionNo>>,
    links: Links,
    /// Drop copy sessions and their accounts.
    copies: Vec<(Client, Vec<String>)>,
    /// Clients that may see the reports of orders placed elsewhere; empty without a drop copy of a venue.
    watchers: Vec<(Client, UserRule)>,
    /// `None` when no client has a language.
    languages: Option<Box<Languages>>,
    before: Before,
    rates: ClientRates,
    /// Mass status requests being answered, in order.
    listings: VecDeque<Listing>,
    recoveries: Recoveries,
    dropped: DroppedFields,
    not_used: NotUsed,
    /// Orders whose clients wait for the venue's answer to a status request.
    status_waits: Vec<Number>,
    note: Vec<u8>,
    decoder: Decoder,
    listener: OmsListener,
    settings: Option<Box<dyn SettingsSource>>,
    day_finder: Option<DayFinder>,
    /// The trading day, and the hash of the settings that it was found with.
    span: (u64, DaySpan),
}

impl Oms {
    /// An OMS with these settings and sessions; `key` is a random hash key for the ids of a new day.
    #[must_use]
    pub fn new(
        rules: RiskRules,
        sessions: Vec<OmsSession>,
        key: u128,
        listener: OmsListener,
    ) -> Self {
        let all = (0..).map(SessionId).take(sessions.len());
        let changed = all.map(|session| (session, None)).collect();
        Self {
            languages: Languages::new(&rules, versions(&sessions)),
            core: Core::new(rules),
            indices: alloc::vec![None; sessions.len()],
            sessions,
            key,
            begun: false,
            changed,
            start: None,
            links: Links::default(),
            copies: Vec::new(),
            watchers: Vec::new(),
            before: Before::default(),
            rates: ClientRates::default(),
            listings: VecDeque::new(),
            recoveries: Recoveries::default(),
            dropped: DroppedFields::default(),
            not_used: NotUsed::default(),
            status_waits: Vec::new(),
            note: Vec::with_capacity(1 << 10),
            decoder: Decoder::with_capacity(128),
            listener,
            settings: None,
            day_finder: None,
            span: (0, DaySpan::default()),
        }
    }

    /// State of the OMS.
    #[must_use]
    pub fn state(&self) -> &OmsState {
        self.core.state()
    }

    /// Settings of the OMS.
    #[must_use]
    pub fn rules(&self) -> &RiskRules {
        self.core.rules()
    }

    #[cfg(test)]
    pub(crate) fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    /// The core and its output.
    fn parts<'a>(
        &'a mut self,
        outbox: &'a mut Outbox,
        message: Option<&'a Message<'a>>,
    ) -> (&'a mut Core, Out<'a>) {
        let out = Out {
            outbox,
            note: &mut self.note,
            before: &mut self.before,
            links: &mut self.links,
            copies: &self.copies,
            watchers: &self.watchers,
            languages: self.languages.as_deref_mut(),
            message,
            listener: &mut self.listener,
        };
        (&mut self.core, out)
    }

    /// Start time plus monotonic time elapsed: never goes backwards, even if the clock is changed.
    fn at(&mut self, now: Now) -> i64 {
        let state = self.core.state().time();
        let (then, time) = *self.start.get_or_insert((now.mono, state.max(now.wall.0)));
        let passed = i64::try_from((now.mono - then).0).unwrap_or(i64::MAX);
        time.saturating_add(passed).max(state)
    }

    /// Maximum output of one message, including copies of reports.
    fn room(&self) -> (usize, usize) {
        let (each, watchers) = (1 + self.rules().drop_copies.len(), self.watchers.len());
        let bytes = ROOM.1 * each + WATCHED.1 * watchers;
        // A translation is shorter than all that a message has besides.
        let bytes = bytes << u8::from(self.languages.is_some());
        (ROOM.0 * each + WATCHED.0 * watchers, bytes)
    }

    /// Adds translations to what was written since, from this entry on.
    #[inline]
    fn translate(&mut self, written: usize, outbox: &mut Outbox) {
        if let Some(languages) = &mut self.languages {
            languages.translate(written, outbox);
        }
    }

    fn has_room(&self, outbox: &Outbox) -> bool {
        let (messages, bytes) = self.room();
        outbox.has_room(messages, bytes)
    }

    /// Applies settings and session changes to the state, in steps; true when done.
    #[inline]
    fn begin(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        (self.begun && self.changed.is_empty()) || self.begin_step(now, outbox)
    }

    #[cold]
    fn begin_step(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        let at = self.at(now);
        while !self.begun {
            if !outbox.has_room(STEP + 16, STEP * 512) {
                return false;
            }
            let links = self.links.tmp.lines.iter().map(|line| &line.name);
            let names = self.sessions.iter().map(|it| &it.name).chain(links);
            let names: Vec<String> = names.cloned().collect();
            let (day, key) = (self.today(now).day, self.key);
            let (core, mut out) = self.parts(outbox, None);
            if core.begin(at, day, key, &names, STEP, &mut out) {
                self.find_sessions();
                self.begun = true;
                self.day_is_far(self.core.far_day());
                let notes = self.core.state().violations();
                if notes > 0 {
                    (self.listener)(OmsEvent::Incomplete { notes });
                }
            }
        }
        while self.has_room(outbox) {
            let Some((session, is)) = self.changed.pop_front() else {
                return true;
            };
            match self.line(session) {
                Some(line) => self.line_is(at, line, is, outbox),
                None => self.client(at, session, is, outbox),
            }
        }
        false
    }

    fn line_is(&mut self, at: i64, line: SessionNo, is: Option<Presence>, outbox: &mut Outbox) {
        if is == Some(Presence::Connected) {
            let (core, mut out) = self.parts(outbox, None);
            core.line_up(at, line, &mut out);
            let orders = self.core.not_asked(line);
            if orders > 0 {
                let line = self.core.state().sessions().name(line);
                (self.listener)(OmsEvent::NotAsked { line, orders });
            }
            if let Some(Some(link)) = self.links.clients.get(line)
                && self.core.follows_markets(line)
            {
                market_requests::ask(link.session, outbox);
            }
            return;
        }
        let orders = self.core.in_flight(line);
        let (core, mut out) = self.parts(outbox, None);
        core.line_down(at, line, &mut out);
        if orders > 0 {
            let asks = self.core.answers_status(line);
            (self.listener)(OmsEvent::Unknown { orders, asks });
        }
    }

    fn client(&mut self, at: i64, session: SessionId, is: Option<Presence>, outbox: &mut Outbox) {
        if let Some(index) = self.index(session) {
            let (core, mut out) = self.parts(outbox, None);
            if core.has_copies() {
                core.copy_session(at, index, is == Some(Presence::Connected));
            }
            core.client(at, index, is, &mut out);
        }
    }
}

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
            self.venue_says(at, line, message, outbox)
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

    fn on_disk(&mut self, _now: Now, room: DiskRoom) {
        self.core.set_on_reserve(room == DiskRoom::Reserve);
    }

    /// After a sequence reset sent messages may be lost: requests the status of every open order.
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
        self.count_report(reject);
        self.business_reject(at, line, reject, refused, outbox);
        self.translate(written, outbox);
        if !self.links.tmp.lines.is_empty() {
            self.send_frames(now, outbox);
        }
        Ok(())
    }

    /// An order that was cancelled meanwhile is not resent.
    fn on_resend(&mut self, _now: Now, session: SessionId, stored: &[u8]) -> bool {
        if self.line(session).is_none() {
            return true;
        }
        let message = self.decoder.decode(stored);
        // Each logon asks anew.
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
        let (messages, bytes) = self.room();
        let (core, mut out) = self.parts(outbox, None);
        let far = core.far_day();
        core.begin_day(at, today.day, &mut out);
        // Due work comes first, and again after the other work, which must not delay it.
        let due = loop {
            if !out.outbox.has_room(messages, bytes) {
                break Some(Nanos(0));
            }
            let due = core.due(at, &mut |order| overdue.push(order), &mut out);
            if !core.has_work(at) {
                break due;
            }
            while core.has_work(at) && out.outbox.has_room(messages, bytes) {
                core.work(at, &mut out);
            }
        };
        let is_far = self.core.far_day();
        self.day_is_far(is_far.filter(|_| far != is_far));
        if !self.listings.is_empty() {
            self.list(outbox);
        }
        let untold = self.links.watches.is_due() && self.report_markets(outbox);
        let recovering = match self.recoveries.is_empty() {
            true => None,
            false => self.recover(outbox),
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
        let next = earlier(due, earlier(next_day, recovering));
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
        let done = match crate::desk::command::bulletin(&self.core, command) {
            Some(words) => words.and_then(|words| self.ask_bulletins(now, words)),
            None if command.bytes == RELOAD => {
                let at = self.at(now);
                self.reload(at, command, outbox)
            }
            None => {
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
            b"status" => crate::desk::query::status(self.core.state(), &self.dropped),
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

    /// Orders, reports and limits of the OMS are those that it has written and read itself.
    fn owns(&self, session: SessionId) -> Option<&'static str> {
        let is_own = (session.0 as usize) < self.sessions.len() || self.index(session).is_some();
        is_own.then_some("one of the OMS")
    }

    /// The state would be ahead of the journal.
    fn survives_panics(&self) -> bool {
        false
    }
}

impl fmt::Debug for Oms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Oms")
            .field("sessions", &self.sessions.len())
            .field("orders", &self.core.state().orders().len())
            .finish_non_exhaustive()
    }
}
