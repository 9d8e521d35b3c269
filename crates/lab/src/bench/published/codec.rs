//! The codec alone, in nanoseconds per message.

use super::layout::{below, note};
use super::section::{Section, Setting};
use crate::bench::args::on_own_thread;
use crate::codec::time_batches;
use crate::codec::{Codec, CodecWork, MOST_ORDERS, OrderSize};
use crate::error::Error;
use crate::machine;
use crate::sockets::arena::pin;

/// Number of messages in a batch.
const BATCH: u32 = 20_000;
/// Number of batches of a full and of a quick run.
const BATCHES: [usize; 2] = [40, 5];

/// The best and the median batch, nanoseconds per message.
type Timing = [f64; 2];

/// Times each kind of work with each order.
pub(super) fn measure(setting: &Setting) -> Result<Section, Error> {
    const { assert!((BATCHES[0] as u64 + 1) * (BATCH as u64) < MOST_ORDERS) };
    let batches = BATCHES[usize::from(setting.quick)];
    let timings = on_own_thread(|| {
        let _pinned = pin(machine::two_cores().map(|cores| cores.1))?;
        let mut timings = Vec::new();
        for work in CodecWork::ALL {
            let mut sizes = [Timing::default(); 2];
            for (timing, size) in sizes.iter_mut().zip(OrderSize::ALL) {
                let mut codec = Codec::new(size)?;
                *timing = time_batches(batches, BATCH, || codec.run(work))?;
            }
            timings.push((work, sizes));
        }
        Ok(timings)
    })?;
    Ok(Section {
        text: table(&timings),
        reports: Vec::new(),
    })
}

fn table(timings: &[(CodecWork, [Timing; 2])]) -> String {
    let gap = String::new;
    let heads = ["best", "middle"].map(str::to_owned);
    let mut grid = vec![vec!["ns a message".to_owned()]];
    for _ in OrderSize::ALL {
        grid[0].push(gap());
        grid[0].extend(heads.clone());
    }
    for (work, sizes) in timings {
        let mut line = vec![work.name().to_owned()];
        for timing in sizes {
            line.push(gap());
            line.extend(timing.map(|nanos| format!("{nanos:.1}")));
        }
        grid.push(line);
    }
    let sizes = OrderSize::ALL.map(|size| format!("{} B", size.bytes()));
    let names = [("", 1), (&*sizes[0], 3), (&*sizes[1], 3)];
    let note = note(&format!(
        "Each figure is the time of a batch of {BATCH} messages divided by {BATCH}, with the order \
        hot in cache. Checks: BodyLength, CheckSum, MsgSeqNum, CompIDs. The encoded order is as \
        long as the decoded one."
    ));
    [below(&names, &grid), note].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_work_has_a_line_with_both_orders() {
        let timings = CodecWork::ALL.map(|work| (work, [[101.26, 110.0], [1234.5, 2000.0]]));
        let text = table(&timings);
        assert_eq!(
            text.lines().take(5).collect::<Vec<_>>(),
            [
                "                            100 B         160 B",
                "  ns a message               best middle    best middle",
                "  parse                     101.3  110.0  1234.5 2000.0",
                "  encode                    101.3  110.0  1234.5 2000.0",
                "  decode, 4 checks, encode  101.3  110.0  1234.5 2000.0",
            ]
        );
    }
}
