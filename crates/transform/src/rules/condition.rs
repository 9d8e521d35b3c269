//! Evaluates a condition for a message.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::Cell;
use core::cmp::Ordering;

use fixwire_protocol::{Decimal, Now, SOH, Tag, time, value};
use regex_automata::Input;
use regex_automata::dfa::{Automaton, dense};

use super::change::ActionFailure;
use super::fields::{FieldLevel, FieldRef, FieldSequence, View, entry_end};
use super::script::Script;
use super::syntax::Op;
use super::table::Table;

/// Facts that rules may read besides the message.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'f> {
    /// The time: UTC for `today`, the monotonic count for `throttle`.
    pub now: Now,
    /// Whether each session is logged on, in the order of the [`Context`](super::RuleContext); those beyond
    /// the end are not.
    pub active: &'f [bool],
    /// The values remembered for the order that the message answers, each as `tag=value` and SOH.
    pub remembered: &'f [u8],
}

impl<'f> Facts<'f> {
    /// The remembered value of a field.
    pub(super) fn recalled(&self, tag: Tag) -> Option<&'f [u8]> {
        let mut digits = itoa::Buffer::new();
        let tag = digits.format(tag).as_bytes();
        let mut fields = self.remembered.split(|byte| *byte == SOH);
        let value = fields.find_map(|field| field.strip_prefix(tag)?.strip_prefix(b"="));
        value.filter(|value| !value.is_empty())
    }
}

/// A condition, with all names resolved.
#[derive(Clone, Debug)]
pub(super) enum Test {
    And(Vec<Test>),
    Or(Vec<Test>),
    Not(Box<Test>),
    Bytes(FieldRef, Op, Vec<u8>),
    Number(FieldRef, Op, Decimal),
    /// Sorted.
    OneOf(FieldRef, Vec<Vec<u8>>),
    /// Sorted.
    OneNumber(FieldRef, Vec<Decimal>),
    /// Table and column.
    Listed(FieldRef, usize, usize),
    Like(FieldRef, Vec<u8>),
    Begins(FieldRef, Vec<u8>),
    Contains(FieldRef, Vec<u8>),
    Matches(FieldRef, Box<Pattern>),
    Length(FieldRef, Op, u32),
    Bits(FieldRef, u64),
    Today(FieldRef),
    Has(FieldRef),
    AnyEntry(FieldRef, Box<Test>),
    AllEntries(FieldRef, Box<Test>),
    Active(usize),
    /// For each session, whether the test is true for it as the source.
    Source(Vec<bool>),
    /// For each session, whether the test is true for it as a target that the message did not reach.
    Target(Vec<bool>),
    /// The whole message, as received.
    Message(Box<Pattern>),
    Script(Box<Script>),
}

/// A regular expression as a table made at load: a search allocates nothing and takes one step per byte.
pub(super) type Pattern = dense::DFA<Vec<u32>>;

/// The data that a test reads, besides fields.
#[derive(Clone, Copy)]
pub(super) struct World<'w> {
    pub tables: &'w [Table],
    pub source: usize,
    /// The target sessions that the message did not reach.
    pub missed: &'w [usize],
    /// The name of the source.
    #[cfg_attr(
        not(feature = "scripts"),
        expect(dead_code, reason = "only scripts read it")
    )]
    pub name: &'w str,
    /// The message as received.
    pub bytes: &'w [u8],
    /// Why a condition could not be evaluated.
    pub failed: &'w Cell<Option<ActionFailure>>,
    pub facts: &'w Facts<'w>,
}

