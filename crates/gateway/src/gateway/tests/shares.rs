//! No client uses up a limit of the gateway.

use super::*;

const RULES: &str = r#"
[[rule]]
from = ["ANNA", "BERT", "AUDIT"]
do = ['send VENUE']
[[rule]]
from = ["VENUE"]
do = ['return']
"#;
const FULL: &str = "|58=gateway limit reached: message not accepted|";

/// Sends orders until one is rejected; returns the number of accepted orders.
fn fill(rig: &mut Rig, (from, id): (&str, &str), most: usize) -> usize {
    for number in 0..most {
        let out = rig.hears(from, &format!("35=D|11={id}{number}|55=VOD|54=1|38=9|"));
        // For a held order nothing is written yet.
        if let Some(answer) = out.first().filter(|line| line.starts_with(from)) {
            assert!(answer.ends_with(FULL), "{answer}");
            return number;
        }
    }
    most
}

#[test]
fn one_client_leaves_room_for_the_others() {
    let rules = format!("[gateway]\nmax_orders = 100\n{RULES}");
    let mut rig = Rig::new(&rules);
    assert_eq!(fill(&mut rig, ("ANNA", "ANNA"), 1000), 50);
    assert_eq!(
        rig.said(),
        [
            "max_orders: ANNA true 40 of 50",
            "rule 1: this client has reached its share of max_orders (50)"
        ]
    );
    // A cancel of an open order is still sent.
    assert_eq!(
        rig.hears("ANNA", "35=F|41=ANNA1|11=c|55=VOD|54=1|").len(),
        1
    );
    assert_eq!(fill(&mut rig, ("BERT", "x2-"), 1000), 25);
    // The shares are the same after a restart.
    let mut rig = {
        let mut next = Rig::of(&rules, &SESSIONS);
        next.replay(&rig.notes);
        next.wall = rig.wall;
        next.all_log_on();
        next
    };
    assert_eq!(fill(&mut rig, ("BERT", "x3-"), 1), 0);
    assert_eq!(fill(&mut rig, ("AUDIT", "x4-"), 1000), 12);
    // The room of ANNA's closed orders is free for all clients.
    for number in 0..50 {
        rig.hears(
            "VENUE",
            &format!("35=8|37={number}|11=ANNA{number}|150=4|39=4|"),
        );
    }
    assert!(fill(&mut rig, ("BERT", "x5-"), 1000) > 5);
}

#[test]
fn a_client_has_what_its_table_says() {
    let rules = format!(
        "[gateway]\nmax_orders = 100\n[client.ANNA]\nmax_orders = 90\n[client.BERT]\nmax_orders = 3\n{RULES}"
    );
    let mut rig = Rig::new(&rules);
    assert_eq!(fill(&mut rig, ("BERT", "x6-"), 1000), 3);
    assert_eq!(fill(&mut rig, ("ANNA", "x7-"), 1000), 90);
    let said = rig.said();
    assert!(
        said.contains(&"max_orders: ANNA true 72 of 90".to_string()),
        "{said:?}"
    );
    assert!(
        said.contains(&"max_orders: ANNA false 80 of 100".to_string()),
        "{said:?}"
    );
}

#[test]
fn a_client_alone_has_all() {
    let rules = "[gateway]\nmax_orders = 100\n[[rule]]\nfrom = ['ANNA']\ndo = ['send VENUE']\n";
    let mut rig = Rig::new(rules);
    assert_eq!(fill(&mut rig, ("ANNA", "x8-"), 1000), 100);
}

#[test]
fn held_messages_of_one_client_leave_room_for_the_others() {
    for table in ["time_to_live = '1h'", "away = 'hold'"] {
        let rules = format!("[gateway]\nmax_held = '256K'\n[target.VENUE]\n{table}\n{RULES}");
        let mut rig = Rig::of(&rules, &SESSIONS);
        let anna = fill(&mut rig, ("ANNA", "x9-"), 10_000);
        let said = rig.said();
        assert!(said[0].starts_with("max_held: ANNA true "), "{said:?}");
        let bert = fill(&mut rig, ("BERT", "x10-"), 10_000);
        assert!(bert * 3 > anna && bert < anna, "{table}: {anna} {bert}");
        let mut next = Rig::of(&rules, &SESSIONS);
        next.replay(&rig.notes);
        next.wall = rig.wall;
        assert!(fill(&mut next, ("BERT", "x11-"), 10_000) <= 1, "{table}");
        assert!(fill(&mut next, ("AUDIT", "x12-"), 10_000) > 0, "{table}");
        // All room is free again.
        next.log_on("VENUE");
        next.wait(0);
        assert!(fill(&mut next, ("BERT", "x13-"), 100) == 100, "{table}");
    }
}

#[test]
fn what_is_remembered_for_one_client_does_not_drive_out_that_of_another() {
    let rules = RULES
        .replace("'send VENUE'", "'remember Account', 'send VENUE'")
        .replace("'return'", "'recall Account', 'return'");
    let rules = format!("[gateway]\nmax_remembered = '64K'\n{rules}");
    let mut rig = Rig::new(&rules);
    rig.hears("BERT", "35=D|11=b|1=BERT-1|55=VOD|54=1|");
    for number in 0..2000 {
        rig.hears("ANNA", &format!("35=D|11=a{number}|1=X|55=VOD|54=1|"));
    }
    assert!(rig.gateway.remembered().dropped > 0);
    let report = "35=8|37=O|11=b|150=0|39=0|";
    let written = format!("BERT: {report}1=BERT-1|");
    assert_eq!(rig.hears("VENUE", report), [written]);
    let said = rig.said();
    assert!(
        said[0].starts_with("max_remembered: ANNA false "),
        "{said:?}"
    );
    assert_eq!(said.len(), 1);
}

#[test]
fn wrong_shares_are_mistakes_of_the_file() {
    for (table, wanted) in [
        ("[client.NOBODY]\nmax_orders = 5", "NOBODY"),
        (
            "[client.ANNA]\nmax_orders = 101",
            "max_orders must be a number from 1 to 100",
        ),
        (
            "[client.ANNA]\nmax_held = '1G'",
            "max_held must be a number of bytes from 4K to 64M",
        ),
        ("[client.ANNA]\nmax_order = 5", "max_order"),
    ] {
        let text = format!("[gateway]\nmax_orders = 100\n{table}\n{RULES}");
        let errors = load(&text, &SESSIONS, std::boxed::Box::new(|_| {}))
            .err()
            .unwrap();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].to_string().contains(wanted), "{}", errors[0]);
    }
}
