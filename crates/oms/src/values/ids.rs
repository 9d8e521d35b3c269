//! Numbers that the state gives to sessions, accounts, instruments and pools, and tables by these numbers.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU32;
use core::ops::{Deref, DerefMut, Index, IndexMut};

use fixwire_ledger::{Put, Wire};

/// The number of something that has a name: the index of the name, from 0.
pub trait TableKey: Copy + Eq {
    /// The number for an index; the highest index has no number.
    fn new(index: u32) -> Self;
    /// The index of the number.
    fn index(self) -> usize;
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(NonZeroU32);

        impl $name {
            /// The number for an index, from 0; the highest index has no number.
            #[must_use]
            #[inline]
            pub const fn new(index: u32) -> Self {
                Self(NonZeroU32::MIN.saturating_add(index))
            }

            /// The index of the number.
            #[must_use]
            #[inline]
            pub const fn index(self) -> usize {
                self.place() as usize
            }

            /// The number as events have it.
            #[inline]
            pub(crate) const fn place(self) -> u32 {
                self.0.get() - 1
            }
        }

        impl TableKey for $name {
            #[inline]
            fn new(index: u32) -> Self {
                Self::new(index)
            }

            #[inline]
            fn index(self) -> usize {
                self.index()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.place(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.place(), f)
            }
        }

        impl Wire<'_> for $name {
            #[inline(always)]
            fn put(&self, to: &mut impl Put) {
                self.place().put(to);
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                let number = u32::take(from)?.checked_add(1)?;
                NonZeroU32::new(number).map(Self)
            }
        })+
    };
}

numbers! {
    /// Number of a session in the state and in events; a session of a client or to a venue.
    SessionNo,
    /// Number of an account in the state and in events.
    AccountNo,
    /// Number of an instrument in the state and in events.
    InstrumentNo,
    /// Number of a pool of order numbers in the state and in events.
    PoolNo,
    /// Index of a value in a [`Slab`](crate::values::slab::Slab).
    Slot,
}

/// Session, account and instrument of a request; `None` for those that it does not name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Party {
    pub session: Option<SessionNo>,
    pub account: Option<AccountNo>,
    pub instrument: Option<InstrumentNo>,
}

impl Party {
    /// The party of an order.
    #[inline]
    pub fn new(session: SessionNo, account: AccountNo, instrument: InstrumentNo) -> Self {
        Self {
            session: Some(session),
            account: Some(account),
            instrument: Some(instrument),
        }
    }

    /// The party of a request that names no account and no symbol.
    #[inline]
    pub fn of_session(session: SessionNo) -> Self {
        Self {
            session: Some(session),
            account: None,
            instrument: None,
        }
    }
}

/// A table of values by number, from the first number on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Table<N, T> {
    values: Vec<T>,
    by: PhantomData<N>,
}

impl<N, T> Default for Table<N, T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            by: PhantomData,
        }
    }
}

impl<N: TableKey, T> Table<N, T> {
    #[inline]
    pub fn get(&self, number: N) -> Option<&T> {
        self.values.get(number.index())
    }

    #[inline]
    pub fn get_mut(&mut self, number: N) -> Option<&mut T> {
        self.values.get_mut(number.index())
    }

    pub fn push(&mut self, value: T) {
        self.values.push(value);
    }

    /// All values, each with its number.
    pub fn numbered(&self) -> impl Iterator<Item = (N, &T)> {
        (0..).map(N::new).zip(&self.values)
    }

    /// A table with `len` equal values.
    pub fn of(value: T, len: u32) -> Self
    where
        T: Clone,
    {
        let mut table = Self::default();
        table.resize(len, value);
        table
    }

    pub fn resize(&mut self, len: u32, value: T)
    where
        T: Clone,
    {
        self.values.resize(len as usize, value);
    }
}

impl<'a, N, T: Wire<'a>> Wire<'a> for Table<N, T> {
    fn put(&self, to: &mut impl Put) {
        self.values.put(to);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        Some(Self {
            values: Wire::take(from)?,
            by: PhantomData,
        })
    }
}

impl<N, T> Deref for Table<N, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values
    }
}

impl<N, T> DerefMut for Table<N, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}

impl<N: TableKey, T> Index<N> for Table<N, T> {
    type Output = T;

    #[inline]
    fn index(&self, number: N) -> &T {
        &self.values[number.index()]
    }
}

impl<N: TableKey, T> IndexMut<N> for Table<N, T> {
    #[inline]
    fn index_mut(&mut self, number: N) -> &mut T {
        &mut self.values[number.index()]
    }
}

impl<N, T> FromIterator<T> for Table<N, T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self {
            values: values.into_iter().collect(),
            by: PhantomData,
        }
    }
}

impl<N, T> IntoIterator for Table<N, T> {
    type Item = T;
    type IntoIter = alloc::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.into_iter()
    }
}

impl<'a, N, T> IntoIterator for &'a Table<N, T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_takes_no_more_room_and_the_last_place_is_none() {
        assert_eq!(size_of::<Option<SessionNo>>(), size_of::<u32>());
        assert_eq!(size_of::<Party>(), 3 * size_of::<u32>());
        let mut bytes = Vec::new();
        AccountNo::new(7).put(&mut bytes);
        assert_eq!(bytes, 7_u32.to_le_bytes());
        assert_eq!(AccountNo::take(&mut &*bytes), Some(AccountNo::new(7)));
        assert_eq!(AccountNo::take(&mut &[0xFF; 4][..]), None);
        let table: Table<PoolNo, char> = "abc".chars().collect();
        assert_eq!(table[PoolNo::new(2)], 'c');
        assert_eq!(table.get(PoolNo::new(3)), None);
        assert_eq!(table.numbered().last(), Some((PoolNo::new(2), &'c')));
    }
}
