//! Rejects to the source of a message that no session gets.

use fixwire_protocol::dictionary::{Scratch, ValidationRules, validate};

use super::*;

const VERSIONS: [Version; 8] = [
    Version::Fix40,
    Version::Fix41,
    Version::Fix42,
    Version::Fix43,
    Version::Fix44,
    Version::Fix50,
    Version::Fix50Sp1,
    Version::Fix50Sp2,
];
const BODIES: [&str; 6] = [
    "35=D|11=A|1=ACC|55=VOD|54=1|38=100|44=7|40=2|21=1|60=20261120-10:00:00|",
    "35=D|11=A|115=DESK|128=BROKER|48=X1|22=4|55=VOD|54=1|",
    "35=F|41=A|11=B|55=VOD|54=1|38=100|",
    "35=G|37=O7|41=A|11=B|55=VOD|54=1|38=100|",
    "35=H|11=A|55=VOD|54=1|",
    "35=R|131=Q|146=1|55=VOD|",
];

fn of_version(version: Version, text: &str) -> Rig {
    let mut rig = Rig::of(text, &[("CLIENT", version), ("VENUE", version)]);
    rig.all_log_on();
    rig
}

/// What the client receives for a message.
fn answer(version: Version, action: &str, text: &str) -> String {
    let rules = format!("[[rule]]\nfrom = ['CLIENT']\ndo = [{action:?}]\n");
    let mut rig = of_version(version, &rules);
    let mut written = rig.hears("CLIENT", text);
    assert_eq!((written.len(), rig.refusal), (1, Ok(())), "{action} {text}");
    assert_eq!(rig.gateway.counters().rejected, 1);
    written.remove(0)
}

/// Asserts that a written message is valid in its version.
#[track_caller]
pub(super) fn assert_valid(version: Version, written: &str) {
    let (to, text) = written.split_once(": ").unwrap();
    let bytes = super::message(version, to, text);
    let mut decoder = Decoder::with_capacity(128);
    let message = decoder.decode(&bytes);
    let dictionary = dictionary(version);
    let checked = validate::check(
        &dictionary,
        &message,
        &ValidationRules::default(),
        &mut Scratch::default(),
    );
    assert_eq!(checked, Ok(()), "{} {written}", version.name());
}

/// A gateway that stopped for lack of disk space could not send cancels.
#[test]
fn on_a_full_disk_only_what_opens_or_changes_orders_is_rejected() {
    use fixwire_protocol::DiskRoom;
    let rules = "[[rule]]\nfrom = ['CLIENT']\ndo = ['send VENUE']\n[[rule]]\nfrom = ['VENUE']\ndo = ['return']\n";
    for version in VERSIONS {
        let mut rig = of_version(version, rules);
        let open = "35=D|11=A|55=VOD|54=1|38=100|44=7|40=2|21=1|60=20261120-10:00:00|";
        assert!(rig.hears("CLIENT", open)[0].starts_with("VENUE: 35=D|"));
        let now = rig.now();
        rig.gateway.on_disk(now, DiskRoom::Reserve);
        for text in [
            open.replace("11=A|", "11=B|"),
            "35=G|37=O7|41=A|11=C|55=VOD|54=1|38=100|44=7|40=2|21=1|60=20261120-10:00:00|".into(),
        ] {
            let written = rig.hears("CLIENT", &text);
            let said = "58=gateway's disk is full: only cancels are accepted|";
            assert!(
                written.len() == 1
                    && written[0].starts_with("CLIENT: ")
                    && written[0].contains(said),
                "{written:?}"
            );
            assert_valid(version, &written[0]);
        }
        let cancel = "35=F|41=A|11=D|55=VOD|54=1|38=100|60=20261120-10:00:00|";
        assert!(rig.hears("CLIENT", cancel)[0].starts_with("VENUE: 35=F|"));
        assert!(rig.hears("CLIENT", "35=H|11=A|55=VOD|54=1|")[0].starts_with("VENUE: 35=H|"));
        rig.gateway.on_disk(now, DiskRoom::Enough);
        let again = rig.hears("CLIENT", &open.replace("11=A|", "11=E|"));
        assert!(again[0].starts_with("VENUE: 35=D|"), "{again:?}");
    }
}

