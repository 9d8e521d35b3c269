//! Commands and queries of operators, and their rights.

use fixwire_protocol::OperatorRight;
use fixwire_text::first_word;

/// Commands and queries, and the right that each requires.
pub const RIGHTS: [(&str, OperatorRight); 19] = [
    ("state", OperatorRight::Market),
    ("uncross", OperatorRight::Market),
    ("band", OperatorRight::Market),
    ("bulletin", OperatorRight::Market),
    ("bust", OperatorRight::Market),
    ("correct", OperatorRight::Market),
    ("status", OperatorRight::Market),
    ("fault", OperatorRight::Command),
    ("lock", OperatorRight::Session),
    ("unlock", OperatorRight::Session),
    ("instruments", OperatorRight::Read),
    ("book", OperatorRight::Read),
    ("scripts", OperatorRight::Read),
    ("lines", OperatorRight::Read),
    ("faults", OperatorRight::Read),
    ("orders", OperatorRight::Read),
    ("fills", OperatorRight::Read),
    ("counts", OperatorRight::Read),
    ("figures", OperatorRight::Read),
];

/// The right that a command or query requires; `None` if the command is unknown.
pub(super) fn right(text: &[u8]) -> Option<OperatorRight> {
    let (verb, _) = first_word(core::str::from_utf8(text).ok()?);
    let known = RIGHTS.iter().find(|(known, _)| *known == verb);
    known.map(|(_, right)| *right)
}
