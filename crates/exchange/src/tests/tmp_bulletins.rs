//! Bulletins over TMP: an R14 for every logged-in line, and R14 in response to R13.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_tmp::messages::{R13, R14};
use fixwire_tmp::{ClientLinkState, SystemType, TmpFrame};

use super::tmp_desk::{COPY, ONE, TWO, TmpDesk};

/// Takes the R14 that a broker has received: fcm_req_id, bulletin_seq, status and text of each.
fn heard(desk: &mut TmpDesk, at: usize) -> Vec<(u32, u32, u8, String)> {
    let heard = core::mem::take(&mut desk.brokers[at].heard);
    let frames = heard.iter().map(|it| TmpFrame::read(&it.frame).unwrap());
    let frames = frames.map(|frame| {
        assert_eq!(frame.header().msg_seq_num, 0);
        let said = frame.body::<R14<'_>>().unwrap();
        assert_eq!(said.system_type, SystemType::FUTURES_DAY);
        let text = core::str::from_utf8(said.data).unwrap().to_string();
        (said.fcm_req_id, said.bulletin_seq, said.status.0, text)
    });
    frames.collect()
}

fn ask(desk: &mut TmpDesk, id: u32, from: u32) {
    desk.send(
        ONE,
        &R13 {
            fcm_req_id: id,
            bulletin_req_id: from,
            system_type: SystemType::FUTURES_DAY,
            data: b"",
        },
    );
}

fn said(id: u32, number: u32, status: u8, text: &str) -> (u32, u32, u8, String) {
    (id, number, status, text.to_string())
}

#[test]
fn a_bulletin_goes_to_all_lines_with_orders_that_are_logged_in() {
    let mut desk = TmpDesk::with_copies().log_in();
    desk.disconnect(TWO);
    let done = desk.command("bulletin Trading ends early").unwrap();
    assert_eq!(done, "bulletin 1: sent to 2 lines");
    assert_eq!(heard(&mut desk, ONE), [said(0, 1, 0, "Trading ends early")]);
    assert_eq!(heard(&mut desk, TWO), []);
    assert_eq!(heard(&mut desk, COPY), []);
    for wrong in [
        "bulletin",
        "bulletin  ",
        &("bulletin ".to_string() + &"x".repeat(201)),
    ] {
        let error = desk.command(wrong).unwrap_err();
        assert!(error.contains("1 to 200 bytes"), "{error}");
    }
}

#[test]
fn one_request_in_ten_seconds_gets_those_from_its_number_on() {
    let mut desk = TmpDesk::with_copies().log_in();
    ask(&mut desk, 5, 0);
    assert_eq!(heard(&mut desk, ONE), [said(5, 0, 0, "")]);
    for text in ["one", "two", "three"] {
        desk.command(&("bulletin ".to_string() + text)).unwrap();
    }
    heard(&mut desk, ONE);
    desk.sleep(9_900);
    ask(&mut desk, 6, 2);
    assert_eq!(heard(&mut desk, ONE), [said(6, 0, 121, "")]);
    // The refused one does not count.
    desk.sleep(200);
    ask(&mut desk, 7, 2);
    assert_eq!(
        heard(&mut desk, ONE),
        [said(7, 2, 0, "two"), said(7, 3, 0, "three")]
    );
    // A new connection has the same time.
    desk.disconnect(ONE);
    assert_eq!(desk.connect(ONE), ClientLinkState::Ready);
    ask(&mut desk, 8, 0);
    assert_eq!(heard(&mut desk, ONE), [said(8, 0, 121, "")]);
    for _ in 0..8 {
        desk.command("bulletin more").unwrap();
    }
    heard(&mut desk, ONE);
    desk.sleep(10_000);
    ask(&mut desk, 9, 0);
    let kept: Vec<u32> = heard(&mut desk, ONE).iter().map(|it| it.1).collect();
    assert_eq!(kept, (4..=11).collect::<Vec<u32>>());
}
