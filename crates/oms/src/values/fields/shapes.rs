//! Remembers the tags of requests whose fields the venue gets without a closer look. Another request with the same tags
//! has the same fields for the venue, so only its values are checked.

use alloc::vec::Vec;
use core::ops::Range;

use fixwire_protocol::value::uint;
use fixwire_protocol::{Field, Message, Tag};

use super::carried::Gathered;
use super::direct::{DirectFields, DirectValue};
use crate::values::ids::SessionNo;

/// Number of remembered shapes.
const SHAPES: usize = 8;

/// The table to which a shape belongs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ShapeOf {
    pub client: SessionNo,
    pub group: usize,
    /// Place of the message among the tables of client and group.
    pub request: usize,
}

/// What a value must be, so that the field passes.
#[derive(Clone, Copy, Debug)]
enum ShapeCheck {
    /// A value that the lines take.
    Value(DirectValue),
    /// The number of entries of a group.
    Count(u64),
}

/// A field whose value is checked.
#[derive(Clone, Copy, Debug)]
struct CheckedField {
    /// Index of the field in the message.
    at: usize,
    check: ShapeCheck,
}

/// Neighbouring fields that the venue gets.
#[derive(Clone, Debug)]
struct Piece {
    fields: Range<usize>,
    is_header: bool,
}

/// What was done with the fields of a request.
#[derive(Debug, Default)]
pub(crate) struct RequestShape {
    of: Option<ShapeOf>,
    tags: Vec<Tag>,
    checks: Vec<CheckedField>,
    pieces: Vec<Piece>,
    /// The first field that the venue gets.
    first: Option<Tag>,
}

impl RequestShape {
    pub(crate) fn clear(&mut self) {
        self.of = None;
        self.checks.clear();
        self.pieces.clear();
    }

    /// Notes that the value of a field was checked.
    pub(crate) fn checked(&mut self, at: usize, rule: DirectValue) {
        let check = ShapeCheck::Value(rule);
        self.checks.push(CheckedField { at, check });
    }

    /// Notes that a field has the number of entries of its group.
    pub(crate) fn counted(&mut self, at: usize, entries: u64) {
        let check = ShapeCheck::Count(entries);
        self.checks.push(CheckedField { at, check });
    }

    /// Gathers neighbouring fields of a message, and notes which they are.
    pub(crate) fn gather(
        &mut self,
        message: &Message<'_>,
        fields: Range<usize>,
        is_header: bool,
        to: &mut Gathered,
    ) {
        if !fields.is_empty() {
            let piece = Piece { fields, is_header };
            piece.gather(message, to);
            self.pieces.push(piece);
        }
    }

    /// Notes the first field that the venue gets.
    pub(crate) fn begins_with(&mut self, first: Option<Tag>) {
        self.first = first;
    }

    /// The shape is that of a request with these fields.
    fn ends(&mut self, of: ShapeOf, fields: &[Field]) {
        self.of = Some(of);
        self.tags.clear();
        self.tags.extend(fields.iter().map(|field| field.tag));
    }

    #[inline]
    fn is_of(&self, of: ShapeOf, fields: &[Field]) -> bool {
        self.of == Some(of)
            && self.tags.len() == fields.len()
            && fields
                .iter()
                .zip(&self.tags)
                .all(|(it, tag)| it.tag == *tag)
    }

    /// Gathers the fields of a request of this shape; returns false if one of its values does not pass.
    #[inline]
    fn pass(&self, table: &DirectFields, message: &Message<'_>, to: &mut Gathered) -> bool {
        let fields = message.fields();
        let passes = |it: &CheckedField| {
            fields.get(it.at).is_some_and(|field| {
                let value = message.value(*field);
                match it.check {
                    ShapeCheck::Value(rule) => table.takes(field.tag, rule, value),
                    ShapeCheck::Count(entries) => uint(value) == Ok(entries),
                }
            })
        };
        if !self.checks.iter().all(passes) {
            return false;
        }
        to.clear();
        self.pieces.iter().for_each(|it| it.gather(message, to));
        to.begins_with(self.first);
        table.has_room(to)
    }
}

impl Piece {
    #[inline]
    fn gather(&self, message: &Message<'_>, to: &mut Gathered) {
        let bytes = message.raw(self.fields.clone());
        match self.is_header {
            true => to.add_header(bytes),
            false => to.add_body(bytes),
        }
    }
}

/// The shapes of the last requests that needed no closer look. They belong to the tables in force: new tables come with
/// no shapes.
#[derive(Debug, Default)]
pub(crate) struct RequestShapes {
    /// At most [`SHAPES`].
    known: Vec<RequestShape>,
    /// The shape of the last request.
    last: usize,
    /// The shape of the request that is being handled.
    new: RequestShape,
}

impl RequestShapes {
    /// Gathers the fields of a request by its table. Returns false if the request needs a closer look; what is gathered
    /// then has no meaning.
    pub(crate) fn gather(
        &mut self,
        of: ShapeOf,
        table: &DirectFields,
        message: &Message<'_>,
        to: &mut Gathered,
    ) -> bool {
        if let Some(at) = self.find(of, message.fields()) {
            self.last = at;
            return self.known[at].pass(table, message, to);
        }
        let passes = table.gather(message, to, &mut self.new);
        if passes {
            self.new.ends(of, message.fields());
            self.remember();
        }
        passes
    }

    /// The shape of a request with these fields: the last one, or another one.
    #[inline]
    pub(crate) fn find(&self, of: ShapeOf, fields: &[Field]) -> Option<usize> {
        let last = self.known.get(self.last);
        if last.is_some_and(|it| it.is_of(of, fields)) {
            return Some(self.last);
        }
        self.known.iter().position(|it| it.is_of(of, fields))
    }

    /// Remembers the shape of the present request, in place of one that is not the last one.
    #[cold]
    fn remember(&mut self) {
        let is_full = self.known.len() == SHAPES;
        self.last = if is_full {
            (self.last + 1) % SHAPES
        } else {
            self.known.len()
        };
        if !is_full {
            self.known.push(RequestShape::default());
        }
        core::mem::swap(&mut self.known[self.last], &mut self.new);
    }
}
