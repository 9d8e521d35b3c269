//! TAIFEX TMP, the binary order protocol of the Taiwan Futures Exchange: messages, and both ends of a link.
//!
//! ```text
//!   bytes > TmpFrame::read > frame.body::<R01>()          length, type and checksum checked once
//!   R01   > encode(&header, &mut buffer) > bytes          no allocation
//!
//!   on_connect, on_frame, on_time, send  >  LinkClient    (the broker)    >  LinkActions: send, deliver,
//!                                           LinkExchange  (the exchange)     ready, save, warn, close
//! ```
//!
//! The crate uses no socket, file, clock or thread: bytes and [`LinkNow`] are inputs, and actions are outputs. Each
//! layout is declared once, in [`messages`]; [`messages::LAYOUTS`] lists names, offsets and sizes at run time. Where
//! the public specification leaves something open, [`uncertain`] has the decision, and no other place.
//!
//! ```
//! use fixwire_tmp::{TmpExecType, TmpFrame, TmpHeader, TmpLayout, messages::R01};
//!
//! let order = R01 { exec_type: TmpExecType::NEW, order_no: *b"A0001", ..R01::default() };
//! let mut buffer = [0; 128];
//! let len = order.encode(&TmpHeader::default(), &mut buffer).unwrap();
//! let frame = TmpFrame::read(&buffer[..len]).unwrap();
//! assert_eq!(frame.body::<R01>().unwrap(), order);
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod codes;
mod error;
mod frame;
mod header;
mod layout;
mod link;
pub mod messages;
mod status;
mod symbol;
pub mod uncertain;
mod wire;

pub use codes::{
    ApCode, KeyValue, SystemType, TmpExecType, TmpOrdType, TmpPositionEffect, TmpSide,
    TmpSymbolType, TmpTimeInForce,
};
pub use error::{FrameError, TmpExpectedValue};
pub use frame::{TmpFrame, key_value_range, mask_key};
pub use header::{FRAME_BYTES_LEAST, FRAME_BYTES_MOST, TmpHeader, checksum};
pub use layout::{LayoutField, TmpLayout, TmpLayoutInfo};
pub use link::actions::{LinkAction, LinkActions, LinkActionsIter};
pub use link::client::{ClientLinkState, LinkClient};
pub use link::end::{LinkEnd, LinkReady, LinkSendError, LinkWarning};
pub use link::exchange::{ExchangeLinkState, LinkExchange};
pub use link::flow::is_counted;
pub use link::heartbeat::HeartbeatRule;
pub use link::resend::ResendStore;
pub use link::settings::{
    ClientLinkSettings, ExchangeLinkSettings, LinkNow, LinkNumbers, OrderMarks, TmpPassword,
};
pub use status::{STATUS_TEXTS, TmpStatus};
pub use symbol::{NumericSymbol, TmpSymbol};
pub use wire::{TmpTime, WireField};
