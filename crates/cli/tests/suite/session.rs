//! `fixwire status` and `fixwire session`: commands of an operator and their output.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::gateway_run;
use crate::peer::{self, Peer};
use crate::running::{Running, SOON, fixwire};

const NAME: &str = "FIX.4.2:EXEC->BENCH";

/// A command about the engine of this folder: its exit code and its output.
fn run(folder: &Path, args: &[&str]) -> (i32, String) {
    let output = fixwire().args(args).current_dir(folder).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let code = output.status.code().unwrap();
    (code, String::from_utf8(said).unwrap())
}

#[track_caller]
fn says(folder: &Path, args: &[&str], words: &str) {
    let (code, said) = run(folder, args);
    assert!(
        code == 0 && said.contains(words),
        "{args:?}: {code}: {said}"
    );
}

#[track_caller]
fn refuses(folder: &Path, args: &[&str], words: &str) {
    let (code, said) = run(folder, args);
    assert!(
        code == 1 && said.contains("error: ") && said.contains(words),
        "{args:?}: {code}: {said}"
    );
}

#[test]
fn a_running_engine_is_shown_and_told_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let running = Running::start(folder, "echo", "");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    for engine in ["acceptor.cfg", "store", "store/control"] {
        let (code, said) = run(folder, &["status", engine]);
        assert_eq!(code, 0, "{said}");
        let lines: Vec<&str> = said.lines().collect();
        assert!(lines[0].ends_with("; 1 of 1 sessions logged on"), "{said}");
        let process = format!("process {},", running.child.id());
        assert!(lines[0].contains(&process), "{said}");
        let words = |line: &str| {
            line.split("  ")
                .filter(|it| !it.is_empty())
                .map(str::trim)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            words(lines[2]),
            [NAME, "logged on", "2", "2", "1", "1", "0"],
            "{said}"
        );
    }
    let (code, said) = run(folder, &["session", "status", "--json", "store", NAME]);
    let json: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(code, 0);
    assert_eq!(json["running"], true);
    assert_eq!(json["sessions"][0]["state"], "logged on");
    let session = |verb: &'static str| ["session", verb, "acceptor.cfg", NAME];
    says(folder, &session("test-request"), "TestRequest sent");
    let test = peer.expect("1");
    assert!(test.contains("|112=TEST|"), "{test}");
    let order = peer::order("A1");
    let send = [&session("send")[..], &["B", "148=At noon|33=0"]].concat();
    says(folder, &send, "message accepted");
    assert!(peer.expect("B").contains("|148=At noon|33=0|"));
    refuses(
        folder,
        &[&session("send")[..], &["D", "11"]].concat(),
        "`11` is not a field: write it as 55=MSFT",
    );
    let set = [&session("set-numbers")[..], &["--out", "1"]].concat();
    refuses(folder, &set, "--force");
    refuses(
        folder,
        &["session", "logout", "acceptor.cfg", "FIX.4.2:EXEC->NOBODY"],
        &format!("unknown session FIX.4.2:EXEC->NOBODY; known sessions: {NAME}"),
    );
    refuses(folder, &session("logon"), "an acceptor");
    peer.send("D", &order);
    peer.expect("8");
    let disable = [&session("disable")[..], &["--why", "the venue's wish"]].concat();
    let said = thread::scope(|scope| {
        let said = scope.spawn(|| run(folder, &disable));
        peer.expect("5");
        peer.send("5", "58=as you wish");
        peer.closed();
        said.join().unwrap()
    });
    let expected = format!("{NAME}: disabled\n{NAME}: disabled by an operator\n");
    assert_eq!(said, (0, expected));
    running.hears("operator: disabled by ");
    let status = ["session", "status", "store", NAME];
    says(folder, &status, "\nlast Logout of the peer: as you wish\n");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.next_out = 4;
    peer.send("A", "98=0|108=30");
    assert!(
        peer.expect("5")
            .contains("|58=Session disabled by operator|")
    );
    says(folder, &session("enable"), "enabled");
    let set = [&session("set-numbers")[..], &["--in", "1", "--out", "1"]].concat();
    says(folder, &set, "sequence numbers set");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.log_on(30);
    let (_, dump) = run(folder, &["journal", "dump", "store"]);
    assert!(dump.contains(": the venue's wish\n"), "{dump}");
    assert!(
        dump.contains("sequence numbers set to 1 in, 1 out"),
        "{dump}"
    );
}

