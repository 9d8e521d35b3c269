//! The built-in dictionaries against the standard: the session layer of FIXT.1.1, open lists, and messages
//! of every type.

use std::collections::BTreeMap;

use fixwire_protocol::Decoder;
use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{
    DataType, Dictionary, FieldDef, Member, OtherValues, RejectReason, Scratch, ValidationFault,
    ValidationRules, Version,
};

fn judge(dictionary: &Dictionary, msg_type: &str, body: &str) -> Result<(), ValidationFault> {
    let head = "34=2|49=A|52=20260821-13:30:00|56=B";
    let body = body.trim_matches('|');
    let text = format!("8=FIX|9=100|35={msg_type}|{head}|{body}|10=000|").replace("||", "|");
    let text = text.replace('|', "\x01");
    let mut decoder = Decoder::with_capacity(4_000);
    let message = decoder.decode(text.as_bytes());
    let rules = ValidationRules::default();
    check(dictionary, &message, &rules, &mut Scratch::default())
}

/// With header, trailer and session messages.
fn whole(version: Version) -> Dictionary {
    let dictionary = Dictionary::built_in(version);
    match dictionary.header().members().is_empty() {
        true => dictionary.over(&Dictionary::built_in(Version::Fixt11)),
        false => dictionary,
    }
}

/// The members of the session layer's messages, as the official FIXT session repository lists them.
#[test]
fn fixt_has_the_members_of_the_official_session_layer() {
    let fixt = Dictionary::built_in(Version::Fixt11);
    let tags = |members: &[Member]| {
        let mut tags: Vec<u32> = members.iter().map(|member| member.tag).collect();
        tags.sort_unstable();
        tags
    };
    let of = |msg_type: &str| tags(fixt.message(msg_type.as_bytes()).unwrap().members());
    let official: [(&str, &[u32]); 8] = [
        ("0", &[112]),
        ("1", &[112]),
        ("2", &[7, 16]),
        ("3", &[45, 58, 354, 355, 371, 372, 373, 1130, 1131, 1406]),
        ("4", &[36, 123, 1744]),
        ("5", &[58, 354, 355, 789, 1409]),
        (
            "A",
            &[
                58, 95, 96, 98, 108, 141, 354, 355, 383, 384, 464, 553, 554, 789, 925, 1137, 1400,
                1401, 1402, 1403, 1404, 1407, 1408, 1409, 1600, 1601, 1602, 1603, 1604, 1605,
            ],
        ),
        ("n", &[]),
    ];
    for (msg_type, expected) in official {
        assert_eq!(of(msg_type), expected, "{msg_type}");
    }
    let header = [
        8, 9, 34, 35, 43, 49, 50, 52, 56, 57, 90, 91, 97, 115, 116, 122, 128, 129, 142, 143, 144,
        145, 212, 213, 347, 369, 627, 1128, 1129, 1156,
    ];
    assert_eq!(tags(fixt.header().members()), header);
    let types = fixt.group(b"A", 384).unwrap();
    assert_eq!(tags(types.members()), [372, 385, 1130, 1131, 1406, 1410]);
}

#[test]
fn a_venue_of_today_logs_on_and_out() {
    let fixt = whole(Version::Fix50Sp2);
    let logon = "98=0|108=30|1137=9";
    for (msg_type, body) in [
        ("A", format!("{logon}|1409=0")),
        ("A", format!("{logon}|1409=100|58=hello|1407=5|1408=V")),
        ("A", format!("{logon}|553=u|554=p|925=new")),
        (
            "A",
            format!("{logon}|553=u|1400=101|1401=4|1402=ab=c|1403=3|1404=def"),
        ),
        (
            "A",
            format!("{logon}|384=1|372=D|385=S|1130=9|1406=4|1131=c|1410=Y"),
        ),
        ("A", format!("{logon}|354=2|355=xy|1600=engine|1605=vendor")),
        ("5", "1409=4|58=bye".into()),
        ("5", "789=12".into()),
        ("3", "45=1|372=D|373=18".into()),
        ("3", "45=1|372=D|1130=9|1406=4|1131=x|373=100".into()),
        ("4", "36=9|1744=1".into()),
        ("n", "".into()),
    ] {
        assert_eq!(judge(&fixt, msg_type, &body), Ok(()), "{msg_type} {body}");
    }
    for (body, tag) in [("1409=99", 1409), ("1410=X", 1410), ("1407=x", 1407)] {
        let fault = judge(&fixt, "A", &format!("{logon}|{body}")).unwrap_err();
        assert_eq!(fault.tag, Some(tag), "{body}");
    }
}

