//! A ledger of the notes has the state of the gateway, also after it was written and read.

use proptest::prelude::*;
use proptest::sample::Index;

use fixwire_protocol::Ledger;

use super::super::Reload;
use super::super::notes::Notes;
use super::*;

pub(super) const RULES: &str = r#"
[gateway]
max_orders = 14
max_held = '64K'
max_remembered = '64K'
[target.VENUE]
time_to_live = "9s"
[target.BACKUP]
ids = "pass"
[target.THIRD]
ids = "always"
id_prefix = "T"
id_length = 8
[[rule]]
from = ["ANNA", "BERT"]
when = 'MsgType = B'
do = ['send BACKUP']
[[rule]]
from = ["ANNA", "BERT"]
when = 'Account = "2"'
do = ['remember Account, Text', 'send VENUE', 'send THIRD']
[[rule]]
from = ["ANNA", "BERT"]
when = 'Account = "3"'
do = ['reject "no"']
[[rule]]
from = ["ANNA", "BERT"]
do = ['remember Text', 'send VENUE']
[[rule]]
from = ["VENUE", "THIRD"]
when = 'OrdStatus = 2'
do = ['try recall Text', 'forget', 'return']
[[rule]]
from = ["VENUE", "THIRD"]
do = ['try recall Account, Text', 'return']
[[rule]]
from = ["BACKUP"]
do = ['return']
"#;

/// The sessions in another order, one of them removed, one new.
const OTHERS: [(&str, Version); 6] = [
    ("THIRD", Version::Fix44),
    ("NEW", Version::Fix42),
    ("VENUE", Version::Fix44),
    ("BERT", Version::Fix42),
    ("BACKUP", Version::Fix44),
    ("ANNA", Version::Fix42),
];

