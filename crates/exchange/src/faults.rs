//! Faults on demand: what an operator lets the exchange do wrong, for tests of its members.
//!
//! ```text
//! fault KIND [session=NAME] [type=MSGTYPE] [count=N] [percent=P] [seed=N] [ms=N]
//!
//! drop        a report is not sent                      duplicate   it is sent twice
//! delay       it is sent ms later, as are those behind  reorder     it is sent behind the next one
//! stall       nothing is sent until the fault is lifted reject      a request gets a BusinessMessageReject
//!
//! checksum    CheckSum(10) is wrong on the wire         gap         the message is lost on the wire
//! logout      behind it the session is logged out       disconnect  the connection is cut in its place
//! ```
//!
//! Those of the last two lines are for whoever carries messages to the members ([`WireFaults`]): the journal has the
//! message as it should be, so that what is resent is right.
//!
//! They last until `count` messages have met them, or `fault clear`; nothing of them is in the journal, and a
//! restart has none. The books do what they do without them.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::session::is_admin;
use fixwire_protocol::{Mono, Nanos};

/// The most faults at a time.
const FAULTS_MAX: usize = 100;
/// What can be asked for.
pub(crate) const USAGE: &str = "fault KIND [session=NAME] [type=MSGTYPE] [count=N] [percent=P] [seed=N] [ms=N], where \
     KIND is drop, duplicate, delay, reorder, stall, reject, checksum, gap, logout or disconnect; faults; fault clear";

/// Whether these words, which stand behind `fault` in the command, are a fault.
///
/// # Errors
///
/// What is wrong with them, as a sentence.
pub fn check_fault(words: &str) -> Result<(), String> {
    FaultRule::read(words).map(drop)
}

/// What a fault does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum FaultKind {
    Drop,
    Duplicate,
    Delay,
    Reorder,
    Stall,
    Reject,
    Wire(WireFault),
}

/// What a message suffers on its way to the member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WireFault {
    /// Its CheckSum(10) is wrong.
    CheckSum,
    /// It is lost.
    Gap,
    /// Behind it the session is logged out.
    Logout,
    /// The connection is cut in its place.
    Disconnect,
}

const KINDS: [(&str, FaultKind); 10] = [
    ("drop", FaultKind::Drop),
    ("duplicate", FaultKind::Duplicate),
    ("delay", FaultKind::Delay),
    ("reorder", FaultKind::Reorder),
    ("stall", FaultKind::Stall),
    ("reject", FaultKind::Reject),
    ("checksum", FaultKind::Wire(WireFault::CheckSum)),
    ("gap", FaultKind::Wire(WireFault::Gap)),
    ("logout", FaultKind::Wire(WireFault::Logout)),
    ("disconnect", FaultKind::Wire(WireFault::Disconnect)),
];

/// What becomes of a report that waits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fate {
    Send,
    Drop,
    Twice,
    /// Not before this moment.
    After(Mono),
    /// Behind the next report to the same member.
    Behind,
}

/// One fault.
#[derive(Clone, Debug)]
struct FaultRule {
    kind: FaultKind,
    /// Its words, for whoever asks.
    words: String,
    session: Option<String>,
    msg_type: Option<String>,
    /// How many messages still meet it.
    count: Option<u64>,
    percent: u64,
    delay: Nanos,
    random: u64,
}

/// The faults of the wire, for whoever carries messages to the members.
#[derive(Clone, Debug, Default)]
pub struct WireFaults {
    rules: Vec<FaultRule>,
}

impl WireFaults {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Adds one, in the words of the command.
    ///
    /// # Errors
    ///
    /// What is wrong with them, as a sentence.
    pub fn add(&mut self, words: &str) -> Result<(), String> {
        let rule = FaultRule::read(words)?;
        if !matches!(rule.kind, FaultKind::Wire(_)) {
            return Err(format!("{words} is no fault of the wire"));
        }
        self.rules.push(rule);
        Ok(())
    }

    /// What a message suffers that is about to leave for a session the first time. Messages of the session itself,
    /// such as Heartbeats, are meant by faults that name their MsgType only.
    pub fn meet(&mut self, session: &str, msg_type: &[u8]) -> Option<WireFault> {
        let is_own = is_admin(msg_type);
        let met = meet(&mut self.rules, session, msg_type, |rule| {
            !is_own || rule.msg_type.is_some()
        });
        match met?.0 {
            FaultKind::Wire(fault) => Some(fault),
            _ => None,
        }
    }
}

/// Where the faults of the wire are, when it can do wrong: the exchange changes them, the wire meets them.
pub trait WireControl: fmt::Debug + Send + Sync {
    /// Lets somebody look at them, and change them.
    fn change(&self, change: &mut dyn FnMut(&mut WireFaults));
}

/// All faults, and what becomes of each report that waits.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    rules: Vec<FaultRule>,
    /// `None`: nothing can be done to the wire.
    wire: Option<Arc<dyn WireControl>>,
    pub(crate) fates: VecDeque<Fate>,
}

impl Faults {
    pub(crate) fn new(wire: Option<Arc<dyn WireControl>>) -> Self {
        Self {
            wire,
            ..Self::default()
        }
    }

