//! A folder of acceptance scripts, with the acceptor that they need.

use super::play::{Failure, play};
use super::script::{Action, Script, SessionKey};
use crate::server::{Launch, Server, free_port};
use crate::wire::value;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The engine must have noticed by then that the last connection is closed.
const BETWEEN_SCRIPTS: Duration = Duration::from_millis(100);

/// The name of a folder of scripts, and the dictionary its sessions use.
const VERSIONS: [(&str, &str, Option<&str>); 8] = [
    ("fix40", "FIX40", None),
    ("fix41", "FIX41", None),
    ("fix42", "FIX42", None),
    ("fix43", "FIX43", None),
    ("fix44", "FIX44", None),
    ("fix50", "FIX50", Some("FIX.5.0")),
    ("fix50sp1", "FIX50SP1", Some("FIX.5.0SP1")),
    ("fix50sp2", "FIX50SP2", Some("FIX.5.0SP2")),
];

/// Scripts of one version that one engine plays, one after the other.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The folder of the scripts and the number of the lane, for example `fix42-1`.
    pub name: String,
    dictionary: Option<PathBuf>,
    transport_dictionary: Option<PathBuf>,
    default_appl_ver_id: Option<&'static str>,
    sessions: BTreeSet<SessionKey>,
    /// In the order in which they are played.
    pub scripts: Vec<Script>,
}

/// Finds the version folders at or below `root` and deals the scripts of each to this number of lanes.
///
/// `dictionaries` is the folder with the dictionaries of the scripts; without it the engine uses the built-in ones.
pub fn lanes(root: &Path, dictionaries: Option<&Path>, lanes: usize) -> Result<Vec<Lane>, String> {
    let mut found = Vec::new();
    for (folder, dictionary, version) in VERSIONS {
        let is_root = root.file_name().is_some_and(|name| name == folder);
        let folder_path = if is_root {
            root.to_owned()
        } else {
            root.join(folder)
        };
        let mut scripts = read_folder(&folder_path)?;
        if scripts.is_empty() {
            continue;
        }
        let sessions = sessions(&scripts);
        let file = |name: &str| dictionaries.map(|folder| folder.join(format!("{name}.xml")));
        scripts.iter_mut().for_each(shorten_heartbeats);
        for lane in 0..lanes {
            found.push(Lane {
                name: format!("{folder}-{lane}"),
                dictionary: file(dictionary),
                transport_dictionary: version.and_then(|_| file("FIXT11")),
                default_appl_ver_id: version,
                sessions: sessions.clone(),
                scripts: scripts.iter().skip(lane).step_by(lanes).cloned().collect(),
            });
        }
    }
    if found.is_empty() {
        return Err(format!(
            "{}: no folder fix40 to fix50sp2 with .def files",
            root.display()
        ));
    }
    Ok(found)
}

/// The scripts of a folder in the order of their names; none when there is no such folder.
fn read_folder(folder: &Path) -> Result<Vec<Script>, String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "def"));
    paths.sort();
    paths
        .iter()
        .map(|path| Script::read(path).map_err(|error| error.to_string()))
        .collect()
}

/// The sessions that exist: those whose Logon the engine is expected to answer. (A script may also
/// log on under a name that must not exist.)
fn sessions(scripts: &[Script]) -> BTreeSet<SessionKey> {
    let answered = |script: &&Script| {
        script.steps.iter().any(|step| match &step.action {
            Action::Expect(raw) => value(raw, "35") == Some(b"A"),
            _ => false,
        })
    };
    scripts
        .iter()
        .filter(answered)
        .filter_map(Script::session)
        .collect()
}

/// HeartBtInt is two seconds where a script has six, so that silence takes a third of the time. The number of digits is
/// the same, so a scripted BodyLength still holds.
fn shorten_heartbeats(script: &mut Script) {
    for step in &mut script.steps {
        let (Action::Send(raw) | Action::Expect(raw)) = &mut step.action else {
            continue;
        };
        if super::script::heart_bt_int(raw) != Some(6) {
            continue;
        }
        if let Some(at) = raw.windows(7).position(|window| window == b"\x01108=6\x01") {
            raw[at + 5] = b'2';
        }
    }
}

/// A lane and the acceptor that plays the other side.
#[derive(Debug)]
pub struct Stage {
    /// The scripts to play.
    pub lane: Lane,
    launch: Launch,
}

impl Stage {
    /// Writes the settings of the acceptor into `folder`, which must exist.
    pub fn set_up(lane: Lane, binary: &Path, folder: &Path) -> Result<Self, String> {
        let port = free_port().map_err(|error| format!("no free port: {error}"))?;
        let settings = folder.join("engine.cfg");
        let text = lane.settings(port, &folder.join("journal"));
        fs::write(&settings, text).map_err(|error| format!("{}: {error}", settings.display()))?;
        let launch = Launch {
            binary: binary.to_owned(),
            app: Some("conformance"),
            settings,
            port,
        };
        Ok(Self { lane, launch })
    }

