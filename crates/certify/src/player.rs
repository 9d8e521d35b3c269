//! [`CasePlayer`]: plays the cases of a plan on one session.

mod assignment;
mod steps;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fixwire_client::OrderLayout;
use fixwire_engine::{Connection, SessionConfig};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Dictionary, Mono, Nanos, Timestamp, tag};

use crate::evidence::EvidenceFolder;
use crate::ids::IdMaker;
use crate::plan::CertificationCase;
use crate::raw_session::{Inbound, Pumped, RawSession};
use crate::record::CaseRecord;
use crate::result::{CaseResult, CaseVerdict};
use crate::scope::CaseScope;
use crate::wire_message::value;

/// Sequence numbers to begin with, where the venue does not accept ResetSeqNumFlag(141).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StartNumbers {
    /// MsgSeqNum of our Logon.
    pub next_out: u64,
    /// MsgSeqNum of the venue's Logon; `None` accepts any.
    pub next_in: Option<u64>,
}

/// What a player needs.
#[derive(Debug)]
pub struct PlayerSetup<'a> {
    /// The session, an initiator.
    pub session: &'a SessionConfig,
    /// Time limit of an expectation that has none of its own.
    pub limit: Duration,
    /// `None`: the first Logon, and that after a failed case, resets the sequence numbers to 1.
    pub numbers: Option<StartNumbers>,
    /// Ends the run when it becomes true.
    pub stop: Arc<AtomicBool>,
}

/// Plays cases, one after the other, each on a session that is logged on unless it opens the connection itself.
pub struct CasePlayer {
    session: RawSession,
    layout: OrderLayout,
    dictionary: Arc<Dictionary>,
    version: Version,
    limit: Nanos,
    resets: bool,
    ids: IdMaker,
    /// Rounds so far.
    rounds: u64,
    /// Tests of whether the venue has answered everything.
    fences: u64,
    late: u64,
    stop: Arc<AtomicBool>,
}

/// Why a round did not pass.
#[derive(Debug)]
enum Trouble {
    /// A step failed: its line, what was expected and what was received.
    Failed(usize, Vec<String>),
    /// It could not be played.
    NotPlayed(String),
}

impl CasePlayer {
    /// A player before its first case.
    ///
    /// # Errors
    ///
    /// Why the session cannot be played, as a sentence.
    pub fn new(setup: &PlayerSetup<'_>) -> Result<Self, String> {
        let config = setup.session;
        if !matches!(config.connection, Connection::Initiator { .. }) {
            return Err(format!(
                "session {} is an acceptor: a certification needs ConnectionType=initiator",
                config.name
            ));
        }
        if config.logon_signer.is_some() {
            return Err(format!(
                "session {} signs its Logons, which a certification does not support",
                config.name
            ));
        }
        let (next_out, next_in) = setup
            .numbers
            .map_or((1, None), |it| (it.next_out, it.next_in));
        let session = RawSession::new(config, next_out, next_in, Arc::clone(&setup.stop));
        let mut session = session.map_err(|error| format!("cannot open sockets: {error}"))?;
        let version = config.session.appl_version();
        let built_in = || Arc::new(Dictionary::built_in(version));
        let at = session.now().wall;
        Ok(Self {
            session,
            layout: OrderLayout::of(&config.session),
            dictionary: config.session.dictionary.clone().unwrap_or_else(built_in),
            version,
            limit: Nanos::from(setup.limit),
            resets: setup.numbers.is_none(),
            ids: IdMaker::new(at),
            rounds: 0,
            fences: 0,
            late: 0,
            stop: Arc::clone(&setup.stop),
        })
    }

    /// The time, for the evidence.
    pub fn now(&mut self) -> Timestamp {
        self.session.now().wall
    }

