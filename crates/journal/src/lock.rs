//! Locks a journal for one process. There are two locks; the system releases both when the process ends.

use super::JournalError;
use fixwire_sys::private;
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// The name of the lock file in the folder.
pub(super) const LOCK: &str = "lock";

/// Locks the folder itself, because a folder in use cannot be removed, while the file [`LOCK`] can. `None` where the
/// file system has no locks for folders (NFS); there the lock of the file must suffice.
///
/// # Errors
///
/// [`JournalError::Locked`] when another process has the lock.
pub(super) fn lock_folder(folder: &Path) -> Result<Option<File>, JournalError> {
    let name = folder.display().to_string();
    let handle = File::open(folder).map_err(JournalError::io("open", &name))?;
    match handle.try_lock() {
        Ok(()) => Ok(Some(handle)),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked { directory: name }),
        Err(TryLockError::Error(error)) if is_unsupported(&error) => Ok(None),
        Err(TryLockError::Error(error)) => Err(JournalError::io("lock", name)(error)),
    }
}

/// Locks the file [`LOCK`]; creates it if it is missing.
///
/// # Errors
///
/// [`JournalError::Locked`] when another process has the lock.
pub(super) fn lock_file(folder: &Path) -> Result<File, JournalError> {
    let path = folder.join(LOCK);
    let name = path.display().to_string();
    let file = private()
        .read(true)
        .open(&path)
        .map_err(JournalError::io("open", &name))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked {
            directory: folder.display().to_string(),
        }),
        Err(TryLockError::Error(error)) => Err(JournalError::io("lock", name)(error)),
    }
}

/// Whether a process has the journal in this folder open; `false` when the folder has no journal.
///
/// # Errors
///
/// The system error.
pub fn is_in_use(folder: &Path) -> Result<bool, JournalError> {
    let lock = folder.join(LOCK);
    let name = lock.display().to_string();
    if !lock
        .try_exists()
        .map_err(JournalError::io("look at", name))?
    {
        return Ok(false);
    }
    match lock_file(folder) {
        Ok(_) => Ok(false),
        Err(JournalError::Locked { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    [
        libc::EBADF,
        libc::EINVAL,
        libc::ENOLCK,
        libc::ENOSYS,
        libc::EOPNOTSUPP,
    ]
    .map(Some)
    .contains(&error.raw_os_error())
}
