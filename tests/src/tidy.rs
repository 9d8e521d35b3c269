//! The rules of the repository as functions over text.
//!
//! Each check takes the text of a file and returns the violations, one sentence each, so that each check can be tested
//! with a planted one. `tests/tests/suites/tidy.rs` applies them to the repository.

use std::path::Path;

/// Source files longer than this are worth a look: do they hold one thought?
pub const LINES_ADVISED: usize = 600;
/// The largest file of any kind, in bytes.
pub const BYTES_MAX: u64 = 1 << 20;
/// The most lines of code in the crate that holds the unsafe ones.
pub const UNSAFE_CRATE_LINES_MAX: usize = 400;

/// Our packages by row, as in ARCHITECTURE.md: a package uses lower rows only, and neighbours in a row never
/// meet.
const ROWS: [(&str, u8); 32] = [
    ("fixwire-book", 0),
    ("fixwire-protocol", 0),
    ("fixwire-ledger", 0),
    ("fixwire-random", 0),
    ("fixwire-sys", 0),
    ("fixwire-text", 0),
    ("fixwire-threads", 0),
    ("fixwire-tmp", 0),
    ("fixwire-client", 1),
    ("fixwire-dictionary", 1),
    ("fixwire-exchange", 1),
    ("fixwire-journal", 1),
    ("fixwire-net", 1),
    ("fixwire-passwords", 1),
    ("fixwire-schedule", 1),
    ("fixwire-signing", 1),
    ("fixwire-transform", 1),
    ("fixwire-engine", 2),
    ("fixwire-gateway", 2),
    ("fixwire-oms", 2),
    ("fixwire-reader", 2),
    ("fixwire-certify", 3),
    ("fixwire-control", 3),
    ("fixwire-harness", 3),
    ("fixwire-logs", 3),
    ("fixwire-stamps", 3),
    ("fixwire-settings", 4),
    ("fixwire-gateway-service", 5),
    ("fixwire", 6),
    ("fixwire-lab", 7),
    ("fixwire-cli", 8),
    ("fixwire-rigs", 9),
];

/// The arrows inside a row: scanning for SOH may live with the unsafe lines, and events have times and decimals.
const ARROWS_INSIDE_ROW: [(&str, &str); 2] = [
    ("fixwire-protocol", "fixwire-sys"),
    ("fixwire-ledger", "fixwire-protocol"),
];

/// Dependencies that a crate must not have: text formats and databases stay out of the engine, sockets out of the
/// settings.
const WITHOUT: [(&str, &[&str]); 2] = [
    (
        "fixwire-engine",
        &[
            "fixwire-dictionary",
            "postgres",
            "roxmltree",
            "rusqlite",
            "serde",
            "strsim",
            "toml",
        ],
    ),
    ("fixwire-settings", &["mio", "rustix", "socket2"]),
];

/// Sockets and threads of the standard library.
const SOCKETS_AND_THREADS: [&str; 7] = [
    "TcpListener",
    "TcpStream",
    "UdpSocket",
    "UnixListener",
    "UnixStream",
    "std::thread",
    "thread::",
];

/// Words for unfinished work. In two parts, so that this file has none of them.
const LEFTOVERS: [(&str, &str); 8] = [
    ("to", "do!"),
    ("unimple", "mented!"),
    ("db", "g!("),
    ("FIX", "ME"),
    ("TO", "DO"),
    ("XX", "X"),
    ("#[ign", "ore"),
    ("allow(dead", "_code)"),
];

/// The beginnings of paths of one machine. In two parts for the same reason.
const MACHINE_PATHS: [(&str, &str); 4] = [
    ("/ro", "ot/"),
    ("/ho", "me/"),
    ("/wo", "rk/"),
    ("/Us", "ers/"),
];

