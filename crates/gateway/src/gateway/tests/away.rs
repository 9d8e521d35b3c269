//! Messages for sessions that are not logged on.

use super::*;

const ORDER: &str = "35=D|11=A1|55=VOD|54=1|";
const CANCEL: &str = "35=F|41=A1|11=A2|55=VOD|54=1|";

/// A file with rules that send orders to VENUE, and with these tables of targets.
fn file(targets: &str) -> String {
    format!("{PLAIN}{targets}").replace("'convert', ", "")
}

#[test]
fn a_message_is_held_unless_something_else_is_said() {
    let mut rig = Rig::new(&file(""));
    rig.lose("VENUE");
    rig.expect("ANNA", ORDER, &[]);
    let held: Vec<_> = rig
        .gateway
        .held()
        .map(|it| (it.session, it.messages))
        .collect();
    assert_eq!(held, [("VENUE", 1)]);
    // The message counts as sent only after it was sent to its target, even after a long time and a sequence reset.
    assert_eq!(rig.gateway.counters().sent, 0);
    assert_eq!(rig.wait(1_000_000), Vec::<String>::new());
    assert_eq!(rig.reset("VENUE"), Vec::<String>::new());
    rig.log_on("VENUE");
    assert_eq!(rig.wait(0), ["VENUE: 35=D|11=A1|55=VOD|54=1|"]);
    assert_eq!(rig.gateway.counters().sent, 1);
    // A response for a client that is away waits in the client's session.
    rig.lose("ANNA");
    rig.expect("VENUE", "35=8|11=A1|39=0|", &["ANNA: 35=8|11=A1|39=0|"]);
    assert!(rig.said().is_empty());
}

#[test]
fn nothing_is_held_for_a_session_out_of_its_hours() {
    let mut rig = Rig::new(&file(""));
    rig.hears("ANNA", ORDER);
    rig.lose("VENUE");
    rig.set_hours("VENUE", false);
    let written = rig.hears("ANNA", CANCEL);
    assert_eq!(
        written,
        ["ANNA: 35=9|37=NONE|11=A2|41=A1|39=0|434=1|102=2|58=destination is not available|"]
    );
    rig.set_hours("VENUE", true);
    rig.expect("ANNA", CANCEL, &[]);
    rig.lose("ANNA");
    rig.set_hours("ANNA", false);
    rig.said();
    rig.expect("VENUE", "35=8|11=A1|39=0|", &[]);
    assert_eq!(rig.said(), ["back: destination is not available"]);
}

#[test]
fn a_report_for_a_client_whose_numbers_restart_is_told_not_lost() {
    let sessions = [("FRESH", Version::Fix42), ("VENUE", Version::Fix42)];
    let file = "[[rule]]\nfrom = ['FRESH']\ndo = ['send VENUE']\n\
                [[rule]]\nname = 'back'\nfrom = ['VENUE']\ndo = ['return']\n";
    let mut rig = Rig::of(file, &sessions);
    rig.all_log_on();
    rig.expect("FRESH", ORDER, &["VENUE: 35=D|11=A1|55=VOD|54=1|"]);
    rig.lose("FRESH");
    rig.expect("VENUE", "35=8|11=A1|39=0|", &[]);
    assert_eq!(rig.said(), ["back: destination is not available"]);
    rig.log_on("FRESH");
    rig.expect("VENUE", "35=8|11=A1|39=0|", &["FRESH: 35=8|11=A1|39=0|"]);
}

#[test]
fn a_possible_resend_of_an_order_that_was_filled_is_not_rejected_as_an_order() {
    let mut rig = Rig::new(&file("[target.VENUE]\naway = \"reject\"\n"));
    rig.hears("ANNA", ORDER);
    rig.hears("VENUE", "35=8|11=A1|39=2|150=F|");
    rig.lose("VENUE");
    let written = rig.hears("ANNA", "35=D|97=Y|11=A1|55=VOD|54=1|");
    assert!(
        written.len() == 1 && written[0].starts_with("ANNA: 35=j|"),
        "{written:?}"
    );
}

#[test]
fn a_quote_that_answers_nothing_is_not_answered() {
    let mut rig = Rig::new(&file(""));
    rig.expect("VENUE", "35=S|131=zz|117=1|55=VOD|", &[]);
    assert_eq!(
        rig.said(),
        ["back: unsolicited response: no matching request"]
    );
}

#[test]
fn copies_that_would_be_void_when_they_wait_are_a_mistake_of_the_file() {
    let sessions = [("ANNA", Version::Fix42), ("FRESH", Version::Fix42)];
    let loaded = |action: &str, more: &str| {
        let rule = format!("[[rule]]\nfrom = ['ANNA']\ndo = ['{action} FRESH']\n");
        load(
            &format!("{rule}{more}"),
            &sessions,
            std::boxed::Box::new(|_| ()),
        )
    };
    let errors = loaded("copy to", "").unwrap_err();
    assert_eq!(errors.len(), 1);
    let shown = errors[0].to_string();
    let wanted = "1:1: copies that wait for 'FRESH' would be lost when the sequence numbers of 'FRESH' are reset";
    assert!(
        shown.starts_with(wanted) && shown.contains("[target.FRESH]"),
        "{shown}"
    );
    assert!(loaded("copy to", "[target.FRESH]\naway = 'reject'\n").is_ok());
    assert!(loaded("copy to", "[target.FRESH]\naway = 'ANNA'\n").is_ok());
    // A file that sends requests to the session is valid: requests wait in the gateway.
    assert!(loaded("send", "").is_ok());
}

