//! A message parsed into the entries of its repeating groups.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use fixwire_protocol::Tag;

use super::level::{ConversionLevel, Levels, NONE, NOWHERE, Tags};
use crate::Draft;
use crate::draft::{Part, ValueSpan, kept};

/// The scope of the message itself.
pub const ROOT: usize = 0;

/// A field. Tag 0 means that the field was removed.
#[derive(Clone, Copy, Debug)]
struct Node {
    tag: Tag,
    start: u32,
    end: u32,
    /// Where the text has the field as `tag=value` and SOH, as in a [`Draft`]; `None` for a field that has changed.
    whole: Option<NonZeroU32>,
    order: u32,
    /// Index of the field's place in the level of its scope.
    place: u32,
    /// The next field of the scope.
    next: u32,
    /// First and last scope of the group entries that the field counts, and the number of entries.
    first: u32,
    last: u32,
    entries: u32,
}

/// The message itself, or an entry of a group.
#[derive(Clone, Copy, Debug)]
struct Scope {
    level: u32,
    /// For an entry: the field that counts it, the scope of that field, and the next entry.
    count: u32,
    outer: u32,
    next: u32,
    first: u32,
    last: u32,
    gone: bool,
    /// The tags in the scope; tags of removed fields may still be included.
    present: Tags,
}

/// All fields of a message, as a tree. The tree is reused for each message; its memory grows to the largest message.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    scopes: Vec<Scope>,
    /// The text of the draft, while its message is converted.
    text: Vec<u8>,
    /// SendingTime(52), which belongs to no scope; empty if unknown.
    sending_time: ValueSpan,
    /// Nodes sorted for writing. Each has its write position in the high bits and the node in the low bits.
    sorted: Vec<u64>,
}

/// What happens to a word of a multiple-value field.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Word<'a> {
    Kept,
    Dropped,
    Replaced(&'a [u8]),
}

impl Tree {
    /// Parses a message by the source's dictionary, in linear time whatever the group counts are. A field that comes
    /// too late for its entry belongs to the nearest enclosing scope that can continue with this field. If no scope
    /// can, the field stays in the current scope.
    pub fn load(&mut self, draft: &Draft, levels: &Levels, root: usize) {
        self.nodes.clear();
        self.scopes.clear();
        self.sending_time = draft.sending_time_span();
        self.open(root, NONE, NONE);
        let (mut here, mut last) = (ROOT, NONE);
        // The group that may begin with the next field, as the delimiter of the first entry.
        let mut group = None;
        for at in 0..draft.len() {
            let tag = draft.tag(at);
            let begins = |&(_, level): &(usize, usize)| levels[level].delimiter == tag;
            if let Some((count, level)) = group.take().filter(begins) {
                here = self.open(level, count as u32, here as u32);
                last = NONE;
            } else {
                while here != ROOT {
                    let scope = self.scopes[here];
                    let level = &levels[scope.level as usize];
                    if tag == level.delimiter {
                        here = self.open(scope.level as usize, scope.count, scope.outer);
                        last = NONE;
                        break;
                    }
                    let position = level.place(tag).map_or(NONE, |place| place.position);
                    let goes_on = position != NONE && (last == NONE || position > last);
                    if goes_on || !self.is_taken_around(here, tag, levels) {
                        break;
                    }
                    last = self.position_of_count(here, levels);
                    here = scope.outer as usize;
                }
            }
            let level = &levels[self.scopes[here].level as usize];
            let index = level.find(tag);
            let node = self.append(here, draft.part(at), index, level);
            if let Some(place) = level.at(index) {
                last = place.position;
                group = place.entries().map(|entries| (node, entries));
            }
        }
    }

