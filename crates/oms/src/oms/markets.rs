//! Clients that ask for states of markets: SecurityStatusRequest(e) and TradingSessionStatusRequest(g).

use alloc::vec::Vec;

use fixwire_protocol::{Message, Outbox, Refusal, SessionId};

use super::Oms;
use crate::core::Core;
use crate::fix::clients::Client;
use crate::fix::market_requests::{self, Asked, MarketRequest};
use crate::value::{Market, Text};

/// Most requests of a session that get updates.
const MOST: usize = 64;

/// A request that gets updates while its client stays connected.
#[derive(Debug)]
struct MarketWatch {
    client: Client,
    request: MarketRequest,
    /// What the client was told last.
    said: Option<Market>,
}

/// All of them. They end with the connection of their client, so they are no part of the state.
#[derive(Debug, Default)]
pub(super) struct MarketWatches {
    all: Vec<MarketWatch>,
    /// The one that is looked at next, after a change; none when all clients know the states.
    next: Option<usize>,
}

impl MarketWatches {
    /// A state of a market was set.
    pub(super) fn changed(&mut self) {
        if !self.all.is_empty() {
            self.next = Some(0);
        }
    }

    /// Whether clients have to be told.
    pub(super) fn is_due(&self) -> bool {
        self.next.is_some()
    }

    /// A client is disconnected.
    pub(super) fn stop(&mut self, session: SessionId) {
        self.all.retain(|watch| watch.client.session != session);
        if self.is_due() {
            self.changed();
        }
    }

    fn remove(&mut self, session: SessionId, kind: u8, id: &Text) {
        self.all.retain(|watch| {
            watch.client.session != session
                || watch.request.kind != kind
                || watch.request.id != *id
        });
    }

    fn of_session(&self, session: SessionId) -> usize {
        let all = self.all.iter();
        all.filter(|watch| watch.client.session == session).count()
    }
}

/// The state of what a request is about; `None` when it is unknown.
fn market_now(core: &Core, request: &MarketRequest) -> Option<Market> {
    if request.is_of_all() {
        return core.overall_market();
    }
    request.instrument.map(|it| core.state().market(it))
}

impl Oms {
    /// Answers a client's request for the state of a market, and keeps it when updates are wanted.
    pub(super) fn market_asked(
        &mut self,
        index: u32,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let Some(&Some(client)) = self.links.clients.get(index as usize) else {
            return Err(Refusal::NotAuthorized);
        };
        if self.core.user(index).is_err() {
            return Err(Refusal::NotAuthorized);
        }
        let (request, asked) = market_requests::read(self.core.state(), message)?;
        let watches = &mut self.links.watches;
        // One with the same id replaces it.
        watches.remove(client.session, request.kind, &request.id);
        if asked == Asked::Nothing {
            return Ok(());
        }
        if asked == Asked::Updates && watches.of_session(client.session) >= MOST {
            return Err(Refusal::NotAvailable);
        }
        let said = market_now(&self.core, &request);
        market_requests::write(&request, (said, client), outbox);
        if asked == Asked::Updates {
            self.links.watches.all.push(MarketWatch {
                client,
                request,
                said,
            });
        }
        Ok(())
    }

    /// Tells clients what has changed, as far as there is room; whether some is left.
    pub(super) fn tell_markets(&mut self, outbox: &mut Outbox) -> bool {
        while let Some(at) = self.links.watches.next {
            if !self.has_room(outbox) {
                return true;
            }
            let Some(watch) = self.links.watches.all.get_mut(at) else {
                self.links.watches.next = None;
                return false;
            };
            let now = market_now(&self.core, &watch.request);
            if now != watch.said {
                watch.said = now;
                market_requests::write(&watch.request, (now, watch.client), outbox);
            }
            self.links.watches.next = Some(at + 1);
        }
        false
    }
}
