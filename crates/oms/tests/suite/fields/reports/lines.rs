//! Fields of the reports of each line of a group, of its helpers, of parents and legs, and to receivers of old versions.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::{LeftOutFields, LeftOutOf, Oms, OmsSession};

use super::{
    CLIENT, COPY, ORDER, Pair, QUANTITY, TOGETHER, VENUE, VERSIONS, counts, desk_of, gateway,
    has_all, heard, load_of, report, setup, units,
};
use crate::desk::{Desk, Input, Said, Setup, dictionary};

#[test]
fn a_group_and_its_helper_have_the_same_fields_of_reports() {
    let setup_of = |helper: &str| {
        let group = format!(
            "report_carry = [636]\nhelpers = [\"W\"]\n[[line_group]]\nname = \"W\"\nlines = [\"W\"]\n{helper}"
        );
        let mut setup = setup(Version::Fix44, "", &group);
        setup.sessions.push(("W", Version::Fix44));
        setup
    };
    for helper in ["", "report_carry = [636, 9730]"] {
        let errors = load_of(&setup_of(helper), &["C", "V", "W"]).unwrap_err();
        let what = "V and its helper W have different report_carry";
        assert!(errors.starts_with(what), "{helper}: {errors}");
    }
    let mut desk = Desk::new(&setup_of("report_carry = [636]"));
    let helper = 2;
    for session in [helper, CLIENT] {
        desk.hear(&Input::Up(session, false));
    }
    let order = ORDER.replace("38=10|", &format!("38={QUANTITY}|"));
    let said = desk.says(CLIENT, "D", &format!("11=A1|{order}"));
    assert!(said.iter().any(|it| it.to == helper), "{said:?}");
    desk.hear(&Input::Up(VENUE, false));
    for (filled, line) in [(1, helper), (2, VENUE)] {
        let fill = report(Version::Fix44, "F", filled, '1', "636=N|9730=x|");
        let said = desk.says(line, "8", &fill);
        let filled = filled.to_string();
        let wanted = [Some("N"), None, Some(&*filled)];
        let fill = said.iter().rfind(|it| it.to == CLIENT).expect("a report");
        assert_eq!([636, 9730, 14].map(|tag| fill.get(tag)), wanted);
    }
    assert_eq!(counts(&desk), "9730: 2");
}

fn left_out([client, venue, copy]: [Version; 3], group: &str) -> Vec<LeftOutFields> {
    let sessions = [("C", client), ("V", venue), ("COPY", copy)];
    left_out_of(&sessions, &setup(client, "", group))
}

fn left_out_of(sessions: &[(&str, Version)], setup: &Setup) -> Vec<LeftOutFields> {
    let Setup {
        settings, files, ..
    } = setup;
    let settings = format!("{settings}[[drop_copy]]\nsession = \"COPY\"\naccounts = [\"*\"]\n");
    let mut open = |wanted: &str| {
        let file = files.iter().find(|(name, _)| *name == wanted);
        file.map(|(_, text)| text.clone()).ok_or_else(String::new)
    };
    let names: Vec<&str> = sessions.iter().map(|(name, _)| *name).collect();
    let rules = fixwire_oms::load::load(&settings, &names, &mut open);
    let sessions = sessions.iter().map(|(name, version)| OmsSession {
        name: (*name).to_owned(),
        version: *version,
        dictionary: dictionary(*version),
        ids: Vec::new(),
    });
    let oms = Oms::new(rules.unwrap(), sessions.collect(), 7, Box::new(|_| {}));
    oms.left_out_fields()
}

#[test]
fn a_check_finds_the_fields_that_sessions_do_not_get() {
    let of = |all: &[LeftOutFields], session: &str, of: &LeftOutOf| {
        let found = all.iter().find(|it| it.session == session && it.of == *of);
        found.map(|it| it.tags.clone()).unwrap_or_default()
    };
    let reports = LeftOutOf::Reports("V".to_owned());
    let all = left_out([Version::Fix42, Version::Fix44, Version::Fix44], "");
    let client = of(&all, "C", &reports);
    assert!(client.contains(&851) && client.contains(&483), "{client:?}");
    // FIX 4.2 has these as they are, or what the tables make of them.
    for tag in [12, 30, 58, 382, 453, 528] {
        assert!(!client.contains(&tag), "{tag}: {client:?}");
    }
    assert!(!client.contains(&636));
    assert_eq!(all.len(), 1, "{all:?}");
    let all = left_out(
        [Version::Fix42, Version::Fix44, Version::Fix44],
        "report_carry = [636]",
    );
    assert!(of(&all, "C", &reports).contains(&636));
    let all = left_out([Version::Fix44, Version::Fix41, Version::Fix42], "");
    let requests = ["D", "G", "F"].map(|it| of(&all, "V", &LeftOutOf::Requests(it)));
    assert_eq!(requests, [vec![60], vec![60], vec![1, 60]]);
}

