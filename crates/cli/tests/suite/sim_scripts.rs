//! `fixwire sim` with scripts: selected orders are answered step by step, also across kill -9.

use std::fs;

use crate::running::fixwire;
use crate::sim::{INSTRUMENTS, about, ask, has, member, start, text, write};

const SCRIPTS: &str = r#"
[[script]]
name = "half, then cancelled"
session = "OMS"
symbol = "VOD"
quantity = 101
steps = ["ack", "wait 300ms", "fill 50 @ 10.40", 'cancel rest "Venue closes"']
[[script]]
name = "too late"
quantity = 102
steps = ["pending", "ack", "pending cancel", "fill 40", 'reject cancel 0 "Crossed a fill"', "replace", "done for day"]
[[script]]
name = "slow"
quantity = 103
steps = ["ack", "wait 1500ms", "fill rest"]
[[script]]
name = "refused"
side = "sell"
account = "SHORT"
steps = ['reject 99 "No short sales"']
"#;

fn order(id: &str, quantity: u32) -> String {
    format!("11={id}|55=VOD|54=1|38={quantity}|40=2|44=10.50")
}

#[test]
fn orders_follow_their_scripts_and_others_trade() {
    let folder = tempfile::tempdir().unwrap();
    let port = write(folder.path(), &format!("{INSTRUMENTS}{SCRIPTS}"));
    let _running = start(folder.path(), port);
    let mut oms = member(port, "OMS", 1);
    has(
        &ask(&mut oms, "D", &order("A1", 101), "8"),
        "150=0|39=0|37=1|151=101",
    );
    let scripts = about(folder.path(), &["session", "command"], &["scripts"]);
    assert_eq!(
        text(&scripts.stdout),
        "order 1: half, then cancelled, step 2 of 4: wait 300ms\n"
    );
    has(
        &oms.expect("8"),
        "11=A1|150=F|39=1|32=50|31=10.40|14=50|151=51",
    );
    has(
        &oms.expect("8"),
        "11=A1|150=4|39=4|14=50|151=0|58=Venue closes",
    );

    has(
        &ask(&mut oms, "D", &order("B1", 102), "8"),
        "150=A|39=A|37=2",
    );
    has(&oms.expect("8"), "150=0|39=0|37=2");
    has(
        &ask(&mut oms, "F", "11=B2|41=B1|55=VOD|54=1", "8"),
        "11=B2|41=B1|150=6|39=6",
    );
    has(&oms.expect("8"), "11=B1|150=F|39=6|32=40|31=10.50");
    has(
        &oms.expect("9"),
        "11=B2|41=B1|39=1|434=1|102=0|58=Crossed a fill",
    );
    let replace = "11=B3|41=B1|55=VOD|54=1|38=90|40=2|44=10.60";
    has(
        &ask(&mut oms, "G", replace, "8"),
        "11=B3|41=B1|150=5|39=1|38=90|44=10.60|151=50",
    );
    has(&oms.expect("8"), "11=B3|150=3|39=3|14=40|151=0");

    let short = "11=C1|1=SHORT|55=VOD|54=5|38=1|40=2|44=10.50";
    has(
        &ask(&mut oms, "D", short, "8"),
        "150=8|39=8|103=99|58=No short sales",
    );
    // None of these orders is in the book; orders without a script are.
    has(&ask(&mut oms, "D", &order("D1", 100), "8"), "150=0|39=0");
    let book = about(folder.path(), &["session", "command"], &["book VOD"]);
    let book = text(&book.stdout);
    assert_eq!(
        book,
        "VOD continuous last none orders 1\nbuy 10.50 visible 100 total 100 orders 1\n"
    );
}

