//! `fixwire sim`: runs a simulated exchange for the sessions of a settings file.

mod load;
mod wire;

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use fixwire::settings::Source;
use fixwire_exchange::{
    Exchange, ExchangeConfig, ExchangeSession, ExchangeTmpLine, InstrumentConfig, OrderScript,
    state_name,
};
use fixwire_protocol::Decimal;
use serde_json::{Value, json};

use crate::failure::{Failure, tell};
use crate::run::RunOptions;
use wire::{FaultyHost, SharedWire};

pub use load::load;

/// The settings of `--demo`, the name of these settings in messages, and their port.
const DEMO: &str = include_str!("sim/demo.toml");
const DEMO_FILE: &str = "demo.toml";
const DEMO_PORT: u16 = 5002;

/// Arguments of `fixwire sim`.
#[derive(Args, Debug)]
#[command(
    // The demo needs no file.
    mut_arg("file", |file| file
        .required(false)
        .required_unless_present("demo")
        .default_value_if("demo", "true", DEMO_FILE)),
    after_help = "Examples:
  fixwire sim --demo                                     run a market for the OMS of examples/oms.toml
  fixwire sim sim.toml                                   run the exchange of examples/sim.toml
  fixwire check sim.toml                                 check the file
  fixwire status sim.toml                                show its sessions and instruments
  fixwire session command sim.toml 'book VOD'            show the order book of an instrument
  fixwire session command sim.toml 'state halted VOD'    halt trading; cancels are accepted, orders rejected
  fixwire session command sim.toml 'state auction *'     open an auction call for every instrument
  fixwire session command sim.toml 'uncross VOD'         end the auction with its trades
  fixwire session command sim.toml 'bust 17'             cancel the trade with ExecID 17
  fixwire session command sim.toml 'band 9 11 VOD'       move the price band
  fixwire session command sim.toml 'fault drop session=OMS count=1'
                                                         drop one report on purpose
  fixwire session command sim.toml 'fault disconnect session=OMS count=1'
                                                         disconnect instead of sending the next report
  fixwire session command sim.toml scripts               show the orders that follow scripts, and their progress

Each [[session]] of the file is a member, with FIX 4.2, 4.3, 4.4 or 5.0; each [[instrument]] has an order book
with price-time priority, and a [[trader]] makes a market in it. Members send NewOrderSingle (D), OrderCancelRequest (F), OrderCancelReplaceRequest (G),
OrderStatusRequest (H), OrderMassCancelRequest (q) and OrderMassStatusRequest (AF). Market, limit, stop,
stop-limit and iceberg orders trade with those of all members, and ExecutionReports (8) report it, also to a
member that is not connected. Orders that match a [[script]] are answered step by step instead. Books, orders and
ids are in the journal and survive kill -9.

Signals, journal, logs and control socket are those of fixwire run. See docs/reference/exchange.md."
)]
pub struct SimArgs {
    /// Run a built-in exchange with two members, OMS and MAKER, two instruments, and traders that make a market; its
    /// journal is in the folder sim-demo-store
    #[arg(long, conflicts_with = "file")]
    demo: bool,
    /// The port of the demo, at 127.0.0.1
    #[arg(long, value_name = "PORT", default_value_t = DEMO_PORT, requires = "demo")]
    port: u16,
    #[command(flatten)]
    how: RunOptions,
}

/// Runs the command.
pub fn run(args: &SimArgs) -> Result<ExitCode, Failure> {
    let how = &args.how;
    let begun = if args.demo {
        let port = format!("SocketAcceptPort = {}", args.port);
        let text = DEMO.replace(&format!("SocketAcceptPort = {DEMO_PORT}"), &port);
        let path = DEMO_FILE.into();
        let begun = how.begin_with(Some(Source { path, text }))?;
        let hint =
            "fixwire session command sim-demo-store 'book VOD' shows a book; Ctrl-C stops the demo";
        tell("note", hint);
        begun
    } else {
        how.begin()?
    };
    let config = how.config(&begun.settings)?;
    let mut exchange = load(&begun.source, &begun.settings)?;
    let wire = SharedWire::default();
    exchange.wire = Some(Arc::new(wire.clone()));
    let sessions = config.sessions.iter().map(|session| ExchangeSession {
        name: &session.name,
        session: &session.session,
    });
    let exchange = Exchange::new(exchange, sessions).map_err(|error| {
        let file = how.file.display();
        Failure::Text(format!("{file}: {error}"))
    })?;
    let lines = begun.settings.tmp_members()?.into_iter();
    let lines = lines.map(|(name, settings)| ExchangeTmpLine { name, settings });
    let exchange = exchange.with_tmp_lines(lines.collect());
    let (members, around) = (config.sessions.clone(), wire.clone());
    let around = |os| FaultyHost::new(os, around, &members);
    let started = |engine| {
        wire.give(engine);
        Ok(None)
    };
    how.serve_around(begun, "exchange", config, exchange, around, started)
}

