//! The rows of trading days in a PostgreSQL database, as they change.

use std::fs;
use std::path::Path;

use fixwire::Durability;
use fixwire::log::RowSettings;
use fixwire::settings::{LoadError, Settings, Source};
use fixwire_oms::load::Diagnostic;
use fixwire_oms::rules::RiskRules;
use fixwire_protocol::Secret;

use super::load::found;

#[cfg(feature = "postgresql")]
pub use follower::{DatabasePlan, DatabaseThread};

#[cfg(feature = "postgresql")]
mod follower;
#[cfg(feature = "postgresql")]
mod progress;
#[cfg(feature = "postgresql")]
mod rows;

/// Where the OMS writes its rows; `None` when the settings name no database.
///
/// # Errors
///
/// The file with the password cannot be read, or is empty.
fn row_settings(settings: &Path, rules: &RiskRules) -> Result<Option<RowSettings>, String> {
    let Some(database) = &rules.database else {
        return Ok(None);
    };
    let beside = settings.parent().unwrap_or(Path::new(""));
    let password = rules.database_password_file.as_ref().map(|name| {
        let path = beside.join(name);
        let wrong = |why: String| format!("database_password_file {} {why}", path.display());
        let text = fs::read_to_string(&path);
        let text = text.map_err(|error| wrong(format!("cannot be read: {error}")))?;
        match text.trim_end_matches(['\r', '\n']) {
            "" => Err(wrong("is empty".into())),
            password => Ok(Secret::from(password)),
        }
    });
    Ok(Some(RowSettings {
        database: database.address.clone(),
        password: password.transpose()?,
        prefix: rules.database_prefix.0.clone(),
    }))
}

/// Checks the settings of the database. Does not connect to the database.
///
/// # Errors
///
/// The journal is only in memory, the address, the prefix or the password file cannot be used, or this build does not
/// support databases.
pub fn check(
    source: &Source,
    settings: &Settings,
    rules: &RiskRules,
    durability: Durability,
) -> Result<(), LoadError> {
    let Some(database) = &rules.database else {
        return Ok(());
    };
    let wrong = |place: usize, what: String, hint: &str| {
        let problem = Diagnostic::new(place, what, hint);
        Err(found(source, settings, &[problem]))
    };
    // The address may have a password. An error in such an address is shown at the head of the table `[oms]`, not at
    // the line with the password.
    let place = match database.address.matches(['@', '=']).count() {
        0 => database.place,
        _ => source.text.find("[oms]").unwrap_or_default(),
    };
    if durability == Durability::Memory {
        let what = "database needs a journal, and Durability=memory keeps none".to_owned();
        let hint = "set Durability to process or disk, or remove database";
        return wrong(place, what, hint);
    }
    let rows = match row_settings(&source.path, rules) {
        Ok(rows) => rows,
        Err(what) => {
            let hint = "write the password into this file, which only its user can read";
            return wrong(place, what, hint);
        }
    };
    match rows.map(|rows| rows.check()) {
        None | Some(Ok(())) => Ok(()),
        Some(Err(error)) => {
            let hint = "write database = \"postgresql://USER@HOST:PORT/DATABASE\"";
            wrong(place, error.to_string(), hint)
        }
    }
}
