//! Plays the classes of tests/tmp-classes.txt: what the exchange says over TMP, the right answer to the client and to the
//! exchange, and where the order stands then. The first lines of that file say how it is read.

use core::fmt::Write as _;

use fixwire_protocol::OperatorCommand;
use fixwire_tmp::TmpSide;

use super::*;
use crate::value::RequestKind;

/// Lines T1 and T2 have the orders; T3, which the file calls W1, is of another group.
const GROUPS: &str = r#"
[[line_group]]
name = "FUT"
lines = ["T1", "T2"]
number_pool = "P"
[[line_group]]
name = "W"
lines = ["T3"]
number_pool = "P"
[[route]]
symbols = ["FUTURE"]
to = "W"
[[route]]
symbols = ["*"]
to = "FUT"
"#;

/// One line of the file.
struct Class<'a> {
    reports: &'a str,
    book: &'a str,
    inputs: &'a str,
    outputs: &'a str,
    state: &'a str,
}

impl<'a> Class<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut parts = line.split('|').map(str::trim);
        let (reports, book) = (parts.next()?, parts.next()?);
        let (inputs, outputs) = parts.next()?.split_once("->")?;
        let state = parts.next()?;
        parts.next().is_none().then_some(Self {
            reports,
            book,
            inputs: inputs.trim(),
            outputs: outputs.trim(),
            state,
        })
    }
}

/// What the exchange has said last.
#[derive(Clone)]
enum Last {
    Report(R02),
    Reject(R03),
}

/// A floor with the order of a class, and the book of the exchange.
struct Player {
    floor: Floor,
    is_short: bool,
    filled: u16,
    quantity: u16,
    price: i32,
    /// The request of the order as it is now, of before, and in flight.
    own: R01,
    former: R01,
    pending: Option<R01>,
    last: Option<Last>,
    reports: u32,
    client: Vec<String>,
    requests: Vec<R01>,
}

impl Player {
    fn new(is_short: bool) -> Self {
        let (head, _) = SETTINGS.split_once("[[line_group]]").unwrap();
        let settings = format!("{head}{GROUPS}");
        let mut floor = Floor::with(&settings, 3, |_| {});
        for line in 0..3 {
            floor.connect(line);
        }
        Self {
            floor,
            is_short,
            filled: 0,
            quantity: 100,
            price: 1_000,
            own: R01::default(),
            former: R01::default(),
            pending: None,
            last: None,
            reports: 0,
            client: Vec::new(),
            requests: Vec::new(),
        }
    }

    /// Takes what the OMS has written.
    fn collect(&mut self) {
        self.client.append(&mut self.floor.reports);
        for line in 0..3 {
            let got = self.floor.got_on(line);
            self.requests.extend(got);
        }
    }

    fn client(&mut self, fields: &str) {
        self.floor.client(fields).unwrap();
        self.collect();
        let last = self.requests.last();
        self.pending = last.copied().filter(|it| it.exec_type != TmpExecType::NEW);
    }

    fn say(&mut self, line: usize, what: &Last) {
        match what {
            Last::Report(report) if self.is_short => self.floor.says_on(line, &report.short()),
            Last::Report(report) => self.floor.says_on(line, report),
            Last::Reject(reject) => self.floor.says_on(line, reject),
        }
        self.last = Some(what.clone());
        self.collect();
    }

    /// The request that a message is about.
    fn about(&self, fields: &[(&str, &str)], is_of_request: bool) -> R01 {
        let id = fields.iter().find(|(key, _)| *key == "id");
        match id.map(|(_, id)| *id) {
            Some("own") => self.own,
            Some("former") => self.former,
            Some("pending") => self.pending.unwrap(),
            Some("other") => R01 {
                ord_id: 9_999,
                ..self.own
            },
            Some(id) => panic!("{id}"),
            None if is_of_request => self.pending.unwrap_or(self.own),
            None => self.own,
        }
    }

