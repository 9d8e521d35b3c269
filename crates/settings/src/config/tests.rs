use super::*;
use fixwire_protocol::session::ApplVerId;
use std::sync::Arc;

use crate::Source;

fn config(text: &str) -> Result<EngineConfig, String> {
    let source = Source {
        path: "x.cfg".into(),
        text: text.into(),
    };
    let settings = Settings::read(&source).map_err(|error| error.to_string())?;
    settings.to_config().map_err(|error| error.to_string())
}

fn session(extra: &str) -> String {
    format!(
        "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\n\
         ConnectionType=acceptor\nSocketAcceptPort=5001\n{extra}\n"
    )
}

#[test]
fn an_acceptor_of_few_words_gets_the_usual_configuration() {
    let config = config(&session("")).unwrap();
    let usual = EngineConfig::default();
    assert_eq!(
        (config.durability, config.wait),
        (Durability::Process, Wait::Block)
    );
    assert_eq!(config.journal_dir, usual.journal_dir);
    assert_eq!(config.segment_bytes, usual.segment_bytes);
    assert_eq!(config.max_message, usual.max_message);
    assert_eq!(config.max_fields, usual.max_fields);
    assert_eq!(config.read_buffer, usual.read_buffer);
    assert_eq!(config.stop_timeout, usual.stop_timeout);
    let session = &config.sessions[0];
    assert_eq!(session.name, "FIX.4.2:A->B");
    let listen = "0.0.0.0:5001".parse().unwrap();
    assert_eq!(session.connection, Connection::Acceptor { listen });
    let (ours, usual) = (
        &session.session,
        Config::new(BeginString::Fix42, Role::Acceptor, b"A", b"B"),
    );
    assert!(
        ours.dictionary
            .as_ref()
            .is_some_and(|found| found.version() == "FIX.4.2")
    );
    // All other values equal those of a session configured in code.
    let mut ours = ours.clone();
    ours.dictionary = None;
    assert_eq!(format!("{ours:?}"), format!("{usual:?}"));
}

#[test]
fn fix_latest_needs_a_dictionary_of_ones_own() {
    let with = |extra: &str| {
        let text = session(&format!("DefaultApplVerID=10\n{extra}"));
        config(&text.replace("=FIX.4.2", "=FIXT.1.1"))
    };
    let version = |made: EngineConfig| made.sessions[0].session.default_appl_ver_id;
    let made = with("UseDataDictionary=N").map(version).unwrap();
    assert_eq!(made, ApplVerId::parse(b"10"));
    let error = with("").unwrap_err();
    assert!(
        error.contains("of FIX.Latest: set a dictionary file"),
        "{error}"
    );
}

#[test]
fn one_address_has_room_for_all_sessions_that_listen() {
    let many = |count: usize, more: &str| {
        let sessions = (0..count).map(|n| {
            format!(
                "[SESSION]\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B{n}\n\
             ConnectionType=acceptor\nSocketAcceptPort=5001\n"
            )
        });
        let sessions: String = sessions.collect();
        let limits = config(&format!("[DEFAULT]\n{more}\n{sessions}"))
            .unwrap()
            .limits;
        (limits.pending_per_address, limits.pending)
    };
    assert_eq!(many(1, ""), (10, 64));
    assert_eq!(many(47, ""), (47, 101));
    assert_eq!(many(47, "MaxPendingPerAddress=10"), (10, 64));
    assert_eq!(many(47, "MaxPendingConnections=20"), (47, 20));
}

