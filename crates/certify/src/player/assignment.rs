//! [`Assignment`]: assigns received messages to expected ones, whatever the order of arrival.

use fixwire_protocol::Tag;

use crate::field_names::FieldNames;
use crate::plan::MessagePattern;
use crate::scope::CaseScope;
use crate::wire_message::TextFields;

/// Maximum number of comparisons in one assignment. This limit is enough for seven patterns that are all alike.
const TRIES_MAX: usize = 20_000;

/// The patterns of an `expect` step and its `and` lines, and the messages that were received for them.
pub(super) struct Assignment<'a> {
    patterns: &'a [MessagePattern],
    names: &'a FieldNames,
    /// The scope before the step began.
    before: CaseScope,
    messages: Vec<TextFields>,
    /// For each pattern, the index of the message assigned to it; `None` without one.
    places: Vec<Option<usize>>,
}

impl<'a> Assignment<'a> {
    pub(super) fn new(
        patterns: &'a [MessagePattern],
        names: &'a FieldNames,
        before: &CaseScope,
    ) -> Self {
        Self {
            patterns,
            names,
            before: before.clone(),
            messages: Vec::new(),
            places: vec![None; patterns.len()],
        }
    }

    /// The patterns to which no message is assigned.
    pub(super) fn left(&self) -> Vec<&'a MessagePattern> {
        let pairs = self.patterns.iter().zip(&self.places);
        let left = pairs.filter(|(_, place)| place.is_none());
        left.map(|(pattern, _)| pattern).collect()
    }

    /// Accepts a message if all messages, including this one, can be assigned to different patterns. If so, `scope`
    /// gets the values that the patterns read from the messages.
    ///
    /// # Errors
    ///
    /// How the message differs from the first pattern without a message. If the message does not differ, the error is
    /// that it conflicts with an earlier message.
    pub(super) fn take(
        &mut self,
        message: &[(Tag, String)],
        scope: &mut CaseScope,
    ) -> Result<(), Vec<String>> {
        let fits = |pattern: &MessagePattern| {
            let mut scope = self.before.clone();
            scope.match_message(pattern, message, self.names).is_ok()
        };
        if self.patterns.iter().any(fits) {
            self.messages.push(message.to_vec());
            let mut search = Search {
                assignment: self,
                places: vec![None; self.patterns.len()],
                tries: 0,
            };
            if let Some(found) = search.go(0, self.before.clone()) {
                self.places = search.places;
                *scope = found;
                return Ok(());
            }
            self.messages.pop();
        }
        let first = self.left().first().copied();
        let differences = first.map(|pattern| {
            let mut scope = scope.clone();
            scope.match_message(pattern, message, self.names)
        });
        let together = || {
            vec![
                "the message conflicts with a message that this step has received before"
                    .to_owned(),
            ]
        };
        Err(differences.and_then(Result::err).unwrap_or_else(together))
    }
}

/// Searches for a message for each pattern, in the order of the patterns, because a pattern may refer to an earlier
/// one.
struct Search<'a, 'b> {
    assignment: &'b Assignment<'a>,
    places: Vec<Option<usize>>,
    tries: usize,
}

