//! `fixwire gateway`, and the gateway of a settings file for other commands.

mod conversion;
pub mod events;
pub mod reload;
mod result;
mod show;
mod trial;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;

/// Examples for the whole command.
pub const EXAMPLES: &str = "Examples:
  fixwire gateway try gateway.toml messages.log      test its rules with these messages
  fixwire gateway try gateway.toml store             test its rules with the messages of a journal
  fixwire gateway reload gateway.toml                reload the rules of the running gateway
  fixwire gateway conversion FIX.4.2 FIX.4.4         print the built-in conversion table

`fixwire run gateway.toml` runs a gateway, `fixwire check gateway.toml` checks its file (docs/reference/gateway-cli.md).";

/// Subcommands of `fixwire gateway`.
#[derive(Debug, Subcommand)]
pub enum GatewayCommand {
    /// Shows what the rules of a file do with the messages of a log; opens no session
    Try(trial::TryArgs),
    /// Reloads rules and tables of a running gateway from its file
    Reload(reload::ReloadArgs),
    /// Prints the built-in conversion table from one FIX version to another
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
