//! The path of a message allocates no memory.

use fixwire_protocol::Decoder;

use super::{ACTIVE, loaded, message, now, place};
use crate::rules::{Facts, RuleOutcome};

pub const RULES: &str = r#"
[gateway]
match = "all"
[table.venues]
file = "venues.csv"
[[rule]]
from = ["*"]
when = 'MsgType = D and Account matches "^A.*[0-9]{3}$" and any(NoAllocs, AllocShares > 1) and Text like "*x*"'
do = ['set Account "${ClOrdID}-${Symbol}-longer-than-before"', 'each NoAllocs: copy Account to IndividualAllocID', 'copy to AUDIT', 'map Symbol by venues.mic to ExDestination', 'drop entries of NoAllocs where (AllocShares > 1)', 'move Text to Issuer', 'format Issuer pad left 20 " "', 'convert', 'send by table Symbol venues.session', 'notify "${ClOrdID}"', 'count orders']
[[rule]]
from = ["GAMMA"]
do = ['throttle 2 per second else drop', 'return']
[[rule]]
from = ["GAMMA"]
when = 'today(TransactTime) or bits(38, 0x1) or length(Text) > 3 or Symbol in venues.symbol'
do = ['send by DeliverToCompID']
"#;

#[test]
fn the_next_message_takes_no_memory() {
    let rules = loaded(RULES);
    let bytes = message(
        "GAMMA",
        "35=D|128=VENUE|1=A123|11=1|55=VOD|58=axb|78=2|79=A|80=1|79=B|80=2|",
    );
    let mut decoder = Decoder::with_capacity(64);
    let mut scratch = rules.scratch(64, 1024);
    let facts = Facts {
        now: now(),
        active: &ACTIVE,
        remembered: &[],
    };
    let (mut sent, mut failed) = (0, 0);
    let mut each = |_: usize, outcome: RuleOutcome<'_>| match outcome {
        RuleOutcome::Failed { .. } => failed += 1,
        _ => sent += 1,
    };
    let mut evaluate = || {
        let message = decoder.decode(&bytes);
        rules.evaluate(&mut scratch, &message, place("GAMMA"), &facts, &mut each)
    };
    // The first message may allocate memory.
    assert_eq!(evaluate().matched, 3);
    let counted = allocation_counter::measure(|| {
        for _ in 0..100 {
            evaluate();
        }
    });
    assert_eq!(counted.count_total, 0);
    // Copy, send, notify, count, throttled or returned, sent by CompID.
    assert_eq!((sent, failed), (101 * 6, 0));
}
