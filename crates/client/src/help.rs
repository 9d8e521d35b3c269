//! The help page of the commands, and the prompts for arguments that are missing.

use alloc::string::{String, ToString};

/// All commands.
pub const HELP: &str = "\
new buy|sell QTY SYMBOL [@ PRICE|market] [tif day|gtc|ioc|fok] [account A] [TAG=VALUE ...]
                           sends an order (NewOrderSingle); 'order' does the same; without arguments, 'order'
                           asks for them on a terminal
cancel ID|last|all         cancels an order, or all open orders (OrderCancelRequest)
replace ID|last [qty N] [price P] [TAG=VALUE ...]
                           replaces an order (OrderCancelReplaceRequest)
status ID|last             requests the status of an order (OrderStatusRequest)
orders [all]               lists the open orders, or all orders that this client knows
set NAME MSGTYPE TAG=VALUE|TAG=VALUE...
                           defines a template
send NAME N[/MS][/B] [GROUP] [of GROUP] [+]
                           sends N messages of a template: B messages (default 1) every MS milliseconds by
                           the clock, or without MS as fast as the session accepts them; GROUP makes the
                           ClOrdIDs GROUP:1, GROUP:2...; with 'of GROUP' each message (F, G or H) is for one
                           of the open orders of that group; '+' increments the number at the end of tags
                           11 and 41 with each message
wait N reports             waits for N responses that no earlier wait has counted
wait all                   waits until every message with a ClOrdID has a response
wait SECONDS               waits for this time; 'sleep SECONDS' does the same
stamps on|off              on: writes the send time into tag 9701 (nanoseconds since 1970); off: stops this
stats [GROUP]              shows counts, and percentiles of the time to the first response
help                       shows this page
quit                       logs out and ends
# ...                      a comment";

/// A prompt on a terminal for a missing argument.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Prompt {
    /// The text of the prompt.
    pub ask: &'static str,
    /// The text of the command before the answer.
    before: &'static str,
    /// The text that replaces `before` and the answer if the answer is empty.
    otherwise: &'static str,
}

const fn prompt(ask: &'static str, before: &'static str, otherwise: &'static str) -> Prompt {
    Prompt {
        ask,
        before,
        otherwise,
    }
}

const NEW: [Prompt; 6] = [
    prompt("Side (buy or sell): ", " ", ""),
    prompt("Quantity: ", " ", ""),
    prompt("Symbol: ", " ", ""),
    prompt("Price (empty: market): ", " @ ", ""),
    prompt(
        "Time in force (day, gtc, ioc, fok; empty: day): ",
        " tif ",
        "",
    ),
    prompt("Account (empty: none): ", " account ", ""),
];
const CANCEL: [Prompt; 1] = [prompt("ClOrdID (empty: the last order): ", " ", " last")];
const REPLACE: [Prompt; 3] = [
    prompt("ClOrdID (empty: the last order): ", " ", " last"),
    prompt("New quantity (empty: unchanged): ", " qty ", ""),
    prompt("New price (empty: unchanged): ", " price ", ""),
];

/// The prompts for a command without arguments; `None` for a command that has no prompts.
#[must_use]
pub fn prompts(line: &str) -> Option<&'static [Prompt]> {
    match line.trim() {
        "new" | "order" => Some(&NEW),
        "cancel" | "status" => Some(&CANCEL),
        "replace" => Some(&REPLACE),
        _ => None,
    }
}

/// The command that results from the answers to its prompts.
#[must_use]
pub fn command_of<'a>(word: &str, answers: impl IntoIterator<Item = (Prompt, &'a str)>) -> String {
    let mut command = word.trim().to_string();
    for (prompt, answer) in answers {
        let answer = answer.trim();
        if answer.is_empty() {
            command.push_str(prompt.otherwise);
        } else {
            command.push_str(prompt.before);
            command.push_str(answer);
        }
    }
    command
}
