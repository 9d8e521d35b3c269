//! Values remembered for orders, by client and ClOrdID(11), within one memory limit.
//!
//! ```text
//! head   order > order               the orders of one hash
//! age    order > order > order       each client's orders; without room, the first order of the client with
//!                                    the most bytes is dropped
//! order  cell 7 > cell 2             id and fields continue in the next cell
//! free   cell 1 > cell 5             allocated once, reused
//! ```
//!
//! An order is identified by the number of its first cell, counted from 1.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hash::Hasher;

use fixwire_protocol::{SOH, SessionId};
use siphasher::sip::SipHasher13;

mod pieces;

/// Maximum length of an id, in bytes.
pub(super) const MAX_ID: usize = 255;
/// Bytes of an order's data per cell.
const DATA: usize = 103;
/// Cells per block; memory is allocated in blocks.
const CELLS: usize = 32;
/// Memory of a block and its pointer, in bytes.
const BLOCK: u64 = (size_of::<[Cell; CELLS]>() + size_of::<Box<[Cell; CELLS]>>()) as u64;
/// Number of bytes of the memory limit for each list head of the hash table.
const PER_HEAD: u64 = 256;
/// Means: no cell.
const NONE: u32 = 0;

/// A part of an order's data. Only the first cell of an order uses more than `next` and `data`.
#[derive(Clone, Copy)]
struct Cell {
    next: u32,
    next_of_hash: u32,
    earlier: u32,
    later: u32,
    client: u32,
    /// Length of the order's id plus its fields, in bytes.
    len: u32,
    id_len: u8,
    data: [u8; DATA],
}

const FREE: Cell = Cell {
    next: NONE,
    next_of_hash: NONE,
    earlier: NONE,
    later: NONE,
    client: 0,
    len: 0,
    id_len: 0,
    data: [0; DATA],
};

/// Current usage.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Remembered {
    /// Number of order ids with remembered values.
    pub orders: u64,
    /// Memory in use, in bytes.
    pub bytes: u64,
    /// Number of orders dropped for lack of room, including drops that the notes in the journal record.
    pub dropped: u64,
}

/// The orders of one client, by age.
#[derive(Clone, Copy)]
struct Age {
    /// The oldest and the newest order.
    first: u32,
    last: u32,
    cells: usize,
}

const NO_ORDERS: Age = Age {
    first: NONE,
    last: NONE,
    cells: 0,
};

/// The values remembered for orders.
pub(super) struct Memory {
    max_bytes: u64,
    blocks: Vec<Box<[Cell; CELLS]>>,
    /// The first order of each hash. Empty before the first order is added.
    heads: Vec<u32>,
    /// The first free cell, and the number of free cells.
    free: (u32, usize),
    /// The orders of each client, by age.
    ages: Vec<Age>,
    counts: Remembered,
    hasher: SipHasher13,
    /// Buffer for the fields of an order.
    fields: Vec<u8>,
}

impl Memory {
    /// An empty store. Memory is allocated as needed, up to `max_bytes`. The key changes no result: it prevents
    /// clients, who do not know it, from choosing ids that make look-ups slow.
    pub fn new(max_bytes: u64, hash_key: [u8; 16]) -> Self {
        Self {
            max_bytes,
            blocks: Vec::new(),
            heads: Vec::new(),
            free: (NONE, 0),
            ages: Vec::new(),
            counts: Remembered::default(),
            hasher: SipHasher13::new_with_key(&hash_key),
            fields: Vec::new(),
        }
    }

    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    pub fn counts(&self) -> Remembered {
        let heads = size_of_val(&self.heads[..]) as u64;
        let bytes = heads + self.blocks.len() as u64 * BLOCK;
        Remembered {
            bytes,
            ..self.counts
        }
    }

    /// Memory that orders use, in bytes; free cells do not count.
    pub fn taken(&self) -> u64 {
        let cells = self.blocks.len() * CELLS - self.free.1;
        (size_of_val(&self.heads[..]) + cells * size_of::<Cell>()) as u64
    }

