//! Writes the fields that requests carry, as the contract of the line group requires.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Member;
use fixwire_protocol::{Body, Dictionary, Tag};

use super::names::Named;
use crate::state::OmsState;
use crate::state::event::Outgoing;
use crate::state::orders::Order;
use crate::state::tag_counts::ContractOf;
use crate::values::fields::carried::{CarriedFields, each_field};
use crate::values::fields::contract::{Contract, Passage, Treatment};
use crate::values::fields::conversion::{CarryingRequest, FieldConverter};
use crate::values::fields::field_table::WHOSE;
use crate::values::ids::SessionNo;
use crate::values::value::{Number, RequestKind};

/// MsgType(35) of the requests that carry fields.
const REQUESTS: [&[u8]; 3] = [b"D", b"G", b"F"];

/// The contract of a line's group, for messages that are sent on the line.
#[derive(Debug)]
pub(crate) struct LineContract {
    of: ContractOf,
    contract: Contract,
    sets: Vec<SetField>,
}

/// A field of `set`, with a fixed value that messages have whatever the client sends.
#[derive(Debug)]
pub(crate) struct SetField {
    pub tag: Tag,
    pub value: Box<[u8]>,
    pub is_header: bool,
    /// For each of [`REQUESTS`], whether the request has the field.
    pub has: [bool; REQUESTS.len()],
}

/// The fields that `set` of a contract adds. A field is added to the requests that have it in the dictionary, or if no
/// request has it, to all requests.
pub(crate) fn set_fields(contract: &Contract, dictionary: &Dictionary) -> Vec<SetField> {
    let sets = contract.sets().map(|(tag, value)| {
        let is_header = dictionary.header().member(tag).is_some();
        let is_member = |msg_type: &[u8]| {
            let message = dictionary.message(msg_type);
            message.is_some_and(|message| message.member(tag).is_some())
        };
        let is_unknown = is_header || !REQUESTS.into_iter().any(is_member);
        SetField {
            tag,
            value: value.into(),
            is_header,
            has: REQUESTS.map(|msg_type| is_unknown || is_member(msg_type)),
        }
    });
    sets.collect()
}

/// The fields that `set` of a contract adds to all requests of a line that speaks TMP, which has no dictionary.
pub(crate) fn everywhere(contract: &Contract) -> Vec<SetField> {
    let sets = contract.sets().map(|(tag, value)| SetField {
        tag,
        value: value.into(),
        is_header: false,
        has: [true; REQUESTS.len()],
    });
    sets.collect()
}

/// Whether a field of `set` is in messages of a type.
pub(crate) fn is_set_in(field: &SetField, msg_type: &[u8]) -> bool {
    let mut all = REQUESTS.iter().zip(field.has);
    all.any(|(known, has)| has && *known == msg_type)
}

impl LineContract {
    /// The contract of a line; `None` if the contract names no field.
    pub(crate) fn new(
        of: ContractOf,
        contract: &Contract,
        dictionary: &Dictionary,
    ) -> Option<Self> {
        (!contract.is_empty()).then(|| Self {
            of,
            sets: set_fields(contract, dictionary),
            contract: contract.clone(),
        })
    }
}

/// The fields of an order that a request of the OMS repeats on a line. Only fields that the line's dictionary has both
/// in the order and in the request are repeated.
pub(crate) fn whose(dictionary: &Dictionary, request: &[u8]) -> Vec<Tag> {
    let mut tags = Vec::new();
    let [order, request] = [b"D", request].map(|it| dictionary.message(it));
    for tag in WHOSE {
        let [of_order, of_request] = [order, request].map(|it| it.and_then(|it| it.member(*tag)));
        if dictionary.header().member(*tag).is_some() {
            tags.push(*tag);
        } else if let (Some(one), Some(other)) = (of_order, of_request)
            && one.group == other.group
        {
            add_tags(one, &mut tags);
        }
    }
    tags
}

fn add_tags(member: &Member, to: &mut Vec<Tag>) {
    to.push(member.tag);
    let members = member.group.iter().flat_map(|group| group.members());
    members.for_each(|it| add_tags(it, to));
}

