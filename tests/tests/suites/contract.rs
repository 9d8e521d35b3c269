//! Does each field of a request and of a venue's report become what the page of fields says, between any versions?
//!
//! An OMS without an engine stands between a client, a venue and a drop copy, each with the dictionary of FIX 4.2, 4.4 or
//! 5.0 SP2, or of one of four venues (`contract/*.delta`). Each field and group of D, G and F that the client's dictionary
//! has, and some that no dictionary has, goes to each venue; each of 8 and 9 that the venue's dictionary has comes back.
//! What left is compared, whole, with the message without the field and with what an own reading of
//! docs/reference/oms-fields.md makes of it: no function of the product says what is right. `contract/reading.rs` is
//! that reading.

mod desk;
mod node;
mod page;
mod reading;
mod tables;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fixwire_oms::rules::RiskRules;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::{BeginString, Config, Role, is_admin};
use fixwire_protocol::{Decoder, Ledger as _, Now, Outbox, Refusal, Session, SessionId, Tag};

use desk::{Answer, CLIENT, COPY, Desk, Sent, Spoken, VENUE, rules, spoken};
use node::{Node, nodes};
use page::{Class, Page, REQUESTS};
use reading::{Key, Named, Outcome, Way, is_passed_back};
use tables::{ConvertedText, converted, converted_report};

const ORDER: &str = "21=1|55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00|";
/// Tags that frame a message.
const FRAME: [Tag; 4] = [8, 9, 10, 35];
const MESSAGE_ENCODING: Tag = 347;
/// A tag of a venue, which some of the dictionaries have, and two of nobody.
const CUSTOM: [Tag; 3] = [9303, 6001, 20_001];

/// The request that is accepted as it stands.
fn base(msg_type: &str, id: &str, original: &str) -> String {
    match msg_type {
        "D" => format!("11={id}|{ORDER}"),
        "G" => format!("11={id}|41={original}|{ORDER}"),
        "F" => format!("11={id}|41={original}|55=XYZ|54=1|60=20261122-08:00:00|"),
        other => panic!("{other}"),
    }
}

/// A condition on the price of another symbol, which the OMS does not watch.
const TRIGGER: &str = "1100=4|1101=1|1102=101|1103=NONE|1107=2|1109=U|";

