//! Conversion tables of the settings, which replace built-in ones for the fields that requests and reports pass on.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::load::Diagnostic;
use fixwire_oms::rules::RiskRules;
use fixwire_oms::{Oms, OmsSession};
use fixwire_transform::convert::{BuiltInConversions, Conversion};

use super::conversion::{compare, desk_between, gateway, passed};
use super::{CLIENT, VENUE, base, open, setup};
use crate::desk::{Desk, Input, Setup, dictionary};

/// A built-in table with ClientID(109) as a party with the role 24 (customer account) instead of 3 (client).
fn table(from: Version, to: Version) -> String {
    let text = Conversion::built_in_text(from, to).unwrap();
    let changed = text
        .replace("-> 453 448 447=D 452=3\n", "-> 453 448 447=D 452=24\n")
        .replace("447=* 452=3 -> 109\n", "447=* 452=24 -> 109\n");
    assert_ne!(changed, text);
    changed
}

const FILES: [(&str, Version, Version); 2] = [
    ("up.conv", Version::Fix42, Version::Fix44),
    ("down.conv", Version::Fix44, Version::Fix42),
];
const KEY: &str =
    "conversion = {\"FIX.4.2 to FIX.4.4\" = \"up.conv\", \"FIX.4.4 to FIX.4.2\" = \"down.conv\"}";

fn setup_with(key: &str, [client, line]: [Version; 2]) -> Setup {
    let mut setup = setup(client, "", "queue = \"10m\"");
    setup.settings = setup
        .settings
        .replacen("[oms]\n", &format!("[oms]\n{key}\n"), 1);
    let files = FILES.map(|(name, from, to)| (name, table(from, to)));
    setup.files.extend(files);
    setup.sessions = vec![("C", client), ("V", line)];
    setup
}

fn desk(versions: [Version; 2]) -> Desk {
    let mut desk = Desk::new(&setup_with(KEY, versions));
    desk.hear(&Input::Up(VENUE, false));
    desk.hear(&Input::Up(CLIENT, false));
    desk
}

/// What a gateway with these tables uses.
fn conversion(from: Version, to: Version) -> Conversion {
    let mut tables = BuiltInConversions::default();
    for (_, from, to) in FILES {
        tables.replace(from, to, &table(from, to)).unwrap();
    }
    tables.conversion(from, to).unwrap()
}

#[test]
fn the_venue_gets_the_fields_that_a_gateway_with_these_tables_would_send() {
    let party = |role: u32| format!("|453=1|448=CL|447=D|452={role}|");
    // The second one is a chain of tables.
    for line in [Version::Fix44, Version::Fix50Sp2] {
        let versions = (Version::Fix42, line);
        let mut desk = desk([Version::Fix42, line]);
        let mut conversion = conversion(Version::Fix42, line);
        for id in ["A", "B"] {
            let order = ("D", id, "109=CL|");
            assert!(compare(&mut desk, &mut conversion, versions, order));
            let sent = super::carried::sent(&desk, "D").unwrap();
            assert!(sent.contains(&party(24)), "{sent}");
            // The tables are those of the settings after a restart too, and for queued orders.
            desk.hear(&Input::Restart(0, id == "A"));
            desk.hear(&Input::Up(CLIENT, false));
            let said = format!("{}109=CL|", base("D", &format!("Q{id}"), ""));
            desk.says(CLIENT, "D", &said);
            let sent = desk.hear(&Input::Up(VENUE, false));
            let queued = sent.iter().find(|it| it.msg_type == "D").expect("an order");
            let roles = queued.fields.iter().filter(|(tag, _)| *tag == 452);
            assert_eq!(roles.map(|(_, role)| &**role).collect::<Vec<_>>(), ["24"]);
        }
        let mut usual = desk_between(Version::Fix42, line, "", "");
        usual.says(CLIENT, "D", &format!("{}109=CL|", base("D", "A", "")));
        let sent = super::carried::sent(&usual, "D").unwrap();
        assert!(sent.contains(&party(3)), "{sent}");
    }
}

