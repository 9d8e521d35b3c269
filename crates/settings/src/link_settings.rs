//! [`LinkSettings`]: the checked values of a `[[link]]` table.

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
    /// Settings of the link's connection. Links have the same connection keys as the settings of a session.
    pub connection: SessionSettings,
    /// The protocol keys of the link that have a value, in the order of the reference page.
    pub settings: Vec<LinkSetting>,
    /// Password of the link; `None` when the password is in a file.
    pub(super) password: Option<TmpPassword>,
}

/// The value of one protocol key of a link.
#[derive(Clone, Debug)]
pub struct LinkSetting {
    /// The key.
    pub key: &'static LinkKey,
    /// The checked value; `******` for a password.
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

    /// The value of a key as a text or word; empty when the key has no value.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.find(name).map(|found| &found.value) {
            Some(SettingValue::Text(text)) => text,
            Some(SettingValue::Word(word)) => word,
            _ => "",
        }
    }

    /// The value of a key as a number; 0 when the key has no value.
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

    /// The connection keys that apply to this end of the link. Keys of the engine are left out.
    pub fn connection_settings(&self) -> impl Iterator<Item = &Setting> {
        let all = self.connection.settings.iter();
        all.filter(|it| it.key.scope == KeyScope::Session)
    }

    pub(super) fn place(&self, name: &str) -> Span {
        let span = self.find(name).and_then(|found| found.origin.span());
        span.unwrap_or(self.header)
    }
}

/// The password that has these digits.
pub(super) fn password(text: &str) -> Option<TmpPassword> {
    let is_number = (1..=9).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    let number = is_number.then(|| text.parse().ok()).flatten();
    number.map(TmpPassword::new)
}
