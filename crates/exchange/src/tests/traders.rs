//! A trader makes a market, the same for the same seed, and goes on after a restart.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_book::Side;
use fixwire_harness::worlds::assert_same;
use fixwire_protocol::Application;

use super::desk::{A, B, Desk, Said, config, decimal, exchange};
use super::spreads::spreads;
use super::state_lines::kept_lines;
use crate::{ConfigTable, ExchangeConfig, TraderConfig};

fn trader() -> TraderConfig {
    TraderConfig {
        symbols: ["VOD".to_string()].into(),
        seed: 7,
        price: Some(decimal("10")),
        ..TraderConfig::default()
    }
}

fn settings(trader: TraderConfig) -> ExchangeConfig {
    ExchangeConfig {
        traders: [trader].into(),
        ..config()
    }
}

/// Lets this number of milliseconds pass; what was sent.
fn run(desk: &mut Desk, millis: u64) -> Vec<Said> {
    let mut said = Vec::new();
    for _ in 0..millis / 20 {
        desk.sleep(20);
        said.extend(desk.pass().1);
    }
    said
}

/// The market, without what depends on the time of day.
fn book(desk: &Desk) -> String {
    desk.query("book VOD").unwrap()
}

#[test]
fn a_trader_quotes_both_sides_moves_and_fills_orders_in_parts() {
    let mut desk = Desk::of(settings(trader()));
    desk.pass();
    let first = book(&desk);
    assert_eq!(first.matches("\nbuy ").count(), 3, "{first}");
    assert_eq!(first.matches("\nsell ").count(), 3, "{first}");
    // A day of a member: an order that is larger than quotes, and one that waits for the price.
    let said = desk.say(A, "D 11=1|55=VOD|54=1|38=200|40=2|44=10.10|59=3");
    assert!(said.len() > 2, "several fills: {said:?}");
    said[1].has("150=F|39=1");
    desk.say(B, "D 11=2|55=VOD|54=1|38=100000|40=2|44=9.99");
    let (mut prices, mut fills) = (BTreeSet::new(), 0);
    for _ in 0..400 {
        let said = run(&mut desk, 200);
        fills += said.iter().filter(|it| it.fields()[&150] == "F").count();
        let book = &desk.exchange.market.instruments[0].book;
        let best = |side| book.depth(side).next().and_then(|it| it.price);
        let (bid, offer) = (best(Side::Buy).unwrap(), best(Side::Sell));
        // All offers may have traded, with the large order or in a step.
        assert!(offer.is_none_or(|offer| bid < offer));
        prices.insert(book.last());
        assert_eq!(desk.exchange.check(), Ok(()));
    }
    assert!(prices.len() > 5 && fills > 10, "{prices:?} {fills}");
    // Its orders are no member's.
    assert_eq!(desk.query("orders").unwrap().lines().count(), 2);
    let day = desk.exchange.market.instruments[0].day.unwrap();
    assert!(day.low < day.high && day.volume > 1_000, "{day:?}");
}

#[test]
fn the_same_seed_makes_the_same_market_and_a_restart_goes_on() {
    let play = |seed| {
        let settings = settings(TraderConfig { seed, ..trader() });
        let mut desk = Desk::of(settings.clone());
        run(&mut desk, 10_000);
        desk.say(A, "D 11=1|55=VOD|54=1|38=30|40=2|44=9.98");
        run(&mut desk, 10_000);
        (desk, settings)
    };
    let ((one, settings), (two, _), (other, _)) = (play(1), play(1), play(2));
    assert_eq!(kept_lines(&one.exchange), kept_lines(&two.exchange));
    assert_ne!(book(&one), book(&other));
    let lines = kept_lines(&one.exchange);
    let again = one.again(settings.clone());
    assert_same(&kept_lines(&again), &lines, "after a restart");
    assert_eq!(again.check(), Ok(()));
    let mut state = Vec::new();
    one.ledger()
        .write(&mut |bytes| state.extend_from_slice(bytes));
    let mut restored = exchange(settings);
    restored.on_checkpoint(1, &state).unwrap();
    assert_same(&kept_lines(&restored), &lines, "after a checkpoint");
    assert_eq!(restored.check(), Ok(()));
    // Both go on in the same way, and late: with one step for all that were missed.
    let (mut one, mut two) = (one, two);
    two.exchange = restored;
    for desk in [&mut one, &mut two] {
        desk.sleep(60_000);
        let before = desk.notes.len();
        desk.pass();
        assert_eq!(desk.notes.len(), before + 1);
        run(desk, 5_000);
    }
    assert_same(
        &kept_lines(&two.exchange),
        &kept_lines(&one.exchange),
        "later",
    );
}

