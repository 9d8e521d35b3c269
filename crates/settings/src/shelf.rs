//! The dictionaries against which the sessions of a file validate.

use std::collections::BTreeMap;
use std::sync::Arc;

use fixwire_dictionary::DictionaryNote;
use fixwire_engine::config::MissingDictionary;
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::session::{ApplVerId, BeginString};

use super::problem::LoadError;
use super::resolved::{SessionSettings, Setting, Settings};
use super::{Id, Problem, SettingValue, SettingsFault, dictionaries};

impl Settings {
    /// The dictionary of each session's messages, in the order of the sessions. A session validates against this
    /// dictionary, or would do so if validation were on. A gateway reads and writes messages with it.
    ///
    /// # Errors
    ///
    /// [`LoadError::Content`] when a dictionary cannot be read.
    pub fn dictionaries(&self) -> Result<Vec<Arc<Dictionary>>, LoadError> {
        let mut shelf = Shelf::default();
        self.read_dictionaries(&mut shelf, |_| true)?;
        let sessions = self.sessions.iter();
        let dictionaries = sessions.map(|session| {
            let begin_string = begin_string(self, session)?;
            made_of(self, session, begin_string, &mut shelf)
        });
        dictionaries.collect()
    }
}

impl Settings {
    /// Reads all dictionaries that sessions name, so that every unreadable dictionary is reported at once.
    pub(super) fn read_dictionaries(
        &self,
        shelf: &mut Shelf,
        of: impl Fn(&SessionSettings) -> bool,
    ) -> Result<(), LoadError> {
        let mut problems = Vec::new();
        for session in self.sessions.iter().filter(|session| of(session)) {
            for (setting, words) in named(session) {
                let version = usual(session, setting).unwrap_or_default();
                if let Err(note) = shelf.take(Some(words), version) {
                    problems.push(Problem {
                        span: setting.origin.span().unwrap_or(session.header),
                        fault: SettingsFault::Conflict { note },
                    });
                }
            }
        }
        match self.errors(problems) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Whether a session validates against a dictionary.
pub(super) fn validates(session: &SessionSettings) -> bool {
    session.bool(Id::UseDataDictionary) && session.bool(Id::ValidateIncomingMessage)
}

/// The dictionary keys in a session's own section. A FIXT session has two or more such keys, any other session has
/// one.
fn named(session: &SessionSettings) -> impl Iterator<Item = (&Setting, &str)> {
    let ids: &[Id] = match session.text(Id::BeginString) {
        Some("FIXT.1.1") => &[Id::TransportDataDictionary, Id::AppDataDictionary],
        _ => &[Id::DataDictionary],
    };
    let settings = ids.iter().flat_map(move |id| session.all(*id));
    settings.filter_map(|setting| match &setting.value {
        SettingValue::Text(words) => Some((setting, &words[..])),
        _ => None,
    })
}

/// The built-in dictionary for a session's dictionary key.
fn usual(session: &SessionSettings, setting: &Setting) -> Option<&'static str> {
    let version = match (setting.key.id, setting.number) {
        (Id::AppDataDictionary, Some(number)) => {
            let version = ApplVerId::parse(number.to_string().as_bytes())?;
            return usual_of(version);
        }
        (Id::AppDataDictionary, None) => session.text(Id::DefaultApplVerID).unwrap_or("FIX.5.0SP2"),
        _ => session.text(Id::BeginString)?,
    };
    Version::from_name(version).map(Version::name)
}

fn usual_of(version: ApplVerId) -> Option<&'static str> {
    let mut names = Version::ALL.into_iter().map(Version::name);
    names.find(|name| appl_ver_id(name) == Some(version))
}

/// Warns about missing files for which built-in dictionaries are used.
pub(super) fn warn_of_missing(session: &SessionSettings, problems: &mut Vec<Problem>) {
    if !validates(session) {
        return;
    }
    for (setting, words) in named(session) {
        if let Some((_, _, version)) = dictionaries::without_missing(words) {
            let version = version.name();
            problems.push(Problem {
                span: setting.origin.span().unwrap_or(session.header),
                fault: SettingsFault::BuiltInDictionary { version },
            });
        }
    }
}

/// Facts about a dictionary that was read.
pub(super) struct Look {
    version: String,
    has_logon: bool,
    notes: Vec<DictionaryNote>,
}

