//! `run --app echo` over TCP in every version: a validating initiator accepts each of its answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use fixwire::settings::{Settings, Source};
use fixwire::{Connection, Engine};
use fixwire_protocol::dictionary::{DataType, FieldDef, GroupDef, Member, Version};
use fixwire_protocol::{
    Application, Decoder, Dictionary, Message, Now, Outbox, Refusal, SessionId, Tag,
};

/// BeginString and DefaultApplVerID of each session. FIX.Latest has no dictionary: its answers are validated against
/// that of FIX 5.0 SP2.
const SESSIONS: [(&str, &str); 9] = [
    ("FIX.4.0", ""),
    ("FIX.4.1", ""),
    ("FIX.4.2", ""),
    ("FIX.4.3", ""),
    ("FIX.4.4", ""),
    ("FIXT.1.1", "FIX.5.0"),
    ("FIXT.1.1", "FIX.5.0SP1"),
    ("FIXT.1.1", "FIX.5.0SP2"),
    ("FIXT.1.1", "FIX.Latest"),
];

fn version(session: usize) -> Version {
    let (begin_string, application) = SESSIONS[session];
    let name = if application.is_empty() {
        begin_string
    } else {
        application
    };
    Version::from_name(name).unwrap_or(Version::Fix50Sp2)
}

/// A message to send: its type and its body, `|` for SOH.
type Request = (&'static str, String);

/// The messages that one side of a session sends and receives.
#[derive(Default)]
struct Script {
    requests: Vec<Request>,
    sent: usize,
    answers: Vec<String>,
}

/// Sends the next request of a session when the previous one is answered.
struct Client {
    scripts: Vec<Script>,
    done: Sender<Result<Vec<Vec<String>>, String>>,
}

impl Client {
    fn next(&mut self, session: SessionId, outbox: &mut Outbox) {
        let script = &mut self.scripts[session.0 as usize];
        if let Some((msg_type, body)) = script.requests.get(script.sent) {
            script.sent += 1;
            let mut message = outbox.begin(session, msg_type.as_bytes());
            message.encoded(body.replace('|', "\x01").as_bytes());
            message.finish().unwrap();
        } else if self
            .scripts
            .iter()
            .all(|all| all.answers.len() == all.requests.len())
        {
            let answers = self.scripts.iter().map(|script| script.answers.clone());
            let _ = self.done.send(Ok(answers.collect()));
        }
    }

    fn fail(&mut self, what: &str, message: &Message<'_>, asked: Option<&[u8]>) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\x01', "|");
        let asked = asked.map(text).unwrap_or_default();
        let _ = self
            .done
            .send(Err(format!("{what}: {} {asked}", text(message.bytes()))));
    }
}

impl Application for Client {
    fn on_logon(&mut self, _: Now, session: SessionId, _: &Message<'_>, outbox: &mut Outbox) {
        self.next(session, outbox);
    }

    fn on_message(
        &mut self,
        _: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let script = &mut self.scripts[from.0 as usize];
        script
            .answers
            .push(String::from_utf8_lossy(message.bytes()).replace('\x01', "|"));
        if matches!(message.msg_type(), b"8" | b"9") && script.answers.len() == script.sent {
            self.next(from, outbox);
        } else {
            self.fail("no answer to the request", message, None);
        }
        Ok(())
    }

    fn on_reject(
        &mut self,
        _: Now,
        _: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        _: &mut Outbox,
    ) {
        self.fail("the acceptor rejects", reject, refused);
    }

    fn on_reject_sent(&mut self, _: Now, _: SessionId, message: &Message<'_>, _: &mut Outbox) {
        self.fail("the initiator rejects", message, None);
    }
}

