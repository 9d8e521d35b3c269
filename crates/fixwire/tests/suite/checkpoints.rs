//! Checkpoints of an application's state: with the later notes they give the same state as all notes, whenever
//! the process ends or the power is cut, and whatever is damaged.

use crate::common;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use fixwire::config::{Durability, EngineConfig};
use fixwire::harness::Random;
use fixwire::host::ConnId;
use fixwire::host::sim::{SimHost, SimNet};
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{self, FoldStep, Journal, JournalTrouble, Retention, Stored};
use fixwire::protocol::outbox::stored_note;
use fixwire::protocol::{
    Application, Ledger, Message, Nanos, Now, Outbox, Refusal, SessionId, Timestamp, tag,
};
use fixwire::{Engine, EngineError, Event};

use common::app::answer;
use common::events;
use common::wire::{self, PORT, calm, turns};

/// The state that orders make: a number for each symbol, which depends on their order, and the time of the last one.
#[derive(Clone, Debug, Default, Hash)]
pub struct Book {
    symbols: BTreeMap<Vec<u8>, u64>,
    orders: u64,
    last: i64,
}

impl Book {
    fn add(&mut self, at: Timestamp, order: &[u8]) {
        let (id, symbol) = order.split_at(order.len() - 1);
        let number: u64 = str::from_utf8(id).unwrap().trim().parse().unwrap();
        let known = self.symbols.entry(symbol.to_vec()).or_default();
        *known = known.wrapping_mul(31).wrapping_add(number);
        self.orders += 1;
        self.last = at.0;
    }

    pub fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        Hash::hash(self, &mut hasher);
        hasher.finish()
    }

    fn read(version: u32, state: &[u8]) -> Result<Self, String> {
        if version != VERSION {
            return Err(format!("it has version {version}, and this is {VERSION}"));
        }
        let (head, rest) = state.split_at_checked(16).ok_or("it is too short")?;
        let long = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap());
        let mut book = Self {
            orders: long(0),
            last: long(8).cast_signed(),
            ..Self::default()
        };
        for entry in rest.chunks_exact(9) {
            let number = u64::from_le_bytes(entry[1..].try_into().unwrap());
            book.symbols.insert(entry[..1].to_vec(), number);
        }
        Ok(book)
    }
}

pub const VERSION: u32 = 3;

impl Ledger for Book {
    fn form(&self) -> (&'static str, u32) {
        ("book", VERSION)
    }

    fn apply(&mut self, at: Timestamp, note: &[u8]) {
        self.add(at, note);
    }

    fn write(&self, put: &mut dyn FnMut(&[u8])) {
        put(&self.orders.to_le_bytes());
        put(&self.last.to_le_bytes());
        for (symbol, number) in &self.symbols {
            put(symbol);
            put(&number.to_le_bytes());
        }
    }

    fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        *self = Self::read(version, state)?;
        Ok(())
    }

    fn hash(&self) -> u64 {
        self.hash()
    }
}

/// Notes each order and reports it.
#[derive(Default)]
pub struct Desk {
    pub book: Book,
    /// It has no ledger: all notes are to stay.
    plain: bool,
    pub replayed: u64,
}

impl Application for Desk {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        let symbol = b'A' + id.last().unwrap_or(&0) % 60;
        let note = [b" ".repeat(200).as_slice(), id, &[symbol]].concat();
        outbox.note(&note).map_err(|_| Refusal::NotAvailable)?;
        answer(message, from, b"8", outbox)?;
        self.book.add(now.wall, &note);
        Ok(())
    }

    fn on_note(&mut self, at: Timestamp, note: &[u8]) {
        self.replayed += 1;
        self.book.add(at, note);
    }

    fn ledger(&self) -> Option<Box<dyn Ledger>> {
        (!self.plain).then(|| Box::new(Book::default()) as Box<dyn Ledger>)
    }

    fn on_checkpoint(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.book = Book::read(version, state)?;
        Ok(())
    }

    fn state_hash(&self) -> Option<u64> {
        Some(self.book.hash())
    }
}

const SEGMENT: usize = 24 << 10;