    /// Messages that answered a request of a case that was over.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Whether the run was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Plays a case, in each of its rounds.
    ///
    /// # Errors
    ///
    /// The evidence cannot be written.
    pub fn play(
        &mut self,
        case: &CertificationCase,
        evidence: Option<&EvidenceFolder>,
    ) -> io::Result<CaseResult> {
        let mut result = CaseResult {
            number: case.number,
            title: case.title.clone(),
            optional: case.optional,
            verdict: CaseVerdict::Passed,
            took: Duration::ZERO,
            evidence: None,
        };
        if !case.is_for(self.version) {
            let why = format!("not for {}", self.version.name());
            result.verdict = CaseVerdict::NotApplicable { why };
            return Ok(result);
        }
        let begun = self.session.now();
        if let Some(folder) = evidence {
            let (path, file) = folder.case(case, begun.wall)?;
            self.session.record = CaseRecord::to(Some(file));
            result.evidence = Some(path);
        }
        for round in 1..=case.rounds {
            if case.rounds > 1 {
                self.session
                    .note(&format!("round {round} of {}", case.rounds));
            }
            let Err(trouble) = self.round(case) else {
                continue;
            };
            let in_round = match case.rounds {
                1 => String::new(),
                rounds => format!(" (round {round} of {rounds})"),
            };
            result.verdict = match trouble {
                Trouble::Failed(line, mut why) => {
                    if let Some(first) = why.first_mut() {
                        *first += &in_round;
                    }
                    CaseVerdict::Failed { line, why }
                }
                Trouble::NotPlayed(why) => CaseVerdict::NotPlayed {
                    why: why + &in_round,
                },
            };
            self.abandon();
            break;
        }
        let took = self.session.now().mono - begun.mono;
        result.took = Duration::from_nanos(took.0);
        let mut record = std::mem::take(&mut self.session.record);
        record.line(&format!("\nverdict   {}", result.word()));
        for reason in result.reasons("line") {
            record.line(&format!("{:9} {reason}", ""));
        }
        record.end()?;
        Ok(result)
    }

    /// Logs out, if logged on.
    pub fn finish(&mut self) {
        self.session.inbox.clear();
        self.log_out();
    }

    fn deadline(&mut self, within: Option<Nanos>) -> Mono {
        self.session.now().mono + within.unwrap_or(self.limit)
    }

    fn round(&mut self, case: &CertificationCase) -> Result<(), Trouble> {
        self.rounds += 1;
        if case.opens_connection() {
            self.log_out();
        } else if !self.session.is_logged_on() {
            self.session.note("before the case: logging on");
            self.log_on()?;
        }
        let mut scope = CaseScope::new(self.rounds);
        for step in &case.steps {
            self.session
                .record
                .line(&format!("\n{}: {}", step.line, step.text));
            self.step(step, &mut scope)?;
        }
        self.session.record.line("");
        let last = case.steps.last().map_or(case.line, |step| step.line);
        self.end(last, &scope)
    }

    /// Behind the last step nothing else may arrive; a Heartbeat on request shows that the venue has answered
    /// everything.
    fn end(&mut self, line: usize, scope: &CaseScope) -> Result<(), Trouble> {
        self.session.answers = true;
        let fence = match self.session.is_logged_on() {
            true => Some(self.test()),
            false => None,
        };
        let until = self.deadline(None);
        let failed = |what: &str, shown: &str| {
            let why = vec![
                "expected nothing after this step".to_owned(),
                format!("{what} {shown}"),
            ];
            Err(Trouble::Failed(line, why))
        };
        loop {
            while let Some(message) = self.session.inbox.pop_front() {
                if let Some(fault) = &message.fault {
                    return failed(&format!("{fault}:"), &message.shown);
                }
                if is_answer(&message, fence.as_deref()) {
                    return Ok(());
                }
                if !is_chatter(&message) && !self.set_aside(&message, scope) {
                    return failed("received", &message.shown);
                }
            }
            if fence.is_none() {
                return Ok(());
            }
            match self.session.pump(until) {
                Pumped::Message => {}
                Pumped::TimedOut => {
                    return failed(
                        "received no Heartbeat for the TestRequest after the last step",
                        "",
                    );
                }
                Pumped::Closed => return failed("the venue closed the connection", ""),
                Pumped::Stopped => return Err(stopped()),
            }
        }
    }

