//! Terms of a NewOrderSingle(D) in addition to its usual fields: validity, condition and parent.
//!
//! A condition is the component TriggeringInstruction of FIX 5.0 SP2. In any FIX version, it may also be the text of a
//! tag that the settings name.

use fixwire_protocol::{Decimal, Message, Refusal, Tag, tag, value};

use crate::state::conditions::{PriceCondition, Terms};
use crate::state::parents::FamilyRole;
use crate::values::own_tags::{OwnTags, get};
use crate::values::value::PriceField;

/// Maximum validity: a day, in milliseconds.
const MOST_MS: u64 = 86_400_000;

/// Reads the validity of an OrderCancelReplaceRequest(G).
///
/// # Errors
///
/// The validity is out of range, or the request has a condition or a parent, which a replace cannot change.
#[inline]
pub(crate) fn validity(message: &Message<'_>, own: &OwnTags) -> Result<Option<i64>, Refusal> {
    let terms = terms(message, own)?;
    match (terms.condition, terms.role) {
        (None, None) => Ok(terms.valid_for),
        (Some(_), _) => Err(Refusal::ValueOutOfRange(own.condition)),
        (_, Some(_)) => Err(Refusal::ValueOutOfRange(own.parent)),
    }
}

/// Reads the terms of a new order that are not in its usual fields.
///
/// # Errors
///
/// A value is not supported. The order must not be sent without its condition.
#[cold]
pub(crate) fn terms(message: &Message<'_>, own: &OwnTags) -> Result<Terms, Refusal> {
    let valid_for = match get(message, own.validity).map(value::uint) {
        None => None,
        Some(Ok(millis @ 1..=MOST_MS)) => Some(millis.cast_signed() * 1_000_000),
        Some(_) => return Err(Refusal::ValueOutOfRange(own.validity)),
    };
    let named = get(message, own.condition).map(|text| {
        let wish = PriceCondition::parse(text);
        wish.ok_or(Refusal::ValueOutOfRange(own.condition))
    });
    let named = named.transpose()?;
    let trigger = trigger(message)?;
    if named.is_some() && trigger.is_some() {
        return Err(Refusal::ValueOutOfRange(own.condition));
    }
    let condition = named.or(trigger);
    let parent = get(message, own.parent).map(|text| match value::uint(text) {
        Ok(number) => Ok(FamilyRole::Child(number)),
        Err(_) => Err(Refusal::ValueOutOfRange(own.parent)),
    });
    Ok(Terms {
        valid_for,
        condition,
        role: parent.transpose()?,
    })
}

/// Reads the fields that only a client with parent orders may use. HandlInst(21) = 3 makes an order a parent;
/// RefOrderID(1080) names the parent of a child.
///
/// # Errors
///
/// The order is both a parent and a child, or names two parents, or RefOrderIDSource(1081) is not 1 (OrderID(37)).
#[cold]
pub(crate) fn role(message: &Message<'_>, terms: &mut Terms) -> Result<(), Refusal> {
    if let Some(text) = message.get(tag::REF_ORDER_ID) {
        match message.get(tag::REF_ORDER_ID_SOURCE) {
            Some(b"1") => {}
            Some(_) => return Err(Refusal::ValueOutOfRange(tag::REF_ORDER_ID_SOURCE)),
            None => {
                let tag = tag::REF_ORDER_ID_SOURCE;
                return Err(Refusal::ConditionallyRequiredFieldMissing(tag));
            }
        }
        let number = value::uint(text).map_err(|_| Refusal::ValueOutOfRange(tag::REF_ORDER_ID))?;
        let role = FamilyRole::Child(number);
        if terms.role.is_some_and(|known| known != role) {
            return Err(Refusal::ValueOutOfRange(tag::REF_ORDER_ID));
        }
        terms.role = Some(role);
    }
    if message.get(tag::HANDL_INST) == Some(b"3") {
        if terms.role.is_some() {
            return Err(Refusal::ValueOutOfRange(tag::HANDL_INST));
        }
        terms.role = Some(FamilyRole::Parent);
    }
    Ok(())
}

