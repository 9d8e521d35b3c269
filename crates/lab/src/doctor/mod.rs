//! `fixwire doctor`: is this machine fit for low latency, and what would improve it?
//!
//! ```text
//! command     the flags, and what is done by them
//! diagnosis   what all checks come to, and the exit code
//! checks      the table: one row a check, with remedy, cost and weight
//! observed    what a check is given and answers; snapshot: files of the kernel below a root folder
//! cpu, memory, interrupts, process, network, kernel    the checks that read
//! measure     the checks that measure: jitter of each hot core, floor; cache: what a hot core keeps while it spins
//! show        the table as text; script: the remedies as a shell script
//! ```
//!
//! `fixwire doctor` changes nothing and opens no file for writing. A value that cannot be read is reported as
//! unknown, never as good.

mod cache;
mod checks;
mod command;
mod cpu;
mod diagnosis;
mod interrupts;
mod kernel;
mod measure;
mod memory;
mod network;
mod observed;
mod process;
mod script;
mod show;
mod snapshot;
#[cfg(test)]
mod tests;

pub use cache::KeptCache;
pub use checks::{CHECKS, Check, CheckMethod, Weight};
pub use command::{DoctorArgs, run};
pub use diagnosis::{Diagnosis, Finding, facts};
pub use measure::{Jitter, LIMITS, Measured};
pub use observed::{Health, Observation, Observed};
pub use snapshot::Snapshot;
