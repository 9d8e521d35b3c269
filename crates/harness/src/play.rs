//! Plays a script once, with or without a crash.

use std::collections::{BTreeMap, HashSet};
use std::sync::mpsc::Receiver;

use fixwire_engine::protocol::{Application, SessionId, Tag};
use fixwire_engine::{EngineConfig, OperationError, Operator};

use crate::crash::{CrashKind, CrashPoint, TrialError, TrialTally};
use crate::peer::Peer;
use crate::trial::Step;
use crate::watched::Look;
use crate::world::{Turn, World};

/// Maximum number of turns for which a command may wait for its answer.
const PATIENCE: usize = 50;
/// In a third of the plays the engine is killed again within one of these numbers of operations. Both of these numbers
/// are used equally often. A kill within the first number comes during recovery.
const DIES_WITHIN: [u64; 2] = [4, 40];

type Answer = Receiver<Result<Vec<u8>, OperationError>>;

/// Result of a play.
#[derive(Debug)]
pub(crate) struct Played {
    /// Number of operations of the engine's disk and network up to the end of the script.
    pub(crate) operations: u64,
    pub(crate) tally: TrialTally,
    state: Option<String>,
    /// The messages that the peers have received, by session name and by the subject of the message.
    effects: BTreeMap<(String, String), Vec<String>>,
}

pub(crate) struct Play<A: Application> {
    world: World<A>,
    point: Option<CrashPoint>,
    /// The present step, for errors.
    step: String,
    operations: u64,
    tally: TrialTally,
    /// The messages that were given to the application in earlier processes.
    handed: HashSet<(SessionId, u64)>,
    /// The states in which the application may be after a crash.
    allowed: Vec<String>,
    dies_again: bool,
}

impl<A: Application> Play<A> {
    pub(crate) fn new(
        config: &EngineConfig,
        seed: u64,
        make: Box<dyn FnMut() -> A>,
        look: Option<Look<A>>,
        point: Option<CrashPoint>,
    ) -> Self
    where
        A: 'static,
    {
        let mut world = World::new(config, seed, make);
        world.watch(look);
        let dies_again = point.is_some_and(|point| point.at % 3 == 0);
        match point {
            Some(point) if point.fault == CrashKind::FailedSync => world.disk().fail_sync(point.at),
            Some(point) => world.disk().stop_after(point.at),
            None => {}
        }
        Self {
            world,
            point,
            step: "at the start".to_owned(),
            operations: 0,
            tally: TrialTally::default(),
            handed: HashSet::new(),
            allowed: Vec::new(),
            dies_again,
        }
    }

    /// Plays the script and then the final steps: possible duplicates and a kill.
    pub(crate) fn run(&mut self, steps: &[Step]) -> Result<(), String> {
        self.settle()?;
        for (index, step) in steps.iter().enumerate() {
            let shown = self.show(step);
            self.step = format!("step {} of {}: {shown}", index + 1, steps.len());
            self.world.note(&self.step);
            self.act(step)?;
        }
        self.operations = self.world.disk().operations();
        self.step = "a possible duplicate of each last message".to_owned();
        // A ResendRequest for more messages than are missing has the same effect.
        let crashes = self.point.is_some();
        for peer in 0..self.world.peers().len() * usize::from(crashes) {
            let peer = self.world.peer(SessionId(peer as u32));
            if let Some(seq) = peer.last_application() {
                peer.repeat(seq);
            }
        }
        self.settle()?;
        self.step = "kill -9 after the last step".to_owned();
        // The crash point is after the end of the script.
        self.world.disk().end_process();
        let before = self.state();
        self.count_handed();
        self.world.kill();
        if let Turn::Ended(why) = self.world.start() {
            return Err(format!("the engine does not restart: {why}"));
        }
        let after = self.state();
        if before != after {
            return Err(lost(
                &before.unwrap_or_default(),
                &after.unwrap_or_default(),
            ));
        }
        self.world.settle()?;
        self.step = "at the end".to_owned();
        Ok(())
    }

    fn show(&self, step: &Step) -> String {
        let name = |session: &SessionId| {
            let peer = self.world.peers().get(session.0 as usize);
            peer.map_or("no such session", Peer::session)
        };
        match step {
            Step::Send(session, msg_type, body) => {
                format!("the peer of {} sends {msg_type} {body}", name(session))
            }
            Step::SendAgain(session) => {
                format!("the peer of {} sends its last message again", name(session))
            }
            Step::Command(command) => format!("command {}", command.escape_ascii()),
            Step::Pass(time) => format!("{} ms pass", time.0 / 1_000_000),
            Step::Disconnect(session) => format!("the connection of {} breaks", name(session)),
        }
    }

