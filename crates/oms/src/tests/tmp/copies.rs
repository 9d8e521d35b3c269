//! A drop copy over TMP beside the reports of its line: what is equal is silent and counts once, orders placed elsewhere
//! count.

use fixwire_tmp::messages::{R06, R15, R16};
use fixwire_tmp::{TmpOrdType, TmpPositionEffect, TmpSide, TmpTimeInForce};

use super::faults::frame_of;
use super::*;
use crate::values::value::End;

/// The second link.
const COPY: usize = 1;
/// A session of the broker that is none of ours.
const ELSEWHERE: u16 = 9;

fn with_copy() -> String {
    let group = "lines = [\"T1\"]\nnumber_pool = \"P\"\n";
    let settings = SETTINGS.replace("[oms]\n", "[oms]\ncopy_within = \"3s\"\n");
    let source = "[[drop_copy_in]]\nsession = \"T2\"\nline_groups = [\"FUT\"]\n[[line_group]]\nname = \"LONG\"\nlines = [\"T3\"]\nnumber_pool = \"P\"\n";
    let more =
        format!("{source}[[route]]\nsymbols = [\"A-SYMBOL-OF-MORE-THAN-20\"]\nto = \"LONG\"\n");
    assert!(settings.contains(group));
    settings.replace("[[route]]\n", &format!("{more}[[route]]\n"))
}

fn floor(set: impl Fn(&mut ExchangeLinkSettings)) -> Floor {
    floor_of(&with_copy(), set)
}

fn floor_of(settings: &str, set: impl Fn(&mut ExchangeLinkSettings)) -> Floor {
    let mut floor = Floor::with(settings, 3, |settings| {
        if settings.session_id == 2 {
            settings.ap_code = ApCode::DROP_COPY;
        }
        set(settings);
    });
    floor.connect(0);
    subscribed(&mut floor);
    floor.events();
    floor
}

/// The drop copy logs in, and its subscription is accepted; the number that it asks from.
fn subscribed(floor: &mut Floor) -> u32 {
    floor.connect(COPY);
    let asked = asked(floor);
    assert_eq!((asked.member, asked.target_id), (7, 7));
    answer(floor, asked, TmpStatus::OK);
    asked.req_seq
}

fn asked(floor: &mut Floor) -> R15 {
    let frames = core::mem::take(&mut floor.members[COPY].others);
    assert_eq!(frames.len(), 1);
    TmpFrame::read(&frames[0]).unwrap().body().unwrap()
}

fn answer(floor: &mut Floor, asked: R15, status: TmpStatus) {
    let (member, target_id, req_seq) = (asked.member, asked.target_id, asked.req_seq);
    floor.says_on(
        COPY,
        &R16 {
            status,
            member,
            target_id,
            req_seq,
        },
    );
}

/// The copy of a report of our line.
fn copy(report: &R02) -> R06 {
    R06::of(report, 7, 1)
}

fn breaks(floor: &Floor) -> Vec<String> {
    let mut list = Vec::new();
    floor.oms.on_query(floor.now, b"breaks", &mut list).unwrap();
    let list = String::from_utf8(list).unwrap();
    let rows = list.lines().skip(1).map(|row| {
        let cells: Vec<&str> = row.split('\t').collect();
        [cells[1], cells[2], cells[6], cells[7]].join(", ")
    });
    rows.collect()
}

fn net(floor: &Floor) -> i128 {
    let positions = floor.oms.state().positions();
    positions.map(|(.., position)| position.net()).sum()
}

/// Why the fills of the first position are in doubt.
fn doubt(floor: &Floor) -> String {
    let state = floor.oms.state();
    let (account, instrument, _) = state.positions().next().unwrap();
    let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let (account, symbol) = (
        name(state.accounts().name(account)),
        name(state.instruments().name(instrument)),
    );
    let asked = format!("positions check totals file=p.csv;{account} {symbol} 0 0");
    let mut answer = Vec::new();
    floor
        .oms
        .on_query(floor.now, asked.as_bytes(), &mut answer)
        .unwrap();
    let answer = String::from_utf8(answer).unwrap();
    let why = answer.trim_end().split_once("are in doubt: ");
    why.map_or(answer.clone(), |(_, why)| String::from(why))
}

