//! Signal handling of a running engine.
//!
//! ```text
//!   SIGTERM, SIGINT   log out and end; a second one ends at once
//!   SIGHUP            reopen log files, reload a gateway's rules, read password files again; log out
//!                     and end when the terminal was closed
//!   SIGUSR1           print the sessions, and a gateway's counts
//! ```

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use fixwire::passwords::PasswordFiles;
use fixwire::{Handle, LinkReport, SendError, SessionReport, SessionState};
use fixwire_protocol::readable::Escaped;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use crate::failure::tell;
use crate::terminal::Terminal;

/// Maximum time that the engine may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Number of signals that may wait while a signal is handled. A further signal of the same kind would have no other
/// effect.
const WAITING: usize = 8;

/// Caught signals. Such signals wait until the engine runs.
pub struct Caught {
    signals: Signals,
    terminal: Terminal,
}

/// Additional actions on signals.
pub trait Obey: Send + 'static {
    /// SIGHUP.
    fn reload(&self) {}
    /// SIGUSR1.
    fn count(&self) {}
}

/// The actions of an engine without rules: it reads its password files again.
#[derive(Default)]
pub struct Passwords(pub PasswordFiles);

impl Obey for Passwords {
    fn reload(&self) {
        match self.0.read_again() {
            Ok(changes) => {
                for change in changes {
                    tell("note", &format!("password file {change}"));
                }
            }
            Err((file, error)) => {
                let file = file.display();
                tell(
                    "error",
                    &format!("{file}: {error}; the users and passwords are not changed"),
                );
            }
        }
    }
}

impl Caught {
    /// From this call on, SIGHUP and SIGUSR1 wait instead of ending the process. SIGTERM and SIGINT still end the
    /// process until a session is logged on.
    ///
    /// # Errors
    ///
    /// The system call fails.
    pub fn catch() -> io::Result<Self> {
        let terminal = Terminal::now();
        let signals = Signals::new([SIGHUP, SIGUSR1])?;
        Ok(Self { signals, terminal })
    }

    /// Handles signals in separate threads, beginning with the signals that wait.
    ///
    /// # Errors
    ///
    /// A thread cannot be started, or a signal cannot be caught.
    pub fn serve(mut self, engine: Handle, more: impl Obey) -> io::Result<()> {
        for signal in [SIGTERM, SIGINT] {
            self.signals.add_signal(signal)?;
        }
        let (tasks, work) = sync_channel(WAITING);
        let mut operated = engine.clone();
        let operate = move || {
            while let Ok(signal) = work.recv() {
                match signal {
                    SIGHUP => {
                        reopen(&mut operated);
                        more.reload();
                    }
                    _ => {
                        print_status(&mut operated);
                        more.count();
                    }
                }
            }
        };
        let mut engine = engine;
        let wait = move || {
            let mut stopping = false;
            for signal in self.signals.forever() {
                let ends = [SIGTERM, SIGINT].contains(&signal);
                if stopping && ends {
                    // A shell reports this exit code for a process that a signal has ended.
                    std::process::exit(128 + signal);
                }
                if ends || signal == SIGHUP && self.terminal.is_gone() {
                    // The system and the shell both send SIGHUP, so another SIGHUP does not count as a second signal.
                    stopping |= ends;
                    stop(&mut engine);
                } else {
                    // This fails when the queue is full. A signal of the same kind is then already in the queue.
                    let _ = tasks.try_send(signal);
                }
            }
        };
        fixwire_threads::spawn("operate", operate)?;
        fixwire_threads::spawn("signals", wait)?;
        Ok(())
    }
}

fn stop(engine: &mut Handle) {
    while engine.stop() == Err(SendError::Full) {
        thread::sleep(Duration::from_millis(1));
    }
}

fn reopen(engine: &mut Handle) {
    if let Err(error) = engine.reopen_logs() {
        tell("error", &format!("log files not reopened: {error}"));
    }
}

fn print_status(engine: &mut Handle) {
    match engine.status().map(|answer| wait_for(&answer)) {
        Ok(Ok(sessions)) => {
            let links = engine.links().map(|answer| answer.recv_timeout(PATIENCE));
            print(
                &sessions,
                &links.ok().and_then(Result::ok).unwrap_or_default(),
            );
        }
        Ok(Err(RecvTimeoutError::Timeout)) => {
            let seconds = PATIENCE.as_secs();
            tell(
                "status",
                &format!("no response from the engine within {seconds} s"),
            );
        }
        Ok(Err(RecvTimeoutError::Disconnected)) => tell("status", "the engine has stopped"),
        Err(error) => tell("status", &error.to_string()),
    }
}

fn wait_for(answer: &Receiver<Vec<SessionReport>>) -> Result<Vec<SessionReport>, RecvTimeoutError> {
    answer.recv_timeout(PATIENCE)
}

fn print(sessions: &[SessionReport], links: &[LinkReport]) {
    let on = |it: &&SessionReport| it.state == SessionState::LoggedOn;
    let on = sessions.iter().filter(on).count();
    let mut lines = format!("status: {on} of {} sessions logged on\n", sessions.len());
    for session in sessions {
        let session = session.to_string();
        lines += &format!("status: {}\n", Escaped(session.as_bytes()));
    }
    for link in links {
        let link = link.to_string();
        lines += &format!("status: link {}\n", Escaped(link.as_bytes()));
    }
    // All lines are written in one call, so that no other line is printed between them. The call fails only when the
    // output is closed.
    let _ = io::stderr().write_all(lines.as_bytes());
}
