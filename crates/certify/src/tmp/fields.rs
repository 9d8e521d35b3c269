//! TMP fields in a plan. Each has a name, a text, and a tag that stands for it in the player, which works with FIX
//! tags.

use std::sync::LazyLock;

use fixwire_protocol::{Precision, Tag, Timestamp, TimestampWriter};
use fixwire_tmp::messages::LAYOUTS;
use fixwire_tmp::{LayoutField, TmpLayoutInfo, TmpTime, WireField};

/// The first tag that stands for a TMP field. FIX messages have no tags this high.
const FIRST: Tag = 0xf000_0000;
/// The number of the R04 that an R05 answers, counted on the connection. The name is not a field of the message, and no
/// plan can refer to it.
pub(crate) const ORDINAL: Tag = FIRST - 1;
/// The name of the message, such as `R01`.
pub(crate) const MESSAGE: Tag = FIRST;
/// The last byte of a frame.
pub(crate) const CHECKSUM: &str = "checksum";
/// The proof of the password.
pub(crate) const KEY_VALUE: &str = "key_value";
/// A wrong value for `key_value`.
pub(crate) const WRONG: &str = "wrong";

/// Fields whose values the sender of a message makes.
const IDS: [&str; 3] = ["order_no", "ord_id", "user_define"];
/// Numbers of one byte that the specification gives as characters.
const CHARACTERS: [&str; 4] = [
    "exec_type",
    "position_effect",
    "account_flag",
    "order_source",
];
/// Prefix for fields of the header that have the same name as a field of the message.
const OF_HEADER: &str = "header.";

/// Names of all fields, each once. The index of a name gives its tag.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut names = vec!["message".to_owned()];
    names.extend(TmpLayoutInfo::HEADER.iter().map(header_name));
    names.push(CHECKSUM.to_owned());
    for field in LAYOUTS.iter().flat_map(|layout| layout.fields) {
        if !names.iter().any(|name| name == field.name) {
            names.push(field.name.to_owned());
        }
    }
    names
});

fn header_name(field: &LayoutField) -> String {
    match field.name {
        "fcm_id" | "session_id" => format!("{OF_HEADER}{}", field.name),
        name => name.to_owned(),
    }
}

/// The tag for a name.
pub(crate) fn tag_of(name: &str) -> Option<Tag> {
    let place = NAMES.iter().position(|known| known == name)?;
    Some(FIRST + place as Tag)
}

/// The name for a tag; `None` for a FIX tag.
pub(crate) fn name_of(tag: Tag) -> Option<&'static str> {
    let place = tag.checked_sub(FIRST)?;
    NAMES.get(place as usize).map(String::as_str)
}

/// Whether the sender of a message makes the value of this field.
pub(crate) fn is_id(tag: Tag) -> bool {
    name_of(tag).is_some_and(|name| IDS.contains(&name))
}

/// Whether the field's value is secret.
pub(crate) fn is_secret(tag: Tag) -> bool {
    name_of(tag) == Some(KEY_VALUE)
}

/// Whether the field's value is a number, which has several valid notations.
pub(crate) fn is_number(tag: Tag) -> bool {
    let mut all = LAYOUTS.iter().copied().flat_map(NamedField::all);
    let found = all.find(|field| field.tag == tag);
    found.is_some_and(NamedField::is_number)
}

/// The layout of a message, by name.
pub(crate) fn layout_of(name: &str) -> Option<&'static TmpLayoutInfo> {
    LAYOUTS.iter().copied().find(|layout| layout.name == name)
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedField {
    pub(crate) tag: Tag,
    pub(crate) field: &'static LayoutField,
}

impl NamedField {
    fn of(name: &str, field: &'static LayoutField) -> Self {
        let tag = tag_of(name).unwrap_or(MESSAGE);
        Self { tag, field }
    }

    /// All fields of a message: first those of the header, then its own.
    pub(crate) fn all(layout: &'static TmpLayoutInfo) -> impl Iterator<Item = Self> {
        let header = TmpLayoutInfo::HEADER.iter();
        let header = header.map(|field| Self::of(&header_name(field), field));
        let own = layout.fields.iter();
        header.chain(own.map(|field| Self::of(field.name, field)))
    }

