//! Converts messages to JSON and back, without loss. The JSON uses the names of a dictionary. Do not use this JSON for
//! live messages.
//!
//! ```json
//! {"Header":{"BeginString":"FIX.4.4","BodyLength":"70","MsgType":"D","MsgSeqNum":"2"},
//!  "Body":{"ClOrdID":"A1","NoPartyIDs":[{"PartyID":"X","PartyRole":"1"}],"9001":"venue"},
//!  "Trailer":{"CheckSum":"128"}}
//! ```
//!
//! Values are strings as in the message. Groups are arrays, and data fields are Base64. A field that the dictionary
//! does not know has its number as key. A value that is not UTF-8 is an object `{"base64":"..."}`. Reading the JSON
//! gives the same bytes again.
//!
//! # Source
//!
//! Encoding FIX using JSON, FIX Trading Community. Fixwire adds numbers in place of names, and `base64` objects.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fixwire_protocol::dictionary::{Dictionary, GroupDef, MessageDef};
use fixwire_protocol::frame::check_sum;
use fixwire_protocol::group::entry_len;
use fixwire_protocol::{Field, Message, SOH, Tag, tag};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

/// Why a message cannot be written as JSON, or cannot be read from it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum JsonError {
    /// The message is malformed, so that its fields cannot be separated.
    Malformed,
    /// The field appears twice in a row. In an object each name appears only once.
    Repeated(Tag),
    /// The count is not the number of entries, or it has leading zeros.
    Count(Tag),
    /// The length of a data field has leading zeros.
    Length(Tag),
    /// The text is not JSON, or does not have this form. The error has the line and column.
    Form(String),
    /// An unknown field.
    UnknownField(String),
    /// The value of this field is not allowed.
    Value(String),
    /// The header does not begin with BeginString(8) and MsgType(35). BodyLength(9) may be between BeginString and
    /// MsgType.
    Header,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("malformed message; correct it first"),
            Self::Repeated(tag) => write!(
                f,
                "field {tag} appears twice and is not a group; JSON allows a name once"
            ),
            Self::Count(tag) => write!(f, "count field {tag} does not match its number of entries"),
            Self::Length(tag) => write!(f, "length field {tag} has leading zeros"),
            Self::Form(what) => write!(
                f,
                "not a message in JSON: {what}; write objects of strings and arrays"
            ),
            Self::UnknownField(name) => {
                write!(f, "unknown field {name}; write its name or its tag")
            }
            Self::Value(name) => write!(
                f,
                "invalid value of {name}; write a string without SOH, Base64 for data, an array \
                 for a group"
            ),
            Self::Header => f.write_str("the Header must begin with BeginString and MsgType"),
        }
    }
}

impl core::error::Error for JsonError {}

/// Writes a message as JSON without spaces.
///
/// # Errors
///
/// [`JsonError`] for a message that cannot be written. The message is malformed, has a field twice, or has a group with
/// a wrong count.
pub fn write(dictionary: &Dictionary, message: &Message<'_>) -> Result<String, JsonError> {
    if message.fault().is_some() {
        return Err(JsonError::Malformed);
    }
    let definition = dictionary.message(message.msg_type());
    let has = |members: &MessageDef, field: &Field| members.member(field.tag).is_some();
    let of_body = |field: &Field| definition.is_some_and(|definition| has(definition, field));
    let fields = message.fields();
    let is_header = |field: &Field| has(dictionary.header(), field);
    let header = fields.iter().take_while(|field| is_header(field)).count();
    // The entries of a group in the header belong to the header.
    let header = header_end(dictionary, fields, header);
    let trailer = fields[header..]
        .iter()
        .position(|field| has(dictionary.trailer(), field) && !of_body(field));
    let trailer = header + trailer.unwrap_or(fields.len() - header);
    let writer = Writer {
        dictionary,
        message,
        definition,
    };
    let mut text = String::from("{\"Header\":");
    writer.object(&mut text, &fields[..header], None)?;
    text.push_str(",\"Body\":");
    writer.object(&mut text, &fields[header..trailer], None)?;
    text.push_str(",\"Trailer\":");
    writer.object(&mut text, &fields[trailer..], None)?;
    text.push('}');
    Ok(text)
}

/// The end of the header. The entries of its groups are included.
fn header_end(dictionary: &Dictionary, fields: &[Field], plain: usize) -> usize {
    let mut at = 0;
    let mut end = plain;
    while at < end {
        let group = dictionary.header().group(fields[at].tag);
        at += 1;
        if let Some(group) = group {
            while let Some(len) = entry_len(&fields[at..], group) {
                at += len;
            }
            let more = fields[at..]
                .iter()
                .take_while(|field| dictionary.header().member(field.tag).is_some());
            end = end.max(at + more.count());
        }
    }
    end
}

struct Writer<'a> {
    dictionary: &'a Dictionary,
    message: &'a Message<'a>,
    definition: Option<&'a MessageDef>,
}