/// A report of an order that was placed elsewhere, for 10 at 101.
fn elsewhere(
    exec_type: TmpExecType,
    rpt_seq: u32,
    (last, cum, leaves, before): (u16, u16, u16, u16),
) -> R06 {
    let mut symbol = [b' '; 20];
    symbol[..5].copy_from_slice(b"TXFL6");
    let report = R02 {
        exec_type,
        cm_id: 7,
        fcm_id: 7,
        order_no: *b"X0001",
        ord_id: 1,
        user_define: *b"00000001",
        symbol_type: fixwire_tmp::TmpSymbolType::TEXT_20,
        symbol,
        price: 1_010,
        qty: 10,
        account: 12_345,
        side: TmpSide::BUY,
        ord_type: TmpOrdType::LIMIT,
        time_in_force: TmpTimeInForce::DAY,
        position_effect: TmpPositionEffect::AUTOMATIC,
        last_px: 1_010,
        last_qty: last,
        cum_qty: cum,
        leaves_qty: leaves,
        before_qty: before,
        rpt_seq,
        transact_time: TmpTime::from_wall_ns(1_795_305_600_000_000_000),
        ..R02::default()
    };
    R06::of(&report, 7, ELSEWHERE)
}

#[test]
fn a_fill_and_its_copy_count_once_whichever_comes_first() {
    for is_short in [false, true] {
        let settings = match is_short {
            true => with_copy().replace("[oms]\n", "[oms]\nappl_id = \"SHORT\"\n"),
            false => with_copy(),
        };
        let mut floor = floor_of(&settings, |settings| {
            if is_short && settings.session_id == 1 {
                settings.ap_code = ApCode::TRADING_SHORT;
            }
        });
        floor.order(10, "100", "");
        let order = floor.got_one();
        let says = |floor: &mut Floor, report: &R02| match is_short {
            true => floor.says(&report.short()),
            false => floor.says(report),
        };
        let mut reports = [
            accepted(&order),
            fill(&order, 4, 1_000, (0, 10)),
            fill(&order, 6, 1_000, (4, 6)),
        ];
        for (rpt_seq, report) in (1..).zip(&mut reports) {
            report.rpt_seq = rpt_seq;
            report.leg_px[0] = report.last_px;
            report.leg_qty[0] = report.last_qty;
        }
        for report in &reports[..2] {
            says(&mut floor, report);
            floor.says_on(COPY, &copy(report));
            floor.says_on(COPY, &copy(report));
        }
        floor.says_on(COPY, &copy(&reports[2]));
        assert_eq!(net(&floor), 4, "a copy is no fill");
        let why = "the drop copy has reported a fill of order 1 that its line has not";
        assert_eq!(doubt(&floor), why);
        says(&mut floor, &reports[2]);
        assert_eq!(doubt(&floor), "");
        floor.pass(10 * SECOND);
        assert_eq!(breaks(&floor), [""; 0], "short: {is_short}");
        assert_eq!(
            (net(&floor), floor.state_of(1)),
            (10, OrderState::Ended(End::Filled))
        );
        assert_eq!(floor.events(), [""; 0]);
        floor.check();
    }
}

#[test]
fn what_one_side_lacks_or_has_otherwise_is_a_break() {
    let mut floor = floor(|_| {});
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.says_on(COPY, &copy(&accepted(&order)));
    let only_line = R02 {
        rpt_seq: 2,
        ..fill(&order, 4, 1_000, (0, 10))
    };
    let only_copy = R02 {
        rpt_seq: 3,
        ..fill(&order, 1, 1_000, (4, 6))
    };
    floor.says(&only_line);
    floor.says_on(COPY, &copy(&only_copy));
    floor.pass(2 * SECOND);
    assert_eq!(breaks(&floor), [""; 0], "there is time");
    // While the copy is away nothing is missing.
    floor.disconnect(COPY);
    floor.pass(60 * SECOND);
    assert_eq!(breaks(&floor), [""; 0]);
    assert_eq!(
        subscribed(&mut floor),
        4,
        "from behind the last one received"
    );
    floor.pass(4 * SECOND);
    assert_eq!(
        breaks(&floor),
        [
            "fill without a copy, 1, 4 at 100, -",
            "copy without a fill, 1, -, 1 at 100"
        ]
    );
    assert_eq!(net(&floor), 4, "only what the line says counts");
    assert_eq!(floor.events().len(), 2);
    floor.says(&only_copy);
    floor.says_on(COPY, &copy(&only_line));
    assert_eq!(breaks(&floor), [""; 0]);
    assert_eq!(net(&floor), 5);
    floor.check();
}

