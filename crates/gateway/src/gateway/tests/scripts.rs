//! Events about scripts.

use super::*;

const FILE: &str = r#"
[script]
large = "msg.OrderQty * msg.Price > 1000"
fill = 'msg.Account = "A" + parse_int(msg.Text);'
[[rule]]
name = "large"
from = ["ANNA"]
when = 'script large'
do = ['reject order "too large"']
[[rule]]
name = "fill"
from = ["ANNA"]
do = ['script fill', 'send BERT']
"#;

#[test]
fn what_fails_is_counted_and_told() {
    let mut rig = Rig::new(FILE);
    let order = "35=D|11=1|55=VOD|54=1|38=9|44=5|58=7|";
    rig.expect(
        "ANNA",
        order,
        &["BERT: 35=D|11=1|55=VOD|54=1|38=9|44=5|58=7|1=A7|"],
    );
    assert_eq!(
        (rig.said().len(), rig.gateway.counters().scripts_failed),
        (0, 0)
    );
    // A condition that cannot be evaluated is false, and the next rule applies.
    let market = "35=D|11=2|55=VOD|54=1|38=9|58=7|";
    rig.expect(
        "ANNA",
        market,
        &["BERT: 35=D|11=2|55=VOD|54=1|38=9|58=7|1=A7|"],
    );
    let why = "large: condition counts as false, since it could not be evaluated: script, line 3: wrong type of value, or a \
               field \
               that is missing";
    assert_eq!(rig.said(), [why]);
    // A failed script action is rejected as any other failed action.
    let written = rig.hears("ANNA", "35=D|11=3|55=VOD|54=1|38=9|44=5|58=x|");
    assert!(
        written.len() == 1 && written[0].starts_with("ANNA: 35=8|"),
        "{written:?}"
    );
    assert!(written[0].ends_with("58=gateway could not process the message|"));
    assert_eq!(
        rig.said(),
        ["fill: action 1 failed: script, line 4: number too large, or division by zero"]
    );
    let counters = rig.gateway.counters();
    assert_eq!((counters.scripts_failed, counters.troubles), (2, 2));
}

#[test]
fn scripts_change_with_the_rules() {
    let mut rig = Rig::new(FILE);
    let other = FILE.replace("> 1000", "> 10");
    let mut new = in_context(&SESSIONS, |context| {
        super::super::Reload::read(&other, context)
    })
    .unwrap();
    rig.gateway.reload(&mut new).unwrap();
    let written = rig.hears("ANNA", "35=D|11=1|55=VOD|54=1|38=9|44=5|58=7|");
    assert!(written[0].contains("58=too large|"), "{written:?}");
}
