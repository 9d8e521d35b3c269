//! A trial rejects the orders that a real OMS with the tried settings rejects, when the exchange answers by ClOrdID(11).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fixwire_random::Random;
use serde_json::Value;
use tempfile::TempDir;

use crate::oms::{Floor, example, id};
use crate::oms_try::try_out;
use crate::peer::{Peer, utc_now};

/// Number of orders of a day.
const ORDERS: u32 = 144;
/// By how much a replace raises the quantity.
const MORE: u64 = 40;
/// Orders from one sweep to the next, which cancels all resting orders.
const SWEEP: u32 = 24;
/// The largest quantity of an order that the recorded OMS accepts.
const LARGEST: u64 = 500;
/// What the example says, and what the file of the recorded day says instead.
const RECORDED: [[&str; 2]; 1] = [["firm,RC6,10000\n", "firm,RC6,500\n"]];
/// What the example says, and what the tried file says instead.
const TRIED: [[&str; 2]; 3] = [
    ["firm,RC13,1000\n", "firm,RC13,3\n"],
    ["firm,RC14,100000000\n", "firm,RC14,90000\n"],
    ["firm,RC15,100000\n", "firm,RC15,800\n"],
];

/// What becomes of an order at the exchange.
#[derive(Clone, Copy)]
enum Script {
    Fill,
    /// A half is filled, and the rest stays until the next sweep.
    Half,
    /// A half is filled, and the exchange cancels the rest.
    HalfCancelled,
    Reject,
    /// The order stays until the next sweep.
    Rest,
    /// The client cancels it.
    Cancel,
    /// The exchange rejects the client's cancel; the order is filled.
    CancelRejected,
    /// The client replaces it, and it is filled.
    Replace,
}

const SCRIPTS: [Script; 8] = [
    Script::Fill,
    Script::Half,
    Script::HalfCancelled,
    Script::Reject,
    Script::Rest,
    Script::Cancel,
    Script::CancelRejected,
    Script::Replace,
];

/// An order of the day: its ClOrdID(11) decides all that happens to it.
#[derive(Clone)]
struct Planned {
    id: String,
    side: u64,
    quantity: u64,
    script: Script,
}

fn planned() -> Vec<Planned> {
    let mut dice = Random::xorshift_star(20);
    let order = |number: u32| {
        let quantity = 2 * (25 + dice.below(300));
        let script = match SCRIPTS[dice.place(SCRIPTS.len())] {
            // The recorded OMS rejects a large order, so the exchange rejects it too.
            _ if quantity > LARGEST => Script::Reject,
            Script::Replace if quantity + MORE > LARGEST => Script::Fill,
            script => script,
        };
        Planned {
            id: format!("A{number}"),
            side: 1 + dice.below(2),
            quantity,
            script,
        }
    };
    (0..ORDERS).map(order).collect()
}

/// A day of a real OMS with a client that sends the same requests on every day.
struct Day {
    client: Peer,
    venue: Peer,
    execs: u32,
    /// Text(58) of each request that the OMS rejected.
    rejected: BTreeMap<String, String>,
    /// ClOrdIDs of requests that the venue rejected.
    rejected_by_venue: BTreeSet<String>,
    /// The orders that may rest.
    resting: Vec<Planned>,
    /// The ids of orders at the venue.
    at_venue: BTreeMap<String, String>,
    /// Quantities that were filled.
    filled: BTreeMap<String, u64>,
}

/// The next message of this type, or a reject of the session.
fn until(peer: &mut Peer, text: &str) -> String {
    loop {
        let message = peer.next().expect("a message");
        assert!(!message.contains("|35=3|"), "{message}");
        if message.contains(text) {
            return message;
        }
    }
}

impl Day {
    /// Sends a request; returns its ClOrdID at the venue, unless the OMS rejects it.
    fn request(&mut self, msg_type: &str, own: &str, fields: &str) -> Option<String> {
        let now = utc_now();
        let body = format!("11={own}|55=VOD|60={now}|{fields}");
        self.client.send(msg_type, &body);
        self.client.send("1", &format!("112=after {own}"));
        loop {
            let message = self.client.next().expect("a message");
            assert!(!message.contains("|35=3|"), "{message}");
            if message.contains(&format!("|112=after {own}|")) {
                return Some(id(&until(&mut self.venue, &format!("|35={msg_type}|"))));
            }
            if message.contains("|39=8|") || message.contains("|35=9|") {
                let start = message.find("|58=").unwrap() + 4;
                let text = message[start..].split('|').next().unwrap();
                self.rejected.insert(own.to_owned(), text.to_owned());
                until(&mut self.client, &format!("|112=after {own}|"));
                return None;
            }
        }
    }

