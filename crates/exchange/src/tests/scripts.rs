//! Orders that follow a script: the reports to their members; they never enter the books.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Application, Refusal, Timestamp};

use super::desk::{A, B, Desk, OLD, Said, config, decimal, exchange};
use crate::event::{MarketEvent, MemberRequest, RequestMsgType, event_text};
use crate::fields::RequestFields;
use crate::{ConfigTable, Exchange, ExchangeConfig, ExchangeError, OrderScript};

/// The order that the scripts of these tests match.
const ORDER: &str = "D 11=1|55=VOD|54=1|38=101|40=2|44=12.50";

fn script(steps: &str) -> OrderScript {
    let steps = steps.split(',').filter(|step| !step.is_empty());
    OrderScript {
        name: "half".into(),
        symbol: Some("VOD".into()),
        quantity: Some(decimal("101")),
        steps: steps.map(|step| step.trim().to_string()).collect(),
        ..OrderScript::default()
    }
}

fn with(scripts: &[OrderScript]) -> ExchangeConfig {
    ExchangeConfig {
        scripts: scripts.to_vec(),
        ..config()
    }
}

fn desk(steps: &str) -> Desk {
    Desk::of(with(&[script(steps)]))
}

/// ExecType, OrdStatus, CumQty and LeavesQty of each report; for rejects, their codes.
fn shown(said: &[Said]) -> Vec<String> {
    let one = |it: &Said| {
        let fields = it.fields();
        let of = |tag| fields.get(&tag).copied().unwrap_or("-");
        match of(35) {
            "8" => format!("{}/{} {}+{}", of(150), of(39), of(14), of(151)),
            _ => format!("9/{} {} {}", of(39), of(434), of(102)),
        }
    };
    said.iter().map(one).collect()
}

fn same_after_restart(desk: &Desk) {
    let again = desk.again(config());
    assert_eq!(again.state_hash(), desk.exchange.state_hash());
    assert_eq!(again.check(), Ok(()));
    let mut state = Vec::new();
    desk.ledger()
        .write(&mut |bytes| state.extend_from_slice(bytes));
    let mut read = exchange(config());
    read.on_checkpoint(1, &state).unwrap();
    assert_eq!(read.state_hash(), desk.exchange.state_hash());
}

#[test]
fn an_order_is_acknowledged_half_filled_after_a_time_and_cancelled_by_the_venue() {
    let mut desk = desk("ack, wait 100ms, fill 50 @ 12.40, cancel rest");
    let said = desk.say(A, ORDER);
    assert_eq!(shown(&said), ["0/0 0+101"]);
    // An order that would trade with it, were it in the book.
    assert_eq!(
        shown(&desk.say(B, "D 11=2|55=VOD|54=2|38=10|40=2|44=12")),
        ["0/0 0+10"]
    );
    desk.sleep(98);
    assert_eq!(desk.pass(), (true, Vec::new()));
    assert_eq!(
        desk.query("scripts").unwrap(),
        "order 1: half, step 2 of 4: wait 100ms\n"
    );
    same_after_restart(&desk);
    desk.sleep(1);
    let (again, said) = desk.pass();
    assert!(!again);
    assert_eq!(shown(&said), ["F/1 50+51", "4/4 50+0"]);
    said[0].has("37=1|32=50|31=12.40|6=12.40");
    said[1].has("58=Canceled by the exchange");
    assert_eq!(desk.exchange.open(), (1, 0));
    assert_eq!(desk.query("scripts").unwrap(), "");
    same_after_restart(&desk);
    desk.say(A, "F 11=3|41=1|55=VOD|54=1")[0].has("35=9|102=0|39=4");
}

#[test]
fn the_first_script_that_is_for_an_order_counts_and_all_others_trade() {
    let one = |name: &str, steps: &str| OrderScript {
        name: name.into(),
        steps: [steps.to_string()].into(),
        ..OrderScript::default()
    };
    let scripts = [
        OrderScript {
            session: Some("M0".into()),
            side: Some("sell".into()),
            ..one("A", "reject 1")
        },
        OrderScript {
            account: Some("X".into()),
            price: Some(decimal("10.5")),
            ..one("B", "reject 2")
        },
        OrderScript {
            symbol: Some("BTC".into()),
            side: Some("5".into()),
            ..one("C", "reject 3")
        },
    ];
    let mut desk = Desk::of(with(&scripts));
    for (from, fields, answer) in [
        (A, "55=VOD|54=2|44=10.50|1=X", "39=8|103=1"),
        (A, "55=VOD|54=5|44=10", "39=8|103=1"),
        (A, "55=VOD|54=1|44=10.50|1=X", "39=8|103=2"),
        (A, "55=VOD|54=1|44=10.51|1=X", "39=0"),
        (B, "55=VOD|54=2|44=20|1=X", "39=0"),
        (B, "55=BTC|54=5|44=10", "39=8|103=3"),
        (B, "55=BTC|54=2|44=10", "39=0"),
    ] {
        let id = desk.notes.len();
        let said = desk.say(from, &format!("D 11={id}|38=1|40=2|{fields}"));
        said[0].has(answer);
    }
}

