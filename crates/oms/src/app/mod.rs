//! The OMS: client sessions on one side, sessions to venues on the other.

pub mod recovery;
mod roll;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::{Decoder, Dictionary, Message, Mono, Now, Outbox, SessionId};
use fixwire_text::Diagnostic;
use fixwire_transform::convert::BuiltInConversions;

use crate::decide::core::Core;
use crate::decide::reload::SettingsSource;
use crate::desk::notice::{OmsEvent, OmsListener};
use crate::fix::before::Before;
use crate::fix::clients::Client;
use crate::fix::mass::Listing;
use crate::fix::names::Renamed;
use crate::fix::venue_fields::VenueFields;
use crate::state::OmsState;
use crate::state::client_rate::ClientRates;
use crate::state::orders::venue_names::NAME_MAX;
use crate::state::tag_counts::{DroppedFields, NotUsed};
use crate::values::day::{DayFinder, DaySpan};
use crate::values::fields::carried::{CarriedFields, Gathered};
use crate::values::fields::direct::DirectTables;
use crate::values::fields::report_tags::ReportSettings;
use crate::values::ids::SessionNo;
use crate::values::rules::{RiskRules, UserRule};
use crate::values::value::{Number, Presence};

mod application;
mod bulletins;
mod carry;
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

pub use session::{OmsSession, SessionTemplate};

pub(crate) use out::WrittenEvents;
use out::{Links, Out, VenueWords};
use recoveries::Recoveries;
use requests::conversions;
use requests::left_out;
pub use requests::left_out::{LeftOutFields, LeftOutOf};
use requests::routes;
use requests::securities::SecurityAnswers;
use requests::user_defined;
pub use requests::user_defined::UserDefinedTag;
use session::{Reach, SampleSession, dictionaries, samples, versions};
use texts::Languages;

/// Maximum output of handling one message: the number of entries (journal notes and messages), and the sum of their
/// bytes.
const ROOM: (usize, usize) = (16, 16 << 10);
/// Additional output for each client that gets the reports of orders placed elsewhere: the number of entries, and the
/// sum of their bytes.
const WATCHED: (usize, usize) = (4, 2 << 10);
/// Additional bytes for names at venues. A quote and the cancels of the replaced quote are four messages, each with the
/// name of an instrument and of an account.
const NAMED: usize = 4 * 2 * NAME_MAX;
/// Maximum number of events in one step of a longer task.
const STEP: usize = 64;

/// An order management system over FIX sessions.
pub struct Oms {
    core: Core,
    /// The sessions of the file, then those that Logons have created.
    sessions: Vec<OmsSession>,
    /// Number of the sessions of the file.
    configured: usize,
    templates: Vec<SessionTemplate>,
    /// The created sessions, by their names in the engine.
    created: Vec<String>,
    /// The sessions that the templates create, when the conditions of routes were compiled. In the conditions they
    /// follow the sessions of the file.
    samples: Vec<SampleSession>,
    /// By index of the engine session, the session's index in conditions of routes; `None` for a created session
    /// without a user.
    sources: Vec<Option<usize>>,
    /// Secret key of the hash of client message ids, such as ClOrdID(11).
    key: u128,
    begun: bool,
    /// Sessions that logged on or disconnected, and whose change is not recorded in the state yet. A session without a
    /// presence was not connected at the start.
    changed: VecDeque<(SessionId, Option<Presence>)>,
    /// Start time by the monotonic clock and by the wall clock.
    start: Option<(Mono, i64)>,
    /// By index of the engine session, the session's number in the state.
    indices: Vec<Option<SessionNo>>,
    links: Links,
    /// Sessions that send drop copies to clients, and the accounts that each may see.
    copies: Vec<(Client, Vec<String>)>,
    /// Clients that may get the reports of orders placed elsewhere; empty when no venue has a drop copy session.
    watchers: Vec<(Client, UserRule)>,
    /// `None` when no client has a language.
    languages: Option<Box<Languages>>,
    before: Before,
    written: WrittenEvents,
    rates: ClientRates,
    /// Mass status requests that are being answered, in the order of their arrival.
    listings: VecDeque<Listing>,
    recoveries: Recoveries,
    securities: SecurityAnswers,
    dropped: DroppedFields,
    not_used: NotUsed,
    /// Orders whose clients wait for the venue's answer to a status request.
    status_waits: Vec<Number>,
    /// Lines that requests may reach, by line group.
    reaches: Vec<Reach>,
    /// Fields of requests that need no closer look.
    direct: DirectTables,
    /// Whether the settings of a user add fields to requests, or replaces get fields of their orders.
    adds_fields: bool,
    /// Whether requests for orders need a closer look, because fields are added to requests or because routes have
    /// conditions.
    looks_at_all: bool,
    gathered: Gathered,
    note: Vec<u8>,
    /// The settings for the fields of venues' reports.
    report_settings: Arc<ReportSettings>,
    /// The dictionaries of all sessions, each once.
    dictionaries: Vec<Arc<Dictionary>>,
    /// Buffer for a report with fields of its venue.
    body: Vec<u8>,
    decoder: Decoder,
    /// Buffers for messages whose names are changed; `None` while such a message is handled.
    renamed: Option<Box<Renamed>>,
    listener: OmsListener,
    settings: Option<Box<dyn SettingsSource>>,
    day_finder: Option<DayFinder>,
    /// The trading day, and the hash of the settings with which it was found.
    span: (u64, DaySpan),
}

