//! Fields of venues' reports that a client or a drop copy of another FIX version gets as the conversion tables of the
//! gateway write them.

use fixwire_engine::protocol::Tag;
use fixwire_engine::protocol::dictionary::{Dictionary, Member, Version};
use fixwire_oms::field_table::{FieldClass, report_bit, report_field};
use fixwire_transform::convert::Conversion;

use super::conversion::{VERSIONS, gateway, members, passed, units};
use super::{ORDER, carried, setup};
use crate::desk::{Desk, Input, Said, Setup, dictionary};

mod data;
mod lines;

const CLIENT: usize = 0;
const VENUE: usize = 1;
const COPY: usize = 2;

const QUANTITY: u32 = 100_000;

/// Client, venue and drop copy of these versions, and an open order.
fn desk_of([client, venue, copy]: [Version; 3], keys: [&str; 3], side: char) -> Desk {
    let [user, group, drop_copy] = keys;
    let Setup {
        settings, files, ..
    } = setup(client, &format!("report_numbers = true\n{user}"), group);
    let settings = settings.replacen("[oms]\n", "[oms]\nappl_id = \"O\"\n", 1);
    let mut desk = Desk::new(&Setup {
        settings: format!(
            "{settings}[[drop_copy]]\nsession = \"COPY\"\naccounts = [\"*\"]\nreport_numbers = true\n{drop_copy}\n"
        ),
        files,
        sessions: vec![("C", client), ("V", venue), ("COPY", copy)],
    });
    log_on(&mut desk);
    let order = ORDER
        .replace("38=10|", &format!("38={QUANTITY}|"))
        .replace("54=1|", &format!("54={side}|"));
    let locate = if side == '5' { "114=N|" } else { "" };
    desk.says(CLIENT, "D", &format!("11=A1|{order}{locate}"));
    desk.says(VENUE, "8", &report(venue, "0", 0, side, ""));
    desk
}

fn log_on(desk: &mut Desk) {
    for session in [VENUE, CLIENT, COPY] {
        desk.hear(&Input::Up(session, false));
    }
}

/// A report of a venue of this version with an ExecType(150) of FIX 4.4.
fn report(version: Version, kind: &str, filled: u32, side: char, fields: &str) -> String {
    let (id, left) = (format!("{kind}{filled}"), QUANTITY - filled);
    let (status, average, fill) = match kind {
        "0" => ("0", 0, ""),
        "H" => ("0", 0, "32=1|31=99|19=F1|"),
        "G" => ("1", 99, "32=1|31=99|19=F1|"),
        _ => ("1", 100, "32=1|31=100|"),
    };
    let kind = match (version, kind) {
        (Version::Fix42, "H") => "20=1|150=0|",
        (Version::Fix42, "G") => "20=2|150=1|",
        (Version::Fix42, "F") => "20=0|150=1|",
        (Version::Fix42, other) => {
            return report_of(other, status, (&id, side), (filled, left), fields);
        }
        (_, other) => &format!("150={other}|"),
    };
    format!(
        "37=V1|11=1|17={id}|{kind}39={status}|55=XYZ|54={side}|38={QUANTITY}|14={filled}|151={left}|6={average}|{fill}{fields}"
    )
}

fn report_of(
    kind: &str,
    status: &str,
    (id, side): (&str, char),
    (filled, left): (u32, u32),
    fields: &str,
) -> String {
    format!(
        "37=V1|11=1|17={id}|20=0|150={kind}|39={status}|55=XYZ|54={side}|38={QUANTITY}|14={filled}|151={left}|6=0|{fields}"
    )
}

fn body(said: &Said) -> String {
    let fields = said.fields.iter();
    fields
        .map(|(tag, value)| format!("{tag}={}|", value.replace('\u{1}', "|")))
        .collect()
}

/// The report to a session, without what the OMS writes itself.
fn heard(said: &[Said], to: usize, version: Version) -> Vec<String> {
    let mut all = said.iter().filter(|it| it.to == to && it.msg_type == "8");
    let report = all.next().expect("a report");
    assert!(all.next().is_none(), "one report");
    passed(&body(report), &dictionary(version), "8")
}

fn is_passed(member: &Member) -> bool {
    let row = report_field(member.tag, report_bit(b"8"));
    let members = member.group.iter().flat_map(|group| group.members());
    row.is_some_and(|row| row.class == FieldClass::Passed) && members.into_iter().all(is_passed)
}

