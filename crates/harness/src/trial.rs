//! A script that is played with an application. The script is played once without a crash, and once for each point at
//! which the process can be killed.

use std::env;
use std::rc::Rc;

use fixwire_engine::protocol::{Application, Nanos, SessionId, Tag, tag};
use fixwire_engine::{Durability, EngineConfig};

use crate::crash::{CrashKind, CrashPoint, REPEAT, TrialError, TrialTally};
use crate::peer::Peer;
use crate::play::{Play, Played};
use crate::watched::Look;

type Make<A> = dyn Fn() -> Box<dyn FnMut() -> A>;
type Check<A> = dyn Fn(&A, &[Peer]) -> Result<(), String>;

/// A step of a script.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A peer sends a message.
    Send(SessionId, String, String),
    /// A peer sends its last message again, as a new one with PossResend(97).
    SendAgain(SessionId),
    /// A command to the application. The command is repeated until it is answered.
    Command(Vec<u8>),
    /// Time advances.
    Pass(Nanos),
    /// A connection breaks.
    Disconnect(SessionId),
}

/// Plays a script with an application and kills its process at every point. Checks that the application did
/// everything exactly once.
///
/// The script is first played without a crash. After the play without a crash, the script is played again for each
/// operation of the engine's disk and network. After this operation the process is killed as by `kill -9`. With
/// [`Durability::Disk`] there are also plays with a power failure at this point, and plays in which a sync fails. The
/// engine restarts, and may be killed again during recovery. Each peer logs on, resends the messages that the engine
/// requests, and sends its last message again as a possible duplicate. At the end the process is killed once more. The
/// trial checks in each play that
///
/// * no MsgSeqNum is used for two messages,
/// * each peer has received the same messages about each order as without a crash, and in the same order
///   ([`keyed_by`](Self::keyed_by), [`ignoring`](Self::ignoring)),
/// * the state after a recovery is one of the earlier states. If all messages were exchanged, it is the last state. At
///   the end the state is the state of the play without a crash ([`state`](Self::state)),
/// * the condition that the program has given holds ([`check`](Self::check)).
///
/// The environment variable `FIXWIRE_CRASH` repeats one play; the error tells how.
///
/// # Limits
///
/// Peers connect again by themselves. Peers do not support resets of sequence numbers, so sessions must have no
/// schedule and no `reset_on`. [`Durability::Memory`] keeps nothing and is an error. Messages may have at most 16 KiB.
pub struct Trial<A: Application> {
    config: EngineConfig,
    make: Box<Make<A>>,
    look: Option<Look<A>>,
    check: Option<Box<Check<A>>>,
    steps: Vec<Step>,
    key: Tag,
    ignored: Vec<Tag>,
    seeds: u64,
}

