//! Rewrites ids in messages from a client to a venue.

use fixwire_protocol::{SessionId, Tag, Timestamp, tag};

use super::book::{By, HashedId, IdHash, Link, New, Purpose, State};
use super::table::{self, IdKind, IdRole, OutboundId};
use super::{OrderTracker, OrdersError, Out, Rewriting};
use crate::Draft;

/// Facts about the message being handled.
#[derive(Clone, Copy)]
struct Way {
    now: Timestamp,
    client: SessionId,
    /// Index of the venue, its session and its form of ids.
    at: usize,
    venue: SessionId,
    ids: Rewriting,
    /// PossResend(97)=Y.
    again: bool,
    subscribes: bool,
    unsubscribes: bool,
}

impl Way {
    /// Whether the message begins the order or request with this id, or only refers to an earlier one.
    fn begins(&self, ask: OutboundId) -> bool {
        match ask.role {
            IdRole::Names => false,
            IdRole::Asks => !self.unsubscribes,
            IdRole::Orders | IdRole::Replaces | IdRole::Cancels => true,
        }
    }
}

impl OrderTracker {
    /// Handles a client's message to a venue: remembers the orders and requests that the message begins, and writes
    /// the ids for the venue.
    ///
    /// An unknown id that the message refers to (for example after all state was lost) is remembered like a new id.
    /// Such an id cannot reach another client's order, and responses to it find the client.
    ///
    /// # Errors
    ///
    /// [`OrdersError::Full`], [`OrdersError::TooManySessions`], [`OrdersError::NoId`], [`OrdersError::IdTooLong`]
    /// and [`OrdersError::IdsUsedUp`], each counted as refused. The message is unchanged, and none of its ids is
    /// remembered.
    pub fn outbound(
        &mut self,
        now: Timestamp,
        client: SessionId,
        venue: SessionId,
        draft: &mut Draft,
    ) -> Result<Out, OrdersError> {
        let asks = table::asks(draft.msg_type());
        if asks.is_empty() {
            return Ok(Out::Other);
        }
        let done = self.send(now, client, venue, asks, draft);
        self.refused += u64::from(done.is_err());
        done
    }

    fn send(
        &mut self,
        now: Timestamp,
        client: SessionId,
        venue: SessionId,
        asks: &'static [OutboundId],
        draft: &mut Draft,
    ) -> Result<Out, OrdersError> {
        let at = self.venue(venue)?;
        let subscription = draft.get(tag::SUBSCRIPTION_REQUEST_TYPE);
        let way = Way {
            now,
            client,
            at,
            venue,
            ids: self.venues[at].rewriting.unwrap_or(self.config.rewriting),
            again: draft.get(tag::POSS_RESEND) == Some(b"Y"),
            subscribes: subscription == Some(b"1"),
            unsubscribes: subscription == Some(b"2"),
        };
        self.hashes.clear();
        let hashes = (0..draft.len()).map(|place| match find(asks, draft.tag(place)) {
            Some(_) => self.book.hashed(draft.value(place)).hash,
            None => IdHash::default(),
        });
        self.hashes.extend(hashes);
        let out = self.look(way, asks, draft)?;
        if out == Out::Duplicate {
            return Ok(out);
        }
        // Names that an order refers to, and the list to which the order belongs, are made before the order's own
        // name.
        let mut within = Link::default();
        for place in 0..draft.len() {
            let Some(ask) = find(asks, draft.tag(place)) else {
                continue;
            };
            let is_order = ask.kind == IdKind::Order;
            if draft.value(place).is_empty() || (is_order && way.begins(ask)) {
                continue;
            }
            let id = self.hashed(draft, place);
            let name = self.name(way, ask, id, Link::default(), within)?;
            if !is_order && ask.role != IdRole::Asks && within.number == 0 {
                within = self.book.link(name);
            }
            if way.unsubscribes && ask.role == IdRole::Asks {
                self.book.close(name, State::Ended);
            }
            draft.change_at(place, self.book.id(name, By::Venue));
        }
        for place in 0..draft.len() {
            let Some(ask) = find(asks, draft.tag(place)) else {
                continue;
            };
            let begins = ask.kind == IdKind::Order && way.begins(ask);
            if !begins || draft.value(place).is_empty() {
                continue;
            }
            let before = beside(draft, place)
                .and_then(|id| self.book.at_venue(venue, IdKind::Order, id))
                .map_or(Link::default(), |name| self.book.link(name));
            let name = self.name(way, ask, self.hashed(draft, place), before, within)?;
            draft.change_at(place, self.book.id(name, By::Venue));
        }
        Ok(out)
    }

