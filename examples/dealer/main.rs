//! A dealer that fills orders at their price and keeps its positions in the engine's journal.
//!
//! `cargo run -p fixwire --example dealer -- 9878` is DEALER and answers CLIENT in FIX 4.4. Its state is made of its notes
//! alone, so it is the same after any end of the process; a client that sends an order again, with its ClOrdID, gets
//! its state. The test below lets its process die wherever it can, and is the one to copy: see
//! `docs/guide/applications.md`.

mod dealer;

use dealer::Dealer;
use fixwire::protocol::session::{BeginString, Config, Role};
use fixwire::{Connection, Engine, EngineConfig, SessionConfig};

/// The engine of the dealer, which listens at this address.
fn config(listen: &str) -> Result<EngineConfig, std::net::AddrParseError> {
    let session = Config::new(BeginString::Fix44, Role::Acceptor, b"DEALER", b"CLIENT");
    let connection = Connection::Acceptor {
        listen: listen.parse()?,
    };
    let name = "FIX.4.4:DEALER->CLIENT";
    Ok(EngineConfig {
        journal_dir: "dealer-store".into(),
        sessions: vec![SessionConfig::new(name, session, connection)],
        ..EngineConfig::default()
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let port = std::env::args().nth(1).unwrap_or("9878".to_owned());
    let mut engine = Engine::new(config(&format!("127.0.0.1:{port}"))?, Dealer::default())?;
    let dealer = engine.application_mut();
    let (fills, positions) = (dealer.fills().len(), dealer.positions());
    println!("{fills} orders filled, positions {positions:?}");
    engine.on_event(|_, event| println!("{event}"));
    Ok(engine.run()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire::Durability;
    use fixwire::harness::Trial;
    use fixwire::protocol::SessionId;

    #[test]
    fn each_order_is_filled_once_wherever_the_process_dies() {
        const CLIENT: SessionId = SessionId(0);
        for durability in [Durability::Process, Durability::Disk] {
            let config = EngineConfig {
                durability,
                ..config("127.0.0.1:9878").unwrap()
            };
            let tally = Trial::new(config, || Dealer::default)
                .send(
                    CLIENT,
                    "D",
                    "11=A1|55=MSFT|54=1|38=100|40=2|44=10.5|60=20260302-08:00:00|",
                )
                .send(
                    CLIENT,
                    "D",
                    "11=A2|55=MSFT|54=2|38=30|40=2|44=10.4|60=20260302-08:00:01|",
                )
                // The client does not know what became of it.
                .send_again(CLIENT)
                .state(|dealer| (dealer.fills().clone(), dealer.positions().clone()))
                .check(|dealer, clients| {
                    let reports = clients[0].received();
                    let filled: u64 = reports.filter_map(|report| report.number(32)).sum();
                    match (filled, dealer.positions().get("MSFT")) {
                        (130, Some(-70)) => Ok(()),
                        other => Err(format!("filled 130 and sold 70 net, but was {other:?}")),
                    }
                })
                .run()
                .unwrap();
            assert!(tally.kills > 50 && tally.handed_again > 0, "{tally}");
            assert_eq!(
                tally.power_cuts > 50,
                durability == Durability::Disk,
                "{tally}"
            );
        }
    }
}
