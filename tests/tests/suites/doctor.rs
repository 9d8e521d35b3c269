//! Does `fixwire doctor` leave the machine as it is?

use std::fs;
use std::path::Path;
use std::process::Command;

use fixwire_rigs::server::{binary, scratch};

/// Flags of open(2) that allow writing or creating a file.
const WRITING: [&str; 5] = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"];
/// Calls that change a file system without opening a file.
const CHANGING: &str = "creat,mkdir,mkdirat,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,\
                        symlinkat,chmod,fchmodat,chown,fchownat,truncate,execve";

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The files that a run under strace opened, one call a line, and its output.
fn traced(args: &[&str], trace: &Path) -> Result<(String, String), String> {
    let run = Command::new("strace")
        .args(["-f", "-qq", "-o"])
        .arg(trace)
        .arg("-e")
        .arg(format!("trace=open,openat,openat2,{CHANGING}"))
        .arg(binary()?)
        .arg("doctor")
        .args(args)
        .output()
        .map_err(|error| format!("strace did not start (apt-get install strace): {error}"))?;
    let stderr = String::from_utf8_lossy(&run.stderr);
    // Exit code 0, or the one for the machine's findings.
    match run.status.code() {
        Some(0 | 10..=15) if stderr.is_empty() => {}
        code => return Err(format!("exit code {code:?}: {stderr}")),
    }
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    Ok((fs::read_to_string(trace).map_err(said)?, printed))
}

fn changes_nothing(name: &str, args: &[&str]) -> Result<String, String> {
    let folder = scratch(&format!("doctor-{name}")).map_err(said)?;
    let (calls, printed) = traced(args, &folder.join("trace"))?;
    let opens = |line: &&str| line.contains("open(") || line.contains("openat");
    let (opened, others): (Vec<&str>, Vec<&str>) = calls.lines().partition(opens);
    if opened.iter().filter(|line| line.contains("/proc/")).count() < 10 {
        return Err(format!("it has hardly looked: {calls}"));
    }
    let wrong = opened
        .iter()
        .filter(|line| WRITING.iter().any(|flag| line.contains(flag)));
    // The program itself is started once.
    let started = others.iter().filter(|line| line.contains("execve("));
    let wrong: Vec<_> = wrong
        .chain(started.skip(1))
        .chain(
            others
                .iter()
                .filter(|line| !line.contains("execve(") && line.contains('(')),
        )
        .collect();
    if wrong.is_empty() {
        Ok(printed)
    } else {
        Err(format!("{wrong:#?}"))
    }
}

#[test]
fn by_reading() -> Result<(), String> {
    let printed = changes_nothing("read", &["--no-measure", "--interval", "1"])?;
    assert!(printed.contains("\nvirtual machine "), "{printed}");
    Ok(())
}

#[test]
fn by_measuring() -> Result<(), String> {
    let printed = changes_nothing("measure", &["--seconds", "1", "--interval", "1", "--json"])?;
    let found: serde_json::Value = serde_json::from_str(&printed).map_err(said)?;
    let measured = &found["measured"];
    assert!(
        measured["jitter"][0]["readings"].as_u64() > Some(1_000),
        "{measured}"
    );
    for time in ["at_once", "after_pause"] {
        assert!(
            measured["cache"][0][time].as_u64() > Some(500),
            "{measured}"
        );
    }
    assert!(measured["floor"]["p50"].as_u64() > Some(500), "{measured}");
    Ok(())
}

#[test]
fn by_printing_a_script() -> Result<(), String> {
    let printed = changes_nothing("script", &["--script", "--interval", "1"])?;
    assert!(printed.starts_with("#!/bin/sh\n"), "{printed}");
    Ok(())
}
