//! The client in a simulated engine: what it sends, what it makes of the answers, what a restart leaves.

mod desk;
mod orders;
mod pace;
mod restart;
