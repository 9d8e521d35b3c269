//! [`CasePlayer`]: plays the cases of a plan on one session.

mod assignment;
mod steps;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fixwire_client::OrderLayout;
use fixwire_engine::config::LinkConfig;
use fixwire_engine::{Connection, SessionConfig};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Dictionary, Mono, Nanos, Timestamp};
use fixwire_tmp::{ClientLinkSettings, LinkNumbers};

use crate::evidence::EvidenceFolder;
use crate::field_names::FieldNames;
use crate::fix_session::FixSession;
use crate::ids::IdMaker;
use crate::plan::CertificationCase;
use crate::record::CaseRecord;
use crate::result::{CaseResult, CaseVerdict};
use crate::scope::CaseScope;
use crate::session::{Inbound, LogOnFailure, PlayedSession, Pumped};
use crate::tmp::link::TmpSession;

/// Initial sequence numbers, for a venue that does not accept ResetSeqNumFlag(141)=Y.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StartNumbers {
    /// MsgSeqNum of our Logon.
    pub next_out: u64,
    /// MsgSeqNum of the venue's Logon; `None` accepts any MsgSeqNum.
    pub next_in: Option<u64>,
}

/// The session or link on which a plan is played.
#[derive(Clone, Copy, Debug)]
pub enum VenueSession<'a> {
    /// A FIX session.
    Fix(&'a SessionConfig),
    /// The broker's end of a TMP link.
    Tmp {
        /// Connection of the link.
        link: &'a LinkConfig,
        /// Login and other settings of the link.
        settings: &'a ClientLinkSettings,
    },
}

impl VenueSession<'_> {
    /// Name of the session or link.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Fix(session) => &session.name,
            Self::Tmp { link, .. } => &link.name,
        }
    }

    /// How the session or link connects.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        match self {
            Self::Fix(session) => &session.connection,
            Self::Tmp { link, .. } => &link.connection,
        }
    }
}

/// Settings of a player.
#[derive(Debug)]
pub struct PlayerSetup<'a> {
    /// The session or link.
    pub session: VenueSession<'a>,
    /// Time limit of expectations that state none.
    pub limit: Duration,
    /// Initial sequence numbers. `None`: the first Logon, and the Logon after a failed case, reset the sequence
    /// numbers to 1; over TMP, the day begins with 1 in both directions.
    pub numbers: Option<StartNumbers>,
    /// The run ends when this flag becomes true.
    pub stop: Arc<AtomicBool>,
}

/// Plays cases one after another. Each case begins with a session that is logged on, unless the case opens the
/// connection itself.
pub struct CasePlayer {
    session: Box<dyn PlayedSession>,
    /// `None` over TMP.
    layout: Option<OrderLayout>,
    names: FieldNames,
    /// `None` over TMP.
    version: Option<Version>,
    limit: Nanos,
    ids: IdMaker,
    /// Number of rounds that were played.
    rounds: u64,
    late: u64,
    stop: Arc<AtomicBool>,
}

/// Why a round did not pass.
#[derive(Debug)]
enum Trouble {
    /// A step failed: its line in the plan, and the lines with expectation and result.
    Failed(usize, Vec<String>),
    /// The case could not be played.
    NotPlayed(String),
}

impl CasePlayer {
    /// A player before its first case.
    ///
    /// # Errors
    ///
    /// Why the session cannot be played, as a sentence.
    pub fn new(setup: &PlayerSetup<'_>) -> Result<Self, String> {
        let name = setup.session.name();
        if !matches!(setup.session.connection(), Connection::Initiator { .. }) {
            return Err(format!(
                "{name} is an acceptor: a certification needs ConnectionType=initiator"
            ));
        }
        let stop = Arc::clone(&setup.stop);
        let cannot = |error: io::Error| format!("cannot open sockets: {error}");
        let (mut layout, mut version, mut names) = (None, None, FieldNames::Tmp);
        let mut session: Box<dyn PlayedSession> = match setup.session {
            VenueSession::Fix(config) => {
                if config.logon_signer.is_some() {
                    return Err(format!(
                        "session {name} signs its Logons, which a certification does not support"
                    ));
                }
                let of_venue = config.session.appl_version();
                let built_in = || Arc::new(Dictionary::built_in(of_venue));
                let dictionary = config.session.dictionary.clone();
                names = FieldNames::Fix(dictionary.unwrap_or_else(built_in));
                layout = Some(OrderLayout::of(&config.session));
                version = Some(of_venue);
                let numbers = setup.numbers.map(|it| (it.next_out, it.next_in));
                Box::new(FixSession::new(config, numbers, stop).map_err(cannot)?)
            }
            VenueSession::Tmp { link, settings } => {
                let numbers = setup
                    .numbers
                    .map_or(Ok(LinkNumbers::default()), last_numbers)?;
                Box::new(TmpSession::new(link, settings, numbers, stop).map_err(cannot)?)
            }
        };
        let at = session.now().wall;
        Ok(Self {
            session,
            layout,
            names,
            version,
            limit: Nanos::from(setup.limit),
            ids: IdMaker::new(at),
            rounds: 0,
            late: 0,
            stop: Arc::clone(&setup.stop),
        })
    }