/// Multipliers of known generators of random numbers: SplitMix64 (two), xorshift64*, Knuth's.
const MULTIPLIERS: [u64; 4] = [
    0xBF58_476D_1CE4_E5B9,
    0x94D0_49BB_1331_11EB,
    0x2545_F491_4F6C_DD1D,
    0x5851_F42D_4C95_7F2D,
];

/// The step of SplitMix64, which is also a multiplier of hashes.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Folders and rows of the crates in the table of ARCHITECTURE.md. A crate that is never shipped has a dash there, and
/// is above all others.
pub fn rows_of_page(page: &str) -> Vec<(String, u8)> {
    let above = ROWS.iter().map(|(_, row)| *row).max().unwrap_or_default();
    let row = |line: &str| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let (row, link) = (cells.next()?, cells.next()?);
        let folder = link.strip_prefix("[`")?.split_once("](")?.1;
        let row = if row == "–" {
            above
        } else {
            row.parse().ok()?
        };
        Some((folder.split_once(')')?.0.to_owned(), row))
    };
    page.lines().filter_map(row).collect()
}

/// The differences between the table of ARCHITECTURE.md and the table that manifests are checked by; `packages` are the
/// packages in the folders it names, with their rows there.
pub fn other_rows(packages: &[(String, u8)]) -> Vec<String> {
    let said: Vec<(&str, u8)> = packages.iter().map(|(name, row)| (&**name, *row)).collect();
    let missing = ROWS.iter().filter(|row| !said.contains(row));
    let missing = missing.map(|(name, row)| format!("{name} is not in row {row} of the table"));
    let more = said.iter().filter(|row| !ROWS.contains(row));
    missing
        .chain(more.map(|(name, row)| format!("{name} stands in row {row} of the table")))
        .collect()
}

/// Arrows between our crates that point up or sideways.
pub fn arrows(manifest: &str) -> Vec<String> {
    let Some(package) = key(manifest, "package", "name") else {
        return vec!["the manifest names no package".to_owned()];
    };
    let row = |name: &str| {
        ROWS.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, row)| *row)
    };
    let Some(own) = row(&package) else {
        return vec![format!(
            "{package} has no row: add it to the table of tidy.rs"
        )];
    };
    let used = dependencies(manifest);
    let ours = used.iter().filter(|name| name.starts_with("fixwire"));
    ours.filter(|name| !ARROWS_INSIDE_ROW.contains(&(&package, name)))
        .filter_map(|name| match row(name) {
            Some(row) if row < own => None,
            Some(row) => Some(format!("{package} (row {own}) uses {name} (row {row})")),
            None => Some(format!("{package} uses {name}, which has no row")),
        })
        .collect()
}

/// Dependencies that a crate has although it must not.
pub fn needless(manifest: &str) -> Vec<String> {
    let package = key(manifest, "package", "name").unwrap_or_default();
    let without = WITHOUT.iter().find(|(name, _)| *name == package);
    let without = without.map_or(&[][..], |(_, without)| without);
    let used = dependencies(manifest).into_iter();
    used.filter(|name| without.contains(&&**name))
        .map(|name| format!("{package} uses {name}, which it has to do without"))
        .collect()
}

/// Dependencies of a manifest when it is built; dev-dependencies are free.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            let (table, name) = match section.rsplit_once("dependencies.") {
                Some((before, name)) => (format!("{before}dependencies"), Some(name)),
                None => (section.to_owned(), None),
            };
            inside = table.ends_with("dependencies") && !table.ends_with("dev-dependencies");
            found.extend(name.filter(|_| inside).map(str::to_owned));
            inside &= name.is_none();
        } else if inside && !line.starts_with('#') {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            found.extend((!name.is_empty()).then(|| name.to_owned()));
        }
    }
    found
}

/// The value of `name = "…"` in the section `[section]`.
pub fn key(manifest: &str, section: &str, name: &str) -> Option<String> {
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line == format!("[{section}]");
        } else if let Some((left, right)) = line.split_once('=')
            && inside
            && left.trim() == name
        {
            return Some(right.trim().trim_matches('"').to_owned());
        }
    }
    None
}

