//! Restores ids in messages from a venue to a client.

use fixwire_protocol::{SessionId, Timestamp, tag};

use super::OrderTracker;
use super::book::{Book, By, Link, Purpose, State};
use super::lifecycle::{Said, has_ended, said};
use super::table::{self, IdKind, IdRole, InboundId, Stranger, is_id};
use crate::Draft;

/// Maximum number of replaced ids of one order.
pub(super) const MAX_REPLACED: usize = 32;

/// The client that receives a venue's message, and the order or request that the message is about.
#[derive(Clone, Copy, Debug)]
pub struct ReportAddressee {
    /// The session of the client.
    pub client: SessionId,
    about: Link,
    /// A second client and its order, if the first client's request has affected that order.
    reached: Option<(SessionId, Link)>,
    /// Whether the message is about an earlier order, whose ClOrdID(11) the client has used again.
    is_earlier: bool,
}

impl ReportAddressee {
    /// The second client, whose order was affected by the first client's request. This client receives the message
    /// too.
    #[must_use]
    pub fn reached(self) -> Option<Self> {
        let (client, about) = self.reached?;
        Some(Self {
            client,
            about,
            reached: None,
            is_earlier: false,
        })
    }
}

impl OrderTracker {
    /// Handles a message from a venue: finds the client that receives it, restores the client's own ids in it, and
    /// updates the state of the client's order. The same as [`heard`](Self::heard), then [`restore`](Self::restore).
    pub fn inbound(
        &mut self,
        now: Timestamp,
        venue: SessionId,
        draft: &mut Draft,
    ) -> Option<SessionId> {
        let heard = self.heard(now, venue, draft)?;
        self.restore(heard, draft);
        Some(heard.client)
    }

    /// Finds the client that receives a venue's message, and updates the state of the order. For an order, the client
    /// is found by ClOrdID(11), then OrigClOrdID(41), then OrderID(37). For other messages the client is found by the
    /// ids in their row of [`ANSWERS`](table::ANSWERS), first to last.
    ///
    /// `None` if no id in the message is known; such a message counts as unsolicited.
    pub fn heard(
        &mut self,
        now: Timestamp,
        venue: SessionId,
        draft: &Draft,
    ) -> Option<ReportAddressee> {
        let answers = table::answers(draft.msg_type());
        let Some(about) = self.about(venue, answers, draft) else {
            self.unsolicited += 1;
            return None;
        };
        let is_earlier = self.is_earlier(about, venue, draft);
        let reached = match is_earlier {
            true => None,
            false => self.reached(about, venue, draft),
        };
        let heard = ReportAddressee {
            client: self.book.name(about).client,
            about: self.book.link(about),
            reached: reached.map(|name| (self.book.name(name).client, self.book.link(name))),
            is_earlier,
        };
        if is_earlier {
            return Some(heard);
        }
        if self.book.name(about).state.is_open() {
            self.book.touch(about, now);
        }
        self.note_answer(about, draft.msg_type());
        match draft.msg_type() {
            b"8" if let Some(reached) = reached => self.reach(now, about, reached, draft),
            b"8" if self.book.name(about).kind == IdKind::Order => self.execution(about, draft),
            b"9" => {
                let named = |tag| {
                    let id = draft.get(tag)?;
                    let name = self.book.at_venue(venue, IdKind::Order, id)?;
                    (self.book.name(name).client == heard.client).then_some(name)
                };
                let (order, before) = (named(tag::CL_ORD_ID), named(tag::ORIG_CL_ORD_ID));
                self.cancel_reject(order, before, draft);
            }
            // MarketDataRequestReject(Y): the request opened no subscription.
            b"Y" => self.book.close(about, State::Ended),
            _ => {}
        }
        Some(heard)
    }

    /// Writes the client's own ids into a message that was [`heard`](Self::heard), or into a copy of it. An id of
    /// another client never reaches this client; see [`Stranger`].
    ///
    /// Returns `false` if the order has been forgotten meanwhile, which is possible if messages were sent since
    /// `heard`.
    pub fn restore(&self, heard: ReportAddressee, draft: &mut Draft) -> bool {
        let about = self.book.follow(heard.about);
        if let Some(about) = about {
            self.restore_about(about, table::answers(draft.msg_type()), draft);
        }
        about.is_some()
    }

