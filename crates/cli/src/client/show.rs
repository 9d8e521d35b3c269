//! Prints the events of the client as lines, as text or JSON.

use std::io;
use std::sync::mpsc::Sender;

use fixwire_client::{
    ClientEvent, CommandFailure, EventListener, OrderLine, ReportLine, SendStats,
};
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::{Precision, Timestamp, TimestampWriter};
use fixwire_stamps::stats::{Figures, SHOWN, histogram};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::print::Printer;

/// A listener that prints a line for each event, and sends the result of each command to `finished`.
///
/// # Errors
///
/// The thread cannot be started.
pub fn listener(
    as_json: bool,
    quiet: bool,
    finished: Sender<Result<(), CommandFailure>>,
) -> Result<EventListener, Failure> {
    let mut printer = Printer::new(io::stdout())?;
    Ok(Box::new(move |event| {
        let lines = match event {
            ClientEvent::Finished(result) => {
                // This fails when a signal ends the client, so that no thread waits for the result.
                let _ = finished.send(result);
                return;
            }
            ClientEvent::Answer(_) if quiet => return,
            event if as_json => in_json(event),
            event => in_words(event),
        };
        if !lines.is_empty() {
            printer.line(lines.join("\n"));
        }
    }))
}

fn in_words(event: ClientEvent<'_>) -> Vec<String> {
    match event {
        ClientEvent::Answer(line) => vec![shown(&line.to_string())],
        ClientEvent::Session { at, text } => {
            vec![shown(&format!("{} {text}", ClientEvent::time(at)))]
        }
        ClientEvent::Orders(orders) if orders.is_empty() => vec!["no orders".to_owned()],
        ClientEvent::Orders(orders) => {
            let lines = orders.iter().map(|order| shown(&order.to_string()));
            lines.collect()
        }
        ClientEvent::Stats(stats) => of_stats(&stats),
        _ => Vec::new(),
    }
}

fn shown(text: &str) -> String {
    Escaped(text.as_bytes()).to_string()
}

fn of_stats(stats: &SendStats) -> Vec<String> {
    let group = stats.group.as_deref().unwrap_or("all");
    let counts = format!(
        "stats {group}: sent {}, accepted {}, rejected {}, filled {}, unanswered {}",
        stats.sent,
        stats.accepted,
        stats.rejected,
        stats.filled,
        stats.unanswered()
    );
    let figures = figures(stats);
    if figures.count == 0 {
        return vec![counts];
    }
    let micros = |nanos: u64| format!("{}.{}", nanos / 1000, nanos % 1000 / 100);
    let mut line = format!(
        "latency to the first answer, us: min {}",
        micros(figures.min)
    );
    for ((name, _), nanos) in SHOWN.iter().zip(figures.columns()) {
        line += &format!(", {name}% {}", micros(nanos));
    }
    line += &format!(", max {}", micros(figures.worst));
    vec![counts, line]
}

fn figures(stats: &SendStats) -> Figures {
    let mut histogram = histogram();
    for latency in &stats.latencies {
        histogram.saturating_record(latency.0.max(1));
    }
    Figures::of(&histogram)
}

fn in_json(event: ClientEvent<'_>) -> Vec<String> {
    let values = match event {
        ClientEvent::Answer(line) => vec![of_answer(line)],
        ClientEvent::Session { at, text } => {
            vec![json!({"event": "session", "time": time(at), "text": text})]
        }
        ClientEvent::Orders(orders) => orders.iter().map(of_order).collect(),
        ClientEvent::Stats(stats) => vec![json!({
            "event": "stats",
            "group": stats.group,
            "sent": stats.sent,
            "accepted": stats.accepted,
            "rejected": stats.rejected,
            "filled": stats.filled,
            "unanswered": stats.unanswered(),
            "latency_ns": figures(&stats),
        })],
        _ => Vec::new(),
    };
    values.iter().map(Value::to_string).collect()
}

fn of_answer(line: &ReportLine) -> Value {
    let mut object = Map::new();
    object.insert("event".to_owned(), line.kind.name().into());
    object.insert("time".to_owned(), time(line.at).into());
    fill(&mut object, &line.values());
    object.into()
}

fn of_order(order: &OrderLine) -> Value {
    let mut object = Map::new();
    object.insert("event".to_owned(), "order".into());
    fill(&mut object, &order.values());
    object.into()
}

/// Adds the available values to an object. Fields that a message does not have are left out.
fn fill(object: &mut Map<String, Value>, values: &[(&str, &str)]) {
    for (name, value) in values {
        if !value.is_empty() {
            object.insert((*name).to_owned(), (*value).into());
        }
    }
}

fn time(at: Timestamp) -> String {
    let mut stamp = TimestampWriter::new();
    String::from_utf8_lossy(stamp.format(at, Precision::Micros)).into_owned()
}
