//! FIX acceptors, other engines and ours, each in its own process, as listed in `peers/peers.list`.
//!
//! The script `run.sh` in the same folder builds and starts the acceptors, with the tools of each language.

use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::Error;

/// The list in the folder of the acceptors.
const LIST: &str = "peers.list";
/// The script that builds and starts the acceptors.
const SCRIPT: &str = "run.sh";
/// Time limit for an acceptor to listen; a Java virtual machine has to start.
const LISTENS: Duration = Duration::from_secs(60);
/// Time limit for an acceptor to exit after the request to stop.
const ENDS: Duration = Duration::from_secs(3);
/// Interval between two readings of the acceptor's processor time.
const LOOK: Duration = Duration::from_millis(200);
/// Number of readings for an acceptor that seems busy. A Java virtual machine may still be compiling after a run.
const LOOKS: u32 = 15;
/// Maximum number of ticks between two readings for an acceptor that sleeps (the kernel counts 100 ticks a second).
const TICKS_ASLEEP: u64 = 2;
/// Index of the inode column in the kernel's socket tables.
const INODE: usize = 9;
/// Number of output lines shown when an acceptor fails.
const LAST_LINES: usize = 5;

/// How an acceptor waits for messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Waits {
    /// The acceptor spins, and uses a whole core.
    Spins,
    /// The acceptor sleeps until the kernel wakes it.
    Sleeps,
}

/// An acceptor of the list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listed {
    /// Name of the acceptor.
    pub name: String,
    /// The modes in which the acceptor is measured, for example `memory` and `persistent`.
    pub modes: Vec<String>,
    /// How the acceptor must wait.
    pub waits: Waits,
    /// Whether the initiator's Logon may have ResetSeqNumFlag(141)=Y.
    pub resets: bool,
    /// Number of warm-up orders of an acceptor that needs more than the others.
    pub warm_up: usize,
}

/// The folder with the list, the script and the programs.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The folder at this path.
    ///
    /// # Errors
    ///
    /// The folder has no list.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let list = path.join(LIST);
        if !list.is_file() {
            return Err(Error::Flag {
                flag: "--folder",
                problem: format!(
                    "{} is missing: the acceptors are in the folder peers of fixwire's repository",
                    list.display()
                ),
            });
        }
        Ok(Self(path.to_owned()))
    }

    /// The acceptors of the list.
    ///
    /// # Errors
    ///
    /// The list cannot be read, or a line of it is invalid.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let path = self.0.join(LIST);
        let text =
            fs::read_to_string(&path).map_err(Error::system(format!("read {}", path.display())))?;
        parse(&text)
            .map_err(|(line, what)| Error::Acceptor(format!("{}:{line}: {what}", path.display())))
    }

    fn script(&self, verb: &str) -> Command {
        let mut command = Command::new("bash");
        command.arg(self.0.join(SCRIPT)).arg(verb);
        if let Ok(program) = std::env::current_exe() {
            command.env("FIXWIRE_BIN", program);
        }
        command
    }

    /// Builds the programs of these acceptors. When a program is missing on this machine, the script reports its
    /// package.
    ///
    /// # Errors
    ///
    /// A program cannot be built.
    pub fn build(&self, names: &[&str]) -> Result<(), Error> {
        let status = self
            .script("build")
            .args(names)
            .stdout(Stdio::null())
            .status()
            .map_err(Error::system("start bash"))?;
        if status.success() {
            return Ok(());
        }
        Err(Error::Acceptor(format!(
            "the acceptors were not built, see above ({status})"
        )))
    }

    /// Starts an acceptor on these cores, for example `0,2`.
    ///
    /// # Errors
    ///
    /// The acceptor exits at once, or does not listen in time.
    pub fn start(&self, name: &str, mode: &str, cores: Option<&str>) -> Result<Acceptor, Error> {
        let files = tempfile::Builder::new()
            .prefix("fixwire-peer-")
            .tempdir()
            .map_err(Error::system("make a folder for an acceptor"))?;
        let log = files.path().join("acceptor.log");
        let open = || File::create(&log).map_err(Error::system(format!("write {}", log.display())));
        let address = free_address().map_err(Error::system("find a free port"))?;
        let mut script = self.script("start");
        script
            .args([name, mode, &address.port().to_string()])
            .arg(files.path());
        // Each of these commands execs the next, so that the process is the acceptor itself. It is killed when the
        // thread that started it ends.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if let Some(cores) = cores {
            command.args(["taskset", "-c", cores]);
        }
        command.arg(script.get_program()).args(script.get_args());
        command.envs(
            script
                .get_envs()
                .filter_map(|(key, value)| Some((key, value?))),
        );
        let child = command
            .stdin(Stdio::null())
            .stdout(open()?)
            .stderr(
                File::options()
                    .append(true)
                    .open(&log)
                    .map_err(Error::system("open a log"))?,
            )
            .spawn()
            .map_err(Error::system(format!("start {name}")))?;
        let mut acceptor = Acceptor {
            name: format!("{name}:{mode}"),
            child,
            address,
            log,
            _files: files,
        };
        acceptor.await_listening()?;
        Ok(acceptor)
    }
}

