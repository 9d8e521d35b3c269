//! Reads QuickFIX data dictionaries. QuickFIX dictionaries are the XML of the QuickFIX engines and of many
//! counterparties.
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
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::compile::{
    ComponentSource, DictionarySource, FieldSource, ItemKind, LayoutItem, MessageSource, compile,
};
use fixwire_protocol::dictionary::{DataType, DefinitionProblem, Dictionary, OtherValues};
use roxmltree::Node;

use crate::document::{
    DictionaryError, DocumentLimits, Misfit, attribute, bad, elements, expect, misfit, msg_type,
    number, optional, parse, unexpected,
};
use crate::lenient::{DictionaryNote, Notes, settle};
use crate::problem::{DictionaryProblem, cut};

/// Reads a QuickFIX data dictionary. All QuickFIX engines use this XML form.
///
/// # Errors
///
/// [`DictionaryError`] with the position of the error and how to correct it. Entities and document types are refused.
/// `limits` has limits for the size, the depth and the number of elements.
pub fn read(text: &str, limits: DocumentLimits) -> Result<Dictionary, DictionaryError> {
    read_noting(text, limits).map(|(dictionary, _)| dictionary)
}

/// As [`read`]. Also returns notes on irregular forms that the QuickFIX engines load, and on how they were read.
///
/// # Errors
///
/// As for [`read`].
pub fn read_noting(
    text: &str,
    limits: DocumentLimits,
) -> Result<(Dictionary, Vec<DictionaryNote>), DictionaryError> {
    let mut notes = Notes::default();
    let dictionary = parse(text, limits, |root| {
        let (source, found) = source(root, limits.depth, &mut notes)?;
        found.are_complete(root, &source.version)?;
        Ok(compile(source)?)
    })?;
    Ok((dictionary, notes.placed(text)))
}

/// The sections of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sections {
    fields: bool,
    messages: bool,
    header: bool,
    trailer: bool,
}

impl Sections {
    /// Checks that a file has all sections that a dictionary needs: fields, messages and, before FIX 5.0, header and
    /// trailer. From FIX 5.0 on, header and trailer are in the transport dictionary.
    fn are_complete(self, root: Node<'_, '_>, version: &str) -> Result<(), Misfit> {
        let missing = |name| Err(misfit(root, DictionaryProblem::MissingSection(name)));
        let transported = version.starts_with("FIX.") && version.as_bytes().get(4) >= Some(&b'5');
        match self {
            Self { fields: false, .. } => missing("fields"),
            Self {
                messages: false, ..
            } => missing("messages"),
            Self { header: false, .. } if !transported => missing("header"),
            Self { trailer: false, .. } if !transported => missing("trailer"),
            _ => Ok(()),
        }
    }
}

/// Maximum length of an ignored section's name, in bytes.
const LONGEST_SECTION: usize = 100;

/// The definitions of a file, in order.
pub(crate) fn source<'a>(
    root: Node<'a, 'a>,
    depth: usize,
    notes: &mut Notes,
) -> Result<(DictionarySource<'a>, Sections), Misfit> {
    if root.tag_name().name() != "fix" {
        return Err(misfit(
            root,
            DictionaryProblem::WrongRoot(root.tag_name().name().into()),
        ));
    }
    let mut source = DictionarySource {
        version: version(root)?,
        ..DictionarySource::default()
    };
    let mut found = Sections::default();
    for section in elements(root) {
        match section.tag_name().name() {
            "fields" => {
                found.fields = true;
                for node in elements(section) {
                    source.fields.push(field(node, notes)?);
                }
            }
            "messages" => {
                found.messages = true;
                for node in elements(section) {
                    expect(node, "message", "<message>")?;
                    let (msg_type, name) = (msg_type(node, "msgtype")?, attribute(node, "name")?);
                    let items = layout(node, depth, notes)?;
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
                        name: name.into(),
                        items: layout(node, depth, notes)?,
                    });
                }
            }
            "header" => {
                found.header = true;
                source.header.extend(layout(section, depth, notes)?);
            }
            "trailer" => {
                found.trailer = true;
                source.trailer.extend(layout(section, depth, notes)?);
            }
            other if other.len() > LONGEST_SECTION => {
                let expected = "<header>, <trailer>, <messages>, <components> or <fields>";
                return Err(unexpected(section, expected));
            }
            other => {
                let text = format!("the section <{other}> is ignored");
                notes.push(section.range().start, text);
            }
        }
    }
    settle(&mut source, notes);
    Ok((source, found))
}

/// Stands for the major version of FIX Latest, which has no number.
pub(crate) const LATEST: &str = "Latest";

