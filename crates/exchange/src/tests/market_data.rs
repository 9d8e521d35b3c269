//! Market data: do members have the book by snapshots and updates, each trade once, and reasons for rejections?

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_book::Side;
use fixwire_harness::Random;
use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{Dictionary, Scratch, ValidationRules, Version};
use fixwire_protocol::{
    Application, Decoder, Mono, Now, Outbox, Parting, PeerLogout, Refusal, SessionId, Timestamp,
};

use super::desk::{A, B, Desk, NEW, OLD, Said, config};
use super::spreads::spreads;

fn texts(said: &[Said]) -> Vec<&str> {
    said.iter().map(|it| it.text.as_str()).collect()
}

/// Market data alone.
fn data(said: Vec<Said>, to: SessionId) -> Vec<String> {
    let is_data = |it: &Said| it.to == to && ["35=W|", "35=X|"].contains(&&it.text[..5]);
    said.into_iter().filter(is_data).map(|it| it.text).collect()
}

const VOD: &str = "146=1|55=VOD|267=3|269=0|269=1|269=2";

fn limit(id: u32, side: u8, quantity: u32, price: &str) -> String {
    format!("D 11={id}|55=VOD|54={side}|38={quantity}|40=2|44={price}")
}

fn disconnect(desk: &mut Desk, member: SessionId) {
    let mut outbox = Outbox::new(1 << 10, 8, 256);
    let now = Now {
        wall: Timestamp(0),
        mono: Mono::default(),
    };
    desk.exchange
        .on_disconnect(now, member, Parting::Lost, PeerLogout::NONE, &mut outbox);
}

#[test]
fn a_snapshot_is_followed_by_updates_in_the_record_of_their_cause() {
    let mut desk = Desk::new();
    desk.say(A, &limit(1, 1, 10, "10"));
    desk.say(A, &limit(2, 1, 5, "9.99"));
    desk.say(A, &limit(3, 2, 7, "10.05"));
    let said = desk.say(B, &format!("V 262=M|263=1|264=2|265=1|{VOD}"));
    assert_eq!(
        texts(&said),
        [
            "35=W|262=M|55=VOD|268=3|269=0|270=10.00|271=10|346=1|290=1|269=0|270=9.99|271=5|346=1|290=2|\
          269=1|270=10.05|271=7|346=1|290=1|"
        ]
    );
    // A third price is not in a book of two; one ahead takes the place of another.
    assert_eq!(data(desk.say(A, &limit(4, 1, 1, "9.98")), B).len(), 0);
    let said = desk.say(A, &limit(5, 1, 2, "10.01"));
    assert_eq!(said[0].to, A, "the report comes first");
    assert_eq!(
        data(said, B),
        [
            "35=X|262=M|268=3|279=2|269=0|55=VOD|270=9.99|290=2|279=0|269=0|55=VOD|270=10.01|271=2|346=1|290=1|\
          279=1|269=0|55=VOD|270=10.00|271=10|346=1|290=2|"
        ]
    );
    let said = desk.say(A, &limit(6, 2, 8, "10"));
    assert_eq!(
        data(said, B),
        [
            "35=X|262=M|268=5|279=0|269=2|55=VOD|270=10.01|271=2|272=20260302|273=08:00:00.007|\
          279=0|269=2|55=VOD|270=10.00|271=6|272=20260302|273=08:00:00.007|\
          279=2|269=0|55=VOD|270=10.01|290=1|279=1|269=0|55=VOD|270=10.00|271=4|346=1|290=1|\
          279=0|269=0|55=VOD|270=9.99|271=5|346=1|290=2|"
        ]
    );
    // A replace, a cancel, and a halt, which changes no price.
    let said = desk.say(A, "G 11=7|41=3|55=VOD|54=2|38=7|40=2|44=10.04");
    assert_eq!(
        data(said, B),
        [
            "35=X|262=M|268=2|279=2|269=1|55=VOD|270=10.05|290=1|279=0|269=1|55=VOD|270=10.04|271=7|346=1|290=1|"
        ]
    );
    let said = desk.say(A, "F 11=8|41=7|55=VOD|54=2");
    assert_eq!(
        data(said, B),
        ["35=X|262=M|268=1|279=2|269=1|55=VOD|270=10.04|290=1|"]
    );
    assert_eq!(data(desk.command("state halted VOD").1, B).len(), 0);
    // The whole book is taken away, and the last trade stays.
    assert_eq!(data(desk.command("state closed VOD").1, B).len(), 1);
    let said = desk.say(A, &format!("V 262=N|263=0|264=1|{VOD}"));
    said[0].has("35=W|262=N|268=1|269=2|270=10.00|271=6");
    assert_eq!(desk.say(B, "V 262=M|263=2|264=2"), []);
    desk.command("state continuous VOD").0.unwrap();
    assert_eq!(data(desk.say(A, &limit(9, 1, 1, "10")), B).len(), 0);
}

