//! What happens to one order between two sockets, stage by stage, without the sockets.
//!
//! `bench parse-log` times these stages, and the instruction counts of the project are counted on
//! them. Input: the published order, hot in cache, so figures are a floor of what a running engine
//! needs.

use std::sync::Arc;

use fixwire::journal::{Cause, Disk, Effect, Journal, JournalId, Kind};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::dictionary::validate::{self, Rules, Scratch};
use fixwire_protocol::session::{BeginString, Config, Role, Verdict};
use fixwire_protocol::{
    Application, Decoder, Dictionary, Frame, HeaderTemplate, Message, Mono, Now, Outbox, Prepared,
    SOH, Session, SessionId, Slot, Tag, Timestamp, frame, tag,
};

use crate::error::Error;
use crate::scenario::{Echo, OrderWriter, write_report};

/// A part of the work on one order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// Finds its end in the stream, checks CheckSum and BodyLength, splits it into fields.
    Parse,
    /// [`Stage::Parse`], then every rule of the dictionary.
    Validate,
    /// [`Stage::Parse`], then everything a session checks, the dictionary included.
    Receive,
    /// [`Stage::Validate`], then one journal record of it.
    Log,
    /// Writes its report and seals it. No order is read.
    Report,
    /// [`Stage::Report`] from a prepared body, in which ClOrdID is changed.
    Prepared,
    /// All an acceptor does: parse, session, application, report, seal, one journal record of both.
    Whole,
}

impl Stage {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Parse,
        Self::Validate,
        Self::Receive,
        Self::Log,
        Self::Report,
        Self::Prepared,
        Self::Whole,
    ];

    /// Its name in files and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Validate => "parse+validate",
            Self::Receive => "parse+receive",
            Self::Log => "parse+validate+log",
            Self::Report => "report",
            Self::Prepared => "report-prepared",
            Self::Whole => "whole",
        }
    }

    /// The stage of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

/// An acceptor of one session without its sockets, and the order that it gets again and again.
pub struct HotPath<D: Disk> {
    order: NumberedOrder,
    decoder: Decoder,
    dictionary: Arc<Dictionary>,
    rules: Rules,
    scratch: Scratch,
    session: Session,
    header: HeaderTemplate,
    outbox: Outbox,
    prepared: Prepared,
    cl_ord_id: Slot,
    journal: Journal<D>,
    id: JournalId,
    now: Now,
}

const SESSION: SessionId = SessionId(0);
/// Longest message taken.
const MAX_MESSAGE: usize = 64 << 10;
/// ClOrdID(11) of the reports.
const CL_ORD_ID: &[u8] = b"1795253164123456789";
/// When everything here happens.
const TIME: &[u8] = b"20260821-13:30:00.123";
/// MsgSeqNum of the Logon: all have six digits.
const FIRST_SEQ: u64 = 100_000;
/// Most orders of one [`HotPath`].
pub const MOST_ORDERS: u64 = 899_000;

impl<D: Disk> HotPath<D> {
    /// Logs a session on and prepares the order.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn new(mut journal: Journal<D>) -> Result<Self, Error> {
        let journal_error =
            |error: fixwire::journal::JournalError| Error::Engine(error.to_string());
        let wall = Timestamp::parse(TIME).map_err(|error| Error::Engine(error.to_string()))?;
        let now = Now {
            wall,
            mono: Mono(1),
        };
        let dictionary = Arc::new(Dictionary::built_in(Version::Fix42));
        let mut config = Config::new(BeginString::Fix42, Role::Acceptor, b"EXEC", b"BENCH");
        config.dictionary = Some(dictionary.clone());
        let rules = config.rules;
        let mut session = Session::new(SESSION, config);
        session.restore(1, FIRST_SEQ, 0);

        let peer = HeaderTemplate::new(b"FIX.4.2", b"BENCH", b"EXEC", &[]);
        let header = HeaderTemplate::new(b"FIX.4.2", b"EXEC", b"BENCH", &[]);
        let mut outbox = Outbox::new(64 << 10, 64, header.room());
        let mut decoder = Decoder::with_capacity(256);

