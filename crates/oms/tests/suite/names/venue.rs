//! Names at a venue: what the venue gets, what its messages name, and what stays while orders are open.

use super::*;

/// The names in a message to the venue.
const NAMES: [u32; 6] = [55, 48, 22, 207, 1, 581];

fn sent(said: &[Said], msg_type: &str) -> String {
    values(&to(said, VENUE, msg_type)[0], &NAMES)
}

/// The venue accepts an order, with these names in its report.
fn accept(desk: &mut Desk, number: u64, names: &str) -> Vec<Said> {
    let body =
        format!("37=V{number}|11={number}|17=N{number}|150=0|39=0|54=1|38=10|14=0|151=10|{names}");
    desk.says(VENUE, "8", &body)
}

fn fill(desk: &mut Desk, number: u64, exec: &str, names: &str) -> Vec<Said> {
    let body =
        format!("37=V{number}|11={number}|17={exec}|150=F|39=1|54=1|38=10|32=2|31=100|{names}");
    desk.says(VENUE, "8", &body)
}

/// The first row of the breaks with venues; empty for none.
fn breaks(desk: &Desk) -> String {
    let text = desk.query("breaks");
    text.lines().nth(1).unwrap_or_default().to_owned()
}

#[test]
fn the_venue_gets_its_own_names_and_clients_those_of_the_oms() {
    let mut desk = desk(BOTH);
    let all = [
        ("XYZ", "XYZ.V US0000000001 4 XNYS"),
        ("ABC", "SWAP - - -"),
        ("SWAP", "ABC - - -"),
        ("MAR", "[N/A] M-MAR 8 -"),
    ];
    for (at, (symbol, names)) in (1..).zip(all) {
        let id = format!("C{at}");
        let said = desk.says(CLIENT, "D", &order(&id, &format!("55={symbol}|")));
        assert_eq!(sent(&said, "D"), format!("{names} OMNI 1"));
        assert_eq!(to(&said, VENUE, "D")[0].get(660), Some("99"));
        let name = names.split(' ').collect::<Vec<_>>();
        let venue = match name[1] {
            "-" => format!("55={}|1=OMNI|581=1|", name[0]),
            id => format!("55={}|48={id}|22={}|1=OMNI|581=1|", name[0], name[2]),
        };
        let number = 2 * at - 1;
        let said = accept(&mut desk, number, &venue);
        let report = &to(&said, CLIENT, "8")[0];
        assert_eq!(
            values(report, &[39, 55, 48, 1, 581]),
            format!("0 {symbol} - A1 -")
        );
        let copy = &to(&said, DROP, "8")[0];
        assert_eq!(
            values(copy, &[39, 55, 48, 1, 581]),
            format!("0 {symbol} - A1 -")
        );
        let said = fill(&mut desk, number, &format!("F{at}"), &venue);
        assert_eq!(
            values(&to(&said, CLIENT, "8")[0], &[55, 1, 14]),
            format!("{symbol} A1 2")
        );
        let change = format!("41={id}|55={symbol}|54=1|38=9|40=2|44=100|60=20261122-08:00:00|");
        let said = desk.says(CLIENT, "G", &format!("11=R{at}|{change}"));
        assert_eq!(sent(&said, "G"), format!("{names} OMNI 1"));
        desk.says(
            VENUE,
            "9",
            &format!(
                "37=V{number}|11={number}-{}|41={number}|39=1|434=2|102=0|",
                number + 1
            ),
        );
        assert_eq!(breaks(&desk), "");
    }
    // What a message does not have in the dictionary of the line is left out.
    let said = desk.says(CLIENT, "F", "11=X1|41=C1|55=XYZ|54=1|60=20261122-08:00:00|");
    let cancel = &to(&said, VENUE, "F")[0];
    let has = |tag| {
        dictionary(Version::Fix44)
            .message(b"F")
            .unwrap()
            .member(tag)
            .is_some()
    };
    for (tag, value) in [(660, "99"), (581, "1")] {
        assert_eq!(cancel.get(tag), has(tag).then_some(value), "{tag}");
    }
    assert_eq!(
        values(cancel, &[55, 48, 22, 207, 1]),
        "XYZ.V US0000000001 4 XNYS OMNI"
    );
    let said = desk.says(CLIENT, "R", "131=I1|146=1|55=XYZ|");
    let inquiry = &to(&said, VENUE, "R")[0];
    assert_eq!(values(inquiry, &[55, 48, 22]), "XYZ.V US0000000001 4");
    assert_eq!(
        inquiry.fields[1..3],
        [(146, "1".into()), (55, "XYZ.V".into())]
    );
    // Other line groups have the names of the OMS.
    let said = desk.says(CLIENT, "D", &order("P1", "55=PLAIN1|"));
    assert_eq!(
        values(&to(&said, PLAIN, "D")[0], &NAMES),
        "PLAIN1 - - - A1 -"
    );
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn names_replace_fields_of_clients_and_settings() {
    let more = "carry = [48, 22, 207]\nset = {581 = \"6\"}";
    let mut desk = desk(&format!("{BOTH}\n{more}"));
    let count = |said: &Said, tag: u32| said.fields.iter().filter(|it| it.0 == tag).count();
    let by_id = "55=XYZ|48=US0000000001|22=4|207=XNYS|660=1|581=7|";
    let said = desk.says(CLIENT, "D", &order("C1", by_id));
    assert_eq!(sent(&said, "D"), "XYZ.V US0000000001 4 XNYS OMNI 1");
    let message = &to(&said, VENUE, "D")[0];
    assert_eq!(message.get(660), Some("99"));
    for tag in NAMES.iter().chain(&[660]) {
        assert_eq!(count(message, *tag), 1, "{tag}");
    }
    // What the names do not have goes on as the settings say.
    let said = desk.says(
        CLIENT,
        "D",
        &order("C2", "55=ABC|48=US0000000002|22=4|1=HOUSE|"),
    );
    assert_eq!(sent(&said, "D"), "SWAP US0000000002 4 - HOUSE 6");
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn names_go_to_venues_of_each_version() {
    for version in [Version::Fix42, Version::Fix50Sp2] {
        let mut setup = setup(BOTH, version);
        setup.sessions[CLIENT].1 = version;
        let accounts = match version {
            Version::Fix42 => "account,venue_account,440,109\nA1,OMNI,CLR1,ME\n",
            _ => "account,venue_account,581\nA1,OMNI,1\n",
        };
        setup.files[3].1 = accounts.into();
        let mut desk = Desk::new(&setup);
        log_on(&mut desk);
        let said = desk.says(CLIENT, "D", &format!("21=1|{}", order("C1", "55=XYZ|")));
        let names = "XYZ.V US0000000001 4 XNYS OMNI";
        let wanted = match version {
            Version::Fix42 => format!("{names} - CLR1 ME"),
            _ => format!("{names} 1 - -"),
        };
        let tags = [55, 48, 22, 207, 1, 581, 440, 109];
        assert_eq!(values(&to(&said, VENUE, "D")[0], &tags), wanted);
        // The clearing account is no field of the client's report, other fields are.
        let said = accept(
            &mut desk,
            1,
            "20=0|55=XYZ.V|1=OMNI|440=CLR1|109=ME|76=BR|30=XNYS|",
        );
        let report = &to(&said, CLIENT, "8")[0];
        let has = |tag| {
            dictionary(version)
                .message(b"8")
                .unwrap()
                .member(tag)
                .is_some()
        };
        assert_eq!(
            values(report, &[55, 1, 440, 109]),
            "XYZ A1 - -",
            "{version:?}"
        );
        assert_eq!(report.get(30), Some("XNYS"));
        assert_eq!(report.get(76), has(76).then_some("BR"));
        let said = desk.says(CLIENT, "F", "11=X1|41=C1|55=XYZ|54=1|60=20261122-08:00:00|");
        let cancel = values(&to(&said, VENUE, "F")[0], &tags);
        let wanted = match version {
            Version::Fix42 => format!("{names} - - ME"),
            _ => format!("{names} 1 - -"),
        };
        assert_eq!(cancel, wanted, "{version:?}");
        // A status request has the fields of the names that it has in this version, and those of the account once.
        let by_client = match version {
            Version::Fix42 => "109=OTHER|",
            _ => "",
        };
        let more = format!("21=1|{by_client}{}", order("C2", "55=XYZ|"));
        desk.says(CLIENT, "D", &more);
        desk.hear(&Input::Down(VENUE, false));
        let said = desk.hear(&Input::Up(VENUE, false));
        let asked = to(&said, VENUE, "H");
        let has = |tag| {
            let request = dictionary(version);
            request.message(b"H").unwrap().member(tag).is_some()
        };
        let wanted = match version {
            Version::Fix42 => [(1, "OMNI"), (109, "ME"), (440, "CLR1")],
            _ => [(1, "OMNI"), (581, "1"), (660, "99")],
        };
        for (tag, value) in wanted {
            let is_named = tag != 660;
            let wanted = (is_named && has(tag)).then_some(value);
            assert_eq!(asked[0].get(tag), wanted, "{version:?} {tag}");
        }
        assert_eq!(desk.state().violations(), 0);
    }
}

#[test]
fn a_report_names_the_instrument_by_symbol_or_identifier() {
    let mut desk = desk(BOTH);
    desk.says(CLIENT, "D", &order("C1", "55=XYZ|"));
    accept(&mut desk, 1, "55=XYZ.V|");
    let taken = [
        "55=XYZ.V|",
        "",
        "48=US0000000001|22=4|",
        "55=[N/A]|48=US0000000001|",
        "55=XYZ.V|207=XNYS|",
    ];
    for (at, names) in (1..).zip(taken) {
        let said = fill(&mut desk, 1, &format!("E{at}"), names);
        let filled = to(&said, CLIENT, "8")[0].get(14).map(str::to_owned);
        assert_eq!(filled, Some((2 * at).to_string()), "{names}");
    }
    assert_eq!(desk.events(), [""; 0]);
    let other = [
        // The symbol of the OMS is not that of the venue.
        "55=XYZ|",
        "55=ABC|",
        "55=NOSUCH|",
        "55=XYZ.V|207=XLON|",
        "55=XYZ.V|48=US0000000002|22=4|",
    ];
    for (at, names) in (1..).zip(other) {
        let said = fill(&mut desk, 1, &format!("O{at}"), names);
        assert_eq!(to(&said, CLIENT, "8").len(), 0, "{names}");
        assert_ne!(desk.events(), [""; 0], "{names}");
    }
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn legs_prices_and_states_of_markets_have_the_names_of_the_venue() {
    let mut desk = desk(BOTH);
    let spread = order("C1", "55=JUN-MAR|").replace("44=100", "44=2");
    const SAID: [u32; 10] = [11, 17, 150, 55, 1, 32, 31, 30, 442, 14];
    let mut said = desk.says(CLIENT, "D", &spread);
    assert_eq!(sent(&said, "D"), "CAL1 - - - OMNI 1");
    said.extend(accept(&mut desk, 1, "55=CAL1|1=OMNI|"));
    let legs =
        "555=2|600=[N/A]|602=M-JUN|603=8|624=1|637=102|600=[N/A]|602=M-MAR|603=8|624=2|637=100|";
    let body = format!("37=V1|11=1|17=S1|150=F|39=1|55=CAL1|54=1|38=10|32=2|31=2|442=3|{legs}");
    said.extend(desk.says(VENUE, "8", &body));
    let positions = |desk: &Desk| {
        let state = desk.state();
        let all = state.positions().filter(|it| it.2.net() != 0);
        let all = all.map(|(_, of, position)| {
            let symbol = String::from_utf8_lossy(state.instruments().name(of)).into_owned();
            format!("{symbol} {}", position.net())
        });
        let mut all: Vec<String> = all.collect();
        all.sort();
        all.join(", ")
    };
    assert_eq!(positions(&desk), "JUN 2, MAR -2");
    // A leg in a report of its own.
    said.extend(desk.says(CLIENT, "D", &spread.replace("11=C1", "11=C2")));
    said.extend(accept(&mut desk, 2, "55=CAL1|"));
    let leg = |exec: &str, names: &str, side: u8| {
        format!("37=V2|11=2|17={exec}|150=F|39=1|54={side}|38=10|32=3|31=101|442=2|{names}")
    };
    said.extend(desk.says(VENUE, "8", &leg("L1", "55=[N/A]|48=M-JUN|22=8|30=XEUR|", 1)));
    said.extend(desk.says(VENUE, "8", &leg("L2", "48=M-MAR|22=8|30=XEUR|", 2)));
    let told = to(&said, CLIENT, "8");
    let told: Vec<String> = told.iter().map(|it| values(it, &SAID)).collect();
    assert!(told.len() > 5, "{told:?}");
    assert_eq!(positions(&desk), "JUN 5, MAR -5");
    // Reports that are made again from the venue's messages are the same.
    let again = recovered(&mut desk);
    let again: Vec<String> = again.iter().map(|it| values(it, &SAID)).collect();
    assert_eq!(again, told);
    // The state of a market, by an identifier.
    desk.says(VENUE, "f", "324=X|55=[N/A]|48=M-JUN|22=8|326=2|");
    let said = desk.says(CLIENT, "D", &order("C3", "55=JUN|"));
    let text = to(&said, CLIENT, "8")[0].get(58).unwrap().to_owned();
    assert!(text.starts_with("RC18"), "{text}");
    // ABC of the venue is SWAP here.
    desk.says(VENUE, "f", "324=X|55=ABC|326=2|");
    let said = desk.says(CLIENT, "D", &order("C4", "55=SWAP|"));
    assert!(to(&said, VENUE, "D").is_empty());
    let said = desk.says(CLIENT, "D", &order("C5", "55=ABC|"));
    assert_eq!(sent(&said, "D"), "SWAP - - - OMNI 1");
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn prices_of_a_line_have_the_names_of_the_venue() {
    let mut setup = setup(BOTH, Version::Fix44);
    setup.settings = setup.settings.replace(
        "[oms.own_tags]",
        "market_data = [\"VENUE\"]\nreference_price = \"last\"\n[oms.own_tags]",
    );
    let mut desk = Desk::new(&setup);
    log_on(&mut desk);
    // The price of XYZ is now 300, that of ABC 10, and that of SWAP 400.
    desk.says(VENUE, "W", "55=XYZ.V|268=1|269=2|270=300|");
    desk.says(
        VENUE,
        "X",
        "268=2|279=0|269=2|55=SWAP|270=10|279=0|269=2|55=ABC|270=400|",
    );
    let mut price = |symbol: &str, price: &str| {
        let body = order(&format!("{symbol}{price}"), &format!("55={symbol}|"));
        let said = desk.says(CLIENT, "D", &body.replace("44=100", &format!("44={price}")));
        to(&said, VENUE, "D").len()
    };
    let found = [
        price("XYZ", "300"),
        price("XYZ", "100"),
        price("ABC", "10"),
        price("ABC", "100"),
        price("SWAP", "400"),
        price("SWAP", "100"),
    ];
    assert_eq!(found, [1, 0, 1, 0, 1, 0]);
    // An entry names its instrument by an identifier alone, and another one an instrument that no row has.
    desk.says(
        VENUE,
        "X",
        "268=4|279=0|269=2|55=XYZ.V|270=200|279=0|269=2|48=M-JUN|22=8|270=50|\
         279=0|269=2|270=40|279=0|269=2|48=M-NONE|22=8|270=70|",
    );
    let mut price = |symbol: &str, price: &str| {
        let body = order(&format!("I{symbol}{price}"), &format!("55={symbol}|"));
        let said = desk.says(CLIENT, "D", &body.replace("44=100", &format!("44={price}")));
        to(&said, VENUE, "D").len()
    };
    let found = [
        price("XYZ", "200"),
        price("XYZ", "50"),
        price("JUN", "40"),
        price("JUN", "70"),
    ];
    assert_eq!(found, [1, 0, 1, 0]);
}

#[test]
fn prices_of_a_session_that_is_no_line_are_those_of_the_symbol_of_each_entry() {
    const PRICES: usize = 5;
    let mut setup = setup(BOTH, Version::Fix44);
    setup.sessions.push(("PRICES", Version::Fix44));
    setup.settings = setup.settings.replace(
        "[oms.own_tags]",
        "market_data = [\"PRICES\"]\nreference_price = \"last\"\n[oms.own_tags]",
    );
    let mut desk = Desk::new(&setup);
    log_on(&mut desk);
    desk.hear(&Input::Up(PRICES, false));
    desk.says(
        PRICES,
        "X",
        "268=3|279=0|269=2|55=[N/A]|48=US0000000001|22=4|270=300|279=0|269=2|55=ABC|270=10|\
         279=0|269=2|48=US0000000001|22=4|270=400|",
    );
    let mut price = |symbol: &str, price: &str| {
        let body = order(&format!("{symbol}{price}"), &format!("55={symbol}|"));
        let said = desk.says(CLIENT, "D", &body.replace("44=100", &format!("44={price}")));
        to(&said, VENUE, "D").len()
    };
    let found = [
        price("XYZ", "100"),
        price("XYZ", "10"),
        price("ABC", "10"),
        price("ABC", "400"),
    ];
    assert_eq!(found, [1, 0, 1, 0]);
}

#[test]
fn drop_copies_and_orders_placed_elsewhere_have_the_names_of_the_venue() {
    let mut desk = desk(BOTH);
    desk.says(CLIENT, "D", &order("C1", "55=ABC|1=A2|"));
    let names = "55=SWAP|1=OMNI|581=3|";
    for session in [VENUE, COPY] {
        for (exec, what) in [
            ("N1", "150=0|39=0|14=0|151=10|"),
            ("E1", "150=F|39=1|32=2|31=100|"),
        ] {
            let body = format!("37=V1|11=1|17={exec}|54=1|38=10|{what}{names}");
            desk.says(session, "8", &body);
        }
    }
    desk.hear(&Input::Pass(60_000_000_000));
    assert_eq!(breaks(&desk), "");
    // An order placed elsewhere: the account by all its fields, and none if they fit two.
    let elsewhere = |exec: &str, names: &str| {
        format!("37=X{exec}|17={exec}|150=F|39=2|54=2|38=5|40=2|44=101|32=5|31=101|{names}")
    };
    let said = desk.says(COPY, "8", &elsewhere("K1", "55=ABC|1=OMNI|581=1|"));
    let reports = to(&said, CLIENT, "8");
    assert_eq!(values(reports.last().unwrap(), &[55, 1, 14]), "SWAP A1 5");
    let before = desk.state().positions().count();
    let said = desk.says(COPY, "8", &elsewhere("K2", "55=ABC|1=OMNI|"));
    assert_eq!(to(&said, CLIENT, "8").len(), 0, "A1 or A2?");
    assert_eq!(desk.state().positions().count(), before);
    let said = desk.says(COPY, "8", &elsewhere("K3", "55=ABC|1=HOUSE|"));
    assert_eq!(
        values(to(&said, CLIENT, "8").last().unwrap(), &[55, 1]),
        "SWAP HOUSE"
    );
    let said = desk.says(COPY, "8", &elsewhere("K4", "55=ABC|1=A1|"));
    assert_eq!(to(&said, CLIENT, "8").len(), 0, "A1 has another name there");
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn names_of_open_orders_stay_at_a_start() {
    for from_checkpoint in [false, true] {
        let mut desk = desk(BOTH);
        desk.says(CLIENT, "D", &order("C1", "55=XYZ|"));
        accept(&mut desk, 1, "55=XYZ.V|");
        desk.events();
        let symbols = SYMBOLS
            .replace("XYZ.V", "XYZ.NEW")
            .replace("ABC,SWAP", "ABC,ABC.NEW");
        desk.set_file("symbols.csv", &symbols);
        desk.set_file("accounts.csv", "account,venue_account\nA1,OTHER\nA2,TWO\n");
        desk.hear(&Input::Restart(0, from_checkpoint));
        log_on(&mut desk);
        let events = desk.events();
        let kept = |of: &str| {
            format!(
                "{of} on VENUE: its name at the venue stays as it was while these orders are open: 1; \
                 reload the settings once they are closed"
            )
        };
        for of in ["symbol XYZ", "account A1"] {
            assert!(events.contains(&kept(of)), "{events:?}");
        }
        let said = desk.says(CLIENT, "D", &order("C2", "55=ABC|1=A2|"));
        assert_eq!(sent(&said, "D"), "ABC.NEW - - - TWO -");
        let said = fill(&mut desk, 1, "E1", "55=XYZ.V|1=OMNI|");
        assert_eq!(values(&to(&said, CLIENT, "8")[0], &[55, 1, 14]), "XYZ A1 2");
        let said = desk.says(CLIENT, "F", "11=X1|41=C1|55=XYZ|54=1|60=20261122-08:00:00|");
        let cancel = to(&said, VENUE, "F");
        assert_eq!(values(&cancel[0], &[55, 48, 1]), "XYZ.V US0000000001 OMNI");
        let id = cancel[0].get(11).unwrap().to_owned();
        let body = format!("37=V1|11={id}|41=1|17=C1|150=4|39=4|55=XYZ.V|54=1|38=10|14=2|151=0|");
        desk.says(VENUE, "8", &body);
        desk.hear(&Input::Restart(0, from_checkpoint));
        log_on(&mut desk);
        let said = desk.says(CLIENT, "D", &order("C3", "55=XYZ|"));
        assert_eq!(sent(&said, "D"), "XYZ.NEW US0000000001 4 XNYS OTHER -");
        assert_eq!(desk.state().violations(), 0);
    }
}

#[test]
fn a_kept_name_that_is_now_that_of_another_takes_no_new_orders() {
    for from_checkpoint in [false, true] {
        let mut desk = desk(BOTH);
        desk.says(CLIENT, "D", &order("C1", "55=XYZ|"));
        accept(&mut desk, 1, "55=XYZ.V|");
        desk.events();
        let symbols = SYMBOLS
            .replace("XYZ,XYZ.V", "XYZ,XYZ.NEW")
            .replace("ABC,SWAP", "ABC,XYZ.V");
        desk.set_file("symbols.csv", &symbols);
        let accounts = "account,venue_account,581,660\nA1,OTHER,,\nA2,OMNI,1,99\n";
        desk.set_file("accounts.csv", accounts);
        desk.hear(&Input::Restart(0, from_checkpoint));
        log_on(&mut desk);
        let events = desk.events().join("\n");
        for (of, other) in [("symbol XYZ", "symbol ABC"), ("account A1", "account A2")] {
            let wanted = format!(
                "{of} on VENUE: its name at the venue stays as it was while these orders are open: 1; \
                 new orders with it are rejected, since it is now that of {other}; reload"
            );
            assert!(events.contains(&wanted), "{events}");
        }
        let refused = |desk: &mut Desk, body: &str| {
            let said = desk.says(CLIENT, "D", body);
            assert_eq!(to(&said, VENUE, "D").len(), 0);
            let reports = to(&said, CLIENT, "8");
            values(reports.last().unwrap(), &[39, 58])
        };
        let text = "8 open orders have a name at the venue that is now that of another";
        assert_eq!(
            refused(&mut desk, &order("C2", "55=XYZ|1=A2|")),
            format!("{text} (symbol=XYZ, now that of symbol=ABC)")
        );
        assert_eq!(
            refused(&mut desk, &order("C3", "55=JUN|1=A1|")),
            format!("{text} (account=A1, now that of account=A2)")
        );
        let quote = "117=Q1|55=XYZ|1=A2|132=90|133=110|134=1|135=1|";
        let said = desk.says(CLIENT, "S", quote);
        assert_eq!(to(&said, VENUE, "D").len(), 0);
        let said = desk.says(CLIENT, "D", &order("C4", "55=ABC|1=A2|"));
        assert_eq!(sent(&said, "D"), "XYZ.V - - - OMNI 1");
        // The open order goes on, and once it is closed a start takes the names of the files.
        let said = desk.says(CLIENT, "F", "11=X1|41=C1|55=XYZ|54=1|60=20261122-08:00:00|");
        assert_eq!(sent(&said, "F"), "XYZ.V US0000000001 4 XNYS OMNI 1");
        let id = to(&said, VENUE, "F")[0].get(11).unwrap().to_owned();
        let body = format!("37=V1|11={id}|41=1|17=C1|150=4|39=4|55=XYZ.V|54=1|38=10|14=0|151=0|");
        desk.says(VENUE, "8", &body);
        desk.hear(&Input::Restart(0, from_checkpoint));
        log_on(&mut desk);
        let said = desk.says(CLIENT, "D", &order("C5", "55=XYZ|"));
        assert_eq!(sent(&said, "D"), "XYZ.NEW US0000000001 4 XNYS OTHER -");
        assert_eq!(desk.state().violations(), 0);
    }
}

#[test]
fn a_kept_name_stays_on_all_lines_of_the_group() {
    const OTHER: usize = 5;
    let mut setup = setup(BOTH, Version::Fix44);
    setup.sessions.push(("OTHER", Version::Fix44));
    let lines = ("lines = [\"VENUE\"]", "lines = [\"VENUE\", \"OTHER\"]");
    setup.settings = setup.settings.replace(lines.0, lines.1);
    let mut desk = Desk::new(&setup);
    for session in [OTHER, COPY, CLIENT] {
        desk.hear(&Input::Up(session, false));
    }
    let said = desk.says(CLIENT, "D", &order("C1", "55=XYZ|"));
    assert_eq!(values(&to(&said, OTHER, "D")[0], &[55, 1]), "XYZ.V OMNI");
    desk.events();
    desk.set_file("symbols.csv", &SYMBOLS.replace("XYZ.V", "XYZ.NEW"));
    desk.set_file("accounts.csv", "account,venue_account\nA1,TWO\n");
    desk.hear(&Input::Restart(0, true));
    let events = desk.events();
    let kept = events.iter().filter(|it| it.contains("stays as it was"));
    assert_eq!(kept.count(), 2, "{events:?}");
    log_on(&mut desk);
    desk.hear(&Input::Up(OTHER, false));
    let mut names = Vec::new();
    for id in ["C2", "C3"] {
        let said = desk.says(CLIENT, "D", &order(id, "55=XYZ|"));
        for session in [VENUE, OTHER] {
            let sent = to(&said, session, "D");
            names.extend(sent.iter().map(|it| (session, values(it, &[55, 1]))));
        }
    }
    names.sort();
    let name = "XYZ.V OMNI".to_owned();
    assert_eq!(names, [(VENUE, name.clone()), (OTHER, name)]);
    // The drop copy of the group has the names of both lines.
    let names = "55=XYZ.V|1=OMNI|581=1|";
    let said = desk.says(
        COPY,
        "8",
        &format!("37=X1|17=X1|150=F|39=2|54=2|38=5|40=2|44=101|14=5|151=0|32=5|31=101|{names}"),
    );
    let reports = to(&said, CLIENT, "8");
    assert_eq!(values(reports.last().unwrap(), &[55, 1, 14]), "XYZ A1 5");
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn rows_with_one_identifier_differ_by_their_exchange() {
    let mut setup = setup(BOTH, Version::Fix44);
    setup.files[2].1 = SYMBOLS
        .replace("MAR,[N/A],M-MAR,8,", "MAR,[N/A],M,8,XLON")
        .replace("JUN,[N/A],M-JUN,8,", "JUN,[N/A],M,8,XEUR");
    let mut desk = Desk::new(&setup);
    log_on(&mut desk);
    let spread = order("C1", "55=JUN-MAR|").replace("44=100", "44=2");
    desk.says(CLIENT, "D", &spread);
    accept(&mut desk, 1, "55=CAL1|");
    let leg = |exchange: &str, side: u8, price: u8| {
        format!("600=[N/A]|602=M|603=8|616={exchange}|624={side}|637={price}|")
    };
    let legs = format!("{}{}", leg("XLON", 2, 100), leg("XEUR", 1, 102));
    let body =
        format!("37=V1|11=1|17=S1|150=F|39=1|55=CAL1|54=1|38=10|32=2|31=2|442=3|555=2|{legs}");
    let said = desk.says(VENUE, "8", &body);
    let told: Vec<String> = to(&said, CLIENT, "8")
        .iter()
        .map(|it| values(it, &[442, 55, 54, 31]))
        .collect();
    for wanted in ["2 JUN 1 102", "2 MAR 2 100"] {
        assert!(told.iter().any(|it| it == wanted), "{told:?}");
    }
    // Without SecurityExchange(207) a leg could be either.
    let body = "37=V1|11=1|17=S2|150=F|39=1|54=2|38=10|32=3|31=101|442=2|55=[N/A]|48=M|22=8|";
    let said = desk.says(VENUE, "8", body);
    assert_eq!(to(&said, CLIENT, "8").len(), 0);
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn each_mistake_of_the_files_is_named() {
    let symbols = "symbol,venue_symbol,security_id,security_id_source,exchange\n";
    let cases = [
        ("NONE,X,,,", "symbols.csv:2: unknown symbol NONE"),
        ("XYZ,,,,", "symbols.csv:2: XYZ has no name at the venue"),
        (
            "XYZ,X,1,,",
            "symbols.csv:2: security_id and security_id_source must both",
        ),
        (
            "XYZ,X,,,\nXYZ,Y,,,",
            "symbols.csv:3: XYZ is listed twice, also in line 2",
        ),
        (
            "XYZ,X,,,\nABC,X,,,",
            "symbols.csv:3: ABC has the venue_symbol X, as XYZ in line 2",
        ),
        (
            "XYZ,X,1,4,\nABC,X,,,",
            "symbols.csv:3: ABC has the venue_symbol X, as XYZ in line 2",
        ),
        (
            "XYZ,X,1,4,XNYS\nABC,Y,1,4,",
            "symbols.csv:3: ABC has SecurityID(48) 1 with SecurityIDSource(22) 4, as XYZ in line 2",
        ),
        (
            "XYZ,ABC,,,",
            "symbols.csv:2: XYZ has the venue_symbol ABC, which is also a symbol without a row",
        ),
        (
            "XYZ,É,,,",
            "symbols.csv:2: venue_symbol É must be at most 64 printable ASCII",
        ),
    ];
    for (rows, wanted) in cases {
        let text = format!("{symbols}{rows}\n");
        let found = mistakes(BOTH, &[("symbols.csv", &text)]);
        assert!(
            found.iter().any(|it| it.contains(wanted)),
            "{rows}: {found:?}"
        );
    }
    let right = format!("{symbols}XYZ,X,1,4,XNYS\nABC,X,2,4,\nSWAP,X Y,1,4,XLON\nJUN,J,1,8,\n");
    assert_eq!(mistakes(BOTH, &[("symbols.csv", &right)]), [""; 0]);
    let accounts = [
        (
            "account,venue_account\nA9,X\n",
            "accounts.csv:2: unknown account A9",
        ),
        (
            "account,venue_account\nA1,\n",
            "accounts.csv:2: venue_account is empty",
        ),
        (
            "account,venue_account\nA1,X\nA1,Y\n",
            "accounts.csv:3: A1 is listed twice, also in line 2",
        ),
        (
            "account,venue_account,38\nA1,X,5\n",
            "accounts.csv:1: unknown column 38",
        ),
        (
            "account,venue_account,581\nA1,X,Z\n",
            "accounts.csv:2: A1 has 581=Z, a value that NewOrderSingle(D) of line VENUE does not have",
        ),
    ];
    for (text, wanted) in accounts {
        let found = mistakes(BOTH, &[("accounts.csv", text)]);
        assert!(
            found.iter().any(|it| it.contains(wanted)),
            "{text}: {found:?}"
        );
    }
    let found = mistakes_with(BOTH, Version::Fix40, &[]);
    for wanted in [
        "XYZ has 207=XNYS, which NewOrderSingle(D) of line VENUE does not have",
        "accounts.csv:2: A1 has 581=1, which NewOrderSingle(D) of line VENUE does not have",
    ] {
        assert!(found.iter().any(|it| it.contains(wanted)), "{found:?}");
    }
    let other = [
        ("symbols = 5", "symbols must be the name of a CSV file"),
        ("symbols = \"none.csv\"", "none.csv cannot be read"),
    ];
    for (names, wanted) in other {
        let mut open = |file: &str| match file {
            "none.csv" => Err("no such file".to_owned()),
            "limits.csv" => Ok(LIMITS.to_owned()),
            _ => Ok(INSTRUMENTS.to_owned()),
        };
        let settings = SETTINGS.replace("NAMES", names);
        let sessions = ["CLIENT", "VENUE", "PLAIN", "COPY", "DROP"];
        let errors = load(&settings, &sessions, &mut open).unwrap_err();
        let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|it| it.contains(wanted)), "{found:?}");
    }
    let link = SETTINGS.replace("NAMES", BOTH).replace(
        "[[line_group]]\nname = \"P\"",
        "[[link]]\nname = \"PLAIN\"\n[[line_group]]\nsymbols = \"symbols.csv\"\nname = \"P\"",
    );
    let mut open = |file: &str| {
        Ok(match file {
            "instruments.csv" => INSTRUMENTS,
            "symbols.csv" => SYMBOLS,
            "accounts.csv" => ACCOUNTS,
            _ => LIMITS,
        }
        .to_owned())
    };
    let errors = load(&link, &["CLIENT", "VENUE", "COPY", "DROP"], &mut open).unwrap_err();
    let found: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let wanted = "symbols is for lines over FIX, and PLAIN speaks TMP";
    assert!(found.iter().any(|it| it.contains(wanted)), "{found:?}");
}
