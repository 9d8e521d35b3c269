//! The state before a trading day, in a file beside the folders of the days. This file keeps that state, because the
//! journal keeps only its newest checkpoints. On a busy day, all of these may be of the day itself when the day ends.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use fixwire::journal::{self, JournalPosition, Tail};
use fixwire_oms::OmsState;
use fixwire_protocol::Ledger as _;

use super::super::answers::unreadable;
use super::super::archive::Notes;
use super::files::not_written;
use super::files::shown;
use crate::failure::Failure;

/// The prefix of the date in the name of a file.
const NAME: &str = ".begin-";
/// Maximum length of the first line.
const LONGEST: u64 = 100;

fn path(folder: &Path, date: u32) -> PathBuf {
    folder.join(format!("{NAME}{}", shown(date)))
}

/// The first line of a file: the form and version of the state, the number of the state's last note, and the hash of
/// the state.
fn head(state: &OmsState, note: u64) -> String {
    let (name, version) = state.form();
    format!("{name} {version} {note} {:016x}\n", state.hash())
}

/// Whether a first line is of a state with this form and version, and with this last note.
fn is_of(line: &str, note: u64) -> bool {
    let (name, version) = OmsState::default().form();
    line.starts_with(&format!("{name} {version} {note} "))
}

/// The first line of a file; empty if it cannot be read.
fn first_line(path: &Path) -> String {
    let mut line = String::new();
    let read =
        File::open(path).and_then(|file| BufReader::new(file.take(LONGEST)).read_line(&mut line));
    read.map_or_else(|_| String::new(), |_| line)
}

/// Whether the state before the note `first` is kept. `first` is the first note of the day.
fn is_kept(path: &Path, first: u64) -> bool {
    is_of(&first_line(path), first.saturating_sub(1))
}

/// The number of the note after the kept state of a day; `None` if no state is kept.
#[cfg(feature = "postgresql")]
pub(in crate::oms) fn first_after(folder: &Path, date: u32) -> Option<u64> {
    let line = first_line(&path(folder, date));
    let note: u64 = line.split(' ').nth(2)?.parse().ok()?;
    Some(note + 1)
}

/// Keeps this state as the state before `first`, the first note of a day. Does nothing if that state is kept already.
///
/// # Errors
///
/// The file cannot be written.
#[cfg(feature = "postgresql")]
pub(in crate::oms) fn keep_state(
    folder: &Path,
    date: u32,
    first: u64,
    state: &OmsState,
) -> Result<(), Failure> {
    let path = path(folder, date);
    if is_kept(&path, first) {
        return Ok(());
    }
    let written = write(&path, folder, state, first.saturating_sub(1));
    written.map_err(|error| not_written(&path, &error))
}

/// The kept state before the note `first`; `None` if it is missing or cannot be used.
pub(in crate::oms) fn read(folder: &Path, date: u32, first: u64) -> Option<OmsState> {
    let bytes = fs::read(path(folder, date)).ok()?;
    let end = bytes.iter().position(|byte| *byte == b'\n')? + 1;
    let line = str::from_utf8(&bytes[..end]).ok()?;
    let note = first.checked_sub(1)?;
    let mut state = OmsState::default();
    let (_, version) = state.form();
    if !is_of(line, note) || state.read(version, &bytes[end..]).is_err() {
        return None;
    }
    (head(&state, note) == line).then_some(state)
}

/// Keeps the state before `first`, the first note of a day. Does nothing if the state is already kept, or if the
/// journal no longer has it.
///
/// # Errors
///
/// The journal cannot be read, or the file cannot be written.
pub(super) fn keep(
    journal: &Path,
    folder: &Path,
    date: u32,
    first: u64,
    goes_on: &dyn Fn() -> bool,
) -> Result<(), Failure> {
    let path = path(folder, date);
    if is_kept(&path, first) {
        return Ok(());
    }
    match state_before(journal, first, goes_on)? {
        // The journal has only a part of the day, so the state before the day is not known.
        Some(state) if state.day() == date => Ok(()),
        Some(state) => write(&path, folder, &state, first.saturating_sub(1))
            .map_err(|error| not_written(&path, &error)),
        None => Ok(()),
    }
}

/// The state before a note; `None` when the journal no longer has it.
pub(in crate::oms) fn state_before(
    journal: &Path,
    first: u64,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<OmsState>, Failure> {
    let mut state = OmsState::default();
    let found = journal::state_before(journal, state.form().0, first).map_err(unreadable)?;
    let (mut last, mut notes, mut tail) = match found {
        Some(found) => {
            let read = state.read(found.version, &found.state);
            read.map_err(|why| {
                Failure::Text(format!("{}: a checkpoint: {why}", journal.display()))
            })?;
            let notes = Notes::of_session(found.notes);
            (found.note, notes, Tail::new(journal, found.behind))
        }
        None => {
            let tail = Tail::new(journal, JournalPosition::START);
            (0, Notes::default(), tail)
        }
    };
    while last + 1 < first {
        let Some(record) = tail
            .next_record()
            .map_err(unreadable)?
            .filter(|_| goes_on())
        else {
            return Ok(None);
        };
        for (number, note) in notes.of(&record) {
            if number <= last || number >= first {
                continue;
            }
            if number != last + 1 {
                return Ok(None);
            }
            state.apply_note(note);
            last = number;
        }
    }
    Ok(Some(state))
}

fn write(path: &Path, folder: &Path, state: &OmsState, note: u64) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let unfinished = path.with_extension("unfinished");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = BufWriter::new(options.open(&unfinished)?);
    let mut written = file.write_all(head(state, note).as_bytes());
    state.write(&mut |bytes| {
        if written.is_ok() {
            written = file.write_all(bytes);
        }
    });
    let whole = written
        .and_then(|()| file.into_inner().map_err(io::IntoInnerError::into_error))
        .and_then(|file| file.sync_all())
        .and_then(|()| fs::rename(&unfinished, path));
    if whole.is_err() {
        // If removing fails, the next attempt replaces the file.
        let _ = fs::remove_file(&unfinished);
    }
    whole
}

/// Removes the kept states of all days before this one.
pub(in crate::oms) fn remove_older(folder: &Path, date: u32) {
    let oldest = format!("{NAME}{}", shown(date));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_older = name
            .to_str()
            .is_some_and(|name| name.starts_with(NAME) && name < &*oldest);
        if is_older {
            // A file that cannot be removed only takes space.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_state_is_used_when_it_is_whole_and_of_the_note_before_the_day() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (date, state) = (20_261_123, OmsState::default());
        let file = path(folder, date);
        assert!(read(folder, date, 8).is_none(), "it is missing");
        write(&file, folder, &state, 7).unwrap();
        let found = read(folder, date, 8).unwrap();
        assert_eq!(found.hash(), state.hash());
        assert!(is_kept(&file, 8) && !is_kept(&file, 9) && read(folder, date, 9).is_none());
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
        let whole = fs::read(&file).unwrap();
        let version = format!(" {} 7 ", state.form().1);
        let text = String::from_utf8_lossy(&whole).replacen(&version, " 0 7 ", 1);
        let cut = &whole[..whole.len() - 1];
        let mut other = whole.clone();
        let at = whole.iter().position(|byte| *byte == b'\n').unwrap() - 1;
        other[at] ^= 1;
        for wrong in [text.as_bytes(), cut, &other, b""] {
            fs::write(&file, wrong).unwrap();
            assert!(read(folder, date, 8).is_none());
        }
        remove_older(folder, date);
        assert!(file.exists());
        remove_older(folder, date + 1);
        assert!(!file.exists());
    }
}