#[test]
fn an_order_placed_elsewhere_counts_and_its_fill_on_a_line_counts_once() {
    let mut floor = floor(|_| {});
    floor.order(1, "100", "");
    let own = floor.got_one();
    floor.says(&accepted(&own));
    // Its user_define is a number of ours by chance.
    floor.says_on(COPY, &elsewhere(TmpExecType::NEW, 11, (0, 0, 10, 0)));
    let number = floor
        .oms
        .state()
        .orders()
        .iter()
        .map(|it| it.number)
        .max()
        .unwrap();
    let order = floor.find(number);
    assert!(order.is_external());
    assert_eq!((order.quantity, order.price, order.filled), (10, 1_010, 0));
    let moved = elsewhere(TmpExecType::FILL, 12, (3, 3, 7, 10));
    floor.says_on(COPY, &moved);
    // It went to our line as well.
    floor.says(&moved.report(0));
    assert_eq!(net(&floor), 3);
    floor.says_on(COPY, &elsewhere(TmpExecType::REDUCE, 13, (0, 3, 5, 7)));
    // Its fills come from the drop copy session.
    assert_eq!(doubt(&floor), "");
    floor.disconnect(COPY);
    floor.pass(1);
    let why = format!("order {number} is open on line T2, which is down");
    assert_eq!(doubt(&floor), why);
    subscribed(&mut floor);
    assert_eq!(doubt(&floor), "");
    let price = R06 {
        price: 1_020,
        ..elsewhere(TmpExecType::PRICE, 14, (0, 3, 5, 5))
    };
    floor.says_on(COPY, &price);
    let order = floor.find(number);
    assert_eq!((order.quantity, order.price), (8, 1_020));
    floor.says_on(COPY, &elsewhere(TmpExecType::CANCEL, 15, (0, 3, 0, 5)));
    assert!(!floor.find(number).state.is_open());
    // Of another one the line says the fill first: that of an unknown order.
    let other = |copy: R06| R06 {
        order_no: *b"X0002",
        rpt_session_id: 1,
        ..copy
    };
    let next = other(elsewhere(TmpExecType::FILL, 17, (2, 2, 8, 10)));
    floor.says(&next.report(0));
    assert_eq!(net(&floor), 5);
    floor.says_on(COPY, &other(elsewhere(TmpExecType::NEW, 16, (0, 0, 10, 0))));
    floor.says_on(COPY, &next);
    assert_eq!(net(&floor), 5, "it counts once");
    assert_eq!(floor.find(1).quantity, 1, "ours is as it was");
    floor.pass(10 * SECOND);
    assert_eq!(breaks(&floor), [""; 0]);
    floor.check();
}

