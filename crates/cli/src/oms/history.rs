//! `fixwire oms history`: the events of an order in the journal.

use std::io::{self, Write as _};
use std::process::ExitCode;

use fixwire::journal::{self, DumpFilter, DumpLine, JournalError};
use fixwire_oms::OmsState;
use fixwire_oms::history::History;
use fixwire_protocol::{Ledger as _, Precision, Timestamp, TimestampWriter};

use super::answers::{Ask, question, show};
use super::show_stamps;
use super::stamps::OrderStamps;
use crate::failure::{self, Failure};
use crate::session::{if_running, store};

/// Reads the journal for the events of an order.
pub(super) fn show_history(ask: &Ask, number: u64) -> Result<ExitCode, Failure> {
    let store = store(&ask.at)?;
    // In a running OMS, only operators with the right may read orders.
    if let Some(mut client) = if_running(&ask.at) {
        let asked = client.ask(&question("status"));
        asked.map_err(|error| Failure::Text(error.to_string()))?;
    }
    let failure = |error: JournalError| Failure::Text(error.to_string());
    let mut before = OmsState::default();
    journal::refuse_other_version(&store, Some(before.form())).map_err(failure)?;
    if let Some((version, bytes)) =
        journal::oldest_state(&store, before.form().0).map_err(failure)?
    {
        let file = store.display();
        let read = before.read(version, &bytes);
        read.map_err(|why| Failure::Text(format!("{file}: the oldest checkpoint: {why}")))?;
    }
    let (mut before, mut history) = (Some(before), None);
    let mut text = String::from("time\tevent\twhat");
    let mut stamp = TimestampWriter::new();
    let mut steps = 0;
    let each = |line: &DumpLine<'_>| {
        let Some((seq, note)) = line.kept() else {
            return Ok(());
        };
        // Before the first note the state is empty; before a later one it is in the checkpoint.
        let history: &mut History = history.get_or_insert_with(|| {
            let before = before.take().filter(|_| seq > 1);
            History::new(number, before.unwrap_or_default())
        });
        if let Some(step) = history.take(note) {
            let at = stamp.format(Timestamp(step.at), Precision::Micros);
            let at = String::from_utf8_lossy(at);
            text += &format!("\n{at}\t{}\t{}", step.event, step.text);
            steps += 1;
        }
        Ok(())
    };
    let read = journal::each_line(&store, &DumpFilter::default(), each).map_err(failure)?;
    if let Some(damage) = read.bad.as_ref().filter(|_| !read.torn) {
        let text = format!("later records are not shown: {damage}");
        failure::tell("warning", &text);
    }
    if read.segments == 0 {
        let store = store.display();
        return Err(Failure::Text(format!("{store} contains no journal")));
    }
    if steps == 0 {
        return Err(Failure::Text(format!(
            "no order {number} in the journal {}: unknown order, or the segments with its events \
            were removed (JournalKeep)",
            store.display()
        )));
    }
    show(ask, &text)?;
    if let (false, OrderStamps::Found(stamps)) =
        (ask.json, OrderStamps::of(&ask.at.engine, number)?)
    {
        writeln!(io::stdout())?;
        show_stamps(&stamps)?;
    }
    Ok(ExitCode::SUCCESS)
}