#[test]
fn of_a_stopped_engine_the_journal_answers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    {
        let running = Running::start(folder, "echo", "");
        let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
        peer.log_on(30);
        peer.send("D", &peer::order("A1"));
        peer.expect("8");
    }
    // The engine was killed.
    for engine in ["acceptor.cfg", "store"] {
        let (code, said) = run(folder, &["session", "list", engine]);
        let lines: Vec<&str> = said.lines().collect();
        assert!(code == 3 && lines[0].starts_with("not running; "), "{said}");
        assert!(
            lines[2].starts_with(&format!("{NAME}  stopped, last record ")),
            "{said}"
        );
        let numbers: Vec<&str> = lines[2].split_whitespace().rev().take(2).collect();
        assert_eq!(numbers, ["3", "3"], "{said}");
    }
    let logout = ["session", "logout", "store", NAME];
    refuses(folder, &logout, "only list, status and set-numbers work");
    let set = |args: &[&'static str]| [&["session", "set-numbers", "store", NAME], args].concat();
    refuses(folder, &set(&[]), "--in N, --out N or both");
    refuses(folder, &set(&["--in", "0"]), "0 is not a valid MsgSeqNum");
    refuses(
        folder,
        &["session", "set-numbers", "store", "A->B", "--in", "5"],
        &format!("no session A->B in this journal; it has: {NAME}"),
    );
    says(
        folder,
        &set(&["--in", "7", "--out", "2", "--why", "agreed"]),
        "sequence numbers set to 7 in, 2 out (were 3, 3) by ",
    );
    let running = Running::start(folder, "echo", "");
    let mut peer = Peer::connect(running.port, "BENCH", "EXEC");
    peer.next_out = 7;
    peer.send("A", "98=0|108=30");
    assert!(peer.expect("A").contains("|34=2|"));
    peer.send("2", "7=1|16=0");
    let fill = peer.expect("4");
    assert!(fill.contains("|34=1|") && fill.contains("|36=3|"), "{fill}");
}

#[test]
fn whoever_cannot_be_asked_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    refuses(folder, &["status", "none.cfg"], "none.cfg: No such file");
    fs::create_dir(folder.join("empty")).unwrap();
    refuses(folder, &["status", "empty"], "empty contains no journal");
    let socket = folder.join("socket");
    let memory = format!("Durability=memory\nControlPath={}", socket.display());
    let running = Running::start(folder, "echo", &memory);
    says(
        folder,
        &["status", "acceptor.cfg"],
        "0 of 1 sessions logged on",
    );
    says(folder, &["status", "socket"], "0 of 1 sessions logged on");
    let mode = fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(running);
    let (code, said) = run(folder, &["status", "acceptor.cfg"]);
    let expected = "not running: no response from an engine at ";
    assert!(code == 3 && said.starts_with(expected), "{code}: {said}");
    let text = fs::read_to_string(folder.join("acceptor.cfg")).unwrap();
    let text = text.replace(&format!("ControlPath={}", socket.display()), "");
    fs::write(folder.join("acceptor.cfg"), text).unwrap();
    refuses(
        folder,
        &["status", "acceptor.cfg"],
        "needs ControlPath to be controlled",
    );
}

#[test]
fn a_socket_that_the_settings_name_is_found_by_the_store_too() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let socket = folder.join("socket");
    let group = Command::new("id").arg("-gn").output().unwrap();
    let group = String::from_utf8(group.stdout).unwrap();
    let group = format!("ControlGroup={}", group.trim());
    let extra = format!("ControlPath={}\n{group}", socket.display());
    let running = Running::start(folder, "echo", &extra);
    let mode = fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
    for engine in ["acceptor.cfg", "store", "socket"] {
        says(folder, &["status", engine], "0 of 1 sessions logged on");
    }
    drop(running);
    let text = fs::read_to_string(folder.join("acceptor.cfg")).unwrap();
    let text = text.replace(&group, "ControlGroup=no-such-group");
    fs::write(folder.join("acceptor.cfg"), &text).unwrap();
    refuses(folder, &["run", "acceptor.cfg"], "no group no-such-group");
    let text = text.replace("ControlPath=", "# ");
    fs::write(folder.join("acceptor.cfg"), text).unwrap();
    let (code, said) = run(folder, &["check", "acceptor.cfg"]);
    assert!(
        code == 1 && said.contains("ControlGroup requires ControlPath"),
        "{said}"
    );
}

