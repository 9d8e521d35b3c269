//! Foreign engines, built from their registries and run as child processes.

use crate::packages::{folder, workspace};
use crate::server::scratch;
use crate::trade::{Event, Side};
use fixwire::schedule::{Days, Edge, Hours, Schedule, TimeZone, clock};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The engine of a test peer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Engine {
    /// QuickFIX C++.
    QuickfixCpp,
    /// QuickFIX/J.
    QuickfixJ,
    /// QuickFIX/Go.
    QuickfixGo,
}

/// The side that opens the connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// Connects.
    Initiator,
    /// Listens.
    Acceptor,
}

/// The special terms of a session.
#[derive(Clone, Debug)]
pub struct Terms {
    /// A folder that [`certificates::make`](crate::certificates::make) has filled, for TLS; else empty.
    pub certificates: PathBuf,
    /// The time of day at which the session opens and closes, UTC: `HH:MM:SS`; two equal times mean the whole day.
    pub hours: [String; 2],
    /// A folder for the message log that the engine itself writes; empty for none.
    pub message_log: PathBuf,
    /// BeginString: `FIX.4.2` or `FIX.4.4`; `FIX.5.0SP2` is over FIXT.1.1, and not for QuickFIX/Go.
    pub version: &'static str,
}

impl Default for Terms {
    /// FIX 4.2 all day, without TLS.
    fn default() -> Self {
        Self {
            certificates: PathBuf::new(),
            hours: ["00:00:00".to_owned(), "00:00:00".to_owned()],
            message_log: PathBuf::new(),
            version: "FIX.4.2",
        }
    }
}

impl Terms {
    /// The session is over TLS.
    #[must_use]
    pub fn is_sealed(&self) -> bool {
        !self.certificates.as_os_str().is_empty()
    }

    /// The same schedule for our side.
    pub fn schedule(&self) -> Schedule {
        let [start, end] = self.hours.each_ref().map(|text| Edge {
            time: clock(text).expect("HH:MM:SS").time,
            zone: TimeZone::UTC,
        });
        let days = Days::all();
        Schedule::new(Hours { days, start, end })
    }
}

impl Engine {
    /// Builds the peer if its sources have changed; returns the command that runs it.
    fn build(self) -> Result<Vec<String>, String> {
        // One test of one program at a time: a foreign engine must not be loading files that we replace.
        let path = output_folder("interop")?.join("lock");
        let building = File::create(&path).and_then(|file| file.lock().map(|()| file));
        let _building = building.map_err(|error| format!("{}: {error}", path.display()))?;
        match self {
            Self::QuickfixCpp => build_cpp(),
            Self::QuickfixJ => build_java(),
            Self::QuickfixGo => build_go(),
        }
    }

    /// Starts it in one role on this port, with a new store.
    pub fn start(
        self,
        role: Role,
        port: u16,
        sender: &str,
        target: &str,
        terms: &Terms,
    ) -> Result<Side, String> {
        let store = scratch(&format!("interop-{self:?}-{role:?}"));
        let store = store.map_err(|error| error.to_string())?;
        self.start_in(&store, role, port, sender, target, terms)
    }

    /// Starts it in one role on this port, with the file store in `store` of this folder.
    pub fn start_in(
        self,
        folder: &Path,
        role: Role,
        port: u16,
        sender: &str,
        target: &str,
        terms: &Terms,
    ) -> Result<Side, String> {
        let (mut running, received) = self.run(role, port, sender, target, folder, terms)?;
        Ok(Side::new(sender, move |line| running.tell(line), received))
    }

    /// Starts it in one role on this port; `store` is the folder in which it finds its store again.
    pub fn run(
        self,
        role: Role,
        port: u16,
        sender: &str,
        target: &str,
        store: &Path,
        terms: &Terms,
    ) -> Result<(Running, Receiver<Event>), String> {
        let command = self.build()?;
        let dictionary = match self {
            // QuickFIX/Go insists on an attribute that the others do without.
            Self::QuickfixGo => go_module()?.join("spec"),
            _ => folder("quickfix-tokio")?.join("acceptance/spec"),
        };
        let dictionary = dictionary.join(format!("{}.xml", terms.version.replace('.', "")));
        let role = match role {
            Role::Initiator => "initiator",
            Role::Acceptor => "acceptor",
        };
        let mut program = Command::new(&command[0]);
        program
            .args(&command[1..])
            .args([role, &port.to_string(), sender, target])
            .arg(dictionary)
            .arg(&terms.certificates)
            .args(&terms.hours)
            .arg(terms.version)
            .current_dir(store);
        if !terms.message_log.as_os_str().is_empty() {
            program.env("MESSAGE_LOG", &terms.message_log);
        }
        Running::start(&mut program)
    }
}

