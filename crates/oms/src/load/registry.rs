//! The registry of settings. Each key of each table is declared once, and this declaration is used for reading,
//! comparing, reload checks and help.
//!
//! A new key is a field in `values/rules.rs` and an entry in the file of its table (`oms.rs`, `users.rs`, `lines.rs`, ...);
//! `UPDATE=1 cargo test -p fixwire-oms --lib keys` then rewrites the table of `docs/reference/oms.md`. An entry says what a
//! reload does with the key: `Applied`, `Confirmed` by a second operator where two must arm, or `Restart`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_text::{
    Diagnostic, KeyInfo, ReloadEffect, SettingKey, TableReader, TomlTable, TomlValue, tables,
    time_text,
};

use super::Reader;
use crate::values::own_tags::OwnTags;
use crate::values::rules::{
    AccountRule, CopySourceRule, DropCopyRule, ErrorRule, LineGroup, OperatorRule, PoolRule,
    RiskRules, Route, UserRule,
};

/// Reads the value of a key into a rule.
pub(crate) type Read<T> = fn(&mut Reader<'_>, &mut T, TomlValue<'_>) -> Result<(), Diagnostic>;

/// A rule that a table of the file describes.
pub(crate) trait TableRule: Default + PartialEq + 'static {
    /// The name of the table.
    const TABLE: &'static str;
    /// The key that identifies a rule among the rules of the table.
    const NAME: &'static str;
    /// All keys, in the order of the reference page and of lists of changes.
    const KEYS: &'static [SettingKey<Self, Read<Self>>];

    /// Each key except the name, with its value as text, for the list of changes of a reload.
    fn shown(&self) -> Vec<(&'static str, String)> {
        let keys = Self::KEYS.iter().filter(|key| key.name != Self::NAME);
        keys.map(|key| (key.name, (key.show)(self))).collect()
    }

    /// The mistake that a required key is missing in a table.
    fn missing(table: TomlTable<'_>, key: &SettingKey<Self, Read<Self>>) -> Diagnostic {
        key.missing(table)
    }
}

/// The tables of the file that belong to the OMS, with their keys.
#[must_use]
pub fn setting_tables() -> [(&'static str, Vec<KeyInfo>); 11] {
    fn of<T: TableRule>() -> (&'static str, Vec<KeyInfo>) {
        (T::TABLE, T::KEYS.iter().map(SettingKey::info).collect())
    }
    [
        of::<RiskRules>(),
        of::<OwnTags>(),
        of::<AccountRule>(),
        of::<UserRule>(),
        of::<LineGroup>(),
        of::<ErrorRule>(),
        of::<PoolRule>(),
        of::<DropCopyRule>(),
        of::<CopySourceRule>(),
        of::<OperatorRule>(),
        of::<Route>(),
    ]
}

impl Reader<'_> {
    /// The value of `read`; notes the mistake and returns `None` if reading failed.
    pub(super) fn keep<T>(&mut self, read: Result<T, Diagnostic>) -> Option<T> {
        read.map_err(|mistake| self.errors.push(mistake)).ok()
    }

    /// The tables of a list of tables.
    pub(super) fn tables<'d>(&mut self, root: TomlTable<'d>, name: &'d str) -> Vec<TomlTable<'d>> {
        tables(root.get(name), name, &mut self.errors)
    }

    /// Reads the keys of a table into a rule, in the order of the registry; a missing key keeps its default.
    pub(super) fn read<T: TableRule>(&mut self, rule: &mut T, table: TomlTable<'_>) {
        self.read_keys_or(T::KEYS, rule, table, |key| T::missing(table, key));
    }
}

impl TableReader for Reader<'_> {
    fn mistakes(&mut self) -> &mut Vec<Diagnostic> {
        &mut self.errors
    }
}

/// The value of the key that identifies a rule.
pub(crate) fn name_of<T: TableRule>(rule: &T) -> String {
    let named = T::KEYS.iter().find(|key| key.name == T::NAME);
    named.map_or(String::new(), |key| (key.show)(rule))
}

/// Whether a second operator must confirm changes of rules of this kind.
pub(crate) fn is_guarded<T: TableRule>() -> bool {
    let mut keys = T::KEYS.iter();
    keys.any(|key| key.reload == ReloadEffect::Confirmed)
}

/// The names of the keys that differ and that take effect only after a restart.
pub(crate) fn at_start<T: TableRule>(old: &T, new: &T) -> impl Iterator<Item = &'static str> {
    let keys = T::KEYS.iter();
    let keys = keys.filter(|key| key.reload == ReloadEffect::Restart);
    let differ = keys.filter(|key| (key.show)(old) != (key.show)(new));
    let names: Vec<&str> = differ.map(|key| key.name).collect();
    names.into_iter()
}

/// The value as text; empty for `None`.
pub(crate) fn or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// A time in nanoseconds as text, in the form that settings use.
pub(crate) fn time(nanoseconds: i64) -> String {
    time_text(Some(nanoseconds))
}