    /// The field with this name in a message.
    ///
    /// # Errors
    ///
    /// The fields that the message has.
    pub(crate) fn find(layout: &'static TmpLayoutInfo, name: &str) -> Result<Self, String> {
        let found = Self::all(layout).find(|it| name_of(it.tag) == Some(name));
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::all(layout).filter_map(|it| name_of(it.tag)).collect();
            format!(
                "{} has no field '{name}': its fields are {}, {CHECKSUM}",
                layout.name,
                names.join(", ")
            )
        })
    }

    fn is_character(self) -> bool {
        CHARACTERS.contains(&self.field.name)
    }

    fn is_number(self) -> bool {
        !self.is_character() && !matches!(self.field.kind, "char" | "data" | "time")
    }

    /// The bytes of a field as text; `None` for an empty text or an empty character.
    pub(crate) fn text(self, bytes: &[u8]) -> Option<String> {
        Some(match self.field.kind {
            "time" => {
                let nanos = TmpTime::get(bytes).wall_ns();
                let at = Timestamp(i64::try_from(nanos).unwrap_or(i64::MAX));
                let mut writer = TimestampWriter::new();
                String::from_utf8_lossy(writer.format(at, Precision::Millis)).into_owned()
            }
            "u8" if !self.is_character() => bytes[0].to_string(),
            "u16" => numbers(bytes, u16::BYTES, |it| u16::get(it).into()),
            "u32" => numbers(bytes, u32::BYTES, |it| u32::get(it).into()),
            "i32" => numbers(bytes, i32::BYTES, |it| i32::get(it).into()),
            "i64" => numbers(bytes, i64::BYTES, i64::get),
            _ => return characters(bytes),
        })
    }

    /// Encodes a text as the bytes of the field. For data, the number of bytes depends on the text.
    ///
    /// # Errors
    ///
    /// Why the text is not valid for this field.
    pub(crate) fn bytes(self, text: &str) -> Result<Vec<u8>, String> {
        let name = name_of(self.tag).unwrap_or_default();
        let field = self.field;
        let code = field.codes.iter().find(|(_, name)| *name == text);
        if let Some((code, _)) = code {
            return Ok(vec![*code]);
        }
        match field.kind {
            "time" => {
                let wrong = || format!("{name}: '{text}' is not a time such as 20261126-09:30:00");
                let at = Timestamp::parse(text.as_bytes()).map_err(|_| wrong())?;
                let nanos = u64::try_from(at.0).map_err(|_| wrong())?;
                let mut bytes = vec![0; TmpTime::BYTES];
                TmpTime::from_wall_ns(nanos).put(&mut bytes);
                Ok(bytes)
            }
            "data" => Ok(hex(text).unwrap_or_else(|| text.as_bytes().to_vec())),
            "u8" if self.is_character() => match (text.as_bytes(), hex(text)) {
                ([one], _) if one.is_ascii_graphic() => Ok(vec![*one]),
                (_, Some(bytes)) if bytes.len() == 1 => Ok(bytes),
                _ => Err(format!(
                    "{name}: '{text}' is not one character{}",
                    self.names()
                )),
            },
            "char" => match hex(text) {
                Some(bytes) if bytes.len() == field.bytes => Ok(bytes),
                _ if text.len() <= field.bytes && text.is_ascii() => {
                    let mut bytes = text.as_bytes().to_vec();
                    bytes.resize(field.bytes, 0);
                    Ok(bytes)
                }
                _ => Err(format!(
                    "{name}: '{text}' is not a text of at most {} ASCII characters",
                    field.bytes
                )),
            },
            kind => self.number_bytes(kind, text, name),
        }
    }

    fn number_bytes(self, kind: &str, text: &str, name: &str) -> Result<Vec<u8>, String> {
        let (width, least, most): (usize, i64, i64) = match kind {
            "u8" => (1, 0, u8::MAX.into()),
            "u16" => (2, 0, u16::MAX.into()),
            "u32" => (4, 0, u32::MAX.into()),
            "i32" => (4, i32::MIN.into(), i32::MAX.into()),
            _ => (8, i64::MIN, i64::MAX),
        };
        let count = self.field.bytes / width;
        let number = |text: &str| {
            let number: Option<i64> = text.trim().parse().ok();
            number.filter(|number| (least..=most).contains(number))
        };
        let numbers: Option<Vec<i64>> = text.split(',').map(number).collect();
        let Some(numbers) = numbers.filter(|numbers| numbers.len() == count) else {
            let several = match count {
                1 => String::new(),
                count => format!(" ({count} numbers separated by commas)"),
            };
            return Err(format!(
                "{name}: '{text}' is not a number from {least} to {most}{several}{}",
                self.names()
            ));
        };
        let bytes = numbers.iter().flat_map(|number| {
            let bytes = number.to_be_bytes();
            bytes[bytes.len() - width..].to_vec()
        });
        Ok(bytes.collect())
    }

    /// The names of the field's values, for an error; empty when the values have no names.
    fn names(self) -> String {
        let codes = self.field.codes.iter();
        let shown = |(code, name): &(u8, &str)| match self.is_character() {
            true => format!("{} {name}", char::from(*code)),
            false => format!("{code} {name}"),
        };
        let codes: Vec<String> = codes.map(shown).collect();
        match codes.is_empty() {
            true => String::new(),
            false => format!(", or one of: {}", codes.join("; ")),
        }
    }

    /// A text, converted to the form in which a received field is shown, so that both can be compared.
    ///
    /// # Errors
    ///
    /// See [`NamedField::bytes`].
    pub(crate) fn usual(self, text: &str) -> Result<String, String> {
        let bytes = self.bytes(text)?;
        Ok(self.text(&bytes).unwrap_or_default())
    }
}

