//! [`Reloader`]: gives a running gateway the present rules and tables of its file.

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

/// Applies the current file to a running gateway. Variables in the file get their values from the environment.
#[derive(Clone, Debug)]
pub struct Reloader {
    file: PathBuf,
    /// The dialect that the caller gave when the file was first read, if any.
    dialect: Option<Dialect>,
    /// The settings that the engine runs with.
    running: Arc<Settings>,
    passwords: PasswordFiles,
    remote: Remote,
}

/// Why a reload failed. The gateway then keeps its rules.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReloadError {
    /// The file or its tables have errors.
    File(LoadError),
    /// The caller named another file than the running gateway's. The value is the path of the gateway's file.
    OtherFile(PathBuf),
    /// A password file cannot be read, or has an error.
    Passwords(PathBuf, UsersError),
    /// The gateway refused the rules, or is not running. The value is the reason, as a complete sentence.
    Kept(String),
}

impl Reloader {
    /// A reloader for the gateway that was loaded with these settings.
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

    /// Makes the reloader also read the engine's password files again.
    #[must_use]
    pub fn with_passwords(self, passwords: PasswordFiles) -> Self {
        Self { passwords, ..self }
    }

    /// Reads the file and replaces the gateway's rules and tables between two messages: all of them, or none. After the
    /// rules, the reload reads the users of the password files again.
    ///
    /// Waits for the engine, so it must not be called on the engine's thread. Returns the answer for the operator; the
    /// journal records `by`.
    ///
    /// # Errors
    ///
    /// The gateway keeps its rules and users, because the file has an error, or because the file changes settings of
    /// sessions, which need a restart.
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

    /// Reloads as [`Reloader::reload`] does, if `file` is the file of the running gateway.
    ///
    /// # Errors
    ///
    /// See [`Reloader::reload`]; also when `file` is another file.
    pub fn reload_file(&self, file: &Path, by: Operator) -> Result<String, ReloadError> {
        let own = fs::canonicalize(&self.file).unwrap_or_else(|_| self.file.clone());
        if own != file {
            return Err(ReloadError::OtherFile(own));
        }
        self.reload(by)
    }

    /// The handler by which a [`Control`](fixwire_control::Control) answers requests for a reload. `told` receives each
    /// result.
    pub fn for_control(
        self: Arc<Self>,
        told: impl Fn(&Result<String, ReloadError>) + Send + Sync + 'static,
    ) -> ReloadHandler {
        Box::new(move |file, how, by| {
            if !how.is_empty() {
                return Err(format!(
                    "a gateway cannot reload with {how}: repeat the command without it"
                ));
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
                write!(
                    f,
                    "gateway not reloaded: this process runs another file, {own}"
                )
            }
            Self::Passwords(file, error) => {
                write!(f, "gateway not reloaded: {}: {error}", file.display())
            }
            Self::Kept(why) => f.write_str(why),
        }
    }
}

impl Error for ReloadError {}
