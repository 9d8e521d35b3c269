//! Rejected orders and a venue's drop copy at a desk, in a real process.

use crate::oms::{Floor, client_logs_on, id, json, oms, order, report, start, venue_logs_on};
use crate::oms_days::moment;
use crate::oms_try::try_out;
use crate::peer::Peer;
use crate::running::free_port;

#[test]
fn a_rejected_order_is_run_again_also_after_kill_9() {
    let Floor {
        folder,
        listener,
        port,
        running,
        venue,
        mut client,
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    client.send("D", &order("A1", 20_000));
    let rejected = client.expect("8");
    assert!(rejected.contains("|39=8|"), "{rejected}");
    let row = &json(folder, "rejected", &[])[0];
    assert_eq!(row["ClOrdID"], "A1");
    assert_eq!(row["quantity"], 20_000);
    let reject = row["reject"].as_u64().unwrap();
    assert!(rejected.contains(&format!("|17={reject}|")), "{rejected}");
    drop(running);

    let running = start(folder, port);
    let mut venue = venue_logs_on(&listener, venue.next_out);
    running.hears("SIM-1 logged on");
    let mut client = client_logs_on(port, client.next_out);
    let rerun = |order: &str, without: &str| {
        oms(
            folder,
            "rerun",
            &[order, "--without", without, "--why", "by telephone"],
        )
    };
    let (code, said) = rerun("CLIENT/A1", "RC8");
    assert!(
        code != 0 && said.contains("still rejected: RC6: "),
        "{said}"
    );
    let (code, said) = rerun("CLIENT/A1", "RC1");
    assert!(code != 0 && said.contains("RC1 is never off"), "{said}");
    let (code, said) = rerun(&reject.to_string(), "RC6,RC7,RC14");
    assert_eq!(
        (code, said.as_str()),
        (0, "order 1: A1 run again without RC6,RC7,RC14; sent\n")
    );
    let sent = venue.expect("D");
    assert!(
        sent.contains("|11=1|") && sent.contains("|38=20000|"),
        "{sent}"
    );
    let pending = client.expect("8");
    assert!(
        pending.contains("|11=RERUN-1|")
            && pending.contains("|150=A|39=A|")
            && pending
                .contains("placed by an operator for A1, which was rejected; off: RC6,RC7,RC14"),
        "{pending}"
    );
    venue.send("8", &report("1", 1, '0', (20_000, 0)));
    assert!(client.expect("8").contains("|11=RERUN-1|"));
    let (code, said) = rerun("CLIENT/A1", "RC6,RC7,RC14");
    assert!(
        code != 0 && said.contains("A1 was run again already, as order 1"),
        "{said}"
    );
    let (_, said) = oms(folder, "history", &["1"]);
    assert!(
        said.contains("without RC6,RC7,RC14 by") && said.contains("by telephone"),
        "{said}"
    );
    drop(running);
}

#[test]
fn a_break_with_the_drop_copy_of_a_venue_stays_until_it_is_accepted() {
    let copies = free_port();
    let table = format!(
        "[[session]]\nSessionName = \"SIM-DC\"\nConnectionType = \"acceptor\"\n\
         SocketAcceptAddress = \"127.0.0.1\"\nSocketAcceptPort = {copies}\nBeginString = \"FIX.4.2\"\n\
         SenderCompID = \"OMS\"\nTargetCompID = \"EXCHANGE-DC\"\n\n\
         [[drop_copy_in]]\nsession = \"SIM-DC\"\nline_groups = [\"SIM\"]\n\n[oms]\ncopy_within = \"200ms\"\n"
    );
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::begin(&table);
    let folder = folder.path();
    let mut copy = Peer::connect(copies, "EXCHANGE-DC", "OMS");
    copy.log_on(30);
    running.hears("SIM-DC logged on");
    client.send("D", &order("A1", 100));
    let number = id(&venue.expect("D"));
    let (accepted, filled) = (
        report(&number, 1, '0', (100, 0)),
        report(&number, 2, '1', (100, 40)),
    );
    for peer in [&mut venue, &mut copy] {
        peer.send("8", &accepted);
    }
    venue.send("8", &filled);
    client.expect("8");
    client.expect("8");
    running.hears("fill without a copy, order 1: check with the venue");
    let row = &json(folder, "breaks", &[])[0];
    assert_eq!(row["here"], "40 at 12.5");
    assert_eq!(row["venue_says"], "-");
    assert_eq!(json(folder, "status", &[])[0]["breaks"], 1);
    let number = row["break"].to_string();
    let accept = |number: &str| oms(folder, "accept-break", &[number, "--why", "seen"]);
    let (code, said) = accept("4711");
    assert!(code != 0 && said.contains("no open break 4711"), "{said}");
    let (code, said) = accept(&number);
    assert_eq!((code, said), (0, format!("break {number}: accepted\n")));
    assert_eq!(json(folder, "breaks", &[]).as_array().unwrap().len(), 0);
    // Another trader of the firm, at the venue's terminal.
    copy.send(
        "8",
        "37=X9|17=T1|20=0|150=0|39=0|1=A1|55=VOD|54=2|38=70|40=2|44=12.6|151=70|14=0|6=0",
    );
    copy.send("1", "112=READ");
    copy.expect("0");
    let orders = json(folder, "orders", &["--open"]);
    assert_eq!(orders[1]["session"], "SIM-DC");
    assert_eq!(orders[1]["ClOrdID"], "X9");
    assert_eq!(json(folder, "positions", &[])[0]["open_to_sell"], 70);
    drop(running);
}

#[test]
fn a_venue_closes_its_market_and_expires_the_orders_of_a_file() {
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    for name in ["A1", "A2"] {
        client.send("D", &order(name, 100));
        let number = id(&venue.expect("D"));
        venue.send("8", &report(&number, 1, '0', (100, 0)));
        client.expect("8");
    }
    let status = |venue: &mut Peer, msg_type: &str, body: &str| {
        venue.send(msg_type, body);
        venue.send("1", "112=READ");
        venue.expect("0");
        json(folder, "status", &[])[0]["markets"].clone()
    };
    let symbols = json(folder, "symbols", &[]);
    let count = symbols.as_array().unwrap().len();
    assert_eq!(symbols[0]["line_group"], "SIM");
    let closed = status(&mut venue, "h", "336=DAY|340=3");
    assert_eq!(closed, format!("{count} closed"));
    running.hears(&format!(
        "line SIM-1: the market is closed for {count} symbols"
    ));
    client.send("D", &order("A3", 100));
    assert!(client.expect("8").contains("RC18: order not allowed"));
    assert_eq!(status(&mut venue, "h", "336=DAY|340=2"), "open");
    assert_eq!(status(&mut venue, "f", "55=VOD|326=2"), "1 halted");
    assert_eq!(json(folder, "accounts", &[])[1]["open"], 2);
    // The list of expired orders of the venue.
    let file = folder.join("expired.csv");
    let expire = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let name = file.display().to_string();
        oms(folder, "expire", &[&name, "--why", "day end"])
    };
    let (code, said) = expire("order\n1\n7\n2\n8\n");
    assert!(
        code != 0
            && said.contains("expired.csv:3: no order 7 in memory")
            && said.contains("expired.csv:5: no order 8 in memory"),
        "{said}"
    );
    assert_eq!(json(folder, "accounts", &[])[1]["open"], 2);
    let (code, said) = expire("order\n1\n2\n");
    assert_eq!(
        (code, said.as_str()),
        (
            0,
            "order 1: reported as expired\norder 2: reported as expired\n"
        )
    );
    for _ in 0..2 {
        assert!(client.expect("8").contains("|150=C|39=C|"));
    }
    assert_eq!(json(folder, "accounts", &[])[1]["open"], 0);
    drop(running);
}

