//! A limit that a peer's message exceeds names itself, in the Reject and in the event: the setting and its value. The
//! defaults hold the lists that venues send.

use std::fmt::Write;
use std::time::Duration;

use fixwire::config::Durability;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::dictionary::{Dictionary, Version};
use fixwire::protocol::session::{ApplVerId, BeginString};
use fixwire::protocol::{SessionId, tag};
use fixwire::{EngineConfig, Event, SendError};

use crate::common::app::{App, answer};
use crate::common::wire::{self, PORT, calm};
use crate::common::*;

/// An acceptor of this version; with the built-in dictionary, or without any.
fn acceptor(
    version: BeginString,
    validates: bool,
    change: impl FnOnce(&mut EngineConfig),
) -> (Running, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut session = acceptor_session("127.0.0.1:0");
    session.session.begin_string = version;
    if validates {
        let dictionary = match version {
            BeginString::Fixt11 => {
                session.session.default_appl_ver_id = Some(ApplVerId::FIX50_SP2);
                let transport = Dictionary::built_in(Version::Fixt11);
                Dictionary::built_in(Version::Fix50Sp2).over(&transport)
            }
            other => Dictionary::built_in(Version::from_name(other.as_str()).unwrap()),
        };
        session.session.dictionary = Some(dictionary.into());
    }
    let mut settings = config(&folder.path().join("store"), session);
    // Peers here do not answer a Logout.
    settings.stop_timeout = Duration::from_millis(50);
    change(&mut settings);
    (Running::start(settings), folder)
}

struct Venue {
    peer: Peer,
    version: BeginString,
}

impl Venue {
    fn log_on(engine: &Running, version: BeginString) -> Self {
        let peer = Peer::connect(engine.address());
        let mut venue = Self { peer, version };
        let more = match version {
            BeginString::Fixt11 => "1137=9|",
            _ => "",
        };
        venue.send("A", &format!("98=0|108=30|{more}"));
        assert!(venue.peer.receive().unwrap().contains("|35=A|"));
        venue
    }

    fn send(&mut self, msg_type: &str, fields: &str) {
        let usual = message(msg_type, self.peer.seq, "BENCH", "EXEC", fields);
        self.peer.seq += 1;
        let text = String::from_utf8(usual).unwrap().replace('\x01', "|");
        let body = text.splitn(3, '|').nth(2).unwrap();
        let body = &body[..body.len() - "10=000|".len()];
        self.peer.send_bytes(&whole(self.version.as_str(), body));
    }
}

/// A SecurityList of FIX 4.4 or 5.0 SP2 with 19 fields for each instrument.
fn security_list(version: BeginString, instruments: usize) -> String {
    let result = match version {
        BeginString::Fixt11 => "560=0|",
        _ => "320=1|322=2|560=0|",
    };
    let mut text = format!("{result}146={instruments}|");
    for n in 0..instruments {
        let _ = write!(
            text,
            "55=SYM{n}|48=ISIN{n}|22=4|454=3|455=A{n}|456=1|455=B{n}|456=2|455=C{n}|456=3|461=ESXXXX|167=CS|\
             200=202612|541=20261218|231=1|207=XLON|107=name {n}|15=USD|58=note|"
        );
    }
    text
}

#[test]
fn a_list_of_2000_instruments_passes_with_the_defaults() {
    for version in [BeginString::Fix44, BeginString::Fixt11] {
        for validates in [true, false] {
            let (engine, _folder) = acceptor(version, validates, |_| {});
            let mut venue = Venue::log_on(&engine, version);
            venue.send("y", &security_list(version, 2000));
            venue.send("1", "112=after|");
            let mut answer = venue.peer.receive().unwrap();
            // This application knows orders only.
            if answer.contains("|35=j|") {
                answer = venue.peer.receive().unwrap();
            }
            assert!(
                answer.contains("|35=0|"),
                "{version:?} {validates}: {answer}"
            );
            engine.stop();
        }
    }
}

/// Each limit on a message, with the least message that exceeds it.
#[test]
fn a_message_beyond_a_limit_is_rejected_with_the_name_and_value_of_the_limit() {
    let order = "11=1|21=1|55=A|54=1|60=20261120-10:00:00|38=9|40=1|";
    let many: String = (0..60).map(|n| format!("5{n:03}=x|")).collect();
    let parties = "453=3|448=A|447=D|452=1|448=B|447=D|452=3|448=C|447=D|452=4|";
    let too_many_fields = "More fields than MaxFields (64)";
    for (version, validates, kind, fields, text, tag) in [
        (
            BeginString::Fix42,
            false,
            "D",
            format!("{order}{many}"),
            too_many_fields,
            "",
        ),
        (
            BeginString::Fix42,
            true,
            "D",
            format!("{order}{many}"),
            too_many_fields,
            "",
        ),
        (
            BeginString::Fix44,
            true,
            "D",
            format!("{order}{many}"),
            too_many_fields,
            "",
        ),
        (
            BeginString::Fixt11,
            true,
            "D",
            format!("{order}{many}"),
            too_many_fields,
            "",
        ),
        (
            BeginString::Fix40,
            false,
            "D",
            format!("{order}{many}"),
            too_many_fields,
            "",
        ),
        (
            BeginString::Fix44,
            true,
            "D",
            format!("{order}{parties}"),
            "More group entries than MaxGroupEntries (2)",
            "|371=453|",
        ),
        (
            BeginString::Fixt11,
            true,
            "D",
            format!("{order}{parties}"),
            "More group entries than MaxGroupEntries (2)",
            "|371=453|",
        ),
        (
            BeginString::Fix42,
            false,
            "1",
            format!("112={}|", "x".repeat(4097)),
            "TestReqID longer than 4096 bytes",
            "|371=112|",
        ),
    ] {
        let (engine, _folder) = acceptor(version, validates, |settings| {
            settings.max_fields = 64;
            settings.sessions[0].session.rules.max_group_entries = 2;
        });
        let mut venue = Venue::log_on(&engine, version);
        venue.send(kind, &fields);
        let answer = venue.peer.receive().unwrap();
        assert!(
            answer.contains("|35=3|")
                && answer.contains(&format!("|58={text}|"))
                && answer.contains(tag),
            "{version:?}: {answer}"
        );
        engine.wait_event(|event| {
            matches!(event, Event::RejectSent { .. }) && event.to_string().contains(text)
        });
        // The session goes on.
        venue.send("1", "112=after|");
        assert!(venue.peer.receive().unwrap().contains("|35=0|"));
        engine.stop();
    }
}

