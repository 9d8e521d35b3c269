//! Messages that their target rejects with a Reject(3).

use super::rejects::assert_valid;
use super::*;

const ORDER: &str = "35=D|11=1|21=1|55=VOD|54=1|60=20261120-10:00:00|38=9|40=1|";

/// A client and a venue of these versions.
fn between(client: Version, venue: Version) -> Rig {
    let text =
        "[gateway]\nids = 'always'\n[[rule]]\nfrom = ['CLIENT']\ndo = ['convert', 'send VENUE']\n";
    let mut rig = Rig::of(text, &[("CLIENT", client), ("VENUE", venue)]);
    rig.all_log_on();
    rig
}

/// Sends a client's message, rejects it as the target, and returns what the client receives.
fn answered(rig: &mut Rig, text: &str) -> String {
    let sent = rig.hears("CLIENT", text);
    assert_eq!(sent.len(), 1, "{sent:?}");
    let reject = "VENUE: 35=3|45=7|371=55|58=not this one|";
    let mut written = rig.rejects(reject, Some(&sent[0]));
    assert_eq!(written.len(), 1, "{written:?}");
    written.remove(0)
}

#[test]
fn whoever_asked_is_answered_in_its_own_words_and_version() {
    for client in [
        Version::Fix40,
        Version::Fix42,
        Version::Fix44,
        Version::Fix50Sp2,
    ] {
        let mut rig = between(client, Version::Fix44);
        let report = answered(&mut rig, ORDER);
        assert!(
            report.starts_with("CLIENT: 35=8|") && report.contains("|11=1|"),
            "{report}"
        );
        assert!(
            report.contains("|39=8|")
                && report.contains("|58=destination has rejected this message: not this one|"),
            "{report}"
        );
        assert_valid(client, &report);
        // The order has ended: its id is free.
        let again = rig.hears("CLIENT", ORDER);
        assert!(again[0].starts_with("VENUE: 35=D|"), "{again:?}");
        let cancel = "35=F|11=2|41=1|55=VOD|54=1|60=20261120-10:00:00|38=9|";
        let reject = answered(&mut rig, cancel);
        assert!(
            reject.starts_with("CLIENT: 35=9|") && reject.contains("|11=2|"),
            "{reject}"
        );
        assert_valid(client, &reject);
        // The order that the cancel named has not ended.
        assert!(rig.hears("CLIENT", ORDER)[0].contains("|58=duplicate ClOrdID|"));
        if client >= Version::Fix42 {
            let reject = answered(&mut rig, "35=R|131=Q|146=1|55=VOD|");
            assert!(
                reject.starts_with("CLIENT: 35=j|45=0|372=R|379=Q|"),
                "{reject}"
            );
            assert_valid(client, &reject);
        }
    }
}

#[test]
fn a_business_reject_finds_its_request_with_and_without_its_id() {
    let rules = "[gateway]\nids = 'always'\n[[rule]]\nfrom = ['CLIENT']\ndo = ['convert', 'send VENUE']\n\
                 [[rule]]\nfrom = ['VENUE']\ndo = ['convert', 'return']\n";
    let cancel = "35=F|11=2|41=1|55=VOD|54=1|60=20261120-10:00:00|38=9|";
    for (named, is_found) in [
        ("45=7|379=ID|", true),
        ("45=7|", true),
        ("45=7|379=X9|", true),
        ("379=ID|", true),
        ("", true),
        ("45=7|379=X9|372=R|", false),
    ] {
        for (request, of, id) in [(ORDER, "D", "1"), (cancel, "F", "2")] {
            let versions = [("CLIENT", Version::Fix44), ("VENUE", Version::Fix44)];
            let mut rig = Rig::of(rules, &versions);
            rig.all_log_on();
            let mut sent = rig.hears("CLIENT", ORDER);
            if of == "F" {
                sent = rig.hears("CLIENT", request);
            }
            let its = sent[0].split('|').find_map(|it| it.strip_prefix("11="));
            let mut named = named.replace("ID", its.unwrap());
            if !named.contains("372") {
                named.push_str(&format!("372={of}|"));
            }
            let reject = format!("VENUE: 35=j|{named}380=3|58=not this one|");
            let written = rig.business_rejects(&reject, Some(&sent[0]));
            if is_found {
                let is_it = |it: &String| {
                    it.starts_with("CLIENT: 35=j|") && it.contains(&format!("|379={id}|"))
                };
                assert!(
                    written.len() == 1 && is_it(&written[0]),
                    "{named}: {written:?}"
                );
                assert_valid(Version::Fix44, &written[0]);
            } else {
                assert_eq!(written, [""; 0], "{named}");
            }
            // The rejected request has ended: its id is free for a new order.
            if of == "D" {
                let again = rig.hears("CLIENT", ORDER);
                assert_eq!(again[0].starts_with("VENUE: 35=D|"), is_found, "{again:?}");
            }
        }
    }
}