    /// The report, and what it changes in the book of the exchange.
    fn report(&mut self, kind: u8, fields: &[(&str, &str)]) -> R02 {
        let number = |key: &str| {
            let found = fields.iter().find(|(known, _)| *known == key);
            found.map(|(_, value)| value.parse::<i32>().unwrap())
        };
        let small = |key: &str| number(key).map(|it| u16::try_from(it).unwrap());
        let exec_type = TmpExecType(kind);
        let is_of_request = matches!(kind, b'4' | b'5' | b'm' | b'M');
        let of = self.about(fields, is_of_request);
        let before = self.quantity.saturating_sub(self.filled);
        let last = small("last").unwrap_or(0);
        if !fields.iter().any(|(key, _)| *key == "cum") {
            self.filled += last;
        }
        match (kind, self.pending.filter(|it| it.ord_id == of.ord_id)) {
            (b'5', Some(of)) => self.quantity -= of.qty,
            (b'm' | b'M', Some(of)) => self.price = of.price,
            _ => {}
        }
        if matches!(kind, b'5' | b'm' | b'M') && of.ord_id != self.own.ord_id {
            self.former = self.own;
            self.own = of;
        }
        let left = match kind {
            b'4' => 0,
            _ => self.quantity.saturating_sub(self.filled),
        };
        self.reports += 1;
        let mut report = R02 {
            status: TmpStatus(number("status").map_or(0, |it| u8::try_from(it).unwrap())),
            price: number("price").unwrap_or(self.price),
            qty: small("qty").unwrap_or(self.quantity),
            last_qty: last,
            last_px: number("px").unwrap_or(if last > 0 { self.price } else { 0 }),
            cum_qty: small("cum").unwrap_or(self.filled),
            uniq_id: self.reports,
            rpt_seq: self.reports,
            ..super::report(
                &of,
                exec_type,
                (
                    small("before").unwrap_or(if kind == b'0' { 0 } else { before }),
                    small("leaves").unwrap_or(left),
                ),
            )
        };
        for (key, value) in fields {
            match (*key, *value) {
                ("side", side) => report.side = TmpSide(side.parse().unwrap()),
                ("sym", symbol) => {
                    report.symbol = [b' '; 20];
                    report.symbol[..symbol.len()].copy_from_slice(symbol.as_bytes());
                }
                ("acct", account) => report.account = account.parse().unwrap(),
                ("no", no) => report.order_no = no.as_bytes().try_into().unwrap(),
                ("user", "blank") => report.user_define = *b"        ",
                ("user", "other") => report.user_define = *b"00000zzz",
                (
                    "last" | "px" | "cum" | "leaves" | "before" | "price" | "qty" | "status" | "id",
                    _,
                ) => {}
                (key, value) => panic!("{key}={value}"),
            }
        }
        report
    }

    fn reject(&self, status: &str, fields: &[(&str, &str)]) -> R03 {
        let of = self.about(fields, true);
        let mut reject = super::reject(&of, TmpStatus(status.parse().unwrap()));
        for (key, value) in fields {
            match *key {
                "type" => reject.exec_type = TmpExecType(value.as_bytes()[0]),
                "no" => reject.order_no = value.as_bytes().try_into().unwrap(),
                "id" => {}
                key => panic!("{key}"),
            }
        }
        reject
    }

    fn exchange(&mut self, line: usize, text: &str) {
        if text == "again" {
            let last = self.last.clone().unwrap();
            return self.say(line, &last);
        }
        let mut words = text.split_whitespace();
        let (code, kind) = (words.next().unwrap(), words.next().unwrap());
        let fields: Vec<(&str, &str)> = words.map(|it| it.split_once('=').unwrap()).collect();
        let what = match (code, kind.as_bytes()) {
            ("R02", [kind]) => Last::Report(self.report(*kind, &fields)),
            ("R03", _) => Last::Reject(self.reject(kind, &fields)),
            other => panic!("{other:?}"),
        };
        self.say(line, &what);
    }

