//! What must hold of a journal, judged against everything the peer has seen and sent.
//!
//! The numbers in the messages are those of the invariants of one node: A1 write before wire, A2 one
//! number one message, A3 no unnoticed gap, A4 a cause and its effects together, A5 duplicates have
//! no effect, A7 unreadable is not empty, A8 torn end and damaged middle, A9 old bytes are nothing.

use std::collections::{HashMap, HashSet};

use fixwire::journal::sim::SimDisk;
use fixwire::journal::{Config, Counters, Journal, JournalError, Kind, Position};

use super::peer::{Peer, essence};
use crate::random::Random;
use crate::wire::{number, show, value};

/// What a journal holds, apart from where it holds it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Image {
    /// One digest for each record, in order; a session's registration is not counted.
    pub records: Vec<u64>,
    /// Sessions that are registered.
    pub sessions: usize,
    /// Behind the last record.
    pub end: Position,
    /// Counters of the first session.
    pub counters: Counters,
}

/// How many reports the application writes for an order of this quantity; a fourth is refused.
pub fn reports_wanted(quantity: u64) -> u64 {
    match quantity {
        2 => 1,
        3 => 2,
        _ => 0,
    }
}

/// Opens a copy of the disk and reads what it holds.
///
/// # Errors
///
/// Why it cannot be opened.
pub fn image(disk: &SimDisk, config: Config) -> Result<Image, JournalError> {
    let (journal, _) = Journal::open(disk.copy(), config)?;
    let mut records = Vec::new();
    for record in journal.records(Position::START) {
        if matches!(record.kind, Kind::Session | Kind::Carried) {
            continue;
        }
        let mut digest = Digest::default();
        digest.add(record.body);
        for effect in record.effects {
            digest.add(&effect.seq.to_le_bytes());
            digest.add(effect.bytes);
        }
        let Counters {
            next_in,
            next_out,
            epoch,
        } = record.counters;
        for number in [
            next_in,
            next_out,
            u64::from(epoch),
            record.wall.0.cast_unsigned(),
        ] {
            digest.add(&number.to_le_bytes());
        }
        records.push(digest.0);
    }
    let counters = journal
        .sessions()
        .next()
        .map_or(Counters::NEW, |(_, _, counters)| counters);
    let sessions = journal.sessions().count();
    Ok(Image {
        records,
        sessions,
        end: journal.end(),
        counters,
    })
}

/// FNV-1a over eight bytes at a time: enough to tell records apart.
#[derive(Default)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        let mut mix = |word: u64| {
            self.0 = (self.0 ^ word)
                .wrapping_mul(0x0000_0100_0000_01B3)
                .rotate_left(29);
        };
        mix(bytes.len() as u64);
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            mix(u64::from_le_bytes(word));
        }
    }
}

