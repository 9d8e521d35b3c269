//! Tests each example of the page about the gateway.

use super::super::options::setting_tables;
use super::*;
use fixwire_text::page_rows;

const PAGE: &str = include_str!("../../../../../docs/reference/gateway.md");

/// The fenced blocks of a language, with the line where each begins.
fn blocks(language: &str) -> Vec<(usize, Vec<&'static str>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, Vec<&str>)> = None;
    for (number, line) in PAGE.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(name)) if name == language => open = Some((number + 2, Vec::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some((_, lines)), None) => lines.push(line),
            _ => {}
        }
    }
    blocks
}

/// A message without the unique number of a response, which depends on the time.
fn timeless(text: &str) -> String {
    if let Some((before, rest)) = text.split_once("|932=") {
        let (_, rest) = rest.split_once('|').unwrap();
        return format!("{before}|932=..|{rest}");
    }
    match text.split_once("|37=NONE|") {
        Some((before, rest)) if before.contains("35=8") => {
            let (id, rest) = rest.split_once("|17=").unwrap();
            let (_, rest) = rest.split_once('|').unwrap();
            format!("{before}|37=NONE|{id}|17=..|{rest}")
        }
        _ => text.to_string(),
    }
}

#[test]
fn every_example_comes_true() {
    let (files, runs) = (blocks("toml"), blocks("fix"));
    assert_eq!(files.len(), runs.len());
    for ((_, file), (first, lines)) in files.iter().zip(&runs) {
        let mut rig = Rig::new(&file.join("\n"));
        rig.said();
        let (mut pending, mut last): (Vec<String>, Option<String>) = Default::default();
        for (number, line) in (*first..).zip(lines) {
            if let Some(wanted) = line.strip_prefix("=> ") {
                assert!(!pending.is_empty(), "line {number}: nothing comes out");
                assert_eq!(pending.remove(0), wanted, "line {number}");
                continue;
            }
            assert!(pending.is_empty(), "before line {number}: {pending:?}");
            let mut written = Vec::new();
            if let Some(name) = line.strip_suffix(" is away") {
                rig.lose(name);
            } else if let Some(name) = line.strip_suffix(" is back") {
                rig.log_on(name);
            } else if let Some((name, text)) = line.split_once(" logs out: ") {
                rig.log_out(name, text);
            } else if *line == "the gateway restarts" {
                let mut next = Rig::of(&file.join("\n"), &SESSIONS);
                next.replay(&rig.notes);
                (next.notes, next.wall) = (rig.notes, rig.wall);
                next.all_log_on();
                rig = next;
            } else if let Some(minutes) = line.strip_suffix(" minutes pass") {
                written = rig.wait(60 * minutes.parse::<u64>().unwrap());
            } else if let Some((name, text)) = line.split_once(" rejects it: ") {
                written = rig.rejects(&format!("{name}: {text}"), last.as_deref());
            } else {
                let (from, text) = line.split_once(": ").unwrap();
                written = rig.hears(from, text);
            }
            written.extend(rig.wait(0));
            last = written.last().cloned().or(last);
            pending.extend(written.iter().map(|text| timeless(text)));
            for said in rig.said() {
                let (rule, what) = said.split_once(": ").unwrap();
                let asked = ["connect ", "disconnect "];
                let kind = match rule.starts_with("on ") {
                    true if asked.iter().any(|word| what.starts_with(word)) => "",
                    true => "notify: ",
                    false => "trouble: ",
                };
                pending.push(format!("{kind}{what}"));
            }
        }
        assert!(pending.is_empty(), "behind line {first}: {pending:?}");
    }
}

#[test]
fn the_table_of_options_is_the_registry() {
    const PATH: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/gateway.md"
    );
    let page = std::fs::read_to_string(PATH).unwrap();
    let header = "| table | key | value | default | a change needs | |\n| --- | --- | --- | --- | --- | --- |\n";
    let start = page.find("| table | key |").unwrap();
    let end = start + page[start..].find("\n\n").unwrap() + 1;
    let rows = setting_tables().map(|(table, keys)| page_rows(&format!("`{table}`"), &keys));
    let made = format!(
        "{}{header}{}{}",
        &page[..start],
        rows.concat(),
        &page[end..]
    );
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PATH, &made).unwrap();
    }
    assert!(
        std::fs::read_to_string(PATH).unwrap() == made,
        "docs/reference/gateway.md is behind the registry of keys: run with UPDATE=1"
    );
}

#[test]
fn a_default_is_what_a_missing_key_means() {
    let (_, keys) = setting_tables().into_iter().next().unwrap();
    let said = keys.iter().filter(|key| !key.default.is_empty());
    let said = said.map(|key| format!("{} = {}\n", key.name, key.default));
    let said: String = said.collect();
    assert_eq!(said.lines().count(), 9);
    let with = Rig::new(&format!(
        "[gateway]\n{said}{PLAIN}[target.VENUE]\naway = \"hold\"\n"
    ));
    let without = Rig::new(PLAIN);
    assert_eq!(
        with.gateway.orders().config(),
        without.gateway.orders().config()
    );
    assert_eq!(with.notes, without.notes);
    let room = |rig: &Rig| rig.gateway.core.notes.room();
    assert_eq!(room(&with), room(&without));
    assert!(with.gateway.core.reject_unmatched && without.gateway.core.reject_unmatched);
}

#[test]
fn the_table_of_reasons_has_every_text() {
    use super::super::{GatewayLimit, Trouble};
    use crate::TransformFailure;
    use crate::orders::OrdersError;
    let failed = |failure| Trouble::Failed { action: 0, failure };
    for trouble in [
        failed(TransformFailure::NotInTable(1)),
        failed(TransformFailure::TooLarge),
        Trouble::TooMany { rate: 1 },
        Trouble::Unconvertible(TransformFailure::MessageType),
        Trouble::Orders(OrdersError::NoId),
        Trouble::Orders(OrdersError::IdTooLong { tag: 11 }),
        Trouble::Duplicate,
        Trouble::Away(SessionId(0)),
        Trouble::Unmatched,
        Trouble::CameBack,
        Trouble::GoesRound,
        Trouble::ReachesAll,
        Trouble::DiskFull,
        Trouble::Orders(OrdersError::UnknownOrder { tag: 37 }),
        Trouble::Cancelled,
        Trouble::Limit(GatewayLimit::Held(1)),
        Trouble::Expired,
        Trouble::Rejected,
    ] {
        let text = trouble.text();
        let row = PAGE
            .lines()
            .find(|line| line.starts_with('|') && line.contains(text));
        assert!(row.is_some(), "{text}");
    }
}
