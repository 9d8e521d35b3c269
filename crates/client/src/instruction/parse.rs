//! Parses a command line, word by word from left to right.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Nanos, tag};
use fixwire_text::{first_word, number};

use super::{
    Instruction, InstructionError, LONGEST_NAME, MOST_SENT, SendPlan, Until, Which, is_price,
    is_quantity, set_price,
};
use crate::fields::MessageFields;

const NEW: &str =
    "new buy|sell QTY SYMBOL [@ PRICE|market] [tif day|gtc|ioc|fok] [account A] [TAG=VALUE ...]";
const CANCEL: &str = "cancel ID|last|all [TAG=VALUE ...]";
const REPLACE: &str = "replace ID|last [qty N] [price P] [TAG=VALUE ...]";
const STATUS: &str = "status ID|last [TAG=VALUE ...]";
const SET: &str = "set NAME MSGTYPE [TAG=VALUE|TAG=VALUE...]";
const SEND: &str = "send NAME N[/MS][/B] [GROUP] [of GROUP] [+]";
const WAIT: &str = "wait N reports | wait all | wait SECONDS";
/// Maximum length of a pause: one day.
const LONGEST_PAUSE: Nanos = Nanos::from_secs(86_400);

type Read = Result<Instruction, InstructionError>;

/// The remaining words of a line.
struct Words<'a> {
    rest: &'a str,
    command: &'static str,
    form: &'static str,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (word, rest) = first_word(self.rest);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    fn need(&mut self, what: &'static str) -> Result<&'a str, InstructionError> {
        let (command, form) = (self.command, self.form);
        self.next().ok_or(InstructionError::Missing {
            command,
            what,
            form,
        })
    }

    fn surplus(&self, word: &str) -> InstructionError {
        InstructionError::Surplus {
            command: self.command,
            word: word.to_string(),
            form: self.form,
        }
    }

    fn end(&mut self) -> Result<(), InstructionError> {
        match self.next() {
            Some(word) => Err(self.surplus(word)),
            None => Ok(()),
        }
    }
}

pub(super) fn parse(line: &str) -> Result<Option<Instruction>, InstructionError> {
    let (word, rest) = first_word(line);
    if word.is_empty() || word.starts_with('#') {
        return Ok(None);
    }
    let words = |command, form| Words {
        rest,
        command,
        form,
    };
    let plain = |instruction: Instruction, command| {
        words(command, command).end()?;
        Ok(instruction)
    };
    match word {
        "new" => new(words("new", NEW)),
        "order" => new(words("order", NEW)),
        "cancel" => cancel(words("cancel", CANCEL)),
        "replace" => replace(words("replace", REPLACE)),
        "status" => status(words("status", STATUS)),
        "orders" => orders(words("orders", "orders [all]")),
        "set" => set(words("set", SET)),
        "send" => send(words("send", SEND)),
        "wait" => wait(words("wait", WAIT)),
        "sleep" => sleep(words("sleep", "sleep SECONDS")),
        "stamps" => stamps(words("stamps", "stamps on|off")),
        "stats" => stats(words("stats", "stats [GROUP]")),
        "help" => plain(Instruction::Help, "help"),
        "quit" => plain(Instruction::Quit, "quit"),
        other => Err(InstructionError::Unknown(other.to_string())),
    }
    .map(Some)
}

fn new(mut words: Words<'_>) -> Read {
    let mut message = MessageFields::new("D");
    let side = match words.need("a side")? {
        "buy" => "1",
        "sell" => "2",
        other => return Err(InstructionError::Side(other.to_string())),
    };
    let quantity = words.need("a quantity")?;
    if !is_quantity(quantity) {
        return Err(InstructionError::Quantity(quantity.to_string()));
    }
    message.set(tag::SYMBOL, words.need("a symbol")?);
    message.set(tag::SIDE, side);
    message.set(tag::ORDER_QTY, quantity);
    message.set(tag::ORD_TYPE, "1");
    let mut given = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "@" => set_price(&mut message, words.need("a price after '@'")?)?,
            "tif" => {
                let time = words.need("a time in force after 'tif'")?;
                message.set(tag::TIME_IN_FORCE, time_in_force(time)?);
            }
            "account" => message.set(tag::ACCOUNT, words.need("an account after 'account'")?),
            word => match word.strip_prefix('@') {
                Some(price) => set_price(&mut message, price)?,
                None if word.contains('=') => message.set_text(word, &mut given)?,
                None => return Err(words.surplus(word)),
            },
        }
    }
    Ok(Instruction::New(message))
}

fn time_in_force(word: &str) -> Result<&'static str, InstructionError> {
    match word {
        "day" => Ok("0"),
        "gtc" => Ok("1"),
        "ioc" => Ok("3"),
        "fok" => Ok("4"),
        other => Err(InstructionError::TimeInForce(other.to_string())),
    }
}

fn cancel(mut words: Words<'_>) -> Read {
    let which = which(&mut words)?;
    let fields = more(&mut words, "F")?;
    Ok(Instruction::Cancel { which, fields })
}

fn status(mut words: Words<'_>) -> Read {
    let which = one(&mut words)?;
    let fields = more(&mut words, "H")?;
    Ok(Instruction::Status { which, fields })
}

