//! Does each message that a gateway holds arrive once, in order, or is it answered once, in bounded memory?
//!
//! An hour of virtual time: a venue is away, a million orders come for it at an even rate, and they live for forty
//! minutes. Each must be answered when it is too old, or delivered in order when the venue is back. All memory that the
//! gateway takes from the allocator in this time is counted against `max_held`.
//!
//! Then the finished binary: it holds orders, is killed, starts again, answers the orders that are too old, and sends
//! the others to the venue when it logs on.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fixwire_gateway::{Gateway, GatewayContext, GatewaySession};
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::{
    Application, Decoder, Mono, Now, Outbox, Parting, PeerLogout, SessionId, Timestamp,
};
use fixwire_rigs::server::{Launch, free_port, scratch};
use fixwire_rigs::trade::PATIENCE;
use fixwire_rigs::wire::{Wire, checksum, log_on, message, number, show, timestamp, value};

const CLIENT: SessionId = SessionId(0);
const VENUE: SessionId = SessionId(1);
const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3_600 * SECOND;
/// The life of orders.
const LIVE: u64 = 2_400 * SECOND;
/// Orders that come while the held ones leave.
const LATE: usize = 1_000;
const LOGON: &[u8] = b"35=A\x0198=0\x01108=30\x01";

/// The gateway's memory besides its queues: for one message, and for each session.
const BUFFERS: u64 = 16 << 10;

/// The outcome of an order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fate {
    Waits,
    Delivered,
    /// The order was held for too long.
    Expired,
    /// There was no room to hold it.
    NoRoom,
}

/// A gateway, and the outcome of each order.
struct Hour {
    gateway: Gateway,
    outbox: Outbox,
    decoder: Decoder,
    order: Vec<u8>,
    fates: Vec<Fate>,
    /// The arrival time of each order.
    came: Vec<u64>,
    /// The last order that was delivered.
    last: Option<usize>,
    /// Virtual nanoseconds since the venue went away.
    time: u64,
    fault: Option<String>,
}

impl Hour {
    fn new(max_held: &str, orders: usize) -> Self {
        let sessions = ["CLIENT", "VENUE"].map(|name| GatewaySession {
            name,
            dictionary: Arc::new(Dictionary::built_in(Version::Fix42)),
            version: Version::Fix42,
            peer: name,
            resets: false,
        });
        let context = GatewayContext {
            sessions: &sessions,
            tables: &[],
            conversions: &[],
            hash_key: [7; 16],
        };
        let file = format!(
            "[gateway]\nmax_held = '{max_held}'\nmax_id = 16\nmax_orders = {}\n\
             [target.VENUE]\ntime_to_live = '40m'\n\
             [client.CLIENT]\nmax_held = '{max_held}'\nmax_orders = {}\n\
             [[rule]]\nfrom = ['CLIENT']\ndo = ['send VENUE']\n",
            orders + 1,
            orders + 1
        );
        let mut hour = Self {
            gateway: Gateway::load(&file, &context, Box::new(|_| ())).expect("it is right"),
            outbox: Outbox::new(1 << 18, 1024, 256),
            decoder: Decoder::with_capacity(64),
            order: Vec::with_capacity(512),
            fates: vec![Fate::Waits; orders],
            came: vec![0; orders],
            last: None,
            time: 0,
            fault: None,
        };
        let now = hour.now();
        for session in [CLIENT, VENUE] {
            let logon = hour.decoder.decode(LOGON);
            hour.gateway
                .on_logon(now, session, &logon, &mut hour.outbox);
        }
        let (parting, logout) = (Parting::Lost, PeerLogout::NONE);
        hour.gateway.on_logout(now, VENUE, logout);
        hour.gateway
            .on_disconnect(now, VENUE, parting, logout, &mut hour.outbox);
        hour.outbox.clear();
        hour
    }

    fn now(&self) -> Now {
        Now {
            wall: Timestamp(1_795_168_800_000_000_000 + self.time as i64),
            mono: Mono(self.time),
        }
    }

    /// One order comes, and the due work is done.
    fn order(&mut self, order: usize) {
        write_order(&mut self.order, order);
        self.came[order] = self.time;
        let now = self.now();
        let message = self.decoder.decode(&self.order);
        let taken = self
            .gateway
            .on_message(now, CLIENT, &message, &mut self.outbox);
        if taken.is_err() {
            self.fault
                .get_or_insert_with(|| format!("order {order}: {taken:?}"));
        }
        self.take();
        self.turn();
    }

    /// A turn of the engine; returns whether the next one has work at once.
    fn turn(&mut self) -> bool {
        let now = self.now();
        let due = self.gateway.on_time(now, &mut self.outbox);
        self.take();
        due.is_some_and(|due| due <= now.mono)
    }