    /// The client with the most remembered bytes.
    pub fn has_most(&self) -> Option<SessionId> {
        let all = self.ages.iter().enumerate();
        let most = all.max_by_key(|(_, age)| age.cells);
        most.map(|(client, _)| SessionId(client as u32))
    }

    /// Whether an order has remembered values.
    pub fn knows(&self, client: SessionId, id: &[u8]) -> bool {
        self.find(client, id).is_some()
    }

    /// Appends an order's remembered values to a buffer, each as `tag=value` and SOH; returns whether there were
    /// any.
    pub fn recall(&self, client: SessionId, id: &[u8], fields: &mut Vec<u8>) -> bool {
        let found = self.find(client, id);
        if let Some(order) = found {
            self.read(order, fields);
        }
        found.is_some()
    }

    /// Whether the fields of an order would have room if nothing else were remembered.
    pub fn fits(&mut self, client: SessionId, id: &[u8], fields: &[u8]) -> bool {
        self.put_together(client, id, fields);
        self.is_room(id)
    }

    /// Whether the merged fields of an order would have room.
    fn is_room(&self, id: &[u8]) -> bool {
        cells(id.len() + self.fields.len()) <= self.max_blocks() * CELLS && id.len() <= MAX_ID
    }

    /// Remembers fields for an order, in addition to the fields that are remembered already. A field without a value
    /// is dropped. When there is no room, the oldest orders of the client with the most bytes are dropped. But if the
    /// order's own client already has `own` bytes, the oldest orders of that client are dropped. An order that does
    /// not fit at all is not remembered.
    pub fn remember(&mut self, client: SessionId, own: Option<u64>, id: &[u8], fields: &[u8]) {
        let fits = self.fits(client, id, fields);
        self.insert(fits, client, own, id);
    }

    /// Replaces the fields of an order by the merged fields.
    fn insert(&mut self, fits: bool, client: SessionId, own: Option<u64>, id: &[u8]) {
        self.forget(client, id);
        if !fits || self.fields.is_empty() {
            return;
        }
        if self.heads.is_empty() {
            self.blocks.reserve_exact(self.max_blocks());
            self.heads = alloc::vec![NONE; head_count(self.max_bytes)];
        }
        let len = id.len() + self.fields.len();
        if self.ages.len() <= client.0 as usize {
            self.ages.resize(client.0 as usize + 1, NO_ORDERS);
        }
        self.make_room(client, own, cells(len));
        let order = self.write(id, len);
        let head = self.head(client, id);
        let next_of_hash = core::mem::replace(&mut self.heads[head], order);
        let age = &mut self.ages[client.0 as usize];
        age.cells += cells(len);
        let earlier = core::mem::replace(&mut age.last, order);
        match earlier {
            NONE => age.first = order,
            earlier => self.cell_mut(earlier).later = order,
        }
        let cell = self.cell_mut(order);
        (cell.next_of_hash, cell.earlier, cell.later) = (next_of_hash, earlier, NONE);
        (cell.client, cell.len, cell.id_len) = (client.0, len as u32, id.len() as u8);
        self.counts.orders += 1;
    }

    /// Forgets an order.
    pub fn forget(&mut self, client: SessionId, id: &[u8]) {
        if let Some(order) = self.find(client, id) {
            let head = self.head(client, id);
            self.drop_order(order, head);
        }
    }

    fn max_blocks(&self) -> usize {
        let heads = (head_count(self.max_bytes) * size_of::<u32>()) as u64;
        (self.max_bytes.saturating_sub(heads) / BLOCK) as usize
    }

    fn cell(&self, number: u32) -> &Cell {
        let at = number as usize - 1;
        &self.blocks[at / CELLS][at % CELLS]
    }

    fn cell_mut(&mut self, number: u32) -> &mut Cell {
        let at = number as usize - 1;
        &mut self.blocks[at / CELLS][at % CELLS]
    }

    fn head(&self, client: SessionId, id: &[u8]) -> usize {
        let mut hasher = self.hasher;
        hasher.write_u32(client.0);
        hasher.write(id);
        hasher.finish() as usize & (self.heads.len() - 1)
    }