#[test]
fn an_order_is_pending_until_it_is_acknowledged_or_filled() {
    let mut desk = desk(
        "wait 10ms, pending, wait 10ms, fill 1, wait 10ms, ack, restate @ 12.60, wait 10ms, \
                         restate 50 \"Too large\", fill 60",
    );
    assert!(desk.say(A, ORDER).is_empty());
    desk.say(A, "H 11=1|55=VOD|54=1")[0].has("150=I|39=A|14=0|151=101");
    for (reports, fields) in [
        (&["A/A 0+101"][..], "44=12.50"),
        (&["F/1 1+100"], "31=12.50"),
        (&["0/1 1+100", "D/1 1+100"], "44=12.50|!378"),
        (&["D/1 1+49", "F/2 61+0"], "38=50|378=5|58=Too large"),
    ] {
        desk.sleep(10);
        let (_, said) = desk.pass();
        assert_eq!(shown(&said), reports);
        said[0].has(fields);
        same_after_restart(&desk);
    }
    let more = desk.notes.len();
    assert_eq!(desk.pass(), (false, Vec::new()));
    assert_eq!(desk.notes.len(), more);
}

#[test]
fn requests_wait_for_the_steps_that_are_about_them() {
    let mut desk = desk(
        "ack, pending cancel, fill 40, reject cancel 0 \"Crossed\", pending replace, fill 10, accept replace, \
                         wait for cancel, fill 5, accept cancel, fill 1",
    );
    desk.say(A, ORDER);
    // The replace waits for its turn.
    assert!(
        desk.say(A, "G 11=2|41=1|55=VOD|54=1|38=90|40=2|44=12.60")
            .is_empty()
    );
    let said = desk.say(A, "F 11=3|41=1|55=VOD|54=1");
    let wanted = [
        "6/6 0+101",
        "F/6 40+61",
        "9/1 1 0",
        "E/E 40+61",
        "F/E 50+51",
        "5/1 50+40",
    ];
    assert_eq!(shown(&said), wanted);
    said[0].has("11=3|41=1|37=1");
    said[1].has("11=1");
    said[2].has("11=3|41=1|58=Crossed");
    said[3].has("11=2|41=1|38=101");
    said[5].has("11=2|41=1|38=90|44=12.60");
    desk.say(A, "F 11=4|41=1|55=VOD|54=1")[0].has("35=9|102=0");
    same_after_restart(&desk);
    let said = desk.say(A, "F 11=4|41=2|55=VOD|54=1");
    assert_eq!(shown(&said), ["F/1 55+35", "4/4 55+0", "F/4 56+0"]);
    said[1].has("11=4|41=2");
    assert_eq!(desk.query("scripts").unwrap(), "");
    same_after_restart(&desk);
}

#[test]
fn requests_that_no_step_is_about_are_answered_as_the_book_would() {
    let mut desk = desk("ack, wait 1s, fill 40");
    desk.say(A, ORDER);
    let low = desk.say(A, "G 11=2|41=1|55=VOD|54=1|38=0|40=2|44=12.60");
    low[0].has("35=9|102=0");
    let said = desk.say(A, "G 11=2|41=1|55=VOD|54=1|38=120|40=2|44=12.60");
    assert_eq!(shown(&said), ["5/0 0+120"]);
    let said = desk.say(A, "F 11=3|41=2|55=VOD|54=1");
    assert_eq!(shown(&said), ["4/4 0+0"]);
    said[0].has("11=3|41=2|!58");
    // It will not be filled any more.
    desk.sleep(1000);
    assert_eq!(desk.pass(), (false, Vec::new()));
    // One that is pending for ever stays so, until the order ends.
    let mut desk = Desk::of(with(&[script("ack, pending cancel, wait 1s, fill rest")]));
    desk.say(A, ORDER);
    assert_eq!(
        shown(&desk.say(A, "F 11=2|41=1|55=VOD|54=1")),
        ["6/6 0+101"]
    );
    let same = desk.say(A, "F 11=2|41=1|55=VOD|54=1");
    same[0].has("35=9|58=Duplicate ClOrdID(11): give each request a new one");
    desk.say(A, "H 11=1|55=VOD|54=1")[0].has("39=6|151=101");
    same_after_restart(&desk);
    desk.sleep(1000);
    assert_eq!(shown(&desk.pass().1), ["F/2 101+0", "9/2 1 0"]);
    same_after_restart(&desk);
}