#[test]
fn a_new_order_with_a_fill_whose_rest_is_deleted_ends() {
    let mut floor = floor(|_| {});
    floor.says_on(COPY, &elsewhere(TmpExecType::NEW_FILL, 1, (4, 4, 0, 10)));
    let order = floor.find(1);
    assert_eq!((order.quantity, order.filled), (10, 4));
    assert_eq!(order.state, OrderState::Ended(End::Cancelled));
    assert_eq!(net(&floor), 4);
    // The sides of a quote share their order_no, brokers may too.
    let quote = |side, fcm_id| R06 {
        side,
        fcm_id,
        position_effect: TmpPositionEffect::QUOTE,
        ..elsewhere(TmpExecType::NEW, 2, (0, 0, 10, 0))
    };
    for (rpt_seq, (side, fcm_id)) in
        (2..).zip([(TmpSide::BUY, 7), (TmpSide::SELL, 7), (TmpSide::SELL, 8)])
    {
        floor.says_on(
            COPY,
            &R06 {
                rpt_seq,
                ..quote(side, fcm_id)
            },
        );
    }
    let state = floor.oms.state();
    let link = state.sessions().find(b"T2").unwrap();
    for id in [&b"X0001"[..], b"X0001B", b"X0001S", b"8-X0001S"] {
        assert!(
            state.used(link, id).is_some_and(|it| it > 0),
            "{}",
            String::from_utf8_lossy(id)
        );
    }
    floor.check();
}

#[test]
fn a_fill_for_an_unknown_account_is_a_break_and_an_unknown_symbol_an_event() {
    let mut floor = floor(|_| {});
    let unknown = R06 {
        account: 99,
        ..elsewhere(TmpExecType::FILL, 1, (4, 4, 6, 10))
    };
    floor.says_on(COPY, &unknown);
    floor.says_on(COPY, &unknown);
    assert_eq!(breaks(&floor).len(), 1);
    assert_eq!(net(&floor), 0);
    let numbers = R06 {
        symbol_type: fixwire_tmp::TmpSymbolType::NUMERIC_20,
        ..elsewhere(TmpExecType::NEW, 2, (0, 0, 10, 0))
    };
    floor.events();
    floor.says_on(COPY, &numbers);
    assert_eq!(
        floor.events(),
        ["report for unknown order X0001 ignored: check with the venue"]
    );
}

#[test]
fn a_restart_at_each_note_asks_for_the_copies_behind_the_last_one() {
    for with_checkpoint in [false, true] {
        let mut floor = floor(|_| {});
        floor.order(10, "100", "");
        let order = floor.got_one();
        floor.says(&accepted(&order));
        let one = R02 {
            rpt_seq: 21,
            ..fill(&order, 4, 1_000, (0, 10))
        };
        let said = [
            copy(&one),
            elsewhere(TmpExecType::NEW, 22, (0, 0, 10, 0)),
            elsewhere(TmpExecType::FILL, 23, (3, 3, 7, 10)),
        ];
        floor.says(&one);
        for (at, copy) in said.iter().enumerate() {
            floor.says_on(COPY, copy);
            floor.restart(with_checkpoint);
            floor.pass(SECOND + 1);
            floor.connect(0);
            floor.got();
            assert_eq!(subscribed(&mut floor), 22 + at as u32);
            // The exchange sends it again all the same.
            floor.says_on(COPY, copy);
        }
        assert_eq!(net(&floor), 7);
        floor.pass(10 * SECOND);
        assert_eq!(breaks(&floor), [""; 0]);
        floor.check();
    }
}

#[test]
fn a_killed_process_has_a_copy_and_its_number_or_neither() {
    let mut floor = floor(|_| {});
    let before = floor.notes.len();
    floor.says_on(COPY, &elsewhere(TmpExecType::FILL, 31, (3, 3, 7, 10)));
    let notes = floor.notes.len();
    assert!(notes > before + 2);
    for end in before..=notes {
        // The events of a frame are in one record: a journal never ends between them. What is replayed of them is sound
        // all the same, and the number comes last, so that a copy without it comes again.
        let mut state = crate::OmsState::default();
        floor.notes[..end]
            .iter()
            .for_each(|note| state.apply_note(note));
        assert_eq!(state.violations(), 0, "{end} notes");
        let link = state.sessions().find(b"T2").unwrap();
        assert_eq!(
            state.link_numbers(link).0,
            if end == notes { 31 } else { 0 }
        );
    }
}

