//! What clients may do.

use alloc::format;

use toml::de::DeTable;

use super::{Item, Reader, count_in_time, duration};
use crate::rules::{RateRule, UserRule};

/// The longest time that orders of a session that is gone stay, in nanoseconds.
const MOST_GRACE: i64 = 60_000_000_000;

impl Reader<'_> {
    pub(super) fn users(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "user") {
            let at = item.span().start;
            let known = [
                "account",
                "accounts",
                "may",
                "number_pool",
                "on_disconnect",
                "on_logout",
                "own_numbers",
                "rate",
                "session",
            ];
            let Some(table) = self.keys(item, &known) else {
                continue;
            };
            let accounts = self.texts(table, "accounts").unwrap_or_default();
            let default_account = self.text(table, "account");
            let may = self.texts(table, "may");
            let on_logout = self.cancel_after(table, "on_logout");
            let on_disconnect = self.cancel_after(table, "on_disconnect");
            let number_pool = self.number_pool(table);
            let own_numbers = self.flag(table, "own_numbers");
            let rate = self.rate(table);
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
                on_logout,
                on_disconnect,
                number_pool,
                own_numbers,
                rate,
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
                    "mass cancel" => user.mass_cancel = true,
                    "status" => user.status = true,
                    _ => {
                        let hint = "a user may new, replace, cancel, mass cancel, status";
                        self.wrong(at, format!("no right {right}"), hint);
                    }
                }
            }
            self.rules.users.push(user);
        }
    }

    /// `cancel`, or `cancel after 5s`: what becomes of the orders of a session that is gone.
    fn cancel_after(&mut self, table: &DeTable<'_>, key: &str) -> Option<i64> {
        let text = self.text(table, key)?;
        let after = match text.strip_prefix("cancel") {
            Some("") => Some(0),
            Some(after) => after.strip_prefix(" after ").and_then(duration),
            None => None,
        };
        if after.is_none_or(|after| after > MOST_GRACE) {
            let at = table.get(key).map_or(0, |value| value.span().start);
            let what = format!("{key} = \"{text}\" is nothing that can be done");
            self.wrong(at, what, "write cancel, or cancel after 5s (at most 60s)");
        }
        after
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
                count,
                time,
                logout_after,
            })
        };
        let rule = match after {
            None => rule(None),
            Some(after) => after.and_then(|after| rule(Some(after))),
        };
        if rule.is_none() {
            let what = format!("rate = \"{text}\" says not how many requests a user may send");
            let hint = "write how many in what time (at most 60s), and after how many rejected ones it is logged out: \
                        100 in 1s, or 100 in 1s, logout after 10";
            self.wrong(Self::place(table, "rate"), what, hint);
        }
        rule
    }
}
