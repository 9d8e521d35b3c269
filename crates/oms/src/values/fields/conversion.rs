//! Converts the fields that a request carries, where the client and the line have different FIX versions; `reports`
//! converts the fields of venues' reports.
//!
//! A field that both dictionaries define alike is passed on unchanged, and so is a field that a contract names. The
//! conversion tables of `fixwire-transform` convert all other fields together.

use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Decoder, Dictionary, Field, Message, Tag, tag};
use fixwire_transform::Draft;
use fixwire_transform::convert::{BuiltInConversions, Conversion, Losses};

use super::carried::{CarriedFields, SentBecause, allows, each_field, fault, group_len};
use super::contract::{Contract, Passage, Treatment};
use super::field_table::{is_instruction, request_bit, request_treatment};
use crate::values::ids::{SessionNo, Table};
use crate::values::rules::ConversionFiles;
use crate::values::value::Side;

pub(crate) mod reports;

/// MessageEncoding(347), which the tables always convert: FIX 4.2 has the value SHIFT_JIS, FIX 4.4 Shift_JIS, and
/// dictionaries accept both.
pub(crate) const MESSAGE_ENCODING: Tag = 347;

/// Maximum number of fields of a converted message.
const FIELDS: usize = 256;
/// Maximum length of the values of a converted message for which memory is set aside, in bytes.
const BYTES: usize = 8 << 10;

/// What the conversion needs to know of a FIX session.
#[derive(Clone, Debug)]
pub(crate) struct ConvertingSession {
    pub version: Version,
    pub dictionary: Arc<Dictionary>,
    /// The contract of the client's user, or of the line's group.
    pub contract: Contract,
}

/// The FIX versions of a sender and of a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VersionChange {
    pub from: Version,
    pub to: Version,
}

/// The conversion from one FIX version to another.
#[derive(Clone, Debug)]
struct VersionPair {
    from: Version,
    to: Version,
    conversion: Conversion,
    losses: Losses,
}

/// Converts carried fields between FIX versions. Has its working memory from the start.
#[derive(Clone, Debug)]
pub(crate) struct FieldConverter {
    /// The FIX sessions of the state.
    sessions: Table<SessionNo, Option<ConvertingSession>>,
    /// Whether not all of these sessions have the same version.
    has_versions: bool,
    /// The tables that were read so far.
    tables: BuiltInConversions,
    pairs: Vec<VersionPair>,
    draft: Draft,
    decoder: Decoder,
    header: Vec<u8>,
    body: Vec<u8>,
    /// The fields that the tables convert.
    moved: Vec<u8>,
}

impl Default for FieldConverter {
    fn default() -> Self {
        Self {
            sessions: Table::default(),
            has_versions: false,
            tables: BuiltInConversions::default(),
            pairs: Vec::new(),
            draft: Draft::default(),
            decoder: Decoder::with_capacity(0),
            header: Vec::new(),
            body: Vec::new(),
            moved: Vec::new(),
        }
    }
}

/// A request that is sent from a client to a line with carried fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CarryingRequest<'a> {
    pub client: SessionNo,
    pub line: SessionNo,
    /// MsgType(35): D, G or F.
    pub msg_type: &'a [u8],
    pub side: Side,
    pub fields: CarriedFields<'a>,
    /// Whether the request is of the OMS itself and only repeats who sent the order. Fields that the line cannot get are
    /// left out.
    pub by_oms: bool,
}

/// A field of the OMS itself, which a conversion table may read.
#[derive(Clone, Copy)]
struct OwnField {
    tag: Tag,
    value: &'static [u8],
}

const fn own(tag: Tag, value: &'static [u8]) -> OwnField {
    OwnField { tag, value }
}

/// The fields without which no version has the request. Of these, tables see only Side(54) with its value.
const OWN: [OwnField; 7] = [
    own(tag::CL_ORD_ID, b"1"),
    own(tag::ORIG_CL_ORD_ID, b"1"),
    own(tag::SYMBOL, b"1"),
    own(tag::TRANSACT_TIME, b"20000101-00:00:00"),
    own(tag::ORDER_QTY, b"1"),
    own(tag::HANDL_INST, b"1"),
    own(tag::ORD_TYPE, b"1"),
];

/// The type of a cancel, which only FIX 4.0 has: for the whole quantity.
const CXL_TYPE: OwnField = own(125, b"F");

/// The fields of [`OWN`] that a request has.
fn own_fields(msg_type: &[u8]) -> impl Iterator<Item = &'static OwnField> {
    let len = match msg_type {
        b"F" => 5,
        _ => OWN.len(),
    };
    let of_order = msg_type == b"D";
    let cancel = (msg_type == b"F").then_some(&CXL_TYPE);
    let fields = OWN[..len].iter();
    let fields = fields.filter(move |it| !(of_order && it.tag == tag::ORIG_CL_ORD_ID));
    fields.chain(cancel)
}

