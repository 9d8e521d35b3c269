//! `OtherValues`: values that a field may have in addition to its listed values.

use core::fmt;

use super::kind::{all_digits, is_decimal};

/// The values that a field may have in addition to its listed values.
///
/// The standard leaves some lists open. IOIQty(27) is `S`, `M`, `L` or a number; SettlType(63) is a code or a tenor;
/// and many reasons may be any number from 100 on that the parties agree on.
///
/// # Source
///
/// FIX 5.0 SP2 Volume 1, data types `Reserved100Plus`, `Reserved1000Plus`, `Reserved4000Plus` and
/// `Tenor`; the `unionDataType` of FIX Orchestra.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum OtherValues {
    /// No other value: the list is complete.
    #[default]
    None,
    /// Every value of the field's type is allowed.
    Any,
    /// Whole numbers that are not less than this one.
    From(u32),
    /// Decimals from 0 up to this number.
    UpTo(u32),
    /// Decimals without a sign.
    Quantity,
    /// `D`, `W`, `M` or `Y` and a number from 1 on: `M3` means three months.
    Tenor,
    /// Country codes of two letters (ISO 3166).
    Country,
}

impl OtherValues {
    /// Whether the value is one of these other values.
    pub fn accepts(self, text: &[u8]) -> bool {
        match self {
            Self::None => false,
            Self::Any => true,
            Self::From(first) => all_digits(text) && compare(text, first).is_ge(),
            Self::UpTo(last) => match text.iter().position(|&byte| byte == b'.') {
                _ if !Self::Quantity.accepts(text) => false,
                None => compare(text, last).is_le(),
                Some(point) => {
                    let zeros = text[point + 1..].iter().all(|&byte| byte == b'0');
                    let order = compare(&text[..point], last);
                    order.is_lt() || (order.is_eq() && zeros)
                }
            },
            Self::Quantity => text[..text.len().min(1)] != *b"-" && is_decimal(text),
            Self::Tenor => match text {
                [b'D' | b'W' | b'M' | b'Y', count @ ..] => {
                    all_digits(count) && compare(count, 1).is_ge()
                }
                _ => false,
            },
            Self::Country => text.len() == 2 && text.iter().all(u8::is_ascii_uppercase),
        }
    }

    /// The values for which a word stands in a dictionary file or delta: `none`, `any`, `100+`, `0..1000000000`,
    /// `quantity`, `tenor` or `country`. [`Display`](fmt::Display) writes the word.
    pub fn from_word(word: &str) -> Option<Self> {
        let number = |text: &str| match all_digits(text.as_bytes()) {
            true => text.parse().ok(),
            false => None,
        };
        match word {
            "none" => Some(Self::None),
            "any" => Some(Self::Any),
            "quantity" => Some(Self::Quantity),
            "tenor" => Some(Self::Tenor),
            "country" => Some(Self::Country),
            _ => match (word.strip_suffix('+'), word.strip_prefix("0..")) {
                (Some(first), _) => number(first).map(Self::From),
                (_, Some(last)) => number(last).map(Self::UpTo),
                _ => None,
            },
        }
    }
}

/// Compares digits with a number. An empty text counts as zero.
fn compare(digits: &[u8], number: u32) -> core::cmp::Ordering {
    let value = digits.iter().fold(0u64, |value, &digit| {
        let digit = u64::from(digit.saturating_sub(b'0'));
        value.saturating_mul(10).saturating_add(digit)
    });
    value.cmp(&u64::from(number))
}

impl fmt::Display for OtherValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Any => f.write_str("any"),
            Self::From(first) => write!(f, "{first}+"),
            Self::UpTo(last) => write!(f, "0..{last}"),
            Self::Quantity => f.write_str("quantity"),
            Self::Tenor => f.write_str("tenor"),
            Self::Country => f.write_str("country"),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::OtherValues;

    #[test]
    fn each_kind_takes_its_values_and_no_others() {
        let cases: [(&str, &[&str], &[&str]); 7] = [
            ("none", &[], &["1", "A"]),
            ("any", &["1", "anything"], &[]),
            (
                "100+",
                &["100", "0100", "99999999999999999999999"],
                &["99", "", "-100", "100.0", "1e3"],
            ),
            (
                "0..1000000000",
                &["0", "5000", "12.5", ".5", "1000000000", "1000000000.00"],
                &[
                    "-1",
                    "1000000000.01",
                    "1000000001",
                    "99999999999999999999999",
                    "XL",
                    "",
                    ".",
                    "1,000",
                ],
            ),
            (
                "quantity",
                &["0", "99999999999999999999999.5"],
                &["-1", "", "x"],
            ),
            (
                "tenor",
                &["D1", "W2", "M3", "Y10", "M18"],
                &["M", "M0", "3M", "Q1", "M-1", "m3", "D00"],
            ),
            ("country", &["GB", "DE"], &["G", "GBR", "gb", "G1", ""]),
        ];
        for (word, good, bad) in cases {
            let others = OtherValues::from_word(word).expect(word);
            assert_eq!(others.to_string(), word);
            for value in good {
                assert!(others.accepts(value.as_bytes()), "{word}: {value}");
            }
            for value in bad {
                assert!(!others.accepts(value.as_bytes()), "{word}: {value}");
            }
        }
        for word in ["", "+", "x+", "-1+", "+1+", "0..", "1..2", "Any"] {
            assert_eq!(OtherValues::from_word(word), None, "{word}");
        }
    }
}
