//! OrderID(37): no client reaches another client's order by it, and the owner of an order receives its reports.

use super::*;

/// Orders go to VENUE unchanged, responses return.
const RULES: &str = r#"
[[rule]]
from = ["ANNA", "BERT"]
do = ['send VENUE']
[[rule]]
from = ["VENUE"]
do = ['return']
"#;

/// ANNA's order is known to VENUE as OA1, BERT's as OB1.
fn two_orders() -> Rig {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=A1|55=VOD|54=1|");
    rig.hears("BERT", "35=D|11=B1|55=VOD|54=1|");
    rig.hears("VENUE", "35=8|37=OA1|11=A1|150=0|39=0|");
    rig.hears("VENUE", "35=8|37=OB1|11=B1|150=0|39=0|");
    rig.said();
    rig
}

/// The rig after a restart, with all sessions logged on again.
fn restarted(rig: &Rig) -> Rig {
    let mut other = Rig::of(RULES, &SESSIONS);
    other.replay(&rig.notes);
    other.wall = rig.wall;
    other.all_log_on();
    assert_eq!(other.said(), Vec::<String>::new());
    other
}

#[test]
fn no_client_reaches_an_order_of_another_one() {
    for mut rig in [two_orders(), restarted(&two_orders())] {
        rig.expect(
            "BERT",
            "35=F|37=OA1|41=B1|11=B2|55=VOD|54=1|",
            &["VENUE: 35=F|41=B1|11=B2|55=VOD|54=1|"],
        );
        rig.expect(
            "BERT",
            "35=G|37=OA1|41=ZZ|11=B3|55=VOD|54=1|",
            &["VENUE: 35=G|41=ZZ|11=B3|55=VOD|54=1|"],
        );
        // The ids in BERT's message are BERT's own, even with the text of ANNA's id.
        rig.expect(
            "BERT",
            "35=H|37=OA1|11=A1|55=VOD|54=1|",
            &["VENUE: 35=H|11=FW1|55=VOD|54=1|"],
        );
        // The message has no other id of an order.
        rig.expect(
            "BERT",
            "35=F|37=OA1|11=B4|55=VOD|54=1|",
            &["BERT: 35=9|37=OA1|11=B4|39=8|434=1|102=1|58=unknown order (37)|"],
        );
        rig.expect(
            "BERT",
            "35=H|37=OA1|55=VOD|54=1|",
            &["BERT: 35=j|45=7|372=H|380=1|58=unknown order (37)|"],
        );
        let counters = rig.gateway.orders().counters();
        assert_eq!(
            counters.live, 3,
            "both orders go on, and a replacement waits"
        );
    }
}

#[test]
fn an_order_id_that_nobody_has_been_told_names_nothing() {
    let mut rig = Rig::new(RULES);
    rig.hears("ANNA", "35=D|11=A1|55=VOD|54=1|");
    // VENUE's report with OrderID(37) OA1 has not arrived yet.
    rig.expect(
        "BERT",
        "35=F|37=OA1|41=ZZ|11=B2|55=VOD|54=1|",
        &["VENUE: 35=F|41=ZZ|11=B2|55=VOD|54=1|"],
    );
    rig.expect(
        "BERT",
        "35=H|37=OA1|55=VOD|54=1|",
        &["BERT: 35=j|45=7|372=H|380=1|58=unknown order (37)|"],
    );
}

#[test]
fn a_client_names_its_own_orders_by_order_id() {
    for mut rig in [two_orders(), restarted(&two_orders())] {
        for text in [
            "35=H|37=OB1|55=VOD|54=1|",
            "35=F|37=OB1|41=B1|11=B2|55=VOD|54=1|",
            "35=G|37=NONE|41=B2|11=B3|55=VOD|54=1|",
            "35=Q|37=OB1|17=E1|127=A|55=VOD|54=1|",
        ] {
            let written = format!("VENUE: {text}");
            rig.expect("BERT", text, &[&written]);
        }
        // Before and after a replacement.
        rig.hears(
            "VENUE",
            "35=8|37=OB2|11=B3|41=B1|150=5|39=0|55=VOD|54=1|151=1|14=0|6=0|",
        );
        for id in ["OB1", "OB2"] {
            let text = format!("35=F|37={id}|41=B3|11=C{id}|55=VOD|54=1|");
            rig.expect("BERT", &text, &[&format!("VENUE: {text}")]);
        }
    }
}

