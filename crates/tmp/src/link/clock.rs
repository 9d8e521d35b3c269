//! The clocks of both ends.

use crate::frame::TmpFrame;
use crate::link::settings::LinkNow;
use crate::uncertain::CLOCK_DIFFERENCE_MOST_NS;

/// The peer's clock minus ours, if that is more than it may be.
pub(crate) fn clock_difference(now: LinkNow, frame: &TmpFrame<'_>) -> Option<i64> {
    let theirs = frame.header().msg_time.wall_ns();
    (theirs.abs_diff(now.wall_ns) > CLOCK_DIFFERENCE_MOST_NS).then(|| millis_ahead(now, frame))
}

/// The same, in milliseconds.
pub(crate) fn millis_ahead(now: LinkNow, frame: &TmpFrame<'_>) -> i64 {
    let theirs = frame.header().msg_time.wall_ns() / 1_000_000;
    // Below 2^45, both of them.
    theirs as i64 - (now.wall_ns / 1_000_000) as i64
}
