//! A peer that sends orders, remembers every byte, and recovers after a broken connection.
//!
//! It keeps the rules of a FIX 4.2 session: it requests missed messages, resends on request, and never uses a number
//! twice. It compares everything from the engine with earlier messages. The rigs kill the engine; this peer is the
//! witness.

use crate::wire::{Missing, SOH, Wire, fields, message, number, show, timestamp, value};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The most orders without a report.
const WINDOW: usize = 64;
/// Fields in which a resent message may differ from the first time.
const MAY_DIFFER: [&[u8]; 6] = [b"9", b"10", b"43", b"52", b"97", b"122"];

/// The engine's CompID.
pub const SENDER: &str = "ENGINE";
/// The time for which a listening witness waits for the engine.
const CALL: Duration = Duration::from_millis(400);

/// The witness: its half of the session, and all messages it saw.
#[derive(Debug)]
pub struct OrderFlow {
    /// The CompID of the witness.
    name: String,
    /// The listener for the engine; without one the witness connects.
    listener: Option<TcpListener>,
    /// The next Logon resets the sequence numbers.
    wants_reset: bool,
    /// Our orders by MsgSeqNum, as they were first sent.
    pub orders: BTreeMap<u64, Vec<u8>>,
    /// The engine's messages by MsgSeqNum, as they first came.
    pub seen: BTreeMap<u64, Vec<u8>>,
    /// The number of each reported order, by the number of its report.
    pub reported: BTreeMap<u64, u64>,
    next_out: u64,
    next_in: u64,
    /// The messages after a gap.
    held: BTreeMap<u64, Vec<u8>>,
    asked: bool,
    logged_on: bool,
    /// The number of logons, which another thread may read.
    logons: Arc<AtomicUsize>,
}

/// The reason why a connection ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// The connection broke, or the time was up.
    Broken,
    /// The engine did what it must never do.
    Wrong(String),
}

fn wrong<T>(what: &str, raw: &[u8]) -> Result<T, End> {
    Err(End::Wrong(format!("{what}: {}", show(raw))))
}

impl OrderFlow {
    /// A session in which nothing was sent yet. With a listener it waits for the engine.
    pub fn new(name: &str, listener: Option<TcpListener>) -> Self {
        Self {
            name: name.to_owned(),
            listener,
            wants_reset: false,
            orders: BTreeMap::new(),
            seen: BTreeMap::new(),
            reported: BTreeMap::new(),
            next_out: 1,
            next_in: 1,
            held: BTreeMap::new(),
            asked: false,
            logged_on: false,
            logons: Arc::default(),
        }
    }

