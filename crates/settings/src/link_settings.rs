//! [`LinkSettings`]: the checked values of a `[[link]]`.

use fixwire_tmp::TmpPassword;

use super::ini::Span;
use super::link_keys::{LinkKey, TmpEnd};
use super::registry::KeyScope;
use super::resolved::{Origin, SessionSettings, Setting};
use super::value::SettingValue;

/// The values of one link.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// The `[[link]]` line of the link.
    pub header: Span,
    /// The local end.
    pub end: TmpEnd,
    /// Connection of the link: the keys that sessions have too.
    pub connection: SessionSettings,
    /// Keys of the link's protocol that have a value, in the order of the document.
    pub settings: Vec<LinkSetting>,
    /// Password of the link, unless it is in a file.
    pub(super) password: Option<TmpPassword>,
}

/// The value of a key of a link's protocol.
#[derive(Clone, Debug)]
pub struct LinkSetting {
    /// The key.
    pub key: &'static LinkKey,
    /// The value, checked; `******` for a password.
    pub value: SettingValue,
    /// The value as it may be shown.
    pub text: String,
    /// Origin of the value.
    pub origin: Origin,
}

impl LinkSettings {
    /// A key's value.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&LinkSetting> {
        self.settings.iter().find(|it| it.key.name == name)
    }

    /// A text or word; empty without a value.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.find(name).map(|found| &found.value) {
            Some(SettingValue::Text(text)) => text,
            Some(SettingValue::Word(word)) => word,
            _ => "",
        }
    }

    /// A number; 0 without a value.
    #[must_use]
    pub fn number(&self, name: &str) -> u64 {
        match self.find(name).map(|found| &found.value) {
            Some(SettingValue::Int(number)) => *number,
            _ => 0,
        }
    }

    /// Name of the link.
    #[must_use]
    pub fn name(&self) -> &str {
        self.text("name")
    }

    /// The keys of the link's connection that apply to this end, without keys of the engine.
    pub fn connection_settings(&self) -> impl Iterator<Item = &Setting> {
        let all = self.connection.settings.iter();
        all.filter(|it| it.key.scope == KeyScope::Session)
    }

    pub(super) fn place(&self, name: &str) -> Span {
        let span = self.find(name).and_then(|found| found.origin.span());
        span.unwrap_or(self.header)
    }
}

/// The password with these digits.
pub(super) fn password(text: &str) -> Option<TmpPassword> {
    let is_number = (1..=9).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    let number = is_number.then(|| text.parse().ok()).flatten();
    number.map(TmpPassword::new)
}
