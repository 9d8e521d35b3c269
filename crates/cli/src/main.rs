//! The `fixwire` binary: reads the configuration and wires the rest.
#![forbid(unsafe_code)]

mod analyse;
mod app;
mod certify;
mod check;
mod client;
mod config;
mod decoded;
mod dictionary;
mod failure;
mod gateway;
mod generate;
mod journal;
mod log;
mod oms;
mod password;
mod place;
mod print;
mod query;
mod reading;
mod replay;
mod run;
mod salvage;
mod session;
mod signals;
mod sim;
mod store;
mod teller;
mod terminal;
mod writable;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Failure;

#[derive(Debug, Parser)]
#[command(
    name = "fixwire",
    version,
    about = "FIX engine, gateway, OMS and latency laboratory",
    arg_required_else_help = true,
    after_help = "Examples:
  fixwire bench echo                    measure latency on this machine
  fixwire doctor                        check this machine for low latency
  fixwire check broker.cfg              show the sessions, and where each value comes from
  fixwire config convert broker.cfg broker.toml
                                        convert to fixwire's own form
  fixwire run broker.cfg                run the sessions of a file, print what arrives
  fixwire run --app echo broker.cfg     accept each order with an execution report
  fixwire client client.cfg             send orders, see their reports
  fixwire sim sim.toml                  run a simulated exchange (examples/sim.toml)
  fixwire certify venue.plan            play certification cases against a venue
  fixwire status broker.cfg             show the state of its sessions
  fixwire gateway try gateway.toml messages.log
                                        test its rules with these messages
  fixwire journal verify store          verify the journal
  fixwire log grep '35=D 55=VOD' logs   find messages in logs of any engine, journals and captures
  fixwire dictionary show FIX.4.4 D     show the fields of an order

A settings file has the form that QuickFIX users know:
  [DEFAULT]
  ConnectionType=acceptor
  SocketAcceptPort=9876
  [SESSION]
  BeginString=FIX.4.4
  SenderCompID=BROKER
  TargetCompID=CLIENT

or, if its name ends in .toml, the form of docs/reference/settings.md#toml. Files of other engines are read as they
are, those of FIX Antenna if their name ends in .properties."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the sessions of a settings file with a built-in application
    Run(run::RunArgs),
    /// Sends orders to an OMS, a venue or a gateway and shows their reports, interactively or from a
    /// script
    Client(client::ClientArgs),
    /// Runs a simulated exchange: members send orders over FIX, and matching orders trade
    Sim(sim::SimArgs),
    /// Plays the certification cases of a plan against a venue, and keeps the bytes as evidence
    Certify(certify::CertifyArgs),
    /// Checks a settings file; prints each session's values and where they come from
    Check(check::CheckArgs),
    /// Converts settings files
    #[command(subcommand, after_help = config::EXAMPLES)]
    Config(config::ConfigCommand),
    /// Shows the state of an engine and its sessions; of a stopped engine, from its journal
    Status(session::StatusArgs),
    /// Controls the sessions of a running engine: logon, logout, sequence numbers, disable, send
    #[command(subcommand, after_help = session::EXAMPLES)]
    Session(session::SessionCommand),
    /// Tries the rules of a gateway on messages; reloads the rules of a running gateway
    #[command(subcommand, after_help = gateway::EXAMPLES)]
    Gateway(gateway::GatewayCommand),
    /// Shows orders, positions and limits of a running OMS; sets limits, kills and arms
    #[command(subcommand, after_help = oms::EXAMPLES)]
    Oms(oms::OmsCommand),
    /// Prints, verifies and repairs a journal; imports and exports sessions
    #[command(subcommand, after_help = journal::EXAMPLES)]
    Journal(journal::JournalCommand),
    /// Answers questions about logs of any engine, journals and captures: what happened to an order, how long answers took
    #[command(subcommand, after_help = log::EXAMPLES)]
    Log(log::LogCommand),
    /// Sends the recorded messages of a session to an acceptor, and compares the answers
    Replay(replay::ReplayArgs),
    /// Shows, compares and converts dictionaries
    #[command(subcommand)]
    Dictionary(dictionary::DictionaryCommand),
    /// Writes Rust views and builders of a dictionary's messages
    Generate(generate::GenerateArgs),
    /// Prints the hash of a password, for PasswordHash and PasswordFile
    HashPassword,
    /// Analyses the timestamps of an OMS: latency of its requests, transactions a millisecond
    #[command(subcommand, after_help = analyse::EXAMPLES)]
    Analyse(analyse::AnalyseCommand),
    /// Measures latency
    #[command(subcommand)]
    Bench(Box<fixwire_lab::bench::Command>),
    /// Checks this machine for low latency: problems, their fixes and the cost of each
    Doctor(fixwire_lab::doctor::DoctorArgs),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Client(args) => client::run(&args),
        Command::Sim(args) => sim::run(&args),
        Command::Certify(args) => certify::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Config(command) => config::run(&command),
        Command::Status(args) => session::status(&args),
        Command::Session(command) => session::run(&command),
        Command::Gateway(command) => gateway::run(&command),
        Command::Oms(command) => oms::run(&command),
        Command::Journal(command) => journal::run(&command),
        Command::Log(command) => log::run(&command),
        Command::Replay(args) => replay::run(&args),
        Command::Dictionary(command) => dictionary::run(&command),
        Command::Generate(args) => generate::run(&args),
        Command::HashPassword => password::run(),
        Command::Analyse(command) => analyse::run(&command),
        Command::Bench(command) => {
            fixwire_lab::bench::run(*command).map_err(|error| Failure::Text(error.to_string()))
        }
        Command::Doctor(args) => {
            fixwire_lab::doctor::run(&args).map_err(|error| Failure::Text(error.to_string()))
        }
    };
    match result {
        Ok(code) => code,
        Err(failure) => failure.tell(),
    }
}
