//! File descriptors: how many the settings may need, and what does without when they run short.

mod need;

pub use fixwire_net::descriptors::*;
pub use need::Need;
