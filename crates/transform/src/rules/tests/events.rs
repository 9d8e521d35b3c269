//! Entries of `[[on]]`.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::{load, loaded};
use crate::rules::RulePath;

const RULE: &str = "[[rule]]\nfrom = ['ALPHA']\ndo = ['send VENUE']\n";

/// The errors of an `[[on]]` after a rule of three lines.
fn errors(on: &str) -> Vec<String> {
    match load(&format!("{RULE}[[on]]\n{on}")) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

fn of(event: &str, action: &str) -> Vec<String> {
    let sessions = "session = ['ALPHA']";
    errors(&format!(
        "event = '{event}'\n{sessions}\ndo = ['{action}']\n"
    ))
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (on, wanted) in [
        (
            "session = ['ALPHA']\ndo = ['count x']\n",
            "4:1: 'event' is missing",
        ),
        (
            "event = 'logon'\ndo = ['count x']\n",
            "4:1: 'session' is missing",
        ),
        (
            "event = 'logon'\nsession = []\ndo = ['count x']\n",
            "6:11: an empty list never matches",
        ),
        (
            "event = 'logon'\nsession = ['ALPHA']\n",
            "4:1: rule without an action",
        ),
        (
            "event = 'login'\nsession = ['ALPHA']\ndo = ['count x']\n",
            "5:10: unknown event 'login' (did you mean 'logon'?)",
        ),
        (
            "event = 'x'\nsession = ['ALPHA']\ndo = ['count x']\n",
            "5:10: unknown event 'x' (the events are logon request, logon, logout, disconnect, undelivered, failed, reject received, reject sent)",
        ),
        (
            "event = 'logon'\nsession = ['ALPAH']\ndo = ['count x']\n",
            "6:13: unknown session 'ALPAH' (did you mean 'ALPHA'?)",
        ),
        (
            "event = 'logon'\nfrom = ['ALPHA']\nsession = ['ALPHA']\ndo = ['count x']\n",
            "6:1: unknown key from (the keys are do, event, name, session, when)",
        ),
        (
            "event = 'failed'\nsession = ['BETA1']\ndo = ['count x']\n",
            "5:10: this condition is never true: no rule handles messages of these sessions",
        ),
        (
            "event = 'undelivered'\nsession = ['ALPHA']\nwhen = 'Side = BUY and Side = SELL'\ndo = ['send VENUE']\n",
            "7:24: this condition is never true: it contradicts another condition on Side",
        ),
        (
            "event = 'undelivered'\nsession = ['ALPHA']\nwhen = 'target = VENEU'\ndo = ['count x']\n",
            "7:18: unknown session 'VENEU' (did you mean 'VENUE'?)",
        ),
        (
            "event = 'logout'\nsession = ['ALPHA']\nwhen = 'Txt contains \"x\"'\ndo = ['count x']\n",
            "7:9: unknown field 'Txt' (did you mean 'Text'?)",
        ),
    ] {
        assert_eq!(errors(on), [wanted], "{on}");
    }
    let none = "7:8: not available for this event: the event has no message to send: use count, \
                notify, \
                connect or disconnect";
    for (event, action, wanted) in [
        ("logon", "send VENUE", none),
        (
            "logout",
            "set Text \"x\"",
            "7:7: this change has no effect: nothing is sent after it",
        ),
        ("disconnect", "reject \"x\"", none),
        (
            "logon",
            "connect VENEU",
            "7:16: unknown session 'VENEU' (did you mean 'VENUE'?)",
        ),
        (
            "undelivered",
            "answer status",
            "7:8: not available for this event: only rules can answer a status request",
        ),
        (
            "failed",
            "stop",
            "7:8: not available for this event: there is nothing to stop",
        ),
        (
            "failed",
            "return",
            "7:8: not available for this event: only rules can return a message",
        ),
        (
            "undelivered",
            "throttle 1 per second else drop",
            "7:8: not available for this event: there is no message to throttle",
        ),
        (
            "undelivered",
            "send VENEU",
            "7:13: unknown session 'VENEU' (did you mean 'VENUE'?)",
        ),
    ] {
        let found = of(event, action);
        assert!(!found.is_empty(), "{event}: {action}");
        let wanted = wanted.split_once(": ").unwrap().1;
        assert!(
            found[0].ends_with(wanted) && found[0].starts_with("7:"),
            "{found:?}"
        );
    }
    let twice = "name = 'x'\nevent = 'logon'\nsession = ['*']\ndo = ['count x']\n";
    assert_eq!(
        errors(&format!("{twice}[[on]]\n{twice}")),
        ["10:9: the name 'x' is already used in line 5"]
    );
}

#[test]
fn where_events_send_is_known_as_for_rules() {
    let on = "[[on]]\nevent = 'undelivered'\nsession = ['ALPHA']\ndo = ['convert', 'send GAMMA']\n";
    let rules = loaded(&format!("{RULE}{on}"));
    assert_eq!(
        (rules.len(), rules.name(1), rules.line(1)),
        (1, Some("on 1"), Some(4))
    );
    assert_eq!(rules.name(2), None);
    let mut ways = Vec::new();
    rules.ways(&mut |way| ways.push(way));
    let way = |rule, to, convert| RulePath {
        rule,
        from: 0,
        to: Some(to),
        convert,
    };
    assert_eq!(ways, [way(0, 5, false), way(1, 4, true)]);
}