/// The fields of the requests that one event sends, as their line gets them. Empty for most events.
#[derive(Debug, Default)]
pub(crate) struct ConvertedFields {
    /// At most two: the orders of a quote. Their memory is used again.
    requests: [ConvertedRequest; 2],
    /// Number of requests in use.
    len: usize,
}

#[derive(Debug, Default)]
struct ConvertedRequest {
    /// The number of the order or request that has the fields.
    number: Number,
    header: Vec<u8>,
    body: Vec<u8>,
}

impl ConvertedFields {
    /// Finds the fields of the requests that an event sends to a line of another FIX version than their client's.
    #[cold]
    pub(crate) fn find(
        &mut self,
        state: &OmsState,
        sent: &Outgoing<'_>,
        line: SessionNo,
        converter: &mut FieldConverter,
    ) {
        self.clear();
        let orders = state.orders();
        match *sent {
            Outgoing::Request(number) => match (orders.get(number), orders.request(number)) {
                (Some(order), _) => self.add(state, order, (number, b"D", false), line, converter),
                (None, Some((request, order))) => {
                    let whose = match request.kind {
                        RequestKind::Replace => (number, &b"G"[..], false),
                        RequestKind::Cancel if request.id.bytes().is_empty() => {
                            (order.number, &b"D"[..], true)
                        }
                        RequestKind::Cancel => (number, &b"F"[..], false),
                    };
                    self.add(state, order, whose, line, converter);
                }
                (None, None) => {}
            },
            Outgoing::Quote(bid) => {
                for order in [bid, bid + 1].into_iter().filter_map(|it| orders.get(it)) {
                    self.add(state, order, (order.number, b"D", false), line, converter);
                }
            }
            Outgoing::StrayCancel { order, .. } | Outgoing::Status(order) => {
                if let Some(order) = orders.get(order) {
                    self.add(state, order, (order.number, b"D", true), line, converter);
                }
            }
            Outgoing::Inquiry(_) | Outgoing::MassStatus { .. } => {}
        }
    }

    fn add(
        &mut self,
        state: &OmsState,
        order: &Order,
        (number, msg_type, by_oms): (Number, &[u8], bool),
        line: SessionNo,
        converter: &mut FieldConverter,
    ) {
        if !converter.is_between(order.session, line) {
            return;
        }
        let request = CarryingRequest {
            client: order.session,
            line,
            msg_type,
            side: order.side,
            fields: state.carried.of(number),
            by_oms,
        };
        // The fields were checked before the event. Without the check, as after a reload, none may leave in the client's
        // version.
        let fields = match converter.convert(&request) {
            Ok(None) => return,
            Ok(Some(fields)) => fields,
            Err(_) => CarriedFields::NONE,
        };
        let Some(to) = self.requests.get_mut(self.len) else {
            debug_assert!(false, "an event sends at most two requests");
            return;
        };
        to.number = number;
        to.header.clear();
        to.header.extend_from_slice(fields.header);
        to.body.clear();
        to.body.extend_from_slice(fields.body);
        self.len += 1;
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// The fields of an order or request as the line gets them.
    #[cold]
    pub(crate) fn of<'a>(&'a self, state: &'a OmsState, number: Number) -> CarriedFields<'a> {
        let mut requests = self.requests.iter().take(self.len);
        let converted = requests.find(|it| it.number == number);
        converted.map_or_else(
            || state.carried.of(number),
            |it| CarriedFields {
                header: &it.header,
                body: &it.body,
                kept: b"",
            },
        )
    }
}

/// Counts the fields of the requests that an event sends and that the contract of the line's group leaves out. Fields that
/// the contract dropped when the request came in are not carried, and were counted then. A request of the OMS itself only
/// repeats fields.
#[cold]
pub(crate) fn count_dropped(
    state: &OmsState,
    sent: &Outgoing<'_>,
    line: &LineContract,
    converted: &ConvertedFields,
    counts: &mut BTreeMap<(ContractOf, Tag), u64>,
) {
    let requests = match *sent {
        Outgoing::Request(number) => {
            let request = state.orders().request(number);
            let is_ours = request.is_some_and(|(request, _)| {
                request.kind == RequestKind::Cancel && request.id.bytes().is_empty()
            });
            [Some(number).filter(|_| !is_ours), None]
        }
        Outgoing::Quote(bid) => [Some(bid), Some(bid + 1)],
        Outgoing::StrayCancel { .. }
        | Outgoing::Status(_)
        | Outgoing::Inquiry(_)
        | Outgoing::MassStatus { .. } => [None, None],
    };
    for number in requests.into_iter().flatten() {
        let CarriedFields { header, body, .. } = converted.of(state, number);
        let fields = each_field(header).chain(each_field(body));
        for field in fields.filter(|it| line.contract.of(it.tag) == Some(Treatment::Drop)) {
            *counts.entry((line.of, field.tag)).or_default() += 1;
        }
    }
}

/// The fields that a message carries, with the contract and the names by which they are written.
#[derive(Clone, Copy)]
pub(crate) struct CarriedPart<'a> {
    pub msg_type: &'a [u8],
    pub fields: CarriedFields<'a>,
    /// The tags of the fields to write; `None` for all fields.
    pub only: Option<&'a [Tag]>,
    /// `None` if the contract of the line's group names no field.
    pub contract: Option<&'a LineContract>,
    /// The names of the order at the venue. The fields of these names replace carried fields.
    pub names: Named<'a>,
}

