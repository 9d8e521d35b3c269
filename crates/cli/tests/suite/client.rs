//! `fixwire client` as a user runs it, with the settings of examples/client.cfg.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::running::{Running, SOON, fixwire, free_port};

/// An OMS for the client, and the client's settings.
fn oms(folder: &Path, app: &str, extra: &str) -> Running {
    let port = free_port();
    let file = folder.join("oms.cfg");
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort={port}\nSocketAcceptAddress=127.0.0.1\n\
         FileStorePath={}\nJournalSegmentSize=2M\nNonStopSession=Y\n{extra}\n\
         [SESSION]\nBeginString=FIX.4.2\nSenderCompID=OMS\nTargetCompID=CLIENT\n",
        folder.join("oms-store").display()
    );
    fs::write(&file, text).unwrap();
    let running = Running::run(fixwire(), app, &file, port);
    running.listens();
    settings(folder, port);
    running
}

/// The example, for this port and with a store in this folder.
fn settings(folder: &Path, port: u16) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/client.cfg");
    let text = fs::read_to_string(example).unwrap();
    let store = folder.join("client-store");
    let port = format!("SocketConnectPort={port}\nJournalSegmentSize=2M");
    let text = text
        .replace("SocketConnectPort=5001", &port)
        .replace("=client-store", &format!("={}", store.display()));
    fs::write(folder.join("client.cfg"), text).unwrap();
}

fn client(folder: &Path) -> Command {
    let mut command = fixwire();
    command.arg("client").arg(folder.join("client.cfg"));
    command
}

/// The lines of a run that must exit with this code, standard error included.
fn lines(run: &Output, code: i32) -> (Vec<String>, String) {
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let out = String::from_utf8_lossy(&run.stdout).into_owned();
    assert_eq!(run.status.code(), Some(code), "{out}{said}");
    (out.lines().map(str::to_owned).collect(), said)
}

/// The line without its time.
fn untimed(line: &str) -> &str {
    line.split_once(' ').unwrap().1
}

#[test]
fn the_example_is_short_and_means_what_it_says() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/client.cfg");
    let text = fs::read_to_string(&example).unwrap();
    assert!(text.lines().count() < 60);
    let checked = fixwire().arg("check").arg(example).output().unwrap();
    let (out, said) = lines(&checked, 0);
    assert_eq!(out.last().unwrap(), "ok: 1 session, 0 warnings", "{said}");
}

#[test]
fn an_order_and_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let _oms = oms(folder.path(), "bench", "");
    let run = client(folder.path())
        .args(["-c", "new buy 100 VOD @ 12.50 tif day; wait all; stats"])
        .output()
        .unwrap();
    let (out, _) = lines(&run, 0);
    assert_eq!(untimed(&out[0]), "logged on");
    let report = untimed(&out[1]);
    assert!(report.starts_with("report 20"), "{report}");
    let rest =
        "-1 OrderID tkacct.151124.e.EFX.122.6 ExecType Fill OrdStatus New buy EFX cum 7 leaves 0";
    assert!(report.ends_with(rest), "{report}");
    assert_eq!(
        out[2],
        "stats all: sent 1, accepted 1, rejected 0, filled 0, unanswered 0"
    );
    assert!(
        out[3].starts_with("latency to the first answer, us: min "),
        "{}",
        out[3]
    );
    assert_eq!(untimed(&out[4]), "logged out");
    assert_eq!(out.len(), 5);
}

#[test]
fn rejects_of_every_kind_as_json() {
    let folder = tempfile::tempdir().unwrap();
    let _oms = oms(folder.path(), "echo", "");
    let script = folder.path().join("rejects.txt");
    let text = "# the OMS knows none of these\n\
                set U F 41=nobody|55=VOD|54=1|38=1\n\
                set S D 55=VOD|54=1|38=1|40=1|9999=x\n\
                set N B 148=hello|33=1|58=x\n\
                new buy 5 VOD 40=2\n\
                send U 1\n\
                send S 1\n\
                send N 1\n\
                wait 4 reports\n\
                wait all\n\
                stats\n";
    fs::write(&script, text).unwrap();
    let run = client(folder.path())
        .args(["--json", "--script"])
        .arg(&script)
        .output()
        .unwrap();
    let (out, _) = lines(&run, 0);
    let all: Vec<Value> = out
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |kind: &str| {
        let found: Vec<&Value> = all.iter().filter(|it| it["event"] == kind).collect();
        assert_eq!(found.len(), 1, "{kind}: {out:#?}");
        found[0].clone()
    };
    let report = of("report");
    assert_eq!(report["ord_status"], "Rejected", "{report}");
    assert!(report["text"].as_str().unwrap().contains("44"), "{report}");
    assert_eq!(
        report["cl_ord_id"].as_str().unwrap().len(),
        "20261124-1".len()
    );
    let cancel = of("cancel reject");
    assert_eq!(cancel["orig_cl_ord_id"], "nobody");
    let reject = of("reject");
    assert_eq!(
        (&reject["ref_tag"], &reject["reason"]),
        (&"9999".into(), &"0".into())
    );
    assert_eq!(of("business reject")["reason"], "3");
    let stats = of("stats");
    assert_eq!(
        (&stats["sent"], &stats["rejected"]),
        (&3.into(), &3.into()),
        "{stats}"
    );
    assert_eq!(stats["latency_ns"]["count"], 3);
}