/// Reads the quantity by which a replace reduces its order.
///
/// # Errors
///
/// The value is not a number above 0, or the request also has OrderQty(38).
pub(crate) fn reduce_by(message: &Message<'_>, tag: Tag) -> Result<Option<Decimal>, Refusal> {
    let Some(text) = get(message, tag) else {
        return Ok(None);
    };
    let by = Decimal::parse(text).map_err(|_| Refusal::IncorrectDataFormat(tag))?;
    if by.mantissa <= 0 || message.has(fixwire_protocol::tag::ORDER_QTY) {
        return Err(Refusal::ValueOutOfRange(tag));
    }
    Ok(Some(by))
}

/// Reads the TriggeringInstruction. The order is activated when a price of its own symbol reaches or passes the trigger
/// price.
fn trigger(message: &Message<'_>) -> Result<Option<PriceCondition>, Refusal> {
    let trigger = tag::TRIGGER_TYPE..=tag::TRIGGER_TRADING_SESSION_SUB_ID;
    let mut fields = message.fields().iter().map(|field| field.tag);
    let Some(first) = fields.find(|tag| trigger.contains(tag)) else {
        return Ok(None);
    };
    let known = [
        tag::TRIGGER_TYPE,
        tag::TRIGGER_ACTION,
        tag::TRIGGER_PRICE,
        tag::TRIGGER_SYMBOL,
        tag::TRIGGER_PRICE_TYPE,
        tag::TRIGGER_PRICE_DIRECTION,
    ];
    let mut others = core::iter::once(first).chain(fields);
    if let Some(other) = others.find(|tag| trigger.contains(tag) && !known.contains(tag)) {
        return Err(Refusal::ValueOutOfRange(other));
    }
    let is = |tag: Tag, wanted: &[u8]| match message.get(tag) {
        Some(value) if value == wanted => Ok(()),
        Some(_) => Err(Refusal::ValueOutOfRange(tag)),
        None => Err(Refusal::ConditionallyRequiredFieldMissing(tag)),
    };
    // TriggerType(1100) = 4, Price Movement; TriggerAction(1101) = 1, Activate.
    is(tag::TRIGGER_TYPE, b"4")?;
    is(tag::TRIGGER_ACTION, b"1")?;
    if message.has(tag::TRIGGER_SYMBOL) {
        is(
            tag::TRIGGER_SYMBOL,
            message.get(tag::SYMBOL).unwrap_or_default(),
        )?;
    }
    let field = match message.get(tag::TRIGGER_PRICE_TYPE) {
        Some(b"1") => PriceField::Offer,
        Some(b"2") => PriceField::Last,
        Some(b"3") => PriceField::Bid,
        Some(_) => return Err(Refusal::ValueOutOfRange(tag::TRIGGER_PRICE_TYPE)),
        None => {
            let tag = tag::TRIGGER_PRICE_TYPE;
            return Err(Refusal::ConditionallyRequiredFieldMissing(tag));
        }
    };
    let rises = match message.get(tag::TRIGGER_PRICE_DIRECTION) {
        Some(b"U") => true,
        Some(b"D") => false,
        Some(_) => return Err(Refusal::ValueOutOfRange(tag::TRIGGER_PRICE_DIRECTION)),
        None => {
            let tag = tag::TRIGGER_PRICE_DIRECTION;
            return Err(Refusal::ConditionallyRequiredFieldMissing(tag));
        }
    };
    let price = message.decimal(tag::TRIGGER_PRICE);
    let price = price.ok_or(Refusal::ConditionallyRequiredFieldMissing(
        tag::TRIGGER_PRICE,
    ))?;
    let price = price.map_err(|_| Refusal::IncorrectDataFormat(tag::TRIGGER_PRICE))?;
    Ok(Some(PriceCondition {
        field,
        rises,
        price,
    }))
}
