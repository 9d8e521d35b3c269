//! The page of the gateway: each of its examples is true.

use super::super::options::{CLIENT, GATEWAY, TARGET};
use super::*;

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

/// A message without the number of an answer, which is the time.
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
fn the_tables_name_every_option_and_its_default() {
    let tables = PAGE
        .split("| key | default | |\n| --- | --- | --- |\n")
        .skip(1);
    let tables: Vec<Vec<(&str, &str)>> = tables
        .map(|table| {
            let rows = table.lines().take_while(|line| line.starts_with('|'));
            let cells = rows.map(|row| {
                let mut cells = row.split('|').map(|cell| cell.trim().trim_matches('`'));
                let (_, key, default) = (cells.next(), cells.next(), cells.next());
                (key.unwrap(), default.unwrap())
            });
            cells.collect()
        })
        .collect();
    let keys = |table: &[(&'static str, &str)]| {
        let keys = table.iter().map(|(key, _)| *key);
        keys.collect::<Vec<_>>()
    };
    assert_eq!(keys(&tables[0]), GATEWAY);
    assert_eq!(keys(&tables[1]), TARGET);
    assert_eq!(keys(&tables[2]), CLIENT);
    // What the tables call the default makes the same gateway as nothing.
    let said = tables[0]
        .iter()
        .filter(|(_, default)| !["never", "max_id"].contains(default));
    let said = said.map(|(key, default)| format!("{key} = {default}\n"));
    let said: String = said.collect();
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
