//! Is any operation that was confirmed to an operator undone when the engine is killed?
//!
//! An operator sets sequence numbers, disables and enables sessions of the finished binary, as fast as it answers,
//! until SIGKILL ends it; sometimes he continues with the journal while no engine runs. After each start:
//!
//! * every session has the last confirmed state, or the state that the one unanswered request asks for;
//! * the journal has each answered request once, with its reason, and the unanswered one at most once.
//!
//! `OPERATE_KILLS` is the number of kills (200), `FIXWIRE_SEED` repeats a run.

use fixwire::control::{Asked, Client, ClientError, ControlQuestion, Place};
use fixwire::journal::{DumpFilter, DumpFormat, dump};
use fixwire::protocol::Timestamp;
use fixwire::{Operator, set_stored_numbers};
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Launch, Server, binary, free_port, scratch};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The latest moment of a death, after the engine answers.
const LATEST: u64 = 15_000;
const PATIENCE: Duration = Duration::from_secs(60);
const SESSIONS: usize = 4;
/// Numbers are drawn below this limit, so that they often go down.
const NUMBERS: u64 = 40;

#[test]
fn what_an_operator_was_told_survives_kills() -> Result<(), String> {
    let text = std::env::var("OPERATE_KILLS").ok();
    let kills: u64 = text.and_then(|text| text.parse().ok()).unwrap_or(200);
    let seed = seed();
    let mut world = World::new(seed)?;
    for kill in 1..=kills {
        world
            .live_and_die()
            .map_err(|fault| format!("FIXWIRE_SEED={seed}: kill {kill}: {fault}"))?;
    }
    println!(
        "{kills} kills, {} requests answered, {} not; seed {seed}",
        world.answered, world.unanswered
    );
    match world.answered {
        0 => Err("nothing was ever answered".into()),
        _ => Ok(()),
    }
}

/// The state of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct State {
    next_in: u64,
    next_out: u64,
    disabled: bool,
}

struct World {
    launch: Launch,
    store: PathBuf,
    random: Random,
    /// The state by the answers.
    states: [State; SESSIONS],
    /// The reasons of all answered requests, in their order.
    reasons: Vec<String>,
    answered: u64,
    unanswered: u64,
}

/// A request, and the session's state after it.
struct Wish {
    session: usize,
    asked: Asked,
    makes: State,
}

