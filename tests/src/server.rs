//! The finished binary as a child process: started, killed, started again.

use crate::packages::workspace;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The most time until the engine listens, and until it handles signals.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// One build at a time: two builds of the same profile would wait for each other anyway.
static BUILD: Mutex<()> = Mutex::new(());

/// The programs that `./test` builds, among them one with faults that can be planted.
const EVERYTHING: [&str; 2] = ["--workspace", "--all-features"];

/// The binary under test, built when it is not fresh.
///
/// `FIXWIRE_BIN` names another binary. Otherwise cargo builds it in the profile of the running test, so that the two
/// are never of different ages. It leaves in that profile's folder a `fixwire` that obeys `FIXWIRE_CANARY`.
pub fn binary() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("FIXWIRE_BIN") {
        return Ok(PathBuf::from(path));
    }
    let _one = BUILD
        .lock()
        .map_err(|_| "an earlier build panicked".to_owned())?;
    let folder = profile_folder()?;
    cargo("build", &EVERYTHING, &profile(&folder))?;
    Ok(folder.join("fixwire"))
}

/// The program that goes through stages of the hot path, as users build what is in it.
pub fn hot_path() -> Result<PathBuf, String> {
    let package = ["--package", "fixwire-lab", "--example", "hot_path"];
    cargo("build", &package, "release")?;
    Ok(profile_folder()?.with_file_name("release/examples/hot_path"))
}

/// The programs of the rigs, by their names.
pub fn rigs() -> Result<BTreeMap<String, PathBuf>, String> {
    let programs = ["--no-run", "--tests", "--message-format", "json"];
    let built = cargo(
        "test",
        &[&EVERYTHING[..], &programs].concat(),
        &profile(&profile_folder()?),
    )?;
    let mut programs = BTreeMap::new();
    for line in built.lines() {
        let Ok(json) = serde_json::from_str::<serde_json::Value>(line) else {
            continue;
        };
        let (name, path) = (&json["target"]["name"], &json["executable"]);
        let is_rig = json["manifest_path"] == env!("CARGO_MANIFEST_PATH");
        if let (true, Some(name), Some(path)) = (is_rig, name.as_str(), path.as_str()) {
            programs.insert(name.to_owned(), PathBuf::from(path));
        }
    }
    Ok(programs)
}

/// The profile of the programs in this folder.
fn profile(folder: &Path) -> String {
    match folder.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev".into(),
        Some(name) => name.into(),
    }
}

/// Runs a command of cargo; returns its output.
fn cargo(command: &str, arguments: &[&str], profile: &str) -> Result<String, String> {
    let folder = profile_folder()?;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut child = Command::new(cargo);
    // Cargo tells this program about its package in variables that would make build scripts run again, now and in the
    // next build outside.
    for (name, _) in std::env::vars_os() {
        let told = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "CARGO_BIN_",
            "CARGO_CRATE_",
        ];
        if told
            .iter()
            .any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()))
        {
            child.env_remove(name);
        }
    }
    let output = child
        .arg(command)
        .args(arguments)
        .args(["--quiet", "--locked", "--profile", profile])
        .arg("--target-dir")
        .arg(folder.parent().unwrap_or(&folder))
        .current_dir(workspace())
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "cargo {command} {arguments:?} failed:\n{}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Where this program was built: target/PROFILE of target/PROFILE/deps/PROGRAM.
pub(crate) fn profile_folder() -> Result<PathBuf, String> {
    let program = std::env::current_exe().map_err(|error| format!("where am I: {error}"))?;
    Ok(program
        .ancestors()
        .nth(2)
        .unwrap_or(Path::new("."))
        .to_owned())
}

/// The folder of all builds.
pub fn target_folder() -> Result<PathBuf, String> {
    let profile = profile_folder()?;
    let folder = profile.parent().unwrap_or(&profile);
    std::path::absolute(folder).map_err(|error| error.to_string())
}

