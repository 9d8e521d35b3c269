//! Plays a recorded day against other settings. Finds the requests that an OMS with these settings would have rejected,
//! and how near to its limits the other orders came.
//!
//! An [`OmsTrial`] passes the requests of a record to an OMS that has no engine. In place of the venue, the trial
//! answers each order with the outcome in the record's reports to the client: accepted, filled, cancelled, replaced,
//! rejected, expired.

mod answers;
mod opening;
mod parents;
mod renumbering;
mod requests;
mod result;
mod uses;
mod venue;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{
    Application as _, Decoder, Field, Message, Mono, Now, Outbox, Refusal, SessionId, Tag,
    Timestamp, tag,
};

pub use result::{
    ChangedRequest, ControlCount, LimitUse, LostFills, NotPlayed, RequestCounts, TrialResult,
};

use crate::app::{Oms, OmsSession, WrittenEvents};
use crate::decide::venue::{VenueId, VenueReport};
use crate::fix::lines::venue_id;
use crate::state::OmsState;
use crate::state::event::{LifecycleEvent, OrderEvent, RequestEvent, timed_event};
use crate::values::fields::carried::each_field;
use crate::values::reason::Reason;
use crate::values::rules::RiskRules;
use crate::values::show::digits;
use crate::values::value::{Number, RequestKind};
use answers::{Answer, AnswerKind};
use opening::Opening;
use parents::Parents;
use renumbering::Renumbering;
use requests::{Outcome, Recorded, RequestAt, Requests};
use result::Findings;
use venue::{sent_request, venue_reject, venue_report};

/// How the result names requests that are not played because their order is older than the record.
const BEFORE_RECORD: &[u8] = b"requests for orders of before the record";

/// An OMS to which a record is played. Lines over TMP speak FIX 4.4 in the trial, so rejects that only TMP causes are
/// not found.
pub struct OmsTrial {
    oms: Oms,
    /// Number of sessions of the engine.
    sessions: usize,
    outbox: Outbox,
    decoder: Decoder,
    /// The time of the record, in nanoseconds since 1970; `None` before its first message.
    at: Option<i64>,
    /// Time of the next task of the OMS; `None` when only a message causes work.
    due: Option<Mono>,
    requests: Requests,
    findings: Findings,
    /// Answers of the record to orders that are not at the venue in the trial yet.
    waiting: BTreeMap<Number, Vec<(Answer, RequestAt)>>,
    /// Orders with waiting answers that the OMS has sent in the meantime.
    sent: Vec<Number>,
    /// Orders from before the record; `None` when the record begins with an empty journal.
    opening: Option<Opening>,
    parents: Parents,
    /// `None` while a request with numbers of the trial is played.
    renumbering: Option<Renumbering>,
    /// The request that the OMS is reading.
    playing: Option<RequestAt>,
    /// Number of answers of the venue.
    executions: u64,
    /// Whether the OMS is reading an answer of the record. A reject in this time is a reject of the venue.
    reads_answer: bool,
}

/// The messages of a record that have no effect on a trial, because their session is a line.
#[derive(Clone, Debug)]
pub struct IgnoredMessages {
    /// By session, whether it is a line.
    lines: Vec<bool>,
}

impl IgnoredMessages {
    /// Whether messages of a session with this MsgType(35) have no effect.
    #[must_use]
    pub fn has(&self, session: SessionId, msg_type: &[u8]) -> bool {
        let is_line = self.lines.get(session.0 as usize).is_some_and(|it| *it);
        is_line && !is_price(msg_type)
    }
}

/// Whether messages of this MsgType(35) have prices, which are played from lines too.
fn is_price(msg_type: &[u8]) -> bool {
    matches!(msg_type, b"W" | b"X")
}