/// Versions, a tag, values that are taken, and values that are refused.
type OpenCase<'a> = (&'a [Version], u32, &'a [&'a str], &'a [&'a str]);

#[test]
fn open_lists_take_what_the_standard_leaves_open() {
    use Version::{Fix41, Fix42, Fix43, Fix44, Fix50, Fix50Sp1, Fix50Sp2};
    let five: &[Version] = &[Fix50, Fix50Sp1, Fix50Sp2];
    let both: &[Version] = &Version::ALL[..8];
    let cases: [OpenCase<'_>; 18] = [
        (
            both,
            27,
            &["S", "0", "5000", "1000000000"],
            &["XL", "-1", "1000000001"],
        ),
        (five, 27, &["U"], &[]),
        (
            five,
            63,
            &["0", "M3", "D1", "W2", "Y10", "B"],
            &["Q", "M", "3M"],
        ),
        (five, 65, &["CD", "B", "PR"], &[]),
        (five, 103, &["0", "100", "1001"], &["98"]),
        (five, 102, &["101"], &["98"]),
        (five, 22, &["1", "100"], &["99"]),
        (five, 326, &["101"], &["99"]),
        (five, 378, &["101", "99"], &["98"]),
        (five, 452, &["1", "4000", "4001"], &["3999"]),
        (five, 803, &["1", "4001"], &["3999"]),
        (five, 828, &["0", "1001"], &["999"]),
        (five, 276, &["f", "A"], &["f "]),
        (five, 587, &["0", "M3"], &[]),
        (&[Fix44], 103, &["11", "12", "13"], &["100"]),
        (
            &[Fix42, Fix43, Fix44],
            347,
            &["Shift_JIS", "SHIFT_JIS", "UTF-8"],
            &["UTF-7"],
        ),
        (&[Version::Fixt11], 347, &["Shift_JIS", "windows-1252"], &[]),
        (
            &[Fix41, Fix42],
            166,
            &["CED", "GB"],
            &["ISO Country Code", "G"],
        ),
    ];
    for (versions, tag, good, bad) in cases {
        for &version in versions {
            let dictionary = Dictionary::built_in(version);
            let field = dictionary.field(tag).unwrap();
            let takes = |value: &str| {
                field.kind.accepts(value.as_bytes()) && field.allows(value.as_bytes())
            };
            for value in good {
                assert!(takes(value), "{} {tag}={value}", version.name());
            }
            for value in bad {
                assert!(!takes(value), "{} {tag}={value}", version.name());
            }
        }
    }
}

/// A name that hangs on two values, or a value with a blank around it, is a mistake of a file.
#[test]
fn each_value_has_a_name_of_its_own() {
    for version in Version::ALL {
        for field in Dictionary::built_in(version).fields() {
            let mut names = BTreeMap::new();
            for value in &field.values {
                let place = format!("{} {}={}", version.name(), field.name, value.value);
                assert_eq!(value.value.trim(), value.value, "{place}");
                assert!(!value.name.is_empty(), "{place}");
                let before = names.insert(&value.name, &value.value);
                assert_eq!(before, None, "{place}");
            }
        }
    }
}

