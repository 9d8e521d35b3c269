//! The client as an application, without an engine: all its state as text, and random worlds whose texts must not
//! change.

mod checkpoint_bytes;
mod state_lines;
mod worlds;
