//! Encodes values as bytes: little-endian, texts prefixed with their length.

use alloc::vec::Vec;

use crate::values::value::{
    BreakKind, Effect, End, Market, MassEnd, OrderType, Presence, PriceField, RequestKind, Side,
    Text, TimeInForce, Trading,
};

/// Where values are written.
pub(crate) trait Put {
    fn some<const N: usize>(&mut self, bytes: [u8; N]);
    fn text(&mut self, bytes: &[u8]);
}

impl Put for Vec<u8> {
    fn some<const N: usize>(&mut self, bytes: [u8; N]) {
        self.extend_from_slice(&bytes);
    }

    fn text(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Bytes that a [`Pen`] has.
const INK: usize = 128;

/// Appends small values together: the vector would look for room at each.
pub(crate) struct Pen<'v> {
    to: &'v mut Vec<u8>,
    bytes: [u8; INK],
    len: usize,
}

impl<'v> Pen<'v> {
    pub(crate) fn new(to: &'v mut Vec<u8>) -> Self {
        Self {
            to,
            bytes: [0; INK],
            len: 0,
        }
    }

    pub(crate) fn flush(&mut self) {
        self.to.extend_from_slice(&self.bytes[..self.len]);
        self.len = 0;
    }
}

impl Put for Pen<'_> {
    #[inline(always)]
    fn some<const N: usize>(&mut self, bytes: [u8; N]) {
        if self.len + N > INK {
            self.flush();
        }
        self.bytes[self.len..self.len + N].copy_from_slice(&bytes);
        self.len += N;
    }

    #[inline(always)]
    fn text(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        match self.bytes.get_mut(self.len..end) {
            Some(place) => {
                place.copy_from_slice(bytes);
                self.len = end;
            }
            None => {
                self.flush();
                self.to.extend_from_slice(bytes);
            }
        }
    }
}

/// A value in an event.
pub(crate) trait Wire<'a>: Sized {
    fn put(&self, to: &mut impl Put);
    /// Reads it from the front; `None` when it is missing.
    fn take(from: &mut &'a [u8]) -> Option<Self>;
}

macro_rules! integers {
    ($($name:ty),+) => {
        $(impl Wire<'_> for $name {
                #[inline(always)]
            fn put(&self, to: &mut impl Put) {
                to.some(self.to_le_bytes());
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*bytes))
            }
        })+
    };
}

integers!(u8, u16, u32, u64, u128, i64, i128);

macro_rules! of_a_byte {
    ($($name:ty),+) => {
        $(impl Wire<'_> for $name {
                #[inline(always)]
            fn put(&self, to: &mut impl Put) {
                to.some([self.byte()]);
            }

            fn take(from: &mut &[u8]) -> Option<Self> {
                Self::of(u8::take(from)?)
            }
        })+
    };
}

of_a_byte!(
    Side,
    Effect,
    OrderType,
    PriceField,
    TimeInForce,
    End,
    RequestKind,
    Trading,
    Presence,
    Market,
    BreakKind,
    MassEnd
);

impl Wire<'_> for bool {
    #[inline(always)]
    fn put(&self, to: &mut impl Put) {
        to.some([(*self).into()]);
    }

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
        // Longer texts are rejected on input.
        let len = self.len().min(usize::from(u16::MAX));
        (len as u16).put(to);
        to.text(&self[..len]);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let len = usize::from(u16::take(from)?);
        let (text, rest) = from.split_at_checked(len)?;
        *from = rest;
        Some(text)
    }
}

impl Wire<'_> for Text {
    fn put(&self, to: &mut impl Put) {
        self.bytes().put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let bytes = <&[u8]>::take(from)?;
        (bytes.len() <= Self::MAX).then(|| Self::new(bytes))
    }
}

impl<'a, T: Wire<'a>> Wire<'a> for Option<T> {
    fn put(&self, to: &mut impl Put) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        Some(if bool::take(from)? {
            Some(T::take(from)?)
        } else {
            None
        })
    }
}
