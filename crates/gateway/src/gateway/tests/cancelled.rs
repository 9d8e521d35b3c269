//! A cancel of a held order: both end in the gateway.

use super::*;

const RULES: &str = r#"
[[rule]]
from = ["ANNA", "BERT"]
when = 'Account = "2"'
do = ['send VENUE', 'send THIRD']
[[rule]]
from = ["ANNA", "BERT"]
do = ['send VENUE']
[[rule]]
from = ["VENUE", "THIRD"]
do = ['return']
"#;
const ORDER: &str = "35=D|11=1|55=VOD|54=1|38=9|";
const CANCEL: &str = "35=F|41=1|11=2|55=VOD|54=1|";
const WHY: &str = "|58=order cancelled before it was sent to the destination|";

/// A gateway with VENUE away, and with these keys in the table of VENUE as a target.
fn away(keys: &str) -> Rig {
    let mut rig = Rig::of(&format!("{RULES}[target.VENUE]\n{keys}"), &SESSIONS);
    for name in ["ANNA", "BERT", "THIRD"] {
        rig.log_on(name);
    }
    rig
}

/// The same gateway after a kill -9, with no session logged on.
fn restarted(rig: &Rig) -> Rig {
    let mut other = away("");
    other.replay(&rig.notes);
    assert_eq!(other.said(), Vec::<String>::new());
    other.notes.clone_from(&rig.notes);
    other.wall = rig.wall;
    assert_eq!(other.gateway.state_hash(), rig.gateway.state_hash());
    other
}

/// The fields of a report, without the number of ExecID(17).
fn without_id(written: &str) -> String {
    let (before, rest) = written.split_once("|17=").unwrap();
    let (_, rest) = rest.split_once('|').unwrap();
    format!("{before}|{rest}")
}

#[test]
fn the_order_and_its_cancel_end_in_the_gateway() {
    for (keys, kill) in [("", false), ("", true), ("time_to_live = '10s'\n", false)] {
        let mut rig = away(keys);
        rig.expect("ANNA", ORDER, &[]);
        if kill {
            rig = restarted(&rig);
            rig.log_on("ANNA");
        }
        let written = rig.hears("ANNA", CANCEL);
        assert_eq!(written.len(), 1, "{written:?}");
        // The quantity comes from the order, since the cancel has no quantity.
        let report = "ANNA: 35=8|37=NONE|11=2|41=1|20=0|150=4|39=4|55=VOD|54=1|38=9|151=0|14=0|6=0";
        assert_eq!(without_id(&written[0]), format!("{report}{WHY}"));
        assert_eq!(rig.gateway.held().count(), 0);
        assert_eq!(rig.gateway.orders().counters().live, 0);
        let counters = rig.gateway.counters();
        assert_eq!((counters.cancelled, counters.sent), (1, 0));
        let mut rig = restarted(&rig);
        rig.log_on("VENUE");
        assert_eq!(rig.wait(9), Vec::<String>::new(), "VENUE gets neither");
        // The id may be used again.
        rig.expect("ANNA", ORDER, &[&format!("VENUE: {ORDER}")]);
    }
}

#[test]
fn replaces_of_the_order_end_with_it_whichever_id_the_cancel_names() {
    for (named, kill) in [("1", false), ("2", true), ("3", false)] {
        let mut rig = away("");
        rig.expect("BERT", "35=D|11=1|55=VOD|54=2|38=7|", &[]);
        rig.expect("ANNA", ORDER, &[]);
        rig.expect("ANNA", "35=G|41=1|11=2|55=VOD|54=1|38=8|40=1|", &[]);
        rig.expect("ANNA", "35=G|41=2|11=3|55=VOD|54=1|38=6|40=1|", &[]);
        if kill {
            rig = restarted(&rig);
        }
        let written = rig.hears("ANNA", &format!("35=F|41={named}|11=4|55=VOD|54=1|"));
        let begins = [
            format!("ANNA: 35=8|37=NONE|11=4|41={named}|"),
            "ANNA: 35=9|37=NONE|11=2|41=1|39=4|434=2|102=0|".into(),
            "ANNA: 35=9|37=NONE|11=3|41=2|39=4|434=2|102=0|".into(),
        ];
        assert_eq!(written.len(), 3, "{written:?}");
        for (line, begin) in written.iter().zip(begins) {
            assert!(line.starts_with(&begin) && line.ends_with(WHY), "{line}");
        }
        let held: Vec<u64> = rig.gateway.held().map(|held| held.messages).collect();
        assert_eq!(held, [1], "that of BERT");
        let mut rig = restarted(&rig);
        rig.log_on("VENUE");
        // BERT's order is still held, and goes out.
        let written = rig.wait(9);
        assert_eq!(written, ["VENUE: 35=D|11=1|55=VOD|54=2|38=7|"]);
    }
}

