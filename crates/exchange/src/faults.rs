//! Injected faults: errors that the exchange makes on request, to test its members.
//!
//! ```text
//! fault KIND [session=NAME] [type=MSGTYPE] [count=N] [percent=P] [seed=N] [ms=N] [status=N] [set=TAG:VALUE]...
//!
//! drop        a report is not sent                      duplicate   it is sent twice
//! delay       it and later ones are sent ms later       reorder     it is sent after the next one
//! repeat      it is sent, and again ms later            change      it is sent with other values (set=14:40)
//! stall       nothing is sent until fault clear         reject      a request gets a BusinessMessageReject
//!
//! checksum    CheckSum(10) is wrong on the wire         gap         the message is dropped on the wire
//! logout      the session is logged out after it        disconnect  the connection is closed instead
//!
//! refuse      a frame of a TMP member gets L10 with     cut         half of a frame is sent, then
//!             a status, and then the connection ends                the connection is closed
//! silence     no frame is sent, not even R05
//! ```
//!
//! Faults of the second block are applied by the code that sends messages to members ([`WireFaults`]). The journal
//! has the correct message, so a resend is correct. For a TMP line, which `session` must name, the exchange itself
//! applies these faults, and also the faults of the third block, which exist for TMP lines only. For TMP, `type` is
//! the name of a message, such as R02.
//!
//! A fault lasts for `count` messages, or until `fault clear`. Faults are not journalled, so a restart removes them.
//! Faults do not affect the books.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::session::is_admin;
use fixwire_protocol::{Mono, Nanos, Tag};
use fixwire_random::Random;
use fixwire_text::{first_word, pairs};
use fixwire_tmp::messages::LAYOUTS;
use fixwire_tmp::{FRAME_BYTES_LEAST, TmpStatus};

use crate::outgoing::Report;

/// Maximum number of active faults.
const FAULTS_MAX: usize = 100;
/// The syntax of faults.
pub(crate) const USAGE: &str = "fault KIND [session=NAME] [type=MSGTYPE] [count=N] [percent=P] [seed=N] [ms=N] \
     [status=N] [set=TAG:VALUE]..., where KIND is drop, duplicate, delay, reorder, repeat, change, stall, reject, checksum, gap, logout or disconnect, or for TMP \
     lines refuse, silence or cut; faults; fault clear";

/// Checks the words after `fault` in a command.
#[cfg(test)]
pub(crate) fn check_fault(words: &str) -> Result<(), String> {
    FaultRule::read(words).map(drop)
}

/// Checks the words after `fault`, and that the name after `session=` is one of these sessions or TMP lines.
pub(crate) fn check_fault_names(
    words: &str,
    sessions: &[&str],
    lines: &[&str],
) -> Result<(), String> {
    let lines = Some(lines);
    let names = FaultNames { sessions, lines };
    FaultRule::read(words)?.is_of_line(names).map(drop)
}

/// Checks that the session named in a script is one of these sessions or TMP lines.
pub(crate) fn check_session(name: &str, sessions: &[&str], lines: &[&str]) -> Result<(), String> {
    let lines = Some(lines);
    let names = FaultNames { sessions, lines };
    if names.is_session(name) || names.is_line(name) {
        return Ok(());
    }
    Err(format!(
        "unknown session {name}: give the name of a session, its TargetCompID, or the name of a TMP line"
    ))
}

/// The kind of a fault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FaultKind {
    Drop,
    Duplicate,
    Delay,
    Reorder,
    Repeat,
    Change,
    Stall,
    Reject,
    Wire(WireFault),
    Refuse,
    Silence,
    Cut,
}

impl FaultKind {
    /// Whether the fault exists for TMP lines only.
    fn is_of_tmp(self) -> bool {
        matches!(self, Self::Refuse | Self::Silence | Self::Cut)
    }
}

/// The effect of a fault on a frame that is sent over a TMP line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LineFault {
    /// The frame has a wrong checksum.
    CheckSum,
    /// The frame is not sent.
    Gap,
    /// Half of the frame is sent, then the connection is closed.
    Cut,
    /// The connection is closed, and the frame is not sent.
    Disconnect,
}

/// The names that are allowed after `session=`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultNames<'a> {
    /// FIX sessions.
    pub(crate) sessions: &'a [&'a str],
    /// Names of TMP lines. `None` before they are added; until then, a name that is not a session may be a TMP line.
    pub(crate) lines: Option<&'a [&'a str]>,
}

