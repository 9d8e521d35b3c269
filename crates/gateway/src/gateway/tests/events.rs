//! What is done when something happens.

use super::*;

#[test]
fn what_an_event_sends_raises_no_other() {
    let mut rig = Rig::new(
        r#"
[[rule]]
from = ["ANNA"]
do = ['send VENUE']
[[on]]
event = "undelivered"
session = ["ANNA"]
do = ['send BACKUP', 'count tries']
[target.VENUE]
away = "reject"
[target.BACKUP]
away = "reject"
"#,
    );
    rig.lose("VENUE");
    rig.lose("BACKUP");
    let written = rig.hears("ANNA", "35=D|11=1|55=VOD|54=1|");
    assert!(
        written.len() == 1 && written[0].contains("58=destination is not available|"),
        "{written:?}"
    );
    assert_eq!(
        rig.said(),
        [
            "rule 1: destination is not available",
            "on 1: destination is not available"
        ]
    );
    assert_eq!(rig.gateway.counted().collect::<Vec<_>>(), [("tries", 1)]);
    // Somebody gets it: there is no reject.
    rig.log_on("BACKUP");
    let order = "35=D|11=2|55=VOD|54=1|";
    rig.expect("ANNA", order, &["BACKUP: 35=D|11=2|55=VOD|54=1|"]);
}

#[test]
fn an_event_happens_once_for_a_message_whatever_goes_wrong() {
    let mut rig = Rig::new(
        r#"
[gateway]
match = "all"
[[rule]]
from = ["ANNA"]
do = ['send VENUE', 'send BACKUP']
[[rule]]
from = ["ANNA"]
do = ['copy Text to Account', 'send VENUE']
[[on]]
event = "undelivered"
session = ["*"]
do = ['count undelivered']
[[on]]
event = "failed"
session = ["ANNA"]
when = 'Symbol = "VOD"'
do = ['count failed']
[[on]]
event = "logon"
session = ["ANNA", "V*"]
do = ['count logons', 'disconnect ANNA']
[target.VENUE]
away = "reject"
[target.BACKUP]
away = "reject"
"#,
    );
    assert_eq!(rig.said(), ["on 3: disconnect ANNA"; 2]);
    rig.lose("VENUE");
    rig.lose("BACKUP");
    rig.hears("ANNA", "35=D|11=1|55=VOD|54=1|");
    rig.hears("ANNA", "35=D|11=2|55=SAP|54=1|58=x|");
    rig.hears("BERT", "35=D|11=2|55=SAP|54=1|58=x|");
    let counted: Vec<_> = rig.gateway.counted().collect();
    assert_eq!(counted, [("undelivered", 3), ("failed", 1), ("logons", 2)]);
}

#[test]
fn sessions_are_connected_by_rules_and_by_events() {
    let mut rig = Rig::new(
        r#"
[[rule]]
name = "news"
from = ["ANNA"]
when = 'MsgType = News'
do = ['connect BACKUP', 'stop']
[[rule]]
from = ["ANNA"]
do = ['connect VENUE', 'send VENUE']
[[on]]
event = "disconnect"
session = ["VENUE"]
do = ['connect BACKUP', 'connect VENUE']
[[on]]
event = "failed"
session = ["BERT"]
do = ['connect THIRD']
[[rule]]
from = ["BERT"]
do = ['copy Text to Account', 'send VENUE']
"#,
    );
    rig.expect("ANNA", "35=B|148=x|", &[]);
    assert_eq!(rig.said(), ["news: connect BACKUP"]);
    let order = "35=D|11=1|55=VOD|54=1|";
    rig.expect("ANNA", order, &["VENUE: 35=D|11=1|55=VOD|54=1|"]);
    assert_eq!(rig.said(), ["rule 2: connect VENUE"]);
    rig.lose("VENUE");
    assert_eq!(rig.said(), ["on 1: connect BACKUP", "on 1: connect VENUE"]);
    rig.hears("BERT", order);
    assert_eq!(rig.said()[1..], ["on 2: connect THIRD"]);
}

#[test]
fn conversions_for_events_are_made_at_load() {
    let file = r#"
[[rule]]
from = ["ANNA"]
do = ['copy Account to ClientID', 'send BERT']
[[on]]
event = "failed"
session = ["ANNA"]
do = ['convert', 'send VENUE']
"#;
    let mut rig = Rig::new(file);
    let written = rig.hears(
        "ANNA",
        "35=D|11=1|109=X|21=1|55=VOD|54=1|60=20261120-10:00:00|38=9|40=1|",
    );
    assert_eq!(
        written,
        [
            "VENUE: 35=D|11=1|453=1|448=X|447=D|452=3|21=1|55=VOD|54=1|60=20261120-10:00:00|38=9|40=1|"
        ]
    );
}
