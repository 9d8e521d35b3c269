//! `[oms.conversion]`: conversion tables of the user, which replace built-in ones.

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_text::{Diagnostic, TomlValue};
use fixwire_transform::convert::{BuiltInConversions, TableVersions};

use super::CsvText;
use crate::load::Reader;
use crate::values::rules::{ConversionFile, ConversionFiles};

/// Reads the tables that the settings name.
pub(super) fn conversions(
    reader: &mut Reader<'_>,
    value: TomlValue<'_>,
) -> Result<ConversionFiles, Diagnostic> {
    let example =
        "write the versions and the file: conversion = {\"FIX.4.2 to FIX.4.4\" = \"my.conv\"}";
    let Ok(table) = value.table() else {
        return Err(value.wrong("conversion must be a table", example));
    };
    let mut files = ConversionFiles::default();
    let mut tables = BuiltInConversions::default();
    for value in table.entries() {
        let read = file(reader, value, &mut tables);
        if let Some(file) = reader.keep(read) {
            files.add(file);
        }
    }
    Ok(files)
}

fn file(
    reader: &mut Reader<'_>,
    value: TomlValue<'_>,
    tables: &mut BuiltInConversions,
) -> Result<ConversionFile, Diagnostic> {
    let TableVersions { from, to } = TableVersions::parse(value.key).map_err(|hint| {
        let what = format!("{} is not two FIX versions", value.key);
        let hint = hint.unwrap_or_else(|| "write FIX.4.2 to FIX.4.4".into());
        Diagnostic::of(value.key_span, what, hint)
    })?;
    let Some(CsvText { file, text }) = reader.open_csv(value)? else {
        let what = format!("{} must be the name of a file", value.key);
        return Err(value.wrong(
            what,
            "fixwire gateway conversion prints a table to start from",
        ));
    };
    tables.replace(from, to, &text).map_err(|error| {
        let what = error.problem.to_string();
        let wrong = Diagnostic::in_file(file, error.line, what, "");
        Diagnostic {
            at: value.at,
            ..wrong
        }
    })?;
    Ok(ConversionFile {
        from,
        to,
        file: String::from(file),
        text,
    })
}