#[test]
fn the_client_gets_the_fields_that_a_gateway_with_these_tables_would_send() {
    let versions = [Version::Fix42, Version::Fix44];
    let mut desk = desk(versions);
    open(&mut desk, "A");
    let fields = "453=2|448=ONE|447=D|452=3|448=TWO|447=D|452=24|";
    let report = format!(
        "37=V1|11=1|17=F1|150=F|39=1|55=XYZ|54=1|38=10|14=1|151=9|6=100|32=1|31=100|{fields}"
    );
    let said = desk.says(VENUE, "8", &report);
    let heard = said.iter().find(|it| it.to == CLIENT).expect("a report");
    let heard: String = heard
        .fields
        .iter()
        .map(|(tag, value)| format!("{tag}={value}|"))
        .collect();
    let source = dictionary(Version::Fix42);
    let (theirs, lost) = gateway(
        &mut conversion(Version::Fix44, Version::Fix42),
        "8",
        &report,
    )
    .unwrap();
    let ours = passed(&heard, &source, "8");
    assert_eq!(ours, passed(&theirs, &source, "8"));
    assert_eq!(ours, ["109=TWO"]);
    // The party that the table loses is counted.
    let counted = desk.query("status");
    assert!(
        lost.contains(&448) && counted.contains("448: 1"),
        "{counted}"
    );
}

fn load(key: &str, files: &[(&str, &str)]) -> Result<RiskRules, Vec<Diagnostic>> {
    let setup = setup_with(key, [Version::Fix42, Version::Fix44]);
    let mut open = |wanted: &str| {
        let mut all = setup.files.iter().map(|(name, text)| (*name, &**text));
        let mut files = files.iter().copied();
        let file = files
            .find(|it| it.0 == wanted)
            .or_else(|| all.find(|it| it.0 == wanted));
        file.map(|it| it.1.to_owned())
            .ok_or_else(|| "no such file".to_owned())
    };
    fixwire_oms::load::load(&setup.settings, &["C", "V"], &mut open)
}

#[test]
fn each_mistake_of_a_table_has_its_line() {
    let wrong = "from FIX.4.2\nto FIX.4.4\nfor D\nset 99999=1\n";
    for (key, line, what, hint) in [
        (
            "conversion = {\"FIX.4.2 to FIX.4.4\" = \"wrong.conv\"}",
            Some(4),
            "99999",
            "",
        ),
        (
            "conversion = {\"FIX.4.2 to FIX.5.0\" = \"wrong.conv\"}",
            Some(2),
            "FIX.5.0",
            "",
        ),
        (
            "conversion = {\"FIX.4.2 to FIX.4.4\" = \"none.conv\"}",
            None,
            "none.conv cannot be read: no such file",
            "relative to the settings file",
        ),
        (
            "conversion = {\"FIX42 to FIX.4.4\" = \"up.conv\"}",
            None,
            "FIX42 to FIX.4.4 is not two FIX versions",
            "did you mean 'FIX.4.2'?",
        ),
        (
            "conversion = {\"FIX.4.4\" = \"up.conv\"}",
            None,
            "FIX.4.4 is not two FIX versions",
            "write FIX.4.2 to FIX.4.4",
        ),
        (
            "conversion = {\"FIX.4.2 to FIX.4.4\" = 7}",
            None,
            "FIX.4.2 to FIX.4.4 must be the name of a file",
            "fixwire gateway conversion",
        ),
        (
            "conversion = \"up.conv\"",
            None,
            "conversion must be a table",
            "\"FIX.4.2 to FIX.4.4\" = \"my.conv\"",
        ),
    ] {
        let found = load(key, &[("wrong.conv", wrong)]).expect_err(key);
        assert_eq!(found.len(), 1, "{key}: {found:?}");
        let it = &found[0];
        assert_eq!(it.file.as_ref().map(|(_, line)| *line), line, "{it:?}");
        assert!(it.what.contains(what) && it.hint.contains(hint), "{it:?}");
    }
}

#[test]
fn a_table_that_no_session_uses_is_named() {
    let warnings = |versions: [Version; 2]| {
        let rules = load(KEY, &[]).unwrap();
        let sessions = ["C", "V"].into_iter().zip(versions);
        let sessions = sessions.map(|(name, version)| OmsSession {
            name: name.into(),
            version,
            dictionary: dictionary(version),
            ids: Vec::new(),
        });
        Oms::new(rules, sessions.collect(), 7, Box::new(|_| {})).conversion_warnings()
    };
    assert_eq!(warnings([Version::Fix42, Version::Fix50Sp2]), [""; 0]);
    assert_eq!(warnings([Version::Fix44, Version::Fix42]), [""; 0]);
    let unused = |file: &str, versions: &str| {
        format!(
            "the conversion table {file}, {versions}, is not used: no line and client have versions between which it converts"
        )
    };
    assert_eq!(
        warnings([Version::Fix44, Version::Fix50Sp2]),
        [
            unused("up.conv", "FIX.4.2 to FIX.4.4"),
            unused("down.conv", "FIX.4.4 to FIX.4.2")
        ]
    );
}
