//! A gateway with the notes of another gateway continues as that gateway would.

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::notes::note::OrderNote;
use super::*;
use crate::orders::{OrdersConfig, Rewriting};
use crate::rules::RulePath;

/// The sessions in another order, one of them removed, one new.
const OTHERS: [(&str, Version); 6] = [
    ("THIRD", Version::Fix44),
    ("NEW", Version::Fix42),
    ("VENUE", Version::Fix44),
    ("BERT", Version::Fix42),
    ("BACKUP", Version::Fix44),
    ("ANNA", Version::Fix42),
];
pub(super) const RULES: &str = r#"
[gateway]
max_orders = 12
[target.VENUE]
away = "BACKUP"
[target.THIRD]
ids = "always"
id_prefix = "T"
id_length = 8
[[rule]]
from = ["ANNA", "BERT"]
when = 'Account = "2"'
do = ['send VENUE', 'convert', 'send THIRD']
[[rule]]
from = ["ANNA", "BERT"]
do = ['send VENUE']
[[rule]]
from = ["VENUE", "BACKUP", "THIRD"]
do = ['return']
"#;

#[derive(Clone, Debug)]
pub(super) enum Step {
    Hears(&'static str, String),
    Loses(&'static str),
    LogsOn(&'static str),
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let id = "[AB]|T[12]|FW[12]";
    let client = prop_oneof![Just("ANNA"), Just("BERT")];
    let venue = || prop_oneof![Just("VENUE"), Just("BACKUP"), Just("THIRD")];
    let asked = (client, id, id, 0..8_usize).prop_map(|(from, id, other, what)| {
        let text = match what {
            0 | 1 => format!("35=D|11={id}|55=VOD|54=1|"),
            2 => format!("35=D|11={id}|1=2|55=VOD|54=1|"),
            7 => format!("35=D|11={id}|1=2|21=1|55=VOD|54=1|60=20261120-10:00:00|38=9|40=1|"),
            3 => format!("35=D|97=Y|11={id}|55=VOD|"),
            4 => format!("35=F|41={other}|11={id}|55=VOD|54=1|"),
            5 => format!("35=G|41={other}|11={id}|55=VOD|54=1|"),
            _ => format!("35=V|262={id}|263=1|"),
        };
        Step::Hears(from, text)
    });
    let answered = (venue(), id, id, 0..7_usize).prop_map(|(from, id, other, what)| {
        let text = match what {
            0 => format!("35=8|37=1|11={id}|39=0|150=0|"),
            1 => format!("35=8|37=2|11={id}|39=2|150=F|"),
            2 => "35=8|37=2|39=1|150=H|".into(),
            3 => format!("35=8|37=1|11={id}|41={other}|39=5|150=5|"),
            4 => format!("35=9|37=1|11={id}|41={other}|39=0|"),
            5 => format!("35=j|372=D|379={id}|380=0|"),
            _ => format!("35=W|262={id}|"),
        };
        Step::Hears(from, text)
    });
    prop_oneof![
        8 => asked,
        8 => answered,
        1 => venue().prop_map(Step::Loses),
        1 => venue().prop_map(Step::LogsOn),
    ]
}

#[derive(Clone, Debug)]
enum Act {
    Orders { client: usize, account: u8 },
    Cancels { client: usize, order: Index },
    Reports { order: Index, ended: bool },
    Dies,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..2_usize, 1..3_u8).prop_map(|(client, account)| Act::Orders { client, account }),
        2 => (0..2_usize, any::<Index>()).prop_map(|(client, order)| Act::Cancels { client, order }),
        8 => (any::<Index>(), any::<bool>()).prop_map(|(order, ended)| Act::Reports { order, ended }),
        1 => Just(Act::Dies),
    ]
}

impl Rig {
    pub(super) fn step(&mut self, step: &Step) -> Vec<String> {
        match step {
            Step::Hears(from, text) => self.hears(from, text),
            Step::Loses(name) => {
                self.lose(name);
                Vec::new()
            }
            Step::LogsOn(name) => {
                self.log_on(name);
                Vec::new()
            }
        }
    }