#[test]
fn a_member_may_ask_for_orders_full_refreshes_and_the_trading_day() {
    let mut desk = Desk::new();
    desk.say(A, &limit(1, 1, 10, "10"));
    desk.say(B, "D 11=2|55=VOD|54=1|38=9|40=2|44=10|111=3");
    let said = desk.say(
        NEW,
        "V 262=O|263=1|264=0|265=1|266=N|146=1|55=VOD|267=1|269=0",
    );
    assert_eq!(
        texts(&said),
        [
            "35=W|262=O|55=VOD|268=2|269=0|270=10.00|271=10|37=1|290=1|269=0|270=10.00|271=3|37=2|290=2|"
        ]
    );
    let day = "267=4|269=4|269=7|269=8|269=B";
    let said = desk.say(
        A,
        &format!("V 262=F|263=1|264=1|265=0|146=2|55=VOD|55=BTC|{day}"),
    );
    assert_eq!(
        texts(&said),
        ["35=W|262=F|55=VOD|268=0|", "35=W|262=F|55=BTC|268=0|"]
    );
    desk.say(B, &format!("V 262=D|263=1|264=1|265=1|146=1|55=VOD|{day}"));
    let said = desk.say(OLD, &limit(1, 2, 11, "10"));
    assert_eq!(
        data(said.clone(), NEW),
        [
            "35=X|262=O|268=2|279=2|269=0|55=VOD|270=10.00|37=1|290=1|279=1|269=0|55=VOD|270=10.00|271=2|37=2|290=1|"
        ]
    );
    assert_eq!(
        data(said.clone(), A),
        ["35=W|262=F|55=VOD|268=4|269=4|270=10.00|269=7|270=10.00|269=8|270=10.00|269=B|271=11|"]
    );
    assert_eq!(
        data(said, B),
        [
            "35=X|262=D|268=4|279=0|269=4|55=VOD|270=10.00|279=0|269=7|55=VOD|270=10.00|279=0|269=8|55=VOD|270=10.00|\
          279=0|269=B|55=VOD|271=11|"
        ]
    );
    desk.say(A, &limit(3, 1, 4, "9.5"));
    let said = desk.say(OLD, &limit(2, 2, 12, "9.5"));
    assert_eq!(
        data(said, B),
        ["35=X|262=D|268=2|279=1|269=8|55=VOD|270=9.50|279=1|269=B|55=VOD|271=23|"]
    );
    // The day, and what it traded, is in the journal; subscriptions are not.
    let again = desk.again(config());
    assert_eq!(again.market.instruments[0].day.unwrap().volume, 23);
    assert!(again.feeds.feeds.is_empty() && !desk.exchange.feeds.feeds.is_empty());
    // A new day has no trades.
    desk.command("state closed VOD").0.unwrap();
    let said = desk.command("state continuous VOD").1;
    assert_eq!(data(said.clone(), A), ["35=W|262=F|55=VOD|268=0|"]);
    assert!(data(said, B)[0].starts_with("35=X|262=D|268=4|279=2|269=4|55=VOD|"));
}