/// Checks A1 to A5 on a copy of the disk; at the end every order must be there.
///
/// Retired segments are read as well: none is ever removed here, so every checkpoint is also held
/// against the records before it.
///
/// # Errors
///
/// The first thing that does not hold.
pub fn journal(
    disk: &SimDisk,
    config: Config,
    peer: &Peer,
    keeps_notes: bool,
    is_end: bool,
) -> Result<Counters, String> {
    let open = |disk| {
        Journal::open(disk, config)
            .map(|(journal, _)| journal)
            .map_err(|error| format!("the journal does not open: {error}"))
    };
    let journal = open(disk.copy_unretired())?;
    let mut sent: HashSet<&[u8]> = HashSet::new();
    let mut bare: HashSet<Vec<u8>> = HashSet::new();
    let mut numbers: HashMap<(u32, u64), &[u8]> = HashMap::new();
    let mut done: HashSet<&[u8]> = HashSet::new();
    let (mut before, mut notes) = (Counters::NEW, 0);
    for record in journal.records(Position::START) {
        if record.session.0 > 0 {
            continue;
        }
        let after = record.counters;
        let epoch_began = after.epoch != before.epoch;
        let (mut next_out, next_in) = if epoch_began {
            (1, 1)
        } else {
            (before.next_out, before.next_in)
        };
        if after.next_in < next_in {
            return Err(format!(
                "A3: next_in goes back from {next_in} to {}",
                after.next_in
            ));
        }
        let (mut reports, mut noted) = (0, None);
        for effect in record.effects {
            // A note of the application: the only thing that is no session's.
            if effect.session != record.session {
                notes += 1;
                if effect.seq != notes || noted.is_some() {
                    return Err(format!("A2: note {notes} is next, then {}", effect.seq));
                }
                noted = value(effect.bytes, "11");
                continue;
            }
            if effect.seq != next_out || number(effect.bytes, "34") != Some(next_out) {
                let found = show(effect.bytes);
                return Err(format!(
                    "A2: number {next_out} is next, the journal has {found}"
                ));
            }
            next_out += 1;
            if let Some(first) = numbers.insert((after.epoch, effect.seq), effect.bytes) {
                return Err(format!("A2: {} and {}", show(first), show(effect.bytes)));
            }
            sent.insert(effect.bytes);
            if !peer.repeated.is_empty() {
                bare.insert(essence(effect.bytes));
            }
            reports += u64::from(matches!(value(effect.bytes, "35"), Some(b"8" | b"j")));
        }
        if after.next_out != next_out {
            return Err(format!(
                "A2: {next_out} is next, the record says {}",
                after.next_out
            ));
        }
        let (mut wanted, mut handled) = (0, None);
        // Logons and ResendRequests above a gap are acted on at once, and counted when it is closed.
        let counted = |own: u64| {
            let mut counted = next_in..after.next_in;
            counted.all(|at| at == own || peer.urgent.contains(&at))
        };
        let inbound = journal.inbound(&record);
        if let Some(body) = inbound.filter(|_| record.kind != Kind::Queued) {
            let seq = number(body, "34").unwrap_or_default();
            let kind = value(body, "35").unwrap_or_default();
            if kind != b"4" && !counted(seq) {
                let (to, body) = (after.next_in, show(body));
                return Err(format!("A3: {next_in} was next, then {to}, by {body}"));
            }
            if kind == b"D" && after.next_in > seq && next_in <= seq {
                let id = value(body, "11").unwrap_or_default();
                let known = std::str::from_utf8(id)
                    .ok()
                    .and_then(|id| peer.orders.get(id));
                let sent = known.filter(|&&quantity| number(body, "38") == Some(quantity));
                let Some(&quantity) = sent else {
                    return Err(format!("A4: nobody sent {}", show(body)));
                };
                if !done.insert(id) {
                    return Err(format!("A4: twice: {}", show(body)));
                }
                wanted = reports_wanted(quantity) + u64::from(quantity == 4);
                handled = Some(id).filter(|_| keeps_notes);
            }
        } else if !counted(0) {
            let to = after.next_in;
            return Err(format!("A3: {next_in} was next, then {to}, for no message"));
        }
        if reports != wanted {
            let body = show(record.body);
            return Err(format!(
                "A4: {reports} reports instead of {wanted} for {body}"
            ));
        }
        if noted != handled {
            let body = show(record.body);
            return Err(format!(
                "A4: {handled:?} was handled, noted is {noted:?}: {body}"
            ));
        }
        before = after;
    }
    for raw in peer.seen.values() {
        if value(raw, "35") != Some(b"4") && !sent.contains(raw.as_slice()) {
            return Err(format!(
                "A1: the peer has {}, the journal has not",
                show(raw)
            ));
        }
    }
    if let Some(raw) = peer.repeated.values().find(|raw| !bare.contains(*raw)) {
        return Err(format!(
            "A1: the peer has a repetition of {}, the journal has not",
            show(raw)
        ));
    }
    if is_end
        && let Some(id) = peer
            .current_orders()
            .find(|id| !done.contains(id.as_bytes()))
    {
        return Err(format!("A3: order {id} was counted and never delivered"));
    }
    if let Some((_, _, counters)) = open(disk.copy())?.sessions().next()
        && counters != before
    {
        return Err(format!(
            "A2: from its checkpoint the journal ends with {counters:?}, as a whole with {before:?}"
        ));
    }
    Ok(before)
}

