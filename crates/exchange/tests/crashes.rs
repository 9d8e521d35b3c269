//! Does the exchange recover the same state after a crash at any point?

use std::net::SocketAddr;

use fixwire_engine::protocol::session::{BeginString, Config, Role};
use fixwire_engine::protocol::{Application, Decimal, Nanos, SessionId};
use fixwire_engine::{Connection, Durability, EngineConfig, SessionConfig};
use fixwire_exchange::BookState;
use fixwire_exchange::{Exchange, ExchangeConfig, ExchangeSession, InstrumentConfig, OrderScript};
use fixwire_harness::Trial;

const A: SessionId = SessionId(0);
const B: SessionId = SessionId(1);

/// Handling of orders of 101.
const STEPS: [&str; 8] = [
    "ack",
    "wait 50ms",
    "fill 50 @ 10.40",
    "pending cancel",
    "wait 50ms",
    "fill 10",
    "reject cancel 0",
    "cancel rest",
];

fn session(name: &str, version: BeginString, port: u16) -> SessionConfig {
    let config = Config::new(version, Role::Acceptor, b"EXCHANGE", name.as_bytes());
    let listen = SocketAddr::from(([127, 0, 0, 1], port));
    SessionConfig::new(name, config, Connection::Acceptor { listen })
}

fn engine(durability: Durability) -> EngineConfig {
    EngineConfig {
        durability,
        sessions: vec![
            session("A", BeginString::Fix44, 5002),
            session("B", BeginString::Fix42, 5003),
        ],
        ..EngineConfig::default()
    }
}

fn exchange(engine: &EngineConfig) -> Exchange {
    let decimal = |text: &str| Decimal::parse(text.as_bytes()).unwrap();
    let config = ExchangeConfig {
        instruments: vec![InstrumentConfig {
            symbol: "VOD".to_owned(),
            tick: decimal("0.01"),
            lot: decimal("1"),
            low: None,
            high: None,
            reference: None,
            state: BookState::Continuous,
            legs: None,
        }],
        scripts: vec![OrderScript {
            name: "slow".to_owned(),
            quantity: Some(decimal("101")),
            steps: STEPS.map(str::to_owned).to_vec(),
            ..OrderScript::default()
        }],
        ..ExchangeConfig::default()
    };
    let sessions = engine.sessions.iter().map(|session| ExchangeSession {
        name: &session.name,
        session: &session.session,
    });
    Exchange::new(config, sessions).unwrap()
}

fn trial(durability: Durability) -> Trial<Exchange> {
    let make = move || move || exchange(&engine(durability));
    Trial::new(engine(durability), make)
        .send(
            A,
            "D",
            "11=A1|55=VOD|54=1|38=100|40=2|44=10.50|60=20260302-08:00:00|",
        )
        .send(
            A,
            "D",
            "11=A2|55=VOD|54=1|38=50|40=2|44=10.40|60=20260302-08:00:00|",
        )
        .send(
            B,
            "D",
            "11=B1|21=1|55=VOD|54=2|38=30|40=2|44=10.50|60=20260302-08:00:00|",
        )
        .send(
            A,
            "G",
            "11=A3|41=A1|55=VOD|54=1|38=80|40=2|44=10.45|60=20260302-08:00:00|",
        )
        .send(A, "F", "11=A4|41=A2|55=VOD|54=1|60=20260302-08:00:00|")
        .disconnect(B)
        .send(A, "D", "11=A5|55=VOD|54=2|38=10|40=1|60=20260302-08:00:00|")
        .send(
            B,
            "D",
            "11=B2|21=1|55=VOD|54=2|38=1000|40=2|44=10.45|59=3|60=20260302-08:00:00|",
        )
        .send(
            B,
            "D",
            "11=B3|21=1|55=VOD|54=2|38=7|40=2|44=11|60=20260302-08:00:00|",
        )
        .send_again(B)
        .state(|exchange| (exchange.open(), exchange.state_hash()))
        .check(|exchange, peers| {
            let filled = |peer: usize, id: &str| -> u64 {
                let reports = peers[peer].received();
                let about = reports.filter(|it| it.get(11) == Some(id));
                about.filter_map(|it| it.number(32)).sum()
            };
            let found = [
                filled(0, "A1"),
                filled(0, "A3"),
                filled(0, "A5"),
                filled(1, "B1"),
                filled(1, "B2"),
            ];
            if found != [30, 50, 10, 30, 40] {
                return Err(format!("filled {found:?}"));
            }
            if exchange.open() != (1, 0) {
                return Err(format!("open: {:?}", exchange.open()));
            }
            Ok(())
        })
}

#[test]
fn a_process_that_dies_anywhere_leaves_the_same_exchange() {
    let tally = trial(Durability::Process).seeds(2).run().unwrap();
    assert!(tally.kills > 100 && tally.handed_again > 20, "{tally}");
    assert!(tally.during_recovery > 0, "{tally}");
}

#[test]
fn a_power_cut_leaves_the_same_exchange() {
    let tally = trial(Durability::Disk).run().unwrap();
    assert!(tally.power_cuts > 50 && tally.failed_syncs > 0, "{tally}");
}

/// Two orders that follow the same script, and one that trades.
fn scripted(durability: Durability) -> Trial<Exchange> {
    let order = |id: &str, quantity: u32| {
        format!("11={id}|21=1|55=VOD|54=1|38={quantity}|40=2|44=10.50|60=20260302-08:00:00|")
    };
    let cancel = "11=A2|41=A1|55=VOD|54=1|60=20260302-08:00:00|";
    let make = move || move || exchange(&engine(durability));
    Trial::new(engine(durability), make)
        .send(A, "D", &order("A1", 101))
        .send(B, "D", &order("B1", 101))
        .pass(Nanos::from_millis(60))
        .send(A, "F", cancel)
        .send(B, "D", &order("B2", 7))
        .pass(Nanos::from_millis(60))
        .disconnect(A)
        .send_again(B)
        // Which of the two orders is filled first is a matter of moments.
        .ignoring(17)
        .state(Exchange::open)
        .check(|exchange, peers| {
            exchange.check()?;
            let ids = peers.iter().flat_map(|peer| peer.received());
            let mut ids: Vec<u64> = ids.filter_map(|it| it.number(17)).collect();
            let count = ids.len();
            ids.sort_unstable();
            ids.dedup();
            if ids.len() < count {
                return Err("an ExecID for two reports".to_owned());
            }
            let filled = |peer: usize| -> u64 {
                let reports = peers[peer].received();
                reports.filter_map(|it| it.number(32)).sum()
            };
            // One of B's is in the book, and one waits for a cancel.
            match (filled(0), filled(1), exchange.open()) {
                (60, 50, (2, 0)) => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
}

#[test]
fn scripts_go_on_after_a_process_that_dies_anywhere() {
    let tally = scripted(Durability::Process).run().unwrap();
    assert!(tally.kills > 50 && tally.during_recovery > 0, "{tally}");
    let tally = scripted(Durability::Disk).run().unwrap();
    assert!(tally.power_cuts > 30, "{tally}");
}