/// Fields whose conversion the tables describe by several fields or by certain values.
const TOGETHER: &[&str] = &[
    "109=CL|76=BRK|",
    "439=FIRM|440=ACC|",
    "440=ACC|",
    "109=CL|439=FIRM|440=ACC|76=BRK|",
    "47=A|",
    "47=B|",
    "47=I|",
    "47=J|",
    "47=P|",
    "47=G|",
    "109=CL|47=A|29=1|30=XLON|",
    "528=A|",
    "528=A|529=4|",
    "528=P|529=1 3|",
    "528=I|529=1 2|",
    "528=R|",
    "528=P|529=2 4|",
    "453=1|448=CL|447=D|452=3|",
    "453=2|448=CL|447=D|452=3|448=BRK|447=D|452=1|",
    "453=2|448=CL|447=D|452=3|448=OTHER|447=D|452=7|",
    "453=1|448=CL|447=D|452=3|802=1|523=S|803=10|",
    "453=1|448=FIRM|447=D|452=4|802=1|523=ACC|803=10|",
    "453=1|448=T|447=D|452=11|",
    "453=2|448=A|447=D|452=3|448=B|447=D|452=3|",
    "382=1|375=BRKR|337=TRADER|437=10|438=20261122-08:00:00|",
    "382=2|375=B1|437=4|375=B2|437=6|",
    "136=2|137=1|138=GBP|139=4|137=0.25|138=GBP|139=7|",
    "136=1|137=1|138=GBP|139=10|",
    "12=0.50|13=3|",
    "12=0.50|13=4|",
    "58=text|",
    "347=SHIFT_JIS|",
    "347=Shift_JIS|",
    "347=UTF-8|354=3|355=abc|",
    "851=1|30=XLON|",
];

struct Pair {
    from: Version,
    to: Version,
    conversion: Conversion,
}

impl Pair {
    fn of(from: Version, to: Version) -> Self {
        let conversion = Conversion::built_in(from, to).unwrap();
        Self {
            from,
            to,
            conversion,
        }
    }

    /// The fields that the gateway would send, each with its group, in any order.
    fn sends(&mut self, report: &str) -> Vec<String> {
        let target = dictionary(self.to);
        let sent = gateway(&mut self.conversion, "8", report);
        let (text, _) = sent.unwrap_or_else(|tag| panic!("{:?} {report}: {tag:?}", self.from));
        let mut all = units(&passed(&text, &target, "8"), &target, "8");
        all.sort();
        all
    }
}

fn has_all(dictionary: &Dictionary, fields: &str) -> bool {
    let message = dictionary.message(b"8").unwrap();
    let has = |tag: Tag| {
        let mut groups = message.members().iter();
        message.member(tag).is_some()
            || dictionary.header().member(tag).is_some()
            || groups.any(|it| members(std::slice::from_ref(it)).contains(&tag))
    };
    let mut tags = fields.split_terminator('|');
    tags.all(|it| it.split('=').next().unwrap().parse().is_ok_and(&has))
}

