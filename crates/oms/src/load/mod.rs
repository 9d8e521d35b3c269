//! Reads the settings of an OMS: tables of a TOML file and the CSV files that it names.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::OnceCell;
use core::hash::Hasher;

use fixwire_protocol::{Decimal, Dictionary, OperatorRight};
use fixwire_text::ReloadEffect::{Applied, Confirmed};
use fixwire_text::{
    REQUIRED, SettingKey, TomlFile, TomlTable, duration, keys, number, place, tables,
};
use siphasher::sip::SipHasher13;

use crate::state::SCOPES;
use crate::values::rules::currency::{CurrencyCode, RateTime};
use crate::values::rules::{
    AccountRule, CreatedName, OperatorRule, RiskRules, Route, RouteCondition, ScopeName,
    SecurityIndex,
};
use registry::{Read, TableRule, or_none};

mod contracts;
mod copies;
pub(crate) mod differences;
mod errors;
mod files;
mod lines;
mod oms;
mod own_tags;
mod pools;
pub(crate) mod registry;
mod report_tags;
mod restart;
mod securities;
pub(crate) mod setting_fields;
mod spreads;
pub(crate) mod table;
mod texts;
mod tmp_fields;
mod users;
mod venue_names;

pub use fixwire_text::Diagnostic;
pub use registry::setting_tables;
pub use restart::restart_needed;

/// Reads the settings. `sessions` are the names of the sessions in the file; `open` returns the text of a CSV file that
/// the settings name.
///
/// # Errors
///
/// Every mistake, with its line.
pub fn load(
    text: &str,
    sessions: &[&str],
    open: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<RiskRules, Vec<Diagnostic>> {
    load_with(text, sessions, &[], open)
}

/// Reads the settings as [`load`] does. `created` are the names of the sessions that Logons may create, a form for each
/// section with `AcceptorTemplate`; `sessions` are the other sessions.
///
/// # Errors
///
/// Every mistake, with its line.
pub fn load_with(
    text: &str,
    sessions: &[&str],
    created: &[CreatedName],
    open: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<RiskRules, Vec<Diagnostic>> {
    let file = TomlFile::parse(text).map_err(|mistake| Vec::from([mistake]))?;
    let file = file.root();
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    let mut reader = Reader {
        text,
        sessions,
        created,
        open,
        links: link_names(file),
        hasher,
        errors: Vec::new(),
        rules: RiskRules::default(),
        known: Known::default(),
        dictionaries: OnceCell::new(),
    };
    reader.accounts(file);
    reader.oms(file);
    reader.pools(file);
    reader.users(file);
    reader.expand_limits();
    reader.operators(file);
    reader.groups(file);
    reader.helpers(file);
    reader.check_exec_ids(file);
    reader.routes(file);
    reader.drop_copies(file);
    reader.copy_sources(file);
    reader.check_watchers(file);
    reader.check_pools(file);
    reader.check_own_tags();
    reader.check_sets();
    tmp_fields::check(&mut reader, file);
    reader.check_tmp_quantities();
    let place = |error: &Diagnostic| (error.at, error.file.as_ref().map(|(_, line)| *line));
    reader.errors.sort_by_key(place);
    reader.rules.hash = reader.hasher.finish();
    reader.rules.securities = Arc::new(SecurityIndex::of(&reader.rules.instruments));
    if reader.errors.is_empty() {
        Ok(reader.rules)
    } else {
        Err(reader.errors)
    }
}

/// Names of the TMP links in the file. Whether each link has a name is checked where the links are read.
fn link_names(file: TomlTable<'_>) -> Vec<String> {
    let links = tables(file.get("link"), "link", &mut Vec::new()).into_iter();
    links
        .filter_map(|link| Some(link.get("name")?.text().ok()?.into()))
        .collect()
}

pub(crate) struct Reader<'t> {
    text: &'t str,
    sessions: &'t [&'t str],
    /// Names of the sessions that Logons may create.
    created: &'t [CreatedName],
    open: &'t mut dyn FnMut(&str) -> Result<String, String>,
    /// Names of the TMP links in the file; a link may be a line.
    links: Vec<String>,
    /// Hash of all files that were read.
    hasher: SipHasher13,
    errors: Vec<Diagnostic>,
    rules: RiskRules,
    known: Known,
    /// Built-in dictionaries of the versions that clients use, made when they are needed first.
    dictionaries: OnceCell<[Dictionary; 3]>,
}

