//! Message and event logs in addition to the journal, in the layouts for which QuickFIX users have tools, and the file
//! stores of that family.
//!
//! The engine feeds these logs from its journal; see [`fixwire_engine::log`]. After a kill the last lines of files may
//! be duplicated; a database has each message once.
#![forbid(unsafe_code)]

mod files;
mod line;
mod sql;
pub mod store;
#[cfg(test)]
mod tests;

pub use files::FileLog;
pub use sql::SqlLog;
