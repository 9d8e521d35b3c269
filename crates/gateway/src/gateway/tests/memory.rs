//! The path of a message allocates no memory.

use super::*;

#[test]
fn the_next_message_takes_no_memory() {
    let rules = format!(
        "[gateway]\nids = \"always\"\n[target.THIRD]\ntime_to_live = 9\n{}{}{}{}{}",
        "[[rule]]\nfrom = ['VENUE']\nwhen = 'MsgType = BC'\ndo = ['answer status']\n",
        "[[on]]\nevent = 'undelivered'\nsession = ['*']\nwhen = 'target = VENUE'\ndo = ['count missed']\n",
        "[[rule]]\nfrom = ['BERT']\nwhen = 'MsgType = B'\ndo = ['send THIRD']\n",
        "[[rule]]\nfrom = ['ANNA']\nwhen = 'Text = \"no\"'\ndo = ['reject \"no ${Symbol}\"']\n",
        PLAIN
            .replace(
                "'convert', 's",
                "'remember Symbol, OrderQty', 'format Account sha256 with \"key\"', 'copy to AUDIT', 'convert', 's"
            )
            .replace(
                "'convert', 'r",
                "'try recall OrderQty, Symbol', 'convert', 'r"
            )
    );
    let mut rig = Rig::new(&rules);
    // A message is held for another session.
    rig.lose("THIRD");
    rig.hears("BERT", "35=B|148=x|");
    assert_eq!(rig.gateway.held().count(), 1);
    let texts = [
        (
            "ANNA",
            "35=D|11=A|109=X|21=1|55=VOD|54=1|60=20261120-09:59:59|38=9|40=1|",
        ),
        (
            "VENUE",
            "35=8|37=V|11=FW1|17=E1|150=0|39=0|55=VOD|54=1|151=9|14=0|6=0|",
        ),
        (
            "ANNA",
            "35=D|11=A|21=1|55=VOD|54=1|60=20261120-09:59:59|38=9|40=1|",
        ),
        ("ANNA", "35=D|11=A|55=VOD|54=1|38=9|58=no|"),
        ("ANNA", "35=F|41=A|11=B|55=VOD|54=1|58=no|"),
        ("VENUE", "35=8|37=V|11=unknown|17=E1|150=0|39=0|"),
        ("VENUE", "35=j|45=1|372=D|379=FW1|380=0|"),
        (
            "VENUE",
            "35=8|37=V|11=FW1|17=E2|150=4|39=4|55=VOD|54=1|151=0|14=0|6=0|",
        ),
        ("BERT", "35=AP|1=x|"),
        ("VENUE", "35=BC|935=1|933=Q|936=1|930=ANNA|"),
    ];
    let messages = texts.map(|(from, text)| {
        let id = rig.id(from);
        (id, message(rig.sessions[id.0 as usize].1, from, text))
    });
    let mut decoder = Decoder::with_capacity(64);
    // In this test the listener ignores events.
    rig.gateway.core.listener = std::boxed::Box::new(|_| {});
    let now = rig.now();
    let mut outbox = Outbox::new(1 << 16, 64, 256);
    let mut all = |count: usize| {
        for _ in 0..count {
            for (from, bytes) in &messages {
                let message = decoder.decode(bytes);
                let done = rig.gateway.on_message(now, *from, &message, &mut outbox);
                assert_eq!(done, Ok(()));
                assert!(!outbox.is_empty());
                outbox.clear();
            }
        }
    };
    // The first messages may allocate memory.
    all(2);
    let counted = allocation_counter::measure(|| all(100));
    assert_eq!(counted.count_total, 0);
    let missed = rig.gateway.counted().next();
    assert!(missed.is_some_and(|(_, count)| count > 200), "{missed:?}");
    let counters = rig.gateway.counters();
    assert!(
        counters.sent > 1 && counters.returned > 1 && counters.rejected > 200,
        "{counters:?}"
    );
}
