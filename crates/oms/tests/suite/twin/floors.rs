//! Set-ups: settings for the OMS and the same for the model.

use fixwire_engine::protocol::dictionary::Version;

use crate::desk::Setup;
use crate::model::again::Entry;
use crate::model::pools::Pool;
use crate::model::spreads::Leg;
use crate::model::{Account, Client, SECOND, Symbol, World};

pub const CLIENTS: [usize; 3] = [0, 1, 2];
pub const LINES: [usize; 3] = [3, 4, 5];

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
orders = 100
instruments = "instruments.csv"
limits = "limits.csv"
remembered = 6
roll_wait = "0s"
RESTRICTED
SELF_TRADE
[oms.own_tags]
validity = 9702
condition = 9703
parent = 9705
reduce_by = 9706
[[account]]
name = "DESK"
[[account]]
name = "A1"
parent = "DESK"
[[account]]
name = "A2"
parent = "DESK"
[[account]]
name = "B1"
[[user]]
session = "C1"
accounts = ["A*"]
may = ["new", "replace", "cancel", "mass cancel", "status", "quote"]
account = "A1"
[[user]]
session = "C2"
accounts = ["A2", "B1"]
may = ["new", "replace", "cancel", "mass cancel", "status", "quote"]
on_logout = "cancel"
on_disconnect = "cancel after 5s"
[[user]]
session = "C3"
accounts = ["*"]
may = ["status"]
[[line_group]]
name = "NEW"
lines = ["L1", "L2"]
ERRORS
[[line_group]]
name = "OLD"
lines = ["L3"]
[[route]]
symbols = ["OLD*"]
to = "OLD"
[[route]]
symbols = ["*"]
to = "NEW"
"#;

const ERRORS: &str = r#"
[[line_group.error]]
ord_rej_reason = 3
do = "another line"
times = 3
after = "20ms"
say = "v:another"
[[line_group.error]]
business_reject_reason = 4
do = "retry"
[[line_group.error]]
cxl_rej_reason = 2
say = "v:later"
[[line_group.error]]
text = "v: so*"
do = "retry"
times = 2
after = "1s"
"#;

const POOLS: &str = r#"
[[number_pool]]
name = "N"
prefix = "N"
width = 2
first = "05"
each_day = true
[[number_pool]]
name = "O"
digits = "0-9A-F"
width = 1
tag = 37
[[number_pool]]
name = "U"
prefix = "U"
width = 3
tag = 5001
"#;

const INSTRUMENTS: &str = "symbol,tick,lot,multiplier,rate,reference,positions,legs
XYZ,0.05,10,2,1,100,,
ABC,1,1,1,0.5,50,,
OLD1,0.001,1,1,1,10,,
FIN,0.00005,1,3,1.5,1,,
NOREF,0.5,5,1,1,,,
FUT,0.5,1,10,1,20,effect,
NEAR,0.05,1,1,1,100,,
CAL,0.01,1,1,1,5,,buy 1 XYZ sell 2 NEAR
OLDFLY,0.05,10,7,0.3,,,sell 3 XYZ sell 1 NEAR
";

const NEW: &[usize] = &[3, 4];
const OLD: &[usize] = &[5];

/// The legs of a spread, by the numbers of their symbols.
fn legs(name: &str) -> Option<[Leg; 2]> {
    let leg = |symbol, buys, ratio| Leg {
        symbol,
        buys,
        ratio,
    };
    match name {
        "CAL" => Some([leg(0, true, 1), leg(6, false, 2)]),
        "OLDFLY" => Some([leg(0, false, 3), leg(6, false, 1)]),
        _ => None,
    }
}

fn symbols() -> Vec<Symbol> {
    let symbol = |name, scale, tick, lot, worth, reference, lines| Symbol {
        name,
        scale,
        tick,
        lot,
        worth,
        reference,
        has_effect: name == "FUT",
        lines,
        legs: legs(name),
    };
    vec![
        symbol("XYZ", 2, 5, 10, 2_000_000_000, Some(10_000), NEW),
        symbol("ABC", 0, 1, 1, 500_000_000, Some(50), NEW),
        symbol("OLD1", 3, 1, 1, 1_000_000_000, Some(10_000), OLD),
        symbol("FIN", 5, 5, 1, 4_500_000_000, Some(100_000), NEW),
        symbol("NOREF", 1, 5, 5, 1_000_000_000, None, NEW),
        symbol("FUT", 1, 5, 1, 10_000_000_000, Some(200), NEW),
        symbol("NEAR", 2, 5, 1, 1_000_000_000, Some(10_000), NEW),
        symbol("CAL", 2, 1, 1, 1_000_000_000, Some(500), NEW),
        symbol("OLDFLY", 2, 5, 10, 2_100_000_000, Some(-40_000), OLD),
    ]
}

