//! QuickFIX data dictionaries: the XML that QuickFIX engines and many counterparties use.
//!
//! ```xml
//! <fix type="FIX" major="4" minor="2" servicepack="0">
//!   <header>   <field name="BeginString" required="Y"/> ...          </header>
//!   <messages> <message name="Heartbeat" msgtype="0" msgcat="admin"> <field .../> <group .../> </message> ... </messages>
//!   <trailer>  <field name="CheckSum" required="Y"/>                 </trailer>
//!   <components> <component name="Instrument"> ...                   </component> ... </components>
//!   <fields>   <field number="54" name="Side" type="CHAR"> <value enum="1" description="BUY"/> </field> ... </fields>
//! </fix>
//! ```

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use roxmltree::{Document, Node, ParsingOptions};

use super::compile::{
    ComponentSource, FieldSource, Item, MessageSource, Misfit, Problem, Source, What, compile,
};
use super::{Dictionary, Kind};

/// What reading may cost.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Longest text, in bytes.
    pub bytes: usize,
    /// Elements inside each other.
    pub depth: usize,
    /// Elements, attributes not counted, texts and comments counted.
    pub nodes: u32,
}

impl Default for Limits {
    /// 32 MiB, 64 deep, 4 million nodes: ten times the largest file of the standard.
    fn default() -> Self {
        Self {
            bytes: 32 << 20,
            depth: 64,
            nodes: 4_000_000,
        }
    }
}

/// Where a dictionary file is wrong, and how to mend it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DictionaryError {
    /// Line of the text, from 1.
    pub line: u32,
    /// Character of the line, from 1.
    pub column: u32,
    /// What is wrong there.
    pub problem: Problem,
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

/// See [`Dictionary::from_quickfix_xml`].
pub(super) fn read(text: &str, limits: Limits) -> Result<Dictionary, DictionaryError> {
    let start = |problem| DictionaryError {
        line: 1,
        column: 1,
        problem,
    };
    if text.len() > limits.bytes {
        return Err(start(Problem::TooLong {
            limit: limits.bytes,
        }));
    }
    if let Some((at, problem)) = costly(text) {
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
            roxmltree::Error::NodesLimitReached => Problem::TooMany {
                what: "elements",
                limit: limits.nodes as usize,
            },
            error => Problem::Xml(error.to_string()),
        };
        DictionaryError {
            line: position.row,
            column: position.col,
            problem,
        }
    })?;
    source(&document, limits.depth)
        .and_then(compile)
        .map_err(|misfit| at_byte(text, misfit.at, misfit.problem))
}

fn at_byte(text: &str, at: usize, problem: Problem) -> DictionaryError {
    let before = text.get(..at).unwrap_or(text);
    let line = 1 + before.bytes().filter(|&byte| byte == b'\n').count();
    let column = 1 + before
        .chars()
        .rev()
        .take_while(|&letter| letter != '\n')
        .count();
    DictionaryError {
        line: u32::try_from(line).unwrap_or(u32::MAX),
        column: u32::try_from(column).unwrap_or(u32::MAX),
        problem,
    }
}

/// The parser compares each attribute of an element with those before it, and each level copies the
/// namespaces of its parent: texts that would make it slow stop here. A dictionary has five
/// attributes to an element and no namespace.
fn costly(text: &str) -> Option<(usize, Problem)> {
    let mut attributes = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => attributes = 0,
            b'=' => attributes += 1,
            _ => {}
        }
        if attributes > MAX_ATTRIBUTES {
            return Some((
                at,
                Problem::TooMany {
                    what: "attributes in one element",
                    limit: MAX_ATTRIBUTES,
                },
            ));
        }
    }
    let (at, _) = text.match_indices("xmlns").nth(MAX_NAMESPACES)?;
    Some((
        at,
        Problem::TooMany {
            what: "namespaces",
            limit: MAX_NAMESPACES,
        },
    ))
}

/// Also of `=` in the text or comment behind an element.
const MAX_ATTRIBUTES: usize = 256;
const MAX_NAMESPACES: usize = 16;

fn source<'a>(document: &'a Document<'a>, depth: usize) -> Result<Source<'a>, Misfit> {
    let root = document.root_element();
    if root.tag_name().name() != "fix" {
        return Err(misfit(
            root,
            Problem::WrongRoot(root.tag_name().name().into()),
        ));
    }
    let mut source = Source {
        version: version(root)?,
        ..Source::default()
    };
    let (mut fields, mut messages, mut header, mut trailer) = (false, false, false, false);
    for section in elements(root) {
        match section.tag_name().name() {
            "fields" => {
                fields = true;
                for node in elements(section) {
                    source.fields.push(field(node)?);
                }
            }
            "messages" => {
                messages = true;
                for node in elements(section) {
                    expect(node, "message", "<message>")?;
                    let (msg_type, name) = (attribute(node, "msgtype")?, attribute(node, "name")?);
                    if !msg_type.bytes().all(|byte| byte.is_ascii_graphic()) || msg_type.len() > 32
                    {
                        return Err(bad(
                            node,
                            "msgtype",
                            msg_type,
                            "up to 32 letters and digits",
                        ));
                    }
                    let items = layout(node, depth)?;
                    source.messages.push(MessageSource {
                        at: node.range().start,
                        msg_type,
                        name,
                        items,
                    });
                }
            }
            "components" => {
                for node in elements(section) {
                    expect(node, "component", "<component>")?;
                    let (at, name) = (node.range().start, attribute(node, "name")?);
                    source.components.push(ComponentSource {
                        at,
                        name,
                        items: layout(node, depth)?,
                    });
                }
            }
            "header" => {
                header = true;
                source.header.extend(layout(section, depth)?);
            }
            "trailer" => {
                trailer = true;
                source.trailer.extend(layout(section, depth)?);
            }
            other => {
                let expected = "<header>, <trailer>, <messages>, <components> or <fields>";
                return Err(misfit(
                    section,
                    Problem::UnexpectedElement {
                        found: other.into(),
                        expected,
                    },
                ));
            }
        }
    }
    let missing = |name| Err(misfit(root, Problem::MissingSection(name)));
    // From FIX 5.0 on, header and trailer are the transport dictionary's.
    let transported =
        source.version.starts_with("FIX.") && source.version.as_bytes().get(4) >= Some(&b'5');
    match (
        fields,
        messages,
        header || transported,
        trailer || transported,
    ) {
        (false, ..) => missing("fields"),
        (_, false, ..) => missing("messages"),
        (.., false, _) => missing("header"),
        (.., false) => missing("trailer"),
        _ => Ok(source),
    }
}

