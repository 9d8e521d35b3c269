//! Set-up of the engines of a measurement.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fixwire::Durability;
use fixwire_protocol::dictionary::Version;
use tempfile::TempDir;

use crate::error::Error;
use crate::sockets::pair::PairConfig;

/// Flags that set the engines up.
#[derive(Args, Clone, Debug)]
pub struct EngineArgs {
    /// Work of the engines in addition to answering
    #[arg(long, value_enum, default_value_t = Profile::Balanced)]
    pub profile: Profile,

    /// Durability of a message before it is sent; overrides that of the profile
    #[arg(long, value_enum)]
    pub durability: Option<DurabilityFlag>,

    /// Folder for the journals; they are removed afterwards [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,

    /// Enable Nagle's algorithm (no TCP_NODELAY)
    #[arg(long)]
    pub nagle: bool,
}

/// The published configurations.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Profile {
    /// Journal, CheckSum and every rule of the dictionary, at both ends
    Balanced,
    /// Messages in memory only, no dictionary, no CheckSum; BodyLength and the session are still checked
    Optimized,
}

/// The engine's durabilities as flags.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum DurabilityFlag {
    /// In memory of the process
    Memory,
    /// In a mapped file: survives kill -9
    Process,
    /// On the disk before the wire
    Disk,
}

impl From<DurabilityFlag> for Durability {
    fn from(flag: DurabilityFlag) -> Self {
        match flag {
            DurabilityFlag::Memory => Self::Memory,
            DurabilityFlag::Process => Self::Process,
            DurabilityFlag::Disk => Self::Disk,
        }
    }
}

impl EngineArgs {
    /// Durability of a message before it is sent.
    pub fn durability(&self) -> Durability {
        match (self.durability, self.profile) {
            (Some(flag), _) => flag.into(),
            (None, Profile::Balanced) => Durability::Process,
            (None, Profile::Optimized) => Durability::Memory,
        }
    }

    /// Whether the dictionary and the CheckSum are checked.
    pub fn is_checked(&self) -> bool {
        self.profile == Profile::Balanced
    }

    /// The settings of two engines with these flags, without Heartbeats.
    pub(super) fn pair(
        &self,
        initiator: &str,
        acceptor: &str,
        sessions: &[Version],
        journals: &Path,
    ) -> PairConfig {
        PairConfig {
            durability: self.durability(),
            checked: self.is_checked(),
            nodelay: !self.nagle,
            ..PairConfig::new(initiator, acceptor, sessions, journals)
        }
    }

    /// The engine settings as a short text.
    pub fn title(&self) -> String {
        let journal = match self.durability() {
            Durability::Memory => "no journal",
            Durability::Process => "journal on",
            Durability::Disk => "journal on disk",
        };
        let checks = match self.is_checked() {
            true => "every rule checked",
            false => "no dictionary",
        };
        format!("{journal}, {checks}")
    }

    /// The set-up.
    pub fn text(&self) -> String {
        let durability = match self.durability() {
            Durability::Memory => "memory",
            Durability::Process => "process",
            Durability::Disk => "disk",
        };
        let checks = match self.profile {
            Profile::Balanced => "full validation",
            Profile::Optimized => "no dictionary, no CheckSum",
        };
        let nagle = if self.nagle { "Nagle" } else { "TCP_NODELAY" };
        format!("journal {durability}, {checks}, {nagle}")
    }

    /// A new folder for the journals, removed when it is dropped.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub fn folder(&self) -> Result<TempDir, Error> {
        folder(self.journal.as_deref())
    }
}

/// A new folder for journals, removed when it is dropped.
pub(super) fn folder(within: Option<&Path>) -> Result<TempDir, Error> {
    let within = within.map_or_else(std::env::temp_dir, Path::to_owned);
    let folder = tempfile::Builder::new()
        .prefix("fixwire-bench-")
        .tempdir_in(&within);
    folder.map_err(Error::system(format!(
        "make a folder in {}",
        within.display()
    )))
}
