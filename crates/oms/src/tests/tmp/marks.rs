//! What each request says beside the terms of its order, and orders that lack it.

use fixwire_tmp::{
    ClientLinkSettings, OrderMarks, SystemType, TmpExecType, TmpPositionEffect, TmpStatus,
};

use super::*;

/// Those of a line, with what each order needs.
pub(super) fn settings(session_id: u16) -> ClientLinkSettings {
    let password = TmpPassword::new(PASSWORD);
    let mut settings = ClientLinkSettings::new(7, session_id, password, SystemType::FUTURES_DAY);
    settings.marks = OrderMarks {
        cm_id: Some(8),
        order_source: b'P',
        info_source: *b"904",
        investor_flag: b'B',
        position_effect: Some(TmpPositionEffect::DAY_TRADE),
    };
    settings
}

#[test]
fn a_line_without_the_fields_of_each_order_is_refused_by_name() {
    let rules = files(SETTINGS, &["CLIENT", "T1"]);
    let mut lines = tmp_lines(1);
    let marks = lines[0].settings.marks;
    let problems = |marks: OrderMarks| {
        let mut lines = tmp_lines(1);
        lines[0].settings.marks = marks;
        Oms::tmp_problems(&rules, &lines)
    };
    assert_eq!(problems(marks), [""; 0]);
    let blank = problems(OrderMarks::default());
    assert_eq!(blank.len(), 3, "{blank:?}");
    for (said, key) in blank
        .iter()
        .zip(["order_source", "info_source", "investor_flag"])
    {
        assert!(
            said.starts_with(&format!("link T1 has no {key},")),
            "{said}"
        );
    }
    // The clearing member is the broker, and orders may all say their PositionEffect.
    lines[0].settings.marks.cm_id = None;
    lines[0].settings.marks.position_effect = None;
    assert_eq!(Oms::tmp_problems(&rules, &lines), [""; 0]);
}

#[test]
fn an_order_of_futures_that_nets_has_the_effect_of_the_line_or_none() {
    let mut settings = tmp_lines(1).remove(0).settings;
    for effect in [
        TmpPositionEffect::OPEN,
        TmpPositionEffect::CLOSE,
        TmpPositionEffect::DAY_TRADE,
        TmpPositionEffect::LIQUIDATION,
    ] {
        settings.marks.position_effect = Some(effect);
        assert_eq!(settings.effect_of_netting(), Some(effect));
        assert!(effect.is_of_orders(SystemType::FUTURES_NIGHT));
    }
    settings.marks.position_effect = None;
    assert_eq!(settings.effect_of_netting(), None);
    for (system, is_options) in [
        (SystemType::FUTURES_DAY, false),
        (SystemType::FUTURES_NIGHT, false),
        (SystemType::OPTIONS_DAY, true),
        (SystemType::OPTIONS_NIGHT, true),
    ] {
        settings.system_type = system;
        let automatic = is_options.then_some(TmpPositionEffect::AUTOMATIC);
        assert_eq!(settings.effect_of_netting(), automatic);
        assert_eq!(
            TmpPositionEffect::AUTOMATIC.is_of_orders(system),
            is_options
        );
        assert!(!TmpPositionEffect::QUOTE.is_of_orders(system));
    }
    // The group says it to the orders.
    let mut floor = Floor::new();
    let mut rules = floor.rules.clone();
    let mut lines = tmp_lines(1);
    lines[0].settings.marks.position_effect = None;
    crate::tmp::TmpLines::new(lines).complete(&mut rules);
    let group = &rules.groups[0];
    assert!(group.over_tmp && group.needs_effect && group.has_futures);
    floor.order(10, "100", "");
    let order = floor.got_one();
    assert_eq!(order.position_effect, TmpPositionEffect::DAY_TRADE);
    assert_eq!((order.cm_id, order.fcm_id), (8, 7));
}

#[test]
fn an_order_of_which_nothing_trades_may_be_one_report() {
    for (tif, status, code) in [
        ("3", TmpStatus::IOC_KILLED, "40053"),
        ("4", TmpStatus::FOK_KILLED, "40051"),
    ] {
        let mut floor = Floor::new();
        floor.order(10, "100", &format!("|59={tif}"));
        let order = floor.got_one();
        floor.says(&R02 {
            status,
            ..report(&order, TmpExecType::NEW_FILL, (10, 0))
        });
        let reports = floor.reports(&["150", "14", "151", "58"]);
        assert_eq!(reports.len(), 2, "{reports:?}");
        assert_eq!(reports[0], "150=0|14=0|151=10");
        assert!(
            reports[1].starts_with("150=4|14=0|151=0|58="),
            "{reports:?}"
        );
        assert!(reports[1].contains(code), "{reports:?}");
        floor.check();
    }
}