#[derive(Clone, Debug)]
pub(super) enum Step {
    Hears(&'static str, String),
    Loses(&'static str),
    LogsOn(&'static str),
    Resets(&'static str),
    /// Waits for a number of seconds; a negative number sets the clock back.
    Waits(i64),
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let id = "[AB]|T[12]|FW[12]";
    let client = prop_oneof![Just("ANNA"), Just("BERT")];
    let venue = || prop_oneof![Just("VENUE"), Just("BACKUP"), Just("THIRD")];
    let length = prop_oneof![4 => 0..9_usize, 1 => 3000..9000_usize];
    let asked = (client, id, id, 0..9_usize, length).prop_map(|(from, id, other, what, length)| {
        let long = "x".repeat(length);
        let text = match what {
            0 => format!("35=D|11={id}|55=VOD|54=1|"),
            1 => format!("35=D|11={id}|55=VOD|54=1|58={long}|"),
            2 => format!("35=D|11={id}|1=2|55=VOD|54=1|58=t|"),
            3 => format!("35=D|97=Y|11={id}|55=VOD|"),
            4 => format!("35=F|41={other}|11={id}|55=VOD|54=1|"),
            5 => format!("35=G|41={other}|11={id}|1=2|55=VOD|54=1|58={long}|"),
            6 => format!("35=D|11={id}|1=3|55=VOD|54=1|"),
            7 => format!("35=B|148={long}y|"),
            _ => format!("35=V|262={id}|263=1|"),
        };
        Step::Hears(from, text)
    });
    let answered = (venue(), id, id, 0..6_usize).prop_map(|(from, id, other, what)| {
        let text = match what {
            0 => format!("35=8|37=1|11={id}|39=0|150=0|"),
            1 => format!("35=8|37=2|11={id}|39=2|150=F|"),
            2 => "35=8|37=2|39=1|150=H|".into(),
            3 => format!("35=8|37=1|11={id}|41={other}|39=5|150=5|"),
            4 => format!("35=9|37=1|11={id}|41={other}|39=0|"),
            _ => format!("35=j|372=D|379={id}|380=0|"),
        };
        Step::Hears(from, text)
    });
    prop_oneof![
        10 => asked,
        6 => answered,
        2 => venue().prop_map(Step::Loses),
        2 => venue().prop_map(Step::LogsOn),
        1 => venue().prop_map(Step::Resets),
        2 => (-3..6_i64).prop_map(Step::Waits),
    ]
}

type Kept = [(Timestamp, Vec<u8>)];

impl Rig {
    pub(super) fn does(&mut self, step: &Step) -> Vec<String> {
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
            Step::Resets(name) => self.reset(name),
            Step::Waits(seconds @ ..0) => {
                self.wall += seconds * 1_000_000_000;
                Vec::new()
            }
            Step::Waits(seconds) => self.wait(*seconds as u64),
        }
    }

    fn ledger(&self) -> std::boxed::Box<dyn Ledger> {
        self.gateway.ledger().unwrap()
    }

    /// A ledger of these notes.
    fn of_notes(&self, notes: &Kept) -> std::boxed::Box<dyn Ledger> {
        let mut ledger = self.ledger();
        apply(&mut *ledger, notes);
        ledger
    }

    fn hash(&self) -> u64 {
        self.gateway.state_hash().unwrap()
    }

    /// The state of all notes so far.
    pub(super) fn written(&self) -> Vec<u8> {
        written(&*self.of_notes(&self.notes))
    }

    /// A gateway with this file, which may be another one, restored from a checkpoint of the first `first` notes and
    /// from the other notes.
    fn after_checkpoint(
        &self,
        first: usize,
        text: &str,
        sessions: &[(&'static str, Version)],
    ) -> Self {
        let mut other = Self::of(text, sessions);
        let (known, rest) = self.notes.split_at(first);
        let state = written(&*self.of_notes(known));
        other.gateway.on_checkpoint(1, &state).unwrap();
        other.replay(rest);
        assert_eq!(other.said(), Vec::<String>::new());
        other.wall = self.wall;
        other
    }
}

fn apply(ledger: &mut dyn Ledger, notes: &Kept) {
    for (at, note) in notes {
        ledger.apply(*at, note);
    }
}

pub(super) fn written(ledger: &dyn Ledger) -> Vec<u8> {
    let mut state = Vec::new();
    ledger.write(&mut |bytes| state.extend_from_slice(bytes));
    state
}

/// A gateway whose state has entries of every kind.
pub(super) fn busy() -> Rig {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=1|1=2|55=VOD|54=1|58=mine|");
    rig.hears("BERT", "35=D|11=1|1=2|55=VOD|54=1|58=his|");
    rig.hears("VENUE", "35=8|37=V1|11=1|39=0|150=0|");
    rig.lose("VENUE");
    rig.lose("THIRD");
    rig.hears("ANNA", "35=D|11=2|55=VOD|54=1|58=a|");
    rig.hears("BERT", "35=D|11=3|1=2|55=VOD|54=1|58=yours|");
    rig.reset("THIRD");
    rig.hears("ANNA", "35=D|11=5|55=VOD|54=1|58=b|");
    // The number of this reject is not in a later note.
    rig.hears("ANNA", "35=D|11=2|1=3|55=VOD|54=1|");
    rig.said();
    rig
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_ledger_is_the_gateway_wherever_it_was_written_and_read(
        before in prop::collection::vec(step(), 0..70),
        after in prop::collection::vec(step(), 0..30),
        cut in any::<Index>(),
        small in any::<bool>(),
    ) {
        let mut rig = Rig::new(RULES);
        if small {
            // The outbox has no room for some of the notes.
            rig.outbox = Outbox::new(1 << 13, 4, 256);
        }
        let mut all = rig.of_notes(&rig.notes);
        let mut told = rig.notes.len();
        for step in &before {
            rig.does(step);
            apply(&mut *all, &rig.notes[told..]);
            told = rig.notes.len();
            prop_assert_eq!(all.hash(), rig.hash(), "{:?}", step);
        }
        let mut first = rig.ledger();
        for at in 0..=told {
            let state = written(&*first);
            let mut second = rig.ledger();
            prop_assert_eq!(second.read(1, &state), Ok(()));
            prop_assert_eq!(second.hash(), first.hash());
            prop_assert!(written(&*second) == state);
            apply(&mut *second, &rig.notes[at..]);
            prop_assert_eq!(second.hash(), all.hash());
            apply(&mut *first, &rig.notes[at..told.min(at + 1)]);
        }
        let mut same = rig.after_checkpoint(0, RULES, &SESSIONS);
        let mut other = rig.after_checkpoint(cut.index(told + 1), RULES, &SESSIONS);
        let mut moved = rig.after_checkpoint(cut.index(told + 1), RULES, &OTHERS);
        for (at, (name, _)) in SESSIONS.iter().enumerate() {
            if rig.gateway.active[at] {
                same.log_on(name);
                other.log_on(name);
            }
        }
        for step in &after {
            prop_assert_eq!(same.hash(), other.hash());
            prop_assert_eq!(same.does(step), other.does(step));
            prop_assert_eq!(same.said(), other.said());
            prop_assert_eq!(same.refusal, other.refusal);
        }
        prop_assert_eq!(same.hash(), other.hash());
        prop_assert_eq!(same.notes, other.notes);
        prop_assert_eq!(moved.hash(), rig.hash());
        moved.all_log_on();
        moved.wait(99);
        prop_assert_eq!(moved.gateway.held().count(), 0);
    }
}

#[test]
fn the_hash_key_is_in_no_state() {
    let rig = busy();
    let notes = &rig.gateway.core.notes;
    let limits = crate::orders::OrdersConfig {
        hash_key: [9; 16],
        ..*notes.limits()
    };
    let shares = [
        &notes.order_shares,
        &notes.held_shares,
        &notes.memory_shares,
    ];
    let names = notes.names().map(|name| (name.into(), None));
    let mut other = Notes::new(limits, shares.map(|shares| shares.anew()), names).unwrap();
    apply(&mut other, &rig.notes);
    assert_eq!(other.hash(), rig.hash());
    assert_eq!(written(&other), rig.written());
    let mut third = other.anew().unwrap();
    third.read(1, &rig.written()).unwrap();
    assert_eq!(third.hash(), rig.hash());
}

#[test]
fn a_note_left_out_is_another_state() {
    let rig = busy();
    let all = rig.of_notes(&rig.notes).hash();
    assert_eq!(all, rig.hash());
    for at in 0..rig.notes.len() {
        let mut notes = rig.notes.clone();
        let (_, note) = notes.remove(at);
        let left = rig.of_notes(&notes).hash();
        assert_ne!(left, all, "{}", String::from_utf8_lossy(&note));
    }
}

#[test]
fn a_reload_of_what_a_client_may_have_is_in_the_notes() {
    let own = |bytes: &str| format!("{RULES}[client.ANNA]\nmax_remembered = '{bytes}'\n");
    let mut rig = Rig::new(&own("8K"));
    let order = |id: usize| format!("35=D|11={id}|55=VOD|54=1|58=text|");
    for id in 0..60 {
        rig.hears("ANNA", &order(id));
        rig.hears("BERT", &order(id));
    }
    let few = rig.gateway.remembered().dropped;
    for (bytes, from) in [("4K", 60), ("64K", 70)] {
        let text = own(bytes);
        let mut new = in_context(&SESSIONS, |context| Reload::read(&text, context)).unwrap();
        rig.gateway.reload(&mut new).unwrap();
        for id in from..from + 10 {
            rig.hears("ANNA", &order(id));
        }
    }
    assert!(rig.gateway.remembered().dropped > few + 20);
    let mut other = Rig::of(RULES, &SESSIONS);
    other.replay(&rig.notes);
    let third = rig.after_checkpoint(rig.notes.len() - 7, RULES, &SESSIONS);
    assert_eq!([other.hash(), third.hash()], [rig.hash(); 2]);
    let mut notes = rig.shown_notes();
    notes.retain(|note| note.starts_with("Share "));
    assert_eq!(
        notes,
        [
            "Share client=0 bytes=Some(8192)",
            "Share client=0 bytes=Some(4096)",
            "Share client=0 bytes=Some(65536)"
        ]
    );
    let share = |client, bytes| note(GatewayNote::Setup(SetupNote::Share { client, bytes }));
    let whole = share(0, Some(1));
    let (mut cut, mut longer, mut neither) = (whole.clone(), whole.clone(), whole);
    cut.pop();
    longer.push(0);
    // The byte of an `Option` is neither 0 nor 1.
    neither[5] = 2;
    for note in [share(9, Some(1)), cut, longer, neither] {
        other.gateway.on_note(Timestamp(0), &note);
        assert_eq!(other.said().len(), 1, "{note:?}");
    }
}

#[test]
fn room_for_what_waits_is_as_it_was() {
    let text = RULES.replace("max_orders = 14", "max_orders = 999");
    let mut rig = Rig::of(&text, &SESSIONS);
    let news = |from: &'static str, length: usize| {
        let long = "x".repeat(length);
        Step::Hears(from, format!("35=D|11={length}|55=VOD|54=1|58={long}|"))
    };
    // More than the share of one client; some of these messages expire.
    for at in 0..14 {
        rig.does(&news("ANNA", 4000 + at));
        rig.does(&Step::Waits(i64::from(at < 11)));
    }
    assert!(rig.gateway.counters().undelivered > 0);
    let mut same = rig.after_checkpoint(0, &text, &SESSIONS);
    let mut other = rig.after_checkpoint(rig.notes.len(), &text, &SESSIONS);
    for at in 0..60 {
        let from = if at % 3 == 2 { "BERT" } else { "ANNA" };
        let step = match at {
            0..30 => news(from, 900 + at),
            30..36 => Step::Waits(1),
            _ => news(from, 200 + at),
        };
        assert_eq!(same.does(&step), other.does(&step), "{at}");
        assert_eq!(same.said(), other.said(), "{at}");
        assert_eq!(same.hash(), other.hash(), "{at}");
    }
    assert!(same.gateway.counters().rejected > same.gateway.counters().undelivered);
}

#[test]
fn what_was_noted_is_not_taken_back() {
    // A message for a target that is away, when the outbox may have no room for the notes.
    let mut rig = Rig::of(RULES, &SESSIONS);
    rig.log_on("ANNA");
    for messages in 1..6 {
        rig.outbox = Outbox::new(1 << 12, messages, 64);
        rig.hears("ANNA", "35=B|148=x|");
        assert_eq!(rig.of_notes(&rig.notes).hash(), rig.hash(), "{messages}");
    }
    // A held message for which the outbox has no room when its target logs on.
    rig.outbox = Outbox::new(1 << 12, 16, 64);
    rig.hears(
        "ANNA",
        &format!("35=D|11=1|55=VOD|54=1|58={}|", "x".repeat(600)),
    );
    rig.log_on("VENUE");
    for bytes in [100, 500, 900] {
        rig.outbox = Outbox::new(bytes, 16, 64);
        rig.wait(1);
        assert_eq!(rig.of_notes(&rig.notes).hash(), rig.hash(), "{bytes}");
    }
}

#[test]
fn damaged_bytes_are_an_error_and_change_nothing() {
    let rig = busy();
    let state = rig.written();
    let mut other = Rig::new(RULES);
    other.hears("ANNA", "35=D|11=9|55=VOD|54=1|");
    let before = other.hash();
    for at in 0..state.len() {
        assert!(other.gateway.on_checkpoint(1, &state[..at]).is_err());
    }
    // Not truncated, but a session's name is not valid text.
    let name = state.windows(4).position(|bytes| bytes == b"ANNA").unwrap();
    let mut bad = state.clone();
    bad[name] = 0xFF;
    let damaged = "gateway state is inconsistent: sessions";
    assert_eq!(other.gateway.on_checkpoint(1, &bad), Err(damaged.into()));
    assert_eq!(
        other.gateway.on_checkpoint(7, &state).unwrap_err(),
        "the state of the gateway has version 7, and this build reads version 1"
    );
    assert_eq!(other.hash(), before);
    other.expect(
        "VENUE",
        "35=8|37=1|11=9|39=0|",
        &["ANNA: 35=8|37=1|11=9|39=0|"],
    );
    assert_eq!(other.gateway.on_checkpoint(1, &state), Ok(()));
    assert_eq!(other.hash(), rig.hash());
}

#[test]
fn changed_bytes_are_an_error_or_another_state() {
    let rig = busy();
    let body = &rig.written()[..];
    let mut errors = std::collections::BTreeSet::new();
    let mut read = |body: &[u8]| {
        let mut ledger = rig.ledger();
        let mut result = Ok(());
        let counted = allocation_counter::measure(|| result = ledger.read(1, body));
        assert!(counted.bytes_max < 64 << 20, "{counted:?}");
        match result {
            // The bytes are a valid state.
            Ok(()) => {
                let again = written(&*ledger);
                assert!(again == body || ledger.hash() != rig.hash());
                let mut other = rig.ledger();
                assert_eq!(other.read(1, &again), Ok(()));
                assert_eq!(other.hash(), ledger.hash());
                apply(&mut *ledger, &rig.notes);
                true
            }
            Err(error) => {
                errors.insert(error);
                false
            }
        }
    };
    for at in 0..body.len() {
        assert!(!read(&body[..at]), "{at}");
    }
    assert!(!read(&[body, b"x"].concat()));
    // After the last answer and the noted limits, the checkpoint has the limits of the orders, with the same values.
    // `max_orders` decides how much memory is allocated.
    let limits = rig.gateway.orders().config();
    let limits = 4 * 3 + 1 + 8 * usize::from(limits.forget_quiet.is_some()) + 4 + 2;
    let many = 8 + 1 + limits + 2;
    assert_eq!(body[many - 2..][..4], [14, 0, 0, 0]);
    let mut bad = body.to_vec();
    for at in (0..body.len()).filter(|at| ![many, many + 1].contains(at)) {
        for bit in 0..8 {
            bad[at] ^= 1 << bit;
            read(&bad);
            bad[at] = body[at];
        }
    }
    let said = |what: &str| errors.iter().any(|error| error.contains(what));
    for what in [
        "noted limits",
        "inconsistent: limits",
        "sessions",
        "queues",
        "remembered fields",
        "extra bytes at its end",
    ] {
        assert!(said(what), "{what}: {errors:?}");
    }
}

#[test]
fn a_session_that_is_gone_and_other_limits_are_those_of_the_file() {
    let rig = busy();
    let rules = RULES
        .replace("\"BERT\"", "\"NEW\"")
        .replace("max_orders = 14", "max_orders = 90");
    let state = rig.notes.len();
    let mut other = rig.after_checkpoint(state, &rules, &OTHERS);
    assert_eq!(other.hash(), rig.hash());
    assert_eq!(other.gateway.orders().config().max_orders, 14);
    let gone: Vec<_> = OTHERS
        .iter()
        .filter(|(name, _)| *name != "BERT")
        .copied()
        .collect();
    let mut without = rig.after_checkpoint(state, &rules, &gone);
    assert_eq!(without.hash(), rig.hash());
    // From this logon on the limits of the file apply.
    without.log_on("VENUE");
    assert_eq!(without.gateway.orders().config().max_orders, 90);
    let limits = &without.shown_notes()[0];
    assert!(limits.contains("max_orders: 90,"), "{limits}");
    without.expect("VENUE", "35=8|37=V2|11=FW1|39=0|150=0|", &[]);
    assert_eq!(
        without.said(),
        ["rule 6: the client session of the message is no longer configured"]
    );
    let held = |rig: &Rig| {
        rig.gateway
            .held()
            .map(|waiting| waiting.messages)
            .sum::<u64>()
    };
    assert_eq!((held(&other), held(&rig)), (4, 4));
    // BERT is configured again.
    other.log_on("VENUE");
    let written = other.hears("VENUE", "35=8|37=V2|11=FW1|39=0|150=0|");
    assert_eq!(written, ["BERT: 35=8|37=V2|11=1|39=0|150=0|1=2|58=his|"]);
}

#[test]
fn less_room_keeps_what_is_held_and_the_newest_that_is_remembered() {
    let text = RULES
        .replace("max_orders = 14", "max_orders = 9999")
        .replace("64K", "999K");
    let mut rig = Rig::new(&text);
    for id in 0..900 {
        rig.hears(
            ["ANNA", "BERT"][id % 2],
            &format!("35=D|11={id}|55=VOD|58=text|"),
        );
    }
    rig.lose("VENUE");
    for id in 900..1500 {
        rig.hears("ANNA", &format!("35=D|11={id}|55=VOD|58=text|"));
    }
    let less = text.replace("999K", "64K");
    let mut other = rig.after_checkpoint(rig.notes.len(), &less, &SESSIONS);
    let held = |rig: &Rig| {
        rig.gateway
            .held()
            .map(|waiting| waiting.messages)
            .sum::<u64>()
    };
    assert_eq!((held(&rig), held(&other)), (600, 600));
    let (had, has) = (rig.gateway.remembered(), other.gateway.remembered());
    assert_eq!((had.orders, had.dropped), (1500, 0));
    assert_eq!(has.orders + has.dropped, 1500);
    assert!(has.orders > 400 && has.bytes <= 64 << 10, "{has:?}");
    for name in ["ANNA", "BERT", "VENUE"] {
        other.log_on(name);
    }
    other.wait(0);
    let mut recalls = |venue_id: &str| {
        let written = other.hears("VENUE", &format!("35=8|37=x|11={venue_id}|39=0|"));
        written[0].ends_with("58=text|")
    };
    assert!(recalls("1499") && recalls("899") && !recalls("0") && !recalls("1"));
}
