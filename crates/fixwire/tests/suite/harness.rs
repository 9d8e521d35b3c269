//! Does the harness find what an application does twice, forgets, or does beside its notes? And does it leave one
//! alone that does everything once?

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use fixwire::config::{Connection, Durability, EngineConfig, SessionConfig};
use fixwire::harness::{CrashKind, CrashPoint, Trial, TrialError};
use fixwire::protocol::session::{BeginString, Config, Role};
use fixwire::protocol::{
    Application, Message, Now, OperatorCommand, Outbox, Refusal, SessionId, Timestamp, tag,
};

use dealer::Dealer;

#[path = "../../../../examples/dealer/dealer.rs"]
mod dealer;

const CLIENT: SessionId = SessionId(0);
const VENUE: SessionId = SessionId(1);
const A1: &str = "11=A1|55=MSFT|54=1|38=100|40=2|44=10.5|60=20260302-08:00:00|";
const A2: &str = "11=A2|55=MSFT|54=2|38=30|40=2|44=10.4|60=20260302-08:00:01|";

/// A dealer with a mistake.
struct Careless {
    dealer: Dealer,
    mistake: Mistake,
    /// A database, which outlives the process.
    books: Books,
    /// Executions of this process.
    count: u64,
}

type Books = Rc<RefCell<Vec<String>>>;

#[derive(Clone, Copy, PartialEq)]
enum Mistake {
    None,
    /// It books each order in a database while it answers it.
    BooksAtOnce,
    /// It forgets what it did not do in this process.
    ReadsNoNotes,
    /// Its ids are counted in memory.
    CountsInMemory,
    /// It takes a possible duplicate for an order.
    TakesDuplicates,
    /// It fills an order again that comes again.
    FillsTwice,
}

impl Application for Careless {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        order: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let id = order.get(tag::CL_ORD_ID).unwrap_or_default();
        match self.mistake {
            Mistake::BooksAtOnce => {
                let id = String::from_utf8_lossy(id).into_owned();
                self.books.borrow_mut().push(id);
            }
            Mistake::CountsInMemory => {
                self.count += 1;
                let mut report = outbox.begin(from, b"8");
                report.field(tag::CL_ORD_ID, id);
                report.uint(tag::EXEC_ID, self.count);
                return report.finish().map_err(|_| Refusal::NotAvailable);
            }
            Mistake::FillsTwice => {
                let mut report = outbox.begin(from, b"8");
                report.field(tag::CL_ORD_ID, id);
                report.field(tag::LAST_QTY, order.get(tag::ORDER_QTY).unwrap_or_default());
                return report.finish().map_err(|_| Refusal::NotAvailable);
            }
            _ => {}
        }
        self.dealer.on_message(now, from, order, outbox)
    }

    fn on_poss_dup(&mut self, now: Now, from: SessionId, order: &Message<'_>, outbox: &mut Outbox) {
        if self.mistake == Mistake::TakesDuplicates {
            let _ = self.dealer.on_message(now, from, order, outbox);
        }
    }

    fn on_note(&mut self, at: Timestamp, note: &[u8]) {
        if self.mistake != Mistake::ReadsNoNotes {
            self.dealer.on_note(at, note);
        }
    }
}

