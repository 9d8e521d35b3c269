//! Phrases that no text of the repository has, each with the words of the field for it.
//!
//! Readers of our errors and pages have used another FIX engine for years: one word for one thing, everywhere.

/// Each phrase in lower case, and its replacement.
pub const PHRASES: [(&str, &str); 34] = [
    ("held against", CHECKED),
    ("hold against", CHECKED),
    ("holds against", CHECKED),
    ("holding against", CHECKED),
    ("is told", REPORTED),
    ("are told", REPORTED),
    ("be told", REPORTED),
    ("was told", REPORTED),
    ("were told", REPORTED),
    ("been told", REPORTED),
    ("gets told", REPORTED),
    ("hear of", LEARNED),
    ("hears of", LEARNED),
    ("heard of", LEARNED),
    ("star out", MASKED),
    ("stars out", MASKED),
    ("starred out", MASKED),
    ("repeated message", DUPLICATE),
    ("repeated messages", DUPLICATE),
    ("there is none", MISSING),
    ("there are none", MISSING),
    ("is gone", CLOSED),
    ("are gone", CLOSED),
    ("was gone", CLOSED),
    ("were gone", CLOSED),
    ("does not take", REFUSED),
    ("do not take", REFUSED),
    ("is meant by", UNKNOWN),
    ("session is meant", UNKNOWN),
    ("so many in a time", "rate limit, at most N a second"),
    ("did not come", "was not received, no response"),
    ("no equal", "cannot be converted, has no counterpart"),
    ("stands there", PRESENT),
    ("stand there", PRESENT),
];

const CHECKED: &str = "validated against, checked against, compared with";
const REPORTED: &str = "is reported, is notified, receives an event, learns";
const LEARNED: &str = "an event reports, receives, is notified of";
const MASKED: &str = "mask, masks, masked";
const DUPLICATE: &str = "possible duplicate, resent message";
const MISSING: &str = "missing, not configured, absent";
const CLOSED: &str = "disconnected, removed, closed, lost";
const REFUSED: &str = "rejects, refuses (a Logon), does not accept";
const UNKNOWN: &str = "names, identifies; unknown session";
const PRESENT: &str = "is present, is listed, appears";

/// The places where a text has one of these phrases: the line, the phrase, and the words to write instead.
///
/// A comment that continues on the next line counts as one line, and so do the lines of a paragraph.
pub fn phrases(text: &str) -> Vec<String> {
    let joined = Joined::of(text);
    let mut found = Vec::new();
    for (phrase, instead) in PHRASES {
        for (at, _) in joined.text.match_indices(phrase) {
            if joined.is_whole(at, phrase.len()) {
                let line = joined.line(at);
                found.push((line, format!("line {line}: \"{phrase}\": say {instead}")));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, violation)| violation).collect()
}

/// A text in lower case with its lines joined by single blanks.
struct Joined {
    text: String,
    /// The beginning of each line.
    starts: Vec<usize>,
}

impl Joined {
    fn of(text: &str) -> Self {
        let (mut joined, mut starts) = (String::new(), Vec::new());
        for line in text.lines() {
            starts.push(joined.len());
            let line = line.trim().to_lowercase();
            let comment = ["///", "//!", "//", "#!", "#", ">"].into_iter();
            let mut rests = comment.filter_map(|mark| line.strip_prefix(mark));
            let rest = rests.next().unwrap_or(&line);
            // A text between quotes continues after a backslash.
            let before = joined.len();
            for word in rest.trim_end_matches('\\').split_whitespace() {
                joined.push_str(word);
                joined.push(' ');
            }
            if joined.len() == before {
                joined.push('\n');
            }
        }
        Self {
            text: joined,
            starts,
        }
    }

    /// Whether the phrase is not part of longer words.
    fn is_whole(&self, at: usize, length: usize) -> bool {
        let (before, behind) = (&self.text[..at], &self.text[at + length..]);
        !before.ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric)
    }

    /// The line of this place, from 1.
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_wherever_it_is_cut() {
        for text in [
            "The order is HELD against the limits.",
            "/// The order is held\n    /// against the limits.",
            "// held\n//! against",
            "# held\n# against",
            "panic!(\"held against\")",
            "held\n  against",
            "say(\"held \\\n  against\")",
            "(held against)",
        ] {
            let found = phrases(text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with("line 1: \"held against\": say "));
        }
        let found = phrases("one\ntwo is gone\nthree\n// there is\n// none");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("line 2: ") && found[1].starts_with("line 4: "));
    }

    #[test]
    fn words_that_only_look_like_one_may_stand() {
        for text in [
            "upheld against",
            "there is nonetheless",
            "no equality",
            "beheld_against",
            "shear of",
            "held, against",
            "held\n\nagainst",
        ] {
            assert!(phrases(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn each_phrase_can_be_found() {
        for (phrase, _) in PHRASES {
            assert_eq!(phrase, phrase.to_lowercase());
            assert!(!phrases(phrase).is_empty(), "{phrase}");
        }
    }
}
