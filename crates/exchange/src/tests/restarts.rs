//! The exchange after a restart, from its notes or from a checkpoint of them.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::{Application, Refusal, Timestamp};

use super::desk::{A, B, Desk, NEW, config, decimal, exchange, sessions};

/// A conversation with every kind of request.
fn busy() -> Desk {
    let mut desk = Desk::new();
    for (from, message) in [
        (A, "D 11=1|55=VOD|54=2|38=10|40=2|44=10"),
        (A, "D 11=2|55=VOD|54=2|38=30|40=2|44=10|111=4"),
        (B, "D 11=1|55=VOD|54=1|38=12|40=2|44=10"),
        (B, "D 11=2|55=VOD|54=1|38=5|40=4|44=12|99=11"),
        (NEW, "D 11=N|55=BTC|54=1|38=1.5|40=2|44=100.5|59=1|1=ACC"),
        (NEW, "G 11=N2|41=N|55=BTC|54=1|38=1.2|40=2|44=100"),
        (A, "F 11=3|41=1|55=VOD|54=2"),
        (A, "D 11=4|55=XYZ|54=1|38=1|40=1"),
    ] {
        desk.say(from, message);
    }
    desk.command("state halted BTC").0.unwrap();
    desk.command("band 6 18 VOD").0.unwrap();
    desk
}

#[test]
fn notes_make_the_same_market() {
    let desk = busy();
    let before = desk.exchange.state_hash();
    assert!(before.is_some());
    let again = desk.again(config());
    assert_eq!(again.state_hash(), before);
    assert_eq!(desk.ledger().hash(), before.unwrap());
    let mut answer = Vec::new();
    again
        .on_query(fixwire_protocol::Now::default(), b"book VOD", &mut answer)
        .unwrap();
    assert_eq!(
        String::from_utf8(answer),
        Ok(desk.query("book VOD").unwrap())
    );
    // Fewer notes make another one.
    let mut fewer = busy();
    fewer.notes.pop();
    assert_ne!(fewer.again(config()).state_hash(), before);
}

#[test]
fn a_checkpoint_and_the_notes_behind_it_make_the_same_market() {
    let mut desk = busy();
    let mut state = Vec::new();
    desk.ledger()
        .write(&mut |bytes| state.extend_from_slice(bytes));
    let behind = desk.notes.len();
    desk.say(B, "D 11=9|55=VOD|54=1|38=20|40=2|44=11");
    desk.say(A, "F 11=9|41=2|55=VOD|54=2");
    let mut again = exchange(config());
    again.on_checkpoint(1, &state).unwrap();
    for note in &desk.notes[behind..] {
        again.on_note(Timestamp::default(), note);
    }
    assert_eq!(again.state_hash(), desk.exchange.state_hash());
    // A cut state is refused and changes nothing, a changed one is refused or another state.
    let mut empty = exchange(config());
    let before = empty.state_hash();
    for at in [0, 9, state.len() / 2, state.len() - 1] {
        let mut damaged = state.clone();
        damaged[at] ^= 1;
        let mut other = exchange(config());
        let is_same = other.on_checkpoint(1, &damaged).is_ok()
            && other.state_hash() == desk.exchange.state_hash();
        assert!(!is_same, "byte {at}");
        assert!(empty.on_checkpoint(1, &state[..at]).is_err(), "cut at {at}");
    }
    for version in [0, 2, 5] {
        let refused = empty.on_checkpoint(version, &state).unwrap_err();
        assert!(
            refused.contains(&alloc::format!(
                "has version {version}, and this build reads version 1"
            )),
            "{refused}"
        );
    }
    assert_eq!(empty.state_hash(), before);
}

