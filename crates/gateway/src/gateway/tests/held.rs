//! Messages held in the gateway's queues.

use super::super::{NotReloaded, Reload};
use super::*;

/// Messages for VENUE have a time to live of ten seconds.
const LIVE: &str = "[target.VENUE]\ntime_to_live = '10s'\n";

fn file(targets: &str) -> String {
    format!("{PLAIN}{targets}").replace("'convert', ", "")
}

fn order(id: &str) -> String {
    format!("35=D|11={id}|55=VOD|54=1|38=9|")
}

fn to_venue(id: &str) -> String {
    format!("VENUE: {}", order(id))
}

/// The reject of an order, without its ExecID(17).
fn rejected(written: &str) -> (String, String) {
    let (before, rest) = written.split_once("|17=").unwrap();
    let (_, rest) = rest.split_once('|').unwrap();
    let (_, text) = rest.split_once("|58=").unwrap();
    (before.to_string(), text.to_string())
}

const EXPIRED: &str = "time to live expired before the destination logged on|";

/// The rig with VENUE away.
fn away(targets: &str) -> Rig {
    let mut rig = Rig::new(&file(targets));
    rig.lose("VENUE");
    rig
}

#[test]
fn what_is_held_leaves_in_order_and_new_messages_stand_behind() {
    let mut rig = away(LIVE);
    for id in ["1", "2", "3"] {
        rig.expect("ANNA", &order(id), &[]);
    }
    assert_eq!(rig.wait(5), Vec::<String>::new());
    let held: Vec<_> = rig.gateway.held().collect();
    assert_eq!((held[0].session, held[0].messages), ("VENUE", 3));
    assert!(held.len() == 1 && held[0].bytes >= 4096);
    rig.log_on("VENUE");
    // This order arrives before the engine's next call for held messages.
    rig.expect("BERT", &order("4"), &[]);
    assert_eq!(rig.wait(0), ["1", "2", "3", "4"].map(to_venue));
    assert_eq!(rig.gateway.held().count(), 0);
    rig.expect("ANNA", &order("5"), &[&to_venue("5")]);
    assert!(rig.said().is_empty());
    let counters = rig.gateway.counters();
    assert_eq!((counters.sent, counters.held), (5, 4));
    assert_eq!((counters.undelivered, counters.rejected), (0, 0));
}

#[test]
fn a_turn_takes_what_the_outbox_has_room_for() {
    let mut rig = away(LIVE);
    let ids: Vec<String> = (0..100).map(|id| id.to_string()).collect();
    for id in &ids {
        rig.expect("ANNA", &order(id), &[]);
    }
    rig.outbox = Outbox::new(1 << 12, 13, 256);
    let failures = rig.outbox.failures();
    rig.log_on("VENUE");
    let now = rig.now();
    assert_eq!(rig.gateway.on_time(now, &mut rig.outbox), Some(now.mono));
    // A note and a message for each of three orders.
    assert_eq!(rig.collect().len(), 6);
    let rest: Vec<String> = ids[6..].iter().map(|id| to_venue(id)).collect();
    assert_eq!(rig.wait(0), rest);
    assert_eq!(rig.outbox.failures(), failures);
}

#[test]
fn no_more_than_so_many_leave_in_one_turn_and_queues_take_turns() {
    let mut rig = Rig::new(&file(
        "[target.VENUE]\ntime_to_live = '10s'\n[target.ANNA]\ntime_to_live = 5\n",
    ));
    rig.outbox = Outbox::new(1 << 20, 2000, 256);
    for id in 0..300 {
        rig.hears("ANNA", &order(&id.to_string()));
    }
    rig.lose("VENUE");
    rig.lose("ANNA");
    for id in 0..300 {
        rig.hears("VENUE", &format!("35=8|11={id}|39=0|"));
        rig.hears("BERT", &order(&id.to_string()));
    }
    rig.log_on("VENUE");
    rig.log_on("ANNA");
    let mut turns = Vec::new();
    let now = rig.now();
    while rig.gateway.on_time(now, &mut rig.outbox) == Some(now.mono) {
        let written = rig.collect();
        let reports = written.iter().filter(|text| text.starts_with("ANNA"));
        turns.push((written.len(), reports.count()));
    }
    assert_eq!(turns, [(256, 256), (256, 0)]);
    assert_eq!(rig.collect().len(), 600 - 512);
}