impl Search<'_, '_> {
    /// Assigns messages to the patterns from index `at` on. Returns the scope with their values; `None` if a message
    /// cannot be assigned.
    fn go(&mut self, at: usize, scope: CaseScope) -> Option<CaseScope> {
        let Assignment {
            patterns,
            names,
            messages,
            places: earlier,
            ..
        } = self.assignment;
        let Some(pattern) = patterns.get(at) else {
            return Some(scope);
        };
        // First try the message that this pattern had before, then the newest one.
        let mut candidates: Vec<usize> = (0..messages.len()).rev().collect();
        candidates.sort_by_key(|message| Some(*message) != earlier[at]);
        for message in candidates {
            if self.places[..at].contains(&Some(message)) {
                continue;
            }
            if self.tries == TRIES_MAX {
                return None;
            }
            self.tries += 1;
            let mut scope = scope.clone();
            if scope
                .match_message(pattern, &messages[message], names)
                .is_err()
            {
                continue;
            }
            self.places[at] = Some(message);
            if let Some(found) = self.go(at + 1, scope) {
                return Some(found);
            }
            self.places[at] = None;
        }
        // The message for this pattern may not have arrived yet.
        let taken = self.places[..at].iter().flatten().count();
        let rest = patterns.len() - at - 1;
        if messages.len() - taken > rest {
            return None;
        }
        self.go(at + 1, scope)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use fixwire_protocol::Dictionary;
    use fixwire_protocol::dictionary::Version;

    use super::*;
    use crate::plan::{CertificationPlan, StepAction};
    use crate::wire_message::text_fields as message;

    /// Number of patterns without a message after these, and the differences of the last message.
    fn left(steps: &str, messages: &[&str]) -> (usize, Vec<String>) {
        let plan = CertificationPlan::parse(&format!("case 1 A\n{steps}\n")).unwrap();
        let StepAction::Expect(expectation) = &plan.cases[0].steps[0].action else {
            panic!("{plan:?}");
        };
        let names = FieldNames::Fix(Arc::new(Dictionary::built_in(Version::Fix44)));
        let mut scope = CaseScope::new(1);
        let mut assignment = Assignment::new(&expectation.patterns, &names, &scope);
        let mut differences = Vec::new();
        for text in messages {
            let taken = assignment.take(&message(text), &mut scope);
            differences = taken.err().unwrap_or_default();
        }
        (assignment.left().len(), differences)
    }

    #[test]
    fn messages_arrive_in_any_order() {
        let (new, filled) = ("35=8|11=A|39=0", "35=8|11=A|39=2");
        for steps in [
            "expect 35=8|11=A\nand 35=8|11=A|39=2",
            "expect 35=8|11=A|39=2\nand 35=8|11=A",
            "expect 35=8|39=*\nand 35=8|11=@1|39=2",
        ] {
            for order in [[new, filled], [filled, new]] {
                assert_eq!(left(steps, &order), (0, Vec::new()), "{steps} {order:?}");
            }
            let (count, differences) = left(steps, &[new, new]);
            assert_eq!(count, 1, "{steps}");
            assert!(
                differences.contains(&"OrdStatus(39) is '0', expected '2'".to_owned()),
                "{steps}: {differences:?}"
            );
        }
    }

    #[test]
    fn variables_and_steps_have_one_value_in_all_messages() {
        let steps = "expect 35=8|37=$o|11=*\nand 35=8|37=$o|11=B\nand 35=9|37=@1";
        let messages = ["35=9|37=7", "35=8|37=7|11=B", "35=8|37=7|11=A"];
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let order = order.map(|place| messages[place]);
            assert_eq!(left(steps, &order), (0, Vec::new()), "{order:?}");
        }
        // Only the last one shows that 37=8 is wrong.
        let (count, differences) = left(steps, &["35=9|37=8", "35=8|37=7|11=B", messages[2]]);
        assert_eq!(count, 1);
        assert_eq!(
            differences,
            ["the message conflicts with a message that this step has received before"]
        );
        for other in ["35=8|37=8|11=A", "35=8|37=8|11=B"] {
            let (count, differences) = left(steps, &["35=8|37=7|11=B", other]);
            assert_eq!(count, 2, "{other}");
            assert!(!differences.is_empty(), "{other}");
        }
    }

    #[test]
    fn a_search_without_an_assignment_ends() {
        let steps = format!("expect 35=8|37=$o{}", "\nand 35=8|37=$o".repeat(19));
        let mut messages = vec!["35=8|37=1"; 19];
        messages.push("35=8|37=2");
        let (count, differences) = left(&steps, &messages);
        assert_eq!(
            (count, differences),
            (1, vec!["OrderID(37) is '2', expected '1'".to_owned()])
        );
    }
}