#[test]
fn reports_that_find_no_room_are_sent_later_and_survive_a_restart() {
    let mut desk = Desk::new().with_room(4000, 12);
    for id in 0..20 {
        desk.say(A, &alloc::format!("D 11={id}|55=VOD|54=2|38=1|40=2|44=10"));
    }
    let mut said = desk.say(B, "D 11=B|55=VOD|54=1|38=20|40=2|44=10");
    let (_, waiting) = desk.exchange.open();
    assert!(waiting > 20, "{waiting}");
    // The process ends here: what was not written is written by the next one.
    let mut next = Desk::new().with_room(4000, 12);
    next.exchange = desk.again(config());
    assert_eq!(next.exchange.open(), desk.exchange.open());
    assert_eq!(next.exchange.state_hash(), desk.exchange.state_hash());
    loop {
        let (again, more) = next.pass();
        said.extend(more);
        if !again {
            break;
        }
    }
    let mut ids: Vec<u64> = said
        .iter()
        .map(|it| it.fields()[&17].parse().unwrap())
        .collect();
    assert_eq!(
        ids.len(),
        41,
        "one is accepted, twenty trades have two sides"
    );
    ids.dedup();
    assert_eq!(ids, (21..=61).collect::<Vec<_>>());
    assert_eq!(next.exchange.open(), (0, 0));
}

#[test]
fn a_changed_file_takes_effect_at_the_next_start() {
    let mut desk = busy();
    // Another tick cancels the orders; an instrument that is no longer there too; a band stays as the operator
    // has set it unless the file changes it.
    let mut other = config();
    other.instruments[1].tick = decimal("0.25");
    other.instruments[0].reference = Some(decimal("10"));
    desk.exchange = desk.again(other);
    let (_, said) = desk.pass();
    assert_eq!(said.len(), 1);
    said[0].has("11=N2|150=4|39=4|58=The tick or lot of the instrument has changed|44=100.0");
    desk.say(A, "D 11=7|55=VOD|54=1|38=1|40=2|44=19")[0].has("150=8");
    desk.say(NEW, "D 11=7|55=BTC|54=1|38=1|40=2|44=19.25")[0].has("150=0");
    let mut fewer = config();
    fewer.instruments.truncate(1);
    fewer.instruments[0].high = Some(decimal("19"));
    desk.exchange = desk.again(fewer);
    let (_, said) = desk.pass();
    assert_eq!(said.len(), 1);
    said[0].has("11=7|150=4|58=The instrument is no longer traded");
    desk.say(A, "D 11=8|55=VOD|54=1|38=1|40=2|44=19")[0].has("150=0");
    desk.say(A, "D 11=9|55=BTC|54=1|38=1|40=2|44=19")[0].has("150=8|103=1");
    // And back again: it begins anew.
    desk.exchange = desk.again(config());
    desk.pass();
    desk.say(A, "D 11=9|55=BTC|54=1|38=1|40=2|44=19")[0].has("150=0");
}

#[test]
fn nothing_more_is_said_once_a_note_cannot_be_read() {
    let mut desk = busy();
    desk.notes.push(b"? what".to_vec());
    desk.exchange = desk.again(config());
    let refused = desk.ask(A, "D 11=7|55=VOD|54=1|38=1|40=1");
    assert_eq!(refused, Err(Refusal::NotAvailable));
    assert!(desk.command("state halted VOD").0.is_err());
    assert_eq!(desk.pass(), (false, Vec::new()));
    let mut state = Vec::new();
    desk.ledger()
        .write(&mut |bytes| state.extend_from_slice(bytes));
    assert!(exchange(config()).on_checkpoint(1, &state).is_err());
}

#[test]
fn a_session_with_another_name_is_another_member() {
    let mut desk = Desk::new();
    let order = "D 11=1|55=VOD|54=2|38=10|40=2|44=10";
    desk.say(A, order);
    let again = desk.say(A, order);
    assert!(again[0].text.contains("|39=8|"), "{again:?}");
    let (_, config) = sessions().swap_remove(0);
    desk.exchange
        .on_session_added(fixwire_protocol::Now::default(), A, "NEWCOMER", &config);
    let said = desk.say(A, order);
    assert!(
        said[0].to == A && said[0].text.contains("|39=0|"),
        "{said:?}"
    );
    // Reports of the orders before go to no one: the member has no session.
    let (_, said) = desk.command("state closed VOD");
    assert_eq!(said.len(), 1, "{said:?}");
}