/// The OMS validates each message, and would reject fields that its version lacks or a missing required field.
#[test]
fn orders_are_right_in_every_version() {
    let versions = [
        ("FIX.4.0", ""),
        ("FIX.4.1", ""),
        ("FIX.4.2", "ExecType New "),
        ("FIX.4.3", "ExecType New "),
        ("FIX.4.4", "ExecType New "),
        ("FIXT.1.1\nDefaultApplVerID=FIX.5.0SP2", "ExecType New "),
    ];
    for (version, exec_type) in versions {
        for dictionary in ["", "UseDataDictionary=N\n"] {
            let folder = tempfile::tempdir().unwrap();
            let oms = oms(folder.path(), "echo", "");
            drop(oms);
            let change = |name: &str, more: &str| {
                let file = folder.path().join(name);
                let text = fs::read_to_string(&file).unwrap();
                let changed = format!("BeginString={version}\n{more}");
                fs::write(
                    &file,
                    text.replace("BeginString=FIX.4.2\nS", &format!("{changed}S")),
                )
                .unwrap();
                file
            };
            let file = change("oms.cfg", "");
            let text = fs::read_to_string(change("client.cfg", dictionary)).unwrap();
            assert!(text.contains(version));
            let port = text.split("SocketConnectPort=").nth(1).unwrap();
            let port = port.lines().next().unwrap().parse().unwrap();
            fs::remove_dir_all(folder.path().join("oms-store")).unwrap();
            let oms = Running::run(fixwire(), "echo", &file, port);
            oms.listens();
            let commands = "new sell 9 VOD @ 12.50 tif day account A1; wait all; replace last qty 8; wait all; \
                            orders; cancel last; wait all; stats";
            let run = client(folder.path())
                .args(["-c", commands])
                .output()
                .unwrap();
            let (out, _) = lines(&run, 0);
            let found = |text: &str| out.iter().any(|line| line.contains(text));
            assert!(
                found(&format!(" {exec_type}OrdStatus New sell 9 VOD ")),
                "{version}: {out:#?}"
            );
            assert!(found("-2 sell 8 VOD @ 12.50 "), "{version}: {out:#?}");
            assert!(
                found(" OrdStatus Canceled sell 8 VOD "),
                "{version}: {out:#?}"
            );
            let stats = "stats all: sent 3, accepted 3, rejected 0, filled 0, unanswered 0";
            assert!(found(stats), "{version}: {out:#?}");
        }
    }
}

#[test]
fn a_thousand_orders_and_their_cancels() {
    let folder = tempfile::tempdir().unwrap();
    let _oms = oms(folder.path(), "echo", "ValidateUserDefinedFields=N");
    let script = folder.path().join("load.txt");
    let text = "stamps on\n\
                set O D 55=VOD|54=1|38=100|40=2|44=12.5|59=0\n\
                set C F\n\
                send O 1000 g3\n\
                wait all\n\
                orders\n\
                send C 1000/1/20 d3 of g3\n\
                wait all\n\
                stats g3\n\
                stats d3\n\
                orders\n";
    fs::write(&script, text).unwrap();
    let run = client(folder.path())
        .args(["--quiet", "--script"])
        .arg(&script)
        .output()
        .unwrap();
    let (out, _) = lines(&run, 0);
    let orders = out
        .iter()
        .filter(|line| line.contains(" New cum 0 leaves 100 OrderID "));
    assert_eq!(orders.count(), 1000);
    for group in ["g3", "d3"] {
        let counts =
            format!("stats {group}: sent 1000, accepted 1000, rejected 0, filled 0, unanswered 0");
        assert!(out.contains(&counts), "{:#?}", &out[1000..]);
    }
    assert!(out.contains(&"no orders".to_owned()));
}

/// A client whose commands come from a pipe.
struct Piped {
    child: Child,
    lines: Receiver<String>,
}

impl Piped {
    fn start(folder: &Path) -> Self {
        let mut command = client(folder);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        thread::spawn(move || {
            let mut lines = out.lines().map_while(Result::ok);
            lines.try_for_each(|line| tell.send(line))
        });
        Self { child, lines }
    }

