//! Properties that hold for any bytes: one function for each kind of input.
//!
//! Each module has `run`, which panics with a sentence when something does not hold, and `check`, to
//! which a test hands a subject or a model with a planted fault. `fuzz/` wraps `run` for libFuzzer;
//! `tests/tests/suites/corpus.rs` plays the committed inputs and random ones. `docs/internals/fuzzing.md` says what each
//! target promises.

pub mod checkpoint;
pub mod control;
pub mod conversion;
pub mod decode;
pub mod dictionary;
pub mod event;
pub mod frame;
pub mod framing;
mod hold;
pub mod input;
pub mod journal;
pub mod json;
pub mod keys;
pub mod log;
pub mod oms;
pub mod proxy;
pub mod rules;
pub mod session;
pub mod settings;
pub mod store;
pub mod tmp;
pub mod tunnel;

pub(crate) use hold::hold;

/// A target: its name, which is also its folder in `fuzz/corpus`, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 20] = [
    ("frame", frame::run),
    ("framing", framing::run),
    ("decode", decode::run),
    ("session", session::run),
    ("dictionary", dictionary::run),
    ("journal", journal::run),
    ("settings", settings::run),
    ("rules", rules::run),
    ("conversion", conversion::run),
    ("store", store::run),
    ("proxy", proxy::run),
    ("tunnel", tunnel::run),
    ("json", json::run),
    ("keys", keys::run),
    ("control", control::run),
    ("checkpoint", checkpoint::run),
    ("event", event::run),
    ("oms", oms::run),
    ("tmp", tmp::run),
    ("log", log::run),
];
