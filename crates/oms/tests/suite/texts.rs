//! Texts in the language of a client, beside English.

use fixwire_engine::protocol::dictionary::validate::check;
use fixwire_engine::protocol::dictionary::{Dictionary, Scratch, ValidationRules, Version};
use fixwire_engine::protocol::session::BeginString;
use fixwire_engine::protocol::{Decoder, Nanos};
use fixwire_harness::Turn;
use fixwire_oms::load::load;
use fixwire_oms::{TextTable, Why};

use crate::floor::{CLIENT, COPY, Floor, VENUE};

pub const TEXTS: &str = "language,text,translation
zh-TW,\"RC6: order quantity exceeds the limit ({}, at most {} for {})\",委託數量 {} 超過 {3} 的上限 {2}
zh-TW,unknown order,查無此委託
zh-TW,no open orders,沒有未成交委託
zh-TW,price {} is stale,價格 {} 已過時
zh-TW,no,不可
de,unknown order,unbekannte Order
";
/// A translation of each text of the OMS.
const EXAMPLE: &str = include_str!("../../../../examples/texts-zh.csv");

const SAID: [u32; 6] = [35, 11, 58, 347, 354, 355];

fn play(client: BeginString) -> Floor {
    let mut floor = Floor::with_a_language(client);
    floor.order("A1", 1, 2000);
    floor.order("A2", 1, 100);
    floor.send("F", "11=A3|41=B9|55=XYZ|54=1|60=20261122-08:00:00|");
    floor.venue.refuses = vec!["F"];
    floor.send("F", "11=A4|41=A2|55=XYZ|54=1|60=20261122-08:00:00|");
    floor.order("A2", 1, 10);
    floor
}

#[test]
fn a_text_of_the_oms_or_a_venue_has_its_translation() {
    for begin in [BeginString::Fix42, BeginString::Fix44] {
        let mut floor = play(begin);
        let told = floor.told(&SAID);
        let has = |wanted: &str| assert!(told.iter().any(|it| it == wanted), "{told:#?}");
        let text = "委託數量 2000 超過 firm 的上限 1000";
        let (english, len) = ("order quantity exceeds the limit", text.len());
        has(&format!(
            "8 A1 RC6: {english} (2000, at most 1000 for firm) UTF-8 {len} {text}"
        ));
        has("9 A3 unknown order UTF-8 15 查無此委託");
        has("9 A4 no UTF-8 6 不可");
        // A text without a translation, and reports without a text.
        has("8 A2 RC4: duplicate ClOrdID, QuoteID or QuoteReqID - - -");
        has("8 A2 - - - -");
        for session in [VENUE, COPY] {
            let others = floor.received(session, &[354]);
            assert!(others.iter().all(|it| it == "-"), "{others:?}");
        }
    }
}

#[test]
fn the_encoding_is_in_the_header_and_the_messages_are_valid() {
    for (begin, version) in [
        (BeginString::Fix42, Version::Fix42),
        (BeginString::Fix44, Version::Fix44),
    ] {
        let mut floor = play(begin);
        if version == Version::Fix44 {
            floor.send("AF", "584=S1|585=7|");
            floor.send("q", "11=M1|530=1|55=NONE|60=20261122-08:00:00|");
        }
        let dictionary = Dictionary::built_in(version);
        let (mut scratch, rules) = (Scratch::default(), ValidationRules::default());
        let mut decoder = Decoder::with_capacity(128);
        let mut encoded = 0;
        for received in floor.world.peer(CLIENT).received() {
            let message = decoder.decode(&received.bytes);
            let valid = check(&dictionary, &message, &rules, &mut scratch);
            assert_eq!(
                valid,
                Ok(()),
                "{}",
                String::from_utf8_lossy(&received.bytes)
            );
            if received.get(347).is_some() {
                encoded += 1;
                let bytes = String::from_utf8_lossy(&received.bytes);
                let at = |field: &str| bytes.find(&format!("\x01{field}=")).unwrap();
                assert!(at("56") < at("347") && at("347") < at("11"), "{bytes}");
                let text = at("58");
                assert!(
                    bytes[text + 1..]
                        .split('\x01')
                        .nth(1)
                        .unwrap()
                        .starts_with("354=")
                );
            }
        }
        assert_eq!(encoded, 3, "{version:?}");
    }
}

