//! `fixwire dictionary`, from the outside.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn fixwire(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The output of a command that succeeds.
fn good(folder: &Path, args: &[&str]) -> String {
    let output = fixwire(folder, args, "");
    assert!(
        output.status.success(),
        "{args:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

#[test]
fn messages_and_fields_are_shown_aligned() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let all = good(folder, &["dictionary", "show", "FIX.4.4"]);
    assert!(
        all.starts_with("FIX.4.4: 912 fields, 93 messages, "),
        "{all}"
    );
    let order = good(folder, &["dictionary", "show", "FIX.4.4", "D"]);
    let column = |name: &str| {
        let line = order.lines().find(|line| line.contains(name)).unwrap();
        line.find(name).unwrap()
    };
    assert_eq!(column("ClOrdID"), column("Account"), "{order}");
    assert_eq!(column("PartyID "), column("ClOrdID") + 2, "{order}");
    let json: serde_json::Value = serde_json::from_str(&good(
        folder,
        &["dictionary", "show", "FIX.4.4", "NewOrderSingle", "--json"],
    ))
    .unwrap();
    assert_eq!(
        (&json["msgType"], &json["members"][0]["name"]),
        (&"D".into(), &"ClOrdID".into())
    );
    let side = good(folder, &["dictionary", "show", "FIX.4.4", "Side"]);
    assert!(side.starts_with("Side(54), CHAR\n"), "{side}");
    let output = fixwire(folder, &["dictionary", "show", "FIX.4.4", "Nothing"], "");
    assert!(!output.status.success() && text(&output.stderr).contains("Nothing"));
}

#[test]
fn a_difference_is_a_delta_that_makes_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(
        folder.join("venue.delta"),
        "add field 9001 Flag CHAR\nadd member Flag to D\nin D: Price required when OrdType in 2\n",
    )
    .unwrap();
    let venue = "FIX.4.4 + venue.delta";
    let output = fixwire(folder, &["dictionary", "diff", "FIX.4.4", venue], "");
    assert_eq!(output.status.code(), Some(1));
    let delta = text(&output.stdout);
    assert_eq!(
        delta,
        "base FIX.4.4\nadd field 9001 Flag CHAR\nadd member Flag to NewOrderSingle after Designation\n\
         in NewOrderSingle: Price required when OrdType in 2\n"
    );
    fs::write(folder.join("again.delta"), &delta).unwrap();
    let same = fixwire(
        folder,
        &[
            "dictionary",
            "diff",
            venue,
            "FIX.4.4 + again.delta",
            "--json",
        ],
        "",
    );
    let json: serde_json::Value = serde_json::from_slice(&same.stdout).unwrap();
    assert_eq!(
        (same.status.code(), &json["equal"]),
        (Some(0), &true.into())
    );
    // From 4.2 to 4.4 and back.
    for (from, to) in [("FIX.4.2", "FIX.4.4"), ("FIX.5.0SP2", "FIX.4.0")] {
        let output = fixwire(folder, &["dictionary", "diff", from, to], "");
        fs::write(folder.join("far.delta"), &output.stdout).unwrap();
        let words = format!("{from} + far.delta");
        assert_eq!(good(folder, &["dictionary", "diff", &words, to]), "");
    }
}

#[test]
fn a_dictionary_converts_to_both_forms() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for form in ["quickfix", "orchestra"] {
        let xml = good(folder, &["dictionary", "convert", "FIX.4.2", "--to", form]);
        fs::write(folder.join("x.xml"), xml).unwrap();
        assert_eq!(
            good(folder, &["dictionary", "diff", "x.xml", "FIX.4.2"]),
            "",
            "{form}"
        );
    }
}

#[test]
fn a_conversion_says_how_many_conditions_it_leaves_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let delta =
        "in NewOrderSingle, OrderCancelReplaceRequest: Price required when OrdType in 2,4\n";
    fs::write(folder.join("venue.delta"), delta).unwrap();
    for form in ["quickfix", "orchestra"] {
        for (name, lost) in [("FIX.4.4 + venue.delta", 2), ("FIX.4.4", 0)] {
            let output = fixwire(folder, &["dictionary", "convert", name, "--to", form], "");
            assert!(output.status.success());
            let error = text(&output.stderr);
            let wanted = format!("are left out: {lost};");
            assert_eq!(error.contains(&wanted), lost > 0, "{error}");
            assert_eq!(error.is_empty(), lost == 0, "{error}");
        }
    }
}

#[test]
fn messages_go_to_json_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let message = "8=FIX.4.4|9=28|35=D|453=1|448=P|44=1.10|58=x|10=090|\n";
    let args = ["dictionary", "json", "FIX.4.4"];
    let json = text(&fixwire(folder, &args, message).stdout);
    assert!(
        json.contains("\"NoPartyIDs\":[{\"PartyID\":\"P\"}],\"Price\":\"1.10\""),
        "{json}"
    );
    let back = text(&fixwire(folder, &args, &json).stdout);
    let body = |text: &str| text[text.find("35=").unwrap()..text.find("10=").unwrap()].to_owned();
    assert_eq!(body(&back), body(message));
    let output = fixwire(folder, &args, "{\"Header\":1}\n");
    assert!(
        text(&output.stderr).contains("line 1: "),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn what_is_wrong_has_its_file_and_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.delta"), "\nadd field 58 Note STRING\n").unwrap();
    fs::write(
        folder.join("bomb.xml"),
        "<!DOCTYPE fix [<!ENTITY a \"a\">]><fix major='4'/>",
    )
    .unwrap();
    fs::write(folder.join("latin.xml"), b"<fix name='\xe4'/>").unwrap();
    for (name, says) in [
        ("FIX.4.4 + a.delta", "a.delta, line 2, column 1"),
        ("FIX.4.4 + nowhere.delta", "nowhere.delta"),
        ("bomb.xml", "bomb.xml: line 1"),
        (
            "latin.xml",
            "latin.xml: line 1, column 12: this is not UTF-8",
        ),
        ("nothing", "FIX.5.0SP2"),
    ] {
        let output = fixwire(folder, &["dictionary", "show", name], "");
        let said = text(&output.stderr);
        assert!(
            !output.status.success() && said.contains(says),
            "{name}: {said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
