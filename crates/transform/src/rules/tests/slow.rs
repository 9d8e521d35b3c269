//! A simple reader of conditions and messages that shares no code with the rules: a condition is made as a tree,
//! and its text is written from the tree; a message is split at each SOH, and its groups are found by tables in
//! this file.

use std::boxed::Box;
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;
use proptest::sample::select;

/// A field with its name and tag.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    name: &'static str,
    tag: u32,
    is_number: bool,
}

const fn text(name: &'static str, tag: u32) -> Field {
    Field {
        name,
        tag,
        is_number: false,
    }
}

const fn number(name: &'static str, tag: u32) -> Field {
    let is_number = true;
    Field {
        name,
        tag,
        is_number,
    }
}

/// Fields outside of groups in orders.
const OF_ORDERS: [Field; 3] = [text("Symbol", 55), text("Text", 58), number("OrderQty", 38)];

/// A repeating group: its count, the tags of an entry, the delimiter first, and the groups in it.
#[derive(Debug)]
pub struct Group {
    name: &'static str,
    count: u32,
    tags: &'static [u32],
    /// The fields in conditions on an entry.
    fields: &'static [Field],
    inner: &'static [Group],
}

const ALLOCS_42: Group = Group {
    name: "NoAllocs",
    count: 78,
    tags: &[79, 80],
    fields: &[text("AllocAccount", 79), number("AllocShares", 80)],
    inner: &[],
};

const ORDERS_42: Group = Group {
    name: "NoOrders",
    count: 73,
    tags: &[11, 67, 78, 55, 38, 58],
    fields: &[text("ClOrdID", 11)],
    inner: &[ALLOCS_42],
};

const ALLOCS_44: Group = Group {
    name: "NoAllocs",
    count: 78,
    tags: &[79, 80],
    fields: &[text("AllocAccount", 79), number("AllocQty", 80)],
    inner: &[],
};

const SUBS_44: Group = Group {
    name: "NoPartySubIDs",
    count: 802,
    tags: &[523, 803],
    fields: &[text("PartySubID", 523)],
    inner: &[],
};

const PARTIES_44: Group = Group {
    name: "NoPartyIDs",
    count: 453,
    tags: &[448, 452, 802],
    fields: &[text("PartyID", 448)],
    inner: &[SUBS_44],
};

/// The version that a session speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Speaks {
    Fix42,
    Fix44,
}

impl Speaks {
    /// The outermost groups of the messages made below.
    fn groups(self, msg_type: &str) -> &'static [Group] {
        match (self, msg_type) {
            (Self::Fix42, "D") => &[ALLOCS_42],
            (Self::Fix42, "E") => &[ORDERS_42],
            (Self::Fix44, "D") => &[PARTIES_44, ALLOCS_44],
            (Self::Fix44, "F" | "8") => &[PARTIES_44],
            _ => &[],
        }
    }

    /// The outermost groups of all messages of the version.
    fn all_groups(self) -> &'static [Group] {
        match self {
            Self::Fix42 => &[ALLOCS_42, ORDERS_42],
            Self::Fix44 => &[PARTIES_44, ALLOCS_44],
        }
    }
}

/// A message, or an entry of one: its own fields, and the entries of its groups.
#[derive(Debug, Default)]
pub struct Part {
    fields: Vec<(u32, String)>,
    groups: Vec<(u32, Vec<Part>)>,
}

impl Part {
    /// Reads a message.
    pub fn of_message(speaks: Speaks, bytes: &[u8]) -> Self {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let mut fields = Vec::new();
        for field in text.split_terminator('\x01') {
            let (tag, value) = field.split_once('=').unwrap();
            fields.push((tag.parse().unwrap(), String::from(value)));
        }
        let msg_type = fields.iter().find(|(tag, _)| *tag == 35).unwrap().1.clone();
        let mut part = Self::default();
        let mut rest = fields.as_slice();
        while let Some((tag, _)) = rest.first() {
            let tag = *tag;
            part.take(&mut rest, speaks.groups(&msg_type), tag);
        }
        part
    }

