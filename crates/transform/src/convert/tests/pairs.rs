//! Each version's messages become valid messages of each other version.

use super::random::{Outcome, Way};
use super::*;

/// The versions that have messages.
pub const VERSIONS: [Version; 8] = [
    Version::Fix40,
    Version::Fix41,
    Version::Fix42,
    Version::Fix43,
    Version::Fix44,
    Version::Fix50,
    Version::Fix50Sp1,
    Version::Fix50Sp2,
];

/// Orders, executions, cancels, replaces, lists, status requests, allocations, quotes, market data, and their
/// responses.
const TYPES: [&str; 22] = [
    "P", "Q", "q", "r", "D", "8", "F", "G", "9", "E", "H", "J", "6", "R", "S", "Z", "i", "b", "V",
    "W", "X", "Y",
];

/// Required fields that messages to these versions can lack, as in docs/reference/conversion.md.
const LACKED: [(Version, Version, &str, &[Tag]); 19] = [
    // Messages that name an order only by OrderID.
    (Version::Fix40, Version::Fix50, "9 F G", &[41]),
    (Version::Fix40, Version::Fix50, "H", &[11]),
    // Fields of an allocation that FIX 5.0 SP1 does not require.
    (Version::Fix40, Version::Fix44, "J", &[6]),
    (Version::Fix42, Version::Fix44, "Z", &[117]),
    // Fields that FIX 4.4 and 4.3 do not require.
    (Version::Fix40, Version::Fix43, "P", &[75]),
    (Version::Fix40, Version::Fix42, "J", &[80]),
    (Version::Fix42, Version::Fix42, "Z", &[295]),
    (Version::Fix42, Version::Fix42, "W", &[270]),
    // Lists of several orders or of one without OrdType, requests for several securities.
    (Version::Fix40, Version::Fix41, "E", &[40, 67]),
    (Version::Fix40, Version::Fix41, "R", &[55]),
    // Fractional quantities.
    (Version::Fix40, Version::Fix41, "E J", &[38, 53]),
    (Version::Fix40, Version::Fix41, "8", &[14, 32, 38, 151]),
    // Fields that FIX 4.0 requires, and ids that are not numbers.
    (Version::Fix40, Version::Fix40, "D F G", &[38]),
    (Version::Fix40, Version::Fix40, "S", &[132]),
    (Version::Fix40, Version::Fix40, "6 8 J P", &[17, 23, 70]),
    (Version::Fix40, Version::Fix40, "J", &[11, 73, 78, 79]),
    (Version::Fix40, Version::Fix40, "Q", &[31, 32, 38]),
    // A DontKnowTrade without the ids of the trade.
    (Version::Fix42, Version::Fix50Sp2, "Q", &[17, 37]),
    // Executions of which FIX 4.0 has only the id.
    (Version::Fix41, Version::Fix50Sp2, "J", &[32]),
];

fn is_documented(to: Version, msg_type: &str, why: TransformFailure) -> bool {
    match why {
        // A partial cancel; options and futures.
        TransformFailure::Homeless(125) => msg_type == "F",
        TransformFailure::Homeless(200..=202 | 205 | 206) => to == Version::Fix40,
        // Fractional quantities.
        TransformFailure::Homeless(38 | 110 | 111) => to <= Version::Fix41,
        TransformFailure::Missing(tag) => LACKED.iter().any(|(from, until, types, tags)| {
            (*from..=*until).contains(&to)
                && types.split(' ').any(|one| one == msg_type)
                && tags.contains(&tag)
        }),
        _ => false,
    }
}

#[test]
fn every_version_says_what_each_other_one_can() {
    let mut built_in = BuiltInConversions::default();
    let each = cases(56 * 22 * 10) / (56 * 22);
    for (from, to) in pairs() {
        let mut way = Way::of(&mut built_in, from, to);
        for msg_type in TYPES {
            if way.from.message(msg_type.as_bytes()).is_some() {
                try_type(&mut way, (from, to), msg_type, each);
            }
        }
    }
}

/// Tries this number of messages of a type, and more until one has been converted.
fn try_type(way: &mut Way, (from, to): (Version, Version), msg_type: &str, each: u32) {
    let known = way.to.message(msg_type.as_bytes()).is_some();
    let mut converted = 0;
    for seed in 1..=each.max(500) {
        if seed > each && converted > 0 || !known && seed > 1 {
            break;
        }
        let random = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        // Messages of later versions are long, and most of their fields have no counterpart.
        let densest = if from <= Version::Fix42 { 60 } else { 30 };
        let outcome = way.try_one(msg_type, random, u64::from(seed) * 7 % densest);
        match outcome {
            Outcome::Converted => converted += 1,
            Outcome::NoMessage | Outcome::NoHome => {}
            Outcome::Refused(TransformFailure::MessageType) => assert!(!known),
            Outcome::Refused(why) => assert!(
                is_documented(to, msg_type, why),
                "{} to {}, {msg_type}: {why}",
                from.name(),
                to.name()
            ),
        }
    }
    // Random messages rarely have all fields that the oldest versions require, with integer quantities.
    for seed in 1..=500_u64 {
        if converted > 0 || !known {
            break;
        }
        let random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        converted += u32::from(way.try_plain(msg_type, random, seed % 8) == Outcome::Converted);
    }
    let names = (from.name(), to.name());
    assert!(converted > 0 || !known, "{names:?} {msg_type}");
}

/// All pairs of different versions.
fn pairs() -> impl Iterator<Item = (Version, Version)> {
    let all = VERSIONS
        .iter()
        .flat_map(|&from| VERSIONS.map(|to| (from, to)));
    all.filter(|(from, to)| from != to)
}
