//! Fields of a request that its response repeats, by the dictionary of the session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fixwire_protocol::dictionary::{GroupDef, Member, MessageDef};
use fixwire_protocol::session::Config;
use fixwire_protocol::{Body, Dictionary, Message, Tag, tag};

use super::book::EchoState;
use super::{
    EXECUTION_REPORT, NEW_ORDER_SINGLE, ORDER_CANCEL_REPLACE_REQUEST, ORDER_CANCEL_REQUEST,
};

/// Fields of an ExecutionReport(8) with the state of an order. State fields are never copied from the request.
const OF_THE_REPORT: [Tag; 15] = [
    tag::AVG_PX,
    tag::CL_ORD_ID,
    tag::CUM_QTY,
    tag::EXEC_ID,
    tag::EXEC_TRANS_TYPE,
    tag::EXEC_TYPE,
    tag::LAST_PX,
    tag::LAST_QTY,
    tag::LEAVES_QTY,
    tag::ORD_REJ_REASON,
    tag::ORD_STATUS,
    tag::ORDER_ID,
    tag::ORIG_CL_ORD_ID,
    tag::SECONDARY_ORDER_ID,
    tag::TRANSACT_TIME,
];

/// The fields of answers, by the dictionary of a session.
pub struct Layout {
    dictionary: Arc<Dictionary>,
    repeated: BTreeMap<&'static [u8], BTreeMap<Tag, Repeated>>,
}

/// A field that a request and its report both have.
enum Repeated {
    Field,
    /// A group, with the tags of its entries and of nested groups.
    Group(BTreeSet<Tag>),
}

impl Layout {
    /// The layout for the messages of a session, by the session's dictionary, or else by the built-in dictionary of its
    /// FIX version.
    pub fn of(session: &Config) -> Self {
        let dictionary = session.dictionary.clone();
        Self::new(
            dictionary.unwrap_or_else(|| Arc::new(Dictionary::built_in(session.appl_version()))),
        )
    }

    fn new(dictionary: Arc<Dictionary>) -> Self {
        let mut repeated = BTreeMap::new();
        let types = [
            NEW_ORDER_SINGLE,
            ORDER_CANCEL_REQUEST,
            ORDER_CANCEL_REPLACE_REQUEST,
        ];
        if let Some(report) = dictionary.message(EXECUTION_REPORT) {
            for msg_type in types {
                if let Some(request) = dictionary.message(msg_type) {
                    repeated.insert(msg_type, both(request, report));
                }
            }
        }
        Self {
            dictionary,
            repeated,
        }
    }

    /// Whether messages of this type can be answered.
    pub fn knows(&self, msg_type: &[u8]) -> bool {
        self.repeated.contains_key(msg_type)
    }

    /// Whether messages of a type have a field.
    pub fn has(&self, msg_type: &[u8], tag: Tag) -> bool {
        self.message(msg_type)
            .is_some_and(|found| found.member(tag).is_some())
    }

    /// Whether messages of a type require a field.
    pub fn requires(&self, msg_type: &[u8], tag: Tag) -> bool {
        let member = self.message(msg_type).and_then(|found| found.member(tag));
        member.is_some_and(|member| member.required)
    }

    /// Whether the dictionary allows a field to have a value.
    pub fn takes(&self, tag: Tag, value: &str) -> bool {
        let field = self.dictionary.field(tag);
        field.is_some_and(|field| field.allows(value.as_bytes()))
    }

    /// OrdStatus(39) of an order. FIX 4.4 has no OrdStatus for a replaced order.
    pub fn status(&self, state: EchoState) -> u8 {
        match state {
            EchoState::Open => b'0',
            EchoState::Replaced if self.takes(tag::ORD_STATUS, "5") => b'5',
            EchoState::Canceled | EchoState::Replaced => b'4',
        }
    }

    /// A required field of the report that neither the request has nor `given` lists.
    pub fn missing(&self, request: &Message<'_>, given: &[Tag]) -> Option<Tag> {
        let report = self.message(EXECUTION_REPORT)?;
        let required = report.members().iter().filter(|member| member.required);
        let mut open = required.map(|member| member.tag);
        open.find(|tag| !OF_THE_REPORT.contains(tag) && !given.contains(tag) && !request.has(*tag))
    }

    /// Writes the fields of a request that a report also has, except the fields of `left_out`.
    pub fn repeat(&self, request: &Message<'_>, left_out: &[Tag], body: &mut Body<'_>) {
        let Some(repeated) = self.repeated.get(request.msg_type()) else {
            return;
        };
        let fields = request.fields();
        let mut at = 0;
        while let Some(field) = fields.get(at) {
            let mut end = at + 1;
            match repeated.get(&field.tag) {
                Some(Repeated::Group(tags)) => {
                    let in_group = |next: &&fixwire_protocol::Field| tags.contains(&next.tag);
                    end += fields[end..].iter().take_while(in_group).count();
                    body.copy(request, at..end);
                }
                Some(Repeated::Field)
                    if !left_out.contains(&field.tag) && !request.value(*field).is_empty() =>
                {
                    body.copy(request, at..end);
                }
                _ => {}
            }
            at = end;
        }
    }

    fn message(&self, msg_type: &[u8]) -> Option<&MessageDef> {
        self.dictionary.message(msg_type)
    }
}

/// Fields that a request and its report have in common.
fn both(request: &MessageDef, report: &MessageDef) -> BTreeMap<Tag, Repeated> {
    let of_the_request = request.members().iter();
    let common = of_the_request.filter_map(|member| {
        let there = report.member(member.tag)?;
        let repeated = match (&member.group, &there.group) {
            (None, None) => Repeated::Field,
            (Some(here), Some(there)) if fits(here, there) => {
                let mut tags = BTreeSet::new();
                collect(here, &mut tags);
                Repeated::Group(tags)
            }
            _ => return None,
        };
        Some((member.tag, repeated))
    });
    let own = |(tag, _): &(Tag, Repeated)| !OF_THE_REPORT.contains(tag);
    common.filter(own).collect()
}

/// Whether each entry of one group is allowed in the other group.
fn fits(entry: &GroupDef, into: &GroupDef) -> bool {
    let tags = |group: &GroupDef| -> Vec<Tag> {
        group.members().iter().map(|member| member.tag).collect()
    };
    let order: Vec<Tag> = tags(into)
        .into_iter()
        .filter(|tag| entry.member(*tag).is_some())
        .collect();
    let needs = |member: &Member| {
        member.required && entry.member(member.tag).is_none_or(|own| !own.required)
    };
    let inner = entry.members().iter().all(|member| match &member.group {
        Some(own) => into.group(member.tag).is_some_and(|there| fits(own, there)),
        None => true,
    });
    // The groups have the same fields, in the same order.
    entry.delimiter() == into.delimiter()
        && order == tags(entry)
        && !into.members().iter().any(needs)
        && inner
}

fn collect(group: &GroupDef, tags: &mut BTreeSet<Tag>) {
    for member in group.members() {
        tags.insert(member.tag);
        if let Some(inner) = &member.group {
            collect(inner, tags);
        }
    }
}