    /// The number of logons, which grows while the peer runs.
    #[must_use]
    pub fn logons(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.logons)
    }

    /// The next Logon resets all sequence numbers, and earlier messages are forgotten. Only for a peer that connects.
    pub fn begin_anew(&mut self) {
        *self = Self {
            wants_reset: true,
            listener: self.listener.take(),
            ..Self::new(&self.name, None)
        };
    }

    /// Connects, logs on, and sends orders until the connection breaks.
    pub fn run_until_broken(&mut self, engine: SocketAddr) -> Result<(), String> {
        // Connections that the engine began in an earlier life may still wait to be accepted.
        let tries = if self.listener.is_some() { 3 } else { 1 };
        for _ in 0..tries {
            match self.run(engine, usize::MAX, None) {
                Err(End::Broken) if self.logged_on => break,
                Err(End::Broken) => {}
                Err(End::Wrong(what)) => return Err(what),
                Ok(()) => return Err("the orders ran out".to_owned()),
            }
        }
        Ok(())
    }

    /// Connects, logs on, sends `more` orders, waits until all orders ever sent are reported, and logs out.
    pub fn settle(&mut self, engine: SocketAddr, more: usize) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(60);
        let total = self.orders.len() + more;
        loop {
            match self.run(engine, total, Some(deadline)) {
                Ok(()) => return self.judge(),
                Err(End::Wrong(what)) => return Err(what),
                Err(End::Broken) if self.listener.is_some() && Instant::now() < deadline => {}
                Err(End::Broken) => {
                    return Err(format!(
                        "the session broke before all was settled: {} of {total} orders reported",
                        self.reported.len()
                    ));
                }
            }
        }
    }

    fn run(
        &mut self,
        engine: SocketAddr,
        total: usize,
        deadline: Option<Instant>,
    ) -> Result<(), End> {
        let mut wire = self.connect(engine)?;
        self.held.clear();
        self.asked = false;
        self.logged_on = false;
        if self.wants_reset {
            // Until the reset is answered, each connection begins with the same Logon.
            self.next_out = 1;
            self.send(&mut wire, "A", "98=0|108=30|141=Y|")?;
        } else if self.listener.is_none() {
            self.send(&mut wire, "A", "98=0|108=30|")?;
        }
        loop {
            if self.logged_on && self.reported.len() >= total && !self.asked {
                self.send(&mut wire, "5", "")?;
                return self.until_logged_out(&mut wire);
            }
            if self.logged_on {
                let open = self.orders.len().saturating_sub(self.reported.len());
                for _ in open..WINDOW.min(open + total.saturating_sub(self.orders.len())) {
                    self.send_order(&mut wire)?;
                }
            }
            self.take(&mut wire)?;
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Err(End::Broken);
            }
        }
    }

    fn connect(&self, engine: SocketAddr) -> Result<Wire, End> {
        let Some(listener) = &self.listener else {
            return Wire::connect(engine).map_err(|_| End::Broken);
        };
        let deadline = Instant::now() + CALL;
        loop {
            match listener.accept() {
                Ok((stream, _)) => {
                    let blocking = stream.set_nonblocking(false);
                    return blocking
                        .and_then(|()| Wire::over(stream))
                        .map_err(|_| End::Broken);
                }
                Err(_) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(_) => return Err(End::Broken),
            }
        }
    }

    fn until_logged_out(&mut self, wire: &mut Wire) -> Result<(), End> {
        while self.logged_on {
            self.take(wire)?;
        }
        Ok(())
    }

    /// Takes the messages of a short time.
    fn take(&mut self, wire: &mut Wire) -> Result<(), End> {
        match wire.receive(Duration::from_millis(50)) {
            Ok(raw) => self.receive(wire, &raw),
            Err(Missing::Silent(_)) => Ok(()),
            Err(Missing::Closed) => Err(End::Broken),
            Err(other) => Err(End::Wrong(other.to_string())),
        }
    }

    fn receive(&mut self, wire: &mut Wire, raw: &[u8]) -> Result<(), End> {
        if let Some(fault) = crate::wire::frame_fault(raw) {
            return wrong(&fault, raw);
        }
        let Some(seq) = number(raw, "34") else {
            return wrong("no MsgSeqNum", raw);
        };
        let is_logon = value(raw, "35") == Some(b"A");
        if is_logon && self.wants_reset {
            if seq != 1 || value(raw, "141") != Some(b"Y") {
                return wrong("a reset was asked for, the answer is", raw);
            }
            self.wants_reset = false;
        }
        self.remember(seq, raw)?;
        if is_logon && self.listener.is_some() && !self.logged_on {
            self.logged_on = true;
            self.send(wire, "A", "98=0|108=30|")?;
        }
        if seq < self.next_in {
            let again = value(raw, "43") == Some(b"Y");
            return if again {
                Ok(())
            } else {
                wrong("MsgSeqNum too low", raw)
            };
        }
        if seq > self.next_in {
            return self.hold(wire, seq, raw);
        }
        self.take_in_order(wire, seq, raw, false)?;
        while let Some(held) = self.held.remove(&self.next_in) {
            self.take_in_order(wire, self.next_in, &held, true)?;
        }
        self.held = self.held.split_off(&self.next_in);
        self.asked &= !self.held.is_empty();
        Ok(())
    }

    /// One MsgSeqNum, one message. A gap fill replaces other messages, so its own MsgSeqNum says nothing.
    fn remember(&mut self, seq: u64, raw: &[u8]) -> Result<(), End> {
        if value(raw, "35") == Some(b"4") {
            return Ok(());
        }
        let Some(first) = self.seen.get(&seq) else {
            self.seen.insert(seq, raw.to_vec());
            return Ok(());
        };
        if value(raw, "43") != Some(b"Y") && first != raw {
            return wrong(
                &format!("number {seq} was {} before, now", show(first)),
                raw,
            );
        }
        if stable(first) != stable(raw) {
            return wrong(&format!("sent again differently from {}", show(first)), raw);
        }
        Ok(())
    }

    /// Keeps the messages after a gap, and requests the missing ones once.
    fn hold(&mut self, wire: &mut Wire, seq: u64, raw: &[u8]) -> Result<(), End> {
        self.held.insert(seq, raw.to_vec());
        // A gap fill may replace it, and then it is never taken from there.
        if value(raw, "35") == Some(b"A") {
            self.logged_on = true;
            self.logons.fetch_add(1, Ordering::Relaxed);
        }
        if !self.asked {
            self.asked = true;
            let from = self.next_in;
            self.send(wire, "2", &format!("7={from}|16=0|"))?;
        }
        // If each side waited for the other's resend, they would wait forever.
        if value(raw, "35") == Some(b"2") {
            self.resend(wire, raw)
        } else {
            Ok(())
        }
    }

    fn take_in_order(
        &mut self,
        wire: &mut Wire,
        seq: u64,
        raw: &[u8],
        held: bool,
    ) -> Result<(), End> {
        self.next_in = seq + 1;
        match value(raw, "35").unwrap_or_default() {
            b"A" => {
                self.logged_on = true;
                self.logons.fetch_add(1, Ordering::Relaxed);
            }
            b"0" => {}
            b"1" => {
                let id = show(value(raw, "112").unwrap_or_default());
                self.send(wire, "0", &format!("112={id}|"))?;
            }
            b"2" if held => {}
            b"2" => self.resend(wire, raw)?,
            b"4" => return self.skip_filled(seq, raw),
            b"5" => self.logged_on = false,
            b"8" => return self.report(seq, raw),
            _ => return wrong("not what the engine should answer", raw),
        }
        Ok(())
    }

    fn skip_filled(&mut self, seq: u64, raw: &[u8]) -> Result<(), End> {
        let next = number(raw, "36").filter(|next| *next > seq && value(raw, "123") == Some(b"Y"));
        let Some(next) = next else {
            return wrong("not a gap fill", raw);
        };
        let mut filled = self.seen.range(seq..next);
        if let Some((lost, _)) = filled.find(|(_, first)| value(first, "35") == Some(b"8")) {
            return wrong(&format!("number {lost} was a report and is filled"), raw);
        }
        self.next_in = next;
        Ok(())
    }

    fn report(&mut self, seq: u64, raw: &[u8]) -> Result<(), End> {
        let id = value(raw, "11").and_then(|id| std::str::from_utf8(id).ok()?.parse().ok());
        let Some(order) = id.filter(|order| self.orders.contains_key(order)) else {
            return wrong("a report for no order of ours", raw);
        };
        // The order that is reported last decides whether this one is due.
        if self
            .reported
            .values()
            .next_back()
            .is_some_and(|last| *last >= order)
        {
            return wrong(
                &format!("order {order} has a second report, or one too late"),
                raw,
            );
        }
        self.reported.insert(seq, order);
        Ok(())
    }

    fn send_order(&mut self, wire: &mut Wire) -> Result<(), End> {
        let (id, time) = (self.next_out, timestamp(0, true));
        let body = format!("11={id}|21=1|55=EFX|54=1|60={time}|38=100|40=2|44=101.5|");
        let raw = self.message(self.next_out, "D", &body);
        self.orders.insert(self.next_out, raw.clone());
        self.next_out += 1;
        wire.send(&raw).map_err(|_| End::Broken)
    }

    fn send(&mut self, wire: &mut Wire, kind: &str, body: &str) -> Result<(), End> {
        let raw = self.message(self.next_out, kind, body);
        self.next_out += 1;
        wire.send(&raw).map_err(|_| End::Broken)
    }

    fn message(&self, seq: u64, kind: &str, body: &str) -> Vec<u8> {
        let (time, name) = (timestamp(0, true), &self.name);
        message(&format!(
            "8=FIX.4.2|35={kind}|34={seq}|49={name}|52={time}|56={SENDER}|{body}"
        ))
    }

    /// Resends the requested messages: orders unchanged, the rest as gap fills.
    fn resend(&mut self, wire: &mut Wire, request: &[u8]) -> Result<(), End> {
        let (Some(from), Some(to)) = (number(request, "7"), number(request, "16")) else {
            return Err(End::Wrong(format!(
                "a request without a range: {}",
                show(request)
            )));
        };
        let last = if to == 0 {
            self.next_out - 1
        } else {
            to.min(self.next_out - 1)
        };
        let mut out = Vec::new();
        let mut seq = from;
        while seq <= last {
            match self.orders.get(&seq) {
                Some(order) => {
                    out.extend(repeated(order));
                    seq += 1;
                }
                None => {
                    let next = self
                        .orders
                        .range(seq..=last)
                        .next()
                        .map_or(last + 1, |(order, _)| *order);
                    let time = timestamp(0, true);
                    let body = format!("43=Y|122={time}|123=Y|36={next}|");
                    out.extend(self.message(seq, "4", &body));
                    seq = next;
                }
            }
        }
        wire.send(&out).map_err(|_| End::Broken)
    }

    /// All orders are reported once, in the order in which they were sent.
    fn judge(&self) -> Result<(), String> {
        let reported: Vec<_> = self.reported.values().copied().collect();
        let sent: Vec<_> = self.orders.keys().copied().collect();
        if reported == sent {
            return Ok(());
        }
        let differ = reported
            .iter()
            .zip(&sent)
            .position(|(reported, sent)| reported != sent);
        let at = differ.unwrap_or(reported.len().min(sent.len()));
        Err(format!(
            "{} orders sent, {} reports; report {} is for order {:?}, expected {:?}",
            sent.len(),
            reported.len(),
            at + 1,
            reported.get(at),
            sent.get(at)
        ))
    }
}