#[test]
fn a_check_lists_no_field_that_receivers_get_converted() {
    let reports = LeftOutOf::Reports("V".to_owned());
    for (client, venue, fields) in [
        (
            Version::Fix42,
            Version::Fix43,
            "453=1|448=F|447=D|452=3|528=A|",
        ),
        (Version::Fix44, Version::Fix42, "439=FF|440=AC|"),
        (Version::Fix50Sp2, Version::Fix42, "439=FF|440=AC|"),
        (
            Version::Fix42,
            Version::Fix50Sp2,
            "453=1|448=F|447=D|452=3|",
        ),
    ] {
        let all = left_out([client, venue, client], "");
        let listed = all
            .iter()
            .filter(|it| it.session == "C" && it.of == reports);
        let listed: Vec<u32> = listed.flat_map(|it| it.tags.clone()).collect();
        let mut desk = desk_of([client, venue, client], ["", "", ""], '1');
        let said = desk.says(VENUE, "8", &report(venue, "F", 1, '1', fields));
        assert!(!heard(&said, CLIENT, client).is_empty(), "{fields}");
        for tag in [453, 528, 439, 440] {
            let is_sent = fields.contains(&format!("{tag}="));
            assert!(
                !is_sent || !listed.contains(&tag),
                "{client:?} {venue:?} {tag}: {listed:?}"
            );
        }
    }
    // A field that no table converts stays in the list, although its neighbour is converted.
    let all = left_out([Version::Fix42, Version::Fix43, Version::Fix42], "");
    assert!(
        all.iter()
            .any(|it| it.tags.contains(&529) || it.tags.contains(&582)),
        "{all:?}"
    );
}

#[test]
fn a_check_looks_at_each_line_of_a_group() {
    let mut setup = setup(Version::Fix42, "", "");
    setup.settings = setup
        .settings
        .replace("lines = [\"V\"]", "lines = [\"V\", \"W\"]");
    let sessions = [
        ("C", Version::Fix42),
        ("V", Version::Fix42),
        ("W", Version::Fix44),
        ("COPY", Version::Fix42),
    ];
    let all = left_out_of(&sessions, &setup);
    let reports = LeftOutOf::Reports("V".to_owned());
    for session in ["C", "COPY"] {
        let of = |it: &&LeftOutFields| it.session == session && it.of == reports;
        let mut found = all.iter().filter(of);
        let tags = &found.next().expect(session).tags;
        assert!(tags.contains(&851) && !tags.contains(&30), "{tags:?}");
        assert!(found.next().is_none(), "{all:?}");
    }
}

#[test]
fn reports_of_parents_and_legs_are_converted_too() {
    const FIELDS: &str = "30=XLON|453=1|448=CL|447=D|452=3|528=A|";
    let mut setup = setup(Version::Fix42, "parents = 5", "");
    setup.sessions[VENUE].1 = Version::Fix44;
    setup.settings = setup
        .settings
        .replacen("[oms]\n", "[oms]\nown_tags = {parent = 6001}\n", 1);
    let mut desk = Desk::new(&setup);
    for session in [VENUE, CLIENT] {
        desk.hear(&Input::Up(session, false));
    }
    desk.says(CLIENT, "D", &format!("11=P|21=3|{ORDER}"));
    desk.says(CLIENT, "D", &format!("11=C|21=1|6001=1|{ORDER}"));
    let fill = "37=V1|11=2|17=F1|150=F|39=1|55=XYZ|54=1|38=10|14=4|151=6|6=100|32=4|31=100|";
    let said = desk.says(VENUE, "8", &format!("{fill}{FIELDS}"));
    let converted = [Some("CL"), Some("A"), Some("XLON"), None];
    let fields = |it: &&Said| [109, 47, 30, 453].map(|tag| it.get(tag)) == converted;
    let mut ids: Vec<_> = said
        .iter()
        .filter(fields)
        .filter_map(|it| it.get(11))
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, ["C", "P"], "{said:?}");
    desk.says(
        CLIENT,
        "D",
        "11=S1|55=CAL|54=1|38=10|40=2|44=5|60=20261122-08:00:00|",
    );
    let leg = "37=V2|11=3|17=L1|150=F|39=1|55=XYZ|54=1|442=2|32=4|31=100|";
    let said = desk.says(VENUE, "8", &format!("{leg}{FIELDS}"));
    assert_eq!(said.iter().filter(fields).count(), 1, "{said:?}");
}

#[test]
fn receivers_of_other_versions_get_each_report_too() {
    for venue in VERSIONS {
        for receiver in [Version::Fix40, Version::Fix41, Version::Fix43] {
            let mut desk = desk_of([receiver, venue, receiver], ["", "", ""], '1');
            let mut pair = Pair::of(venue, receiver);
            let source = dictionary(venue);
            let together = TOGETHER.iter().filter(|it| has_all(&source, it));
            for (count, fields) in (1..).zip(together) {
                let report = report(venue, "F", count, '1', fields);
                let said = desk.says(VENUE, "8", &report);
                let target = dictionary(receiver);
                for to in [CLIENT, COPY] {
                    // A field that the receiver has stays as it is: FIX 4.3 has both Rule80A(47) and OrderCapacity(528).
                    let ours = units(&heard(&said, to, receiver), &target, "8");
                    if gateway(&mut pair.conversion, "8", &report).is_ok() {
                        let theirs = pair.sends(&report);
                        let is_unchanged =
                            |it: &str| format!("|{fields}").contains(&format!("|{it}|"));
                        let is_right = |it: &String| theirs.contains(it) || is_unchanged(it);
                        assert!(
                            ours.iter().all(is_right),
                            "{venue:?} to {receiver:?}, {fields}: {ours:?}"
                        );
                        assert!(
                            ours.is_empty() == theirs.is_empty(),
                            "{venue:?} to {receiver:?}, {fields}: {ours:?}"
                        );
                    }
                }
            }
        }
    }
}
