//! `bench oms --memory`: memory that a live order needs, and memory that remains used after orders are closed.
//!
//! Each figure is measured in a process of its own, so that memory freed by an earlier measurement does not count.

use std::collections::VecDeque;
use std::fs;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::engine::folder;
use super::oms::OmsArgs;
use super::output::{check_file, print, save};
use crate::error::{Error, engine_error};
use crate::oms::driven::{DrivenOms, DrivenOmsConfig, OrderFlow};
use crate::oms::rig::{ChangeTarget, LineProtocol, LoadRequest};

/// The parts of an OMS that run in the measured process.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Part {
    /// The OMS alone; its journal is a ring of segments in memory.
    Own,
    /// The OMS with its journal in a folder, and the thread that writes checkpoints from a copy of the state.
    Both,
}

/// Segment sizes in bytes. [`RING`] is for the journal in memory, which has three segments; [`SEGMENT`] is for the
/// journal in a folder, where the checkpoint thread's copy lacks the open segment.
const RING: usize = 5 << 20;
const SEGMENT: usize = 16 << 20;
/// How long memory must not change before the checkpoint thread's copy of the state counts as complete.
const SAME: Duration = Duration::from_secs(10);

/// Anonymous memory of a process, bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Measured {
    /// Orders in memory at the end.
    live: usize,
    /// Memory before the engine starts.
    before: u64,
    /// Memory after the first tenth of the orders.
    first: u64,
    /// Memory at the end.
    last: u64,
    /// Number of ClOrdIDs of the trading day: when `first` was measured, and when `last` was measured.
    ids: [u64; 2],
}

/// Memory with this number of live orders.
#[derive(Clone, Debug, Serialize)]
struct Row {
    lines: LineProtocol,
    live: u32,
    own: u64,
    own_bytes_an_order: f64,
    copy: u64,
    copy_bytes_an_order: f64,
}

/// Growth of memory while orders are opened and closed (`--churn`).
#[derive(Clone, Debug, Serialize)]
struct Churn {
    lines: LineProtocol,
    orders: u32,
    live: u32,
    /// Memory in bytes after the first tenth of the orders, and at the end.
    own: [u64; 2],
    ids: [u64; 2],
    /// Growth of memory between the two measurements of `own`, bytes for each new ClOrdID.
    bytes_an_id: f64,
}

