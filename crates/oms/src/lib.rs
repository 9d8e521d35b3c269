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

mod agree;
mod alarms;
mod apply;
mod apply_break;
mod apply_condition;
mod apply_day;
mod apply_desk;
mod apply_family;
mod apply_inquiry;
mod apply_late;
mod apply_limit;
mod apply_order;
mod apply_pool;
mod apply_quote;
mod apply_reload;
mod apply_spread;
mod apply_undo;
mod begin;
mod breaks;
mod browse;
pub mod canary;
mod chain_ids;
mod checkpoint;
mod client_rate;
pub mod command;
mod condition;
mod copies;
pub mod core;
mod counted;
mod day;
mod day_end;
mod differences;
mod done_for_day;
mod doubts;
mod drop_copy;
pub mod event;
mod event_form;
mod exact;
mod external;
mod family;
pub mod field_table;
mod fills;
mod filter;
pub mod fix;
mod flow;
mod foreign;
mod form;
mod guard;
pub mod history;
mod ids;
mod inquiries;
mod inquiry;
mod known_prices;
mod lapsed;
mod lapsed_cancels;
mod late;
mod late_reports;
mod leg_fills;
mod leg_undo;
mod legs;
pub mod limits;
pub mod load;
mod locate;
mod manual;
mod market_watches;
mod marks;
mod mass;
mod mass_answers;
mod mass_status;
mod names;
mod nested;
mod not_there;
mod notice;
mod numbers;
pub mod oms;
pub mod order;
mod own;
mod own_tags;
mod parents;
mod pending_reload;
mod pool;
mod price_file;
mod prices;
mod query;
mod queue;
mod quote;
mod quotes;
mod reason;
pub mod recovery;
mod reduce;
mod refusals;
mod rejected;
mod rejects;
mod reload;
mod remade;
mod replace_as_new;
mod report_file;
mod rerun;
mod restated;
mod retries;
mod retry;
mod rights;
mod risk;
mod roll;
pub mod rules;
mod scope;
mod sending;
mod setting_fields;
mod settle;
mod slab;
mod spent;
mod spreads;
pub mod state;
#[cfg(any(test, feature = "state-lines"))]
mod state_lines;
mod status_requests;
mod stray_fills;
mod strays;
mod table;
mod tag_counts;
mod tally;
#[cfg(test)]
mod tests;
mod texts;
mod tmp;
pub mod transition;
mod unanswered;
mod undo;
mod units;
mod value;
pub mod venue;
mod venue_id;
mod venue_ids;
mod venue_market;
mod waiting;
mod waived;
mod wire;
mod work;
mod worth;

pub use condition::{Terms, Wish};
pub use core::{Change, Core, NewOrder, Sink};
pub use day::{DayFinder, DaySpan, clock};
pub use event::OrderEvent;
pub use family::FamilyRole;
pub use filter::OrderFilter;
pub use form::NumberForm;
pub use inquiry::NewInquiry;
pub use locate::Locate;
pub use mass::MassCancel;
pub use names::Names;
pub use nested::NestedEvents;
pub use notice::{OmsEvent, OmsListener};
pub use oms::{Oms, OmsSession};
pub use order::{Order, Orders, Request};
pub use own_tags::OwnTags;
pub use price_file::price_commands;
pub use query::QUERIES;
pub use quote::{NewQuote, QuoteCancel};
pub use quotes::QuoteSide;
pub use reason::{Reason, Why};
pub use rejected::RejectedTerms;
pub use rejects::VenueReject;
pub use reload::{NewSettings, RELOAD, ReloadKind, SettingsSource};
pub use report_file::{expired_rows, report_rows};
pub use scope::Scope;
pub use spreads::{OrderLegs, SpreadLeg};
pub use state::OmsState;
pub use tally::{Position, Tally};
pub use texts::TextTable;
pub use tmp::{OmsTmpLine, tmp_order_number};
pub use transition::OrderState;
pub use value::{
    Amount, BreakKind, Effect, End, Number, OrderType, Price, PriceField, Quantity, RequestKind,
    Side, Text, TimeInForce, Trading,
};
