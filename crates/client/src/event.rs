//! Events of the client: answers, changes of the session, lists, and results of commands.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::{Nanos, Timestamp};

use crate::failure::CommandFailure;
use crate::report::{ReportLine, time_of_day};

/// An event of the client. Events are raised on the engine's thread, so a listener must not block.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientEvent<'a> {
    /// An answer was received.
    Answer(&'a ReportLine),
    /// The session logged on, logged out, or lost its connection.
    Session {
        /// Time of the change.
        at: Timestamp,
        /// The session's state in words, with the Text(58) of the peer's Logout, if any.
        text: String,
    },
    /// The result of `orders`.
    Orders(Vec<OrderLine>),
    /// The result of `stats`.
    Stats(SendStats),
    /// The last command has succeeded or failed.
    Finished(Result<(), CommandFailure>),
}

/// Receives the events, see [`ClientEvent`].
pub type EventListener = Box<dyn FnMut(ClientEvent<'_>) + Send>;

/// An order, according to its reports so far.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OrderLine {
    /// ClOrdID(11) of the order, or of its last accepted replace.
    pub cl_ord_id: String,
    /// OrderID(37); empty until a report has it.
    pub order_id: String,
    /// OrdStatus(39), in words.
    pub ord_status: String,
    /// Side(54), in words.
    pub side: String,
    /// Symbol(55).
    pub symbol: String,
    /// OrderQty(38).
    pub quantity: String,
    /// Price(44); empty for a market order.
    pub price: String,
    /// CumQty(14).
    pub cum: String,
    /// LeavesQty(151).
    pub leaves: String,
}

impl OrderLine {
    /// Each value of the order, with its name.
    #[must_use]
    pub fn values(&self) -> [(&'static str, &str); 9] {
        [
            ("cl_ord_id", &self.cl_ord_id),
            ("order_id", &self.order_id),
            ("ord_status", &self.ord_status),
            ("side", &self.side),
            ("symbol", &self.symbol),
            ("qty", &self.quantity),
            ("price", &self.price),
            ("cum", &self.cum),
            ("leaves", &self.leaves),
        ]
    }
}

impl fmt::Display for OrderLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cl_ord_id)?;
        for (name, value) in [
            ("", &self.side),
            ("", &self.quantity),
            ("", &self.symbol),
            ("@ ", &self.price),
            ("", &self.ord_status),
            ("cum ", &self.cum),
            ("leaves ", &self.leaves),
            ("OrderID ", &self.order_id),
        ] {
            if !value.is_empty() {
                write!(f, " {name}{value}")?;
            }
        }
        Ok(())
    }
}

/// Counts of the messages with a ClOrdID(11) that were sent in this run, and of their answers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SendStats {
    /// The group; `None` for all messages.
    pub group: Option<String>,
    /// Messages sent.
    pub sent: u64,
    /// Messages whose first answer was not a reject, and that were not rejected later either.
    pub accepted: u64,
    /// Messages that were rejected, by whatever kind of reject.
    pub rejected: u64,
    /// Completely filled orders.
    pub filled: u64,
    /// For each message, the time from sending until its first answer. For a message with a pace, the time begins
    /// when the message was due.
    pub latencies: Vec<Nanos>,
}

impl SendStats {
    /// Unanswered messages.
    #[must_use]
    pub fn unanswered(&self) -> u64 {
        self.sent.saturating_sub(self.accepted + self.rejected)
    }
}

/// The event for a change of the session.
pub(crate) fn session_line(at: Timestamp, what: &str, text: &[u8]) -> ClientEvent<'static> {
    let mut line = String::from(what);
    if !text.is_empty() {
        line.push_str(": ");
        line.push_str(&String::from_utf8_lossy(text));
    }
    ClientEvent::Session { at, text: line }
}

impl ClientEvent<'_> {
    /// A time of day, as it is printed: `13:30:00.123456`.
    #[must_use]
    pub fn time(at: Timestamp) -> String {
        time_of_day(at)
    }
}