    /// Takes the next field, of this tag, and its entries if it is a group count.
    fn take(&mut self, rest: &mut &[(u32, String)], groups: &'static [Group], tag: u32) {
        self.fields.push(rest[0].clone());
        *rest = &rest[1..];
        let Some(group) = groups.iter().find(|group| group.count == tag) else {
            return;
        };
        let mut entries = Vec::new();
        while rest.first().is_some_and(|(tag, _)| *tag == group.tags[0]) {
            let mut entry = Self::default();
            entry.take(rest, group.inner, group.tags[0]);
            while let Some((tag, _)) = rest.first() {
                let tag = *tag;
                if tag == group.tags[0] || !group.tags.contains(&tag) {
                    break;
                }
                entry.take(rest, group.inner, tag);
            }
            entries.push(entry);
        }
        self.groups.push((tag, entries));
    }

    fn get(&self, tag: u32) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| *known == tag)?;
        Some(&found.1)
    }

    fn entries(&self, count: u32) -> Option<&[Part]> {
        let found = self.groups.iter().find(|(known, _)| *known == count)?;
        Some(&found.1)
    }
}

/// The scope of a condition.
pub struct Slow<'s> {
    pub speaks: Speaks,
    pub source: &'s str,
    pub message: &'s Part,
    /// The enclosing entries, the innermost last.
    pub entries: Vec<(&'static [u32], &'static [Group], &'s Part)>,
}

impl<'s> Slow<'s> {
    fn value(&self, field: Field) -> Option<&'s str> {
        for (tags, _, entry) in self.entries.iter().rev() {
            if tags.contains(&field.tag) {
                return entry.get(field.tag);
            }
        }
        self.message.get(field.tag)
    }

    /// A group and its entries: in the innermost entry that can have the group, or else in the message.
    fn group(&self, count: u32) -> Option<(&'static Group, &'s [Part])> {
        let of = |groups: &'static [Group]| groups.iter().find(|group| group.count == count);
        for (_, groups, entry) in self.entries.iter().rev() {
            if let Some(group) = of(groups) {
                return Some((group, entry.entries(count)?));
            }
        }
        let group = of(self.speaks.groups(self.message.get(35).unwrap()))?;
        Some((group, self.message.entries(count)?))
    }

    /// Whether the condition is true for each entry of a group.
    fn each(&mut self, count: u32, inner: &Tree) -> Vec<bool> {
        let Some((group, entries)) = self.group(count) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for entry in entries {
            self.entries.push((group.tags, group.inner, entry));
            found.push(self.holds(inner));
            self.entries.pop();
        }
        found
    }

    pub fn holds(&mut self, tree: &Tree) -> bool {
        match tree {
            Tree::And(one, other) => self.holds(one) && self.holds(other),
            Tree::Or(one, other) => self.holds(one) || self.holds(other),
            Tree::Not(inner) => !self.holds(inner),
            Tree::Wrapped(inner) => self.holds(inner),
            Tree::Compare(field, sign, wanted) => self
                .value(*field)
                .is_some_and(|value| wanted.fits(*field, value, sign)),
            Tree::In(field, wanted) => self
                .value(*field)
                .is_some_and(|value| wanted.iter().any(|wanted| wanted.fits(*field, value, "="))),
            Tree::Letters(field, how, letter) => {
                self.value(*field).is_some_and(|value| match *how {
                    "begins" | "matches" => value.starts_with(*letter),
                    "contains" | "like" => value.contains(*letter),
                    other => panic!("{other} is not made below"),
                })
            }
            Tree::Length(field, sign) => self
                .value(*field)
                .is_some_and(|value| compares(sign, &value.len(), &1)),
            Tree::Has(field) => self.value(*field).is_some(),
            Tree::Any(count, _, inner) => self.each(*count, inner).contains(&true),
            Tree::All(count, _, inner) => !self.each(*count, inner).contains(&false),
            Tree::Source(_, sessions) => sessions.contains(&self.source),
            Tree::Active(_, is_active) => *is_active,
        }
    }
}