    /// Sends a report of the venue, and waits until the client has it. `ids` is ClOrdID(11), and OrigClOrdID(41) where
    /// the report has it.
    fn report(&mut self, order: &Planned, ids: &str, kind: char, last: u64, quantity: u64) {
        self.execs += 1;
        let filled = self.filled.entry(order.id.clone()).or_default();
        *filled += last;
        let is_over = matches!(kind, '4' | '8') || *filled == quantity;
        let left = if is_over { 0 } else { quantity - *filled };
        let status = match (kind, *filled) {
            ('5', 0) => '0',
            ('5', _) => '1',
            (kind, _) => kind,
        };
        let (side, exec, filled) = (order.side, self.execs, *filled);
        let report = format!(
            "37=V{}|{ids}|17=E{exec}|20=0|150={kind}|39={status}|55=VOD|54={side}|38={quantity}|44=12.50|32={last}|\
             31=12.50|151={left}|14={filled}|6=12.50",
            order.id
        );
        self.venue.send("8", &report);
        until(&mut self.client, &format!("|150={kind}|"));
    }

    fn fill(&mut self, order: &Planned, number: &str, part: u64, quantity: u64) {
        let known = self.filled.get(&order.id).copied().unwrap_or_default();
        let kind = if known + part == quantity { '2' } else { '1' };
        self.report(order, &format!("11={number}"), kind, part, quantity);
    }

    /// The client's cancel of an order; the exchange cancels the order, or rejects the cancel.
    fn cancel(&mut self, order: &Planned, is_accepted: bool) {
        let (own, side, quantity) = (format!("F{}", order.id), order.side, order.quantity);
        let fields = format!("41={}|54={side}|38={quantity}", order.id);
        let Some(number) = self.request("F", &own, &fields) else {
            return;
        };
        let original = self.at_venue[&order.id].clone();
        let ids = format!("11={number}|41={original}");
        if is_accepted {
            return self.report(order, &ids, '4', 0, quantity);
        }
        self.rejected_by_venue.insert(own);
        let reject = format!("37=V{}|{ids}|39=0|434=1|102=0|58=too late", order.id);
        self.venue.send("9", &reject);
        until(&mut self.client, "|35=9|");
    }

    fn replace(&mut self, order: &Planned) {
        let (own, quantity) = (format!("G{}", order.id), order.quantity + MORE);
        let fields = format!(
            "41={}|21=1|54={}|38={quantity}|40=2|44=12.50",
            order.id, order.side
        );
        let Some(number) = self.request("G", &own, &fields) else {
            return;
        };
        let original = self.at_venue[&order.id].clone();
        let ids = format!("11={number}|41={original}");
        self.report(order, &ids, '5', 0, quantity);
        self.fill(order, &number, quantity, quantity);
    }

    fn play(&mut self, order: &Planned) {
        let (side, quantity) = (order.side, order.quantity);
        let fields = format!("21=1|54={side}|38={quantity}|40=2|44=12.50");
        let sent = self.request("D", &order.id, &fields);
        if let Some(number) = sent {
            self.at_venue.insert(order.id.clone(), number.clone());
            let ids = format!("11={number}");
            if matches!(order.script, Script::Reject) {
                self.rejected_by_venue.insert(order.id.clone());
                return self.report(order, &ids, '8', 0, quantity);
            }
            self.report(order, &ids, '0', 0, quantity);
            match order.script {
                Script::Fill => self.fill(order, &number, quantity, quantity),
                Script::Half => self.fill(order, &number, quantity / 2, quantity),
                Script::HalfCancelled => {
                    self.fill(order, &number, quantity / 2, quantity);
                    self.report(order, &ids, '4', 0, quantity);
                }
                Script::Reject
                | Script::Rest
                | Script::Cancel
                | Script::CancelRejected
                | Script::Replace => {}
            }
        }
        match order.script {
            Script::Half | Script::Rest => self.resting.push(order.clone()),
            Script::Cancel => self.cancel(order, true),
            Script::CancelRejected => {
                self.cancel(order, false);
                if let Some(number) = self.at_venue.get(&order.id).cloned() {
                    self.fill(order, &number, quantity, quantity);
                }
            }
            Script::Replace => self.replace(order),
            Script::Fill | Script::HalfCancelled | Script::Reject => {}
        }
    }
}

/// A day that has ended.
struct Ended {
    folder: TempDir,
    /// Text(58) of each request that the OMS rejected.
    rejected: BTreeMap<String, String>,
    /// ClOrdIDs of requests that the venue rejected.
    rejected_by_venue: BTreeSet<String>,
}

