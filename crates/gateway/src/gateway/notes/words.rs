//! The words at the start of a note.

use alloc::vec::Vec;

use fixwire_protocol::{Nanos, SOH};

use super::{MAX_ORDERS, MAX_SESSIONS};
use crate::Draft;
use crate::orders::{OrdersConfig, Rewriting, When};

/// The first word, and the text after it.
pub(super) fn word(text: &str) -> (&str, &str) {
    text.split_once(' ').unwrap_or((text, ""))
}

/// Writes a number in digits.
pub(super) fn put_number(text: &mut Vec<u8>, number: u64) {
    text.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes the type and the fields of a draft.
pub(super) fn put_draft(text: &mut Vec<u8>, draft: &Draft) {
    text.extend_from_slice(draft.msg_type());
    text.push(SOH);
    for at in 0..draft.len() {
        put_number(text, u64::from(draft.tag(at)));
        text.push(b'=');
        text.extend_from_slice(draft.value(at));
        text.push(SOH);
    }
}

/// Writes the note of the limits.
pub(super) fn put_limits(text: &mut Vec<u8>, limits: &OrdersConfig) {
    text.extend_from_slice(b"C ");
    let max_id = limits.max_id as u64;
    for number in [limits.max_orders.into(), limits.max_sessions.into(), max_id] {
        put_number(text, number);
        text.push(b' ');
    }
    match limits.forget_quiet {
        Some(quiet) => put_number(text, quiet.0),
        None => text.push(b'-'),
    }
    put_ids(text, Some(limits.rewriting));
}

/// Reads the note of the limits, without its first word.
pub(super) fn limits(text: &str, hash_key: [u8; 16]) -> Option<OrdersConfig> {
    let mut words = text.split(' ');
    let mut next = || words.next();
    let limits = OrdersConfig {
        max_orders: next()?.parse().ok()?,
        max_sessions: next()?.parse().ok()?,
        max_id: next()?.parse().ok()?,
        forget_quiet: match next()? {
            "-" => None,
            quiet => Some(Nanos(quiet.parse().ok()?)),
        },
        rewriting: rewriting(next()?)?,
        hash_key,
    };
    let orders = limits.max_orders <= MAX_ORDERS;
    (orders && limits.max_sessions as usize <= MAX_SESSIONS).then_some(limits)
}

/// Writes a space and the form of ids as a word.
pub(super) fn put_ids(text: &mut Vec<u8>, ids: Option<Rewriting>) {
    let Some(ids) = ids else {
        return text.extend_from_slice(b" -");
    };
    text.extend_from_slice(match ids.when() {
        When::Always => b" A",
        When::OnCollision => b" C",
    });
    put_number(text, ids.max_len() as u64);
    text.push(b'=');
    text.extend_from_slice(ids.prefix());
}

/// Reads the form of ids; `None` also for `-`.
pub(super) fn rewriting(text: &str) -> Option<Rewriting> {
    let (when, rest) = text.split_at_checked(1)?;
    let (longest, prefix) = rest.split_once('=')?;
    let when = match when {
        "A" => When::Always,
        "C" => When::OnCollision,
        _ => return None,
    };
    Rewriting::new(when, prefix.as_bytes(), longest.parse().ok()?).ok()
}
