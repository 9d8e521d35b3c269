//! Reads the settings of an OMS: tables of a TOML file and the CSV files that it names.

pub(crate) mod differences;
pub(crate) mod setting_fields;
mod spreads;
pub(crate) mod table;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::hash::Hasher;

use siphasher::sip::SipHasher13;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::state::SCOPES;
use crate::values::report_numbers::ReportNumbers;
use crate::values::rules::{
    AccountRule, OperatorRule, ReferencePrice, RiskRules, Route, ScopeName,
};
use fixwire_protocol::OperatorRight;

mod copies;
mod days;
mod drops;
mod errors;
mod files;
mod lines;
mod own_tags;
mod pools;
mod restart;
mod texts;
mod users;

pub use restart::restart_needed;

/// The tables of the file that belong to the OMS.
pub const TABLES: [&str; 9] = [
    "account",
    "drop_copy",
    "drop_copy_in",
    "line_group",
    "number_pool",
    "oms",
    "operator",
    "route",
    "user",
];

/// A mistake in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OmsError {
    /// Byte offset in the settings; for a mistake in another file, where that file is named.
    pub at: usize,
    /// The other file and the line in it, from 1.
    pub file: Option<(String, usize)>,
    /// The mistake.
    pub what: String,
    /// The remedy; empty when it is obvious.
    pub hint: String,
}

impl OmsError {
    pub(crate) fn of(file: &str, line: usize, what: String, hint: &str) -> Self {
        Self {
            at: 0,
            file: Some((file.into(), line)),
            what,
            hint: hint.into(),
        }
    }
}

impl fmt::Display for OmsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((file, line)) = &self.file {
            write!(f, "{}:{line}: ", line_of(file))?;
        }
        f.write_str(&line_of(&self.what))?;
        if !self.hint.is_empty() {
            write!(f, "; {}", line_of(&self.hint))?;
        }
        Ok(())
    }
}

/// The text in one line: a quoted cell may have several.
fn line_of(text: &str) -> String {
    let shown = text.chars();
    shown
        .map(|it| if it.is_control() { '?' } else { it })
        .collect()
}

/// Reads the settings. `sessions` are the names of the sessions in the file; `open` returns the text of a file that
/// it names.
///
/// # Errors
///
/// Every mistake, with its line.
pub fn load(
    text: &str,
    sessions: &[&str],
    open: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<RiskRules, Vec<OmsError>> {
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let what = error.message().replace('\n', ", ");
            let (file, hint) = (None, String::new());
            return Err(alloc::vec![OmsError {
                at,
                file,
                what,
                hint
            }]);
        }
    };
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    let mut reader = Reader {
        text,
        sessions,
        links: link_names(&table),
        hasher,
        errors: Vec::new(),
        rules: RiskRules {
            orders: 100_000,
            remembered: 10_000,
            appl_id: "OMS".into(),
            copy_within: 5_000_000_000,
            roll_wait: 60_000_000_000,
            ..RiskRules::default()
        },
        known: Known::default(),
    };
    reader.accounts(table.get("account"));
    reader.oms(table.get("oms"), open);
    reader.pools(table.get("number_pool"));
    reader.users(table.get("user"));
    reader.operators(table.get("operator"));
    reader.groups(table.get("line_group"));
    reader.helpers(table.get("line_group"));
    reader.routes(table.get("route"));
    reader.drop_copies(table.get("drop_copy"));
    reader.copy_sources(table.get("drop_copy_in"));
    reader.check_watchers(table.get("drop_copy_in"));
    reader.check_pools(table.get("number_pool"));
    reader.check_own_tags();
    let place = |error: &OmsError| (error.at, error.file.as_ref().map(|(_, line)| *line));
    reader.errors.sort_by_key(place);
    reader.rules.hash = reader.hasher.finish();
    if reader.errors.is_empty() {
        Ok(reader.rules)
    } else {
        Err(reader.errors)
    }
}

/// Names of the links; whether each has one, who makes the links says.
fn link_names(table: &DeTable<'_>) -> Vec<String> {
    let links = table
        .get("link")
        .and_then(|links| links.get_ref().as_array());
    let links = links.into_iter().flat_map(|links| links.iter());
    let name = |link: &Item<'_>| match link.get_ref() {
        DeValue::Table(link) => link.get("name")?.get_ref().as_str().map(String::from),
        _ => None,
    };
    links.filter_map(name).collect()
}

