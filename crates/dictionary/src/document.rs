//! Reads XML for all dictionary files: limits, encodings, positions, and elements with attributes.
//!
//! Document types are refused, and so are all entities except the five of XML. Nothing is fetched. A text that would
//! make the parser slow is refused before it is parsed.

use alloc::string::{String, ToString};
use core::fmt;

use fixwire_protocol::dictionary::DefinitionProblem;
use fixwire_protocol::dictionary::compile::CompileError;
use roxmltree::{Document, Node, ParsingOptions};

use crate::problem::{DictionaryProblem, cut};

/// Limits for reading a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DocumentLimits {
    /// Maximum length of the text, in bytes.
    pub bytes: usize,
    /// Maximum depth of elements within each other.
    pub depth: usize,
    /// Maximum number of nodes: elements, texts and comments. Attributes do not count.
    pub nodes: u32,
}

impl Default for DocumentLimits {
    /// 32 MiB, a depth of 64 and 4 million nodes. The size limit is ten times the largest file of the standard.
    fn default() -> Self {
        Self {
            bytes: 32 << 20,
            depth: 64,
            nodes: 4_000_000,
        }
    }
}

impl DocumentLimits {
    /// The limits for a delta. A delta's text may have 256 MiB, because the difference of two large dictionaries lists
    /// each member of each message, and is longer than both dictionaries.
    pub fn of_delta() -> Self {
        Self {
            bytes: 256 << 20,
            ..Self::default()
        }
    }
}

/// An error in a dictionary file, with its position and how to correct it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DictionaryError {
    /// Line of the text, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The error.
    pub problem: DictionaryProblem,
}

impl fmt::Display for DictionaryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.problem
        )
    }
}

impl core::error::Error for DictionaryError {}

/// A problem, and its byte offset in the text.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub at: usize,
    pub problem: DictionaryProblem,
}

impl Misfit {
    pub fn new(at: usize, problem: impl Into<DictionaryProblem>) -> Self {
        let problem = problem.into();
        Self { at, problem }
    }
}

impl From<CompileError> for Misfit {
    fn from(error: CompileError) -> Self {
        Self::new(error.at, error.problem)
    }
}