#[test]
fn fills_are_cancelled_and_corrected() {
    let mut desk = desk(
        "ack, fill 40 @ 12, fill 61 @ 12.50, wait 10ms, bust, correct 30 @ 11, wait 10ms, fill rest",
    );
    let said = desk.say(A, ORDER);
    assert_eq!(shown(&said), ["0/0 0+101", "F/1 40+61", "F/2 101+0"]);
    said[2].has("17=3");
    desk.sleep(10);
    let (_, said) = desk.pass();
    assert_eq!(shown(&said), ["H/1 40+61", "G/1 30+71"]);
    said[0].has("19=3|6=12.00|!32");
    said[1].has("19=2|32=30|31=11.00|6=11.00");
    assert_eq!(desk.exchange.open(), (1, 0));
    same_after_restart(&desk);
    desk.sleep(10);
    assert_eq!(shown(&desk.pass().1), ["F/2 101+0"]);
    assert_eq!(desk.exchange.open(), (0, 0));
    same_after_restart(&desk);
}

#[test]
fn a_script_says_what_no_venue_should() {
    let mut desk = desk("fill 150, ack, cancel rest, fill rest, expire, reject 99 \"Never\"");
    let said = desk.say(OLD, ORDER);
    let wanted = [
        "2/2 150+0",
        "0/2 150+0",
        "4/4 150+0",
        "C/C 150+0",
        "8/8 150+0",
    ];
    assert_eq!(shown(&said), wanted);
    said[4].has("103=99|58=Never|20=0");
    same_after_restart(&desk);
}

#[test]
fn what_the_instruments_or_the_member_end_follows_no_script_any_more() {
    let mut desk = Desk::of(with(&[OrderScript {
        symbol: None,
        ..script("ack, wait 1s, accept cancel")
    }]));
    desk.say(A, ORDER);
    desk.say(A, "D 11=2|55=BTC|54=1|38=101|40=2|44=10");
    desk.say(A, "F 11=3|41=2|55=BTC|54=1");
    let said = desk.say(A, "q 11=4|530=1|55=VOD");
    said[0].has("35=r|533=1");
    said[1].has("150=4|39=4|11=4|41=1");
    assert_eq!(desk.exchange.open(), (1, 0));
    // The instrument was removed, and with it the order, its script and the waiting cancel.
    let mut fewer = config();
    fewer.instruments.truncate(1);
    desk.exchange = desk.again(fewer);
    let (_, said) = desk.pass();
    assert_eq!(shown(&said), ["4/4 0.000+0.000", "9/4 1 0"]);
    said[0].has("11=2|58=The instrument is no longer traded");
    desk.sleep(1000);
    assert_eq!(desk.pass(), (false, Vec::new()));
    assert_eq!(desk.query("scripts").unwrap(), "");
    same_after_restart(&desk);
}

#[test]
fn what_is_no_order_is_rejected_and_a_closed_one_that_is_forgotten_has_no_script() {
    let mut desk = Desk::of(ExchangeConfig {
        remembered_max: 1,
        orders_max: 2,
        ..with(&[script("ack, fill rest, wait 1s, bust")])
    });
    for (fields, why) in [
        (
            "55=VOD|54=1|38=101|40=1",
            "103=99|58=The script fills at the price of the order, but the order has no Price(44)",
        ),
        ("55=VOD|54=9|38=101|40=2|44=10", "103=11"),
        ("55=VOD|54=1|38=101|40=2|44=10.001", "103=99"),
    ] {
        desk.say(A, &format!("D 11=0|{fields}"))[0].has(why);
    }
    for id in 1..=3 {
        assert_eq!(
            desk.say(A, &ORDER.replace("11=1", &format!("11={id}")))
                .len(),
            2
        );
    }
    desk.say(A, &ORDER.replace("11=1", "11=3"))[0].has("103=6");
    desk.say(A, &format!("{}|97=Y", ORDER.replace("11=1", "11=3")))[0].has("150=I|39=2");
    desk.sleep(1000);
    assert_eq!(shown(&desk.pass().1), ["H/0 0+101"]);
    desk.say(A, &ORDER.replace("11=1", "11=4"));
    same_after_restart(&desk);
    let third = desk.say(A, &ORDER.replace("11=1", "11=5"));
    third[0].has("103=3|58=Too many scripted orders: the limit is 2");
}

