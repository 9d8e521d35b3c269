//! Plays the classes of tests/venue-classes.txt: what a venue says, the right answer to the client, and where the order
//! stands then. The first lines of that file say how it is read.

use std::path::Path;

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::{OrderState, RequestKind};

use crate::desk::{Desk, Input, Said, Setup};

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
orders = 100
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "A1"
[[user]]
session = "CLIENT"
accounts = ["A1"]
account = "A1"
may = ["new", "replace", "cancel", "mass cancel", "status"]
[[line_group]]
name = "V"
lines = ["V1", "V2"]
[[line_group]]
name = "W"
lines = ["W1"]
[[route]]
symbols = ["XYZ"]
to = "V"
[[route]]
symbols = ["*"]
to = "W"
"#;
const INSTRUMENTS: &str = "symbol,tick,lot,reference\nXYZ,0.5,1,12\nABC,0.5,1,12\n";
const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,100000\nfirm,RC8,50\nfirm,RC13,100\n\
                      firm,RC14,1000000\nfirm,RC15,5000\n";
const CLIENT: usize = 0;
const LINE: usize = 1;

/// One line of the file.
struct Class<'a> {
    versions: &'a str,
    book: &'a str,
    inputs: &'a str,
    outputs: &'a str,
    state: &'a str,
}

impl<'a> Class<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut parts = line.split('|').map(str::trim);
        let (versions, book) = (parts.next()?, parts.next()?);
        let (inputs, outputs) = parts.next()?.split_once("->")?;
        let state = parts.next()?;
        parts.next().is_none().then_some(Self {
            versions,
            book,
            inputs: inputs.trim(),
            outputs: outputs.trim(),
            state,
        })
    }
}

fn version(name: &str) -> Option<Version> {
    match name {
        "4.2" => Some(Version::Fix42),
        "4.4" => Some(Version::Fix44),
        "5.0" => Some(Version::Fix50Sp2),
        _ => None,
    }
}

/// A desk with the order of a class.
struct Player {
    desk: Desk,
    is_old: bool,
    execs: u32,
    filled: u32,
    quantity: u32,
    /// ClOrdIDs at the venue: of the order now and before, and of its pending request.
    own: String,
    former: String,
    pending: String,
    said: Vec<Said>,
}

impl Player {
    fn new(version: Version) -> Self {
        let setup = Setup {
            settings: SETTINGS.to_owned(),
            files: vec![
                ("instruments.csv", INSTRUMENTS.to_owned()),
                ("limits.csv", LIMITS.to_owned()),
            ],
            sessions: ["CLIENT", "V1", "V2", "W1"]
                .map(|name| (name, version))
                .to_vec(),
        };
        let mut desk = Desk::new(&setup);
        for line in LINE..=3 {
            desk.hear(&Input::Up(line, false));
        }
        Self {
            desk,
            is_old: version == Version::Fix42,
            execs: 0,
            filled: 0,
            quantity: 100,
            own: "1".to_owned(),
            former: String::new(),
            pending: String::new(),
            said: Vec::new(),
        }
    }

    fn client(&mut self, msg_type: &'static str, body: &str) {
        let body = format!("{body}|55=XYZ|54=1|");
        let said = self.desk.says(CLIENT, msg_type, &body);
        let sent = said.iter().find(|it| it.to != CLIENT);
        if let Some(id) = sent.and_then(|it| it.get(11)) {
            self.pending = id.to_owned();
        }
        self.said.extend(said);
    }

    /// An ExecutionReport(8) with what it does not say.
    fn report(&mut self, fields: &[(&str, String)]) -> String {
        self.execs += 1;
        let has = |tag: &str| fields.iter().any(|(known, _)| *known == tag);
        let mut body: String = fields
            .iter()
            .filter(|(_, value)| value != "none")
            .map(|(tag, value)| format!("{tag}={value}|"))
            .collect();
        let more = [
            ("37", "V1".to_owned()),
            ("17", format!("E{}", self.execs)),
            ("55", "XYZ".to_owned()),
            ("54", "1".to_owned()),
            ("1", "A1".to_owned()),
            ("38", self.quantity.to_string()),
            ("31", "12.5".to_owned()),
            ("14", self.filled.to_string()),
        ];
        let old = [("20", "0".to_owned())];
        let more = more.iter().chain(old.iter().filter(|_| self.is_old));
        for (tag, value) in more.filter(|(tag, _)| !has(tag)) {
            body.push_str(&format!("{tag}={value}|"));
        }
        body
    }

