//! `bench published`: runs each published scenario with its published settings, and prints the result below the
//! published figures.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::oms::{self, OmsArgs};
use super::output::print;
use super::transactions::{self, TransactionsArgs};
use crate::error::Error;
use crate::machine::Machine;
use section::Setting;

mod antenna;
mod codec;
mod gateway;
mod jlbh;
mod layout;
mod parse_log;
mod push;
mod section;

/// Flags of `bench published`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  fixwire bench published --list            the scenarios, and how long each takes
  fixwire bench published --quick           a first look at all of them
  fixwire bench published jlbh antenna      two of them, as published
  fixwire bench published --results found   all, with a result file of each in the folder `found`")]
pub struct PublishedArgs {
    /// Scenarios to run [default: all]
    #[arg(value_enum, value_name = "NAME")]
    pub names: Vec<Scenario>,

    /// Few messages, a few seconds each: shows the tables, but the tails are not meaningful
    #[arg(long)]
    pub quick: bool,

    /// List the scenarios and how long each takes, without running them
    #[arg(long)]
    pub list: bool,

    /// Write the result file of each measurement into this folder, for `bench report` and `bench compare`
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,

    /// Folder for the journals; they are removed afterwards [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,
}

/// The published scenarios.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Scenario {
    /// Round trip at three rates: QuickFIX/J, Chronicle FIX
    Jlbh,
    /// Round trip, closed loop, three configurations: FIX Antenna
    Antenna,
    /// One message parsed and logged: Chronicle FIX
    ParseLog,
    /// Reports from server to client: one way, and at full speed
    Push,
    /// Orders of 100 and 160 bytes parsed, checked and written
    Codec,
    /// An order through a gateway and back on its session: FIXEdge
    GatewayEcho,
    /// An order through a gateway and on as FIX 4.4: FIXEdge
    GatewayConvert,
    /// Batches of orders through an order management system: f9omstw
    Oms,
    /// 894,000 transactions by the millisecond: QuickFIX C++
    Transactions,
}

/// Description of a section.
const ONE_MACHINE: &str = "Compare only ratios between figures of the same machine.";

impl Scenario {
    /// The published figures: source and hardware.
    fn source(self) -> &'static str {
        match self {
            Self::Jlbh => {
                "QuickFIX/J and Chronicle FIX, order out and report back, timed by JLBH (2016); both ends on one \
                 Xeon E5-2650 v2, loopback."
            }
            Self::Antenna => {
                "FIX Antenna Java 2.17 and QuickFIX/J 1.6.3, order out and report back, between \
                two hosts over 10 GbE. Ours: one host, over loopback."
            }
            Self::ParseLog => {
                "Chronicle FIX (2016), one message parsed and logged, 10,000 to 200,000 a second, five runs."
            }
            Self::Push => {
                "A vendor's scenario, whose figures and hardware cannot be quoted here: reports \
                from server to client, 2,000,000 one by one, each after the answer to the previous \
                one, and 5,000,000 as fast as possible."
            }
            Self::Codec => {
                "A vendor's scenario, whose figures and hardware cannot be quoted here: the codec \
                alone, orders of 100 and 160 bytes."
            }
            Self::GatewayEcho => {
                "FIXEdge: 200,000 messages at 2,000 a second, sent back on the same session, with \
                kernel bypass. Ours uses the sockets of the kernel."
            }
            Self::GatewayConvert => {
                "FIXEdge: 200,000 messages at 2,000 a second, sent to another session as FIX 4.4, \
                with kernel bypass. Ours uses the sockets of the kernel."
            }
            Self::Oms => {
                "f9omstw, an order management system for the Taiwan futures exchange (2019); the exchange is \
                 simulated. Ours over lines that speak FIX and over lines that speak TMP, that exchange's protocol."
            }
            Self::Transactions => {
                "A risk-control server with QuickFIX C++ on a second host, RHEL 5.6 before and after tuning (Red Hat, \
                 2011)."
            }
        }
    }

    /// Approximate duration, seconds.
    fn seconds(self, quick: bool) -> u64 {
        let (full, short) = match self {
            Self::Jlbh => (50, 5),
            Self::Antenna => (30, 1),
            Self::ParseLog => (30, 2),
            Self::Push => (70, 1),
            Self::Codec => (2, 1),
            Self::GatewayEcho => (330, 1),
            Self::GatewayConvert => (820, 3),
            Self::Oms => (1140, 12),
            Self::Transactions => (15, 1),
        };
        if quick { short } else { full }
    }

    /// Measures and prints; returns whether all answers were correct.
    fn play(self, setting: &Setting) -> Result<bool, Error> {
        match self {
            Self::Jlbh => jlbh::measure(setting)?.deliver(setting),
            Self::Antenna => antenna::measure(setting)?.deliver(setting),
            Self::ParseLog => parse_log::measure(setting)?.deliver(setting),
            Self::Push => push::measure(setting)?.deliver(setting),
            Self::Codec => codec::measure(setting)?.deliver(setting),
            Self::GatewayEcho => gateway::measure(setting, false)?.deliver(setting),
            Self::GatewayConvert => gateway::measure(setting, true)?.deliver(setting),
            Self::Oms => {
                let sizes = [
                    "--published",
                    "--lines fix,tmp --batch 1,10,100,200 --saturation 1000",
                ];
                let (mut args, command) = setting.args::<OmsArgs>("oms", "", sizes)?;
                args.json = setting.result("oms");
                print(&command)?;
                oms::run(&args).map(|_| true)
            }
            Self::Transactions => {
                let sizes = ["", "--transactions 3000"];
                let (mut args, command) =
                    setting.args::<TransactionsArgs>("transactions", "", sizes)?;
                args.json = setting.result("transactions");
                print(&command)?;
                transactions::run(&args).map(|_| true)
            }
        }
    }

    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Runs the named scenarios, or lists all. A scenario that fails does not stop the others.
