//! `bench echo`: an order and its report between two FIX engines, with the floor of the same run.

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::{Args, ValueEnum};

use super::args::{LoadArgs, RunPlan, on_own_thread};
use super::engine::EngineArgs;
use super::output::OutputArgs;
use super::tcp::Remote;
use crate::error::Error;
use crate::machine::Machine;
use crate::report::{FLOOR, Report, Row};
use crate::sockets::floor::ReportWay;
use crate::sockets::pair::{Pair, PairConfig};
use crate::stages::marks::MarkingHost;
use fixwire::Durability;
use fixwire::host::Os;
use fixwire_protocol::dictionary::Version;
use fixwire_stamps::scenario::{Echo, ORDER_BYTES, REPORT_BYTES};

/// Flags of `bench echo`.
#[derive(Args, Clone, Debug)]
pub struct EchoArgs {
    /// The load.
    #[command(flatten)]
    pub load: LoadArgs,

    /// Settings of the measured engines.
    #[command(flatten)]
    pub engine: EngineArgs,

    /// Measure this external acceptor instead; it must accept a Logon with ResetSeqNumFlag=Y
    #[arg(long, value_name = "HOST:PORT")]
    pub peer: Option<String>,

    /// With --peer: also measure the raw TCP floor to its host, where `fixwire bench tcp --serve` runs
    #[arg(long, value_name = "HOST:PORT", requires = "peer")]
    pub floor: Option<String>,

    /// Also measure runs in which our acceptor is asked for its status each millisecond, as a monitor might
    #[arg(long, conflicts_with = "peer")]
    pub ask_status: bool,

    /// Add a row in which one order in 16 is time-stamped at both ends, to show where its time goes
    #[arg(long, conflicts_with = "peer")]
    pub stages: bool,

    /// Add a row for each named part of the work, in which both engines leave this part out
    #[arg(
        long,
        value_name = "NAME,NAME",
        value_delimiter = ',',
        value_enum,
        conflicts_with = "peer"
    )]
    pub without: Vec<Without>,

    /// SenderCompID of the initiator
    #[arg(long, value_name = "ID", default_value = "BENCH")]
    pub sender_comp_id: String,

    /// TargetCompID of the initiator
    #[arg(long, value_name = "ID", default_value = "EXEC")]
    pub target_comp_id: String,

    /// Where the figures go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A part of the work of both engines.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Without {
    /// The rules of the dictionary, and CheckSum(10)
    Validation,
    /// The journal in files; messages are kept in memory
    Journal,
    /// New segments: a segment of 1 GiB, some 1,100,000 orders, is made at the start
    Segments,
}

impl Without {
    /// The name of its row.
    fn subject(self) -> &'static str {
        match self {
            Self::Validation => "no validation",
            Self::Journal => "no journal",
            Self::Segments => "no new segment",
        }
    }

    /// The settings of two engines that leave this part out.
    fn config(self, config: &PairConfig) -> PairConfig {
        let mut config = PairConfig {
            asked: None,
            journals: config.journals.join(self.subject()),
            ..config.clone()
        };
        match self {
            Self::Validation => config.checked = false,
            Self::Journal => config.durability = Durability::Memory,
            Self::Segments => config.segment_bytes = Some(1 << 30),
        }
        config
    }
}

impl EchoArgs {
    /// The first line of the table.
    fn settings(&self) -> String {
        let whose = if self.peer.is_some() {
            "initiator with "
        } else {
            ""
        };
        format!(
            "FIX.4.2 order ({ORDER_BYTES} bytes) and report ({REPORT_BYTES}) over TCP; \
             {whose}{}, wait spin; {}",
            self.engine.text(),
            self.load.text()
        )
    }

    /// The pair of engines to measure, with our acceptor or an external one.
    fn pair(&self, journals: &Path) -> Result<PairConfig, Error> {
        for (flag, id) in [
            ("--sender-comp-id", &self.sender_comp_id),
            ("--target-comp-id", &self.target_comp_id),
        ] {
            if id.is_empty() || id.bytes().any(|byte| byte.is_ascii_control()) {
                let problem = "must be visible characters".to_owned();
                return Err(Error::Flag { flag, problem });
            }
        }
        Ok(PairConfig {
            peer: self
                .peer
                .as_deref()
                .map(|peer| host_and_port("--peer", peer))
                .transpose()?,
            // Between two runs the engines are idle while the floor is measured: no Heartbeats then.
            heart_bt_int_seconds: if self.peer.is_some() { 30 } else { 3600 },
            asked: self.ask_status.then(Arc::default),
            ..self.engine.pair(
                &self.sender_comp_id,
                &self.target_comp_id,
                &[Version::Fix42],
                journals,
            )
        })
    }
}

/// Splits the `host:port` of a flag, also `[::1]:port`.
pub(super) fn host_and_port(flag: &'static str, peer: &str) -> Result<(String, u16), Error> {
    if let Ok(address) = peer.parse::<SocketAddr>() {
        return Ok((address.ip().to_string(), address.port()));
    }
    peer.rsplit_once(':')
        .filter(|(host, _)| !host.is_empty() && !host.contains(':'))
        .and_then(|(host, port)| {
            Some((host.to_owned(), port.parse().ok().filter(|port| *port > 0)?))
        })
        .ok_or_else(|| Error::Flag {
            flag,
            problem: format!("\"{peer}\" is not HOST:PORT"),
        })
}

/// Measures and prints.
///
/// # Errors
///
/// The measurement failed, or its figures could not be written.
pub fn run(args: &EchoArgs) -> Result<ExitCode, Error> {
    args.output.check()?;
    let report = on_own_thread(|| measure(args))?;
    args.output.deliver(report)
}

