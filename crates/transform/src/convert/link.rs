//! [`TableLink`]: a conversion table between two dictionaries.

use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Dictionary;

use super::level::Levels;
use super::parse;
use super::policy::Policies;
use super::problem::ConversionTableError;
use super::statement::Statement;

/// A table between two dictionaries.
#[derive(Debug)]
pub struct TableLink {
    pub from: Arc<Dictionary>,
    pub to: Arc<Dictionary>,
    pub levels: Levels,
    pub statements: Vec<Statement>,
    pub policies: Policies,
}

impl TableLink {
    pub fn new(
        text: &str,
        from: Arc<Dictionary>,
        to: Arc<Dictionary>,
    ) -> Result<Self, ConversionTableError> {
        let mut levels = Levels::new(&from, &to);
        let (statements, policies) = parse::table(text, &from, &to, &mut levels)?;
        Ok(Self {
            from,
            to,
            levels,
            statements,
            policies,
        })
    }
}