/// Number of fields of a field with its group, if it counts one in one of the requests that carry fields.
///
/// # Errors
///
/// The tag of the NumInGroup field, when its value is not the number of entries.
fn unit_len(
    dictionary: &Dictionary,
    msg_type: &[u8],
    message: &Message<'_>,
    fields: &[Field],
) -> Result<usize, Tag> {
    let Some(first) = fields.first() else {
        return Ok(0);
    };
    let types = [msg_type, b"D", b"G", b"F", b"S"];
    let mut groups = types.iter().map(|it| dictionary.group(it, first.tag));
    let def = groups.find_map(|def| def);
    def.map_or(Ok(1), |def| group_len(def, message, fields))
}

impl FieldConverter {
    /// A converter with the tables of the settings, and the built-in ones for all other versions.
    pub(crate) fn with(files: &ConversionFiles) -> Self {
        Self {
            tables: files.over(BuiltInConversions::default()),
            ..Self::default()
        }
    }

    /// Uses tables that were read already.
    pub(crate) fn use_tables(&mut self, tables: BuiltInConversions) {
        self.tables = tables;
    }

    /// Makes the conversions between the versions of senders and receivers that do not exist yet, and takes the
    /// sessions of the state.
    pub(crate) fn prepare(
        &mut self,
        sessions: Table<SessionNo, Option<ConvertingSession>>,
        pairs: impl Iterator<Item = VersionChange>,
    ) {
        let mut versions = sessions.iter().flatten().map(|it| it.version);
        let first = versions.next();
        self.has_versions = versions.any(|it| Some(it) != first);
        self.sessions = sessions;
        for VersionChange { from, to } in pairs {
            if self.pairs.iter().any(|it| (it.from, it.to) == (from, to)) {
                continue;
            }
            let Some(conversion) = self.tables.conversion(from, to) else {
                continue;
            };
            self.pairs.push(VersionPair {
                from,
                to,
                losses: conversion.losses(),
                conversion,
            });
        }
        self.set_aside();
    }

    /// Sets aside the working memory, if fields can be converted at all.
    fn set_aside(&mut self) {
        if !self.pairs.is_empty() {
            self.draft = Draft::with_capacity(FIELDS, BYTES);
            self.decoder = Decoder::with_capacity(FIELDS);
            let buffers = [&mut self.header, &mut self.body, &mut self.moved];
            buffers.into_iter().for_each(|it| it.reserve(BYTES));
        }
    }

    /// A second converter with the same tables and a working memory of its own.
    pub(crate) fn another(&self) -> Self {
        let mut other = self.clone();
        other.set_aside();
        other
    }

    /// Whether a client and a line have different versions, between which fields can be converted.
    #[inline]
    pub(crate) fn is_between(&self, client: SessionNo, line: SessionNo) -> bool {
        let of = |number| self.sessions.get(number).and_then(Option::as_ref);
        let (client, line) = (of(client), of(line));
        client.map(|it| it.version) != line.map(|it| it.version)
            && client.is_some()
            && line.is_some()
    }

    /// Whether a client and a line may have different versions.
    #[inline]
    pub(crate) fn has_versions(&self) -> bool {
        self.has_versions
    }

    /// Whether two lines get the same fields of each request.
    pub(crate) fn treats_alike(&self, one: SessionNo, other: SessionNo) -> bool {
        let of = |number| self.sessions.get(number).and_then(Option::as_ref);
        match (of(one), of(other)) {
            (Some(one), Some(other)) => {
                one.version == other.version
                    && Arc::ptr_eq(&one.dictionary, &other.dictionary)
                    && one.contract == other.contract
            }
            _ => false,
        }
    }

