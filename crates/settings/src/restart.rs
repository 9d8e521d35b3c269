//! Settings of sessions and links that changed between two readings of a file. A running engine keeps the old
//! settings.

use super::ini::Span;
use super::problem::{LoadError, Problem};
use super::resolved::{SessionSettings, Settings};

impl Settings {
    /// An error with each setting of a session or link that changed after an earlier reading. The engine runs with
    /// the old settings until it is restarted. `who` is the process to restart, such as `the gateway`.
    #[must_use]
    pub fn restart_needed(&self, before: &Self, who: &str) -> Option<LoadError> {
        let help = format!("undo the change, or restart {who}");
        let mut found = Vec::new();
        let mut tell = |span: Span, what: String| {
            let title = format!("{what}: the change needs a restart");
            found.push(Problem::found(span, &title, Some(&help)));
        };
        let of_links = |settings: &Self| -> Vec<(String, SessionSettings)> {
            let links = settings.links.iter();
            let links = links.map(|link| (link.connection.called(), link.connection.clone()));
            let sessions = settings.sessions.iter();
            let sessions = sessions.map(|session| (session.called(), session.clone()));
            sessions.chain(links).collect()
        };
        let (old, new) = (of_links(before), of_links(self));
        for (name, is) in &new {
            match old.iter().find(|(known, _)| known == name) {
                Some((_, was)) => differences(name, (was, is), &mut tell),
                None => tell(is.header, format!("session {name} was added")),
            }
        }
        for (name, _) in old
            .iter()
            .filter(|(name, _)| !new.iter().any(|(it, _)| it == name))
        {
            tell(Span::default(), format!("session {name} was removed"));
        }
        self.errors(found)
    }
}

fn differences(
    name: &str,
    (was, is): (&SessionSettings, &SessionSettings),
    tell: &mut impl FnMut(Span, String),
) {
    for setting in &is.settings {
        let same = was
            .settings
            .iter()
            .find(|old| old.key.name == setting.key.name && old.number == setting.number);
        if same.is_none_or(|old| old.value != setting.value) {
            let span = setting.origin.span().unwrap_or(is.header);
            tell(
                span,
                format!("{} of session {name} differs", setting.key.name),
            );
        }
    }
    for old in &was.settings {
        let stays = is
            .settings
            .iter()
            .any(|it| it.key.name == old.key.name && it.number == old.number);
        if !stays {
            tell(
                is.header,
                format!("{} of session {name} was removed", old.key.name),
            );
        }
    }
    for custom in &is.custom {
        let same = was.custom.iter().find(|old| old.key == custom.key);
        if same.is_none_or(|old| old.value != custom.value) {
            let span = custom.origin.span().unwrap_or(is.header);
            tell(span, format!("{} of session {name} differs", custom.key));
        }
    }
    for old in was
        .custom
        .iter()
        .filter(|old| !is.custom.iter().any(|it| it.key == old.key))
    {
        tell(
            is.header,
            format!("{} of session {name} was removed", old.key),
        );
    }
}
