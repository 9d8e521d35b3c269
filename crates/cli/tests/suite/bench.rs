//! What a person sees of `fixwire bench`: one screen, and in a pipe only what was found.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::running::fixwire;

const LOAD: [&str; 8] = [
    "--iterations",
    "300",
    "--warm-up",
    "100",
    "--runs",
    "2",
    "--rate",
    "2000",
];

/// Each bench, made short.
fn benches() -> Vec<Vec<&'static str>> {
    let of = |name, flags: &[&'static str]| [&[name], flags].concat();
    vec![
        of("tcp", &LOAD),
        of("echo", &LOAD),
        of("gateway-echo", &LOAD),
        of("gateway-convert", &LOAD),
        of("parse-log", &LOAD),
        of(
            "oms",
            &["--batch", "1,10,100,200,300,400", "--saturation", "1000"],
        ),
        of("transactions", &["--transactions", "3000"]),
        of(
            "restart",
            &["--orders", "3000", "--open", "500", "--runs", "2"],
        ),
        of(
            "sessions",
            &[
                "--sessions",
                "20",
                "--deaf",
                "2",
                "--seconds",
                "1",
                "--pairs",
                "1",
            ],
        ),
    ]
}

/// Runs it on a terminal of 80 x 24: what was written there.
fn on_terminal(args: &[&str]) -> String {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let size = Winsize {
        ws_row: 24,
        ws_col: 80,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&controller, size).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let open = || {
        File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap()
    };
    let mut child = fixwire()
        .arg("bench")
        .args(args)
        .stdout(OwnedFd::from(open()))
        .stderr(OwnedFd::from(open()))
        .spawn()
        .unwrap();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // The other side is gone: an error, not an end.
        let _ = File::from(controller).read_to_end(&mut bytes);
        String::from_utf8(bytes).unwrap()
    });
    child.wait().unwrap();
    reader.join().unwrap()
}

#[test]
fn every_bench_fits_a_terminal_of_80_by_24() {
    for args in benches() {
        let written = on_terminal(&args);
        let lines: Vec<&str> = written.lines().collect();
        assert!(
            (5..24).contains(&lines.len()),
            "{args:?}: {} lines\n{written}",
            lines.len()
        );
        for line in lines {
            // The bar is drawn over and over, and is gone in the end.
            for shown in line.split("\r\u{1b}[K") {
                assert!(shown.trim_end().chars().count() <= 80, "{args:?}: {shown}");
            }
            let left = line.rsplit("\r\u{1b}[K").next().unwrap();
            assert!(
                !left.contains('\u{1b}') && !left.contains("[#"),
                "{args:?}: {left}"
            );
        }
    }
}

#[test]
fn a_terminal_has_a_bar_and_a_pipe_has_none() {
    let args = [&["tcp"], &LOAD[..]].concat();
    let written = on_terminal(&args);
    assert!(written.contains("[####"), "{written}");
    assert!(written.contains("s left"), "{written}");
    let output = fixwire().arg("bench").args(&args).output().unwrap();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success() && !output.stdout.contains(&0x1b));
}

#[test]
fn orders_are_spread_as_those_of_a_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("messages.log");
    let order = |time: &str| format!("8=FIX.4.2|9=9|35=D|34=2|52=20260821-13:30:{time}|10=000|\n");
    std::fs::write(&log, order("00.000") + &order("00.001") + &order("00.010")).unwrap();
    let tcp = |log: &str| {
        let mut command = fixwire();
        command.args(["bench", "tcp", "--details", "--arrivals-from", log]);
        command.args(LOAD).output().unwrap()
    };
    let output = tcp(log.to_str().unwrap());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    let said = format!("spread as in {} (200.0 orders/s there)", log.display());
    assert!(text.contains(&said), "{text}");

    std::fs::write(&log, "nothing\n").unwrap();
    let output = tcp(log.to_str().unwrap());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(
        text.contains("--arrivals-from") && text.contains("no two orders"),
        "{text}"
    );
}
