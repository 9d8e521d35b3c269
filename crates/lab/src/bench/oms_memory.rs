//! `bench oms --memory`: what a live order takes.

use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::oms::{OmsArgs, folder};
use crate::error::Error;
use crate::oms_driven::DrivenOms;
use crate::oms_rig::Request;

/// The figures.
#[derive(Clone, Debug, Serialize)]
struct Memory {
    live: usize,
    /// Anonymous memory of the process before the engine, bytes.
    before: u64,
    /// With all orders open.
    after: u64,
    bytes_an_order: f64,
}

/// Measures and prints.
///
/// # Errors
///
/// The measurement could not be made.
pub fn run(args: &OmsArgs) -> Result<ExitCode, Error> {
    let folder = folder(args.journal.as_deref())?;
    let before = anonymous()?;
    // Room is made as orders come, as for a day that nobody has foreseen.
    let mut oms = DrivenOms::start(Some(folder.path()), 1000)?;
    for _ in 0..args.live {
        oms.request(Request::New)?;
    }
    let after = anonymous()?;
    let memory = Memory {
        live: oms.orders(),
        before,
        after,
        bytes_an_order: after.saturating_sub(before) as f64 / f64::from(args.live),
    };
    let text = if args.json {
        serde_json::to_string(&memory).map_err(|error| Error::Engine(error.to_string()))? + "\n"
    } else {
        format!(
            "{} live orders, every control on: {:.1} MB of anonymous memory (RssAnon), {:.0} bytes an order\n\
             published: 700 to 860 bytes an order, 3.09 GB for 1.11 million orders and 0.11 million changes\n",
            memory.live,
            (memory.after - memory.before) as f64 / 1e6,
            memory.bytes_an_order
        )
    };
    let mut to = io::stdout().lock();
    to.write_all(text.as_bytes())
        .map_err(Error::system("write the report"))?;
    Ok(ExitCode::SUCCESS)
}

/// RssAnon of this process, bytes: neither the journal's files nor the program.
fn anonymous() -> Result<u64, Error> {
    let status = fs::read_to_string("/proc/self/status");
    let status = status.map_err(Error::system("read /proc/self/status"))?;
    let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:"));
    let kib = line.and_then(|it| it.trim().strip_suffix(" kB"));
    let kib = kib.and_then(|it| it.parse::<u64>().ok());
    let kib = kib.ok_or_else(|| Error::Engine("the kernel does not say RssAnon".to_owned()))?;
    Ok(kib << 10)
}