#[test]
fn fills_are_busted_and_corrected_by_command_and_by_file() {
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    let mut fills = Vec::new();
    for (name, exec) in [("A1", 11), ("A2", 12), ("A3", 13)] {
        client.send("D", &order(name, 100));
        let number = id(&venue.expect("D"));
        venue.send("8", &report(&number, exec + 10, '0', (100, 0)));
        client.expect("8");
        venue.send("8", &report(&number, exec, '2', (100, 100)));
        let fill = client.expect("8");
        let of = fill.find("|17=").unwrap() + 4;
        fills.push(fill[of..].split('|').next().unwrap().to_owned());
    }
    let why = ["--why", "told by telephone"];
    let (code, said) = oms(folder, "bust", &[&["1/E11"], &why[..]].concat());
    let done = "fill 1/E11 of order 1: is busted (was 100 at 12.5); CumQty(14) 0\n";
    assert_eq!((code, said.as_str()), (0, done));
    let busted = client.expect("8");
    assert!(
        busted.contains("|20=1|") && busted.contains(&format!("|19={}|", fills[0])),
        "{busted}"
    );
    let correct = ["--quantity", "90", "--price", "12.55"];
    let correct = [&[fills[1].as_str()], &correct[..], &why[..]].concat();
    let (code, said) = oms(folder, "correct", &correct);
    let done = format!(
        "fill {} of order 2: is 90 at 12.55 (was 100 at 12.5); CumQty(14) 90\n",
        fills[1]
    );
    assert_eq!((code, said), (0, done));
    let corrected = client.expect("8");
    assert!(
        corrected.contains("|20=2|") && corrected.contains(&format!("|19={}|", fills[1])),
        "{corrected}"
    );
    assert_eq!(json(folder, "positions", &[])[0]["long"], 190);
    // A file with mistakes changes nothing.
    let file = folder.join("busts.csv");
    let enter = |rows: &str| {
        std::fs::write(&file, format!("order,type,exec,ref\n{rows}")).unwrap();
        let name = file.display().to_string();
        oms(folder, "report-in", &[&[name.as_str()], &why[..]].concat())
    };
    let (code, said) = enter("3,bust,E90,E13\n1,bust,E91,E11\n3,bust,E92,\n");
    assert!(
        code != 0
            && said.contains("busts.csv:3: fill E11 of order 1 is busted already")
            && said.contains("busts.csv:4: a bust needs exec"),
        "{said}"
    );
    assert_eq!(json(folder, "positions", &[])[0]["long"], 190);
    let (code, said) = enter("3,bust,E90,E13\n");
    assert_eq!(code, 0, "{said}");
    assert!(client.expect("8").contains("|20=1|"));
    assert_eq!(json(folder, "positions", &[])[0]["long"], 90);
    let (_, said) = oms(folder, "history", &["3"]);
    assert!(said.contains("told by telephone"), "{said}");
    drop(running);
}

