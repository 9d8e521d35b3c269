//! Users by template: a `[[user]]` whose `session` ends with `*` stands for each session that fits, and so does a row of the
//! file of limits with the scope `session=CLIENT*`.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_text::{Diagnostic, TomlTable, tables};

use crate::load::Reader;
use crate::values::rules::{LimitRule, ScopeName, UserRule, UserTemplate, matches};

/// Whether a session of a user or a scope is a pattern for sessions.
pub(in crate::load) fn is_template(session: &str) -> bool {
    session.ends_with('*')
}

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
    /// another role, fits none; of several templates the longest pattern counts.
    pub(super) fn expand_users(&mut self, file: TomlTable<'_>) {
        let users = core::mem::take(&mut self.rules.users).into_iter();
        let (templates, users): (Vec<_>, Vec<_>) =
            users.partition(|user| is_template(&user.session));
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
            if sessions.is_empty() {
                let list = tables(file.get("user"), "user", &mut Vec::new());
                let is_it = |table: &&TomlTable<'_>| {
                    let session = table.get("session").and_then(|it| it.text().ok());
                    session == Some(pattern)
                };
                let at = list.iter().find(is_it).map_or(0, |it| it.place("session"));
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
            self.rules.templates.push(UserTemplate {
                pattern: pattern.clone(),
                sessions,
            });
        }
    }

    /// Puts a limit for each user that fits in the place of each limit whose scope is a pattern. A row for the session
    /// itself counts more, and so does a longer pattern.
    pub(in crate::load) fn expand_limits(&mut self) {
        let limits = core::mem::take(&mut self.rules.limits).into_iter();
        let pattern = |rule: &LimitRule| match &rule.scope {
            ScopeName::Session(name) if is_template(name) => Some(name.clone()),
            ScopeName::Session(_)
            | ScopeName::Firm
            | ScopeName::Account(_)
            | ScopeName::Instrument(_)
            | ScopeName::Holding(..) => None,
        };
        let (mut patterns, limits): (Vec<_>, Vec<_>) =
            limits.partition(|rule| pattern(rule).is_some());
        self.rules.limits = limits;
        patterns.sort_by_key(|rule| core::cmp::Reverse(pattern(rule).map(|it| it.len())));
        for rule in &patterns {
            let Some(pattern) = pattern(rule) else {
                continue;
            };
            let users = self.rules.users.iter().map(|user| &user.session);
            let users = users.filter(|name| matches(&pattern, name.as_bytes()));
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
        for (pattern, line) in core::mem::take(&mut self.known.limit_patterns) {
            let mut users = self.rules.users.iter();
            if !users.any(|user| matches(&pattern, user.session.as_bytes())) {
                let what = format!("session={pattern} fits no user");
                let hint = "a limit of this scope is for each session of a [[user]] that fits";
                let file = &self.rules.limits_file;
                self.errors
                    .push(Diagnostic::in_file(file, line, what, hint));
            }
        }
    }
}
