//! Options of a file, and errors in them.

use super::*;

fn errors(text: &str) -> Vec<String> {
    match load(text, &SESSIONS, std::boxed::Box::new(|_| {})) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

#[test]
fn every_mistake_has_its_place_and_a_hint() {
    let rule = "[[rule]]\nfrom = ['ANNA']\ndo = ['send VENUE']\n";
    for (text, wanted) in [
        (
            "[gatewya]\n",
            "1:2: unknown key gatewya (the keys are client, conversion, default, gateway, group, on, operator, rule, script, \
             session, table, target; did you mean gateway?)",
        ),
        (
            "[gateway]\nunmatchd = 'drop'\n",
            "2:1: unknown key unmatchd (the keys are forget_after_days, id_length, id_prefix, ids, match, max_held, max_id, \
             max_orders, max_remembered, script_operations, unmatched; did you mean unmatched?)",
        ),
        (
            "[gateway]\nunmatched = 'no'\n",
            "2:13: unmatched = \"no\" is not known (write reject, or drop)",
        ),
        (
            "[gateway]\nids = 1\n",
            "2:7: ids must be always, collision, or pass (write it in quotes)",
        ),
        (
            "[gateway]\nmax_id = 300\n",
            "2:10: max_id must be a number from 8 to 255",
        ),
        (
            "[gateway]\nmax_orders = 0\n",
            "2:14: max_orders must be a number from 1 to 16777216",
        ),
        (
            "[gateway]\nforget_after_days = 'x'\n",
            "2:21: forget_after_days must be a number from 1 to 10000",
        ),
        (
            "[gateway]\nid_prefix = ''\n",
            "2:13: id_prefix must be a text of 1 to 8 characters",
        ),
        (
            "[gateway]\nid_prefix = 'a b'\n",
            "2:13: id_prefix must be up to 8 visible characters without '=', and at least 6 characters shorter \
             than id_length (prefix must be at most 8 visible characters, without '=')",
        ),
        (
            "[gateway]\nid_prefix = 'FWXYZ'\nid_length = 9\n",
            "2:13: id_prefix must be up to 8 visible characters without '=', and at least 6 characters shorter \
             than id_length (id_length is too short for the prefix, or greater than max_id)",
        ),
        (
            "[target.VENEU]\n",
            "1:9: unknown session 'VENEU' (did you mean 'VENUE'?)",
        ),
        (
            "[target.VENUE]\nway = 'hold'\n",
            "2:1: unknown key way (the keys are away, id_length, id_prefix, ids, time_to_live; did you mean away?)",
        ),
        (
            "[target.VENUE]\naway = 'hodl'\n",
            "2:8: unknown session 'hodl' (did you mean 'hold'?)",
        ),
        (
            "[target.VENUE]\naway = 1\n",
            "2:8: away must be \"hold\", \"reject\" or the name of a session",
        ),
        (
            "[target]\nVENUE = 1\n",
            "2:9: VENUE must be a table (write KEY = VALUE lines in it)",
        ),
        (
            "[target.VENUE]\naway = 'VENUE'\n",
            "2:8: messages for 'VENUE' would be routed back to 'VENUE': each session has the next one as its away",
        ),
        (
            "[gateway]\nmax_held = '64B'\n",
            "2:12: max_held must be a number of bytes from 64K to 64G (write 65536, \"64K\", \"16M\" or \"1G\")",
        ),
        (
            "[gateway]\nmax_held = 65535\n",
            "2:12: max_held must be a number of bytes from 64K to 64G (write 65536, \"64K\", \"16M\" or \"1G\")",
        ),
        (
            "[target.VENUE]\ntime_to_live = '1d'\n",
            "2:16: time_to_live must be a time of up to 10000 days (write 10 (seconds), \"500ms\", \"30s\" or \"1h30m\")",
        ),
        (
            "[target.VENUE]\ntime_to_live = 0\n",
            "2:16: time_to_live must be a time of up to 10000 days (write 10 (seconds), \"500ms\", \"30s\" or \"1h30m\")",
        ),
        (
            "[target.VENUE]\naway = 'reject'\ntime_to_live = 10\n",
            "3:16: time_to_live requires away = \"hold\" (only held messages have a time to live)",
        ),
    ] {
        assert_eq!(errors(&format!("{text}{rule}")), [wanted], "{text}");
    }
    let round = "[target.VENUE]\naway = 'BACKUP'\n[target.BACKUP]\naway = 'THIRD'\n[target.THIRD]\naway = 'BACKUP'\n";
    assert_eq!(
        errors(&format!("{rule}{round}")),
        [
            "7:8: messages for 'BACKUP' would be routed back to 'BACKUP': each session has the next one as its away",
            "9:8: messages for 'THIRD' would be routed back to 'THIRD': each session has the next one as its away"
        ]
    );
    // Errors of rules and errors of options are reported in the order of the file.
    let both = "[gateway]\nids = 1\n[[rule]]\nfrom = ['ANN']\ndo = ['stop']\n[target.X]\n";
    let found = errors(both);
    let lines: Vec<_> = found.iter().map(|error| &error[..1]).collect();
    assert_eq!(lines, ["2", "4", "6"], "{found:?}");
    assert_eq!(errors("[gateway\n").len(), 1);
    // The reader skips the tables of the engine.
    assert!(errors(&format!("[default]\nX = 1\n[[session]]\nY = 2\n{rule}")).is_empty());
}

#[test]
fn times_and_sizes_are_written_as_in_settings() {
    let rule = "[[rule]]\nfrom = ['ANNA']\ndo = ['send VENUE']\n";
    for (time, seconds) in [
        ("10", 10),
        ("'10s'", 10),
        ("'3000ms'", 3),
        ("'40m'", 2400),
        ("'1h1m1s'", 3661),
        ("'1.5h'", 5400),
    ] {
        let text =
            format!("[gateway]\nmax_held = '1G'\n[target.VENUE]\ntime_to_live = {time}\n{rule}");
        let mut rig = Rig::of(&text, &SESSIONS);
        assert_eq!(rig.gateway.core.notes.held_shares.max(), 1 << 30);
        rig.expect("ANNA", "35=D|11=1|55=VOD|54=1|", &[]);
        assert_eq!(rig.wait(seconds - 1), Vec::<String>::new(), "{time}");
        assert_eq!(rig.wait(1).len(), 1, "{time}");
    }
    for time in [
        "''",
        "'m'",
        "'10'",
        "'1.h'",
        "'99999999999999999999s'",
        "'-1s'",
        "true",
    ] {
        let text = format!("[target.VENUE]\ntime_to_live = {time}\n{rule}");
        assert_eq!(errors(&text).len(), 1, "{time}");
    }
}

#[test]
fn a_rule_that_converts_needs_a_conversion() {
    let sessions = [
        ("OLD", Version::Fix40),
        ("SAME", Version::Fix40),
        ("NEW", Version::Fixt11),
        ("OTHER", Version::Fix40),
    ];
    let errors = |text: &str| match load(text, &sessions, std::boxed::Box::new(|_| {})) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    };
    let from = |to: &str| format!("\n[[rule]]\nfrom = ['OLD']\ndo = ['convert', 'send {to}']\n");
    assert_eq!(
        errors(&from("NEW")),
        [
            "2:1: no conversion from FIX.4.0 to FIXT.1.1 (this rule converts messages of 'OLD' for 'NEW')"
        ]
    );
    assert!(errors(&from("SAME")).is_empty());
    assert!(errors(&from("NEW").replace("'convert', ", "")).is_empty());
    // A session that `away` names is a target too, and so is the client to which a response returns.
    let stands_in = from("SAME") + "[target.SAME]\naway = 'NEW'\n";
    assert_eq!(errors(&stands_in).len(), 1);
    let back = "\n[[rule]]\nfrom = ['NEW']\ndo = ['convert', 'return']\n";
    assert!(errors(back).is_empty());
    let sent = from("NEW").replace("'convert', ", "");
    assert_eq!(
        errors(&(sent + back)),
        [
            "6:1: no conversion from FIXT.1.1 to FIX.4.0 (this rule converts messages of 'NEW' for the clients that \
             send to it)"
        ]
    );
}