#[test]
fn what_the_venue_has_answered_is_not_ended_by_a_reject_of_its_repetition() {
    let mut rig = Rig::new(PLAIN);
    let sent = rig.hears("ANNA", ORDER);
    rig.hears(
        "VENUE",
        "35=8|37=V1|11=1|17=E1|150=0|39=0|55=VOD|54=1|151=9|14=0|6=0|",
    );
    let reject = "VENUE: 35=3|45=7|371=122|";
    assert_eq!(rig.rejects(reject, Some(&sent[0])), [""; 0]);
    assert_eq!(
        rig.said(),
        ["no rule: destination has rejected this message"]
    );
    // An accepted replacement stays open too.
    let sent = rig.hears(
        "ANNA",
        "35=G|11=2|41=1|21=1|55=VOD|54=1|60=20261120-10:00:00|38=5|40=1|",
    );
    rig.hears(
        "VENUE",
        "35=8|37=V1|11=2|41=1|17=E2|150=5|39=0|55=VOD|54=1|151=5|14=0|6=0|",
    );
    assert_eq!(rig.rejects(reject, Some(&sent[0])), [""; 0]);
    let duplicate = rig.hears("ANNA", &ORDER.replace("11=1", "11=2"));
    assert!(
        duplicate[0].contains("|58=duplicate ClOrdID|"),
        "{duplicate:?}"
    );
}

#[test]
fn nobody_is_answered_for_what_nobody_asked() {
    let mut rig = Rig::new(PLAIN);
    // Rejects of an unknown message, of a session-level message, of a report and of a drop copy.
    let reject = "VENUE: 35=3|45=7|";
    assert_eq!(rig.rejects(reject, None), [""; 0]);
    assert_eq!(rig.rejects(reject, Some("VENUE: 35=2|7=1|16=0|")), [""; 0]);
    let written = "AUDIT: 35=D|11=1|55=VOD|54=1|";
    assert_eq!(rig.rejects("AUDIT: 35=3|45=7|", Some(written)), [""; 0]);
    let report = "ANNA: 35=8|37=V1|11=1|17=E1|20=0|150=0|39=0|";
    assert_eq!(rig.rejects("ANNA: 35=3|45=7|", Some(report)), [""; 0]);
    assert_eq!(rig.said().len(), 4);
    // The rejected bytes are not a message.
    assert_eq!(rig.rejects(reject, Some("VENUE: 35=D|=|x|11|")), [""; 0]);
}

#[test]
fn what_rules_wrote_is_not_told_to_the_client() {
    let text =
        "[[rule]]\nfrom = ['ANNA']\ndo = ['set Account \"HOUSE\"', 'send by DeliverToCompID']\n";
    let mut rig = Rig::new(text);
    let sent = rig.hears("ANNA", "35=D|128=BERT|11=1|55=VOD|54=1|38=9|");
    assert_eq!(sent, ["BERT: 35=D|115=ANNA|11=1|55=VOD|54=1|38=9|1=HOUSE|"]);
    let written = rig.rejects("BERT: 35=3|45=7|", Some(&sent[0]));
    assert!(
        !written[0].contains("|128=")
            && !written[0].contains("|1=")
            && written[0].contains("|11=1|"),
        "{written:?}"
    );
}

