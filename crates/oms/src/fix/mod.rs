//! FIX on both sides: client requests become inputs; events become reports to clients and orders to venues.

use alloc::string::String;
use core::fmt::{self, Write as _};

use fixwire_protocol::Decimal;

use crate::state::OmsState;
use crate::state::own::ANY;
use crate::state::pool::NO_POOL;
use crate::values::limits::{LimitUnit, RiskControl};
use crate::values::reason::{Reason, Why};
use crate::values::scope::Scope;
use crate::values::units::half_even;
use crate::values::value::{Amount, Price, Quantity};

pub(crate) mod before;
mod changed;
pub(crate) mod clients;
pub(crate) mod inquiries;
pub(crate) mod leg_reports;
pub(crate) mod legs;
pub(crate) mod lines;
pub(crate) mod market_requests;
pub(crate) mod markets;
pub(crate) mod mass;
pub(crate) mod prices;
pub(crate) mod quotes;
mod reject_codes;
pub(crate) mod report_numbers;
pub(crate) mod report_requests;
pub(crate) mod reports;
pub(crate) mod requests;
pub(crate) mod status;
pub(crate) mod terms;

/// The longest Text(58).
const TEXT: usize = 240;

/// A text in a fixed buffer; longer text is cut.
pub(crate) struct Sentence {
    bytes: [u8; TEXT],
    len: usize,
}

impl Sentence {
    pub(crate) fn new() -> Self {
        Self {
            bytes: [0; TEXT],
            len: 0,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl fmt::Write for Sentence {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SOH would end the field.
        for byte in text.bytes().filter(|byte| *byte >= b' ') {
            if self.len < TEXT {
                self.bytes[self.len] = byte;
                self.len += 1;
            }
        }
        Ok(())
    }
}

/// Numbers as FIX writes them, `-` between two.
pub(crate) struct Digits {
    bytes: [u8; 41],
    start: usize,
}

impl Digits {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn push(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[self.start] = byte;
    }

    fn put(&mut self, mut number: u64) {
        loop {
            self.push(b'0' + (number % 10) as u8);
            number /= 10;
            if number == 0 {
                return;
            }
        }
    }
}

/// A number.
pub(crate) fn digits(number: u64) -> Digits {
    let bytes = [0; 41];
    let mut digits = Digits {
        start: bytes.len(),
        bytes,
    };
    digits.put(number);
    digits
}

/// `17-25`.
pub(crate) fn two_numbers(first: u64, second: u64) -> Digits {
    let mut both = digits(second);
    both.push(b'-');
    both.put(first);
    both
}

/// A price of an instrument.
pub(crate) fn price(price: Price, scale: u8) -> Decimal {
    let decimal = Decimal::new(price, scale);
    decimal.unwrap_or(Decimal::from_int(price)).normalized()
}

/// AvgPx(6): with four digits more than prices have, halves rounded to the even digit.
pub(crate) fn average(paid: Amount, filled: Quantity, scale: u8) -> Decimal {
    const MORE: u8 = 4;
    let exact = |more: u8| {
        let paid = paid.checked_mul(10_i128.pow(more.into()))?;
        let average = (filled > 0).then(|| half_even(paid, filled.into()))?;
        Decimal::new(i64::try_from(average).ok()?, scale + more)
    };
    let average = exact(MORE).or_else(|| exact(0));
    average.unwrap_or_default().normalized()
}

/// Formats a value of a limit or a reason as a decimal.
#[must_use]
pub fn figure(value: i128, digits: u8) -> String {
    let one = 10_i128.pow(digits.into());
    let sign = if value < 0 { "-" } else { "" };
    let value = value.unsigned_abs();
    let (whole, part) = (value / one.unsigned_abs(), value % one.unsigned_abs());
    let mut text = alloc::format!("{sign}{whole}");
    if part > 0 {
        let digits = usize::from(digits);
        let part = alloc::format!("{part:0digits$}");
        text.push('.');
        text.push_str(part.trim_end_matches('0'));
    }
    text
}

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

/// Text(58) of a reject: control, reason, value and limit.
pub(crate) fn reason_text(state: &OmsState, reason: &Reason, scale: u8) -> Sentence {
    let mut text = Sentence::new();
    let why = reason.why;
    // Text that does not fit is cut; no other error is possible.
    let _ = write_reason(&mut text, state, reason, (why, scale));
    text
}

fn write_reason(
    text: &mut Sentence,
    state: &OmsState,
    reason: &Reason,
    (why, scale): (Why, u8),
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
    let digits = match why {
        Why::OrderQuantity
        | Why::OpenOrders
        | Why::Long
        | Why::Short
        | Why::Lot
        | Why::Repeated
        | Why::QuantitySecond
        | Why::QuantityMinute
        | Why::QuantityDay
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
        Why::Tick => scale,
        Why::Killed | Why::Reducing => {
            return write!(text, " ({})", scope_name(state, reason.scope));
        }
        Why::NoNumber | Why::NumberForm | Why::NumberUsed => {
            let pool = u32::try_from(reason.value).unwrap_or(NO_POOL);
            let pool = String::from_utf8_lossy(state.pool_names.name(pool));
            return write!(text, " (pool {pool})");
        }
        Why::NotCarried => return write!(text, " (tag {})", reason.value),
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
            return write!(text, " ({}, at most {})", reason.value, reason.limit);
        }
        Why::ChildrenHold => {
            return write!(text, " ({}, at least {})", reason.value, reason.limit);
        }
        Why::SelfTrade if reason.value == ANY.into() => {
            return text.write_str(" (an order without a limit price)");
        }
        Why::SelfTrade => return write!(text, " (at {})", figure(reason.value, scale)),
        _ => return Ok(()),
    };
    let (value, limit) = (figure(reason.value, digits), figure(reason.limit, digits));
    match why {
        // Found when it was read: what it would be in units of the instrument is not known.
        Why::Tick if reason.limit == 0 => {
            write!(text, " (more than {scale} decimals)")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 7, 10, 1_234_567_890, u64::MAX] {
            assert_eq!(
                digits(number).bytes(),
                alloc::format!("{number}").as_bytes()
            );
            let both = alloc::format!("{number}-{}", u64::MAX);
            assert_eq!(two_numbers(number, u64::MAX).bytes(), both.as_bytes());
        }
    }

    #[test]
    fn figures_are_written_as_people_do() {
        assert_eq!(figure(1_500_000_000, 9), "1.5");
        assert_eq!(figure(-7, 0), "-7");
        assert_eq!(figure(2_000_000_001, 9), "2.000000001");
        assert_eq!(figure(0, 9), "0");
    }

    #[test]
    fn the_average_price_is_exact_where_it_can_be() {
        assert_eq!(
            average(301, 2, 1).normalized(),
            Decimal::new(1505, 2).unwrap()
        );
        assert_eq!(average(0, 0, 2), Decimal::from_int(0));
        assert_eq!(average(10, 3, 0), Decimal::new(33333, 4).unwrap());
        assert_eq!(average(20, 3, 0), Decimal::new(66667, 4).unwrap());
        // 0.00005 and 0.00015 are halves.
        assert_eq!(average(1, 20_000, 0), Decimal::from_int(0));
        assert_eq!(average(3, 20_000, 0), Decimal::new(2, 4).unwrap());
        assert_eq!(average(-3, 20_000, 0), Decimal::new(-2, 4).unwrap());
    }
}