    /// The client's ids of the order of a message that was [`heard`](Self::heard): first the id in the message, then
    /// the id that it was to replace or cancel, and so on; at most 32. An id that the client has used again for a later
    /// order is left out. Empty if the message is not about an order.
    pub fn own_ids(&self, heard: ReportAddressee) -> impl Iterator<Item = &[u8]> {
        let about = self.book.follow(heard.about);
        let about = about.filter(|about| self.book.name(*about).kind == IdKind::Order);
        let about = about.filter(|_| !heard.is_earlier);
        let names =
            core::iter::successors(about, |name| self.book.follow(self.book.name(*name).before));
        names
            .take(MAX_REPLACED)
            .filter(|name| self.book.is_indexed(*name, By::Client))
            .map(|name| self.book.id(name, By::Client))
    }

    /// Handles a message that [`outbound`](Self::outbound) accepted and that will get no other response: it was not
    /// sent, or the venue refused it with a BusinessMessageReject(j). The message is given as the venue saw it.
    ///
    /// Restores the client's ids in the message. The orders and requests that the message began end, except in two
    /// cases: the message was a possible resend, whose original the venue may have accepted, or the venue has already
    /// acknowledged the order or request. `None` if no id in the message is known.
    pub fn refused(&mut self, venue: SessionId, draft: &mut Draft) -> Option<SessionId> {
        let resent = draft.get(tag::POSS_RESEND) == Some(b"Y");
        let stops = draft.get(tag::SUBSCRIPTION_REQUEST_TYPE) == Some(b"2");
        let mut client = None;
        for at in 0..draft.len() {
            let asks = table::asks(draft.msg_type());
            let Some(ask) = asks.iter().find(|ask| ask.tag == draft.tag(at)) else {
                continue;
            };
            let Some(name) = self.book.at_venue(venue, ask.kind, draft.value(at)) else {
                continue;
            };
            let known = self.book.name(name);
            let whose = known.client;
            if client.is_some_and(|client| client != whose) {
                continue;
            }
            // A replace or cancel that the venue has only received (OrdStatus E or 6) may still be refused.
            let is_acknowledged = known.is_answered && known.state != State::Pending;
            client = Some(whose);
            draft.set_at(at, self.book.id(name, By::Client));
            match ask.role {
                IdRole::Names => {}
                _ if resent || stops || is_acknowledged => {}
                IdRole::Orders => self.book.end(name),
                IdRole::Replaces | IdRole::Cancels | IdRole::Asks => {
                    self.book.close(name, State::Ended);
                }
            }
        }
        client
    }

    /// Handles a venue's Reject(3) of a message, or of a resend of the message. The message is given as the venue saw
    /// it.
    ///
    /// Restores the client's ids in the message, and ends each order or request that the message began. Other
    /// requests for the same order still get their responses. Returns `None` and changes nothing if the venue has
    /// already responded to the message, or if no id in it is known.
    pub fn rejected(&mut self, venue: SessionId, draft: &mut Draft) -> Option<SessionId> {
        let asks = table::asks(draft.msg_type());
        let begins = draft.get(tag::POSS_RESEND) != Some(b"Y")
            && draft.get(tag::SUBSCRIPTION_REQUEST_TYPE) != Some(b"2");
        let known = |book: &Book, draft: &Draft, at| {
            let ask = asks.iter().find(|ask| ask.tag == draft.tag(at))?;
            let name = book.at_venue(venue, ask.kind, draft.value(at))?;
            Some((name, begins && ask.role != IdRole::Names, ask.role))
        };
        let mut client = None;
        for at in 0..draft.len() {
            let Some((name, begun, role)) = known(&self.book, draft, at) else {
                continue;
            };
            let name = self.book.name(name);
            let is_theirs = *client.get_or_insert(name.client) == name.client;
            let is_order = role == IdRole::Orders && name.kind == IdKind::Order;
            let is_over = name.is_answered || (is_order && !name.state.is_open());
            if is_theirs && begun && is_over {
                return None;
            }
        }
        let client = client?;
        for at in 0..draft.len() {
            let Some((name, begun, _)) = known(&self.book, draft, at) else {
                continue;
            };
            if self.book.name(name).client != client {
                continue;
            }
            draft.set_at(at, self.book.id(name, By::Client));
            if begun {
                self.book.close(name, State::Ended);
            }
        }
        Some(client)
    }

