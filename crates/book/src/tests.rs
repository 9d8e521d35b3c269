//! Tests of the whole book: tables of calls and events, and random calls compared with a slow twin.

mod auctions;
mod orders;
mod random;
mod script;
mod stopped;
mod twin;
