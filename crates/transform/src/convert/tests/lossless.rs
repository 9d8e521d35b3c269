//! Messages within the lossless subset come back unchanged.

use fixwire_harness::Random;
use proptest::prelude::*;

use super::generator::{Allowed, Generator};
use super::*;

const TYPES: [&str; 18] = [
    "D", "8", "G", "F", "H", "J", "E", "R", "S", "Z", "i", "W", "X", "Y", "B", "C", "3", "j",
];

/// Whether a field is in the lossless subset of docs/reference/conversion.md; `before` are the fields before it in
/// its message or entry.
fn is_lossless(tag: Tag, value: Option<&[u8]>, before: &[u8]) -> bool {
    let has = |tag: Tag| value_of(before, tag);
    let is = |tag: Tag, values: &[&[u8]]| has(tag).is_some_and(|value| values.contains(&value));
    // Orders and reports, for which FIX 4.4 has all fields that OrdType and ExecInst become.
    let is_order = has(11).is_some() || has(20).is_some();
    if let Some(value) = value {
        return is_lossless_value(tag, value, before);
    }
    match tag {
        105 | 160 | 172 | 377 | 387 | 399 | 401 => false,
        205 => has(200).is_some_and(|month| month.len() == 6),
        314 => has(313).is_some_and(|month| month.len() == 6),
        440 => has(439).is_some(),
        370 => has(115).is_some(),
        47 => has(20).is_some(),
        204 => !is(54, &[b"6"]),
        59 => !(is_order && is(40, &[b"5", b"B"])),
        _ => true,
    }
}

fn is_lossless_value(tag: Tag, value: &[u8], before: &[u8]) -> bool {
    let is = |tag: Tag, values: &[&[u8]]| {
        value_of(before, tag).is_some_and(|value| values.contains(&value))
    };
    let is_order = value_of(before, 11).or(value_of(before, 20)).is_some();
    let zero = value.iter().all(|byte| b"-.0".contains(byte));
    match tag {
        18 => !value.contains(&b'T') || is_order && !value.contains(&b'R'),
        39 if !is(20, &[b"0"]) => Some(value) == value_of(before, 150),
        39 => match value {
            b"5" => is(150, &[b"5"]),
            b"0" => !is(150, &[b"5"]),
            _ => true,
        },
        14 if is(39, &[b"5"]) => zero,
        151 if is(20, &[b"0"]) && is(150, &[b"1", b"2"]) => zero == is(150, &[b"2"]),
        150 => value != b"5" || is(20, &[b"0"]),
        40 => match value {
            b"A" => false,
            b"5" | b"B" | b"C" | b"F" | b"H" => is_order,
            _ => true,
        },
        45 => !value.starts_with(b"-"),
        47 => is(54, &[b"6"]) == b"BEFHLXZ".contains(&value[0]),
        71 => !matches!(value, b"4" | b"5"),
        // Days that every month has.
        205 | 314 => !matches!(value, b"29" | b"30" | b"31"),
        167 => ![
            "?", "FHA", "FHL", "FN", "GN", "GOVT", "MUNI", "RP", "RVRP", "SL", "ZOO",
        ]
        .iter()
        .any(|code| code.as_bytes() == value),
        394 => matches!(value, b"1" | b"2" | b"3"),
        // Shift_JIS would come back as SHIFT_JIS.
        347 => value != b"Shift_JIS",
        _ => true,
    }
}

/// The value of a field.
fn value_of(fields: &[u8], tag: Tag) -> Option<&[u8]> {
    let name = format!("{tag}=");
    let mut fields = fields.split(|&byte| byte == 1);
    fields.find_map(|field| field.strip_prefix(name.as_bytes()))
}

#[test]
fn messages_of_the_lossless_subset_come_back_as_they_were() {
    come_back(Version::Fix42, Version::Fix44, &TYPES, is_lossless);
}

#[test]
fn messages_of_fix_4_0_come_back_from_4_1() {
    let types = [
        "D", "8", "F", "G", "9", "E", "H", "6", "7", "K", "L", "M", "P", "Q", "R", "S",
    ];
    come_back(Version::Fix40, Version::Fix41, &types, |tag, value, _| {
        match (tag, value) {
            // A partial cancel; fees and the amount in an execution report.
            (125, Some(value)) => value == b"F",
            (97 | 118 | 136, _) => false,
            _ => true,
        }
    });
}