/// The settings of one side.
fn settings(folder: &Path, own: &str, port: u16) -> String {
    let (peer, role) = match own {
        "VENUE" => (
            "CLIENT",
            format!(
                "ConnectionType=acceptor\nSocketAcceptPort={port}\nSocketAcceptAddress=127.0.0.1"
            ),
        ),
        _ => (
            "VENUE",
            format!(
                "ConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nReconnectInterval=1\nHeartBtInt=30"
            ),
        ),
    };
    let store = folder.join(own);
    let mut text = format!(
        "[DEFAULT]\nFileStorePath={}\nJournalSegmentSize=8M\n{role}\n",
        store.display()
    );
    for (begin_string, application) in SESSIONS {
        let qualifier = application.replace('.', "");
        text += &format!(
            "[SESSION]\nBeginString={begin_string}\nSenderCompID={own}{qualifier}\nTargetCompID={peer}{qualifier}\n"
        );
        if !application.is_empty() {
            text += &format!("DefaultApplVerID={application}\n");
        }
        if application == "FIX.Latest" {
            text += "UseDataDictionary=N\n";
        }
    }
    text
}

/// `fixwire run --app echo`, killed at the end.
struct Venue(Child);

impl Drop for Venue {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Plays a script on each session and ends with `kill -9`; returns the answers.
fn play(folder: &Path, scripts: Vec<Vec<Request>>) -> Vec<Vec<String>> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    fs::write(folder.join("venue.cfg"), settings(folder, "VENUE", port)).unwrap();
    let venue = Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .args(["run", "--app", "echo"])
        .arg(folder.join("venue.cfg"))
        .stderr(Stdio::null())
        .spawn();
    let _venue = Venue(venue.unwrap());
    let source = Source {
        path: "client.cfg".into(),
        text: settings(folder, "CLIENT", port),
    };
    let config = Settings::read(&source).unwrap().to_config().unwrap();
    assert!(
        config
            .sessions
            .iter()
            .all(|session| matches!(session.connection, Connection::Initiator { .. }))
    );
    let scripts = scripts.into_iter().map(|requests| Script {
        requests,
        ..Script::default()
    });
    let (done, answers): (_, Receiver<_>) = channel();
    let client = Client {
        scripts: scripts.collect(),
        done,
    };
    let mut engine = Engine::new(config, client).unwrap();
    let mut handle = engine.handle();
    let runs = thread::spawn(move || engine.run().map_err(|error| error.to_string()));
    let answers = answers
        .recv_timeout(Duration::from_secs(120))
        .expect("an answer to each request");
    handle.stop().unwrap();
    runs.join().unwrap().unwrap();
    answers.unwrap_or_else(|error| panic!("{error}"))
}

fn value(message: &str, tag: Tag) -> Option<&str> {
    let mut fields = message.split('|').filter_map(|field| field.split_once('='));
    fields
        .find(|(name, _)| *name == tag.to_string())
        .map(|(_, value)| value)
}

/// A value that a field may have.
fn sample(field: &FieldDef) -> String {
    if let Some(first) = field.values.first() {
        return first.value.clone();
    }
    match field.kind {
        DataType::Boolean => "Y",
        DataType::Char | DataType::MultipleCharValue => "A",
        DataType::MonthYear => "202703",
        DataType::UtcTimestamp => "20270301-12:00:00",
        DataType::UtcTimeOnly | DataType::LocalMktTime => "12:00:00",
        DataType::UtcDateOnly | DataType::LocalMktDate => "20270301",
        DataType::TzTimeOnly => "12:00:00Z",
        DataType::TzTimestamp => "20270301-12:00:00Z",
        DataType::DayOfMonth => "7",
        kind if kind.is_decimal() => "7.5",
        DataType::Int
        | DataType::Length
        | DataType::SeqNum
        | DataType::NumInGroup
        | DataType::TagNum => "7",
        _ => "text",
    }
    .to_owned()
}

struct Orders<'d> {
    dictionary: &'d Dictionary,
}

