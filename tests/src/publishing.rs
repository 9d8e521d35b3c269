//! The requirements for a crate before others can use it from a registry.

use serde_json::Value;
use std::path::Path;

/// Ours that are published; programs, rigs and what only they use are not.
pub const PUBLIC: [&str; 23] = [
    "fixwire",
    "fixwire-control",
    "fixwire-dictionary",
    "fixwire-engine",
    "fixwire-gateway",
    "fixwire-gateway-service",
    "fixwire-harness",
    "fixwire-journal",
    "fixwire-ledger",
    "fixwire-logs",
    "fixwire-net",
    "fixwire-oms",
    "fixwire-passwords",
    "fixwire-protocol",
    "fixwire-random",
    "fixwire-schedule",
    "fixwire-settings",
    "fixwire-signing",
    "fixwire-sys",
    "fixwire-text",
    "fixwire-threads",
    "fixwire-tmp",
    "fixwire-transform",
];

/// The fields of a crate that a registry shows and asks for.
const SHOWN: [&str; 6] = [
    "description",
    "documentation",
    "license",
    "readme",
    "repository",
    "rust_version",
];
/// The most that the registry allows for each.
const WORDS_MAX: usize = 5;
/// The files that users get with each crate.
const FILES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];
/// Crates with dictionaries made from QuickFIX's, whose licence goes with them.
const WITH_NOTICE: [&str; 1] = ["fixwire-protocol"];

/// The reasons why crates cannot be published, as `cargo metadata` lists our packages; `exists` looks for a file.
pub fn missing(metadata: &Value, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let packages = metadata["packages"].as_array();
    let mut found = Vec::new();
    for package in packages.map_or(&[][..], Vec::as_slice) {
        let name = package["name"].as_str().unwrap_or_default();
        let is_public = PUBLIC.contains(&name);
        // None means every registry, an empty list none.
        if package["publish"].is_null() != is_public {
            let other = if is_public {
                "`publish = false`"
            } else {
                "`publish`"
            };
            found.push(format!(
                "{name}: {other} does not fit the list of public crates"
            ));
        }
        if is_public {
            found.extend(lacks(package, &exists).map(|what| format!("{name}: {what}")));
        }
    }
    found
}

/// The things that one public crate lacks.
fn lacks<'a>(
    package: &'a Value,
    exists: &'a impl Fn(&Path) -> bool,
) -> impl Iterator<Item = String> + 'a {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let shown = SHOWN.iter().filter(move |key| text(key).is_empty());
    let shown = shown.map(|key| format!("no {key}"));
    let words = ["keywords", "categories"].into_iter().filter(|key| {
        let count = package[*key].as_array().map_or(0, Vec::len);
        !(1..=WORDS_MAX).contains(&count)
    });
    let words = words.map(|key| format!("one to {WORDS_MAX} {key}"));
    let folder = Path::new(text("manifest_path")).parent();
    let folder = folder.unwrap_or(Path::new(""));
    let notice = WITH_NOTICE.contains(&text("name")).then_some("NOTICE");
    let files = FILES.into_iter().chain(notice);
    let files = files.filter(move |file| !exists(&folder.join(file)));
    let files = files.map(|file| format!("no {file} in its folder"));
    shown.chain(words).chain(files).chain(unversioned(package))
}

/// Our crates that it is built with and that a registry could not name.
fn unversioned(package: &Value) -> impl Iterator<Item = String> + '_ {
    let used = package["dependencies"].as_array();
    let used = used.map_or(&[][..], Vec::as_slice).iter();
    used.filter(|it| !it["path"].is_null() && it["kind"] != "dev")
        .filter_map(|it| {
            let name = it["name"].as_str().unwrap_or_default();
            if !PUBLIC.contains(&name) {
                return Some(format!("is built with {name}, which is not public"));
            }
            (it["req"] == "*").then(|| format!("names no version of {name}"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn whole() -> Value {
        json!({
            "name": "fixwire-protocol", "publish": null, "manifest_path": "/x/Cargo.toml",
            "description": "d", "documentation": "d", "license": "MIT", "readme": "README.md",
            "repository": "r", "rust_version": "1.95", "keywords": ["a"], "categories": ["a"],
            "dependencies": [
                { "name": "fixwire-sys", "path": "/y", "req": "^0.1", "kind": null },
                { "name": "fixwire-lab", "path": "/z", "req": "*", "kind": "dev" },
            ],
        })
    }

    fn of(package: Value) -> Vec<String> {
        missing(&json!({ "packages": [package] }), |path| {
            path.starts_with("/x")
        })
    }

    #[test]
    fn a_crate_with_everything_can_be_published() {
        assert!(of(whole()).is_empty());
        let private = json!({ "name": "fixwire-lab", "publish": [] });
        assert!(of(private).is_empty());
    }

    #[test]
    fn each_thing_that_is_missing_is_named() {
        for (key, value, why) in [
            ("description", Value::Null, "no description"),
            ("readme", json!(""), "no readme"),
            ("keywords", json!([]), "keywords"),
            (
                "categories",
                json!(["a", "b", "c", "d", "e", "f"]),
                "categories",
            ),
            ("publish", json!([]), "publish = false"),
            (
                "manifest_path",
                json!("/elsewhere/Cargo.toml"),
                "no LICENSE-APACHE",
            ),
            (
                "dependencies",
                json!([{ "name": "fixwire-sys", "path": "/y", "req": "*", "kind": null }]),
                "no version of fixwire-sys",
            ),
            (
                "dependencies",
                json!([{ "name": "fixwire-lab", "path": "/y", "req": "^1", "kind": "build" }]),
                "fixwire-lab, which is not public",
            ),
        ] {
            let mut package = whole();
            package[key] = value;
            let found = of(package);
            assert!(!found.is_empty() && found[0].contains(why), "{found:?}");
        }
        let private = json!({ "name": "fixwire-lab", "publish": null });
        assert_eq!(of(private).len(), 1);
    }
}
