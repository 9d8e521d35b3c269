//! The command: its flags, the checks that they select, and the output.

use std::fs;
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;

use super::diagnosis::{Diagnosis, hot_cores};
use super::measure::measure;
use super::observed::Observed;
use super::snapshot::Snapshot;
use super::{script, show};
use crate::bench::output::print;
use crate::error::Error;
use crate::machine::core_list;

/// Flags of `doctor`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  fixwire doctor                                 check this machine; measure jitter, cache and floor
  fixwire doctor --pid $(pidof fixwire) --interface eth0
                                                 also check a running engine and its network card
  fixwire doctor --no-measure --watch            print changes, until Ctrl-C
  fixwire doctor --no-measure --script > tune.sh the remedies; read the script before you run it

Exit code, the highest that applies: 0 all good, 1 doctor failed, 2 wrong flags, 10 a value is unknown; if a check is
bad, by its weight: 11 low, 12 mid, 13 high, 14 verdict, 15 fail. Checks that no flag requested do not count. Nothing
is changed, and nothing is opened for writing (docs/operating/doctor.md).")]
pub struct DoctorArgs {
    /// Hot cores, which spin, for example 2,3 [default: the two that benches take]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cores: Vec<usize>,

    /// A running engine, to check its memory and its threads too
    #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..))]
    pid: Option<u32>,

    /// Network card of the engine
    #[arg(long, value_name = "IF", value_parser = interface)]
    interface: Option<String>,

    /// File with the output of `ethtool -c IF` and `ethtool -k IF`
    #[arg(long, value_name = "FILE")]
    ethtool: Option<PathBuf>,

    /// Seconds over which counters are watched
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3600))]
    interval: u64,

    /// Seconds for which the jitter is measured; 300 for a claim
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,

    /// Leave the measurements out, of jitter, cache and floor
    #[arg(long)]
    no_measure: bool,

    /// Examine a captured tree: DIR/before and DIR/after, or DIR alone; nothing is measured
    #[arg(long, value_name = "DIR", conflicts_with = "watch")]
    root: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Keep running, and print changed findings once in each interval; nothing is measured
    #[arg(long, conflicts_with = "json")]
    watch: bool,

    /// Print a shell script of the remedies; nothing is run
    #[arg(long, conflicts_with_all = ["json", "watch"])]
    script: bool,
}

/// The name of a network card; it becomes part of paths and of a script.
fn interface(name: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.:@".contains(c);
    if name.is_empty() || name.len() > 15 || name.starts_with('.') || !name.chars().all(fits) {
        return Err("not the name of a network card, such as eth0".to_owned());
    }
    Ok(name.to_owned())
}

/// Examines the machine and prints what it found; the exit code is that of [`Diagnosis::exit_code`].
///
/// # Errors
///
/// A flag names something that does not exist, a measurement failed, or the output cannot be written.
pub fn run(args: &DoctorArgs) -> Result<ExitCode, Error> {
    let observed = args.observe()?;
    let measures = !args.no_measure && !args.watch && !args.script && args.root.is_none();
    let measured = if measures {
        let time = Duration::from_secs(args.seconds);
        Some(measure(&observed.cores, time)?)
    } else {
        None
    };
    let diagnosis = Diagnosis::of(&observed, measured);
    let code = ExitCode::from(diagnosis.exit_code());
    if args.script {
        print(&script::text(&diagnosis, &observed))?;
    } else if args.json {
        let text = serde_json::to_string_pretty(&diagnosis).map_err(|error| Error::System {
            doing: "write JSON".to_owned(),
            source: error.into(),
        })?;
        print(&(text + "\n"))?;
    } else {
        let colour = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        print(&show::text(&diagnosis, &observed, colour))?;
    }
    if args.watch {
        args.watch(observed, diagnosis)?;
    }
    Ok(code)
}

impl DoctorArgs {
    /// The snapshots to examine: two, taken before and after the interval, or a captured tree.
    fn observe(&self) -> Result<Observed, Error> {
        let mut observed = Observed {
            before: None,
            now: Snapshot::of("/"),
            cores: self.cores.clone(),
            pid: self.pid,
            interface: self.interface.clone(),
            ethtool: self.ethtool.as_deref().map(read).transpose()?,
        };
        if let Some(root) = &self.root {
            (observed.before, observed.now) = captured(root)?;
            if observed.cores.is_empty() {
                observed.cores = isolated(&observed.now);
            }
            return Ok(observed);
        }
        if observed.cores.is_empty() {
            observed.cores = hot_cores();
        }
        self.check(&observed.now)?;
        Ok(self.again(observed))
    }

    /// Checks that processes, cards and cores named by flags exist on this machine.
    fn check(&self, now: &Snapshot) -> Result<(), Error> {
        let wrong = |flag, problem| Err(Error::Flag { flag, problem });
        if let Some(pid) = self.pid
            && now.line(&format!("proc/{pid}/comm")).is_none()
        {
            return wrong("--pid", format!("process {pid} not found"));
        }
        if let Some(interface) = &self.interface
            && now.names(&format!("sys/class/net/{interface}")).is_none()
        {
            return wrong("--interface", format!("network card {interface} not found"));
        }
        let mut sorted = self.cores.clone();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return wrong("--cores", format!("core {} is named twice", twice[0]));
        }
        let online = now.line("sys/devices/system/cpu/online");
        let online = online.map(|list| core_list(&list)).unwrap_or_default();
        match self.cores.iter().find(|core| !online.contains(core)) {
            Some(core) => wrong("--cores", format!("core {core} does not exist")),
            None => Ok(()),
        }
    }

    /// Waits for an interval, then takes a second snapshot. The first snapshot already has the files that the checks
    /// read.
    fn again(&self, mut observed: Observed) -> Observed {
        if observed.before.is_none() {
            // A first diagnosis makes the snapshot read the files of all checks, and a snapshot keeps what it has
            // read.
            let _ = Diagnosis::of(&observed, None);
        }
        thread::sleep(Duration::from_secs(self.interval));
        observed.before = Some(std::mem::replace(&mut observed.now, Snapshot::of("/")));
        observed
    }

    /// Prints changes until the process is interrupted or its output is closed.
    fn watch(&self, mut observed: Observed, mut last: Diagnosis) -> Result<(), Error> {
        loop {
            observed = self.again(observed);
            let next = Diagnosis::of(&observed, None);
            print(&show::changes(&last, &next))?;
            last = next;
        }
    }
}

fn read(file: &Path) -> Result<String, Error> {
    fs::read_to_string(file).map_err(Error::system(format!("read {}", file.display())))
}

/// The snapshots of a captured tree.
fn captured(root: &Path) -> Result<(Option<Snapshot>, Snapshot), Error> {
    if !root.is_dir() {
        return Err(Error::Flag {
            flag: "--root",
            problem: format!("{} is not a folder", root.display()),
        });
    }
    let (before, after) = (root.join("before"), root.join("after"));
    if before.is_dir() && after.is_dir() {
        return Ok((Some(Snapshot::of(before)), Snapshot::of(after)));
    }
    Ok((None, Snapshot::of(root)))
}

/// The cores that a captured machine kept free.
fn isolated(of: &Snapshot) -> Vec<usize> {
    let list = of.line("sys/devices/system/cpu/isolated");
    let mut cores = list.map(|list| core_list(&list)).unwrap_or_default();
    cores.truncate(2);
    cores
}
