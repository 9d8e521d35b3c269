//! Layouts: one declaration of a message gives its type, its encoding and its listing.

use crate::error::{FrameError, TmpExpectedValue};
use crate::header::{
    BODY_AT, FRAME_BYTES_LEAST, FRAME_BYTES_MOST, TYPE_AT, TmpHeader, seal, write_header,
};
use crate::wire::{TmpTime, WireField};

/// A field of a layout.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LayoutField {
    /// Name of the field.
    pub name: &'static str,
    /// Byte offset in the frame.
    pub at: usize,
    /// Length in bytes; 0 for data that extend to the checksum.
    pub bytes: usize,
    /// Type of the field's elements: `u8`, `u16`, `u32`, `i32`, `i64`, `char`, `time`, `data`.
    pub kind: &'static str,
    /// The named values of an enumerated field.
    pub codes: &'static [(u8, &'static str)],
}

impl LayoutField {
    pub(crate) const fn of<T: WireField>(name: &'static str, at: usize) -> Self {
        Self {
            name,
            at,
            bytes: T::BYTES,
            kind: T::KIND,
            codes: T::CODES,
        }
    }

    pub(crate) const fn data(name: &'static str, at: usize) -> Self {
        let (bytes, kind) = (0, "data");
        Self {
            name,
            at,
            bytes,
            kind,
            codes: &[],
        }
    }
}

/// The layout of a message, as data.
#[derive(Debug, Eq, PartialEq)]
pub struct TmpLayoutInfo {
    /// The message's name.
    pub name: &'static str,
    /// MessageType.
    pub code: u8,
    /// Length of the frame in bytes, with header and checksum. For a message with data, length of the shortest frame.
    pub size: usize,
    /// Whether data of variable length precede the checksum.
    pub has_data: bool,
    /// Whether the exchange may send the message.
    pub from_exchange: bool,
    /// Whether the broker may send the message.
    pub from_broker: bool,
    /// The fields after the header, without the checksum.
    pub fields: &'static [LayoutField],
}

impl TmpLayoutInfo {
    /// The fields of the header, which is the same for every message.
    pub const HEADER: &'static [LayoutField] = &[
        LayoutField::of::<u16>("msg_length", 0),
        LayoutField::of::<u32>("msg_seq_num", 2),
        LayoutField::of::<TmpTime>("msg_time", 6),
        LayoutField::of::<u8>("message_type", TYPE_AT),
        LayoutField::of::<u16>("fcm_id", 13),
        LayoutField::of::<u16>("session_id", 15),
    ];

    /// Whether the fields follow one another without a gap, from the header to the checksum. This is checked for each
    /// layout when the crate is compiled.
    pub(crate) const fn is_tight(&self) -> bool {
        let (mut at, mut next) = (BODY_AT, 0);
        while next < self.fields.len() {
            if self.fields[next].at != at {
                return false;
            }
            at += self.fields[next].bytes;
            next += 1;
        }
        at + 1 == self.size
    }
}

/// A message: a plain struct that can be read from a checked frame and written to a buffer.
pub trait TmpLayout<'a>: Sized {
    /// The message's name, such as `R01`.
    const NAME: &'static str;
    /// MessageType.
    const CODE: u8;
    /// Length of the frame in bytes. For a message with data, length of the shortest frame.
    const SIZE: usize;

    /// The data before the checksum; empty for most messages.
    #[inline]
    fn data(&self) -> &[u8] {
        &[]
    }

    /// Reads the fields of a frame of this type, for `TmpFrame::body`.
    #[doc(hidden)]
    fn read(frame: &'a [u8]) -> Self;

    /// Writes the fields; the buffer is large enough.
    #[doc(hidden)]
    fn write(&self, frame: &mut [u8]);

    /// Checks that enumerated fields have defined values. Reading accepts other values, because an exchange answers
    /// them with a status.
    ///
    /// # Errors
    ///
    /// The first field whose value is not defined.
    fn check(&self) -> Result<(), FrameError>;

    /// Writes the complete frame with length and checksum, and returns its length in bytes. Allocates nothing.
    ///
    /// # Errors
    ///
    /// The buffer is too small, the data are too long for a frame, or an R17 has no data.
    #[inline]
    fn encode(&self, header: &TmpHeader, to: &mut [u8]) -> Result<usize, FrameError> {
        let size = Self::SIZE + self.data().len();
        let wrong = |field, found, expected| FrameError {
            message: Self::NAME,
            field,
            at: 0,
            found,
            expected,
        };
        if size < FRAME_BYTES_LEAST {
            let least = TmpExpectedValue::AtLeast(FRAME_BYTES_LEAST as u64);
            return Err(wrong("length", size as u64, least));
        }
        if size > FRAME_BYTES_MOST {
            let most = TmpExpectedValue::AtMost(FRAME_BYTES_MOST as u64);
            return Err(wrong("length", size as u64, most));
        }
        let room = to.len();
        let Some(frame) = to.get_mut(..size) else {
            let least = TmpExpectedValue::AtLeast(size as u64);
            return Err(wrong("buffer", room as u64, least));
        };
        write_header(Self::CODE, header, frame);
        self.write(frame);
        seal(frame);
        Ok(size)
    }
}

