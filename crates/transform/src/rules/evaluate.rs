//! Evaluates the rules for one message.

use alloc::vec::Vec;
use core::cell::Cell;

use fixwire_protocol::{Message, Tag};

use super::change::Work;
use super::compile_action::Step;
use super::condition::{Candidate, Facts, LastRead, World};
use super::fields::{FieldRef, View};
use super::syntax::RejectKind;
use super::{Rule, Rules, Source};
use crate::failure::MAX_ADDED;
use crate::{Draft, TransformFailure};

/// An outcome of the rules for a message. Outcomes are emitted in the order in which rules carry out their actions.
#[derive(Debug)]
pub enum RuleOutcome<'a> {
    /// The message goes to a target session.
    Send {
        /// The session, by its place in the [`Context`](super::RuleContext).
        to: usize,
        /// The changed fields; the caller may change them further.
        draft: &'a mut Draft,
        /// Whether the fields must be converted to the FIX version of the target session.
        convert: bool,
    },
    /// A copy (drop copy) goes to a session that is not a target of the message.
    Copy {
        /// The session.
        to: usize,
        /// The changed fields.
        draft: &'a mut Draft,
        /// Whether the fields must be converted to the FIX version of that session.
        convert: bool,
    },
    /// The message returns to the session that sent the request.
    Return {
        /// The changed fields.
        draft: &'a mut Draft,
        /// Whether the fields must be converted to the FIX version of that session.
        convert: bool,
    },
    /// Fields are remembered for the order of the message.
    Remember {
        /// The message's ClOrdID(11).
        id: &'a [u8],
        /// Each field as `tag=value` and SOH. A field with an empty value is no longer remembered.
        fields: &'a [u8],
        /// Whether the rule continues. The caller sets it to `false` when it could not remember the fields; the
        /// action then counts as failed.
        goes_on: &'a mut bool,
    },
    /// Remembered values are dropped: those of the order that the message responds to. If the message responds to no
    /// order, the values of the source's order with this ClOrdID(11) are dropped, if the source has such an order.
    Forget(Option<&'a [u8]>),
    /// The source receives a reject.
    Reject {
        /// The type of the reject.
        kind: RejectKind,
        /// Text(58) of the reject.
        text: &'a [u8],
    },
    /// The source receives a response with the status of the sessions.
    Status,
    /// This session, which was logged out, may log on again. An initiator connects at once, unless it is still logging
    /// out or its schedule is closed.
    Connect(usize),
    /// This session is logged out and disconnected.
    Disconnect(usize),
    /// The counter with this index in [`Rules::counters`] is incremented.
    Count(usize),
    /// Raises an event with this text for the operator.
    Notify(&'a [u8]),
    /// The rate limit of a `throttle` is exceeded. The rule stops here for this message.
    Throttled {
        /// The action, by its place in the rule.
        action: usize,
        /// The limit, in messages a second.
        rate: u32,
        /// Whether the source receives a reject; otherwise the message is dropped.
        reject: bool,
    },
    /// A script failed to evaluate a condition. The condition then counts as false.
    Untold(TransformFailure),
    /// An action failed: the rule stops here.
    Failed {
        /// The action, by its place in the rule.
        action: usize,
        /// Why.
        failure: TransformFailure,
    },
}

/// The result of evaluating the rules for a message.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Evaluated {
    /// Number of rules that matched.
    pub matched: usize,
    /// Whether a rule sent, returned, rejected, stopped or dropped the message, or failed. If `false`, the message has
    /// gone nowhere, although rules may have copied or counted it.
    pub decided: bool,
}

/// Working memory for evaluation, reused for each message. The memory belongs to one [`Rules`] and holds the state of
/// its throttles.
#[derive(Clone, Debug, Default)]
pub struct RuleScratch {
    /// The fields as the present rule has changed them.
    pub draft: Draft,
    /// A copy of the fields for an outcome, while the rule still needs the draft.
    pub copy: Draft,
    /// The text of an outcome.
    pub text: Vec<u8>,
    /// For each throttle, the time on the monotonic clock up to which earlier messages have used up its rate, ns.
    pub buckets: Vec<u64>,
    /// The number of messages that each rule matched.
    pub matched: Vec<u64>,
}

impl RuleScratch {
    /// The number of messages that each rule matched, in the order of the rules.
    #[must_use]
    pub fn matched(&self) -> &[u64] {
        &self.matched
    }
}

