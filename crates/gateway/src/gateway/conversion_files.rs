//! `[conversion]`: files of conversion tables that replace built-in ones.

use alloc::string::ToString;
use alloc::vec::Vec;

use fixwire_text::{TomlFile, place};

use super::context::GatewayContext;
use super::conversions::Conversions;
use crate::convert::TableVersions;
use crate::rules::{Errors, MAX_BYTES, RuleProblem, TableFile};

/// The conversion tables that a file names. The texts of these tables belong in the [`GatewayContext`]. Errors in the
/// table `[conversion]` are reported by [`Gateway::load`](super::Gateway::load).
#[must_use]
pub fn conversion_files(text: &str) -> Vec<TableFile> {
    let file = parsed(text);
    let table = file.root().get("conversion").and_then(|it| it.table().ok());
    let entries = table.into_iter().flat_map(|table| table.entries());
    let files = entries.filter_map(|entry| {
        let (line, column) = place(text, entry.at);
        Some(TableFile {
            name: entry.key.into(),
            file: entry.string()?.into(),
            line,
            column,
        })
    });
    files.collect()
}

/// Parses TOML. Invalid TOML gives a file without tables, because the reader of rules reports the error.
pub(super) fn parsed(text: &str) -> TomlFile<'_> {
    match TomlFile::parse(text) {
        Ok(file) if text.len() <= MAX_BYTES => file,
        _ => TomlFile::default(),
    }
}

/// Makes conversions from the tables of the file and the built-in tables.
pub(super) fn read(
    file: &TomlFile<'_>,
    errors: &mut Errors<'_>,
    context: &GatewayContext<'_>,
) -> Conversions {
    let mut conversions = Conversions::default();
    let Some(all) = file.root().get("conversion") else {
        return conversions;
    };
    let Ok(all) = all.table() else {
        let wanted = "the table [conversion]";
        errors.add(all.at, RuleProblem::WrongType { wanted }, None);
        return conversions;
    };
    for entry in all.entries() {
        let (name, at) = (entry.key, entry.key_span.start);
        let TableVersions { from, to } = match TableVersions::parse(name) {
            Ok(versions) => versions,
            Err(hint) => {
                let wanted = "two versions, such as \"FIX.4.2 to FIX.4.4\"";
                errors.add(at, RuleProblem::WrongType { wanted }, hint);
                continue;
            }
        };
        let Some(file) = entry.string() else {
            let wanted = "the path of a file";
            errors.add(entry.at, RuleProblem::WrongType { wanted }, None);
            continue;
        };
        let mut texts = context.conversions.iter();
        let Some((_, text)) = texts.find(|(known, _)| *known == name) else {
            errors.add(at, RuleProblem::UnknownTable(name.into()), None);
            continue;
        };
        if let Err(error) = conversions.replace(from, to, at, text) {
            let (line, what) = (error.line, error.problem.to_string());
            errors.add(
                entry.at,
                RuleProblem::Table { line, what },
                Some(file.into()),
            );
        }
    }
    conversions
}
