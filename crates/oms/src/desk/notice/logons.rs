//! Why the OMS refuses a Logon of a session that a template would create. The engine raises the event.

/// The settings have no user for the session.
pub(crate) const NO_USER: &str = "no [[user]] of the OMS takes a session of this name";
/// A session of the file, a link or a session of another template has the name.
pub(crate) const NAME_TAKEN: &str = "the OMS has another session of this name";
/// The template of the user has all the sessions that it may have.
pub(crate) const TOO_MANY: &str =
    "too many sessions of this template: max_sessions of its [[user]]";