#[test]
fn what_has_expired_is_answered_and_never_delivered() {
    let mut rig = away(LIVE);
    rig.expect("ANNA", &order("1"), &[]);
    assert_eq!(rig.wait(9), Vec::<String>::new());
    rig.expect("ANNA", &order("2"), &[]);
    // The session logs on at the moment at which the first message expires.
    rig.wall += 1_000_000_000;
    rig.log_on("VENUE");
    let written = rig.wait(0);
    let (before, text) = rejected(&written[0]);
    assert_eq!(before, "ANNA: 35=8|37=NONE|11=1");
    assert_eq!(text, EXPIRED);
    assert_eq!(written[1..], [to_venue("2")]);
    assert_eq!(
        rig.said(),
        [format!("held: {}", &EXPIRED[..EXPIRED.len() - 1])]
    );
    let counters = rig.gateway.counters();
    assert_eq!((counters.undelivered, counters.rejected), (1, 1));
    // The id of the expired order is free again, the id of the other order is not.
    rig.expect("ANNA", &order("1"), &[&to_venue("1")]);
    assert!(rig.hears("ANNA", &order("2"))[0].ends_with("duplicate ClOrdID|"));
}

#[test]
fn the_moment_is_told_and_a_clock_that_is_set_is_noticed() {
    let mut rig = away(LIVE);
    rig.expect("ANNA", &order("1"), &[]);
    let now = rig.now();
    let second = Mono(now.mono.0 + 1_000_000_000);
    assert_eq!(rig.gateway.on_time(now, &mut rig.outbox), Some(second));
    rig.wait(9);
    let before = rig.now();
    let last = Mono(now.mono.0 + 10_000_000_000);
    assert_eq!(rig.gateway.on_time(before, &mut rig.outbox), Some(last));
    assert!(rig.collect().is_empty());
    assert_eq!(rig.wait(1).len(), 1);
    assert_eq!(rig.gateway.on_time(rig.now(), &mut rig.outbox), None);
    // The wall clock jumps by an hour, while the monotonic clock advances by a second.
    rig.expect("ANNA", &order("2"), &[]);
    let later = Now {
        wall: Timestamp(rig.wall + 3_600_000_000_000),
        mono: Mono(rig.now().mono.0 + 1_000_000_000),
    };
    rig.gateway.on_time(later, &mut rig.outbox);
    assert_eq!(rig.collect().len(), 1);
}

#[test]
fn each_message_gets_the_reject_that_fits() {
    let mut rig = Rig::new(&file(LIVE));
    rig.hears("ANNA", &order("open"));
    rig.lose("VENUE");
    for text in [
        "35=F|41=open|11=c1|55=VOD|54=1|",
        "35=G|41=other|11=c2|55=VOD|54=1|115=X|",
        "35=R|131=Q|146=1|55=VOD|",
        "35=B|148=news|33=1|58=text|",
        "35=AB|11=m|55=VOD|54=1|",
        // A possible resend of an order that the venue may have gets a BusinessMessageReject, not an ExecutionReport.
        "35=D|97=Y|11=open|55=VOD|54=1|",
    ] {
        rig.expect("ANNA", text, &[]);
    }
    let written = rig.wait(10);
    let wanted = [
        "ANNA: 35=9|37=NONE|11=c1|41=open|39=0|434=1|102=2|58=",
        "ANNA: 35=9|128=X|37=NONE|11=c2|41=other|39=8|434=2|102=1|58=",
        "ANNA: 35=j|45=7|372=R|379=Q|380=4|58=",
        "ANNA: 35=j|45=7|372=B|380=4|58=",
        "ANNA: 35=8|37=NONE|11=m|",
        "ANNA: 35=j|45=7|372=D|379=open|380=4|58=",
    ];
    assert_eq!(written.len(), wanted.len());
    for (written, wanted) in written.iter().zip(wanted) {
        assert!(written.starts_with(wanted), "{written}");
        assert!(written.ends_with(EXPIRED), "{written}");
    }
    // The order itself stays open: the venue may have it.
    assert_eq!(rig.gateway.orders().counters().live, 1);
}

#[test]
fn a_version_without_business_rejects_gets_rejects() {
    let sessions = [("OLD", Version::Fix40), ("VENUE", Version::Fix40)];
    let rule = "[[rule]]\nfrom = ['OLD']\ndo = ['send VENUE']\n";
    let mut rig = Rig::of(&format!("{rule}{LIVE}"), &sessions);
    rig.log_on("OLD");
    rig.expect("OLD", "35=B|148=news|33=1|58=text|", &[]);
    rig.expect("OLD", "35=D|11=1|55=VOD|54=1|38=9|", &[]);
    let written = rig.wait(10);
    assert_eq!(written[0], format!("OLD: 35=3|45=7|58={EXPIRED}"));
    assert!(
        written[1].starts_with("OLD: 35=8|37=NONE|11=1|17="),
        "{written:?}"
    );
}

