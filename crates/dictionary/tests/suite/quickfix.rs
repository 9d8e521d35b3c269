//! Errors in dictionary files are reported with position and remedy.

use fixwire_dictionary::{DictionaryError, DictionaryProblem, DocumentLimits, quickfix};
use fixwire_protocol::dictionary::{DataType, DefinitionProblem, Dictionary};
use proptest::prelude::*;

const FIELDS: &str = r#"<field number="8" name="BeginString" type="STRING"/>
<field number="11" name="ClOrdID" type="STRING"/>
<field number="78" name="NoAllocs" type="NUMINGROUP"/>"#;

fn file(messages: &str, components: &str, fields: &str) -> String {
    format!(
        "<fix major=\"4\" minor=\"2\">\n<header/><trailer/>\n<messages>{messages}</messages>\n\
         <components>{components}</components>\n<fields>{fields}</fields></fix>"
    )
}

fn read(text: &str) -> Result<Dictionary, DictionaryError> {
    quickfix::read(text, DocumentLimits::default())
}

#[track_caller]
fn wrong(text: &str, line: u32, problem: impl Into<DictionaryProblem>) {
    let problem = problem.into();
    let error = read(text).expect_err(text);
    assert_eq!((error.line, &error.problem), (line, &problem), "{error}");
    let sentence = error.to_string();
    assert!(
        sentence.starts_with(&format!("line {line}, column ")),
        "{sentence}"
    );
    assert!(
        sentence.contains(';') || sentence.contains("not <fix>"),
        "no remedy: {sentence}"
    );
}

fn order(members: &str) -> String {
    format!("<message name=\"Order\" msgtype=\"D\">\n{members}</message>")
}

#[test]
fn names_that_are_not_defined_have_their_place() {
    let layout = order("<field name=\"ClOrdId\" required=\"Y\"/>");
    wrong(
        &file(&layout, "", FIELDS),
        4,
        DefinitionProblem::UnknownField("ClOrdId".into()),
    );
    let layout = order("<component name=\"Parties\" required=\"Y\"/>");
    wrong(
        &file(&layout, "", FIELDS),
        4,
        DefinitionProblem::UnknownComponent("Parties".into()),
    );
}

#[test]
fn nothing_is_defined_twice() {
    let twice = |field: &str| file("", "", &format!("{FIELDS}\n{field}"));
    wrong(
        &twice("<field number=\"11\" name=\"ClOrdID\" type=\"INT\"/>"),
        8,
        DefinitionProblem::DuplicateTag(11),
    );
    let other = "<field number=\"12\" name=\"ClOrdID\" type=\"INT\"/>";
    wrong(
        &twice(other),
        8,
        DefinitionProblem::DuplicateField("ClOrdID".into()),
    );
}

