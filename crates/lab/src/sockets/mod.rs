//! Measurements over sockets: two threads on separate cores, and the clients and acceptors at both ends.

pub mod acceptors;
pub mod arena;
pub mod bare_write;
pub mod client;
pub mod fix_client;
pub mod floor;
pub mod meter;
pub mod numbered;
pub mod pair;
pub mod pipe;
pub mod push;
pub mod trader;
