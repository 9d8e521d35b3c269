//! The dictionaries of the FIX Trading Community, and the differences of a built-in one: in fields, types, values,
//! membership and required members. Names of values and the order of members are not compared.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use fixwire_dictionary::{DocumentLimits, orchestra};
use fixwire_protocol::dictionary::{Dictionary, Member, OtherValues};

use crate::packages::workspace;
use crate::peers::{copy_dependencies, is_older, output_folder, run, text};

/// The package, with its version.
const PACKAGE: &str = "fix-standard-1.5.4.jar";

/// The folder of the package's files: fetched once, unpacked by the JDK.
fn folder() -> Result<PathBuf, String> {
    static FETCHING: Mutex<()> = Mutex::new(());
    let _fetching = FETCHING.lock().unwrap_or_else(PoisonError::into_inner);
    let pom = workspace().join("tests/foreign/orchestrations/pom.xml");
    let pom = std::path::absolute(&pom).unwrap_or(pom);
    let folder = output_folder("foreign")?.join("orchestrations");
    let stamp = folder.join("installed");
    if is_older(&stamp, &[&pom]) {
        let error = |error: std::io::Error| format!("{folder:?}: {error}");
        fs::create_dir_all(&folder).map_err(error)?;
        copy_dependencies(&pom, &folder)?;
        let mut unpack = Command::new("jar");
        let package = text(&folder.join(PACKAGE));
        unpack.args(["xf", &package]).current_dir(&folder);
        run(&mut unpack, "apt-get install openjdk-17-jdk-headless")?;
        fs::write(&stamp, "").map_err(error)?;
    }
    Ok(folder)
}

/// The text of a file of the package.
///
/// # Errors
///
/// Maven or a JDK is missing, or the package cannot be fetched.
pub fn file(name: &str) -> Result<String, String> {
    let path: &Path = &folder()?.join(name);
    fs::read_to_string(path).map_err(|error| format!("{path:?}: {error}"))
}

/// The dictionary of a file of the package.
///
/// # Errors
///
/// As for [`file()`], or the file is not read.
pub fn dictionary(name: &str) -> Result<Dictionary, String> {
    orchestra::read(&file(name)?, DocumentLimits::default())
        .map_err(|error| format!("{name}: {error}"))
}

/// The differences between our dictionary and the standard's, a line each.
#[must_use]
pub fn differences(ours: &Dictionary, standard: &Dictionary) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let tags = |of: &Dictionary| -> BTreeSet<u32> { of.fields().iter().map(|it| it.tag).collect() };
    let (here, there) = (tags(ours), tags(standard));
    only(&mut found, "field", &here, &there);
    for tag in here.intersection(&there) {
        let (Some(one), Some(other)) = (ours.field(*tag), standard.field(*tag)) else {
            continue;
        };
        let mut differs = |what: &str, one: String, other: String| {
            if one != other {
                found.insert(format!("field {tag}: {what} {one} here, {other} there"));
            }
        };
        differs("name", one.name.clone(), other.name.clone());
        let kind = |it: &fixwire_protocol::dictionary::FieldDef| it.kind.quickfix_name().to_owned();
        differs("type", kind(one), kind(other));
        let others = |values: OtherValues| values.to_string();
        differs("open to", others(one.others), others(other.others));
        let values = |of: &fixwire_protocol::dictionary::FieldDef| -> BTreeSet<String> {
            of.values.iter().map(|it| it.value.clone()).collect()
        };
        match (one.values.is_empty(), other.values.is_empty()) {
            (false, false) => {
                only(
                    &mut found,
                    &format!("field {tag}: value"),
                    &values(one),
                    &values(other),
                );
            }
            (true, true) => {}
            (one, _) => {
                let side = if one { "there" } else { "here" };
                found.insert(format!("field {tag}: values {side} only"));
            }
        }
    }
    layouts(&mut found, ours, standard);
    found
}

fn layouts(found: &mut BTreeSet<String>, ours: &Dictionary, standard: &Dictionary) {
    let of = |dictionary: &Dictionary| {
        let messages = dictionary.messages().iter();
        let all =
            messages.map(|message| (message.msg_type().to_owned(), places(message.members())));
        let header = ("header".to_owned(), places(dictionary.header().members()));
        let trailer = ("trailer".to_owned(), places(dictionary.trailer().members()));
        all.chain([header, trailer]).collect::<BTreeMap<_, _>>()
    };
    let (here, there) = (of(ours), of(standard));
    let types =
        |of: &BTreeMap<String, Places>| -> BTreeSet<String> { of.keys().cloned().collect() };
    only(found, "message", &types(&here), &types(&there));
    for (msg_type, one) in &here {
        let Some(other) = there.get(msg_type) else {
            continue;
        };
        let paths = |of: &Places| -> BTreeSet<String> { of.keys().cloned().collect() };
        only(
            found,
            &format!("message {msg_type}: member"),
            &paths(one),
            &paths(other),
        );
        for (path, required) in one {
            if other.get(path).is_some_and(|there| there != required) {
                let side = if *required { "here" } else { "there" };
                found.insert(format!(
                    "message {msg_type}: member {path} required {side} only"
                ));
            }
        }
    }
}

/// Members by their path, such as `78/79`, and whether they are required.
type Places = BTreeMap<String, bool>;

fn places(members: &[Member]) -> Places {
    fn add(places: &mut Places, path: &str, members: &[Member]) {
        for member in members {
            let path = format!("{path}{}", member.tag);
            if let Some(group) = &member.group {
                add(places, &format!("{path}/"), group.members());
            }
            places.insert(path, member.required);
        }
    }
    let mut places = Places::new();
    add(&mut places, "", members);
    places
}

/// The entries of one side alone.
fn only<T: Ord + std::fmt::Display>(
    found: &mut BTreeSet<String>,
    what: &str,
    here: &BTreeSet<T>,
    there: &BTreeSet<T>,
) {
    found.extend(
        here.difference(there)
            .map(|it| format!("{what} {it} here only")),
    );
    found.extend(
        there
            .difference(here)
            .map(|it| format!("{what} {it} there only")),
    );
}

/// Values of a field, each with the first version that has it: `added` and `addedEP`.
pub type ValuesSince = BTreeMap<String, (String, Option<u32>)>;

/// The values of FIX Latest by tag.
#[must_use]
pub fn values_since(latest: &str) -> BTreeMap<u32, ValuesSince> {
    let mut sets: BTreeMap<&str, ValuesSince> = BTreeMap::new();
    let mut fields = BTreeMap::new();
    let mut set = "";
    for element in latest.split("<fixr:").skip(1) {
        let (element, _) = element.split_once('>').unwrap_or((element, ""));
        let of = |name: &str| attribute(element, name);
        match element.split_ascii_whitespace().next() {
            Some("codeSet") => set = of("name").unwrap_or_default(),
            Some("code") => {
                let pack = of("addedEP").and_then(|pack| pack.parse().ok());
                let since = (of("added").unwrap_or_default().to_owned(), pack);
                let value = of("value").unwrap_or_default().to_owned();
                sets.entry(set).or_default().insert(value, since);
            }
            Some("field") => {
                if let (Some(tag), Some(kind)) = (of("id"), of("type")) {
                    fields.insert(tag.parse().unwrap_or(0), kind);
                }
            }
            _ => {}
        }
    }
    let named = fields.into_iter();
    let found = named.filter_map(|(tag, kind)| Some((tag, sets.get(kind)?.clone())));
    found.collect()
}

fn attribute<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = element.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}
