//! Reports pushed from server to client. First each report is sent after the answer to the last report, then as many
//! as possible.

use std::sync::Arc;

use fixwire_protocol::dictionary::Version;
use fixwire_stamps::clock::Clock;
use fixwire_stamps::scenario::REPORT_BYTES;
use fixwire_stamps::stats::Figures;
use fixwire_stamps::stats::micros;

use super::layout::{aligned, line, note};
use super::section::{Section, Setting};
use crate::bench::args::on_own_thread;
use crate::bench::engine::EngineArgs;
use crate::error::Error;
use crate::load::Pace;
use crate::machine::{self, Machine};
use crate::progress::Progress;
use crate::report::percentiles::together;
use crate::report::{Report, Row, flood, thousands};
use crate::sockets::arena::{PATIENCE, pin};
use crate::sockets::floor::ReportWay;
use crate::sockets::pair::Pair;
use crate::sockets::push::{PushCounts, Pushed, Pusher};

/// The subjects of the rows.
const ROUND_TRIP: &str = "tcp, there and back";
const ONE_WAY: &str = "one way";
const PUSH: &str = "push";

/// Number of messages of each kind.
#[derive(Clone, Copy, Debug)]
struct Counts {
    warm_up: u64,
    floor: usize,
    one_way: u64,
    push: u64,
}

const FULL: Counts = Counts {
    warm_up: 20_000,
    floor: 200_000,
    one_way: 2_000_000,
    push: 5_000_000,
};
const QUICK: Counts = Counts {
    warm_up: 200,
    floor: 1_000,
    one_way: 2_000,
    push: 50_000,
};

/// Measures both subjects.
pub(super) fn measure(setting: &Setting) -> Result<Section, Error> {
    let counts = if setting.quick { QUICK } else { FULL };
    let (engine, _) = setting.args::<EngineArgs>("echo", "--profile optimized", [""; 2])?;
    let report = on_own_thread(|| measure_report(counts, &engine))?;
    Ok(Section {
        text: text(&report),
        reports: vec![("push".to_owned(), report)],
    })
}

fn measure_report(counts: Counts, engine: &EngineArgs) -> Result<Report, Error> {
    let machine = Machine::read();
    let journals = engine.folder()?;
    let config = engine.pair("CLIENT", "SERVER", &[Version::Fix42], journals.path());
    let (acceptor, initiator) = machine::two_cores().unzip();
    let clock = Clock::start();
    let shared = Arc::new(PushCounts::default());
    let pusher = Pusher::new(clock, shared.clone());
    let mut pair = Pair::start_by(clock, &config, acceptor, pusher)?;
    let rows = rows(&mut pair, &shared, counts, initiator);
    // When a run fails, the error of the far engine is the cause, so it is reported first.
    pair.stop()?;
    let title = "FIX 4.2 reports from server to client, unsolicited".to_owned();
    let settings = format!(
        "FIX.4.2 report ({REPORT_BYTES} bytes) over TCP; {}, wait spin; {} one way, {} pushed",
        engine.text(),
        thousands(counts.one_way),
        thousands(counts.push)
    );
    Ok(Report {
        rows: rows?,
        notes: vec![
            "one way: from before the server's application builds a report until the client's \
            application has it, by one clock; the client's next order requests the next report. \
            push: as many reports as the client accepts, so that the times include waiting in a \
            queue."
                .to_owned(),
        ],
        ..Report::new("push", title, settings, machine)
    })
}

fn rows(
    pair: &mut Pair,
    shared: &Arc<PushCounts>,
    counts: Counts,
    core: Option<usize>,
) -> Result<Vec<Row>, Error> {
    let _pinned = pin(core)?;
    let mut progress = Progress::new(3);
    let books =
        |pace, reports| Pushed::new(shared.clone(), pace, reports, PATIENCE.as_nanos() as u64);
    let row = |pace, subject: &str, run| Row {
        pace,
        subject: subject.to_owned(),
        runs: vec![run],
    };
    progress.step(ROUND_TRIP);
    let floor = pair
        .arena
        .floor(ReportWay::Back, Pace::PingPong, counts.floor)?;
    progress.step(ONE_WAY);
    pair.receive(books(Pace::PingPong, counts.warm_up))?;
    let one_way = pair.receive(books(Pace::PingPong, counts.one_way))?;
    progress.step(PUSH);
    pair.receive(books(Pace::Flood, counts.warm_up))?;
    let push = pair.receive(books(Pace::Flood, counts.push))?;
    Ok(vec![
        row(Pace::PingPong, ROUND_TRIP, floor),
        row(Pace::PingPong, ONE_WAY, one_way),
        row(Pace::Flood, PUSH, push),
    ])
}

fn text(report: &Report) -> String {
    let mut grid = vec![line([
        "us", "min", "50", "90", "99", "99.9", "99.99", "worst", "average",
    ])];
    let mut text = String::new();
    for row in &report.rows {
        let figures = Figures::of(&together([row], |run| &run.histogram));
        if row.pace == Pace::Flood {
            for run in &row.runs {
                let rate = flood::rate(run);
                text += &format!(
                    "  Pushed: {} reports of {REPORT_BYTES} bytes in {:.2} s: {} a second, {:.0} ns each, {:.0} MB/s.\n",
                    thousands(run.sent),
                    run.seconds,
                    thousands(rate),
                    1e9 / rate.max(1) as f64,
                    (rate * REPORT_BYTES as u64) as f64 / 1e6
                );
            }
            continue;
        }
        let mut cells = vec![row.subject.clone(), micros(figures.min)];
        cells.extend(figures.columns().map(micros));
        cells.push(micros(figures.mean.round() as u64));
        grid.push(cells);
    }
    let note = note(
        "One way: from before the server's application builds a report until the client's \
        application has it, by one clock. The floor is a round trip: half of it is one way. \
        Pushed: 32 reports in a write, at most 256 ahead of the client. Two engines, messages in \
        memory, no dictionary.",
    );
    [aligned(&grid), text, note].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn latency_is_a_table_and_throughput_a_sentence() {
        let mut report = sample::report();
        report.rows.truncate(3);
        report.rows[2].pace = Pace::Flood;
        report.rows[2].runs.truncate(1);
        let text = text(&report);
        assert_eq!(
            text.lines().take(3).collect::<Vec<_>>(),
            [
                "  us         min   50   90   99 99.9 99.99 worst average",
                "  tcp floor 8.00 8.55 8.95 9.07 9.10  9.10  9.10    8.55",
                "  fixwire   9.00 9.55 9.95 10.1 10.1  10.1  10.1    9.55",
            ]
        );
        // A thousand reports in half a second.
        let pushed = "  Pushed: 1,000 reports of 218 bytes in 0.50 s: 2,000 a second, 500000 ns each, 0 MB/s.";
        assert!(text.contains(pushed), "{text}");
    }

    #[test]
    fn every_report_comes_once() {
        let folder = tempfile::tempdir().unwrap();
        let setting = Setting {
            quick: true,
            journal: Some(folder.path().to_owned()),
            results: None,
        };
        let section = measure(&setting).unwrap();
        let (_, report) = &section.reports[0];
        assert_eq!(report.faults().total(), 0, "{}", section.text);
        let counts: Vec<u64> = report
            .rows
            .iter()
            .map(|row| row.runs[0].response.count)
            .collect();
        assert_eq!(counts, [1_000, 2_000, 50_000]);
    }
}