/// The fields that stay when a message is resent, in the order of their tags.
pub fn stable(raw: &[u8]) -> Vec<(&[u8], Option<&[u8]>)> {
    let mut kept: Vec<_> = fields(raw)
        .filter(|(tag, _)| !MAY_DIFFER.contains(tag))
        .collect();
    kept.sort();
    kept
}

/// The order once more, marked as a possible duplicate.
fn repeated(order: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(order.len() + 64);
    for (tag, value) in fields(order) {
        let value = value.unwrap_or_default();
        match tag {
            b"9" | b"10" => continue,
            b"52" => {
                let marks = format!(
                    "52={}\u{1}43=Y\u{1}122={}\u{1}",
                    timestamp(0, true),
                    show(value)
                );
                text.extend_from_slice(marks.as_bytes());
                continue;
            }
            _ => {}
        }
        text.extend_from_slice(tag);
        text.push(b'=');
        text.extend_from_slice(value);
        text.push(SOH);
    }
    crate::wire::complete(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_order_is_the_same_but_for_its_marks() {
        let flow = OrderFlow::new("WITNESS", None);
        let order = flow.message(7, "D", "11=7|38=100|");
        let again = repeated(&order);
        assert_eq!(crate::wire::frame_fault(&again), None);
        assert_eq!(stable(&order), stable(&again));
        assert_eq!(value(&again, "122"), value(&order, "52"));
        let other = flow.message(7, "D", "11=7|38=200|");
        assert_ne!(stable(&order), stable(&other));
    }

    #[test]
    fn reports_must_match_the_orders() {
        let mut flow = OrderFlow::new("WITNESS", None);
        for seq in [2, 3, 4] {
            flow.orders.insert(seq, Vec::new());
            flow.reported.insert(seq + 10, seq);
        }
        assert_eq!(flow.judge(), Ok(()));
        flow.reported.insert(14, 3);
        assert!(
            flow.judge()
                .is_err_and(|fault| fault.contains("report 3 is for order Some(3)"))
        );
        flow.reported.remove(&14);
        assert!(flow.judge().is_err_and(|fault| fault.contains("2 reports")));
    }
}
