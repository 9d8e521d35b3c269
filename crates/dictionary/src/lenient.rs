//! Irregular forms in QuickFIX files that the QuickFIX engines load in spite of them. Irregular forms are read in the
//! same way, with a note for the operator.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::dictionary::compile::{
    DictionarySource, ItemKind, LayoutItem, MessageSource,
};

use crate::problem::cut;

/// An irregular form in a dictionary file, and how the form was read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DictionaryNote {
    /// Line of the text, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The irregular form, and how it was read.
    pub text: String,
}

impl fmt::Display for DictionaryNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, text } = self;
        write!(f, "line {line}, column {column}: {text}")
    }
}

/// Maximum number of notes on one file.
const MOST_NOTES: usize = 100;

/// The notes on a file, each with a byte offset.
#[derive(Debug, Default)]
pub(crate) struct Notes(pub Vec<(usize, String)>);

impl Notes {
    pub fn push(&mut self, at: usize, text: String) {
        if self.0.len() < MOST_NOTES {
            self.0.push((at, text));
        }
    }

    /// The notes with their line numbers, in the order of the text.
    pub fn placed(mut self, text: &str) -> Vec<DictionaryNote> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts: Vec<usize> = core::iter::once(0).chain(breaks).collect();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.0.sort_by_key(|(at, _)| *at);
        let placed = self.0.into_iter().map(|(at, note)| {
            let line = starts.partition_point(|&start| start <= at);
            let before = text.get(starts[line - 1]..at).unwrap_or_default();
            DictionaryNote {
                line: number(line),
                column: number(before.chars().take(1 << 16).count() + 1),
                text: note,
            }
        });
        placed.collect()
    }
}

/// Merges definitions that a file has twice, as the QuickFIX engines do.
pub(crate) fn settle(source: &mut DictionarySource<'_>, notes: &mut Notes) {
    fields(source, notes);
    let mut known = BTreeMap::new();
    source.components.retain(|component| {
        let first = known.insert(component.name.clone(), ()).is_none();
        if !first {
            let name = cut(&component.name);
            let text = format!("a second component {name} is ignored");
            notes.push(component.at, text);
        }
        first
    });
    messages(source, notes);
    for message in &mut source.messages {
        groups(&mut message.items, notes);
    }
    for component in &mut source.components {
        groups(&mut component.items, notes);
    }
    groups(&mut source.header, notes);
    groups(&mut source.trailer, notes);
}

/// If two messages have the same type, adds the members of the second to the first.
fn messages(source: &mut DictionarySource<'_>, notes: &mut Notes) {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kept: Vec<MessageSource<'_>> = Vec::with_capacity(source.messages.len());
    for message in source.messages.drain(..) {
        let Some(&at) = places.get(message.msg_type) else {
            places.insert(message.msg_type, kept.len());
            kept.push(message);
            continue;
        };
        let msg_type = cut(message.msg_type);
        let text = format!("a second message with msgtype {msg_type} adds its fields to the first");
        notes.push(message.at, text);
        kept[at].items.extend(message.items);
    }
    source.messages = kept;
}

/// If a number has a second name, this name stands for the first field. A field with the number 0 cannot be in a
/// message.
fn fields<'a>(source: &mut DictionarySource<'a>, notes: &mut Notes) {
    let mut names: BTreeMap<u32, &'a str> = BTreeMap::new();
    // The other name for the field; `None` if the field is ignored.
    let mut others: BTreeMap<&'a str, Option<&'a str>> = BTreeMap::new();
    source.fields.retain(|field| {
        let name = cut(field.name);
        if field.tag == 0 {
            others.insert(field.name, None);
            notes.push(
                field.at,
                format!("the field {name} with number 0 is ignored"),
            );
            return false;
        }
        match names.get(&field.tag).copied() {
            Some(first) if first != field.name && !others.contains_key(field.name) => {
                others.insert(field.name, Some(first));
                let first = cut(first);
                let tag = field.tag;
                let text = format!(
                    "the field {name} has the number {tag} of the field {first} and is \
                 read as {first}"
                );
                notes.push(field.at, text);
                false
            }
            Some(_) => true,
            None => {
                names.insert(field.tag, field.name);
                true
            }
        }
    });
    if others.is_empty() {
        return;
    }
    for message in &mut source.messages {
        rename(&mut message.items, &others);
    }
    for component in &mut source.components {
        rename(&mut component.items, &others);
    }
    rename(&mut source.header, &others);
    rename(&mut source.trailer, &others);
}

fn rename<'a>(items: &mut Vec<LayoutItem<'a>>, others: &BTreeMap<&'a str, Option<&'a str>>) {
    items.retain_mut(|item| {
        match &mut item.what {
            ItemKind::Component => return true,
            ItemKind::Group(items) => rename(items, others),
            ItemKind::Field => {}
        }
        match others.get(item.name.as_ref()) {
            Some(Some(first)) => item.name = Cow::Borrowed(*first),
            Some(None) => return false,
            None => {}
        }
        true
    });
}

/// Turns a group without fields into its count field alone.
fn groups(items: &mut [LayoutItem<'_>], notes: &mut Notes) {
    for item in items {
        let ItemKind::Group(members) = &mut item.what else {
            continue;
        };
        if members.is_empty() {
            let name = cut(&item.name);
            let text = format!("the group {name} has no fields: it is read as a field");
            notes.push(item.at, text);
            item.what = ItemKind::Field;
        } else {
            groups(members, notes);
        }
    }
}
