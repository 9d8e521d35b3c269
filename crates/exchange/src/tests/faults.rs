//! Injected faults: what members receive, and that the books are unaffected.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::sync::Mutex;

use fixwire_protocol::Application;

use super::desk::{A, B, Desk, Said, config};
use crate::{WireControl, WireFault, WireFaults};

fn order(id: u32) -> String {
    format!("D 11={id}|55=VOD|54=1|38=1|40=2|44=10")
}

fn fault(desk: &mut Desk, words: &str) -> Vec<Said> {
    let (answer, said) = desk.command(&format!("fault {words}"));
    answer.unwrap();
    said
}

fn ids(said: &[Said]) -> Vec<&str> {
    said.iter().map(|it| it.fields()[&11]).collect()
}

#[test]
fn a_report_is_dropped_and_only_one_when_that_is_said() {
    let mut desk = Desk::new();
    fault(&mut desk, "drop session=M0 type=8 count=1");
    assert_eq!(desk.say(B, &order(1)).len(), 1, "of another member");
    desk.say(A, "F 11=9|41=8")[0].has("35=9");
    assert!(desk.say(A, &order(1)).is_empty());
    assert_eq!(desk.say(A, &order(2)).len(), 1);
    assert_eq!(desk.exchange.open(), (3, 0));
    assert_eq!(desk.query("faults"), Ok(String::new()));
}

#[test]
fn a_report_is_sent_twice() {
    let mut desk = Desk::new();
    fault(&mut desk, "duplicate count=1");
    let said = desk.say(A, &order(1));
    assert_eq!(said.len(), 2);
    assert_eq!(said[0], said[1]);
    assert_eq!(desk.say(A, &order(2)).len(), 1);
}

#[test]
fn reports_behind_a_delayed_one_wait_and_those_of_others_do_not() {
    let mut desk = Desk::new();
    fault(&mut desk, "delay ms=50 session=M0 count=1");
    assert!(desk.say(A, &order(1)).is_empty());
    assert!(desk.say(A, &order(2)).is_empty());
    assert_eq!(ids(&desk.say(B, &order(3))), ["3"]);
    desk.sleep(49);
    assert_eq!(desk.pass(), (true, Vec::new()));
    desk.sleep(1);
    let (again, said) = desk.pass();
    assert_eq!((again, ids(&said)), (false, ["1", "2"].to_vec()));
}

#[test]
fn a_report_goes_behind_the_next_one() {
    let mut desk = Desk::new();
    fault(&mut desk, "reorder session=M0 count=1");
    assert!(desk.say(A, &order(1)).is_empty());
    assert_eq!(ids(&desk.say(B, &order(7))), ["7"]);
    assert_eq!(ids(&desk.say(A, &order(2))), ["2", "1"]);
    assert_eq!(
        desk.again(config()).state_hash(),
        desk.exchange.state_hash()
    );
}

#[test]
fn a_stalled_member_hears_all_when_the_fault_is_lifted_or_the_exchange_starts_again() {
    let mut desk = Desk::new();
    fault(&mut desk, "stall session=M0");
    assert!(desk.say(A, &order(1)).is_empty());
    assert_eq!(ids(&desk.say(B, &order(5))), ["5"]);
    assert!(desk.say(A, &order(2)).is_empty());
    assert_eq!(desk.pass(), (false, Vec::new()));
    let mut next = Desk::new();
    next.exchange = desk.again(config());
    assert_eq!(next.exchange.state_hash(), desk.exchange.state_hash());
    assert_eq!(ids(&next.pass().1), ["1", "2"]);
    assert_eq!(ids(&fault(&mut desk, "clear")), ["1", "2"]);
    assert_eq!(desk.exchange.open(), (3, 0));
}

#[test]
fn a_request_is_rejected_and_does_not_reach_the_books() {
    let mut desk = Desk::new();
    fault(&mut desk, "reject type=D count=2");
    let said = desk.say(A, &order(1));
    assert_eq!(said.len(), 1);
    said[0].has("35=j|45=2|372=D|379=1|380=4");
    desk.say(A, "F 11=9|41=8")[0].has("35=9");
    desk.say(B, &order(7))[0].has("35=j|379=7");
    assert_eq!(desk.say(A, &order(1)).len(), 1);
    assert_eq!(desk.exchange.open(), (1, 0));
}

#[test]
fn chance_is_the_same_for_the_same_seed() {
    let play = |seed: u32| -> Vec<String> {
        let mut desk = Desk::new();
        fault(&mut desk, &format!("drop percent=30 seed={seed}"));
        let said = (0..200).flat_map(|id| desk.say(A, &order(id)));
        said.map(|it| it.fields()[&11].to_string()).collect()
    };
    let heard = play(7);
    assert_eq!(heard, play(7));
    assert_ne!(heard, play(8));
    assert!((120..160).contains(&heard.len()), "{}", heard.len());
}

