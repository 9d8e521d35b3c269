//! The command language: a line of text, parsed into a value.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;

use fixwire_protocol::{Decimal, Nanos, Tag, tag};

use crate::fields::MessageFields;

mod parse;
#[cfg(test)]
mod tests;

/// Maximum number of messages of one `send`.
pub const MOST_SENT: u64 = 1_000_000;
/// Maximum length of the name of a template or a group, in bytes.
pub const LONGEST_NAME: usize = 32;

/// A command.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Instruction {
    /// Sends an order: a NewOrderSingle(D) with these fields.
    New(MessageFields),
    /// Cancels orders. The fields are added to each OrderCancelRequest(F).
    Cancel {
        /// The orders to cancel.
        which: Which,
        /// More fields.
        fields: MessageFields,
    },
    /// Replaces an order. The fields override those of the order.
    Replace {
        /// The order to replace.
        which: Which,
        /// The changed fields.
        fields: MessageFields,
    },
    /// Requests the status of an order.
    Status {
        /// The order whose status is requested.
        which: Which,
        /// More fields.
        fields: MessageFields,
    },
    /// Lists the orders.
    Orders {
        /// Whether finished orders are listed too.
        all: bool,
    },
    /// Defines a template.
    Set {
        /// The template's name.
        name: String,
        /// The fields of the template.
        message: MessageFields,
    },
    /// Sends messages of a template.
    Send(Box<SendPlan>),
    /// Waits.
    Wait(Until),
    /// Turns the send time in tag 9701 of every message on or off.
    Stamps(bool),
    /// Shows counts and latencies of all messages, or of the messages in a group.
    Stats(Option<String>),
    /// Shows the commands.
    Help,
    /// Quits the client.
    Quit,
}

/// Selects an order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Which {
    /// The order with this ClOrdID(11).
    Id(String),
    /// The last order sent.
    Last,
    /// All open orders.
    All,
}

/// The event that ends a `wait`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Until {
    /// Until this number of answers was received, without answers that an earlier `wait` has counted.
    Reports(u64),
    /// Until each message of this run that has a ClOrdID(11) was answered.
    All,
    /// A fixed time.
    Time(Nanos),
}

/// The content of a `send`: messages, count and pace.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SendPlan {
    /// The template.
    pub name: String,
    /// Number of messages.
    pub count: u64,
    /// Time between two bursts; `None` means as fast as the session accepts messages.
    pub interval: Option<Nanos>,
    /// Messages per burst.
    pub burst: u64,
    /// The group with whose name the ClOrdIDs begin.
    pub group: Option<String>,
    /// The group to whose orders the messages refer, by OrigClOrdID(41).
    pub of: Option<String>,
    /// Whether the number at the end of the template's ClOrdID(11) and OrigClOrdID(41) is incremented for each
    /// message.
    pub increments: bool,
}

/// Why a line is not a valid command.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InstructionError {
    /// Unknown command.
    Unknown(String),
    /// A missing argument.
    Missing {
        /// The command.
        command: &'static str,
        /// The missing argument.
        what: &'static str,
        /// Syntax of the command.
        form: &'static str,
    },
    /// An unexpected word.
    Surplus {
        /// The command.
        command: &'static str,
        /// The word.
        word: String,
        /// Syntax of the command.
        form: &'static str,
    },
    /// Invalid side.
    Side(String),
    /// Invalid quantity.
    Quantity(String),
    /// Invalid price.
    Price(String),
    /// Invalid TimeInForce(59).
    TimeInForce(String),
    /// A word is not of the form `TAG=VALUE`.
    Field(String),
    /// The session writes this field.
    OfTheSession(Tag),
    /// The name of a template or group is invalid.
    Name(String),
    /// The text is not the MsgType(35) of an application message.
    MsgType(String),
    /// The count of `send` is not `N[/MS][/B]`.
    Count(String),
    /// The number of seconds is invalid.
    Seconds(String),
    /// The word is neither `on` nor `off`.
    OnOff(String),
    /// A replace changes nothing.
    NothingReplaced,
    /// `all` is used in a command other than `cancel`.
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
            } => write!(f, "{command}: unexpected '{word}': {form}"),
            Self::Side(word) => write!(f, "side '{word}': expected buy or sell"),
            Self::Quantity(word) => {
                write!(
                    f,
                    "quantity '{word}': expected a number above 0, such as 100"
                )
            }
            Self::Price(word) => write!(
                f,
                "price '{word}': expected a number such as 12.50, or market for a market order"
            ),
            Self::TimeInForce(word) => {
                write!(f, "time in force '{word}': expected day, gtc, ioc or fok")
            }
            Self::Field(text) => write!(
                f,
                "field '{text}': write TAG=VALUE with a tag number and a value, such as 58=hello"
            ),
            Self::OfTheSession(tag) => {
                write!(f, "the session sets tag {tag}: leave it out")
            }
            Self::Name(name) => write!(
                f,
                "name '{name}': use at most {LONGEST_NAME} letters, digits, '_', '-' or '.'"
            ),
            Self::MsgType(name) => write!(
                f,
                "MsgType '{name}': write the MsgType of an application message, such as D, F or G"
            ),
            Self::Count(word) => write!(
                f,
                "count '{word}': write N, N/MS or N/MS/B for N messages (1 to {MOST_SENT}), B of them every MS \
                 milliseconds"
            ),
            Self::Seconds(word) => write!(
                f,
                "time '{word}': expected seconds, such as 2 or 0.5, at most 86400"
            ),
            Self::OnOff(word) => write!(f, "stamps '{word}': expected on or off"),
            Self::NothingReplaced => f.write_str(
                "replace has no change: write qty N, price P, or another field as TAG=VALUE",
            ),
            Self::All(command) => write!(
                f,
                "{command} is for one order, not for all: write the ClOrdID of the order, or last"
            ),
        }
    }
}

impl core::error::Error for InstructionError {}

impl Instruction {
    /// Parses a line; `None` when the line is blank or a comment.
    ///
    /// # Errors
    ///
    /// [`InstructionError`], which states the correct form.
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

/// Writes a price into an order: as a limit, or as a market order.
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
