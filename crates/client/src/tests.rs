//! The client as an application, without an engine: all its state as text, and worlds whose texts stay as they are.

mod checkpoint_bytes;
mod state_lines;
mod worlds;