impl OmsTrial {
    /// A trial of these settings with the sessions of their file.
    ///
    /// `opening` is the state of the recorded OMS before the first message. The trial begins with the positions of this
    /// state instead of the positions of the settings. `set_up` may complete the OMS before its start.
    #[must_use]
    pub fn new(
        mut rules: RiskRules,
        mut sessions: Vec<OmsSession>,
        opening: Option<OmsState>,
        set_up: impl FnOnce(&mut Oms),
    ) -> Self {
        let mut findings = Findings::default();
        if let Some(state) = &opening {
            opening::set_positions(&mut rules, state, &mut findings);
        }
        let links = rules.groups.iter_mut().filter(|group| group.over_tmp);
        for group in links {
            group.over_tmp = false;
            for line in &group.lines {
                if sessions.iter().all(|session| session.name != *line) {
                    sessions.push(OmsSession {
                        name: line.clone(),
                        version: Version::Fix44,
                        dictionary: OmsSession::built_in(Version::Fix44),
                        ids: Vec::new(),
                    });
                }
            }
        }
        let count = sessions.len();
        let renumbering = Some(Renumbering::new(&sessions));
        // The key matters only where strangers choose ids.
        let mut oms = Oms::new(rules, sessions, 0, Box::new(|_| {}));
        oms.set_written(WrittenEvents::Rejects);
        set_up(&mut oms);
        Self {
            oms,
            sessions: count,
            outbox: Outbox::new(1 << 22, 1 << 14, 256),
            decoder: Decoder::with_capacity(1024),
            at: None,
            due: None,
            requests: Requests::default(),
            findings,
            opening: opening.map(Opening::new),
            parents: Parents::default(),
            renumbering,
            playing: None,
            waiting: BTreeMap::new(),
            sent: Vec::new(),
            executions: 0,
            reads_answer: false,
        }
    }

    /// The messages that have no effect on the trial.
    #[must_use]
    pub fn ignored(&self) -> IgnoredMessages {
        let sessions = (0..).take(self.sessions).map(SessionId);
        IgnoredMessages {
            lines: sessions.map(|it| self.oms.line(it).is_some()).collect(),
        }
    }

    /// Plays a message that a client, or a session with market prices, sent at time `at`. If `at` is before the last
    /// time, the last time counts. From a line, only prices are played, because the reports to the clients already show
    /// what the venue did.
    pub fn received(&mut self, at: Timestamp, from: SessionId, message: &Message<'_>) {
        if self.oms.line(from).is_some() && !is_price(message.msg_type()) {
            return;
        }
        let now = self.pass(at);
        let parent = (message.msg_type() == b"D" && self.oms.core().has_parents())
            .then(|| Parents::named(self.own_tag(), message));
        match parent.flatten() {
            Some(parent) => self.play_child(now, from, message, parent),
            None => self.play(now, from, message),
        }
    }

    /// The own tag `parent`; 0 when the settings have none.
    fn own_tag(&self) -> Tag {
        self.oms.rules().own_tags.parent
    }

    /// Plays a child order with the number that its parent has in the trial; `parent` is the number in the record.
    fn play_child(&mut self, now: Now, from: SessionId, message: &Message<'_>, parent: Number) {
        if let Some(opening) = &mut self.opening
            && let Some(session) = self.oms.session_no(from)
            && opening.has_parent(parent)
        {
            let name = self.oms.state().sessions().name(session);
            opening.add(name, message.get(tag::CL_ORD_ID).unwrap_or_default());
            return self.findings.leave_out(BEFORE_RECORD);
        }
        let own = self.own_tag();
        if let Some(mut renumbering) = self.renumbering.take() {
            let number = |field| self.parents.number(own, message, field);
            let message = renumbering.renumbered(message, number);
            self.play(now, from, &message);
            self.renumbering = Some(renumbering);
        }
    }

