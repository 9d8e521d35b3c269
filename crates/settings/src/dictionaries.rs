//! Loads dictionaries, each given by a version or a file, and applies deltas to them.
//!
//! ```text
//! FIX.4.4                                     a built-in one
//! FIX44-venue.xml                             QuickFIX XML, or a FIX Orchestra repository
//! built-in + venue.delta                      the built-in dictionary of the version, changed by a delta
//! FIX.5.0SP2 + exchange.xml + desk.delta      two deltas, applied one after the other
//! ```

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use fixwire_dictionary::delta::{self, Delta, DeltaError, Other, SourcePosition, place_of};
use fixwire_dictionary::{DictionaryError, DictionaryNote, DocumentLimits, text_of};
use fixwire_engine::regular;
use fixwire_protocol::dictionary::{Dictionary, Version};

use super::paths::beside;

/// Separates a dictionary from each of its deltas.
const AND: &str = " + ";
/// The word that names the default dictionary.
const BUILT_IN: &str = "built-in";

/// The version of the dictionary that other engines ship under this file name. The file may be in any folder:
/// `FIX42.xml`, `../spec/FIXT11.xml`.
pub fn stock(path: &str) -> Option<Version> {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.strip_suffix(".xml")?;
    let is = |version: &Version| version.name().replace('.', "") == stem;
    Version::ALL.into_iter().find(is)
}

/// If the file of the setting is missing and has a [`stock`] name, the built-in dictionary of its version takes its
/// place. Returns the changed setting, the missing file and the version.
pub(crate) fn without_missing(words: &str) -> Option<(String, &str, Version)> {
    let (name, deltas) = match words.split_once(AND) {
        Some((name, deltas)) => (name.trim(), Some(deltas)),
        None => (words.trim(), None),
    };
    let version = stock(name)?;
    if Path::new(name).try_exists().unwrap_or(true) {
        return None;
    }
    let built_in = version.name().to_owned();
    let words = match deltas {
        Some(deltas) => built_in + AND + deltas,
        None => built_in,
    };
    Some((words, name, version))
}

/// The setting, with `folder` put before each relative path.
pub(crate) fn placed(words: &str, folder: &Path) -> String {
    let mut parts = words.split(AND).map(str::trim);
    let name = parts.next().unwrap_or_default();
    let base = match name == BUILT_IN || Version::from_name(name).is_some() {
        true => name.to_owned(),
        false => beside(folder, name),
    };
    parts.fold(base, |words, delta| words + AND + &beside(folder, delta))
}

/// Reads a dictionary and its deltas. `usual` is the version for which `built-in` stands.
///
/// # Errors
///
/// [`DictionaryLoadError`]. The error has the file, the line and what to do.
pub fn load(words: &str, usual: Option<Version>) -> Result<Dictionary, DictionaryLoadError> {
    load_noting(words, usual).map(|(dictionary, _)| dictionary)
}

/// Loads a dictionary as [`load`] does. Also returns notes on the irregular forms in the file and on how they were
/// read.
///
/// # Errors
///
/// See [`load`].
pub fn load_noting(
    words: &str,
    usual: Option<Version>,
) -> Result<(Dictionary, Vec<DictionaryNote>), DictionaryLoadError> {
    let mut parts = words.split(AND).map(str::trim);
    let name = parts.next().unwrap_or_default();
    let (base, notes) = base(name, usual)?;
    let deltas = parts.map(delta).collect::<Result<Vec<_>, _>>()?;
    if deltas.is_empty() {
        return Ok((base, notes));
    }
    let changed = delta::apply(&base, &deltas).map_err(|error| {
        let place = match error.other.as_deref() {
            Some(Other::Base(thing)) => {
                read(name, DocumentLimits::default())
                    .ok()
                    .and_then(|bytes| {
                        let text = text_of(&bytes).ok()?;
                        place_of(text, DocumentLimits::default(), thing)
                    })
            }
            _ => None,
        };
        DictionaryLoadError::Delta {
            base: place.map(|at| (name.to_owned(), at)),
            error: Box::new(error),
        }
    });
    changed.map(|changed| (changed, notes))
}

fn base(
    name: &str,
    usual: Option<Version>,
) -> Result<(Dictionary, Vec<DictionaryNote>), DictionaryLoadError> {
    let version = match name {
        BUILT_IN => usual,
        name => Version::from_name(name),
    };
    if let Some(version) = version {
        return Ok((Dictionary::built_in(version), Vec::new()));
    }
    let bytes = read(name, DocumentLimits::default())?;
    fixwire_dictionary::read_noting(&bytes, DocumentLimits::default()).map_err(|error| {
        DictionaryLoadError::Dictionary {
            path: name.to_owned(),
            error: Box::new(error),
        }
    })
}

fn delta(path: &str) -> Result<Delta, DictionaryLoadError> {
    let limits = DocumentLimits::of_delta();
    let bytes = read(path, limits)?;
    let wrong = |error| DictionaryLoadError::Dictionary {
        path: path.to_owned(),
        error: Box::new(error),
    };
    let text = text_of(&bytes).map_err(wrong)?;
    Delta::read(path, text, limits).map_err(|error| DictionaryLoadError::Delta {
        error: Box::new(error),
        base: None,
    })
}