    fn act(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Send(session, msg_type, body) => {
                self.world.send(*session, msg_type, body);
            }
            Step::SendAgain(session) => {
                let peer = self.world.peer(*session);
                let last = peer.last_application();
                if last.and_then(|seq| peer.send_again(seq)).is_none() {
                    return Err("no message to resend".to_owned());
                }
            }
            Step::Command(command) => return self.command(command),
            Step::Pass(time) => self.world.pass(*time),
            Step::Disconnect(session) => self.world.disconnect(*session),
        }
        self.settle()
    }

    /// Gives a command until it is answered.
    fn command(&mut self, command: &[u8]) -> Result<(), String> {
        loop {
            let answer = self.ask(command)?;
            for _ in 0..PATIENCE {
                if let Turn::Ended(why) = self.world.turn()? {
                    self.died(&why)?;
                    break;
                }
                match answer.try_recv() {
                    Ok(Ok(_)) => return self.settle(),
                    Ok(Err(why)) => return Err(format!("the command was refused: {why}")),
                    Err(_) => {}
                }
            }
            self.settle()?;
        }
    }

    fn ask(&mut self, command: &[u8]) -> Result<Answer, String> {
        let handle = self.world.handle();
        let mut handle = handle.ok_or("no engine is running")?;
        let by = Operator::new("trial", "");
        handle.command(command, by).map_err(|why| why.to_string())
    }

    /// Plays turns until all messages are exchanged. The process may be restarted in between.
    fn settle(&mut self) -> Result<(), String> {
        while let Turn::Ended(why) = self.world.settle_or_end()? {
            self.died(&why)?;
        }
        Ok(())
    }

    fn state(&mut self) -> Option<String> {
        self.world.watched()?.state()
    }

    /// Starts another process, because the process was killed.
    fn died(&mut self, why: &str) -> Result<(), String> {
        let fault = self.point.map_or(CrashKind::Kill, |point| point.fault);
        let power = fault == CrashKind::PowerCut;
        let mut is_first = true;
        loop {
            let (has_stopped, failed) = {
                let disk = self.world.disk();
                (disk.has_stopped(), disk.sync_has_failed())
            };
            if why.starts_with("panic") || !has_stopped && !failed {
                return Err(format!("the engine ended: {why}"));
            }
            self.count(failed, power, !is_first);
            let states = self.world.states(power);
            if !states.is_empty() {
                self.allowed = states;
            }
            self.count_handed();
            if power {
                self.world.cut_power();
            } else {
                self.world.kill();
            }
            is_first = false;
            if std::mem::take(&mut self.dies_again) {
                let random = self.world.random();
                let most = DIES_WITHIN[random.below(2) as usize];
                let operations = random.below(most);
                self.world.disk().stop_after(operations);
            }
            match self.world.start() {
                Turn::Alive => break,
                Turn::Ended(_) if self.world.disk().has_stopped() => {}
                Turn::Ended(why) => return Err(format!("the engine does not restart: {why}")),
            }
        }
        self.found()
    }

    /// Checks the state of a process that has just recovered.
    fn found(&mut self) -> Result<(), String> {
        let Some(found) = self.state() else {
            return Ok(());
        };
        match self.allowed.last() {
            Some(last) if !self.allowed.contains(&found) => Err(lost(last, &found)),
            _ => Ok(()),
        }
    }

    /// Counts the messages that were given to this process and also to an earlier one.
    fn count_handed(&mut self) {
        let handed = self.world.watched().map(|watched| watched.handed.clone());
        for message in handed.unwrap_or_default() {
            self.tally.handed_again += u64::from(!self.handed.insert(message));
        }
    }

    fn count(&mut self, failed: bool, power: bool, during_recovery: bool) {
        let tally = &mut self.tally;
        match (failed, power) {
            (true, _) => tally.failed_syncs += 1,
            (_, true) => tally.power_cuts += 1,
            _ => tally.kills += 1,
        }
        tally.during_recovery += u64::from(during_recovery);
    }

    /// The result.
    pub(crate) fn played(&mut self, key: Tag, ignored: &[Tag]) -> Played {
        let mut effects: BTreeMap<_, Vec<String>> = BTreeMap::new();
        for peer in self.world.peers() {
            for message in peer.received() {
                if let Some(about) = message.get(key) {
                    let key = (peer.session().to_owned(), about.to_owned());
                    effects.entry(key).or_default().push(message.body(ignored));
                }
            }
        }
        Played {
            operations: self.operations,
            tally: self.tally,
            state: self.state(),
            effects,
        }
    }

    /// The present state of the application and of the peers.
    pub(crate) fn outcome(&mut self) -> Option<(&A, &[Peer])> {
        self.world.app_and_peers()
    }

    pub(crate) fn error(&self, what: String) -> TrialError {
        TrialError {
            point: self.point,
            step: self.step.clone(),
            what,
            trace: self.world.trace().to_vec(),
        }
    }
}

fn lost(before: &str, after: &str) -> String {
    format!(
        "the state after recovery matches no state before it\n  before: {before}\n  after:  {after}"
    )
}

impl Played {
    /// Compares the results with those of a play without a crash.
    pub(crate) fn compare(&self, calm: &Self) -> Result<(), String> {
        for key in calm.effects.keys().chain(self.effects.keys()) {
            let of = |played: &Self| played.effects.get(key).cloned().unwrap_or_default();
            let (once, now) = (of(calm), of(self));
            if once != now {
                let (session, about) = key;
                return Err(format!(
                    "about {about} the peer of {session} has received {}, without a crash {}\n  with:    {}\n  without: {}",
                    messages(&now),
                    messages(&once),
                    now.join("\n           "),
                    once.join("\n           ")
                ));
            }
        }
        match (&calm.state, &self.state) {
            (Some(calm), Some(own)) if calm != own => Err(format!(
                "the final state differs from that without a crash\n  with:    {own}\n  without: {calm}"
            )),
            _ => Ok(()),
        }
    }
}

fn messages(of: &[String]) -> String {
    match of.len() {
        1 => "1 message".to_owned(),
        count => format!("{count} messages"),
    }
}
