//! Quantities with decimals: what clients, venues, operators and files read and write, what is refused, and what becomes
//! of open orders when a symbol gets more decimals.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::load::load;
use fixwire_oms::{AccountNo, InstrumentNo};

use crate::desk::{Desk, Input, Said, Setup};

const CLIENT: usize = 0;
const VENUE: usize = 1;
const COPY: usize = 2;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
positions = "positions.csv"
[oms.own_tags]
reduce_by = 9706
parent = 9705
[[account]]
name = "A1"
[[user]]
session = "C"
accounts = ["A1"]
may = ["new", "replace", "cancel", "quote"]
account = "A1"
parents = 5
[[line_group]]
name = "V"
lines = ["V"]
[[route]]
symbols = ["*"]
to = "V"
[[drop_copy]]
session = "K"
"#;

const INSTRUMENTS: &str = "symbol,tick,lot,quantity_decimals,reference\nBTC-EUR,0.5,0.001,8,100\nVOD,0.05,1,,100\n\
                           ETH-EUR,0.05,0.01,,100\n";

const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nsymbol=BTC-EUR,RC6,1.5\nfirm,RC7,1000000\nfirm,RC8,90\n\
                      firm,RC13,100\nfirm,RC14,1000000000\nfirm,RC15,5000\naccount=A1 symbol=BTC-EUR,RC15,2.00000001\n";

const POSITIONS: &str = "account,symbol,long\nA1,BTC-EUR,0.00000001\nA1,VOD,10\n";

fn setup(instruments: &str) -> Setup {
    Setup {
        settings: SETTINGS.to_owned(),
        files: vec![
            ("instruments.csv", instruments.to_owned()),
            ("limits.csv", LIMITS.to_owned()),
            ("positions.csv", POSITIONS.to_owned()),
        ],
        sessions: vec![
            ("C", Version::Fix44),
            ("V", Version::Fix44),
            ("K", Version::Fix42),
        ],
    }
}

fn desk() -> Desk {
    let mut desk = Desk::new(&setup(INSTRUMENTS));
    for session in [VENUE, CLIENT, COPY] {
        desk.hear(&Input::Up(session, false));
    }
    desk
}

fn order(desk: &mut Desk, id: &str, symbol: &str, quantity: &str) -> Vec<Said> {
    let body = format!("11={id}|55={symbol}|54=1|38={quantity}|40=2|44=100|");
    desk.says(CLIENT, "D", &body)
}

/// Fields of the only message to a session.
fn fields(said: &[Said], to: usize, tags: &[u32]) -> String {
    let its: Vec<&Said> = said.iter().filter(|it| it.to == to).collect();
    assert_eq!(its.len(), 1, "{said:?}");
    let values = tags.iter().map(|tag| its[0].get(*tag).unwrap_or("-"));
    values.collect::<Vec<_>>().join(" ")
}

const QUANTITIES: [u32; 5] = [150, 38, 32, 14, 151];

