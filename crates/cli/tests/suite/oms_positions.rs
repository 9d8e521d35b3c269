//! Positions that an operator sets, loads from a clearing file and compares with one, in a real process.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::oms::{Floor, client_logs_on, id, json, order, report, start, venue_logs_on};
use crate::peer::utc_now;

/// Runs a subcommand of `fixwire oms`, such as `positions load`.
fn oms(folder: &Path, verbs: &[&str], rest: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixwire"));
    command
        .arg("oms")
        .args(verbs)
        .arg(folder.join("oms.toml"))
        .args(rest);
    let run = command.current_dir(folder).output().unwrap();
    let said = [run.stdout, run.stderr].concat();
    (run.status.code().unwrap(), String::from_utf8(said).unwrap())
}

const WHY: [&str; 2] = ["--why", "clearing"];

/// Writes a file and loads it.
fn load(folder: &Path, text: &str, options: &[&str]) -> (i32, String) {
    fs::write(folder.join("clearing.csv"), text).unwrap();
    let all = [&["clearing.csv"], options, &WHY].concat();
    oms(folder, &["positions", "load"], &all)
}

/// Writes a file and compares it.
fn reconcile(folder: &Path, text: &str, options: &[&str]) -> (i32, String) {
    fs::write(folder.join("clearing.csv"), text).unwrap();
    let all = [&["clearing.csv"], options].concat();
    oms(folder, &["reconcile"], &all)
}

fn long(folder: &Path) -> Value {
    json(folder, "positions", &[])[0]["long"].clone()
}