impl Orders<'_> {
    fn field(&self, tag: Tag) -> &FieldDef {
        self.dictionary.field(tag).unwrap()
    }

    /// A field with its data or its group: one entry with all its possible fields.
    fn member(&self, member: &Member, out: &mut String) {
        let field = self.field(member.tag);
        if field.kind.is_data() {
            return;
        }
        if let Some(group) = &member.group {
            *out += &format!("{}=1|", member.tag);
            self.entry(group, out);
        } else if let Some(data) = field.partner {
            *out += &format!("{}=3|{data}=a|b|", member.tag).replace("a|b", "a\x02b");
        } else {
            *out += &format!("{}={}|", member.tag, sample(field));
        }
    }

    fn entry(&self, group: &GroupDef, out: &mut String) {
        for member in group.members() {
            self.member(member, out);
        }
    }

    /// An order with all required fields of its version, and `more`, which replaces some.
    fn order(&self, id: usize, more: &str) -> Request {
        let mut body = String::new();
        for member in self.dictionary.message(b"D").unwrap().members() {
            let tag = member.tag;
            let usual = match tag {
                11 => Some(format!("A{id}")),
                55 => Some("VOD".to_owned()),
                54 => Some("2".to_owned()),
                38 => Some(format!("{}", 100 + id)),
                40 => Some("2".to_owned()),
                44 => Some("12.50".to_owned()),
                60 => Some("20261122-10:00:00".to_owned()),
                _ => None,
            };
            let given = format!("|{more}").contains(&format!("|{tag}="));
            match usual {
                _ if given => {}
                Some(usual) => body += &format!("{tag}={usual}|"),
                None if member.required => self.member(member, &mut body),
                None => {}
            }
        }
        ("D", body + more)
    }

    /// An order of every OrdType, and one for each optional field, beside what each was made for.
    fn all(&self) -> Vec<(Request, String)> {
        let mut all: Vec<(Request, String)> = Vec::new();
        for kind in &self.field(40).values {
            let more = format!("40={}|44=12.50|99=11|", kind.value);
            all.push((self.order(all.len(), &more), more));
        }
        for member in self.dictionary.message(b"D").unwrap().members() {
            // Orders by something other than a number of shares are tested separately.
            if member.required || [11, 38].contains(&member.tag) {
                continue;
            }
            let mut more = String::new();
            self.member(member, &mut more);
            if !more.is_empty() {
                all.push((self.order(all.len(), &more), more));
            }
        }
        all
    }
}

/// The fields of an order that its report must have: those that its version has in a report, outside groups.
fn expected(dictionary: &Dictionary, more: &str) -> Vec<(Tag, String)> {
    let report = dictionary.message(b"8").unwrap();
    let fields = more.split('|').filter_map(|field| field.split_once('='));
    let fields = fields.map(|(tag, value)| (tag.parse().unwrap(), value.to_owned()));
    let plain = |(tag, _): &(Tag, String)| {
        report
            .member(*tag)
            .is_some_and(|member| member.group.is_none())
            && *tag != 60
    };
    // The report has a whole group or nothing of it.
    let mut fields = fields.peekable();
    let first: Tag = fields.peek().map_or(0, |field| field.0);
    let is_group = dictionary.message(b"D").unwrap().group(first).is_some();
    if is_group {
        Vec::new()
    } else {
        fields.filter(plain).collect()
    }
}

