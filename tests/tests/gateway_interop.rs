//! Does a gateway between engines of others lose, double or misdirect anything, also when it is killed?
//!
//! The finished binary runs `examples/gateway.toml`, with ports of its own and a second client, between
//! QuickFIX/J and QuickFIX C++ as clients that speak FIX 4.2, and QuickFIX C++ as the venue that speaks
//! FIX 4.4; all of them validate. Then it is ended by SIGKILL in the middle of the orders, and started
//! again, and in the end:
//!
//! * every order has reached the venue, as a new one at most once;
//! * every order has its report, at the client that sent it, as a new one at most once;
//! * nobody has rejected anything.
//!
//! `GATEWAY_KILLS` says how many (5), `FIXWIRE_SEED` repeats the moments.

use fixwire_rigs::packages::workspace;
use fixwire_rigs::peers::{Engine, Role, Running, Terms};
use fixwire_rigs::random::{Random, seed};
use fixwire_rigs::server::{Launch, Server, binary, free_port, scratch, wait_for_listener};
use fixwire_rigs::trade::Event;
use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Orders of each client before the first kill, and around each kill.
const ORDERS: usize = 500;
const BURST: usize = 100;
/// How long one step may take: a JVM starts, initiators pause.
const PATIENCE: Duration = Duration::from_secs(60);
const CLIENTS: [(&str, Engine); 2] = [
    ("CLIENT", Engine::QuickfixJ),
    ("CLIENT2", Engine::QuickfixCpp),
];

#[test]
fn orders_go_up_and_reports_come_back() -> Result<(), String> {
    let text = std::env::var("GATEWAY_KILLS").ok();
    let kills: u64 = text.and_then(|text| text.parse().ok()).unwrap_or(5);
    let seed = seed();
    let mut random = Random::new(seed);
    let outcome = Market::open().and_then(|mut market| {
        market.send(ORDERS)?;
        market.settle()?;
        for _ in 0..kills {
            market.death(&mut random)?;
        }
        market.settle()?;
        Ok(market.sent)
    });
    let sent = outcome.map_err(|fault| format!("FIXWIRE_SEED={seed}: {fault}"))?;
    let clients = CLIENTS.len();
    println!("{clients} clients, {kills} kills, {sent} orders each; seed {seed}");
    Ok(())
}

