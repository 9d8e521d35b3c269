//! Venue reports in every possible order, each one twice: the final state is the same.

use fixwire_oms::{AccountNo, InstrumentNo};

use crate::desk::{Desk, Input, Said};
use crate::proof::{Proof, Recorder};
use crate::twin::floors;

struct Scenario {
    name: &'static str,
    /// The fixed inputs at the start, in order: `C1 D 11=A|...`, `L1 8 ...`, `down L1`, `up L1`.
    before: &'static [&'static str],
    /// Reports of venues, in the order in which they were made.
    reports: &'static [&'static str],
    /// Orders at the end: number, OrdStatus(39), ClOrdID(11), OrderQty(38), CumQty(14); and the position.
    end: &'static [&'static str],
    /// The venue's own order means something: in others ClOrdID and OrderQty may be those from before.
    is_ordered: bool,
}

const BUY: &str = "C1 D 11=A|55=XYZ|54=1|38=100|40=2|44=100|";
const NEW: &str = "L1 8 37=V1|11=1|17=E1|150=0|39=0|38=100|14=0|";
const FILL_30: &str = "L1 8 37=V1|11=1|17=E2|150=F|39=1|32=30|31=100|14=30|";
const FILL_20: &str = "L1 8 37=V1|11=1|17=E3|150=F|39=1|32=20|31=99.95|14=50|";
const FILL_50: &str = "L1 8 37=V1|11=1|17=E4|150=F|39=2|32=50|31=100|14=100|";
const CANCEL: &str = "C1 F 11=B|41=A|55=XYZ|54=1|";
const REPLACE_150: &str = "C1 G 11=B|41=A|55=XYZ|54=1|38=150|40=2|44=100|";
const REPLACE_50: &str = "C1 G 11=B|41=A|55=XYZ|54=1|38=50|40=2|44=100|";

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "accepted and filled",
        before: &[BUY],
        reports: &[NEW, FILL_30, FILL_20, FILL_50],
        end: &["1 2 A 100 100", "long 100"],
        is_ordered: false,
    },
    Scenario {
        name: "cancelled while it is filled in part",
        before: &[BUY, CANCEL],
        reports: &[
            NEW,
            "L1 8 37=V1|11=1-2|41=1|17=E8|150=6|39=6|14=0|",
            FILL_30,
            FILL_20,
            "L1 8 37=V1|11=1-2|41=1|17=E9|150=4|39=4|14=50|",
        ],
        end: &["1 4 B 100 50", "long 50"],
        is_ordered: false,
    },
    Scenario {
        name: "filled before it can be cancelled",
        before: &[BUY, CANCEL],
        reports: &[
            NEW,
            FILL_30,
            FILL_20,
            FILL_50,
            "L1 9 37=V1|11=1-2|41=1|39=2|434=1|102=0|",
        ],
        end: &["1 2 A 100 100", "long 100"],
        is_ordered: false,
    },
    Scenario {
        name: "made larger while it is filled",
        before: &[BUY, REPLACE_150],
        reports: &[
            NEW,
            FILL_30,
            "L1 8 37=V1|11=1-2|41=1|17=E5|150=5|39=1|38=150|44=100|14=30|",
            "L1 8 37=V1|11=1-2|17=E6|150=F|39=1|32=70|31=100|14=100|",
            "L1 8 37=V1|11=1-2|17=E7|150=F|39=2|32=50|31=100|14=150|",
        ],
        end: &["1 2 B 150 150", "long 150"],
        is_ordered: false,
    },
    Scenario {
        name: "filled before it is made larger, and then filled in part",
        before: &[BUY, REPLACE_150],
        reports: &[
            NEW,
            FILL_30,
            FILL_20,
            FILL_50,
            "L1 8 37=V1|11=1-2|41=1|17=E5|150=5|39=1|38=150|44=100|14=100|",
        ],
        end: &["1 1 B 150 100", "long 100"],
        is_ordered: false,
    },
    Scenario {
        name: "made smaller than what is filled: the venue amends it",
        before: &[BUY, REPLACE_50],
        reports: &[
            NEW,
            FILL_30,
            "L1 8 37=V1|11=1|17=E6|150=F|39=1|32=40|31=100|14=70|",
            "L1 8 37=V1|11=1-2|41=1|17=E5|150=5|39=2|38=70|44=100|14=70|",
        ],
        end: &["1 2 B 70 70", "long 70"],
        is_ordered: false,
    },
    Scenario {
        name: "a replace is refused while it is filled",
        before: &[BUY, REPLACE_150],
        reports: &[
            NEW,
            FILL_30,
            "L1 9 37=V1|11=1-2|41=1|39=1|434=2|102=0|",
            FILL_20,
        ],
        end: &["1 1 A 100 50", "long 50"],
        is_ordered: false,
    },
    Scenario {
        // Which id and quantity hold at the end is what the venue said last: its reports of replace and cancel
        // mean what they say in its order alone (FIX session layer: messages of a session are in order).
        name: "replaced, and then cancelled by the venue itself",
        before: &[BUY, REPLACE_150],
        reports: &[
            NEW,
            FILL_30,
            "L1 8 37=V1|11=1-2|41=1|17=E5|150=5|39=1|38=150|44=100|14=30|",
            "L1 8 37=V1|11=1-2|17=E6|150=4|39=4|38=150|14=30|",
        ],
        end: &["1 4 B 150 30", "long 30"],
        is_ordered: true,
    },
    Scenario {
        name: "a replace crosses a cancel of the venue: it comes too late there",
        before: &[BUY, REPLACE_150],
        reports: &[
            NEW,
            FILL_30,
            "L1 8 37=V1|11=1|17=E6|150=4|39=4|38=100|14=30|",
            "L1 9 37=V1|11=1-2|41=1|39=4|434=2|102=0|",
        ],
        end: &["1 4 A 100 30", "long 30"],
        is_ordered: false,
    },
    Scenario {
        name: "immediate or cancel: the rest is cancelled",
        before: &["C1 D 11=A|55=XYZ|54=1|38=100|40=2|44=100|59=3|"],
        reports: &[
            NEW,
            FILL_30,
            FILL_20,
            "L1 8 37=V1|11=1|17=E9|150=4|39=4|14=50|",
        ],
        end: &["1 4 A 100 50", "long 50"],
        is_ordered: false,
    },
    Scenario {
        name: "done for the day",
        before: &[BUY],
        reports: &[
            NEW,
            FILL_30,
            FILL_20,
            "L1 8 37=V1|11=1|17=E9|150=3|39=3|14=50|",
        ],
        end: &["1 3 A 100 50", "long 50"],
        is_ordered: false,
    },
    Scenario {
        name: "expired with a cancel under way",
        before: &[BUY, CANCEL],
        reports: &[
            NEW,
            FILL_30,
            "L1 8 37=V1|11=1|17=E9|150=C|39=C|14=30|",
            "L1 9 37=V1|11=1-2|41=1|39=C|434=1|102=0|",
        ],
        end: &["1 C A 100 30", "long 30"],
        is_ordered: false,
    },
    Scenario {
        name: "its line breaks, and the venue is asked",
        before: &[BUY, "down L1", "up L1"],
        reports: &[
            NEW,
            FILL_30,
            FILL_20,
            "L1 8 37=V1|11=1|17=0|150=I|39=1|38=100|14=50|",
        ],
        end: &["1 1 A 100 50", "long 50"],
        is_ordered: false,
    },
    Scenario {
        name: "two orders on two lines",
        before: &[BUY, "C1 D 11=S|55=XYZ|54=2|38=40|40=2|44=100.05|", CANCEL],
        reports: &[
            NEW,
            FILL_30,
            "L1 8 37=V1|11=1-3|41=1|17=E9|150=4|39=4|14=30|",
            "L2 8 37=W2|11=2|17=E1|150=0|39=0|38=40|14=0|",
            "L2 8 37=W2|11=2|17=E2|150=F|39=1|32=10|31=100.05|14=10|",
            "L2 8 37=W2|11=2|17=E3|150=F|39=2|32=30|31=100.05|14=40|",
        ],
        end: &["1 4 B 100 30", "2 2 S 40 40", "short 10"],
        is_ordered: false,
    },
];