/// The two receivers of a venue's reports have the two other versions.
fn others(venue: Version) -> [Version; 2] {
    let others = VERSIONS.into_iter().filter(|it| *it != venue);
    others.collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn client_and_drop_copy_get_the_fields_that_the_gateway_would_send() {
    for venue in VERSIONS {
        let [client, copy] = others(venue);
        let mut desk = desk_of([client, venue, copy], ["", "", ""], '1');
        let mut pairs = [client, copy].map(|to| Pair::of(venue, to));
        let source = dictionary(venue);
        let message = source.message(b"8").unwrap();
        let singles = message.members().iter().filter(|it| is_passed(it));
        let singles: Vec<String> = singles.map(|it| carried::text(&source, it)).collect();
        let together = TOGETHER.iter().filter(|it| has_all(&source, it));
        let all = singles
            .into_iter()
            .chain(together.map(|it| (*it).to_owned()));
        let (mut count, mut changed) = (0, 0);
        for fields in all.filter(|it| !it.is_empty()) {
            let fields = fields.replace("a|c", "abc");
            count += 1;
            let report = report(venue, "F", count, '1', &fields);
            let said = desk.says(VENUE, "8", &report);
            for (to, pair) in [CLIENT, COPY].into_iter().zip(&mut pairs) {
                let target = dictionary(pair.to);
                let mut ours = units(&heard(&said, to, pair.to), &target, "8");
                ours.sort();
                let theirs = pair.sends(&report);
                assert_eq!(ours, theirs, "{venue:?} to {:?}: {fields}", pair.to);
                changed += usize::from(ours.join("|") + "|" != fields);
            }
        }
        assert!(count > 30 && changed > 5, "{venue:?}: {count}, {changed}");
    }
}

/// The reports to client and drop copy, and the same when they are sent again.
fn resent(desk: &mut Desk, to: usize, number: &str) -> String {
    let asked = format!("1346=R|1347=0|1351=1|1355=O|1182={number}|1183={number}|");
    let mut said = desk.says(to, "BW", &asked);
    said.extend((0..20).flat_map(|_| desk.hear(&Input::Pass(1_000_000))));
    let again = said.iter().find(|it| it.to == to && it.msg_type == "8");
    body(again.expect("a report")).replace("1352=Y|", "")
}

#[test]
fn busts_corrections_and_reports_that_are_sent_again_are_converted_too() {
    let fields_of = |version| match version {
        Version::Fix42 => "109=CL|47=A|30=XLON|",
        _ => "30=XLON|453=1|448=CL|447=D|452=3|528=A|",
    };
    for venue in VERSIONS {
        let [client, copy] = others(venue);
        let mut desk = desk_of([client, venue, copy], ["", "", ""], '1');
        let fields = fields_of(venue);
        let mut all = Vec::new();
        for kind in ["F", "G", "H"] {
            let filled = u32::from(kind != "H");
            let said = desk.says(VENUE, "8", &report(venue, kind, filled, '1', fields));
            for (to, version) in [(CLIENT, client), (COPY, copy)] {
                let mut ours = heard(&said, to, version);
                let mut expected: Vec<String> = fields_of(version)
                    .split_terminator('|')
                    .map(str::to_owned)
                    .collect();
                ours.sort();
                expected.sort();
                assert_eq!(ours, expected, "{venue:?} to {version:?}: {kind}");
                let report = said.iter().find(|it| it.to == to && it.msg_type == "8");
                all.push((to, body(report.unwrap())));
            }
        }
        for restart in [None, Some(false), Some(true)] {
            if let Some(from_checkpoint) = restart {
                desk.hear(&Input::Restart(0, from_checkpoint));
                log_on(&mut desk);
            }
            for (to, first) in &all {
                let number = first.split('|').find_map(|it| it.strip_prefix("1181="));
                let again = resent(&mut desk, *to, number.unwrap());
                assert_eq!(again, *first, "{venue:?} {restart:?}");
            }
        }
    }
}

#[test]
fn what_a_table_loses_is_left_out_and_counted() {
    for (venue, fields, left, counted) in [
        // Short exempt is Side(54) = 6 in FIX 4.4, but the order has Side(54) = 5.
        (
            Version::Fix42,
            "47=B|109=CL|",
            "453=1|448=CL|447=D|452=3",
            "47: 2",
        ),
        (
            Version::Fix42,
            "440=ACC|109=CL|",
            "453=1|448=CL|447=D|452=3",
            "440: 2",
        ),
        (
            Version::Fix44,
            "453=2|448=CL|447=D|452=3|448=T|447=D|452=11|851=1|",
            "109=CL",
            "447: 1, 448: 1, 452: 1, 453: 1, 851: 1",
        ),
    ] {
        let to = match venue {
            Version::Fix42 => Version::Fix44,
            _ => Version::Fix42,
        };
        let copy = match venue {
            Version::Fix42 => Version::Fix50Sp2,
            _ => Version::Fix44,
        };
        let mut desk = desk_of([to, venue, copy], ["", "", ""], '5');
        let said = desk.says(VENUE, "8", &report(venue, "F", 1, '5', fields));
        assert_eq!(heard(&said, CLIENT, to).join("|"), left, "{fields}");
        let status = desk.query("status");
        assert!(status.contains(counted), "{fields}: {status}");
    }
}

/// Values of tags in the report to a session.
fn values<'a>(said: &'a [Said], to: usize, tags: &[u32]) -> Vec<Option<&'a str>> {
    let mut all = said.iter().filter(|it| it.to == to);
    let report = all.next().expect("a message");
    tags.iter().map(|tag| report.get(*tag)).collect()
}

/// How often fields of reports were not passed on.
fn counts(desk: &Desk) -> String {
    let status = desk.query("status");
    let mut lines = status.lines().map(|line| line.split('\t'));
    let at = lines
        .next()
        .and_then(|mut names| names.position(|it| it == "report fields not passed on"));
    let value = lines.next().and_then(|mut values| values.nth(at.unwrap()));
    value.unwrap().to_owned()
}

