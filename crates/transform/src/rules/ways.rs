//! The pairs of sessions between which rules send messages.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::compile_action::Step;
use super::{Rule, Rules};

/// A path on which a rule may send messages from one session to another.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RulePath {
    /// The rule, by index.
    pub rule: usize,
    /// The source session, by its index in the [`RuleContext`](super::RuleContext).
    pub from: usize,
    /// The target session; `None` for `return`.
    pub to: Option<usize>,
    /// Whether the messages are converted.
    pub convert: bool,
}

impl Rules {
    /// Calls `each` for every path on which a rule may send messages, rule by rule.
    pub fn ways(&self, each: &mut impl FnMut(RulePath)) {
        let mut sources: Vec<Vec<usize>> = alloc::vec![Vec::new(); self.rules.len()];
        for (from, session) in self.sessions.iter().enumerate() {
            let typed = session.typed.iter().flat_map(|(_, rules)| rules);
            let all = session.any.iter().chain(typed);
            let rules: BTreeSet<u32> = all.map(|candidate| candidate.rule).collect();
            for rule in rules {
                sources[rule as usize].push(from);
            }
        }
        let events = self.events.iter().map(|on| {
            let meant = on.sessions.iter().enumerate().filter(|(_, meant)| **meant);
            meant.map(|(session, _)| session).collect()
        });
        sources.extend(events);
        for (rule, sources) in sources.into_iter().enumerate() {
            let Some(targets) = self.rule(rule).map(|rule| self.targets(rule)) else {
                continue;
            };
            for from in sources {
                for &(to, convert) in &targets {
                    each(RulePath {
                        rule,
                        from,
                        to,
                        convert,
                    });
                }
            }
        }
    }

    /// Whether a rule may match a message from this session.
    #[must_use]
    pub fn reads_from(&self, session: usize) -> bool {
        self.sessions
            .get(session)
            .is_some_and(|it| !(it.any.is_empty() && it.typed.iter().all(|(_, at)| at.is_empty())))
    }

    /// Whether a rule sends copies to this session.
    #[must_use]
    pub fn copies_to(&self, session: usize) -> bool {
        let count = self.rules.len() + self.events.len();
        (0..count).any(|rule| self.copies(rule, session))
    }

    /// Whether this rule sends copies to this session.
    #[must_use]
    pub fn copies(&self, rule: usize, session: usize) -> bool {
        let steps = self.rule(rule).map_or(&[][..], |rule| &rule.steps);
        let is_copy = |step: &Step| matches!(step, Step::CopyTo(to) if *to == session);
        steps.iter().any(is_copy)
    }

    /// The targets of a rule in the actions after one of its actions; `None` stands for `return`. Targets that depend
    /// on the message's fields are left out.
    pub fn behind(&self, rule: usize, action: usize) -> impl Iterator<Item = Option<usize>> {
        let steps = self.rule(rule).map_or(&[][..], |rule| &rule.steps);
        let behind = steps.iter().skip(action + 1);
        behind.filter_map(|step| match step {
            Step::Send(to) | Step::CopyTo(to) => Some(Some(*to)),
            Step::Return => Some(None),
            _ => None,
        })
    }

    /// The targets of a rule, each with whether the rule converts for it.
    fn targets(&self, rule: &Rule) -> BTreeSet<(Option<usize>, bool)> {
        let mut targets = BTreeSet::new();
        let mut convert = false;
        for step in &rule.steps {
            match step {
                Step::Convert => convert = true,
                Step::Send(to) | Step::CopyTo(to) => {
                    targets.insert((Some(*to), convert));
                }
                Step::SendByTable(_, table, column) => {
                    let table = &self.tables[*table];
                    let cells = (0..table.rows()).map(|row| table.cell(row, *column));
                    let known = |name: &[u8]| {
                        let at = self
                            .by_name
                            .binary_search_by(|(one, _)| one.as_slice().cmp(name));
                        at.ok().map(|at| self.by_name[at].1)
                    };
                    targets.extend(cells.filter_map(known).map(|to| (Some(to), convert)));
                }
                Step::SendByCompId(_) => {
                    targets.extend(self.by_peer.iter().map(|(_, to)| (Some(*to), convert)));
                }
                Step::Return => {
                    targets.insert((None, convert));
                }
                _ => {}
            }
        }
        targets
    }
}
