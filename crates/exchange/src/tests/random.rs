//! Random requests, many of them invalid: none may stop the exchange, and its notes must rebuild it.

use alloc::format;
use alloc::string::String;

use fixwire_protocol::{Application, SessionId};

use super::desk::{Desk, config, decimal};
use crate::{ExchangeConfig, OrderScript};

const REQUESTS: u32 = 20_000;

/// Values of each field, good ones more often than bad ones.
const FIELDS: [(u32, &[&str]); 10] = [
    (55, &["VOD", "VOD", "VOD", "BTC", "BTC", "XYZ", ""]),
    (54, &["1", "1", "2", "2", "5", "9", "x", ""]),
    (
        38,
        &[
            "1",
            "7",
            "30",
            "0",
            "-1",
            "0.5",
            "0.001",
            "9223372036854775807",
            "1.",
            "x",
        ],
    ),
    (40, &["1", "2", "2", "2", "3", "4", "P", ""]),
    (
        44,
        &[
            "10",
            "10.01",
            "9.99",
            "11.5",
            "5",
            "20",
            "0",
            "-3",
            "9223372036854775807",
            "0.000000000000000001",
        ],
    ),
    (
        99,
        &[
            "10",
            "10.5",
            "9.5",
            "-9223372036854775807",
            "99999999999999999999",
        ],
    ),
    (59, &["0", "0", "1", "3", "4", "7"]),
    (111, &["", "", "", "2", "5", "0", "-1"]),
    (97, &["", "", "", "Y"]),
    (530, &["7", "1", "4"]),
];

#[test]
fn no_request_ends_the_exchange_and_its_notes_make_it_again() {
    play(config());
}

#[test]
fn nor_do_scripts_of_any_steps() {
    const STEPS: [&str; 17] = [
        "ack",
        "pending",
        "wait 20ms",
        "fill 3",
        "fill 50% @ 10.5",
        "fill rest @ 10.5",
        "bust",
        "correct 2 @ 9.5",
        "restate 5",
        "wait for cancel",
        "pending cancel",
        "reject cancel",
        "accept cancel",
        "pending replace",
        "accept replace",
        "cancel rest",
        "expire",
    ];
    let mut config = config();
    for (index, quantity) in ["1", "7", "30"].into_iter().enumerate() {
        for half in 0..2 {
            let words =
                (0..9).map(|at| STEPS[(index * 7 + half * 5 + at * (at + 3)) % STEPS.len()]);
            config.scripts.push(OrderScript {
                name: format!("{quantity} {half}"),
                side: Some(["buy", "sell"][half].into()),
                symbol: Some("VOD".into()),
                quantity: Some(decimal(quantity)),
                steps: words.map(String::from).collect(),
                ..OrderScript::default()
            });
        }
    }
    play(config);
}

fn play(config: ExchangeConfig) {
    let mut random = 1_u64;
    let mut below = move |end: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % end
    };
    let mut desk = Desk::of(config.clone()).with_room(8000, 24);
    let (mut refused, mut reports) = (0, 0);
    for number in 0..REQUESTS {
        let types = ["D", "D", "D", "D", "D", "G", "G", "F", "H", "q", "AF", "8"];
        let msg_type = types[below(types.len())];
        // A mass cancel now and then, so that books have orders.
        let msg_type = if msg_type == "q" && below(20) > 0 {
            "D"
        } else {
            msg_type
        };
        let orig = number.saturating_sub(below(30) as u32);
        let mut fields = format!("11={number}|41={orig}|584=S|585=7");
        for (tag, values) in FIELDS {
            let value = values[below(values.len())];
            if !value.is_empty() {
                fields += &format!("|{tag}={value}");
            }
        }
        match desk.ask(SessionId(below(4) as u32), &format!("{msg_type} {fields}")) {
            Ok(said) => reports += said.len(),
            Err(_) => refused += 1,
        }
        if below(50) == 0 {
            let states = ["continuous", "continuous", "auction", "halted", "closed"];
            let state = states[below(states.len())];
            let done: Result<String, String> = desk.command(&format!("state {state} *")).0;
            assert!(done.is_ok(), "{done:?}");
        }
        desk.sleep(2);
        reports += desk.pass().1.len();
        assert_eq!(
            desk.exchange.check(),
            Ok(()),
            "{number}: {msg_type} {fields}"
        );
    }
    assert!(
        refused > 100 && reports > REQUESTS as usize / 2,
        "{refused} {reports}"
    );
    let again = desk.again(config);
    assert_eq!(again.state_hash(), desk.exchange.state_hash());
    assert_eq!(again.check(), Ok(()));
}
