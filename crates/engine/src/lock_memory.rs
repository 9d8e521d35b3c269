//! Locks all memory of the process, for [`EngineConfig::lock_memory`](crate::EngineConfig).

use std::io;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

use crate::error::EngineError;

/// Locks the current and future memory of the process.
///
/// # Errors
///
/// [`EngineError::MemoryNotLocked`] when the limit is too low, or the system call fails.
pub(crate) fn lock_memory() -> Result<(), EngineError> {
    let limit = getrlimit(Resource::Memlock).current;
    let may_exceed =
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
    if let (Some(limit), false) = (limit, may_exceed) {
        // Check this even if the limit is high: a later mapping that exceeds it would fail, for example a journal
        // segment.
        let source = io::ErrorKind::PermissionDenied.into();
        return Err(EngineError::MemoryNotLocked {
            limit: Some(limit),
            source,
        });
    }
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE).map_err(|error| {
        EngineError::MemoryNotLocked {
            limit: None,
            source: error.into(),
        }
    })
}
