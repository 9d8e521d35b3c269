//! Sessions meet the world: sockets, the journal and the engine's turn.
#![forbid(unsafe_code)]

