//! All unsafe code of the project, and functions that open files safely.

mod bus_error;
mod calls;
mod file;
mod instructions;
mod map;
mod private;
pub mod regular;

pub use bus_error::end_on_bus_error;
pub use calls::{CallCount, CallTracer, MOST_THREADS};
pub use file::{allocate, effective_user, free_space};
pub use instructions::InstructionCounter;
pub use map::{FilePages, Map};
pub use private::private;