    fn play(&mut self, now: Now, from: SessionId, message: &Message<'_>) {
        let kind = match message.msg_type() {
            b"D" => Some(None),
            b"G" => Some(Some(RequestKind::Replace)),
            b"F" => Some(Some(RequestKind::Cancel)),
            b"q" | b"W" | b"X" => None,
            other => return self.findings.leave_out(other),
        };
        let session = self.oms.session_no(from);
        let (Some(kind), Some(session)) = (kind, session) else {
            // The answers to a mass cancel are the reports of its orders.
            let _ = self.oms.on_message(now, from, message, &mut self.outbox);
            return self.settle(now);
        };
        let get = |tag| message.get(tag).unwrap_or_default();
        let (id, original) = (get(tag::CL_ORD_ID), get(tag::ORIG_CL_ORD_ID));
        let recorded = match original {
            [] => None,
            _ => self.requests.find(session, original),
        };
        if let Some(opening) = self.opening.as_mut().filter(|_| recorded.is_none()) {
            let name = self.oms.state().sessions().name(session);
            if kind.is_some() && opening.has_order(name, original, id) {
                return self.findings.leave_out(BEFORE_RECORD);
            }
        }
        let request = Recorded::new(session, id, kind, now.wall.0, self.oms.state().day());
        let request = self.requests.add(request, recorded);
        self.playing = Some(request);
        let heard = self.hear(now, from, message, request);
        self.collect();
        self.playing = None;
        if let Err(refusal) = heard {
            let text = refused(refusal);
            self.requests.reject(request, None, text);
        } else if self.requests.outcome(request) == Outcome::Accepted {
            if kind.is_none() {
                let number = self.oms.state().used(session, id);
                self.requests.set_order(request, number);
            }
            if kind != Some(RequestKind::Cancel)
                && let Some(number) = self.requests.order(request)
            {
                uses::measure(self.oms.core(), number, now.wall, &mut self.findings);
            }
        }
        self.settle(now);
    }

    /// Passes a request to the OMS. OrderID(37) of a replace or cancel becomes the number that the order has in the trial.
    fn hear(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        request: RequestAt,
    ) -> Result<(), Refusal> {
        let named = message.get(tag::ORDER_ID);
        let number = named.and_then(|named| self.requests.number_of(request, named));
        if let Some(number) = number
            && let Some(mut renumbering) = self.renumbering.take()
        {
            let is_id = |field: Field| (field.tag == tag::ORDER_ID).then_some(number);
            let message = renumbering.renumbered(message, is_id);
            let heard = self.oms.on_message(now, from, &message, &mut self.outbox);
            self.renumbering = Some(renumbering);
            return heard;
        }
        self.oms.on_message(now, from, message, &mut self.outbox)
    }

    /// Plays a report or a reject that the OMS of the record sent to a client at this time.
    pub fn sent(&mut self, at: Timestamp, to: SessionId, message: &Message<'_>) {
        if self.oms.line(to).is_some() {
            return;
        }
        let now = self.pass(at);
        let Some(session) = self.oms.session_no(to) else {
            return;
        };
        // Drop copies repeat the reports to the clients.
        let name = self.oms.state().sessions().name(session);
        let mut copies = self.oms.rules().drop_copies.iter();
        if copies.any(|copy| copy.session.as_bytes() == name) {
            return;
        }
        let Some(answer) = Answer::of(message) else {
            return self.findings.leave_out_report(message);
        };
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        let Some(request) = self.requests.find(session, id) else {
            let name = self.oms.state().sessions().name(session);
            if let Some(opening) = &self.opening
                && opening.knows(name, id)
            {
                let what: &[u8] = match answer.kind == AnswerKind::Fill {
                    true => b"fills of orders of before the record",
                    false => b"other answers to orders of before the record",
                };
                return self.findings.leave_out(what);
            }
            return self
                .findings
                .leave_out(b"answers to requests that the record does not have");
        };
        let request = self.requests.answered(request, answer.kind);
        if matches!(answer.kind, AnswerKind::New | AnswerKind::Replaced)
            && let Some(id) = message.get(tag::ORDER_ID)
        {
            self.requests.set_order_id(request, id);
        }
        let Some(number) = self.requests.order(request) else {
            return self.lose(&answer, request);
        };
        // The OMS makes the reports of a parent from those of its children.
        if self.oms.state().families.is_parent(number) {
            self.parents.reported(message, number);
            return self.settle(now);
        }
        // The order still has the terms before the replace, under another ClOrdID(11).
        if answer.kind == answers::AnswerKind::Fill && self.requests.is_rejected_replace(request) {
            self.lose(&answer, request);
            return self.settle(now);
        }
        let order = self.oms.state().orders().get(number);
        match order.map(|order| (order.state.is_unsent(), order.state.is_open())) {
            Some((true, _)) => {
                let waiting = self.waiting.entry(number).or_default();
                waiting.push((answer, request));
                // The message to the venue says when the order is sent.
                self.oms.set_written(WrittenEvents::All);
            }
            Some((false, true)) => self.answer(now, number, &answer),
            Some((false, false)) | None => self.lose(&answer, request),
        }
        self.settle(now);
    }

