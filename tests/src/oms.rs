//! An OMS between its clients and a simulated exchange, and the books of all three.

pub mod books;
pub mod carried;
pub mod dialogue;
pub mod evening;
pub mod floor;
mod frames;
pub mod heard;
pub mod stream;
pub mod trader;
pub mod venue;
pub mod worlds;