/// The result of a rule.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Ran {
    /// The rule did not decide, so evaluation continues with the next rule.
    Through,
    Decided,
    Stopped,
}

impl Rules {
    /// Working memory for these rules, sized for messages with this number of fields and bytes. The memory grows for
    /// larger messages.
    #[must_use]
    pub fn scratch(&self, fields: usize, bytes: usize) -> RuleScratch {
        RuleScratch {
            draft: Draft::with_capacity(fields, bytes),
            copy: Draft::with_capacity(fields, bytes),
            text: Vec::with_capacity(bytes),
            buckets: alloc::vec![0; self.throttles],
            matched: alloc::vec![0; self.rules.len()],
        }
    }

    /// Evaluates the rules for a message. `source` is the index of its session in the
    /// [`Context`](super::RuleContext). Emits the outcomes in order, each with the index of its rule.
    ///
    /// Conditions read the message as received; each rule changes its own copy of the fields. With `match = "first"`,
    /// evaluation ends after the first rule that decides; with `match = "all"`, after the first rule that stops. For
    /// an unknown session, no outcome is emitted.
    pub fn evaluate(
        &self,
        scratch: &mut RuleScratch,
        message: &Message<'_>,
        source: usize,
        facts: &Facts<'_>,
        out: &mut impl FnMut(usize, RuleOutcome<'_>),
    ) -> Evaluated {
        self.explain(scratch, message, source, facts, &mut |_| {}, out)
    }

    /// As [`evaluate`](Self::evaluate). In addition, `applies` receives the index of each matching rule, before the
    /// rule's outcomes.
    pub fn explain(
        &self,
        scratch: &mut RuleScratch,
        message: &Message<'_>,
        source: usize,
        facts: &Facts<'_>,
        applies: &mut impl FnMut(usize),
        out: &mut impl FnMut(usize, RuleOutcome<'_>),
    ) -> Evaluated {
        let mut evaluated = Evaluated::default();
        let Some(from) = self.sessions.get(source) else {
            return evaluated;
        };
        // After a reload, the working memory may belong to other rules with other throttles. If so, it is reset.
        let (throttles, rules) = (scratch.buckets.len(), scratch.matched.len());
        if (throttles, rules) != (self.throttles, self.rules.len()) {
            scratch.buckets.clear();
            scratch.buckets.resize(self.throttles, 0);
            scratch.matched.clear();
            scratch.matched.resize(self.rules.len(), 0);
        }
        let view = View::of(message, &from.dictionary);
        let failed = Cell::new(None);
        let world = self.world((source, from), message, &failed, facts);
        let untold = |rule, out: &mut dyn FnMut(usize, RuleOutcome<'_>)| {
            if let Some(failure) = failed.take() {
                out(rule, RuleOutcome::Untold(failure));
            }
        };
        let mut read = LastRead::new(message);
        for candidate in from.rules(message.msg_type()) {
            let number = candidate.rule as usize;
            let Some(rule) = self.rules.get(number) else {
                continue;
            };
            let test = rule.test.as_ref();
            if !candidate.may_hold(test, &mut read) {
                continue;
            }
            if candidate.has_rest()
                && let Some(test) = test
                && !test.holds(&view, None, &world)
            {
                untold(number, out);
                continue;
            }
            evaluated.matched += 1;
            scratch.matched[number] += 1;
            applies(number);
            let mut run = Run {
                rules: self,
                number,
                message,
                from,
                world,
            };
            let ran = run.steps(rule, scratch, out);
            untold(number, out);
            evaluated.decided |= ran != Ran::Through;
            if ran == Ran::Stopped || (ran == Ran::Decided && !self.every) {
                break;
            }
        }
        evaluated
    }
}

impl Rules {
    /// What conditions read besides the message, for a message from this source.
    #[inline]
    pub(super) fn world<'w>(
        &'w self,
        (source, from): (usize, &'w Source),
        message: &Message<'w>,
        failed: &'w Cell<Option<TransformFailure>>,
        facts: &'w Facts<'w>,
    ) -> World<'w> {
        World {
            tables: &self.tables,
            source,
            missed: &[],
            name: &from.name,
            bytes: message.bytes(),
            failed,
            facts,
        }
    }
}

impl Source {
    /// The rules that may apply to a message type, in order.
    #[inline]
    fn rules(&self, msg_type: &[u8]) -> impl Iterator<Item = &Candidate> {
        let typed = self
            .typed
            .binary_search_by(|(known, _)| known.as_slice().cmp(msg_type));
        let mut typed = typed.map_or(&[][..], |at| &self.typed[at].1);
        let mut any = &self.any[..];
        core::iter::from_fn(move || {
            let next = match (typed.split_first(), any.split_first()) {
                (Some((one, rest)), other)
                    if other.is_none_or(|(other, _)| one.rule < other.rule) =>
                {
                    typed = rest;
                    one
                }
                (_, Some((one, rest))) => {
                    any = rest;
                    one
                }
                _ => return None,
            };
            Some(next)
        })
    }
}

/// The evaluation of one rule for one message.
pub(super) struct Run<'r> {
    pub rules: &'r Rules,
    pub number: usize,
    pub message: &'r Message<'r>,
    pub from: &'r Source,
    pub world: World<'r>,
}