impl Writer<'_> {
    fn group(&self, count: Tag, inside: Option<&GroupDef>) -> Option<&GroupDef> {
        let of_message = self.definition.and_then(|message| message.group(count));
        of_message
            .or_else(|| self.dictionary.header().group(count))
            .or_else(|| self.dictionary.trailer().group(count))
            .filter(|_| inside.is_none())
    }

    fn object(
        &self,
        text: &mut String,
        fields: &[Field],
        inside: Option<&GroupDef>,
    ) -> Result<(), JsonError> {
        let mut seen = BTreeSet::new();
        let mut at = 0;
        text.push('{');
        while let Some(&field) = fields.get(at) {
            if !seen.insert(field.tag) {
                return Err(JsonError::Repeated(field.tag));
            }
            if at > 0 {
                text.push(',');
            }
            at += 1;
            text.push_str(&quoted(&name(self.dictionary, field.tag)));
            text.push(':');
            let value = self.message.value(field);
            let known = self.dictionary.field(field.tag);
            if let Some(data) = fields.get(at)
                && is_data(self.dictionary, data.tag)
                && known.and_then(|field| field.partner) == Some(data.tag)
                && value.starts_with(b"0")
                && value.len() > 1
            {
                return Err(JsonError::Length(field.tag));
            }
            let nested = inside.and_then(|inside| inside.group(field.tag));
            let Some(group) = nested.or_else(|| self.group(field.tag, inside)) else {
                text.push_str(&self.value(field.tag, value));
                continue;
            };
            text.push('[');
            let mut entries = 0u64;
            while let Some(len) = entry_len(&fields[at..], group) {
                if entries > 0 {
                    text.push(',');
                }
                self.object(text, &fields[at..at + len], Some(group))?;
                entries += 1;
                at += len;
            }
            text.push(']');
            if value != entries.to_string().as_bytes() {
                return Err(JsonError::Count(field.tag));
            }
        }
        text.push('}');
        Ok(())
    }

    fn value(&self, tag: Tag, value: &[u8]) -> String {
        if is_data(self.dictionary, tag) {
            return quoted(&STANDARD.encode(value));
        }
        match core::str::from_utf8(value) {
            Ok(value) => quoted(value),
            Err(_) => format!("{{\"base64\":{}}}", quoted(&STANDARD.encode(value))),
        }
    }
}

fn is_data(dictionary: &Dictionary, tag: Tag) -> bool {
    let field = dictionary.field(tag);
    field.is_some_and(|field| field.kind.is_data() && field.partner.is_some())
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// The key of a field. The key of a field is its name if the name is unambiguous, otherwise its tag.
fn name(dictionary: &Dictionary, tag: Tag) -> String {
    match dictionary.field(tag) {
        Some(field) if tag_of(dictionary, &field.name) == Some(tag) => field.name.clone(),
        _ => tag.to_string(),
    }
}

fn tag_of(dictionary: &Dictionary, name: &str) -> Option<Tag> {
    let number = name
        .parse()
        .ok()
        .filter(|tag| (1..=0x7fff_ffff).contains(tag));
    match number {
        Some(tag) if !name.starts_with(['+', '0']) => Some(tag),
        _ => dictionary.tag_of(name),
    }
}

/// Reads a message from JSON. BodyLength(9) in the Header, the last CheckSum(10), the lengths of data fields and the
/// counts of groups are calculated again; their values in the text are ignored.
///
/// # Errors
///
/// [`JsonError`]. Texts that are nested more than 128 deep are refused.
pub fn read(dictionary: &Dictionary, text: &str) -> Result<Vec<u8>, JsonError> {
    let json: Json =
        serde_json::from_str(text).map_err(|error| JsonError::Form(error.to_string()))?;
    let Json::Object(parts) = json else {
        return Err(JsonError::Form("it is not an object".into()));
    };
    let mut objects: [Vec<(String, Json)>; 3] = Default::default();
    let order = ["Header", "Body", "Trailer"];
    let mut next = 0;
    for (part, inside) in parts {
        let Some(at) = order.iter().position(|name| *name == part) else {
            let what = format!("{part} is not Header, Body or Trailer");
            return Err(JsonError::Form(what));
        };
        let Json::Object(inside) = inside else {
            return Err(JsonError::Form(format!("{part} is not an object")));
        };
        if at < next {
            let what = "Header, Body and Trailer appear once, in this order";
            return Err(JsonError::Form(what.into()));
        }
        next = at + 1;
        objects[at] = inside;
    }
    objects[0].retain(|(name, _)| tag_of(dictionary, name) != Some(tag::BODY_LENGTH));
    // The last CheckSum counts, wherever the dictionary has it. Another one in the Body is a field of the message.
    let is_check_sum =
        |(name, _): &(String, Json)| tag_of(dictionary, name) == Some(tag::CHECK_SUM);
    if let Some(last) = objects
        .iter_mut()
        .rfind(|object| object.iter().any(is_check_sum))
    {
        last.retain(|field| !is_check_sum(field));
    }
    let [header, rest @ ..] = &objects;
    let first = |at: usize, tag: Tag| {
        let field = header.get(at);
        let (_, value) = field
            .filter(|(name, _)| tag_of(dictionary, name) == Some(tag))
            .ok_or(JsonError::Header)?;
        value.plain().ok_or(JsonError::Header)
    };
    let (begin_string, msg_type) = (first(0, tag::BEGIN_STRING)?, first(1, tag::MSG_TYPE)?);
    let reader = Reader {
        dictionary,
        definition: dictionary.message(&msg_type),
    };
    let mut body = Vec::new();
    reader.object(&mut body, &header[1..], None)?;
    for object in rest {
        reader.object(&mut body, object, None)?;
    }
    let mut bytes = Vec::new();
    reader.field(&mut bytes, tag::BEGIN_STRING, "BeginString", &begin_string)?;
    bytes.extend_from_slice(format!("9={}\x01", body.len()).as_bytes());
    bytes.append(&mut body);
    let sum = check_sum(&bytes);
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    Ok(bytes)
}

struct Reader<'a> {
    dictionary: &'a Dictionary,
    definition: Option<&'a MessageDef>,
}