#[test]
fn an_order_without_any_position_effect_is_refused() {
    let settings = SETTINGS.replace("[oms]\n", "[oms]\nappl_id = \"BARE\"\n");
    let mut floor = Floor::with(&settings, 1, |_| {});
    floor.connect(0);
    floor.order(10, "100", "");
    let reports = floor.reports(&["150", "58"]);
    assert_eq!(reports.len(), 1, "{reports:?}");
    assert!(reports[0].starts_with("150=8|58="), "{reports:?}");
    assert!(reports[0].contains("position_effect"), "{reports:?}");
    // One that says it itself is sent.
    floor.order(1, "100", "|55=FUTURE|77=C");
    let order = floor.got_one();
    assert_eq!(order.position_effect, TmpPositionEffect::CLOSE);
    floor.check();
}

/// The bytes of a request that depend on its marks: cm_id, account_flag, PositionEffect, order_source and info_source.
pub(super) fn marked(of: &R01) -> String {
    let mut frame = [0; R01::SIZE];
    of.encode(&TmpHeader::default(), &mut frame).unwrap();
    let cm_id = u16::from_be_bytes([frame[18], frame[19]]);
    let text = |at: core::ops::Range<usize>| String::from_utf8_lossy(&frame[at]).into_owned();
    let (flag, effect) = (text(70..71), text(74..75));
    format!("{cm_id} {flag} {effect} {} {}", text(75..76), text(76..79))
}

/// Each request of the life of an order, over a restart from notes or from a checkpoint.
pub(super) fn life(floor: &mut Floor, more: &str, with_checkpoint: bool) -> Vec<String> {
    let symbol = if more.contains("55=FUTURE") {
        "FUTURE"
    } else {
        "TXFL6"
    };
    let id = floor.order(10, "100", more);
    let order = floor.got_one();
    let mut all = vec![marked(&order)];
    floor.says(&accepted(&order));
    let request = |floor: &mut Floor, kind: &str, original: &str, more: &str| {
        let id = floor.id();
        let fields = format!("35={kind}|11={id}|41={original}|54=1|55={symbol}{more}");
        floor.client(&fields).unwrap();
        (id, floor.got_one())
    };
    let (id, reduce) = request(floor, "G", &id, "|38=8|44=100|40=2");
    all.push(marked(&reduce));
    floor.says(&report(&reduce, TmpExecType::REDUCE, (10, 8)));
    floor.restart(with_checkpoint);
    floor.pass(2 * SECOND);
    floor.connect(0);
    let (id, price) = request(floor, "G", &id, "|38=8|44=101|40=2");
    all.push(marked(&price));
    floor.disconnect(0);
    floor.connect(0);
    let query = floor.got_one();
    assert_eq!(query.exec_type, TmpExecType::QUERY);
    all.push(marked(&query));
    floor.says(&R02 {
        price: price.price,
        ..report(&price, TmpExecType::PRICE, (8, 8))
    });
    let (_, cancel) = request(floor, "F", &id, "");
    all.push(marked(&cancel));
    floor.says(&report(&cancel, TmpExecType::CANCEL, (8, 0)));
    floor.check();
    all
}

#[test]
fn each_request_of_an_order_has_its_position_effect() {
    for (symbol, with_checkpoint) in [("TXFL6", false), ("TXFL6", true), ("FUTURE", true)] {
        for effect in ["O", "C", "D", "7"] {
            let mut floor = Floor::new();
            let more = format!("|55={symbol}|77={effect}");
            let wanted = vec![format!("8 B {effect} P 904"); 5];
            assert_eq!(life(&mut floor, &more, with_checkpoint), wanted, "{symbol}");
            let told = floor.reports(&["35", "77"]);
            let reports = told.iter().filter(|it| it.starts_with("35=8"));
            assert!(
                reports.clone().count() > 0
                    && reports.clone().all(|it| *it == format!("35=8|77={effect}")),
                "{told:?}"
            );
        }
        let mut floor = Floor::new();
        if symbol == "TXFL6" {
            let wanted = vec!["8 B D P 904".to_string(); 5];
            assert_eq!(life(&mut floor, "", with_checkpoint), wanted);
        }
    }
}

