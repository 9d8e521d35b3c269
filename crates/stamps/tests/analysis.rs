//! Is the summary of a stamps file byte for byte the one published for f9omstw?
//!
//! The times of group g2 are chosen so that its lines equal those of the published group of ten.

use fixwire_stamps::Stamp;
use fixwire_stamps::analysis::{Throughput, ThroughputCounter, summary};
use fixwire_stamps::file::{self, StampsError};

const STAMPS: &str = include_str!("fixtures/stamps.txt");
const SUMMARY: &str = include_str!("fixtures/summary.txt");
const PUBLISHED: &str = "\
Count=10|Abandoned=0|Rejected=0|Sending=10|Queuing=0
Spend(us)|73|32|12
Avg(us)|7.3|3.2|1.2
T1(last)-T0(first)=119/10|Avg=11.9      T2(last)-T0(first)=206/10|Avg=20.6      T2(last)-T1(first)=119/10|Avg=11.9
T1-T0|50%=66|75%=86|90%=91|99%=91|99.9%=91|99.99%=91|Worst=86|87|91|
";

fn read(text: &str) -> Result<Vec<Stamp>, StampsError> {
    let read = file::read(text.as_bytes(), None);
    read.map_err(|error| error.downcast().unwrap())
}

#[test]
fn the_summary_is_the_published_one() {
    let stamps = read(STAMPS).unwrap();
    let mut found = String::new();
    summary("stamps.txt", &stamps, &mut found).unwrap();
    assert!(found.contains(PUBLISHED), "{found}");
    assert_eq!(found, SUMMARY);
}

#[test]
fn a_stamps_file_is_read_as_it_was_written() {
    let stamps = read(STAMPS).unwrap();
    let mut written = format!("{}\n", file::HEAD).into_bytes();
    for stamp in &stamps {
        file::write(&mut written, stamp).unwrap();
    }
    assert_eq!(String::from_utf8(written).unwrap(), STAMPS);
    // A process that was killed leaves half a line.
    let cut = &STAMPS[..STAMPS.len() - 5];
    assert_eq!(read(cut).unwrap().len(), stamps.len() - 1);
}

#[test]
fn what_is_no_stamps_file_is_refused_with_its_line() {
    let line = |text: &str| match read(text) {
        Err(StampsError { line, byte, .. }) => (line, byte),
        Ok(stamps) => panic!("{} stamps", stamps.len()),
    };
    assert_eq!(line(""), (1, 0));
    // A file of another version.
    assert_eq!(line("ClOrdID|MsgType|State\n"), (1, 0));
    assert_eq!(line(&STAMPS.replace("T1(found)", "T1(seen)")), (1, 43));
    for wrong in [
        "1|a|D|Sending|1|2|3|4",
        "1|a|D|Sending|1|2|3|4|5|6",
        "1|a|D|Sent|1|2|3|4|5",
        "1|a|DD|Sending|1|2|3|4|5",
        "1|a|D|Sending|1|2|3|4|x",
        "x|a|D|Sending|1|2|3|4|5",
    ] {
        let at = (15, STAMPS.len() as u64);
        assert_eq!(line(&format!("{STAMPS}{wrong}\n")), at, "{wrong}");
    }
}

#[test]
fn what_stamps_have_of_one_order_is_found() {
    let stamps = file::read(STAMPS.as_bytes(), Some(1)).unwrap();
    let ids: Vec<_> = stamps.iter().map(Stamp::id).collect();
    assert_eq!(ids, [b"g2:1", b"d2:1"]);
    assert!(file::read(STAMPS.as_bytes(), Some(99)).unwrap().is_empty());
}

#[test]
fn reports_of_venues_have_a_block_of_their_own() {
    let text =
        format!("{STAMPS}1|1|8|Reported|0|1000|2000|3000|6500\n2|2|8|Kept|0|1000|2000|3000|0\n");
    let mut found = String::new();
    summary("stamps.txt", &read(&text).unwrap(), &mut found).unwrap();
    let block = "stamps.txt.ExecutionReport.txt\nCount=2|Reported=1|Kept=1\nT4-T3|50%=4.5|";
    assert!(found.contains(block), "{found}");
    let kind = "stamps.txt.NewOrderSingle.txt\nCount=11|";
    assert!(found.contains(kind), "{found}");
}

#[test]
fn milliseconds_are_counted_by_their_transactions() {
    let ms = 1_000_000;
    let throughput = Throughput::of([5 * ms, 5 * ms + 1, 6 * ms - 1, 6 * ms, 9 * ms]);
    let rows: Vec<_> = throughput.rows.clone().into_iter().collect();
    assert_eq!(rows, [(0, 2), (1, 2), (3, 1)]);
    assert_eq!((throughput.transactions, throughput.span), (5, 4 * ms));
    assert_eq!(throughput.share(1, 9), 60.0);
    let mut text = String::new();
    throughput.write(&mut text).unwrap();
    assert_eq!(
        text,
        "5 transactions in 0.004 s\nper ms       ms     share\n     0        2   40.000%\n     1        2   40.000%\n     3        1   20.000%\n"
    );
    assert_eq!(Throughput::of([]), Throughput::default());
}

#[test]
fn transactions_that_come_in_another_order_are_counted_alike() {
    let ms = 1_000_000_u64;
    let times: Vec<u64> = (0..5000_u64)
        .map(|at| 7 * ms + at * at * 977 % (900 * ms))
        .collect();
    let mut counter = ThroughputCounter::default();
    // The first one to arrive is not the earliest; milliseconds begin with the first one.
    let first = times[times.len() / 2];
    let aligned = times.iter().map(|time| time - time % ms + first % ms);
    aligned.clone().rev().for_each(|time| counter.add(time));
    assert_eq!(counter.late(), 0);
    assert_eq!(counter.finish(), Throughput::of(aligned));
}

#[test]
fn a_transaction_far_too_late_is_left_out_and_counted() {
    let ms = 1_000_000_u64;
    let reach = ThroughputCounter::REACH as u64;
    let mut counter = ThroughputCounter::default();
    for at in 0..2 * reach {
        counter.add(ms * 2 * at);
    }
    counter.add(ms * 2 * reach);
    counter.add(0);
    assert_eq!(counter.late(), 1);
    let found = counter.finish();
    assert_eq!(found.transactions, 2 * reach + 1);
    let rows: Vec<(u64, u64)> = found.rows.into_iter().collect();
    assert_eq!(rows, [(0, 2 * reach - 1), (1, 2 * reach - 1), (2, 1)]);
}
