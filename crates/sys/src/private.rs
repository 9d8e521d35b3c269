//! Files that only their owner may read, which is what everything that the engine keeps is.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

/// Opens a file for writing and makes it when it is not there, for its owner alone. A link is not
/// followed: somebody else may have put it there.
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
