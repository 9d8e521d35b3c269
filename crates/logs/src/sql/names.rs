//! Valid names for the tables of a log.

use fixwire_engine::log::LogError;

/// The table that has the written position of each journal.
pub(super) const POSITIONS: &str = "fixwire_log_position";
/// Maximum length of the name of a table or schema. PostgreSQL truncates longer names.
const LONGEST_NAME: usize = 63;

/// Checks the name of a table. Names are inserted into statements unquoted, so that upper and lower case have the
/// meaning that the database gives them, as with QuickFIX. Therefore a name may have only letters, digits and `_`.
pub(crate) fn check_table(name: &str, with_schema: bool) -> Result<(), LogError> {
    let is_plain = |part: &str| {
        let first = part.bytes().next();
        part.len() <= LONGEST_NAME
            && first.is_some_and(|c| c.is_ascii_alphabetic() || c == b'_')
            && part.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
    };
    let (schema, table) = match name.split_once('.') {
        Some((schema, table)) if with_schema => (Some(schema), table),
        _ => (None, name),
    };
    if !schema.is_none_or(is_plain) || !is_plain(table) {
        return Err(LogError(format!(
            "{:?} is not a valid table name: expected letters, digits and '_', at most {LONGEST_NAME}",
            name
        )));
    }
    if table.eq_ignore_ascii_case(POSITIONS) {
        return Err(LogError(format!(
            "{POSITIONS} is reserved for the log itself"
        )));
    }
    Ok(())
}
