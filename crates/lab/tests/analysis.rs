//! Is the summary of a stamps file the one that was published for f9omstw, byte by byte?
//!
//! The times of the group g2 are such that its lines are those of the published group of ten.

use fixwire_lab::analysis::{Throughput, summary};
use fixwire_lab::stamps_file::{self, StampsError};

const STAMPS: &str = include_str!("fixtures/stamps.txt");
const SUMMARY: &str = include_str!("fixtures/summary.txt");
const PUBLISHED: &str = "\
Count=10|Abandoned=0|Rejected=0|Sending=10|Queuing=0
Spend(us)|73|32|12
Avg(us)|7.3|3.2|1.2
T1(last)-T0(first)=119/10|Avg=11.9      T2(last)-T0(first)=206/10|Avg=20.6      T2(last)-T1(first)=119/10|Avg=11.9
T1-T0|50%=66|75%=86|90%=91|99%=91|99.9%=91|99.99%=91|Worst=86|87|91|
";

#[test]
fn the_summary_is_the_published_one() {
    let stamps = stamps_file::read(STAMPS).unwrap();
    let mut found = String::new();
    summary("stamps.txt", &stamps, &mut found).unwrap();
    assert!(found.contains(PUBLISHED), "{found}");
    assert_eq!(found, SUMMARY);
}

#[test]
fn a_stamps_file_is_read_as_it_was_written() {
    let stamps = stamps_file::read(STAMPS).unwrap();
    let mut written = format!("{}\n", stamps_file::HEAD).into_bytes();
    for stamp in &stamps {
        stamps_file::write(&mut written, stamp).unwrap();
    }
    assert_eq!(String::from_utf8(written).unwrap(), STAMPS);
    // A process that was killed leaves half a line.
    let cut = &STAMPS[..STAMPS.len() - 5];
    assert_eq!(stamps_file::read(cut).unwrap().len(), stamps.len() - 1);
}

#[test]
fn what_is_no_stamps_file_is_refused_with_its_line() {
    let line = |text: &str| match stamps_file::read(text) {
        Err(StampsError { line, .. }) => line,
        Ok(stamps) => panic!("{} stamps", stamps.len()),
    };
    assert_eq!(line(""), 1);
    for wrong in [
        "a|D|Sending|1|2|3|4",
        "a|D|Sent|1|2|3|4|5",
        "a|DD|Sending|1|2|3|4|5",
        "a|D|Sending|1|2|3|4|x",
    ] {
        assert_eq!(line(&format!("{STAMPS}{wrong}\n")), 15, "{wrong}");
    }
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
