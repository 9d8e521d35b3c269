use std::fs;
use std::io::Read;
use std::time::Duration;

use fixwire_engine::Connection;
use fixwire_protocol::session::Role;

use super::*;

/// A session without a connection, and its record file.
struct Played {
    session: RawSession,
    folder: tempfile::TempDir,
}

impl Played {
    fn new(next_in: Option<u64>) -> Self {
        let config = Config::new(BeginString::Fix44, Role::Initiator, b"OMS", b"EXCHANGE");
        let connection = Connection::Initiator {
            hosts: vec![("127.0.0.1".to_owned(), 1)],
            reconnect: vec![Duration::from_secs(1)],
            timeout: Duration::from_secs(1),
        };
        let config = SessionConfig::new("OMS->EXCHANGE", config, connection);
        let stop = Arc::new(AtomicBool::new(false));
        let mut session = RawSession::new(&config, 1, next_in, stop).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = fs::File::create(folder.path().join("record")).unwrap();
        session.record = CaseRecord::to(Some(file));
        Self { session, folder }
    }

    /// Received messages, `|` for SOH; returns the faults of each entry of the inbox.
    fn receive(&mut self, bytes: &[u8]) -> Vec<Option<String>> {
        self.session.bytes.extend_from_slice(bytes);
        self.session.take_frames();
        let inbox = std::mem::take(&mut self.session.inbox);
        inbox.into_iter().map(|message| message.fault).collect()
    }

    fn send(&mut self, fields: &[(Tag, &str)], left_out: &[Tag]) {
        let fields: TextFields = fields
            .iter()
            .map(|(tag, value)| (*tag, (*value).to_owned()))
            .collect();
        let _ = self.session.send(&fields, left_out, false);
    }

    /// The lines of the record after `mark`, without their times.
    fn record(&self, mark: &str) -> Vec<String> {
        let mut text = String::new();
        let mut file = fs::File::open(self.folder.path().join("record")).unwrap();
        file.read_to_string(&mut text).unwrap();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let lines = lines.filter_map(|(_, line)| line.strip_prefix(mark));
        lines.map(str::to_owned).collect()
    }
}

/// A complete message of the venue.
fn message(body: &str) -> Vec<u8> {
    let body = body.replace('|', "\x01");
    let mut bytes = format!("8=FIX.4.4\x019={}\x01{body}\x01", body.len() + 1).into_bytes();
    let sum = frame::check_sum(&bytes);
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}

#[test]
fn bytes_of_no_message_are_a_fault_however_they_are_cut() {
    let heartbeat = message("35=0|34=1|49=EXCHANGE|56=OMS|52=20261126-11:01:58");
    let junk = Some("7 bytes do not belong to a message".to_owned());
    let whole = [b"garbage".to_vec(), heartbeat.clone()].concat();
    let mut at_once = Played::new(Some(1));
    assert_eq!(at_once.receive(&whole), [junk.clone(), None]);
    let mut cut = Played::new(Some(1));
    assert_eq!(cut.receive(b"garbage"), [junk]);
    assert_eq!(cut.receive(&heartbeat[..20]), []);
    assert_eq!(cut.receive(&heartbeat[20..]), [None]);
    assert_eq!(at_once.record("< "), cut.record("< "));
    assert_eq!(cut.record("< ")[0], "garbage");
}

#[test]
fn bytes_behind_the_last_message_of_a_connection_are_recorded() {
    let mut played = Played::new(Some(1));
    assert_eq!(played.receive(b"8=FIX.4.4\x019=70\x0135=8\x01"), []);
    assert!(played.record("< ").is_empty());
    played.session.disconnect();
    assert_eq!(played.record("< "), ["8=FIX.4.4|9=70|35=8|"]);
    assert_eq!(
        played.record("the last "),
        ["20 bytes are not a complete message"]
    );
    played.session.disconnect();
    assert_eq!(played.record("< ").len(), 1);
}

#[test]
fn a_later_logon_may_be_ahead_of_the_expected_number_but_not_behind_it() {
    let logon = |number: u64| {
        let body = format!("35=A|34={number}|49=EXCHANGE|56=OMS|52=20261126-11:01:58|98=0|108=30");
        message(&body)
    };
    let mut played = Played::new(Some(5));
    // The first message has the requested MsgSeqNum.
    played.session.allow_gap_before_logon();
    let found = played.receive(&logon(7));
    assert_eq!(
        found,
        [Some(
            "MsgSeqNum(34) is 7, expected 5: a message is missing".to_owned()
        )]
    );
    played.session.disconnect();
    played.session.allow_gap_before_logon();
    assert_eq!(played.receive(&logon(12)), [None]);
    let found = played.receive(&logon(14));
    assert!(found[0].is_some(), "{found:?}");
    played.session.disconnect();
    played.session.allow_gap_before_logon();
    let found = played.receive(&logon(3));
    assert_eq!(found, [Some("MsgSeqNum(34) is 3, expected 15".to_owned())]);
}

#[test]
fn a_resend_begins_with_one_and_leaves_out_what_the_message_left_out() {
    let mut played = Played::new(Some(1));
    played.send(&[(35, "0")], &[]);
    played.send(&[(35, "D"), (11, "A1")], &[49]);
    played.send(&[(35, "D"), (11, "A2")], &[]);
    let request = "35=2|34=1|49=EXCHANGE|56=OMS|52=20261126-11:01:58|7=0|16=0";
    assert_eq!(played.receive(&message(request)), [None]);
    let sent = played.record("> ");
    let [gap_fill, first, second] = &sent[3..] else {
        panic!("{sent:#?}");
    };
    assert!(
        gap_fill.contains("|35=4|34=1|") && gap_fill.contains("|36=2|"),
        "{gap_fill}"
    );
    assert!(
        first.contains("|35=D|34=2|43=Y|") && !first.contains("|49="),
        "{first}"
    );
    assert!(second.contains("|35=D|34=3|49=OMS|43=Y|"), "{second}");
}
