//! The real engine over in-memory sockets, to measure the cost of one order from `read` to `write`.
//!
//! Journal (in memory), session, dictionary, application and gateway are real; only sockets and clocks are scripted.
//! The instruction and allocation counts of the project are taken here.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use fixwire::{Connection, Durability, Handle};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::session::Role;
use fixwire_protocol::{Application, SessionId, tag};
use fixwire_stamps::scenario::{EXECUTION_REPORT, Echo, fill_report};

use crate::bench::gateway;
use crate::error::Error;
use crate::oms::driven::{ChangeTarget, DrivenOms, DrivenOmsConfig, LineProtocol, LoadRequest};
use crate::sockets::fix_client::{Writer, unwritten};
use crate::sockets::numbered::Numbered;
use crate::sockets::pair::PairConfig;
use crate::wired::Wired;
use crate::wired::wires::{WALL, Wires};

/// The repeated work of the engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Work {
    /// One order arrives and its report is sent, in one turn.
    Order,
    /// [`BATCH`] orders arrive together and their reports are sent together, in one turn.
    Batch,
    /// A report is sent through a [`Handle`], as another thread sends it.
    Handle,
    /// A ResendRequest for the last [`BATCH`] reports.
    Resend,
    /// One order goes through a gateway, from one session to another.
    Route,
    /// One order goes through a gateway, which converts it to FIX 4.4.
    Convert,
    /// An order and then its cancel go through an OMS to a venue, and the reports return.
    Oms,
    /// An order and then its cancel go through an OMS to a venue over TMP, and the reports return.
    OmsTmp,
}

/// Number of messages of a [`Work::Batch`] or [`Work::Resend`].
pub const BATCH: usize = 16;
/// MsgSeqNum(34) of the first order. All MsgSeqNums have six digits.
pub(crate) const FIRST_SEQ: u64 = 100_000;
/// ClOrdID(11) of the first order.
const CL_ORD_ID: u64 = 1_795_253_164_123_456_789;
/// Segment size in bytes, so large that a journal in a folder needs only one segment during a count.
const SEGMENT_BYTES: usize = 256 << 20;
/// Maximum number of orders of an OMS.
const OMS_ORDERS: usize = 20_000;
/// Number of rules of the gateway; the last rule applies.
const RULES: u32 = 10;

impl Work {
    /// All kinds of work.
    pub const ALL: [Self; 8] = [
        Self::Order,
        Self::Batch,
        Self::Handle,
        Self::Resend,
        Self::Route,
        Self::Convert,
        Self::Oms,
        Self::OmsTmp,
    ];

    /// Name of the work in files and on command lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Order => "engine-order",
            Self::Batch => "engine-batch",
            Self::Handle => "engine-handle",
            Self::Resend => "engine-resend",
            Self::Route => "gateway-route",
            Self::Convert => "gateway-convert",
            Self::Oms => "oms",
            Self::OmsTmp => "oms-tmp",
        }
    }

    /// The work with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|work| work.name() == name)
    }

    /// Number of messages sent each time.
    #[must_use]
    pub fn messages(self) -> usize {
        match self {
            Self::Batch | Self::Resend => BATCH,
            Self::Oms | Self::OmsTmp => 2,
            _ => 1,
        }
    }

    /// Starts an engine whose peers have logged on, with its journal in this folder or in memory. Each call of the
    /// result does the work once.
    ///
    /// # Errors
    ///
    /// The engine did not start. Later, a call fails when the answer is missing.
    pub fn start(self, journal: Option<&Path>) -> Result<Call, Error> {
        let one = [Version::Fix42];
        let two = match self {
            Self::Convert => [Version::Fix42, Version::Fix44],
            _ => [Version::Fix42; 2],
        };
        Ok(match self {
            Self::Order | Self::Batch => {
                let mut driven = Driven::new(&one, Echo, journal)?;
                Box::new(move || driven.orders(self.messages()))
            }
            Self::Handle => {
                let mut driven = Driven::new(&one, Echo, journal)?;
                Box::new(move || driven.send())
            }
            Self::Resend => {
                let mut driven = Driven::new(&one, Echo, journal)?;
                driven.orders(BATCH)?;
                Box::new(move || driven.resend())
            }
            Self::Route | Self::Convert => {
                let app = gateway::gateway(RULES, &two, true)?;
                let mut driven = Driven::new(&two, app, journal)?;
                Box::new(move || driven.orders(1))
            }
            Self::Oms | Self::OmsTmp => {
                let line = match self {
                    Self::OmsTmp => LineProtocol::Tmp,
                    _ => LineProtocol::Fix,
                };
                let mut driven = DrivenOms::start(&DrivenOmsConfig {
                    journal,
                    ..DrivenOmsConfig::in_memory(OMS_ORDERS, line)
                })?;
                Box::new(move || {
                    let order = driven.requests;
                    driven.request(LoadRequest::New)?;
                    driven.request(LoadRequest::Cancel(ChangeTarget::of(order)))
                })
            }
        })
    }
}