/// Lines of Rust that use the keyword `unsafe`.
pub fn unsafe_lines(source: &str) -> Vec<String> {
    code(source)
        .filter(|(_, line)| has_word(&without_strings(line), "unsafe"))
        .map(|(number, line)| format!("line {number}: unsafe outside crates/sys: {}", line.trim()))
        .collect()
}

/// The number of code lines in a file: no comments, blank lines or tests.
pub fn code_lines(source: &str) -> usize {
    let product = source.split("#[cfg(test)]").next().unwrap_or_default();
    code(product).count()
}

/// Crates that do without the standard library, outside their tests.
pub const NO_STD: [&str; 9] = [
    "fixwire-book",
    "fixwire-protocol",
    "fixwire-dictionary",
    "fixwire-exchange",
    "fixwire-gateway",
    "fixwire-random",
    "fixwire-text",
    "fixwire-tmp",
    "fixwire-transform",
];

/// Attributes that the root of a crate must have.
pub fn crate_root(package: &str, source: &str) -> Vec<String> {
    let says = |attribute: &str| code(source).any(|(_, line)| line.trim().starts_with(attribute));
    let mut found = Vec::new();
    if package != "fixwire-sys" && !says("#![forbid(unsafe_code)]") {
        found.push(format!("{package} does not say #![forbid(unsafe_code)]"));
    }
    let no_std = says("#![no_std]") || says("#![cfg_attr(not(test), no_std)]");
    if NO_STD.contains(&package) && !no_std {
        found.push(format!("{package} does not say #![no_std]"));
    }
    found
}

/// Lines of a `no_std` crate that use the standard library outside tests, or a float. Only the standard library has
/// clocks, sockets, files and threads.
pub fn impure_lines(source: &str) -> Vec<String> {
    let product = source.split("\nmod tests {").next().unwrap_or_default();
    let mut lines: Vec<(usize, &str)> = code(product).collect();
    // Code after `#[cfg(test)]` is for tests.
    let for_tests: Vec<usize> = lines
        .iter()
        .filter(|(_, line)| line.trim() == "#[cfg(test)]")
        .map(|(number, _)| number + 1)
        .collect();
    lines.retain(|(number, _)| !for_tests.contains(number));
    let words = ["f32", "f64", "std"];
    let uses = |line: &str| {
        words
            .iter()
            .find(|word| has_word(&without_strings(line), word))
    };
    lines
        .iter()
        .filter(|(_, line)| !line.trim().starts_with("#!["))
        .filter_map(|(number, line)| Some((number, line, uses(line)?)))
        .map(|(number, line, word)| format!("line {number}: {word} here: {}", line.trim()))
        .collect()
}

/// Lines of product code that name a socket or a thread.
pub fn sockets_and_threads(source: &str) -> Vec<String> {
    let product = source.split("#[cfg(test)]").next().unwrap_or_default();
    let mut found = Vec::new();
    for (number, line) in code(product) {
        let plain = without_strings(line);
        let word = SOCKETS_AND_THREADS.iter().find(|it| has_word(&plain, it));
        found.extend(word.map(|word| format!("line {number}: {word} here: {}", line.trim())));
    }
    found
}

/// Lines of product code that start a thread of their own: a thread that `fixwire_threads::spawn` did not start may run
/// on the core that an engine is pinned to.
pub fn own_threads(source: &str) -> Vec<String> {
    let product = source.split("\nmod tests {").next().unwrap_or_default();
    let starts = |line: &str| {
        let words = ["Builder", "spawn", "scope"];
        has_word(line, "thread::") && words.iter().any(|word| has_word(line, word))
    };
    code(product)
        .filter(|(_, line)| starts(&without_strings(line)))
        .map(|(number, line)| format!("line {number}: a thread of its own: {}", line.trim()))
        .collect()
}

