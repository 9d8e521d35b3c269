//! Converts the fields of a venue's report, for a client or a drop copy of another FIX version.
//!
//! The receiver gets a field unchanged if its dictionary has it. The conversion tables convert the other fields of the
//! report together. A field that they lose is left out.

use alloc::vec::Vec;
use core::mem;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Decoder, Dictionary, Tag, tag};
use fixwire_transform::Draft;

use super::{BYTES, FieldConverter, OwnField, VersionPair, own};
use crate::values::fields::carried::{allows, each_field, group_len, single_len};
use crate::values::fields::field_table::{goes_to_client, report_bit};
use crate::values::ids::SessionNo;

/// The fields without which no version has the report. Of these, tables see only Side(54) with its value.
const OWN: [OwnField; 14] = [
    own(tag::ORDER_ID, b"1"),
    own(tag::CL_ORD_ID, b"1"),
    own(tag::EXEC_ID, b"1"),
    own(tag::EXEC_TRANS_TYPE, b"0"),
    own(tag::EXEC_TYPE, b"0"),
    own(tag::ORD_STATUS, b"0"),
    own(tag::SYMBOL, b"1"),
    own(tag::ORDER_QTY, b"1"),
    own(tag::LAST_QTY, b"0"),
    own(tag::LAST_PX, b"0"),
    own(tag::LEAVES_QTY, b"1"),
    own(tag::CUM_QTY, b"0"),
    own(tag::AVG_PX, b"0"),
    own(tag::TRANSACT_TIME, b"20000101-00:00:00"),
];

/// Whether the OMS writes a field of each report itself.
fn is_own(tag: Tag) -> bool {
    tag == tag::SIDE || OWN.iter().any(|own| own.tag == tag)
}

/// The conversion of the fields of one report.
#[derive(Debug)]
pub(crate) struct ReportConversion<'a> {
    pair: &'a mut VersionPair,
    draft: &'a mut Draft,
    decoder: &'a mut Decoder,
    /// The dictionary of the venue's session.
    pub venue: &'a Dictionary,
    /// The fields to convert.
    moved: &'a mut Vec<u8>,
    /// Those of them that can be converted.
    kept: &'a mut Vec<u8>,
    /// A buffer for one of them.
    single: &'a mut Vec<u8>,
}

/// A field of a converted report, with its group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadeReportField<'a> {
    pub tag: Tag,
    pub bytes: &'a [u8],
    pub is_header: bool,
}

impl FieldConverter {
    /// The conversion of a report of a line; `None` if the receiver has the FIX version of the line, or one to which no
    /// table converts.
    pub(crate) fn report(
        &mut self,
        line: Option<SessionNo>,
        receiver: Version,
    ) -> Option<ReportConversion<'_>> {
        let Self {
            sessions,
            pairs,
            draft,
            decoder,
            header,
            body,
            moved,
            has_versions: _,
            tables: _,
        } = self;
        let venue = sessions.get(line?)?.as_ref()?;
        let mut pairs = pairs.iter_mut();
        let pair = pairs.find(|it| (it.from, it.to) == (venue.version, receiver))?;
        moved.clear();
        Some(ReportConversion {
            pair,
            draft,
            decoder,
            venue: &venue.dictionary,
            moved,
            kept: body,
            single: header,
        })
    }
}