/// Does the work once.
pub type Call = Box<dyn FnMut() -> Result<(), Error>>;

/// An acceptor, its peers, and the messages that the first peer sends. Answers arrive at the last peer.
struct Driven<A: Application> {
    wired: Wired<A>,
    handle: Handle,
    order: Numbered,
    resend_request: Numbered,
}

impl<A: Application> Driven<A> {
    fn new(sessions: &[Version], app: A, journal: Option<&Path>) -> Result<Self, Error> {
        let folder = journal.unwrap_or(Path::new(""));
        let mut config = PairConfig::new("BENCH", "EXEC", sessions, folder);
        if journal.is_none() {
            config.durability = Durability::Memory;
        }
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let mut settings = config.engine(Role::Acceptor, Connection::Acceptor { listen });
        if journal.is_some() {
            settings.segment_bytes = SEGMENT_BYTES;
        }
        for session in &mut settings.sessions {
            session.session.limits.same_resend_requests = u32::MAX;
        }
        let mut wires = Wires::default();
        let mut first = None;
        for number in 0..sessions.len() {
            let mut writer = Writer::of_initiator(&config, number);
            wires.connect(number, &writer.log_on_and_fill(WALL, FIRST_SEQ)?);
            first.get_or_insert(writer);
        }
        let mut writer = first.ok_or_else(|| Error::Session("no session".to_owned()))?;
        writer.order(CL_ORD_ID, WALL).map_err(unwritten)?;
        let order = writer.sealed().to_vec();
        writer.next_out = FIRST_SEQ + BATCH as u64;
        // Message 1 was the Logon; the reports begin with 2.
        let resend_request = writer.message(b"2", WALL, |body| {
            body.uint(tag::BEGIN_SEQ_NO, 2)
                .uint(tag::END_SEQ_NO, 1 + BATCH as u64);
        })?;
        let resend_request = resend_request.to_vec();
        let wired = Wired::start(settings, app, wires)?;
        let mut driven = Self {
            handle: wired.engine.handle(),
            wired,
            order: Numbered::new(order, &["34", "11"]),
            resend_request: Numbered::new(resend_request, &["34"]),
        };
        for number in 0..sessions.len() {
            driven.wired.await_messages(number, 1)?;
        }
        Ok(driven)
    }

    /// Sends this number of orders at once, and waits for their answers.
    fn orders(&mut self, count: usize) -> Result<(), Error> {
        let wires = self.wired.wires();
        for _ in 0..count {
            wires.send(0, self.order.take());
        }
        self.answered(count)
    }

    fn send(&mut self) -> Result<(), Error> {
        self.handle
            .send(SessionId(0), EXECUTION_REPORT, |body| {
                fill_report(body, b"1795253164123456789");
            })
            .map_err(|error| Error::Engine(error.to_string()))?;
        self.answered(1)
    }

    fn resend(&mut self) -> Result<(), Error> {
        self.wired.wires().send(0, self.resend_request.take());
        self.answered(BATCH)
    }

    fn answered(&mut self, count: usize) -> Result<(), Error> {
        let last = self.wired.wires().peers() - 1;
        self.wired.await_messages(last, count).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_is_done_again_and_again() {
        for work in Work::ALL {
            let mut once = work.start(None).unwrap();
            for time in 0..500 {
                once().unwrap_or_else(|error| panic!("{work:?} {time}: {error}"));
            }
            assert_eq!(Work::named(work.name()), Some(work));
        }
    }

    #[test]
    fn a_resend_request_is_answered_with_the_reports() {
        let mut driven = Driven::new(&[Version::Fix42], Echo, None).unwrap();
        driven.orders(BATCH).unwrap();
        driven.resend().unwrap();
        let numbers = driven.wired.engine.sessions().next().unwrap();
        let (orders, reports) = (BATCH as u64, BATCH as u64);
        assert_eq!(numbers.next_in, FIRST_SEQ + orders + 1);
        assert_eq!(numbers.next_out, 2 + reports);
    }

    #[test]
    fn an_answer_that_is_missing_is_an_error() {
        let mut driven = Driven::new(&[Version::Fix42], Echo, None).unwrap();
        assert!(driven.answered(1).is_err());
    }
}