#[test]
fn ids_look_as_the_file_says() {
    let rules = r#"
[gateway]
ids = "always"
id_prefix = "G-"
[target.BACKUP]
ids = "collision"
[target.THIRD]
id_prefix = "X"
id_length = 7
[[rule]]
from = ["ANNA"]
do = ['send VENUE', 'send BACKUP', 'send THIRD']
"#;
    let mut rig = Rig::new(rules);
    rig.expect(
        "ANNA",
        "35=D|11=A|",
        &[
            "VENUE: 35=D|11=G-1|",
            "BACKUP: 35=D|11=A|",
            "THIRD: 35=D|11=X1|",
        ],
    );
}

#[test]
fn ids_that_pass_are_not_remembered() {
    let pass = "[target.VENUE]\nids = 'pass'\n";
    let mut rig = Rig::new(&format!("{pass}{PLAIN}").replace("'convert', ", ""));
    let order = "35=D|11=A|55=VOD|54=1|";
    for client in ["ANNA", "BERT", "ANNA"] {
        rig.expect(client, order, &["VENUE: 35=D|11=A|55=VOD|54=1|"]);
    }
    rig.expect("VENUE", "35=8|11=A|39=0|", &[]);
    assert_eq!(
        rig.said(),
        ["back: unsolicited response: no matching request"]
    );
    assert_eq!(rig.gateway.orders().counters().remembered, 0);
}

#[test]
fn as_many_orders_are_remembered_as_the_file_says() {
    let text = format!(
        "[gateway]\nmax_orders = 2\nforget_after_days = 1\n[client.ANNA]\nmax_orders = 2\n{PLAIN}"
    );
    let mut rig = Rig::new(&text.replace("'convert', ", ""));
    for (id, sent) in [("1", 'V'), ("2", 'V'), ("3", 'A')] {
        let written = rig.hears("ANNA", &format!("35=D|11={id}|55=VOD|54=1|"));
        assert!(written[0].starts_with(sent), "{written:?}");
    }
    rig.wall += 86_400 * 1_000_000_000;
    rig.expect("ANNA", "35=D|11=3|", &["VENUE: 35=D|11=3|"]);
}
