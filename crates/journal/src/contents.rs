//! What a folder holds before it is opened: a journal, or the file store of another engine.

use std::fs;
use std::path::Path;

use super::JournalError;
use super::directory::has_journal;
use super::lock::LOCK;

/// How the names of the files end in which the engines of the QuickFIX family keep a session.
const OTHER_STORES: [&str; 6] = [
    "senderseqnums",
    "targetseqnums",
    "seqnums",
    "header",
    "body",
    "session",
];

/// What a folder holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FolderContents {
    /// Neither, or there is no such folder.
    Nothing,
    /// A journal, or what is left of one.
    Journal,
    /// No journal, but a file store of QuickFIX, QuickFIX/J, QuickFIX/Go or QuickFIX/n: one of its files.
    OtherStore(String),
}

/// Looks at the names in a folder; opens nothing. A folder that cannot be read counts as empty: opening it says why.
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
    // The first by name, so that the same folder gives the same answer.
    stores
        .min()
        .map_or(FolderContents::Nothing, FolderContents::OtherStore)
}

/// Refuses to begin a journal in a folder with another engine's file store: its sessions would begin at 1.
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
