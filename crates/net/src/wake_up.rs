//! Wakes the engine from another thread.

use std::sync::Arc;

/// Wakes an engine that sleeps in [`Host::poll`](crate::Host::poll). Other threads call it.
pub type WakeUp = Arc<dyn Fn() + Send + Sync>;
