//! The files of a journal: names, permissions, and atomic replacement.

use super::{Damage, JournalError};
use fixwire_sys::private;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Extension of the file of a segment.
pub(super) const SUFFIX: &str = ".fwj";
/// Extension of a marker file. The segments from the number in the file's name on are not part of the journal yet.
const PENDING: &str = ".import";

/// Lists the numbers of the segments of a journal, ascending.
pub(super) fn list(path: &Path) -> Result<Vec<u32>, JournalError> {
    let mut numbers = names(path, SUFFIX)?;
    if let Some(first) = pending(path)? {
        numbers.retain(|&number| number < first);
    }
    Ok(numbers)
}

/// The number of the first pending segment, which is not part of the journal yet.
pub(super) fn pending(path: &Path) -> Result<Option<u32>, JournalError> {
    Ok(names(path, PENDING)?.first().copied())
}

pub(super) fn pending_path(directory: &Path, first: u32) -> PathBuf {
    directory.join(format!("{first:08}{PENDING}"))
}

/// Lists the numbers of the files with this extension, ascending.
pub(super) fn names(path: &Path, suffix: &str) -> Result<Vec<u32>, JournalError> {
    let name = path.display().to_string();
    let mut numbers = Vec::new();
    for entry in fs::read_dir(path).map_err(JournalError::io("list", &name))? {
        let entry = entry.map_err(JournalError::io("list", &name))?;
        let file_name = entry.file_name();
        let Some(stem) = file_name
            .to_str()
            .and_then(|text| text.strip_suffix(suffix))
        else {
            continue;
        };
        match stem.parse::<u32>() {
            Ok(number) if number > 0 && format!("{number:08}") == stem => numbers.push(number),
            _ => {
                return Err(JournalError::Damaged(Damage {
                    file: entry.path().display().to_string(),
                    offset: 0,
                    expected: format!("only files of the journal to end in {suffix}"),
                    found: "a name that is not a segment's (eight digits)".into(),
                }));
            }
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The path of a segment.
pub(super) fn segment_path(directory: &Path, number: u32) -> PathBuf {
    directory.join(format!("{number:08}{SUFFIX}"))
}

/// Opens a file that must belong to this user. Does not follow a symbolic link.
pub(super) fn open_checked(path: &Path, write: bool) -> Result<File, JournalError> {
    let name = path.display().to_string();
    let file = OpenOptions::new()
        .read(true)
        .write(write)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
        .map_err(JournalError::io("open", &name))?;
    let facts = file
        .metadata()
        .map_err(JournalError::io("look at", &name))?;
    check_owner(&facts, &name)?;
    Ok(file)
}

/// Checks that only this user can access the folder.
pub(super) fn check_folder(path: &Path) -> Result<(), JournalError> {
    let name = path.display().to_string();
    let facts = fs::metadata(path).map_err(JournalError::io("look at", &name))?;
    check_owner(&facts, &name)
}

fn check_owner(facts: &fs::Metadata, name: &str) -> Result<(), JournalError> {
    let is_ours = facts.uid() == fixwire_sys::effective_user();
    if facts.mode() & 0o077 != 0 || !is_ours {
        return Err(JournalError::Exposed {
            file: name.to_owned(),
            mode: facts.mode(),
            owner: (!is_ours).then(|| user(facts.uid())),
        });
    }
    Ok(())
}

/// A user as `sudo -u` accepts it: the name, or the user id if this machine has no name for it.
fn user(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let found = users.lines().find_map(|line| {
        let mut parts = line.split(':');
        let name = parts.next()?;
        (parts.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    found.unwrap_or_else(|| format!("#{uid}"))
}

/// Waits until the names of the files in a directory are on disk.
pub(super) fn sync_names(directory: &Path) -> Result<(), JournalError> {
    File::open(directory)
        .and_then(|directory| directory.sync_all())
        .map_err(JournalError::io("sync", directory.display().to_string()))
}

/// Writes a file under a temporary name, syncs it, and renames it to its final name. An existing file is replaced.
pub(super) fn write_aside(
    directory: &Path,
    path: &Path,
    write: &mut dyn FnMut(&mut File) -> io::Result<()>,
) -> Result<(), JournalError> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".new");
    let aside = PathBuf::from(aside);
    let name = aside.display().to_string();
    let mut file = private()
        .truncate(true)
        .open(&aside)
        .map_err(JournalError::io("create", &name))?;
    write(&mut file).map_err(JournalError::io("write", &name))?;
    file.sync_all().map_err(JournalError::io("sync", &name))?;
    fs::rename(&aside, path).map_err(JournalError::io("rename", &name))?;
    sync_names(directory)
}

pub(super) fn remove(path: &Path) -> Result<(), JournalError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(JournalError::io(
            "remove",
            path.display().to_string(),
        )(error)),
        _ => Ok(()),
    }
}
