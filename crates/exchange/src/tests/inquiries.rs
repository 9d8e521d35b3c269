//! Price inquiries: QuoteRequest(R) over FIX, R07 over TMP.

use alloc::format;

use fixwire_protocol::{Refusal, tag};
use fixwire_tmp::messages::{R07, R08};
use fixwire_tmp::{TmpFrame, TmpStatus, TmpSymbol};

use super::desk::{A, Desk, NEW, OLD};
use super::tmp_desk::{FCM, ONE, TmpDesk};

#[test]
fn an_inquiry_is_taken_or_refused_in_the_words_of_its_version() {
    let mut desk = Desk::new();
    for (from, answer) in [
        (A, "35=AI|131=Q1|117=Q1|55=VOD|297=0|!58|!300"),
        (NEW, "35=AI|131=Q1|117=Q1|55=VOD|297=0|!58"),
        (OLD, "35=b|131=Q1|117=Q1|297=0|!58|!60"),
    ] {
        let said = desk.say(from, "R 131=Q1|146=1|55=VOD");
        assert_eq!((said.len(), said[0].to), (1, from));
        said[0].has(answer);
    }
    let notes = desk.notes.len();
    for (state, code, text) in [
        ("closed", 2, "The instrument is closed"),
        ("halted", 2, "The instrument is halted"),
    ] {
        desk.command(&format!("state {state} VOD")).0.unwrap();
        let said = desk.say(A, "R 131=Q2|146=1|55=VOD");
        said[0].has(&format!("35=AG|131=Q2|658={code}|146=1|55=VOD|58={text}"));
        let said = desk.say(OLD, "R 131=Q2|146=1|55=VOD");
        said[0].has(&format!("35=b|131=Q2|297=5|300={code}|58={text}"));
    }
    let unknown = desk.say(A, "R 131=Q3|146=1|55=NONE");
    unknown[0].has("35=AG|658=1|55=NONE|58=Unknown symbol");
    desk.command("state auction VOD").0.unwrap();
    desk.say(A, "R 131=Q4|146=1|55=VOD")[0].has("35=AI|131=Q4");
    let several = "R 131=Q5|146=2|55=VOD|55=VOD";
    desk.say(A, several)[0].has("35=AG|658=3|58=One symbol a QuoteRequest");
    desk.say(OLD, several)[0].has("35=b|297=5|300=3");
    assert_eq!(desk.notes.len(), notes + 3, "those of the states alone");
    let missing = Refusal::ConditionallyRequiredFieldMissing;
    assert_eq!(desk.ask(A, "R 146=1|55=VOD"), Err(missing(131)));
    assert_eq!(desk.ask(A, "R 131=Q6"), Err(missing(tag::SYMBOL)));
}

#[test]
fn a_fault_refuses_inquiries() {
    let mut desk = Desk::new();
    desk.command("fault reject session=M0 type=R count=1")
        .0
        .unwrap();
    let said = desk.say(A, "R 131=Q1|146=1|55=VOD");
    said[0].has("35=j|372=R|379=Q1|58=Rejected by an injected fault");
    desk.say(A, "R 131=Q1|146=1|55=VOD")[0].has("35=AI|131=Q1");

    let mut desk = TmpDesk::new().log_in();
    let (symbol_type, symbol) = TmpSymbol::Text(b"VOD").field::<20>().unwrap();
    let inquiry = R07 {
        order_no: *b"Q0001",
        ord_id: 4,
        fcm_id: FCM,
        symbol_type,
        symbol,
        order_source: b'D',
        info_source: *b"999",
    };
    let mut ask = |command: &str| {
        if !command.is_empty() {
            desk.command(command).unwrap();
        }
        desk.brokers[ONE].heard.clear();
        desk.send(ONE, &inquiry);
        let frame = &desk.brokers[ONE].heard[0].frame;
        let reply: R08 = TmpFrame::read(frame).unwrap().body().unwrap();
        assert_eq!((reply.order_no, reply.ord_id), (*b"Q0001", 4));
        reply.status
    };
    let exists = "fault reject session=T1 type=R07 status=37 count=1";
    assert_eq!(ask(exists), TmpStatus::INQUIRY_EXISTS);
    assert_eq!(ask(""), TmpStatus::OK);
    assert_eq!(ask("state halted VOD"), TmpStatus::NOT_OPEN);
    assert_eq!(ask("state closed VOD"), TmpStatus::CLOSED);
}
