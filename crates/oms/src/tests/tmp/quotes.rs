//! Two-sided quotes over TMP: one R09, two orders.

use super::*;
use crate::values::ids::InstrumentNo;
use crate::values::value::End;
use fixwire_tmp::messages::R39;
use fixwire_tmp::{TmpOrdType, TmpPositionEffect, TmpSide, TmpSymbolType, TmpTimeInForce};

const TELLING: [&str; 6] = ["35", "11", "117", "150", "297", "58"];

impl Floor {
    /// A quote with these fields beside the usual ones.
    fn quote(&mut self, id: &str, (bid, offer): (&str, &str), more: &str) {
        let fields = format!("35=S|117={id}|1=0012345|55=TXFL6|132={bid}|133={offer}");
        self.client(&format!("{fields}|134=10|135=8{more}"))
            .unwrap();
    }

    /// The only R09 that came to the exchange since.
    fn got_quote(&mut self) -> R09 {
        let quotes = core::mem::take(&mut self.members[0].quotes);
        assert_eq!(quotes.len(), 1, "{quotes:?}");
        quotes[0]
    }

    /// A quote of which both sides are accepted: the orders 1 and 2.
    fn with_quote() -> (Self, [R01; 2]) {
        let mut floor = Self::new();
        floor.quote("Q1", ("99", "101"), "");
        let both = sides(&floor.got_quote());
        both.iter().for_each(|side| floor.says(&accepted(side)));
        floor.reports.clear();
        (floor, both)
    }

    fn states(&self) -> [OrderState; 2] {
        [1, 2].map(|number| self.state_of(number))
    }
}

/// The sides of an R09 as orders, which its reports repeat.
pub(super) fn sides(quote: &R09) -> [R01; 2] {
    let both = [
        (TmpSide::BUY, quote.bid_px, quote.bid_size),
        (TmpSide::SELL, quote.offer_px, quote.offer_size),
    ];
    both.map(|(side, price, qty)| R01 {
        exec_type: quote.exec_type,
        cm_id: quote.cm_id,
        fcm_id: quote.fcm_id,
        order_no: quote.order_no,
        ord_id: quote.ord_id,
        user_define: quote.user_define,
        symbol_type: quote.symbol_type,
        symbol: quote.symbol,
        price,
        qty,
        account: quote.account,
        account_flag: quote.account_flag,
        side,
        ord_type: TmpOrdType::LIMIT,
        time_in_force: quote.time_in_force,
        position_effect: quote.position_effect,
        order_source: quote.order_source,
        info_source: quote.info_source,
    })
}

#[test]
fn a_quote_is_one_r09_and_two_orders() {
    let mut floor = Floor::new();
    floor.quote("Q1", ("99.5", "101"), "");
    let quote = floor.got_quote();
    assert_eq!(floor.got(), []);
    let mut symbol = [b' '; 20];
    symbol[..5].copy_from_slice(b"TXFL6");
    let wanted = R09 {
        exec_type: TmpExecType::NEW,
        cm_id: 8,
        fcm_id: 7,
        order_no: *b"A0000",
        ord_id: 1,
        user_define: *b"00000001",
        symbol_type: TmpSymbolType::TEXT_20,
        symbol,
        bid_px: 995,
        offer_px: 1_010,
        bid_size: 10,
        offer_size: 8,
        account: 12_345,
        account_flag: b'B',
        time_in_force: TmpTimeInForce::DAY,
        position_effect: TmpPositionEffect::QUOTE,
        order_source: b'P',
        info_source: *b"904",
    };
    assert_eq!(quote, wanted);
    assert_eq!(TmpLayout::check(&quote), Ok(()));
    let [bid, offer] = sides(&quote);
    floor.says(&accepted(&offer));
    floor.says(&accepted(&bid));
    let wanted = [
        "35=AI|117=Q1|297=10",
        "35=8|11=Q1/O|150=0",
        "35=8|11=Q1/B|150=0",
        "35=AI|117=Q1|297=0",
    ];
    assert_eq!(floor.reports(&TELLING), wanted);
    // Each side is filled on its own.
    floor.says(&fill(&offer, 3, 1_010, (0, 8)));
    floor.says(&fill(&bid, 10, 990, (0, 10)));
    floor.says(&fill(&offer, 5, 1_010, (3, 5)));
    let reports = floor.reports(&["35", "37", "150", "39", "14", "297", "132", "134", "135"]);
    let wanted = [
        "35=8|37=2|150=F|39=1|14=3",
        "35=8|37=1|150=F|39=2|14=10",
        "35=8|37=2|150=F|39=2|14=8",
        "35=AI|297=6|132=99.5|134=0|135=0",
    ];
    assert_eq!(reports, wanted);
    let state = floor.oms.state();
    let account = state.accounts().find(b"0012345").unwrap();
    assert_eq!(state.position(account, InstrumentNo::new(0)).net(), 2);
    assert_eq!(floor.find(2).pool_number.bytes(), b"A0000");
    assert_eq!(floor.events(), [""; 0]);
    floor.check();
}

