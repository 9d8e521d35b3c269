//! Users by template: one `[[user]]` for several sessions, those of the file and those that are created at a Logon.

use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::{LimitRule, RiskRules, ScopeName, UserRule, matches};

/// A `[[user]]` whose `session` is a pattern such as `CLIENT*`. Each of its sessions is a user of its own.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UserTemplate {
    /// The pattern: a prefix before `*`.
    pub pattern: String,
    /// The names of the sessions that have the settings of the template.
    pub sessions: Vec<String>,
    /// Whether a Logon may create further sessions of the template. If so, a user with the pattern as its session is
    /// among the [users](RiskRules::users): no session has this name.
    pub creates: bool,
    /// Number of the sessions that were created at a Logon.
    pub created: usize,
}

/// Names of the sessions that one section with `AcceptorTemplate` creates: a text with one `*`, which stands for the id
/// in the Logon.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CreatedName {
    before: String,
    after: String,
}

impl CreatedName {
    /// Reads `desk-*`; `None` unless the text has exactly one `*`.
    #[must_use]
    pub fn new(form: &str) -> Option<Self> {
        let (before, after) = form.split_once('*')?;
        (!after.contains('*')).then(|| Self {
            before: before.into(),
            after: after.into(),
        })
    }

    /// The name for an id.
    #[must_use]
    pub fn of(&self, id: &str) -> String {
        [&self.before, id, &self.after].concat()
    }

    /// The id in a name; `None` if no id makes the name.
    #[must_use]
    pub fn id<'n>(&self, name: &'n str) -> Option<&'n str> {
        let id = name
            .strip_prefix(&*self.before)?
            .strip_suffix(&*self.after)?;
        (!id.is_empty()).then_some(id)
    }

    /// Whether a name may fit the `session` of a `[[user]]`, which is a name or a pattern.
    #[must_use]
    pub fn may_fit(&self, session: &str) -> bool {
        match session.strip_suffix('*') {
            Some(front) => overlap(front, &self.before),
            None => self.id(session).is_some(),
        }
    }
}

/// Whether a name may begin with both texts.
fn overlap(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Whether the session of a user or a scope is a pattern for sessions.
pub(crate) fn is_pattern(session: &str) -> bool {
    session.ends_with('*')
}

/// Whether a name may fit both patterns.
pub(crate) fn patterns_overlap(one: &str, other: &str) -> bool {
    overlap(one.trim_end_matches('*'), other.trim_end_matches('*'))
}

impl LimitRule {
    /// The pattern for sessions that is the scope of the limit.
    pub(crate) fn pattern(&self) -> Option<&str> {
        match &self.scope {
            ScopeName::Session(name) => Some(&**name).filter(|name| is_pattern(name)),
            ScopeName::Firm
            | ScopeName::Account(_)
            | ScopeName::Instrument(_)
            | ScopeName::Holding(..) => None,
        }
    }
}

impl RiskRules {
    /// The `[[user]]` of a session that is created at a Logon: its own, otherwise that with the longest pattern.
    pub(crate) fn user_of_created(&self, session: &str) -> Option<&UserRule> {
        let is_own = |user: &&UserRule| user.session == session;
        let fits = |user: &&UserRule| {
            is_pattern(&user.session) && matches(&user.session, session.as_bytes())
        };
        let fitting = || self.users.iter().filter(fits);
        let own = self.users.iter().find(is_own);
        own.or_else(|| fitting().max_by_key(|user| user.session.len()))
    }

    /// Whether no further session may be created for the template of a session's user.
    pub(crate) fn is_full(&self, session: &str) -> bool {
        let user = self.user_of_created(session);
        user.is_some_and(|user| {
            let most = user.max_sessions.unwrap_or(usize::MAX);
            let mut templates = self.templates.iter();
            let template = templates.find(|it| it.pattern == user.session);
            template.is_some_and(|it| it.created >= most)
        })
    }

    /// Adds the user of a session that was created at a Logon, and its limits. A session that no `[[user]]` takes gets
    /// none; one that has its user already stays as it is.
    pub(crate) fn add_created(&mut self, session: &str) {
        let Some(user) = self.user_of_created(session) else {
            return;
        };
        if user.session == session {
            return;
        }
        let mut added = user.clone();
        let pattern = core::mem::replace(&mut added.session, session.into());
        self.users.push(added);
        let limits = self.limits.iter();
        let fits = |rule: &&LimitRule| {
            let pattern = rule.pattern();
            pattern.is_some_and(|pattern| matches(pattern, session.as_bytes()))
        };
        let mut limits: Vec<LimitRule> = limits.filter(fits).cloned().collect();
        limits.sort_by_key(|rule| Reverse(rule.pattern().map(str::len)));
        let scope = ScopeName::Session(session.into());
        for rule in limits {
            let mut known = self.limits.iter();
            if !known.any(|it| it.scope == scope && it.control == rule.control) {
                let scope = scope.clone();
                self.limits.push(LimitRule { scope, ..rule });
            }
        }
        let mut templates = self.templates.iter_mut();
        if let Some(template) = templates.find(|it| it.pattern == pattern) {
            template.sessions.push(session.into());
            template.created += 1;
        }
    }
}