pub fn config(durability: Durability) -> EngineConfig {
    EngineConfig {
        segment_bytes: SEGMENT,
        retention: Some(Retention {
            keep: Some(Nanos::from_secs(30)),
            resend: Some(Nanos::from_secs(5)),
            compress: false,
        }),
        max_message: 512,
        limits: wire::outbox(2 << 10, 16),
        ..wire::config(durability, vec![wire::acceptor("PEER")])
    }
}

type DeskEngine = Engine<Desk, SimHost, SimDisk>;

fn start(
    durability: Durability,
    net: &SimNet,
    disk: &SimDisk,
    app: Desk,
) -> Result<DeskEngine, EngineError> {
    Engine::simulated(config(durability), app, SimHost::new(1, net, disk))
}

/// A peer that sends orders one by one, a second apart, and folds after each as far as that goes.
struct World {
    net: SimNet,
    disk: SimDisk,
    durability: Durability,
    /// The number of the operations, and of those in which something was folded.
    operations: Vec<u64>,
    /// The state after each order.
    states: Vec<u64>,
    made: Vec<u32>,
}

impl World {
    fn new(durability: Durability) -> Self {
        Self {
            net: SimNet::new(1, calm(1 << 20)),
            disk: SimDisk::new(),
            durability,
            operations: Vec::new(),
            states: vec![Book::default().hash()],
            made: Vec::new(),
        }
    }

    fn start(&self) -> DeskEngine {
        start(self.durability, &self.net, &self.disk, Desk::default()).expect("it starts")
    }

    fn log_on(&self, engine: &mut DeskEngine) -> ConnId {
        let (next, _) = wire::numbers(engine)[0];
        let conn = self.net.connect(0, PORT).expect("it listens");
        wire::write(&self.net, conn, "PEER", "A", next, "98=0|108=0|");
        (0..20).for_each(|_| drop(engine.turn()));
        wire::read(&self.net, conn);
        conn
    }

    /// Sends this number of orders; returns how many were reported when the machine stopped.
    fn trade(&mut self, engine: &mut DeskEngine, conn: ConnId, orders: u64) -> u64 {
        let mut reported = 0;
        for _ in 0..orders {
            let seq = wire::numbers(engine)[0].0;
            wire::write(&self.net, conn, "PEER", "D", seq, &format!("11={seq}|"));
            if engine.turn().is_err() || engine.turn().is_err() {
                break;
            }
            let heard = wire::shown(&wire::read(&self.net, conn), &["11"]);
            let heard = heard
                .iter()
                .filter(|report| report.starts_with('8'))
                .count();
            reported += heard as u64;
            self.states.push(engine.application_mut().book.hash());
            self.net.advance(Nanos::from_secs(1));
            self.fold();
            if self.disk.has_stopped() {
                break;
            }
        }
        reported
    }

    fn fold(&mut self) {
        let before = self.disk.operations();
        while let Some(Ok(step)) = self.disk.fold_step() {
            match step {
                FoldStep::Waits => break,
                FoldStep::Folded => {}
                FoldStep::Made { segment, .. } => self.made.push(segment),
            }
        }
        let steps = before + 1..=self.disk.operations();
        self.operations.extend(steps);
    }

    /// The process ends, and with some seeds the power is cut.
    fn crash(&self, engine: DeskEngine, power: Option<u64>) {
        self.net.crash(1, power.is_some());
        drop(engine);
        match power {
            Some(seed) => {
                let mut random = Random::new(seed);
                self.disk.cut_power(|choices| random.place(choices));
            }
            None => self.disk.end_process(),
        }
    }