/// The bytes of a file, up to one byte more than the limit, because the parser refuses a longer file.
fn read(path: &str, limits: DocumentLimits) -> Result<Vec<u8>, DictionaryLoadError> {
    let most = limits.bytes as u64 + 1;
    let mut bytes = Vec::new();
    regular::open(path)
        .and_then(|file| file.take(most).read_to_end(&mut bytes))
        .map_err(|source| DictionaryLoadError::Read {
            path: path.to_owned(),
            source,
        })?;
    Ok(bytes)
}

/// Why a dictionary cannot be loaded.
#[derive(Debug)]
#[non_exhaustive]
pub enum DictionaryLoadError {
    /// The file cannot be read.
    Read {
        /// The file.
        path: String,
        /// The system error.
        source: io::Error,
    },
    /// The file is not a valid dictionary.
    Dictionary {
        /// The file.
        path: String,
        /// Position and reason.
        error: Box<DictionaryError>,
    },
    /// A delta cannot be read or applied.
    Delta {
        /// Position and reason.
        error: Box<DeltaError>,
        /// The place in the dictionary with which the delta conflicts: the file and the position.
        base: Option<(String, SourcePosition)>,
    },
}

impl fmt::Display for DictionaryLoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, source } => write!(
                f,
                "cannot read the dictionary {path}: {source}; name a dictionary file, or one of the built-in \
                 dictionaries {}",
                Version::ALL.map(Version::name).join(", ")
            ),
            Self::Dictionary { path, error } => write!(f, "{path}: {error}"),
            Self::Delta { error, base } => {
                write!(f, "{error}")?;
                match base {
                    Some((file, at)) => {
                        write!(f, ": {file}, line {}, column {}", at.line, at.column)
                    }
                    None => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for DictionaryLoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            Self::Dictionary { error, .. } => Some(error),
            Self::Delta { error, .. } => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use fixwire_dictionary::write;

    use super::*;

    #[test]
    fn a_version_a_file_and_deltas_in_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let fix44 = Dictionary::built_in(Version::Fix44);
        std::fs::write(path("a.xml"), write::quickfix(&fix44)).unwrap();
        std::fs::write(path("o.xml"), write::orchestra(&fix44)).unwrap();
        std::fs::write(path("one.delta"), "add field 9001 Flag CHAR\n").unwrap();
        std::fs::write(path("two.delta"), "add member Flag to D\n").unwrap();
        for base in [
            "FIX.4.4".to_owned(),
            "fix44".to_owned(),
            "built-in".to_owned(),
            path("a.xml"),
            path("o.xml"),
        ] {
            let usual = Some(Version::Fix44);
            assert!(load(&base, usual).unwrap() == fix44, "{base}");
            let words = format!("{base} + {} + {}", path("one.delta"), path("two.delta"));
            let changed = load(&words, usual).unwrap();
            assert!(changed.message(b"D").unwrap().member(9001).is_some());
        }
        let words = format!("FIX.4.4 + {}", path("two.delta"));
        let error = load(&words, None).unwrap_err().to_string();
        assert!(error.contains("two.delta, line 1"), "{error}");
        assert!(load("built-in", None).is_err() && load("nowhere.xml", None).is_err());
    }

    #[test]
    fn files_that_other_engines_ship_are_known_by_their_names() {
        for (path, version) in [
            ("FIX40.xml", Some(Version::Fix40)),
            ("../spec/FIX44.xml", Some(Version::Fix44)),
            ("etc\\FIX50SP2.xml", Some(Version::Fix50Sp2)),
            ("/opt/FIXT11.xml", Some(Version::Fixt11)),
            ("FIX50SP1.xml", Some(Version::Fix50Sp1)),
            ("FIX42x.xml", None),
            ("FIX42", None),
            ("FIX42.xml/mine.xml", None),
        ] {
            assert_eq!(stock(path), version, "{path}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("FIX42.xml").display().to_string();
        let words = format!("{path} + a.delta + b.delta");
        let (instead, missing, version) = without_missing(&words).unwrap();
        assert_eq!(instead, "FIX.4.2 + a.delta + b.delta");
        assert_eq!((missing, version), (&path[..], Version::Fix42));
        // An existing file is read, whatever its content.
        std::fs::write(&path, "").unwrap();
        assert_eq!(without_missing(&words), None);
        assert_eq!(without_missing("FIX.4.2"), None);
    }

    #[test]
    fn a_conflict_with_a_file_names_both_places() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let text = write::quickfix(&Dictionary::built_in(Version::Fix44));
        std::fs::write(path("a.xml"), &text).unwrap();
        std::fs::write(path("v.delta"), "\nadd field 58 Note STRING\n").unwrap();
        let error = load(&format!("{} + {}", path("a.xml"), path("v.delta")), None).unwrap_err();
        let said = error.to_string();
        let line = 1 + text
            .lines()
            .position(|line| line.contains("number=\"58\""))
            .unwrap();
        assert!(said.contains("v.delta, line 2, column 1"), "{said}");
        assert!(
            said.contains(&format!("a.xml, line {line}, column")),
            "{said}"
        );
    }
}