/// Indexes of the rules that were read so far.
#[derive(Default)]
struct Known {
    /// Accounts, and the index of each.
    accounts: BTreeMap<String, usize>,
    symbols: BTreeSet<String>,
    /// Scopes and numbers of controls that have a limit.
    limits: BTreeSet<(ScopeName, u8)>,
    /// Patterns for sessions in scopes of limits, with the line number of their rows.
    limit_patterns: Vec<(String, usize)>,
    /// Accounts and symbols that have an opening position.
    positions: BTreeSet<(String, String)>,
    /// For each language and text, the line number of its translation.
    texts: BTreeMap<(String, String), usize>,
    instruments_file: String,
    /// SecurityIDSource(22) and SecurityID(48) of each identifier, with its symbol and the line number of its row.
    identifiers: BTreeMap<(String, String), (String, usize)>,
    /// The rate of each currency, and its time.
    rates: BTreeMap<CurrencyCode, (Decimal, RateTime)>,
    /// Prices and ticks of each tick table, the lowest price first.
    tick_tables: BTreeMap<String, Vec<(Decimal, Decimal)>>,
    /// Symbols whose quantities have decimals, with the line number of their rows.
    with_parts: Vec<(String, usize)>,
}

impl TableRule for AccountRule {
    const TABLE: &'static str = "account";
    const NAME: &'static str = "name";
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
        /// Account(1)
        name: Text(name), REQUIRED, Confirmed;
        /// its parent, which precedes it
        parent: Text(parent), "", Confirmed;
    };
}

impl TableRule for OperatorRule {
    const TABLE: &'static str = "operator";
    const NAME: &'static str = "user";
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
        /// a system user, at the [control socket](../operating/running.md)
        user: Text(user), REQUIRED, Confirmed;
        /// of `limit`, `kill` (also `cancel`, `reducing`), `arm`, `market` (also `price`, `bulletin`), `roll`,
        /// `report`, `rerun`, `break` (`accept-break`), `settle` (`breaks settle`),
        /// `position` (also `positions load`), `reload`, `read` (orders, positions, limits), `session`, `numbers`, `send` ([commands and
        /// rights](../operating/security.md#rights-of-operators)). Users in no table have only `fixwire status`.
        /// Without any table the OMS's own user and root have all rights, others `read`
        may: With("list", may,
            |reader, operator, value| {
                for (at, right) in value.texts(&mut reader.errors)? {
                    if OperatorRight::named(&right).is_none() {
                        let hint = format!("the rights are {}", OperatorRight::names());
                        reader.wrong(at, format!("unknown right {right}"), hint);
                    }
                    operator.may.push(right);
                }
                Ok(())
            }), "", Confirmed;
    };
}

impl TableRule for Route {
    const TABLE: &'static str = "route";
    const NAME: &'static str = "";
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
        /// symbols, or `A*` for a prefix; without this key all. The first route that fits an order decides
        /// ([routes](#routes))
        symbols: List(symbols), "", Applied;
        /// `'Account like "A*" and OrderQty > 1000'`: a condition on the order
        when: Own("text",
            |_, route, value| {
                route.when = Some(RouteCondition::new(value.text()?, value.at));
                Ok(())
            },
            |route| or_none(route.when.as_ref().map(RouteCondition::text))), "", Applied;
        /// the name of the line group
        to: With("text", group,
            |reader, route, value| {
                let to = value.text()?;
                let mut groups = reader.rules.groups.iter();
                let group = groups.position(|group| group.name == to);
                let what = || format!("unknown line_group {to}");
                let wrong = || Diagnostic::new(value.table.at, what(), "");
                group.ok_or_else(wrong).map(|it| route.group = it)
            }), REQUIRED, Applied;
    };
}

