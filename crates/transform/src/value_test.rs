//! [`ValueTest`]: a test of one field's value, for the conditions of rules and of conversion tables.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cmp::Ordering;

use fixwire_protocol::{Decimal, value};
use regex_automata::Input;
use regex_automata::dfa::{Automaton, dense};

/// A regular expression as a table made at load: a search allocates nothing and takes one step per byte.
pub(crate) type Pattern = dense::DFA<Vec<u32>>;

/// `= != < <= > >=`
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Op {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Op {
    /// Whether the operator holds for this ordering of the two values.
    pub fn fits(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}

/// A test of a field's value. For an absent field all tests except `Absent` and `Zero` are false.
#[derive(Clone, Debug)]
pub(crate) enum ValueTest {
    Present,
    Bytes(Op, Vec<u8>),
    Number(Op, Decimal),
    /// Sorted.
    OneOf(Vec<Vec<u8>>),
    /// Sorted.
    OneNumber(Vec<Decimal>),
    Like(Vec<u8>),
    Begins(Vec<u8>),
    Contains(Vec<u8>),
    /// A word of a multiple-value field.
    Word(Vec<u8>),
    Matches(Box<Pattern>),
    Length(Op, u32),
    Bits(u64),
    Absent,
    /// The field is zero, or absent.
    Zero,
}

impl ValueTest {
    /// Whether an absent field fails the test.
    pub fn needs_field(&self) -> bool {
        !matches!(self, Self::Absent | Self::Zero)
    }

    /// Whether the test holds for a field with this value, or for an absent field.
    #[inline]
    pub fn holds(&self, value: Option<&[u8]>) -> bool {
        let Some(value) = value else {
            return !self.needs_field();
        };
        match self {
            Self::Present => true,
            Self::Absent => false,
            Self::Bytes(Op::Equal, wanted) => value == wanted,
            Self::Bytes(op, wanted) => op.fits(value.cmp(wanted)),
            Self::Number(op, wanted) => match Decimal::compare(value, *wanted) {
                Ok(order) => op.fits(order),
                // A value that is not a number differs from every number, and is neither greater nor less.
                Err(_) => *op == Op::NotEqual,
            },
            Self::OneOf(wanted) => wanted
                .binary_search_by(|one| one.as_slice().cmp(value))
                .is_ok(),
            Self::OneNumber(wanted) => match Decimal::parse(value) {
                Ok(number) => wanted.binary_search(&number).is_ok(),
                Err(_) => {
                    let is_equal = |one: &Decimal| Decimal::compare(value, *one);
                    wanted
                        .iter()
                        .any(|one| is_equal(one) == Ok(Ordering::Equal))
                }
            },
            Self::Like(wanted) => like(value, wanted),
            Self::Begins(wanted) => value.starts_with(wanted),
            Self::Contains(wanted) => value.windows(wanted.len()).any(|part| part == wanted),
            Self::Word(wanted) => value.split(|&byte| byte == b' ').any(|word| word == wanted),
            Self::Matches(pattern) => is_found(pattern, value),
            Self::Length(op, wanted) => op.fits(value.len().cmp(&(*wanted as usize))),
            Self::Bits(bits) => value::uint(value).is_ok_and(|number| number & bits != 0),
            Self::Zero => value.iter().all(|byte| matches!(byte, b'0' | b'.' | b'-')),
        }
    }
}

/// Whether a pattern is found in a text.
pub(crate) fn is_found(pattern: &Pattern, text: &[u8]) -> bool {
    let input = Input::new(text).earliest(true);
    matches!(pattern.try_search_fwd(&input), Ok(Some(_)))
}

/// Whether a value matches a pattern of bytes, `*` for any text and `?` for one byte. The number of steps is at
/// most the product of both lengths.
pub(crate) fn like(value: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    // After the last `*`: the next position in the pattern, and the end of the text that this `*` has matched so far.
    let mut star: Option<(usize, usize)> = None;
    while at < value.len() {
        match pattern.get(next) {
            Some(b'*') => {
                next += 1;
                star = Some((next, at));
            }
            Some(&byte) if byte == b'?' || byte == value[at] => {
                at += 1;
                next += 1;
            }
            _ => match &mut star {
                Some((behind, taken)) => {
                    *taken += 1;
                    at = *taken;
                    next = *behind;
                }
                None => return false,
            },
        }
    }
    pattern[next..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;

    /// A simple implementation to compare with.
    fn slow_like(value: &[u8], pattern: &[u8]) -> bool {
        match pattern.split_first() {
            None => value.is_empty(),
            Some((b'*', rest)) => (0..=value.len()).any(|skip| slow_like(&value[skip..], rest)),
            Some((b'?', rest)) => !value.is_empty() && slow_like(&value[1..], rest),
            Some((byte, rest)) => value.first() == Some(byte) && slow_like(&value[1..], rest),
        }
    }

    #[test]
    fn numbers_of_any_length_are_compared() {
        let limit = Decimal::from_int(10_000);
        let long = [
            "9223372036854775808",
            "10000000000000000000",
            "20000000000000.000001",
            "922337203685.4775808",
            "10001.000000000000000",
        ];
        for value in long {
            let holds = |op| ValueTest::Number(op, limit).holds(Some(value.as_bytes()));
            assert!(
                holds(Op::Greater) && holds(Op::AtLeast) && holds(Op::NotEqual),
                "{value}"
            );
            assert!(
                !holds(Op::Less) && !holds(Op::AtMost) && !holds(Op::Equal),
                "{value}"
            );
            let below = format!("-{value}");
            assert!(
                ValueTest::Number(Op::Less, limit).holds(Some(below.as_bytes())),
                "{below}"
            );
        }
        let equal = Some(&b"10000.00000000000000000000"[..]);
        assert!(ValueTest::Number(Op::Equal, limit).holds(equal));
        let some = ValueTest::OneNumber([5, 10_000].map(Decimal::from_int).into());
        assert!(some.holds(equal));
        assert!(!some.holds(Some(b"10000.00000000000000000001")));
    }

    proptest! {
        #[test]
        fn stars_take_any_text(value in "[ab]{0,8}", pattern in "[ab*?]{0,8}") {
            let (value, pattern) = (value.as_bytes(), pattern.as_bytes());
            prop_assert_eq!(like(value, pattern), slow_like(value, pattern));
        }
    }
}
