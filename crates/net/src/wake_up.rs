//! Wakes the engine from other threads.

use std::sync::Arc;

/// Wakes an engine that sleeps in [`Host::poll`](crate::Host::poll); called from other threads.
pub type WakeUp = Arc<dyn Fn() + Send + Sync>;
