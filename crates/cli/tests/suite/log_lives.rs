//! `fixwire log order` prints the true history of an order that went through a gateway.

use std::collections::HashMap;

use serde_json::Value;

use crate::log::{fixwire, text};

#[path = "../../../reader/tests/suite/lives/generator.rs"]
mod generator;
#[path = "../../../reader/tests/suite/lives/world.rs"]
mod world;

use generator::{Lives, OrderTruth};

/// Number of orders in the world, of which one in this number is queried.
const ORDERS: usize = 60;
const ONE_IN: usize = 6;
const SEED: u64 = 77;

/// Order, position, CompIDs and text of each message, as generated.
fn expected(truths: &[OrderTruth], id: &str) -> Vec<[String; 5]> {
    let with_id = truths.iter().filter(|truth| truth.ids.contains(id));
    let said = with_id.enumerate().flat_map(|(at, truth)| {
        truth.said.iter().map(move |said| {
            let (segment, offset) = said.place;
            [
                (at + 1).to_string(),
                format!("{segment}:{offset}"),
                said.get(49).unwrap(),
                said.get(56).unwrap(),
                String::from_utf8_lossy(&said.bytes).replace('\x01', "|"),
            ]
        })
    });
    said.collect()
}

#[test]
fn an_order_is_printed_as_it_was() {
    let root = tempfile::tempdir().unwrap();
    let (truths, kinds): (_, HashMap<&str, u64>) =
        Lives::play(SEED, ORDERS, &root.path().join("store"));
    assert!(kinds["orders at a venue"] > 20, "{kinds:?}");
    let mut several = 0;
    for truth in truths.iter().step_by(ONE_IN) {
        let id = truth.ids.first().unwrap();
        let output = fixwire(root.path(), &["log", "order", "--json", id, "store"]);
        assert!(output.status.success(), "{id}: {}", text(&output.stderr));
        let printed = text(&output.stdout);
        let printed = printed.lines().map(|line| {
            let object: Value = serde_json::from_str(line).unwrap();
            ["order", "place", "from", "to", "text"].map(|key| match &object[key] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
        });
        let printed: Vec<[String; 5]> = printed.collect();
        assert_eq!(
            printed,
            expected(&truths, id),
            "FIXWIRE_SEED={SEED}, id {id}"
        );
        let orders = printed.last().map(|last| last[0].clone());
        several += u32::from(orders.as_deref() != Some("1"));
        let output = fixwire(root.path(), &["log", "order", id, "store"]);
        let heads = text(&output.stdout).matches(" with this id\n").count();
        assert_eq!(
            heads,
            if orders.as_deref() == Some("1") {
                0
            } else {
                heads.max(2)
            }
        );
    }
    assert!(several > 3, "{several} ids were used again");
}