    /// Marks a name, and the names that it replaces, as answered by the venue.
    fn note_answer(&mut self, about: u32, msg_type: &[u8]) {
        let mut next = Some(about);
        while let Some(name) = next
            && self.book.set_answered(name)
        {
            let before = self.book.name(name).before;
            next = self.book.follow(before).filter(|_| msg_type == b"8");
        }
    }

    /// The name of the order or request that a message is about.
    fn about(&self, venue: SessionId, answers: &[InboundId], draft: &Draft) -> Option<u32> {
        answers.iter().find_map(|answer| {
            (0..draft.len())
                .filter(|at| draft.tag(*at) == answer.tag)
                .find_map(|at| match answer.kind {
                    Some(kind) => self.book.at_venue(venue, kind, draft.value(at)),
                    None => self.book.of_order_id(venue, draft.value(at)),
                })
        })
    }

    /// Writes the client's own ids.
    fn restore_about(&self, about: u32, answers: &[InboundId], draft: &mut Draft) {
        let of = self.book.name(about);
        let (client, venue) = (of.client, of.venue);
        let before = self.book.follow(of.before);
        let mut at = 0;
        while at < draft.len() {
            let tag = draft.tag(at);
            let answer = answers
                .iter()
                .filter(|_| is_id(tag))
                .find(|answer| answer.tag == tag);
            let Some((answer, kind)) = answer.and_then(|answer| Some((answer, answer.kind?)))
            else {
                at += 1;
                continue;
            };
            // Most often the id is that of the order itself, which then need not be searched for.
            let is_own = of.kind == kind
                && self.book.is_indexed(about, By::Venue)
                && self.book.id(about, By::Venue) == draft.value(at);
            let name = if is_own {
                Some(about)
            } else {
                self.book.at_venue(venue, kind, draft.value(at))
            };
            let own = name.filter(|name| self.book.name(*name).client == client);
            // The replaced name's id may have been used again since, by a name that is forgotten now.
            let replaced = before.filter(|before| {
                self.book.name(*before).kind == kind
                    && self.book.id(*before, By::Venue) == draft.value(at)
            });
            let stands = own.or(replaced).or(match answer.stranger {
                Stranger::Own if of.kind == kind => Some(about),
                Stranger::Before => before,
                _ => None,
            });
            match stands {
                Some(name) => draft.change_at(at, self.book.id(name, By::Client)),
                None if answer.stranger == Stranger::NoneText => draft.set_at(at, b"NONE"),
                None => {
                    draft.remove(at..at + 1);
                    continue;
                }
            }
            at += 1;
        }
    }

    /// The other client's order in this report, if `about` is a request. A venue may select the orders of a request
    /// in ways that the gateway does not know.
    fn reached(&self, about: u32, venue: SessionId, draft: &Draft) -> Option<u32> {
        let of = self.book.name(about);
        let is_order = of.kind == IdKind::Order && of.purpose == Purpose::Order;
        if draft.msg_type() != b"8" || is_order {
            return None;
        }
        let is_theirs = |name: &u32| self.book.name(*name).client != of.client;
        let named = draft.get(tag::ORIG_CL_ORD_ID);
        let named = named.and_then(|id| self.book.at_venue(venue, IdKind::Order, id));
        if named.is_some() {
            return named.filter(is_theirs);
        }
        let by_order_id = self.book.of_order_id(venue, draft.get(tag::ORDER_ID)?);
        // An ended order does not count: the venue may have given its OrderID again.
        by_order_id.filter(|name| is_theirs(name) && self.book.is_trading(*name))
    }