    /// Changes to the levels of the next table. Scopes keep their fields, even if the next level lacks some of them.
    pub fn change_levels(&mut self, levels: &Levels, root: usize) {
        for at in 0..self.scopes.len() {
            let scope = &self.scopes[at];
            let level = match self.scopes.get(scope.outer as usize) {
                None => root,
                Some(outer) => {
                    let count = self.nodes[scope.count as usize].tag;
                    let level = levels[outer.level as usize].entries(count);
                    level.unwrap_or(NOWHERE)
                }
            };
            self.scopes[at].level = level as u32;
            let mut next = self.first(at);
            while let Some(node) = next {
                let place = levels[level].find(self.nodes[node].tag);
                self.nodes[node].place = place;
                self.nodes[node].order = levels[level].order_of(levels[level].at(place));
                next = self.next(node);
            }
        }
    }

    fn is_taken_around(&self, scope: usize, tag: Tag, levels: &Levels) -> bool {
        let mut outer = self.scopes[scope].outer;
        while let Some(scope) = self.scopes.get(outer as usize) {
            if levels[scope.level as usize].takes(tag) {
                return true;
            }
            outer = scope.outer;
        }
        false
    }

    /// Position of an entry's count field in the enclosing scope.
    fn position_of_count(&self, scope: usize, levels: &Levels) -> u32 {
        let scope = &self.scopes[scope];
        let outer = &self.scopes[scope.outer as usize];
        let tag = self.nodes[scope.count as usize].tag;
        let place = levels[outer.level as usize].place(tag);
        place.map_or(NONE, |place| place.position)
    }

    /// Adds an entry at the end of its group.
    fn open(&mut self, level: usize, count: u32, outer: u32) -> usize {
        let at = self.scopes.len();
        self.scopes.push(Scope {
            level: level as u32,
            count,
            outer,
            next: NONE,
            first: NONE,
            last: NONE,
            gone: false,
            present: Tags::default(),
        });
        if let Some(node) = self.nodes.get_mut(count as usize) {
            let before = node.last;
            node.last = at as u32;
            node.entries += 1;
            match self.scopes.get_mut(before as usize) {
                Some(before) => before.next = at as u32,
                None => node.first = at as u32,
            }
        }
        at
    }

    /// Adds a field at the end of a scope, whose level and place in the level are known.
    fn append(&mut self, scope: usize, part: Part, place: u32, level: &ConversionLevel) -> usize {
        let at = self.nodes.len();
        let Part { tag, value, start } = part;
        self.nodes.push(Node {
            tag,
            start: value.0,
            end: value.1,
            whole: start,
            order: level.order_of(level.at(place)),
            place,
            next: NONE,
            first: NONE,
            last: NONE,
            entries: 0,
        });
        let scope = &mut self.scopes[scope];
        scope.present.add(tag);
        let before = scope.last;
        scope.last = at as u32;
        match self.nodes.get_mut(before as usize) {
            Some(before) => before.next = at as u32,
            None => scope.first = at as u32,
        }
        at
    }

    /// Number of scopes, including the scopes of removed entries.
    pub fn scopes(&self) -> usize {
        self.scopes.len()
    }

    /// Whether a scope still exists: neither the scope nor an enclosing scope was removed.
    pub fn is_there(&self, scope: usize) -> bool {
        let mut at = scope as u32;
        while let Some(scope) = self.scopes.get(at as usize) {
            let count = self.nodes.get(scope.count as usize);
            if scope.gone || count.is_some_and(|count| count.tag == 0) {
                return false;
            }
            at = scope.outer;
        }
        true
    }

    /// The approximate set of a scope's tags.
    pub fn present(&self, scope: usize) -> Tags {
        self.scopes[scope].present
    }

    /// The level of a scope.
    pub fn level(&self, scope: usize) -> usize {
        self.scopes[scope].level as usize
    }

    /// The fields of a scope, in the order of the message.
    pub fn fields(&self, scope: usize) -> impl Iterator<Item = usize> {
        let first = self.node(self.scopes[scope].first);
        let nodes = core::iter::successors(first, |&node| self.node(self.nodes[node].next));
        nodes.filter(|&node| self.nodes[node].tag != 0)
    }

