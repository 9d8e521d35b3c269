//! The client in a simulated engine: its messages, its view of the answers, its state after a restart.

mod desk;
mod orders;
mod pace;
mod restart;
