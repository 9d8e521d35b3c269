//! Is an order lost, or handled by a mixture of old and new rules, when rules change under load?
//!
//! The finished binary runs as a gateway between two peers of FIX 4.2 and 4.4. One sends orders without
//! a pause, and meanwhile the file and its table change again and again. The rule and the table each
//! write the number of the file into an order: at the venue every order must have arrived once, in order,
//! with one number in both places, and the numbers must never go back.
//!
//! `GATEWAY_RELOADS` says how many (20).

use fixwire_rigs::server::{Launch, Server, binary, free_port, scratch};
use fixwire_rigs::wire::{Wire, message, number, show, timestamp, value};
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
/// Orders that are sent in one write, and the pause behind it: some 20,000 a second.
const BURST: u64 = 50;
const PAUSE: Duration = Duration::from_micros(2_500);

#[test]
fn every_order_is_handled_by_one_set_of_rules() -> Result<(), String> {
    let text = std::env::var("GATEWAY_RELOADS").ok();
    let reloads: usize = text.and_then(|text| text.parse().ok()).unwrap_or(20);
    let io = |error: std::io::Error| error.to_string();
    let folder = scratch("gateway-reload").map_err(io)?;
    let port = free_port().map_err(io)?;
    write(&folder, port, 0)?;
    let launch = Launch {
        binary: binary()?,
        app: None,
        settings: folder.join("gateway.toml"),
        port,
        canary: None,
    };
    let gateway = launch.start()?;
    let mut client = log_on(gateway.address, "FIX.4.2", "CLIENT")?;
    let mut venue = log_on(gateway.address, "FIX.4.4", "VENUE")?;
    let stop = AtomicBool::new(false);
    let (sent, seen) = std::thread::scope(|scope| {
        let sender = scope.spawn(|| send(&mut client, &stop));
        let reader = scope.spawn(|| read(&mut venue, &stop));
        let changed = change(&gateway, &folder, port, reloads);
        stop.store(true, Ordering::Relaxed);
        let join = |error| format!("{error:?}");
        let sent = sender.join().map_err(join)??;
        let seen = reader.join().map_err(join)?;
        changed.map_err(|fault| format!("{fault}; {}", gateway.last_words()))?;
        Ok::<_, String>((sent, seen?))
    })?;
    let mut seen = seen;
    while (seen.orders as u64) < sent {
        let next = venue.receive(PATIENCE);
        let missing = |fault| format!("{} of {sent} orders: {fault}", seen.orders);
        seen.take(&next.map_err(missing)?)?;
    }
    if seen.sets < 2 {
        return Err("no reload changed anything".into());
    }
    println!(
        "{reloads} reloads, {sent} orders, {} sets of rules at work",
        seen.sets
    );
    gateway.terminate(PATIENCE)
}

