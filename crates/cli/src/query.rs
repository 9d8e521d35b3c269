//! Selects messages by a condition of gateway rules (docs/reference/gateway-rules.md#conditions).

use std::sync::Arc;

use fixwire::gateway::Rules;
use fixwire::gateway::rules::{Facts, NamedSession, RuleContext, RuleError, RuleScratch};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Decoder, Dictionary, Message, Mono, Now, Timestamp};

use crate::dictionary::load;
use crate::failure::Failure;

/// The text before the condition in the rules file that is generated for it.
const BEFORE: &str = "when = '''";

/// The dictionaries of messages: one for each version, or one for all.
pub struct Shelf {
    versions: Vec<(&'static str, Arc<Dictionary>)>,
    one: bool,
}

impl Shelf {
    /// The built-in dictionaries, or this dictionary for all messages.
    ///
    /// # Errors
    ///
    /// The name is unknown.
    pub fn new(named: Option<&str>) -> Result<Self, Failure> {
        if let Some(name) = named {
            let versions = vec![("", Arc::new(load(name)?))];
            return Ok(Self {
                versions,
                one: true,
            });
        }
        let transport = Dictionary::built_in(Version::Fixt11);
        let versions = Version::ALL.into_iter().map(|version| {
            let dictionary = Dictionary::built_in(version);
            let dictionary = match version.appl_ver_id() {
                Some(_) if version > Version::Fix44 => dictionary.over(&transport),
                _ => dictionary,
            };
            (version.name(), Arc::new(dictionary))
        });
        Ok(Self {
            versions: versions.collect(),
            one: false,
        })
    }

    /// The index of a message's dictionary. Over FIXT 1.1, ApplVerID(1128) gives the version; without it, the version
    /// is FIX 5.0 SP2.
    pub fn place(&self, message: &Message<'_>) -> usize {
        self.known_place(message, None).unwrap_or(4)
    }

    /// The index of a message's dictionary. Without ApplVerID(1128), the version is `default`, which is that of the
    /// session. `None` for an unknown version.
    pub fn known_place(&self, message: &Message<'_>, default: Option<&[u8]>) -> Option<usize> {
        if self.one {
            return Some(0);
        }
        let begin_string = message.get(8).unwrap_or_default();
        let wanted = match (begin_string, message.get(1128).or(default)) {
            (b"FIXT.1.1", Some(id)) => Version::ALL
                .into_iter()
                .find(|version| version.appl_ver_id().map(str::as_bytes) == Some(id))
                .map_or("FIX.5.0SP2", Version::name)
                .as_bytes(),
            (b"FIXT.1.1", None) => b"FIX.5.0SP2",
            _ => begin_string,
        };
        let mut versions = self.versions.iter();
        versions.position(|(name, _)| name.as_bytes() == wanted)
    }

    /// Adds the data fields of all dictionaries to a decoder.
    pub fn teach(&self, decoder: &mut Decoder) {
        for (_, dictionary) in &self.versions {
            decoder.learn(dictionary);
        }
    }

    /// The dictionary with this index.
    pub fn dictionary(&self, place: usize) -> &Dictionary {
        &self.versions[place].1
    }
}

/// A condition, compiled for each version whose dictionary has the names in it.
pub struct Query {
    /// The compiled condition, by the index of the dictionary.
    rules: Vec<Option<(Rules, RuleScratch)>>,
}

impl Query {
    /// Parses a condition. `name` is the name of the argument, for errors.
    ///
    /// # Errors
    ///
    /// The error in the condition. If the versions have different errors, the error of the newest version.
    pub fn new(name: &str, text: &str, shelf: &Shelf) -> Result<Self, Failure> {
        // The quotes of the generated file cannot contain these characters.
        if text.contains("'''") || text.contains(|c: char| c.is_control()) {
            let why = "a condition must not have control characters or three ' in a row";
            return Err(Failure::Text(format!("{name}: {why}")));
        }
        let mut errors = Vec::new();
        let rules: Vec<_> = (shelf.versions.iter())
            .map(|(version, dictionary)| match read(text, dictionary) {
                Ok(rules) => {
                    let scratch = rules.scratch(256, 8192);
                    Some((rules, scratch))
                }
                Err(found) => {
                    errors.push((*version, found));
                    None
                }
            })
            .collect();
        if rules.iter().any(Option::is_some) {
            return Ok(Self { rules });
        }
        let newest = errors.iter().rfind(|(version, _)| *version != "FIXT.1.1");
        let errors = newest.or(errors.last()).map(|(_, found)| &found[..]);
        let lines: Vec<String> = errors.unwrap_or_default().iter().map(say).collect();
        Err(Failure::Text(format!("{name}: {}", lines.join("; "))))
    }

    /// Whether a message matches. `place` is the index of the dictionary by which it was read.
    pub fn wants(&mut self, message: &Message<'_>, place: usize) -> bool {
        let Some(Some((rules, scratch))) = self.rules.get_mut(place) else {
            return false;
        };
        let facts = Facts {
            now: Now {
                wall: Timestamp(0),
                mono: Mono(0),
            },
            active: &[],
            remembered: b"",
        };
        let found = rules.evaluate(scratch, message, 0, &facts, &mut |_, _| {});
        found.matched > 0
    }
}

fn say(error: &RuleError) -> String {
    let column = error.column.saturating_sub(BEFORE.len()).max(1);
    let hint = error.hint.as_ref();
    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("at {column}: {}{hint}", error.problem)
}

/// Compiles a rule with this condition, for a session with this dictionary.
fn read(text: &str, dictionary: &Arc<Dictionary>) -> Result<Rules, Vec<RuleError>> {
    let session = NamedSession {
        name: "JOURNAL",
        dictionary: Arc::clone(dictionary),
        peer: "",
    };
    let context = RuleContext {
        sessions: &[session],
        tables: &[],
    };
    // The condition is unchanged, so that positions of errors are positions in its text.
    let file = format!("[[rule]]\nfrom = ['JOURNAL']\n{BEFORE}{text}'''\ndo = ['stop']\n");
    Rules::load(&file, &context)
}
