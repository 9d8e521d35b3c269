//! Rules: from the text of a file to the handling of a message.
//!
//! ```text
//! text --file--> texts with offsets --parse--> syntax trees of conditions
//!      --names, compile, parse_action, compile_script--> tests and steps --reach--> Rules
//! Rules + message --condition--> rules that apply --change, evaluate--> outcomes
//! ```
//!
//! `docs/reference/gateway-rules.md` describes the language. All names are resolved when rules are loaded. Evaluation
//! allocates nothing once its [`RuleScratch`] has grown to the largest message, unless a script runs.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Dictionary;

mod change;
mod compile;
mod compile_action;
mod compile_event;
#[cfg(feature = "scripts")]
mod compile_script;
mod condition;
mod context;
mod evaluate;
mod fields;
mod file;
mod happen;
mod load;
mod names;
#[cfg(not(feature = "scripts"))]
mod no_script;
mod parse;
mod parse_action;
mod problem;
mod pseudonym;
mod reach;
mod reshape;
mod rule;
#[cfg(feature = "scripts")]
mod script;
mod script_failure;
mod syntax;
mod table;
#[cfg(test)]
mod tests;
mod token;
mod ways;

pub use compile_event::RuleTrigger;
pub use condition::Facts;
pub use condition::MessageCondition;
pub use context::{NamedSession, RuleContext};
pub use evaluate::{Evaluated, RuleOutcome, RuleScratch};
pub use file::{Errors, MAX_BYTES};
pub use load::{TableFile, table_files};
pub use problem::{RuleError, RuleProblem, nearest};
pub use pseudonym::Pseudonym;
#[cfg(feature = "scripts")]
pub use script::{LONG_RUNS, MAX_TEXT, MAX_VALUES, run_long};
pub use script_failure::{OPERATIONS, ScriptFailure, ScriptFault};
pub use syntax::{ACTIONS, CONDITIONS, RejectKind};
pub use table::{Table, TableError};
pub use ways::RulePath;

pub use crate::failure::{MAX_ADDED, MAX_REMEMBERED};

use condition::Candidate;
#[cfg(not(feature = "scripts"))]
use no_script::{self as compile_script, self as script};
use rule::Rule;

/// NetworkCounterpartySystemStatusRequest
pub const STATUS_REQUEST: &[u8] = b"BC";
/// NetworkCounterpartySystemStatusResponse
pub const STATUS_RESPONSE: &[u8] = b"BD";

/// All rules of a gateway with their tables. Rules and tables are one value, so that a reload replaces all of them at
/// once.
#[derive(Clone, Debug)]
pub struct Rules {
    /// `match = "all"`
    every: bool,
    rules: Vec<Rule>,
    /// The `[[on]]` entries; their numbers follow the numbers of the rules.
    events: Vec<compile_event::On>,
    tables: Vec<Table>,
    sessions: Vec<Source>,
    /// The names of sessions, sorted, with their indexes.
    by_name: Vec<(Vec<u8>, usize)>,
    /// The CompIDs of peers, sorted, with the indexes of their sessions.
    by_peer: Vec<(Vec<u8>, usize)>,
    counters: Vec<String>,
    throttles: usize,
    /// Whether any rule recalls values.
    recalls: bool,
    /// Maximum operations of a script; `None` without a script.
    operations: Option<u64>,
}

/// The dictionary and the rules of one session's messages.
#[derive(Clone, Debug)]
struct Source {
    name: String,
    dictionary: Arc<Dictionary>,
    /// The rules that may apply to any type of message.
    any: Vec<Candidate>,
    /// The other rules by message type, sorted by type.
    typed: Vec<(Vec<u8>, Vec<Candidate>)>,
}

impl Rules {
    /// The number of rules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The name of a rule; `rule 3` for the third rule if it has no name. `[[on]]` entries are numbered after the
    /// rules, and are called `on 3`.
    #[must_use]
    pub fn name(&self, rule: usize) -> Option<&str> {
        self.rule(rule).map(|rule| rule.name.as_str())
    }

    /// The line of the file where a rule starts, from 1.
    #[must_use]
    pub fn line(&self, rule: usize) -> Option<usize> {
        self.rule(rule).map(|rule| rule.line)
    }

    /// Whether the condition of a rule tests for this message type with `=` or `in`, and not under `not`.
    #[must_use]
    pub fn names_type(&self, rule: usize, msg_type: &[u8]) -> bool {
        let test = self.rule(rule).and_then(|rule| rule.test.as_ref());
        test.is_some_and(|test| reach::names_type(test, msg_type))
    }

    fn rule(&self, number: usize) -> Option<&Rule> {
        let event = || Some(&self.events.get(number - self.rules.len())?.rule);
        self.rules.get(number).or_else(event)
    }

    /// The CompIDs of peers, sorted, with the indexes of their sessions.
    #[must_use]
    pub fn peers(&self) -> &[(Vec<u8>, usize)] {
        &self.by_peer
    }

    /// Whether any rule recalls values. If not, [`Facts::remembered`] is never read.
    #[must_use]
    pub fn recalls_any(&self) -> bool {
        self.recalls
    }

    /// Whether a rule recalls values.
    #[must_use]
    pub fn recalls(&self, rule: usize) -> bool {
        self.rule(rule).is_some_and(Rule::recalls)
    }

    /// Maximum operations of one run of a script; `None` if the file has no script.
    #[must_use]
    pub fn script_operations(&self) -> Option<u64> {
        self.operations
    }

    /// The names of counters; outcomes refer to them by index.
    #[must_use]
    pub fn counters(&self) -> &[String] {
        &self.counters
    }
}
