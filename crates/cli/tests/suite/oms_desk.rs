//! Rejected orders and a venue's drop copy at a desk, in a real process.

use crate::oms::{Floor, client_logs_on, id, json, oms, order, report, start, venue_logs_on};
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
