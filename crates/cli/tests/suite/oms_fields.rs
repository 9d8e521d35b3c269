//! Fields that an OMS does not carry: refused, or dropped and counted where the settings say so.

use std::fs;
use std::process::Command;

use crate::oms::{Floor, json, order, report};

#[test]
fn a_field_is_refused_or_dropped_and_counted() {
    let Floor {
        folder,
        mut venue,
        mut client,
        running: _running,
        ..
    } = Floor::with(&[(
        "account = \"A1\" ",
        "drop = [47, 78, 9303]\naccount = \"A1\" ",
    )]);
    client.send("D", &format!("{}|111=10", order("A1", 100)));
    let refused = client.expect("8");
    let text = "|58=a field of the request would not reach the venue (tag 111)|";
    assert!(
        refused.contains("|39=8|") && refused.contains(text),
        "{refused}"
    );
    client.send("D", &format!("{}|47=A|78=1|79=X|80=100", order("A2", 100)));
    let sent = venue.expect("D");
    for tag in [47, 78, 79, 80] {
        assert!(!sent.contains(&format!("|{tag}=")), "{sent}");
    }
    let id = sent
        .split("|11=")
        .nth(1)
        .unwrap()
        .split('|')
        .next()
        .unwrap();
    venue.send(
        "8",
        &format!(
            "{}|30=XLON|76=ME|58=seen|113=N",
            report(id, 1, '0', (100, 0))
        ),
    );
    let accepted = client.expect("8");
    assert!(
        accepted.contains("|39=0|") && accepted.contains("|30=XLON|76=ME|58=seen|"),
        "{accepted}"
    );
    let status = &json(folder.path(), "status", &[])[0];
    assert_eq!(
        status["dropped_fields"],
        "user CLIENT 47: 1, 78: 1, 79: 1, 80: 1"
    );
    assert_eq!(status["report_fields_not_passed_on"], "113: 1");
    let file = folder.path().join("oms.toml");
    let check = || {
        let mut check = Command::new(env!("CARGO_BIN_EXE_fixwire"));
        let checked = check.arg("check").arg(&file).output().unwrap();
        String::from_utf8([checked.stdout, checked.stderr].concat()).unwrap()
    };
    let said = check();
    assert!(said.contains("user.CLIENT.drop"), "{said}");
    assert!(said.contains("NoAllocs(78), AllocAccount(79)"), "{said}");
    // The session would reject a field that its dictionary does not have.
    let warning = "CLIENT rejects messages with tag 9303 (drop of [[user]] CLIENT): write ValidateUserDefinedFields = false";
    assert!(said.contains(warning), "{said}");
    let target = "TargetCompID = \"CLIENT\"";
    let settings = fs::read_to_string(&file).unwrap();
    let may = settings.replace(
        target,
        &format!("{target}\nValidateUserDefinedFields = false"),
    );
    fs::write(&file, may).unwrap();
    let said = check();
    assert!(!said.contains("tag 9303 ("), "{said}");
    // A file that is not UTF-8.
    let instruments = folder.path().join("instruments.csv");
    let mut bytes = fs::read(&instruments).unwrap();
    bytes.extend_from_slice(b"\xE9");
    let line = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    fs::write(&instruments, bytes).unwrap();
    let said = check();
    let place = format!(
        "instruments.csv cannot be read: line {line}, column 1: the byte 0xE9 is not UTF-8"
    );
    assert!(said.contains(&place), "{said}");
}

#[test]
fn a_client_of_a_template_asks_for_instruments() {
    let Floor {
        folder,
        mut client,
        venue: _venue,
        running: _running,
        ..
    } = Floor::with(&[
        ("session = \"CLIENT\"", "session = \"CLI*\""),
        (
            "\"cancel\", \"status\"]",
            "\"cancel\", \"status\", \"securities\"]",
        ),
    ]);
    client.send("c", "320=D1|321=0|55=VOD");
    let said = client.expect("d");
    for field in [
        "|320=D1|322=D1-1|323=1|393=1|55=VOD|",
        "|58=tick 0.01, lot 1|",
    ] {
        assert!(said.contains(field), "{field}: {said}");
    }
    let mut check = Command::new(env!("CARGO_BIN_EXE_fixwire"));
    let checked = check.arg("check").arg(folder.path().join("oms.toml"));
    let said = String::from_utf8(checked.output().unwrap().stdout).unwrap();
    let mut rows = said
        .lines()
        .map(|row| row.split_whitespace().collect::<Vec<_>>());
    assert!(rows.any(|row| row == ["user.CLI*", "CLIENT"]), "{said}");
}
