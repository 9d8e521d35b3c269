//! Acceptance scripts of the QuickFIX family, played over TCP against an acceptor.
//!
//! ```text
//! iCONNECT            open connection 1 (i2,CONNECT: connection 2)
//! iDISCONNECT         close it
//! eDISCONNECT         the engine must close it
//! I8=FIX.4.2…         send this message (I2,8=…: on connection 2; R8=… is the same as I)
//! E8=FIX.4.2…         the next message received must be this one
//! sleep(0.5)          wait so many seconds
//! ```
//!
//! `<TIME>`, `<TIME+n>` and `<TIME-n>` are replaced by the time; BodyLength(9) and CheckSum(10) are filled
//! in where a script leaves them out. Lines with `#` are comments.

pub mod compare;
pub mod play;
pub mod script;
pub mod suite;