impl Oms {
    /// Compiles the conditions of routes; returns every mistake in them. No order fulfils a condition with a mistake.
    pub fn compile_routes(rules: &mut RiskRules, sessions: &[OmsSession]) -> Vec<Diagnostic> {
        routes::compile_routes(rules, sessions)
    }

    /// Routes that no order can take, and fields in conditions that no client can send: a sentence for each.
    #[must_use]
    pub fn route_warnings(&self) -> Vec<String> {
        routes::route_warnings(self)
    }

    /// Fields that lines, clients and drop copies do not get because of their dictionaries.
    #[must_use]
    pub fn left_out_fields(&self) -> Vec<LeftOutFields> {
        left_out::left_out_fields(self.rules(), &self.with_samples())
    }

    /// Standard fields that the settings send to lines whose dictionaries do not have them, and values that these
    /// dictionaries do not allow: a sentence for each line and setting.
    #[must_use]
    pub fn line_warnings(&self) -> Vec<String> {
        user_defined::unknown_at_lines(self.rules(), &self.sessions)
    }

    /// Conversion tables of the settings that no request and no report passes through: a sentence for each.
    #[must_use]
    pub fn conversion_warnings(&self) -> Vec<String> {
        conversions::unused_tables(self.rules(), &self.with_samples())
    }

    /// User-defined fields that the settings let clients send, and that no dictionary of these clients has. A session
    /// that checks user-defined fields rejects messages with user-defined fields that its dictionary lacks.
    #[must_use]
    pub fn undefined_tags(&self) -> Vec<UserDefinedTag> {
        user_defined::undefined_tags(self.rules(), &self.with_samples())
    }

    /// An OMS with these settings and sessions; `key` is a random hash key for the ids of a new day.
    #[must_use]
    pub fn new(
        mut rules: RiskRules,
        sessions: Vec<OmsSession>,
        key: u128,
        listener: OmsListener,
    ) -> Self {
        // The caller that has read the settings has already reported the mistakes.
        routes::compile_routes(&mut rules, &sessions);
        let all = (0..).map(SessionId).take(sessions.len());
        let changed = all.map(|session| (session, None)).collect();
        Self {
            languages: Languages::new(&rules, versions(&sessions)),
            core: Core::new(rules),
            indices: alloc::vec![None; sessions.len()],
            dictionaries: dictionaries(&sessions),
            configured: sessions.len(),
            sessions,
            templates: Vec::new(),
            created: Vec::new(),
            samples: Vec::new(),
            sources: Vec::new(),
            key,
            begun: false,
            changed,
            start: None,
            links: Links::default(),
            copies: Vec::new(),
            watchers: Vec::new(),
            before: Before::default(),
            written: WrittenEvents::All,
            rates: ClientRates::default(),
            listings: VecDeque::new(),
            recoveries: Recoveries::default(),
            securities: SecurityAnswers::default(),
            dropped: DroppedFields::default(),
            not_used: NotUsed::default(),
            status_waits: Vec::new(),
            reaches: Vec::new(),
            direct: DirectTables::default(),
            adds_fields: false,
            looks_at_all: false,
            gathered: Gathered::default(),
            note: Vec::with_capacity(1 << 10),
            report_settings: Arc::default(),
            body: Vec::with_capacity(4 << 10),
            decoder: Decoder::with_capacity(128),
            renamed: None,
            listener,
            settings: None,
            day_finder: None,
            span: (0, DaySpan::default()),
        }
    }

    /// Sets the sections whose sessions Logons create, before the OMS starts.
    pub fn set_templates(&mut self, templates: Vec<SessionTemplate>) {
        self.templates = templates;
        self.samples = self.samples_of(self.core.rules());
        let all = self.with_samples();
        routes::compile_routes(&mut self.core.rules, &all);
        self.dictionaries = dictionaries(&all);
    }

    /// Uses conversion tables that were read already, before the OMS starts: reading them takes longer than the rest of
    /// a start. Without this call the OMS reads the tables that it needs.
    pub fn use_conversions(&mut self, tables: BuiltInConversions) {
        let tables = self.rules().conversions.over(tables);
        self.core.converter.use_tables(tables);
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

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }

