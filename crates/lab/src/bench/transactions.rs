//! `bench transactions`: how many transactions are completed in each millisecond, as published for a risk-control
//! server with QuickFIX C++ (Red Hat, 2011).
//!
//! One third each are orders, replaces and cancels. A transaction is complete when its report has arrived.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use fixwire::Wait;
use fixwire_stamps::analysis::Throughput;

use super::args::on_own_thread;
use super::engine::folder;
use super::output::{check_file, deliver_any};
use crate::error::Error;
use crate::machine::{Machine, Noise};
use crate::oms::rig::{
    Behind, ChangeTarget, Leave, LineProtocol, LoadRequest, Rig, RigConfig, cores,
};
use crate::published::{TRANSACTION_BANDS, TRANSACTIONS};
use crate::report::screen::paragraph;
use crate::report::transactions::{TransactionsReport, sentences};
use crate::report::{Provenance, thousands};
use crate::sockets::arena::pin;

/// Flags of `bench transactions`.
#[derive(Args, Clone, Debug)]
pub struct TransactionsArgs {
    /// Transactions in all, a third each orders, replaces and cancels: the next lower multiple of 3
    #[arg(long, value_name = "N", default_value_t = 894_000,
          value_parser = clap::value_parser!(u32).range(3..=30_000_000))]
    pub transactions: u32,

    /// Maximum number of transactions that wait for their reports at a time
    #[arg(long, value_name = "N", default_value_t = 512,
          value_parser = clap::value_parser!(u32).range(1..=999))]
    pub open: u32,

    /// Folder in which the journal is made; a temporary one by default
    #[arg(long, value_name = "DIR")]
    pub journal: Option<PathBuf>,

    /// Also print the number of milliseconds with each count of transactions
    #[arg(long)]
    pub details: bool,

    /// Write the result file, which `bench report` reads; without FILE or with "-" to standard output instead of the
    /// screen
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    pub json: Option<PathBuf>,
}

/// Number of orders between an order and its replace, and between the replace and its cancel, so that the earlier
/// request is answered by then. In a run with fewer orders, each replace or cancel waits for the report on the
/// request before it.
const BETWEEN: u64 = 1000;

/// Measures and prints.
///
/// # Errors
///
/// The measurement failed.
pub fn run(args: &TransactionsArgs) -> Result<ExitCode, Error> {
    args.json.as_deref().map_or(Ok(()), check_file)?;
    let (report, throughput) = on_own_thread(|| measure(args))?;
    let text = shown(&report, &throughput, args.details);
    deliver_any(report.into(), &text, args.json.as_deref())
}

fn measure(args: &TransactionsArgs) -> Result<(TransactionsReport, Throughput), Error> {
    let machine = Machine::read();
    let config = RigConfig {
        wait: Wait::Spin,
        behind: Behind::Exchange,
        lines: LineProtocol::Fix,
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
    let report = TransactionsReport {
        origin: Provenance::here(),
        machine,
        place: config.place().to_owned(),
        open: args.open,
        transactions: throughput.transactions,
        seconds: span / 1e9,
        per_ms: throughput.rows.iter().map(|(&a, &b)| (a, b)).collect(),
        client_share: run.work[0] as f64 / span,
        exchange_share: run.work[1] as f64 / span,
        taken,
        host_facts: None,
    };
    Ok((report, throughput))
}

/// The requests for `orders` orders, each of which is replaced and then cancelled. `first` is the number of the first
/// request.
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

/// The text of the screen; with `details` also the complete histogram.
fn shown(found: &TransactionsReport, throughput: &Throughput, details: bool) -> String {
    let mut text = format!(
        "bench transactions: {} orders, replaces and cancels through an OMS with\n  every control and its journal, and a \
         simulated exchange; spin;\n  {}\n",
        thousands(found.transactions),
        found.place
    );
    for sentence in sentences(found) {
        // Writing to a string cannot fail.
        let _ = paragraph(&sentence, "  ", &mut text);
    }
    text += &format!(
        "\n  {:<36}{:>9}{:>8}{:>8}{:>8}{:>8}\n",
        "share of the milliseconds with", "total", "1-9", "10-15", "16-26", "27 on"
    );
    let shares = TRANSACTION_BANDS.map(|(least, most)| throughput.share(least, most));
    let mut row = |name: &str, seconds: f64, shares: &[f64]| {
        text += &format!("  {name:<36}{seconds:>8.3}s");
        for share in shares {
            text += &format!("{share:>7.2}%");
        }
        text += "\n";
    };
    row("fixwire", found.seconds, &shares);
    for published in TRANSACTIONS {
        row(published.system, published.seconds, &published.shares);
    }
    if details {
        text += &format!("\n{}\n", found.machine);
        // Writing to a string cannot fail.
        let _ = throughput.write(&mut text);
    } else {
        text += "  more: --details (how many milliseconds had each count), --json FILE\n";
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

    #[test]
    fn the_fewest_transactions_are_an_order_its_replace_and_its_cancel() {
        for (asked, counted) in [(3, 3), (30, 30), (32, 30)] {
            let (report, throughput) = measure(&TransactionsArgs {
                transactions: asked,
                open: 512,
                journal: None,
                details: false,
                json: None,
            })
            .unwrap();
            assert_eq!(report.transactions, counted);
            let text = shown(&report, &throughput, false);
            let head = format!("bench transactions: {counted} orders, replaces and cancels");
            assert!(text.starts_with(&head), "{text}");
        }
    }
}