    /// Starts the acceptor on the journal it may have from an earlier run.
    pub fn start(&self) -> Result<Server, String> {
        self.launch
            .start()
            .map_err(|error| format!("{}: {error}", self.lane.name))
    }

    /// Plays all scripts; returns the failures by script name.
    pub fn play(&self, server: &Server) -> Vec<(String, Failure)> {
        let mut failures = Vec::new();
        for script in &self.lane.scripts {
            if let Err(failure) = play(script, server.address) {
                failures.push((script.name.clone(), failure));
            }
            std::thread::sleep(BETWEEN_SCRIPTS);
        }
        failures
    }
}

impl Lane {
    fn settings(&self, port: u16, journal: &Path) -> String {
        let mut text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort={port}\n\
             NonStopSession=Y\nResetOnLogon=Y\n\
             FileStorePath={}\nUseDataDictionary=Y\n",
            journal.display()
        );
        // Writing to a String cannot fail.
        let mut key = |name: &str, value: Option<String>| {
            value.map(|value| writeln!(text, "{name}={value}"));
        };
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        let fixt = self.default_appl_ver_id.is_some();
        key(
            if fixt {
                "AppDataDictionary"
            } else {
                "DataDictionary"
            },
            path(&self.dictionary),
        );
        key("TransportDataDictionary", path(&self.transport_dictionary));
        key(
            "DefaultApplVerID",
            self.default_appl_ver_id.map(str::to_owned),
        );
        // Scripts without dictionaries are QuickFIX C++'s, which expect ApplVerID in a BusinessMessageReject; the
        // others do not.
        if fixt && self.dictionary.is_some() {
            text.push_str("ApplVerIDInBusinessReject=N\n");
        }
        for session in &self.sessions {
            let SessionKey {
                begin_string,
                sender,
                target,
            } = session;
            let _ = write!(
                text,
                "\n[SESSION]\nBeginString={begin_string}\nSenderCompID={sender}\nTargetCompID={target}\n"
            );
            if target == "NO_CHECK_FIELDS_HAVE_VALUES" {
                text.push_str("ValidateFieldsHaveValues=N\n");
            }
        }
        text
    }
}

/// A script that contradicts the specification, and the contradicted clause.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exception {
    /// Folder and file.
    pub script: String,
    /// The contradicted clause, and the engine's behaviour instead.
    pub reason: String,
}

/// Reads the list of exceptions: `folder/file.def: clause; reason`, `#` begins a comment.
pub fn exceptions(text: &str) -> Result<Vec<Exception>, String> {
    let lines = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_once(": ") {
            Some((script, reason)) if reason.contains(';') => Ok(Exception {
                script: script.to_owned(),
                reason: reason.to_owned(),
            }),
            _ => Err(format!(
                "an exception needs a script, a clause and a reason: {line}"
            )),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::def::script::parse;

    fn script(text: &[u8]) -> Script {
        Script {
            name: "fix42/a.def".to_owned(),
            steps: parse(text).unwrap_or_default(),
        }
    }

    #[test]
    fn only_an_answered_logon_makes_a_session() {
        let known = script(
            b"I8=FIX.4.2\x0135=A\x0149=TW\x0156=ISLD\x01\nE8=FIX.4.2\x0135=A\x0149=ISLD\x0156=TW\x01\n",
        );
        let unknown = script(b"I8=FIX.4.2\x0135=A\x0149=WT\x0156=ISLD\x01\neDISCONNECT\n");
        let found = sessions(&[known, unknown]);
        assert_eq!(
            found
                .iter()
                .map(|key| key.target.as_str())
                .collect::<Vec<_>>(),
            ["TW"]
        );
    }

    #[test]
    fn only_six_seconds_in_a_logon_are_shortened() {
        let mut changed =
            script(b"I8=FIX.4.2\x0135=A\x01108=6\x01\nI8=FIX.4.2\x0135=A\x01108=60\x01\n");
        shorten_heartbeats(&mut changed);
        let second = b"I8=FIX.4.2\x0135=A\x01108=2\x01\nI8=FIX.4.2\x0135=A\x01108=60\x01\n";
        assert_eq!(changed.steps, script(second).steps);
    }

    #[test]
    fn an_exception_without_a_clause_is_refused() {
        assert!(exceptions("# none\n").is_ok_and(|list| list.is_empty()));
        assert!(exceptions("fix42/a.def: FIX 4.2 p. 5; says so").is_ok());
        assert!(exceptions("fix42/a.def: because").is_err());
    }
}