    /// The state's number of a session of the engine.
    pub(crate) fn session_no(&self, session: SessionId) -> Option<SessionNo> {
        self.index(session)
    }

    /// Sets which events are written into the outbox.
    pub(crate) fn set_written(&mut self, written: WrittenEvents) {
        self.written = written;
    }

    #[cfg(test)]
    pub(crate) fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    /// The core, and the output for its events.
    #[inline]
    fn parts<'a>(
        &'a mut self,
        outbox: &'a mut Outbox,
        message: Option<&'a Message<'a>>,
    ) -> (&'a mut Core, Out<'a>) {
        let (core, out, _) = self.parts_of(outbox, message, None);
        (core, out)
    }

    /// The core, the output for its events, and the fields that were gathered from the message.
    #[inline]
    fn parts_with_fields<'a>(
        &'a mut self,
        outbox: &'a mut Outbox,
        message: Option<&'a Message<'a>>,
    ) -> (&'a mut Core, Out<'a>, CarriedFields<'a>) {
        self.parts_of(outbox, message, None)
    }

    /// The core, and the output for its events with which clients get fields of the venue's report.
    #[inline]
    fn parts_of<'a>(
        &'a mut self,
        outbox: &'a mut Outbox,
        message: Option<&'a Message<'a>>,
        report: Option<&'a Message<'a>>,
    ) -> (&'a mut Core, Out<'a>, CarriedFields<'a>) {
        let (state, settings) = (self.core.state(), &*self.report_settings);
        let fields = report.and_then(|it| VenueFields::of(it, state, settings, &self.dictionaries));
        let venue = fields.map(|fields| VenueWords {
            fields,
            sessions: &self.sessions,
            body: &mut self.body,
            dropped: &mut self.dropped.reports,
        });
        let out = Out {
            outbox,
            written: self.written,
            note: &mut self.note,
            before: &mut self.before,
            links: &mut self.links,
            copies: &self.copies,
            watchers: &self.watchers,
            languages: self.languages.as_deref_mut(),
            venue,
            dropped: &mut self.dropped.requests,
            message,
            listener: &mut self.listener,
        };
        (&mut self.core, out, self.gathered.fields())
    }

    /// Start time plus elapsed monotonic time, in nanoseconds. This time never goes backwards, even if the wall clock
    /// is changed.
    fn at(&mut self, now: Now) -> i64 {
        let state = self.core.state().time();
        let (then, time) = *self.start.get_or_insert((now.mono, state.max(now.wall.0)));
        let passed = i64::try_from((now.mono - then).0).unwrap_or(i64::MAX);
        time.saturating_add(passed).max(state)
    }

    /// Maximum output of handling one message, including copies of reports: the number of entries, and the sum of their
    /// bytes.
    fn room(&self) -> (usize, usize) {
        let (each, watchers) = (1 + self.rules().drop_copies.len(), self.watchers.len());
        let named = if self.links.venue_names.is_empty() {
            0
        } else {
            NAMED
        };
        let bytes = ROOM.1 * each + WATCHED.1 * watchers + named;
        // A translation is shorter than the rest of its message, so twice the bytes are enough.
        let bytes = bytes << u8::from(self.languages.is_some());
        (ROOM.0 * each + WATCHED.0 * watchers, bytes)
    }

    /// Adds translations to the messages of the outbox, from entry `written` on.
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

    pub(super) fn index(&self, session: SessionId) -> Option<SessionNo> {
        match self.indices.get(session.0 as usize) {
            Some(index) => *index,
            None => self.links.tmp.index(session),
        }
    }

    /// State number of a session that leads to a venue; `None` for other sessions.
    pub(crate) fn line(&self, session: SessionId) -> Option<SessionNo> {
        let index = self.index(session)?;
        self.core.is_line(index).then_some(index)
    }

    /// The sessions of the file, and a sample of those that its templates create.
    fn with_samples(&self) -> Vec<OmsSession> {
        let samples = self.samples.iter().map(|it| &it.session);
        let sessions = self.sessions[..self.configured].iter();
        sessions.chain(samples).cloned().collect()
    }

    fn samples_of(&self, rules: &RiskRules) -> Vec<SampleSession> {
        samples(rules, &self.templates, &self.sessions[..self.configured])
    }

    /// Handles an order for which the venue counts more fills than it has reported.
    #[cold]
    pub(super) fn fills_missing(&mut self, order: Number) {
        let line = self
            .core
            .state()
            .orders()
            .get(order)
            .and_then(|it| it.line());
        let asks = line.is_none_or(|line| self.core.answers_status(line));
        (self.listener)(OmsEvent::FillsMissing { order, asks });
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
