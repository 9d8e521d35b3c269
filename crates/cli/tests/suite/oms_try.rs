//! `fixwire oms try`: the day of a real OMS, from its journal and from a log, under other settings.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::oms::{Floor, example, id, json, oms, order, report};
use crate::peer::utc_now;

/// Runs `fixwire oms try`; returns its exit code, its output and its errors.
pub fn try_out(settings: &Path, record: &Path, more: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixwire"));
    let run = command.args(["oms", "try"]).args([settings, record]);
    let run = run.args(more).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        run.status.code().unwrap(),
        text(run.stdout),
        text(run.stderr),
    )
}

/// The settings of a folder with a limit for orders.
fn with_limit(folder: &Path, name: &str, limit: &str) -> std::path::PathBuf {
    let limits = fs::read_to_string(folder.join("limits.csv")).unwrap();
    assert!(limits.contains("firm,RC6,10000\n"), "{limits}");
    let limits = limits.replace("firm,RC6,10000\n", &format!("firm,RC6,{limit}\n"));
    fs::write(folder.join(format!("{name}.csv")), limits).unwrap();
    let text = fs::read_to_string(folder.join("oms.toml")).unwrap();
    let text = text.replace("\"limits.csv\"", &format!("\"{name}.csv\""));
    let settings = folder.join(format!("{name}.toml"));
    fs::write(&settings, text).unwrap();
    settings
}

#[test]
fn a_day_of_the_journal_and_of_the_log_is_tried_with_other_limits() {
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    for (name, quantity) in [("A1", 100), ("A2", 600), ("A3", 20_000)] {
        client.send("D", &order(name, quantity));
        if quantity > 10_000 {
            assert!(client.expect("8").contains("|39=8|"));
            continue;
        }
        let sent = id(&venue.expect("D"));
        venue.send("8", &report(&sent, quantity, '0', (quantity, 0)));
        assert!(client.expect("8").contains("|39=0|"));
        venue.send("8", &report(&sent, quantity + 1, '2', (quantity, quantity)));
        assert!(client.expect("8").contains("|39=2|"));
    }
    drop(running);
    let store = folder.join("oms-store");

    let mut log = Command::new(env!("CARGO_BIN_EXE_fixwire"));
    let log = log.args(["log", "grep", "34>0"]).arg(&store);
    let log = log.output().unwrap();
    let as_log = folder.join("messages.log");
    assert!(
        log.status.success(),
        "{}",
        String::from_utf8_lossy(&log.stderr)
    );
    fs::write(&as_log, log.stdout).unwrap();

    let same = folder.join("oms.toml");
    let strict = with_limit(folder, "strict", "500");
    let loose = with_limit(folder, "loose", "30000");
    for record in [&store, &as_log] {
        let (code, said, errors) = try_out(&same, record, &["--json", "--strict"]);
        assert_eq!(code, 0, "{said}{errors}");
        let result: Value = serde_json::from_str(&said).unwrap();
        let orders = &result["requests"]["orders"];
        assert_eq!(
            (
                &orders["in_the_record"],
                &orders["accepted"],
                &orders["rejected_now"]
            ),
            (&3.into(), &2.into(), &1.into()),
            "{said}"
        );
        assert_eq!(result["changed"], Value::Array(Vec::new()));
        // What the venue did is in the reports to the client: messages of its line are not missed.
        assert_eq!(result["not_played"], Value::Object(serde_json::Map::new()));
        let limits = result["limits"].as_array().unwrap();
        let is_rc6 = |it: &&Value| it["control"] == "RC6" && it["scope"] == "firm";
        let rc6 = limits.iter().find(is_rc6).unwrap();
        assert_eq!(
            (&rc6["largest_use"], &rc6["percent"]),
            (&"600".into(), &6.into())
        );

        let csv = folder.join("changed.csv");
        let (code, said, _) = try_out(
            &strict,
            record,
            &["--strict", "--changed", csv.to_str().unwrap()],
        );
        assert_eq!(code, 1, "{said}");
        assert!(said.contains("1 fills of 1 orders are lost"), "{said}");
        let text = "RC6: order quantity exceeds the limit (600, at most 500 for firm)";
        assert!(said.contains(text), "{said}");
        let rows = fs::read_to_string(&csv).unwrap();
        let wanted = format!(",CLIENT,A2,D,\"{text}\"\n");
        assert!(rows.ends_with(&wanted), "{rows}");

        let (code, said, _) = try_out(&loose, record, &[]);
        assert_eq!(code, 0, "{said}");
        let row = said.lines().find(|line| line.contains("A3")).unwrap();
        assert!(row.ends_with("D     accepted"), "{row}");
    }
}

