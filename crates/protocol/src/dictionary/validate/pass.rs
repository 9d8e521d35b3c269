//! The validation pass over the fields of a message and the entries of its groups.

use super::check::{Check, MessagePart, Near};
use super::shapes::Known;
use super::{RejectReason, ValidationFault, ValidationRules};
use crate::decimal::digits::{is_short_decimal, is_short_number};
use crate::dictionary::{Dictionary, FIRST_USER_DEFINED, GroupDef, MessageDef, has};
use crate::message::{Field, Message};
use crate::time::LastMinute;
use crate::{MessageLimit, Tag, tag};

/// The definitions that the fields of one message are validated against.
pub(super) struct Pass<'a> {
    pub dictionary: &'a Dictionary,
    pub message: &'a Message<'a>,
    pub rules: &'a ValidationRules,
    pub definition: &'a MessageDef,
    pub fields: &'a [Field],
}

/// The fields of a valid message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum ValidFields {
    /// All fields are certainly valid and outside groups.
    Plain,
    /// As `Plain`, apart from groups.
    Groups,
    /// The message has other fields, which needed a closer look.
    Others,
}

impl Pass<'_> {
    /// Checks all fields against the definition. `open` has a bit for each field that the message may still have
    /// outside groups. The bits of the fields that were found are cleared.
    pub fn fields(
        &self,
        open: &mut [u64],
        entries: &mut [u64],
        times: &mut LastMinute,
    ) -> Result<ValidFields, ValidationFault> {
        let mut part = MessagePart::Header;
        let mut at = 0;
        let mut found = ValidFields::Plain;
        loop {
            at = self.plain_fields(at, &mut part, open, times);
            let Some(&field) = self.fields.get(at) else {
                return Ok(found);
            };
            let Some(slot) = self.place(at, &mut part, open)? else {
                found = ValidFields::Others;
                at += 1;
                continue;
            };
            let check = &self.dictionary.checks[slot];
            self.value(check, slot, at, times)?;
            if !check.opens_group() {
                found = ValidFields::Others;
            } else if found == ValidFields::Plain {
                found = ValidFields::Groups;
            }
            at += 1;
            if check.opens_group()
                && let Some(group) = self.group(field.tag, slot)
            {
                let mut held = None;
                at = self.entries(group, at, entries, times, None, &mut held)?;
                if let Some(fault) = held {
                    return Err(fault);
                }
            }
        }
    }

    /// Skips fields that are certainly valid: they are in their place, appear once, begin no group, and have a value
    /// that is certainly valid. Returns the index of the first other field, about which nothing has been recorded.
    ///
    /// Nearly all fields end here, so this loop is kept small enough for the registers.
    #[inline(never)]
    fn plain_fields(
        &self,
        from: usize,
        part: &mut MessagePart,
        open: &mut [u64],
        times: &mut LastMinute,
    ) -> usize {
        let mut fields = self.fields.get(from..).unwrap_or_default();
        let near = &*self.dictionary.near;
        let mut now = *part as u8;
        while let [field, rest @ ..] = fields
            && let Some(near) = near.get(field.tag as usize)
            && let slot = usize::from(near.slot())
            && let Some(open) = open.get_mut(slot / 64)
            && *open >> (slot % 64) & 1 == 1
            && near.part() >= now
            && self.surely_takes(*near, field, times)
        {
            *open &= !(1 << (slot % 64));
            now = near.part();
            fields = rest;
        }
        *part = MessagePart::numbered(now);
        self.fields.len() - fields.len()
    }

    /// Whether the message has the fields of an earlier message, and all values are certainly valid. The number of
    /// fields is the same.
    #[inline(never)]
    pub fn is_like(&self, known: &[Known], times: &mut LastMinute) -> bool {
        self.fields.iter().zip(known).all(|(field, known)| {
            field.tag == known.tag && self.surely_takes(known.near, field, times)
        })
    }

    /// The facts that the quick check needs about the fields of a valid message with groups, one by one; `None` for a
    /// field that the quick check does not accept, or a group with more than nine entries.
    ///
    /// The allowed order of fields depends on the counts of groups, so the quick check must compare these.
    pub fn known_with_groups(&self, times: &mut LastMinute) -> impl Iterator<Item = Option<Near>> {
        let mut group: Option<&GroupDef> = None;
        self.fields.iter().map(move |field| {
            let near = self.dictionary.near(field.tag);
            let slot = usize::from(near.slot());
            let check = self.dictionary.checks.get(slot)?;
            let is_nested = group.is_some_and(|group| nests(group, field.tag));
            if check.opens_group() || is_nested {
                let [digit @ b'1'..=b'9'] = self.message.value(*field) else {
                    return None;
                };
                group = self.group(field.tag, slot).or(group);
                return Some(near.counting(*digit));
            }
            let value = self.message.value(*field);
            (!value.is_empty() && check.takes(value, times)).then_some(near)
        })
    }

    /// Whether the field has a value that is certainly valid.
    #[inline(always)]
    fn surely_takes(&self, near: Near, field: &Field, times: &mut LastMinute) -> bool {
        if field.start >= field.end {
            return false;
        }
        if near.takes_any() {
            return true;
        }
        let bytes = self.message.bytes();
        let (start, end) = (field.start as usize, field.end as usize);
        let slot = usize::from(near.slot());
        let quick = if near.takes_letters() {
            self.is_listed_letter(slot, *field)
        } else if near.takes_digits() {
            is_short_number(bytes, start, end)
                || near.takes_decimals() && is_short_decimal(bytes, start, end)
        } else if near.takes_times() {
            times.has_milliseconds(bytes, start, end)
        } else if let Some(digit) = near.count() {
            // With another count, other fields may follow.
            return *self.message.value(*field) == [digit];
        } else {
            false
        };
        quick || self.takes(slot, *field, times)
    }

    #[inline(always)]
    fn is_listed_letter(&self, slot: usize, field: Field) -> bool {
        let letter = self.message.bytes().get(field.start as usize);
        match (self.dictionary.checks.get(slot), letter) {
            (Some(check), Some(letter)) => {
                field.end - field.start == 1 && check.lists_letter(*letter)
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn takes(&self, slot: usize, field: Field, times: &mut LastMinute) -> bool {
        let check = self.dictionary.checks.get(slot);
        check.is_some_and(|check| check.takes(self.message.value(field), times))
    }

    /// Finds the place of a field and records that the field is present; see [`Pass::unusual`].
    fn place(
        &self,
        at: usize,
        part: &mut MessagePart,
        open: &mut [u64],
    ) -> Result<Option<usize>, ValidationFault> {
        let slot = self.dictionary.near_slot(self.fields[at].tag);
        if let Some(check) = self.dictionary.checks.get(slot)
            && has(open, slot)
            && check.part >= *part
        {
            open[slot / 64] &= !(1 << (slot % 64));
            *part = check.part;
            return Ok(Some(slot));
        }
        self.unusual(at, part, open)
    }

    /// Handles a field that is unknown, has appeared before, or is in the wrong part of the message. Returns its slot
    /// if the dictionary has the field and the rules allow it.
    #[cold]
    fn unusual(
        &self,
        at: usize,
        part: &mut MessagePart,
        open: &mut [u64],
    ) -> Result<Option<usize>, ValidationFault> {
        let Some(slot) = self.dictionary.slot(self.fields[at].tag) else {
            self.unknown(at)?;
            *part = (*part).max(MessagePart::Body);
            return Ok(None);
        };
        let check = &self.dictionary.checks[slot];
        let of_body = has(&self.definition.allowed, slot);
        let own = match check.part {
            // A few fields belong to the header and also to the body of some messages.
            MessagePart::Header if of_body && *part == MessagePart::Body => MessagePart::Body,
            MessagePart::Body if !of_body => {
                self.stranger(check, at)?;
                MessagePart::Body
            }
            own => own,
        };
        if own < *part && self.rules.fields_out_of_order {
            return Err(ValidationFault::at(
                RejectReason::TagOutOfRequiredOrder,
                self.fields,
                at,
            ));
        }
        *part = own.max(*part);
        let again = has(&self.definition.places, slot) && !has(open, slot);
        if again && self.rules.duplicate_tags {
            return Err(ValidationFault::at(
                RejectReason::TagAppearsMoreThanOnce,
                self.fields,
                at,
            ));
        }
        open[slot / 64] &= !(1 << (slot % 64));
        Ok(Some(slot))
    }

    fn value(
        &self,
        check: &Check,
        slot: usize,
        at: usize,
        times: &mut LastMinute,
    ) -> Result<(), ValidationFault> {
        let text = self.message.value(self.fields[at]);
        if !text.is_empty() && check.takes(text, times) {
            return Ok(());
        }
        self.doubtful(check, slot, text, at)
    }

    /// Checks a value that the quick check did not accept. The value is empty, consists of several values, is long,
    /// or is wrong.
    #[cold]
    fn doubtful(
        &self,
        check: &Check,
        slot: usize,
        text: &[u8],
        at: usize,
    ) -> Result<(), ValidationFault> {
        if text.is_empty() {
            return self.not_empty(at);
        }
        if self.rules.formats && !check.kind.accepts(text) {
            return Err(ValidationFault::at(
                RejectReason::IncorrectDataFormat,
                self.fields,
                at,
            ));
        }
        let field = &self.dictionary.fields[slot];
        let good = match check.kind.is_multiple() {
            true => text
                .split(|&byte| byte == b' ')
                .all(|part| field.allows(part)),
            false => field.allows(text),
        };
        // Some NumInGroup fields also list values: NoSides(552) is 1 or 2.
        let is_listed = check.is_listed() || (check.opens_group() && !field.values.is_empty());
        if !is_listed || good || self.rules.allow_unknown_enum_values {
            return Ok(());
        }
        Err(ValidationFault::at(
            RejectReason::ValueIncorrect,
            self.fields,
            at,
        ))
    }

    /// Checks a tag that the dictionary does not have.
    #[cold]
    fn unknown(&self, at: usize) -> Result<(), ValidationFault> {
        if self.tolerated(self.fields[at].tag) {
            return self.not_empty(at);
        }
        Err(ValidationFault::at(
            RejectReason::InvalidTagNumber,
            self.fields,
            at,
        ))
    }

    /// Checks a field that the message type does not have.
    #[cold]
    fn stranger(&self, check: &Check, at: usize) -> Result<(), ValidationFault> {
        if self.tolerated(self.fields[at].tag) {
            return Ok(());
        }
        let foreign = self.definition.of_transport && !check.of_transport;
        let reason = match foreign {
            true => RejectReason::InvalidTagNumber,
            false => RejectReason::TagNotDefinedForMessageType,
        };
        Err(ValidationFault::at(reason, self.fields, at))
    }

    fn tolerated(&self, tag: Tag) -> bool {
        match tag {
            0 => false,
            FIRST_USER_DEFINED.. => !self.rules.user_defined_fields,
            tag::USERNAME | tag::PASSWORD | tag::NEW_PASSWORD | 1400..=1404
                if self.rules.logon_credentials && self.message.msg_type() == b"A" =>
            {
                true
            }
            _ => self.rules.allow_unknown_msg_fields,
        }
    }

    fn not_empty(&self, at: usize) -> Result<(), ValidationFault> {
        if self.rules.fields_have_values && self.message.value(self.fields[at]).is_empty() {
            return Err(ValidationFault::at(
                RejectReason::TagWithoutValue,
                self.fields,
                at,
            ));
        }
        Ok(())
    }

    /// Selects the fault to report when the pass has stopped at `found`. A misplaced header field anywhere in the
    /// message is reported first, then a missing required field, and then `found`.
    #[cold]
    pub fn gravest(&self, found: ValidationFault, open: &mut [u64]) -> ValidationFault {
        if found.reason == RejectReason::TagOutOfRequiredOrder {
            return found;
        }
        let mut in_body = false;
        for (at, field) in self.fields.iter().enumerate() {
            let Some(slot) = self.dictionary.slot(field.tag) else {
                continue;
            };
            let own = self.dictionary.checks[slot].part;
            let misplaced =
                own == MessagePart::Header && in_body && !has(&self.definition.allowed, slot);
            if misplaced && self.rules.fields_out_of_order {
                return ValidationFault::at(RejectReason::TagOutOfRequiredOrder, self.fields, at);
            }
            in_body |= own == MessagePart::Body;
            if let Some(word) = open.get_mut(slot / 64) {
                *word &= !(1 << (slot % 64));
            }
        }
        let missing = self.missing(open);
        match missing.tag {
            Some(_) if self.rules.required_fields => missing,
            _ => found,
        }
    }

    /// The first required field that is missing. The header is searched before the rest, each in the order of tags.
    #[cold]
    pub fn missing(&self, open: &[u64]) -> ValidationFault {
        let first = |required: &[u64]| {
            let words = required
                .iter()
                .zip(open)
                .map(|(required, open)| required & open);
            let (word, bits) = words.enumerate().find(|&(_, bits)| bits != 0)?;
            self.dictionary
                .fields
                .get(word * 64 + bits.trailing_zeros() as usize)
        };
        let field =
            first(&self.dictionary.header.required).or_else(|| first(&self.definition.required));
        ValidationFault {
            reason: RejectReason::RequiredTagMissing,
            tag: field.map(|field| field.tag),
            field: None,
            conditional: false,
            limit: None,
        }
    }

    fn group(&self, count: Tag, slot: usize) -> Option<&GroupDef> {
        if has(&self.definition.allowed, slot) {
            return self.definition.group(count);
        }
        self.dictionary
            .header
            .group(count)
            .or_else(|| self.dictionary.trailer.group(count))
    }

    /// Checks the entries of a group, from the field after its count on. Returns the index of the next field after
    /// the group.
    ///
    /// The first fault inside the entries is not reported at once. If the count or the order of the group is wrong,
    /// that is the fault to report.
    ///
    /// The function calls itself for nested groups. The dictionary nests groups at most 8 deep.
    fn entries(
        &self,
        group: &GroupDef,
        first: usize,
        scratch: &mut [u64],
        times: &mut LastMinute,
        outer: Option<&Outer<'_>>,
        held: &mut Option<ValidationFault>,
    ) -> Result<usize, ValidationFault> {
        let count = first - 1;
        let declared = entry_count(self.message.value(self.fields[count]));
        let wrong = |reason, at| Err(ValidationFault::at(reason, self.fields, at));
        let wrong_count = || wrong(RejectReason::IncorrectNumInGroupCount, count);
        let (own, nested) = scratch.split_at_mut(group.required.len().min(scratch.len()));
        let mut delimiter = group.delimiter();
        let mut found = 0;
        let mut last = 0;
        let mut at = first;
        while let Some(&field) = self.fields.get(at) {
            let Some(position) = group.position(field.tag) else {
                if self.skips(field.tag, found, outer) {
                    at += 1;
                    continue;
                }
                break;
            };
            let (word, bit) = (position / 64, 1 << (position % 64));
            if found == 0 && self.rules.first_field_in_group_is_delimiter {
                delimiter = field.tag;
            }
            if field.tag == delimiter {
                if found > 0 {
                    hold(held, self.entry_ends(group, own, at));
                }
                found += 1;
                if found > u64::from(self.rules.max_group_entries) {
                    return Err(self.too_many_entries(count));
                }
                if self.rules.group_counts && declared.is_none_or(|declared| found > declared) {
                    return wrong_count();
                }
                own.fill(0);
            } else if found == 0 {
                // After an empty group, the field may belong to the part that follows the group.
                if declared == Some(0) || self.belongs_outside(field.tag, outer) {
                    break;
                }
                return wrong(RejectReason::GroupFieldsOutOfOrder, at);
            } else if own[word] & bit != 0 {
                if self.belongs_outside(field.tag, outer) {
                    break;
                }
                return wrong(RejectReason::TagAppearsMoreThanOnce, at);
            } else if position < last
                && self.rules.unordered_group_fields
                && delimiter == group.delimiter()
            {
                if self.belongs_outside(field.tag, outer) {
                    break;
                }
                return wrong(RejectReason::GroupFieldsOutOfOrder, at);
            }
            own[word] |= bit;
            last = position;
            if let Some(slot) = self.dictionary.slot(field.tag) {
                hold(
                    held,
                    self.value(&self.dictionary.checks[slot], slot, at, times),
                );
            }
            at += 1;
            if let Some(inner) = group.members[position].group.as_deref() {
                let outer = Outer {
                    group,
                    seen: own,
                    outer,
                };
                at = self.entries(inner, at, nested, times, Some(&outer), held)?;
            }
        }
        if found > 0 {
            hold(held, self.entry_ends(group, own, at));
        }
        if self.rules.group_counts && declared != Some(found) {
            return wrong_count();
        }
        Ok(at)
    }

    /// The fault that the group of the NumInGroup field `count` has more entries than are allowed.
    #[cold]
    fn too_many_entries(&self, count: usize) -> ValidationFault {
        ValidationFault {
            limit: Some(MessageLimit::GroupEntries(self.rules.max_group_entries)),
            ..ValidationFault::at(RejectReason::ValueIncorrect, self.fields, count)
        }
    }

    /// Checks that the entry that ends before field `at` has all required fields.
    fn entry_ends(&self, group: &GroupDef, seen: &[u64], at: usize) -> Result<(), ValidationFault> {
        if !self.rules.required_fields {
            return Ok(());
        }
        let mut words = group
            .required
            .iter()
            .zip(seen)
            .map(|(required, seen)| required & !seen)
            .enumerate();
        let Some((word, bits)) = words.find(|&(_, bits)| bits != 0) else {
            return Ok(());
        };
        let member = group
            .members
            .get(word * 64 + bits.trailing_zeros() as usize);
        Err(ValidationFault {
            reason: RejectReason::RequiredTagMissing,
            tag: member.map(|member| member.tag),
            field: Some(at - 1),
            conditional: false,
            limit: None,
        })
    }

    /// Whether a field that is not a member of the group is skipped inside an entry. A field that belongs nowhere,
    /// and that the rules allow, does not end the entry.
    fn skips(&self, tag: Tag, found: u64, outer: Option<&Outer<'_>>) -> bool {
        found > 0 && self.tolerated(tag) && !self.belongs_outside(tag, outer) && !self.in_frame(tag)
    }

    /// Whether the field has its own place outside the group.
    fn belongs_outside(&self, tag: Tag, outer: Option<&Outer<'_>>) -> bool {
        if outer.is_some_and(|outer| outer.takes(tag)) {
            return true;
        }
        self.dictionary
            .slot(tag)
            .is_some_and(|slot| has(&self.definition.allowed, slot))
    }

    fn in_frame(&self, tag: Tag) -> bool {
        let slot = self.dictionary.slot(tag);
        slot.is_some_and(|slot| self.dictionary.checks[slot].part != MessagePart::Body)
    }
}

/// Whether a tag counts the entries of a group within this group.
fn nests(group: &GroupDef, tag: Tag) -> bool {
    let mut members = group.members.iter();
    members.any(|member| {
        let inner = member.group.as_deref();
        inner.is_some_and(|inner| member.tag == tag || nests(inner, tag))
    })
}

/// The groups that contain a nested group.
struct Outer<'a> {
    group: &'a GroupDef,
    seen: &'a [u64],
    outer: Option<&'a Outer<'a>>,
}

impl Outer<'_> {
    /// Whether one of these groups may continue with this field.
    fn takes(&self, tag: Tag) -> bool {
        let own = self
            .group
            .position(tag)
            .is_some_and(|position| tag == self.group.delimiter() || !has(self.seen, position));
        own || self.outer.is_some_and(|outer| outer.takes(tag))
    }
}

