//! Orchestra, QuickFIX XML and deltas with the same content: each form is read, written and compared.

use crate::generated::quickfix_text;
use fixwire_dictionary::delta::{self, Delta, DeltaProblem, Other, Thing, place_of};
use fixwire_dictionary::{DictionaryError, DictionaryProblem, DocumentLimits, write};
use fixwire_protocol::dictionary::{DataType, DefinitionProblem, Dictionary, Version};
use fixwire_random::Random;
use proptest::prelude::*;

fn orchestra(text: &str) -> Result<Dictionary, DictionaryError> {
    fixwire_dictionary::orchestra::read(text, DocumentLimits::default())
}

fn quickfix(text: &str) -> Dictionary {
    fixwire_dictionary::quickfix::read(text, DocumentLimits::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

const REPOSITORY: &str = include_str!("data/repository.xml");

#[test]
fn a_repository_becomes_a_dictionary() {
    let read = orchestra(REPOSITORY).expect("a repository");
    assert_eq!(read.version(), "FIX.Latest");
    let kind = |tag| read.field(tag).map(|field| field.kind);
    assert_eq!(
        (kind(38), kind(54), kind(900)),
        (
            Some(DataType::Qty),
            Some(DataType::Char),
            Some(DataType::Data)
        )
    );
    let side = read.field_named("Side").expect("a field");
    let values: Vec<_> = side
        .values
        .iter()
        .map(|value| (value.value.as_str(), value.name.as_str()))
        .collect();
    assert_eq!(values, [("1", "Buy"), ("2", "Sell")]);
    let open = read.field(60000).expect("a field");
    assert!(open.allows(b"100") && !open.allows(b"99"));
    assert_eq!(read.field(900).and_then(|field| field.partner), Some(7000));
    assert_eq!(read.field(7000).and_then(|field| field.partner), Some(900));
    let members = |msg_type: &[u8]| {
        let members = read.message(msg_type).expect("a message").members().iter();
        members
            .map(|member| (member.tag, member.required))
            .collect::<Vec<_>>()
    };
    assert_eq!(members(b"D"), [(11, true), (38, true), (453, false)]);
    assert_eq!(members(b"F"), [(38, false), (54, false)]);
    let parties = read.group(b"D", 453).expect("a group");
    assert_eq!(
        (
            parties.delimiter(),
            parties.member(448).map(|member| member.required)
        ),
        (448, Some(true))
    );
    let tags = |members: &[fixwire_protocol::dictionary::Member]| {
        members
            .iter()
            .map(|member| (member.tag, member.required))
            .collect::<Vec<_>>()
    };
    assert_eq!(tags(read.header().members()), [(8, true)]);
    assert_eq!(tags(read.trailer().members()), [(10, true)]);
    assert_eq!(
        read.message(b"D").map(|message| message.components()),
        Some(&["Order".to_owned()][..])
    );
    assert_eq!(
        fixwire_dictionary::read(REPOSITORY.as_bytes(), DocumentLimits::default()),
        Ok(read)
    );
}

#[test]
fn what_is_wrong_with_a_repository_has_its_place() {
    let cases: [(&str, &str, DictionaryProblem); 9] = [
        (
            "name=\"Counter\" type=\"Length\"",
            "name=\"Counter\" type=\"Nothing\"",
            DictionaryProblem::UnknownType("Nothing".into()),
        ),
        (
            "fieldRef id=\"11\"",
            "fieldRef id=\"12\"",
            DictionaryProblem::UnknownId {
                what: "field",
                id: "12".into(),
            },
        ),
        (
            "groupRef id=\"1012\"",
            "groupRef id=\"1\"",
            DictionaryProblem::UnknownId {
                what: "group",
                id: "1".into(),
            },
        ),
        (
            "componentRef id=\"3\" presence",
            "componentRef id=\"4\" presence",
            DictionaryProblem::UnknownId {
                what: "component",
                id: "4".into(),
            },
        ),
        (
            "id=\"54002\" value=\"2\"",
            "id=\"54002\" value=\"1\"",
            DictionaryProblem::DuplicateValue("1".into()),
        ),
        (
            "id=\"452\" name=\"PartyRole\"",
            "id=\"448\" name=\"PartyRole\"",
            DefinitionProblem::DuplicateTag(448).into(),
        ),
        (
            "msgType=\"F\"",
            "msgType=\"D\"",
            DefinitionProblem::DuplicateMessageType("D".into()).into(),
        ),
        (
            "<fixr:numInGroup id=\"453\"/>",
            "",
            DictionaryProblem::GroupWithoutCount("Parties".into()),
        ),
        (
            "scenario=\"cancel\"><fixr:fieldRef",
            "><fixr:fieldRef",
            DictionaryProblem::DuplicateId("component 3 base".into()),
        ),
    ];
    for (from, to, problem) in cases {
        let at = REPOSITORY.find(from).expect(from);
        let line = REPOSITORY[..at].lines().count() as u32;
        let error = orchestra(&REPOSITORY.replacen(from, to, 1)).expect_err(from);
        assert_eq!((error.line, &error.problem), (line, &problem), "{error}");
    }
    let stray = REPOSITORY.replace("fixr:structure>", "fixr:structur>");
    assert!(
        orchestra(&stray)
            .is_ok_and(|read| read.message(b"F").is_some_and(|f| f.members().is_empty()))
    );
    let inside = REPOSITORY.replace("<fixr:fieldRef id=\"452\"/>", "<fixr:feildRef id=\"452\"/>");
    assert!(matches!(
        orchestra(&inside),
        Err(DictionaryError {
            problem: DictionaryProblem::UnexpectedElement { .. },
            ..
        })
    ));
}

#[test]
fn the_standard_survives_both_forms() {
    for version in Version::ALL {
        let dictionary = Dictionary::built_in(version);
        assert_eq!(
            quickfix(&write::quickfix(&dictionary)),
            dictionary,
            "{}",
            version.name()
        );
        let read =
            orchestra(&write::orchestra(&dictionary)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(read, dictionary, "{}", version.name());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn a_random_dictionary_survives_both_forms(seed: u64) {
        let text = quickfix_text(&mut Random::new(seed));
        let dictionary = quickfix(&text);
        prop_assert_eq!(&quickfix(&write::quickfix(&dictionary)), &dictionary);
        let other = orchestra(&write::orchestra(&dictionary));
        prop_assert_eq!(other.as_ref(), Ok(&dictionary));
    }

    #[test]
    fn the_difference_applied_and_inverted_is_the_identity(a: u64, b: u64) {
        let (before, after) = (quickfix(&quickfix_text(&mut Random::new(a))), quickfix(&quickfix_text(&mut Random::new(b))));
        let forth = Delta::between(&before, &after);
        let text = forth.to_string();
        let read = Delta::read("forth", &text, DocumentLimits::default());
        let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(&read.to_string(), &text);
        let applied = delta::apply(&before, std::slice::from_ref(&read));
        let applied = applied.unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert!(applied == after, "{}\nleaves {}", text, Delta::between(&applied, &after));
        let back = Delta::between(&applied, &before);
        let again = delta::apply(&applied, &[back]).unwrap_or_else(|error| panic!("{error}"));
        prop_assert!(again == before, "{}", Delta::between(&again, &before));
        prop_assert!(Delta::between(&before, &before).is_empty());
    }

    #[test]
    fn no_text_makes_a_delta_panic(text in "(add|change|remove|in|base|member|field|group|value|D|11|ClOrdID|\"|,|:|=|to|of|required|when|#|\n| ){0,40}") {
        if let Ok(read) = Delta::read("x", &text, DocumentLimits::default()) {
            let base = Dictionary::built_in(Version::Fix40);
            let _ = delta::apply(&base, &[read]);
        }
    }
}

fn change(base: &Dictionary, texts: &[&str]) -> Result<Dictionary, delta::DeltaError> {
    let names = ["one.delta", "two.delta", "three.delta"];
    let deltas: Vec<Delta> = texts
        .iter()
        .zip(names)
        .map(|(text, name)| Delta::read(name, text, DocumentLimits::default()))
        .collect::<Result<_, _>>()?;
    delta::apply(base, &deltas)
}

const VENUE: &str = "\
base FIX.4.4                                   # the venue's own fields
add field 9001 VenueFlag CHAR
add value A ALPHA to VenueFlag
add value B \"BETA \\\"TEST\\\"\" to VenueFlag
add field 9002 NoVenueLegs NUMINGROUP
add field 9003 VenueLegID STRING
add field 9004 NoVenueSubs NUMINGROUP
add field 9005 VenueSub INT
add field 9010 VenueBlobLen LENGTH
add field 9011 VenueBlob DATA
add member VenueFlag to NewOrderSingle required after ClOrdID
add member 9010 to D
add member 9011 to D
add group NoVenueLegs to D begin VenueLegID required
add group NoVenueSubs to NoVenueLegs of D begin VenueSub
add message U1 VenueQuote
add component Instrument to U1 required
add member VenueFlag to U1 first
change member Text of D required
remove value 9 from OrdType
remove member MinQty from NewOrderSingle
in NewOrderSingle, G: Price required when OrdType in 2,4 and Side not in 5
";

#[test]
fn a_delta_adds_removes_and_changes() {
    let base = Dictionary::built_in(Version::Fix44);
    let made = change(&base, &[VENUE]).unwrap_or_else(|error| panic!("{error}"));
    let order = made.message(b"D").expect("a message");
    let at = |tag| order.members().iter().position(|member| member.tag == tag);
    assert_eq!(at(9001), at(11).map(|at| at + 1));
    assert!(order.member(9001).is_some_and(|member| member.required));
    assert!(order.member(58).is_some_and(|member| member.required));
    assert!(
        order.member(110).is_none()
            && base
                .message(b"D")
                .is_some_and(|old| old.member(110).is_some())
    );
    let legs = made.group(b"D", 9002).expect("a group");
    assert_eq!(
        (
            legs.delimiter(),
            legs.group(9004).map(|subs| subs.delimiter())
        ),
        (9003, Some(9005))
    );
    assert_eq!(made.field(9011).and_then(|field| field.partner), Some(9010));
    let quote = made.message_named("VenueQuote").expect("a message");
    assert_eq!((quote.msg_type(), quote.members()[0].tag), ("U1", 9001));
    assert!(quote.member(55).is_some_and(|member| {
        member.required
            == base
                .message(b"D")
                .and_then(|d| d.member(55))
                .is_some_and(|m| m.required)
    }));
    assert!(
        made.field(40)
            .is_some_and(|field| field.values.iter().all(|value| value.value != "9"))
    );
    assert_eq!(order.conditions().len(), 1);
    // Written and read again it is the same; reversed it is the base.
    let written = Delta::between(&base, &made);
    let again = change(&base, &[&written.to_string()]).unwrap_or_else(|error| panic!("{error}"));
    assert!(again == made);
    let undone = delta::apply(&made, &[Delta::between(&made, &base)])
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(undone == base);
}

#[test]
fn a_quickfix_file_adds_what_is_in_it() {
    let base = Dictionary::built_in(Version::Fix44);
    let venue = r#"<fix major="4" minor="4">
<messages>
 <message name="NewOrderSingle" msgtype="D" msgcat="app">
  <field name="VenueFlag" required="Y"/><field name="ClOrdID" required="Y"/>
  <group name="NoVenueLegs" required="N"><component name="Leg" required="Y"/></group></message>
 <message name="VenueQuote" msgtype="U1" msgcat="app"><component name="Instrument" required="Y"/></message>
</messages>
<components><component name="Leg"><field name="VenueLegID" required="Y"/></component></components>
<fields>
 <field number="9001" name="VenueFlag" type="CHAR"><value enum="A" description="ALPHA"/></field>
 <field number="9002" name="NoVenueLegs" type="NUMINGROUP"/>
 <field number="9003" name="VenueLegID" type="STRING"/>
 <field number="40" name="OrdType" type="CHAR"><value enum="Z" description="VENUE_PEG"/></field>
</fields></fix>"#;
    let made = change(&base, &[venue]).unwrap_or_else(|error| panic!("{error}"));
    let order = made.message(b"D").expect("a message");
    assert!(order.member(9001).is_some_and(|member| member.required));
    assert_eq!(
        made.group(b"D", 9002).map(|legs| legs.delimiter()),
        Some(9003)
    );
    assert!(
        made.message(b"U1")
            .is_some_and(|quote| quote.member(55).is_some())
    );
    assert!(
        made.field(40)
            .is_some_and(|field| field.values.iter().any(|value| value.value == "Z"))
    );
    assert_eq!(
        order.member(11),
        base.message(b"D").and_then(|old| old.member(11))
    );
    // A contradiction with the base is an error with both positions.
    let wrong = venue.replace(
        "<field name=\"ClOrdID\" required=\"Y\"/>",
        "<field name=\"ClOrdID\" required=\"N\"/>",
    );
    let error = change(&base, &[&wrong]).expect_err("it is required");
    assert_eq!(error.at.line, 4);
    let Some(Other::Base(thing)) = error.other.as_deref().cloned() else {
        panic!("{:?}", error.other)
    };
    assert_eq!(thing, Thing::Member("D".into(), vec![], 11));
    let text = write::quickfix(&base);
    let place = place_of(&text, DocumentLimits::default(), &thing).expect("it is there");
    let line = text.lines().nth(place.line as usize - 1).expect("a line");
    assert!(line.contains("name=\"ClOrdID\""), "{line}");
    let text = write::orchestra(&base);
    let place = place_of(&text, DocumentLimits::default(), &thing).expect("it is there");
    assert!(
        text.lines()
            .nth(place.line as usize - 1)
            .is_some_and(|line| line.contains("id=\"11\""))
    );
    let error =
        change(&base, &[&venue.replace("minor=\"4\"", "minor=\"2\"")]).expect_err("another base");
    assert!(matches!(error.problem, DeltaProblem::WrongBase { .. }));
}

#[test]
fn two_deltas_that_want_different_things_are_a_conflict_with_both_places() {
    let base = Dictionary::built_in(Version::Fix44);
    let conflicts = [
        ("add field 9001 A CHAR", "add field 9001 A INT"),
        ("add field 9001 A CHAR", "\nadd field 9002 A CHAR"),
        (
            "change field 58 Remark STRING",
            "change field 58 Note STRING",
        ),
        (
            "change member Text of D required",
            "remove member Text from D",
        ),
        ("remove message D", "add message D Other"),
        ("add message U1 A", "add message U1 B"),
        ("add value Z PEG to OrdType", "add value Z OTHER to OrdType"),
        (
            "change value 2 CAPPED of OrdType",
            "change value 2 CEILING of OrdType",
        ),
        ("add member Text to 0", "add member Text to 0 required"),
        ("version X", "version Y"),
    ];
    for (one, two) in conflicts {
        change(&base, &[one]).unwrap_or_else(|error| panic!("{error}"));
        let error = change(&base, &[one, two]).expect_err(two);
        assert!(
            matches!(error.problem, DeltaProblem::Conflict(_)),
            "{error}"
        );
        assert_eq!(error.file, "two.delta", "{error}");
        let Some(Other::Delta { file, at }) = error.other.as_deref() else {
            panic!("{two}: {error:?}")
        };
        assert_eq!(
            (file.as_str(), at.line as usize),
            ("one.delta", one.lines().count()),
            "{error}"
        );
        // Two files with the same change do not contradict.
        change(&base, &[one, one]).unwrap_or_else(|error| panic!("{one}: {error}"));
    }
    let error = change(&base, &["add field 58 Note STRING"]).expect_err("58 is Text");
    assert_eq!(error.other.as_deref(), Some(&Other::Base(Thing::Field(58))));
}

#[test]
fn what_is_wrong_with_a_statement_has_its_place_and_its_remedy() {
    let base = Dictionary::built_in(Version::Fix44);
    let cases = [
        ("\nad field 1 A INT", 2, 4, "unexpected '"),
        ("add field x A INT", 1, 11, "number"),
        ("add field 9001 A INTT", 1, 18, "field type"),
        ("add field 9001 A INT extra", 1, 22, "nothing more"),
        ("add member Nothing to D", 1, 1, "unknown field Nothing"),
        (
            "add member Text to Nowhere",
            1,
            1,
            "unknown message Nowhere",
        ),
        (
            "add member Text to NoLegs of D",
            1,
            1,
            "unknown group NoLegs",
        ),
        (
            "add member Text to D after",
            1,
            27,
            "unexpected end of line",
        ),
        ("remove member HeadLine from D", 1, 1, "unknown "),
        ("change value ? X of OrdType", 1, 1, "unknown value"),
        (
            "Price required when OrdType",
            1,
            28,
            "unexpected end of line",
        ),
        (
            "Price required when OrdType in",
            1,
            31,
            "unexpected end of line",
        ),
        ("Price required if OrdType in 2", 1, 16, "required when"),
        ("in D Price required when OrdType in 2", 1, 6, "colon"),
        (
            "HeadLine required when TestReqID present",
            1,
            1,
            "unknown field",
        ),
        (
            "Headline required when TestReqID present",
            1,
            1,
            "no message",
        ),
        ("add group NoLegs to D", 1, 22, "begin"),
        ("\"unclosed", 1, 1, "quote"),
        ("base FIX.4.2", 1, 1, "the dictionary is FIX.4.4"),
        (
            "remove field PartyID\nremove field NestedPartyID\nremove field LegSymbol",
            1,
            1,
            "no fields left",
        ),
    ];
    for (text, line, column, says) in cases {
        let Err(error) = change(&base, &[text]) else {
            assert_eq!(says, "no fields left", "{text}");
            continue;
        };
        let said = error.to_string();
        assert!(said.contains(says) && said.contains(';'), "{text}: {said}");
        if says != "no fields left" {
            assert_eq!(
                (error.at.line, error.at.column),
                (line, column),
                "{text}: {said}"
            );
        }
    }
}