#[test]
fn whatever_was_asked_is_answered_once() {
    let mut rig = Rig::new(PLAIN);
    let mut cancel = String::from("35=F|11=2|41=1|55=VOD|54=1|60=20261120-10:00:00|38=9|");
    let reject = "VENUE: 35=3|45=7|";
    // An order and its cancel are rejected, the order twice.
    let sent = [rig.hears("ANNA", ORDER), rig.hears("ANNA", &cancel)].concat();
    assert!(rig.rejects(reject, Some(&sent[0]))[0].starts_with("ANNA: 35=8|"));
    assert_eq!(rig.rejects(reject, Some(&sent[0])), [""; 0]);
    assert!(rig.rejects(reject, Some(&sent[1]))[0].starts_with("ANNA: 35=9|"));
    // The order is filled before its cancel is rejected.
    let order = ORDER.replace("11=1", "11=3");
    cancel = cancel.replace("11=2|41=1", "11=4|41=3");
    let sent = [rig.hears("ANNA", &order), rig.hears("ANNA", &cancel)].concat();
    rig.hears(
        "VENUE",
        "35=8|37=V1|11=3|17=E1|150=F|39=2|55=VOD|54=1|151=0|14=9|6=1|",
    );
    let answer = rig.rejects(reject, Some(&sent[1]));
    assert!(
        answer[0].starts_with("ANNA: 35=9|") && answer[0].contains("|39=8|"),
        "{answer:?}"
    );
    assert_eq!(rig.rejects(reject, Some(&sent[0])), [""; 0]);
    // RefMsgType names another type: the MsgSeqNum now belongs to another message.
    let sent = rig.hears("ANNA", &ORDER.replace("11=1", "11=5"));
    assert_eq!(
        rig.rejects("VENUE: 35=3|45=7|372=8|", Some(&sent[0])),
        [""; 0]
    );
}

#[test]
fn an_order_that_another_target_has_is_not_told_to_be_rejected() {
    let rules = "[[rule]]\nfrom = ['ANNA']\ndo = ['convert', 'send VENUE', 'send BACKUP']\n";
    for (report, is_answered) in [
        ("150=0|39=0", false),
        ("150=F|39=2", false),
        ("150=8|39=8", false),
        ("", true),
    ] {
        let mut rig = Rig::new(&format!(
            "{rules}[[rule]]\nfrom = ['VENUE']\ndo = ['convert', 'return']\n"
        ));
        let sent = rig.hears("ANNA", ORDER);
        if !report.is_empty() {
            rig.hears(
                "VENUE",
                &format!("35=8|37=V1|11=1|17=E1|{report}|55=VOD|54=1|151=0|14=9|6=1|"),
            );
        }
        assert_eq!(
            rig.rejects("BACKUP: 35=3|45=7|", Some(&sent[1])),
            [""; 0],
            "{report}"
        );
        // The last target that has not responded rejects the order too.
        let answer = rig.rejects("VENUE: 35=3|45=7|", Some(&sent[0]));
        assert_eq!(answer.len(), usize::from(is_answered), "{answer:?}");
    }
}

