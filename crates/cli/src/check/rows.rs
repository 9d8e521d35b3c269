//! Rows of the output of `fixwire check`.

use std::io::{self, Write};

use fixwire::settings::{Dialect, Origin, Setting, Settings};

/// A key with its value and its origin.
pub(super) struct Row {
    pub key: String,
    pub value: String,
    pub origin: String,
    pub differs: Option<String>,
}

pub(super) fn section(
    title: &str,
    rows: &[Row],
    dialect: Dialect,
    out: &mut impl Write,
) -> io::Result<()> {
    const WIDEST: usize = 40;
    let width = |column: &dyn Fn(&Row) -> usize| {
        let widths = rows.iter().map(column);
        widths.max().unwrap_or(0).min(WIDEST)
    };
    let (keys, values) = (
        width(&|row| row.key.chars().count()),
        width(&|row| row.value.chars().count()),
    );
    writeln!(out, "{title}")?;
    for row in rows {
        let (key, value, origin) = (&row.key, &row.value, &row.origin);
        write!(out, "  {key:keys$}  {value:values$}  {origin}")?;
        match &row.differs {
            Some(note) => writeln!(out, "; {dialect} {note}")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// Whether a value differs from fixwire's default.
pub(super) fn is_changed(setting: &Setting) -> bool {
    let usual = setting.key.default.map(|text| setting.key.kind.parse(text));
    usual != Some(Ok(setting.value.clone()))
}

pub(super) fn key(setting: &Setting) -> String {
    match setting.number {
        Some(number) => format!("{}{number}", setting.key.name),
        None => setting.key.name.to_owned(),
    }
}

/// The origin of a value. For the default of another engine, also fixwire's default.
pub(super) fn origin(settings: &Settings, setting: &Setting) -> String {
    match (setting.origin, setting.key.default) {
        (Origin::Dialect(dialect), Some(ours)) => {
            format!("default of {dialect} (fixwire: {ours})")
        }
        (origin, _) => place(settings, origin),
    }
}

pub(super) fn place(settings: &Settings, origin: Origin) -> String {
    let source = &settings.report.source;
    let path = source.path.display();
    match origin {
        Origin::BuiltIn => "built-in".into(),
        Origin::Dialect(dialect) => format!("default of {dialect}"),
        Origin::Default(span) => format!("{path}:{} [DEFAULT]", source.line(span)),
        Origin::Session(span) => format!("{path}:{}", source.line(span)),
    }
}
