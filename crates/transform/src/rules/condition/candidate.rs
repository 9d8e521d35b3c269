//! [`Candidate`]: a rule that may apply to a message, with what is left to test once the session and MsgType(35) of the
//! message are known.

use fixwire_protocol::{Message, Tag, tag};

use super::Test;

/// A rule that may apply to the messages of one session, or to its messages of one type.
#[derive(Clone, Copy, Debug)]
pub(in crate::rules) struct Candidate {
    /// The number of the rule.
    pub(in crate::rules) rule: u32,
    /// Index of the part of the condition that is tested first: a test of one field outside of groups.
    first: Option<u32>,
    /// Whether other parts of the condition are left.
    has_rest: bool,
}

/// The last field that a [`Candidate`] has read in a message. Neighbouring rules often test the same field.
pub(in crate::rules) struct LastRead<'m> {
    message: &'m Message<'m>,
    last: Option<(Tag, Option<&'m [u8]>)>,
}

impl<'m> LastRead<'m> {
    pub(in crate::rules) fn new(message: &'m Message<'m>) -> Self {
        Self {
            message,
            last: None,
        }
    }

    #[inline]
    fn value(&mut self, tag: Tag) -> Option<&'m [u8]> {
        match self.last {
            Some((known, value)) if known == tag => value,
            _ => {
                let value = self.message.get(tag);
                self.last = Some((tag, value));
                value
            }
        }
    }
}

impl Candidate {
    /// The rule with this number and condition, for messages from session `source`: for those of one type, or for
    /// all.
    pub(in crate::rules) fn new(
        rule: u32,
        test: Option<&Test>,
        source: usize,
        msg_type: Option<&[u8]>,
    ) -> Self {
        let parts = test.map_or(&[][..], Test::parts);
        let is_open = |part: &Test| part.known(source, msg_type) != Some(true);
        // A script reports its faults, so no test may come before it that did not before.
        let before_scripts = parts.iter().take_while(|part| !part.has_script());
        let mut numbered = (0..).zip(before_scripts);
        let first = numbered.find(|(_, part)| is_open(part) && part.reads_one(msg_type));
        let first = first.map(|(at, _)| at);
        let mut others = (0..)
            .zip(parts)
            .filter(|(at, part)| Some(*at) != first && is_open(part));
        Self {
            rule,
            first,
            has_rest: others.next().is_some(),
        }
    }

    /// Whether the condition may be true, as far as its first part tells.
    #[inline]
    pub(in crate::rules) fn may_hold(&self, test: Option<&Test>, read: &mut LastRead<'_>) -> bool {
        let Some(first) = self.first else { return true };
        let part = test.and_then(|test| test.parts().get(first as usize));
        match part {
            Some(Test::Value(field, test)) => test.holds(read.value(field.tag)),
            _ => true,
        }
    }

    /// Whether the condition must be evaluated although its first part is true.
    #[inline]
    pub(in crate::rules) fn has_rest(&self) -> bool {
        self.has_rest
    }
}

impl Test {
    /// The parts that must all be true.
    #[inline]
    fn parts(&self) -> &[Self] {
        match self {
            Self::And(parts) => parts,
            one => core::slice::from_ref(one),
        }
    }

    /// Whether the test is true for every message of this session and type, or for none; `None` when it depends on
    /// more.
    fn known(&self, source: usize, msg_type: Option<&[u8]>) -> Option<bool> {
        let known = |test: &Self| test.known(source, msg_type);
        match self {
            Self::And(tests) => tests
                .iter()
                .map(known)
                .try_fold(true, |all, one| Some(all & one?)),
            Self::Or(tests) => tests
                .iter()
                .map(known)
                .try_fold(false, |any, one| Some(any | one?)),
            Self::Not(test) => known(test).map(|holds| !holds),
            Self::Value(field, test) if field.tag == tag::MSG_TYPE => {
                msg_type.map(|msg_type| test.holds(Some(msg_type)))
            }
            Self::Source(sessions) => Some(sessions.get(source).copied().unwrap_or(false)),
            Self::Value(..)
            | Self::Listed(..)
            | Self::Today(_)
            | Self::Time(..)
            | Self::AnyEntry(..)
            | Self::AllEntries(..)
            | Self::Active(_)
            | Self::Target(_)
            | Self::Message(_)
            | Self::Script(_) => None,
        }
    }

    fn has_script(&self) -> bool {
        let mut found = false;
        self.each(&mut |test| found |= matches!(test, Self::Script(_)));
        found
    }

    /// Whether the test reads the first field with a tag, wherever it stands in a message of this type.
    fn reads_one(&self, msg_type: Option<&[u8]>) -> bool {
        let Self::Value(field, _) = self else {
            return false;
        };
        let is_in_groups = match msg_type {
            Some(msg_type) => field.grouped_in.iter().any(|known| known == msg_type),
            None => !field.grouped_in.is_empty(),
        };
        field.tag != tag::MSG_TYPE && (field.of_session || !is_in_groups)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::rules::fields::FieldRef;
    use crate::value_test::{Op, ValueTest};

    fn equal(tag: Tag, value: &str, grouped_in: &[&[u8]]) -> Test {
        let grouped_in: Vec<Vec<u8>> = grouped_in.iter().map(|one| one.to_vec()).collect();
        let field = FieldRef::new(tag, grouped_in.into());
        Test::Value(field, ValueTest::Bytes(Op::Equal, value.into()))
    }

    /// The first part, and whether others are left, for a condition of these parts.
    fn split(parts: &[Test], msg_type: Option<&[u8]>) -> (Option<u32>, bool) {
        let test = Test::And(parts.to_vec());
        let made = Candidate::new(7, Some(&test), 1, msg_type);
        (made.first, made.has_rest)
    }

    #[test]
    fn what_session_and_type_decide_is_not_tested_again() {
        let order = equal(tag::MSG_TYPE, "D", &[]);
        let source = Test::Source(alloc::vec![false, true]);
        let symbol = || equal(tag::SYMBOL, "V", &[b"E"]);
        let time = Test::Time(Op::Less, 1);
        let one = alloc::vec![order.clone(), source.clone(), symbol()];
        assert_eq!(split(&one, Some(b"D")), (Some(2), false));
        // In other types the symbol stands in groups, and without a type nothing is known about it.
        assert_eq!(split(&one, Some(b"E")), (None, true));
        assert_eq!(split(&one, None), (None, true));
        assert_eq!(split(&[order.clone(), source], Some(b"D")), (None, false));
        let more = alloc::vec![time, symbol(), symbol()];
        assert_eq!(split(&more, Some(b"D")), (Some(1), true));
        let either = Test::Or(alloc::vec![order, equal(tag::MSG_TYPE, "F", &[])]);
        assert_eq!(
            split(core::slice::from_ref(&either), Some(b"F")),
            (None, false)
        );
        let neither = Test::Not(either.into());
        assert_eq!(split(&[neither], Some(b"F")), (None, true));
        assert_eq!(Candidate::new(7, None, 1, None).first, None);
    }
}
