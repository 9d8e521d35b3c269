//! The same clients, venues and judge, around the finished binary, which is killed.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::SYMBOLS;
use super::client::Client;
use super::judge::judge;
use super::venue::Venue;
use crate::random::Random;
use crate::server::{Launch, Server, free_port, scratch};
use crate::simulation::net::Tcp;
use crate::simulation::peer::{Identity, Peer};

/// Clients, then venues: name, letter of orders, version; whether it connects to the gateway.
const PARTIES: [(&str, char, &str, bool); 4] = [
    ("ANNA", 'A', "FIX.4.2", true),
    ("BERT", 'B', "FIX.4.2", true),
    ("FIRST", 'V', "FIX.4.4", false),
    ("SECOND", 'S', "FIX.4.2", true),
];
/// The latest moment of a death, after the gateway was started or a client has logged on.
const LATEST: Duration = Duration::from_millis(250);
/// The most time until all requests are settled.
const PATIENCE: Duration = Duration::from_secs(60);

/// An event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deaths {
    /// Kills of the gateway.
    pub kills: u64,
    /// Requests of clients.
    pub requests: u64,
    /// Reports of venues.
    pub reports: usize,
    /// Changes of the rules while it ran.
    pub reloads: u64,
}

/// Trades through the finished binary and kills it this number of times.
///
/// # Errors
///
/// The first invariant that did not hold.
pub fn trade(kills: u64, seed: u64) -> Result<Deaths, String> {
    let mut market = Market::open(seed)?;
    for _ in 0..kills {
        market.live()?;
    }
    market.settle()?;
    judge(&market.clients, &market.venues, market.rules)?;
    market.deaths.reports = market.venues.iter().map(|venue| venue.reports.len()).sum();
    Ok(market.deaths)
}

struct Market {
    random: Random,
    net: Tcp,
    clients: Vec<Client>,
    venues: Vec<Venue>,
    folder: PathBuf,
    launch: Launch,
    /// The port of the first venue.
    venue_port: u16,
    /// The rules in the file, and the oldest that the gateway may still have read.
    rules: u64,
    read_rules: u64,
    deaths: Deaths,
}