#[test]
fn quantities_have_the_decimals_of_their_symbol_on_every_side() {
    let mut desk = desk();
    let said = order(&mut desk, "B1", "BTC-EUR", "0.500");
    assert_eq!(fields(&said, VENUE, &[55, 38]), "BTC-EUR 0.5");
    let new = "11=1|37=V1|17=E1|55=BTC-EUR|54=1|38=0.5|44=100|";
    let said = desk.says(VENUE, "8", &format!("{new}150=0|39=0|14=0|151=0.50|6=0|"));
    assert_eq!(fields(&said, CLIENT, &QUANTITIES), "0 0.5 - 0 0.5");
    // A fill may be of less than a lot.
    let fill = "11=1|37=V1|17=E2|55=BTC-EUR|54=1|38=0.5|44=100|150=F|39=1|";
    let fill = format!("{fill}32=0.12345678|31=99.5|14=0.12345678|151=0.37654322|6=99.5|");
    let said = desk.says(VENUE, "8", &fill);
    let wanted = "0.5 0.12345678 0.12345678 0.37654322";
    assert_eq!(fields(&said, CLIENT, &QUANTITIES), format!("F {wanted}"));
    assert_eq!(fields(&said, COPY, &QUANTITIES), format!("1 {wanted}"));
    let orders = desk.query("orders");
    assert!(orders.contains("\tBTC-EUR\t0.5\t100\tpartially filled\t0.12345678\t99.5\t"));
    let positions = desk.query("positions");
    assert!(positions.contains("A1\tBTC-EUR\t0.12345679\t0\t0.12345678\t0\t0.37654322\t0"));
    assert!(positions.contains("A1\tVOD\t10\t0\t0\t0\t0\t0"));
    assert!(desk.query("limits").contains("symbol=BTC-EUR\tRC6\t1.5\t"));
    assert_eq!(desk.query("breaks").lines().count(), 1, "no break");
    // A replace by what it takes away; and what is less than CumQty(14) is amended to it.
    let body = "11=B2|41=B1|55=BTC-EUR|54=1|9706=0.1|40=2|44=100|";
    let said = desk.says(CLIENT, "G", body);
    assert_eq!(fields(&said, VENUE, &[38]), "0.4");
    let replaced = "11=1-2|41=1|37=V1|17=E3|55=BTC-EUR|54=1|38=0.4|44=100|150=5|39=1|14=0.12345678|151=0.27654322|6=99.5|";
    let said = desk.says(VENUE, "8", replaced);
    let wanted = "5 0.4 - 0.12345678 0.27654322";
    assert_eq!(fields(&said, CLIENT, &QUANTITIES), wanted);
    // An operator enters the rest, and no more than that.
    let report = |quantity| {
        let text = format!("report order=1 type=fill quantity={quantity} price=99.5 exec=E4");
        Input::Command(text)
    };
    desk.hear(&report("0.276543221"));
    desk.hear(&report("0.27654323"));
    assert!(desk.query("orders").contains("\tpartially filled\t"));
    let said = desk.hear(&report("0.27654322"));
    assert_eq!(fields(&said, CLIENT, &QUANTITIES), "F 0.4 0.27654322 0.4 0");
    // The venue takes the first fill back.
    let bust =
        "11=1-2|37=V1|17=E5|19=E2|55=BTC-EUR|54=1|38=0.4|150=H|39=1|14=0.27654322|151=0|6=99.5|";
    let said = desk.says(VENUE, "8", bust);
    assert_eq!(fields(&said, CLIENT, &[150, 14]), "H 0.27654322");
    assert!(
        desk.query("positions")
            .contains("A1\tBTC-EUR\t0.27654323\t")
    );
    // All of it again, from the journal and from a checkpoint.
    desk.hear(&Input::Restart(0, false));
    desk.hear(&Input::Restart(0, true));
    assert!(
        desk.query("positions")
            .contains("A1\tBTC-EUR\t0.27654323\t")
    );
}

#[test]
fn a_quantity_that_the_symbol_does_not_have_is_refused_by_name() {
    let mut desk = desk();
    for (symbol, quantity, code, text) in [
        (
            "BTC-EUR",
            "0.0005",
            "13",
            "RC8: order quantity is not a multiple of the lot size (0.0005, size 0.001)",
        ),
        (
            "BTC-EUR",
            "0.000000001",
            "13",
            "RC8: order quantity is not a multiple of the lot size (more than 8 decimals)",
        ),
        (
            "BTC-EUR",
            "90071992.54740993",
            "99",
            "a quantity, price or value is out of range",
        ),
        (
            "BTC-EUR",
            "1.501",
            "3",
            "RC6: order quantity exceeds the limit (1.501, at most 1.5 for symbol=BTC-EUR)",
        ),
        (
            "VOD",
            "0.5",
            "13",
            "RC8: order quantity is not a multiple of the lot size (more than 0 decimals)",
        ),
        (
            "ETH-EUR",
            "0.001",
            "13",
            "RC8: order quantity is not a multiple of the lot size (more than 2 decimals)",
        ),
    ] {
        let id = format!("{symbol}{quantity}");
        let said = order(&mut desk, &id, symbol, quantity);
        let wanted = format!("8 {code} {quantity} {text}");
        assert_eq!(fields(&said, CLIENT, &[150, 103, 38, 58]), wanted);
    }
    // The opening position is one in the last decimal.
    order(&mut desk, "L1", "BTC-EUR", "1");
    let said = order(&mut desk, "L2", "BTC-EUR", "1.001");
    let wanted = "RC15: long position limit exceeded (2.00100001, at most 2.00000001 for account=A1 symbol=BTC-EUR)";
    assert_eq!(fields(&said, CLIENT, &[58]), wanted);
    let said = order(&mut desk, "L3", "BTC-EUR", "1");
    assert_eq!(fields(&said, VENUE, &[38]), "1");
}

