//! Random valid messages of one version become valid messages of the other.

use fixwire_harness::Random;
use fixwire_protocol::dictionary::Member;
use proptest::prelude::*;

use super::generator::{Allowed, Generator};
use super::*;

/// The message types that the built-in tables name.
pub const COVERED: [&str; 21] = [
    "D", "8", "G", "F", "9", "H", "J", "E", "3", "j", "R", "S", "Z", "b", "i", "V", "W", "X", "Y",
    "B", "C",
];

pub struct Way {
    pub from: Arc<Dictionary>,
    pub to: Arc<Dictionary>,
    pub versions: (Version, Version),
    pub conversion: Conversion,
}

impl Way {
    fn new(from: Version, to: Version) -> Self {
        Self::of(&mut BuiltInConversions::default(), from, to)
    }

    pub fn of(built_in: &mut BuiltInConversions, from: Version, to: Version) -> Self {
        let conversion = built_in.conversion(from, to).unwrap();
        let links = &conversion.links;
        Self {
            from: links[0].from.clone(),
            to: links[links.len() - 1].to.clone(),
            versions: (from, to),
            conversion,
        }
    }

    /// Converts a random message; returns the error in the result.
    pub fn try_one(&mut self, msg_type: &str, seed: u64, density: u64) -> Outcome {
        self.try_with(msg_type, (seed, density), sensible, Vec::new())
    }

    /// Converts a random message that has every field that the other version requires, with values of the oldest
    /// version.
    pub fn try_plain(&mut self, msg_type: &str, seed: u64, density: u64) -> Outcome {
        let mut always = Vec::new();
        let message = self.to.message(msg_type.as_bytes());
        let members = message.map_or(&[][..], |message| message.members());
        required(members, &mut always);
        self.try_with(msg_type, (seed, density), plain, always)
    }

    fn try_with(
        &mut self,
        msg_type: &str,
        (seed, density): (u64, u64),
        allowed: Allowed,
        always: Vec<Tag>,
    ) -> Outcome {
        let mut generator = Generator {
            dictionary: &self.from,
            random: Random::xorshift(seed | 1),
            density,
            allowed,
            always,
        };
        let fields = generator.message(msg_type);
        let before = whole(self.versions.0, msg_type, &fields);
        if validate(&self.from, &before).is_err() {
            return Outcome::NoMessage;
        }
        let mut draft = drafted(&before);
        let mut losses = self.conversion.losses();
        if let Err(why) = self.conversion.convert(&mut draft, &mut losses) {
            assert_eq!(
                written(&mut draft),
                fields,
                "an error leaves the draft alone"
            );
            if let TransformFailure::Missing(tag) = why
                && self.has_value_without_home(tag, &before)
            {
                return Outcome::NoHome;
            }
            return Outcome::Refused(why);
        }
        let after = whole(self.versions.1, msg_type, &written(&mut draft));
        if let Err(fault) = validate(&self.to, &after) {
            let (before, after) = (readable(&before), readable(&after));
            panic!("{fault:?}\nbefore {before}\nafter  {after}");
        }
        Outcome::Converted
    }

    fn has_value_without_home(&self, tag: Tag, message: &[u8]) -> bool {
        let mut decoder = Decoder::with_capacity(4096);
        let message = decoder.decode(message);
        let known = self.to.field(tag).unwrap();
        let mut fields = message.fields().iter().filter(|field| field.tag == tag);
        fields.any(|field| !known.allows(message.value(*field)))
    }
}

/// Whether a value is allowed by the text of FIX 4.2, for fields whose values the dictionary does not list.
pub fn sensible(tag: Tag, value: Option<&[u8]>, _: &[u8]) -> bool {
    match (tag, value) {
        (394, Some(value)) => matches!(value, b"1" | b"2" | b"3"),
        (45, Some(value)) => !value.starts_with(b"-"),
        _ => true,
    }
}

/// Whether FIX 4.0 can express a value: integer quantities, numeric ids, no derivatives.
fn plain(tag: Tag, value: Option<&[u8]>, before: &[u8]) -> bool {
    let is_number = |value: &[u8]| value.iter().all(u8::is_ascii_digit);
    match (tag, value) {
        (110 | 111 | 125 | 200..=202 | 205 | 206, _) => false,
        (6 | 14 | 17 | 23 | 31 | 32 | 38 | 53 | 70 | 80 | 132..=135 | 151, Some(value)) => {
            is_number(value)
        }
        _ => sensible(tag, value, before),
    }
}