    fn says(&mut self, command: &str) {
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(format!("{command}\n").as_bytes()).unwrap();
    }

    /// The next line with this text.
    fn hears(&self, text: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(SOON).expect(text);
            if line.contains(text) {
                return line;
            }
        }
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn after_kill_9_orders_are_known_and_their_ids_used_once() {
    let folder = tempfile::tempdir().unwrap();
    let _oms = oms(folder.path(), "echo", "");
    let mut first = Piped::start(folder.path());
    first.says("set O D 55=VOD|54=1|38=7|40=1");
    first.says("send O 2 g");
    first.hears("report g:2 ");
    first.says("new sell 3 BP @ 4");
    let report = first.hears("sell 3 BP @ 4");
    let id = report.split(' ').nth(2).unwrap().to_owned();
    // A report is shown before it is journalled.
    first.says("sleep 1");
    first.says("stats");
    first.hears("stats all: ");
    // SIGKILL.
    first.child.kill().unwrap();
    first.child.wait().unwrap();

    let commands = "orders; set O D 55=VOD|54=1|38=7|40=1; send O 1 g; new buy 1 BP; wait all; cancel all; wait all; orders";
    let run = client(folder.path())
        .args(["-c", commands])
        .output()
        .unwrap();
    let (out, _) = lines(&run, 0);
    let known: Vec<&str> = out
        .iter()
        .filter(|line| line.contains(" New cum 0 leaves ") && !line.contains("report"))
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(known, ["g:1", "g:2", &id]);
    let (day, number) = id.split_once('-').unwrap();
    assert_eq!(number, "1");
    let found = |text: &str| out.iter().any(|line| line.contains(text));
    assert!(
        found("report g:3 OrderID ") && found(&format!("report {day}-2 OrderID ")),
        "{out:#?}"
    );
    for order in [&id, "g:1", "g:2", "g:3"] {
        assert!(found(&format!(" of {order} OrderID ")), "{order}: {out:#?}");
    }
    assert!(found("no orders"), "{out:#?}");
}

fn has_checkpoint(folder: &Path) -> bool {
    let mut files = fs::read_dir(folder.join("client-store")).unwrap();
    files.any(|file| {
        file.unwrap()
            .path()
            .extension()
            .is_some_and(|it| it == "fwk")
    })
}

/// The journal continues in further segments, and a start reads the checkpoint that replaces the first ones.
#[test]
fn open_orders_are_known_from_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let _oms = oms(folder.path(), "echo", "");
    let template = "set O D 55=VOD|54=1|38=100|40=2|44=12.5; set C F";
    let first = format!("{template}; send O 6000 g; wait all; send C 5990 d of g; wait all");
    // The second run begins after a checkpoint.
    let second = format!("{template}; send O 1 g; send C 1 d of g; wait all");
    for (commands, next) in [(first, "g:5991"), (second, "g:5992")] {
        let run = client(folder.path())
            .args(["-q", "-c", &commands])
            .output()
            .unwrap();
        let (_, said) = lines(&run, 0);
        assert!(!said.contains("checkpoint"), "{said}");
        // A thread makes it, and checks twice a second.
        let deadline = Instant::now() + SOON;
        while !has_checkpoint(folder.path()) {
            assert!(Instant::now() < deadline, "no checkpoint is made");
            let run = client(folder.path()).args(["-c", "sleep 1"]).output();
            lines(&run.unwrap(), 0);
        }
        let run = client(folder.path())
            .args(["-c", "orders"])
            .output()
            .unwrap();
        let (out, said) = lines(&run, 0);
        assert!(!said.contains("checkpoint"), "{said}");
        let open = out
            .iter()
            .filter(|line| line.contains(" buy 100 VOD @ 12.5 New "));
        let open: Vec<&String> = open.collect();
        assert_eq!(open.len(), 10);
        assert!(
            open.iter()
                .any(|line| line.starts_with(&format!("{next} "))),
            "{open:?}"
        );
    }
}

#[test]
fn a_script_with_mistakes_sends_nothing_and_names_each() {
    let folder = tempfile::tempdir().unwrap();
    settings(folder.path(), free_port());
    let script = folder.path().join("wrong.txt");
    fs::write(&script, "new buy 1 VOD\n\nnew hold 1 VOD\nsend T\n").unwrap();
    let run = client(folder.path())
        .arg("--script")
        .arg(&script)
        .output()
        .unwrap();
    let (out, said) = lines(&run, 1);
    assert!(out.is_empty());
    let place = script.display();
    assert_eq!(
        said,
        format!(
            "error: {place}:3: side 'hold': expected buy or sell\n\
             error: {place}:4: send needs a count: send NAME N[/MS][/B] [GROUP] [of GROUP] [+]\n"
        )
    );
    assert!(!folder.path().join("client-store").exists());
    let run = client(folder.path())
        .args(["-c", "new buy 1 VOD; sleep x"])
        .output()
        .unwrap();
    let (_, said) = lines(&run, 1);
    assert_eq!(
        said,
        "error: -c, command 2: time 'x': expected seconds, such as 2 or 0.5, at most 86400\n"
    );
}

