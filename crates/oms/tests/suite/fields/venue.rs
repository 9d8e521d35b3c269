//! Fields of venues' reports: a client and a drop copy get those that their dictionaries have, as the venue sent them; live,
//! and when reports are sent again.

use fixwire_engine::protocol::dictionary::Version;

use super::{ORDER, setup};
use crate::desk::{Desk, Input, Said, Setup, dictionary};

const CLIENT: usize = 0;
const VENUE: usize = 1;
pub const COPY: usize = 2;

const VERSIONS: [Version; 3] = [Version::Fix42, Version::Fix44, Version::Fix50Sp2];

/// What venues add to reports, with the tag that decides whether a dictionary has it.
const WORDS: &[(u32, &str)] = &[
    (30, "30=XLON|"),
    (851, "851=1|"),
    (29, "29=1|"),
    (12, "12=0.50|"),
    (13, "13=3|"),
    (880, "880=M1|"),
    (527, "527=V-1|"),
    (
        453,
        "453=2|448=A|447=D|452=1|802=2|523=X|803=1|523=Y|803=2|448=B|447=D|452=7|",
    ),
    (136, "136=2|137=1|138=GBP|139=4|137=0.25|138=GBP|139=7|"),
    (382, "382=1|375=BRKR|437=10|"),
    (76, "76=EXEC|"),
];

fn fits(version: Version, tag: u32) -> bool {
    dictionary(version)
        .message(b"8")
        .unwrap()
        .member(tag)
        .is_some()
}

fn desk(client: Version, copy: Version) -> Desk {
    desk_with(client, copy, "")
}

pub fn desk_with(client: Version, copy: Version, group: &str) -> Desk {
    let Setup {
        settings, files, ..
    } = setup(client, "report_numbers = true", group);
    let settings = settings.replacen("[oms]\n", "[oms]\nappl_id = \"O\"\n", 1);
    let mut desk = Desk::new(&Setup {
        settings: settings
            + "[[drop_copy]]\nsession = \"COPY\"\naccounts = [\"*\"]\nreport_numbers = true\n",
        files,
        sessions: vec![("C", client), ("V", Version::Fix44), ("COPY", copy)],
    });
    for session in [VENUE, CLIENT, COPY] {
        desk.hear(&Input::Up(session, false));
    }
    desk.says(CLIENT, "D", &format!("11=A1|{ORDER}"));
    desk
}

pub fn body(said: &Said) -> String {
    let fields = said.fields.iter();
    fields
        .map(|(tag, value)| format!("{tag}={value}|"))
        .collect()
}

pub fn report(said: &[Said], to: usize) -> &Said {
    let mut all = said.iter().filter(|it| it.to == to && it.msg_type == "8");
    let report = all.next().expect("a report");
    assert!(all.next().is_none(), "one report");
    report
}

/// The report with an ExecType(150) to a session.
fn report_of<'a>(said: &'a [Said], to: usize, kind: &str) -> Option<&'a Said> {
    let mut all = said.iter().filter(|it| it.to == to && it.msg_type == "8");
    all.find(|it| it.get(150) == Some(kind))
}

/// The report with a number, asked for again.
fn resent(desk: &mut Desk, to: usize, number: &str) -> String {
    let asked = format!("1346=R|1347=0|1351=1|1355=O|1182={number}|1183={number}|");
    let mut said = desk.says(to, "BW", &asked);
    said.extend((0..20).flat_map(|_| desk.hear(&Input::Pass(1_000_000))));
    body(report(&said, to)).replace("1352=Y|", "")
}

const NEW: &str = "37=V1|11=1|17=N1|150=0|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|";
const FILL: &str = "37=V1|11=1|17=F1|150=F|39=1|55=XYZ|54=1|38=10|14=4|151=6|6=100|32=4|31=100|";