    /// The first field of a scope. With [`Tree::next`] the fields can be walked while they change; a removed field
    /// has tag 0.
    pub fn first(&self, scope: usize) -> Option<usize> {
        self.node(self.scopes[scope].first)
    }

    /// The field after another field, see [`Tree::first`].
    pub fn next(&self, node: usize) -> Option<usize> {
        self.node(self.nodes[node].next)
    }

    fn node(&self, at: u32) -> Option<usize> {
        (at != NONE).then_some(at as usize)
    }

    /// The entries that a field counts.
    pub fn entries(&self, node: usize) -> impl Iterator<Item = usize> {
        let first = self.node(self.nodes[node].first);
        let scopes = core::iter::successors(first, |&scope| self.node(self.scopes[scope].next));
        scopes.filter(|&scope| !self.scopes[scope].gone)
    }

    /// The first entry that a field counts. With [`Tree::next_entry`] the entries can be walked while they change.
    pub fn first_entry(&self, node: usize) -> Option<usize> {
        self.entries(node).next()
    }

    /// The entry after another entry, see [`Tree::first_entry`].
    pub fn next_entry(&self, scope: usize) -> Option<usize> {
        let next = self.node(self.scopes[scope].next);
        let mut scopes = core::iter::successors(next, |&scope| self.node(self.scopes[scope].next));
        scopes.find(|&scope| !self.scopes[scope].gone)
    }

    /// The first field of a scope that has this tag.
    pub fn find(&self, scope: usize, tag: Tag) -> Option<usize> {
        if !self.present(scope).may_have(tag) {
            return None;
        }
        self.fields(scope).find(|&node| self.nodes[node].tag == tag)
    }

    /// Index of a field's place in the level of its scope.
    pub fn place(&self, node: usize) -> u32 {
        self.nodes[node].place
    }

    pub fn tag(&self, node: usize) -> Tag {
        self.nodes[node].tag
    }

    pub fn span(&self, node: usize) -> ValueSpan {
        (self.nodes[node].start, self.nodes[node].end)
    }

    /// SendingTime of the message, if it is known.
    pub fn sending_time(&self) -> Option<ValueSpan> {
        let (start, end) = self.sending_time;
        (start < end).then_some(self.sending_time)
    }

    pub fn text(&self, (start, end): ValueSpan) -> &[u8] {
        &self.text[start as usize..end as usize]
    }

    pub fn value(&self, node: usize) -> &[u8] {
        self.text(self.span(node))
    }

    /// The bytes of all values. Bytes added at the end can become the value of a field.
    pub fn text_mut(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Keeps, replaces or removes each word of a field, as `other` decides. Removes the field if no word is left.
    /// Returns the number of removed words.
    pub fn change_words<'a>(
        &mut self,
        node: usize,
        mut other: impl FnMut(&[u8]) -> Word<'a>,
    ) -> usize {
        let (mut at, end) = (
            self.nodes[node].start as usize,
            self.nodes[node].end as usize,
        );
        let start = self.text.len();
        let mut dropped = 0;
        while at < end {
            let rest = &self.text[at..end];
            let length = rest
                .iter()
                .position(|&byte| byte == b' ')
                .unwrap_or(rest.len());
            let change = other(&rest[..length]);
            if change == Word::Dropped {
                dropped += 1;
            } else {
                if self.text.len() > start {
                    self.text.push(b' ');
                }
                match change {
                    Word::Replaced(text) => self.text.extend_from_slice(text),
                    _ => self.text.extend_from_within(at..at + length),
                }
            }
            at += length + 1;
        }
        if self.text.len() == start {
            self.remove(node);
        }
        self.set_value(node, (start as u32, self.text.len() as u32));
        dropped
    }

    /// Gives a field another value.
    pub fn set_value(&mut self, node: usize, (start, end): ValueSpan) {
        let node = &mut self.nodes[node];
        (node.start, node.end, node.whole) = (start, end, None);
    }

