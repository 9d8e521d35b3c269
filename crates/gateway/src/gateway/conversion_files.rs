//! `[conversion]`: files of conversion tables that replace built-in ones.

use alloc::string::ToString;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use toml::de::DeTable;

use super::context::GatewayContext;
use super::conversions::Conversions;
use crate::convert;
use crate::rules::{Errors, MAX_BYTES, RuleProblem, TableFile, nearest};

/// The conversion tables that a file names: their texts belong in the [`GatewayContext`].
/// [`Gateway::load`](super::Gateway::load) reports errors in the table `[conversion]`.
#[must_use]
pub fn conversion_files(text: &str) -> Vec<TableFile> {
    let errors = Errors::new(text);
    let table = parsed(text);
    let entries = entries(&table).map(|entries| entries.iter());
    let files = entries.into_iter().flatten().filter_map(|(pair, value)| {
        let (line, column) = errors.place(value.span().start);
        Some(TableFile {
            name: pair.get_ref().to_string(),
            file: value.get_ref().as_str()?.to_string(),
            line,
            column,
        })
    });
    files.collect()
}

/// Parses TOML. Invalid TOML has no tables: the reader of rules reports the error.
fn parsed(text: &str) -> DeTable<'_> {
    match DeTable::parse(text) {
        Ok(table) if text.len() <= MAX_BYTES => table.into_inner(),
        _ => DeTable::new(),
    }
}

fn entries<'d>(table: &'d DeTable<'d>) -> Option<&'d DeTable<'d>> {
    table.get("conversion")?.get_ref().as_table()
}

/// Makes conversions by the file's tables and the built-in ones.
pub(super) fn read(
    text: &str,
    errors: &mut Errors<'_>,
    context: &GatewayContext<'_>,
) -> Conversions {
    let table = parsed(text);
    let mut conversions = Conversions::default();
    let Some(all) = table.get("conversion") else {
        return conversions;
    };
    let Some(all) = all.get_ref().as_table() else {
        let wanted = "the table [conversion]";
        errors.add(all.span().start, RuleProblem::WrongType { wanted }, None);
        return conversions;
    };
    for (pair, value) in all {
        let (name, at) = (pair.get_ref(), pair.span().start);
        let (from, to) = match versions(name) {
            Ok(versions) => versions,
            Err(hint) => {
                let wanted = "two versions, such as \"FIX.4.2 to FIX.4.4\"";
                errors.add(at, RuleProblem::WrongType { wanted }, hint);
                continue;
            }
        };
        let Some(file) = value.get_ref().as_str() else {
            let wanted = "the path of a file";
            errors.add(value.span().start, RuleProblem::WrongType { wanted }, None);
            continue;
        };
        let mut texts = context.conversions.iter();
        let Some((_, text)) = texts.find(|(known, _)| known == name) else {
            let problem = RuleProblem::UnknownTable(name.to_string());
            errors.add(at, problem, None);
            continue;
        };
        if let Err(error) = conversions.replace(from, to, at, text) {
            let (line, what) = (error.line, error.problem.to_string());
            let problem = RuleProblem::Table { line, what };
            errors.add(value.span().start, problem, Some(file.into()));
        }
    }
    conversions
}

/// The versions of `FIX.4.2 to FIX.4.4`, or a suggestion.
fn versions(pair: &str) -> Result<(Version, Version), Option<alloc::string::String>> {
    let (from, to) = pair.split_once(" to ").ok_or(None)?;
    let version = |name: &str| {
        let known = Version::from_name(name).filter(|version| version.name() == name);
        known.ok_or_else(|| nearest(name, Version::ALL.map(Version::name)))
    };
    let (from, to) = (version(from)?, version(to)?);
    match convert::is_way(from, to) {
        true => Ok((from, to)),
        false => Err(Some("no conversion between these versions".into())),
    }
}
