//! Encodes values as bytes: little-endian, texts prefixed with their length.

use alloc::vec::Vec;

use crate::value::{
    BreakKind, Effect, End, Market, OrderType, Presence, PriceField, RequestKind, Side, Text,
    TimeInForce, Trading,
};

/// A value in an event.
pub(crate) trait Wire<'a>: Sized {
    fn put(&self, to: &mut Vec<u8>);
    /// Reads it from the front; `None` when it is missing.
    fn take(from: &mut &'a [u8]) -> Option<Self>;
}

macro_rules! integers {
    ($($name:ty),+) => {
        $(impl Wire<'_> for $name {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
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
            fn put(&self, to: &mut Vec<u8>) {
                to.push(self.byte());
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
    BreakKind
);

impl Wire<'_> for bool {
    fn put(&self, to: &mut Vec<u8>) {
        to.push((*self).into());
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
    fn put(&self, to: &mut Vec<u8>) {
        // Longer texts are rejected on input.
        let len = self.len().min(usize::from(u16::MAX));
        (len as u16).put(to);
        to.extend_from_slice(&self[..len]);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let len = usize::from(u16::take(from)?);
        let (text, rest) = from.split_at_checked(len)?;
        *from = rest;
        Some(text)
    }
}

impl Wire<'_> for Text {
    fn put(&self, to: &mut Vec<u8>) {
        self.bytes().put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let bytes = <&[u8]>::take(from)?;
        (bytes.len() <= Self::MAX).then(|| Self::new(bytes))
    }
}

impl<'a, T: Wire<'a>> Wire<'a> for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
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
