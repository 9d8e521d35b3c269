//! Flow control, heartbeats and clocks.

use fixwire_tmp::messages::{L10, L30, L50, R03, R04, R05, R11};
use fixwire_tmp::{
    ClientLinkState, HeartbeatRule, LinkAction, LinkActions, LinkEnd, LinkSendError, LinkWarning,
    SystemType, TmpFrame, TmpStatus,
};

use super::login::{at_l40, block, log_in_to_l40, numbered};
use super::world::{
    MS, PlannedFault, S, Who, WireFaultKind, World, client_settings, exchange_settings, frame,
    order, report, reseal,
};

#[test]
fn a_broker_stays_within_the_limit() {
    let mut exchange = exchange_settings();
    exchange.heart_bt_int = 1;
    let mut world = World::new(client_settings(), exchange);
    world.answers = false;
    world.queue_orders(100);
    world.run(20 * S);
    assert_eq!(world.ends, []);
    assert_eq!(world.orders.len(), 100);
    // 16 a second less two for heartbeats: the broker comes near the limit.
    assert!(
        world
            .orders
            .iter()
            .any(|(_, flow)| *flow == TmpStatus::FLOW_80)
    );
    assert!(
        !world
            .orders
            .iter()
            .any(|(_, flow)| *flow == TmpStatus::FLOW_EXCEEDED)
    );
}

#[test]
fn recovery_in_many_blocks_keeps_within_the_limit_too() {
    let mut exchange = exchange_settings();
    exchange.block_bytes = 256;
    let mut world = World::new(client_settings(), exchange);
    // The first login says the limit.
    world.run(S);
    assert!(world.is_ready());
    world.fault = Some(PlannedFault {
        to_exchange: false,
        code: 102,
        kind: WireFaultKind::Cut,
        times: 1,
    });
    world.exchange_reports(100);
    world.run(30 * S);
    assert_eq!(world.ends, [(Who::Wire, None)]);
    let all: Vec<u32> = (1..=100).collect();
    assert_eq!(world.reports, all);
    assert!(world.recovered.len() > 90 && world.is_ready());
}

#[test]
fn an_l10_before_our_l10_is_named() {
    let mut world = World::usual();
    world.run(3 * S);
    let mut out = LinkActions::new();
    while world.client.send(world.now, &mut order(), &mut out).is_ok() {}
    world.client.on_disconnect();
    world.client.on_connect(world.now, &mut out);
    out.clear();
    let l10 = frame(&L10::default());
    world.client.on_frame(world.now, &l10, &mut out);
    let Some(LinkAction::Close(end)) = out.iter().next() else {
        panic!("{out:?}");
    };
    assert_eq!(end.to_string(), "L10 received before our L10 was sent");
}

/// What a peer sends while the flow limit holds our L42 back.
#[test]
fn a_message_before_our_l42_is_named() {
    for (bytes, text) in [
        (
            frame(&L50::default()),
            "L50 received before our L42 was sent",
        ),
        (
            block(&numbered(2), 1),
            "L41 received before our L42 was sent",
        ),
    ] {
        // A login says the limit: 3 messages a second.
        let (mut world, mut out) = at_l40(0);
        let l50 = L50 {
            max_flow_ctrl_cnt: 3,
            ..L50::default()
        };
        world.client.on_frame(world.now, &frame(&l50), &mut out);
        world.client.on_disconnect();
        world.now.mono_ns += 2 * S;
        log_in_to_l40(&mut world, 2, &mut out);
        out.clear();
        let first = block(&numbered(1), 0);
        world.client.on_frame(world.now, &first, &mut out);
        assert!(!out.iter().any(|it| matches!(it, LinkAction::Send(_))));
        out.clear();
        world.client.on_frame(world.now, &bytes, &mut out);
        let Some(LinkAction::Close(end)) = out.iter().next() else {
            panic!("{text}: {out:?}");
        };
        assert_eq!(end.to_string(), text);
    }
}

/// A broker at rest that sends orders in a burst, loses the connection, and connects again 0.1 s later.
fn burst_and_cut(world: &mut World, orders: usize) {
    world.run(3 * S);
    assert!(world.is_ready(), "{:?}", world.ends);
    world.queue_orders(orders);
    world.run(10 * MS);
    world.cut = true;
    world.run(MS);
    assert_eq!(world.ends.last(), Some(&(Who::Wire, None)));
}

