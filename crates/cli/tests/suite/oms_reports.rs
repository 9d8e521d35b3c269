//! A client of a real process requests its reports again.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixwire_protocol::time::{Precision, Timestamp, TimestampWriter};

use crate::oms::{Floor, client_logs_on, id, oms, order, report, start, venue_logs_on};
use crate::peer::Peer;
use crate::running::{SOON, free_port};

const RIGHTS: &str = "may = [\"new\", \"replace\", \"cancel\", \"status\"]";
const REPORTS: &str =
    "may = [\"new\", \"replace\", \"cancel\", \"status\", \"reports\"]\nreport_numbers = true";

const DAY: Duration = Duration::from_secs(86_400);

/// A value of a message.
fn get(message: &str, tag: u32) -> &str {
    let from = message
        .find(&format!("|{tag}="))
        .map(|at| &message[at + 1..]);
    let value = from.and_then(|rest| rest.split('|').next()?.split_once('='));
    value.map_or("-", |(_, value)| value)
}

/// The fields of a report that are the same each time it is sent.
fn kept(report: &str) -> Vec<String> {
    let changes = ["8=", "9=", "34=", "52=", "10=", "1352="];
    let fields = report.split('|').filter(|field| !field.is_empty());
    let kept = fields.filter(|field| !changes.iter().any(|tag| field.starts_with(tag)));
    kept.map(str::to_owned).collect()
}

/// Requests reports; returns the acknowledgement and the reports, until they are complete.
fn ask(client: &mut Peer, appl_id: &str, (first, last): (u64, u64)) -> (String, Vec<String>) {
    let body = format!("1346=Q{first}|1347=0|1351=1|1355={appl_id}|1182={first}|1183={last}");
    client.send("BW", &body);
    let ack = client.expect("BX");
    let mut reports = Vec::new();
    if get(&ack, 1348) != "0" {
        return (ack, reports);
    }
    loop {
        let message = client.next().unwrap();
        if message.contains("|35=BY|") {
            assert_eq!(get(&message, 1426), "3", "{message}");
            assert_eq!(get(&message, 1346), format!("Q{first}"));
            return (ack, reports);
        }
        assert_eq!(get(&message, 1352), "Y", "{message}");
        reports.push(message);
    }
}

/// Logs on after the loss of its store.
fn logs_on_anew(port: u16) -> Peer {
    let mut client = Peer::connect(port, "CLIENT", "OMS");
    client.send("A", "98=0|108=30|141=Y");
    client.expect("A");
    client
}

fn dictionary() -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let delta = examples.join("oms-reports-fix42.delta").canonicalize();
    let delta = delta.unwrap().display().to_string();
    format!("TargetCompID = \"CLIENT\"\nDataDictionary = \"built-in + {delta}\"")
}

/// The next date, such as 2026-11-23.
fn tomorrow() -> String {
    in_days(1)
}

/// The UTC date after this number of days, such as 2026-11-23.
pub fn in_days(days: u32) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + days * DAY;
    let time = Timestamp(i64::try_from(since.as_nanos()).unwrap());
    let text = TimestampWriter::new()
        .format(time, Precision::Millis)
        .to_vec();
    let text = String::from_utf8(text).unwrap();
    format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..8])
}

