//! Users whose sessions are created at a Logon, by a section with `AcceptorTemplate`.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_engine::protocol::{Decoder, SessionId, Timestamp};
use fixwire_oms::rules::{CreatedName, RiskRules};
use fixwire_oms::trial::OmsTrial;
use fixwire_oms::{OmsSession, SessionTemplate};

use crate::desk::{Desk, Input, Setup, conversions, dictionary};
use crate::user_templates::{INSTRUMENTS, outcome, read_with};

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
drop = [58]
rate = "5 in 1s"
max_sessions = 3
[[user]]
session = "CLIENT-9*"
accounts = ["A2"]
may = ["new"]
account = "A2"
[[user]]
session = "CLIENT-91"
accounts = ["A1", "A2"]
may = ["new"]
account = "A2"
[[user]]
session = "FIX.4.4:DESK->*"
accounts = ["A1"]
may = ["new"]
account = "A1"
[[line_group]]
name = "V"
lines = ["LINE"]
[[route]]
symbols = ["*"]
when = 'OrderQty > 50'
to = "V"
[[route]]
symbols = ["*"]
to = "V"
"#;

const SESSIONS: [&str; 3] = ["LINE", "CLIENT-1", "OTHER"];
const LINE: usize = 0;
const ONE: usize = 1;

const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,10000000\nfirm,RC8,50\nfirm,RC13,1000\n\
                      firm,RC14,1000000000\nfirm,RC15,50000\nsession=CLIENT*,RC13,2\nsession=CLIENT-9*,RC13,4\n\
                      session=CLIENT-91,RC6,10\n";

/// The sessions of a section with `SessionName = *` and FIX 4.2, and of one without a SessionName and with FIX 4.4.
fn templates() -> Vec<SessionTemplate> {
    let template = |engine: &str, user: &str, version| SessionTemplate {
        engine: CreatedName::new(engine).unwrap(),
        user: CreatedName::new(user).unwrap(),
        version,
        dictionary: dictionary(version),
        ids: Vec::new(),
    };
    let name = "FIX.4.4:DESK->*";
    vec![
        template("FIX.4.2:OMS->*", "*", Version::Fix42),
        template(name, name, Version::Fix44),
    ]
}

fn read(settings: &str, limits: &str) -> Result<RiskRules, String> {
    let created: Vec<CreatedName> = templates().into_iter().map(|it| it.user).collect();
    read_with(settings, limits, &SESSIONS, &created)
}

fn desk_of(settings: &str) -> Desk {
    let setup = Setup {
        settings: settings.into(),
        files: vec![
            ("instruments.csv", INSTRUMENTS.into()),
            ("limits.csv", LIMITS.into()),
        ],
        sessions: SESSIONS.map(|it| (it, Version::Fix44)).to_vec(),
    };
    let mut desk = Desk::with_templates(&setup, templates());
    desk.hear(&Input::Up(LINE, false));
    desk
}

fn desk() -> Desk {
    desk_of(SETTINGS)
}

fn name(client: &str) -> String {
    format!("FIX.4.2:OMS->{client}")
}

/// What becomes of an order.
fn order(desk: &mut Desk, from: usize, id: &str, more: &str) -> String {
    let quantity = if more.contains("38=") { "" } else { "38=10|" };
    let body =
        format!("11={id}|55=XYZ|54=1|40=2|44=100|60=20261122-08:00:00|21=1|{quantity}{more}");
    outcome(&desk.says(from, "D", &body), from, LINE)
}

/// The venue accepts and fills an order: to whom the reports go.
fn fill(desk: &mut Desk, number: u64) -> Vec<usize> {
    let body = format!(
        "37=V{number}|11={number}|17=E{number}|150=F|39=2|55=XYZ|54=1|38=10|32=10|31=100|151=0|14=10|6=100|"
    );
    let said = desk.says(LINE, "8", &body);
    let to = said.iter().map(|it| it.to).filter(|to| *to != LINE);
    let mut to: Vec<usize> = to.collect();
    to.dedup();
    to
}

