//! An HdrHistogram interval log of a report, readable by Java's `HistogramLogReader`.

use std::io::{self, Write};
use std::time::Duration;

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

use super::{Report, pace_cell};

/// Writes one interval per run and kind of time, tagged `SUBJECT/RATE/RUN/response` or `.../service`; values are
/// nanoseconds. Intervals follow one another without pauses, each as long as its run. The column of maxima is in
/// milliseconds, as in the logs of other writers.
///
/// # Errors
///
/// When writing fails.
pub fn write(report: &Report, to: &mut impl Write) -> io::Result<()> {
    let mut serializer = V2DeflateSerializer::new();
    let mut builder = IntervalLogWriterBuilder::new();
    builder
        .add_comment("[Histogram log format version 1.3]")
        .add_comment(&format!("{}: {}", report.scenario, report.settings))
        .add_comment(&format!(
            "{}: {}",
            report.origin.date, report.origin.command
        ))
        .with_max_value_divisor(1e6);
    let mut log = builder.begin_log_with(to, &mut serializer)?;
    let mut start = Duration::ZERO;
    for row in &report.rows {
        for (index, run) in row.runs.iter().enumerate() {
            // The value comes from a file and may be invalid.
            let length = Duration::try_from_secs_f64(run.seconds).unwrap_or_default();
            for (time, histogram) in [
                ("response", &run.histogram),
                ("service", &run.service_histogram),
            ] {
                let name = format!(
                    "{}/{}/{}/{time}",
                    tag_text(&row.subject),
                    pace_cell(row.pace),
                    index + 1
                );
                log.write_histogram(histogram, start, length, Tag::new(&name))
                    .map_err(|error| io::Error::other(error.to_string()))?;
            }
            start += length;
        }
    }
    Ok(())
}

/// A subject as a tag: spaces become `-`, commas are removed.
fn tag_text(subject: &str) -> String {
    subject
        .replace(',', "")
        .replace(|letter: char| letter.is_whitespace(), "-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{FLOOR_ONWARD, sample};
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    #[test]
    fn each_run_is_an_interval_with_its_histogram() {
        let mut report = sample::report();
        report.rows[0].subject = FLOOR_ONWARD.to_owned();
        let mut log = Vec::new();
        write(&report, &mut log).unwrap();
        let mut intervals = Vec::new();
        for entry in IntervalLogIterator::new(&log) {
            if let LogEntry::Interval(interval) = entry.unwrap() {
                let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
                let histogram: hdrhistogram::Histogram<u64> =
                    Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
                let tag = interval.tag().unwrap().as_str().to_owned();
                intervals.push((tag, interval.start_timestamp(), histogram));
            }
        }
        assert_eq!(intervals.len(), 4 * 3 * 2);
        assert_eq!(intervals[0].0, "tcp-floor-onward/ping-pong/1/response");
        assert_eq!(intervals[23].0, "fixwire/50000/3/service");
        assert_eq!(intervals[23].1, Duration::from_millis(11 * 500));
        assert_eq!(intervals[22].2, report.rows[3].runs[2].histogram);
        assert_eq!(intervals[23].2, report.rows[3].runs[2].service_histogram);
    }
}
