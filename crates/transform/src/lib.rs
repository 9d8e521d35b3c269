//! Changes messages: by rules, which consist of a condition and actions, and by tables that convert between FIX
//! versions.
//!
//! The crate sends nothing and knows sessions only by name. [`Rules`] decide what happens to a message; the caller
//! carries it out. The crate reads no clock, socket or file. Memory is allocated at start; after that, handling a
//! message allocates nothing, unless a rule runs a script.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod convert;
pub mod draft;
mod failure;
pub mod rules;
mod value_test;
mod verb;

pub use draft::Draft;
pub use failure::TransformFailure;
pub use rules::Rules;
