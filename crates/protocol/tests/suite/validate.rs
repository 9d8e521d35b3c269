//! Validation: for each way in which a message can be wrong, the reason and the tag that the
//! session's Reject names.

use fixwire_protocol::dictionary::RejectReason::{self, *};
use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{
    Dictionary, Scratch, ValidationFault, ValidationRules, Version,
};
use fixwire_protocol::{Decoder, MessageLimit};
use proptest::prelude::*;

const HEAD: &str = "34=2|49=BUYER|52=20260821-13:30:00|56=SELLER";
const ORDER: &str = "11=A|21=1|55=MSFT|54=1|60=20260821-13:30:00|40=1|38=100";

fn dictionary(version: Version) -> Dictionary {
    let dictionary = Dictionary::built_in(version);
    match version {
        Version::Fix50 | Version::Fix50Sp1 | Version::Fix50Sp2 => {
            dictionary.over(&Dictionary::built_in(Version::Fixt11))
        }
        _ => dictionary,
    }
}

/// Validates a message given without its first two fields and its last.
fn judge(
    dictionary: &Dictionary,
    rules: &ValidationRules,
    text: &str,
) -> Result<(), ValidationFault> {
    let text = text.trim_end_matches('|');
    let text = format!("8=FIX.4.4|9=100|{text}|10=000|").replace('|', "\x01");
    let mut decoder = Decoder::with_capacity(70_000);
    check(
        dictionary,
        &decoder.decode(text.as_bytes()),
        rules,
        &mut Scratch::default(),
    )
}

#[track_caller]
fn refused(dictionary: &Dictionary, text: &str, reason: RejectReason, tag: impl Into<Option<u32>>) {
    let fault = judge(dictionary, &ValidationRules::default(), text).expect_err(text);
    assert_eq!((fault.reason, fault.tag), (reason, tag.into()), "{text}");
}

#[track_caller]
fn accepted(dictionary: &Dictionary, text: &str) {
    assert_eq!(
        judge(dictionary, &ValidationRules::default(), text),
        Ok(()),
        "{text}"
    );
}

/// A heartbeat and an order with `more` behind them.
fn heartbeat(more: &str) -> String {
    format!("35=0|{HEAD}|{more}")
}

fn order(more: &str) -> String {
    format!("35=D|{HEAD}|{ORDER}|{more}")
}

const TIME_OF_4_2: &str = "|60=20260821-13:30:00";

/// Orders have a TransactTime from FIX 4.2 on.
fn time_of(version: Version) -> &'static str {
    match version {
        Version::Fix40 | Version::Fix41 => "",
        _ => TIME_OF_4_2,
    }
}

#[test]
fn every_version_takes_its_order_and_its_heartbeat() {
    for version in Version::ALL {
        let dictionary = dictionary(version);
        accepted(&dictionary, &heartbeat("112=again"));
        if version != Version::Fixt11 {
            accepted(
                &dictionary,
                &order("58=thanks").replace(TIME_OF_4_2, time_of(version)),
            );
        }
    }
}

#[test]
fn tags_that_no_dictionary_has_are_invalid() {
    for version in [Version::Fix42, Version::Fix44, Version::Fix50Sp2] {
        let dictionary = dictionary(version);
        refused(&dictionary, &heartbeat("999=x"), InvalidTagNumber, 999);
        refused(&dictionary, &heartbeat("5000=x"), InvalidTagNumber, 5000);
        refused(&dictionary, &heartbeat("0=x"), InvalidTagNumber, None);
        refused(&dictionary, &heartbeat("-1=x"), InvalidTagNumber, None);
        refused(&dictionary, &heartbeat("0058=x"), InvalidTagNumber, None);
        refused(
            &dictionary,
            &heartbeat(&format!("{}=x", "9".repeat(30))),
            InvalidTagNumber,
            None,
        );
    }
}

#[test]
fn required_fields_are_missed_in_the_order_of_header_then_tag() {
    let fix42 = dictionary(Version::Fix42);
    refused(
        &fix42,
        "35=0|34=2|49=BUYER|52=20260821-13:30:00",
        RequiredTagMissing,
        56,
    );
    refused(
        &fix42,
        "35=D|34=2|49=BUYER|56=SELLER",
        RequiredTagMissing,
        52,
    );
    let order = format!("35=D|{HEAD}|40=1|60=20260821-13:30:00|54=1|21=3|11=A");
    refused(&fix42, &order, RequiredTagMissing, 55);
    refused(
        &dictionary(Version::Fix50Sp2),
        &order.replace("|54=1", ""),
        RequiredTagMissing,
        54,
    );
    refused(
        &dictionary(Version::Fix44),
        &order.replace("|11=A", ""),
        RequiredTagMissing,
        11,
    );
}