/// Parses the list; an error has its line number.
fn parse(text: &str) -> Result<Vec<Listed>, (usize, String)> {
    let numbered = text.lines().enumerate();
    let lines = numbered.filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|(index, line)| parse_line(line).map_err(|what| (index + 1, what)))
        .collect()
}

/// `name | modes | how it waits | what to build | options | command`
fn parse_line(line: &str) -> Result<Listed, String> {
    let columns: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, modes, waits, _, options, _] = columns[..] else {
        return Err(format!(
            "{} columns instead of six: name, modes, how it waits, what to build, options, command",
            columns.len()
        ));
    };
    let waits = match waits {
        "spins" => Waits::Spins,
        "sleeps" => Waits::Sleeps,
        other => {
            return Err(format!(
                "the third column is \"{other}\": write spins or sleeps"
            ));
        }
    };
    let mut listed = Listed {
        name: name.to_owned(),
        modes: modes
            .split(',')
            .map(|mode| mode.trim().to_owned())
            .collect(),
        waits,
        resets: true,
        warm_up: 0,
    };
    let mut words = options.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "-" => {}
            "--no-reset" => listed.resets = false,
            "--warmup" => {
                let count = words.next().and_then(|count| count.parse().ok());
                listed.warm_up = count.ok_or("--warmup needs a number")?;
            }
            other => {
                return Err(format!(
                    "unknown option {other}; the options are --no-reset and --warmup"
                ));
            }
        }
    }
    Ok(listed)
}

/// Whether this process listens on this port on any address of this host: a socket in state 0A (proc_pid_net(5)) that
/// is one of the open files of the process. Checking the open files excludes another process that took the port
/// first.
fn listens(process: u32, port: u16) -> bool {
    let of_port = format!(":{port:04X}");
    let mut sockets = Vec::new();
    for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = fs::read_to_string(path).unwrap_or_default();
        for line in text.lines() {
            let columns: Vec<&str> = line.split_whitespace().collect();
            if let [_, local, _, "0A", ..] = columns[..]
                && local.ends_with(&of_port)
                && let Some(inode) = columns.get(INODE)
            {
                sockets.push(PathBuf::from(format!("socket:[{inode}]")));
            }
        }
    }
    let Ok(files) = fs::read_dir(format!("/proc/{process}/fd")) else {
        return false;
    };
    files
        .flatten()
        .filter_map(|file| fs::read_link(file.path()).ok())
        .any(|file| sockets.contains(&file))
}

fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()
}

/// A running acceptor; dropping it stops the process.
#[derive(Debug)]
pub struct Acceptor {
    name: String,
    child: Child,
    /// Address on which the acceptor listens.
    pub address: SocketAddr,
    log: PathBuf,
    _files: tempfile::TempDir,
}

