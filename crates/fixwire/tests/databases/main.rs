//! Does a log in a database have every message once, whatever ends when?
//!
//! A program that is being started holds the locks of all journals that are open here, and each of these
//! tests starts one or opens its journal again: one at a time.
#![cfg(any(feature = "postgresql", feature = "sqlite"))]

#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "postgresql")]
mod postgresql;
#[cfg(feature = "postgresql")]
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Waits until no other test runs.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}