impl Run<'_> {
    pub fn steps(
        &mut self,
        rule: &Rule,
        scratch: &mut RuleScratch,
        out: &mut impl FnMut(usize, RuleOutcome<'_>),
    ) -> Ran {
        let mut ran = Ran::Through;
        let mut convert = false;
        let number = self.number;
        let RuleScratch {
            draft,
            copy,
            text,
            buckets,
            ..
        } = scratch;
        draft.load(self.message);
        let mut work = Work {
            draft,
            original: self.message,
            dictionary: &self.from.dictionary,
            world: self.world,
            left: MAX_ADDED,
            entry: None,
        };
        for (action, step) in rule.steps.iter().enumerate() {
            let done = match step {
                Step::Change(change) => work.change(change),
                _ => Ok(()),
            };
            let target = match done.and_then(|()| self.target(&work, step)) {
                Ok(target) => target,
                Err(failure) => return failed(number, action, failure, out),
            };
            if let Step::SendByCompId(_) = step {
                self.route(work.draft);
            }
            if step.hands_out() {
                let draft = match rule.last == Some(action) {
                    true => &mut *work.draft,
                    false => {
                        copy.copy_from(work.draft);
                        &mut *copy
                    }
                };
                out(number, handed_out(step, target, draft, convert));
            }
            match step {
                Step::Send(_) | Step::SendByTable(..) | Step::SendByCompId(_) | Step::Return => {
                    ran = Ran::Decided;
                }
                Step::Reject(kind, pieces) => {
                    work.fill(pieces, text);
                    out(number, RuleOutcome::Reject { kind: *kind, text });
                    ran = Ran::Decided;
                }
                Step::Notify(pieces) => {
                    work.fill(pieces, text);
                    out(number, RuleOutcome::Notify(text));
                }
                Step::AnswerStatus => {
                    out(number, RuleOutcome::Status);
                    ran = Ran::Decided;
                }
                Step::Connect(session) => out(number, RuleOutcome::Connect(*session)),
                Step::Disconnect(session) => out(number, RuleOutcome::Disconnect(*session)),
                Step::Count(counter) => out(number, RuleOutcome::Count(*counter)),
                Step::Convert => convert = true,
                Step::Stop => return Ran::Stopped,
                Step::Throttle {
                    bucket,
                    rate,
                    reject,
                } => {
                    let now = self.world.facts.now.mono.0;
                    let bucket = buckets.get_mut(*bucket);
                    if bucket.is_some_and(|used| !takes(used, now, *rate)) {
                        let (rate, reject) = (*rate, *reject);
                        let throttled = RuleOutcome::Throttled {
                            action,
                            rate,
                            reject,
                        };
                        out(number, throttled);
                        return Ran::Decided;
                    }
                }
                Step::Remember(id, fields) => match work.remembered(id, fields) {
                    Ok((id, fields)) => {
                        let [id, fields] = [id, fields].map(|value| work.draft.bytes(value));
                        if !remember(number, id, fields, out) {
                            return Ran::Decided;
                        }
                    }
                    Err(failure) => return failed(number, action, failure, out),
                },
                Step::Forget(id) => {
                    let id = work.read(id).ok().filter(|id| !id.is_empty());
                    out(number, RuleOutcome::Forget(id));
                }
                Step::Change(_) | Step::CopyTo(_) => {}
            }
        }
        ran
    }

    /// The target session of a step, if it depends on the message.
    #[inline]
    fn target(&self, work: &Work<'_>, step: &Step) -> Result<Option<usize>, TransformFailure> {
        match step {
            Step::Send(to) | Step::CopyTo(to) => Ok(Some(*to)),
            Step::SendByTable(field, table, column) => {
                self.by_table(work, field, (*table, *column)).map(Some)
            }
            Step::SendByCompId(field) => self.by_comp_id(work, field).map(Some),
            _ => Ok(None),
        }
    }
}

