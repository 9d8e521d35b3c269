//! Fields of venues' reports that a client or a drop copy of another FIX version gets as the conversion tables of the
//! gateway write them.

use fixwire_engine::protocol::Tag;
use fixwire_engine::protocol::dictionary::{Dictionary, Member, Version};
use fixwire_oms::field_table::{FieldClass, report_bit, report_field};
use fixwire_transform::convert::Conversion;

use super::conversion::{VERSIONS, gateway, members, passed, units};
use super::{ORDER, carried, setup};
use crate::desk::{Desk, Input, Said, Setup, dictionary};

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
    let (status, fill) = match kind {
        "0" => ("0", String::new()),
        "H" => ("0", "32=1|31=100|19=F1|".to_owned()),
        "G" => ("1", "32=1|31=99|19=F1|".to_owned()),
        _ => ("1", "32=1|31=100|".to_owned()),
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
        "37=V1|11=1|17={id}|{kind}39={status}|55=XYZ|54={side}|38={QUANTITY}|14={filled}|151={left}|6=100|{fill}{fields}"
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
        for fields in all.filter(|it| !it.is_empty() && !it.contains("a|c")) {
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
            "447: 1, 448: 1, 452: 1, 851: 1",
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
