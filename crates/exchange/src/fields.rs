//! Fields as bytes: the fields of a request in a journal note, and the fields of a report that is not sent yet.

use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use fixwire_ledger::Bytes;
use fixwire_protocol::{Decimal, Indexed, SOH, Tag, tag};

/// The fields of requests that the exchange uses. Each value has at most [`VALUE_MAX`] bytes.
pub(crate) const READ: [Tag; 17] = [
    tag::ACCOUNT,
    tag::CL_ORD_ID,
    tag::ORDER_ID,
    tag::ORDER_QTY,
    tag::ORD_TYPE,
    tag::ORIG_CL_ORD_ID,
    tag::PRICE,
    tag::SIDE,
    tag::SYMBOL,
    tag::TIME_IN_FORCE,
    tag::POSS_RESEND,
    tag::STOP_PX,
    tag::MAX_FLOOR,
    tag::MASS_CANCEL_REQUEST_TYPE,
    tag::MASS_STATUS_REQ_ID,
    tag::MASS_STATUS_REQ_TYPE,
    tag::DISPLAY_QTY,
];

/// Maximum length of a value that the exchange uses, in bytes. This limit limits the memory of a request.
pub(crate) const VALUE_MAX: usize = 64;

/// Fields as in a message: `tag=value` and SOH for each.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct RequestFields<'a> {
    pub(crate) bytes: &'a [u8],
    /// Start and end of each value, in the order of [`READ`]. The end is 0 for an absent field.
    values: [(u32, u32); READ.len()],
}

impl fmt::Debug for RequestFields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Bytes(self.bytes).fmt(f)
    }
}

impl<'a> RequestFields<'a> {
    /// Finds the fields in these bytes.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut values = [(0, 0); READ.len()];
        for (tag, value) in each(bytes) {
            if let Some(place) = place(tag)
                && values[place].1 == 0
            {
                values[place] = (value.start as u32, value.end as u32);
            }
        }
        Self { bytes, values }
    }

    /// Writes the fields of a message that the exchange uses. Fails with the tag of a field that is too long.
    pub(crate) fn of(message: &Indexed<'_, '_>, out: &'a mut FieldWriter) -> Result<Self, Tag> {
        let mut values = [(0, 0); READ.len()];
        for (place, tag) in READ.into_iter().enumerate() {
            let value = message.get(tag).unwrap_or_default();
            if value.len() > VALUE_MAX || value.contains(&SOH) {
                return Err(tag);
            }
            if !value.is_empty() {
                let end = out.put(tag, value).0.len() - 1;
                values[place] = ((end - value.len()) as u32, end as u32);
            }
        }
        let bytes = &out.0;
        Ok(Self { bytes, values })
    }

    /// The value of the first field with this tag.
    pub(crate) fn get(self, tag: Tag) -> Option<&'a [u8]> {
        let Some(place) = place(tag) else {
            let found = each(self.bytes).find(|(found, _)| *found == tag);
            return found.map(|(_, value)| &self.bytes[value]);
        };
        let (start, end) = self.values[place];
        (end > 0).then(|| &self.bytes[start as usize..end as usize])
    }

    /// The value of a field; empty if the field is missing.
    pub(crate) fn text(self, tag: Tag) -> &'a [u8] {
        self.get(tag).unwrap_or_default()
    }

    /// The value of a field that has exactly one character.
    pub(crate) fn char(self, tag: Tag) -> Option<u8> {
        match self.get(tag)? {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// The value of a field as a number: `None` if the field is missing, `Some(None)` if its value is not a number.
    pub(crate) fn decimal(self, tag: Tag) -> Option<Option<Decimal>> {
        self.get(tag).map(|value| Decimal::parse(value).ok())
    }
}

/// Iterates over tags and positions of values, in order.
pub(crate) struct Each<'a> {
    bytes: &'a [u8],
    at: usize,
}

pub(crate) fn each(bytes: &[u8]) -> Each<'_> {
    Each { bytes, at: 0 }
}

