//! The measurements as commands.

use std::process::ExitCode;

use clap::Subcommand;

use crate::error::Error;

pub mod args;
pub mod compare;
pub mod echo;
pub mod engine;
pub mod gateway;
pub mod oms;
mod oms_details;
mod oms_memory;
mod oms_screen;
pub mod output;
pub mod parse_log;
pub mod peers;
pub mod published;
pub mod report;
pub mod restart;
pub mod sessions;
pub mod tcp;
pub mod transactions;

pub use args::LoadArgs;
pub use output::OutputArgs;

/// Measures latency and prints it with the floor of the same run.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// The floor alone: the bytes of an order and its report over loopback TCP, no FIX
    Tcp(tcp::TcpArgs),

    /// A FIX order out and its report back, with the floor: the published round trip
    Echo(echo::EchoArgs),

    /// A FIX 4.2 order through a gateway and back on its session, with the floor
    GatewayEcho(gateway::GatewayArgs),

    /// The same, and an order that is sent on another session as FIX 4.4, with the floor
    GatewayConvert(gateway::GatewayArgs),

    /// Batches of orders through an OMS to a venue and back, next to the published table
    Oms(oms::OmsArgs),

    /// 894,000 orders, replaces and cancels through an OMS: how many are completed in each millisecond
    Transactions(transactions::TransactionsArgs),

    /// One order framed, decoded, validated and journalled, without a network
    ParseLog(parse_log::ParseLogArgs),

    /// Each published scenario as published, below the published figures
    Published(published::PublishedArgs),

    /// How long a start takes after many orders, and what checkpoints cost
    Restart(restart::RestartArgs),

    /// Many sessions on one port, and the effect on them of peers that never read
    Sessions(sessions::SessionsArgs),

    /// Other engines and fixwire in turn, each in its own process, with the floor
    Peers(peers::PeersArgs),

    /// Is one build faster than another? Compares result files, with intervals
    Compare(compare::CompareArgs),

    /// One HTML page of result files: curves, histograms, seconds, stages, the host
    Report(report::ReportArgs),
}

/// Runs a measurement. The exit code is a failure when an order was not answered, answered twice, answered out of
/// order, or answered incorrectly.
///
/// # Errors
///
/// The measurement failed.
pub fn run(command: Command) -> Result<ExitCode, Error> {
    match command {
        Command::Tcp(args) => tcp::run(&args),
        Command::Echo(args) => echo::run(&args),
        Command::GatewayEcho(args) => gateway::run(&args, false),
        Command::GatewayConvert(args) => gateway::run(&args, true),
        Command::Oms(args) => oms::run(&args),
        Command::Transactions(args) => transactions::run(&args),
        Command::ParseLog(args) => parse_log::run(&args),
        Command::Published(args) => published::run(&args),
        Command::Restart(args) => restart::run(&args),
        Command::Sessions(args) => sessions::run(&args),
        Command::Peers(args) => peers::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Report(args) => report::run(&args),
    }
}
