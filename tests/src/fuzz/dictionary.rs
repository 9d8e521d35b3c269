//! Any text is a dictionary, a delta or an error with a place; a dictionary can be used whatever it says.
//!
//! Input: a file of any form. It is read in the form that its root names, in the other form, and as a delta of FIX 4.4;
//! a dictionary is written in both forms and read again.

use fixwire_dictionary::delta::{self, Delta};
use fixwire_dictionary::{DictionaryError, DocumentLimits, orchestra, quickfix, write};
use fixwire_protocol::Decoder;
use fixwire_protocol::dictionary::validate::{self, Scratch, ValidationRules};
use fixwire_protocol::dictionary::{DefinitionProblem, Dictionary, GroupDef, Member, MessageDef};

use super::decode::dictionaries;
use super::hold;
use super::input::{message, show};

const LIMITS: DocumentLimits = DocumentLimits {
    bytes: 1 << 16,
    depth: 16,
    nodes: 5_000,
};
/// The most messages that are tried; further ones are of the same kind.
const TRIED: usize = 20;
/// Members of a dictionary that is written and read again.
const TRIED_MEMBERS: usize = 20_000;

/// Panics when reading a dictionary breaks its promises for these bytes.
pub fn run(data: &[u8]) {
    check(data, quickfix::read)
        .and_then(|()| check(data, orchestra::read))
        .and_then(|()| check_file(data))
        .and_then(|()| check_delta(data))
        .unwrap_or_else(|what| panic!("{what}"));
}

/// Bytes are a dictionary or an error with a place, whatever their encoding.
fn check_file(data: &[u8]) -> Result<(), String> {
    match fixwire_dictionary::read(data, LIMITS) {
        Ok(_) => Ok(()),
        Err(error) => {
            let said = error.to_string();
            hold!(error.line >= 1 && error.column >= 1, "no place: {said}");
            hold!(said.len() <= 600, "a sentence of {} bytes", said.len());
            Ok(())
        }
    }
}

/// A delta that fits has an inverse, and reads back as the same delta.
fn check_delta(data: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(data);
    let (_, base) = &dictionaries()[1];
    let changed = match Delta::read("fuzz", &text, LIMITS) {
        Ok(delta) => {
            let written = delta.to_string();
            let again = Delta::read("fuzz", &written, DocumentLimits::default());
            let again = again.map(|delta| delta.to_string());
            hold!(again.as_ref() == Ok(&written), "{written} is {again:?}");
            delta::apply(base, &[delta])
        }
        Err(error) => Err(error),
    };
    let changed = match changed {
        Ok(changed) => changed,
        Err(error) => {
            let said = error.to_string();
            hold!(
                error.at.line >= 1 && error.at.column >= 1,
                "no place: {said}"
            );
            hold!(said.len() <= 800, "a sentence of {} bytes", said.len());
            return Ok(());
        }
    };
    agrees_with_itself(&changed, None)?;
    let back = delta::apply(&changed, &[Delta::between(&changed, base)]);
    hold!(back.as_ref() == Ok(base), "the inverse leaves something");
    Ok(())
}

/// [`run`] for any reader.
///
/// # Errors
///
/// The violated property.
pub fn check(
    data: &[u8],
    read: impl Fn(&str, DocumentLimits) -> Result<Dictionary, DictionaryError>,
) -> Result<(), String> {
    let text = String::from_utf8_lossy(data);
    match read(&text, LIMITS) {
        Err(error) => has_a_place(&text, &error),
        Ok(dictionary) => {
            hold!(text.len() <= LIMITS.bytes, "read {} bytes", text.len());
            hold!(!text.contains("<!DOCTYPE"), "read a document type");
            agrees_with_itself(&dictionary, None)?;
            validates(&dictionary)?;
            survives(&dictionary)?;
            let (_, transport) = &dictionaries()[1];
            let laid_over = dictionary.over(transport);
            agrees_with_itself(&laid_over, Some(transport))?;
            validates(&laid_over)
        }
    }
}

/// A dictionary is the same when read back from either form. Dictionaries that exceed the limits of a file when their
/// components are expanded are left out.
fn survives(dictionary: &Dictionary) -> Result<(), String> {
    let sizes = dictionary.messages().iter();
    let size: usize = sizes
        .map(|message| count(message.members(), TRIED_MEMBERS))
        .sum();
    if size > TRIED_MEMBERS {
        return Ok(());
    }
    match orchestra::read(&write::orchestra(dictionary), DocumentLimits::default()) {
        Ok(read) => hold!(read == *dictionary, "not the same as Orchestra"),
        Err(error) => hold!(
            error.problem == DefinitionProblem::TooDeep.into(),
            "as Orchestra: {error}"
        ),
    }
    match quickfix::read(&write::quickfix(dictionary), DocumentLimits::default()) {
        // This form does not name the length field of each data field.
        Ok(read) => hold!(
            read.messages() == dictionary.messages(),
            "not the same as QuickFIX XML"
        ),
        Err(error) => hold!(
            error.problem == DefinitionProblem::TooDeep.into(),
            "as QuickFIX XML: {error}"
        ),
    }
    Ok(())
}

/// Members at all levels, counted up to a limit.
fn count(members: &[Member], most: usize) -> usize {
    let mut sum = members.len();
    for group in members.iter().filter_map(|member| member.group.as_deref()) {
        if sum > most {
            break;
        }
        sum += count(group.members(), most - sum);
    }
    sum
}