#[test]
fn a_client_that_lost_its_store_gets_each_report_after_kill_9_and_on_another_day() {
    let Floor {
        folder,
        listener,
        port,
        running,
        mut venue,
        mut client,
    } = Floor::with(&[
        (RIGHTS, REPORTS),
        ("TargetCompID = \"CLIENT\"", &dictionary()),
    ]);
    let folder = folder.path();
    let mut all = Vec::new();
    client.send("D", &order("A1", 20_000));
    all.push(client.expect("8"));
    client.send("D", &order("A2", 100));
    let first = id(&venue.expect("D"));
    venue.send("8", &report(&first, 1, '0', (100, 0)));
    all.push(client.expect("8"));
    venue.send("8", &report(&first, 2, '1', (100, 40)));
    all.push(client.expect("8"));
    client.send(
        "F",
        &format!("11=A3|41=A9|55=VOD|54=1|60={}", crate::peer::utc_now()),
    );
    all.push(client.expect("9"));
    for message in &all {
        assert_eq!((get(message, 1180), get(message, 1352)), ("OMS", "-"));
    }
    drop(running);

    let running = start(folder, port);
    let venue_next = venue.next_out;
    let mut venue = venue_logs_on(&listener, venue_next);
    let mut client = logs_on_anew(port);
    let number = |message: &String| get(message, 1181).parse::<u64>().unwrap();
    let same = |again: &[String], wanted: &[String]| {
        let again: Vec<_> = again.iter().map(|it| kept(it)).collect();
        let wanted: Vec<_> = wanted.iter().map(|it| kept(it)).collect();
        assert_eq!(again, wanted);
    };
    let (ack, again) = ask(&mut client, "OMS", (1, 0));
    same(&again, &all);
    let end: u64 = get(&ack, 1357).parse().unwrap();
    assert!(end >= number(&all[3]), "{ack}");
    let (_, again) = ask(&mut client, "OMS", (number(&all[1]), number(&all[2])));
    same(&again, &all[1..3]);
    for (appl_id, range, wanted) in [
        ("OMS", (end + 1, 0), ("2", "1")),
        ("OMS", (7, 3), ("2", "1")),
        ("OTHER", (1, 0), ("1", "0")),
    ] {
        let (ack, _) = ask(&mut client, appl_id, range);
        assert_eq!((get(&ack, 1348), get(&ack, 1354)), wanted, "{ack}");
    }
    let (_, again) = ask(&mut client, "OMS", (1, 1));
    assert_eq!(again, [""; 0], "the first event is none of a client");

    let day = format!("day={}", tomorrow());
    let (_, said) = oms(folder, "roll", &[&day, "--why", "a test"]);
    assert!(said.contains("1 order of the day is live"), "{said}");
    let (code, said) = oms(folder, "roll", &[&day, "--cancel", "--why", "a test"]);
    assert_eq!(code, 0, "{said}");
    let cancel = venue.expect("F");
    let cancelled = report(&id(&cancel), 3, '4', (100, 40))
        .replace(&format!("37=V{}", id(&cancel)), &format!("37=V{first}"))
        .replace("|32=40|", &format!("|32=0|41={first}|"))
        .replace("151=60", "151=0");
    venue.send("8", &cancelled);
    all.push(client.expect("8"));
    assert_eq!(get(&all[4], 39), "4");
    drop(running);

    // Its rights to reports are now for other accounts.
    let running = start(folder, port);
    venue = venue_logs_on(&listener, venue.next_out);
    let mut client = logs_on_anew(port);
    same(&ask(&mut client, "OMS", (1, 0)).1, &all);
    drop(running);
    let settings = folder.join("oms.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let table =
        format!("[[user]]\nsession = \"CLIENT\"\naccounts = [\"A1\"]\n{RIGHTS}\n\n[[line_group]]");
    fs::write(&settings, text.replace("[[line_group]]", &table)).unwrap();
    let _running = start(folder, port);
    let _venue = venue_logs_on(&listener, venue.next_out);
    let mut client = client_logs_on(port, client.next_out);
    let (_, again) = ask(&mut client, "OMS", (1, 0));
    let types: Vec<&str> = again.iter().map(|it| get(it, 35)).collect();
    assert_eq!(types, ["9"], "the reject of an order that does not exist");
}

#[test]
fn a_drop_copy_gets_each_report_of_its_accounts_again_after_kill_9() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let delta = examples
        .join("oms-reports-fix44.delta")
        .canonicalize()
        .unwrap();
    let session = |port: u16| {
        format!(
            "[[session]]\nSessionName = \"COPY\"\nConnectionType = \"acceptor\"\nSocketAcceptAddress = \"127.0.0.1\"\n\
             SocketAcceptPort = {port}\nBeginString = \"FIX.4.4\"\nSenderCompID = \"OMS\"\nTargetCompID = \"COPY\"\n\
             DataDictionary = \"built-in + {}\"\n[oms]\n",
            delta.display()
        )
    };
    let copy_port = free_port();
    let copies =
        "[[drop_copy]]\nsession = \"COPY\"\naccounts = [\"A*\"]\nreport_numbers = true\n[[route]]";
    let Floor {
        folder,
        listener,
        port,
        running,
        mut venue,
        mut client,
    } = Floor::with(&[("[oms]\n", &session(copy_port)), ("[[route]]", copies)]);
    let folder = folder.path();
    let logs_on = |next_out| {
        let mut copy = Peer::connect(copy_port, "COPY", "OMS");
        (copy.begin_string, copy.next_out) = ("FIX.4.4", next_out);
        let reset = if next_out == 1 { "|141=Y" } else { "" };
        copy.send("A", &format!("98=0|108=30{reset}"));
        copy.expect("A");
        copy
    };
    let mut copy = logs_on(1);
    let mut all = Vec::new();
    client.send("D", &order("A1", 100));
    let first = id(&venue.expect("D"));
    venue.send("8", &report(&first, 1, '0', (100, 0)));
    all.push(copy.expect("8"));
    venue.send("8", &report(&first, 2, '1', (100, 40)));
    all.push(copy.expect("8"));
    for message in &all {
        assert_eq!((get(message, 797), get(message, 1180)), ("Y", "OMS"));
        assert_eq!((get(message, 1), get(message, 1352)), ("A1", "-"));
    }
    // The client has no right to request reports.
    client.expect("8");
    client.expect("8");
    client.send("BW", "1346=Q|1347=0|1351=1|1355=OMS|1182=1|1183=0");
    assert!(
        client.next().unwrap().contains("|35=3|"),
        "its dictionary has no BW"
    );
    drop(running);

    let _running = start(folder, port);
    let mut again = venue_logs_on(&listener, venue.next_out);
    let mut copy = logs_on(1);
    let resent = ask(&mut copy, "OMS", (1, 0)).1;
    let both = |reports: &[String]| reports.iter().map(|it| kept(it)).collect::<Vec<_>>();
    assert_eq!(both(&resent), both(&all));
    let last = get(&all[1], 1181).parse().unwrap();
    assert_eq!(both(&ask(&mut copy, "OMS", (last, 0)).1), both(&all[1..]));
    let filled = report(&first, 3, '1', (100, 50)).replace("|151=50|14=50|", "|151=10|14=90|");
    again.send("8", &filled);
    let live = copy.expect("8");
    assert!(get(&live, 1181).parse::<u64>().unwrap() > last);
    assert_eq!((get(&live, 14), get(&live, 1352)), ("90", "-"));
}

