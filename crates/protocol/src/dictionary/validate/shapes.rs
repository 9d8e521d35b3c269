//! Remembers which fields the last valid messages had. Most messages have the same fields as an earlier message of the
//! same type; for them only the values must be checked.

use alloc::boxed::Box;
use alloc::vec;

use super::check::Near;
use super::pass::Pass;
use crate::Tag;
use crate::time::LastMinute;

/// Number of shapes that are remembered: a session has few kinds of messages at a time.
const SHAPES: usize = 4;
/// Maximum number of fields of a remembered message. More memory for each session is not worth it.
const MOST: usize = 40;

/// A field of a remembered message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub tag: Tag,
    pub near: Near,
}

/// The remembered facts about the fields of one message.
#[derive(Clone, Debug)]
struct Shape {
    key: Key,
    fields: [Known; MOST],
}

/// The dictionary, the message type and the number of fields of a message, as one number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Key(u64);

impl Key {
    /// No message has this key.
    const NONE: Self = Self(u64::MAX);

    /// The key of a message with this number of fields. `message` is the index of its definition in the dictionary.
    #[inline]
    pub fn new(dictionary: u32, message: usize, fields: usize) -> Option<Self> {
        let message = u64::from(u16::try_from(message).ok()?);
        let small = fields <= MOST;
        small.then_some(Self(
            u64::from(dictionary) << 32 | message << 16 | fields as u64,
        ))
    }

    fn fields(self) -> usize {
        usize::from(self.0 as u16)
    }
}

/// The shapes of some valid messages whose fields are all certainly valid, except for the counts of groups.
///
/// A message with the same key, the same tags and the same counts of groups passes all checks of tags, order, groups and
/// required fields again, since these checks read nothing else. The other values are checked each time.
#[derive(Clone, Debug, Default)]
pub(super) struct Shapes {
    /// Empty before the first message.
    shapes: Box<[Shape]>,
    /// The shape that is replaced next.
    next: usize,
}

impl Shapes {
    /// Allocates the memory.
    pub fn fit(&mut self) {
        if self.shapes.is_empty() {
            let empty = Shape {
                key: Key::NONE,
                fields: [Known {
                    tag: 0,
                    near: Near::NONE,
                }; MOST],
            };
            self.shapes = vec![empty; SHAPES].into();
        }
    }

    /// Whether an earlier message had the same fields, and all values of this message are certainly valid.
    #[inline]
    pub fn know(&self, key: Key, pass: &Pass<'_>, times: &mut LastMinute) -> bool {
        self.shapes
            .iter()
            .any(|shape| shape.key == key && pass.is_like(&shape.fields, times))
    }

    /// Remembers a message. All its fields are certainly valid and outside groups.
    pub fn remember(&mut self, key: Key, pass: &Pass<'_>) {
        let fields = pass.fields.iter();
        self.put(
            key,
            pass,
            fields.map(|field| pass.dictionary.near(field.tag)),
        );
    }

    /// Remembers a valid message with groups, if its fields are certainly valid, and its groups have at most nine entries.
    #[cold]
    pub fn remember_groups(&mut self, key: Key, pass: &Pass<'_>, times: &mut LastMinute) {
        let are_known = pass.known_with_groups(times).all(|near| near.is_some());
        if are_known {
            self.put(key, pass, pass.known_with_groups(times).flatten());
        }
    }

    #[inline(always)]
    fn put(&mut self, key: Key, pass: &Pass<'_>, fields: impl Iterator<Item = Near>) {
        let Some(shape) = self.shapes.get_mut(self.next) else {
            return;
        };
        self.next = (self.next + 1) % SHAPES;
        shape.key = key;
        for (known, (field, near)) in shape.fields.iter_mut().zip(pass.fields.iter().zip(fields)) {
            *known = Known {
                tag: field.tag,
                near,
            };
        }
        debug_assert_eq!(key.fields(), pass.fields.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;
    use crate::dictionary::validate::{Scratch, ValidationRules, check};
    use crate::dictionary::{Dictionary, Version};

    /// Whether this message passes the quick check after the other message was checked in full.
    fn is_known(after: &str, message: &str) -> bool {
        let dictionary = Dictionary::built_in(Version::Fix44);
        let rules = ValidationRules::default();
        let mut scratch = Scratch::default();
        let mut decoder = Decoder::with_capacity(64);
        let head = "8=FIX.4.4|9=1|35=D|49=A|56=B|34=1|52=20260821-13:30:00.123|11=1|55=X|54=1|\
            60=20260821-13:30:00.123|40=1|38=1|";
        let text = |fields: &str| [head, fields, "10=000|"].concat().replace('|', "\x01");
        let after = text(after);
        let done = check(
            &dictionary,
            &decoder.decode(after.as_bytes()),
            &rules,
            &mut scratch,
        );
        assert_eq!(done, Ok(()));
        let message = text(message);
        let message = decoder.decode(message.as_bytes());
        let at = dictionary.message_index(b"D").unwrap();
        let pass = Pass {
            dictionary: &dictionary,
            message: &message,
            rules: &rules,
            definition: &dictionary.messages[at],
            fields: message.fields(),
        };
        let key = Key::new(dictionary.id, at, pass.fields.len()).unwrap();
        scratch.shapes.know(key, &pass, &mut scratch.times)
    }

    #[test]
    fn a_group_is_known_with_the_same_count_only() {
        let parties = "453=2|448=F1|447=D|452=3|448=F2|447=D|452=1|";
        assert!(is_known(parties, parties));
        assert!(is_known(
            parties,
            "453=2|448=G1|447=C|452=1|448=F3|447=D|452=3|"
        ));
        for other in [
            "453=1|448=F1|447=D|452=3|448=F2|447=D|452=1|",
            "453=02|448=F1|447=D|452=3|448=F2|447=D|452=1|",
            "453=2|448=F1|447=D|452=3|448=F2|447=D|452=x|",
            "453=2|448=F1|447=D|452=3|448=F2|452=1|447=D|",
        ] {
            assert!(!is_known(parties, other), "{other}");
        }
    }

    #[test]
    fn the_count_of_a_nested_group_is_compared_too() {
        let parties = "453=1|448=F1|447=D|452=3|802=2|523=A|803=1|523=B|803=2|";
        assert!(is_known(parties, parties));
        for other in [
            "453=1|448=F1|447=D|452=3|802=1|523=A|803=1|523=B|803=2|",
            "453=1|448=F1|447=D|452=3|802=3|523=A|803=1|523=B|803=2|",
        ] {
            assert!(!is_known(parties, other), "{other}");
        }
    }
}
