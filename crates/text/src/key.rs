//! [`SettingKey`]: the only place where a setting is declared.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use toml::de::{DeTable, DeValue};

use crate::diagnostic::Diagnostic;
use crate::toml::{TomlTable, TomlValue, tables};
use crate::units::duration_text;

/// A setting: how it is written, read, shown and explained. `R` is the type of the function that reads it.
#[derive(Debug)]
pub struct SettingKey<T: 'static, R> {
    /// The key of the setting in the file.
    pub name: &'static str,
    /// The form of the value: `time`, `number`, `CSV file`.
    pub form: &'static str,
    /// The default value as in a file, with quotes; [`REQUIRED`] for a required setting; empty when there is no
    /// default.
    pub default: &'static str,
    /// The effect of a reload on a changed setting.
    pub reload: ReloadEffect,
    /// The effect of the setting, as a table cell in Markdown.
    pub help: &'static str,
    /// Reads the value of the setting.
    pub read: R,
    /// The value as text, for the differences that a reload shows; empty when the value is not set.
    pub show: fn(&T) -> String,
}

/// The text of a reference page about a setting.
#[derive(Clone, Copy, Debug)]
pub struct KeyInfo {
    /// The key of the setting in the file.
    pub name: &'static str,
    /// The form of the value.
    pub form: &'static str,
    /// The default value.
    pub default: &'static str,
    /// What a reload does with a change of the setting.
    pub reload: ReloadEffect,
    /// What the setting does.
    pub help: &'static str,
}

impl<T, R> SettingKey<T, R> {
    /// What a reference page says about the setting.
    pub fn info(&self) -> KeyInfo {
        KeyInfo {
            name: self.name,
            form: self.form,
            default: self.default,
            reload: self.reload,
            help: self.help,
        }
    }

    /// The mistake that the setting is missing in a table.
    pub fn missing(&self, table: TomlTable<'_>) -> Diagnostic {
        let what = format!("{} is missing", self.name);
        Diagnostic::of(
            table.span(),
            what,
            format!("add {} = ... ({})", self.name, self.form),
        )
    }
}

/// A reader of tables whose keys are in registries. Functions that read values have this in common.
pub trait TableReader: Sized {
    /// The mistakes found so far.
    fn mistakes(&mut self) -> &mut Vec<Diagnostic>;

    /// The value that was read. If the value has a mistake, records the mistake and returns `None`.
    fn keep<V>(&mut self, read: Result<V, Diagnostic>) -> Option<V> {
        read.map_err(|mistake| self.mistakes().push(mistake)).ok()
    }

    /// Reads the keys of a table into a rule, in the order of the registry. Missing keys get their defaults.
    fn read_keys<T, R>(&mut self, keys: &[SettingKey<T, R>], rule: &mut T, table: TomlTable<'_>)
    where
        R: Fn(&mut Self, &mut T, TomlValue<'_>) -> Result<(), Diagnostic>,
    {
        self.read_keys_or(keys, rule, table, |key| key.missing(table));
    }

    /// Does the same as [`read_keys`](Self::read_keys). The caller gives the mistake for a missing key.
    fn read_keys_or<T, R>(
        &mut self,
        keys: &[SettingKey<T, R>],
        rule: &mut T,
        table: TomlTable<'_>,
        missing: impl Fn(&SettingKey<T, R>) -> Diagnostic,
    ) where
        R: Fn(&mut Self, &mut T, TomlValue<'_>) -> Result<(), Diagnostic>,
    {
        let nothing = DeTable::new();
        let unknown = table.unknown(keys.iter().map(|key| key.name));
        self.mistakes().extend(unknown);
        for key in keys {
            let done = match (table.get(key.name), key.default) {
                (Some(value), _) => (key.read)(self, rule, value),
                (None, "") => Ok(()),
                (None, REQUIRED) => Err(missing(key)),
                (None, default) => match DeValue::parse(default) {
                    Ok(value) => {
                        let value = TomlValue::detached(key.name, value.get_ref(), &nothing);
                        (key.read)(self, rule, value)
                    }
                    Err(error) => Err(Diagnostic::new(table.at, error.message(), "")),
                },
            };
            self.keep(done);
        }
    }

    /// Reads a list of tables such as `[[user]]`. Returns the tables and the rules that they describe.
    fn read_list<'d, T: Default, R>(
        &mut self,
        keys: &[SettingKey<T, R>],
        root: TomlTable<'d>,
        name: &str,
    ) -> (Vec<TomlTable<'d>>, Vec<T>)
    where
        R: Fn(&mut Self, &mut T, TomlValue<'_>) -> Result<(), Diagnostic>,
    {
        let tables = tables(root.get(name), name, self.mistakes());
        let rules = tables.iter().map(|table| {
            let mut rule = T::default();
            self.read_keys(keys, &mut rule, *table);
            rule
        });
        let rules = rules.collect();
        (tables, rules)
    }
}

/// Takes the place of the default, for a key that a table must have.
pub const REQUIRED: &str = "required";

/// What a reload does with a change of a setting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReloadEffect {
    /// The change applies from the next message on.
    Applied,
    /// The change applies from the next message on. If the settings say so, a second person must confirm it first.
    Confirmed,
    /// The change needs a restart.
    Restart,
    /// Only a start with an empty journal reads the setting.
    FirstStart,
}

impl ReloadEffect {
    /// The name of this effect on a reference page.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Applied => "reload",
            Self::Confirmed => "reload, by two",
            Self::Restart => "**restart**",
            Self::FirstStart => "empty journal",
        }
    }
}

/// The rows of a reference page for the keys of a table.
pub fn page_rows<'k>(table: &str, keys: impl IntoIterator<Item = &'k KeyInfo>) -> String {
    let mut rows = String::new();
    for (at, key) in keys.into_iter().enumerate() {
        let table = if at == 0 { table } else { "" };
        let default = match key.default {
            "" => String::new(),
            REQUIRED => REQUIRED.into(),
            default => format!("`{default}`"),
        };
        let (name, form, help) = (key.name, key.form, key.help.trim());
        let reload = key.reload.name();
        rows += &format!("| {table} | `{name}` | {form} | {default} | {reload} | {help} |\n");
    }
    rows
}

