//! `bench gateway-echo` and `bench gateway-convert`: an order through a gateway, as published for FIXEdge.
//!
//! Source: the echo test and the convert test in FIXEdge's latency report. An order of FIX 4.2 goes to a gateway, whose
//! rules send it back on the same session, or on another session as FIX 4.4.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use fixwire_gateway::gateway::{Gateway, GatewayContext, GatewaySession};
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_stamps::scenario::{NEW_ORDER_SINGLE, ORDER_BYTES, REPORT_BYTES};

use super::args::{LoadArgs, RunPlan, on_own_thread};
use super::engine::EngineArgs;
use super::output::OutputArgs;
use crate::error::Error;
use crate::machine::Machine;
use crate::report::{FLOOR, FLOOR_ONWARD, Report};
use crate::sockets::fix_client::FixClient;
use crate::sockets::floor::ReportWay;

/// Flags of both measurements.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "As published: 200,000 messages at 2,000 a second, and a million at 50,000:
  fixwire bench gateway-convert --rate 2000 --iterations 200000 --no-ping-pong
  fixwire bench gateway-convert --rate 50000 --iterations 1000000 --no-ping-pong"
)]
pub struct GatewayArgs {
    /// The load.
    #[command(flatten)]
    pub load: LoadArgs,

    /// Settings of the measured gateway.
    #[command(flatten)]
    pub engine: EngineArgs,

    /// Number of rules of the gateway; only the last one applies
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub rules: u32,

    /// Do not track orders: ids pass unchanged, and no report is routed back
    #[arg(long)]
    pub pass_ids: bool,

    /// Where the figures go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The sessions of a gateway: orders of the first are sent on the last.
const ECHO: &[Version] = &[Version::Fix42];
const FORWARD: &[Version] = &[Version::Fix42, Version::Fix42];
const CONVERT: &[Version] = &[Version::Fix42, Version::Fix44];

/// A subject of the measurement.
#[derive(Clone, Copy, Debug)]
enum Subject {
    /// The bare sockets.
    Floor(ReportWay),
    /// One of the measured gateways, by index.
    Gateway(usize),
}

/// The names of sessions in the gateway's file.
const NAMES: [&str; 2] = ["CLIENT", "VENUE"];

/// A gateway with `count` rules, of which the last one sends orders on. With `follows` the gateway tracks orders and
/// routes their reports back, as gateways do by default.
pub(crate) fn gateway(count: u32, versions: &[Version], follows: bool) -> Result<Gateway, Error> {
    let target = NAMES[versions.len() - 1];
    let mut rules = match follows {
        true => "[[rule]]\nfrom = [\"VENUE\"]\ndo = ['convert', 'return']\n".to_owned(),
        false => "[gateway]\nids = \"pass\"\n".to_owned(),
    };
    for number in 1..count {
        rules += &format!(
            "[[rule]]\nfrom = [\"*\"]\nwhen = 'MsgType = D and Symbol = \"S{number}\"'\ndo = ['send {target}']\n"
        );
    }
    rules += &format!("[[rule]]\nfrom = [\"CLIENT\"]\ndo = ['convert', 'send {target}']\n");
    gateway_of(&rules, versions)
}

/// A gateway with this rules file, between a client and a venue.
pub(crate) fn gateway_of(file: &str, versions: &[Version]) -> Result<Gateway, Error> {
    let named = NAMES.into_iter().zip(versions);
    let sessions = named.map(|(name, &version)| GatewaySession {
        name,
        dictionary: Arc::new(Dictionary::built_in(version)),
        version,
        peer: "",
        resets: false,
    });
    let sessions: Vec<_> = sessions.collect();
    let context = GatewayContext {
        sessions: &sessions,
        tables: &[],
        conversions: &[],
        hash_key: [0; 16],
    };
    Gateway::load(file, &context, Box::new(|_| ())).map_err(|errors| {
        let first = errors.first().map(ToString::to_string);
        Error::Engine(first.unwrap_or_default())
    })
}

/// Measures and prints; with `converts` it also measures the conversion.
///
/// # Errors
///
/// The measurement failed, or its figures could not be written.
pub fn run(args: &GatewayArgs, converts: bool) -> Result<ExitCode, Error> {
    args.output.check()?;
    let report = on_own_thread(|| measure(args, converts))?;
    args.output.deliver(report)
}

/// Measures at each pace.
///
/// # Errors
///
/// The measurement failed.
pub fn measure(args: &GatewayArgs, converts: bool) -> Result<Report, Error> {
    let orders = args.load.orders()?;
    let cores = args.load.two_cores()?;
    let journals = args.engine.folder()?;
    let machine = Machine::read();
    let (acceptor, initiator) = cores.unzip();
    let mut ways = vec![("echo", ECHO)];
    let mut subjects = vec![
        (FLOOR, Subject::Floor(ReportWay::Back)),
        ("echo", Subject::Gateway(0)),
    ];
    if converts {
        ways.extend([("forward", FORWARD), ("convert", CONVERT)]);
        subjects.extend([
            (FLOOR_ONWARD, Subject::Floor(ReportWay::Onward)),
            ("forward", Subject::Gateway(1)),
            ("convert", Subject::Gateway(2)),
        ]);
    }
    let mut clients = Vec::new();
    for (name, versions) in ways {
        // An order that returns on its own session has no venue, so no reports follow.
        let follows = versions.len() > 1 && !args.pass_ids;
        let app = gateway(args.rules, versions, follows)?;
        let folder = journals.path().join(name);
        // No Heartbeats: while one subject is measured, the connections of the others are idle.
        let config = args.engine.pair("BENCH", "GATE", versions, &folder);
        let mut client = FixClient::start(config, acceptor, app, NEW_ORDER_SINGLE)?;
        client.arena.arrivals = args.load.arrivals();
        if follows {
            client.trade();
        }
        clients.push(client);
    }
    let rows = args.load.rows(
        initiator,
        orders,
        &subjects,
        &args.output,
        |subject, plan| {
            let RunPlan { pace, orders, .. } = plan;
            for client in &mut clients {
                client.arena.meter.counting = plan.counting;
            }
            match subject {
                Subject::Floor(way) => clients[0].arena.floor(way, pace, orders),
                Subject::Gateway(number) => clients[number].run(pace, orders),
            }
        },
    );
    // When a run fails, the error of the far engine is the cause, so it is reported first.
    for client in clients {
        client.stop()?;
    }
    let scenario = if converts {
        "gateway-convert"
    } else {
        "gateway-echo"
    };
    let title = format!("FIX 4.2 order through a gateway, {}", args.engine.title());
    let settings = format!(
        "FIX.4.2 order ({ORDER_BYTES} bytes) through a gateway with {} rules and back, over TCP; {}; {}, \
         wait spin; {}",
        args.rules,
        if args.pass_ids || !converts {
            "ids pass"
        } else {
            "orders followed"
        },
        args.engine.text(),
        args.load.text()
    );
    Ok(Report {
        rows: rows?,
        notes: vec![format!(
            "echo: the gateway sends the order back on the same session; forward: on another \
            session; convert: on another session, as FIX 4.4. The floors answer with \
            {REPORT_BYTES} bytes: `tcp floor` on the same connection, `tcp floor, onward` on a \
            second one, on which no answer carries the TCP acknowledgements. If the gateway \
            follows orders, the venue fills each order when it arrives; the report must reach the \
            client, but is not timed."
        )],
        ..Report::new(scenario, title, settings, machine)
    })
}