    /// Sends a TestRequest; its TestReqID(112).
    fn test(&mut self) -> String {
        self.fences += 1;
        let id = format!("CERTIFY-{}", self.fences);
        let fields = [
            (tag::MSG_TYPE, "1".to_owned()),
            (tag::TEST_REQ_ID, id.clone()),
        ];
        // A connection that is lost shows when it is read.
        let _ = self.session.send(&fields, &[], false);
        id
    }

    /// Whether a message belongs to an earlier case or round: it is counted and no more looked at.
    fn set_aside(&mut self, message: &Inbound, scope: &CaseScope) -> bool {
        let is_late = self.ids.is_late(&message.fields, scope.owner());
        if is_late {
            self.late += 1;
            self.session
                .note("the message before answers an earlier case");
        }
        is_late
    }

    /// Connects and exchanges Logons.
    fn log_on(&mut self) -> Result<(), Trouble> {
        let failed = |why: String| Trouble::NotPlayed(format!("cannot log on: {why}"));
        self.session.connect().map_err(failed)?;
        let logon = self.session.logon(self.resets);
        if value(&logon, tag::RESET_SEQ_NUM_FLAG) != Some("Y") {
            self.session.allow_gap_before_logon();
        }
        let sent = self.session.send(&logon, &[], false);
        sent.map_err(|error| failed(error.to_string()))?;
        let until = self.deadline(None);
        let mut fence: Option<String> = None;
        loop {
            while let Some(message) = self.session.inbox.pop_front() {
                if let Some(fault) = &message.fault {
                    return Err(failed(format!("received {}: {fault}", message.shown)));
                }
                match &fence {
                    // What an earlier session has left.
                    Some(id) if is_answer(&message, Some(id)) => return Ok(()),
                    Some(_) if message.msg_type() != "5" => {}
                    None if message.msg_type() == "A" => fence = Some(self.test()),
                    _ => return Err(failed(format!("received {}", message.shown))),
                }
            }
            match self.session.pump(until) {
                Pumped::Message => {}
                Pumped::Closed => return Err(failed("the venue closed the connection".to_owned())),
                Pumped::Stopped => return Err(stopped()),
                Pumped::TimedOut => {
                    let what = if fence.is_none() {
                        "Logon"
                    } else {
                        "Heartbeat"
                    };
                    let seconds = seconds(self.limit);
                    return Err(failed(format!("no {what} within {seconds}")));
                }
            }
        }
    }

    /// Logs out and disconnects, in an orderly way where the venue does so.
    fn log_out(&mut self) {
        if self.session.is_logged_on() {
            self.session.answers = true;
            let logout = [(tag::MSG_TYPE, "5".to_owned())];
            let _ = self.session.send(&logout, &[], false);
            let until = self.deadline(None);
            while self.session.is_logged_on() && self.session.pump(until) == Pumped::Message {
                self.session.inbox.clear();
            }
        }
        self.session.disconnect();
        self.session.inbox.clear();
    }

    /// After a failure the next case begins on a new session.
    fn abandon(&mut self) {
        self.session.note("the case is over: logging out");
        self.log_out();
    }
}

fn stopped() -> Trouble {
    Trouble::NotPlayed("stopped by a signal".to_owned())
}

/// Heartbeats and TestRequests, which may arrive at any time.
fn is_chatter(message: &Inbound) -> bool {
    matches!(message.msg_type(), "0" | "1")
}

/// Whether it is the Heartbeat for this TestReqID(112).
fn is_answer(message: &Inbound, id: Option<&str>) -> bool {
    let found = value(&message.fields, tag::TEST_REQ_ID);
    message.msg_type() == "0" && id.is_some() && found == id
}

/// `2 s`, `250 ms`.
fn seconds(time: Nanos) -> String {
    match (time.as_millis(), time.as_millis() % 1000) {
        (millis, 0) => format!("{} s", millis / 1000),
        (millis, _) => format!("{millis} ms"),
    }
}

#[cfg(test)]
mod tests;
