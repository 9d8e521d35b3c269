//! Do client, OMS and exchange agree when the exchange or its wire does wrong, or answers by scripts?
//!
//! `fixwire client` trades through `fixwire run oms.toml` with `fixwire sim` in FIX 4.4, over a line of 4.4 and one of
//! 4.2. There is one world for each fault: the exchange delays, doubles or rejects a number of messages, or the wire
//! corrupts checksums, loses messages, cuts connections or logs a line out. In other worlds the exchange never sends
//! its acceptances, until the lines are cut, or sends nothing at all, until after the OMS has ended; in one more,
//! orders follow scripts, and the exchange is killed in the middle of them. In the end every order has the same state
//! in all three, positions follow from the orders, and each request has its answer.

use fixwire_rigs::oms::books::agree;
use fixwire_rigs::oms::floor::{ACCOUNTS, Floor};
use fixwire_rigs::peers::Running;
use fixwire_rigs::server::{Server, scratch, wait_for_listener};
use fixwire_rigs::trade::{Event, PATIENCE};
use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

const CLIENT: &str = "CLIENT";
const LINES: [(&str, &str); 2] = [("LINE1", "FIX.4.4"), ("LINE2", "FIX.4.2")];
/// The number of times that each fault happens.
const FAULTS: u32 = 6;
/// Orders of a world.
const ORDERS: usize = 120;
/// The time between two commands of the client.
const PACE: Duration = Duration::from_millis(25);

#[test]
fn delayed_reports() -> Result<(), String> {
    wrong("delay", "type = 8\nms = 30\npercent = 10")
}

#[test]
fn doubled_reports() -> Result<(), String> {
    wrong("duplicate", "type = 8\npercent = 10")
}

#[test]
fn rejected_orders() -> Result<(), String> {
    wrong("reject", "type = 'D'\npercent = 10")
}

#[test]
fn wrong_check_sums() -> Result<(), String> {
    wrong("checksum", "type = 8\npercent = 10")
}

#[test]
fn lost_messages() -> Result<(), String> {
    wrong("gap", "percent = 10")
}

#[test]
fn cut_connections() -> Result<(), String> {
    wrong("disconnect", "percent = 10")
}

#[test]
fn lines_that_are_logged_out() -> Result<(), String> {
    wrong("logout", "percent = 10")
}

/// A world with one fault; `more` has the time of the fault.
fn wrong(kind: &str, more: &str) -> Result<(), String> {
    let table = format!("[[fault]]\nkind = \"{kind}\"\ncount = {FAULTS}\n{more}\n");
    let mut world = World::open(kind, &table)?;
    for at in 0..ORDERS {
        let side = ["buy", "sell"][at % 2];
        let (quantity, account) = (10 + at % 7, ACCOUNTS[at % ACCOUNTS.len()]);
        let symbol = ["VOD", "VOD", "BT"][at % 3];
        let price = format!("12.{}", 48 + at % 5);
        world.client.tell(&format!(
            "new {side} {quantity} {symbol} @ {price} account {account}"
        ))?;
        std::thread::sleep(PACE);
        match at % 8 {
            3 => world.client.tell("replace last price 12.50 qty 20")?,
            6 => world.client.tell("cancel last")?,
            _ => {}
        }
    }
    // The last orders may still be on their way.
    world.until(|world| match world.command("faults")?.as_str() {
        "" => Ok(()),
        left => Err(format!("{kind}: not all of it has happened: {left}")),
    })?;
    world.settle().map_err(|fault| format!("{kind}: {fault}"))
}