#[test]
fn what_a_file_says_arrives() {
    let config = config(
        "[DEFAULT]\nDurability=disk\nWait=spin\nCore=1\nLockMemory=Y\nFileStorePath=j\nMaxMessageSize=32K\n\
         [SESSION]\nBeginString=FIXT.1.1\nDefaultApplVerID=FIX50\nSenderCompID=A\nTargetCompID=B\n\
         SenderSubID=S\nTargetLocationID=L\nConnectionType=initiator\nSocketConnectHost=h\n\
         SocketConnectPort=1\nSocketConnectHost1=i\nSocketConnectPort1=2\nReconnectInterval=2x1;5\n\
         HeartBtInt=7\nResetOnLogon=Y\nCheckLatency=N\nTimestampPrecision=6\n\
         ResendRequestChunkSize=5\nLogonTag=464=X\nPassword=p\nTestRequestDelayMultiplier=0.5\n\
         SocketSendBufferSize=64K\nBusyPoll=50\nX-Desk=Paris\nAllowUnknownMsgFields=Y\n",
    )
    .unwrap();
    assert_eq!(
        (config.durability, config.wait, config.core),
        (Durability::Disk, Wait::Spin, Some(1))
    );
    assert!(config.lock_memory);
    assert_eq!(
        (config.journal_dir, config.max_message),
        ("j".into(), 32 << 10)
    );
    let session = &config.sessions[0];
    assert_eq!(session.name, "FIXT.1.1:A/S->B/L");
    let second = Duration::from_secs(1);
    assert_eq!(
        session.connection,
        Connection::Initiator {
            hosts: vec![("h".into(), 1), ("i".into(), 2)],
            reconnect: vec![second, second, 5 * second],
            timeout: 10 * second,
        }
    );
    assert_eq!(session.send_buffer, Some(65536));
    assert_eq!(session.receive_buffer, None);
    assert_eq!(session.transport.busy_poll, Some(50));
    assert_eq!(session.custom["X-Desk"], "Paris");
    let session = &session.session;
    assert_eq!(
        (session.role, session.heart_bt_int_seconds),
        (Role::Initiator, 7)
    );
    assert_eq!(session.default_appl_ver_id, Some(ApplVerId::FIX50));
    assert_eq!(
        (session.max_latency, session.precision),
        (None, Precision::Micros)
    );
    assert_eq!(
        (session.resend_chunk, session.test_request_percent),
        (Some(5), 150)
    );
    assert_eq!(session.logon_fields, [(464, "X".into())]);
    assert_eq!(&*session.password, b"p");
    assert!(session.reset_on.logon && session.rules.allow_unknown_msg_fields);
    let dictionary = session.dictionary.as_ref().unwrap();
    assert!(dictionary.message(b"D").is_some() && dictionary.message(b"A").is_some());
}

#[test]
fn sessions_of_a_version_share_its_dictionary() {
    let config = config(&(session("") + &session("TargetSubID=X"))).unwrap();
    let [a, b] = &config.sessions[..] else {
        panic!()
    };
    let (a, b) = (
        a.session.dictionary.as_ref().unwrap(),
        b.session.dictionary.as_ref().unwrap(),
    );
    assert!(Arc::ptr_eq(a, b));
    let none = self::config(&session("UseDataDictionary=N")).unwrap();
    assert!(none.sessions[0].session.dictionary.is_none());
}

#[test]
fn a_dictionary_that_cannot_be_read_is_an_error_at_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.xml");
    std::fs::write(&path, "<fix major='4'").unwrap();
    let error = config(&session(&format!("DataDictionary={}", path.display()))).unwrap_err();
    assert!(
        error.starts_with("x.cfg:7: ") && error.contains("bad.xml"),
        "{error}"
    );
    let error = config(&session("DataDictionary=/nowhere.xml")).unwrap_err();
    assert!(
        error.starts_with("x.cfg:7: cannot read the dictionary /nowhere.xml"),
        "{error}"
    );
}

#[test]
fn values_that_make_no_engine_are_errors_at_their_line() {
    for extra in [
        "MaxMessageSize=16M\nJournalSegmentSize=32M",
        "MaxLogonSize=4M",
        "ReadBufferSize=8K",
        "HeartBeatTimeoutMultiplier=0.1",
    ] {
        let error = config(&session(extra)).unwrap_err();
        assert!(error.contains("must"), "{error}");
    }
}

#[test]
fn times_have_seconds_before_fix_4_2() {
    let old = session("TimestampPrecision=NANOS").replace("FIX.4.2", "FIX.4.1");
    assert_eq!(
        config(&old).unwrap().sessions[0].session.precision,
        Precision::Seconds
    );
    let seconds = config(&session("MillisecondsInTimeStamp=N")).unwrap();
    assert_eq!(seconds.sessions[0].session.precision, Precision::Seconds);
}
