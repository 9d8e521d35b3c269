//! Checkpoints and notes of earlier versions.

use super::*;
use crate::Scope;
use crate::transition::OrderState;
use crate::value::End;

/// A checkpoint of version 1: RC9-quantity-day and RC11-ratio at the firm and A1, an order with fills and a replace
/// under way, one that is done for the day, an end that waits for its fills, and a loss beyond counting.
const CHECKPOINT_1: &[u8] = include_bytes!("checkpoint-1.bin");

/// One of version 2: orders that are filled, in part with a replace under way, unknown, and queued.
const CHECKPOINT_2: &[u8] = include_bytes!("checkpoint-2.bin");

/// One of version 3: an order with a fill and a number of a pool, one that waits to be sent again, and one whose end
/// waits for its fills.
const CHECKPOINT_3: &[u8] = include_bytes!("checkpoint-3.bin");

/// One of version 4: an order that is held, one with a fill and a replace under way, and one that was triggered.
const CHECKPOINT_4: &[u8] = include_bytes!("checkpoint-4.bin");

/// One of version 5: an order with a fill and a replace under way, one that is held, numbers of a link, and a fill of
/// an unknown order.
const CHECKPOINT_5: &[u8] = include_bytes!("checkpoint-5.bin");

/// One of version 6: a quote of which one side is filled in part, a parent order with a child, a rejected order, and the
/// numbers of a link.
const CHECKPOINT_6: &[u8] = include_bytes!("checkpoint-6.bin");

fn read(version: u32, bytes: &[u8]) -> Result<OmsState, String> {
    let mut state = OmsState::default();
    state.read(version, bytes).map(|()| state)
}

#[test]
fn a_checkpoint_of_version_1_is_read() {
    let state = read(1, CHECKPOINT_1).unwrap();
    assert_eq!((state.orders().len(), state.violations()), (4, 0));
    let first = state.orders().get(1).unwrap();
    assert_eq!((first.filled, first.quantity), (40, 100));
    assert!(state.orders().request_of(first).is_some());
    // It counted for nothing there.
    for scope in [
        Scope::Firm,
        Scope::Account(0),
        Scope::Account(1),
        Scope::Holding(1, 0),
    ] {
        let gained = state.standing(scope).unwrap().tally.gained;
        assert_eq!(gained, -(10_i128.pow(33)), "{scope:?}");
    }
    let mut written = Vec::new();
    state.write(&mut |bytes| written.extend_from_slice(bytes));
    let again = read(state.form().1, &written).unwrap();
    assert_eq!(again.hash(), state.hash());
}

#[test]
fn a_checkpoint_of_version_2_has_no_order_that_is_sent_again() {
    let state = read(2, CHECKPOINT_2).unwrap();
    assert_eq!((state.violations(), state.last), (0, 5));
    assert_eq!(
        state.yesterday, 5,
        "of which day its orders are is not known"
    );
    let orders = [1, 2, 4, 5].map(|number| state.orders().get(number).unwrap());
    let states = orders.map(|order| order.state);
    let (filled, part) = (OrderState::Ended(End::Filled), OrderState::Working);
    assert_eq!(
        states,
        [filled, part, OrderState::Unknown, OrderState::Queued]
    );
    assert_eq!(orders.map(|order| order.filled), [10, 20, 0, 0]);
    let (replace, _) = state.orders().request(3).unwrap();
    assert_eq!((replace.quantity, replace.price), (70, 10_010));
    assert!(orders.iter().all(|order| order.attempt() == order.number));
    let mut written = Vec::new();
    state.write(&mut |bytes| written.extend_from_slice(bytes));
    let again = read(state.form().1, &written).unwrap();
    assert_eq!(again.hash(), state.hash());
    assert!(read(3, CHECKPOINT_2).is_err(), "it has another form");
    assert!(read(2, &written).is_err());
}

#[test]
fn a_checkpoint_of_version_3_has_no_order_that_is_held() {
    let state = read(3, CHECKPOINT_3).unwrap();
    assert_eq!((state.violations(), state.last), (0, 4));
    assert!(state.conditions.is_empty());
    let orders = [1, 2, 4].map(|number| state.orders().get(number).unwrap());
    let states = orders.map(|order| order.state);
    assert_eq!(
        states,
        [OrderState::Working, OrderState::Queued, OrderState::Sent]
    );
    let numbers = orders.map(|order| order.pool_number.to_string());
    assert_eq!(numbers, ["T00", "T09", "T01"]);
    assert!(orders.iter().all(|order| !order.triggered));
    assert_eq!(orders[1].attempt(), 3);
    assert!(orders[2].pended.is_some());
    let mut written = Vec::new();
    state.write(&mut |bytes| written.extend_from_slice(bytes));
    let again = read(state.form().1, &written).unwrap();
    assert_eq!(again.hash(), state.hash());
    assert!(read(4, CHECKPOINT_3).is_err(), "it has another form");
}

