//! Error texts for a file of rules.

use std::string::{String, ToString};
use std::vec::Vec;

use fixwire_dictionary::{DocumentLimits, quickfix};
use proptest::prelude::*;

use super::{VENUES, load, sessions};
use crate::rules::{NamedSession, RuleContext, RuleProblem, Rules, TableFile, table_files};

pub fn errors(text: &str) -> Vec<String> {
    match load(text) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

/// The errors of one rule with its condition in line 3 and its actions in line 4.
fn of_rule(when: &str, actions: &str) -> Vec<String> {
    errors(&std::format!(
        "[[rule]]\nfrom = ['ALPHA']\nwhen = '''{when}'''\ndo = [{actions}]\n"
    ))
}

fn of_condition(when: &str) -> Vec<String> {
    of_rule(when, "'send VENUE'")
}

fn of_action(action: &str) -> Vec<String> {
    of_rule("has(Text)", &std::format!("'''{action}''', 'send VENUE'"))
}

#[test]
fn all_mistakes_of_a_file_are_named_at_once() {
    let text = r#"
[group]
clients = ["ALPHA", "GAMA", "@other", "Z*"]
[table.venus]
file = "venues.csv"
[[rule]]
name = "a"
form = ["ALPHA"]
from = ["@client", "ALPAH"]
when = 'OrdQty > 5 and Side = "9x"'
do = ['sned VENUE', "set\u0020Account ''"]
[[rule]]
name = "a"
from = []
do = []
"#;
    let wanted = [
        "3:22: unknown session 'GAMA' (did you mean 'GAMMA'?)",
        "3:30: unknown session '@other' (a group may list sessions and patterns, but no other group)",
        "3:40: no session matches 'Z*'",
        "4:8: unknown table 'venus' (did you mean 'venues'?)",
        "8:1: unknown key form (the keys are do, from, name, when; did you mean from?)",
        "9:10: unknown group of sessions 'client' (did you mean 'clients'?)",
        "9:21: unknown session 'ALPAH' (did you mean 'ALPHA'?)",
        "10:9: unknown field 'OrdQty' (did you mean 'OrderQty'?)",
        "10:31: '9x' is not a valid value of Side",
        "11:8: found sned, expected an action (did you mean 'send'?)",
        "11:21: found \"\", expected a text that is not empty and has no SOH",
        "13:9: the name 'a' is already used in line 7",
        "14:8: an empty list never matches",
        "15:6: rule without an action",
    ];
    let found = errors(text);
    assert_eq!(found, wanted, "{}", found.join("\n"));
}

#[test]
fn conditions_are_refused_where_they_are_wrong() {
    let cases = [
        (
            "MsgType = D and",
            "3:23: found the end of the text, expected the name or number of a field",
        ),
        (
            "MsgType = D x",
            "3:20: found x, expected 'and', 'or' or the end of the text",
        ),
        (
            "(MsgType = D",
            "3:20: found the end of the text, expected ')'",
        ),
        ("Symbol = \"x", "3:17: missing closing quote"),
        (
            "hes(Text)",
            "3:8: found hes, expected a condition (did you mean 'has'?)",
        ),
        (
            "Symbol lke \"x\"",
            "3:15: found lke, expected a comparison (did you mean 'like'?)",
        ),
        ("MsgType in ()", "3:19: an empty list never matches"),
        (
            "Price > Text",
            "3:16: 'Text' is not a value of this field (write a text in quotes: \"Text\")",
        ),
        (
            "MsgType = NewOrderSimple",
            "3:18: 'NewOrderSimple' is not a valid value of MsgType (did you mean 'NewOrderSingle'?)",
        ),
        (
            "OrderQty > \"1e5\"",
            "3:19: '1e5' is not a valid value of OrderQty",
        ),
        (
            "OrderQty > 99999999999999999999",
            "3:19: '99999999999999999999' is not a valid value of OrderQty (decimal has too many digits)",
        ),
        (
            "MDEntryPx = 5",
            "3:8: 'MDEntryPx' appears only in entries of NoMDEntries (write any(NoMDEntries, ...) \
             or each NoMDEntries: ...)",
        ),
        (
            "any(NoAllocs, RefMsgType = \"D\" and LegSymbol = \"x\")",
            "3:43: unknown field 'LegSymbol' (did you mean 'Symbol'?)",
        ),
        (
            "any(NoAllocs, MDEntryPx > 5)",
            "3:22: entries of NoAllocs do not have 'MDEntryPx'",
        ),
        (
            "any(OrderQty, Symbol = \"x\")",
            "3:12: 'OrderQty' is not a repeating group here",
        ),
        (
            "active(VENU)",
            "3:15: unknown session 'VENU' (did you mean 'VENUE'?)",
        ),
        ("Symbol in venues.symbol", "3:18: unknown table 'venues'"),
        (
            "Text matches \"(\"",
            "3:21: invalid regular expression: unclosed group",
        ),
        (
            "Text matches \"[a-z]{9}[a-z]{9}.{500}.{500}\"",
            "3:21: invalid regular expression:",
        ),
        (
            "bits(38, 12)",
            "3:17: found 12, expected bits in hexadecimal, such as 0x1F",
        ),
        ("0 = 1", "3:8: unknown field '0'"),
        (
            "source = GAMMA",
            "3:17: this condition is never true: the message comes from another session",
        ),
        (
            "has(Text) and target = VENUE",
            "3:22: 'target' is not known before the rules choose a destination (use it in an \
             [[on]] with event = \"undelivered\" or \"failed\")",
        ),
        (
            "target > VENUE",
            "3:15: found >, expected '=', '!=' or 'in'",
        ),
        (
            "MsgType = D and Symbol = \"a\" and MsgType in (8, F)",
            "3:41: this condition is never true: it contradicts another condition on MsgType",
        ),
        (
            "OrderQty > 5 and (Text = \"a\" and OrderQty <= 5)",
            "3:41: this condition is never true: it contradicts another condition on OrderQty",
        ),
        (
            "has(Text) or not has(Text) and Text = \"a\"",
            "3:39: this condition is never true: it contradicts another condition on Text",
        ),
    ];
    let mut wrong = Vec::new();
    for (when, wanted) in cases {
        let found = of_condition(when);
        // The text's quotes begin in column 8; the text begins after three quotes.
        let wanted = match wanted.split_once(": ") {
            Some((place, rest)) => {
                let column: usize = place.strip_prefix("3:").unwrap().parse().unwrap();
                std::format!("3:{}: {rest}", column + 3)
            }
            None => wanted.into(),
        };
        if found.len() != 1 || !found[0].starts_with(&wanted) {
            wrong.push(std::format!("{when}\n  {found:?}\n  {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn actions_are_refused_where_they_are_wrong() {
    let cases = [
        (
            "set Acount \"x\"",
            4,
            "unknown field 'Acount' (did you mean 'Account'?)",
        ),
        (
            "set SenderCompID \"x\"",
            4,
            "'SenderCompID' cannot be written: each session writes this field itself",
        ),
        (
            "set MsgType \"A\"",
            12,
            "'A' is not a valid value of MsgType (only the session sends session-level messages, MsgType(35) 0 to 5 and A)",
        ),
        (
            "remove MsgType",
            7,
            "'MsgType' cannot be written: each session writes this field itself",
        ),
        (
            "set NoAllocs \"3\"",
            4,
            "'NoAllocs' cannot be written: this field counts the entries of a group",
        ),
        (
            "copy Text to RawData",
            13,
            "'RawData' cannot be written: a data field and its length field belong together",
        ),
        (
            "set MDEntryPx \"1\"",
            4,
            "'MDEntryPx' appears only in entries of NoMDEntries (write",
        ),
        (
            "each NoAllocs: set Account \"x\"",
            19,
            "entries of NoAllocs do not have 'Account'",
        ),
        (
            "each NoAllocs: remove AllocAccount",
            22,
            "'AllocAccount' cannot be written: each entry of the group begins with this field",
        ),
        (
            "each NoAllcs: remove AllocShares",
            5,
            "unknown field 'NoAllcs' (did you mean 'NoAllocs'?)",
        ),
        ("set Side \"x\"", 9, "'x' is not a valid value of Side"),
        (
            "set Text \"${Txt}\"",
            12,
            "unknown field 'Txt' (did you mean 'Text'?)",
        ),
        (
            "set Text \"a${Text\"",
            11,
            "found ${, expected a field and '}'",
        ),
        ("move Text to 58", 13, "found 58, expected another field"),
        (
            "map Text by venues to Account",
            12,
            "unknown column 'venues' (write a point between table and column",
        ),
        (
            "try set Text \"x\"",
            4,
            "found set, expected copy, move, map or recall",
        ),
        (
            "format Text pad left 0 \" \"",
            21,
            "found 0, expected a number of bytes from 1 to 256",
        ),
        (
            "format Text pad left 4 \"ab\"",
            23,
            "found \"ab\", expected one ASCII character in quotes",
        ),
        (
            "format Text sha265",
            12,
            "found sha265, expected upper, lower, trim, pad left, pad right, cut or sha256",
        ),
        (
            "format Text sha256 with key",
            24,
            "found key, expected a text in quotes",
        ),
        (
            "format Text sha256 with \"\"",
            24,
            "found \"\", expected a key that is not empty",
        ),
        (
            "format Price sha256",
            7,
            "'Price' cannot be written: its values cannot have 64 hexadecimal digits",
        ),
        (
            "format Side sha256 with \"key\"",
            7,
            "'Side' cannot be written: its values cannot have 64 hexadecimal digits",
        ),
        (
            "throttle 0 per second else drop",
            9,
            "found 0, expected messages a second, 1 to 1000000",
        ),
        (
            "throttle 5 per second",
            21,
            "found the end of the text, expected 'else reject' or 'else drop'",
        ),
        (
            "drop entries of NoAllocs where (Side = \"x\")",
            39,
            "'x' is not a valid value of Side",
        ),
        (
            "reject",
            6,
            "found the end of the text, expected a text in quotes",
        ),
        (
            "send GAMA",
            5,
            "unknown session 'GAMA' (did you mean 'GAMMA'?)",
        ),
    ];
    let mut wrong = Vec::new();
    for (action, at, wanted) in cases {
        let found = of_action(action);
        // After three quotes.
        let wanted = std::format!("4:{}: {wanted}", at + 10);
        if found.len() != 1 || !found[0].starts_with(&wanted) {
            wrong.push(std::format!("{action}\n  {found:?}\n  {wanted}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_a_question_for_the_status_is_answered_with_it() {
    let of = |from: &str, when: &str| {
        errors(&std::format!(
            "[[rule]]\nfrom = [{from}]\n{when}do = ['count x', 'answer status']\n"
        ))
    };
    let asks = "when = 'MsgType = BC'\n";
    assert_eq!(of("'GAMMA', 'VENUE'", asks), Vec::<String>::new());
    let cannot = "4:19: the FIX version of 'ALPHA' has no request for the status of sessions (FIX \
                  4.4 and \
                  later have the request: remove this session from 'from')";
    assert_eq!(of("'GAMMA', 'ALPHA'", asks), [cannot]);
    assert_eq!(
        of("'ALPHA'", asks),
        ["3:19: 'BC' is not a valid value of MsgType", cannot]
    );
    let other = "the rule also matches messages that do not request the status of sessions (write \
                 when = 'MsgType = BC' (NetworkCounterpartySystemStatusRequest))";
    assert_eq!(of("'GAMMA'", ""), [std::format!("3:19: {other}")]);
    let or = "when = 'MsgType in (BC, D)'\n";
    assert_eq!(of("'GAMMA'", or), [std::format!("4:19: {other}")]);
    let both = "when = 'MsgType = BC and has(NoCompIDs) or MsgType = BC'\n";
    assert_eq!(of("'GAMMA'", both), Vec::<String>::new());
}

#[test]
fn what_would_have_no_effect_is_refused() {
    let found = of_rule("has(Text)", "'send VENUE', 'set Account \"x\"', 'convert'");
    let wanted = [
        "4:22: this change has no effect: nothing is sent after it",
        "4:41: this change has no effect: nothing is sent after it",
    ];
    assert_eq!(found, wanted);
    let found = of_rule("has(Text)", "'stop', 'send VENUE'");
    assert_eq!(found, ["4:16: unreachable action after 'stop'"]);
}

#[test]
fn rules_that_no_message_can_reach_are_refused() {
    let rule = |from: &str, when: &str, action: &str| {
        let when = match when {
            "" => String::new(),
            when => std::format!("when = '{when}'\n"),
        };
        std::format!("[[rule]]\nfrom = ['{from}']\n{when}do = ['{action}']\n")
    };
    let all = "[gateway]\nmatch = 'all'\n";
    let unreachable = |text: String| -> bool {
        let found = load(&text).err().unwrap_or_default();
        let is = |problem: &RuleProblem| matches!(problem, RuleProblem::Unreachable { .. });
        assert_eq!(
            found.len(),
            usize::from(found.iter().any(|one| is(&one.problem))),
            "{found:?}"
        );
        !found.is_empty()
    };
    let send = "send VENUE";
    assert!(unreachable(
        rule("*", "", send) + rule("ALPHA", "has(Text)", send).as_str()
    ));
    assert!(!unreachable(
        rule("ALPHA", "", send) + rule("*", "", send).as_str()
    ));
    assert!(!unreachable(
        rule("*", "", "count all") + rule("*", "", send).as_str()
    ));
    assert!(!unreachable(
        rule("*", "has(Text)", send) + rule("*", "", send).as_str()
    ));
    // Two rules together decide all messages.
    let two = rule("ALPHA", "", send) + rule("BETA1", "", "return").as_str();
    assert!(unreachable(two.clone() + rule("ALPHA", "", send).as_str()));
    assert!(!unreachable(two + rule("BETA*", "", send).as_str()));
    // Types.
    let orders = rule("*", "MsgType in (D, F)", send);
    assert!(unreachable(
        orders.clone() + rule("ALPHA", "MsgType = D and has(Text)", send).as_str()
    ));
    assert!(!unreachable(
        orders.clone() + rule("ALPHA", "MsgType in (D, 8)", send).as_str()
    ));
    assert!(!unreachable(orders + rule("ALPHA", "", send).as_str()));
    // All rules apply to a message, up to the first rule with `stop`.
    let (one, other) = (rule("*", "", send), rule("*", "", "stop"));
    assert!(!unreachable([all, &one, &other].concat()));
    assert!(unreachable([all, &other, &one].concat()));
}

#[test]
fn tables_are_checked_with_the_rules() {
    let file = |venues: &str, action: &str| {
        let text = std::format!(
            "[table.venues]\nfile = 'v.csv'\n[[rule]]\nfrom = ['ALPHA']\ndo = ['{action}', 'send VENUE']\n"
        );
        let sessions = sessions();
        let tables = [("venues", venues)];
        let context = RuleContext {
            sessions: &sessions,
            tables: &tables,
        };
        let found = Rules::load(&text, &context).err().unwrap_or_default();
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(file(VENUES, "map Symbol by venues.mic to ExDestination").is_empty());
    assert_eq!(
        file(VENUES, "map Symbol by venues.mick to ExDestination"),
        ["5:22: unknown column 'mick' (did you mean 'mic'?)"]
    );
    assert_eq!(
        file(VENUES, "map Symbol by venues.mic to Side"),
        ["5:22: 'XLON' is not a valid value of Side"]
    );
    assert_eq!(
        file(VENUES, "send by table Symbol venues.mic"),
        ["5:29: unknown session 'XLON'"]
    );
    assert_eq!(
        file("a,b\n1\n", "count x"),
        ["2:9: line 2 of the table: the line has 1 values, but the header line has 2 (v.csv)"]
    );
}

#[test]
fn two_peers_of_one_comp_id_cannot_be_told_apart() {
    let mut sessions = sessions();
    sessions[5].peer = "ALPHA";
    let context = RuleContext {
        sessions: &sessions,
        tables: &[],
    };
    let text = "[[rule]]\nfrom = ['*']\ndo = ['send by DeliverToCompID']\n";
    let found = Rules::load(text, &context).unwrap_err();
    assert_eq!(
        found[0].to_string(),
        "3:16: the peers of 'ALPHA' and 'VENUE' have the same CompID"
    );
    let other = text.replace("by DeliverToCompID", "VENUE");
    assert!(Rules::load(&other, &context).is_ok());
}

#[test]
fn a_name_that_one_of_the_sources_knows_is_enough() {
    // Only FIX 4.2 has the first name, only FIX 4.4 has the second.
    let rule = |field: &str| {
        std::format!("[[rule]]\nfrom = ['ALPHA', 'GAMMA']\nwhen = 'has({field})'\ndo = ['stop']\n")
    };
    assert!(load(&rule("LastShares")).is_ok() && load(&rule("LastQty")).is_ok());
    assert!(load(&rule("ClOrdID")).is_ok() && load(&rule("9999")).is_ok());
}

#[test]
fn a_name_with_two_tags_has_to_be_a_number() {
    let house = |name, tag: u32| {
        let xml = std::format!(
            "<fix type='FIX' major='4' minor='2'><header/><trailer/><messages>
            <message name='NewOrderSingle' msgtype='D' msgcat='app'><field name='Desk' required='N'/></message>
            </messages><components/><fields><field number='{tag}' name='Desk' type='STRING'/></fields></fix>"
        );
        let dictionary = quickfix::read(&xml, DocumentLimits::default()).unwrap();
        NamedSession {
            name,
            dictionary: dictionary.into(),
            peer: name,
        }
    };
    let sessions = [house("ONE", 5001), house("TWO", 5002)];
    let load = |rest: &str| {
        let context = RuleContext {
            sessions: &sessions,
            tables: &[],
        };
        Rules::load(&std::format!("[[rule]]\n{rest}\ndo = ['stop']\n"), &context)
    };
    let errors = load("from = ['ONE', 'TWO']\nwhen = 'has(Desk)'").unwrap_err();
    assert_eq!(errors[0].problem, RuleProblem::SeveralTags("Desk".into()));
    let hint = "3:13: 'Desk' has different tags in the dictionaries of the source sessions (write the \
         field's number)";
    assert_eq!(errors[0].to_string(), hint);
    assert!(load("from = ['ONE', 'TWO']\nwhen = 'has(5002)'").is_ok());
    assert!(load("from = ['ONE']\nwhen = 'has(Desk)'").is_ok());
}

#[test]
fn tables_are_asked_for_by_name() {
    let text = "[session]\nx = 1\n[table.venues]\nfile = 'v.csv'\n";
    let wanted = TableFile {
        name: "venues".into(),
        file: "v.csv".into(),
        line: 4,
        column: 9,
    };
    assert_eq!(table_files(text).unwrap(), [wanted]);
    let error = &table_files("[table.venues]\n").unwrap_err()[0];
    assert_eq!(error.to_string(), "1:8: 'file' is missing");
    let error = &table_files("[table\n").unwrap_err()[0];
    assert!(matches!(error.problem, RuleProblem::Toml(_)) && error.line == 1);
}

#[test]
fn there_is_an_end_to_everything() {
    let many = "[[rule]]\nfrom = ['ALPHA']\nwhen = 'has(Text)'\ndo = ['stop']\n".repeat(10_001);
    let found = load(&many).unwrap_err();
    assert!(matches!(
        found[0].problem,
        RuleProblem::TooMany { limit: 10_000, .. }
    ));
    let long = std::format!("a = '{}'", "x".repeat(4 << 20));
    assert!(matches!(
        load(&long).unwrap_err()[0].problem,
        RuleProblem::TooMany { .. }
    ));
    let wrong = "[[rule]]\nform = []\n".repeat(1000);
    assert_eq!(load(&wrong).unwrap_err().len(), 200);
    let deep = std::format!("a = {}", "[".repeat(100_000));
    assert!(load(&deep).is_err());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}", when in "\\PC{0,40}", action in "\\PC{0,40}") {
        let _ = load(&text);
        let _ = of_rule(&when, &std::format!("'{action}'"));
    }

    #[test]
    fn no_change_of_a_file_makes_the_reader_panic(
        changes in proptest::collection::vec((any::<usize>(), 0..9_usize, "[\\PC'\"\n]{0,3}"), 1..4),
    ) {
        let mut text: Vec<char> = super::memory::RULES.chars().collect();
        for (at, len, new) in &changes {
            let at = at % text.len();
            let end = (at + len).min(text.len());
            text.splice(at..end, new.chars());
        }
        let _ = load(&text.iter().collect::<String>());
    }
}