#[test]
fn what_cannot_be_tried_is_an_error_that_names_it() {
    let Floor {
        folder, running, ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    drop(running);
    let settings = folder.join("oms.toml");
    let (code, _, errors) = try_out(&settings, &folder.join("nothing.log"), &[]);
    assert!(code != 0 && errors.contains("nothing.log"), "{errors}");
    let log = folder.join("other.log");
    let other = "8=FIX.4.4|9=5|35=D|49=SOMEBODY|56=ELSE|34=1|52=20261129-10:00:00|11=A|10=000|\n";
    fs::write(&log, other.replace('|', "\x01")).unwrap();
    let (_, said, errors) = try_out(&settings, &log, &[]);
    assert!(
        errors.contains("1 messages belong to no session of"),
        "{errors}"
    );
    assert!(said.contains("no message of the record belongs"), "{said}");
    let wrong = with_limit(folder, "wrong", "many");
    let (code, _, errors) = try_out(&wrong, &log, &[]);
    assert!(code != 0 && errors.contains("wrong.csv:"), "{errors}");
}

#[test]
fn a_reload_is_tried_with_the_day_that_runs_and_changes_nothing() {
    let Floor {
        folder,
        running: _running,
        mut venue,
        mut client,
        ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    let mut between = String::new();
    for (name, quantity) in [("A1", 100), ("A2", 600)] {
        client.send("D", &order(name, quantity));
        let sent = id(&venue.expect("D"));
        venue.send("8", &report(&sent, quantity, '0', (quantity, 0)));
        client.expect("8");
        venue.send("8", &report(&sent, quantity + 1, '2', (quantity, quantity)));
        client.expect("8");
        if name == "A1" {
            std::thread::sleep(std::time::Duration::from_millis(5));
            between = utc_now();
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    let limits = fs::read_to_string(folder.join("limits.csv")).unwrap();
    let strict = limits.replace("firm,RC6,10000\n", "firm,RC6,500\n");
    fs::write(folder.join("limits.csv"), strict).unwrap();

    let (code, said) = oms(folder, "reload", &["--try"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("nothing is applied: 1 change\n"), "{said}");
    let row = said.lines().find(|line| line.contains(" A2 "));
    let wanted = "RC6: order quantity exceeds the limit (600, at most 500 for firm)";
    assert!(row.is_some_and(|row| row.ends_with(wanted)), "{said}");
    let tried = json(folder, "reload", &["--try"]);
    assert_eq!(tried["changes"][0]["name"], "firm RC6");
    let orders = &tried["trial"]["requests"]["orders"];
    assert_eq!(
        (&orders["in_the_record"], &orders["rejected_now"]),
        (&2.into(), &1.into())
    );
    let kept = json(folder, "limits", &[]);
    let mut kept = kept.as_array().unwrap().iter();
    let kept = kept.find(|row| row["scope"] == "firm" && row["control"] == "RC6");
    assert_eq!(kept.expect("RC6 of the firm")["limit"], 10_000);
    let (code, said) = oms(folder, "reload", &["--try", "--back"]);
    assert!(code != 0 && said.contains("--back"), "{said}");

    // From a time on: the first order's fill is a position already.
    fs::write(folder.join("limits.csv"), limits).unwrap();
    let between = between.replacen('-', "T", 1);
    let (date, time) = between.split_once('T').unwrap();
    let from = format!("{}-{}-{}T{time}", &date[..4], &date[4..6], &date[6..]);
    let store = folder.join("oms-store");
    let settings = folder.join("oms.toml");
    let (code, said, errors) = try_out(&settings, &store, &["--json", "--from", &from]);
    assert_eq!((code, errors.as_str()), (0, ""), "{said}");
    let result: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(result["requests"]["orders"]["in_the_record"], 1);
    let limits = result["limits"].as_array().unwrap();
    let is_long = |it: &&Value| it["control"] == "RC15-long" && it["scope"] == "firm";
    let long = limits.iter().find(is_long);
    assert_eq!(long.expect(&said)["largest_use"], "700", "{said}");
}

#[test]
fn a_trial_of_lines_over_tmp_accepts_what_only_tmp_refuses() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["oms-tmp.toml", "futures.csv", "futures-limits.csv"] {
        fs::write(folder.path().join(file), example(file)).unwrap();
    }
    // TMP has no replace that raises the quantity.
    let terms = "55=TXFL6|54=1|40=2|44=22000";
    let report = "37=1|17=1|20=0|39=0|14=0|6=0";
    let rows = [
        (
            "D",
            true,
            format!("11=A1|21=1|60=20261123-10:00:00|38=1|{terms}"),
        ),
        (
            "8",
            false,
            format!("11=A1|150=0|38=1|151=1|{terms}|{report}"),
        ),
        (
            "G",
            true,
            format!("11=A2|41=A1|21=1|60=20261123-10:00:02|38=2|{terms}"),
        ),
        (
            "8",
            false,
            format!("11=A2|41=A1|150=5|38=2|151=2|{terms}|{report}"),
        ),
    ];
    let mut log = String::new();
    for (second, (msg_type, is_client, body)) in rows.iter().enumerate() {
        let ends = if *is_client {
            "49=CLIENT|56=OMS"
        } else {
            "49=OMS|56=CLIENT"
        };
        let time = format!("52=20261123-10:00:0{second}");
        log += &format!("8=FIX.4.2|9=5|35={msg_type}|34=2|{ends}|{time}|{body}|10=000|\n");
    }
    let record = folder.path().join("day.log");
    fs::write(&record, log.replace('|', "\x01")).unwrap();
    let settings = folder.path().join("oms-tmp.toml");
    let (code, said, errors) = try_out(&settings, &record, &["--json", "--strict"]);
    assert_eq!(code, 0, "{said}{errors}");
    let result: Value = serde_json::from_str(&said).unwrap();
    for kind in ["orders", "replaces"] {
        let counts = &result["requests"][kind];
        assert_eq!(
            (&counts["accepted"], &counts["rejected_now"]),
            (&1.into(), &0.into()),
            "{said}{errors}"
        );
    }
}

#[test]
fn a_long_record_is_played_in_its_order() {
    const ORDERS: usize = 4_000;
    let folder = tempfile::tempdir().unwrap();
    for file in ["oms.toml", "instruments.csv", "limits.csv"] {
        fs::write(folder.path().join(file), example(file)).unwrap();
    }
    let strict = with_limit(folder.path(), "strict", "500");
    // Each order is accepted and filled before the next one; every third order is too large for the tried limit. The
    // record is some megabytes long, so it goes through many batches.
    let mut log = String::new();
    let mut line = |number: usize, msg_type: &str, ends: &str, body: &str| {
        let (second, milli) = (number / 1000, number % 1000);
        let time = format!("52=20261123-10:00:{second:02}.{milli:03}");
        log += &format!("8=FIX.4.2|9=5|35={msg_type}|34=2|{ends}|{time}|{body}10=000|\n");
    };
    for number in 0..ORDERS {
        let quantity = if number % 3 == 0 { 600 } else { 100 };
        let side = 1 + number % 2;
        let terms = format!("11=C{number}|55=VOD|54={side}|38={quantity}|40=2|44=12.50|");
        let text = "x".repeat(number % 300);
        line(
            number,
            "D",
            "49=CLIENT|56=OMS",
            &format!("{terms}21=1|60=20261123-10:00:00|"),
        );
        let report = format!("{terms}37={number}|17={number}|58=.{text}|20=0|");
        for (kind, last) in [("0", 0), ("2", quantity)] {
            let report = format!("{report}150={kind}|39={kind}|32={last}|31=12.50|");
            line(number, "8", "49=OMS|56=CLIENT", &report);
        }
    }
    assert!(log.len() > 1 << 21, "{}", log.len());
    let record = folder.path().join("day.log");
    fs::write(&record, log.replace('|', "\x01")).unwrap();
    let loose = folder.path().join("oms.toml");
    for (settings, rejected) in [(&loose, 0), (&strict, ORDERS.div_ceil(3))] {
        let (code, said, errors) = try_out(settings, &record, &["--json"]);
        assert_eq!((code, errors.as_str()), (0, ""), "{said}");
        let result: Value = serde_json::from_str(&said).unwrap();
        let orders = &result["requests"]["orders"];
        assert_eq!(orders["accepted"], ORDERS, "{orders}");
        assert_eq!(orders["rejected_now"], rejected, "{orders}");
        assert_eq!(result["lost_fills"], rejected);
        let changed = result["changed"].as_array().unwrap();
        let ids = changed.iter().map(|row| row["ClOrdID"].as_str().unwrap());
        let wanted = (0..rejected).map(|at| format!("C{}", 3 * at));
        assert!(ids.eq(wanted), "{changed:?}");
        // An order is filled before the next one comes, so no two are open.
        let limits = result["limits"].as_array().unwrap();
        let is_open = |it: &&Value| it["control"] == "RC13" && it["scope"] == "firm";
        let open = limits.iter().find(is_open).expect(&said);
        assert_eq!(open["largest_use"], "1", "{open}");
    }
}
