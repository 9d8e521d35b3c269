//! Messages on their way to a venue and back.

use super::*;

const ORDER: &str = "35=D|11=A1|109=ANNA-1|21=1|55=VOD|54=1|60=20261120-09:59:59|38=100|40=2|44=7|";
const ORDER_44: &str =
    "11=A1|453=1|448=ANNA-1|447=D|452=3|21=1|55=VOD|54=1|60=20261120-09:59:59|38=100|40=2|44=7|";

#[test]
fn an_order_of_4_2_goes_to_a_venue_of_4_4_and_its_report_comes_back() {
    let mut rig = Rig::new(PLAIN);
    rig.expect("ANNA", ORDER, &[&format!("VENUE: 35=D|{ORDER_44}")]);
    rig.expect(
        "VENUE",
        "35=8|37=V1|11=A1|17=E1|150=F|39=1|55=VOD|54=1|38=100|32=40|31=7|151=60|14=40|6=7|",
        &["ANNA: 35=8|37=V1|11=A1|17=E1|20=0|150=1|39=1|55=VOD|54=1|38=100|32=40|31=7|151=60|14=40|6=7|"],
    );
    let counters = rig.gateway.counters();
    assert_eq!(
        (counters.received, counters.sent, counters.returned),
        (2, 1, 1)
    );
    assert_eq!((counters.troubles, counters.rejected), (0, 0));
    assert_eq!(rig.gateway.matched(), [1, 1]);
    assert!(rig.said().is_empty());
}

#[test]
fn two_clients_may_use_the_same_id() {
    let mut rig = Rig::new(PLAIN);
    rig.hears("ANNA", ORDER);
    let to_venue = rig.hears("BERT", ORDER);
    assert!(
        to_venue[0].starts_with("VENUE: 35=D|11=FW1|"),
        "{to_venue:?}"
    );
    let report = "17=E1|150=0|39=0|55=VOD|54=1|151=100|14=0|6=0|";
    let seen = "17=E1|20=0|150=0|39=0|55=VOD|54=1|151=100|14=0|6=0|";
    for (id, client) in [("FW1", "BERT"), ("A1", "ANNA")] {
        rig.expect(
            "VENUE",
            &format!("35=8|37=V{id}|11={id}|{report}"),
            &[&format!("{client}: 35=8|37=V{id}|11=A1|{seen}")],
        );
    }
    // A cancel names the order by the client's own id.
    rig.expect(
        "BERT",
        "35=F|41=A1|11=A2|55=VOD|54=1|60=20261120-10:00:00|",
        &["VENUE: 35=F|41=FW1|11=A2|55=VOD|54=1|60=20261120-10:00:00|"],
    );
    rig.expect(
        "VENUE",
        "35=9|37=VFW1|11=A2|41=FW1|39=0|434=1|102=0|",
        &["BERT: 35=9|37=VFW1|11=A2|41=A1|39=0|434=1|102=0|"],
    );
}

#[test]
fn a_bust_after_the_end_finds_its_client() {
    let mut rig = Rig::new(PLAIN);
    rig.hears("ANNA", ORDER);
    rig.hears(
        "VENUE",
        "35=8|37=V1|11=A1|17=E1|150=F|39=2|55=VOD|54=1|151=0|14=100|6=7|",
    );
    assert_eq!(rig.gateway.orders().counters().live, 0);
    rig.expect(
        "VENUE",
        "35=8|37=V1|11=A1|17=E2|19=E1|150=H|39=0|55=VOD|54=1|151=100|14=0|6=0|",
        &["ANNA: 35=8|37=V1|11=A1|17=E2|20=1|19=E1|150=0|39=0|55=VOD|54=1|151=100|14=0|6=0|"],
    );
    assert_eq!(rig.gateway.orders().counters().live, 1);
}

