//! What an order that was sent keeps: after a reload, and at its next replace.

use super::*;

#[test]
fn a_replace_after_a_reload_changes_only_what_it_says() {
    let swapped = "{order_source = 582, info_source = 9718, investor_flag = 9717, cm_id = 439}";
    for (table, map, wanted) in [
        (TABLE, "map.582 = {1 = 'C'}", "77 A D M 7x9"),
        (TABLE, "map.582 = {2 = 'C'}", "77 A D M 7x9"),
        (swapped, "", "77 M D G 7x9"),
        ("{order_source = 9717}", "", "77 A D M 7x9"),
    ] {
        for with_checkpoint in [false, true] {
            let mut floor = with(TABLE, "map.582 = {1 = 'A'}");
            let id = floor.order(10, "100", ALL);
            let order = floor.got_one();
            assert_eq!(marked(&order), "77 A D G 7x9");
            floor.says(&accepted(&order));
            floor.reload(&settings(table, map));
            let id = floor.reprice(&id, "101", "");
            let plain = floor.got_one();
            assert_eq!(marked(&plain), "77 A D G 7x9", "{table} {map}");
            floor.says(&report(&plain, TmpExecType::PRICE, (10, 10)));
            floor.restart(with_checkpoint);
            floor.pass(2 * SECOND);
            floor.connect(0);
            let id = floor.reprice(&id, "102", "|9717=M");
            let own = floor.got_one();
            assert_eq!(marked(&own), wanted, "{table} {map}");
            floor.says(&report(&own, TmpExecType::PRICE, (10, 10)));
            floor.cancel(&id);
            assert_eq!(floor.got_marks(), wanted, "{table} {map}");
            floor.check();
        }
    }
}

#[test]
fn a_replace_has_the_values_with_which_it_was_sent() {
    for more in ["", "|9717=G"] {
        let mut floor = with(TABLE, "");
        let id = floor.order(10, "100", "|9717=G");
        let order = floor.got_one();
        floor.says(&accepted(&order));
        floor.reprice(&id, "101", more);
        assert_eq!(floor.got_marks(), "8 B D G 904");
        let state = floor.oms.state();
        let marks: Vec<u8> = state
            .carried
            .marks
            .values()
            .map(|it| it.order_source)
            .collect();
        assert_eq!(
            marks, *b"G",
            "its own, whatever becomes of the order before"
        );
        floor.check();
    }
}
