//! The worlds of the twin a second time, with quantities of thousandths: all quantities of inputs, limits and lots are a
//! thousandth, and one unit is worth a thousand times as much. Then all that the OMS says must be the same but for its
//! quantities, which are exactly a thousandth, and the state must be the same in units of the instruments.

use super::{Dice, EACH, Twin, floors, ordered};
use crate::desk::{Desk, Input, Said, Setup};
use crate::model::line;
use crate::proof;

/// Inputs of a world.
const LENGTH: usize = 500;
/// Worlds: each combination of their settings.
const WORLDS: std::ops::RangeInclusive<u64> = 1..=60;

/// OrderQty, CumQty, LastQty, LeavesQty, BidSize, OfferSize, LegLastQty, and the tag that reduces an order.
const QUANTITIES: [u32; 8] = [38, 14, 32, 151, 134, 135, 1418, 9706];

/// A thousandth of a quantity, with the digits that it needs. One with a part, which no whole lot has, becomes one that
/// no thousandth is either.
fn thousandth(quantity: &str) -> String {
    if quantity.contains('.') {
        // More decimals than the symbol has, as in the world with whole quantities.
        return "0.0105".to_owned();
    }
    let Ok(units) = quantity.parse::<i128>() else {
        return "9999999999999999".to_owned();
    };
    let sign = if units < 0 { "-" } else { "" };
    let (whole, part) = (units.abs() / 1_000, units.abs() % 1_000);
    let text = format!("{sign}{whole}.{part:03}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn is_of_quantity(code: &str) -> bool {
    ["RC6", "RC9-quantity", "RC15"]
        .iter()
        .any(|it| code.starts_with(it))
}

fn setup(seed: u64) -> Setup {
    let (mut setup, _) = floors::floor(seed);
    for (name, text) in &mut setup.files {
        let rows = text.lines().enumerate().map(|(place, row)| {
            let mut cells: Vec<String> = row.split(',').map(str::to_owned).collect();
            match (*name, place) {
                ("instruments.csv", 0) => cells.push("quantity_decimals".to_owned()),
                ("instruments.csv", _) => {
                    cells[2] = thousandth(&cells[2]);
                    cells[3] += "000";
                    cells.push("3".to_owned());
                }
                ("limits.csv", _) if is_of_quantity(&cells[1]) => {
                    cells[2] = thousandth(&cells[2]);
                }
                _ => {}
            }
            cells.join(",") + "\n"
        });
        *text = rows.collect();
    }
    setup
}

/// Fields of a message, those of quantities with a thousandth.
fn fields(body: &str) -> String {
    let fields = body.split('|').map(|field| match field.split_once('=') {
        Some((tag, value)) if tag.parse().is_ok_and(|tag| QUANTITIES.contains(&tag)) => {
            format!("{tag}={}", thousandth(value))
        }
        _ => field.to_owned(),
    });
    fields.collect::<Vec<_>>().join("|")
}

fn command(text: &str) -> String {
    let words = text.split(' ').map(|word| match word.split_once('=') {
        Some((key, value)) if key == "quantity" || (is_of_quantity(key) && value != "none") => {
            format!("{key}={}", thousandth(value))
        }
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn message(said: &Said) -> Said {
    let fields = said.fields.iter().map(|(tag, value)| {
        let is_quantity = QUANTITIES.contains(tag);
        let value = match value.as_str() {
            value if is_quantity => thousandth(value),
            value => value.to_owned(),
        };
        (*tag, value)
    });
    Said {
        fields: fields.collect(),
        ..said.clone()
    }
}

/// All state but texts, limits and sums that are in whole units.
fn state(desk: &Desk) -> String {
    let is_in_units = |line: &&str| {
        let others = [
            "limit ",
            "limit of the file ",
            "temporary limit ",
            "oms settings=",
        ];
        let others_in = [
            " worth=",
            " decimals of quantities=",
            " reason value=",
            " reason limit=",
            " ours=",
            " of the venue=",
        ];
        let is_flow = line.starts_with("flow ") && line.contains(" quantity=");
        !is_flow
            && !others.iter().any(|front| line.starts_with(front))
            && !others_in.iter().any(|part| line.contains(part))
    };
    let lines = proof::state_lines(desk.state());
    let lines = lines.lines().filter(is_in_units);
    lines.collect::<Vec<_>>().join("\n")
}

fn world(seed: u64) -> usize {
    let (mut twin, mut small) = (Twin::new(seed), Desk::new(&setup(seed)));
    let mut dice = Dice::new(seed);
    let mut parts = 0;
    for at in 0..LENGTH {
        let asked = dice.input(&twin.model);
        let input = match &asked {
            Input::Command(text) if text.starts_with("settle") => {
                Input::Command(twin.settlement(text))
            }
            input => input.clone(),
        };
        let said = twin.desk.hear(&input);
        twin.model.hear(&asked);
        let input = match input {
            Input::Says(from, msg_type, body) => Input::Says(from, msg_type, fields(&body)),
            Input::Command(text) => Input::Command(command(&text)),
            other => other,
        };
        let in_parts = small.hear(&input);
        let names = &twin.model.world.names;
        let lines = |said: &[Said]| said.iter().map(|it| line(names[it.to], it)).collect();
        let wanted: Vec<Said> = said.iter().map(message).collect();
        let (said, wanted): (Vec<String>, Vec<String>) = (lines(&in_parts), lines(&wanted));
        assert_eq!(
            ordered(&said),
            ordered(&wanted),
            "seed {seed}, input {at}: {input:?}"
        );
        let quantities = in_parts.iter().filter_map(|it| it.get(38));
        parts += quantities.filter(|it| it.contains('.')).count();
        if at % EACH == EACH - 1 || at + 1 == LENGTH {
            proof::assert_same(&state(&twin.desk), &state(&small));
        }
    }
    parts
}

#[test]
fn thousandths_are_exact_everywhere() {
    let parts: usize = WORLDS.map(world).sum();
    assert!(parts > 10_000, "{parts} quantities with decimals");
}
