//! Random traffic, compared with a model that forgets nothing.
//!
//! The venues of the model give their own OrderIDs and answer under the ids that they received. Besides trackers that
//! get all calls, further trackers are written to checkpoints and read again during the run.

use std::collections::{HashMap, HashSet};
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use fixwire_protocol::{SessionId, Timestamp};
use proptest::prelude::*;

use super::tests::{config, draft, text};
use super::{OrderTracker, OrdersError, Out, When};

/// Ids that clients share, that look rewritten, or are too long for a venue.
const IDS: [&str; 7] = ["A", "B", "C", "D", "FW1", "FW7", "more than twelve"];
const VENUES: [SessionId; 2] = [SessionId(10), SessionId(11)];
/// A number of names with which no name is forgotten.
const LARGE: u32 = 4096;
const SMALL: u32 = 9;

#[derive(Clone, Copy, Debug)]
enum Step {
    Send {
        client: u32,
        venue: usize,
        what: usize,
        id: usize,
        other: usize,
        resend: bool,
    },
    Report {
        which: usize,
        what: usize,
        with_other_ids: bool,
    },
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let send = (
        1..4_u32,
        0..2_usize,
        0..9_usize,
        0..7_usize,
        0..7_usize,
        0..8_u8,
    )
        .prop_map(|(client, venue, what, id, other, resend)| Step::Send {
            client,
            venue,
            what,
            id,
            other,
            resend: resend == 0,
        });
    let report = (any::<usize>(), 0..REPORTS.len(), any::<bool>()).prop_map(
        |(which, what, with_other_ids)| Step::Report {
            which,
            what,
            with_other_ids,
        },
    );
    prop_oneof![10 => send, 10 => report, 1 => Just(Step::Restart)]
}

/// Reports of venues: ExecType and OrdStatus, and their meaning.
const REPORTS: [(&str, &str, Meaning); 14] = [
    ("8", "39=0|150=0", Meaning::Live),
    ("8", "39=1|150=F", Meaning::Live),
    ("8", "39=1|150=1|20=0", Meaning::Live),
    ("8", "39=1|150=H", Meaning::Live),
    ("8", "39=2|150=F", Meaning::Ended),
    ("8", "39=2|150=2|20=0", Meaning::Ended),
    ("8", "39=4|150=4", Meaning::Ended),
    ("8", "39=C|150=C", Meaning::Ended),
    ("8", "39=3", Meaning::Ended),
    ("8", "39=E|150=E", Meaning::Pending),
    ("8", "39=5|150=5", Meaning::Live),
    ("8", "39=0|150=5", Meaning::Live),
    ("9", "39=1", Meaning::Refused),
    ("9", "39=2", Meaning::RefusedAsEnded),
];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    Live,
    Ended,
    Pending,
    Refused,
    RefusedAsEnded,
}

/// The state of a name in the model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// A request without a response.
    Pending,
    /// The order may trade, or further responses are expected.
    Live,
    /// The order continues under another id.
    Replaced,
    /// No further response is expected.
    Ended,
}

impl State {
    fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::Live => true,
            Self::Replaced | Self::Ended => false,
        }
    }
}

/// The model's result for a message to a venue.
#[derive(Debug, PartialEq)]
enum Sent {
    /// The message begins an order or request.
    Begins,
    /// The message is a possible resend, and everything that it begins has begun before.
    Resends,
    /// The order or request that the message begins is already open.
    IsOpen,
    /// The message only refers to earlier requests.
    Names,
    /// The message has no id.
    HasNoId,
}

impl Sent {
    fn of(out: Out) -> Self {
        match out {
            Out::New => Self::Begins,
            Out::Again => Self::Resends,
            Out::Duplicate => Self::IsOpen,
            Out::Names => Self::Names,
            Out::Other => Self::HasNoId,
        }
    }
}

#[derive(Debug)]
struct Name {
    client: u32,
    venue: SessionId,
    kind: u32,
    own: String,
    seen: String,
    state: State,
    /// The MsgType that began the name.
    began: &'static str,
    before: Option<usize>,
    /// The first name of the order.
    root: usize,
    /// Whether the name was ever closed: the name that it was to replace may have been forgotten since.
    was_closed: bool,
}

struct World {
    small: bool,
    when: When,
    now: i64,
    orders: OrderTracker,
    restarted: OrderTracker,
    names: Vec<Name>,
    of_client: HashMap<(u32, SessionId, u32, String), usize>,
    at_venue: HashMap<(SessionId, u32, String), usize>,
    written: HashSet<(SessionId, String)>,
    /// The name with which an OrderID was last reported, by the first name of its order.
    told: HashMap<usize, usize>,
}

