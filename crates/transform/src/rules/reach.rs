//! Finds out which messages can reach a rule.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cmp::Ordering;

use fixwire_protocol::{Decimal, Tag, tag};

use super::condition::Test;
use crate::value_test::{Op, ValueTest};

/// A description of the messages for which all tests added so far can be true.
pub(super) struct Narrow {
    fields: BTreeMap<Tag, Limits>,
    sessions: Vec<bool>,
}

/// The values that a field may still have.
#[derive(Default)]
struct Limits {
    /// Whether the field must be present, and whether it must be absent.
    present: bool,
    absent: bool,
    /// The texts that the field may have, if limited.
    bytes: Option<Vec<Vec<u8>>>,
    not_bytes: Vec<Vec<u8>>,
    /// The numbers that the field may have, if limited.
    numbers: Option<Vec<Decimal>>,
    not_numbers: Vec<Decimal>,
    /// The lower and upper bound, each with whether the bound itself is allowed.
    least: Option<(Decimal, bool)>,
    most: Option<(Decimal, bool)>,
}

impl Narrow {
    /// Starts with all messages from these sessions.
    pub fn new(sessions: &[bool]) -> Self {
        Self {
            fields: BTreeMap::new(),
            sessions: sessions.into(),
        }
    }

    /// Adds a test.
    ///
    /// # Errors
    ///
    /// The field whose tests contradict each other; `None` when no session is left.
    pub fn by(&mut self, test: &Test) -> Result<(), Option<Tag>> {
        match test {
            Test::Source(meant) => {
                for (session, meant) in self.sessions.iter_mut().zip(meant) {
                    *session &= meant;
                }
                match self.sessions.contains(&true) {
                    true => Ok(()),
                    false => Err(None),
                }
            }
            Test::Not(inner) => match &**inner {
                Test::Value(field, ValueTest::Present) => {
                    self.limit(field.tag, |limits| limits.absent = true)
                }
                _ => Ok(()),
            },
            Test::Value(field, test) => self.limit(field.tag, |limits| limits.by(test)),
            Test::Listed(field, ..) | Test::Today(field) | Test::AnyEntry(field, _) => {
                self.limit(field.tag, |limits| limits.present = true)
            }
            Test::And(_)
            | Test::Or(_)
            | Test::AllEntries(..)
            | Test::Active(_)
            | Test::Time(..)
            | Test::Target(_)
            | Test::Message(_)
            | Test::Script(_) => Ok(()),
        }
    }

    fn limit(&mut self, tag: Tag, add: impl FnOnce(&mut Limits)) -> Result<(), Option<Tag>> {
        let limits = self.fields.entry(tag).or_default();
        add(limits);
        match limits.possible() {
            true => Ok(()),
            false => Err(Some(tag)),
        }
    }
}

/// Keeps only the values that are in `values` too.
fn keep<T: Clone + PartialEq>(kept: &mut Option<Vec<T>>, values: &[T]) {
    match kept {
        Some(kept) => kept.retain(|one| values.contains(one)),
        None => *kept = Some(values.into()),
    }
}

impl Limits {
    fn by(&mut self, test: &ValueTest) {
        self.present = true;
        match test {
            ValueTest::Bytes(Op::Equal, value) => {
                keep(&mut self.bytes, core::slice::from_ref(value));
            }
            ValueTest::Bytes(Op::NotEqual, value) => self.not_bytes.push(value.clone()),
            ValueTest::OneOf(values) => keep(&mut self.bytes, values),
            ValueTest::OneNumber(values) => keep(&mut self.numbers, values),
            ValueTest::Number(op, value) => self.number(*op, *value),
            _ => {}
        }
    }

    fn number(&mut self, op: Op, value: Decimal) {
        let higher = |(one, inclusive): (Decimal, bool)| match one.cmp(&value) {
            Ordering::Equal => (one, inclusive && op == Op::AtLeast),
            Ordering::Greater => (one, inclusive),
            Ordering::Less => (value, op == Op::AtLeast),
        };
        let lower = |(one, inclusive): (Decimal, bool)| match one.cmp(&value) {
            Ordering::Equal => (one, inclusive && op == Op::AtMost),
            Ordering::Less => (one, inclusive),
            Ordering::Greater => (value, op == Op::AtMost),
        };
        match op {
            Op::Equal => keep(&mut self.numbers, &[value]),
            Op::NotEqual => self.not_numbers.push(value),
            Op::Greater | Op::AtLeast => {
                self.least = Some(self.least.map_or((value, op == Op::AtLeast), higher));
            }
            Op::Less | Op::AtMost => {
                self.most = Some(self.most.map_or((value, op == Op::AtMost), lower));
            }
        }
    }

    fn possible(&self) -> bool {
        if self.present && self.absent {
            return false;
        }
        if let Some(bytes) = &self.bytes
            && bytes.iter().all(|value| self.not_bytes.contains(value))
        {
            return false;
        }
        let in_range = |value: &Decimal| {
            let above = |(least, inclusive): &(Decimal, bool)| {
                value > least || (value == least && *inclusive)
            };
            let below =
                |(most, inclusive): &(Decimal, bool)| value < most || (value == most && *inclusive);
            self.least.as_ref().is_none_or(above) && self.most.as_ref().is_none_or(below)
        };
        if let Some(numbers) = &self.numbers {
            let fits = |value: &Decimal| in_range(value) && !self.not_numbers.contains(value);
            return numbers.iter().any(fits);
        }
        match (&self.least, &self.most) {
            (Some((least, at_least)), Some((most, at_most))) => {
                least < most || (least == most && *at_least && *at_most)
            }
            _ => true,
        }
    }
}

