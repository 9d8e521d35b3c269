//! File descriptors: the number that the settings may need, and the restrictions when they run short.

mod need;

pub use fixwire_net::descriptors::*;
pub use need::Need;
