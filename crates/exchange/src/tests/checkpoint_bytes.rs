//! Each byte of a checkpoint counts: changed, the checkpoint is refused or is another state.

use alloc::string::ToString;

use fixwire_book::BookState;
use fixwire_harness::worlds::{assert_same, silent_changes};
use fixwire_protocol::Application;
use fixwire_tmp::{TmpExecType, TmpSide};

use super::desk::{A, B, NEW, OLD, config, decimal};
use super::spreads::spreads;
use super::state_lines::kept_lines;
use super::tmp_desk::{ONE, TWO, TmpDesk, change, new};
use crate::{ExchangeConfig, OrderScript, TraderConfig};

fn settings() -> ExchangeConfig {
    let mut config = config();
    config.instruments.extend(spreads().instruments);
    config.instruments[2].state = BookState::AuctionCall;
    config.remembered_max = 4;
    config.traders = [TraderConfig {
        symbols: ["BTC".to_string()].into(),
        price: Some(decimal("99")),
        ..TraderConfig::default()
    }]
    .into();
    let script = |name: &str, quantity: &str, steps: &[&str]| OrderScript {
        name: name.to_string(),
        quantity: Some(decimal(quantity)),
        steps: steps.iter().map(ToString::to_string).collect(),
        ..OrderScript::default()
    };
    config.scripts = [
        script("waits", "77", &["ack", "fill 3", "wait 20s", "fill rest"]),
        script(
            "asks",
            "78",
            &["pending", "wait for cancel", "pending cancel", "wait 9s"],
        ),
    ]
    .into();
    config
}

/// An exchange with something of everything.
fn rich() -> TmpDesk {
    let mut desk = TmpDesk::with_copies_of(settings()).log_in();
    desk.send(ONE, &new("A0001", TmpSide::SELL, 9, 1000));
    desk.send(TWO, &new("B0001", TmpSide::BUY, 2, 990));
    desk.send(
        TWO,
        &change(
            &new("B0001", TmpSide::BUY, 2, 990),
            TmpExecType::REDUCE,
            1,
            0,
        ),
    );
    for (from, message) in [
        (A, "D 11=1|55=VOD|54=2|38=10|40=2|44=10"),
        (A, "D 11=2|55=VOD|54=2|38=30|40=2|44=10.5|111=4|1=ACC"),
        (B, "D 11=1|55=VOD|54=1|38=12|40=2|44=10"),
        (B, "D 11=2|55=VOD|54=1|38=5|40=4|44=12|99=11"),
        (OLD, "D 11=3|55=VOD|54=5|38=6|40=2|44=11|59=1"),
        (NEW, "D 11=N|55=BTC|54=1|38=1.5|40=2|44=100.5|59=1|1=ACC"),
        (NEW, "G 11=N2|41=N|55=BTC|54=1|38=1.2|40=2|44=100"),
        (A, "D 11=4|55=XYZ|54=1|38=1|40=1"),
        (A, "D 11=5|55=MAR|54=1|38=3|40=1"),
        (B, "D 11=5|55=MAR|54=2|38=3|40=2|44=101"),
        (A, "D 11=6|55=JUN-MAR|54=1|38=3|40=2|44=1.5"),
        (A, "D 11=7|55=VOD|54=1|38=77|40=2|44=9"),
        (OLD, "D 11=8|55=VOD|54=2|38=78|40=2|44=19"),
        (OLD, "F 11=9|41=8|55=VOD|54=2"),
        (OLD, "G 11=10|41=8|55=VOD|54=2|38=79|40=2|44=19"),
    ] {
        desk.say(from, message);
    }
    for command in ["state halted BTC", "band 6 18 VOD", "correct 6 5 @ 10.5"] {
        // The trade may be another member's; the others are done.
        let _ = desk.command(command);
    }
    desk.sleep(50);
    // Reports that have no room yet.
    desk = desk.with_room(1 << 11, 6);
    desk.say_lost(B, "D 11=20|55=VOD|54=1|38=30|40=2|44=11");
    desk
}

#[test]
fn each_byte_of_a_checkpoint_counts() {
    let desk = rich();
    let state = desk.state(desk.notes.len());
    let lines = kept_lines(&desk.exchange);
    assert!(desk.exchange.open().1 > 0, "reports are queued");
    let mut other = TmpDesk::with_copies_of(settings()).exchange;
    other.on_checkpoint(1, &state).unwrap();
    assert_same(&kept_lines(&other), &lines, "as it is");
    let unseen = silent_changes(&state, &lines, 0xFF, 0..0, |changed| {
        let read = other.on_checkpoint(1, changed);
        read.is_ok().then(|| kept_lines(&other))
    });
    assert_eq!(
        unseen,
        [],
        "changes without effect, of {} bytes",
        state.len()
    );
}
