//! Latency measurement: what is timed, how samples are counted, and the tables that show them.
//!
//! ```text
//! bench/     the commands: tcp (the floor alone), echo (FIX beside the floor), parse-log (no network), and published,
//!            which runs what was published
//! load/      what is sent when, and what came back: pure, driven by any clock; how orders are spread (arrivals), a run
//!            second by second (series)
//! sockets/   two pinned threads that measure the floor and an engine in turn (arena); the floor; engines that trade with
//!            each other (pair) or push reports; a FIX client that is only sockets; other engines (acceptors)
//! oms/       an OMS between a client and a venue: over sockets (rig), in memory (driven), after many orders (aging)
//! wired/     engines over sockets in memory, for counting: orders (driven), a reconnect storm, many orders (aging)
//! codec      orders of a given length parsed, checked and written
//! hot_path   parts of the work on one order, each by itself
//! stages     where the time of an order goes between two of our engines
//! published  published figures of others
//! machine/   the machine: cores, kernel, distance of the cores; what it takes from a spinning loop (gaps), what a run
//!            used (usage) and what its threads cost beside time (counts)
//! assertion  limits for a measurement
//! compare/   compares two builds by their result files
//! report/    table, result files that can be read again, CSV, SVG, interval logs, samples, JUnit
//! replay/    a recorded session, sent to an acceptor once more
//! page/      one HTML page of result files
//! doctor/    checks of the machine for low latency, with remedies
//! ```
//!
//! The order, its report, the clock, stamps and percentiles are in `fixwire-stamps`.
#![forbid(unsafe_code)]

pub mod assertion;
pub mod bench;
pub mod codec;
pub mod compare;
pub mod doctor;
pub mod error;
pub mod hot_path;
pub mod load;
pub mod machine;
pub mod oms;
pub mod page;
pub mod progress;
pub mod published;
pub mod replay;
pub mod report;
pub mod sockets;
pub mod stages;
pub mod wired;
