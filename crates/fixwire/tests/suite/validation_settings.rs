//! Settings of dictionaries and validation arrive in the sessions.

use std::sync::Arc;

use fixwire::EngineConfig;
use fixwire::settings::{Settings, Source};
use fixwire_protocol::dictionary::ValidationRules;

fn config(text: &str) -> EngineConfig {
    let source = Source {
        path: "x.cfg".into(),
        text: text.into(),
    };
    let settings = Settings::read(&source).unwrap_or_else(|error| panic!("{error}"));
    settings
        .to_config()
        .unwrap_or_else(|error| panic!("{error}"))
}

fn session(extra: &str) -> String {
    format!(
        "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\n\
         ConnectionType=acceptor\nSocketAcceptPort=5001\n{extra}\n"
    )
}

#[test]
fn each_switch_of_validation_reaches_its_rule() {
    let of = |extra: &str| config(&session(extra)).sessions.remove(0);
    let usual = of("").session.rules;
    assert_eq!(usual, ValidationRules::default());
    type Change = fn(&mut ValidationRules);
    let switches: [(&str, Change); 9] = [
        ("ValidateFieldsOutOfOrder=N", |rules| {
            rules.fields_out_of_order = false
        }),
        ("ValidateFieldsHaveValues=N", |rules| {
            rules.fields_have_values = false
        }),
        ("ValidateUserDefinedFields=N", |rules| {
            rules.user_defined_fields = false
        }),
        ("ValidateUnorderedGroupFields=N", |rules| {
            rules.unordered_group_fields = false
        }),
        ("FirstFieldInGroupIsDelimiter=Y", |rules| {
            rules.first_field_in_group_is_delimiter = true;
        }),
        ("AllowUnknownMsgFields=Y", |rules| {
            rules.allow_unknown_msg_fields = true
        }),
        ("AllowUnknownEnumValues=Y", |rules| {
            rules.allow_unknown_enum_values = true
        }),
        ("ValidateConditionalFields=N", |rules| {
            rules.conditional_fields = false
        }),
        ("MaxGroupEntries=1", |rules| rules.max_group_entries = 1),
    ];
    for (line, change) in switches {
        let mut rules = usual;
        change(&mut rules);
        assert_ne!(rules, usual);
        assert_eq!(of(line).session.rules, rules, "{line}");
    }
    for line in ["UseDataDictionary=N", "ValidateIncomingMessage=N"] {
        assert!(of(line).session.dictionary.is_none(), "{line}");
    }
    for line in ["ValidateChecksum=N", "ValidateLengthAndChecksum=N"] {
        assert!(!of(line).validate_checksum, "{line}");
    }
    assert!(!of("RejectInvalidMessage=N").session.reject_invalid_message);
    // Fields go out as they were written, so both values ask for nothing else.
    for line in [
        "PreserveMessageFieldsOrder=Y",
        "PreserveMessageFieldsOrder=N",
    ] {
        let same = format!("{:?}", of(line).session.rules);
        assert_eq!(same, format!("{usual:?}"), "{line}");
    }
}

#[test]
fn a_delta_changes_the_built_in_dictionary() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("venue.delta");
    std::fs::write(&path, "add field 9001 Flag CHAR\nadd member Flag to D\n").unwrap();
    let words = format!("DataDictionary=built-in + {}", path.display());
    let config = config(&(session(&words) + session(&format!("{words}\nTargetSubID=X")).as_str()));
    let [a, b] = [0, 1].map(|at| config.sessions[at].session.dictionary.clone().unwrap());
    assert_eq!(a.version(), "FIX.4.2");
    assert!(a.message(b"D").unwrap().member(9001).is_some());
    assert!(Arc::ptr_eq(&a, &b), "read once");
}
