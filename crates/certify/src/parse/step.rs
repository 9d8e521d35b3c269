//! Parses one step.

use std::time::Duration;

use fixwire_client::{Instruction, MessageFields, Which};
use fixwire_protocol::{Tag, tag};
use fixwire_text::first_word;

use super::names::Names;
use crate::plan::{
    CertificationCase, Expectation, MessagePattern, Outgoing, PlanProtocol, StepAction,
};
use crate::tmp::fields::bytes_of;
use crate::tmp::parse as tmp;
use crate::value::{ExpectedValue, SentValue, duration, time_limit};
use crate::wire_message::is_header;

/// Steps that are commands of the order client.
const COMMANDS: [&str; 5] = ["new", "order", "cancel", "replace", "status"];
/// The other steps over FIX.
const STEPS: [&str; 15] = [
    "connect",
    "logon",
    "logged-on",
    "log-out",
    "drop",
    "send",
    "garbled",
    "skip",
    "answers",
    "wait",
    "silence",
    "expect",
    "await",
    "and",
    "disconnect",
];
/// The steps over TMP.
const TMP_STEPS: [&str; 15] = [
    "connect",
    "logged-on",
    "drop",
    "send",
    "garbled",
    "burst",
    "raw",
    "skip",
    "answers",
    "wait",
    "silence",
    "expect",
    "await",
    "and",
    "disconnect",
];
/// Maximum number of sequence numbers that one step can skip.
const SKIPPED_MAX: u64 = 1_000_000;
/// Maximum number of messages in a burst.
const BURST_MAX: u32 = 10_000;

/// Whether a step begins with this word.
pub(super) fn is_step(word: &str, protocol: PlanProtocol) -> bool {
    match protocol {
        PlanProtocol::Fix => COMMANDS.contains(&word) || STEPS.contains(&word),
        PlanProtocol::Tmp => TMP_STEPS.contains(&word),
    }
}

/// Whether a step contains a command of the order client, whose fields are separated by blanks.
pub(super) fn is_command(word: &str, rest: &str) -> bool {
    let (of_garbled, _) = first_word(rest);
    COMMANDS.contains(&word) || (word == "garbled" && COMMANDS.contains(&of_garbled))
}

/// Parses the steps of a line.
pub(super) struct StepReader<'a> {
    pub(super) protocol: PlanProtocol,
    /// The line, from 1.
    pub(super) line: usize,
    pub(super) names: &'a mut Names,
}

