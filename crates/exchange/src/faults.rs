//! Faults on demand: what an operator lets the exchange do wrong, for tests of its members.
//!
//! ```text
//! fault KIND [session=NAME] [type=MSGTYPE] [count=N] [percent=P] [seed=N] [ms=N]
//!
//! drop        a report is not sent                      duplicate   it is sent twice
//! delay       it is sent ms later, as are those behind  reorder     it is sent behind the next one
//! stall       nothing is sent until the fault is lifted reject      a request gets a BusinessMessageReject
//! ```
//!
//! They last until `count` messages have met them, or `fault clear`; nothing of them is in the journal, and a
//! restart has none. The books do what they do without them.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Mono, Nanos};

/// The most faults at a time.
const FAULTS_MAX: usize = 100;
/// What can be asked for.
pub(crate) const USAGE: &str = "fault KIND [session=NAME] [type=MSGTYPE] [count=N] [percent=P] [seed=N] [ms=N], where \
     KIND is drop, duplicate, delay, reorder, stall or reject; faults; fault clear";

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
}

const KINDS: [(&str, FaultKind); 6] = [
    ("drop", FaultKind::Drop),
    ("duplicate", FaultKind::Duplicate),
    ("delay", FaultKind::Delay),
    ("reorder", FaultKind::Reorder),
    ("stall", FaultKind::Stall),
    ("reject", FaultKind::Reject),
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

/// All faults, and what becomes of each report that waits.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    rules: Vec<FaultRule>,
    pub(crate) fates: VecDeque<Fate>,
}

impl Faults {
    /// Adds or lifts faults and says what was done.
    pub(crate) fn operate(&mut self, words: &str) -> Result<String, String> {
        if words == "clear" {
            let count = self.rules.len();
            self.rules.clear();
            return Ok(format!("{count} faults lifted"));
        }
        if self.rules.len() >= FAULTS_MAX {
            return Err(format!(
                "there are {FAULTS_MAX} faults already: lift them with fault clear"
            ));
        }
        let rule = FaultRule::read(words)?;
        let said = rule.shown();
        self.rules.push(rule);
        Ok(said)
    }

    /// The faults that last, a line each.
    pub(crate) fn shown(&self) -> String {
        self.rules.iter().map(|rule| rule.shown() + "\n").collect()
    }

    /// Whether a request is rejected.
    pub(crate) fn rejects(&mut self, session: &str, msg_type: &[u8]) -> bool {
        self.meet(session, msg_type, |kind| kind == FaultKind::Reject)
            .is_some()
    }

    /// Whether nothing is sent to a member.
    pub(crate) fn stalls(&self, session: &str) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.kind == FaultKind::Stall && rule.is_for(session))
    }

    /// What becomes of a new report.
    pub(crate) fn fate(&mut self, now: Mono, session: &str, msg_type: u8) -> Fate {
        let of_reports = |kind| !matches!(kind, FaultKind::Reject | FaultKind::Stall);
        match self.meet(session, &[msg_type], of_reports) {
            Some((FaultKind::Drop, _)) => Fate::Drop,
            Some((FaultKind::Duplicate, _)) => Fate::Twice,
            Some((FaultKind::Delay, delay)) => Fate::After(now + delay),
            Some((FaultKind::Reorder, _)) => Fate::Behind,
            _ => Fate::Send,
        }
    }

    /// The first fault of these kinds that a message meets.
    fn meet(
        &mut self,
        session: &str,
        msg_type: &[u8],
        wanted: impl Fn(FaultKind) -> bool,
    ) -> Option<(FaultKind, Nanos)> {
        let at = self.rules.iter_mut().position(|rule| {
            let mut types = rule.msg_type.iter();
            let is_type = types.all(|it| it.as_bytes() == msg_type);
            wanted(rule.kind) && is_type && rule.is_for(session) && rule.draws()
        })?;
        let rule = &mut self.rules[at];
        let met = (rule.kind, rule.delay);
        if let Some(count) = &mut rule.count {
            *count -= 1;
            if *count == 0 {
                self.rules.remove(at);
            }
        }
        Some(met)
    }
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

    /// A session is named whole, or by the TargetCompID behind its arrow.
    fn is_for(&self, session: &str) -> bool {
        let Some(wanted) = &self.session else {
            return true;
        };
        let target = session.rsplit_once("->").map(|(_, target)| target);
        session == wanted || target == Some(wanted)
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