/// The subjects, measured in turn.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Subject {
    Floor,
    Engine,
    /// The engine, while another thread requests its status.
    Asked,
    /// A second pair of engines, whose orders are time-stamped.
    Marked,
    /// Another pair of engines, which leave something out.
    Without(usize),
}

/// Measures each subject at each pace.
///
/// # Errors
///
/// The measurement failed.
pub fn measure(args: &EchoArgs) -> Result<Report, Error> {
    let cores = args.load.two_cores()?;
    let journals = args.engine.folder()?;
    let config = args.pair(journals.path())?;
    let machine = Machine::read();
    let rows = rows(args, &config, cores)?;
    let title = format!("FIX 4.2 order and report over TCP, {}", args.engine.title());
    Ok(Report {
        rows,
        notes: notes(args, cores),
        ..Report::new("echo", title, args.settings(), machine)
    })
}

/// Measures each subject at each pace.
fn rows(
    args: &EchoArgs,
    config: &PairConfig,
    cores: Option<(usize, usize)>,
) -> Result<Vec<Row>, Error> {
    let orders = args.load.orders()?;
    let (acceptor, initiator) = cores.unzip();
    let mut pair = Pair::start(config, acceptor, Echo)?;
    pair.arena.arrivals = args.load.arrivals();
    let mut marked = args
        .stages
        .then(|| marked_pair(args, config, acceptor))
        .transpose()?;
    let subject = match &args.peer {
        Some(peer) => format!("peer {peer}"),
        None => "fixwire".to_owned(),
    };
    let mut subjects = vec![(&*subject, Subject::Engine)];
    if args.peer.is_none() || args.floor.is_some() {
        subjects.insert(0, (FLOOR, Subject::Floor));
    }
    let connect = |floor| Remote::connect("--floor", floor);
    let mut remote = args.floor.as_deref().map(connect).transpose()?;
    if args.ask_status {
        subjects.push(("fixwire, asked", Subject::Asked));
    }
    if args.stages {
        subjects.push(("fixwire, marked", Subject::Marked));
    }
    let mut others = Vec::new();
    for (place, without) in args.without.iter().enumerate() {
        let mut other = Pair::start(&without.config(config), acceptor, Echo)?;
        other.arena.arrivals = args.load.arrivals();
        others.push(other);
        subjects.push((without.subject(), Subject::Without(place)));
    }
    let rows = args.load.rows(
        initiator,
        orders,
        &subjects,
        &args.output,
        |subject, plan| {
            let RunPlan { pace, orders, .. } = plan;
            pair.arena.meter.counting = plan.counting;
            if let Some(marked) = &mut marked {
                marked.arena.meter.counting = plan.counting;
            }
            for other in &mut others {
                other.arena.meter.counting = plan.counting;
            }
            if let Some(asked) = &config.asked {
                asked.store(subject == Subject::Asked, Ordering::Relaxed);
            }
            match subject {
                Subject::Floor => match &mut remote {
                    Some(remote) => remote.run(args.load.arrivals(), pace, orders),
                    None => pair.arena.floor(ReportWay::Back, pace, orders),
                },
                Subject::Engine | Subject::Asked => pair.run(pace, orders),
                Subject::Without(place) => others[place].run(pace, orders),
                Subject::Marked => match &mut marked {
                    Some(marked) => marked.run(pace, orders),
                    None => pair.run(pace, orders),
                },
            }
        },
    );
    // When a run fails, the error of the far engine is the cause, so it is reported first.
    pair.stop()?;
    if let Some(marked) = marked {
        marked.stop()?;
    }
    for other in others {
        other.stop()?;
    }
    rows
}

/// A second pair of engines on the same cores, with time stamps at both ends. Comparing the rows of both pairs shows
/// the cost of the time stamps.
fn marked_pair(
    args: &EchoArgs,
    config: &PairConfig,
    acceptor: Option<usize>,
) -> Result<Pair<MarkingHost<Os>>, Error> {
    let config = PairConfig {
        asked: None,
        journals: config.journals.join("marked"),
        ..config.clone()
    };
    let mut pair = Pair::start_marked(&config, acceptor, Echo)?;
    pair.arena.arrivals = args.load.arrivals();
    Ok(pair)
}

fn notes(args: &EchoArgs, cores: Option<(usize, usize)>) -> Vec<String> {
    let mut notes = Vec::new();
    match cores {
        Some((acceptor, initiator)) if args.peer.is_none() => {
            notes.push(format!("Acceptor on core {acceptor}, initiator on core {initiator}."));
        }
        Some((_, initiator)) if args.floor.is_some() => {
            notes.push(format!("Initiator on core {initiator}; the floor is measured between this \
                host and the other host."));
        }
        Some((_, initiator)) => notes.push(format!(
            "Initiator on core {initiator}. The floor is not measured beside a peer, which may keep \
             the other core busy: see `bench tcp`."
        )),
        None => notes.push("Acceptor and initiator are not pinned to cores.".to_owned()),
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_hosts_with_ports() {
        assert_eq!(
            host_and_port("--peer", "localhost:9880").unwrap(),
            ("localhost".to_owned(), 9880)
        );
        assert_eq!(
            host_and_port("--peer", "127.0.0.1:1").unwrap(),
            ("127.0.0.1".to_owned(), 1)
        );
        assert_eq!(
            host_and_port("--peer", "[::1]:9").unwrap(),
            ("::1".to_owned(), 9)
        );
        for peer in [
            "",
            "host",
            ":1",
            "host:",
            "host:0",
            "host:70000",
            "::1:9:",
            "a:b:1",
        ] {
            let error = host_and_port("--peer", peer).unwrap_err().to_string();
            assert!(error.starts_with("--peer: "), "{peer}: {error}");
        }
    }
}
