//! An OMS between a client and a venue: over sockets of the system, and over sockets in memory.

pub mod aging;
pub mod driven;
pub mod line_protocol;
pub mod oms_rig;
pub(crate) mod parts;
pub mod rig;
mod tmp_venue;
mod venue;
