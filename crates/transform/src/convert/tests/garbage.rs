//! No content of a message or a table causes a panic.

use fixwire_harness::Random;
use proptest::prelude::*;

use super::generator::Generator;
use super::*;

/// Tags that open groups, tags inside them, and others.
const TAGS: [Tag; 30] = [
    11, 18, 20, 39, 40, 46, 47, 54, 55, 73, 78, 79, 92, 109, 115, 136, 146, 150, 200, 205, 370,
    439, 440, 448, 452, 453, 541, 802, 4999, 9000,
];

fn field() -> impl Strategy<Value = (Tag, Vec<u8>)> {
    let tag = prop_oneof![proptest::sample::select(&TAGS[..]), any::<Tag>()];
    let value = prop_oneof![
        "[0-9]{0,3}",
        "[A-Z ]{0,4}",
        "2026(02|13)([0-9]{2})?",
        Just("D".into()),
    ];
    (tag, value.prop_map(String::into_bytes))
}

#[test]
fn no_message_makes_it_panic() {
    let mut ways = Vec::new();
    for (from, to, text) in TABLES {
        let moving = text.replace("homeless drop", "homeless tag 30000");
        for text in [text, &moving] {
            ways.push((from, dictionary(from), Conversion::read(text).unwrap(), to));
        }
    }
    for (from, to) in [
        (Version::Fix40, Version::Fix50Sp1),
        (Version::Fix50Sp1, Version::Fix40),
        (Version::Fix43, Version::Fix41),
    ] {
        ways.push((from, dictionary(from), built_in(from, to), to));
    }
    let ways = std::cell::RefCell::new(ways);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: cases(3_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let strange = proptest::collection::vec((any::<usize>(), field()), 0..30);
    let input = (any::<u64>(), 0u64..20, "[D8GEJBZV]", strange);
    let outcome = runner.run(&input, |(seed, density, msg_type, strange)| {
        let ways = &mut *ways.borrow_mut();
        let which = seed as usize % ways.len();
        let (from, dictionary, conversion, to) = &mut ways[which];
        if dictionary.message(msg_type.as_bytes()).is_none() {
            return Ok(());
        }
        let mut losses = conversion.losses();
        let mut generator = Generator {
            dictionary,
            random: Random::xorshift(seed | 1),
            density,
            allowed: |_, _, _| true,
            always: Vec::new(),
        };
        let fields = generator.message(&msg_type);
        let mut draft = drafted(&whole(*from, &msg_type, &fields));
        for (at, (tag, value)) in &strange {
            draft.insert(at % (draft.len() + 1), *tag, value);
        }
        let before = written(&mut draft);
        match conversion.convert(&mut draft, &mut losses) {
            Ok(()) => prop_assert!(!draft.is_empty(), "to {}", to.name()),
            Err(_) => prop_assert_eq!(written(&mut draft), before),
        }
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(400),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_table_makes_it_panic(lines in proptest::collection::vec(
        "(for [D8E*](/73)?|set 150=[F@39|]{1,3}|map 40(\\+59)? -> 40 [0-9=*+]{1,6}|entry 109 -> 453 [0-9=@*/ ]{0,9}|[a-z0-9=\"|~@#>* /+-]{0,20})",
        0..6,
    )) {
        let text = format!("from FIX.4.2\nto FIX.4.4\n{}", lines.join("\n"));
        if let Err(error) = Conversion::read(&text) {
            prop_assert!(error.line <= 2 + lines.len());
            let sentence = format!("{error}");
            prop_assert!(sentence.starts_with("line "));
        }
    }
}
