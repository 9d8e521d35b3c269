//! Counts in answers to operators.

use alloc::format;
use alloc::string::String;

/// A number with its noun, which is no plural for one.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
