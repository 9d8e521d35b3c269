//! `bench gateway-echo` and `bench gateway-convert`: an order through a gateway, as published for FIXEdge.
//!
//! Source: the echo and the convert test of its latency report. An order of FIX 4.2 goes to a gateway,
//! whose rules send it back on the same session, or on another one as FIX 4.4.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use fixwire_gateway::gateway::{Gateway, GatewayContext, GatewaySession};
use fixwire_protocol::SessionId;
use fixwire_protocol::dictionary::{Dictionary, Version};

use super::engine::EngineArgs;
use super::{LoadArgs, OutputArgs, Subject, on_own_thread};
use crate::arena::PATIENCE;
use crate::error::Error;
use crate::floor::{ORDER_BYTES, REPORT_BYTES, Way};
use crate::machine::Machine;
use crate::pair::{Pair, PairConfig};
use crate::report::{FLOOR, FLOOR_ONWARD, Report, Unit};
use crate::scenario::NEW_ORDER_SINGLE;

/// Flags of both measurements.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "As published: 200,000 messages at 2,000 a second, and a million at 50,000:
  fixwire bench gateway-convert --rate 2000 --iterations 200000 --no-ping-pong
  fixwire bench gateway-convert --rate 50000 --iterations 1000000 --no-ping-pong"
)]
pub struct GatewayArgs {
    /// What is measured.
    #[command(flatten)]
    pub load: LoadArgs,

    /// How it is measured.
    #[command(flatten)]
    pub engine: EngineArgs,

    /// Rules that the gateway has, of which the last ones apply
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(3..=10_000))]
    pub rules: u32,

    /// Where the figures go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The gateway's sessions: orders come back on the first; those of the second leave on the third, those
/// of the fourth on the fifth.
const SESSIONS: [(&str, Version); 5] = [
    ("ECHO", Version::Fix42),
    ("CLIENT", Version::Fix42),
    ("VENUE", Version::Fix44),
    ("PLAIN", Version::Fix42),
    ("OTHER", Version::Fix42),
];

/// The gateway's file with so many rules.
fn rules(count: u32) -> String {
    let mut text = "[gateway]\nids = \"pass\"\n".to_owned();
    for number in 3..count {
        text += &format!(
            "[[rule]]\nfrom = [\"*\"]\nwhen = 'MsgType = D and Symbol = \"S{number}\"'\ndo = ['send VENUE']\n"
        );
    }
    text + "[[rule]]\nfrom = [\"ECHO\"]\ndo = ['send ECHO']\n\
            [[rule]]\nfrom = [\"PLAIN\"]\ndo = ['send OTHER']\n\
            [[rule]]\nfrom = [\"CLIENT\"]\ndo = ['convert', 'send VENUE']\n"
}

fn gateway(count: u32) -> Result<Gateway, Error> {
    let dictionaries = [Version::Fix42, Version::Fix44].map(|version| {
        let dictionary = Arc::new(Dictionary::built_in(version));
        (version, dictionary)
    });
    let sessions = SESSIONS.map(|(name, version)| GatewaySession {
        name,
        dictionary: dictionaries[usize::from(version == Version::Fix44)]
            .1
            .clone(),
        version,
        peer: "",
        resets: false,
    });
    let context = GatewayContext {
        sessions: &sessions,
        tables: &[],
        conversions: &[],
        hash_key: [0; 16],
    };
    Gateway::load(&rules(count), &context, Box::new(|_| ())).map_err(|errors| {
        let first = errors.first().map(ToString::to_string);
        Error::Engine(first.unwrap_or_default())
    })
}

/// Measures and prints; with `converts` the conversion as well.
///
/// # Errors
///
/// The measurement could not be made, or its figures not be written.
pub fn run(args: &GatewayArgs, converts: bool) -> Result<ExitCode, Error> {
    args.output.check()?;
    let report = on_own_thread(|| measure(args, converts))?;
    args.output.deliver(&report)
}

/// Measures at each pace.
///
/// # Errors
///
/// The measurement could not be made.
pub fn measure(args: &GatewayArgs, converts: bool) -> Result<Report, Error> {
    let orders = args.load.orders()?;
    let cores = args.load.two_cores()?;
    let journals = args.engine.folder()?;
    let config = PairConfig {
        peer: None,
        initiator: "BENCH".to_owned(),
        acceptor: "GATE".to_owned(),
        answer: NEW_ORDER_SINGLE,
        sessions: SESSIONS.map(|(_, version)| version).to_vec(),
        durability: args.engine.durability(),
        checked: args.engine.is_checked(),
        nodelay: !args.engine.nagle,
        heart_bt_int_seconds: 3600,
        patience: PATIENCE,
        journals: journals.path().to_owned(),
    };
    let machine = Machine::read();
    let mut pair = Pair::start(&config, cores, gateway(args.rules)?)?;
    let mut subjects = vec![
        (FLOOR, Subject::Floor(Way::Back)),
        ("echo", Subject::Session(SessionId(0))),
    ];
    if converts {
        subjects.push((FLOOR_ONWARD, Subject::Floor(Way::Onward)));
        subjects.push(("forward", Subject::Session(SessionId(3))));
        subjects.push(("convert", Subject::Session(SessionId(1))));
    }
    let rows = args.load.rows(&mut pair, orders, &subjects);
    // What ended the far engine explains a run that failed, not the other way round.
    pair.stop()?;
    Ok(Report {
        scenario: if converts {
            "gateway-convert"
        } else {
            "gateway-echo"
        },
        settings: format!(
            "FIX.4.2 order ({ORDER_BYTES} bytes) through a gateway with {} rules and back, over TCP; {}, \
             wait spin; {}",
            args.rules,
            args.engine.text(),
            args.load.text()
        ),
        unit: Unit::Micros,
        machine,
        rows: rows?,
        notes: vec![format!(
            "echo: the order comes back on its session; forward: on another one; convert: on another one, \
             as FIX 4.4. The floors answer with {REPORT_BYTES} bytes: on the same connection, and onward \
             on a second one, where no answer carries the acknowledgements."
        )],
    })
}
