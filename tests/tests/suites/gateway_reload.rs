//! Is an order lost, or handled by a mixture of old and new rules, when rules change under load?
//!
//! The finished binary runs as a gateway between two peers of FIX 4.2 and 4.4. One peer sends 50,000 orders a second,
//! if the machine can, while the file and its table change again and again. The rule and the table each write the
//! number of the file into an order: every order must arrive at the venue once, in order, with the same number in both
//! places, and the numbers must never go back. Before each change comes a file with a mistake: it must be refused, with
//! the line.
//!
//! `GATEWAY_RELOADS` is the number of reloads (20).

use fixwire_rigs::server::{Launch, Server, free_port, scratch};
use fixwire_rigs::wire::{
    Missing, Wire, checksum, log_on, message, number, show, timestamp, value,
};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
/// Orders in one write, and the time from one write to the next: a few more than 50,000 a second, so that the whole run
/// reaches this rate, its ends included.
const BURST: usize = 100;
const PERIOD: Duration = Duration::from_micros(1_900);
/// The most orders for one reload: the number that the gateway has room for.
const ROOM: usize = 20_000;

#[test]
fn every_order_is_handled_by_one_set_of_rules() -> Result<(), String> {
    let text = std::env::var("GATEWAY_RELOADS").ok();
    let reloads: usize = text.and_then(|text| text.parse().ok()).unwrap_or(20);
    let io = |error: std::io::Error| error.to_string();
    let folder = scratch("gateway-reload").map_err(io)?;
    let port = free_port().map_err(io)?;
    write(&folder, (port, reloads), 0, "send")?;
    let launch = Launch::gateway(&folder, port)?;
    let gateway = launch.start()?;
    let mut client = log_on(gateway.address, "FIX.4.2", "CLIENT", 1, PATIENCE)?;
    let mut venue = log_on(gateway.address, "FIX.4.4", "VENUE", 1, PATIENCE)?;
    let (reloaded, sent) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let began = Instant::now();
    let seen = std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let outcome = send(&mut client, &reloaded, reloads);
            sent.store(*outcome.as_ref().unwrap_or(&0), Ordering::Relaxed);
            outcome
        });
        let reader = scope.spawn(|| read(&mut venue, &sent));
        let changed = change(&gateway, &folder, port, (reloads, &reloaded));
        reloaded.store(reloads, Ordering::Relaxed);
        let join = |error| format!("{error:?}");
        let seen = reader.join().map_err(join)??;
        sender.join().map_err(join)??;
        changed.map_err(|fault| format!("{fault}; {}", gateway.last_words()))?;
        Ok::<_, String>(seen)
    })?;
    let rate = seen.orders as f64 / began.elapsed().as_secs_f64();
    if seen.sets < 2 {
        return Err("no reload changed anything".into());
    }
    println!(
        "{reloads} reloads, {} orders, {rate:.0} a second, {} sets of rules at work",
        seen.orders, seen.sets
    );
    gateway.terminate(PATIENCE)
}

/// Changes the rules this number of times, each time when the previous rules hold, and counts the changes.
fn change(
    gateway: &Server,
    folder: &Path,
    port: u16,
    (reloads, reloaded): (usize, &AtomicUsize),
) -> Result<(), String> {
    for reload in 1..=reloads {
        for (set, action, answer) in [
            // If this file were taken, the next one would have an older number.
            (usize::MAX, "sent", "gateway.toml:13:"),
            (reload, "send", "gateway reloaded"),
        ] {
            write(folder, (port, reloads), set, action)?;
            gateway.signal("HUP")?;
            let deadline = Instant::now() + PATIENCE;
            while gateway.words().matches(answer).count() < reload {
                if Instant::now() > deadline {
                    return Err(format!("reload {reload}: {answer:?} never came"));
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        reloaded.store(reload, Ordering::Relaxed);
    }
    Ok(())
}

/// Writes the file and its table; an action other than `send` is a mistake in line 13.
fn write(
    folder: &Path,
    (port, reloads): (u16, usize),
    set: usize,
    action: &str,
) -> Result<(), String> {
    let room = ROOM * (reloads + 1);
    let store = folder.join("store").display().to_string();
    let mut text = format!(
        "[default]\nConnectionType = 'acceptor'\nSocketAcceptAddress = '127.0.0.1'\n\
         SocketAcceptPort = {port}\nFileStorePath = '{store}'\nNonStopSession = true\n\
         [gateway]\nmax_orders = {room}\n\
         [table.sets]\nfile = 'sets.csv'\n\
         [[rule]]\nfrom = ['CLIENT']\n\
         do = ['set Account \"{set}\"', 'map Symbol by sets.number to Text', 'convert', '{action} VENUE']\n"
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

/// Sends orders until this number of reloads is done; returns the number of orders.
fn send(client: &mut Wire, reloaded: &AtomicUsize, reloads: usize) -> Result<usize, String> {
    let order = message(
        "8=FIX.4.2|35=D|34=000000000|49=CLIENT|52=00000000-00:00:00.000|56=GATE|11=000000000|21=1|\
         55=VOD|54=1|60=00000000-00:00:00.000|38=9|40=1|",
    );
    let mut burst = order.repeat(BURST);
    let (mut sent, mut due) = (0, Instant::now());
    loop {
        let done = reloaded.load(Ordering::Relaxed);
        if done == reloads {
            return Ok(sent);
        }
        if sent < ROOM * (done + 1) {
            let now = timestamp(0, true);
            for order in burst.chunks_mut(order.len()) {
                sent += 1;
                fill(order, sent, &now);
            }
            client.send(&burst).map_err(|error| error.to_string())?;
        }
        due += PERIOD;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
}

/// Makes this the order with a number; the written digits are as long as the old ones.
fn fill(order: &mut [u8], number: usize, now: &str) {
    let mut put = |field: &str, value: &str| {
        let field = field.as_bytes();
        let at = order.windows(field.len()).position(|bytes| bytes == field);
        let at = at.expect("the order has it") + field.len();
        order[at..][..value.len()].copy_from_slice(value.as_bytes());
    };
    put("\u{1}34=", &format!("{:09}", number + 1));
    put("\u{1}11=", &format!("{number:09}"));
    put("\u{1}52=", now);
    put("\u{1}60=", now);
    let trailer = order.len() - 7;
    let sum = format!("{:03}", checksum(&order[..trailer]));
    order[trailer + 3..trailer + 6].copy_from_slice(sum.as_bytes());
}

/// Reads until all orders that were sent in the end have come.
fn read(venue: &mut Wire, sent: &AtomicUsize) -> Result<Seen, String> {
    let mut seen = Seen::default();
    let mut heard = Instant::now();
    while seen.orders < sent.load(Ordering::Relaxed) {
        match venue.receive(Duration::from_millis(20)) {
            Ok(order) => {
                seen.take(&order)?;
                heard = Instant::now();
            }
            Err(Missing::Silent(_)) if heard.elapsed() < PATIENCE => {}
            Err(fault) => return Err(format!("{} orders came, then {fault}", seen.orders)),
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
    /// The number of different ones.
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