    /// The id at a place of the message, with its hash.
    fn hashed<'d>(&self, draft: &'d Draft, place: usize) -> HashedId<'d> {
        HashedId {
            id: draft.value(place),
            hash: self.hashes[place],
        }
    }

    /// Classifies the message and makes room for the names that it begins; changes nothing else.
    fn look(&mut self, way: Way, asks: &[OutboundId], draft: &Draft) -> Result<Out, OrdersError> {
        let (mut begins, mut begun, mut needs, mut keeps) = (0, 0, 0, 0);
        let mut duplicate = false;
        for place in 0..draft.len() {
            let id = draft.value(place);
            let Some(ask) = find(asks, draft.tag(place)).filter(|_| !id.is_empty()) else {
                continue;
            };
            if id.len() > self.book.id_max() {
                return Err(OrdersError::IdTooLong { tag: ask.tag });
            }
            let new = way.begins(ask);
            begins += usize::from(new);
            let id = self.hashed(draft, place);
            let (client, venue) = (way.client, way.venue);
            match self.book.of_client_hashed(client, venue, ask.kind, id) {
                Some(name) => {
                    let open = self.book.name(name).state.is_open();
                    duplicate |= new && open && !way.again;
                    begun += usize::from(new);
                    needs += usize::from(new && !way.again);
                    keeps += usize::from(self.book.may_be_forgotten(name));
                    // The name counts as just used, so that it is not forgotten to make room below.
                    self.book.touch(name, way.now);
                }
                None => needs += 1,
            }
        }
        if asks.iter().any(|ask| way.begins(*ask)) && begins == 0 {
            return Err(OrdersError::NoId);
        }
        if duplicate {
            return Ok(Out::Duplicate);
        }
        if self.venues[way.at].next.saturating_add(needs as u64) > way.ids.end() {
            return Err(OrdersError::IdsUsedUp);
        }
        while self.book.room() < needs + keeps {
            let quiet = self.config.forget_quiet;
            if !quiet.is_some_and(|quiet| self.book.forget_quiet(way.now, quiet)) {
                return Err(OrdersError::Full);
            }
        }
        Ok(match begins {
            0 => Out::Names,
            _ if way.again && begun == begins => Out::Again,
            _ => Out::New,
        })
    }

    /// The name of an id in this message; makes it if it is new.
    fn name(
        &mut self,
        way: Way,
        ask: OutboundId,
        id: HashedId<'_>,
        before: Link,
        within: Link,
    ) -> Result<u32, OrdersError> {
        let begins = way.begins(ask);
        let (client, venue) = (way.client, way.venue);
        let known = self.book.of_client_hashed(client, venue, ask.kind, id);
        if let Some(name) = known {
            // If the message has this id twice, the first occurrence has already opened the name.
            if !begins || way.again || self.book.name(name).state.is_open() {
                return Ok(name);
            }
        }
        let (purpose, state) = match ask.role {
            IdRole::Replaces => (Purpose::Replace, State::Pending),
            IdRole::Cancels => (Purpose::Cancel, State::Pending),
            IdRole::Orders if ask.kind == IdKind::Order => (Purpose::Order, State::Live),
            IdRole::Asks if way.subscribes => (Purpose::Request, State::Live),
            IdRole::Asks => (Purpose::Request, State::Ended),
            IdRole::Orders | IdRole::Names => (Purpose::Order, State::Ended),
        };
        let new = New {
            client,
            venue,
            kind: ask.kind,
            purpose,
            state,
            before,
            within,
        };
        let other = self.book.at_venue_hashed(venue, ask.kind, id);
        let mut rewrite = way.ids.must(id.id);
        rewrite |= other.is_some_and(|name| Some(name) != known);
        if let Some(name) = known {
            // From now on, an id that is used again refers to the new order.
            let same_there = !rewrite && self.book.id(name, By::Venue) == id.id;
            // A name with an OrderID(37) stays: the OrderID tells later reports about the earlier order, such as busts,
            // from reports about the new order.
            let may_go =
                self.book.name(name).needed == 0 && !self.book.is_indexed(name, By::OrderId);
            if same_there && may_go {
                self.book.forget(name);
            } else {
                self.book.unindex(name, By::Client);
                if same_there {
                    // The old name stays: reports about its replacements still refer to it.
                    self.book.unindex(name, By::Venue);
                }
            }
        }
        let made = if rewrite {
            let (text, len) = way.ids.write(self.venues[way.at].next);
            self.venues[way.at].next += 1;
            self.rewritten += 1;
            let venue_id = self.book.hashed(&text[..len]);
            self.book.make(way.now, new, id, venue_id)
        } else {
            self.book.make(way.now, new, id, id)
        };
        made.ok_or(OrdersError::Full)
    }
}

fn find(asks: &[OutboundId], tag: Tag) -> Option<OutboundId> {
    asks.iter().find(|ask| ask.tag == tag).copied()
}

/// The OrigClOrdID(41) that belongs to the ClOrdID(11) at an index: the last OrigClOrdID before it or the first after
/// it, with no other ClOrdID between them. In a message with a group of sides, each entry has one ClOrdID and one
/// OrigClOrdID.
fn beside(draft: &Draft, place: usize) -> Option<&[u8]> {
    let near = |at: &usize| [tag::CL_ORD_ID, tag::ORIG_CL_ORD_ID].contains(&draft.tag(*at));
    let behind = (place + 1..draft.len()).find(near);
    let before = (0..place).rev().find(near);
    [before, behind]
        .into_iter()
        .flatten()
        .find(|at| draft.tag(*at) == tag::ORIG_CL_ORD_ID)
        .map(|at| draft.value(at))
}