#[test]
fn fills_of_orders_that_have_left_memory_are_busted_from_the_journal() {
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::begin("[oms]\nremembered = 2\n");
    let folder = folder.path();
    let mut fills = Vec::new();
    for exec in 11..19 {
        client.send("D", &order(&format!("A{exec}"), 100));
        let number = id(&venue.expect("D"));
        venue.send("8", &report(&number, exec + 10, '0', (100, 0)));
        client.expect("8");
        venue.send("8", &report(&number, exec, '2', (100, 100)));
        let fill = client.expect("8");
        let of = fill.find("|17=").unwrap() + 4;
        fills.push(fill[of..].split('|').next().unwrap().to_owned());
    }
    assert_eq!(json(folder, "positions", &[])[0]["long"], 800);
    let why = ["--why", "told by telephone"];
    let takes = |fill: &str, done: &str| {
        let (code, said) = oms(folder, "bust", &[&[fill], &why[..]].concat());
        assert_eq!((code, said.as_str()), (0, done));
    };
    let done = "fill 1/E11 of order 1: is busted (was 100 at 12.5); CumQty(14) 0\n";
    takes("1/E11", done);
    let busted = client.expect("8");
    assert!(
        busted.contains("|20=1|") && busted.contains(&format!("|19={}|", fills[0])),
        "{busted}"
    );
    // By the ExecID(17) that the client has.
    let name = fills[1].clone();
    takes(
        &name,
        &format!("fill {name} of order 2: is busted (was 100 at 12.5); CumQty(14) 0\n"),
    );
    assert!(client.expect("8").contains(&format!("|19={name}|")));
    // A file: rows of several such orders, and one that the journal does not have.
    let file = folder.join("busts.csv");
    let enter = |rows: &str| {
        std::fs::write(&file, format!("order,type,exec,ref\n{rows}")).unwrap();
        let name = file.display().to_string();
        oms(folder, "report-in", &[&[name.as_str()], &why[..]].concat())
    };
    let (code, said) = enter("3,bust,E90,E13\n77,bust,E91,E11\n");
    assert!(
        code != 0
            && said.contains("busts.csv:3: no order 77 in memory")
            && said.contains("the journal does not have it either")
            && !said.contains("busts.csv:2"),
        "{said}"
    );
    assert_eq!(json(folder, "positions", &[])[0]["long"], 600);
    let (code, said) = enter("3,bust,E90,E13\n4,bust,E92,E14\n");
    assert_eq!(code, 0, "{said}");
    for fill in &fills[2..4] {
        assert!(client.expect("8").contains(&format!("|19={fill}|")));
    }
    // The venue's own bust: a break, which is settled with the order from the journal.
    venue.send(
        "8",
        "37=V5|11=5|17=E95|19=E15|20=1|150=1|39=4|55=VOD|54=1|38=100|32=100|31=12.5|14=0|151=0|6=0",
    );
    running.hears("bust or correction of fill E15 of order 5, which is not in memory");
    let found = &json(folder, "breaks", &[])[0];
    assert_eq!(found["what"], "bust of a fill that is not in memory");
    assert_eq!(
        (&found["order"], &found["symbol"]),
        (&5.into(), &"VOD".into())
    );
    let number = found["break"].to_string();
    let settle = [&[number.as_str(), "venue"], &why[..]].concat();
    let (code, said) = oms(folder, "breaks settle", &settle);
    let done = format!("break {number}: settled: the bust is applied to order 5\n");
    assert_eq!((code, said), (0, done));
    assert!(client.expect("8").contains(&format!("|19={}|", fills[4])));
    assert_eq!(json(folder, "positions", &[])[0]["long"], 300);
    let (_, said) = oms(folder, "history", &["1"]);
    for wanted in [
        "removed from memory",
        "in memory again, for ",
        "told by telephone",
        "busted by an operator: 100 at 12.5 is no fill any more",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    let (_, said) = oms(folder, "history", &["5"]);
    assert!(said.contains("busted by the venue: 100 at 12.5"), "{said}");
    // The tables of the day.
    let to = folder.join("reports");
    let (code, said) = oms(folder, "day", &["--to", &to.display().to_string()]);
    assert_eq!(code, 0, "{said}");
    drop(running);
}

/// The rows of a CSV file of ours without commas in values.
pub fn csv(path: &std::path::Path) -> Vec<std::collections::BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned));
    let names: Vec<String> = lines.next().unwrap().collect();
    let row = |cells| names.iter().cloned().zip(cells).collect();
    lines.map(row).collect()
}

