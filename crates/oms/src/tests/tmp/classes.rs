//! Plays the classes of tests/tmp-classes.txt: what the exchange says over TMP, the right answer to the client and to the
//! exchange, and where the order stands then. The first lines of that file say how it is read.

use core::fmt::Write as _;

use fixwire_protocol::OperatorCommand;
use fixwire_tmp::TmpSide;

use super::*;
use crate::values::value::RequestKind;

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

/// An order as the exchange has it: the requests that it is now and was before.
#[derive(Default)]
struct OfExchange {
    filled: u16,
    quantity: u16,
    price: i32,
    own: R01,
    former: R01,
}

/// A floor with the order of a class, or both sides of its quote, and the book of the exchange.
struct Player {
    floor: Floor,
    is_short: bool,
    symbol: &'static str,
    orders: Vec<OfExchange>,
    /// The request in flight.
    pending: Option<R01>,
    /// The exchange has numbers of another day.
    is_next_day: bool,
    last: Option<Last>,
    reports: u32,
    client: Vec<String>,
    requests: Vec<R01>,
}

impl Player {
    fn new(is_short: bool, is_of_options: bool) -> Self {
        let (head, _) = SETTINGS.split_once("[[line_group]]").unwrap();
        let mut settings = format!("{head}{GROUPS}").replace("\"0s\"", "\"5s\"");
        if is_of_options {
            settings = settings.replace("[oms]", "[oms]\nappl_id = \"OPTIONS\"");
        }
        let mut floor = Floor::with(&settings, 3, |link| {
            if is_of_options {
                link.system_type = SystemType::OPTIONS_DAY;
            }
        });
        for line in 0..3 {
            floor.connect(line);
        }
        Self {
            floor,
            is_short,
            symbol: "TXFL6",
            orders: Vec::new(),
            pending: None,
            is_next_day: false,
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

    /// The place of the order that a message is of: the second one is the offer of a quote.
    fn place(fields: &[(&str, &str)]) -> usize {
        usize::from(fields.contains(&("of", "offer")))
    }

    /// The request that a message is about.
    fn about(&self, fields: &[(&str, &str)], is_of_request: bool) -> R01 {
        let of = &self.orders[Self::place(fields)];
        let pending = self.pending.filter(|it| it.side == of.own.side);
        let id = fields.iter().find(|(key, _)| *key == "id");
        match id.map(|(_, id)| *id) {
            Some("own") => of.own,
            Some("former") => of.former,
            Some("pending") => pending.unwrap(),
            Some("other") => R01 {
                ord_id: 9_999,
                ..of.own
            },
            Some(id) => panic!("{id}"),
            None if is_of_request => pending.unwrap_or(of.own),
            None => of.own,
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
        let pending = self.pending.filter(|it| it.ord_id == of.ord_id);
        let book = &mut self.orders[Self::place(fields)];
        let before = book.quantity.saturating_sub(book.filled);
        let last = small("last").unwrap_or(0);
        if !fields.iter().any(|(key, _)| *key == "cum") {
            book.filled += last;
        }
        match (kind, pending) {
            (b'5', Some(of)) => book.quantity -= of.qty,
            (b'm' | b'M', Some(of)) => book.price = of.price,
            _ => {}
        }
        if matches!(kind, b'5' | b'm' | b'M') && of.ord_id != book.own.ord_id {
            book.former = book.own;
            book.own = of;
        }
        let left = match kind {
            b'4' => 0,
            _ => book.quantity.saturating_sub(book.filled),
        };
        self.reports += 1;
        let mut report = R02 {
            status: TmpStatus(number("status").map_or(0, |it| u8::try_from(it).unwrap())),
            price: number("price").unwrap_or(book.price),
            qty: small("qty").unwrap_or(book.quantity),
            last_qty: last,
            last_px: number("px").unwrap_or(if last > 0 { book.price } else { 0 }),
            cum_qty: small("cum").unwrap_or(book.filled),
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
        if self.symbol != "TXFL6" && last > 0 {
            // Bought: one TXFL7 for two TXFL6, which are sold.
            report.leg_side = [TmpSide::BUY.0, TmpSide::SELL.0];
            (report.leg_px, report.leg_qty) = ([1_010, 1_000], [last, 2 * last]);
        }
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
                    "last" | "px" | "cum" | "leaves" | "before" | "price" | "qty" | "status" | "id"
                    | "of",
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
                "id" | "of" => {}
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
            ("roll", _) => {
                self.floor.now.wall.0 += 86_400 * SECOND.cast_signed();
                self.floor.work();
                self.is_next_day = true;
            }
            ("up", _) => {
                if core::mem::take(&mut self.is_next_day) {
                    self.begin_day();
                }
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
            ("lost", quantity) => self.orders[0].filled += quantity.parse::<u16>().unwrap(),
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
                self.client(&format!("35={fields}|54=1|55={}", self.symbol));
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

    /// The numbers of both ends begin again with the day.
    fn begin_day(&mut self) {
        for (at, member) in self.floor.members.iter_mut().enumerate() {
            let password = TmpPassword::new(PASSWORD);
            let link =
                ExchangeLinkSettings::new(7, at as u16 + 1, password, SystemType::FUTURES_DAY);
            member.link = LinkExchange::new(link, LinkNumbers::default());
            member.kept.0.clear();
        }
        for line in 0..3 {
            self.floor.disconnect(line);
        }
    }

    /// Enters the order of a class, or its quote.
    fn enter(&mut self, word: &str) {
        let fields = "35=D|11=O1|38=100|1=0012345|54=1|40=2|59=0";
        let of = |own: R01| OfExchange {
            quantity: 100,
            price: own.price,
            own,
            ..OfExchange::default()
        };
        if word == "quote" {
            self.client("35=S|117=O1|1=0012345|55=TXFL6|132=99|133=101|134=100|135=100");
            let quote = self.floor.members[0].quotes.remove(0);
            self.orders = super::quotes::sides(&quote).map(of).into();
            return;
        }
        let price = match word {
            "spread" => {
                self.symbol = "TXFL7/L6";
                "-99"
            }
            _ => "100",
        };
        self.client(&format!("{fields}|55={}|44={price}", self.symbol));
        self.orders = vec![of(self.requests[0])];
    }

    /// Makes the order of a class.
    fn book(&mut self, book: &str) {
        self.enter(book.split('+').next().unwrap_or_default());
        for word in book.split('+') {
            let own = &self.orders[0];
            let id = if own.former.ord_id > 0 { "R0" } else { "O1" };
            let symbol = self.symbol;
            let request =
                |kind: &str, more: &str| format!("35={kind}|11=P1|41={id}|54=1|55={symbol}{more}");
            let total = own.quantity;
            let (price, better) = match symbol {
                "TXFL6" => ("100", "101"),
                _ => ("-99", "-98"),
            };
            match word {
                "sent" | "spread" | "quote" | "option" => {}
                "open" if self.orders.len() > 1 => {
                    self.input("R02 0");
                    self.input("R02 0 of=offer");
                }
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
                "reduce" => self.client(&request("G", &format!("|38=70|40=2|44={price}"))),
                "price" => self.client(&request("G", &format!("|38={total}|40=2|44={better}"))),
                other => panic!("{other} is no book"),
            }
        }
        self.client.clear();
        self.requests.clear();
        self.floor.events();
    }

    /// Where the order stands, or both sides of the quote.
    fn state(&self) -> String {
        let count = self.orders.len() as u64;
        let states: Vec<String> = (1..=count).map(|number| self.state_of(number)).collect();
        states.join("/")
    }

    /// Where an order stands, and its pending request.
    fn state_of(&self, number: u64) -> String {
        let orders = self.floor.oms.state().orders();
        let order = orders.get(number).expect("it is remembered");
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
    let mut player = Player::new(is_short, class.book.starts_with("option"));
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
        if !["8", "9", "AI", "R01", "event"].contains(&first) {
            return Err(format!("{output} is no output"));
        }
    }
    // Each new day has these.
    let is_of_day = |it: &String| it.ends_with(" started") || it.contains("a new trading day");
    let mut raised = player.floor.events();
    raised.retain(|it| !is_of_day(it));
    let mut wrong = String::new();
    let (client, wanted) = (&player.client, of("8 9 AI"));
    let is_right = |(report, (kind, fields)): (&String, &(&str, &str))| {
        report.starts_with(&format!("35={kind}|")) && has_fields(report, fields)
    };
    if client.len() != wanted.len() || !client.iter().zip(&wanted).all(is_right) {
        let _ = write!(wrong, "\n    client got {client:#?}");
    }
    let (requests, wanted) = (&player.requests, of("R01"));
    // With its PositionEffect, where a class has it.
    let is_it = |(got, (_, wanted)): (&R01, &(&str, &str))| {
        let kind = char::from(got.exec_type.0);
        let whole = format!("{kind} 77={}", char::from(got.position_effect.0));
        **wanted == kind.to_string() || **wanted == whole
    };
    if requests.len() != wanted.len() || !requests.iter().zip(&wanted).all(is_it) {
        let kinds = requests.iter().map(|it| char::from(it.exec_type.0));
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