/// A running peer. It is killed when this is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Running {
    /// Starts a program that takes commands on stdin and reports events on stdout.
    pub fn start(program: &mut Command) -> Result<(Self, Receiver<Event>), String> {
        let mut child = program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.get_program().to_string_lossy()))?;
        let (events, received) = channel();
        let output = child.stdout.take().ok_or("no stdout")?;
        std::thread::spawn(move || read_events(BufReader::new(output), &events));
        let stdin = child.stdin.take();
        Ok((Self { child, stdin }, received))
    }

    /// Gives it a command.
    pub fn tell(&mut self, line: &str) -> Result<(), String> {
        let stdin = self.stdin.as_mut().ok_or("it has no stdin")?;
        writeln!(stdin, "{line}")
            .and_then(|()| stdin.flush())
            .map_err(|error| error.to_string())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_events(output: impl BufRead, events: &Sender<Event>) {
    for line in output.lines().map_while(Result::ok) {
        let Ok(json) = serde_json::from_str::<serde_json::Value>(&line) else {
            println!("peer: {line}");
            continue;
        };
        let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
        let event = Event {
            name: text("event"),
            id: text("id"),
            seq: json["seq"].as_u64().unwrap_or_default(),
            dup: json["dup"].as_bool().unwrap_or_default(),
            text: line,
        };
        if events.send(event).is_err() {
            return;
        }
    }
}

fn build_cpp() -> Result<Vec<String>, String> {
    let source = workspace().join("tests/interop/quickfix-cpp/peer.cpp");
    let program = output_folder("interop")?.join("peer-cpp");
    if is_older(&program, &[&source]) {
        let mut compiler = Command::new("g++");
        compiler
            .args(["-std=c++14", "-O1", "-w"])
            .arg(&source)
            .arg("-o")
            .arg(&program);
        run(
            compiler.args(["-lquickfix", "-lssl", "-lcrypto", "-lpthread"]),
            "apt-get install g++ libquickfix-dev libssl-dev",
        )?;
    }
    Ok(vec![text(&program)])
}

fn build_java() -> Result<Vec<String>, String> {
    let sources = workspace().join("tests/interop/quickfixj");
    let (source, pom) = (sources.join("Peer.java"), sources.join("pom.xml"));
    let output = output_folder("interop")?;
    let (libraries, classes) = (output.join("java/lib"), output.join("java/classes"));
    let class_path = format!("{}/*:{}", text(&libraries), text(&classes));
    if is_older(&classes.join("Peer.class"), &[&source, &pom]) {
        copy_dependencies(&pom, &libraries)?;
        compile_java(&source, &class_path, &classes)?;
    }
    // One collector thread and little memory: the machine is shared with the engine under test.
    let options = [
        "java",
        "-XX:+UseSerialGC",
        "-Xmx512m",
        "-cp",
        &class_path,
        "Peer",
    ];
    Ok(options.map(str::to_owned).to_vec())
}

/// Fetches the packages that a `pom.xml` names into a folder.
pub(crate) fn copy_dependencies(pom: &Path, folder: &Path) -> Result<(), String> {
    let mut maven = Command::new("mvn");
    maven
        .args(["-q", "-B", "dependency:copy-dependencies"])
        .arg("-f")
        .arg(pom);
    maven.arg(format!("-DoutputDirectory={}", text(folder)));
    run(&mut maven, "apt-get install maven")
}

/// Compiles one file of Java into a folder.
pub(crate) fn compile_java(source: &Path, class_path: &str, folder: &Path) -> Result<(), String> {
    let mut compiler = Command::new("javac");
    compiler
        .arg("-d")
        .arg(folder)
        .args(["-cp", class_path])
        .arg(source);
    run(&mut compiler, "apt-get install openjdk-17-jdk-headless")
}

/// The folder in which Go has put QuickFIX/Go.
fn go_module() -> Result<PathBuf, String> {
    let sources = workspace().join("tests/interop/quickfixgo");
    let mut go = Command::new("go");
    go.env("GOTOOLCHAIN", "auto").arg("-C").arg(sources);
    go.args([
        "list",
        "-m",
        "-f",
        "{{.Dir}}",
        "github.com/quickfixgo/quickfix",
    ]);
    let output = go.output().map_err(|error| format!("go: {error}"))?;
    let folder = String::from_utf8_lossy(&output.stdout);
    match folder.trim() {
        "" => Err(format!(
            "go list: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
        folder => Ok(folder.into()),
    }
}

fn build_go() -> Result<Vec<String>, String> {
    let sources = workspace().join("tests/interop/quickfixgo");
    let needed = ["peer.go", "go.mod", "go.sum"].map(|name| sources.join(name));
    let program = output_folder("interop")?.join("peer-go");
    if is_older(&program, &needed.each_ref().map(PathBuf::as_path)) {
        let mut compiler = Command::new("go");
        // An older Go fetches the version in go.mod.
        compiler.env("GOTOOLCHAIN", "auto").arg("-C").arg(&sources);
        compiler
            .args(["build", "-buildvcs=false", "-o"])
            .arg(&program)
            .arg(".");
        run(&mut compiler, "Go 1.23 or later, from https://go.dev/dl")?;
    }
    Ok(vec![text(&program)])
}

/// A folder of this name under the target folder.
pub(crate) fn output_folder(name: &str) -> Result<PathBuf, String> {
    let folder = crate::server::target_folder()?.join(name);
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

/// Whether the product is missing or older than its sources.
pub(crate) fn is_older(product: &Path, sources: &[&Path]) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let Some(built) = time(product) else {
        return true;
    };
    sources
        .iter()
        .any(|source| time(source).is_none_or(|changed| changed >= built))
}

/// Runs a program that must succeed; `cure` says what to install when it does not.
pub(crate) fn run(command: &mut Command, cure: &str) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .output()
        .map_err(|error| format!("{name}: {error}; {cure}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said[..said.len().min(3_000)]).into_owned();
    Err(format!("{name} failed; is this needed: {cure}?\n{said}"))
}

pub(crate) fn text(path: &Path) -> String {
    path.display().to_string()
}
