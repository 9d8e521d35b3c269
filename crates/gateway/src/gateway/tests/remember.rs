//! Values of an order are remembered when it is sent, and written into its responses.

use proptest::prelude::*;

use super::super::notes::note::RememberedNote;
use super::super::{NotReloaded, Reload, Remembered};
use super::*;

const RULES: &str = r#"
[[rule]]
name = "new"
from = ["ANNA", "BERT"]
when = 'MsgType = D and not Text = "forget"'
do = ['remember Account, Text', 'remove Account', 'remove Text', 'send VENUE']
[[rule]]
name = "plain"
from = ["ANNA", "BERT"]
when = 'MsgType = D'
do = ['forget', 'remove Text', 'send VENUE']
[[rule]]
name = "change"
from = ["ANNA", "BERT"]
do = ['send VENUE']
[[rule]]
name = "last"
from = ["VENUE"]
when = 'OrdStatus = 2'
do = ['recall Account else "gone"', 'forget', 'return']
[[rule]]
name = "back"
from = ["VENUE"]
do = ['recall Account else "gone"', 'try recall Text', 'return']
"#;

/// The same gateway after a restart with another file, all sessions logged on.
fn restarted(rig: &Rig, text: &str, sessions: &[(&'static str, Version)]) -> Rig {
    let mut other = Rig::of(text, sessions);
    other.replay(&rig.notes);
    assert_eq!(other.said(), Vec::<String>::new());
    (other.notes, other.wall) = (rig.notes.clone(), rig.wall);
    other.all_log_on();
    other
}

fn orders(rig: &Rig) -> u64 {
    rig.gateway.remembered().orders
}

/// The account in the message written for a response.
fn account(rig: &mut Rig, answer: &str) -> String {
    let written = rig.hears("VENUE", answer);
    assert_eq!(written.len(), 1, "{written:?}");
    let mut fields = written[0].split('|');
    let found = fields.find_map(|field| field.strip_prefix("1="));
    found.unwrap_or_default().into()
}

#[test]
fn clients_of_the_same_id_have_values_of_their_own() {
    let mut rig = Rig::new(RULES);
    let sent = rig.hears("ANNA", "35=D|11=1|1=A|58=mine|");
    assert_eq!(sent, ["VENUE: 35=D|11=1|"]);
    let sent = rig.hears("BERT", "35=D|11=1|1=B|");
    assert_eq!(sent, ["VENUE: 35=D|11=FW1|"]);
    let mut others = SESSIONS;
    others.reverse();
    for mut rig in [
        restarted(&rig, RULES, &SESSIONS),
        restarted(&rig, RULES, &others),
        rig,
    ] {
        rig.expect(
            "VENUE",
            "35=8|37=V|11=1|39=0|",
            &["ANNA: 35=8|37=V|11=1|39=0|1=A|58=mine|"],
        );
        rig.expect(
            "VENUE",
            "35=8|37=W|11=FW1|39=0|",
            &["BERT: 35=8|37=W|11=1|39=0|1=B|"],
        );
        // The report names the order only by its OrderID.
        assert_eq!(account(&mut rig, "35=8|37=W|39=2|"), "B");
        assert_eq!(account(&mut rig, "35=8|37=W|39=0|"), "gone");
        assert_eq!(account(&mut rig, "35=8|37=V|39=0|"), "A");
        assert_eq!(orders(&rig), 1);
    }
}

#[test]
fn a_replacement_without_values_has_those_of_what_it_replaces() {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=1|1=A|");
    rig.hears("ANNA", "35=G|11=2|41=1|");
    rig.hears("VENUE", "35=8|37=V|11=2|41=1|150=5|39=0|");
    rig.hears("ANNA", "35=G|11=3|41=2|");
    rig.hears("ANNA", "35=F|11=4|41=2|");
    let mut rig = restarted(&rig, RULES, &SESSIONS);
    for answer in [
        "35=8|37=V|11=3|41=2|150=5|39=0|",
        "35=9|37=V|11=4|41=2|39=0|434=1|",
        "35=8|37=V|11=2|39=0|",
        "35=j|372=G|379=3|380=0|",
    ] {
        let wanted = if answer.starts_with("35=j") {
            "gone"
        } else {
            "A"
        };
        assert_eq!(account(&mut rig, answer), wanted, "{answer}");
    }
    // A reject j does not end an acknowledged order.
    assert_eq!(account(&mut rig, "35=8|37=V|11=3|150=4|39=4|"), "A");
    rig.hears("ANNA", "35=D|11=3|1=C|");
    assert_eq!(rig.said(), Vec::<String>::new());
    assert_eq!(account(&mut rig, "35=j|372=D|379=3|380=0|"), "C");
    // The fields remembered for the newest id apply.
    let remembers = RULES.replace("'MsgType = D and", "'MsgType in (D, G) and");
    let mut rig = Rig::new(&remembers);
    rig.hears("ANNA", "35=D|11=1|1=A|58=x|");
    rig.hears("ANNA", "35=G|11=2|41=1|1=B|");
    rig.expect(
        "VENUE",
        "35=8|37=V|11=2|41=1|39=0|",
        &["ANNA: 35=8|37=V|11=2|41=1|39=0|1=B|"],
    );
    // Each `forget` drops the fields of one id, the newest first.
    assert_eq!(account(&mut rig, "35=8|37=V|11=2|41=1|39=2|"), "B");
    assert_eq!(account(&mut rig, "35=8|37=V|11=2|41=1|39=2|"), "A");
    assert_eq!(account(&mut rig, "35=8|37=V|11=2|41=1|39=2|"), "gone");
    assert_eq!(orders(&rig), 0);
}

#[test]
fn a_question_of_the_same_id_is_no_order() {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=1|1=A|");
    rig.hears("ANNA", "35=R|131=1|");
    assert_eq!(account(&mut rig, "35=j|372=R|379=1|380=0|"), "gone");
    assert_eq!(account(&mut rig, "35=j|372=D|379=1|380=0|"), "A");
}

#[test]
fn a_second_order_of_an_open_id_changes_nothing() {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=1|1=A|");
    rig.hears("ANNA", "35=D|11=1|1=B|");
    rig.hears("ANNA", "35=D|11=1|58=forget|");
    assert_eq!(
        rig.said(),
        ["new: duplicate ClOrdID", "plain: duplicate ClOrdID"]
    );
    assert_eq!(account(&mut rig, "35=8|37=V|11=1|39=0|"), "A");
    rig.hears("ANNA", "35=D|11=1|97=Y|1=C|");
    assert_eq!(account(&mut rig, "35=8|37=V|11=1|39=1|"), "C");
    // After the order has ended, its id is free.
    rig.hears("VENUE", "35=8|37=V|11=1|39=4|");
    rig.hears("ANNA", "35=D|11=1|58=b|");
    rig.expect(
        "VENUE",
        "35=8|37=X|11=1|39=0|",
        &["ANNA: 35=8|37=X|11=1|39=0|1=gone|58=b|"],
    );
    rig.hears("VENUE", "35=8|37=X|11=1|39=4|");
    rig.hears("ANNA", "35=D|11=1|58=forget|");
    assert_eq!((orders(&rig), rig.said()), (0, Vec::new()));
}

#[test]
fn answers_may_remember_and_events_may_recall() {
    let rules = r#"
[[rule]]
from = ["ANNA"]
do = ['remember Text', 'send VENUE']
[[rule]]
from = ["VENUE"]
when = 'OrdStatus = 0'
do = ['remember SecondaryOrderID, Text', 'return']
[[rule]]
from = ["VENUE"]
when = 'OrdStatus = 1'
do = ['try recall SecondaryOrderID, Text', 'return']
[[rule]]
from = ["VENUE"]
do = ['copy Price to Account', 'return']
[[on]]
event = "failed"
session = ["VENUE"]
do = ['try recall SecondaryOrderID', 'copy to AUDIT']
"#;
    let mut rig = Rig::new(rules);
    rig.hears("ANNA", "35=D|11=1|58=x|");
    rig.hears("VENUE", "35=8|37=V|11=1|39=0|198=S|");
    rig.expect("VENUE", "35=8|37=V|39=1|", &["ANNA: 35=8|37=V|39=1|198=S|"]);
    rig.expect(
        "VENUE",
        "35=8|37=V|39=2|",
        &["AUDIT: 35=8|37=V|39=2|198=S|"],
    );
    rig.said();
    // For an unknown order `recall` writes no fields, in particular no fields of another order.
    rig.expect("VENUE", "35=8|37=Z|39=2|", &["AUDIT: 35=8|37=Z|39=2|"]);
    rig.said();
    rig.expect("VENUE", "35=8|37=Z|11=Z|39=0|198=T|", &[]);
    assert_eq!(
        rig.said(),
        ["rule 2: unsolicited response: no matching request"]
    );
    assert_eq!(orders(&rig), 1);
}

#[test]
fn the_oldest_go_when_there_is_no_room() {
    let text = format!("[gateway]\nmax_remembered = '64K'\n{RULES}");
    let mut rig = Rig::new(&text);
    let long = "x".repeat(4096);
    let order = |id: usize| format!("35=D|11={id}|1=A{id}|58={long}|");
    // Each order uses 40 of 480 cells.
    for id in 1..=12 {
        rig.hears("ANNA", &order(id));
    }
    let all = rig.gateway.remembered();
    assert_eq!((all.orders, all.dropped), (12, 0));
    assert!(all.bytes <= 64 << 10, "{all:?}");
    // An order whose fields are remembered again is the newest.
    rig.hears("ANNA", &order(1).replace("|1=", "|97=Y|1="));
    rig.hears("ANNA", &order(13));
    rig.hears("ANNA", &order(14).replace(&long, "short"));
    let now = rig.gateway.remembered();
    let wanted = Remembered {
        orders: 12,
        dropped: 2,
        ..all
    };
    assert_eq!(now, wanted);
    let mut rig = restarted(&rig, &text, &SESSIONS);
    for (id, wanted) in [(1, "A1"), (2, "gone"), (3, "gone"), (4, "A4"), (14, "A14")] {
        let report = format!("35=8|37=V{id}|11={id}|39=0|");
        assert_eq!(account(&mut rig, &report), wanted);
    }
    assert_eq!(rig.gateway.remembered(), wanted);
    // With more memory after a restart, the values of all orders are restored.
    let more = restarted(&rig, RULES, &SESSIONS);
    assert_eq!(orders(&more), 14);
}

#[test]
fn what_does_not_fit_at_all_fails() {
    let many = "Text, Issuer, SecurityDesc, Symbol, Account, ClientID, ExecBroker, SecurityID, \
                SecurityExchange, Currency, FutSettDate, SymbolSfx, ListID, ExDestination, Rule80A, MaturityMonthYear, IDSource, ComplianceID";
    let text = format!("[gateway]\nmax_remembered = '64K'\n{RULES}");
    let text = text.replace("remember Account, Text", &format!("remember {many}"));
    let mut rig = Rig::new(&text);
    let long = "x".repeat(4000);
    let tags = [
        58, 106, 107, 55, 1, 109, 76, 48, 207, 15, 64, 65, 66, 100, 47, 200, 22, 376,
    ];
    let fields: String = tags.iter().map(|tag| format!("{tag}={long}|")).collect();
    let written = rig.hears("ANNA", &format!("35=D|11=1|{fields}"));
    assert_eq!(written.len(), 1);
    assert!(written[0].ends_with("|58=gateway limit reached: message not accepted|"));
    assert_eq!(
        rig.said(),
        ["new: the values to remember for one order exceed max_remembered (65536 bytes)"]
    );
    assert_eq!(orders(&rig), 0);
    let id = "1".repeat(256);
    let written = rig.hears("ANNA", &format!("35=D|11={id}|58=x|"));
    assert!(written[0].ends_with("|58=id is too long (11)|"));
}

#[test]
fn without_room_for_the_note_nothing_is_remembered_or_sent() {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=1|1=A|58=x|");
    let small = Outbox::new(1 << 12, 64, 256);
    rig.outbox = small;
    let long = "x".repeat(4000);
    let written = rig.hears("ANNA", &format!("35=D|11=2|1=A|58={long}|"));
    assert!(
        written.iter().all(|one| one.starts_with("ANNA")),
        "{written:?}"
    );
    assert_eq!(rig.said().len(), 1);
    assert_eq!(orders(&rig), 1);
    let same = restarted(&rig, RULES, &SESSIONS);
    assert_eq!(orders(&same), 1);
}

#[test]
fn notes_can_be_read_and_wrong_ones_are_an_alarm() {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=1|1=A|");
    rig.hears("VENUE", "35=8|37=V|11=1|39=2|");
    assert_eq!(
        rig.shown_notes()[1..],
        [
            "Session session=0 ids=None name=\"ANNA\"",
            "Remembered client=0 values=|11=1|1=A|58=|",
            "Session session=1 ids=None name=\"VENUE\"",
            "Outbound client=0 venue=1 message=D|11=1|",
            "Inbound venue=1 message=8|37=V|11=1|39=2|",
            "Forgotten client=0 order=|11=1|",
        ]
    );
    let not_ours = "journal contains an application note not written by a gateway";
    let remembered = |client, text: &str| {
        let values = text.replace('|', "\x01");
        note(GatewayNote::Remembered(RememberedNote::Remembered {
            client,
            values: Bytes(values.as_bytes()),
        }))
    };
    let cut = remembered(0, "|11=1|1=A|")[..12].to_vec();
    for (note, why) in [
        (
            remembered(7, "|11=1|1=A|"),
            "journal note refers to an unknown session",
        ),
        (cut, not_ours),
        (remembered(0, "|11=|1=A|"), not_ours),
        (remembered(0, "|11=1|1=A"), not_ours),
        (remembered(0, "|11=1"), not_ours),
        (remembered(0, "|1=A|"), not_ours),
        (vec![31], not_ours),
    ] {
        rig.gateway.on_note(Timestamp(0), &note);
        assert_eq!(rig.said(), [why]);
    }
    assert_eq!(orders(&rig), 0);
}

#[test]
fn what_can_never_be_found_is_a_mistake_of_the_file() {
    let errors = |text: &str| match load(text, &SESSIONS, std::boxed::Box::new(|_| {})) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    };
    let why = "nothing can be recalled for messages of 'VENUE': with ids = \"pass\" the gateway does not \
               track the orders of 'VENUE'";
    let hint = "set ids = \"collision\" in [target.VENUE]";
    for pass in [
        "[target.VENUE]\nids = 'pass'\n",
        "[gateway]\nids = 'pass'\n",
    ] {
        let text = format!("{pass}{RULES}");
        assert_eq!(errors(&text), [format!("18:1: {why} ({hint})")], "{pass}");
    }
    let known = "[gateway]\nids = 'pass'\n[target.VENUE]\nids = 'always'\n";
    assert_eq!(errors(&format!("{known}{RULES}")), Vec::<String>::new());
    for size in ["'63K'", "'17G'", "-1"] {
        assert_eq!(
            errors(&format!("[gateway]\nmax_remembered = {size}\n{RULES}")),
            [
                "2:18: max_remembered must be a number of bytes from 64K to 16G (write 65536, \"64K\", \"16M\" or \"1G\")"
            ]
        );
    }
}

#[test]
fn what_is_remembered_outlives_the_rules() {
    let read = |text: &str| in_context(&SESSIONS, |context| Reload::read(text, context)).unwrap();
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=1|1=A|");
    let mut other = read(&format!("[gateway]\nmax_remembered = '1M'\n{RULES}"));
    assert_eq!(rig.gateway.reload(&mut other), Err(NotReloaded::Limits));
    let mut none = read(PLAIN);
    assert_eq!(rig.gateway.reload(&mut none), Ok(()));
    rig.hears("VENUE", "35=8|37=V|11=1|39=0|");
    let mut same = read(RULES);
    assert_eq!(rig.gateway.reload(&mut same), Ok(()));
    assert_eq!(account(&mut rig, "35=8|37=V|11=1|39=1|"), "A");
}

fn step() -> impl Strategy<Value = (&'static str, String)> {
    let (id, other) = (1..6_usize, 1..6_usize);
    let client = prop_oneof![Just("ANNA"), Just("BERT")];
    let text = prop_oneof![Just(3_usize), Just(900), Just(4096)];
    let asked = (client, id.clone(), other.clone(), 0..5_usize, text);
    let asked = asked.prop_map(|(from, id, other, what, len)| {
        let long = "x".repeat(len);
        let text = match what {
            0 => format!("35=D|11={id}|1={from}{other}|58={long}|"),
            1 => format!("35=D|11={id}|58={long}|"),
            2 => format!("35=D|11={id}|97=Y|1={from}{other}|"),
            3 => format!("35=D|11={id}|58=forget|"),
            _ => format!("35=G|11={id}|41={other}|"),
        };
        (from, text)
    });
    let answered = (id, other, 0..4_usize).prop_map(|(id, other, what)| {
        let text = match what {
            0 => format!("35=8|37=V{id}|11={id}|39=0|"),
            1 => format!("35=8|37=V{id}|11=FW{id}|39=2|"),
            2 => format!("35=8|37=V{id}|11={id}|41={other}|150=5|39=0|"),
            _ => format!("35=8|37=V{id}|11={id}|39=4|"),
        };
        ("VENUE", text)
    });
    prop_oneof![asked, answered]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn notes_give_the_same_answers(
        before in proptest::collection::vec(step(), 0..80),
        after in proptest::collection::vec(step(), 0..40),
    ) {
        let text = format!("[gateway]\nmax_remembered = '64K'\n{RULES}");
        let mut rig = Rig::new(&text);
        for (from, text) in &before {
            rig.hears(from, text);
        }
        let mut same = restarted(&rig, &text, &SESSIONS);
        rig.said();
        for (from, text) in &after {
            prop_assert_eq!(rig.gateway.remembered(), same.gateway.remembered());
            let written = rig.hears(from, text);
            // No client receives remembered values of another client.
            for line in &written {
                for (client, other) in [("ANNA", "1=BERT"), ("BERT", "1=ANNA")] {
                    prop_assert!(!line.starts_with(client) || !line.contains(other), "{}", line);
                }
            }
            prop_assert_eq!(written, same.hears(from, text));
            prop_assert_eq!(rig.said(), same.said());
        }
    }
}

proptest! {
    #[test]
    fn changed_notes_are_no_panic(
        at in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut rig = Rig::new(RULES);
        for (from, text) in [
            ("ANNA", "35=D|11=A|1=A|58=x|"),
            ("ANNA", "35=D|11=B|1=B|58=y|"),
            ("VENUE", "35=8|37=1|11=A|39=2|"),
        ] {
            rig.hears(from, text);
        }
        let at = at.index(rig.notes.len());
        let place = place.index(rig.notes[at].1.len());
        rig.notes[at].1[place] = byte;
        let mut other = Rig::of(RULES, &SESSIONS);
        other.replay(&rig.notes);
        other.all_log_on();
        other.hears("ANNA", "35=D|11=B|97=Y|1=C|");
        other.hears("VENUE", "35=8|37=1|11=B|39=0|");
    }
}