#[test]
fn what_the_venue_adds_reaches_client_and_drop_copy_by_their_dictionaries() {
    let words: String = WORDS.iter().map(|(_, words)| *words).collect();
    for client in VERSIONS {
        for copy in VERSIONS {
            let mut plain = desk(client, copy);
            plain.says(VENUE, "8", NEW);
            let plain = plain.says(VENUE, "8", FILL);
            let mut desk = desk(client, copy);
            desk.says(VENUE, "8", NEW);
            let said = desk.says(VENUE, "8", &format!("{FILL}{words}5001=x|"));
            for (to, version) in [(CLIENT, client), (COPY, copy)] {
                let fitting = WORDS.iter().filter(|(tag, _)| fits(version, *tag));
                let fitting: String = fitting.map(|(_, words)| *words).collect();
                let expected = format!("{}{fitting}", body(report(&plain, to)));
                assert_eq!(body(report(&said, to)), expected, "{client:?} {copy:?}");
            }
            let status = desk.query("status");
            assert!(status.contains("5001: 1"), "{status}");
            let is_lost = [client, copy].contains(&Version::Fix42);
            assert_eq!(status.contains("453: "), is_lost, "{status}");
            // Sent again from the journal, after a restart too.
            for restart in [None, Some(false), Some(true)] {
                if let Some(from_checkpoint) = restart {
                    desk.hear(&Input::Restart(0, from_checkpoint));
                    for session in [VENUE, CLIENT, COPY] {
                        desk.hear(&Input::Up(session, false));
                    }
                }
                for to in [CLIENT, COPY] {
                    let first = report(&said, to);
                    let number = first.get(1181).unwrap();
                    let again = resent(&mut desk, to, number);
                    assert_eq!(again, body(first), "{client:?} {copy:?} {restart:?}");
                }
            }
        }
    }
}

#[test]
fn a_report_that_acknowledges_too_has_the_fees_once() {
    let mut desk = desk(Version::Fix44, Version::Fix44);
    let said = desk.says(VENUE, "8", &format!("{FILL}12=1|30=XLON|"));
    let mine = said.iter().filter(|it| it.to == CLIENT);
    let mine: Vec<_> = mine
        .map(|it| (it.get(150), it.get(12), it.get(30)))
        .collect();
    assert_eq!(
        mine,
        [
            (Some("0"), None, None),
            (Some("F"), Some("1"), Some("XLON"))
        ]
    );
    // A bust has the market and the fees that it takes back.
    let bust = "37=V1|11=1|17=B1|19=F1|150=H|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|32=4|31=100|";
    let said = desk.says(VENUE, "8", &format!("{bust}12=-1|30=XLON|"));
    let undone = report(&said, COPY);
    assert_eq!(
        (undone.get(150), undone.get(12), undone.get(30)),
        (Some("H"), Some("-1"), Some("XLON"))
    );
}

#[test]
fn groups_that_lie_and_long_or_clashing_fields_are_left_out_and_counted() {
    let long = "x".repeat(1100);
    for (bad, tag) in [
        ("453=3|448=A|447=D|452=1|", "453: "),
        ("453=1|448=A|447=D|452=1|802=2|523=X|803=1|", "453: "),
        ("453=2|448=A|447=D|452=1|5001=x|448=B|447=D|452=1|", "453: "),
        ("136=x|137=1|138=GBP|139=4|", "136: "),
        (&*format!("880={long}|"), "880: "),
        (&*format!("527={long}|"), "527: "),
        ("30=XPAR|30=XMAD|", "30: "),
    ] {
        let mut desk = desk(Version::Fix44, Version::Fix44);
        desk.says(VENUE, "8", NEW);
        // The venue says another account, id and average: the report has ours.
        let said = desk.says(VENUE, "8", &format!("{FILL}1=ZZ|{bad}29=1|"));
        let heard = report(&said, CLIENT);
        assert_eq!(heard.get(29), Some("1"), "{bad}");
        assert_eq!(heard.get(1), Some("A1"), "{bad}");
        assert_eq!(heard.get(448), None, "{bad}");
        assert!([None, Some("XPAR")].contains(&heard.get(30)), "{bad}");
        assert_eq!(heard.get(527), None, "{bad}");
        let mut tags: Vec<u32> = heard.fields.iter().map(|(tag, _)| *tag).collect();
        let count = tags.len();
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), count, "no field is there twice: {bad}");
        let status = desk.query("status");
        assert!(status.contains(tag), "{bad}: {status}");
    }
}

