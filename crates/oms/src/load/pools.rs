//! Pools of order numbers: `[[number_pool]]`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_text::ReloadEffect::Applied;
use fixwire_text::{
    Diagnostic, REQUIRED, SettingKey, ShownValue as _, TomlTable, TomlValue, keys, tables,
};

use super::registry::{Read, TableRule};
use super::{Reader, is_name};
use crate::values::form::NumberForm;
use crate::values::rules::PoolRule;

/// Maximum number of pools.
const MOST: usize = 1000;
/// OrderID(37), SecondaryOrderID(198) and SecondaryClOrdID(526): orders do not use these tags otherwise.
const TAGS: [u32; 3] = [37, 198, 526];

impl TableRule for PoolRule {
    const TABLE: &'static str = "number_pool";
    const NAME: &'static str = "name";
    // The keys for the form of the numbers come before the keys for the first and last number.
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
        /// name of the pool in users and line groups
        name: Text(name), REQUIRED, Applied;
        /// prefix of the pool's [order numbers](#order-numbers)
        prefix: Own("text",
            |_, _, value| {
                let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'=';
                let read = |text: &str| text.bytes().all(is_plain).then_some(());
                let what = "has characters other than letters, digits and punctuation";
                value.parsed(read, what, "")
            },
            |_| String::new()), "", Applied;
        /// digits of the numbers, the lowest first, such as `0-9A-Za-z`
        digits: Own("text",
            |_, _, value| {
                let hint = "write letters and digits, each once, the lowest first: 0-9A-Za-z";
                let digits = value.parsed(alphabet, "is not a list of digits", hint);
                digits.map(|_| ())
            },
            |_| String::new()), "\"0-9\"", Applied;
        /// required: number of digits of each number
        width: Own("number",
            |_, pool, value| {
                let width = value.number(20)?;
                let Some(form) = form(value.table, width)? else {
                    return Ok(());
                };
                (pool.first, pool.last) = (0, form.highest());
                pool.form = form;
                Ok(())
            },
            |pool| pool.form.width().to_string()), "", Applied;
        /// the first number with all its digits, without the prefix; by default the lowest
        first: With("text", first,
            |_, pool, value| bound(pool, value).map(|it| pool.first = it)), "", Applied;
        /// the last number with all its digits, without the prefix; by default the highest
        last: With("text", last,
            |_, pool, value| {
                pool.last = bound(pool, value)?;
                let is_right = pool.first <= pool.last;
                let wrong = || value.wrong("last is before first", "");
                is_right.then_some(()).ok_or_else(wrong)
            }), "", Applied;
        /// the field that carries the numbers: 526 (SecondaryClOrdID), 37, 198, or a tag from 5000 to 39999
        tag: With("tag", tag,
            |_, pool, value| {
                let tag = value.number(99_999)? as u32;
                pool.tag = tag;
                if TAGS.contains(&tag) || (5000..=39_999).contains(&tag) {
                    return Ok(());
                }
                let hint = "write 526 (SecondaryClOrdID), 37, 198, or a tag from 5000 to 39999";
                Err(value.wrong(format!("tag = {tag} is already used in orders"), hint))
            }), "526", Applied;
        /// `true`: the pool starts again with each trading day
        each_day: Flag(each_day), "", Applied;
    };

    fn shown(&self) -> Vec<(&'static str, String)> {
        Vec::from([
            ("first", self.first.to_string()),
            ("last", self.last.to_string()),
            ("bytes", self.form.bytes().to_string()),
            ("form", format!("{:016x}", self.form.hash())),
            ("tag", self.tag.to_string()),
            ("each_day", self.each_day.shown()),
        ])
    }
}

/// The form of the numbers; `None` when one of its keys has a mistake, which was reported before.
fn form(table: TomlTable<'_>, width: usize) -> Result<Option<NumberForm>, Diagnostic> {
    let text = |key: &'static str, default| {
        table
            .get(key)
            .map_or(Some(default), |value| value.text().ok())
    };
    let digits = text("digits", "0-9").and_then(alphabet);
    let (Some(prefix), Some(digits)) = (text("prefix", ""), digits) else {
        return Ok(None);
    };
    let form = NumberForm::new(prefix, &digits, width);
    form.map(Some).ok_or_else(|| {
        let what = format!("width = {width} is out of range");
        let hint =
            "a number has at most 22 bytes with its prefix, and a pool fewer than 2^64 numbers";
        Diagnostic::new(table.place("width"), what, hint)
    })
}