    fn find(&self, client: SessionId, id: &[u8]) -> Option<u32> {
        if self.counts.orders == 0 {
            return None;
        }
        let mut order = self.heads[self.head(client, id)];
        while order != NONE && !self.is(order, client, id) {
            order = self.cell(order).next_of_hash;
        }
        (order != NONE).then_some(order)
    }

    fn is(&self, order: u32, client: SessionId, id: &[u8]) -> bool {
        let first = self.cell(order);
        let same = (first.client, usize::from(first.id_len)) == (client.0, id.len());
        same && id
            .chunks(DATA)
            .zip(self.chain(order))
            .all(|(part, cell)| cell.data.starts_with(part))
    }

    /// The cells of an order.
    fn chain(&self, order: u32) -> impl Iterator<Item = &Cell> {
        let first = self.cell(order);
        core::iter::successors(Some(first), |cell| {
            (cell.next != NONE).then(|| self.cell(cell.next))
        })
    }

    /// Appends the fields of an order to a buffer.
    fn read(&self, order: u32, fields: &mut Vec<u8>) {
        let first = self.cell(order);
        let (mut skip, mut left) = (usize::from(first.id_len), first.len as usize);
        for cell in self.chain(order) {
            let here = &cell.data[..left.min(DATA)];
            let id = skip.min(here.len());
            fields.extend_from_slice(&here[id..]);
            skip -= id;
            left -= here.len();
        }
    }

    /// Writes an id and the merged fields into free cells; returns the first cell.
    fn write(&mut self, id: &[u8], len: usize) -> u32 {
        let fields = core::mem::take(&mut self.fields);
        let mut bytes = id.iter().chain(&fields);
        let first = self.take_cell();
        let (mut last, mut left) = (first, len);
        loop {
            let here = left.min(DATA);
            let data = &mut self.cell_mut(last).data[..here];
            data.iter_mut()
                .zip(&mut bytes)
                .for_each(|(to, from)| *to = *from);
            left -= here;
            if left == 0 {
                break;
            }
            let next = self.take_cell();
            self.cell_mut(last).next = next;
            last = next;
        }
        self.fields = fields;
        first
    }

    /// Takes a free cell. The caller has made sure that a cell is free or that a block can be allocated.
    fn take_cell(&mut self) -> u32 {
        if self.free.1 == 0 {
            let made = (self.blocks.len() * CELLS) as u32;
            self.blocks.push(Box::new([FREE; CELLS]));
            for number in (made + 1..=made + CELLS as u32).rev() {
                self.give_cell(number);
            }
        }
        let number = self.free.0;
        self.free = (self.cell(number).next, self.free.1 - 1);
        self.cell_mut(number).next = NONE;
        number
    }

    fn give_cell(&mut self, number: u32) {
        self.cell_mut(number).next = self.free.0;
        self.free = (number, self.free.1 + 1);
    }

    /// Drops orders until `needed` cells are free or can be allocated for this client.
    fn make_room(&mut self, client: SessionId, own: Option<u64>, needed: usize) {
        let at = client.0 as usize;
        let own = own.map_or(usize::MAX, |own| own as usize / size_of::<Cell>());
        while self.ages[at].cells > 0 && self.ages[at].cells + needed > own {
            self.drop_oldest(at);
        }
        while self.free.1 + (self.max_blocks() - self.blocks.len()) * CELLS < needed {
            let some = self.ages.iter().enumerate();
            let some = some.filter(|(_, age)| age.cells > 0);
            let most = some.max_by_key(|(of, age)| age.cells + if *of == at { needed } else { 0 });
            match most {
                Some((client, _)) => self.drop_oldest(client),
                None => return,
            }
        }
    }

    /// Drops the oldest order of a client.
    fn drop_oldest(&mut self, client: usize) {
        let oldest = self.ages[client].first;
        let mut id = [0; MAX_ID];
        let first = self.cell(oldest);
        let (client, len) = (SessionId(first.client), usize::from(first.id_len));
        for (part, cell) in id[..len].chunks_mut(DATA).zip(self.chain(oldest)) {
            part.copy_from_slice(&cell.data[..part.len()]);
        }
        self.drop_order(oldest, self.head(client, &id[..len]));
        self.counts.dropped += 1;
    }

