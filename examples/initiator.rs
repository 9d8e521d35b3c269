//! An initiator that sends orders from its main thread and prints what comes back.
//!
//! `cargo run -p fixwire --example initiator -- 127.0.0.1 9878 10` sends ten to the acceptor example.

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixwire::protocol::session::{BeginString, Config, Role};
use fixwire::protocol::{
    Application, Message, Now, Outbox, Precision, Refusal, SessionId, Timestamp, tag,
};
use fixwire::{Connection, Engine, EngineConfig, SessionConfig};

/// Tells the main thread what happens.
struct Trader {
    news: Sender<String>,
}

impl Application for Trader {
    fn on_message(
        &mut self,
        _now: Now,
        _from: SessionId,
        report: &Message<'_>,
        _outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let _ = self
            .news
            .send(String::from_utf8_lossy(report.bytes()).replace('\x01', "|"));
        Ok(())
    }

    fn on_logon(
        &mut self,
        _now: Now,
        _session: SessionId,
        _logon: &Message<'_>,
        _outbox: &mut Outbox,
    ) {
        let _ = self.news.send("logged on".into());
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let host = arguments.next().unwrap_or_else(|| "127.0.0.1".into());
    let port = arguments.next().map_or(Ok(9878), |port| port.parse())?;
    let orders: u64 = arguments.next().map_or(Ok(10), |orders| orders.parse())?;

    let session = Config::new(BeginString::Fix42, Role::Initiator, b"BENCH", b"EXEC");
    let connection = Connection::Initiator {
        hosts: vec![(host, port)],
        reconnect: vec![Duration::from_secs(1), Duration::from_secs(5)],
        timeout: Duration::from_secs(5),
    };
    let config = EngineConfig {
        journal_dir: "initiator-store".into(),
        sessions: vec![SessionConfig::new("BENCH->EXEC", session, connection)],
        ..EngineConfig::default()
    };
    let (news, heard) = channel();
    let mut engine = Engine::new(config, Trader { news })?;
    engine.on_event(|_, event| println!("{event}"));
    let mut handle = engine.handle();
    let thread = thread::spawn(move || engine.run());
    println!("{}", heard.recv()?);
    for number in 1..=orders {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as i64;
        handle.send(SessionId(0), b"D", |order| {
            order
                .uint(tag::CL_ORD_ID, number)
                .char(tag::HANDL_INST, b'1')
                .field(tag::SYMBOL, b"LCOM1")
                .char(tag::SIDE, b'1')
                .time(tag::TRANSACT_TIME, Timestamp(now), Precision::Millis)
                .uint(tag::ORDER_QTY, 100)
                .char(tag::ORD_TYPE, b'2')
                .field(tag::PRICE, b"200.25");
        })?;
        println!("{}", heard.recv()?);
    }
    handle.stop()?;
    Ok(thread.join().map_err(|_| "the engine panicked")??)
}