/// A Logon too.
#[test]
fn a_logon_beyond_a_limit_is_told_which() {
    for (fields, text) in [
        ("98=0|108=3601|", "HeartBtInt longer than 3600 seconds"),
        (
            "98=0|108=30|5001=x|5002=x|5003=x|5004=x|5005=x|5006=x|5007=x|",
            "More fields than MaxFields (16)",
        ),
    ] {
        let (engine, _folder) = acceptor(BeginString::Fix44, false, |settings| {
            settings.max_fields = 16;
        });
        let mut peer = Peer::connect(engine.address());
        let usual = message("A", 1, "BENCH", "EXEC", fields);
        let logon = String::from_utf8(usual).unwrap().replace('\x01', "|");
        let body = logon.splitn(3, '|').nth(2).unwrap();
        peer.send_bytes(&whole("FIX.4.4", &body[..body.len() - 7]));
        let reject = peer.receive().unwrap();
        assert!(reject.contains(&format!("|58={text}|")), "{reject}");
        let logout = peer.receive().unwrap();
        assert!(
            logout.contains("|35=5|") && logout.contains(&format!("|58={text}|")),
            "{logout}"
        );
        engine.stop();
    }
}

/// Two engines with the same MaxMessageSize: the other one accepts all that we send, and all that we resend.
#[test]
fn no_message_of_an_application_is_longer_than_max_message_size() {
    let (net, disk) = (SimNet::new(1, calm(1 << 16)), SimDisk::new());
    let config = wire::config(Durability::Process, vec![wire::acceptor("P0")]);
    let most = config.max_message;
    let app = App::new(|from, order, outbox| answer(order, from, b"8", outbox));
    let mut engine = wire::start(config, app, 1, &net, &disk);
    let events = events(&mut engine);
    let conn = net.connect(0, PORT).unwrap();
    wire::turns(&mut engine);
    wire::write(&net, conn, "P0", "A", 1, "98=0|108=0|");
    let mut say = |kind: &str, seq: u64, body: &str| {
        wire::write(&net, conn, "P0", kind, seq, body);
        wire::turns(&mut engine);
        let heard = wire::read(&net, conn);
        let messages = heard.split("8=FIX.4.2|").skip(1);
        for message in messages.clone() {
            let bytes = message.len() + "8=FIX.4.2|".len();
            assert!(bytes <= most, "{bytes} bytes");
        }
        messages.map(str::to_owned).collect::<Vec<_>>()
    };
    let (mut reports, mut rejects) = (0, 0);
    let mut seq = 2;
    for len in (740..=920).step_by(3) {
        let heard = say("D", seq, &format!("11={}|", "x".repeat(len)));
        let is = |kind: &str| heard.iter().any(|text| text.contains(kind));
        reports += u64::from(is("|35=8|"));
        rejects += u64::from(is("|35=j|"));
        seq += 1;
    }
    assert!(reports > 10 && rejects > 10, "{reports} {rejects}");
    assert_eq!(reports + rejects, seq - 2);
    // The longest report is still short enough with PossDupFlag(43) and OrigSendingTime(122).
    let first = reports - 3;
    let again = say("2", seq, &format!("7={first}|16={}|", reports + 1));
    assert!(
        again.iter().all(|text| text.contains("|43=Y|")),
        "{again:?}"
    );
    assert_eq!(again.len(), 5);
    let events = events.lock().unwrap();
    let text = "longer than MaxMessageSize";
    assert!(
        events.iter().any(|event| event.to_string().contains(text)),
        "{events:?}"
    );
}

#[test]
fn a_handle_refuses_a_message_that_is_too_long_with_its_header() {
    let (net, disk) = (SimNet::new(1, calm(1 << 16)), SimDisk::new());
    let config = wire::config(Durability::Process, vec![wire::acceptor("P0")]);
    let engine = wire::start(config, App::default(), 1, &net, &disk);
    let mut handle = engine.handle();
    let mut send = |len: usize| {
        let text = "x".repeat(len);
        handle.send(SessionId(0), b"B", |news| {
            news.field(tag::HEADLINE, text.as_bytes());
        })
    };
    assert_eq!(send(700), Ok(()));
    assert_eq!(send(960), Err(SendError::TooLong(1024)));
}