#[test]
fn a_command_that_fails_ends_the_script_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let _oms = oms(folder.path(), "log", "");
    let script = folder.path().join("script.txt");
    fs::write(
        &script,
        "new buy 1 VOD\n# nobody answers\nwait all\nnew buy 2 VOD\n",
    )
    .unwrap();
    let run = client(folder.path())
        .args(["--timeout", "1", "--script"])
        .arg(&script)
        .output()
        .unwrap();
    let (out, said) = lines(&run, 1);
    let fault = format!(
        "error: {}:3: 1 messages have no response after 1 s, the first is ",
        script.display()
    );
    assert!(said.contains(&fault), "{said}");
    assert!(
        out.iter().any(|line| line.ends_with("logged out")),
        "{out:#?}"
    );
    // The same from a pipe.
    let mut piped = client(folder.path());
    piped
        .args(["--timeout", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"orders\nfoo\norders\n")
        .unwrap();
    let (out, said) = lines(&child.wait_with_output().unwrap(), 1);
    assert!(
        said.contains("error: stdin:2: unknown command 'foo': 'help' shows the commands"),
        "{said}"
    );
    let orders = out
        .iter()
        .filter(|line| line.contains("buy 1 VOD no report yet"));
    assert_eq!(orders.count(), 1, "{out:#?}");
}

#[test]
fn without_an_oms_a_script_gives_up_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    settings(folder.path(), free_port());
    let run = client(folder.path())
        .args(["--timeout", "1", "-c", "new buy 1 VOD"])
        .output()
        .unwrap();
    let (_, said) = lines(&run, 1);
    assert!(
        said.contains("error: -c, command 1: the session is not logged on after 1 s"),
        "{said}"
    );
}

#[test]
fn a_signal_before_the_end_of_a_script_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let _oms = oms(folder.path(), "echo", "");
    let mut command = client(folder.path());
    command
        .args(["-c", "new buy 1 VOD; sleep 600"])
        .stdout(Stdio::null());
    let mut running = Running::spawn(command, 0);
    running.hears("logged on");
    running.signal("TERM");
    assert_eq!(running.ends().code(), Some(1));
    running.hears("error: the client was stopped before its last command");
}

#[test]
fn settings_that_are_no_client_s_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    settings(folder.path(), free_port());
    let file = folder.path().join("client.cfg");
    let text = fs::read_to_string(&file).unwrap();
    let two =
        format!("{text}\n[SESSION]\nBeginString=FIX.4.2\nSenderCompID=OTHER\nTargetCompID=OMS\n");
    let acceptor = text
        .replace("initiator", "acceptor")
        .replace("SocketConnect", "SocketAccept");
    let acceptor = acceptor.replace("SocketAcceptHost=127.0.0.1\n", "");
    for (text, why) in [
        (
            two,
            "the file has 2 sessions, and the client uses one: select it with --session",
        ),
        (
            acceptor,
            "FIX.4.2:CLIENT->OMS is an acceptor: the client needs ConnectionType=initiator",
        ),
    ] {
        fs::write(&file, text).unwrap();
        let run = client(folder.path())
            .args(["-c", "orders"])
            .output()
            .unwrap();
        let (_, said) = lines(&run, 1);
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn on_a_terminal_it_asks_for_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let _oms = oms(folder.path(), "echo", "");
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let terminal = ptsname(&controller, Vec::new())
        .unwrap()
        .into_string()
        .unwrap();
    let terminal = File::options()
        .read(true)
        .write(true)
        .open(terminal)
        .unwrap();
    let mut command = client(folder.path());
    command
        .stdin(OwnedFd::from(terminal))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut keys = File::from(controller);
    keys.write_all(b"order\nsell\n7\nVOD\n3.5\nioc\n\nnew buy x\nwait all\nquit\n")
        .unwrap();
    let mut out = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{out}{said}");
    // The session may log on between two questions.
    if let Some(end) = out.find(" logged on\n") {
        let begin = out[..end].rfind(['\n', ' ']).map_or(0, |at| at + 1);
        out.replace_range(begin..end + " logged on\n".len(), "");
    }
    for text in [
        "> Side (buy or sell): Quantity: ",
        "sell 7 VOD @ 3.5 cum 0 leaves 7",
    ] {
        assert!(out.contains(text), "{out}");
    }
    // A person's typing error ends nothing.
    assert!(
        said.contains("error: quantity 'x': expected a number above 0, such as 100"),
        "{said}"
    );
}
