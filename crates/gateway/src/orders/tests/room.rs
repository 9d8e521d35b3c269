//! Remembered ids with little room, and over a restart.

use std::vec::Vec;

use fixwire_protocol::Nanos;

use super::*;

#[test]
fn the_order_that_ended_first_is_forgotten_first() {
    let mut orders = OrderTracker::new(config(When::Always, 3)).unwrap();
    for id in ["A", "B", "C"] {
        sent(&mut orders, ANNA, &format!("D|11={id}"));
    }
    heard(&mut orders, "8|11=FW2|39=2");
    heard(&mut orders, "8|11=FW1|39=2");
    sent(&mut orders, ANNA, "D|11=D");
    assert_eq!(heard(&mut orders, "8|11=FW2|39=2").0, None);
    assert_eq!(heard(&mut orders, "8|11=FW1|39=2").0, Some(ANNA));
    sent(&mut orders, ANNA, "D|11=E");
    assert_eq!(out(&mut orders, ANNA, "D|11=F"), Err(OrdersError::Full));
    assert_eq!(orders.counters().refused, 1);
    assert_eq!(orders.counters().remembered, 3);
    assert_eq!(heard(&mut orders, "8|11=FW3|39=0").0, Some(ANNA));
}

#[test]
fn an_id_that_an_open_replacement_needs_is_not_forgotten() {
    let mut orders = OrderTracker::new(config(When::Always, 3)).unwrap();
    sent(&mut orders, ANNA, "D|11=A");
    sent(&mut orders, ANNA, "G|41=A|11=B");
    heard(&mut orders, "8|11=FW2|41=FW1|39=0|150=5");
    sent(&mut orders, ANNA, "D|11=C");
    assert_eq!(out(&mut orders, ANNA, "D|11=D"), Err(OrdersError::Full));
    expect(
        &mut orders,
        "8|11=FW2|41=FW1|39=1",
        ANNA,
        "8|11=B|41=A|39=1",
    );
    // After another replacement the oldest id is no longer needed, and is forgotten.
    heard(&mut orders, "8|11=FW3|39=2");
    sent(&mut orders, ANNA, "G|41=B|11=D");
    heard(&mut orders, "8|11=FW4|41=FW2|39=0|150=5");
    sent(&mut orders, ANNA, "D|11=E");
    expect(
        &mut orders,
        "8|11=FW4|41=FW2|39=1",
        ANNA,
        "8|11=D|41=B|39=1",
    );
    expect(
        &mut orders,
        "8|11=FW4|41=FW1|39=1",
        ANNA,
        "8|11=D|41=B|39=1",
    );
}

#[test]
fn a_list_is_remembered_as_long_as_one_of_its_orders_is_open() {
    let mut orders = OrderTracker::new(config(When::Always, 3)).unwrap();
    sent(&mut orders, ANNA, "E|66=L|73=2|11=A|11=B");
    assert_eq!(out(&mut orders, ANNA, "D|11=C"), Err(OrdersError::Full));
    heard(&mut orders, "8|11=FW2|39=2");
    sent(&mut orders, ANNA, "D|11=C");
    expect(
        &mut orders,
        "8|66=FW1|11=FW3|39=2",
        ANNA,
        "8|66=L|11=B|39=2",
    );
    assert_eq!(out(&mut orders, ANNA, "E|66=M|11=D"), Ok(Out::New));
    assert_eq!(heard(&mut orders, "N|66=FW1").0, None);
}

#[test]
fn what_a_message_names_makes_no_room_for_it() {
    let mut orders = OrderTracker::new(config(When::Always, 2)).unwrap();
    sent(&mut orders, ANNA, "D|11=A");
    sent(&mut orders, ANNA, "D|11=B");
    heard(&mut orders, "8|11=FW1|39=2");
    let refused = out(&mut orders, ANNA, "F|41=A|11=C");
    assert_eq!(refused, Err(OrdersError::Full));
    heard(&mut orders, "8|11=FW2|39=2");
    assert_eq!(sent(&mut orders, ANNA, "F|41=A|11=C"), "F|41=FW1|11=FW3");
    expect(
        &mut orders,
        "9|11=FW3|41=FW1|39=2",
        ANNA,
        "9|11=C|41=A|39=2",
    );
}

