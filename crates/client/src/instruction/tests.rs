//! The command language, line by line.

use std::string::{String, ToString};
use std::vec::Vec;

use super::*;

fn parsed(line: &str) -> Instruction {
    match Instruction::parse(line) {
        Ok(Some(instruction)) => instruction,
        other => panic!("{line}: {other:?}"),
    }
}

/// MsgType and fields of a message, `|` between them.
fn text(message: &MessageFields) -> String {
    let fields = message.fields.iter();
    let fields: Vec<String> = fields
        .map(|(tag, value)| std::format!("{tag}={value}"))
        .collect();
    std::format!("{} {}", message.msg_type, fields.join("|"))
}

#[test]
fn orders_become_the_fields_of_a_new_order_single() {
    for (line, fields) in [
        ("new buy 100 VOD", "D 55=VOD|54=1|38=100|40=1"),
        (
            "  order sell 0.5 BTC/USD  ",
            "D 55=BTC/USD|54=2|38=0.5|40=1",
        ),
        (
            "new buy 100 VOD @ 12.50",
            "D 55=VOD|54=1|38=100|40=2|44=12.50",
        ),
        (
            "new buy 100 VOD @12.50",
            "D 55=VOD|54=1|38=100|40=2|44=12.50",
        ),
        ("new buy 100 VOD @ -1", "D 55=VOD|54=1|38=100|40=2|44=-1"),
        ("new buy 100 VOD @ market", "D 55=VOD|54=1|38=100|40=1"),
        (
            "new sell 7 VOD @ 2 tif ioc account ACC1 58=hi 21=3",
            "D 55=VOD|54=2|38=7|40=2|44=2|59=3|1=ACC1|58=hi|21=3",
        ),
        ("new buy 1 X tif day", "D 55=X|54=1|38=1|40=1|59=0"),
        ("new buy 1 X tif gtc", "D 55=X|54=1|38=1|40=1|59=1"),
        ("new buy 1 X tif fok", "D 55=X|54=1|38=1|40=1|59=4"),
        // Each entry of a group has its fields.
        (
            "new buy 1 X 453=2 448=A 452=1 448=B 452=96 54=5",
            "D 55=X|54=5|38=1|40=1|453=2|448=A|452=1|448=B|452=96",
        ),
        // The last value counts.
        ("new buy 1 X 54=5 40=3", "D 55=X|54=5|38=1|40=3"),
        ("new buy 1 X 528=A 528=P", "D 55=X|54=1|38=1|40=1|528=P"),
        (
            "new buy 1 X 1138=5 1138=6 528=A 528=P 453=2 448=A 448=B",
            "D 55=X|54=1|38=1|40=1|1138=6|528=P|453=2|448=A|448=B",
        ),
        // Nobody knows whether it is the count of a group.
        (
            "new buy 1 X 9801=2 9802=A 9802=B",
            "D 55=X|54=1|38=1|40=1|9801=2|9802=A|9802=B",
        ),
    ] {
        let Instruction::New(message) = parsed(line) else {
            panic!("{line}");
        };
        assert_eq!(text(&message), fields, "{line}");
    }
}

#[test]
fn cancels_replacements_and_status_requests_name_an_order() {
    let id = || Which::Id("20261124-1".to_string());
    let no_fields = MessageFields::new;
    let cases = [
        (
            "cancel 20261124-1",
            Instruction::Cancel {
                which: id(),
                fields: no_fields("F"),
            },
        ),
        (
            "cancel all",
            Instruction::Cancel {
                which: Which::All,
                fields: no_fields("F"),
            },
        ),
        (
            "status last",
            Instruction::Status {
                which: Which::Last,
                fields: no_fields("H"),
            },
        ),
        ("orders", Instruction::Orders { all: false }),
        ("orders all", Instruction::Orders { all: true }),
        ("stamps on", Instruction::Stamps(true)),
        ("stamps off", Instruction::Stamps(false)),
        ("stats", Instruction::Stats(None)),
        ("stats g3", Instruction::Stats(Some("g3".to_string()))),
        ("help", Instruction::Help),
        ("quit", Instruction::Quit),
    ];
    for (line, expected) in cases {
        assert_eq!(parsed(line), expected, "{line}");
    }
    let Instruction::Replace { which, fields } = parsed("replace last qty 5 price 1.25 58=x")
    else {
        panic!("no replacement");
    };
    assert_eq!(
        (which, text(&fields).as_str()),
        (Which::Last, "G 38=5|44=1.25|58=x")
    );
}

