//! `--at`: the state of an OMS at an earlier time, from its journal.

use std::path::Path;

use fixwire::journal::{self, JournalPosition, Tail};
use fixwire_oms::event::note_time;
use fixwire_oms::{OmsState, stored_answer};
use fixwire_protocol::{Ledger as _, Timestamp};

use super::answers::{Ask, readable_journal, unreadable, until_whole};
use super::archive::Notes;
use crate::failure::Failure;
use crate::log::moment;
use crate::teller::now;

/// Nanoseconds in a day.
const DAY: i64 = 86_400_000_000_000;

/// A time as a user writes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MomentArg {
    text: String,
    /// Midnight of the date, in nanoseconds since 1970; `None` for today.
    midnight: Option<i64>,
    /// Nanoseconds since midnight.
    since: i64,
}

/// Reads a time: `2026-11-29T14:30:00.123`, or `14:30` for today, both in UTC.
///
/// # Errors
///
/// The text is not a time.
pub(super) fn read_moment(text: &str) -> Result<MomentArg, String> {
    let wrong = || {
        format!(
            "{text} is not a time: write 2026-11-29T14:30:00.123, or 14:30 for today, both in UTC"
        )
    };
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (Some(date), time.strip_suffix('Z').unwrap_or(time)),
        None => (None, text),
    };
    let midnight = match date {
        None => None,
        Some(date) => {
            let lengths = date.split('-').map(str::len);
            let is_date = lengths.eq([4, 2, 2]);
            let digits = date.replace('-', "");
            let at = Timestamp::parse(format!("{digits}-00:00:00").as_bytes());
            Some(at.ok().filter(|_| is_date).ok_or_else(wrong)?.0)
        }
    };
    let (clock, fraction) = match time.find('.') {
        Some(at) => (&time[..at], &time[at + 1..]),
        None => (time, ""),
    };
    let is_short = clock.len() == 5;
    let is_fraction =
        (1..=9).contains(&fraction.len()) && fraction.bytes().all(|it| it.is_ascii_digit());
    if time.contains('.') && (is_short || !is_fraction) {
        return Err(wrong());
    }
    let seconds = if is_short { ":00" } else { "" };
    // The date does not matter here.
    let at = Timestamp::parse(format!("20260101-{clock}{seconds}.{fraction:0<9}").as_bytes());
    Ok(MomentArg {
        text: text.to_owned(),
        midnight,
        since: at.map_err(|_| wrong())?.0.rem_euclid(DAY),
    })
}

impl MomentArg {
    /// The time that a flag names, when the present time is `now`.
    ///
    /// # Errors
    ///
    /// The time is in the future.
    pub(super) fn at(&self, flag: &str, now: Timestamp) -> Result<Timestamp, Failure> {
        let midnight = self.midnight.unwrap_or(now.0 - now.0.rem_euclid(DAY));
        let at = Timestamp(midnight.saturating_add(self.since));
        match at > now {
            true => Err(Failure::Text(format!(
                "{flag} {} (UTC) is in the future: the present time is {}",
                self.text,
                moment(now)
            ))),
            false => Ok(at),
        }
    }
}

/// The state of an OMS at a given time.
pub(super) struct StateThen {
    state: OmsState,
}

impl StateThen {
    /// Reads the newest checkpoint before the time, and the notes from there up to the time.
    ///
    /// # Errors
    ///
    /// The journal cannot be read, or begins after the time.
    pub(super) fn read(ask: &Ask, at: &MomentArg) -> Result<Self, Failure> {
        let at = at.at("--at", now())?;
        let store = readable_journal(ask)?;
        let state = state_from(&store, at, |start| start.follow_events(at))?;
        Ok(Self { state })
    }

    /// Answers a query of `orders`, `positions` or `limits`.
    ///
    /// # Errors
    ///
    /// As for a query to a running OMS.
    pub(super) fn answer(&self, query: &str) -> Result<String, Failure> {
        stored_answer(&self.state, query).map_err(Failure::Text)
    }
}