impl Reader<'_> {
    fn object(
        &self,
        out: &mut Vec<u8>,
        fields: &[(String, Json)],
        inside: Option<&GroupDef>,
    ) -> Result<(), JsonError> {
        let mut seen = BTreeSet::new();
        for (at, (name, value)) in fields.iter().enumerate() {
            let tag = tag_of(self.dictionary, name)
                .ok_or_else(|| JsonError::UnknownField(name.clone()))?;
            if !seen.insert(tag) {
                return Err(JsonError::Repeated(tag));
            }
            let wrong = || JsonError::Value(name.clone());
            match value {
                Json::Array(entries) => {
                    let group = self.group(tag, inside).ok_or_else(wrong)?;
                    out.extend_from_slice(format!("{tag}={}\x01", entries.len()).as_bytes());
                    for entry in entries {
                        let Json::Object(fields) = entry else {
                            return Err(wrong());
                        };
                        self.object(out, fields, Some(group))?;
                    }
                }
                Json::Object(_) => {
                    self.field(out, tag, name, &value.plain().ok_or_else(wrong)?)?;
                }
                Json::Text(text) if is_data(self.dictionary, tag) => {
                    let bytes = STANDARD.decode(text).map_err(|_| wrong())?;
                    out.extend_from_slice(format!("{tag}=").as_bytes());
                    out.extend_from_slice(&bytes);
                    out.push(SOH);
                }
                Json::Text(text) => match self.length_of_next(tag, fields.get(at + 1)) {
                    Some(Err(error)) => return Err(error),
                    Some(Ok(length)) => {
                        out.extend_from_slice(format!("{tag}={length}\x01").as_bytes());
                    }
                    None => self.field(out, tag, name, text.as_bytes())?,
                },
            }
        }
        Ok(())
    }

    /// For a length field before its data field, the length of the data.
    fn length_of_next(
        &self,
        tag: Tag,
        next: Option<&(String, Json)>,
    ) -> Option<Result<usize, JsonError>> {
        let data = self.dictionary.field(tag)?.partner?;
        let (name, value) = next?;
        let follows = tag_of(self.dictionary, name) == Some(data);
        if !follows || !is_data(self.dictionary, data) {
            return None;
        }
        Some(match value {
            Json::Text(text) => match STANDARD.decode(text) {
                Ok(bytes) => Ok(bytes.len()),
                Err(_) => Err(JsonError::Value(name.clone())),
            },
            _ => Err(JsonError::Value(name.clone())),
        })
    }

    fn group<'s>(&'s self, count: Tag, inside: Option<&'s GroupDef>) -> Option<&'s GroupDef> {
        if let Some(inside) = inside {
            return inside.group(count);
        }
        let of_message = self.definition.and_then(|message| message.group(count));
        of_message
            .or_else(|| self.dictionary.header().group(count))
            .or_else(|| self.dictionary.trailer().group(count))
    }

    fn field(
        &self,
        out: &mut Vec<u8>,
        tag: Tag,
        name: &str,
        value: &[u8],
    ) -> Result<(), JsonError> {
        if value.contains(&SOH) {
            return Err(JsonError::Value(name.into()));
        }
        out.extend_from_slice(format!("{tag}=").as_bytes());
        out.extend_from_slice(value);
        out.push(SOH);
        Ok(())
    }
}

/// A JSON value. Objects keep their order.
#[derive(Debug)]
enum Json {
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The bytes of a value. The JSON value is text, or Base64 for bytes that are not text.
    fn plain(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.as_bytes().to_vec()),
            Self::Object(parts) => match &parts[..] {
                [(key, Self::Text(text))] if key == "base64" => STANDARD.decode(text).ok(),
                _ => None,
            },
            Self::Array(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a whole number, an array or an object")
            }

            fn visit_str<E>(self, text: &str) -> Result<Json, E> {
                Ok(Json::Text(text.into()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
                Ok(Json::Text(number.to_string()))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
                Ok(Json::Text(number.to_string()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
                let mut array = Vec::new();
                while let Some(item) = items.next_element()? {
                    array.push(item);
                }
                Ok(Json::Array(array))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
                let mut object = Vec::new();
                while let Some(item) = items.next_entry()? {
                    object.push(item);
                }
                Ok(Json::Object(object))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