/// Plays the day on a real OMS with these limits.
fn day(limits: &Path) -> Ended {
    let name = format!("{:?}", limits.display().to_string());
    let Floor {
        folder,
        running,
        venue,
        client,
        ..
    } = Floor::with(&[("\"limits.csv\"", name.as_str())]);
    let mut day = Day {
        client,
        venue,
        execs: 0,
        rejected: BTreeMap::new(),
        rejected_by_venue: BTreeSet::new(),
        resting: Vec::new(),
        at_venue: BTreeMap::new(),
        filled: BTreeMap::new(),
    };
    for (number, order) in (1..).zip(planned()) {
        day.play(&order);
        if number % SWEEP == 0 {
            for order in std::mem::take(&mut day.resting) {
                day.cancel(&order, true);
            }
        }
    }
    drop(running);
    Ended {
        folder,
        rejected: day.rejected,
        rejected_by_venue: day.rejected_by_venue,
    }
}

/// The messages of a journal as a log.
fn as_log(store: &Path, log: PathBuf) -> PathBuf {
    let mut grep = Command::new(env!("CARGO_BIN_EXE_fixwire"));
    let grep = grep.args(["log", "grep", "34>0"]).arg(store);
    let grep = grep.output().unwrap();
    assert!(grep.status.success());
    fs::write(&log, grep.stdout).unwrap();
    log
}

/// The limits of the example with changes, as a file.
fn limits(file: PathBuf, changes: &[[&str; 2]]) -> PathBuf {
    let mut text = example("limits.csv");
    for [old, new] in changes {
        assert!(text.contains(old), "{old}");
        text = text.replacen(old, new, 1);
    }
    fs::write(&file, text).unwrap();
    file
}

/// The control of a reject, such as RC15: the beginning of its text; empty for a reject that has none.
fn control(text: &str) -> &str {
    let control = text.split([':', '-']).next().unwrap();
    if control.starts_with("RC") {
        control
    } else {
        ""
    }
}

#[test]
fn a_trial_rejects_what_an_oms_with_these_limits_rejects() {
    let files = tempfile::tempdir().unwrap();
    let recorded = day(&limits(files.path().join("recorded.csv"), &RECORDED));
    let tried = day(&limits(files.path().join("tried.csv"), &TRIED));
    let by: BTreeSet<&str> = tried.rejected.values().map(|text| control(text)).collect();
    for name in ["RC13", "RC14", "RC15"] {
        assert!(by.contains(name), "{by:?}");
    }
    let mut before = recorded.rejected.values();
    assert!(before.len() > 10 && before.all(|text| text.starts_with("RC6: ")));

    // The requests that only one of the two rejects. One that the exchange of the record rejected was not accepted.
    let mut expected = BTreeMap::new();
    for (own, text) in &tried.rejected {
        let was_accepted = !recorded.rejected.contains_key(own);
        if was_accepted && !recorded.rejected_by_venue.contains(own) {
            expected.insert(own.clone(), text.clone());
        }
    }
    for own in recorded.rejected.keys() {
        if !tried.rejected.contains_key(own) {
            expected.insert(own.clone(), "accepted".to_owned());
        }
    }
    let accepted = expected.values().filter(|it| *it == "accepted").count();
    assert!(
        accepted > 0 && expected.len() > accepted + 10,
        "{expected:?}"
    );
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for text in tried.rejected.values() {
        *counts.entry(control(text).to_owned()).or_default() += 1;
    }

    let (folder, settings) = (recorded.folder, tried.folder.path().join("oms.toml"));
    let store = folder.path().join("oms-store");
    let log = as_log(&store, folder.path().join("messages.log"));
    for record in [store, log] {
        let changed = folder.path().join("changed.csv");
        let (code, said, errors) = try_out(
            &settings,
            &record,
            &["--json", "--changed", changed.to_str().unwrap()],
        );
        assert_eq!((code, errors.as_str()), (0, ""), "{said}");
        let rows = fs::read_to_string(&changed).unwrap();
        let rows = rows.lines().skip(1).map(|row| {
            let cells: Vec<&str> = row.splitn(5, ',').collect();
            (cells[2].to_owned(), cells[4].trim_matches('"').to_owned())
        });
        assert_eq!(rows.collect::<BTreeMap<_, _>>(), expected, "{record:?}");
        let result: Value = serde_json::from_str(&said).unwrap();
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for row in result["controls"].as_array().unwrap() {
            let name = control(row["control"].as_str().unwrap()).to_owned();
            *found.entry(name).or_default() += row["rejected_now"].as_u64().unwrap();
        }
        assert_eq!(found, counts, "{record:?}");
        let lost = result["lost_fills"].as_u64().unwrap();
        assert!(lost > 0, "{said}");
    }
}