    /// Adds or lifts faults and says what was done.
    pub(crate) fn operate(&mut self, words: &str) -> Result<String, String> {
        if words == "clear" {
            let mut count = self.rules.len();
            self.rules.clear();
            self.on_wire(&mut |wire| {
                count += wire.rules.len();
                wire.rules.clear();
            });
            return Ok(format!("{count} faults lifted"));
        }
        let mut count = self.rules.len();
        self.on_wire(&mut |wire| count += wire.rules.len());
        if count >= FAULTS_MAX {
            return Err(format!(
                "there are {FAULTS_MAX} faults already: lift them with fault clear"
            ));
        }
        let rule = FaultRule::read(words)?;
        let said = rule.shown();
        if !matches!(rule.kind, FaultKind::Wire(_)) {
            self.rules.push(rule);
        } else if let Some(wire) = &self.wire {
            let mut added = Ok(());
            wire.change(&mut |wire| added = wire.add(words));
            added?;
        } else {
            return Err(format!(
                "{said} is a fault of the wire, which this exchange has not in hand: run it with fixwire sim"
            ));
        }
        Ok(said)
    }

    /// The faults that last, a line each.
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

    /// Whether a request is rejected.
    pub(crate) fn rejects(&mut self, session: &str, msg_type: &[u8]) -> bool {
        let wanted = |rule: &FaultRule| rule.kind == FaultKind::Reject;
        meet(&mut self.rules, session, msg_type, wanted).is_some()
    }

    /// Whether nothing is sent to a member.
    pub(crate) fn stalls(&self, session: &str) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.kind == FaultKind::Stall && rule.is_for(session))
    }

    /// What becomes of a new report.
    pub(crate) fn fate(&mut self, now: Mono, session: &str, msg_type: u8) -> Fate {
        let of_reports =
            |rule: &FaultRule| !matches!(rule.kind, FaultKind::Reject | FaultKind::Stall);
        match meet(&mut self.rules, session, &[msg_type], of_reports) {
            Some((FaultKind::Drop, _)) => Fate::Drop,
            Some((FaultKind::Duplicate, _)) => Fate::Twice,
            Some((FaultKind::Delay, delay)) => Fate::After(now + delay),
            Some((FaultKind::Reorder, _)) => Fate::Behind,
            _ => Fate::Send,
        }
    }
}

/// The first fault that a message meets, of those that are wanted.
fn meet(
    rules: &mut Vec<FaultRule>,
    session: &str,
    msg_type: &[u8],
    wanted: impl Fn(&FaultRule) -> bool,
) -> Option<(FaultKind, Nanos)> {
    let at = rules.iter_mut().position(|rule| {
        let mut types = rule.msg_type.iter();
        let is_type = types.all(|it| it.as_bytes() == msg_type);
        wanted(rule) && is_type && rule.is_for(session) && rule.draws()
    })?;
    let rule = &mut rules[at];
    let met = (rule.kind, rule.delay);
    if let Some(count) = &mut rule.count {
        *count -= 1;
        if *count == 0 {
            rules.remove(at);
        }
    }
    Some(met)
}

/// Whether a session is meant by these words: its name, or the TargetCompID behind its arrow.
pub(crate) fn is_session(wanted: &str, session: &str) -> bool {
    let target = session.rsplit_once("->").map(|(_, target)| target);
    session == wanted || target == Some(wanted)
}

impl FaultRule {
    fn read(words: &str) -> Result<Self, String> {
        let usage = |what: String| format!("{what}: {USAGE}");
        let mut parts = words.split_whitespace();
        let name = parts.next().unwrap_or_default();
        let kind = KINDS.iter().find(|(known, _)| *known == name);
        let (_, kind) = kind.ok_or_else(|| usage(format!("no fault {name:?}")))?;
        let mut rule = Self {
            kind: *kind,
            words: name.to_string(),
            session: None,
            msg_type: None,
            count: None,
            percent: 100,
            delay: Nanos::from_millis(100),
            random: 1,
        };
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let number = |most: u64| {
                let number = value.parse().ok().filter(|it| (1..=most).contains(it));
                number.ok_or_else(|| usage(format!("{part} is no number from 1 to {most}")))
            };
            match key {
                "session" if !value.is_empty() => rule.session = Some(value.to_string()),
                "type" if !value.is_empty() => rule.msg_type = Some(value.to_string()),
                "count" => rule.count = Some(number(u64::MAX)?),
                "percent" => rule.percent = number(100)?,
                "seed" => rule.random = number(u64::MAX)?,
                "ms" => rule.delay = Nanos::from_millis(number(3_600_000)?),
                _ => return Err(usage(format!("{part:?} is no part of a fault"))),
            }
            if key != "count" {
                rule.words += &format!(" {part}");
            }
        }
        Ok(rule)
    }

    fn shown(&self) -> String {
        let count = self.count.map(|count| format!(" count={count}"));
        format!("{}{}", self.words, count.unwrap_or_default())
    }

    fn is_for(&self, session: &str) -> bool {
        let wanted = self.session.as_ref();
        wanted.is_none_or(|wanted| is_session(wanted, session))
    }

    /// Whether chance lets it happen; the same seed says the same for the same messages.
    fn draws(&mut self) -> bool {
        if self.percent == 100 {
            return true;
        }
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % 100 < self.percent
    }
}
