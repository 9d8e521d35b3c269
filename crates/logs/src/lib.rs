//! Message and event logs beside the journal, in the layouts that QuickFIX users have tools for, and the file
//! stores of that family.
//!
//! A log here is what the engine feeds from its journal; see [`fixwire_engine::log`]. After a kill the last lines
//! of files may be there twice; a database has each message once.
#![forbid(unsafe_code)]

mod files;
mod line;
mod sql;
pub mod store;
#[cfg(test)]
mod tests;

pub use files::FileLog;
pub use sql::SqlLog;
