//! Reads client requests: NewOrderSingle(D), OrderCancelReplaceRequest(G) and OrderCancelRequest(F).

pub(crate) mod securities;
mod security_fields;

use fixwire_protocol::{Decimal, Indexed, Refusal, Tag, tag, value};

use crate::decide::core::{Change, NewOrder, Others};
use crate::state::conditions::Terms;
use crate::values::ids::SessionNo;
use crate::values::locate::{LOCATE_BROKER, Locate};
use crate::values::value::{Effect, OrderType, RequestKind, Side, Text, TimeInForce};

pub(super) fn required<'a>(message: &Indexed<'_, 'a>, tag: Tag) -> Result<&'a [u8], Refusal> {
    let value = message.get(tag);
    value.ok_or(Refusal::ConditionallyRequiredFieldMissing(tag))
}

/// ClOrdID(11) or OrigClOrdID(41), if it is short enough for an order.
pub(super) fn id<'a>(message: &Indexed<'_, 'a>, tag: Tag) -> Result<&'a [u8], Refusal> {
    let id = required(message, tag)?;
    if id.len() > Text::MAX {
        return Err(Refusal::ValueOutOfRange(tag));
    }
    Ok(id)
}

fn optional(message: &Indexed<'_, '_>, tag: Tag) -> Result<Option<Decimal>, Refusal> {
    match message.decimal(tag) {
        None => Ok(None),
        Some(Ok(value)) => Ok(Some(value)),
        Some(Err(_)) => Err(Refusal::IncorrectDataFormat(tag)),
    }
}

/// Account(1). A field without a value is refused, because the default account is only for a request without the field.
fn account<'a>(message: &Indexed<'_, 'a>) -> Result<&'a [u8], Refusal> {
    match message.get(tag::ACCOUNT) {
        Some(b"") => Err(Refusal::ValueOutOfRange(tag::ACCOUNT)),
        account => Ok(account.unwrap_or_default()),
    }
}

pub(super) fn byte(message: &Indexed<'_, '_>, tag: Tag) -> Option<u8> {
    match message.get(tag)? {
        [byte] => Some(*byte),
        _ => None,
    }
}

/// HandlInst(21) as one byte; 0 for a value of several bytes.
pub(super) fn handling(message: &Indexed<'_, '_>) -> Option<u8> {
    match message.get(tag::HANDL_INST)? {
        [byte] => Some(*byte),
        _ => Some(0),
    }
}

/// Whether the OMS can handle an order in the way that HandlInst(21) requests. It handles orders automatically only.
#[inline]
pub(crate) fn is_automatic(message: &Indexed<'_, '_>) -> bool {
    matches!(handling(message), None | Some(b'1' | b'2'))
}

/// Reads the locate of a NewOrderSingle(D) for a short sale.
///
/// # Errors
///
/// A value is too long, or is not a single character.
#[inline]
pub(crate) fn locate<'a>(message: &Indexed<'_, 'a>) -> Result<Locate<'a>, Refusal> {
    let reqd = match message.get(tag::LOCATE_REQD) {
        None => 0,
        Some([byte]) => *byte,
        Some(_) => return Err(Refusal::ValueOutOfRange(tag::LOCATE_REQD)),
    };
    let broker = message.get(LOCATE_BROKER).unwrap_or_default();
    if broker.len() > Text::MAX {
        return Err(Refusal::ValueOutOfRange(LOCATE_BROKER));
    }
    Ok(Locate { reqd, broker })
}

/// Reads a NewOrderSingle(D).
///
/// # Errors
///
/// A field is missing, or is not a number.
pub(crate) fn new_order<'a>(
    session: SessionNo,
    message: &Indexed<'_, 'a>,
) -> Result<NewOrder<'a>, Refusal> {
    let id = id(message, tag::CL_ORD_ID)?;
    let symbol = required(message, tag::SYMBOL)?;
    required(message, tag::SIDE)?;
    let side = byte(message, tag::SIDE).and_then(Side::of);
    required(message, tag::ORD_TYPE)?;
    let kind = byte(message, tag::ORD_TYPE).and_then(OrderType::of);
    let quantity = optional(message, tag::ORDER_QTY)?;
    let quantity = quantity.ok_or(Refusal::ConditionallyRequiredFieldMissing(tag::ORDER_QTY))?;
    let (price, stop) = (
        optional(message, tag::PRICE)?,
        optional(message, tag::STOP_PX)?,
    );
    let missing = Refusal::ConditionallyRequiredFieldMissing;
    if price.is_none() && kind.is_some_and(OrderType::has_price) {
        return Err(missing(tag::PRICE));
    }
    if stop.is_none() && kind.is_some_and(OrderType::has_stop) {
        return Err(missing(tag::STOP_PX));
    }
    let tif = match message.get(tag::TIME_IN_FORCE) {
        None => Some(TimeInForce::Day),
        Some(_) => byte(message, tag::TIME_IN_FORCE).and_then(TimeInForce::of),
    };
    let until = match tif {
        Some(TimeInForce::GoodTillDate) => {
            let date = crate::values::day::compact(required(message, tag::EXPIRE_DATE)?);
            Some(date.ok_or(Refusal::IncorrectDataFormat(tag::EXPIRE_DATE))?)
        }
        _ => None,
    };
    let effect = match message.get(tag::POSITION_EFFECT) {
        None => Some(Effect::Netting),
        Some(value) => Effect::of_field(value),
    };
    Ok(NewOrder {
        until,
        effect,
        session,
        id,
        account: account(message)?,
        symbol,
        side,
        kind,
        tif,
        price,
        stop,
        quantity,
        own_number: b"",
        route: None,
        terms: Terms::NONE,
        is_located: side.is_some_and(Side::is_short)
            && (message.get(tag::LOCATE_REQD) == Some(b"N")
                || message.get(LOCATE_BROKER).is_some()),
    })
}

/// Reads an OrderCancelReplaceRequest(G) or OrderCancelRequest(F).
///
/// # Errors
///
/// As [`new_order`].
pub(crate) fn change<'a>(
    session: SessionNo,
    kind: RequestKind,
    message: &Indexed<'_, 'a>,
) -> Result<Change<'a>, Refusal> {
    let is_replace = kind == RequestKind::Replace;
    let number = |tag| {
        if is_replace {
            optional(message, tag)
        } else {
            Ok(None)
        }
    };
    Ok(Change {
        session,
        kind,
        id: id(message, tag::CL_ORD_ID)?,
        original: id(message, tag::ORIG_CL_ORD_ID)?,
        order_id: message
            .get(tag::ORDER_ID)
            .and_then(|id| value::uint(id).ok()),
        symbol: message.get(tag::SYMBOL).unwrap_or_default(),
        side: byte(message, tag::SIDE).and_then(Side::of),
        quantity: number(tag::ORDER_QTY)?,
        price: number(tag::PRICE)?,
        valid_for: None,
        others: if is_replace {
            Others {
                account: account(message)?,
                kind: byte(message, tag::ORD_TYPE),
                tif: byte(message, tag::TIME_IN_FORCE),
                stop: optional(message, tag::STOP_PX)?,
                until: message.get(tag::EXPIRE_DATE).unwrap_or_default(),
                effect: message.get(tag::POSITION_EFFECT).unwrap_or_default(),
                handling: handling(message),
            }
        } else {
            Others {
                account: account(message)?,
                ..Others::default()
            }
        },
    })
}
