//! Parts of the work on one order, each measured alone; [`driven`](crate::wired::driven) measures the whole.
//!
//! `bench parse-log` times these parts, and the instruction counts of the project are taken on them. Input is the
//! published order, hot in cache, so the figures are a lower bound of what a running engine needs.

use std::sync::Arc;

use fixwire::journal::{Cause, Disk, Journal, JournalId, RecordKind};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::dictionary::validate::{self, Scratch, ValidationRules};
use fixwire_protocol::{
    Decoder, Dictionary, Frame, HeaderTemplate, Message, Outbox, Prepared, SOH, SessionId, Slot,
    Tag, Timestamp, frame, tag,
};
use fixwire_stamps::scenario::{OrderWriter, write_report};

use crate::error::Error;
use crate::sockets::numbered::Numbered;

/// A part of the work on one order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// Finds the end of the order in the stream, checks CheckSum and BodyLength, splits it into fields.
    Parse,
    /// [`Stage::Parse`], then validation against the dictionary with every rule.
    Validate,
    /// [`Stage::Validate`], then one journal record with the order.
    Log,
    /// Writes the report on an order, with header and trailer. No order is parsed.
    Report,
    /// [`Stage::Report`] from a prepared body in which only ClOrdID is replaced.
    Prepared,
}

impl Stage {
    /// All stages.
    pub const ALL: [Self; 5] = [
        Self::Parse,
        Self::Validate,
        Self::Log,
        Self::Report,
        Self::Prepared,
    ];

    /// Name of the stage in files and on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Validate => "parse+validate",
            Self::Log => "parse+validate+log",
            Self::Report => "report",
            Self::Prepared => "report-prepared",
        }
    }

    /// The stage of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.name() == name)
    }
}

/// What the stages work with, and the order that is repeated.
pub struct HotPath<D: Disk> {
    order: Numbered,
    decoder: Decoder,
    dictionary: Arc<Dictionary>,
    rules: ValidationRules,
    scratch: Scratch,
    header: HeaderTemplate,
    outbox: Outbox,
    prepared: Prepared,
    cl_ord_id: Slot,
    journal: Journal<D>,
    id: JournalId,
    wall: Timestamp,
}

const SESSION: SessionId = SessionId(0);
/// Longest accepted message, bytes.
const MAX_MESSAGE: usize = 64 << 10;
/// ClOrdID(11) of the reports.
const CL_ORD_ID: &[u8] = b"1795253164123456789";
/// The time of all events here.
const TIME: &[u8] = b"20260821-13:30:00.123";
/// MsgSeqNum of the first order: all have six digits.
const FIRST_SEQ: u64 = 100_000;
/// Maximum number of orders of one [`HotPath`].
pub const MOST_ORDERS: u64 = 899_000;

impl<D: Disk> HotPath<D> {
    /// Prepares the order.
    ///
    /// # Errors
    ///
    /// The journal cannot be written.
    pub fn new(mut journal: Journal<D>) -> Result<Self, Error> {
        let wall = Timestamp::parse(TIME).map_err(|error| Error::Engine(error.to_string()))?;
        let peer = HeaderTemplate::new(b"FIX.4.2", b"BENCH", b"EXEC", &[]);
        let header = HeaderTemplate::new(b"FIX.4.2", b"EXEC", b"BENCH", &[]);
        let mut outbox = Outbox::new(64 << 10, 64, header.room());
        OrderWriter::default()
            .write(&mut outbox, SESSION, wall.0 as u64, wall)
            .map_err(|_| refused("outbox"))?;
        outbox.seal(0, &peer, FIRST_SEQ, TIME);
        let order = Numbered::new(outbox.sealed(0).to_vec(), &["34"]);
        outbox.clear();
        let (prepared, cl_ord_id) = prepare(&mut outbox)?;
        let id = journal
            .register(wall, "FIX.4.2:EXEC->BENCH")
            .map_err(|error| Error::Engine(error.to_string()))?;
        Ok(Self {
            order,
            decoder: Decoder::with_capacity(256),
            dictionary: Arc::new(Dictionary::built_in(Version::Fix42)),
            rules: ValidationRules::default(),
            scratch: Scratch::default(),
            header,
            outbox,
            prepared,
            cl_ord_id,
            journal,
            id,
            wall,
        })
    }

    /// Runs a stage once, with the next order. May be called at most [`MOST_ORDERS`] times.
    ///
    /// # Errors
    ///
    /// The order was rejected, which a test rules out, or the journal is full.
    #[inline]
    pub fn run(&mut self, stage: Stage) -> Result<(), Error> {
        match stage {
            Stage::Report => return self.report(),
            Stage::Prepared => return self.prepared_report(),
            _ => {}
        }
        let bytes = self.order.take();
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
                    let cause = cause(self.id, &message);
                    self.journal
                        .append(self.wall, cause, std::iter::empty())
                        .map_err(|error| Error::Engine(error.to_string()))?;
                }
                Ok(())
            }
        }
    }

    /// Background work of the journal, which an engine does when it is idle.
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

/// The report as a prepared message, and the slot of its ClOrdID.
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
fn cause<'a>(id: JournalId, message: &Message<'a>) -> Cause<'a> {
    Cause {
        session: id,
        kind: RecordKind::Message,
        inbound: Some(message.bytes()),
        next_in: FIRST_SEQ,
        next_out: 1,
        epoch: 0,
    }
}

#[cold]
fn refused(by: &str) -> Error {
    Error::Engine(format!("the order was refused by: {by}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire::journal::Memory;

    fn in_memory() -> HotPath<Memory> {
        let sizes = fixwire::journal::JournalConfig {
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
    fn what_is_logged_is_in_the_journal() {
        let mut path = in_memory();
        let before = path.journal.records_written();
        for _ in 0..10 {
            path.run(Stage::Log).unwrap();
        }
        assert_eq!(path.journal.records_written(), before + 10);
    }
}
