//! `fixwire oms history`: the events of an order in the journal.

use std::io::{self, Write as _};
use std::process::ExitCode;

use fixwire::journal::{self, DumpFilter, DumpLine};
use fixwire_oms::history::History;
use fixwire_protocol::{Precision, Timestamp, TimestampWriter};

use super::answers::{Ask, readable_journal, show, unreadable};
use super::show_stamps;
use super::stamps::OrderStamps;
use crate::failure::{self, Failure};

/// Reads the journal for the events of an order.
pub(super) fn show_history(ask: &Ask, number: u64) -> Result<ExitCode, Failure> {
    let store = readable_journal(ask)?;
    let mut left = super::positions::LeftNotes::new(&store)?;
    let mut history = None;
    let mut text = String::from("time\tevent\twhat");
    let mut stamp = TimestampWriter::new();
    let mut steps = 0;
    let each = |line: &DumpLine<'_>| {
        let Some((seq, note)) = line.kept() else {
            return Ok(());
        };
        if !left.is_next(seq) {
            return Ok(());
        }
        let history: &mut History =
            history.get_or_insert_with(|| History::new(number, left.before()));
        if let Some(step) = history.take(note) {
            let at = stamp.format(Timestamp(step.at), Precision::Micros);
            let at = String::from_utf8_lossy(at);
            text += &format!("\n{at}\t{}\t{}", step.event, step.text);
            steps += 1;
        }
        Ok(())
    };
    let read = journal::each_line(&store, &DumpFilter::default(), each).map_err(unreadable)?;
    if let Some(damage) = read.bad.as_ref().filter(|_| !read.torn) {
        let text = format!("later records are not shown: {damage}");
        failure::tell("warning", &text);
    }
    if steps == 0 {
        return Err(Failure::Text(format!(
            "no order {number} in the journal {}: unknown order, or the segments with its events \
            were removed (JournalKeep)",
            store.display()
        )));
    }
    left.check(&store)?;
    show(ask, &text)?;
    if let (false, OrderStamps::Found(stamps)) =
        (ask.json, OrderStamps::of(&ask.at.engine, number)?)
    {
        writeln!(io::stdout())?;
        show_stamps(&stamps)?;
    }
    Ok(ExitCode::SUCCESS)
}