#[test]
fn a_quote_of_a_long_symbol_is_an_r39() {
    let mut floor = Floor::new();
    let fields = "35=S|117=Q|1=0012345|55=A-SYMBOL-OF-MORE-THAN-20|132=99|133=101|134=1|135=2";
    let mut frames = Vec::new();
    floor.members[0].is_up = false;
    floor.tell(|oms, now, outbox| {
        let text = format!("8=FIX.4.4|9=1|{fields}|10=000|").replace('|', "\x01");
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(text.as_bytes());
        oms.on_message(now, CLIENT, &message, outbox).unwrap();
        for (at, entry) in outbox.entries().iter().enumerate() {
            if entry.is_frame() && !entry.is_note() {
                frames.push(outbox.unsealed_frame(at).to_vec());
            }
        }
    });
    assert_eq!(frames.len(), 1);
    let frame = TmpFrame::read(&frames[0]).unwrap();
    let quote: R39 = frame.body().unwrap();
    assert_eq!((quote.bid_size, quote.offer_size), (1, 2));
    assert_eq!(quote.symbol_type, TmpSymbolType::TEXT_40);
    assert!(quote.symbol.starts_with(b"A-SYMBOL-OF-MORE-THAN-20 "));
}

#[test]
fn one_side_is_rejected_and_the_other_works() {
    let mut floor = Floor::new();
    floor.quote("Q1", ("99", "101"), "");
    let [bid, offer] = sides(&floor.got_quote());
    floor.says(&reject(&offer, TmpStatus::PRICE_LIMIT));
    floor.says(&accepted(&bid));
    let rejected = OrderState::Ended(End::Rejected);
    assert_eq!(floor.states(), [OrderState::Working, rejected]);
    let reports = floor.reports(&TELLING);
    let wanted = [
        "35=AI|117=Q1|297=10",
        "35=8|11=Q1/O|150=8|58=Price outside the daily limits (40021)",
        "35=8|11=Q1/B|150=0",
        "35=AI|117=Q1|297=0|58=the other side was rejected",
    ];
    assert_eq!(reports, wanted);
    floor.quote("Q2", ("98", "102"), "");
    let cancel = floor.got_one();
    assert_eq!(
        (cancel.exec_type, cancel.side),
        (TmpExecType::CANCEL, TmpSide::BUY)
    );
    let both = sides(&floor.got_quote());
    for side in &both {
        floor.says(&reject(side, TmpStatus::NOT_OPEN));
    }
    floor.says(&report(&cancel, TmpExecType::CANCEL, (10, 0)));
    let reports = floor.reports(&TELLING);
    let wanted = [
        "35=AI|117=Q2|297=10",
        // The line group would send an order again, not a side.
        "35=8|11=Q2/B|150=8|58=the market is not open",
        "35=8|11=Q2/O|150=8|58=the market is not open",
        "35=AI|117=Q2|297=5|58=both sides were rejected",
        "35=8|11=Q1/B|150=4",
        "35=AI|117=Q1|297=6",
    ];
    assert_eq!(reports, wanted);
    floor.check();
}

