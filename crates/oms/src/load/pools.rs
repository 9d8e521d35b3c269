//! Pools of order numbers: `[[number_pool]]`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use toml::de::DeTable;

use super::{Item, Reader, is_name};
use crate::values::form::NumberForm;
use crate::values::rules::PoolRule;

/// Maximum number of pools.
const MOST: usize = 1000;
/// OrderID(37), SecondaryOrderID(198) and SecondaryClOrdID(526): not used otherwise in orders.
const TAGS: [u32; 3] = [37, 198, 526];

impl Reader<'_> {
    pub(super) fn pools(&mut self, value: Option<&Item<'_>>) {
        for item in self.items(value, "number_pool") {
            let at = item.span().start;
            let known = [
                "digits", "each_day", "first", "last", "name", "prefix", "tag", "width",
            ];
            let Some(table) = self.keys(item, &known) else {
                continue;
            };
            let form = self.form(table, at);
            let tag = self.tag(table);
            let each_day = self.flag(table, "each_day");
            let Some(name) = self.required(table, at, "name") else {
                continue;
            };
            if !is_name(&name) {
                self.wrong(
                    at,
                    format!("number_pool {name} must not contain blanks or ="),
                    "",
                );
            }
            if self.rules.pools.iter().any(|pool| pool.name == name) {
                self.wrong(at, format!("number_pool {name} is listed twice"), "");
            }
            if self.rules.pools.len() == MOST {
                self.wrong(at, format!("more than {MOST} pools of order numbers"), "");
            }
            let Some(form) = form else {
                continue;
            };
            let (first, last) = self.bounds(table, &form);
            self.rules.pools.push(PoolRule {
                name,
                form,
                first,
                last,
                tag,
                each_day,
            });
        }
    }

    fn form(&mut self, table: &DeTable<'_>, at: usize) -> Option<NumberForm> {
        let prefix = self.text(table, "prefix").unwrap_or_default();
        let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'=';
        if !prefix.bytes().all(is_plain) {
            let what = format!(
                "prefix = \"{prefix}\" has characters other than letters, digits and punctuation"
            );
            self.wrong(Self::place(table, "prefix"), what, "");
        }
        let digits = self.text(table, "digits").unwrap_or_else(|| "0-9".into());
        let Some(alphabet) = alphabet(&digits) else {
            let what = format!("digits = \"{digits}\" is not a list of digits");
            let hint = "write letters and digits, each once, the lowest first: 0-9A-Za-z";
            self.wrong(Self::place(table, "digits"), what, hint);
            return None;
        };
        if table.get("width").is_none() {
            self.wrong(at, "width is missing".into(), "write the number of digits");
            return None;
        }
        let width = self.number(table, "width", 20)?;
        let form = NumberForm::new(&prefix, &alphabet, width);
        if form.is_none() {
            let what = format!("width = {width} is out of range");
            let hint =
                "a number has at most 22 bytes with its prefix, and a pool fewer than 2^64 numbers";
            self.wrong(Self::place(table, "width"), what, hint);
        }
        form
    }

    /// First and last number, written without the prefix.
    fn bounds(&mut self, table: &DeTable<'_>, form: &NumberForm) -> (u64, u64) {
        let mut bound = |key: &str, default: u64| {
            let Some(text) = self.text(table, key) else {
                return default;
            };
            let number = form.read_digits(text.as_bytes());
            if number.is_none() {
                let what = format!("{key} = \"{text}\" is not a number of the pool");
                let hint = "write it with all its digits, without the prefix";
                self.wrong(Self::place(table, key), what, hint);
            }
            number.unwrap_or(default)
        };
        let (first, last) = (bound("first", 0), bound("last", form.highest()));
        if first > last {
            let what = "last is before first".to_string();
            self.wrong(Self::place(table, "last"), what, "");
        }
        (first, last)
    }

    fn tag(&mut self, table: &DeTable<'_>) -> u32 {
        let default = 526;
        let Some(tag) = self.number(table, "tag", 99_999) else {
            return default;
        };
        let tag = u32::try_from(tag).unwrap_or(default);
        if !TAGS.contains(&tag) && !(5000..=39_999).contains(&tag) {
            let what = format!("tag = {tag} is already used in orders");
            let hint = "write 526 (SecondaryClOrdID), 37, 198, or a tag from 5000 to 39999";
            self.wrong(Self::place(table, "tag"), what, hint);
        }
        tag
    }

    /// The pool named by a user or a line group.
    pub(super) fn number_pool(&mut self, table: &DeTable<'_>) -> Option<String> {
        let name = self.text(table, "number_pool")?;
        if !self.rules.pools.iter().any(|pool| pool.name == name) {
            let what = format!("unknown number_pool {name}");
            self.wrong(
                Self::place(table, "number_pool"),
                what,
                "see [[number_pool]]",
            );
        }
        Some(name)
    }

    /// Checks that pools whose numbers may reach the same venue do not overlap.
    pub(super) fn check_pools(&mut self, value: Option<&Item<'_>>) {
        let items = self.items(value, "number_pool");
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
                let is_it = |item: &&Item<'_>| name_of(item) == Some(&pool.name);
                let place = items
                    .iter()
                    .rfind(is_it)
                    .map_or(0, |item| item.span().start);
                wrong.push((place, what));
            }
        }
        for (at, what) in wrong {
            let hint = "orders of users may go to the same venue: use different prefixes or ranges";
            self.wrong(at, what, hint);
        }
    }
}

fn name_of<'d>(item: &'d Item<'_>) -> Option<&'d str> {
    item.get_ref().as_table()?.get("name")?.get_ref().as_str()
}

/// `0-9A-Z` in full; `None` when it is not made of letters and digits.
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

/// Whether two pools overlap or may overlap: formats of the same length with compatible prefixes.
fn meet(one: &PoolRule, other: &PoolRule) -> bool {
    if one.form == other.form {
        return one.first <= other.last && other.first <= one.last;
    }
    one.form.may_meet(&other.form)
}
