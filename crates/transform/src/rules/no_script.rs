//! A build without scripts: a file with a script is refused.

use super::compile::Compiler;
use super::condition::World;
use super::fields::{FieldLevel, FieldSequence, View};
use super::file::{Errors, File};
use super::problem::RuleProblem;
use super::syntax::NameToken;
use crate::TransformFailure;

/// No script exists in this build.
#[derive(Clone, Debug)]
pub(super) enum Script {}

impl Script {
    /// Whether a condition holds.
    pub fn holds<F: FieldSequence>(
        &self,
        _: &View<'_, F>,
        _: Option<&FieldLevel<'_>>,
        _: &World<'_>,
    ) -> Result<bool, TransformFailure> {
        match *self {}
    }
}

/// The scripts of a file; this build supports none.
pub(super) struct Scripts;

impl Scripts {
    /// Records an error if the file has scripts.
    pub fn read(file: &File, errors: &mut Errors<'_>) -> Self {
        for (name, _) in &file.scripts {
            errors.add(name.offset(0), Self.missing(), None);
        }
        Self
    }

    fn missing(&self) -> RuleProblem {
        RuleProblem::NoScripts
    }
}

impl Compiler<'_, '_, '_> {
    /// Records an error for a rule with a script.
    pub fn script(&mut self, name: &NameToken, _: bool) -> Option<Script> {
        self.add(name.at, self.scripts.missing(), None);
        None
    }
}
