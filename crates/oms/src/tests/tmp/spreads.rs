//! Spreads over TMP: one R01 with the symbol of the spread, both legs in the report of a fill.

use super::*;
use crate::values::ids::AccountNo;
use crate::values::value::End;
use fixwire_tmp::messages::R22;
use fixwire_tmp::{TmpSide, TmpSymbol};

/// Positions of TXFL6 and TXFL7, long and short.
fn positions(floor: &Floor) -> [(u64, u64); 2] {
    let state = floor.oms.state();
    let of = |symbol: &[u8]| {
        let index = state.instruments().find(symbol).unwrap();
        let position = state.position(AccountNo::new(0), index);
        (position.long, position.short)
    };
    [of(b"TXFL6"), of(b"TXFL7")]
}

const SPREAD: &str = "|55=TXFL7/L6";

/// Sells so many: buys 2 TXFL6 and sells 1 TXFL7 each.
fn sold(floor: &mut Floor, quantity: u32) -> (String, R01) {
    let id = floor.order(quantity, "-99", &format!("{SPREAD}|54=2"));
    let order = floor.got_one();
    floor.says(&accepted(&order));
    (id, order)
}

fn filled(of: &R01, sets: u16, filled: u16, before: u16, rpt_seq: u32) -> R02 {
    R02 {
        leg_side: [TmpSide::SELL.0, TmpSide::BUY.0],
        leg_px: [1_010, 1_000],
        leg_qty: [sets, 2 * sets],
        rpt_seq,
        ..fill(of, sets, -990, (filled, before))
    }
}

#[test]
fn both_legs_are_in_the_report_of_a_fill() {
    for with_checkpoint in [false, true] {
        let mut floor = Floor::new();
        let (_, order) = sold(&mut floor, 10);
        let (symbol_type, symbol) = TmpSymbol::Text(b"TXFL7/L6").field::<20>().unwrap();
        assert_eq!((order.symbol_type, order.symbol), (symbol_type, symbol));
        assert_eq!(
            (order.price, order.qty, order.side),
            (-990, 10, TmpSide::SELL)
        );
        floor.reports.clear();
        let fill = filled(&order, 4, 0, 10, 7);
        floor.says(&fill);
        let reports = floor.reports(&["150", "442", "55", "54", "32", "31", "14", "151"]);
        let wanted = [
            "150=F|442=3|55=TXFL7/L6|54=2|32=4|31=-99|14=4|151=6",
            "150=F|442=2|55=TXFL7|54=2|32=4|31=101|14=4|151=6",
            "150=F|442=2|55=TXFL6|54=1|32=8|31=100|14=8|151=12",
        ];
        assert_eq!(reports, wanted);
        // It comes again under another MsgSeqNum, also after a restart.
        floor.says(&fill);
        floor.restart(with_checkpoint);
        floor.pass(2 * SECOND);
        floor.connect(0);
        floor.says(&fill);
        assert_eq!(positions(&floor), [(8, 0), (0, 4)]);
        floor.says(&filled(&order, 6, 4, 6, 8));
        assert_eq!(floor.state_of(1), OrderState::Ended(End::Filled));
        assert_eq!(positions(&floor), [(20, 0), (0, 10)]);
        floor.check();
    }
}

#[test]
fn a_short_report_has_only_its_legs() {
    let mut floor = Floor::new();
    let (_, order) = sold(&mut floor, 10);
    floor.reports.clear();
    floor.says(&R22 {
        exec_type: TmpExecType::FILL,
        fcm_id: 7,
        order_no: order.order_no,
        ord_id: order.ord_id,
        user_define: order.user_define,
        side: order.side,
        leaves_qty: 7,
        before_qty: 10,
        leg_px: [1_010, 1_000],
        leg_qty: [3, 6],
        rpt_seq: 9,
        ..R22::default()
    });
    let reports = floor.reports(&["442", "55", "32", "31", "14"]);
    let wanted = [
        "442=3|55=TXFL7/L6|32=3|31=-99|14=3",
        "442=2|55=TXFL7|32=3|31=101|14=3",
        "442=2|55=TXFL6|32=6|31=100|14=6",
    ];
    assert_eq!(reports, wanted);
    assert_eq!(positions(&floor), [(6, 0), (0, 3)]);
    floor.check();
}

#[test]
fn legs_of_an_unknown_order_count_and_a_cancelled_rest_ends_it() {
    let mut floor = Floor::new();
    let (_, order) = sold(&mut floor, 10);
    let of_another = R02 {
        user_define: *b"other   ",
        order_no: *b"ZZZZZ",
        account: 12_345,
        ..filled(&order, 2, 0, 2, 5)
    };
    floor.says(&of_another);
    floor.says(&of_another);
    assert_eq!(positions(&floor), [(4, 0), (0, 2)]);
    // The exchange has deleted what is left of ours.
    let cut = R02 {
        leaves_qty: 0,
        ..filled(&order, 4, 0, 10, 6)
    };
    floor.says(&cut);
    assert_eq!(floor.state_of(1), OrderState::Ended(End::Cancelled));
    assert_eq!(positions(&floor), [(12, 0), (0, 6)]);
    floor.check();
}