#[test]
fn a_position_effect_that_tmp_does_not_have_is_refused_with_its_tag() {
    let text = "over TMP PositionEffect(77) must be O, C, D or 7; of options it may be A too";
    let mut floor = Floor::new();
    for symbol in ["TXFL6", "FUTURE"] {
        for effect in ["A", "R", "F", "N", "9", "o", "c", "l", "OC"] {
            floor.order(1, "100", &format!("|55={symbol}|77={effect}"));
            assert_eq!(
                floor.reports(&["150", "58"]),
                [format!("150=8|58={text}")],
                "{symbol} {effect}"
            );
        }
    }
    assert_eq!(floor.got(), []);
    floor.check();
    // A replace names the same or none.
    let id = floor.order(10, "100", "|77=O");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.reports(&[]);
    let replace = |floor: &mut Floor, effect: &str| {
        let new = floor.id();
        let fields = format!("35=G|11={new}|41={id}|54=1|55=TXFL6|40=2|38=8|44=100|77={effect}");
        floor.client(&fields).unwrap();
    };
    replace(&mut floor, "C");
    let refused = "only OrderQty(38) and Price(44) of a replace may differ from the order (tag 77)";
    assert_eq!(floor.reports(&["35", "58"]), [format!("35=9|58={refused}")]);
    replace(&mut floor, "O");
    assert_eq!(floor.got_one().exec_type, TmpExecType::REDUCE);
    floor.check();
}

#[test]
fn orders_of_options_may_say_a() {
    let settings = SETTINGS.replace("[oms]\n", "[oms]\nappl_id = \"OPTIONS\"\n");
    for (effect, wanted) in [("|77=A", "A"), ("|77=D", "D"), ("|77=O", "O"), ("", "A")] {
        let mut floor = Floor::with(&settings, 1, |link| {
            link.system_type = SystemType::OPTIONS_DAY;
        });
        floor.connect(0);
        let all = life(&mut floor, effect, false);
        assert_eq!(all, vec![format!("8 B {wanted} P 904"); 5]);
    }
}

/// What the user of the client says.
fn with_user(keys: &str) -> Floor {
    let settings = SETTINGS.replace("conditional = 2\n", &format!("conditional = 2\n{keys}\n"));
    let mut floor = Floor::with(&settings, 1, |_| {});
    floor.connect(0);
    floor
}

#[test]
fn a_user_has_marks_of_its_own() {
    for (keys, wanted) in [
        ("cm_id = 77", "77 B D P 904"),
        ("order_source = 'G'", "8 B D G 904"),
        ("info_source = '999'", "8 B D P 999"),
        ("investor_flag = 'F'", "8 F D P 904"),
        ("position_effect = 'open'", "8 B O P 904"),
        ("position_effect = 'close'", "8 B C P 904"),
        ("position_effect = 'liquidation'", "8 B 7 P 904"),
        (
            "cm_id = 9\norder_source = 'A'\ninfo_source = '7x9'\ninvestor_flag = '1'\nposition_effect = 'open'",
            "9 1 O A 7x9",
        ),
    ] {
        for with_checkpoint in [false, true] {
            let all = life(&mut with_user(keys), "", with_checkpoint);
            assert_eq!(all, vec![wanted.to_string(); 5]);
        }
    }
    // PositionEffect(77) of the order goes first, and a symbol with `effect` has that of its user.
    let keys = "position_effect = 'close'";
    let all = life(&mut with_user(keys), "|77=O", false);
    assert_eq!(all[0], "8 B O P 904");
    let mut floor = with_user(keys);
    let all = life(&mut floor, "|55=FUTURE", true);
    assert_eq!(all, vec!["8 B C P 904".to_string(); 5]);
}

#[test]
fn quotes_and_inquiries_have_the_marks_of_their_user() {
    let keys = "cm_id = 9\norder_source = 'A'\ninfo_source = '7x9'\ninvestor_flag = '1'\nposition_effect = 'open'";
    let mut floor = with_user(keys);
    let fields = "35=S|117=Q1|1=0012345|55=TXFL6|132=100|133=101|134=3|135=4";
    floor.client(fields).unwrap();
    let quote = floor.members[0].quotes.pop().unwrap();
    assert_eq!((quote.cm_id, quote.order_source), (9, b'A'));
    assert_eq!((quote.info_source, quote.account_flag), (*b"7x9", b'1'));
    assert_eq!(quote.position_effect, TmpPositionEffect::QUOTE);
    floor.client("35=R|131=R1|146=1|55=TXFL6").unwrap();
    let inquiry = floor.members[0].others.pop().unwrap();
    assert_eq!(&inquiry[49..53], b"A7x9");
    floor.check();
}