fn numbers(bytes: &[u8], width: usize, number: impl Fn(&[u8]) -> i64) -> String {
    let numbers = bytes.chunks_exact(width).map(|it| number(it).to_string());
    numbers.collect::<Vec<_>>().join(",")
}

/// Characters without their filler, which is zero bytes or blanks. If not all are printable, as hexadecimal digits.
fn characters(bytes: &[u8]) -> Option<String> {
    let filler = |byte: &u8| matches!(byte, 0 | b' ');
    let end = bytes.iter().rposition(|byte| !filler(byte))? + 1;
    let text = &bytes[..end];
    let is_text = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'|';
    if text.iter().all(is_text) {
        return Some(String::from_utf8_lossy(text).into_owned());
    }
    Some(format!("0x{}", hex_of(bytes)))
}

/// The bytes of `0x` and an even number of hexadecimal digits.
fn hex(text: &str) -> Option<Vec<u8>> {
    bytes_of(text.strip_prefix("0x")?)
}

/// The bytes of hexadecimal digits, with optional blanks between bytes.
pub(crate) fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for word in text.split_whitespace() {
        let digits: Option<Vec<u32>> = word.chars().map(|it| it.to_digit(16)).collect();
        let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
        bytes.extend(digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8));
    }
    Some(bytes)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex_of(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(message: &str, name: &str) -> NamedField {
        NamedField::find(layout_of(message).unwrap(), name).unwrap()
    }

    #[test]
    fn every_field_of_every_message_reads_back() {
        for layout in LAYOUTS {
            for field in NamedField::all(layout) {
                let name = name_of(field.tag).unwrap();
                assert_eq!(tag_of(name), Some(field.tag));
                let text = match field.field.kind {
                    "time" => "20261126-09:30:00.125",
                    "data" | "char" => "AB",
                    "u8" if field.is_character() => "F",
                    _ if name == "leg_px" || name == "leg_qty" => "7,11",
                    _ => "7",
                };
                let bytes = field.bytes(text).unwrap_or_else(|why| panic!("{why}"));
                assert_eq!(field.text(&bytes).as_deref(), Some(text), "{name}");
            }
        }
        assert_eq!((name_of(35), name_of(FIRST + 1000)), (None, None));
    }

    #[test]
    fn values_have_names_and_mistakes_say_them() {
        assert_eq!(field("R01", "side").usual("buy"), Ok("1".to_owned()));
        assert_eq!(field("R01", "side").usual("002"), Ok("2".to_owned()));
        assert_eq!(
            field("L40", "system_type").usual("futures day"),
            Ok("20".to_owned())
        );
        assert_eq!(
            field("R01", "exec_type").usual("reduce"),
            Ok("5".to_owned())
        );
        assert_eq!(
            field("R02", "leg_px").bytes("-1,2"),
            Ok(vec![255, 255, 255, 255, 0, 0, 0, 2])
        );
        assert_eq!(field("R01", "order_no").text(&[0; 5]), None);
        assert_eq!(
            field("R01", "order_no").text(&[1, 2, 3, 4, 5]).as_deref(),
            Some("0x0102030405")
        );
        for (message, name, text, why) in [
            (
                "R01",
                "qty",
                "65536",
                "qty: '65536' is not a number from 0 to 65535",
            ),
            (
                "R01",
                "side",
                "bye",
                "side: 'bye' is not a number from 0 to 255, or one of: 1 buy; 2 sell",
            ),
            (
                "R01",
                "order_no",
                "A00001",
                "order_no: 'A00001' is not a text of at most 5 ASCII characters",
            ),
            (
                "R01",
                "exec_type",
                "XX",
                "exec_type: 'XX' is not one character, or one of: 0 new; ",
            ),
            (
                "R02",
                "leg_qty",
                "1",
                "leg_qty: '1' is not a number from 0 to 65535 (2 numbers separated",
            ),
            ("R01", "msg_time", "noon", "msg_time: 'noon' is not a time"),
        ] {
            let found = field(message, name).bytes(text).unwrap_err();
            assert!(found.starts_with(why), "{found}");
        }
        let found = NamedField::find(layout_of("L20").unwrap(), "qty").unwrap_err();
        assert_eq!(
            found,
            "L20 has no field 'qty': its fields are msg_length, msg_seq_num, msg_time, message_type, header.fcm_id, \
             header.session_id, status, checksum"
        );
    }
}
