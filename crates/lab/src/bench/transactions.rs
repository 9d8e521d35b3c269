//! `bench transactions`: how many transactions are completed in each millisecond, as published for a risk-control
//! server with QuickFIX C++ (Red Hat, 2011).
//!
//! A third of the transactions each are orders, replaces and cancels. One is completed when its report is back.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fixwire::Wait;
use serde::Serialize;

use super::args::on_own_thread;
use super::oms::folder;
use crate::analysis::Throughput;
use crate::arena::pin;
use crate::error::Error;
use crate::machine::{Machine, Noise, TakenByOthers};
use crate::oms_rig::{Behind, ChangeTarget, Leave, LoadRequest, Rig, RigConfig, cores};
use crate::report::thousands;

/// Flags of `bench transactions`.
#[derive(Args, Clone, Debug)]
pub struct TransactionsArgs {
    /// Transactions in all
    #[arg(long, value_name = "N", default_value_t = 894_000,
          value_parser = clap::value_parser!(u32).range(3..=30_000_000))]
    pub transactions: u32,

    /// Transactions that wait for their reports at a time, at most
    #[arg(long, value_name = "N", default_value_t = 512,
          value_parser = clap::value_parser!(u32).range(1..=999))]
    pub open: u32,

    /// Folder in which the journal is made; a temporary one by default
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,

    /// Print how many milliseconds had each count as well
    #[arg(long)]
    pub details: bool,

    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

/// Orders between an order and its replace, and between that and its cancel: those are answered by then.
const BETWEEN: u64 = 1000;

/// Total seconds, and shares of milliseconds with 1 to 9, 10 to 15, 16 to 26 transactions.
const PUBLISHED: [(&str, f64, [f64; 3]); 3] = [
    ("RHEL 5.6, untuned", 93.779, [41.49, 56.35, 2.17]),
    ("RHEL 5.6, tuned", 65.006, [0.03, 96.46, 3.51]),
    (
        "RHEL 5.6, tuned, real-time, NUMA",
        63.731,
        [0.000_03, 86.22, 13.78],
    ),
];
const BANDS: [(u64, u64); 4] = [(1, 9), (10, 15), (16, 26), (27, u64::MAX)];

#[derive(Serialize)]
struct Found {
    machine: Machine,
    place: &'static str,
    transactions: u64,
    seconds: f64,
    /// Transactions in a millisecond, and how many milliseconds had so many.
    per_ms: Vec<(u64, u64)>,
    client_share: f64,
    exchange_share: f64,
    taken: TakenByOthers,
}

/// Measures and prints.
///
/// # Errors
///
/// The measurement failed.
pub fn run(args: &TransactionsArgs) -> Result<ExitCode, Error> {
    let (found, throughput) = on_own_thread(|| measure(args))?;
    let text = if args.json {
        serde_json::to_string(&found).map_err(|error| Error::Engine(error.to_string()))? + "\n"
    } else {
        shown(&found, &throughput, args.details)
    };
    let mut to = io::stdout().lock();
    to.write_all(text.as_bytes())
        .map_err(Error::system("write the report"))?;
    Ok(ExitCode::SUCCESS)
}

fn measure(args: &TransactionsArgs) -> Result<(Found, Throughput), Error> {
    let machine = Machine::read();
    let config = RigConfig {
        wait: Wait::Spin,
        behind: Behind::Exchange,
        cores: cores(),
        orders: 100_000,
        stamps: 1,
    };
    let folder = folder(args.journal.as_deref())?;
    let mut rig = Rig::start(&config, folder.path())?;
    let _pinned = pin(config.cores.as_ref().map(|it| it[1]))?;
    rig.stamps.switch(false);
    let leave = Leave::Within(args.open as usize);
    rig.run(plan(rig.requests, 5_000).into_iter(), leave)?;
    let plan = plan(rig.requests, u64::from(args.transactions) / 3);
    let noise = Noise::read();
    let run = rig.run(plan.into_iter(), leave)?;
    let taken = noise.since();
    rig.stop()?;
    let span = run.span().max(1) as f64;
    let throughput = Throughput::of(run.answered.iter().copied());
    let found = Found {
        machine,
        place: config.place(),
        transactions: throughput.transactions,
        seconds: span / 1e9,
        per_ms: throughput.rows.iter().map(|(&a, &b)| (a, b)).collect(),
        client_share: run.work[0] as f64 / span,
        exchange_share: run.work[1] as f64 / span,
        taken,
    };
    Ok((found, throughput))
}