    fn input(&mut self, text: &str) {
        match text.split_once(' ').unwrap_or((text, "")) {
            ("wait", time) => {
                let seconds: u64 = time.strip_suffix('s').unwrap().parse().unwrap();
                self.floor.pass(seconds * SECOND);
            }
            ("down", _) => self.floor.disconnect(0),
            ("up", _) => {
                self.floor.pass(2 * SECOND);
                self.floor.connect(0);
            }
            ("restart", _) => {
                self.floor.restart(false);
                for line in 1..3 {
                    self.floor.pass(2 * SECOND);
                    self.floor.connect(line);
                }
            }
            ("lost", quantity) => self.filled += quantity.parse::<u16>().unwrap(),
            ("operator", command) => {
                let command = OperatorCommand {
                    bytes: command.as_bytes(),
                    who: "ann",
                    why: "test",
                };
                let mut answer = Vec::new();
                let done = self
                    .floor
                    .tell(|oms, now, outbox| oms.on_command(now, command, &mut answer, outbox));
                done.unwrap();
                self.floor.work();
            }
            ("client", fields) => {
                let fields = fields.replace(' ', "|");
                self.client(&format!("35={fields}|54=1|55=TXFL6"));
            }
            ("T2", text) => self.exchange(1, text),
            ("W1", text) => self.exchange(2, text),
            _ => self.exchange(0, text),
        }
        self.collect();
        // A request of the OMS itself is in flight too.
        let is_change = |it: &&R01| {
            matches!(
                it.exec_type,
                TmpExecType::CANCEL | TmpExecType::REDUCE | TmpExecType::PRICE
            )
        };
        let last = self.requests.iter().rfind(is_change).copied();
        self.pending = last.or(self.pending);
    }

    /// Makes the order of a class.
    fn book(&mut self, book: &str) {
        self.client("35=D|11=O1|38=100|1=0012345|55=TXFL6|54=1|40=2|44=100|59=0");
        self.own = self.requests[0];
        for word in book.split('+') {
            let id = if self.former.ord_id > 0 { "R0" } else { "O1" };
            let request =
                |kind: &str, more: &str| format!("35={kind}|11=P1|41={id}|54=1|55=TXFL6{more}");
            let total = self.quantity;
            match word {
                "sent" => {}
                "open" => self.input("R02 0"),
                "part" => {
                    self.input("R02 0");
                    self.input("R02 F last=40");
                }
                "full" => {
                    self.input("R02 0");
                    self.input("R02 F last=100");
                }
                "replaced" => {
                    self.input("R02 0");
                    self.client("35=G|11=R0|41=O1|38=80|40=2|44=100|54=1|55=TXFL6");
                    self.input("R02 5");
                    self.pending = None;
                }
                "cancel" => self.client(&request("F", "")),
                "reduce" => self.client(&request("G", "|38=70|40=2|44=100")),
                "price" => self.client(&request("G", &format!("|38={total}|40=2|44=101"))),
                other => panic!("{other} is no book"),
            }
        }
        self.client.clear();
        self.requests.clear();
        self.floor.events();
    }

    /// Where the order stands, its pending request, and what its book does not have.
    fn state(&self) -> String {
        let orders = self.floor.oms.state().orders();
        let order = orders.get(1).expect("it is remembered");
        let mut state = match order.state {
            OrderState::Sent => "sent".to_string(),
            OrderState::Working if order.filled > 0 => "part".to_string(),
            OrderState::Working => "open".to_string(),
            OrderState::Ended(how) => format!("{how:?}").to_lowercase(),
            other => format!("{other:?}").to_lowercase(),
        };
        match orders.request_of(order).map(|request| request.kind) {
            Some(RequestKind::Cancel) => state.push_str("+cancel"),
            Some(RequestKind::Replace) => state.push_str("+replace"),
            None => {}
        }
        state
    }
}

fn has_fields(report: &str, fields: &str) -> bool {
    let get = |tag: &str| {
        let front = format!("{tag}=");
        let mut all = report.split('|');
        all.find_map(|field| field.strip_prefix(&front))
    };
    let mut fields = fields.split(' ').filter_map(|field| field.split_once('='));
    fields.all(|(tag, value)| match value {
        "none" => get(tag).is_none(),
        value => get(tag) == Some(value.replace('_', " ").as_str()),
    })
}

