//! Identifiers and names at venues that change while the OMS runs.

use fixwire_engine::Durability;
use fixwire_engine::protocol::Ledger as _;
use fixwire_engine::protocol::session::BeginString;

use crate::floor::{Floor, VENUE};

fn floor() -> Floor {
    let settings = "name = \"SIM\"\nsymbols = \"symbols.csv\"";
    Floor::with("name = \"SIM\"", settings)
}

/// Symbol(55) of the messages that the venue got.
fn symbols(floor: &mut Floor) -> Vec<String> {
    floor.received(VENUE, &[35, 55])
}

#[test]
fn a_name_changes_when_no_open_order_has_it() {
    let mut floor = floor();
    floor.edit(|files| files.symbols += "XYZ,OLD\n");
    floor.settle();
    let said = floor.reload().unwrap();
    let wanted = "reloaded: 1 change\nsetting\tname\twas\tis\nvenue name\tline_group=SIM symbol=XYZ\t-\t55=OLD";
    assert_eq!(said, wanted);
    floor.order("A1", 1, 100);
    assert_eq!(symbols(&mut floor).last().unwrap(), "D OLD");
    floor.edit(|files| files.symbols = files.symbols.replace("OLD", "NEW") + "NEAR,NR\n");
    let before = floor.state().hash();
    let order = floor.state().orders().iter().map(|it| it.number).max();
    let wanted = format!(
        "symbol XYZ on SIM-1: its name at the venue cannot change while these orders are open: {}; \
         cancel them first, or reload once they are closed",
        order.unwrap()
    );
    assert_eq!(floor.check_reload().unwrap_err(), wanted);
    assert_eq!(floor.reload().unwrap_err(), wanted);
    assert_eq!(floor.state().hash(), before);
    floor.send("F", "11=A2|41=A1|55=XYZ|54=1|60=20261122-08:00:00|");
    assert_eq!(symbols(&mut floor).last().unwrap(), "F OLD");
    let said = floor.reload().unwrap();
    assert!(said.starts_with("reloaded: 2 changes"), "{said}");
    assert!(said.contains("symbol=XYZ\t55=OLD\t55=NEW"), "{said}");
    floor.order("A3", 1, 100);
    assert_eq!(symbols(&mut floor).last().unwrap(), "D NEW");
    floor.agrees();
    // The names are part of the state: notes and checkpoint have them.
    let before = floor.state().hash();
    floor.world.kill();
    floor.world.start();
    assert_eq!(floor.state().hash(), before);
    floor.settle();
    floor.send("F", "11=A4|41=A3|55=XYZ|54=1|60=20261122-08:00:00|");
    assert_eq!(symbols(&mut floor).last().unwrap(), "F NEW");
}

#[test]
fn other_settings_reload_while_a_name_stays() {
    let mut floor = floor();
    floor.edit(|files| files.symbols += "XYZ,OLD\n");
    floor.settle();
    floor.reload().unwrap();
    floor.order("A1", 1, 100);
    floor.edit(|files| files.symbols = files.symbols.replace("OLD", "NEW"));
    floor.world.kill();
    floor.world.start();
    floor.settle();
    floor.edit(|files| files.limits = files.limits.replace("RC6,1000", "RC6,900"));
    let said = floor.check_reload().unwrap();
    assert!(said.starts_with("nothing is applied: 1 change"), "{said}");
    let said = floor.reload().unwrap();
    assert!(said.starts_with("reloaded: 1 change\n"), "{said}");
    floor.order("A2", 1, 100);
    assert_eq!(symbols(&mut floor).last().unwrap(), "D OLD");
    // Another row for the name is refused.
    floor.edit(|files| files.symbols = files.symbols.replace("NEW", "NEWER"));
    let said = floor.reload().unwrap_err();
    assert!(said.starts_with("symbol XYZ on SIM-1: its name"), "{said}");
    floor.edit(|files| files.symbols = files.symbols.replace("NEWER", "NEW"));
    for (id, of) in [("A3", "A1"), ("A4", "A2")] {
        let body = format!("11={id}|41={of}|55=XYZ|54=1|60=20261122-08:00:00|");
        floor.send("F", &body);
        assert_eq!(symbols(&mut floor).last().unwrap(), "F OLD");
    }
    floor.reload().unwrap();
    floor.order("A5", 1, 100);
    assert_eq!(symbols(&mut floor).last().unwrap(), "D NEW");
    floor.agrees();
}

#[test]
fn identifiers_and_expiry_change_with_their_differences() {
    let mut floor = Floor::new(Durability::Process, BeginString::Fix44, BeginString::Fix44);
    floor.edit(|files| {
        files.instruments =
            "symbol,tick,lot,reference,positions,legs,isin,exchange,type,maturity,expires\n\
             XYZ,0.05,10,100,,,US0000000001,XNYS,FUT,2026-12,2020-01-01\n\
             FUT,0.05,10,100,effect,,,,,,\nNEAR,0.05,10,100,,,,,,,\n\
             SPREAD,0.05,10,100,,buy 3 XYZ sell 1 NEAR,,,,,\n"
                .into();
    });
    let said = floor.reload().unwrap();
    let wanted = "instrument\tXYZ\tidentifiers -, exchange -, type -, maturity -, expires -\t\
                  identifiers 4=US0000000001, exchange XNYS, type FUT, maturity 2026-12, expires 2020-01-01";
    assert!(said.ends_with(wanted), "{said}");
    // Clients see a multiplier in lists, also one that changes no value of an order.
    let before = floor.files.lock().unwrap().clone();
    floor.edit(|files| {
        let rows = files.instruments.lines();
        let rows = rows.map(|row| match row.split(',').next() {
            Some("symbol") => format!("{row},multiplier\n"),
            Some("XYZ") => format!("{row},1\n"),
            _ => format!("{row},\n"),
        });
        files.instruments = rows.collect();
    });
    let said = floor.reload().unwrap();
    let wanted =
        "reloaded: 1 change\nsetting\tname\twas\tis\ninstrument\tXYZ\tmultiplier -\tmultiplier 1";
    assert_eq!(said, wanted);
    floor.edit(|files| *files = before);
    floor.reload().unwrap();
    floor.send(
        "D",
        "11=A1|55=[N/A]|48=US0000000001|22=4|54=1|38=100|40=2|44=100|60=20261122-08:00:00|",
    );
    let told = floor.told(&[39, 58]).pop().unwrap();
    assert!(told.starts_with("8 the symbol has expired"), "{told}");
    floor.edit(|files| files.instruments = files.instruments.replace(",2020-01-01", ","));
    floor.reload().unwrap();
    floor.send(
        "D",
        "11=A2|55=[N/A]|48=US0000000001|22=4|54=1|38=100|40=2|44=100|60=20261122-08:00:00|",
    );
    assert_eq!(floor.told(&[55, 39]).pop().unwrap(), "XYZ 1");
}