#[test]
fn messages_of_fix_4_1_come_back_from_4_2() {
    let types = [
        "D", "8", "F", "G", "9", "E", "H", "J", "6", "7", "K", "L", "M", "P", "R", "S", "B", "C",
    ];
    come_back(Version::Fix41, Version::Fix42, &types, |tag, _, _| {
        !matches!(tag, 24 | 105 | 206)
    });
}

#[test]
fn messages_of_fix_4_3_come_back_from_4_4() {
    let types = [
        "D", "8", "F", "G", "9", "H", "R", "S", "V", "W", "X", "Y", "i", "Z",
    ];
    come_back(
        Version::Fix43,
        Version::Fix44,
        &types,
        |tag, value, _| match (tag, value) {
            (47 | 118 | 158 | 159 | 232 | 370 | 387 | 449 | 450 | 582, _) => false,
            (39, Some(value)) => value != b"5",
            (150, Some(value)) => !matches!(value, b"1" | b"2"),
            (40, Some(value)) => !matches!(value, b"5" | b"A" | b"B" | b"C" | b"F" | b"H"),
            (63, Some(value)) => value != b"A",
            (103, Some(value)) => value != b"12",
            (167, Some(value)) => !matches!(value, b"RP" | b"RVRP" | b"?" | b"POOL"),
            (235, Some(value)) => !matches!(value, b"LONGEST" | b"SHORTEST" | b"AVGLIFE"),
            (347, Some(value)) => value != b"Shift_JIS",
            (465, Some(value)) => matches!(value, b"1" | b"6"),
            _ => true,
        },
    );
}

#[test]
fn messages_of_fix_5_0_come_back_from_its_last_service_pack() {
    let types = [
        "D", "8", "F", "G", "9", "H", "J", "R", "S", "V", "W", "X", "Y", "i", "Z",
    ];
    come_back(
        Version::Fix50,
        Version::Fix50Sp2,
        &types,
        |tag, value, _| match (tag, value) {
            (276 | 336 | 539 | 566 | 574 | 625 | 1048 | 1094, _) => false,
            (167, Some(value)) => value != b"?",
            _ => true,
        },
    );
}

#[test]
fn messages_of_fix_5_0_sp1_come_back_from_the_next() {
    let types = [
        "D", "8", "F", "G", "9", "H", "J", "R", "S", "V", "W", "X", "Y", "i", "Z",
    ];
    come_back(Version::Fix50Sp1, Version::Fix50Sp2, &types, |tag, _, _| {
        !matches!(tag, 276 | 1048)
    });
}

/// Random messages of these types, with fields that `allowed` allows, are unchanged after conversion and back.
fn come_back(old: Version, new: Version, types: &[&str], allowed: Allowed) {
    let dictionary = dictionary(old);
    let count = if old == Version::Fix42 { 10_000 } else { 1_500 };
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: cases(count),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let ways = [built_in(old, new), built_in(new, old)];
    let ways = std::cell::RefCell::new(ways);
    let densest = if old > Version::Fix44 { 20u64 } else { 60 };
    let input = (any::<u64>(), 0..densest, 0..types.len());
    let (tried, none) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let outcome = runner.run(&input, |(seed, density, which)| {
        tried.set(tried.get() + 1);
        let mut generator = Generator {
            dictionary: &dictionary,
            random: Random::xorshift(seed | 1),
            density,
            allowed,
            always: Vec::new(),
        };
        let fields = generator.message(types[which]);
        let message = whole(old, types[which], &fields);
        if validate(&dictionary, &message).is_err() {
            none.set(none.get() + 1);
            return Ok(());
        }
        let mut draft = drafted(&message);
        for conversion in &mut *ways.borrow_mut() {
            let mut losses = conversion.losses();
            prop_assert_eq!(conversion.convert(&mut draft, &mut losses), Ok(()));
            // Fields that only the newer version requires are lost on the way back.
            if old == Version::Fix42 {
                let lost: Vec<_> = losses.iter().collect();
                prop_assert_eq!(lost, [], "{}", readable(&fields));
            }
        }
        prop_assert_eq!(readable(&written(&mut draft)), readable(&fields));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let (tried, none) = (tried.get(), none.get());
    let said = format!("{none} of {tried} were no valid messages");
    assert!(none * 10 < tried, "{said}");
    std::println!("{} by way of {}: {said}", old.name(), new.name());
}