#[test]
fn a_venue_s_exec_id_is_the_second_one_where_the_settings_say_so() {
    for (group, own, second) in [
        ("", "", None),
        ("", "527=V|", Some("V")),
        ("venue_exec_id = \"527\"", "", Some("F1")),
        ("venue_exec_id = \"527\"", "527=V|", Some("V")),
    ] {
        let mut desk = desk_with(Version::Fix44, Version::Fix42, group);
        let new = desk.says(VENUE, "8", NEW);
        let id = (!group.is_empty()).then_some("N1");
        assert_eq!(report(&new, CLIENT).get(527), id, "{group}");
        let said = desk.says(VENUE, "8", &format!("{FILL}{own}"));
        let heard = report(&said, CLIENT);
        assert_eq!(heard.get(527), second, "{group} {own}");
        assert_eq!(report(&said, COPY).get(527), None, "FIX 4.2 has none");
        desk.hear(&Input::Restart(0, true));
        for session in [VENUE, CLIENT, COPY] {
            desk.hear(&Input::Up(session, false));
        }
        let again = resent(&mut desk, CLIENT, heard.get(1181).unwrap());
        assert_eq!(again, body(heard), "{group} {own}");
    }
}

#[test]
fn a_value_that_a_receiver_does_not_know_is_left_out_and_counted() {
    // FIX 4.2 has no CommType of 4.
    let mut desk = desk(Version::Fix42, Version::Fix44);
    desk.says(VENUE, "8", NEW);
    let said = desk.says(VENUE, "8", &format!("{FILL}12=1|13=4|"));
    assert_eq!(report(&said, CLIENT).get(13), None);
    assert_eq!(report(&said, COPY).get(13), Some("4"));
    assert!(desk.query("status").contains("13: 1"));
}

#[test]
fn a_fill_of_a_leg_has_its_market_and_fees_once() {
    let mut desk = desk(Version::Fix44, Version::Fix42);
    desk.says(
        CLIENT,
        "D",
        "11=S1|55=CAL|54=1|38=10|40=2|44=5|60=20261122-08:00:00|",
    );
    let leg = "37=V2|11=2|17=L1|150=F|39=1|55=XYZ|54=1|442=2|32=4|31=100|30=XLON|12=1|";
    let said = desk.says(VENUE, "8", leg);
    for to in [CLIENT, COPY] {
        let mine = said.iter().filter(|it| it.to == to && it.get(30).is_some());
        let mine: Vec<_> = mine
            .map(|it| (it.get(442), it.get(55), it.get(12)))
            .collect();
        assert_eq!(mine, [(Some("2"), Some("XYZ"), Some("1"))]);
    }
}

#[test]
fn a_report_of_many_fields_is_sent_again_as_it_was() {
    let mut desk = desk(Version::Fix44, Version::Fix44);
    desk.says(VENUE, "8", NEW);
    let parties = "448=A|447=D|452=1|".repeat(55);
    let said = desk.says(VENUE, "8", &format!("{FILL}453=55|{parties}"));
    let first = report(&said, CLIENT);
    assert!(body(first).ends_with(&parties));
    let number = first.get(1181).unwrap();
    assert_eq!(resent(&mut desk, CLIENT, number), body(first));
}