fn replace(mut words: Words<'_>) -> Read {
    let which = one(&mut words)?;
    let mut fields = MessageFields::new("G");
    let mut given = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "qty" => {
                let quantity = words.need("a quantity after 'qty'")?;
                if !is_quantity(quantity) {
                    return Err(InstructionError::Quantity(quantity.to_string()));
                }
                fields.set(tag::ORDER_QTY, quantity);
            }
            "price" => {
                let price = words.need("a price after 'price'")?;
                if !is_price(price) {
                    return Err(InstructionError::Price(price.to_string()));
                }
                fields.set(tag::PRICE, price);
            }
            word if word.contains('=') => fields.set_text(word, &mut given)?,
            word => return Err(words.surplus(word)),
        }
    }
    if fields.fields.is_empty() {
        return Err(InstructionError::NothingReplaced);
    }
    Ok(Instruction::Replace { which, fields })
}

fn which(words: &mut Words<'_>) -> Result<Which, InstructionError> {
    Ok(match words.need("an order")? {
        "last" => Which::Last,
        "all" => Which::All,
        id => Which::Id(id.to_string()),
    })
}

fn one(words: &mut Words<'_>) -> Result<Which, InstructionError> {
    match which(words)? {
        Which::All => Err(InstructionError::All(words.command)),
        which => Ok(which),
    }
}

fn more(words: &mut Words<'_>, msg_type: &str) -> Result<MessageFields, InstructionError> {
    let mut fields = MessageFields::new(msg_type);
    let mut given = Vec::new();
    while let Some(word) = words.next() {
        if !word.contains('=') {
            return Err(words.surplus(word));
        }
        fields.set_text(word, &mut given)?;
    }
    Ok(fields)
}

fn orders(mut words: Words<'_>) -> Read {
    let all = match words.next() {
        None => false,
        Some("all") => true,
        Some(word) => return Err(words.surplus(word)),
    };
    words.end()?;
    Ok(Instruction::Orders { all })
}

fn set(mut words: Words<'_>) -> Read {
    let name = name(words.need("a name")?)?;
    let msg_type = words.need("a MsgType")?;
    let letters = msg_type.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let admin = matches!(msg_type, "0" | "1" | "2" | "3" | "4" | "5" | "A");
    if !letters || admin || msg_type.len() > 4 {
        return Err(InstructionError::MsgType(msg_type.to_string()));
    }
    let mut message = MessageFields::new(msg_type);
    // Values may contain spaces, so the rest of the line is one text.
    let fields = words.rest.trim_end_matches('|');
    if !fields.is_empty() {
        for field in fields.split('|') {
            message.push_text(field)?;
        }
    }
    Ok(Instruction::Set { name, message })
}

fn name(word: &str) -> Result<String, InstructionError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if word.len() > LONGEST_NAME || !word.bytes().all(fits) {
        return Err(InstructionError::Name(word.to_string()));
    }
    Ok(word.to_string())
}

fn send(mut words: Words<'_>) -> Read {
    let template = name(words.need("a template")?)?;
    let count = words.need("a count")?;
    let mut load = pace(count).ok_or_else(|| InstructionError::Count(count.to_string()))?;
    load.name = template;
    while let Some(word) = words.next() {
        match word {
            "+" => load.increments = true,
            "of" if load.of.is_none() => load.of = Some(name(words.need("a group after 'of'")?)?),
            word if load.group.is_none() && load.of.is_none() && !load.increments => {
                load.group = Some(name(word)?);
            }
            word => return Err(words.surplus(word)),
        }
    }
    Ok(Instruction::Send(Box::new(load)))
}

/// Reads `N[/MS][/B]`.
fn pace(word: &str) -> Option<SendPlan> {
    let mut parts = word.split('/');
    let number = |text: &str, most: u64| number(text).filter(|it| (1..=most).contains(it));
    let count = number(parts.next()?, MOST_SENT)?;
    let interval = match parts.next() {
        // A pause of 0 means that messages are sent as fast as possible.
        None | Some("0" | "") => None,
        Some(text) => Some(Nanos::from_millis(number(text, 86_400_000)?)),
    };
    let burst = match parts.next() {
        None => 1,
        Some(text) => number(text, MOST_SENT)?,
    };
    parts.next().is_none().then(|| SendPlan {
        name: String::new(),
        count,
        interval,
        burst,
        group: None,
        of: None,
        increments: false,
    })
}

fn wait(mut words: Words<'_>) -> Read {
    let word = words.need("what to wait for")?;
    let until = match (word, words.next()) {
        ("all", None) => Until::All,
        (word, None) => Until::Time(seconds(word)?),
        (word, Some("report" | "reports")) => {
            let wrong = || InstructionError::Count(word.to_string());
            let count = word.parse().ok().filter(|count| *count > 0);
            Until::Reports(count.ok_or_else(wrong)?)
        }
        (_, Some(word)) => return Err(words.surplus(word)),
    };
    words.end()?;
    Ok(Instruction::Wait(until))
}

fn sleep(mut words: Words<'_>) -> Read {
    let time = seconds(words.need("seconds")?)?;
    words.end()?;
    Ok(Instruction::Wait(Until::Time(time)))
}

fn seconds(word: &str) -> Result<Nanos, InstructionError> {
    let nanos = fixwire_text::decimal(word, 9).and_then(|it| u64::try_from(it).ok());
    let time = nanos.map(Nanos).filter(|time| *time <= LONGEST_PAUSE);
    time.ok_or_else(|| InstructionError::Seconds(word.to_string()))
}

fn stamps(mut words: Words<'_>) -> Read {
    let on = match words.need("on or off")? {
        "on" => true,
        "off" => false,
        other => return Err(InstructionError::OnOff(other.to_string())),
    };
    words.end()?;
    Ok(Instruction::Stamps(on))
}

fn stats(mut words: Words<'_>) -> Read {
    let group = words.next().map(name).transpose()?;
    words.end()?;
    Ok(Instruction::Stats(group))
}