#[test]
fn a_request_is_rejected_with_its_reason() {
    let mut desk = Desk::new();
    desk.say(A, &format!("V 262=USED|263=1|264=1|265=1|{VOD}"));
    for (from, request, reason, text) in [
        (
            A,
            "263=1|264=1|265=1|146=1|55=XYZ|267=1|269=0",
            0,
            "Symbol(55)=XYZ is not traded here",
        ),
        (
            A,
            "263=3|264=1|265=1",
            4,
            "SubscriptionRequestType(263) must be 0, 1 or 2",
        ),
        (
            A,
            "263=0|264=-1",
            5,
            "MarketDepth(264) must be 0 for the full book, 1 for the best prices, or a number of prices",
        ),
        (
            A,
            "263=1|264=1|265=2",
            6,
            "MDUpdateType(265) must be 0 or 1",
        ),
        (
            A,
            "263=0|264=1|266=X",
            7,
            "AggregatedBook(266) must be Y or N",
        ),
        (
            A,
            "263=0|264=1|146=1|55=VOD|267=1|269=6",
            8,
            "MDEntryType(269)=6 is not supported: request 0, 1, 2, 4, 7, 8 or B",
        ),
        (
            OLD,
            "263=0|264=1|146=1|55=VOD|267=1|269=B",
            8,
            "MDEntryType(269)=B is not supported: request 0, 1, 2, 4, 7 or 8",
        ),
    ] {
        let said = desk.say(from, &format!("V 262=Q|{request}"));
        assert_eq!(
            texts(&said),
            [format!("35=Y|262=Q|281={reason}|58={text}|")],
            "{request}"
        );
    }
    let again = desk.say(A, &format!("V 262=USED|263=0|264=1|{VOD}"));
    again[0].has("35=Y|281=1|58=MDReqID(262) is in use: give each request a new one");
    // Another member may use it.
    desk.say(B, &format!("V 262=USED|263=0|264=1|{VOD}"))[0].has("35=W");
    for number in 1..64 {
        desk.say(A, &format!("V 262={number}|263=1|264=1|265=1|{VOD}"))[0].has("35=W");
    }
    desk.say(A, &format!("V 262=64|263=0|264=1|{VOD}"))[0].has("35=Y|281=2");
    let missing = Refusal::ConditionallyRequiredFieldMissing;
    for (request, tag) in [
        ("V 263=1", 262),
        ("V 262=Q", 263),
        ("V 262=Q|263=1", 264),
        ("V 262=Q|263=1|264=1", 265),
        ("V 262=Q|263=0|264=1", 269),
        ("V 262=Q|263=0|264=1|267=1|269=0", 55),
    ] {
        assert_eq!(desk.ask(NEW, request), Err(missing(tag)), "{request}");
    }
    let long = "x".repeat(65);
    let wrong = Refusal::ValueOutOfRange(262);
    assert_eq!(desk.ask(NEW, &format!("V 262={long}|263=2")), Err(wrong));
    desk.command("fault reject session=M1 type=V count=1")
        .0
        .unwrap();
    desk.say(B, &format!("V 262=R|263=0|264=1|{VOD}"))[0].has("35=j|372=V|379=R");
}

#[test]
fn a_subscription_ends_with_its_connection_and_only_a_live_one_is_resent() {
    let mut desk = Desk::new();
    desk.say(A, &format!("V 262=M|263=1|264=1|265=1|{VOD}"));
    desk.say(B, &format!("V 262=N|263=1|264=1|265=1|{VOD}"));
    let said = desk.say(A, &limit(1, 1, 10, "10"));
    assert_eq!((data(said.clone(), A).len(), data(said, B).len()), (1, 1));
    let now = Now {
        wall: Timestamp(0),
        mono: Mono::default(),
    };
    let resends = |desk: &mut Desk, text: &str| {
        let stored = text.replace('|', "\x01");
        desk.exchange.on_resend(now, A, stored.as_bytes())
    };
    let update = "8=FIX.4.4|9=5|35=X|34=3|262=M|268=0|10=000|";
    let of_other = "8=FIX.4.4|9=5|35=W|34=3|262=N|55=VOD|268=0|10=000|";
    let report = "8=FIX.4.4|9=5|35=8|34=3|37=1|10=000|";
    assert!(resends(&mut desk, update) && resends(&mut desk, report));
    assert!(!resends(&mut desk, of_other));
    disconnect(&mut desk, A);
    assert!(!resends(&mut desk, update) && resends(&mut desk, report));
    let said = desk.say(OLD, &limit(2, 1, 10, "11"));
    assert_eq!((data(said.clone(), A).len(), data(said, B).len()), (0, 1));
    assert!(desk.exchange.market.tape.is_some());
    disconnect(&mut desk, B);
    assert!(desk.exchange.market.tape.is_none(), "nothing is recorded");
}