#[test]
fn fields_that_a_line_group_carries_reach_receivers_that_have_them() {
    let versions = [Version::Fix50Sp2, Version::Fix44, Version::Fix42];
    let said_of = |desk: &mut Desk| {
        let report = report(Version::Fix44, "F", 1, '1', "636=N|20050=x|30=XLON|");
        desk.says(VENUE, "8", &report)
    };
    let mut desk = desk_of(versions, ["", "", ""], '1');
    let said = said_of(&mut desk);
    assert_eq!(values(&said, CLIENT, &[636, 30]), [None, Some("XLON")]);
    assert_eq!(counts(&desk), "636: 1, 20050: 1");
    let mut desk = desk_of(versions, ["", "report_carry = [636, 20050]", ""], '1');
    let said = said_of(&mut desk);
    assert_eq!(values(&said, CLIENT, &[636, 30]), [Some("N"), Some("XLON")]);
    // FIX 4.2 has no WorkingIndicator, and no version has the user-defined tag.
    assert_eq!(values(&said, COPY, &[636, 30]), [None, Some("XLON")]);
    assert_eq!(counts(&desk), "636: 1, 20050: 2");
    let first = body_of(&said, CLIENT);
    let number = first.split('|').find_map(|it| it.strip_prefix("1181="));
    desk.hear(&Input::Restart(0, true));
    log_on(&mut desk);
    assert_eq!(resent(&mut desk, CLIENT, number.unwrap()), first);
}

#[test]
fn a_cancel_reject_has_the_fields_that_a_line_group_carries() {
    let versions = [Version::Fix50Sp2, Version::Fix44, Version::Fix42];
    for (group, expected) in [("", None), ("report_carry = [636]", Some("N"))] {
        let mut desk = desk_of(versions, ["", group, ""], '1');
        let cancel = "11=A2|41=A1|55=XYZ|54=1|60=20261122-08:00:00|";
        let said = desk.says(CLIENT, "F", cancel);
        let sent = said.iter().find(|it| it.to == VENUE).expect("a cancel");
        let (id, original) = (sent.get(11).unwrap(), sent.get(41).unwrap());
        let reject = format!("37=V1|11={id}|41={original}|39=0|434=1|102=0|636=N|58=no|");
        let said = desk.says(VENUE, "9", &reject);
        assert_eq!(said[0].msg_type, "9");
        assert_eq!(values(&said, CLIENT, &[636, 58]), [expected, Some("no")]);
        assert_eq!(said.len(), 1, "{said:?}");
        let counted = if group.is_empty() { "636: 1" } else { "" };
        assert_eq!(counts(&desk), counted);
    }
}

#[test]
fn a_receiver_does_not_get_the_fields_that_it_drops() {
    const CONTRA: &str = "382=1|375=BRKR|337=TRADER|437=10|";
    for (client, fields, keys, tags, expected) in [
        // The whole group, also when only a member is named.
        (
            Version::Fix44,
            CONTRA,
            "report_drop = [382]",
            [382, 375, 337],
            [None; 3],
        ),
        (
            Version::Fix44,
            CONTRA,
            "report_drop = [337]",
            [382, 375, 337],
            [None; 3],
        ),
        (
            Version::Fix44,
            "30=XLON|58=hi|",
            "report_drop = [30]",
            [30, 58, 29],
            [None, Some("hi"), None],
        ),
        // Of converted fields, those that it would get.
        (
            Version::Fix42,
            "453=1|448=CL|447=D|452=3|528=A|",
            "report_drop = [109]",
            [109, 47, 453],
            [None, Some("A"), None],
        ),
        (
            Version::Fix42,
            "453=1|448=CL|447=D|452=3|528=A|",
            "report_drop = [453]",
            [109, 47, 453],
            [Some("CL"), Some("A"), None],
        ),
    ] {
        let versions = [client, Version::Fix44, client];
        for (to, other, keys) in [
            (CLIENT, COPY, [keys, "", ""]),
            (COPY, CLIENT, ["", "", keys]),
        ] {
            let mut desk = desk_of(versions, keys, '1');
            let report = report(Version::Fix44, "F", 1, '1', fields);
            let said = desk.says(VENUE, "8", &report);
            assert_eq!(values(&said, to, &tags), expected, "{keys:?}");
            let counts_of = |to| heard(&said, to, client).len();
            let is_dropped = counts_of(to) < counts_of(other);
            assert_eq!(is_dropped, expected[0].is_none(), "{keys:?}");
            assert_eq!(counts(&desk).is_empty(), !is_dropped, "{keys:?}");
            let again = body_of(&said, to);
            let number = again.split('|').find_map(|it| it.strip_prefix("1181="));
            assert_eq!(resent(&mut desk, to, number.unwrap()), again, "{keys:?}");
        }
    }
}