#[test]
fn a_side_is_cancelled_and_reduced_by_an_r01_that_names_it() {
    let (mut floor, [bid, offer]) = Floor::with_quote();
    floor.client("35=F|11=C1|41=Q1/O|54=2|55=TXFL6").unwrap();
    let cancel = floor.got_one();
    assert_eq!(
        (cancel.exec_type, cancel.side),
        (TmpExecType::CANCEL, TmpSide::SELL)
    );
    assert_eq!(
        (cancel.order_no, cancel.user_define),
        (bid.order_no, bid.user_define)
    );
    assert_eq!(
        (cancel.ord_id, cancel.position_effect),
        (3, TmpPositionEffect::QUOTE)
    );
    // A fill crosses it.
    floor.says(&fill(&offer, 2, 1_010, (0, 8)));
    floor.says(&R02 {
        cum_qty: 2,
        ..report(&cancel, TmpExecType::CANCEL, (6, 0))
    });
    let wanted = ["150=F|39=6|14=2", "150=4|39=4|14=2"];
    assert_eq!(floor.reports(&["150", "39", "14"]), wanted);
    let fields = "54=1|55=TXFL6|40=2";
    floor
        .client(&format!("35=G|11=C2|41=Q1/B|38=10|44=98|{fields}"))
        .unwrap();
    let text = "35=9|102=2|58=over TMP the price of a quote does not change: send a new Quote(S)";
    assert_eq!(floor.reports(&["35", "102", "58"]), [text]);
    floor
        .client(&format!("35=G|11=C3|41=Q1/B|38=6|44=99|{fields}"))
        .unwrap();
    let reduce = floor.got_one();
    assert_eq!(
        (reduce.exec_type, reduce.side),
        (TmpExecType::REDUCE, TmpSide::BUY)
    );
    assert_eq!((reduce.qty, reduce.ord_id), (4, 4));
    floor.says(&report(&reduce, TmpExecType::REDUCE, (10, 6)));
    assert_eq!(floor.reports(&["11", "150", "38"]), ["11=C3|150=5|38=6"]);
    // Later fills have the ord_id of the change.
    floor.says(&fill(&reduce, 6, 990, (0, 6)));
    let wanted = ["35=8|11=C3|150=F", "35=AI|117=Q1|297=6"];
    assert_eq!(floor.reports(&TELLING), wanted);
    floor.check();
}

#[test]
fn a_new_quote_cancels_the_former_one_first() {
    let (mut floor, [bid, offer]) = Floor::with_quote();
    floor.says(&fill(&bid, 4, 990, (0, 10)));
    floor.reports.clear();
    floor.quote("Q2", ("99.5", "101.5"), "");
    let cancels = floor.got();
    let of = |it: &R01| (it.exec_type, it.side, it.order_no);
    let cancelled = |side| (TmpExecType::CANCEL, side, bid.order_no);
    let wanted = [cancelled(TmpSide::BUY), cancelled(TmpSide::SELL)];
    assert_eq!(cancels.iter().map(of).collect::<Vec<_>>(), wanted);
    let quote = floor.got_quote();
    assert_eq!((quote.order_no, quote.ord_id), (*b"A0001", 3));
    // The offer was filled before its cancel came.
    floor.says(&fill(&offer, 8, 1_010, (0, 8)));
    floor.says(&R02 {
        cum_qty: 4,
        ..report(&cancels[0], TmpExecType::CANCEL, (6, 0))
    });
    floor.says(&reject(&cancels[1], TmpStatus::FILLED));
    for side in &sides(&quote) {
        floor.says(&accepted(side));
    }
    let wanted = [
        "35=AI|117=Q2|297=10",
        "35=8|11=Q1/O|150=F",
        "35=8|11=Q1/B|150=4",
        "35=AI|117=Q1|297=6",
        "35=8|11=Q2/B|150=0",
        "35=8|11=Q2/O|150=0",
        "35=AI|117=Q2|297=0",
    ];
    assert_eq!(floor.reports(&TELLING), wanted);
    // Of another symbol or account it replaces nothing.
    let fields = "35=S|117=Q3|1=0012345|55=FUTURE|132=99|133=101|134=1|135=1";
    floor.client(fields).unwrap();
    assert_eq!(floor.got(), [], "FUTURE has another quote");
    floor.got_quote();
    floor.check();
}

