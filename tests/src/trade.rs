//! Two engines trade with each other, and the same checks hold for every pair.
//!
//! Each [`Side`] takes commands and reports events, as `tests/interop/README.md` lists them.

use crate::proxy::{Proxy, Way};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The most time for one step of either side: `TRADE_PATIENCE` seconds.
pub static PATIENCE: LazyLock<Duration> = LazyLock::new(|| {
    let text = std::env::var("TRADE_PATIENCE").ok();
    Duration::from_secs(text.and_then(|text| text.parse().ok()).unwrap_or(60))
});
/// The time between a logout and the next logon.
const PAUSE: Duration = Duration::from_millis(500);
/// The name of an engine's event about itself.
const TOLD: &str = "told";

/// An event that one side saw.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Event {
    /// The kind of event: `logon`, `order`, `report`, ...
    pub name: String,
    /// ClOrdID of an order or report.
    pub id: String,
    /// MsgSeqNum of an order or report; for a logon, MsgSeqNum of the other side's Logon.
    pub seq: u64,
    /// Whether an order or report has PossDupFlag or PossResend.
    pub dup: bool,
    /// The rest of the event, for a person to read.
    pub text: String,
}

impl Event {
    /// An engine's event about itself, which helps to find why a trade failed.
    pub fn told(text: String) -> Self {
        Self {
            name: TOLD.to_owned(),
            text,
            ..Self::default()
        }
    }
}

/// Carries a command to an engine.
type Command = dyn FnMut(&str) -> Result<(), String> + Send;

/// One of the two engines.
pub struct Side {
    name: String,
    command: Box<Command>,
    events: Receiver<Event>,
    seen: Vec<Event>,
    sent: usize,
}

impl Side {
    /// `command` sends a line to the engine, `events` are its reports. `name` is its SenderCompID.
    pub fn new(
        name: &str,
        command: impl FnMut(&str) -> Result<(), String> + Send + 'static,
        events: Receiver<Event>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            command: Box::new(command),
            events,
            seen: Vec::new(),
            sent: 0,
        }
    }

    /// Carries a command to the engine.
    pub fn tell(&mut self, command: &str) -> Result<(), String> {
        (self.command)(command).map_err(|error| format!("{}: {command}: {error}", self.name))
    }

    /// The next event that `wanted` accepts; earlier events are dropped.
    pub fn expect(
        &mut self,
        what: &str,
        mut wanted: impl FnMut(&Event) -> bool,
    ) -> Result<Event, String> {
        loop {
            match self.events.recv_timeout(*PATIENCE) {
                Ok(event) if wanted(&event) => return Ok(event),
                Ok(_) => {}
                Err(error) => return Err(format!("{} never told {what}: {error}", self.name)),
            }
        }
    }

    /// Ends the engine, and waits until it has ended.
    pub fn quit(mut self) -> Result<(), String> {
        self.finish().map(drop)
    }

    /// Ends the engine, waits until it has ended, and returns all events that it saw.
    pub fn finish(&mut self) -> Result<&[Event], String> {
        self.tell("quit")?;
        loop {
            match self.events.recv_timeout(*PATIENCE) {
                Ok(event) => self.seen.push(event),
                Err(RecvTimeoutError::Disconnected) => return Ok(&self.seen),
                Err(RecvTimeoutError::Timeout) => return Err(format!("{} never ended", self.name)),
            }
        }
    }

    /// Has it send this number of orders more.
    pub fn send(&mut self, count: usize) -> Result<(), String> {
        self.sent += count;
        self.tell(&format!("send {count}"))
    }

    /// Its view at the end of the last wait.
    pub fn seen(&self) -> &[Event] {
        &self.seen
    }

    fn drain(&mut self) {
        self.seen.extend(self.events.try_iter());
    }

    /// The number of events of this name that it has seen.
    pub fn count(&self, name: &str) -> usize {
        self.seen.iter().filter(|event| event.name == name).count()
    }

    /// Waits until the seen events are enough.
    pub fn wait(&mut self, what: &str, enough: impl Fn(&Self) -> bool) -> Result<(), String> {
        let deadline = Instant::now() + *PATIENCE;
        loop {
            self.drain();
            if enough(self) {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(event) => self.seen.push(event),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("{} never saw {what}", self.name));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(format!("{} ended before {what}", self.name));
                }
            }
        }
    }

    /// Waits until this number of different orders, or reports, has come.
    pub fn wait_for(&mut self, name: &str, different: usize) -> Result<(), String> {
        self.wait(&format!("{different} x {name}"), |side| {
            side.count(name) >= different && first_times(&side.seen, name).len() >= different
        })
    }

    /// The messages seen, in a few lines.
    pub fn summary(&mut self) -> String {
        self.drain();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for event in &self.seen {
            *counts.entry(&event.name).or_default() += 1;
        }
        let (told, saw): (Vec<_>, Vec<_>) = self.seen.iter().partition(|event| event.name == TOLD);
        let last = &saw[saw.len().saturating_sub(6)..];
        let last = last.iter().map(|event| format!("  {event:?}"));
        let told = told.iter().map(|event| format!("  {}", event.text));
        let lines: Vec<_> = last.chain(told).collect();
        format!(
            "{} saw {counts:?}, at last\n{}",
            self.name,
            lines.join("\n")
        )
    }
}

