//! Trading status for members: SecurityStatusRequest(e) and TradingSessionStatusRequest(g) over FIX, R11 over TMP. A
//! member requests the status once, or a report after each change while it stays connected. Subscriptions are not
//! part of the market: after a restart members subscribe again.

use fixwire_book::BookState;
use fixwire_protocol::{Message, Now, Outbox, Refusal, SessionId, tag};
use fixwire_tmp::TmpStatus;
use fixwire_tmp::messages::{R11, R12};
use fixwire_tmp::uncertain::{TRADE_REQUEST_UPDATES, TradeStatus};

use super::Exchange;
use crate::tmp::reports::encode;
use crate::watch::{Watch, Watched};

/// Maximum number of subscriptions of one member.
const MOST: usize = 64;

impl Exchange {
    /// Answers a SecurityStatusRequest(e) or TradingSessionStatusRequest(g).
    pub(super) fn status_request(
        &mut self,
        now: Now,
        from: SessionId,
        request: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let of = |tag| request.get(tag).unwrap_or_default().to_vec();
        let watched = match request.msg_type() {
            b"e" => Watched::Symbol {
                id: of(tag::SECURITY_STATUS_REQ_ID),
                symbol: of(tag::SYMBOL),
            },
            _ => Watched::Session {
                id: of(tag::TRAD_SES_REQ_ID),
                session: request
                    .get(tag::TRADING_SESSION_ID)
                    .unwrap_or(b"1")
                    .to_vec(),
            },
        };
        let updates = match request.get(tag::SUBSCRIPTION_REQUEST_TYPE) {
            Some(b"0") => false,
            Some(b"1") => true,
            Some(b"2") => {
                self.unwatch(from, &watched);
                return Ok(());
            }
            _ => return Err(Refusal::ValueOutOfRange(tag::SUBSCRIPTION_REQUEST_TYPE)),
        };
        if updates && self.watches.iter().filter(|it| it.to == from).count() >= MOST {
            return Err(Refusal::NotAvailable);
        }
        let watch = Watch {
            to: from,
            said: self.watched_state(&watched),
            watched,
        };
        if !self.say_state(now, &watch, outbox) {
            return Err(Refusal::NotAvailable);
        }
        self.unwatch(from, &watch.watched);
        self.watches.extend(updates.then_some(watch));
        Ok(())
    }

    /// Answers an R11 of a line.
    pub(super) fn trade_request(&mut self, at: usize, asked: &R11, status: TmpStatus) -> R12 {
        let to = SessionId::of_link(at as u32);
        let watched = Watched::FlowGroup {
            id: asked.trade_req_id,
            flow_group: asked.flow_group,
        };
        self.unwatch(to, &watched);
        let said = self.watched_state(&watched);
        let own = self.watches.iter().filter(|it| it.to == to).count();
        if asked.request_type == TRADE_REQUEST_UPDATES && status.is_success() && own < MOST {
            let watched = watched.clone();
            self.watches.push(Watch { to, watched, said });
        }
        R12 {
            status,
            trade_req_id: asked.trade_req_id,
            flow_group: asked.flow_group,
            trade_status: trade_status(said).code(),
        }
    }

    /// Reports changed trading states to members; returns false if the outbox had no room for all reports.
    pub(super) fn report_watches(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        let mut is_done = true;
        for at in 0..self.watches.len() {
            let state = self.watched_state(&self.watches[at].watched);
            if state == self.watches[at].said {
                continue;
            }
            let watch = Watch {
                to: self.watches[at].to,
                watched: self.watches[at].watched.clone(),
                said: state,
            };
            if self.say_state(now, &watch, outbox) {
                self.watches[at] = watch;
            } else {
                is_done = false;
            }
        }
        is_done
    }

    /// Ends the subscriptions of a disconnected member.
    pub(super) fn stop_watches(&mut self, of: SessionId) {
        self.watches.retain(|watch| watch.to != of);
    }

    fn unwatch(&mut self, of: SessionId, new: &Watched) {
        self.watches
            .retain(|watch| watch.to != of || !watch.watched.is_replaced_by(new));
    }

    /// The state of a symbol. For all symbols together, the most open state of any symbol, in the order continuous,
    /// auction, halted, closed.
    fn watched_state(&self, watched: &Watched) -> Option<BookState> {
        let traded = self.market.instruments.iter().filter(|it| !it.is_gone);
        if let Watched::Symbol { symbol, .. } = watched {
            let mut traded = traded;
            let known = traded.find(|it| it.symbol.as_bytes() == &symbol[..]);
            return known.map(|it| it.book.state());
        }
        traded
            .map(|it| it.book.state())
            .min_by_key(|state| match state {
                BookState::Continuous => 0,
                BookState::AuctionCall => 1,
                BookState::Halted => 2,
                BookState::Closed => 3,
            })
    }

    /// Reports the state to the member of a subscription; returns false if the outbox has no room.
    fn say_state(&mut self, now: Now, watch: &Watch, outbox: &mut Outbox) -> bool {
        match &watch.watched {
            Watched::Symbol { id, symbol } => {
                let mut answer = outbox.begin(watch.to, b"f");
                answer
                    .field(tag::SECURITY_STATUS_REQ_ID, id)
                    .field(tag::SYMBOL, symbol)
                    .uint(tag::SECURITY_TRADING_STATUS, trading_status(watch.said));
                answer.finish().is_ok()
            }
            Watched::Session { id, session } => {
                let mut answer = outbox.begin(watch.to, b"h");
                answer
                    .field(tag::TRAD_SES_REQ_ID, id)
                    .field(tag::TRADING_SESSION_ID, session)
                    .uint(tag::TRAD_SES_STATUS, session_status(watch.said));
                answer.finish().is_ok()
            }
            Watched::FlowGroup { id, flow_group } => {
                let mut frame = encode(&R12 {
                    status: TmpStatus::OK,
                    trade_req_id: *id,
                    flow_group: *flow_group,
                    trade_status: trade_status(watch.said).code(),
                });
                let Some(at) = watch.to.link() else {
                    return true;
                };
                self.push_frame(now, at, &mut frame, outbox);
                true
            }
        }
    }
}

/// The state as an R12 reports it. TMP has no value for a halt.
fn trade_status(state: Option<BookState>) -> TradeStatus {
    match state {
        Some(BookState::Continuous) => TradeStatus::Open,
        Some(BookState::AuctionCall) => TradeStatus::PreOpen,
        Some(BookState::Halted | BookState::Closed) | None => TradeStatus::Closed,
    }
}

/// SecurityTradingStatus(326): Ready to trade, Pre-open, Trading halt, Not available for trading, or Unknown.
fn trading_status(state: Option<BookState>) -> u64 {
    match state {
        Some(BookState::Continuous) => 17,
        Some(BookState::AuctionCall) => 21,
        Some(BookState::Halted) => 2,
        Some(BookState::Closed) => 18,
        None => 20,
    }
}

/// TradSesStatus(340): Open, Pre-Open, Halted, Closed, or Unknown.
fn session_status(state: Option<BookState>) -> u64 {
    match state {
        Some(BookState::Continuous) => 2,
        Some(BookState::AuctionCall) => 4,
        Some(BookState::Halted) => 1,
        Some(BookState::Closed) => 3,
        None => 0,
    }
}
