//! What TMP cannot say is refused before anything is sent; what the exchange rejects goes by the error table.

use super::*;
use crate::values::value::End;
use fixwire_protocol::OperatorCommand;

/// Text(58) of the reject of an order with these values.
fn refused(floor: &mut Floor, quantity: u32, price: &str, more: &str) -> String {
    floor.order(quantity, price, more);
    assert_eq!(floor.got(), []);
    let mut reports = floor.reports(&["150", "58"]);
    let report = reports.pop().unwrap();
    report
        .strip_prefix("150=8|58=")
        .unwrap_or(&report)
        .to_string()
}

#[test]
fn an_order_that_has_no_place_in_r01_is_refused() {
    let mut floor = Floor::new();
    let mut text = |quantity, price, more| refused(&mut floor, quantity, price, more);
    let tif =
        "over TMP TimeInForce(59) must be 0 (Day), 3 (Immediate or Cancel) or 4 (Fill or Kill)";
    assert_eq!(text(1, "100", "|59=1"), tif);
    assert_eq!(text(1, "100", "|59=6|432=20301231"), tif);
    assert_eq!(
        text(1, "100", "|1=A1"),
        "over TMP Account(1) must be a number of at most 9 digits"
    );
    assert_eq!(
        text(65_536, "100", ""),
        "over TMP OrderQty(38) is at most 65535"
    );
    let price = "over TMP Price(44) must have a place in 32 bits";
    assert_eq!(text(1, "214748365", ""), price);
    floor.order(65_535, "1", "");
    floor.order(1, "214748364.5", "");
    let orders = floor.got();
    assert_eq!((orders[0].qty, orders[1].price), (65_535, 2_147_483_645));
    floor.check();
}

#[test]
fn a_symbol_that_is_too_long_is_refused() {
    let long = "S".repeat(41);
    let rules = {
        let instruments = format!("symbol,tick,lot,multiplier,reference\n{long},1,1,1,100\n");
        let mut open = |file: &str| match file {
            "instruments.csv" => Ok(instruments.clone()),
            _ => Ok(LIMITS.to_string()),
        };
        load(SETTINGS, &["CLIENT", "T1"], &mut open).unwrap()
    };
    let problems = Oms::tmp_problems(&rules, &tmp_lines(1));
    assert_eq!(
        problems,
        [format!(
            "symbol {long} has more than 40 bytes, the maximum of TMP: route it to another line_group"
        )]
    );
    // Who does not ask has it refused order by order.
    let mut floor = Floor::new();
    floor.oms = oms(rules, 1, &floor.events);
    floor.work();
    let text = refused(&mut floor, 1, "100", &format!("|55={long}"));
    assert_eq!(text, "over TMP Symbol(55) has at most 40 bytes");
}

#[test]
fn a_replace_that_tmp_does_not_have_is_refused() {
    let mut floor = Floor::new();
    let id = floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.reports.clear();
    for (quantity, price, text) in [
        (
            9,
            "101",
            "over TMP a replace changes OrderQty(38) or Price(44), not both: send two",
        ),
        (
            11,
            "100",
            "over TMP a replace cannot raise OrderQty(38): send a new order for the rest",
        ),
        (
            10,
            "214748365",
            "over TMP Price(44) must have a place in 32 bits",
        ),
    ] {
        floor.replace(&id, quantity, price);
        assert_eq!(floor.got(), []);
        let wanted = format!("35=9|39=0|58={text}");
        assert_eq!(floor.reports(&["35", "39", "58"]), [wanted]);
    }
    // One that changes nothing is sent as a price.
    floor.replace(&id, 10, "100");
    assert_eq!(floor.got_one().exec_type, TmpExecType::PRICE);
    floor.check();
}

#[test]
fn a_stop_order_is_held_and_sent_as_a_market_order() {
    let mut floor = Floor::new();
    let id = floor.order(10, "100", "|40=3|99=105");
    assert_eq!((floor.got(), floor.state_of(1)), (vec![], OrderState::Held));
    // The OMS itself replaces it, in any way.
    let other = floor.id();
    let replace = format!("35=G|11={other}|41={id}|38=12|54=1|55=TXFL6|40=3|99=105");
    floor.client(&replace).unwrap();
    assert_eq!(floor.find(1).quantity, 12);
    floor.tell(|oms, now, outbox| {
        let command = OperatorCommand {
            bytes: b"price symbol=TXFL6 last=105",
            who: "op",
            why: "test",
        };
        oms.on_command(now, command, &mut Vec::new(), outbox)
            .unwrap();
    });
    floor.work();
    let order = floor.got_one();
    assert_eq!((order.ord_type.0, order.qty, order.price), (1, 12, 0));
    floor.check();
}

#[test]
fn a_reject_has_code_and_text_of_its_status() {
    let mut floor = Floor::new();
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.reports.clear();
    floor.says(&reject(&order, TmpStatus::TICK));
    let wanted = "35=8|150=8|39=8|58=Price not a multiple of the tick size (40029)";
    assert_eq!(floor.reports(&["35", "150", "39", "58"]), [wanted]);
    assert_eq!(floor.state_of(1), OrderState::Ended(End::Rejected));
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.reports.clear();
    floor.says(&reject(&order, TmpStatus(77)));
    assert_eq!(
        floor.reports(&["58"]),
        ["58=rejected by the exchange (40077)"]
    );
    floor.check();
}

