//! Conditional orders and reports by hand, in a real process.

use std::fs;

use crate::oms::{Floor, client_logs_on, json, oms, order, start, venue_logs_on};

#[test]
fn a_conditional_order_survives_kill_9_and_reports_are_entered_by_hand() {
    let Floor {
        folder,
        listener,
        port,
        running,
        mut venue,
        mut client,
    } = Floor::with(&[
        (
            "[oms]\n",
            "[oms.own_tags]\ncondition = 9703\n\n[oms]\nmarket_data = [\"SIM-1\"]\n",
        ),
        (
            "TargetCompID = \"CLIENT\"",
            "TargetCompID = \"CLIENT\"\nValidateUserDefinedFields = false",
        ),
    ]);
    let folder = folder.path();
    client.send("D", &format!("{}|9703=last>=12.60", order("A1", 100)));
    let held = client.expect("8");
    assert!(held.contains("|39=A|") && held.contains("held: "), "{held}");
    let row = json(folder, "held", &[]);
    assert_eq!(row[0]["condition"], "last >= 12.6");
    venue.send("W", "262=P|55=VOD|268=1|269=2|270=12.55|271=10");
    // By then the OMS has read it.
    venue.send("1", "112=READ");
    venue.expect("0");
    drop(running);

    let running = start(folder, port);
    let mut venue = venue_logs_on(&listener, venue.next_out);
    let mut client = client_logs_on(port, client.next_out);
    let prices = folder.join("prices.csv");
    let file = prices.display().to_string();
    let why = ["--why", "the feed is down"];
    fs::write(&prices, "symbol,last\nVOD,x\n").unwrap();
    let (code, said) = oms(folder, "prices", &[&[file.as_str()], &why[..]].concat());
    assert!(
        code != 0 && said.contains("prices.csv:2: last = x is not a price"),
        "{said}"
    );
    fs::write(
        &prices,
        "symbol,last\nVOD,12.60\nXYZ,1\nVOD,1.00001\nVOD,x\n",
    )
    .unwrap();
    let (code, said) = oms(folder, "prices", &[&[file.as_str()], &why[..]].concat());
    assert!(
        code != 0
            && said.contains("prices.csv:3: unknown symbol XYZ")
            && said.contains("prices.csv:4: last=1.00001 is not a price with at most")
            && said.contains("prices.csv:5: last = x is not a price"),
        "{said}"
    );
    assert_eq!(json(folder, "held", &[]).as_array().unwrap().len(), 1);
    fs::write(&prices, "symbol,last\nVOD,12.60\n").unwrap();
    let (code, said) = oms(folder, "prices", &[&[file.as_str()], &why[..]].concat());
    assert_eq!(
        (code, said.as_str()),
        (
            0,
            "symbol=VOD: price set; it meets the condition of 1 order\n"
        )
    );
    let sent = venue.expect("D");
    assert!(
        sent.contains("|11=1|") && sent.contains("|40=2|44=12.5|"),
        "{sent}"
    );
    assert!(client.expect("8").contains("triggered: "));
    venue.send("W", "262=P|55=VOD|268=1|269=2|270=12.65|271=10");

    let reports = folder.join("reports.csv");
    let file = reports.display().to_string();
    let rows = "order,type,quantity,price,exec\n1,fill,40,12.5,E7\n1,fill,70,12.5,E8\n2,expired,,,\n1,fill\n";
    fs::write(&reports, rows).unwrap();
    let why = ["--why", "by telephone"];
    let (code, said) = oms(folder, "report-in", &[&[file.as_str()], &why[..]].concat());
    assert!(
        code != 0
            && said.contains("reports.csv:3: quantity is above what is left of order 1, 60")
            && said.contains("reports.csv:4: no order 2 in memory")
            && said.contains("reports.csv:5: 2 values, the first line names 5"),
        "{said}"
    );
    fs::write(&reports, "order,type\n").unwrap();
    let (code, said) = oms(folder, "report-in", &[&[file.as_str()], &why[..]].concat());
    assert!(
        code != 0 && said.contains("reports.csv:1: the file has no row"),
        "{said}"
    );
    fs::write(&reports, b"order,type\n1,Soci\xE9t\xE9\n").unwrap();
    let (code, said) = oms(folder, "report-in", &[&[file.as_str()], &why[..]].concat());
    assert!(
        code != 0 && said.contains("line 2, column 7: the byte 0xE9 is not UTF-8"),
        "{said}"
    );
    fs::write(&reports, &rows[..rows.find("1,fill,70").unwrap()]).unwrap();
    let (code, said) = oms(folder, "report-in", &[&[file.as_str()], &why[..]].concat());
    assert_eq!(
        (code, said.as_str()),
        (
            0,
            "order 1: fill of 40 at 12.5 entered; the order is working\n"
        )
    );
    assert!(client.expect("8").contains("|150=0|"));
    assert!(client.expect("8").contains("|32=40|31=12.5|"));
    let (_, history) = oms(folder, "history", &["1"]);
    for step in [
        "held until last >= 12.6",
        "triggered: its condition is met",
        "report entered by ",
        ": by telephone",
        "40 filled at 12.5",
    ] {
        assert!(history.contains(step), "{step}: {history}");
    }
    drop(running);
}