    /// The fields of a request as its line gets them; `None` if it gets them as the client sent them.
    ///
    /// # Errors
    ///
    /// The tag of a field that the line cannot get, neither unchanged nor converted.
    #[cold]
    pub(crate) fn convert(
        &mut self,
        request: &CarryingRequest<'_>,
    ) -> Result<Option<CarriedFields<'_>>, Tag> {
        match self.is_between(request.client, request.line) {
            true => self.fit(request),
            false => Ok(None),
        }
    }

    /// Checks that a line gets the fields of a request, also a line of the client's FIX version: its dictionary may have
    /// changed since the request came in.
    ///
    /// # Errors
    ///
    /// The tag of a field that the line cannot get, neither unchanged nor converted.
    #[cold]
    pub(crate) fn check(&mut self, request: &CarryingRequest<'_>) -> Result<(), Tag> {
        self.fit(request).map(|_| ())
    }

    /// Gives the sessions other contracts.
    pub(crate) fn set_contracts(&mut self, contract_of: impl Fn(SessionNo) -> Contract) {
        let numbers: Vec<SessionNo> = self.sessions.numbered().map(|(it, _)| it).collect();
        for number in numbers {
            if let Some(session) = &mut self.sessions[number] {
                session.contract = contract_of(number);
            }
        }
    }

    fn fit(&mut self, request: &CarryingRequest<'_>) -> Result<Option<CarriedFields<'_>>, Tag> {
        let Self {
            sessions,
            has_versions: _,
            tables: _,
            pairs,
            draft,
            decoder,
            header,
            body,
            moved,
        } = self;
        let of = |number| sessions.get(number).and_then(Option::as_ref);
        let (Some(client), Some(line)) = (of(request.client), of(request.line)) else {
            return Ok(None);
        };
        let buffers = [&mut *header, &mut *body, &mut *moved];
        buffers.into_iter().for_each(Vec::clear);
        let is_pair = |it: &VersionPair| (it.from, it.to) == (client.version, line.version);
        let has_tables = pairs.iter().any(is_pair);
        let msg_type = request.msg_type;
        let parts = [
            (request.fields.header, &mut *header),
            (request.fields.body, &mut *body),
        ];
        for (part, unchanged) in parts {
            let message = decoder.decode_whole(part);
            let fields = message.fields();
            let mut at = 0;
            while let Some(first) = fields.get(at) {
                let contracts = [&client.contract, &line.contract];
                let is_named = |tag| contracts.iter().any(|it| it.of(tag).is_some());
                let len = match unit_len(&client.dictionary, msg_type, &message, &fields[at..]) {
                    Ok(len) => len,
                    // A fixed value need not count entries.
                    Err(_) if is_named(first.tag) => 1,
                    Err(tag) => return Err(tag),
                };
                let unit = &fields[at..at + len];
                let of_line = line.dictionary.message(msg_type);
                let lacks = of_line.is_some_and(|it| it.member(first.tag).is_none());
                if lacks && is_instruction(first.tag) {
                    return Err(first.tag);
                }
                let names_member = unit.iter().any(|field| is_named(field.tag));
                let is_alike = || {
                    // A contract may have changed the value that the client sent.
                    let why = match names_member && client.version == line.version {
                        true => SentBecause::Named,
                        false => SentBecause::OfTable,
                    };
                    let (from, to) = (&client.dictionary, &line.dictionary);
                    fault(&message, msg_type, unit, why, from, to).is_ok()
                };
                let is_renamed = has_tables && first.tag == MESSAGE_ENCODING;
                let to = match is_named(first.tag) || (!is_renamed && is_alike()) {
                    true => &mut *unchanged,
                    // The contract for a member is one for the group as the client sent it.
                    false if names_member => return Err(first.tag),
                    false => &mut *moved,
                };
                to.extend_from_slice(message.raw(at..at + len));
                at += len;
            }
        }
        if moved.is_empty() {
            return Ok(None);
        }
        let mut pairs = pairs.iter_mut();
        let pair = pairs.find(|it| is_pair(it));
        let pair = pair.ok_or_else(|| first_tag(moved))?;
        let mut work = ConvertingWork {
            pair,
            draft,
            decoder,
            client,
            line,
            msg_type,
            side: request.side,
        };
        let unchanged = [header.len(), body.len()];
        if request.by_oms {
            work.keep_convertible(moved);
        }
        match work.run(moved, header, body) {
            Ok(()) => {}
            Err(_) if request.by_oms => {
                header.truncate(unchanged[0]);
                body.truncate(unchanged[1]);
            }
            Err(tag) => return Err(tag.unwrap_or_else(|| work.culprit(moved))),
        }
        Ok(Some(CarriedFields {
            header,
            body,
            kept: b"",
        }))
    }
}

/// The first tag of these fields; 0 if there is no field.
fn first_tag(fields: &[u8]) -> Tag {
    each_field(fields).next().map_or(0, |field| field.tag)
}

fn has(fields: &[u8], tag: Tag) -> bool {
    each_field(fields).any(|field| field.tag == tag)
}

/// The conversion of the fields of one request.
struct ConvertingWork<'a> {
    pair: &'a mut VersionPair,
    draft: &'a mut Draft,
    decoder: &'a mut Decoder,
    client: &'a ConvertingSession,
    line: &'a ConvertingSession,
    msg_type: &'a [u8],
    side: Side,
}

