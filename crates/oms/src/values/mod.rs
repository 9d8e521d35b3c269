//! Values: the parts of orders, settings and messages. No file of this folder uses the state.

pub mod canary;
pub(crate) mod day;
pub mod fields;
pub(crate) mod form;
pub(crate) mod ids;
pub mod limits;
pub(crate) mod locate;
pub(crate) mod marks;
pub(crate) mod names;
pub(crate) mod own_tags;
pub(crate) mod reason;
pub(crate) mod report_numbers;
pub mod rules;
pub(crate) mod scope;
pub(crate) mod show;
pub(crate) mod slab;
pub(crate) mod texts;
pub(crate) mod units;
pub(crate) mod value;
pub(crate) mod venue_id;
pub(crate) mod verbs;
pub(crate) mod waived;
pub(crate) mod words;
