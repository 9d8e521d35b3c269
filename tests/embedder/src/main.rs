//! A desk and a venue in one process: an order in the venue's own dictionary goes over TCP, and its report comes back.
//!
//! `embedder` trades; `embedder FILE` only reads these settings.

#![forbid(unsafe_code)]

// `fixwire generate --dictionary 'FIX.4.4 + venue.delta' --messages D` writes it.
#[allow(clippy::all)]
mod orders;

use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, SystemTime};

use fixwire::control::{Asked, Client, Control, ControlQuestion, Place};
use fixwire::messages::fix44;
use fixwire::protocol::{Application, Decimal, Message, Now, Outbox, Refusal, SessionId, Timestamp};
use fixwire::settings::Settings;
use fixwire::{Engine, EngineConfig};

/// Fills each order at its price.
struct Venue;

impl Application for Venue {
    fn on_message(
        &mut self,
        _now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let order = orders::NewOrderSingle::of(message).ok_or(Refusal::UnsupportedMessageType)?;
        let quantity = order.order_qty()?.ok_or(Refusal::ConditionallyRequiredFieldMissing(38))?;
        let price = order.price()?.ok_or(Refusal::ConditionallyRequiredFieldMissing(44))?;
        let report = fix44::ExecutionReport::write(
            outbox,
            from,
            b"O1",
            b"E1",
            fix44::exec_type_values::TRADE,
            fix44::ord_status_values::FILLED,
            order.side()?,
            Decimal::from_int(0),
            quantity,
            price,
        );
        let flag = [order.venue_flag()?];
        let report = report.cl_ord_id(order.cl_ord_id()?).text(&flag);
        report.finish().map_err(|_| Refusal::NotAvailable)
    }
}

/// Sends an order after its logon, and prints the outcome.
struct Desk(Sender<String>);

impl Application for Desk {
    fn on_logon(&mut self, _: Now, session: SessionId, _: &Message<'_>, outbox: &mut Outbox) {
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let now = Timestamp(i64::try_from(now.as_nanos()).unwrap_or_default());
        let order = orders::NewOrderSingle::write(
            outbox,
            session,
            b"A1",
            orders::venue_flag_values::ALPHA,
            orders::side_values::BUY,
            now,
            orders::ord_type_values::LIMIT,
        );
        let order = order.symbol(b"VOD").order_qty(Decimal::from_int(100)).price(decimal(125, 1));
        order.finish().expect("room in the outbox");
    }

    fn on_message(
        &mut self,
        _: Now,
        _: SessionId,
        message: &Message<'_>,
        _: &mut Outbox,
    ) -> Result<(), Refusal> {
        let report = fix44::ExecutionReport::of(message).ok_or(Refusal::UnsupportedMessageType)?;
        let text = |value: Option<&[u8]>| String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
        let news = format!(
            "{} filled: {} at {}, flag {}",
            text(report.cl_ord_id()),
            report.cum_qty()?,
            report.avg_px()?,
            text(report.text()),
        );
        let _ = self.0.send(news);
        Ok(())
    }
}

fn decimal(digits: i64, scale: u8) -> Decimal {
    Decimal::new(digits, scale).expect("a decimal of few digits")
}

fn config(file: &str) -> Result<EngineConfig, Box<dyn std::error::Error>> {
    Ok(Settings::load(Path::new(file))?.to_config()?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Some(file) = std::env::args().nth(1) {
        if let Err(error) = config(&file) {
            eprintln!("{error}");
            std::process::exit(1);
        }
        return Ok(());
    }
    let (news, reported) = channel();
    let mut venue = Engine::new(config("acceptor.cfg")?, Venue)?;
    let mut desk = Engine::new(config("initiator.cfg")?, Desk(news))?;
    venue.on_event(|_, event| eprintln!("venue: {event}"));
    desk.on_event(|_, event| eprintln!("desk: {event}"));
    let mut handles = [desk.handle(), venue.handle()];
    let threads = [thread::spawn(move || desk.run()), thread::spawn(move || venue.run())];
    let place = Place::in_store(Path::new("acceptor-store"));
    let _control = Control::start(handles[1].clone(), &place, env!("CARGO_PKG_VERSION"), None)?;
    println!("{}", reported.recv_timeout(Duration::from_secs(20))?);
    // The answer to `fixwire status`.
    let asked = Asked { what: ControlQuestion::Status, ..Asked::default() };
    let answer = Client::connect(&place.path, Duration::from_secs(20))?.ask(&asked)?;
    for session in answer.sessions.unwrap_or_default() {
        println!("{} is {}", session.name, session.state);
    }
    for handle in &mut handles {
        handle.stop()?;
    }
    for thread in threads {
        thread.join().map_err(|_| "an engine panicked")??;
    }
    Ok(())
}