impl Reader<'_> {
    fn wrong(&mut self, at: usize, what: impl Into<String>, hint: impl Into<String>) {
        self.errors.push(Diagnostic::new(at, what, hint));
    }

    /// The line number of a byte offset in the settings file.
    fn line(&self, at: usize) -> usize {
        place(self.text, at).0
    }

    fn has_account(&self, name: &str) -> bool {
        self.known.accounts.contains_key(name)
    }

    fn has_symbol(&self, symbol: &str) -> bool {
        self.known.symbols.contains(symbol)
    }

    fn accounts(&mut self, file: TomlTable<'_>) {
        for table in self.tables(file, AccountRule::TABLE) {
            let mut account = AccountRule::default();
            self.read(&mut account, table);
            let (at, name) = (table.at, account.name.clone());
            if name.is_empty() {
                continue;
            }
            if self.has_account(&name) {
                self.wrong(at, format!("account {name} is listed twice"), "");
                continue;
            }
            if !is_name(&name) {
                let what = format!("account {name} must not contain blanks or =");
                self.wrong(at, what, "");
                continue;
            }
            let parent = account.parent.as_ref();
            if let Some(parent) = parent.filter(|parent| !self.has_account(parent)) {
                let what = format!("unknown parent account {parent}");
                self.wrong(at, what, "define a parent before its children");
                continue;
            }
            let place = self.rules.accounts.len();
            self.known.accounts.insert(name, place);
            self.rules.accounts.push(account);
            if self.depth() > SCOPES - 6 {
                let what = format!("accounts are nested more than {} deep", SCOPES - 6);
                self.wrong(at, what, "");
            }
        }
    }

    /// Number of accounts from the last account up to its top-level account, both included.
    fn depth(&self) -> usize {
        let find = |name: &String| self.rules.accounts.get(*self.known.accounts.get(name)?);
        let parent = |account: &&AccountRule| account.parent.as_ref().and_then(find);
        core::iter::successors(self.rules.accounts.last(), parent).count()
    }

    fn operators(&mut self, file: TomlTable<'_>) {
        for table in self.tables(file, OperatorRule::TABLE) {
            let mut operator = OperatorRule::default();
            self.read(&mut operator, table);
            let user = &operator.user;
            if user.is_empty() {
                continue;
            }
            if self.rules.operators.iter().any(|known| known.user == *user) {
                self.wrong(table.at, format!("operator {user} is listed twice"), "");
            }
            self.rules.operators.push(operator);
        }
    }

    fn routes(&mut self, file: TomlTable<'_>) {
        for table in self.tables(file, Route::TABLE) {
            let mut route = Route::default();
            self.read(&mut route, table);
            if table.has("symbols") && route.symbols.is_empty() {
                let hint = "name symbols, or leave the key out: the route is then for all symbols";
                self.wrong(table.at, "symbols of a route is empty", hint);
            }
            self.rules.routes.push(route);
        }
    }

    /// Checks that a line is a session or a link.
    fn check_line(&mut self, at: usize, line: &str) {
        if !self.links.iter().any(|link| link == line) && !self.sessions.contains(&line) {
            let mut hint = format!("the sessions are {}", self.sessions.join(", "));
            if !self.links.is_empty() {
                hint += &format!("; the links are {}", self.links.join(", "));
            }
            self.wrong(at, format!("unknown session {line}"), hint);
        }
    }

    /// Whether a session has this name, or one that a Logon creates may have it.
    fn is_session(&self, name: &str) -> bool {
        self.sessions.contains(&name) || self.created.iter().any(|it| it.id(name).is_some())
    }

    /// Checks that a user's session is one of the file, or may be created at a Logon.
    fn check_user_session(&mut self, at: usize, session: &str) {
        let is_link = self.links.iter().any(|link| link == session);
        if is_link || !self.is_session(session) {
            self.check_session(at, session);
        }
    }

    fn check_session(&mut self, at: usize, session: &str) {
        if self.links.iter().any(|link| link == session) {
            let what = format!("{session} is a link, not a session");
            self.wrong(at, what, "only lines of a line_group can be links");
        } else if !self.sessions.contains(&session) {
            let hint = format!("the sessions are {}", self.sessions.join(", "));
            self.wrong(at, format!("unknown session {session}"), hint);
        }
    }
}

/// Reads `500 in 1s`: a count, and a time in nanoseconds.
fn count_in_time(text: &str) -> Option<(usize, i64)> {
    let (count, time) = text.split_once(" in ")?;
    let count = number(count).filter(|count| (1..=1_000_000).contains(count))?;
    let time = duration(time).filter(|time| (1..=60_000_000_000).contains(time))?;
    Some((count as usize, time as i64))
}

/// Whether operator commands can contain the name.
pub(crate) fn is_name(name: &str) -> bool {
    !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '=')
}
