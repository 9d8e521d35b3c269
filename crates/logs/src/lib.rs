//! Message and event logs in addition to the journal, in the layouts that QuickFIX users have tools for; and file
//! stores of the QuickFIX family.
//!
//! The engine feeds these logs from its journal; see [`fixwire_engine::log`]. If the process is killed, the last
//! lines of a log file may occur twice; a database has each message exactly once.
#![forbid(unsafe_code)]

mod files;
mod line;
mod rotation;
mod row_tables;
mod sql;
pub mod store;
#[cfg(test)]
mod tests;

pub use files::FileLog;
pub use rotation::FileLogRotation;
#[cfg(feature = "postgresql")]
pub use row_tables::RowDatabase;
pub use row_tables::{
    RowChange, RowColumn, RowDay, RowFault, RowKind, RowPosition, RowSettings, RowTable, TableRow,
};
pub use sql::SqlLog;
