//! Runs a command and measures its time and memory.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Polling interval for the memory of the command.
const LOOK: Duration = Duration::from_millis(2);

/// A command that has exited.
#[derive(Clone, Copy, Debug)]
pub struct CommandRun {
    pub seconds: f64,
    /// The most resident memory, bytes, as seen within the last 2 ms.
    pub peak: u64,
    /// Number of bytes that it printed.
    pub printed: u64,
}

/// Runs a command; its output goes to a file in this folder.
///
/// # Errors
///
/// A sentence: it did not start, or it failed.
pub fn run(program: &Path, args: &[&str], folder: &Path) -> Result<CommandRun, String> {
    let name = || format!("{} {}", program.display(), args.join(" "));
    let out = folder.join("printed");
    let errors = folder.join("errors");
    let failed = |error: std::io::Error| format!("{}: {error}", name());
    let began = Instant::now();
    let mut child = Command::new(program)
        .args(args)
        .current_dir(folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .stdin(Stdio::null())
        .stdout(File::create(&out).map_err(failed)?)
        .stderr(File::create(&errors).map_err(failed)?)
        .spawn()
        .map_err(failed)?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let (code, seconds) = loop {
        peak = peak.max(resident(&status));
        if let Some(code) = child.try_wait().map_err(failed)? {
            break (code, began.elapsed().as_secs_f64());
        }
        sleep(LOOK);
    };
    // Exit code 1 means that messages have a problem, or that the two sides differ.
    let may_differ = args.iter().any(|it| ["validate", "diff"].contains(it));
    if !(code.success() || may_differ && code.code() == Some(1)) {
        let said = fs::read_to_string(&errors).unwrap_or_default();
        return Err(format!("{}: {code}: {said}", name()));
    }
    Ok(CommandRun {
        seconds,
        peak,
        printed: fs::metadata(&out).map_or(0, |facts| facts.len()),
    })
}

/// Peak resident memory of a process, in bytes; 0 when it has exited.
fn resident(status: &str) -> u64 {
    let text = fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    number.and_then(|it| it.parse::<u64>().ok()).unwrap_or(0) << 10
}