/// What a member knows of a side from market data: quantity and orders, by symbol and by price or OrderID.
#[derive(Debug, Default)]
struct Replica {
    sides: BTreeMap<(String, String, String), (String, String)>,
    /// The best entry of each side.
    best: BTreeMap<(String, String), String>,
    trades: Vec<String>,
    has_orders: bool,
}

impl Replica {
    fn hear(&mut self, message: &str) {
        let is_snapshot = message.starts_with("35=W");
        let fields: Vec<(&str, &str)> = message
            .split('|')
            .filter_map(|it| it.split_once('='))
            .collect();
        let first = if is_snapshot { "269" } else { "279" };
        let start = fields.iter().position(|(tag, _)| *tag == "268").unwrap();
        let mut symbol = String::new();
        if is_snapshot {
            symbol = fields.iter().find(|it| it.0 == "55").unwrap().1.to_string();
            self.sides.retain(|(of, ..), _| *of != symbol);
            self.best.retain(|(of, _), _| *of != symbol);
        }
        let entries = &fields[start + 1..];
        let starts: Vec<usize> = (0..entries.len())
            .filter(|at| entries[*at].0 == first)
            .collect();
        assert_eq!(fields[start].1, starts.len().to_string(), "{message}");
        for (place, at) in starts.iter().enumerate() {
            let end = starts.get(place + 1).copied().unwrap_or(entries.len());
            let entry: BTreeMap<&str, &str> = entries[*at..end].iter().copied().collect();
            let of = |tag| entry.get(tag).copied().unwrap_or("").to_string();
            if !is_snapshot {
                symbol = of("55");
            }
            if of("269") == "2" {
                if !is_snapshot {
                    self.trades
                        .push(format!("{symbol} {} {}", of("271"), of("270")));
                }
                continue;
            }
            let id = if self.has_orders { of("37") } else { of("270") };
            let key = (symbol.clone(), of("269"), id.clone());
            let side = (symbol.clone(), of("269"));
            match &*of("279") {
                "2" => {
                    assert!(
                        self.sides.remove(&key).is_some(),
                        "deleted twice: {message}"
                    );
                    self.best.retain(|at, best| *at != side || *best != id);
                    continue;
                }
                "1" => assert!(self.sides.contains_key(&key), "never was new: {message}"),
                _ => assert!(!self.sides.contains_key(&key), "new twice: {message}"),
            }
            let orders = if self.has_orders {
                of("270")
            } else {
                of("346")
            };
            self.sides.insert(key, (of("271"), orders));
            if of("290") == "1" {
                self.best.insert(side, id);
            }
        }
    }

    /// Compares it with the books.
    fn assert_is(&self, desk: &Desk, depth: usize, when: u32) {
        let mut wanted = BTreeMap::new();
        let mut best = BTreeMap::new();
        for instrument in &desk.exchange.market.instruments {
            for (side, code) in [(Side::Buy, "0"), (Side::Sell, "1")] {
                let text = |it: fixwire_protocol::Decimal| it.to_string();
                let price = |ticks| text(instrument.price(ticks));
                let mut rows: Vec<(String, (String, String))> = Vec::new();
                if self.has_orders {
                    for it in instrument
                        .book
                        .resting(side)
                        .filter(|it| it.price.is_some())
                    {
                        let lots = text(instrument.quantity(it.visible));
                        rows.push((it.id.to_string(), (lots, price(it.price.unwrap()))));
                    }
                } else {
                    for it in instrument.book.depth(side).filter(|it| it.price.is_some()) {
                        let lots = text(instrument.quantity(it.visible as u64));
                        rows.push((price(it.price.unwrap()), (lots, it.orders.to_string())));
                    }
                }
                rows.truncate(depth);
                let symbol = instrument.symbol.clone();
                if let Some((id, _)) = rows.first() {
                    best.insert((symbol.clone(), code.to_string()), id.clone());
                }
                for (id, value) in rows {
                    wanted.insert((symbol.clone(), code.to_string(), id), value);
                }
            }
        }
        assert_eq!(self.sides, wanted, "after request {when}");
        assert_eq!(self.best, best, "after request {when}");
    }
}

