//! Users by template: a `[[user]]` and limits for each session whose name fits a pattern.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::load::load_with;
use fixwire_oms::rules::{CreatedName, RiskRules};

use crate::desk::{Desk, Input, Said, Setup};
use crate::floor::Floor;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "A1"
[[account]]
name = "A2"
[[user]]
session = "CLIENT*"
accounts = ["A1"]
may = ["new", "cancel", "status"]
account = "A1"
rate = "3 in 1s"
drop = [58]
[[user]]
session = "CLIENT*"
accounts = ["A2"]
may = ["new"]
[[user]]
session = "CLIENT-9*"
accounts = ["A1"]
may = ["new"]
account = "A1"
[[user]]
session = "CLIENT-2"
accounts = ["A2"]
may = ["new"]
account = "A2"
[[line_group]]
name = "V"
lines = ["CLIENT-LINE"]
[[route]]
symbols = ["*"]
to = "V"
[[drop_copy]]
session = "CLIENT-DROP"
"#;

const SESSIONS: [&str; 7] = [
    "CLIENT-1",
    "CLIENT-2",
    "CLIENT-3",
    "CLIENT-91",
    "CLIENT-LINE",
    "CLIENT-DROP",
    "OTHER",
];
const ONE: usize = 0;
const TWO: usize = 1;
const THREE: usize = 2;
const LINE: usize = 4;
const DROP: usize = 5;

pub const INSTRUMENTS: &str = "symbol,tick,reference\nXYZ,0.5,100\n";
const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,10000000\nfirm,RC8,50\nfirm,RC13,1000\n\
                      firm,RC14,1000000000\nfirm,RC15,50000\nsession=CLIENT*,RC13,2\nsession=CLIENT-9*,RC13,5\n\
                      session=CLIENT-3,RC13,1\n";

/// Reads settings with these limits, for these sessions and those that Logons create; each mistake with its line.
pub fn read_with(
    settings: &str,
    limits: &str,
    sessions: &[&str],
    created: &[CreatedName],
) -> Result<RiskRules, String> {
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(INSTRUMENTS.to_owned()),
        _ => Ok(limits.to_owned()),
    };
    load_with(settings, sessions, created, &mut open).map_err(|mistakes| {
        let line = |at: usize| settings[..at].matches('\n').count() + 1;
        let mistakes = mistakes
            .iter()
            .map(|it| format!("line {}: {it}", line(it.at)));
        mistakes.collect::<Vec<_>>().join("\n")
    })
}

fn read(settings: &str, limits: &str) -> Result<RiskRules, String> {
    read_with(settings, limits, &SESSIONS, &[])
}

fn desk() -> Desk {
    let setup = Setup {
        settings: SETTINGS.into(),
        files: vec![
            ("instruments.csv", INSTRUMENTS.into()),
            ("limits.csv", LIMITS.into()),
        ],
        sessions: SESSIONS.map(|it| (it, Version::Fix44)).to_vec(),
    };
    let mut desk = Desk::new(&setup);
    log_on(&mut desk);
    desk
}

fn log_on(desk: &mut Desk) {
    for session in [LINE, DROP, ONE, TWO, THREE, 3] {
        desk.hear(&Input::Up(session, false));
    }
}

/// What becomes of an order: `sent`, or the text of its reject.
pub fn outcome(said: &[Said], from: usize, line: usize) -> String {
    let reject = |it: &&Said| it.to == from && it.msg_type == "8";
    match said.iter().find(reject) {
        Some(reject) => reject.get(58).unwrap_or_default().to_owned(),
        None if said.iter().any(|it| it.to == line) => "sent".to_owned(),
        None => "nothing".to_owned(),
    }
}

fn order(desk: &mut Desk, from: usize, id: &str, more: &str) -> String {
    let body = format!("11={id}|55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00|{more}");
    outcome(&desk.says(from, "D", &body), from, LINE)
}

#[test]
fn a_template_is_for_each_session_that_fits_and_has_no_table_or_role() {
    let rules = read(SETTINGS, LIMITS).unwrap();
    let templates = rules.templates.iter();
    let templates: Vec<_> = templates
        .map(|it| format!("{}: {}", it.pattern, it.sessions.join(" ")))
        .collect();
    assert_eq!(
        templates,
        ["CLIENT*: CLIENT-1 CLIENT-3", "CLIENT-9*: CLIENT-91"]
    );
    let user = |name: &str| rules.users.iter().find(|user| user.session == name);
    assert_eq!(rules.users.len(), 4);
    // Each is the same user but for its name, with all tables of the template.
    let mut third = user("CLIENT-3").unwrap().clone();
    third.session = "CLIENT-1".into();
    assert_eq!(Some(&third), user("CLIENT-1"));
    assert_eq!(third.rights.len(), 2);
    assert_eq!(
        user("CLIENT-2").unwrap().default_account.as_deref(),
        Some("A2")
    );
    assert_eq!(user("CLIENT-91").unwrap().rights.len(), 1);
    assert_eq!(rules.template_of("CLIENT-3").unwrap().pattern, "CLIENT*");
    assert_eq!(rules.template_of("CLIENT-2"), None);
}

