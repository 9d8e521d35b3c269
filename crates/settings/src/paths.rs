//! Paths in settings. A relative path in a settings file starts from the folder of that file, whatever engine the
//! file was written for. In engines of the QuickFIX family such a path starts from the working folder, so the same
//! file creates another store when the program is started from another folder.

use std::path::Path;

use fixwire_engine::journal::{self, FolderContents};

use super::Id;
use super::problem::LoadError;
use super::resolved::{Origin, SessionSettings, Settings};
use super::value::{SettingValue, ValueKind};
use super::variables::{FileText, Values, VariableFault};
use super::{dictionaries, registry};

/// Prefix of an `SqlLog` value that names a file.
const SQLITE: &str = "sqlite:";

/// Puts the folder of the settings file before each relative path.
pub(super) fn place(session: &mut SessionSettings, folder: &Path) {
    if folder.as_os_str().is_empty() {
        return;
    }
    for setting in &mut session.settings {
        let SettingValue::Text(text) = &setting.value else {
            continue;
        };
        let placed = match setting.key.id {
            Id::DataDictionary | Id::TransportDataDictionary | Id::AppDataDictionary => {
                dictionaries::placed(text, folder)
            }
            Id::SqlLog => match text.strip_prefix(SQLITE) {
                Some(path) => format!("{SQLITE}{}", beside(folder, path)),
                None => continue,
            },
            _ if matches!(setting.key.kind, ValueKind::Path) => beside(folder, text),
            _ => continue,
        };
        setting.value = SettingValue::Text(placed);
    }
}

/// The path of a file in this folder. An absolute path stays as it is.
pub(super) fn beside(folder: &Path, path: &str) -> String {
    // In nearly all cases the folder was given as text. If the folder is not valid text, a setting cannot name a file
    // in it.
    folder.join(path).to_string_lossy().into_owned()
}

/// A source of variable values whose files are in the folder of the settings file.
pub(super) struct Beside<'a> {
    pub(super) values: &'a dyn Values,
    pub(super) folder: &'a Path,
}

impl Values for Beside<'_> {
    fn env(&self, name: &str) -> Option<String> {
        self.values.env(name)
    }

    fn file(&self, path: &str) -> Result<FileText, VariableFault> {
        self.values.file(&beside(self.folder, path))
    }
}

/// Refuses a relative `FileStorePath` that would create a new journal, while the working folder already has a journal
/// of this name.
pub(super) fn check_store(settings: &Settings, first: &SessionSettings) -> Result<(), LoadError> {
    let (Some(setting), Some(here)) =
        (first.find(Id::FileStorePath), first.text(Id::FileStorePath))
    else {
        return Ok(());
    };
    let written = match setting.origin {
        Origin::BuiltIn | Origin::Dialect(_) => {
            registry::key(Id::FileStorePath).default.unwrap_or_default()
        }
        Origin::Default(_) | Origin::Session(_) => &setting.written,
    };
    let (here, elsewhere) = (Path::new(here), Path::new(written));
    let is_same = || here.canonicalize().ok() == elsewhere.canonicalize().ok();
    if here == elsewhere
        || elsewhere.is_absolute()
        || journal::contents(here) != FolderContents::Nothing
        || journal::contents(elsewhere) == FolderContents::Nothing
        || is_same()
    {
        return Ok(());
    }
    let note = format!(
        "a relative FileStorePath is relative to the settings file: {} has no journal, but {} in the working folder \
         has a journal or another engine's message store; set FileStorePath to the absolute path of the one to use",
        here.display(),
        elsewhere.display()
    );
    Err(settings.error(first, Id::FileStorePath, note))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::ini::Source;
    use crate::resolve::Options;

    /// Checks every key with a path, of the engine and of a session, in a file in another folder.
    #[test]
    fn every_relative_path_is_relative_to_the_settings_file() {
        let paths = super::super::keys::KEYS
            .iter()
            .filter(|key| matches!(key.kind, ValueKind::Path));
        for key in paths {
            let text = format!(
                "[DEFAULT]\n{}=sub/file\n[SESSION]\nBeginString=FIXT.1.1\nDefaultApplVerID=9\nSenderCompID=A\n\
                 TargetCompID=B\nConnectionType=acceptor\nSocketAcceptPort=1\nUseDataDictionary=N\n",
                key.name
            );
            for (path, expected) in [
                ("x.cfg", "sub/file"),
                ("conf/x.cfg", "conf/sub/file"),
                ("/etc/fix/x.cfg", "/etc/fix/sub/file"),
            ] {
                let source = Source {
                    path: path.into(),
                    text: text.clone(),
                };
                // Some keys require others; that does not matter here.
                let Ok(settings) = Settings::read(&source) else {
                    continue;
                };
                let session = &settings.sessions[0];
                assert_eq!(session.text(key.id), Some(expected), "{} {path}", key.name);
            }
        }
    }

    #[test]
    fn dictionaries_databases_defaults_and_variables_too() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("name"), "BROKER").unwrap();
        let text = "[DEFAULT]\nSqlLog=sqlite:logs.db\n[SESSION]\nBeginString=FIX.4.4\nSenderCompID=${file:name}\n\
             TargetCompID=B\nConnectionType=acceptor\nSocketAcceptPort=1\n\
             DataDictionary=built-in + venue.delta + /etc/desk.delta\n";
        let source = Source {
            path: folder.path().join("x.cfg"),
            text: text.into(),
        };
        let settings = Settings::read_with(&source, &Options::default()).unwrap();
        let session = &settings.sessions[0];
        let at = folder.path().display();
        assert_eq!(session.text(Id::SenderCompID), Some("BROKER"));
        let words = format!("built-in + {at}/venue.delta + /etc/desk.delta");
        assert_eq!(session.text(Id::DataDictionary), Some(&*words));
        let log = format!("sqlite:{at}/logs.db");
        assert_eq!(session.text(Id::SqlLog), Some(&*log));
        let store = format!("{at}/store");
        assert_eq!(session.text(Id::FileStorePath), Some(&*store));
    }
}
