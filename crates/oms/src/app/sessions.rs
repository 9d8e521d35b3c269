//! The sessions of the OMS: assigns each engine session to a client, a line or a drop copy of the state.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Dictionary, Now, Outbox, SessionId};
use fixwire_text::Diagnostic;

use super::requests::names;
use super::session::{OmsSession, SampleSession, SessionTemplate, samples, versions};
use super::texts::Languages;
use super::{Oms, STEP};
use crate::decide::settings::kept_names;
use crate::desk::notice::OmsEvent;
use crate::desk::notice::logons::{NAME_TAKEN, NO_USER, TOO_MANY};
use crate::fix::clients::Client;
use crate::fix::market_requests;
use crate::state::client_rate::ClientRates;
use crate::values::fields::report_tags::{ReportSettings, ReportTags};
use crate::values::ids::{SessionNo, Table};
use crate::values::report_numbers::ReportNumbers;
use crate::values::rules::RiskRules;
use crate::values::value::Presence;

/// One sentence for each header field that the setting `set` names although it is part of the line's own identity.
fn header_problems<'a>(
    rules: &'a RiskRules,
    sessions: &'a [OmsSession],
) -> impl Iterator<Item = String> + 'a {
    let is_line = |session: &&OmsSession| {
        let mut groups = rules.groups.iter();
        groups.any(|group| group.lines.contains(&session.name))
    };
    let users = rules.users.iter();
    let users = users.map(|user| (format!("user {}", user.session), &user.contract, None));
    let groups = rules.groups.iter();
    let groups = groups.map(|group| {
        let name = format!("line_group {}", group.name);
        (name, &group.contract, Some(&group.lines))
    });
    users.chain(groups).flat_map(move |(name, contract, lines)| {
        let is_of = move |it: &&OmsSession| lines.is_none_or(|lines| lines.contains(&it.name));
        let lines = sessions.iter().filter(is_line).filter(is_of);
        lines.flat_map(move |line| {
            let name = name.clone();
            let sets = contract.sets().filter(|(tag, _)| line.own_header().any(|own| own == *tag));
            sets.map(move |(tag, _)| {
                format!("{name} has set = {{{tag} = ...}}: the messages of {} have this field of its own identity", line.name)
            })
        })
    })
}

/// The settings for the fields of venues' reports.
fn report_settings(oms: &Oms) -> ReportSettings {
    let (rules, names) = (oms.core.rules(), oms.core.state().sessions());
    let groups = rules.groups.iter();
    let groups = groups.filter(|group| group.venue_exec_id.is_some());
    let lines = groups.flat_map(|group| &group.lines);
    let exec_id_lines = lines.filter_map(|it| names.find(it.as_bytes())).collect();
    let mut settings = ReportSettings {
        exec_id_lines,
        ..ReportSettings::default()
    };
    if rules.groups.iter().any(|it| !it.report_carry.is_empty()) {
        settings.carried = Table::of(ReportTags::default(), names.len());
    }
    for group in rules.groups.iter().filter(|it| !it.report_carry.is_empty()) {
        let is_line = |it: &&OmsSession| group.lines.contains(&it.name);
        for session in oms.sessions.iter().filter(is_line) {
            if let Some(line) = names.find(session.name.as_bytes()) {
                settings.carried[line] = group.report_carry.with_groups(&session.dictionary);
            }
        }
    }
    let users = rules.users.iter();
    let users = users.map(|user| (&user.session, &user.report_drop));
    let copies = rules.drop_copies.iter();
    let copies = copies.map(|copy| (&copy.session, &copy.report_drop));
    for (session, tags) in users.chain(copies).filter(|(_, tags)| !tags.is_empty()) {
        let sessions = oms.sessions.iter();
        settings
            .dropped
            .resize(sessions.len(), ReportTags::default());
        if let Some(at) = sessions.clone().position(|it| it.name == *session) {
            settings.dropped[at] = tags.clone();
        }
    }
    settings
}

impl Oms {
    /// Checks that the FIX version of each line has the requests that the line's settings need: one sentence for each
    /// fault.
    #[must_use]
    pub fn version_problems(rules: &RiskRules, sessions: &[OmsSession]) -> Vec<String> {
        let lines = rules
            .groups
            .iter()
            .flat_map(|group| group.lines.iter().map(move |line| (group, line)));
        let lines = lines.flat_map(|(group, line)| {
            let session = sessions.iter().find(|it| it.name == *line);
            let is_before = move |version| session.is_some_and(|it| it.version < version);
            let mass = (group.mass_status && is_before(Version::Fix43)).then_some((
                "mass_status",
                "OrderMassStatusRequest(AF), which FIX has from 4.3 on",
            ));
            let market = (group.market_status && is_before(Version::Fix42)).then_some((
                "market_status",
                "TradingSessionStatusRequest(g), which FIX has from 4.2 on",
            ));
            let missing = mass.into_iter().chain(market);
            missing.map(move |(key, request)| {
                let version = session.map_or("", |it| it.version.name());
                let group = &group.name;
                format!("line_group {group} has {key}: {version} of {line} has no {request}")
            })
        });
        let mut problems: Vec<String> = lines.collect();
        problems.extend(header_problems(rules, sessions));
        problems
    }

