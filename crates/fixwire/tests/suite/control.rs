//! The control socket of an engine embedded in a program, with arbitrary clients.

use crate::common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use fixwire::control::{
    Asked, Client, ClientError, Control, ControlQuestion, KEPT, LONGEST, MOST, Place,
};

use common::{PATIENCE, Peer, Running, acceptor_session, config};

const NAME: &str = "FIX.4.2:EXEC->BENCH";

fn start(folder: &Path) -> (Running, Control, Place) {
    let store = folder.join("store");
    let engine = Running::start(config(&store, acceptor_session("127.0.0.1:0")));
    let place = Place::in_store(&store);
    let control = Control::start(engine.handle.clone(), &place, "1.2.3", None).unwrap();
    (engine, control, place)
}

fn client(place: &Place) -> Client {
    Client::connect(&place.path, PATIENCE).unwrap()
}

fn of(what: ControlQuestion) -> Asked {
    Asked {
        what,
        session: Some(NAME.to_owned()),
        why: Some("a test".to_owned()),
        ..Asked::default()
    }
}

/// The response, with `error: ` before a refusal.
fn ask(client: &mut Client, asked: &Asked) -> String {
    match client.ask(asked) {
        Ok(answer) => answer.text.unwrap_or_default(),
        Err(ClientError::Refused(why)) => format!("error: {why}"),
        Err(other) => panic!("{other}"),
    }
}

fn state(client: &mut Client) -> String {
    let answer = client.ask(&Asked::default()).unwrap();
    let engine = answer.engine.unwrap();
    assert_eq!(engine.version, "1.2.3");
    assert_eq!(engine.pid, std::process::id());
    let sessions = answer.sessions.unwrap();
    assert_eq!(sessions[0].name, NAME);
    let one = &sessions[0];
    format!("{} {} {}", one.state, one.next_in, one.next_out)
}

#[test]
fn each_request_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, control, place) = start(folder.path());
    let mut client = client(&place);
    assert_eq!(state(&mut client), "disconnected 1 1");
    let named = |text: &str| format!("{NAME}: {text}");
    assert_eq!(
        ask(&mut client, &of(ControlQuestion::TestRequest)),
        format!("error: {NAME}: the session is not logged on")
    );
    let mut peer = Peer::log_on(engine.address(), 1);
    assert_eq!(state(&mut client), "logged on 2 2");
    assert_eq!(
        ask(&mut client, &of(ControlQuestion::TestRequest)),
        named("TestRequest sent")
    );
    assert!(peer.receive().unwrap().contains("|35=1|"));
    let send = Asked {
        msg_type: Some("B".to_owned()),
        fields: Some("148=Closing|33=0".to_owned()),
        ..of(ControlQuestion::Send)
    };
    assert_eq!(ask(&mut client, &send), named("message accepted"));
    assert!(peer.receive().unwrap().contains("|148=Closing|33=0|"));
    let numbers = Asked {
        next_in: Some(7),
        next_out: Some(9),
        ..of(ControlQuestion::SetNumbers)
    };
    assert!(ask(&mut client, &numbers).contains("--force"));
    let logout = Asked {
        text: Some("lunch".to_owned()),
        ..of(ControlQuestion::Logout)
    };
    assert_eq!(ask(&mut client, &logout), named("logs out"));
    assert!(peer.receive().unwrap().contains("|35=5|"));
    peer.send("5", "");
    assert_eq!(peer.receive(), None);
    assert_eq!(
        ask(&mut client, &numbers),
        named("sequence numbers set"),
        "its connection has ended"
    );
    assert_eq!(state(&mut client), "disconnected 7 9");
    assert_eq!(
        ask(&mut client, &of(ControlQuestion::Disable)),
        named("disabled")
    );
    assert_eq!(state(&mut client), "disabled by an operator 7 9");
    assert_eq!(
        ask(&mut client, &of(ControlQuestion::Enable)),
        named("enabled")
    );
    assert_eq!(
        ask(&mut client, &of(ControlQuestion::Reset)),
        named("sequence numbers reset")
    );
    assert_eq!(state(&mut client), "disconnected 1 1");
    let mut peer = Peer::log_on(engine.address(), 1);
    assert_eq!(
        ask(&mut client, &of(ControlQuestion::Disconnect)),
        named("disconnected")
    );
    assert_eq!(peer.receive(), None);
    assert!(ask(&mut client, &of(ControlQuestion::Logon)).contains("an acceptor"));
    let other = Asked {
        session: Some("A->B".to_owned()),
        ..of(ControlQuestion::Logon)
    };
    assert!(ask(&mut client, &other).starts_with("error: unknown session A->B"));
    let command = Asked {
        session: None,
        text: Some("dance".to_owned()),
        ..of(ControlQuestion::Command)
    };
    assert_eq!(
        ask(&mut client, &command),
        "error: the application does not support commands"
    );
    let reload = Asked {
        session: None,
        file: Some("rules.toml".to_owned()),
        ..of(ControlQuestion::Reload)
    };
    assert!(ask(&mut client, &reload).contains("no rules or settings to reload"));
    drop(control);
    engine.stop();
    assert!(!place.path.exists(), "it is removed with its engine");
}

/// Answers to these bytes, until the engine hangs up or has said so much.
fn raw(place: &Place, bytes: &[u8], answers: usize) -> Vec<String> {
    let stream = UnixStream::connect(&place.path).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // One that hangs up has said why.
    let _ = (&stream).write_all(bytes);
    BufReader::new(stream)
        .lines()
        .map_while(Result::ok)
        .take(answers)
        .collect()
}