impl World {
    fn new(small: bool, when: When) -> Self {
        let config = config(when, if small { SMALL } else { LARGE });
        Self {
            small,
            when,
            now: 0,
            orders: OrderTracker::new(config).unwrap(),
            restarted: OrderTracker::new(config).unwrap(),
            names: Vec::new(),
            of_client: HashMap::new(),
            at_venue: HashMap::new(),
            written: HashSet::new(),
            told: HashMap::new(),
        }
    }

    fn known(&self, client: u32, venue: SessionId, kind: u32, own: &str) -> Option<usize> {
        let key = (client, venue, kind, own.to_string());
        self.of_client.get(&key).copied()
    }

    fn is_open(&self, name: Option<usize>) -> bool {
        name.is_some_and(|name| self.names[name].state.is_open())
    }

    /// Whether no later name has the same text at the same venue.
    fn is_last(&self, at: usize) -> bool {
        let name = &self.names[at];
        self.at_venue[&(name.venue, name.kind, name.seen.clone())] == at
    }

    fn step(&mut self, step: Step) {
        self.now += 1;
        match step {
            Step::Send {
                client,
                venue,
                what,
                id,
                other,
                resend,
            } => self.send(client, VENUES[venue], what, IDS[id], IDS[other], resend),
            Step::Report {
                which,
                what,
                with_other_ids,
            } => self.report(which, what, with_other_ids),
            Step::Restart => {
                let mut bytes = Vec::new();
                self.restarted.write(&mut bytes);
                let config = self.restarted.config;
                self.restarted = OrderTracker::read(&bytes, config).unwrap();
            }
        }
        assert_eq!(self.orders.state_hash(), self.restarted.state_hash());
        for name in &mut self.names {
            name.was_closed |= !name.state.is_open();
        }
        let counters = self.orders.counters();
        assert_eq!(counters, self.restarted.counters());
        assert!(counters.remembered <= u64::from(self.orders.config.max_orders));
        let roots = self.names.iter().filter(|name| name.state.is_open());
        let roots: HashSet<_> = roots
            .filter(|name| name.kind == 11)
            .map(|name| name.root)
            .collect();
        assert_eq!(counters.live, roots.len() as u64);
    }

    fn send(
        &mut self,
        client: u32,
        venue: SessionId,
        what: usize,
        id: &str,
        other: &str,
        resend: bool,
    ) {
        let resend = resend && !self.small;
        let (message, begins, names): (_, &[u32], &[u32]) = match what {
            0..3 => (format!("D|11={id}"), &[11], &[]),
            3 => (format!("G|41={other}|11={id}"), &[11], &[41]),
            4 => (format!("F|41={other}|11={id}"), &[11], &[41]),
            5 => (format!("H|11={id}"), &[], &[11]),
            6 => (format!("E|66={id}|11={id}|11={other}"), &[66, 11], &[]),
            7 => (format!("V|262={id}|263=1"), &[262], &[]),
            _ => (format!("V|262={id}|263=2"), &[], &[262]),
        };
        let named = if what == 5 { id } else { other };
        let of_order = self.known(client, venue, 11, named);
        let lost = self.small && matches!(what, 3..6) && !self.is_open(of_order);
        if lost || (matches!(what, 3 | 4) && id == other) {
            return;
        }
        let message = if resend { message + "|97=Y" } else { message };
        let before = draft(&message);
        let mut sent = before.clone();
        let mut again = before.clone();
        let (now, from) = (Timestamp(self.now), SessionId(client));
        let out = self.orders.outbound(now, from, venue, &mut sent);
        let out_again = self.restarted.outbound(now, from, venue, &mut again);
        assert_eq!((out, text(&sent)), (out_again, text(&again)));
        let fields: Vec<_> = (0..before.len())
            .map(|at| {
                let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
                (before.tag(at), text(before.value(at)), text(sent.value(at)))
            })
            .collect();
        let begun: Vec<_> = fields
            .iter()
            .filter(|(tag, ..)| begins.contains(tag))
            .map(|(tag, own, _)| self.known(client, venue, *tag, own))
            .collect();
        let duplicate = !resend && begun.iter().any(|name| self.is_open(*name));
        if out == Err(OrdersError::Full) {
            assert!(self.small && !duplicate);
            assert_eq!(text(&before), text(&sent));
            return;
        }
        let wanted = if duplicate {
            Sent::IsOpen
        } else if begun.is_empty() {
            Sent::Names
        } else if resend && begun.iter().all(Option::is_some) {
            Sent::Resends
        } else {
            Sent::Begins
        };
        assert_eq!(out.map(Sent::of), Ok(wanted), "{message}");
        if duplicate {
            assert_eq!(text(&before), text(&sent));
            return;
        }
        let type_sent = ["D", "D", "D", "G", "F", "H", "E", "V", "V"][what];
        let mut reference = None;
        for (tag, own, seen) in fields.iter().filter(|(tag, ..)| names.contains(tag)) {
            let kind = if *tag == 41 { 11 } else { *tag };
            let found = self.known(client, venue, kind, own);
            // Both names may have been forgotten, and another client may have used the text since.
            let same = |name: &usize| self.names[*name].seen == *seen && self.is_last(*name);
            let name = match found.filter(same) {
                Some(name) => name,
                None => {
                    assert!(found.is_none() || self.small, "{own} became {seen}");
                    self.begin((client, venue, kind), own, seen, "H", None)
                }
            };
            reference = Some(name).filter(|_| *tag == 41);
            if *tag == 262 {
                self.names[name].state = State::Ended;
            }
        }
        let mut here = HashSet::new();
        for (tag, own, seen) in fields.iter().filter(|(tag, ..)| begins.contains(tag)) {
            let found = self.known(client, venue, *tag, own);
            let same = (resend && found.is_some()) || here.contains(&(*tag, own));
            if same {
                assert_eq!(
                    found.map(|name| self.names[name].seen.as_str()),
                    Some(seen.as_str())
                );
                continue;
            }
            here.insert((*tag, own));
            self.begin((client, venue, *tag), own, seen, type_sent, reference);
        }
    }