/// The text of a file. The text must be UTF-8, with or without a byte order mark, and must not be declared to have
/// another encoding.
///
/// # Errors
///
/// [`DictionaryProblem::Encoding`] with the position of the first byte that cannot be read.
pub fn text_of(bytes: &[u8]) -> Result<&str, DictionaryError> {
    let wrong = |line, column, found: &str| DictionaryError {
        line,
        column,
        problem: DictionaryProblem::Encoding(found.into()),
    };
    if bytes.starts_with(&[0xfe, 0xff]) || bytes.starts_with(&[0xff, 0xfe]) {
        return Err(wrong(1, 1, "UTF-16"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let said = declared_encoding(bytes);
    let is_utf8 = |name: &[u8]| {
        name.eq_ignore_ascii_case(b"UTF-8")
            || name.eq_ignore_ascii_case(b"UTF8")
            || name.eq_ignore_ascii_case(b"US-ASCII")
            || name.eq_ignore_ascii_case(b"ASCII")
    };
    let text = core::str::from_utf8(bytes).map_err(|error| {
        let before = core::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
        let (line, column) = line_and_column(before);
        let name = said.and_then(|name| core::str::from_utf8(name).ok());
        wrong(line, column, name.unwrap_or("bytes that are not UTF-8"))
    })?;
    // Text that is pure ASCII is the same in nearly all encodings, whatever encoding the file declares.
    match said {
        Some(name) if !is_utf8(name) && (!text.is_ascii() || is_wide(name)) => {
            let name = core::str::from_utf8(name).unwrap_or("another encoding");
            Err(wrong(1, 1, name))
        }
        _ => Ok(text),
    }
}

/// Names of the single-byte encodings that are supported.
const SINGLE_BYTES: [(&str, &str); 10] = [
    ("ISO-8859-1", "ISO-8859-1"),
    ("ISO8859-1", "ISO-8859-1"),
    ("ISO_8859-1", "ISO-8859-1"),
    ("LATIN1", "ISO-8859-1"),
    ("LATIN-1", "ISO-8859-1"),
    ("ISO-8859-15", "ISO-8859-15"),
    ("ISO8859-15", "ISO-8859-15"),
    ("LATIN-9", "ISO-8859-15"),
    ("WINDOWS-1252", "windows-1252"),
    ("CP1252", "windows-1252"),
];
/// The characters for the bytes 0x80 to 0x9F in windows-1252.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The text and the encoding of a file that declares a single-byte encoding and has characters outside ASCII.
pub(crate) fn single_bytes(bytes: &[u8]) -> Option<(String, &'static str)> {
    let said = declared_encoding(bytes)?;
    let mut names = SINGLE_BYTES.iter();
    let (_, name) = names.find(|(name, _)| said.eq_ignore_ascii_case(name.as_bytes()))?;
    let character = |byte: &u8| match (*name, *byte) {
        ("windows-1252", 0x80..=0x9f) => WINDOWS_1252[usize::from(byte - 0x80)],
        ("ISO-8859-15", 0xa4) => '€',
        ("ISO-8859-15", 0xa6) => 'Š',
        ("ISO-8859-15", 0xa8) => 'š',
        ("ISO-8859-15", 0xb4) => 'Ž',
        ("ISO-8859-15", 0xb8) => 'ž',
        ("ISO-8859-15", 0xbc) => 'Œ',
        ("ISO-8859-15", 0xbd) => 'œ',
        ("ISO-8859-15", 0xbe) => 'Ÿ',
        // The characters of ISO-8859-1 are the first 256 characters of Unicode.
        (_, byte) => char::from(byte),
    };
    (!bytes.is_ascii()).then(|| (bytes.iter().map(character).collect(), *name))
}

/// Whether ASCII letters are not single bytes in this encoding.
fn is_wide(name: &[u8]) -> bool {
    let begins = |prefix: &[u8]| {
        name.get(..prefix.len())
            .is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
    };
    [
        &b"UTF-16"[..],
        b"UTF-32",
        b"UCS",
        b"ISO-10646",
        b"UTF-7",
        b"EBCDIC",
        b"IBM",
    ]
    .into_iter()
    .any(begins)
}

/// The value of `encoding` in `<?xml … ?>`.
fn declared_encoding(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(b"<?xml")?;
    let end = rest.windows(2).take(256).position(|two| two == b"?>")?;
    let inside = &rest[..end];
    let at = inside.windows(8).position(|word| word == b"encoding")?;
    let mut parts = inside[at + 8..].splitn(3, |byte| matches!(byte, b'"' | b'\''));
    parts.next()?;
    parts.next()
}

/// Parses a text and passes its root element to a function. Errors get their line and column.
pub(crate) fn parse<T>(
    text: &str,
    limits: DocumentLimits,
    read: impl FnOnce(Node<'_, '_>) -> Result<T, Misfit>,
) -> Result<T, DictionaryError> {
    if text.len() > limits.bytes {
        return Err(DictionaryError {
            line: 1,
            column: 1,
            problem: DictionaryProblem::TooLong {
                limit: limits.bytes,
            },
        });
    }
    if let Some((at, problem)) = costly(text, limits.depth) {
        return Err(at_byte(text, at, problem));
    }
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: limits.nodes,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let position = error.pos();
        let problem = match error {
            roxmltree::Error::NodesLimitReached => {
                let (what, limit) = ("elements", limits.nodes as usize);
                DefinitionProblem::TooMany { what, limit }.into()
            }
            error => DictionaryProblem::Xml(error.to_string()),
        };
        DictionaryError {
            line: position.row,
            column: position.col,
            problem,
        }
    })?;
    read(document.root_element()).map_err(|misfit| at_byte(text, misfit.at, misfit.problem))
}

/// The error for a problem at a byte offset of the text.
pub(crate) fn at_byte(text: &str, at: usize, problem: DictionaryProblem) -> DictionaryError {
    let (line, column) = line_and_column(text.get(..at).unwrap_or(text));
    DictionaryError {
        line,
        column,
        problem,
    }
}

/// The line and column, both from 1, at the end of this text.
pub(crate) fn line_and_column(before: &str) -> (u32, u32) {
    let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
    let column = 1 + before
        .chars()
        .rev()
        .take_while(|&letter| letter != '\n')
        .count();
    let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
    (number(line), number(column))
}

/// The name of the outermost element, without its prefix. Empty when no element is found.
pub(crate) fn root_name(text: &str) -> &str {
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let tag = &rest[at + 1..];
        let skipped = match tag.as_bytes().first() {
            Some(b'?') => tag.find("?>"),
            Some(b'!') if tag.starts_with("!--") => tag.find("-->"),
            _ => {
                let end = tag.find(|letter: char| letter.is_whitespace() || "/>".contains(letter));
                let name = &tag[..end.unwrap_or(tag.len())];
                return name.rsplit(':').next().unwrap_or(name);
            }
        };
        match skipped {
            Some(end) => rest = &tag[end..],
            None => return "",
        }
    }
    ""
}