#[test]
fn an_id_that_was_used_elsewhere_long_ago_is_another_order() {
    let rules = "[[rule]]\nfrom = ['ANNA']\nwhen = 'Symbol = \"VOD\"'\ndo = ['convert', 'send VENUE']\n[[rule]]\nfrom = ['ANNA']\ndo = ['convert', 'send BACKUP']\n";
    let mut rig = Rig::new(rules);
    rig.hears("ANNA", ORDER);
    rig.hears(
        "VENUE",
        "35=8|37=V1|11=1|17=E1|150=F|39=2|55=VOD|54=1|151=0|14=9|6=1|",
    );
    let sent = rig.hears("ANNA", &ORDER.replace("VOD", "SAP"));
    let answer = rig.rejects("BACKUP: 35=3|45=7|", Some(&sent[0]));
    assert!(answer[0].starts_with("ANNA: 35=8|"), "{answer:?}");
}

#[test]
fn a_rejected_copy_is_nobody_s_order() {
    let rules = "[[rule]]\nfrom = ['ANNA']\ndo = ['send VENUE', 'copy to BERT']\n[[rule]]\nfrom = ['AUDIT']\ndo = ['send BERT']\n";
    let mut rig = Rig::new(rules);
    rig.hears("AUDIT", ORDER);
    let sent = rig.hears("ANNA", ORDER);
    assert_eq!(rig.rejects("BERT: 35=3|45=7|", Some(&sent[1])), [""; 0]);
    assert_eq!(rig.gateway.orders().counters().live, 2);
}

#[test]
fn a_reject_has_the_same_effect_after_a_restart() {
    let mut rig = Rig::new(PLAIN);
    let sent = rig.hears("ANNA", ORDER);
    rig.rejects("VENUE: 35=3|45=7|", Some(&sent[0]));
    let mut again = Rig::of(PLAIN, &SESSIONS);
    again.replay(&rig.notes);
    assert_eq!(
        again.gateway.orders().state_hash(),
        rig.gateway.orders().state_hash()
    );
    assert_eq!(again.gateway.orders().counters().live, 0);
}

#[test]
fn both_rejects_can_be_told_of() {
    let mut rig = Rig::new(
        r#"
[[rule]]
from = ["ANNA"]
do = ['send BERT']
[[on]]
event = "reject received"
session = ["BERT"]
when = 'SessionRejectReason = 1'
do = ['notify "BERT rejects ${RefSeqNum}: ${Text}"', 'count rejects']
[[on]]
event = "reject sent"
session = ["ANNA"]
do = ['notify "order ${ClOrdID} of ANNA is rejected"', 'count rejected']
"#,
    );
    rig.rejects("BERT: 35=3|45=9|373=1|58=missing|", None);
    rig.rejects("BERT: 35=3|45=9|373=5|", None);
    let bytes = message(Version::Fix42, "ANNA", "35=D|11=5|54=?|");
    let mut decoder = Decoder::with_capacity(64);
    let (now, id) = (rig.now(), rig.id("ANNA"));
    let bad = decoder.decode(&bytes);
    rig.gateway.on_reject_sent(now, id, &bad, &mut rig.outbox);
    assert_eq!(
        rig.said(),
        [
            "no rule: destination has rejected this message",
            "on 1: BERT rejects 9: missing",
            "no rule: destination has rejected this message",
            "on 2: order 5 of ANNA is rejected"
        ]
    );
    let counted: Vec<_> = rig.gateway.counted().collect();
    assert_eq!(counted, [("rejects", 1), ("rejected", 1)]);
}

#[test]
fn its_message_goes_nowhere() {
    for event in ["reject received", "reject sent"] {
        for action in ["send BERT", "copy to AUDIT", "reject \"x\""] {
            let text =
                format!("{PLAIN}[[on]]\nevent = '{event}'\nsession = ['*']\ndo = ['{action}']\n");
            let errors = load(&text, &SESSIONS, std::boxed::Box::new(|_| ())).unwrap_err();
            let said = errors[0].to_string();
            assert!(
                said.contains("count, notify, connect or disconnect"),
                "{said}"
            );
        }
    }
}