/// Whether the folder of a journal has a checkpoint.
fn has_checkpoint(store: &Path) -> bool {
    let mut files = fs::read_dir(store).unwrap();
    files.any(|file| {
        file.unwrap()
            .path()
            .extension()
            .is_some_and(|it| it == "fwk")
    })
}

/// Reading begins at a checkpoint near the range, or at the beginning of the journal.
#[test]
fn reports_of_a_long_day_are_found_behind_and_before_a_checkpoint() {
    let keep = "[default]\nJournalSegmentSize = \"2M\"\n";
    let Floor {
        folder,
        running,
        mut client,
        ..
    } = Floor::with(&[
        (RIGHTS, REPORTS),
        ("TargetCompID = \"CLIENT\"", &dictionary()),
        ("[default]\n", keep),
    ]);
    let store = folder.path().join("oms-store");
    let mut all = Vec::new();
    let begun = Instant::now();
    while !has_checkpoint(&store) || all.len() % 500 != 0 {
        client.send("D", &order(&format!("A{}", all.len()), 20_000));
        all.push(client.expect("8"));
        assert!(
            begun.elapsed() < 2 * SOON,
            "{} reports, no checkpoint",
            all.len()
        );
    }
    for (from, count) in [(0, 3), (all.len() - 5, 5), (all.len() / 2, 100)] {
        let wanted = &all[from..from + count];
        let range = [&wanted[0], &wanted[count - 1]].map(|it| get(it, 1181).parse().unwrap());
        let (_, again) = ask(&mut client, "OMS", (range[0], range[1]));
        let again: Vec<_> = again.iter().map(|it| kept(it)).collect();
        let wanted: Vec<_> = wanted.iter().map(|it| kept(it)).collect();
        assert_eq!(again, wanted);
    }
    let (_, again) = ask(&mut client, "OMS", (1, 0));
    assert_eq!(again.len(), all.len());
    drop(running);
}
