//! The messages. Each is declared once, with type and byte offset of each field.
//!
//! Lnn are link messages, Rnn are order messages. R01 and R31 are the same message with a symbol of 20 or 40 bytes;
//! so are R02 and R32, R07 and R37, R08 and R38, and R09 and R39.

mod link;
mod orders;
mod reports;
mod services;

pub use link::{L10, L20, L30, L40, L41, L42, L50, L60, R04, R05};
pub use orders::{OrderEntry, PriceInquiry, QuoteEntry, R01, R07, R09, R31, R37, R39};
pub use reports::{InquiryReply, R02, R03, R06, R08, R22, R32, R38, VenueExecution};
pub use services::{R11, R12, R13, R14, R15, R16, R17, R18};

use crate::error::FrameError;
use crate::frame::TmpFrame;
use crate::header::TmpHeader;
use crate::layout::{TmpLayout, TmpLayoutInfo};

macro_rules! messages {
    ($($name:ident $(<$life:lifetime>)?,)*) => {
        /// A message of any type.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum TmpMessage<'a> {
            $(#[doc = stringify!($name)] $name($name $(<$life>)?),)*
        }

        /// The layouts of all messages.
        pub const LAYOUTS: &[&TmpLayoutInfo] = &[$(&$name::INFO,)*];

        /// The layout for a MessageType; `None` for an unknown one.
        #[inline]
        #[must_use]
        pub fn layout_of(code: u8) -> Option<&'static TmpLayoutInfo> {
            match code {
                $(it if it == $name::INFO.code => Some(&$name::INFO),)*
                _ => None,
            }
        }

        impl<'a> TmpMessage<'a> {
            /// Reads the fields of a frame that was checked.
            ///
            /// # Errors
            ///
            /// Never for a frame from [`TmpFrame::read`], which accepts known types only.
            pub fn of(frame: &TmpFrame<'a>) -> Result<Self, FrameError> {
                match frame.code() {
                    $(it if it == $name::INFO.code => Ok(Self::$name(frame.body()?)),)*
                    _ => frame.body().map(Self::L10),
                }
            }

            /// Checks that enumerated fields have defined values.
            ///
            /// # Errors
            ///
            /// The first field whose value is not defined.
            pub fn check(&self) -> Result<(), FrameError> {
                match self {
                    $(Self::$name(body) => body.check(),)*
                }
            }

            /// Writes the complete frame and returns its length in bytes.
            ///
            /// # Errors
            ///
            /// See [`TmpLayout::encode`].
            pub fn encode(&self, header: &TmpHeader, to: &mut [u8]) -> Result<usize, FrameError> {
                match self {
                    $(Self::$name(body) => body.encode(header, to),)*
                }
            }
        }
    };
}

messages! {
    L10, L20, L30, L40, L41<'a>, L42, L50, L60,
    R01, R31, R02, R32, R03, R22, R04, R05, R06, R07, R37, R08, R38, R09, R39,
    R11, R12, R13<'a>, R14<'a>, R15, R16, R17<'a>, R18<'a>,
}