/// The suite that runs: a module of the program, by the name of the test or the filter, or the whole program.
fn suite() -> std::io::Result<String> {
    let test = std::thread::current().name().map(str::to_owned);
    let names = test.into_iter().chain(std::env::args());
    let module = |name: String| Some(name.split_once("::")?.0.to_owned());
    if let Some(module) = names.filter_map(module).next() {
        return Ok(module);
    }
    let program = std::env::current_exe()?;
    let program = program.file_stem().unwrap_or_default().to_string_lossy();
    // Without the hash of the build.
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    Ok(program.to_owned())
}

/// A folder under the target folder that is empty at first; `./test` removes it when its suite has passed. Each suite
/// has its own, and a run with a planted fault has another one.
pub fn scratch(name: &str) -> std::io::Result<PathBuf> {
    let suite = suite()?;
    let fault = std::env::var("FIXWIRE_CANARY").unwrap_or_default();
    let folder = profile_folder().map_err(std::io::Error::other)?;
    let folder = folder.join("rigs");
    // The output of a run with a planted fault does not mix with the suite's, which may run at the same time.
    let folder = match fault.is_empty() {
        true => folder.join(suite),
        false => folder.join("canaries").join(fault).join(suite),
    };
    let folder = folder.join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A free port of 127.0.0.1 that no connection of this machine gets by itself: connections have ports from 32768 on,
/// and one of them would keep an engine from listening on its port again.
pub fn free_port() -> std::io::Result<u16> {
    const PORTS: std::ops::Range<u32> = 12_000..32_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Programs that run at the same time begin their search at different ports.
    let first = std::process::id().wrapping_mul(401);
    let mut last = std::io::ErrorKind::AddrInUse.into();
    for _ in PORTS {
        let step = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = (PORTS.start + step % (PORTS.end - PORTS.start)) as u16;
        match bind_only(port) {
            Ok(()) => return Ok(port),
            Err(error) => last = error.into(),
        }
    }
    Err(last)
}

/// Binds a port without listening on it: a program that is started at this moment has a copy of the socket until it
/// runs, and a listening copy would keep the port from the program it is meant for.
fn bind_only(port: u16) -> rustix::io::Result<()> {
    let socket = net::socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    net::sockopt::set_socket_reuseaddr(&socket, true)?;
    net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))
}

