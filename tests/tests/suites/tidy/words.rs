//! One word for one thing: phrases that nobody says, and names that two types have.

use std::collections::BTreeMap;
use std::path::Path;

use fixwire_rigs::{phrases, type_names};

use super::{is_test, name, nothing, rust, text, written};

/// The list of the phrases has all of them.
const LIST: &str = "tests/src/phrases.rs";

#[test]
fn texts_have_the_words_of_the_field() {
    let texts = written().into_iter().filter(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let kinds = ["rs", "md", "toml", "sh", "scenario"];
        extension.is_none_or(|extension| kinds.contains(&extension))
    });
    let texts = texts.filter(|path| path != Path::new(LIST));
    nothing(texts.flat_map(|path| name(&path, phrases::phrases(&text(&path)))));
}

#[test]
fn a_public_type_has_a_name_of_its_own() {
    let mut homes = BTreeMap::<String, Vec<String>>::new();
    let mut looked_at = 0;
    for path in rust() {
        let is_source =
            path.starts_with("crates") && path.iter().nth(2).is_some_and(|part| part == "src");
        // A file that replaces another one where that is not built has the same type names.
        let stands_in = path.ends_with("absent.rs");
        if !is_source || stands_in || is_test(&path) {
            continue;
        }
        looked_at += 1;
        let names = type_names::public_types(&text(&path));
        let names = names.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for name in names {
            let files = homes.entry(name).or_default();
            files.push(path.display().to_string());
        }
    }
    assert!(looked_at > 200, "only {looked_at} files looked at");
    nothing(type_names::twice(&homes));
}
