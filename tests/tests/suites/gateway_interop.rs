//! Does a gateway between engines of others lose, double or misdirect anything, also when it is killed?
//!
//! The finished binary runs `examples/gateway.toml`, with ports of its own and a second client, between clients of FIX
//! 4.2 and a venue of FIX 4.4; all of them validate. In one game all are QuickFIX/J, in another one client and the
//! venue are QuickFIX C++. The gateway is ended by SIGKILL in the middle of the orders, and restarted, and in the end:
//!
//! * every order has reached the venue, as a new one at most once;
//! * every order has its report, at the client that sent it, as a new one at most once;
//! * a message that may have been sent before is marked by PossDupFlag or PossResend;
//! * no side has rejected anything.
//!
//! `GATEWAY_KILLS` is the number of kills (5), `FIXWIRE_SEED` repeats the moments.

use fixwire_rigs::packages::workspace;
use fixwire_rigs::peers::{Engine, Role, Running, Terms};
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Launch, Server, free_port, scratch, wait_for_listener};
use fixwire_rigs::trade::Event;
use std::collections::BTreeSet;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Orders of each client before the first kill, and around each kill.
const ORDERS: usize = 500;
const BURST: usize = 100;
/// The most time for one step: a JVM starts, initiators pause.
const PATIENCE: Duration = Duration::from_secs(60);

/// The engines that trade through the gateway.
struct Game {
    name: &'static str,
    clients: [(&'static str, Engine); 2],
    venue: Engine,
}

#[test]
fn quickfix_j_trades_with_quickfix_j() -> Result<(), String> {
    play(&Game {
        name: "QuickFIX/J",
        clients: ["CLIENT", "CLIENT2"].map(|name| (name, Engine::QuickfixJ)),
        venue: Engine::QuickfixJ,
    })
}

#[test]
fn quickfix_j_and_cpp_trade_with_quickfix_cpp() -> Result<(), String> {
    play(&Game {
        name: "QuickFIX C++",
        clients: [
            ("CLIENT", Engine::QuickfixJ),
            ("CLIENT2", Engine::QuickfixCpp),
        ],
        venue: Engine::QuickfixCpp,
    })
}

fn play(game: &Game) -> Result<(), String> {
    let text = std::env::var("GATEWAY_KILLS").ok();
    let kills: u64 = text.and_then(|text| text.parse().ok()).unwrap_or(5);
    let seed = seed();
    let mut random = Random::new(seed);
    let outcome = Market::open(game).and_then(|mut market| {
        market.send(ORDERS)?;
        market.settle()?;
        for _ in 0..kills {
            market.death(&mut random)?;
        }
        market.settle()?;
        Ok(market)
    });
    let market = outcome.map_err(|fault| format!("FIXWIRE_SEED={seed}: {fault}"))?;
    let again = |party: &Party| party.seen.iter().filter(|one| one.dup).count();
    println!(
        "{}: {kills} kills, {} orders of each client; marked as sent before: {} orders, {} reports; seed {seed}",
        game.name,
        market.sent,
        again(&market.venue),
        market.clients.iter().map(again).sum::<usize>()
    );
    Ok(())
}

/// A foreign engine, and the events it has seen.
struct Party {
    name: &'static str,
    running: Running,
    events: Receiver<Event>,
    seen: Vec<Event>,
    /// The ids of its orders, or of its reports.
    ids: BTreeSet<String>,
}

impl Party {
    fn start(
        (name, engine): (&'static str, Engine),
        role: Role,
        port: u16,
        folder: &Path,
        version: &'static str,
    ) -> Result<Self, String> {
        let store = folder.join(name);
        fs::create_dir_all(&store).map_err(|error| error.to_string())?;
        let terms = Terms {
            version,
            ..Terms::default()
        };
        let (running, events) = engine.run(role, port, name, "GATE", &store, &terms)?;
        Ok(Self {
            name,
            running,
            events,
            seen: Vec::new(),
            ids: BTreeSet::new(),
        })
    }

    /// Waits until it has logged on.
    fn log_on(&mut self) -> Result<(), String> {
        self.wait("a logon", |party| {
            party.seen.iter().any(|event| event.name == "logon")
        })
    }

    /// Waits until the party has seen this number of different orders, or reports.
    fn wait_for(&mut self, different: usize) -> Result<(), String> {
        let what = format!("{different} different ones");
        self.wait(&what, |party| party.ids.len() >= different)
    }

    fn wait(&mut self, what: &str, enough: impl Fn(&Self) -> bool) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        while !enough(self) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) => self.take(event)?,
                Err(RecvTimeoutError::Timeout) => {
                    let seen = self.ids.len();
                    return Err(format!("{} saw {seen}, and never {what}", self.name));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(format!("{} ended", self.name)),
            }
        }
        self.drain()
    }

