//! Parts of the state as text: scopes, reasons of rejects, states of orders.

use alloc::string::String;
use core::fmt::{self, Write as _};

use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::orders::own::ANY;
use crate::state::orders::transition::OrderState;
use crate::values::day::written;
use crate::values::fields::tmp_fields::TmpField;
use crate::values::ids::{AccountNo, InstrumentNo, PoolNo};
use crate::values::limits::{LimitUnit, RiskControl};
use crate::values::reason::{Reason, Why};
use crate::values::rules::currency::CurrencyCode;
use crate::values::scope::Scope;
use crate::values::show::{Sentence, figure};
use crate::values::units::Scales;
use crate::values::value::End;

/// The scope as text.
pub fn scope_name(state: &OmsState, scope: Scope) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let account = |index| text(state.accounts().name(index));
    let symbol = |index| text(state.instruments().name(index));
    match scope {
        Scope::Firm => "firm".into(),
        Scope::Session(index) => alloc::format!("session={}", text(state.sessions().name(index))),
        Scope::Account(index) => alloc::format!("account={}", account(index)),
        Scope::Instrument(index) => alloc::format!("symbol={}", symbol(index)),
        Scope::Holding(of, index) => {
            alloc::format!("account={} symbol={}", account(of), symbol(index))
        }
    }
}

/// Text(58) of a reject: the control, the reason, the value and the limit.
pub(crate) fn reason_text(state: &OmsState, reason: &Reason, scales: Scales) -> Sentence {
    let mut text = Sentence::new();
    let why = reason.why;
    // The only possible error is a text that is too long, which is cut.
    let _ = write_reason(&mut text, state, reason, why, scales);
    text
}

/// Text(58) of a reject without the value and the limit.
pub(crate) fn why_text(why: Why) -> Sentence {
    let mut text = Sentence::new();
    // The only possible error is a text that is too long, which is cut.
    let _ = match why.control() {
        "" => text.write_str(why.text()),
        control => write!(text, "{control}: {}", why.text()),
    };
    text
}