/// Kind of set-up for a seed.
fn is_wide(seed: u64) -> bool {
    seed % 4 == 1
}

fn has_times(seed: u64) -> bool {
    seed % 4 == 2
}

fn has_lists(seed: u64) -> bool {
    seed % 4 == 3
}

fn has_errors(seed: u64) -> bool {
    seed % 3 == 2
}

fn has_conditions(seed: u64) -> bool {
    seed % 7 < 3
}

/// How many orders a client may have held.
fn conditional(seed: u64, session: usize) -> Option<usize> {
    let most = [Some(4), Some(100), None];
    most[session].filter(|_| has_conditions(seed))
}

/// Lines of the old venue send for the new one, and the other way round.
fn has_helpers(seed: u64) -> bool {
    seed % 13 < 6 && !has_pools(seed) && !has_conditions(seed)
}

fn has_families(seed: u64) -> bool {
    seed % 11 < 5
}

/// How many parent orders a client may have open.
fn parents(seed: u64, session: usize) -> Option<usize> {
    let most = [Some(3), Some(100), None];
    most[session].filter(|_| has_families(seed))
}

fn has_pools(seed: u64) -> bool {
    seed % 5 < 2 && seed > 1
}

fn errors() -> Vec<Entry> {
    let entry = |reason, text, again, say| Entry {
        reason,
        text,
        again,
        say,
    };
    vec![
        entry(
            Some((103, "3")),
            None,
            Some((3, SECOND / 50, true)),
            Some("v:another"),
        ),
        entry(Some((380, "4")), None, Some((1, 0, false)), None),
        entry(Some((102, "2")), None, None, Some("v:later")),
        entry(None, Some("v: so"), Some((2, SECOND, false)), None),
    ]
}

fn pools() -> Vec<Pool> {
    let pool = |prefix, digits, width, (first, last), tag| Pool {
        prefix,
        digits,
        width,
        first,
        last,
        tag,
        each_day: prefix == "N",
    };
    vec![
        pool("N", "0123456789", 2, (5, 99), 526),
        pool("", "0123456789ABCDEF", 1, (0, 15), 37),
        pool("U", "0123456789", 3, (0, 999), 5001),
    ]
}

/// The limits of a world: scope, control, limit.
pub fn limits(seed: u64) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut limits = if is_wide(seed) {
        vec![
            ("firm", "RC6", "9007199254740992"),
            ("firm", "RC7", "9000000000"),
            ("firm", "RC8", "1000000000"),
            ("firm", "RC13", "1000"),
            ("firm", "RC14", "9000000000"),
            ("firm", "RC15", "9000000000000000000"),
        ]
    } else {
        vec![
            ("firm", "RC6", "1000"),
            ("firm", "RC7", "150000"),
            ("firm", "RC8", "100"),
            ("symbol=XYZ", "RC8", "10"),
            ("firm", "RC13", "60"),
            ("account=A1", "RC13", "20"),
            ("firm", "RC14", "100000000"),
            ("firm", "RC15", "2000"),
        ]
    };
    if has_times(seed) {
        let of_time = if seed % 8 == 2 {
            vec![
                ("firm", "RC5-1s", "2"),
                ("firm", "RC9-value-1s", "700000"),
                ("account=A1", "RC9-value-60s", "1500000"),
                ("symbol=XYZ", "RC9-value-day", "2500000"),
                ("account=A1", "RC9-quantity-1s", "1500"),
                ("symbol=ABC", "RC9-quantity-60s", "100"),
                ("firm", "RC9-quantity-day", "60000"),
                ("firm", "RC17", "2000000"),
            ]
        } else {
            vec![
                ("firm", "RC10", "40"),
                ("firm", "RC10-cancel", "12"),
                ("firm", "RC10-kill", "150"),
                ("firm", "RC11-replaces", "2"),
                ("account=A1", "RC11-unanswered", "4"),
                ("firm", "RC11-ratio", "40"),
                ("symbol=XYZ", "RC12", "30"),
            ]
        };
        limits.extend(of_time);
    }
    limits
}

/// Adds held orders, and a session that gives prices.
fn with_conditions(mut settings: String) -> String {
    for (line, more) in [
        ("remembered = 6", "market_data = [\"L1\"]"),
        ("account = \"A1\"", "conditional = 4"),
        ("on_logout = \"cancel\"", "conditional = 100"),
        ("lines = [\"L3\"]", "cannot = [\"stop\"]"),
    ] {
        settings = settings.replace(line, &format!("{line}\n{more}"));
    }
    settings
}

