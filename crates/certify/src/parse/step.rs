//! Reads one step.

use std::time::Duration;

use fixwire_client::{Instruction, MessageFields, Which};
use fixwire_protocol::{Tag, tag};

use super::names::Names;
use crate::plan::{CertificationCase, Expectation, MessagePattern, Outgoing, StepAction};
use crate::value::{ExpectedValue, SentValue, duration, time_limit};
use crate::wire_message::is_header;

/// Steps that are commands of the order client.
const COMMANDS: [&str; 5] = ["new", "order", "cancel", "replace", "status"];
/// The other steps.
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
/// The most sequence numbers that a step leaves out.
const SKIPPED_MAX: u64 = 1_000_000;

/// Whether a step begins with this word.
pub(super) fn is_step(word: &str) -> bool {
    COMMANDS.contains(&word) || STEPS.contains(&word)
}

/// Whether a step has a command of the order client, whose fields are words.
pub(super) fn is_command(word: &str, rest: &str) -> bool {
    let of_garbled = rest.split_whitespace().next().unwrap_or_default();
    COMMANDS.contains(&word) || (word == "garbled" && COMMANDS.contains(&of_garbled))
}

pub(super) fn parse(
    word: &str,
    rest: &str,
    line: usize,
    number: usize,
    names: &mut Names,
) -> Result<StepAction, String> {
    let bare = |action| match rest {
        "" => Ok(action),
        _ => Err(format!("{word}: unexpected '{rest}'")),
    };
    match word {
        "connect" => bare(StepAction::Connect),
        "logged-on" => bare(StepAction::LoggedOn),
        "drop" => bare(StepAction::Drop),
        "logon" => {
            let fields = match rest {
                "" => Vec::new(),
                rest => sent_fields(rest, number, names)?,
            };
            if has(&fields, tag::MSG_TYPE) {
                return Err("logon writes MsgType(35) itself: leave it out".to_owned());
            }
            names.has_message(number);
            Ok(StepAction::Logon(fields))
        }
        "log-out" => Ok(StepAction::LogOut(rest.to_owned())),
        "send" => message(rest, number, names).map(StepAction::Send),
        "garbled" => outgoing(rest, number, names).map(StepAction::Garbled),
        "skip" => {
            let count = rest
                .parse()
                .ok()
                .filter(|count| (1..=SKIPPED_MAX).contains(count));
            let wrong = || {
                format!("skip '{rest}': write how many sequence numbers are left out, such as 1")
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
            let pattern = pattern(word, rest, line, number, names)?;
            Ok(StepAction::Expect(Expectation {
                patterns: vec![pattern],
                within,
                skips_others: word == "await",
            }))
        }
        word if COMMANDS.contains(&word) => {
            command(&format!("{word} {rest}"), number, names).map(StepAction::Send)
        }
        _ => Err(unknown(word)),
    }
}

fn unknown(word: &str) -> String {
    let (steps, commands) = (STEPS.join(", "), COMMANDS.join(", "));
    format!("unknown step '{word}': expected {commands}, {steps}")
}

/// A further message of the step before it.
pub(super) fn and(
    case: &mut CertificationCase,
    rest: &str,
    line: usize,
    names: &mut Names,
) -> Result<(), String> {
    let number = names.next_step();
    let before = case.steps.last_mut().map(|step| &mut step.action);
    let Some(StepAction::Expect(expectation)) = before else {
        return Err(
            "'and' goes on an 'expect' or 'await' line: write it right behind one".to_owned(),
        );
    };
    let pattern = pattern("and", rest, line, number, names)?;
    expectation.patterns.push(pattern);
    Ok(())
}

/// `within 2s ...`
fn within(rest: &str) -> Result<(Option<Duration>, &str), String> {
    let Some(rest) = rest.strip_prefix("within") else {
        return Ok((None, rest));
    };
    if !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
        let word = rest.split_whitespace().next().unwrap_or_default();
        return Err(format!(
            "'within{word}': write 'within TIME' with a blank between, such as within 2s"
        ));
    }
    let rest = rest.trim_start();
    let (time, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    Ok((Some(time_limit(time)?), rest.trim_start()))
}

fn pattern(
    word: &str,
    rest: &str,
    line: usize,
    step: usize,
    names: &mut Names,
) -> Result<MessagePattern, String> {
    let fields = fields(rest, ExpectedValue::parse)?;
    let is_typed = |field: &(Tag, ExpectedValue)| field.0 == tag::MSG_TYPE;
    if !fields.iter().any(is_typed) {
        return Err(format!("{word} needs a MsgType: {word} 35=8|150=0"));
    }
    for (_, value) in &fields {
        names.expected(value, step, line)?;
    }
    names.has_message(step);
    Ok(MessagePattern { line, step, fields })
}

/// A command of the order client, or fields.
fn outgoing(rest: &str, step: usize, names: &mut Names) -> Result<Outgoing, String> {
    let word = rest.split_whitespace().next().unwrap_or_default();
    match COMMANDS.contains(&word) {
        true => command(rest, step, names),
        false => message(rest, step, names),
    }
}

fn message(rest: &str, step: usize, names: &mut Names) -> Result<Outgoing, String> {
    let fields = sent_fields(rest, step, names)?;
    if !has(&fields, tag::MSG_TYPE) {
        return Err("a message needs a MsgType: send 35=D|11=$A|55=VOD".to_owned());
    }
    names.has_message(step);
    Ok(Outgoing::Fields(fields))
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
                "tag {tag} twice: a header field is sent once; leave one of them out"
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
    let instruction = instruction.ok_or_else(|| unknown(text))?;
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
        _ => return Err(unknown(text)),
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
            "'all' is not for a plan: cancel each order, or send an OrderMassCancelRequest (35=q)"
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
