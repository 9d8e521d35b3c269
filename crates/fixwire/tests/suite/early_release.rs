//! A read of many orders, whose effects leave in groups: does a kill at any point, a venue that is lost or a session
//! that ends in the middle lose or repeat anything?

use crate::common;

use std::cell::RefCell;
use std::rc::Rc;

use fixwire::config::Durability;
use fixwire::harness::{Received, Turn, World};
use fixwire::host::ConnId;
use fixwire::host::sim::{SimNet, Weather};
use fixwire::journal::{Journal, JournalConfig, JournalPosition, RecordKind};
use fixwire::protocol::{Application, Message, Now, Outbox, Refusal, SessionId};

use common::wire;

const CLIENT: SessionId = SessionId(0);
const VENUE: SessionId = SessionId(1);
/// The ends of the first connections at the peers, which connect in this order.
const AT_CLIENT: ConnId = ConnId(0);
const AT_VENUE: ConnId = ConnId(2);
/// Orders that arrive in one read.
const ORDERS: usize = 40;

/// What the tests and the application of all processes share.
#[derive(Default)]
struct Shared {
    net: Option<SimNet>,
    /// The order at which a connection breaks, and its end at the peer.
    breaks: Option<(usize, ConnId)>,
    /// Unread bytes at the venue when each order was given to the application.
    unread: Vec<usize>,
}

/// Sends each order of the client to the venue, and a report to the client.
struct Router(Rc<RefCell<Shared>>);

impl Application for Router {
    fn on_message(
        &mut self,
        _: Now,
        from: SessionId,
        order: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let mut shared = self.0.borrow_mut();
        let shared = &mut *shared;
        if let Some(net) = &shared.net {
            if let Some((_, conn)) = shared.breaks.take_if(|(at, _)| *at == shared.unread.len()) {
                net.reset(conn);
            }
            shared.unread.push(net.unread(AT_VENUE));
        }
        assert_eq!(from, CLIENT);
        // The report is written first, and nevertheless leaves after the order.
        common::app::answer(order, CLIENT, b"8", outbox)?;
        common::app::answer(order, VENUE, b"D", outbox)
    }
}

struct Play {
    world: World<Router>,
    shared: Rc<RefCell<Shared>>,
    durability: Durability,
}

impl Play {
    /// Client and venue are logged on.
    fn new(durability: Durability) -> Self {
        let config = wire::config(durability, ["CLIENT", "VENUE"].map(wire::acceptor).into());
        let shared = Rc::new(RefCell::new(Shared::default()));
        let shares = Rc::clone(&shared);
        let mut world = World::new(&config, 1, move || Router(Rc::clone(&shares)));
        world.net().set_weather(Weather {
            splits: false,
            cuts: false,
            room: 64 << 10,
        });
        world.settle().unwrap();
        shared.borrow_mut().net = Some(world.net().clone());
        Self {
            world,
            shared,
            durability,
        }
    }

    /// The client sends orders; `but` sends something instead of an order.
    fn send(&mut self, but: Option<(usize, &str)>) {
        for order in 0..ORDERS {
            match but {
                Some((at, msg_type)) if at == order => self.world.send(CLIENT, msg_type, ""),
                _ => self.world.send(CLIENT, "D", &format!("11=A{order}|")),
            };
        }
    }

    /// Numbers of writes and syncs of the turn that reads the orders.
    fn turn(&mut self) -> (u64, u64) {
        let before = (self.world.net().writes(), self.world.disk().syncs());
        assert_eq!(self.world.turn().unwrap(), Turn::Alive);
        assert_eq!(self.shared.borrow().unread.len(), ORDERS, "one read");
        // The client has written all orders at once.
        let writes = self.world.net().writes() - before.0 - 1;
        (writes, self.world.disk().syncs() - before.1)
    }

    fn received(&mut self, session: SessionId) -> Vec<Received> {
        self.world.peer(session).received().cloned().collect()
    }

    /// Each order of the journal is one record with both effects, and nothing was received that is not in the journal.
    /// Returns the number of orders in the journal.
    fn check_journal(&mut self) -> usize {
        let sizes = JournalConfig {
            synced_before_sent: self.durability == Durability::Disk,
            ..JournalConfig::default()
        };
        let (mut journal, _) = Journal::open(self.world.disk().copy(), sizes).unwrap();
        let (mut orders, mut sent) = (Vec::new(), Vec::new());
        let reading = journal.reading().unwrap();
        for record in reading.records(JournalPosition::START) {
            let is_handled = matches!(record.kind, RecordKind::Message | RecordKind::Dequeued);
            let inbound = reading.inbound(&record).filter(|_| is_handled);
            let order = fields(inbound.unwrap_or_default());
            let effects: Vec<_> = record.effects.map(|it| fields(it.bytes)).collect();
            if order.kind == "D" {
                let ids: Vec<_> = effects.iter().map(|it| (&*it.kind, &it.id)).collect();
                assert_eq!(ids, [("8", &order.id), ("D", &order.id)]);
                orders.push(order.id);
            }
            sent.extend(effects);
        }
        let mut once = orders.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), orders.len(), "an order has two records");
        for session in [CLIENT, VENUE] {
            for message in self.received(session) {
                let found = fields(&message.bytes);
                assert!(sent.contains(&found), "not in the journal: {found:?}");
            }
        }
        orders.len()
    }

    /// In the end everybody has each order of this list once, in order.
    fn check_end(mut self, orders: impl Iterator<Item = usize>) {
        self.world.settle().unwrap();
        let wanted: Vec<_> = orders.map(|order| format!("A{order}")).collect();
        for (session, kind) in [(CLIENT, "8"), (VENUE, "D")] {
            let received = self.received(session);
            assert!(received.iter().all(|it| it.msg_type == kind));
            let ids: Vec<_> = received.iter().filter_map(|it| it.get(11)).collect();
            assert_eq!(ids, wanted);
        }
        self.world.kill();
        assert_eq!(self.check_journal(), wanted.len());
    }
}