/// The state of an OMS after the last event that its journal recorded at or before a time.
///
/// # Errors
///
/// The journal cannot be read, or begins after the time.
pub(super) fn state_at(store: &Path, at: Timestamp) -> Result<OmsState, Failure> {
    state_from(store, at, |start| start.follow(at, |_, _| ()))
}

/// The state from which `follow` applies notes, beginning with the newest checkpoint before a time.
fn state_from(
    store: &Path,
    at: Timestamp,
    follow: impl Fn(&mut Start) -> Result<bool, Failure>,
) -> Result<OmsState, Failure> {
    until_whole(|| match Start::find(store, at)? {
        Found::Start(mut start) => {
            let is_whole = follow(&mut start)?;
            Ok(is_whole.then_some(start.state))
        }
        Found::KnownFrom(from) => Err(Failure::Text(format!(
            "the state at {} is not known: the journal {} has it {} (JournalKeep)",
            moment(at),
            store.display(),
            from.map_or_else(
                || "at no time".to_owned(),
                |from| format!("from {} on", moment(from))
            ),
        ))),
    })
}

/// The time from which on the state of an OMS is known; `None` when its journal has all events.
///
/// # Errors
///
/// The journal cannot be read.
pub(super) fn known_from(store: &Path) -> Result<Option<Timestamp>, Failure> {
    if has_first_note(store)? {
        return Ok(None);
    }
    match Start::find(store, Timestamp(i64::MIN))? {
        Found::KnownFrom(Some(from)) => Ok(Some(from)),
        Found::KnownFrom(None) => Err(Failure::Text(format!(
            "the journal {} no longer has its first messages (JournalKeep), and has no checkpoint",
            store.display()
        ))),
        Found::Start(_) => Ok(None),
    }
}

/// The time at which the newest trading day of an OMS began; `None` when its journal does not have this event.
///
/// # Errors
///
/// The journal cannot be read.
pub(super) fn day_began(store: &Path) -> Result<Option<Timestamp>, Failure> {
    until_whole(|| {
        let (mut end, mut until) = (Timestamp(i64::MAX), Timestamp(i64::MAX));
        loop {
            let Found::Start(mut start) = Start::find(store, until)? else {
                return Ok(Some(None));
            };
            let (mut day, mut began) = (start.state.day(), None);
            let is_whole = start.follow(end, |state, at| {
                if state.day() != day {
                    (day, began) = (state.day(), Some(at));
                }
            })?;
            match start.from {
                _ if !is_whole => return Ok(None),
                // The day began before this checkpoint, so an older checkpoint may be of the day before.
                Some(from) if began.is_none() => (end, until) = (from, Timestamp(from.0 - 1)),
                _ => return Ok(Some(began)),
            }
        }
    })
}

/// The journal's knowledge about the state at a time.
enum Found {
    Start(Box<Start>),
    /// Only later states are known, from this time on; `None` if no state is known.
    KnownFrom(Option<Timestamp>),
}

/// Where reading begins: a state and the records after it.
struct Start {
    state: OmsState,
    /// The time of the first record after the state; `None` at the beginning of the journal.
    from: Option<Timestamp>,
    notes: Notes,
    /// The number of the last note in the state.
    note: u64,
    tail: Tail,
}

impl Start {
    /// Applies the notes up to a time. Calls `after` with the state after each record. Returns false when segments were
    /// removed before they were read.
    fn follow(
        &mut self,
        until: Timestamp,
        mut after: impl FnMut(&OmsState, Timestamp),
    ) -> Result<bool, Failure> {
        let first = self.note;
        while let Some(record) = self.tail.next_record().map_err(unreadable)? {
            if record.wall > until {
                break;
            }
            let later = self.notes.of(&record).filter(|(number, _)| *number > first);
            for (number, note) in later {
                if number != self.note + 1 {
                    return Ok(false);
                }
                self.note = number;
                self.state.apply_note(note);
            }
            after(&self.state, record.wall);
        }
        Ok(self.is_whole())
    }