    /// Takes its events so far.
    fn drain(&mut self) -> Result<(), String> {
        while let Ok(event) = self.events.try_recv() {
            self.take(event)?;
        }
        Ok(())
    }

    fn take(&mut self, event: Event) -> Result<(), String> {
        if event.name == "rejected" {
            return Err(format!("{}: rejected: {}", self.name, event.text));
        }
        if matches!(&*event.name, "order" | "report") {
            self.ids.insert(event.id.clone());
        }
        self.seen.push(event);
        Ok(())
    }
}

/// The gateway with its clients and its venue.
struct Market {
    launch: Launch,
    gateway: Option<Server>,
    venue: Party,
    clients: Vec<Party>,
    /// By each client.
    sent: usize,
}

impl Market {
    fn open(game: &Game) -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let folder = scratch(&format!("gateway-interop-{:?}", game.venue)).map_err(io)?;
        let (clients, venue) = (free_port().map_err(io)?, free_port().map_err(io)?);
        fs::write(
            folder.join("gateway.toml"),
            example(&folder, clients, venue)?,
        )
        .map_err(io)?;
        let listens = SocketAddr::from((Ipv4Addr::LOCALHOST, venue));
        let venue = Party::start(
            ("VENUE", game.venue),
            Role::Acceptor,
            venue,
            &folder,
            "FIX.4.4",
        )?;
        wait_for_listener(listens, PATIENCE)?;
        let launch = Launch::gateway(&folder, clients)?;
        let gateway = Some(launch.start()?);
        let client = |client| Party::start(client, Role::Initiator, clients, &folder, "FIX.4.2");
        let mut market = Self {
            launch,
            gateway,
            venue,
            clients: game
                .clients
                .into_iter()
                .map(client)
                .collect::<Result<_, _>>()?,
            sent: 0,
        };
        for party in market.clients.iter_mut().chain([&mut market.venue]) {
            party.log_on()?;
        }
        Ok(market)
    }

    /// Each client sends this number of orders more.
    fn send(&mut self, orders: usize) -> Result<(), String> {
        self.sent += orders;
        for client in &mut self.clients {
            client.running.tell(&format!("send {orders}"))?;
        }
        Ok(())
    }

    /// The gateway dies while orders are on their way, and starts again.
    fn death(&mut self, random: &mut Random) -> Result<(), String> {
        self.venue.drain()?;
        let before = self.venue.ids.len();
        let through = 1 + random.below((BURST * self.clients.len()) as u64) as usize;
        self.send(BURST)?;
        self.venue.wait_for(before + through)?;
        let gateway = self.gateway.take().ok_or("the gateway does not run")?;
        gateway.kill()?;
        self.gateway = Some(self.launch.start()?);
        Ok(())
    }

    /// Every order is reported, and there was no fault.
    fn settle(&mut self) -> Result<(), String> {
        let sent = self.sent;
        for client in &mut self.clients {
            let waited = client.wait_for(sent);
            let said = self.gateway.as_ref().map(Server::last_words);
            waited.map_err(|fault| format!("{fault}; {}", said.unwrap_or_default()))?;
            once(&client.seen, client.name, sent)?;
            marked(&client.seen)?;
        }
        self.venue.wait_for(sent * self.clients.len())?;
        for client in &self.clients {
            let own = self.venue.seen.iter().filter(|one| is_of(one, client.name));
            let own: Vec<Event> = own.cloned().collect();
            once(&own, client.name, sent)?;
        }
        marked(&self.venue.seen)
    }
}

