//! The fields of order messages in the FIX version of a session.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::session::{BeginString, Config};
use fixwire_protocol::{Dictionary, Precision, Tag, Timestamp, TimestampWriter, tag};

use crate::fields::{MessageFields, unpacked};

/// Tag of the send time, in nanoseconds since 1970: a user-defined field.
pub const SEND_TIME: Tag = 9701;
/// Fields by which a cancel or a status request identifies its order.
const OF_THE_ORDER: [Tag; 8] = [
    tag::ACCOUNT,
    tag::SYMBOL,
    tag::SIDE,
    tag::ORDER_QTY,
    tag::SECURITY_ID,
    tag::SECURITY_ID_SOURCE,
    tag::SECURITY_TYPE,
    tag::MATURITY_MONTH_YEAR,
];

/// Adds required fields to the messages of one session, according to the session's dictionary. Without a dictionary of
/// the session, the built-in dictionary of the session's version is used.
pub struct OrderLayout {
    dictionary: Arc<Dictionary>,
    /// Digits of TransactTime(60).
    precision: Precision,
    stamp: TimestampWriter,
}

/// The order that a message refers to, as far as the message can identify it.
pub struct OrderSubject<'a> {
    /// OrigClOrdID(41), or the ClOrdID(11) of a status request.
    pub id: &'a str,
    /// OrderID(37); empty if it is unknown.
    pub order_id: &'a str,
    /// The order's fields, as packed text.
    pub fields: &'a str,
}

impl OrderLayout {
    /// The layout for a session.
    #[must_use]
    pub fn of(session: &Config) -> Self {
        let built_in = || Arc::new(Dictionary::built_in(session.appl_version()));
        Self {
            dictionary: session.dictionary.clone().unwrap_or_else(built_in),
            precision: if session.begin_string < BeginString::Fix42 {
                Precision::Seconds
            } else {
                session.precision
            },
            stamp: TimestampWriter::new(),
        }
    }

    /// Whether a message of this type may have this field, outside of groups.
    fn takes(&self, msg_type: &str, tag: Tag) -> bool {
        let message = self.dictionary.message(msg_type.as_bytes());
        let member = message.and_then(|message| message.member(tag));
        member.is_some_and(|member| member.group.is_none())
    }

    fn requires(&self, msg_type: &str, tag: Tag) -> bool {
        let message = self.dictionary.message(msg_type.as_bytes());
        let member = message.and_then(|message| message.member(tag));
        member.is_some_and(|member| member.required)
    }

    /// All fields of a message. `id` is its ClOrdID(11), `subject` is the order that it refers to, `at` is its
    /// TransactTime(60). Fields that the user wrote come last, in the user's order, and override all others.
    pub fn complete(
        &mut self,
        message: &MessageFields,
        id: Option<&str>,
        subject: Option<&OrderSubject<'_>>,
        at: Timestamp,
    ) -> Vec<(Tag, String)> {
        let msg_type = message.msg_type.as_str();
        let mut all: Vec<(Tag, String)> = Vec::new();
        let is_request = matches!(msg_type, "F" | "G");
        if let Some(subject) = subject {
            self.put_subject(&mut all, message, subject);
        }
        // A status request identifies the order by the order's own ClOrdID.
        let id = id.or_else(|| subject.filter(|_| msg_type == "H").map(|it| it.id));
        if let Some(id) = id {
            all.insert(0, (tag::CL_ORD_ID, id.to_string()));
        }
        let mut put = |tag: Tag, value: &str| {
            let is_known = message.get(tag).is_some() || all.iter().any(|field| field.0 == tag);
            if !is_known {
                all.push((tag, value.to_string()));
            }
        };
        if msg_type == "D" || is_request {
            if self.requires(msg_type, tag::HANDL_INST) {
                put(tag::HANDL_INST, "1");
            }
            if self.requires(msg_type, tag::CXL_TYPE) {
                put(tag::CXL_TYPE, "F");
            }
            if self.takes(msg_type, tag::TRANSACT_TIME) {
                let time = self.stamp.format(at, self.precision);
                put(tag::TRANSACT_TIME, &String::from_utf8_lossy(time));
            }
        }
        if msg_type == "D" {
            let limit = message.get(tag::PRICE).is_some();
            put(tag::ORD_TYPE, if limit { "2" } else { "1" });
        }
        let given = message.fields.iter();
        let is_named = |tag: Tag| all.iter().any(|field| field.0 == tag);
        let given: Vec<_> = given
            .filter(|field| {
                let names = matches!(field.0, tag::CL_ORD_ID | tag::ORIG_CL_ORD_ID);
                !(names && is_named(field.0))
            })
            .cloned()
            .collect();
        all.extend(given);
        all
    }

    /// Adds the fields of the order that a cancel, a replace or a status request repeats.
    fn put_subject(
        &self,
        all: &mut Vec<(Tag, String)>,
        message: &MessageFields,
        subject: &OrderSubject<'_>,
    ) {
        let msg_type = message.msg_type.as_str();
        if matches!(msg_type, "F" | "G") {
            all.push((tag::ORIG_CL_ORD_ID, subject.id.to_string()));
        }
        if !subject.order_id.is_empty() && self.takes(msg_type, tag::ORDER_ID) {
            all.push((tag::ORDER_ID, subject.order_id.to_string()));
        }
        for (tag, value) in unpacked(subject.fields) {
            let repeats = match msg_type {
                "G" => !matches!(tag, tag::TRANSACT_TIME | tag::CL_ORD_ID | SEND_TIME),
                _ => OF_THE_ORDER.contains(&tag),
            };
            if repeats && message.get(tag).is_none() && self.takes(msg_type, tag) {
                all.push((tag, value.to_string()));
            }
        }
    }
}
