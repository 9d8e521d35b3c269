//! An order management system without I/O: orders, their states, positions and limits.
//!
//! ```text
//! input > decide(state, input) > events > apply(state) > reports, orders for venues
//!                                  |
//!                                  +--> one note each, in the record of the input
//! ```
//!
//! Only [`OmsState::apply`] changes the state, so that recovery, a checkpoint and a replica get the same state.
//! The crate reads no clock, socket or file.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod app;
mod decide;
mod desk;
pub mod fix;
pub mod load;
pub mod state;
#[cfg(test)]
mod tests;
mod tmp;
pub mod trial;
mod values;

pub use app::recovery;
pub use app::{LeftOutFields, LeftOutOf, Oms, OmsSession, SessionTemplate, UserDefinedTag};
pub use decide::core::{Change, Core, NewOrder, Sink};
pub use decide::inquiries::NewInquiry;
pub use decide::mass::MassCancel;
pub use decide::quotes::{NewQuote, QuoteCancel};
pub use decide::reload::{NewSettings, RELOAD, ReloadKind, SettingsSource};
pub use decide::venue::rejects::VenueReject;
pub use decide::venue::strays::UndoDoubt;
pub use desk::day;
pub use desk::history;
pub use desk::notice::{OmsEvent, OmsListener};
pub use desk::positions;
pub use desk::price_file::price_commands;
pub use desk::query::stored_answer;
pub use desk::report_file::{RowCommands, expired_rows, report_rows};
pub use fixwire_ledger::NestedEvents;
pub use state::OmsState;
pub use state::conditions::{PriceCondition, Terms};
pub use state::event;
pub use state::event::OrderEvent;
pub use state::filter::OrderFilter;
pub use state::orders::rejected::{RefusedTerms, RejectedTerms};
pub use state::orders::transition::OrderState;
pub use state::orders::{Order, Orders, Request};
pub use state::parents::FamilyRole;
pub use state::quotes::QuoteSide;
pub use state::spreads::{OrderLegs, SpreadLeg};
pub use state::tally::{Position, Tally};
pub use tmp::{OmsTmpLine, tmp_order_number};
pub use values::canary;
pub use values::day::{DayFinder, DaySpan, clock};
pub use values::fields::RefusedField;
pub use values::fields::contract;
pub use values::fields::field_table;
pub use values::fields::report_tags;
pub use values::form::NumberForm;
pub use values::ids::{AccountNo, InstrumentNo, PoolNo, SessionNo, TableKey};
pub use values::limits;
pub use values::locate::Locate;
pub use values::names::Names;
pub use values::own_tags::OwnTags;
pub use values::reason::{Reason, Why};
pub use values::rules;
pub use values::scope::Scope;
pub use values::texts::TextTable;
pub use values::value::{
    Amount, BreakKind, Effect, End, Number, OrderType, Price, PriceField, Quantity, RequestKind,
    Side, Text, TimeInForce, Trading,
};
pub use values::verbs::{By, COMMANDS, CommandVerb, OperatorVerb, QUERIES, QueryVerb};
pub use values::words::LeftMemory;