impl Test {
    /// Whether the condition holds. Calls itself as deep as the condition nests, which the parser limits.
    pub fn holds<F: FieldSequence>(
        &self,
        view: &View<'_, F>,
        level: Option<&FieldLevel<'_>>,
        world: &World<'_>,
    ) -> bool {
        let value = |field| view.value(level, field);
        match self {
            Self::And(all) => all.iter().all(|test| test.holds(view, level, world)),
            Self::Or(any) => any.iter().any(|test| test.holds(view, level, world)),
            Self::Not(test) => !test.holds(view, level, world),
            Self::Bytes(field, op, wanted) => {
                value(field).is_some_and(|value| op.fits(value.cmp(wanted)))
            }
            Self::Number(field, op, wanted) => value(field).is_some_and(|value| {
                match Decimal::parse(value) {
                    Ok(number) => op.fits(number.cmp(wanted)),
                    // What is no number is not the same as one, and neither more nor less.
                    Err(_) => *op == Op::NotEqual,
                }
            }),
            Self::OneOf(field, wanted) => value(field).is_some_and(|value| {
                wanted
                    .binary_search_by(|one| one.as_slice().cmp(value))
                    .is_ok()
            }),
            Self::OneNumber(field, wanted) => value(field).is_some_and(|value| {
                Decimal::parse(value).is_ok_and(|number| wanted.binary_search(&number).is_ok())
            }),
            Self::Listed(field, table, column) => value(field).is_some_and(|value| {
                let table = world.tables.get(*table);
                table.is_some_and(|table| table.has(*column, value))
            }),
            Self::Like(field, wanted) => value(field).is_some_and(|value| like(value, wanted)),
            Self::Begins(field, wanted) => {
                value(field).is_some_and(|value| value.starts_with(wanted))
            }
            Self::Contains(field, wanted) => value(field)
                .is_some_and(|value| value.windows(wanted.len()).any(|part| part == wanted)),
            Self::Matches(field, pattern) => {
                value(field).is_some_and(|value| is_found(pattern, value))
            }
            Self::Message(pattern) => is_found(pattern, world.bytes),
            Self::Length(field, op, wanted) => {
                value(field).is_some_and(|value| op.fits(value.len().cmp(&(*wanted as usize))))
            }
            Self::Bits(field, bits) => value(field)
                .is_some_and(|value| value::uint(value).is_ok_and(|number| number & bits != 0)),
            Self::Today(field) => value(field).is_some_and(|value| is_today(value, world.facts)),
            Self::Has(field) => value(field).is_some(),
            Self::AnyEntry(count, test) => entries(view, level, count, |entry| {
                test.holds(view, Some(entry), world)
            }),
            Self::AllEntries(count, test) => !entries(view, level, count, |entry| {
                !test.holds(view, Some(entry), world)
            }),
            Self::Active(session) => world.facts.active.get(*session).copied().unwrap_or(false),
            Self::Source(sessions) => sessions.get(world.source).copied().unwrap_or(false),
            Self::Target(sessions) => {
                let meant = |at: &usize| sessions.get(*at).copied().unwrap_or(false);
                world.missed.iter().any(meant)
            }
            Self::Script(script) => script.holds(view, level, world).unwrap_or_else(|failure| {
                world.failed.set(Some(failure));
                false
            }),
        }
    }
}

fn is_found(pattern: &Pattern, text: &[u8]) -> bool {
    let input = Input::new(text).earliest(true);
    matches!(pattern.try_search_fwd(&input), Ok(Some(_)))
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

/// Whether an entry of a group fulfils the condition.
pub(super) fn entries<F: FieldSequence>(
    view: &View<'_, F>,
    level: Option<&FieldLevel<'_>>,
    count: &FieldRef,
    mut asked: impl FnMut(&FieldLevel<'_>) -> bool,
) -> bool {
    let Some((at, def)) = view.group(level, count.tag) else {
        return false;
    };
    // Of the entry that the group stands in, which may be one further out, or none.
    let mut around = level;
    while let Some(entry) = around
        && !(entry.start..entry.end).contains(&at)
    {
        around = entry.outer;
    }
    let limit = around.map_or(view.fields.count(), |entry| entry.end);
    let mut start = at + 1;
    while let Some(end) = entry_end(view.fields, start, limit, def) {
        let entry = FieldLevel {
            start,
            end,
            def,
            outer: level,
        };
        if asked(&entry) {
            return true;
        }
        start = end;
    }
    false
}

/// Whether a value matches a pattern of bytes, `*` for any text and `?` for one byte. The number of steps is at
/// most the product of both lengths.
pub(super) fn like(value: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut next) = (0, 0);
    // Behind the last `*`: where the pattern goes on, and which text that `*` has taken.
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

/// Whether a date, or the date of a timestamp, is the present date in UTC.
fn is_today(value: &[u8], facts: &Facts<'_>) -> bool {
    const NANOS_PER_DAY: i64 = 86_400 * 1_000_000_000;
    let Some((date, rest)) = value.split_at_checked(8) else {
        return false;
    };
    if !rest.is_empty() && rest[0] != b'-' {
        return false;
    }
    let today = facts.now.wall.0.div_euclid(NANOS_PER_DAY);
    time::parse_date(date).is_ok_and(|day| i64::from(day) == today)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The obvious way.
    fn slow_like(value: &[u8], pattern: &[u8]) -> bool {
        match pattern.split_first() {
            None => value.is_empty(),
            Some((b'*', rest)) => (0..=value.len()).any(|skip| slow_like(&value[skip..], rest)),
            Some((b'?', rest)) => !value.is_empty() && slow_like(&value[1..], rest),
            Some((byte, rest)) => value.first() == Some(byte) && slow_like(&value[1..], rest),
        }
    }

    proptest! {
        #[test]
        fn stars_take_any_text(value in "[ab]{0,8}", pattern in "[ab*?]{0,8}") {
            let (value, pattern) = (value.as_bytes(), pattern.as_bytes());
            prop_assert_eq!(like(value, pattern), slow_like(value, pattern));
        }
    }
}
