//! Handles one message: carries out the outcomes of the rules.

use fixwire_protocol::{Message, Now, Outbox, Refusal, SessionId, tag};

use super::answer::{Answer, plain};
use super::options::Away;
use super::raised::Target;
use super::status::Status;
use super::{Core, GatewayEvent, GatewayLimit, Trouble};
use crate::orders::known::{answers, asks, reaches_all};
use crate::orders::{Out, ReportAddressee};
use crate::rules::{Facts, RejectKind, RuleOutcome, RuleScratch, Rules};
use crate::{Draft, TransformFailure};

mod hold;
pub(super) mod on;
mod passing;
mod reject;
mod remember;
mod round;

use passing::Passing;

/// Messages that open or change orders, except Quote(S): NewOrderSingle, NewOrderList, OrderCancelReplaceRequest,
/// ListExecute, NewOrderCross, CrossOrderCancelReplaceRequest, NewOrderMultileg, MultilegOrderCancelReplace,
/// MassQuote, QuoteResponse.
const OPENING: [&[u8]; 10] = [
    b"D", b"E", b"G", b"L", b"s", b"t", b"AB", b"AC", b"i", b"AJ",
];

/// The client that a message returns to.
#[derive(Clone, Copy)]
enum Back {
    Nobody,
    /// The client to which an id in the response belongs.
    Heard(ReportAddressee),
    /// The client whose message a BusinessMessageReject(j) rejects, and whether that message was an order.
    Refused(SessionId, bool),
}

/// A message, while the outcomes of the rules for it are carried out.
pub(super) struct Work<'w> {
    core: &'w mut Core,
    rules: &'w Rules,
    active: &'w [bool],
    open: &'w [bool],
    now: Now,
    source: usize,
    message: &'w Message<'w>,
    outbox: &'w mut Outbox,
    back: Back,
    /// Number of targets that received the message.
    given: usize,
    /// The first failure of the message.
    trouble: Option<Trouble>,
    answered: bool,
    /// Whether the gateway holds the message, and rejects it to its source if it cannot be delivered.
    holds: bool,
    /// Whether the gateway had no room for the reject. If so, the session sends a reject, for which it always keeps
    /// room.
    unanswered: bool,
    /// Whether `[[on]]` entries are running. Failures of these entries raise no further event.
    happened: bool,
    /// How many times the message has come back from its source and was sent there again.
    rounds: u16,
    /// The rule that sends the message.
    rule: Option<usize>,
}

impl<'w> Work<'w> {
    pub fn new(
        core: &'w mut Core,
        rules: &'w Rules,
        (active, open): (&'w [bool], &'w [bool]),
        now: Now,
        from: SessionId,
        message: &'w Message<'w>,
        outbox: &'w mut Outbox,
    ) -> Self {
        core.notes.set_time(now.wall);
        Self {
            core,
            rules,
            active,
            open,
            now,
            source: from.0 as usize,
            message,
            outbox,
            back: Back::Nobody,
            given: 0,
            trouble: None,
            answered: false,
            holds: false,
            unanswered: false,
            happened: false,
            rounds: 0,
            rule: None,
        }
    }

    pub fn run(&mut self, scratch: &mut RuleScratch) -> Result<(), Refusal> {
        self.core.recalled.clear();
        if let Err(trouble) = self.before() {
            self.trouble(self.rule, Target::Unknown, trouble);
            // The gateway never rejects a response. When there was no room for the response's note, the session
            // rejects it, so that the peer may send it again.
            self.unanswered = self.is_answer() && matches!(trouble, Trouble::NotWritten(_));
        } else {
            let remembered = core::mem::take(&mut self.core.recalled);
            let facts = Facts {
                now: self.now,
                active: self.active,
                remembered: &remembered,
            };
            let (rules, message, source) = (self.rules, self.message, self.source);
            let mut each = |rule: usize, outcome: RuleOutcome<'_>| self.outcome(rule, outcome);
            let evaluated = rules.evaluate(scratch, message, source, &facts, &mut each);
            self.core.recalled = remembered;
            if !evaluated.decided {
                self.core.counters.unmatched += 1;
                if self.core.reject_unmatched {
                    self.trouble(None, Target::Unknown, Trouble::Unmatched);
                }
            }
            if let Back::Heard(heard) = self.back
                && let Some(reached) = heard.reached()
            {
                self.tell_reached(reached, scratch);
            }
        }
        self.happen(scratch);
        if let Some(trouble) = self.trouble
            && self.given == 0
            && !self.answered
            && !self.is_answer()
            && !matches!(trouble, Trouble::Unsolicited | Trouble::ClientGone)
        {
            self.refuse(trouble);
        }
        if self.holds && (self.given > 1 || self.answered) {
            // If the outbox has no room for this note, the source may get a second reject.
            let _ = self.core.notes.not_to_answer(self.outbox);
        }
        if self.core.notes.has_most() {
            self.core.tell_most();
        }
        match self.unanswered {
            true => Err(Refusal::NotAvailable),
            false => Ok(()),
        }
    }

