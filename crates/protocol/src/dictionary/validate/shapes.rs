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

/// What was remembered about the fields of one message.
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

/// The shapes of some valid messages whose fields are all certainly valid and outside of groups.
///
/// A message with the same key and the same tags passes all checks of tags, order and required fields again, since
/// these checks read nothing else. The values are checked each time.
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

    /// Remembers a message. All its fields are valid, and none of them begins a group.
    pub fn remember(&mut self, key: Key, pass: &Pass<'_>) {
        let Some(shape) = self.shapes.get_mut(self.next) else {
            return;
        };
        self.next = (self.next + 1) % SHAPES;
        shape.key = key;
        for (known, field) in shape.fields.iter_mut().zip(pass.fields) {
            *known = Known {
                tag: field.tag,
                near: pass.dictionary.near(field.tag),
            };
        }
        debug_assert_eq!(key.fields(), pass.fields.len());
    }
}