#[test]
fn ids_of_a_venue_stand_for_the_order_that_it_named_last() {
    let mut rig = two_orders();
    rig.hears("VENUE", "35=8|37=OA1|11=A1|150=F|39=2|");
    // On the next day VENUE uses the same OrderIDs again.
    rig.hears("BERT", "35=D|11=B2|55=VOD|54=1|");
    rig.hears("VENUE", "35=8|37=OA1|11=B2|150=0|39=0|");
    rig.expect(
        "BERT",
        "35=H|37=OA1|55=VOD|54=1|",
        &["VENUE: 35=H|37=OA1|55=VOD|54=1|"],
    );
    // After a late correction for ANNA's order the OrderID still belongs to BERT's order, which is open.
    rig.hears("VENUE", "35=8|37=OA1|11=A1|150=G|39=2|");
    rig.expect(
        "BERT",
        "35=H|37=OA1|55=VOD|54=1|",
        &["VENUE: 35=H|37=OA1|55=VOD|54=1|"],
    );
}

#[test]
fn all_messages_that_name_orders_are_looked_at() {
    let mut rig = two_orders();
    for (text, written) in [
        // An allocation names an order in each entry.
        (
            "35=J|70=X|71=0|73=2|11=B1|37=OA1|198=S1|526=T1|11=A1|37=OA1|54=1|55=VOD|",
            "BERT: 35=j|45=7|372=J|379=X|380=1|58=unknown order (11)|",
        ),
        (
            "35=J|70=X|71=0|73=1|11=B1|37=OA1|198=S1|526=T1|54=1|55=VOD|",
            "VENUE: 35=J|70=X|71=0|73=1|11=B1|54=1|55=VOD|",
        ),
        (
            "35=J|70=Y|71=0|73=1|11=MANUAL|37=OB1|54=1|55=VOD|",
            "VENUE: 35=J|70=Y|71=0|73=1|11=MANUAL|37=OB1|54=1|55=VOD|",
        ),
        (
            "35=Q|37=OA1|17=E1|127=A|55=VOD|54=1|",
            "BERT: 35=j|45=7|372=Q|380=1|58=unknown order (37)|",
        ),
        (
            "35=AD|568=T|569=0|37=OA1|",
            "BERT: 35=j|45=7|372=AD|379=T|380=1|58=unknown order (37)|",
        ),
        (
            "35=AD|568=T|569=0|11=A1|",
            "BERT: 35=j|45=7|372=AD|379=T|380=1|58=unknown order (11)|",
        ),
        (
            "35=AD|568=T|569=0|11=B1|37=OA1|198=S|",
            "VENUE: 35=AD|568=T|569=0|11=B1|",
        ),
        (
            "35=BN|37=OA1|1036=1|17=E1|55=VOD|54=1|",
            "BERT: 35=j|45=7|372=BN|380=1|58=unknown order (37)|",
        ),
        (
            "35=AC|37=OA1|41=B1|11=B9|55=VOD|54=1|",
            "VENUE: 35=AC|41=B1|11=B9|55=VOD|54=1|",
        ),
        (
            "35=u|37=OA1|548=C2|551=C1|549=1|550=1|552=1|54=1|41=B1|11=B8|55=VOD|",
            "VENUE: 35=u|548=C2|551=C1|549=1|550=1|552=1|54=1|41=B1|11=B8|55=VOD|",
        ),
        (
            "35=F|198=S1|41=B1|11=B7|526=T2|55=VOD|54=1|",
            "VENUE: 35=F|41=B1|11=B7|526=T2|55=VOD|54=1|",
        ),
        (
            "35=H|526=T1|11=B1|55=VOD|54=1|",
            "VENUE: 35=H|11=B1|55=VOD|54=1|",
        ),
    ] {
        assert_eq!(rig.hears("BERT", text), [written], "{:?}", rig.said());
    }
}

