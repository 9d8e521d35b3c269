//! Every unsafe line of the project.

mod file;
mod map;

pub use file::{allocate, effective_user};
pub use map::Map;
