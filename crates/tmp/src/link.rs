//! Both ends of a link: values that take frames and the time, and return what must be done.

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
