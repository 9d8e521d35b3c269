//! Finds conversion tables of the settings that no session uses, for a person who checks the settings.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_transform::convert::{BuiltInConversions, Conversion};

use crate::app::session::OmsSession;
use crate::values::rules::RiskRules;

/// A sentence for each table that neither requests to lines nor reports of lines pass through.
pub(in crate::app) fn unused_tables(rules: &RiskRules, sessions: &[OmsSession]) -> Vec<String> {
    if rules.conversions.iter().next().is_none() {
        return Vec::new();
    }
    let is_line = |it: &OmsSession| rules.groups.iter().any(|of| of.lines.contains(&it.name));
    let (lines, others): (Vec<&OmsSession>, Vec<&OmsSession>) =
        sessions.iter().partition(|it| is_line(it));
    let mut tables = rules.conversions.over(BuiltInConversions::default());
    let mut conversions: Vec<Conversion> = Vec::new();
    let mut add = |from: Version, to: Version| conversions.extend(tables.conversion(from, to));
    for line in &lines {
        for other in &others {
            add(other.version, line.version);
            add(line.version, other.version);
        }
    }
    let files = rules.conversions.iter();
    let unused = files.filter(|it| {
        let mut all = conversions.iter();
        !all.any(|by| tables.is_used(it.from, it.to, by))
    });
    let sentence = unused.map(|it| {
        format!(
            "the conversion table {}, {}, is not used: no line and client have versions between which it converts",
            it.file,
            it.name()
        )
    });
    sentence.collect()
}
