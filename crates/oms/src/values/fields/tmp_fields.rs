//! `tmp_fields` of a line group: which fields of requests fill fields of TMP, and which of them have a constant value.

use alloc::format;
use alloc::string::String;

use fixwire_protocol::Tag;
use fixwire_protocol::value::uint;
use fixwire_tmp::uncertain::ORDER_SOURCES;

use crate::values::fields::contract::{Contract, Passage};
use crate::values::marks::RequestMarks;

/// A field of requests over TMP that settings can fill from fields of FIX.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TmpField {
    /// The clearing member.
    ClearingMember,
    /// Source of the order.
    OrderSource,
    /// The information vendor.
    InfoSource,
    /// The kind of investor, which TMP calls `account_flag`.
    InvestorFlag,
}

impl TmpField {
    /// All fields, in the order of the reference page.
    pub const ALL: [Self; 4] = [
        Self::ClearingMember,
        Self::OrderSource,
        Self::InfoSource,
        Self::InvestorFlag,
    ];

    /// The name of the field in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClearingMember => "cm_id",
            Self::OrderSource => "order_source",
            Self::InfoSource => "info_source",
            Self::InvestorFlag => "investor_flag",
        }
    }

    /// The values that the field can have, in words.
    #[must_use]
    pub fn values(self) -> &'static str {
        match self {
            Self::ClearingMember => "a number from 1 to 65535",
            Self::OrderSource => "D, A, M, W, P, V or G",
            Self::InfoSource => "3 characters of ASCII without a blank",
            Self::InvestorFlag => "a character of ASCII that is no blank",
        }
    }

    /// The number of the field in a [`Reason`](crate::values::reason::Reason).
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::ClearingMember => 1,
            Self::OrderSource => 2,
            Self::InfoSource => 3,
            Self::InvestorFlag => 4,
        }
    }

    /// The field with this number.
    pub(crate) fn of(number: i128) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|field| i128::from(field.number()) == number)
    }

    /// Gives the field in `marks` a value; `None` when the field cannot have it.
    pub(crate) fn set(self, value: &[u8], marks: &mut RequestMarks) -> Option<()> {
        match self {
            Self::ClearingMember => marks.cm_id = clearing_member(value)?,
            Self::OrderSource => marks.order_source = order_source(value)?,
            Self::InfoSource => marks.info_source = info_source(value)?,
            Self::InvestorFlag => marks.investor_flag = investor_flag(value)?,
        }
        Some(())
    }

    /// Whether the field can have a value.
    pub(crate) fn fits(self, value: &[u8]) -> bool {
        self.set(value, &mut RequestMarks::default()).is_some()
    }

    /// The value of the field in `marks` as text; empty when it is not set.
    pub(crate) fn text(self, marks: &RequestMarks) -> String {
        let letter = |byte: u8| match byte {
            0 => String::new(),
            byte => String::from(char::from(byte)),
        };
        match self {
            Self::ClearingMember if marks.cm_id == 0 => String::new(),
            Self::ClearingMember => format!("{}", marks.cm_id),
            Self::OrderSource => letter(marks.order_source),
            Self::InfoSource if marks.info_source[0] == 0 => String::new(),
            Self::InfoSource => String::from_utf8_lossy(&marks.info_source).into_owned(),
            Self::InvestorFlag => letter(marks.investor_flag),
        }
    }
}

/// The clearing member: a number from 1 to 65535.
fn clearing_member(value: &[u8]) -> Option<u16> {
    let number = uint(value).ok().and_then(|it| u16::try_from(it).ok());
    number.filter(|member| *member > 0)
}

/// The source of an order, one letter.
pub(crate) fn order_source(value: &[u8]) -> Option<u8> {
    one(value).filter(|byte| ORDER_SOURCES.contains(byte))
}

/// The information vendor, three characters.
pub(crate) fn info_source(value: &[u8]) -> Option<[u8; 3]> {
    let vendor: [u8; 3] = value.try_into().ok()?;
    vendor.iter().all(u8::is_ascii_graphic).then_some(vendor)
}

/// The kind of investor, one character.
pub(crate) fn investor_flag(value: &[u8]) -> Option<u8> {
    one(value).filter(u8::is_ascii_graphic)
}

fn one(value: &[u8]) -> Option<u8> {
    match value {
        [byte] => Some(*byte),
        _ => None,
    }
}

/// Why a field of a request cannot be sent over TMP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum NotOverTmp {
    /// The settings name no field of TMP for it, or refuse it.
    NoField,
    /// The field of TMP cannot have the value.
    Value(TmpField),
}

/// The setting `tmp_fields` of a line group.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TmpFields {
    /// For each field of [`TmpField::ALL`], the tag whose value it gets.
    tags: [Option<Tag>; TmpField::ALL.len()],
    /// Values of fields that are the same in all requests.
    pub(crate) constants: RequestMarks,
}

