//! Subscriptions of clients to the state of a market. A request is answered once, and then gets updates.

use alloc::vec::Vec;

use fixwire_protocol::SessionId;

use crate::fix::clients::Client;
use crate::fix::market_requests::MarketRequest;
use crate::values::value::{Market, Text};

/// Maximum number of subscriptions of a session.
const MOST: usize = 64;

/// A request that gets updates while its client stays connected.
#[derive(Debug)]
pub(crate) struct MarketWatch {
    pub client: Client,
    pub request: MarketRequest,
    /// The state of the market that was last reported to the client.
    pub said: Option<Market>,
}

/// All subscriptions. A subscription ends when its client disconnects, so subscriptions are not part of the state of
/// the OMS.
#[derive(Debug, Default)]
pub(crate) struct MarketWatches {
    pub(crate) all: Vec<MarketWatch>,
    /// Index of the subscription that is checked next after a change; `None` when all clients have the current states.
    pub(crate) next: Option<usize>,
}

impl MarketWatches {
    /// Handles a changed state of a market.
    pub(crate) fn changed(&mut self) {
        if !self.all.is_empty() {
            self.next = Some(0);
        }
    }

    /// Whether a change may still have to be reported to a client.
    pub(crate) fn is_due(&self) -> bool {
        self.next.is_some()
    }

    /// Removes the subscriptions of a client that is disconnected.
    pub(crate) fn stop(&mut self, session: SessionId) {
        self.all.retain(|watch| watch.client.session != session);
        self.look_again();
    }

    /// Checks all subscriptions again if a change may still have to be reported, because the indexes of subscriptions
    /// have changed.
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

    /// Whether a session has the maximum number of subscriptions.
    pub(crate) fn is_full(&self, session: SessionId) -> bool {
        let all = self.all.iter();
        all.filter(|watch| watch.client.session == session).count() >= MOST
    }

    pub(crate) fn add(&mut self, watch: MarketWatch) {
        self.all.push(watch);
    }

    /// The next subscription to check after a change; `None` after the last subscription.
    pub(crate) fn next_due(&mut self) -> Option<&mut MarketWatch> {
        let at = self.next?;
        self.next = (at < self.all.len()).then_some(at + 1);
        self.all.get_mut(at)
    }
}