#[test]
fn duplicates_are_refused_and_replaces_stand_behind_their_order() {
    let mut rig = away(LIVE);
    rig.expect("ANNA", &order("1"), &[]);
    assert!(rig.hears("ANNA", &order("1"))[0].ends_with("duplicate ClOrdID|"));
    let replace = "35=G|41=1|11=2|55=VOD|54=1|38=8|40=1|";
    rig.expect("ANNA", replace, &[]);
    rig.log_on("VENUE");
    assert_eq!(rig.wait(0), [to_venue("1"), format!("VENUE: {replace}")]);
    // Order and replace expire one after the other: when the replace expires, its order no longer exists.
    let mut rig = away(LIVE);
    rig.hears("ANNA", &order("1"));
    rig.hears("ANNA", replace);
    let written = rig.wait(11);
    assert!(
        written[1].contains("|41=1|39=8|434=2|102=1|"),
        "{written:?}"
    );
}

#[test]
fn answers_and_copies_are_for_the_owner_to_hear_of() {
    let rules = "[[rule]]\nname = 'back'\nfrom = ['VENUE']\ndo = ['copy to AUDIT', 'return']\n";
    let targets = "[target.ANNA]\ntime_to_live = 1\n[target.AUDIT]\ntime_to_live = '1s'\n";
    let send = "[[rule]]\nfrom = ['ANNA']\ndo = ['send VENUE']\n";
    let mut rig = Rig::new(&format!("{rules}{send}{targets}"));
    rig.hears("ANNA", &order("1"));
    rig.lose("ANNA");
    rig.lose("AUDIT");
    rig.expect("VENUE", "35=8|11=1|39=0|", &[]);
    assert_eq!(rig.gateway.held().count(), 2);
    assert_eq!(rig.wait(1), Vec::<String>::new());
    assert_eq!(rig.said().len(), 2);
    rig.expect("VENUE", "35=8|11=1|39=1|", &[]);
    rig.log_on("ANNA");
    assert_eq!(rig.wait(0), ["ANNA: 35=8|11=1|39=1|"]);
}

#[test]
fn a_message_that_went_elsewhere_too_is_not_answered() {
    let live = "[target.VENUE]\ntime_to_live = 1\n[target.BACKUP]\ntime_to_live = 2\n";
    for to in ["'send VENUE', 'send THIRD'", "'send THIRD', 'send VENUE'"] {
        let rule = format!("[[rule]]\nfrom = ['ANNA']\ndo = [{to}]\n{live}");
        let mut rig = Rig::new(&rule);
        rig.lose("VENUE");
        assert_eq!(rig.hears("ANNA", &order("1")).len(), 1);
        assert_eq!(rig.wait(1), Vec::<String>::new());
        assert_eq!(rig.said().len(), 1);
    }
    // A message with two targets gets no reject either.
    let rule = "[[rule]]\nfrom = ['ANNA']\ndo = ['send VENUE', 'send BACKUP']\n";
    let mut rig = Rig::new(&format!("{rule}{live}"));
    rig.lose("VENUE");
    rig.lose("BACKUP");
    rig.expect("ANNA", &order("1"), &[]);
    let mut restarted = Rig::of(&format!("{rule}{live}"), &SESSIONS);
    restarted.replay(&rig.notes);
    restarted.wall = rig.wall;
    for rig in [&mut rig, &mut restarted] {
        assert_eq!(rig.wait(3), Vec::<String>::new());
        assert_eq!(rig.said().len(), 2);
    }
    // A message that a rule has rejected gets no second reject.
    let rule = "[[rule]]\nfrom = ['ANNA']\ndo = ['send VENUE', 'reject \"no\"']\n";
    let mut rig = Rig::new(&format!("{rule}{live}"));
    rig.lose("VENUE");
    assert_eq!(rig.hears("ANNA", &order("1")).len(), 1);
    assert_eq!(rig.wait(3), Vec::<String>::new());
}

#[test]
fn past_the_cap_the_source_is_answered_and_what_is_held_stays() {
    let mut rig = away(&format!(
        "[gateway]\nmax_held = '64K'\n[client.ANNA]\nmax_held = '64K'\n{LIVE}"
    ));
    let mut held = 0;
    let refused = loop {
        let written = rig.hears("ANNA", &order(&held.to_string()));
        if let [written] = &written[..] {
            break written.clone();
        }
        held += 1;
    };
    assert!(held > 300, "{held}");
    assert_eq!(
        rejected(&refused).1,
        "gateway limit reached: message not accepted|"
    );
    assert_eq!(
        rig.said().last().unwrap(),
        "out: held messages have reached max_held (65536 bytes)"
    );
    // Orders that were rejected are not stored.
    assert_eq!(rig.gateway.orders().counters().live, held);
    let held_bytes: u64 = rig.gateway.held().map(|held| held.bytes).sum();
    assert!(held_bytes <= 64 << 10);
    rig.log_on("VENUE");
    assert_eq!(rig.wait(0).len() as u64, held);
    rig.lose("VENUE");
    rig.expect("ANNA", &order(&held.to_string()), &[]);
}