    /// The gateway's output becomes the fate of the order.
    fn take(&mut self) {
        for at in 0..self.outbox.entries().len() {
            let entry = self.outbox.entries()[at];
            if entry.is_note() {
                continue;
            }
            let body = self.outbox.body(at);
            let order = number(body, "11").map_or(usize::MAX, |order| order as usize);
            let fate = match (entry.session, entry.msg_type()) {
                (VENUE, b"D") => Fate::Delivered,
                (CLIENT, b"8")
                    if value(body, "58")
                        .is_some_and(|text| text.starts_with(b"time to live expired")) =>
                {
                    Fate::Expired
                }
                (CLIENT, b"8") => Fate::NoRoom,
                _ => Fate::Waits,
            };
            if let Err(fault) = self.befalls(order, fate) {
                self.fault.get_or_insert(fault);
            }
        }
        self.outbox.clear();
    }

    fn befalls(&mut self, order: usize, fate: Fate) -> Result<(), String> {
        let known = self
            .fates
            .get_mut(order)
            .ok_or("an order that nobody sent")?;
        if *known != Fate::Waits || fate == Fate::Waits {
            return Err(format!("order {order} was {known:?} and is {fate:?}"));
        }
        *known = fate;
        let age = self.time - self.came[order];
        match fate {
            Fate::Delivered if self.last >= Some(order) => {
                return Err(format!("order {order} behind {:?}", self.last));
            }
            Fate::Delivered if age >= LIVE => {
                return Err(format!("order {order} delivered too late"));
            }
            Fate::Expired if age < LIVE => return Err(format!("order {order} expired too early")),
            Fate::Delivered => self.last = Some(order),
            _ => {}
        }
        Ok(())
    }

    fn count(&self, fate: Fate) -> usize {
        self.fates.iter().filter(|one| **one == fate).count()
    }

    /// The hour, and the return of the venue.
    fn run(&mut self) {
        let early = self.fates.len() - LATE;
        for order in 0..early {
            self.time = HOUR * order as u64 / early as u64;
            self.order(order);
        }
        self.time = HOUR;
        let now = self.now();
        let logon = self.decoder.decode(LOGON);
        self.gateway.on_logon(now, VENUE, &logon, &mut self.outbox);
        let mut order = early;
        while self.turn() || order < early + LATE {
            if order < early + LATE {
                self.order(order);
                order += 1;
            }
        }
    }
}

/// Writes the bytes of an order without allocating memory.
fn write_order(bytes: &mut Vec<u8>, order: usize) {
    use std::io::Write as _;
    bytes.clear();
    let written = write!(
        bytes,
        "8=FIX.4.2\x019=150\x0135=D\x0134={}\x0149=CLIENT\x0152=20261120-10:00:00.000\x0156=GATE\x01\
         11={order}\x011=ACCOUNT\x0121=1\x0155=VOD.L\x0154=1\x0160=20261120-10:00:00.000\x01\
         38=100\x0140=2\x0144=101.25\x0159=0\x01",
        order + 2
    );
    written.expect("memory takes it");
    let sum = checksum(bytes);
    write!(bytes, "10={sum:03}\x01").expect("memory takes it");
}

/// Lets an hour pass; returns the most bytes that were taken in it.
fn pass(hour: &mut Hour) -> u64 {
    let taken = allocation_counter::measure(|| hour.run());
    assert_eq!(hour.fault, None);
    assert_eq!(hour.count(Fate::Waits), 0);
    assert_eq!(hour.gateway.held().count(), 0);
    taken.bytes_max
}

#[test]
fn a_million_messages_are_held_for_an_hour() {
    const MAX: u64 = 128 << 20;
    let mut hour = Hour::new("128M", 1_000_000 + LATE);
    let began = Instant::now();
    let taken = pass(&mut hour);
    let [delivered, expired] = [Fate::Delivered, Fate::Expired].map(|fate| hour.count(fate));
    println!(
        "{delivered} delivered, {expired} expired, {} MiB of memory at most, in {:?}",
        taken >> 20,
        began.elapsed()
    );
    // Orders of the first twenty minutes.
    assert!(expired.abs_diff(1_000_000 / 3) < 10, "{expired}");
    assert_eq!(delivered + expired, hour.fates.len());
    assert!(taken <= MAX + BUFFERS, "{taken}");
    // The capacity for the hour is near the limit, so that waste shows.
    assert!(taken > MAX / 4 * 3, "{taken}");
}

#[test]
fn what_has_no_room_is_answered_at_once() {
    const MAX: u64 = 16 << 20;
    let mut hour = Hour::new("16M", 200_000 + LATE);
    let taken = pass(&mut hour);
    let [delivered, expired, refused] =
        [Fate::Delivered, Fate::Expired, Fate::NoRoom].map(|fate| hour.count(fate));
    println!("{delivered} delivered, {expired} expired, {refused} refused, {taken} bytes");
    assert!(delivered > LATE && expired > 10_000 && refused > 10_000);
    assert!(taken <= MAX + BUFFERS, "{taken}");
}