        let mut logon = outbox.begin(SESSION, b"A");
        logon
            .uint(tag::ENCRYPT_METHOD, 0)
            .uint(tag::HEART_BT_INT, 30);
        logon
            .finish()
            .map_err(|_| Error::Engine("the outbox is too small".to_owned()))?;
        outbox.seal(0, &peer, FIRST_SEQ, TIME);
        let bytes = outbox.sealed(0).to_vec();
        OrderWriter::default()
            .write(&mut outbox, SESSION, wall.0 as u64, wall)
            .map_err(|_| Error::Engine("the outbox is too small".to_owned()))?;
        outbox.seal(1, &peer, FIRST_SEQ + 1, TIME);
        let order = NumberedOrder::new(outbox.sealed(1).to_vec());
        outbox.clear();

        let _ = session.connected(now, &mut outbox);
        let _ = session.receive(now, &decoder.decode(&bytes), &mut outbox);
        for index in outbox.unsealed() {
            session.seal(now, &mut outbox, index);
        }
        outbox.clear();
        if !session.is_logged_on() {
            return Err(Error::Session(
                "the session did not take its Logon".to_owned(),
            ));
        }
        let (prepared, cl_ord_id) = prepare(&mut outbox)?;
        let id = journal
            .register(wall, "FIX.4.2:EXEC->BENCH")
            .map_err(journal_error)?;
        Ok(Self {
            order,
            decoder,
            dictionary,
            rules,
            scratch: Scratch::default(),
            session,
            header,
            outbox,
            prepared,
            cl_ord_id,
            journal,
            id,
            now,
        })
    }

    /// Goes through a stage once, with the next order. At most [`MOST_ORDERS`] times.
    ///
    /// # Errors
    ///
    /// The order was not taken, which a test rules out, or the journal is full.
    #[inline]
    pub fn run(&mut self, stage: Stage) -> Result<(), Error> {
        match stage {
            Stage::Report => return self.report(),
            Stage::Prepared => return self.prepared_report(),
            _ => {}
        }
        let bytes = self.order.next();
        let Frame::Whole { skip: 0, len } = frame::next(bytes, MAX_MESSAGE) else {
            return Err(refused("frame"));
        };
        let message = self.decoder.decode(&bytes[..len]);
        match stage {
            Stage::Parse | Stage::Report | Stage::Prepared => {
                std::hint::black_box(message);
                Ok(())
            }
            Stage::Validate | Stage::Log => {
                if message.fault().is_some()
                    || validate::check(&self.dictionary, &message, &self.rules, &mut self.scratch)
                        .is_err()
                {
                    return Err(refused("dictionary"));
                }
                if stage == Stage::Log {
                    let cause = cause(self.id, &self.session, &message);
                    self.journal
                        .append(self.now.wall, cause, std::iter::empty())
                        .map_err(|error| Error::Engine(error.to_string()))?;
                }
                Ok(())
            }
            Stage::Receive | Stage::Whole => {
                let verdict = self.session.receive(self.now, &message, &mut self.outbox);
                if verdict != Verdict::Deliver {
                    return Err(refused("session"));
                }
                if stage == Stage::Whole {
                    Echo.on_message(self.now, SESSION, &message, &mut self.outbox)
                        .map_err(|_| refused("application"))?;
                    self.session.seal(self.now, &mut self.outbox, 0);
                    let effect = Effect {
                        session: self.id,
                        seq: self.outbox.entries()[0].seq,
                        bytes: self.outbox.sealed(0),
                    };
                    self.journal
                        .append(
                            self.now.wall,
                            cause(self.id, &self.session, &message),
                            std::iter::once(effect),
                        )
                        .map_err(|error| Error::Engine(error.to_string()))?;
                    self.outbox.clear();
                }
                Ok(())
            }
        }
    }

    /// Work of the journal that an engine does when nothing waits for it.
    pub fn rest(&mut self) {
        self.journal.idle_work();
    }

    fn report(&mut self) -> Result<(), Error> {
        write_report(&mut self.outbox, SESSION, CL_ORD_ID).map_err(|_| refused("outbox"))?;
        self.seal_report();
        Ok(())
    }

    fn prepared_report(&mut self) -> Result<(), Error> {
        self.prepared
            .set(self.cl_ord_id, CL_ORD_ID)
            .and_then(|()| self.outbox.send(SESSION, &self.prepared))
            .map_err(|_| refused("outbox"))?;
        self.seal_report();
        Ok(())
    }

    fn seal_report(&mut self) {
        self.outbox.seal(0, &self.header, FIRST_SEQ, TIME);
        std::hint::black_box(self.outbox.sealed(0));
        self.outbox.clear();
    }
}