#[test]
fn positions_are_set_loaded_and_compared_also_after_kill_9() {
    let Floor {
        folder,
        listener,
        port,
        running,
        mut venue,
        mut client,
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    client.send("D", &order("A1", 100));
    let number = id(&venue.expect("D"));
    venue.send("8", &report(&number, 1, '0', (100, 0)));
    client.expect("8");
    let mut fills = 1;
    let mut fill = |quantity: u32, filled: u32| {
        fills += 1;
        let report = report(&number, fills, '1', (100, filled));
        let last = format!("|32={filled}|");
        venue.send("8", &report.replace(&last, &format!("|32={quantity}|")));
        client.expect("8");
    };
    fill(40, 40);

    let (code, said) = oms(
        folder,
        &["position", "set"],
        &[&["A1", "VOD", "long=500"][..], &WHY].concat(),
    );
    assert_eq!(
        (code, said.as_str()),
        (0, "A1 VOD: long 500 (was 40), short 0 (was 0)\n")
    );
    let (code, said) = oms(
        folder,
        &["position", "adjust"],
        &[&["A1", "VOD", "long=-501"][..], &WHY].concat(),
    );
    assert!(
        code != 0 && said.contains("long: the position is 500, so it cannot become 501 less"),
        "{said}"
    );

    // All rows or none.
    let wrong = "account,symbol,long,short\nA1,VOD,7,\n# a comment\nA11,VOD,1,\nA1,VODA,1,\nDESK,VOD,1.5,\n\
                 A1,VOD,9,\nA1,VOD\nA1,VOD,ten,\n";
    let (code, said) = load(folder, wrong, &["--totals"]);
    for mistake in [
        "clearing.csv:4: account: unknown account A11; did you mean A1?",
        "clearing.csv:5: symbol: unknown symbol VODA; did you mean VOD?",
        "clearing.csv:6: long: 1.5 must be a whole number",
        // The form of the file.
        "clearing.csv:7: the position of A1 in VOD is in line 2 too",
        "clearing.csv:8: 2 values, the first line names 4",
        "clearing.csv:9: long ten is not a number",
    ] {
        assert!(code == 1 && said.contains(mistake), "{mistake}: {said}");
    }
    assert_eq!(long(folder), 500);
    let (code, said) = load(folder, "account,symbol,long,short\nA1,VOD,7,\n", &[]);
    assert!(code == 1 && said.contains("--totals or --deltas"), "{said}");

    // Fills after the moment are added, each time as many as there are.
    sleep(Duration::from_millis(50));
    let moment = utc_now();
    sleep(Duration::from_millis(50));
    fill(20, 60);
    sleep(Duration::from_millis(1_100));
    let total = "account,symbol,long,short\nA1,VOD,100,\n";
    let as_of = ["--totals", "--as-of", &moment];
    let (code, said) = load(folder, total, &as_of);
    assert_eq!(
        (code, said.as_str()),
        (
            0,
            "clearing.csv: 1 of 1 position changed\nA1 VOD: long 120 (was 520), short 0 (was 0)\n"
        )
    );
    let (code, said) = load(folder, total, &as_of);
    assert_eq!(
        (code, said.as_str()),
        (0, "clearing.csv: 0 of 1 position changed\n")
    );
    let (code, said) = reconcile(folder, total, &["--as-of", &moment]);
    assert_eq!(
        (code, said.as_str()),
        (0, "0 of 1 accounts and symbols differ\n")
    );

    // Changes count once.
    let changes = "account,symbol,long,kind\nA1,VOD,-20,deltas\nDESK,BTC-EUR,0.5,deltas\n";
    let (code, said) = load(folder, changes, &[]);
    assert!(
        code == 0 && said.contains("2 of 2 positions changed"),
        "{said}"
    );
    let (code, said) = load(folder, changes, &[]);
    assert!(code == 1 && said.contains("were loaded already"), "{said}");
    assert_eq!(long(folder), 100);
    drop(running);

    let running = start(folder, port);
    let _venue = venue_logs_on(&listener, venue.next_out);
    running.hears("SIM-1 logged on");
    let _client = client_logs_on(port, client.next_out);
    assert_eq!(long(folder), 100);
    let (code, said) = load(folder, changes, &[]);
    assert!(code == 1 && said.contains("were loaded already"), "{said}");

    // Comparing has an exit code, and raises an event when it is asked to.
    let total = "account,symbol,long,short\nA1,VOD,90,\nDESK,BTC-EUR,0.50,\n";
    let (code, said) = reconcile(folder, total, &[]);
    assert!(
        code == 1 && said.ends_with("1 of 2 accounts and symbols differ\n"),
        "{said}"
    );
    let (code, said) = reconcile(folder, total, &["--json", "--alarm"]);
    let found: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &found["compared"]), (1, &2.into()));
    let row = &found["differences"][0];
    assert_eq!(
        (&row["account"], &row["symbol"]),
        (&"A1".into(), &"VOD".into())
    );
    assert_eq!(
        (
            &row["ours_long"],
            &row["theirs_long"],
            &row["difference_long"]
        ),
        (&100.into(), &90.into(), &10.into())
    );
    running.hears("clearing.csv: 1 accounts and symbols differ from those of the OMS, compared by");
    // The OMS has bought 60 today; a file of fills says 40.
    let fills = "account,symbol,side,quantity,exec\nA1,VOD,buy,40,E2\n";
    let (code, said) = reconcile(folder, fills, &["--listed"]);
    assert!(code == 1 && said.contains("OURS BOUGHT"), "{said}");
    let fills = format!("{fills}A1,VOD,1,20,E3\n");
    let (code, said) = reconcile(folder, &fills, &["--listed"]);
    assert_eq!(code, 0, "{said}");

    // The journal has who did what.
    let to = folder.join("day").display().to_string();
    let (code, said) = oms(folder, &["day"], &["--to", &to]);
    assert_eq!(code, 0, "{said}");
    let actions = fs::read_to_string(folder.join("day/actions.csv")).unwrap();
    for action in [
        "command position set account=A1 symbol=VOD long=500 by ",
        "command load totals as-of=",
        "command load deltas file=clearing.csv;A1 VOD -20 0;DESK BTC-EUR 0.5 0 by ",
    ] {
        assert!(actions.contains(action), "{action}: {actions}");
    }
    drop(running);
    let (code, said) = oms(
        folder,
        &["position", "history"],
        &["--account", "A1", "--json"],
    );
    let steps: Value = serde_json::from_str(&said).unwrap();
    let steps: Vec<_> = steps.as_array().unwrap().iter().collect();
    let of = |step: &Value| {
        (
            step["was_long"].clone(),
            step["long"].clone(),
            step["file"].clone(),
        )
    };
    assert_eq!(code, 0, "{said}");
    assert_eq!(
        steps.into_iter().map(of).collect::<Vec<_>>(),
        [
            (40.into(), 500.into(), "".into()),
            (520.into(), 120.into(), "clearing.csv".into()),
            (120.into(), 100.into(), "clearing.csv".into()),
        ]
    );
}

