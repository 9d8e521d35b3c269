//! The part of the page for `bench oms`: a table for each way in which the OMS waits, with a line for each batch.

use std::fmt::{self, Write};

use fixwire_stamps::stats::micros;

use super::table::disturbed;
use crate::published::OMS_LARGEST;
use crate::report::chart::escape;
use crate::report::oms::{
    BATCH_COLUMNS, BatchFigures, BatchPace, BatchRequest, BatchRow, BatchWait, OmsPart, OmsReport,
};
use crate::report::thousands;

/// Positions of 50 % and 99 % in [`BATCH_COLUMNS`].
const SHORT: [usize; 2] = [0, 2];
/// Number of columns after the T2-T1 columns.
const OTHERS: usize = 2 * SHORT.len() + 2;

/// The figures in the tables.
const TIMES: &str = "T0: before the client builds a request. T1: the OMS has found the request. \
    T2: the resulting message is written to the venue. T3, T4: the OMS, then the client, has read \
    the report. Journalled: the record of the request is committed.";

/// Writes the tables and the throughput.
pub(super) fn write(report: &OmsReport, to: &mut impl Write) -> fmt::Result {
    writeln!(to, "<p>{TIMES}</p>")?;
    for wait in [BatchWait::Spin, BatchWait::Block] {
        for part in report.parts() {
            let rows: Vec<&BatchRow> = part.rows.iter().filter(|row| row.wait == wait).collect();
            if !rows.is_empty() {
                write_table(&part, wait, &rows, to)?;
            }
        }
    }
    for part in report.parts() {
        write_saturation(&part, to)?;
    }
    Ok(())
}

fn write_table(
    part: &OmsPart<'_>,
    wait: BatchWait,
    rows: &[&BatchRow],
    to: &mut impl Write,
) -> fmt::Result {
    let waits = match wait {
        BatchWait::Spin => "spins",
        BatchWait::Block => "sleeps until a message arrives",
    };
    writeln!(
        to,
        "<table class=\"figures\"><caption>Over {}, the OMS {waits}: us, and seconds from the first T0; below it, as \
         published for f9omstw. *: other work took time during the batch</caption>",
        part.lines.called()
    )?;
    let five = BATCH_COLUMNS.len();
    writeln!(
        to,
        "<thead><tr><th><th><th colspan=\"{five}\">T2-T1<th colspan=\"2\">Journalled-T1<th colspan=\"2\">T4-T3\
         <th colspan=\"2\">Last, s"
    )?;
    write!(to, "<tr><th>Orders<th>Requests")?;
    let short = SHORT.map(|place| BATCH_COLUMNS[place]);
    for column in BATCH_COLUMNS.iter().chain(&short).chain(&short) {
        write!(to, "<th>{column}")?;
    }
    writeln!(to, "<th>T2<th>T4</thead>")?;
    let pairs = [BatchPace::Paced, BatchPace::Unpaced]
        .into_iter()
        .zip(part.bare_write_ns);
    for (pace, figures) in pairs {
        write_muted("write(2) alone", pace.name(), figures, to)?;
    }
    for row in rows {
        write_row(row, to)?;
        if let Some(figures) = row.on_time() {
            let count = thousands(row.untouched as u64);
            write_muted(&format!("of these, {count}"), "sent on time", &figures, to)?;
        }
        if let Some(figures) = &row.bare_write_ns {
            write_muted("write(2) alone", &row.batch, figures, to)?;
        }
    }
    writeln!(to, "</table>")
}

/// Writes a line that has only T2-T1.
fn write_muted(name: &str, how: &str, five: &BatchFigures, to: &mut impl Write) -> fmt::Result {
    write!(to, "<tr class=\"floor\"><th>{name}<th>{how}")?;
    for nanos in five {
        write!(to, "<td>{}", micros(*nanos))?;
    }
    writeln!(to, "{}", "<td>".repeat(OTHERS))
}

fn write_row(row: &BatchRow, to: &mut impl Write) -> fmt::Result {
    let published = row.published_us.is_some();
    write!(to, "<tr><th>{}", escape(&row.batch))?;
    if published {
        write!(to, "<small>published</small>")?;
    }
    let (request, pace) = (row.request.name(), row.pace.name());
    write!(to, "<th>{request}, {pace}{}", disturbed(row.taken))?;
    for (column, nanos) in row.t2_t1_ns.iter().enumerate() {
        let was = row.published_us.map(|was| was[column].to_string());
        cell(&micros(*nanos), was.as_deref(), to)?;
    }
    for figures in [&row.journalled_t1_ns, &row.t4_t3_ns] {
        for place in SHORT {
            cell(&micros(figures[place]), None, to)?;
        }
    }
    let is_largest = row.batch == OMS_LARGEST.batch && row.request == BatchRequest::New;
    let [written, replied] = [
        match row.wait {
            BatchWait::Spin => OMS_LARGEST.spin,
            BatchWait::Block => OMS_LARGEST.block,
        },
        OMS_LARGEST.replied,
    ]
    .map(|seconds| is_largest.then(|| seconds.to_string()));
    let seconds = |nanos: u64| format!("{:.3}", nanos as f64 / 1e9);
    cell(&seconds(row.first_t0_to_last_t2_ns), written.as_deref(), to)?;
    cell(&seconds(row.first_t0_to_last_t4_ns), replied.as_deref(), to)?;
    writeln!(to)
}

/// Writes a cell: our figure, and the published one below it.
fn cell(ours: &str, published: Option<&str>, to: &mut impl Write) -> fmt::Result {
    write!(to, "<td>{ours}")?;
    match published {
        Some(published) => write!(to, "<small>{published}</small>"),
        None => Ok(()),
    }
}

fn write_saturation(part: &OmsPart<'_>, to: &mut impl Write) -> fmt::Result {
    let Some(saturation) = part.saturation else {
        return Ok(());
    };
    writeln!(
        to,
        "<p>{} orders sent at once over {}: the OMS answered and reported {} a second. The client \
        was busy for {:.0} % of this time, the venue, on the client's thread, for {:.0} %.</p>",
        thousands(saturation.orders as u64),
        part.lines.called(),
        thousands(saturation.orders_a_second as u64),
        100.0 * saturation.client_share,
        100.0 * saturation.venue_share
    )
}
