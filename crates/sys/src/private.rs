//! Private files: only their owner may read them, like everything that the engine stores.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

/// Opens a file for writing and makes it when it is not there, for its owner alone. A link is not
/// followed: another user may have put it there.
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
