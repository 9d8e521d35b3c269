//! Settings of clients: `[[user]]`.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::num::NonZeroUsize;

use toml::de::DeTable;

use super::{Item, Reader, count_in_time, duration};
use crate::values::rules::{RateRule, Rights, UserMarks, UserRule};
use crate::values::value::Effect;

/// The longest time that orders stay after their session disconnects, in nanoseconds.
const MOST_GRACE: i64 = 60_000_000_000;

/// Settings that apply to the whole session.
const OF_SESSION: [&str; 17] = [
    "account",
    "cm_id",
    "conditional",
    "drop",
    "info_source",
    "investor_flag",
    "language",
    "number_pool",
    "on_disconnect",
    "on_logout",
    "order_source",
    "own_numbers",
    "parents",
    "position_effect",
    "rate",
    "report_numbers",
    "validity",
];

/// A table that was read, for checks.
struct Known<'d> {
    at: usize,
    session: String,
    table: &'d DeTable<'d>,
    /// Accounts, with their byte offsets.
    patterns: Vec<(usize, String)>,
}

impl Reader<'_> {
    pub(super) fn users(&mut self, value: Option<&Item<'_>>) {
        let mut all: Vec<Known<'_>> = Vec::new();
        for item in self.items(value, "user") {
            let at = item.span().start;
            let mut known = [&OF_SESSION[..], &["accounts", "may", "session"]].concat();
            known.sort_unstable();
            let Some(table) = self.keys(item, &known) else {
                continue;
            };
            let patterns = self.texts(table, "accounts").unwrap_or_default();
            let rights = self.rights(table, &patterns);
            let user = UserRule {
                session: String::new(),
                rights: vec![rights],
                default_account: self.text(table, "account"),
                on_logout: self.cancel_after(table, "on_logout"),
                on_disconnect: self.cancel_after(table, "on_disconnect"),
                number_pool: self.number_pool(table),
                own_numbers: self.flag(table, "own_numbers"),
                rate: self.rate(table),
                report_numbers: self.flag(table, "report_numbers"),
                conditional: self.number(table, "conditional", 1_000_000),
                language: self.language(table),
                parents: self.number(table, "parents", 1_000_000),
                validity: self.validity(table),
                drop: self.drop(table),
                marks: self.marks(table),
            };
            let Some(session) = self.required(table, at, "session") else {
                continue;
            };
            self.check_session(at, &session);
            if let Some(account) = &user.default_account
                && !self.has_account(account)
            {
                self.wrong(at, format!("unknown account {account}"), "see [[account]]");
            }
            let one = Known {
                at,
                session,
                table,
                patterns,
            };
            self.check_alone(&one, &all);
            self.add_user(&one.session, user);
            all.push(one);
        }
        self.check_defaults(&all);
    }

    /// Rights of a client for these accounts.
    fn rights(&mut self, table: &DeTable<'_>, patterns: &[(usize, String)]) -> Rights {
        let mut rights = Rights {
            accounts: patterns.iter().map(|(_, it)| it.clone()).collect(),
            ..Rights::default()
        };
        for (at, right) in self.texts(table, "may").unwrap_or_default() {
            match right.as_str() {
                "new" => rights.new = true,
                "replace" => rights.replace = true,
                "cancel" => rights.cancel = true,
                "mass cancel" => rights.mass_cancel = true,
                "status" => rights.status = true,
                "reports" => rights.reports = true,
                "quote" => rights.quote = true,
                "price inquiry" => rights.inquiry = true,
                _ => {
                    let hint = "the rights are new, replace, cancel, mass cancel, status, reports, quote, price inquiry";
                    self.wrong(at, format!("unknown right {right}"), hint);
                }
            }
        }
        rights
    }

    /// Checks that no other table of the session has the same accounts: one table decides for each account.
    fn check_alone(&mut self, one: &Known<'_>, all: &[Known<'_>]) {
        let session = &one.session;
        let is_its = |known: &&Known<'_>| known.session == *session;
        let others: Vec<&Known<'_>> = all.iter().filter(is_its).collect();
        let news = match others[..] {
            [] => return,
            [first] => vec![first, one],
            _ => vec![one],
        };
        for known in news {
            if known.patterns.is_empty() {
                let what = format!("[[user]] of {session} has no accounts");
                let hint = "with several tables for a session, each must name its accounts";
                self.wrong(known.at, what, hint);
            }
        }
        for known in others {
            for (at, pattern) in &one.patterns {
                let same = known.patterns.iter().find(|(_, other)| other == pattern);
                let Some((other, _)) = same else { continue };
                let (first, second) = (self.line(*other), self.line(*at));
                let what = format!(
                    "accounts {pattern} of {session} are in two tables, lines {first} and {second}"
                );
                let hint = "the most specific pattern decides: keep it in one table";
                self.wrong(*at, what, hint);
            }
            for key in OF_SESSION {
                if !(known.table.contains_key(key) && one.table.contains_key(key)) {
                    continue;
                }
                let (other, at) = (Self::place(known.table, key), Self::place(one.table, key));
                let (first, second) = (self.line(other), self.line(at));
                let what =
                    format!("{key} of {session} is in two tables, lines {first} and {second}");
                self.wrong(at, what, "it applies to the whole session: write it once");
            }
        }
    }

    /// Adds a table to the others of its session.
    fn add_user(&mut self, session: &str, user: UserRule) {
        let mut users = self.rules.users.iter_mut();
        let Some(known) = users.find(|known| known.session == session) else {
            let session = session.into();
            self.rules.users.push(UserRule { session, ..user });
            return;
        };
        known.rights.extend(user.rights);
        known.default_account = known.default_account.take().or(user.default_account);
        known.on_logout = known.on_logout.or(user.on_logout);
        known.on_disconnect = known.on_disconnect.or(user.on_disconnect);
        known.number_pool = known.number_pool.take().or(user.number_pool);
        known.own_numbers |= user.own_numbers;
        known.rate = known.rate.or(user.rate);
        known.report_numbers |= user.report_numbers;
        known.conditional = known.conditional.or(user.conditional);
        known.language = known.language.take().or(user.language);
        known.parents = known.parents.or(user.parents);
        known.validity = known.validity.or(user.validity);
        if known.drop.is_empty() {
            known.drop = user.drop;
        }
        let (marks, more) = (known.marks, user.marks);
        known.marks = UserMarks {
            cm_id: marks.cm_id.or(more.cm_id),
            order_source: marks.order_source.or(more.order_source),
            info_source: marks.info_source.or(more.info_source),
            investor_flag: marks.investor_flag.or(more.investor_flag),
            position_effect: marks.position_effect.or(more.position_effect),
        };
    }

    /// Checks that a session may use its default account.
    fn check_defaults(&mut self, all: &[Known<'_>]) {
        for known in all {
            let users = &self.rules.users;
            let user = users.iter().find(|user| user.session == known.session);
            let default = user.and_then(|user| {
                let account = user.default_account.as_ref()?;
                user.rights(account.as_bytes()).is_none().then_some(account)
            });
            if let Some(account) = default
                && known.table.contains_key("account")
            {
                let what = format!("account {account} is not one of the accounts of this user");
                self.wrong(Self::place(known.table, "account"), what, "");
            }
        }
    }

    /// `cancel`, or `cancel after 5s`: how the orders of a disconnected session are handled.
    fn cancel_after(&mut self, table: &DeTable<'_>, key: &str) -> Option<i64> {
        let text = self.text(table, key)?;
        let after = match text.strip_prefix("cancel") {
            Some("") => Some(0),
            Some(after) => after.strip_prefix(" after ").and_then(duration),
            None => None,
        };
        if after.is_none_or(|after| after > MOST_GRACE) {
            let at = table.get(key).map_or(0, |value| value.span().start);
            let what = format!("unknown value {key} = \"{text}\"");
            self.wrong(at, what, "write cancel, or cancel after 5s (at most 60s)");
        }
        after
    }

    /// What its orders over TMP say in place of what their line says.
    fn marks(&mut self, table: &DeTable<'_>) -> UserMarks {
        let cm_id = self.number(table, "cm_id", u16::MAX.into());
        if cm_id == Some(0) {
            let hint = "write the number of the clearing member";
            self.wrong(Self::place(table, "cm_id"), "cm_id is 0".into(), hint);
        }
        let sources = b"DAMWPVG";
        let source = |text: &str| match text.as_bytes() {
            [byte] if sources.contains(byte) => Some(*byte),
            _ => None,
        };
        let is_plain = |byte: &u8| byte.is_ascii_graphic();
        let vendor = |text: &str| {
            let vendor: [u8; 3] = text.as_bytes().try_into().ok()?;
            vendor.iter().all(is_plain).then_some(vendor)
        };
        let flag = |text: &str| match text.as_bytes() {
            [byte] if is_plain(byte) => Some(*byte),
            _ => None,
        };
        let effect = |text: &str| match text {
            "open" => Some(Effect::Open),
            "close" => Some(Effect::Close),
            "day trade" => Some(Effect::DayTrade),
            "liquidation" => Some(Effect::Liquidation),
            "automatic" => Some(Effect::Automatic),
            _ => None,
        };
        UserMarks {
            cm_id: cm_id.and_then(|it| u16::try_from(it).ok()),
            order_source: self.mark(table, "order_source", "D, A, M, W, P, V or G", source),
            info_source: self.mark(
                table,
                "info_source",
                "the 3 characters of the information vendor, 999 for none",
                vendor,
            ),
            investor_flag: self.mark(
                table,
                "investor_flag",
                "the character of the kind of investor",
                flag,
            ),
            position_effect: self.mark(
                table,
                "position_effect",
                "open, close, day trade or liquidation; automatic for options only",
                effect,
            ),
        }
    }

    fn mark<T>(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        values: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(table, key)?;
        let value = read(&text);
        if value.is_none() {
            let what = format!("unknown value {key} = \"{text}\"");
            self.wrong(Self::place(table, key), what, &format!("write {values}"));
        }
        value
    }

    /// `500ms`: how long its orders may wait before they are sent.
    fn validity(&mut self, table: &DeTable<'_>) -> Option<i64> {
        const MOST: i64 = 86_400_000_000_000;
        let text = self.text(table, "validity")?;
        let time = duration(&text).filter(|time| (1..=MOST).contains(time));
        if time.is_none() {
            let what = format!("validity = \"{text}\" is not a time");
            let hint = "write how long an order may wait (at most 86400s): 500ms, 5s";
            self.wrong(Self::place(table, "validity"), what, hint);
        }
        time
    }

    /// `100 in 1s`, or `100 in 1s, logout after 10`.
    fn rate(&mut self, table: &DeTable<'_>) -> Option<RateRule> {
        let text = self.text(table, "rate")?;
        let (rate, after) = match text.split_once(", logout after ") {
            Some((rate, after)) => (rate, Some(after)),
            None => (text.as_str(), None),
        };
        let after = after.map(|after| {
            let after = after.parse().ok();
            after.filter(|after| (1..=1_000_000).contains(after))
        });
        let rule = |logout_after| {
            let (count, time) = count_in_time(rate)?;
            Some(RateRule {
                count: NonZeroUsize::new(count)?,
                time,
                logout_after,
            })
        };
        let rule = match after {
            None => rule(None),
            Some(after) => after.and_then(|after| rule(Some(after))),
        };
        if rule.is_none() {
            let what = format!("rate = \"{text}\" is not a rate of requests");
            let hint = "write how many in what time (at most 60s), and after how many rejected ones it is logged out: \
                        100 in 1s, or 100 in 1s, logout after 10";
            self.wrong(Self::place(table, "rate"), what, hint);
        }
        rule
    }
}
