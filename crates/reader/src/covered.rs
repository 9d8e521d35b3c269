//! Messages whose secrets are masked; their length does not change.

use fixwire_protocol::Message;
use fixwire_protocol::frame::check_sum;
use fixwire_protocol::readable::is_secret;

/// The message with `*` instead of each byte of a secret, and with CheckSum(10) computed again.
#[must_use]
pub fn covered(message: &Message<'_>) -> Vec<u8> {
    let mut bytes = message.bytes().to_vec();
    let secrets = message.fields().iter().filter(|field| is_secret(field.tag));
    let mut has_some = false;
    for field in secrets {
        bytes[field.start as usize..field.end as usize].fill(b'*');
        has_some = true;
    }
    if has_some {
        sum_up(message, &mut bytes);
    }
    bytes
}

/// Computes CheckSum(10) of `bytes`, which have the form of `message`, and writes it.
pub(crate) fn sum_up(message: &Message<'_>, bytes: &mut [u8]) {
    if let Some(last) = message.fields().last().filter(|last| last.tag == 10)
        && let Some(body_end) = (last.start as usize).checked_sub(3)
    {
        let sum = format!("{:03}", check_sum(&bytes[..body_end]));
        let room = &mut bytes[last.start as usize..last.end as usize];
        if room.len() == sum.len() {
            room.copy_from_slice(sum.as_bytes());
        }
    }
}