#[test]
fn fields_of_other_messages_are_not_defined_here() {
    refused(
        &dictionary(Version::Fix42),
        &heartbeat("55=MSFT"),
        TagNotDefinedForMessageType,
        55,
    );
    refused(
        &dictionary(Version::Fix44),
        &order("112=x"),
        TagNotDefinedForMessageType,
        112,
    );
    // A session message of FIXT knows the transport's fields only.
    let fix50 = dictionary(Version::Fix50Sp2);
    refused(&fix50, &heartbeat("58=x"), TagNotDefinedForMessageType, 58);
    refused(&fix50, &heartbeat("55=MSFT"), InvalidTagNumber, 55);
}

#[test]
fn values_are_there_and_of_the_kind_that_the_field_has() {
    for version in [Version::Fix42, Version::Fix44] {
        let dictionary = dictionary(version);
        refused(&dictionary, &heartbeat("112="), TagWithoutValue, 112);
        refused(&dictionary, &order("59=").to_string(), TagWithoutValue, 59);
        let with = |from: &str, to: &str| order("").replace(from, to);
        refused(&dictionary, &with("|21=1", "|21=4"), ValueIncorrect, 21);
        refused(&dictionary, &order("167=BOO"), ValueIncorrect, 167);
        refused(&dictionary, &order("167=CS|18=1 G ?"), ValueIncorrect, 18);
        accepted(&dictionary, &order("167=CS|18=1 G"));
        refused(
            &dictionary,
            &with("|54=1", "|54=12"),
            IncorrectDataFormat,
            54,
        );
        for wrong in [
            "+200.00", "1e5", "NaN", "0x10", "1,000", ".", "1.2.3", "--1",
        ] {
            refused(
                &dictionary,
                &with("|38=100", &format!("|38={wrong}")),
                IncorrectDataFormat,
                38,
            );
        }
        for right in ["0100.500", "-1", "100000000000000000000000000000"] {
            accepted(&dictionary, &with("|38=100", &format!("|38={right}")));
        }
        for wrong in [
            "20260230-10:00:00",
            "20260101-24:00:00",
            "20260101-23:60:00",
            "now",
        ] {
            let text = with("|60=20260821-13:30:00", &format!("|60={wrong}"));
            refused(&dictionary, &text, IncorrectDataFormat, 60);
        }
        accepted(
            &dictionary,
            &with("|60=20260821-13:30:00", "|60=20260821-13:30:00.123456789"),
        );
        let head = HEAD.replace("|52=", "|97=1|52=");
        refused(
            &dictionary,
            &format!("35=D|{head}|{ORDER}"),
            IncorrectDataFormat,
            97,
        );
    }
}

#[test]
fn before_4_2_a_char_was_text() {
    let fix40 = dictionary(Version::Fix40);
    let order = |more: &str| order(more).replace(TIME_OF_4_2, "");
    accepted(&fix40, &order("58=more than one letter|18=1 2"));
    refused(
        &fix40,
        &order("").replace("21=1", "21=4"),
        ValueIncorrect,
        21,
    );
}

#[test]
fn message_types_are_in_the_dictionary() {
    let fix44 = dictionary(Version::Fix44);
    refused(&fix44, &format!("35=ZZ|{HEAD}"), InvalidMsgType, None);
    refused(
        &fix44,
        &format!("35={}|{HEAD}", "A".repeat(60)),
        InvalidMsgType,
        None,
    );
    refused(&fix44, &format!("35=|{HEAD}"), TagWithoutValue, 35);
    refused(&fix44, HEAD, RequiredTagMissing, 35);
}

#[test]
fn no_tag_stands_twice_and_no_part_of_the_message_comes_late() {
    let fix44 = dictionary(Version::Fix44);
    refused(&fix44, &order("55=MSFT"), TagAppearsMoreThanOnce, 55);
    refused(
        &fix44,
        &order("").replace("|40=1", "|40=1|40=2"),
        TagAppearsMoreThanOnce,
        40,
    );
    refused(
        &fix44,
        &format!("35=0|49=BUYER|{HEAD}"),
        TagAppearsMoreThanOnce,
        49,
    );
    refused(&fix44, &order("50=DESK"), TagOutOfRequiredOrder, 50);
    refused(
        &fix44,
        &format!("35=D|{ORDER}|{HEAD}"),
        TagOutOfRequiredOrder,
        34,
    );
    refused(
        &fix44,
        &format!("35=D|55=MSFT|{HEAD}|11=A"),
        TagOutOfRequiredOrder,
        34,
    );
    // Fields of the trailer are its last.
    refused(
        &fix44,
        &order("93=1|89=x|58=late"),
        TagOutOfRequiredOrder,
        58,
    );
}