#[test]
fn sessions_out_of_hours_and_those_that_reset_are_held_for_too() {
    let mut rig = away(LIVE);
    rig.set_hours("VENUE", false);
    rig.expect("ANNA", &order("1"), &[]);
    rig.set_hours("VENUE", true);
    rig.log_on("VENUE");
    assert_eq!(rig.wait(0), [to_venue("1")]);

    let sessions = [("FRESH", Version::Fix42), ("VENUE", Version::Fix42)];
    let rules = "[[rule]]\nfrom = ['FRESH']\ndo = ['send VENUE']\n\
                 [[rule]]\nfrom = ['VENUE']\nwhen = 'MsgType = D'\ndo = ['send FRESH']\n\
                 [[rule]]\nfrom = ['VENUE']\ndo = ['return']\n\
                 [target.FRESH]\ntime_to_live = '1h'\n";
    let mut rig = Rig::of(rules, &sessions);
    rig.all_log_on();
    rig.hears("FRESH", &order("1"));
    rig.lose("FRESH");
    rig.set_hours("FRESH", false);
    rig.expect("VENUE", "35=8|11=1|39=0|", &[]);
    rig.set_hours("FRESH", true);
    rig.log_on("FRESH");
    assert_eq!(rig.wait(0), ["FRESH: 35=8|11=1|39=0|"]);
    assert!(rig.said().is_empty());
}

#[test]
fn nothing_is_written_for_a_session_that_logs_out_since_its_hours_are_over() {
    let mut rig = Rig::new(&file(LIVE));
    rig.set_hours("VENUE", false);
    rig.expect("ANNA", &order("1"), &[]);
    assert_eq!(rig.wait(0), Vec::<String>::new());
    rig.lose("VENUE");
    rig.set_hours("VENUE", true);
    rig.log_on("VENUE");
    assert_eq!(rig.wait(0), [to_venue("1")]);
}

#[test]
fn a_password_is_not_held() {
    let mut rig = away(LIVE);
    for text in [
        "35=BE|923=1|924=1|553=A|554=secret|",
        "35=B|148=x|925=secret|",
    ] {
        let written = rig.hears("ANNA", text);
        assert!(
            written[0].ends_with("destination is not available|"),
            "{written:?}"
        );
    }
    let text = format!("{:?}", rig.notes);
    assert!(!text.contains("secret"));
}

#[test]
fn a_reload_changes_the_time_and_not_the_messages() {
    let read = |text: &str| in_context(&SESSIONS, |context| Reload::read(text, context)).unwrap();
    let mut rig = away(LIVE);
    rig.expect("ANNA", &order("1"), &[]);
    rig.wait(5);
    rig.expect("ANNA", &order("2"), &[]);
    // For the first order the five seconds of the new file have passed.
    let shorter =
        file("[target.VENUE]\ntime_to_live = '5s'\n").replace("send VENUE", "send BACKUP");
    rig.gateway.reload(&mut read(&shorter)).unwrap();
    let written = rig.wait(0);
    assert_eq!(written.len(), 1);
    assert_eq!(rejected(&written[0]).0, "ANNA: 35=8|37=NONE|11=1");
    // Without a time to live, held messages wait without a time limit.
    rig.gateway.reload(&mut read(&file(""))).unwrap();
    assert_eq!(rig.wait(1_000_000), Vec::<String>::new());
    // The next order is held after it.
    rig.expect("ANNA", &order("3"), &[]);
    rig.log_on("VENUE");
    assert_eq!(rig.wait(0), ["2", "3"].map(to_venue));
    rig.lose("VENUE");
    rig.expect("ANNA", &order("4"), &[]);
    let mut other = read(&file("[gateway]\nmax_held = 100000\n"));
    assert_eq!(rig.gateway.reload(&mut other), Err(NotReloaded::Limits));
}

#[test]
fn a_message_that_has_no_id_ends_no_order() {
    let mut rig = Rig::new(PLAIN);
    rig.hears(
        "ANNA",
        "35=D|11=A|21=1|55=VOD|54=1|60=20261120-10:00:00|38=9|40=1|",
    );
    // The target's version has no such message.
    let written = rig.hears("ANNA", "35=XX|58=x|");
    assert!(written[0].starts_with("ANNA: 35=j|"), "{written:?}");
    assert_eq!(rig.gateway.orders().counters().live, 1);
}
