//! `fixwire bench restart` finds the orders that passed again.

use std::process::Command;

#[test]
fn an_oms_that_was_killed_answers_a_logon_with_its_orders_open() {
    let output = Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .args(["bench", "restart", "--oms", "--json", "--runs", "2"])
        .args(["--orders", "3000", "--open", "500", "--keep", "60"])
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&found["orders"], &found["open"]),
        (&3000.into(), &500.into())
    );
    // No segment was closed, so all notes are after the checkpoint. An order is three notes, and so is its cancel.
    assert_eq!(found["checkpoints"], 0);
    let notes = found["notes_behind"].as_u64().unwrap();
    assert!(notes > 3 * (3000 + 2500), "{found}");
    let starts = found["start_ms"].as_array().unwrap();
    assert_eq!(starts.len(), 2, "{found}");
    assert!(starts.iter().all(|ms| ms.as_f64() > Some(0.0)), "{found}");
}
