//! docs/guide/overview.md lists every command and no other; each command named on any page exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::rights::commands;

const PAGE: &str = include_str!("../../../../docs/guide/overview.md");

/// The commands of a line: `fixwire log grep, order   what they do` has two.
fn of_line(line: &str) -> Option<Vec<String>> {
    let (names, _) = line.strip_prefix("fixwire ")?.split_once("  ")?;
    let (family, first) = names.split_once(' ').unwrap_or((names, ""));
    let names = first.split(", ");
    Some(
        names
            .map(|name| format!("{family} {name}").trim_end().to_owned())
            .collect(),
    )
}

#[test]
fn the_overview_lists_every_command() {
    let (_, list) = PAGE.split_once("## Commands").unwrap();
    let listed: Vec<String> = list.lines().filter_map(of_line).flatten().collect();
    let on_page: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), on_page.len(), "a command is listed twice");
    let all: BTreeSet<String> = commands().iter().map(|path| path.join(" ")).collect();
    assert!(all.len() > 60, "{all:?}");
    let missing: Vec<&String> = all.difference(&on_page).collect();
    let unknown: Vec<&String> = on_page.difference(&all).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "docs/guide/overview.md lacks {missing:?}, and has {unknown:?}, which are none"
    );
}

/// The Markdown files in a folder and its subfolders.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => pages(&path),
            path => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect()
}

#[test]
fn each_command_that_a_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all: BTreeSet<String> = commands().iter().map(|path| path.join(" ")).collect();
    let begins = |name: &str| {
        let inside = format!("{name} ");
        all.iter()
            .any(|known| known == name || known.starts_with(&inside))
    };
    let is_family = |name: &str| !all.contains(name);
    let mut named = 0;
    let mut pages = pages(&root.join("docs"));
    pages.push(root.join("README.md"));
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for line in text.split("`fixwire ").skip(1) {
            let span = line.split('`').next().unwrap();
            let is_name = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            let mut words = span
                .split_whitespace()
                .take_while(is_name)
                .filter(|word| !word.starts_with('-'));
            let Some(command) = words.next() else {
                continue;
            };
            named += 1;
            let page = page.display();
            assert!(begins(command), "{page}: no command `fixwire {span}`");
            if let Some(next) = words.next().filter(|_| is_family(command)) {
                let name = format!("{command} {next}");
                assert!(begins(&name), "{page}: no command `fixwire {span}`");
            }
        }
    }
    assert!(named > 100, "only {named} commands");
}