#[test]
fn the_tables_of_a_day_come_from_a_running_oms_and_from_a_stopped_one() {
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    client.send("D", &order("A1", 100));
    let number = id(&venue.expect("D"));
    venue.send("8", &report(&number, 1, '0', (100, 0)));
    venue.send("8", &report(&number, 2, '1', (100, 40)));
    client.expect("8");
    let filled = client.expect("8");
    client.send("D", &order("A2", 20_000));
    client.expect("8");
    let (code, said) = oms(folder, "limit", &["firm", "RC13=7", "--why", "a test"]);
    assert_eq!(code, 0, "{said}");
    let to = folder.join("reports");
    let paper = |rest: &[&str]| {
        let all = [&["--to", to.to_str().unwrap()], rest].concat();
        oms(folder, "day", &all)
    };
    let (code, said) = paper(&[]);
    assert_eq!(code, 0, "{said}");
    let orders = csv(&to.join("orders.csv"));
    assert_eq!(orders.len(), 1);
    assert_eq!(orders[0]["ClOrdID"], "A1");
    assert_eq!(orders[0]["state"], "partially filled");
    let fills = csv(&to.join("fills.csv"));
    assert_eq!(fills.len(), 1);
    assert_eq!(
        (&*fills[0]["quantity"], &*fills[0]["price"]),
        ("40", "12.5")
    );
    assert!(
        filled.contains(&format!("|17={}|", fills[0]["ExecID"])),
        "{filled}"
    );
    let positions = csv(&to.join("positions.csv"));
    assert_eq!(positions[0]["long"], "40");
    let rejected = csv(&to.join("rejected.csv"));
    assert_eq!(
        (&*rejected[0]["ClOrdID"], &*rejected[0]["quantity"]),
        ("A2", "20000")
    );
    let actions = csv(&to.join("actions.csv"));
    assert!(
        actions[0]["action"].starts_with("command limit firm RC13=7 by "),
        "{actions:?}"
    );
    let limits = csv(&to.join("limits.csv"));
    let open = limits
        .iter()
        .find(|it| it["scope"] == "firm" && it["control"] == "RC13");
    assert_eq!(
        (&*open.unwrap()["limit"], &*open.unwrap()["used"]),
        ("7", "1")
    );

    let all = || {
        let names = std::fs::read_dir(&to).unwrap().map(|it| it.unwrap().path());
        let mut files: Vec<_> = names
            .map(|it| (it.clone(), std::fs::read(it).unwrap()))
            .collect();
        files.sort();
        files
    };
    let running_files = all();
    assert_eq!(running_files.len(), 7, "the tables, and day.csv");
    drop(running);
    std::fs::remove_dir_all(&to).unwrap();
    let (code, said) = paper(&[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(all(), running_files, "kill -9 changes no row");
    let (code, said) = paper(&["--day", "2001-02-03"]);
    assert!(
        code != 0 && said.contains("no trading day 2001-02-03 in the journal"),
        "{said}"
    );
    let (code, said) = paper(&["--day", "tomorrow"]);
    assert!(
        code != 0 && said.contains("tomorrow is not a date such as 2026-11-23"),
        "{said}"
    );
    if cfg!(feature = "parquet") {
        let (code, said) = paper(&["--format", "parquet"]);
        assert_eq!(code, 0, "{said}");
        let bytes = std::fs::read(to.join("orders.parquet")).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    }
}

#[test]
fn unfinished_files_of_a_day_are_removed_also_after_an_error() {
    let Floor {
        folder, running, ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    let to = folder.join("reports");
    // A folder that is not empty is where a file belongs.
    let wrong = to.join("positions.csv");
    std::fs::create_dir_all(wrong.join("full")).unwrap();
    // A process that is killed leaves its folder.
    let mut killed = std::process::Command::new("true").spawn().unwrap();
    killed.wait().unwrap();
    let left = to.join(format!(".unfinished-{}", killed.id()));
    std::fs::create_dir(&left).unwrap();
    std::fs::write(left.join("orders.csv"), "").unwrap();
    let other = to.join(format!(".unfinished-{}", std::process::id()));
    std::fs::create_dir(&other).unwrap();
    let paper = || oms(folder, "day", &["--to", to.to_str().unwrap()]);
    let hidden = || {
        let names = std::fs::read_dir(&to).unwrap();
        let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
        names.filter(|it| it.contains("unfinished")).count()
    };
    let (code, said) = paper();
    assert!(
        code != 0 && said.contains("reports/positions.csv cannot be written: "),
        "{said}"
    );
    assert_eq!(hidden(), 1, "that of a process that runs");
    std::fs::remove_dir_all(&wrong).unwrap();
    let (code, said) = paper();
    assert_eq!(code, 0, "{said}");
    assert!(wrong.is_file() && to.join("day.csv").is_file());
    assert_eq!(hidden(), 1);
    drop(running);
}

#[test]
fn a_folder_without_a_journal_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("none");
    std::fs::create_dir(&store).unwrap();
    for rest in [["day", "--to", "reports"], ["history", "--json", "1"]] {
        let mut command = crate::running::fixwire();
        command.arg("oms").arg(rest[0]).arg(&store).args(&rest[1..]);
        let run = command.current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8(run.stderr).unwrap();
        let wanted = format!("{} contains no journal", store.display());
        assert!(!run.status.success() && said.contains(&wanted), "{said}");
    }
    assert!(!folder.path().join("reports").exists());
}

#[test]
fn a_day_whose_beginning_was_removed_lists_the_orders_that_were_open() {
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
    let (folder, begun) = (folder.path(), moment());
    let mut ids = Vec::new();
    for name in ["A1", "A2", "A3"] {
        client.send("D", &order(name, 10_000));
        let number = id(&venue.expect("D"));
        venue.send("8", &report(&number, 1, '0', (10_000, 0)));
        client.expect("8");
        ids.push(number);
    }
    let cancelled = report(&ids[2], 2, '4', (10_000, 0)).replace("151=10000", "151=0");
    venue.send("8", &cancelled);
    assert!(client.expect("8").contains("|39=4|"));
    let to = folder.join("reports");
    let paper = || oms(folder, "day", &["--to", to.to_str().unwrap()]);
    let text = "x".repeat(1500);
    let mut filled = 0;
    let warned = |said: &str| said.contains("warning: the beginning of ");
    let said = loop {
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
                "37=V{0}|11={0}|17=F{filled}|20=0|150=1|39=1|55=VOD|54=1|38=10000|32=1|31=12.5|151={left}|14={filled}|\
                 6=12.5|58={text}",
                ids[0]
            );
            venue.send("8", &fill);
            client.expect("8");
        }
        let (code, said) = paper();
        assert_eq!(code, 0, "{said}");
        if warned(&said) {
            break said;
        }
        assert!(filled < 9_000, "{said}");
    };
    assert!(
        said.contains("were removed from the journal (JournalKeep)"),
        "{said}"
    );
    let orders = csv(&to.join("orders.csv"));
    let row = |id: &str| orders.iter().find(|row| row["ClOrdID"] == id);
    let (first, second) = (row("A1").unwrap(), row("A2").unwrap());
    assert_eq!(first["filled"], filled.to_string());
    assert_eq!((&*second["state"], &*second["entered"]), ("working", ""));
    assert_eq!(row("A3"), None, "it was closed before");
    let fills = u64::try_from(csv(&to.join("fills.csv")).len()).unwrap();
    assert!(fills > 0 && fills < filled, "{fills} of {filled}");

    // An earlier state is read from a checkpoint, and not further back.
    let (then, at) = (json(folder, "orders", &[]), moment());
    std::thread::sleep(std::time::Duration::from_millis(5));
    client.send("D", &order("A4", 1));
    client.send("1", "112=READ");
    client.expect("0");
    assert_eq!(json(folder, "orders", &[]).as_array().unwrap().len(), 4);
    assert_eq!(json(folder, "orders", &["--at", &at]), then);
    let (code, said) = oms(folder, "orders", &["--at", &begun]);
    assert!(
        code != 0 && said.contains(" is not known: ") && said.contains(" on (JournalKeep)"),
        "{said}"
    );
    drop(running);

    // A trial begins with the positions of the oldest checkpoint, and without the orders of before.
    let store = folder.join("oms-store");
    let settings = folder.join("oms.toml");
    let (code, _, errors) = try_out(&settings, &store, &["--json", "--strict"]);
    assert_eq!(code, 1, "a part of the record was not read: {errors}");
    let (code, said, errors) = try_out(&settings, &store, &["--json"]);
    assert_eq!(code, 0, "{errors}");
    let warning = "oms-store has the positions from ";
    assert!(
        errors.contains(warning) && errors.contains(" on: what was sent until then is not played"),
        "{errors}"
    );
    assert!(
        errors.contains("warning: not read: ")
            && errors.contains("were removed before they were read"),
        "{errors}"
    );
    // The part after a later time was not removed.
    let (code, _, part) = try_out(&settings, &store, &["--json", "--strict", "--from", &at]);
    assert_eq!(code, 0, "{part}");
    assert!(!part.contains("not read: "), "{part}");
    // The positions of two journals are not known.
    let second = folder.join("second");
    std::fs::create_dir(&second).unwrap();
    for file in std::fs::read_dir(&store).unwrap() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_file() {
            std::fs::copy(file.path(), second.join(file.file_name())).unwrap();
        }
    }
    let (code, _, two) = try_out(&settings, &store, &["--json", second.to_str().unwrap()]);
    assert_eq!(code, 1, "{two}");
    assert!(two.contains("error: not read: "), "{two}");
    let tried: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(tried["requests"]["orders"]["in_the_record"], 1, "{said}");
    let later = tried["not_played"]["fills of orders of before the record"].as_u64();
    let later = later.filter(|later| (1..filled).contains(later));
    let before = filled - later.expect(&said);
    let limits = tried["limits"].as_array().unwrap();
    let is_long = |it: &&serde_json::Value| it["control"] == "RC15-long" && it["scope"] == "firm";
    let long = &limits.iter().find(is_long).expect(&said)["largest_use"];
    assert_eq!(*long, (before + 1).to_string(), "{said}");
}

#[test]
fn all_orders_are_listed_however_many_there_are() {
    let Floor {
        folder,
        running,
        mut venue,
        mut client,
        ..
    } = Floor::begin("[oms]\n");
    let folder = folder.path();
    let (code, said) = oms(folder, "limit", &["firm", "RC13=5000", "--why", "a test"]);
    assert_eq!(code, 0, "{said}");
    const ORDERS: usize = 2_203;
    for number in 1..=ORDERS {
        client.send("D", &order(&format!("A{number}"), 1));
        venue.expect("D");
    }
    let numbers = |rest: &[&str]| -> Vec<u64> {
        let rows = json(folder, "orders", rest);
        let rows = rows.as_array().unwrap().iter();
        rows.map(|row| row["order"].as_u64().unwrap()).collect()
    };
    let all: Vec<u64> = (1..=ORDERS as u64).collect();
    assert_eq!(numbers(&[]), all);
    assert_eq!(numbers(&["--newest", "1200"]), all[ORDERS - 1200..]);
    assert_eq!(numbers(&["--newest", "0"]), [0; 0]);
    assert_eq!(numbers(&["--account", "A1", "--open"]), all);
    drop(running);
}