    /// The state of all notes that the journal ever had, folded from nothing.
    fn folded_anew(&self) -> Book {
        let config = journal::JournalConfig {
            segment_bytes: SEGMENT,
            synced_before_sent: self.durability == Durability::Disk,
            ..journal::JournalConfig::default()
        };
        let (mut journal, _) = Journal::open(self.disk.copy_unretired(), config).unwrap();
        let notes = journal
            .sessions()
            .find(|(_, name, _)| journal::is_notes(name));
        let mut book = Book::default();
        let Some((id, _, counters)) = notes else {
            return book;
        };
        let mut replay = journal.replay(id, 1, counters.next_out - 1);
        while let Some(stored) = journal.next_of(&mut replay).unwrap() {
            let Stored::Message { bytes, .. } = stored else {
                panic!("{stored:?}");
            };
            let (at, note) = stored_note(bytes).unwrap();
            book.add(at, note);
        }
        book
    }
}

/// Trades until the machine stops after this number of operations, restarts, and compares the state with the
/// engine's earlier one, with the state from all notes, and with the state after more trading. Returns the world.
fn stop_after(operations: u64, durability: Durability, power: Option<u64>) -> World {
    const ORDERS: u64 = 280;
    let mut world = World::new(durability);
    let mut engine = world.start();
    let conn = world.log_on(&mut engine);
    world.disk.stop_after(operations);
    let reported = world.trade(&mut engine, conn, ORDERS);
    let states = std::mem::take(&mut world.states);
    world.crash(engine, power);

    let what = format!("stopped after {operations}, {durability:?}, power cut {power:?}");
    let all = world.folded_anew();
    let mut engine = world.start();
    let book = engine.application_mut().book.clone();
    assert_eq!(book.hash(), all.hash(), "{what}: {book:?} {all:?}");
    assert!(
        book.orders >= reported,
        "{what}: {} of {reported}",
        book.orders
    );
    // The last order may be in the journal though the engine did not finish with it.
    if let Some(state) = states.get(book.orders as usize) {
        assert_eq!(book.hash(), *state, "{what}");
    }
    let conn = world.log_on(&mut engine);
    world.states = vec![0; book.orders as usize + 1];
    world.trade(&mut engine, conn, 60);
    if let Some((note, hash)) = world.disk.folded()
        && note > book.orders
    {
        assert_eq!(hash, world.states[note as usize], "{what}: folded");
    }
    world
}

#[test]
fn at_every_crash_point_checkpoint_and_rest_make_what_all_notes_make() {
    let whole = stop_after(u64::MAX / 2, Durability::Process, None);
    assert!(whole.made.len() >= 4, "{:?}", whole.made);
    assert_eq!(whole.disk.checkpoints().len(), 2);
    assert_eq!(whole.disk.copy().read(1), None, "old segments go");
    let folding = whole.operations;
    let last = *folding.last().unwrap();
    for operations in 0..last {
        let is_near = folding.iter().any(|at| at.abs_diff(operations) < 3);
        if is_near || operations % 3 == 0 {
            stop_after(operations, Durability::Process, None);
        }
        if is_near || operations % 5 == 0 {
            stop_after(operations, Durability::Disk, Some(operations));
        }
    }
}

/// A world with checkpoints, at whose end the process has ended.
fn traded() -> World {
    let mut world = World::new(Durability::Process);
    let mut engine = world.start();
    let conn = world.log_on(&mut engine);
    world.trade(&mut engine, conn, 280);
    world.crash(engine, None);
    world
}

#[test]
fn a_start_reads_the_newest_checkpoint_and_only_the_notes_behind_it() {
    let world = traded();
    let mut engine = world.start();
    let Desk { book, replayed, .. } = engine.application_mut();
    assert_eq!(Book::hash(book), *world.states.last().unwrap());
    assert!(*replayed < 60, "{replayed}");
}