    /// Applies the notes of the events up to a time. The record of an event is later than the event, whose time
    /// histories and tables show. Returns false when segments were removed before they were read.
    fn follow_events(&mut self, until: Timestamp) -> Result<bool, Failure> {
        let first = self.note;
        'records: while let Some(record) = self.tail.next_record().map_err(unreadable)? {
            let later = self.notes.of(&record).filter(|(number, _)| *number > first);
            for (number, note) in later {
                if number != self.note + 1 {
                    return Ok(false);
                }
                if note_time(note).is_some_and(|at| at > until) {
                    break 'records;
                }
                self.note = number;
                self.state.apply_note(note);
            }
        }
        Ok(self.is_whole())
    }

    /// Whether no segment was removed before it was read. The notes up to the time may have been in these segments,
    /// with no note after them.
    fn is_whole(&self) -> bool {
        self.from.is_none() || self.tail.missed().is_none()
    }

    /// Finds where to begin to read for the state at a time: at the newest checkpoint before that time.
    fn find(store: &Path, at: Timestamp) -> Result<Found, Failure> {
        let (mut before, mut known_from) = (u64::MAX, None);
        // The search begins with the newest checkpoint.
        while let Some(found) = journal::state_before(store, OmsState::default().form().0, before)
            .map_err(unreadable)?
        {
            let from = first_time(store, found.behind)?;
            if from.is_some_and(|from| from <= at) {
                let mut state = OmsState::default();
                let read = state.read(found.version, &found.state);
                read.map_err(|why| {
                    Failure::Text(format!("{}: a checkpoint: {why}", store.display()))
                })?;
                return Ok(Found::Start(Box::new(Self {
                    state,
                    from,
                    notes: Notes::of_session(found.notes),
                    note: found.note,
                    tail: Tail::new(store, found.behind),
                })));
            }
            (before, known_from) = (found.note, from);
        }
        let begins = first_time(store, JournalPosition::START)?;
        if has_first_note(store)? {
            known_from = begins;
        }
        Ok(match known_from {
            Some(from) if from <= at => Found::Start(Box::new(Self {
                state: OmsState::default(),
                from: None,
                notes: Notes::default(),
                note: 0,
                tail: Tail::new(store, JournalPosition::START),
            })),
            from => Found::KnownFrom(from),
        })
    }
}

/// The time of the first record after a position.
fn first_time(store: &Path, from: JournalPosition) -> Result<Option<Timestamp>, Failure> {
    let mut tail = Tail::new(store, from);
    let record = tail.next_record().map_err(unreadable)?;
    Ok(record.map(|record| record.wall))
}

/// Whether the first note is still in the journal, or none was written.
fn has_first_note(store: &Path) -> Result<bool, Failure> {
    let (mut tail, mut notes) = (Tail::new(store, JournalPosition::START), Notes::default());
    while let Some(record) = tail.next_record().map_err(unreadable)? {
        if let Some((number, _)) = notes.of(&record).next() {
            return Ok(number == 1);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    /// 2026-11-29T14:30:00 UTC.
    const NOW: i64 = 1_795_962_600 * SECOND;

    #[test]
    fn moments_are_times_of_a_date_or_of_today() {
        for (text, back) in [
            ("14:30", 0),
            ("14:29:59", SECOND),
            ("2026-11-29T14:30", 0),
            ("2026-11-29T14:29:59.5Z", SECOND / 2),
            ("2026-11-28T14:30:00.000", DAY),
            ("14:29:59.999999999", 1),
        ] {
            let at = read_moment(text).unwrap().at("--at", Timestamp(NOW));
            assert_eq!(at.unwrap(), Timestamp(NOW - back), "{text}");
        }
        let later = read_moment("14:31").unwrap().at("--at", Timestamp(NOW));
        let later = later.unwrap_err().to_string();
        assert!(
            later.contains("--at 14:31 (UTC) is in the future"),
            "{later}"
        );
        for text in [
            "",
            "now",
            "14",
            "25:00",
            "14:30.5",
            "14:30:00.",
            "14:30:00.x",
            "2026-11-29",
            "2026-13-01T10:00",
            "20261129T10:00",
            "2026-1129-T10:00",
            "T10:00",
        ] {
            let wrong = read_moment(text).unwrap_err();
            let wanted = "is not a time: write 2026-11-29T";
            assert!(wrong.contains(wanted), "{text}: {wrong}");
        }
    }
}
