//! [`Statement`]: a compiled line of a conversion table.

use alloc::vec::Vec;

use fixwire_protocol::{Tag, tag};

use super::level::{ConversionLevel, Levels, Tags};
use crate::value_test::ValueTest;
use crate::verb::{Piece, Verb};

/// Conditions and an action. Each level where the statement applies has the index of the statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The conditions: fields, each with the test of its value.
    pub conditions: Vec<(Tag, ValueTest)>,
    pub action: ConversionAction,
}

/// A value that is written or compared.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Operand {
    Value(Piece<Tag>),
    /// Any value, or an absent field. Only in comparisons.
    Any,
    /// An absent field.
    Nothing,
}

/// A field in the entries of a group. The group may be in an entry of another group.
#[derive(Clone, Debug)]
pub struct Path {
    /// The count of the enclosing group, and the fields that select an entry of it.
    pub outer: Option<(Tag, Vec<(Tag, Operand)>)>,
    pub count: Tag,
    /// The field.
    pub value: Tag,
    /// The other fields of the entry, which select or complete it.
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
    Verb(Verb<Tag>),
    Map {
        from: Vec<Tag>,
        to: Vec<Tag>,
        rows: Vec<MapRow>,
    },
    Word {
        tag: Tag,
        word: Vec<u8>,
        other: Option<Vec<u8>>,
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
    /// Fields that the target has only in entries of this group become an entry of it, if the group is absent.
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

/// How a statement uses a field in a level.
pub enum Use<'s> {
    /// The statement reads the field, and has no effect without it.
    Needs(Tag),
    Reads(Tag),
    Writes(Tag),
    /// The field counts the entries of a group.
    Counts(Tag),
    /// The statement reads or writes fields of group entries.
    Path(&'s Path, fn(&ConversionLevel, Tag) -> Result<(), Tag>),
}

impl Statement {
    /// The fields that the statement uses.
    pub fn uses(&self) -> Vec<Use<'_>> {
        use Use::{Counts, Needs, Reads, Writes};
        let needed = self
            .conditions
            .iter()
            .filter(|(_, test)| test.needs_field());
        let mut uses: Vec<Use<'_>> = needed.map(|(tag, _)| Needs(*tag)).collect();
        match &self.action {
            ConversionAction::Verb(Verb::Set(tag, pieces)) => {
                uses.extend(pieces.iter().filter_map(|piece| match piece {
                    Piece::Field(tag::SENDING_TIME) | Piece::Text(_) => None,
                    Piece::Field(other) => Some(Reads(*other)),
                }));
                uses.push(Writes(*tag));
            }
            ConversionAction::Verb(Verb::Move(from, to)) => {
                uses.extend([Needs(*from), Writes(*to)]);
            }
            ConversionAction::Verb(Verb::Remove(tag)) | ConversionAction::Word { tag, .. } => {
                uses.push(Needs(*tag));
            }
            ConversionAction::Map { from, to, rows } => {
                uses.extend(from.iter().enumerate().map(|(at, &tag)| {
                    let has_value = |row: &MapRow| matches!(row.from[at], Operand::Value(_));
                    match rows.iter().all(has_value) {
                        true => Needs(tag),
                        false => Reads(tag),
                    }
                }));
                uses.extend(to.iter().map(|&tag| Writes(tag)));
            }
            ConversionAction::Entry { from, path } => {
                uses.extend([Needs(*from), Use::Path(path, writes)]);
            }
            ConversionAction::Field { path, to } => {
                let count = path.outer.as_ref().map_or(path.count, |outer| outer.0);
                uses.extend([Use::Path(path, reads), Needs(count), Writes(*to)]);
            }
            ConversionAction::Join { month, day, date } => {
                uses.extend([Needs(*month), Needs(*day), Writes(*date)]);
            }
            ConversionAction::Split { date, month, day } => {
                uses.extend([Needs(*date), Writes(*month), Writes(*day)]);
            }
            ConversionAction::Wrap(count) => uses.extend([Counts(*count), Writes(*count)]),
            ConversionAction::Unwrap(count) => uses.extend([Counts(*count), Needs(*count)]),
            ConversionAction::Sum { one, other, to, .. } => {
                uses.extend([Needs(*one), Needs(*other), Writes(*to)]);
            }
        }
        uses
    }
}

impl Use<'_> {
    /// The fields without which a statement has no effect, for all these uses.
    pub fn needs(uses: &[Self]) -> Tags {
        let mut needs = Tags::default();
        for used in uses {
            if let Self::Needs(tag) = used {
                needs.add(*tag);
            }
        }
        needs
    }

    /// Checks that a statement can run in a level. Otherwise returns the field that the level lacks.
    pub fn fit(uses: &[Self], levels: &Levels, level: usize) -> Result<(), Tag> {
        let here = &levels[level];
        uses.iter().try_for_each(|used| match *used {
            Self::Needs(tag) | Self::Reads(tag) => reads(here, tag),
            Self::Writes(tag) => writes(here, tag),
            Self::Counts(tag) => here.entries(tag).map(|_| ()).ok_or(tag),
            Self::Path(path, has) => path.fits(levels, level, has),
        })
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