#[test]
fn each_session_of_a_template_is_a_user_of_its_own() {
    let mut desk = desk();
    // A limit of its own for each.
    assert_eq!(order(&mut desk, ONE, "C1", "58=lost|"), "sent");
    assert_eq!(order(&mut desk, ONE, "C2", ""), "sent");
    let full = "RC13: the number of open orders exceeds the limit";
    let refused = order(&mut desk, ONE, "C3", "");
    assert!(
        refused.contains("at most 2 for session=CLIENT-1"),
        "{refused} {full}"
    );
    assert_eq!(order(&mut desk, THREE, "C1", ""), "sent");
    let refused = order(&mut desk, THREE, "C2", "");
    assert!(
        refused.contains("at most 1 for session=CLIENT-3"),
        "{refused}"
    );
    for id in ["C1", "C2", "C3"] {
        assert_eq!(order(&mut desk, 3, id, ""), "sent");
    }
    // A rate of its own: CLIENT-1 has used its three requests of this second.
    let heard = desk.asks(ONE, "H", "11=C1|55=XYZ|54=1|").0;
    assert!(heard.is_err());
    assert_eq!(desk.asks(THREE, "H", "11=C1|55=XYZ|54=1|").0, Ok(()));
    assert!(order(&mut desk, TWO, "C1", "1=A1|").starts_with("RC2: "));
    // A kill is for one of them.
    desk.hear(&Input::Command("kill session=CLIENT-3".into()));
    desk.hear(&Input::Pass(2_000_000_000));
    let refused = order(&mut desk, THREE, "C9", "");
    assert!(refused.starts_with("RC1: "), "{refused}");
    for from_checkpoint in [false, true] {
        desk.hear(&Input::Restart(0, from_checkpoint));
        log_on(&mut desk);
        let refused = order(&mut desk, THREE, &format!("R{from_checkpoint}"), "");
        assert!(refused.starts_with("RC1: "), "{refused}");
        let limits = desk.query("limits");
        for row in [
            "CLIENT-1\tRC13\t2",
            "CLIENT-2\tRC13\t2",
            "CLIENT-3\tRC13\t1",
            "CLIENT-91\tRC13\t5",
        ] {
            assert!(limits.contains(row), "{row}: {limits}");
        }
        assert!(!limits.contains('*'), "{limits}");
    }
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn mistakes_in_templates_have_a_place_and_a_hint() {
    let wrong = |settings: &str, limits: &str| read(settings, limits).unwrap_err();
    let replaced = |old: &str, new: &str| {
        assert!(SETTINGS.contains(old), "{old}");
        SETTINGS.replace(old, new)
    };
    let none = wrong(&replaced("\"CLIENT-9*\"", "\"DESK*\""), LIMITS);
    for part in [
        "DESK* fits no session",
        "line 22: ",
        "does not count",
        "the sessions are CLIENT-1, CLIENT-2",
    ] {
        assert!(none.contains(part), "{part}: {none}");
    }
    // All sessions that fit have another role.
    let none = wrong(&replaced("\"CLIENT-9*\"", "\"CLIENT-L*\""), LIMITS);
    assert!(none.contains("CLIENT-L* fits no session"), "{none}");
    // Two equal patterns are tables of one template: only one may decide about an account.
    let twice = wrong(
        &replaced(
            "accounts = [\"A2\"]\nmay = [\"new\"]\n[[user]]",
            "accounts = [\"A1\"]\nmay = [\"new\"]\n[[user]]",
        ),
        LIMITS,
    );
    let text = "accounts A1 of CLIENT* are in two tables, lines 12 and 19";
    assert!(twice.contains(text), "{twice}");
    let inside = wrong(&replaced("\"CLIENT-9*\"", "\"CLI*-9\""), LIMITS);
    assert!(inside.contains("unknown session CLI*-9"), "{inside}");
    let limits = format!("{LIMITS}session=DESK*,RC13,1\n");
    let none = wrong(SETTINGS, &limits);
    assert!(
        none.contains("session=DESK* fits no user") && none.contains("limits.csv:11"),
        "{none}"
    );
    let limits = format!("{LIMITS}session=CLIENT*,RC13,1\n");
    let twice = wrong(SETTINGS, &limits);
    assert!(
        twice.contains("the limit of RC13 for this scope is listed twice"),
        "{twice}"
    );
}

#[test]
fn a_reload_changes_the_users_of_a_template_by_name() {
    let mut floor = Floor::with("session = \"CLIENT\"", "session = \"CLI*\"");
    floor.order("C1", 1, 100);
    floor.edit(|files| {
        files.settings = files
            .settings
            .replace("\"quote\", \"price inquiry\"]", "\"quote\"]");
    });
    let said = floor.reload().unwrap();
    assert!(said.contains("1 change"), "{said}");
    assert!(said.contains("user\tCLIENT\tmay "), "{said}");
    // A table of its own with the same values changes nothing.
    floor.edit(|files| files.settings = files.settings.replace("\"CLI*\"", "\"CLIENT\""));
    let said = floor.check_reload().unwrap();
    assert!(said.contains("0 changes"), "{said}");
    // The template no longer fits: the open order stays, as of any user that goes.
    let old = "[[user]]\nsession = \"CLIENT\"\naccounts = [\"A1\"]";
    let new = "[[user]]\nsession = \"COP*\"\naccounts = [\"A1\"]";
    floor.edit(|files| {
        let without = files
            .settings
            .replace("[[drop_copy]]\nsession = \"COPY\"", "");
        assert!(without.contains(old), "{without}");
        files.settings = without.replace(old, new);
    });
    let said = floor.reload().unwrap();
    assert!(
        said.contains("user\tCLIENT\t") && said.contains("user\tCOPY\t-"),
        "{said}"
    );
    floor.order("C2", 1, 100);
    let told = floor.told(&[11, 39, 58]);
    assert!(told.last().unwrap().starts_with("C2 8 RC2"), "{told:?}");
    assert_eq!(
        floor
            .state()
            .orders()
            .iter()
            .filter(|it| it.state.is_open())
            .count(),
        1
    );
    assert_eq!(floor.state().violations(), 0);
}