#[test]
fn a_copy_that_is_read_after_its_day_counts_and_its_number_does_not() {
    let days = with_copy().replace("00:00 UTC", "06:00 UTC");
    let mut floor = floor_of(&days, |_| {});
    floor.says_on(COPY, &elsewhere(TmpExecType::NEW, 30, (0, 0, 10, 0)));
    let line = floor.oms.state().sessions().find(b"T2").unwrap();
    assert_eq!(floor.oms.state().link_numbers(line).0, 30);
    // It comes while there is no room, and the day ends meanwhile.
    let room = core::mem::replace(&mut floor.room, 16);
    let frame = frame_of(&elsewhere(TmpExecType::FILL, 31, (3, 3, 7, 10)), 3);
    let link = SessionId::of_link(COPY as u32);
    let answer = floor.tell(|oms, now, outbox| oms.on_frame(now, link, &frame, outbox));
    assert!(answer.is_ok());
    let day = floor.oms.state().day();
    floor.now.wall.0 += 86_400 * SECOND.cast_signed();
    for _ in 0..20 {
        floor.tell(|oms, now, outbox| oms.on_time(now, outbox));
    }
    assert!(floor.oms.state().day() > day);
    assert_eq!(net(&floor), 0, "it waits");
    floor.room = room;
    floor.work();
    assert_eq!(net(&floor), 3);
    assert_eq!(floor.oms.state().link_numbers(line).0, 0);
    floor.disconnect(COPY);
    assert_eq!(subscribed(&mut floor), 0, "all of the new day");
    floor.check();
}

#[test]
fn a_refused_subscription_is_an_event() {
    let mut floor = floor(|_| {});
    floor.disconnect(COPY);
    floor.connect(COPY);
    floor.events();
    let asked = asked(&mut floor);
    answer(&mut floor, asked, TmpStatus::SUBSCRIPTION_209);
    let events = floor.events();
    assert_eq!(events.len(), 1);
    assert!(
        events[0].starts_with("line T2: subscription of reports refused with status 209"),
        "{events:?}"
    );
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.says(&fill(&order, 4, 1_000, (0, 10)));
    floor.pass(60 * SECOND);
    assert_eq!(breaks(&floor), [""; 0], "nothing can be compared");
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let names = ["CLIENT", "T1", "T2", "T3"];
    let rules = files(&with_copy(), &names);
    assert_eq!(
        Oms::tmp_problems(&rules, &tmp_lines(3)),
        [
            "link T2 of drop_copy_in has ap_code 4: write ap_code = \"drop copy\" or \"clearing member\""
        ]
    );
    let all = with_copy().replace("A-SYMBOL-OF-MORE-THAN-20", "NONE");
    let rules = files(&all, &names);
    assert_eq!(
        Oms::tmp_problems(&rules, &lines_of(&rules, 3)),
        [
            "symbol A-SYMBOL-OF-MORE-THAN-20 has more than 20 bytes, and does not fit into R06: route it to a line_group that is not in drop_copy_in T2 (now it goes to FUT)"
        ]
    );
    let links = "[[link]]\nname = \"T1\"\n[[link]]\nname = \"T2\"\n[[link]]\nname = \"T3\"\n";
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(INSTRUMENTS.to_string()),
        _ => Ok(LIMITS.to_string()),
    };
    let mut errors = |settings: &str, links: &str, names: &[&str]| {
        let text = format!("{settings}{links}");
        let errors = load(&text, names, &mut open);
        let errors = errors.err().unwrap_or_default();
        errors
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<String>>()
            .join("\n")
    };
    assert_eq!(errors(&with_copy(), links, &["CLIENT"]), "");
    let target = |target: &str| {
        with_copy().replace(
            "session = \"T2\"\n",
            &format!("session = \"T2\"\ntarget = {target}\n"),
        )
    };
    assert_eq!(errors(&target("17"), links, &["CLIENT"]), "");
    assert!(
        errors(&target("5"), links, &["CLIENT"]).contains("target = 5 is not a target_id of R15")
    );
    assert!(
        errors(&target("17"), "", &names)
            .contains("target is only used for a subscription over TMP")
    );
    let mixed = "[[link]]\nname = \"T1\"\n[[link]]\nname = \"T3\"\n";
    assert!(
        errors(&with_copy(), mixed, &["CLIENT", "T2"])
            .contains("T2 and T1 have different protocols, FIX and TMP")
    );
}
