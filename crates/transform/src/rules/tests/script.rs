//! Allowed and refused scripts.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use proptest::prelude::*;

use super::{RuleScratch, load, loaded, outcomes};
use crate::TransformFailure;
use crate::rules::script::FUNCTIONS;

/// A rule with a script as its action.
fn action(script: &str) -> String {
    format!(
        "[script]\ns = '''\n{script}\n'''\n[[rule]]\nfrom = ['ALPHA']\ndo = ['script s', 'send VENUE']\n"
    )
}

/// A rule with a script as its condition.
fn condition(script: &str) -> String {
    format!(
        "[script]\ns = '''\n{script}\n'''\n[[rule]]\nfrom = ['ALPHA']\nwhen = 'script s'\ndo = ['send VENUE']\n"
    )
}

#[track_caller]
fn run(file: &str, message: &str) -> Vec<String> {
    outcomes(&loaded(file), &mut RuleScratch::default(), "ALPHA", message).0
}

/// The message `35=D|38=<quantity>|58=<text>|` after an action.
#[track_caller]
fn after(script: &str, quantity: &str, text: &str) -> String {
    let message = format!("35=D|38={quantity}|58={text}|");
    run(&action(script), &message).concat()
}

/// Whether a condition is true for an order of 100 with the text `abc`.
#[track_caller]
fn holds(script: &str) -> bool {
    match &run(&condition(script), "35=D|38=100|58=abc|")[..] {
        [] => false,
        [sent] if sent.starts_with("send") => true,
        others => panic!("{script}: {others:?}"),
    }
}

