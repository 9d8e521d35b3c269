//! `fixwire gateway reload`: a running gateway is asked to go on with the rules that its file has now.
//!
//! They meet at a socket in the folder of the journal, which belongs to one process at a time. A
//! connection has one request and one answer:
//!
//! ```text
//! command                                gateway
//!    path of the file, end of stream  -->
//!                                     <--  '+' or '-', what became of it, end of stream
//! ```

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{self, Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use clap::{Args, value_parser};
use fixwire::settings::{Id, Settings, Source};
use fixwire_gateway::gateway::Reload;

use super::load::reload;
use super::serve::{Outcome, Remote};
use crate::failure::{Failure, tell};
use crate::readable::Escaped;
use crate::reading::Reading;

/// The socket's name in the folder of the journal.
const SOCKET: &str = "reload";
/// How long the gateway waits for a request, and for its answer to be taken.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of a request or an answer.
const LONGEST: u64 = 1 << 20;

/// What to reload.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire gateway reload gateway.toml
  fixwire gateway reload --timeout 60 gateway.toml

The file and its tables are checked first, as `fixwire check` does; while they have mistakes, the gateway is
not asked. It is found by FileStorePath, and has to run this very file. It changes all rules and tables at
once, between two messages, or none. What became of it is printed; the exit code is 1 when the old rules
stay, or when no answer came. Run it as the user of the gateway.")]
pub struct ReloadArgs {
    /// Seconds to wait for the gateway's answer
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = value_parser!(u64).range(1..))]
    timeout: u64,
    #[command(flatten)]
    reading: Reading,
    /// The settings file that the gateway runs
    file: PathBuf,
}

/// Runs the command.
pub fn run(args: &ReloadArgs) -> Result<ExitCode, Failure> {
    let (settings, _) = read(&args.file, &args.reading)?;
    let text = |id| settings.sessions.first().and_then(|first| first.text(id));
    if text(Id::Durability) == Some("memory") {
        let why = "with Durability = \"memory\" no store tells which process it is: send it SIGHUP";
        return Err(Failure::Text(why.to_owned()));
    }
    let file = &args.file;
    let cannot = |error| Failure::Text(format!("{}: {error}", file.display()));
    let path = fs::canonicalize(file).map_err(cannot)?;
    let store = path::absolute(text(Id::FileStorePath).unwrap_or_default()).map_err(cannot)?;
    let (answer, answered) = channel();
    let socket = store.join(SOCKET);
    thread::Builder::new().spawn(move || answer.send(ask(&socket, &path)))?;
    let answer = answered.recv_timeout(Duration::from_secs(args.timeout));
    let why = match answer {
        Ok(Ok(answer)) => match answer.split_first() {
            Some((b'+', said)) => {
                writeln!(io::stdout(), "{}", Escaped(said))?;
                return Ok(ExitCode::SUCCESS);
            }
            Some((_, said)) => String::from_utf8_lossy(said).into_owned(),
            None => "the gateway ended before it answered".to_owned(),
        },
        Ok(Err(error)) => unreachable_at(&store, &error),
        Err(_) => format!(
            "no answer within {} s: the gateway may still do it, and then says so on its standard error stream",
            args.timeout
        ),
    };
    Err(Failure::Text(why))
}

/// Asks the gateway, and waits for its answer; it is empty when the gateway has ended meanwhile.
fn ask(socket: &Path, file: &Path) -> io::Result<Vec<u8>> {
    let mut gateway = UnixStream::connect(socket)?;
    let mut answer = Vec::new();
    // What fails from here on, fails because the gateway is gone.
    let _ = gateway
        .write_all(file.as_os_str().as_bytes())
        .and_then(|()| gateway.shutdown(Shutdown::Write))
        .and_then(|()| gateway.take(LONGEST).read_to_end(&mut answer));
    Ok(answer)
}

fn unreachable_at(store: &Path, error: &io::Error) -> String {
    let shown = store.display();
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => {
            format!(
                "no gateway answers on the store {shown} (FileStorePath): it does not run, or still reads \
                 its journal, or is older than this command and knows only SIGHUP"
            )
        }
        ErrorKind::PermissionDenied => format!(
            "not permitted to ask the gateway on the store {shown}: run this as the user of the gateway"
        ),
        _ => format!("cannot ask the gateway on the store {shown}: {error}"),
    }
}

/// The settings and the rules that a file has now.
fn read(file: &Path, reading: &Reading) -> Result<(Settings, Reload), Failure> {
    let source = Source::read(file)?;
    let settings = reading.of_file(&source)?;
    if settings.gateway.is_empty() {
        return Err(Failure::Text(format!("{} has no rules", file.display())));
    }
    let new = reload(&source, &settings)?.gateway;
    Ok((settings, new))
}

/// Gives a running gateway what its file has now.
pub struct Reloader {
    file: PathBuf,
    reading: Reading,
    remote: Remote,
    /// Held from reading the file until the gateway was told, so that the last reading is what stays.
    one: Mutex<()>,
}

impl Reloader {
    /// One for the gateway of this file.
    pub fn new(file: &Path, reading: &Reading, remote: &Remote) -> Self {
        Self {
            file: file.to_owned(),
            reading: reading.clone(),
            remote: remote.clone(),
            one: Mutex::new(()),
        }
    }

    /// Reads the file; the gateway goes on with it soon, and what became of it is received.
    ///
    /// # Errors
    ///
    /// The file has mistakes. They were printed.
    pub fn reload(&self) -> Result<Receiver<Outcome>, String> {
        let _one = self.one.lock().unwrap_or_else(PoisonError::into_inner);
        match read(&self.file, &self.reading) {
            Ok((_, new)) => Ok(self.remote.reload(new)),
            Err(failure) => {
                failure.tell();
                tell("error", "the gateway is not reloaded: its rules stay");
                let why = failure.to_string().replace('\n', "; ");
                Err(format!("gateway not reloaded: {why}"))
            }
        }
    }

    /// Answers `fixwire gateway reload` in a thread of its own. The journal in this folder is locked.
    ///
    /// # Errors
    ///
    /// There can be no such socket, or the system gives no thread.
    pub fn listen(self: Arc<Self>, store: &Path) -> io::Result<()> {
        let path = store.join(SOCKET);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let socket = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let wait = move || {
            for asked in socket.incoming() {
                // Who asks is told by the end of the connection.
                if asked.and_then(|asked| self.answer(asked)).is_err() {
                    thread::sleep(Duration::from_millis(10));
                }
            }
        };
        thread::Builder::new().name("reload".into()).spawn(wait)?;
        Ok(())
    }

    fn answer(&self, mut asked: UnixStream) -> io::Result<()> {
        asked.set_read_timeout(Some(PATIENCE))?;
        asked.set_write_timeout(Some(PATIENCE))?;
        let mut file = Vec::new();
        Read::by_ref(&mut asked)
            .take(LONGEST)
            .read_to_end(&mut file)?;
        let (mark, said) = match self.outcome(&file) {
            Ok(said) => ('+', said),
            Err(said) => ('-', said),
        };
        asked.write_all(format!("{mark}{said}").as_bytes())
    }

    fn outcome(&self, asked: &[u8]) -> Outcome {
        let own = fs::canonicalize(&self.file).unwrap_or_else(|_| self.file.clone());
        if own.as_os_str().as_bytes() != asked {
            let own = own.display();
            return Err(format!(
                "gateway not reloaded: what runs on this store is {own}"
            ));
        }
        let outcome = self.reload()?.recv();
        outcome.unwrap_or_else(|_| Err("the gateway ends".to_owned()))
    }
}
