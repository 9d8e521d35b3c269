//! Orders of TMP and FIX members at random, over restarts and lost connections: all that is sent arrives once and in
//! order, and quantities agree. What leaves and the state of each world must be what `worlds.txt` says; see
//! `fixwire_harness::worlds`.

use alloc::format;
use alloc::vec::Vec;

use fixwire_harness::Random;
use fixwire_harness::worlds::{self, WorldRecord};
use fixwire_protocol::Application;
use fixwire_tmp::messages::{R01, R02};
use fixwire_tmp::{
    ClientLinkState, TmpExecType, TmpFrame, TmpOrdType, TmpPositionEffect, TmpSide, TmpTimeInForce,
};

use super::desk::{A, B};
use super::random::FILE;
use super::state_lines::{kept_lines, state_lines};
use super::tmp_copies::subscribe;
use super::tmp_desk::{COPY, MEMBER, ONE, TWO, TmpDesk, new};

/// One of these values, at random.
fn of<T: Copy>(chance: &mut Random, all: &[T]) -> T {
    all[chance.below(all.len() as u64) as usize]
}

/// A request with mostly sensible values.
fn request(chance: &mut Random) -> R01 {
    let order_no = format!("A{:04}", chance.below(60));
    let side = of(chance, &[TmpSide::BUY, TmpSide::SELL]);
    let price = of(chance, &[0, -1, i32::MAX, 995, 1000, 1000, 1005, 1010]);
    let mut order = new(&order_no, side, chance.below(12) as u16, price);
    order.exec_type = TmpExecType(of(chance, b"00000045mMI9"));
    order.ord_type = TmpOrdType(of(chance, &[2, 2, 2, 2, 1, 3, 7]));
    order.time_in_force = TmpTimeInForce(of(chance, &[0, 0, 0, 3, 4, 8]));
    order.position_effect = TmpPositionEffect(of(chance, b"OOOCA9x"));
    order.ord_id = chance.below(10_000_000) as u32;
    if chance.below(20) == 0 {
        order.qty = u16::MAX;
    }
    order
}

/// Checks the reports that a broker has received over one line.
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

/// A day of one world.
fn play(seed: u64, record: &mut WorldRecord) -> TmpDesk {
    let mut chance = Random::new(seed);
    let chance = &mut chance;
    // In every second world two lines have copies of reports.
    let has_copies = seed % 2 == 1;
    let mut desk = match has_copies {
        true => TmpDesk::with_copies().log_in(),
        false => TmpDesk::new().log_in(),
    };
    for id in 0..150 {
        let at = of(chance, &[ONE, TWO]);
        match chance.below(16) {
            0..10 => {
                if desk.brokers[at].link.state() == ClientLinkState::Down {
                    record.input(&format!("line {at} logs in"));
                    assert_eq!(desk.connect(at), ClientLinkState::Ready);
                }
                let request = request(chance);
                record.input(&format!("line {at}: {request:?}"));
                desk.send(at, &request);
            }
            10..13 => {
                let (from, side) = (of(chance, &[A, B]), of(chance, &[1, 2]));
                let (qty, price) = (1 + chance.below(9), of(chance, &["9.95", "10", "10.05"]));
                let order = format!("D 11={id}|55=VOD|54={side}|38={qty}|40=2|44={price}");
                record.input(&format!("M{}: {order}", from.0));
                desk.say(from, &order);
            }
            13 => {
                record.input(&format!("line {at} disconnects"));
                desk.disconnect(at);
            }
            14 => {
                record.input("the exchange is killed");
                let before = kept_lines(&desk.exchange);
                let hash = desk.exchange.state_hash();
                let middle = chance.below(desk.notes.len() as u64 + 1) as usize;
                if chance.below(2) == 0 {
                    desk.kill();
                } else {
                    desk.kill_with_checkpoint(middle);
                }
                assert_eq!(desk.exchange.state_hash(), hash, "seed {seed}");
                worlds::assert_same(
                    &kept_lines(&desk.exchange),
                    &before,
                    format_args!("seed {seed}"),
                );
                desk.sleep(1);
            }
            _ => {
                let millis = chance.below(200);
                record.input(&format!("{millis} ms"));
                desk.sleep(millis);
                if has_copies {
                    more(chance, &mut desk, record, at);
                }
            }
        }
        for left in desk.left.drain(..) {
            record.output(left);
        }
        for (at, broker) in desk.brokers.iter_mut().enumerate() {
            for why in broker.hangups.drain(..) {
                record.output(format_args!("line {at} closed: {why}"));
            }
        }
        record.state(|| state_lines(&desk.exchange));
    }
    desk
}

/// Subscriptions of copies, a fault, a bulletin.
fn more(chance: &mut Random, desk: &mut TmpDesk, record: &mut WorldRecord, at: usize) {
    match chance.below(5) {
        0 | 1 => {
            let (line, target_id) = of(chance, &[(COPY, 7), (MEMBER, 8), (MEMBER, 9)]);
            if desk.brokers[line].link.state() == ClientLinkState::Down {
                assert_eq!(desk.connect(line), ClientLinkState::Ready);
            }
            let from = 1 + chance.below(9) as u32;
            record.input(&format!("line {line} subscribes {target_id} from {from}"));
            let status = subscribe(desk, line, target_id, from);
            record.output(format_args!("status {status}"));
        }
        2 => operate(desk, record, "bulletin Trading ends early"),
        3 => operate(desk, record, "fault delay type=R06 ms=30 count=2"),
        _ => operate(
            desk,
            record,
            &format!("fault reorder session=T{} count=1 type=R06", at + 1),
        ),
    }
}

fn operate(desk: &mut TmpDesk, record: &mut WorldRecord, command: &str) {
    record.input(command);
    let done = desk.command(command);
    record.output(format_args!("{done:?}"));
}

#[test]
fn random_days_lose_and_double_nothing() {
    let mut played = Vec::new();
    for seed in 0..24 {
        let mut record = WorldRecord::new(format!("tmp/{seed:02}"));
        let mut desk = play(seed, &mut record);
        played.push(record);
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
    worlds::compare(FILE, "tmp", &played);
}
