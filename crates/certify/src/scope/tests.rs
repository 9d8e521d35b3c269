use std::sync::Arc;

use fixwire_client::OrderLayout;
use fixwire_protocol::Dictionary;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::{BeginString, Config, Role};

use super::*;
use crate::plan::{CertificationPlan, StepAction};
use crate::wire_message::text_fields as message;

/// The steps of a case.
fn plan(steps: &str) -> CertificationPlan {
    CertificationPlan::parse(&format!("case 1 A\n{steps}\n")).unwrap()
}

fn sent(scope: &mut CaseScope, ids: &mut IdMaker, action: &StepAction) -> TextFields {
    let StepAction::Send(outgoing) = action else {
        panic!("{action:?}");
    };
    let config = Config::new(BeginString::Fix44, Role::Initiator, b"OMS", b"EXCHANGE");
    let mut layout = OrderLayout::of(&config);
    let mut time = |offset: i64| format!("now{offset}");
    let made = scope.compose(outgoing, ids, Some(&mut layout), Timestamp(0), &mut time);
    made.unwrap().0
}

#[test]
fn requests_have_ids_of_the_case_and_the_fields_of_their_order() {
    let plan = plan(
        "new buy 100 VOD @ 10.50 11=$A\nexpect 35=8|11=$A|37=*\nreplace last qty 80\ncancel last 58=@1\n\
         status $A\nsend 35=q|11=$M|530=7|60=now-1s|49=(none)",
    );
    let steps = &plan.cases[0].steps;
    let mut ids = IdMaker::new(Timestamp(0));
    let mut scope = CaseScope::new(1);
    let order = sent(&mut scope, &mut ids, &steps[0].action);
    let first = value(&order, 11).unwrap().to_owned();
    assert_eq!(first, "0000000-001");
    assert_eq!(
        (
            value(&order, 35),
            value(&order, 38),
            value(&order, 44),
            value(&order, 40)
        ),
        (Some("D"), Some("100"), Some("10.50"), Some("2"))
    );
    scope.learn(&message(&format!("35=8|11={first}|37=77")));
    let replace = sent(&mut scope, &mut ids, &steps[2].action);
    assert_eq!(
        (
            value(&replace, 11),
            value(&replace, 41),
            value(&replace, 37)
        ),
        (Some("0000000-002"), Some(first.as_str()), Some("77"))
    );
    assert_eq!(
        (value(&replace, 38), value(&replace, 44)),
        (Some("80"), Some("10.50"))
    );
    // @1 is a field that the message of step 1 lacks.
    let StepAction::Send(cancel) = &steps[3].action else {
        panic!("{:?}", steps[3]);
    };
    let config = Config::new(BeginString::Fix44, Role::Initiator, b"OMS", b"EXCHANGE");
    let mut layout = OrderLayout::of(&config);
    scope.keep(1, order);
    let failed = scope.compose(
        cancel,
        &mut ids,
        Some(&mut layout),
        Timestamp(0),
        &mut |_| String::new(),
    );
    assert_eq!(failed.unwrap_err(), "the message of step 1 has no tag 58");
    let status = sent(&mut scope, &mut ids, &steps[4].action);
    assert_eq!(
        (value(&status, 35), value(&status, 11), value(&status, 37)),
        (Some("H"), Some(first.as_str()), Some("77"))
    );
    let mass = sent(&mut scope, &mut ids, &steps[5].action);
    assert_eq!(
        (value(&mass, 60), value(&mass, 49)),
        (Some("now-1000000000"), None)
    );
}

