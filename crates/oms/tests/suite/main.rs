//! The OMS in a world of its own: its process dies at every operation of its disk and network, while a client trades
//! through it with a venue that does not die.

mod crashes;
mod desk;
mod floor;
mod model;
mod permutations;
mod reports;
mod twin;
