//! Symbols in other currencies: limits of the firm with the rates of a file, and orders without a rate or with an old one.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::load::load;
use fixwire_oms::{RequestKind, Scope, Trading};

use crate::desk::{Desk, Input, Setup};

const CLIENT: usize = 0;
const VENUE: usize = 1;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
rates = "rates.csv"
rates_max_age = "3600s"
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "A1"
[[user]]
session = "C"
accounts = ["A1"]
may = ["new", "replace", "cancel"]
account = "A1"
[[line_group]]
name = "V"
lines = ["V"]
[[route]]
symbols = ["*"]
to = "V"
"#;

/// The desk begins at 08:00.
const RATES: &str = "currency,rate,as_of\nEUR,1,\nUSD,0.9254321,20261122-07:30:00\nJPY,0.0061234,20261122-06:59:00\n";
const INSTRUMENTS: &str = "symbol,tick,multiplier,currency,reference\nAIR,0.01,1,EUR,100\nIBM,0.01,2,USD,100\n\
                           SONY,1,1,JPY,100\nROCHE,1,1,CHF,100\nOWN,1,1,,100\n";
const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,18508.65\nfirm,RC8,100\nfirm,RC13,100\n\
                      firm,RC14,1000000000\nfirm,RC15,100000\n";

fn desk() -> Desk {
    let mut desk = Desk::new(&Setup {
        settings: SETTINGS.to_owned(),
        files: vec![
            ("rates.csv", RATES.to_owned()),
            ("instruments.csv", INSTRUMENTS.to_owned()),
            ("limits.csv", LIMITS.to_owned()),
        ],
        sessions: vec![("C", Version::Fix44), ("V", Version::Fix44)],
    });
    logs_on(&mut desk);
    desk
}

fn logs_on(desk: &mut Desk) {
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
}

/// Sends an order; Text(58) of its reject, empty when it went to the venue.
fn order(desk: &mut Desk, id: &str, symbol: &str, quantity: u32) -> String {
    let body = format!("11={id}|55={symbol}|54=1|38={quantity}|40=2|44=100|");
    let said = desk.says(CLIENT, "D", &body);
    if said.iter().any(|it| it.to == VENUE) {
        return String::new();
    }
    said[0].get(58).unwrap().to_owned()
}

const MISSING: &str = "no rate for the currency of the symbol (CHF)";

#[test]
fn limits_count_in_the_currency_of_the_firm() {
    let mut desk = desk();
    // 100 × 2 × 0.9254321, with the product of multiplier and rate rounded up to 1.850865.
    assert_eq!(order(&mut desk, "1", "IBM", 100), "");
    let wanted = "RC7: order value exceeds the limit (18693.72842, at most 18508.65 for firm)";
    assert_eq!(order(&mut desk, "2", "IBM", 101), wanted);
    assert_eq!(order(&mut desk, "3", "AIR", 185), "");
    assert!(desk.query("accounts").contains("\t37008.642\t"));
}

#[test]
fn a_rate_with_many_decimals_lets_no_order_exceed_a_limit() {
    let mut desk = desk();
    desk.set_file(
        "rates.csv",
        "currency,rate\nEUR,0.0000014\nUSD,0.0000015\nJPY,0.000000001\nCHF,0.000001\n",
    );
    desk.set_file(
        "limits.csv",
        &LIMITS
            .replace("18508.65", "0.00012")
            .replace("RC6,1000", "RC6,2000"),
    );
    desk.hear(&Input::Restart(0, false));
    logs_on(&mut desk);
    let said = order(&mut desk, "1", "AIR", 1);
    assert_eq!(
        said,
        "RC7: order value exceeds the limit (0.00014, at most 0.00012 for firm)"
    );
    assert_eq!(order(&mut desk, "2", "SONY", 1_200), "");
    let said = order(&mut desk, "3", "SONY", 1_201);
    assert_eq!(
        said,
        "RC7: order value exceeds the limit (0.0001201, at most 0.00012 for firm)"
    );
}

#[test]
fn an_order_without_a_rate_or_with_an_old_one_is_rejected() {
    let mut desk = desk();
    assert_eq!(order(&mut desk, "1", "ROCHE", 1), MISSING);
    let old = "the rate for the currency of the symbol is too old (JPY, 3660 s old)";
    assert_eq!(order(&mut desk, "2", "SONY", 1), old);
    assert_eq!(order(&mut desk, "3", "OWN", 1), "");
    assert_eq!(order(&mut desk, "4", "IBM", 1), "");
    desk.hear(&Input::Pass(31 * 60 * 1_000_000_000));
    let old = "the rate for the currency of the symbol is too old (USD, 3660 s old)";
    assert_eq!(order(&mut desk, "5", "IBM", 1), old);
    // A replace needs the value too; a cancel does not.
    let accepted = "11=2|37=V|17=N|150=0|39=0|55=IBM|54=1|38=1|44=100|14=0|151=1|6=0|";
    desk.says(VENUE, "8", accepted);
    let change = "41=4|55=IBM|54=1|38=2|40=2|44=100|";
    let said = desk.says(CLIENT, "G", &format!("11=6|{change}"));
    assert_eq!(said[0].get(58), Some(old));
    let said = desk.says(CLIENT, "F", "11=7|41=4|55=IBM|54=1|38=1|");
    assert!(said.iter().any(|it| it.to == VENUE && it.msg_type == "F"));
    // Its own currency has a rate that does not age.
    assert_eq!(order(&mut desk, "8", "AIR", 1), "");
    // New rates: what is open has the new value, and a lost rate leaves the value of what is open.
    let before = desk.query("accounts");
    desk.set_file("rates.csv", "currency,rate\nEUR,1\nJPY,0.5\nCHF,1.1\n");
    desk.hear(&Input::Restart(0, false));
    logs_on(&mut desk);
    assert_eq!(desk.query("accounts"), before);
    let missing = "no rate for the currency of the symbol (USD)";
    assert_eq!(order(&mut desk, "9", "IBM", 1), missing);
    assert_eq!(order(&mut desk, "10", "SONY", 1), "");
    assert_eq!(order(&mut desk, "11", "ROCHE", 1), "");
    desk.set_file("rates.csv", "currency,rate\nEUR,1\nJPY,5\nCHF,1.1\n");
    let of_sony = |desk: &Desk| {
        let number = desk.state().instruments().find(b"SONY").unwrap();
        desk.state().worth(number, 100, 1)
    };
    assert_eq!(of_sony(&desk), Some(50_000_000_000));
    desk.hear(&Input::Restart(0, true));
    assert_eq!(of_sony(&desk), Some(500_000_000_000));
}