#[test]
fn each_planted_fault_is_found() {
    let mut hour = Hour::new("64K", 4);
    assert_eq!(hour.befalls(0, Fate::Delivered), Ok(()));
    assert!(hour.befalls(0, Fate::Expired).is_err());
    hour.time = LIVE;
    assert!(hour.befalls(1, Fate::Delivered).is_err());
    hour.came = vec![LIVE; 4];
    assert!(hour.befalls(2, Fate::Expired).is_err());
    assert_eq!(hour.befalls(3, Fate::Delivered), Ok(()));
    assert!(hour.befalls(4, Fate::Delivered).is_err());
    let mut hour = Hour::new("64K", 2);
    assert_eq!(hour.befalls(1, Fate::Delivered), Ok(()));
    assert!(hour.befalls(0, Fate::Delivered).is_err());
}

/// The venues of the binary, with the life of orders for them: orders for the first venues expire while it is dead.
const VENUES: [(&str, &str); 2] = [("SOON", "8s"), ("LATE", "1h")];
/// The number of orders for each of them.
const BATCH: u64 = 20;

#[test]
fn the_binary_knows_after_a_kill_what_it_held() -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    let folder = scratch("gateway-hold").map_err(io)?;
    let port = free_port().map_err(io)?;
    write_file(&folder, port).map_err(io)?;
    let launch = Launch::gateway(&folder, port)?;
    let gateway = launch.start()?;
    let mut client = log_on(gateway.address, "FIX.4.2", "CLIENT", 1, *PATIENCE)?;
    send(&mut client, "SOON", 1..BATCH + 1)?;
    send(&mut client, "LATE", BATCH + 1..2 * BATCH + 1)?;
    let wanted = VENUES.map(|(venue, _)| format!("held for {venue}: {BATCH} messages"));
    let deadline = Instant::now() + *PATIENCE;
    while !wanted.iter().all(|wanted| gateway.words().contains(wanted)) {
        if Instant::now() > deadline {
            return Err(format!("never {wanted:?}: {}", gateway.last_words()));
        }
        gateway.signal("USR1")?;
        std::thread::sleep(Duration::from_millis(50));
    }
    gateway.kill()?;

    let gateway = launch.start()?;
    let mut client = log_on(
        gateway.address,
        "FIX.4.2",
        "CLIENT",
        2 * BATCH + 2,
        *PATIENCE,
    )?;
    for order in 1..=BATCH {
        let answer =
            next(&mut client).map_err(|error| format!("no answer to order {order}: {error}"))?;
        let text = value(&answer, "58").unwrap_or_default();
        if number(&answer, "11") != Some(order) || !text.starts_with(b"time to live expired") {
            return Err(format!(
                "instead of the reject of {order}: {}",
                show(&answer)
            ));
        }
    }
    let mut venue = log_on(gateway.address, "FIX.4.2", "LATE", 1, *PATIENCE)?;
    for order in BATCH + 1..=2 * BATCH {
        let found = next(&mut venue).map_err(|error| format!("no order {order}: {error}"))?;
        let is_new = value(&found, "43").is_none() && value(&found, "35") == Some(b"D");
        if number(&found, "11") != Some(order) || !is_new {
            return Err(format!("instead of order {order}: {}", show(&found)));
        }
    }
    gateway.terminate(*PATIENCE)
}

fn write_file(folder: &Path, port: u16) -> std::io::Result<()> {
    let store = folder.join("store").display().to_string();
    let mut text = format!(
        "[default]\nConnectionType = 'acceptor'\nSocketAcceptAddress = '127.0.0.1'\n\
         SocketAcceptPort = {port}\nFileStorePath = '{store}'\nNonStopSession = true\n\
         BeginString = 'FIX.4.2'\nSenderCompID = 'GATE'\n\
         [[session]]\nSessionName = 'CLIENT'\nTargetCompID = 'CLIENT'\n"
    );
    // With ResetOnLogon no message could wait in the session itself.
    for (venue, live) in VENUES {
        text += &format!(
            "[[session]]\nSessionName = '{venue}'\nTargetCompID = '{venue}'\nResetOnLogon = true\n\
             [target.{venue}]\ntime_to_live = '{live}'\n\
             [[rule]]\nfrom = ['CLIENT']\nwhen = 'Symbol = \"{venue}\"'\ndo = ['send {venue}']\n"
        );
    }
    fs::write(folder.join("gateway.toml"), text)
}

/// Sends orders whose symbol names their venue.
fn send(client: &mut Wire, venue: &str, orders: std::ops::Range<u64>) -> Result<(), String> {
    for order in orders {
        let now = timestamp(0, true);
        let order = format!(
            "8=FIX.4.2|35=D|34={}|49=CLIENT|52={now}|56=GATE|11={order}|21=1|55={venue}|54=1|60={now}|38=9|40=1|",
            order + 1
        );
        let sent = client.send(&message(&order));
        sent.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The next message other than a Heartbeat.
fn next(wire: &mut Wire) -> Result<Vec<u8>, String> {
    loop {
        let message = wire.receive(*PATIENCE).map_err(|error| error.to_string())?;
        if value(&message, "35") != Some(b"0") {
            return Ok(message);
        }
    }
}
