//! Fields that the OMS itself does not use: which of them reach a venue, and which reach a client.

pub(crate) mod carried;
pub mod contract;
pub(crate) mod conversion;
pub(crate) mod direct;
pub mod field_table;
pub mod report_tags;
mod shapes;
pub mod tmp_fields;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::{Dictionary, Tag, tag};

use contract::{Contract, Passage, Treatment};
use field_table::{Messages, request_treatment};
use tmp_fields::{NotOverTmp, TmpField};

use crate::values::marks::RequestMarks;
use crate::values::reason::Reason;
use crate::values::rules::LineGroup;
use crate::values::value::{Effect, Number};

/// Maximum value of `carried_bytes`. With this value, the outbox still has room for all messages that one message
/// causes.
pub(crate) const CARRIED_MAX: usize = 4096;
/// Maximum length of the fields of `set` of one contract, with tags and SOH.
pub(crate) const SETS_MAX: usize = 1024;
/// Maximum length of all carried fields of a message as sent, in bytes. The outbox has room for this length.
pub(crate) const SENT_MAX: usize = CARRIED_MAX + SETS_MAX;

/// Maximum length of the fields that each order of a quote carries, in bytes. The maximum is low because both orders
/// are sent at once, together with the cancels of the replaced quote.
pub(crate) const QUOTE_MAX: usize = 1024;

/// An open order with a field that its line refuses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RefusedField {
    /// The order.
    pub order: Number,
    /// The tag of the first such field.
    pub tag: Tag,
}

/// The first orders of a list as text, each with its tag, and the number of others.
pub(crate) fn first_orders(orders: &[RefusedField]) -> String {
    const NAMED: usize = 5;
    let named = orders.iter().take(NAMED);
    let named: Vec<_> = named
        .map(|RefusedField { order, tag }| format!("{order} (tag {tag})"))
        .collect();
    let more = match orders.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

/// The field because of which a request is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LostField {
    pub tag: Tag,
    pub why: LostBecause,
}

/// Why a field cannot be sent to a venue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LostBecause {
    /// The field would not reach the venue.
    NotSent,
    /// With this field the carried fields are longer than this number of bytes.
    TooLong(usize),
    /// The field is a displayed quantity above that of the order.
    AboveQuantity,
    /// The field of TMP that the field fills cannot have its value.
    NotOverTmp(TmpField),
    /// Another reason.
    Rejected(Reason),
}

impl From<Tag> for LostField {
    fn from(tag: Tag) -> Self {
        let why = LostBecause::NotSent;
        Self { tag, why }
    }
}

impl LostField {
    pub(crate) fn over_tmp(tag: Tag, why: NotOverTmp) -> Self {
        match why {
            NotOverTmp::NoField => tag.into(),
            NotOverTmp::Value(field) => Self {
                tag,
                why: LostBecause::NotOverTmp(field),
            },
        }
    }
}

/// Checks that a line group accepts a field that a request carries; `user` is the contract of the user.
///
/// # Errors
///
/// The field, with the reason.
pub(crate) fn check_taken(
    group: &LineGroup,
    user: Option<&Contract>,
    message: Messages,
    tag: Tag,
    value: &[u8],
) -> Result<(), LostField> {
    let contract = &group.contract;
    if group.over_tmp {
        let filled = group
            .tmp_fields
            .fill(contract, tag, value, &mut RequestMarks::default());
        return filled.map_err(|why| LostField::over_tmp(tag, why));
    }
    let is_taken = match contract.of(tag) {
        Some(treatment) => treatment.pass(value) != Passage::Refused,
        None => {
            let of_user = user.and_then(|contract| contract.of(tag));
            of_user.is_some_and(|it| !matches!(it, Treatment::Drop | Treatment::Refuse))
                || request_treatment(tag, message) == Some(Treatment::Carry)
        }
    };
    is_taken.then_some(()).ok_or(tag.into())
}

/// The fields that say how an order with them trades, and that not every FIX version has.
const TERMS: [Tag; 2] = [tag::EXPIRE_DATE, tag::POSITION_EFFECT];

/// The fields of an order's terms that the dictionary of a line does not have in an order and in a replace.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct MissingTerms {
    pub of_orders: Vec<Tag>,
    pub of_replaces: Vec<Tag>,
}

impl MissingTerms {
    /// The fields that a dictionary does not have; none in a message that it does not have.
    pub(crate) fn of(dictionary: &Dictionary) -> Self {
        let missing = |msg_type: &[u8]| {
            let message = dictionary.message(msg_type);
            let lacks = |tag: &Tag| message.is_some_and(|it| it.member(*tag).is_none());
            TERMS.into_iter().filter(lacks).collect()
        };
        Self {
            of_orders: missing(b"D"),
            of_replaces: missing(b"G"),
        }
    }

    /// The first of the missing fields that an order has; `until` is its ExpireDate(432).
    pub(crate) fn first(missing: &[Tag], until: Option<u32>, effect: Effect) -> Option<Tag> {
        let mut missing = missing.iter().copied();
        missing.find(|tag| match *tag {
            tag::EXPIRE_DATE => until.is_some(),
            _ => effect.field().is_some(),
        })
    }
}
