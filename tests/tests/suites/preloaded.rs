//! Does a preloaded network stack see every call of the data path?
//!
//! OpenOnload and XLIO intercept a program's socket and epoll calls in the C library. Our test library does the same
//! and counts them, while strace counts the calls that reach the kernel from the same process.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use fixwire_rigs::packages::workspace;
use fixwire_rigs::server::{binary, scratch};

type Counts = BTreeMap<String, u64>;

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The kernel's name for a call of a C library function.
fn of_the_kernel(call: &str) -> &str {
    match call {
        "recv" => "recvfrom",
        "send" => "sendto",
        // On processors that have no system call for the older name.
        "epoll_pwait" => "epoll_wait",
        "accept" => "accept4",
        call => call,
    }
}

fn add(counts: &mut Counts, call: &str, count: u64) {
    if count > 0 {
        *counts.entry(of_the_kernel(call).to_owned()).or_default() += count;
    }
}

/// The output of the library: a name and a count a line.
fn preloaded(file: &Path) -> Result<Counts, String> {
    let mut counts = Counts::new();
    for line in fs::read_to_string(file).map_err(said)?.lines() {
        let (call, count) = line.split_once(' ').ok_or("no count")?;
        add(&mut counts, call, count.parse().map_err(said)?);
    }
    Ok(counts)
}

/// The output of `strace -c` with the requested columns: a count and a name a line.
fn traced(file: &Path) -> Result<Counts, String> {
    let mut counts = Counts::new();
    for line in fs::read_to_string(file).map_err(said)?.lines() {
        let mut words = line.split_whitespace();
        if let (Some(count), Some(call)) = (words.next(), words.next())
            && let Ok(count) = count.parse()
            && call != "total"
        {
            add(&mut counts, call, count);
        }
    }
    Ok(counts)
}

/// Runs a bench under both and returns both counts.
fn count(args: &[&str], folder: &Path) -> Result<[Counts; 2], String> {
    let library = folder.join("calls.so");
    let compiled = Command::new("cc")
        .args([
            "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o",
        ])
        .arg(&library)
        .arg(workspace().join("tests/preload/calls.c"))
        .args(["-ldl"])
        .status();
    if !compiled.map_err(said)?.success() {
        return Err("the library was not compiled".to_owned());
    }
    let [calls, trace] = ["calls", "trace"].map(|name| folder.join(name));
    let run = Command::new("strace")
        .args(["-f", "-qq", "-c", "-U", "calls,name", "-o"])
        .arg(&trace)
        .args(["-e", "trace=%network,epoll_ctl,epoll_wait,epoll_pwait"])
        .arg("-E")
        .arg(format!("LD_PRELOAD={}", library.display()))
        .arg("-E")
        .arg(format!("FIXWIRE_CALLS={}", calls.display()))
        .arg(binary()?)
        .args(args)
        .args(["--journal".as_ref(), folder.as_os_str()])
        .output()
        .map_err(|error| format!("strace did not start (apt-get install strace): {error}"))?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned());
    }
    Ok([preloaded(&calls)?, traced(&trace)?])
}

/// The fewest calls of a valid run; on a busy machine waiting messages share calls.
const FEWEST: u64 = 100;

fn sees_every_call(bench: &str, orders: &str) -> Result<(), String> {
    let pace = ["--rate", "1000", "--no-ping-pong", "--runs", "1"];
    let count_of = ["--warm-up", "50", "--iterations", orders];
    let args = [&["bench", bench], &pace[..], &count_of].concat();
    let folder = scratch(&format!("preloaded-{bench}")).map_err(said)?;
    let folder = fs::canonicalize(folder).map_err(said)?;
    let [seen, made] = count(&args, &folder)?;
    for call in ["sendto", "recvfrom"] {
        let count = made.get(call).copied().unwrap_or_default();
        if count < FEWEST {
            return Err(format!("{count} calls of {call}: {made:?}"));
        }
    }
    match seen == made {
        true => Ok(()),
        false => Err(format!("preloaded: {seen:?}\nin the kernel: {made:?}")),
    }
}

#[test]
fn of_an_engine_and_the_floor() -> Result<(), String> {
    sees_every_call("echo", "500")
}

#[test]
fn of_a_gateway() -> Result<(), String> {
    sees_every_call("gateway-convert", "200")
}
