//! File descriptors: how many the configuration may need, and what is restricted when there are too few.

mod need;

pub use fixwire_net::descriptors::*;
pub use need::Need;