#[test]
fn quotes_are_cancelled_by_symbol_id_or_all() {
    let (mut floor, [bid, _]) = Floor::with_quote();
    floor.client("35=Z|117=NONE|298=1|55=FUTURE").unwrap();
    floor.client("35=Z|117=Q9|298=5").unwrap();
    floor.client("35=Z|117=Q1|298=2").unwrap();
    let wanted = [
        "35=AI|117=NONE|297=1|58=orders being cancelled: 0",
        "35=AI|117=Q9|297=9|58=unknown quote",
        "35=AI|117=Q1|297=5|58=unsupported OrdType(40), TimeInForce(59), Side(54) or mass request type",
    ];
    assert_eq!(floor.reports(&TELLING), wanted);
    assert_eq!(floor.got(), []);
    floor.client("35=Z|117=Q1|298=1").unwrap();
    assert_eq!(
        floor.reports(&TELLING),
        ["35=AI|117=Q1|297=1|58=orders being cancelled: 2"]
    );
    let cancels = floor.got();
    assert_eq!(cancels.len(), 2);
    floor.says(&reject(&cancels[0], TmpStatus::NO_CANCEL_PERIOD));
    floor.says(&report(&cancels[1], TmpExecType::CANCEL, (8, 0)));
    assert_eq!(floor.states()[0], OrderState::Working);
    // Until the exchange takes it.
    floor.pass(6 * SECOND);
    let cancel = floor.got_one();
    assert_eq!((cancel.side, cancel.order_no), (TmpSide::BUY, bid.order_no));
    floor.says(&report(&cancel, TmpExecType::CANCEL, (10, 0)));
    assert_eq!(floor.states(), [OrderState::Ended(End::Cancelled); 2]);
    floor.client("35=Z|117=NONE|298=4").unwrap();
    floor.check();
}

#[test]
fn a_quote_that_a_control_refuses_is_not_sent() {
    let mut floor = Floor::new();
    for (fields, text) in [
        (
            "132=101|133=101|134=1|135=1",
            "58=BidPx(132) must be below OfferPx(133)",
        ),
        (
            "132=99|133=101.3|134=1|135=1",
            "58=RC8: price is not a multiple of the tick size",
        ),
        (
            "132=99|133=101|134=1|135=0",
            "58=RC8: order quantity is not a multiple of the lot size",
        ),
        (
            "132=99|133=101|134=1|135=70000",
            "58=over TMP OrderQty(38) is at most 65535",
        ),
        ("132=99|133=101|134=1|135=1|537=0", "58=unsupported"),
        ("132=99|133=101|134=1|135=1|59=1", "58=unsupported"),
    ] {
        let message = format!("35=S|117=Q1|1=0012345|55=TXFL6|{fields}");
        floor.client(&message).unwrap();
        let reports = floor.reports(&["35", "297", "58"]);
        let front = format!("35=AI|297=5|{text}");
        assert!(
            reports.len() == 1 && reports[0].starts_with(&front),
            "{reports:?} {front}"
        );
    }
    floor
        .client("35=S|117=Q1|1=A1|55=TXFL6|132=99|133=101|134=1|135=1")
        .unwrap();
    assert_eq!(
        floor.reports(&["58"]),
        ["58=over TMP Account(1) must be a number of at most 9 digits"]
    );
    assert_eq!(floor.oms.state().orders().len(), 0);
    let missing = floor.client("35=S|117=Q1|1=0012345|55=TXFL6|132=99|133=101|134=1");
    assert_eq!(
        missing,
        Err(Refusal::ConditionallyRequiredFieldMissing(135))
    );
    let long = format!(
        "35=S|117={}|55=TXFL6|132=99|133=101|134=1|135=1",
        "Q".repeat(63)
    );
    assert_eq!(floor.client(&long), Err(Refusal::ValueOutOfRange(117)));
    // The id was not used.
    floor.quote("Q1", ("99", "101"), "");
    floor.got_quote();
    floor.reports.clear();
    floor.quote("Q1", ("99", "101"), "");
    assert_eq!(
        floor.reports(&TELLING),
        ["35=AI|117=Q1|297=5|58=RC4: duplicate ClOrdID, QuoteID or QuoteReqID"]
    );
    assert_eq!(floor.got(), [], "the quote stays");
    floor.check();
}

#[test]
fn a_side_that_is_unknown_after_a_break_is_asked_for() {
    let mut floor = Floor::new();
    floor.quote("Q1", ("99", "101"), "");
    let [bid, _] = sides(&floor.got_quote());
    floor.says(&accepted(&bid));
    floor.disconnect(0);
    assert_eq!(floor.states(), [OrderState::Working, OrderState::Unknown]);
    floor.reports.clear();
    floor.connect(0);
    let query = floor.got_one();
    assert_eq!(
        (query.exec_type, query.side),
        (TmpExecType::QUERY, TmpSide::SELL)
    );
    assert_eq!(
        (query.order_no, query.user_define),
        (bid.order_no, bid.user_define)
    );
    floor.says(&report(&query, TmpExecType::QUERY, (8, 8)));
    let wanted = ["35=8|11=Q1/O|150=0", "35=AI|117=Q1|297=0"];
    assert_eq!(floor.reports(&TELLING), wanted);
    floor.check();
}