impl World {
    fn new(seed: u64) -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let folder = scratch("operate-kill").map_err(io)?;
        let port = free_port().map_err(io)?;
        let (settings, store) = (folder.join("engine.cfg"), folder.join("store"));
        let mut text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptAddress=127.0.0.1\nSocketAcceptPort={port}\n\
             FileStorePath={}\nJournalSegmentSize=2M\nNonStopSession=Y\nBeginString=FIX.4.4\n\
             SenderCompID=DESK\n",
            store.display()
        );
        for session in 0..SESSIONS {
            text += &format!("[SESSION]\nTargetCompID=P{session}\n");
        }
        fs::write(&settings, text).map_err(io)?;
        let launch = Launch {
            binary: binary()?,
            app: Some("echo"),
            settings,
            port,
        };
        let fresh = State {
            next_in: 1,
            next_out: 1,
            disabled: false,
        };
        Ok(Self {
            launch,
            store,
            random: Random::new(seed),
            states: [fresh; SESSIONS],
            reasons: Vec::new(),
            answered: 0,
            unanswered: 0,
        })
    }

    /// A life: checks that earlier confirmed requests still hold, then sends requests until the engine is killed.
    fn live_and_die(&mut self) -> Result<(), String> {
        let server = self.launch.spawn()?;
        let mut client = connect(&self.store)?;
        let stands = states(&mut client)?;
        expect(&stands, &self.states)?;
        let until = Instant::now() + Duration::from_micros(self.random.below(LATEST));
        let killer = thread::spawn(move || kill_at(server, until));
        let open = loop {
            let wish = self.wish();
            match client.ask(&wish.asked) {
                Ok(_) => self.note(&wish),
                Err(ClientError::Refused(why)) => return Err(format!("{:?}: {why}", wish.asked)),
                Err(_) => break wish,
            }
        };
        killer.join().map_err(|_| "the killer panicked")??;
        self.unanswered += 1;
        self.judge(&open)?;
        if self.random.below(4) == 0 {
            self.go_on_without()?;
        }
        Ok(())
    }

    /// The result of the open request after a death, by the journal: carried out, or not.
    fn judge(&mut self, open: &Wish) -> Result<(), String> {
        let (stored, _) =
            fixwire::journal::stored_sessions(&self.store).map_err(|error| error.to_string())?;
        let stands: Vec<State> = stored
            .iter()
            .map(|stored| State {
                next_in: stored.counters.next_in,
                next_out: stored.counters.next_out,
                disabled: stored.disabled,
            })
            .collect();
        let mut done = self.states;
        done[open.session] = open.makes;
        let is_noted = self.check_reasons(open)?;
        if stands == done && is_noted {
            self.note(open);
            Ok(())
        } else {
            // A request that changes nothing may be noted or not.
            let undone = expect(&stands, &self.states);
            if is_noted {
                self.reasons.extend(open.asked.why.clone());
            }
            undone
        }
    }

    /// Whether the journal has the reasons of all answered requests, once each and in their order, and after them the
    /// reason of the request without an answer.
    fn check_reasons(&self, open: &Wish) -> Result<bool, String> {
        let mut bytes = Vec::new();
        dump(
            &self.store,
            &DumpFilter::default(),
            &mut bytes,
            DumpFormat::Text,
        )
        .map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&bytes);
        let noted = text
            .lines()
            .filter_map(|line| Some(line.rsplit_once(": reason ")?.1));
        let noted: Vec<&str> = noted.collect();
        let (known, last) = noted.split_at(noted.len().min(self.reasons.len()));
        let reasons = self.reasons.iter();
        let reasons = reasons.map(|reason| reason.trim_start_matches("reason "));
        if !known.iter().copied().eq(reasons) {
            let missing = self.reasons.len() - known.len();
            return Err(format!(
                "the journal lacks {missing} notes, or has others: {last:?}"
            ));
        }
        let why = open.asked.why.as_deref().unwrap_or_default();
        match last {
            [] => Ok(false),
            [one] if why.ends_with(&format!(" {one}")) => Ok(true),
            _ => Err(format!("the journal has notes of nobody: {last:?}")),
        }
    }

    /// Sets numbers while no engine runs.
    fn go_on_without(&mut self) -> Result<(), String> {
        let wish = self.numbers();
        let by = Operator::new("nobody", wish.asked.why.clone().unwrap_or_default());
        let name = wish.asked.session.clone().unwrap_or_default();
        let numbers = (wish.asked.next_in, wish.asked.next_out);
        set_stored_numbers(&self.store, &name, numbers, &by, Timestamp(1))
            .map_err(|error| error.to_string())?;
        self.note(&wish);
        Ok(())
    }

    fn note(&mut self, wish: &Wish) {
        self.answered += 1;
        self.states[wish.session] = wish.makes;
        self.reasons.extend(wish.asked.why.clone());
    }

    fn wish(&mut self) -> Wish {
        let disables = match self.random.below(4) {
            0 => true,
            1 => false,
            _ => return self.numbers(),
        };
        let (session, asked) = self.about(match disables {
            true => ControlQuestion::Disable,
            false => ControlQuestion::Enable,
        });
        let disabled = disables;
        let makes = State {
            disabled,
            ..self.states[session]
        };
        Wish {
            session,
            asked,
            makes,
        }
    }

    fn numbers(&mut self) -> Wish {
        let (session, mut asked) = self.about(ControlQuestion::SetNumbers);
        let mut draw = || Some(self.random.below(NUMBERS) + 1);
        (asked.next_in, asked.next_out) = (draw(), draw());
        let makes = State {
            next_in: asked.next_in.unwrap_or(0),
            next_out: asked.next_out.unwrap_or(0),
            ..self.states[session]
        };
        Wish {
            session,
            asked,
            makes,
        }
    }

    fn about(&mut self, what: ControlQuestion) -> (usize, Asked) {
        let session = self.random.below(SESSIONS as u64) as usize;
        let asked = Asked {
            what,
            session: Some(format!("FIX.4.4:DESK->P{session}")),
            why: Some(format!("reason {}", self.answered + self.unanswered)),
            ..Asked::default()
        };
        (session, asked)
    }
}

fn kill_at(server: Server, until: Instant) -> Result<(), String> {
    thread::sleep(until.saturating_duration_since(Instant::now()));
    server.kill()
}

/// Connects as soon as the engine answers.
fn connect(store: &Path) -> Result<Client, String> {
    let place = Place::in_store(store);
    let deadline = Instant::now() + PATIENCE;
    loop {
        match Client::connect(&place.path, PATIENCE) {
            Ok(client) => return Ok(client),
            Err(ClientError::Nobody) if Instant::now() < deadline => {
                thread::sleep(Duration::from_micros(200));
            }
            Err(error) => return Err(error.to_string()),
        }
    }
}

fn states(client: &mut Client) -> Result<Vec<State>, String> {
    let answer = client.ask(&Asked::default());
    let answer = answer.map_err(|error| error.to_string())?;
    let sessions = answer.sessions.unwrap_or_default();
    let states = sessions.iter().map(|session| State {
        next_in: session.next_in,
        next_out: session.next_out,
        disabled: session.state.contains("disabled"),
    });
    Ok(states.collect())
}

fn expect(stands: &[State], answered: &[State]) -> Result<(), String> {
    match stands == answered {
        true => Ok(()),
        false => Err(format!(
            "what was answered is undone: {stands:?} instead of {answered:?}"
        )),
    }
}
