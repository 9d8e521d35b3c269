//! `fixwire log view` in a pseudo-terminal: keys are typed, and the screens compared.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use fixwire_protocol::frame::check_sum;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::running::{SOON, fixwire};

const ROWS: u16 = 24;
const COLUMNS: u16 = 120;

/// A line of a log of BROKER: a message of CLIENT or BROKER.
fn line(msg_type: &str, number: u32, from: &str, body: &str) -> String {
    let to = if from == "CLIENT" { "BROKER" } else { "CLIENT" };
    let time = format!("20261120-10:{:02}:{:02}.000", number / 60, number % 60);
    let head = format!("35={msg_type}|34={number}|49={from}|52={time}|56={to}|");
    let body = format!("{head}{body}").replace('|', "\x01");
    let text = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    let sum = check_sum(text.as_bytes());
    format!("{time} : {text}10={sum:03}\x01\n")
}

const NAME: &str = "FIX.4.4-BROKER-CLIENT.messages.current.log";

/// 500 orders, each with its report; a replacement of the 41st is rejected. The path of the log.
fn log(folder: &Path) -> PathBuf {
    let mut text = String::new();
    for number in 1..=500 {
        let order = format!("11=A{number}|55=VOD|54=1|38={number}00|40=1|");
        text += &line("D", number, "CLIENT", &order);
        let report =
            format!("37=O{number}|17=E{number}|{order}150=0|39=0|453=1|448=DESK|447=D|452=1|");
        text += &line("8", number, "BROKER", &report);
        if number == 41 {
            text += &line("G", 900, "CLIENT", "11=B41|41=A41|55=VOD|54=1|38=1|40=1|");
            text += &line("3", 901, "BROKER", "45=900|58=no such price|");
        }
    }
    let path = folder.join(NAME);
    fs::write(&path, text).unwrap();
    path
}

/// The program in a terminal.
struct Terminal {
    child: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    screen: vt100::Parser,
}

