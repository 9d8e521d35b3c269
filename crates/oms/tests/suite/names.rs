//! Names of instruments and accounts: identifiers in clients' requests, and names that only a venue has.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::load::load;
use fixwire_oms::{Oms, OmsSession, OrderState};

use crate::desk::{Desk, Input, Said, Setup, dictionary};

mod master;
mod reload;
mod venue;

const CLIENT: usize = 0;
const VENUE: usize = 1;
const PLAIN: usize = 2;
const COPY: usize = 3;
const DROP: usize = 4;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
[oms.own_tags]
report_filter = 9704
[[account]]
name = "A1"
[[account]]
name = "A2"
[[account]]
name = "HOUSE"
[[user]]
session = "CLIENT"
accounts = ["*"]
may = ["new", "replace", "cancel", "mass cancel", "status", "quote", "price inquiry", "reports"]
account = "A1"
conditional = 10
parents = 10
report_numbers = true
[[line_group]]
name = "V"
lines = ["VENUE"]
market_status = true
NAMES
[[line_group]]
name = "P"
lines = ["PLAIN"]
[[route]]
symbols = ["PLAIN1"]
to = "P"
[[route]]
symbols = ["*"]
to = "V"
[[drop_copy]]
session = "DROP"
[[drop_copy_in]]
session = "COPY"
line_groups = ["V"]
"#;

const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,10000000\nfirm,RC8,50\nfirm,RC13,1000\n\
                      firm,RC14,1000000000\nfirm,RC15,50000\n";

const INSTRUMENTS: &str = "\
symbol,tick,reference,legs,isin,ric,security_id,security_id_source,exchange,type,maturity,expires
XYZ,0.5,100,,US0000000001,XYZ.N,,,XNYS,CS,,
ABC,0.5,100,,US0000000002,,,,XNYS,CS,,
SWAP,0.5,100,,,,,,,,,
MAR,0.5,100,,,,7001,8,XEUR,FUT,2027-03,2026-11-24
JUN,0.5,102,,,,7002,8,XEUR,FUT,2027-06-18,
JUN-MAR,0.5,2,buy 1 JUN sell 1 MAR,,,7003,8,,,,
PLAIN1,0.5,100,,,,,,,,,
";

/// The names at the venue: one swaps two symbols, and one has an identifier alone.
const SYMBOLS: &str = "\
symbol,venue_symbol,security_id,security_id_source,exchange
XYZ,XYZ.V,US0000000001,4,XNYS
ABC,SWAP,,,
SWAP,ABC,,,
MAR,[N/A],M-MAR,8,
JUN,[N/A],M-JUN,8,
JUN-MAR,CAL1,,,
";

const ACCOUNTS: &str = "account,venue_account,581,660\nA1,OMNI,1,99\nA2,OMNI,3,\n";

const BOTH: &str = "symbols = \"symbols.csv\"\naccounts = \"accounts.csv\"";

fn setup(names: &str, version: Version) -> Setup {
    Setup {
        settings: SETTINGS.replace("NAMES", names),
        files: vec![
            ("instruments.csv", INSTRUMENTS.into()),
            ("limits.csv", LIMITS.into()),
            ("symbols.csv", SYMBOLS.into()),
            ("accounts.csv", ACCOUNTS.into()),
        ],
        sessions: vec![
            ("CLIENT", Version::Fix44),
            ("VENUE", version),
            ("PLAIN", version),
            ("COPY", Version::Fix44),
            ("DROP", Version::Fix44),
        ],
    }
}

fn log_on(desk: &mut Desk) {
    for session in [VENUE, PLAIN, COPY, DROP, CLIENT] {
        desk.hear(&Input::Up(session, false));
    }
}

fn desk(names: &str) -> Desk {
    let mut desk = Desk::new(&setup(names, Version::Fix44));
    log_on(&mut desk);
    desk
}

/// The messages of a type to a session.
fn to(said: &[Said], session: usize, msg_type: &str) -> Vec<Said> {
    let said = said.iter().cloned();
    let mut found: Vec<Said> = said.filter(|it| it.to == session).collect();
    found.retain(|it| it.msg_type == msg_type);
    found
}

/// The values of tags, `-` for a missing field.
fn values(said: &Said, tags: &[u32]) -> String {
    let values = tags.iter().map(|tag| said.get(*tag).unwrap_or("-"));
    values.collect::<Vec<_>>().join(" ")
}

fn order(id: &str, instrument: &str) -> String {
    format!("11={id}|{instrument}54=1|38=10|40=2|44=100|60=20261122-08:00:00|")
}

/// The mistakes of these files.
fn mistakes(names: &str, files: &[(&str, &str)]) -> Vec<String> {
    mistakes_with(names, Version::Fix44, files)
}

/// The same with venues of a version.
fn mistakes_with(names: &str, version: Version, files: &[(&str, &str)]) -> Vec<String> {
    let setup = setup(names, version);
    let mut open = |wanted: &str| {
        let changed = files.iter().find(|(name, _)| *name == wanted);
        let own = setup.files.iter().find(|(name, _)| *name == wanted);
        let text = changed.map(|(_, text)| (*text).to_owned());
        Ok(text.or_else(|| own.map(|(_, text)| text.clone())).unwrap())
    };
    let sessions: Vec<&str> = setup.sessions.iter().map(|(name, _)| *name).collect();
    match load(&setup.settings, &sessions, &mut open) {
        Ok(rules) => {
            let sessions = setup.sessions.iter().map(|(name, version)| OmsSession {
                name: (*name).to_owned(),
                version: *version,
                dictionary: dictionary(*version),
                ids: Vec::new(),
            });
            let found = Oms::name_problems(&rules, &sessions.collect::<Vec<_>>());
            let offset = |name: &str| setup.settings.find(&format!("{name:?}"));
            for it in &found {
                let file = it.file.as_ref().map(|(file, _)| file.as_str());
                assert_eq!(Some(it.at), file.and_then(offset), "the name of the file");
            }
            found.iter().map(ToString::to_string).collect()
        }
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

fn state_of(desk: &Desk, number: u64) -> OrderState {
    desk.state().orders().get(number).unwrap().state
}

/// The reports that the client gets again, from the first on.
fn recovered(desk: &mut Desk) -> Vec<Said> {
    let body = "1346=Q|1347=0|1351=1|1355=OMS|1182=1|1183=0|";
    let mut said = desk.says(CLIENT, "BW", body);
    for _ in 0..50 {
        said.extend(desk.hear(&Input::Pass(1_000_000)));
    }
    said.retain(|it| it.to == CLIENT && it.get(1352) == Some("Y"));
    said
}
