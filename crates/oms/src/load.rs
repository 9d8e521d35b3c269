//! The settings of an OMS: tables of a TOML file, and the CSV files that it names.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::Decimal;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::command::limit_value;
use crate::limits::Control;
use crate::risk::SCOPES;
use crate::rules::{
    AccountRule, InstrumentRule, LimitRule, LineGroup, PositionRule, Route, Rules, ScopeName,
    UserRule,
};
use crate::table::{self, Row};

/// The tables of the file that are the OMS's.
pub const TABLES: [&str; 5] = ["account", "line_group", "oms", "route", "user"];

/// A mistake in a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OmsError {
    /// Where in the settings, in bytes: where a file that has the mistake is named.
    pub at: usize,
    /// The file, when it is another one, and the line in it, from 1.
    pub file: Option<(String, usize)>,
    /// What is wrong.
    pub what: String,
    /// What to do; empty when that is plain.
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
            write!(f, "{file}:{line}: ")?;
        }
        f.write_str(&self.what)?;
        if !self.hint.is_empty() {
            write!(f, "; {}", self.hint)?;
        }
        Ok(())
    }
}

/// Reads the rules of a file. `sessions` are the names of its sessions; `open` gives the text of a file that it
/// names.
///
/// # Errors
///
/// Every mistake, with its line.
pub fn load(
    text: &str,
    sessions: &[&str],
    open: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Rules, Vec<OmsError>> {
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
    let mut reader = Reader {
        sessions,
        errors: Vec::new(),
        rules: Rules {
            orders: 100_000,
            remembered: 10_000,
            ..Rules::default()
        },
    };
    reader.accounts(table.get("account"));
    reader.oms(table.get("oms"), open);
    reader.users(table.get("user"));
    reader.groups(table.get("line_group"));
    reader.routes(table.get("route"));
    let place = |error: &OmsError| (error.at, error.file.as_ref().map(|(_, line)| *line));
    reader.errors.sort_by_key(place);
    if reader.errors.is_empty() {
        Ok(reader.rules)
    } else {
        Err(reader.errors)
    }
}

type Item<'d> = Spanned<DeValue<'d>>;

struct Reader<'t> {
    sessions: &'t [&'t str],
    errors: Vec<OmsError>,
    rules: Rules,
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

    /// The table behind a name; one that is missing is empty.
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
        let what = format!("[[{name}]] is written with two brackets");
        self.wrong(value.span().start, what, "");
        &[]
    }

    fn text(&mut self, table: &DeTable<'_>, key: &str) -> Option<String> {
        let value = table.get(key)?;
        match value.get_ref().as_str() {
            Some(text) if !text.is_empty() && text.len() <= 255 => Some(text.into()),
            _ => {
                let what = format!("{key} is a text of 1 to 255 bytes");
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
            let what = format!("{key} is a list of texts, such as [\"A*\"]");
            self.wrong(value.span().start, what, "");
            return None;
        };
        let mut texts = Vec::new();
        for item in items {
            match item.get_ref().as_str() {
                Some(text) => texts.push((item.span().start, text.into())),
                None => self.wrong(item.span().start, format!("{key} is a list of texts"), ""),
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
            let what = format!("{key} is a number from 0 to {most}");
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
        let known = ["instruments", "limits", "orders", "positions", "remembered"];
        let Some(table) = self.keys(value, &known) else {
            return;
        };
        if let Some(orders) = self.number(table, "orders", 50_000_000) {
            self.rules.orders = orders;
        }
        if let Some(remembered) = self.number(table, "remembered", 50_000_000) {
            self.rules.remembered = remembered;
        }
        let at = value.span().start;
        for key in ["instruments", "limits"] {
            if table.get(key).is_none() {
                let hint = format!("name a CSV file: {key} = \"{key}.csv\"");
                self.wrong(at, format!("[oms] has no {key}"), &hint);
            }
        }
        // Limits and positions name what stands in the file of instruments.
        for key in ["instruments", "limits", "positions"] {
            let Some(file) = self.text(table, key) else {
                continue;
            };
            let place = table.get(key).map_or(at, |value| value.span().start);
            match open(&file) {
                Ok(text) => {
                    let before = self.errors.len();
                    self.file(key, &file, &text);
                    self.errors[before..]
                        .iter_mut()
                        .for_each(|it| it.at = place);
                }
                Err(error) => {
                    let hint = "it is looked for beside the settings";
                    self.wrong(place, format!("{file} cannot be read: {error}"), hint);
                }
            }
        }
    }

    fn file(&mut self, key: &str, file: &str, text: &str) {
        let cells = match table::read(file, text) {
            Ok(cells) => cells,
            Err(error) => {
                self.errors.push(error);
                return;
            }
        };
        let columns: (&[&str], &[&str]) = match key {
            "instruments" => (
                &["symbol", "tick"],
                &["decimals", "lot", "multiplier", "rate", "reference"],
            ),
            "limits" => (&["scope", "control", "limit"], &[]),
            _ => (&["account", "symbol"], &["long", "short"]),
        };
        let rows = table::rows(file, &cells, columns.0, columns.1, &mut self.errors);
        for row in rows {
            let done = match key {
                "instruments" => self.instrument(&row),
                "limits" => self.limit(&row),
                _ => self.position(&row),
            };
            if let Err((what, hint)) = done {
                self.errors.push(OmsError::of(file, row.line, what, hint));
            }
        }
        match key {
            "limits" => self.rules.limits_file = file.into(),
            "positions" => self.rules.positions_file = file.into(),
            _ => {}
        }
    }

    fn instrument(&mut self, row: &Row<'_>) -> Result<(), (String, &'static str)> {
        let symbol = row.cells[0].unwrap_or_default();
        if !is_name(symbol) {
            return Err((format!("{symbol} has a blank or ="), ""));
        }
        if self.rules.instruments.iter().any(|it| it.symbol == symbol) {
            return Err((format!("{symbol} stands there twice"), "leave one row"));
        }
        let tick = decimal("tick", row.cells[1])?.normalized();
        let decimals = match row.cells[2] {
            Some(text) => text.parse().ok().filter(|decimals| *decimals <= 9),
            None => Some(tick.scale),
        };
        let what = format!("decimals is a number from {} to 9", tick.scale);
        let scale = decimals.filter(|decimals| *decimals >= tick.scale);
        let scale = scale.filter(|scale| *scale <= 9).ok_or((what, ""))?;
        let units = |name: &str, value: Decimal, scale: u8| {
            let scaled = crate::core::scaled(value, scale);
            scaled.map_err(|_| (format!("{name} is too large or has too many decimals"), ""))
        };
        let tick = units("tick", tick, scale)?;
        let lot = match row.cells[3] {
            Some(text) => text.parse().ok().filter(|lot| *lot > 0),
            None => Some(1),
        };
        let multiplier = row.cells[4].map_or(Ok(Decimal::from_int(1)), |it| {
            decimal("multiplier", Some(it))
        })?;
        let rate = row.cells[5].map_or(Ok(Decimal::from_int(1)), |it| decimal("rate", Some(it)))?;
        let worth = i128::from(units("multiplier", multiplier, 6)?)
            * i128::from(units("rate", rate, 6)?)
            / 1_000_000;
        let worth = u64::try_from(worth).ok().filter(|worth| *worth > 0);
        let reference = match row.cells[6] {
            Some(text) => {
                let price = Decimal::parse(text.as_bytes());
                let price = price.map_err(|_| ("reference is a price".to_string(), ""))?;
                Some(units("reference", price, scale)?)
            }
            None => None,
        };
        self.rules.instruments.push(InstrumentRule {
            symbol: symbol.into(),
            scale,
            worth: worth.ok_or(("multiplier times rate is out of range".to_string(), ""))?,
            tick: Some(tick)
                .filter(|tick| *tick > 0)
                .ok_or(("tick is above 0".to_string(), ""))?,
            lot: lot.ok_or(("lot is a whole number above 0".to_string(), ""))?,
            reference,
        });
        Ok(())
    }

    fn limit(&mut self, row: &Row<'_>) -> Result<(), (String, &'static str)> {
        let scope = self.scope(row.cells[0].unwrap_or_default())?;
        let code = row.cells[1].unwrap_or_default();
        let controls = Control::named(code);
        if controls.is_empty() {
            let hint = "the controls are RC6, RC7, RC8, RC13, RC14, RC15, RC15-long, RC15-short";
            return Err((format!("no control {code}"), hint));
        }
        for &control in controls {
            let value = limit_value(control, row.cells[2].unwrap_or_default());
            let value = value.map_err(|what| (what, ""))?;
            let rule = LimitRule {
                scope: scope.clone(),
                control,
                value,
            };
            let mut limits = self.rules.limits.iter();
            if limits.any(|it| it.scope == rule.scope && it.control == control) {
                let what = format!("the limit of {control} for this scope stands there twice");
                return Err((what, "leave one row"));
            }
            self.rules.limits.push(rule);
        }
        Ok(())
    }

    fn scope(&self, text: &str) -> Result<ScopeName, (String, &'static str)> {
        const HINT: &str =
            "a scope is firm, session=NAME, account=NAME, symbol=NAME, or account=NAME symbol=NAME";
        let mut words = text.split_whitespace().map(|word| word.split_once('='));
        let (first, second, third) = (words.next(), words.next(), words.next());
        let scope = match (first, second, third) {
            (Some(None), None, None) if text.trim() == "firm" => ScopeName::Firm,
            (Some(Some(("session", name))), None, None) => ScopeName::Session(name.into()),
            (Some(Some(("account", name))), None, None) => ScopeName::Account(name.into()),
            (Some(Some(("symbol", name))), None, None) => ScopeName::Instrument(name.into()),
            (Some(Some(("account", account))), Some(Some(("symbol", symbol))), None) => {
                ScopeName::Holding(account.into(), symbol.into())
            }
            _ => return Err((format!("{text} is no scope"), HINT)),
        };
        let unknown = match &scope {
            ScopeName::Firm => None,
            ScopeName::Session(name) => {
                (!self.sessions.contains(&name.as_str())).then_some(("session", name))
            }
            ScopeName::Account(name) => (!self.has_account(name)).then_some(("account", name)),
            ScopeName::Instrument(name) => (!self.has_symbol(name)).then_some(("symbol", name)),
            ScopeName::Holding(account, symbol) => (!self.has_account(account))
                .then_some(("account", account))
                .or_else(|| (!self.has_symbol(symbol)).then_some(("symbol", symbol))),
        };
        match unknown {
            Some((kind, name)) => Err((format!("no {kind} {name}"), "see the settings")),
            None => Ok(scope),
        }
    }

    fn has_account(&self, name: &str) -> bool {
        self.rules.accounts.iter().any(|it| it.name == name)
    }

    fn has_symbol(&self, symbol: &str) -> bool {
        self.rules.instruments.iter().any(|it| it.symbol == symbol)
    }

    fn position(&mut self, row: &Row<'_>) -> Result<(), (String, &'static str)> {
        let (account, symbol) = (
            row.cells[0].unwrap_or_default(),
            row.cells[1].unwrap_or_default(),
        );
        if !self.has_account(account) {
            return Err((format!("no account {account}"), "see [[account]]"));
        }
        if !self.has_symbol(symbol) {
            return Err((format!("no symbol {symbol}"), "see the file of instruments"));
        }
        let mut positions = self.rules.positions.iter();
        if positions.any(|it| (&*it.account, &*it.symbol) == (account, symbol)) {
            let what = format!("the position of {account} in {symbol} stands there twice");
            return Err((what, "leave one row"));
        }
        let quantity = |name: &str, text: Option<&str>| {
            let quantity = text.map_or(Ok(0), str::parse);
            let quantity = quantity.ok().filter(|it| *it <= crate::core::MOST);
            quantity.ok_or((format!("{name} is a whole number"), ""))
        };
        let position = PositionRule {
            account: account.into(),
            symbol: symbol.into(),
            long: quantity("long", row.cells[2])?,
            short: quantity("short", row.cells[3])?,
        };
        self.rules.positions.push(position);
        Ok(())
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
                self.wrong(at, format!("account {name} stands there twice"), "");
                continue;
            }
            if !is_name(&name) {
                self.wrong(at, format!("account {name} has a blank or ="), "");
                continue;
            }
            let known = |parent: &String| self.has_account(parent);
            if parent.as_ref().is_some_and(|parent| !known(parent)) {
                let what = format!("no account {} before it", parent.unwrap_or_default());
                self.wrong(at, what, "a parent stands before its children");
                continue;
            }
            self.rules.accounts.push(AccountRule { name, parent });
            if self.depth() > SCOPES - 6 {
                let what = format!("more than {} accounts above one another", SCOPES - 6);
                self.wrong(at, what, "");
            }
        }
    }

    /// How many accounts are above the last one, with it.
    fn depth(&self) -> usize {
        let find = |name: &String| self.rules.accounts.iter().find(|it| it.name == *name);
        let parent = |account: &&AccountRule| account.parent.as_ref().and_then(find);
        core::iter::successors(self.rules.accounts.last(), parent).count()
    }

    fn users(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "user") {
            let at = item.span().start;
            let known = ["account", "accounts", "may", "session"];
            let Some(table) = self.keys(item, &known) else {
                continue;
            };
            let accounts = self.texts(table, "accounts").unwrap_or_default();
            let default_account = self.text(table, "account");
            let may = self.texts(table, "may");
            let Some(session) = self.required(table, at, "session") else {
                continue;
            };
            self.check_session(at, &session);
            if self.rules.users.iter().any(|user| user.session == session) {
                self.wrong(at, format!("two users have the session {session}"), "");
            }
            let accounts = accounts.into_iter().map(|(_, pattern)| pattern);
            let mut user = UserRule {
                session,
                accounts: accounts.collect(),
                default_account,
                ..UserRule::default()
            };
            if let Some(account) = user
                .default_account
                .clone()
                .filter(|it| !self.has_account(it))
            {
                self.wrong(at, format!("no account {account}"), "see [[account]]");
            }
            let default = user.default_account.as_ref();
            if let Some(account) = default.filter(|it| !user.may_use(it.as_bytes())) {
                let what = format!("account {account} is none of the accounts of this user");
                self.wrong(at, what, "");
            }
            for (at, right) in may.unwrap_or_default() {
                match right.as_str() {
                    "new" => user.new = true,
                    "replace" => user.replace = true,
                    "cancel" => user.cancel = true,
                    "status" => user.status = true,
                    _ => {
                        let hint = "a user may new, replace, cancel, status";
                        self.wrong(at, format!("no right {right}"), hint);
                    }
                }
            }
            self.rules.users.push(user);
        }
    }

    fn check_session(&mut self, at: usize, session: &str) {
        if !self.sessions.contains(&session) {
            let hint = format!("the sessions are {}", self.sessions.join(", "));
            self.wrong(at, format!("no session {session}"), &hint);
        }
    }

    fn groups(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "line_group") {
            let at = item.span().start;
            let Some(table) = self.keys(item, &["lines", "name"]) else {
                continue;
            };
            let lines = self.texts(table, "lines").unwrap_or_default();
            let Some(name) = self.required(table, at, "name") else {
                continue;
            };
            if lines.is_empty() {
                self.wrong(at, format!("line_group {name} has no lines"), "");
            }
            for (at, line) in &lines {
                self.check_session(*at, line);
                if self.rules.users.iter().any(|user| user.session == *line) {
                    let what = format!("{line} is the session of a user and a line");
                    self.wrong(*at, what, "a session is one of both");
                }
            }
            let lines = lines.into_iter().map(|(_, line)| line).collect();
            self.rules.groups.push(LineGroup { name, lines });
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
                self.wrong(at, format!("no line_group {to}"), "");
                continue;
            };
            let symbols = symbols.into_iter().map(|(_, symbol)| symbol).collect();
            self.rules.routes.push(Route { symbols, group });
        }
    }
}

/// A name that commands can say.
fn is_name(name: &str) -> bool {
    !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '=')
}

fn decimal(name: &str, text: Option<&str>) -> Result<Decimal, (String, &'static str)> {
    let parsed = Decimal::parse(text.unwrap_or_default().as_bytes()).ok();
    let parsed = parsed.filter(|it| it.mantissa > 0);
    parsed.ok_or((format!("{name} is a number above 0"), ""))
}
