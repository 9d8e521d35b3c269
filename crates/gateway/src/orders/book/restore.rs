//! Restores the names of a checkpoint.

use alloc::vec::Vec;

use fixwire_ledger::record;
use fixwire_protocol::{SessionId, Timestamp};

use super::super::table::IdKind;
use super::{Book, By, EMPTY, FREE, Link, NOWHERE, Name, Purpose, Queue, State};

/// The bit that says that the venue has answered the name.
pub(in crate::orders) const ANSWERED: u8 = 3;

/// A name in a checkpoint. A name refers to other names by number; 0 means no name.
#[derive(Clone, Copy, Debug)]
pub(in crate::orders) struct SavedName<'a> {
    pub(in crate::orders) number: u64,
    pub(in crate::orders) client: u32,
    pub(in crate::orders) venue: u32,
    pub(in crate::orders) kind: IdKind,
    pub(in crate::orders) purpose: Purpose,
    pub(in crate::orders) state: State,
    pub(in crate::orders) queue: Queue,
    pub(in crate::orders) began: Timestamp,
    pub(in crate::orders) touched: Timestamp,
    pub(in crate::orders) opened: u64,
    pub(in crate::orders) before: u64,
    pub(in crate::orders) chain: u64,
    pub(in crate::orders) within: u64,
    /// A bit for each of [`By::ALL`] by which the name is found, and [`ANSWERED`].
    pub(in crate::orders) found_by: u8,
    pub(in crate::orders) client_id: &'a [u8],
    pub(in crate::orders) venue_id: &'a [u8],
    /// OrderID(37); empty if the name is not found by an OrderID.
    pub(in crate::orders) order_id: &'a [u8],
}

record! {
    SavedName<'a> {
        number, client, venue, kind, purpose, state, queue, began, touched, opened, before, chain, within, found_by,
        client_id, venue_id, order_id
    }
}

impl<'a> SavedName<'a> {
    /// An id for each of [`By::ALL`].
    pub(in crate::orders) fn ids(&self) -> [&'a [u8]; 3] {
        [self.client_id, self.venue_id, self.order_id]
    }
}

/// Places by number.
struct Numbers(Vec<(u64, u32)>);

impl Numbers {
    /// `None` if two names have the same number.
    fn new(saved: &[SavedName<'_>]) -> Option<Self> {
        let mut numbers: Vec<_> = (0_u32..)
            .zip(saved)
            .map(|(place, name)| (name.number, place))
            .collect();
        numbers.sort_unstable();
        let twice = numbers.windows(2).any(|pair| pair[0].0 == pair[1].0);
        (!twice).then_some(Self(numbers))
    }

    /// The name with a number; `None` for an unknown number.
    fn link(&self, number: u64) -> Option<Link> {
        if number == 0 {
            return Some(Link::default());
        }
        let at = self.0.binary_search_by_key(&number, |(number, _)| *number);
        let (number, place) = *self.0.get(at.ok()?)?;
        Some(Link { place, number })
    }
}

impl Book {
    /// Fills an empty book with names. The caller has checked that their number and the lengths of their ids fit.
    /// `None` if the names contradict each other; then the book must not be used.
    pub(in crate::orders) fn restore(
        &mut self,
        saved: &[SavedName<'_>],
        next_number: u64,
        next_opened: u64,
    ) -> Option<()> {
        let numbers = Numbers::new(saved)?;
        self.next_number = next_number;
        self.next_opened = next_opened;
        // Free places are taken from the end of the list.
        self.free
            .truncate(self.names.len().checked_sub(saved.len())?);
        for (place, name) in (0_u32..).zip(saved) {
            self.restore_name(place, name, &numbers, saved)?;
        }
        self.restore_chains(saved, &numbers)?;
        let mut open: Vec<_> = (0_u32..)
            .zip(saved)
            .filter(|(_, name)| name.state.is_open())
            .map(|(place, name)| (name.opened, place))
            .collect();
        open.sort_unstable();
        if open.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        open.iter().for_each(|(_, place)| self.join(*place));
        // `join` has put the names into their lists, but not in the saved order, so the lists are made again.
        self.queues = [EMPTY; 3];
        let places = (0_u32..).zip(saved);
        for (place, name) in places {
            if self.name(place).queue != name.queue {
                return None;
            }
            self.push(place, name.queue);
        }
        Some(())
    }

    fn restore_name(
        &mut self,
        place: u32,
        name: &SavedName<'_>,
        numbers: &Numbers,
        saved: &[SavedName<'_>],
    ) -> Option<()> {
        let open = name.state.is_open();
        let counted = (1..self.next_number).contains(&name.number)
            && (if open { 1..self.next_opened } else { 0..1 }).contains(&name.opened);
        let before = numbers.link(name.before)?;
        let same = |other: &SavedName<'_>| {
            (other.client, other.venue, other.kind) == (name.client, name.venue, name.kind)
        };
        let related = before.number == 0 || same(&saved[before.place as usize]);
        let is_known = name.found_by >> (ANSWERED + 1) == 0;
        if !counted
            || !related
            || !is_known
            || name.client_id.is_empty()
            || name.venue_id.is_empty()
        {
            return None;
        }
        self.names[place as usize] = Name {
            number: name.number,
            client: SessionId(name.client),
            venue: SessionId(name.venue),
            kind: name.kind,
            purpose: name.purpose,
            state: name.state,
            began: name.began,
            touched: name.touched,
            is_answered: name.found_by >> ANSWERED & 1 != 0,
            opened: name.opened,
            before,
            ..FREE
        };
        self.push(place, Queue::Closed);
        for by in By::ALL {
            let id = name.ids()[by as usize];
            if name.found_by >> (by as u8) & 1 == 0 {
                // The name is no longer found by this id, but the id is still written into reports.
                self.keep(place, by, id);
                continue;
            }
            if id.is_empty() || !self.index_new(place, by, id) {
                return None;
            }
        }
        Some(())
    }

    /// Restores the chains. Sorting puts the names of one order together.
    fn restore_chains(&mut self, saved: &[SavedName<'_>], numbers: &Numbers) -> Option<()> {
        let mut by_chain: Vec<_> = (0_u32..)
            .zip(saved)
            .map(|(place, name)| (name.chain, place))
            .collect();
        by_chain.sort_unstable();
        let mut earlier: Option<&SavedName<'_>> = None;
        let mut chain = NOWHERE;
        for (id, place) in by_chain {
            let name = &saved[place as usize];
            let ordered = name.kind == IdKind::Order && name.purpose != Purpose::Request;
            // A name without a chain cannot belong to a list or cross.
            let is_in_list = id == 0 && name.within != 0;
            if ordered != (id != 0) || id >= self.next_number || is_in_list {
                return None;
            }
            if id == 0 {
                continue;
            }
            match earlier.filter(|earlier| earlier.chain == id) {
                Some(earlier) => {
                    let of = |name: &SavedName<'_>| (name.client, name.venue, name.within);
                    if of(earlier) != of(name) {
                        return None;
                    }
                }
                None => {
                    chain = self.free_chains.pop()?;
                    let within = numbers.link(name.within)?;
                    let made = &mut self.chains[chain as usize];
                    (made.id, made.within) = (id, within);
                }
            }
            self.chains[chain as usize].names += 1;
            self.names[place as usize].chain = chain;
            earlier = Some(name);
        }
        Some(())
    }
}