fn at(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

fn session(peer: &str, connection: Connection) -> SessionConfig {
    let role = match connection {
        Connection::Acceptor { .. } => Role::Acceptor,
        Connection::Initiator { .. } => Role::Initiator,
    };
    let mut fix = Config::new(BeginString::Fix44, role, b"DEALER", peer.as_bytes());
    fix.deliver_poss_dups = true;
    SessionConfig::new(format!("DEALER->{peer}"), fix, connection)
}

fn config(durability: Durability) -> EngineConfig {
    EngineConfig {
        durability,
        sessions: vec![session("CLIENT", Connection::Acceptor { listen: at(9878) })],
        ..EngineConfig::default()
    }
}

fn trial(mistake: Mistake) -> Trial<Careless> {
    let make = move || {
        let books = Books::default();
        move || Careless {
            dealer: Dealer::default(),
            mistake,
            books: Rc::clone(&books),
            count: 0,
        }
    };
    Trial::new(config(Durability::Process), make)
        .send(CLIENT, "D", A1)
        .send(CLIENT, "D", A2)
        .send_again(CLIENT)
        .state(|careless| careless.dealer.positions().clone())
        .check(|careless, clients| {
            let mut booked = BTreeMap::<_, u32>::new();
            for id in &*careless.books.borrow() {
                *booked.entry(id.clone()).or_default() += 1;
            }
            // A2 was sent again, which the dealer has to notice.
            if let Some((id, times)) = booked
                .iter()
                .find(|(id, times)| id.as_str() == "A1" && **times > 1)
            {
                return Err(format!("{id} is booked {times} times"));
            }
            let filled: u64 = clients[0].received().filter_map(|it| it.number(32)).sum();
            match careless.mistake {
                Mistake::CountsInMemory => Ok(()),
                _ if filled == 130 && careless.dealer.fills().len() == 2 => Ok(()),
                _ => Err(format!("filled {filled} of 130")),
            }
        })
}

/// The failure that a trial finds, which is the same when it is repeated.
#[track_caller]
fn finds(mistake: Mistake, words: &str) -> TrialError {
    let error = trial(mistake).run().expect_err("it is found");
    assert!(error.what.contains(words), "{error}");
    if let Some(point) = error.point {
        let again = trial(mistake).run_point(point).expect_err("it is repeated");
        assert!(again == error, "{again}\n{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("FIXWIRE_CRASH={point}")), "{text}");
    }
    error
}

#[test]
fn an_application_without_a_mistake_passes() {
    let tally = trial(Mistake::None).seeds(3).run().unwrap();
    assert!(tally.kills > 200 && tally.handed_again > 50, "{tally}");
    assert!(tally.during_recovery > 0, "{tally}");
}

#[test]
fn what_is_done_outside_of_the_outbox_is_found_to_be_done_twice() {
    let error = finds(Mistake::BooksAtOnce, "A1 is booked 2 times");
    assert_eq!(error.point.map(|point| point.fault), Some(CrashKind::Kill));
    let passed = error.trace.iter().any(|line| line.contains("|11=A1|"));
    assert!(passed, "{:#?}", error.trace);
}

#[test]
fn state_that_is_not_made_of_notes_is_found_to_be_lost() {
    let error = finds(
        Mistake::ReadsNoNotes,
        "the state after recovery matches no state before it\n  before: {\"MSFT\": -70}\n  after:  {}",
    );
    // No crash point is needed for that.
    assert_eq!(error.point, None);
    assert_eq!(error.step, "kill -9 after the last step");
}

#[test]
fn ids_that_a_second_process_gives_out_again_are_found() {
    let words = "about A2 the peer of DEALER->CLIENT has received 2 messages, without a crash 2";
    let error = finds(Mistake::CountsInMemory, words);
    assert!(error.what.contains("17=1|"), "{}", error.what);
}

#[test]
fn a_possible_duplicate_that_is_answered_is_found() {
    let words = "about A2 the peer of DEALER->CLIENT has received 3 messages, without a crash 2";
    finds(Mistake::TakesDuplicates, words);
}

#[test]
fn an_order_that_is_filled_whenever_it_comes_is_found_without_a_crash() {
    let error = finds(Mistake::FillsTwice, "filled 160 of 130");
    assert_eq!(error.point, None);
}

/// Passes orders of the client on to the venue and reports back, and sends news once for each command.
#[derive(Default)]
struct Relay {
    told: Vec<String>,
}

impl Application for Relay {
    fn on_message(
        &mut self,
        _: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let to = if from == CLIENT { VENUE } else { CLIENT };
        let mut body = outbox.begin(to, message.msg_type());
        body.field(
            tag::CL_ORD_ID,
            message.get(tag::CL_ORD_ID).unwrap_or_default(),
        );
        body.finish().map_err(|_| Refusal::NotAvailable)
    }

    fn on_note(&mut self, _: Timestamp, note: &[u8]) {
        self.told.push(String::from_utf8_lossy(note).into_owned());
    }

    fn on_command(
        &mut self,
        _: Now,
        command: OperatorCommand<'_>,
        _: &mut Vec<u8>,
        outbox: &mut Outbox,
    ) -> Result<(), String> {
        let command = command.bytes;
        let id = String::from_utf8_lossy(command).into_owned();
        if !self.told.contains(&id) {
            outbox.note(command).map_err(|error| error.to_string())?;
            let mut news = outbox.begin(CLIENT, b"B");
            news.field(tag::CL_ORD_ID, command);
            news.finish().map_err(|error| error.to_string())?;
            self.told.push(id);
        }
        Ok(())
    }
}

#[test]
fn every_kind_of_step_and_crash_is_played_with_sessions_of_both_roles() {
    let hosts = Connection::Initiator {
        hosts: vec![("127.0.0.1".to_owned(), 9879)],
        reconnect: vec![Duration::from_secs(5)],
        timeout: Duration::from_secs(5),
    };
    let mut config = config(Durability::Disk);
    config.sessions.push(session("VENUE", hosts));
    let trial = Trial::new(config, || Relay::default)
        .send(CLIENT, "D", "11=A1|")
        .disconnect(VENUE)
        .command(b"N1")
        .pass(fixwire::protocol::Nanos::from_secs(40))
        .send(VENUE, "8", "11=A1|39=2")
        .state(|relay| relay.told.clone());
    let tally = trial.run().unwrap();
    let all = [
        tally.kills,
        tally.power_cuts,
        tally.failed_syncs,
        tally.during_recovery,
    ];
    assert!(all.iter().all(|count| *count > 5), "{tally}");
    assert!(tally.handed_again > 0, "{tally}");
}

#[test]
fn what_cannot_be_tried_is_refused() {
    let refused = |trial: Trial<Relay>, words: &str| {
        let error = trial.run().unwrap_err();
        assert!(error.what.contains(words), "{error}");
    };
    let relay = || Relay::default;
    refused(
        Trial::new(config(Durability::Memory), relay),
        "Durability::Memory keeps nothing across a crash",
    );
    let mut resets = config(Durability::Process);
    resets.sessions[0].session.reset_on.logon = true;
    refused(
        Trial::new(resets, relay),
        "sequence numbers of DEALER->CLIENT reset",
    );
    let trial = || Trial::new(config(Durability::Process), relay);
    refused(trial().send(VENUE, "D", A1), "unknown session 1");
    refused(trial().send_again(CLIENT), "no message to resend");
    let mut nobody = config(Durability::Process);
    nobody.sessions.clear();
    refused(Trial::new(nobody, relay), "the engine ended: ");
}

/// Panics at an order that it knows from a note.
#[derive(Default)]
struct Nervous {
    has_notes: bool,
}

impl Application for Nervous {
    fn on_message(
        &mut self,
        _: Now,
        _: SessionId,
        order: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        assert!(!self.has_notes, "it knows {:?}", order.msg_type());
        outbox.note(b"x").map_err(|_| Refusal::NotAvailable)
    }

    fn on_note(&mut self, _: Timestamp, _: &[u8]) {
        self.has_notes = true;
    }
}

#[test]
fn a_panic_is_found_with_its_crash_point() {
    let error = Trial::new(config(Durability::Process), || Nervous::default)
        .send(CLIENT, "D", A1)
        .send(CLIENT, "D", A2)
        .run()
        .unwrap_err();
    assert!(
        error.what.starts_with("the engine ended: panic: it knows "),
        "{error}"
    );
    let point = error.point.expect("without a crash nobody has notes");
    assert_eq!(CrashPoint::parse(&point.to_string()), Some(point));
}
