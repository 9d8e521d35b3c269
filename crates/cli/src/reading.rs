//! Reads a settings file for a command.

use std::path::Path;

use clap::Args;
use fixwire::settings::{Dialect, LoadError, Options, Settings, Source};

/// How a settings file is read.
#[derive(Args, Clone, Debug, Default)]
pub struct Reading {
    /// The engine that the file was written for: quickfix, quickfixj, quickfixgo, quickfixn, antenna or
    /// fixwire [default: its key Dialect, or a guess from its keys]
    #[arg(long, value_name = "ENGINE", value_parser = dialect)]
    dialect: Option<Dialect>,
}

impl Reading {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// See [`Settings::load`].
    pub fn load(&self, file: &Path) -> Result<Settings, LoadError> {
        self.of_file(&Source::read(file)?)
    }

    /// Checks a file that has already been read.
    ///
    /// # Errors
    ///
    /// See [`Settings::of_file`].
    pub fn of_file(&self, source: &Source) -> Result<Settings, LoadError> {
        Settings::of_file(source, &self.options())
    }

    /// Reads and checks a file whose links need no application.
    ///
    /// # Errors
    ///
    /// See [`Settings::of_file`].
    pub fn of_links(&self, source: &Source) -> Result<Settings, LoadError> {
        let options = Options {
            links_alone: true,
            ..self.options()
        };
        Settings::of_file(source, &options)
    }

    fn options(&self) -> Options<'static> {
        Options {
            dialect: self.dialect,
            ..Options::default()
        }
    }
}

fn dialect(name: &str) -> Result<Dialect, String> {
    Dialect::find(name).ok_or_else(|| {
        "expected quickfix, quickfixj, quickfixgo, quickfixn, antenna or fixwire".to_owned()
    })
}
