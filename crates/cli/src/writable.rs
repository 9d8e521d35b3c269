//! Tests whether the folders of a settings file are writable. The test leaves no file in the folders.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use fixwire::EngineConfig;
use fixwire::journal::{refuse_other_store, refuse_other_version};
use fixwire::settings::{Id, LoadError, Settings};

use fixwire::Durability;

/// Checks the folders of the journal and of the logs.
///
/// # Errors
///
/// [`LoadError::Content`] for the first folder with one of these problems: this user cannot write or create it, it
/// has the store of another engine, or its journal has another version than `form`, the form of the application's
/// state.
pub fn check(
    settings: &Settings,
    config: &EngineConfig,
    form: Option<(&str, u32)>,
) -> Result<(), LoadError> {
    let Some(first) = settings.engine() else {
        return Ok(());
    };
    let journal = (config.durability != Durability::Memory).then_some(&*config.journal_dir);
    let logs = first.text(Id::FileLogPath).map(Path::new);
    let table = first.text(Id::SqlLog);
    let table = table.and_then(|database| database.strip_prefix("sqlite:"));
    let table = table.and_then(|file| Path::new(file).parent());
    let folders = [
        (Id::FileStorePath, journal),
        (Id::FileLogPath, logs),
        (Id::SqlLog, table),
    ];
    let refused =
        |folder| refuse_other_store(folder).and_then(|()| refuse_other_version(folder, form));
    if let Some(Err(error)) = journal.map(refused) {
        return Err(settings.error(first, Id::FileStorePath, error.to_string()));
    }
    for (id, folder) in folders {
        if let Some(folder) = folder
            && let Err(error) = try_in(folder)
        {
            let folder = folder.display();
            let note = format!("this user cannot write to {folder}: {error}");
            return Err(settings.error(first, id, note));
        }
    }
    Ok(())
}

/// Creates an unnamed file in the folder. If the folder is missing, in the nearest parent that exists.
///
/// # Errors
///
/// Why the file cannot be created.
pub fn try_in(folder: &Path) -> io::Result<()> {
    let here = Path::new(".");
    let mut above = folder
        .ancestors()
        .map(|path| match path.as_os_str().is_empty() {
            true => here,
            false => path,
        });
    let found = above.find_map(|path| match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        about => Some((path, about)),
    });
    let (path, about) = found.unwrap_or((here, fs::metadata(here)));
    if !about?.is_dir() {
        let note = format!("{} is not a folder", path.display());
        return Err(io::Error::new(ErrorKind::NotADirectory, note));
    }
    match tempfile::tempfile_in(path) {
        Ok(_) => Ok(()),
        Err(error) => {
            let note = format!(
                "cannot create a file in {} ({})",
                path.display(),
                error.kind()
            );
            Err(io::Error::new(error.kind(), note))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_tried_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        try_in(folder.path()).unwrap();
        try_in(&folder.path().join("a/b/c")).unwrap();
        try_in(Path::new("no-such-folder/store")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = try_in(&file.join("store")).unwrap_err().to_string();
        assert!(
            error.contains("Not a directory") || error.contains("is not a folder"),
            "{error}"
        );
        let error = try_in(&file).unwrap_err().to_string();
        assert!(error.ends_with("file is not a folder"), "{error}");
        let error = try_in(Path::new("/proc/nope")).unwrap_err().to_string();
        assert!(error.contains("cannot create a file in /proc"), "{error}");
    }
}
