//! [`Statement`]: a compiled line of a conversion table.

use alloc::boxed::Box;
use alloc::vec::Vec;

use fixwire_protocol::{Tag, tag};

use super::level::{ConversionLevel, Levels, Tags};

/// Conditions and an action, for the levels where they apply.
#[derive(Clone, Debug)]
pub struct Statement {
    pub conditions: Vec<ConversionCondition>,
    pub action: ConversionAction,
}

/// A condition of a statement.
#[derive(Clone, Debug)]
pub enum ConversionCondition {
    /// The field has one of these values.
    Is(Tag, Vec<Box<[u8]>>),
    /// The multiple-value field contains this word.
    HasWord(Tag, Box<[u8]>),
    /// The value of the field begins with this.
    Begins(Tag, Box<[u8]>),
    Has(Tag),
    No(Tag),
    /// The field is zero, or absent.
    Zero(Tag),
}

/// A value that is written or compared.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Operand {
    Text(Box<[u8]>),
    /// The value of another field; SendingTime, which a draft does not have, can be read too.
    Of(Tag),
    /// Any value or an absent field; only in comparisons.
    Any,
    /// No field at all.
    Nothing,
}

/// A field of the entries of a group, which may be inside an entry of another group.
#[derive(Clone, Debug)]
pub struct Path {
    /// The count of the enclosing group, and the fields that select its entry.
    pub outer: Option<(Tag, Vec<(Tag, Operand)>)>,
    pub count: Tag,
    /// The field.
    pub value: Tag,
    /// The other fields of the entry.
    pub fixed: Vec<(Tag, Operand)>,
}

/// A row of a map.
#[derive(Clone, Debug)]
pub struct MapRow {
    pub from: Vec<Operand>,
    pub to: Vec<Operand>,
}

#[derive(Clone, Debug)]
pub enum ConversionAction {
    Set(Tag, Operand),
    Default(Tag, Operand),
    Remove(Tag),
    Move(Tag, Tag),
    Map {
        from: Vec<Tag>,
        to: Vec<Tag>,
        rows: Vec<MapRow>,
    },
    Word {
        tag: Tag,
        word: Box<[u8]>,
        other: Option<Box<[u8]>>,
    },
    Entry {
        from: Tag,
        path: Path,
    },
    Field {
        path: Path,
        to: Tag,
    },
    Join {
        month: Tag,
        day: Tag,
        date: Tag,
    },
    Split {
        date: Tag,
        month: Tag,
        day: Tag,
    },
    /// Fields that the target has only in the entries of this group become an entry.
    Wrap(Tag),
    /// The fields of this group's only entry move out of the group.
    Unwrap(Tag),
    /// The sum or difference of two numbers becomes the value of an absent field.
    Sum {
        one: Tag,
        other: Tag,
        sign: i64,
        to: Tag,
    },
}

impl Statement {
    /// The fields without which the statement has no effect.
    pub fn needs(&self) -> Tags {
        let mut needs = Tags::default();
        for condition in &self.conditions {
            match condition {
                ConversionCondition::Is(tag, _)
                | ConversionCondition::HasWord(tag, _)
                | ConversionCondition::Begins(tag, _)
                | ConversionCondition::Has(tag) => needs.add(*tag),
                ConversionCondition::No(_) | ConversionCondition::Zero(_) => {}
            }
        }
        match &self.action {
            ConversionAction::Remove(tag)
            | ConversionAction::Word { tag, .. }
            | ConversionAction::Move(tag, _)
            | ConversionAction::Entry { from: tag, .. }
            | ConversionAction::Unwrap(tag)
            | ConversionAction::Split { date: tag, .. } => needs.add(*tag),
            ConversionAction::Join { month, day, .. } => {
                needs.add(*month);
                needs.add(*day);
            }
            ConversionAction::Sum { one, other, .. } => {
                needs.add(*one);
                needs.add(*other);
            }
            ConversionAction::Field { path, .. } => {
                needs.add(path.outer.as_ref().map_or(path.count, |outer| outer.0));
            }
            ConversionAction::Map { from, rows, .. } => {
                for (at, &tag) in from.iter().enumerate() {
                    let has_text = |row: &MapRow| matches!(row.from[at], Operand::Text(_));
                    if rows.iter().all(has_text) {
                        needs.add(tag);
                    }
                }
            }
            ConversionAction::Set(..)
            | ConversionAction::Default(..)
            | ConversionAction::Wrap(_) => {}
        }
        needs
    }

    /// Checks that the statement can run in a level; if not, returns the field that the level lacks.
    pub fn fits(&self, levels: &Levels, level: usize) -> Result<(), Tag> {
        let here = &levels[level];
        for condition in &self.conditions {
            match condition {
                ConversionCondition::Is(tag, _)
                | ConversionCondition::HasWord(tag, _)
                | ConversionCondition::Begins(tag, _)
                | ConversionCondition::Has(tag) => reads(here, *tag)?,
                ConversionCondition::No(_) | ConversionCondition::Zero(_) => {}
            }
        }
        match &self.action {
            ConversionAction::Set(tag, value) | ConversionAction::Default(tag, value) => {
                if let Operand::Of(other) = value
                    && *other != tag::SENDING_TIME
                {
                    reads(here, *other)?;
                }
                writes(here, *tag)
            }
            ConversionAction::Remove(tag) | ConversionAction::Word { tag, .. } => reads(here, *tag),
            ConversionAction::Move(from, to) => reads(here, *from).and(writes(here, *to)),
            ConversionAction::Map { from, to, .. } => {
                from.iter().try_for_each(|&tag| reads(here, tag))?;
                to.iter().try_for_each(|&tag| writes(here, tag))
            }
            ConversionAction::Entry { from, path } => {
                reads(here, *from)?;
                path.fits(levels, level, writes)
            }
            ConversionAction::Field { path, to } => {
                path.fits(levels, level, reads)?;
                writes(here, *to)
            }
            ConversionAction::Join { month, day, date } => reads(here, *month)
                .and(reads(here, *day))
                .and(writes(here, *date)),
            ConversionAction::Split { date, month, day } => reads(here, *date)
                .and(writes(here, *month))
                .and(writes(here, *day)),
            ConversionAction::Wrap(count) => {
                here.entries(*count).ok_or(*count)?;
                writes(here, *count)
            }
            ConversionAction::Unwrap(count) => here.entries(*count).map(|_| ()).ok_or(*count),
            ConversionAction::Sum { one, other, to, .. } => reads(here, *one)
                .and(reads(here, *other))
                .and(writes(here, *to)),
        }
    }
}

impl Path {
    fn fits(
        &self,
        levels: &Levels,
        level: usize,
        has: fn(&ConversionLevel, Tag) -> Result<(), Tag>,
    ) -> Result<(), Tag> {
        let mut at = level;
        if let Some((count, known_by)) = &self.outer {
            at = levels[at].entries(*count).ok_or(*count)?;
            known_by
                .iter()
                .try_for_each(|&(tag, _)| reads(&levels[at], tag))?;
        }
        has(&levels[at], self.count)?;
        at = levels[at].entries(self.count).ok_or(self.count)?;
        has(&levels[at], self.value)?;
        self.fixed
            .iter()
            .try_for_each(|&(tag, _)| has(&levels[at], tag))
    }
}

fn reads(level: &ConversionLevel, tag: Tag) -> Result<(), Tag> {
    level.place(tag).map(|_| ()).ok_or(tag)
}

fn writes(level: &ConversionLevel, tag: Tag) -> Result<(), Tag> {
    match level.place(tag) {
        Some(place) if place.in_target => Ok(()),
        _ => Err(tag),
    }
}