#[test]
fn an_acknowledged_order_is_not_ended_by_a_business_reject() {
    let ack = "35=8|37=V1|11=1|17=E1|150=0|39=0|55=VOD|54=1|151=9|14=0|6=0|";
    let again = ORDER.replace("11=1|", "11=1|97=Y|");
    for (is_acknowledged, is_resent, named, is_open) in [
        (true, true, "379=1|", true),
        (true, true, "", true),
        (true, false, "379=1|", true),
        (false, true, "379=1|", true),
        (false, true, "", true),
        (false, false, "379=1|", false),
    ] {
        let mut rig = Rig::new(PLAIN);
        let mut sent = rig.hears("ANNA", ORDER);
        if is_acknowledged {
            rig.hears("VENUE", ack);
        }
        if is_resent {
            sent = rig.hears("ANNA", &again);
        }
        let reject = format!("VENUE: 35=j|45=6|372=D|{named}380=3|");
        let written = rig.business_rejects(&reject, Some(&sent[0]));
        assert!(
            written.len() == 1 && written[0].contains("|379=1|"),
            "{written:?}"
        );
        let case = format!("{is_acknowledged} {is_resent} {named}");
        let live = |rig: &Rig| rig.gateway.orders().counters().live;
        assert_eq!(live(&rig), u64::from(is_open), "{case}");
        let mut other = Rig::of(PLAIN, &SESSIONS);
        other.replay(&rig.notes);
        assert_eq!(live(&other), u64::from(is_open), "{case}");
        let third = rig.hears("ANNA", ORDER);
        assert_eq!(
            third[0].contains("|58=duplicate ClOrdID|"),
            is_open,
            "{case} {third:?}"
        );
    }
    // A cancel that the venue has only received is refused.
    let mut rig = Rig::new(PLAIN);
    rig.hears("ANNA", ORDER);
    rig.hears("VENUE", ack);
    let cancel = "35=F|11=2|41=1|55=VOD|54=1|60=20261120-10:00:00|38=9|";
    let sent = rig.hears("ANNA", cancel);
    rig.hears(
        "VENUE",
        &ack.replace("11=1|17=E1|150=0|39=0|", "11=2|41=1|17=E2|150=6|39=6|"),
    );
    rig.business_rejects("VENUE: 35=j|45=6|372=F|379=2|380=3|", Some(&sent[0]));
    assert!(rig.hears("ANNA", cancel)[0].starts_with("VENUE: 35=F|"));
}

#[test]
fn a_clients_business_reject_names_only_its_own_orders_at_the_venue() {
    let rules = r#"
[target.BACKUP]
ids = "pass"
[[rule]]
from = ["ANNA", "BERT"]
when = 'Text = "backup"'
do = ['send BACKUP']
[[rule]]
from = ["ANNA", "BERT"]
do = ['send VENUE']
"#;
    let mut rig = Rig::new(rules);
    let unknown = "35=j|45=3|372=8|379=1|380=0|";
    rig.expect("BERT", unknown, &["VENUE: 35=j|45=0|372=8|380=0|"]);
    rig.hears("ANNA", "35=D|11=1|55=VOD|54=1|");
    rig.hears("BERT", "35=D|11=1|55=VOD|54=1|");
    rig.hears("BERT", "35=D|11=2|55=VOD|54=1|");
    rig.hears("VENUE", "35=8|37=OA|11=1|150=0|39=0|");
    rig.hears("VENUE", "35=8|37=OB|11=FW1|150=0|39=0|");
    for (id, at_venue) in [
        ("372=8|379=1|", "372=8|379=FW1|"),
        ("372=9|379=2|", "372=9|379=2|"),
        ("372=8|379=OB|", "372=8|379=OB|"),
        ("372=8|379=OA|", "372=8|"),
        ("372=8|379=E17|", "372=8|"),
        ("372=D|379=1|", "372=D|"),
        ("372=8|", "372=8|"),
    ] {
        let written = format!("VENUE: 35=j|45=0|{at_venue}380=0|");
        rig.expect("BERT", &format!("35=j|45=3|{id}380=0|"), &[&written]);
    }
    // Where ids pass unchanged, they stay.
    rig.expect(
        "BERT",
        "35=j|45=3|372=8|379=1|380=0|58=backup|",
        &["BACKUP: 35=j|45=0|372=8|379=1|380=0|58=backup|"],
    );
}