#[test]
fn a_report_that_nobody_asked_for_is_an_alarm_and_never_answered() {
    let mut rig = Rig::new(PLAIN);
    rig.expect(
        "VENUE",
        "35=8|37=V1|11=X|17=E1|150=0|39=0|55=VOD|54=1|151=1|14=0|6=0|",
        &[],
    );
    assert_eq!(
        rig.said(),
        ["back: unsolicited response: no matching request"]
    );
    assert_eq!(rig.gateway.counters().unsolicited, 1);
    // A report that no rule decides.
    let mut rig = Rig::new("[[rule]]\nfrom = [\"ANNA\"]\ndo = ['send VENUE']\n");
    rig.expect("VENUE", "35=8|37=V1|11=X|39=0|", &[]);
    assert_eq!(rig.said(), ["no rule: no rule handles this message"]);
}

#[test]
fn the_life_of_an_order_is_known_though_no_rule_returns_its_reports() {
    let mut rig = Rig::new(
        r#"
[[rule]]
from = ["ANNA"]
do = ['convert', 'send VENUE']
[[rule]]
from = ["VENUE"]
do = ['stop']
"#,
    );
    rig.hears("ANNA", ORDER);
    rig.expect(
        "VENUE",
        "35=8|37=V1|11=A1|17=E1|150=F|39=2|55=VOD|54=1|151=0|14=1|6=1|",
        &[],
    );
    assert_eq!(rig.gateway.orders().counters().live, 0);
}

#[test]
fn a_report_is_heard_once_and_returned_as_often_as_rules_say() {
    let mut rig = Rig::new(
        r#"
[gateway]
match = "all"
[[rule]]
from = ["ANNA", "BERT"]
do = ['send VENUE']
[[rule]]
from = ["VENUE"]
do = ['copy to AUDIT', 'return']
[[rule]]
from = ["VENUE"]
do = ['set Text "again"', 'return']
"#,
    );
    rig.hears("ANNA", ORDER);
    rig.hears("BERT", ORDER);
    rig.expect(
        "VENUE",
        "35=8|37=V2|11=FW1|39=2|",
        &[
            // A drop copy has the ids that the venue wrote.
            "AUDIT: 35=8|37=V2|11=FW1|39=2|",
            "BERT: 35=8|37=V2|11=A1|39=2|",
            "BERT: 35=8|37=V2|11=A1|39=2|58=again|",
        ],
    );
    let heard = rig
        .shown_notes()
        .into_iter()
        .filter(|note| note.starts_with("Inbound "));
    assert_eq!(heard.count(), 1);
    assert_eq!(rig.gateway.counters().copied, 1);
}

#[test]
fn one_order_goes_to_several_venues_and_each_answers() {
    let mut rig = Rig::new(
        r#"
[gateway]
ids = "always"
[[rule]]
from = ["ANNA"]
do = ['copy to AUDIT', 'convert', 'send VENUE', 'send BACKUP', 'send THIRD']
[[rule]]
from = ["VENUE", "BACKUP", "THIRD"]
do = ['convert', 'return']
"#,
    );
    let body = ORDER_44.strip_prefix("11=A1|").unwrap();
    rig.expect(
        "ANNA",
        ORDER,
        &[
            &format!("AUDIT: {ORDER}"),
            &format!("VENUE: 35=D|11=FW1|{body}"),
            &format!("BACKUP: 35=D|11=FW1|{body}"),
            &format!("THIRD: 35=D|11=FW1|{body}"),
        ],
    );
    for venue in ["VENUE", "BACKUP", "THIRD"] {
        rig.expect(
            venue,
            "35=8|37=1|11=FW1|17=1|150=0|39=0|55=VOD|54=1|151=1|14=0|6=0|",
            &["ANNA: 35=8|37=1|11=A1|17=1|20=0|150=0|39=0|55=VOD|54=1|151=1|14=0|6=0|"],
        );
    }
}

