//! Writes what requests carry, as the contract of the line group has it.

use alloc::boxed::Box;
use alloc::vec::Vec;

use fixwire_protocol::{Body, Dictionary, Tag};

use crate::values::carried::{CarriedFields, each_field};
use crate::values::contract::{Contract, Passage};

/// The requests that carry fields.
const REQUESTS: [&[u8]; 3] = [b"D", b"G", b"F"];

/// The contract of a line's group, for messages on the line.
#[derive(Debug)]
pub(crate) struct LineContract {
    contract: Contract,
    sets: Vec<SetField>,
}

/// A field that messages have whatever the client sends.
#[derive(Debug)]
pub(crate) struct SetField {
    pub tag: Tag,
    pub value: Box<[u8]>,
    pub is_header: bool,
    /// Which of [`REQUESTS`] have it.
    pub has: [bool; REQUESTS.len()],
}

/// The fields of `set` of a contract, in the messages to which a dictionary gives them, or in all when it has none of them.
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

/// Whether a field of `set` is in messages of a type.
pub(crate) fn is_set_in(field: &SetField, msg_type: &[u8]) -> bool {
    let mut all = REQUESTS.iter().zip(field.has);
    all.any(|(known, has)| has && *known == msg_type)
}

impl LineContract {
    /// `None` for one that names no field.
    pub(crate) fn new(contract: &Contract, dictionary: &Dictionary) -> Option<Self> {
        (!contract.is_empty()).then(|| Self {
            sets: set_fields(contract, dictionary),
            contract: contract.clone(),
        })
    }

    fn put(&self, fields: CarriedFields<'_>, is_header: bool, msg_type: &[u8], out: &mut Body<'_>) {
        let part = if is_header {
            fields.header
        } else {
            fields.body
        };
        for field in each_field(part) {
            let treatment = self.contract.of(field.tag);
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
        let sets = self.sets.iter().filter(|set| set.is_header == is_header);
        for set in sets.filter(|set| is_set_in(set, msg_type)) {
            if !each_field(part).any(|field| field.tag == set.tag) {
                out.field(set.tag, &set.value);
            }
        }
    }
}

/// Writes the fields of the header, which come first.
#[cold]
pub(crate) fn put_header(
    fields: CarriedFields<'_>,
    contract: Option<&LineContract>,
    msg_type: &[u8],
    out: &mut Body<'_>,
) {
    match contract {
        Some(contract) => contract.put(fields, true, msg_type, out),
        None => {
            out.encoded(fields.header);
        }
    }
}

/// Writes the fields of the body, after those of the OMS.
#[cold]
pub(crate) fn put_body(
    fields: CarriedFields<'_>,
    contract: Option<&LineContract>,
    msg_type: &[u8],
    out: &mut Body<'_>,
) {
    match contract {
        Some(contract) => contract.put(fields, false, msg_type, out),
        None => {
            out.encoded(fields.body);
        }
    }
}
