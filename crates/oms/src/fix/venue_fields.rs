//! Fields of a venue's report that the client and drop copies get: unchanged, or converted for another FIX version.
//!
//! When the OMS first writes a report, it takes these fields from the venue's message. When it makes the report again,
//! it takes them from the journal, which keeps each message with its notes.

use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Dictionary, Message, SOH, SessionId, Tag, tag};
use siphasher::sip::SipHasher13;

use super::before::Before;
use super::clients::order_of;
use super::names;
use crate::state::OmsState;
use crate::state::event::{LifecycleEvent, OrderEvent, ParentEvent, SpreadEvent};
use crate::state::orders::venue_names::NAME_TAGS;
use crate::values::fields::carried::{
    allows, each_field, group_len, has_member, single_len, splits,
};
use crate::values::fields::conversion::reports::{MadeReportField, ReportConversion};
use crate::values::fields::conversion::{FieldConverter, MESSAGE_ENCODING};
use crate::values::fields::field_table::{Messages, goes_to_client, report_bit};
use crate::values::fields::report_tags::{ReportSettings, ReportTags};
use crate::values::ids::SessionNo;
use crate::values::value::Number;
use crate::values::venue_id::VenueId;

/// Maximum size of these fields in a report, in bytes.
const MOST: usize = 1 << 10;

/// The session that gets a report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportReader<'a> {
    pub session: SessionId,
    pub version: Version,
    pub dictionary: &'a Dictionary,
}

/// An ExecutionReport(8) or OrderCancelReject(9) of a venue with fields that the client and drop copies get.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VenueFields<'a> {
    message: &'a Message<'a>,
    settings: &'a ReportSettings,
    /// The dictionaries of all sessions, each once.
    dictionaries: &'a [Arc<Dictionary>],
    order: Number,
    /// The session on which the venue reports on the order.
    line: Option<SessionNo>,
    /// Whether the report is about a leg of the order's spread.
    is_leg: bool,
    /// The tags of the fields that name the account at the venue; 0 for none. Clients do not get these fields.
    account_tags: [Tag; NAME_TAGS],
    /// ExecType(150).
    kind: Option<&'a [u8]>,
    /// ExecID(17), which clients get as SecondaryExecID(527); `None` if they do not get it.
    exec_id: Option<&'a [u8]>,
    /// Whether the report to the client has the venue's ExecID(17) as its own.
    is_passed: bool,
}

impl<'a> VenueFields<'a> {
    /// The fields of a message, if it is an ExecutionReport(8) or OrderCancelReject(9) for an order of the OMS.
    pub(crate) fn of(
        message: &'a Message<'a>,
        state: &OmsState,
        settings: &'a ReportSettings,
        dictionaries: &'a [Arc<Dictionary>],
    ) -> Option<Self> {
        let is_reject = message.msg_type() == b"9";
        if !is_reject && message.msg_type() != b"8" {
            return None;
        }
        let id = |tag| message.get(tag).and_then(VenueId::parse);
        let id = id(tag::CL_ORD_ID).or_else(|| id(tag::ORIG_CL_ORD_ID))?;
        let order = state.orders().get(id.order)?;
        let (line, instrument) = (order.line(), order.instrument);
        let is_leg =
            !state.spreads.is_empty() && names::names_other(state, line, instrument, message);
        let exec_id = message.get(tag::EXEC_ID);
        let exec_id = exec_id.filter(|id| id.len() <= MOST);
        let lines = &settings.exec_id_lines;
        let exec_id = exec_id.filter(|_| !is_reject && line.is_some_and(|it| lines.contains(&it)));
        // FIX 4.0 has no ExecType.
        let kind = message
            .get(tag::EXEC_TYPE)
            .or_else(|| message.get(tag::ORD_STATUS));
        let passed = message.get(tag::EXEC_ID).filter(|_| state.exec_ids.is_on());
        let passed = passed.and_then(|it| state.exec_ids.of(id.order, SipHasher13::new().hash(it)));
        let name = line.and_then(|it| state.venue_names.account(it, order.account));
        let mut account_tags = [0; NAME_TAGS];
        let of_name = name.into_iter().flat_map(each_field);
        for (place, field) in account_tags.iter_mut().zip(of_name) {
            *place = field.tag;
        }
        let all = Self {
            message,
            settings,
            dictionaries,
            order: id.order,
            line,
            is_leg,
            account_tags,
            kind,
            exec_id,
            // A venue may use the same ExecID(17) for a spread and its legs, so the report of a leg does not get it.
            is_passed: !is_leg && passed.is_some_and(|(of, _)| kind == Some(&[of])),
        };
        let has_fields = all.tags().next().is_some();
        (exec_id.is_some() || has_fields).then_some(all)
    }

