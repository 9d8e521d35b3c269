//! The messages that a log must have: the journal's, in order.

use std::net::{Shutdown, SocketAddr};
use std::path::Path;
use std::sync::Mutex;

use fixwire::journal::{JournalPosition, Originals, Resent, Tail};
use fixwire::protocol::Timestamp;

use super::{Peer, wait_until};

/// A message of a log or a journal, with `|` for SOH.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Logged {
    pub wall: Timestamp,
    pub incoming: bool,
    pub text: String,
}

/// Every message of a journal, both ways, with times in microseconds as databases have them.
pub fn messages(journal: &Path) -> Vec<Logged> {
    let mut tail = Tail::new(journal, JournalPosition::START);
    let mut originals = Originals::new(journal);
    let mut found = Vec::new();
    while let Some(record) = tail.next_record().expect("a sound journal") {
        let mut add = |incoming, bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes).replace('\x01', "|");
            let wall = Timestamp(record.wall.0 - record.wall.0 % 1000);
            found.push(Logged {
                wall,
                incoming,
                text,
            });
        };
        if record.kind.is_inbound() {
            add(true, record.body);
        }
        let resent = originals.resent(&record, |resent| {
            match resent {
                Resent::Message { bytes, .. } | Resent::GapFill { bytes, .. } => add(false, bytes),
                Resent::Gone { .. } => panic!("{resent:?}"),
            }
            Ok(())
        });
        resent.expect("a sound journal");
        record.effects.for_each(|effect| add(false, effect.bytes));
    }
    found
}

/// Logs on with this number, sends this number of orders, waits for their reports and disconnects
/// without a Logout, until the engine knows it. Returns the next number.
pub fn trade(engine: SocketAddr, seq: u64, orders: u64) -> u64 {
    let mut peer = Peer::log_on(engine, seq);
    for _ in 0..orders {
        peer.send(
            "D",
            &format!("11={}|55=LCOM1|54=1|38=1|40=2|44=200.0|", peer.seq),
        );
    }
    let mut reports = 0;
    while reports < orders {
        let text = peer.receive().expect("a report");
        reports += u64::from(text.contains("|35=8|"));
    }
    // The next one is refused while the engine has this one, so it waits for the engine's end.
    peer.stream.shutdown(Shutdown::Write).expect("shut down");
    while peer.receive().is_some() {}
    peer.seq
}

/// Compares a log with its journal.
#[track_caller]
pub fn assert_same(logged: &[Logged], wanted: &[Logged]) {
    let differs = logged.iter().zip(wanted).position(|(a, b)| a != b);
    let at = differs.unwrap_or(logged.len().min(wanted.len()));
    assert!(
        logged == wanted,
        "{} messages in the log, {} in the journal; number {at} is {:?} instead of {:?}",
        logged.len(),
        wanted.len(),
        logged.get(at),
        wanted.get(at)
    );
}

/// Waits until `read` finds in the log what the journal has.
#[track_caller]
pub fn wait_logged(journal: &Path, read: impl Fn() -> Vec<Logged>) {
    let last = Mutex::new((0, 0));
    wait_until(
        || {
            let (logged, wanted) = (read(), messages(journal));
            *last.lock().unwrap() = (logged.len(), wanted.len());
            logged == wanted
        },
        || format!("{:?} messages in log and journal", last.lock().unwrap()),
    );
}
