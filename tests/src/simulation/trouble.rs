//! Faults in any world: crash points of a machine, the network, the clock.

use fixwire::config::Durability;
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::Nanos;

use super::Tally;
use crate::random::Random;

/// Nanoseconds of a millisecond.
pub(super) const MILLI: u64 = 1_000_000;
/// The system's error when the disk is full.
const FULL: &str = "no storage space";

/// Chooses the next point of death.
pub(super) fn plan(random: &mut Random, disk: &SimDisk, durability: Durability) {
    match random.below(12) {
        0 if durability == Durability::Disk => disk.fail_sync(random.below(20)),
        1 => disk.set_room(Some(random.below(2) as u32)),
        _ => {
            let most = [20, 100, 400][random.below(3) as usize];
            disk.stop_after(random.below(most));
        }
    }
}

/// Counts the end of a machine, which is a loss of power one time in `one_in`. Returns whether it was one.
///
/// # Errors
///
/// The engine has ended without a reason.
pub(super) fn count_death(
    random: &mut Random,
    disk: &SimDisk,
    one_in: Option<u64>,
    why: &str,
    tally: &mut Tally,
) -> Result<bool, String> {
    let mut power = one_in.is_some_and(|one_in| random.below(one_in) == 0);
    if disk.sync_has_failed() {
        tally.failed_syncs += 1;
        power = random.below(2) == 0;
    } else if disk.has_stopped() {
        tally.kills += u64::from(!power);
        tally.power_cuts += u64::from(power);
    } else if why.contains(FULL) {
        tally.full_disks += 1;
        power = false;
    } else {
        return Err(format!("the engine ended: {why}"));
    }
    Ok(power)
}

/// The disk after a death.
pub(super) fn end(random: &mut Random, disk: &SimDisk, power: bool) {
    if power {
        disk.cut_power(|choices| random.below(choices as u64) as usize);
    } else {
        disk.end_process();
    }
}

/// The network's treatment of a connection.
pub(super) fn blow(random: &mut Random, net: &SimNet, conn: Option<ConnId>, tally: &mut Tally) {
    let Some(conn) = conn else { return };
    match random.below(120) {
        0 => {
            tally.resets += 1;
            net.reset(conn);
        }
        1..3 => {
            tally.silences += 1;
            let time = Nanos(random.below(40_000) * MILLI);
            let end = ConnId(conn.0 ^ random.below(2) as u32);
            net.silence(end, time);
        }
        _ => {}
    }
}

/// Time passes: mostly a little.
pub(super) fn pass_time(random: &mut Random, net: &SimNet) {
    let time = match random.below(40) {
        0 => 1_000 * (1 + random.below(10)),
        1..6 => 100,
        _ => 1 + random.below(5),
    };
    net.advance(Nanos(time * MILLI));
}
