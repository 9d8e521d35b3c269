//! An OMS over in-memory sockets, with scripted client and venue, to measure the cost of orders.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use fixwire::{Connection, Durability, EngineConfig};
use fixwire_oms::Oms;
use fixwire_protocol::{Decimal, Nanos, Timestamp, tag};
use fixwire_tmp::LinkNow;

use crate::error::Error;
pub use crate::oms::parts::{ChangeTarget, ExtraFields, LineProtocol, LoadRequest, OrderFlow};
use crate::oms::parts::{ORDER_QTY, client_writer, oms, oms_settings, venue_writer, write_request};
use crate::oms::tmp_venue::TmpVenue;
use crate::sockets::fix_client::Writer;
use crate::wired::Wired;
use crate::wired::wires::{LINK_PORT, WALL, Wires};

/// Number of turns after which an answer counts as missing.
const MOST_TURNS: usize = 100;
/// Indices among the peers: the client, and the venue below.
const CLIENT: usize = 0;
const VENUE: usize = 1;
/// ExecID(17) of the first fill. The ExecIDs of other reports are lower.
const FIRST_FILL: u64 = 1_000_000_000;

/// Longer than an OMS waits after its start before it logs in over TMP.
const FLOW_SECOND: Nanos = Nanos::from_secs(2);

/// An OMS with a client and a venue, logged on.
pub struct DrivenOms {
    wired: Wired<Oms>,
    client: Writer,
    venue: ScriptedVenue,
    flow: OrderFlow,
    /// Number of requests so far; each request has its report.
    pub requests: u64,
    /// The order that the venue filled last, and its filled quantity.
    filled: (u64, u64),
    bytes: Vec<u8>,
}

/// The venue's end of the line.
enum ScriptedVenue {
    Fix(Writer),
    Tmp {
        venue: TmpVenue,
        /// Messages that the OMS sent and that are not answered yet.
        input: Vec<u8>,
        output: Vec<u8>,
    },
}

/// Settings to start an OMS.
#[derive(Clone, Copy, Debug)]
pub struct DrivenOmsConfig<'a> {
    /// The folder of the journal; `None` for a journal in memory.
    pub journal: Option<&'a Path>,
    /// Room for this number of open orders.
    pub orders: usize,
    /// Segment size of the journal, bytes; a journal in memory has three segments.
    pub segment_bytes: usize,
    /// The orders.
    pub flow: OrderFlow,
}

impl DrivenOmsConfig<'_> {
    /// A journal in memory, with room for this number of open orders.
    #[must_use]
    pub fn in_memory(orders: usize, flow: OrderFlow) -> Self {
        Self {
            journal: None,
            orders,
            segment_bytes: EngineConfig::default().segment_bytes,
            flow,
        }
    }
}

impl DrivenOms {
    /// Starts the OMS, and logs client and venue on.
    ///
    /// # Errors
    ///
    /// The engine did not start.
    pub fn start(config: &DrivenOmsConfig<'_>) -> Result<Self, Error> {
        let lines = config.flow.lines;
        let folder = config.journal.unwrap_or(Path::new(""));
        let at = |port| {
            let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
            Connection::Acceptor { listen }
        };
        let line = match lines {
            LineProtocol::Fix => at(1),
            LineProtocol::Tmp => at(LINK_PORT),
        };
        let mut settings = oms_settings(folder, at(1), line, config.flow);
        settings.segment_bytes = config.segment_bytes;
        if config.journal.is_none() {
            settings.durability = Durability::Memory;
        }
        for session in &mut settings.sessions {
            // All messages have the same SendingTime, so the check of SendingTime accuracy is off.
            session.session.max_latency = None;
        }
        let oms = oms(config.orders, config.flow)?;
        let mut driven = Self {
            wired: Wired::start(settings, oms, Wires::default())?,
            client: client_writer(folder, config.flow),
            venue: match lines {
                LineProtocol::Fix => ScriptedVenue::Fix(venue_writer(folder)),
                LineProtocol::Tmp => ScriptedVenue::Tmp {
                    venue: TmpVenue::new(),
                    input: Vec::new(),
                    output: Vec::new(),
                },
            },
            flow: config.flow,
            requests: 0,
            filled: (0, 0),
            bytes: Vec::with_capacity(4096),
        };
        let logon = driven.client.log_on(WALL, 0, true)?;
        driven.wired.wires().connect(CLIENT, logon);
        driven.await_message(CLIENT)?;
        driven.log_line_on()?;
        Ok(driven)
    }

