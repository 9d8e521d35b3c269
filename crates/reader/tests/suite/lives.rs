//! The history found for an order is the true one, whatever happened to it, through a gateway that rewrites ids.
//!
//! `FIXWIRE_LIVES=100000` sets the number of orders; `FIXWIRE_SEED` is the seed of the first world.

use std::collections::HashMap;
use std::path::Path;

use fixwire_random::Random;
use fixwire_reader::{LogPlace, LogReader, LogStep, OrderSearch, OrderStep, ReadOptions};

#[path = "lives/generator.rs"]
mod generator;
#[path = "lives/world.rs"]
mod world;

use generator::{Lives, OrderTruth};

/// Orders of a world.
const ORDERS: usize = 60;

/// An order with the OrderID and ClOrdID of one from the day before, next to a request that was rejected because of its
/// ClOrdID.
const FOUND: [u64; 1] = [1065];

fn number_of(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(default, |text| text.parse().expect("a number"))
}

/// The orders with an id, each with its messages.
fn found(folder: &Path, id: &str) -> Vec<Vec<String>> {
    let mut search = OrderSearch::new(id);
    let options = ReadOptions {
        dequeued: true,
        records: true,
        ..ReadOptions::default()
    };
    loop {
        search.begin();
        let mut reader = LogReader::open(&[folder.to_owned()], options.clone()).unwrap();
        while let LogStep::Message(entry) = reader.next_step() {
            search.look(&entry);
        }
        assert_eq!(reader.take_left_out(), []);
        if !search.finish() {
            return search
                .lives()
                .map(|life| life.steps.into_iter().map(shown).collect())
                .collect();
        }
    }
}

fn shown(step: &OrderStep) -> String {
    let LogPlace::Journal { segment, offset } = step.place else {
        panic!("it is in a journal");
    };
    let time = step.time.map(|time| time.0);
    let text = String::from_utf8_lossy(&step.bytes).replace('\x01', "|");
    format!("{segment}:{offset} {time:?} {} {text}", step.mark)
}

/// The orders with an id, as generated.
fn expected(truths: &[OrderTruth], id: &str) -> Vec<Vec<String>> {
    let with_id = truths.iter().filter(|truth| truth.ids.contains(id));
    let said = with_id.map(|truth| {
        let said = truth.said.iter().map(|said| {
            let text = String::from_utf8_lossy(&said.bytes).replace('\x01', "|");
            let (segment, offset) = said.place;
            format!(
                "{segment}:{offset} {:?} {} {text}",
                Some(said.time),
                said.mark
            )
        });
        said.collect()
    });
    said.collect()
}

/// Searches each order of a world by one of its ids; returns their number.
fn check(seed: u64, kinds: &mut HashMap<&'static str, u64>) -> usize {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("journal");
    let (truths, counted) = Lives::play(seed, ORDERS, &folder);
    for (kind, count) in counted {
        *kinds.entry(kind).or_default() += count;
    }
    let mut random = Random::new(!seed);
    for truth in &truths {
        let at = random.below(truth.ids.len() as u64) as usize;
        let id = truth.ids.iter().nth(at).expect("an order has an id");
        let (found, expected) = (found(&folder, id), expected(&truths, id));
        if found != expected {
            let whole = |lives: &[Vec<String>]| {
                let lives = lives.iter().map(|life| life.join("\n"));
                lives.collect::<Vec<_>>().join("\n\n")
            };
            panic!(
                "FIXWIRE_SEED={seed}, id {id}: found\n{}\n\nand the truth is\n{}",
                whole(&found),
                whole(&expected)
            );
        }
    }
    truths.len()
}

#[test]
fn the_life_of_an_order_is_the_true_one() {
    let wanted = number_of("FIXWIRE_LIVES", 1_200) as usize;
    let mut seed = number_of("FIXWIRE_SEED", 1);
    let mut kinds = HashMap::new();
    // Worlds that once revealed a fault.
    let mut asked: usize = FOUND.into_iter().map(|seed| check(seed, &mut kinds)).sum();
    while asked < wanted {
        asked += check(seed, &mut kinds);
        seed += 1;
    }
    let mut all: Vec<_> = kinds.iter().collect();
    all.sort_unstable();
    println!("{asked} lives, {all:?}");
    // Every kind of event has occurred.
    assert!(
        asked < 1_000 || all.len() == 13 && all.iter().all(|(_, count)| **count > 5),
        "{all:?}"
    );
}
