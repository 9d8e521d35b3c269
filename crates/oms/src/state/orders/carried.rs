//! The fields that orders and requests in memory carry to their venues.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use fixwire_ledger::{Put, Wire, record};
use hashbrown::HashTable;

use crate::values::fields::carried::CarriedFields;
use crate::values::ids::Slot;
use crate::values::marks::RequestMarks;
use crate::values::slab::{Slab, mixed};
use crate::values::value::Number;

/// Fields that an order or a request carries.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields {
    pub header: Box<[u8]>,
    pub body: Box<[u8]>,
    /// Only for an OrderCancelReplaceRequest(G): body fields that the client's G does not have, and that the order
    /// keeps.
    pub kept: Box<[u8]>,
}

record! { Fields { header, body, kept } }

impl Fields {
    pub(crate) fn of(CarriedFields { header, body, kept }: CarriedFields<'_>) -> Self {
        Self {
            header: header.into(),
            body: body.into(),
            kept: kept.into(),
        }
    }

    pub(crate) fn get(&self) -> CarriedFields<'_> {
        CarriedFields {
            header: &self.header,
            body: &self.body,
            kept: &self.kept,
        }
    }
}

/// The fields of one order or request. The memory of the bytes is used again by another one.
#[derive(Clone, Debug)]
struct StoredFields {
    number: Number,
    /// The fields of the header, those of the body, and those that the order keeps.
    bytes: Vec<u8>,
    /// Number of bytes of the header.
    header: usize,
    /// Number of bytes of the body.
    body: usize,
}

impl StoredFields {
    fn get(&self) -> CarriedFields<'_> {
        let (header, rest) = self.bytes.split_at(self.header);
        let (body, kept) = rest.split_at(self.body);
        CarriedFields { header, body, kept }
    }
}

/// Capacity of a short buffer, in bytes. Most requests carry fewer.
const SHORT: usize = 256;
/// Numbers of short and of long buffers that are set aside at the start.
const SET_ASIDE: [usize; 2] = [1024, 64];
/// With fewer spare buffers than this, more are allocated between messages.
const LOW: [usize; 2] = [256, 16];
/// Maximum number of buffers of each length that are allocated between two messages.
const STEP: usize = 32;

/// Memory for the bytes of fields: new buffers, and those of fields that were removed.
#[derive(Debug, Default)]
struct SpareBuffers {
    short: Vec<Vec<u8>>,
    /// Buffers with a capacity above [`SHORT`].
    long: Vec<Vec<u8>>,
    /// Capacity of a new long buffer; 0 if no memory is set aside, as in a copy of the state.
    longest: usize,
}

impl SpareBuffers {
    /// A buffer for this number of bytes.
    fn take(&mut self, len: usize) -> Vec<u8> {
        let own = match len > SHORT {
            true => self.long.pop(),
            false => self.short.pop(),
        };
        let found = own.or_else(|| self.long.pop());
        found.unwrap_or_else(|| match self.longest {
            0 => Vec::new(),
            longest if len > SHORT => Vec::with_capacity(longest.max(len)),
            _ => Vec::with_capacity(SHORT),
        })
    }

    fn give_back(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        match buffer.capacity() > SHORT {
            true => self.long.push(buffer),
            false => self.short.push(buffer),
        }
    }

    #[inline]
    fn is_low(&self) -> bool {
        self.longest > 0 && (self.short.len() < LOW[0] || self.long.len() < LOW[1])
    }

    /// Allocates buffers until there are these numbers of short and long ones, at most `most` of each. `used` buffers are
    /// in use, and come back.
    fn fill(&mut self, wanted: [usize; 2], most: usize, used: usize) {
        let lens = [SHORT, self.longest];
        let pools = [&mut self.short, &mut self.long];
        for ((pool, len), wanted) in pools.into_iter().zip(lens).zip(wanted) {
            let missing = wanted.saturating_sub(pool.len()).min(most);
            pool.extend((0..missing).map(|_| Vec::with_capacity(len)));
            pool.reserve(used);
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }
}

/// A copy of the state has no memory set aside.
impl Clone for SpareBuffers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Fields, by the number of the order or request that carries them.
///
/// The memory for the first orders is set aside at the start. When most of it is in use, more is allocated between
/// messages. So a request allocates only if very many requests come in one read.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldsByNumber {
    all: Slab<StoredFields>,
    /// The place of each number in `all`.
    places: HashTable<Slot>,
    spare: SpareBuffers,
}

impl FieldsByNumber {
    /// Allocates the memory for the first orders and requests that carry fields; `longest` is the maximum number of bytes
    /// that one carries.
    pub(crate) fn set_aside(&mut self, longest: usize) {
        // A long buffer is longer than a short one, so that it goes back to its pool.
        let longest = longest.max(SHORT + 1);
        self.spare.longest = longest;
        self.spare.long.retain(|it| it.capacity() >= longest);
        let used = self.places.len();
        self.spare.fill(SET_ASIDE, usize::MAX, used);
        self.make_room(SET_ASIDE[0]);
    }