    fn venue(&mut self, line: usize, text: &str) {
        let (msg_type, fields) = text.split_once(' ').unwrap();
        let value = |value: &str| match value {
            "own" => self.own.clone(),
            "former" => self.former.clone(),
            "pending" => self.pending.clone(),
            "other" => "X9".to_owned(),
            plain => plain.replace('_', " "),
        };
        let fields: Vec<(&str, String)> = fields
            .split(' ')
            .filter_map(|field| field.split_once('='))
            .map(|(tag, text)| (tag, value(text)))
            .collect();
        if let Some((_, quantity)) = fields.iter().find(|(tag, _)| *tag == "32") {
            self.filled += quantity.parse::<u32>().unwrap_or(0);
        }
        let (msg_type, body) = match msg_type {
            "8" => ("8", self.report(&fields)),
            other => {
                let fields = fields.iter().filter(|(_, value)| value != "none");
                let body = fields
                    .map(|(tag, value)| format!("{tag}={value}|"))
                    .collect();
                let msg_types = ["9", "j", "3", "B"];
                (msg_types.into_iter().find(|it| *it == other).unwrap(), body)
            }
        };
        self.said.extend(self.desk.says(line, msg_type, &body));
    }

    fn input(&mut self, text: &str) {
        match text.split_once(' ').unwrap_or((text, "")) {
            ("wait", time) => {
                let seconds: i64 = time.strip_suffix('s').unwrap().parse().unwrap();
                let input = Input::Pass(seconds * 1_000_000_000);
                self.said.extend(self.desk.hear(&input));
            }
            ("down", _) => self.said.extend(self.desk.hear(&Input::Down(LINE, false))),
            ("up", _) => self.said.extend(self.desk.hear(&Input::Up(LINE, false))),
            ("restart", _) => self.said.extend(self.desk.hear(&Input::Restart(0, false))),
            ("operator", command) => {
                let input = Input::Command(command.to_owned());
                self.said.extend(self.desk.hear(&input));
            }
            ("client", text) => {
                let (msg_type, fields) = text.split_once(' ').unwrap();
                let msg_types = ["F", "G"];
                let msg_type = msg_types.into_iter().find(|it| *it == msg_type).unwrap();
                self.client(msg_type, &fields.replace(' ', "|"));
            }
            ("V2", text) => self.venue(2, text),
            ("W1", text) => self.venue(3, text),
            _ => self.venue(LINE, text),
        }
    }

    /// Makes the order of a class.
    fn book(&mut self, book: &str) {
        self.client("D", "11=O1|38=100|40=2|44=12.5");
        for word in book.split('+') {
            match word {
                "sent" => {}
                "open" => self.input("8 150=0 39=0 11=own"),
                "part" => {
                    self.input("8 150=0 39=0 11=own");
                    self.fill(40, 1);
                }
                "full" => {
                    self.input("8 150=0 39=0 11=own");
                    self.fill(100, 2);
                }
                "rejected" => self.input("8 150=8 39=8 11=own"),
                "cancelled" => {
                    self.input("8 150=0 39=0 11=own");
                    self.input("8 150=4 39=4 11=own");
                }
                "expired" => {
                    self.input("8 150=0 39=0 11=own");
                    self.input("8 150=C 39=C 11=own");
                }
                "replaced" => {
                    self.input("8 150=0 39=0 11=own");
                    self.client("G", "11=R0|41=O1|38=120|40=2|44=12.5");
                    self.quantity = 120;
                    self.input("8 150=5 39=0 11=pending 41=own");
                    self.former = std::mem::replace(&mut self.own, self.pending.clone());
                }
                "cancel" => self.client("F", &format!("11=P1|41={}", self.client_id())),
                "replace" => {
                    let id = self.client_id();
                    self.client("G", &format!("11=P1|41={id}|38=150|40=2|44=12.5"));
                }
                other => panic!("{other} is no book"),
            }
        }
        self.said.clear();
        self.desk.events();
    }

    fn fill(&mut self, quantity: u32, status: u32) {
        let kind = match self.is_old {
            true => status.to_string(),
            false => "F".to_owned(),
        };
        let filled = self.filled + quantity;
        self.input(&format!(
            "8 150={kind} 39={status} 11=own 32={quantity} 14={filled}"
        ));
    }

