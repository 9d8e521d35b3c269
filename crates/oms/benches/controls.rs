//! What do the controls before a new order cost?
//!
//! Input: limit orders, all accepted but not stored: the timed part is the whole decision on a new order, from its
//! ClOrdID to its reservation. With the required controls at the firm, then with a limit
//! of every control at the firm and each account; first one account and symbol, then 10,000 accounts and
//! 2,000 symbols at random, in alternating rounds. 100,000 orders are open.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use fixwire_harness::Random;
use fixwire_oms::SessionNo;
use fixwire_oms::limits::RiskControl;
use fixwire_oms::{Core, Effect, NewOrder, OmsState, OrderEvent, OrderType, Side, TimeInForce};
use fixwire_protocol::Decimal;

const ROUNDS: usize = 9;
const CHECKS: usize = 200_000;
const OPEN: usize = 100_000;
const START: i64 = 1_787_319_000_000_000_000;
/// Between two orders, nanoseconds.
const GAP: i64 = 10_000;

fn main() {
    let mut benches = [
        Bench::new("required, 1 account, 1 symbol", false, 1, 1),
        Bench::new("all, 1 account, 1 symbol", true, 1, 1),
        Bench::new(
            "required, 10,000 accounts, 2,000 symbols",
            false,
            10_000,
            2_000,
        ),
        Bench::new("all, 10,000 accounts, 2,000 symbols", true, 10_000, 2_000),
    ];
    for _ in 0..ROUNDS {
        benches.iter_mut().for_each(Bench::round);
    }
    println!("ns an order, median of {ROUNDS} rounds");
    for bench in &mut benches {
        bench.nanos.sort_by(f64::total_cmp);
        println!("{:<42} {:>6.0}", bench.name, bench.nanos[ROUNDS / 2]);
    }
}

struct Bench {
    name: &'static str,
    core: Core,
    accounts: Vec<Name>,
    symbols: Vec<Name>,
    random: Random,
    now: i64,
    nanos: Vec<f64>,
}

impl Bench {
    fn new(name: &'static str, all: bool, accounts: usize, symbols: usize) -> Self {
        let mut bench = Self {
            name,
            core: Core::new(rules(all, accounts, symbols)),
            accounts: (0..accounts).map(|at| short('A', at)).collect(),
            symbols: (0..symbols).map(|at| short('S', at)).collect(),
            random: Random::new(42),
            now: START,
            nanos: Vec::new(),
        };
        let names = ["CLIENT".to_owned(), "LINE".to_owned()];
        let mut nowhere = |_: &OmsState, _: &OrderEvent<'_>| ();
        let done = bench
            .core
            .begin(START, 20_260_821, 1, &names, usize::MAX, &mut nowhere);
        assert!(done, "it began");
        bench.core.line_up(START, SessionNo::new(1), &mut nowhere);
        for number in 0..OPEN {
            let (account, symbol) = bench.place();
            let id = number.to_string();
            let new = order(&bench.accounts[account], &bench.symbols[symbol], &id);
            bench.now += GAP;
            bench.core.new_order(bench.now, &new, &mut nowhere);
        }
        assert_eq!(bench.core.state().orders().len(), OPEN, "each was taken");
        bench
    }

    /// An account and a symbol.
    fn place(&mut self) -> (usize, usize) {
        // The same order of places in each run.
        let account = self.random.place(self.accounts.len());
        (account, self.random.place(self.symbols.len()))
    }

    fn round(&mut self) {
        let places: Vec<_> = (0..CHECKS).map(|_| self.place()).collect();
        let start = Instant::now();
        for (account, symbol) in places {
            let new = order(&self.accounts[account], &self.symbols[symbol], "NEXT");
            let checked = self.core.check(self.now, black_box(&new));
            assert!(black_box(checked).is_ok(), "it may be taken");
        }
        self.nanos
            .push(start.elapsed().as_nanos() as f64 / CHECKS as f64);
    }
}

/// As in a message that was just read: near.
#[derive(Clone, Copy)]
struct Name([u8; 7], u8);

fn short(first: char, number: usize) -> Name {
    let text = format!("{first}{number}");
    let mut name = Name([0; 7], text.len() as u8);
    name.0[..text.len()].copy_from_slice(text.as_bytes());
    name
}

impl Name {
    fn bytes(&self) -> &[u8] {
        &self.0[..usize::from(self.1)]
    }
}

fn order<'a>(account: &'a Name, symbol: &'a Name, id: &'a str) -> NewOrder<'a> {
    NewOrder {
        session: SessionNo::new(0),
        id: id.as_bytes(),
        account: account.bytes(),
        symbol: symbol.bytes(),
        side: Some(Side::Buy),
        kind: Some(OrderType::Limit),
        tif: Some(TimeInForce::Day),
        price: Decimal::new(1250, 2),
        stop: None,
        quantity: Decimal::from_int(100),
        until: None,
        effect: Some(Effect::Netting),
        is_located: false,
        own_number: b"",
        route: None,
        terms: fixwire_oms::Terms::NONE,
    }
}

fn rules(all: bool, accounts: usize, symbols: usize) -> fixwire_oms::rules::RiskRules {
    let mut text = "[oms]\nday_begins = '00:00 UTC'\ninstruments = 'instruments'\nlimits = 'limits'\nself_trade = 'reject'\norders = 200000\n\
                    [[account]]\nname = 'DESK'\n"
        .to_owned();
    let mut limits = "scope,control,limit\n".to_owned();
    let mut limit = |scope: &str| {
        for control in RiskControl::ALL.iter().filter(|it| all || it.is_required()) {
            let most = if control.code() == "RC8" {
                50
            } else {
                1_000_000_000_000_u64
            };
            let _ = writeln!(limits, "{scope},{},{most}", control.code());
        }
    };
    limit("firm");
    for account in 0..accounts {
        let _ = write!(text, "[[account]]\nname = 'A{account}'\nparent = 'DESK'\n");
        if all {
            limit(&format!("account=A{account}"));
        }
    }
    text += "[[user]]\nsession = 'CLIENT'\naccounts = ['A*']\nmay = ['new', 'cancel']\n\
             [[line_group]]\nname = 'VENUE'\nlines = ['LINE']\n[[route]]\nsymbols = ['*']\nto = 'VENUE'\n";
    let mut instruments = "symbol,tick,reference\n".to_owned();
    for symbol in 0..symbols {
        let _ = writeln!(instruments, "S{symbol},0.01,12.50");
    }
    let mut open = |file: &str| {
        Ok(match file {
            "instruments" => instruments.clone(),
            _ => limits.clone(),
        })
    };
    fixwire_oms::load::load(&text, &["CLIENT", "LINE"], &mut open).expect("rules")
}