#[test]
fn the_text_of_each_report_of_the_venue_reaches_client_and_drop_copy() {
    let encoded = "58=auction|354=3|355=abc|";
    for (kind, report, own) in [
        ("0", NEW.to_owned(), None),
        ("F", FILL.to_owned(), None),
        (
            "4",
            NEW.replace("150=0|39=0", "150=4|39=4")
                .replace("151=10", "151=0"),
            None,
        ),
        (
            "D",
            NEW.replace("150=0", "150=D|378=8")
                .replace("38=10", "38=8")
                .replace("151=10", "151=8"),
            None,
        ),
        (
            "8",
            NEW.replace("150=0|39=0", "150=8|39=8")
                .replace("151=10", "151=0"),
            Some("say = \"no\""),
        ),
    ] {
        let say = own.map(|say| format!("[[line_group.error]]\nord_rej_reason = 0\n{say}\n"));
        let mut desk = desk_with(Version::Fix44, Version::Fix44, &say.unwrap_or_default());
        if !matches!(kind, "0" | "8") {
            desk.says(VENUE, "8", NEW);
        }
        let said = desk.says(
            VENUE,
            "8",
            &format!("347=UTF-8|{report}17=X1|103=0|{encoded}")
                .replacen("17=N1|", "", 1)
                .replacen("17=F1|", "", 1),
        );
        for to in [CLIENT, COPY] {
            let first = report_of(&said, to, kind);
            let Some(first) = first else {
                assert_eq!((kind, to), ("8", COPY), "drop copies have no rejects");
                continue;
            };
            let text = if own.is_some() { "no" } else { "auction" };
            assert_eq!(first.get(58), Some(text), "{kind}");
            // The OMS has no other encoding of a text of its own.
            let data = own.is_none().then_some("abc");
            assert_eq!(first.get(355), data, "{kind}");
            assert_eq!(first.get(347), Some("UTF-8"), "{kind}");
            assert!(
                body(first).starts_with("347=UTF-8|"),
                "it is of the header: {kind}"
            );
            let again = resent(&mut desk, to, first.get(1181).unwrap());
            assert_eq!(again, body(first), "{kind}");
        }
        assert!(
            !desk.query("status").contains("58: "),
            "nothing is lost: {kind}"
        );
    }
}

#[test]
fn a_text_in_another_length_than_it_says_is_left_out_and_counted() {
    for (bad, counted) in [
        ("355=abc|", "355: 1"),
        ("354=2|355=abc|", "354: 1, 355: 1"),
        ("354=3|29=1|", "354: 1"),
    ] {
        let mut desk = desk(Version::Fix44, Version::Fix44);
        desk.says(VENUE, "8", NEW);
        let said = desk.says(VENUE, "8", &format!("{FILL}{bad}"));
        let heard = report(&said, CLIENT);
        assert_eq!((heard.get(354), heard.get(355)), (None, None), "{bad}");
        let status = desk.query("status");
        let counted = counted.replace(": 1", ": 2");
        assert!(
            status.contains(&counted),
            "of client and drop copy: {status}"
        );
    }
}

const AS_OWN: &str = "venue_exec_id = \"17\"";

/// ExecID(17) of each report to a session, without answers to status requests.
fn exec_ids(said: &[Said], to: usize) -> Vec<&str> {
    let reports = said.iter().filter(|it| it.to == to && it.msg_type == "8");
    let ids = reports.filter_map(|it| it.get(17));
    ids.filter(|id| *id != "0").collect()
}

#[test]
fn a_venue_s_exec_id_is_that_of_the_report_where_the_settings_say_so() {
    let bust = "37=V1|11=1|17=B1|19=F1|150=H|39=0|55=XYZ|54=1|38=10|14=0|151=10|6=0|32=4|31=100|";
    let second = FILL.replace("17=F1", "17=F2");
    let correct = bust
        .replace("17=B1|19=F1|150=H|39=0", "17=C1|19=F2|150=G|39=1")
        .replace("14=0|151=10|6=0|32=4", "14=3|151=7|6=100|32=3");
    let last = correct
        .replace("17=C1|19=F2|150=G|39=1", "17=B2|19=F2|150=H|39=0")
        .replace("14=3|151=7|6=100|32=3", "14=0|151=10|6=0|32=3");
    let steps: [(&str, &str, Option<&str>); 6] = [
        (NEW, "N1", None),
        (FILL, "F1", None),
        (bust, "B1", Some("F1")),
        (&second, "F2", None),
        (&correct, "C1", Some("F2")),
        (&last, "B2", Some("C1")),
    ];
    let mut desk = desk_with(Version::Fix44, Version::Fix42, AS_OWN);
    let mut all = Vec::new();
    for (message, id, of) in steps {
        let said = desk.says(VENUE, "8", message);
        for to in [CLIENT, COPY] {
            let heard = report(&said, to);
            assert_eq!(
                (heard.get(17), heard.get(19), heard.get(527)),
                (Some(id), of, None),
                "{id}"
            );
            all.push((to, body(heard), heard.get(1181).unwrap().to_owned()));
        }
    }
    for restart in [None, Some(false), Some(true)] {
        if let Some(from_checkpoint) = restart {
            desk.hear(&Input::Restart(0, from_checkpoint));
            for session in [VENUE, CLIENT, COPY] {
                desk.hear(&Input::Up(session, false));
            }
        }
        for (to, first, number) in &all {
            assert_eq!(resent(&mut desk, *to, number), *first, "{restart:?}");
        }
    }
}