/// Changes the rules so many times, each when the one before holds.
fn change(gateway: &Server, folder: &Path, port: u16, reloads: usize) -> Result<(), String> {
    for reload in 1..=reloads {
        write(folder, port, reload)?;
        gateway.signal("HUP")?;
        let deadline = Instant::now() + PATIENCE;
        while gateway.words().matches("gateway reloaded").count() < reload {
            if Instant::now() > deadline {
                return Err(format!("reload {reload} never came"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    Ok(())
}

fn write(folder: &Path, port: u16, set: usize) -> Result<(), String> {
    let store = folder.join("store").display().to_string();
    let mut text = format!(
        "[default]\nConnectionType = 'acceptor'\nSocketAcceptAddress = '127.0.0.1'\n\
         SocketAcceptPort = {port}\nFileStorePath = '{store}'\nNonStopSession = true\n\
         [table.sets]\nfile = 'sets.csv'\n\
         [[rule]]\nfrom = ['CLIENT']\n\
         do = ['set Account \"{set}\"', 'map Symbol by sets.number to Text', 'convert', 'send VENUE']\n"
    );
    for (name, version) in [("CLIENT", "FIX.4.2"), ("VENUE", "FIX.4.4")] {
        text += &format!(
            "[[session]]\nSessionName = '{name}'\nBeginString = '{version}'\nSenderCompID = 'GATE'\n\
             TargetCompID = '{name}'\n"
        );
    }
    let table = format!("symbol,number\nVOD,{set}\n");
    for (file, text) in [("sets.csv", table), ("gateway.toml", text)] {
        fs::write(folder.join(file), text).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(())
}

fn log_on(address: SocketAddr, version: &str, name: &str) -> Result<Wire, String> {
    let mut wire = Wire::connect(address).map_err(|error| error.to_string())?;
    let head = format!(
        "8={version}|35=A|34=1|49={name}|52={}|56=GATE",
        timestamp(0, true)
    );
    let sent = wire.send(&message(&format!("{head}|98=0|108=600|")));
    sent.map_err(|error| error.to_string())?;
    let answer = wire.receive(PATIENCE).map_err(|error| error.to_string())?;
    match value(&answer, "35") {
        Some(b"A") => Ok(wire),
        _ => Err(format!("{name} got {}", show(&answer))),
    }
}

/// Sends orders until it is to stop; how many.
fn send(client: &mut Wire, stop: &AtomicBool) -> Result<u64, String> {
    let mut sent = 0;
    while !stop.load(Ordering::Relaxed) {
        let now = timestamp(0, true);
        let orders = (sent + 1..=sent + BURST).flat_map(|order| {
            message(&format!(
                "8=FIX.4.2|35=D|34={}|49=CLIENT|52={now}|56=GATE|11={order}|21=1|55=VOD|54=1|60={now}|38=9|40=1|",
                order + 1
            ))
        });
        let orders: Vec<u8> = orders.collect();
        client.send(&orders).map_err(|error| error.to_string())?;
        sent += BURST;
        std::thread::sleep(PAUSE);
    }
    Ok(sent)
}

/// Reads what comes until it is to stop.
fn read(venue: &mut Wire, stop: &AtomicBool) -> Result<Seen, String> {
    let mut seen = Seen::default();
    while !stop.load(Ordering::Relaxed) {
        if let Ok(order) = venue.receive(Duration::from_millis(20)) {
            seen.take(&order)?;
        }
    }
    Ok(seen)
}

/// The orders that the venue has seen.
#[derive(Debug, Default)]
struct Seen {
    orders: usize,
    /// The number of the last set of rules.
    last: u64,
    /// How many different ones.
    sets: usize,
}

impl Seen {
    fn take(&mut self, order: &[u8]) -> Result<(), String> {
        let fault = |what: &str| Err(format!("{what}: {}", show(order)));
        if value(order, "35") != Some(b"D") {
            return fault("no order");
        }
        self.orders += 1;
        if number(order, "11") != Some(self.orders as u64) {
            return fault("an order is missing or comes twice before this one");
        }
        let (by_rule, by_table) = (number(order, "1"), number(order, "58"));
        let Some(set) = by_rule.filter(|_| by_rule == by_table) else {
            return fault("two sets of rules at once");
        };
        if set < self.last {
            return fault("an older set of rules again");
        }
        self.sets += usize::from(set > self.last || self.orders == 1);
        self.last = set;
        Ok(())
    }
}

#[test]
fn each_planted_fault_is_found() {
    let order = |id, rule, table| message(&format!("8=FIX.4.4|35=D|11={id}|1={rule}|58={table}|"));
    let take = |orders: &[Vec<u8>]| {
        let mut seen = Seen::default();
        orders
            .iter()
            .try_for_each(|order| seen.take(order))
            .map(|()| seen.sets)
    };
    assert_eq!(
        take(&[order(1, 0, 0), order(2, 0, 0), order(3, 2, 2)]),
        Ok(2)
    );
    assert!(take(&[order(1, 0, 0), order(3, 0, 0)]).is_err());
    assert!(take(&[order(1, 0, 0), order(1, 0, 0)]).is_err());
    assert!(take(&[order(1, 1, 0)]).is_err());
    assert!(take(&[order(1, 1, 1), order(2, 0, 0)]).is_err());
}
