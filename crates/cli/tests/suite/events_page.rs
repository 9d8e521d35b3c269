//! docs/reference/events.md has each event text, and none that is no longer in the code.

use std::fs;
use std::path::Path;

/// Files with the texts of events, from the root of the repository.
const SOURCES: [&str; 21] = [
    "crates/engine/src/event/ending.rs",
    "crates/engine/src/event/loss.rs",
    "crates/engine/src/event/refusal.rs",
    "crates/engine/src/event/reject_details.rs",
    "crates/engine/src/event/sentence.rs",
    "crates/engine/src/event/system_error.rs",
    "crates/gateway-service/src/notice.rs",
    "crates/gateway/src/gateway/event.rs",
    "crates/gateway/src/orders/kept_limits.rs",
    "crates/journal/src/error.rs",
    "crates/journal/src/opening.rs",
    "crates/journal/src/watch.rs",
    "crates/net/src/descriptors.rs",
    "crates/net/src/tls/failure.rs",
    "crates/oms/src/desk/notice.rs",
    "crates/oms/src/desk/notice/doubts.rs",
    "crates/oms/src/desk/notice/logons.rs",
    "crates/protocol/src/session/verdict.rs",
    "crates/tmp/src/link/end.rs",
    "crates/transform/src/failure.rs",
    "crates/transform/src/rules/script_failure.rs",
];

/// Texts in these files that no event uses: their beginnings, and why.
const OTHERS: [(&str, &str); 9] = [
    ("journal-read", "the name of a thread"),
    (
        "this segment",
        "what a damaged journal was expected to have",
    ),
    ("the segment that the journal begins with", "the same"),
    ("no such file", "what was found instead"),
    ("a thread of the journal", "what cannot be started"),
    ("a removed session", "the name of a session"),
    ("BusinessMessageReject", "a part of the next"),
    (
        "settings reloaded and",
        "a part of `settings reloaded and in force`",
    ),
    ("settings from before", "the same"),
];

/// A text in parts: the pieces between its values.
fn parts(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '{' | '<' => {
                depth += 1;
                parts.push(String::new());
            }
            '}' | '>' => depth -= 1,
            _ if depth > 0 => {}
            '`' => parts.last_mut().expect("a part").push('\''),
            _ => parts.last_mut().expect("a part").push(c),
        }
    }
    let ends: &[char] = &[' ', ':', ';', ',', '(', ')', '.'];
    let parts = parts.iter().map(|part| part.trim_matches(ends).to_owned());
    parts.filter(|part| part.len() > 2).collect()
}

/// The string literals in code, without tests and comments.
pub(crate) fn literals(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code = lines.collect::<Vec<_>>().join("\n");
    let (mut found, mut chars) = (Vec::new(), code.chars().peekable());
    let mut before = ' ';
    while let Some(c) = chars.next() {
        if c != '"' || before == '\'' {
            before = c;
            continue;
        }
        let mut text = String::new();
        while let Some(c) = chars.next().filter(|c| *c != '"') {
            match (c, chars.peek()) {
                ('\\', Some('\n')) => {
                    while chars.peek().is_some_and(|c| c.is_whitespace()) {
                        chars.next();
                    }
                }
                ('\\', Some('n')) => drop(chars.next()),
                ('\\', Some(_)) => text.extend(chars.next()),
                _ => text.push(c),
            }
        }
        if before != 'b' && text.chars().filter(char::is_ascii_lowercase).count() > 5 {
            found.push(text);
        }
        before = '"';
    }
    found
}

/// The texts of the page: those in backquotes in all but the last cell of a row.
fn texts(page: &str) -> Vec<String> {
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let cells = rows.flat_map(|row| row.split('|').collect::<Vec<_>>());
    let quoted = cells.flat_map(|cell| {
        let quoted = cell.split('`').skip(1).step_by(2);
        quoted.map(str::to_owned).collect::<Vec<_>>()
    });
    quoted.collect()
}

/// Maximum number of texts of the code that one text may be composed of.
const PIECES_MAX: usize = 3;

/// Whether a text consists of at most this number of pieces of others, the first as long as possible.
fn is_composed(text: &str, others: &[String], pieces: usize) -> bool {
    if text.is_empty() {
        return true;
    }
    let spaces = text.match_indices(' ').map(|(at, _)| at);
    let mut ends: Vec<usize> = spaces.chain([text.len()]).collect();
    ends.reverse();
    let known = ends
        .into_iter()
        .find(|end| others.iter().any(|other| other.contains(&text[..*end])));
    match known.filter(|_| pieces > 0) {
        Some(end) => is_composed(text[end..].trim_start(), others, pieces - 1),
        None => false,
    }
}

/// Whether all parts are in a text, in order.
fn has(text: &str, parts: &[String]) -> bool {
    let mut rest = text;
    parts
        .iter()
        .all(|part| match rest.split_once(part.as_str()) {
            Some((_, after)) => {
                rest = after;
                true
            }
            None => false,
        })
}

#[test]
fn the_page_of_events_has_each_text_and_no_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).expect(path);
    let page = read("docs/reference/events.md");
    let texts = texts(&page);
    let mut code = Vec::new();
    for path in SOURCES {
        let found = literals(&read(path));
        assert!(!found.is_empty(), "{path} has no texts");
        code.extend(found.into_iter().map(|text| (path, text)));
    }
    for (begin, why) in OTHERS {
        let is_used = code.iter().any(|(_, text)| text.starts_with(begin));
        assert!(is_used, "{begin} ({why}) is in no file");
    }
    let missing: Vec<String> = (code.iter())
        .filter(|(_, text)| !OTHERS.iter().any(|(begin, _)| text.starts_with(begin)))
        .filter(|(_, text)| {
            let parts = parts(text);
            !parts.is_empty() && !texts.iter().any(|it| has(it, &parts))
        })
        .map(|(path, text)| format!("{path}: {text}"))
        .collect();
    assert!(
        missing.is_empty(),
        "events.md has no row for these:\n{}",
        missing.join("\n")
    );

    // Texts of the first column, and reasons in the others, that are not commands or settings.
    let first = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let first = first.flat_map(|row| {
        let cell = row.split('|').next().unwrap_or_default();
        let cell = format!("`{cell}");
        let quoted = cell.split('`').skip(1).step_by(2).map(str::to_owned);
        quoted.collect::<Vec<_>>()
    });
    let all: Vec<String> = code.iter().flat_map(|(_, text)| parts(text)).collect();
    let stale: Vec<String> = first
        .filter(|text| {
            let parts = parts(text);
            let is_known = |it: &str| is_composed(it, &all, PIECES_MAX);
            !parts.iter().all(|part| part.split(": ").all(is_known))
        })
        .collect();
    assert!(
        stale.is_empty(),
        "events.md has texts that no event has:\n{}",
        stale.join("\n")
    );
}