    /// Removes an order from its lists and frees its cells.
    fn drop_order(&mut self, order: u32, head: usize) {
        let Cell {
            next_of_hash,
            earlier,
            later,
            client,
            ..
        } = *self.cell(order);
        let client = client as usize;
        let mut at = self.heads[head];
        if at == order {
            self.heads[head] = next_of_hash;
        } else {
            while self.cell(at).next_of_hash != order {
                at = self.cell(at).next_of_hash;
            }
            self.cell_mut(at).next_of_hash = next_of_hash;
        }
        match earlier {
            NONE => self.ages[client].first = later,
            earlier => self.cell_mut(earlier).later = later,
        }
        match later {
            NONE => self.ages[client].last = earlier,
            later => self.cell_mut(later).earlier = earlier,
        }
        let mut cell = order;
        while cell != NONE {
            let next = self.cell(cell).next;
            self.give_cell(cell);
            self.ages[client].cells -= 1;
            cell = next;
        }
        self.counts.orders -= 1;
    }

    /// Merges the remembered fields of an order with new fields.
    fn put_together(&mut self, client: SessionId, id: &[u8], fields: &[u8]) {
        let mut all = core::mem::take(&mut self.fields);
        all.clear();
        self.recall(client, id, &mut all);
        for field in fields.split_inclusive(|byte| *byte == SOH) {
            let (tag, value) = field.split_at(tag_end(field));
            let place = all
                .split_inclusive(|byte| *byte == SOH)
                .scan(0, |end, known| {
                    let start = core::mem::replace(end, *end + known.len());
                    Some((start..*end, known))
                })
                .find(|(_, known)| known.starts_with(tag));
            if let Some((place, _)) = place {
                all.drain(place);
            }
            if value != [SOH] {
                all.extend_from_slice(field);
            }
        }
        self.fields = all;
    }
}

/// Number of list heads for a memory limit; a power of two.
fn head_count(max_bytes: u64) -> usize {
    1 << (max_bytes / PER_HEAD).max(1).ilog2()
}

/// Number of cells for this number of bytes.
fn cells(len: usize) -> usize {
    len.div_ceil(DATA)
}

