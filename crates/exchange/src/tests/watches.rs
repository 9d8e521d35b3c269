//! Trading states for members that request them, once and with each change.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::{Application, Mono, Now, Outbox, Parting, PeerLogout, Refusal, Timestamp};
use fixwire_tmp::messages::{R11, R12};
use fixwire_tmp::{TmpFrame, TmpStatus};

use super::desk::{A, B, Desk, OLD, Said};
use super::tmp_desk::{ONE, TmpDesk};

fn texts(said: &[Said]) -> Vec<&str> {
    said.iter().map(|it| it.text.as_str()).collect()
}

#[test]
fn a_member_hears_of_states_as_long_as_it_wants() {
    let mut desk = Desk::new();
    let said = desk.say(A, "e 324=S1|55=VOD|263=1");
    assert_eq!(texts(&said), ["35=f|324=S1|55=VOD|326=17|"]);
    let said = desk.say(OLD, "g 335=T1|336=X|263=1");
    assert_eq!(texts(&said), ["35=h|335=T1|336=X|340=2|"]);
    let said = desk.say(B, "g 335=T1|263=0");
    assert_eq!(texts(&said), ["35=h|335=T1|336=1|340=2|"]);
    let state = |desk: &mut Desk, state: &str| {
        let (done, said) = desk.command(&format!("state {state}"));
        done.unwrap();
        let all: Vec<(u32, String)> = said.into_iter().map(|it| (it.to.0, it.text)).collect();
        all
    };
    let f = |status: u32| (A.0, format!("35=f|324=S1|55=VOD|326={status}|"));
    let h = |status: u32| (OLD.0, format!("35=h|335=T1|336=X|340={status}|"));
    assert_eq!(state(&mut desk, "halted *"), [f(2), h(1)]);
    assert_eq!(state(&mut desk, "halted *"), [], "nothing changes");
    assert_eq!(state(&mut desk, "auction *"), [f(21), h(4)]);
    assert_eq!(state(&mut desk, "closed *"), [f(18), h(3)]);
    // The furthest open of all counts for the session.
    assert_eq!(state(&mut desk, "continuous VOD"), [f(17), h(2)]);
    assert_eq!(desk.say(A, "e 324=S1|55=VOD|263=2"), []);
    assert_eq!(state(&mut desk, "halted VOD"), [h(1)]);
    let mut outbox = Outbox::new(1 << 10, 8, 256);
    let now = Now {
        wall: Timestamp(0),
        mono: Mono::default(),
    };
    desk.exchange
        .on_disconnect(now, OLD, Parting::Lost, PeerLogout::NONE, &mut outbox);
    assert_eq!(state(&mut desk, "continuous VOD"), []);
    let said = desk.say(A, "e 324=S2|55=NONE|263=0");
    assert_eq!(texts(&said), ["35=f|324=S2|55=NONE|326=20|"]);
    let missing = Refusal::ConditionallyRequiredFieldMissing;
    assert_eq!(desk.ask(A, "e 324=S2|55=VOD"), Err(missing(263)));
    let wrong = Refusal::ValueOutOfRange(263);
    assert_eq!(desk.ask(A, "g 335=T1|263=7"), Err(wrong));
    desk.command("fault reject session=M0 type=e count=1")
        .0
        .unwrap();
    desk.say(A, "e 324=S3|55=VOD|263=0")[0].has("35=j|372=e|379=S3");
}

#[test]
fn a_tmp_member_gets_r12_with_each_change() {
    let mut desk = TmpDesk::new().log_in();
    let asked = R11 {
        trade_req_id: 9,
        flow_group: 3,
        request_type: 1,
        ..R11::default()
    };
    let heard = |desk: &mut TmpDesk| {
        let heard = core::mem::take(&mut desk.brokers[ONE].heard);
        let read = heard.iter().map(|it| {
            let said: R12 = TmpFrame::read(&it.frame).unwrap().body().unwrap();
            assert_eq!(said.status, TmpStatus::OK);
            (said.trade_req_id, said.flow_group, said.trade_status)
        });
        read.collect::<Vec<_>>()
    };
    desk.brokers[ONE].heard.clear();
    desk.send(ONE, &asked);
    assert_eq!(heard(&mut desk), [(9, 3, 3)]);
    for (state, code) in [("auction", 2), ("closed", 4), ("continuous", 3)] {
        desk.command(&format!("state {state} *")).unwrap();
        assert_eq!(heard(&mut desk), [(9, 3, code)], "{state}");
    }
    // Only the state now, and no more changes.
    let once = R11 {
        request_type: 0,
        ..asked
    };
    desk.send(ONE, &once);
    assert_eq!(heard(&mut desk), [(9, 3, 3)]);
    desk.command("state closed *").unwrap();
    assert_eq!(heard(&mut desk), []);
    // They end with the connection.
    desk.send(ONE, &asked);
    assert_eq!(heard(&mut desk), [(9, 3, 4)]);
    desk.disconnect(ONE);
    desk.connect(ONE);
    desk.brokers[ONE].heard.clear();
    desk.command("state continuous *").unwrap();
    assert_eq!(heard(&mut desk), []);
}