    /// Sets the first field of a scope that has this tag. If the scope has none, a field is added.
    pub fn set(&mut self, levels: &Levels, scope: usize, tag: Tag, value: ValueSpan) -> usize {
        match self.find(scope, tag) {
            Some(node) => {
                self.set_value(node, value);
                node
            }
            None => {
                let level = &levels[self.level(scope)];
                self.append(scope, Part::apart(tag, value), level.find(tag), level)
            }
        }
    }

    /// Gives a field another tag, and another write position if `order` is given.
    pub fn rename(
        &mut self,
        levels: &Levels,
        scope: usize,
        node: usize,
        tag: Tag,
        order: Option<u32>,
    ) {
        self.scopes[scope].present.add(tag);
        let place = levels[self.level(scope)].find(tag);
        let node = &mut self.nodes[node];
        (node.tag, node.place, node.whole) = (tag, place, None);
        node.order = order.unwrap_or(node.order);
    }

    /// Moves a field that is not a group count to another scope.
    pub fn move_to(&mut self, levels: &Levels, node: usize, scope: usize) {
        let part = self.part(node);
        self.remove(node);
        let level = &levels[self.level(scope)];
        self.append(scope, part, level.find(part.tag), level);
    }

    fn part(&self, node: usize) -> Part {
        let node = &self.nodes[node];
        Part {
            tag: node.tag,
            value: (node.start, node.end),
            start: node.whole,
        }
    }

    /// Adds an entry to the group of `count`, and the count field if it is absent. `None` if the level lacks the
    /// group.
    pub fn add_entry(&mut self, levels: &Levels, scope: usize, count: Tag) -> Option<usize> {
        let level = levels[self.level(scope)].entries(count)?;
        let node = match self.find(scope, count) {
            Some(node) => node,
            None => self.set(levels, scope, count, ValueSpan::default()),
        };
        Some(self.open(level, node as u32, scope as u32))
    }

    /// Removes a field, with the entries that it counts.
    pub fn remove(&mut self, node: usize) {
        self.nodes[node].tag = 0;
    }

    /// Removes an entry. When it is the last one, removes the group's count field too.
    pub fn remove_entry(&mut self, scope: usize) {
        let scope = &mut self.scopes[scope];
        scope.gone = true;
        if let Some(node) = self.nodes.get_mut(scope.count as usize) {
            node.entries -= 1;
            if node.entries == 0 {
                node.tag = 0;
            }
        }
    }

    /// Writes all fields, each scope in the order of the target.
    pub fn write(&mut self, draft: &mut Draft, levels: &Levels) {
        draft.clear();
        self.sorted.clear();
        self.write_scope(ROOT, draft, levels);
    }

    /// Writes one scope. Recursion is as deep as a dictionary nests groups, 8 at most.
    fn write_scope(&mut self, scope: usize, draft: &mut Draft, levels: &Levels) {
        let from = self.sorted.len();
        let mut next = self.first(scope);
        while let Some(at) = next {
            let node = &self.nodes[at];
            if node.tag != 0 {
                self.sorted.push(u64::from(node.order) << 32 | at as u64);
            }
            next = self.next(at);
        }
        self.sorted[from..].sort_unstable();
        for at in from..self.sorted.len() {
            let node = self.sorted[at] as u32 as usize;
            let Node {
                tag,
                entries,
                place,
                ..
            } = self.nodes[node];
            let place = levels[self.level(scope)].at(place);
            let is_count = entries > 0 || place.is_some_and(|place| place.is_group);
            if !is_count {
                draft.push_part(self.part(node));
                continue;
            }
            let count = kept(
                &mut self.text,
                itoa::Buffer::new().format(entries).as_bytes(),
            );
            draft.push_part(Part::apart(tag, count));
            let mut next = self.first_entry(node);
            while let Some(entry) = next {
                self.write_scope(entry, draft, levels);
                next = self.next_entry(entry);
            }
        }
        self.sorted.truncate(from);
    }
}