#[test]
fn an_order_keeps_what_it_said_when_settings_change() {
    for with_checkpoint in [false, true] {
        let mut floor = with_user("order_source = 'G'");
        let id = floor.order(10, "100", "");
        let order = floor.got_one();
        floor.says(&accepted(&order));
        let mut rules = floor.rules.clone();
        rules.users[0].marks.order_source = Some(b'V');
        rules.users[0].marks.investor_flag = Some(b'F');
        floor.rules = rules;
        floor.restart(with_checkpoint);
        floor.pass(2 * SECOND);
        floor.connect(0);
        floor.cancel(&id);
        assert_eq!(marked(&floor.got_one()), "8 B D G 904");
        floor.order(1, "100", "");
        assert_eq!(marked(&floor.got_one()), "8 F D V 904");
        floor.check();
    }
}

#[test]
fn an_order_that_is_sent_again_says_the_same() {
    let mut floor = with_user("order_source = 'G'");
    floor.order(10, "100", "|77=7");
    let order = floor.got_one();
    floor.says(&reject(&order, TmpStatus::NOT_OPEN));
    floor.pass(SECOND);
    let again = floor.got_one();
    assert_ne!(again.order_no, order.order_no);
    assert_eq!(marked(&again), "8 B 7 G 904");
    assert_eq!(marked(&order), marked(&again));
    floor.check();
}

#[test]
fn positions_net_where_the_symbol_nets_whatever_the_venue_is_told() {
    let mut floor = Floor::new();
    let held = |floor: &Floor, symbol: &[u8]| {
        let state = floor.oms.state();
        let account = state.accounts().find(b"0012345").unwrap();
        let position = state.position(account, state.instruments().find(symbol).unwrap());
        (position.long, position.short)
    };
    let mut trade = |symbol: &str, side: char, quantity: u16, effect: &str| {
        floor.order(
            quantity.into(),
            "100",
            &format!("|55={symbol}|54={side}|77={effect}"),
        );
        let order = floor.got_one();
        floor.says(&accepted(&order));
        floor.says(&fill(&order, quantity, order.price, (0, quantity)));
        held(&floor, symbol.as_bytes())
    };
    assert_eq!(trade("TXFL6", '1', 10, "O"), (10, 0));
    assert_eq!(trade("TXFL6", '2', 4, "O"), (6, 0), "it nets");
    assert_eq!(trade("TXFL6", '2', 2, "D"), (4, 0));
    assert_eq!(trade("TXFL6", '2', 6, "7"), (0, 2));
    assert_eq!(trade("FUTURE", '1', 10, "O"), (10, 0));
    assert_eq!(trade("FUTURE", '2', 4, "O"), (10, 4), "side by side");
    assert_eq!(trade("FUTURE", '2', 3, "7"), (7, 4));
    assert_eq!(trade("FUTURE", '2', 2, "D"), (5, 4));
    assert_eq!(trade("FUTURE", '1', 4, "C"), (5, 0));
    floor.check();
}

#[test]
fn marks_of_users_are_checked() {
    let names = ["CLIENT", "T1"];
    for (keys, wanted) in [
        ("order_source = 'X'", "write D, A, M, W, P, V or G"),
        ("info_source = '99'", "write the 3 characters"),
        ("investor_flag = 'AB'", "write the character"),
        ("position_effect = 'O'", "write open, close, day trade"),
        ("cm_id = 70000", "cm_id must be a number from 0 to 65535"),
        ("cm_id = 0", "cm_id is 0"),
    ] {
        let keys = format!("conditional = 2\n{keys}\n");
        let settings = SETTINGS.replace("conditional = 2\n", &keys);
        let mut open = |file: &str| match file {
            "instruments.csv" => Ok(INSTRUMENTS.to_string()),
            _ => Ok(LIMITS.to_string()),
        };
        let errors = load(&settings, &names, &mut open).unwrap_err();
        let text = format!("{errors:?}");
        assert!(text.contains(wanted), "{text}");
    }
    // Without a line over TMP they say nothing.
    let rules = with_user("order_source = 'G'\nposition_effect = 'open'").rules;
    let said = Oms::tmp_problems(&rules, &[]);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].starts_with("user CLIENT has order_source, which"),
        "{said:?}"
    );
}