impl<A: Application + 'static> Trial<A> {
    /// A trial of the sessions in this configuration. The script is still empty. `make` is called for each play, and
    /// returns a function that creates the application for each process of the play. If all processes of a play share
    /// something, such as a database, `make` creates it before it returns.
    pub fn new<M: FnMut() -> A + 'static>(
        config: EngineConfig,
        make: impl Fn() -> M + 'static,
    ) -> Self {
        Self {
            config,
            make: Box::new(move || Box::new(make())),
            look: None,
            check: None,
            steps: Vec::new(),
            key: tag::CL_ORD_ID,
            ignored: vec![tag::TRANSACT_TIME],
            seeds: 1,
        }
    }

    /// Adds a step: a peer sends a message with the fields in `body`, where `|` stands for SOH. The next step begins
    /// when all messages are exchanged.
    #[must_use]
    pub fn send(self, session: SessionId, msg_type: &str, body: &str) -> Self {
        self.step(Step::Send(session, msg_type.to_owned(), body.to_owned()))
    }

    /// Adds a step: a peer does not know whether its last application message has arrived, and sends it again as a
    /// new one with PossResend(97) = Y.
    #[must_use]
    pub fn send_again(self, session: SessionId) -> Self {
        self.step(Step::SendAgain(session))
    }

    /// Adds a step: a command to the application. After a restart the command is repeated if it was not answered.
    #[must_use]
    pub fn command(self, command: &[u8]) -> Self {
        self.step(Step::Command(command.to_vec()))
    }

    /// Advances the time.
    #[must_use]
    pub fn pass(self, time: Nanos) -> Self {
        self.step(Step::Pass(time))
    }

    /// Adds a step: the connection of a session breaks. The peer connects again.
    #[must_use]
    pub fn disconnect(self, session: SessionId) -> Self {
        self.step(Step::Disconnect(session))
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Gives the state that must survive, as text. Equal states must give equal texts.
    #[must_use]
    pub fn state<S: std::fmt::Debug>(mut self, look: impl Fn(&A) -> S + 'static) -> Self {
        self.look = Some(Rc::new(move |app| format!("{:?}", look(app))));
        self
    }

    /// Gives a condition that must hold at the end of each play. The condition may use the application and the messages
    /// that its peers have received.
    #[must_use]
    pub fn check(mut self, check: impl Fn(&A, &[Peer]) -> Result<(), String> + 'static) -> Self {
        self.check = Some(Box::new(check));
        self
    }

    /// Sets the field that identifies the subject of a message. The default is ClOrdID(11). Messages without this field
    /// are not compared.
    #[must_use]
    pub fn keyed_by(mut self, key: Tag) -> Self {
        self.key = key;
        self
    }

    /// Names a field that may differ between plays. TransactTime(60) always may.
    #[must_use]
    pub fn ignoring(mut self, tag: Tag) -> Self {
        self.ignored.push(tag);
        self
    }

    /// Sets how many seeds are played, from 1 on. The default is one seed. The seed decides how the network splits
    /// data, what a power failure leaves on the disk, and when the engine is killed during recovery.
    #[must_use]
    pub fn seeds(mut self, seeds: u64) -> Self {
        self.seeds = seeds;
        self
    }

    /// Plays all crash points, or only the one in `FIXWIRE_CRASH`.
    ///
    /// # Errors
    ///
    /// The first condition that does not hold. A panic of the application counts as one.
    pub fn run(&self) -> Result<TrialTally, TrialError> {
        if let Some(why) = self.refusal() {
            return Err(refused(why));
        }
        match env::var(REPEAT) {
            Ok(text) => self.repeat(&text),
            Err(_) => self.run_all(),
        }
    }

    /// Why the script cannot be played.
    fn refusal(&self) -> Option<String> {
        if self.config.durability == Durability::Memory {
            return Some("Durability::Memory keeps nothing across a crash".to_owned());
        }
        let sessions = &self.config.sessions;
        let restarts = sessions.iter().find(|session| {
            let reset = session.session.reset_on;
            session.schedule.is_some() || reset.logon || reset.logout || reset.disconnect
        });
        if let Some(session) = restarts {
            let name = &session.name;
            return Some(format!(
                "the sequence numbers of {name} reset, which the simulated peers do not support"
            ));
        }
        let unknown = self.steps.iter().find_map(|step| match step {
            Step::Send(session, ..) | Step::SendAgain(session) | Step::Disconnect(session) => {
                Some(session.0).filter(|at| *at as usize >= sessions.len())
            }
            Step::Command(_) | Step::Pass(_) => None,
        });
        unknown.map(|at| format!("unknown session {at}"))
    }

    fn repeat(&self, text: &str) -> Result<TrialTally, TrialError> {
        let Some(point) = CrashPoint::parse(text) else {
            let what = format!("{REPEAT}={text} is not a crash point such as 1/kill/57");
            return Err(refused(what));
        };
        let ended = self.run_point(point);
        if let Err(error) = &ended {
            println!("{}", error.trace.join("\n"));
        }
        ended
    }

    /// Plays the script once without a crash, and once with a crash at this point.
    ///
    /// # Errors
    ///
    /// The failure that was found.
    pub fn run_point(&self, point: CrashPoint) -> Result<TrialTally, TrialError> {
        if let Some(why) = self.refusal() {
            return Err(refused(why));
        }
        let calm = self.play(point.seed, None)?;
        let played = self.play(point.seed, Some((point, &calm)))?;
        Ok(played.tally)
    }

    fn run_all(&self) -> Result<TrialTally, TrialError> {
        let has_power_cuts = self.config.durability == Durability::Disk;
        let mut tally = TrialTally::default();
        for seed in 1..=self.seeds {
            let calm = self.play(seed, None)?;
            let mut play = |fault, at| -> Result<u64, TrialError> {
                let point = CrashPoint { seed, fault, at };
                let played = self.play(seed, Some((point, &calm)))?;
                tally.add(&played.tally);
                Ok(played.tally.failed_syncs)
            };
            for at in 0..calm.operations {
                play(CrashKind::Kill, at)?;
                if has_power_cuts {
                    play(CrashKind::PowerCut, at)?;
                }
            }
            let mut sync = 0;
            while has_power_cuts && play(CrashKind::FailedSync, sync)? > 0 {
                sync += 1;
            }
        }
        Ok(tally)
    }

    fn play(&self, seed: u64, crash: Option<(CrashPoint, &Played)>) -> Result<Played, TrialError> {
        let (point, calm) = crash.unzip();
        let mut play = Play::new(&self.config, seed, (self.make)(), self.look.clone(), point);
        let ended = play.run(&self.steps).and_then(|()| {
            let played = play.played(self.key, &self.ignored);
            if let Some(calm) = calm {
                played.compare(calm)?;
            }
            if let (Some(check), Some((app, peers))) = (&self.check, play.outcome()) {
                check(app, peers)?;
            }
            Ok(played)
        });
        ended.map_err(|what| play.error(what))
    }
}

fn refused(what: String) -> TrialError {
    TrialError {
        point: None,
        step: "before its first step".to_owned(),
        what,
        trace: Vec::new(),
    }
}

impl<A: Application> std::fmt::Debug for Trial<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trial")
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}
