//! A reload of rules keeps the orders.

use super::super::{NotReloaded, Reload};
use super::*;

fn read(text: &str, sessions: &[(&'static str, Version)]) -> Result<Reload, Vec<RuleError>> {
    in_context(sessions, |context| Reload::read(text, context))
}

const COUNTING: &str = r#"
[[rule]]
name = "out"
from = ["ANNA", "BERT"]
do = ['count orders', 'count out', 'convert', 'send VENUE']
[[rule]]
name = "back"
from = ["VENUE"]
do = ['convert', 'return']
"#;

const ORDER: &str = "35=D|109=X|21=1|55=VOD|54=1|60=20261120-09:59:59|38=9|40=1|440=C|";

fn order(id: &str) -> String {
    ORDER.replace("35=D|", &format!("35=D|11={id}|"))
}

#[test]
fn orders_and_counts_outlive_the_rules() {
    let mut rig = Rig::new(COUNTING);
    assert!(rig.hears("ANNA", &order("A"))[0].starts_with("VENUE: 35=D|11=A|"));
    let next = COUNTING
        .replace("send VENUE", "send BACKUP")
        .replace("'count out', ", "")
        + "[target.BACKUP]\naway = 'reject'\nids = 'always'\n";
    let mut new = read(&next, &SESSIONS).unwrap();
    assert_eq!(rig.gateway.reload(&mut new), Ok(()));
    assert_eq!(new.rules().counters(), ["orders", "out"]);
    // The order goes out with a rewritten id, as the new file requires.
    let sent = rig.hears("ANNA", &order("B"));
    assert!(sent[0].starts_with("BACKUP: 35=D|11=FW1|"), "{sent:?}");
    // A report of the first order finds its client.
    let report = "35=8|37=V|11=A|17=E1|150=0|39=0|55=VOD|54=1|151=9|14=0|6=0|";
    let back = rig.hears("VENUE", report);
    assert!(back[0].starts_with("ANNA: 35=8|37=V|11=A|"), "{back:?}");
    assert_eq!(rig.gateway.matched(), [1, 1]);
    let counted: Vec<_> = rig.gateway.counted().collect();
    assert_eq!(counted, [("orders", 2)]);
    let lost: u64 = rig.gateway.losses().map(|(.., lost)| lost.of(440)).sum();
    assert_eq!((lost, rig.gateway.counters().sent), (2, 2));
    rig.lose("BACKUP");
    rig.hears("ANNA", &order("C"));
    assert_eq!(rig.said(), ["out: destination is not available"]);

    // A restart with the new file gives the same state.
    let mut second = Rig::of(&next, &SESSIONS);
    second.replay(&rig.notes);
    let hash = |rig: &Rig| rig.gateway.orders().state_hash();
    assert_eq!(hash(&second), hash(&rig));
}

#[test]
fn what_needs_a_restart_leaves_the_rules_as_they_were() {
    let mut rig = Rig::new(PLAIN);
    let other_rules = PLAIN.replace("send VENUE", "send BACKUP");
    let mut fewer = read(&PLAIN.replace(", \"THIRD\"", ""), &SESSIONS[..5]).unwrap();
    assert_eq!(rig.gateway.reload(&mut fewer), Err(NotReloaded::Sessions));
    let mut versions = SESSIONS;
    versions[3].1 = Version::Fix50Sp2;
    let mut other = read(&other_rules, &versions).unwrap();
    assert_eq!(rig.gateway.reload(&mut other), Err(NotReloaded::Sessions));
    for limits in ["max_orders = 7", "ids = 'always'", "forget_after_days = 1"] {
        let text = format!("[gateway]\n{limits}\n{other_rules}");
        let mut other = read(&text, &SESSIONS).unwrap();
        assert_eq!(rig.gateway.reload(&mut other), Err(NotReloaded::Limits));
    }
    assert!(read(&PLAIN.replace("convert", "konvert"), &SESSIONS).is_err());
    let sent = rig.hears("ANNA", &order("A"));
    assert!(sent[0].starts_with("VENUE: 35=D|11=A|"), "{sent:?}");
}