    /// Ends the trial; returns its result.
    #[must_use]
    pub fn finish(mut self) -> TrialResult {
        for (_, answers) in core::mem::take(&mut self.waiting) {
            for (answer, request) in answers {
                self.lose(&answer, request);
            }
        }
        result::finish(self.oms.state(), self.requests, self.findings)
    }

    /// Counts a fill of an order, or of a replace, that is not at the venue in the trial. Other answers to an order
    /// that is not at the venue are ignored.
    fn lose(&mut self, answer: &Answer, request: RequestAt) {
        if answer.kind == AnswerKind::Fill {
            self.findings.lost.fills += 1;
            self.findings.lost.orders += u64::from(self.requests.lose(request));
        }
    }

    /// Passes an answer of the record to the OMS as the answer of the venue.
    fn answer(&mut self, now: Now, number: Number, answer: &Answer) {
        let state = self.oms.state();
        let Some(order) = state.orders().get(number) else {
            return;
        };
        self.reads_answer = true;
        if let AnswerKind::Declined(_) = answer.kind {
            let request = sent_request(state, order).map(|request| VenueId {
                order: number,
                request: request.number,
            });
            let reject = venue_reject(order, answer);
            if let Some(id) = request {
                let outbox = &mut self.outbox;
                self.oms.trial_declined(now, id, &reject, outbox);
            }
        } else if let Some(report) = venue_report(state, order, answer, self.executions + 1) {
            self.executions += 1;
            let (order, id) = (digits(number), venue_id(number, report.id.request));
            let report = VenueReport {
                venue_id: order.bytes(),
                text_id: id.bytes(),
                ..report
            };
            self.oms.trial_reported(now, &report, &mut self.outbox);
        }
        self.collect();
        self.reads_answer = false;
    }

    /// Advances the time to the next message. Before the first message the sessions log on. The OMS does its due work.
    fn pass(&mut self, at: Timestamp) -> Now {
        let is_first = self.at.is_none();
        let wall = self.at.map_or(at.0, |last| last.max(at.0));
        self.at = Some(wall);
        let now = clocks(wall);
        self.findings.at(now.wall);
        if is_first {
            self.log_on(now);
        }
        // Due work is done at its own time: for example, a trading day may begin, or a queued order may be sent.
        while let Some(due) = self.due.filter(|due| *due < now.mono) {
            let then = clocks(i64::try_from(due.0).unwrap_or(wall));
            self.due = self.oms.on_time(then, &mut self.outbox);
            self.collect();
            self.due = self.due.map(|next| next.max(Mono(due.0 + 1)));
        }
        now
    }

    fn log_on(&mut self, now: Now) {
        for session in (0..).take(self.sessions).map(SessionId) {
            self.session_is_up(now, session);
        }
        self.settle(now);
    }

    fn session_is_up(&mut self, now: Now, session: SessionId) {
        let logon = self
            .decoder
            .decode(b"8=FIX.4.4\x019=5\x0135=A\x0110=178\x01");
        self.oms.on_logon(now, session, &logon, &mut self.outbox);
    }

