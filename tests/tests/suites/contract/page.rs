//! docs/reference/oms-fields.md, read as its reader does.

use std::collections::BTreeMap;
use std::path::Path;

use fixwire_protocol::Tag;

/// MsgType(35) of each request in the page's list of rejects.
pub const REQUESTS: [&str; 12] = ["D", "G", "F", "q", "S", "Z", "R", "H", "AF", "e", "g", "BW"];
/// MsgType(35) of the messages of venues in the page's table.
const VENUE_MESSAGES: [&str; 12] = ["8", "9", "j", "3", "AI", "AG", "b", "S", "f", "h", "W", "X"];

/// What the page says becomes of a field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Class {
    Session,
    Carried,
    Set,
    Used,
    Checked,
    Passed,
    Named,
    Instruction,
    Listed,
    Refused,
    Never,
    NotPassed,
}

impl Class {
    fn of(word: &str) -> Self {
        match word {
            "session" => Self::Session,
            "carried" => Self::Carried,
            "set" => Self::Set,
            "used" => Self::Used,
            "checked" => Self::Checked,
            "passed on" => Self::Passed,
            "named" => Self::Named,
            "instruction" => Self::Instruction,
            "listed" => Self::Listed,
            "refused" => Self::Refused,
            "refused, never dropped" => Self::Never,
            "not passed on" => Self::NotPassed,
            other => panic!("the page has no class {other:?}"),
        }
    }
}

type Table = BTreeMap<(String, Tag), Class>;

/// The page's two tables: the first row of a field and a message counts.
#[derive(Debug, Default)]
pub struct Page {
    requests: Table,
    reports: Table,
}

impl Page {
    pub fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/oms-fields.md");
        let text = std::fs::read_to_string(path).expect("the page is there");
        let (requests, reports) = text
            .split_once("\n## Messages of venues\n")
            .expect("both tables are there");
        let (_, requests) = requests
            .split_once("\n## Requests of clients\n")
            .expect("both tables are there");
        Self {
            requests: table(requests, &REQUESTS),
            reports: table(reports, &VENUE_MESSAGES),
        }
    }

    /// The class of a field of a request; `None` for a field that is in no row.
    pub fn request(&self, msg_type: &str, tag: Tag) -> Option<Class> {
        self.requests.get(&(msg_type.to_owned(), tag)).copied()
    }

    /// The class of a field of a venue's message; `None` for a field that is in no row.
    pub fn report(&self, msg_type: &str, tag: Tag) -> Option<Class> {
        self.reports.get(&(msg_type.to_owned(), tag)).copied()
    }

    /// All fields that the rows of requests name.
    pub fn request_tags(&self) -> Vec<Tag> {
        let mut tags: Vec<Tag> = self.requests.keys().map(|(_, tag)| *tag).collect();
        tags.sort_unstable();
        tags.dedup();
        tags
    }
}

fn table(text: &str, all: &[&str]) -> Table {
    let mut table = Table::new();
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [fields, messages, class, _] = cells[..] else {
            panic!("not a row of the page: {line}");
        };
        if fields == "fields" || fields == "---" {
            continue;
        }
        let messages: Vec<&str> = match messages {
            "all" => all.to_vec(),
            some => some.split(", ").collect(),
        };
        for field in fields.split(", ") {
            let tag = field.trim_end_matches(')').rsplit('(').next();
            let tag = tag.and_then(|tag| tag.parse().ok()).expect(field);
            for message in &messages {
                let entry = table.entry(((*message).to_owned(), tag));
                entry.or_insert_with(|| Class::of(class));
            }
        }
    }
    assert!(table.len() > 100, "{} rows", table.len());
    table
}