#[test]
fn a_changed_file_changes_no_script_that_is_under_way() {
    let mut desk = desk("ack, wait 10ms, fill 40");
    desk.say(A, ORDER);
    desk.exchange = desk.again(with(&[script("reject")]));
    desk.sleep(10);
    assert_eq!(shown(&desk.pass().1), ["F/1 40+61"]);
    desk.say(A, &ORDER.replace("11=1", "11=2"))[0].has("39=8");
    // A note of a script that cannot be read is none of this exchange.
    let request = MemberRequest {
        member: 0,
        at: Timestamp(1),
        msg_type: RequestMsgType::New,
        fields: RequestFields::new(b"11=9"),
    };
    let script = "half\nbad";
    let mut note = Vec::new();
    MarketEvent::Scripted { request, script }.put(&mut note);
    assert_eq!(
        event_text(&note).unwrap(),
        "Scripted { request: MemberRequest { member: 0, at: Timestamp(1), msg_type: New, fields: 11=9 }, script: \"half\\nbad\" }"
    );
    desk.notes.push(note);
    desk.exchange = desk.again(config());
    assert_eq!(desk.ask(A, ORDER), Err(Refusal::NotAvailable));
}

#[test]
fn mistakes_say_where_they_are_and_what_is_understood() {
    let wrong = |script: OrderScript| {
        let error = Exchange::new(with(&[script]), []).unwrap_err();
        let ExchangeError::Config(problems) = error else {
            panic!("another error");
        };
        let one = &problems[0];
        assert_eq!((one.table, problems.len()), (ConfigTable::Script(0), 1));
        (one.key, one.entry, one.what.clone())
    };
    for (step, why) in [
        (
            "fil 40",
            "unknown step \"fil 40\": the steps are pending, ack, fill QTY|P%|rest [@ PRICE]",
        ),
        ("", "unknown step \"\""),
        ("fill", "fill: write it as fill 40, fill 50% or fill rest"),
        ("fill 0", "fill 0: write it as"),
        ("fill 101%", "fill 101%: write it as"),
        ("fill 40 @", "fill 40 @: write it as"),
        ("fill 40.5", "40.5 is not a multiple of the lot of VOD, 1"),
        (
            "fill 40 @ 12.505",
            "12.505 is not a multiple of the tick of VOD, 0.01",
        ),
        ("wait", "wait: write it as wait 200ms or wait 2s"),
        ("wait 5", "wait 5: write it as"),
        ("wait 25000000s", "wait 25000000s: write it as"),
        (
            "wait for fill",
            "wait for fill: \"fill\" is not a request: use cancel or replace",
        ),
        ("reject \"\"", "put the text at the end, in \"quotes\""),
        (
            "reject \"Not today",
            "put the text at the end, in \"quotes\"",
        ),
        (
            "reject ninety",
            "reject ninety: write it as reject, reject 99",
        ),
        (
            "ack \"Hello\"",
            "ack \"Hello\": this step cannot have a text",
        ),
        ("restate x", "restate x: write it as restate, restate 60"),
        ("correct 5 at 3", "correct 5 at 3: write it as"),
        (
            "ack\u{7}",
            "a step has at most 160 characters, all of them printable",
        ),
    ] {
        let mut script = script("ack");
        script.steps.push(step.into());
        let (key, entry, what) = wrong(script);
        assert_eq!((key, entry), ("steps", Some(1)), "{step}");
        assert!(what.contains(why), "{step}: {what}");
    }
    let many = (0..65).map(|_| "ack").collect::<Vec<_>>().join(",");
    assert_eq!(wrong(script(&many)).0, "steps");
    let nameless = OrderScript {
        name: String::new(),
        ..script("ack")
    };
    assert_eq!(wrong(nameless).0, "name");
    let sided = OrderScript {
        side: Some("long".into()),
        ..script("ack")
    };
    assert_eq!(wrong(sided).0, "side");
    let unknown = OrderScript {
        symbol: Some("XYZ".into()),
        ..script("ack")
    };
    assert_eq!(wrong(unknown).0, "symbol");
    let odd = OrderScript {
        symbol: None,
        quantity: Some(decimal("0.0001")),
        ..script("ack")
    };
    assert!(wrong(odd).2.contains("no order can match the script"));
    let price = OrderScript {
        symbol: None,
        price: Some(decimal("0.001")),
        ..script("ack")
    };
    assert_eq!(wrong(price).0, "price");
    let twice = with(&[script("ack"), script("")]);
    assert!(twice.problems()[0].what.contains("duplicate script half"));
    // A quantity that only one instrument has leaves the others out.
    let btc = OrderScript {
        quantity: Some(decimal("0.5")),
        symbol: None,
        ..script("fill 0.25")
    };
    assert_eq!(with(&[btc]).problems(), []);
}
