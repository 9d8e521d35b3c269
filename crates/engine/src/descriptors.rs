//! File descriptors: how many the settings may need, and what goes without when they run short.

mod need;

pub use fixwire_net::descriptors::*;
pub use need::Need;