impl StepReader<'_> {
    /// The number of the step, and what it does.
    pub(super) fn step(&mut self, word: &str, rest: &str) -> (usize, Result<StepAction, String>) {
        let number = self.names.next_step();
        let action = match is_step(word, self.protocol) {
            true => self.action(word, rest, number),
            false => Err(unknown(word, self.protocol)),
        };
        (number, action)
    }

    fn action(&mut self, word: &str, rest: &str, number: usize) -> Result<StepAction, String> {
        let bare = |action| match rest {
            "" => Ok(action),
            _ => Err(format!("{word}: unexpected '{rest}'")),
        };
        match word {
            "connect" => bare(StepAction::Connect),
            "logged-on" => bare(StepAction::LoggedOn),
            "drop" => bare(StepAction::Drop),
            "logon" => self.logon(rest, number),
            "log-out" => Ok(StepAction::LogOut(rest.to_owned())),
            "send" => self.message(rest, number).map(StepAction::Send),
            "garbled" => self.outgoing(rest, number).map(StepAction::Garbled),
            "burst" => self.burst(rest, number),
            "raw" => {
                let bytes = bytes_of(rest).filter(|bytes| !bytes.is_empty());
                let wrong =
                    || format!("raw '{rest}': write bytes as hex digits, such as 00 10 00000000");
                bytes.map(StepAction::Raw).ok_or_else(wrong)
            }
            "skip" => {
                let count = rest
                    .parse()
                    .ok()
                    .filter(|count| (1..=SKIPPED_MAX).contains(count));
                let wrong = || {
                    format!(
                        "skip '{rest}': write the number of sequence numbers to leave out, such as 1"
                    )
                };
                count.map(StepAction::Skip).ok_or_else(wrong)
            }
            "answers" => match rest {
                "on" => Ok(StepAction::Answers(true)),
                "off" => Ok(StepAction::Answers(false)),
                _ => Err(format!("answers '{rest}': expected on or off")),
            },
            "wait" => duration(rest).map(StepAction::Wait),
            "silence" => time_limit(rest).map(StepAction::Silence),
            "disconnect" => {
                let (within, rest) = within(rest)?;
                match rest {
                    "" => Ok(StepAction::Disconnect(within)),
                    _ => Err(format!(
                        "disconnect: unexpected '{rest}': write disconnect [within TIME]"
                    )),
                }
            }
            "expect" | "await" => {
                let (within, rest) = within(rest)?;
                let pattern = self.pattern(word, rest, number)?;
                Ok(StepAction::Expect(Expectation {
                    patterns: vec![pattern],
                    within,
                    skips_others: word == "await",
                }))
            }
            _ => command(&format!("{word} {rest}"), number, self.names).map(StepAction::Send),
        }
    }

    fn logon(&mut self, rest: &str, number: usize) -> Result<StepAction, String> {
        let fields = match rest {
            "" => Vec::new(),
            rest => sent_fields(rest, number, self.names)?,
        };
        if has(&fields, tag::MSG_TYPE) {
            return Err("logon writes MsgType(35) itself: leave it out".to_owned());
        }
        self.names.has_message(number);
        Ok(StepAction::Logon(fields))
    }

    /// `burst 50 R04`
    fn burst(&mut self, rest: &str, number: usize) -> Result<StepAction, String> {
        let (count, message) = first_word(rest);
        let parsed = count.parse().ok();
        let parsed = parsed.filter(|count| (1..=BURST_MAX).contains(count));
        let count = parsed.ok_or_else(|| {
            format!(
                "burst '{count}': write the number of messages, 1 to {BURST_MAX}, and then the message: burst 50 R04"
            )
        })?;
        let message = self.message(message, number)?;
        Ok(StepAction::Burst(count, message))
    }

    /// Adds a further message to the previous step.
    pub(super) fn and(&mut self, case: &mut CertificationCase, rest: &str) -> Result<(), String> {
        let number = self.names.next_step();
        let before = case.steps.last_mut().map(|step| &mut step.action);
        let Some(StepAction::Expect(expectation)) = before else {
            return Err(
                "'and' continues an 'expect' or 'await' step: put it directly after one".to_owned(),
            );
        };
        let pattern = self.pattern("and", rest, number)?;
        expectation.patterns.push(pattern);
        Ok(())
    }

    fn pattern(&mut self, word: &str, rest: &str, step: usize) -> Result<MessagePattern, String> {
        let line = self.line;
        let fields = match self.protocol {
            PlanProtocol::Tmp => tmp::expected(rest)?,
            PlanProtocol::Fix => {
                let fields = fields(rest, ExpectedValue::parse)?;
                if !has(&fields, tag::MSG_TYPE) {
                    return Err(format!("{word} needs a MsgType: {word} 35=8|150=0"));
                }
                fields
            }
        };
        for (_, value) in &fields {
            self.names.expected(value, step, line)?;
        }
        self.names.has_message(step);
        Ok(MessagePattern { line, step, fields })
    }

    /// Parses a message to send: a command of the order client, or fields.
    fn outgoing(&mut self, rest: &str, step: usize) -> Result<Outgoing, String> {
        let (word, _) = first_word(rest);
        match COMMANDS.contains(&word) && self.protocol == PlanProtocol::Fix {
            true => command(rest, step, self.names),
            false => self.message(rest, step),
        }
    }

    fn message(&mut self, rest: &str, step: usize) -> Result<Outgoing, String> {
        let fields = match self.protocol {
            PlanProtocol::Tmp => {
                let fields = tmp::sent(rest)?;
                for (tag, value) in &fields {
                    self.names.sent(*tag, value, step)?;
                }
                fields
            }
            PlanProtocol::Fix => {
                let fields = sent_fields(rest, step, self.names)?;
                if !has(&fields, tag::MSG_TYPE) {
                    return Err("a message needs a MsgType: send 35=D|11=$A|55=VOD".to_owned());
                }
                fields
            }
        };
        self.names.has_message(step);
        Ok(Outgoing::Fields(fields))
    }
}