/// Files that convert numbers to or from bytes for other purposes (keys of hash tables, records of queues in memory), with the number
/// of such lines. The list may only shrink.
pub const OTHER_BYTES: [(&str, usize); 4] = [
    ("crates/gateway/src/gateway/notes/held.rs", 1),
    ("crates/gateway/src/gateway/queues.rs", 2),
    ("crates/oms/src/state/orders/ids.rs", 3),
    ("crates/oms/src/values/names.rs", 1),
];

/// Lines of product code that make bytes of a number or read it from bytes: notes, checkpoints and hashes of a state do that in
/// `fixwire-ledger` only. `path` has slashes.
pub fn own_codecs(path: &str, source: &str) -> Vec<String> {
    let product = source.split("\nmod tests {").next().unwrap_or_default();
    let words = ["to_le_bytes", "from_le_bytes"];
    let found = code(product).filter(|(_, line)| words.iter().any(|word| has_word(line, word)));
    let found: Vec<String> = found
        .map(|(number, line)| format!("line {number}: a codec of its own: {}", line.trim()))
        .collect();
    let listed = OTHER_BYTES.iter().find(|(file, _)| *file == path);
    let listed = listed.map_or(0, |(_, lines)| *lines);
    match found.len() {
        fewer if fewer < listed => vec![format!("tidy.rs lists {listed} lines, it has {fewer}")],
        same if same == listed => Vec::new(),
        _ => found,
    }
}

/// Applications around another one that may forget a method: the lint that counts them is off.
pub fn forgetful(source: &str) -> Vec<String> {
    let lines: Vec<&str> = source.lines().collect();
    let begins = |line: &str| line.starts_with("impl") && line.contains(" Application for ");
    let starts = (0..lines.len()).filter(|at| begins(lines[*at]));
    let forgetful = starts.filter(|start| {
        let body = lines[*start..].iter().take_while(|line| **line != "}");
        let forwards = body.clone().any(|line| {
            let calls = line.contains(".on_message(") && !line.contains("self.on_message(");
            calls || line.contains("forward_application!")
        });
        forwards && !lines[..*start].ends_with(&["#[deny(clippy::missing_trait_methods)]"])
    });
    let missing =
        "an Application around another one without #[deny(clippy::missing_trait_methods)]";
    forgetful
        .map(|start| format!("line {}: {missing}", start + 1))
        .collect()
}

/// Lines that generate random numbers: by the constants of known generators, however they are spelled, and by the
/// shifts of xorshift.
pub fn generators(source: &str) -> Vec<String> {
    let is_one = |line: &str| {
        let bare: String = line.chars().filter(|it| !it.is_whitespace()).collect();
        let shifts = ["<<13", ">>12", "<<25", "<<17"];
        let is_xorshift =
            bare.contains("^=") && shifts.iter().any(|it| bare.ends_with(&format!("{it};")));
        let adds = bare.contains("wrapping_add") || bare.contains("+=");
        let mut numbers = numbers(line);
        is_xorshift || numbers.any(|it| MULTIPLIERS.contains(&it) || it == GOLDEN && adds)
    };
    code(source)
        .filter(|(_, line)| is_one(line))
        .map(|(number, line)| format!("line {number}: a generator of its own: {}", line.trim()))
        .collect()
}

/// The integers of a line, in whatever base and with whatever separators and suffixes.
fn numbers(line: &str) -> impl Iterator<Item = u64> {
    let words = line.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    words.filter_map(|word| {
        let word = word.replace('_', "").to_ascii_lowercase();
        let end = ["u64", "u128", "i64", "i128"]
            .iter()
            .find_map(|it| word.strip_suffix(it));
        let word = end.unwrap_or(&word);
        let bases = [("0x", 16), ("0b", 2), ("0o", 8)];
        let in_base = bases
            .iter()
            .find_map(|(sign, base)| Some((word.strip_prefix(sign)?, *base)));
        let (digits, base) = in_base.unwrap_or((word, 10));
        u64::from_str_radix(digits, base).ok()
    })
}