#[test]
fn limits_add_up_symbols_of_several_decimals() {
    let mut desk = desk();
    desk.hear(&Input::Command("limit firm RC9-quantity-day=12.51".into()));
    for (id, symbol, quantity) in [("1", "BTC-EUR", "0.5"), ("2", "VOD", "12")] {
        let said = order(&mut desk, id, symbol, quantity);
        assert_eq!(fields(&said, VENUE, &[38]), quantity);
    }
    let said = order(&mut desk, "3", "ETH-EUR", "0.02");
    let wanted = "RC9-quantity-day: quantity of today's orders exceeds the limit (12.52, at most 12.51 for firm)";
    assert_eq!(fields(&said, CLIENT, &[58]), wanted);
    let said = order(&mut desk, "4", "ETH-EUR", "0.01");
    assert_eq!(fields(&said, VENUE, &[38]), "0.01");
    assert_eq!(
        fields(&order(&mut desk, "5", "BTC-EUR", "0.001"), CLIENT, &[150]),
        "8"
    );
    desk.hear(&Input::Restart(0, true));
    desk.hear(&Input::Up(VENUE, false));
    assert_eq!(
        fields(&order(&mut desk, "6", "BTC-EUR", "0.001"), CLIENT, &[150]),
        "8"
    );
}

#[test]
fn children_hold_parts_of_their_parent() {
    let mut desk = desk();
    let said = desk.says(
        CLIENT,
        "D",
        "11=P|21=3|55=BTC-EUR|54=1|38=0.75|40=2|44=100|",
    );
    assert_eq!(
        fields(&said, CLIENT, &[150, 38, 151]),
        "0 0.75 0.75",
        "{said:?}"
    );
    let child = |desk: &mut Desk, id: &str, quantity: &str| {
        let body = format!("11={id}|9705=1|55=BTC-EUR|54=1|38={quantity}|40=2|44=100|");
        desk.says(CLIENT, "D", &body)
    };
    let said = child(&mut desk, "K1", "0.5");
    assert_eq!(fields(&said, VENUE, &[38]), "0.5");
    let said = child(&mut desk, "K2", "0.251");
    let wanted = "order quantity exceeds what is left of the parent order (0.251, at most 0.25)";
    assert_eq!(fields(&said, CLIENT, &[58]), wanted);
    let said = child(&mut desk, "K3", "0.25");
    assert_eq!(fields(&said, VENUE, &[38]), "0.25");
}

