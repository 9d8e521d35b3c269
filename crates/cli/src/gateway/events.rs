//! Events of the gateway under `fixwire run`, for its operator.

use std::io;

use fixwire::gateway::{LoadedGateway, Notice};
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::time::{Precision, TimestampWriter};

use crate::failure::{self, Failure};
use crate::print::Printer;
use crate::teller::now;

/// Prints a line for each event.
///
/// # Errors
///
/// The thread cannot be started.
pub fn printed() -> Result<impl FnMut(&Notice<'_>) + Send + 'static, Failure> {
    let mut printer = Printer::new(io::stderr())?;
    let mut stamp = TimestampWriter::new();
    Ok(move |notice: &Notice<'_>| {
        let time = Escaped(stamp.format(now(), Precision::Millis)).to_string();
        printer.line(format!("{time} {notice}"));
    })
}

/// The counters as one text. The printer queues a text completely or drops it completely, so no single line is lost.
pub fn shown(counts: &str) -> String {
    let lines = counts.lines();
    let lines = lines.map(|line| format!("counts: {}", Escaped(line.as_bytes())));
    lines.collect::<Vec<_>>().join("\n")
}

/// Prints settings of a gateway that may be mistakes: warnings, and if requested also notes. Returns the number of
/// warnings.
pub fn remark(loaded: &LoadedGateway, with_notes: bool) -> usize {
    let remarks = loaded.gateway.remarks().iter();
    for one in remarks.filter(|one| one.is_warning || with_notes) {
        let kind = if one.is_warning { "warning" } else { "note" };
        failure::tell(kind, &loaded.placed(one));
    }
    loaded.warnings().count()
}