/// What only the crate `text` does, by a sign of it in code, and the files that have it too.
const ONE_READER: [(&str, &str, &[&str]); 8] = [
    ("finds the nearest name", "levenshtein", &[]),
    ("reads durations", "strip_suffix(\"ms\")", &[]),
    ("reads durations", "(\"ms\", ", &[]),
    ("walks TOML", "toml::de::", &[]),
    (
        "reads decimals",
        ".split_once('.')",
        // Names and versions with a dot.
        &[
            "crates/dictionary/src/write.rs",
            "crates/logs/src/sql/names.rs",
            "crates/settings/src/registry.rs",
            "crates/transform/src/rules/compile.rs",
        ],
    ),
    (
        "splits quoted texts",
        "'\"' =>",
        // They write quotes.
        &[
            "crates/dictionary/src/write.rs",
            "crates/engine/src/operation.rs",
        ],
    ),
    (
        "splits quoted texts",
        "prefix('\"')",
        // The value of a term that is a word already, and CSV.
        &[
            "crates/reader/src/short_query.rs",
            "crates/transform/src/rules/table.rs",
        ],
    ),
    (
        "cuts off a first word",
        "split_once(char::is_whitespace)",
        // A blank at the end of a time is a mistake.
        &["crates/settings/src/times.rs"],
    ),
];

/// What a file does itself although the crate `text` does it. `path` has slashes.
pub fn own_readers(path: &str, source: &str) -> Vec<String> {
    let product = source.split("#[cfg(test)]").next().unwrap_or_default();
    let known = ONE_READER
        .iter()
        .filter(|(_, _, files)| !files.contains(&path));
    let found = known.filter(|(_, sign, _)| code(product).any(|(_, line)| line.contains(sign)));
    found
        .map(|(what, ..)| format!("{what} itself: crates/text does it"))
        .collect()
}

/// Files of `ONE_READER` that no longer have what they are listed for: the lists may only shrink.
pub fn listed_readers(source: impl Fn(&str) -> String) -> Vec<String> {
    let all = ONE_READER.iter();
    let all = all.flat_map(|(_, sign, files)| files.iter().map(move |file| (sign, file)));
    let gone = all.filter(|(sign, file)| !source(file).contains(**sign));
    gone.map(|(sign, file)| format!("{file} is listed for {sign} in tidy.rs and has it no longer"))
        .collect()
}

/// Signs of unfinished work.
pub fn leftovers(text: &str) -> Vec<String> {
    mentions(text, &LEFTOVERS, "is a leftover")
}

/// Paths that exist on one machine only.
pub fn machine_paths(text: &str) -> Vec<String> {
    mentions(text, &MACHINE_PATHS, "is a path of one machine")
}

/// Lines of a source file by kind; blank lines do not count.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Lines {
    /// Of the product.
    pub code: usize,
    /// Of the product.
    pub comments: usize,
    /// Of tests, comments included.
    pub tests: usize,
}

impl Lines {
    /// The lines of a product file: the lines after the `#[cfg(test)]` of a module in braces are its tests.
    pub fn of(source: &str) -> Self {
        let at = source
            .find("#[cfg(test)]\nmod tests {")
            .unwrap_or(source.len());
        let (product, tests) = source.split_at(at);
        let said = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
        let is_comment = |line: &&str| line.trim_start().starts_with("//");
        let comments = product.lines().filter(is_comment).count();
        Self {
            code: said(product) - comments,
            comments,
            tests: said(tests),
        }
    }

    /// All lines of a file that consists of tests.
    pub fn of_test(source: &str) -> Self {
        let Self {
            code,
            comments,
            tests,
        } = Self::of(source);
        Self {
            tests: code + comments + tests,
            ..Self::default()
        }
    }