/// The value that a field is compared with.
#[derive(Clone, Debug)]
pub struct Literal {
    written: String,
    means: String,
}

impl Literal {
    fn fits(&self, field: Field, value: &str, sign: &str) -> bool {
        if !field.is_number {
            return compares(sign, value, self.means.as_str());
        }
        match (value.parse::<f64>(), self.means.parse::<f64>()) {
            (Ok(value), Ok(wanted)) => compares(sign, &value, &wanted),
            _ => sign == "!=",
        }
    }
}

fn compares<T: PartialOrd + ?Sized>(sign: &str, one: &T, other: &T) -> bool {
    match sign {
        "=" => one == other,
        "!=" => one != other,
        "<" => one < other,
        "<=" => one <= other,
        ">" => one > other,
        ">=" => one >= other,
        other => panic!("{other} is no sign"),
    }
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Tree {
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    /// A condition in optional parentheses.
    Wrapped(Box<Tree>),
    Compare(Field, &'static str, Literal),
    In(Field, Vec<Literal>),
    /// How a value contains a letter.
    Letters(Field, &'static str, char),
    /// The length, compared with 1.
    Length(Field, &'static str),
    Has(Field),
    Any(u32, &'static str, Box<Tree>),
    All(u32, &'static str, Box<Tree>),
    /// The text, and the sessions that it selects.
    Source(&'static str, &'static [&'static str]),
    /// The session, and whether it is logged on.
    Active(&'static str, bool),
}

impl Tree {
    /// The condition as text: `not` binds closest, then `and`, then `or`.
    pub fn written(&self) -> String {
        self.written_in(0)
    }

    /// The condition as text, in parentheses if it binds less than the enclosing condition.
    fn written_in(&self, around: u8) -> String {
        let (binds, text) = match self {
            Self::Or(one, other) => {
                let (one, other) = (one.written_in(0), other.written_in(0));
                (0, format!("{one} or {other}"))
            }
            Self::And(one, other) => {
                let (one, other) = (one.written_in(1), other.written_in(1));
                (1, format!("{one} and {other}"))
            }
            Self::Not(inner) => (2, format!("not {}", inner.written_in(2))),
            Self::Wrapped(inner) => (2, format!("({})", inner.written())),
            Self::Compare(field, sign, wanted) => {
                (2, format!("{} {sign} {}", field.name, wanted.written))
            }
            Self::In(field, wanted) => {
                let wanted: Vec<&str> = wanted.iter().map(|one| one.written.as_str()).collect();
                (2, format!("{} in ({})", field.name, wanted.join(", ")))
            }
            Self::Letters(field, how, letter) => {
                let pattern = match *how {
                    "like" => format!("*{letter}*"),
                    "matches" => format!("^{letter}"),
                    _ => format!("{letter}"),
                };
                (2, format!("{} {how} \"{pattern}\"", field.name))
            }
            Self::Length(field, sign) => (2, format!("length({}) {sign} 1", field.name)),
            Self::Has(field) => (2, format!("has({})", field.name)),
            Self::Any(_, group, inner) => (2, format!("any({group}, {})", inner.written())),
            Self::All(_, group, inner) => (2, format!("all({group}, {})", inner.written())),
            Self::Source(text, _) => (2, format!("source {text}")),
            Self::Active(name, _) => (2, format!("active({name})")),
        };
        match binds < around {
            true => format!("({text})"),
            false => text,
        }
    }
}

fn any_sign() -> impl Strategy<Value = &'static str> {
    select(&["=", "!=", "<", "<=", ">", ">="][..])
}

fn quoted(text: String) -> Literal {
    Literal {
        written: format!("\"{text}\""),
        means: text,
    }
}

fn any_number() -> impl Strategy<Value = Literal> {
    prop_oneof![
        "[0-3]|1\\.0".prop_map(|text| Literal {
            written: text.clone(),
            means: text,
        }),
        Just(quoted("2".into())),
    ]
}

/// A type of message, by its code or its name.
fn any_type() -> impl Strategy<Value = Literal> {
    let types = [
        ("D", "D"),
        ("8", "8"),
        ("F", "F"),
        ("NewOrderSingle", "D"),
        ("NewOrderList", "E"),
    ];
    select(types.to_vec()).prop_map(|(written, means)| Literal {
        written: written.into(),
        means: means.into(),
    })
}

/// Conditions on one of these fields, or on the source of the message.
fn simple(fields: &[Field]) -> BoxedStrategy<Tree> {
    let (numbers, texts): (Vec<Field>, Vec<Field>) =
        fields.iter().partition(|field| field.is_number);
    let all = select([numbers.clone(), texts.clone()].concat());
    let (numbers, texts) = (select(numbers), select(texts));
    let how = select(&["begins", "contains", "like", "matches"][..]);
    let letter = || select(&['a', 'b'][..]);
    let kind = text("MsgType", 35);
    let sources: [(_, &[_]); 5] = [
        ("= ALPHA", &["ALPHA"]),
        ("= \"BETA*\"", &["BETA1", "BETA2"]),
        (
            "!= BETA1",
            &["ALPHA", "BETA2", "VENUE2", "GAMMA", "VENUE", "AUDIT"],
        ),
        ("in (ALPHA, GAMMA)", &["ALPHA", "GAMMA"]),
        (
            "!= \"BETA*\"",
            &["ALPHA", "VENUE2", "GAMMA", "VENUE", "AUDIT"],
        ),
    ];
    prop_oneof![
        2 => (texts.clone(), any_sign(), "[ab]{1,2}")
            .prop_map(|(field, sign, text)| Tree::Compare(field, sign, quoted(text))),
        2 => (numbers.clone(), any_sign(), any_number())
            .prop_map(|(field, sign, number)| Tree::Compare(field, sign, number)),
        1 => (texts.clone(), "[ab]", "[ab]{2}")
            .prop_map(|(field, one, other)| Tree::In(field, [quoted(one), quoted(other)].into())),
        1 => (numbers, any_number(), any_number())
            .prop_map(|(field, one, other)| Tree::In(field, [one, other].into())),
        1 => (texts.clone(), how, letter())
            .prop_map(|(field, how, letter)| Tree::Letters(field, how, letter)),
        1 => (texts, any_sign()).prop_map(|(field, sign)| Tree::Length(field, sign)),
        1 => all.prop_map(Tree::Has),
        1 => any_type().prop_map(move |one| Tree::Compare(kind, "=", one)),
        1 => (any_type(), any_type()).prop_map(move |(one, other)| Tree::In(kind, [one, other].into())),
        1 => select(sources.to_vec()).prop_map(|(text, means)| Tree::Source(text, means)),
        1 => select(&[("BETA2", false), ("VENUE", true)][..])
            .prop_map(|(name, is_active)| Tree::Active(name, is_active)),
    ]
    .boxed()
}

fn combined(simple: BoxedStrategy<Tree>) -> BoxedStrategy<Tree> {
    let deeper = |inner: BoxedStrategy<Tree>| {
        let both = (
            inner.clone().prop_map(Box::new),
            inner.clone().prop_map(Box::new),
        );
        prop_oneof![
            both.clone().prop_map(|(one, other)| Tree::And(one, other)),
            both.prop_map(|(one, other)| Tree::Or(one, other)),
            inner.clone().prop_map(|inner| Tree::Not(Box::new(inner))),
            inner.prop_map(|inner| Tree::Wrapped(Box::new(inner))),
        ]
    };
    simple.prop_recursive(3, 12, 2, deeper).boxed()
}

/// Conditions on the messages that [`any_message`] makes.
pub fn any_condition(speaks: Speaks) -> BoxedStrategy<Tree> {
    of_level(speaks, &OF_ORDERS, &[])
}

/// Conditions on these fields and on groups, the enclosing entry's groups first.
fn of_level(speaks: Speaks, fields: &[Field], around: &[&'static Group]) -> BoxedStrategy<Tree> {
    let simple = simple(fields);
    if around.len() > 1 {
        return combined(simple);
    }
    let inner = around.iter().flat_map(|group| group.inner);
    let groups = inner.chain(speaks.all_groups()).map(|group| {
        let fields = [fields, group.fields].concat();
        let around = [around, &[group]].concat();
        let inner = of_level(speaks, &fields, &around).prop_map(Box::new);
        (any::<bool>(), inner).prop_map(|(any, inner)| match any {
            true => Tree::Any(group.count, group.name, inner),
            false => Tree::All(group.count, group.name, inner),
        })
    });
    let groups = proptest::strategy::Union::new(groups);
    combined(prop_oneof![3 => simple, 1 => groups].boxed())
}

fn field(tag: u32, value: Option<String>) -> String {
    value.map_or_else(String::new, |value| format!("{tag}={value}|"))
}

/// A group of these entries; without any, no group.
fn group(count: u32, entries: &[String]) -> String {
    match entries.len() {
        0 => String::new(),
        len => format!("{count}={len}|{}", entries.concat()),
    }
}

fn any_text() -> impl Strategy<Value = Option<String>> {
    proptest::option::of("[ab]{1,2}")
}

/// Symbol, Text and `OrderQty`.
fn any_fields() -> impl Strategy<Value = String> {
    let quantity = proptest::option::of("[0-3]|2\\.0|x");
    (any_text(), any_text(), quantity).prop_map(|(symbol, text, quantity)| {
        [field(55, symbol), field(38, quantity), field(58, text)].concat()
    })
}

fn any_allocs() -> impl Strategy<Value = String> {
    let entry = ("[ab]{1,2}", proptest::option::of("[0-3]"))
        .prop_map(|(account, shares)| format!("79={account}|{}", field(80, shares)));
    proptest::collection::vec(entry, 0..4).prop_map(|entries| group(78, &entries))
}

fn any_parties() -> impl Strategy<Value = String> {
    let sub = "[ab]{1,2}".prop_map(|sub| format!("523={sub}|803=1|"));
    let subs = proptest::collection::vec(sub, 0..3);
    let entry = ("[ab]{1,2}", proptest::option::of("1|3"), subs).prop_map(|(id, role, subs)| {
        let role = field(452, role);
        format!("448={id}|{role}{}", group(802, &subs))
    });
    proptest::collection::vec(entry, 0..4).prop_map(|entries| group(453, &entries))
}

/// Fields and groups in any order.
fn in_any_order<const N: usize>(
    parts: impl Strategy<Value = [String; N]>,
) -> impl Strategy<Value = String> {
    parts
        .prop_map(|parts| parts.to_vec())
        .prop_shuffle()
        .prop_map(|parts| parts.concat())
}

/// A message, written without the fields that each session fills in: `35=D|55=a|`.
pub fn any_message(speaks: Speaks) -> BoxedStrategy<String> {
    match speaks {
        Speaks::Fix42 => {
            let parts = (any_fields(), any_allocs()).prop_map(|(one, two)| [one, two]);
            let order = ("D|F|8", in_any_order(parts))
                .prop_map(|(kind, fields)| format!("35={kind}|{fields}"));
            let entry = ("[ab]", any_allocs(), any_fields())
                .prop_map(|(id, allocs, fields)| format!("11={id}|67=1|{allocs}{fields}"));
            let list = proptest::collection::vec(entry, 0..3)
                .prop_map(|entries| format!("35=E|66=l|{}", group(73, &entries)));
            prop_oneof![3 => order, 1 => list].boxed()
        }
        Speaks::Fix44 => {
            let parts = (any_fields(), any_allocs(), any_parties());
            let parts = parts.prop_map(|(one, two, three)| [one, two, three]);
            ("D|F|8", in_any_order(parts))
                .prop_map(|(kind, fields)| format!("35={kind}|{fields}"))
                .boxed()
        }
    }
}