/// Why a class does not go as it is written.
fn play(class: &Class<'_>, is_short: bool) -> Result<(), String> {
    let mut player = Player::new(is_short);
    player.book(class.book);
    for input in class.inputs.split(';').map(str::trim) {
        player.input(input);
    }
    let outputs: Vec<&str> = class.outputs.split(';').map(str::trim).collect();
    let of = |front: &str| {
        let outputs = outputs.iter().filter_map(|it| it.split_once(' '));
        let found = outputs.filter(|(first, _)| front.split(' ').any(|it| it == *first));
        found.collect::<Vec<_>>()
    };
    for output in outputs.iter().filter(|it| **it != "nothing") {
        let first = output.split(' ').next().unwrap();
        if !["8", "9", "R01", "event"].contains(&first) {
            return Err(format!("{output} is no output"));
        }
    }
    let raised = player.floor.events();
    let mut wrong = String::new();
    let (client, wanted) = (&player.client, of("8 9"));
    let is_right = |(report, (kind, fields)): (&String, &(&str, &str))| {
        report.starts_with(&format!("35={kind}|")) && has_fields(report, fields)
    };
    if client.len() != wanted.len() || !client.iter().zip(&wanted).all(is_right) {
        let _ = write!(wrong, "\n    client got {client:#?}");
    }
    let (requests, wanted) = (&player.requests, of("R01"));
    let kinds = requests
        .iter()
        .map(|it| char::from(it.exec_type.0).to_string());
    if !kinds
        .clone()
        .eq(wanted.iter().map(|(_, kind)| kind.to_string()))
    {
        let _ = write!(wrong, "\n    exchange got {:?}", kinds.collect::<Vec<_>>());
    }
    let wanted = of("event");
    let is_said = |(event, (_, text)): (&String, &(&str, &str))| event.contains(text);
    if raised.len() != wanted.len() || !raised.iter().zip(&wanted).all(is_said) {
        let _ = write!(wrong, "\n    events {raised:#?}");
    }
    let is = player.state();
    if is != class.state {
        let _ = write!(wrong, "\n    it is {is} then");
    }
    player.floor.check();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

fn reports(name: &str) -> Option<bool> {
    match name {
        "R02" => Some(false),
        "R22" => Some(true),
        _ => None,
    }
}

#[test]
fn what_the_exchange_says_is_answered_as_its_protocol_has_it() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tmp-classes.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut played, mut wrong) = (0, Vec::new());
    for (number, line) in (1..).zip(text.lines()) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let class = Class::parse(line).unwrap_or_else(|| panic!("line {number}: {line}"));
        for name in class.reports.split_whitespace() {
            let is_short = reports(name).unwrap_or_else(|| panic!("line {number}: {name}"));
            let done = std::panic::catch_unwind(|| play(&class, is_short));
            let done = done.unwrap_or_else(|_| Err("a panic".to_string()));
            if let Err(why) = done {
                wrong.push(format!("line {number}, {name}: {line}{why}"));
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
    assert!(played > 300, "{played} classes");
}

#[test]
fn a_class_that_goes_otherwise_is_noticed() {
    let right = "R02 | open+cancel | R02 4 -> 8 150=4 39=4 11=P1 41=O1 | cancelled";
    let is_right = |line: &str| play(&Class::parse(line).unwrap(), false).is_ok();
    assert!(is_right(right));
    for (old, new) in [
        ("| cancelled", "| open"),
        ("11=P1", "11=O1"),
        ("-> 8", "-> 9"),
        ("41=O1 |", "41=O1 ; 9 11=P1 |"),
        ("41=O1 |", "41=O1 ; R01 I |"),
        ("41=O1 |", "41=O1 ; event what |"),
    ] {
        assert!(!is_right(&right.replace(old, new)), "{new}");
    }
}