/// Checks one enumerated field: an error if its value is not defined.
pub(crate) fn check_value<T: WireField>(
    message: &'static str,
    field: &'static str,
    at: usize,
    value: T,
) -> Result<(), FrameError> {
    let Some((found, values)) = value.unknown() else {
        return Ok(());
    };
    Err(FrameError {
        message,
        field,
        at,
        found,
        expected: TmpExpectedValue::OneOf(values),
    })
}

/// Declares messages: name, MessageType, length of the frame, and who sends it; then field, type and offset for each
/// field.
macro_rules! layouts {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $size:literal, $way:ident { $($field:ident: $kind:ty = $at:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub struct $name {
            $(#[doc = concat!("At byte ", $at, ".")] pub $field: $kind,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: <$kind as WireField>::ZERO,)* }
            }
        }

        impl $name {
            pub(crate) const INFO: TmpLayoutInfo = TmpLayoutInfo {
                name: stringify!($name),
                code: $code,
                size: $size,
                has_data: false,
                from_exchange: crate::layout::way!($way).0,
                from_broker: crate::layout::way!($way).1,
                fields: &[$(LayoutField::of::<$kind>(stringify!($field), $at),)*],
            };
        }

        const _: () = assert!($name::INFO.is_tight());

        impl TmpLayout<'_> for $name {
            const NAME: &'static str = stringify!($name);
            const CODE: u8 = $code;
            const SIZE: usize = $size;
            #[inline]
            fn read(frame: &[u8]) -> Self {
                Self { $($field: <$kind>::get(&frame[$at..$at + <$kind as WireField>::BYTES]),)* }
            }
            #[inline]
            fn write(&self, frame: &mut [u8]) {
                $(self.$field.put(&mut frame[$at..$at + <$kind as WireField>::BYTES]);)*
            }
            fn check(&self) -> Result<(), FrameError> {
                $(check_value(Self::NAME, stringify!($field), $at, self.$field)?;)*
                Ok(())
            }
        }
    )*};
}