#[test]
fn a_cancel_of_what_the_venue_may_have_goes_there() {
    let mut rig = away("");
    rig.log_on("VENUE");
    rig.expect("ANNA", ORDER, &[&format!("VENUE: {ORDER}")]);
    rig.lose("VENUE");
    // A possible resend of the order is held; a cancel of it is held too, since the venue may have the order.
    rig.expect("ANNA", "35=D|97=Y|11=1|55=VOD|54=1|38=9|", &[]);
    rig.expect("ANNA", CANCEL, &[]);
    // So are a replace, a cancel of this replace, and another client's cancel with the same OrigClOrdID.
    rig.expect("ANNA", "35=G|41=1|11=3|55=VOD|54=1|38=8|40=1|", &[]);
    rig.expect("ANNA", "35=F|41=3|11=4|55=VOD|54=1|", &[]);
    rig.expect("BERT", "35=F|41=1|11=5|55=VOD|54=1|", &[]);
    rig.log_on("VENUE");
    assert_eq!(rig.wait(0).len(), 5);
    assert_eq!(rig.gateway.counters().cancelled, 0);
}

#[test]
fn an_order_that_went_elsewhere_too_is_answered_by_the_other_one() {
    let mut rig = away("");
    let written = rig.hears("ANNA", "35=D|11=1|1=2|55=VOD|54=1|38=9|");
    assert_eq!(written, ["THIRD: 35=D|11=1|1=2|55=VOD|54=1|38=9|"]);
    let written = rig.hears("ANNA", "35=F|41=1|11=2|1=2|55=VOD|54=1|");
    assert_eq!(written, ["THIRD: 35=F|41=1|11=2|1=2|55=VOD|54=1|"]);
    assert_eq!(rig.gateway.counters().cancelled, 1);
    assert_eq!(rig.gateway.orders().counters().live, 1, "that at THIRD");
    rig.log_on("VENUE");
    assert_eq!(rig.wait(9), Vec::<String>::new());
}

#[test]
fn each_version_gets_the_report_that_it_has() {
    for (version, wanted) in [
        (Version::Fix40, "|20=0|39=4|"),
        (Version::Fix41, "|20=0|150=4|39=4|"),
        (Version::Fix43, "|150=4|39=4|"),
        (Version::Fix44, "|150=4|39=4|"),
        (Version::Fix50Sp2, "|150=4|39=4|"),
    ] {
        let sessions = [("ANNA", version), ("VENUE", version)];
        let mut rig = Rig::of(
            "[[rule]]\nfrom = ['ANNA']\ndo = ['send VENUE']\n",
            &sessions,
        );
        rig.log_on("ANNA");
        rig.expect("ANNA", ORDER, &[]);
        let written = rig.hears("ANNA", CANCEL);
        assert_eq!(written.len(), 1);
        let report = without_id(&written[0]);
        assert!(
            report.starts_with("ANNA: 35=8|37=NONE|") && report.contains(wanted),
            "{report}"
        );
        for field in ["|11=2|", "|41=1|", "|54=1|", "|55=VOD|", "|14=0|"] {
            if field == "|41=1|" && version == Version::Fix40 {
                // In FIX 4.0 an ExecutionReport has no OrigClOrdID.
                continue;
            }
            assert!(report.contains(field), "{version:?} {field} {report}");
        }
    }
}