    /// The time, for the evidence.
    pub fn now(&mut self) -> Timestamp {
        self.session.now().wall
    }

    /// Number of messages that answered a request of an earlier case or round.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Whether the run was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Plays all rounds of a case.
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
        if let Some(version) = self.version.filter(|version| !case.is_for(*version)) {
            let why = format!("the case does not apply to {}", version.name());
            result.verdict = CaseVerdict::NotApplicable { why };
            return Ok(result);
        }
        let begun = self.session.now();
        if let Some(folder) = evidence {
            let (path, file) = folder.case(case, begun.wall)?;
            *self.session.record() = CaseRecord::to(Some(file));
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
        let mut record = std::mem::take(self.session.record());
        record.line(&format!("\nverdict   {}", result.word()));
        for reason in result.reasons("line") {
            record.line(&format!("{:9} {reason}", ""));
        }
        record.end()?;
        Ok(result)
    }

    /// Logs out, if the session is logged on.
    pub fn finish(&mut self) {
        self.session.inbox().clear();
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
                .record()
                .line(&format!("\n{}: {}", step.line, step.text));
            self.step(step, &mut scope)?;
        }
        self.session.record().line("");
        let last = case.steps.last().map_or(case.line, |step| step.line);
        self.end(last, &scope)
    }

    /// Ends a case: after the last step, no other message may arrive. The answer to a TestRequest shows that the
    /// venue has answered everything.
    fn end(&mut self, line: usize, scope: &CaseScope) -> Result<(), Trouble> {
        self.session.set_answers(true);
        let is_logged_on = self.session.is_logged_on();
        let fence = is_logged_on.then(|| self.session.probe());
        let until = self.deadline(None);
        let failed = |what: &str, shown: &str| {
            let why = vec![
                "expected no message after this step".to_owned(),
                format!("{what} {shown}"),
            ];
            Err(Trouble::Failed(line, why))
        };
        loop {
            while let Some(message) = self.session.inbox().pop_front() {
                if let Some(fault) = &message.fault {
                    return failed(&format!("{fault}:"), &message.shown);
                }
                let fence = fence.as_deref();
                if fence.is_some_and(|id| self.session.is_answer(&message, id)) {
                    return Ok(());
                }
                if !self.session.is_chatter(&message) && !self.set_aside(&message, scope) {
                    return failed("received", &message.shown);
                }
            }
            if fence.is_none() {
                return Ok(());
            }
            match self.session.pump(until) {
                Pumped::Message => {}
                Pumped::TimedOut => {
                    return failed(self.session.words().no_answer, "");
                }
                Pumped::Closed => return failed("the venue closed the connection", ""),
                Pumped::Stopped => return Err(stopped()),
            }
        }
    }

    /// Whether a message answers a request of an earlier case or round. If so, the message is counted and ignored.
    fn set_aside(&mut self, message: &Inbound, scope: &CaseScope) -> bool {
        let is_late = self.ids.is_late(&message.fields, scope.owner());
        if is_late {
            self.late += 1;
            self.session
                .note("the message above answers a request of an earlier case");
        }
        is_late
    }

    /// Connects and logs in.
    fn log_on(&mut self) -> Result<(), Trouble> {
        self.session
            .log_on(self.limit)
            .map_err(|failure| match failure {
                LogOnFailure::Venue(why) => Trouble::NotPlayed(format!("cannot log on: {why}")),
                LogOnFailure::Stopped => stopped(),
            })
    }

    fn log_out(&mut self) {
        self.session.log_out(self.limit);
    }

    /// Logs out after a failure, so that the next case begins with a new Logon.
    fn abandon(&mut self) {
        self.session.note("the case is over: logging out");
        self.log_out();
    }
}

fn stopped() -> Trouble {
    Trouble::NotPlayed("stopped by a signal".to_owned())
}

/// The last sequence numbers used in both directions, computed from the next ones.
fn last_numbers(next: StartNumbers) -> Result<LinkNumbers, String> {
    let last = |next: u64| {
        let last = u32::try_from(next - 1).ok();
        last.ok_or_else(|| {
            format!("MsgSeqNum {next} does not fit in the 32 bits that TMP has for it")
        })
    };
    Ok(LinkNumbers {
        inbound: next.next_in.map_or(Ok(0), last)?,
        outbound: last(next.next_out)?,
    })
}

#[cfg(test)]
mod tests;
