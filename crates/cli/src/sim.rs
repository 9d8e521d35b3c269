//! `fixwire sim`: a simulated exchange for the sessions of a settings file.

mod load;

use std::process::ExitCode;

use clap::Args;
use fixwire_exchange::{Exchange, ExchangeConfig, ExchangeSession, InstrumentConfig, state_name};
use fixwire_protocol::Decimal;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::run::How;

pub use load::load;

/// What to run.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire sim sim.toml                                   be the exchange of examples/sim.toml
  fixwire check sim.toml                                 what would run?
  fixwire status sim.toml                                how do its sessions and instruments stand?
  fixwire session command sim.toml 'book VOD'            show the order book of an instrument
  fixwire session command sim.toml 'state halted VOD'    halt trading; cancels are taken, orders rejected
  fixwire session command sim.toml 'state auction *'     open an auction call for every instrument
  fixwire session command sim.toml 'uncross VOD'         end the call with its trades
  fixwire session command sim.toml 'band 9 11 VOD'       move the price band
  fixwire session command sim.toml 'fault drop session=OMS count=1'
                                                         lose one report on purpose

Each [[session]] of the file is a member, of FIX 4.2, 4.3, 4.4 or 5.0; each [[instrument]] has an order book
with price-time priority. Members send NewOrderSingle (D), OrderCancelRequest (F), OrderCancelReplaceRequest (G),
OrderStatusRequest (H), OrderMassCancelRequest (q) and OrderMassStatusRequest (AF). Market, limit, stop,
stop-limit and iceberg orders trade with those of all members, and ExecutionReports (8) say so, also to a
member that is away. Books, orders and ids are in the journal: after kill -9 they are the same.

Signals, journal, logs and control socket are those of fixwire run. docs/exchange.md has the details.")]
pub struct SimArgs {
    #[command(flatten)]
    how: How,
}

/// Runs the command.
pub fn run(args: &SimArgs) -> Result<ExitCode, Failure> {
    let how = &args.how;
    let begun = how.begin()?;
    let config = how.config(&begun.settings)?;
    let exchange = load(&begun.source, &begun.settings)?;
    let sessions = config.sessions.iter().map(|session| ExchangeSession {
        name: &session.name,
        session: &session.session,
    });
    let exchange = Exchange::new(exchange, sessions).map_err(|error| {
        let file = how.file.display();
        Failure::Text(format!("{file}: {error}"))
    })?;
    how.serve(begun, "exchange", config, exchange)
}

/// What `check` shows of an exchange: a name and a value for each line.
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
    rows
}

/// The same as JSON.
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
    json!({
        "maxOrders": exchange.orders_max,
        "maxRemembered": exchange.remembered_max,
        "faults": exchange.faults,
        "instruments": instruments.collect::<Vec<_>>(),
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