/// Another engine, and what it has seen.
struct Party {
    name: &'static str,
    running: Running,
    events: Receiver<Event>,
    seen: Vec<Event>,
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
        })
    }

    /// Waits until what was seen is enough.
    fn wait(&mut self, what: &str, enough: impl Fn(&[Event]) -> bool) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        while !enough(&self.seen) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) => self.seen.push(event),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("{} never saw {what}", self.name));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(format!("{} ended", self.name)),
            }
        }
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
    fn open() -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let folder = scratch("gateway-interop").map_err(io)?;
        let (clients, venue) = (free_port().map_err(io)?, free_port().map_err(io)?);
        let settings = folder.join("gateway.toml");
        fs::write(&settings, example(&folder, clients, venue)?).map_err(io)?;
        let cpp = ("VENUE", Engine::QuickfixCpp);
        let listens = SocketAddr::from((Ipv4Addr::LOCALHOST, venue));
        let venue = Party::start(cpp, Role::Acceptor, venue, &folder, "FIX.4.4")?;
        wait_for_listener(listens, PATIENCE)?;
        let launch = Launch {
            binary: binary()?,
            app: None,
            settings,
            port: clients,
            canary: None,
        };
        let gateway = Some(launch.start()?);
        let client = |client| Party::start(client, Role::Initiator, clients, &folder, "FIX.4.2");
        let mut market = Self {
            launch,
            gateway,
            venue,
            clients: CLIENTS.into_iter().map(client).collect::<Result<_, _>>()?,
            sent: 0,
        };
        for party in market.clients.iter_mut().chain([&mut market.venue]) {
            party.wait("a logon", |seen| seen.iter().any(|one| one.name == "logon"))?;
        }
        Ok(market)
    }

    /// Each client sends so many more.
    fn send(&mut self, orders: usize) -> Result<(), String> {
        self.sent += orders;
        for client in &mut self.clients {
            client.running.tell(&format!("send {orders}"))?;
        }
        Ok(())
    }

    /// The gateway dies while orders are on their way, and starts again.
    fn death(&mut self, random: &mut Random) -> Result<(), String> {
        let before = different(&self.venue.seen, "order");
        let through = random.below((BURST * CLIENTS.len()) as u64) as usize;
        self.send(BURST)?;
        let enough = |seen: &[Event]| different(seen, "order") >= before + through;
        self.venue.wait("the orders of a burst", enough)?;
        let gateway = self.gateway.take().ok_or("the gateway does not run")?;
        gateway.kill()?;
        self.gateway = Some(self.launch.start()?);
        Ok(())
    }

    /// Every order is reported, and nothing went wrong.
    fn settle(&mut self) -> Result<(), String> {
        let sent = self.sent;
        for client in &mut self.clients {
            let all = |seen: &[Event]| different(seen, "report") >= sent || rejected(seen).is_err();
            let waited = client.wait("all reports", all);
            let said = self.gateway.as_ref().map(Server::last_words);
            waited.map_err(|fault| format!("{fault}; {}", said.unwrap_or_default()))?;
            rejected(&client.seen)?;
            once(&client.seen, "report", client.name, sent)?;
        }
        let all = sent * self.clients.len();
        let all = |seen: &[Event]| different(seen, "order") >= all;
        self.venue.wait("all orders", all)?;
        for client in &self.clients {
            let own = self.venue.seen.iter().filter(|one| is_of(one, client.name));
            let own: Vec<Event> = own.cloned().collect();
            once(&own, "order", client.name, sent)?;
        }
        rejected(&self.venue.seen)
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

/// How many different orders, or reports, were seen.
fn different(seen: &[Event], name: &str) -> usize {
    let ids = seen.iter().filter(|one| one.name == name);
    let ids: std::collections::BTreeSet<&str> = ids.map(|one| &*one.id).collect();
    ids.len()
}

/// Whether an order or report is of this client, by its ClOrdID.
fn is_of(event: &Event, client: &str) -> bool {
    event
        .id
        .rsplit_once('-')
        .is_some_and(|(name, _)| name == client)
}

fn rejected(seen: &[Event]) -> Result<(), String> {
    match seen.iter().find(|one| one.name == "rejected") {
        Some(event) => Err(format!("rejected: {}", event.text)),
        None => Ok(()),
    }
}

/// Each of the client's orders, or reports, was seen, as a new one at most once, and none of others.
fn once(seen: &[Event], name: &str, client: &str, sent: usize) -> Result<(), String> {
    let mut new: BTreeMap<&str, usize> = BTreeMap::new();
    for event in seen.iter().filter(|one| one.name == name) {
        if !is_of(event, client) {
            return Err(format!("{client} got a {name} of {}", event.id));
        }
        *new.entry(&event.id).or_default() += usize::from(!event.dup);
    }
    if let Some((id, count)) = new.iter().find(|(_, count)| **count > 1) {
        return Err(format!(
            "the {name} of {id} came {count} times, each as a new one"
        ));
    }
    match new.len() == sent {
        true => Ok(()),
        false => Err(format!(
            "{} of {sent} {name}s of {client} were seen",
            new.len()
        )),
    }
}

#[test]
fn each_planted_fault_is_found() {
    let report = |id: &str, dup| Event {
        name: "report".into(),
        id: id.into(),
        dup,
        ..Event::default()
    };
    let judge = |seen: &[Event]| once(seen, "report", "A", 2);
    let good = [
        report("A-1", false),
        report("A-1", true),
        report("A-2", true),
    ];
    assert_eq!(judge(&good), Ok(()));
    assert!(judge(&good[..2]).is_err());
    assert!(judge(&[&good[..], &[report("A-1", false)]].concat()).is_err());
    assert!(judge(&[&good[..], &[report("B-1", false)]].concat()).is_err());
}
