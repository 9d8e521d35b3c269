//! A request whose fields are gathered without a closer look would be handled alike after a closer look.

use std::boxed::Box;
use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, vec};

use fixwire_harness::Random;
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Decoder, Mono, Now, Outbox, Timestamp};

use super::*;
use crate::load::load;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
carried_bytes = 90
[oms.own_tags]
validity = 9001
reduce_by = 9002
[[account]]
name = "A1"
[[user]]
session = "C"
accounts = ["A1"]
may = ["new", "replace", "cancel", "quote"]
account = "A1"
USER
[[number_pool]]
name = "P"
prefix = "A"
width = 4
tag = 9003
[[line_group]]
name = "V"
lines = ["V"]
helpers = ["W"]
GROUP
[[line_group]]
name = "W"
lines = ["W"]
HELPER
[[route]]
symbols = ["*"]
to = "V"
"#;

/// Versions of the client, of the line, and of the line of the helper.
type Versions = [Version; 3];

/// An OMS that has begun, with these keys of the user, of the line group and of its helper.
fn oms(versions: Versions, keys: [&str; 3]) -> Oms {
    let [user, group, helper] = keys;
    let settings = SETTINGS.replace("USER", user).replace("GROUP", group);
    let settings = settings.replace("HELPER", helper);
    let names = ["C", "V", "W"];
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok("symbol,tick,lot,reference\nXYZ,0.5,1,100\n".to_string()),
        "limits.csv" => Ok("scope,control,limit\nfirm,RC13,100000\n".to_string()),
        other => Err(format!("no {other}")),
    };
    let rules = load(&settings, &names, &mut open).unwrap();
    let sessions = names
        .iter()
        .zip(versions)
        .map(|(name, version)| OmsSession {
            name: (*name).into(),
            version,
            dictionary: OmsSession::built_in(version),
            ids: match *name {
                "C" => vec![(50, "DESK".into())],
                _ => vec![(142, "GATE".into())],
            },
        });
    let mut oms = Oms::new(rules, sessions.collect(), 7, Box::new(|_| {}));
    let mut outbox = Outbox::new(1 << 20, 1 << 10, 256);
    let now = Now {
        mono: Mono(0),
        wall: Timestamp(1_763_800_000_000_000_000),
    };
    oms.begin_step(now, &mut outbox);
    oms
}

/// Fields of which requests are made: those that many requests have, and those that decide a branch.
const FIELDS: [&str; 34] = [
    "58=a text",
    "58=",
    "376=C-1",
    "377=N",
    "377=x",
    "453=1|448=F|447=D|452=3",
    "453=2|448=F|447=D|452=3|448=G|447=D|452=36",
    "453=1|448=F|452=3|447=D",
    "453=2|448=F|447=D|452=3",
    "453=1|448=F|447=D|452=3|802=1|523=X|803=1",
    "453=0",
    "453=1|448=F|447=?|452=3",
    "448=F",
    "528=A",
    "529=1 2",
    "529=1",
    "581=1",
    "582=9",
    "9003=A0001",
    "635=B",
    "47=A",
    "50=DESK",
    "50=OTHER",
    "57=T",
    "142=GATE",
    "115=FIRM",
    "6000=x",
    "9001=1000",
    "114=N",
    "111=5",
    "18=G",
    "354=3|355=a|b",
    "13=1",
    "44=101",
];

const CONTRACTS: [&str; 11] = [
    "",
    "",
    "",
    "carry = [6000]",
    "carry = [6000, 13]",
    "drop = [58]",
    "refuse = [377]",
    "map.528 = {A = \"P\"}",
    "set = {528 = \"A\"}",
    "carry = [58, 453]",
    "drop = [453]",
];

fn request(random: &mut Random) -> Vec<u8> {
    let (kind, base) = [
        (
            "D",
            "11=A|55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00",
        ),
        (
            "G",
            "11=B|41=A|55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00",
        ),
        ("F", "11=B|41=A|55=XYZ|54=1|60=20261122-08:00:00"),
        ("S", "117=Q|55=XYZ|132=90|133=110|134=1|135=1"),
    ][random.place(4)];
    let mut fields: Vec<&str> = base.split('|').collect();
    for _ in 0..random.below(6) {
        let at = random.place(fields.len() + 1);
        fields.insert(at, FIELDS[random.place(FIELDS.len())]);
    }
    let request: String = format!("8=FIX.4.4|35={kind}|49=C|56=OMS|34=2|{}|", fields.join("|"));
    request.replace('|', "\x01").into_bytes()
}