#[test]
fn a_reject_is_handled_by_the_error_table() {
    let mut floor = Floor::new();
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.reports.clear();
    floor.says(&reject(&order, TmpStatus::NOT_OPEN));
    let again = floor.got_one();
    assert_eq!(
        (again.order_no, again.user_define),
        (*b"A0001", *b"00000001")
    );
    assert_eq!(again.ord_id, 2, "it is another request");
    // A late report of the first one changes nothing.
    floor.says(&accepted(&order));
    assert_eq!(floor.state_of(1), OrderState::Sent);
    floor.events();
    floor.says(&accepted(&again));
    assert_eq!(floor.state_of(1), OrderState::Working);
    let id = "C1".to_string();
    floor.says(&fill(&again, 1, 1_000, (0, 10)));
    floor.cancel(&id);
    let cancel = floor.got_one();
    floor.reports.clear();
    floor.says(&reject(&cancel, TmpStatus::NO_CANCEL_PERIOD));
    assert_eq!(floor.reports(&["35", "58"]), ["35=9|58=no changes now"]);
    assert_eq!(floor.find(1).filled, 1);
    // Twice at most.
    floor.order(10, "100", "");
    for _ in 0..2 {
        let order = floor.got_one();
        floor.says(&reject(&order, TmpStatus::NOT_OPEN));
    }
    let order = floor.got_one();
    floor.reports.clear();
    floor.says(&reject(&order, TmpStatus::NOT_OPEN));
    let wanted = "35=8|150=8|58=the market is not open";
    assert_eq!(floor.reports(&["35", "150", "58"]), [wanted]);
    floor.check();
}

#[test]
fn flow_warnings_are_raised_once_and_reject_nothing() {
    let mut floor = Floor::new();
    floor.order(10, "100", "");
    let order = floor.got_one();
    let warned = |status| R02 {
        status,
        ..accepted(&order)
    };
    floor.says(&warned(TmpStatus::FLOW_80));
    let text = "status 248 (Warning: 80 % of the flow limit used)";
    let hint = "set flow of its line_group below the limit of the exchange";
    assert_eq!(floor.events(), [format!("line T1: {text}; {hint}")]);
    for status in [TmpStatus::FLOW_80, TmpStatus::FLOW_90, TmpStatus::FLOW_80] {
        floor.says(&warned(status));
    }
    assert_eq!(floor.events().len(), 1, "249 is another one");
    assert_eq!(floor.state_of(1), OrderState::Working);
    floor.check();
}

#[test]
fn settings_that_do_not_fit_tmp_are_named() {
    let lines = tmp_lines(2);
    let problems = |settings: &str, names: &[&str]| {
        Oms::tmp_problems(&files(settings, names), &lines[..names.len() - 1])
    };
    let two = ["CLIENT", "T1", "T2"];
    assert_eq!(
        problems(SETTINGS, &two),
        ["link T2 is in no line_group: add the link to the lines of a line_group"]
    );
    let mixed = SETTINGS.replace("[\"T1\"]", "[\"T1\", \"FIX\"]");
    let rules = files(&mixed, &["CLIENT", "T1", "FIX"]);
    assert_eq!(
        Oms::tmp_problems(&rules, &lines[..1]),
        ["line_group FUT has lines of FIX and of TMP: make two line groups"]
    );
    let wide = SETTINGS.replace("width = 4", "width = 5");
    assert_eq!(
        problems(&wide, &two[..2]),
        ["number_pool P of line_group FUT: numbers of TMP have 5 characters, with the prefix"]
    );
    let none = SETTINGS.replace("number_pool = \"P\"\n", "");
    assert_eq!(
        problems(&none, &two[..2]),
        [
            "line_group FUT speaks TMP and has no number_pool: add one whose numbers have 5 characters"
        ]
    );
    let own = SETTINGS.replace(
        "conditional = 2\n",
        "number_pool = \"Q\"\n[[number_pool]]\nname = \"Q\"\nprefix = \"Q\"\nwidth = 9\n",
    );
    assert_eq!(
        problems(&own, &two[..2]),
        [
            "number_pool Q of user CLIENT: its orders may go to line_group FUT, whose numbers have 5 characters"
        ]
    );
    let mut other = tmp_lines(1);
    other[0].name = "CLIENT".to_string();
    other[0].settings.ap_code = ApCode::DROP_COPY;
    let rules = files(SETTINGS, &two[..2]);
    assert_eq!(
        Oms::tmp_problems(&rules, &other),
        [
            "link CLIENT has ap_code 7, which is not for orders: write trading, or name the link in a drop_copy_in",
            "link CLIENT is in no line_group: add the link to the lines of a line_group",
            "CLIENT speaks TMP and cannot be the session of a user, a drop copy or market data",
        ]
    );
    let double = [lines[0].clone(), lines[0].clone()];
    assert_eq!(
        Oms::tmp_problems(&rules, &double),
        ["two links have the name T1: rename one of them"]
    );
}

#[test]
fn a_code_that_is_no_status_is_refused_at_load() {
    let settings = SETTINGS.replace("tmp_code = 40016", "tmp_code = 29");
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(INSTRUMENTS.to_string()),
        _ => Ok(LIMITS.to_string()),
    };
    let error = load(&settings, &["CLIENT", "T1"], &mut open).unwrap_err();
    let text = error[0].to_string();
    assert!(
        text.contains("tmp_code = 29 is not a status of TMP"),
        "{text}"
    );
    assert!(text.contains("40029 is status 29"), "{text}");
}