impl Iterator for Each<'_> {
    type Item = (Tag, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let field = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
            let start = self.at;
            let len = field.iter().position(|byte| *byte == SOH);
            let end = len.map_or(self.bytes.len(), |len| start + len);
            self.at = end + 1;
            let field = &self.bytes[start..end];
            let Some(equals) = field.iter().position(|byte| *byte == b'=') else {
                continue;
            };
            let tag = number(&field[..equals]).and_then(|tag| Tag::try_from(tag).ok());
            if let Some(tag) = tag {
                return Some((tag, start + equals + 1..end));
            }
        }
    }
}

/// Index of a tag in [`READ`].
const fn place(tag: Tag) -> Option<usize> {
    if tag as usize >= PLACES.len() || PLACES[tag as usize] == 0 {
        return None;
    }
    Some(PLACES[tag as usize] as usize - 1)
}

/// For each tag, its index in [`READ`] counted from 1; 0 for a tag that is not in [`READ`].
static PLACES: [u8; HIGHEST as usize + 1] = {
    let mut places = [0; HIGHEST as usize + 1];
    let mut at = 0;
    while at < READ.len() {
        places[READ[at] as usize] = at as u8 + 1;
        at += 1;
    }
    places
};

/// The highest tag in [`READ`].
const HIGHEST: Tag = {
    let (mut highest, mut at) = (0, 0);
    while at < READ.len() {
        if READ[at] > highest {
            highest = READ[at];
        }
        at += 1;
    }
    highest
};

/// Writes fields.
#[derive(Debug, Default)]
pub(crate) struct FieldWriter(pub(crate) Vec<u8>);

impl FieldWriter {
    /// Writes a field. An empty value is skipped, because FIX does not allow it.
    pub(crate) fn put(&mut self, tag: Tag, value: &[u8]) -> &mut Self {
        if !value.is_empty() {
            put_number(&mut self.0, u64::from(tag));
            self.0.push(b'=');
            self.0.extend_from_slice(value);
            self.0.push(SOH);
        }
        self
    }

    pub(crate) fn char(&mut self, tag: Tag, value: u8) -> &mut Self {
        self.put(tag, &[value])
    }

    pub(crate) fn uint(&mut self, tag: Tag, value: u64) -> &mut Self {
        self.put(tag, itoa::Buffer::new().format(value).as_bytes())
    }

    pub(crate) fn decimal(&mut self, tag: Tag, value: Decimal) -> &mut Self {
        let mut out = [0; Decimal::MAX_TEXT];
        let from = value.write(&mut out);
        self.put(tag, &out[from..])
    }

    pub(crate) fn optional(&mut self, tag: Tag, value: Option<Decimal>) -> &mut Self {
        match value {
            Some(value) => self.decimal(tag, value),
            None => self,
        }
    }
}

/// Formats a decimal.
pub(crate) fn text(value: Decimal) -> Vec<u8> {
    let mut out = [0; Decimal::MAX_TEXT];
    let from = value.write(&mut out);
    out[from..].to_vec()
}

/// Writes a number in digits.
pub(crate) fn put_number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Reads a number in digits.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    let add = |value: u64, digit: &u8| {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    };
    let whole = digits.iter().try_fold(0, add);
    whole.filter(|_| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_field_with_a_tag_is_found_whether_its_tag_is_of_requests_or_not() {
        let fields = RequestFields::new(b"11=A\x0138=\x01x=1\x01=\x0111=B\x01103=6\x01\x011138=7");
        assert_eq!(fields.get(11), Some(b"A".as_slice()));
        assert_eq!(fields.get(38), Some(b"".as_slice()));
        assert_eq!(fields.get(103), Some(b"6".as_slice()));
        assert_eq!(fields.get(1138), Some(b"7".as_slice()));
        for absent in [0, 1, 10, 37, 1139, Tag::MAX] {
            assert_eq!(fields.get(absent), None, "{absent}");
        }
        for read in READ {
            assert!(place(read).is_some());
        }
    }

    #[test]
    fn a_number_is_digits_and_fits() {
        for (digits, value) in [
            ("0", Some(0)),
            ("007", Some(7)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("", None),
            ("-1", None),
            ("1a", None),
        ] {
            assert_eq!(number(digits.as_bytes()), value, "{digits}");
        }
    }
}
