//! The desks of docs/guide/desks.md: for twenty messages, what leaves an OMS with the settings of `examples/desks`, compared
//! field by field with what the public descriptions of venues ask for; and what the client gets back.
//!
//! A sample has the message as a client writes it, the tags that the venue's description requires in it, and the whole
//! message that the venue has to get, in this order. `*` is an id or a time of the OMS.

mod samples;

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use tempfile::TempDir;

use crate::oms::{json, oms};
use crate::peer::{Peer, utc_now};
use crate::running::{Running, fixwire, free_port};

use samples::{
    CRYPTO, DERIVATIVES, EQUITIES, EQUITIES_42, FUTURES_42, OF_CRYPTO, OF_DERIVATIVES, OF_EQUITIES,
    OF_EQUITIES_42, OF_FUTURES_42, OF_REPLACING, REPLACING,
};

/// Ids and times of the OMS, which differ from run to run.
const OURS: [&str; 5] = ["11", "17", "37", "41", "60"];

/// An answer of the venue, and what the client gets.
pub struct Answer {
    /// MsgType(35).
    pub msg_type: &'static str,
    /// `ID` and `ORIG` are ClOrdID(11) and OrigClOrdID(41) of the request.
    pub says: &'static str,
    pub client: &'static str,
}

pub struct Sample {
    pub name: &'static str,
    pub msg_type: &'static str,
    /// Without TransactTime(60).
    pub client: &'static str,
    /// Required by the venue's description.
    pub asks: &'static [u32],
    pub venue: &'static str,
    pub answers: &'static [Answer],
}

/// An example's OMS, with words of its settings replaced and further files.
pub struct Place {
    pub desk: &'static str,
    pub begin_string: &'static str,
    pub changes: &'static [(&'static str, &'static str)],
    pub files: &'static [(&'static str, &'static str)],
}

struct Desk {
    folder: TempDir,
    _running: Running,
    venue: Peer,
    client: Peer,
}

fn logon(begin_string: &str) -> &'static str {
    match begin_string {
        "FIXT.1.1" => "98=0|108=30|1137=9",
        _ => "98=0|108=30",
    }
}

/// Copies the files of an example into this folder.
fn copy(desk: &str, folder: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/desks");
    for entry in fs::read_dir(from.join(desk)).unwrap().flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
    }
}

/// Gives the keys of a file, `KEY = VALUE` or `KEY=VALUE`, other values.
fn set(file: &Path, values: &[(&str, u16)]) {
    let text = fs::read_to_string(file).unwrap();
    let line = |line: &str| {
        let key = line.split('=').next().unwrap().trim();
        let found = values.iter().find(|(it, _)| *it == key);
        found.map_or_else(
            || line.to_owned(),
            |(key, value)| format!("{key} = {value}"),
        )
    };
    let text: Vec<String> = text.lines().map(line).collect();
    fs::write(file, text.join("\n")).unwrap();
}

/// The files of a place in this folder, with our ports.
fn write(folder: &Path, place: &Place, port: u16, venue: u16) {
    copy(place.desk, folder);
    for (name, text) in place.files {
        fs::write(folder.join(name), text).unwrap();
    }
    let settings = folder.join("oms.toml");
    let mut text = fs::read_to_string(&settings).unwrap();
    for (old, new) in place.changes {
        assert!(text.contains(old), "{old} in {}", place.desk);
        text = text.replace(old, new);
    }
    fs::write(&settings, text).unwrap();
    set(
        &settings,
        &[("SocketAcceptPort", port), ("SocketConnectPort", venue)],
    );
}