impl Acceptor {
    fn await_listening(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        // Do not test by connecting: some acceptors serve only one connection.
        while !listens(self.child.id(), self.address.port()) {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(self.failed(&format!(
                    "the acceptor exited before it listened ({status})"
                )));
            }
            if start.elapsed() > LISTENS {
                return Err(self.failed("the acceptor does not listen"));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The id of the process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// An error with the last lines of its output.
    pub fn failed(&self, what: &str) -> Error {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        let mut text = format!("{}: {what}", self.name);
        for line in last {
            text += "\n    ";
            text += line;
        }
        Error::Acceptor(text)
    }

    /// How the acceptor waits while idle. An acceptor that sleeps uses almost no processor time.
    ///
    /// # Errors
    ///
    /// The process has exited.
    pub fn waits(&self) -> Result<Waits, Error> {
        for _ in 0..LOOKS {
            let before = self.ticks()?;
            thread::sleep(LOOK);
            if self.ticks()? - before <= TICKS_ASLEEP {
                return Ok(Waits::Sleeps);
            }
        }
        Ok(Waits::Spins)
    }

    /// Processor time of all threads of the acceptor, in ticks.
    fn ticks(&self) -> Result<u64, Error> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let text = text.map_err(|_| self.failed("the acceptor ended"))?;
        // The name, in parentheses, may have blanks. User and system time are the 12th and 13th field after it.
        let after = text.rsplit(')').next().unwrap_or_default();
        let times = after.split_whitespace().skip(11).take(2);
        Ok(times.filter_map(|time| time.parse::<u64>().ok()).sum())
    }
}

impl Drop for Acceptor {
    fn drop(&mut self) {
        let asked = Pid::from_raw(self.child.id() as i32)
            .is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok());
        let start = Instant::now();
        while asked && start.elapsed() < ENDS {
            if let Ok(Some(_)) = self.child.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_says_what_each_is() {
        let list = "# name\n\nraw | memory,persistent | spins | raw | - | x {port}\n\
                    java | memory | sleeps | java | --warmup 100000 --no-reset | y\n";
        let listed = parse(list).unwrap();
        assert_eq!(listed.len(), 2);
        assert_eq!(
            listed[0],
            Listed {
                name: "raw".to_owned(),
                modes: vec!["memory".to_owned(), "persistent".to_owned()],
                waits: Waits::Spins,
                resets: true,
                warm_up: 0,
            }
        );
        assert_eq!((listed[1].warm_up, listed[1].resets), (100_000, false));
        let wrong = |line: &str| parse(&format!("# a\n{line}\n")).unwrap_err();
        assert_eq!(wrong("a | b").0, 2);
        for (line, said) in [
            ("a | b | spins | c | -", "5 columns"),
            ("a | b | waits | c | - | d", "write spins or sleeps"),
            ("a | b | spins | c | --warmup | d", "needs a number"),
            ("a | b | spins | c | --fast | d", "unknown option --fast"),
        ] {
            let text = wrong(line).1;
            assert!(text.contains(said), "{text}");
        }
    }

    /// Makes a folder whose script starts these commands.
    fn folder(start: &str) -> (tempfile::TempDir, Folder) {
        let path = tempfile::tempdir().unwrap();
        fs::write(path.path().join(LIST), "").unwrap();
        fs::write(path.path().join(SCRIPT), start).unwrap();
        let folder = Folder::open(path.path()).unwrap();
        (path, folder)
    }

    #[test]
    fn one_that_cannot_start_says_why() {
        let (_path, folder) = folder("echo \"no $2 in mode $3\" >&2; exit 3");
        let error = folder.start("engine", "memory", None).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("engine:memory: the acceptor exited before it listened"),
            "{text}"
        );
        assert!(text.ends_with("\n    no engine in mode memory"), "{text}");
        let error = folder.build(&["engine"]).unwrap_err().to_string();
        assert!(
            error.contains("not built") && error.contains('3'),
            "{error}"
        );
        let nothing = tempfile::tempdir().unwrap();
        let error = Folder::open(nothing.path()).unwrap_err().to_string();
        assert!(
            error.starts_with("--folder: ") && error.contains("is missing"),
            "{error}"
        );
    }

    #[test]
    fn a_socket_of_somebody_else_is_not_its_own() {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        let mut other = Command::new("sleep").arg("60").spawn().unwrap();
        assert!(listens(std::process::id(), port));
        assert!(!listens(other.id(), port));
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn one_that_spins_is_told_from_one_that_sleeps() {
        for (command, waits) in [
            ("exec sleep 60", Waits::Sleeps),
            ("while :; do :; done", Waits::Spins),
        ] {
            let child = Command::new("bash").args(["-c", command]).spawn().unwrap();
            let acceptor = Acceptor {
                name: "test".to_owned(),
                child,
                address: free_address().unwrap(),
                log: PathBuf::new(),
                _files: tempfile::tempdir().unwrap(),
            };
            assert_eq!(acceptor.waits().unwrap(), waits);
        }
    }
}
