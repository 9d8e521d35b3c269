//! The ids in memory.
//!
//! Each id is a *name*: a client's id of one kind at one venue, together with the id that the venue knows. The names
//! of one order (its own name, and those of its replaces and cancels) form a *chain*. A name is open while responses
//! are expected. A closed name may be forgotten when room is needed, unless an open name needs it to restore the ids
//! in reports: such a closed name is held.
//!
//! ```text
//!              report, reject                    last open name that needs it closes
//!   Open ---------------------> Held (is needed) ------------------------------------> Closed
//!    ^  \-----------------------------------------------------------------------------> /  |
//!    +----------------------------- open again (bust, restated) -----------------------+   forgotten,
//!                                                                                          oldest first
//! ```

mod index;
mod restore;

use alloc::vec;
use alloc::vec::Vec;

use fixwire_ledger::bytes;
use fixwire_protocol::{Nanos, SessionId, Timestamp};
use siphasher::sip::SipHasher13;

use super::held_at::HeldAt;
use super::table::IdKind;
use index::Places;
pub(super) use index::{HashedId, IdHash};
pub(super) use restore::{ANSWERED, SavedName};

/// Means: no place.
pub(super) const NOWHERE: u32 = u32::MAX;

bytes! {
    /// The purpose of a name.
    Purpose {
        /// An order, a list, or a cross.
        Order = 0,
        /// A replacement, which becomes the order when it is accepted.
        Replace = 1,
        /// A cancel.
        Cancel = 2,
        /// Any other request.
        Request = 3,
    }
}

bytes! {
    /// The state of a name.
    State {
        /// A replacement or cancel without a response.
        Pending = 0,
        /// An order that may trade, or a subscription.
        Live = 1,
        /// An order that continues under another id.
        Replaced = 2,
        /// No further response is expected.
        Ended = 3,
    }
}

impl Queue {
    pub(super) const ALL: [Self; 3] = [Self::Open, Self::Held, Self::Closed];
}

impl State {
    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::Live)
    }
}

/// A reference to a name that may have been forgotten since.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Link {
    pub(super) place: u32,
    /// The name's number; 0 for no name.
    pub(super) number: u64,
}

bytes! {
    /// The list in which a name is; each name is in exactly one.
    Queue {
        /// Open names; those without messages for the longest time come first.
        Open = 0,
        /// Closed names that an open name needs.
        Held = 1,
        /// Closed names that may be forgotten; the first to be forgotten comes first.
        Closed = 2,
    }
}

/// The id by which a name is found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum By {
    /// The id that the client gave.
    Client,
    /// The id that the venue knows.
    Venue,
    /// OrderID(37), which the venue gave.
    OrderId,
}

impl By {
    pub(super) const ALL: [Self; 3] = [Self::Client, Self::Venue, Self::OrderId];
}

#[derive(Clone, Debug)]
pub(super) struct Name {
    /// The name's serial number; 0 for a free place.
    pub(super) number: u64,
    pub(super) client: SessionId,
    pub(super) venue: SessionId,
    pub(super) kind: IdKind,
    pub(super) purpose: Purpose,
    pub(super) state: State,
    /// Time at which the name was made.
    pub(super) began: Timestamp,
    pub(super) touched: Timestamp,
    /// Whether the venue has responded about the name.
    pub(super) is_answered: bool,
    /// Serial number that the name got when it was opened.
    pub(super) opened: u64,
    /// The name that this name's request replaces or cancels.
    pub(super) before: Link,
    pub(super) chain: u32,
    /// Number of open names that need this name.
    pub(super) needed: u32,
    /// Position of the message that began the name, if the gateway holds the message. This position is not part of the
    /// state.
    pub(super) held: Option<HeldAt>,
    pub(super) lens: [u8; 3],
    /// The hash under which the name is found, for each of [`By::ALL`]; `None` when the name is not found by this id.
    pub(super) indexed: [Option<u32>; 3],
    pub(super) queue: Queue,
    pub(super) earlier: u32,
    pub(super) later: u32,
    pub(super) earlier_open: u32,
    pub(super) later_open: u32,
}

const FREE: Name = Name {
    number: 0,
    client: SessionId(0),
    venue: SessionId(0),
    kind: IdKind::Order,
    purpose: Purpose::Order,
    state: State::Ended,
    began: Timestamp(0),
    touched: Timestamp(0),
    is_answered: false,
    opened: 0,
    before: Link {
        place: NOWHERE,
        number: 0,
    },
    chain: NOWHERE,
    needed: 0,
    held: None,
    lens: [0; 3],
    indexed: [None; 3],
    queue: Queue::Closed,
    earlier: NOWHERE,
    later: NOWHERE,
    earlier_open: NOWHERE,
    later_open: NOWHERE,
};

