//! Finds the name that was probably meant, and makes lists of names for a sentence.

use alloc::string::String;
use alloc::vec::Vec;

/// Maximum length in characters of a name that is compared with others.
const LONGEST: usize = 64;

/// The name that is most like a text, ignoring case; the first one if several are equally alike. At most a third of
/// the letters of the longer text may differ.
pub fn nearest<'n>(text: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if text.len() > 4 * LONGEST {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let allowed = name.len().max(text.len()).max(3) / 3;
        let far = distance(text, name);
        if far <= allowed && best.is_none_or(|(least, _)| far < least) {
            best = Some((far, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Number of changes that make one name the other, ignoring case. A change is one character changed, added, removed
/// or swapped with the next one. `usize::MAX` for names of more than 64 characters.
#[must_use]
pub fn distance(one: &str, other: &str) -> usize {
    let plain = |text: &str| -> Vec<char> { text.to_ascii_lowercase().chars().collect() };
    let (one, other) = (plain(one), plain(other));
    if one.len() > LONGEST || other.len() > LONGEST {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for i in 0..one.len() {
        let mut next = alloc::vec![i + 1];
        for j in 0..other.len() {
            let changed = row[j] + usize::from(one[i] != other[j]);
            let mut least = changed.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && one[i] == other[j - 1] && one[i - 1] == other[j] {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = core::mem::replace(&mut row, next);
    }
    row[other.len()]
}

/// The names that may be written, as in `a, b, or c`.
#[must_use]
pub fn listed(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, [])) => (*last).into(),
        Some((last, first)) => alloc::format!("{}, or {last}", first.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_near() {
        let near = |word| nearest(word, ["OrderQty", "OrdType", "Price"]);
        assert_eq!(near("OrdQty"), Some("OrderQty"));
        assert_eq!(near("price"), Some("Price"));
        assert_eq!(near("Pirce"), Some("Price"));
        assert_eq!(near("Currency"), None);
        assert_eq!(nearest("LegSymbol", ["Symbol"]), Some("Symbol"));
        assert_eq!(near(&"x".repeat(100_000)), None);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("é", "e"), 1);
    }

    #[test]
    fn names_are_listed_as_a_sentence_has_them() {
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b, or c");
    }
}