#[test]
fn faults_hold_from_the_start_when_the_configuration_has_them() {
    let mut desk = Desk::of(crate::ExchangeConfig {
        faults: ["drop count=1".to_string()].into(),
        ..config()
    });
    assert!(desk.say(A, &order(1)).is_empty());
    assert_eq!(desk.say(A, &order(2)).len(), 1);
    let wrong = crate::ExchangeConfig {
        faults: ["break".to_string()].into(),
        ..config()
    };
    let error = crate::Exchange::new(wrong, []).unwrap_err();
    assert!(
        error.to_string().contains("unknown fault \"break\""),
        "{error}"
    );
}

#[test]
fn faults_are_listed_and_what_is_none_is_refused() {
    let mut desk = Desk::new();
    fault(&mut desk, "delay ms=5 count=3 type=8");
    fault(&mut desk, "stall");
    let listed = "delay ms=5 type=8 count=3\nstall\n";
    assert_eq!(desk.query("faults"), Ok(listed.into()));
    for (words, why) in [
        ("break", "unknown fault \"break\""),
        ("drop count=0", "count=0 is not a number from 1"),
        (
            "drop percent=101",
            "percent=101 is not a number from 1 to 100",
        ),
        ("drop often", "\"often\" is not part of a fault"),
        ("drop session=", "\"session=\" is not part of a fault"),
    ] {
        let error = desk.command(&format!("fault {words}")).0.unwrap_err();
        assert!(error.contains(why), "{error}");
    }
}

#[derive(Debug, Default)]
struct Wire(Mutex<WireFaults>);

impl WireControl for Wire {
    fn change(&self, change: &mut dyn FnMut(&mut WireFaults)) {
        change(&mut self.0.lock().unwrap());
    }
}

#[test]
fn faults_of_the_wire_are_given_to_it_and_meet_what_they_name() {
    let wire = Arc::new(Wire::default());
    let mut desk = Desk::of(crate::ExchangeConfig {
        faults: ["gap session=M1 type=0".to_string()].into(),
        wire: Some(wire.clone()),
        ..config()
    });
    let meet = |session: &str, msg_type: &str| {
        let mut faults = wire.0.lock().unwrap();
        faults.meet(session, msg_type.as_bytes())
    };
    assert_eq!(meet("M0", "0"), None);
    assert_eq!(meet("M1", "8"), None);
    assert_eq!(meet("M1", "0"), Some(WireFault::Gap));
    fault(&mut desk, "clear");
    assert_eq!(meet("M1", "0"), None);
    for (words, suffers) in [
        ("checksum count=2", WireFault::CheckSum),
        ("gap count=2", WireFault::Gap),
        ("logout count=2", WireFault::Logout),
        ("disconnect count=2", WireFault::Disconnect),
    ] {
        fault(&mut desk, words);
        // Session messages are not affected, unless their type is named.
        assert_eq!(meet("M0", "0"), None);
        assert_eq!(meet("M0", "8"), Some(suffers));
        let left = words.replace('2', "1") + "\n";
        assert_eq!(desk.query("faults"), Ok(left));
        assert_eq!(meet("M1", "9"), Some(suffers));
        assert_eq!(meet("M1", "9"), None);
    }
    // The exchange itself does nothing else for them.
    fault(&mut desk, "gap");
    fault(&mut desk, "drop count=1");
    assert_eq!(desk.query("faults"), Ok("drop count=1\ngap\n".into()));
    assert!(desk.say(A, &order(1)).is_empty());
    assert_eq!(desk.say(A, &order(2)).len(), 1);
    let cleared = desk.command("fault clear").0;
    assert_eq!(cleared, Ok("1 fault cleared".into()));
    let error = Desk::new().command("fault gap").0.unwrap_err();
    assert!(error.contains("run it with fixwire sim"), "{error}");
}

#[test]
fn a_report_comes_again_later_and_another_one_with_other_values() {
    let mut desk = Desk::new();
    fault(&mut desk, "repeat session=M0 count=1 ms=50");
    let first = desk.say(A, &order(1));
    assert_eq!(ids(&desk.say(A, &order(2))), ["2"]);
    desk.sleep(50);
    assert_eq!(desk.pass().1, first, "once more");
    desk.sleep(500);
    assert_eq!(desk.pass().1, []);
    fault(
        &mut desk,
        "change session=M0 type=8 count=1 set=14:1 set=151: set=58:Odd",
    );
    let said = desk.say(A, &order(3));
    said[0].has("11=3|14=1|58=Odd|!151");
    desk.say(A, "H 11=3|55=VOD|54=1")[0].has("14=0|151=1");
    assert_eq!(
        desk.again(config()).state_hash(),
        desk.exchange.state_hash()
    );
    for (words, why) in [
        ("change", "change needs a value to set"),
        ("change set=14", "write set=TAG:VALUE"),
        ("change set=x:1", "write set=TAG:VALUE"),
        ("drop set=14:1", "only change has values to set"),
    ] {
        let said = desk.command(&format!("fault {words}")).0.unwrap_err();
        assert!(said.contains(why), "{said}");
    }
}