#[test]
fn a_login_after_a_burst_keeps_within_the_limit() {
    let mut world = World::usual();
    (world.answers, world.pause) = (false, 100 * MS);
    // Eleven logins above the limit would lock the session.
    for times in 1..=12 {
        burst_and_cut(&mut world, 14);
        // L10 is held until the orders are a second old.
        world.trace.clear();
        world.run(980 * MS);
        assert_eq!(world.client.state(), ClientLinkState::AwaitL10);
        assert_eq!(world.trace.len(), 0, "{:?}", world.trace);
        world.run(20 * MS);
        assert!(world.is_ready(), "{times}: {:?}", world.ends);
    }
    assert_eq!(world.ends, [(Who::Wire, None); 12]);
    assert_eq!(world.orders.len(), 12 * 14);
    assert!(!world.exchange.is_locked());
}

#[test]
fn a_login_with_room_for_three_is_not_held() {
    let mut world = World::usual();
    (world.answers, world.pause) = (false, 100 * MS);
    burst_and_cut(&mut world, 13);
    world.run(120 * MS);
    // It uses the whole limit: what is next waits.
    assert!(world.is_ready());
    assert_eq!(world.ends, [(Who::Wire, None)]);
    assert!(world.client.flow_wait_ns(world.now).is_some());
}

#[test]
fn a_held_l10_is_due_when_the_window_has_room() {
    let mut world = World::usual();
    world.run(3 * S);
    let (mut out, began) = (LinkActions::new(), world.now.mono_ns);
    while world.client.send(world.now, &mut order(), &mut out).is_ok() {}
    world.client.on_disconnect();
    world.now.mono_ns += 100 * MS;
    out.clear();
    world.client.on_connect(world.now, &mut out);
    assert!(out.is_empty(), "{out:?}");
    let due = began + S + 1;
    assert_eq!(world.client.next_due(), Some(due));
    world.now.mono_ns = due - 1;
    world.client.on_time(world.now, &mut out);
    assert!(out.is_empty(), "{out:?}");
    world.now.mono_ns = due;
    world.client.on_time(world.now, &mut out);
    assert_eq!(sent(&out), ["L10"]);
    // From now on the peer has its 10 s.
    assert_eq!(world.client.next_due(), Some(due + 10 * S));
    // A connection that is lost takes what is held with it.
    world.client.on_disconnect();
    assert_eq!(world.client.next_due(), None);
}

/// The messages that a broker sends.
fn sent(out: &LinkActions) -> Vec<&'static str> {
    let name = |action| match action {
        LinkAction::Send(frame) => Some(TmpFrame::read(frame).unwrap().name()),
        _ => None,
    };
    out.iter().filter_map(name).collect()
}

#[test]
fn a_limit_below_three_spaces_the_login() {
    for (limit, at) in [(1, [1, 2, 3]), (2, [1, 1, 2]), (3, [1, 1, 1])] {
        let (mut world, mut out) = at_l40(0);
        let l50 = L50 {
            max_flow_ctrl_cnt: limit,
            ..L50::default()
        };
        world.client.on_frame(world.now, &frame(&l50), &mut out);
        world.client.on_disconnect();
        out.clear();
        // The first login sent three messages a moment ago, without knowing the limit.
        let began = world.now.mono_ns;
        world.client.on_connect(world.now, &mut out);
        assert_eq!(sent(&out).len(), 0);
        let l30 = L30 {
            system_type: SystemType::FUTURES_DAY,
            ..L30::default()
        };
        let answers = [frame(&L10::default()), frame(&l30), frame(&l50)];
        for ((name, answer), second) in ["L10", "L20", "L40"].into_iter().zip(answers).zip(at) {
            if out.is_empty() {
                world.now.mono_ns = world.client.next_due().unwrap();
                world.client.on_time(world.now, &mut out);
            }
            assert_eq!(sent(&out), [name], "{limit}");
            assert_eq!(
                world.now.mono_ns,
                began + second * (S + 1),
                "{limit} {name}"
            );
            out.clear();
            world.client.on_frame(world.now, &answer, &mut out);
        }
        assert_eq!(sent(&out), ["L60"]);
        assert_eq!(world.client.state(), ClientLinkState::Ready);
    }
}