    /// Whether most of the memory that was set aside is in use.
    #[inline]
    pub(crate) fn is_low(&self) -> bool {
        !self.is_empty() && self.is_nearly_used()
    }

    #[cold]
    fn is_nearly_used(&self) -> bool {
        let room = self.places.capacity() - self.places.len();
        self.spare.is_low() || (self.spare.longest > 0 && room.min(self.all.room()) < LOW[0])
    }

    /// Allocates some more memory.
    #[cold]
    pub(crate) fn set_more_aside(&mut self) {
        let used = self.places.len();
        self.spare.fill(LOW.map(|it| 2 * it), STEP, used);
        self.make_room(2 * LOW[0]);
    }

    /// Makes room for more numbers.
    fn make_room(&mut self, numbers: usize) {
        let all = &mut self.all;
        all.make_room(numbers);
        let hash = |place: &Slot| mixed(all.get(*place).map_or(0, |it| it.number));
        self.places.reserve(numbers, hash);
    }

    #[inline]
    fn place(&self, number: Number) -> Option<Slot> {
        let is = |place: &Slot| self.all.get(*place).is_some_and(|it| it.number == number);
        self.places.find(mixed(number), is).copied()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    #[inline]
    pub(crate) fn has(&self, number: Number) -> bool {
        !self.is_empty() && self.place(number).is_some()
    }

    pub(crate) fn get(&self, number: Number) -> Option<CarriedFields<'_>> {
        self.all.get(self.place(number)?).map(StoredFields::get)
    }

    pub(crate) fn insert(&mut self, number: Number, fields: CarriedFields<'_>) {
        self.remove(number);
        let CarriedFields { header, body, kept } = fields;
        let mut bytes = self.spare.take(header.len() + body.len() + kept.len());
        for part in [header, body, kept] {
            bytes.extend_from_slice(part);
        }
        self.store(StoredFields {
            number,
            bytes,
            header: header.len(),
            body: body.len(),
        });
    }

    /// Gives an order the fields of a request and those that the order keeps.
    fn copy(&mut self, request: Slot, order: Number) {
        let of = self.all.get(request);
        let mut bytes = self.spare.take(of.map_or(0, |it| it.bytes.len()));
        let mut header = 0;
        if let Some(of) = of {
            bytes.extend_from_slice(&of.bytes);
            header = of.header;
        }
        self.remove(order);
        self.store(StoredFields {
            number: order,
            body: bytes.len() - header,
            bytes,
            header,
        });
    }

    fn store(&mut self, fields: StoredFields) {
        let number = fields.number;
        let place = self.all.add(fields);
        let all = &self.all;
        let hash = |place: &Slot| mixed(all.get(*place).map_or(0, |it| it.number));
        self.places.insert_unique(mixed(number), place, hash);
    }

    pub(crate) fn remove(&mut self, number: Number) {
        let all = &self.all;
        let is = |place: &Slot| all.get(*place).is_some_and(|it| it.number == number);
        let Ok(found) = self.places.find_entry(mixed(number), is) else {
            return;
        };
        let (place, _) = found.remove();
        if let Some(StoredFields { bytes, .. }) = self.all.remove(place) {
            self.spare.give_back(bytes);
        }
    }

    /// The numbers, in their order.
    pub(crate) fn numbers(&self) -> Vec<Number> {
        let mut numbers: Vec<Number> = self.all.iter().map(|it| it.number).collect();
        numbers.sort_unstable();
        numbers
    }
}

impl<'a> Wire<'a> for FieldsByNumber {
    fn put(&self, to: &mut impl Put) {
        let numbers = self.numbers();
        (numbers.len() as u32).put(to);
        for number in numbers {
            number.put(to);
            Fields::of(self.get(number).unwrap_or_default()).put(to);
        }
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let mut all = Self::default();
        for (number, fields) in BTreeMap::<Number, Fields>::take(from)? {
            all.insert(number, fields.get());
        }
        Some(all)
    }
}

/// Carried fields, by the number of the order or request. A request is here while it is pending, or while its venue may
/// still carry it out. Most orders and requests carry no fields.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    pub(crate) fields: FieldsByNumber,
    /// The TMP values of requests, computed from the fields of the request. An order has its own TMP values in
    /// `Order::marks`.
    pub(crate) marks: BTreeMap<Number, RequestMarks>,
}

record! { Carried { fields, marks } }

impl Carried {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Whether an order or a request carries fields.
    #[inline]
    pub(crate) fn has(&self, number: Number) -> bool {
        self.fields.has(number)
    }

    pub(crate) fn add(&mut self, number: Number, fields: CarriedFields<'_>) {
        self.fields.insert(number, fields);
    }

