//! Routes with conditions: each field decides, once, at entry; what was decided outlives restarts and other settings.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::load::load;
use fixwire_oms::{Oms, OmsSession};

use crate::desk::{Desk, Input, Said, Setup, dictionary};
use crate::floor::Floor;
use crate::proof::Proof;

const CLIENT: usize = 0;
const OTHER: usize = 1;
const NEAR: usize = 2;
const LARGE: usize = 3;

const ROUTES: &str = r#"
[[route]]
symbols = ["FUT"]
to = "NEAR"
[[route]]
when = 'Account = "A2" and OrderQty >= 50'
to = "LARGE"
[[route]]
when = 'ExDestination = "XLON" or SecurityExchange = "XPAR" or SecurityType = "CS" or Currency = "EUR"'
to = "LARGE"
[[route]]
when = 'any(NoPartyIDs, PartyID = "DESK" and PartyRole = 3) or 9001 = "BLOCK"'
to = "LARGE"
[[route]]
symbols = ["XYZ"]
when = 'source = OTHER and Side = SELL or time >= "20:00"'
to = "LARGE"
[[route]]
when = 'Account in ("A1", "A2")'
to = "NEAR"
"#;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "A1"
[[account]]
name = "A2"
[[account]]
name = "A3"
[[user]]
session = "CLIENT"
accounts = ["*"]
may = ["new", "replace", "cancel", "status"]
[[user]]
session = "OTHER"
accounts = ["*"]
may = ["new", "replace", "cancel", "status"]
[[line_group]]
name = "NEAR"
lines = ["NEAR-1"]
refuse = [18]
carry = [9001]
[[line_group]]
name = "LARGE"
lines = ["LARGE-1", "LARGE-2"]
queue = "60s"
ex_destination = "XLON"
carry = [9001, 207]
drop = [15, 167]
refuse = [58]
"#;

fn setup(routes: &str) -> Setup {
    let limits = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,90\nfirm,RC13,100\n\
                  firm,RC14,100000000\nfirm,RC15,50000\n";
    Setup {
        settings: format!("{SETTINGS}{routes}"),
        files: vec![
            (
                "instruments.csv",
                "symbol,tick,lot,reference,positions\nXYZ,1,1,100,\nFUT,1,1,100,\nABC,1,1,100,\n"
                    .into(),
            ),
            ("limits.csv", limits.into()),
        ],
        sessions: vec![
            ("CLIENT", Version::Fix44),
            ("OTHER", Version::Fix42),
            ("NEAR-1", Version::Fix44),
            ("LARGE-1", Version::Fix44),
            ("LARGE-2", Version::Fix44),
        ],
    }
}

fn desk() -> Desk {
    let mut desk = Desk::new(&setup(ROUTES));
    for session in 0..5 {
        desk.hear(&Input::Up(session, false));
    }
    desk
}

fn order(id: &str, more: &str) -> String {
    let mut body = format!("11={id}|40=2|44=100|60=20261122-08:00:00|{more}|");
    for field in ["55=XYZ", "54=1", "38=10", "1=A1"] {
        let tag = field.split('=').next().unwrap();
        if !body.contains(&format!("|{tag}=")) {
            body += &format!("{field}|");
        }
    }
    body
}

/// The session that got it, or the text of its reject.
fn place(said: &[Said]) -> String {
    let [said] = said else {
        panic!("{said:?}");
    };
    match said.to {
        CLIENT | OTHER => said.get(58).unwrap_or("-").to_owned(),
        line => line.to_string(),
    }
}

