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
use crate::oms::driven::{
    ChangeTarget, DrivenOms, DrivenOmsConfig, ExtraFields, LineProtocol, LoadRequest, OrderFlow,
};
use crate::oms::oms_rig::OmsRig;
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
    /// The same, while ten thousand other sessions are logged on and have nothing to do.
    AmongIdle,
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
    /// A venue's report of a partial fill goes back through a gateway to the client of the order.
    Return,
    /// An order and then its cancel go through an OMS to a venue, and the reports return.
    Oms,
    /// An order and then its cancel go through an OMS to a venue over TMP, and the reports return.
    OmsTmp,
    /// An order goes through an OMS to a venue, which does not answer.
    OmsToVenue,
    /// As [`Oms`](Self::Oms), with ten fields that the OMS passes on unchanged.
    OmsCarrying,
    /// The part of [`Oms`](Self::Oms) that is not the OMS: client and venue write their messages.
    OmsRig,
    /// The same part of [`OmsTmp`](Self::OmsTmp): the client writes its messages, and the venue's end of the link reads
    /// orders and writes reports.
    OmsTmpRig,
    /// The same part of [`OmsCarrying`](Self::OmsCarrying).
    OmsCarryingRig,
}

/// Number of other sessions of [`Work::AmongIdle`].
const IDLE: usize = 10_000;
/// Maximum length of a message, and length of a receive buffer, where there are so many sessions.
const IDLE_BYTES: usize = 64 << 10;

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
    pub const ALL: [Self; 15] = [
        Self::Order,
        Self::AmongIdle,
        Self::Batch,
        Self::Handle,
        Self::Resend,
        Self::Route,
        Self::Convert,
        Self::Return,
        Self::Oms,
        Self::OmsTmp,
        Self::OmsToVenue,
        Self::OmsCarrying,
        Self::OmsRig,
        Self::OmsTmpRig,
        Self::OmsCarryingRig,
    ];

    /// Name of the work in files and on command lines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Order => "engine-order",
            Self::AmongIdle => "engine-order-among-idle",
            Self::Batch => "engine-batch",
            Self::Handle => "engine-handle",
            Self::Resend => "engine-resend",
            Self::Route => "gateway-route",
            Self::Convert => "gateway-convert",
            Self::Oms => "oms",
            Self::Return => "gateway-return",
            Self::OmsTmp => "oms-tmp",
            Self::OmsToVenue => "oms-to-venue",
            Self::OmsCarrying => "oms-carrying",
            Self::OmsRig => "oms-rig",
            Self::OmsTmpRig => "oms-tmp-rig",
            Self::OmsCarryingRig => "oms-carrying-rig",
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
            Self::Oms
            | Self::OmsTmp
            | Self::OmsCarrying
            | Self::OmsRig
            | Self::OmsTmpRig
            | Self::OmsCarryingRig => 2,
            Self::Order
            | Self::AmongIdle
            | Self::Handle
            | Self::Route
            | Self::Convert
            | Self::Return
            | Self::OmsToVenue => 1,
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
        let two = [Version::Fix42; 2];
        let flow = |lines, carried| OrderFlow { lines, carried };
        Ok(match self {
            Self::Order | Self::Batch => {
                let mut driven = Driven::new(&one, Echo, journal)?;
                Box::new(move || driven.orders(self.messages(), 0))
            }
            Self::AmongIdle => {
                let mut driven = Driven::new(&[Version::Fix42; 1 + IDLE], Echo, journal)?;
                Box::new(move || driven.orders(1, 0))
            }
            Self::Handle => {
                let mut driven = Driven::new(&one, Echo, journal)?;
                Box::new(move || driven.send())
            }
            Self::Resend => {
                let mut driven = Driven::new(&one, Echo, journal)?;
                driven.orders(BATCH, 0)?;
                Box::new(move || driven.resend())
            }
            Self::Route => gateway_orders(&two, journal)?,
            Self::Convert => gateway_orders(&[Version::Fix42, Version::Fix44], journal)?,
            Self::Return => {
                let mut driven = Driven::new(&two, gateway::gateway(RULES, &two, true)?, journal)?;
                let mut fill = driven.routed_order()?;
                Box::new(move || {
                    driven.wired.wires().send(1, fill.take());
                    driven.answered(1, 0)
                })
            }
            Self::Oms => orders_and_cancels(flow(LineProtocol::Fix, ExtraFields::None), journal)?,
            Self::OmsTmp => {
                orders_and_cancels(flow(LineProtocol::Tmp, ExtraFields::None), journal)?
            }
            Self::OmsCarrying => {
                orders_and_cancels(flow(LineProtocol::Fix, ExtraFields::Same), journal)?
            }
            Self::OmsRig => rig(flow(LineProtocol::Fix, ExtraFields::None))?,
            Self::OmsTmpRig => rig(flow(LineProtocol::Tmp, ExtraFields::None))?,
            Self::OmsCarryingRig => rig(flow(LineProtocol::Fix, ExtraFields::Same))?,
            Self::OmsToVenue => {
                let mut driven = driven_oms(OrderFlow::default(), journal)?;
                Box::new(move || driven.request_unanswered(LoadRequest::New))
            }
        })
    }
}

/// Orders through a gateway between sessions of these versions.
fn gateway_orders(versions: &[Version; 2], journal: Option<&Path>) -> Result<Call, Error> {
    let app = gateway::gateway(RULES, versions, true)?;
    let mut driven = Driven::new(versions, app, journal)?;
    Ok(Box::new(move || driven.orders(1, 1)))
}

