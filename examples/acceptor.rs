//! An acceptor that fills every order at its price.
//!
//! `cargo run --release -p fixwire --example acceptor -- 9878` is EXEC and answers BENCH. More
//! arguments: `memory`, `process` or `disk`; `spin`, `yield` or `block`; the journal's folder.

use std::sync::Arc;

use fixwire::protocol::dictionary::Version;
use fixwire::protocol::session::{BeginString, Config, Role};
use fixwire::protocol::{Application, Dictionary, Message, Now, Outbox, Refusal, SessionId, tag};
use fixwire::{Connection, Durability, Engine, EngineConfig, SessionConfig, Wait};

struct Fill;

impl Application for Fill {
    fn on_message(
        &mut self,
        _now: Now,
        from: SessionId,
        order: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if order.msg_type() != b"D" {
            return Err(Refusal::UnsupportedMessageType);
        }
        let want = |tag| {
            order
                .get(tag)
                .ok_or(Refusal::ConditionallyRequiredFieldMissing(tag))
        };
        let mut report = outbox.begin(from, b"8");
        report
            .field(tag::ORDER_ID, want(tag::CL_ORD_ID)?)
            .field(tag::CL_ORD_ID, want(tag::CL_ORD_ID)?)
            .field(tag::EXEC_ID, want(tag::CL_ORD_ID)?)
            .field(tag::EXEC_TRANS_TYPE, b"0")
            .char(tag::EXEC_TYPE, b'2')
            .char(tag::ORD_STATUS, b'2')
            .field(tag::SYMBOL, want(tag::SYMBOL)?)
            .field(tag::SIDE, want(tag::SIDE)?)
            .field(tag::LEAVES_QTY, b"0")
            .field(tag::CUM_QTY, want(tag::ORDER_QTY)?)
            .field(tag::AVG_PX, want(tag::PRICE)?);
        report.finish().map_err(|_| Refusal::NotAvailable)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |at: usize, or| arguments.get(at).map_or(or, String::as_str);
    let mut session = Config::new(BeginString::Fix42, Role::Acceptor, b"EXEC", b"BENCH");
    let durability = match given(1, "process") {
        "memory" => Durability::Memory,
        "disk" => Durability::Disk,
        _ => Durability::Process,
    };
    if durability != Durability::Memory {
        session.dictionary = Some(Arc::new(Dictionary::built_in(Version::Fix42)));
    }
    let listen = format!("127.0.0.1:{}", given(0, "9878")).parse()?;
    let connection = Connection::Acceptor { listen };
    let config = EngineConfig {
        journal_dir: given(3, "store").into(),
        durability,
        wait: match given(2, "block") {
            "spin" => Wait::Spin,
            "yield" => Wait::Yield,
            _ => Wait::Block,
        },
        sessions: vec![SessionConfig::new("EXEC->BENCH", session, connection)],
        ..EngineConfig::default()
    };
    let mut engine = Engine::new(config, Fill)?;
    engine.on_event(|_, event| println!("{event}"));
    Ok(engine.run()?)
}
