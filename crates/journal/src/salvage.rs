//! Salvages a damaged journal: cuts it off at the damage, and reports what was lost.
//!
//! ```text
//!   kept                 damage    still read, but no part of the journal any more
//!   ──────────────────── ▒▒▒▒▒▒▒▒ ─────── ▒▒▒ ────────
//!                       cut       each session continues with the sequence numbers of the last one
//! ```
//!
//! Records after the damage cannot be appended to the records before it, because records between them are missing.
//! But the later records show the highest sequence numbers. With these sequence numbers, no MsgSeqNum is used twice,
//! and no delivered order is requested again.

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

/// The name of the file that marks a journal while it is being salvaged. The file has the path of the copy.
pub(super) const MARK: &str = "salvage";

/// The result of a salvage, or the result that it would have.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Salvaged {
    /// Why the journal cannot be opened.
    pub damage: Damage,
    /// The copy of all files, made before any change; `None` when nothing was changed.
    pub copy: Option<PathBuf>,
    /// The journal's new first segment, if older messages can no longer be resent.
    pub begins_at: Option<u32>,
    /// The position after the last record that was kept; `None` if no record was kept.
    pub kept_to: Option<JournalPosition>,
    /// Number of records kept.
    pub kept: u64,
    /// Number of lost records, as far as their sequence numbers are known.
    pub lost: u64,
    /// Number of lost records that are still readable in the copy.
    pub readable: u64,
    /// Sessions with lost records.
    pub sessions: Vec<LostSession>,
    /// Sessions that have lost no record, as far as known. The sequence numbers of these sessions are unchanged.
    pub others: Vec<(String, SequenceCounters)>,
    /// Number of lost notes of the application.
    pub notes: u64,
}

/// The losses of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LostSession {
    /// Name of the session; `None` if the record with the name is lost. A session without a name is no longer in the
    /// journal.
    pub name: Option<String>,
    /// The session's sequence numbers at the cut.
    pub kept: SequenceCounters,
    /// The session's sequence numbers after its last readable record. The session continues with these sequence
    /// numbers.
    pub next: SequenceCounters,
    /// Time at which the sequence numbers of `next` began.
    pub began: Timestamp,
}

impl LostSession {
    /// The first and the last MsgSeqNum that the session sent and that the journal no longer has; `None` if nothing
    /// is missing.
    #[must_use]
    pub fn sent(&self) -> Option<(u64, u64)> {
        self.range(self.kept.next_out, self.next.next_out)
    }

    /// The first and the last MsgSeqNum that the session received and that the journal no longer has; `None` if
    /// nothing is missing.
    #[must_use]
    pub fn received(&self) -> Option<(u64, u64)> {
        self.range(self.kept.next_in, self.next.next_in)
    }

    /// Whether a lost record has reset the session's sequence numbers.
    #[must_use]
    pub fn was_reset(&self) -> bool {
        self.kept.epoch != self.next.epoch
    }

    fn range(&self, kept: u64, next: u64) -> Option<(u64, u64)> {
        let from = if self.was_reset() { 1 } else { kept };
        (next > from).then(|| (from, next - 1))
    }
}

/// Makes the journal in a directory usable again. First copies all of its files to a folder next to the directory,
/// named after `now`. With `dry_run` nothing is changed.
///
/// The records before the damage are kept, and the records after the damage are dropped. There is one exception: the
/// journal has no notes of an application, and has a complete [checkpoint](super::Retention) after the damage. In this
/// case the journal begins at that checkpoint, and only older messages for resends are lost. Each session continues
/// with the highest sequence numbers found in any record, lost or not.
///
/// `durability` is the durability of the engine that wrote the journal. With [`Durability::Disk`], some journals can be
/// used that would otherwise be refused. With `None` (unknown), the salvage refuses such journals.
///
/// # Errors
///
/// [`JournalError::Locked`] while an engine has the journal open; [`JournalError::Sound`] if it is intact;
/// [`JournalError::Salvaging`] after an interrupted salvage; or a system error.
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

/// Refuses a journal whose salvage was interrupted, because its sequence numbers may still be those of the cut.
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

/// Copies every file of the journal to a new folder next to it, and syncs them.
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
        // An incomplete copy is useless. If it cannot be removed, nothing refers to it as a copy.
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
        // The files of the reserve contain nothing.
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

/// Changes the files as planned. The file with the number of the newest segment is written last; until then the
/// journal cannot be opened.
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
        // The new journal begins with segment 1, so segments that were retired earlier are not part of it.
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

/// Opens the part that was kept, and sets each session to its highest sequence numbers.
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
        // If the epoch differs, the sequence numbers began at this time.
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
                // The session name for operators has no sequence numbers.
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