#[test]
fn a_business_reject_reaches_a_client_whose_version_has_none() {
    let rules = "[gateway]\nids = 'always'\n[[rule]]\nfrom = ['CLIENT']\ndo = ['convert', 'send VENUE']\n\
                 [[rule]]\nfrom = ['VENUE']\nwhen = 'MsgType = BusinessMessageReject'\n\
                 do = ['set Text \"no: ${Text}\"', 'convert', 'return']\n\
                 [[rule]]\nfrom = ['VENUE']\ndo = ['convert', 'return']\n";
    for client in [Version::Fix40, Version::Fix41] {
        for is_known in [true, false] {
            let mut rig = Rig::of(rules, &[("CLIENT", client), ("VENUE", Version::Fix44)]);
            rig.all_log_on();
            let rejected = |rig: &mut Rig, sent: &str, of: &str| {
                let id = sent
                    .split('|')
                    .find_map(|it| it.strip_prefix("11="))
                    .unwrap();
                let reject = format!("VENUE: 35=j|45=7|372={of}|379={id}|380=3|58=not this one|");
                let mut written = rig.business_rejects(&reject, is_known.then_some(sent));
                assert_eq!(written.len(), 1, "{written:?}");
                assert_eq!(rig.said(), [""; 0]);
                written.remove(0)
            };
            let said = "|58=destination has rejected this message: no: not this one|";
            let sent = rig.hears("CLIENT", ORDER);
            let report = rejected(&mut rig, &sent[0], "D");
            assert!(
                report.starts_with("CLIENT: 35=8|") && report.contains("|11=1|"),
                "{report}"
            );
            assert!(
                report.contains("|39=8|") && report.contains(said),
                "{report}"
            );
            // The order has ended.
            let sent = rig.hears("CLIENT", ORDER);
            assert!(sent[0].starts_with("VENUE: 35=D|"), "{sent:?}");
            let cancel = "35=F|11=2|41=1|55=VOD|54=1|60=20261120-10:00:00|38=9|125=F|";
            let sent_cancel = rig.hears("CLIENT", cancel);
            let reject = rejected(&mut rig, &sent_cancel[0], "F");
            assert!(
                reject.starts_with("CLIENT: 35=9|") && reject.contains("|11=2|"),
                "{reject}"
            );
            assert!(reject.contains(said), "{reject}");
            if is_known {
                assert_valid(client, &report);
                assert_valid(client, &reject);
                // FIX 4.0 has no OrigClOrdID(41) in this message.
                let has_original = reject.contains("|41=1|");
                assert_eq!(has_original, client == Version::Fix41, "{reject}");
            }
            // The order is acknowledged, so no report says that it is rejected.
            let id = sent[0]
                .split('|')
                .find_map(|it| it.strip_prefix("11="))
                .unwrap();
            let ack = format!("35=8|37=V1|11={id}|17=E1|150=0|39=0|55=VOD|54=1|151=9|14=0|6=0|");
            rig.hears("VENUE", &ack);
            rig.said();
            let reject = rejected(&mut rig, &sent[0], "D");
            assert!(reject.starts_with("CLIENT: 35=3|"), "{reject}");
            assert_eq!(rig.gateway.orders().counters().live, 1);
        }
    }
}

#[test]
fn a_reject_without_a_text_names_its_field() {
    let mut rig = Rig::new(PLAIN);
    let sent = rig.hears("ANNA", ORDER);
    let written = rig.rejects("VENUE: 35=3|45=7|371=44|", Some(&sent[0]));
    let said = "|58=destination has rejected this message (44)|";
    assert!(written[0].contains(said), "{written:?}");
}