/// The settings of a world, and what the model knows of them.
pub fn floor(seed: u64) -> (Setup, World) {
    let lists = has_lists(seed);
    let restricted = if lists {
        "restricted = \"restricted.csv\""
    } else {
        ""
    };
    let self_trade = if lists { "self_trade = \"reject\"" } else { "" };
    let mut settings = SETTINGS.replace("RESTRICTED", restricted);
    let entries = if has_errors(seed) { ERRORS } else { "" };
    settings = settings.replace("ERRORS", entries);
    if has_pools(seed) {
        for (line, more) in [
            ("account = \"A1\"", "own_numbers = true"),
            ("on_logout = \"cancel\"", "number_pool = \"U\""),
            ("lines = [\"L1\", \"L2\"]", "number_pool = \"N\""),
            ("lines = [\"L3\"]", "number_pool = \"O\""),
        ] {
            settings = settings.replace(line, &format!("{line}\n{more}"));
        }
        settings.push_str(POOLS);
    }
    if has_conditions(seed) {
        settings = with_conditions(settings);
    }
    if has_families(seed) {
        for (line, more) in [
            ("account = \"A1\"", "parents = 3"),
            ("on_logout = \"cancel\"", "parents = 100"),
        ] {
            settings = settings.replace(line, &format!("{line}\n{more}"));
        }
    }
    if has_helpers(seed) {
        for (line, more) in [
            ("lines = [\"L1\", \"L2\"]", "helpers = [\"OLD\"]"),
            ("lines = [\"L3\"]", "helpers = [\"NEW\"]"),
        ] {
            settings = settings.replace(line, &format!("{line}\n{more}"));
        }
    }
    let rows = limits(seed).into_iter();
    let rows = rows.map(|(scope, code, value)| format!("{scope},{code},{value}\n"));
    let rows: String = rows.collect();
    let mut files = vec![
        ("instruments.csv", INSTRUMENTS.to_owned()),
        ("limits.csv", format!("scope,control,limit\n{rows}")),
    ];
    let mut list = Vec::new();
    if lists {
        let rows = "symbol,account,what\nABC,A2,all\nXYZ,*,locate\nFIN,B1,buy\nOLD1,*,short\n";
        files.push(("restricted.csv", rows.to_owned()));
        list = vec![
            (1, Some(2), "all"),
            (0, None, "locate"),
            (3, Some(3), "buy"),
            (2, None, "short"),
        ];
    }
    let sessions = vec![
        ("C1", Version::Fix44),
        ("C2", Version::Fix42),
        ("C3", Version::Fix44),
        ("L1", Version::Fix44),
        ("L2", Version::Fix44),
        ("L3", Version::Fix42),
    ];
    let account = |name, parent| Account { name, parent };
    let all = &["new", "replace", "cancel", "mass cancel", "status", "quote"];
    let client = |session, accounts, default, may, cancels| Client {
        session,
        is_old: session == 1,
        accounts,
        default,
        may,
        cancels,
        pool: (has_pools(seed) && session == 1).then_some(2),
        names_numbers: has_pools(seed) && session == 0,
        conditional: conditional(seed, session),
        parents: parents(seed, session),
    };
    let world = World {
        names: sessions.iter().map(|(name, _)| *name).collect(),
        symbols: symbols(),
        accounts: vec![
            account("DESK", None),
            account("A1", Some(0)),
            account("A2", Some(0)),
            account("B1", None),
        ],
        clients: vec![
            client(0, &[1, 2], Some(1), all, None),
            client(1, &[2, 3], None, all, Some((0, 5_000_000_000))),
            client(2, &[0, 1, 2, 3], None, &["status"], None),
        ],
        old_lines: vec![5],
        groups: vec![NEW, OLD],
        helpers: if has_helpers(seed) {
            vec![(NEW, OLD), (OLD, NEW)]
        } else {
            Vec::new()
        },
        errors: has_errors(seed).then(errors).into_iter().collect(),
        pools: if has_pools(seed) { pools() } else { Vec::new() },
        pool_of_group: if has_pools(seed) {
            vec![Some(0), Some(1)]
        } else {
            Vec::new()
        },
        no_stops: has_conditions(seed).then_some(OLD).into_iter().collect(),
        feed: has_conditions(seed).then_some(3),
        remembered: 6,
        rejects_self_trades: lists,
        restricted: list,
    };
    let setup = Setup {
        settings: settings.replace("SELF_TRADE", self_trade),
        files,
        sessions,
    };
    (setup, world)
}
