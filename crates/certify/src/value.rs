//! Field values in a plan: [`SentValue`] in messages to send, [`ExpectedValue`] in expected messages.

use std::time::Duration;

/// The value of a field to send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SentValue {
    /// The text itself.
    Text(String),
    /// `$NAME`: an id that was made in this case, or a value that was received.
    Variable(String),
    /// `now`, `now+10s`, `now-121s`: the time of sending plus this number of nanoseconds.
    Now(i64),
    /// `@N`: the value of the same field in the message of step N.
    SameAs(usize),
    /// `(none)`: the field is left out of the header.
    LeftOut,
}

/// The expected value of a received field.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ExpectedValue {
    /// Exactly this text. A number may have another notation, such as 10.5 for 10.50.
    Text(String),
    /// A text in which `*` stands for any characters.
    Pattern(String),
    /// `{a,b}`: one of these values.
    OneOf(Vec<String>),
    /// `*`: any value.
    Any,
    /// `(none)`: the field is absent.
    Absent,
    /// `$NAME`: the value of the variable. If the variable has no value yet, any value matches and becomes the value
    /// of the variable.
    Variable(String),
    /// `@N`: the value of the same field in the message of step N.
    SameAs(usize),
}

impl SentValue {
    /// Parses a value.
    ///
    /// # Errors
    ///
    /// The error, and the correct form.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(text) = text.strip_prefix('\\') {
            return not_empty(text).map(Self::Text);
        }
        if let Some(name) = text.strip_prefix('$') {
            return variable(name).map(Self::Variable);
        }
        if let Some(number) = text.strip_prefix('@') {
            return step(number).map(Self::SameAs);
        }
        if text == "(none)" {
            return Ok(Self::LeftOut);
        }
        if text.contains('*') {
            return Err(format!(
                "'{text}': * is only for expected values; write \\{text} to send the text itself"
            ));
        }
        if let Some(offset) = text.strip_prefix("now") {
            let nanos = |text: &str| duration(text).map(|time| time.as_nanos() as i64);
            match offset.as_bytes().first() {
                None => return Ok(Self::Now(0)),
                Some(b'+') => return nanos(&offset[1..]).map(Self::Now),
                Some(b'-') => return nanos(&offset[1..]).map(|nanos| Self::Now(-nanos)),
                Some(_) => {}
            }
        }
        not_empty(text).map(|text| Self::Text(text.replace("<SOH>", "\x01")))
    }
}

impl ExpectedValue {
    /// Parses a value.
    ///
    /// # Errors
    ///
    /// The error, and the correct form.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(text) = text.strip_prefix('\\') {
            return not_empty(text).map(Self::Text);
        }
        if let Some(name) = text.strip_prefix('$') {
            return variable(name).map(Self::Variable);
        }
        if let Some(number) = text.strip_prefix('@') {
            return step(number).map(Self::SameAs);
        }
        if let Some(list) = text.strip_prefix('{') {
            let wrong = || format!("'{text}': write the possible values as {{1,2}}");
            let list = list.strip_suffix('}').ok_or_else(wrong)?;
            let values: Vec<String> = list.split(',').map(str::to_owned).collect();
            return match values.iter().any(String::is_empty) {
                true => Err(wrong()),
                false => Ok(Self::OneOf(values)),
            };
        }
        Ok(match text {
            "*" => Self::Any,
            "(none)" => Self::Absent,
            text if text.contains('*') => Self::Pattern(text.to_owned()),
            text => Self::Text(not_empty(text)?),
        })
    }
}

fn not_empty(text: &str) -> Result<String, String> {
    match text {
        "" => Err(
            "the field has no value: write * for any value, (none) if the field must be absent"
                .to_owned(),
        ),
        text => Ok(text.to_owned()),
    }
}

fn variable(name: &str) -> Result<String, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match !name.is_empty() && name.chars().all(is_name) {
        true => Ok(name.to_owned()),
        false => Err(format!(
            "'${name}': the name of a variable has only letters, digits and '_'; write \\${name} for the text itself"
        )),
    }
}

fn step(number: &str) -> Result<usize, String> {
    let parsed = number.parse().ok().filter(|number| *number > 0);
    parsed.ok_or_else(|| {
        format!("'@{number}': write @N with the number of an earlier step, or \\@{number} for the text itself")
    })
}

/// Whether a text matches a pattern in which `*` stands for any characters.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// A duration as `6s`, `1.5s` or `250ms`; at most a day.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    const LONGEST: Duration = Duration::from_secs(86_400);
    let time = fixwire_text::duration(text).map(Duration::from_nanos);
    time.filter(|time| *time <= LONGEST)
        .ok_or_else(|| format!("'{text}' is not a time: write 6s, 1.5s or 250ms, at most a day"))
}

/// Reads a time limit, which must not be zero.
pub(crate) fn time_limit(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err(format!(
            "'{text}' leaves no time: write a time limit such as 250ms or 2s"
        )),
        time => Ok(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_are_written() {
        let sent = |text: &str| SentValue::parse(text).unwrap();
        assert_eq!(sent("VOD"), SentValue::Text("VOD".to_owned()));
        assert_eq!(sent("now"), SentValue::Now(0));
        assert_eq!(sent("now-2s"), SentValue::Now(-2_000_000_000));
        assert_eq!(sent("nowhere"), SentValue::Text("nowhere".to_owned()));
        assert_eq!(sent("$A"), SentValue::Variable("A".to_owned()));
        assert_eq!(sent("\\$A"), SentValue::Text("$A".to_owned()));
        assert_eq!(sent("@3"), SentValue::SameAs(3));
        let expected = |text: &str| ExpectedValue::parse(text).unwrap();
        assert_eq!(expected("*"), ExpectedValue::Any);
        assert_eq!(expected("(none)"), ExpectedValue::Absent);
        assert_eq!(
            expected("{1,F}"),
            ExpectedValue::OneOf(vec!["1".to_owned(), "F".to_owned()])
        );
        assert_eq!(expected("A*"), ExpectedValue::Pattern("A*".to_owned()));
        assert_eq!(sent("\\A*"), SentValue::Text("A*".to_owned()));
        for wrong in ["", "*", "A*", "$", "@0", "now++5ms"] {
            assert!(SentValue::parse(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "$", "$a-b", "@0", "@x", "{1,", "{1,}"] {
            assert!(ExpectedValue::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_star_is_any_characters() {
        for (pattern, text, fit) in [
            ("A*", "ABC", true),
            ("A*", "BAC", false),
            ("*C", "ABC", true),
            ("A*C", "AC", true),
            ("A*A", "A", false),
            ("*B*", "ABC", true),
            ("*b*", "ABC", false),
            ("A*B*C", "AxBxC", true),
            ("A*B*C", "AxC", false),
        ] {
            assert_eq!(fits(pattern, text), fit, "{pattern} {text}");
        }
    }

    #[test]
    fn times_are_seconds_or_milliseconds() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        for wrong in [
            "", "s", "ms", "5", "-1s", "+1s", "1e3s", "infs", "86401s", "xms", "+5ms", "-5ms",
            "1.5ms",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        assert_eq!(duration("0s"), Ok(Duration::ZERO));
        assert_eq!(time_limit("1ms"), Ok(Duration::from_millis(1)));
        for wrong in ["0s", "0ms", "0.0s", "0.0000000001s", "5"] {
            assert!(time_limit(wrong).is_err(), "{wrong}");
        }
    }
}