/// Irregular files that the QuickFIX engines load are read, with a note.
#[test]
fn odd_forms_are_read_with_a_note() {
    let plain = file(
        &order("<field name=\"ClOrdID\" required=\"N\"/>"),
        "",
        FIELDS,
    );
    let plain = read(&plain).expect("a good dictionary");
    let field = |attributes: &str| {
        let fields = format!("{FIELDS}\n<field number=\"9001\" name=\"Own\" {attributes}/>");
        file(&order("<field name=\"Own\"/>"), "", &fields)
    };
    let member = |attributes: &str| {
        file(
            &order(&format!("<field name=\"ClOrdID\" {attributes}/>")),
            "",
            FIELDS,
        )
    };
    let noted = |text: &str| {
        quickfix::read_noting(text, DocumentLimits::default()).expect("an odd dictionary")
    };
    for (kind, made) in [
        ("type=\" CHAR\"", DataType::Char),
        ("type=\"INT \"", DataType::Int),
        ("type=\"DOUBLE\"", DataType::String),
        ("type=\"STRING(20)\"", DataType::String),
        ("type=\"\"", DataType::String),
        ("", DataType::String),
    ] {
        let (dictionary, notes) = noted(&field(kind));
        assert_eq!(
            dictionary.field(9001).map(|field| field.kind),
            Some(made),
            "{kind}"
        );
        assert_eq!((notes.len(), notes[0].line), (1, 9), "{kind}");
    }
    for required in ["C", "", "true", "N ", "maybe"] {
        let (dictionary, notes) = noted(&member(&format!("required=\"{required}\"")));
        assert!(dictionary == plain, "{required}");
        assert_eq!((notes.len(), notes[0].line), (1, 4), "{required}");
    }
    let twice = |more: &str| {
        file(
            &order("<field name=\"ClOrdID\"/>"),
            "",
            &format!("{FIELDS}\n{more}"),
        )
    };
    let alias = twice("<field number=\"11\" name=\"Other\" type=\"INT\"/>");
    let alias = alias.replace("<field name=\"ClOrdID\"/>", "<field name=\"Other\"/>");
    let zero = twice("<field number=\"0\" name=\"Zero\" type=\"INT\"/>");
    let empty = plain_with("<value enum=\"\" description=\"NOTHING\"/>");
    let section = member("").replacen("<header", "<description/>\n<header", 1);
    let messages = format!("{}\n{}", order("<field name=\"ClOrdID\"/>"), order(""));
    let components = "<component name=\"A\"/>\n<component name=\"A\"/>";
    for text in [
        alias,
        zero,
        section,
        file(&messages, "", FIELDS),
        file(&order("<field name=\"ClOrdID\"/>"), components, FIELDS),
        empty,
    ] {
        let (dictionary, notes) = noted(&text);
        assert_eq!(notes.len(), 1, "{text}");
        let order = dictionary.message(b"D").expect("a message");
        assert!(order.member(11).is_some(), "{text}");
    }
    let (dictionary, _) = noted(&file(
        "",
        "",
        "<field number=\"0900\" name=\"A\" type=\"INT\"/>",
    ));
    assert!(dictionary.field(900).is_some());
    let (dictionary, notes) = noted(&file(&order("<group name=\"NoAllocs\"/>"), "", FIELDS));
    let order = dictionary.message(b"D").expect("a message");
    assert!(notes.len() == 1 && order.member(78).is_some_and(|count| count.group.is_none()));
}

fn plain_with(value: &str) -> String {
    let own =
        format!("{FIELDS}\n<field number=\"9001\" name=\"Own\" type=\"CHAR\">{value}</field>");
    file(&order("<field name=\"ClOrdID\"/>"), "", &own)
}

#[test]
fn other_values_are_allowed_where_a_file_says_so() {
    let with = |attributes: &str| {
        let own = format!(
            "{FIELDS}\n<field number=\"9001\" name=\"Own\" type=\"STRING\" {attributes}>\
             <value enum=\"1\"/></field>"
        );
        read(&file("", "", &own)).expect("a good dictionary")
    };
    for (attributes, value, allowed) in [
        ("", "2", false),
        ("allowOtherValues=\"false\"", "2", false),
        ("allowOtherValues=\"true\"", "2", true),
        ("allowOtherValues=\"TRUE\"", "2", true),
        ("allowOtherValues=\"true\" otherValues=\"100+\"", "2", false),
        (
            "allowOtherValues=\"true\" otherValues=\"100+\"",
            "100",
            true,
        ),
        ("otherValues=\"tenor\"", "M3", true),
    ] {
        let dictionary = with(attributes);
        let field = dictionary.field(9001).expect("a field");
        assert!(field.allows(b"1"));
        assert_eq!(
            field.allows(value.as_bytes()),
            allowed,
            "{attributes} {value}"
        );
    }
}

#[test]
fn components_do_not_contain_themselves() {
    let components = "<component name=\"A\">\n<component name=\"B\"/></component>\
                      <component name=\"B\">\n<component name=\"A\"/></component>";
    wrong(
        &file("", components, FIELDS),
        6,
        DefinitionProblem::CyclicComponent("A".into()),
    );
}

