//! docs/guide/overview.md lists every command and no other.

use std::collections::BTreeSet;

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