///
/// # Errors
///
/// The folder of the results cannot be created, or printing failed.
pub fn run(args: &PublishedArgs) -> Result<ExitCode, Error> {
    let mut chosen = args.names.clone();
    if chosen.is_empty() {
        chosen = Scenario::value_variants().to_vec();
    }
    if args.list {
        print(&list(&chosen))?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(folder) = &args.results {
        let doing = || format!("make the folder {}", folder.display());
        fs::create_dir_all(folder).map_err(Error::system(doing()))?;
    }
    let setting = Setting {
        quick: args.quick,
        journal: args.journal.clone(),
        results: args.results.clone(),
    };
    let seconds = chosen.iter().map(|it| it.seconds(args.quick)).sum();
    print(&layout::paragraph(
        &format!(
            "bench published: {} of {} scenarios, about {}. {}",
            chosen.len(),
            Scenario::value_variants().len(),
            duration(seconds),
            Machine::read()
        ),
        "",
    ))?;
    let mut passed = true;
    for scenario in chosen {
        let about = duration(scenario.seconds(args.quick));
        let (name, source) = (scenario.name(), scenario.source());
        let head = format!("{name} (about {about}): {source} {ONE_MACHINE}");
        print(&format!("\n{}", layout::paragraph(&head, "")))?;
        match scenario.play(&setting) {
            Ok(right) => passed &= right,
            Err(error) => {
                passed = false;
                eprintln!("bench published: {name}: {error}");
            }
        }
    }
    Ok(if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// One line per scenario: name, duration as published and with `--quick`, and description.
fn list(chosen: &[Scenario]) -> String {
    let mut text = format!("{:<16}{:>12}{:>8}\n", "scenario", "published", "quick");
    for scenario in chosen {
        let value = scenario.to_possible_value();
        let about = value.and_then(|value| value.get_help().map(ToString::to_string));
        text += &format!(
            "{:<16}{:>12}{:>8}  {}\n",
            scenario.name(),
            duration(scenario.seconds(false)),
            duration(scenario.seconds(true)),
            about.unwrap_or_default()
        );
    }
    text
}

/// Formats seconds.
fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        _ => format!("{} min", seconds.div_ceil(60)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_every_scenario_within_100_columns() {
        let text = list(Scenario::value_variants());
        assert_eq!(text.lines().count(), 1 + 9);
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
        let line = text
            .lines()
            .find(|line| line.starts_with("gateway-convert"));
        assert_eq!(
            line,
            Some(
                "gateway-convert       14 min     3 s  An order through a gateway and on as FIX 4.4: FIXEdge"
            )
        );
    }
}