/// Returns once the address accepts connections.
pub fn wait_for_listener(address: SocketAddr, patience: Duration) -> Result<(), String> {
    let deadline = Instant::now() + patience;
    while TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_err() {
        if Instant::now() > deadline {
            return Err(format!("nobody listens on {address}"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// A running engine; it is killed when this is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// The address where it listens.
    pub address: SocketAddr,
    folder: PathBuf,
}

/// The command to start.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub binary: PathBuf,
    /// The application of `fixwire run --app`; a gateway has none.
    pub app: Option<&'static str>,
    /// The settings file; its SocketAcceptPort is `port`.
    pub settings: PathBuf,
    /// The address where it will listen.
    pub port: u16,
}

impl Launch {
    /// The gateway of `gateway.toml` in this folder.
    pub fn gateway(folder: &Path, port: u16) -> Result<Self, String> {
        Ok(Self {
            binary: binary()?,
            app: None,
            settings: folder.join("gateway.toml"),
            port,
        })
    }

    /// Starts the engine and waits until it listens.
    pub fn start(&self) -> Result<Server, String> {
        let mut server = self.spawn()?;
        server.wait_until_it_listens()?;
        Ok(server)
    }

    /// Starts the engine. Its output goes next to the settings file.
    pub fn spawn(&self) -> Result<Server, String> {
        match self.app {
            Some(app) => self.spawn_as(&["run", "--app", app]),
            None => self.spawn_as(&["run"]),
        }
    }

    /// As [`spawn`](Self::spawn), with these words instead of `run`; the settings file follows them.
    pub fn spawn_as(&self, words: &[&str]) -> Result<Server, String> {
        let folder = self.settings.parent().unwrap_or(Path::new(".")).to_owned();
        let output = |name: &str| {
            let path = folder.join(name);
            let file = File::options().create(true).append(true).open(&path);
            file.map_err(|error| format!("{}: {error}", path.display()))
        };
        let mut command = Command::new(&self.binary);
        command.args(words).arg(&self.settings);
        command
            .stdin(Stdio::null())
            .stdout(output("stdout")?)
            .stderr(output("stderr")?);
        let child = command
            .spawn()
            .map_err(|error| format!("{}: {error}", self.binary.display()))?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        Ok(Server {
            child,
            address,
            folder,
        })
    }
}

impl Server {
    fn wait_until_it_listens(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + START_PATIENCE;
        while TcpStream::connect_timeout(&self.address, Duration::from_secs(1)).is_err() {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!(
                    "the engine ended with {status}: {}",
                    self.last_words()
                ));
            }
            if Instant::now() > deadline {
                return Err(format!("the engine does not listen on {}", self.address));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// SIGKILL, and waits until the process has ended.
    pub fn kill(mut self) -> Result<(), String> {
        if let Ok(Some(status)) = self.child.try_wait() {
            return Err(format!(
                "the engine had ended by itself, {status}: {}",
                self.last_words()
            ));
        }
        self.child
            .kill()
            .and_then(|()| self.child.wait())
            .map_err(|error| format!("kill: {error}"))?;
        Ok(())
    }

    /// Sends it a signal, by its name without SIG, as soon as it handles this signal: a process that is still starting
    /// would be ended by it, even one that listens already.
    pub fn signal(&self, name: &str) -> Result<(), String> {
        let signal = match name {
            "HUP" => Signal::HUP,
            "TERM" => Signal::TERM,
            "USR1" => Signal::USR1,
            _ => return Err(format!("no signal {name} here")),
        };
        let deadline = Instant::now() + START_PATIENCE;
        while self.handles(signal) == Some(false) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        kill_process(Pid::from_child(&self.child), signal)
            .map_err(|error| format!("SIG{name}: {error}"))
    }

    /// Whether the process handles a signal; `None` for a process that has ended, and where the system does not say.
    fn handles(&self, signal: Signal) -> Option<bool> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        handled_signals(&status).map(|signals| signals >> (signal.as_raw() - 1) & 1 == 1)
    }

    /// SIGTERM; the engine must end cleanly within `patience`.
    pub fn terminate(mut self, patience: Duration) -> Result<(), String> {
        self.signal("TERM")?;
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    return Err(format!(
                        "SIGTERM ended it with {status}: {}",
                        self.last_words()
                    ));
                }
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        Err(format!("still running {patience:?} after SIGTERM"))
    }

    /// The stderr of this process and of earlier processes in the same folder.
    pub fn words(&self) -> String {
        let text = fs::read(self.folder.join("stderr")).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The end of its stderr.
    pub fn last_words(&self) -> String {
        let words = self.words();
        let start = words.ceil_char_boundary(words.len().saturating_sub(2_000));
        words[start..].trim().to_owned()
    }
}

/// The handled signals of a process from its `/proc/PID/status`, a bit for each; `None` for a process that has ended.
fn handled_signals(status: &str) -> Option<u64> {
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()
    };
    let has_ended = value("State:").is_none_or(|state| state == "Z" || state == "X");
    let digits = value("SigCgt:").filter(|_| !has_ended)?;
    u64::from_str_radix(digits, 16).ok()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handled_signals_are_those_that_linux_lists() {
        let status = "Name:\tfixwire\nState:\tS (sleeping)\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000004003\n";
        let handled = handled_signals(status);
        let handles = |signal: Signal| handled.map(|it| it >> (signal.as_raw() - 1) & 1 == 1);
        assert_eq!(handles(Signal::HUP), Some(true));
        assert_eq!(handles(Signal::TERM), Some(true));
        assert_eq!(handles(Signal::USR1), Some(false));
        assert_eq!(
            handled_signals(&status.replace("S (sleeping)", "Z (zombie)")),
            None
        );
        assert_eq!(handled_signals(""), None);
    }
}