/// Adds the tags of the required fields, also in groups.
fn required(members: &[Member], tags: &mut Vec<Tag>) {
    for member in members.iter().filter(|member| member.required) {
        tags.push(member.tag);
        if let Some(group) = &member.group {
            required(group.members(), tags);
        }
    }
}

#[derive(Debug, PartialEq)]
pub enum Outcome {
    Converted,
    /// A required field has a value that the other version lacks.
    NoHome,
    Refused(TransformFailure),
    /// The generator made no valid message.
    NoMessage,
}

/// Tries messages of all covered types, with at most this percentage of optional fields; `judge` decides whether a
/// refusal is correct.
fn try_all(
    from: Version,
    to: Version,
    (count, densest): (u32, u64),
    judge: fn(&str, TransformFailure) -> bool,
) {
    let mut way = Way::new(from, to);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: cases(count),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let (mut tried, mut none) = (0, 0);
    let way = std::cell::RefCell::new((&mut way, &mut tried, &mut none));
    let input = (any::<u64>(), 0..=densest, 0..COVERED.len());
    let outcome = runner.run(&input, |(seed, density, which)| {
        let (way, tried, none) = &mut *way.borrow_mut();
        **tried += 1;
        match way.try_one(COVERED[which], seed, density) {
            Outcome::Converted => {}
            Outcome::NoHome => prop_assert!(way.versions.0 != Version::Fix42),
            Outcome::NoMessage => **none += 1,
            Outcome::Refused(why) => {
                prop_assert!(judge(COVERED[which], why), "{}: {why}", COVERED[which]);
            }
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let said = format!("{none} of {tried} were no valid messages");
    assert!(none * 10 < tried, "{said}");
    std::println!("{} to {}: {said}", from.name(), to.name());
}

#[test]
fn random_messages_of_4_2_become_valid_ones_of_4_4() {
    try_all(Version::Fix42, Version::Fix44, (20_000, 60), |_, _| false);
}

#[test]
fn random_messages_of_4_4_become_valid_ones_of_4_2_or_lack_what_that_requires() {
    try_all(
        Version::Fix44,
        Version::Fix42,
        (20_000, 60),
        |msg_type, why| {
            matches!(
                (msg_type, why),
                ("J", TransformFailure::Missing(80))
                    | ("W", TransformFailure::Missing(270))
                    | ("Z", TransformFailure::Missing(295))
            )
        },
    );
}

#[test]
fn random_messages_of_4_4_become_valid_ones_of_5_0_sp2() {
    try_all(Version::Fix44, Version::Fix50Sp2, (5_000, 40), |_, _| false);
}

#[test]
fn random_messages_of_5_0_sp2_become_valid_ones_of_4_4_or_lack_what_that_requires() {
    try_all(
        Version::Fix50Sp2,
        Version::Fix44,
        (5_000, 15),
        |msg_type, why| {
            matches!(
                (msg_type, why),
                ("9" | "F" | "G", TransformFailure::Missing(41))
                    | ("H", TransformFailure::Missing(11))
                    | ("J", TransformFailure::Missing(6 | 626))
                    | ("Z", TransformFailure::Missing(117))
            )
        },
    );
}

#[test]
fn messages_that_the_tables_do_not_speak_of_become_valid_or_lack_what_is_required() {
    for (from, to) in [
        (Version::Fix42, Version::Fix44),
        (Version::Fix44, Version::Fix42),
        (Version::Fix44, Version::Fix50Sp2),
    ] {
        let mut way = Way::new(from, to);
        let types: Vec<String> = (way.from.messages().iter())
            .map(|message| message.msg_type().into())
            .filter(|msg_type: &String| !COVERED.contains(&msg_type.as_str()))
            .collect();
        for (msg_type, seed) in types
            .iter()
            .flat_map(|name| (1u64..40).map(move |n| (name, n)))
        {
            let outcome = way.try_one(msg_type, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), seed);
            let known = way.to.message(msg_type.as_bytes()).is_some();
            match outcome {
                Outcome::Refused(TransformFailure::MessageType) => assert!(!known, "{msg_type}"),
                Outcome::Refused(TransformFailure::Missing(_)) => {}
                Outcome::NoMessage | Outcome::NoHome => {}
                Outcome::Converted => assert!(known),
                refused => panic!("{msg_type}: {refused:?}"),
            }
        }
    }
}