/// Declares messages with a symbol of 20 or 40 bytes, such as `R01` (`OrderEntry<20>`) and `R31` (`OrderEntry<40>`).
/// Offsets are for 20 bytes; with 40 bytes the fields after the symbol have larger offsets.
macro_rules! layouts_with_symbol {
    ($($(#[$doc:meta])* $generic:ident: $short:ident = $code:literal, $size:literal; $long:ident = $long_code:literal, $long_size:literal; $way:ident
        { $($field:ident: $kind:ty = $at:literal,)* } symbol = $symbol_at:literal { $($behind:ident: $behind_kind:ty = $behind_at:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub struct $generic<const SYMBOL: usize> {
            $(#[doc = concat!("At byte ", $at, ".")] pub $field: $kind,)*
            #[doc = concat!("At byte ", $symbol_at, "; see [`crate::TmpSymbol`].")]
            pub symbol: [u8; SYMBOL],
            $(#[doc = concat!("At byte ", $behind_at, " with a symbol of 20 bytes.")] pub $behind: $behind_kind,)*
        }

        #[doc = concat!(stringify!($short), ": with a symbol of 20 bytes.")]
        pub type $short = $generic<20>;
        #[doc = concat!(stringify!($long), ": with a symbol of 40 bytes.")]
        pub type $long = $generic<40>;

        impl<const SYMBOL: usize> Default for $generic<SYMBOL> {
            fn default() -> Self {
                Self {
                    $($field: <$kind as WireField>::ZERO,)*
                    symbol: [0; SYMBOL],
                    $($behind: <$behind_kind as WireField>::ZERO,)*
                }
            }
        }

        impl<const SYMBOL: usize> $generic<SYMBOL> {
            pub(crate) const INFO: TmpLayoutInfo = TmpLayoutInfo {
                name: {
                    assert!(SYMBOL == 20 || SYMBOL == 40);
                    if SYMBOL == 20 { stringify!($short) } else { stringify!($long) }
                },
                code: if SYMBOL == 20 { $code } else { $long_code },
                size: if SYMBOL == 20 { $size } else { $long_size },
                has_data: false,
                from_exchange: crate::layout::way!($way).0,
                from_broker: crate::layout::way!($way).1,
                fields: &[
                    $(LayoutField::of::<$kind>(stringify!($field), $at),)*
                    LayoutField::of::<[u8; SYMBOL]>("symbol", $symbol_at),
                    $(LayoutField::of::<$behind_kind>(stringify!($behind), $behind_at - 20 + SYMBOL),)*
                ],
            };
        }

        const _: () = assert!($short::INFO.is_tight() && $long::INFO.is_tight());

        impl<const SYMBOL: usize> TmpLayout<'_> for $generic<SYMBOL> {
            const NAME: &'static str = Self::INFO.name;
            const CODE: u8 = Self::INFO.code;
            const SIZE: usize = Self::INFO.size;
            #[inline]
            #[allow(unused_variables, reason = "some layouts have nothing behind the symbol")]
            fn read(frame: &[u8]) -> Self {
                let shifted = &frame[SYMBOL - 20..];
                Self {
                    $($field: <$kind>::get(&frame[$at..$at + <$kind as WireField>::BYTES]),)*
                    symbol: <[u8; SYMBOL]>::get(&frame[$symbol_at..$symbol_at + SYMBOL]),
                    $($behind: <$behind_kind>::get(&shifted[$behind_at..$behind_at + <$behind_kind as WireField>::BYTES]),)*
                }
            }
            #[inline]
            #[allow(unused_variables, reason = "some layouts have nothing behind the symbol")]
            fn write(&self, frame: &mut [u8]) {
                $(self.$field.put(&mut frame[$at..$at + <$kind as WireField>::BYTES]);)*
                self.symbol.put(&mut frame[$symbol_at..$symbol_at + SYMBOL]);
                let shifted = &mut frame[SYMBOL - 20..];
                $(self.$behind.put(&mut shifted[$behind_at..$behind_at + <$behind_kind as WireField>::BYTES]);)*
            }
            fn check(&self) -> Result<(), FrameError> {
                $(check_value(Self::NAME, stringify!($field), $at, self.$field)?;)*
                $(check_value(Self::NAME, stringify!($behind), $behind_at - 20 + SYMBOL, self.$behind)?;)*
                Ok(())
            }
        }
    )*};
}

/// Declares messages that end with data of variable length.
macro_rules! layouts_with_data {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $size:literal, $way:ident { $($field:ident: $kind:ty = $at:literal,)* } data = $data_at:literal)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
        pub struct $name<'a> {
            $(#[doc = concat!("At byte ", $at, ".")] pub $field: $kind,)*
            #[doc = concat!("From byte ", $data_at, " to the checksum.")]
            pub data: &'a [u8],
        }

        impl $name<'_> {
            pub(crate) const INFO: TmpLayoutInfo = TmpLayoutInfo {
                name: stringify!($name),
                code: $code,
                size: $size,
                has_data: true,
                from_exchange: crate::layout::way!($way).0,
                from_broker: crate::layout::way!($way).1,
                fields: &[
                    $(LayoutField::of::<$kind>(stringify!($field), $at),)*
                    LayoutField::data("data", $data_at),
                ],
            };
        }

        const _: () = assert!($name::INFO.is_tight());

        impl<'a> TmpLayout<'a> for $name<'a> {
            const NAME: &'static str = stringify!($name);
            const CODE: u8 = $code;
            const SIZE: usize = $size;
            #[inline]
            fn data(&self) -> &[u8] {
                self.data
            }
            #[inline]
            fn read(frame: &'a [u8]) -> Self {
                Self {
                    $($field: <$kind>::get(&frame[$at..$at + <$kind as WireField>::BYTES]),)*
                    data: &frame[$data_at..frame.len() - 1],
                }
            }
            #[inline]
            fn write(&self, frame: &mut [u8]) {
                $(self.$field.put(&mut frame[$at..$at + <$kind as WireField>::BYTES]);)*
                frame[$data_at..$data_at + self.data.len()].copy_from_slice(self.data);
            }
            fn check(&self) -> Result<(), FrameError> {
                $(check_value(Self::NAME, stringify!($field), $at, self.$field)?;)*
                Ok(())
            }
        }
    )*};
}

/// Who sends a message: the first value is for the exchange, the second for the broker.
macro_rules! way {
    (exchange) => {
        (true, false)
    };
    (broker) => {
        (false, true)
    };
    (both) => {
        (true, true)
    };
}

pub(crate) use {layouts, layouts_with_data, layouts_with_symbol, way};