/// The outcome with which a step emits the fields.
#[inline]
fn handed_out<'d>(
    step: &Step,
    target: Option<usize>,
    draft: &'d mut Draft,
    convert: bool,
) -> RuleOutcome<'d> {
    match (step, target) {
        (Step::CopyTo(_), Some(to)) => RuleOutcome::Copy { to, draft, convert },
        (_, Some(to)) => RuleOutcome::Send { to, draft, convert },
        (_, None) => RuleOutcome::Return { draft, convert },
    }
}

/// Ends a rule because an action failed.
#[cold]
fn failed(
    rule: usize,
    action: usize,
    failure: TransformFailure,
    out: &mut impl FnMut(usize, RuleOutcome<'_>),
) -> Ran {
    out(rule, RuleOutcome::Failed { action, failure });
    Ran::Decided
}

/// Emits an id and the fields to remember. Returns whether the rule continues; it does not when the caller could not
/// remember the fields.
fn remember(
    rule: usize,
    id: &[u8],
    fields: &[u8],
    out: &mut impl FnMut(usize, RuleOutcome<'_>),
) -> bool {
    let mut goes_on = true;
    let remember = RuleOutcome::Remember {
        id,
        fields,
        goes_on: &mut goes_on,
    };
    out(rule, remember);
    goes_on
}

impl Run<'_> {
    /// The session that a table gives for the value of a field.
    fn by_table(
        &self,
        work: &Work<'_>,
        field: &FieldRef,
        (table, column): (usize, usize),
    ) -> Result<usize, TransformFailure> {
        let key = work.read(field)?;
        let table = self.rules.tables.get(table);
        let name = table.and_then(|table| table.get(key, column));
        let name = name.ok_or(TransformFailure::NotInTable(field.tag))?;
        search(&self.rules.by_name, name, field.tag)
    }

    /// The session whose peer has the CompID in a field.
    fn by_comp_id(&self, work: &Work<'_>, field: &FieldRef) -> Result<usize, TransformFailure> {
        let peer = work.read(field)?;
        search(&self.rules.by_peer, peer, field.tag)
    }

    /// Writes the OnBehalfOf fields of the source if they are absent, and removes DeliverToCompID(128).
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 2, third party message routing. DeliverToSubID(129) stays, because TargetSubID(57) belongs to
    /// the session of the target.
    fn route(&self, draft: &mut Draft) {
        use fixwire_protocol::tag;
        draft.remove_tag(tag::DELIVER_TO_COMP_ID);
        if draft.find(tag::ON_BEHALF_OF_COMP_ID).is_some() {
            return;
        }
        let pairs = [
            (tag::SENDER_COMP_ID, tag::ON_BEHALF_OF_COMP_ID),
            (tag::SENDER_SUB_ID, tag::ON_BEHALF_OF_SUB_ID),
            (tag::SENDER_LOCATION_ID, tag::ON_BEHALF_OF_LOCATION_ID),
        ];
        for (from, to) in pairs {
            if let Some(value) = self.message.get(from).filter(|value| !value.is_empty()) {
                draft.set(to, value);
            }
        }
    }
}

fn search(sorted: &[(Vec<u8>, usize)], text: &[u8], tag: Tag) -> Result<usize, TransformFailure> {
    let found = sorted.binary_search_by(|(known, _)| known.as_slice().cmp(text));
    found
        .map(|at| sorted[at].1)
        .map_err(|_| TransformFailure::NoSession(tag))
}

/// Whether one more message may pass at `now` under a limit of `rate` messages a second, with bursts of up to `rate`
/// messages. `used` is the time up to which earlier messages have used up the rate. All times are nanoseconds.
fn takes(used: &mut u64, now: u64, rate: u32) -> bool {
    let each = 1_000_000_000 / u64::from(rate.max(1));
    let from = now.max(*used);
    if from - now > each * u64::from(rate.saturating_sub(1)) {
        return false;
    }
    *used = from.saturating_add(each);
    true
}