#[test]
fn a_send_over_the_limit_says_how_long_to_wait() {
    let mut world = World::usual();
    world.run(5 * S);
    let mut out = LinkActions::new();
    let mut sent = 0;
    let error = loop {
        match world.client.send(world.now, &mut order(), &mut out) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
    };
    // Two of the 16 are kept back for heartbeats.
    assert_eq!(sent, 14);
    let wait_ns = S + 1;
    assert_eq!(error, LinkSendError::FlowLimit { wait_ns });
    assert_eq!(
        error.to_string(),
        "flow limit reached: send again in 1001 ms"
    );
    world.now.mono_ns += wait_ns;
    assert_eq!(world.client.flow_wait_ns(world.now), None);
    assert_eq!(world.client.numbers().outbound, 14);
}

/// Sends orders past the broker's own limit, all at once.
fn flood(world: &mut World, count: u32) -> Vec<TmpStatus> {
    let first = world.exchange.numbers().inbound;
    let mut statuses = Vec::new();
    for number in first + 1..=first + count {
        let mut frame = order();
        frame[2..6].copy_from_slice(&number.to_be_bytes());
        frame[13..17].copy_from_slice(&[1, 23, 0, 50]);
        reseal(&mut frame);
        let mut out = LinkActions::new();
        let (now, store) = (world.now, &mut world.store);
        world.exchange.on_frame(now, &frame, store, &mut out);
        for action in &out {
            match action {
                LinkAction::Deliver { flow, .. } => statuses.push(flow),
                LinkAction::Send(frame) => {
                    let frame = TmpFrame::read(frame).unwrap();
                    statuses.push(TmpStatus(frame.bytes()[17]));
                }
                LinkAction::Keep { msg_seq_num, frame } => {
                    let (header, reject) = TmpFrame::decode::<R03>(frame).unwrap();
                    assert_eq!(header.msg_seq_num, msg_seq_num);
                    assert_eq!(&reject.order_no, b"A0001");
                    store.0.insert(msg_seq_num, frame.to_vec());
                }
                _ => {}
            }
        }
    }
    statuses
}

#[test]
fn a_flood_is_warned_rejected_and_locked() {
    let mut world = World::usual();
    world.answers = false;
    for times in 1..=11 {
        world.run(10 * S);
        assert!(world.is_ready(), "{times}");
        let statuses = flood(&mut world, 20);
        let mut expected = vec![TmpStatus::OK; 12];
        expected.extend([TmpStatus::FLOW_80; 2]);
        expected.extend([TmpStatus::FLOW_90; 2]);
        // R03 and L10; what follows is dropped.
        expected.extend([TmpStatus::FLOW_EXCEEDED; 2]);
        assert_eq!(statuses, expected);
        assert_eq!(world.exchange.is_locked(), times > 10, "{times}");
    }
    world.run(S / 2);
    let exceeded = (Who::Exchange, Some(LinkEnd::FlowExceeded { limit: 16 }));
    assert_eq!(
        world.ends.iter().filter(|end| **end == exceeded).count(),
        11
    );
    world.run(5 * S);
    let (message, status) = ("L10", TmpStatus::LOCKED);
    let locked = (Who::Broker, Some(LinkEnd::Refused { message, status }));
    assert_eq!(world.ends.last(), Some(&locked));
}

#[test]
fn heartbeats_keep_an_idle_link_by_either_rule() {
    for ours in [HeartbeatRule::SilentPeer, HeartbeatRule::IdleSender] {
        for theirs in [HeartbeatRule::SilentPeer, HeartbeatRule::IdleSender] {
            let (mut client, mut exchange) = (client_settings(), exchange_settings());
            (client.heartbeat, exchange.heartbeat) = (ours, theirs);
            let mut world = World::new(client, exchange);
            world.run(600 * S);
            assert_eq!(world.ends, [], "{ours:?} {theirs:?}");
            let asked = world
                .trace
                .iter()
                .filter(|step| step.ends_with("R04"))
                .count();
            assert!((15..=45).contains(&asked), "{asked}");
            assert_eq!(world.warnings, []);
        }
    }
}

#[test]
fn a_stalled_peer_is_disconnected_in_time() {
    for (rule, seconds) in [
        (HeartbeatRule::SilentPeer, 35),
        (HeartbeatRule::IdleSender, 60),
    ] {
        let (mut client, mut exchange) = (client_settings(), exchange_settings());
        (client.heartbeat, exchange.heartbeat) = (rule, rule);
        let mut world = World::new(client, exchange);
        world.run(S);
        world.fault = Some(PlannedFault {
            to_exchange: false,
            code: 104,
            kind: WireFaultKind::Stall,
            times: 1,
        });
        world.run((seconds - 2) * S);
        assert_eq!(world.ends, [], "{rule:?}");
        world.run(2 * S);
        let end = (Who::Broker, Some(LinkEnd::HeartbeatTimeout));
        assert_eq!(world.ends, [end], "{rule:?}");
        world.run(5 * S);
        assert!(world.is_ready());
    }
}