#[test]
fn a_hundred_sessions_get_each_message_in_order() {
    let names: Vec<&'static str> = (0..100).map(|at| &*format!("S{at:02}").leak()).collect();
    let mut sessions = vec![("ANNA", Version::Fix42)];
    sessions.extend(names.iter().map(|name| (*name, Version::Fix42)));
    let actions: Vec<String> = names.iter().map(|name| format!("'send {name}'")).collect();
    let actions = actions.join(", ");
    let mut rig = Rig::of(
        &format!("[[rule]]\nfrom = ['ANNA']\ndo = [{actions}]\n"),
        &sessions,
    );
    rig.outbox = Outbox::new(1 << 17, 400, 256);
    rig.all_log_on();
    for id in ["1", "2"] {
        let wanted = names.iter().map(|name| format!("{name}: 35=D|11={id}|"));
        assert_eq!(
            rig.hears("ANNA", &format!("35=D|11={id}|")),
            wanted.collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_message_of_a_third_party_and_questions_find_their_way() {
    let mut rig = Rig::new(
        r#"
[table.venues]
file = "venues.csv"
[[rule]]
from = ["ANNA", "BERT"]
do = ['send by table Symbol venues.session']
[[rule]]
from = ["VENUE", "THIRD"]
do = ['return']
"#,
    );
    rig.expect("ANNA", "35=R|131=Q|55=SAP|", &["THIRD: 35=R|131=Q|55=SAP|"]);
    rig.expect(
        "BERT",
        "35=R|131=Q|55=SAP|",
        &["THIRD: 35=R|131=FW1|55=SAP|"],
    );
    rig.expect("THIRD", "35=S|131=FW1|117=1|", &["BERT: 35=S|131=Q|117=1|"]);
    rig.expect("THIRD", "35=S|131=Q|117=2|", &["ANNA: 35=S|131=Q|117=2|"]);
}

#[test]
fn what_a_venue_refuses_with_j_goes_back_and_ends_the_order() {
    let mut rig = Rig::new(
        r#"
[gateway]
ids = "always"
[[rule]]
from = ["ANNA"]
do = ['send VENUE']
[[rule]]
from = ["VENUE"]
do = ['return']
"#,
    );
    rig.hears("ANNA", ORDER);
    rig.expect(
        "VENUE",
        "35=j|45=9|372=D|379=FW1|380=4|58=closed|",
        &["ANNA: 35=j|45=0|372=D|379=A1|380=4|58=closed|"],
    );
    assert_eq!(rig.gateway.orders().counters().live, 0);
    rig.expect("VENUE", "35=j|45=9|372=D|379=no|380=4|", &[]);
    rig.expect("VENUE", "35=j|45=9|372=D|380=4|", &[]);
    assert_eq!(rig.said().len(), 2);
}

#[test]
fn our_own_message_that_comes_back_is_not_sent_on() {
    let mut rig = Rig::new(
        r#"
[[rule]]
from = ["ANNA"]
do = ['send BERT']
[[rule]]
from = ["BERT"]
do = ['send ANNA']
"#,
    );
    rig.expect("ANNA", ORDER, &[&format!("BERT: {ORDER}")]);
    let written = rig.hears("BERT", ORDER);
    assert_eq!(written.len(), 1, "{written:?}");
    assert!(written[0].starts_with("BERT: 35=8|37=NONE|"), "{written:?}");
    assert!(written[0].contains("|150=8|"));
    assert_eq!(
        rig.said(),
        ["no rule: routing loop: message came back from its destination"]
    );
    assert_eq!(rig.gateway.counters().came_back, 1);
    // A status request for the order, and a cancel that the gateway has sent, are routing loops too.
    rig.hears("BERT", "35=H|11=A1|55=VOD|54=1|");
    rig.expect(
        "ANNA",
        "35=F|41=A1|11=A2|55=VOD|54=1|",
        &["BERT: 35=F|41=A1|11=A2|55=VOD|54=1|"],
    );
    rig.hears("BERT", "35=F|41=A1|11=A2|55=VOD|54=1|");
    assert_eq!(rig.gateway.counters().came_back, 3);
    // An order of BERT is not stopped, and after the gateway's order has ended, its id is free.
    let own = ORDER.replace("11=A1", "11=B1");
    rig.expect("BERT", &own, &[&format!("ANNA: {own}")]);
    rig.hears(
        "BERT",
        "35=8|37=1|11=A1|17=1|150=8|39=8|55=VOD|54=1|151=0|14=0|6=0|",
    );
    let again = rig.hears("BERT", ORDER);
    assert!(again[0].starts_with("ANNA: 35=D|"), "{again:?}");
}

#[test]
fn a_gateway_may_run_on_any_thread() {
    fn is_send<T: Send>() {}
    is_send::<Gateway>();
}

#[test]
fn counters_of_rules_and_their_words_come_out() {
    let mut rig = Rig::new(
        r#"
[[rule]]
name = "seen"
from = ["ANNA"]
do = ['count orders', 'notify "${ClOrdID}"', 'disconnect BERT']
[[rule]]
name = "stopped"
from = ["ANNA"]
do = ['stop']
"#,
    );
    rig.expect("ANNA", ORDER, &[]);
    assert_eq!(rig.said(), ["seen: A1", "seen: disconnect BERT"]);
    assert_eq!(rig.gateway.counted().collect::<Vec<_>>(), [("orders", 1)]);
    assert_eq!(rig.gateway.matched(), [1, 1]);
}

#[test]
fn what_a_conversion_leaves_out_is_counted() {
    let mut rig = Rig::new(PLAIN);
    rig.hears("ANNA", &ORDER.replace("|21=1", "|21=1|440=C"));
    let losses: Vec<_> = rig.gateway.losses().collect();
    assert_eq!(losses.len(), 2);
    assert_eq!((losses[0].0, losses[0].1), (Version::Fix42, Version::Fix44));
    assert_eq!(losses[0].2.of(440), 1);
}

proptest::proptest! {
    #[test]
    fn no_message_is_a_panic(
        from in 0..6_usize,
        msg_type in "[DFGHEJRSVj89W]|A[BCF]|[a-z]",
        fields in proptest::collection::vec(("11|37|38|41|66|73|115|128|131|262|372|379|39|150|97|[1-9][0-9]{0,3}", "[A-B0-9]{0,3}"), 0..12),
    ) {
        let mut rig = Rig::new(PLAIN);
        rig.hears("ANNA", ORDER);
        let fields = fields.iter().map(|(tag, value)| format!("{tag}={value}|"));
        let text = format!("35={msg_type}|{}", fields.collect::<String>());
        rig.hears(SESSIONS[from].0, &text);
    }
}

#[test]
fn a_request_that_a_rule_returns_is_rejected_to_its_source() {
    let rules = "[[rule]]\nname = 'out'\nfrom = ['ANNA']\ndo = ['convert', 'send VENUE']\n\
                 [[rule]]\nname = 'back'\nfrom = ['VENUE']\ndo = ['convert', 'return']\n";
    let mut rig = Rig::new(rules);
    for (request, reject) in [
        ("35=V|262=M|263=1|264=0|", "372=V|379=M|"),
        ("35=B|148=x|33=1|58=y|", "372=B|"),
    ] {
        let written = format!("VENUE: 35=j|45=7|{reject}380=3|58=no destination for this message|");
        rig.expect("VENUE", request, &[&written]);
        assert_eq!(
            rig.said(),
            ["back: request not sent: only a response to a client can be returned"]
        );
    }
    assert_eq!(rig.gateway.counters().unsolicited, 0);
    // A response gets no reject, and neither does a Quote of a venue.
    for response in [
        "35=8|37=1|11=X|39=0|",
        "35=S|117=Q|131=R|",
        "35=j|45=3|372=D|379=X|380=0|",
    ] {
        rig.expect("VENUE", response, &[]);
        assert_eq!(
            rig.said(),
            ["back: unsolicited response: no matching request"]
        );
    }
    assert_eq!(rig.gateway.counters().unsolicited, 3);
}