#[test]
fn dropped_acceptances() -> Result<(), String> {
    let table = format!("[[fault]]\nkind = \"drop\"\ntype = 8\ncount = {FAULTS}\n");
    let mut world = World::open("drop", &table)?;
    // These orders find no counterpart, so the only report about them is their acceptance.
    for at in 0..FAULTS {
        world.client.tell(&format!(
            "new buy {} VOD @ 12.00 account {}",
            10 + at,
            ACCOUNTS[0]
        ))?;
        std::thread::sleep(PACE);
    }
    world.until(|world| match world.command("faults")?.as_str() {
        "" => Ok(()),
        left => Err(format!("not all of it has happened: {left}")),
    })?;
    world.stand(FAULTS, "sent")?;
    for (line, _) in LINES {
        world.floor.tell_exchange("disconnect", line)?;
    }
    // The OMS has asked, and the client gets the reports that they work.
    world.until(|world| world.stand(FAULTS, "working"))?;
    world.client.tell("cancel all")?;
    world.until(|world| world.stand(FAULTS, "cancelled"))?;
    world.settle()
}

#[test]
fn stalled_reports() -> Result<(), String> {
    let mut world = World::open("stall", "")?;
    world.command("fault stall")?;
    let trade = |world: &mut World| {
        for (side, account) in [("buy", ACCOUNTS[0]), ("sell", ACCOUNTS[1])] {
            world
                .client
                .tell(&format!("new {side} 10 VOD @ 12.50 account {account}"))?;
            std::thread::sleep(PACE);
        }
        Ok::<_, String>(())
    };
    for _ in 0..FAULTS / 2 {
        trade(&mut world)?;
    }
    world.until(|world| world.stand(FAULTS, "sent"))?;
    world.oms.take().map(Server::kill).transpose()?;
    world.oms = Some(world.floor.oms.start()?);
    world.floor.wait_for_logons()?;
    // The client asks, and gets no answer; new orders still go out.
    world.until(|world| world.stand(FAULTS, "unknown"))?;
    trade(&mut world)?;
    world.until(|world| world.stand(2, "sent"))?;
    world.stand(FAULTS, "unknown")?;
    world.command("fault clear")?;
    world.until(|world| world.stand(FAULTS + 2, "filled"))?;
    world.settle()
}

/// Orders of each script, bought and sold, so that positions add up to zero.
const SCRIPTS: [(&str, &str); 5] = [
    ("101", "'ack', 'wait 100ms', 'fill 50', 'cancel rest'"),
    (
        "102",
        "'ack', 'wait for cancel', 'fill 40', 'reject cancel 0'",
    ),
    ("103", "'pending', 'wait 50ms', 'reject 99 \"Not today\"'"),
    ("104", "'ack', 'wait 2s', 'fill 5', 'wait 1s', 'fill rest'"),
    (
        "106",
        "'ack', 'pending replace', 'fill 10', 'replace', 'done for day'",
    ),
];

#[test]
fn orders_of_scripts() -> Result<(), String> {
    let mut tables = String::new();
    for (quantity, steps) in SCRIPTS {
        let _ = write!(
            tables,
            "[[script]]\nname = \"{quantity}\"\nquantity = {quantity}\nsteps = [{steps}]\n"
        );
    }
    let mut world = World::open("scripts", &tables)?;
    for (quantity, _) in SCRIPTS {
        for (side, account) in [("buy", ACCOUNTS[0]), ("sell", ACCOUNTS[1])] {
            world.client.tell(&format!(
                "new {side} {quantity} VOD @ 12.50 account {account}"
            ))?;
            std::thread::sleep(PACE);
            match quantity {
                "102" => world.client.tell("cancel last")?,
                "106" => world.client.tell("replace last qty 96")?,
                _ => {}
            }
        }
    }
    world.until(|world| {
        let under_way = world.command("scripts")?;
        match under_way.contains("104, step 2 of 5: wait 2s") {
            true => Ok(()),
            false => Err(format!("no script waits: {under_way}")),
        }
    })?;
    world.sim.take().map(Server::kill).transpose()?;
    world.sim = Some(world.floor.open()?);
    world.settle()?;
    let orders = world.floor.ask(&["orders"])?;
    let stands = |quantity: u64| -> Vec<(String, u64)> {
        let its = orders.iter().filter(|it| it["quantity"] == quantity);
        its.map(|it| {
            (
                it["state"].as_str().unwrap_or_default().into(),
                it["filled"].as_u64().unwrap_or(0),
            )
        })
        .collect()
    };
    for (quantity, state, filled) in [
        (101, "cancelled", 50),
        (102, "partially filled", 40),
        (103, "rejected", 0),
        (104, "filled", 104),
        (96, "done for day", 10),
    ] {
        let wanted = vec![(state.to_owned(), filled); 2];
        if stands(quantity) != wanted {
            return Err(format!(
                "orders of {quantity}: {:?}, not {wanted:?}",
                stands(quantity)
            ));
        }
    }
    Ok(())
}

