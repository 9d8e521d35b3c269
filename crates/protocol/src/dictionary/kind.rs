//! Data types of fields, and the form of their values.

use crate::{time, value};

/// A data type of FIX.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum DataType {
    /// Whole number, which may be negative.
    Int,
    /// Count of bytes.
    Length,
    /// Sequence number.
    SeqNum,
    /// Number of entries in a group.
    NumInGroup,
    /// A field's number.
    TagNum,
    /// 1 to 31.
    DayOfMonth,
    /// Decimal number without an exponent.
    Float,
    /// Decimal quantity.
    Qty,
    /// Decimal price, which may be negative.
    Price,
    /// Difference of prices, as a decimal.
    PriceOffset,
    /// Amount of money, as a decimal.
    Amt,
    /// Percentage as a decimal; 0.05 means five percent.
    Percentage,
    /// One character.
    Char,
    /// `Y` or `N`.
    Boolean,
    /// Text without SOH.
    String,
    /// Characters that are separated by spaces.
    MultipleCharValue,
    /// Words that are separated by spaces. The MultipleValueString of FIX 4.2 to 4.4 has this type too.
    MultipleStringValue,
    /// ISO 3166.
    Country,
    /// ISO 4217.
    Currency,
    /// Market code of ISO 10383, or a Reuters code in older versions.
    Exchange,
    /// ISO 639-1.
    Language,
    /// A month, day or week: `YYYYMM`, `YYYYMMDD` or `YYYYMMwN`.
    MonthYear,
    /// `YYYYMMDD-HH:MM:SS`, fractions allowed.
    UtcTimestamp,
    /// `HH:MM:SS`, fractions allowed.
    UtcTimeOnly,
    /// `YYYYMMDD`.
    UtcDateOnly,
    /// `YYYYMMDD`.
    LocalMktDate,
    /// Time `HH:MM:SS` in the time zone of the market.
    LocalMktTime,
    /// Time `HH:MM[:SS]`, and then `Z` or an offset.
    TzTimeOnly,
    /// Date and time `YYYYMMDD-HH:MM[:SS]`, and then `Z` or an offset.
    TzTimestamp,
    /// Bytes, whose number a length field states.
    Data,
    /// XML, whose number of bytes a length field states.
    XmlData,
}