#[test]
fn no_two_reports_have_an_exec_id() {
    // Until now its own ExecIDs were numbers; a venue's may be such a number too.
    let mut desk = desk(Version::Fix44, Version::Fix44);
    let before = desk.says(VENUE, "8", NEW);
    let own = report(&before, CLIENT).get(17).unwrap().to_owned();
    desk.set("[[route]]", "[[route]]\n");
    desk.set("lines = [\"V\"]\n", &format!("lines = [\"V\"]\n{AS_OWN}\n"));
    desk.hear(&Input::Restart(0, false));
    for session in [VENUE, CLIENT, COPY] {
        desk.hear(&Input::Up(session, false));
    }
    let mut seen = vec![own.clone()];
    let mut filled = 0;
    for (id, is_passed) in [
        (own.as_str(), false),
        ("OMS-1", false),
        ("900000", true),
        ("F-9", true),
        (&*"x".repeat(65), false),
    ] {
        filled += 1;
        let fill = format!(
            "37=V1|11=1|17={id}|150=F|39=1|55=XYZ|54=1|38=10|14={filled}|151={}|6=100|32=1|31=100|",
            10 - filled
        );
        let said = desk.says(VENUE, "8", &fill);
        let heard = report(&said, CLIENT);
        let passed = heard.get(17).unwrap();
        assert_eq!(passed == id, is_passed, "{id}: {passed}");
        assert_eq!(heard.get(527), (!is_passed).then_some(id));
        assert!(is_passed || passed.starts_with("OMS-"));
        seen.push(passed.to_owned());
    }
    // What the OMS says itself, by hand too, has its own.
    let rejected = desk.says(
        CLIENT,
        "D",
        &format!("11=A2|{}", ORDER.replace("38=10", "38=2000000")),
    );
    let by_hand = desk.hear(&Input::Command(
        "report order=1 type=fill quantity=1 price=100 exec=H1".into(),
    ));
    let bust = "37=V1|11=1|17=B1|19=H1|150=H|39=1|55=XYZ|54=1|38=10|14=5|151=5|6=100|32=1|31=100|";
    let bust = desk.says(VENUE, "8", bust);
    let of = report(&by_hand, CLIENT).get(17);
    assert_eq!(
        (report(&bust, CLIENT).get(17), report(&bust, CLIENT).get(19)),
        (Some("B1"), of)
    );
    // A report that comes again, and another with the same ExecID.
    desk.says(VENUE, "8", &NEW.replace("17=N1", "17=900000"));
    let ended = NEW
        .replace("17=N1", "17=B1")
        .replace("150=0|39=0", "150=4|39=4");
    let ended = desk.says(VENUE, "8", &ended.replace("14=0|151=10", "14=5|151=0"));
    for said in [&rejected, &by_hand, &bust, &ended] {
        seen.extend(exec_ids(said, CLIENT).into_iter().map(str::to_owned));
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((seen.len(), count), (10, 10), "{seen:?}");
}

#[test]
fn a_bust_names_the_fill_by_the_exec_id_that_the_client_has() {
    let mut desk = desk(Version::Fix44, Version::Fix44);
    desk.says(VENUE, "8", NEW);
    let fill = |id: &str, cum: u32| {
        format!(
            "37=V1|11=1|17={id}|150=F|39=1|55=XYZ|54=1|38=10|14={cum}|151={}|6=100|32=1|31=100|",
            10 - cum
        )
    };
    let bust = |id: &str, of: &str, cum: u32| {
        format!(
            "37=V1|11=1|17={id}|19={of}|150=H|39=1|55=XYZ|54=1|38=10|14={cum}|151={}|6=100|32=1|31=100|",
            10 - cum
        )
    };
    let before = desk.says(VENUE, "8", &fill("F1", 1));
    let before = report(&before, CLIENT).get(17).unwrap().to_owned();
    desk.set("lines = [\"V\"]\n", &format!("lines = [\"V\"]\n{AS_OWN}\n"));
    desk.hear(&Input::Restart(0, false));
    for session in [VENUE, CLIENT, COPY] {
        desk.hear(&Input::Up(session, false));
    }
    let by_hand = desk.hear(&Input::Command(
        "report order=1 type=fill quantity=1 price=100 exec=H1".into(),
    ));
    let by_hand = report(&by_hand, CLIENT).get(17).unwrap().to_owned();
    assert!(by_hand.starts_with("OMS-"), "{by_hand}");
    // The venue brings it late: the client has it already.
    let late = desk.says(VENUE, "8", &fill("H1", 2));
    assert_eq!(exec_ids(&late, CLIENT), [""; 0]);
    let said = desk.says(VENUE, "8", &bust("B1", "H1", 1));
    assert_eq!(report(&said, CLIENT).get(19), Some(&*by_hand));
    let said = desk.says(VENUE, "8", &bust("B2", "F1", 0));
    assert_eq!(report(&said, CLIENT).get(19), Some(&*before));
}

#[test]
fn parents_and_legs_have_exec_ids_of_the_oms() {
    let mut setup = setup(Version::Fix44, "parents = 5", AS_OWN);
    setup.sessions[VENUE].1 = Version::Fix44;
    setup.settings = setup
        .settings
        .replacen("[oms]\n", "[oms]\nown_tags = {parent = 6001}\n", 1);
    let mut desk = Desk::new(&setup);
    for session in [VENUE, CLIENT] {
        desk.hear(&Input::Up(session, false));
    }
    desk.says(CLIENT, "D", &format!("11=P|21=3|{ORDER}"));
    desk.says(CLIENT, "D", &format!("11=C|6001=1|{ORDER}"));
    let fill = FILL.replace("11=1|", "11=2|");
    let said = desk.says(VENUE, "8", &fill);
    let fills = said.iter().filter(|it| it.get(150) == Some("F"));
    let mut fills: Vec<_> = fills
        .map(|it| (it.get(11), it.get(17), it.get(527)))
        .collect();
    fills.sort_unstable();
    assert_eq!(fills.len(), 2, "{said:?}");
    assert_eq!(fills[0], (Some("C"), Some("F1"), None));
    assert!(fills[1].1.unwrap().starts_with("OMS-"));
    assert_eq!((fills[1].0, fills[1].2), (Some("P"), Some("F1")));
    desk.says(
        CLIENT,
        "D",
        "11=S1|55=CAL|54=1|38=10|40=2|44=5|60=20261122-08:00:00|",
    );
    let leg = "37=V2|11=3|17=L1|150=F|39=1|55=XYZ|54=1|442=2|32=4|31=100|";
    let said = desk.says(VENUE, "8", leg);
    let leg = said.iter().find(|it| it.get(442) == Some("2")).unwrap();
    assert!(
        leg.get(17).unwrap().starts_with("OMS-"),
        "a venue may use it for the spread too"
    );
    assert_eq!(leg.get(527), Some("L1"));
}

#[test]
fn two_venues_may_not_both_give_their_exec_ids() {
    let groups = |more: &str| {
        let group = format!("{AS_OWN}\n[[line_group]]\nname = \"W\"\nlines = [\"W\"]\n{more}\n");
        let setup = setup(Version::Fix44, "", &group);
        let mut file = |wanted: &str| {
            let file = setup.files.iter().find(|(name, _)| *name == wanted);
            file.map(|(_, text)| text.clone()).ok_or_else(String::new)
        };
        let loaded = fixwire_oms::load::load(&setup.settings, &["C", "V", "W"], &mut file);
        loaded.err().map(|errors| format!("{errors:?}"))
    };
    assert_eq!(groups("venue_exec_id = \"527\""), None);
    assert_eq!(groups(&format!("{AS_OWN}\nhelpers = [\"V\"]")), None);
    let errors = groups(AS_OWN).expect("an error");
    assert!(
        errors.contains("line groups V and W both have venue_exec_id"),
        "{errors}"
    );
}