#[test]
fn a_checkpoint_of_version_4_has_no_numbers_of_links() {
    let mut state = read(4, CHECKPOINT_4).unwrap();
    assert_eq!((state.violations(), state.orders().len()), (0, 3));
    assert_eq!(state.orders().get(1).unwrap().state, OrderState::Held);
    assert!(state.orders().get(4).unwrap().triggered);
    assert_eq!((0..3).map(|it| state.link_numbers(it)).max(), Some((0, 0)));
    let event = OrderEvent::LinkNumbers {
        line: LINES[0],
        inbound: 7,
        outbound: 9,
    };
    assert!(state.apply(0, &event));
    let mut written = Vec::new();
    state.write(&mut |bytes| written.extend_from_slice(bytes));
    let again = read(state.form().1, &written).unwrap();
    assert_eq!(again.hash(), state.hash());
    assert_eq!(again.link_numbers(LINES[0]), (7, 9));
    assert!(read(5, CHECKPOINT_4).is_err(), "it has another form");
    assert!(read(4, &written).is_err());
}

#[test]
fn a_checkpoint_of_version_5_has_no_parents_quotes_rejected_orders_and_copies() {
    let state = read(5, CHECKPOINT_5).unwrap();
    assert_eq!((state.violations(), state.orders().len()), (0, 2));
    let first = state.orders().get(1).unwrap();
    assert_eq!((first.filled, first.quantity), (30, 100));
    assert_eq!(state.link_numbers(LINES[0]), (7, 9));
    assert!(state.has_stray(4_711) && state.families.is_empty());
    assert!(state.quotes.get(1).is_none() && state.copies.is_off());
    assert_eq!(state.rejected.iter().count(), 0);
    assert_eq!(state.firm.tally.buying, 90 + 10);
    let mut written = Vec::new();
    state.write(&mut |bytes| written.extend_from_slice(bytes));
    let again = read(state.form().1, &written).unwrap();
    assert_eq!(again.hash(), state.hash());
    assert!(read(6, CHECKPOINT_5).is_err(), "it has another form");
    assert!(read(5, &written).is_err());
}

#[test]
fn a_checkpoint_of_version_6_has_no_price_inquiries_and_no_spreads() {
    let mut state = read(6, CHECKPOINT_6).unwrap();
    assert_eq!((state.violations(), state.orders().len()), (0, 4));
    let bid = state.orders().get(1).unwrap();
    assert_eq!((bid.filled, bid.quote()), (10, Some(1)));
    assert_eq!(state.families.parent_of(4), Some(3));
    assert_eq!(state.rejected.iter().count(), 1);
    assert_eq!(state.link_numbers(LINES[0]), (7, 9));
    assert_eq!(state.open_inquiries(), 0);
    assert!(state.spreads.is_empty());
    let event = OrderEvent::Inquired {
        inquiry: state.last + 1,
        session: CLIENT,
        instrument: 0,
        line: LINES[0],
        side: Some(Side::Buy),
        quantity: 20,
        pool: crate::pool::NO_POOL,
        number: 0,
        order_no: b"",
        id: b"R1",
    };
    assert!(state.apply(0, &event));
    let mut written = Vec::new();
    state.write(&mut |bytes| written.extend_from_slice(bytes));
    let again = read(state.form().1, &written).unwrap();
    assert_eq!(again.hash(), state.hash());
    assert_eq!(again.open_inquiries(), 1);
    assert!(again.has_inquired(CLIENT, b"R1"));
    assert!(read(7, CHECKPOINT_6).is_err(), "it has another form");
    assert!(read(6, &written).is_err());
}

#[test]
fn a_checkpoint_of_another_version_is_refused() {
    let version = OmsState::default().form().1;
    for other in [0, version + 1] {
        let why = read(other, CHECKPOINT_1).unwrap_err();
        let wanted = format!(
            "the state of the OMS has version {other}, this program reads versions 1 to {version}"
        );
        assert_eq!(why, wanted);
    }
}