#[test]
fn a_template_keeps_order_and_repetition_of_its_fields() {
    let Instruction::Set { name, message } =
        parsed("set P D 55=VOD|453=2|448=A|447=D|448=B|447=D|58=two words|")
    else {
        panic!("no template");
    };
    assert_eq!(name, "P");
    let fields = "D 55=VOD|453=2|448=A|447=D|448=B|447=D|58=two words";
    assert_eq!(text(&message), fields);
    let Instruction::Set { message, .. } = parsed("set C F") else {
        panic!("no template");
    };
    assert_eq!(message, MessageFields::new("F"));
}

#[test]
fn a_send_says_how_many_and_how_fast() {
    let plan = |count, millis: Option<u64>, burst| SendPlan {
        name: "T".to_string(),
        count,
        interval: millis.map(Nanos::from_millis),
        burst,
        ..SendPlan::default()
    };
    let group = |name: &str| Some(name.to_string());
    for (line, expected) in [
        ("send T 1000", plan(1000, None, 1)),
        ("send T 1000/5", plan(1000, Some(5), 1)),
        ("send T 1000/5/10", plan(1000, Some(5), 10)),
        ("send T 1000//10", plan(1000, None, 10)),
        ("send T 1000/0/10", plan(1000, None, 10)),
        (
            "send T 5 g",
            SendPlan {
                group: group("g"),
                ..plan(5, None, 1)
            },
        ),
        (
            "send T 5 d3 of g3",
            SendPlan {
                group: group("d3"),
                of: group("g3"),
                ..plan(5, None, 1)
            },
        ),
        (
            "send T 5 of g3 +",
            SendPlan {
                of: group("g3"),
                increments: true,
                ..plan(5, None, 1)
            },
        ),
    ] {
        assert_eq!(
            parsed(line),
            Instruction::Send(Box::new(expected)),
            "{line}"
        );
    }
}

#[test]
fn waits_are_for_answers_or_for_time() {
    for (line, until) in [
        ("wait all", Until::All),
        ("wait 1 report", Until::Reports(1)),
        ("wait 500 reports", Until::Reports(500)),
        ("wait 2", Until::Time(Nanos::from_secs(2))),
        ("wait 0.25", Until::Time(Nanos::from_millis(250))),
        ("sleep 1.000000001", Until::Time(Nanos(1_000_000_001))),
    ] {
        assert_eq!(parsed(line), Instruction::Wait(until), "{line}");
    }
}

#[test]
fn blank_lines_and_comments_ask_for_nothing() {
    for line in ["", "   ", "# new buy", "  # x"] {
        assert_eq!(Instruction::parse(line), Ok(None), "{line}");
    }
}

