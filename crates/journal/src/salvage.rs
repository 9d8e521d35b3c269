//! Salvages a damaged journal: cuts at the damage, and reports what is lost.
//!
//! ```text
//!   kept                 damage    still read, but no part of the journal any more
//!   ──────────────────── ▒▒▒▒▒▒▒▒ ─────── ▒▒▒ ────────
//!                       cut       each session continues with the sequence numbers of the last one
//! ```
//!
//! Records behind the damage cannot be appended to those before it: something between the two is
//! missing. But its records show the highest sequence numbers, so none is used twice, and no
//! order is asked for that has been delivered.

mod behind;
mod plan;

use std::fs::{self, DirBuilder, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

use fixwire_protocol::time::{Precision, Timestamp, TimestampWriter};

use self::plan::{Plan, plan};
use super::Durability;
use super::archive::{base_path, list_all};
use super::base::Base;
use super::files::{
    check_folder, list, open_checked, remove, segment_path, sync_names, write_aside,
};
use super::is_notes;
use super::known::is_session;
use super::lock::{LOCK, lock_file, lock_folder};
use super::reserve::RESERVE_SUFFIX;
use super::{
    Damage, Directory, Journal, JournalConfig, JournalError, JournalId, JournalPosition,
    SequenceCounters, Start, newest,
};

/// The name of the file that is in a journal while it is being salvaged; it holds where the copy is.
pub(super) const MARK: &str = "salvage";

/// The actions of a salvage, done or planned.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Salvaged {
    /// Why the journal does not open.
    pub damage: Damage,
    /// Where all files were copied to before anything was changed; `None` when nothing was changed.
    pub copy: Option<PathBuf>,
    /// The first segment that the journal has now, when messages before it can no longer be resent.
    pub begins_at: Option<u32>,
    /// The place behind the last record that was kept; `None` when none was.
    pub kept_to: Option<JournalPosition>,
    /// Records that were kept.
    pub kept: u64,
    /// Records that are lost, as far as their sequence numbers are known.
    pub lost: u64,
    /// Those of them that can still be read in the copy.
    pub readable: u64,
    /// Sessions with sequence numbers among the lost records.
    pub sessions: Vec<LostSession>,
    /// Sessions without: their sequence numbers are unchanged, as far as can be known.
    pub others: Vec<(String, SequenceCounters)>,
    /// Notes of the application that are lost.
    pub notes: u64,
}

/// The loss of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LostSession {
    /// Its name; `None` when the record with the name is lost. Such a session is not in the journal any
    /// more.
    pub name: Option<String>,
    /// Its sequence numbers where the journal was cut.
    pub kept: SequenceCounters,
    /// Its sequence numbers behind the last readable record: it continues with these.
    pub next: SequenceCounters,
    /// When those sequence numbers began.
    pub began: Timestamp,
}

impl LostSession {
    /// The first and the last MsgSeqNum that it sent and the journal no longer has; `None` without
    /// any.
    #[must_use]
    pub fn sent(&self) -> Option<(u64, u64)> {
        self.range(self.kept.next_out, self.next.next_out)
    }

    /// The first and the last MsgSeqNum that it received and the journal no longer has.
    #[must_use]
    pub fn received(&self) -> Option<(u64, u64)> {
        self.range(self.kept.next_in, self.next.next_in)
    }

    /// Whether its sequence numbers were reset in a record that is lost.
    #[must_use]
    pub fn was_reset(&self) -> bool {
        self.kept.epoch != self.next.epoch
    }

    fn range(&self, kept: u64, next: u64) -> Option<(u64, u64)> {
        let from = if self.was_reset() { 1 } else { kept };
        (next > from).then(|| (from, next - 1))
    }
}