/// As journals from before [`Event::DoneForDay`] have it: such an order stays over.
#[test]
fn a_good_till_cancel_order_that_ended_with_its_day_stays_over() {
    let mut world = World::new();
    let order = world.order_with(TimeInForce::GoodTillCancel).unwrap();
    world.accept(order);
    let event = OrderEvent::Ended {
        order,
        how: End::DoneForDay,
        request: None,
        at: 0,
        text: b"",
    };
    world.tell(|core, at, mut sink| core.emit(at, &event, &mut sink));
    world.restart(20_261_123);
    world.work();
    let known = world.core.state().orders().get(order).unwrap();
    assert_eq!(known.state, OrderState::Ended(End::DoneForDay));
    world.check();
}

/// Fills of unknown orders in journals from before [`Event::StrayFill`].
#[test]
fn a_stray_of_old_nets() {
    let mut world = World::new();
    for (exec, side, quantity) in [(1, Side::Buy, 50), (2, Side::Sell, 20)] {
        let event = OrderEvent::Stray {
            line: LINES[0],
            account: 1,
            instrument: 0,
            side,
            exec,
            quantity,
            price: 10_000,
            id: b"99",
        };
        let mut note = 7_i64.to_le_bytes().to_vec();
        event.put(&mut note);
        world.core.replay_note(&note);
    }
    let state = world.core.state();
    let position = state.position(1, 0);
    assert_eq!((position.long, position.short), (30, 0));
    assert_eq!((state.late_fills(), state.violations()), (2, 0));
    assert!(state.has_stray(1));
}

fn written(state: &OmsState) -> Vec<u8> {
    let mut written = Vec::new();
    state.write(&mut |bytes| written.extend_from_slice(bytes));
    written
}

/// Up to version 11 sessions and orders have no marks.
fn without_marks(state: &OmsState) -> Vec<u8> {
    const MARK: [u8; 8] = [0xab; 8];
    let marks = crate::marks::RequestMarks::take(&mut &MARK[..]).unwrap();
    let mut marked = state.clone();
    for session in &mut marked.sessions {
        session.marks = marks;
    }
    for number in 1..=marked.last {
        if let Some(order) = marked.orders.get_mut(number) {
            order.marks = marks;
        }
    }
    let mut bytes = written(&marked);
    while let Some(at) = bytes.windows(MARK.len()).position(|it| it == MARK) {
        bytes.drain(at..at + MARK.len());
    }
    bytes
}

/// Up to version 9 there are no breaks with venues, whose number comes before the names of sessions.
fn without_breaks(state: &OmsState) -> Vec<u8> {
    let mut bytes = without_marks(state);
    let names = b"\x03\0\0\0\x06\0CLIENT";
    let at = bytes
        .windows(names.len())
        .position(|it| it == names)
        .unwrap();
    assert_eq!(bytes.drain(at - 4..at).as_slice(), [0; 4]);
    bytes
}

/// Up to version 8 a checksum of its own is at the end.
fn with_sum(body: &[u8]) -> Vec<u8> {
    let sum = siphasher::sip::SipHasher24::new().hash(body);
    [body, &sum.to_le_bytes()].concat()
}

/// Version 8 appends late replaces and the reload that a second operator must ask for too.
#[test]
fn a_checkpoint_of_version_7_has_no_late_replaces_and_no_reload() {
    let mut world = World::new();
    world.order(Side::Buy, 10, "100").unwrap();
    let state = &mut world.core.state;
    // Without late replaces, the reload, and what versions 10 to 12 have more.
    let new = without_breaks(state);
    let old = with_sum(&new[..new.len() - 25]);
    assert_eq!(read(7, &old).unwrap().hash(), state.hash());
    assert!(read(8, &old).is_err() && read(7, &with_sum(&new)).is_err());
    let before = state.hash();
    let event = OrderEvent::ReloadAsked {
        settings: 7,
        who: b"ann",
        why: b"",
    };
    assert!(state.apply(0, &event));
    assert_ne!(state.hash(), before);
    let again = read(state.form().1, &written(state)).unwrap();
    assert_eq!(again.hash(), state.hash());
    assert_eq!(again.pending_reload, state.pending_reload);
}

#[test]
fn a_checkpoint_of_version_8_has_a_checksum() {
    let mut world = World::new();
    world.order(Side::Buy, 10, "100").unwrap();
    let state = &world.core.state;
    let now = without_breaks(state);
    let mut old = with_sum(&now[..now.len() - 20]);
    assert_eq!(read(8, &old).unwrap().hash(), state.hash());
    assert!(read(9, &old).is_err() && read(8, &old[1..]).is_err());
    old[40] ^= 1;
    assert_eq!(
        read(8, &old).unwrap_err(),
        "the state of the OMS is damaged: its checksum is wrong"
    );
}
