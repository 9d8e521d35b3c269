//! The link of both ends: values that take frames and time, and say what to do.

pub(crate) mod actions;
pub(crate) mod client;
mod clock;
pub(crate) mod end;
pub(crate) mod exchange;
pub(crate) mod flow;
pub(crate) mod heartbeat;
pub(crate) mod resend;
pub(crate) mod settings;
mod tail;
