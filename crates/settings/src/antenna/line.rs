//! Reads the lines of a `.properties` file, without Java's escapes.

use super::super::dialect::Dialect;
use super::super::ini::{Source, Span};
use super::super::problem::{Problem, SettingsFault};

/// Maximum length of a property name, in bytes.
const LONGEST: usize = 1000;

/// Characters that start a comment: the first two in Java, the others and `#` in .NET.
const COMMENTS: [char; 4] = ['#', '!', ';', '\''];

/// A name and a value.
#[derive(Debug)]
pub struct PropertyLine {
    /// The position of the name.
    pub key: Span,
    /// The position of the value. The value may be empty and may span several lines.
    pub value: Span,
    /// The name.
    pub name: String,
    /// The value, trimmed.
    pub text: String,
    /// Whether the value must never be shown.
    pub secret: bool,
}

/// All lines of a file that are neither empty nor comments.
pub fn lines(source: &Source, problems: &mut Vec<Problem>) -> Vec<PropertyLine> {
    let mut found = Vec::new();
    let text = &source.text;
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    while at < text.len() {
        let end = end_of(text, at);
        let whole = trimmed(text, at, end);
        at = end;
        let content = source.slice(whole);
        if content.is_empty() || content.starts_with(COMMENTS) {
            continue;
        }
        match line(text, whole) {
            Ok(line) => {
                if content.contains('\\') {
                    let note = "for .NET reads each `\\` literally; fixwire reads it as an escape, as FIX Antenna \
                         for Java does";
                    let fault = SettingsFault::Differs {
                        dialect: Dialect::Antenna,
                        note: note.to_owned(),
                    };
                    let span = line.value;
                    problems.push(Problem { span, fault });
                }
                found.push(line);
            }
            Err(fault) => problems.push(Problem { span: whole, fault }),
        }
    }
    found
}

/// The end of the line that begins here, with the continuation lines that follow a `\`.
fn end_of(text: &str, start: usize) -> usize {
    let mut end = start;
    let first = text[start..].trim_start_matches([' ', '\t', '\u{c}']);
    let comment = first.starts_with(COMMENTS);
    for line in text[start..].split_inclusive('\n') {
        end += line.len();
        let content = line.trim_end_matches(['\r', '\n']);
        let slashes = content.len() - content.trim_end_matches('\\').len();
        if comment || slashes.is_multiple_of(2) {
            break;
        }
    }
    end
}

fn line(text: &str, whole: Span) -> Result<PropertyLine, SettingsFault> {
    let content = &text[whole.start..whole.end];
    let mut escaped = false;
    let separator = content.char_indices().find(|(_, c)| {
        let is = !escaped && matches!(c, '=' | ':');
        escaped = !escaped && *c == '\\';
        is
    });
    let (at, behind) = match separator {
        Some((at, _)) => (at, at + 1),
        // Java accepts a blank as a separator, too.
        None => {
            let at = content
                .find(char::is_whitespace)
                .ok_or(SettingsFault::NoEquals)?;
            (at, at)
        }
    };
    let key = trimmed(text, whole.start, whole.start + at);
    if key.start == key.end {
        return Err(SettingsFault::EmptyKey);
    }
    if key.end - key.start > LONGEST {
        return Err(SettingsFault::UnknownKey {
            nearest: None,
            kept_by: None,
        });
    }
    let value = trimmed(text, whole.start + behind, whole.end);
    let plain = |span: Span| plain(&text[span.start..span.end]);
    let mut value_text = plain(value)?;
    // FIX Antenna for .NET removes quotes.
    let quotes = ['"', '\''];
    if value_text.len() > 1 && value_text.starts_with(quotes) && value_text.ends_with(quotes) {
        value_text = value_text.trim_matches(quotes).trim().to_owned();
    }
    Ok(PropertyLine {
        key,
        value,
        name: plain(key)?,
        text: value_text,
        secret: false,
    })
}

/// The text with its escapes replaced and its line ends removed.
fn plain(text: &str) -> Result<String, SettingsFault> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match rest.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\u{c}'),
            Some('u') => {
                let digits: String = rest.by_ref().take(4).collect();
                let hex = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                let code = u32::from_str_radix(&digits, 16).ok().filter(|_| hex);
                let note = "`\\u` must be followed by the four hexadecimal digits of a character";
                let character = code.and_then(char::from_u32);
                out.push(character.ok_or(SettingsFault::Conflict { note: note.into() })?);
            }
            Some('\r' | '\n') => {
                // The next line without its leading blanks.
                let next = rest.as_str().trim_start();
                rest = next.chars();
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    Ok(out.trim().to_owned())
}

/// The span without the blanks at its ends. A `\` and a line end do not count as blanks here.
fn trimmed(text: &str, start: usize, end: usize) -> Span {
    let slice = &text[start..end];
    let front = slice.trim_start();
    let start = start + (slice.len() - front.len());
    Span {
        start,
        end: start + front.trim_end().len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<(String, String)>, usize) {
        let source = Source {
            path: "x.properties".into(),
            text: text.into(),
        };
        let mut problems = Vec::new();
        let lines = lines(&source, &mut problems);
        for line in &lines {
            assert!(source.slice(line.key).len() >= line.name.len());
        }
        let lines = lines.into_iter().map(|line| (line.name, line.text));
        (lines.collect(), problems.len())
    }

    #[test]
    fn lines_are_those_of_java() {
        let text = "\u{feff}# a = b\n! a = b\r\n  ; a = b\n' a\n\n a = 1 \r\nb:2\nc 3\n\
                    d = x\\\n   y,\\\r\n\tz\ne\\=f = \\u0041\\tB\\\\\ng = \"q 'r\"\nh =\n# \\\ni=\\";
        let (lines, problems) = read(text);
        let expected = [
            ("a", "1"),
            ("b", "2"),
            ("c", "3"),
            ("d", "xy,z"),
            ("e=f", "A\tB\\"),
            ("g", "q 'r"),
            ("h", ""),
            ("i", ""),
        ];
        let expected = expected.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(lines, expected);
        assert_eq!(problems, 3, "escapes give warnings");
    }

    #[test]
    fn bad_lines_are_reported() {
        for text in [
            "nonsense",
            "=1",
            " : 1",
            "a=\\u00",
            "a=\\uD800",
            "a=\\u+041",
        ] {
            let (lines, problems) = read(text);
            assert!(lines.is_empty() && problems == 1, "{text}: {lines:?}");
        }
        let long = format!("{}=1", "x".repeat(LONGEST + 1));
        assert_eq!(read(&long).1, 1);
    }
}
