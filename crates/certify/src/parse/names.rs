//! [`Names`]: the variables and steps of the case that is being parsed, to check that no step refers to an unknown
//! variable or step.

use std::collections::{BTreeMap, BTreeSet};

use fixwire_protocol::{Tag, tag};

use crate::tmp::fields;
use crate::value::{ExpectedValue, SentValue};

/// Id fields. The sender of a message makes their values.
const IDS: [Tag; 16] = [
    tag::CL_ORD_ID,
    66,
    112,
    117,
    131,
    262,
    320,
    324,
    335,
    390,
    548,
    568,
    571,
    584,
    693,
    1346,
];

/// A variable that gets its value from a received message.
#[derive(Debug)]
struct Captured {
    line: usize,
    is_used: bool,
}

/// The variables and steps to which later steps may refer.
#[derive(Debug, Default)]
pub(super) struct Names {
    variables: BTreeMap<String, Option<Captured>>,
    /// The steps that have a message.
    messages: BTreeSet<usize>,
    steps: usize,
    /// Whether an order was sent, to which `last` refers.
    has_order: bool,
}

impl Names {
    /// The number of the next step.
    pub(super) fn next_step(&mut self) -> usize {
        self.steps += 1;
        self.steps
    }

    /// Records that a step has a message, so that later steps may refer to it.
    pub(super) fn has_message(&mut self, step: usize) {
        self.messages.insert(step);
    }

    /// Records that a step sends an order, so that later steps may refer to it as `last`.
    pub(super) fn has_order(&mut self) {
        self.has_order = true;
    }

    /// Checks that an earlier step of this case sends an order.
    pub(super) fn last_order(&self) -> Result<(), String> {
        match self.has_order {
            true => Ok(()),
            false => Err("no last order: send one with 'new' earlier in this case".to_owned()),
        }
    }

    /// Uses a variable in the place of an order's id.
    pub(super) fn order(&mut self, name: &str) -> Result<(), String> {
        self.used(name).then_some(()).ok_or_else(|| {
            format!("unknown order ${name}: send one with '11=${name}' earlier in this case")
        })
    }

    /// Marks the variable as used. Returns whether it is known.
    fn used(&mut self, name: &str) -> bool {
        match self.variables.get_mut(name) {
            Some(Some(captured)) => captured.is_used = true,
            Some(None) => {}
            None => return false,
        }
        true
    }

    /// Checks a field that step `step` sends.
    pub(super) fn sent(&mut self, tag: Tag, value: &SentValue, step: usize) -> Result<(), String> {
        match value {
            SentValue::Variable(name) if !self.used(name) => {
                if !IDS.contains(&tag) && !fields::is_id(tag) {
                    let such = match fields::name_of(tag) {
                        Some(_) => "order_no",
                        None => "11",
                    };
                    return Err(format!(
                        "unknown variable ${name}: an earlier step of this case must give it a value, as an 'expect' \
                         does, or a field with an id of ours such as {such}=${name}"
                    ));
                }
                self.variables.insert(name.clone(), None);
                Ok(())
            }
            SentValue::SameAs(other) => self.step(*other, step),
            _ => Ok(()),
        }
    }

    /// Checks a field that step `step` expects.
    pub(super) fn expected(
        &mut self,
        value: &ExpectedValue,
        step: usize,
        line: usize,
    ) -> Result<(), String> {
        match value {
            ExpectedValue::Variable(name) if !self.used(name) => {
                let captured = Captured {
                    line,
                    is_used: false,
                };
                self.variables.insert(name.clone(), Some(captured));
                Ok(())
            }
            ExpectedValue::SameAs(other) => self.step(*other, step),
            _ => Ok(()),
        }
    }

    fn step(&self, other: usize, step: usize) -> Result<(), String> {
        if other < step && self.messages.contains(&other) {
            return Ok(());
        }
        let why = match other.cmp(&step) {
            std::cmp::Ordering::Less => "has no message",
            std::cmp::Ordering::Equal => "is the step itself",
            std::cmp::Ordering::Greater => "comes later, or is missing",
        };
        Err(format!(
            "@{other}: step {other} of this case {why}; this is step {step}"
        ))
    }

    /// The errors about variables that get a value but are never used, with their lines.
    pub(super) fn unused(self) -> impl Iterator<Item = (usize, String)> {
        let captured = self.variables.into_iter();
        let captured = captured.filter_map(|(name, captured)| Some((name, captured?)));
        captured.filter(|(_, captured)| !captured.is_used).map(|(name, captured)| {
            let what = format!(
                "${name} gets its value here and no later step uses it: check its spelling, or write * for any value"
            );
            (captured.line, what)
        })
    }
}