/// The names of one order.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The number of the name that began the order.
    pub(super) id: u64,
    /// The list or cross to which the order belongs.
    pub(super) within: Link,
    /// The open names, in the order in which they were opened.
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) open: u32,
    pub(super) names: u32,
}

/// The ends of a list of names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) len: u32,
}

const EMPTY: Ends = Ends {
    first: NOWHERE,
    last: NOWHERE,
    len: 0,
};

/// The data of a new name.
#[derive(Clone, Copy, Debug)]
pub(super) struct New {
    pub(super) client: SessionId,
    pub(super) venue: SessionId,
    pub(super) kind: IdKind,
    pub(super) purpose: Purpose,
    pub(super) state: State,
    pub(super) before: Link,
    pub(super) within: Link,
}

/// All names, in memory that is allocated once.
#[derive(Clone, Debug)]
pub(super) struct Book {
    pub(super) names: Vec<Name>,
    pub(super) free: Vec<u32>,
    pub(super) chains: Vec<Chain>,
    pub(super) free_chains: Vec<u32>,
    /// Three ids for each name, each with room for `id_max` bytes.
    pub(super) text: Vec<u8>,
    pub(super) id_max: usize,
    /// The index for each of [`By::ALL`].
    pub(super) places: [Places; 3],
    pub(super) queues: [Ends; 3],
    pub(super) hasher: SipHasher13,
    /// Each client with the number of its names that may not be forgotten, sorted by client.
    pub(super) kept: Vec<(SessionId, u32)>,
    /// The number of the next name.
    pub(super) next_number: u64,
    /// The serial number of the next opening.
    pub(super) next_opened: u64,
    /// Number of orders with an open name.
    pub(super) live: u64,
}

impl Book {
    pub(super) fn new(names: u32, id_max: usize, seed: [u8; 16]) -> Self {
        let count = names as usize;
        let places = Places::new(count);
        let chain = Chain {
            id: 0,
            within: Link::default(),
            first: NOWHERE,
            last: NOWHERE,
            open: 0,
            names: 0,
        };
        Self {
            names: vec![FREE; count],
            free: (0..names).rev().collect(),
            chains: vec![chain; count],
            free_chains: (0..names).rev().collect(),
            text: vec![0; count * id_max * 3],
            id_max,
            places: [places.clone(), places.clone(), places],
            queues: [EMPTY; 3],
            hasher: SipHasher13::new_with_key(&seed),
            // Memory for more clients is allocated when they appear.
            kept: Vec::with_capacity(256),
            next_number: 1,
            next_opened: 1,
            live: 0,
        }
    }

    pub(super) fn name(&self, place: u32) -> &Name {
        &self.names[place as usize]
    }

    pub(super) fn id_max(&self) -> usize {
        self.id_max
    }

    pub(super) fn len(&self) -> usize {
        self.names.len() - self.free.len()
    }

    /// Number of names that could be made now: free places plus names that may be forgotten.
    pub(super) fn room(&self) -> usize {
        self.free.len() + self.queues[Queue::Closed as usize].len as usize
    }

    /// Number of this client's names that may not be forgotten.
    pub(super) fn kept_of(&self, client: SessionId) -> u32 {
        let at = self.kept.binary_search_by_key(&client, |(one, _)| *one);
        at.map_or(0, |at| self.kept[at].1)
    }

    pub(super) fn kept(&self) -> usize {
        self.names.len() - self.room()
    }

    /// The client with the most names that may not be forgotten.
    pub(super) fn keeps_most(&self) -> Option<SessionId> {
        let most = self.kept.iter().max_by_key(|(_, count)| *count);
        most.map(|(client, _)| *client)
    }

    /// Updates the number of a client's names that may not be forgotten, when a name moves between lists.
    fn count_kept(&mut self, client: SessionId, from: Queue, to: Queue) {
        if (from == Queue::Closed) == (to == Queue::Closed) {
            return;
        }
        let found = self.kept.binary_search_by_key(&client, |(one, _)| *one);
        let at = found.unwrap_or_else(|at| {
            self.kept.insert(at, (client, 0));
            at
        });
        let count = &mut self.kept[at].1;
        match to {
            Queue::Closed => *count -= 1,
            Queue::Open | Queue::Held => *count += 1,
        }
    }

    pub(super) fn may_be_forgotten(&self, place: u32) -> bool {
        self.name(place).queue == Queue::Closed
    }

    pub(super) fn within(&self, place: u32) -> Link {
        let chain = self.chains.get(self.name(place).chain as usize);
        chain.map_or(Link::default(), |chain| chain.within)
    }

    /// The id of a name's chain; 0 for a name without a chain.
    pub(super) fn chain_id(&self, place: u32) -> u64 {
        let chain = self.chains.get(self.name(place).chain as usize);
        chain.map_or(0, |chain| chain.id)
    }