/// A value from outside the list of an open field, else the first of its list, else one of its type.
fn sample(field: &FieldDef) -> String {
    match field.others {
        OtherValues::From(first) => return format!("{}", first + 7),
        OtherValues::UpTo(last) => return format!("{last}"),
        OtherValues::Quantity => return "12.5".into(),
        OtherValues::Tenor => return "M18".into(),
        OtherValues::Country => return "DE".into(),
        _ => {}
    }
    if let Some(value) = field.values.first() {
        return value.value.clone();
    }
    let text = match field.kind {
        DataType::Boolean => "Y",
        DataType::UtcTimestamp => "20260821-13:30:00",
        DataType::UtcTimeOnly | DataType::LocalMktTime => "13:30:00",
        DataType::UtcDateOnly | DataType::LocalMktDate => "20260821",
        DataType::MonthYear => "202608",
        DataType::TzTimeOnly => "13:30Z",
        DataType::TzTimestamp => "20260821-13:30Z",
        _ => "1",
    };
    text.into()
}

/// The required members of a layout, and those on the path to a member that is not. An entry of a group
/// has its order; in a message the groups come last, so that no field behind one can be its own.
fn fields(
    dictionary: &Dictionary,
    members: &[Member],
    is_entry: bool,
    path: &[u32],
    text: &mut String,
) {
    let on_path = |member: &Member| path.first() == Some(&member.tag);
    let mut wanted: Vec<(usize, &Member)> = members
        .iter()
        .enumerate()
        .filter(|(at, member)| member.required || on_path(member) || (is_entry && *at == 0))
        .collect();
    if !is_entry {
        wanted.sort_by_key(|(_, member)| (member.group.is_some(), !on_path(member)));
    }
    for (_, member) in wanted {
        let Some(group) = &member.group else {
            let field = dictionary.field(member.tag).unwrap();
            text.push_str(&format!("{}={}|", member.tag, sample(field)));
            continue;
        };
        let rest: &[u32] = if on_path(member) { &path[1..] } else { &[] };
        text.push_str(&format!("{}=1|", member.tag));
        fields(dictionary, group.members(), true, rest, text);
    }
}

/// The paths to all fields with open lists.
fn open_paths(
    dictionary: &Dictionary,
    members: &[Member],
    path: &mut Vec<u32>,
    found: &mut Vec<Vec<u32>>,
) {
    for member in members {
        path.push(member.tag);
        if let Some(group) = &member.group {
            open_paths(dictionary, group.members(), path, found);
        } else if dictionary.field(member.tag).unwrap().others != OtherValues::None {
            found.push(path.clone());
        }
        path.pop();
    }
}

#[test]
fn messages_of_every_type_with_open_values_pass() {
    let mut open = 0;
    for version in &Version::ALL[..8] {
        let dictionary = whole(*version);
        for message in dictionary.messages() {
            let mut paths = vec![Vec::new()];
            open_paths(&dictionary, message.members(), &mut Vec::new(), &mut paths);
            for path in paths {
                let mut body = String::from("|");
                fields(&dictionary, message.members(), false, &path, &mut body);
                let place = format!("{} {} {body}", version.name(), message.msg_type());
                assert_eq!(
                    judge(&dictionary, message.msg_type(), &body),
                    Ok(()),
                    "{place}"
                );
                let Some(field) = path.last().and_then(|tag| dictionary.field(*tag)) else {
                    continue;
                };
                if field.others == OtherValues::Any {
                    continue;
                }
                open += 1;
                let own = format!("|{}={}|", field.tag, sample(field));
                let closed = body.replacen(&own, &format!("|{}=~~|", field.tag), 1);
                let fault = judge(&dictionary, message.msg_type(), &closed).unwrap_err();
                let reasons = [
                    RejectReason::ValueIncorrect,
                    RejectReason::IncorrectDataFormat,
                ];
                assert!(reasons.contains(&fault.reason), "{place}: {fault:?}");
            }
        }
    }
    assert!(open > 500, "{open}");
}
