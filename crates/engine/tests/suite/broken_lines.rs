//! What is left when a write fails, when the journal fails, and when lines break while others send.

use crate::common;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fixwire::config::{Connection, Durability, EngineConfig, Limits, SessionConfig};
use fixwire::event::Ending;
use fixwire::host::ConnId;
use fixwire::host::sim::{SimHost, SimNet, Weather};
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::session::{self, BeginString, Role};
use fixwire::protocol::{Application, Message, Nanos, Now, Outbox, Refusal, SessionId, tag};
use fixwire::{Engine, Event, SendError};

use common::wire::{self, calm};

const MILLISECOND: Nanos = Nanos(1_000_000);
/// Where the acceptors listen.
const PORT: u16 = 1000;

/// Keeps the ClOrdID of each order, and answers each with a report.
#[derive(Clone, Default)]
struct Desk(Rc<RefCell<Vec<String>>>);

impl Application for Desk {
    fn on_message(
        &mut self,
        _: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if message.msg_type() != b"D" {
            return Ok(());
        }
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        let id = String::from_utf8_lossy(id).into_owned();
        self.0.borrow_mut().push(id);
        wire::answer(message, from, b"8", outbox)
    }
}

type Events = Arc<Mutex<Vec<Event>>>;

fn config(durability: Durability, role: Role) -> EngineConfig {
    let (own, peer): (&[u8], &[u8]) = match role {
        Role::Acceptor => (b"ENGINE", b"PEER"),
        Role::Initiator => (b"PEER", b"ENGINE"),
    };
    let mut fix = session::Config::new(BeginString::Fix42, role, own, peer);
    fix.max_latency = None;
    let connection = match role {
        Role::Acceptor => Connection::Acceptor {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
        },
        Role::Initiator => Connection::Initiator {
            hosts: vec![("127.0.0.1".to_owned(), PORT)],
            reconnect: vec![Duration::from_millis(5)],
            timeout: Duration::from_secs(1),
        },
    };
    EngineConfig {
        durability,
        segment_bytes: 64 << 10,
        max_message: 1024,
        limits: Limits {
            outbox_bytes: 4096,
            outbox_messages: 16,
            ..Limits::default()
        },
        sessions: vec![SessionConfig::new("S", fix, connection)],
        ..EngineConfig::default()
    }
}

fn start(config: EngineConfig, desk: &Desk, host: SimHost) -> (Engine<Desk, SimHost>, Events) {
    let mut engine = Engine::with_host(config, desk.clone(), host).expect("it starts");
    let events = Events::default();
    let heard = Arc::clone(&events);
    engine.on_event(move |_, event| heard.lock().unwrap().push(event.clone()));
    (engine, events)
}

fn write(net: &SimNet, conn: ConnId, messages: &[(&str, u64, &str)]) {
    for (kind, seq, body) in messages {
        wire::write(net, conn, "PEER", kind, *seq, body);
    }
}

/// MsgType, MsgSeqNum, PossDupFlag and ClOrdID of what has arrived.
fn read(net: &SimNet, conn: ConnId) -> Vec<String> {
    wire::shown(&wire::read(net, conn), &["43", "11"])
}

fn turns(engine: &mut Engine<Desk, SimHost>) {
    for _ in 0..20 {
        engine.turn().expect("it works");
    }
}

#[test]
fn a_broken_pipe_ends_the_connection_and_loses_nothing() {
    for durability in [Durability::Process, Durability::Disk] {
        let (net, desk) = (SimNet::new(1, calm(1 << 20)), Desk::default());
        let host = SimHost::new(1, &net, &SimDisk::new());
        let (mut engine, events) = start(config(durability, Role::Acceptor), &desk, host);
        let conn = net.connect(0, PORT).unwrap();
        write(&net, conn, &[("A", 1, "98=0|108=30|")]);
        turns(&mut engine);
        assert_eq!(read(&net, conn), ["A 1"]);
        // The order is read before the end of the stream, and its report finds nobody.
        write(&net, conn, &[("D", 2, "11=A|")]);
        net.close(conn);
        turns(&mut engine);
        let ended: Vec<Ending> = events
            .lock()
            .unwrap()
            .iter()
            .filter_map(|event| match event {
                Event::Disconnected { why, .. } => Some(*why),
                _ => None,
            })
            .collect();
        assert_eq!(
            ended,
            [Ending::Io(ErrorKind::BrokenPipe.into())],
            "{durability:?}"
        );
        assert_eq!(*desk.0.borrow(), ["A"]);
        let conn = net.connect(0, PORT).unwrap();
        write(
            &net,
            conn,
            &[("A", 3, "98=0|108=30|"), ("2", 4, "7=2|16=0|")],
        );
        turns(&mut engine);
        let wanted = ["A 3", "8 2 Y A", "4 3 Y"];
        assert_eq!(read(&net, conn), wanted, "{durability:?}");
        write(&net, conn, &[("D", 5, "11=B|")]);
        turns(&mut engine);
        assert_eq!(read(&net, conn), ["8 4 B"]);
        assert_eq!(*desk.0.borrow(), ["A", "B"]);
    }
}

/// Turns until the engine ends itself; what it wrote in its last turn and after it.
fn until_it_fails(
    net: &SimNet,
    conn: ConnId,
    engine: &mut Engine<Desk, SimHost>,
    mut feed: impl FnMut(),
) -> Vec<String> {
    for _ in 0..10_000 {
        feed();
        read(net, conn);
        if engine.turn().is_err() {
            (0..10).for_each(|_| drop(engine.turn()));
            return read(net, conn);
        }
    }
    panic!("the engine goes on");
}

