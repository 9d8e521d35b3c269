//! Tests of the book as a whole: tables of conversations, and a slow twin that random calls are compared with.

mod auctions;
mod orders;
mod random;
mod script;
mod stopped;
mod twin;
