//! The desk: commands and queries of operators, events and alarms, an order's history.

pub(crate) mod browse;
pub mod command;
pub mod day;
pub mod history;
pub(crate) mod notice;
pub mod positions;
pub(crate) mod price_file;
pub(crate) mod query;
pub(crate) mod report_file;
#[cfg(any(test, feature = "state-lines"))]
pub(crate) mod state_lines;
