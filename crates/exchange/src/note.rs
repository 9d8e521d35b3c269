//! Journal notes that rebuild the market.
//!
//! ```text
//! L remembered                        number of closed orders to remember from here on
//! M number version digits name        a member: session name, FIX version and precision of times
//! I time tick|lot|low|high|reference|state|orders|symbol    an instrument was added or changed in the file;
//!                                     a spread has its legs before the symbol
//! X time symbol                       an instrument was removed from the file
//! R member time MsgType fields        a request of a member, with its used fields
//! O member time length script fields  a new order that follows a script: length and lines of the script, then the fields
//! T time order                        the next step of a scripted order is due
//! V time order                        an operator requested a report of the order's status
//! S time state symbol                 an operator changed the trading state
//! U time symbol                       an operator ended an auction call with its trades
//! H time ExecID                       an operator cancelled a trade
//! G time ExecID quantity price        an operator corrected a trade; no price if unchanged
//! B low high symbol                   an operator changed the price band
//! W place count                       pending reports were written: count, from this index on
//! N member number                     a TMP line has received the message with this MsgSeqNum
//! K member number frame               a frame with this MsgSeqNum is kept for a TMP line
//! C                                   copies of reports of TMP orders are kept from here on
//! ```
//!
//! The MsgType of a TMP member's request may also be I (a query) or 3 (a request rejected with OrdRejReason(103)).
//! `|` and the end of a field are SOH; times are nanoseconds since 1970. A note is written before it is applied to
//! the market, so that every change has its note.

use alloc::vec::Vec;

use fixwire_book::BookState;
use fixwire_protocol::{Decimal, Timestamp};

use crate::config::{state_name, state_of};
use crate::dialect::Dialect;
use crate::fields::{Fields, number, text};

/// A parsed note.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Note<'a> {
    Limits {
        remembered_max: u32,
    },
    Member {
        number: u32,
        dialect: Dialect,
        digits: u8,
        name: &'a str,
    },
    Instrument {
        at: Timestamp,
        noted: &'a str,
    },
    Gone {
        at: Timestamp,
        symbol: &'a str,
    },
    Request(Request<'a>),
    Scripted {
        request: Request<'a>,
        /// The script's name and steps, one per line.
        script: &'a str,
    },
    Step {
        at: Timestamp,
        order: u64,
    },
    Status {
        at: Timestamp,
        order: u64,
    },
    State {
        at: Timestamp,
        state: BookState,
        symbol: &'a str,
    },
    Uncross {
        at: Timestamp,
        symbol: &'a str,
    },
    TradeChange {
        at: Timestamp,
        exec_id: u64,
        /// The corrected quantity and price; `None` if the trade is cancelled.
        to: Option<(Decimal, Option<Decimal>)>,
    },
    Band {
        low: Decimal,
        high: Decimal,
        symbol: &'a str,
    },
    Written {
        at: u64,
        count: u64,
    },
    Received {
        member: u32,
        inbound: u32,
    },
    Kept {
        member: u32,
        msg_seq_num: u32,
        frame: &'a [u8],
    },
    Copies,
}

/// A request of a member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Request<'a> {
    pub(crate) member: u32,
    pub(crate) at: Timestamp,
    pub(crate) msg_type: &'a [u8],
    pub(crate) fields: Fields<'a>,
}

