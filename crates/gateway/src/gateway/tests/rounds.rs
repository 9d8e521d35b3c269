//! Routing loops between gateways end.

use super::*;

/// Sends every message of PEER back to PEER.
const BOUNCE: &str = "[[rule]]\nname = 'bounce'\nfrom = ['PEER']\ndo = ['send PEER']\n";

/// Number of messages that two gateways exchange because of one message; each is the other's PEER.
fn exchange(rules: [&str; 2], version: Version, first: &str) -> (usize, Vec<String>) {
    let mut rigs = rules.map(|rules| {
        let mut rig = Rig::of(rules, &[("PEER", version)]);
        rig.all_log_on();
        rig
    });
    let mut under_way = vec![(0, first.to_string())];
    let mut count = 0;
    while let Some((to, text)) = under_way.pop() {
        count += 1;
        assert!(count < 1000, "without an end: {text}");
        let written = rigs[to].hears("PEER", &text);
        under_way.extend(written.into_iter().map(|line| {
            let (_, text) = line.split_once(": ").unwrap();
            (1 - to, text.to_string())
        }));
    }
    (count, rigs.iter().flat_map(Rig::said).collect())
}

#[test]
fn two_gateways_that_bounce_exchange_few_messages() {
    let order = "35=D|11=loop-1|21=1|55=VOD|54=1|60=20261120-10:00:00|38=9|40=1|";
    for ids in ["collision", "always", "pass"] {
        let rules = format!("[gateway]\nids = '{ids}'\n{BOUNCE}");
        for version in [Version::Fix42, Version::Fix44] {
            for first in [
                order,
                "35=F|41=loop-0|11=loop-1|55=VOD|54=1|60=20261120-10:00:00|",
                "35=8|37=O|11=loop-1|17=E1|20=0|150=0|39=0|55=VOD|54=1|151=9|14=0|6=0|",
                "35=V|262=loop-1|263=0|264=1|267=1|269=0|146=1|55=VOD|",
                "35=B|148=news|33=1|58=all|",
            ] {
                // Market data requests without TransactTime differ only by their ids, which are rewritten here: no loop
                // is detected.
                if ids == "always" && first.starts_with("35=V") {
                    continue;
                }
                let (count, said) = exchange([&rules, &rules], version, first);
                // Each gateway writes other numbers into a reject j, so the two ends of a loop begin rounds of their own.
                let most = if first.starts_with("35=V") || first.starts_with("35=B") {
                    40
                } else {
                    20
                };
                assert!(count <= most, "{ids} {first}: {count}");
                assert!(!said.is_empty(), "{ids} {first}");
            }
        }
    }
    // The event names the rule.
    let rules = ["G", "H"]
        .map(|prefix| format!("[gateway]\nids = 'always'\nid_prefix = '{prefix}'\n{BOUNCE}"));
    let (_, said) = exchange([&rules[0], &rules[1]], Version::Fix42, order);
    assert_eq!(
        said,
        [
            "bounce: routing loop detected",
            "no rule: routing loop: response of the gateway came back"
        ]
    );
}

#[test]
fn an_answer_of_the_gateway_is_not_matched_by_rules() {
    let rules =
        "[[rule]]\nfrom = ['ANNA']\nwhen = 'MsgType = ExecutionReport'\ndo = ['send VENUE']\n";
    let mut rig = Rig::new(rules);
    let answer = rig.hears("ANNA", "35=D|11=1|55=VOD|54=1|38=9|");
    rig.said();
    let (_, text) = answer[0].split_once(": ").unwrap();
    assert_eq!(rig.hears("ANNA", text), Vec::<String>::new());
    assert_eq!(
        rig.said(),
        ["no rule: routing loop: response of the gateway came back"]
    );
    assert_eq!(rig.gateway.counters().came_back, 1);
    // A report that differs is matched by the rule.
    let other = text.replace("|38=9|", "|38=8|");
    assert_eq!(rig.hears("ANNA", &other), [format!("VENUE: {other}")]);
}

#[test]
fn sessions_that_trade_with_each_other_are_not_stopped() {
    let rules = "[[rule]]\nfrom = ['ANNA']\ndo = ['send BERT']\n[[rule]]\nfrom = ['BERT']\ndo = ['send ANNA']\n";
    let mut rig = Rig::new(rules);
    for number in 0..100 {
        for (from, to) in [("ANNA", "BERT"), ("BERT", "ANNA")] {
            // Equal quote requests of both sessions, and equal orders at different times.
            for text in [
                format!("35=R|131={from}{number}|146=1|55=VOD|"),
                format!(
                    "35=D|11={from}{number}|21=1|55=VOD|54=1|60=20261120-10:00:00.{number:03}|38=9|40=1|"
                ),
            ] {
                assert_eq!(rig.hears(from, &text), [format!("{to}: {text}")]);
            }
        }
    }
    assert_eq!(rig.said(), Vec::<String>::new());
}

fn remarks(text: &str) -> Vec<String> {
    let rig = Rig::of(text, &SESSIONS);
    let remarks = rig.gateway.remarks().iter();
    let shown = remarks.map(|one| {
        let line = one.line.map_or(String::new(), |line| format!("{line}: "));
        let kind = if one.is_warning { "warning" } else { "note" };
        format!("{kind}: {line}{}", one.text)
    });
    shown.collect()
}

#[test]
fn a_file_is_told_what_its_rules_do() {
    let rejected = "note: mass requests (q, AF, CA) are rejected: no rule names their MsgType";
    assert_eq!(remarks(PLAIN), [rejected]);
    let plain = PLAIN.replace("'convert', ", "");
    assert_eq!(
        remarks(&plain),
        [
            "warning: 2: 'out' sends FIX.4.2 messages of 'ANNA' to the FIX.4.4 session 'VENUE' without 'convert'",
            "warning: 2: 'out' sends FIX.4.2 messages of 'BERT' to the FIX.4.4 session 'VENUE' without 'convert'",
            rejected
        ]
    );
    assert_eq!(
        remarks("[[rule]]\nname = 'bounce'\nfrom = ['VENUE']\ndo = ['send VENUE']\n"),
        [
            "warning: 1: 'bounce' routes messages of 'VENUE' back to their source",
            rejected
        ]
    );
    let rules = "[target.BACKUP]\nids = 'pass'\n[[rule]]\nname = 'all'\nfrom = ['VENUE']\nwhen = 'MsgType = OrderMassStatusRequest'\ndo = ['send BACKUP']\n";
    assert_eq!(
        remarks(rules),
        [
            "warning: 3: 'all' sends to 'BACKUP', but no rule handles the responses of 'BACKUP': add \
             a rule with from = [\"BACKUP\"] and do = ['return']",
            "note: 3: 'all' forwards AF, which may affect the orders of all clients at the \
             destination",
            "note: mass requests (q, CA) are rejected: no rule names their MsgType",
            "note: ids = \"pass\" for 'BACKUP': its orders are not tracked, so one client can \
             affect the orders of another"
        ]
    );
}
