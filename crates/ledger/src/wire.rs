//! Encodes values as bytes: numbers are little-endian, and texts and lists have their length in front of them.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::{Decimal, Timestamp};

/// A place to which values are written.
pub trait Put {
    /// Appends bytes whose number is fixed by the type.
    fn some<const N: usize>(&mut self, bytes: [u8; N]);
    /// Appends bytes as they are, without their length in front.
    fn text(&mut self, bytes: &[u8]);
}

impl Put for Vec<u8> {
    #[inline(always)]
    fn some<const N: usize>(&mut self, bytes: [u8; N]) {
        self.extend_from_slice(&bytes);
    }

    #[inline(always)]
    fn text(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Passes the bytes of each call on to the function.
impl<F: FnMut(&[u8])> Put for F {
    #[inline]
    fn some<const N: usize>(&mut self, bytes: [u8; N]) {
        self(&bytes);
    }

    #[inline]
    fn text(&mut self, bytes: &[u8]) {
        self(bytes);
    }
}

/// Number of bytes that a [`Pen`] can hold.
const INK: usize = 128;

/// Collects small values and appends them together, because a vector checks its room at each append.
pub struct Pen<'v> {
    to: &'v mut Vec<u8>,
    bytes: [u8; INK],
    len: usize,
}

impl<'v> Pen<'v> {
    /// A pen that appends to `to`. Call [`flush`](Self::flush) at the end to write the bytes that the pen still
    /// holds.
    #[inline]
    pub fn new(to: &'v mut Vec<u8>) -> Self {
        Self {
            to,
            bytes: [0; INK],
            len: 0,
        }
    }

    /// All bytes that were put, if `to` was empty at first: those of a short value are not copied.
    #[inline]
    pub fn whole(&mut self) -> &[u8] {
        if self.to.is_empty() {
            return &self.bytes[..self.len];
        }
        self.flush();
        self.to
    }

    /// Appends the bytes that the pen holds.
    #[inline]
    pub fn flush(&mut self) {
        self.to.extend_from_slice(&self.bytes[..self.len]);
        self.len = 0;
    }

    /// Appends the bytes that the pen holds, and bytes for which it has no room.
    #[cold]
    fn append(&mut self, bytes: &[u8]) {
        self.flush();
        self.to.extend_from_slice(bytes);
    }
}

impl Put for Pen<'_> {
    #[inline(always)]
    fn some<const N: usize>(&mut self, bytes: [u8; N]) {
        let rest = self.bytes.get_mut(self.len..);
        match rest.and_then(<[u8]>::first_chunk_mut) {
            Some(place) => {
                *place = bytes;
                self.len += N;
            }
            None => self.append(&bytes),
        }
    }

    #[inline(always)]
    fn text(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        match self.bytes.get_mut(self.len..end) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.len = end;
            }
            None => self.append(bytes),
        }
    }
}

/// A value with a form in notes and checkpoints.
pub trait Wire<'a>: Sized {
    /// Appends the value.
    fn put(&self, to: &mut impl Put);
    /// Reads a value from the front of the bytes; `None` when they do not begin with a value of this type.
    fn take(from: &mut &'a [u8]) -> Option<Self>;
}

macro_rules! integers {
    ($($name:ty),+) => {
        $(impl Wire<'_> for $name {
            #[inline(always)]
            fn put(&self, to: &mut impl Put) {
                to.some(self.to_le_bytes());
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        })+
    };
}

integers!(u8, u16, u32, u64, u128, i64, i128);

impl Wire<'_> for bool {
    #[inline(always)]
    fn put(&self, to: &mut impl Put) {
        to.some([(*self).into()]);
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl<'a> Wire<'a> for &'a [u8] {
    fn put(&self, to: &mut impl Put) {
        // Longer texts are rejected when they are entered.
        let len = self.len().min(usize::from(u16::MAX));
        (len as u16).put(to);
        to.text(&self[..len]);
    }

    #[inline]
    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let len = usize::from(u16::take(from)?);
        let (text, rest) = from.split_at_checked(len)?;
        *from = rest;
        Some(text)
    }
}

impl<'a, T: Wire<'a>> Wire<'a> for Option<T> {
    #[inline(always)]
    fn put(&self, to: &mut impl Put) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    #[inline]
    fn take(from: &mut &'a [u8]) -> Option<Self> {
        Some(if bool::take(from)? {
            Some(T::take(from)?)
        } else {
            None
        })
    }
}

impl Wire<'_> for usize {
    fn put(&self, to: &mut impl Put) {
        (*self as u64).put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        u64::take(from)?.try_into().ok()
    }
}

