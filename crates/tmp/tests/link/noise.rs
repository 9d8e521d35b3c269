//! Any bytes, at any time: no panic, and what is delivered is in order.

use fixwire_tmp::messages::{L50, LAYOUTS, TmpMessage};
use fixwire_tmp::{
    ClientLinkState, LinkAction, LinkActions, TmpFrame, TmpHeader, TmpStatus, checksum,
};
use proptest::prelude::*;

use super::login::{at_l40, block, log_in_to_l40, numbered};
use super::world::{InOrder, S, Store, World, frame, order, report};

/// A frame of any layout whose length and checksum are right.
fn sound() -> impl Strategy<Value = Vec<u8>> {
    let layout = 0..LAYOUTS.len();
    let body = prop::collection::vec(any::<u8>(), 400);
    let header = (0..4_u32, any::<bool>(), 0..100_usize, any::<bool>());
    (layout, body, header).prop_map(|(layout, mut frame, (number, own, data, is_ok))| {
        let layout = LAYOUTS[layout];
        let size = (layout.size + if layout.has_data { data } else { 0 }).max(19);
        frame.truncate(size);
        frame[..2].copy_from_slice(&(size as u16 - 3).to_be_bytes());
        frame[2..6].copy_from_slice(&number.to_be_bytes());
        frame[12] = layout.code;
        if own {
            frame[13..17].copy_from_slice(&[1, 23, 0, 50]);
        }
        if is_ok && size > 18 {
            frame[17] = 0;
        }
        frame[size - 1] = checksum(&frame[..size - 1]);
        frame
    })
}

/// What happens to a link: a frame, bytes, time, a message of its own, a lost connection.
#[derive(Clone, Debug)]
enum Happens {
    Frame(Vec<u8>),
    Bytes(Vec<u8>),
    Time(u64),
    Send,
    Connect,
    Disconnect,
    Login,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        5 => sound().prop_map(Happens::Frame),
        1 => prop::collection::vec(any::<u8>(), 0..200).prop_map(Happens::Bytes),
        1 => (0..40 * S).prop_map(Happens::Time),
        2 => Just(Happens::Send),
        1 => Just(Happens::Connect),
        1 => Just(Happens::Disconnect),
        1 => Just(Happens::Login),
    ]
}

/// MsgSeqNum of each message delivered.
fn delivered(out: &LinkActions) -> Vec<u32> {
    let number = |action| match action {
        LinkAction::Deliver { frame, .. } => {
            let frame = TmpFrame::read(frame).expect("a whole frame");
            Some(frame.header().msg_seq_num)
        }
        _ => None,
    };
    out.iter().filter_map(number).collect()
}

/// All bytes in the actions are frames.
fn are_frames(out: &LinkActions) {
    for action in out {
        if let LinkAction::Deliver { frame, .. }
        | LinkAction::Send(frame)
        | LinkAction::Keep { frame, .. } = action
        {
            assert!(TmpFrame::read(frame).is_ok());
        }
    }
}

fn play(steps: Vec<Happens>) {
    let mut world = World::usual();
    let mut store = Store::default();
    for step in steps {
        let mut out = LinkActions::new();
        let now = world.now;
        match step {
            Happens::Frame(frame) | Happens::Bytes(frame) => {
                world.client.on_frame(now, &frame, &mut out);
                world.in_order.follow(&out).expect("in order");
                world.exchange.on_frame(now, &frame, &mut store, &mut out);
            }
            Happens::Time(passed) => {
                world.now.mono_ns += passed;
                world.now.wall_ns += passed;
                world.client.on_time(world.now, &mut out);
                world.exchange.on_time(world.now, &mut out);
            }
            Happens::Send => {
                let _ = world.client.send(now, &mut order(), &mut out);
                let _ = world.exchange.send(now, &mut report(), &mut out);
                for action in &out {
                    if let LinkAction::Keep { msg_seq_num, frame } = action {
                        store.0.insert(msg_seq_num, frame.to_vec());
                        world.store.0.insert(msg_seq_num, frame.to_vec());
                    }
                }
            }
            Happens::Connect => {
                world.client.on_connect(now, &mut out);
                world.exchange.on_connect(now);
            }
            Happens::Disconnect => {
                world.client.on_disconnect();
                world.exchange.on_disconnect();
            }
            // The world follows its broker itself.
            Happens::Login => world.run(S),
        }
        are_frames(&out);
        // Nothing twice, nothing left out, whatever the frames were.
        assert_eq!(world.in_order.last, world.client.numbers().inbound);
    }
}