fn write_reason(
    text: &mut Sentence,
    state: &OmsState,
    reason: &Reason,
    why: Why,
    scales: Scales,
) -> fmt::Result {
    if why == Why::NoLimit {
        let control = u8::try_from(reason.value).ok().and_then(RiskControl::of);
        let control = control.map_or("", RiskControl::code);
        return write!(text, "{} {control}", why.text());
    }
    if !why.control().is_empty() {
        write!(text, "{}: ", why.control())?;
    }
    text.write_str(why.text())?;
    let parts = |quantity| figure(quantity, scales.quantity);
    let digits = match why {
        _ if is_quantity(why) => LimitUnit::Quantity.digits(),
        Why::OpenOrders
        | Why::Repeated
        | Why::Rate
        | Why::CancelRate
        | Why::Replaces
        | Why::Unanswered
        | Why::Conditionals
        | Why::Parents
        | Why::Inquiries
        | Why::Ratio => LimitUnit::Whole.digits(),
        Why::Value | Why::Credit | Why::ValueSecond | Why::ValueMinute | Why::ValueDay => {
            LimitUnit::Money.digits()
        }
        Why::Collar => LimitUnit::Percent.digits(),
        Why::Tick => scales.price,
        Why::Lot => scales.quantity,
        Why::Killed | Why::Reducing => {
            return write!(text, " ({})", scope_name(state, reason.scope));
        }
        Why::NoNumber | Why::NumberForm | Why::NumberUsed => {
            let pool = u32::try_from(reason.value).ok().map(PoolNo::new);
            let pool = pool.map_or(&b""[..], |pool| state.pool_names.name(pool));
            let pool = String::from_utf8_lossy(pool);
            return write!(text, " (pool {pool})");
        }
        Why::NoRate => return write!(text, " ({})", CurrencyCode::of_reason(reason)),
        Why::StaleRate => {
            let code = CurrencyCode::of_reason(reason);
            return write!(text, " ({code}, {} s old)", reason.limit);
        }
        Why::NotCarried if reason.limit > 0 => {
            let (tag, limit) = (reason.value, reason.limit);
            return write!(text, " (tag {tag}: above carried_bytes, {limit})");
        }
        Why::Unchangeable if reason.value == 0 => return Ok(()),
        Why::NotCarried | Why::Displayed | Why::Unchangeable => {
            return write!(text, " (tag {})", reason.value);
        }
        Why::SecurityExpired => {
            let day = u32::try_from(reason.value).map(written).unwrap_or_default();
            let scope = scope_name(state, reason.scope);
            return write!(text, " ({scope}, no new orders from {day} on)");
        }
        Why::NameTaken => {
            let number = u32::try_from(reason.limit).unwrap_or_default();
            let other = match reason.scope {
                Scope::Account(_) => Scope::Account(AccountNo::new(number)),
                _ => Scope::Instrument(InstrumentNo::new(number)),
            };
            let (scope, other) = (scope_name(state, reason.scope), scope_name(state, other));
            return write!(text, " ({scope}, now that of {other})");
        }
        Why::OtherSecurity => return write_other(text, state, reason),
        Why::TmpField => {
            let field = TmpField::of(reason.limit);
            let name = field.map_or("", TmpField::name);
            let values = field.map_or("", TmpField::values);
            return write!(text, " (tag {}: {name} is {values})", reason.value);
        }
        Why::NoParent => return write!(text, " (order {})", reason.value),
        Why::ParentTerms => {
            let field = match reason.value {
                1 => "Account(1) differs",
                40 => "OrdType(40) has no limit price",
                44 => "Price(44) is beyond its limit",
                54 => "Side(54) differs",
                55 => "Symbol(55) differs",
                59 => "TimeInForce(59) is longer",
                _ => "PositionEffect(77) differs",
            };
            return write!(text, " (order {}: {field})", reason.limit);
        }
        Why::ParentQuantity => {
            let (value, limit) = (parts(reason.value), parts(reason.limit));
            return write!(text, " ({value}, at most {limit})");
        }
        Why::ChildrenHold => {
            let (value, limit) = (parts(reason.value), parts(reason.limit));
            return write!(text, " ({value}, at least {limit})");
        }
        Why::SelfTrade if reason.value == ANY.into() => {
            return text.write_str(" (an order without a limit price)");
        }
        Why::SelfTrade => return write!(text, " (at {})", figure(reason.value, scales.price)),
        _ => return Ok(()),
    };
    let (value, limit) = (figure(reason.value, digits), figure(reason.limit, digits));
    match why {
        // The price was refused when it was read, so its value in units of the instrument is unknown.
        Why::Tick if reason.limit == 0 => {
            write!(text, " (more than {} decimals)", scales.price)
        }
        Why::Lot if reason.limit == 0 => {
            write!(text, " (more than {} decimals)", scales.quantity)
        }
        Why::Lot | Why::Tick => write!(text, " ({value}, size {limit})"),
        Why::Collar => write!(
            text,
            " ({value} %, at most {limit} % for {})",
            scope_name(state, reason.scope)
        ),
        _ => write!(
            text,
            " ({value}, at most {limit} for {})",
            scope_name(state, reason.scope)
        ),
    }
}

/// The instruments that Symbol(55) and SecurityID(48) name.
fn write_other(text: &mut Sentence, state: &OmsState, reason: &Reason) -> fmt::Result {
    let name = |number: i128| {
        let number = u32::try_from(number).ok().map(InstrumentNo::new);
        let name = number.map_or(&b""[..], |it| state.instruments().name(it));
        String::from_utf8_lossy(name).into_owned()
    };
    let symbol = name(reason.value);
    match name(reason.limit) {
        other if other.is_empty() => {
            write!(text, " (Symbol {symbol}, SecurityID of no instrument)")
        }
        other => write!(text, " (Symbol {symbol}, SecurityID of {other})"),
    }
}

/// Whether a reason compares a quantity with a limit, in the unit of limits.
pub(crate) fn is_quantity(why: Why) -> bool {
    matches!(
        why,
        Why::OrderQuantity
            | Why::Long
            | Why::Short
            | Why::QuantitySecond
            | Why::QuantityMinute
            | Why::QuantityDay
    )
}

/// The state of an order, in words.
pub(crate) fn state_name(order: &Order) -> &'static str {
    match order.state {
        OrderState::Parent if order.filled > 0 => "parent, partially filled",
        OrderState::Parent => "parent",
        OrderState::Held => "held",
        OrderState::Queued => "queued",
        OrderState::Sent => "sent",
        OrderState::Unknown => "unknown",
        OrderState::Working if order.filled > 0 => "partially filled",
        OrderState::Working => "working",
        OrderState::Lapsed => "closed here, not confirmed by the venue",
        OrderState::Ended(End::Filled) => "filled",
        OrderState::Ended(End::Cancelled) => "cancelled",
        OrderState::Ended(End::Rejected) => "rejected",
        OrderState::Ended(End::Expired) => "expired",
        OrderState::DoneForDay | OrderState::Ended(End::DoneForDay) => "done for day",
    }
}
