//! A simulated exchange: members enter orders over FIX or TMP, and matching orders trade.
//!
//! ```text
//!   member A --NewOrderSingle-->  [Exchange]  --ExecutionReport--> member A
//!   member B --NewOrderSingle-->   books      --ExecutionReport--> members A and B
//! ```
//!
//! [`Exchange`] is an [`Application`](fixwire_protocol::Application). Each session and each link of the engine is a
//! member, and an order belongs to the session or link that entered it. Every request is first written to the journal
//! as a note; then a function applies it to the books. Recovery uses the same function, so books, ids and pending
//! reports are the same after `kill -9`.
//!
//! Prices and quantities are exact: they are whole multiples of the instrument's tick and lot.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod config;
mod dialect;
mod event;
mod exchange;
mod faults;
mod fields;
mod instrument;
mod ledger;
mod leg_config;
mod load;
mod market;
mod orders;
mod outgoing;
mod report;
mod script;
mod scripted;
mod spread;
mod state;
#[cfg(test)]
mod tests;
mod tmp;
mod watch;

pub use config::{
    ConfigProblem, ConfigTable, ExchangeConfig, InstrumentConfig, TraderConfig, state_name,
};
pub use event::event_text;
pub use exchange::{Exchange, ExchangeError, ExchangeSession, ExchangeTmpLine, RIGHTS};
pub use faults::{WireControl, WireFault, WireFaults};
pub use fixwire_book::BookState;
pub use ledger::state_form;
pub use leg_config::LegConfig;
pub use load::load;
pub use script::OrderScript;