#[test]
fn every_mistake_is_named_with_what_to_write() {
    for (line, error) in [
        (
            "buy 100 VOD",
            "unknown command 'buy': 'help' shows the commands",
        ),
        (
            "new",
            "new needs a side: new buy|sell QTY SYMBOL [@ PRICE|market] [tif day|gtc|ioc|fok] [account A] \
             [TAG=VALUE ...]",
        ),
        ("new hold 1 X", "side 'hold': expected buy or sell"),
        (
            "new buy -1 X",
            "quantity '-1': expected a number above 0, such as 100",
        ),
        (
            "new buy 0 X",
            "quantity '0': expected a number above 0, such as 100",
        ),
        (
            "new buy 1e3 X",
            "quantity '1e3': expected a number above 0, such as 100",
        ),
        (
            "new buy 1 X @ cheap",
            "price 'cheap': expected a number such as 12.50, or market for a market order",
        ),
        (
            "new buy 1 X tif week",
            "time in force 'week': expected day, gtc, ioc or fok",
        ),
        (
            "new buy 1 X 0=a",
            "field '0=a': write TAG=VALUE with a tag number and a value, such as 58=hello",
        ),
        (
            "new buy 1 X 58=",
            "field '58=': write TAG=VALUE with a tag number and a value, such as 58=hello",
        ),
        (
            "new buy 1 X +5=a",
            "field '+5=a': write TAG=VALUE with a tag number and a value, such as 58=hello",
        ),
        ("new buy 1 X 34=7", "the session sets tag 34: leave it out"),
        (
            "cancel",
            "cancel needs an order: cancel ID|last|all [TAG=VALUE ...]",
        ),
        (
            "cancel last now",
            "cancel: unexpected 'now': cancel ID|last|all [TAG=VALUE ...]",
        ),
        (
            "replace last",
            "replace has no change: write qty N, price P, or another field as TAG=VALUE",
        ),
        (
            "replace all qty 1",
            "replace is for one order, not for all: write the ClOrdID of the order, or last",
        ),
        (
            "status all",
            "status is for one order, not for all: write the ClOrdID of the order, or last",
        ),
        (
            "set a:b D 55=X",
            "name 'a:b': use at most 32 letters, digits, '_', '-' or '.'",
        ),
        (
            "set T A 98=0",
            "MsgType 'A': write the MsgType of an application message, such as D, F or G",
        ),
        (
            "set T D 55=X||38=1",
            "field '': write TAG=VALUE with a tag number and a value, such as 58=hello",
        ),
        (
            "send T x",
            "count 'x': write N, N/MS or N/MS/B for N messages (1 to 1000000), B of them every MS milliseconds",
        ),
        (
            "send T 0",
            "count '0': write N, N/MS or N/MS/B for N messages (1 to 1000000), B of them every MS milliseconds",
        ),
        (
            "send T 1/2/3/4",
            "count '1/2/3/4': write N, N/MS or N/MS/B for N messages (1 to 1000000), B of them every MS milliseconds",
        ),
        (
            "send T 1 a b",
            "send: unexpected 'b': send NAME N[/MS][/B] [GROUP] [of GROUP] [+]",
        ),
        (
            "wait",
            "wait needs what to wait for: wait N reports | wait all | wait SECONDS",
        ),
        (
            "wait 5 minutes",
            "wait: unexpected 'minutes': wait N reports | wait all | wait SECONDS",
        ),
        (
            "sleep 1e3",
            "time '1e3': expected seconds, such as 2 or 0.5, at most 86400",
        ),
        (
            "sleep 86401",
            "time '86401': expected seconds, such as 2 or 0.5, at most 86400",
        ),
        ("stamps maybe", "stamps 'maybe': expected on or off"),
        ("orders open", "orders: unexpected 'open': orders [all]"),
        ("quit now", "quit: unexpected 'now': quit"),
    ] {
        let found = Instruction::parse(line).map_err(|error| error.to_string());
        assert_eq!(found, Err(error.to_string()), "{line}");
    }
}

#[test]
fn answers_to_prompts_make_a_command() {
    use crate::help::{command_of, prompts};
    let asked = |word: &str, answers: &[&str]| {
        let asked = prompts(word).unwrap();
        assert_eq!(asked.len(), answers.len(), "{word}");
        command_of(word, asked.iter().copied().zip(answers.iter().copied()))
    };
    let order = asked(
        "order\n",
        &["buy\n", "100\n", "VOD\n", "12.5\n", "\n", "A1\n"],
    );
    assert_eq!(order, "order buy 100 VOD @ 12.5 account A1");
    assert!(matches!(parsed(&order), Instruction::New(_)));
    assert_eq!(asked("cancel", &[""]), "cancel last");
    assert_eq!(asked("replace", &["g:1", "5", ""]), "replace g:1 qty 5");
    assert_eq!(prompts("new buy 1 X"), None);
}
