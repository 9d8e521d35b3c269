//! Does a floor stand beside an engine on another host?
//!
//! The hosts are two network namespaces with a pair of interfaces between them. This takes root, or `sudo` without a
//! password.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fixwire_rigs::server::{binary, scratch};
use serde_json::Value;

/// The most time until a process has started.
const SOON: Duration = Duration::from_secs(30);

/// A command as root.
fn root(program: &str) -> Command {
    match rustix::process::geteuid().is_root() {
        true => Command::new(program),
        false => {
            let mut command = Command::new("sudo");
            command.args(["-n", program]);
            command
        }
    }
}

fn ip(line: &str) {
    let output = root("ip").args(line.split(' ')).output().expect("ip runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {line}: {said}");
}

/// Two hosts, removed when this is dropped.
struct Hosts([String; 2]);

impl Hosts {
    fn new() -> Self {
        let number = std::process::id();
        let names = ["near", "far"].map(|end| format!("fixwire-{end}-{number}"));
        let links = ["n", "f"].map(|end| format!("fw{end}{number}"));
        for name in &names {
            ip(&format!("netns add {name}"));
        }
        let hosts = Self(names);
        ip(&format!(
            "link add {} type veth peer name {}",
            links[0], links[1]
        ));
        for (at, (name, link)) in hosts.0.iter().zip(&links).enumerate() {
            ip(&format!("link set {link} netns {name}"));
            ip(&format!(
                "-n {name} address add 10.77.0.{}/24 dev {link}",
                at + 1
            ));
            ip(&format!("-n {name} link set {link} up"));
            ip(&format!("-n {name} link set lo up"));
        }
        hosts
    }

    /// fixwire on one of them.
    fn fixwire(&self, host: usize, folder: &Path) -> Command {
        let mut command = root("ip");
        command
            .args(["netns", "exec", &self.0[host]])
            .arg(binary().expect("the binary"))
            .current_dir(folder);
        command
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.0 {
            // A host that does not exist was never made.
            let _ = root("ip").args(["netns", "del", name]).output();
        }
    }
}

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs it until it succeeds: its peer may not be there yet.
fn soon(mut command: impl FnMut() -> Command) -> String {
    let start = Instant::now();
    loop {
        let output = command().output().expect("it runs");
        if output.status.success() {
            return String::from_utf8(output.stdout).expect("text");
        }
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(start.elapsed() < SOON, "{said}");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn the_floor_and_an_engine_of_another_host_are_measured_by_turns() {
    let folder = scratch("two-hosts").expect("a folder");
    let folder = fs::canonicalize(folder).expect("a folder");
    let hosts = Hosts::new();
    let settings = "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptAddress=10.77.0.2\nSocketAcceptPort=9880\n\
                    FileStorePath=store\nResetOnLogon=Y\n[SESSION]\nBeginString=FIX.4.2\nSenderCompID=EXEC\n\
                    TargetCompID=BENCH\n";
    fs::write(folder.join("acceptor.cfg"), settings).expect("settings");
    let serve = [
        "bench",
        "tcp",
        "--serve",
        "10.77.0.2:9900",
        "--cores",
        "none",
    ];
    let run = ["run", "--app", "bench", "acceptor.cfg"];
    let start = |args: &[&str]| {
        let log = fs::File::create(folder.join(format!("{}.log", args[0]))).expect("a log");
        let mut command = hosts.fixwire(1, &folder);
        command
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        Running(command.spawn().expect("it starts"))
    };
    let _floor = start(&serve);
    let _engine = start(&run);
    let load = [
        "--iterations",
        "200",
        "--warm-up",
        "50",
        "--runs",
        "2",
        "--rate",
        "1000",
        "--cores",
        "none",
    ];
    let near = |args: &[&str]| {
        let mut command = hosts.fixwire(0, &folder);
        command.arg("bench").args(args).args(load);
        command
    };
    let screen = soon(|| near(&["tcp", "--to", "10.77.0.2:9900"]));
    assert!(screen.contains("800 orders, none"), "{screen}");

    let peer = [
        "echo",
        "--peer",
        "10.77.0.2:9880",
        "--floor",
        "10.77.0.2:9900",
        "--json",
        "-",
    ];
    let report: Value = serde_json::from_str(&soon(|| near(&peer))).expect("JSON");
    let rows = report["rows"].as_array().expect("rows");
    let names: Vec<_> = rows
        .iter()
        .map(|row| row["subject"].as_str().expect("a name"))
        .collect();
    let peer = "peer 10.77.0.2:9880";
    assert_eq!(names, ["tcp floor", peer, "tcp floor", peer]);
    for run in rows
        .iter()
        .flat_map(|row| row["runs"].as_array().expect("runs"))
    {
        assert_eq!(
            (&run["sent"], &run["faults"]["lost"]),
            (&200.into(), &0.into()),
            "{run}"
        );
        assert_eq!(run["response"]["count"], 200, "{run}");
    }
}
