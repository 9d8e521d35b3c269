//! Opens regular files only, for paths given by a user.
//!
//! A pipe would make the reader wait forever, and a device such as `/dev/zero` has no end.

use std::fs::{File, FileType, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Opens a regular file for reading. A symbolic link is followed. Never waits.
///
/// # Errors
///
/// The system's error; [`ErrorKind::InvalidInput`] when the file is not a regular file, with the kind of the file.
pub fn open(path: impl AsRef<Path>) -> Result<File> {
    let mut options = OpenOptions::new();
    // The open of a pipe would wait for a writer.
    let file = options
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else {
        Err(refused(kind))
    }
}

fn refused(kind: FileType) -> Error {
    let (error, name) = match kind {
        _ if kind.is_dir() => (ErrorKind::IsADirectory, "a folder"),
        _ if kind.is_fifo() => (ErrorKind::InvalidInput, "a pipe"),
        _ if kind.is_char_device() => (ErrorKind::InvalidInput, "a character device"),
        _ if kind.is_block_device() => (ErrorKind::InvalidInput, "a block device"),
        _ => (ErrorKind::InvalidInput, "something else"),
    };
    Error::new(
        error,
        format!("a regular file is needed, and this is {name}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType as Kind, Mode, mknodat};

    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, file, link] = ["pipe", "file", "link"].map(|name| folder.path().join(name));
        mknodat(CWD, &pipe, Kind::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(open(&file).is_ok() && open(&link).is_ok());
        for (path, what) in [
            (pipe.as_path(), "a pipe"),
            (Path::new("/dev/zero"), "a character device"),
            (folder.path(), "a folder"),
        ] {
            let error = open(path).unwrap_err().to_string();
            assert!(error.ends_with(&format!("this is {what}")), "{error}");
        }
        assert_eq!(
            open(folder.path().join("no")).unwrap_err().kind(),
            ErrorKind::NotFound
        );
    }
}