#[test]
fn every_reject_is_valid_in_its_version() {
    for version in VERSIONS {
        for text in BODIES {
            for kind in [
                "reject",
                "reject order",
                "reject business",
                "reject session",
            ] {
                let written = answer(version, &format!("{kind} \"no\""), text);
                assert_valid(version, &written);
                assert!(written.contains("|58=no|"), "{written}");
                let (asked, written) = (&text[3..4], &written["CLIENT: 35=".len()..]);
                let business = match version < Version::Fix42 {
                    true => "3|",
                    false => "j|",
                };
                let wanted = match (kind, asked) {
                    ("reject session", _) => "3|",
                    ("reject business", _) => business,
                    (_, "D") => "8|",
                    (_, "F" | "G") => "9|",
                    _ => business,
                };
                assert!(written.starts_with(wanted), "{kind} {text}: {written}");
            }
        }
    }
}

#[test]
fn what_each_reject_says() {
    let wall = Timestamp::parse(b"20261120-10:00:00.001").unwrap().0;
    for (version, action, text, wanted) in [
        (
            Version::Fix42,
            "reject",
            BODIES[0],
            format!(
                "8|37=NONE|11=A|17={wall}|20=0|150=8|39=8|103=0|1=ACC|55=VOD|54=1|38=100|151=0|14=0|6=0|58=no|"
            ),
        ),
        (
            Version::Fix40,
            "reject",
            BODIES[0],
            format!(
                "8|37=NONE|11=A|17={wall}|20=0|39=8|103=0|1=ACC|55=VOD|54=1|38=100|32=0|31=0|14=0|6=0|58=no|"
            ),
        ),
        (
            Version::Fix44,
            "reject",
            BODIES[1],
            format!(
                "8|115=BROKER|128=DESK|37=NONE|11=A|17={wall}|150=8|39=8|103=0|55=VOD|48=X1|22=4|54=1|151=0|14=0|6=0|58=no|"
            ),
        ),
        (
            Version::Fix42,
            "reject",
            BODIES[2],
            "9|37=NONE|11=B|41=A|39=8|434=1|102=1|58=no|".into(),
        ),
        (
            Version::Fix44,
            "reject",
            BODIES[3],
            "9|37=O7|11=B|41=A|39=8|434=2|102=1|58=no|".into(),
        ),
        (
            Version::Fix44,
            "reject",
            BODIES[5],
            "j|45=7|372=R|379=Q|380=0|58=no|".into(),
        ),
        (Version::Fix41, "reject", BODIES[4], "3|45=7|58=no|".into()),
        (
            Version::Fix44,
            "reject session",
            BODIES[0],
            "3|45=7|372=D|373=99|58=no|".into(),
        ),
    ] {
        let written = answer(version, &format!("{action} \"no\""), text);
        assert_eq!(written, format!("CLIENT: 35={wanted}"));
    }
}

#[test]
fn a_cancel_of_an_open_order_does_not_end_it() {
    let mut rig = Rig::new(
        r#"
[[rule]]
from = ["ANNA"]
when = 'MsgType = D'
do = ['send VENUE']
[[rule]]
from = ["ANNA"]
do = ['reject "not now"']
"#,
    );
    rig.hears("ANNA", BODIES[0]);
    rig.expect(
        "ANNA",
        BODIES[2],
        &["ANNA: 35=9|37=NONE|11=B|41=A|39=0|434=1|102=2|58=not now|"],
    );
}