impl ReportConversion<'_> {
    /// Adds a field, with its group, to the fields to convert; returns false for a field that was added before, and when
    /// there are too many.
    pub(crate) fn add(&mut self, tag: Tag, field: &[u8]) -> bool {
        let is_new = !each_field(self.moved).any(|known| known.tag == tag);
        let has_room = self.moved.len() + field.len() <= BYTES;
        if is_new && has_room {
            self.moved.extend_from_slice(field);
        }
        is_new && has_room
    }

    /// Converts the added fields. `write` gets each field that the receiver can have, and returns whether it has written
    /// the field; `left` gets the tags of all others, as the venue or a table gave them.
    pub(crate) fn finish(
        mut self,
        side: u8,
        receiver: &Dictionary,
        mut write: impl FnMut(MadeReportField<'_>) -> bool,
        mut left: impl FnMut(Tag),
    ) {
        if self.moved.is_empty() {
            return;
        }
        if !self.run(side) {
            self.keep_convertible(side, &mut left);
            if self.moved.is_empty() || !self.run(side) {
                return each_field(self.moved).for_each(|field| left(field.tag));
            }
        }
        let Self {
            pair,
            draft,
            decoder,
            ..
        } = self;
        let lost = pair.conversion.lost().iter();
        lost.filter(|tag| !is_own(**tag)).for_each(|tag| left(*tag));
        let bit = report_bit(b"8");
        let message = decoder.decode_whole(draft.encode());
        let fields = message.fields();
        let mut at = 0;
        while let Some(first) = fields.get(at) {
            let start = at;
            at += 1;
            if is_own(first.tag) {
                continue;
            }
            let of_header = receiver.header().member(first.tag);
            let of_message = receiver.message(b"8");
            let member = of_header.or_else(|| of_message?.member(first.tag));
            let len = member.and_then(|member| match &member.group {
                Some(def) => group_len(def, &message, &fields[start..]).ok(),
                None => single_len(&message, start),
            });
            at = start + len.unwrap_or(1);
            let is_taken = len.is_some()
                && fields[start..at].iter().all(|field| {
                    let def = receiver.field(field.tag);
                    goes_to_client(field.tag, bit)
                        && def.is_some_and(|def| allows(def, message.value(*field)))
                });
            let made = MadeReportField {
                tag: first.tag,
                bytes: message.raw(start..at),
                is_header: of_header.is_some(),
            };
            if !is_taken || !write(made) {
                fields[start..at].iter().for_each(|field| left(field.tag));
            }
        }
    }

    /// Converts all fields; returns false when they cannot be converted, or only with another Side(54).
    fn run(&mut self, side: u8) -> bool {
        self.draft.begin(b"8");
        for own in &OWN {
            self.draft.push(own.tag, own.value);
        }
        self.draft.push(tag::SIDE, &[side]);
        for field in each_field(self.moved) {
            self.draft.push(field.tag, field.value);
        }
        let VersionPair {
            conversion, losses, ..
        } = &mut *self.pair;
        let converted = conversion.convert(self.draft, losses);
        converted.is_ok() && self.draft.get(tag::SIDE) == Some(&[side][..])
    }

    /// Removes the fields that cannot be converted without the others, and passes their tags to `left`.
    fn keep_convertible(&mut self, side: u8, left: &mut impl FnMut(Tag)) {
        // The three buffers change places, so that none is allocated.
        let all = mem::replace(self.moved, mem::take(self.single));
        let mut kept = mem::take(self.kept);
        kept.clear();
        let mut rest = &all[..];
        while !rest.is_empty() {
            let (one, after) = self.split_unit(rest);
            rest = after;
            self.moved.clear();
            self.moved.extend_from_slice(one);
            match self.run(side) {
                true => kept.extend_from_slice(one),
                false => each_field(one).for_each(|field| left(field.tag)),
            }
        }
        let single = mem::replace(self.moved, kept);
        (*self.kept, *self.single) = (single, all);
    }

    /// The first field with its group, and the fields after it.
    fn split_unit<'m>(&mut self, fields: &'m [u8]) -> (&'m [u8], &'m [u8]) {
        let message = self.decoder.decode_whole(fields);
        let first = message.fields().first().map_or(0, |field| field.tag);
        let def = self.venue.group(b"8", first);
        let len = match def {
            Some(def) => group_len(def, &message, message.fields()).ok(),
            None => single_len(&message, 0),
        };
        let len = len.unwrap_or(1).min(message.fields().len());
        fields.split_at(message.raw(0..len).len())
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;
    use alloc::vec;

    use super::*;
    use crate::values::fields::contract::Contract;
    use crate::values::fields::conversion::{ConvertingSession, VersionChange};

    #[test]
    fn a_report_of_which_a_table_refuses_a_field_needs_no_further_memory() {
        let [from, to] = [Version::Fix42, Version::Fix44];
        let sessions = [from, to].map(|version| {
            Some(ConvertingSession {
                version,
                dictionary: Arc::new(Dictionary::built_in(version)),
                contract: Contract::default(),
            })
        });
        let mut converter = FieldConverter::default();
        let change = VersionChange { from, to };
        converter.prepare(sessions.into_iter().collect(), [change].into_iter());
        let buffers = |it: &FieldConverter| [&it.header, &it.body, &it.moved].map(Vec::as_ptr);
        let [header, body, moved] = buffers(&converter);
        let receiver = Dictionary::built_in(to);
        let conversion = converter.report(Some(SessionNo::new(0)), to);
        let mut conversion = conversion.expect("a table");
        assert!(conversion.add(47, b"47=B\x01") && conversion.add(109, b"109=CL\x01"));
        let (mut written, mut left) = (Vec::new(), Vec::new());
        let write = |made: MadeReportField<'_>| {
            written.push(made.tag);
            true
        };
        conversion.finish(b'5', &receiver, write, |tag| left.push(tag));
        assert_eq!((written, left), (vec![453], vec![47]));
        // The buffers that were set aside have changed places, and none is a new one.
        assert_eq!(buffers(&converter), [moved, header, body]);
    }
}