/// A client, the OMS and the exchange.
struct World {
    floor: Floor,
    client: Running,
    events: Receiver<Event>,
    oms: Option<Server>,
    sim: Option<Server>,
}

impl World {
    /// With these tables of the exchange; a line notices a missing message within a second.
    fn open(name: &str, tables: &str) -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let folder = scratch(name).map_err(io)?;
        let floor = Floor::new(&folder, &[(CLIENT, "FIX.4.4")], &LINES)?;
        let sim = fs::read_to_string(&floor.sim.settings).map_err(io)?;
        fs::write(&floor.sim.settings, sim + tables).map_err(io)?;
        let oms = fs::read_to_string(&floor.oms.settings).map_err(io)?;
        let oms = oms.replace("HeartBtInt = 30", "HeartBtInt = 1");
        fs::write(&floor.oms.settings, oms).map_err(io)?;
        let sim = floor.open()?;
        let listens = SocketAddr::from((Ipv4Addr::LOCALHOST, floor.sim.port));
        wait_for_listener(listens, *PATIENCE)?;
        let oms = floor.oms.start()?;
        let settings = floor.client(CLIENT, "FIX.4.4")?;
        let mut command = Command::new(&floor.oms.binary);
        command
            .args(["client", "--json", "--timeout", "600"])
            .arg(settings);
        let (client, events) = Running::start(&mut command)?;
        floor.wait_for_logons()?;
        Ok(Self {
            floor,
            client,
            events,
            oms: Some(oms),
            sim: Some(sim),
        })
    }

    /// The exchange's answer to a command.
    fn command(&self, words: &str) -> Result<String, String> {
        self.floor.tell_exchange("command", words)
    }

    /// This number of the OMS's orders has this state.
    fn stand(&self, count: u32, state: &str) -> Result<(), String> {
        let orders = self.floor.ask(&["orders"])?;
        match orders.iter().filter(|it| it["state"] == state).count() {
            found if found == count as usize => Ok(()),
            found => Err(format!(
                "{found} orders are {state}, not {count}: {orders:?}"
            )),
        }
    }

    /// Waits until it holds.
    fn until(&self, holds: impl Fn(&Self) -> Result<(), String>) -> Result<(), String> {
        let deadline = Instant::now() + *PATIENCE;
        loop {
            match holds(self) {
                Err(_) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                held => return held,
            }
        }
    }

    /// All messages on their way arrive, and the three agree.
    fn settle(&self) -> Result<(), String> {
        let deadline = Instant::now() + *PATIENCE;
        loop {
            std::thread::sleep(Duration::from_millis(500));
            while self.events.try_recv().is_ok() {}
            match self.judge() {
                Ok(()) => return Ok(()),
                Err(fault) if Instant::now() > deadline => {
                    let words = self.oms.as_ref().map(Server::last_words);
                    let words = words.unwrap_or_default();
                    return Err(format!("{fault}\nOMS: {words}"));
                }
                Err(_) => {}
            }
        }
    }

    fn judge(&self) -> Result<(), String> {
        let waiting = self.command("scripts")?;
        if waiting.contains("wait ") {
            return Err(format!("still under way: {waiting}"));
        }
        let clients = self.floor.clients(&[CLIENT])?;
        agree(&clients, &self.floor.books()?, &self.floor.exchange()?)?;
        match clients[0].requests() {
            0 => Err("the client has asked for nothing".into()),
            _ => Ok(()),
        }
    }
}