type Item<'d> = Spanned<DeValue<'d>>;

struct Reader<'t> {
    text: &'t str,
    sessions: &'t [&'t str],
    /// Names of the links in the file, which can be lines too.
    links: Vec<String>,
    /// Of all files.
    hasher: SipHasher13,
    errors: Vec<OmsError>,
    rules: RiskRules,
    known: Known,
}

/// Index of the rules read so far.
#[derive(Default)]
struct Known {
    /// Accounts, and their indices.
    accounts: BTreeMap<String, usize>,
    symbols: BTreeSet<String>,
    /// Scopes and the numbers of controls.
    limits: BTreeSet<(ScopeName, u8)>,
    /// Accounts and symbols.
    positions: BTreeSet<(String, String)>,
    /// Languages and texts, and the lines of their translations.
    texts: BTreeMap<(String, String), usize>,
}

impl Reader<'_> {
    fn wrong(&mut self, at: usize, what: String, hint: &str) {
        let (file, hint) = (None, hint.into());
        self.errors.push(OmsError {
            at,
            file,
            what,
            hint,
        });
    }

    /// The line number of a byte offset.
    fn line(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        before.matches('\n').count() + 1
    }

    /// A table, after checking its keys.
    fn keys<'d>(&mut self, value: &'d Item<'d>, known: &[&str]) -> Option<&'d DeTable<'d>> {
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong(value.span().start, "a table is expected here".into(), "");
            return None;
        };
        for (key, _) in table {
            let name: &str = key.get_ref();
            if !known.contains(&name) {
                let hint = format!("the keys are {}", known.join(", "));
                self.wrong(key.span().start, format!("unknown key {name}"), &hint);
            }
        }
        Some(table)
    }

    fn items<'d>(&mut self, value: Option<&'d Item<'d>>, name: &str) -> &'d [Item<'d>] {
        let Some(value) = value else {
            return &[];
        };
        if let DeValue::Array(items) = value.get_ref() {
            return items;
        }
        let what = format!("[[{name}]] needs double brackets");
        self.wrong(value.span().start, what, "");
        &[]
    }

    fn text(&mut self, table: &DeTable<'_>, key: &str) -> Option<String> {
        let value = table.get(key)?;
        match value.get_ref().as_str() {
            Some(text) if !text.is_empty() && text.len() <= 255 => Some(text.into()),
            _ => {
                let what = format!("{key} must be a text of 1 to 255 bytes");
                self.wrong(value.span().start, what, "");
                None
            }
        }
    }

    fn required(&mut self, table: &DeTable<'_>, at: usize, key: &str) -> Option<String> {
        if table.get(key).is_none() {
            self.wrong(at, format!("{key} is missing"), "");
        }
        self.text(table, key)
    }

    fn texts(&mut self, table: &DeTable<'_>, key: &str) -> Option<Vec<(usize, String)>> {
        let value = table.get(key)?;
        let DeValue::Array(items) = value.get_ref() else {
            let what = format!("{key} must be a list of strings, such as [\"A*\"]");
            self.wrong(value.span().start, what, "");
            return None;
        };
        let mut texts = Vec::new();
        for item in items {
            match item.get_ref().as_str() {
                Some(text) => texts.push((item.span().start, text.into())),
                None => self.wrong(
                    item.span().start,
                    format!("{key} must be a list of strings"),
                    "",
                ),
            }
        }
        Some(texts)
    }

    fn number(&mut self, table: &DeTable<'_>, key: &str, most: usize) -> Option<usize> {
        let value = table.get(key)?;
        let number = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
            _ => None,
        };
        let number = number.filter(|number| *number <= most);
        if number.is_none() {
            let what = format!("{key} must be a number from 0 to {most}");
            self.wrong(value.span().start, what, "");
        }
        number
    }

    fn oms(
        &mut self,
        value: Option<&Item<'_>>,
        open: &mut dyn FnMut(&str) -> Result<String, String>,
    ) {
        let Some(value) = value else {
            self.wrong(0, "the table [oms] is missing".into(), "");
            return;
        };
        let known = [
            "appl_id",
            "arming",
            "copy_within",
            "day_begins",
            "instruments",
            "limits",
            "market_data",
            "orders",
            "own_tags",
            "positions",
            "reference_price",
            "reload",
            "remembered",
            "restricted",
            "roll_wait",
            "self_trade",
            "stamps",
            "texts",
        ];
        let Some(table) = self.keys(value, &known) else {
            return;
        };
        self.rules.stamps = self.text(table, "stamps");
        self.own_tags(table);
        self.appl_id(table);
        self.copy_within(table);
        self.roll_wait(table);
        for (at, session) in self.texts(table, "market_data").unwrap_or_default() {
            self.check_session(at, &session);
            self.rules.market_data.push(session);
        }
        if let Some(orders) = self.number(table, "orders", 50_000_000) {
            self.rules.orders = orders;
        }
        if let Some(remembered) = self.number(table, "remembered", 50_000_000) {
            self.rules.remembered = remembered;
        }
        self.rules.rejects_self_trades =
            self.choice(table, "self_trade", &[("allow", false), ("reject", true)]);
        self.rules.reference_price = self.choice(table, "reference_price", &ReferencePrice::NAMES);
        self.rules.two_arm = self.choice(
            table,
            "arming",
            &[("one person", false), ("two people", true)],
        );
        self.rules.reload_at = self.time_of_day(table, "reload");
        let at = value.span().start;
        self.day_begins(table, at);
        for key in ["instruments", "limits"] {
            if table.get(key).is_none() {
                let hint = format!("name a CSV file: {key} = \"{key}.csv\"");
                self.wrong(at, format!("[oms] {key} is missing"), &hint);
            }
        }
        // Limits and positions refer to the file of instruments.
        for key in ["instruments", "limits", "positions", "restricted", "texts"] {
            let Some(file) = self.text(table, key) else {
                continue;
            };
            let place = table.get(key).map_or(at, |value| value.span().start);
            match open(&file) {
                Ok(text) => {
                    self.hasher.write(text.as_bytes());
                    let before = self.errors.len();
                    self.file(key, &file, &text);
                    self.errors[before..]
                        .iter_mut()
                        .for_each(|it| it.at = place);
                }
                Err(error) => {
                    let hint = "the path is relative to the settings file";
                    self.wrong(place, format!("{file} cannot be read: {error}"), hint);
                }
            }
        }
    }

    /// ApplID(1180) of numbered reports.
    fn appl_id(&mut self, table: &DeTable<'_>) {
        const MOST: usize = ReportNumbers::LONGEST;
        let Some(name) = self.text(table, "appl_id") else {
            return;
        };
        if name.len() > MOST || name.contains(|it: char| !it.is_ascii_graphic()) {
            let at = table.get("appl_id").map_or(0, |it| it.span().start);
            let what = format!("appl_id = \"{name}\" is not an ApplID(1180)");
            let hint = format!("write at most {MOST} letters, digits and signs, without blanks");
            self.wrong(at, what, &hint);
        }
        self.rules.appl_id = name;
    }

    fn has_account(&self, name: &str) -> bool {
        self.known.accounts.contains_key(name)
    }

    fn has_symbol(&self, symbol: &str) -> bool {
        self.known.symbols.contains(symbol)
    }

    fn accounts(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "account") {
            let at = item.span().start;
            let Some(table) = self.keys(item, &["name", "parent"]) else {
                continue;
            };
            let parent = self.text(table, "parent");
            let Some(name) = self.required(table, at, "name") else {
                continue;
            };
            if self.has_account(&name) {
                self.wrong(at, format!("account {name} is listed twice"), "");
                continue;
            }
            if !is_name(&name) {
                self.wrong(
                    at,
                    format!("account {name} must not contain blanks or ="),
                    "",
                );
                continue;
            }
            let known = |parent: &String| self.has_account(parent);
            if parent.as_ref().is_some_and(|parent| !known(parent)) {
                let what = format!("unknown parent account {}", parent.unwrap_or_default());
                self.wrong(at, what, "define a parent before its children");
                continue;
            }
            let place = self.rules.accounts.len();
            self.known.accounts.insert(name.clone(), place);
            self.rules.accounts.push(AccountRule { name, parent });
            if self.depth() > SCOPES - 6 {
                let what = format!("accounts are nested more than {} deep", SCOPES - 6);
                self.wrong(at, what, "");
            }
        }
    }

    /// Depth of the last account, including itself.
    fn depth(&self) -> usize {
        let find = |name: &String| self.rules.accounts.get(*self.known.accounts.get(name)?);
        let parent = |account: &&AccountRule| account.parent.as_ref().and_then(find);
        core::iter::successors(self.rules.accounts.last(), parent).count()
    }

    /// Whether it is true.
    fn flag(&mut self, table: &DeTable<'_>, key: &str) -> bool {
        match table.get(key).map(|value| (value.get_ref(), value.span())) {
            None => false,
            Some((DeValue::Boolean(is), _)) => *is,
            Some((_, span)) => {
                self.wrong(span.start, format!("{key} must be true or false"), "");
                false
            }
        }
    }

    /// What a word stands for; the first is the default.
    fn choice<T: Copy>(&mut self, table: &DeTable<'_>, key: &str, words: &[(&str, T)]) -> T {
        let (first, last) = (words[0].1, words.len() - 1);
        let Some(text) = self.text(table, key) else {
            return first;
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return *value;
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let hint = format!("write {}, or {}", names[..last].join(", "), names[last]);
        let what = format!("{key} = \"{text}\" is not known");
        self.wrong(Self::place(table, key), what, &hint);
        first
    }

    fn operators(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "operator") {
            let at = item.span().start;
            let Some(table) = self.keys(item, &["may", "user"]) else {
                continue;
            };
            let may = self.texts(table, "may").unwrap_or_default();
            for (at, right) in &may {
                if OperatorRight::named(right).is_none() {
                    let hint = format!("the rights are {}", OperatorRight::names());
                    self.wrong(*at, format!("unknown right {right}"), &hint);
                }
            }
            let Some(user) = self.required(table, at, "user") else {
                continue;
            };
            if self.rules.operators.iter().any(|known| known.user == user) {
                self.wrong(at, format!("operator {user} is listed twice"), "");
            }
            let may = may.into_iter().map(|(_, right)| right).collect();
            self.rules.operators.push(OperatorRule { user, may });
        }
    }

    /// A line is a session or a link.
    fn check_line(&mut self, at: usize, line: &str) {
        if !self.links.iter().any(|link| link == line) && !self.sessions.contains(&line) {
            let mut hint = format!("the sessions are {}", self.sessions.join(", "));
            if !self.links.is_empty() {
                hint += &format!("; the links are {}", self.links.join(", "));
            }
            self.wrong(at, format!("unknown session {line}"), &hint);
        }
    }

    fn check_session(&mut self, at: usize, session: &str) {
        if self.links.iter().any(|link| link == session) {
            let what = format!("{session} is a link, not a session");
            self.wrong(at, what, "only lines of a line_group can be links");
        } else if !self.sessions.contains(&session) {
            let hint = format!("the sessions are {}", self.sessions.join(", "));
            self.wrong(at, format!("unknown session {session}"), &hint);
        }
    }

    fn routes(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "route") {
            let at = item.span().start;
            let Some(table) = self.keys(item, &["symbols", "to"]) else {
                continue;
            };
            let symbols = self.texts(table, "symbols").unwrap_or_default();
            let Some(to) = self.required(table, at, "to") else {
                continue;
            };
            let mut groups = self.rules.groups.iter();
            let Some(group) = groups.position(|group| group.name == to) else {
                self.wrong(at, format!("unknown line_group {to}"), "");
                continue;
            };
            let symbols = symbols.into_iter().map(|(_, symbol)| symbol).collect();
            self.rules.routes.push(Route { symbols, group });
        }
    }
}

/// `500 in 1s`: a count, and a time in nanoseconds.
fn count_in_time(text: &str) -> Option<(usize, i64)> {
    let (count, time) = text.split_once(" in ")?;
    let count = count.parse().ok();
    let count = count.filter(|count| (1..=1_000_000).contains(count))?;
    let time = duration(time).filter(|time| (1..=60_000_000_000).contains(time))?;
    Some((count, time))
}

/// `5s` or `500ms`, in nanoseconds.
fn duration(text: &str) -> Option<i64> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1_000_000),
        None => (text.strip_suffix('s')?, 1_000_000_000),
    };
    let number: i64 = number.parse().ok().filter(|number| *number >= 0)?;
    number.checked_mul(unit)
}

/// Whether commands can contain the name.
pub(crate) fn is_name(name: &str) -> bool {
    !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '=')
}
