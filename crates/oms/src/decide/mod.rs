//! Decisions: an input and the state become events. Only these files emit.

pub(crate) mod begin;
pub mod core;
pub(crate) mod drop_copy;
pub(crate) mod external;
pub(crate) mod guard;
pub(crate) mod inquiry;
pub(crate) mod legs;
pub(crate) mod mass;
pub(crate) mod numbers;
pub(crate) mod parents;
pub(crate) mod prices;
pub(crate) mod queue;
pub(crate) mod quote;
pub(crate) mod reduce;
pub(crate) mod refusals;
pub(crate) mod reload;
pub(crate) mod rerun;
pub(crate) mod retry;
pub(crate) mod rights;
pub(crate) mod risk;
pub(crate) mod roll;
pub(crate) mod sending;
pub(crate) mod status_requests;
pub mod venue;
pub(crate) mod work;
