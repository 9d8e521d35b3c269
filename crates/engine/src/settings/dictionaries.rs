//! The dictionaries that a file's sessions validate with.

use std::collections::BTreeMap;
use std::sync::Arc;

use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::session::{ApplVerId, BeginString};

use super::config::appl_ver_id;
use super::problem::LoadError;
use super::resolve::{SessionSettings, Settings};
use super::{Id, Value};
use crate::dictionaries;

impl Settings {
    /// What the messages of each session are made of, in the order of the sessions: the dictionary that
    /// it validates with, or would when it did. A gateway reads and writes them by it.
    ///
    /// # Errors
    ///
    /// [`LoadError::Content`] when a dictionary cannot be read.
    pub fn dictionaries(&self) -> Result<Vec<Arc<Dictionary>>, LoadError> {
        let mut shelf = Shelf::default();
        let sessions = self.sessions.iter();
        let dictionaries = sessions.map(|session| {
            let begin_string = begin_string(self, session)?;
            made_of(self, session, begin_string, &mut shelf)
        });
        dictionaries.collect()
    }
}

/// The session layer of a session.
pub(super) fn begin_string(
    settings: &Settings,
    from: &SessionSettings,
) -> Result<BeginString, LoadError> {
    let text = from.text(Id::BeginString).unwrap_or_default();
    BeginString::parse(text.as_bytes()).ok_or_else(|| {
        let note = format!("there is no session layer {text}");
        settings.error(from, Id::BeginString, note)
    })
}

/// The dictionary that a session validates with.
pub(super) fn dictionary(
    settings: &Settings,
    from: &SessionSettings,
    begin_string: BeginString,
    shelf: &mut Shelf,
) -> Result<Option<Arc<Dictionary>>, LoadError> {
    if !from.bool(Id::UseDataDictionary) || !from.bool(Id::ValidateIncomingMessage) {
        return Ok(None);
    }
    made_of(settings, from, begin_string, shelf).map(Some)
}

/// The dictionary of a session; of a FIXT session the application's over the transport's.
fn made_of(
    settings: &Settings,
    from: &SessionSettings,
    begin_string: BeginString,
    shelf: &mut Shelf,
) -> Result<Arc<Dictionary>, LoadError> {
    let mut take = |id: Id, version: &str| {
        let mut named = from.all(id).filter(|setting| setting.number.is_none());
        let named = named.find_map(|setting| match &setting.value {
            Value::Text(words) => Some(words.clone()),
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

/// The dictionaries of a FIXT session's other versions: `AppDataDictionary.FIX.4.4` and the like.
pub(super) fn appl_dictionaries(
    settings: &Settings,
    from: &SessionSettings,
    begin_string: BeginString,
    shelf: &mut Shelf,
) -> Result<Vec<(ApplVerId, Arc<Dictionary>)>, LoadError> {
    let checks = from.bool(Id::UseDataDictionary) && from.bool(Id::ValidateIncomingMessage);
    let mut found = Vec::new();
    if begin_string < BeginString::Fixt11 || !checks {
        return Ok(found);
    }
    let error = |id, note| settings.error(from, id, note);
    for setting in from.all(Id::AppDataDictionary) {
        let (Some(number), Value::Text(words)) = (setting.number, &setting.value) else {
            continue;
        };
        let Some(version) = ApplVerId::parse(number.to_string().as_bytes()) else {
            continue;
        };
        let mut names = Version::ALL.into_iter().map(Version::name);
        let usual = names.find(|name| appl_ver_id(name) == Some(version));
        let (above, application) = shelf
            .take(Some(words), usual.unwrap_or_default())
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

/// The shelf mark of a built-in dictionary: no path has a NUL.
fn built_in(name: &str) -> String {
    format!("\0{name}")
}

/// Dictionaries that were read, each once however many sessions use it.
#[derive(Default)]
pub(super) struct Shelf {
    read: BTreeMap<String, Arc<Dictionary>>,
}

impl Shelf {
    /// What the words name, or what is built in for the version, with its shelf mark.
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

    fn built_in(&mut self, name: &str) -> Result<Arc<Dictionary>, String> {
        let known = Version::ALL
            .into_iter()
            .find(|version| version.name() == name);
        let version = known
            .ok_or_else(|| format!("there is no built-in dictionary of {name}: name a file"))?;
        let make = || Arc::new(Dictionary::built_in(version));
        Ok(Arc::clone(
            self.read.entry(built_in(name)).or_insert_with(make),
        ))
    }

    /// An application's dictionary over a transport's, each with its shelf mark.
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

    /// A file, or a dictionary with deltas behind it; `built-in` is that of `version`.
    fn named(&mut self, words: &str, version: &str, key: &str) -> Result<Arc<Dictionary>, String> {
        if let Some(known) = self.read.get(key) {
            return Ok(Arc::clone(known));
        }
        let read = dictionaries::load(words, Version::from_name(version));
        let read = Arc::new(read.map_err(|error| error.to_string())?);
        self.read.insert(key.to_owned(), Arc::clone(&read));
        Ok(read)
    }
}
