//! Messages of a peer: mostly right, with a fault in one place at a time.

use fixwire_protocol::Timestamp;
use fixwire_protocol::session::BeginString;
use fixwire_protocol::time::{Precision, TimestampWriter};

use super::end::{End, OWN, PEER};
use crate::fuzz::input::{self, Input};

/// Body of the types a peer sends; the header goes to `@`, else to
/// the end; `{n}` is a number near our own, `{m}` one near its own.
const BODIES: [&str; 16] = [
    "0|",
    "1|@112=x|",
    "2|@7={n}|16=0|",
    "2|@7=1|16={n}|",
    "2|@7={n}|16={n}|",
    "3|@45={n}|58=no|",
    "4|@123=Y|36={m}|",
    "4|@36={m}|",
    "5|@",
    "B|@148=a|33=1|58=b|",
    "D|@11=a|21=1|55=b|54=1|60={t}|38=1|40=1|",
    "j|@45={n}|372=D|380=0|",
    "0|@112=TEST|",
    "1|@",
    "\x01@",
    "B|@148=a|95=3|96=a|b|33=1|58=b|",
];

/// One of [`BODIES`], its number near the expected one, and what two bytes of the input spoil.
pub fn message(end: &End, input: &mut Input<'_>) -> Vec<u8> {
    let (which, place, spoil) = (input.byte(), input.byte(), input.byte());
    let number = match place % 8 {
        0 | 1 => end.session.next_in(),
        2 => end.session.next_in() + 2,
        3 => end.session.next_in() + u64::from(place / 8),
        4 => end
            .session
            .next_in()
            .saturating_sub(1 + u64::from(place / 32)),
        5 => u64::from(place / 8),
        6 => end.session.next_in() + 1,
        _ => [u64::MAX, 999_999_999_999_999_999, 0, 1 << 32][usize::from(place / 8) % 4],
    };
    let body = BODIES[usize::from(which) % BODIES.len()];
    let near = (end.session.next_out() + u64::from(which / 16)).saturating_sub(4);
    let ahead = end.session.next_in() + u64::from(place / 64);
    let body = body
        .replace("{n}", &near.to_string())
        .replace("{m}", &ahead.to_string());
    build(end, &body, number, spoil, input)
}

/// A Logon, and what two bytes of the input spoil.
pub fn logon(end: &End, input: &mut Input<'_>) -> Vec<u8> {
    let (how, spoil) = (input.byte(), input.byte());
    let number = match how % 4 {
        3 => end.session.next_in() + 2,
        2 => 1,
        _ => end.session.next_in(),
    };
    let mut body = "A|@98=0|108=30|".to_owned();
    if how & 4 == 4 {
        body += "141=Y|";
    }
    if how & 8 == 8 && end.begin_string >= BeginString::Fix44 {
        body += &format!(
            "789={}|",
            end.session.next_out().saturating_sub(u64::from(how / 64))
        );
    }
    if how & 16 == 16 {
        body = body.replace(
            "108=30",
            ["108=0", "108=-1", "108=999999999", "108="][usize::from(how / 64)],
        );
    }
    if end.begin_string == BeginString::Fixt11 && how & 32 == 0 {
        body += "1137=9|";
    }
    build(end, &body, number, spoil, input)
}

/// The header goes where the body has `@`.
fn build(end: &End, body: &str, number: u64, spoil: u8, input: &mut Input<'_>) -> Vec<u8> {
    let precision = match end.begin_string < BeginString::Fix42 {
        true => Precision::Seconds,
        false => Precision::Millis,
    };
    let ago = |seconds: i64| {
        let moment = Timestamp(end.now.wall.0 - seconds * 1_000_000_000);
        String::from_utf8_lossy(TimestampWriter::new().format(moment, precision)).into_owned()
    };
    let mut header = format!("49={PEER}|56={OWN}|34={number}|52={}|", ago(0));
    let mut version = end.begin_string.as_str();
    match spoil % 24 {
        1 => header = header.replace(PEER, OWN),
        2 => header = header.replace("34=", "50=x|34=0"),
        3 => header = header.replacen("34=", "3 4=", 1),
        4 => header = header.replace(&ago(0), &ago(200)),
        5 => header += &format!("43=Y|122={}|", ago(1)),
        6 => header += &format!("43=Y|122={}|", ago(-1)),
        7 => header += "43=Y|",
        8 => header += "43=Y|122=|",
        9 => header = header.replace(&format!("34={number}|"), ""),
        10 => header = header.replace(&ago(0), "yesterday"),
        11 => {
            version = if version == "FIX.4.2" {
                "FIX.4.4"
            } else {
                "FIX.4.2"
            }
        }
        12 => header = String::from_utf8_lossy(input.piece(60)).into_owned(),
        13 => header += &String::from_utf8_lossy(input.piece(40)),
        14 => header = header.replace("56=", "56=|57="),
        15 => header += "97=Y|",
        _ => {}
    }
    let mut body = body.replace("{t}", &ago(0));
    match body.contains('@') {
        true => body = body.replace('@', &header),
        false => body += &header,
    }
    if spoil % 24 == 16 {
        body += &String::from_utf8_lossy(input.piece(120));
    }
    input::message(version, body.as_bytes())
}
