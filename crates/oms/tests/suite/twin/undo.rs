//! The worlds of the twin with fills that operators bust and correct at random moments, also those of former days:
//! orders, positions, limits and reports must be those of the slow model.

use fixwire_harness::Random;

use super::{Dice, EACH, Twin};
use crate::desk::Input;
use crate::model::Model;

/// Inputs of a world.
const LENGTH: usize = 500;
/// Worlds.
const WORLDS: std::ops::RangeInclusive<u64> = 1..=60;

/// How often the OMS did what.
#[derive(Debug, Default)]
struct Counts {
    busted: usize,
    corrected: usize,
    refused: usize,
    of_former_days: usize,
    broken: usize,
}

/// A random command about a fill of the model, and whether the fill is of a former day.
fn command(random: &mut Random, model: &Model) -> Option<(String, bool)> {
    let all = model.orders.values();
    let fills = all.flat_map(|order| order.fills.iter().map(move |fill| (order, fill)));
    let fills: Vec<_> = fills.filter(|(_, it)| !it.exec.contains(' ')).collect();
    let mut below = |most: usize| random.below(most as u64) as usize;
    if fills.is_empty() {
        return None;
    }
    let (order, fill) = fills[below(fills.len())];
    let name = format!("{}/{}", order.number, fill.exec);
    let text = if below(2) == 0 {
        format!("bust fill={name}")
    } else {
        let quantity = match below(3) {
            0 => fill.quantity,
            1 => 1,
            _ => fill.quantity + 10,
        };
        let price = below(3) + 99;
        format!("correct fill={name} quantity={quantity} price={price}")
    };
    Some((text, fill.day < model.day))
}

fn world(seed: u64, counts: &mut Counts) {
    let (mut twin, mut dice) = (Twin::new(seed), Dice::new(seed));
    let mut random = Random::new(seed);
    for at in 0..LENGTH {
        let undo = match random.below(12) {
            0 => command(&mut random, &twin.model),
            // The next day, from the notes or from a checkpoint.
            1 if random.below(6) == 0 => {
                let input = Input::Restart(1, random.below(2) == 0);
                if twin.hear(&input).is_err() {
                    counts.broken += 1;
                    return;
                }
                continue;
            }
            _ => None,
        };
        let input = match &undo {
            Some((text, _)) => Input::Command(text.clone()),
            None => dice.input(&twin.model),
        };
        // What another input has left behind a break is not of this one.
        if undo.is_some() && twin.compare().is_err() && twin.has_breaks() {
            counts.broken += 1;
            return;
        }
        let mut heard = twin.hear(&input);
        if heard.is_ok() && (undo.is_some() || at % EACH == EACH - 1) {
            heard = twin.compare();
        }
        if let Err(why) = heard {
            // The model knows breaks, but not each way in which several of them follow one another.
            assert!(
                twin.has_breaks() && undo.is_none(),
                "seed {seed}, input {at}: {input:?}: {why}; answer {}",
                twin.desk.answer()
            );
            counts.broken += 1;
            return;
        }
        if let Some((_, is_of_former_day)) = undo {
            let answer = twin.desk.answer();
            let is_refused = answer.starts_with("Err");
            counts.refused += usize::from(is_refused);
            counts.busted += usize::from(answer.contains(": is busted (was"));
            counts.corrected +=
                usize::from(answer.contains(" (was ") && !answer.contains(": is busted"));
            counts.of_former_days += usize::from(is_of_former_day && !is_refused);
        }
    }
}

#[test]
fn fills_that_operators_bust_and_correct_are_those_of_the_slow_model() {
    let mut counts = Counts::default();
    for seed in WORLDS {
        world(seed, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.busted > 100 && counts.corrected > 50, "{counts:?}");
    assert!(
        counts.refused > 50 && counts.of_former_days > 20,
        "{counts:?}"
    );
    assert!(counts.broken < 10, "{counts:?}");
}
