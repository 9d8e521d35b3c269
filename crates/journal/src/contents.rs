//! The content of a folder before it is opened: a journal, or the file store of another engine.

use std::fs;
use std::iter;
use std::path::Path;

use super::archive::list_all;
use super::directory::has_journal;
use super::files::segment_path;
use super::folder::stored_states;
use super::known::{check_notes, is_notes};
use super::lock::LOCK;
use super::recall::check_state;
use super::segment::HEADER;
use super::tail::{Open, Tail};
use super::{JournalError, JournalPosition};

/// Extensions of the files in which engines of the QuickFIX family store a session.
const OTHER_STORES: [&str; 6] = [
    "senderseqnums",
    "targetseqnums",
    "seqnums",
    "header",
    "body",
    "session",
];

/// What a folder contains.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FolderContents {
    /// Neither a journal nor a file store; or the folder does not exist.
    Nothing,
    /// A journal, or a part of one.
    Journal,
    /// No journal, but a file store of QuickFIX, QuickFIX/J, QuickFIX/Go or QuickFIX/n; the text is the name of one of
    /// its files.
    OtherStore(String),
}

/// Finds out what a folder contains from the names of its files; opens no file. A folder that cannot be read counts
/// as empty: opening it later reports the reason.
#[must_use]
pub fn contents(folder: &Path) -> FolderContents {
    if folder.join(LOCK).exists() || has_journal(folder).unwrap_or(false) {
        return FolderContents::Journal;
    }
    let Ok(files) = fs::read_dir(folder) else {
        return FolderContents::Nothing;
    };
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let stores = names.filter(|name| {
        let end = name.rsplit_once('.').map(|(_, end)| end);
        name.starts_with("FIX") && end.is_some_and(|end| OTHER_STORES.contains(&end))
    });
    // The first name in alphabetical order, so that the same folder always gives the same answer.
    stores
        .min()
        .map_or(FolderContents::Nothing, FolderContents::OtherStore)
}

/// Refuses to begin a journal in a folder that has the file store of another engine. In a new journal the sessions of
/// that store would begin again at MsgSeqNum 1.
///
/// # Errors
///
/// [`JournalError::OtherStore`].
pub fn refuse_other_store(folder: &Path) -> Result<(), JournalError> {
    match contents(folder) {
        FolderContents::OtherStore(file) => Err(JournalError::OtherStore {
            directory: folder.display().to_string(),
            file,
        }),
        FolderContents::Nothing | FolderContents::Journal => Ok(()),
    }
}

/// Refuses a journal that another build wrote: its segments have another version, or its notes and checkpoints have
/// another version of the application's state. Takes no lock and changes nothing. Other faults are reported when the
/// journal is opened.
///
/// # Errors
///
/// [`JournalError::OtherVersion`].
pub fn refuse_other_version(folder: &Path, form: Option<(&str, u32)>) -> Result<(), JournalError> {
    match look_for_other_version(folder, form) {
        Err(other @ JournalError::OtherVersion { .. }) => Err(other),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn look_for_other_version(folder: &Path, form: Option<(&str, u32)>) -> Result<(), JournalError> {
    let numbers = list_all(folder, 0)?;
    for number in &numbers {
        Open::find(folder, *number)?;
    }
    let (Some(form), Some(first)) = (form, numbers.first()) else {
        return Ok(());
    };
    for state in stored_states(folder)?.into_iter().flatten() {
        check_state(&state.file, (&state.name, state.version), form)?;
    }
    let mut tail = Tail::new(folder, JournalPosition::new(*first, HEADER as u32));
    while let Some(record) = tail.next_record()? {
        if let Some(name) = record.session_name().filter(|name| is_notes(name)) {
            let file = segment_path(folder, record.at.segment());
            return check_notes(iter::once(name), form, || file.display().to_string());
        }
        if record.at.segment() != *first {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_of_each_engine_is_found_and_a_journal_goes_before_it() {
        for file in [
            "FIX.4.4-A-B.seqnums",
            "FIX.4.2-A_SUB-B.senderseqnums",
            "FIXT.1.1-A-B-Q.targetseqnums",
            "FIX.4.4-A-B.body",
            "FIX.4.4-A-B.header",
            "FIX.4.4-A-B.session",
        ] {
            let folder = tempfile::tempdir().unwrap();
            assert_eq!(contents(folder.path()), FolderContents::Nothing);
            fs::write(folder.path().join("notes.txt"), "x").unwrap();
            fs::write(folder.path().join("FIX.4.4-A-B.messages.log"), "x").unwrap();
            assert_eq!(contents(folder.path()), FolderContents::Nothing);
            fs::write(folder.path().join(file), "x").unwrap();
            let found = FolderContents::OtherStore(file.to_owned());
            assert_eq!(contents(folder.path()), found);
            let error = refuse_other_store(folder.path()).unwrap_err().to_string();
            assert!(
                error.contains(file) && error.contains("fixwire journal import"),
                "{error}"
            );
            fs::write(folder.path().join(LOCK), "").unwrap();
            assert_eq!(contents(folder.path()), FolderContents::Journal);
        }
        assert_eq!(contents(Path::new("/nowhere")), FolderContents::Nothing);
    }
}