fn hold(held: &mut Option<ValidationFault>, outcome: Result<(), ValidationFault>) {
    if held.is_none() {
        *held = outcome.err();
    }
}

/// The value of a NumInGroup field; `None` when no message can have so many entries.
fn entry_count(text: &[u8]) -> Option<u64> {
    crate::value::uint(text).ok()
}

#[cfg(test)]
mod tests {
    use std::string::String;
    use std::sync::LazyLock;
    use std::vec::Vec;

    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::Decoder;
    use crate::dictionary::Version;

    static DICTIONARIES: LazyLock<Vec<Dictionary>> =
        LazyLock::new(|| Version::ALL.map(Dictionary::built_in).into());

    /// Values of the types that are checked quickly, right and nearly right, and others.
    fn value() -> impl Strategy<Value = String> {
        prop_oneof![
            "[0-9]{0,12}",
            "-?[0-9]{0,5}[.:]?[0-9]{0,5}",
            "[0-9A-Za-z]{0,2}",
            "20260821-13:3[0-1]:[0-9]{2}([.][0-9:]{3})?",
            "2026[0-1][0-9]([0-3][0-9])?",
            "[ -~]{0,12}",
        ]
    }

    proptest! {
        #[test]
        fn the_quick_checks_take_what_the_check_takes(
            fields in prop::collection::vec((any::<Index>(), value()), 1..40),
            version in any::<Index>(),
        ) {
            let dictionary = version.get(&DICTIONARIES[..]);
            let (mut times, mut others) = (LastMinute::new(), LastMinute::new());
            for (field, value) in fields {
                let slot = field.index(dictionary.fields.len());
                let tag = dictionary.fields[slot].tag;
                let text = std::format!("8=FIX.4.4\x01{tag}={value}\x01");
                let mut decoder = Decoder::with_capacity(8);
                let message = decoder.decode(text.as_bytes());
                let pass = Pass {
                    dictionary,
                    message: &message,
                    rules: &ValidationRules::default(),
                    definition: &dictionary.messages[0],
                    fields: message.fields(),
                };
                let near = dictionary.near(tag);
                let found = pass.surely_takes(near, &pass.fields[1], &mut times);
                let wanted = dictionary.checks[slot].takes(value.as_bytes(), &mut others);
                prop_assert_eq!(found, wanted && !value.is_empty(), "{}={}", tag, value);
            }
        }
    }
}