fn input(text: &str) -> Input {
    let session = |name: &str| {
        let names = ["C1", "C2", "C3", "L1", "L2", "L3"];
        names.iter().position(|known| *known == name).unwrap()
    };
    let (first, rest) = text.split_once(' ').unwrap();
    match (first, rest.split_once(' ')) {
        ("down", _) => Input::Down(session(rest), false),
        ("up", _) => Input::Up(session(rest), false),
        (from, Some((msg_type, body))) => {
            let msg_types = ["D", "F", "G", "8", "9"];
            let msg_type = msg_types.into_iter().find(|it| *it == msg_type);
            Input::Says(session(from), msg_type.unwrap(), body.to_owned())
        }
        _ => panic!("{text}"),
    }
}

/// How orders and the position stand, once nothing more is to come.
fn end(desk: &Desk) -> Vec<String> {
    let orders = desk.state().orders();
    let mut numbers: Vec<u64> = orders.iter().map(|order| order.number).collect();
    numbers.sort_unstable();
    let lines = numbers.iter().map(|number| {
        let order = orders.get(*number).unwrap();
        let status = orders.status(order) as char;
        let (id, quantity, filled) = (order.id.to_string(), order.quantity, order.filled);
        format!("{number} {status} {id} {quantity} {filled}")
    });
    let position = desk
        .state()
        .position(AccountNo::new(1), InstrumentNo::new(0));
    let side = if position.long > 0 { "long" } else { "short" };
    lines
        .chain([format!("{side} {}", position.long + position.short)])
        .collect()
}