    /// Whether messages of this type may get the fields.
    pub(crate) fn is_in(&self, msg_type: &[u8]) -> bool {
        msg_type == self.message.msg_type()
    }

    fn bit(&self) -> Messages {
        report_bit(self.message.msg_type())
    }

    fn is_reject(&self) -> bool {
        self.message.msg_type() == b"9"
    }

    /// Whether receivers get a field if they can.
    fn passes(&self, tag: Tag) -> bool {
        goes_to_client(tag, self.bit()) || self.is_carried(tag)
    }

    /// Whether the settings pass on a field.
    fn is_carried(&self, tag: Tag) -> bool {
        self.line
            .is_some_and(|line| self.settings.carries(line, tag))
    }

    /// Whether the report of an event gets the fields of the message.
    ///
    /// Only the report that the message is about gets them. A message may also cause other reports, because it implies
    /// that an order was accepted, or because it ends or rejects other requests.
    pub(crate) fn is_of(&self, event: &OrderEvent<'_>, before: &Before) -> bool {
        if self.is_reject() {
            let is_declined = matches!(event, OrderEvent::Order(LifecycleEvent::Declined { .. }));
            return is_declined && before.order == self.order;
        }
        let is_said = match event {
            OrderEvent::Order(LifecycleEvent::Accepted { .. }) => self.kind == Some(b"0"),
            OrderEvent::Spread(SpreadEvent::LegFilled { .. }) => self.is_leg && self.is_fill(),
            OrderEvent::Spread(SpreadEvent::LegUndone { .. }) => self.is_leg,
            OrderEvent::Order(LifecycleEvent::Filled { .. }) => !self.is_leg && self.is_fill(),
            OrderEvent::Parent(ParentEvent::ParentFilled { child, .. }) => {
                return self.is_fill() && *child == self.order;
            }
            OrderEvent::Order(_) | OrderEvent::Undo(_) | OrderEvent::Break(_) => {
                !self.is_leg && !self.is_fill()
            }
            OrderEvent::Setup(_)
            | OrderEvent::Day(_)
            | OrderEvent::Line(_)
            | OrderEvent::Limit(_)
            | OrderEvent::Reload(_)
            | OrderEvent::Pool(_)
            | OrderEvent::Request(_)
            | OrderEvent::Remade(_)
            | OrderEvent::Stray(_)
            | OrderEvent::Condition(_)
            | OrderEvent::Parent(_)
            | OrderEvent::Quote(_)
            | OrderEvent::Inquiry(_)
            | OrderEvent::Rejected(_)
            | OrderEvent::Copy(_)
            | OrderEvent::Spread(_) => false,
        };
        is_said && order_of(event, before) == Some(self.order)
    }

    fn is_fill(&self) -> bool {
        let is_new = matches!(self.message.get(tag::EXEC_TRANS_TYPE), None | Some(b"0"));
        is_new && matches!(self.kind, Some(b"F" | b"1" | b"2"))
    }

    /// Whether the venue's group has more fields after the last field that the receiver's dictionary has in the group.
    fn goes_on(&self, count: Tag, end: usize) -> bool {
        let next = self.message.fields().get(end);
        let dictionaries = self.dictionaries.iter();
        let msg_type = self.message.msg_type();
        let mut groups = dictionaries.filter_map(|it| it.group(msg_type, count));
        next.is_some_and(|next| groups.any(|group| has_member(group, next.tag)))
    }

    /// Tags of the fields that clients may get, including members of groups.
    pub(crate) fn tags(&self) -> impl Iterator<Item = Tag> {
        let fields = self.message.fields().iter().map(|field| field.tag);
        fields.filter(|tag| self.passes(*tag))
    }

