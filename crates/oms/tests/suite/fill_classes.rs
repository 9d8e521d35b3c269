//! Plays the classes of tests/classes: a report of a venue each, and the right answer.

use fixwire_engine::protocol::dictionary::Version;

use crate::desk::{Desk, Input, Said};
use crate::twin::floors::{self, CLIENTS, LINES};

const CLIENT: usize = CLIENTS[0];
const LINE: usize = LINES[0];

/// A venue of a version, and what it has reported.
struct Venue {
    desk: Desk,
    is_old: bool,
    filled: i64,
    paid: i64,
}

impl Venue {
    fn new(version: &str) -> Self {
        let (mut setup, _) = floors::floor(1);
        let known = match version {
            "40" => Version::Fix40,
            "42" => Version::Fix42,
            "44" => Version::Fix44,
            "50" => Version::Fix50Sp2,
            other => panic!("version {other}"),
        };
        setup.sessions[LINE].1 = known;
        // So that the client's reports have the same fields.
        if version == "42" {
            setup.sessions[CLIENT].1 = known;
        }
        let mut desk = Desk::new(&setup);
        desk.hear(&Input::Up(LINE, false));
        let order = "11=X|1=A1|55=XYZ|54=1|38=100|40=2|44=100|59=0|60=20261122-08:00:00|21=1|";
        let said = desk.says(CLIENT, "D", order);
        assert!(said.iter().any(|it| it.to == LINE && it.msg_type == "D"));
        Self {
            desk,
            is_old: matches!(version, "40" | "42"),
            filled: 0,
            paid: 0,
        }
    }

    fn says(&mut self, text: &str) -> Vec<Said> {
        let mut body = format!("11=1|{text}|");
        for field in ["17=E9", "37=V1", "38=100", "44=100", "54=1", "55=XYZ"] {
            let tag = &field[..3];
            if !body.split('|').any(|it| it.starts_with(tag)) {
                body.push_str(&format!("{field}|"));
            }
        }
        self.desk.says(LINE, "8", &body)
    }

    /// `new`, or `E1 10@100`.
    fn before(&mut self, step: &str) {
        let trans = if self.is_old { "20=0|" } else { "" };
        if step == "new" {
            self.says(&format!("{trans}150=0|17=E0|39=0|14=0|151=100|6=0"));
            return;
        }
        let (exec, fill) = step.split_once(' ').unwrap();
        let (quantity, price) = fill.split_once('@').unwrap();
        let (quantity, price): (i64, i64) = (quantity.parse().unwrap(), price.parse().unwrap());
        self.filled += quantity;
        self.paid += quantity * price;
        let (cum, left) = (self.filled, 100 - self.filled);
        let status = if left == 0 { 2 } else { 1 };
        let kind = match self.is_old {
            true => status.to_string(),
            false => "F".to_owned(),
        };
        let average = self.paid as f64 / self.filled as f64;
        self.says(&format!(
            "{trans}150={kind}|17={exec}|39={status}|32={quantity}|31={price}|14={cum}|151={left}|6={average}"
        ));
        assert_eq!(self.desk.query("breaks").lines().count(), 1, "{step}");
    }

    /// State, CumQty and net position.
    fn order(&self) -> String {
        let line = self.desk.query("order 1");
        let fields: Vec<&str> = line.lines().nth(1).unwrap().split('\t').collect();
        let state = self.desk.state();
        let account = state.accounts().find(b"A1").unwrap();
        let symbol = state.instruments().find(b"XYZ").unwrap();
        let net = state.position(account, symbol).net();
        format!("{} {} {net}", fields[8], fields[9])
    }
}

/// Whether messages to the client are these; `-` for none.
fn is_told(said: &[Said], wanted: &str) -> bool {
    let mut told = said.iter().filter(|it| it.to == CLIENT);
    if wanted == "-" {
        return told.next().is_none();
    }
    let Some(first) = told.next() else {
        return false;
    };
    let has = |field: &str| {
        let (tag, value) = field.split_once('=').unwrap();
        first.get(tag.parse().unwrap()) == Some(value)
    };
    first.msg_type == "8" && wanted.split('|').all(has) && told.next().is_none()
}

fn play(line: &str) -> Result<(), String> {
    let parts: Vec<&str> = line.split("; ").collect();
    let [version, before, report, client, order, asked, kind] = parts[..] else {
        return Err("a class has 7 parts".to_owned());
    };
    let mut venue = Venue::new(version);
    for step in before.split(", ").filter(|it| *it != "-") {
        venue.before(step);
    }
    let said = venue.says(report);
    if !is_told(&said, client) {
        return Err(format!("the client gets {said:?}"));
    }
    if venue.order() != order {
        return Err(format!("the order is {}", venue.order()));
    }
    let is_asked = said.iter().any(|it| it.to == LINE && it.msg_type == "H");
    if is_asked != (asked == "H") {
        return Err(format!("the venue is asked: {is_asked}"));
    }
    let breaks = venue.desk.query("breaks");
    let kinds: Vec<&str> = breaks
        .lines()
        .skip(1)
        .filter_map(|it| it.split('\t').nth(1))
        .collect();
    let wanted: Vec<&str> = Some(kind).filter(|it| *it != "-").into_iter().collect();
    if kinds != wanted {
        return Err(format!("the breaks are {breaks}"));
    }
    // The same report again changes nothing, and a restart neither.
    let again = venue.says(report);
    if again.iter().any(|it| it.to == CLIENT) || venue.order() != order {
        return Err(format!("again: {again:?}"));
    }
    venue.desk.hear(&Input::Restart(0, false));
    venue.desk.hear(&Input::Restart(0, true));
    match venue.order() == order && venue.desk.query("breaks") == breaks {
        true => Ok(()),
        false => Err("a restart changes it".to_owned()),
    }
}

#[test]
fn each_class_of_fills_has_its_answer() {
    let text = include_str!("../classes/fills.txt");
    let mut wrong = Vec::new();
    let mut played = 0;
    for (at, line) in (1..).zip(text.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        played += 1;
        if let Err(why) = play(line) {
            wrong.push(format!("line {at}: {line}: {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(played > 50, "{played}");
}