#[test]
fn bytes_that_are_no_request_get_an_error_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _control, place) = start(folder.path());
    for (line, says) in [
        (
            "hello",
            r#"{"id":0,"error":"not a request: expected value at line 1 column 1"}"#,
        ),
        (
            "",
            r#"{"id":0,"error":"not a request: EOF while parsing a value"#,
        ),
        (
            r#"{"id":5,"do":"status","x":1}"#,
            r#"{"id":0,"error":"not a request: unknown field `x`"#,
        ),
        (
            r#"{"id":5,"do":"logon"}"#,
            r#"{"id":5,"error":"logon needs session"}"#,
        ),
        ("\u{feff}{}", r#"{"id":0,"error":"not a request"#),
    ] {
        let answers = raw(&place, format!("{line}\n").as_bytes(), 1);
        assert!(answers[0].starts_with(says), "{line}: {answers:?}");
    }
    let two = "{\"id\":1,\"do\":\"status\"}\nnonsense\n{\"id\":2,\"do\":\"status\"}\n";
    let answers = raw(&place, two.as_bytes(), 3);
    assert!(answers[0].starts_with(r#"{"id":1,"engine""#), "{answers:?}");
    assert!(answers[1].contains("error"), "{answers:?}");
    assert!(answers[2].starts_with(r#"{"id":2,"engine""#), "{answers:?}");
    let endless = raw(&place, &vec![b' '; LONGEST + 1], 9);
    assert_eq!(endless.len(), 1, "{endless:?}");
    assert!(endless[0].contains("at most 65536 bytes"), "{endless:?}");
    let deep = raw(&place, &[&[b'['; 60_000][..], b"\n"].concat(), 1);
    assert!(deep[0].contains("found an array"), "{deep:?}");
    let long = format!(
        "{{\"do\":\"logout\",\"session\":\"{NAME}\",\"why\":\"{}\"}}\n",
        "x".repeat(2000)
    );
    let answers = raw(&place, long.as_bytes(), 1);
    assert!(answers[0].contains("longer than 1024 bytes"), "{answers:?}");
    let note = format!(
        "{{\"do\":\"disable\",\"session\":\"{NAME}\",\"why\":\"two\\nlines\\u001b[2J\"}}\n"
    );
    raw(&place, note.as_bytes(), 1);
    let told = |event: &fixwire::Event| {
        matches!(event, fixwire::Event::Operated { .. })
            && event.to_string().ends_with(r": two\nlines\u{1b}[2J")
    };
    engine.wait_event(told);
    engine.stop();
}

#[test]
fn one_too_many_gets_the_place_of_who_waits_longest() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _control, place) = start(folder.path());
    let most = MOST + KEPT;
    let mut clients: Vec<Client> = (0..most).map(|_| client(&place)).collect();
    clients.iter_mut().for_each(|client| drop(state(client)));
    // All are of the engine's own user: the one that waits longest makes way.
    drop(state(&mut client(&place)));
    assert!(clients[0].ask(&Asked::default()).is_err());
    drop(state(&mut clients[1]));
    engine.stop();
}

#[test]
fn half_a_request_locks_nobody_out() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, _control, place) = start(folder.path());
    let half = |_| {
        let mut stream = UnixStream::connect(&place.path).unwrap();
        stream.write_all(b"{\"id\":1,").unwrap();
        stream
    };
    let halves: Vec<UnixStream> = (0..40).map(half).collect();
    let begun = Instant::now();
    drop(state(&mut client(&place)));
    assert!(begun.elapsed() < Duration::from_secs(2));
    // A half one has seconds.
    let mut last = halves.last().unwrap();
    last.set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut said = String::new();
    last.read_to_string(&mut said).unwrap();
    assert!(
        said.contains("a request must be complete within 5 s"),
        "{said}"
    );
    let told = |event: &fixwire::Event| {
        matches!(event, fixwire::Event::OperationRefused { .. })
            && event
                .to_string()
                .contains("a request must be complete within 5 s")
    };
    engine.wait_event(told);
    engine.stop();
}

#[test]
fn a_socket_that_was_left_behind_makes_way_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let (engine, control, place) = start(folder.path());
    let mode = fs::metadata(&place.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let again = Control::start(engine.handle.clone(), &place, "", None).unwrap_err();
    assert!(
        again.to_string().contains("another process is listening"),
        "{again}"
    );
    drop(control);
    drop(UnixListener::bind(&place.path).unwrap());
    assert!(place.path.exists());
    let deep = folder.path().join("d".repeat(120));
    fs::create_dir(&deep).unwrap();
    for path in [place.path.clone(), deep.join("socket")] {
        let place = Place { path, group: None };
        let control = Control::start(engine.handle.clone(), &place, "1.2.3", None).unwrap();
        assert_eq!(state(&mut client(&place)), "disconnected 1 1");
        drop(control);
    }
    fs::write(&place.path, "something else").unwrap();
    let other = Control::start(engine.handle.clone(), &place, "", None).unwrap_err();
    assert!(other.to_string().contains("is not a socket"), "{other}");
    assert_eq!(fs::read(&place.path).unwrap(), b"something else");
    let nobody = Client::connect(&folder.path().join("none"), PATIENCE).unwrap_err();
    assert!(matches!(nobody, ClientError::Nobody), "{nobody}");
    let group = Some("no such group".to_owned());
    let path = folder.path().join("group");
    let place = Place { path, group };
    let group = Control::start(engine.handle.clone(), &place, "", None).unwrap_err();
    assert!(
        group.to_string().contains("no group no such group"),
        "{group}"
    );
    engine.stop();
}