/// The example with these ports, a store of its own and a second client.
fn example(folder: &Path, clients: u16, venue: u16) -> Result<String, String> {
    let path = workspace().join("examples/gateway.toml");
    let mut text = fs::read_to_string(&path).map_err(|error| format!("{path:?}: {error}"))?;
    let store = folder.join("store").display().to_string();
    for (from, to) in [
        ("5001", clients.to_string()),
        ("5002", venue.to_string()),
        (
            "\"store\"",
            format!("'{store}'\nJournalSegmentSize = \"2M\""),
        ),
        ("from = [\"CLIENT\"]", "from = [\"CLIENT*\"]".to_owned()),
    ] {
        if text.matches(from).count() != 1 {
            return Err(format!("the example has no {from}, or more than one"));
        }
        text = text.replace(from, &to);
    }
    let sections: Vec<&str> = text.split("[[session]]").collect();
    let second = sections[1].replace("\"CLIENT\"", "\"CLIENT2\"");
    Ok(format!("{text}\n[[session]]{second}"))
}

/// Whether an order or report is of this client, by its ClOrdID.
fn is_of(event: &Event, client: &str) -> bool {
    event
        .id
        .rsplit_once('-')
        .is_some_and(|(name, _)| name == client)
}

/// Each of the client's orders, or reports, was seen: unmarked at most once, and then before the marked ones.
fn once(seen: &[Event], client: &str, sent: usize) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    for event in seen.iter().filter(|one| !one.id.is_empty()) {
        let Event { name, id, dup, .. } = event;
        if !is_of(event, client) {
            return Err(format!("{client} got the {name} of {id}"));
        }
        if !ids.insert(id) && !dup {
            return Err(format!("the {name} of {id} came again, as a new one"));
        }
    }
    match ids.len() == sent {
        true => Ok(()),
        false => Err(format!("{} of {sent} of {client} were seen", ids.len())),
    }
}

/// Every order or report that was sent before the newest Logon is marked as a possible duplicate.
fn marked(seen: &[Event]) -> Result<(), String> {
    let mut logon = 0;
    for event in seen {
        if event.name == "logon" {
            logon = event.seq;
        } else if !event.id.is_empty() && event.seq < logon && !event.dup {
            return Err(format!(
                "{} was sent before the Logon of number {logon} and is not marked",
                event.text
            ));
        }
    }
    Ok(())
}

#[test]
fn each_planted_fault_is_found() {
    let report = |id: &str, dup| Event {
        name: "report".into(),
        id: id.into(),
        dup,
        ..Event::default()
    };
    let judge = |seen: &[Event]| once(seen, "A", 2);
    let good = [
        report("A-1", false),
        report("A-1", true),
        report("A-2", true),
    ];
    assert_eq!(judge(&good), Ok(()));
    assert!(judge(&good[..2]).is_err());
    assert!(judge(&[&good[..], &[report("A-1", false)]].concat()).is_err());
    assert!(judge(&[&good[..], &[report("A-2", false)]].concat()).is_err());
    assert!(judge(&[&good[..], &[report("B-1", false)]].concat()).is_err());

    let numbered = |event: Event, seq| Event { seq, ..event };
    let logon = |seq| Event {
        name: "logon".into(),
        seq,
        ..Event::default()
    };
    let after = |dup, seq| {
        let report = numbered(report("A-1", dup), seq);
        marked(&[logon(1), numbered(report.clone(), 2), logon(5), report])
    };
    assert_eq!((after(true, 4), after(false, 6)), (Ok(()), Ok(())));
    assert!(after(false, 4).is_err());
}
