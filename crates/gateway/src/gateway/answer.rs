//! `Answer`: the reject that the source of an undeliverable message receives.
//!
//! ```text
//! D AB       ExecutionReport(8), OrdStatus(39) and ExecType(150) 8
//! F G AC     OrderCancelReject(9)
//! others     BusinessMessageReject(j); Reject(3) in versions without it
//! ```
//!
//! The dictionary of the source's session decides which of the fields its FIX version has, and which it requires.

use fixwire_protocol::dictionary::{DataType, Dictionary, MessageDef};
use fixwire_protocol::{
    Body, BodyError, Message, Now, Outbox, Precision, SOH, SessionId, Tag, tag,
};

use super::event::Trouble;
use crate::orders::OrdersError;
use crate::orders::known::id_of;
use crate::rules::RejectKind;

/// Fields of an order that its reject repeats.
const REPEATED: [Tag; 9] = [
    tag::ACCOUNT,
    tag::CL_ORD_ID,
    tag::ORIG_CL_ORD_ID,
    tag::SYMBOL,
    tag::SYMBOL_SFX,
    tag::SECURITY_ID,
    tag::SECURITY_ID_SOURCE,
    tag::SIDE,
    tag::ORDER_QTY,
];

/// Routing fields of third parties, each with the field in which a response carries the same value.
pub(super) const TURNED: [(Tag, Tag); 6] = [
    (tag::DELIVER_TO_COMP_ID, tag::ON_BEHALF_OF_COMP_ID),
    (tag::DELIVER_TO_SUB_ID, tag::ON_BEHALF_OF_SUB_ID),
    (tag::DELIVER_TO_LOCATION_ID, tag::ON_BEHALF_OF_LOCATION_ID),
    (tag::ON_BEHALF_OF_COMP_ID, tag::DELIVER_TO_COMP_ID),
    (tag::ON_BEHALF_OF_SUB_ID, tag::DELIVER_TO_SUB_ID),
    (tag::ON_BEHALF_OF_LOCATION_ID, tag::DELIVER_TO_LOCATION_ID),
];
/// Other fields that a reject reads, in every FIX version.
const READ: [Tag; 4] = [
    tag::MSG_TYPE,
    tag::MSG_SEQ_NUM,
    tag::POSS_RESEND,
    tag::ORDER_ID,
];

/// Whether a reject of a message of this type reads this field.
pub(super) fn reads(dictionary: &Dictionary, msg_type: &[u8], tag: Tag) -> bool {
    let is_required = |answer: &&[u8]| {
        let definition = dictionary.message(answer);
        let member = definition.and_then(|definition| definition.member(tag));
        member.is_some_and(|member| member.required && member.group.is_none())
    };
    REPEATED.contains(&tag)
        || READ.contains(&tag)
        || TURNED.iter().any(|(from, _)| *from == tag)
        || id_of(msg_type) == Some(tag)
        || [&b"8"[..], b"9", b"j", b"3"].iter().any(is_required)
}

/// A reject before it is written.
pub(super) struct Answer<'a> {
    pub now: Now,
    /// The session that receives the reject.
    pub to: SessionId,
    pub dictionary: &'a Dictionary,
    pub message: &'a Message<'a>,
    /// Why the gateway rejects the message; `None` if a rule rejects it.
    pub trouble: Option<Trouble>,
    pub text: &'a [u8],
    /// Whether the order that OrigClOrdID(41) refers to is open.
    pub order_is_open: bool,
    /// A unique number for ExecID(17). FIX 4.0 requires ExecID to be a number.
    pub number: i64,
}

