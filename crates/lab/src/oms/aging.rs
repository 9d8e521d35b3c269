//! An OMS after many orders, and the state of its journal.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use fixwire::{Connection, EngineConfig};
use fixwire_oms::Oms;
use fixwire_protocol::Timestamp;

use crate::error::Error;
use crate::oms::driven::report;
use crate::oms::parts::{
    ChangeTarget, LoadRequest, OrderFlow, client_writer, oms, oms_settings, venue_writer,
    write_request,
};
use crate::progress::Progress;
use crate::sockets::fix_client::Writer;
use crate::wired::aging::{Aged, Aging, AgingEngine, retiring, wall};

const CLIENT: usize = 0;
const VENUE: usize = 1;

/// The result.
#[derive(Clone, Debug)]
pub struct AgedOms {
    /// The engine and its journal. Timed are the turns that read an order and write it to the venue.
    pub aged: Aged,
    /// Number of open orders.
    pub live: u64,
    /// Number of notes written.
    pub notes: u64,
}

/// The engine settings of an OMS whose journal is in this folder. Client and venue both connect to the OMS.
pub fn oms_aging_settings(folder: &Path, listen: SocketAddr, keep: Duration) -> EngineConfig {
    let at = Connection::Acceptor { listen };
    retiring(
        oms_settings(folder, at.clone(), at, OrderFlow::default()),
        keep,
    )
}

/// The OMS of `bench oms`, with settings for this number of open orders.
///
/// # Errors
///
/// A mistake in the OMS settings; a test rules this out.
pub fn aging_oms(open: u64) -> Result<Oms, Error> {
    oms(open as usize, OrderFlow::default())
}

/// Sends the orders through the OMS. The venue accepts each order. When more than the given number of orders are
/// open, the oldest is cancelled.
///
/// # Errors
///
/// The engine stopped, or a message had no answer.
pub fn age_oms(folder: &Path, aging: Aging) -> Result<AgedOms, Error> {
    let config = oms_aging_settings(folder, SocketAddr::from(([127, 0, 0, 1], 1)), aging.keep);
    let at = wall();
    let mut peers = [
        client_writer(folder, OrderFlow::default()),
        venue_writer(folder),
    ];
    let logons = peers.iter_mut().map(|peer| peer.log_on(at, 0, true));
    let logons: Result<Vec<_>, _> = logons.map(|it| it.map(<[u8]>::to_vec)).collect();
    let [client, venue] = peers;
    let mut passing = Passing {
        engine: AgingEngine::start(aging_oms(aging.open)?, config, &logons?, aging)?,
        client,
        venue,
        at,
        requests: 0,
        bytes: Vec::with_capacity(4096),
    };
    let mut progress = Progress::new(100);
    let mut open = VecDeque::with_capacity(aging.open as usize + 1);
    for number in 0..aging.orders {
        if number % (aging.orders / 100).max(1) == 0 {
            progress.step(&format!("order {number} of {}", aging.orders));
        }
        open.push_back(passing.requests);
        let took = passing.request(LoadRequest::New)?;
        passing.engine.record(took);
        if open.len() as u64 > aging.open
            && let Some(oldest) = open.pop_front()
        {
            passing.request(LoadRequest::Cancel(ChangeTarget::of(oldest)))?;
        }
    }
    drop(progress);
    let state = passing.engine.application().state();
    let live = state.orders().iter().filter(|order| order.state.is_open());
    let (live, notes) = (live.count() as u64, state.events());
    Ok(AgedOms {
        aged: passing.engine.end()?,
        live,
        notes,
    })
}

/// The OMS with its client and its venue.
struct Passing {
    engine: AgingEngine<Oms>,
    client: Writer,
    venue: Writer,
    at: Timestamp,
    requests: u64,
    bytes: Vec<u8>,
}

impl Passing {
    /// Sends a request to the venue, and the venue's report to the client. Returns how long the request took to reach
    /// the venue, nanoseconds.
    fn request(&mut self, request: LoadRequest) -> Result<u64, Error> {
        let number = self.requests;
        self.requests += 1;
        self.bytes.clear();
        let asked = (request, OrderFlow::default());
        write_request(&mut self.client, asked, number, self.at, &mut self.bytes)?;
        let took = self.engine.pass(CLIENT, &self.bytes, VENUE)?;
        let report = report(&mut self.venue, (request, (0, 0)), number, self.at)?;
        self.engine.pass(VENUE, report, CLIENT)?;
        Ok(took)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of open orders at the end is the maximum, and a checkpoint was made.
    #[test]
    fn orders_pass_and_the_oldest_are_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        let aging = Aging {
            orders: 2_000,
            open: 100,
            keep: Duration::from_secs(60),
            core: None,
        };
        let found = age_oms(folder.path(), aging).unwrap();
        assert_eq!(found.live, 100);
        let times = found.aged.alone.count + found.aged.beside.count;
        assert_eq!(times, 2_000);
        // A sent and accepted order is three notes, and so is its cancel.
        assert!(found.notes > 3 * (2_000 + 1_900), "{found:?}");
        // Each request, and the Logon.
        assert_eq!(found.aged.next[CLIENT], 2 + 2_000 + 1_900);
    }
}
