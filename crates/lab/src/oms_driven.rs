//! An OMS over in-memory sockets, with scripted client and venue: the cost of its orders.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use fixwire::{Connection, Durability, Engine, EngineConfig};
use fixwire_oms::Oms;
use fixwire_protocol::{Timestamp, tag};

use crate::driven::{disk, engine_error, turn};
use crate::error::Error;
use crate::fix_client::Writer;
pub use crate::oms_parts::{ChangeTarget, LoadRequest};
use crate::oms_parts::{client_writer, oms, oms_settings, place, venue_writer, write_request};
use crate::wires::{WALL, Wires};

/// Turns after which an answer counts as missing.
const MOST_TURNS: usize = 100;
/// Client and venue among the peers.
const CLIENT: usize = 0;
const VENUE: usize = 1;

/// An OMS with a client and a venue, logged on.
pub struct DrivenOms {
    engine: Engine<Oms, Wires>,
    client: Writer,
    venue: Writer,
    /// Requests so far, each with its report.
    pub requests: u64,
    bytes: Vec<u8>,
}

impl DrivenOms {
    /// Starts it with room for so many open orders and its journal in this folder or in memory.
    ///
    /// # Errors
    ///
    /// The engine did not start.
    pub fn start(journal: Option<&Path>, orders: usize) -> Result<Self, Error> {
        Self::with_segments(journal, orders, EngineConfig::default().segment_bytes)
    }

    /// The same with segments of so many bytes; in memory three of them are the whole journal.
    ///
    /// # Errors
    ///
    /// The engine did not start.
    pub fn with_segments(
        journal: Option<&Path>,
        orders: usize,
        segment_bytes: usize,
    ) -> Result<Self, Error> {
        let folder = journal.unwrap_or(Path::new(""));
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let at = Connection::Acceptor { listen };
        let mut config = oms_settings(folder, at.clone(), at);
        config.segment_bytes = segment_bytes;
        if journal.is_none() {
            config.durability = Durability::Memory;
        }
        for session in &mut config.sessions {
            // All messages have the same SendingTime.
            session.session.max_latency = None;
        }
        let engine = Engine::with_host(config, oms(orders)?, Wires::default(), disk);
        let mut driven = Self {
            engine: engine.map_err(engine_error)?,
            client: client_writer(folder),
            venue: venue_writer(folder),
            requests: 0,
            bytes: Vec::with_capacity(4096),
        };
        for (number, writer) in [(CLIENT, &mut driven.client), (VENUE, &mut driven.venue)] {
            let logon = writer.message(b"A", WALL, |body| {
                body.uint(tag::ENCRYPT_METHOD, 0)
                    .uint(tag::HEART_BT_INT, 0)
                    .char(tag::RESET_SEQ_NUM_FLAG, b'Y');
            })?;
            driven.engine.host_mut().connect(number, logon);
        }
        driven.await_message(CLIENT)?;
        driven.await_message(VENUE)?;
        Ok(driven)
    }

    /// A request goes to the venue, which accepts it, and the report goes to the client.
    ///
    /// # Errors
    ///
    /// No order left, or no report came.
    pub fn request(&mut self, request: LoadRequest) -> Result<(), Error> {
        let number = self.requests;
        self.requests += 1;
        self.bytes.clear();
        write_request(&mut self.client, request, number, WALL, &mut self.bytes)?;
        self.engine.host_mut().send(CLIENT, &self.bytes);
        self.await_message(VENUE)?;
        let report = report(&mut self.venue, request, number, WALL)?;
        self.engine.host_mut().send(VENUE, report);
        self.await_message(CLIENT)
    }

    /// Orders in memory.
    pub fn orders(&mut self) -> usize {
        self.engine.application_mut().state().orders().len()
    }

    fn await_message(&mut self, number: usize) -> Result<(), Error> {
        for _ in 0..MOST_TURNS {
            if self.engine.host_mut().took(number, 1) {
                return Ok(());
            }
            turn(&mut self.engine)?;
        }
        Err(Error::Session(format!("no message for peer {number}")))
    }
}

/// The venue accepts the request of this number. The OMS counts orders and requests from 1.
pub(crate) fn report(
    venue: &mut Writer,
    request: LoadRequest,
    number: u64,
    at: Timestamp,
) -> Result<&[u8], Error> {
    let mut id = [0; 48];
    let order = match request {
        LoadRequest::New => number,
        LoadRequest::Replace(target) | LoadRequest::Cancel(target) => target.order,
    };
    let mut left = &mut id[..];
    // The buffer holds two numbers.
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
    let quantity = if matches!(request, LoadRequest::Replace(_)) {
        200
    } else {
        100
    };
    venue.message(b"8", at, |body| {
        body.uint(tag::ORDER_ID, order + 1)
            .field(tag::CL_ORD_ID, id)
            .uint(tag::EXEC_ID, number + 1)
            .char(tag::EXEC_TYPE, exec_type)
            .char(tag::ORD_STATUS, status);
        let (_, symbol) = place(order);
        body.field(tag::SYMBOL, symbol)
            .char(tag::SIDE, b'1')
            .uint(tag::ORDER_QTY, quantity)
            .uint(tag::LEAVES_QTY, if status == b'4' { 0 } else { quantity })
            .uint(tag::CUM_QTY, 0)
            .uint(tag::AVG_PX, 0);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_placed_replaced_and_cancelled() {
        let mut driven = DrivenOms::start(None, 100).unwrap();
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
        // Closed orders are remembered.
        assert_eq!(driven.orders(), 100);
    }
}