#[test]
fn a_queue_with_cancelled_orders_outlives_checkpoints_and_new_limits() {
    let mut rig = away("");
    for id in 1..=9 {
        rig.expect("ANNA", &format!("35=D|11={id}|55=VOD|54=1|38=9|"), &[]);
    }
    for id in [2, 3, 1, 7] {
        let written = rig.hears("ANNA", &format!("35=F|41={id}|11=c{id}|55=VOD|54=1|"));
        assert_eq!(written.len(), 1, "{id}: {written:?}");
        let held: Vec<u64> = rig.gateway.held().map(|held| held.messages).collect();
        let left = rig.gateway.counters();
        assert_eq!(held, [9 - left.cancelled]);
    }
    let mut bytes = Vec::new();
    let mut ledger = rig.gateway.ledger().unwrap();
    for (at, note) in &rig.notes {
        ledger.apply(*at, note);
    }
    ledger.write(&mut |part| bytes.extend_from_slice(part));
    assert_eq!(Some(ledger.hash()), rig.gateway.state_hash());
    for keys in ["", "[gateway]\nmax_orders = 50000\n"] {
        let file = format!("{keys}{RULES}");
        let mut other = Rig::of(&file, &SESSIONS);
        let (_, version) = ledger.form();
        other.gateway.on_checkpoint(version, &bytes).unwrap();
        other.wall = rig.wall;
        other.log_on("ANNA");
        // After a restart from a checkpoint, with the same and with other limits, held orders are still found.
        let written = other.hears("ANNA", "35=F|41=5|11=c5|55=VOD|54=1|");
        assert!(
            written.len() == 1 && written[0].starts_with("ANNA: 35=8|"),
            "{written:?}"
        );
        other.log_on("VENUE");
        let ids: Vec<String> = other.wait(0);
        let wanted = [4, 6, 8, 9].map(|id| format!("VENUE: 35=D|11={id}|55=VOD|54=1|38=9|"));
        assert_eq!(ids, wanted);
        assert_eq!(other.gateway.held().count(), 0);
        assert_eq!(other.said().len(), 1);
    }
}

#[test]
fn no_answer_has_an_id_that_another_one_had() {
    let order = "35=D|11=1|55=VOD|54=1|38=9|";
    let rules = "[[rule]]\nfrom = ['ANNA']\ndo = ['reject \"no\"']\n[[rule]]\nfrom = ['VENUE']\nwhen = 'MsgType = BC'\ndo = ['answer status']\n";
    let mut rig = Rig::new(rules);
    let mut ids = std::collections::BTreeSet::new();
    let mut notes = Vec::new();
    for life in 0..4 {
        for _ in 0..3 {
            for (from, text, tag) in [
                ("ANNA", order, "|17="),
                ("VENUE", "35=BC|935=1|933=Q1|", "|932="),
            ] {
                let written = rig.hears(from, text);
                let (_, id) = written[0].split_once(tag).unwrap();
                let id = id.split('|').next().unwrap().to_string();
                assert!(ids.insert(id), "life {life}: {written:?}");
            }
        }
        notes.append(&mut rig.notes);
        let wall = rig.wall;
        rig = Rig::of(rules, &SESSIONS);
        rig.replay(&notes);
        // At each restart the clock is set back further.
        rig.wall = wall - 3_600_000_000_000 * (life - 1);
        rig.all_log_on();
    }
}

#[test]
fn ids_go_on_behind_journals_that_have_none_of_them() {
    let mut rig = Rig::new("[[rule]]\nfrom = ['ANNA']\ndo = ['reject \"no\"']\n");
    let later = Timestamp(rig.wall + 1_000_000_000_000);
    rig.replay(&[(later, session_note(0, "ANNA"))]);
    let written = rig.hears("ANNA", "35=D|11=1|55=VOD|54=1|38=9|");
    let wanted = format!("|17={}|", later.0 + 1);
    assert!(written[0].contains(&wanted), "{written:?}");
}

#[test]
fn a_gateway_survives_no_panic() {
    assert!(!Rig::new(RULES).gateway.survives_panics());
}

#[test]
fn a_report_without_room_for_its_note_is_refused() {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=1|55=VOD|54=1|38=9|");
    rig.outbox = Outbox::new(8, 1, 0);
    assert_eq!(
        rig.hears("VENUE", "35=8|37=O|11=1|150=0|39=0|"),
        Vec::<String>::new()
    );
    assert_eq!(rig.refusal, Err(Refusal::NotAvailable));
    rig.outbox = Outbox::new(1 << 12, 8, 256);
    let report = "35=8|37=O|11=1|150=0|39=0|";
    rig.expect("VENUE", report, &[&format!("ANNA: {report}")]);
}