    fn log_line_on(&mut self) -> Result<(), Error> {
        match &mut self.venue {
            ScriptedVenue::Fix(writer) => {
                let logon = writer.log_on(WALL, 0, true)?;
                self.wired.wires().connect(VENUE, logon);
                self.await_message(VENUE)
            }
            ScriptedVenue::Tmp { .. } => {
                self.wired.wires().connect_link(VENUE);
                // The venue accepts the connection; the OMS logs in after a while.
                for _ in 0..2 {
                    self.wired.turn()?;
                }
                let now = self.link_now();
                if let ScriptedVenue::Tmp { venue, .. } = &mut self.venue {
                    venue.connected(now);
                }
                self.wired.wires().pass(FLOW_SECOND);
                for _ in 0..MOST_TURNS {
                    self.wired.turn()?;
                    self.answer_frames()?;
                    let ScriptedVenue::Tmp { venue, .. } = &self.venue else {
                        break;
                    };
                    if venue.is_ready() {
                        // The OMS has logged in: its L60 was the last step.
                        return Ok(());
                    }
                }
                Err(Error::Session("the line is not logged in".to_owned()))
            }
        }
    }

    fn link_now(&mut self) -> LinkNow {
        LinkNow {
            mono_ns: self.wired.wires().mono().0,
            wall_ns: WALL.0.unsigned_abs(),
        }
    }

    /// The venue of a TMP line answers the frames received so far; returns their number.
    fn answer_frames(&mut self) -> Result<usize, Error> {
        let now = self.link_now();
        let ScriptedVenue::Tmp {
            venue,
            input,
            output,
        } = &mut self.venue
        else {
            return Ok(0);
        };
        self.wired.wires().take_kept(VENUE, input);
        let (count, len) = venue.answer_all(|| now, input, output)?;
        input.drain(..len);
        if !output.is_empty() {
            self.wired.wires().send(VENUE, output);
            output.clear();
        }
        Ok(count)
    }

    /// Sends a request to the venue; over FIX the venue does not answer it.
    ///
    /// # Errors
    ///
    /// The request does not reach the venue.
    pub fn request_unanswered(&mut self, request: LoadRequest) -> Result<(), Error> {
        let number = self.requests;
        self.requests += 1;
        self.bytes.clear();
        let asked = (request, self.flow);
        write_request(&mut self.client, asked, number, WALL, &mut self.bytes)?;
        self.wired.wires().send(CLIENT, &self.bytes);
        match &mut self.venue {
            ScriptedVenue::Fix(_) => self.await_message(VENUE),
            ScriptedVenue::Tmp { .. } => self.await_frame(),
        }
    }

    /// Sends a request to the venue, which accepts it, and the venue's report to the client.
    ///
    /// # Errors
    ///
    /// No order is open, or the report is missing.
    pub fn request(&mut self, request: LoadRequest) -> Result<(), Error> {
        let number = self.requests;
        self.request_unanswered(request)?;
        if let ScriptedVenue::Fix(writer) = &mut self.venue {
            let report = report(writer, (request, self.filled), number, WALL)?;
            self.wired.wires().send(VENUE, report);
        }
        self.await_message(CLIENT)
    }

    /// The venue of a FIX line fills one unit of an order of which `filled` units were filled before; the report goes
    /// to the client. `exec` becomes the ExecID(17), and must be unique per fill.
    ///
    /// # Errors
    ///
    /// The line uses TMP, or the report is missing.
    pub fn fill(&mut self, order: u64, filled: u64, exec: u64) -> Result<(), Error> {
        let ScriptedVenue::Fix(writer) = &mut self.venue else {
            return Err(Error::Session(
                "fills are scripted over FIX only".to_owned(),
            ));
        };
        let report = writer.message(b"8", WALL, |body| {
            let (_, symbol) = LineProtocol::Fix.place(order);
            body.uint(tag::ORDER_ID, order + 1)
                .uint(tag::CL_ORD_ID, order + 1)
                .uint(tag::EXEC_ID, FIRST_FILL + exec)
                .char(tag::EXEC_TYPE, b'F')
                .char(tag::ORD_STATUS, b'1')
                .field(tag::SYMBOL, symbol.as_bytes())
                .char(tag::SIDE, b'1')
                .uint(tag::ORDER_QTY, ORDER_QTY.into())
                .uint(tag::LAST_QTY, 1)
                .decimal(tag::LAST_PX, Decimal::from_int(12))
                .uint(tag::LEAVES_QTY, u64::from(ORDER_QTY) - filled - 1)
                .uint(tag::CUM_QTY, filled + 1)
                .uint(tag::AVG_PX, 12);
        })?;
        self.filled = (order, filled + 1);
        self.wired.wires().send(VENUE, report);
        self.await_message(CLIENT)
    }