#[test]
fn the_first_route_that_fits_decides() {
    let mut desk = desk();
    let near = NEAR.to_string();
    let large = LARGE.to_string();
    let cases = [
        (CLIENT, "38=10", &near),
        (CLIENT, "1=A2|38=49", &near),
        (CLIENT, "1=A2|38=50", &large),
        (CLIENT, "1=A2|38=50|55=FUT", &near),
        (CLIENT, "100=XLON", &large),
        (CLIENT, "207=XPAR", &large),
        (CLIENT, "167=CS", &large),
        (CLIENT, "15=EUR", &large),
        (CLIENT, "453=1|448=DESK|447=D|452=3", &large),
        (CLIENT, "453=1|448=DESK|447=D|452=4", &near),
        (CLIENT, "9001=BLOCK", &large),
        (CLIENT, "9001=FLOW", &near),
        (CLIENT, "54=2", &near),
        (OTHER, "54=2|21=1", &large),
        (OTHER, "54=2|21=1|55=ABC", &near),
        (OTHER, "54=1|21=1", &near),
    ];
    let mut next = 0;
    for (at, (client, more, wanted)) in cases.into_iter().enumerate() {
        let said = desk.says(client, "D", &order(&format!("C{at}"), more));
        // The lines of a group take turns.
        let found = place(&said).replace("4", &large);
        assert_eq!(&found, wanted, "{more}");
        next += 1;
    }
    assert_eq!(next, 16);
    desk.hear(&Input::Pass(12 * 3600 * 1_000_000_000));
    let said = desk.says(CLIENT, "D", &order("L1", ""));
    assert_ne!(place(&said), near, "it is 20:00");
    let said = desk.says(CLIENT, "D", &order("L2", "55=ABC"));
    assert_eq!(place(&said), near, "not for this symbol");
    // No route has it: no condition fits, and there is no rest.
    let said = desk.says(CLIENT, "D", &order("L3", "1=A3|55=ABC"));
    assert_eq!(place(&said[..1]), "no route for this symbol");
    assert_eq!(said[0].get(39), Some("8"));
}

#[test]
fn controls_are_those_of_the_group_that_was_chosen() {
    let mut desk = desk();
    let refused = "RC4: field not carried to the venue (tag 58)";
    let said = desk.says(CLIENT, "D", &order("C1", "58=hello"));
    assert_eq!(place(&said), NEAR.to_string());
    let said = desk.says(CLIENT, "D", &order("C2", "58=hello|1=A2|38=90"));
    assert!(place(&said).contains("(tag 58)"), "{said:?} {refused}");
    let said = desk.says(CLIENT, "D", &order("C3", "18=6|1=A2|38=10"));
    assert!(place(&said).contains("(tag 18)"), "{said:?}");
    // The destination belongs to the other group.
    let said = desk.says(CLIENT, "D", &order("C4", "100=XLON|1=A1|55=FUT"));
    assert!(place(&said).contains("(tag 100)"), "{said:?}");
}

/// A venue accepts the last order that it got.
fn accept(desk: &mut Desk, line: usize, number: &str, quantity: &str) {
    let body = format!(
        "37=V{number}|11={number}|17=E{number}|150=0|39=0|20=0|55=XYZ|54=1|38={quantity}|14=0|151={quantity}|6=0|1=A2|"
    );
    desk.says(line, "8", &body);
}

#[test]
fn requests_follow_the_order_over_restarts_and_other_routes() {
    for from_checkpoint in [false, true] {
        let mut desk = desk();
        let mut proof = Proof::new(&format!("routes-restart-{from_checkpoint}"));
        desk.record(proof.recorder("end"));
        let said = desk.says(CLIENT, "D", &order("C1", "1=A2|38=50"));
        let line = said[0].to;
        assert!(line >= LARGE);
        let number = said[0].get(11).unwrap().to_owned();
        accept(&mut desk, line, &number, "50");
        // Another one waits for the group.
        for line in [LARGE, LARGE + 1] {
            desk.hear(&Input::Down(line, false));
        }
        let said = desk.says(CLIENT, "D", &order("C2", "1=A2|38=60"));
        assert_eq!(said.iter().filter(|it| it.to >= NEAR).count(), 0);
        // From now on such orders go elsewhere.
        desk.set("and OrderQty >= 50", "and OrderQty >= 500");
        desk.hear(&Input::Restart(0, from_checkpoint));
        for session in 0..5 {
            let said = desk.hear(&Input::Up(session, false));
            let sent: Vec<_> = said.iter().filter(|it| it.msg_type == "D").collect();
            match session {
                LARGE => assert_eq!(sent.len(), 1, "the queued order: {said:?}"),
                _ => assert_eq!(sent.len(), 0, "{session} {said:?}"),
            }
        }
        let said = desk.says(CLIENT, "D", &order("C3", "1=A2|38=50"));
        assert_eq!(place(&said), NEAR.to_string());
        // The smaller quantity would go elsewhere, too.
        let replace = order("C4", "41=C1|1=A2|38=20");
        let said = desk.says(CLIENT, "G", &replace);
        assert_eq!(said.iter().find(|it| it.msg_type == "G").unwrap().to, line);
        let sent = said.iter().find(|it| it.msg_type == "G").unwrap();
        let id = sent.get(11).unwrap().to_owned();
        let body = format!(
            "37=V{number}|11={id}|41={number}|17=R{id}|150=5|39=5|20=0|55=XYZ|54=1|38=20|44=100|14=0|151=20|6=0|1=A2|"
        );
        desk.says(line, "8", &body);
        let cancel = "11=C5|41=C4|55=XYZ|54=1|60=20261122-08:00:00|";
        let said = desk.says(CLIENT, "F", cancel);
        assert_eq!(said.iter().find(|it| it.msg_type == "F").unwrap().to, line);
        assert_eq!(desk.state().violations(), 0);
        proof.add(desk.recorded().unwrap());
        proof.check(true);
    }
}

