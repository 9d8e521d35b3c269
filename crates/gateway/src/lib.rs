//! The gateway: routes, transforms and converts messages between FIX versions.
//!
//! The crate reads no clock, socket or file. Memory is allocated at start; after that the path of a message
//! allocates nothing, unless a rule runs a script.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod gateway;
pub mod orders;

pub use fixwire_transform::{Draft, Rules, TransformFailure, convert, draft, rules};
pub use gateway::{Gateway, GatewayContext, GatewaySession};
pub use orders::OrderTracker;