/// Each execution was reported to the client once, and the last report of an order is what it is.
fn nothing_is_lost(desk: &Desk, said: &[Said]) -> Result<(), String> {
    let number = |said: &Said, tag| said.get(tag).and_then(|it| it.parse::<u64>().ok());
    for order in desk.state().orders().iter() {
        let reports = || {
            let reports = said.iter().filter(|it| it.to == 0 && it.msg_type == "8");
            reports.filter(|it| number(it, 37) == Some(order.number))
        };
        let told: u64 = reports().filter_map(|it| number(it, 32)).sum();
        let last = reports().next_back().ok_or("no report")?;
        let is = (told, number(last, 14), number(last, 151));
        if is != (order.filled, Some(order.filled), Some(order.leaves())) {
            return Err(format!("order {}: {is:?} was reported", order.number));
        }
    }
    match desk.state().violations() {
        0 => Ok(()),
        count => Err(format!("{count} violations")),
    }
}

fn play(
    scenario: &Scenario,
    order: &[usize],
    recorder: &mut Option<Recorder>,
) -> Result<(), String> {
    let (setup, _) = floors::floor(0);
    let mut desk = Desk::new(&setup);
    recorder.take().into_iter().for_each(|it| desk.record(it));
    let mut said = Vec::new();
    for line in floors::LINES {
        desk.hear(&Input::Up(line, false));
    }
    for text in scenario.before {
        said.extend(desk.hear(&input(text)));
    }
    for at in order {
        said.extend(desk.hear(&input(scenario.reports[*at])));
    }
    *recorder = desk.recorded();
    nothing_is_lost(&desk, &said)?;
    let (mut end, mut wanted) = (end(&desk), scenario.end.to_vec());
    let without_what_was_replaced = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        match words.as_slice() {
            [number, status, _, _, filled] => format!("{number} {status} {filled}"),
            _ => line.to_owned(),
        }
    };
    let is_natural = order.iter().is_sorted();
    if scenario.is_ordered && !is_natural {
        end = end.iter().map(|it| without_what_was_replaced(it)).collect();
        let shorter: Vec<String> = wanted
            .iter()
            .map(|it| without_what_was_replaced(it))
            .collect();
        return (end == shorter).then_some(()).ok_or(format!("{end:?}"));
    }
    let is_same = end.iter().map(String::as_str).eq(wanted.drain(..));
    is_same.then_some(()).ok_or(format!("{end:?}"))
}

/// Every order of so many things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for at in 0..count {
        let longer = all.iter().flat_map(|known: &Vec<usize>| {
            (0..=known.len()).map(move |place| {
                let mut more = known.clone();
                more.insert(place, at);
                more
            })
        });
        all = longer.collect();
    }
    all
}

#[test]
fn every_order_of_reports_ends_in_the_same_state() {
    let mut proof = Proof::new("permutations");
    for scenario in SCENARIOS {
        let mut recorder = Some(proof.recorder(scenario.name));
        let mut check = |order: &[usize]| {
            let played = play(scenario, order, &mut recorder);
            assert_eq!(played, Ok(()), "{}: {order:?}", scenario.name);
        };
        for order in orders(scenario.reports.len()) {
            check(&order);
            // One of them comes twice: at once, and at the end.
            for at in 0..order.len() {
                for again in [at + 1, order.len()] {
                    let mut doubled = order.clone();
                    doubled.insert(again, order[at]);
                    check(&doubled);
                }
            }
        }
        recorder.into_iter().for_each(|it| proof.add(it));
    }
    proof.check(true);
}

#[test]
fn another_end_than_the_one_that_is_wanted_is_noticed() {
    let wrong = Scenario {
        end: &["1 2 A 100 100", "long 99"],
        ..SCENARIOS[0]
    };
    assert!(play(&wrong, &[0, 1, 2, 3], &mut None).is_err());
    let lost = play(&SCENARIOS[0], &[0, 1, 3], &mut None);
    assert!(lost.is_err(), "a fill that never comes");
}
