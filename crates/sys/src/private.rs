//! Private files. Only their owner may read them. All files that the engine stores are private to their owner.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

/// Options to open a file for writing. A missing file is created for its owner alone. A symbolic link is not followed,
/// because another user may have created it.
#[must_use]
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW);
    options
}