#[test]
fn a_script_goes_on_after_kill_9_whatever_the_file_says_by_then() {
    let folder = tempfile::tempdir().unwrap();
    let port = write(folder.path(), &format!("{INSTRUMENTS}{SCRIPTS}"));
    let mut running = start(folder.path(), port);
    let mut oms = member(port, "OMS", 1);
    has(&ask(&mut oms, "D", &order("A1", 103), "8"), "39=0|37=1");
    running.child.kill().unwrap();
    running.ends();
    drop(oms);
    let file = folder.path().join("sim.toml");
    let said = fs::read_to_string(&file).unwrap();
    fs::write(&file, said.split("[[script]]").next().unwrap()).unwrap();
    let _running = start(folder.path(), port);
    let mut oms = member(port, "OMS", 3);
    has(
        &oms.expect("8"),
        "11=A1|37=1|150=F|39=2|32=103|31=10.50|151=0",
    );
    oms.send("H", "11=A1|55=VOD|54=1");
    has(&oms.expect("8"), "150=I|39=2|14=103");
    has(&ask(&mut oms, "D", &order("A2", 103), "8"), "39=0|37=2");
}

#[test]
fn mistakes_in_scripts_have_their_lines_and_check_shows_what_is_understood() {
    let folder = tempfile::tempdir().unwrap();
    let shown = |tables: &str| {
        write(folder.path(), &format!("{INSTRUMENTS}{tables}"));
        let said = about(folder.path(), &["check"], &[]);
        assert_eq!(said.status.code(), Some(1));
        text(&said.stderr)
    };
    let said = shown(
        "[[script]]\nname = 'one'\nquantity = 'many'\nsides = 'buy'\nsteps = [\n  'ack',\n  'fil 40',\n  'wait 5',\n]\n\
         [[script]]\nsymbol = 5\nsteps = 'ack'\nsession = 'NOBODY'\n",
    );
    for (title, place) in [
        ("quantity is not a decimal number", "sim.toml:26:12"),
        ("unknown key sides", "sim.toml:27:1"),
        (
            "unknown step \"fil 40\": the steps are pending, ack, fill",
            "sim.toml:30:3",
        ),
        ("wait 5: write it as wait 200ms", "sim.toml:31:3"),
        ("name is missing", "sim.toml:33:1"),
        ("symbol must be a text", "sim.toml:34:10"),
        ("steps is not a list", "sim.toml:35:9"),
        ("unknown session NOBODY", "sim.toml:36:11"),
    ] {
        let at = said.find(title);
        let at = at.unwrap_or_else(|| panic!("{title}: {said}"));
        let arrow = said[at..].lines().find(|line| line.contains("-->"));
        assert!(arrow.unwrap().ends_with(place), "{title}: {said}");
    }
    // Checks that need the instruments.
    let said = shown(
        "[[script]]\nname = 'one'\nsteps = [\n  'ack',\n  'fill 40 @ 12.505',\n]\n\
         [[script]]\nname = 'two'\nsymbol = 'XYZ'\nsteps = []\n",
    );
    for (title, place) in [
        (
            "12.505 is not a multiple of the tick of VOD, 0.01",
            "sim.toml:28:3",
        ),
        ("unknown instrument \"XYZ\"", "sim.toml:32:10"),
    ] {
        let at = said.find(title);
        let at = at.unwrap_or_else(|| panic!("{title}: {said}"));
        let arrow = said[at..].lines().find(|line| line.contains("-->"));
        assert!(arrow.unwrap().ends_with(place), "{title}: {said}");
    }
    write(
        folder.path(),
        &format!("{INSTRUMENTS}[script]\noperations = 5\n"),
    );
    let table = text(&about(folder.path(), &["sim"], &[]).stderr);
    assert!(
        table.contains("write [[script]], with two brackets"),
        "{table}"
    );
    write(folder.path(), &format!("{INSTRUMENTS}{SCRIPTS}"));
    let good = about(folder.path(), &["check"], &["--changed"]);
    let table = text(&good.stdout);
    let wanted = "session OMS, symbol VOD, quantity 101: ack, wait 300ms, fill 50 @ 10.40";
    assert!(
        good.status.success() && table.contains(wanted),
        "{table}{}",
        text(&good.stderr)
    );
    let mut json = fixwire();
    let json = json
        .args(["check", "--json"])
        .arg(folder.path().join("sim.toml"));
    let json: serde_json::Value = serde_json::from_slice(&json.output().unwrap().stdout).unwrap();
    let scripts = &json["exchange"]["scripts"];
    assert_eq!(scripts[2]["name"], "slow");
    assert_eq!(scripts[2]["quantity"], "103");
    assert_eq!(scripts[2]["steps"][1], "wait 1500ms");
}
