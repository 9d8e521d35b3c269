//! `fixwire oms reload`, as an operator uses it.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::oms::{
    Floor, client_logs_on, id, json as rows, oms, order, report, start, venue_logs_on,
};

/// Replaces words in a file of the OMS.
fn edit(folder: &Path, file: &str, old: &str, new: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(old), "{file}: {old}");
    fs::write(&path, text.replacen(old, new, 1)).unwrap();
}

fn reload(folder: &Path, more: &[&str]) -> (i32, String) {
    oms(folder, "reload", more)
}

fn limit_of_firm(folder: &Path) -> Value {
    let limits = rows(folder, "limits", &[]);
    let mut limits = limits.as_array().unwrap().iter();
    let limit = limits.find(|row| row["scope"] == "firm" && row["control"] == "RC6");
    limit.expect("RC6 of the firm")["limit"].clone()
}

#[test]
fn new_limits_and_instruments_are_in_force_at_the_next_order_and_after_kill_9() {
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
    let first = id(&venue.expect("D"));
    venue.send("8", &report(&first, 1, '0', (100, 0)));
    client.expect("8");
    edit(folder, "limits.csv", "firm,RC6,10000", "firm,RC6,70");
    let settings = rows(folder, "status", &[])[0]["settings"].clone();
    let (code, said) = reload(folder, &["--check", "--json"]);
    assert_eq!(code, 0, "{said}");
    let wanted = json!({
        "result": "nothing is applied: 1 change",
        "changes": [{ "setting": "limit", "name": "firm RC6", "was": "10000", "is": "70" }],
    });
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap(), wanted);
    assert_eq!(limit_of_firm(folder), 10_000);
    let (code, said) = reload(folder, &[]);
    assert!(code != 0 && said.contains("--why"), "{said}");
    let (code, said) = reload(folder, &["--reason", "the desk"]);
    assert_eq!(
        (code, said.as_str()),
        (
            0,
            "reloaded: 1 change\nSETTING  NAME        WAS  IS\nlimit    firm RC6  10000  70\n"
        )
    );
    running.hears("oms settings reloaded and in force, by ");
    client.send("D", &order("A2", 100));
    let refused = client.expect("8");
    assert!(
        refused.contains("RC6: order quantity exceeds the limit (100, at most 70"),
        "{refused}"
    );
    let after = rows(folder, "status", &[])[0]["settings"].clone();
    assert_ne!(after, settings);
    // VOD cannot be removed while its order is open; a new symbol is added, with a limit of its own.
    let vod = fs::read_to_string(folder.join("instruments.csv")).unwrap();
    let vod = vod
        .lines()
        .find(|line| line.starts_with("VOD,"))
        .unwrap()
        .to_owned();
    edit(
        folder,
        "instruments.csv",
        &format!("{vod}\n"),
        "NEW,0.01,1,1,1,5\n",
    );
    let (code, said) = reload(folder, &["--why", "the desk"]);
    assert!(
        code != 0
            && said
                == "error: symbol VOD has an open order: it cannot be removed; cancel it first\n",
        "{said}"
    );
    running.hears("those in force stay: symbol VOD has an open order");
    edit(
        folder,
        "instruments.csv",
        "NEW,0.01,1,1,1,5\n",
        &format!("{vod}\nNEW,0.01,1,1,1,5\n"),
    );
    let (code, said) = reload(folder, &["--why", "the desk"]);
    assert!(code == 0 && said.contains("instrument  NEW"), "{said}");
    drop(running);

    let running = start(folder, port);
    let mut venue = venue_logs_on(&listener, venue.next_out);
    running.hears("SIM-1 logged on");
    let mut client = client_logs_on(port, client.next_out);
    assert_eq!(limit_of_firm(folder), 70);
    let (code, said) = reload(folder, &["--check"]);
    assert_eq!(
        (code, said.as_str()),
        (0, "nothing is applied: 0 changes\n")
    );
    client.send("D", &order("A3", 60));
    venue.expect("D");
    // The previous settings are lost with the process.
    let (code, said) = reload(folder, &["--back", "--why", "x"]);
    assert!(
        code != 0 && said.contains("nothing was reloaded since the start"),
        "{said}"
    );
    drop(running);
}