    /// Returns the message to a second client too, if it is about an order of that client. The rules evaluate the
    /// message again, with the values remembered for that order.
    #[cold]
    fn tell_reached(&mut self, reached: ReportAddressee, scratch: &mut RuleScratch) {
        self.back = Back::Heard(reached);
        self.core.recalled.clear();
        if self.rules.recalls_any() {
            self.look_up();
        }
        let remembered = core::mem::take(&mut self.core.recalled);
        let facts = Facts {
            now: self.now,
            active: self.active,
            remembered: &remembered,
        };
        let (rules, message, source) = (self.rules, self.message, self.source);
        let mut each = |rule: usize, outcome: RuleOutcome<'_>| {
            // Only `return` is carried out now: the other actions were carried out for the first client.
            if matches!(outcome, RuleOutcome::Return { .. }) {
                self.outcome(rule, outcome);
            }
        };
        rules.evaluate(scratch, message, source, &facts, &mut each);
        self.core.recalled = remembered;
    }

    /// Sends the source a reject of the message.
    pub(super) fn refuse(&mut self, trouble: Trouble) {
        self.core.text.clear();
        self.core.text.extend_from_slice(trouble.text().as_bytes());
        if let Some(tag) = trouble.tag() {
            self.core.text.extend_from_slice(b" (");
            let mut digits = itoa::Buffer::new();
            self.core
                .text
                .extend_from_slice(digits.format(tag).as_bytes());
            self.core.text.push(b')');
        }
        self.answer(RejectKind::Fitting, Some(trouble));
    }

    /// Whether the message is a response, which is never rejected.
    fn is_answer(&self) -> bool {
        let msg_type = self.message.msg_type();
        msg_type == b"j" || (answers(msg_type) && !asks(msg_type))
    }

    /// Whether the message is a response. A Quote(S) from a venue is one, although clients send Quotes too.
    #[cold]
    fn is_response(&self) -> bool {
        let is_quote = self.message.msg_type() == b"S";
        self.is_answer() || (is_quote && self.core.sessions[self.source].is_sent)
    }

    /// Whether the message opens or changes orders at its destination. A Quote(S) from a venue does not: it is a
    /// response.
    #[cold]
    fn opens_orders(&self) -> bool {
        match self.message.msg_type() {
            b"S" => !self.core.sessions[self.source].is_sent,
            msg_type => OPENING.contains(&msg_type),
        }
    }

    /// Runs the steps that precede the rules.
    fn before(&mut self) -> Result<(), Trouble> {
        if let Err(error) = self.core.notes.begin(self.outbox)? {
            (self.core.listener)(GatewayEvent::Note(error));
        }
        let msg_type = self.message.msg_type();
        if self.core.on_reserve && self.opens_orders() {
            return Err(Trouble::DiskFull);
        }
        let notes = &self.core.notes;
        let number = notes.number(self.source);
        if number.is_some_and(|number| notes.orders().came_back(number, self.message)) {
            self.core.counters.came_back += 1;
            return Err(Trouble::CameBack);
        }
        let source = &self.core.sessions[self.source];
        if source.reflects || (source.sends && self.is_answer()) {
            self.look_for_rounds()?;
        }
        if answers(msg_type) {
            let notes = &mut self.core.notes;
            let heard = notes.heard(self.now.wall, self.source, self.message, self.outbox)?;
            self.back = heard.map_or(Back::Nobody, Back::Heard);
        } else if msg_type == b"j" {
            self.find_refused()?;
        }
        if self.rules.recalls_any() {
            self.look_up();
        }
        Ok(())
    }

    fn outcome(&mut self, rule: usize, outcome: RuleOutcome<'_>) {
        match outcome {
            RuleOutcome::Send { to, draft, convert } => {
                self.rule = Some(rule);
                let done = self.may_reach(rule, draft);
                let done = done.and_then(|()| self.send(to, draft, convert));
                self.given += usize::from(done.is_ok());
                self.note_failure(rule, Target::Session(to), done);
            }
            RuleOutcome::Copy { to, draft, convert } => {
                self.rule = Some(rule);
                let done = self.target(to, None);
                let done = done.and_then(|to| self.pass(to, draft, convert, Passing::Copied));
                if let Err(trouble) = done {
                    self.tell(Some(rule), Target::Session(to), trouble);
                }
            }
            RuleOutcome::Return { draft, convert } => {
                self.rule = Some(rule);
                let done = self.give_back(draft, convert);
                self.given += usize::from(done.is_ok());
                self.note_failure(rule, Target::Back, done);
            }
            RuleOutcome::Remember {
                id,
                fields,
                goes_on,
            } => {
                let done = self.remember(id, fields);
                *goes_on = done.is_ok();
                self.note_failure(rule, Target::Unknown, done);
            }
            RuleOutcome::Forget(id) => {
                let done = self.forget(id);
                self.note_failure(rule, Target::Unknown, done);
            }
            RuleOutcome::Reject { kind, text } => {
                // A BusinessMessageReject(j) is never rejected, because the peer could reject the reject in turn.
                if !self.answered && self.message.msg_type() != b"j" {
                    self.core.text.clear();
                    self.core.text.extend(plain(text));
                    self.answer(kind, None);
                }
            }
            RuleOutcome::Status => self.answer_status(),
            simple @ (RuleOutcome::Connect(_)
            | RuleOutcome::Disconnect(_)
            | RuleOutcome::Count(_)
            | RuleOutcome::Notify(_)) => self.core.simple(self.rules, rule, simple),
            RuleOutcome::Throttled {
                action,
                rate,
                reject,
            } => {
                let target = Target::Behind { rule, action };
                let trouble = Trouble::TooMany { rate };
                match reject {
                    true => self.trouble(Some(rule), target, trouble),
                    false => self.tell(Some(rule), target, trouble),
                }
            }
            RuleOutcome::Untold(failure) => {
                self.core.counters.scripts_failed += 1;
                self.tell(Some(rule), Target::Unknown, Trouble::Untold(failure));
            }
            RuleOutcome::Failed { action, failure } => {
                let of_script = matches!(failure, TransformFailure::Script(_));
                self.core.counters.scripts_failed += u64::from(of_script);
                let target = Target::Behind { rule, action };
                self.trouble(Some(rule), target, Trouble::Failed { action, failure });
            }
        }
    }

    fn note_failure(&mut self, rule: usize, target: Target, done: Result<(), Trouble>) {
        if let Err(trouble) = done {
            self.trouble(Some(rule), target, trouble);
        }
    }

    /// Records a failure. The source receives a reject if no session gets the message.
    fn trouble(&mut self, rule: Option<usize>, target: Target, trouble: Trouble) {
        self.trouble = self.trouble.or(Some(trouble));
        self.tell(rule, target, trouble);
    }

    fn tell(&mut self, rule: Option<usize>, target: Target, trouble: Trouble) {
        self.core.counters.troubles += 1;
        if let Trouble::Limit(GatewayLimit::OrdersOfClient(_)) = trouble {
            self.core.counters.over_share += 1;
        }
        self.raise(trouble, target);
        (self.core.listener)(GatewayEvent::Trouble {
            from: SessionId(self.source as u32),
            message: *self.message,
            rule: rule.and_then(|rule| self.rules.name(rule)),
            trouble,
        });
    }

    /// Checks a request that may reach the orders of all clients: the rule must name its MsgType(35).
    fn may_reach(&self, rule: usize, draft: &Draft) -> Result<(), Trouble> {
        let is_allowed =
            !reaches_all(draft.msg_type()) || self.rules.names_type(rule, draft.msg_type());
        if is_allowed {
            Ok(())
        } else {
            Err(Trouble::ReachesAll)
        }
    }

    fn send(&mut self, to: usize, draft: &mut Draft, convert: bool) -> Result<(), Trouble> {
        if draft.msg_type() == b"F"
            && !self.core.notes.queues.is_empty()
            && self.cancel_held(to, draft)?
        {
            return Ok(());
        }
        let to = self.target(to, Some(draft))?;
        if draft.msg_type() == b"j" {
            self.guard_reject(to, draft);
        }
        if !self.core.sessions[to].follows {
            return self.pass(to, draft, convert, Passing::Sent(Out::Other));
        }
        let notes = &mut self.core.notes;
        let way = (self.source, to);
        let out = notes.outbound(self.now.wall, way, draft, self.outbox)?;
        if out == Out::Duplicate {
            return Err(Trouble::Duplicate);
        }
        self.pass(to, draft, convert, Passing::Sent(out))
            .inspect_err(|_| {
                if out != Out::Other {
                    // If the outbox has no room for this note, the order stays open, now and after a restart.
                    let _ = self.core.notes.not_sent(to, self.outbox);
                }
            })
    }

    /// Writes a message for a session, or holds it.
    fn pass(
        &mut self,
        to: usize,
        draft: &mut Draft,
        convert: bool,
        passing: Passing,
    ) -> Result<(), Trouble> {
        if convert {
            let (from, to) = (&self.core.sessions[self.source], &self.core.sessions[to]);
            let (from, to) = (from.version, to.version);
            self.core.conversions.convert(from, to, draft)?;
        }
        let is_there = self.active[to] && self.open[to];
        if (!is_there || !self.core.notes.queues.is_empty()) && self.is_held(to, is_there, passing)
        {
            return self.hold(to, draft, passing);
        }
        self.write(to, draft)?;
        self.core.counters.passed(passing.passage());
        Ok(())
    }

    fn write(&mut self, to: usize, draft: &mut Draft) -> Result<(), Trouble> {
        let mut body = self.outbox.begin(SessionId(to as u32), draft.msg_type());
        draft.write(&mut body);
        body.finish()?;
        if self.core.sessions[to].reflects {
            self.note_round(to, draft);
        }
        Ok(())
    }

    /// The session that sent the request to which this message responds.
    fn asked(&self) -> Option<usize> {
        let client = match self.back {
            Back::Heard(heard) => heard.client,
            Back::Refused(client, _) => client,
            Back::Nobody => return None,
        };
        self.core.notes.place(client)
    }

    fn give_back(&mut self, draft: &mut Draft, convert: bool) -> Result<(), Trouble> {
        let notes = &self.core.notes;
        let client = match self.back {
            Back::Heard(heard) if notes.orders().restore(heard, draft) => heard.client,
            Back::Refused(client, _) => {
                draft.set(tag::BUSINESS_REJECT_REF_ID, &self.core.own_id);
                // RefSeqNum(45) refers to the gateway's message to the venue, which the client never saw. The
                // MsgSeqNum(34) of the client's message is not stored.
                draft.set(tag::REF_SEQ_NUM, b"0");
                client
            }
            Back::Nobody if !self.is_response() => return Err(Trouble::NoResponse),
            Back::Heard(_) | Back::Nobody => {
                self.core.counters.unsolicited += 1;
                return Err(Trouble::Unsolicited);
            }
        };
        let client = notes.place(client).ok_or(Trouble::ClientGone)?;
        let session = &self.core.sessions[client];
        let is_void = (!self.open[client] || session.resets) && session.time_to_live.is_none();
        if is_void && !self.active[client] {
            return Err(Trouble::Away(SessionId(client as u32)));
        }
        match self.pass(client, draft, convert, Passing::Returned) {
            // The client gets a reject of its request instead, in its own FIX version.
            Err(Trouble::Unconvertible(_) | Trouble::NoConversion)
                if matches!(self.back, Back::Refused(..)) =>
            {
                self.core
                    .refused
                    .set_unreturned(client, draft.get(tag::TEXT));
                Ok(())
            }
            done => done,
        }
    }

    /// The session to which a message for session `to` goes now, after `away` redirections. A message about an order
    /// goes to the session that has the order. A copy is given without a draft; it is not about an order.
    fn target(&self, to: usize, draft: Option<&Draft>) -> Result<usize, Trouble> {
        let away = |at: usize| {
            let session = &self.core.sessions[at];
            let is_void = !self.open[at] && session.time_to_live.is_none();
            match (self.active[at], session.away) {
                (true, _) => None,
                // A message written now would be lost when the session's next trading session starts.
                (false, Away::Hold) if is_void => Some(Away::Reject),
                (false, away) => Some(away),
            }
        };
        let next = |at: &usize| match self.core.sessions[*at].away {
            Away::To(next) => Some(next),
            Away::Hold | Away::Reject => None,
        };
        if let Some(draft) = draft
            && next(&to).is_some()
            && let Some(client) = self.core.notes.number(self.source)
        {
            let notes = &self.core.notes;
            let has_it = |at: &usize| {
                let venue = notes.number(*at);
                venue.is_some_and(|venue| notes.orders().concerns(client, venue, draft))
            };
            if let Some(at) = core::iter::successors(Some(to), next).find(has_it) {
                return match away(at) {
                    None | Some(Away::Hold) => Ok(at),
                    Some(_) => Err(Trouble::Away(SessionId(at as u32))),
                };
            }
        }
        let mut at = to;
        loop {
            match away(at) {
                None | Some(Away::Hold) => return Ok(at),
                Some(Away::Reject) => return Err(Trouble::Away(SessionId(at as u32))),
                Some(Away::To(next)) => at = next,
            }
        }
    }

    /// Sends the source a response with the status of the sessions.
    fn answer_status(&mut self) {
        if self.answered {
            return;
        }
        self.answered = true;
        let Ok(number) = self.core.notes.answer_number(self.now.wall, self.outbox) else {
            self.unanswered = true;
            return;
        };
        let status = Status {
            number,
            to: SessionId(self.source as u32),
            dictionary: &self.core.sessions[self.source].dictionary,
            message: self.message,
            peers: self.rules.peers(),
            active: self.active,
            open: self.open,
        };
        self.unanswered = status.write(self.outbox).is_err();
    }

    /// Sends the source a reject with the prepared text.
    fn answer(&mut self, kind: RejectKind, trouble: Option<Trouble>) {
        self.answered = true;
        let Ok(number) = self.core.notes.answer_number(self.now.wall, self.outbox) else {
            self.unanswered = true;
            return;
        };
        let own = |tag| Some((self.core.notes.number(self.source)?, self.message.get(tag)?));
        let orders = self.core.notes.orders();
        // For a possible resend (PossResend(97)=Y) of a known order, an ExecutionReport would look like a report on
        // the order at the venue.
        let again = self.message.is_poss_resend()
            && own(tag::CL_ORD_ID).is_some_and(|(client, id)| orders.remembers(client, id));
        let kind = match kind {
            RejectKind::Fitting if again => RejectKind::Business,
            _ => kind,
        };
        let order_is_open =
            own(tag::ORIG_CL_ORD_ID).is_some_and(|(client, id)| orders.is_open(client, id));
        let answer = Answer {
            now: self.now,
            to: SessionId(self.source as u32),
            dictionary: &self.core.sessions[self.source].dictionary,
            message: self.message,
            trouble,
            text: &self.core.text,
            order_is_open,
            number,
        };
        match answer.write(kind, self.outbox) {
            Ok(()) => {
                self.core.counters.rejected += 1;
                if self.core.sessions[self.source].sends {
                    self.note_answer();
                }
            }
            Err(_) => self.unanswered = true,
        }
    }
}
