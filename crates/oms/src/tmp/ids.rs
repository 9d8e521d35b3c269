//! Order numbers of the OMS in fields of TMP: ord_id has seven digits, user_define has eight characters.

use fixwire_tmp::TmpSide;

use crate::state::OmsState;
use crate::state::orders::Order;
use crate::values::value::Number;

/// The number of different values of ord_id.
const ORD_IDS: u64 = 10_000_000;
/// The digits of a user_define, the lowest first.
const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The ord_id of a request: the last seven digits of its number.
pub(crate) fn ord_id(number: Number) -> u32 {
    // The result is below 10,000,000, so it fits.
    (number % ORD_IDS) as u32
}

/// The user_define of an order: the number of the order in base 62.
pub(crate) fn user_define(mut number: Number) -> [u8; 8] {
    let mut text = [b'0'; 8];
    for place in text.iter_mut().rev() {
        *place = DIGITS[(number % DIGITS.len() as u64) as usize];
        number /= DIGITS.len() as u64;
    }
    text
}

/// By byte, the value of the digit; [`NO_DIGIT`] for a byte that is no digit.
const VALUES: [u8; 256] = {
    let mut values = [NO_DIGIT; 256];
    let mut value = 0;
    while value < DIGITS.len() {
        values[DIGITS[value] as usize] = value as u8;
        value += 1;
    }
    values
};
const NO_DIGIT: u8 = u8::MAX;

/// The order number of the OMS in a user_define of TMP; `None` when the text is no number.
#[must_use]
pub fn tmp_order_number(text: [u8; 8]) -> Option<Number> {
    text.iter().try_fold(0, |number: Number, byte| {
        let digit = VALUES[usize::from(*byte)];
        (digit != NO_DIGIT).then(|| number * DIGITS.len() as u64 + u64::from(digit))
    })
}

/// The order and the request to which a report belongs; zeros when the report is not about an order of the OMS. Both
/// sides of a quote have the user_define of the bid, so the side of the report decides between them.
pub(crate) fn resolve(
    state: &OmsState,
    (order_no, ord_id, text): ([u8; 5], u32, [u8; 8]),
    side: TmpSide,
) -> (Number, Number) {
    let number = tmp_order_number(text).filter(|number| (1..=state.last).contains(number));
    let Some(mut number) = number else {
        return (0, 0);
    };
    if side == TmpSide::SELL && state.quotes.get(number).is_some() {
        number += 1;
    }
    let Some(order) = state.orders().get(number) else {
        return (number, greatest(state.last, ord_id));
    };
    let bid = order.quote().filter(|bid| *bid != number);
    if bid.is_some_and(|bid| self::ord_id(bid) == ord_id) && order.pool_number.bytes() == order_no {
        // The R09 that entered the quote had the number of the bid only.
        return (number, number);
    }
    // An order that was sent again had other numbers from its pool before.
    let is_its = order.pool_number.bytes() == order_no || order.retry.is_some();
    match is_its {
        true => (number, request_of(state, order, ord_id)),
        false => (0, 0),
    }
}

/// The request with this ord_id. The result is the pending request, else the last request that succeeded, else the one
/// with the highest number.
fn request_of(state: &OmsState, order: &Order, ord_id: u32) -> Number {
    let pending = state.orders().request_of(order).map(|it| it.number);
    let known = [order.current, order.attempt(), order.number];
    let mut likely = pending.into_iter().chain(known);
    let found = likely.find(|number| self::ord_id(*number) == ord_id);
    found.unwrap_or_else(|| greatest(state.last, ord_id))
}

/// The highest number up to `last` with this ord_id; 0 if there is no such number.
fn greatest(last: Number, ord_id: u32) -> Number {
    let id = u64::from(ord_id);
    let back = (last % ORD_IDS + ORD_IDS - id % ORD_IDS) % ORD_IDS;
    if id < ORD_IDS {
        last.saturating_sub(back)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_numbers_come_back_from_user_define() {
        assert_eq!(&user_define(1), b"00000001");
        assert_eq!(&user_define(61), b"0000000z");
        for number in [0, 62, 3_843, 1_234_567_890, 62_u64.pow(8) - 1] {
            assert_eq!(tmp_order_number(user_define(number)), Some(number));
        }
        assert_eq!(tmp_order_number(*b"        "), None);
    }

    #[test]
    fn an_ord_id_is_of_the_greatest_number_with_it() {
        assert_eq!(greatest(25, 7), 7);
        assert_eq!(greatest(10_000_025, 7), 10_000_007);
        assert_eq!(greatest(10_000_025, 30), 30);
        assert_eq!(greatest(25, 30), 0, "no number has it");
        assert_eq!(greatest(25, 10_000_007), 0);
        assert_eq!(ord_id(10_000_007), 7);
    }
}
