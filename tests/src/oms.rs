//! An OMS between its clients and a simulated exchange, and what each of the three says of the orders.

pub mod books;
pub mod dialogue;
pub mod floor;
mod frames;