/// The lines of `check` about an exchange, as names and values.
pub fn shown(exchange: &ExchangeConfig) -> Vec<(String, String)> {
    let mut rows = vec![
        ("max_orders".to_owned(), exchange.orders_max.to_string()),
        (
            "max_remembered".to_owned(),
            exchange.remembered_max.to_string(),
        ),
    ];
    let faults = exchange.faults.iter();
    rows.extend(faults.map(|words| ("fault".to_owned(), words.clone())));
    for instrument in &exchange.instruments {
        let mut value = format!(
            "{}, tick {}, lot {}",
            state_name(instrument.state),
            digits(instrument.tick),
            digits(instrument.lot)
        );
        for (name, price) in prices(instrument) {
            if let Some(price) = price {
                value += &format!(", {name} {}", digits(price));
            }
        }
        rows.push((format!("instrument.{}", instrument.symbol), value));
    }
    for trader in &exchange.traders {
        let value = format!(
            "seed {}, rate {}, trades {} %",
            trader.seed, trader.rate, trader.trades
        );
        rows.push((format!("trader.{}", trader.symbols.join(",")), value));
    }
    for script in &exchange.scripts {
        let wanted = conditions(script).into_iter();
        let wanted: Vec<String> = wanted
            .map(|(key, value)| format!("{key} {value}"))
            .collect();
        let wanted = if wanted.is_empty() {
            "every order".into()
        } else {
            wanted.join(", ")
        };
        let value = format!("{wanted}: {}", script.steps.join(", "));
        rows.push((format!("script.{}", script.name), value));
    }
    rows
}

/// The fields of an order that a script compares.
fn conditions(script: &OrderScript) -> Vec<(&'static str, String)> {
    let all = [
        ("session", script.session.clone()),
        ("symbol", script.symbol.clone()),
        ("side", script.side.clone()),
        ("account", script.account.clone()),
        ("quantity", script.quantity.map(digits)),
        ("price", script.price.map(digits)),
    ];
    all.into_iter()
        .filter_map(|(key, value)| Some((key, value?)))
        .collect()
}

/// The exchange as JSON.
pub fn json(exchange: &ExchangeConfig) -> Value {
    let instruments = exchange.instruments.iter().map(|instrument| {
        let mut entry = json!({
            "symbol": instrument.symbol,
            "state": state_name(instrument.state),
            "tick": digits(instrument.tick),
            "lot": digits(instrument.lot),
        });
        for (name, price) in prices(instrument) {
            entry[name] = price.map(digits).map_or(Value::Null, Value::String);
        }
        entry
    });
    let traders = exchange.traders.iter().map(|trader| {
        json!({
            "symbols": trader.symbols,
            "seed": trader.seed,
            "rate": trader.rate,
            "trades": trader.trades,
        })
    });
    let scripts = exchange.scripts.iter().map(|script| {
        let mut entry = json!({ "name": script.name, "steps": script.steps });
        for (key, value) in conditions(script) {
            entry[key] = value.into();
        }
        entry
    });
    json!({
        "maxOrders": exchange.orders_max,
        "maxRemembered": exchange.remembered_max,
        "faults": exchange.faults,
        "instruments": instruments.collect::<Vec<_>>(),
        "scripts": scripts.collect::<Vec<_>>(),
        "traders": traders.collect::<Vec<_>>(),
    })
}

fn prices(instrument: &InstrumentConfig) -> [(&'static str, Option<Decimal>); 3] {
    [
        ("low", instrument.low),
        ("high", instrument.high),
        ("reference", instrument.reference),
    ]
}

fn digits(value: Decimal) -> String {
    let mut text = [0; Decimal::MAX_TEXT];
    let from = value.write(&mut text);
    String::from_utf8_lossy(&text[from..]).into_owned()
}