/// Makes the journal of a directory open again. Copies all of its files first, to a folder beside it that
/// is named after `now`; with `dry_run` nothing is changed at all.
///
/// Records before the damage are kept, those behind it are not; where the journal has a whole
/// [checkpoint](super::Retention) behind the damage, and no notes of an application, it begins there
/// instead, and only what could be resent from before is lost. Each session goes on with the highest
/// sequence numbers found in any record, lost or not.
///
/// `durability` is that of the engine that wrote it: with [`Durability::Disk`] some journals open that are
/// refused otherwise. `None` when it is unknown; those are then refused here.
///
/// # Errors
///
/// [`JournalError::Locked`] while an engine has it, [`JournalError::Sound`] when it opens as it is,
/// [`JournalError::Salvaging`] when an earlier salvage was broken off, and what the system answers.
pub fn salvage(
    directory: &Path,
    durability: Option<Durability>,
    now: Timestamp,
    dry_run: bool,
) -> Result<Salvaged, JournalError> {
    check_folder(directory)?;
    let folder = lock_folder(directory)?;
    let lock = directory.join(LOCK).exists() || !dry_run;
    let file = lock.then(|| lock_file(directory)).transpose()?;
    refuse_mark(directory)?;
    let sound = |at_disk| JournalError::Sound {
        directory: directory.display().to_string(),
        at_disk,
    };
    let at_disk = durability == Some(Durability::Disk);
    let plan = plan(directory, at_disk)?.ok_or_else(|| sound(false))?;
    if durability.is_none() && self::plan::plan(directory, true)?.is_none() {
        return Err(sound(true));
    }
    let mut salvaged = plan.salvaged();
    let (Some(file), false) = (file, dry_run) else {
        return Ok(salvaged);
    };
    let copy = copy(directory, now)?;
    mark(directory, &copy)?;
    cut(directory, &plan)?;
    let disk = Directory::with_locks(directory.to_owned(), (folder, file))?;
    go_on(disk, &plan, &salvaged.sessions)?;
    remove(&directory.join(MARK))?;
    sync_names(directory)?;
    salvaged.copy = Some(copy);
    Ok(salvaged)
}