#[test]
fn the_reject_of_a_possible_resend_does_not_end_the_order() {
    let mut rig =
        Rig::new(&format!("{PLAIN}[target.VENUE]\naway = 'reject'\n").replace("'convert', ", ""));
    let again = BODIES[0].replace("11=A", "97=Y|11=A");
    rig.hears("ANNA", BODIES[0]);
    rig.lose("VENUE");
    rig.expect(
        "ANNA",
        &again,
        &["ANNA: 35=j|45=7|372=D|379=A|380=4|58=destination is not available|"],
    );
    // BERT's original order was never sent.
    let written = rig.hears("BERT", &again);
    assert!(written[0].starts_with("BERT: 35=8|"), "{written:?}");
}

#[test]
fn each_failure_has_its_text_and_reason() {
    let open = r#"
[[rule]]
from = ["ANNA"]
when = 'ClOrdID = "A"'
do = ['send VENUE']
"#;
    let throttled =
        "[[rule]]\nfrom = ['ANNA']\ndo = ['throttle 1 per second else reject', 'stop']\n";
    let converted = "[[rule]]\nfrom = ['ANNA']\ndo = ['convert', 'send VENUE']\n";
    for (rules, before, text, wanted) in [
        // No rule decides.
        (
            open,
            0,
            "35=B|148=x|",
            "35=j|45=7|372=B|380=3|58=no destination for this message|",
        ),
        (
            open,
            0,
            "35=R|131=Q|",
            "35=j|45=7|372=R|379=Q|380=3|58=no destination for this message|",
        ),
        // The order is already open at the venue.
        (open, 1, BODIES[0], "|39=8|103=6|"),
        // No id.
        (converted, 0, "35=D|55=VOD|", "|58=required id is missing|"),
        (
            converted,
            0,
            "35=D|11=ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDE|",
            "|58=id is too long (11)|",
        ),
        // The message lacks fields that FIX 4.4 requires.
        (
            converted,
            0,
            "35=J|70=1|",
            "|58=message cannot be converted to the destination's FIX version (71)|",
        ),
        (
            throttled,
            1,
            "35=B|148=x|",
            "35=j|45=7|372=B|380=0|58=rate limit exceeded|",
        ),
        (
            "[[rule]]\nfrom = ['ANNA']\ndo = ['send by DeliverToCompID']\n",
            0,
            "35=D|128=NOBODY|11=A|55=VOD|54=1|",
            "|58=no destination for this message (128)|",
        ),
        (
            "[[rule]]\nfrom = ['ANNA']\ndo = ['copy Text to Account', 'send VENUE']\n",
            0,
            "35=D|11=A|55=VOD|54=1|",
            "|58=gateway could not process the message (58)|",
        ),
    ] {
        let mut rig = Rig::new(rules);
        for _ in 0..before {
            rig.hears("ANNA", text);
            rig.wall -= 1_000_000;
        }
        let written = rig.hears("ANNA", text);
        assert_eq!(written.len(), 1, "{text}");
        assert!(written[0].starts_with("ANNA: 35="), "{written:?}");
        assert!(written[0].contains(wanted), "{written:?}");
        assert_eq!(rig.said().len(), 1);
        assert_eq!(
            rig.gateway.orders().counters().live,
            before as u64 * u64::from(rules == open)
        );
    }
}

#[test]
fn an_order_that_was_not_sent_has_ended() {
    let mut rig = Rig::new(PLAIN);
    // A list that lacks fields required by FIX 4.4 is refused after its ids were stored.
    rig.hears("ANNA", "35=E|66=L|73=1|11=A|67=1|");
    assert_eq!(rig.gateway.orders().counters().live, 0, "{:?}", rig.said());
    assert!(
        rig.shown_notes()
            .iter()
            .any(|note| note.starts_with("Refused "))
    );
}

#[test]
fn unmatched_messages_are_dropped_when_the_file_says_so() {
    let mut rig = Rig::new(
        "[gateway]\nunmatched = \"drop\"\n[[rule]]\nfrom = [\"ANNA\"]\nwhen = 'MsgType = D'\ndo = ['send VENUE']\n",
    );
    rig.expect("ANNA", "35=B|148=x|", &[]);
    assert_eq!(rig.gateway.counters().unmatched, 1);
    assert!(rig.said().is_empty());
}