    /// A gateway with this file, which may be another one, after it has replayed the notes.
    fn after(&self, text: &str, sessions: &[(&'static str, Version)]) -> Self {
        let mut other = Self::of(text, sessions);
        other.replay(&self.notes);
        assert_eq!(other.said(), Vec::<String>::new());
        for at in 0..self.sessions.len() {
            let name = self.sessions[at].0;
            if self.gateway.active[at] && sessions.iter().any(|(one, _)| *one == name) {
                other.log_on(name);
            }
        }
        other.wall = self.wall;
        other
    }

    fn state(&self) -> u64 {
        self.gateway.orders().state_hash()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn notes_give_the_same_state_and_the_same_answers(
        before in proptest::collection::vec(step(), 0..60),
        after in proptest::collection::vec(step(), 0..30),
    ) {
        let mut rig = Rig::new(RULES);
        before.iter().for_each(|step| drop(rig.step(step)));
        let mut same = rig.after(RULES, &SESSIONS);
        let mut others = rig.after(RULES, &OTHERS);
        rig.said();
        for step in &after {
            prop_assert_eq!(rig.state(), same.state());
            prop_assert_eq!(rig.state(), others.state());
            let written = rig.step(step);
            prop_assert_eq!(&written, &same.step(step));
            prop_assert_eq!(&written, &others.step(step));
            // After a restart the event about a nearly used limit is raised again.
            let heard = |rig: &Rig| {
                let mut said = rig.said();
                said.retain(|line| !line.starts_with("max_orders: "));
                said
            };
            prop_assert_eq!((heard(&rig), rig.refusal), (heard(&same), same.refusal));
        }
        prop_assert_eq!(rig.state(), others.state());
    }

    /// The Text(58) of an order names its client and ClOrdID, and the venues repeat it in their reports. So the test
    /// finds the owner of a report by its text, without the gateway.
    #[test]
    fn each_report_is_its_clients_also_after_restarts(
        acts in proptest::collection::vec(act(), 0..60),
    ) {
        let text = RULES.replace("max_orders = 12", "max_orders = 10000");
        let mut rig = Rig::new(&text);
        let mut asked = [0, 0];
        let mut sent = Vec::new();
        for act in acts {
            let (client, heard) = match act {
                Act::Orders { client, account } => (client, format!("35=D|1={account}|21=1|")),
                // Each request has a number as its ClOrdID, so a cancel may name any earlier request.
                Act::Cancels { client, order } => {
                    let order = order.index(asked[client] + 1);
                    (client, format!("35=F|41={order}|"))
                }
                Act::Reports { order, ended } if !sent.is_empty() => {
                    let at = order.index(sent.len());
                    let (venue, id, token): &(String, String, String) = &sent[at];
                    let (client, own) = token.split_once('-').unwrap();
                    let status = if ended { "39=2|150=F" } else { "39=0|150=0" };
                    let report = |id: &str| format!("35=8|37=O{at}|11={id}|{status}|58={token}|");
                    let expected = format!("{client}: {}", report(own));
                    prop_assert_eq!(rig.hears(venue, &report(id)), [expected]);
                    continue;
                }
                Act::Reports { .. } => continue,
                Act::Dies => {
                    let mut other = rig.after(&text, &SESSIONS);
                    other.notes = rig.notes;
                    rig = other;
                    continue;
                }
            };
            asked[client] += 1;
            let (name, number) = (["ANNA", "BERT"][client], asked[client]);
            let rest = "55=VOD|54=1|60=20261120-10:00:00|38=9|40=1|";
            let heard = format!("{heard}11={number}|{rest}58={name}-{number}|");
            for line in rig.hears(name, &heard) {
                let (venue, line) = line.split_once(": ").unwrap();
                let value = |tag| line.split('|').find_map(|field| field.strip_prefix(tag));
                let (id, token) = (value("11=").unwrap(), value("58=").unwrap());
                sent.push((venue.to_string(), id.to_string(), token.to_string()));
            }
        }
    }

    #[test]
    fn any_bytes_are_no_panic(note in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut rig = Rig::new(RULES);
        rig.hears("ANNA", "35=D|11=A|55=VOD|54=1|");
        rig.gateway.on_note(Timestamp(0), &note);
    }

    #[test]
    fn changed_notes_are_no_panic(
        at in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut rig = Rig::new(RULES);
        for (from, text) in [
            ("ANNA", "35=D|11=A|55=VOD|54=1|"),
            ("VENUE", "35=8|37=1|11=A|39=0|"),
            ("VENUE", "35=j|372=D|379=A|380=0|"),
        ] {
            rig.hears(from, text);
        }
        let at = at.index(rig.notes.len());
        let place = place.index(rig.notes[at].1.len());
        rig.notes[at].1[place] = byte;
        let mut other = Rig::of(RULES, &OTHERS);
        other.replay(&rig.notes);
        other.all_log_on();
        other.hears("ANNA", "35=D|11=A|55=VOD|54=1|");
    }
}

#[test]
fn notes_are_short_and_can_be_read() {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=A|21=1|55=VOD|54=1|38=100|");
    rig.hears("VENUE", "35=8|37=V1|11=A|17=E1|150=0|39=0|55=VOD|");
    assert_eq!(
        rig.shown_notes(),
        [
            "Limits limits=OrdersConfig { max_orders: 12, max_sessions: 10000, max_id: 64, \
             rewriting: OnCollision 64 FW, forget_quiet: None, .. }",
            "Session session=0 ids=None name=\"ANNA\"",
            "Session session=1 ids=None name=\"VENUE\"",
            "Outbound client=0 venue=1 message=D|11=A|",
            "Inbound venue=1 message=8|37=V1|11=A|150=0|39=0|",
        ]
    );
}

#[test]
fn a_session_that_is_gone_is_still_known_and_may_come_back() {
    let mut rig = Rig::new(RULES);
    rig.hears("BERT", "35=D|11=A|55=VOD|54=1|");
    rig.hears("ANNA", "35=D|11=A|55=VOD|54=1|");
    let without: Vec<_> = SESSIONS
        .iter()
        .filter(|(name, _)| *name != "BERT")
        .copied()
        .collect();
    let text = RULES.replace("\"ANNA\", \"BERT\"", "\"ANNA\"");
    let mut other = rig.after(&text, &without);
    assert_eq!(other.state(), rig.state());
    // The report is not returned to another client.
    other.expect("VENUE", "35=8|37=1|11=A|39=0|", &[]);
    assert_eq!(
        other.said(),
        ["rule 3: the client session of the message is no longer configured"]
    );
    other.expect(
        "VENUE",
        "35=8|37=2|11=FW1|39=0|",
        &["ANNA: 35=8|37=2|11=A|39=0|"],
    );
    let mut notes = core::mem::take(&mut rig.notes);
    notes.append(&mut other.notes);
    let mut back = Rig::of(RULES, &SESSIONS);
    back.replay(&notes);
    back.all_log_on();
    back.expect(
        "VENUE",
        "35=8|37=1|11=A|39=2|",
        &["BERT: 35=8|37=1|11=A|39=2|"],
    );
}

#[test]
fn reports_of_open_orders_come_back_whatever_the_rules_say_now() {
    let mut rig = Rig::new(PLAIN);
    rig.hears(
        "ANNA",
        "35=D|11=A|21=1|55=VOD|54=1|60=20261120-10:00:00|38=9|40=1|",
    );
    let closed = PLAIN.replace("'convert', 'send VENUE'", "'reject \"closed\"'");
    let mut rig = rig.after(&closed, &SESSIONS);
    let report = "35=8|37=V|11=A|17=E|150=F|39=2|55=VOD|54=1|151=0|14=9|6=7|";
    let written = rig.hears("VENUE", report);
    assert!(
        written.len() == 1 && written[0].starts_with("ANNA: 35=8|"),
        "{written:?}"
    );
}

#[test]
fn other_ids_and_limits_hold_from_the_restart_on() {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=A|55=VOD|54=1|");
    rig.hears("BERT", "35=D|11=A|55=VOD|54=1|");
    // The id FW1 still belongs to BERT's order, although the file has another prefix now.
    let text = RULES
        .replace("max_orders = 12", "max_orders = 9\nid_prefix = \"GW\"")
        .replace("[target.VENUE]", "[target.VENUE]\nids = \"always\"");
    let mut other = rig.after(&text, &SESSIONS);
    other.expect(
        "VENUE",
        "35=8|37=1|11=FW1|39=0|",
        &["BERT: 35=8|37=1|11=A|39=0|"],
    );
    other.expect("ANNA", "35=D|11=B|55=VOD|", &["VENUE: 35=D|11=GW2|55=VOD|"]);
    assert_eq!(other.gateway.orders().config().max_orders, 9);
    // The same state after another restart.
    let mut notes = rig.notes.clone();
    notes.extend(other.notes.clone());
    let mut third = Rig::of(&text, &SESSIONS);
    third.replay(&notes);
    assert_eq!(third.state(), other.state());
    third.all_log_on();
    assert!(third.notes.is_empty());
}

#[test]
fn ids_of_one_venue_stay_when_the_limits_change() {
    let order = "35=D|11=A|1=2|21=1|55=VOD|54=1|60=20261120-10:00:00|38=9|40=1|";
    let mut rig = Rig::new(RULES);
    assert!(rig.hears("ANNA", order)[1].starts_with("THIRD: 35=D|11=T1|"));
    let mut other = rig.after(&RULES.replace("= 12", "= 9"), &SESSIONS);
    let written = other.hears("ANNA", &order.replace("11=A", "11=B"));
    assert!(written[1].starts_with("THIRD: 35=D|11=T2|"), "{written:?}");
}

#[test]
fn less_room_than_there_are_orders_is_taken_when_they_have_ended() {
    let no_room = "orders in the journal exceed limits of the file: max_orders = 1 has no room for the 2 ids of open \
         orders, so max_orders stays 12; the other keys of the file apply";
    let less = RULES.replace("max_orders = 12", "max_orders = 1");
    let restarted = |notes: &[(Timestamp, Vec<u8>)]| {
        let mut rig = Rig::of(&less, &SESSIONS);
        rig.replay(notes);
        rig.all_log_on();
        rig.notes.splice(..0, notes.iter().cloned());
        rig
    };
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=A|55=VOD|54=1|");
    rig.hears("ANNA", "35=D|11=B|55=VOD|54=1|");
    // The old limits stay while both orders are open.
    let mut second = restarted(&rig.notes);
    assert_eq!(second.said(), [no_room]);
    assert_eq!(second.gateway.orders().config().max_orders, 12);
    assert_eq!(second.state(), rig.state());
    second.hears("VENUE", "35=8|37=1|11=A|39=2|");
    let mut third = restarted(&second.notes);
    assert_eq!(third.said(), [""; 0]);
    assert_eq!(third.gateway.orders().config().max_orders, 1);
    assert_eq!(third.gateway.orders().counters().live, 1);
    // From now on there is room for one order.
    third.hears("ANNA", "35=D|11=C|55=VOD|54=1|");
    let fourth = restarted(&third.notes);
    assert_eq!(fourth.state(), third.state());
}

#[test]
fn an_id_that_is_too_long_for_the_file_keeps_only_max_id() {
    let restarted = |text: &str, notes: &[(Timestamp, Vec<u8>)]| {
        let mut rig = Rig::of(text, &SESSIONS);
        rig.replay(notes);
        rig.all_log_on();
        rig.notes.splice(..0, notes.iter().cloned());
        rig
    };
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=averylongclientorderid-1234|55=VOD|54=1|");
    let short = RULES.replace(
        "max_orders = 12",
        "max_orders = 12\nids = \"always\"\nid_prefix = \"YY\"\nmax_id = 16",
    );
    let said = "orders in the journal exceed limits of the file: max_id = 16 is less than the 27 bytes of the id \
         averylongclientorderid-1234, so max_id stays 64; the other keys of the file apply";
    let mut second = restarted(&short, &rig.notes);
    assert_eq!(second.said(), [said]);
    second.expect("ANNA", "35=D|11=B|55=VOD|", &["VENUE: 35=D|11=YY1|55=VOD|"]);
    assert_eq!(second.gateway.orders().config().max_id, 64);
    // The event is raised as long as the file has this limit, and not later.
    let third = restarted(&short, &second.notes);
    assert_eq!(
        (third.said(), third.state()),
        (Vec::from([said.to_string()]), second.state())
    );
    let fourth = restarted(RULES, &third.notes);
    assert_eq!(fourth.said(), [""; 0]);
    let fifth = restarted(RULES, &fourth.notes);
    assert_eq!(
        (fifth.said(), fifth.notes.len()),
        (Vec::new(), fourth.notes.len())
    );
}

#[test]
fn a_shorter_max_id_ends_a_longer_form_of_ids_at_a_venue() {
    let always = RULES.replace("[target.VENUE]", "[target.VENUE]\nids = \"always\"");
    let mut rig = Rig::new(&always);
    rig.hears("ANNA", "35=D|11=A|55=VOD|54=1|");
    let short = always.replace("max_orders = 12", "max_orders = 12\nmax_id = 16");
    let mut other = rig.after(&short, &SESSIONS);
    assert_eq!(other.said(), [""; 0]);
    assert_eq!(other.gateway.orders().config().max_id, 16);
    other.expect("ANNA", "35=D|11=B|55=VOD|", &["VENUE: 35=D|11=FW2|55=VOD|"]);
    let mut notes = rig.notes.clone();
    notes.extend(other.notes.clone());
    let mut third = Rig::of(&short, &SESSIONS);
    third.replay(&notes);
    assert_eq!((third.said(), third.state()), (Vec::new(), other.state()));
}

#[test]
fn a_bad_note_is_an_alarm() {
    let mut rig = Rig::of(RULES, &SESSIONS);
    let not_ours = "journal contains an application note not written by a gateway";
    let unknown = "journal note refers to an unknown session";
    let limits = |max_orders, max_id| {
        let limits = OrdersConfig {
            max_orders,
            max_sessions: 10,
            max_id,
            rewriting: Rewriting::default(),
            forget_quiet: None,
            hash_key: [0; 16],
        };
        note(GatewayNote::Setup(SetupNote::Limits { limits }))
    };
    let outbound = |client, message: &str| {
        note(GatewayNote::Order(OrderNote::Outbound {
            client,
            venue: 0,
            message: Bytes(message.as_bytes()),
        }))
    };
    let mut cut = limits(1, 64);
    cut.truncate(9);
    // An invalid form of ids: neither always nor on collision.
    let mut no_ids = session_note(0, "NAME");
    no_ids.splice(5..6, [1, 9, 9, 1, 0, b'X']);
    for (note, said) in [
        (Vec::new(), not_ours),
        (b"X".to_vec(), not_ours),
        (cut, not_ours),
        (limits(4_000_000_000, 64), not_ours),
        (
            limits(1, 300),
            "orders in the journal exceed the configured limits: max_id must be 1 to 255 bytes",
        ),
        (no_ids, not_ours),
        (session_note(7, "NAME"), unknown),
        (outbound(0, "D\x0111=A\x01"), unknown),
        (outbound(0, "D\x0111=A\x01")[..7].to_vec(), not_ours),
    ] {
        rig.gateway.on_note(Timestamp(0), &note);
        assert_eq!(rig.said(), [said], "{note:?}");
    }
    rig.gateway.on_note(Timestamp(0), &session_note(0, "ANNA"));
    let mut other_kind = outbound(0, "D\x01");
    other_kind[0] = b'Z';
    for note in [
        outbound(0, "D"),
        outbound(0, "D\x0111\x01"),
        outbound(0, "D\x01x=1\x01"),
        outbound(1, "D\x0111=A\x01"),
        session_note(0, "BERT"),
        other_kind,
    ] {
        rig.gateway.on_note(Timestamp(0), &note);
        assert_eq!(rig.said().len(), 1, "{note:?}");
    }
}

#[test]
fn nothing_is_sent_without_its_note() {
    let mut rig = Rig::of(RULES, &SESSIONS);
    rig.all_log_on();
    let before = rig.state();
    // The outbox has room for the notes of limits and sessions, but not for the order.
    for messages in 0..3 {
        let mut rig = Rig::of(RULES, &SESSIONS);
        rig.outbox = Outbox::new(1 << 12, messages, 64);
        assert_eq!(rig.hears("ANNA", "35=D|11=A|55=VOD|"), Vec::<String>::new());
        assert_eq!(rig.refusal, Err(Refusal::NotAvailable));
        assert_eq!(rig.state(), before);
        // With room, the same order is accepted as a new order.
        rig.outbox = Outbox::new(1 << 12, 16, 64);
        rig.log_on("VENUE");
        rig.expect("ANNA", "35=D|11=A|55=VOD|", &["VENUE: 35=D|11=A|55=VOD|"]);
        let other = rig.after(RULES, &SESSIONS);
        assert_eq!(other.state(), rig.state());
    }
    // The outbox has room for the note, but not for the order.
    let mut rig = Rig::new(RULES);
    rig.outbox = Outbox::new(1 << 12, 3, 64);
    assert_eq!(rig.hears("ANNA", "35=D|11=A|55=VOD|"), Vec::<String>::new());
    let other = rig.after(RULES, &SESSIONS);
    assert_eq!(other.state(), rig.state());
}

#[test]
fn each_way_is_known_before_the_first_message() {
    let rig = Rig::new(RULES);
    let mut ways = Vec::new();
    let rules = rig.gateway.rules();
    rules.ways(&mut |way| ways.extend((way.rule == 0).then_some(way)));
    let way = |from, to, convert| RulePath {
        rule: 0,
        from,
        to: Some(to),
        convert,
    };
    assert_eq!(
        ways,
        [
            way(0, 3, false),
            way(0, 5, true),
            way(1, 3, false),
            way(1, 5, true)
        ]
    );
}
