//! What the page says becomes of a field of a request, and of a venue's report.

use std::collections::BTreeMap;

use fixwire_protocol::dictionary::Member;
use fixwire_protocol::{Dictionary, Tag};

use super::node::{Node, allows, is_alike};
use super::page::{Class, Page};

/// How a user or a line group names a field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Key {
    Carry,
    Set(String),
    Map(String, String),
    Drop,
    Refuse,
}

/// The fields that a contract names.
pub type Named = BTreeMap<Tag, Key>;

/// What becomes of a field of a request, with its group.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// The venue gets the message as without it; how many of its fields are dropped.
    Same(usize),
    /// The venue gets these bytes, at the end of its header or of its body.
    Sent { text: String, is_header: bool },
    /// The request is rejected.
    Refused,
}

/// A request of a client to a venue.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    pub page: &'a Page,
    pub msg_type: &'a str,
    pub from: &'a Dictionary,
    pub to: &'a Dictionary,
    /// The contracts of the user and the line group, in the order in which they apply.
    pub contracts: [&'a Named; 2],
}

/// What becomes of a field by itself.
enum Fate {
    Value(String),
    Dropped,
    Refused,
}

impl Way<'_> {
    /// What becomes of a field; `None` where the page names a condition, and for a field that the venue always has.
    pub fn outcome(&self, node: &Node) -> Option<Outcome> {
        match self.page.request(self.msg_type, node.tag) {
            Some(Class::Session | Class::Set | Class::Used) => return Some(Outcome::Same(0)),
            Some(Class::Carried | Class::Checked) => return None,
            Some(Class::NotPassed) => panic!("no class of requests"),
            Some(
                Class::Passed
                | Class::Named
                | Class::Instruction
                | Class::Listed
                | Class::Refused
                | Class::Never,
            )
            | None => {}
        }
        let all = node.all();
        let fates: Vec<Fate> = all.iter().map(|node| self.fate(node)).collect();
        if fates.iter().any(|fate| matches!(fate, Fate::Refused)) {
            return Some(Outcome::Refused);
        }
        let dropped = fates.iter().filter(|fate| matches!(fate, Fate::Dropped));
        match dropped.count() {
            0 => {}
            count if count == all.len() => return Some(Outcome::Same(count)),
            // The venue cannot get a part of a group.
            _ => return Some(Outcome::Refused),
        }
        if !self.is_taken(node) {
            return Some(Outcome::Refused);
        }
        let values = all.iter().zip(&fates).map(|(node, fate)| match fate {
            Fate::Value(value) => format!("{}={value}|", node.tag),
            Fate::Dropped | Fate::Refused => String::new(),
        });
        Some(Outcome::Sent {
            text: values.collect(),
            is_header: self.from.header().member(node.tag).is_some(),
        })
    }

    /// The fields of the header and of the body that settings set beside these of the client: those that the venue's
    /// dictionary has in the message, or has in no request of orders.
    pub fn sets(&self, beside: Option<&[Node]>) -> (String, String) {
        let member = |msg_type: &str, tag: Tag| {
            let message = self.to.message(msg_type.as_bytes());
            message.is_some_and(|message| message.member(tag).is_some())
        };
        let (mut header, mut body) = (String::new(), String::new());
        for (tag, key) in self.contracts.into_iter().flatten() {
            let Key::Set(value) = key else { continue };
            let mut said = beside.into_iter().flatten();
            let is_header = self.to.header().member(*tag).is_some();
            let is_unknown = !["D", "G", "F"].into_iter().any(|it| member(it, *tag));
            if said.any(|node| node.tag == *tag)
                || !(is_header || is_unknown || member(self.msg_type, *tag))
            {
                continue;
            }
            let part = if is_header { &mut header } else { &mut body };
            *part += &format!("{tag}={value}|");
        }
        (header, body)
    }

    /// The fields of a node whose conversion decides, since the venue's dictionary does not accept them as they stand;
    /// `None` when the page refuses them whatever the versions are.
    pub fn moved_fields(&self, node: &Node) -> Option<String> {
        let fields = node.all().into_iter().map(|it| match self.fate(it) {
            Fate::Value(value) => Some(format!("{}={value}|", it.tag)),
            Fate::Dropped | Fate::Refused => None,
        });
        fields
            .collect::<Option<String>>()
            .filter(|_| !node.all().into_iter().any(|it| self.is_named(it.tag)))
    }

    fn is_named(&self, tag: Tag) -> bool {
        self.contracts.iter().any(|named| named.contains_key(&tag))
    }

    fn fate(&self, node: &Node) -> Fate {
        let class = self.page.request(self.msg_type, node.tag);
        if !self.is_named(node.tag) && class != Some(Class::Passed) {
            return Fate::Refused;
        }
        let mut value = node.value.clone();
        for key in self.contracts.iter().filter_map(|it| it.get(&node.tag)) {
            match key {
                Key::Carry => {}
                Key::Set(other) => value.clone_from(other),
                Key::Map(from, to) if *from == value => value.clone_from(to),
                Key::Drop => return Fate::Dropped,
                Key::Map(..) | Key::Refuse => return Fate::Refused,
            }
        }
        Fate::Value(value)
    }

    /// Whether the venue's dictionary takes the field: where settings name it, as far as the dictionary has it. A venue
    /// without an instruction would trade the order in another way.
    fn is_taken(&self, node: &Node) -> bool {
        let is_named = self.is_named(node.tag);
        let is_header = self.from.header().member(node.tag).is_some();
        let member = |dictionary: &Dictionary| -> Option<Member> {
            let part = match is_header {
                true => Some(dictionary.header()),
                false => dictionary.message(self.msg_type.as_bytes()),
            };
            part.and_then(|part| part.member(node.tag)).cloned()
        };
        let (Some(to), from) = (member(self.to), member(self.from)) else {
            let class = self.page.request("D", node.tag);
            return is_named && !matches!(class, Some(Class::Instruction | Class::Listed));
        };
        let is_alike = match &from {
            Some(from) => is_alike(&to, from),
            None => to.group.is_none() && node.entries.is_empty(),
        };
        is_alike
            && (is_named
                || node.all().into_iter().all(|node| {
                    let kinds = [self.from, self.to].map(|it| it.field(node.tag).map(|it| it.kind));
                    kinds[0] == kinds[1] && allows(self.to, node)
                }))
    }
}

/// Whether a receiver gets a field of a venue's report, with its group.
pub fn is_passed_back(
    page: &Page,
    node: &Node,
    (venue, receiver): (&Dictionary, &Dictionary),
) -> bool {
    let member = |of: &Dictionary| {
        let mut parts = of.message(b"8").into_iter().chain([of.header()]);
        parts.find_map(|part| part.member(node.tag)).cloned()
    };
    let is_alike = match (member(receiver), member(venue)) {
        (Some(to), Some(from)) => is_alike(&to, &from),
        (Some(to), None) => to.group.is_none() && node.entries.is_empty(),
        (None, _) => false,
    };
    let is_passed = |node: &&Node| page.report("8", node.tag) == Some(Class::Passed);
    let all = node.all();
    is_alike && all.iter().all(is_passed) && all.into_iter().all(|node| allows(receiver, node))
}