    /// The next orders carry these fields. The client of an OMS that was started with [`ExtraFields::Same`] may carry
    /// none for a time.
    pub fn carry(&mut self, carried: ExtraFields) {
        self.flow.carried = carried;
    }

    /// Orders in memory.
    pub fn orders(&mut self) -> usize {
        self.wired.engine.application_mut().state().orders().len()
    }

    fn await_message(&mut self, number: usize) -> Result<(), Error> {
        self.wired.await_messages(number, 1).map(drop)
    }

    /// Runs turns until the venue has answered a frame.
    fn await_frame(&mut self) -> Result<(), Error> {
        for _ in 0..MOST_TURNS {
            if self.answer_frames()? > 0 {
                return Ok(());
            }
            self.wired.turn()?;
        }
        Err(Error::Session("no frame for the venue".to_owned()))
    }
}

/// The venue of a FIX line accepts request number `request`. The OMS counts orders and requests from 1. `filled` has
/// the order that was filled last and its filled quantity.
pub(crate) fn report(
    venue: &mut Writer,
    (request, (last_filled, filled)): (LoadRequest, (u64, u64)),
    number: u64,
    at: Timestamp,
) -> Result<&[u8], Error> {
    let mut id = [0; 48];
    let order = match request {
        LoadRequest::New => number,
        LoadRequest::Replace(target) | LoadRequest::Cancel(target) => target.order,
    };
    let mut left = &mut id[..];
    // The buffer is long enough for two numbers.
    let _ = match request {
        LoadRequest::New => write!(left, "{}", order + 1),
        _ => write!(left, "{}-{}", order + 1, number + 1),
    };
    let rest = left.len();
    let id = &id[..id.len() - rest];
    let (exec_type, status) = match request {
        LoadRequest::New => (b'0', b'0'),
        LoadRequest::Replace(_) => (b'5', b'0'),
        LoadRequest::Cancel(_) => (b'4', b'4'),
    };
    let quantity = u64::from(match request {
        LoadRequest::Replace(_) => LineProtocol::Fix.replaced(),
        _ => ORDER_QTY,
    });
    let filled = if order == last_filled { filled } else { 0 };
    let leaves = if status == b'4' { 0 } else { quantity - filled };
    venue.message(b"8", at, |body| {
        body.uint(tag::ORDER_ID, order + 1)
            .field(tag::CL_ORD_ID, id)
            .uint(tag::EXEC_ID, number + 1)
            .char(tag::EXEC_TYPE, exec_type)
            .char(tag::ORD_STATUS, status);
        let (_, symbol) = LineProtocol::Fix.place(order);
        body.field(tag::SYMBOL, symbol.as_bytes())
            .char(tag::SIDE, b'1')
            .uint(tag::ORDER_QTY, quantity)
            .uint(tag::LEAVES_QTY, leaves)
            .uint(tag::CUM_QTY, filled)
            .uint(tag::AVG_PX, 0);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_oms::{End, OrderState};

    #[test]
    fn orders_are_placed_replaced_and_cancelled() {
        for lines in [LineProtocol::Fix, LineProtocol::Tmp] {
            let mut driven =
                DrivenOms::start(&DrivenOmsConfig::in_memory(100, OrderFlow::over(lines))).unwrap();
            for at in 0..100 {
                let order = 3 * at;
                let original = order + 1;
                driven.request(LoadRequest::New).unwrap();
                driven
                    .request(LoadRequest::Replace(ChangeTarget::of(order)))
                    .unwrap();
                let cancel = LoadRequest::Cancel(ChangeTarget { order, original });
                driven.request(cancel).unwrap();
            }
            // Closed orders stay in memory.
            assert_eq!(driven.orders(), 100);
            let cancelled = |it: &fixwire_oms::Order| it.state == OrderState::Ended(End::Cancelled);
            let orders = driven.wired.engine.application_mut().state().orders();
            // Orders and requests share their numbers, from 1.
            let mut numbers = (0..100).map(|at| 3 * at + 1);
            assert!(numbers.all(|number| orders.get(number).is_some_and(cancelled)));
        }
    }
}