/// The settings of a session that connects to this listener.
fn initiator(listener: &TcpListener) -> String {
    let port = listener.local_addr().unwrap().port();
    format!(
        "ConnectionType = 'initiator'\nSocketConnectHost = '127.0.0.1'\nSocketConnectPort = {port}\n\
         ReconnectInterval = 600\nHeartBtInt = 30\n"
    )
}

fn accept(listener: &TcpListener) -> TcpStream {
    let until = Instant::now() + SOON;
    listener.set_nonblocking(true).unwrap();
    loop {
        if let Ok((socket, _)) = listener.accept() {
            socket.set_nonblocking(false).unwrap();
            return socket;
        }
        assert!(Instant::now() < until, "nobody connects");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Logs a session on that connects to us; its Logon has this MsgSeqNum.
fn log_on(listener: &TcpListener, seq: u64, next_out: u64) -> Peer {
    let mut venue = Peer::on(accept(listener), "VENUE", "GATE");
    let logon = venue.expect("A");
    assert!(logon.contains(&format!("|34={seq}|")), "{logon}");
    venue.next_out = next_out;
    venue.send("A", "98=0|108=30");
    venue
}

/// Runs a command that does not finish before `meanwhile` does.
#[track_caller]
fn says_after<T>(folder: &Path, args: &[&str], words: &str, meanwhile: impl FnOnce() -> T) -> T {
    let (said, made) = thread::scope(|scope| {
        let said = scope.spawn(|| run(folder, args));
        let made = meanwhile();
        (said.join().unwrap(), made)
    });
    assert!(said.0 == 0 && said.1.contains(words), "{args:?}: {said:?}");
    made
}

/// Tries every command on a session of FIX.4.2:GATE->VENUE that connects to this listener, with this name.
fn every_command(folder: &Path, called: &str, running: &Running, listener: &TcpListener) {
    const NAME: &str = "FIX.4.2:GATE->VENUE";
    let session = |verb: &'static str| vec!["session", verb, "gateway.toml", called];
    let with = |verb, more: &[&'static str]| [&session(verb)[..], more].concat();
    let answers_logout = |venue: &mut Peer| {
        let logout = venue.expect("5");
        venue.send("5", "");
        venue.closed();
        logout
    };
    let mut venue = log_on(listener, 1, 1);
    running.hears(" logged on");
    for list in [&["session", "list", "gateway.toml"][..], &session("status")] {
        let (code, said) = run(folder, list);
        let line = said.lines().find_map(|line| line.strip_prefix(NAME));
        let state = line.map(str::trim_start).unwrap_or_default();
        assert!(code == 0 && state.starts_with("logged on "), "{said}");
    }
    says(folder, &session("test-request"), "TestRequest sent");
    assert!(venue.expect("1").contains("|112=TEST|"));
    venue.send("0", "112=TEST");
    let send = with("send", &["B", "148=x|33=0"]);
    if called == "VENUE" {
        let why = "refused: the session is a target of the gateway's rules, and only the \
            application writes";
        refuses(folder, &send, why);
        running.hears("refused: message 35=B|148=x|33=0 by ");
    } else {
        says(folder, &send, "message accepted");
        assert!(venue.expect("B").contains("|34=3|"));
    }
    says(folder, &session("reset"), "sequence numbers reset");
    let reset = venue.expect("A");
    assert!(
        reset.contains("|34=1|") && reset.contains("|141=Y|"),
        "{reset}"
    );
    venue.next_out = 1;
    venue.send("A", "98=0|108=30|141=Y");
    says(folder, &session("disconnect"), "disconnected");
    venue.closed();
    let done = format!("{NAME}: logged on\n");
    let connects = || log_on(listener, 2, 2);
    let mut venue = says_after(folder, &session("logon"), &done, connects);
    let logout = with(
        "logout",
        &["--text", "See you tomorrow", "--why", "closing"],
    );
    let out = format!("{NAME}: disconnected\n");
    let said = says_after(folder, &logout, &out, || answers_logout(&mut venue));
    assert!(said.contains("|58=See you tomorrow|"), "{said}");
    let connects = || log_on(listener, 4, 4);
    let mut venue = says_after(folder, &session("logon"), &done, connects);
    let disabled = format!("{NAME}: disabled by an operator\n");
    says_after(folder, &session("disable"), &disabled, || {
        answers_logout(&mut venue)
    });
    refuses(folder, &session("logon"), "enable it first");
    let connects = || log_on(listener, 6, 6);
    let mut venue = says_after(folder, &session("enable"), &done, connects);
    refuses(folder, &with("set-numbers", &["--out", "20"]), "--force");
    let set = with("set-numbers", &["--out", "20", "--in", "30", "--force"]);
    says_after(folder, &set, "sequence numbers set", || {
        answers_logout(&mut venue)
    });
    // It logs on again by itself.
    log_on(listener, 20, 30);
    running.hears("operator: sequence numbers set to 30 in, 20 out (were 8, 8) by ");
    let (_, dump) = run(folder, &["journal", "dump", "store"]);
    assert!(
        dump.contains(&format!("{NAME} note    logout by ")),
        "{dump}"
    );
    assert!(dump.contains(": closing\n"), "{dump}");
    let nobody = ["session", "reset", "gateway.toml", "VENEU"];
    refuses(folder, &nobody, "unknown session VENEU; known sessions: ");
}

#[test]
fn an_engine_does_what_every_command_says() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let store = folder.join("store");
    let text = format!(
        "[[session]]\nSessionName = 'VENUE'\nBeginString = 'FIX.4.2'\nSenderCompID = 'GATE'\n\
         TargetCompID = 'VENUE'\nFileStorePath = '{}'\nNonStopSession = true\n{}",
        store.display(),
        initiator(&listener)
    );
    let file = folder.join("gateway.toml");
    fs::write(&file, text).unwrap();
    let running = Running::run(fixwire(), "echo", &file, 0);
    every_command(folder, "FIX.4.2:GATE->VENUE", &running, &listener);
}

/// A logon or logout that did not happen is an error.
#[test]
fn a_logon_or_logout_that_comes_to_nothing_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let store = folder.join("store");
    let text = format!(
        "[[session]]\nSessionName = 'VENUE'\nBeginString = 'FIX.4.2'\nSenderCompID = 'GATE'\n\
         TargetCompID = 'VENUE'\nFileStorePath = '{}'\nNonStopSession = true\n{}",
        store.display(),
        initiator(&listener)
    );
    drop(listener);
    let file = folder.join("gateway.toml");
    fs::write(&file, text).unwrap();
    let running = Running::run(fixwire(), "echo", &file, 0);
    running.hears("gateway.toml: echo");
    let session = |verb: &'static str| ["session", verb, "gateway.toml", "VENUE"];
    let name = "FIX.4.2:GATE->VENUE";
    // Nothing listens there.
    refuses(folder, &session("logon"), &format!("{name} did not log on"));
    // It is enabled nevertheless.
    says(folder, &session("enable"), "enabled");
    let listener = TcpListener::bind(at).unwrap();
    let done = format!("{name}: logged on\n");
    let mut venue = says_after(folder, &session("logon"), &done, || log_on(&listener, 1, 1));
    let hasty = [&session("logout")[..], &["--timeout", "1"]].concat();
    refuses(folder, &hasty, &format!("{name} did not log out in time"));
    venue.expect("5");
    drop(running);
}

#[test]
fn a_gateway_does_what_every_command_says() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let venue = initiator(&listener);
    let running = gateway_run::start(folder, &venue, gateway_run::RULES);
    // The name in its rules.
    every_command(folder, "VENUE", &running, &listener);
    let status = ["status", "gateway.toml"];
    says(folder, &status, "received 0, sent 0, copied 0");
    says(folder, &status, "rule orders: 0");
    drop(running);
    // The engine was killed.
    let set = [
        "session",
        "set-numbers",
        "gateway.toml",
        "VENUE",
        "--in",
        "40",
    ];
    says(
        folder,
        &set,
        "FIX.4.2:GATE->VENUE: sequence numbers set to 40 in, ",
    );
    let status = ["session", "status", "gateway.toml", "VENUE"];
    let (code, said) = run(folder, &status);
    let is_shown = said.contains("FIX.4.2:GATE->VENUE  stopped") && said.contains("  VENUE\n");
    assert!(code == 3 && is_shown, "{code}: {said}");
    let store = ["session", "status", "store", "VENUE"];
    refuses(folder, &store, "no session VENUE in this journal; it has: ");
}
