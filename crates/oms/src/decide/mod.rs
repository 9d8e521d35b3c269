//! Decisions: turn an input and the state into events. Only the files of this folder emit events.

pub(crate) mod begin;
pub(crate) mod conditions;
pub(crate) mod copies;
pub mod core;
pub(crate) mod external;
pub(crate) mod guard;
pub(crate) mod inquiries;
pub(crate) mod lifecycle;
pub(crate) mod mass;
pub(crate) mod orders;
pub(crate) mod parents;
pub(crate) mod pools;
pub(crate) mod queue;
pub(crate) mod quotes;
pub(crate) mod refusals;
pub(crate) mod rejected;
pub(crate) mod reload;
pub(crate) mod retries;
pub(crate) mod risk;
pub(crate) mod roll;
pub(crate) mod sending;
pub(crate) mod settings;
pub(crate) mod spreads;
mod timers;
pub mod venue;
pub(crate) mod work;