impl Wire<'_> for Timestamp {
    #[inline(always)]
    fn put(&self, to: &mut impl Put) {
        self.0.put(to);
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Option<Self> {
        i64::take(from).map(Self)
    }
}

impl Wire<'_> for Decimal {
    fn put(&self, to: &mut impl Put) {
        (self.mantissa, self.scale).put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Self::new(i64::take(from)?, u8::take(from)?)
    }
}

/// Bytes of any length. The bytes are shown as text if all of them are printable or SOH, and in hexadecimal otherwise.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Bytes<'a>(pub &'a [u8]);

impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_text = |byte: &u8| matches!(byte, 1 | b' '..=b'~');
        match core::str::from_utf8(self.0) {
            Ok(text) if self.0.iter().all(is_text) => f.write_str(text),
            _ => self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

impl<'a> Wire<'a> for Bytes<'a> {
    fn put(&self, to: &mut impl Put) {
        (self.0.len() as u32).put(to);
        to.text(self.0);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let len = u32::take(from)?.try_into().ok()?;
        let (bytes, rest) = from.split_at_checked(len)?;
        *from = rest;
        Some(Self(bytes))
    }
}

impl<'a> Wire<'a> for &'a str {
    fn put(&self, to: &mut impl Put) {
        Bytes(self.as_bytes()).put(to);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        core::str::from_utf8(Bytes::take(from)?.0).ok()
    }
}

impl Wire<'_> for Box<[u8]> {
    fn put(&self, to: &mut impl Put) {
        Bytes(self).put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Bytes::take(from).map(|bytes| bytes.0.into())
    }
}

macro_rules! texts {
    ($($name:ty),+) => {
        $(impl Wire<'_> for $name {
            fn put(&self, to: &mut impl Put) {
                let text: &str = self;
                text.put(to);
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                <&str>::take(from).map(Into::into)
            }
        })+
    };
}

texts!(String, Box<str>);

/// Appends the number of values, and then the values.
pub fn put_all<'v, 'a, T: Wire<'a> + 'v>(
    values: impl ExactSizeIterator<Item = &'v T>,
    to: &mut impl Put,
) {
    (values.len() as u32).put(to);
    values.for_each(|value| value.put(to));
}

impl<'a, T: Wire<'a>> Wire<'a> for Vec<T> {
    fn put(&self, to: &mut impl Put) {
        put_all(self.iter(), to);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        // The stated number of values may be wrong, so no memory is reserved for it.
        (0..u32::take(from)?).map(|_| T::take(from)).collect()
    }
}

impl<'a, T: Wire<'a>> Wire<'a> for VecDeque<T> {
    fn put(&self, to: &mut impl Put) {
        put_all(self.iter(), to);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        Vec::take(from).map(Into::into)
    }
}

impl<'a, K: Wire<'a> + Ord, V: Wire<'a>> Wire<'a> for BTreeMap<K, V> {
    fn put(&self, to: &mut impl Put) {
        (self.len() as u32).put(to);
        self.iter().for_each(|(key, value)| {
            key.put(to);
            value.put(to);
        });
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let mut map = Self::new();
        for _ in 0..u32::take(from)? {
            let key = K::take(from)?;
            let is_next = map.last_key_value().is_none_or(|(last, _)| *last < key);
            is_next.then_some(())?;
            map.insert(key, V::take(from)?);
        }
        Some(map)
    }
}

impl<'a, T: Wire<'a> + Ord> Wire<'a> for BTreeSet<T> {
    fn put(&self, to: &mut impl Put) {
        put_all(self.iter(), to);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let all: Vec<T> = Vec::take(from)?;
        all.is_sorted_by(|one, next| one < next)
            .then(|| all.into_iter().collect())
    }
}

impl<'a, T: Wire<'a>> Wire<'a> for Box<T> {
    fn put(&self, to: &mut impl Put) {
        T::put(self, to);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        T::take(from).map(Self::new)
    }
}

impl<'a, A: Wire<'a>, B: Wire<'a>> Wire<'a> for (A, B) {
    fn put(&self, to: &mut impl Put) {
        self.0.put(to);
        self.1.put(to);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

impl<'a, T: Wire<'a>, const N: usize> Wire<'a> for [T; N] {
    fn put(&self, to: &mut impl Put) {
        self.iter().for_each(|value| value.put(to));
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let all: Option<Vec<T>> = (0..N).map(|_| T::take(from)).collect();
        all?.try_into().ok()
    }
}
