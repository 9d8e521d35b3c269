//! `fixwire log`: reads messages from logs of any engine, journals and captures.

mod anonymise;
mod diff;
mod export;
mod gaps;
mod grep;
pub mod identity;
mod index;
mod latency;
mod order;
mod sources;
mod summary;
mod throughput;
mod validate;
#[cfg(feature = "view")]
mod view;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;
pub use sources::{Sources, tell_left_out};
pub use summary::moment;

/// Examples for the whole command.
pub const EXAMPLES: &str = "Examples:
  fixwire log summary logs                            what a folder of logs contains, and its problems
  fixwire log grep 11=order-36 broker.log.gz store    the messages of an order in a log and a journal
  tcpdump -i lo -w - | fixwire log grep 35=8 -        reports, while tcpdump captures them
  fixwire log order order-36 logs                     what happened to an order
  fixwire log gaps logs                               sequence numbers that are missing
  fixwire log latency --ours BROKER capture.pcapng    how long answers took
  fixwire log throughput logs                         transactions in each millisecond
  fixwire log validate --counts logs                  what a session would reject
  fixwire log diff ours.log theirs.log                messages that only one side has, fields that differ
  fixwire log anonymise logs --to anonymous           logs that may be shown to others
  fixwire log export --fields 11,55,38 logs           a table for a spreadsheet
  fixwire log view logs                               look through logs in the terminal
  fixwire log index logs                              find orders of large logs at once from now on

The commands read logs of QuickFIX, QuickFIX/J, QuickFIX/Go, QuickFIX/n and FIX Antenna, any other text with FIX
messages, Artio's printed archive, journals, and captures (pcap, pcapng), each plain or compressed with gzip or zstd
(docs/reference/log.md).";

/// Subcommands of `fixwire log`.
#[derive(Debug, Subcommand)]
pub enum LogCommand {
    /// Shows what logs contain, and their problems
    Summary(summary::SummaryArgs),
    /// Prints the messages that match a query
    Grep(grep::GrepArgs),
    /// Shows what happened to an order: its messages through replaces, cancels and rejects, with times
    Order(order::OrderArgs),
    /// Lists sequence numbers that are missing, by sender
    Gaps(gaps::GapsArgs),
    /// Shows how long it took until orders were reported, filled, changed and forwarded
    Latency(latency::LatencyArgs),
    /// Prints how many milliseconds had each number of orders, cancels and replaces
    Throughput(throughput::ThroughputArgs),
    /// Validates messages against their dictionaries, as a session does
    Validate(validate::ValidateArgs),
    /// Compares two sides of a session: messages that one side lacks, and fields that differ
    Diff(diff::LogDiffArgs),
    /// Writes logs with pseudonyms for ids, accounts and CompIDs, without texts and secrets
    Anonymise(anonymise::AnonymiseArgs),
    /// Writes messages as CSV or JSON lines
    Export(export::LogExportArgs),
    /// Indexes large logs, so that orders are found at once
    Index(index::IndexArgs),
    /// Looks through logs in the terminal: filter while typing, decoded messages, histories of orders
    #[cfg(feature = "view")]
    View(view::ViewArgs),
}

/// Runs the command.
pub fn run(command: &LogCommand) -> Result<ExitCode, Failure> {
    match command {
        LogCommand::Summary(args) => summary::run(args),
        LogCommand::Grep(args) => grep::run(args),
        LogCommand::Order(args) => order::run(args),
        LogCommand::Gaps(args) => gaps::run(args),
        LogCommand::Latency(args) => latency::run(args),
        LogCommand::Throughput(args) => throughput::run(args),
        LogCommand::Validate(args) => validate::run(args),
        LogCommand::Diff(args) => diff::run(args),
        LogCommand::Anonymise(args) => anonymise::run(args),
        LogCommand::Export(args) => export::run(args),
        LogCommand::Index(args) => index::run(args),
        #[cfg(feature = "view")]
        LogCommand::View(args) => view::run(args),
    }
}