/// Measures and prints.
///
/// # Errors
///
/// The measurement failed.
pub fn run(args: &OmsArgs, lines: LineProtocol) -> Result<ExitCode, Error> {
    args.json.as_deref().map_or(Ok(()), check_file)?;
    let text = if let Some(part) = args.part {
        serde_json::to_string(&measure(args, part, lines)?).map_err(engine_error)? + "\n"
    } else if let Some(orders) = args.churn {
        churn(args, orders, lines)?
    } else {
        rows(args, lines)?
    };
    match &args.json {
        Some(path) => save(path, text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn rows(args: &OmsArgs, lines: LineProtocol) -> Result<String, Error> {
    let mut rows = Vec::new();
    for &live in &args.live {
        let own = process(args, live, Part::Own, lines)?;
        let both = process(args, live, Part::Both, lines)?;
        let own = own.last.saturating_sub(own.before);
        let copy = both.last.saturating_sub(both.before).saturating_sub(own);
        rows.push(Row {
            lines,
            live,
            own,
            own_bytes_an_order: own as f64 / f64::from(live),
            copy,
            copy_bytes_an_order: copy as f64 / f64::from(live),
        });
    }
    if args.json.is_some() {
        return Ok(serde_json::to_string(&rows).map_err(engine_error)? + "\n");
    }
    let shown = rows.iter().map(|row| {
        format!(
            "{} live orders over {}, every control on: {:.1} MB of anonymous memory (RssAnon), {:.0} bytes an order; the \
             copy of the thread that makes checkpoints {:.1} MB, {:.0} bytes an order\n",
            row.live,
            row.lines.called(),
            row.own as f64 / 1e6,
            row.own_bytes_an_order,
            row.copy as f64 / 1e6,
            row.copy_bytes_an_order
        )
    });
    Ok(shown.collect::<String>()
        + "published: 700 to 860 bytes an order, 3.09 GB for 1.11 million orders and 0.11 million changes\n")
}

fn churn(args: &OmsArgs, orders: u32, lines: LineProtocol) -> Result<String, Error> {
    let live = args.live.first().copied().unwrap_or(1000);
    let found = process(args, live, Part::Own, lines)?;
    let own = [found.first, found.last].map(|it| it.saturating_sub(found.before));
    let ids = (found.ids[1] - found.ids[0]).max(1);
    let churn = Churn {
        lines,
        orders,
        live,
        own,
        ids: found.ids,
        bytes_an_id: own[1].saturating_sub(own[0]) as f64 / ids as f64,
    };
    if args.json.is_some() {
        return Ok(serde_json::to_string(&churn).map_err(engine_error)? + "\n");
    }
    Ok(format!(
        "{} orders over {}, {} open at a time, {} in memory at the end: {:.1} MB of anonymous \
        memory (RssAnon) after a tenth of the orders, {:.1} MB at the end; {:.1} bytes for each of \
        the {} ClOrdIDs in between\n",
        churn.orders,
        churn.lines.called(),
        churn.live,
        found.live,
        own[0] as f64 / 1e6,
        own[1] as f64 / 1e6,
        churn.bytes_an_id,
        ids
    ))
}

/// Measures in a separate process.
fn process(args: &OmsArgs, live: u32, part: Part, lines: LineProtocol) -> Result<Measured, Error> {
    let program = std::env::current_exe().map_err(Error::system("find this program"))?;
    let mut command = Command::new(program);
    command.args(["bench", "oms", "--memory", "--live", &live.to_string()]);
    command.args(["--part", if part == Part::Own { "own" } else { "both" }]);
    command.args(["--lines", lines.name()]);
    if let Some(orders) = args.churn {
        command.args(["--churn", &orders.to_string()]);
    }
    if let Some(folder) = &args.journal {
        command.arg("--journal").arg(folder);
    }
    let output = command.output().map_err(Error::system("measure"))?;
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let errors = String::from_utf8_lossy(&output.stderr);
        Error::Engine(format!("nothing was measured: {errors}"))
    })
}

fn measure(args: &OmsArgs, part: Part, lines: LineProtocol) -> Result<Measured, Error> {
    let live = args.live.first().copied().unwrap_or(1000) as usize;
    let folder = folder(args.journal.as_deref())?;
    let before = anonymous()?;
    // Room for 1000 orders only: memory for the others is allocated as they arrive.
    let mut oms = DrivenOms::start(&match part {
        Part::Own => DrivenOmsConfig {
            segment_bytes: RING,
            ..DrivenOmsConfig::in_memory(1000, OrderFlow::over(lines))
        },
        Part::Both => DrivenOmsConfig {
            journal: Some(folder.path()),
            orders: 1000,
            segment_bytes: SEGMENT,
            flow: OrderFlow::over(lines),
        },
    })?;
    let orders = args.churn.map_or(live, |orders| orders as usize);
    let mut open = VecDeque::with_capacity(live + 1);
    let mut first = (0, 0);
    for number in 0..orders {
        open.push_back(oms.requests);
        oms.request(LoadRequest::New)?;
        if open.len() > live
            && let Some(oldest) = open.pop_front()
        {
            oms.request(LoadRequest::Cancel(ChangeTarget::of(oldest)))?;
        }
        if number + 1 == orders / 10 {
            first = (anonymous()?, oms.requests);
        }
    }
    // The list of open orders and the ring are memory of the measurement, not of the OMS.
    let ring = if part == Part::Own { 3 * RING } else { 0 };
    let ours = (open.capacity() * size_of::<u64>() + ring) as u64;
    let mut last = anonymous()?;
    let mut is_same = part == Part::Own;
    while !is_same {
        thread::sleep(SAME);
        let now = anonymous()?;
        is_same = now == last;
        last = now;
    }
    Ok(Measured {
        live: oms.orders(),
        before,
        first: first.0.saturating_sub(ours),
        last: last.saturating_sub(ours),
        ids: [first.1, oms.requests],
    })
}

/// Anonymous resident memory (RssAnon) of this process, bytes. The mapped files of the journal and of the program do
/// not count.
fn anonymous() -> Result<u64, Error> {
    let status = fs::read_to_string("/proc/self/status");
    let status = status.map_err(Error::system("read /proc/self/status"))?;
    let line = status.lines().find_map(|it| it.strip_prefix("RssAnon:"));
    let kib = line.and_then(|it| it.trim().strip_suffix(" kB"));
    let kib = kib.and_then(|it| it.parse::<u64>().ok());
    let kib = kib.ok_or_else(|| Error::Engine("the kernel does not report RssAnon".to_owned()))?;
    Ok(kib << 10)
}