#[test]
fn the_book_of_each_member_is_the_book_whatever_happens_and_each_trade_comes_once() {
    let mut trades_seen = 0;
    for seed in 1..=12 {
        let mut random = Random::new(seed);
        let mut settings = config();
        settings.remembered_max = 50;
        // In some worlds the outbox is often too small for what is owed.
        let is_tight = seed % 3 == 0;
        let room = if is_tight {
            (4_000, 12)
        } else {
            (1 << 16, 256)
        };
        let mut desk = Desk::of(settings).with_room(room.0, room.1);
        let members = [(A, 1, "Y"), (B, 3, "N"), (OLD, 500, "Y"), (NEW, 2, "Y")];
        let mut replicas: BTreeMap<u32, Replica> = BTreeMap::new();
        let mut traded: Vec<String> = Vec::new();
        let mut number = 0;
        let mut hear = |replicas: &mut BTreeMap<u32, Replica>, said: Vec<Said>| {
            for it in said {
                let fields = it.fields();
                // A trade is reported to both sides; buyers alone count.
                let is_correction = fields.get(&20) == Some(&"2") || fields.get(&150) == Some(&"G");
                if fields.contains_key(&32) && fields[&54] == "1" && !is_correction {
                    traded.push(format!("{} {} {}", fields[&55], fields[&32], fields[&31]));
                }
                if ["35=W|", "35=X|"].contains(&&it.text[..5]) {
                    replicas.get_mut(&it.to.0).unwrap().hear(&it.text);
                }
            }
        };
        for (member, depth, aggregated) in members {
            replicas.insert(
                member.0,
                Replica {
                    has_orders: aggregated == "N",
                    ..Replica::default()
                },
            );
            let updates = if member == NEW { 0 } else { 1 };
            let said = desk.say(
                member,
                &format!("V 262=M|263=1|264={depth}|265={updates}|266={aggregated}|146=2|55=VOD|55=BTC|267=3|269=0|269=1|269=2"),
            );
            hear(&mut replicas, said);
        }
        for _ in 0..600 {
            number += 1;
            let from = members[random.place(4)].0;
            let (symbol, price) = if random.one_in(4) {
                ("BTC", format!("{}.5", 100 + random.below(4)))
            } else {
                ("VOD", format!("10.0{}", random.below(6)))
            };
            let side = 1 + random.below(2);
            let orig = number - random.below(20).min(number);
            let quantity = 1 + random.below(9);
            let order = match random.below(12) {
                0 | 1 => format!("F 11={number}|41={orig}|55={symbol}|54={side}"),
                2 => format!(
                    "G 11={number}|41={orig}|55={symbol}|54={side}|38={quantity}|40=2|44={price}"
                ),
                3 => {
                    format!("D 11={number}|55={symbol}|54={side}|38=9|40=2|44={price}|111=2|1138=2")
                }
                4 => format!("D 11={number}|55={symbol}|54={side}|38={quantity}|40=1"),
                5 => format!(
                    "D 11={number}|55={symbol}|54={side}|38={quantity}|40=4|44={price}|99={price}"
                ),
                6 => format!(
                    "D 11={number}|55={symbol}|54={side}|38={quantity}|40=2|44={price}|59=3"
                ),
                _ => format!("D 11={number}|55={symbol}|54={side}|38={quantity}|40=2|44={price}"),
            };
            if let Ok(said) = desk.ask(from, &order) {
                hear(&mut replicas, said);
            }
            if random.one_in(20) {
                let states = ["auction", "halted", "closed", "continuous", "continuous"];
                let state = states[random.place(5)];
                hear(&mut replicas, desk.command(&format!("state {state} *")).1);
            }
            if random.one_in(10) {
                let exec = 1 + random.below(number * 3);
                let words = [format!("bust {exec}"), format!("correct {exec} 1")];
                hear(&mut replicas, desk.command(&words[random.place(2)]).1);
            }
            for _ in 0..40 {
                desk.sleep(1);
                let (_, said) = desk.pass();
                let is_quiet = said.is_empty();
                hear(&mut replicas, said);
                if is_quiet && desk.exchange.open().1 == 0 {
                    break;
                }
            }
            for (member, depth, _) in members {
                replicas[&member.0].assert_is(&desk, depth, number as u32);
            }
        }
        // Each symbol's trades are in order.
        let by_symbol = |mut trades: Vec<String>| {
            trades.sort_by_key(|trade| trade[..3].to_string());
            trades
        };
        let traded = by_symbol(traded);
        for member in [A, B, OLD] {
            let own = replicas[&member.0].trades.clone();
            assert_eq!(by_symbol(own), traded, "seed {seed}");
        }
        trades_seen += traded.len();
        // What members subscribe to leaves no trace in the journal.
        let again = desk.again(config());
        assert_eq!(again.state_hash(), desk.exchange.state_hash());
    }
    assert!(trades_seen > 1_000, "{trades_seen}");
}