#[test]
fn a_quote_that_the_exchange_never_got_is_rejected_side_by_side() {
    for with_checkpoint in [false, true] {
        let mut floor = Floor::new();
        floor.quote("Q1", ("99", "101"), "");
        floor.got_quote();
        floor.restart(with_checkpoint);
        assert_eq!(floor.states(), [OrderState::Unknown; 2]);
        floor.pass(2 * SECOND);
        floor.reports.clear();
        floor.connect(0);
        let queries = floor.got();
        assert_eq!(floor.members[0].quotes, [], "it is not sent again");
        let asked: Vec<TmpSide> = queries.iter().map(|it| it.side).collect();
        assert_eq!(asked, [TmpSide::BUY, TmpSide::SELL]);
        floor.says(&reject(&queries[0], TmpStatus::NO_SUCH_ORDER));
        floor.says(&reject(&queries[1], TmpStatus::NO_SUCH_ORDER));
        assert_eq!(floor.states(), [OrderState::Ended(End::Rejected); 2]);
        let reports = floor.reports(&["35", "11", "117", "150", "297"]);
        let wanted = [
            "35=8|11=Q1/B|150=8",
            "35=8|11=Q1/O|150=8",
            "35=AI|117=Q1|297=5",
        ];
        assert_eq!(reports, wanted);
        floor.check();
    }
}

#[test]
fn a_withdrawn_quote_is_withdrawn_after_a_kill_too() {
    for with_checkpoint in [false, true] {
        let (mut floor, _) = Floor::with_quote();
        floor.client("35=Z|117=Q1|298=1").unwrap();
        let lost = floor.got();
        floor.restart(with_checkpoint);
        floor.pass(2 * SECOND);
        floor.connect(0);
        let queries = floor.got();
        assert_eq!(queries.len(), 2, "{queries:?}");
        // The exchange got the cancel of the bid alone.
        floor.says(&R02 {
            qty: 10,
            ..report(&lost[0], TmpExecType::CANCEL, (10, 0))
        });
        floor.says(&report(&queries[1], TmpExecType::QUERY, (8, 8)));
        floor.pass(6 * SECOND);
        let cancel = floor.got_one();
        assert_eq!(
            (cancel.exec_type, cancel.side),
            (TmpExecType::CANCEL, TmpSide::SELL)
        );
        floor.says(&report(&cancel, TmpExecType::CANCEL, (8, 0)));
        assert_eq!(floor.states(), [OrderState::Ended(End::Cancelled); 2]);
        floor.check();
    }
}

#[test]
fn a_side_is_remembered_as_long_as_the_other_is_open() {
    let settings = SETTINGS.replace("[oms]", "[oms]\nremembered = 1");
    let mut floor = Floor::with(&settings, 1, |_| {});
    floor.connect(0);
    floor.quote("Q1", ("99", "101"), "");
    let [bid, offer] = sides(&floor.got_quote());
    floor.says(&accepted(&bid));
    floor.says(&accepted(&offer));
    floor.says(&fill(&bid, 10, 990, (0, 10)));
    for _ in 0..2 {
        floor.order(1, "100", "");
        let order = floor.got_one();
        floor.says(&accepted(&order));
        floor.says(&fill(&order, 1, 1_000, (0, 1)));
    }
    assert!(floor.oms.state().orders().get(1).is_some());
    floor.reports.clear();
    floor.says(&fill(&offer, 8, 1_010, (0, 8)));
    floor.pass(1);
    assert!(floor.oms.state().orders().get(1).is_none());
    let wanted = ["35=8|11=Q1/O|150=F", "35=AI|117=Q1|297=6"];
    assert_eq!(floor.reports(&TELLING), wanted);
    // A duplicate of the fill of the bid counts once.
    floor.says(&fill(&bid, 10, 990, (0, 10)));
    let state = floor.oms.state();
    let account = state.accounts().find(b"0012345").unwrap();
    assert_eq!(
        state.position(account, InstrumentNo::new(0)).net(),
        10 + 2 - 8
    );
    floor.check();
}
