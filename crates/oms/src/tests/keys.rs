//! The registry of keys, and the table of the page that is made from it.

use fixwire_text::{REQUIRED, ReloadEffect, page_rows};

use super::*;
use crate::load::setting_tables;
use crate::values::verbs::{COMMANDS, QUERIES};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/oms.md");
const HEADER: &str =
    "| table | key | value | default | a change needs | |\n| --- | --- | --- | --- | --- | --- |\n";

#[test]
fn the_table_of_the_page_is_the_registry() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let start = page.find("| table | key |").unwrap();
    let end = start + page[start..].find("\n\n").unwrap() + 1;
    let mut rows = HEADER.to_string();
    for (table, keys) in setting_tables() {
        let brackets = if table.starts_with("oms") { 1 } else { 2 };
        let title = format!("`{}{table}{}`", "[".repeat(brackets), "]".repeat(brackets));
        rows += &page_rows(&title, &keys);
    }
    let made = format!("{}{rows}{}", &page[..start], &page[end..]);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, &made).unwrap();
    }
    let there = std::fs::read_to_string(PAGE).unwrap();
    assert!(
        there == made,
        "docs/reference/oms.md is behind the registry of keys: run with UPDATE=1"
    );
}

#[test]
fn each_key_is_declared_once_and_explained() {
    for (table, keys) in setting_tables() {
        let mut names: Vec<&str> = keys.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), keys.len(), "{table}");
        for key in keys {
            assert!(
                !key.help.is_empty() && !key.form.is_empty(),
                "{table} {}",
                key.name
            );
            if !["", REQUIRED].contains(&key.default) {
                let line = format!("{} = {}", key.name, key.default);
                fixwire_text::TomlFile::parse(&line).unwrap();
            }
        }
    }
}

#[test]
fn a_default_is_what_a_missing_key_means() {
    let table = "[oms]\nday_begins = \"00:00 UTC\"\ninstruments = \"instruments.csv\"\nlimits = \"limits.csv\"\n";
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(INSTRUMENTS.to_string()),
        _ => Ok("scope,control,limit\n".to_string()),
    };
    let without = load(table, &[], &mut open).unwrap();
    let (_, keys) = setting_tables().into_iter().next().unwrap();
    let given = keys
        .iter()
        .filter(|key| !["", REQUIRED].contains(&key.default));
    let given: Vec<String> = given
        .map(|key| format!("{} = {}\n", key.name, key.default))
        .collect();
    assert!(given.len() >= 8);
    let mut with = load(&format!("{table}{}", given.concat()), &[], &mut open).unwrap();
    with.hash = without.hash;
    assert_eq!(with, without);
    assert_eq!(
        (without.orders, without.copy_within),
        (100_000, 5_000_000_000)
    );
    let restart = keys
        .iter()
        .filter(|key| key.reload == ReloadEffect::Restart);
    let restart: Vec<&str> = restart.map(|key| key.name).collect();
    assert_eq!(
        restart,
        [
            "orders",
            "appl_id",
            "stamps",
            "day_files",
            "day_format",
            "database",
            "database_password_file",
            "database_prefix",
            "own_tags",
            "conversion"
        ]
    );
}

#[test]
fn the_rights_of_the_page_are_those_of_the_verbs() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/operating/security.md"
    );
    let page = std::fs::read_to_string(path).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `oms "));
    let rows: Vec<(&str, &str)> = rows.map(|row| row[1..].split_once('|').unwrap()).collect();
    // What users write where the command line has another name.
    let written = |name: &str| match name {
        "report" => Some("report-in".to_string()),
        "accept" => Some("accept-break".to_string()),
        "settle" => Some("breaks settle".to_string()),
        "position" => Some("position set".to_string()),
        "load" => Some("positions load".to_string()),
        "differ" => Some("reconcile".to_string()),
        // Commands that bust or settle give this one by themselves.
        "recall" => None,
        "bulletin" | "counts" | "figures" | "check-reports" | "check-prices" => None,
        name => Some(name.to_string()),
    };
    let commands = COMMANDS.iter().map(|it| (it.name, it.right, it.help));
    let queries = QUERIES.iter().map(|it| (it.name, it.right, it.help));
    for (name, right, help) in commands.chain(queries) {
        assert!(!help.is_empty(), "{name}");
        let Some(name) = written(name) else { continue };
        let mut own = rows
            .iter()
            .filter(|row| row.0.contains(&format!("`oms {name}`")));
        let (_, rights) = own.next().unwrap_or_else(|| panic!("{name} has no row"));
        let wanted = format!("`{right}`");
        assert!(
            rights.trim().starts_with(&wanted),
            "{name}: {rights} is not {wanted}"
        );
    }
}
