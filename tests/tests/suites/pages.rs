//! Does every command of README.md and of the guide do what its page says?
//!
//! Each page has its own folder with a copy of `examples`, and its own network, so that its ports are free. This takes
//! root, or `sudo` without a password. `rigs::pages` describes how a page is read. A command that keeps running is
//! ended with its page, or in README.md with its section, since those are independent.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fixwire_rigs::packages::workspace;
use fixwire_rigs::pages::{Step, Typed, steps};
use fixwire_rigs::server::{binary, scratch};

/// The most time for a command.
const PATIENCE: Duration = Duration::from_secs(120);
/// The most time until a program listens; one that only connects does not.
const START: Duration = Duration::from_secs(5);

/// The least time before a program is ended, as with a reader: its signals are not tested in the first moments after it
/// listens.
const LIFE: Duration = Duration::from_secs(2);

/// Commands that are not run here, by their beginning, with the reason.
const EXEMPT: [(&str, &str); 14] = [
    ("./test", "runs this"),
    (".ci/run", "runs this"),
    ("git clone", "the network"),
    ("cargo add", "the registry"),
    ("cargo build", "other suites build"),
    ("cargo install", "the network"),
    ("cargo new", "the suite embedder has such a program"),
    ("cargo run\n", "the suite embedder runs such a program"),
    ("cargo test", "other suites test"),
    ("sudo", "changes the machine"),
    ("systemctl", "changes the machine"),
    (
        "fixwire bench peers",
        "the suite peers builds the engines of others",
    ),
    ("fixwire bench published", "takes minutes"),
    (
        "fixwire journal import --from quickfixj",
        "the suite stores has such a store",
    ),
];

/// Sections before which the reader stops what runs.
const ENDS: [(&str, &str); 1] = [("docs/guide/first-oms.md", "Certify the exchange")];
/// Parts of pages that list commands and are not steps.
const LISTS: [(&str, &str); 1] = [("README.md", "Run it")];

/// Benches take a minute by default, unless the page gives their amount of work. The rest of their command line stays.
const SHORTENED: [(&str, &str); 4] = [
    ("fixwire bench echo", SHORT),
    ("fixwire bench gateway-convert", SHORT),
    ("fixwire bench gateway-echo", SHORT),
    ("fixwire bench tcp", SHORT),
];
const SHORT: &str = "--rate 2000 --warm-up 100 --iterations 1000 --runs 2 --cores none";