#[test]
fn more_decimals_leave_what_stands_as_it_is_and_fewer_are_not_taken() {
    let whole =
        "symbol,tick,lot,reference\nBTC-EUR,0.5,1,100\nVOD,0.05,1,100\nETH-EUR,0.05,1,100\n";
    let mut setup = setup(whole);
    setup.files[2].1 = POSITIONS.replace("0.00000001", "3");
    let mut desk = Desk::new(&setup);
    for session in [VENUE, CLIENT, COPY] {
        desk.hear(&Input::Up(session, false));
    }
    // Those of the first file are the limits of quantities with decimals.
    desk.hear(&Input::Command(
        "limit account=A1 symbol=BTC-EUR RC15=100".into(),
    ));
    desk.hear(&Input::Command("limit symbol=BTC-EUR RC6=100".into()));
    order(&mut desk, "1", "BTC-EUR", "10");
    let fill =
        "11=1|37=V1|17=E1|55=BTC-EUR|54=1|38=10|44=100|150=F|39=1|32=4|31=99.5|14=4|151=6|6=99.5|";
    desk.says(VENUE, "8", fill);
    let tables = |desk: &Desk| {
        let tables = ["orders", "positions", "accounts", "limits"];
        tables.map(|table| desk.query(table)).join("\n")
    };
    let before = tables(&desk);
    let instrument = InstrumentNo::new(0);
    assert_eq!(desk.state().position(AccountNo::new(0), instrument).long, 7);
    // Finer: the same in other units, from the journal too.
    desk.set_file("instruments.csv", INSTRUMENTS);
    desk.hear(&Input::Restart(0, false));
    let long = |desk: &Desk| desk.state().position(AccountNo::new(0), instrument).long;
    assert_eq!(long(&desk), 700_000_000);
    assert_eq!(tables(&desk), before);
    for session in [VENUE, CLIENT, COPY] {
        desk.hear(&Input::Up(session, false));
    }
    let fill = "11=1|37=V1|17=E2|55=BTC-EUR|54=1|38=10|44=100|150=F|39=1|32=0.25|31=99.5|14=4.25|151=5.75|6=99.5|";
    let said = desk.says(VENUE, "8", fill);
    assert_eq!(fields(&said, CLIENT, &QUANTITIES), "F 10 0.25 4.25 5.75");
    // Coarser: it keeps its decimals, and new orders are whole lots again.
    desk.set_file("instruments.csv", whole);
    desk.hear(&Input::Restart(0, true));
    for session in [VENUE, CLIENT, COPY] {
        desk.hear(&Input::Up(session, false));
    }
    assert_eq!(long(&desk), 725_000_000);
    let said = order(&mut desk, "2", "BTC-EUR", "0.5");
    let wanted = "RC8: order quantity is not a multiple of the lot size (0.5, size 1)";
    assert_eq!(fields(&said, CLIENT, &[58]), wanted);
    assert_eq!(
        fields(&order(&mut desk, "3", "BTC-EUR", "2"), VENUE, &[38]),
        "2"
    );
    // What would be out of range keeps its decimals.
    let mut setup = setup.clone();
    setup.files[2].1 = POSITIONS.replace("0.00000001", "90071993");
    let mut desk = Desk::new(&setup);
    desk.set_file("instruments.csv", INSTRUMENTS);
    // It is of an empty journal.
    desk.set_file("positions.csv", POSITIONS);
    desk.hear(&Input::Restart(0, false));
    assert_eq!(desk.state().violations(), 0);
    assert_eq!(long(&desk), 90_071_993);
    assert!(desk.query("positions").contains("A1\tBTC-EUR\t90071993\t"));
}

/// The mistakes of files.
fn mistakes(instruments: &str, positions: &str, lines: &str) -> Vec<String> {
    let settings = SETTINGS.replace("lines = [\"V\"]", lines) + "[[link]]\nname = \"T\"\n";
    let mut open = |file: &str| {
        Ok(match file {
            "instruments.csv" => instruments.to_owned(),
            "positions.csv" => positions.to_owned(),
            _ => LIMITS.to_owned(),
        })
    };
    let found = load(&settings, &["C", "V", "K"], &mut open).err();
    found
        .into_iter()
        .flatten()
        .map(|it| it.to_string())
        .collect()
}