    /// The fields that an order or a pending request carries.
    #[cold]
    pub(crate) fn of(&self, number: Number) -> CarriedFields<'_> {
        self.fields.get(number).unwrap_or(CarriedFields::NONE)
    }

    /// The values that a request has over TMP because of its fields; `None` when it has those of its order.
    pub(crate) fn marks_of(&self, request: Number) -> Option<RequestMarks> {
        self.marks.get(&request).copied()
    }

    /// Whether the order would have other fields if a replace were carried out.
    #[cold]
    pub(crate) fn differ(&self, order: Number, request: Number) -> bool {
        let all = |CarriedFields { header, body, kept }| [header, body, kept].into_iter().flatten();
        !all(self.of(order)).eq(all(self.of(request)))
    }

    /// Applies a replace that was carried out: from now on the order has the fields of the replace, those that it
    /// keeps, and no others.
    #[cold]
    pub(crate) fn replace(&mut self, order: Number, request: Number) {
        match self.fields.place(request) {
            Some(request) => self.fields.copy(request, order),
            None => self.forget(order),
        }
    }

    #[cold]
    pub(crate) fn forget(&mut self, number: Number) {
        self.fields.remove(number);
        if !self.marks.is_empty() {
            self.marks.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use fixwire_harness::Random;

    use super::*;

    fn bytes(of: &impl for<'a> Wire<'a>) -> Vec<u8> {
        let mut bytes = Vec::new();
        of.put(&mut bytes);
        bytes
    }

    #[test]
    fn memory_is_set_aside_and_grows_between_messages() {
        let mut all = FieldsByNumber::default();
        assert!(!all.is_low(), "a copy of the state sets nothing aside");
        all.set_aside(1024);
        let add = |all: &mut FieldsByNumber, number: Number, len: usize| {
            let body = &[b'x'; 1024][..len];
            all.insert(
                number,
                CarriedFields {
                    body,
                    ..CarriedFields::NONE
                },
            );
            let place = all.place(number).unwrap();
            all.all.get(place).unwrap().bytes.capacity()
        };
        for number in 0..100_000 {
            let len = if number % 8 == 0 { 1024 } else { 200 };
            let capacity = add(&mut all, number, len);
            let wanted = if len > SHORT { 1024 } else { SHORT };
            assert_eq!(
                capacity, wanted,
                "order {number} has a buffer that was set aside"
            );
            let mut steps = 0;
            while all.is_low() {
                all.set_more_aside();
                steps += 1;
            }
            assert!(steps <= LOW[0] / STEP + 1, "{steps}");
        }
        let spare = all.spare.len();
        let pools = [all.spare.short.capacity(), all.spare.long.capacity()];
        for number in 0..100_000 {
            all.remove(number);
        }
        let now = [all.spare.short.capacity(), all.spare.long.capacity()];
        assert_eq!(now, pools, "there is room for the buffers that come back");
        assert_eq!(all.spare.len(), spare + 100_000);
        add(&mut all, 7, 1000);
        assert_eq!(all.spare.len(), spare + 99_999, "buffers are used again");
    }

    #[test]
    fn fields_are_kept_by_number_as_in_a_sorted_map() {
        let mut random = Random::new(3);
        let (mut all, mut model) = (FieldsByNumber::default(), BTreeMap::new());
        let parts: [&[u8]; 4] = [b"", b"50=T\x01", b"58=a text\x01", b"58=b\x01377=Y\x01"];
        for _ in 0..20_000 {
            let number = random.below(40);
            let mut part = || parts[random.place(parts.len())];
            let (header, body, kept) = (part(), part(), part());
            let fields = CarriedFields { header, body, kept };
            match random.below(4) {
                0 | 1 => {
                    all.insert(number, fields);
                    model.insert(number, Fields::of(fields));
                }
                2 => {
                    all.remove(number);
                    model.remove(&number);
                }
                _ => {
                    let request = random.below(40);
                    let Some(place) = all.place(request) else {
                        continue;
                    };
                    all.copy(place, number);
                    let Fields { header, body, kept } = model[&request].clone();
                    let fields = Fields {
                        header,
                        body: [body, kept].concat().into(),
                        kept: Box::default(),
                    };
                    model.insert(number, fields);
                }
            }
            let known = model.get(&number).map(Fields::get);
            assert_eq!(all.get(number), known);
            assert_eq!(all.has(number), known.is_some());
            assert_eq!(all.is_empty(), model.is_empty());
        }
        assert_eq!(bytes(&all), bytes(&model));
        let read = FieldsByNumber::take(&mut &bytes(&all)[..]).unwrap();
        assert_eq!(bytes(&read), bytes(&model));
        // At most all forty numbers had fields at the same time.
        assert!(all.spare.len() + all.all.len() <= 41);
    }
}