    /// The sessions of a file, and one of each kind of session that its templates create.
    #[must_use]
    pub fn with_samples_of(
        rules: &RiskRules,
        sessions: &[OmsSession],
        templates: &[SessionTemplate],
    ) -> Vec<OmsSession> {
        let samples = samples(rules, templates, sessions);
        let samples = samples.into_iter().map(|it| it.session);
        sessions.iter().cloned().chain(samples).collect()
    }

    /// Checks that the dictionary of each line has the fields of the names at its venue, which the files `symbols` and
    /// `accounts` of its line group list: one mistake for each field and line.
    #[must_use]
    pub fn name_problems(rules: &RiskRules, sessions: &[OmsSession]) -> Vec<Diagnostic> {
        names::name_problems(rules, sessions)
    }

    pub(super) fn find_sessions(&mut self) {
        self.find_clients();
        self.rates = ClientRates::new(&self.core.users);
        self.find_links();
    }

    /// Finds the clients and drop copies in the state.
    pub(super) fn find_clients(&mut self) {
        let numbers = ReportNumbers::new(self.core.rules().appl_id.as_bytes());
        let names = self.core.state().sessions();
        let find = |session: &OmsSession| names.find(session.name.as_bytes());
        self.indices = self.sessions.iter().map(find).collect();
        self.links.clients = Table::of(None, names.len());
        for (at, index) in (0..).zip(&self.indices) {
            if let Some(index) = index {
                let is_numbered = self.core.user(*index).is_ok_and(|it| it.report_numbers);
                self.links.clients[*index] = Some(Client {
                    session: SessionId(at),
                    version: self.sessions[at as usize].version,
                    is_copy: false,
                    numbers: is_numbered.then_some(numbers),
                });
            }
        }
        let copies = self.core.rules().drop_copies.iter().filter_map(|rule| {
            let at = self
                .sessions
                .iter()
                .position(|it| it.name == rule.session)?;
            let client = Client {
                session: SessionId(u32::try_from(at).ok()?),
                version: self.sessions[at].version,
                is_copy: true,
                numbers: rule.report_numbers.then_some(numbers),
            };
            Some((client, rule.accounts.clone()))
        });
        self.copies = copies.collect();
        self.languages = Languages::new(self.core.rules(), versions(&self.sessions));
        self.find_sources();
        self.report_settings = Arc::new(report_settings(self));
        self.find_watchers();
        self.find_reaches();
    }

    /// Applies settings and session changes to the state, in steps; returns true when all are applied.
    #[inline]
    pub(super) fn begin(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        (self.begun && self.changed.is_empty()) || self.begin_step(now, outbox)
    }