#[test]
fn a_number_out_of_order_is_found() {
    // Delivers 1 and 2, then sees an L30 that lowers the number to 1.
    let (mut world, mut out) = at_l40(2);
    let both = [numbered(1), numbered(2)].concat();
    world.client.on_frame(world.now, &block(&both, 1), &mut out);
    let mut again = LinkActions::new();
    log_in_to_l40(&mut world, 1, &mut again);
    let in_order = |last| InOrder { last };
    let twice = in_order(1).follow(&out);
    assert_eq!(twice, Err("1 is delivered after 1".to_owned()));
    let mut right = in_order(0);
    assert_eq!(right.follow(&out), Ok(()));
    assert_eq!(right.follow(&again), Ok(()));
    assert_eq!(right.last, 1);
    let lowered = right.follow(&again);
    assert_eq!(lowered, Err("lowered from 2 to 1 after 1".to_owned()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn nothing_makes_a_link_panic(steps in prop::collection::vec(happens(), 0..40)) {
        play(steps);
    }

    /// Any values of any message read back as the same bytes.
    #[test]
    fn every_frame_reads_back(frame in sound()) {
        let read = TmpFrame::read(&frame).expect("it is sound");
        let message = TmpMessage::of(&read).expect("a known type");
        let mut buffer = [0; 512];
        let len = message.encode(&read.header(), &mut buffer).expect("room");
        prop_assert_eq!(&buffer[..len], &frame[..]);
        // A buffer that is one byte short is refused and not written beyond.
        let error = message.encode(&read.header(), &mut buffer[..len - 1]).unwrap_err();
        prop_assert_eq!(error.found, len as u64 - 1);
        let _ = message.check();
    }

    /// A flipped bit is found, whatever it is in, but where the sum stays the same.
    #[test]
    fn a_flipped_bit_is_found(frame in sound(), at in any::<prop::sample::Index>(), bit in 0..8) {
        let mut bad = frame.clone();
        bad[at.index(frame.len())] ^= 1_u8 << bit;
        let error = TmpFrame::read(&bad).unwrap_err();
        prop_assert!(!error.to_string().is_empty());
    }

    /// Messages that L41 cuts anywhere are the same messages.
    #[test]
    fn blocks_may_end_anywhere(
        count in 1..12_u32,
        sizes in prop::collection::vec(1..400_usize, 1..12),
    ) {
        let data: Vec<u8> = (1..=count).flat_map(numbered).collect();
        let (mut world, mut out) = at_l40(count);
        let mut seen = Vec::new();
        let (mut rest, mut sizes) = (&data[..], sizes.into_iter().cycle());
        while !rest.is_empty() {
            let (now, next) = rest.split_at(sizes.next().unwrap_or(1).min(rest.len()));
            rest = next;
            let is_last = u8::from(rest.is_empty());
            world.client.on_frame(world.now, &block(now, is_last), &mut out);
            seen.extend(delivered(&out));
            out.clear();
        }
        let all: Vec<u32> = (1..=count).collect();
        prop_assert_eq!(seen, all);
        world.client.on_frame(world.now, &frame(&L50::default()), &mut out);
        prop_assert_eq!(world.client.state(), ClientLinkState::Ready);
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(frame) = TmpFrame::read(&bytes) {
            prop_assert!(TmpMessage::of(&frame).is_ok());
        }
        let mut masked = bytes.clone();
        fixwire_tmp::mask_key(&mut masked);
        prop_assert_eq!(masked.len(), bytes.len());
    }
}

#[test]
fn a_value_outside_its_set_is_named() {
    let order = fixwire_tmp::messages::R31::default();
    let message = TmpMessage::R31(order);
    let error = message.check().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("R31: exec_type at byte 17 is 0, expected one of 48 new")
    );
    let mut order = order;
    order.exec_type = fixwire_tmp::TmpExecType::NEW;
    order.symbol_type = fixwire_tmp::TmpSymbolType::TEXT_40;
    order.side = fixwire_tmp::TmpSide(3);
    let text = TmpMessage::R31(order).check().unwrap_err().to_string();
    assert_eq!(
        text,
        "R31: side at byte 91 is 3, expected one of 1 buy, 2 sell"
    );
    assert_eq!(TmpStatus(3).text(), None);
    let empty = TmpMessage::R17(fixwire_tmp::messages::R17 { data: &[] });
    let error = empty.encode(&TmpHeader::default(), &mut [0; 64]);
    let text = error.unwrap_err().to_string();
    assert_eq!(text, "R17: length at byte 0 is 18, expected at least 19");
    let too_long = vec![0; 65_530];
    let bulletin = fixwire_tmp::messages::R17 { data: &too_long };
    let error = TmpMessage::R17(bulletin).encode(&TmpHeader::default(), &mut vec![0; 70_000]);
    let text = error.unwrap_err().to_string();
    assert_eq!(
        text,
        "R17: length at byte 0 is 65548, expected at most 65538"
    );
}
