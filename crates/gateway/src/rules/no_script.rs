//! A build without scripts: a file that has one is refused.

use super::change::Failure;
use super::compile::{Compiler, Here};
use super::condition::World;
use super::fields::{Fields, Level, View};
use super::file::{Errors, File};
use super::problem::Problem;
use super::syntax::Name;

/// There is none.
#[derive(Clone, Debug)]
pub(super) enum Script {}

impl Script {
    /// Whether a condition holds.
    pub fn holds<F: Fields>(
        &self,
        _: &View<'_, F>,
        _: Option<&Level<'_>>,
        _: &World<'_>,
    ) -> Result<bool, Failure> {
        match *self {}
    }
}

/// The scripts of a file, of which there are none.
pub(super) struct Scripts;

impl Scripts {
    /// Notes that the file has scripts.
    pub fn read(file: &File, errors: &mut Errors<'_>) -> Self {
        for (name, _) in &file.scripts {
            errors.add(name.offset(0), Self.missing(), None);
        }
        Self
    }

    fn missing(&self) -> Problem {
        Problem::NoScripts
    }
}

impl<'c> Compiler<'c, '_, '_> {
    /// Notes that a rule has a script.
    pub fn script(&mut self, here: &mut Here<'_, 'c>, name: &Name, _: bool) -> Option<Script> {
        self.add(here, name.at, self.scripts.missing(), None);
        None
    }
}