impl DataType {
    /// The type that has this name in a QuickFIX dictionary, in any case.
    pub fn from_quickfix(name: &str) -> Option<Self> {
        let names: [(&str, Self); 47] = [
            ("AMT", Self::Amt),
            ("BOOLEAN", Self::Boolean),
            ("CHAR", Self::Char),
            ("COUNTRY", Self::Country),
            ("CURRENCY", Self::Currency),
            ("DATA", Self::Data),
            ("DATE", Self::UtcDateOnly),
            ("DAYOFMONTH", Self::DayOfMonth),
            ("DAY-OF-MONTH", Self::DayOfMonth),
            ("EXCHANGE", Self::Exchange),
            ("FLOAT", Self::Float),
            ("INT", Self::Int),
            ("LANGUAGE", Self::Language),
            ("LENGTH", Self::Length),
            ("LOCALMKTDATE", Self::LocalMktDate),
            ("LOCALMKTTIME", Self::LocalMktTime),
            ("MONTHYEAR", Self::MonthYear),
            ("MONTH-YEAR", Self::MonthYear),
            ("MULTIPLECHARVALUE", Self::MultipleCharValue),
            ("MULTIPLESTRINGVALUE", Self::MultipleStringValue),
            ("MULTIPLEVALUESTRING", Self::MultipleStringValue),
            ("NUMINGROUP", Self::NumInGroup),
            ("PATTERN", Self::String),
            ("PERCENTAGE", Self::Percentage),
            ("PRICE", Self::Price),
            ("PRICEOFFSET", Self::PriceOffset),
            ("QTY", Self::Qty),
            ("QUANTITY", Self::Qty),
            ("RESERVED100PLUS", Self::Int),
            ("RESERVED1000PLUS", Self::Int),
            ("RESERVED4000PLUS", Self::Int),
            ("SEQNUM", Self::SeqNum),
            ("STRING", Self::String),
            ("TAGNUM", Self::TagNum),
            ("TENOR", Self::String),
            ("TIME", Self::UtcTimestamp),
            ("TZTIMEONLY", Self::TzTimeOnly),
            ("TZTIMESTAMP", Self::TzTimestamp),
            ("UNKNOWN", Self::String),
            ("UTCDATE", Self::UtcDateOnly),
            ("UTCDATEONLY", Self::UtcDateOnly),
            ("UTCTIMEONLY", Self::UtcTimeOnly),
            ("UTCTIMESTAMP", Self::UtcTimestamp),
            ("XID", Self::String),
            ("XIDREF", Self::String),
            ("XMLDATA", Self::XmlData),
            ("IDREF", Self::String),
        ];
        names
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|&(_, kind)| kind)
    }

    /// The name of this type in QuickFIX dictionaries. [`from_quickfix`](Self::from_quickfix) finds the type by this
    /// name.
    pub fn quickfix_name(self) -> &'static str {
        match self {
            Self::Int => "INT",
            Self::Length => "LENGTH",
            Self::SeqNum => "SEQNUM",
            Self::NumInGroup => "NUMINGROUP",
            Self::TagNum => "TAGNUM",
            Self::DayOfMonth => "DAYOFMONTH",
            Self::Float => "FLOAT",
            Self::Qty => "QTY",
            Self::Price => "PRICE",
            Self::PriceOffset => "PRICEOFFSET",
            Self::Amt => "AMT",
            Self::Percentage => "PERCENTAGE",
            Self::Char => "CHAR",
            Self::Boolean => "BOOLEAN",
            Self::String => "STRING",
            Self::MultipleCharValue => "MULTIPLECHARVALUE",
            Self::MultipleStringValue => "MULTIPLESTRINGVALUE",
            Self::Country => "COUNTRY",
            Self::Currency => "CURRENCY",
            Self::Exchange => "EXCHANGE",
            Self::Language => "LANGUAGE",
            Self::MonthYear => "MONTHYEAR",
            Self::UtcTimestamp => "UTCTIMESTAMP",
            Self::UtcTimeOnly => "UTCTIMEONLY",
            Self::UtcDateOnly => "UTCDATEONLY",
            Self::LocalMktDate => "LOCALMKTDATE",
            Self::LocalMktTime => "LOCALMKTTIME",
            Self::TzTimeOnly => "TZTIMEONLY",
            Self::TzTimestamp => "TZTIMESTAMP",
            Self::Data => "DATA",
            Self::XmlData => "XMLDATA",
        }
    }

    /// Whether values of this type may contain any byte, because a length field states their length.
    pub fn is_data(self) -> bool {
        matches!(self, Self::Data | Self::XmlData)
    }

    /// Whether a value of this type consists of several values, separated by spaces.
    pub fn is_multiple(self) -> bool {
        matches!(self, Self::MultipleCharValue | Self::MultipleStringValue)
    }

    /// Whether values of this type are decimal numbers.
    pub fn is_decimal(self) -> bool {
        matches!(
            self,
            Self::Float
                | Self::Qty
                | Self::Price
                | Self::PriceOffset
                | Self::Amt
                | Self::Percentage
        )
    }

    /// Whether a value has the form of this type. The size of a number does not matter: a quantity may have 30
    /// digits. Text types accept every value.
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 1 and FIX 5.0 SP2 Volume 1, data types.
    #[inline]
    pub fn accepts(self, text: &[u8]) -> bool {
        match self {
            Self::String
            | Self::Data
            | Self::XmlData
            | Self::Country
            | Self::Currency
            | Self::Exchange
            | Self::Language
            | Self::MultipleStringValue => true,
            Self::Char => text.len() == 1,
            Self::Float
            | Self::Qty
            | Self::Price
            | Self::PriceOffset
            | Self::Amt
            | Self::Percentage => is_decimal(text),
            Self::Int => all_digits(text.strip_prefix(b"-").unwrap_or(text)),
            Self::Length | Self::SeqNum | Self::TagNum => all_digits(text),
            // A negative count has the form of a number. The check of groups rejects it.
            Self::NumInGroup => all_digits(text.strip_prefix(b"-").unwrap_or(text)),
            Self::Boolean => matches!(text, b"Y" | b"N"),
            Self::UtcTimestamp => time::check_timestamp(text).is_ok(),
            Self::UtcTimeOnly | Self::LocalMktTime => time::parse_time_only(text).is_ok(),
            Self::UtcDateOnly | Self::LocalMktDate => time::parse_date(text).is_ok(),
            Self::MonthYear => time::check_month_year(text).is_ok(),
            Self::TzTimeOnly => time::check_tz_time_only(text).is_ok(),
            Self::TzTimestamp => time::check_tz_timestamp(text).is_ok(),
            Self::DayOfMonth => matches!(value::uint(text), Ok(1..=31)) && text.len() <= 2,
            Self::MultipleCharValue => text.split(|&byte| byte == b' ').all(|part| part.len() == 1),
        }
    }
}