impl Market {
    fn open(seed: u64) -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let folder = scratch("gateway-kill").map_err(io)?;
        let (engine_port, venue_port) = (free_port().map_err(io)?, free_port().map_err(io)?);
        let net = Tcp::default();
        let mut peers = PARTIES.into_iter().map(|(name, letter, begin, dials)| {
            let identity = Identity {
                name,
                letter,
                port: venue_port,
                engine_port,
                begin,
            };
            Peer::new(identity, dials, &net)
        });
        let clients = peers.by_ref().take(2).map(Client::new).collect();
        let venues = peers.zip(0..).map(|(peer, place)| Venue::new(peer, place));
        let venues = venues.collect();
        let market = Self {
            random: Random::new(seed),
            net,
            clients,
            venues,
            launch: Launch::gateway(&folder, engine_port)?,
            folder,
            venue_port,
            rules: 0,
            read_rules: 0,
            deaths: Deaths::default(),
        };
        market.write()?;
        Ok(market)
    }

    /// Writes the gateway's file in one step, since the gateway may be starting.
    fn write(&self) -> Result<(), String> {
        let store = self.folder.join("store");
        let (port, venue_port) = (self.launch.port, self.venue_port);
        let mut text = format!(
            "[default]\nSocketAcceptAddress = '127.0.0.1'\nSocketAcceptPort = {port}\n\
             FileStorePath = '{}'\nJournalSegmentSize = '2M'\nNonStopSession = true\n\
             SenderCompID = 'ENGINE'\n[gateway]\nmax_orders = 20000\nmax_id = 16\n\
             [target.SECOND]\ntime_to_live = '2s'\n",
            store.display()
        );
        for (name, _, begin, dials) in PARTIES {
            let _ = write!(
                text,
                "[[session]]\nSessionName = '{name}'\nBeginString = '{begin}'\nTargetCompID = '{name}'\n"
            );
            if dials {
                text += "ConnectionType = 'acceptor'\n";
            } else {
                let _ = write!(
                    text,
                    "ConnectionType = 'initiator'\nSocketConnectHost = '127.0.0.1'\n\
                     SocketConnectPort = {venue_port}\nReconnectInterval = 1\nHeartBtInt = 30\n"
                );
            }
        }
        text += &super::rules(self.rules);
        let (new, file) = (self.folder.join("new"), self.folder.join("gateway.toml"));
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, file));
        written.map_err(|error| error.to_string())
    }

    /// The gateway starts, works and dies, sometimes while it is still starting.
    fn live(&mut self) -> Result<(), String> {
        let server = self.launch.spawn()?;
        self.read_rules = self.rules;
        if self.random.below(4) > 0 {
            // However slow the machine is, orders are on their way when it dies.
            let deadline = Instant::now() + PATIENCE;
            let is_on = |it: &Self| it.clients.iter().any(|client| client.peer.logged_on);
            while !is_on(self) && Instant::now() < deadline {
                self.step()?;
            }
        }
        let moment = Duration::from_micros(self.random.below(LATEST.as_micros() as u64));
        let until = Instant::now() + moment;
        while Instant::now() < until {
            self.act(&server)?;
            self.step()?;
        }
        server.kill()?;
        self.deaths.kills += 1;
        self.step()
    }

    /// Actions of clients and the owner.
    fn act(&mut self, server: &Server) -> Result<(), String> {
        let at = self.random.below(2) as usize;
        if self.clients[at].peer.logged_on {
            self.deaths.requests += 1;
            let (quantity, kind) = (1 + self.random.below(9), self.random.below(6));
            let venue = self.random.below(SYMBOLS.len() as u64) as usize;
            let rules = self.read_rules;
            let client = &mut self.clients[at];
            let count = client.orders.len() as u64;
            // One of the last orders.
            let back = 1 + self.random.below(4);
            match kind {
                0..2 if back <= count => {
                    client.change((count - back) as usize, 'G', quantity, rules);
                }
                2 if back <= count => client.change((count - back) as usize, 'F', quantity, rules),
                _ => client.order(venue, quantity, rules),
            }
        }
        match self.random.below(400) {
            0 => {
                self.rules += 1;
                self.write()?;
                // A gateway that is still starting reads the file anyway.
                if self.clients.iter().any(|client| client.peer.logged_on) {
                    self.deaths.reloads += 1;
                    server.signal("HUP")?;
                }
            }
            1..3 => {
                let time = fixwire::protocol::Nanos(self.random.below(3_000_000_000));
                self.venues[1].peer.stay_away(&self.net, time);
            }
            _ => {}
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), String> {
        for client in &mut self.clients {
            client.peer.step(&self.net)?;
            client.step()?;
        }
        for venue in &mut self.venues {
            venue.peer.step(&self.net)?;
            venue.step(&mut self.random)?;
        }
        std::thread::sleep(Duration::from_micros(500));
        Ok(())
    }

    /// Faults end: each party logs on again, each request is answered, and no message is on its way.
    fn settle(&mut self) -> Result<(), String> {
        let server = self.launch.spawn()?;
        let deadline = Instant::now() + PATIENCE;
        let mut last = Ok(());
        while Instant::now() < deadline {
            for _ in 0..200 {
                self.step()?;
            }
            // A gateway that is still starting has sent nothing again, and SIGTERM ends it without a word.
            last =
                judge(&self.clients, &self.venues, self.rules).and_then(|()| self.is_logged_on());
            if last.is_ok() {
                return server.terminate(PATIENCE);
            }
        }
        last.map_err(|what| format!("{what}; {}", server.last_words()))
    }

    fn is_logged_on(&self) -> Result<(), String> {
        let clients = self.clients.iter().map(|client| &client.peer);
        let mut peers = clients.chain(self.venues.iter().map(|venue| &venue.peer));
        match peers.find(|peer| !peer.logged_on) {
            Some(peer) => Err(format!("{} is not logged on", peer.identity().name)),
            None => Ok(()),
        }
    }
}