    /// Adds the lines of another file.
    pub fn add(&mut self, other: Self) {
        self.code += other.code;
        self.comments += other.comments;
        self.tests += other.tests;
    }
}

/// Relative links of a Markdown page that lead nowhere; `exists` looks beside the page.
pub fn dead_links(page: &str, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (index, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            let file = target.split('#').next().unwrap_or_default();
            if file.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            if !exists(Path::new(file)) {
                found.push(format!("line {}: no such file: {target}", index + 1));
            }
        }
    }
    found
}

/// Setting keys that a page has no heading for.
pub fn undocumented<'a>(keys: impl IntoIterator<Item = &'a str>, page: &str) -> Vec<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let words = headings.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()));
    let words: std::collections::HashSet<&str> = words.collect();
    keys.into_iter()
        .filter(|key| !words.contains(key))
        .map(|key| format!("the setting {key} is not documented"))
        .collect()
}

fn mentions(text: &str, needles: &[(&str, &str)], what: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (left, right) in needles {
            let needle = format!("{left}{right}");
            if has_word(&without_strings(line), &needle) {
                found.push(format!("line {}: {needle} {what}", index + 1));
            }
        }
    }
    found
}

/// The line without its quoted strings: a program may write about things that it must not do.
fn without_strings(line: &str) -> String {
    line.replace("\\\"", "").split('"').step_by(2).collect()
}

/// Whether `word` is in the line and not part of a longer name.
fn has_word(line: &str, word: &str) -> bool {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let starts_name = word.starts_with(name);
    let ends_name = word.ends_with(name);
    line.match_indices(word).any(|(at, _)| {
        let free_before = !starts_name || !line[..at].ends_with(name);
        let free_behind = !ends_name || !line[at + word.len()..].starts_with(name);
        free_before && free_behind
    })
}