#[test]
fn when_one_of_several_targets_got_it_the_source_is_not_answered() {
    let mut rig = Rig::new(
        r#"
[[rule]]
from = ["ANNA"]
do = ['send AUDIT', 'convert', 'send VENUE', 'send THIRD']
[target.THIRD]
away = "reject"
"#,
    );
    rig.lose("THIRD");
    let written = rig.hears("ANNA", BODIES[0]);
    assert_eq!(written.len(), 2, "{written:?}");
    assert_eq!(rig.said(), ["rule 1: destination is not available"]);
    // A message that no session got is rejected only once.
    let mut rig = Rig::new(
        "[[rule]]\nfrom = ['ANNA']\ndo = ['reject \"one\"', 'reject \"two\"', 'copy to AUDIT']\n",
    );
    let written = rig.hears("ANNA", BODIES[0]);
    assert_eq!(written.len(), 2, "{written:?}");
    assert!(written[0].ends_with("|58=one|"));
}

#[test]
fn no_two_rejects_have_the_same_exec_id() {
    let mut rig = Rig::new("[[rule]]\nfrom = ['ANNA']\ndo = ['reject \"no\"']\n");
    let one = rig.hears("ANNA", BODIES[0]);
    // At the same time, and after the clock was set back.
    for _ in 0..2 {
        rig.wall -= 1_000_000;
        assert_ne!(rig.hears("ANNA", BODIES[0]), one);
        rig.wall -= 1_000_000;
    }
}

#[test]
fn a_reject_is_never_rejected() {
    let mut rig = Rig::new("[[rule]]\nfrom = ['*']\ndo = ['reject \"no\"']\n");
    rig.expect("ANNA", "35=j|45=1|372=D|380=0|", &[]);
    // A `reject` of a rule is carried out for other responses.
    assert_eq!(rig.hears("VENUE", "35=8|11=A|37=1|").len(), 1);
}

#[test]
fn without_room_for_the_answer_the_session_refuses() {
    let mut rig = Rig::new(PLAIN);
    rig.outbox = Outbox::new(300, 64, 64);
    let long = format!("35=D|11=A|58={}|", "x".repeat(400));
    assert_eq!(rig.hears("ANNA", &long), Vec::<String>::new());
    assert_eq!(rig.refusal, Err(Refusal::NotAvailable));
    // For a report that does not fit the gateway raises an event, and the session rejects it, so that the venue may
    // send it again.
    rig.outbox = Outbox::new(60, 64, 64);
    let report = "35=8|37=V1|11=A|17=E1|150=0|39=0|55=VOD|";
    assert_eq!(rig.hears("VENUE", report), Vec::<String>::new());
    assert_eq!(rig.refusal, Err(Refusal::NotAvailable));
    assert_eq!(
        rig.said().last().unwrap(),
        "no rule: message could not be written: the outbox is full"
    );
    // A session that the file does not have.
    let bytes = message(Version::Fix42, "X", "35=D|11=A|");
    let mut decoder = Decoder::with_capacity(64);
    let (now, mut outbox) = (rig.now(), Outbox::new(100, 4, 64));
    let message = decoder.decode(&bytes);
    let done = rig
        .gateway
        .on_message(now, SessionId(99), &message, &mut outbox);
    assert_eq!(done, Err(Refusal::NotAuthorized));
}

#[test]
fn a_separator_in_a_rules_text_becomes_a_space() {
    let rules = "[[rule]]\nfrom = ['CLIENT']\ndo = ['reject \"no ${EncodedText}!\"']\n";
    let mut rig = of_version(Version::Fix44, rules);
    let written = rig.hears("CLIENT", "35=D|11=A|55=VOD|54=1|354=3|355=a|b|");
    assert!(written[0].contains("|58=no a b!|"), "{written:?}");
}