#[test]
fn whoever_has_the_order_is_told_whoever_caused_it() {
    // BERT's cancel has cancelled ANNA's order; the reports of venues about this have two forms.
    for (report, theirs, own) in [
        (
            "35=8|37=OA1|11=B2|41=A1|150=4|39=4|55=VOD|",
            "35=8|37=OA1|11=A1|41=A1|150=4|39=4|55=VOD|",
            "35=8|37=OA1|11=B2|41=ZZ|150=4|39=4|55=VOD|",
        ),
        (
            "35=8|37=OA1|11=B2|150=4|39=4|55=VOD|",
            "35=8|37=OA1|11=A1|150=4|39=4|55=VOD|",
            "35=8|37=OA1|11=B2|150=4|39=4|55=VOD|",
        ),
    ] {
        let mut rig = Rig::new(RULES);
        rig.hears("ANNA", "35=D|11=A1|55=VOD|54=1|");
        rig.hears("VENUE", "35=8|37=OA1|11=A1|150=0|39=0|");
        rig.hears("BERT", "35=F|41=ZZ|11=B2|55=VOD|54=1|");
        let written = rig.hears("VENUE", report);
        assert_eq!(
            written,
            [format!("BERT: {own}"), format!("ANNA: {theirs}")],
            "{:?}",
            rig.said()
        );
        assert_eq!(rig.gateway.orders().counters().live, 0);
        // The OrderID still belongs to ANNA's order, and ANNA may use the ClOrdID again.
        rig.expect(
            "BERT",
            "35=H|37=OA1|55=VOD|54=1|",
            &["BERT: 35=j|45=7|372=H|380=1|58=unknown order (37)|"],
        );
    }
}

#[test]
fn a_request_that_is_refused_does_not_end_the_order_it_was_for() {
    let mut rig = two_orders();
    rig.hears("BERT", "35=F|41=ZZ|11=B2|55=VOD|54=1|");
    rig.hears(
        "VENUE",
        "35=8|37=OA1|11=B2|41=A1|150=8|39=8|55=VOD|54=1|151=0|14=0|6=0|",
    );
    assert_eq!(rig.gateway.orders().counters().live, 2);
}

#[test]
fn what_was_changed_for_one_client_is_not_told_to_the_other() {
    let rules = r#"
[[rule]]
from = ["ANNA", "BERT"]
do = ['remember Account', 'remove Account', 'send VENUE']
[[rule]]
from = ["VENUE"]
do = ['try recall Account', 'return', 'copy to AUDIT', 'count reports']
"#;
    let mut rig = Rig::new(rules);
    rig.hears("ANNA", "35=D|11=A1|1=ANNA-7|55=VOD|54=1|");
    rig.hears("BERT", "35=F|41=ZZ|11=B2|1=BERT-9|55=VOD|54=1|");
    assert_eq!(
        rig.hears("VENUE", "35=8|37=OA1|11=B2|41=A1|150=4|39=4|"),
        [
            "BERT: 35=8|37=OA1|11=B2|41=ZZ|150=4|39=4|1=BERT-9|",
            "AUDIT: 35=8|37=OA1|11=B2|41=A1|150=4|39=4|1=BERT-9|",
            "ANNA: 35=8|37=OA1|11=A1|41=A1|150=4|39=4|1=ANNA-7|",
        ]
    );
    assert_eq!(rig.gateway.counted().collect::<Vec<_>>(), [("reports", 1)]);
}