#[test]
fn every_message_is_valid_against_the_dictionary_of_its_version() {
    let mut settings = config();
    settings.instruments.extend(spreads().instruments);
    for (member, version, is_old) in [
        (OLD, Version::Fix42, true),
        (A, Version::Fix44, false),
        (NEW, Version::Fix50Sp2, false),
    ] {
        let mut desk = Desk::of(settings.clone());
        let mut said = Vec::new();
        let volume = if is_old { "267=6" } else { "267=7|269=B" };
        let types = format!("{volume}|269=0|269=1|269=2|269=4|269=7|269=8");
        for request in [
            format!("V 262=1|263=1|264=0|265=1|266=Y|146=2|55=VOD|55=JUN-MAR|{types}"),
            format!("V 262=2|263=1|264=3|265=1|266=N|146=1|55=VOD|{types}"),
            format!("V 262=3|263=1|264=1|265=0|146=1|55=VOD|{types}"),
            format!("V 262=3|263=0|264=1|146=1|55=VOD|{types}"),
            limit(1, 1, 10, "10"),
            limit(2, 2, 4, "10"),
            limit(3, 2, 4, "10.5"),
            limit(4, 1, 4, "9.5"),
            "G 11=5|41=4|55=VOD|54=1|38=3|40=2|44=9".to_string(),
            limit(6, 2, 9, "9.9"),
        ] {
            said.extend(desk.say(member, &request));
        }
        said.extend(desk.command("state closed *").1);
        said.extend(desk.command("state continuous *").1);
        let mut kinds = String::new();
        for said in said {
            let (msg_type, body) = said.text[3..].split_once('|').unwrap();
            if !["W", "X", "Y"].contains(&msg_type) {
                continue;
            }
            kinds += msg_type;
            assert_valid(version, msg_type, body);
        }
        for kind in ["W", "X", "Y"] {
            assert!(kinds.contains(kind), "{version:?}: {kinds}");
        }
    }
}

/// A message of the exchange, validated as its member does.
#[track_caller]
pub(super) fn assert_valid(version: Version, msg_type: &str, body: &str) {
    let dictionary = Dictionary::built_in(version);
    let is_fixt = version >= Version::Fix50;
    let begin_string = match is_fixt {
        true => "FIXT.1.1",
        false => version.name(),
    };
    let text = format!(
        "8={begin_string}|9=5|35={msg_type}|49=E|56=M|34=2|52=20260302-08:00:00|{body}10=000|"
    );
    let bytes = text.replace('|', "\x01").into_bytes();
    let mut decoder = Decoder::with_capacity(512);
    let message = decoder.decode(&bytes);
    let dictionary = match is_fixt {
        true => dictionary.over(&Dictionary::built_in(Version::Fixt11)),
        false => dictionary,
    };
    let rules = ValidationRules::default();
    let found = check(&dictionary, &message, &rules, &mut Scratch::default());
    assert_eq!(found, Ok(()), "{version:?}: {text}");
}