/// Finds a place that would make the parser slow or use much stack. The parser compares each attribute of an element
/// with the attributes before it, copies the namespaces of each parent, and calls itself for children. A dictionary
/// has about five attributes in an element, and about four namespaces.
fn costly(text: &str, depth_limit: usize) -> Option<(usize, DictionaryProblem)> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut namespaces) = (0, 0usize, 0usize);
    let behind = |from: usize, end: &str| Some(from + text.get(from..)?.find(end)? + end.len());
    while let Some(open) = text.get(at..).and_then(|rest| rest.find('<')) {
        let open = at + open;
        let tag = &bytes[open..];
        let next = match tag {
            [b'<', b'!', b'-', b'-', ..] => behind(open + 4, "-->"),
            [b'<', b'!', b'[', ..] => behind(open + 3, "]]>"),
            // The parser will refuse this text.
            [b'<', b'!', ..] => None,
            [b'<', b'?', ..] => behind(open + 2, "?>"),
            [b'<', b'/', ..] => {
                depth = depth.saturating_sub(1);
                behind(open + 2, ">")
            }
            _ => {
                let tag = match start_tag(tag) {
                    Ok(tag) => tag,
                    Err(at) => return Some((open + at, TOO_MANY_ATTRIBUTES)),
                };
                namespaces += tag.namespaces;
                if namespaces > MAX_NAMESPACES {
                    let problem = DefinitionProblem::TooMany {
                        what: "namespaces",
                        limit: MAX_NAMESPACES,
                    };
                    return Some((open, problem.into()));
                }
                depth += usize::from(!tag.closed);
                if depth > depth_limit + OUTER_DEPTH {
                    return Some((open, DefinitionProblem::TooDeep.into()));
                }
                Some(open + tag.len)
            }
        };
        at = next?;
    }
    None
}

/// Number of elements around and inside the structures that `DocumentLimits::depth` counts.
const OUTER_DEPTH: usize = 8;
const MAX_ATTRIBUTES: usize = 256;
const MAX_NAMESPACES: usize = 16;
const TOO_MANY_ATTRIBUTES: DictionaryProblem =
    DictionaryProblem::Definition(DefinitionProblem::TooMany {
        what: "attributes in one element",
        limit: MAX_ATTRIBUTES,
    });

struct StartTag {
    len: usize,
    namespaces: usize,
    /// Whether the element has no content: `/>`.
    closed: bool,
}