/// The ids in the order in which they came for the first time.
fn first_times<'a>(seen: &'a [Event], name: &str) -> Vec<&'a str> {
    let mut known = std::collections::BTreeSet::new();
    let wanted = seen.iter().filter(|event| event.name == name);
    wanted
        .map(|event| event.id.as_str())
        .filter(|id| known.insert(*id))
        .collect()
}

/// Two sides and the proxy between them.
pub struct Pair {
    /// The side that opens the connection, through the proxy.
    pub initiator: Side,
    /// The side that accepts it.
    pub acceptor: Side,
    /// The proxy, which sees every message.
    pub proxy: Proxy,
}

impl Pair {
    /// Logon, `orders` each way at once, messages lost on each way, orders sent while logged off,
    /// reset, logout. Nothing may be lost, doubled or out of order.
    pub fn trade(&mut self, orders: usize) -> Result<(), String> {
        self.both(|side| side.wait("logon", |side| side.count("logon") == 1))?;
        self.exchange(orders)?;
        self.lose(Way::ToAcceptor)?;
        self.lose(Way::ToInitiator)?;
        self.exchange(10)?;
        self.while_logged_off()?;
        self.exchange(10)?;
        self.both(judge)?;
        self.reset()?;
        self.exchange(10)?;
        self.log_out()?;
        self.both(judge)
    }

    /// The same over a connection that the proxy cannot read: orders each way, orders sent while logged off, numbers
    /// left out, three cuts of the connection while orders are on their way, logout.
    pub fn trade_sealed(&mut self, orders: usize) -> Result<(), String> {
        self.both(|side| side.wait("logon", |side| side.count("logon") == 1))?;
        self.exchange(orders)?;
        self.while_logged_off()?;
        // Resent messages, and the answers, must fit into the buffers of a socket: an engine that resends with blocking
        // writes does not read at the same time, and Linux then stops accepting acknowledgements too. QuickFIX C++
        // would hang until the heartbeats time out.
        for _ in 0..3 {
            self.both(|side| side.send(orders / 50))?;
            self.proxy.cut();
            self.settle()?;
        }
        self.exchange(10)?;
        self.log_out()?;
        self.both(judge)
    }

    /// Orders each way until the session ends by the clock, and again in the next one: then both count from 1.
    pub fn over_the_end(&mut self, orders: usize) -> Result<(), String> {
        self.both(|side| side.wait("logon", |side| side.count("logon") == 1))?;
        self.exchange(orders)?;
        self.both(|side| side.wait("logout", |side| side.count("logout") >= 1))?;
        self.both(|side| side.wait("logon", |side| side.count("logon") == 2))?;
        self.forget_numbers()?;
        self.exchange(1)?;
        self.both(|side| {
            // Low, but not by how much: a Logon that comes before the peer's clock has opened the
            // session uses up a number, and the peer then asks for that one.
            let mut late = side.seen.iter().filter(|event| event.name == "order");
            match late.find(|order| order.seq > orders as u64) {
                Some(order) => Err(format!(
                    "{}: the numbers did not restart: {order:?}",
                    side.name
                )),
                None => Ok(()),
            }
        })?;
        self.log_out()?;
        self.both(judge)
    }