#[test]
fn a_quiet_order_is_forgotten_when_that_is_allowed() {
    let quiet = OrdersConfig {
        forget_quiet: Some(Nanos(100)),
        ..config(When::Always, 2)
    };
    let mut orders = OrderTracker::new(quiet).unwrap();
    sent(&mut orders, ANNA, "D|11=A");
    sent(&mut orders, ANNA, "D|11=B");
    let mut report = draft("8|11=FW1|39=0");
    orders.inbound(Timestamp(NOW.0 + 50), VENUE, &mut report);
    let mut at = |now, id: &str| {
        let mut order = draft(&format!("D|11={id}"));
        orders.outbound(Timestamp(NOW.0 + now), ANNA, VENUE, &mut order)
    };
    assert_eq!(at(99, "C"), Err(OrdersError::Full));
    assert_eq!(at(100, "C"), Ok(Out::New));
    assert_eq!(at(149, "D"), Err(OrdersError::Full));
    assert_eq!(at(150, "D"), Ok(Out::New));
    assert_eq!(heard(&mut orders, "8|11=FW3|39=0").0, Some(ANNA));
    assert_eq!(heard(&mut orders, "8|11=FW1|39=0").0, None);
}

#[test]
fn a_checkpoint_is_the_same_orders() {
    let mut orders = orders(When::OnCollision);
    sent(&mut orders, ANNA, "E|66=L|11=A|11=B");
    sent(&mut orders, BERT, "D|11=A");
    sent(&mut orders, BERT, "G|41=A|11=B");
    heard(&mut orders, "8|37=1|11=FW1|39=1|150=F");
    heard(&mut orders, "8|37=1|11=FW2|41=FW1|39=5|150=5");
    let mut bytes = Vec::new();
    orders.write(&mut bytes);
    let mut again = OrderTracker::read(&bytes, config(When::OnCollision, 100)).unwrap();
    assert_eq!(again.state_hash(), orders.state_hash());
    assert_eq!(again.counters(), orders.counters());
    assert_eq!(sent(&mut again, ANNA, "D|11=FW3"), "D|11=FW3");
    expect(&mut again, "8|37=1|41=FW1|39=4", BERT, "8|37=1|41=A|39=4");
    assert_ne!(again.state_hash(), orders.state_hash());
}

#[test]
fn the_key_of_the_tables_changes_no_answer() {
    let mut orders = orders(When::OnCollision);
    let other = OrdersConfig {
        hash_key: [8; 16],
        ..config(When::OnCollision, 100)
    };
    let mut other = OrderTracker::new(other).unwrap();
    for orders in [&mut orders, &mut other] {
        sent(orders, ANNA, "D|11=A");
        sent(orders, BERT, "D|11=A");
        heard(orders, "8|37=1|11=FW1|39=2|150=2");
    }
    assert_eq!(orders.state_hash(), other.state_hash());
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let mut orders = orders(When::Always);
    sent(&mut orders, ANNA, "E|66=L|11=A|11=B");
    heard(&mut orders, "8|37=1|11=FW2|39=2|150=2");
    let mut bytes = Vec::new();
    orders.write(&mut bytes);
    let config = config(When::Always, 100);
    for end in 0..bytes.len() {
        assert!(OrderTracker::read(&bytes[..end], config).is_err());
    }
    for at in 0..bytes.len() {
        let mut bent = bytes.clone();
        bent[at] ^= 0x20;
        if let Ok(other) = OrderTracker::read(&bent, config) {
            let mut again = Vec::new();
            other.write(&mut again);
            assert!(again == bent, "byte {at}");
            assert_ne!(other.state_hash(), orders.state_hash(), "byte {at}");
        }
    }
    let fewer = OrdersConfig {
        max_orders: 2,
        ..config
    };
    assert_eq!(
        OrderTracker::read(&bytes, fewer).err(),
        Some(CheckpointError::Room)
    );
}

#[test]
fn a_message_takes_no_memory() {
    let mut orders = OrderTracker::new(config(When::Always, 50)).unwrap();
    let mut draft = Draft::with_capacity(64, 4096);
    let mut id = *b"A0000";
    let mut send = |orders: &mut OrderTracker, msg_type: &[u8], report: &[u8]| {
        for number in 0..200_u32 {
            id[1..].copy_from_slice(&[0, 12, 6, 0].map(|bits| b'a' + (number >> bits & 15) as u8));
            draft.begin(msg_type);
            draft.push(11, &id);
            draft.push(41, &id);
            let _ = orders.outbound(NOW, ANNA, VENUE, &mut draft);
            draft.set_msg_type(b"8");
            draft.push(39, report);
            draft.push(37, &id);
            orders.inbound(NOW, VENUE, &mut draft);
        }
        orders.state_hash()
    };
    let counted = allocation_counter::measure(|| {
        send(&mut orders, b"D", b"2");
        send(&mut orders, b"G", b"5");
        send(&mut orders, b"D", b"0");
    });
    assert_eq!(counted.count_total, 0);
    assert!(orders.counters().refused > 100);
    assert_eq!(orders.counters().remembered, 50);
}