#[test]
fn changed_settings_are_noted_and_a_trader_leaves_with_its_quotes() {
    let quiet = TraderConfig {
        trades: 0,
        ..trader()
    };
    let mut desk = Desk::of(settings(quiet.clone()));
    run(&mut desk, 5_000);
    desk.say(A, "D 11=1|55=VOD|54=1|38=30|40=2|44=9");
    let restart = |desk: &mut Desk, settings: ExchangeConfig| {
        desk.exchange = desk.again(settings);
        run(desk, 1_000);
        assert_eq!(desk.exchange.check(), Ok(()));
    };
    let wide = TraderConfig {
        spread: Some(decimal("0.10")),
        levels: 1,
        ..quiet.clone()
    };
    restart(&mut desk, settings(wide));
    let rows = book(&desk);
    assert_eq!(rows.matches("\nsell ").count(), 1, "{rows}");
    let market = &desk.exchange.market;
    let trader = &market.traders[&0];
    let best = |side| market.instruments[0].book.depth(side).next().unwrap().price;
    assert_eq!(best(Side::Buy), Some(trader.bid));
    assert_eq!(best(Side::Sell), Some(trader.bid + 10));
    restart(&mut desk, config());
    assert!(desk.exchange.market.traders.is_empty());
    assert_eq!(book(&desk).lines().count(), 2, "{}", book(&desk));
    // An instrument with another tick begins again.
    let mut other = settings(quiet.clone());
    other.instruments[0].tick = decimal("0.05");
    restart(&mut desk, settings(quiet.clone()));
    restart(&mut desk, other);
    let rows = book(&desk);
    assert_eq!(rows.matches("\nbuy ").count(), 3, "{rows}");
}

#[test]
fn a_trader_waits_while_nobody_trades() {
    let mut desk = Desk::of(settings(trader()));
    run(&mut desk, 2_000);
    desk.command("state closed VOD").0.unwrap();
    assert_eq!(book(&desk).lines().count(), 1, "its quotes expire");
    run(&mut desk, 5_000);
    assert_eq!(book(&desk).lines().count(), 1);
    desk.command("state auction VOD").0.unwrap();
    let last = desk.exchange.market.instruments[0].book.last();
    run(&mut desk, 5_000);
    assert!(book(&desk).lines().count() > 4, "it quotes in the call");
    assert_eq!(desk.exchange.market.instruments[0].book.last(), last);
    desk.command("state continuous VOD").0.unwrap();
    run(&mut desk, 20_000);
    assert_ne!(desk.exchange.market.instruments[0].day, None);
}

#[test]
fn mistakes_of_a_trader_are_named_with_their_keys() {
    let with = |change: &dyn Fn(&mut TraderConfig)| {
        let mut one = trader();
        change(&mut one);
        let mut settings = settings(one);
        settings.instruments.extend(spreads().instruments);
        settings
    };
    let found = |settings: &ExchangeConfig| {
        let problems = settings.problems().into_iter();
        problems
            .map(|it| (it.table, format!("{}: {}", it.key, it.what)))
            .collect::<Vec<_>>()
    };
    assert_eq!(found(&with(&|_| {})), []);
    let at = |what: &str| (ConfigTable::Trader(0), what.to_string());
    type Change = fn(&mut TraderConfig);
    let cases: [(Change, &str); 12] = [
        (
            |it| it.symbols = ["XYZ".into()].into(),
            "symbols: unknown instrument XYZ: add an [[instrument]], or remove it",
        ),
        (
            |it| it.symbols = ["FLY".into()].into(),
            "symbols: FLY is a spread: a trader quotes instruments without legs",
        ),
        (
            |it| it.price = None,
            "price: VOD has no reference: give the trader a price",
        ),
        (
            |it| it.price = Some(decimal("10.001")),
            "price: price is not a multiple of the tick of VOD",
        ),
        (
            |it| it.price = Some(decimal("-1")),
            "price: the quotes for VOD would be below zero or outside its price band: change price, spread or levels",
        ),
        (
            |it| it.price = Some(decimal("20")),
            "price: the quotes for VOD would be below zero or outside its price band: change price, spread or levels",
        ),
        (
            |it| it.spread = Some(decimal("0")),
            "spread: spread must be from 1 to 1000000000 ticks of VOD",
        ),
        (
            |it| it.size = Some(decimal("0.5")),
            "size: size is not a multiple of the lot of VOD",
        ),
        (
            |it| it.volatility = Some(decimal("-0.01")),
            "volatility: volatility must be from 0 to 1000000000 ticks of VOD",
        ),
        (
            |it| it.levels = 21,
            "levels: levels is 21: give a number from 1 to 20",
        ),
        (
            |it| it.rate = 0,
            "rate: rate is 0: give a number from 1 to 1000",
        ),
        (
            |it| it.trades = 101,
            "trades: trades is 101: give a number from 0 to 100",
        ),
    ];
    for (change, what) in cases {
        assert_eq!(found(&with(&change)), [at(what)]);
    }
    let mut twice = with(&|_| {});
    twice.traders.push(trader());
    let (table, what) = found(&twice).remove(0);
    assert_eq!(table, ConfigTable::Trader(1));
    assert_eq!(
        what,
        "symbols: VOD has two traders: remove it from one of them"
    );
}