/// The facts about each dictionary, by setting and default version; `None` when the dictionary cannot be read.
pub(super) type Seen = BTreeMap<(String, &'static str), Option<Look>>;

/// Maximum number of notes on one file in a report of problems.
const MOST_NOTES: usize = 10;

/// Warns about irregular dictionaries and about wrong dictionaries. Without a Logon message in the dictionary no
/// Logon succeeds, and messages of another version do not fit the session.
pub(super) fn warn_of_odd(session: &SessionSettings, seen: &mut Seen, problems: &mut Vec<Problem>) {
    if !validates(session) {
        return;
    }
    for (setting, words) in named(session) {
        let wanted = usual(session, setting).unwrap_or_default();
        let key = (words.to_owned(), wanted);
        let first = !seen.contains_key(&key);
        let found = seen.entry(key).or_insert_with(|| look(words, wanted));
        // A dictionary that cannot be read is reported elsewhere, as an error.
        let Some(found) = found else {
            continue;
        };
        let mut notes = Vec::new();
        if first {
            let all = found.notes.iter().take(MOST_NOTES);
            notes.extend(all.map(|note| {
                (
                    note.to_string(),
                    "fixwire loads this dictionary, as other engines do",
                )
            }));
            let more = found.notes.len().saturating_sub(MOST_NOTES);
            if more > 0 {
                let note = format!("has {more} more irregular lines");
                notes.push((note, "correct the lines reported above first"));
            }
        }
        notes.extend(mismatch(setting.key.id, found, wanted));
        for (note, help) in notes {
            problems.push(Problem {
                span: setting.origin.span().unwrap_or(session.header),
                fault: SettingsFault::OddDictionary { note, help },
            });
        }
    }
}

fn look(words: &str, wanted: &str) -> Option<Look> {
    let instead = dictionaries::without_missing(words);
    let words = instead.as_ref().map_or(words, |(words, ..)| words.as_str());
    let (read, notes) = dictionaries::load_noting(words, Version::from_name(wanted)).ok()?;
    Some(Look {
        version: read.version().to_owned(),
        has_logon: read.message(b"A").is_some(),
        notes,
    })
}

/// Why a dictionary is wrong for a key. `wanted` is `None` for FIX.Latest, which is not built in.
fn mismatch(id: Id, found: &Look, wanted: &str) -> Option<(String, &'static str)> {
    const HELP: &str = "provide the file of that version, or set `built-in`";
    let version = &found.version;
    if id != Id::AppDataDictionary && !found.has_logon {
        let note = format!(
            "is a dictionary of {version} without a Logon, so that no Logon can succeed; expected a dictionary of \
             {wanted}"
        );
        return Some((note, HELP));
    }
    // A dictionary that a user has changed may have any name.
    let known = Version::from_name(version)?;
    (!wanted.is_empty() && known.name() != wanted).then(|| {
        (
            format!("is a dictionary of {version}, not of {wanted}"),
            HELP,
        )
    })
}

/// The session-layer version of a session.
pub(super) fn begin_string(
    settings: &Settings,
    from: &SessionSettings,
) -> Result<BeginString, LoadError> {
    let text = from.text(Id::BeginString).unwrap_or_default();
    BeginString::parse(text.as_bytes()).ok_or_else(|| {
        let note = format!("unknown session layer {text}");
        settings.error(from, Id::BeginString, note)
    })
}

/// The dictionary against which a session validates.
pub(super) fn dictionary(
    settings: &Settings,
    from: &SessionSettings,
    begin_string: BeginString,
    shelf: &mut Shelf,
) -> Result<Option<Arc<Dictionary>>, LoadError> {
    if !validates(from) {
        return Ok(None);
    }
    made_of(settings, from, begin_string, shelf).map(Some)
}

/// The dictionary of a session. For FIXT this is the application dictionary combined with the transport dictionary.
fn made_of(
    settings: &Settings,
    from: &SessionSettings,
    begin_string: BeginString,
    shelf: &mut Shelf,
) -> Result<Arc<Dictionary>, LoadError> {
    let mut take = |id: Id, version: &str| {
        let mut named = from.all(id).filter(|setting| setting.number.is_none());
        let named = named.find_map(|setting| match &setting.value {
            SettingValue::Text(words) => Some(words.clone()),
            _ => None,
        });
        shelf
            .take(named.as_deref(), version)
            .map_err(|note| settings.error(from, id, note))
    };
    let version = begin_string.as_str();
    if begin_string < BeginString::Fixt11 {
        return take(Id::DataDictionary, version).map(|(_, dictionary)| dictionary);
    }
    let default = from.text(Id::DefaultApplVerID).unwrap_or("FIX.5.0SP2");
    let (below, transport) = take(Id::TransportDataDictionary, version)?;
    let (above, application) = take(Id::AppDataDictionary, default)?;
    Ok(shelf.over((&above, &application), (&below, &transport)))
}

/// The dictionaries for the other versions of a FIXT session, from keys such as `AppDataDictionary.FIX.4.4`.
pub(super) fn appl_dictionaries(
    settings: &Settings,
    from: &SessionSettings,
    begin_string: BeginString,
    shelf: &mut Shelf,
) -> Result<Vec<(ApplVerId, Arc<Dictionary>)>, LoadError> {
    let mut found = Vec::new();
    if begin_string < BeginString::Fixt11 || !validates(from) {
        return Ok(found);
    }
    let error = |id, note| settings.error(from, id, note);
    for setting in from.all(Id::AppDataDictionary) {
        let (Some(number), SettingValue::Text(words)) = (setting.number, &setting.value) else {
            continue;
        };
        let Some(version) = ApplVerId::parse(number.to_string().as_bytes()) else {
            continue;
        };
        let (above, application) = shelf
            .take(Some(words), usual_of(version).unwrap_or_default())
            .map_err(|note| error(Id::AppDataDictionary, note))?;
        let (below, transport) = shelf
            .take(
                from.text(Id::TransportDataDictionary),
                begin_string.as_str(),
            )
            .map_err(|note| error(Id::TransportDataDictionary, note))?;
        found.push((
            version,
            shelf.over((&above, &application), (&below, &transport)),
        ));
    }
    Ok(found)
}

/// The id of a built-in dictionary. The id has a NUL, which no path contains.
fn built_in(name: &str) -> String {
    format!("\0{name}")
}

/// The number of an application version, found by the version's name in the registry.
pub(super) fn appl_ver_id(word: &str) -> Option<ApplVerId> {
    let number: &[u8] = match word {
        "FIX.4.0" => b"2",
        "FIX.4.1" => b"3",
        "FIX.4.2" => b"4",
        "FIX.4.3" => b"5",
        "FIX.4.4" => b"6",
        "FIX.5.0" => b"7",
        "FIX.5.0SP1" => b"8",
        "FIX.5.0SP2" => b"9",
        "FIX.Latest" => b"10",
        _ => return None,
    };
    ApplVerId::parse(number)
}

/// Dictionaries that have been read. Each is read once for all its sessions.
#[derive(Default)]
pub(super) struct Shelf {
    read: BTreeMap<String, Arc<Dictionary>>,
    /// Missing files, each with the version of the built-in dictionary that is used instead.
    missing: BTreeMap<String, Version>,
}

impl Shelf {
    /// The dictionary that a setting names, or the built-in dictionary of the version, with the id of the dictionary.
    fn take(
        &mut self,
        words: Option<&str>,
        version: &str,
    ) -> Result<(String, Arc<Dictionary>), String> {
        let key = words.unwrap_or_default().to_owned() + &built_in(version);
        let made = match words {
            Some(words) => self.named(words, version, &key),
            None => self.built_in(version),
        };
        Ok((key, made?))
    }

    /// The files for which built-in dictionaries are used.
    pub(super) fn missing(self) -> Vec<MissingDictionary> {
        let missing = self.missing.into_iter();
        let missing = missing.map(|(file, version)| MissingDictionary { file, version });
        missing.collect()
    }

    fn built_in(&mut self, name: &str) -> Result<Arc<Dictionary>, String> {
        let known = Version::ALL
            .into_iter()
            .find(|version| version.name() == name);
        let version = known
            .ok_or_else(|| format!("no built-in dictionary of {name}: set a dictionary file"))?;
        let make = || Arc::new(Dictionary::built_in(version));
        Ok(Arc::clone(
            self.read.entry(built_in(name)).or_insert_with(make),
        ))
    }

    /// An application dictionary combined with a transport dictionary, each with its id.
    fn over(
        &mut self,
        (above, application): (&str, &Dictionary),
        (below, transport): (&str, &Dictionary),
    ) -> Arc<Dictionary> {
        let both = self
            .read
            .entry(format!("{above}\0{below}"))
            .or_insert_with(|| Arc::new(application.over(transport)));
        Arc::clone(both)
    }

    /// Reads the dictionary that a setting names: a file, with or without deltas, or `built-in`, which is the
    /// dictionary of `version`.
    fn named(&mut self, words: &str, version: &str, key: &str) -> Result<Arc<Dictionary>, String> {
        if let Some(known) = self.read.get(key) {
            return Ok(Arc::clone(known));
        }
        let instead = dictionaries::without_missing(words);
        if let Some((_, file, version)) = &instead {
            self.missing.insert((*file).to_owned(), *version);
        }
        let words = instead.as_ref().map_or(words, |(words, ..)| words.as_str());
        let read = dictionaries::load(words, Version::from_name(version));
        let read = Arc::new(read.map_err(|error| error.to_string())?);
        self.read.insert(key.to_owned(), Arc::clone(&read));
        Ok(read)
    }
}