/// The same request with another value of one field that the venue may get.
fn with_other_value(random: &mut Random, request: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(request).into_owned();
    let mut fields: Vec<String> = text.split_terminator('\x01').map(str::to_string).collect();
    let is_extra = |field: &str| {
        let tag = |text: &str| text.split('=').next().map(str::to_string);
        let mut extra = FIELDS.iter().flat_map(|it| it.split('|'));
        extra.any(|it| tag(it) == tag(field)) && !field.starts_with("44=")
    };
    let extra: Vec<usize> = (0..fields.len())
        .filter(|at| is_extra(&fields[*at]))
        .collect();
    if !extra.is_empty() {
        let field = &mut fields[extra[random.place(extra.len())]];
        let values = ["", "x", "0", "1", "2", "A", "N", "36", "another text"];
        let tag = field.split('=').next().unwrap().to_string();
        *field = format!("{tag}={}", values[random.place(values.len())]);
    }
    (fields.join("\x01") + "\x01").into_bytes()
}

#[test]
fn each_request_is_handled_as_after_a_closer_look() {
    let mut random = Random::new(1);
    let mut decoder = Decoder::with_capacity(128);
    // Requests that needed no closer look, by the number of bytes of their fields, and those that the closer look takes
    // as well.
    let (mut direct, mut with_fields, mut closer, mut taken) = (0, 0, 0, 0);
    // Requests with the tags of an earlier one: those that pass, and those whose values need a closer look.
    let mut known = [0, 0];
    let kinds = [
        [Version::Fix44; 3],
        [Version::Fix42; 3],
        [Version::Fix50Sp2; 3],
        [Version::Fix44, Version::Fix44, Version::Fix42],
    ];
    for _ in 0..300 {
        let versions = kinds[random.place(kinds.len())];
        let keys = [(); 3].map(|()| CONTRACTS[random.place(CONTRACTS.len())]);
        let mut oms = oms(versions, keys);
        let client = oms.indices[0].unwrap();
        let mut before = Vec::new();
        for _ in 0..200 {
            let bytes = match random.below(2) {
                0 if !before.is_empty() => with_other_value(&mut random, &before),
                _ => request(&mut random),
            };
            let message = decoder.decode_whole(&bytes);
            let is_known = oms.direct.knows(client, 0, &message);
            let found = oms.gather_directly(client, None, &message);
            let gathered = core::mem::take(&mut oms.gathered);
            let lost = oms.look_closer(client, None, &message, 0);
            let text = String::from_utf8_lossy(&bytes).replace('\x01', "|");
            known[usize::from(found.is_none())] += u32::from(is_known);
            before.clone_from(&bytes);
            if found.is_none() {
                closer += 1;
                taken += u32::from(lost.is_none());
                continue;
            }
            assert_eq!(lost, None, "{keys:?} {text}");
            assert_eq!(gathered.fields(), oms.gathered.fields(), "{keys:?} {text}");
            let first = oms.gathered.first_tag();
            assert_eq!(gathered.first_tag(), first, "{keys:?} {text}");
            direct += 1;
            with_fields += u32::from(first.is_some());
        }
    }
    assert!(
        direct > 5_000 && with_fields > 2_000,
        "{direct} {with_fields}"
    );
    assert!(closer > 5_000 && taken > 500, "{closer} {taken}");
    assert!(known[0] > 1_000 && known[1] > 300, "{known:?}");
}

/// The fields of a client that an order of the bench has, and of groups with several entries: all without a closer look.
#[test]
fn usual_fields_of_a_client_need_no_closer_look() {
    let mut oms = oms([Version::Fix44; 3], [""; 3]);
    let client = oms.indices[0].unwrap();
    let mut decoder = Decoder::with_capacity(128);
    let order = "8=FIX.4.4|35=D|49=C|56=OMS|34=2|115=FIRM|11=A|55=XYZ|54=1|38=10|40=2|44=100|60=20261122-08:00:00|";
    let fields = "58=worked by desk 7|376=C-1|377=N|453=2|448=F|447=D|452=3|448=G|447=D|452=36|\
                  528=A|529=1|581=1|582=1|635=B|";
    let bytes = format!("{order}{fields}").replace('|', "\x01").into_bytes();
    let message = decoder.decode_whole(&bytes);
    assert_eq!(
        oms.gather_directly(client, None, &message),
        None,
        "too long"
    );
    let short = "58=t|376=C|377=N|453=1|448=F|447=D|452=36|528=A|529=1|581=1|582=1|635=B|";
    let bytes = format!("{order}{short}").replace('|', "\x01").into_bytes();
    let message = decoder.decode_whole(&bytes);
    assert_eq!(oms.gather_directly(client, None, &message), Some(0));
    let gathered = oms.gathered.fields();
    assert_eq!(gathered.header, b"115=FIRM\x01");
    assert_eq!(gathered.body, short.replace('|', "\x01").as_bytes());
}
