//! [`Sending`]: the messages that a command still has to send.

use alloc::collections::VecDeque;
use alloc::string::{String, ToString};

use fixwire_protocol::{Mono, Nanos, Now, Tag, Timestamp, tag};

use crate::fields::MessageFields;
use crate::instruction::SendPlan;

/// Maximum number of messages in one turn when no burst size is given. Answers are read between turns.
const PER_TURN: u64 = 64;

/// The orders to which the messages refer.
#[derive(Debug)]
pub(crate) enum Targets {
    /// The order that the template refers to, if any.
    Template,
    /// One message for each of these orders.
    Orders(VecDeque<u64>),
    /// The open orders of a group, beginning with this number.
    Group { name: String, next: u64 },
}

/// Messages that are being sent.
#[derive(Debug)]
pub(crate) struct Sending {
    pub(crate) message: MessageFields,
    pub(crate) targets: Targets,
    pub(crate) group: Option<String>,
    pub(crate) increments: bool,
    pub(crate) count: u64,
    pub(crate) sent: u64,
    pub(crate) interval: Option<Nanos>,
    pub(crate) burst: u64,
    /// Time until which the session must be logged on.
    pub(crate) logon_until: Mono,
    /// Time at which the first message was due; `None` before.
    pub(crate) begun: Option<Now>,
}

impl Sending {
    /// The task to send one message for each of these orders, at once.
    pub(crate) fn once(message: MessageFields, orders: Option<VecDeque<u64>>) -> Self {
        let count = orders.as_ref().map_or(1, |orders| orders.len() as u64);
        Self {
            message,
            targets: orders.map_or(Targets::Template, Targets::Orders),
            group: None,
            increments: false,
            count,
            sent: 0,
            interval: None,
            burst: 1,
            logon_until: Mono::NEVER,
            begun: None,
        }
    }

    /// The task for a `send`.
    pub(crate) fn planned(message: MessageFields, plan: SendPlan) -> Self {
        let group = plan.of.map(|name| Targets::Group { name, next: 1 });
        Self {
            targets: group.unwrap_or(Targets::Template),
            group: plan.group,
            increments: plan.increments,
            count: plan.count,
            interval: plan.interval,
            burst: plan.burst,
            ..Self::once(message, None)
        }
    }

    /// Time at which the next message is due; `None` without a pace. A delay of an earlier message does not change
    /// this time.
    pub(crate) fn due(&self, begun: Now) -> Option<Now> {
        let late = Nanos(self.interval?.0.saturating_mul(self.sent / self.burst));
        Some(Now {
            wall: begun.wall + late,
            mono: begun.mono + late,
        })
    }

    /// Maximum number of messages that one turn may write.
    pub(crate) fn per_turn(&self) -> u64 {
        match self.interval {
            None if self.burst > 1 => self.burst,
            _ => PER_TURN,
        }
    }

    /// The fields of the next message, made from the template.
    pub(crate) fn next_message(&self) -> MessageFields {
        let mut message = self.message.clone();
        if self.increments {
            for field in &mut message.fields {
                if RAISED.contains(&field.0)
                    && let Some(value) = raised(&field.1, self.sent)
                {
                    field.1 = value;
                }
            }
        }
        message
    }

    /// Whether the template has a number that `+` can increment.
    pub(crate) fn can_raise(&self) -> bool {
        let mut fields = self.message.fields.iter();
        fields.any(|field| RAISED.contains(&field.0) && raised(&field.1, 0).is_some())
    }
}

/// Tags of the values that `+` increments.
const RAISED: [Tag; 2] = [tag::CL_ORD_ID, tag::ORIG_CL_ORD_ID];

/// Increments the number at the end of a text; `None` if the text does not end in a suitable number.
fn raised(text: &str, by: u64) -> Option<String> {
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).count();
    let (start, number) = text.split_at(text.len() - digits);
    let sum = number.parse::<u64>().ok()?.checked_add(by)?.to_string();
    // Leading zeros are kept as long as the number of digits does not change.
    let zeros = digits.saturating_sub(sum.len());
    let mut raised = start.to_string();
    raised.extend(core::iter::repeat_n('0', zeros));
    raised.push_str(&sum);
    Some(raised)
}

/// The day of a time: `20261124`.
pub(crate) fn day(at: Timestamp) -> String {
    let mut stamp = fixwire_protocol::TimestampWriter::new();
    let text = stamp.format(at, fixwire_protocol::Precision::Seconds);
    let text = String::from_utf8_lossy(text);
    text.split('-').next().unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_at_the_end_is_raised_and_keeps_its_zeros() {
        assert_eq!(raised("abc:1", 9).as_deref(), Some("abc:10"));
        assert_eq!(raised("A007", 5).as_deref(), Some("A012"));
        assert_eq!(raised("A9", 1).as_deref(), Some("A10"));
        assert_eq!(raised("99", 0).as_deref(), Some("99"));
        assert_eq!(raised("abc", 1), None);
        assert_eq!(raised("x18446744073709551615", 1), None);
    }

    #[test]
    fn messages_are_due_by_the_plan_whenever_the_ones_before_left() {
        let plan = SendPlan {
            interval: Some(Nanos::from_millis(10)),
            burst: 3,
            count: 9,
            ..SendPlan::default()
        };
        let mut sending = Sending::planned(MessageFields::new("D"), plan);
        let begun = Now {
            wall: Timestamp(1_000),
            mono: Mono(500),
        };
        let due = [0, 2, 3, 8].map(|sent| {
            sending.sent = sent;
            sending.due(begun).unwrap().mono.0 - 500
        });
        assert_eq!(due, [0, 0, 10_000_000, 20_000_000]);
        assert_eq!(sending.due(begun).unwrap().wall, Timestamp(20_001_000));
    }
}