impl TmpFields {
    /// Whether the setting names no field of FIX.
    #[must_use]
    pub fn has_no_tag(&self) -> bool {
        self.tags.iter().all(Option::is_none)
    }

    /// The field of TMP that gets the value of a tag.
    #[must_use]
    pub fn of(&self, tag: Tag) -> Option<TmpField> {
        let named = self.named();
        named
            .into_iter()
            .flatten()
            .find_map(|(field, known)| (known == tag).then_some(field))
    }

    /// The tags, each with its field of TMP.
    pub(crate) fn named(&self) -> [Option<(TmpField, Tag)>; TmpField::ALL.len()] {
        let mut fields = TmpField::ALL.into_iter();
        self.tags.map(|tag| fields.next().zip(tag))
    }

    /// Lets a field of TMP have the value of a tag.
    ///
    /// # Errors
    ///
    /// The field of TMP that has the tag already.
    pub(crate) fn name(&mut self, field: TmpField, tag: Tag) -> Result<(), TmpField> {
        if let Some(other) = self.of(tag) {
            return Err(other);
        }
        if let Some(place) = TmpField::ALL.iter().position(|known| *known == field) {
            self.tags[place] = Some(tag);
        }
        Ok(())
    }

    /// The setting as text, such as `order_source = 9717, info_source = "904"`.
    #[must_use]
    pub fn text(&self, name: impl Fn(Tag) -> String) -> String {
        let named = TmpField::ALL.into_iter().zip(self.tags);
        let texts = named.filter_map(|(field, tag)| {
            let value = match tag {
                Some(tag) => name(tag),
                None => match field.text(&self.constants) {
                    value if value.is_empty() => return None,
                    value => format!("\"{value}\""),
                },
            };
            Some(format!("{} = {value}", field.name()))
        });
        texts.collect::<alloc::vec::Vec<_>>().join(", ")
    }

    /// Gives a field of TMP the value that a request carries under a tag. `contract` is the contract of the line group,
    /// which may change the value.
    ///
    /// # Errors
    ///
    /// Why the field cannot be sent.
    pub(crate) fn fill(
        &self,
        contract: &Contract,
        tag: Tag,
        value: &[u8],
        marks: &mut RequestMarks,
    ) -> Result<(), NotOverTmp> {
        let passage = contract.of(tag).map(|it| it.pass(value));
        let value = match passage.unwrap_or(Passage::Value(value)) {
            Passage::Value(value) => value,
            Passage::Dropped => return Ok(()),
            Passage::Refused => return Err(NotOverTmp::NoField),
        };
        let field = self.of(tag).ok_or(NotOverTmp::NoField)?;
        field.set(value, marks).ok_or(NotOverTmp::Value(field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_has_the_values_that_its_text_says() {
        let cases: [(TmpField, &[&str], &[&str]); 4] = [
            (
                TmpField::ClearingMember,
                &["1", "279", "65535"],
                &["0", "65536", "-1", "8A", "", "1.0"],
            ),
            (
                TmpField::OrderSource,
                &["D", "A", "M", "W", "P", "V", "G"],
                &["d", "X", "DD", "", " "],
            ),
            (
                TmpField::InfoSource,
                &["999", "A1z"],
                &["99", "9999", "9 9", "", "9\u{e9}"],
            ),
            (TmpField::InvestorFlag, &["A", "1", "~"], &["", " ", "AB"]),
        ];
        for (field, good, bad) in cases {
            for value in good {
                let mut marks = RequestMarks::default();
                assert_eq!(field.set(value.as_bytes(), &mut marks), Some(()), "{value}");
                assert_eq!(field.text(&marks), *value);
            }
            for value in bad {
                assert!(!field.fits(value.as_bytes()), "{field:?} {value:?}");
            }
            assert_eq!(TmpField::of(field.number().into()), Some(field));
            assert_eq!(field.text(&RequestMarks::default()), "");
        }
        assert_eq!(TmpField::of(0), None);
    }

    #[test]
    fn a_tag_fills_one_field() {
        let mut fields = TmpFields::default();
        assert!(fields.has_no_tag());
        assert_eq!(fields.name(TmpField::OrderSource, 9717), Ok(()));
        let other = fields.name(TmpField::InvestorFlag, 9717);
        assert_eq!(other, Err(TmpField::OrderSource));
        assert_eq!(fields.of(9717), Some(TmpField::OrderSource));
        assert_eq!(fields.of(9718), None);
        TmpField::InfoSource.set(b"904", &mut fields.constants);
        let text = fields.text(|tag| format!("{tag}"));
        assert_eq!(text, "order_source = 9717, info_source = \"904\"");
    }
}