    fn client_id(&self) -> &'static str {
        if self.former.is_empty() { "O1" } else { "R0" }
    }

    /// The kinds of the open breaks.
    fn breaks(&self) -> Vec<String> {
        let list = self.desk.query("breaks");
        let kinds = list.lines().skip(1).filter_map(|it| it.split('\t').nth(1));
        kinds.map(str::to_owned).collect()
    }

    /// Where the order stands, and its pending request.
    fn state(&self) -> String {
        let orders = self.desk.state().orders();
        let order = orders.get(1).expect("it is remembered");
        let state = match order.state {
            OrderState::Sent => "sent".to_owned(),
            OrderState::Unknown => "unknown".to_owned(),
            OrderState::Working if order.filled > 0 => "part".to_owned(),
            OrderState::Working => "open".to_owned(),
            OrderState::DoneForDay => "done".to_owned(),
            OrderState::Ended(how) => format!("{how:?}").to_lowercase(),
            other => format!("{other:?}"),
        };
        match orders.request_of(order).map(|request| request.kind) {
            Some(RequestKind::Cancel) => format!("{state}+cancel"),
            Some(RequestKind::Replace) => format!("{state}+replace"),
            None => state,
        }
    }
}

fn has_fields(said: &Said, msg_type: &str, fields: &str) -> bool {
    let mut fields = fields.split(' ').filter_map(|field| field.split_once('='));
    said.msg_type == msg_type
        && fields.all(|(tag, value)| {
            let is = said.get(tag.parse().unwrap());
            match value {
                "none" => is.is_none(),
                value => is == Some(value.replace('_', " ").as_str()),
            }
        })
}

/// Why a class does not go as it is written.
fn play(class: &Class<'_>, version: Version) -> Result<(), String> {
    let mut player = Player::new(version);
    player.book(class.book);
    for input in class.inputs.split(';').map(str::trim) {
        player.input(input);
    }
    let outputs = class.outputs.split(';').map(str::trim);
    let outputs = outputs.filter(|it| *it != "nothing");
    let (breaks, outputs): (Vec<&str>, Vec<&str>) =
        outputs.partition(|it| it.starts_with("break "));
    let (events, messages): (Vec<&str>, Vec<&str>) =
        outputs.into_iter().partition(|it| it.starts_with("event "));
    let said = &player.said;
    let mut wanted = messages.iter();
    for message in said {
        let Some(next) = wanted.next() else {
            return Err(format!("more was written: {message:?}"));
        };
        let (msg_type, fields) = next.split_once(' ').unwrap_or((next, ""));
        let is_for_client = matches!(msg_type, "8" | "9");
        if is_for_client != (message.to == CLIENT) || !has_fields(message, msg_type, fields) {
            return Err(format!("{next}: {message:?}"));
        }
    }
    if let Some(missing) = wanted.next() {
        return Err(format!("not written: {missing}; of {said:?}"));
    }
    let raised = player.desk.events();
    let mut told = raised.iter();
    for event in &events {
        let text = event.trim_start_matches("event ");
        match told.next() {
            Some(is) if is.contains(text) => {}
            is => return Err(format!("{event}: {is:?}")),
        }
    }
    if let Some(more) = told.next() {
        return Err(format!("one event more: {more}"));
    }
    let open = player.breaks();
    let is_its = |(is, wanted): (&String, &&str)| is.contains(wanted.trim_start_matches("break "));
    if open.len() != breaks.len() || !open.iter().zip(&breaks).all(is_its) {
        return Err(format!("{breaks:?}: the breaks are {open:?}"));
    }
    match player.state() {
        state if state == class.state => Ok(()),
        state => Err(format!("it is {state} then")),
    }
}

#[test]
fn what_a_venue_says_is_answered_as_the_specification_has_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/venue-classes.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut played, mut wrong) = (0, Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let class = Class::parse(line).unwrap_or_else(|| panic!("line {number}: {line}"));
        for name in class.versions.split_whitespace() {
            let version = version(name).unwrap_or_else(|| panic!("line {number}: {name}"));
            let done = std::panic::catch_unwind(|| play(&class, version));
            let done = done.unwrap_or_else(|_| Err("a panic".to_owned()));
            if let Err(why) = done {
                wrong.push(format!("line {number}, FIX {name}: {line}\n    {why}"));
            }
            played += 1;
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(played > 500, "{played} classes");
}

#[test]
fn a_class_that_goes_otherwise_is_noticed() {
    let right = "4.4 | open+cancel | 8 150=4 39=4 11=pending 41=own -> 8 150=4 39=4 11=P1 41=O1 | cancelled";
    let is_right = |line: &str| play(&Class::parse(line).unwrap(), Version::Fix44).is_ok();
    assert!(is_right(right));
    for (old, new) in [
        ("| cancelled", "| open"),
        ("11=P1", "11=O1"),
        ("-> 8", "-> 9"),
        ("41=O1 |", "41=O1 ; 9 11=P1 |"),
        ("41=O1 |", "41=O1 ; event what |"),
    ] {
        assert!(!is_right(&right.replace(old, new)), "{new}");
    }
}