/// Refuses a journal that is half salvaged: its sequence numbers may be those of the cut.
pub(super) fn refuse_mark(directory: &Path) -> Result<(), JournalError> {
    match fs::read(directory.join(MARK)) {
        Ok(copy) => Err(JournalError::Salvaging {
            directory: directory.display().to_string(),
            copy: String::from_utf8_lossy(&copy).into_owned(),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => {
            let path = directory.join(MARK).display().to_string();
            Err(JournalError::io("read", path)(error))
        }
    }
}

fn mark(directory: &Path, copy: &Path) -> Result<(), JournalError> {
    write_aside(directory, &directory.join(MARK), &mut |file| {
        file.write_all(copy.as_os_str().as_encoded_bytes())
    })
}

/// Copies every file of the journal to a new folder beside it, and puts them on the disk.
fn copy(directory: &Path, now: Timestamp) -> Result<PathBuf, JournalError> {
    let directory = fs::canonicalize(directory)
        .map_err(JournalError::io("look at", directory.display().to_string()))?;
    let mut stamp = TimestampWriter::new();
    let time = String::from_utf8_lossy(stamp.format(now, Precision::Seconds)).replace(':', "");
    let mut name = directory.clone().into_os_string();
    name.push(format!(".before-salvage-{time}"));
    let target = PathBuf::from(name);
    DirBuilder::new()
        .mode(0o700)
        .create(&target)
        .map_err(JournalError::io(
            "make the directory",
            target.display().to_string(),
        ))?;
    let copied = copy_files(&directory, &target);
    if copied.is_err() {
        // A part of a copy is none. What cannot be removed was never marked as one.
        let _ = fs::remove_dir_all(&target);
    }
    copied.map(|()| target)
}

fn copy_files(from: &Path, to: &Path) -> Result<(), JournalError> {
    let name = from.display().to_string();
    for entry in fs::read_dir(from).map_err(JournalError::io("list", &name))? {
        let entry = entry.map_err(JournalError::io("list", &name))?;
        let path = entry.path();
        let failed = || JournalError::io("copy", path.display().to_string());
        // What is kept for a full disk holds nothing.
        let is_reserve = path.extension().is_some_and(|it| it == RESERVE_SUFFIX);
        if entry.file_type().map_err(failed())?.is_file() && !is_reserve {
            let copy = to.join(entry.file_name());
            fs::copy(&path, &copy).map_err(failed())?;
            let file = File::open(&copy).map_err(failed())?;
            file.sync_all().map_err(failed())?;
        }
    }
    sync_names(to)?;
    to.parent().map_or(Ok(()), sync_names)
}

/// Leaves of the files what the plan keeps. Ends with the file that names the newest segment, so that
/// until then the journal does not open.
fn cut(directory: &Path, plan: &Plan) -> Result<(), JournalError> {
    let kept_part = plan.kept.as_ref();
    let last = kept_part.map(|kept| kept.end.segment());
    let kept = |number: &u32| last.is_some_and(|last| *number <= last);
    for number in list(directory)?.into_iter().rev() {
        if !kept(&number) {
            remove(&segment_path(directory, number))?;
        }
    }
    if last.is_none() {
        // A new journal begins with segment 1: earlier retired segments are not part of it.
        for number in list_all(directory, 0)? {
            remove(&segment_path(directory, number).with_extension("fwz"))?;
        }
    }
    for repair in kept_part.map_or(&[][..], |kept| &kept.repairs) {
        let path = segment_path(directory, repair.number);
        let failed = || JournalError::io("mend", path.display().to_string());
        let file = open_checked(&path, true)?;
        file.set_len(repair.length).map_err(failed())?;
        fixwire_sys::allocate(&file, repair.length).map_err(failed())?;
        if let Some(header) = &repair.header {
            file.write_all_at(header, 0).map_err(failed())?;
        }
        for range in &repair.zeros {
            let zeros = vec![0; range.len()];
            file.write_all_at(&zeros, range.start as u64)
                .map_err(failed())?;
        }
        file.sync_all().map_err(failed())?;
    }
    match kept_part.map(|kept| kept.start) {
        Some(start) if start != Start::BEGIN => {
            if plan.base != Some(start) {
                let base = Base {
                    oldest: start,
                    first: start,
                };
                write_aside(directory, &base_path(directory), &mut |file| {
                    file.write_all(&base.to_bytes())
                })?;
            }
        }
        _ => remove(&base_path(directory))?,
    }
    sync_names(directory)?;
    newest::write(directory, last.unwrap_or(0))
}

/// Opens the kept part, and lets each session continue with its highest sequence numbers.
fn go_on(disk: Directory, plan: &Plan, sessions: &[LostSession]) -> Result<(), JournalError> {
    let usual = JournalConfig {
        index_entries: 2,
        ..JournalConfig::default()
    };
    let config = JournalConfig {
        segment_bytes: plan
            .kept
            .as_ref()
            .map_or(usual.segment_bytes, |kept| kept.last_length),
        ..usual
    };
    let (mut journal, _) = Journal::open(disk, config)?;
    for session in sessions {
        let Some(name) = &session.name else { continue };
        // Where their epoch is another, that is when they began.
        let wall = session.began;
        let id = journal.register(wall, name)?;
        journal.set(wall, id, session.next, "")?;
        let text = format!(
            "salvaged: messages are lost, sent {}, received {}",
            range(session.sent()),
            range(session.received())
        );
        journal.note(wall, id, &text)?;
    }
    journal.sync(journal.end())?;
    Ok(())
}

fn range(numbers: Option<(u64, u64)>) -> String {
    match numbers {
        Some((from, to)) if from == to => format!("{from}"),
        Some((from, to)) => format!("{from} to {to}"),
        None => "none".into(),
    }
}

impl Plan {
    fn salvaged(&self) -> Salvaged {
        let kept = self.kept.as_ref();
        let begin = kept.map_or(0, |kept| kept.start.record);
        let next = kept.map_or(0, |kept| kept.next_record);
        let mut salvaged = Salvaged {
            damage: self.damage.clone(),
            copy: None,
            begins_at: kept.filter(|_| self.skipped).map(|kept| kept.start.segment),
            kept_to: kept.map(|kept| kept.end),
            kept: next - begin,
            lost: self.behind.lost(next),
            readable: self.behind.readable,
            sessions: Vec::new(),
            others: Vec::new(),
            notes: 0,
        };
        for (&id, last) in &self.behind.sessions {
            let before = self.session(id);
            let kept = before.map_or(SequenceCounters::NEW, |before| before.counters);
            if last.name.as_deref().is_some_and(is_notes) {
                salvaged.notes = last.counters.next_out.saturating_sub(kept.next_out);
            } else if last.name.as_deref().is_some_and(|name| !is_session(name)) {
                // Operations on no session have no sequence numbers.
            } else if before.is_none() || kept != last.counters {
                salvaged.sessions.push(LostSession {
                    name: last.name.clone(),
                    kept,
                    next: last.counters,
                    began: last.began,
                });
            }
        }
        let sessions = kept.map_or(&[][..], |kept| &kept.sessions);
        for (id, known) in (0..).map(JournalId).zip(sessions) {
            let changed = self.behind.sessions.get(&id);
            let same = changed.is_none_or(|last| last.counters == known.counters);
            if let Some(name) = known.name.clone().filter(|name| same && is_session(name)) {
                salvaged.others.push((name, known.counters));
            }
        }
        salvaged
    }
}