    /// Writes a report with these fields into `new`, if the receiver's dictionary has them or `converter` converts them,
    /// and passes the tags of the other fields to `left`. If the receiver gets none of the fields, `new` stays empty.
    pub(crate) fn write(
        &self,
        event: &OrderEvent<'_>,
        receiver: ReportReader<'_>,
        report: &[u8],
        converter: &mut FieldConverter,
        new: &mut Vec<u8>,
        mut left: impl FnMut(Tag),
    ) {
        // The child's own report has the ExecID(17), so the parent's report does not get it.
        let is_passed = self.is_passed && !matches!(event, OrderEvent::Parent(_));
        if let Some(id) = self.message.get(tag::EXEC_ID).filter(|_| is_passed) {
            put_exec_id(report, id, new);
        }
        let mut new = NewReport {
            report,
            body: new,
            front: 0,
            dropped: self.settings.dropped_by(receiver.session),
        };
        let fields = self.message.fields();
        let mut conversion = converter.report(self.line, receiver.version);
        let mut at = 0;
        while let Some(field) = fields.get(at) {
            let start = at;
            at += 1;
            // A field that the OMS writes itself has precedence.
            if !self.passes(field.tag)
                || self.is_said(report, field.tag)
                || self.account_tags.contains(&field.tag)
            {
                if field.tag == tag::TEXT && self.is_cut(report) {
                    left(field.tag);
                }
                continue;
            }
            // Each version may have another value for the same encoding.
            let is_converted = field.tag == MESSAGE_ENCODING && conversion.is_some();
            let fit = match is_converted {
                true => None,
                false => self.fit(start, receiver.dictionary, &new),
            };
            if let Some(len) = fit {
                at = start + len;
                let is_header = receiver.dictionary.header().member(field.tag).is_some();
                new.put(self.message.raw(start..at), is_header);
            } else if let Some(conversion) = &mut conversion
                && let Some(len) = self.convert(start, conversion)
            {
                at = start + len;
            } else {
                left(field.tag);
            }
        }
        if let Some(conversion) = conversion {
            let write = |made: MadeReportField<'_>| self.put_made(made, &mut new);
            conversion.finish(side_of(report), receiver.dictionary, write, left);
        }
        let message = receiver.dictionary.message(self.message.msg_type());
        let member = message.and_then(|it| it.member(tag::SECONDARY_EXEC_ID));
        if let Some(exec_id) = self.exec_id.filter(|_| !is_passed)
            && member.is_some()
            && !new.dropped.has(tag::SECONDARY_EXEC_ID)
            && !has(new.body, tag::SECONDARY_EXEC_ID)
        {
            new.put(b"527=", false);
            new.body.extend_from_slice(exec_id);
            new.body.push(SOH);
        }
    }

    /// Number of fields of a field with its group, if the receiver gets it as it is.
    fn fit(&self, start: usize, receiver: &Dictionary, new: &NewReport<'_>) -> Option<usize> {
        let fields = self.message.fields();
        let tag = fields[start].tag;
        let header = receiver.header().member(tag);
        let msg_type = self.message.msg_type();
        let member = header.or_else(|| receiver.message(msg_type)?.member(tag))?;
        let len = match &member.group {
            Some(def) => group_len(def, self.message, &fields[start..]).ok()?,
            None => single_len(self.message, start)?,
        };
        let mut all = fields[start..start + len].iter();
        let is_fit = all.all(|field| {
            let def = receiver.field(field.tag);
            self.passes(field.tag)
                && !new.dropped.has(field.tag)
                && def.is_some_and(|def| allows(def, self.message.value(*field)))
        }) && !self.is_split(start, len, receiver)
            && self.message.raw(start..start + len).len() <= new.room()
            && !has(new.body, tag)
            && !self.goes_on(tag, start + len);
        is_fit.then_some(len)
    }

    /// Whether one of these fields has data that would be read as several fields, or is the length of such data.
    fn is_split(&self, start: usize, len: usize, receiver: &Dictionary) -> bool {
        let (fields, end) = (self.message.fields(), start + len);
        let last = receiver.field(fields[end - 1].tag);
        let data = fields.get(end).map(|it| it.tag);
        let is_length = data.is_some() && last.and_then(|it| it.partner) == data;
        let mut places = start..end + usize::from(is_length);
        places.any(|place| splits(self.message, place))
    }