/// Lines that are neither blank nor a comment, numbered from 1. The text of strings counts as code.
fn code(source: &str) -> impl Iterator<Item = (usize, &str)> {
    source
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line.split("//").next().unwrap_or_default()))
        .filter(|(_, line)| !line.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_application_around_another_one_forgets_nothing() {
        let around = "impl Application for A {\n    app.on_message(now);\n}\n";
        assert_eq!(forgetful(around).len(), 1);
        let denied = format!("#[deny(clippy::missing_trait_methods)]\n{around}");
        let alone = around.replace("app.", "fn ");
        assert!(forgetful(&denied).is_empty() && forgetful(&alone).is_empty());
    }

    #[test]
    fn arrows_point_down() {
        let manifest = |name: &str, dependencies: &str| {
            format!("[package]\nname = \"{name}\"\n{dependencies}\n")
        };
        let down = "[dependencies]\nfixwire = { path = \"x\" }\nserde = \"1\"\n";
        assert!(arrows(&manifest("fixwire-lab", down)).is_empty());
        let dev = "[dev-dependencies]\nfixwire-cli.workspace = true\n";
        assert!(arrows(&manifest("fixwire-lab", dev)).is_empty());
        let sys = "[dependencies]\nfixwire-sys.workspace = true\n";
        assert!(arrows(&manifest("fixwire-protocol", sys)).is_empty());
        for (package, planted) in [
            (
                "fixwire-protocol",
                "[dependencies]\nfixwire.workspace = true",
            ),
            (
                "fixwire-sys",
                "[dependencies]\nfixwire-protocol = { path = \"x\" }",
            ),
            ("fixwire", "[build-dependencies]\nfixwire-lab = \"1\""),
            ("fixwire", "[dependencies.fixwire-lab]\npath = \"x\""),
            (
                "fixwire",
                "[target.'cfg(unix)'.dependencies]\nfixwire-cli = \"1\"",
            ),
            ("fixwire-cli", "[dependencies]\nfixwire-unknown = \"1\""),
            ("fixwire-unknown", ""),
        ] {
            assert_eq!(
                arrows(&manifest(package, planted)).len(),
                1,
                "{package}: {planted}"
            );
        }
    }

    #[test]
    fn a_crate_does_without_what_others_are_for() {
        let manifest = |name: &str| {
            format!("[package]\nname = \"{name}\"\n[dependencies]\ntoml = \"1\"\njiff = \"0.2\"\n")
        };
        assert_eq!(needless(&manifest("fixwire-engine")).len(), 1);
        assert!(needless(&manifest("fixwire-settings")).is_empty());
        let source = "use std::thread;\n// a thread\nlet a = \"thread\";\nTcpStream::connect(it)\n";
        assert_eq!(sockets_and_threads(source).len(), 2);
        assert!(sockets_and_threads(&format!("#[cfg(test)]\n{source}")).is_empty());
    }

    #[test]
    fn a_thread_that_is_no_helper_is_found() {
        for planted in [
            "thread::Builder::new().spawn(work)",
            "std::thread::spawn(work)",
            "use std::thread::{self, Builder};",
            "thread::scope(|scope| scope.spawn(work))",
        ] {
            assert_eq!(own_threads(planted).len(), 1, "{planted}");
            let test = format!("use a;\n#[cfg(test)]\nmod tests {{\n{planted}\n}}");
            assert!(own_threads(&test).is_empty(), "{planted}");
        }
        let helper = "fixwire_threads::spawn(\"reader\", work)?;\nthread::sleep(soon);\n";
        assert!(own_threads(helper).is_empty());
    }

    #[test]
    fn a_codec_beside_the_ledger_is_found() {
        let source = "fn a() {\n    put(&number.to_le_bytes());\n    // to_le_bytes\n    u32::from_le_bytes(*bytes)\n}\nmod tests {\n    1_u8.to_le_bytes();\n}\n";
        assert_eq!(own_codecs("a.rs", source).len(), 2);
        assert!(own_codecs("a.rs", "number.put(to);\n").is_empty());
        let (listed, lines) = OTHER_BYTES[0];
        assert_eq!(lines, 1);
        assert_eq!(own_codecs(listed, source).len(), 2, "one more");
        assert_eq!(own_codecs(listed, "number.put(to);\n").len(), 1, "none");
        assert!(own_codecs(listed, "1_u8.to_le_bytes();\n").is_empty());
    }

    #[test]
    fn rows_of_the_page_and_ours_are_compared() {
        let page = "| row | crate |\n| --- | --- |\n| 0 | [`protocol`](crates/protocol) | x |\n\
            | – | [`tests`](tests) (`fixwire-rigs`) | x |\n| a | [`a.rs`](a.rs) |\n";
        assert_eq!(
            rows_of_page(page),
            [("crates/protocol".to_owned(), 0), ("tests".to_owned(), 9)]
        );
        let mut rows = ROWS.map(|(name, row)| (name.to_owned(), row));
        assert!(other_rows(&rows).is_empty());
        assert_eq!(other_rows(&rows[1..]).len(), 1);
        rows[0].1 = 9;
        assert_eq!(other_rows(&rows).len(), 2);
    }

    #[test]
    fn the_keyword_unsafe_is_found_and_its_mention_is_not() {
        assert_eq!(unsafe_lines("let x;\nlet y = unsafe { z() };\n").len(), 1);
        assert!(unsafe_lines("#![forbid(unsafe_code)]\n// unsafe is elsewhere\n").is_empty());
        assert!(unsafe_lines("say(\"unsafe\")").is_empty());
    }

    #[test]
    fn lines_of_code_leave_out_comments_and_tests() {
        let source = "//! doc\n\nfn a() {}\n// why\nfn b() {}\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(code_lines(source), 2);
    }

    #[test]
    fn a_crate_root_must_forbid_unsafe_and_protocol_std() {
        assert_eq!(
            crate_root("fixwire", "//! #![forbid(unsafe_code)]\n").len(),
            1
        );
        assert_eq!(
            crate_root("fixwire-protocol", "#![forbid(unsafe_code)]\n").len(),
            1
        );
        let both = "#![no_std]\n#![forbid(unsafe_code)]\n";
        assert!(crate_root("fixwire-protocol", both).is_empty());
        assert_eq!(
            crate_root("fixwire-gateway", "#![forbid(unsafe_code)]\n").len(),
            1
        );
        assert!(crate_root("fixwire-sys", "").is_empty());
    }

    #[test]
    fn floats_and_the_standard_library_are_found() {
        let pure = "#![no_std]\n// f64\n#[cfg(test)]\nextern crate std;\nlet a = \"f64\";\nmod tests {\nuse std::vec;\n";
        assert_eq!(impure_lines(pure), Vec::<String>::new());
        for line in [
            "let a: f64 = 1.0;",
            "fn a(b: f32) {}",
            "use std::time::Instant;",
            "extern crate std;",
        ] {
            assert_eq!(impure_lines(line).len(), 1, "{line}");
        }
    }

    #[test]
    fn a_second_generator_is_found() {
        for step in MULTIPLIERS {
            assert_eq!(generators(&format!("z *= {step};")).len(), 1, "{step}");
            assert_eq!(
                generators(&format!("z *= {step:#X}_u64;")).len(),
                1,
                "{step}"
            );
        }
        let spelled = format!("{GOLDEN:x}");
        let spelled = format!("0x{}_{}", &spelled[..5], &spelled[5..]);
        assert_eq!(
            generators(&format!("s = s.wrapping_add({spelled});")).len(),
            1
        );
        assert_eq!(generators("x ^= x << 13;\nx ^= x >> 7;").len(), 1);
        assert!(generators(&format!("hash.wrapping_mul({spelled}) // x ^= x << 13;")).is_empty());
    }

    #[test]
    fn leftovers_and_machine_paths_are_found() {
        for (left, right) in LEFTOVERS {
            assert_eq!(
                leftovers(&format!("a\n{left}{right}\n")).len(),
                1,
                "{left}{right}"
            );
        }
        for (left, right) in MACHINE_PATHS {
            assert_eq!(
                machine_paths(&format!("see {left}{right}x\n")).len(),
                1,
                "{left}{right}"
            );
        }
        assert!(leftovers("MAXXX, unaTODOb\n").is_empty());
        assert!(leftovers(include_str!("tidy.rs")).is_empty());
    }

    #[test]
    fn lines_are_code_comments_or_tests() {
        let source = "//! A file.\n\nfn f() {\n    // Why.\n    g(); // not here\n}\n\n#[cfg(test)]\nmod tests {\n    // It does.\n\n    fn t() {}\n}\n";
        let lines = Lines::of(source);
        let (code, comments, tests) = (3, 2, 5);
        assert_eq!(
            lines,
            Lines {
                code,
                comments,
                tests
            }
        );
        let all = Lines {
            tests: 10,
            ..Lines::default()
        };
        assert_eq!(Lines::of_test(source), all);
    }

    #[test]
    fn a_dead_link_is_found() {
        let exists = |path: &Path| path == Path::new("here.md");
        let page = "[a](here.md#x) [b](https://example.org) [c](#d)\n```\n[e](no.md)\n```\n";
        assert!(dead_links(page, exists).is_empty());
        assert_eq!(
            dead_links("text\n[a](gone.md)\n", exists),
            ["line 2: no such file: gone.md"]
        );
    }

    #[test]
    fn an_undocumented_setting_is_found() {
        assert!(undocumented(["Wait"], "### Wait\n").is_empty());
        assert_eq!(
            undocumented(["Wait", "Core"], "# Wait\nCore\n## Core2\n").len(),
            1
        );
    }
}
