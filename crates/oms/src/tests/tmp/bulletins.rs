//! Bulletins of the exchange: events for operators, and the command that asks for them.

use fixwire_tmp::messages::{R13, R14};

use super::*;

fn command(floor: &mut Floor, text: &str, (who, why): (&str, &str)) -> Result<String, String> {
    let mut answer = Vec::new();
    let bytes = text.as_bytes();
    let command = fixwire_protocol::OperatorCommand { bytes, who, why };
    let done = floor.tell(|oms, now, outbox| oms.on_command(now, command, &mut answer, outbox));
    floor.work();
    done.map(|()| String::from_utf8(answer).unwrap())
}

fn ask(floor: &mut Floor, text: &str) -> Result<String, String> {
    command(floor, text, ("ann", "opening"))
}

fn bulletin(status: TmpStatus, number: u32, data: &[u8]) -> R14<'_> {
    R14 {
        status,
        bulletin_seq: number,
        system_type: SystemType::FUTURES_DAY,
        data,
        ..R14::default()
    }
}

#[test]
fn a_bulletin_is_an_event_whose_text_cannot_harm_a_terminal() {
    let mut floor = Floor::new();
    floor.events();
    floor.says(&bulletin(TmpStatus::OK, 3, b"Early \x1b[2Jclose\xff"));
    floor.says(&bulletin(TmpStatus::OK, 0, b""));
    floor.says(&bulletin(TmpStatus::BULLETIN_TOO_SOON, 0, b""));
    let long = [b'x'; 150];
    floor.says(&bulletin(TmpStatus::OK, 4, &long));
    assert_eq!(
        floor.events(),
        [
            "line T1: bulletin 3 of the exchange: Early  [2Jclose\u{fffd}".to_string(),
            "line T1: the exchange has no such bulletins".to_string(),
            "line T1: request for bulletins refused with status 121 (Bulletin request too soon after the last one)".to_string(),
            format!("line T1: bulletin 4 of the exchange: {}", "x".repeat(150)),
        ]
    );
    floor.check();
}

#[test]
fn the_command_asks_once_in_ten_seconds() {
    let mut floor = Floor::new();
    let done = ask(&mut floor, "bulletin line=T1 from=7").unwrap();
    assert_eq!(done, "line T1: bulletins asked for; each is an event");
    let frames = core::mem::take(&mut floor.members[0].others);
    let asked: R13<'_> = TmpFrame::read(&frames[0]).unwrap().body().unwrap();
    assert_eq!((asked.fcm_req_id, asked.bulletin_req_id), (1, 7));
    assert_eq!(asked.system_type, SystemType::FUTURES_DAY);
    floor.pass(4 * SECOND);
    let soon = ask(&mut floor, "bulletin line=T1").unwrap_err();
    assert_eq!(
        soon,
        "line T1: the exchange takes one R13 in 10 s: try again in 6 s"
    );
    floor.pass(6 * SECOND);
    ask(&mut floor, "bulletin line=T1").unwrap();
    assert_eq!(floor.members[0].others.len(), 1);
    assert_eq!(floor.numbers(), (0, 0), "it has no MsgSeqNum");
    for wrong in [
        "bulletin",
        "bulletin line=",
        "bulletin T1",
        "bulletin line=T1 from=x",
    ] {
        let error = ask(&mut floor, wrong).unwrap_err();
        assert!(error.contains("give the line"), "{wrong}: {error}");
    }
    let error = ask(&mut floor, "bulletin line=T9").unwrap_err();
    assert!(error.contains("no line T9 over TMP"), "{error}");
    let error = command(&mut floor, "bulletin line=T1", ("ann", "")).unwrap_err();
    assert!(error.contains("reason missing"), "{error}");
    floor.disconnect(0);
    let error = ask(&mut floor, "bulletin line=T1").unwrap_err();
    assert!(error.contains("is not logged in"), "{error}");
    floor.check();
}
