//! Locks all memory of the process, for [`EngineConfig::lock_memory`](crate::EngineConfig).

use std::io;

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

use crate::error::EngineError;

/// Locks what the process has now and what it will have.
///
/// # Errors
///
/// [`EngineError::MemoryNotLocked`] when the process may lock so many bytes only, or the system refuses.
pub(crate) fn lock_memory() -> Result<(), EngineError> {
    let limit = getrlimit(Resource::Memlock).current;
    let may_exceed =
        capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
    if let (Some(limit), false) = (limit, may_exceed) {
        // However high it is: a later mapping above it would fail, a segment of the journal among them.
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
