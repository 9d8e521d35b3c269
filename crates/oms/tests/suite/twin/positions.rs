//! The worlds of the twin with positions that operators set, change and load from files at random moments: the limits
//! and all that follows from positions must be those of the slow model.

use fixwire_harness::Random;

use super::{Dice, EACH, Twin};
use crate::desk::Input;

/// Inputs of a world.
const LENGTH: usize = 500;
/// Worlds.
const WORLDS: std::ops::RangeInclusive<u64> = 1..=60;

/// How often the OMS did what.
#[derive(Debug, Default)]
struct Counts {
    set: usize,
    loaded: usize,
    refused: usize,
    in_doubt: usize,
    again: usize,
    broken: usize,
}

/// A random command for positions.
fn command(random: &mut Random, files: &mut Vec<String>) -> String {
    let kind = random.below(8);
    let mut any = |of: &[&'static str]| of[random.below(of.len() as u64) as usize];
    let mut row = |is_total: bool| {
        let account = any(&["A1", "A1", "A2", "B1", "DESK"]);
        let symbol = any(&["XYZ", "XYZ", "ABC", "OLD1", "FUT", "NEAR", "NOREF"]);
        let lots = any(&["0", "10", "70", "300", "1500"]);
        let sign = if is_total { "" } else { any(&["", "", "-"]) };
        let quantity = format!("{sign}{lots}");
        // One row in a while is wrong.
        let symbol = if any(&["", "", "", "", "", "", "", "x"]).is_empty() {
            symbol
        } else {
            "CAL"
        };
        match any(&["long", "short"]) {
            "long" => (account, symbol, quantity, "0".to_owned()),
            _ => (account, symbol, "0".to_owned(), quantity),
        }
    };
    if kind < 4 {
        let is_total = kind == 0;
        let (account, symbol, long, short) = row(is_total);
        let signed = |quantity: &str| match quantity.starts_with('-') || is_total {
            true => quantity.to_owned(),
            false => format!("+{quantity}"),
        };
        let (long, short) = (signed(&long), signed(&short));
        let verb = if is_total { "set" } else { "adjust" };
        return format!(
            "position {verb} account={account} symbol={symbol} long={long} short={short}"
        );
    }
    if kind == 4
        && let Some(file) = files.last()
    {
        return file.clone();
    }
    let is_total = kind > 5;
    let rows: Vec<String> = (0..3)
        .map(|_| {
            let (account, symbol, long, short) = row(is_total);
            format!("{account} {symbol} {long} {short}")
        })
        .collect();
    let kind = if is_total { "totals" } else { "deltas" };
    let text = format!("load {kind} file=f{}.csv;{}", files.len(), rows.join(";"));
    files.push(text.clone());
    text
}

fn world(seed: u64, counts: &mut Counts) {
    let (mut twin, mut dice) = (Twin::new(seed), Dice::new(seed));
    let mut random = Random::new(seed);
    let mut files = Vec::new();
    for at in 0..LENGTH {
        let is_position = random.below(12) == 0;
        let input = match is_position {
            true => Input::Command(command(&mut random, &mut files)),
            false => dice.input(&twin.model),
        };
        let mut heard = twin.hear(&input);
        if heard.is_ok() && (is_position || at % EACH == EACH - 1) {
            heard = twin.compare();
        }
        if let Err(why) = heard {
            // The model knows breaks, but not each way in which several of them follow one another.
            assert!(
                twin.has_breaks() && !is_position,
                "seed {seed}, input {at}: {input:?}: {why}; answer {}",
                twin.desk.answer()
            );
            counts.broken += 1;
            return;
        }
        if is_position {
            let answer = twin.desk.answer();
            counts.refused += usize::from(answer.starts_with("Err"));
            counts.in_doubt += usize::from(answer.contains("in doubt"));
            counts.again += usize::from(answer.contains("loaded already"));
            counts.set += usize::from(answer.contains(" (was ") && !answer.contains(".csv"));
            counts.loaded += usize::from(answer.contains("positions changed"));
        }
    }
}

#[test]
fn positions_that_operators_set_are_those_of_the_slow_model() {
    let mut counts = Counts::default();
    for seed in WORLDS {
        world(seed, &mut counts);
    }
    println!("{counts:?}");
    let Counts {
        set,
        loaded,
        refused,
        in_doubt,
        again,
        broken,
    } = counts;
    assert!(
        set > 200 && loaded > 100 && refused > 100,
        "{set} {loaded} {refused}"
    );
    assert!(
        in_doubt > 20 && again > 5 && broken < 10,
        "{in_doubt} {again} {broken}"
    );
}
