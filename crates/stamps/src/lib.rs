//! Time stamps of requests in an OMS, and latency figures. The commands that measure a running engine and the
//! benchmarks share this crate.
//!
//! ```text
//! clock     nanoseconds since a start, and since 1970
//! stamp     one message and its times, and the buffer that passes stamps on
//! host      a host around another one that notes when requests pass
//! file      the stamps file
//! analysis  summaries of a stamps file, transactions in a millisecond
//! stats     percentiles, variation
//! scenario  the order and the report of the published benchmark
//! ```
#![forbid(unsafe_code)]

pub mod analysis;
pub mod clock;
pub mod file;
mod host;
pub mod scenario;
mod stamp;
pub mod stats;

pub use host::StampingHost;
pub use stamp::{FirstState, Stamp, Stamps};
