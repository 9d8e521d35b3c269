//! Clients that request the state of a market: SecurityStatusRequest(e) and TradingSessionStatusRequest(g).

use fixwire_protocol::{Message, Outbox, Refusal};

use super::Oms;
use crate::app::market_watches::MarketWatch;
use crate::decide::core::Core;
use crate::fix::market_requests::{self, MarketRequest, Subscription};
use crate::values::ids::SessionNo;
use crate::values::value::Market;

/// The state of the market that a request names; `None` when the OMS does not know the state.
fn market_now(core: &Core, request: &MarketRequest) -> Option<Market> {
    if request.is_of_all() {
        return core.overall_market();
    }
    request.instrument.map(|it| core.state().market(it))
}

impl Oms {
    /// Answers a client's request for the state of a market, and keeps the request when the client wants updates.
    pub(super) fn market_asked(
        &mut self,
        index: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let Some(&Some(client)) = self.links.clients.get(index) else {
            return Err(Refusal::NotAuthorized);
        };
        if self.core.user(index).is_err() {
            return Err(Refusal::NotAuthorized);
        }
        let (request, asked) = market_requests::read(self.core.state(), message)?;
        let watches = &mut self.links.watches;
        // A request with the same id replaces the earlier subscription.
        watches.remove(client.session, request.kind, &request.id);
        if asked == Subscription::Nothing {
            return Ok(());
        }
        if asked == Subscription::Updates && watches.is_full(client.session) {
            return Err(Refusal::NotAvailable);
        }
        let said = market_now(&self.core, &request);
        market_requests::write(&request, said, client, outbox);
        if asked == Subscription::Updates {
            self.links.watches.add(MarketWatch {
                client,
                request,
                said,
            });
        }
        Ok(())
    }

    /// Reports changed states of markets to clients, as far as the outbox has room. Returns whether changes remain to
    /// be reported.
    pub(super) fn report_markets(&mut self, outbox: &mut Outbox) -> bool {
        while self.links.watches.is_due() {
            if !self.has_room(outbox) {
                return true;
            }
            let Some(watch) = self.links.watches.next_due() else {
                return false;
            };
            let now = market_now(&self.core, &watch.request);
            if now != watch.said {
                watch.said = now;
                market_requests::write(&watch.request, now, watch.client, outbox);
            }
        }
        false
    }
}