#[test]
fn a_file_that_cannot_be_loaded_is_refused_by_name() {
    let floor = Floor::begin("[oms]\n");
    let folder = floor.folder.path();
    let head = "account,symbol,long,short\n";
    let rows: String = (0..5_000).map(|at| format!("A1,VOD{at},1,0\n")).collect();
    for (text, options, wanted) in [
        (format!("{head}{rows}"), &["--totals"][..], "split the file"),
        (
            head.to_owned(),
            &["--totals"],
            "clearing.csv:1: the file has no row",
        ),
        (
            format!("{head}A1,VOD,1,0\n"),
            &["--deltas", "--as-of", "2026-11-29T22:00:00Z"],
            "changes have no moment",
        ),
        (
            format!("{head}A1,VOD,1,0\n"),
            &["--totals", "--as-of", "2100-01-01T00:00:00Z"],
            "must be at least a second ago",
        ),
        (
            format!("{head}A1,VOD,1,0\n"),
            &["--totals", "--again"],
            "again is for deltas",
        ),
        (
            "account,symbol,long,kind\nA1,VOD,1,deltas\n".to_owned(),
            &["--totals"],
            "the column kind and the option differ",
        ),
        (
            format!("{head}A1,VOD,1,0\n"),
            &["--totals", "--as-of", "yesterday"],
            "yesterday is not a moment in UTC such as 2026-11-29T22:00:00Z",
        ),
        (
            "account,symbol\nA1,VOD\n".to_owned(),
            &["--totals"],
            "clearing.csv:1: the columns long and short are missing",
        ),
    ] {
        let (code, said) = load(folder, &text, options);
        assert!(code != 0 && said.contains(wanted), "{wanted}: {said}");
    }
}

#[test]
fn a_journal_whose_beginning_was_removed_is_read_from_its_oldest_checkpoint() {
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::with(&[(
        "NonStopSession = true\n",
        "NonStopSession = true\nJournalSegmentSize = \"2M\"\nJournalKeep = \"1s\"\n",
    )]);
    let (folder, begun) = (folder.path(), utc_now());
    // A moment is at least a second ago.
    sleep(Duration::from_millis(1_100));
    client.send("D", &order("A1", 10_000));
    let number = id(&venue.expect("D"));
    venue.send("8", &report(&number, 1, '0', (10_000, 0)));
    client.expect("8");
    let text = "x".repeat(1500);
    let mut filled = 0;
    let total = |long: u32| format!("account,symbol,long,short\nA1,VOD,{long},\n");
    loop {
        // Nobody needs the messages before a reset any more.
        for peer in [&mut client, &mut venue] {
            peer.next_out = 1;
            peer.send("A", "98=0|108=30|141=Y");
            peer.expect("A");
        }
        for _ in 0..500 {
            filled += 1;
            let left = 10_000 - filled;
            let fill = format!(
                "37=V{number}|11={number}|17=F{filled}|20=0|150=1|39=1|55=VOD|54=1|38=10000|32=1|31=12.5|151={left}|\
                 14={filled}|6=12.5|58={text}"
            );
            venue.send("8", &fill);
            client.expect("8");
        }
        // Segments are removed by their age.
        sleep(Duration::from_millis(400));
        let (code, said) = reconcile(folder, &total(0), &["--as-of", &begun, "--listed"]);
        if said.contains("(JournalKeep)") {
            assert_ne!(code, 0);
            break;
        }
        assert!(filled < 9_000, "{said}");
    }
    sleep(Duration::from_millis(50));
    let moment = utc_now();
    sleep(Duration::from_millis(1_100));
    let as_of = ["--as-of", &moment];
    let (code, said) = reconcile(
        folder,
        &total(filled),
        &[&as_of[..], &["--listed"]].concat(),
    );
    assert_eq!(code, 0, "{said}");
    let (code, said) = load(folder, &total(7), &[&as_of[..], &["--totals"]].concat());
    assert!(
        code == 0 && said.contains("1 of 1 position changed"),
        "{said}"
    );
    assert_eq!(long(folder), 7);
    let (code, said) = oms(folder, &["position", "history"], &["--json"]);
    let steps: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &steps[0]["was_long"]), (0, &filled.into()), "{said}");
    // The events behind the checkpoint, each once.
    let (code, said) = oms(folder, &["history"], &["--json", "1"]);
    let steps: Value = serde_json::from_str(&said).unwrap();
    let steps = steps.as_array().unwrap();
    assert!(
        code == 0 && steps.len() < filled as usize,
        "{}",
        steps.len()
    );
    drop(running);
}