/// The message types for which a test can be true, sorted; `None` for all types.
pub(super) fn types(test: &Test) -> Option<Vec<Vec<u8>>> {
    match test {
        Test::Value(field, ValueTest::Bytes(Op::Equal, value)) if field.tag == tag::MSG_TYPE => {
            Some(alloc::vec![value.clone()])
        }
        Test::Value(field, ValueTest::OneOf(values)) if field.tag == tag::MSG_TYPE => {
            let mut values = values.clone();
            values.dedup();
            Some(values)
        }
        Test::And(tests) => {
            let mut left: Option<Vec<Vec<u8>>> = None;
            for types in tests.iter().filter_map(types) {
                keep(&mut left, &types);
            }
            left
        }
        Test::Or(tests) => {
            let all: Option<Vec<Vec<Vec<u8>>>> = tests.iter().map(types).collect();
            let mut all: Vec<Vec<u8>> = all?.into_iter().flatten().collect();
            all.sort_unstable();
            all.dedup();
            Some(all)
        }
        _ => None,
    }
}

/// Whether a test requires this message type, with or without other conditions.
pub(super) fn names_type(test: &Test, msg_type: &[u8]) -> bool {
    match test {
        Test::Value(field, test) if field.tag == tag::MSG_TYPE => match test {
            ValueTest::Bytes(Op::Equal, value) => value == msg_type,
            ValueTest::OneOf(values) => values.iter().any(|value| value == msg_type),
            _ => false,
        },
        Test::And(tests) | Test::Or(tests) => tests.iter().any(|test| names_type(test, msg_type)),
        _ => false,
    }
}

/// Whether the test depends only on the message type.
pub(super) fn only_types(test: &Test) -> bool {
    match test {
        Test::Value(field, ValueTest::Bytes(Op::Equal, _) | ValueTest::OneOf(_)) => {
            field.tag == tag::MSG_TYPE
        }
        Test::And(tests) | Test::Or(tests) => tests.iter().all(only_types),
        _ => false,
    }
}

/// The messages that earlier rules decide, so that they do not reach a later rule.
pub(super) struct Taken {
    /// For each session, the rule that decides all messages of the session.
    all: Vec<Option<usize>>,
    /// For each session, the message types that are decided, and the rule that decides each type.
    types: Vec<BTreeMap<Vec<u8>, usize>>,
}

impl Taken {
    pub fn new(sessions: usize) -> Self {
        Self {
            all: alloc::vec![None; sessions],
            types: alloc::vec![BTreeMap::new(); sessions],
        }
    }

    /// Records that a rule decides all messages of these sessions, or their messages of these types.
    pub fn take(&mut self, rule: usize, sessions: &[bool], types: Option<&[Vec<u8>]>) {
        for (session, _) in sessions.iter().enumerate().filter(|(_, meant)| **meant) {
            match types {
                None => {
                    self.all[session].get_or_insert(rule);
                }
                Some(types) => {
                    for one in types {
                        self.types[session].entry(one.clone()).or_insert(rule);
                    }
                }
            }
        }
    }

    /// The earlier rule that decides all messages of these sessions and types; `None` if some of these messages can
    /// reach a later rule.
    pub fn by(&self, sessions: &[bool], types: Option<&[Vec<u8>]>) -> Option<usize> {
        let mut takers = BTreeSet::new();
        for (session, _) in sessions.iter().enumerate().filter(|(_, meant)| **meant) {
            if let Some(rule) = self.all[session] {
                takers.insert(rule);
                continue;
            }
            for one in types? {
                takers.insert(*self.types[session].get(one)?);
            }
        }
        takers.into_iter().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::fields::FieldRef;

    fn number(op: Op, value: i64) -> Test {
        let field = FieldRef::new(38, Vec::new().into());
        Test::Value(field, ValueTest::Number(op, Decimal::from_int(value)))
    }

    fn possible(tests: &[Test]) -> bool {
        let mut narrow = Narrow::new(&[true]);
        tests.iter().all(|test| narrow.by(test).is_ok())
    }

    #[test]
    fn numbers_between_two_limits() {
        let cases = [
            (Op::Greater, 5, Op::Less, 6, true),
            (Op::Greater, 5, Op::Less, 5, false),
            (Op::AtLeast, 5, Op::AtMost, 5, true),
            (Op::AtLeast, 5, Op::Less, 5, false),
            (Op::Equal, 5, Op::Greater, 5, false),
            (Op::Equal, 5, Op::NotEqual, 5, false),
            (Op::Equal, 5, Op::NotEqual, 6, true),
            (Op::NotEqual, 5, Op::AtMost, 5, true),
        ];
        for (one, low, other, high, wanted) in cases {
            let tests = [number(one, low), number(other, high)];
            assert_eq!(possible(&tests), wanted, "{tests:?}");
        }
        let tests = [
            number(Op::AtLeast, 5),
            number(Op::Greater, 5),
            number(Op::Greater, 3),
            number(Op::AtMost, 5),
        ];
        assert!(!possible(&tests));
    }

    #[test]
    fn types_are_those_of_all_branches() {
        let of = |value: &str| {
            let field = FieldRef::new(35, Vec::new().into());
            Test::Value(field, ValueTest::Bytes(Op::Equal, value.into()))
        };
        let or = Test::Or(alloc::vec![of("D"), of("8"), of("D")]);
        assert_eq!(types(&or), Some(alloc::vec![b"8".to_vec(), b"D".to_vec()]));
        assert!(only_types(&or));
        let and = Test::And(alloc::vec![or.clone(), of("D"), number(Op::Less, 3)]);
        assert_eq!(types(&and), Some(alloc::vec![b"D".to_vec()]));
        assert!(!only_types(&and));
        assert_eq!(types(&Test::Or(alloc::vec![or, number(Op::Less, 3)])), None);
    }
}