fn driven_oms(flow: OrderFlow, journal: Option<&Path>) -> Result<DrivenOms, Error> {
    DrivenOms::start(&DrivenOmsConfig {
        journal,
        ..DrivenOmsConfig::in_memory(OMS_ORDERS, flow)
    })
}

/// An order and then its cancel through an OMS.
fn orders_and_cancels(flow: OrderFlow, journal: Option<&Path>) -> Result<Call, Error> {
    let mut driven = driven_oms(flow, journal)?;
    Ok(Box::new(move || {
        let order = driven.requests;
        driven.request(LoadRequest::New)?;
        driven.request(LoadRequest::Cancel(ChangeTarget::of(order)))
    }))
}

/// Client and venue of an order and its cancel, without the OMS.
fn rig(flow: OrderFlow) -> Result<Call, Error> {
    let mut rig = OmsRig::new(flow)?;
    Ok(Box::new(move || {
        let order = rig.requests();
        rig.request(LoadRequest::New)?;
        rig.request(LoadRequest::Cancel(ChangeTarget::of(order)))
    }))
}

/// Does the work once.
pub type Call = Box<dyn FnMut() -> Result<(), Error>>;

/// An acceptor, its peers, and the messages that they send.
struct Driven<A: Application> {
    wired: Wired<A>,
    handle: Handle,
    /// Writes for the last peer.
    last: Writer,
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
        if sessions.len() > IDLE {
            // Under valgrind the pages of receive buffers take memory although nothing is received.
            settings.max_message = IDLE_BYTES;
            settings.read_buffer = IDLE_BYTES;
        }
        for session in &mut settings.sessions {
            session.session.limits.same_resend_requests = u32::MAX;
        }
        let mut wires = Wires::default();
        let mut last = Writer::of_initiator(&config, 0);
        for number in 0..sessions.len() {
            last = Writer::of_initiator(&config, number);
            wires.connect(number, &last.log_on_and_fill(WALL, FIRST_SEQ)?);
        }
        let mut writer = Writer::of_initiator(&config, 0);
        writer.next_out = FIRST_SEQ;
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
            last,
            order: Numbered::new(order, &["34", "11"]),
            resend_request: Numbered::new(resend_request, &["34"]),
        };
        for number in 0..sessions.len() {
            driven.wired.await_messages(number, 1)?;
        }
        Ok(driven)
    }

    /// Sends this number of orders at once, and waits until a peer has received as many messages.
    fn orders(&mut self, count: usize, receiver: usize) -> Result<(), Error> {
        let wires = self.wired.wires();
        for _ in 0..count {
            wires.send(0, self.order.take());
        }
        self.answered(count, receiver)
    }

    /// Sends an order of the first peer to the second one; returns the report of a partial fill that the second one
    /// answers with, again and again.
    fn routed_order(&mut self) -> Result<Numbered, Error> {
        self.wired.wires().keep(1);
        self.orders(1, 1)?;
        let mut order = Vec::new();
        self.wired.wires().take_kept(1, &mut order);
        let id = order.split(|byte| *byte == 1);
        let id = id.filter_map(|field| field.strip_prefix(b"11=")).next();
        let id = id.ok_or_else(|| Error::Session("an order without ClOrdID".to_owned()))?;
        let report = self.last.message(EXECUTION_REPORT, WALL, |body| {
            body.field(tag::ORDER_ID, b"V1")
                .field(tag::CL_ORD_ID, id)
                .uint(tag::EXEC_ID, FIRST_SEQ)
                .char(tag::EXEC_TRANS_TYPE, b'0')
                .char(tag::EXEC_TYPE, b'1')
                .char(tag::ORD_STATUS, b'1')
                .field(tag::SYMBOL, b"EFX")
                .char(tag::SIDE, b'1')
                .uint(tag::ORDER_QTY, 7)
                .uint(tag::LAST_QTY, 1)
                .field(tag::LAST_PX, b"110.11")
                .uint(tag::LEAVES_QTY, 6)
                .uint(tag::CUM_QTY, 1)
                .field(tag::AVG_PX, b"110.11");
        })?;
        Ok(Numbered::new(report.to_vec(), &["34", "17"]))
    }

    fn send(&mut self) -> Result<(), Error> {
        self.handle
            .send(SessionId(0), EXECUTION_REPORT, |body| {
                fill_report(body, b"1795253164123456789");
            })
            .map_err(|error| Error::Engine(error.to_string()))?;
        self.answered(1, 0)
    }

    fn resend(&mut self) -> Result<(), Error> {
        self.wired.wires().send(0, self.resend_request.take());
        self.answered(BATCH, 0)
    }

    fn answered(&mut self, count: usize, receiver: usize) -> Result<(), Error> {
        self.wired.await_messages(receiver, count).map(drop)
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
        driven.orders(BATCH, 0).unwrap();
        driven.resend().unwrap();
        let numbers = driven.wired.engine.sessions().next().unwrap();
        let (orders, reports) = (BATCH as u64, BATCH as u64);
        assert_eq!(numbers.next_in, FIRST_SEQ + orders + 1);
        assert_eq!(numbers.next_out, 2 + reports);
    }

    #[test]
    fn an_answer_that_is_missing_is_an_error() {
        let mut driven = Driven::new(&[Version::Fix42], Echo, None).unwrap();
        assert!(driven.answered(1, 0).is_err());
    }
}
