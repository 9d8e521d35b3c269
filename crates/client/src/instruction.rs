//! The command language: a line of text as a value.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;

use fixwire_protocol::{Decimal, Nanos, Tag, tag};

use crate::fields::MessageFields;

mod parse;
#[cfg(test)]
mod tests;

/// Most messages of one `send`.
pub const MOST_SENT: u64 = 1_000_000;
/// The longest name of a template or a group, bytes.
pub const LONGEST_NAME: usize = 32;

/// What one line asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Instruction {
    /// An order: a NewOrderSingle with these fields.
    New(MessageFields),
    /// Cancels orders; the fields are added to each OrderCancelRequest.
    Cancel {
        /// Which orders.
        which: Which,
        /// More fields.
        fields: MessageFields,
    },
    /// Replaces an order; the fields take the place of its own.
    Replace {
        /// Which order.
        which: Which,
        /// What changes.
        fields: MessageFields,
    },
    /// Asks how an order stands.
    Status {
        /// Which order.
        which: Which,
        /// More fields.
        fields: MessageFields,
    },
    /// Lists the orders.
    Orders {
        /// Those that are finished, too.
        all: bool,
    },
    /// Defines a template.
    Set {
        /// Its name.
        name: String,
        /// What is sent.
        message: MessageFields,
    },
    /// Sends messages of a template.
    Send(Box<SendPlan>),
    /// Waits.
    Wait(Until),
    /// Writes the send time into tag 9701 of every message from now on, or no longer.
    Stamps(bool),
    /// Counts and latencies, of all messages or of a group.
    Stats(Option<String>),
    /// Shows the commands.
    Help,
    /// Ends the client.
    Quit,
}

/// Which order is meant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Which {
    /// The one with this ClOrdID(11).
    Id(String),
    /// The one that was sent last.
    Last,
    /// Each that is open.
    All,
}

/// How long to wait.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Until {
    /// Until so many answers have come that no earlier `wait` has counted.
    Reports(u64),
    /// Until each message of this run that has a ClOrdID(11) has had its first answer.
    All,
    /// So long, whatever comes.
    Time(Nanos),
}

/// A `send`: which messages, how many and when.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SendPlan {
    /// The template.
    pub name: String,
    /// How many messages.
    pub count: u64,
    /// Time between two bursts; `None`: as fast as the session takes them.
    pub interval: Option<Nanos>,
    /// Messages of a burst.
    pub burst: u64,
    /// The group whose name begins the ClOrdIDs.
    pub group: Option<String>,
    /// The group whose orders are named by OrigClOrdID(41).
    pub of: Option<String>,
    /// The number at the end of the template's own ClOrdID(11) and OrigClOrdID(41) rises with each message.
    pub increments: bool,
}

/// Why a line is no command.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InstructionError {
    /// The language has no such word.
    Unknown(String),
    /// The command needs something more.
    Missing {
        /// The command.
        command: &'static str,
        /// What it needs.
        what: &'static str,
        /// How it is written.
        form: &'static str,
    },
    /// The command ends before this word.
    Surplus {
        /// The command.
        command: &'static str,
        /// The word.
        word: String,
        /// How it is written.
        form: &'static str,
    },
    /// An order is bought or sold.
    Side(String),
    /// The quantity is no decimal above 0.
    Quantity(String),
    /// The price is no decimal.
    Price(String),
    /// The language has no such TimeInForce(59).
    TimeInForce(String),
    /// Not `TAG=VALUE`.
    Field(String),
    /// The session writes this field.
    OfTheSession(Tag),
    /// No name of a template or a group.
    Name(String),
    /// No MsgType(35) of an application message.
    MsgType(String),
    /// The count of `send` is not `N[/MS][/B]`.
    Count(String),
    /// No number of seconds.
    Seconds(String),
    /// Neither `on` nor `off`.
    OnOff(String),
    /// A replace has to change something.
    NothingReplaced,
    /// `all` is for cancel only.
    All(&'static str),
}

impl fmt::Display for InstructionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(word) => {
                write!(f, "unknown command '{word}': 'help' shows the commands")
            }
            Self::Missing {
                command,
                what,
                form,
            } => write!(f, "{command} needs {what}: {form}"),
            Self::Surplus {
                command,
                word,
                form,
            } => write!(f, "{command} does not take '{word}': {form}"),
            Self::Side(word) => write!(f, "side '{word}': say buy or sell"),
            Self::Quantity(word) => {
                write!(f, "quantity '{word}': say a number above 0, such as 100")
            }
            Self::Price(word) => write!(
                f,
                "price '{word}': say a number such as 12.50, or market for a market order"
            ),
            Self::TimeInForce(word) => {
                write!(f, "time in force '{word}': say day, gtc, ioc or fok")
            }
            Self::Field(text) => write!(
                f,
                "field '{text}': write TAG=VALUE with a tag number and a value, such as 58=hello"
            ),
            Self::OfTheSession(tag) => {
                write!(f, "tag {tag} is written by the session: leave it out")
            }
            Self::Name(name) => write!(
                f,
                "name '{name}': use at most {LONGEST_NAME} letters, digits, '_', '-' or '.'"
            ),
            Self::MsgType(name) => write!(
                f,
                "MsgType '{name}': use that of an application message, such as D, F or G"
            ),
            Self::Count(word) => write!(
                f,
                "count '{word}': write N, N/MS or N/MS/B: N messages (1 to {MOST_SENT}), B of them each MS \
                 milliseconds"
            ),
            Self::Seconds(word) => write!(
                f,
                "time '{word}': say seconds, such as 2 or 0.5, at most 86400"
            ),
            Self::OnOff(word) => write!(f, "stamps '{word}': say on or off"),
            Self::NothingReplaced => f.write_str(
                "replace changes nothing: say qty N, price P, or both, or another field as TAG=VALUE",
            ),
            Self::All(command) => write!(
                f,
                "{command} takes one order, not all: say its ClOrdID, or last"
            ),
        }
    }
}

impl core::error::Error for InstructionError {}

impl Instruction {
    /// Reads a line; `None` when it is blank or a comment.
    ///
    /// # Errors
    ///
    /// [`InstructionError`]: what is wrong, and what to write.
    pub fn parse(line: &str) -> Result<Option<Self>, InstructionError> {
        parse::parse(line)
    }
}

/// Whether text is a decimal above 0.
fn is_quantity(text: &str) -> bool {
    Decimal::parse(text.as_bytes()).is_ok_and(|number| number.mantissa > 0)
}

/// Whether text is a decimal.
fn is_price(text: &str) -> bool {
    Decimal::parse(text.as_bytes()).is_ok()
}

/// Writes a price into an order: a limit, or a market order.
fn set_price(message: &mut MessageFields, word: &str) -> Result<(), InstructionError> {
    if word == "market" {
        message.set(tag::ORD_TYPE, "1");
        return Ok(());
    }
    if !is_price(word) {
        return Err(InstructionError::Price(word.to_string()));
    }
    message.set(tag::ORD_TYPE, "2");
    message.set(tag::PRICE, word);
    Ok(())
}