#[test]
fn the_commands_of_the_pages_run() {
    let guide = fs::read_dir(workspace().join("docs/guide")).expect("the guide");
    let mut pages: Vec<PathBuf> = guide
        .flatten()
        .map(|entry| Path::new("docs/guide").join(entry.file_name()))
        .filter(|page| page.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    pages.insert(0, "README.md".into());
    let (mut run, mut failed) = (0, Vec::new());
    for page in &pages {
        match play(page) {
            Ok(commands) => run += commands,
            Err(why) => failed.push(why),
        }
    }
    assert!(failed.is_empty(), "\n{}\n", failed.join("\n"));
    assert!(run > 2, "only {run} commands run");
}

/// Follows a page; returns the number of commands.
fn play(page: &Path) -> Result<usize, String> {
    let text = fs::read_to_string(workspace().join(page)).expect("a page");
    let steps = steps(&text);
    let mut reader = Reader::new(page);
    // A file that a command reads may stand later on the page.
    for step in steps.iter().rev() {
        reader.write(step);
    }
    let mut in_list = false;
    for step in &steps {
        reader.write(step);
        match step {
            Step::Section(heading) => {
                in_list = LISTS
                    .iter()
                    .any(|(of, list)| page == Path::new(of) && heading == list);
                let is_end = ENDS
                    .iter()
                    .any(|(of, end)| page == Path::new(of) && heading == end);
                if page == Path::new("README.md") || is_end {
                    reader.end()?;
                }
            }
            Step::Command(typed) if !in_list => reader.command(typed)?,
            Step::Command(_) | Step::File { .. } => {}
        }
    }
    reader.end()?;
    Ok(reader.run)
}

/// The reader of a page.
struct Reader {
    page: String,
    folder: PathBuf,
    network: Network,
    running: Vec<(Typed, Child, Instant)>,
    run: usize,
}

impl Reader {
    fn new(page: &Path) -> Self {
        let name = page
            .with_extension("")
            .display()
            .to_string()
            .replace('/', "-");
        let folder = scratch(&name).expect("a folder");
        let folder = fs::canonicalize(folder).expect("a folder");
        copy(&workspace().join("examples"), &folder.join("examples"));
        fs::create_dir(folder.join("bin")).expect("a folder");
        let binary = binary().unwrap_or_else(|error| panic!("{error}"));
        std::os::unix::fs::symlink(binary, folder.join("bin/fixwire")).expect("a link");
        Self {
            page: page.display().to_string(),
            folder,
            network: Network::new(&name),
            running: Vec::new(),
            run: 0,
        }
    }

    fn write(&self, step: &Step) {
        if let Step::File { path, text } = step {
            let path = self.folder.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
    }

    fn command(&mut self, typed: &Typed) -> Result<(), String> {
        let text = spelled(&typed.text);
        let exempt = EXEMPT
            .iter()
            .find(|(begin, _)| format!("{text}\n").starts_with(begin));
        if let Some((_, why)) = exempt {
            println!("{}:{}: not run: {text} ({why})", self.page, typed.line);
            return Ok(());
        }
        // These only end by a signal.
        let runs_on = ["fixwire run ", "fixwire sim "]
            .iter()
            .any(|begin| text.starts_with(begin));
        let started = Instant::now();
        if typed.runs_on || runs_on {
            self.start(typed, &text)?;
        } else {
            self.finish(typed, &text)?;
        }
        self.run += 1;
        println!(
            "{}:{}: {text}: {:.1?}",
            self.page,
            typed.line,
            started.elapsed()
        );
        Ok(())
    }

    /// A command that ends.
    fn finish(&self, typed: &Typed, text: &str) -> Result<(), String> {
        let mut child = self.spawn(typed, text);
        let Some(status) = ended(&mut child, PATIENCE) else {
            stop(&child, "KILL");
            let _ = child.wait();
            return Err(self.wrong(typed, &format!("still runs after {PATIENCE:?}")));
        };
        if status.code() != Some(typed.exits) {
            return Err(self.wrong(typed, &format!("{status}, expected code {}", typed.exits)));
        }
        Ok(())
    }

    /// A command that runs on; returns when it listens.
    fn start(&mut self, typed: &Typed, text: &str) -> Result<(), String> {
        let before = self.network.listeners();
        let mut child = self.spawn(typed, &format!("exec {text}"));
        let started = Instant::now();
        while started.elapsed() < START && self.network.listeners() <= before {
            if let Some(status) = child.try_wait().expect("its state") {
                return Err(self.wrong(typed, &format!("ended at once: {status}")));
            }
            thread::sleep(Duration::from_millis(50));
        }
        self.running.push((typed.clone(), child, Instant::now()));
        Ok(())
    }

    /// Ends the running commands, the last one first; each must end well.
    fn end(&mut self) -> Result<(), String> {
        let mut wrong = Ok(());
        while let Some((typed, mut child, started)) = self.running.pop() {
            thread::sleep(LIFE.saturating_sub(started.elapsed()));
            stop(&child, "TERM");
            let status = ended(&mut child, PATIENCE);
            if !status.is_some_and(|status| status.success()) {
                stop(&child, "KILL");
                let _ = child.wait();
                wrong = Err(self.wrong(&typed, &format!("SIGTERM ended it with {status:?}")));
            }
        }
        wrong
    }

    fn spawn(&self, typed: &Typed, text: &str) -> Child {
        let output = File::create(self.output(typed)).expect("a file");
        let script = format!("PATH=\"{}/bin:$PATH\"; {text}", self.folder.display());
        let mut command = self.network.inside();
        command
            .args(["sh", "-c", &script])
            .current_dir(&self.folder);
        command
            .stdin(Stdio::null())
            .stderr(output.try_clone().expect("a file"))
            .stdout(output);
        command.spawn().expect("it starts")
    }

    fn output(&self, typed: &Typed) -> PathBuf {
        self.folder.join(format!("line-{}.out", typed.line))
    }

    fn wrong(&self, typed: &Typed, why: &str) -> String {
        let said = fs::read(self.output(typed)).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        format!(
            "{}:{}: {}: {why}\n{said}",
            self.page, typed.line, typed.text
        )
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// A command by its names in the folder.
fn spelled(text: &str) -> String {
    let ours = ["cargo run --release -- ", "cargo run -- "];
    let rest = ours.iter().find_map(|begin| text.strip_prefix(begin));
    let text = rest.map_or_else(|| text.to_owned(), |rest| format!("fixwire {rest}"));
    let is_short = text.contains("--iterations");
    let short = SHORTENED
        .iter()
        .find(|(begin, _)| text.starts_with(begin) && !is_short);
    short.map_or(text.clone(), |(_, short)| format!("{text} {short}"))
}

/// The exit of the program, if it ends in time.
fn ended(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + patience;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait().expect("its state") {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}

fn stop(child: &Child, signal: &str) {
    let _ = root("kill")
        .args(["-s", signal, &child.id().to_string()])
        .output();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(path, to).expect("a file");
        }
    }
}

/// A command as root.
fn root(program: &str) -> Command {
    if rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("sudo");
    command.args(["-n", program]);
    command
}

/// A network with nothing but a loopback interface; removed when this is dropped.
struct Network(String);

impl Network {
    fn new(page: &str) -> Self {
        let network = Self(format!("fixwire-{page}-{}", std::process::id()));
        network.ip(&["netns", "add", &network.0]);
        network.ip(&["-n", &network.0, "link", "set", "lo", "up"]);
        network
    }

    fn ip(&self, arguments: &[&str]) -> String {
        let output = root("ip").args(arguments).output().expect("ip runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "ip {arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A command inside the network, given by the arguments, as the user who runs this.
    fn inside(&self) -> Command {
        let mut command = root("ip");
        command.args(["netns", "exec", &self.0]);
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        if !user.is_root() {
            command.arg("setpriv").arg("--clear-groups");
            command.arg(format!("--reuid={}", user.as_raw()));
            command.arg(format!("--regid={}", group.as_raw()));
        }
        command
    }

    /// The number of sockets that listen inside the network.
    fn listeners(&self) -> usize {
        let tables = [
            "netns",
            "exec",
            &self.0,
            "cat",
            "/proc/net/tcp",
            "/proc/net/tcp6",
        ];
        let tables = self.ip(&tables);
        let states = tables
            .lines()
            .filter_map(|line| line.split_whitespace().nth(3));
        states.filter(|state| *state == "0A").count()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = root("ip").args(["netns", "del", &self.0]).output();
    }
}
