//! A field of a message with a value that its dictionary allows, a count with the entries of its group.

use fixwire_protocol::dictionary::{DataType, FieldDef, GroupDef, Member};
use fixwire_protocol::{Dictionary, Tag};

/// A field; with entries it is the count of a group.
#[derive(Clone, Debug)]
pub struct Node {
    pub tag: Tag,
    pub value: String,
    pub entries: Vec<Vec<Node>>,
}

impl Node {
    pub fn single(tag: Tag, value: &str) -> Self {
        Self {
            tag,
            value: value.to_owned(),
            entries: Vec::new(),
        }
    }

    /// The field and all members of its group, in the order of the message.
    pub fn all(&self) -> Vec<&Self> {
        let members = self.entries.iter().flatten().flat_map(Self::all);
        std::iter::once(self).chain(members).collect()
    }

    /// As it stands in a message, with `|` for SOH.
    pub fn text(&self) -> String {
        let fields = self.all().into_iter();
        fields
            .map(|node| format!("{}={}|", node.tag, node.value))
            .collect()
    }
}

/// A member of a message with the first value that its dictionary allows; of a length also the data that it counts, which
/// have an SOH; of a group this number of entries of all members.
pub fn nodes(dictionary: &Dictionary, member: &Member, entries: usize) -> Vec<Node> {
    let Some(field) = dictionary.field(member.tag) else {
        return Vec::new();
    };
    if let Some(group) = &member.group {
        let members = group.members().iter();
        let entry: Vec<Node> = members
            .flat_map(|member| nodes(dictionary, member, entries))
            .collect();
        return vec![Node {
            tag: member.tag,
            value: entries.to_string(),
            entries: vec![entry; entries],
        }];
    }
    match field.partner {
        Some(_) if field.kind.is_data() => Vec::new(),
        Some(data) => vec![Node::single(member.tag, "3"), Node::single(data, "a|c")],
        None => vec![Node::single(member.tag, value(field))],
    }
}

/// A value that the dictionary allows.
pub fn value(field: &FieldDef) -> &str {
    if let Some(known) = field.values.first() {
        return &known.value;
    }
    match field.kind {
        DataType::Int | DataType::Length | DataType::SeqNum | DataType::NumInGroup => "3",
        DataType::TagNum | DataType::DayOfMonth => "7",
        DataType::Float
        | DataType::Qty
        | DataType::Price
        | DataType::PriceOffset
        | DataType::Amt
        | DataType::Percentage => "1.50",
        DataType::Char | DataType::MultipleCharValue => "A",
        DataType::Boolean => "Y",
        DataType::Country | DataType::Language => "GB",
        DataType::Currency => "GBP",
        DataType::Exchange => "XLON",
        DataType::MonthYear => "202612",
        DataType::UtcTimestamp => "20261122-08:00:00.123",
        DataType::UtcTimeOnly | DataType::LocalMktTime => "08:00:00",
        DataType::UtcDateOnly | DataType::LocalMktDate => "20261122",
        DataType::TzTimeOnly => "08:00Z",
        DataType::TzTimestamp => "20261122-08:00Z",
        _ => "a text",
    }
}

/// Whether a dictionary has a group with these members, nested ones included, in this order: it may have more, but an
/// entry begins with the same one.
fn holds(to: &GroupDef, from: &GroupDef) -> bool {
    let mut members = to.members().iter();
    to.delimiter() == from.delimiter()
        && from.members().iter().all(|wanted| {
            let found = members.find(|member| member.tag == wanted.tag);
            found.is_some_and(|found| is_alike(found, wanted))
        })
}

/// Whether a member takes what another one has: both are single fields, or groups of the same members.
pub fn is_alike(to: &Member, from: &Member) -> bool {
    match (&to.group, &from.group) {
        (None, None) => true,
        (Some(to), Some(from)) => holds(to, from),
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Whether a dictionary allows a field its value.
pub fn allows(dictionary: &Dictionary, node: &Node) -> bool {
    let Some(field) = dictionary.field(node.tag) else {
        return false;
    };
    let mut values = match field.kind.is_multiple() {
        true => node.value.split(' ').collect(),
        false => vec![&*node.value],
    }
    .into_iter();
    let is_listed = field.values.iter().any(|known| known.value == node.value);
    is_listed
        || (values.all(|value| field.allows(value.as_bytes()))
            && field.kind.accepts(node.value.as_bytes()))
}