#[test]
fn a_rerun_goes_where_the_order_would_have_gone() {
    let mut desk = desk();
    let said = desk.says(CLIENT, "D", &order("C1", "1=A2|38=2000"));
    assert!(place(&said).contains("RC6"), "{said:?}");
    desk.set("and OrderQty >= 50", "and OrderQty >= 5000");
    desk.hear(&Input::Restart(0, true));
    for session in 0..5 {
        desk.hear(&Input::Up(session, false));
    }
    let said = desk.hear(&Input::Command("rerun order=CLIENT/C1 without=RC6".into()));
    let sent = said.iter().find(|it| it.msg_type == "D").expect("it goes");
    assert!(sent.to >= LARGE, "{sent:?}");
}

#[test]
fn a_reload_of_routes_changes_no_open_order() {
    let group = "[[line_group]]\nname = \"OTHER\"\nlines = [\"COPY\"]\n";
    let route = "[[route]]\nsymbols = [\"*\"]\nto = \"SIM\"\n[[drop_copy]]\nsession = \"COPY\"\n";
    let routes = "[[route]]\nwhen = 'OrderQty > 100'\nto = \"SIM\"\n[[route]]\nto = \"OTHER\"\n";
    let mut floor = Floor::with(route, &format!("{group}{routes}"));
    let order = |id: &str, more: &str| {
        format!("11={id}|55=XYZ|54=1|40=2|44=100|60=20261122-08:00:00|{more}")
    };
    floor.send("D", &order("A1", "38=200|"));
    floor.edit(|files| files.settings = files.settings.replace("OrderQty > 100", "OrderQty > 900"));
    let said = floor.reload().unwrap();
    assert!(
        said.contains("all when OrderQty > 100 to SIM; all to OTHER"),
        "{said}"
    );
    floor.send("G", &order("A2", "41=A1|38=210|"));
    assert_eq!(floor.told(&[11, 150]).pop().unwrap(), "A2 5");
    assert_eq!(floor.venue.orders.len(), 1);
    // The next ones go to the other line, which is up and says nothing.
    floor.send("D", &order("A3", "38=200|"));
    assert_eq!(floor.venue.orders.len(), 1);
    // An order that went by symbol alone keeps its symbol's route.
    floor.edit(|files| {
        files.settings = files
            .settings
            .replace("[[route]]\nto = \"OTHER\"\n", "[[route]]\nto = \"SIM\"\n")
    });
    let said = floor.reload().unwrap();
    assert!(said.contains("all to SIM"), "{said}");
    floor.send("F", "11=A4|41=A2|55=XYZ|54=1|60=20261122-08:00:00|");
    assert_eq!(floor.told(&[11, 150]).pop().unwrap(), "A4 4");
}