/// Reads the first or last number of a pool, written without the prefix.
fn bound(pool: &PoolRule, value: TomlValue<'_>) -> Result<u64, Diagnostic> {
    // If the form has a mistake, there are no numbers to check.
    if pool.form.width() == 0 {
        return Ok(0);
    }
    let hint = "write the number with all its digits, without the prefix";
    let read = |text: &str| pool.form.read_digits(text.as_bytes());
    value.parsed(read, "is not a number of the pool", hint)
}

impl Reader<'_> {
    pub(super) fn pools(&mut self, file: TomlTable<'_>) {
        for table in self.tables(file, PoolRule::TABLE) {
            let mut pool = PoolRule::default();
            self.read(&mut pool, table);
            if !table.has("width") {
                self.wrong(table.at, "width is missing", "write the number of digits");
            }
            let name = &pool.name;
            if name.is_empty() {
                continue;
            }
            if !is_name(name) {
                let what = format!("number_pool {name} must not contain blanks or =");
                self.wrong(table.at, what, "");
            }
            if self.rules.pools.iter().any(|known| known.name == *name) {
                self.wrong(table.at, format!("number_pool {name} is listed twice"), "");
            }
            if self.rules.pools.len() == MOST {
                let what = format!("more than {MOST} pools of order numbers");
                self.wrong(table.at, what, "");
            }
            self.rules.pools.push(pool);
        }
    }

    /// Reads the name of the pool of a user or a line group.
    pub(super) fn number_pool(&mut self, value: TomlValue<'_>) -> Result<String, Diagnostic> {
        let name = value.text()?;
        if !self.rules.pools.iter().any(|pool| pool.name == name) {
            let what = format!("unknown number_pool {name}");
            return Err(value.wrong(what, "see [[number_pool]]"));
        }
        Ok(name.into())
    }

    /// Checks that pools whose numbers may reach the same venue do not overlap.
    pub(super) fn check_pools(&mut self, file: TomlTable<'_>) {
        let list = tables(file.get("number_pool"), "number_pool", &mut Vec::new());
        let mut wrong = Vec::new();
        let pools = &self.rules.pools;
        let is_of_user = |pool: &PoolRule| {
            let mut users = self.rules.users.iter();
            users.any(|user| user.number_pool.as_ref() == Some(&pool.name))
        };
        for (at, pool) in pools.iter().enumerate() {
            let others = pools[..at].iter();
            let mut others = others.filter(|other| is_of_user(pool) || is_of_user(other));
            if let Some(other) = others.find(|other| meet(pool, other)) {
                let what = format!("number_pool {} overlaps {}", pool.name, other.name);
                let is_it = |table: &&TomlTable<'_>| {
                    let name = table.get("name").and_then(|name| name.text().ok());
                    name == Some(&pool.name)
                };
                let place = list.iter().rfind(is_it).map_or(0, |table| table.at);
                wrong.push((place, what));
            }
        }
        for (at, what) in wrong {
            let hint = "orders of users may go to the same venue: use different prefixes or ranges";
            self.wrong(at, what, hint);
        }
    }
}

/// All digits of a text such as `0-9A-Z`; `None` when the text has something other than letters and digits.
fn alphabet(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut digits = Vec::new();
    let mut at = 0;
    while let Some(&first) = bytes.get(at) {
        let last = match (bytes.get(at + 1), bytes.get(at + 2)) {
            (Some(b'-'), Some(&last)) => {
                at += 2;
                last
            }
            _ => first,
        };
        at += 1;
        let is_same = |is: fn(&u8) -> bool| is(&first) && is(&last);
        let is_range = is_same(u8::is_ascii_digit)
            || is_same(u8::is_ascii_uppercase)
            || is_same(u8::is_ascii_lowercase);
        if !is_range || first > last {
            return None;
        }
        digits.extend(first..=last);
    }
    let is_double = (0..digits.len()).any(|at| digits[..at].contains(&digits[at]));
    (digits.len() > 1 && !is_double).then_some(digits)
}

/// Whether numbers of two pools may be equal, because the numbers have the same length and compatible prefixes.
fn meet(one: &PoolRule, other: &PoolRule) -> bool {
    if one.form == other.form {
        return one.first <= other.last && other.first <= one.last;
    }
    one.form.may_meet(&other.form)
}
