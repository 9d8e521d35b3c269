//! `fixwire gateway`, and the gateway of a settings file for other commands.

mod conversion;
mod input;
mod load;
pub mod reload;
mod result;
pub mod serve;
mod show;
mod trial;

use std::process::ExitCode;

use clap::Subcommand;

pub use load::{Loaded, load, longest_script, plain, read_table, remark, versions};

use crate::failure::Failure;

/// Of the command as a whole.
pub const EXAMPLES: &str = "Examples:
  fixwire gateway try gateway.toml messages.log      what would its rules do with these messages?
  fixwire gateway try gateway.toml store             the same with what a journal has
  fixwire gateway reload gateway.toml                give the running gateway the rules of its file
  fixwire gateway conversion FIX.4.2 FIX.4.4         how are messages converted?

`fixwire run gateway.toml` runs a gateway, `fixwire check gateway.toml` checks its file (docs/reference/gateway-cli.md).";

/// What to do with a gateway.
#[derive(Debug, Subcommand)]
pub enum GatewayCommand {
    /// Shows what the rules of a file do with the messages of logs, without any session
    Try(trial::TryArgs),
    /// Gives a running gateway the rules and tables that its file has now
    Reload(reload::ReloadArgs),
    /// Prints the built-in table that converts messages of one version to another
    Conversion(conversion::ConversionArgs),
}

/// Runs the command.
pub fn run(command: &GatewayCommand) -> Result<ExitCode, Failure> {
    match command {
        GatewayCommand::Try(args) => trial::run(args),
        GatewayCommand::Reload(args) => reload::run(args),
        GatewayCommand::Conversion(args) => conversion::run(args),
    }
}