impl Desk {
    fn open(place: &Place) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free_port();
        write(
            folder.path(),
            place,
            port,
            listener.local_addr().unwrap().port(),
        );
        let mut command = fixwire();
        command.arg("run").arg(folder.path().join("oms.toml"));
        let running = Running::spawn(command, port);
        running.listens();
        let mut venue = Peer::on(listener.accept().unwrap().0, "EXCHANGE", "OMS");
        venue.begin_string = place.begin_string;
        venue.expect("A");
        venue.send("A", logon(place.begin_string));
        running.hears("VENUE-1 logged on");
        let mut client = Peer::connect(port, "CLIENT", "OMS");
        client.begin_string = place.begin_string;
        client.send("A", logon(place.begin_string));
        client.expect("A");
        let mut desk = Self {
            folder,
            _running: running,
            venue,
            client,
        };
        if desk.asks_for_the_market() {
            desk.venue.expect("g");
        }
        desk
    }

    fn asks_for_the_market(&self) -> bool {
        let text = fs::read_to_string(self.folder.path().join("oms.toml")).unwrap();
        text.contains("market_status = true")
    }

    /// Plays a sample; returns what differs.
    fn play(&mut self, sample: &Sample) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut compare = |what: &str, heard: &str, expected: &str| {
            let heard = body(heard);
            if heard != expected {
                wrong.push(format!(
                    "{}: {what}\n  expected {expected}\n  is       {heard}",
                    sample.name
                ));
            }
        };
        let request = format!("{}|60={}", sample.client, utc_now());
        self.client.send(sample.msg_type, &request);
        let sent = self.venue.expect(sample.msg_type);
        compare("the venue gets", &sent, sample.venue);
        for answer in sample.answers {
            let says = answer.says.replace("ORIG", &value(&sent, "41"));
            let says = says.replace("ID", &value(&sent, "11"));
            self.venue.send(answer.msg_type, &says);
            let report = self.client.expect(answer.msg_type);
            compare("the client gets", &report, answer.client);
        }
        for tag in sample.asks {
            if !sent.contains(&format!("|{tag}=")) {
                wrong.push(format!("{}: the venue asks for {tag}: {sent}", sample.name));
            }
        }
        wrong
    }
}

fn value(message: &str, tag: &str) -> String {
    let mut fields = message.split('|').filter_map(|field| field.split_once('='));
    let found = fields.find(|(it, _)| *it == tag);
    found.map_or_else(String::new, |(_, value)| value.to_owned())
}

/// The body of a message, without the values of [`OURS`].
fn body(message: &str) -> String {
    let fields = message.split_terminator('|').filter_map(|field| {
        let (tag, _) = field.split_once('=').unwrap();
        match tag {
            "8" | "9" | "10" | "34" | "35" | "49" | "52" | "56" => None,
            tag if OURS.contains(&tag) => Some(format!("{tag}=*")),
            _ => Some(field.to_owned()),
        }
    });
    fields.collect::<Vec<_>>().join("|")
}

fn play(place: &Place, samples: &[Sample]) -> usize {
    let mut desk = Desk::open(place);
    let wrong: Vec<String> = samples.iter().flat_map(|it| desk.play(it)).collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    samples.len()
}

#[test]
fn twenty_messages_leave_as_the_venues_ask() {
    let all = [
        play(&EQUITIES, &OF_EQUITIES),
        play(&EQUITIES_42, &OF_EQUITIES_42),
        play(&CRYPTO, &OF_CRYPTO),
        play(&DERIVATIVES, &OF_DERIVATIVES),
        play(&FUTURES_42, &OF_FUTURES_42),
    ];
    assert_eq!(all.iter().sum::<usize>(), 20);
}

#[test]
fn fields_that_a_line_lacks_are_left_out_of_that_request_only() {
    assert_eq!(play(&REPLACING, &OF_REPLACING), 3);
}

/// The example's exchange, OMS and client, each a process of its own.
struct Day {
    folder: TempDir,
    _exchange: Running,
    running: Running,
}

impl Day {
    fn begin(desk: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |file: &str| folder.path().join(file);
        let (port, venue) = (free_port(), free_port());
        copy(desk, folder.path());
        set(&at("exchange.toml"), &[("SocketAcceptPort", venue)]);
        set(
            &at("oms.toml"),
            &[("SocketAcceptPort", port), ("SocketConnectPort", venue)],
        );
        set(&at("client.cfg"), &[("SocketConnectPort", port)]);
        let start = |verb: &str, file: &str, port: u16| {
            let mut command = fixwire();
            command.arg(verb).arg(at(file));
            let running = Running::spawn(command, port);
            running.listens();
            running
        };
        let exchange = start("sim", "exchange.toml", venue);
        let running = start("run", "oms.toml", port);
        running.hears("VENUE-1 logged on");
        Self {
            folder,
            _exchange: exchange,
            running,
        }
    }

    /// Runs the client; what it says.
    fn client(&self, arguments: &[&str]) -> String {
        let mut command = fixwire();
        command
            .arg("client")
            .arg(self.folder.path().join("client.cfg"));
        let run = command.args(arguments).output().unwrap();
        let said = String::from_utf8(run.stdout).unwrap();
        assert!(run.status.success(), "{said}");
        said
    }

