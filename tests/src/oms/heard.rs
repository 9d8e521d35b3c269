//! The requests of an OMS's client and its knowledge of its orders, when venues may send anything.
//!
//! [`Dialogue`](super::dialogue::Dialogue) requires every report to be right when it comes. Here fills may be cancelled
//! and corrected, and only the last state of each order counts, and that each request has one answer.

use crate::wire::{message, number, value};
use fixwire::journal::{DumpFilter, DumpFormat, dump};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Requests of a client, and the reports that it has received.
#[derive(Debug, Default)]
pub struct Heard {
    /// MsgType of each request, by ClOrdID(11).
    requests: BTreeMap<String, String>,
    /// ExecType(150), or MsgType, of the messages with a ClOrdID(11).
    answers: BTreeMap<String, Vec<String>>,
    /// ClOrdIDs of reports, former ones too.
    known: BTreeSet<String>,
    /// CumQty(14) and whether the order is open, by OrderID(37).
    pub last: BTreeMap<u64, (u64, bool)>,
    /// Trades that were cancelled or corrected, and orders that were restated.
    pub restated: usize,
}

impl Heard {
    /// Reads the journal of a client.
    ///
    /// # Errors
    ///
    /// The journal cannot be read, or a message was released that was never queued.
    pub fn of(store: &Path) -> Result<Self, String> {
        let mut heard = Self::default();
        let mut text = Vec::new();
        dump(store, &DumpFilter::default(), &mut text, DumpFormat::Json)
            .map_err(|error| error.to_string())?;
        let mut queued = BTreeMap::new();
        for line in String::from_utf8_lossy(&text).lines() {
            let json: serde_json::Value =
                serde_json::from_str(line).map_err(|error| format!("{line}: {error}"))?;
            let (what, mark) = (json["what"].as_str(), json["mark"].as_str());
            let key = json["seq"].as_u64().unwrap_or(0);
            let raw = message(json["text"].as_str().unwrap_or_default());
            match (what, mark) {
                (Some("out"), None) => heard.asked(&raw),
                (Some("in"), None) => heard.reported(&raw),
                (Some("in"), Some("queued")) => drop(queued.insert(key, raw)),
                (Some("dequeued"), _) => {
                    heard.reported(&queued.remove(&key).ok_or("dequeued from nowhere")?);
                }
                _ => {}
            }
        }
        Ok(heard)
    }

    fn asked(&mut self, raw: &[u8]) {
        if matches!(value(raw, "35"), Some(b"D" | b"F" | b"G" | b"q")) {
            self.requests.insert(text(raw, "11"), text(raw, "35"));
        }
    }

    fn reported(&mut self, raw: &[u8]) {
        let what = text(raw, "35");
        let (id, answer) = match &*what {
            "8" => (text(raw, "11"), text(raw, "150")),
            "9" | "r" => (text(raw, "11"), what.clone()),
            "j" => (text(raw, "379"), what.clone()),
            _ => return,
        };
        self.restated += usize::from(matches!(&*answer, "D" | "G" | "H"));
        self.known.extend([id.clone(), text(raw, "41")]);
        self.answers.entry(id).or_default().push(answer);
        let Some(order) = number(raw, "37") else {
            return;
        };
        let status = text(raw, "39");
        let is_open = matches!(&*status, "0" | "1" | "5" | "6" | "A" | "E");
        // A cancel reject has no CumQty(14).
        let before = self.last.get(&order).map_or(0, |it| it.0);
        let filled = number(raw, "14").unwrap_or(before);
        self.last.insert(order, (filled, is_open));
    }

    /// Requests of every kind.
    #[must_use]
    pub fn requests(&self) -> usize {
        self.requests.len()
    }

    /// Each request has one answer.
    ///
    /// # Errors
    ///
    /// The first request with no answer, or several.
    pub fn is_answered(&self) -> Result<(), String> {
        for (id, what) in &self.requests {
            let none = Vec::new();
            let its = self.answers.get(id).unwrap_or(&none);
            let is_answer = |it: &&String| match &**what {
                "D" => matches!(it.as_str(), "0" | "8" | "j"),
                "G" => matches!(it.as_str(), "5" | "9" | "j"),
                "F" => matches!(it.as_str(), "4" | "9" | "j"),
                _ => matches!(it.as_str(), "r" | "j"),
            };
            match its.iter().filter(is_answer).count() {
                1 => {}
                // The venue's acknowledgement was lost: the next report is the answer.
                0 if what == "D" && self.known.contains(id) => {}
                count => return Err(format!("{count} answers to {what} {id}: {its:?}")),
            }
        }
        Ok(())
    }
}

fn text(raw: &[u8], tag: &str) -> String {
    String::from_utf8_lossy(value(raw, tag).unwrap_or_default()).into_owned()
}

#[test]
fn each_request_wants_one_answer() {
    let soh = |text: &str| message(&text.replace('|', "\u{1}"));
    let mut heard = Heard::default();
    heard.asked(&soh("35=D|11=A|"));
    assert!(heard.is_answered().unwrap_err().starts_with("0 answers"));
    heard.reported(&soh("35=8|11=A|37=4|150=0|39=0|14=0|"));
    heard.reported(&soh("35=8|11=A|37=4|150=F|39=1|14=5|"));
    assert_eq!(heard.is_answered(), Ok(()));
    heard.reported(&soh("35=8|11=A|37=4|150=H|39=0|14=0|"));
    assert_eq!((heard.last[&4], heard.restated), ((0, true), 1));
    heard.reported(&soh("35=8|11=A|37=4|150=8|39=8|14=0|"));
    assert!(heard.is_answered().unwrap_err().starts_with("2 answers"));
}