/// The report as a prepared message, and its ClOrdID.
fn prepare(outbox: &mut Outbox) -> Result<(Prepared, Slot), Error> {
    write_report(outbox, SESSION, CL_ORD_ID).map_err(|_| refused("outbox"))?;
    let mut prepared = Prepared::new(b"8", 1024);
    let mut cl_ord_id = None;
    for field in outbox.body(0).split(|byte| *byte == SOH) {
        let mut parts = field.splitn(2, |byte| *byte == b'=');
        let (Some(number), Some(value)) = (parts.next(), parts.next()) else {
            continue;
        };
        let number = std::str::from_utf8(number).ok();
        let number: Tag = number
            .and_then(|text| text.parse().ok())
            .unwrap_or_default();
        let slot = prepared.slot(number, value).map_err(|_| refused("body"))?;
        if number == tag::CL_ORD_ID {
            cl_ord_id = Some(slot);
        }
    }
    outbox.clear();
    Ok((prepared, cl_ord_id.ok_or_else(|| refused("report"))?))
}

#[inline]
fn cause<'a>(id: JournalId, session: &Session, message: &Message<'a>) -> Cause<'a> {
    Cause {
        session: id,
        kind: Kind::Message,
        inbound: Some(message.bytes()),
        next_in: session.next_in(),
        next_out: session.next_out(),
        epoch: session.epoch() as u32,
    }
}

#[cold]
fn refused(by: &str) -> Error {
    Error::Engine(format!("the order was refused by: {by}"))
}

/// An order whose MsgSeqNum grows by one each time it is taken.
#[derive(Debug)]
struct NumberedOrder {
    bytes: Vec<u8>,
    /// The last digit of MsgSeqNum.
    last_digit: usize,
    sum: u8,
    fresh: bool,
}

impl NumberedOrder {
    fn new(bytes: Vec<u8>) -> Self {
        let last_digit = bytes
            .windows(4)
            .position(|at| at == b"\x0134=")
            .map_or(0, |at| at + 9);
        let sum = frame::check_sum(&bytes[..bytes.len() - 7]);
        Self {
            bytes,
            last_digit,
            sum,
            fresh: true,
        }
    }

    /// The order with the next number.
    #[inline]
    fn next(&mut self) -> &[u8] {
        if self.fresh {
            self.fresh = false;
            return &self.bytes;
        }
        let mut digit = self.last_digit;
        while self.bytes[digit] == b'9' {
            self.bytes[digit] = b'0';
            self.sum = self.sum.wrapping_sub(9);
            digit -= 1;
        }
        self.bytes[digit] += 1;
        self.sum = self.sum.wrapping_add(1);
        let trailer = self.bytes.len() - 4;
        self.bytes[trailer] = b'0' + self.sum / 100;
        self.bytes[trailer + 1] = b'0' + self.sum / 10 % 10;
        self.bytes[trailer + 2] = b'0' + self.sum % 10;
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire::journal::Memory;

    fn in_memory() -> HotPath<Memory> {
        let sizes = fixwire::journal::Config {
            segment_bytes: 1 << 20,
            ..Default::default()
        };
        let (journal, _) = Journal::open(Memory::new(2), sizes).unwrap();
        HotPath::new(journal).unwrap()
    }

    #[test]
    fn every_stage_takes_every_order() {
        for stage in Stage::ALL {
            let mut path = in_memory();
            for turn in 0..3_000 {
                path.run(stage)
                    .unwrap_or_else(|error| panic!("{stage:?} {turn}: {error}"));
                path.rest();
            }
            assert_eq!(Stage::named(stage.name()), Some(stage));
        }
    }

    #[test]
    fn a_session_refuses_the_same_number_twice() {
        let mut path = in_memory();
        path.run(Stage::Receive).unwrap();
        path.order.fresh = true;
        assert!(path.run(Stage::Receive).is_err());
    }

    #[test]
    fn the_work_of_the_whole_path_is_in_the_journal() {
        let mut path = in_memory();
        let before = path.journal.records_written();
        for _ in 0..10 {
            path.run(Stage::Whole).unwrap();
        }
        assert_eq!(path.journal.records_written(), before + 10);
        let report = path.journal.outbound(path.id, 2).expect("the first report");
        assert!(report.windows(5).any(|at| at == b"\x01150="));
    }
}