fn errors(file: &str) -> Vec<String> {
    match load(file) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn a_script_of_more_than_64_kib_is_refused() {
    let file = |bytes: usize| std::format!("[script]\nlong = '{}'", "x".repeat(bytes));
    let too_long = "2:8: more than 65536 bytes of a script";
    assert!(
        errors(&file(64 << 10))
            .iter()
            .all(|error| error != too_long)
    );
    let found = errors(&file((64 << 10) + 1));
    assert!(found.iter().any(|error| error == too_long), "{found:?}");
}

#[test]
fn mistakes_are_named_at_load_with_their_line() {
    let cases = [
        ("msg.Text = \"a\"\n+;", "4:2: invalid script: ", true),
        (
            "let x = 1;\nx + y",
            "4:5: invalid script: Undefined variable: y",
            false,
        ),
        (
            "let x = 1; msg.OrdrQty > x",
            "3:16: unknown field 'OrdrQty' (did you mean 'OrderQty'?)",
            false,
        ),
        ("msg[0] == 1", "3:5: unknown field '0'", false),
        (
            "msg[\"Txt\"] == ()",
            "3:5: unknown field 'Txt' (did you mean 'Text'?)",
            false,
        ),
        (
            "msg.AllocShares > 1",
            "3:5: 'AllocShares' appears only in entries of NoAllocs (write any(NoAllocs, ...) or \
             each NoAllocs: ...)",
            false,
        ),
        ("msg.list(\"NoAllocs\", \"Text\").len() > 0", "", false),
        (
            "msg.list(\"NoAllocs\", \"AllocShare\").len() > 0",
            "3:22: unknown field 'AllocShare' (did you mean 'AllocShares'?)",
            false,
        ),
        (
            "msg.list(\"Symbol\", \"Text\").len() > 0",
            "3:10: 'Symbol' is not a repeating group here",
            false,
        ),
        (
            "msg.Text = \"a\"; true",
            "3:5: 'Text' cannot be written: a script in a condition cannot change fields",
            false,
        ),
        (
            "print(\"a\"); true",
            "3:1: scripts have no function 'print'",
            false,
        ),
        (
            "eval(\"true\")",
            "3:1: scripts have no function 'eval'",
            false,
        ),
        (
            "msg.Text.star_with(\"a\")",
            "3:10: scripts have no function 'star_with' (did you mean 'starts_with'?)",
            false,
        ),
        (
            "let m = msg; true",
            "3:9: found msg, expected a field after msg, such as msg.Symbol or msg[55]",
            false,
        ),
        (
            "let n = \"Text\"; msg[n] == 1",
            "3:17: found msg, expected a field after msg, such as msg.Symbol or msg[55]",
            false,
        ),
        (
            "msg.SenderCompID = \"X\";",
            "3:5: 'SenderCompID' cannot be written: each session writes this field itself",
            true,
        ),
        (
            "msg.NoAllocs = 2;",
            "3:5: 'NoAllocs' cannot be written: this field counts the entries of a group",
            true,
        ),
        ("msg.NoAllocs = ();", "", true),
        (
            "msg.Side = \"x\";",
            "3:5: 'x' is not a valid value of Side",
            true,
        ),
        ("fn f() { 1 } f() == 1", "3:", false),
        ("import \"a\" as b; true", "3:", false),
        ("2 ** 70 > 1", "3:", false),
        ("let msg = 1; true", "3:5: found msg, ", false),
        ("for msg in 0..3 {} true", "3:5: found msg, ", false),
        (
            "let l = [1]; l[0] = 2; true",
            "3:15: invalid script: a script cannot assign to an element of a list or text",
            false,
        ),
        ("let l = [[1]]; l[0][0] += l; true", "3:", false),
        (
            "msg.Text[0] = 'z';",
            "3:4: invalid script: a script cannot assign to an element of a list or text",
            true,
        ),
        (
            "msg[58][0] = 'z';",
            "3:4: invalid script: a script cannot",
            true,
        ),
        ("let n = 2; n **= 3; true", "3:", false),
        ("let m = #{}; true", "3:", false),
    ];
    for (script, wanted, writes) in cases {
        let file = match writes {
            true => action(script),
            false => condition(script),
        };
        let found = errors(&file);
        match found.first() {
            Some(first) => assert!(
                found.len() == 1 && !wanted.is_empty() && first.starts_with(wanted),
                "{script}: {found:?}"
            ),
            None => assert_eq!(wanted, "", "{script}"),
        }
    }
    let unknown = condition("true").replace("'script s'", "'script t'");
    assert_eq!(
        errors(&unknown),
        ["7:16: unknown script 't' (did you mean 's'?)"]
    );
    let twice =
        condition("msg.Txt == 1") + "[[rule]]\nfrom = ['*']\nwhen = 'script s'\ndo = ['stop']\n";
    assert_eq!(errors(&twice).len(), 1);
    assert_eq!(errors("[script]\ns = 1\n"), ["2:5: this must be a text"]);
    let few = "[gateway]\nscript_operations = 10\n";
    assert_eq!(
        errors(few),
        ["2:21: this must be a number from 100 to 1000000"]
    );
}

#[test]
fn values_are_exact() {
    assert_eq!(
        after("msg.OrderQty = msg.OrderQty * 0.1;", "0.3", "x"),
        "send VENUE: 35=D|38=0.03|58=x|"
    );
    for (quantity, doubled) in [
        ("5.", "10"),
        (".5", "1.0"),
        ("-1.50", "-3.00"),
        ("007", "14"),
        ("99999999999999", "199999999999998"),
    ] {
        let sent = after("msg.OrderQty = msg.OrderQty * 2;", quantity, "x");
        assert_eq!(sent, format!("send VENUE: 35=D|38={doubled}|58=x|"));
    }
    // A value that does not change keeps its notation.
    assert_eq!(
        after("msg.OrderQty = msg.OrderQty;", "007.0", "x"),
        "send VENUE: 35=D|38=007.0|58=x|"
    );
    // A value that is not a number is a text.
    for odd in ["1e5", "x", "+1", "1_000"] {
        let sent = after("msg.Text = msg.OrderQty + \"!\";", odd, "x");
        assert_eq!(sent, format!("send VENUE: 35=D|38={odd}|58={odd}!|"));
    }
    assert!(holds(
        "msg.OrderQty == 100 && msg.OrderQty == 100.0 && msg.OrderQty / 8 == 12.5"
    ));
    assert!(holds(
        "msg.MsgSeqNum / 2 == 1 && msg.Price == () && msg[9999] == ()"
    ));
    assert!(holds(
        "msg.MsgType == \"D\" && msg[35] == msg.MsgType && msg.SenderCompID == source"
    ));
    assert!(holds(
        "time == \"20261120-10:00:00.000\" && msg.SendingTime <= time"
    ));
}

#[test]
fn fields_are_written_when_it_has_ended_well() {
    let set = "msg.Account = 5; msg.Currency = 'X'; msg.LocateReqd = true; msg.Account += 1;";
    assert_eq!(
        after(set, "1", "x"),
        "send VENUE: 35=D|38=1|58=x|1=6|15=X|114=Y|"
    );
    assert_eq!(
        after("msg.Text.trim();", "1", "  a "),
        "send VENUE: 35=D|38=1|58=a|"
    );
    assert_eq!(
        after("msg.MsgType = \"8\"; msg.Text = ();", "1", "x"),
        "send VENUE: 35=8|38=1|"
    );
    let refused = "a rule cannot make a session-level message (MsgType 0 to 5 or A)";
    for admin in ["0", "1", "2", "3", "4", "5", "A"] {
        let at_load = errors(&action(&format!("msg.MsgType = \"{admin}\";")));
        assert!(
            at_load.len() == 1
                && at_load[0].contains("only the session sends session-level messages"),
            "{at_load:?}"
        );
        let at_run = after("msg.MsgType = msg.Text;", "1", admin);
        assert_eq!(at_run, "failed: SessionMessage");
        let file = "[[rule]]\nfrom = ['ALPHA']\ndo = ['DO', 'send VENUE']\n";
        for change in [
            "set MsgType \"${Text}\"",
            "copy Text to MsgType",
            "move Text to MsgType",
        ] {
            let message = format!("35=D|58={admin}|");
            assert_eq!(
                run(&file.replace("DO", change), &message),
                ["failed: SessionMessage"]
            );
        }
    }
    assert_eq!(TransformFailure::SessionMessage.to_string(), refused);
    let failed = after("msg.Text = \"y\"; throw 1;", "1", "x");
    assert_eq!(failed, "failed: script, line 3: script executed throw");
    for (script, why) in [
        ("msg.Text = \"\" + \"\";", "failed: BadValue(58)"),
        (
            "msg.Text = [1];",
            "failed: script, line 3: wrong type of value, or a field that is missing",
        ),
        ("msg.SenderCompID.make_upper();", ""),
        (
            "msg.Text = 1 / 0;",
            "failed: script, line 3: number too large, or division by zero",
        ),
        (
            "msg.Text = [1][3];",
            "failed: script, line 3: index out of range",
        ),
    ] {
        if why.is_empty() {
            assert_eq!(errors(&action(script)).len(), 1);
            continue;
        }
        assert_eq!(after(script, "1", "x"), why, "{script}");
    }
    // A method call on a field that cannot be written.
    let padded = action("msg.TargetCompID.trim(); msg.SenderCompID.len();");
    assert_eq!(run(&padded, "35=D|58=x|"), ["send VENUE: 35=D|58=x|"]);
}

#[test]
fn what_is_no_utf_8_cannot_be_read() {
    let mut bytes = super::message("ALPHA", "35=D|58=?|");
    let at = bytes.iter().position(|byte| *byte == b'?').unwrap();
    bytes[at] = 0xE9;
    let rules = loaded(&action("if msg.Text == () { msg.Account = \"a\"; }"));
    let mut decoder = fixwire_protocol::Decoder::with_capacity(64);
    let facts = crate::rules::Facts {
        now: super::now(),
        active: &super::ACTIVE,
        remembered: &[],
    };
    let mut out = Vec::new();
    let message = decoder.decode(&bytes);
    rules.evaluate(
        &mut RuleScratch::default(),
        &message,
        0,
        &facts,
        &mut |_, outcome| {
            out.push(super::shown(&rules, outcome));
        },
    );
    assert_eq!(out, ["failed: script, line 3: value is not UTF-8"]);
}

#[test]
fn there_is_an_end_to_time_and_memory() {
    let long = "script, line 3: too many operations";
    let large = "script, line 3: text or list too large, or too many variables";
    let cases = [
        ("while true {}", long),
        ("for i in 0..1000000000 {}", long),
        ("let t = \"a\"; loop { t += t; }", large),
        ("let l = [1, 2]; loop { l = [l, l]; }", large),
        ("try { while true {} } catch { true }", long),
    ];
    for (script, why) in cases {
        assert_eq!(
            run(&condition(script), "35=D|58=x|"),
            [format!("not told: {why}")],
            "{script}"
        );
    }
    let many: String = (0..40).map(|at| format!("let v{at} = 1;")).collect();
    assert_eq!(
        run(&condition(&many), "35=D|58=x|"),
        [format!("not told: {large}")]
    );
    let text = format!("35=D|58={}|", "x".repeat(4 << 10));
    assert_eq!(run(&condition("msg.Text.len() == 4096"), &text).len(), 1);
    let text = format!("35=D|58={}|", "x".repeat((4 << 10) + 1));
    assert_eq!(
        run(&condition("msg.Text != ()"), &text),
        [format!("not told: {large}")]
    );
    let entries = format!("35=D|78=257|{}", "79=A|".repeat(257));
    let list = condition("msg.list(\"NoAllocs\", \"AllocAccount\").len() > 0");
    assert_eq!(run(&list, &entries), [format!("not told: {large}")]);
    let deep = format!("{}1{} == 1", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(errors(&condition(&deep)).len(), 1);
    // The file may allow more or fewer operations.
    let count = condition("let n = 0; while n < 1000 { n += 1; } true");
    assert_eq!(run(&count, "35=D|58=x|").len(), 1);
    let fewer = format!("[gateway]\nscript_operations = 1000\n{count}");
    assert_eq!(
        run(&fewer, "35=D|58=x|"),
        ["not told: script, line 5: too many operations"]
    );
}

#[test]
fn numbers_of_up_to_28_digits_are_numbers() {
    let large = condition("msg.OrderQty > 10000");
    let whole = condition("msg.CoveredOrUncovered > 10000");
    let digits = |count: usize| format!("9{}", "0".repeat(count - 1));
    for value in [
        "9223372036854775808",
        "10000000000000000000",
        "20000000000000.000001",
        "922337203685.4775808",
        "10001.000000000000000",
        "0000000000000000000000000000000000010001.0000000000000000000000000000",
        &digits(28),
    ] {
        assert_eq!(
            run(&large, &format!("35=D|38={value}|")).len(),
            1,
            "{value}"
        );
        let sent = run(&large, &format!("35=D|38={value}|")).concat();
        assert!(
            sent.starts_with("send") && sent.contains(&format!("38={value}|")),
            "{sent}"
        );
        let sent = run(&whole, &format!("35=D|203={value}|")).concat();
        assert!(sent.starts_with("send"), "{sent}");
    }
    let why = |tag| format!("script, line 3: number in field {tag} has more than 28 digits");
    assert_eq!(
        run(&large, &format!("35=D|38={}|", digits(30))),
        [format!("not told: {}", why(38))]
    );
    let action = action("msg.Text = if msg.OrderQty > 10000 { \"large\" } else { \"small\" };");
    assert_eq!(
        run(&action, &format!("35=D|38={}|58=x|", digits(30))),
        [format!("failed: {}", why(38))]
    );
    // A value that is not a number is a text.
    assert_eq!(
        run(&condition("msg.OrderQty == \"1e5\""), "35=D|38=1e5|").len(),
        1
    );
}

#[test]
fn a_condition_without_an_answer_does_not_hold() {
    let why = "not told: script, line 3: result is neither true nor false";
    assert_eq!(run(&condition("msg.Text"), "35=D|58=x|"), [why]);
    assert!(!holds("return false; true"));
    // A condition that cannot be evaluated is false, so its negation is true.
    let not = condition("msg.Price * 2 > 1").replace("'script s'", "'not script s'");
    assert_eq!(run(&not, "35=D|58=x|").len(), 2);
    // A script runs, and reports its failure, although a later condition is false; not after a false condition.
    let script = condition("msg.Text");
    let first = script.replace(
        "'script s'",
        "'MsgType = D and script s and Symbol = \"V\"'",
    );
    assert_eq!(run(&first, "35=D|55=W|58=x|"), [why]);
    let last = script.replace(
        "'script s'",
        "'MsgType = D and Symbol = \"V\" and script s'",
    );
    assert_eq!(run(&last, "35=D|55=W|58=x|"), [""; 0]);
    assert_eq!(run(&last, "35=D|55=V|58=x|"), [why]);
}

#[test]
fn every_function_of_the_page_is_there() {
    let each = [
        "abs(-1) == 1 && abs(-1.5) == 1.5",
        "(1.2).ceiling() == 2",
        "msg.Text.contains(\"b\") && \"b\" in msg.Text && [1, 2].contains(2.0) && !(\"x\" in [1, \"y\"])",
        "msg.Text.ends_with(\"c\")",
        "(1.8).floor() == 1",
        "msg.Text.index_of(\"c\") == 2",
        "\"\".is_empty() && [].is_empty()",
        "msg.Text.len() == 3 && [1].len() == 1",
        "max(1, 2) == 2 && max(1.5, 2.5) == 2.5 && max(msg.OrderQty, 2) == 100",
        "min(1, 2) == 1",
        "parse_decimal(\"1.50\") == 1.5",
        "parse_int(\"7\") == 7",
        "(1.4).round() == 1",
        "sign(-5) == -1",
        "msg.Text.starts_with(\"a\")",
        "msg.Text.sub_string(1, 1) == \"b\" && msg.Text.sub_string(1) == \"bc\"",
        "(7).to_decimal() / 2 == 3.5",
        "msg.OrderQty.to_int() / 3 == 33",
        "\"AB\".to_lower() == \"ab\"",
        "msg.OrderQty.to_string() == \"100\" && (5).to_string() == \"5\"",
        "msg.Text.to_upper() == \"ABC\"",
        "let t = \" a \"; t.trim(); t == \"a\"",
    ];
    assert_eq!(each.len(), FUNCTIONS.len());
    let page = include_str!("../../../../../docs/reference/gateway-rules.md");
    for (script, name) in each.iter().zip(FUNCTIONS) {
        assert!(script.contains(name) && holds(script), "{script}");
        assert!(
            page.contains(&format!("`{name}`")),
            "{name} is not on the page"
        );
    }
}

proptest! {
    #[test]
    fn no_script_makes_the_reader_panic(words in proptest::collection::vec(
        prop_oneof![
            "msg|let|if|for|in|while|true|Text|x|list|len|=|==|;|\\.|\\[|\\]|\\(|\\)|\\{|\\}|,|1|0\\.5|\"a\"",
            "\\PC{0,3}",
        ], 0..20)) {
        let text = words.join(" ").replace('\'', "");
        for file in [action(&text), condition(&text)] {
            if let Ok(rules) = load(&file) {
                let _ = outcomes(&rules, &mut RuleScratch::default(), "ALPHA", "35=D|38=1|58=x|");
            }
        }
    }
}

#[test]
fn each_long_run_uses_up_its_operations() {
    for run in crate::rules::LONG_RUNS {
        assert!(crate::rules::run_long(run, 1000), "{run}");
    }
}
