//! Users by template: a `[[user]]` whose `session` ends with `*` stands for each session that fits, and so does a row of the
//! file of limits with the scope `session=CLIENT*`.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_text::{Diagnostic, TomlTable, tables};

use crate::load::Reader;
use crate::values::rules::{
    LimitRule, ScopeName, UserRule, UserTemplate, is_pattern, matches, patterns_overlap,
};

/// The sessions that tables other than `[[user]]` name: each has its role already.
fn named_elsewhere(file: TomlTable<'_>, market_data: &[String]) -> BTreeSet<String> {
    let mut named: BTreeSet<String> = market_data.iter().cloned().collect();
    for (list, key) in [
        ("line_group", "lines"),
        ("drop_copy", "session"),
        ("drop_copy_in", "session"),
    ] {
        for table in tables(file.get(list), list, &mut Vec::new()) {
            let Some(value) = table.get(key) else {
                continue;
            };
            match value.text() {
                Ok(session) => named.extend([session.to_string()]),
                Err(_) => {
                    let names = value.texts(&mut Vec::new()).unwrap_or_default();
                    named.extend(names.into_iter().map(|(_, name)| name));
                }
            }
        }
    }
    named
}

/// The longest pattern that fits a session.
fn best<'p>(patterns: impl Iterator<Item = &'p str>, session: &str) -> Option<&'p str> {
    let fitting = patterns.filter(|pattern| matches(pattern, session.as_bytes()));
    fitting.max_by_key(|pattern| pattern.len())
}

impl Reader<'_> {
    /// Puts a user for each session that fits in the place of each template. A session with a table of its own, or with
    /// another role, fits none; of several templates the longest pattern counts. A template for which a Logon may create
    /// sessions stays, with its pattern as the name of the session.
    pub(super) fn expand_users(&mut self, file: TomlTable<'_>) {
        let users = core::mem::take(&mut self.rules.users).into_iter();
        let (templates, users): (Vec<_>, Vec<_>) =
            users.partition(|user| is_pattern(&user.session));
        self.rules.users = users;
        if templates.is_empty() {
            return;
        }
        let mut taken = named_elsewhere(file, &self.rules.market_data);
        taken.extend(self.rules.users.iter().map(|user| user.session.clone()));
        for template in &templates {
            let pattern = &template.session;
            let patterns = || templates.iter().map(|it| it.session.as_str());
            let sessions = self.sessions.iter().copied();
            let sessions = sessions.filter(|session| {
                !taken.contains(*session) && best(patterns(), session) == Some(pattern)
            });
            let sessions: Vec<String> = sessions.map(String::from).collect();
            let creates = self.created.iter().any(|form| form.may_fit(pattern));
            let list = tables(file.get("user"), "user", &mut Vec::new());
            let place = |key: &str| {
                let is_it = |table: &&TomlTable<'_>| {
                    let session = table.get("session").and_then(|it| it.text().ok());
                    session == Some(pattern) && table.has(key)
                };
                list.iter().find(is_it).map_or(0, |it| it.place(key))
            };
            if template.max_sessions.is_some() && !creates {
                let what =
                    format!("max_sessions of {pattern}: no Logon creates a session that fits");
                let hint = "remove it, or add a [[session]] with AcceptorTemplate = true";
                self.wrong(place("max_sessions"), what, hint);
            }
            if sessions.is_empty() && !creates {
                let at = place("session");
                let hint = format!(
                    "the sessions are {}; one with a [[user]] of its own, with a longer pattern, or with another role, such as a line, \
                     does not count",
                    self.sessions.join(", ")
                );
                self.wrong(at, format!("{pattern} fits no session"), hint);
            }
            let rules = sessions.iter().map(|session| UserRule {
                session: session.clone(),
                ..template.clone()
            });
            self.rules.users.extend(rules);
            if creates {
                self.rules.users.push(template.clone());
            }
            self.rules.templates.push(UserTemplate {
                pattern: pattern.clone(),
                sessions,
                creates,
                created: 0,
            });
        }
    }

    /// Puts a limit for each user that fits in the place of each limit whose scope is a pattern. A row for the session
    /// itself counts more, and so does a longer pattern. A limit for sessions that a Logon may create stays, with its
    /// pattern as the name of the session.
    pub(in crate::load) fn expand_limits(&mut self) {
        let limits = core::mem::take(&mut self.rules.limits).into_iter();
        let (mut patterns, limits): (Vec<_>, Vec<_>) =
            limits.partition(|rule| rule.pattern().is_some());
        self.rules.limits = limits;
        patterns.sort_by_key(|rule| core::cmp::Reverse(rule.pattern().map(str::len)));
        for rule in &patterns {
            let Some(pattern) = rule.pattern() else {
                continue;
            };
            let users = self.rules.users.iter().map(|user| &user.session);
            let users = users.filter(|name| !is_pattern(name) && matches(pattern, name.as_bytes()));
            for session in users {
                let scope = ScopeName::Session(session.clone());
                if self
                    .known
                    .limits
                    .insert((scope.clone(), rule.control.index()))
                {
                    self.rules.limits.push(LimitRule {
                        scope,
                        ..rule.clone()
                    });
                }
            }
        }
        let templates = self.rules.templates.iter().filter(|it| it.creates);
        let creating: Vec<&str> = templates.map(|it| &*it.pattern).collect();
        let may_fit = |pattern: &str| {
            let mut creating = creating.iter();
            creating.any(|it| patterns_overlap(it, pattern))
        };
        patterns.retain(|rule| rule.pattern().is_some_and(may_fit));
        self.rules.limits.extend(patterns);
        for (pattern, line) in core::mem::take(&mut self.known.limit_patterns) {
            let users = self.rules.users.iter();
            let mut users = users.filter(|user| !is_pattern(&user.session));
            let fits = users.any(|user| matches(&pattern, user.session.as_bytes()));
            if !fits && !may_fit(&pattern) {
                let what = format!("session={pattern} fits no user");
                let hint = "a limit of this scope is for each session of a [[user]] that fits";
                let file = &self.rules.limits_file;
                self.errors
                    .push(Diagnostic::in_file(file, line, what, hint));
            }
        }
    }
}