impl<'a> Note<'a> {
    /// Reads a note; `None` when it is invalid.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        if bytes == b"C" {
            return Some(Self::Copies);
        }
        let (letter, rest) = word(bytes)?;
        Some(match letter {
            b"L" => Self::Limits {
                remembered_max: short(rest)?,
            },
            b"M" => {
                let (member, rest) = word(rest)?;
                let (dialect, rest) = word(rest)?;
                let (digits, name) = word(rest)?;
                Self::Member {
                    number: short(member)?,
                    dialect: Dialect::from_name(core::str::from_utf8(dialect).ok()?)?,
                    digits: u8::try_from(number(digits)?).ok()?,
                    name: core::str::from_utf8(name).ok()?,
                }
            }
            b"I" => {
                let (at, noted) = timed(rest)?;
                Self::Instrument { at, noted }
            }
            b"X" => {
                let (at, symbol) = timed(rest)?;
                Self::Gone { at, symbol }
            }
            b"R" => {
                let (member, rest) = word(rest)?;
                let (at, rest) = word(rest)?;
                let (msg_type, fields) = word(rest)?;
                Self::Request(Request {
                    member: short(member)?,
                    at: time(at)?,
                    msg_type,
                    fields: Fields::new(fields),
                })
            }
            b"O" => {
                let (member, rest) = word(rest)?;
                let (at, rest) = word(rest)?;
                let (length, rest) = word(rest)?;
                let length = usize::try_from(number(length)?).ok()?;
                let (script, fields) = rest.split_at_checked(length)?;
                Self::Scripted {
                    request: Request {
                        member: short(member)?,
                        at: time(at)?,
                        msg_type: b"D",
                        fields: Fields::new(fields),
                    },
                    script: core::str::from_utf8(script).ok()?,
                }
            }
            b"T" | b"V" => {
                let (at, order) = timed(rest)?;
                let order = order.parse().ok()?;
                match letter {
                    b"T" => Self::Step { at, order },
                    _ => Self::Status { at, order },
                }
            }
            b"S" => {
                let (at, rest) = word(rest)?;
                let (state, symbol) = word(rest)?;
                Self::State {
                    at: time(at)?,
                    state: state_of(core::str::from_utf8(state).ok()?)?,
                    symbol: core::str::from_utf8(symbol).ok()?,
                }
            }
            b"U" => {
                let (at, symbol) = timed(rest)?;
                Self::Uncross { at, symbol }
            }
            b"G" | b"H" => Self::of_trade(letter, rest)?,
            b"B" => {
                let (low, rest) = word(rest)?;
                let (high, symbol) = word(rest)?;
                Self::Band {
                    low: Decimal::parse(low).ok()?,
                    high: Decimal::parse(high).ok()?,
                    symbol: core::str::from_utf8(symbol).ok()?,
                }
            }
            b"W" => {
                let (at, count) = word(rest)?;
                Self::Written {
                    at: number(at)?,
                    count: number(count)?,
                }
            }
            _ => return Self::of_line(letter, rest),
        })
    }

    /// Reads a note of a trade that was cancelled or corrected.
    fn of_trade(letter: &[u8], rest: &'a [u8]) -> Option<Self> {
        let (at, rest) = word(rest)?;
        let (exec_id, to) = match letter {
            b"H" => (rest, None),
            _ => {
                let (exec_id, rest) = word(rest)?;
                let (quantity, price) = word(rest)?;
                let price = match price {
                    b"" => None,
                    price => Some(Decimal::parse(price).ok()?),
                };
                (exec_id, Some((Decimal::parse(quantity).ok()?, price)))
            }
        };
        Some(Self::TradeChange {
            at: time(at)?,
            exec_id: number(exec_id)?,
            to,
        })
    }

    /// Reads a note of a TMP line.
    fn of_line(letter: &[u8], rest: &'a [u8]) -> Option<Self> {
        let (member, rest) = word(rest)?;
        let member = short(member)?;
        match letter {
            b"N" => Some(Self::Received {
                member,
                inbound: short(rest)?,
            }),
            b"K" => {
                let (msg_seq_num, frame) = word(rest)?;
                Some(Self::Kept {
                    member,
                    msg_seq_num: short(msg_seq_num)?,
                    frame,
                })
            }
            _ => None,
        }
    }

    /// Writes the note into `out`, replacing its content.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        out.clear();
        let mut line = Line(out);
        match self {
            Self::Limits { remembered_max } => {
                line.word("L").number(u64::from(remembered_max));
            }
            Self::Member {
                number,
                dialect,
                digits,
                name,
            } => {
                line.word("M").number(u64::from(number));
                line.word(dialect.name())
                    .number(u64::from(digits))
                    .word(name);
            }
            Self::Instrument { at, noted } => {
                line.word("I").time(at).word(noted);
            }
            Self::Gone { at, symbol } => {
                line.word("X").time(at).word(symbol);
            }
            Self::Request(request) => {
                line.word("R").number(u64::from(request.member));
                line.time(request.at);
                line.bytes(request.msg_type).bytes(request.fields.bytes);
            }
            Self::Scripted { request, script } => {
                line.word("O").number(u64::from(request.member));
                line.time(request.at).number(script.len() as u64);
                line.word(script);
                out.extend_from_slice(request.fields.bytes);
            }
            Self::Step { at, order } => {
                line.word("T").time(at).number(order);
            }
            Self::Status { at, order } => {
                line.word("V").time(at).number(order);
            }
            Self::State { at, state, symbol } => {
                line.word("S").time(at).word(state_name(state)).word(symbol);
            }
            Self::Uncross { at, symbol } => {
                line.word("U").time(at).word(symbol);
            }
            Self::TradeChange { at, exec_id, to } => {
                line.word(if to.is_some() { "G" } else { "H" });
                line.time(at).number(exec_id);
                if let Some((quantity, price)) = to {
                    line.bytes(&text(quantity));
                    line.bytes(&price.map(text).unwrap_or_default());
                }
            }
            Self::Band { low, high, symbol } => {
                line.word("B").bytes(&text(low)).bytes(&text(high));
                line.word(symbol);
            }
            Self::Written { at, count } => {
                line.word("W").number(at).number(count);
            }
            Self::Received { member, inbound } => {
                line.word("N").number(u64::from(member));
                line.number(u64::from(inbound));
            }
            Self::Kept {
                member,
                msg_seq_num,
                frame,
            } => {
                line.word("K").number(u64::from(member));
                line.number(u64::from(msg_seq_num)).bytes(frame);
            }
            Self::Copies => {
                line.word("C");
            }
        }
    }
}

/// Writes words separated by spaces.
struct Line<'a>(&'a mut Vec<u8>);

impl Line<'_> {
    fn bytes(&mut self, word: &[u8]) -> &mut Self {
        if !self.0.is_empty() {
            self.0.push(b' ');
        }
        self.0.extend_from_slice(word);
        self
    }

    fn word(&mut self, word: &str) -> &mut Self {
        self.bytes(word.as_bytes())
    }

    fn number(&mut self, value: u64) -> &mut Self {
        self.word(itoa::Buffer::new().format(value))
    }

    fn time(&mut self, at: Timestamp) -> &mut Self {
        self.word(itoa::Buffer::new().format(at.0))
    }
}

fn word(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b' ')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// Reads a time and the text after it.
fn timed(bytes: &[u8]) -> Option<(Timestamp, &str)> {
    let (at, text) = word(bytes)?;
    Some((time(at)?, core::str::from_utf8(text).ok()?))
}

fn short(digits: &[u8]) -> Option<u32> {
    u32::try_from(number(digits)?).ok()
}

fn time(digits: &[u8]) -> Option<Timestamp> {
    let nanos = core::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(Timestamp(nanos))
}