impl ConvertingWork<'_> {
    /// Converts fields, and adds them to the fields that the line gets.
    ///
    /// # Errors
    ///
    /// The tag of the field that cannot be converted; `None` if it is not known which of the fields that is.
    fn run(
        &mut self,
        moved: &[u8],
        header: &mut Vec<u8>,
        body: &mut Vec<u8>,
    ) -> Result<(), Option<Tag>> {
        let known = |tag: Tag| has(moved, tag).then_some(tag);
        self.load(moved);
        let VersionPair {
            conversion, losses, ..
        } = &mut *self.pair;
        let converted = conversion.convert(self.draft, losses);
        converted.map_err(|failure| failure.tag().and_then(known))?;
        // A table may lose a field under a tag that another table has given it.
        let is_own =
            |tag: Tag| tag == tag::SIDE || own_fields(self.msg_type).any(|it| it.tag == tag);
        if let Some(lost) = conversion.lost().iter().find(|tag| !is_own(**tag)) {
            return Err(known(*lost));
        }
        let side = [self.side.byte()];
        let bit = request_bit(self.msg_type);
        let message = self.decoder.decode_whole(self.draft.encode());
        let dictionary = &self.line.dictionary;
        let fields = message.fields();
        let mut at = 0;
        while let Some(first) = fields.get(at) {
            let (tag, value) = (first.tag, message.value(*first));
            let own = own_fields(self.msg_type).find(|it| it.tag == tag);
            let own = match tag {
                tag::SIDE => Some(&side[..]),
                _ => own.map(|it| it.value),
            };
            if let Some(own) = own {
                // The OMS writes this field, and no conversion may change it.
                if own != value {
                    return Err(None);
                }
                at += 1;
                continue;
            }
            let of_header = dictionary.header().member(tag);
            let of_message = dictionary.message(self.msg_type);
            let member = of_header.or_else(|| of_message?.member(tag)).ok_or(None)?;
            let len = match &member.group {
                Some(def) => group_len(def, &message, &fields[at..]).map_err(|_| None)?,
                None => 1,
            };
            let is_dropped = self.line.contract.of(tag) == Some(Treatment::Drop);
            for field in &fields[at..at + len] {
                let value = message.value(*field);
                let def = dictionary.field(field.tag);
                let treatment = self.line.contract.of(field.tag);
                let is_taken = match treatment.map(|it| it.pass(value)) {
                    Some(Passage::Value(_)) => true,
                    // Without one of its members, a group would be another one.
                    Some(Passage::Dropped) => is_dropped,
                    Some(Passage::Refused) => false,
                    None => request_treatment(field.tag, bit) == Some(Treatment::Carry),
                };
                if !is_taken || !def.is_some_and(|def| allows(def, value)) {
                    return Err(known(field.tag));
                }
            }
            if has(header, tag) || has(body, tag) {
                return Err(None);
            }
            let to = match of_header.is_some() {
                true => &mut *header,
                false => &mut *body,
            };
            to.extend_from_slice(message.raw(at..at + len));
            at += len;
        }
        Ok(())
    }

    /// Loads fields into the draft, after the fields that the OMS writes.
    fn load(&mut self, fields: &[u8]) {
        self.draft.begin(self.msg_type);
        for own in own_fields(self.msg_type) {
            self.draft.push(own.tag, own.value);
        }
        self.draft.push(tag::SIDE, &[self.side.byte()]);
        for field in each_field(fields) {
            self.draft.push(field.tag, field.value);
        }
    }

    /// The tag of the first field that cannot be converted without the others; if each can, the tag of the first one.
    fn culprit(&mut self, moved: &[u8]) -> Tag {
        let mut rest = moved;
        while !rest.is_empty() {
            let (one, after) = self.split_unit(rest);
            rest = after;
            if let Err(tag) = self.run(one, &mut Vec::new(), &mut Vec::new()) {
                return tag.unwrap_or_else(|| first_tag(one));
            }
        }
        first_tag(moved)
    }

    /// Removes the fields that cannot be converted, neither alone nor together with those that stay. A field may need
    /// another one, as ClearingAccount(440) needs ClearingFirm(439), which may come later.
    fn keep_convertible(&mut self, moved: &mut Vec<u8>) {
        if self.run(moved, &mut Vec::new(), &mut Vec::new()).is_ok() {
            return;
        }
        let mut left = core::mem::take(moved);
        loop {
            let (before, mut rest) = (left.len(), &left[..]);
            let mut lost = Vec::new();
            while !rest.is_empty() {
                let (one, after) = self.split_unit(rest);
                rest = after;
                let len = moved.len();
                moved.extend_from_slice(one);
                if self.run(moved, &mut Vec::new(), &mut Vec::new()).is_err() {
                    moved.truncate(len);
                    lost.extend_from_slice(one);
                }
            }
            if lost.is_empty() || lost.len() == before {
                return;
            }
            left = lost;
        }
    }

    /// The first field with its group, and the fields after it.
    fn split_unit<'m>(&mut self, fields: &'m [u8]) -> (&'m [u8], &'m [u8]) {
        let message = self.decoder.decode_whole(fields);
        let dictionary = &self.client.dictionary;
        let len = unit_len(dictionary, self.msg_type, &message, message.fields()).unwrap_or(1);
        let len = message.raw(0..len.max(1)).len();
        fields.split_at(len)
    }
}
