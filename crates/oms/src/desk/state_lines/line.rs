//! The lines, and the form of values in them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Write as _};

use crate::values::value::{Number, Text};

/// Lines that are being written.
#[derive(Debug, Default)]
pub(crate) struct StateLines {
    text: String,
    ends: Vec<usize>,
    /// Subject of the next lines.
    subject: String,
}

impl StateLines {
    /// Sets the subject of the next lines.
    pub(crate) fn of(&mut self, subject: fmt::Arguments<'_>) {
        self.subject.clear();
        // A String takes everything.
        let _ = self.subject.write_fmt(subject);
    }

    /// A line.
    pub(crate) fn say(&mut self, name: &str, value: impl Display) {
        let _ = write!(self.text, "{} {name}={value}", self.subject);
        self.ends.push(self.text.len());
    }

    /// Adds a line for a value that is not 0.
    pub(crate) fn count<T: Display + Default + PartialEq>(&mut self, name: &str, value: T) {
        if value != T::default() {
            self.say(name, value);
        }
    }

    /// Adds a line for a value that is present.
    pub(crate) fn some(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.say(name, value);
        }
    }

    /// Adds a line for a flag that is true.
    pub(crate) fn flag(&mut self, name: &str, is: bool) {
        if is {
            self.say(name, "yes");
        }
    }

    /// Adds a line for a text that is not empty.
    pub(crate) fn text(&mut self, name: &str, text: &Text) {
        if !text.bytes().is_empty() {
            self.say(name, text.bytes().escape_ascii());
        }
    }

    /// Adds a line for each value, with its position from 1.
    pub(crate) fn each<T: Display>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        for (place, value) in (1_u64..).zip(values) {
            let _ = write!(self.text, "{} {name} {place}={value}", self.subject);
            self.ends.push(self.text.len());
        }
    }

    /// All lines, sorted, each with a newline.
    pub(crate) fn sorted(&self) -> String {
        let starts = core::iter::once(0).chain(self.ends.iter().copied());
        let lines = starts.zip(&self.ends);
        let mut lines: Vec<&str> = lines.map(|(start, end)| &self.text[start..*end]).collect();
        lines.sort_unstable();
        let mut all = String::with_capacity(self.text.len() + lines.len());
        for line in lines {
            all.push_str(line);
            all.push('\n');
        }
        all
    }
}

/// A price, or a sum of prices, with this number of decimals.
pub(crate) struct Scaled(pub i128, pub u8);

impl Display for Scaled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, scale) = *self;
        // Only a damaged checkpoint has so many decimals.
        let Some(one) = 10_u128.checked_pow(scale.into()) else {
            return write!(f, "{value}e-{scale}");
        };
        let sign = if value < 0 { "-" } else { "" };
        let (whole, part) = (value.unsigned_abs() / one, value.unsigned_abs() % one);
        match scale {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{part:0width$}", width = scale.into()),
        }
    }
}

/// Money, in 10^-9.
pub(crate) fn money(value: i128) -> Scaled {
    Scaled(value, 9)
}

/// A hash, of an ExecID(17) or a ClOrdID(11).
pub(crate) struct Hash(pub u64);

impl Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A hash that is set.
pub(crate) fn hash(value: u64) -> Option<Hash> {
    (value != 0).then_some(Hash(value))
}

/// An order, by its number.
pub(crate) struct OrderNo(pub Number);

impl Display for OrderNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "order {}", self.0)
    }
}

/// A time, and the value to which it belongs.
pub(crate) struct At<T>(pub i64, pub T);

impl<T: Display> Display for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.1, self.0)
    }
}

/// A name, or the number of something without a name.
pub(crate) enum Name<'a> {
    Known(&'a [u8]),
    Unknown(u32),
    None,
}

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(name) => write!(f, "{}", name.escape_ascii()),
            Self::None => f.write_str("without name 4294967295"),
            Self::Unknown(number) => write!(f, "without name {number}"),
        }
    }
}

/// A value for which FIX has a byte.
pub(crate) fn byte(value: u8) -> core::ascii::EscapeDefault {
    core::ascii::escape_default(value)
}