impl Terminal {
    fn start(folder: &Path, args: &[&str]) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let name = ptsname(&controller, Vec::new()).unwrap();
        let name = name.into_string().unwrap();
        let terminal = File::options().read(true).write(true).open(name).unwrap();
        let size = Winsize {
            ws_row: ROWS,
            ws_col: COLUMNS,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&terminal, size).unwrap();
        let clone = || OwnedFd::from(terminal.try_clone().unwrap());
        let child = fixwire()
            .current_dir(folder)
            .env("TERM", "xterm-256color")
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .args(["log", "view"])
            .args(args)
            .stdin(clone())
            .stdout(clone())
            .stderr(clone())
            .spawn()
            .unwrap();
        let keys = File::from(controller);
        let mut output = keys.try_clone().unwrap();
        let (sender, shown) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(len) = output.read(&mut bytes) {
                if len == 0 || sender.send(bytes[..len].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            keys,
            shown,
            screen: vt100::Parser::new(ROWS.try_into().unwrap(), COLUMNS.try_into().unwrap(), 0),
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn rows(&self) -> Vec<String> {
        let rows = self.screen.screen().rows(0, COLUMNS);
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    /// Waits for a screen that shows all of this.
    #[track_caller]
    fn shows(&mut self, texts: &[&str]) -> Vec<String> {
        let until = Instant::now() + SOON;
        loop {
            let rows = self.rows();
            let has = |text: &&str| rows.iter().any(|row| row.contains(*text));
            if texts.iter().all(has) {
                return rows;
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.shown.recv_timeout(left.min(Duration::from_secs(1))) {
                Ok(bytes) => self.screen.process(&bytes),
                Err(_) => assert!(
                    Instant::now() < until,
                    "not shown: {texts:?}\n{}",
                    rows.join("\n")
                ),
            }
        }
    }

    fn ends(&mut self, code: i32) {
        let until = Instant::now() + SOON;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert_eq!(status.code(), Some(code));
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end:\n{}", self.rows().join("\n"));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The process has exited, unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The fields of the message below the list, from its head on.
fn below(rows: &[String]) -> Vec<&str> {
    let head = rows.iter().position(|row| row.ends_with("---")).unwrap();
    rows[head..].iter().map(String::as_str).collect()
}

#[test]
fn a_filter_is_typed_an_order_opened_a_report_jumped_to_and_the_file_grows() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path());
    let mut terminal = Terminal::start(folder.path(), &[NAME]);
    let rows = terminal.shows(&["1 of 1002 messages, all read", "NewOrderSingle (D)"]);
    assert_eq!(
        rows[0],
        "11-20 10:00:01.000000 in  BROKER->CLIENT   NewOrderSingle       11=A1 55=VOD 54=1 38=100 40=1"
    );
    let fields = below(&rows);
    assert!(
        fields[0].contains("current.log:1 2026-11-20T10:00:01.000000000Z"),
        "{fields:?}"
    );
    assert_eq!(fields[1], "NewOrderSingle (D)");
    assert!(fields[2].starts_with("  BeginString(8)") && fields[2].ends_with("FIX.4.4"));
    // While a filter is typed, the list is that of the filter so far.
    terminal.press("/11=A4");
    terminal.shows(&["1 of 2 messages", "/11=A4"]);
    terminal.press("1");
    let rows = terminal.shows(&["1 of 2 messages", "/11=A41", "38=4100"]);
    assert!(
        rows[1].contains("ExecutionReport") && rows[2].is_empty(),
        "{rows:?}"
    );
    terminal.press(" 35~");
    terminal.shows(&["/11=A41 35~", "35~"]);
    terminal.press("\x7f\x7f\x7f\x7f\r");
    terminal.shows(&["1 of 2 messages", "/11=A41"]);
    // From the order to its report and back.
    terminal.press("\t");
    let rows = terminal.shows(&["2 of 2 messages", "ExecutionReport (8)"]);
    assert!(below(&rows)[1] == "ExecutionReport (8)");
    terminal.press("\t");
    terminal.shows(&["1 of 2 messages", "NewOrderSingle (D)"]);
    // The whole message, with its group.
    terminal.press("j\r");
    let rows = terminal.shows(&["Esc back", "NoPartyIDs(453)"]);
    let group = rows
        .iter()
        .position(|row| row.contains("NoPartyIDs(453)"))
        .unwrap();
    assert_eq!(rows[group + 1].trim(), "[1]");
    assert!(rows[group + 2].starts_with("    PartyID(448)") && rows[group + 2].ends_with("DESK"));
    // An Esc before another key would be Alt.
    terminal.press("q");
    terminal.shows(&["Tab jump"]);
    // The history of the order, with its rejected replacement.
    terminal.press("o");
    let rows = terminal.shows(&["order A41", "45=900 58=no such price"]);
    let life: Vec<&String> = rows
        .iter()
        .filter(|row| row.starts_with("2026-11-20T"))
        .collect();
    assert_eq!(life.len(), 4, "{rows:?}");
    assert!(
        life[2].contains("CLIENT -> BROKER  OrderCancelReplaceRequest")
            && life[2].contains("11=B41 41=A41")
    );
    terminal.press("q");
    terminal.shows(&["Tab jump"]);
    // Without the filter, at the same message.
    terminal.press("\x1b");
    terminal.shows(&["81 of 1002 messages, all read", "11=A41 55=VOD"]);
    // The Reject's request.
    terminal.press("/35=3|G\r");
    terminal.shows(&["of 2 messages, all read"]);
    terminal.press("G");
    terminal.shows(&["2 of 2", "Reject (3)"]);
    terminal.press("\t");
    terminal.shows(&["1 of 2", "OrderCancelReplaceRequest (G)"]);
    terminal.press("\x1b");
    terminal.shows(&["of 1002 messages, all read"]);
    // It follows the file.
    terminal.press("f");
    terminal.shows(&["1002 of 1002 messages, follows"]);
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    let late = line("D", 1_000, "CLIENT", "11=LATE|55=VOD|");
    file.write_all(late.as_bytes()).unwrap();
    let rows = terminal.shows(&["1003 of 1003 messages, follows", "11=LATE"]);
    assert!(below(&rows)[1] == "NewOrderSingle (D)");
    terminal.press("?");
    terminal.shows(&["filter while typing", "Ctrl-C"]);
    terminal.press("qq");
    terminal.ends(0);
}

#[test]
fn packed_logs_and_what_is_not_read_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path());
    let mut text = fs::read(&path).unwrap();
    text.extend(b"20261120-10:00:07 : 8=FIX.4.4\x019=120\x0135=5\x0134=6");
    fs::write(&path, &text).unwrap();
    let packed = std::process::Command::new("gzip")
        .arg(&path)
        .status()
        .unwrap();
    assert!(packed.success());
    let packed = format!("{NAME}.gz");
    let mut terminal = Terminal::start(folder.path(), &[&packed, "--filter", "11=A7"]);
    let rows = terminal.shows(&[
        "1 of 2 messages, all read",
        "1 parts not read (e)",
        "11=A7 ",
    ]);
    assert!(
        below(&rows)[0].contains("log.gz:13 2026-11-20T10:00:07"),
        "{rows:?}"
    );
    terminal.press("e");
    terminal.shows(&["a message without its end"]);
    terminal.press("qq");
    terminal.shows(&["error: not read: ", "a message without its end"]);
    terminal.ends(1);
}

#[test]
fn it_wants_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = log(folder.path());
    for (path, why) in [
        (path.to_str().unwrap(), "view needs a terminal"),
        ("-", "is needed for the keys"),
    ] {
        let output = fixwire().args(["log", "view", path]).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(why), "{error}");
    }
}