/// The orders that the application has noted, in the order of their records.
///
/// # Errors
///
/// Why the journal cannot be opened.
pub fn noted(disk: &SimDisk, config: Config) -> Result<Vec<Vec<u8>>, JournalError> {
    let (journal, _) = Journal::open(disk.copy(), config)?;
    let mut orders = Vec::new();
    for record in journal.records(Position::START) {
        let notes = record.effects.filter(|effect| effect.session.0 > 0);
        orders.extend(notes.filter_map(|effect| Some(value(effect.bytes, "11")?.to_vec())));
    }
    Ok(orders)
}

/// Prints what a journal holds, for a person who looks for the reason of a failure.
pub fn print(disk: &SimDisk, config: Config) {
    match Journal::open(disk.copy_unretired(), config) {
        Ok((journal, _)) => {
            for record in journal.records(Position::START) {
                println!(
                    "{:?} {:?} {}",
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

/// Damages copies of the disk: each must be refused, unchanged, or be the same journal without
/// what could be the unfinished end.
///
/// # Errors
///
/// The first damage that went unnoticed.
pub fn damage(disk: &SimDisk, config: Config, random: &mut Random) -> Result<(), String> {
    let whole = match image(disk, config) {
        Ok(whole) => whole,
        Err(error) => return Err(format!("A7: the journal does not open: {error}")),
    };
    let segments: Vec<u32> = (1..)
        .take_while(|&number| disk.read(number).is_some())
        .collect();
    if whole.records.is_empty() {
        return Ok(());
    }
    let copy = disk.copy();
    let kind = random.below(3);
    let number = match kind {
        1 => whole.end.segment(),
        _ => segments[random.below(segments.len() as u64) as usize],
    };
    let mut bytes = copy.read(number).unwrap_or_default();
    let used = bytes
        .iter()
        .rposition(|&byte| byte != 0)
        .map_or(0, |last| last + 1);
    let what = match kind {
        0 => {
            let at = random.below((used + 64).min(bytes.len()) as u64) as usize;
            bytes[at] ^= 1 << random.below(8);
            format!("A7: a bit of byte {at} of segment {number} flipped")
        }
        1 => {
            // Old records behind the last one, as in a segment that was used before.
            let at = whole.end.offset() as usize;
            let room = bytes.len() - at;
            let old: Vec<u8> = bytes[64..used.max(64)].to_vec();
            let len = old.len().min(room);
            bytes[at..at + len].copy_from_slice(&old[..len]);
            format!("A9: old records at byte {at} of segment {number}")
        }
        _ => {
            let from = random.below(used.max(1) as u64) as usize / 512 * 512;
            let to = (from + 512).min(bytes.len());
            bytes[from..to].fill(0);
            format!("A8: bytes {from} to {to} of segment {number} are zeros")
        }
    };
    copy.write(number, Some(bytes.clone()));
    match image(&copy, config) {
        Ok(found) if found == whole => Ok(()),
        Ok(found) => {
            let kept = found.records.len();
            let is_start = whole.records.starts_with(&found.records);
            let unregistered = whole.sessions.saturating_sub(found.sessions);
            let lost = whole.records.len() - kept.min(whole.records.len()) + unregistered;
            // One changed byte can only be in one record, and only the last may be cut off. A hole
            // takes all records that it touches, and with durability `disk` those that no sync
            // had covered.
            let allowed = match kind {
                0 => lost <= 1,
                1 => lost == 0,
                _ => config.synced_before_sent || lost <= 8,
            };
            if is_start && allowed && found.sessions <= whole.sessions {
                Ok(())
            } else {
                let records = whole.records.len();
                Err(format!(
                    "{what}: {kept} of {records} records are left, the same: {is_start}"
                ))
            }
        }
        Err(JournalError::Damaged(_)) => {
            // Opened itself this time, not a copy: nothing may have changed.
            let refused = Journal::open(copy.clone(), config).is_err();
            let unchanged = segments.iter().all(|&other| {
                let now = copy.read(other);
                if other == number {
                    now.as_ref() == Some(&bytes)
                } else {
                    now == disk.read(other)
                }
            });
            if refused && unchanged {
                Ok(())
            } else {
                Err(format!("{what}: refused, but changed"))
            }
        }
        Err(error) => Err(format!("{what}: {error}")),
    }
}
