//! Texts that people write. One set of functions reads them all, with the same units and the same kind of mistakes.
//!
//! ```text
//!   file > TomlTable > TomlValue > number, duration, word, list      or a Diagnostic: place, mistake, hint
//!            ^
//!            | known keys, defaults
//!          SettingKey: name, form, default, effect of a reload, help, how it is read and shown
//!   line > Lexer > LexerToken: word, quoted text, sign                     or the place of an open quote
//! ```
//!
//! A [`SettingKey`] is the only place where a setting is declared. The reader, the list of known keys in a mistake,
//! the comparison of two files at a reload and the reference page are all made from it. [`nearest`] finds the name
//! that was probably meant, and [`duration`] and [`bytes`] read units.
//!
//! ```
//! use fixwire_text::{duration, nearest};
//!
//! assert_eq!(duration("1m30s"), Some(90_000_000_000));
//! assert_eq!(nearest("qeue", ["flow", "queue"]), Some("queue"));
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod diagnostic;
mod key;
mod lexer;
mod names;
mod toml;
mod units;
mod utf8;

pub use self::toml::{TomlFile, TomlScalar, TomlTable, TomlValue, tables};
pub use diagnostic::{Diagnostic, Span, place};
pub use key::{
    KeyInfo, REQUIRED, ReloadEffect, SettingKey, ShownValue, TableReader, page_rows, time_text,
};
pub use lexer::{Comments, InnerQuote, Lexer, LexerToken, TokenKind, first_word, pairs};
pub use names::{distance, listed, nearest};
pub use units::{bytes, decimal, duration, duration_text, number};
pub use utf8::utf8;
