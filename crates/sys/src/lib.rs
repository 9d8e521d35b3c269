//! All unsafe code of the project, and functions that open files safely.

mod bus_error;
mod file;
mod map;
mod private;
pub mod regular;

pub use bus_error::end_on_bus_error;
pub use file::{allocate, effective_user, free_space};
pub use map::{FilePages, Map};
pub use private::private;