fn body_of(said: &[Said], to: usize) -> String {
    body(said.iter().find(|it| it.to == to).expect("a message"))
}

#[test]
fn the_venue_s_exec_id_is_not_given_to_a_receiver_that_drops_it() {
    let keys = ["report_drop = [527]", "venue_exec_id = \"527\"", ""];
    let mut desk = desk_of([Version::Fix44; 3], keys, '1');
    let said = desk.says(VENUE, "8", &report(Version::Fix44, "F", 1, '1', ""));
    assert_eq!(values(&said, CLIENT, &[527]), [None]);
    assert_eq!(values(&said, COPY, &[527]), [Some("F1")]);
}

#[test]
fn keys_cannot_name_fields_that_the_oms_writes() {
    let written = "the OMS reads or writes it itself";
    for (keys, what) in [
        (
            "report_carry = [39]",
            format!("report_carry cannot name tag 39: {written}"),
        ),
        (
            "report_carry = [31]",
            format!("report_carry cannot name tag 31: {written}"),
        ),
        (
            "report_carry = [19]",
            format!("report_carry cannot name tag 19: {written}"),
        ),
        (
            "report_carry = [1181]",
            format!("report_carry cannot name tag 1181: {written}"),
        ),
        (
            "report_carry = [34]",
            "report_carry cannot name tag 34: it belongs to the session layer".to_owned(),
        ),
        (
            "report_carry = [115]",
            "report_carry cannot name tag 115: each session has a header of its own".to_owned(),
        ),
        (
            "report_carry = [48]",
            "report_carry cannot name tag 48: clients know the instrument by Symbol(55)".to_owned(),
        ),
        (
            "report_carry = [30]",
            "report_carry cannot name tag 30: clients and drop copies get it in ExecutionReport(8) without this key"
                .to_owned(),
        ),
        (
            "report_carry = [75]",
            "report_carry cannot name tag 75: clients and drop copies get it in ExecutionReport(8) without this key"
                .to_owned(),
        ),
        // Only OrderCancelReject(9) has these.
        (
            "report_carry = [102]",
            format!("report_carry cannot name tag 102: {written}"),
        ),
        (
            "report_carry = [434]",
            format!("report_carry cannot name tag 434: {written}"),
        ),
        (
            "report_carry = [9730, 9730]",
            "report_carry names tag 9730 twice".to_owned(),
        ),
        (
            "report_carry = 9730",
            "report_carry must be a list of tags".to_owned(),
        ),
        (
            "report_carry = [0]",
            "report_carry must be a list of tags".to_owned(),
        ),
        ("report_drop = [30]", "unknown key report_drop".to_owned()),
    ] {
        let setup = setup(Version::Fix44, "", keys);
        let errors = load(&setup).unwrap_err();
        assert!(errors.starts_with(&what), "{keys}: {errors}");
    }
    for (keys, what) in [
        (
            "report_drop = [39]",
            format!("report_drop cannot name tag 39: {written}"),
        ),
        (
            "report_drop = [102]",
            format!("report_drop cannot name tag 102: {written}"),
        ),
        (
            "report_drop = [58, 58]",
            "report_drop names tag 58 twice".to_owned(),
        ),
    ] {
        let errors = load(&setup(Version::Fix44, keys, "")).unwrap_err();
        assert!(errors.starts_with(&what), "{keys}: {errors}");
    }
    let all = setup(
        Version::Fix44,
        "report_drop = [58, 30, 9730]",
        "report_carry = [18, 9730]",
    );
    assert_eq!(load(&all), Ok(()));
}

/// The first mistake of settings, with its line.
fn load(setup: &Setup) -> Result<(), String> {
    load_of(setup, &["C", "V"])
}

fn load_of(setup: &Setup, sessions: &[&str]) -> Result<(), String> {
    let mut open = |wanted: &str| {
        let file = setup.files.iter().find(|(name, _)| *name == wanted);
        file.map(|(_, text)| text.clone()).ok_or_else(String::new)
    };
    let loaded = fixwire_oms::load::load(&setup.settings, sessions, &mut open);
    loaded.map(|_| ()).map_err(|errors| errors[0].to_string())
}