fn oms(routes: &str) -> Result<Oms, Vec<String>> {
    let setup = setup(routes);
    let mut open = |wanted: &str| {
        let mut files = setup.files.iter();
        let file = files.find(|(name, _)| *name == wanted);
        file.map(|(_, text)| text.clone()).ok_or_else(String::new)
    };
    let names: Vec<&str> = setup.sessions.iter().map(|(name, _)| *name).collect();
    let text = |errors: Vec<fixwire_oms::load::Diagnostic>| {
        errors.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let mut rules = load(&setup.settings, &names, &mut open).map_err(text)?;
    let sessions = setup.sessions.iter().map(|(name, version)| OmsSession {
        name: (*name).to_owned(),
        version: *version,
        dictionary: dictionary(*version),
        ids: Vec::new(),
    });
    let sessions: Vec<OmsSession> = sessions.collect();
    let errors = Oms::compile_routes(&mut rules, &sessions);
    if !errors.is_empty() {
        return Err(text(errors));
    }
    Ok(Oms::new(rules, sessions, 7, Box::new(|_| {})))
}

#[test]
fn a_route_that_no_order_takes_is_named() {
    let routes = r#"
[[route]]
symbols = ["X*"]
to = "NEAR"
[[route]]
symbols = ["XYZ"]
when = 'Account = "A1"'
to = "LARGE"
[[route]]
symbols = ["OIL"]
to = "LARGE"
[[route]]
when = 'Account = "A1" and LastPx > 3 and LocateReqd = "Y"'
to = "LARGE"
[[route]]
when = 'Account = "A1" and LastPx > 3 and LocateReqd = "Y"'
to = "NEAR"
[[route]]
when = 'any(NoPartyIDs, PartyID = "X") and 9001 = "A" and 9002 = "B"'
to = "LARGE"
[[route]]
to = "NEAR"
[[route]]
to = "LARGE"
"#;
    let unknown = "which no order has: no dictionary of a client has it in NewOrderSingle(D)";
    let twice = "Account = \"A1\" and LastPx > 3 and LocateReqd = \"Y\"";
    let groups = "any(NoPartyIDs, PartyID = \"X\") and 9001 = \"A\" and 9002 = \"B\"";
    let wanted = [
        "[[route]] 2, for XYZ when Account = \"A1\", gets no order: [[route]] 1 decides before it"
            .to_owned(),
        "[[route]] 3, for OIL, gets no order: no instrument has one of its symbols".to_owned(),
        format!("[[route]] 4, for all when {twice}, reads LastPx(31), {unknown}"),
        format!("[[route]] 5, for all when {twice}, gets no order: [[route]] 1 decides before it"),
        format!("[[route]] 5, for all when {twice}, reads LastPx(31), {unknown}"),
        format!("[[route]] 6, for all when {groups}, reads 9001, {unknown}"),
        format!("[[route]] 6, for all when {groups}, reads 9002, {unknown}"),
        "[[route]] 8, for all, gets no order: [[route]] 1 decides before it".to_owned(),
    ];
    assert_eq!(oms(routes).unwrap().route_warnings(), wanted);
    assert_eq!(oms(ROUTES).unwrap().route_warnings().len(), 1, "9001");
}

#[test]
fn mistakes_in_a_condition_have_their_place() {
    let cases = [
        (
            "when = 'Acount = \"A1\"'",
            "when of a route, column 1: unknown field 'Acount'; did you mean 'Account'?",
        ),
        (
            "when = 'source = NEAR-1'",
            "when of a route, column 10: this condition is never true: the message comes from another session",
        ),
        (
            "when = 'active(NEAR-1)'",
            "when of a route, column 1: found active, expected a condition on fields, the source or the time",
        ),
        (
            "when = 'Symbol in venues.symbol'",
            "when of a route, column 11: unknown table 'venues'",
        ),
        ("when = 5", "when must be a text"),
        ("symbols = []", "symbols of a route is empty"),
    ];
    for (key, wanted) in cases {
        let text = format!("[[route]]\n{key}\nto = \"NEAR\"\n");
        let errors = oms(&text).err().unwrap_or_else(|| panic!("{key} is taken"));
        assert!(errors[0].contains(wanted), "{key}: {errors:?}");
    }
}
