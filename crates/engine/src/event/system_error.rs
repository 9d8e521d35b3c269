//! A system error that can be copied and compared, with the text of the system.

use std::fmt;
use std::io::{self, ErrorKind};

/// A system error: an [`io::Error`] that needs no allocation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SystemError {
    kind: ErrorKind,
    /// The system's error number, if the error has one. Many error numbers have no [`ErrorKind`] of their own.
    code: Option<i32>,
}

impl SystemError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(self) -> ErrorKind {
        self.kind
    }
}

impl From<&io::Error> for SystemError {
    fn from(error: &io::Error) -> Self {
        Self {
            kind: error.kind(),
            code: error.raw_os_error(),
        }
    }
}

impl From<ErrorKind> for SystemError {
    fn from(kind: ErrorKind) -> Self {
        Self { kind, code: None }
    }
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(code) = self.code else {
            return write!(f, "{}", self.kind);
        };
        let text = io::Error::from_raw_os_error(code).to_string();
        let words = text.split(" (os error").next().unwrap_or_default();
        let mut letters = words.chars();
        match letters.next() {
            Some(first) => write!(f, "{}{}", first.to_ascii_lowercase(), letters.as_str()),
            None => write!(f, "error {code} of the system"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_without_a_kind_says_what_the_system_says() {
        let shown = |code| SystemError::from(&io::Error::from_raw_os_error(code)).to_string();
        assert_eq!(shown(24), "too many open files");
        assert_eq!(shown(104), "connection reset by peer");
        let made = SystemError::from(&io::Error::from(ErrorKind::BrokenPipe));
        assert_eq!(made.to_string(), "broken pipe");
        assert_eq!(made, ErrorKind::BrokenPipe.into());
    }
}