#[test]
fn clocks_that_differ_are_reported_by_both_ends() {
    let mut world = World::usual();
    world.exchange_ahead = 501 * MS;
    world.run(100 * S);
    assert_eq!(world.ends, []);
    for who in [Who::Broker, Who::Exchange] {
        let found = world.warnings.iter().find(|(it, _)| *it == who);
        let Some((_, LinkWarning::ClockDifference { millis })) = found else {
            panic!("{who:?}: {:?}", world.warnings);
        };
        assert!((499..=503).contains(&millis.abs()), "{millis}");
        assert_eq!(*millis > 0, who == Who::Broker);
    }
    let mut world = World::usual();
    world.exchange_ahead = 490 * MS;
    world.run(100 * S);
    assert_eq!(world.warnings, []);
}

#[test]
fn status_of_r05_other_than_the_clock_is_reported() {
    let mut world = World::usual();
    world.run(S);
    let mut out = LinkActions::new();
    let status = TmpStatus::FLOW_90;
    world
        .client
        .on_frame(world.now, &frame(&R05 { status }), &mut out);
    let warning = LinkWarning::PeerStatus { status };
    assert!(out.iter().eq([LinkAction::Warn(warning)]));
    assert_eq!(
        warning.to_string(),
        "R05 received with status 249 (Warning: 90 % of the flow limit used)"
    );
}

#[test]
fn only_ones_own_messages_are_sent_and_queries_have_no_number() {
    let mut world = World::usual();
    let mut out = LinkActions::new();
    let error = world.client.send(world.now, &mut order(), &mut out);
    assert_eq!(error, Err(LinkSendError::NotReady));
    let error = world.exchange.send(
        world.now,
        &mut frame(&fixwire_tmp::messages::R08::default()),
        &mut out,
    );
    assert_eq!(error, Err(LinkSendError::NotReady));
    world.run(S);
    let message = "R02";
    let error = world.client.send(world.now, &mut report(), &mut out);
    assert_eq!(error, Err(LinkSendError::OtherEnd { message }));
    let message = "R04";
    let error = world
        .client
        .send(world.now, &mut frame(&R04::default()), &mut out);
    assert_eq!(error, Err(LinkSendError::OtherEnd { message }));
    let message = "R01";
    let error = world.exchange.send(world.now, &mut order(), &mut out);
    assert_eq!(error, Err(LinkSendError::OtherEnd { message }));
    let mut torn = order();
    torn[79] ^= 1;
    let error = world.client.send(world.now, &mut torn, &mut out);
    assert!(matches!(error, Err(LinkSendError::Frame(_))));
    assert!(out.is_empty());

    let mut query = order();
    query[17] = b'I';
    reseal(&mut query);
    world.client.send(world.now, &mut query, &mut out).unwrap();
    let mut services = frame(&R11::default());
    world
        .client
        .send(world.now, &mut services, &mut out)
        .unwrap();
    assert_eq!(world.client.numbers().outbound, 0);
    world
        .client
        .send(world.now, &mut order(), &mut out)
        .unwrap();
    let numbers: Vec<u32> = out
        .iter()
        .filter_map(|action| match action {
            LinkAction::Send(frame) => Some(TmpFrame::read(frame).unwrap().header().msg_seq_num),
            _ => None,
        })
        .collect();
    assert_eq!(numbers, [0, 0, 1]);
    let header = TmpFrame::read(&query).unwrap().header();
    assert_eq!((header.fcm_id, header.session_id), (279, 50));
    assert_eq!(header.msg_time.wall_ns(), world.now.wall_ns);
}

#[test]
fn rejects_of_a_closed_market_have_no_number() {
    let mut world = World::usual();
    world.run(S);
    for (status, outbound) in [
        (TmpStatus::CLOSED, 0),
        (TmpStatus::MAJOR_ERROR, 0),
        (TmpStatus::TICK, 1),
    ] {
        let reject = R03 {
            status,
            ..R03::default()
        };
        let mut out = LinkActions::new();
        world
            .exchange
            .send(world.now, &mut frame(&reject), &mut out)
            .unwrap();
        assert_eq!(world.exchange.numbers().outbound, outbound);
    }
}
