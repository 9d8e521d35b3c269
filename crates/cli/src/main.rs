//! The `fixwire` binary: parses the command line and starts the command.
#![forbid(unsafe_code)]

mod analyse;
mod app;
mod certify;
mod check;
mod client;
mod config;
mod decoded;
mod dictionary;
mod examples;
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

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

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
  fixwire run broker.cfg                run the sessions of a file, print received messages
  fixwire run --app echo broker.cfg     accept each order with an execution report
  fixwire client client.cfg             send orders, see their reports
  fixwire sim sim.toml                  run a simulated exchange (examples/sim.toml)
  fixwire sim --demo                    run a simulated exchange with a market, without a file
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
    /// Analyses the timestamps of an OMS: latency of its requests, transactions per millisecond
    #[command(subcommand, after_help = analyse::EXAMPLES)]
    Analyse(analyse::AnalyseCommand),
    /// Measures latency
    #[command(subcommand)]
    Bench(Box<fixwire_lab::bench::Command>),
    /// Checks this machine for low latency: problems, their fixes and the cost of each
    Doctor(fixwire_lab::doctor::DoctorArgs),
}

/// The parsed command line. If the command line is invalid, prints the error and exits.
fn parse() -> Cli {
    let command = examples::with_examples(Cli::command());
    let matches = command.try_get_matches();
    let read = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    read.unwrap_or_else(|error| sparing(error).exit())
}

/// The error, with tips that name only likely commands and flags.
fn sparing(mut error: clap::Error) -> clap::Error {
    let (typed, tips) = match error.kind() {
        ErrorKind::InvalidSubcommand => (
            ContextKind::InvalidSubcommand,
            ContextKind::SuggestedSubcommand,
        ),
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        _ => return error,
    };
    let Some(ContextValue::String(typed)) = error.get(typed).cloned() else {
        return error;
    };
    let is_near =
        |tip: &String| is_slip(typed.trim_start_matches('-'), tip.trim_start_matches('-'));
    let near: Vec<String> = match error.get(tips) {
        Some(ContextValue::String(tip)) => [tip]
            .into_iter()
            .filter(|it| is_near(it))
            .cloned()
            .collect(),
        Some(ContextValue::Strings(all)) => all.iter().filter(|it| is_near(it)).cloned().collect(),
        _ => return error,
    };
    let is_list = matches!(error.get(tips), Some(ContextValue::Strings(_)));
    match near.first() {
        None => {
            drop(error.remove(tips));
            // An empty list of suggestions would be printed as a blank line.
            let rest = error.get(ContextKind::Suggested);
            if matches!(rest, Some(ContextValue::StyledStrs(all)) if all.is_empty()) {
                drop(error.remove(ContextKind::Suggested));
            }
        }
        Some(_) if is_list => drop(error.insert(tips, ContextValue::Strings(near))),
        Some(_) => {}
    }
    error
}

/// Whether `typed` is most likely a typing error for `meant`. An error is likely if `meant` begins with `typed`, or if
/// at most a third of the letters differ.
fn is_slip(typed: &str, meant: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (typed.chars().collect(), meant.chars().collect());
    if a.len() >= 3 && meant.starts_with(typed) {
        return true;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let mut before = row.clone();
    for (at, x) in a.iter().enumerate() {
        let old = std::mem::replace(&mut row, vec![at + 1; b.len() + 1]);
        for (to, y) in b.iter().enumerate() {
            let mut least = (old[to] + usize::from(x != y))
                .min(old[to + 1] + 1)
                .min(row[to] + 1);
            // Two neighbouring letters that are swapped count as one error.
            if at > 0 && to > 0 && *x == b[to - 1] && a[at - 1] == *y {
                least = least.min(before[to - 1] + 1);
            }
            row[to + 1] = least;
        }
        before = old;
    }
    row[b.len()] <= (b.len().max(3) / 3).min(2)
}

fn main() -> ExitCode {
    let result = match parse().command {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tips_are_what_was_meant() {
        for (typed, meant) in [
            ("stauts", "status"),
            ("benhc", "bench"),
            ("sesion", "session"),
            ("conv", "conversion"),
            ("dictionnary", "dictionary"),
        ] {
            assert!(is_slip(typed, meant), "{typed}");
        }
        for (typed, other) in [
            ("nosuch", "bench"),
            ("nosuch", "oms"),
            ("start", "status"),
            ("x", "run"),
        ] {
            assert!(!is_slip(typed, other), "{typed}");
        }
        let said = |args: &[&str]| {
            let command = examples::with_examples(Cli::command());
            let error = command.try_get_matches_from(args).unwrap_err();
            sparing(error).to_string()
        };
        let nosuch = said(&["fixwire", "nosuch"]);
        assert!(
            nosuch.contains("'nosuch'") && !nosuch.contains("similar"),
            "{nosuch}"
        );
        assert!(!nosuch.contains("\n\n\n"), "{nosuch}");
        assert!(said(&["fixwire", "stauts"]).contains("'status'"));
        let flag = said(&["fixwire", "status", "--jsno", "a"]);
        assert!(flag.contains("'--json'"), "{flag}");
        for (command, words) in [
            ("kill", "<SCOPE>..."),
            ("limit", "<SCOPE LIMIT>..."),
            ("market", "<SYMBOL STATE>..."),
            ("price", "<SYMBOL PRICE>..."),
            ("roll", "<DAY>..."),
        ] {
            let help = said(&["fixwire", "oms", command, "--help"]);
            let has_scope = help.contains("firm, session=NAME, account=NAME");
            assert!(help.contains(words), "{help}");
            assert_eq!(has_scope, words.contains("SCOPE"), "{help}");
        }
    }
}
