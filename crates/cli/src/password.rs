//! `fixwire hash-password`: prints the hash of a password for a settings file.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use crate::failure::{Failure, tell};

/// Reads a line from standard input. Never reads the arguments, because process lists and the shell's history show
/// them.
pub fn run() -> Result<ExitCode, Failure> {
    let input = io::stdin();
    if io::IsTerminal::is_terminal(&input) {
        tell(
            "note",
            "type the password (it is echoed). Better: fixwire hash-password < FILE",
        );
    }
    let mut line = Vec::new();
    let cannot = |why: &str| Failure::Text(format!("cannot read a password: {why}"));
    let mut limited = io::Read::take(input.lock(), 4096);
    limited
        .read_until(b'\n', &mut line)
        .map_err(|error| cannot(&error.to_string()))?;
    while matches!(line.last(), Some(b'\n' | b'\r')) {
        line.pop();
    }
    let hash = fixwire::passwords::hash(&line);
    line.fill(0);
    let hash = hash.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => cannot("the password must have 1 to 1024 bytes"),
        _ => cannot(&error.to_string()),
    })?;
    writeln!(io::stdout(), "{hash}")?;
    Ok(ExitCode::SUCCESS)
}
