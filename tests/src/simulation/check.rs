//! Invariants of a journal, judged by everything that the peers have seen and sent.
//!
//! The numbers in the messages refer to the invariants of one node: A1 write before wire, A2 one number one message, A3
//! no unnoticed gap, A4 a cause and its effects together, A5 duplicates have no effect, A7 unreadable is not empty, A8
//! torn end and damaged middle, A9 old bytes are nothing.

use std::collections::{HashMap, HashSet};

use fixwire::journal::sim::SimDisk;
use fixwire::journal::{
    Journal, JournalConfig, JournalError, JournalPosition, Record, RecordKind, SequenceCounters,
    is_notes,
};
use fixwire::protocol::Timestamp;
use fixwire::protocol::outbox::stored_note;

use super::frames::essence;
use super::peer::Peer;
use crate::wire::{number, show, value};

/// The number of reports that the application writes for an order of this quantity; a fourth is refused.
pub fn reports_wanted(quantity: u64) -> u64 {
    match quantity {
        2 | 5 => 1,
        3 => 2,
        _ => 0,
    }
}

/// Whether the application notifies the other session of an order of this quantity.
pub fn crosses(quantity: u64) -> bool {
    quantity == 5
}

/// One session, up to the records that have been read.
struct Row<'a> {
    peer: &'a Peer,
    before: SequenceCounters,
    sent: HashSet<&'a [u8]>,
    bare: HashSet<Vec<u8>>,
    numbers: HashMap<(u32, u64), &'a [u8]>,
    done: HashSet<&'a [u8]>,
}

/// The messages of one record.
#[derive(Default)]
struct Left<'a> {
    reports: u64,
    crossed: Option<&'a [u8]>,
    noted: Option<&'a [u8]>,
}

impl<'a> Row<'a> {
    fn new(peer: &'a Peer) -> Self {
        Self {
            peer,
            before: SequenceCounters::NEW,
            sent: HashSet::new(),
            bare: HashSet::new(),
            numbers: HashMap::new(),
            done: HashSet::new(),
        }
    }

    /// A message that left for this session, which must have the next number.
    fn effect(&mut self, epoch: u32, seq: u64, bytes: &'a [u8]) -> Result<(), String> {
        let next_out = self.before.next_out;
        if seq != next_out || number(bytes, "34") != Some(next_out) {
            let found = show(bytes);
            return Err(format!(
                "A2: number {next_out} is next, the journal has {found}"
            ));
        }
        self.before.next_out += 1;
        if let Some(first) = self.numbers.insert((epoch, seq), bytes) {
            return Err(format!("A2: {} and {}", show(first), show(bytes)));
        }
        self.sent.insert(bytes);
        if !self.peer.repeated.is_empty() {
            self.bare.insert(essence(bytes));
        }
        Ok(())
    }

    /// An order that the application has handled, by its record.
    fn handled(&mut self, order: &'a [u8]) -> Result<(&'a [u8], u64), String> {
        let id = value(order, "11").unwrap_or_default();
        let known = std::str::from_utf8(id)
            .ok()
            .and_then(|id| self.peer.orders.get(id));
        let sent = known.filter(|&&quantity| number(order, "38") == Some(quantity));
        let Some(&quantity) = sent else {
            return Err(format!("A4: nobody sent {}", show(order)));
        };
        if !self.done.insert(id) {
            return Err(format!("A4: twice: {}", show(order)));
        }
        Ok((id, quantity))
    }

