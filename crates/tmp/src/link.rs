//! Both ends of a link, as values: they take frames and the time, and return actions for the caller.

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