/// MsgType, receiver, MsgSeqNum and ClOrdID of a message.
#[derive(Debug, Default, Eq, PartialEq)]
struct Fields {
    kind: String,
    to: String,
    seq: String,
    id: String,
}

fn fields(bytes: &[u8]) -> Fields {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let value = |tag: &str| {
        let fields = text.split('\x01').filter_map(|field| field.split_once('='));
        let mut found = fields.filter(|(name, _)| *name == tag);
        found.next().map(|(_, value)| value.to_owned())
    };
    let value = |tag| value(tag).unwrap_or_default();
    Fields {
        kind: value("35"),
        to: value("56"),
        seq: value("34"),
        id: value("11"),
    }
}

#[test]
fn the_first_effects_of_a_read_leave_before_its_second_order_is_handled() {
    let mut play = Play::new(Durability::Process);
    play.send(None);
    let (writes, _) = play.turn();
    let unread = play.shared.borrow().unread.clone();
    assert!(unread[0] == 0 && unread[1] > 0, "{unread:?}");
    // Groups of 1, 2, 4, 8, and the rest: a write to each of both.
    assert_eq!(writes, 10, "{unread:?}");
    play.check_end(0..ORDERS);
}

#[test]
fn with_disk_a_read_causes_one_sync_and_one_write_for_each_connection() {
    let mut play = Play::new(Durability::Disk);
    play.send(None);
    assert_eq!(play.turn(), (2, 1));
    assert!(play.shared.borrow().unread.iter().all(|it| *it == 0));
    play.check_end(0..ORDERS);
}

#[test]
fn a_kill_at_any_point_of_a_read_loses_and_repeats_nothing() {
    for durability in [Durability::Process, Durability::Disk] {
        let mut calm = Play::new(durability);
        calm.send(None);
        let before = calm.world.disk().operations();
        calm.turn();
        let operations = calm.world.disk().operations() - before;
        assert!(operations > ORDERS as u64);
        let (mut partly, mut unanswered) = (0, 0);
        for at in 0..operations {
            let mut play = Play::new(durability);
            play.send(None);
            play.world.disk().stop_after(at);
            let ended = (0..10).any(|_| play.world.turn().unwrap() != Turn::Alive);
            assert!(ended, "{at} of {operations}");
            play.world.kill();
            let journalled = play.check_journal();
            let [reports, orders] = [CLIENT, VENUE].map(|it| play.received(it).len());
            // The venue's bytes leave first.
            assert!(orders >= reports && journalled >= orders);
            partly += u32::from(0 < orders && orders < ORDERS);
            unanswered += u32::from(orders > reports);
            play.shared.borrow_mut().net = None;
            play.check_end(0..ORDERS);
        }
        assert_eq!(partly > 0, durability == Durability::Process);
        assert!(unanswered > 0, "{durability:?}");
    }
}

#[test]
fn a_venue_or_client_that_is_lost_at_any_order_of_a_read_loses_and_repeats_nothing() {
    for durability in [Durability::Process, Durability::Disk] {
        for conn in [AT_VENUE, AT_CLIENT] {
            for at in 0..ORDERS {
                let mut play = Play::new(durability);
                play.shared.borrow_mut().breaks = Some((at, conn));
                play.send(None);
                assert_eq!(play.world.turn().unwrap(), Turn::Alive);
                assert_eq!(play.shared.borrow().breaks, None);
                play.check_end(0..ORDERS);
            }
        }
    }
}

/// A Logout in the middle of a read: what precedes it is answered before the Logout, what follows it when the client
/// is back. Without early release (`disk`) everybody receives the same.
#[test]
fn a_session_that_ends_at_any_order_of_a_read_is_treated_as_without_early_release() {
    for at in 0..ORDERS {
        let received = [Durability::Process, Durability::Disk].map(|durability| {
            let mut play = Play::new(durability);
            play.send(Some((at, "5")));
            assert_eq!(play.world.turn().unwrap(), Turn::Alive);
            play.world.settle().unwrap();
            let received = [CLIENT, VENUE].map(|it| {
                let received = play.received(it);
                let received = received.iter().map(|it| fields(&it.bytes));
                received.collect::<Vec<_>>()
            });
            play.check_end((0..ORDERS).filter(|order| *order != at));
            received
        });
        assert_eq!(received[0], received[1], "{at}");
    }
}