/// Skips `<name a="..." ...>`. The error is the position of the first attribute above the limit.
fn start_tag(tag: &[u8]) -> Result<StartTag, usize> {
    let (mut attributes, mut namespaces, mut quote) = (0, 0, None);
    for (at, &byte) in tag.iter().enumerate() {
        match (byte, quote) {
            (byte, Some(end)) if byte == end => quote = None,
            (_, Some(_)) => {}
            (b'"' | b'\'', None) => quote = Some(byte),
            (b'>', None) => {
                return Ok(StartTag {
                    len: at + 1,
                    namespaces,
                    closed: tag[at - 1] == b'/',
                });
            }
            (b'=', None) => {
                attributes += 1;
                if attributes > MAX_ATTRIBUTES {
                    return Err(at);
                }
            }
            (b'x', None) if tag[at..].starts_with(b"xmlns") => namespaces += 1,
            _ => {}
        }
    }
    Ok(StartTag {
        len: tag.len(),
        namespaces,
        closed: false,
    })
}

/// The child elements.
pub(crate) fn elements<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(Node::is_element)
}

/// Checks that the element has this name. The error lists the names that are allowed.
pub(crate) fn expect(node: Node<'_, '_>, name: &str, expected: &'static str) -> Result<(), Misfit> {
    if node.tag_name().name() == name {
        return Ok(());
    }
    Err(unexpected(node, expected))
}

pub(crate) fn unexpected(node: Node<'_, '_>, expected: &'static str) -> Misfit {
    let found = node.tag_name().name().into();
    misfit(
        node,
        DictionaryProblem::UnexpectedElement { found, expected },
    )
}

/// Maximum length of an attribute. Names have a few dozen letters, and descriptions are sentences.
const LONGEST_ATTRIBUTE: usize = 4096;

/// The value of an attribute that must be present.
pub(crate) fn attribute<'a>(
    node: Node<'a, 'a>,
    attribute: &'static str,
) -> Result<&'a str, Misfit> {
    match optional(node, attribute)? {
        Some(value) => Ok(value),
        None => Err(misfit(
            node,
            DictionaryProblem::MissingAttribute {
                element: node.tag_name().name().into(),
                attribute,
            },
        )),
    }
}

/// The value of an attribute, if it is present and not empty.
pub(crate) fn optional<'a>(
    node: Node<'a, 'a>,
    attribute: &'static str,
) -> Result<Option<&'a str>, Misfit> {
    match node.attribute(attribute).filter(|value| !value.is_empty()) {
        Some(value) if value.len() > LONGEST_ATTRIBUTE => {
            Err(bad(node, attribute, value, "at most 4096 bytes"))
        }
        found => Ok(found),
    }
}

/// A tag in an attribute. A tag consists of digits, without a sign or a leading zero.
pub(crate) fn number(
    node: Node<'_, '_>,
    attribute: &'static str,
    text: &str,
) -> Result<u32, Misfit> {
    match text.parse() {
        Ok(tag @ 1..=0x7fff_ffff) if !text.starts_with(['+', '0']) => Ok(tag),
        _ => Err(bad(node, attribute, text, "a tag from 1 to 2147483647")),
    }
}

/// A valid MsgType.
pub(crate) fn msg_type<'a>(node: Node<'a, 'a>, name: &'static str) -> Result<&'a str, Misfit> {
    let text = attribute(node, name)?;
    if text.len() > 32 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(bad(node, name, text, "up to 32 letters and digits"));
    }
    Ok(text)
}

pub(crate) fn bad(
    node: Node<'_, '_>,
    attribute: &'static str,
    value: &str,
    expected: &'static str,
) -> Misfit {
    let at = node
        .attribute_node(attribute)
        .map_or(node.range().start, |attribute| attribute.range().start);
    Misfit::new(
        at,
        DictionaryProblem::BadAttribute {
            attribute,
            value: cut(value),
            expected,
        },
    )
}

pub(crate) fn misfit(node: Node<'_, '_>, problem: impl Into<DictionaryProblem>) -> Misfit {
    Misfit::new(node.range().start, problem)
}
