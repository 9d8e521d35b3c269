//! A gateway with the notes of another gateway holds the same messages.

use proptest::prelude::*;

use super::*;

pub(super) const RULES: &str = r#"
[target.VENUE]
time_to_live = "5s"
[target.THIRD]
time_to_live = "2s"
[[rule]]
from = ["ANNA", "BERT"]
when = 'Account = "2"'
do = ['send VENUE', 'send THIRD']
[[rule]]
from = ["ANNA", "BERT"]
do = ['send VENUE']
"#;

/// The same gateway after a restart, with no session logged on.
pub(super) fn restarted(rig: &Rig, text: &str, sessions: &[(&'static str, Version)]) -> Rig {
    let mut other = Rig::of(text, sessions);
    other.replay(&rig.notes);
    assert_eq!(other.said(), Vec::<String>::new());
    other.notes = rig.notes.clone();
    other.wall = rig.wall;
    other
}

fn order(id: &str) -> String {
    format!("35=D|11={id}|55=VOD|54=1|38=9|")
}

#[test]
fn what_was_held_leaves_in_order_or_expires_when_it_would_have() {
    let mut rig = Rig::of(RULES, &SESSIONS);
    rig.hears("ANNA", &order("1"));
    rig.wait(4);
    rig.hears("ANNA", &order("2"));
    rig.hears("BERT", &order("1"));
    let mut rig = restarted(&rig, RULES, &SESSIONS);
    let written = rig.wait(1);
    assert_eq!(written.len(), 1);
    assert!(
        written[0].starts_with("ANNA: 35=8|37=NONE|11=1|"),
        "{written:?}"
    );
    let mut rig = restarted(&rig, RULES, &SESSIONS);
    rig.hears("ANNA", &order("3"));
    rig.log_on("VENUE");
    // The process dies after one message was written.
    rig.outbox = Outbox::new(1 << 12, 2, 256);
    let now = rig.now();
    rig.gateway.on_time(now, &mut rig.outbox);
    assert_eq!(rig.collect(), [format!("VENUE: {}", order("2"))]);
    let mut rig = restarted(&rig, RULES, &SESSIONS);
    rig.log_on("VENUE");
    let rest = [order("FW1"), order("3")].map(|order| format!("VENUE: {order}"));
    assert_eq!(rig.wait(0), rest);
    let rig = restarted(&rig, RULES, &SESSIONS);
    assert_eq!(rig.gateway.held().count(), 0);
    assert_eq!(rig.gateway.orders().counters().live, 3);
}

#[test]
fn notes_of_held_messages_are_short_and_can_be_read() {
    let mut rig = Rig::of(RULES, &SESSIONS);
    rig.log_on("ANNA");
    rig.hears("ANNA", "35=D|11=A|1=2|55=VOD|54=1|38=9|44=7|");
    rig.hears("ANNA", "35=B|148=news|146=2|55=VOD|55=SAP|");
    rig.wait(2);
    rig.log_on("VENUE");
    rig.wait(0);
    let held = |target, passage, is_answered, known, came, msg_type, fields| {
        format!(
            "Held message=HeldMessage {{ source: 0, target: {target}, passage: {passage}, \
             is_answered: {is_answered}, known: {known}, came: {came}, msg_type: {msg_type}, fields: {fields} }}"
        )
    };
    let came = "35=D|34=7|11=A|1=2|55=VOD|54=1|38=9|";
    let fields = "11=A|1=2|55=VOD|54=1|38=9|44=7|";
    let news = "148=news|146=2|55=VOD|55=SAP|";
    assert_eq!(
        rig.shown_notes(),
        [
            "Limits limits=OrdersConfig { max_orders: 100000, max_sessions: 10000, max_id: 64, \
             rewriting: OnCollision 64 FW, forget_quiet: None, .. }",
            "Session session=0 ids=None name=\"ANNA\"",
            "Session session=1 ids=None name=\"VENUE\"",
            "Outbound client=0 venue=1 message=D|11=A|",
            &held(1, "Opens", true, "D|11=A|", came, "D", fields),
            "Session session=2 ids=None name=\"THIRD\"",
            "Outbound client=0 venue=2 message=D|11=A|",
            &held(2, "Opens", false, "D|11=A|", came, "D", fields),
            "Unanswered target=1",
            &held(1, "Sent", true, "", "35=B|34=7|55=VOD|", "B", news),
            "Left target=2",
            "Refused venue=2 message=D|11=A|",
            "Left target=1",
            "Left target=1",
        ]
    );
}

#[test]
fn what_was_held_for_a_session_that_is_gone_is_answered() {
    let mut rig = Rig::of(RULES, &SESSIONS);
    rig.hears("ANNA", &order("1"));
    rig.hears("BERT", &order("2"));
    let others: Vec<_> = SESSIONS
        .iter()
        .filter(|(name, _)| *name != "VENUE" && *name != "BERT")
        .copied()
        .collect();
    let rules = "[[rule]]\nfrom = ['ANNA']\ndo = ['send THIRD']\n";
    let mut rig = restarted(&rig, rules, &others);
    let written = rig.wait(0);
    // The source of one of the messages was removed too.
    assert!(
        written.len() == 1 && written[0].ends_with("|58=destination is not available|"),
        "{written:?}"
    );
    assert_eq!(
        rig.said(),
        ["held: the destination session of the message is no longer configured"; 2]
    );
    assert_eq!(rig.gateway.held().count(), 0);
    assert_eq!(rig.gateway.orders().counters().live, 0);
}

#[test]
fn a_lower_cap_keeps_what_there_is() {
    let mut rig = Rig::of(RULES, &SESSIONS);
    for id in 0..700 {
        rig.hears("ANNA", &order(&id.to_string()));
    }
    let less = format!("[gateway]\nmax_held = '64K'\n{RULES}");
    let mut rig = restarted(&rig, &less, &SESSIONS);
    assert_eq!(rig.gateway.held().next().unwrap().messages, 700);
    // The last block may still have room for a few messages.
    let more = (700..740).take_while(|id| {
        rig.hears("ANNA", &order(&id.to_string()));
        rig.said().is_empty()
    });
    let more = more.count();
    assert!(more < 40);
    rig.log_on("VENUE");
    assert_eq!(rig.wait(0).len(), 700 + more);
}

#[derive(Clone, Debug)]
pub(super) enum Step {
    Order(&'static str, bool),
    Loses(&'static str),
    LogsOn(&'static str),
    Waits(u64),
    Dies,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let client = prop_oneof![Just("ANNA"), Just("BERT")];
    let venue = || prop_oneof![Just("VENUE"), Just("THIRD")];
    prop_oneof![
        8 => (client, any::<bool>()).prop_map(|(from, both)| Step::Order(from, both)),
        2 => venue().prop_map(Step::Loses),
        2 => venue().prop_map(Step::LogsOn),
        4 => (0..4_u64).prop_map(Step::Waits),
        1 => Just(Step::Dies),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Each order is delivered once to each of its targets, in order, or dropped once; an order for a single
    /// target is answered once.
    #[test]
    fn each_message_is_delivered_once_or_given_up_once(steps in prop::collection::vec(step(), 0..80)) {
        let mut rig = Rig::of(RULES, &SESSIONS);
        let mut sent: Vec<bool> = Vec::new();
        let mut written = Vec::new();
        let mut given_up = 0;
        let all = steps.into_iter().chain([Step::Waits(5), Step::Waits(5)]);
        for step in all {
            match step {
                Step::Order(from, both) => {
                    let account = if both { "1=2|" } else { "" };
                    let text = format!("35=D|11={}|{account}55=VOD|54=1|", sent.len());
                    sent.push(both);
                    written.extend(rig.hears(from, &text));
                }
                Step::Loses(name) => rig.lose(name),
                Step::LogsOn(name) => {
                    rig.log_on(name);
                    // A small outbox takes only a part of the held messages.
                    let whole = core::mem::replace(&mut rig.outbox, Outbox::new(1 << 12, 5, 64));
                    let now = rig.now();
                    rig.gateway.on_time(now, &mut rig.outbox);
                    written.extend(rig.collect());
                    rig.outbox = whole;
                }
                Step::Waits(seconds) => written.extend(rig.wait(seconds)),
                Step::Dies => {
                    given_up += rig.said().len();
                    rig = restarted(&rig, RULES, &SESSIONS);
                }
            }
        }
        given_up += rig.said().len();
        prop_assert_eq!(rig.gateway.held().count(), 0);
        let ids = |to: &str| -> Vec<usize> {
            let to = format!("{to}: 35=D|11=");
            let to = written.iter().filter_map(|text| text.strip_prefix(&*to));
            to.map(|text| text.split('|').next().unwrap().parse().unwrap()).collect()
        };
        let (venue, third) = (ids("VENUE"), ids("THIRD"));
        prop_assert!(venue.is_sorted_by(|one, next| one < next), "{:?}", venue);
        prop_assert!(third.is_sorted_by(|one, next| one < next), "{:?}", third);
        let copies = sent.iter().map(|both| 1 + usize::from(*both)).sum::<usize>();
        prop_assert_eq!(venue.len() + third.len() + given_up, copies);
        let mut answered: Vec<usize> = written.iter().filter_map(|text| {
            let (_, id) = text.split_once(": 35=8|37=NONE|11=")?;
            Some(id.split('|').next().unwrap().parse().unwrap())
        }).collect();
        answered.sort_unstable();
        let late = (0..sent.len()).filter(|id| !sent[*id] && !venue.contains(id));
        prop_assert_eq!(answered, late.collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_behind_a_letter_are_no_panic(
        letter in prop_oneof![Just(b'H'), Just(b'h'), Just(b'U'), Just(b'Q')],
        rest in prop::collection::vec(prop_oneof![Just(b' '), Just(b'0'), Just(b'1'), Just(1), any::<u8>()], 0..40),
    ) {
        let mut rig = Rig::of(RULES, &SESSIONS);
        rig.hears("ANNA", &order("1"));
        rig.gateway.on_note(Timestamp(0), &[&[letter], &rest[..]].concat());
        rig.all_log_on();
        rig.wait(1);
    }
}
