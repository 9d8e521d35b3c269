//! `Rule`: a compiled rule, with all names resolved.

use alloc::string::String;
use alloc::vec::Vec;

use super::compile_action::Step;
use super::condition::Test;

/// A rule, with all names resolved.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) test: Option<Test>,
    pub(super) steps: Vec<Step>,
    /// The last step that emits the fields. This step may emit the draft itself, without a copy.
    pub(super) last: Option<usize>,
}

impl Rule {
    pub(super) fn recalls(&self) -> bool {
        self.steps.iter().any(Step::recalls)
    }
}
