//! Checks the conditionally required fields of a message.

use alloc::string::String;

use crate::dictionary::condition::{ConditionalRequirement, MAX_TERMS, Term, Test};
use crate::dictionary::{Dictionary, GroupDef, MessageDef};
use crate::group::own_fields;
use crate::message::Field;
use crate::{Message, Tag};

impl Term {
    fn holds_for(&self, dictionary: &Dictionary, value: &[u8]) -> bool {
        let field = dictionary.field(self.tag);
        let several = field.is_some_and(|field| field.kind.is_multiple());
        let listed = |values: &[String]| {
            let is = |text: &[u8]| values.iter().any(|value| value.as_bytes() == text);
            match several {
                true => value.split(|&byte| byte == b' ').any(is),
                false => is(value),
            }
        };
        match &self.test {
            Test::Present => true,
            Test::Absent => false,
            Test::In(values) => listed(values),
            Test::NotIn(values) => !listed(values),
        }
    }
}

impl ConditionalRequirement {
    /// Whether the required field is among these fields. Groups among them are not searched.
    fn is_met<'a>(
        &self,
        dictionary: &Dictionary,
        own: impl Iterator<Item = &'a Field>,
        message: &Message<'_>,
    ) -> bool {
        let mut holding: u32 = 0;
        for (bit, term) in self.terms.iter().enumerate().take(MAX_TERMS) {
            holding |= u32::from(term.test == Test::Absent) << bit;
        }
        for field in own {
            if field.tag == self.required {
                return true;
            }
            for (bit, term) in self.terms.iter().enumerate().take(MAX_TERMS) {
                if term.tag == field.tag {
                    holding &= !(1 << bit);
                    holding |= u32::from(term.holds_for(dictionary, message.value(*field))) << bit;
                }
            }
        }
        holding.count_ones() as usize != self.terms.len()
    }
}

/// The first missing field that a condition requires. For each condition of the message the cost is proportional to
/// the number of fields. No memory is allocated.
#[cold]
pub(super) fn missing(
    dictionary: &Dictionary,
    definition: &MessageDef,
    message: &Message<'_>,
) -> Option<Tag> {
    let group = |count| {
        definition
            .group(count)
            .or_else(|| dictionary.header.group(count))
            .or_else(|| dictionary.trailer.group(count))
    };
    let found = definition.conditions.iter().find(|condition| {
        let Some((&count, path)) = condition.path.split_first() else {
            return !condition.is_met(dictionary, own_fields(message.fields(), group), message);
        };
        let Some(def) = definition.group(count) else {
            return false;
        };
        let at = message.fields().iter().position(|field| field.tag == count);
        let behind = at.and_then(|at| message.fields().get(at + 1..));
        !entries_meet(
            dictionary,
            condition,
            behind.unwrap_or_default(),
            def,
            path,
            message,
        )
    });
    found.map(|condition| condition.required)
}

/// Whether all entries at the beginning of these fields meet the condition. `path` leads to nested groups.
fn entries_meet(
    dictionary: &Dictionary,
    condition: &ConditionalRequirement,
    fields: &[Field],
    def: &GroupDef,
    path: &[Tag],
    message: &Message<'_>,
) -> bool {
    let mut rest = fields;
    while let Some(len) = crate::group::entry_len(rest, def) {
        let (entry, behind) = rest.split_at(len);
        rest = behind;
        let met = match path.split_first() {
            None => {
                let own = own_fields(entry, |count| def.group(count));
                condition.is_met(dictionary, own, message)
            }
            Some((&count, path)) => match def.group(count) {
                None => true,
                Some(nested) => {
                    let at = entry.iter().position(|field| field.tag == count);
                    let inside = at.and_then(|at| entry.get(at + 1..)).unwrap_or_default();
                    entries_meet(dictionary, condition, inside, nested, path, message)
                }
            },
        };
        if !met {
            return false;
        }
    }
    true
}