#[test]
fn every_mistake_has_its_line_and_nothing_is_applied() {
    let Floor {
        folder, running, ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    edit(
        folder,
        "limits.csv",
        "firm,RC6,10000",
        "firm,RC6,ten\nfirm,RC99,1",
    );
    edit(folder, "instruments.csv", "\nVOD,", "\n,,,,,\nVOD,");
    let settings = fs::read_to_string(folder.join("oms.toml")).unwrap();
    edit(
        folder,
        "oms.toml",
        "\"status\"]",
        "\"status\", \"everything\"]",
    );
    let (code, said) = reload(folder, &["--why", "the desk"]);
    assert_ne!(code, 0);
    for wrong in [
        "limits.csv:4: RC6=ten: the limit must be a number with at most 8 decimals",
        "limits.csv:5: unknown control RC99",
        "instruments.csv:3: ",
        "everything",
    ] {
        assert!(said.contains(wrong), "{wrong}: {said}");
    }
    assert!(
        said.lines().all(|line| line.starts_with("error: ")),
        "{said}"
    );
    assert_eq!(limit_of_firm(folder), 10_000);
    // Settings that only a start reads, with their lines; valid limits are not applied either.
    edit(
        folder,
        "limits.csv",
        "firm,RC6,ten\nfirm,RC99,1",
        "firm,RC6,70",
    );
    edit(folder, "instruments.csv", "\n,,,,,\nVOD,", "\nVOD,");
    for (old, new, wrong) in [
        (
            "ReconnectInterval = 1",
            "ReconnectInterval = 2",
            "ReconnectInterval of session differs: it needs a restart",
        ),
        (
            "FileStorePath",
            "Durability = \"disk\"\nFileStorePath",
            "Durability of default differs: it needs a restart",
        ),
        (
            "lines = [\"SIM-1\"]",
            "lines = [\"SIM-1\"]\ncannot = [\"replace\"]",
            "cannot of line_group differs: it needs a restart",
        ),
        (
            "[oms]",
            "[oms]\norders = 7",
            "orders of oms differs: it needs a restart",
        ),
    ] {
        fs::write(folder.join("oms.toml"), &settings).unwrap();
        edit(folder, "oms.toml", old, new);
        let text = fs::read_to_string(folder.join("oms.toml")).unwrap();
        let added = new.lines().find(|line| !settings.contains(line)).unwrap();
        let line = text
            .lines()
            .position(|it| it == added || it.starts_with(added))
            .unwrap()
            + 1;
        let (code, said) = reload(folder, &["--why", "the desk"]);
        assert!(
            code != 0 && said.contains(&format!("oms.toml:{line}")) && said.contains(wrong),
            "{wrong} in line {line}: {said}"
        );
        assert_eq!(limit_of_firm(folder), 10_000);
    }
    fs::write(folder.join("oms.toml"), &settings).unwrap();
    let (code, said) = reload(folder, &["--why", "the desk"]);
    assert!(
        code == 0 && said.starts_with("reloaded: 1 change\n"),
        "{said}"
    );
    assert_eq!(limit_of_firm(folder), 70);
    let (code, said) = reload(folder, &["--back", "--why", "the wrong desk"]);
    assert!(
        code == 0
            && said.contains("the files still have the settings that are no longer in force")
            && said.contains("70  10000"),
        "{said}"
    );
    assert_eq!(limit_of_firm(folder), 10_000);
    running.hears("settings from before the last reload in force, by ");
    // A file other than the running one.
    let other = folder.join("other");
    fs::create_dir(&other).unwrap();
    fs::copy(folder.join("oms.toml"), other.join("oms.toml")).unwrap();
    let (code, said) = reload(&other, &["--why", "the desk"]);
    assert!(code != 0 && said.contains("this process runs "), "{said}");
    drop(running);
}

/// The time of day in some seconds.
fn soon(seconds: u64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let at = (now + seconds) % 86_400;
    format!("{:02}:{:02}:{:02}", at / 3600, at / 60 % 60, at % 60)
}

#[test]
fn files_are_reloaded_at_the_time_of_the_settings() {
    let Floor {
        folder, running, ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    let schedule = |before: &str| {
        let at = soon(6);
        edit(
            folder,
            "oms.toml",
            before,
            &format!("[oms]\nreload = \"{at}\"\n"),
        );
        let (code, said) = reload(folder, &["--why", "a schedule"]);
        let shown = at.strip_suffix(":00").unwrap_or(&at).to_owned();
        assert!(code == 0 && said.contains(&shown), "{said}");
        (at, shown)
    };
    // A reload sets the time; edits of the settings file itself wait for an operator.
    let (first, shown) = schedule("[oms]\n");
    edit(folder, "oms.toml", "\"status\"]", "\"everything\"]");
    edit(folder, "limits.csv", "firm,RC6,10000", "firm,RC6,70");
    running.hears(&format!(
        "oms settings reloaded and in force, by schedule {shown}"
    ));
    assert_eq!(limit_of_firm(folder), 70);
    // A file with a mistake: the old limits stay, and an event says why.
    edit(folder, "oms.toml", "\"everything\"]", "\"status\"]");
    let (_, shown) = schedule(&format!("[oms]\nreload = \"{first}\"\n"));
    edit(folder, "limits.csv", "firm,RC6,70", "firm,RC6,many");
    let said = running.hears(&format!(
        "settings not reloaded by schedule {shown}, those in force stay: "
    ));
    assert!(said.contains("limits.csv:4: RC6=many"), "{said}");
    assert_eq!(limit_of_firm(folder), 70);
    drop(running);
}