/// So many orders, each replaced and cancelled, where `first` is the number of the first request.
fn plan(first: u64, orders: u64) -> Vec<LoadRequest> {
    let mut plan = Vec::with_capacity(3 * orders as usize);
    let mut targets: Vec<ChangeTarget> = Vec::with_capacity(orders as usize);
    for step in 0..orders + 2 * BETWEEN {
        let number = |plan: &Vec<LoadRequest>| first + plan.len() as u64;
        if step < orders {
            targets.push(ChangeTarget::of(number(&plan)));
            plan.push(LoadRequest::New);
        }
        let replaced = step.checked_sub(BETWEEN).filter(|it| *it < orders);
        if let Some(target) = replaced.map(|it| &mut targets[it as usize]) {
            let was = std::mem::replace(&mut target.original, number(&plan));
            plan.push(LoadRequest::Replace(ChangeTarget {
                original: was,
                ..*target
            }));
        }
        let cancelled = step.checked_sub(2 * BETWEEN).filter(|it| *it < orders);
        if let Some(at) = cancelled {
            plan.push(LoadRequest::Cancel(targets[at as usize]));
        }
    }
    plan
}

/// The screen; with `details` the histogram of every count too.
fn shown(found: &Found, throughput: &Throughput, details: bool) -> String {
    let mut text = format!(
        "bench transactions: {} orders, replaces and cancels through an OMS with\n  every control and its journal, and a \
         simulated exchange; spin;\n  {}\n",
        thousands(found.transactions),
        found.place
    );
    text += &format!(
        "  {:.3} s. Of that time the client worked {:.0} %, the exchange on its thread {:.0} %.\n",
        found.seconds,
        100.0 * found.client_share,
        100.0 * found.exchange_share
    );
    if found.taken.preempted + found.taken.steal_ms > 0 {
        text += &format!(
            "  The client was preempted {} times, the hypervisor took {} ms:\n  `fixwire doctor` \
             says why.\n",
            found.taken.preempted, found.taken.steal_ms
        );
    }
    text += &format!(
        "\n  {:<36}{:>9}{:>8}{:>8}{:>8}{:>8}\n",
        "share of the milliseconds with", "total", "1-9", "10-15", "16-26", "27 on"
    );
    let shares = BANDS.map(|(least, most)| throughput.share(least, most));
    let mut row = |name: &str, seconds: f64, shares: &[f64]| {
        text += &format!("  {name:<36}{seconds:>8.3}s");
        for share in shares {
            text += &format!("{share:>7.2}%");
        }
        text += "\n";
    };
    row("fixwire", found.seconds, &shares);
    for (name, seconds, shares) in PUBLISHED {
        row(name, seconds, &shares);
    }
    if details {
        text += &format!("\n{}\n", found.machine);
        // Writing to a string cannot fail.
        let _ = throughput.write(&mut text);
    } else {
        text += "  more: --details (how many milliseconds had each count), --json\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_order_is_replaced_and_then_cancelled_by_its_newest_id() {
        let plan = plan(7, 2500);
        assert_eq!(plan.len(), 7500);
        let mut ids = std::collections::BTreeMap::new();
        for (number, request) in (7..).zip(&plan) {
            match request {
                LoadRequest::New => assert_eq!(ids.insert(number, number), None),
                LoadRequest::Replace(target) => {
                    assert_eq!(ids.insert(target.order, number), Some(target.original));
                    assert!(number >= target.original + BETWEEN);
                }
                LoadRequest::Cancel(target) => {
                    assert_eq!(ids.remove(&target.order), Some(target.original));
                    assert!(number >= target.original + BETWEEN);
                }
            }
        }
        assert!(ids.is_empty());
    }
}
