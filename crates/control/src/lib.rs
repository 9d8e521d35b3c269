//! Control socket of a running engine. Requests and answers are lines of JSON, one answer for each request.
//!
//! ```text
//!   program                                             engine's process
//!      {"id":1,"do":"status"}                      -->
//!                                                  <--  {"id":1,"engine":{..},"sessions":[..]}
//!      {"id":2,"do":"logout","session":"FIX.4.4:BROKER->CLIENT","why":"lunch"}
//!                                                  -->
//!                                                  <--  {"id":2,"text":"FIX.4.4:BROKER->CLIENT: logs out"}
//!      {"id":3,"do":"set-numbers","session":"..","next_out":0}
//!                                                  -->
//!                                                  <--  {"id":3,"error":"..: 0 is not a valid MsgSeqNum: .."}
//! ```
//!
//! [`Control`] is the engine's end of a connection, [`Client`] the other end. The operator is identified by the
//! credentials that the system has for the connection, so no user can pretend to be another one. [`Asked`] lists the
//! requests. The requests correspond to functions of [`Handle`](fixwire_engine::Handle); the engine first checks
//! whether the operator has the right.
#![forbid(unsafe_code)]

mod answer;
mod ask;
mod client;
mod place;
mod places;
mod server;

pub use answer::{Answer, EngineReport, LinkLine, SessionLine};
pub use ask::{Asked, ControlQuestion, ControlRight, LONGEST};
pub use client::{Client, ClientError};
pub use place::{IN_STORE, Place, this_user};
pub use places::{KEPT, MOST};
pub use server::{COUNTS, Control, FIGURES, ReloadHandler, SessionNames};