    fn begin(
        &mut self,
        (client, venue, kind): (u32, SessionId, u32),
        own: &str,
        seen: &str,
        began: &'static str,
        before: Option<usize>,
    ) -> usize {
        assert!(!seen.is_empty() && seen.len() <= 12, "{seen}");
        let rewritten = seen.starts_with("FW");
        if rewritten {
            assert!(
                self.written.insert((venue, seen.to_string())),
                "{seen} again"
            );
        } else {
            assert_eq!(own, seen);
            assert_eq!(self.when, When::OnCollision);
        }
        let key = (venue, kind, seen.to_string());
        if let Some(name) = self.at_venue.get(&key) {
            let taken = &self.names[*name];
            assert!(!taken.state.is_open());
            assert!(self.small || (taken.client == client && taken.own == own));
        }
        let name = self.names.len();
        let state = match (began, kind) {
            ("D" | "E", 11) | ("V", _) => State::Live,
            ("G" | "F", _) => State::Pending,
            _ => State::Ended,
        };
        self.names.push(Name {
            client,
            venue,
            kind,
            own: own.to_string(),
            seen: seen.to_string(),
            state,
            began,
            before,
            root: before.map_or(name, |before| self.names[before].root),
            was_closed: false,
        });
        self.at_venue.insert(key, name);
        let key = (client, venue, kind, own.to_string());
        self.of_client.insert(key, name);
        name
    }

    fn report(&mut self, which: usize, what: usize, with_other_ids: bool) {
        if self.names.is_empty() {
            return;
        }
        let at = which % self.names.len();
        let name = &self.names[at];
        // A name that was answered long ago may have been forgotten, with the order that it named.
        let late = self.small && name.state != State::Pending && REPORTS[what].0 == "9";
        if late || !self.is_last(at) {
            return;
        }
        let (client, venue, kind) = (name.client, name.venue, name.kind);
        let (open, root) = (name.state.is_open(), name.root);
        self.report_by_order_id(root);
        let name = &self.names[at];
        let mut learned = None;
        let (mut report, mut expected, meaning) = match kind {
            11 => {
                let (msg_type, status, meaning) = REPORTS[what];
                let about = |id: &str| format!("{msg_type}|{status}|11={id}");
                (about(&name.seen), about(&name.own), meaning)
            }
            66 => (
                format!("N|66={}", name.seen),
                format!("N|66={}", name.own),
                Meaning::Pending,
            ),
            _ => (
                format!("W|262={}", name.seen),
                format!("W|262={}", name.own),
                Meaning::Pending,
            ),
        };
        if with_other_ids && kind == 11 && !(self.small && name.was_closed) {
            if let Some(before) = name.before.map(|before| &self.names[before]) {
                report += &format!("|41={}", before.seen);
                expected += &format!("|41={}", before.own);
            }
            let order_id = format!("|37=O{}", name.root);
            report += &order_id;
            expected += &order_id;
            if report.starts_with('8') && !self.small {
                learned = Some(name.root);
            }
        }
        let heard = self.hear(venue, &report);
        match heard {
            None => assert!(self.small && !open, "{report} was for nobody"),
            Some(heard) => {
                assert_eq!(heard, (SessionId(client), expected));
                if let Some(root) = learned {
                    self.told.insert(root, at);
                }
                if kind == 11 {
                    self.live(at, meaning);
                }
            }
        }
    }