    #[cold]
    pub(super) fn begin_step(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        let at = self.at(now);
        while !self.begun {
            if !outbox.has_room(STEP + 16, STEP * 512) {
                return false;
            }
            let links = self.links.tmp.lines.iter().map(|line| &line.name);
            let names = self.sessions.iter().map(|it| &it.name).chain(links);
            let names: Vec<String> = names.cloned().collect();
            let (day, key) = (self.today(now).day, self.key);
            let rolling = self.core.state().next_day;
            let (core, mut out) = self.parts(outbox, None);
            if core.begin(at, day, key, &names, STEP, &mut out) {
                self.find_sessions();
                self.begun = true;
                self.day_goes_on(rolling);
                self.day_is_far(self.core.far_day());
                self.names_stay();
                let notes = self.core.state().violations();
                if notes > 0 {
                    (self.listener)(OmsEvent::Incomplete { notes });
                }
                let orders = &self.refused_fields();
                if !orders.is_empty() {
                    (self.listener)(OmsEvent::FieldsRefused { orders });
                }
            }
        }
        if !self.begin_created(at, outbox) {
            return false;
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

    /// Gives numbers and settings to the sessions that Logons have created; false when the outbox has no room.
    fn begin_created(&mut self, at: i64, outbox: &mut Outbox) -> bool {
        while self.indices.len() < self.sessions.len() {
            if !outbox.has_room(STEP + 16, STEP * 512) {
                return false;
            }
            let new = self.sessions[self.indices.len()..].iter();
            let new: Vec<String> = new.map(|it| it.name.clone()).collect();
            let (core, mut out) = self.parts(outbox, None);
            if core.begin_sessions_of_logons(at, &new, STEP, &mut out) {
                self.find_clients();
                self.rates.follow(&self.core.users);
            }
        }
        true
    }

    /// The template that creates a session of the engine, and the session's name in the OMS.
    fn template_of(&self, engine: &str) -> Option<(&SessionTemplate, String)> {
        let mut templates = self.templates.iter();
        templates.find_map(|it| Some((it, it.called(engine)?)))
    }

    /// Whether a session or a link has this name.
    fn has_name(&self, name: &str) -> bool {
        let links = self.links.tmp.lines.iter().map(|line| &line.name);
        let mut names = self.sessions.iter().map(|it| &it.name).chain(links);
        names.any(|known| known == name)
    }

    /// Whether a session of the engine may be created or used at a Logon.
    pub(super) fn check_created(&self, engine: &str) -> Result<(), &'static str> {
        let (_, name) = self.template_of(engine).ok_or(NO_USER)?;
        let rules = self.core.rules();
        rules.user_of_created(&name).ok_or(NO_USER)?;
        match self.created.iter().position(|known| known == engine) {
            Some(at) if self.sessions[self.configured + at].name == name => Ok(()),
            Some(_) => Err(NAME_TAKEN),
            None if self.has_name(&name) => Err(NAME_TAKEN),
            None if rules.is_full(&name) => Err(TOO_MANY),
            None => Ok(()),
        }
    }

    /// Adds a session that a Logon has created, or that a start has restored. The session gets its number and its
    /// limits with the next events.
    pub(super) fn add_created(&mut self, session: SessionId, engine: &str) {
        // An earlier id is that of a session that was removed and comes back.
        if session.0 as usize != self.sessions.len() {
            return;
        }
        let Some((template, name)) = self.template_of(engine) else {
            return;
        };
        let is_taken = self.has_name(&name);
        // A section that was added since has the name: the created session has no user.
        let created = template.session(if is_taken { engine } else { &name });
        self.sessions.push(created);
        self.created.push(engine.into());
        if !is_taken {
            self.core.rules.add_created(&name);
        }
        self.changed.push_back((session, None));
    }

    /// Adds a session that a Logon has created, if a Logon may create it; returns its dictionary.
    pub(crate) fn create_for_trial(
        &mut self,
        session: SessionId,
        engine: &str,
    ) -> Option<&Dictionary> {
        self.check_created(engine).ok()?;
        self.add_created(session, engine);
        let created = self.sessions.get(session.0 as usize)?;
        Some(&created.dictionary)
    }

    /// Adds the users of created sessions to new settings.
    pub(super) fn add_users(&self, rules: &mut RiskRules) {
        for session in &self.sessions[self.configured..] {
            rules.add_created(&session.name);
        }
    }

    /// Finds the sample of each created session: what conditions of routes treat it as.
    fn find_sources(&mut self) {
        let sample = |at: usize, engine: &String| {
            let session = &self.sessions[self.configured + at];
            let (template, _) = self.template_of(engine)?;
            let fits = |it: &(usize, &SampleSession)| {
                let of = self.templates.get(it.1.template);
                of.is_some_and(|of| core::ptr::eq(of, template)) && it.1.takes(&session.name)
            };
            let samples = self.samples.iter().enumerate().filter(fits);
            // A sample with the session's own name counts more than each pattern.
            let best = samples.max_by_key(|(_, it)| {
                let name = &it.session.name;
                (*name == session.name, name.len())
            });
            best.map(|(sample, _)| self.configured + sample)
        };
        let created = self.created.iter().enumerate();
        let created = created.map(|(at, engine)| sample(at, engine));
        let configured = (0..self.configured).map(Some);
        self.sources = configured.chain(created).collect();
    }

    /// Raises an event for each name at a venue that open orders have and that the settings change.
    #[cold]
    fn names_stay(&mut self) {
        for name in kept_names(self.core.state(), self.core.rules()) {
            let mut text = name.text(self.core.state(), "stays as it was");
            if let Some(other) = self.core.taken_names.get(&(name.line, name.of)) {
                let other = other.text(self.core.state());
                text +=
                    &format!("; new orders with it are rejected, since it is now that of {other}");
            }
            (self.listener)(OmsEvent::NameKept { name: &text });
        }
    }

    pub(super) fn line_is(
        &mut self,
        at: i64,
        line: SessionNo,
        is: Option<Presence>,
        outbox: &mut Outbox,
    ) {
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

    pub(super) fn client(
        &mut self,
        at: i64,
        session: SessionId,
        is: Option<Presence>,
        outbox: &mut Outbox,
    ) {
        if let Some(index) = self.index(session) {
            let (core, mut out) = self.parts(outbox, None);
            if core.has_copies() {
                core.copy_session(at, index, is == Some(Presence::Connected));
            }
            core.client(at, index, is, &mut out);
        }
    }
}
