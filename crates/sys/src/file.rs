//! System calls that the standard library does not have.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Gives a file `len` bytes of zeros for which disk space is allocated. A later store through a map therefore cannot
/// run out of disk space.
///
/// # Errors
///
/// `ENOSPC` or `EDQUOT` when the disk is full, or another error of `posix_fallocate`. After an error, the file may have
/// any length up to `len`.
pub fn allocate(file: &File, len: u64) -> io::Result<()> {
    let len = libc::off_t::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
    loop {
        // SAFETY: the descriptor is open for as long as `file` is borrowed, and the call touches no
        // memory of ours.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, len) } {
            0 => return Ok(()),
            libc::EINTR => {}
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
}

/// Number of bytes that this process may still write to the file system of a path. A quota is not taken into account.
///
/// # Errors
///
/// The system's error.
pub fn free_space(path: &Path) -> io::Result<u64> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut facts = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends in a zero byte, and the call writes only to `facts`, which has the required size.
    if unsafe { libc::statvfs(path.as_ptr(), facts.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has succeeded, so it has written all of `facts`.
    let facts = unsafe { facts.assume_init() };
    Ok(facts.f_bavail * facts.f_frsize)
}

/// The effective user id of this process.
#[must_use]
pub fn effective_user() -> u32 {
    // SAFETY: `geteuid` has no arguments, touches no memory and always succeeds.
    unsafe { libc::geteuid() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn an_allocated_file_has_its_length_and_its_blocks() {
        let path =
            std::env::temp_dir().join(format!("fixwire-sys-allocate-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        allocate(&file, 1 << 16).unwrap();
        let facts = file.metadata().unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(facts.len(), 1 << 16);
        assert!(facts.blocks() * 512 >= 1 << 16);
        assert_eq!(facts.uid(), effective_user());
    }

    #[test]
    fn a_file_system_says_what_is_free() {
        assert!(free_space(&std::env::temp_dir()).unwrap() > 0);
        assert!(free_space(Path::new("/no/such/folder")).is_err());
    }

    #[test]
    fn a_length_that_no_file_has_is_refused() {
        let path = std::env::temp_dir().join(format!("fixwire-sys-huge-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        assert!(allocate(&file, u64::MAX).is_err());
        std::fs::remove_file(&path).unwrap();
    }
}
