//! Compares a received message with the one that a script expects.
//!
//! Fields are compared without their order: FIX leaves the order inside header and body to the sender. BodyLength and
//! CheckSum must be right for the received message, whatever the script has; a time must have the form of a time;
//! Text(58) may be longer than in the script.

use crate::wire::{fields, frame_fault, show};
use std::collections::BTreeMap;

/// The differences between the two messages, one sentence each; empty when they agree.
pub fn differences(expected: &[u8], received: &[u8]) -> Vec<String> {
    if let Some(fault) = frame_fault(received) {
        return vec![fault];
    }
    let (expected, received) = (by_tag(expected), by_tag(received));
    let mut found = Vec::new();
    for (tag, values) in &received {
        match *tag {
            b"9" | b"10" => {}
            b"42" | b"52" | b"60" | b"122" => {
                let wrong = values.iter().filter(|value| !is_time(value));
                found.extend(wrong.map(|value| format!("{}={}: no time", show(tag), show(value))));
            }
            _ => match expected.get(tag) {
                None => found.push(format!("{}={}: not expected", show(tag), join(values))),
                Some(wanted) if wanted == values => {}
                Some(wanted) if *tag == b"58" && values[0].starts_with(wanted[0]) => {}
                Some(wanted) => found.push(format!(
                    "{}={}: expected {}",
                    show(tag),
                    join(values),
                    join(wanted)
                )),
            },
        }
    }
    let missing = expected
        .iter()
        .filter(|(tag, _)| !received.contains_key(*tag));
    found.extend(
        missing
            .filter(|(tag, _)| !matches!(**tag, b"9" | b"10"))
            .map(|(tag, values)| format!("{}={}: missing", show(tag), join(values))),
    );
    found
}

/// All values of each tag, in the order they have; a field without `=` has an empty one.
fn by_tag(raw: &[u8]) -> BTreeMap<&[u8], Vec<&[u8]>> {
    let mut found: BTreeMap<&[u8], Vec<&[u8]>> = BTreeMap::new();
    for (tag, value) in fields(raw) {
        found
            .entry(tag)
            .or_default()
            .push(value.unwrap_or_default());
    }
    found
}

/// `YYYYMMDD-HH:MM:SS` with a fraction of up to twelve digits or none.
fn is_time(value: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    let Some((whole, fraction)) = value.split_at_checked(17) else {
        return false;
    };
    let shape = whole.iter().enumerate().all(|(at, byte)| match at {
        8 => *byte == b'-',
        11 | 14 => *byte == b':',
        _ => byte.is_ascii_digit(),
    });
    let fraction_holds = match fraction.split_first() {
        None => true,
        Some((point, rest)) => *point == b'.' && (1..=12).contains(&rest.len()) && digits(rest),
    };
    shape && fraction_holds
}

fn join(values: &[&[u8]]) -> String {
    values
        .iter()
        .map(|value| show(value))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::message;

    fn compare(expected: &str, received: &str) -> String {
        differences(&message(expected), &message(received)).join("; ")
    }

    #[test]
    fn order_time_length_and_a_longer_text_do_not_matter() {
        let expected = "8=FIX.4.2|9=999|35=5|34=2|52=00000000-00:00:00|58=MsgSeqNum too low|10=0|";
        let received = "8=FIX.4.2|35=5|58=MsgSeqNum too low, by 3|52=20261121-12:00:00.123|34=2|";
        assert_eq!(compare(expected, received), "");
    }

    #[test]
    fn everything_else_does() {
        let expected = "8=FIX.4.2|35=3|34=2|371=40|58=Wrong|";
        let say = |received| compare(expected, received);
        assert_eq!(
            say("8=FIX.4.2|35=3|34=3|371=40|58=Wrong|"),
            "34=3: expected 2"
        );
        assert_eq!(say("8=FIX.4.2|35=3|34=2|58=Wrong|"), "371=40: missing");
        assert_eq!(
            say("8=FIX.4.2|35=3|34=2|371=40|58=Wrong|373=5|"),
            "373=5: not expected"
        );
        assert_eq!(
            say("8=FIX.4.2|35=3|34=2|371=40|58=Good|"),
            "58=Good: expected Wrong"
        );
        assert_eq!(
            say("8=FIX.4.2|35=3|34=2|371=40|371=41|58=Wrong|"),
            "371=40, 41: expected 40"
        );
        assert_eq!(
            say("8=FIX.4.2|35=3|34=2|371=40|58=Wrong|52=noon|"),
            "52=noon: no time"
        );
        assert_eq!(say("8=FIX.4.2|9=6|35=3|"), "BodyLength(9) should be 5");
    }
}
