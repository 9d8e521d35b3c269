//! Price inquiries over TMP: R07 or R37, answered by R08, R38 or R03.

use super::*;
use fixwire_tmp::TmpSymbolType;
use fixwire_tmp::messages::{R07, R08, R37, R38};

const TELLING: [&str; 7] = ["35", "131", "117", "297", "658", "55", "58"];

impl Floor {
    fn inquire(&mut self, id: &str, symbol: &str) {
        let fields = format!("35=R|131={id}|146=1|55={symbol}");
        self.client(&fields).unwrap();
    }

    /// The only R07 that came to the exchange since.
    fn got_inquiry(&mut self) -> R07 {
        let got = core::mem::take(&mut self.members[0].others);
        assert_eq!(got.len(), 1, "{got:?}");
        TmpFrame::read(&got[0]).unwrap().body().unwrap()
    }
}

fn reply(of: &R07, status: TmpStatus) -> R08 {
    R08 {
        status,
        order_no: of.order_no,
        ord_id: of.ord_id,
        fcm_id: of.fcm_id,
        symbol_type: of.symbol_type,
        symbol: of.symbol,
    }
}

#[test]
fn an_inquiry_is_an_r07_that_an_r08_answers() {
    let mut floor = Floor::new();
    let order = floor.order(10, "100", "");
    assert_eq!(floor.got_one().order_no, *b"A0000");
    floor.inquire("Q1", "TXFL6");
    let asked = floor.got_inquiry();
    let mut symbol = [b' '; 20];
    symbol[..5].copy_from_slice(b"TXFL6");
    let wanted = R07 {
        order_no: *b"A0001",
        ord_id: 2,
        fcm_id: 7,
        symbol_type: TmpSymbolType::TEXT_20,
        symbol,
        order_source: b'P',
        info_source: *b"904",
    };
    assert_eq!(asked, wanted);
    assert_eq!(TmpLayout::check(&asked), Ok(()));
    assert_eq!(floor.reports(&TELLING), [""; 0], "it is not answered yet");
    floor.says(&reply(&asked, TmpStatus::FLOW_80));
    assert_eq!(
        floor.reports(&TELLING),
        ["35=AI|131=Q1|117=2|297=0|55=TXFL6"]
    );
    assert_eq!(floor.events().len(), 1, "the flow warning");
    // A duplicate says nothing new.
    floor.says(&reply(&asked, TmpStatus::OK));
    assert_eq!(floor.reports(&TELLING), [""; 0]);
    // Numbers of the pool are used once.
    floor.order(10, "100", "");
    assert_eq!(floor.got_one().order_no, *b"A0002");
    floor.cancel(&order);
    floor.check();
}

#[test]
fn a_refused_inquiry_gets_the_text_of_the_status() {
    let mut floor = Floor::new();
    for (number, status, reason, text) in [
        (
            1,
            TmpStatus::INQUIRY_EXISTS,
            99,
            "A price inquiry for this product is open already (40037)",
        ),
        (2, TmpStatus::PRODUCT, 1, "Invalid product (40020)"),
        (3, TmpStatus::CLOSED, 2, "Market closed (40001)"),
    ] {
        floor.inquire(&format!("Q{number}"), "TXFL6");
        let asked = floor.got_inquiry();
        floor.says(&reply(&asked, status));
        let wanted = format!("35=AG|131=Q{number}|658={reason}|55=TXFL6|58={text}");
        assert_eq!(floor.reports(&TELLING), [wanted]);
    }
    // Or in an R03, which names no order of ours.
    floor.inquire("Q4", "TXFL6");
    let asked = floor.got_inquiry();
    floor.says(&R03 {
        status: TmpStatus::NOT_OPEN,
        order_no: asked.order_no,
        ord_id: asked.ord_id,
        fcm_id: asked.fcm_id,
        ..R03::default()
    });
    assert_eq!(floor.reports(&["35", "131", "658"]), ["35=AG|131=Q4|658=2"]);
    assert_eq!(floor.events(), [""; 0]);
    floor.check();
}

#[test]
fn a_long_symbol_takes_an_r37() {
    let mut floor = Floor::new();
    floor.inquire("Q1", "A-SYMBOL-OF-MORE-THAN-20");
    let got = core::mem::take(&mut floor.members[0].others);
    let asked: R37 = TmpFrame::read(&got[0]).unwrap().body().unwrap();
    assert_eq!(asked.symbol_type, TmpSymbolType::TEXT_40);
    floor.says(&R38 {
        status: TmpStatus::OK,
        order_no: asked.order_no,
        ord_id: asked.ord_id,
        fcm_id: asked.fcm_id,
        symbol_type: asked.symbol_type,
        symbol: asked.symbol,
    });
    assert_eq!(floor.reports(&["35", "131", "297"]), ["35=AI|131=Q1|297=0"]);
    floor.check();
}

#[test]
fn an_inquiry_on_a_line_that_breaks_is_refused_and_not_sent_again() {
    for with_checkpoint in [None, Some(false), Some(true)] {
        let mut floor = Floor::new();
        floor.inquire("Q1", "TXFL6");
        let asked = floor.got_inquiry();
        assert_eq!(floor.oms.state().open_inquiries(), 1);
        match with_checkpoint {
            None => floor.disconnect(0),
            Some(with_checkpoint) => floor.restart(with_checkpoint),
        }
        let text = "the venue has not answered the price inquiry: send a new one";
        let wanted = format!("35=AG|131=Q1|658=99|55=TXFL6|58={text}");
        assert_eq!(floor.reports(&TELLING), [wanted]);
        floor.pass(2 * SECOND);
        floor.connect(0);
        assert_eq!(floor.members[0].others.len(), 0);
        // What comes late changes nothing.
        floor.says(&reply(&asked, TmpStatus::OK));
        assert_eq!(floor.reports(&TELLING), [""; 0]);
        floor.inquire("Q2", "TXFL6");
        assert_eq!(floor.got_inquiry().order_no, *b"A0001");
        floor.check();
    }
}

#[test]
fn an_inquiry_without_a_number_is_refused() {
    let settings = SETTINGS.replace("width = 4", "width = 4\nlast = \"0000\"");
    let mut floor = Floor::with(&settings, 1, |_| {});
    floor.connect(0);
    floor.inquire("Q1", "TXFL6");
    floor.got_inquiry();
    floor.inquire("Q2", "TXFL6");
    let wanted = "35=AG|131=Q2|658=99|55=TXFL6|58=no order numbers left (pool P)";
    assert_eq!(floor.reports(&TELLING), [wanted]);
    floor.check();
}
