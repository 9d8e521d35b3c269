//! Dictionary files: what is wrong with one is said with its place and its remedy.

use fixwire_dictionary::{DictionaryError, DictionaryProblem, DocumentLimits, quickfix};
use fixwire_protocol::dictionary::{DefinitionProblem, Dictionary};
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
    let layout = order("<group name=\"NoAllocs\" required=\"Y\"></group>");
    wrong(
        &file(&layout, "", FIELDS),
        4,
        DefinitionProblem::EmptyGroup("NoAllocs".into()),
    );
}

#[test]
fn nothing_is_defined_twice() {
    let twice = |field: &str| file("", "", &format!("{FIELDS}\n{field}"));
    wrong(
        &twice("<field number=\"11\" name=\"Other\" type=\"INT\"/>"),
        8,
        DefinitionProblem::DuplicateTag(11),
    );
    let other = "<field number=\"12\" name=\"ClOrdID\" type=\"INT\"/>";
    wrong(
        &twice(other),
        8,
        DefinitionProblem::DuplicateField("ClOrdID".into()),
    );
    let messages = format!("{}\n{}", order(""), order(""));
    wrong(
        &file(&messages, "", FIELDS),
        5,
        DefinitionProblem::DuplicateMessageType("D".into()),
    );
    let components = "<component name=\"A\"/>\n<component name=\"A\"/>";
    wrong(
        &file("", components, FIELDS),
        5,
        DefinitionProblem::DuplicateComponent("A".into()),
    );
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
    wrong(
        &file("", "", "<field number=\"8\" name=\"A\"/>"),
        5,
        missing("type"),
    );
    for number in ["0", "-1", "007", "x", "99999999999"] {
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
    let text = file("", "", "<field number=\"8\" name=\"A\" type=\"INTT\"/>");
    wrong(&text, 5, DictionaryProblem::UnknownType("INTT".into()));
    let text = file(
        &order("<field name=\"ClOrdID\" required=\"maybe\"/>"),
        "",
        FIELDS,
    );
    assert!(read(&text).is_err_and(|error| error.to_string().contains("write Y or N")));
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
    assert!(matches!(
        read(stray),
        Err(DictionaryError {
            line: 2,
            problem: DictionaryProblem::UnexpectedElement { .. },
            ..
        })
    ));
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
    // Components that contain each other in a chain are as deep.
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
    /// A good file with some bytes replaced is read or refused, and the place is inside the text.
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