#[test]
fn mass_requests_need_a_rule_that_names_them() {
    let sessions = [("BERT", Version::Fix50Sp2), ("VENUE", Version::Fix50Sp2)];
    let rules = RULES.replace("\"ANNA\", ", "");
    let rig_of = |rule: &str| {
        let mut rig = Rig::of(&format!("{rule}{rules}"), &sessions);
        rig.all_log_on();
        rig
    };
    for kind in ["q", "AF", "CA"] {
        let id = if kind == "AF" { "584" } else { "11" };
        let text = format!("35={kind}|{id}=M1|530=7|");
        let written = rig_of("").hears("BERT", &text);
        assert_eq!(written.len(), 1);
        assert!(
            written[0].starts_with(&format!("BERT: 35=j|45=7|372={kind}|379=M1|"))
                && written[0].ends_with(
                    "|58=mass request not allowed: it would reach the orders \
                                         of all clients|"
                ),
            "{written:?}"
        );
        for when in [
            format!("MsgType = \"{kind}\""),
            format!("MsgType in (\"D\", \"{kind}\") and not Account = \"1\""),
            format!("Account = \"1\" or MsgType = \"{kind}\""),
        ] {
            let rule = format!("[[rule]]\nfrom = ['BERT']\nwhen = '{when}'\ndo = ['send VENUE']\n");
            assert_eq!(
                rig_of(&rule).hears("BERT", &text),
                [format!("VENUE: {text}")],
                "{when}"
            );
        }
        let rule = "[[rule]]\nfrom = ['BERT']\nwhen = 'MsgType != \"D\" and not MsgType = \"8\"'\ndo = ['send VENUE']\n";
        assert!(rig_of(rule).hears("BERT", &text)[0].starts_with("BERT: 35=j|"));
    }
}

/// The account of each order is kept from VENUE.
const ACCOUNTS: &str = r#"
[[rule]]
from = ["ANNA"]
do = ['remember Account', 'remove Account', 'send VENUE']
[[rule]]
from = ["VENUE"]
do = ['try recall Account', 'return']
"#;

/// ANNA's order 1 was OLD and is filled; she has used the ClOrdID again.
fn used_again() -> Rig {
    let mut rig = Rig::new(ACCOUNTS);
    rig.hears("ANNA", "35=D|11=1|1=monday|55=VOD|54=1|");
    rig.hears("VENUE", "35=8|37=OLD|11=1|150=0|39=0|");
    rig.hears("VENUE", "35=8|37=OLD|11=1|150=F|39=2|");
    rig.hears("ANNA", "35=D|11=1|1=tuesday|55=VOD|54=1|");
    rig
}

#[test]
fn a_report_of_an_earlier_order_changes_nothing_of_the_order_with_its_cl_ord_id() {
    let live = |rig: &Rig| rig.gateway.orders().counters().live;
    let busts = [
        "35=8|37=OLD|11=1|150=H|39=4|19=1|",
        "35=8|37=OLD|11=1|20=1|39=0|19=1|",
        "35=8|37=OLD|11=1|150=F|39=2|97=Y|",
        "35=8|37=OLD|11=1|150=H|39=1|19=1|",
        "35=8|37=OLD|11=1|150=4|39=4|",
        "35=8|37=OLD|11=9|41=1|150=4|39=4|",
        "35=9|37=OLD|11=9|41=1|39=2|434=1|",
    ];
    // From a checkpoint.
    let restart = |rig: &Rig| {
        let mut other = Rig::of(ACCOUNTS, &SESSIONS);
        let mut ledger = other.gateway.ledger().unwrap();
        rig.notes
            .iter()
            .for_each(|(at, note)| ledger.apply(*at, note));
        let (version, state) = (ledger.form().1, super::ledger::written(&*ledger));
        assert_eq!(other.gateway.on_checkpoint(version, &state), Ok(()));
        other.wall = rig.wall;
        other.all_log_on();
        other
    };
    for is_restarted in [false, true] {
        let mut rig = used_again();
        // The bust arrives before the first report of the new order.
        let bust = busts[0];
        let written = rig.hears("VENUE", bust);
        assert_eq!(written, [format!("ANNA: {bust}")]);
        assert_eq!(live(&rig), 1);
        let open = "35=8|37=NEW|11=1|150=0|39=0|";
        rig.expect("VENUE", open, &[&format!("ANNA: {open}1=tuesday|")]);
        if is_restarted {
            rig = restart(&rig);
        }
        for report in busts {
            let written = rig.hears("VENUE", report);
            assert_eq!(written.len(), 1, "{report}");
            assert!(
                written[0].starts_with("ANNA: ") && !written[0].contains("|1="),
                "{written:?}"
            );
            assert_eq!(live(&rig), 1, "{report}");
        }
        // A report with only the OrderID is about the earlier order too.
        rig.expect(
            "VENUE",
            "35=8|37=OLD|150=I|39=4|",
            &["ANNA: 35=8|37=OLD|150=I|39=4|"],
        );
        let filled = "35=8|37=NEW|11=1|150=F|39=2|";
        rig.expect("VENUE", filled, &[&format!("ANNA: {filled}1=tuesday|")]);
        assert_eq!(live(&rig), 0);
    }
}