impl CarriedPart<'_> {
    /// Writes the fields of the header, which come first.
    #[cold]
    pub(crate) fn put_header(&self, out: &mut Body<'_>) {
        self.put(self.fields.header, true, out);
    }

    /// Writes the fields of the body, after the OMS's own fields.
    #[cold]
    pub(crate) fn put_body(&self, out: &mut Body<'_>) {
        self.put(self.fields.body, false, out);
    }

    /// Whether the message gets a field with this tag, from its request or from the contract of the line's group.
    #[cold]
    pub(crate) fn writes(&self, tag: Tag) -> bool {
        let CarriedFields { header, body, .. } = self.fields;
        let mut all = each_field(header).chain(each_field(body));
        let is_carried =
            self.only.is_none_or(|only| only.contains(&tag)) && all.any(|it| it.tag == tag);
        let mut sets = self.contract.iter().flat_map(|it| &it.sets);
        is_carried || sets.any(|set| set.tag == tag && is_set_in(set, self.msg_type))
    }

    fn put(&self, fields: &[u8], is_header: bool, out: &mut Body<'_>) {
        if self.only.is_none() && self.contract.is_none() && self.names.is_plain() {
            out.encoded(fields);
            return;
        }
        let is_wanted =
            |tag| self.only.is_none_or(|only| only.contains(&tag)) && !self.names.has(tag);
        for field in each_field(fields).filter(|field| is_wanted(field.tag)) {
            let treatment = self.contract.and_then(|it| it.contract.of(field.tag));
            match treatment.map_or(Passage::Value(field.value), |it| it.pass(field.value)) {
                Passage::Value(value) if value == field.value => {
                    out.encoded(field.bytes);
                }
                Passage::Value(value) => {
                    out.field(field.tag, value);
                }
                Passage::Dropped | Passage::Refused => {}
            }
        }
        let sets = self.contract.iter().flat_map(|it| &it.sets);
        let sets = sets.filter(|set| !self.names.has(set.tag));
        for set in sets.filter(|set| set.is_header == is_header && is_set_in(set, self.msg_type)) {
            // The field may be in the body by the client's dictionary and in the header by the line's dictionary, or
            // the reverse.
            let CarriedFields { header, body, .. } = self.fields;
            let mut all = each_field(header).chain(each_field(body));
            if !all.any(|field| field.tag == set.tag && is_wanted(set.tag)) {
                out.field(set.tag, &set.value);
            }
        }
    }
}
