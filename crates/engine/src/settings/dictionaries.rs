//! The dictionaries that a file's sessions validate with.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::sync::Arc;

use fixwire_protocol::dictionary::{Dictionary, Limits as Bounds, Version};
use fixwire_protocol::session::{ApplVerId, BeginString};

use super::problem::LoadError;
use super::resolve::{SessionSettings, Settings};
use super::{Id, Value};

/// The dictionary that a session validates with; of a FIXT session the application's over the
/// transport's.
pub(super) fn dictionary(
    settings: &Settings,
    from: &SessionSettings,
    begin_string: BeginString,
    shelf: &mut Shelf,
) -> Result<Option<Arc<Dictionary>>, LoadError> {
    if !from.bool(Id::UseDataDictionary) || !from.bool(Id::ValidateIncomingMessage) {
        return Ok(None);
    }
    let mut take = |id: Id, version: &str| {
        let mut named = from.all(id).filter(|setting| setting.number.is_none());
        let named = named.find_map(|setting| match &setting.value {
            Value::Text(path) => Some(path.clone()),
            _ => None,
        });
        let key = named.clone().unwrap_or_else(|| built_in(version));
        let made = match named {
            Some(path) => shelf.file(&path),
            None => shelf.built_in(version),
        };
        made.map(|made| (key, made))
            .map_err(|note| settings.error(from, id, note))
    };
    let version = begin_string.as_str();
    if begin_string < BeginString::Fixt11 {
        return take(Id::DataDictionary, version).map(|(_, dictionary)| Some(dictionary));
    }
    let default = from.text(Id::DefaultApplVerID).unwrap_or("FIX.5.0SP2");
    let (below, transport) = take(Id::TransportDataDictionary, version)?;
    let (above, application) = take(Id::AppDataDictionary, default)?;
    Ok(Some(
        shelf.over((&above, &application), (&below, &transport)),
    ))
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
        let (Some(number), Value::Text(path)) = (setting.number, &setting.value) else {
            continue;
        };
        let Some(version) = ApplVerId::parse(number.to_string().as_bytes()) else {
            continue;
        };
        let application = shelf
            .file(path)
            .map_err(|note| error(Id::AppDataDictionary, note))?;
        let below = from.text(Id::TransportDataDictionary);
        let transport = match below {
            Some(path) => shelf.file(path),
            None => shelf.built_in(begin_string.as_str()),
        };
        let transport = transport.map_err(|note| error(Id::TransportDataDictionary, note))?;
        let below = below.map_or_else(|| built_in(begin_string.as_str()), str::to_owned);
        found.push((
            version,
            shelf.over((path, &application), (&below, &transport)),
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
    fn built_in(&mut self, name: &str) -> Result<Arc<Dictionary>, String> {
        let known = Version::ALL
            .into_iter()
            .find(|version| version.name() == name);
        let version = known.ok_or_else(|| format!("there is no built-in dictionary of {name}"))?;
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

    fn file(&mut self, path: &str) -> Result<Arc<Dictionary>, String> {
        if let Some(known) = self.read.get(path) {
            return Ok(Arc::clone(known));
        }
        let limits = Bounds::default();
        let mut text = String::new();
        let most = limits.bytes as u64 + 1;
        fs::File::open(path)
            .and_then(|file| file.take(most).read_to_string(&mut text))
            .map_err(|error| format!("cannot read the dictionary {path}: {error}"))?;
        let read = Dictionary::from_quickfix_xml(&text, limits)
            .map_err(|error| format!("{path}: {error}"))?;
        let read = Arc::new(read);
        self.read.insert(path.to_owned(), Arc::clone(&read));
        Ok(read)
    }
}
