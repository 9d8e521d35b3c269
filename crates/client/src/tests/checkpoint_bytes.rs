//! Each byte of a checkpoint counts: with one byte changed, the checkpoint is refused or gives another state.

use fixwire_harness::worlds::{assert_same, silent_changes};
use fixwire_protocol::Application;

use super::state_lines::kept_lines;
use super::worlds::{Desk, VERSION};

/// A client whose state has entries of every kind.
fn rich() -> Desk {
    let mut desk = Desk::new();
    desk.log_on();
    for command in [
        "set O D 55=VOD|54=1|38=3|40=2|44=5",
        "send O 3 g",
        "new sell 7 BP @ 4.5 account A",
        "replace g:1 price 6",
        "replace g:1 qty 9",
        "cancel g:2",
        "status g:3",
    ] {
        desk.command(command).unwrap();
        desk.pass(1);
    }
    for answer in [
        "8 37=V1|11=g:1|17=1|20=0|150=0|39=0|151=3|14=0|55=VOD|54=1|6=0|",
        "8 37=V2|11=g:2|17=2|20=0|150=1|39=1|151=2|14=1|55=VOD|54=1|6=5|",
        "8 37=V3|11=g:3|17=3|20=0|150=2|39=2|151=0|14=3|55=VOD|54=1|6=5|",
        "8 37=V1|11=20260302-2|41=g:1|17=4|20=0|150=5|39=5|151=3|14=0|55=VOD|54=1|6=0|",
    ] {
        desk.answer(answer);
    }
    desk
}

#[test]
fn each_byte_of_a_checkpoint_counts() {
    let mut desk = rich();
    let state = desk.checkpoint(desk.notes.len());
    let lines = kept_lines(&desk.client.book);
    desk.client.on_checkpoint(VERSION, &state).unwrap();
    assert_same(&kept_lines(&desk.client.book), &lines, "as it is");
    let unseen = silent_changes(&state, &lines, 0xFF, 0..0, |changed| {
        let read = desk.client.on_checkpoint(VERSION, changed);
        read.is_ok().then(|| kept_lines(&desk.client.book))
    });
    assert_eq!(
        unseen,
        [],
        "changes without effect, of {} bytes",
        state.len()
    );
}
