//! Compares the clocks of both ends.

use crate::frame::TmpFrame;
use crate::link::settings::LinkNow;
use crate::uncertain::CLOCK_DIFFERENCE_MOST_NS;

/// The peer's clock minus ours in milliseconds, if the difference exceeds the limit.
pub(crate) fn clock_difference(now: LinkNow, frame: &TmpFrame<'_>) -> Option<i64> {
    let theirs = frame.header().msg_time.wall_ns();
    (theirs.abs_diff(now.wall_ns) > CLOCK_DIFFERENCE_MOST_NS).then(|| millis_ahead(now, frame))
}

/// The peer's clock minus ours, in milliseconds.
pub(crate) fn millis_ahead(now: LinkNow, frame: &TmpFrame<'_>) -> i64 {
    let theirs = frame.header().msg_time.wall_ns() / 1_000_000;
    // Both values are below 2^45.
    theirs as i64 - (now.wall_ns / 1_000_000) as i64
}
