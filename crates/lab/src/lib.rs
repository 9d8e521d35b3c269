//! Latency measurement: what is timed, how samples are counted, and the tables that show them.
//!
//! ```text
//! bench/     the commands: tcp (the floor alone), echo (FIX beside the floor), parse-log (no network), and published,
//!            which runs what was published
//! load       what is sent when, and what came back: pure, driven by any clock
//! arrivals   how the orders of an open loop are spread
//! arena      two pinned threads that measure the floor and an engine in turn
//! client     orders over bare sockets, timed from the write to the read
//! gaps       what the machine takes from a spinning loop, and which orders that touched
//! floor      the same bytes over TCP without FIX
//! fix_client a FIX client that is only sockets, before an acceptor
//! acceptors  other engines, each in its own process
//! pair       two engines that trade with each other
//! trader     the application that sends orders and times their reports
//! push       unsolicited reports of an acceptor, timed one way
//! codec      orders of a given length parsed, checked and written
//! hot_path   parts of the work on one order, each by itself
//! driven     the engine and the gateway over in-memory sockets, for counting
//! storm      a reconnect storm of many sessions over in-memory sockets
//! wired      an engine over in-memory sockets, which are wires
//! line_protocol  what the line of a measured OMS speaks
//! oms_rig    an OMS between a client and a venue; oms_driven: the same without a network
//! aging      an engine after many orders; oms_aging: an OMS
//! stages     where the time of an order goes between two of our engines
//! bare_write the cost of a bare write
//! published  published figures of others
//! machine    the machine: cores, kernel, distance of the cores
//! usage      CPU time, page faults, context switches and memory of a run
//! series     a run second by second
//! assertion  limits for a measurement
//! compare/   compares two builds by their result files
//! report/    table, result files that can be read again, CSV, SVG, interval logs, samples,
//!            JUnit
//! replay/    a recorded session, sent to an acceptor once more
//! page/      one HTML page of result files
//! doctor/    checks of the machine for low latency, with remedies
//! ```
//!
//! The order, its report, the clock, stamps and percentiles are in `fixwire-stamps`.
#![forbid(unsafe_code)]

pub mod acceptors;
pub mod aging;
pub mod arena;
pub mod arrivals;
pub mod assertion;
pub mod bare_write;
pub mod bench;
pub mod client;
pub mod codec;
pub mod compare;
pub mod distance;
pub mod doctor;
pub mod driven;
pub mod error;
pub mod fix_client;
pub mod floor;
pub mod gaps;
pub mod hot_path;
pub mod line_protocol;
pub mod load;
pub mod machine;
pub mod numbered;
pub mod oms_aging;
pub mod oms_driven;
mod oms_parts;
pub mod oms_rig;
mod oms_tmp_venue;
mod oms_venue;
pub mod page;
pub mod pair;
pub mod pipe;
pub mod progress;
pub mod published;
pub mod push;
pub mod replay;
pub mod report;
pub mod series;
pub mod stages;
pub mod storm;
pub mod trader;
pub mod usage;
mod wired;
mod wires;