#[inline]
pub(super) fn all_digits(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// Whether a text is a decimal number: digits, at most one decimal point, and optionally a minus in front. A plus, an
/// exponent or spaces are not allowed.
#[inline]
pub(super) fn is_decimal(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let mut points = 0;
    for byte in text {
        match byte {
            b'0'..=b'9' => {}
            b'.' => points += 1,
            _ => return false,
        }
    }
    points <= 1 && text.len() > points
}

#[cfg(test)]
mod tests {
    use super::DataType;

    #[test]
    fn decimals_have_no_plus_exponent_or_group_separator() {
        for good in [
            "0",
            "200",
            "0100.500",
            "-3",
            "-0.5",
            ".5",
            "5.",
            "100000000000000000000000000000.25",
        ] {
            assert!(DataType::Price.accepts(good.as_bytes()), "{good}");
        }
        for bad in [
            "+200.00", "1e5", "NaN", "0x10", "1,000", ".", "-", "-.", "1.2.3", "--1", "1 ", " 1",
            "", "1-",
        ] {
            assert!(!DataType::Qty.accepts(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn times_are_moments_of_a_calendar() {
        for good in [
            "20260102-03:04:05",
            "20260102-03:04:05.123456789012",
            "20240229-23:59:60",
        ] {
            assert!(DataType::UtcTimestamp.accepts(good.as_bytes()), "{good}");
        }
        for bad in [
            "20260230-10:00:00",
            "20260101-24:00:00",
            "20260101-23:60:00",
            "2026-01-01T10:00:00Z",
            "now",
            "",
        ] {
            assert!(!DataType::UtcTimestamp.accepts(bad.as_bytes()), "{bad}");
        }
        assert!(DataType::TzTimeOnly.accepts(b"07:39Z"));
        assert!(DataType::MonthYear.accepts(b"201106") && DataType::MonthYear.accepts(b"201106w2"));
        assert!(!DataType::MonthYear.accepts(b"201113") && !DataType::MonthYear.accepts(b"2011-6"));
    }

    #[test]
    fn whole_numbers_and_letters() {
        assert!(DataType::Int.accepts(b"-12") && DataType::Int.accepts(b"007"));
        assert!(
            !DataType::Int.accepts(b"1.0")
                && !DataType::Int.accepts(b"+1")
                && !DataType::Int.accepts(b"-")
        );
        assert!(!DataType::Length.accepts(b"-3"));
        assert!(
            DataType::DayOfMonth.accepts(b"31")
                && !DataType::DayOfMonth.accepts(b"32")
                && !DataType::DayOfMonth.accepts(b"0")
        );
        assert!(
            DataType::Boolean.accepts(b"Y")
                && !DataType::Boolean.accepts(b"1")
                && !DataType::Boolean.accepts(b"YN")
        );
        assert!(
            DataType::MultipleCharValue.accepts(b"G 6")
                && !DataType::MultipleCharValue.accepts(b"G  6")
        );
    }
}