    /// The open names of the order of a name, in the order in which they were opened.
    pub(super) fn open_names(&self, place: u32) -> impl Iterator<Item = u32> {
        let chain = self.chains.get(self.name(place).chain as usize);
        let first = chain.map_or(NOWHERE, |chain| chain.first);
        let is_one = |place: &u32| *place != NOWHERE;
        core::iter::successors(Some(first).filter(is_one), move |place| {
            Some(self.name(*place).later_open).filter(is_one)
        })
    }

    pub(super) fn set_held(&mut self, place: u32, held: Option<HeldAt>) {
        self.names[place as usize].held = held;
    }

    /// Whether the order of a name has an open name.
    pub(super) fn is_trading(&self, place: u32) -> bool {
        let chain = self.chains.get(self.name(place).chain as usize);
        chain.is_some_and(|chain| chain.open > 0)
    }

    pub(super) fn link(&self, place: u32) -> Link {
        let number = self.name(place).number;
        Link { place, number }
    }

    /// The place of the name that a link refers to; `None` once the name is forgotten.
    pub(super) fn follow(&self, link: Link) -> Option<u32> {
        let name = self.names.get(link.place as usize)?;
        (link.number != 0 && name.number == link.number).then_some(link.place)
    }

    /// Makes a name. Without a free place, the first name that may be forgotten makes room. `None` if there is no
    /// room.
    pub(super) fn make(
        &mut self,
        now: Timestamp,
        new: New,
        client_id: HashedId<'_>,
        venue_id: HashedId<'_>,
    ) -> Option<u32> {
        if self.free.is_empty() {
            self.forget_oldest();
        }
        let place = self.free.pop()?;
        let chain = match self.follow(new.before) {
            Some(before) if self.name(before).chain != NOWHERE => self.name(before).chain,
            _ if new.kind == IdKind::Order && new.purpose != Purpose::Request => {
                let chain = self.free_chains.pop()?;
                self.chains[chain as usize].id = self.next_number;
                self.chains[chain as usize].within = new.within;
                chain
            }
            _ => NOWHERE,
        };
        if let Some(chain) = self.chains.get_mut(chain as usize) {
            chain.names += 1;
        }
        let number = self.next_number;
        self.next_number += 1;
        self.names[place as usize] = Name {
            number,
            client: new.client,
            venue: new.venue,
            kind: new.kind,
            purpose: new.purpose,
            before: new.before,
            began: now,
            touched: now,
            chain,
            ..FREE
        };
        self.index(place, By::Client, client_id);
        self.index(place, By::Venue, venue_id);
        self.push(place, Queue::Closed);
        if new.state.is_open() {
            self.open(place, new.state);
        }
        Some(place)
    }

    /// Forgets a name and all its ids.
    pub(super) fn forget(&mut self, place: u32) {
        if self.name(place).state.is_open() {
            self.close(place, State::Ended);
        }
        By::ALL.iter().for_each(|by| self.unindex(place, *by));
        let (client, queue) = (self.name(place).client, self.name(place).queue);
        self.count_kept(client, queue, Queue::Closed);
        self.take(place);
        let at = self.name(place).chain;
        if let Some(chain) = self.chains.get_mut(at as usize) {
            chain.names -= 1;
            if chain.names == 0 {
                self.free_chains.push(at);
            }
        }
        self.names[place as usize] = FREE;
        self.free.push(place);
    }

    /// Forgets the first name that may be forgotten; returns whether there was one.
    pub(super) fn forget_oldest(&mut self) -> bool {
        let oldest = self.queues[Queue::Closed as usize].first;
        if oldest != NOWHERE {
            self.forget(oldest);
        }
        oldest != NOWHERE
    }

    /// Whether the open name with the oldest activity has been quiet for at least this time.
    pub(super) fn is_quiet(&self, now: Timestamp, quiet: Nanos) -> bool {
        let place = self.queues[Queue::Open as usize].first;
        let long = |name: &Name| {
            let silent = now.0.saturating_sub(name.touched.0);
            u64::try_from(silent).is_ok_and(|silent| silent >= quiet.0)
        };
        self.names.get(place as usize).is_some_and(long)
    }

    /// Forgets the open name with the oldest activity, if it has been quiet for at least `quiet`; returns whether it
    /// did.
    pub(super) fn forget_quiet(&mut self, now: Timestamp, quiet: Nanos) -> bool {
        let found = self.is_quiet(now, quiet);
        if found {
            self.forget(self.queues[Queue::Open as usize].first);
        }
        found
    }

    /// Opens a name: responses are expected under it.
    pub(super) fn open(&mut self, place: u32, state: State) {
        if self.name(place).state.is_open() {
            self.names[place as usize].state = state;
            return;
        }
        self.names[place as usize].state = state;
        self.names[place as usize].opened = self.next_opened;
        self.next_opened += 1;
        self.join(place);
    }

