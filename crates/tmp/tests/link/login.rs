//! The login: its order, its refusals, its numbers, its recovery.

use fixwire_tmp::messages::{L41, L50};
use fixwire_tmp::{
    ClientLinkState, ExchangeLinkState, LinkAction, LinkActions, LinkClient, LinkEnd, LinkExchange,
    LinkNumbers, LinkWarning, TmpFrame, TmpHeader, TmpLayout, TmpPassword, TmpStatus,
    messages::L10, messages::L30,
};

use super::world::{
    PlannedFault, S, Who, WireFaultKind, World, client_settings, exchange_settings, frame, report,
    reseal,
};

#[test]
fn a_login_has_the_order_of_the_specification() {
    let mut world = World::usual();
    world.exchange_reports(3);
    world.run(S);
    let steps = "Broker L10, Exchange L10, Broker L20, Exchange L30, Broker L40, Exchange L41, Broker L42, \
                 Exchange L50, Broker L60, Broker ready, Exchange ready";
    assert_eq!(world.trace.join(", "), steps);
    assert_eq!(world.recovered, [1, 2, 3]);
    assert_eq!(world.ends, []);
}

#[test]
fn nothing_is_resent_when_nothing_is_missing() {
    let mut world = World::usual();
    world.run(S);
    assert!(world.is_ready());
    assert!(!world.trace.iter().any(|step| step.ends_with("L41")));
}

/// A field of L40, and the status of a wrong one.
const FIELDS: [(&str, usize, u8, TmpStatus); 6] = [
    ("append_no", 18, 0xff, TmpStatus::APPEND_NO),
    ("fcm_id", 20, 0xff, TmpStatus::FCM_ID),
    ("session_id", 22, 0xff, TmpStatus::SESSION_ID),
    ("system_type", 24, 10, TmpStatus::SYSTEM_TYPE),
    ("ap_code", 25, 6, TmpStatus::AP_CODE),
    ("key_value", 26, 100, TmpStatus::KEY_VALUE),
];

#[test]
fn a_wrong_field_of_l40_has_its_status_and_three_lock() {
    for (field, at, value, status) in FIELDS {
        let mut world = World::usual();
        world.fault = Some(PlannedFault {
            to_exchange: true,
            code: 40,
            kind: WireFaultKind::Field(at, value),
            times: 3,
        });
        world.run(30 * S);
        let message = "L10";
        let refused = (Who::Broker, Some(LinkEnd::Refused { message, status }));
        assert_eq!(world.ends[..3], [refused; 3], "{field}");
        let status = TmpStatus::LOCKED;
        let locked = (Who::Broker, Some(LinkEnd::Refused { message, status }));
        assert!(world.ends.len() > 4 && world.ends[3..].iter().all(|end| *end == locked));
        assert!(world.exchange.is_locked() && !world.is_ready());
        world.exchange.unlock();
        world.run(5 * S);
        assert!(world.is_ready(), "{field}");
    }
}

#[test]
fn two_wrong_logins_and_a_right_one_do_not_lock() {
    let mut world = World::usual();
    for _ in 0..3 {
        world.fault = Some(PlannedFault {
            to_exchange: true,
            code: 40,
            kind: WireFaultKind::Field(26, 100),
            times: 2,
        });
        world.run(10 * S);
        assert!(world.is_ready() && !world.exchange.is_locked());
        world
            .exchange
            .refuse(world.now, TmpStatus::MSG_SEQ_NUM, &mut LinkActions::new());
        world.run(S);
    }
}

#[test]
fn a_wrong_password_is_status_204() {
    let mut client = client_settings();
    client.password = TmpPassword::new(4321);
    let mut world = World::new(client, exchange_settings());
    world.run(3 * S);
    let status = TmpStatus::KEY_VALUE;
    let message = "L10";
    assert_eq!(
        world.ends[0],
        (Who::Broker, Some(LinkEnd::Refused { message, status }))
    );
}

#[test]
fn another_header_or_another_system_is_refused() {
    let mut client = client_settings();
    client.session_id = 51;
    let mut world = World::new(client, exchange_settings());
    world.run(S / 2);
    let (message, status) = ("L10", TmpStatus::SESSION_ID);
    assert_eq!(
        world.ends,
        [(Who::Broker, Some(LinkEnd::Refused { message, status }))]
    );

    let mut exchange = exchange_settings();
    exchange.system_type = fixwire_tmp::SystemType::OPTIONS_DAY;
    let mut world = World::new(client_settings(), exchange);
    world.run(S / 2);
    let end = LinkEnd::OtherSystem {
        expected: 20,
        found: 10,
    };
    assert_eq!(world.ends, [(Who::Broker, Some(end))]);
}