/// The version: `FIX.4.2`, `FIX.5.0SP2`, `FIXT.1.1` or `FIX.Latest`.
fn version(root: Node<'_, '_>) -> Result<String, Misfit> {
    let part = |name| match root.attribute(name).unwrap_or("0") {
        text if text.parse::<u8>().is_ok() => Ok(text),
        text => Err(bad(root, name, text, "a small number")),
    };
    let transport = match root.attribute("type").unwrap_or("FIX") {
        "FIX" => "FIX",
        "FIXT" => "FIXT",
        other => return Err(bad(root, "type", other, "FIX or FIXT")),
    };
    attribute(root, "minor")?;
    if attribute(root, "major")? == LATEST {
        return Ok(format!("{transport}.{LATEST}"));
    }
    let service_pack = match part("servicepack")? {
        "0" => String::new(),
        pack => format!("SP{pack}"),
    };
    Ok(format!(
        "{transport}.{}.{}{service_pack}",
        part("major")?,
        part("minor")?
    ))
}

fn field<'a>(node: Node<'a, 'a>, notes: &mut Notes) -> Result<FieldSource<'a>, Misfit> {
    expect(node, "field", "<field>")?;
    let tag = tag(node, notes)?;
    let name = attribute(node, "name")?;
    let kind = kind(node, name, notes)?;
    let mut values = Vec::new();
    for value in elements(node) {
        // Some generators put the values into an element of their own.
        if value.tag_name().name() == "values" {
            for value in elements(value) {
                values.extend(listed(value, notes)?);
            }
        } else {
            values.extend(listed(value, notes)?);
        }
    }
    Ok(FieldSource {
        at: node.range().start,
        tag,
        name,
        kind,
        values,
        others: others(node)?,
        length: None,
    })
}

/// The values that a field may have in addition to the listed ones. `allowOtherValues`, an attribute of QuickFIX/J,
/// allows every value. Fixwire's `otherValues` names the type that is allowed.
fn others(node: Node<'_, '_>) -> Result<OtherValues, Misfit> {
    if let Some(word) = optional(node, "otherValues")? {
        let expected = "none, any, a number and +, 0..number, quantity, tenor or country";
        return OtherValues::from_word(word)
            .ok_or_else(|| bad(node, "otherValues", word, expected));
    }
    let allowed = optional(node, "allowOtherValues")?
        .is_some_and(|text| ["true", "y"].contains(&text.trim().to_ascii_lowercase().as_str()));
    Ok(if allowed {
        OtherValues::Any
    } else {
        OtherValues::None
    })
}

/// The number of a field. The number 0 and leading zeros are irregular.
fn tag(node: Node<'_, '_>, notes: &mut Notes) -> Result<u32, Misfit> {
    let text = attribute(node, "number")?;
    let plain = text.trim_start_matches('0');
    if plain == text {
        return number(node, "number", text);
    }
    if !plain.is_empty() {
        let tag = number(node, "number", plain)?;
        let note = format!("number=\"{}\" is read as {tag}", cut(text));
        notes.push(node.range().start, note);
        return Ok(tag);
    }
    Ok(0)
}

/// The type of a field. Blanks around the type are ignored, and an unknown type allows every value.
fn kind(node: Node<'_, '_>, field: &str, notes: &mut Notes) -> Result<DataType, Misfit> {
    let text = optional(node, "type")?.unwrap_or_default();
    let trimmed = text.trim();
    let known = DataType::from_quickfix(trimmed);
    if trimmed.len() < text.len() || known.is_none() {
        let field = cut(field);
        let made = known.map_or("STRING, which takes any value", DataType::quickfix_name);
        let note = format!("the type \"{}\" of {field} is read as {made}", cut(text));
        notes.push(node.range().start, note);
    }
    Ok(known.unwrap_or(DataType::String))
}

fn listed<'a>(node: Node<'a, 'a>, notes: &mut Notes) -> Result<Option<(&'a str, &'a str)>, Misfit> {
    expect(node, "value", "<value>")?;
    let Some(value) = optional(node, "enum")? else {
        let note = "a <value> without enum is ignored: no field may be empty";
        notes.push(node.range().start, note.into());
        return Ok(None);
    };
    let name = optional(node, "description")?.unwrap_or(value);
    Ok(Some((value, name)))
}

fn layout<'a>(
    parent: Node<'a, 'a>,
    depth: usize,
    notes: &mut Notes,
) -> Result<Vec<LayoutItem<'a>>, Misfit> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(misfit(parent, DefinitionProblem::TooDeep));
    };
    let mut items = Vec::new();
    for node in elements(parent) {
        let what = match node.tag_name().name() {
            "field" => ItemKind::Field,
            "component" => ItemKind::Component,
            "group" => ItemKind::Group(layout(node, depth, notes)?),
            _ => return Err(unexpected(node, "<field>, <group> or <component>")),
        };
        let required = match node.attribute("required").unwrap_or("N") {
            "Y" | "y" => true,
            "N" | "n" => false,
            other => {
                let note = format!("required=\"{}\" is read as N; write Y or N", cut(other));
                notes.push(node.range().start, note);
                false
            }
        };
        items.push(LayoutItem {
            at: node.range().start,
            name: attribute(node, "name")?.into(),
            required,
            what,
        });
    }
    Ok(items)
}