#[test]
fn attributes_are_there_and_make_sense() {
    let element = |element: &str| element.to_owned();
    let missing = |attribute| DictionaryProblem::MissingAttribute {
        element: element("field"),
        attribute,
    };
    wrong(
        &file("", "", "<field number=\"8\" type=\"INT\"/>"),
        5,
        missing("name"),
    );
    wrong(
        &file("", "", "<field name=\"A\" type=\"INT\"/>"),
        5,
        missing("number"),
    );
    for number in ["-1", "x", "99999999999"] {
        let text = file(
            "",
            "",
            &format!("<field number=\"{number}\" name=\"A\" type=\"INT\"/>"),
        );
        assert!(
            matches!(
                read(&text),
                Err(DictionaryError {
                    problem: DictionaryProblem::BadAttribute { .. },
                    ..
                })
            ),
            "{number}"
        );
    }
}

#[test]
fn the_file_is_a_quickfix_dictionary() {
    wrong("<fixml/>", 1, DictionaryProblem::WrongRoot("fixml".into()));
    wrong(
        "<fix major=\"4\" minor=\"2\"><fields/></fix>",
        1,
        DictionaryProblem::MissingSection("messages"),
    );
    wrong(
        "<fix major=\"4\" minor=\"2\"><fields/><messages/></fix>",
        1,
        DictionaryProblem::MissingSection("header"),
    );
    assert!(read("<fix major=\"5\" minor=\"0\"><fields/><messages/></fix>").is_ok());
    let stray = "<fix major=\"4\" minor=\"2\">\n<feilds/></fix>";
    wrong(stray, 1, DictionaryProblem::MissingSection("fields"));
    for text in ["", "<fix", "<fix>", "plain text", "<fix a='1' a='2'/>"] {
        assert!(
            matches!(
                read(text),
                Err(DictionaryError {
                    problem: DictionaryProblem::Xml(_),
                    ..
                })
            ),
            "{text}"
        );
    }
}

#[test]
fn there_are_no_document_types_and_no_entities() {
    let bomb = "<!DOCTYPE fix [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><fix major=\"4\" minor=\"&b;\"/>";
    assert!(matches!(
        read(bomb),
        Err(DictionaryError {
            problem: DictionaryProblem::Xml(_),
            ..
        })
    ));
    let external = "<!DOCTYPE fix SYSTEM \"file:///etc/passwd\"><fix major=\"4\" minor=\"2\"/>";
    assert!(read(external).is_err());
}

