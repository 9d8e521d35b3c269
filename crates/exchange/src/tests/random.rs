//! Random requests, many of them invalid, and commands: none may stop the exchange, and its notes must rebuild it. What
//! leaves and the state of each world must be what `worlds.txt` says; see `fixwire_harness::worlds`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_harness::Random;
use fixwire_harness::worlds::{self, WorldRecord};
use fixwire_protocol::{Application, SessionId};

use super::desk::{Desk, Said, config, decimal, exchange};
use super::state_lines::{kept_lines, state_lines};
use crate::{ExchangeConfig, OrderScript};

/// The file of hashes.
pub(super) const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/worlds.txt");

const WORLDS: u64 = 20;
/// Number of requests of each world.
const REQUESTS: u32 = 1_000;

/// Values of each field, and how many of them, the first ones, make sense.
const FIELDS: [(u32, usize, &[&str]); 10] = [
    (55, 5, &["VOD", "VOD", "VOD", "BTC", "BTC", "XYZ", ""]),
    (54, 5, &["1", "1", "2", "2", "5", "9", "x", ""]),
    (
        38,
        3,
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
    (40, 6, &["1", "2", "2", "2", "3", "4", "P", ""]),
    (
        44,
        5,
        &[
            "10",
            "10.01",
            "9.99",
            "11.5",
            "10",
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
        3,
        &[
            "10",
            "10.5",
            "9.5",
            "-9223372036854775807",
            "99999999999999999999",
        ],
    ),
    (59, 4, &["0", "0", "1", "3", "4", "7"]),
    (111, 4, &["", "", "", "2", "5", "0", "-1"]),
    (97, 3, &["", "", "", "Y"]),
    (530, 1, &["7", "1", "4"]),
];

#[test]
fn no_request_ends_the_exchange_and_its_notes_make_it_again() {
    let mut few = config();
    few.remembered_max = 30;
    play_all("orders", &[config(), few]);
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
    play_all("scripts", &[config]);
}

/// Plays the worlds of a group, with these settings in turn.
fn play_all(group: &str, configs: &[ExchangeConfig]) {
    let (mut refused, mut reports) = (0, 0);
    let mut played = Vec::new();
    for seed in 1..=WORLDS {
        let mut record = WorldRecord::new(format!("{group}/{seed:02}"));
        let config = configs[seed as usize % configs.len()].clone();
        let counts = play(config, seed, &mut record);
        (refused, reports) = (refused + counts.0, reports + counts.1);
        played.push(record);
    }
    let requests = WORLDS as usize * REQUESTS as usize;
    assert!(
        refused > 100 && reports > requests / 2,
        "{refused} {reports}"
    );
    worlds::compare(FILE, group, &played);
}

/// Plays one world. How many requests were refused, and how many messages were sent.
fn play(config: ExchangeConfig, seed: u64, record: &mut WorldRecord) -> (usize, usize) {
    let mut random = Random::congruential(seed);
    let mut below = move |end: usize| random.place(end);
    let mut desk = Desk::of(config.clone()).with_room(8000, 24);
    let (mut refused, mut reports) = (0, 0);
    for number in 0..REQUESTS {
        let types = [
            "D", "D", "D", "D", "D", "D", "D", "G", "G", "G", "F", "H", "q", "AF", "8", "R", "e",
            "g",
        ];
        let msg_type = types[below(types.len())];
        // A mass cancel now and then, so that books have orders.
        let msg_type = if msg_type == "q" && below(20) > 0 {
            "D"
        } else {
            msg_type
        };
        let orig = number.saturating_sub(below(30) as u32);
        let mut fields = format!("11={number}|41={orig}|584=S|585=7");
        if matches!(msg_type, "R" | "e" | "g") {
            let id = below(4);
            fields += &format!("|131={number}|324=E{id}|335=G{id}|263={}", below(4));
        }
        // Three of four requests have no mistake.
        let is_sensible = below(4) > 0;
        for (tag, good, values) in FIELDS {
            let among = if is_sensible { good } else { values.len() };
            let value = values[below(among)];
            if !value.is_empty() {
                fields += &format!("|{tag}={value}");
            }
        }
        let from = SessionId(below(4) as u32);
        record.input(&format!("M{}: {msg_type} {fields}", from.0));
        match desk.ask(from, &format!("{msg_type} {fields}")) {
            Ok(said) => reports += sent(record, &said),
            Err(why) => {
                record.output(format_args!("refused: {why:?}"));
                refused += 1;
            }
        }
        if below(50) == 0 {
            let states = ["auction", "auction", "halted", "closed"];
            let state = states.get(below(9)).unwrap_or(&"continuous");
            let done = operate(record, &mut desk, &format!("state {state} *"));
            assert!(done.is_ok(), "{done:?}");
        }
        if below(25) == 0 {
            // Whether it is done depends on the number.
            let _ = operate(record, &mut desk, &command(&mut below, number));
        }
        desk.sleep(2);
        reports += sent(record, &desk.pass().1);
        record.state(|| state_lines(&desk.exchange));
        assert_eq!(
            desk.exchange.check(),
            Ok(()),
            "{number}: {msg_type} {fields}"
        );
    }
    let again = desk.again(config.clone());
    assert_eq!(again.state_hash(), desk.exchange.state_hash());
    assert_eq!(again.check(), Ok(()));
    let kept = kept_lines(&desk.exchange);
    worlds::assert_same(&kept_lines(&again), &kept, "after a restart");
    let mut state = Vec::new();
    desk.ledger()
        .write(&mut |bytes| state.extend_from_slice(bytes));
    let mut restored = exchange(config);
    restored.on_checkpoint(1, &state).unwrap();
    worlds::assert_same(&kept_lines(&restored), &kept, "after a checkpoint");
    (refused, reports)
}

/// A command of an operator, and queries.
fn command(below: &mut impl FnMut(usize) -> usize, number: u32) -> String {
    let id = 1 + below(2 * number as usize + 2);
    match below(12) {
        0 => format!("bust {id}"),
        1 => format!("correct {id} {}", 1 + below(9)),
        2 => format!("correct {id} {} @ 10.5", 1 + below(9)),
        3 => format!("status {}", id / 2),
        4 => "uncross *".into(),
        5 => format!("band {} {} VOD", 5 + below(3), 15 + below(6)),
        6 => format!("fault delay session=M{} ms=7 count=3", below(4)),
        7 => format!("fault reorder percent=50 seed={id} count=2"),
        8 => format!("fault repeat type=8 ms=5 count={}", 1 + below(3)),
        9 => format!("fault change set=58:{id} count=1"),
        10 => "orders".into(),
        _ => "book VOD".into(),
    }
}

/// An operator's command, with its answer.
fn operate(record: &mut WorldRecord, desk: &mut Desk, command: &str) -> Result<String, String> {
    record.input(command);
    let (done, said) = desk.command(command);
    record.output(format_args!("{done:?}"));
    sent(record, &said);
    done
}

/// Records messages that were sent; their number.
fn sent(record: &mut WorldRecord, said: &[Said]) -> usize {
    for said in said {
        record.output(format_args!("M{}: {}", said.to.0, said.text));
    }
    said.len()
}