    /// Adds a field with its group to those that are converted. Returns the number of fields added; `None` if the venue's
    /// dictionary does not have the field, or its group in this form.
    fn convert(&self, start: usize, conversion: &mut ReportConversion<'_>) -> Option<usize> {
        let fields = self.message.fields();
        let (tag, venue) = (fields[start].tag, conversion.venue);
        // The settings name the field as it is.
        if self.is_carried(tag) {
            return None;
        }
        let header = venue.header().member(tag);
        let member = header.or_else(|| venue.message(b"8")?.member(tag))?;
        let len = match &member.group {
            Some(def) => group_len(def, self.message, &fields[start..]).ok()?,
            None => single_len(self.message, start)?,
        };
        let bit = self.bit();
        let mut all = fields[start..start + len].iter();
        let is_passed = all.all(|field| goes_to_client(field.tag, bit));
        let raw = self.message.raw(start..start + len);
        (is_passed && conversion.add(tag, raw)).then_some(len)
    }

    /// Adds a converted field to a report, unless the OMS writes the field itself. Returns false if the report has no
    /// room for it, or has it already.
    fn put_made(&self, made: MadeReportField<'_>, new: &mut NewReport<'_>) -> bool {
        if self.is_said(new.report, made.tag) || self.account_tags.contains(&made.tag) {
            return true;
        }
        let is_dropped = each_field(made.bytes).any(|field| new.dropped.has(field.tag));
        let is_fit = !is_dropped && made.bytes.len() <= new.room() && !has(new.body, made.tag);
        if is_fit {
            new.put(made.bytes, made.is_header);
        }
        is_fit
    }

    /// Whether a report already has a field, or has a Text(58) of the OMS whose encoded form would be this field.
    fn is_said(&self, report: &[u8], tag: Tag) -> bool {
        let is_encoded = matches!(tag, 354 | 355);
        let own =
            each_field(report).find(|it| it.tag == tag || (is_encoded && it.tag == tag::TEXT));
        own.is_some_and(|own| {
            let text = self.message.get(tag::TEXT).unwrap_or_default();
            !is_encoded || !text.starts_with(own.value)
        })
    }

    /// Whether a report has only the begin of the venue's Text(58).
    fn is_cut(&self, report: &[u8]) -> bool {
        let text = self.message.get(tag::TEXT).unwrap_or_default();
        let own = each_field(report).find(|it| it.tag == tag::TEXT);
        own.is_some_and(|own| own.value.len() < text.len() && text.starts_with(own.value))
    }
}

/// A report to which fields of a venue are added.
struct NewReport<'a> {
    /// The report without them.
    report: &'a [u8],
    /// The report with them; empty until the first one.
    body: &'a mut Vec<u8>,
    /// Where the next field of the header is written.
    front: usize,
    /// The fields that the receiver does not get.
    dropped: &'a ReportTags,
}

impl NewReport<'_> {
    /// Number of bytes that may still be added.
    fn room(&self) -> usize {
        MOST + self.report.len() - self.body.len().max(self.report.len())
    }

    fn put(&mut self, field: &[u8], is_header: bool) {
        if self.body.is_empty() {
            self.body.extend_from_slice(self.report);
        }
        if is_header {
            let bytes = field.iter().copied();
            self.body.splice(self.front..self.front, bytes);
            self.front += field.len();
        } else {
            self.body.extend_from_slice(field);
        }
    }
}

/// Writes a report with another ExecID(17).
fn put_exec_id(report: &[u8], id: &[u8], new: &mut Vec<u8>) {
    for field in each_field(report) {
        match field.tag {
            tag::EXEC_ID => {
                new.extend_from_slice(b"17=");
                new.extend_from_slice(id);
                new.push(SOH);
            }
            _ => new.extend_from_slice(field.bytes),
        }
    }
}

/// Side(54) of a report.
fn side_of(report: &[u8]) -> u8 {
    let side = each_field(report).find(|field| field.tag == tag::SIDE);
    side.and_then(|field| field.value.first().copied())
        .unwrap_or(b'1')
}

/// Whether a body has a field with this tag.
fn has(body: &[u8], tag: Tag) -> bool {
    each_field(body).any(|field| field.tag == tag)
}