/// What becomes of a field that the page calls carried or checked: its fields, and whether the venue gets its value, is
/// sent the message as without it, or nothing.
fn conditions(msg_type: &str, tag: Tag) -> &'static [(&'static str, Condition)] {
    use Condition::{Refused, Same, Value};
    match (msg_type, tag) {
        ("D", 1) | ("G", 1) => &[("1=A1|", Same)],
        ("D", 59) => &[("59=1|", Value), ("59=0|", Same)],
        ("G", 59) => &[("59=0|", Same)],
        // The symbol has no position effect: the order is refused for another reason.
        ("D" | "G", 77) => &[("77=O|", Refused)],
        ("D" | "G", 99) => &[("99=90|", Refused)],
        ("D", 432) => &[("432=20991231|", Refused), ("59=6|432=20991231|", Value)],
        ("G", 432) => &[("59=6|432=20991231|", Refused)],
        ("G" | "F", 37) => &[("37=999|", Refused), ("37=ORDER|", Same)],
        ("D" | "G", 100) => &[("100=XLON|", Refused)],
        ("D" | "G" | "F", 167) => &[("167=FUT|", Refused)],
        ("D" | "G" | "F", 22 | 48) => &[("22=5|48=XYZ.L|", Same), ("22=5|48=ABC.L|", Refused)],
        ("D" | "G" | "F", 207) => &[("207=XLON|", Same), ("207=XNAS|", Refused)],
        ("D" | "G" | "F", 200) => &[
            ("200=202701|", Same),
            ("200=20270115|", Same),
            ("200=202702|", Refused),
            ("200=20270116|", Refused),
        ],
        ("D" | "G" | "F", 541) => &[("541=20270115|", Same), ("541=20270116|", Refused)],
        ("D", 114) => &[("114=N|", Value)],
        ("D", 5700) => &[("114=N|5700=X|", Value)],
        ("G", 114) => &[("114=N|", Refused)],
        ("D", 1080 | 1081) => &[("1080=1|1081=1|", Refused)],
        ("D", 1100 | 1101 | 1102 | 1103 | 1107 | 1109) => &[(TRIGGER, Refused)],
        other => panic!("the page names a condition for {other:?}: write it down here"),
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Condition {
    Value,
    Same,
    Refused,
}

/// A message of the OMS, without the values that each of them has for itself.
fn masked(sent: &Sent, own: &[Tag]) -> String {
    let mut body = String::new();
    for field in sent.body.split_terminator('|') {
        let tag = field.split_once('=').and_then(|it| it.0.parse().ok());
        match tag.filter(|tag| own.contains(tag)) {
            Some(tag) => {
                let _ = write!(body, "{tag}=*|");
            }
            None => {
                let _ = write!(body, "{field}|");
            }
        }
    }
    body
}

/// A desk whose client sends requests.
struct Requests<'a> {
    desk: Desk,
    ways: [Way<'a>; 3],
    page: &'a Page,
    /// The dictionaries of the client and of the venue.
    spoken: (&'a Spoken, &'a Spoken),
    /// The number of the last request, and the OrderID(37) of the open order.
    last: u32,
    order: String,
    /// What each request is without further fields.
    plain: [String; 3],
    /// Fields of requests that were dropped, by tag.
    dropped: BTreeMap<Tag, u64>,
    faults: Vec<String>,
    outcomes: [usize; 3],
}

const CHANGING: [Tag; 3] = [11, 41, 60];
const KINDS: [&str; 3] = ["D", "G", "F"];

impl<'a> Requests<'a> {
    fn new(
        page: &'a Page,
        (client, venue): (&'a Spoken, &'a Spoken),
        rules: RiskRules,
        contracts: [&'a Named; 2],
    ) -> Self {
        let mut requests = Self {
            desk: Desk::new(rules, client, venue, client),
            ways: KINDS.map(|msg_type| Way {
                page,
                msg_type,
                from: &client.dictionary,
                to: &venue.dictionary,
                contracts,
            }),
            page,
            spoken: (client, venue),
            last: 0,
            order: String::new(),
            plain: Default::default(),
            dropped: BTreeMap::new(),
            faults: Vec::new(),
            outcomes: [0; 3],
        };
        let number = requests.open("O");
        requests.order = number;
        for (at, msg_type) in KINDS.into_iter().enumerate() {
            let (answer, _) = requests.ask(msg_type, "", "");
            let sent = answer.to(VENUE, msg_type);
            let sent = sent.unwrap_or_else(|| panic!("{msg_type}: {answer:?}"));
            let sent = masked(sent, &CHANGING);
            // What settings add comes beside what a client says.
            let (header, body) = requests.ways[at].sets(None);
            let plain = sent.strip_prefix(&*header);
            let plain = plain.and_then(|plain| plain.strip_suffix(&*body));
            let plain = plain.unwrap_or_else(|| panic!("{sent} without {header} and {body}"));
            requests.plain[at] = plain.to_owned();
        }
        requests
    }

    /// Opens an order: its OrderID(37).
    fn open(&mut self, id: &str) -> String {
        let sent = self.desk.hears(CLIENT, &format!("35=D|11={id}|{ORDER}"));
        let number = sent.to(VENUE, "D").and_then(|it| it.get(11));
        let number = number.expect("an order").to_owned();
        let is_42 = self.ways[0].to.version() == "FIX.4.2";
        let trans = if is_42 { "20=0|" } else { "" };
        let accepted = self.desk.hears(
            VENUE,
            &format!(
                "35=8|37=V{number}|11={number}|17=N{number}|{trans}150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|"
            ),
        );
        let report = accepted.to(CLIENT, "8").and_then(|it| it.get(37));
        report.expect("a report").to_owned()
    }

    /// Sends a request with fields of the header and the body; a change is rejected by the venue, so that the next one
    /// finds the order as it was.
    fn ask(&mut self, msg_type: &str, header: &str, fields: &str) -> (Answer, String) {
        self.last += 1;
        let base = base(msg_type, &format!("N{}", self.last), "O");
        let has = |tag: &str| fields.starts_with(tag) || fields.contains(&format!("|{tag}"));
        // An order has one TimeInForce.
        assert!(!has("11=") && !has("55="), "{fields}");
        let request = format!("35={msg_type}|{header}{base}{fields}");
        let answer = self.desk.hears(CLIENT, &request);
        if msg_type != "D"
            && let Some(sent) = answer.to(VENUE, msg_type)
        {
            let (id, original) = (sent.get(11).unwrap(), sent.get(41).unwrap());
            let to = if msg_type == "G" { 2 } else { 1 };
            let reject = format!("35=9|37=V1|11={id}|41={original}|39=0|434={to}|102=0|58=no|");
            let heard = self.desk.hears(VENUE, &reject);
            assert!(heard.to(CLIENT, "9").is_some(), "{heard:?}");
        }
        (answer, request)
    }

    /// Sends a field, and compares what the venue gets.
    fn compare(&mut self, at: usize, node: &[Node]) {
        let msg_type = KINDS[at];
        let way = self.ways[at];
        let outcomes: Option<Vec<Outcome>> = node.iter().map(|node| way.outcome(node)).collect();
        let is_header = way.from.header().member(node[0].tag).is_some();
        let text: String = node.iter().map(Node::text).collect();
        let Some(mut outcomes) = outcomes else {
            return;
        };
        let is_converted = self.convert(at, node, &mut outcomes);
        let (header, fields) = match is_header {
            true => (&*text, ""),
            false => ("", &*text),
        };
        let (answer, request) = self.ask(msg_type, header, fields);
        let expected = match outcomes.contains(&Outcome::Refused) {
            true => None,
            false => Some(self.expected(at, node, &outcomes, is_converted)),
        };
        self.outcomes[match (&expected, &outcomes[0]) {
            (None, _) => 0,
            (_, Outcome::Sent { .. }) => 1,
            _ => 2,
        }] += 1;
        let sent = answer.to(VENUE, msg_type).map(|it| masked(it, &CHANGING));
        let is_right = match &expected {
            None => is_refused(&answer, msg_type, node),
            Some(expected) => sent.as_ref() == Some(expected),
        };
        if !is_right {
            self.faults.push(format!(
                "{request}\n  expected {}\n  the OMS sent {:?} {:?}",
                expected.as_deref().unwrap_or("a reject that names the tag"),
                answer.refusal,
                answer.sent,
            ));
        }
    }

    /// What the conversion tables say of fields that the venue's dictionary does not accept as they stand. Returns
    /// whether they convert them.
    fn convert(&self, at: usize, node: &[Node], outcomes: &mut [Outcome]) -> bool {
        let way = self.ways[at];
        let refused = |outcome: &Outcome| *outcome == Outcome::Refused;
        let places: Vec<usize> = (0..node.len())
            .filter(|at| refused(&outcomes[*at]))
            .collect();
        let moved: Option<String> = places
            .iter()
            .map(|at| way.moved_fields(&node[*at]))
            .collect();
        let (Some(moved), Some(first)) = (moved, places.first()) else {
            return false;
        };
        let base = base(KINDS[at], "1", "1");
        // A cancel needs its quantity in FIX 4.4, and its CxlType in FIX 4.0.
        let base = match KINDS[at] {
            "F" => format!("{base}38=10|125=F|"),
            _ => base,
        };
        let (client, venue) = self.spoken;
        let converted = converted(self.page, KINDS[at], client, venue, &base, &moved);
        let Some(mut converted) = converted else {
            return false;
        };
        let [user, group] = way.contracts;
        let set_by = |of: &Named, field: &str| {
            let tag = field.split('=').next()?.parse().ok()?;
            match of.get(&tag) {
                Some(Key::Set(value)) => Some(format!("{tag}={value}|")),
                _ => None,
            }
        };
        // A field is written once: the table may not make one that the user's contract has set.
        let all = format!("{}{}", converted.header, converted.body);
        if all
            .split_inclusive('|')
            .any(|field| set_by(user, field).is_some())
        {
            return false;
        }
        for part in [&mut converted.header, &mut converted.body] {
            let fields = part.split_inclusive('|');
            let fields = fields.map(|it| set_by(group, it).unwrap_or_else(|| it.to_owned()));
            *part = fields.collect();
        }
        for place in &places {
            outcomes[*place] = Outcome::Same(0);
        }
        let is_header = !converted.header.is_empty();
        outcomes[*first] = match (&*converted.header, &*converted.body) {
            ("", text) | (text, "") => Outcome::Sent {
                text: text.to_owned(),
                is_header,
            },
            (header, body) => panic!("one field became {header} and {body}"),
        };
        true
    }

    /// The message that the venue gets.
    fn expected(
        &mut self,
        at: usize,
        node: &[Node],
        outcomes: &[Outcome],
        is_converted: bool,
    ) -> String {
        let (mut header, mut body) = (String::new(), String::new());
        for (node, outcome) in node.iter().zip(outcomes) {
            match outcome {
                Outcome::Sent { text, is_header } => match is_header {
                    true => header += text,
                    false => body += text,
                },
                Outcome::Same(0) | Outcome::Refused => {}
                Outcome::Same(_) => {
                    for dropped in node.all() {
                        *self.dropped.entry(dropped.tag).or_default() += 1;
                    }
                }
            }
        }
        let (sets_of_header, sets) = self.ways[at].sets(Some(node));
        let plain = &self.plain[at];
        // Fields that a user's contract sets are converted with those of the client, and converted fields come last.
        let [user, _] = self.ways[at].contracts;
        if user.values().any(|key| matches!(key, Key::Set(_))) {
            let [client, venue] = [self.spoken.0, self.spoken.1].map(|it| it.version);
            // The tables always convert it, also where both versions have the value.
            let is_set = matches!(user.get(&MESSAGE_ENCODING), Some(Key::Set(_)));
            let has_it = node.iter().any(|it| it.tag == MESSAGE_ENCODING);
            if has_it && !is_set && client != venue {
                return format!("{sets_of_header}{header}{plain}{sets}{body}");
            }
            if is_converted {
                return format!("{header}{sets_of_header}{plain}{sets}{body}");
            }
        }
        let tag = |field: &str| field.split('=').next().map(str::to_owned);
        let is_made = |set: &str| {
            body.split_inclusive('|')
                .any(|field| tag(field) == tag(set))
        };
        let sets: String = sets
            .split_inclusive('|')
            .filter(|set| !is_made(set))
            .collect();
        format!("{header}{sets_of_header}{plain}{body}{sets}")
    }

    /// Sends each field of the client's dictionary, and each that none has.
    fn all(&mut self) {
        for (at, msg_type) in KINDS.into_iter().enumerate() {
            let from = self.ways[at].from;
            let message = from.message(msg_type.as_bytes()).expect("a message");
            for part in [from.header(), message] {
                for member in part.members() {
                    let is_own = CHANGING.contains(&member.tag) || FRAME.contains(&member.tag);
                    let has_it = |part: &str| part.contains(&format!("|{}=", member.tag));
                    if is_own || has_it(&format!("|{}", base(msg_type, "", ""))) {
                        continue;
                    }
                    let counts = if member.group.is_some() { 2 } else { 1 };
                    for entries in 1..=counts {
                        let mut node = nodes(from, member, entries);
                        if let Some(account) = node.iter_mut().find(|it| it.tag == 1) {
                            // A cancel names the account of its order.
                            account.value = "A1".to_owned();
                        }
                        if !node.is_empty() {
                            self.compare(at, &node);
                        }
                    }
                }
            }
            for tag in CUSTOM
                .into_iter()
                .filter(|tag| message.member(*tag).is_none())
            {
                self.compare(at, &[Node::single(tag, "X")]);
            }
        }
    }

    /// Sends the fields for which the page names a condition.
    fn conditional(&mut self) {
        for (at, msg_type) in KINDS.into_iter().enumerate() {
            let from = self.ways[at].from;
            let message = from.message(msg_type.as_bytes()).expect("a message");
            for member in message.members() {
                let class = self.ways[at].page.request(msg_type, member.tag);
                let is_base =
                    format!("|{}", base(msg_type, "", "")).contains(&format!("|{}=", member.tag));
                if is_base || !matches!(class, Some(Class::Carried | Class::Checked)) {
                    continue;
                }
                for (fields, becomes) in conditions(msg_type, member.tag) {
                    let fields = fields.replace("ORDER", &self.order);
                    let (answer, request) = self.ask(msg_type, "", &fields);
                    let sent = answer.to(VENUE, msg_type);
                    let value = format!("{}=", member.tag);
                    let value = fields
                        .split_inclusive('|')
                        .find(|it| it.starts_with(&value));
                    let is_right = match becomes {
                        Condition::Refused => {
                            let reject = answer.to(CLIENT, "8").or(answer.to(CLIENT, "9"));
                            sent.is_none() && (reject.is_some() || answer.refusal.is_some())
                        }
                        Condition::Same => {
                            sent.is_some_and(|it| masked(it, &CHANGING) == self.plain[at])
                        }
                        Condition::Value => sent.is_some_and(|it| {
                            value.is_some_and(|value| it.body.contains(&format!("|{value}")))
                        }),
                    };
                    if !is_right {
                        self.faults.push(format!(
                            "{request}\n  expected {becomes:?}\n  the OMS sent {:?} {:?}",
                            answer.refusal, answer.sent
                        ));
                    }
                }
            }
        }
    }

    /// The faults; each with the pair and the contracts of its desk.
    fn end(mut self, name: &str, faults: &mut Vec<String>, outcomes: &mut [usize; 3]) {
        let counts = self.dropped.iter();
        let counts: Vec<String> = counts
            .map(|(tag, count)| format!("{tag}: {count}"))
            .collect();
        // They are counted for the contract that names them: here only one does.
        let whose = match name.ends_with("drop of a user") {
            true => "user C",
            false => "line_group V",
        };
        let wanted = match counts.is_empty() {
            true => String::new(),
            false => format!("{whose} {}", counts.join(", ")),
        };
        let counted = self.desk.status("dropped fields");
        if counted != wanted {
            let fault = format!("dropped fields are counted as {counted}, not as {wanted}");
            self.faults.push(fault);
        }
        for (all, more) in outcomes.iter_mut().zip(self.outcomes) {
            *all += more;
        }
        faults.extend(
            self.faults
                .into_iter()
                .map(|fault| format!("{name}: {fault}")),
        );
    }
}

/// The client got a reject that names the tag of a field, and the venue nothing.
fn is_refused(answer: &Answer, msg_type: &str, node: &[Node]) -> bool {
    let reject = answer.to(CLIENT, if msg_type == "D" { "8" } else { "9" });
    let text = reject.and_then(|reject| reject.get(58)).unwrap_or_default();
    let names = |node: &Node| {
        let named = |tag: Tag| text.ends_with(&format!("(tag {tag})"));
        node.all().into_iter().any(|node| named(node.tag))
    };
    node.iter().any(names) && answer.sent.iter().all(|sent| sent.to != VENUE)
}

/// Shows the first faults, and how many there are.
#[track_caller]
fn none(faults: &[String]) {
    let first: Vec<&str> = faults.iter().take(20).map(|it| &**it).collect();
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        first.join("\n")
    );
}

#[test]
fn each_field_of_a_request_reaches_the_venue_as_the_page_says() {
    let page = Page::read();
    let none_named = Named::new();
    let (mut faults, mut outcomes) = (Vec::new(), [0; 3]);
    for client in spoken() {
        for venue in spoken() {
            let rules = rules("", "").expect("the settings are right");
            let contracts = [&none_named, &none_named];
            let mut requests = Requests::new(&page, (client, venue), rules, contracts);
            requests.all();
            requests.conditional();
            let name = format!("{} to {}", client.name, venue.name);
            requests.end(&name, &mut faults, &mut outcomes);
        }
    }
    none(&faults);
    println!("{outcomes:?} fields were refused, sent, and without effect");
    assert!(outcomes.iter().all(|count| *count > 500), "{outcomes:?}");
}

/// Whether a key may name a field, by the first row of each request of orders.
fn may_name(page: &Page, key: &Key, tag: Tag) -> bool {
    let orders = KINDS.into_iter().filter_map(|of| page.request(of, tag));
    let mut others = REQUESTS.into_iter().filter_map(|of| page.request(of, tag));
    let may = |class: Class| match class {
        Class::Passed | Class::Named => true,
        Class::Instruction => matches!(key, Key::Carry | Key::Map(..) | Key::Refuse),
        Class::Listed => matches!(key, Key::Map(..) | Key::Refuse),
        Class::Refused => matches!(key, Key::Drop | Key::Set(_) | Key::Refuse),
        Class::Never => matches!(key, Key::Refuse),
        Class::Session
        | Class::Carried
        | Class::Set
        | Class::Used
        | Class::Checked
        | Class::NotPassed => false,
    };
    let is_ours = |class: &Class| {
        use Class::{Carried, Checked, Session, Set, Used};
        matches!(class, Session | Carried | Set | Used | Checked)
    };
    match key {
        // A message that has the field must not lose it.
        Key::Drop | Key::Refuse => others.all(may),
        Key::Carry | Key::Set(_) | Key::Map(..) => {
            !orders.clone().any(|class| is_ours(&class)) && orders.take(1).all(may)
        }
    }
}

/// Settings that name fields, as text.
fn settings(named: &Named, whose: &str) -> String {
    let tags = |wanted: &Key| {
        let all = named.iter().filter(|(_, key)| *key == wanted);
        let tags: Vec<String> = all.map(|(tag, _)| tag.to_string()).collect();
        tags.join(", ")
    };
    let mut text = String::new();
    for (name, key) in [
        ("carry", Key::Carry),
        ("drop", Key::Drop),
        ("refuse", Key::Refuse),
    ] {
        if named.values().any(|known| *known == key) {
            let _ = writeln!(text, "{name} = [{}]", tags(&key));
        }
    }
    let mut sets = Vec::new();
    for (tag, key) in named {
        if let Key::Set(value) = key {
            sets.push(format!("{tag} = \"{value}\""));
        }
    }
    if !sets.is_empty() {
        let _ = writeln!(text, "set = {{{}}}", sets.join(", "));
    }
    for (tag, key) in named {
        if let Key::Map(from, to) = key {
            let _ = writeln!(text, "[{whose}.map.{tag}]\n\"{from}\" = \"{to}\"");
        }
    }
    text
}

#[test]
fn settings_may_name_the_fields_that_the_page_says() {
    let page = Page::read();
    let tags = page.request_tags();
    let keys = [
        ("carry", Key::Carry),
        ("drop", Key::Drop),
        ("refuse", Key::Refuse),
    ];
    for (name, key) in keys {
        let all: Named = tags.iter().map(|tag| (*tag, key.clone())).collect();
        let mistakes = rules(&settings(&all, "user"), "").expect_err("some may not be named");
        for tag in &tags {
            let refused = format!("{name} cannot name tag {tag}: ");
            let is_refused = mistakes.iter().any(|it| it.contains(&refused));
            let classes = REQUESTS.map(|of| page.request(of, *tag));
            // A condition that is about a value leaves others to the settings.
            if !classes.contains(&Some(Class::Checked)) {
                assert_eq!(
                    is_refused,
                    !may_name(&page, &key, *tag),
                    "{refused}{classes:?}"
                );
            }
        }
    }
}

/// A way to name fields, of a user and a line group.
type Naming = (
    &'static str,
    fn(Tag, &str) -> Option<Key>,
    fn(Tag, &str) -> Option<Key>,
);

const NAMINGS: [Naming; 11] = {
    fn nothing(_: Tag, _: &str) -> Option<Key> {
        None
    }
    fn carry(_: Tag, _: &str) -> Option<Key> {
        Some(Key::Carry)
    }
    fn drop(_: Tag, _: &str) -> Option<Key> {
        Some(Key::Drop)
    }
    fn refuse(_: Tag, _: &str) -> Option<Key> {
        Some(Key::Refuse)
    }
    fn map(_: Tag, value: &str) -> Option<Key> {
        Some(Key::Map(value.to_owned(), "M1".to_owned()))
    }
    fn map_again(_: Tag, _: &str) -> Option<Key> {
        Some(Key::Map("M1".to_owned(), "M2".to_owned()))
    }
    /// A value that no client sends.
    fn map_another(_: Tag, _: &str) -> Option<Key> {
        Some(Key::Map("M3".to_owned(), "M2".to_owned()))
    }
    [
        ("carry of a user", carry, nothing),
        ("carry of a line group", nothing, carry),
        ("drop of a user", drop, nothing),
        ("drop of a line group", nothing, drop),
        ("refuse of a user", refuse, nothing),
        ("refuse of a line group", carry, refuse),
        ("drop of what a user carries", carry, drop),
        ("map of a user", map, nothing),
        ("map of a line group", nothing, map),
        ("map of what a user maps", map, map_again),
        ("map of another value", carry, map_another),
    ]
};

/// Whether a field has a value that stands alone: it counts no group, and belongs to no length.
fn is_single(tag: Tag) -> bool {
    spoken().iter().all(|of| {
        let field = of.dictionary.field(tag);
        let messages = KINDS
            .iter()
            .filter_map(|it| of.dictionary.message(it.as_bytes()));
        let has_partner = field.is_some_and(|field| field.partner.is_some());
        let mut messages = messages.chain([of.dictionary.header()]);
        !has_partner && !messages.any(|it| it.group(tag).is_some())
    })
}

/// What a contract of this kind names: all fields that it may.
fn named(page: &Page, client: &Spoken, key: fn(Tag, &str) -> Option<Key>) -> Named {
    let tags = page.request_tags().into_iter().chain(CUSTOM);
    let keys = tags.filter_map(|tag| {
        let field = client.dictionary.field(tag);
        let value = field.map_or("X", node::value);
        let key = key(tag, value)?;
        let is_wrong = matches!(key, Key::Set(_) | Key::Map(..)) && !is_single(tag);
        (!is_wrong && may_name(page, &key, tag)).then_some((tag, key))
    });
    keys.collect()
}

/// Each version to each version, and each venue to itself.
fn pairs() -> impl Iterator<Item = (&'static Spoken, &'static Spoken)> {
    let (versions, venues) = spoken().split_at(3);
    let each = versions
        .iter()
        .flat_map(|one| versions.iter().map(move |other| (one, other)));
    each.chain(venues.iter().map(|venue| (venue, venue)))
}

#[test]
fn contracts_of_users_and_line_groups_do_what_the_page_says() {
    let page = Page::read();
    let (mut faults, mut outcomes) = (Vec::new(), [0; 3]);
    for (client, venue) in pairs() {
        for (name, user, group) in NAMINGS {
            let [user, group] = [user, group].map(|key| named(&page, client, key));
            let rules = rules(&settings(&user, "user"), &settings(&group, "line_group"));
            let rules = rules.unwrap_or_else(|why| panic!("{name}: {why:?}"));
            let mut requests = Requests::new(&page, (client, venue), rules, [&user, &group]);
            requests.all();
            let name = format!("{} to {}, {name}", client.name, venue.name);
            requests.end(&name, &mut faults, &mut outcomes);
        }
    }
    none(&faults);
    println!("{outcomes:?} fields were refused, sent, and without effect");
    assert!(outcomes.iter().all(|count| *count > 500), "{outcomes:?}");
}

#[test]
fn what_settings_set_is_in_each_message_as_the_page_says() {
    let page = Page::read();
    let (mut faults, mut outcomes) = (Vec::new(), [0; 3]);
    let value = |_: Tag, _: &str| Some(Key::Set("S".to_owned()));
    for (client, venue) in pairs() {
        let all = named(&page, client, value);
        let stands_alone = |tag: &Tag| {
            let parts = spoken().iter().flat_map(|of| {
                let messages = KINDS
                    .iter()
                    .filter_map(|it| of.dictionary.message(it.as_bytes()));
                messages.chain([of.dictionary.header()])
            });
            let (mut alone, mut inside) = (false, false);
            for part in parts {
                alone |= part.member(*tag).is_some();
                let groups = part.members().iter().filter_map(|it| it.group.as_ref());
                inside |= groups.into_iter().any(|it| has(it, *tag));
            }
            alone || !inside
        };
        let all: Vec<(Tag, Key)> = all
            .into_iter()
            .filter(|(tag, _)| stands_alone(tag))
            .collect();
        // The fields of one `set` have a limit.
        for (at, part) in all.chunks(100).enumerate() {
            let part: Named = part.iter().cloned().collect();
            let nothing = Named::new();
            for contracts in [[&part, &nothing], [&nothing, &part]] {
                let [user, group] = contracts;
                let rules = rules(&settings(user, "user"), &settings(group, "line_group"));
                let rules = rules.unwrap_or_else(|why| panic!("{why:?}"));
                let mut requests = Requests::new(&page, (client, venue), rules, contracts);
                requests.all();
                let whose = if group.is_empty() {
                    "a user"
                } else {
                    "a line group"
                };
                let name = format!("{} to {}, set {at} of {whose}", client.name, venue.name);
                requests.end(&name, &mut faults, &mut outcomes);
            }
        }
    }
    none(&faults);
    println!("{outcomes:?} fields were refused, sent, and without effect");
    assert!(outcomes[1] > 500, "{outcomes:?}");
}

fn has(group: &fixwire_protocol::dictionary::GroupDef, tag: Tag) -> bool {
    let mut members = group.members().iter();
    members.any(|it| it.tag == tag || it.group.as_ref().is_some_and(|it| has(it, tag)))
}

/// A desk whose venue sends reports.
struct Reports<'a> {
    page: &'a Page,
    venue: &'a Spoken,
    receivers: [&'a Spoken; 2],
    desk: Desk,
    /// The number of the order, how much of it is filled, and how many replaces the client asked for.
    order: String,
    filled: u32,
    asked: u32,
    /// What the receivers get of a fill without further fields, and the client of a reject.
    plain: [String; 2],
    reject: String,
    /// Fields that are not passed on, by tag.
    counts: BTreeMap<Tag, u64>,
    faults: Vec<String>,
    passed: usize,
    converted: usize,
}

const BIG: u32 = 100_000;
/// What differs from fill to fill.
const OF_FILLS: [Tag; 4] = [14, 17, 60, 151];
const OF_REJECTS: [Tag; 3] = [11, 41, 60];

impl<'a> Reports<'a> {
    fn new(page: &'a Page, venue: &'a Spoken, receivers: [&'a Spoken; 2]) -> Self {
        let rules = rules("", "").expect("the settings are right");
        let mut desk = Desk::new(rules, receivers[0], venue, receivers[1]);
        let order = ORDER.replace("38=10|", &format!("38={BIG}|"));
        let answer = desk.hears(CLIENT, &format!("35=D|11=O|{order}"));
        let order = answer
            .to(VENUE, "D")
            .and_then(|it| it.get(11))
            .expect("an order");
        let mut reports = Self {
            page,
            venue,
            receivers,
            desk,
            order: order.to_owned(),
            filled: 0,
            asked: 0,
            plain: Default::default(),
            reject: String::new(),
            counts: BTreeMap::new(),
            faults: Vec::new(),
            passed: 0,
            converted: 0,
        };
        // It acknowledges the order too.
        reports.fill("", "");
        let plain = reports.fill("", "");
        reports.plain = [CLIENT, COPY].map(|to| masked(plain.to(to, "8").unwrap(), &OF_FILLS));
        let reject = reports.reject("", "");
        reports.reject = masked(reject.to(CLIENT, "9").unwrap(), &OF_REJECTS);
        reports
    }

    /// The venue fills one more of the order, with fields of the header and the body.
    fn fill(&mut self, header: &str, fields: &str) -> Answer {
        self.filled += 1;
        let base = self.base();
        self.desk
            .hears(VENUE, &format!("35=8|{header}{base}{fields}"))
    }

    /// The last fill.
    fn base(&self) -> String {
        let (filled, left, order) = (self.filled, BIG - self.filled, &self.order);
        let kind = match self.venue.dictionary.version() {
            "FIX.4.2" => "20=0|150=1",
            _ => "150=F",
        };
        format!(
            "37=V1|11={order}|17=F{filled}|{kind}|39=1|55=XYZ|54=1|38={BIG}|14={filled}|151={left}|\
             6=100|32=1|31=100|"
        )
    }

    /// The venue rejects a replace, with fields of the header and the body.
    fn reject(&mut self, header: &str, fields: &str) -> Answer {
        self.asked += 1;
        let order = ORDER.replace("38=10|", "38=200000|");
        let replace = format!("35=G|11=R{}|41=O|{order}", self.asked);
        let answer = self.desk.hears(CLIENT, &replace);
        let sent = answer.to(VENUE, "G").expect("a replace");
        let (id, original) = (sent.get(11).unwrap(), sent.get(41).unwrap());
        let reject = format!("35=9|{header}37=V1|11={id}|41={original}|39=1|434=2|102=0|{fields}");
        self.desk.hears(VENUE, &reject)
    }

    fn count(&mut self, tag: Tag, times: u64) {
        if times > 0 {
            *self.counts.entry(tag).or_default() += times;
        }
    }

    /// Fields that no receiver may get are counted once, others once for each receiver that has no place for them.
    fn compare_fill(&mut self, node: &[Node]) {
        let is_header = self.venue.dictionary.header().member(node[0].tag).is_some();
        let text: String = node.iter().map(Node::text).collect();
        let answer = match is_header {
            true => self.fill(&text, ""),
            false => self.fill("", &text),
        };
        let venue = &self.venue.dictionary;
        let receivers = self.receivers;
        for (at, to) in [CLIENT, COPY].into_iter().enumerate() {
            let (mut header, mut body, mut moved) = (String::new(), String::new(), String::new());
            let receiver = &*receivers[at].dictionary;
            for node in node {
                let is_of_table = |it: &&Node| self.page.report("8", it.tag) == Some(Class::Passed);
                let is_converted = node.all().iter().all(is_of_table);
                if is_passed_back(self.page, node, (venue, receiver)) {
                    match receiver.header().member(node.tag) {
                        Some(_) => header += &node.text(),
                        None => body += &node.text(),
                    }
                    self.passed += 1;
                } else if is_converted && !CUSTOM.contains(&node.tag) {
                    moved += &node.text();
                } else {
                    for node in node.all() {
                        let class = self.page.report("8", node.tag);
                        self.count(node.tag, u64::from(class == Some(Class::Passed)));
                    }
                }
            }
            if !moved.is_empty() {
                let base = self.base();
                let made = converted_report(self.page, self.venue, receivers[at], &base, &moved);
                let left = match made {
                    Some(made) => {
                        self.converted += usize::from(made.fields != ConvertedText::default());
                        header += &made.fields.header;
                        body += &made.fields.body;
                        made.left
                    }
                    None => node.iter().flat_map(Node::all).map(|it| it.tag).collect(),
                };
                left.into_iter().for_each(|tag| self.count(tag, 1));
            }
            let mut reports = answer
                .sent
                .iter()
                .filter(|it| it.to == to && it.msg_type == "8");
            let expected = format!("{header}{}{body}", self.plain[at]);
            let heard = reports.next().map(|it| masked(it, &OF_FILLS));
            let filled = answer.to(to, "8").and_then(|it| it.get(14));
            let is_right = heard.as_ref() == Some(&expected)
                && filled == Some(&*self.filled.to_string())
                && reports.next().is_none();
            if !is_right {
                let name = receivers[at].name;
                self.faults.push(format!(
                    "{text} of a fill to {name}\n  expected {expected}\n  the OMS sent {:?}",
                    answer.sent
                ));
            }
        }
        for node in node.iter().flat_map(Node::all) {
            let class = self.page.report("8", node.tag);
            let is_left = matches!(class, None | Some(Class::NotPassed));
            self.count(node.tag, u64::from(is_left));
        }
    }

    fn compare_reject(&mut self, node: &[Node]) {
        let is_header = self.venue.dictionary.header().member(node[0].tag).is_some();
        let text: String = node.iter().map(Node::text).collect();
        let answer = match is_header {
            true => self.reject(&text, ""),
            false => self.reject("", &text),
        };
        let heard = answer.to(CLIENT, "9").map(|it| masked(it, &OF_REJECTS));
        let is_carried = self.page.report("9", node[0].tag) == Some(Class::Carried);
        let is_right = match is_carried {
            true => heard
                .as_ref()
                .is_some_and(|it| it.contains(&format!("|{text}"))),
            false => heard.as_ref() == Some(&self.reject),
        };
        if !is_right {
            self.faults.push(format!(
                "{text} of a reject\n  expected {}, carried {is_carried}\n  the OMS sent {:?}",
                self.reject, answer.sent
            ));
        }
        for node in node.iter().flat_map(Node::all) {
            let is_left = matches!(
                self.page.report("9", node.tag),
                None | Some(Class::NotPassed)
            );
            self.count(node.tag, u64::from(is_left));
        }
    }

    /// Sends each field of the venue's dictionary, and each that none has.
    fn all(&mut self) {
        for msg_type in ["8", "9"] {
            let venue = &self.venue.dictionary;
            let message = venue.message(msg_type.as_bytes()).expect("a message");
            let mut all = Vec::new();
            let base = match msg_type {
                "8" => "|37=|11=|17=|20=|150=|39=|55=|54=|38=|14=|151=|6=|32=|31=|",
                _ => "|37=|11=|41=|39=|434=|102=|",
            };
            for member in [venue.header(), message]
                .iter()
                .flat_map(|part| part.members())
            {
                let has_it = base.contains(&format!("|{}=|", member.tag));
                if has_it || FRAME.contains(&member.tag) {
                    continue;
                }
                let counts = if member.group.is_some() { 2 } else { 1 };
                all.extend((1..=counts).map(|entries| nodes(venue, member, entries)));
            }
            let custom = CUSTOM
                .into_iter()
                .filter(|tag| message.member(*tag).is_none());
            all.extend(custom.map(|tag| vec![Node::single(tag, "X")]));
            for mut node in all.into_iter().filter(|node| !node.is_empty()) {
                // What venues say of the order is what it has.
                match node[0].tag {
                    1 => node[0].value = "A1".to_owned(),
                    44 => node[0].value = "100".to_owned(),
                    _ => {}
                }
                match msg_type {
                    "8" => self.compare_fill(&node),
                    _ => self.compare_reject(&node),
                }
            }
        }
    }

    fn end(mut self, name: &str, faults: &mut Vec<String>) -> [usize; 2] {
        let counts = self.counts.iter();
        let counts: Vec<String> = counts
            .map(|(tag, count)| format!("{tag}: {count}"))
            .collect();
        let counted = self.desk.status("report fields not passed on");
        if counted != counts.join(", ") {
            self.faults.push(format!(
                "fields not passed on are counted as {counted}\n  not as {}",
                counts.join(", ")
            ));
        }
        faults.extend(
            self.faults
                .into_iter()
                .map(|fault| format!("{name}: {fault}")),
        );
        [self.passed, self.converted]
    }
}

#[test]
fn each_field_of_a_report_reaches_client_and_drop_copy_as_the_page_says() {
    let page = Page::read();
    let (mut faults, mut passed, mut converted) = (Vec::new(), 0, 0);
    for venue in spoken() {
        for (at, client) in spoken().iter().enumerate() {
            // The drop copy has another dictionary than the client.
            let copy = &spoken()[(at + 1) % spoken().len()];
            let mut reports = Reports::new(&page, venue, [client, copy]);
            reports.all();
            let name = format!("{} to {} and {}", venue.name, client.name, copy.name);
            let [unchanged, others] = reports.end(&name, &mut faults);
            passed += unchanged;
            converted += others;
        }
    }
    none(&faults);
    println!("{passed} fields were passed on, {converted} converted");
    assert!(passed > 1000, "{passed}");
    assert!(converted > 100, "{converted}");
}

#[test]
fn tags_of_venues_reach_the_sessions_that_have_them_where_the_line_group_carries_them() {
    for (name, tags, fields) in [
        ("US equities", "9730, 9882", &["9730=A|", "9882=F|"][..]),
        ("futures", "9702, 9717", &["9702=1|", "9717=C|"]),
        (
            "European equities",
            "1724, 2593",
            &["1724=5|", "2593=2|2594=1|2595=Y|2594=2|2595=N|"],
        ),
    ] {
        let venue = spoken().iter().find(|it| it.name == name).expect(name);
        for receiver in spoken() {
            let rules = rules("", &format!("report_carry = [{tags}]"));
            let rules = rules.expect("the settings are right");
            let mut desk = Desk::new(rules, receiver, venue, receiver);
            let answer = desk.hears(CLIENT, &format!("35=D|11=O|{ORDER}"));
            let order = answer.to(VENUE, "D").and_then(|it| it.get(11));
            let order = order.expect("an order").to_owned();
            let kind = match venue.version {
                Version::Fix42 => "20=0|150=1",
                _ => "150=F",
            };
            let answer = desk.hears(
                VENUE,
                &format!(
                    "35=8|37=V1|11={order}|17=F1|{kind}|39=1|55=XYZ|54=1|38=10|14=1|151=9|6=100|32=1|31=100|{}",
                    fields.concat()
                ),
            );
            let message = receiver.dictionary.message(b"8").expect("a message");
            for to in [CLIENT, COPY] {
                let mut fills = answer.sent.iter().filter(|it| it.to == to);
                let fill = fills.next_back().expect("a report");
                for field in fields {
                    let tag = field.split('=').next().and_then(|tag| tag.parse().ok());
                    let has_it = message.member(tag.expect("a tag")).is_some();
                    let is_there = fill.body.contains(&format!("|{field}"));
                    assert_eq!(is_there, has_it, "{name} to {}: {fill:?}", receiver.name);
                }
            }
            let left = desk.status("report fields not passed on");
            assert_eq!(left.is_empty(), receiver.name == name, "{left}");
        }
    }
}

#[test]
fn a_request_that_the_oms_does_not_take_is_rejected_by_name() {
    let mut count = 0;
    for client in spoken() {
        let rules = rules("", "").expect("the settings are right");
        let mut desk = Desk::new(rules, client, client, client);
        let config = Config::new(BeginString::Fix44, Role::Acceptor, b"OMS", b"C");
        let mut session = Session::new(SessionId(0), config);
        let mut outbox = Outbox::new(1 << 16, 1 << 12, 16);
        for message in client.dictionary.messages() {
            let msg_type = message.msg_type();
            let is_answer = ["j", "3"].contains(&msg_type);
            // Requests for instruments, which no line gets.
            let is_for_instruments = ["c", "x"].contains(&msg_type);
            let is_taken = REQUESTS.contains(&msg_type) || is_for_instruments;
            if is_taken || is_admin(msg_type.as_bytes()) || is_answer {
                continue;
            }
            let hash = desk.oms.state().hash();
            let answer = desk.hears(CLIENT, &format!("35={msg_type}|"));
            assert_eq!(
                answer.refusal,
                Some(Refusal::UnsupportedMessageType),
                "{msg_type}"
            );
            assert!(answer.sent.is_empty(), "{msg_type}: {answer:?}");
            assert_eq!(desk.oms.state().hash(), hash, "{msg_type}");
            // The session answers with the reject that a refusal asks for.
            let bytes = format!("8=FIX.4.4\x019=0\x0135={msg_type}\x0134=7\x0111=X\x01");
            let mut decoder = Decoder::with_capacity(16);
            let request = decoder.decode(bytes.as_bytes());
            let refusal = Refusal::UnsupportedMessageType;
            session.refuse(Now::default(), &request, refusal, &mut outbox);
            let at = outbox.unsealed().next().expect("a reject");
            let body = String::from_utf8_lossy(outbox.body(at)).replace('\x01', "|");
            assert_eq!(outbox.msg_type(at), b"j");
            for field in ["45=7|", &format!("372={msg_type}|"), "380=3|"] {
                assert!(body.contains(field), "{field} in {body}");
            }
            outbox.clear();
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}