/// The exchange's own reason for a broker that it dropped, as an operator reads it.
fn reason(world: &mut World, out: &mut LinkActions) -> String {
    out.clear();
    world.now.mono_ns += S;
    world.exchange.on_time(world.now, out);
    match out.iter().next() {
        Some(LinkAction::Close(end)) => end.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_link_that_is_refused_when_ready_says_so() {
    for (at, byte, text) in [
        (14, 24, "header of R01 has fcm_id 280, configured is 279"),
        (16, 51, "header of R01 has session_id 51, configured is 50"),
    ] {
        let mut world = World::usual();
        world.run(S);
        let mut other = super::world::order();
        other[13..17].copy_from_slice(&[1, 23, 0, 50]);
        other[at] = byte;
        reseal(&mut other);
        let mut out = LinkActions::new();
        let (now, store) = (world.now, &mut world.store);
        world.exchange.on_frame(now, &other, store, &mut out);
        assert_eq!(reason(&mut world, &mut out), text);
    }
    let mut world = World::usual();
    world.run(S);
    let mut out = LinkActions::new();
    let status = TmpStatus::MSG_SEQ_NUM;
    world.exchange.refuse(world.now, status, &mut out);
    assert_eq!(
        reason(&mut world, &mut out),
        "broker refused by the program with status 207 (MsgSeqNum is not contiguous)"
    );
}

#[test]
fn a_broker_reports_a_wrong_header_as_header_or_l40() {
    let mut client = client_settings();
    client.fcm_id = 280;
    let mut world = World::new(client, exchange_settings());
    world.run(S / 2);
    let (_, end) = world.ends[0];
    assert_eq!(
        end.expect("an end of the broker").to_string(),
        "peer sent L10 with status 202 (Header or L40: wrong fcm_id)"
    );
}

#[test]
fn the_exchange_drops_a_moment_after_its_status() {
    let mut exchange = LinkExchange::new(exchange_settings(), LinkNumbers::default());
    exchange.lock();
    let world = World::usual();
    let (mut now, mut out) = (world.now, LinkActions::new());
    exchange.on_connect(now);
    let mut store = super::world::Store::default();
    let mut hello = frame(&L10::default());
    hello[13..17].copy_from_slice(&[1, 23, 0, 50]);
    reseal(&mut hello);
    exchange.on_frame(now, &hello, &mut store, &mut out);
    assert_eq!(exchange.state(), ExchangeLinkState::Dropping);
    let sent = out.iter().next();
    let Some(LinkAction::Send(sent)) = sent else {
        panic!("{sent:?}");
    };
    assert_eq!(
        TmpFrame::decode::<L10>(sent).unwrap().1.status,
        TmpStatus::LOCKED
    );
    out.clear();
    now.mono_ns += 99_999_999;
    exchange.on_frame(now, &hello, &mut store, &mut out);
    exchange.on_time(now, &mut out);
    assert!(out.is_empty());
    now.mono_ns += 1;
    exchange.on_time(now, &mut out);
    assert!(out.iter().eq([LinkAction::Close(LinkEnd::Locked)]));
}

#[test]
fn numbers_go_on_after_a_restart_of_the_broker() {
    let mut world = World::usual();
    world.queue_orders(4);
    world.run(2 * S);
    assert_eq!(
        world.saved[0],
        LinkNumbers {
            inbound: 4,
            outbound: 4
        }
    );
    // The process of the broker ends; the exchange reports meanwhile.
    world
        .exchange
        .refuse(world.now, TmpStatus::MAJOR_ERROR, &mut LinkActions::new());
    world.exchange_reports(3);
    world.client = LinkClient::new(client_settings(), world.saved[0]);
    world.queue_orders(1);
    world.run(5 * S);
    assert_eq!(world.reports, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(world.recovered, [5, 6, 7]);
    assert_eq!(world.orders.last().map(|(number, _)| *number), Some(5));
}

#[test]
fn the_exchange_accepts_any_first_number_after_a_login() {
    let mut world = World::usual();
    world.client = LinkClient::new(
        client_settings(),
        LinkNumbers {
            inbound: 0,
            outbound: 900,
        },
    );
    world.queue_orders(2);
    world.run(S);
    let numbers: Vec<u32> = world.orders.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [901, 902]);
    assert_eq!(world.ends, []);
}

#[test]
fn a_number_above_the_exchanges_is_lowered() {
    let mut world = World::usual();
    world.exchange_reports(5);
    let (inbound, outbound) = (9, 0);
    world.client = LinkClient::new(client_settings(), LinkNumbers { inbound, outbound });
    world.in_order.last = inbound;
    world.run(S);
    let (from, to) = (9, 5);
    assert_eq!(
        world.warnings,
        [(Who::Broker, LinkWarning::NumberLowered { from, to })]
    );
    assert_eq!(world.saved[0].inbound, 5);
    world.exchange_reports(1);
    world.run(S);
    assert_eq!(world.reports, [6]);
}

#[test]
fn what_is_reported_during_a_login_follows_it() {
    let mut world = World::usual();
    world.exchange_reports(2);
    world.reconnects = true;
    // Five frames of a millisecond each: L40 is under way.
    world.run(5_500_000);
    assert_ne!(world.client.state(), ClientLinkState::Ready);
    world.exchange_reports(3);
    world.run(S);
    assert_eq!(world.reports, [1, 2, 3, 4, 5]);
    assert_eq!(world.recovered, [1, 2]);
}

#[test]
fn many_messages_come_in_blocks_whole_or_split() {
    for split in [false, true] {
        for block in [256, 300, 400, 1_000, 40_000] {
            let mut exchange = exchange_settings();
            exchange.block_bytes = block;
            exchange.split_messages = split;
            exchange.max_flow_ctrl_cnt = 0;
            let mut world = World::new(client_settings(), exchange);
            world.exchange_reports(250);
            world.run(60 * S);
            let all: Vec<u32> = (1..=250).collect();
            assert_eq!(world.recovered, all, "{block} {split}: {:?}", world.ends);
            assert!(world.is_ready());
            let blocks = world
                .trace
                .iter()
                .filter(|step| step.ends_with("L41"))
                .count();
            let per_block = if split {
                f64::from(block) / 133.0
            } else {
                f64::from(block / 133)
            };
            let expected = (250.0 / per_block).ceil() as usize;
            assert_eq!(blocks, expected, "{block} {split}");
        }
    }
}

#[test]
fn a_store_that_lacks_a_message_is_named() {
    let mut world = World::usual();
    world.exchange_reports(3);
    world.store.0.remove(&2);
    world.run(S / 2);
    let (message, status) = ("L10", TmpStatus::MAJOR_ERROR);
    assert_eq!(
        world.ends,
        [(Who::Broker, Some(LinkEnd::Refused { message, status }))]
    );
}

/// A broker that has sent L40 to an exchange with this last number.
pub fn at_l40(end: u32) -> (World, LinkActions) {
    let mut world = World::usual();
    let mut out = LinkActions::new();
    log_in_to_l40(&mut world, end, &mut out);
    out.clear();
    (world, out)
}

/// Takes the broker to L40, with an exchange that has this last number.
pub fn log_in_to_l40(world: &mut World, end: u32, out: &mut LinkActions) {
    world.client.on_connect(world.now, out);
    let l30 = L30 {
        end_out_bound_num: end,
        system_type: fixwire_tmp::SystemType::FUTURES_DAY,
        ..L30::default()
    };
    for bytes in [frame(&L10::default()), frame(&l30)] {
        world.client.on_frame(world.now, &bytes, out);
    }
    assert_eq!(world.client.state(), ClientLinkState::AwaitL50);
}

pub fn numbered(msg_seq_num: u32) -> Vec<u8> {
    let mut frame = report();
    frame[2..6].copy_from_slice(&msg_seq_num.to_be_bytes());
    reseal(&mut frame);
    frame
}

pub fn block(data: &[u8], is_eof: u8) -> Vec<u8> {
    let mut buffer = vec![0; 1_000];
    let l41 = L41 {
        is_eof,
        data,
        ..L41::default()
    };
    let len = l41.encode(&TmpHeader::default(), &mut buffer).unwrap();
    buffer.truncate(len);
    buffer
}

#[test]
fn a_recovery_that_is_short_or_wrong_is_named() {
    let two = [numbered(1), numbered(2)].concat();
    let last = LinkEnd::RecoveryShort { last: 2, end: 3 };
    let gap = LinkEnd::SequenceGap {
        expected: 1,
        found: 2,
    };
    let cut = LinkEnd::RecoveryCut { bytes: 132 };
    let cases = [
        (
            block(&two, 1),
            "recovery ended at MsgSeqNum 2, L30 promised 3",
            Some(last),
        ),
        (
            block(&two[133..], 0),
            "MsgSeqNum 2 received, expected 1",
            Some(gap),
        ),
        (
            block(&two[..265], 1),
            "recovery ended inside a message, after 132 bytes of it",
            Some(cut),
        ),
        (
            block(&[0, 9, 0, 0], 0),
            "bad frame: frame in L41: msg_length at byte 0 is 9, expected at least 16",
            None,
        ),
        (
            frame(&L50::default()),
            "recovery ended at MsgSeqNum 0, L30 promised 3",
            None,
        ),
        (
            block(&frame(&L10::default()), 0),
            "L10 received, expected messages with a number",
            None,
        ),
        (numbered(1), "R02 received, expected L41", None),
    ];
    for (bytes, text, end) in cases {
        let (mut world, mut out) = at_l40(3);
        world.client.on_frame(world.now, &bytes, &mut out);
        let ends: Vec<LinkEnd> = out
            .iter()
            .filter_map(|action| match action {
                LinkAction::Close(end) => Some(end),
                _ => None,
            })
            .collect();
        assert_eq!(ends.len(), 1, "{text}");
        assert_eq!(ends[0].to_string(), text);
        assert!(end.is_none_or(|end| end == ends[0]));
        assert_eq!(world.client.state(), ClientLinkState::Down);
    }
}

#[test]
fn messages_before_the_end_of_a_recovery_are_saved() {
    let (mut world, mut out) = at_l40(3);
    let data = [numbered(1), numbered(2)].concat();
    world.client.on_frame(world.now, &block(&data, 1), &mut out);
    assert_eq!(world.client.numbers().inbound, 2);
    let inbound = 2;
    let saved = LinkNumbers {
        inbound,
        outbound: 0,
    };
    assert!(out.iter().any(|action| action == LinkAction::Save(saved)));
}

#[test]
fn a_resent_message_that_is_known_is_dropped() {
    let (mut world, mut out) = at_l40(2);
    let data = [numbered(1), numbered(1), numbered(2)].concat();
    world.client.on_frame(world.now, &block(&data, 1), &mut out);
    let delivered = out
        .iter()
        .filter(|it| matches!(it, LinkAction::Deliver { .. }))
        .count();
    assert_eq!(delivered, 2);
    let msg_seq_num = 1;
    let warning = LinkAction::Warn(LinkWarning::PossibleDuplicate { msg_seq_num });
    assert!(out.iter().any(|action| action == warning));
    assert_eq!(world.client.state(), ClientLinkState::AwaitL50);
}

#[test]
fn an_end_of_the_application_and_a_stop_are_named() {
    let (mut world, mut out) = at_l40(0);
    let mut l70 = vec![0; 19];
    (l70[1], l70[12]) = (16, 70);
    reseal(&mut l70);
    world.client.on_frame(world.now, &l70, &mut out);
    assert!(
        out.iter()
            .eq([LinkAction::Close(LinkEnd::EndOfApplication)])
    );
    out.clear();
    world.client.stop(&mut out);
    assert!(out.is_empty());
    let (mut world, mut out) = at_l40(0);
    world.client.stop(&mut out);
    assert!(out.iter().eq([LinkAction::Close(LinkEnd::Stopped)]));
}

/// An L80 on a link of session 50; its layout is unknown, so this one has a header only.
fn l80() -> Vec<u8> {
    let mut l80 = vec![0; 19];
    (l80[1], l80[12]) = (16, 80);
    l80[13..17].copy_from_slice(&[1, 23, 0, 50]);
    reseal(&mut l80);
    l80
}

#[test]
fn an_l80_ends_the_link_of_the_exchange() {
    for ready in [false, true] {
        let mut world = World::usual();
        if ready {
            world.run(S);
        } else {
            world.exchange.on_connect(world.now);
        }
        assert_eq!(world.is_ready(), ready);
        let mut out = LinkActions::new();
        let (now, store) = (world.now, &mut world.store);
        // No L10 with a status: the broker did nothing wrong.
        world.exchange.on_frame(now, &l80(), store, &mut out);
        let end = LinkEnd::EndOfApplication;
        assert!(out.iter().eq([LinkAction::Close(end)]), "{out:?}");
        assert_eq!(world.exchange.state(), ExchangeLinkState::Down);
        assert_eq!(
            end.to_string(),
            "peer ended the application (L70 of the exchange, L80 of the broker)"
        );
        out.clear();
        world.exchange.on_frame(now, &l80(), store, &mut out);
        assert!(out.is_empty());
    }
}

#[test]
fn an_l80_with_a_wrong_checksum_is_refused() {
    let mut world = World::usual();
    world.run(S);
    let mut torn = l80();
    torn[18] ^= 1;
    let mut out = LinkActions::new();
    let (now, store) = (world.now, &mut world.store);
    world.exchange.on_frame(now, &torn, store, &mut out);
    let Some(LinkAction::Send(sent)) = out.iter().next() else {
        panic!("{out:?}");
    };
    let l10 = TmpFrame::decode::<L10>(sent).unwrap().1;
    assert_eq!(l10.status, TmpStatus::FORMAT);
}

#[test]
fn nothing_shows_a_password_or_its_proof() {
    let mut world = World::usual();
    world.run(S);
    let text = format!("{:?} {:?}", world.client, world.exchange);
    assert!(!text.contains("4567"), "{text}");
    let (_, out) = at_l40(0);
    let shown = format!("{out:?} {:?}", fixwire_tmp::messages::L40::default());
    assert!(shown.contains("key_value: ***"), "{shown}");
}