    /// A report with only an OrderID.
    fn report_by_order_id(&mut self, root: usize) {
        let Some(name) = self.told.get(&root).map(|at| &self.names[*at]) else {
            return;
        };
        let (client, venue) = (SessionId(name.client), name.venue);
        // If the client has used the id again, only the later order is remembered.
        if self.is_last(self.told[&root]) {
            let report = format!("8|39=E|150=E|37=O{root}");
            assert_eq!(self.hear(venue, &report), Some((client, report)));
        }
    }

    fn hear(&mut self, venue: SessionId, report: &str) -> Option<(SessionId, String)> {
        let mut heard = draft(report);
        let mut again = draft(report);
        let now = Timestamp(self.now);
        let client = self.orders.inbound(now, venue, &mut heard);
        assert_eq!(client, self.restarted.inbound(now, venue, &mut again));
        assert_eq!(text(&heard), text(&again));
        client.map(|client| (client, text(&heard)))
    }

    /// Applies the meaning of a report to the names of its order.
    fn live(&mut self, at: usize, meaning: Meaning) {
        let (began, state, before) = (
            self.names[at].began,
            self.names[at].state,
            self.names[at].before,
        );
        let root = self.names[at].root;
        match meaning {
            Meaning::Ended => self.end(root),
            Meaning::Live if began == "G" && state == State::Pending => {
                self.names[at].state = State::Live;
                if let Some(before) = before {
                    self.names[before].state = State::Replaced;
                }
            }
            Meaning::Live if began != "F" && state == State::Ended => {
                self.names[at].state = State::Live;
            }
            Meaning::Live | Meaning::Pending => {}
            Meaning::Refused | Meaning::RefusedAsEnded => {
                let taken_back = began == "G" && state == State::Live;
                // An order whose id was used again is no longer remembered.
                if let Some(before) = before.filter(|name| taken_back && self.is_last(*name)) {
                    self.names[before].state = State::Live;
                }
                self.names[at].state = State::Ended;
                if meaning == Meaning::RefusedAsEnded {
                    self.end(root);
                }
            }
        }
    }

    fn end(&mut self, root: usize) {
        let open = |name: &&mut Name| name.root == root && name.state.is_open();
        for name in self.names.iter_mut().filter(open) {
            name.state = State::Ended;
        }
    }
}

fn run(small: bool, when: When, steps: Vec<Step>) {
    let mut world = World::new(small, when);
    steps.into_iter().for_each(|step| world.step(step));
}

proptest! {
    #[test]
    fn every_report_reaches_who_asked_when_all_is_rewritten(
        steps in prop::collection::vec(step(), 1..200),
    ) {
        run(false, When::Always, steps);
    }

    #[test]
    fn every_report_reaches_who_asked_when_collisions_are_rewritten(
        steps in prop::collection::vec(step(), 1..200),
    ) {
        run(false, When::OnCollision, steps);
    }

    #[test]
    fn open_orders_are_kept_when_there_is_little_room(
        steps in prop::collection::vec(step(), 1..200),
        always: bool,
    ) {
        run(true, if always { When::Always } else { When::OnCollision }, steps);
    }

    /// A checkpoint with invalid content is made on purpose.
    #[test]
    fn a_checkpoint_that_lies_is_refused_or_harmless(
        steps in prop::collection::vec(step(), 1..60),
        bent in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4),
        after in prop::collection::vec(step(), 1..60),
    ) {
        let mut world = World::new(true, When::OnCollision);
        steps.into_iter().for_each(|step| world.step(step));
        let mut bytes = Vec::new();
        world.orders.write(&mut bytes);
        let len = bytes.len();
        for (at, byte) in bent {
            bytes[at % len] = byte;
        }
        if let Ok(mut orders) = OrderTracker::read(&bytes, world.orders.config) {
            for step in after {
                if let Step::Send { client, venue, id, other, .. } = step {
                    let mut sent = draft(&format!("G|41={}|11={}", IDS[other], IDS[id]));
                    let (now, venue) = (Timestamp(0), VENUES[venue]);
                    let _ = orders.outbound(now, SessionId(client), venue, &mut sent);
                    let mut heard = draft(&format!("8|11={}|39=2|150=2|37=O0", IDS[other]));
                    let _ = orders.inbound(now, venue, &mut heard);
                }
            }
            prop_assert!(orders.counters().remembered <= u64::from(SMALL));
        }
    }

    #[test]
    fn no_bytes_make_reading_a_checkpoint_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let _ = OrderTracker::read(&bytes, config(When::Always, 8));
    }
}