impl Answer<'_> {
    /// Writes the reject of the kind that fits the message.
    pub fn write(&self, kind: RejectKind, outbox: &mut Outbox) -> Result<(), BodyError> {
        let has = |msg_type: &'static [u8]| {
            let known = self.dictionary.message(msg_type);
            known.map(|definition| (msg_type, definition))
        };
        let fitting = match (kind, self.message.msg_type()) {
            (RejectKind::Session, _) => None,
            (RejectKind::Fitting | RejectKind::Order, b"D" | b"AB") => has(b"8"),
            (RejectKind::Fitting | RejectKind::Order, b"F" | b"G" | b"AC") => has(b"9"),
            _ => has(b"j"),
        };
        let business = || match kind {
            RejectKind::Session => None,
            _ => has(b"j"),
        };
        match fitting.or_else(business).or_else(|| has(b"3")) {
            Some((b"8", definition)) => self.execution_report(definition, outbox),
            Some((b"9", definition)) => self.cancel_reject(definition, outbox),
            Some((b"j", definition)) => self.business(definition, outbox),
            Some((_, definition)) => self.session(definition, outbox),
            None => Err(BodyError::Value(tag::MSG_TYPE)),
        }
    }

    fn execution_report(
        &self,
        definition: &MessageDef,
        outbox: &mut Outbox,
    ) -> Result<(), BodyError> {
        let reason = match self.trouble {
            Some(Trouble::Duplicate) => b"6",
            _ => b"0",
        };
        let mut id = itoa::Buffer::new();
        let fixed: [(Tag, &[u8]); 10] = [
            (tag::ORDER_ID, b"NONE"),
            (tag::EXEC_ID, id.format(self.number).as_bytes()),
            (tag::EXEC_TRANS_TYPE, b"0"),
            (tag::EXEC_TYPE, b"8"),
            (tag::ORD_STATUS, b"8"),
            (
                tag::ORD_REJ_REASON,
                self.listed(tag::ORD_REJ_REASON, reason, b"0"),
            ),
            (tag::LEAVES_QTY, b"0"),
            (tag::CUM_QTY, b"0"),
            (tag::AVG_PX, b"0"),
            (tag::TEXT, self.text),
        ];
        self.fields((b"8", definition), &fixed, &REPEATED, None, outbox)
    }

    /// Writes the ExecutionReport that confirms a client's cancel of a held order.
    pub fn write_cancelled(
        &self,
        order: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), BodyError> {
        let Some(definition) = self.dictionary.message(b"8") else {
            return Err(BodyError::Value(tag::MSG_TYPE));
        };
        let mut id = itoa::Buffer::new();
        let fixed: [(Tag, &[u8]); 9] = [
            (tag::ORDER_ID, b"NONE"),
            (tag::EXEC_ID, id.format(self.number).as_bytes()),
            (tag::EXEC_TRANS_TYPE, b"0"),
            (tag::EXEC_TYPE, b"4"),
            (tag::ORD_STATUS, b"4"),
            (tag::LEAVES_QTY, b"0"),
            (tag::CUM_QTY, b"0"),
            (tag::AVG_PX, b"0"),
            (tag::TEXT, self.text),
        ];
        // Fields that are missing in the cancel are taken from the order.
        self.fields((b"8", definition), &fixed, &REPEATED, Some(order), outbox)
    }

    /// Writes an OrderCancelReject(9). The order does not change. The gateway knows only whether the order is open or
    /// closed.
    fn cancel_reject(&self, definition: &MessageDef, outbox: &mut Outbox) -> Result<(), BodyError> {
        let is_unknown = matches!(
            self.trouble,
            Some(Trouble::Orders(OrdersError::UnknownOrder { .. }))
        );
        let (status, reason): (&[u8], &[u8]) = match self.order_is_open && !is_unknown {
            true => (b"0", b"2"),
            false => (b"8", b"1"),
        };
        let (status, reason): (&[u8], &[u8]) = match self.trouble {
            Some(Trouble::Duplicate) => (status, b"6"),
            Some(Trouble::Cancelled) => (b"4", b"0"),
            _ => (status, reason),
        };
        let response_to = match self.message.msg_type() {
            b"F" => b"1",
            _ => b"2",
        };
        let order_id = self.message.get(tag::ORDER_ID);
        let fixed: [(Tag, &[u8]); 5] = [
            (
                tag::ORDER_ID,
                order_id.filter(|id| !id.is_empty()).unwrap_or(b"NONE"),
            ),
            (tag::ORD_STATUS, status),
            (tag::CXL_REJ_RESPONSE_TO, response_to),
            (
                tag::CXL_REJ_REASON,
                self.listed(tag::CXL_REJ_REASON, reason, b""),
            ),
            (tag::TEXT, self.text),
        ];
        self.fields((b"9", definition), &fixed, &REPEATED, None, outbox)
    }

    fn business(&self, definition: &MessageDef, outbox: &mut Outbox) -> Result<(), BodyError> {
        let reason: &[u8] = match self.trouble {
            Some(Trouble::Unmatched | Trouble::NoResponse) => b"3",
            Some(Trouble::Orders(OrdersError::NoId | OrdersError::IdTooLong { .. })) => b"0",
            Some(Trouble::Orders(OrdersError::UnknownOrder { .. })) => b"1",
            Some(Trouble::ReachesAll) => b"6",
            Some(
                Trouble::Away(_)
                | Trouble::NotWritten(_)
                | Trouble::Orders(_)
                | Trouble::Limit(_)
                | Trouble::Expired
                | Trouble::DiskFull
                | Trouble::Cancelled
                | Trouble::TargetGone,
            ) => b"4",
            Some(Trouble::TooMany { .. }) => b"8",
            _ => b"0",
        };
        let id = id_of(self.message.msg_type()).and_then(|tag| self.message.get(tag));
        let mut number = itoa::Buffer::new();
        let fixed: [(Tag, &[u8]); 5] = [
            (tag::REF_SEQ_NUM, self.seq_num(&mut number)),
            (tag::REF_MSG_TYPE, self.message.msg_type()),
            (tag::BUSINESS_REJECT_REF_ID, id.unwrap_or_default()),
            (
                tag::BUSINESS_REJECT_REASON,
                self.listed(tag::BUSINESS_REJECT_REASON, reason, b"0"),
            ),
            (tag::TEXT, self.text),
        ];
        self.fields((b"j", definition), &fixed, &[], None, outbox)
    }

    fn session(&self, definition: &MessageDef, outbox: &mut Outbox) -> Result<(), BodyError> {
        let mut number = itoa::Buffer::new();
        let fixed: [(Tag, &[u8]); 4] = [
            (tag::REF_SEQ_NUM, self.seq_num(&mut number)),
            (tag::REF_MSG_TYPE, self.message.msg_type()),
            (
                tag::SESSION_REJECT_REASON,
                self.listed(tag::SESSION_REJECT_REASON, b"99", b""),
            ),
            (tag::TEXT, self.text),
        ];
        self.fields((b"3", definition), &fixed, &[], None, outbox)
    }

    /// Writes the fields that the FIX version has, in the dictionary's order: fixed fields that are not empty,
    /// repeated fields, and all required fields. Fields that the message lacks are taken from the order.
    fn fields(
        &self,
        (msg_type, definition): (&[u8], &MessageDef),
        fixed: &[(Tag, &[u8])],
        repeated: &[Tag],
        order: Option<&Message<'_>>,
        outbox: &mut Outbox,
    ) -> Result<(), BodyError> {
        let messages = [Some(self.message), order];
        let given = |tag| {
            let mut values = messages.into_iter().flatten().filter_map(|it| it.get(tag));
            values.find(|value| !value.is_empty())
        };
        let mut body = outbox.begin(self.to, msg_type);
        turned(self.dictionary, self.message, &mut body);
        for member in definition.members() {
            let tag = member.tag;
            if member.group.is_some() {
                continue;
            }
            if let Some((_, value)) = fixed.iter().find(|(fixed, _)| *fixed == tag) {
                if !value.is_empty() {
                    body.field(tag, value);
                }
                continue;
            }
            if !member.required && !repeated.contains(&tag) {
                continue;
            }
            match given(tag) {
                Some(value) => {
                    body.field(tag, value);
                }
                None if member.required => match self.dictionary.field(tag).map(|field| field.kind)
                {
                    Some(kind) if kind.is_decimal() || kind == DataType::Int => {
                        body.field(tag, b"0");
                    }
                    Some(DataType::UtcTimestamp) => {
                        body.time(tag, self.now.wall, Precision::Millis);
                    }
                    _ => {}
                },
                None => {}
            }
        }
        body.finish()
    }

    /// Returns `value` if the dictionary allows it for this field, otherwise `other`.
    fn listed<'v>(&self, tag: Tag, value: &'v [u8], other: &'v [u8]) -> &'v [u8] {
        let field = self.dictionary.field(tag);
        match field.is_some_and(|field| field.allows(value)) {
            true => value,
            false => other,
        }
    }

    /// The MsgSeqNum(34) of the message, for RefSeqNum(45).
    fn seq_num<'b>(&self, buffer: &'b mut itoa::Buffer) -> &'b [u8] {
        match self.message.seq_num() {
            Some(Ok(number)) => buffer.format(number).as_bytes(),
            // The MsgSeqNum(34) is no longer known, but the FIX version may require RefSeqNum(45).
            _ => b"0",
        }
    }
}

/// Reverses the third-party routing fields for a response.
pub(super) fn turned(dictionary: &Dictionary, message: &Message<'_>, body: &mut Body<'_>) {
    for (from, to) in TURNED {
        let value = message.get(from).filter(|value| !value.is_empty());
        if let Some(value) = value.filter(|_| dictionary.header().member(to).is_some()) {
            body.field(to, value);
        }
    }
}

/// The bytes of a text, with a space for each SOH, which a field such as Text(58) cannot contain.
pub(super) fn plain(text: &[u8]) -> impl Iterator<Item = u8> {
    let written = |byte: &u8| match *byte {
        SOH => b' ',
        byte => byte,
    };
    text.iter().map(written)
}