#[test]
fn a_resent_report_has_the_same_translation() {
    let mut floor = play(BeginString::Fix44);
    let before = floor.told(&SAID);
    floor.world.kill();
    assert_eq!(floor.world.start(), Turn::Alive);
    floor.settle();
    floor.world.pass(Nanos(1_000_000));
    floor.send("F", "11=A5|41=B9|55=XYZ|54=1|60=20261122-08:00:00|");
    let after = floor.told(&SAID);
    assert_eq!(after[..before.len()], before);
    assert_eq!(
        after[before.len()..],
        ["9 A5 unknown order UTF-8 15 查無此委託"]
    );
}

/// A text as a pattern: the figures of a reason depend on the order.
fn is_translated(table: &TextTable, text: &str) -> bool {
    table.translate("zh", text.as_bytes(), &mut Vec::new())
}

#[test]
fn the_example_translates_every_text_of_the_oms() {
    let table = example();
    for why in Why::ALL.iter().filter(|why| **why != Why::Venue) {
        let (control, text) = (why.control(), why.text());
        let text = if control.is_empty() {
            text.to_owned()
        } else {
            format!("{control}: {text}")
        };
        // With the values that some have behind them.
        let with = [
            "",
            " (7, at most 5 for firm)",
            " (7, at most 5)",
            " (7, at least 5)",
        ];
        let more = [
            " (7, size 5)",
            " (7 %, at most 5 % for firm)",
            " (at 7)",
            " (pool P)",
        ];
        let last = [
            " (order 7)",
            " (tag 7)",
            " (firm)",
            " RC6",
            " (EUR)",
            " (EUR, 93600 s old)",
            " (order 7: Side(54) differs)",
            " (symbol=A, no new orders from 2026-12-18 on)",
            " (Symbol A, SecurityID of no instrument)",
            " (symbol=A, now that of symbol=B)",
        ];
        let mut all = with.iter().chain(&more).chain(&last);
        let found = all.any(|values| is_translated(&table, &format!("{text}{values}")));
        assert!(found, "{text}");
    }
    for text in [
        "queued: waiting for a session to the venue",
        "held: waiting for its condition",
        "triggered: its condition is met",
        "not triggered within its validity",
        "no open orders",
        "orders being cancelled: 3",
    ] {
        assert!(is_translated(&table, text), "{text}");
    }
    assert!(!is_translated(&table, "something else"));
}

const SETTINGS: &str = "[oms]
day_begins = '00:00 UTC'
instruments = 'instruments'
limits = 'limits'
texts = 'texts.csv'
[[user]]
session = 'CLIENT'
language = 'zh'
";

fn loaded(settings: &str, texts: &str) -> Result<TextTable, Vec<String>> {
    let mut open = |file: &str| match file {
        "instruments" => Ok("symbol,tick\nXYZ,1\n".to_owned()),
        "limits" => Ok("scope,control,limit\n".to_owned()),
        _ => Ok(texts.to_owned()),
    };
    let loaded = load(settings, &["CLIENT"], &mut open);
    let loaded = loaded.map(|rules| rules.texts);
    loaded.map_err(|errors| errors.iter().map(ToString::to_string).collect())
}

fn example() -> TextTable {
    loaded(SETTINGS, EXAMPLE).unwrap()
}

#[test]
fn every_mistake_of_the_table_has_its_line() {
    let texts = "language,text,translation
zh,a {},b {} {}
z h,a,b
zh,a {1},b
zh,a {}{},b
zh,a }},b
zh,a,b
zh,a,c
zh,c,
";
    assert_eq!(
        loaded(SETTINGS, texts).unwrap_err(),
        [
            "texts.csv:2: the translation has value 2, but the text has no such value; write {} in text where the value is",
            "texts.csv:3: z h is not the name of a language; write at most 16 letters, digits and -, such as zh or zh-TW",
            "texts.csv:4: the values of the text have numbers; write {} for each value of text; only translation numbers them",
            "texts.csv:5: two values of the text have nothing between them; write {} once for both",
            "texts.csv:6: a brace that is not {} or the number of a value; write {} for each value, in a translation also {2} for the second one",
            "texts.csv:8: the text in zh is listed twice, first in line 7; leave one row",
            "texts.csv:9: translation is empty",
        ]
    );
    let other = SETTINGS.replace("'zh'", "'fr'");
    assert_eq!(
        loaded(&other, "language,text,translation\nzh,a,b\nde,a,b\n").unwrap_err(),
        ["language = \"fr\" has no texts; the file of texts has de, zh"]
    );
    let none = SETTINGS.replace("texts = 'texts.csv'\n", "");
    assert_eq!(
        loaded(&none, "").unwrap_err(),
        [
            "language = \"zh\" has no texts; name the file of translations: [oms] texts = \"texts.csv\""
        ]
    );
}