fn unknown(word: &str, protocol: PlanProtocol) -> String {
    match protocol {
        PlanProtocol::Fix => {
            let (steps, commands) = (STEPS.join(", "), COMMANDS.join(", "));
            format!("unknown step '{word}': expected {commands}, {steps}")
        }
        PlanProtocol::Tmp => {
            let steps = TMP_STEPS.join(", ");
            format!("unknown step '{word}': the steps of a plan over TMP are {steps}")
        }
    }
}

/// `within 2s ...`
fn within(rest: &str) -> Result<(Option<Duration>, &str), String> {
    let Some(rest) = rest.strip_prefix("within") else {
        return Ok((None, rest));
    };
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        let (word, _) = first_word(rest);
        return Err(format!(
            "'within{word}': write 'within TIME' with a blank between, such as within 2s"
        ));
    }
    let (time, rest) = first_word(rest);
    Ok((Some(time_limit(time)?), rest))
}

fn sent_fields(
    rest: &str,
    step: usize,
    names: &mut Names,
) -> Result<Vec<(Tag, SentValue)>, String> {
    let fields = fields(rest, SentValue::parse)?;
    if has(&fields, tag::BODY_LENGTH) || has(&fields, tag::CHECK_SUM) {
        return Err(
            "BodyLength(9) and CheckSum(10) are computed: leave them out, or send a wrong CheckSum with 'garbled'"
                .to_owned(),
        );
    }
    for (place, (tag, value)) in fields.iter().enumerate() {
        if is_header(*tag) && has(&fields[..place], *tag) {
            return Err(format!(
                "tag {tag} appears twice: a header field is sent once; remove one of them"
            ));
        }
        names.sent(*tag, value, step)?;
    }
    Ok(fields)
}

fn has<V>(fields: &[(Tag, V)], tag: Tag) -> bool {
    fields.iter().any(|field| field.0 == tag)
}

/// `35=D|11=$A`
fn fields<V>(
    text: &str,
    value: impl Fn(&str) -> Result<V, String>,
) -> Result<Vec<(Tag, V)>, String> {
    if text.is_empty() {
        return Err("no fields: write them as 35=8|150=0".to_owned());
    }
    let field = |field: &str| {
        let wrong =
            || format!("field '{field}': write TAG=VALUE with a tag number, such as 58=hello");
        let (tag, text) = field.split_once('=').ok_or_else(wrong)?;
        let is_number = tag.bytes().all(|byte| byte.is_ascii_digit());
        let tag: Tag = tag
            .parse()
            .ok()
            .filter(|tag| is_number && *tag > 0)
            .ok_or_else(wrong)?;
        let value = value(text).map_err(|why| format!("tag {tag}: {why}"))?;
        Ok((tag, value))
    };
    text.split('|').map(field).collect()
}

fn command(text: &str, step: usize, names: &mut Names) -> Result<Outgoing, String> {
    let instruction = Instruction::parse(text).map_err(|error| error.to_string())?;
    let instruction = instruction.ok_or_else(|| unknown(text, PlanProtocol::Fix))?;
    match &instruction {
        Instruction::New(fields) => {
            command_fields(fields, step, names)?;
            names.has_order();
        }
        Instruction::Cancel { which, fields } | Instruction::Status { which, fields } => {
            subject(which, names)?;
            command_fields(fields, step, names)?;
        }
        Instruction::Replace { which, fields } => {
            subject(which, names)?;
            command_fields(fields, step, names)?;
            names.has_order();
        }
        _ => return Err(unknown(text, PlanProtocol::Fix)),
    }
    names.has_message(step);
    Ok(Outgoing::Command(Box::new(instruction)))
}

fn subject(which: &Which, names: &mut Names) -> Result<(), String> {
    match which {
        Which::Last => names.last_order(),
        Which::Id(id) => match id.strip_prefix('$') {
            Some(name) => names.order(name),
            None => Ok(()),
        },
        Which::All => Err(
            "'all' cannot be used in a plan: cancel each order, or send an OrderMassCancelRequest (35=q)"
                .to_owned(),
        ),
    }
}

fn command_fields(fields: &MessageFields, step: usize, names: &mut Names) -> Result<(), String> {
    for (tag, text) in &fields.fields {
        let value = SentValue::parse(text).map_err(|why| format!("tag {tag}: {why}"))?;
        names.sent(*tag, &value, step)?;
    }
    Ok(())
}