#[test]
fn the_source_may_be_answered_at_once() {
    let mut rig = Rig::new(&file("[target.VENUE]\naway = \"reject\"\n"));
    rig.hears("ANNA", ORDER);
    rig.lose("VENUE");
    let written = rig.hears("ANNA", CANCEL);
    assert_eq!(
        written,
        ["ANNA: 35=9|37=NONE|11=A2|41=A1|39=0|434=1|102=2|58=destination is not available|"]
    );
    assert_eq!(rig.said(), ["out: destination is not available"]);
    rig.log_on("VENUE");
    rig.expect("ANNA", CANCEL, &["VENUE: 35=F|41=A1|11=A2|55=VOD|54=1|"]);
}

#[test]
fn another_session_may_stand_in_and_its_own_policy_holds_then() {
    let targets = "[target.VENUE]\naway = \"BACKUP\"\n[target.BACKUP]\naway = \"THIRD\"\n[target.THIRD]\naway = \"reject\"\n";
    let mut rig = Rig::new(&file(targets));
    let to = |rig: &mut Rig, id: &str| {
        let written = rig.hears("ANNA", &ORDER.replace("A1", id));
        written[0].split(':').next().unwrap().to_string()
    };
    assert_eq!(to(&mut rig, "1"), "VENUE");
    rig.lose("VENUE");
    assert_eq!(to(&mut rig, "2"), "BACKUP");
    rig.lose("BACKUP");
    assert_eq!(to(&mut rig, "3"), "THIRD");
    rig.lose("THIRD");
    assert_eq!(to(&mut rig, "4"), "ANNA");
    rig.log_on("VENUE");
    assert_eq!(to(&mut rig, "5"), "VENUE");
}

#[test]
fn what_is_about_an_order_goes_where_the_order_is() {
    let mut rig = Rig::new(&file("[target.VENUE]\naway = \"BACKUP\"\n"));
    rig.lose("VENUE");
    rig.expect("ANNA", ORDER, &["BACKUP: 35=D|11=A1|55=VOD|54=1|"]);
    rig.log_on("VENUE");
    rig.expect("ANNA", CANCEL, &["BACKUP: 35=F|41=A1|11=A2|55=VOD|54=1|"]);
    // Another order with the same id is a duplicate: it does not go to the other venue.
    let again = rig.hears("ANNA", ORDER);
    assert!(again[0].ends_with("|58=duplicate ClOrdID|"), "{again:?}");
    // A possible resend goes to the session of the first order, even after this order has ended.
    let resend = "35=D|97=Y|11=A1|55=VOD|";
    rig.expect("ANNA", resend, &["BACKUP: 35=D|97=Y|11=A1|55=VOD|"]);
    rig.hears("BACKUP", "35=8|37=1|11=A1|39=2|");
    rig.expect("ANNA", resend, &["BACKUP: 35=D|97=Y|11=A1|55=VOD|"]);
    // A cancel of an order at VENUE does not go to BACKUP.
    rig.expect(
        "BERT",
        &ORDER.replace("A1", "B1"),
        &["VENUE: 35=D|11=B1|55=VOD|54=1|"],
    );
    rig.lose("VENUE");
    let cancel = rig.hears("BERT", &CANCEL.replace("41=A1", "41=B1"));
    assert!(cancel[0].starts_with("BERT: 35=9|"), "{cancel:?}");
    assert!(cancel[0].contains("|39=0|"));
    // A cancel of an unknown order goes to the session to which new orders go.
    let unknown = rig.hears("BERT", &CANCEL.replace("41=A1", "41=Z"));
    assert!(unknown[0].starts_with("BACKUP: 35=F|"), "{unknown:?}");
}

#[test]
fn copies_follow_the_same_policies() {
    let rules =
        "[[rule]]\nfrom = ['ANNA']\ndo = ['copy to AUDIT', 'send VENUE']\n[target.AUDIT]\naway = ";
    let mut rig = Rig::new(&format!("{rules}\"reject\"\n"));
    rig.lose("AUDIT");
    rig.expect("ANNA", ORDER, &["VENUE: 35=D|11=A1|55=VOD|54=1|"]);
    assert_eq!(rig.said(), ["rule 1: destination is not available"]);
    let mut rig = Rig::new(&format!("{rules}\"hold\"\n"));
    rig.lose("AUDIT");
    assert_eq!(rig.hears("ANNA", ORDER).len(), 2);
}