impl FaultNames<'_> {
    fn is_session(self, name: &str) -> bool {
        self.sessions
            .iter()
            .any(|session| is_session(name, session))
    }

    fn is_line(self, name: &str) -> bool {
        match self.lines {
            Some(lines) => lines.contains(&name),
            None => !self.is_session(name),
        }
    }
}

/// The effect of a wire fault on a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WireFault {
    /// The message has a wrong CheckSum(10).
    CheckSum,
    /// The message is dropped.
    Gap,
    /// The session is logged out after the message.
    Logout,
    /// The connection is closed, and the message is not sent.
    Disconnect,
}

const KINDS: [(&str, FaultKind); 15] = [
    ("drop", FaultKind::Drop),
    ("duplicate", FaultKind::Duplicate),
    ("delay", FaultKind::Delay),
    ("reorder", FaultKind::Reorder),
    ("repeat", FaultKind::Repeat),
    ("change", FaultKind::Change),
    ("stall", FaultKind::Stall),
    ("reject", FaultKind::Reject),
    ("checksum", FaultKind::Wire(WireFault::CheckSum)),
    ("gap", FaultKind::Wire(WireFault::Gap)),
    ("logout", FaultKind::Wire(WireFault::Logout)),
    ("disconnect", FaultKind::Wire(WireFault::Disconnect)),
    ("refuse", FaultKind::Refuse),
    ("silence", FaultKind::Silence),
    ("cut", FaultKind::Cut),
];

/// The effect of faults on a report that waits to be sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Fate {
    Send,
    Drop,
    Twice,
    /// The report is sent now, and again at this time.
    Again(Mono),
    /// The report is sent, with these values instead of the report's own.
    Changed(Vec<(Tag, Vec<u8>)>),
    /// The report is held back until this time.
    After(Mono),
    /// The report is sent after the next report for the same member.
    Behind,
}

/// An injected fault.
#[derive(Clone, Debug)]
pub(crate) struct FaultRule {
    pub(crate) kind: FaultKind,
    /// The fault as text, for queries.
    pub(crate) words: String,
    pub(crate) session: Option<String>,
    pub(crate) msg_type: Option<String>,
    /// Number of messages to which the fault still applies; `None` for no limit.
    pub(crate) count: Option<u64>,
    pub(crate) percent: u64,
    pub(crate) delay: Nanos,
    /// The status code that a TMP member receives.
    pub(crate) status: u8,
    /// Values that replace values of fields; an empty value removes the field.
    pub(crate) sets: Vec<(Tag, Vec<u8>)>,
    pub(crate) random: Random,
}

/// The wire faults, which the code that sends messages to members applies.
#[derive(Clone, Debug, Default)]
pub struct WireFaults {
    rules: Vec<FaultRule>,
}

impl WireFaults {
    /// Whether there are no wire faults.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Adds a fault, given in the syntax of the command `fault`.
    ///
    /// # Errors
    ///
    /// The mistake, as a sentence.
    pub fn add(&mut self, words: &str) -> Result<(), String> {
        let rule = FaultRule::read(words)?;
        if !matches!(rule.kind, FaultKind::Wire(_)) {
            return Err(format!("{words} is not a wire fault"));
        }
        self.rules.push(rule);
        Ok(())
    }

    /// The fault for a message that is sent to a session for the first time. Session messages, such as Heartbeats,
    /// are affected only by a fault that names their MsgType.
    pub fn meet(&mut self, session: &str, msg_type: &[u8]) -> Option<WireFault> {
        let is_own = is_admin(msg_type);
        let met = meet(&mut self.rules, session, msg_type, |rule| {
            !is_own || rule.msg_type.is_some()
        });
        match met?.kind {
            FaultKind::Wire(fault) => Some(fault),
            _ => None,
        }
    }
}

/// Wire faults that two threads share: the exchange changes them, the code that sends messages applies them.
pub trait WireControl: fmt::Debug + Send + Sync {
    /// Gives access to the wire faults.
    fn change(&self, change: &mut dyn FnMut(&mut WireFaults));
}

/// All faults, and their effect on each waiting report.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) rules: Vec<FaultRule>,
    /// The wire faults; `None` if they are not available.
    pub(crate) wire: Option<Arc<dyn WireControl>>,
    pub(crate) fates: VecDeque<Fate>,
    /// Reports that are sent a second time, each with the time of the second sending.
    pub(crate) again: Vec<(Mono, Report)>,
}