    /// The counters of the record, and the handled order in it.
    fn count(
        &mut self,
        record: &Record<'a>,
        inbound: Option<&'a [u8]>,
        next_in: u64,
        left: &Left<'_>,
    ) -> Result<Option<(&'a [u8], u64)>, String> {
        let (to, body) = (record.counters.next_in, inbound.unwrap_or_default());
        let is_message = inbound.is_some();
        let kind = value(body, "35").unwrap_or_default();
        if to == 0 {
            // A reset waits for its answer, and the old numbers count on, unseen: an order shows in the messages that
            // it caused.
            let shows = left.reports > 0 || left.noted.is_some();
            return (is_message && kind == b"D" && shows)
                .then(|| self.handled(body))
                .transpose();
        }
        if next_in == 0 {
            return if is_message && kind == b"A" && value(body, "141") == Some(b"Y") {
                Ok(None)
            } else {
                Err(format!(
                    "A3: a reset was not answered and is forgotten, {to} is next, by {}",
                    show(body)
                ))
            };
        }
        if to < next_in {
            return Err(format!("A3: next_in goes back from {next_in} to {to}"));
        }
        // Logons and ResendRequests above a gap are acted on at once, and counted when it is closed.
        let counted = |own: u64| {
            let mut counted = next_in..to;
            counted.all(|at| at == own || self.peer.urgent.contains(&at))
        };
        if !is_message {
            return if counted(0) {
                Ok(None)
            } else {
                Err(format!("A3: {next_in} was next, then {to}, for no message"))
            };
        }
        let seq = number(body, "34").unwrap_or_default();
        if kind != b"4" && !counted(seq) {
            let body = show(body);
            return Err(format!("A3: {next_in} was next, then {to}, by {body}"));
        }
        if kind == b"D" && to > seq && next_in <= seq {
            return self.handled(body).map(Some);
        }
        Ok(None)
    }

    /// Messages that the peer has seen are in the journal.
    fn look(&self, is_end: bool) -> Result<(), String> {
        for raw in self.peer.seen.values() {
            if value(raw, "35") != Some(b"4") && !self.sent.contains(raw.as_slice()) {
                return Err(format!(
                    "A1: the peer has {}, the journal has not",
                    show(raw)
                ));
            }
        }
        if let Some(raw) = self
            .peer
            .repeated
            .values()
            .find(|raw| !self.bare.contains(*raw))
        {
            return Err(format!(
                "A1: the peer has a repetition of {}, the journal has not",
                show(raw)
            ));
        }
        let mut orders = self.peer.current_orders();
        match orders.find(|id| is_end && !self.done.contains(id.as_bytes())) {
            Some(id) => Err(format!("A3: order {id} was counted and never delivered")),
            None => Ok(()),
        }
    }
}

/// Checks A1 to A5 on a copy of the disk; at the end every order must be there. Returns the counters of the sessions,
/// one for each peer.
///
/// Retired and removed segments are read as well, so every checkpoint is also checked against the records
/// before it.
///
/// # Errors
///
/// The first invariant that does not hold.
pub fn journal(
    disk: &SimDisk,
    config: JournalConfig,
    peers: &[Peer],
    keeps_notes: bool,
    is_end: bool,
) -> Result<Vec<SequenceCounters>, String> {
    let open = |disk| {
        Journal::open(disk, config)
            .map(|(journal, _)| journal)
            .map_err(|error| format!("the journal does not open: {error}"))
    };
    let mut journal = open(disk.copy_unretired())?;
    let mut rows: Vec<Row<'_>> = peers.iter().map(Row::new).collect();
    let mut notes = 0;
    let reading = journal
        .reading()
        .map_err(|error| format!("the journal cannot be read: {error}"))?;
    for record in reading.records(JournalPosition::START) {
        let own = record.session.0 as usize;
        if own >= rows.len() {
            continue;
        }
        let (before, after) = (rows[own].before, record.counters);
        let mut next_in = before.next_in;
        if after.epoch != before.epoch {
            next_in = 1;
            rows[own].before.next_out = 1;
        }
        let mut left = Left::default();
        for effect in record.effects {
            let session = effect.session.0 as usize;
            if session >= rows.len() {
                // A note of the application: the only record that belongs to no session.
                notes += 1;
                if effect.seq != notes || left.noted.is_some() {
                    return Err(format!("A2: note {notes} is next, then {}", effect.seq));
                }
                let note = stored_note(effect.bytes);
                left.noted = note.and_then(|(_, note)| value(note, "11"));
                continue;
            }
            let epoch = if session == own {
                after.epoch
            } else {
                rows[session].before.epoch
            };
            rows[session].effect(epoch, effect.seq, effect.bytes)?;
            let kind = value(effect.bytes, "35");
            if session == own {
                left.reports += u64::from(matches!(kind, Some(b"8" | b"j")));
            } else if let Some(id) = value(effect.bytes, "11")
                && left.crossed.replace(id).is_some()
            {
                return Err(format!("A4: told twice: {}", show(effect.bytes)));
            }
        }
        let row = &mut rows[own];
        let next_out = row.before.next_out;
        if after.next_out != next_out {
            return Err(format!(
                "A2: {next_out} is next, the record says {}",
                after.next_out
            ));
        }
        let inbound = reading.inbound(&record);
        let inbound = inbound.filter(|_| record.kind != RecordKind::Queued);
        let order = row.count(&record, inbound, next_in, &left)?;
        row.before = after;
        // A session whose reset waits for its answer refuses application messages while it has no connection.
        let others = rows.iter().enumerate().filter(|(at, _)| *at != own);
        let may_refuse = others
            .map(|(_, row)| row)
            .any(|row| row.before.next_in == 0);
        together(&record, order, &left, (keeps_notes, may_refuse))?;
    }
    for row in &rows {
        row.look(is_end)?;
    }
    let known: Vec<SequenceCounters> = rows.iter().map(|row| row.before).collect();
    let whole = open(disk.copy())?;
    for ((_, _, counters), before) in whole.sessions().zip(&known) {
        if counters != *before {
            return Err(format!(
                "A2: from its checkpoint the journal ends with {counters:?}, as a whole with {before:?}"
            ));
        }
    }
    Ok(known)
}