#[test]
fn a_logon_creates_a_user_with_the_settings_of_the_longest_pattern() {
    let mut desk = desk();
    let seven = desk.log_on_as(&name("CLIENT-7")).unwrap();
    let ninety = desk.log_on_as(&name("CLIENT-90")).unwrap();
    let own = desk.log_on_as(&name("CLIENT-91")).unwrap();
    assert_eq!([seven, ninety, own], [3, 4, 5]);
    // The fields that it may lose, its account, its limit: as the pattern says.
    assert_eq!(order(&mut desk, seven, "C1", "58=lost|"), "sent");
    assert_eq!(order(&mut desk, seven, "C2", ""), "sent");
    let full = order(&mut desk, seven, "C3", "");
    assert!(full.contains("at most 2 for session=CLIENT-7"), "{full}");
    assert!(order(&mut desk, seven, "C4", "1=A2|").starts_with("RC2: "));
    // The longer pattern decides, for rights as for limits.
    for id in ["C1", "C2", "C3", "C4"] {
        assert_eq!(order(&mut desk, ninety, id, ""), "sent");
    }
    let full = order(&mut desk, ninety, "C5", "");
    assert!(full.contains("at most 4 for session=CLIENT-90"), "{full}");
    assert!(order(&mut desk, ninety, "C6", "1=A1|").starts_with("RC2: "));
    // A table and a limit of its own win over each pattern.
    assert_eq!(order(&mut desk, own, "C1", "1=A1|"), "sent");
    let large = order(&mut desk, own, "C2", "38=11|");
    assert!(
        large.contains("at most 10 for session=CLIENT-91"),
        "{large}"
    );
    // Without a SessionName the name is that of the engine.
    let whole = desk.log_on_as("FIX.4.4:DESK->ANN").unwrap();
    assert_eq!(order(&mut desk, whole, "C1", ""), "sent");
    // A session of the file that fits has its limits too, and a Logon of another name makes no user of it.
    assert_eq!(order(&mut desk, ONE, "C1", ""), "sent");
    let limits = desk.query("limits");
    for row in [
        "CLIENT-1\tRC13\t2",
        "CLIENT-7\tRC13\t2",
        "CLIENT-90\tRC13\t4",
        "CLIENT-91\tRC6\t10",
    ] {
        assert!(limits.contains(row), "{row}: {limits}");
    }
    assert!(!limits.contains('*'), "{limits}");
    assert!(desk.query("orders").contains("CLIENT-90"));
    // A rate of its own: the sixth request of this second is one too many.
    let ask = |desk: &mut Desk| desk.asks(seven, "H", "11=C1|55=XYZ|54=1|").0;
    assert_eq!(ask(&mut desk), Ok(()));
    assert!(ask(&mut desk).is_err());
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn a_command_for_a_session_that_no_logon_has_created_yet_says_so() {
    let mut desk = desk();
    let mut kill = |session: &str| desk.command_of("ann", &format!("kill session={session}")).0;
    for (session, of) in [
        ("CLIENT-7", "CLIENT*"),
        ("CLIENT-90", "CLIENT-9*"),
        ("CLIENT-91", "CLIENT-91"),
    ] {
        let wanted = format!(
            "unknown session {session}: [[user]] {of} takes a session of this name when a Logon creates it; until then give \
             the command for its accounts"
        );
        let said = kill(session);
        assert!(said.contains(&wanted), "{said}");
    }
    let said = kill("EVE");
    assert!(
        said.contains("unknown session EVE") && !said.contains("[[user]]"),
        "{said}"
    );
    desk.log_on_as(&name("CLIENT-7")).unwrap();
    let (said, _) = desk.command_of("ann", "kill session=CLIENT-7");
    assert!(said.contains("session=CLIENT-7: killed"), "{said}");
}

#[test]
fn a_name_that_no_user_takes_is_refused() {
    let mut desk = desk();
    let none = "no [[user]] of the OMS takes a session of this name";
    let other = "the OMS has another session of this name";
    for (client, why) in [
        (name("EVE"), none),
        // The role of a line, and a session of the file with these names.
        (name("LINE"), none),
        (name("CLIENT-1"), other),
        // No template forms it.
        ("FIX.4.2:ELSEWHERE->CLIENT-7".to_owned(), none),
    ] {
        assert_eq!(desk.log_on_as(&client), Err(why), "{client}");
    }
    desk.hear(&Input::Restart(0, false));
    assert_eq!(desk.state().sessions().len(), 3, "those of the file");
    // CLIENT* allows three, and sessions that exist may return.
    for client in ["CLIENT-2", "CLIENT-3", "CLIENT-4"] {
        assert!(desk.log_on_as(&name(client)).is_ok());
    }
    let full = "too many sessions of this template: max_sessions of its [[user]]";
    assert_eq!(desk.log_on_as(&name("CLIENT-5")), Err(full));
    assert!(desk.log_on_as(&name("CLIENT-3")).is_ok());
    assert!(
        desk.log_on_as(&name("CLIENT-92")).is_ok(),
        "another template"
    );
    desk.hear(&Input::Restart(0, true));
    assert_eq!(desk.log_on_as(&name("CLIENT-5")), Err(full));
    assert!(desk.log_on_as(&name("CLIENT-4")).is_ok());
}

#[test]
fn a_restart_knows_created_users_before_they_return_and_in_each_order() {
    let mut desk = desk();
    let seven = desk.log_on_as(&name("CLIENT-7")).unwrap();
    let eight = desk.log_on_as(&name("CLIENT-8")).unwrap();
    assert_eq!(order(&mut desk, seven, "C1", ""), "sent");
    assert_eq!(order(&mut desk, eight, "C1", ""), "sent");
    assert_eq!(order(&mut desk, eight, "C2", ""), "sent");
    desk.hear(&Input::Command("kill session=CLIENT-7".into()));
    // The engine restores them in the order of its journal, which need not be that of the state.
    for (from_checkpoint, number, [seven, eight]) in [(false, 1, [4, 3]), (true, 2, [3, 4])] {
        desk.created.reverse();
        desk.hear(&Input::Restart(0, from_checkpoint));
        desk.hear(&Input::Up(LINE, false));
        assert!(desk.query("orders").contains("CLIENT-8"));
        // Neither has logged on again: the report waits for the one whose order it is.
        let to = if number == 1 { seven } else { eight };
        assert_eq!(fill(&mut desk, number), [to]);
        assert_eq!(desk.log_on_as(&name("CLIENT-7")), Ok(seven));
        let refused = order(&mut desk, seven, &format!("C9-{number}"), "");
        assert!(refused.starts_with("RC1: "), "{refused}");
        assert!(desk.query("limits").contains("CLIENT-8\tRC13\t2"));
    }
    desk.hear(&Input::Command("arm session=CLIENT-7".into()));
    let seven = desk.log_on_as(&name("CLIENT-7")).unwrap();
    assert_eq!(order(&mut desk, seven, "C10", ""), "sent");
    let eight = desk.log_on_as(&name("CLIENT-8")).unwrap();
    assert_ne!(order(&mut desk, eight, "C1", ""), "sent", "a used ClOrdID");
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn conditions_of_routes_see_created_sessions() {
    // Without the route for all others, only the condition decides.
    let last = "[[route]]\nsymbols = [\"*\"]\nto = \"V\"\n";
    assert!(SETTINGS.ends_with(last));
    let mut desk = desk_of(&SETTINGS.replace(last, ""));
    let seven = desk.log_on_as(&name("CLIENT-7")).unwrap();
    assert_eq!(order(&mut desk, seven, "C1", "38=60|"), "sent");
    assert_ne!(order(&mut desk, seven, "C2", "38=40|"), "sent");
    let whole = desk.log_on_as("FIX.4.4:DESK->ANN").unwrap();
    assert_eq!(order(&mut desk, whole, "C1", "38=60|"), "sent");
    desk.hear(&Input::Restart(0, false));
    desk.hear(&Input::Up(LINE, false));
    assert_eq!(order(&mut desk, seven, "C3", "38=60|"), "sent");
}

#[test]
fn a_reload_changes_patterns_and_the_users_that_they_made() {
    let mut desk = desk();
    let seven = desk.log_on_as(&name("CLIENT-7")).unwrap();
    assert_eq!(order(&mut desk, seven, "C1", ""), "sent");
    // Named under the pattern, for sessions to come, and under the name of each session.
    let said = desk.reload("\"cancel\", \"status\"]", "\"status\"]");
    for row in [
        "user\\tCLIENT*\\tmay",
        "user\\tCLIENT-7\\tmay",
        "user\\tCLIENT-1\\tmay",
    ] {
        let row = row.replace("\\t", "\t");
        assert!(said.contains(&row), "{row}: {said}");
    }
    let reject = desk.says(seven, "F", "11=C2|41=C1|55=XYZ|54=1|60=20261122-08:00:00|");
    assert!(reject.iter().any(|it| it.msg_type == "9"), "{reject:?}");
    // A new pattern takes other names.
    assert!(desk.log_on_as(&name("DESK-1")).is_err());
    desk.reload("\"CLIENT-9*\"", "\"DESK*\"");
    let one = desk.log_on_as(&name("DESK-1")).unwrap();
    assert_eq!(order(&mut desk, one, "C1", ""), "sent");
    // The pattern goes, and CLIENT-7 with it: its open order stays, as of any user that goes.
    let said = desk.reload("session = \"CLIENT*\"", "session = \"FIRM*\"");
    assert!(said.contains("user\tCLIENT-7\t"), "{said}");
    assert!(order(&mut desk, seven, "C3", "").starts_with("RC2: "));
    let none = "no [[user]] of the OMS takes a session of this name";
    assert_eq!(desk.log_on_as(&name("CLIENT-7")), Err(none));
    let open = desk.state().orders().iter().filter(|it| it.state.is_open());
    assert_eq!(open.count(), 2);
    for from_checkpoint in [false, true] {
        desk.hear(&Input::Restart(0, from_checkpoint));
    }
    // Its report waits for it all the same.
    desk.hear(&Input::Up(LINE, false));
    assert_eq!(fill(&mut desk, 1), [seven]);
    assert_eq!(desk.state().violations(), 0);
}

#[test]
fn a_section_that_takes_the_name_of_a_created_session_keeps_its_user() {
    // A template of the name CLIENT-1 was there before the file had a session of this name.
    let mut desk = desk();
    desk.created.push(name("CLIENT-1"));
    desk.hear(&Input::Restart(0, false));
    desk.hear(&Input::Up(LINE, false));
    desk.hear(&Input::Up(ONE, false));
    assert_eq!(order(&mut desk, ONE, "C1", ""), "sent");
    assert_eq!(fill(&mut desk, 1), [ONE]);
    let other = "the OMS has another session of this name";
    assert_eq!(desk.log_on_as(&name("CLIENT-1")), Err(other));
    let heard = desk.asks(
        3,
        "D",
        "11=C2|55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00|21=1|",
    );
    assert!(heard.0.is_err() || heard.1.iter().all(|it| it.to != LINE));
}

#[test]
fn mistakes_in_users_of_created_sessions_have_a_place_and_a_hint() {
    let rules = read(SETTINGS, LIMITS).unwrap();
    let templates = rules.templates.iter();
    let templates: Vec<_> = templates
        .map(|it| (it.pattern.as_str(), it.sessions.join(" "), it.creates))
        .collect();
    assert_eq!(
        templates,
        [
            ("CLIENT*", "CLIENT-1".to_owned(), true),
            ("CLIENT-9*", String::new(), true),
            ("FIX.4.4:DESK->*", String::new(), true)
        ]
    );
    let wrong = |old: &str, new: &str, limits: &str| {
        assert!(SETTINGS.contains(old), "{old}");
        read(&SETTINGS.replace(old, new), limits).unwrap_err()
    };
    let one = wrong(
        "session = \"CLIENT-91\"",
        "session = \"CLIENT-91\"\nmax_sessions = 2",
        LIMITS,
    );
    assert!(
        one.contains("line 25: ") && one.contains("max_sessions of CLIENT-91: it is one session"),
        "{one}"
    );
    let twice = wrong(
        "session = \"CLIENT-9*\"\naccounts = [\"A2\"]",
        "session = \"CLIENT*\"\naccounts = [\"A1\"]",
        LIMITS,
    );
    assert!(
        twice.contains("accounts A1 of CLIENT* are in two tables"),
        "{twice}"
    );
    // A limit for names that no Logon and no session has.
    let limits = format!("{LIMITS}session=DESK*,RC13,1\n");
    let none = wrong("max_sessions = 3", "", &limits);
    assert!(none.contains("session=DESK* fits no user"), "{none}");
    // All users that may get the reports of other orders count.
    let copies = "[[drop_copy_in]]\nsession = \"OTHER\"\nline_groups = [\"V\"]\n[[line_group]]";
    let reports = SETTINGS
        .replace("\"cancel\", \"status\"]", "\"reports\"]")
        .replacen("[[line_group]]", copies, 1);
    assert!(
        read(&reports, LIMITS).is_ok(),
        "{:?}",
        read(&reports, LIMITS)
    );
    let many = read(
        &reports.replace("max_sessions = 3", "max_sessions = 128"),
        LIMITS,
    );
    let many = many.unwrap_err();
    assert!(many.contains("129 users with the right reports"), "{many}");
    let open = read(&reports.replace("max_sessions = 3\n", ""), LIMITS).unwrap_err();
    assert!(
        open.contains("user CLIENT* has the right reports without max_sessions"),
        "{open}"
    );
}

/// A trial of the settings of this file.
fn trial() -> OmsTrial {
    let sessions = SESSIONS.map(|name| OmsSession {
        name: name.to_owned(),
        version: Version::Fix44,
        dictionary: dictionary(Version::Fix44),
        ids: Vec::new(),
    });
    let rules = read(SETTINGS, LIMITS).unwrap();
    OmsTrial::new(rules, sessions.to_vec(), None, |oms| {
        oms.set_templates(templates());
        oms.use_conversions(conversions(&[Version::Fix42, Version::Fix44]));
    })
}

#[test]
fn a_trial_plays_the_requests_of_created_sessions() {
    let mut trial = trial();
    let mut decoder = Decoder::with_capacity(64);
    let at = |second: i64| Timestamp(1_795_334_400_000_000_000 + second * 1_000_000_000);
    let seven = trial.add_session(at(0), &name("CLIENT-7")).unwrap();
    let nine = trial.add_session(at(0), &name("CLIENT-91")).unwrap();
    let whole = trial.add_session(at(1), "FIX.4.4:DESK->ANN").unwrap();
    assert_eq!([seven, nine, whole], [3, 4, 5].map(SessionId));
    // The reasons for which the engine refuses a Logon: no user, another session of the name, too many.
    for client in ["EVE", "CLIENT-1"] {
        assert_eq!(trial.add_session(at(1), &name(client)), None, "{client}");
    }
    for (second, from, id, more) in [
        (2, seven, "A1", "58=lost|"),
        (2, seven, "A2", "1=A2|"),
        (3, seven, "A3", ""),
        (3, seven, "A4", ""),
        (4, nine, "A1", "38=10|1=A1|"),
        (4, nine, "A2", "38=11|1=A1|"),
        (5, whole, "A1", "38=10|"),
    ] {
        let quantity = if more.contains("38=") { "" } else { "38=10|" };
        let terms = "55=XYZ|54=1|40=2|44=100|60=20261122-08:00:00|21=1|";
        let text = format!("8=FIX.4.4|9=5|35=D|11={id}|{terms}{quantity}{more}");
        let text = text.replace('|', "\x01");
        trial.received(at(second), from, &decoder.decode(text.as_bytes()));
        let report = format!("8=FIX.4.4|9=5|35=8|37=1|11={id}|17=1|150=0|39=0|");
        let report = report.replace('|', "\x01");
        trial.sent(at(second), from, &decoder.decode(report.as_bytes()));
    }
    let result = trial.finish();
    assert_eq!((result.orders.all, result.orders.accepted), (7, 7));
    let changed = result.changed.iter();
    let changed: Vec<String> = changed
        .map(|it| {
            let text = it.rejected_now.as_deref().unwrap_or_default();
            let control = text.split([':', ' ']).next().unwrap_or_default();
            format!("{} {} {control}", it.session, it.id)
        })
        .collect();
    // The account, the open orders and the quantity: as the tables and limits of the patterns say.
    assert_eq!(
        changed,
        ["CLIENT-7 A2 RC2", "CLIENT-7 A4 RC13", "CLIENT-91 A2 RC6"]
    );
    let mut uses = result.uses.iter();
    assert!(uses.any(|it| it.scope == "session=CLIENT-7" && it.control.code() == "RC13"));
}