    /// The client's orders of the day. The parts of each text are in a line of what it says.
    fn orders(&self, expected: &[&str]) {
        let script = self.folder.path().join("day.txt").display().to_string();
        let said = self.client(&["--script", &script]);
        for text in expected {
            let mut lines = said.lines();
            let found = lines.any(|line| text.split("...").all(|part| line.contains(part)));
            assert!(found, "{text} in\n{said}");
        }
    }

    /// A row of positions: symbol, account, long, short, bought, sold.
    fn positions(&self) -> Vec<String> {
        let rows = json(self.folder.path(), "positions", &[]);
        let text = |row: &serde_json::Value, name: &str| match &row[name] {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let names = ["account", "symbol", "long", "short", "bought", "sold"];
        let row = |row| names.map(|name| text(row, name)).join(" ");
        rows.as_array().unwrap().iter().map(row).collect()
    }
}

#[test]
fn the_day_of_a_desk_of_us_equities() {
    let day = Day::begin("equities");
    day.orders(&[
        "OrdStatus New buy 100 ACME @ 100 ",
        "OrdStatus New buy 500 ACME @ 99 ",
        "OrdStatus Filled sell short 40 ACME @ 100 ",
        "OrdStatus Filled sell short exempt 10 ACME @ 100 ",
        "Rejected sell short exempt 10 ...RC3",
        "OrdStatus New sell short 10 ACME @ 105 ",
        "OrdStatus New sell short 5 ACME @ 105 ",
        "OrdStatus New buy 100 ACME @ 98.5 ",
        "Rejected buy 100 ...(tag 18)",
        "Rejected buy 100 ...RC8",
    ]);
    assert_eq!(day.positions(), ["FUND ACME 0 0 50 50"]);
    let file = day.folder.path().join("exchange.toml");
    let state = |state: &str| {
        let mut command = fixwire();
        command.args(["session", "command"]).arg(&file);
        let run = command.arg(format!("state {state} ACME")).output().unwrap();
        assert!(run.status.success(), "{run:?}");
    };
    let order = "new buy 100 ACME @ 98 528=A 453=1 448=BRKR 447=C 452=1; wait all";
    state("halted");
    day.running.hears("the market is halted");
    assert!(day.client(&["-c", order]).contains("RC18"));
    state("auction");
    day.running.hears("the market is auction");
    assert!(day.client(&["-c", order]).contains("OrdStatus New"));
    let (_, symbols) = oms(day.folder.path(), "symbols", &[]);
    assert!(symbols.contains("auction"), "{symbols}");
}

#[test]
fn the_day_of_a_desk_of_crypto_currencies() {
    let day = Day::begin("crypto");
    day.orders(&[
        "OrdStatus New buy 0.12345 BTC-USDT @ 59000.01 ",
        "OrdStatus New buy 0.9 BTC-USDT @ 58000 ",
        "Rejected buy 0.000001 ...RC8",
        "Rejected sell 0.1 ...RC16",
        "Rejected buy 4.5 ...RC7: order value exceeds the limit (244260, at most 100000 for firm)",
        "OrdStatus New buy 0.1 BTC-USDT @ 57000 ",
        "cancel reject ...the venue does not support replace",
        "OrdStatus Canceled buy 0.1 ",
    ]);
    let orders = json(day.folder.path(), "orders", &["--open"]);
    assert_eq!(orders.as_array().unwrap().len(), 2);
}

#[test]
fn the_day_of_a_desk_of_derivatives() {
    let day = Day::begin("derivatives");
    day.orders(&[
        "OrdStatus New buy 10 BONDM7 @ 129.05 ",
        "OrdStatus Filled sell 4 BONDM7 @ 129.05 ",
        "OrdStatus Filled buy 3 BONDM7-BONDH7 @ -0.95 ",
        "OrdStatus Filled buy 3 BONDM7 last 3 at 129.05",
        "OrdStatus Filled sell 3 BONDH7 last 3 at 130 ",
        "Rejected buy 1 BONDM7 ...(tag 200)",
    ]);
    let mut positions = day.positions();
    positions.retain(|row| !row.contains("BONDM7-BONDH7"));
    positions.sort();
    assert_eq!(
        positions,
        [
            "CLIENT1 BONDH7 0 3 0 3",
            "CLIENT1 BONDM7 7 0 7 0",
            "HOUSE BONDH7 3 0 3 0",
            "HOUSE BONDM7 0 7 0 7",
        ]
    );
}
