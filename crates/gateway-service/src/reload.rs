//! A gateway that runs gets the rules and tables that its file has now.

use std::error::Error;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixwire_control::ReloadHandler;
use fixwire_engine::{Operator, PasswordFiles, UsersError};
use fixwire_settings::{Dialect, DialectSource, LoadError, Options, Settings, Source};

use super::load::reload;
use super::remote::Remote;

/// Applies the current file to a running gateway. Variables in it have their values from the environment.
#[derive(Clone, Debug)]
pub struct Reloader {
    file: PathBuf,
    /// As the caller said it, when the file was read first.
    dialect: Option<Dialect>,
    /// The settings that the engine runs with.
    running: Arc<Settings>,
    passwords: PasswordFiles,
    remote: Remote,
}

/// Why a gateway goes on with the rules that it has.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReloadError {
    /// The file or its tables have mistakes.
    File(LoadError),
    /// Another file was named than the one that runs here.
    OtherFile(PathBuf),
    /// A password file cannot be read, or has a mistake.
    Passwords(PathBuf, UsersError),
    /// The gateway cannot go on with these rules, or does not run; a whole sentence.
    Kept(String),
}

impl Reloader {
    /// One for the gateway that was loaded with these settings.
    #[must_use]
    pub fn new(settings: &Settings, remote: &Remote) -> Self {
        let said = matches!(settings.told, DialectSource::ByCaller);
        Self {
            file: settings.report.source.path.clone(),
            dialect: said.then_some(settings.dialect),
            running: Arc::new(settings.clone()),
            passwords: PasswordFiles::default(),
            remote: remote.clone(),
        }
    }

    /// The same, which reads the engine's password files again too.
    #[must_use]
    pub fn with_passwords(self, passwords: PasswordFiles) -> Self {
        Self { passwords, ..self }
    }

    /// Reads the file, and lets the gateway go on with it: all rules and tables at once, between two messages,
    /// or none; then the users of the password files. Waits for the engine, so that it must not be called on its
    /// thread. The answer is for the operator; `by` stands in the journal.
    ///
    /// # Errors
    ///
    /// The gateway keeps its rules and users: there is a mistake, or settings of sessions differ, which need a restart.
    pub fn reload(&self, by: Operator) -> Result<String, ReloadError> {
        let _alone = self.remote.alone();
        let options = Options {
            dialect: self.dialect,
            ..Options::default()
        };
        let source = Source::read(&self.file).map_err(ReloadError::File)?;
        let settings = Settings::of_file(&source, &options).map_err(ReloadError::File)?;
        if let Some(error) = settings.restart_needed(&self.running, "the gateway") {
            return Err(ReloadError::File(error));
        }
        let new = reload(&source, &settings).map_err(ReloadError::File)?;
        let passwords = |(file, error)| ReloadError::Passwords(file, error);
        self.passwords.check().map_err(passwords)?;
        let done = self.remote.reload(new.gateway, by);
        let mut said = done.map_err(ReloadError::Kept)?;
        for change in self.passwords.read_again().map_err(passwords)? {
            said += &format!("; {change}");
        }
        Ok(said)
    }

    /// The same for somebody who names the file that is to be read.
    ///
    /// # Errors
    ///
    /// As [`Reloader::reload`], and when it is another file.
    pub fn reload_file(&self, file: &Path, by: Operator) -> Result<String, ReloadError> {
        let own = fs::canonicalize(&self.file).unwrap_or_else(|_| self.file.clone());
        if own != file {
            return Err(ReloadError::OtherFile(own));
        }
        self.reload(by)
    }

    /// What a [`Control`](fixwire_control::Control) does when it is asked to reload; `told` hears what becomes
    /// of it.
    pub fn for_control(
        self: Arc<Self>,
        told: impl Fn(&Result<String, ReloadError>) + Send + Sync + 'static,
    ) -> ReloadHandler {
        Box::new(move |file, how, by| {
            if !how.is_empty() {
                return Err(format!("a gateway cannot reload with {how}: leave it out"));
            }
            let done = self.reload_file(file, by);
            told(&done);
            done.map_err(|error| error.to_string())
        })
    }
}

impl fmt::Display for ReloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => {
                let why = error.to_string().replace('\n', "; ");
                write!(f, "gateway not reloaded: {why}")
            }
            Self::OtherFile(own) => {
                let own = own.display();
                write!(f, "gateway not reloaded: this process runs {own}")
            }
            Self::Passwords(file, error) => {
                write!(f, "gateway not reloaded: {}: {error}", file.display())
            }
            Self::Kept(why) => f.write_str(why),
        }
    }
}

impl Error for ReloadError {}