#[test]
fn files_say_which_decimals_are_wrong() {
    let rows = |more: &str| format!("{INSTRUMENTS}{more}\n");
    for (row, wanted) in [
        (
            "A,1,0.000000001,,",
            "instruments.csv:5: lot has at most 8 decimals",
        ),
        (
            "A,1,0.001,2,",
            "instruments.csv:5: quantity_decimals must be a number from 3 to 8",
        ),
        (
            "A,1,1,9,",
            "instruments.csv:5: quantity_decimals must be a number from 0 to 8",
        ),
        ("A,1,0,,", "instruments.csv:5: lot must be a number above 0"),
        (
            "A,1,99999999999999999,,",
            "instruments.csv:5: lot is too large",
        ),
    ] {
        let found = mistakes(&rows(row), POSITIONS, "lines = [\"V\"]");
        assert_eq!(found, [wanted], "{row}");
    }
    let positions = "account,symbol,long\nA1,ETH-EUR,0.001\nA1,VOD,1.5\n";
    assert_eq!(
        mistakes(INSTRUMENTS, positions, "lines = [\"V\"]"),
        [
            "positions.csv:2: long 0.001 must be a number with at most 2 decimals, up to 90071992547409.92",
            "positions.csv:3: long 1.5 must be a whole number up to 9007199254740992",
        ]
    );
    let over_tmp = mistakes(INSTRUMENTS, POSITIONS, "lines = [\"V\", \"T\"]");
    let hint = "set its lot to a whole number and its quantity_decimals to 0, or route it to \
                 another line group";
    let wanted = [(2, "BTC-EUR"), (4, "ETH-EUR")].map(|(line, symbol)| {
        format!(
            "instruments.csv:{line}: {symbol} has quantities with decimals, but its line T speaks TMP; {hint}"
        )
    });
    assert_eq!(over_tmp, wanted);
    let routed = "lines = [\"V\"]\n[[line_group]]\nname = \"T\"\nlines = [\"T\"]\n\
                  [[route]]\nwhen = 'Account = \"A1\"'\nto = \"T\"\n";
    assert_eq!(mistakes(INSTRUMENTS, POSITIONS, routed), wanted);
    let spread =
        "symbol,tick,lot,reference,legs\nA,1,0.1,100,\nB,1,1,100,\nS,1,0.1,,buy 1 A sell 1 B\n";
    let found = mistakes(spread, "account,symbol,long\n", "lines = [\"V\"]");
    let wanted = "instruments.csv:4: leg B has 0 quantity_decimals, but its spread has 1; give both the same quantity_decimals";
    assert_eq!(found[0], wanted);
}

#[test]
fn a_temporary_limit_shows_when_it_ends_and_an_event_reports_its_end() {
    let mut desk = desk();
    // The desk begins at 08:00.
    for (until, day) in [("08:01", "2026-11-22"), ("07:59", "2026-11-23")] {
        let text = format!("limit symbol=BTC-EUR RC6=2.5 until={until}");
        desk.hear(&Input::Command(text));
        let wanted =
            format!("Ok(()) symbol=BTC-EUR: RC6 is 2.5 until {day} {until} UTC, then 1.5 again");
        assert_eq!(desk.answer(), wanted);
        let row = format!("symbol=BTC-EUR\tRC6\t2.5\tactive\t{day} {until} UTC");
        let limits = desk.query("limits");
        assert!(limits.lines().any(|it| it == row), "{limits}");
    }
    desk.hear(&Input::Command(
        "limit symbol=BTC-EUR RC6=2.5 until=08:01".into(),
    ));
    desk.events();
    desk.hear(&Input::Pass(30 * 1_000_000_000));
    assert_eq!(desk.events(), [""; 0]);
    desk.hear(&Input::Pass(31 * 1_000_000_000));
    let wanted = "temporary limit RC6 of symbol=BTC-EUR ended: the limit is 1.5 again";
    assert_eq!(desk.events(), [wanted]);
    let limits = desk.query("limits");
    assert!(
        limits.contains("symbol=BTC-EUR\tRC6\t1.5\tactive\t\n"),
        "{limits}"
    );
}
