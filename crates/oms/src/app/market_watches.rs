//! Requests of clients for the state of a market that get updates.

use alloc::vec::Vec;

use fixwire_protocol::SessionId;

use crate::fix::clients::Client;
use crate::fix::market_requests::MarketRequest;
use crate::values::value::{Market, Text};

/// Most requests of a session that get updates.
const MOST: usize = 64;

/// A request that gets updates while its client stays connected.
#[derive(Debug)]
pub(crate) struct MarketWatch {
    pub client: Client,
    pub request: MarketRequest,
    /// State that was reported to the client last.
    pub said: Option<Market>,
}

/// All watches. They end with the connection of their client, so they are not part of the state.
#[derive(Debug, Default)]
pub(crate) struct MarketWatches {
    pub(crate) all: Vec<MarketWatch>,
    /// The watch that is looked at next, after a change; none when all clients know the states.
    pub(crate) next: Option<usize>,
}

impl MarketWatches {
    /// A state of a market was set.
    pub(crate) fn changed(&mut self) {
        if !self.all.is_empty() {
            self.next = Some(0);
        }
    }

    /// Whether clients may not know of a change.
    pub(crate) fn is_due(&self) -> bool {
        self.next.is_some()
    }

    /// A client is disconnected.
    pub(crate) fn stop(&mut self, session: SessionId) {
        self.all.retain(|watch| watch.client.session != session);
        self.look_again();
    }

    /// Places have changed: looks at all of them again, if there is something to report.
    fn look_again(&mut self) {
        if self.is_due() {
            self.next = Some(0);
        }
    }

    pub(crate) fn remove(&mut self, session: SessionId, kind: u8, id: &Text) {
        self.all.retain(|watch| {
            watch.client.session != session || watch.request.kind != kind || watch.request.id != *id
        });
        self.look_again();
    }

    /// Whether a session may have no more watches.
    pub(crate) fn is_full(&self, session: SessionId) -> bool {
        let all = self.all.iter();
        all.filter(|watch| watch.client.session == session).count() >= MOST
    }

    pub(crate) fn add(&mut self, watch: MarketWatch) {
        self.all.push(watch);
    }

    /// The next watch after a change; `None` after the last watch.
    pub(crate) fn next_due(&mut self) -> Option<&mut MarketWatch> {
        let at = self.next?;
        self.next = (at < self.all.len()).then_some(at + 1);
        self.all.get_mut(at)
    }
}
