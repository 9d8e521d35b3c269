//! Values on the wire: big-endian, packed.

/// A type of field: its length in bytes, and how it is read and written.
pub trait WireField: Copy + Sized {
    /// Bytes on the wire.
    const BYTES: usize;
    /// The type of the field's elements, as layouts list it.
    const KIND: &'static str;
    /// All bytes zero.
    const ZERO: Self;
    /// The values that have names, and the names.
    const CODES: &'static [(u8, &'static str)] = &[];

    /// Reads the value from exactly [`WireField::BYTES`] bytes.
    fn get(bytes: &[u8]) -> Self;

    /// Writes the value to exactly [`WireField::BYTES`] bytes.
    fn put(self, bytes: &mut [u8]);

    /// For an enumerated value that is not defined: the value found and the values allowed.
    #[inline]
    fn unknown(self) -> Option<(u64, &'static str)> {
        None
    }
}

macro_rules! integers {
    ($($kind:ident)*) => {$(
        impl WireField for $kind {
            const BYTES: usize = size_of::<$kind>();
            const KIND: &'static str = stringify!($kind);
            const ZERO: Self = 0;
            #[inline]
            fn get(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$kind>()];
                own.copy_from_slice(bytes);
                Self::from_be_bytes(own)
            }
            #[inline]
            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_be_bytes());
            }
        }
        impl WireField for [$kind; 2] {
            const BYTES: usize = 2 * size_of::<$kind>();
            const KIND: &'static str = stringify!($kind);
            const ZERO: Self = [0; 2];
            #[inline]
            fn get(bytes: &[u8]) -> Self {
                let (first, second) = bytes.split_at(size_of::<$kind>());
                [$kind::get(first), $kind::get(second)]
            }
            #[inline]
            fn put(self, bytes: &mut [u8]) {
                let (first, second) = bytes.split_at_mut(size_of::<$kind>());
                self[0].put(first);
                self[1].put(second);
            }
        }
    )*};
}

integers!(u16 u32 i32 i64);

impl WireField for u8 {
    const BYTES: usize = 1;
    const KIND: &'static str = "u8";
    const ZERO: Self = 0;
    #[inline]
    fn get(bytes: &[u8]) -> Self {
        bytes[0]
    }
    #[inline]
    fn put(self, bytes: &mut [u8]) {
        bytes[0] = self;
    }
}

/// Characters, or single bytes of any meaning.
impl<const N: usize> WireField for [u8; N] {
    const BYTES: usize = N;
    const KIND: &'static str = "char";
    const ZERO: Self = [0; N];
    #[inline]
    fn get(bytes: &[u8]) -> Self {
        let mut own = [0; N];
        own.copy_from_slice(bytes);
        own
    }
    #[inline]
    fn put(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self);
    }
}

/// A time: seconds since 1970-01-01T00:00:00Z and milliseconds, 6 bytes.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct TmpTime {
    /// Seconds, until 2106.
    pub seconds: u32,
    /// Milliseconds of the second. A peer may send more than 999.
    pub millis: u16,
}

impl TmpTime {
    /// The time of a wall clock, given in nanoseconds since 1970. After 2106 it stays at the last second that can be
    /// written.
    #[inline]
    #[must_use]
    pub fn from_wall_ns(wall_ns: u64) -> Self {
        let (seconds, nanos) = (wall_ns / 1_000_000_000, wall_ns % 1_000_000_000);
        Self {
            seconds: u32::try_from(seconds).unwrap_or(u32::MAX),
            // Below 1,000.
            millis: (nanos / 1_000_000) as u16,
        }
    }

    /// Nanoseconds since 1970.
    #[inline]
    #[must_use]
    pub fn wall_ns(self) -> u64 {
        u64::from(self.seconds) * 1_000_000_000 + u64::from(self.millis) * 1_000_000
    }
}

impl WireField for TmpTime {
    const BYTES: usize = 6;
    const KIND: &'static str = "time";
    const ZERO: Self = Self {
        seconds: 0,
        millis: 0,
    };
    #[inline]
    fn get(bytes: &[u8]) -> Self {
        let (seconds, millis) = bytes.split_at(4);
        Self {
            seconds: u32::get(seconds),
            millis: u16::get(millis),
        }
    }
    #[inline]
    fn put(self, bytes: &mut [u8]) {
        let (seconds, millis) = bytes.split_at_mut(4);
        self.seconds.put(seconds);
        self.millis.put(millis);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_keeps_its_milliseconds() {
        let time = TmpTime::from_wall_ns(1_700_000_000_123_999_999);
        assert_eq!((time.seconds, time.millis), (1_700_000_000, 123));
        assert_eq!(time.wall_ns(), 1_700_000_000_123_000_000);
        let mut bytes = [0; 6];
        time.put(&mut bytes);
        assert_eq!(bytes, [0x65, 0x53, 0xf1, 0x00, 0x00, 0x7b]);
        assert_eq!(TmpTime::get(&bytes), time);
        assert_eq!(TmpTime::from_wall_ns(u64::MAX).seconds, u32::MAX);
    }
}