fn has_a_place(text: &str, error: &DictionaryError) -> Result<(), String> {
    let said = error.to_string();
    let (line, column) = (error.line as usize, error.column as usize);
    hold!(line >= 1 && column >= 1, "no place: {said}");
    let lines: Vec<&str> = text.split('\n').collect();
    hold!(
        line <= lines.len(),
        "line {line} of {}: {said}",
        lines.len()
    );
    let length = lines[line - 1].chars().count();
    hold!(column <= length + 1, "column {column} of {length}: {said}");
    hold!(
        said.len() <= text.len() + 400,
        "a sentence of {} bytes",
        said.len()
    );
    Ok(())
}

/// Fields, members and messages refer to each other; a name of `above` has the same meaning in this dictionary.
fn agrees_with_itself(dictionary: &Dictionary, above: Option<&Dictionary>) -> Result<(), String> {
    for field in dictionary.fields() {
        let found = dictionary.field(field.tag).map(|found| &found.name);
        hold!(
            found == Some(&field.name),
            "field {} is {found:?}",
            field.tag
        );
        let tag = dictionary.tag_of(&field.name);
        let named = above.and_then(|above| above.tag_of(&field.name));
        hold!(
            tag == Some(named.unwrap_or(field.tag)),
            "{} is {tag:?}",
            field.name
        );
    }
    let ends = [dictionary.header(), dictionary.trailer()];
    for definition in dictionary.messages().iter().chain(ends) {
        members_are_fields(dictionary, definition.members())?;
    }
    for definition in dictionary.messages() {
        let found = dictionary.message(definition.msg_type().as_bytes());
        let same = found.is_some_and(|found| std::ptr::eq(found, definition));
        hold!(same, "message {} is another one", definition.msg_type());
    }
    let mut decoder = Decoder::with_capacity(4);
    decoder.learn(dictionary);
    Ok(())
}

fn members_are_fields(dictionary: &Dictionary, members: &[Member]) -> Result<(), String> {
    for member in members {
        let tag = member.tag;
        hold!(
            dictionary.field(tag).is_some(),
            "a member {tag} without a definition"
        );
        if let Some(group) = &member.group {
            hold!(
                group.count() == tag,
                "a group of {tag} counts {}",
                group.count()
            );
            members_are_fields(dictionary, group.members())?;
        }
    }
    Ok(())
}

/// Every message is valid or has a fault; an empty message lacks the required members.
fn validates(dictionary: &Dictionary) -> Result<(), String> {
    let mut scratch = Scratch::default();
    let mut decoder = Decoder::with_capacity(512);
    decoder.learn(dictionary);
    for definition in dictionary.messages().iter().take(TRIED) {
        let msg_type = definition.msg_type();
        let mut body = format!("{msg_type}|");
        let full = required(dictionary, definition, &mut body);
        for body in [body.as_str(), &format!("{msg_type}|")] {
            let bytes = message("FIX.4.4", body.as_bytes());
            let decoded = decoder.decode(&bytes);
            let checked = validate::check(
                dictionary,
                &decoded,
                &ValidationRules::default(),
                &mut scratch,
            );
            let missing = full && body.len() == msg_type.len() + 1;
            hold!(
                !missing || checked.is_err(),
                "valid without its fields: {}",
                show(&bytes)
            );
        }
    }
    Ok(())
}

/// Writes a value for each required member; returns whether there is a member that no message has by itself.
fn required(dictionary: &Dictionary, definition: &MessageDef, body: &mut String) -> bool {
    let own = definition.members().iter().filter(|member| member.required);
    let own = own.filter(|member| ![8, 9, 10, 35].contains(&member.tag));
    let mut some = false;
    for member in own {
        some = true;
        write(dictionary, member, body, 0);
    }
    some
}

fn write(dictionary: &Dictionary, member: &Member, body: &mut String, depth: usize) {
    if body.len() > 8_000 || depth > LIMITS.depth {
        return;
    }
    let field = dictionary.field(member.tag);
    let value = field
        .and_then(|field| field.values.first())
        .map_or("1", |value| &value.value);
    *body += &format!("{}={value}|", member.tag);
    for member in member.group.as_deref().map_or(&[][..], GroupDef::members) {
        write(dictionary, member, body, depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"<fix major="4" minor="4"><header/><trailer/><components/>
<messages><message name="News" msgtype="B" msgcat="app"><field name="Headline" required="Y"/></message></messages>
<fields><field number="148" name="Headline" type="STRING"/></fields></fix>"#;

    #[test]
    fn the_reader_passes() {
        run(SMALL.as_bytes());
        assert!(
            quickfix::read(SMALL, LIMITS).is_ok(),
            "the input is a dictionary"
        );
    }

    #[test]
    fn a_place_outside_of_the_text_is_found() {
        let wrong = |_: &str, _: DocumentLimits| {
            Err(DictionaryError {
                line: 9,
                column: 1,
                problem: DefinitionProblem::TooDeep.into(),
            })
        };
        assert!(check(SMALL.as_bytes(), wrong).is_err());
    }

    #[test]
    fn a_reader_without_limits_is_found() {
        let long = format!("{SMALL}<!--{}-->", "x".repeat(LIMITS.bytes));
        let read = |text: &str, _| quickfix::read(text, DocumentLimits::default());
        assert!(check(long.as_bytes(), read).is_err());
    }

    #[test]
    fn a_reader_that_forgets_what_is_required_is_found() {
        let read = |text: &str, limits| {
            quickfix::read(&text.replace(r#"required="Y""#, r#"required="N""#), limits)
        };
        let asks = quickfix::read(SMALL, LIMITS).expect("a dictionary");
        let forgets = read(SMALL, LIMITS).expect("a dictionary");
        let news = |dictionary: &Dictionary| {
            let definition = dictionary.message(b"B").expect("it has News");
            required(dictionary, definition, &mut String::new())
        };
        assert!(news(&asks) && !news(&forgets));
    }
}