    /// Adds an open name to its chain, and holds the closed names that it needs.
    pub(super) fn join(&mut self, place: u32) {
        let (at, before) = (self.name(place).chain, self.name(place).before);
        if let Some(chain) = self.chains.get_mut(at as usize) {
            let last = core::mem::replace(&mut chain.last, place);
            chain.open += 1;
            let within = (chain.open == 1).then_some(chain.within);
            self.live += u64::from(within.is_some());
            if last == NOWHERE {
                chain.first = place;
            } else {
                self.names[last as usize].later_open = place;
            }
            self.names[place as usize].earlier_open = last;
            self.names[place as usize].later_open = NOWHERE;
            within.into_iter().for_each(|link| self.need(link));
        }
        self.need(before);
        self.settle(place);
    }

    /// Closes a name: no further response is expected under it.
    pub(super) fn close(&mut self, place: u32, state: State) {
        let was = core::mem::replace(&mut self.names[place as usize].state, state);
        if !was.is_open() {
            return;
        }
        let name = self.name(place);
        let (at, before) = (name.chain, name.before);
        let (earlier, later) = (name.earlier_open, name.later_open);
        self.release(before);
        if let Some(chain) = self.chains.get_mut(at as usize) {
            chain.open -= 1;
            let within = (chain.open == 0).then_some(chain.within);
            self.live -= u64::from(within.is_some());
            if earlier == NOWHERE {
                chain.first = later;
            }
            if later == NOWHERE {
                chain.last = earlier;
            }
            if let Some(name) = self.names.get_mut(earlier as usize) {
                name.later_open = later;
            }
            if let Some(name) = self.names.get_mut(later as usize) {
                name.earlier_open = earlier;
            }
            within.into_iter().for_each(|link| self.release(link));
        }
        self.settle(place);
    }

    /// Closes all names of an order that has ended.
    pub(super) fn end(&mut self, place: u32) {
        let at = self.name(place).chain as usize;
        if at >= self.chains.len() {
            self.close(place, State::Ended);
            return;
        }
        while self.chains[at].first != NOWHERE {
            self.close(self.chains[at].first, State::Ended);
        }
    }

    fn need(&mut self, link: Link) {
        if let Some(place) = self.follow(link) {
            self.names[place as usize].needed += 1;
            self.settle(place);
        }
    }

    fn release(&mut self, link: Link) {
        if let Some(place) = self.follow(link) {
            self.names[place as usize].needed -= 1;
            self.settle(place);
        }
    }

    /// Moves a name to the end of the list to which it belongs.
    fn settle(&mut self, place: u32) {
        let name = self.name(place);
        let queue = match (name.state.is_open(), name.needed) {
            (true, _) => Queue::Open,
            (false, 0) => Queue::Closed,
            (false, _) => Queue::Held,
        };
        if queue != name.queue {
            self.count_kept(name.client, name.queue, queue);
            self.take(place);
            self.push(place, queue);
        }
    }

    /// Marks a name as answered by the venue; returns whether it was not marked before.
    pub(super) fn set_answered(&mut self, place: u32) -> bool {
        !core::mem::replace(&mut self.names[place as usize].is_answered, true)
    }

    /// Records activity of a name: it moves to the end of its list.
    pub(super) fn touch(&mut self, place: u32, now: Timestamp) {
        self.names[place as usize].touched = now;
        let queue = self.name(place).queue;
        self.take(place);
        self.push(place, queue);
    }

    fn push(&mut self, place: u32, queue: Queue) {
        let ends = &mut self.queues[queue as usize];
        let last = core::mem::replace(&mut ends.last, place);
        ends.len += 1;
        if last == NOWHERE {
            ends.first = place;
        } else {
            self.names[last as usize].later = place;
        }
        let name = &mut self.names[place as usize];
        (name.queue, name.earlier, name.later) = (queue, last, NOWHERE);
    }

    fn take(&mut self, place: u32) {
        let name = self.name(place);
        let (queue, earlier, later) = (name.queue, name.earlier, name.later);
        let ends = &mut self.queues[queue as usize];
        ends.len -= 1;
        if earlier == NOWHERE {
            ends.first = later;
        } else {
            self.names[earlier as usize].later = later;
        }
        if later == NOWHERE {
            self.queues[queue as usize].last = earlier;
        } else {
            self.names[later as usize].earlier = earlier;
        }
    }

    /// The names in a list, first to last.
    pub(super) fn queue(&self, queue: Queue) -> impl Iterator<Item = u32> + '_ {
        let first = self.queues[queue as usize].first;
        let some = |place: u32| (place != NOWHERE).then_some(place);
        core::iter::successors(some(first), move |place| some(self.name(*place).later))
    }
}
