//! ClOrdIDs(11) at venues.

use crate::values::value::Number;

/// A ClOrdID(11) that the OMS uses at venues. Order 17 has `17`. `17-25` is the id of request 25 for order 17, or of
/// order 17 itself when it was sent again under number 25.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct VenueId {
    /// The number of the order; 0 when the id is not one of the OMS.
    pub order: Number,
    /// The number of the request; for a new order the number of the order.
    pub request: Number,
}

impl VenueId {
    /// Reads a ClOrdID(11) of the OMS; `None` for other ids.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let Leading {
            number: order,
            rest,
        } = Leading::of(text)?;
        let request = match rest {
            [] => order,
            [b'-', rest @ ..] => {
                let last = Leading::of(rest)?;
                last.rest.is_empty().then_some(last.number)?
            }
            _ => return None,
        };
        Some(Self { order, request })
    }
}

/// The number with which a text begins, and what follows it.
struct Leading<'a> {
    number: Number,
    rest: &'a [u8],
}

impl<'a> Leading<'a> {
    /// `None` if the text does not begin with a digit, or the number is too large.
    #[inline(always)]
    fn of(text: &'a [u8]) -> Option<Self> {
        let mut rest = text;
        let mut number: Number = 0;
        while let [byte @ b'0'..=b'9', after @ ..] = rest {
            let digit = Number::from(byte - b'0');
            number = number.checked_mul(10)?.checked_add(digit)?;
            rest = after;
        }
        (rest.len() < text.len()).then_some(Self { number, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_number_or_two() {
        let id = |order, request| Some(VenueId { order, request });
        for (text, wanted) in [
            ("17", id(17, 17)),
            ("17-25", id(17, 25)),
            ("0-007", id(0, 7)),
            ("18446744073709551615", id(u64::MAX, u64::MAX)),
            ("18446744073709551616", None),
            ("17-18446744073709551616", None),
            ("", None),
            ("-", None),
            ("-5", None),
            ("5-", None),
            ("5-6-7", None),
            ("5 ", None),
            ("+5", None),
            ("5x6", None),
        ] {
            assert_eq!(VenueId::parse(text.as_bytes()), wanted, "{text}");
        }
    }
}
