//! Users by template: one `[[user]]` for several sessions.

use alloc::string::String;
use alloc::vec::Vec;

/// A `[[user]]` whose `session` is a pattern such as `CLIENT*`. Each of its sessions is a user of its own.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UserTemplate {
    /// The pattern: a prefix before `*`.
    pub pattern: String,
    /// The names of the sessions that have the settings of the template.
    pub sessions: Vec<String>,
}
