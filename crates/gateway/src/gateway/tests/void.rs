//! What waits for a session whose numbers restart is answered.

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
from = ["VENUE"]
do = ['return']
"#;
const VOID: &str = "|58=destination has reset its sequence numbers|";

impl Rig {
    /// The numbers of a session restart.
    pub(super) fn reset(&mut self, name: &str) -> Vec<String> {
        let (now, id) = (self.now(), self.id(name));
        self.gateway.on_reset(now, id, &mut self.outbox);
        self.collect()
    }

    /// The same gateway after a kill -9, with nobody logged on.
    fn restarted(&self) -> Self {
        let mut other = Self::of(RULES, &SESSIONS);
        other.replay(&self.notes);
        assert_eq!(other.said(), Vec::<String>::new());
        other.notes.clone_from(&self.notes);
        other.wall = self.wall;
        other
    }
}

/// ANNA and BERT have sent what waits for VENUE.
fn waiting() -> Rig {
    let mut rig = Rig::of(RULES, &SESSIONS);
    rig.log_on("ANNA");
    rig.log_on("BERT");
    for (from, text, written) in [
        ("ANNA", "35=D|11=1|55=VOD|54=1|38=9|", "35=D|11=1|"),
        ("BERT", "35=D|11=1|55=VOD|54=1|38=5|", "35=D|11=FW1|"),
        ("ANNA", "35=F|41=1|11=2|55=VOD|54=1|", "35=F|41=1|11=2|"),
    ] {
        let out = rig.hears(from, text);
        assert!(
            out.len() == 1 && out[0].starts_with(&format!("VENUE: {written}")),
            "{out:?}"
        );
    }
    assert_eq!(
        rig.gateway.held().count(),
        0,
        "the session has numbered them"
    );
    rig
}

fn expect_answers(written: &[String]) {
    let begins = [
        "ANNA: 35=8|37=NONE|11=1|",
        "BERT: 35=8|37=NONE|11=1|",
        "ANNA: 35=9|37=NONE|11=2|41=1|39=8|",
    ];
    assert_eq!(written.len(), begins.len(), "{written:?}");
    for (line, begin) in written.iter().zip(begins) {
        assert!(line.starts_with(begin) && line.ends_with(VOID), "{line}");
    }
}

#[test]
fn a_reset_before_the_logon_answers_whoever_waits() {
    // Killed before the reset, behind it, or not at all.
    for kills in 0..4 {
        let mut rig = waiting();
        if kills & 1 != 0 {
            rig = rig.restarted();
        }
        assert_eq!(rig.reset("VENUE"), Vec::<String>::new());
        if kills & 2 != 0 {
            rig = rig.restarted();
        }
        rig.log_on("VENUE");
        expect_answers(&rig.wait(0));
        assert_eq!(rig.said().len(), 3);
        assert_eq!(rig.gateway.orders().counters().live, 0);
        assert_eq!(rig.gateway.counters().undelivered, 3);
        // Once, and the ids may be used again.
        let mut rig = rig.restarted();
        rig.log_on("VENUE");
        assert_eq!(rig.wait(9), Vec::<String>::new());
        rig.expect(
            "ANNA",
            "35=D|11=1|55=VOD|54=1|",
            &["VENUE: 35=D|11=1|55=VOD|54=1|"],
        );
    }
}

#[test]
fn a_kill_between_two_answers_repeats_none() {
    let mut rig = waiting();
    rig.reset("VENUE");
    let mut all = Vec::new();
    while rig.gateway.counters().undelivered < 1 && all.len() < 3 {
        // Room for one answer with its notes.
        rig.outbox = Outbox::new(1 << 12, 4, 256);
        let now = rig.now();
        rig.gateway.on_time(now, &mut rig.outbox);
        all.extend(rig.collect());
        rig = rig.restarted();
    }
    expect_answers(&all);
}

#[test]
fn a_logon_without_reset_leaves_all_to_the_session() {
    let mut rig = waiting();
    rig.log_on("VENUE");
    assert_eq!(rig.wait(9), Vec::<String>::new());
    for mut rig in [rig.restarted(), rig] {
        rig.lose("VENUE");
        assert_eq!(rig.reset("VENUE"), Vec::<String>::new());
        assert_eq!(rig.wait(9), Vec::<String>::new());
        assert_eq!(
            rig.gateway.orders().counters().live,
            2,
            "VENUE may have them"
        );
    }
}

#[test]
fn what_waits_behind_a_reset_is_not_void() {
    let mut rig = waiting();
    rig.reset("VENUE");
    let later = rig.hears("ANNA", "35=D|11=9|55=VOD|54=1|38=9|");
    assert_eq!(later.len(), 1);
    rig.log_on("VENUE");
    expect_answers(&rig.wait(0));
    assert_eq!(rig.gateway.orders().counters().live, 1);
}

#[test]
fn an_order_that_went_elsewhere_too_is_not_answered() {
    let mut rig = Rig::of(RULES, &SESSIONS);
    rig.log_on("THIRD");
    assert_eq!(rig.hears("ANNA", "35=D|11=1|1=2|55=VOD|54=1|").len(), 2);
    rig.reset("VENUE");
    assert_eq!(rig.wait(0), Vec::<String>::new());
    assert_eq!(
        rig.said(),
        ["held: destination has reset its sequence numbers"]
    );
    assert_eq!(rig.gateway.orders().counters().live, 1, "that at THIRD");
}

#[test]
fn what_waits_takes_max_held_at_most() {
    let mut rig = Rig::of(
        &format!("[gateway]\nmax_held = '64K'\n[client.ANNA]\nmax_held = '64K'\n{RULES}"),
        &SESSIONS,
    );
    let mut taken = 0;
    loop {
        let out = rig.hears("ANNA", &format!("35=D|11=id{taken}|55=VOD|54=1|38=9|"));
        if out[0].starts_with("ANNA: ") {
            assert!(
                out[0].ends_with("|58=gateway limit reached: message not accepted|"),
                "{out:?}"
            );
            break;
        }
        taken += 1;
        assert!(taken < 1000);
    }
    assert!(taken > 300);
    assert_eq!(rig.gateway.orders().counters().live, taken);
    rig.reset("VENUE");
    assert_eq!(rig.wait(0).len() as u64, taken);
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
        // The clock is set back over the restart, by more each time.
        rig.wall = wall - 3_600_000_000_000 * (life - 1);
        rig.all_log_on();
    }
}

#[test]
fn ids_go_on_behind_journals_that_have_none_of_them() {
    let mut rig = Rig::new("[[rule]]\nfrom = ['ANNA']\ndo = ['reject \"no\"']\n");
    let later = Timestamp(rig.wall + 1_000_000_000_000);
    rig.replay(&[(later, b"S 0 - ANNA".to_vec())]);
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