    /// A check that needs an engine whose counters can be set: numbers are left out and then gap-filled, and the engine
    /// requests messages that it already has. Comes before the reset.
    pub fn move_counters(&mut self, way: Way) -> Result<(), String> {
        self.both(|side| side.wait("logon", |side| side.count("logon") == 1))?;
        let asked = self.proxy.asked(way.back());
        self.from(way).tell("skip 5")?;
        self.from(way).send(3)?;
        self.settle()?;
        self.must_have_asked(way.back(), asked)?;

        // The last five numbers are orders, not administration.
        self.from(way.back()).send(5)?;
        self.settle()?;
        let again = |side: &Side| side.seen.iter().filter(|event| event.dup).count();
        let before = again(self.from(way));
        self.from(way).tell("back 5")?;
        self.from(way.back()).send(1)?;
        self.from(way)
            .wait("five messages again", |side| again(side) >= before + 5)?;
        self.settle()?;
        self.both(judge)
    }

    /// Messages are lost on the way; the other side notices, requests, and gets them.
    fn lose(&mut self, way: Way) -> Result<(), String> {
        let asked = self.proxy.asked(way.back());
        self.proxy.lose(way, 5);
        self.from(way).send(8)?;
        self.settle()?;
        self.must_have_asked(way.back(), asked)
    }

    fn must_have_asked(&self, way: Way, before: usize) -> Result<(), String> {
        match self.proxy.asked(way) - before {
            0 => Err(format!("nobody asked for what was missing ({way:?})")),
            1 => Ok(()),
            many => Err(format!("{many} ResendRequests for one gap ({way:?})")),
        }
    }

    /// The side that sends in this direction.
    fn from(&mut self, way: Way) -> &mut Side {
        match way {
            Way::ToAcceptor => &mut self.initiator,
            Way::ToInitiator => &mut self.acceptor,
        }
    }

    /// Orders each way, and a report for each.
    fn exchange(&mut self, count: usize) -> Result<(), String> {
        self.both(|side| side.send(count))?;
        self.settle()
    }

    /// Waits until all orders sent so far have come and are reported.
    fn settle(&mut self) -> Result<(), String> {
        let sent = (self.initiator.sent, self.acceptor.sent);
        self.acceptor
            .wait_for("order", sent.0)
            .map_err(|fault| self.beside(fault))?;
        self.initiator
            .wait_for("report", sent.0)
            .map_err(|fault| self.beside(fault))?;
        self.initiator
            .wait_for("order", sent.1)
            .map_err(|fault| self.beside(fault))?;
        self.acceptor
            .wait_for("report", sent.1)
            .map_err(|fault| self.beside(fault))
    }

    /// Orders sent while logged off are requested at the next logon.
    fn while_logged_off(&mut self) -> Result<(), String> {
        self.log_out()?;
        self.initiator.send(5)?;
        // Already two after a connection that ended under load, as QuickFIX/J's over TLS may.
        let mut before = [&self.initiator, &self.acceptor]
            .map(|side| side.count("logon"))
            .into_iter();
        self.initiator.tell("logon")?;
        self.both(|side| {
            let before = before.next().unwrap_or_default();
            side.wait("logon", |side| side.count("logon") > before)
        })?;
        self.settle()
    }

    /// The initiator ends the session. (An engine may also report failed attempts to connect.) Then both have a moment:
    /// QuickFIX/J reports a logout before it is ready for the next logon, and never gets ready again when a logon comes
    /// in between.
    fn log_out(&mut self) -> Result<(), String> {
        self.initiator.drain();
        self.acceptor.drain();
        let before = (
            self.initiator.count("logout"),
            self.acceptor.count("logout"),
        );
        self.initiator.tell("logout")?;
        self.initiator
            .wait("logout", |side| side.count("logout") > before.0)?;
        self.acceptor
            .wait("logout", |side| side.count("logout") > before.1)?;
        std::thread::sleep(PAUSE);
        Ok(())
    }

    /// The next Logon resets both sequence numbers.
    fn reset(&mut self) -> Result<(), String> {
        self.initiator.tell("reset")?;
        self.log_out()?;
        self.initiator.tell("logon")?;
        self.both(|side| side.wait("logon", |side| side.count("logon") == 3))?;
        // An acceptor that has not finished the last connection refuses the first attempt.
        let told = [Way::ToAcceptor, Way::ToInitiator].map(|way| self.proxy.resets(way));
        if told[0] == 0 || told[1] != 1 {
            return Err(format!(
                "Logons with ResetSeqNumFlag=Y to and from: {told:?}"
            ));
        }
        self.forget_numbers()
    }