fn has_failed(events: &Events) -> bool {
    let events = events.lock().unwrap();
    let told = events
        .iter()
        .filter(|event| matches!(event, Event::JournalFailed { .. }));
    told.count() == 1
}

#[test]
fn a_sync_that_fails_stops_the_engine_before_another_byte() {
    let (net, disk, desk) = (
        SimNet::new(1, calm(1 << 20)),
        SimDisk::new(),
        Desk::default(),
    );
    let host = SimHost::new(1, &net, &disk);
    let settings = config(Durability::Disk, Role::Acceptor);
    let (mut engine, events) = start(settings.clone(), &desk, host.clone());
    let conn = net.connect(0, PORT).unwrap();
    write(&net, conn, &[("A", 1, "98=0|108=30|")]);
    turns(&mut engine);
    assert_eq!(read(&net, conn), ["A 1"]);
    disk.fail_sync(0);
    write(&net, conn, &[("D", 2, "11=A|")]);
    let said = until_it_fails(&net, conn, &mut engine, || {});
    assert!(said.is_empty(), "{said:?}");
    assert_eq!(net.bytes_after_failed_sync(), 0);
    assert!(has_failed(&events), "{:?}", events.lock().unwrap());
    // The order was not acknowledged: the next process has it, with its report, or asks for it.
    drop(engine);
    disk.end_process();
    net.crash(1, false);
    let (mut engine, _) = start(settings, &desk, host);
    let conn = net.connect(0, PORT).unwrap();
    write(
        &net,
        conn,
        &[("A", 3, "98=0|108=30|"), ("2", 4, "7=2|16=0|")],
    );
    turns(&mut engine);
    let said = read(&net, conn);
    assert!(
        said == ["A 3", "8 2 Y A", "4 3 Y"] && *desk.0.borrow() == ["A"],
        "{said:?}"
    );
}

#[test]
fn a_record_that_cannot_be_appended_stops_the_engine_before_another_byte() {
    let (net, disk, desk) = (
        SimNet::new(1, calm(1 << 20)),
        SimDisk::new(),
        Desk::default(),
    );
    let host = SimHost::new(1, &net, &disk);
    let settings = config(Durability::Process, Role::Acceptor);
    let (mut engine, events) = start(settings, &desk, host);
    let conn = net.connect(0, PORT).unwrap();
    write(&net, conn, &[("A", 1, "98=0|108=30|")]);
    turns(&mut engine);
    assert_eq!(read(&net, conn), ["A 1"]);
    disk.set_room(Some(0));
    let mut seq = 1;
    let long = "x".repeat(500);
    let said = until_it_fails(&net, conn, &mut engine, || {
        seq += 1;
        write(&net, conn, &[("D", seq, &format!("11={seq}|58={long}|"))]);
    });
    assert!(said.is_empty(), "{said:?}");
    assert!(seq > 50, "it failed at once, at {seq}");
    assert!(has_failed(&events), "{:?}", events.lock().unwrap());
}

/// Threads that send, and the orders of each.
const THREADS: usize = 4;
const ORDERS: usize = 500;

#[test]
fn threads_that_send_while_lines_break_send_each_message_once() {
    let weather = Weather {
        splits: true,
        cuts: true,
        room: 1 << 10,
    };
    let (net, desk) = (SimNet::new(7, weather), Desk::default());
    let settings = |role| config(Durability::Process, role);
    let host = |node| SimHost::new(node, &net, &SimDisk::new());
    let (mut acceptor, _) = start(settings(Role::Acceptor), &desk, host(1));
    let (mut initiator, events) = start(settings(Role::Initiator), &Desk::default(), host(2));
    let busy = Arc::new(AtomicUsize::new(THREADS));
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let (mut handle, busy) = (initiator.handle(), Arc::clone(&busy));
            std::thread::spawn(move || {
                for number in 0..ORDERS {
                    let fields = format!("11={thread}-{number}\x01");
                    while let Err(error) = handle.send_fields(SessionId(0), b"D", fields.as_bytes())
                    {
                        assert_eq!(error, SendError::Full);
                        std::thread::yield_now();
                    }
                }
                busy.fetch_sub(1, Ordering::SeqCst);
            })
        })
        .collect();
    let (begin, mut round, mut resets) = (Instant::now(), 0_u64, 0);
    let quiet = |engine: &Engine<Desk, SimHost>| {
        engine
            .sessions()
            .all(|it| it.logged_on && it.waiting_bytes == 0)
    };
    while busy.load(Ordering::SeqCst) > 0
        || desk.0.borrow().len() < THREADS * ORDERS
        || !quiet(&initiator)
    {
        round += 1;
        net.advance(MILLISECOND);
        initiator.turn().expect("the initiator works");
        acceptor.turn().expect("the acceptor works");
        if round.is_multiple_of(29) {
            // Each connection that was made has two ends; the last one breaks.
            let events = events.lock().unwrap();
            let made = events
                .iter()
                .filter(|it| matches!(it, Event::Connected { .. }));
            if let Some(last) = made.count().checked_sub(1) {
                net.reset(ConnId(last as u32 * 2));
                resets += 1;
            }
        }
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{} came",
            desk.0.borrow().len()
        );
    }
    threads
        .into_iter()
        .for_each(|thread| thread.join().expect("it sends"));
    assert!(resets >= 3, "only {resets} lines broke");
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    for id in desk.0.borrow().iter() {
        let (thread, number) = id.split_once('-').expect("ours");
        let next = next.entry(thread.to_owned()).or_default();
        assert_eq!(number.parse(), Ok(*next), "of thread {thread}");
        *next += 1;
    }
    assert!(
        next.len() == THREADS && next.values().all(|count| *count == ORDERS),
        "{next:?}"
    );
}