impl Faults {
    pub(crate) fn new(wire: Option<Arc<dyn WireControl>>) -> Self {
        Self {
            wire,
            ..Self::default()
        }
    }

    /// Adds or clears faults; returns a sentence about the result.
    pub(crate) fn operate(&mut self, words: &str, names: FaultNames<'_>) -> Result<String, String> {
        if words == "clear" {
            let mut count = self.rules.len();
            self.rules.clear();
            self.again.clear();
            self.on_wire(&mut |wire| {
                count += wire.rules.len();
                wire.rules.clear();
            });
            let plural = if count == 1 { "" } else { "s" };
            return Ok(format!("{count} fault{plural} cleared"));
        }
        let mut count = self.rules.len();
        self.on_wire(&mut |wire| count += wire.rules.len());
        if count >= FAULTS_MAX {
            return Err(format!(
                "{FAULTS_MAX} faults are set already: remove them with fault clear"
            ));
        }
        let rule = FaultRule::read(words)?;
        let said = rule.shown();
        if rule.is_of_line(names)? || !matches!(rule.kind, FaultKind::Wire(_)) {
            self.rules.push(rule);
        } else if let Some(wire) = &self.wire {
            let mut added = Ok(());
            wire.change(&mut |wire| added = wire.add(words));
            added?;
        } else {
            return Err(format!(
                "{said} is a wire fault, and this exchange does not control the wire: run it with fixwire sim"
            ));
        }
        Ok(said)
    }

    /// The active faults, one per line.
    pub(crate) fn shown(&self) -> String {
        let lines = |rules: &[FaultRule]| -> String {
            rules.iter().map(|rule| rule.shown() + "\n").collect()
        };
        let mut text = lines(&self.rules);
        self.on_wire(&mut |wire| text += &lines(&wire.rules));
        text
    }

    fn on_wire(&self, change: &mut dyn FnMut(&mut WireFaults)) {
        if let Some(wire) = &self.wire {
            wire.change(change);
        }
    }

    /// Whether no fault except wire faults is active.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Index of a repeated report that is due.
    pub(crate) fn due_again(&self, now: Mono) -> Option<usize> {
        self.again.iter().position(|(at, _)| *at <= now)
    }

    /// The status code of the L10 that answers a frame of a TMP member; `None` if no fault refuses the frame.
    pub(crate) fn refuses(&mut self, line: &str, message: &str) -> Option<u8> {
        let wanted = |rule: &FaultRule| rule.kind == FaultKind::Refuse;
        let met = meet(&mut self.rules, line, message.as_bytes(), wanted);
        met.map(|met| met.status)
    }

    /// The status code with which a request of a TMP member is rejected; `None` if no fault rejects it.
    pub(crate) fn reject_status(&mut self, line: &str, message: &str) -> Option<u8> {
        let wanted = |rule: &FaultRule| rule.kind == FaultKind::Reject;
        let met = meet(&mut self.rules, line, message.as_bytes(), wanted);
        met.map(|met| met.status)
    }

