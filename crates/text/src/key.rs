//! [`SettingKey`]: the one place where a setting is declared.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use toml::de::{DeTable, DeValue};

use crate::diagnostic::Diagnostic;
use crate::toml::{TomlTable, TomlValue, tables};
use crate::units::duration_text;

/// A setting: how it is written, read, shown and explained. `R` is the function that reads it.
#[derive(Debug)]
pub struct SettingKey<T: 'static, R> {
    /// Its key in the file.
    pub name: &'static str,
    /// What its value is: `time`, `number`, `CSV file`.
    pub form: &'static str,
    /// Its default as a file has it, with quotes; [`REQUIRED`], or empty without one.
    pub default: &'static str,
    /// What a reload does with it.
    pub reload: ReloadEffect,
    /// What it does, as a cell of Markdown.
    pub help: &'static str,
    /// Reads its value.
    pub read: R,
    /// Its value as text, for the differences of a reload; empty where it is not set.
    pub show: fn(&T) -> String,
}

/// What a page says of a setting.
#[derive(Clone, Copy, Debug)]
pub struct KeyInfo {
    /// Its key in the file.
    pub name: &'static str,
    /// What its value is.
    pub form: &'static str,
    /// Its default.
    pub default: &'static str,
    /// What a reload does with it.
    pub reload: ReloadEffect,
    /// What it does.
    pub help: &'static str,
}

impl<T, R> SettingKey<T, R> {
    /// What a page says of it.
    pub fn info(&self) -> KeyInfo {
        KeyInfo {
            name: self.name,
            form: self.form,
            default: self.default,
            reload: self.reload,
            help: self.help,
        }
    }

    /// The mistake that a table does not have it.
    pub fn missing(&self, table: TomlTable<'_>) -> Diagnostic {
        let what = format!("{} is missing", self.name);
        Diagnostic::of(
            table.span(),
            what,
            format!("add {} = ... ({})", self.name, self.form),
        )
    }
}

/// Who reads tables by registries of their keys: what the functions that read values share.
pub trait TableReader: Sized {
    /// The mistakes found so far.
    fn mistakes(&mut self) -> &mut Vec<Diagnostic>;

    /// The value, or `None` after noting the mistake in it.
    fn keep<V>(&mut self, read: Result<V, Diagnostic>) -> Option<V> {
        read.map_err(|mistake| self.mistakes().push(mistake)).ok()
    }

    /// Reads the keys of a table into a rule, in the order of the registry; missing ones have their defaults.
    fn read_keys<T, R>(&mut self, keys: &[SettingKey<T, R>], rule: &mut T, table: TomlTable<'_>)
    where
        R: Fn(&mut Self, &mut T, TomlValue<'_>) -> Result<(), Diagnostic>,
    {
        self.read_keys_or(keys, rule, table, |key| key.missing(table));
    }

    /// The same, with a mistake of the caller's for a missing key.
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

    /// Reads a list of tables such as `[[user]]`: the tables, and the rules that they describe.
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

/// In place of the default of a key that a table must have.
pub const REQUIRED: &str = "required";

/// What a reload does with a setting that has changed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReloadEffect {
    /// It is in force at the next message.
    Applied,
    /// The same, but a second person must confirm it where the settings say so.
    Confirmed,
    /// It needs a restart.
    Restart,
    /// Only a start with an empty journal reads it.
    FirstStart,
}

impl ReloadEffect {
    /// Its name on a page.
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

/// The rows of a page for the keys of a table.
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

/// A value of a rule as the differences of a reload show it: empty where it is not set.
pub trait ShownValue {
    /// Its text.
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

/// Makes a list of [`SettingKey`]s. An entry is its help, then `name: Value(...), default, effect of a reload;`. A value
/// is the field that it is written to, with what its type needs; `With` a form, the field and how it is read, `Own` a form,
/// how it is read and how it is shown; `Plain` a form and how it is read, where no reload compares it. The file of `File` is read by whoever reads the table.
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
    // Keys that are words of Rust.
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
    // Who reads the table reads the file, after all other keys.
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

/// A time of a rule as settings have it; empty without one.
#[must_use]
pub fn time_text(nanoseconds: Option<i64>) -> String {
    let time = nanoseconds.map(|it| duration_text(it.unsigned_abs()));
    time.unwrap_or_default()
}
