//! Evaluates a condition for a message.

mod candidate;
mod message;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::Cell;

use fixwire_protocol::{Now, SOH, Tag, time};

use super::fields::{FieldLevel, FieldRef, FieldSequence, View, entry_end};
use super::script::Script;
use super::table::Table;
use crate::TransformFailure;
use crate::value_test::{Op, Pattern, ValueTest, is_found};
pub(super) use candidate::{Candidate, LastRead};
pub use message::MessageCondition;

const NANOS_PER_DAY: i64 = 86_400 * 1_000_000_000;

/// Facts that rules may read besides the message.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'f> {
    /// The time: UTC for `today`, the monotonic count for `throttle`.
    pub now: Now,
    /// For each session, whether it is logged on, in the order of the [`Context`](super::RuleContext). Sessions after
    /// the end of this list count as not logged on.
    pub active: &'f [bool],
    /// The values remembered for the order that the message responds to, each as `tag=value` and SOH.
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
    Value(FieldRef, ValueTest),
    /// Table and column.
    Listed(FieldRef, usize, usize),
    Today(FieldRef),
    /// Compares the time of day in UTC, nanoseconds after midnight.
    Time(Op, u64),
    AnyEntry(FieldRef, Box<Test>),
    AllEntries(FieldRef, Box<Test>),
    Active(usize),
    /// For each session, whether the test is true when the message comes from this session.
    Source(Vec<bool>),
    /// For each session, whether the test is true when the message failed to reach this session as a target.
    Target(Vec<bool>),
    /// Matches the whole message, as received.
    Message(Box<Pattern>),
    Script(Box<Script>),
}

/// What a test reads besides fields.
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
    /// Why a condition could not be evaluated, if so.
    pub failed: &'w Cell<Option<TransformFailure>>,
    pub facts: &'w Facts<'w>,
}

impl Test {
    /// Whether the condition is true. Recursion is as deep as the condition nests; the parser limits the depth.
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
            Self::Value(field, test) => test.holds(value(field)),
            Self::Listed(field, table, column) => value(field).is_some_and(|value| {
                let table = world.tables.get(*table);
                table.is_some_and(|table| table.has(*column, value))
            }),
            Self::Message(pattern) => is_found(pattern, world.bytes),
            Self::Today(field) => value(field).is_some_and(|value| is_today(value, world.facts)),
            Self::Time(op, wanted) => {
                let time = world.facts.now.wall.0.rem_euclid(NANOS_PER_DAY);
                op.fits(time.cmp(&wanted.cast_signed()))
            }
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

    /// Calls `shown` with this test and with every test inside it.
    pub fn each<'t>(&'t self, shown: &mut dyn FnMut(&'t Self)) {
        shown(self);
        match self {
            Self::And(tests) | Self::Or(tests) => tests.iter().for_each(|test| test.each(shown)),
            Self::Not(test) | Self::AnyEntry(_, test) | Self::AllEntries(_, test) => {
                test.each(shown);
            }
            Self::Value(..)
            | Self::Listed(..)
            | Self::Today(_)
            | Self::Time(..)
            | Self::Active(_)
            | Self::Source(_)
            | Self::Target(_)
            | Self::Message(_)
            | Self::Script(_) => {}
        }
    }

    /// The field that the test reads, without the fields of tests inside it.
    pub fn field(&self) -> Option<&FieldRef> {
        match self {
            Self::Value(field, _)
            | Self::Listed(field, ..)
            | Self::Today(field)
            | Self::AnyEntry(field, _)
            | Self::AllEntries(field, _) => Some(field),
            Self::And(_)
            | Self::Or(_)
            | Self::Not(_)
            | Self::Time(..)
            | Self::Active(_)
            | Self::Source(_)
            | Self::Target(_)
            | Self::Message(_)
            | Self::Script(_) => None,
        }
    }
}

/// Whether an entry of a group meets the condition.
pub(super) fn entries<F: FieldSequence>(
    view: &View<'_, F>,
    level: Option<&FieldLevel<'_>>,
    count: &FieldRef,
    mut asked: impl FnMut(&FieldLevel<'_>) -> bool,
) -> bool {
    let Some((at, def)) = view.group(level, count.tag) else {
        return false;
    };
    // Find the scope that contains the group: an enclosing entry, or the message. Its end limits the entries.
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

/// Whether a date, or the date of a timestamp, is today's date in UTC.
fn is_today(value: &[u8], facts: &Facts<'_>) -> bool {
    let Some((date, rest)) = value.split_at_checked(8) else {
        return false;
    };
    if !rest.is_empty() && rest[0] != b'-' {
        return false;
    }
    let today = facts.now.wall.0.div_euclid(NANOS_PER_DAY);
    time::parse_date(date).is_ok_and(|day| i64::from(day) == today)
}