#[test]
fn a_loss_by_new_rates_kills_without_an_order() {
    let new = RATES.replace("0.9254321", "1.9");
    for restarts in [false, true] {
        let mut desk = desk();
        desk.set_file("limits.csv", &format!("{LIMITS}symbol=IBM,RC17,100\n"));
        desk.hear(&Input::Restart(0, false));
        logs_on(&mut desk);
        assert_eq!(order(&mut desk, "1", "IBM", 50), "");
        assert_eq!(order(&mut desk, "2", "IBM", 1), "");
        let report = |exec: &str, price: u32, quantity: u32, cum: u32| {
            format!(
                "11=1|37=V|17={exec}|150=F|39=1|55=IBM|54=1|38=50|44=100|32={quantity}|31={price}|14={cum}|151={}|6=100|",
                50 - cum
            )
        };
        desk.says(VENUE, "8", &report("E1", 100, 40, 40));
        // 40 × 1 × 2 are lost: 74.03 EUR, and 152 EUR by the new rate.
        desk.says(VENUE, "8", &report("E2", 99, 1, 41));
        let ibm = desk.state().instruments().find(b"IBM").unwrap();
        let trading = |desk: &Desk| desk.state().trading(Scope::Instrument(ibm));
        assert_eq!(trading(&desk), Trading::Active);
        desk.set_file("rates.csv", &new);
        if restarts {
            desk.hear(&Input::Restart(0, false));
            logs_on(&mut desk);
        } else {
            // A comment is a change of the settings.
            desk.reload("[oms]", "# by new rates\n[oms]");
        }
        assert_eq!(trading(&desk), Trading::Killed);
        let orders = desk.state().orders();
        let cancelled = orders.iter().filter(|order| {
            let request = orders.request_of(order);
            request.is_some_and(|it| it.kind == RequestKind::Cancel)
        });
        assert_eq!(cancelled.count(), 2);
    }
}

#[test]
fn mistakes_of_rates_are_told_with_their_line() {
    let found = |rates: &str, instruments: &str| {
        let mut open = |file: &str| {
            Ok(match file {
                "rates.csv" => format!("currency,rate,as_of\n{rates}\n"),
                "instruments.csv" => format!("symbol,tick,rate,currency\n{instruments}\n"),
                _ => LIMITS.to_owned(),
            })
        };
        let found = load(SETTINGS, &["C", "V"], &mut open).err();
        let found = found.into_iter().flatten().map(|it| it.to_string());
        found.collect::<Vec<_>>()
    };
    assert_eq!(found("JPY,15000000,", "A,1,,JPY"), [""; 0]);
    assert_eq!(found("JPY,1.0000000010,", "A,1,,JPY"), [""; 0]);
    let large = "instruments.csv:2: multiplier 1 times rate 18446744074 is out of range: at most 18446744073.709551615; \
                 choose a smaller unit of the firm's currency, or another multiplier";
    assert_eq!(found("JPY,18446744074,", "A,1,,JPY"), [large]);
    let hint = "write Currency(15), at most 8 letters and digits: EUR, USDT";
    for (rates, instruments, wanted) in [
        ("EU R,1,", "A,1,,", format!("rates.csv:2: EU R is not a currency; {hint}")),
        ("EUR,0,", "A,1,,", "rates.csv:2: rate must be a number above 0".into()),
        (
            "EUR,1,yesterday",
            "A,1,,",
            "rates.csv:2: as_of yesterday is not a time; write a UTC time such as 20261122-08:00:00".into(),
        ),
        // Also the rate of a currency that no symbol has.
        (
            "USD,1,\nEUR,1.0000000001,",
            "A,1,,USD",
            "rates.csv:3: rate has more than 9 decimals; round the rate".into(),
        ),
        (
            "USD,1,",
            "A,1,1.0000000001,",
            "instruments.csv:2: rate has more than 9 decimals; round the rate".into(),
        ),
        (
            "EUR,1,\nEUR,2,",
            "A,1,,",
            "rates.csv:3: the rate of EUR is listed twice; leave one row".into(),
        ),
        (
            "EUR,1,",
            "A,1,2,EUR",
            "instruments.csv:2: A has both currency and rate; leave out rate: the rate is that of the currency".into(),
        ),
        (
            "EUR,1,",
            "A,1,,ABCDEFGHI",
            format!("instruments.csv:2: ABCDEFGHI is not a currency; {hint}"),
        ),
    ] {
        assert_eq!(found(rates, instruments), [wanted]);
    }
}