#[test]
fn a_damaged_checkpoint_makes_way_for_the_one_before_and_two_are_refused() {
    let world = traded();
    let (disk, wanted) = (&world.disk, *world.states.last().unwrap());
    let files = disk.checkpoints();
    let [older, newer] = [files.keys().min(), files.keys().max()].map(|it| *it.unwrap());
    let flip = |number: u32, at: usize| {
        let mut bytes = files[&number].clone();
        bytes[at] ^= 4;
        disk.write_checkpoint(number, Some(bytes));
    };
    for at in (0..files[&newer].len()).step_by(3) {
        flip(newer, at);
        let mut engine = world.start();
        assert_eq!(engine.application_mut().book.hash(), wanted, "byte {at}");
        let events = events(&mut engine);
        let told = events.lock().unwrap().clone();
        let name = format!("{newer:08}.fwk");
        assert!(
            told.iter()
                .any(|event| matches!(event, Event::JournalTrouble {
                trouble: JournalTrouble::NotRecalled { file, why },
            } if file.ends_with(&name) && why.contains("damaged at byte"))),
            "byte {at}: {told:?}"
        );
    }
    flip(older, 200);
    let operations = disk.operations();
    let error = start(Durability::Process, &world.net, disk, Desk::default()).unwrap_err();
    let text = error.to_string();
    for part in [older, newer].map(|number| format!("{number:08}.fwk: damaged at byte ")) {
        assert!(text.contains(&part), "{text}");
    }
    assert!(text.contains("restore the checkpoint files"), "{text}");
    // Only where files were listed and nothing was written.
    assert!(disk.operations() - operations < 4);
    // With one of them back all is there again.
    disk.write_checkpoint(older, Some(files[&older].clone()));
    let mut engine = world.start();
    assert_eq!(engine.application_mut().book.hash(), wanted);
    drop(engine);
    disk.end_process();
    for number in [older, newer] {
        disk.write_checkpoint(number, None);
    }
    let error = start(Durability::Process, &world.net, disk, Desk::default()).unwrap_err();
    assert!(
        error.to_string().contains("has no checkpoint file"),
        "{error}"
    );
}

#[test]
fn a_checkpoint_of_another_journal_or_application_is_not_used() {
    let (world, other) = (traded(), traded());
    let (disk, wanted) = (&world.disk, *world.states.last().unwrap());
    let files = disk.checkpoints();
    let newest = *files.keys().max().unwrap();
    // It has the numbers of the other world, but other salts.
    let mut engine = {
        let disk = SimDisk::new();
        let _ = journal::Disk::salt(&mut disk.clone());
        let mut foreign = World {
            disk,
            ..World::new(Durability::Process)
        };
        let mut engine = foreign.start();
        let conn = foreign.log_on(&mut engine);
        foreign.trade(&mut engine, conn, 280);
        let bytes = foreign.disk.checkpoints().remove(&newest).unwrap();
        other.disk.write_checkpoint(newest, Some(bytes));
        other.start()
    };
    assert_eq!(engine.application_mut().book.hash(), wanted);
    let told = events(&mut engine);
    let told = format!("{:?}", told.lock().unwrap());
    assert!(told.contains("belongs to another journal"), "{told}");
    drop(engine);
    other.disk.end_process();

    let app = Desk {
        plain: true,
        ..Desk::default()
    };
    let error = start(Durability::Process, &world.net, disk, app).unwrap_err();
    assert!(error.to_string().contains("were retired"), "{error}");
}

/// Traffic without notes: this number of TestRequests, a second apart.
fn idle(world: &mut World, engine: &mut DeskEngine, conn: ConnId, requests: u64, folds: bool) {
    for _ in 0..requests {
        let seq = wire::numbers(engine)[0].0;
        let id = "x".repeat(200);
        wire::write(&world.net, conn, "PEER", "1", seq, &format!("112={id}|"));
        turns(engine);
        wire::read(&world.net, conn);
        world.net.advance(Nanos::from_secs(1));
        if folds {
            world.fold();
        }
    }
}

/// Segments without a note follow a checkpoint: the journal could do without them, and it may not.
#[test]
fn the_segment_of_a_checkpoint_stays_when_little_is_noted() {
    let mut world = World::new(Durability::Process);
    let mut engine = world.start();
    let conn = world.log_on(&mut engine);
    for _ in 0..4 {
        idle(&mut world, &mut engine, conn, 100, true);
        world.trade(&mut engine, conn, 6);
    }
    idle(&mut world, &mut engine, conn, 100, true);
    let wanted = *world.states.last().unwrap();
    world.crash(engine, None);
    let newest = *world.disk.checkpoints().keys().max().unwrap();
    world.disk.write_checkpoint(newest, None);
    for _ in 0..2 {
        let mut engine = world.start();
        let conn = world.log_on(&mut engine);
        assert_eq!(engine.application_mut().book.hash(), wanted);
        // The thread that folds has not come to it yet.
        idle(&mut world, &mut engine, conn, 200, false);
        world.crash(engine, None);
    }
}

