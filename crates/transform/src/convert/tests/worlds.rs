//! Random messages of each version, converted to each other version: results, lost fields and errors must match
//! `worlds.txt`; see `fixwire_harness::worlds`.

use fixwire_harness::Random;
use fixwire_harness::worlds::{self, WorldRecord, shown};

use super::generator::Generator;
use super::pairs::VERSIONS;
use super::random::{COVERED, Way, sensible};
use super::*;

/// The file of hashes.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/worlds.txt");

/// Converts a message of each type; each message has more optional fields than the one before.
fn play(way: &mut Way, world: &mut WorldRecord) {
    let mut losses = way.conversion.losses();
    let mut number = 0;
    for msg_type in COVERED {
        if way.from.message(msg_type.as_bytes()).is_none() {
            continue;
        }
        for density in [0, 20, 50] {
            number += 1;
            let mut generator = Generator {
                dictionary: &way.from,
                random: Random::xorshift(number * 0x9E37_79B9 + 1),
                density,
                allowed: sensible,
                always: Vec::new(),
            };
            let fields = generator.message(msg_type);
            let before = whole(way.versions.0, msg_type, &fields);
            world.input(&shown(&before));
            let mut draft = drafted(&before);
            match way.conversion.convert(&mut draft, &mut losses) {
                Ok(()) => {
                    let msg_type = shown(draft.msg_type());
                    world.output(format_args!(
                        "35={msg_type}|{}",
                        shown(&written(&mut draft))
                    ));
                }
                Err(why) => world.output(format_args!("error: {why}")),
            }
            world.state(|| {
                let lost = losses
                    .iter()
                    .map(|(tag, count)| format!("lost {tag}={count}"));
                lost.chain([format!("lost others={}", losses.others())])
                    .collect()
            });
        }
    }
}

#[test]
fn messages_are_converted_as_before() {
    let mut built_in = BuiltInConversions::default();
    let mut played = Vec::new();
    for from in VERSIONS {
        for to in VERSIONS.into_iter().filter(|to| *to != from) {
            let name = |version: Version| format!("{version:?}").to_lowercase();
            let mut world = WorldRecord::new(format!("convert/{}-{}", name(from), name(to)));
            play(&mut Way::of(&mut built_in, from, to), &mut world);
            played.push(world);
        }
    }
    worlds::compare(FILE, "convert", &played);
}