#[test]
fn reading_has_limits() {
    let nest = |depth: usize| {
        let open = "<group name=\"NoAllocs\" required=\"N\">".repeat(depth);
        let close = "</group>".repeat(depth);
        file(
            &order(&format!(
                "{open}<field name=\"ClOrdID\" required=\"Y\"/>{close}"
            )),
            "",
            FIELDS,
        )
    };
    assert!(read(&nest(7)).is_ok());
    assert!(read(&nest(8)).is_ok());
    for depth in [9, 40, 100] {
        let error = read(&nest(depth)).expect_err("too deep");
        assert_eq!(error.problem, DefinitionProblem::TooDeep.into(), "{depth}");
    }
    assert!(matches!(
        read(&nest(100_000)),
        Err(DictionaryError {
            problem: DictionaryProblem::Definition(DefinitionProblem::TooDeep),
            ..
        })
    ));
    // Each message has bit sets as long as the list of fields.
    let many: String = (0..2_001)
        .map(|n| format!("<message name=\"M{n}\" msgtype=\"{n}\"/>"))
        .collect();
    assert!(matches!(
        read(&file(&many, "", FIELDS)),
        Err(DictionaryError {
            problem: DictionaryProblem::Definition(DefinitionProblem::TooMany {
                what: "messages",
                ..
            }),
            ..
        })
    ));
    // A chain of nested components is equally deep.
    let chain: String = (0..10_000)
        .map(|n| {
            format!(
                "<component name=\"C{n}\"><component name=\"C{}\"/></component>",
                n + 1
            )
        })
        .collect();
    let chain = format!("{chain}<component name=\"C10000\"/>");
    assert!(matches!(
        read(&file("", &chain, FIELDS)),
        Err(DictionaryError {
            problem: DictionaryProblem::Definition(DefinitionProblem::TooDeep),
            ..
        })
    ));
    // Components that double at each step would fill all memory.
    let double: String = (0..60)
        .map(|n| {
            let next = format!("<component name=\"C{}\"/>", n + 1);
            format!("<component name=\"C{n}\">{}</component>", next.repeat(4))
        })
        .collect();
    let double = format!("{double}<component name=\"C60\"><field name=\"ClOrdID\"/></component>");
    assert!(matches!(
        read(&file("", &double, FIELDS)),
        Err(DictionaryError {
            problem: DictionaryProblem::Definition(DefinitionProblem::TooMany { .. }),
            ..
        })
    ));
    let small = DocumentLimits {
        bytes: 100,
        ..DocumentLimits::default()
    };
    let error = quickfix::read(&nest(1), small).expect_err("too long");
    assert_eq!(error.problem, DictionaryProblem::TooLong { limit: 100 });
    let few = DocumentLimits {
        nodes: 5,
        ..DocumentLimits::default()
    };
    let error = quickfix::read(&nest(1), few).expect_err("too many");
    let (what, limit) = ("elements", 5);
    assert_eq!(
        error.problem,
        DefinitionProblem::TooMany { what, limit }.into()
    );
    let attributes: String = (0..1000).map(|n| format!("a{n}=\"\" ")).collect();
    assert!(matches!(
        read(&format!("<fix {attributes}/>")),
        Err(DictionaryError {
            problem: DictionaryProblem::Definition(DefinitionProblem::TooMany { .. }),
            ..
        })
    ));
}

proptest! {
    /// A valid file with some bytes replaced is read or refused, and the error position is inside the text.
    #[test]
    fn no_file_makes_it_panic(changes in proptest::collection::vec((any::<prop::sample::Index>(), "[<>/\"=&;a-zA-Z0-9 -]"), 1..6)) {
        let layout = order("<group name=\"NoAllocs\" required=\"N\"><field name=\"ClOrdID\" required=\"Y\"/></group>");
        let mut text = file(&layout, "<component name=\"A\"/>", FIELDS);
        for (at, letter) in changes {
            let at = at.index(text.len());
            text.replace_range(at..=at, &letter);
        }
        if let Err(error) = read(&text) {
            prop_assert!(error.line >= 1 && error.line as usize <= text.lines().count());
        }
    }
}

#[test]
fn a_name_that_two_dictionaries_give_to_different_tags_is_the_transports() {
    let fields = |clordid: u32| {
        let text = format!("<field number=\"{clordid}\" name=\"ClOrdID\" type=\"STRING\"/>");
        read(&file("", "", &text)).expect("a dictionary")
    };
    let over = fields(5001).over(&fields(11));
    assert_eq!(over.tag_of("ClOrdID"), Some(11));
    assert!(over.field(5001).is_some());
    let over = fields(11).over(&fields(5001));
    assert_eq!(over.tag_of("ClOrdID"), Some(5001));
}

#[test]
fn many_data_fields_find_their_lengths_in_time() {
    let count = 60_000;
    let many: String = (1..=count)
        .map(|n| format!("<field number=\"{n}\" name=\"D{n}\" type=\"DATA\"/>"))
        .collect();
    let last = format!(
        "{many}<field number=\"{}\" name=\"D7Len\" type=\"LENGTH\"/>",
        count + 1
    );
    let dictionary = read(&file("", "", &last)).expect("a dictionary");
    let partner = |tag| dictionary.field(tag).and_then(|field| field.partner);
    assert_eq!((partner(7), partner(count + 1)), (Some(count + 1), Some(7)));
}
