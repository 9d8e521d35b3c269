//! Events of an application, stored as notes in a journal.
//!
//! An application's state is the result of its events: one function applies each event, both while the application
//! runs and after a restart. From one table [`events!`] makes the enums of the events, one for each feature, and
//! their notes. [`bytes!`] makes enums whose variants are one byte each. [`record!`] makes the bytes of a struct from
//! the list of its fields. [`Wire`] is the form that a value has in notes and in checkpoints. [`write_state`] and
//! [`state_hash`] visit the same values.
//!
//! ```
//! fixwire_ledger::events! {
//!     /// An event of a light.
//!     LightEvent;
//!     /// The bulb.
//!     Bulb BulbEvent['a] {
//!         /// The bulb was replaced.
//!         1 Replaced { watts: u32 = "Its power, in watts.", maker: &'a [u8] = "Who made it.", }
//!     }
//! }
//! let event = LightEvent::Bulb(BulbEvent::Replaced { watts: 40, maker: b"Osram" });
//! let mut note = Vec::new();
//! event.put(&mut note);
//! assert_eq!(note, b"\x01\x28\0\0\0\x05\0Osram");
//! assert_eq!(LightEvent::of(&note), Some(event));
//! assert_eq!(LightEvent::of(&note[..11]), None);
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bytes;
mod events;
mod nested;
mod record;
mod state;
mod wire;

#[doc(hidden)]
pub use alloc::vec::Vec;

pub use nested::NestedEvents;
pub use state::{Pieces, state_hash, whole, write_state};
pub use wire::{Bytes, Pen, Put, Wire, put_all};