    /// Whether a fault keeps the exchange from sending any frame over a TMP line.
    pub(crate) fn silences(&self, line: &str) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.kind == FaultKind::Silence && rule.is_for(line))
    }

    /// The fault for a frame that is sent over a TMP line. Link messages are affected only by a fault that names
    /// their type.
    pub(crate) fn line_fault(&mut self, line: &str, message: &str) -> Option<LineFault> {
        let is_of_link = message.starts_with('L') || matches!(message, "R04" | "R05");
        let met = meet(&mut self.rules, line, message.as_bytes(), |rule| {
            let is_kind = matches!(rule.kind, FaultKind::Wire(_) | FaultKind::Cut);
            is_kind && (!is_of_link || rule.msg_type.is_some())
        });
        match met?.kind {
            FaultKind::Wire(WireFault::CheckSum) => Some(LineFault::CheckSum),
            FaultKind::Wire(WireFault::Gap) => Some(LineFault::Gap),
            FaultKind::Wire(_) => Some(LineFault::Disconnect),
            _ => Some(LineFault::Cut),
        }
    }

    /// Whether a fault rejects a request.
    pub(crate) fn rejects(&mut self, session: &str, msg_type: &[u8]) -> bool {
        let wanted = |rule: &FaultRule| rule.kind == FaultKind::Reject;
        meet(&mut self.rules, session, msg_type, wanted).is_some()
    }

    /// Whether a fault keeps the exchange from sending anything to a member.
    pub(crate) fn stalls(&self, session: &str) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.kind == FaultKind::Stall && rule.is_for(session))
    }

    /// The effect of the active faults on a new report.
    pub(crate) fn fate(&mut self, now: Mono, session: &str, msg_type: &[u8], is_tmp: bool) -> Fate {
        let of_reports = |rule: &FaultRule| {
            use FaultKind::{Change, Delay, Drop, Duplicate, Reorder, Repeat};
            // The fields of a TMP frame have no tags, so `change` does not apply to frames.
            matches!(rule.kind, Drop | Duplicate | Delay | Reorder | Repeat)
                || (rule.kind == Change && !is_tmp)
        };
        let Some(met) = meet(&mut self.rules, session, msg_type, of_reports) else {
            return Fate::Send;
        };
        match met.kind {
            FaultKind::Drop => Fate::Drop,
            FaultKind::Duplicate => Fate::Twice,
            FaultKind::Delay => Fate::After(now + met.delay),
            FaultKind::Reorder => Fate::Behind,
            FaultKind::Repeat => Fate::Again(now + met.delay),
            FaultKind::Change => Fate::Changed(met.sets),
            _ => Fate::Send,
        }
    }
}

/// A fault that applies to the current message.
struct Met {
    kind: FaultKind,
    delay: Nanos,
    status: u8,
    sets: Vec<(Tag, Vec<u8>)>,
}

/// The first fault of the wanted kinds that matches a message.
fn meet(
    rules: &mut Vec<FaultRule>,
    session: &str,
    msg_type: &[u8],
    wanted: impl Fn(&FaultRule) -> bool,
) -> Option<Met> {
    let at = rules.iter_mut().position(|rule| {
        let mut types = rule.msg_type.iter();
        let is_type = types.all(|it| it.as_bytes() == msg_type);
        wanted(rule) && is_type && rule.is_for(session) && rule.draws()
    })?;
    let rule = &mut rules[at];
    let met = Met {
        kind: rule.kind,
        delay: rule.delay,
        status: rule.status,
        sets: rule.sets.clone(),
    };
    if let Some(count) = &mut rule.count {
        *count -= 1;
        if *count == 0 {
            rules.remove(at);
        }
    }
    Some(met)
}

/// Whether TMP messages of this type are so short that they cannot be cut.
fn is_shortest(message: &str) -> bool {
    let mut layouts = LAYOUTS.iter();
    let layout = layouts.find(|layout| layout.name == message);
    layout.is_some_and(|layout| layout.size <= FRAME_BYTES_LEAST)
}

/// Whether `wanted` refers to a session: by the session's name, or by the TargetCompID after the arrow in the name.
pub(crate) fn is_session(wanted: &str, session: &str) -> bool {
    let target = session.rsplit_once("->").map(|(_, target)| target);
    session == wanted || target == Some(wanted)
}