/// A value of a rule in the form in which the differences of a reload show it; empty when the value is not set.
pub trait ShownValue {
    /// The text of the value.
    fn shown(&self) -> String;
}

impl ShownValue for bool {
    fn shown(&self) -> String {
        if *self { "yes".into() } else { String::new() }
    }
}

impl<V: ShownValue> ShownValue for Option<V> {
    fn shown(&self) -> String {
        self.as_ref().map(V::shown).unwrap_or_default()
    }
}

impl ShownValue for Vec<String> {
    fn shown(&self) -> String {
        self.join(" ")
    }
}

macro_rules! shown {
    ($($type:ty),+) => {$(
        impl ShownValue for $type {
            fn shown(&self) -> String {
                self.to_string()
            }
        }
    )+};
}

shown!(String, u8, u16, u32, u64, usize);

/// Makes a list of [`SettingKey`]s. An entry has the help text, then
/// `name: Value(...), default, effect of a reload;`. Most kinds of values name the field to which the value is
/// written, and what their type needs. `With` has a form, the field and a function that reads the value. `Own` has a
/// form, a function that reads the value and a function that shows it. `Plain` has a form and a function that reads
/// the value; no reload compares it. The file of a `File` is read by the reader of the table.
#[macro_export]
macro_rules! keys {
    ($( $(#[doc = $help:literal])+ $name:ident: $value:ident($($args:tt)*), $default:expr, $reload:expr; )*) => {
        &[$( $crate::SettingKey {
            name: $crate::keys!(@name $name),
            form: $crate::keys!(@form $value $($args)*),
            default: $default,
            reload: $reload,
            help: concat!($($help),+),
            read: $crate::keys!(@read $value $($args)*),
            show: $crate::keys!(@show $value $($args)*),
        } ),*]
    };
    // Keys that are keywords of Rust.
    (@name do_) => { "do" };
    (@name match_) => { "match" };
    (@name type_) => { "type" };
    (@name $name:ident) => { stringify!($name) };
    (@form Flag $($args:tt)*) => { "true or false" };
    (@form Text $($args:tt)*) => { "text" };
    (@form Number $($args:tt)*) => { "number" };
    (@form Time $($args:tt)*) => { "time" };
    (@form List $($args:tt)*) => { "list" };
    (@form File) => { "CSV file" };
    (@form With $form:literal, $($args:tt)*) => { $form };
    (@form Own $form:literal, $($args:tt)*) => { $form };
    (@form Plain $form:literal, $($args:tt)*) => { $form };
    (@read Flag $($field:ident).+) => {
        |_, rule, value| value.flag().map(|read| rule.$($field).+ = read)
    };
    (@read Text $($field:ident).+) => {
        |_, rule, value| value.text().map(|read| rule.$($field).+ = ::alloc::string::String::from(read).into())
    };
    (@read Number $($field:ident).+, $most:expr) => {
        |_, rule, value| value.number($most).map(|read| rule.$($field).+ = read.into())
    };
    (@read Time $($field:ident).+, $least:expr, $most:expr, $hint:expr) => {
        |_, rule, value| value.duration($least, $most, $hint).map(|read| rule.$($field).+ = (read as i64).into())
    };
    (@read List $($field:ident).+) => {
        |reader, rule, value| {
            let read = value.texts(&mut reader.errors)?.into_iter();
            rule.$($field).+ = read.map(|(_, text)| text).collect();
            Ok(())
        }
    };
    // The reader of the table reads this file itself, after all other keys.
    (@read File) => { |_, _, value| value.text().map(|_| ()) };
    (@read With $form:literal, $($field:ident).+, $read:expr) => { $read };
    (@read Own $form:literal, $read:expr, $show:expr) => { $read };
    (@read Plain $form:literal, $read:expr) => { $read };
    (@show Time $($field:ident).+, $($args:tt)*) => {
        |rule| $crate::time_text(Option::from(rule.$($field).+))
    };
    (@show File) => { |_| ::alloc::string::String::new() };
    (@show Plain $($args:tt)*) => { |_| ::alloc::string::String::new() };
    (@show With $form:literal, $($field:ident).+, $read:expr) => {
        |rule| $crate::ShownValue::shown(&rule.$($field).+)
    };
    (@show Own $form:literal, $read:expr, $show:expr) => { $show };
    (@show $value:ident $($field:ident).+ $(, $args:expr)*) => {
        |rule| $crate::ShownValue::shown(&rule.$($field).+)
    };
}

/// A time of a rule in the form that settings have; empty when the time is not set.
#[must_use]
pub fn time_text(nanoseconds: Option<i64>) -> String {
    let time = nanoseconds.map(|it| duration_text(it.unsigned_abs()));
    time.unwrap_or_default()
}
