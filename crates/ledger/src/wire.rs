//! Encodes values as bytes: little-endian, texts prefixed with their length.

use alloc::vec::Vec;

/// Where values are written.
pub trait Put {
    /// Appends bytes whose number the type fixes.
    fn some<const N: usize>(&mut self, bytes: [u8; N]);
    /// Appends bytes as they are, without their length.
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

/// Bytes that a [`Pen`] has.
const INK: usize = 128;

/// Appends small values together: the vector would look for room at each.
pub struct Pen<'v> {
    to: &'v mut Vec<u8>,
    bytes: [u8; INK],
    len: usize,
}

impl<'v> Pen<'v> {
    /// A pen that appends to `to`; what it still has is written by [`flush`](Self::flush).
    #[inline]
    pub fn new(to: &'v mut Vec<u8>) -> Self {
        Self {
            to,
            bytes: [0; INK],
            len: 0,
        }
    }

    /// Appends what it has.
    #[inline]
    pub fn flush(&mut self) {
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

/// A value in a note or a checkpoint.
pub trait Wire<'a>: Sized {
    /// Appends it.
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
        // Longer texts are rejected on input.
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