/// Position of the value in a field `tag=value`: after the `=`. Without `=`, the end of the field.
fn tag_end(field: &[u8]) -> usize {
    let equals = field.iter().position(|byte| *byte == b'=');
    equals.map_or(field.len(), |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, VecDeque};
    use std::string::String;

    type Key = (u32, String);

    #[derive(Clone, Debug)]
    enum Step {
        /// Remembers a field: its tag, and the length of its value.
        Remember(Key, u8, usize),
        Forget(Key),
    }

    fn step() -> impl Strategy<Value = Step> {
        let id = prop_oneof!["[ab]{1,3}", "[ab]{102,104}", "[ab]{254,255}"];
        let key = (0..2_u32, id).boxed();
        let len = prop_oneof![Just(0), 1..200_usize, 3000..4097_usize];
        prop_oneof![
            4 => (key.clone(), 1..4_u8, len).prop_map(|(key, tag, len)| Step::Remember(key, tag, len)),
            1 => key.prop_map(Step::Forget),
        ]
    }

    /// A simple implementation to compare with: orders with their values, the oldest order first.
    #[derive(Default)]
    struct Model(VecDeque<(Key, BTreeMap<u8, String>)>);

    impl Model {
        fn take(&mut self, key: &Key) -> BTreeMap<u8, String> {
            let at = self.0.iter().position(|(known, _)| known == key);
            at.map_or(BTreeMap::new(), |at| self.0.remove(at).unwrap().1)
        }

        /// Drops the oldest order of the client with the most bytes, the new order included.
        fn drop_one(&mut self, new: &(Key, BTreeMap<u8, String>)) {
            let of = |client| {
                let own = self.0.iter().filter(move |(key, _)| key.0 == client);
                own.map(Self::cells).sum::<usize>()
            };
            let has = |client| {
                of(client)
                    + if new.0.0 == client {
                        Self::cells(new)
                    } else {
                        0
                    }
            };
            let both = (0..2).filter(|client| of(*client) > 0);
            let most = both.max_by_key(|client| has(*client)).unwrap();
            let at = self.0.iter().position(|(key, _)| key.0 == most).unwrap();
            self.0.remove(at);
        }

        fn cells((key, fields): &(Key, BTreeMap<u8, String>)) -> usize {
            cells(key.1.len() + fields.values().map(|value| value.len() + 3).sum::<usize>())
        }
    }

    proptest! {
        #[test]
        fn the_newest_are_remembered_under_any_limit(
            limit in (64_u64 << 10)..(160 << 10),
            steps in prop::collection::vec(step(), 0..300),
        ) {
            let mut memory = Memory::new(limit, [3; 16]);
            let mut model = Model::default();
            let mut dropped = 0;
            for step in steps {
                match step {
                    Step::Remember(key, tag, len) => {
                        let value = "v".repeat(len);
                        let field = std::format!("{tag}={value}\x01");
                        prop_assert!(memory.fits(SessionId(key.0), key.1.as_bytes(), field.as_bytes()));
                        memory.remember(SessionId(key.0), None, key.1.as_bytes(), field.as_bytes());
                        let mut fields = model.take(&key);
                        fields.insert(tag, value);
                        fields.retain(|_, value| !value.is_empty());
                        if !fields.is_empty() {
                            let new = (key, fields);
                            let room = memory.max_blocks() * CELLS - Model::cells(&new);
                            while model.0.iter().map(Model::cells).sum::<usize>() > room {
                                model.drop_one(&new);
                                dropped += 1;
                            }
                            model.0.push_back(new);
                        }
                    }
                    Step::Forget(key) => {
                        memory.forget(SessionId(key.0), key.1.as_bytes());
                        model.take(&key);
                    }
                }
                let counts = memory.counts();
                prop_assert_eq!((counts.orders, counts.dropped), (model.0.len() as u64, dropped));
                prop_assert!(counts.bytes <= limit);
                let used = model.0.iter().map(Model::cells).sum::<usize>();
                prop_assert_eq!(used + memory.free.1, memory.blocks.len() * CELLS);
                for ((client, id), wanted) in &model.0 {
                    let mut found = Vec::new();
                    prop_assert!(memory.recall(SessionId(*client), id.as_bytes(), &mut found));
                    let mut fields: Vec<&[u8]> = found.split(|byte| *byte == SOH).collect();
                    fields.sort_unstable();
                    let wanted = wanted.iter().map(|(tag, value)| std::format!("{tag}={value}"));
                    let wanted: Vec<String> = wanted.collect();
                    let wanted: Vec<&[u8]> = wanted.iter().map(String::as_bytes).collect();
                    prop_assert_eq!(&fields[1..], &wanted[..]);
                }
                prop_assert!(!memory.knows(SessionId(2), b"a"));
            }
        }
    }

    #[test]
    fn a_client_takes_no_more_than_its_own() {
        let mut memory = Memory::new(64 << 10, [3; 16]);
        let own = Some(10 * size_of::<Cell>() as u64);
        for number in 0..100_u8 {
            memory.remember(SessionId(1), own, &[b'a' + number % 26, number], b"1=a\x01");
            memory.remember(SessionId(0), None, &[number, 1], b"1=a\x01");
        }
        assert_eq!(memory.counts().orders, 110);
        assert_eq!(memory.has_most(), Some(SessionId(0)));
    }

    #[test]
    fn nothing_is_taken_before_it_is_needed_and_nothing_more_once_it_is_full() {
        let mut memory = Memory::new(64 << 10, [3; 16]);
        assert_eq!(memory.counts().bytes, 0);
        memory.forget(SessionId(0), b"a");
        let mut fill = || {
            for number in 0..2000_u32 {
                let id = number.to_le_bytes();
                memory.remember(SessionId(0), None, &id, b"1=a\x0158=b\x01");
                memory.remember(SessionId(0), None, &id, b"58=\x01");
            }
        };
        fill();
        let counted = allocation_counter::measure(fill);
        assert_eq!(counted.count_total, 0);
        let counts = memory.counts();
        assert_eq!((counts.orders, counts.dropped), (480, 4000 - 480));
    }
}