#[test]
fn groups_have_as_many_entries_as_they_say() {
    let fix44 = dictionary(Version::Fix44);
    let party = |id: &str| format!("448={id}|447=D|452=1");
    let (a, b) = (party("A"), party("B"));
    accepted(&fix44, &order(&format!("453=2|{a}|{b}|58=x")));
    accepted(&fix44, &order("453=0|58=x"));
    accepted(
        &fix44,
        &order(&format!(
            "453=2|{a}|802=2|523=x|803=1|523=y|803=2|{b}|802=1|523=z|803=4"
        )),
    );
    for count in [
        "3",
        "1",
        "0",
        "-2",
        "999999999",
        "99999999999999999999999999",
    ] {
        let text = order(&format!("453={count}|{a}|{b}"));
        refused(&fix44, &text, IncorrectNumInGroupCount, 453);
    }
    refused(
        &fix44,
        &order(&format!("453=x|{a}")),
        IncorrectDataFormat,
        453,
    );
    refused(
        &fix44,
        &order(&format!("453=1|{a}|802=2|523=x|803=1")),
        IncorrectNumInGroupCount,
        802,
    );
    refused(
        &fix44,
        &order(&format!("453=2|{a}|58=between|{b}")),
        IncorrectNumInGroupCount,
        453,
    );
    // A wrong count goes before wrong values inside.
    let fix50 = dictionary(Version::Fix50Sp2);
    refused(
        &fix50,
        &order("386=3|336=PRE-OPEN|336=x"),
        IncorrectNumInGroupCount,
        386,
    );
    refused(
        &fix50,
        &order("386=2|336=PRE-OPEN|336=x"),
        ValueIncorrect,
        336,
    );
}

#[test]
fn a_count_has_the_values_that_are_listed() {
    let cross = |count: usize| {
        let side = |n| format!("|54=1|11={n}|38=1");
        let sides: String = (0..count).map(side).collect();
        format!(
            "35=s|{HEAD}|548=C|549=1|550=0|552={count}{sides}|55=MSFT|60=20260821-13:30:00|40=1"
        )
    };
    for version in [Version::Fix44, Version::Fix50Sp2] {
        let dictionary = dictionary(version);
        accepted(&dictionary, &cross(2));
        refused(&dictionary, &cross(3), ValueIncorrect, 552);
    }
}

#[test]
fn entries_begin_with_their_delimiter_and_keep_their_order() {
    let fix44 = dictionary(Version::Fix44);
    refused(
        &fix44,
        &order("453=1|447=D|448=A|452=1"),
        GroupFieldsOutOfOrder,
        447,
    );
    refused(
        &fix44,
        &order("453=1|448=A|452=1|447=D"),
        GroupFieldsOutOfOrder,
        447,
    );
    refused(
        &fix44,
        &order("453=1|448=A|447=D|447=D"),
        TagAppearsMoreThanOnce,
        447,
    );
    refused(&fix44, &order("453=1|448=|447=D"), TagWithoutValue, 448);
    let fix42 = dictionary(Version::Fix42);
    refused(
        &fix42,
        &order("78=2|80=50|79=one|80=150|79=two"),
        GroupFieldsOutOfOrder,
        80,
    );
    // An entry without a field that each must have.
    let list = format!("35=E|{HEAD}|66=L|68=1|394=3|73=1|11=A|67=1|55=MSFT");
    refused(&dictionary(Version::Fix44), &list, RequiredTagMissing, 54);
}

/// The cap less one, the cap and one more, of a group and of one inside its entries.
#[test]
fn a_group_has_only_so_many_entries() {
    let fix44 = dictionary(Version::Fix44);
    let group = |count: usize, declared: usize| {
        let mut text = format!("453={declared}");
        (0..count).for_each(|n| text += &format!("|448=P{n}|447=D|452=1"));
        order(&text)
    };
    let cap = ValidationRules::default().max_group_entries as usize;
    accepted(&fix44, &group(cap - 1, cap - 1));
    accepted(&fix44, &group(cap, cap));
    refused(&fix44, &group(cap + 1, cap + 1), ValueIncorrect, 453);
    refused(&fix44, &group(cap + 4000, cap + 4000), ValueIncorrect, 453);
    let small = ValidationRules {
        max_group_entries: 2,
        group_counts: false,
        ..ValidationRules::default()
    };
    // The value of NumInGroup does not matter.
    assert!(judge(&fix44, &small, &group(2, 3)).is_ok());
    let fault = judge(&fix44, &small, &group(3, 2)).unwrap_err();
    assert_eq!(fault.limit, Some(MessageLimit::GroupEntries(2)));
    let nested = |count: usize| {
        let entry = |n: usize| {
            let subs: String = (0..count).map(|sub| format!("|523={sub}|803=1")).collect();
            format!("|448=P{n}|447=D|452=1|802={count}{subs}")
        };
        order(&format!("453=2{}{}", entry(0), entry(1)))
    };
    let strict = ValidationRules {
        group_counts: true,
        ..small
    };
    assert!(judge(&fix44, &strict, &nested(2)).is_ok());
    let fault = judge(&fix44, &strict, &nested(3)).expect_err("one too many");
    assert_eq!((fault.reason, fault.tag), (ValueIncorrect, Some(802)));
}