#[test]
fn a_checkpoint_behind_the_end_of_a_restored_journal_is_not_used() {
    let mut world = World::new(Durability::Process);
    let mut engine = world.start();
    let conn = world.log_on(&mut engine);
    world.trade(&mut engine, conn, 200);
    let backup = world.disk.copy();
    let wanted = *world.states.last().unwrap();
    world.trade(&mut engine, conn, 200);
    let (number, bytes) = world.disk.checkpoints().pop_last().unwrap();
    assert!(!backup.checkpoints().contains_key(&number));
    backup.write_checkpoint(number, Some(bytes));
    world.crash(engine, None);
    world.disk = backup;
    let mut engine = world.start();
    assert_eq!(engine.application_mut().book.hash(), wanted);
    let told = format!("{:?}", events(&mut engine).lock().unwrap());
    assert!(told.contains("beyond the end of the journal"), "{told}");
    // The next one of that number is of this journal.
    let conn = world.log_on(&mut engine);
    world.states = vec![0; 201];
    world.trade(&mut engine, conn, 280);
    let wanted = *world.states.last().unwrap();
    world.crash(engine, None);
    let mut engine = world.start();
    assert_eq!(engine.application_mut().book.hash(), wanted);
    assert!(engine.application_mut().replayed < 60);
}

#[test]
fn an_application_without_a_ledger_keeps_all_its_notes() {
    let world = World::new(Durability::Process);
    let plain = || Desk {
        plain: true,
        ..Desk::default()
    };
    let mut engine = start(Durability::Process, &world.net, &world.disk, plain()).unwrap();
    let conn = world.log_on(&mut engine);
    let mut world = world;
    world.trade(&mut engine, conn, 200);
    world.crash(engine, None);
    assert!(world.disk.checkpoints().is_empty());
    let mut engine = start(Durability::Process, &world.net, &world.disk, plain()).unwrap();
    assert_eq!(engine.application_mut().replayed, 200);
    // One that has a ledger now folds them all.
    drop(engine);
    world.disk.end_process();
    let mut engine = world.start();
    assert_eq!(engine.application_mut().replayed, 200);
    world.fold();
    assert_eq!(world.disk.checkpoints().len(), 2);
    drop(engine);
    world.disk.end_process();
    assert!(world.start().application_mut().replayed < 60);
}

#[test]
fn a_clean_stop_notes_the_hash_that_the_next_fold_and_start_must_reach() {
    let mut world = World::new(Durability::Process);
    let mut engine = world.start();
    let conn = world.log_on(&mut engine);
    world.trade(&mut engine, conn, 100);
    engine.handle().stop().unwrap();
    while !engine.is_done() {
        turns(&mut engine);
        world.net.advance(Nanos::from_secs(1));
    }
    world.crash(engine, None);
    let mut engine = world.start();
    assert_eq!(common::events(&mut engine).lock().unwrap().len(), 1);
    let conn = world.log_on(&mut engine);
    world.trade(&mut engine, conn, 100);
    let (note, hash) = world.disk.folded().unwrap();
    assert_eq!(hash, world.states[note as usize]);
    world.crash(engine, None);
    // An engine whose state is not what its notes say.
    let mut engine = world.start();
    engine.application_mut().book.orders += 1;
    engine.handle().stop().unwrap();
    while !engine.is_done() {
        turns(&mut engine);
    }
    world.crash(engine, None);
    let mut engine = world.start();
    let told = events(&mut engine);
    let told = format!("{:?}", told.lock().unwrap());
    assert!(told.contains("give a state with hash"), "{told}");
    let conn = world.log_on(&mut engine);
    let before = world.disk.checkpoints();
    world.trade(&mut engine, conn, 200);
    assert_eq!(world.disk.checkpoints(), before, "all stays as it is");
}
