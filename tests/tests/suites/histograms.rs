//! Does HdrHistogram for Java read the interval logs of the benches?

use fixwire_lab::bench::{LoadArgs, OutputArgs, tcp};
use fixwire_lab::load::Pace;
use fixwire_lab::report::{Row, Run, hlog};
use fixwire_rigs::foreign::histogram_reader;
use fixwire_rigs::server::scratch;
use std::fs;

/// Every interval has the same tag, count, percentiles, mean and deviation as ours.
#[test]
fn java_reads_what_we_wrote() -> Result<(), String> {
    let load = LoadArgs {
        rate: vec![5_000],
        warm_up: 100,
        iterations: 2_000.try_into().expect("not zero"),
        runs: 2,
        cores: "none".to_owned(),
        ..LoadArgs::default()
    };
    let output = OutputArgs::default();
    let args = tcp::TcpArgs {
        serve: None,
        to: None,
        load,
        output,
    };
    let report = tcp::measure(&args).map_err(|error| error.to_string())?;
    let mut log = Vec::new();
    hlog::write(&report, &mut log).map_err(|error| error.to_string())?;
    let file = scratch("java")
        .map_err(|error| error.to_string())?
        .join("tcp.hlog");
    fs::write(&file, log).map_err(|error| format!("{}: {error}", file.display()))?;

    let mut reader = histogram_reader()?;
    let output = reader.arg(&file).output();
    let output = output.map_err(|error| format!("java: {error}"))?;
    let read = String::from_utf8_lossy(&output.stdout);
    let expected: Vec<String> = report.rows.iter().flat_map(intervals).collect();
    assert_eq!(expected.len(), 2 * 2 * 2);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(read.lines().count(), expected.len(), "{read}{stderr}");
    for (read, expected) in read.lines().zip(&expected) {
        assert_eq!(read, expected);
    }
    Ok(())
}

/// The expected lines for a row.
fn intervals(row: &Row) -> Vec<String> {
    let rate = match row.pace {
        Pace::PingPong => "ping-pong",
        Pace::PerSecond(_) => "5000",
        Pace::Flood => "flood",
    };
    let numbered = row.runs.iter().enumerate();
    let both = numbered.flat_map(|(index, run)| {
        ["response", "service"]
            .map(|time| interval(&format!("tcp-floor/{rate}/{}/{time}", index + 1), run, time))
    });
    both.collect()
}

fn interval(tag: &str, run: &Run, time: &str) -> String {
    let figures = if time == "response" {
        run.response
    } else {
        run.service
    };
    format!(
        "{tag} {} {} {} {} {} {} {} {} {} {} {} {:.3} {:.3}",
        figures.count,
        figures.min,
        figures.p50,
        figures.p75,
        figures.p90,
        figures.p95,
        figures.p99,
        figures.p99_5,
        figures.p99_9,
        figures.p99_99,
        figures.worst,
        figures.mean,
        figures.stdev
    )
}
