//! Each byte of a checkpoint counts: with one byte changed, the checkpoint is refused or gives another state.
//!
//! Exceptions:
//! * the start of a queue's first message in its block of memory. It only decides when `max_held` is reached, which is
//!   the same as without the restart;
//! * the upper bytes of `max_orders`, for which memory would be allocated: they are not tried;
//! * in a held message's note, whether its source receives a reject: the mark before the note has the present value.

use fixwire_harness::worlds::{assert_same, silent_changes};

use super::ledger::busy;
use super::state_lines::kept_lines;
use super::*;

/// The bytes of limits without `forget_quiet`: three numbers, no time, and the form of ids with the prefix FW.
const LIMITS: usize = 4 * 3 + 1 + 4 + 2;

/// The bytes that may change without another state; see above.
fn exceptions(rig: &Rig, body: &[u8]) -> Vec<usize> {
    let queues = &rig.gateway.core.notes.queues;
    let mut found = Vec::new();
    for row in (0..queues.rows()).filter(|row| queues.size(*row).0 > 0) {
        let mut bytes = (row as u32).to_le_bytes().to_vec();
        queues.put(row, &mut bytes);
        // The queue's number, the start of its first message, and the number of its messages.
        let at = body.windows(16).position(|part| part == &bytes[..16]);
        let at = at.expect("a row with messages");
        found.extend([at + 4, at + 5]);
        // The mark, length, time and note of each message.
        let mut next = at + 16;
        queues.each(row, &mut |_, _, record| {
            // The byte after mark, length, time, source, target and kind.
            found.push(next + 5 + 8 + 9);
            next += 5 + record.len();
        });
    }
    found
}

#[test]
fn each_byte_of_a_checkpoint_counts() {
    let rig = busy();
    let lines = kept_lines(&rig.gateway.core.notes);
    let body = &rig.written()[..];
    let restored = |body: &[u8]| {
        let mut notes = rig.gateway.core.notes.anew().unwrap();
        notes.read(1, body).ok()?;
        Some(kept_lines(&notes))
    };
    assert_same(&restored(body).unwrap(), &lines, "as it is");
    // After the last answer and the noted limits, the checkpoint has the limits of the orders, with the same values.
    let max_orders = 8 + 1 + LIMITS;
    assert_eq!(body[max_orders..][..4], [14, 0, 0, 0]);
    let memory = max_orders + 2..max_orders + 4;
    let mut unseen = silent_changes(body, &lines, 0x81, memory, restored);
    let exceptions = exceptions(&rig, body);
    unseen.retain(|(at, _)| !exceptions.contains(at));
    let count = body.len();
    assert_eq!(
        unseen,
        [(0, 0); 0],
        "changes without effect, of {count} bytes"
    );
}
