//! Outcomes of `remember`, `recall` and `forget`, and errors in them.

use std::string::{String, ToString};
use std::vec::Vec;

use super::{RuleScratch, load, loaded, outcomes, outcomes_with};

fn rules(orders: &str, answers: &str) -> String {
    std::format!(
        "[[rule]]\nfrom = ['ALPHA']\ndo = [{orders}]\n[[rule]]\nfrom = ['VENUE']\ndo = [{answers}]\n"
    )
}

fn errors(orders: &str, answers: &str) -> Vec<String> {
    match load(&rules(orders, answers)) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

/// The outcomes for an order by one rule.
fn orders(actions: &str, text: &str) -> Vec<String> {
    let rules = loaded(&rules(actions, "'stop'"));
    outcomes(&rules, &mut RuleScratch::default(), "ALPHA", text).0
}

#[test]
fn values_are_those_of_that_moment() {
    let actions = "'set Account \"Y\"', 'remember Account, Text, Symbol', 'set Account \"Z\"', 'send VENUE', 'remember ClOrdID'";
    assert_eq!(
        orders(actions, "35=D|11=1|1=X|55=VOD|78=1|79=A|"),
        [
            "remember for 1: 1=Y|58=|55=VOD|",
            "send VENUE: 35=D|11=1|1=Z|55=VOD|78=1|79=A|",
            "remember for 1: 11=1|",
        ]
    );
    // A ClOrdID in a group entry does not count.
    let text = "35=E|66=L|73=2|11=1|67=1|11=2|67=2|";
    let out = orders("'remember Text', 'send VENUE'", text);
    assert_eq!(out, ["failed: NoField(11)"]);
}

#[test]
fn what_is_sent_may_be_changed_before_it_is_remembered() {
    // The caller may change the emitted fields; this does not change the fields of the rule.
    let rules = loaded(&rules(
        "'send VENUE', 'remember Account', 'forget'",
        "'stop'",
    ));
    let bytes = super::message("ALPHA", "35=D|11=1|1=X|");
    let mut decoder = fixwire_protocol::Decoder::with_capacity(64);
    let facts = super::Facts {
        now: super::now(),
        active: &super::ACTIVE,
        remembered: &[],
    };
    let mut out = Vec::new();
    rules.evaluate(
        &mut RuleScratch::default(),
        &decoder.decode(&bytes),
        0,
        &facts,
        &mut |_, outcome| match outcome {
            super::RuleOutcome::Send { draft, .. } => {
                draft.set(11, b"FW1");
                draft.remove_tag(1);
            }
            other => out.push(super::shown(&rules, other)),
        },
    );
    assert_eq!(out, ["remember for 1: 1=X|", "forget 1"]);
}

#[test]
fn what_cannot_be_remembered_fails() {
    let long = "x".repeat(4097);
    for (text, wanted) in [
        ("35=D|1=X|", "failed: NoField(11)"),
        ("35=D|11=1|1=X|554=secret|", "failed: Secret"),
        (&std::format!("35=D|11=1|58={long}|"), "failed: TooLong(58)"),
    ] {
        let out = orders("'remember Account, Text', 'send VENUE'", text);
        assert_eq!(out, [wanted], "{text}");
    }
    let text = std::format!("35=D|11=1|58={}|", &long[1..]);
    assert_eq!(orders("'remember Text', 'send VENUE'", &text).len(), 2);
}

#[test]
fn a_rule_goes_no_further_when_the_gateway_cannot_remember() {
    let rules = loaded(&rules("'remember Account', 'send VENUE'", "'stop'"));
    let bytes = super::message("ALPHA", "35=D|11=1|1=X|");
    let mut decoder = fixwire_protocol::Decoder::with_capacity(64);
    let facts = super::Facts {
        now: super::now(),
        active: &super::ACTIVE,
        remembered: &[],
    };
    let mut count = 0;
    let evaluated = rules.evaluate(
        &mut RuleScratch::default(),
        &decoder.decode(&bytes),
        0,
        &facts,
        &mut |_, outcome| {
            count += 1;
            if let super::RuleOutcome::Remember { goes_on, .. } = outcome {
                *goes_on = false;
            }
        },
    );
    assert_eq!((count, evaluated.decided), (1, true));
}

#[test]
fn what_is_remembered_is_written() {
    let recalled = |actions: &str, remembered: &str| {
        let remembers = "'remember Account, Text, SecondaryOrderID', 'send VENUE'";
        let rules = loaded(&rules(remembers, actions));
        let message = ("VENUE", "35=8|37=V|11=1|39=0|58=told|");
        outcomes_with(remembered, &rules, &mut RuleScratch::default(), message).0
    };
    let both = "'recall Account, Text', 'return'";
    assert_eq!(
        recalled(both, "11=1|58=mine|1=X|"),
        ["return: 35=8|37=V|11=1|39=0|58=mine|1=X|"]
    );
    // Tags 11 and 211 are not tag 1.
    assert_eq!(recalled(both, "11=1|211=1|"), ["failed: NotRemembered(1)"]);
    assert_eq!(recalled(both, "1=X|"), ["failed: NotRemembered(58)"]);
    assert_eq!(
        recalled("'try recall Account, Text', 'return'", "1=X|"),
        ["return: 35=8|37=V|11=1|39=0|58=told|1=X|"]
    );
    assert_eq!(
        recalled("'recall Account, Text else \"?\"', 'return'", "1=X|"),
        ["return: 35=8|37=V|11=1|39=0|58=?|1=X|"]
    );
}

#[test]
fn mistakes_are_named_with_their_place() {
    let send = |action: &str| std::format!("'{action}', 'send VENUE'");
    for (action, wanted) in [
        (
            "remember",
            "3:16: found the end of the text, expected the name or number of a field",
        ),
        (
            "remember Acount",
            "3:17: unknown field 'Acount' (did you mean 'Account'?)",
        ),
        (
            "remember Account Text",
            "3:25: found Text, expected the end of the text",
        ),
        (
            "remember Account, RawData",
            "3:26: 'RawData' cannot be remembered: a data field and its length field belong together",
        ),
        (
            "remember NoAllocs",
            "3:17: 'NoAllocs' cannot be remembered: this field counts the entries of a group",
        ),
        (
            "remember MsgType",
            "3:17: 'MsgType' cannot be remembered: each session writes this field itself",
        ),
        (
            "remember 554",
            "3:17: '554' cannot be remembered: it is a password",
        ),
        (
            "remember MDEntryPx",
            "3:17: 'MDEntryPx' appears only in entries of NoMDEntries (write any(NoMDEntries, \
             ...) or each NoMDEntries: ...)",
        ),
        (
            "each NoAllocs: remember Account",
            "3:23: found another action, expected an action that changes fields",
        ),
        (
            "try remember Account",
            "3:12: found remember, expected copy, move, map or recall",
        ),
        (
            "forget Account",
            "3:15: found Account, expected the end of the text",
        ),
        (
            "remembr Account",
            "3:8: found remembr, expected an action (did you mean 'remember'?)",
        ),
    ] {
        assert_eq!(errors(&send(action), "'stop'"), [wanted], "{action}");
    }
    for (action, wanted) in [
        (
            "recall Account",
            "6:15: no rule remembers 'Account' (add ''remember Account'' to a rule for the orders)",
        ),
        (
            "try recall 58",
            "6:19: no rule remembers '58' (add ''remember 58'' to a rule for the orders)",
        ),
        (
            "recall SenderCompID",
            "6:15: 'SenderCompID' cannot be written: each session writes this field itself",
        ),
        (
            "recall Side else \"x\"",
            "6:25: 'x' is not a valid value of Side",
        ),
    ] {
        let wanted = wanted.replace("''", "'");
        let found = errors(
            "'remember Symbol, Side', 'send VENUE'",
            &send(action).replace("send VENUE", "return"),
        );
        assert_eq!(found, [wanted], "{action}");
    }
    assert_eq!(
        errors("'remember Symbol'", "'recall Symbol'"),
        ["6:8: this change has no effect: nothing is sent after it"]
    );
    // A change before `remember` has an effect.
    assert!(errors("'set Text \"x\"', 'remember Text'", "'stop'").is_empty());
}

#[test]
fn events_with_a_message_may_remember() {
    let rule = rules("'remember Text', 'send VENUE'", "'return'");
    let on = |event: &str, actions: &str| {
        let text = std::format!(
            "{rule}[[on]]\nevent = '{event}'\nsession = ['ALPHA', 'VENUE']\ndo = [{actions}]\n"
        );
        match load(&text) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect(),
        }
    };
    let all = "'forget', 'remember Text', 'try recall Text', 'send AUDIT'";
    assert_eq!(on("failed", all), Vec::<String>::new());
    let none = "not available for this event: the event has no message to send: use count, \
                notify, connect \
                or disconnect";
    assert_eq!(on("logon", "'forget'"), [std::format!("10:8: {none}")]);
}
