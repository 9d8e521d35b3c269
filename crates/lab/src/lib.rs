//! Measures latency: what it times, how it counts, and the tables it prints.
//!
//! ```text
//! bench/     the commands: tcp (the floor alone), echo (FIX beside the floor), parse-log (no network)
//! load       what is sent when, and what came back: pure, driven by any clock
//! arena      two pinned threads that measure the floor and an engine by turns
//! floor      the same bytes over TCP without FIX
//! pair       two engines that trade with each other
//! trader     the application that sends orders and times their reports
//! scenario   the order and the report of the published benchmark
//! hot_path   the work on one order, stage by stage, without sockets
//! stats      percentiles, variation
//! machine    where the figures come from: cores, kernel, distance of the cores
//! report/    table, JSON, CSV, SVG
//! ```
#![forbid(unsafe_code)]

pub mod arena;
pub mod bench;
pub mod clock;
pub mod distance;
pub mod error;
pub mod floor;
pub mod hot_path;
pub mod load;
pub mod machine;
pub mod pair;
pub mod progress;
pub mod report;
pub mod scenario;
pub mod stats;
pub mod trader;