#[test]
fn each_rule_can_be_switched_off() {
    let fix44 = dictionary(Version::Fix44);
    let all = ValidationRules::default();
    let cases = [
        (
            ValidationRules {
                fields_out_of_order: false,
                ..all
            },
            order("50=DESK"),
        ),
        (
            ValidationRules {
                fields_have_values: false,
                ..all
            },
            heartbeat("112="),
        ),
        (
            ValidationRules {
                user_defined_fields: false,
                ..all
            },
            order("5000=x|20001=y"),
        ),
        (
            ValidationRules {
                allow_unknown_msg_fields: true,
                ..all
            },
            heartbeat("55=MSFT|999=x"),
        ),
        (
            ValidationRules {
                allow_unknown_msg_fields: true,
                ..all
            },
            order("453=2|448=A|447=D|999=x|452=1|448=B"),
        ),
        (
            ValidationRules {
                allow_unknown_enum_values: true,
                ..all
            },
            order("167=BOO"),
        ),
        (
            ValidationRules {
                unordered_group_fields: false,
                ..all
            },
            order("453=1|448=A|452=1|447=D"),
        ),
        (
            ValidationRules {
                first_field_in_group_is_delimiter: true,
                ..all
            },
            order("453=2|447=D|448=A|447=D|448=B"),
        ),
        (
            ValidationRules {
                required_fields: false,
                ..all
            },
            format!("35=D|{HEAD}|55=MSFT"),
        ),
        (
            ValidationRules {
                formats: false,
                ..all
            },
            order("").replace("38=100", "38=+1"),
        ),
        (
            ValidationRules {
                duplicate_tags: false,
                ..all
            },
            order("55=MSFT"),
        ),
        (
            ValidationRules {
                group_counts: false,
                ..all
            },
            order("453=3|448=A|447=D|452=1"),
        ),
    ];
    for (rules, text) in cases {
        assert!(judge(&fix44, &all, &text).is_err(), "{text}");
        assert_eq!(judge(&fix44, &rules, &text), Ok(()), "{text}");
    }
    // The tag 0 is never good, and user-defined fields have their own switch.
    let lenient = ValidationRules {
        allow_unknown_msg_fields: true,
        ..all
    };
    assert!(judge(&fix44, &lenient, &heartbeat("0=x")).is_err());
    assert!(judge(&fix44, &lenient, &heartbeat("5000=x")).is_err());
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut decoder = Decoder::with_capacity(64);
        let _ = check(&dictionary(Version::Fix42), &decoder.decode(&bytes), &ValidationRules::default(), &mut Scratch::default());
    }

    #[test]
    fn no_fields_make_it_panic(
        fields in proptest::collection::vec(("(453|448|447|452|802|523|803|78|79|539|524|545|804|11|55|8|35|10|5000|711|457|0|x)", "[0-9A-Z ]{0,3}"), 0..60),
        rules in proptest::collection::vec(any::<bool>(), 12),
    ) {
        let mut text = String::from("35=D");
        fields.iter().for_each(|(tag, value)| text += &format!("|{tag}={value}"));
        let rules = ValidationRules {
            fields_out_of_order: rules[0],
            fields_have_values: rules[1],
            user_defined_fields: rules[2],
            allow_unknown_msg_fields: rules[3],
            allow_unknown_enum_values: rules[4],
            unordered_group_fields: rules[5],
            first_field_in_group_is_delimiter: rules[6],
            required_fields: rules[7],
            formats: rules[8],
            duplicate_tags: rules[9],
            group_counts: rules[10],
            conditional_fields: true,
            logon_credentials: rules[11],
            max_group_entries: 2,
        };
        thread_local!(static FIX44: Dictionary = Dictionary::built_in(Version::Fix44));
        FIX44.with(|dictionary| { let _ = judge(dictionary, &rules, &text); });
    }
}
