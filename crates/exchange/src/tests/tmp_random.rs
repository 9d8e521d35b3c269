//! Orders of TMP and FIX members at random, over restarts and lost connections: all that is sent arrives once and in
//! order, and quantities agree.

use alloc::format;

use fixwire_protocol::Application;
use fixwire_tmp::messages::{R01, R02};
use fixwire_tmp::{
    ClientLinkState, TmpExecType, TmpFrame, TmpOrdType, TmpPositionEffect, TmpSide, TmpTimeInForce,
};

use super::desk::{A, B};
use super::tmp_desk::{ONE, TWO, TmpDesk, new};

/// `SplitMix64`.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % most
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// A request with mostly sensible values.
fn request(chance: &mut Chance) -> R01 {
    let order_no = format!("A{:04}", chance.below(60));
    let side = chance.of(&[TmpSide::BUY, TmpSide::SELL]);
    let price = chance.of(&[0, -1, i32::MAX, 995, 1000, 1000, 1005, 1010]);
    let mut order = new(&order_no, side, chance.below(12) as u16, price);
    order.exec_type = TmpExecType(chance.of(b"00000045mMI9"));
    order.ord_type = TmpOrdType(chance.of(&[2, 2, 2, 2, 1, 3, 7]));
    order.time_in_force = TmpTimeInForce(chance.of(&[0, 0, 0, 3, 4, 8]));
    order.position_effect = TmpPositionEffect(chance.of(b"OOOCA9x"));
    order.ord_id = chance.below(10_000_000) as u32;
    if chance.below(20) == 0 {
        order.qty = u16::MAX;
    }
    order
}

/// Checks what a broker has heard over one line.
fn check(desk: &TmpDesk, at: usize) {
    let mut next = 1;
    for heard in &desk.brokers[at].heard {
        let read = TmpFrame::read(&heard.frame).unwrap();
        let number = read.header().msg_seq_num;
        if number != 0 {
            assert_eq!(number, next);
            next += 1;
        }
        let Ok(report) = read.body::<R02>() else {
            continue;
        };
        let gone = u32::from(report.last_qty) + u32::from(report.leaves_qty);
        assert!(gone <= u32::from(report.before_qty), "{report:?}");
        let all = u32::from(report.cum_qty) + u32::from(report.leaves_qty);
        assert!(all <= u32::from(report.qty), "{report:?}");
    }
    assert_eq!(next - 1, desk.brokers[at].link.numbers().inbound);
}

#[test]
fn random_days_lose_and_double_nothing() {
    for seed in 0..24 {
        let mut chance = Chance(seed);
        let mut desk = TmpDesk::new().log_in();
        for id in 0..150 {
            let at = chance.of(&[ONE, TWO]);
            match chance.below(16) {
                0..10 => {
                    if desk.brokers[at].link.state() == ClientLinkState::Down {
                        assert_eq!(desk.connect(at), ClientLinkState::Ready);
                    }
                    desk.send(at, &request(&mut chance));
                }
                10..13 => {
                    let (from, side) = (chance.of(&[A, B]), chance.of(&[1, 2]));
                    let (qty, price) = (1 + chance.below(9), chance.of(&["9.95", "10", "10.05"]));
                    let order = format!("D 11={id}|55=VOD|54={side}|38={qty}|40=2|44={price}");
                    desk.say(from, &order);
                }
                13 => desk.disconnect(at),
                14 => {
                    let before = desk.exchange.state_hash();
                    let middle = chance.below(desk.notes.len() as u64 + 1) as usize;
                    if chance.below(2) == 0 {
                        desk.kill();
                    } else {
                        desk.kill_with_checkpoint(middle);
                    }
                    assert_eq!(desk.exchange.state_hash(), before, "seed {seed}");
                    desk.sleep(1);
                }
                _ => desk.sleep(chance.below(200)),
            }
        }
        for at in [ONE, TWO] {
            desk.disconnect(at);
            assert_eq!(desk.connect(at), ClientLinkState::Ready, "seed {seed}");
            check(&desk, at);
        }
        desk.exchange.check().unwrap();
        let mut traded = 0;
        for heard in desk.brokers.iter().flat_map(|broker| &broker.heard) {
            let report = TmpFrame::read(&heard.frame).unwrap().body::<R02>();
            traded += report.map_or(0, |report| u32::from(report.last_qty));
        }
        assert!(traded > 0, "seed {seed}");
    }
}