/// A4: an order and all its effects are in one record.
fn together(
    record: &Record<'_>,
    order: Option<(&[u8], u64)>,
    left: &Left<'_>,
    (keeps_notes, may_refuse): (bool, bool),
) -> Result<(), String> {
    let (id, quantity) = order.unzip();
    let quantity = quantity.unwrap_or_default();
    let wanted = reports_wanted(quantity) + u64::from(quantity == 4);
    let what = if left.reports != wanted {
        format!("{} reports instead of {wanted}", left.reports)
    } else if left.noted != id.filter(|_| keeps_notes) {
        format!("{id:?} was handled, noted is {:?}", left.noted)
    } else if left.crossed != id.filter(|_| crosses(quantity))
        && !(may_refuse && left.crossed.is_none())
    {
        let crossed = left.crossed;
        format!("{id:?} was handled, the other session received reports of {crossed:?}")
    } else {
        return Ok(());
    };
    Err(format!("A4: {what}: {}", show(record.body)))
}

/// The orders that the application has noted, in the order of their records.
///
/// # Errors
///
/// The reason why the journal cannot be opened.
pub fn noted(
    disk: &SimDisk,
    config: JournalConfig,
    peers: usize,
) -> Result<Vec<Vec<u8>>, JournalError> {
    let (mut journal, _) = Journal::open(disk.copy(), config)?;
    let mut orders = Vec::new();
    for record in journal.reading()?.records(JournalPosition::START) {
        let notes = record
            .effects
            .filter(|effect| effect.session.0 as usize >= peers);
        let notes = notes.filter_map(|effect| stored_note(effect.bytes));
        orders.extend(notes.filter_map(|(_, note)| Some(value(note, "11")?.to_vec())));
    }
    Ok(orders)
}

/// All notes that an application ever kept, with the notes in retired segments, and when it kept them.
///
/// # Errors
///
/// The reason why the journal cannot be opened.
pub fn all_notes(
    disk: &SimDisk,
    config: JournalConfig,
) -> Result<Vec<(Timestamp, Vec<u8>)>, JournalError> {
    let (mut journal, _) = Journal::open(disk.copy_unretired(), config)?;
    let id = journal.sessions().find(|known| is_notes(known.1));
    let id = id.map(|(id, ..)| id);
    let mut notes = Vec::new();
    for record in journal.reading()?.records(JournalPosition::START) {
        let kept = record.effects.filter(|effect| Some(effect.session) == id);
        let kept = kept.filter_map(|effect| stored_note(effect.bytes));
        notes.extend(kept.map(|(at, note)| (at, note.to_vec())));
    }
    Ok(notes)
}

/// Prints the content of a journal, for a person who looks for the reason of a failure.
pub fn print(disk: &SimDisk, config: JournalConfig) {
    match Journal::open(disk.copy_unretired(), config) {
        Ok((mut journal, _)) => {
            for record in journal.reading().unwrap().records(JournalPosition::START) {
                println!(
                    "{:?} {:?} {:?} {}",
                    record.session,
                    record.kind,
                    record.counters,
                    show(record.body)
                );
                record
                    .effects
                    .for_each(|effect| println!("    {}", show(effect.bytes)));
            }
        }
        Err(error) => println!("{error}"),
    }
}