/// `FIX.4.2`, `FIX.5.0SP2`, `FIXT.1.1`.
fn version(root: Node<'_, '_>) -> Result<String, Misfit> {
    let number = |name| match root.attribute(name).unwrap_or("0") {
        text if text.parse::<u8>().is_ok() => Ok(text),
        text => Err(bad(root, name, text, "a small number")),
    };
    let transport = match root.attribute("type").unwrap_or("FIX") {
        "FIX" => "FIX",
        "FIXT" => "FIXT",
        other => return Err(bad(root, "type", other, "FIX or FIXT")),
    };
    attribute(root, "major")?;
    attribute(root, "minor")?;
    let service_pack = match number("servicepack")? {
        "0" => String::new(),
        pack => format!("SP{pack}"),
    };
    Ok(format!(
        "{transport}.{}.{}{service_pack}",
        number("major")?,
        number("minor")?
    ))
}

fn field<'a>(node: Node<'a, 'a>) -> Result<FieldSource<'a>, Misfit> {
    expect(node, "field", "<field>")?;
    let number = attribute(node, "number")?;
    let name = attribute(node, "name")?;
    let tag = match number.parse() {
        Ok(tag @ 1..=0x7fff_ffff) if !number.starts_with(['+', '0']) => tag,
        _ => return Err(bad(node, "number", number, "a tag from 1 to 2147483647")),
    };
    let kind = attribute(node, "type")?;
    let Some(kind) = Kind::from_quickfix(kind) else {
        return Err(misfit(node, Problem::UnknownType(kind.into())));
    };
    let mut values = Vec::new();
    for value in elements(node) {
        // Some generators wrap the values.
        if value.tag_name().name() == "values" {
            for value in elements(value) {
                values.push(listed(value)?);
            }
        } else {
            values.push(listed(value)?);
        }
    }
    Ok(FieldSource {
        at: node.range().start,
        tag,
        name,
        kind,
        values,
    })
}

fn listed<'a>(node: Node<'a, 'a>) -> Result<(&'a str, &'a str), Misfit> {
    expect(node, "value", "<value>")?;
    let value = attribute(node, "enum")?;
    Ok((value, node.attribute("description").unwrap_or(value)))
}

fn layout<'a>(parent: Node<'a, 'a>, depth: usize) -> Result<Vec<Item<'a>>, Misfit> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(misfit(parent, Problem::TooDeep));
    };
    let mut items = Vec::new();
    for node in elements(parent) {
        let what = match node.tag_name().name() {
            "field" => What::Field,
            "component" => What::Component,
            "group" => What::Group(layout(node, depth)?),
            other => {
                let expected = "<field>, <group> or <component>";
                return Err(misfit(
                    node,
                    Problem::UnexpectedElement {
                        found: other.into(),
                        expected,
                    },
                ));
            }
        };
        let required = match node.attribute("required").unwrap_or("N") {
            "Y" | "y" => true,
            "N" | "n" => false,
            other => return Err(bad(node, "required", other, "Y or N")),
        };
        items.push(Item {
            at: node.range().start,
            name: attribute(node, "name")?,
            required,
            what,
        });
    }
    Ok(items)
}

fn elements<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(Node::is_element)
}

fn expect(node: Node<'_, '_>, name: &str, expected: &'static str) -> Result<(), Misfit> {
    if node.tag_name().name() == name {
        return Ok(());
    }
    Err(misfit(
        node,
        Problem::UnexpectedElement {
            found: node.tag_name().name().into(),
            expected,
        },
    ))
}

fn attribute<'a>(node: Node<'a, 'a>, attribute: &'static str) -> Result<&'a str, Misfit> {
    node.attribute(attribute)
        .filter(|value| !value.is_empty())
        .ok_or_else(|| {
            misfit(
                node,
                Problem::MissingAttribute {
                    element: node.tag_name().name().into(),
                    attribute,
                },
            )
        })
}

fn bad(node: Node<'_, '_>, attribute: &'static str, value: &str, expected: &'static str) -> Misfit {
    let at = node
        .attribute_node(attribute)
        .map_or(node.range().start, |attribute| attribute.range().start);
    Misfit::new(
        at,
        Problem::BadAttribute {
            attribute,
            value: value.into(),
            expected,
        },
    )
}

fn misfit(node: Node<'_, '_>, problem: Problem) -> Misfit {
    Misfit::new(node.range().start, problem)
}
