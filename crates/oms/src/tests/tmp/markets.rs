//! The state of trading over TMP: R11 at each login, R12, and what clients learn.

use super::*;
use crate::values::ids::InstrumentNo;
use crate::values::value::Market;
use fixwire_tmp::messages::{R11, R12};

const TELLING: [&str; 6] = ["35", "324", "335", "55", "326", "340"];

fn floor() -> Floor {
    let settings = SETTINGS.replace("name = \"FUT\"", "name = \"FUT\"\nmarket_status = true");
    let mut floor = Floor::with(&settings, 1, |_| {});
    floor.connect(0);
    floor
}

impl Floor {
    /// The questions that came to the exchange since: ids, flow groups, request types.
    fn asked(&mut self) -> Vec<(u16, u8, u8)> {
        let frames = core::mem::take(&mut self.members[0].others);
        let read = frames.iter().map(|frame| {
            let asked: R11 = TmpFrame::read(frame).unwrap().body().unwrap();
            (asked.trade_req_id, asked.flow_group, asked.request_type)
        });
        read.collect()
    }

    fn trades(&mut self, flow_group: u8, trade_status: u8) {
        self.says(&R12 {
            status: TmpStatus::OK,
            trade_req_id: 1,
            flow_group,
            trade_status,
        });
    }

    /// The states of the symbols, in the order of the file.
    fn markets(&self) -> [Market; 3] {
        [0, 1, 2]
            .map(InstrumentNo::new)
            .map(|at| self.oms.state().market(at))
    }
}

#[test]
fn each_flow_group_is_asked_for_at_each_login() {
    let mut floor = floor();
    assert_eq!(floor.asked(), [(1, 0, 1), (3, 2, 1)]);
    floor.disconnect(0);
    floor.connect(0);
    assert_eq!(floor.asked(), [(1, 0, 1), (3, 2, 1)]);
    // It is a setting.
    let mut silent = Floor::new();
    assert_eq!(silent.asked(), []);
    silent.trades(0, 4);
    assert_eq!(silent.markets(), [Market::Open; 3], "it is not followed");
    assert_eq!(silent.events(), [""; 0]);
}

#[test]
fn an_r12_sets_the_markets_of_its_flow_group() {
    use Market::{Auction, Closed, Open};
    let mut floor = floor();
    floor.trades(0, 4);
    assert_eq!(floor.markets(), [Closed, Open, Closed]);
    assert_eq!(
        floor.events(),
        ["line T1: the market is closed for 4 symbols"]
    );
    floor.trades(0, 4);
    floor.trades(7, 2);
    floor.trades(0, 9);
    assert_eq!(floor.markets(), [Closed, Open, Closed], "nothing new");
    assert_eq!(floor.events(), [""; 0]);
    floor.order(10, "100", "");
    assert_eq!(floor.got(), [], "RC18");
    floor.trades(2, 2);
    assert_eq!(floor.markets(), [Closed, Auction, Closed]);
    for with_checkpoint in [false, true] {
        floor.restart(with_checkpoint);
        assert_eq!(floor.markets(), [Closed, Auction, Closed]);
    }
    floor.pass(2 * SECOND);
    floor.connect(0);
    floor.trades(0, 3);
    floor.trades(2, 3);
    assert_eq!(floor.markets(), [Open; 3]);
    floor.order(10, "100", "");
    assert_eq!(floor.got().len(), 1);
    floor.check();
}

#[test]
fn clients_that_ask_hear_of_each_change() {
    let mut floor = floor();
    floor.client("35=e|324=S1|55=TXFL6|263=1").unwrap();
    floor.client("35=g|335=T1|263=1").unwrap();
    floor.client("35=g|335=T2|263=0").unwrap();
    assert_eq!(
        floor.reports(&TELLING),
        [
            "35=f|324=S1|55=TXFL6|326=17",
            "35=h|335=T1|340=2",
            "35=h|335=T2|340=2",
        ]
    );
    floor.trades(0, 4);
    assert_eq!(
        floor.reports(&TELLING),
        ["35=f|324=S1|55=TXFL6|326=18"],
        "another symbol is open"
    );
    floor.trades(2, 2);
    assert_eq!(floor.reports(&TELLING), ["35=h|335=T1|340=4"]);
    floor.trades(2, 4);
    assert_eq!(floor.reports(&TELLING), ["35=h|335=T1|340=3"]);
    floor.client("35=e|324=S1|55=TXFL6|263=2").unwrap();
    floor.trades(0, 3);
    assert_eq!(floor.reports(&TELLING), ["35=h|335=T1|340=2"]);
    floor.client("35=e|324=S9|55=NONE|263=1").unwrap();
    assert_eq!(floor.reports(&TELLING), ["35=f|324=S9|55=NONE|326=20"]);
    let wrong = Err(Refusal::ValueOutOfRange(263));
    assert_eq!(floor.client("35=e|324=S1|55=TXFL6|263=7"), wrong);
    let missing = Err(Refusal::ConditionallyRequiredFieldMissing(263));
    assert_eq!(floor.client("35=g|335=T1"), missing);
    for at in 0..70 {
        let done = floor.client(&format!("35=e|324=M{at}|55=TXFL6|263=1"));
        // Two are kept from before.
        assert_eq!(done.is_ok(), at < 62, "{at}");
    }
    floor.reports.clear();
    floor.tell(|oms, now, outbox| {
        let none = fixwire_protocol::PeerLogout::NONE;
        let lost = fixwire_protocol::Parting::Lost;
        oms.on_disconnect(now, CLIENT, lost, none, outbox);
    });
    floor.trades(0, 4);
    assert_eq!(
        floor.reports(&TELLING),
        [""; 0],
        "they end with the connection"
    );
}