#[test]
fn a_validating_initiator_takes_every_answer_in_every_version() {
    let folder = tempfile::tempdir().unwrap();
    let dictionaries: Vec<Dictionary> = (0..9)
        .map(|session| Dictionary::built_in(version(session)))
        .collect();
    let orders: Vec<Vec<(Request, String)>> = dictionaries
        .iter()
        .map(|dictionary| Orders { dictionary }.all())
        .collect();
    let requests = orders
        .iter()
        .map(|orders| orders.iter().map(|order| order.0.clone()).collect());
    let answers = play(folder.path(), requests.collect());
    let mut ids = BTreeMap::new();
    for (session, (orders, answers)) in orders.iter().zip(&answers).enumerate() {
        assert!(orders.len() > 25, "{session}: {}", orders.len());
        let mut repeated = BTreeSet::new();
        for (((_, order), more), report) in orders.iter().zip(answers) {
            let what = format!("{:?} {order}\n{report}", SESSIONS[session]);
            let of_the_order = |tag| value(order, tag);
            for tag in [11, 54, 55, 38] {
                assert_eq!(value(report, tag), of_the_order(tag), "{what}");
            }
            for (tag, text) in expected(&dictionaries[session], more) {
                assert_eq!(value(report, tag), Some(&text[..]), "{what}");
                repeated.insert(tag);
            }
            assert_eq!(
                (value(report, 39), value(report, 14)),
                (Some("0"), Some("0")),
                "{what}"
            );
            let (execution, leaves) = (value(report, 150), value(report, 151));
            match session {
                0 => assert_eq!((execution, leaves), (None, None), "{what}"),
                _ => assert_eq!((execution, leaves), (Some("0"), of_the_order(38)), "{what}"),
            }
            assert_eq!(value(report, 20), (session < 3).then_some("0"), "{what}");
            for tag in [17, 37] {
                let id = value(report, tag).unwrap().to_owned();
                assert_eq!(ids.insert(id, ()), None, "{what}");
            }
        }
        assert!(repeated.len() > 10, "{session}: {repeated:?}");
    }
    // After a restart ids are new; earlier orders are unknown.
    let scripts = dictionaries
        .iter()
        .zip(&orders)
        .map(|(dictionary, orders)| {
            let made = Orders { dictionary };
            let order = |id: usize| made.order(id, "").1;
            let id = orders.len();
            let cancel = dictionary.message(b"F").unwrap();
            let time = if cancel.member(60).is_some() {
                "60=20261122-10:00:00|"
            } else {
                ""
            };
            let old = format!("55=VOD|54=2|38=50|{time}");
            let cxl_type = if dictionary.version() == "FIX.4.0" {
                "125=F|"
            } else {
                ""
            };
            let replace =
                |to: &str, from: usize| order(0).replace("11=A0|", &format!("41=A{from}|11={to}|"));
            let script: Vec<Request> = vec![
                ("D", order(id)),
                ("F", format!("41=A0|11=C0|{cxl_type}{old}")),
                ("G", replace("R1", id)),
                ("F", format!("41=R1|11=C1|{cxl_type}{old}")),
                ("F", format!("41=R1|11=C2|{cxl_type}{old}")),
                ("G", replace("R2", 0)),
            ];
            script
        });
    let answers = play(folder.path(), scripts.collect());
    for (session, answers) in answers.iter().enumerate() {
        let types: Vec<_> = answers
            .iter()
            .map(|answer| value(answer, 35).unwrap())
            .collect();
        assert_eq!(
            types,
            ["8", "9", "8", "8", "9", "9"],
            "{:?} {answers:#?}",
            SESSIONS[session]
        );
        for answer in answers
            .iter()
            .filter(|answer| value(answer, 35) == Some("8"))
        {
            let id = value(answer, 17).unwrap().to_owned();
            assert_eq!(ids.insert(id, ()), None, "{answer}");
        }
        let order_ids: Vec<_> = answers
            .iter()
            .map(|answer| value(answer, 37).unwrap())
            .collect();
        assert!(!ids.contains_key(order_ids[0]), "{answers:#?}");
        assert_eq!(
            order_ids[1..],
            ["NONE", order_ids[0], order_ids[0], order_ids[0], "NONE"]
        );
        let status: Vec<_> = answers.iter().map(|answer| value(answer, 39)).collect();
        let replaced = if session < 3 { "5" } else { "0" };
        assert_eq!(
            (status[2], status[3]),
            (Some(replaced), Some("4")),
            "{answers:#?}"
        );
    }
    // FIX.Latest has no dictionary here.
    let dictionary = &dictionaries[8];
    let mut decoder = Decoder::with_capacity(256);
    for answer in &answers[8] {
        let bytes = answer.replace('|', "\x01");
        let message = decoder.decode(bytes.as_bytes());
        let known = dictionary.message(message.msg_type()).unwrap();
        for field in message.fields() {
            let known = known
                .member(field.tag)
                .or_else(|| dictionary.header().member(field.tag))
                .or_else(|| dictionary.trailer().member(field.tag));
            assert!(
                known.is_some() || [8, 9, 10, 34, 35, 49, 52, 56].contains(&field.tag),
                "{} in {answer}",
                field.tag
            );
        }
    }
}