#[test]
fn messages_are_compared_field_by_field() {
    let dictionary = FieldNames::Fix(Arc::new(Dictionary::built_in(Version::Fix44)));
    let plan = plan(
        "expect 35=8|37=$o|44=10.50|58=A*Z|150={0,F}|103=(none)|14=*|453=2|448=X|448=Y\n\
         expect 35=8|37=$o|38=@1|39=0",
    );
    let pattern = |step: usize| match &plan.cases[0].steps[step].action {
        StepAction::Expect(expectation) => &expectation.patterns[0],
        other => panic!("{other:?}"),
    };
    let mut scope = CaseScope::new(1);
    let good = "35=8|37=77|38=5|44=10.5|58=ABZ|150=F|14=0|453=2|448=X|448=Y";
    for (from, to, difference) in [
        (
            "44=10.5|",
            "44=10.6|",
            "Price(44) is '10.6', expected '10.50'",
        ),
        ("58=ABZ", "58=ABC", "Text(58) is 'ABC', expected 'A*Z'"),
        (
            "150=F",
            "150=4",
            "ExecType(150) is '4', expected one of 0, F",
        ),
        (
            "14=0",
            "103=1|14=0",
            "OrdRejReason(103) is '1', expected no such field",
        ),
        ("14=0|", "", "CumQty(14) is absent, expected any value"),
        ("448=Y", "448=Z", "PartyID(448) is 'Z', expected 'Y'"),
        ("35=8", "35=9", "MsgType(35) is '9', expected '8'"),
    ] {
        let wrong = message(&good.replace(from, to));
        let found = scope.match_message(pattern(0), &wrong, &dictionary);
        assert_eq!(found.unwrap_err(), [difference], "{to}");
    }
    scope
        .match_message(pattern(0), &message(good), &dictionary)
        .unwrap();
    let other = message("35=8|37=78|38=6|39=0");
    let found = scope
        .match_message(pattern(1), &other, &dictionary)
        .unwrap_err();
    assert_eq!(
        found,
        [
            "OrderID(37) is '78', expected '77'",
            "OrderQty(38) is '6', expected '5'"
        ]
    );
    assert_eq!(scope.shown(pattern(1)), "35=8|37=77|38=5|39=0");
    scope.keep(1, message("35=8|37=77"));
    let found = scope.match_message(pattern(1), &other, &dictionary);
    assert_eq!(
        found.unwrap_err()[1],
        "OrderQty(38) is '6', expected the value of step 1, whose message has no such field"
    );
}

#[test]
fn secrets_are_masked_in_what_is_expected_and_received() {
    let dictionary = FieldNames::Fix(Arc::new(Dictionary::built_in(Version::Fix44)));
    let plan = plan(
        "send 35=BE|554=old|925=new\nexpect 35=BF|554=@1|925=(none)|96={a,b}|58=x\n\
         expect 35=BF|554=o*|925=plain",
    );
    let pattern = |step: usize| match &plan.cases[0].steps[step].action {
        StepAction::Expect(expectation) => &expectation.patterns[0],
        other => panic!("{other:?}"),
    };
    assert_eq!(plan.cases[0].steps[0].text, "send 35=BE|554=***|925=***");
    let mut scope = CaseScope::new(1);
    scope.keep(1, message("35=BE|554=old|925=new"));
    let wrong = message("35=BF|554=other|925=new|96=c|58=y");
    let found = scope.match_message(pattern(1), &wrong, &dictionary);
    assert_eq!(
        found.unwrap_err(),
        [
            "Password(554) is '***', expected '***'",
            "NewPassword(925) is '***', expected no such field",
            "RawData(96) is '***', expected one of ***",
            "Text(58) is 'y', expected 'x'"
        ]
    );
    let found = scope.match_message(pattern(2), &wrong, &dictionary);
    let found = found.unwrap_err().join("; ");
    assert!(!found.contains("plain") && !found.contains("o*"), "{found}");
    assert_eq!(
        scope.shown(pattern(1)),
        "35=BF|554=***|925=(none)|96=***|58=x"
    );
}

#[test]
fn a_secret_in_a_variable_is_masked_in_other_fields_too() {
    let dictionary = FieldNames::Fix(Arc::new(Dictionary::built_in(Version::Fix44)));
    let plan = plan("expect 35=BF|554=$x\nexpect 35=8|58=$x|37=1\nexpect 35=BF|58=$y|554=$y");
    let pattern = |step: usize| match &plan.cases[0].steps[step].action {
        StepAction::Expect(expectation) => &expectation.patterns[0],
        other => panic!("{other:?}"),
    };
    let mut scope = CaseScope::new(1);
    let said = message("35=BF|554=hunter2");
    scope.match_message(pattern(0), &said, &dictionary).unwrap();
    assert_eq!(scope.shown(pattern(1)), "35=8|58=***|37=1");
    let wrong = message("35=8|58=is hunter2|37=2");
    let found = scope.match_message(pattern(1), &wrong, &dictionary);
    assert_eq!(
        found.unwrap_err(),
        [
            "Text(58) is '***', expected '***'",
            "OrderID(37) is '2', expected '1'"
        ]
    );
    assert!(scope.secrets().has("hunter2"));
    // The secret field comes after the other one.
    let other = message("35=BF|58=wrong|554=hunter3");
    let found = scope.match_message(pattern(2), &other, &dictionary);
    let found = found.unwrap_err().join("; ");
    assert_eq!(found, "Password(554) is '***', expected '***'");
    let said = message("35=BF|58=hunter3|554=hunter3");
    scope.match_message(pattern(2), &said, &dictionary).unwrap();
    assert!(scope.secrets().has("hunter3"));
}
