//! The licences under which we may use foreign packages, and the sources of these packages.

use serde_json::Value;

/// The licences we may use: permissive ones, which only ask for attribution.
const ALLOWED: [&str; 10] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];
/// Packages with another licence that may be used unchanged; NOTICE names each.
const UNCHANGED: [(&str, &str); 1] = [("smartstring", "MPL-2.0+")];
/// The registry of all packages.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The errors in the licences and sources of packages, as `cargo metadata` lists them.
pub fn unfit(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array();
    let mut found = Vec::new();
    for package in packages.map_or(&[][..], Vec::as_slice) {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let (name, version) = (text("name"), text("version"));
        let licence = text("license");
        if !UNCHANGED.contains(&(name, licence)) && !may_be_used(licence) {
            found.push(format!(
                "{name} {version}: the licence \"{licence}\" is not on the list"
            ));
        }
        // Our own packages have none.
        if !package["source"].is_null() && text("source") != REGISTRY {
            let source = text("source");
            found.push(format!(
                "{name} {version}: comes from {source}, not from the registry"
            ));
        }
    }
    found
}

/// Sources in the text of a lock file other than the registry.
pub fn other_sources(lock: &str) -> Vec<String> {
    let sources = lock.lines().enumerate().filter_map(|(index, line)| {
        let source = line.strip_prefix("source = ")?.trim_matches('"');
        (source != REGISTRY).then(|| format!("line {}: {source} is not the registry", index + 1))
    });
    sources.collect()
}

/// Whether this expression allows a choice with permitted licences only.
fn may_be_used(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ");
    // Packages from before SPDX.
    let spaced = spaced.replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = &words[..];
    any(&mut rest) == Some(true) && rest.is_empty()
}

/// Terms with OR between them.
fn any(words: &mut &[&str]) -> Option<bool> {
    let mut fits = all(words)?;
    while take(words, "OR") {
        fits |= all(words)?;
    }
    Some(fits)
}

/// Terms with AND between them.
fn all(words: &mut &[&str]) -> Option<bool> {
    let mut fits = one(words)?;
    while take(words, "AND") {
        fits &= one(words)?;
    }
    Some(fits)
}

/// A licence, with its exception if it has one, or an expression in brackets.
fn one(words: &mut &[&str]) -> Option<bool> {
    if take(words, "(") {
        let fits = any(words)?;
        return take(words, ")").then_some(fits);
    }
    let (licence, rest) = words.split_first()?;
    *words = rest;
    let mut licence = (*licence).to_owned();
    if take(words, "WITH") {
        let (exception, rest) = words.split_first()?;
        *words = rest;
        licence = format!("{licence} WITH {exception}");
    }
    Some(ALLOWED.contains(&&*licence))
}

fn take(words: &mut &[&str], word: &str) -> bool {
    let is_next = words.first() == Some(&word);
    *words = &words[usize::from(is_next)..];
    is_next
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn expressions_leave_a_way_or_none() {
        for fits in [
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 / MIT",
            "MIT OR GPL-3.0-only",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
        ] {
            assert!(may_be_used(fits), "{fits}");
        }
        for unfit in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT OR Apache-2.0) AND AGPL-3.0",
            "Apache-2.0 WITH other-exception",
            "MIT OR",
            "MIT MIT",
            "(MIT",
            "MPL-2.0",
        ] {
            assert!(!may_be_used(unfit), "{unfit}");
        }
    }

    #[test]
    fn a_bad_licence_and_a_git_source_are_named() {
        let package = |name: &str, licence: &str, source: Value| json!({ "packages": [{ "name": name, "version": "1.0.0", "license": licence, "source": source }] });
        assert!(unfit(&package("a", "MIT", json!(REGISTRY))).is_empty());
        assert!(unfit(&package("fixwire", "MIT", Value::Null)).is_empty());
        assert!(unfit(&package("smartstring", "MPL-2.0+", json!(REGISTRY))).is_empty());
        for (planted, why) in [
            (
                package("a", "GPL-3.0-only", json!(REGISTRY)),
                "GPL-3.0-only",
            ),
            (package("a", "MPL-2.0+", json!(REGISTRY)), "MPL-2.0+"),
            (
                package("a", "MIT", json!("git+https://example.org/a")),
                "git+",
            ),
            (
                package("a", "MIT", json!("registry+https://example.org")),
                "example.org",
            ),
            (
                json!({ "packages": [{ "name": "a", "version": "1.0.0", "source": REGISTRY }] }),
                "\"\"",
            ),
        ] {
            let found = unfit(&planted);
            assert!(found.len() == 1 && found[0].contains(why), "{found:?}");
        }
    }

    #[test]
    fn another_source_in_a_lock_file_is_named() {
        let lock = format!("[[package]]\nname = \"a\"\nsource = \"{REGISTRY}\"\n");
        assert!(other_sources(&lock).is_empty());
        let lock = "[[package]]\nsource = \"git+https://example.org/a#1\"\n";
        assert_eq!(other_sources(lock).len(), 1);
    }
}