impl FaultRule {
    fn read(words: &str) -> Result<Self, String> {
        let usage = |what: String| format!("{what}: {USAGE}");
        let (name, parts) = first_word(words);
        let kind = KINDS.iter().find(|(known, _)| *known == name);
        let (_, kind) = kind.ok_or_else(|| usage(format!("unknown fault {name:?}")))?;
        let mut rule = Self {
            kind: *kind,
            words: name.to_string(),
            session: None,
            msg_type: None,
            count: None,
            percent: 100,
            delay: Nanos::from_millis(100),
            status: TmpStatus::MAJOR_ERROR.0,
            sets: Vec::new(),
            random: Random::new(1),
        };
        for (part, key, value) in pairs(parts) {
            let number = |most: u64| {
                let number = value.parse().ok().filter(|it| (1..=most).contains(it));
                number.ok_or_else(|| usage(format!("{part} is not a number from 1 to {most}")))
            };
            match key {
                "session" if !value.is_empty() => rule.session = Some(value.to_string()),
                "type" if !value.is_empty() => rule.msg_type = Some(value.to_string()),
                "count" => rule.count = Some(number(u64::MAX)?),
                "percent" => rule.percent = number(100)?,
                "seed" => rule.random = Random::new(number(u64::MAX)?),
                "status" if matches!(kind, FaultKind::Reject | FaultKind::Refuse) => {
                    rule.status = u8::try_from(number(255)?).unwrap_or_default();
                }
                "set" if *kind == FaultKind::Change => {
                    let set = value.split_once(':').and_then(|(tag, value)| {
                        let tag: Tag = tag.parse().ok().filter(|tag| *tag > 0)?;
                        Some((tag, value.as_bytes().to_vec()))
                    });
                    rule.sets.extend(set);
                    if rule.sets.is_empty() {
                        return Err(usage(format!(
                            "{part}: write set=TAG:VALUE, as in set=14:40"
                        )));
                    }
                }
                "set" => return Err(usage(format!("{part}: only change has values to set"))),
                "status" => {
                    let what = format!("{part}: only reject and refuse have a status");
                    return Err(usage(what));
                }
                "ms" => rule.delay = Nanos::from_millis(number(3_600_000)?),
                _ => return Err(usage(format!("{part:?} is not part of a fault"))),
            }
            if *kind == FaultKind::Silence && matches!(key, "type" | "count" | "percent") {
                let what = "silence is for all frames and lasts until fault clear";
                return Err(usage(format!("{part}: {what}")));
            }
            if key != "count" {
                rule.words += &format!(" {part}");
            }
        }
        if *kind == FaultKind::Change && rule.sets.is_empty() {
            return Err(usage("change needs a value to set, as in set=14:40".into()));
        }
        if *kind == FaultKind::Cut
            && let Some(message) = rule.msg_type.as_deref().filter(|name| is_shortest(name))
        {
            return Err(format!(
                "{}: {message} is as short as a frame can be: use gap or disconnect",
                rule.shown()
            ));
        }
        Ok(rule)
    }

    /// Whether the exchange applies the fault itself, to frames of TMP lines. Other faults apply to FIX messages.
    ///
    /// # Errors
    ///
    /// The session that the fault names cannot have this fault.
    fn is_of_line(&self, names: FaultNames<'_>) -> Result<bool, String> {
        let said = self.shown();
        let (is_line, is_session) = match &self.session {
            Some(name) => (names.is_line(name), names.is_session(name)),
            None => (false, false),
        };
        let name = self.session.as_deref().unwrap_or_default();
        if self.kind == FaultKind::Wire(WireFault::Logout) && is_line && names.lines.is_some() {
            return Err(format!(
                "{said}: {name} is a TMP line, which has no Logout: use refuse or disconnect"
            ));
        }
        if self.kind == FaultKind::Change && is_line && names.lines.is_some() {
            return Err(format!(
                "{said}: {name} is a TMP line, whose fields have no tags: this fault is for FIX sessions"
            ));
        }
        if !self.kind.is_of_tmp() {
            let is_lost = matches!(self.kind, FaultKind::Wire(_)) && name.is_empty();
            let has_lines = names.lines.is_some_and(|lines| !lines.is_empty());
            if is_lost && has_lines && names.sessions.is_empty() {
                return Err(format!(
                    "{said}: without session=NAME this fault is for FIX sessions, and the exchange has none: name a TMP line"
                ));
            }
            let is_unknown = !name.is_empty() && !is_line && !is_session;
            if is_unknown && names.lines.is_some() {
                return Err(format!(
                    "{said}: unknown session {name}: give the name of a session, its TargetCompID, or the name of a TMP line"
                ));
            }
            return Ok(is_line && self.kind != FaultKind::Wire(WireFault::Logout));
        }
        if is_session && !is_line {
            return Err(format!(
                "{said}: {name} is a FIX session, and this fault is for TMP lines"
            ));
        }
        match names.lines {
            Some([]) => Err(format!("{said}: the exchange has no TMP line")),
            Some(_) if !name.is_empty() && !is_line => Err(format!(
                "{said}: unknown TMP line {name}: the query lines lists them"
            )),
            _ => Ok(true),
        }
    }

    fn shown(&self) -> String {
        let count = self.count.map(|count| format!(" count={count}"));
        format!("{}{}", self.words, count.unwrap_or_default())
    }

    fn is_for(&self, session: &str) -> bool {
        let wanted = self.session.as_ref();
        wanted.is_none_or(|wanted| is_session(wanted, session))
    }

    /// Decides by random numbers whether the fault applies. The same seed gives the same decisions for the same
    /// messages.
    fn draws(&mut self) -> bool {
        if self.percent == 100 {
            return true;
        }
        self.random.below(100) < self.percent
    }
}