    /// From here on sequence numbers belong to other messages.
    fn forget_numbers(&mut self) -> Result<(), String> {
        self.both(|side| {
            side.seen.iter_mut().for_each(|event| event.seq = 0);
            Ok(())
        })
    }

    fn both(
        &mut self,
        mut each: impl FnMut(&mut Side) -> Result<(), String>,
    ) -> Result<(), String> {
        each(&mut self.initiator).map_err(|fault| self.beside(fault))?;
        each(&mut self.acceptor).map_err(|fault| self.beside(fault))
    }

    /// A fault of one side, and the view of both.
    fn beside(&mut self, fault: String) -> String {
        format!(
            "{fault}\n{}\n{}",
            self.initiator.summary(),
            self.acceptor.summary()
        )
    }
}

/// Conditions on the view of one side.
fn judge(side: &mut Side) -> Result<(), String> {
    judge_events(&side.seen).map_err(|fault| format!("{}: {fault}", side.name))
}

/// No reject; one message for one number; each id once, unless marked as a repetition; orders and reports in the order
/// in which they were sent, with none left out.
pub fn judge_events(seen: &[Event]) -> Result<(), String> {
    if let Some(rejected) = seen.iter().find(|event| event.name == "rejected") {
        return Err(format!("something was rejected: {}", rejected.text));
    }
    let mut by_seq: BTreeMap<u64, &Event> = BTreeMap::new();
    let messages = seen
        .iter()
        .filter(|event| matches!(event.name.as_str(), "order" | "report"));
    for event in messages.clone().filter(|event| event.seq > 0) {
        let first = by_seq.entry(event.seq).or_insert(event);
        if (&first.name, &first.id) != (&event.name, &event.id) {
            return Err(format!(
                "number {} is {} {} and {}",
                event.seq, event.name, first.id, event.id
            ));
        }
    }
    for name in ["order", "report"] {
        let ids = first_times(seen, name);
        let mut fresh = BTreeSet::new();
        let unmarked = |event: &&Event| event.name == name && !event.dup;
        if let Some(twice) = messages
            .clone()
            .filter(unmarked)
            .find(|event| !fresh.insert(&event.id))
        {
            return Err(format!("{name} {} came twice, unmarked", twice.id));
        }
        let numbers = ids
            .iter()
            .map(|id| id.rsplit('-').next().and_then(|text| text.parse().ok()));
        if let Some((index, id)) = numbers
            .zip(&ids)
            .enumerate()
            .find_map(|(index, (number, id))| (number != Some(index + 1)).then_some((index, id)))
        {
            return Err(format!("{name} {} is {id}", index + 1));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(id: &str, seq: u64, dup: bool) -> Event {
        Event {
            name: "order".into(),
            id: id.into(),
            seq,
            dup,
            text: String::new(),
        }
    }

    #[test]
    fn a_clean_run_is_fine_even_with_marked_duplicates() {
        let seen = [
            order("A-1", 2, false),
            order("A-2", 3, false),
            order("A-1", 2, true),
            order("A-3", 4, true),
        ];
        assert_eq!(judge_events(&seen), Ok(()));
    }

    #[test]
    fn each_planted_fault_is_found() {
        let lost = [order("A-1", 2, false), order("A-3", 4, false)];
        assert_eq!(judge_events(&lost), Err("order 2 is A-3".to_owned()));
        let swapped = [order("A-2", 2, false), order("A-1", 3, false)];
        assert!(judge_events(&swapped).is_err());
        let doubled = [order("A-1", 2, false), order("A-1", 3, false)];
        assert!(judge_events(&doubled).is_err());
        // Any number of other orders, which came only as duplicates.
        let beside = [
            order("A-1", 2, true),
            order("A-2", 3, false),
            order("A-2", 4, false),
        ];
        assert_eq!(
            judge_events(&beside),
            Err("order A-2 came twice, unmarked".to_owned())
        );
        let two_for_one = [order("A-1", 2, false), order("A-2", 2, false)];
        assert!(judge_events(&two_for_one).is_err());
        let rejected = [Event {
            name: "rejected".into(),
            ..Event::default()
        }];
        assert!(judge_events(&rejected).is_err());
    }
}