    /// Adds a session that a Logon created in the record, by its name in the engine, and logs it on. Returns `None` when
    /// these settings do not let a Logon create it: no template or user has the name, or too many sessions of the user are
    /// there.
    pub fn add_session(&mut self, at: Timestamp, name: &str) -> Option<SessionId> {
        let now = self.pass(at);
        let session = SessionId(u32::try_from(self.sessions).ok()?);
        let dictionary = self.oms.create_for_trial(session, name)?;
        if let Some(renumbering) = &mut self.renumbering {
            renumbering.learn(dictionary);
        }
        self.sessions += 1;
        self.session_is_up(now, session);
        self.settle(now);
        Some(session)
    }

    /// Does all work that is due, then passes to the OMS the answers to orders that it has sent.
    fn settle(&mut self, now: Now) {
        loop {
            self.collect();
            self.due = self.oms.on_time(now, &mut self.outbox);
            self.collect();
            if self.due.is_none_or(|due| due > now.mono) {
                break;
            }
        }
        while let Some(number) = self.sent.pop() {
            for (answer, _) in self.waiting.remove(&number).unwrap_or_default() {
                self.answer(now, number, &answer);
            }
            if self.waiting.is_empty() {
                self.oms.set_written(WrittenEvents::Rejects);
            }
        }
    }

    /// Reads the messages that the OMS has written, and removes them.
    fn collect(&mut self) {
        let mut reason = None;
        for index in self.outbox.unsealed() {
            let entry = &self.outbox.entries()[index];
            if entry.is_note() {
                continue;
            }
            let session = entry.session;
            let (mut id, mut text, mut is_reject) = (None, None, false);
            for field in each_field(self.outbox.body(index)) {
                match field.tag {
                    tag::CL_ORD_ID => id = Some(field.value),
                    tag::TEXT => text = Some(field.value),
                    tag::EXEC_TYPE | tag::ORD_STATUS => is_reject |= field.value == b"8",
                    _ => {}
                }
            }
            let rejects = match self.outbox.msg_type(index) {
                b"D" if !self.waiting.is_empty() => {
                    let order = id.and_then(VenueId::parse).map(|id| id.order);
                    self.sent
                        .extend(order.filter(|it| self.waiting.contains_key(it)));
                    false
                }
                _ if self.reads_answer => false,
                b"8" => is_reject,
                b"9" => true,
                _ => false,
            };
            if !rejects {
                continue;
            }
            let id = id.unwrap_or_default();
            let known = self.oms.session_no(session);
            // An earlier request may have the same ClOrdID(11).
            let playing = self.playing.filter(|it| self.requests.has(*it, known, id));
            let known = playing.or_else(|| self.requests.find(known?, id));
            if let Some(request) = known {
                let reason = *reason.get_or_insert_with(|| last_reason(&self.outbox));
                let text = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
                self.requests.reject(request, reason, text);
            }
        }
        self.outbox.clear();
    }
}

/// Both clocks at a time of the record.
fn clocks(wall: i64) -> Now {
    Now {
        wall: Timestamp(wall),
        mono: Mono(u64::try_from(wall).unwrap_or_default()),
    }
}

/// The reason of the last reject among the notes.
fn last_reason(outbox: &Outbox) -> Option<Reason> {
    let mut notes = outbox.unsealed().rev();
    notes.find_map(|index| {
        let is_note = outbox.entries()[index].is_note();
        let (_, event) = timed_event(outbox.body(index)).filter(|_| is_note)?;
        if let OrderEvent::Request(RequestEvent::Refused { reason, .. })
        | OrderEvent::Order(
            LifecycleEvent::Rejected { reason, .. } | LifecycleEvent::Declined { reason, .. },
        ) = event
        {
            return Some(reason);
        }
        None
    })
}

/// A refusal of the application, as a sentence.
fn refused(refusal: Refusal) -> String {
    match refusal {
        Refusal::ThrottleLimitExceeded => "above the rate of the user".into(),
        other => alloc::format!("refused: {other:?}"),
    }
}