    /// Whether a report is about an earlier order, although a later order has the report's ClOrdID(11) or
    /// OrigClOrdID(41) by now: the client has used the id again. OrderID(37) tells the two orders apart. A venue may
    /// change the OrderID of an order, so an unknown OrderID alone is no sign of an earlier order.
    fn is_earlier(&self, about: u32, venue: SessionId, draft: &Draft) -> bool {
        let is_report = matches!(draft.msg_type(), b"8" | b"9");
        let order_id = draft.get(tag::ORDER_ID).filter(|_| is_report);
        let is_id = |id: &&[u8]| !id.is_empty() && *id != b"NONE";
        let Some(order_id) = order_id.filter(is_id) else {
            return false;
        };
        let of = self.book.name(about);
        let is_order = of.kind == IdKind::Order && of.purpose != Purpose::Request;
        if !is_order || self.book.has_order_id(about, order_id) {
            return false;
        }
        let corrects = matches!(draft.get(tag::EXEC_TYPE), Some(b"G" | b"H"))
            || matches!(draft.get(tag::EXEC_TRANS_TYPE), Some(b"1" | b"2"));
        let has_another = self.book.order_ids(about).next().is_some();
        if !has_another && (of.is_answered || !corrects) {
            return false;
        }
        let Some(earlier) = self.book.of_order_id(venue, order_id) else {
            // The earlier order may be forgotten.
            let resent = draft.get(tag::POSS_RESEND) == Some(b"Y");
            return has_another && (corrects || resent) && of.state != State::Pending;
        };
        let has_its_id = [tag::CL_ORD_ID, tag::ORIG_CL_ORD_ID]
            .iter()
            .any(|tag| draft.get(*tag) == Some(self.book.id(earlier, By::Venue)));
        has_its_id
            && self.book.name(earlier).client == of.client
            && self.book.chain_id(earlier) != self.book.chain_id(about)
            && !self.book.is_indexed(earlier, By::Venue)
    }

    /// Handles an ExecutionReport about an order that another client's request has affected.
    fn reach(&mut self, now: Timestamp, about: u32, reached: u32, draft: &Draft) {
        let heard = said(
            draft.get(tag::EXEC_TYPE),
            draft.get(tag::ORD_STATUS),
            draft.get(tag::EXEC_TRANS_TYPE),
        );
        if heard != Said::Pending && self.book.name(about).state == State::Pending {
            self.book.close(about, State::Ended);
        }
        if !matches!(heard, Said::Pending | Said::Rejected) {
            self.book.touch(reached, now);
            self.note_answer(reached, b"8");
            self.execution(reached, draft);
        }
    }

    /// Handles an ExecutionReport about an order.
    fn execution(&mut self, about: u32, draft: &Draft) {
        if let Some(order_id) = draft.get(tag::ORDER_ID).filter(|id| *id != b"NONE") {
            self.book.learn(about, order_id);
        }
        let heard = said(
            draft.get(tag::EXEC_TYPE),
            draft.get(tag::ORD_STATUS),
            draft.get(tag::EXEC_TRANS_TYPE),
        );
        let name = self.book.name(about);
        let (purpose, state, before) = (name.purpose, name.state, name.before);
        let resent = draft.get(tag::POSS_RESEND) == Some(b"Y");
        match (heard, purpose, state) {
            // Only the cancel or replace is rejected; the order stays open.
            (Said::Rejected, Purpose::Cancel, _)
            | (Said::Rejected, Purpose::Replace, State::Pending | State::Ended) => {
                self.book.close(about, State::Ended);
            }
            (Said::Rejected | Said::Ended, _, _) => self.book.end(about),
            (Said::Replaced | Said::Live, Purpose::Replace, State::Pending) => {
                self.book.open(about, State::Live);
                if let Some(before) = self.book.follow(before) {
                    self.book.close(before, State::Replaced);
                }
            }
            // A fill was busted, or a new trading day has begun: the order may trade again.
            (
                Said::Live | Said::Replaced | Said::Status,
                Purpose::Order | Purpose::Replace,
                State::Ended,
            ) if !resent => self.book.open(about, State::Live),
            _ => {}
        }
    }

    /// Handles an OrderCancelReject(9): the cancel or replace has failed, and OrdStatus(39) gives the state of the
    /// order.
    fn cancel_reject(&mut self, asked: Option<u32>, before: Option<u32>, draft: &Draft) {
        let ended = has_ended(draft.get(tag::ORD_STATUS));
        if let Some(asked) = asked {
            let name = self.book.name(asked);
            let taken_back = name.purpose == Purpose::Replace && name.state == State::Live;
            let replaced = self.book.follow(name.before).filter(|before| {
                // A replaced order stays closed if its id was used again.
                taken_back && self.book.is_indexed(*before, By::Venue)
            });
            self.book.close(asked, State::Ended);
            if let Some(replaced) = replaced {
                self.book.open(replaced, State::Live);
            }
        }
        // A later order may have the order's id by now, so the link of the cancel or replace is followed first.
        if let Some(order) = asked.or(before).filter(|_| ended) {
            self.book.end(order);
        }
    }
}