#[test]
fn a_bust_of_a_forgotten_order_does_not_change_the_order_with_its_cl_ord_id() {
    let small = format!("[gateway]\nmax_orders = 8\n{ACCOUNTS}");
    let mut rig = Rig::new(&small);
    rig.hears("ANNA", "35=D|11=1|1=monday|55=VOD|54=1|");
    rig.hears("VENUE", "35=8|37=OLD|11=1|150=F|39=2|");
    rig.hears("ANNA", "35=D|11=1|1=tuesday|55=VOD|54=1|");
    rig.hears("VENUE", "35=8|37=NEW|11=1|150=0|39=0|");
    for id in 2..20 {
        rig.hears("ANNA", &format!("35=D|11={id}|55=VOD|54=1|"));
        rig.hears("VENUE", &format!("35=8|37=O{id}|11={id}|150=F|39=2|"));
    }
    let bust = "35=8|37=OLD|11=1|150=H|39=4|19=1|";
    rig.expect("VENUE", bust, &[&format!("ANNA: {bust}")]);
    assert_eq!(rig.gateway.orders().counters().live, 1);
}

#[test]
fn a_venue_may_change_the_order_id_of_an_order() {
    let mut rig = Rig::new(ACCOUNTS);
    let live = |rig: &Rig| rig.gateway.orders().counters().live;
    rig.hears("ANNA", "35=D|11=1|1=A|55=VOD|54=1|");
    for report in [
        "35=8|37=O1|11=1|150=A|39=A|",
        // The order of the venue itself, and the order of the next day.
        "35=8|37=O2|11=1|150=0|39=0|",
        "35=8|37=O3|11=1|150=D|39=0|",
        // A bust of a fill of the same order.
        "35=8|37=O3|11=1|150=H|39=0|",
    ] {
        rig.expect("VENUE", report, &[&format!("ANNA: {report}1=A|")]);
        assert_eq!(live(&rig), 1);
    }
    // A replace with a new OrderID, then a bust and a fill with either OrderID.
    rig.hears("ANNA", "35=G|11=2|41=1|1=A|55=VOD|54=1|");
    rig.hears("VENUE", "35=8|37=O4|11=2|41=1|150=5|39=0|");
    let bust = "35=8|37=O3|11=1|150=H|39=0|";
    rig.expect("VENUE", bust, &[&format!("ANNA: {bust}1=A|")]);
    rig.hears("VENUE", "35=8|37=O3|11=1|150=F|39=2|");
    assert_eq!(live(&rig), 0);
    // A venue that makes its OrderID from the ClOrdID gives it to both orders.
    let mut rig = used_again();
    rig.hears("VENUE", "35=8|37=OLD|11=1|150=0|39=0|");
    assert_eq!(live(&rig), 1);
    rig.hears("VENUE", "35=8|37=OLD|11=1|150=F|39=2|");
    assert_eq!(live(&rig), 0);
}
