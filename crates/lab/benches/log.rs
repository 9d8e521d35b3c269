//! How fast is `fixwire log` on a large log, beside ripgrep?
//!
//! Input: orders and reports of one session, ten million messages by default, as a log of QuickFIX C++ and as a journal, in
//! a temporary folder that is removed. Both are in the page cache: no disk is measured. Commands are measured
//! as processes, start included; ripgrep and fixwire alternately, the best of several.

use std::env;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use serde::Serialize;

#[path = "log/make.rs"]
mod make;
#[path = "log/run.rs"]
mod run;

use make::{CHAIN, LogMaker, MadeLog};
use run::run;

const LOG: &str = "FIX.4.4-BROKER-CLIENT.messages.current.log";
const MEBI: f64 = 1_048_576.0;
/// Peak memory of each command.
const MOST_MEMORY: f64 = 256.0;
/// A query without a match that must decode each message.
const DECODES: &str = "38>99999999";

#[derive(Debug, Parser)]
struct Options {
    /// Messages of the log
    #[arg(long, value_name = "N", default_value_t = 10_000_000)]
    messages: u64,
    /// How often each command is measured
    #[arg(long, value_name = "N", default_value_t = 3)]
    runs: u32,
    /// The folder in which the log is made, in one of its own [default: that of temporary files]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// The binary to measure [default: built with the profile release]
    #[arg(long, value_name = "FILE")]
    fixwire: Option<PathBuf>,
    /// ripgrep
    #[arg(long, value_name = "FILE", default_value = "rg")]
    rg: PathBuf,
    /// Write the figures as JSON, - for the standard output instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fail when a bound is missed
    #[arg(long)]
    assert: bool,
    /// Cargo passes it
    #[arg(long, hide = true)]
    bench: bool,
}

/// A measured value and its limit.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    figure: f64,
    unit: &'static str,
    at_most: Option<f64>,
    at_least: Option<f64>,
}

impl Row {
    fn holds(&self) -> bool {
        self.at_most.is_none_or(|most| self.figure <= most)
            && self.at_least.is_none_or(|least| self.figure >= least)
    }

    fn bound(&self) -> String {
        match (self.at_most, self.at_least) {
            (Some(most), _) => format!("<= {most}"),
            (_, Some(least)) => format!(">= {least}"),
            _ => String::new(),
        }
    }
}

struct Bench {
    folder: PathBuf,
    fixwire: PathBuf,
    rg: Option<PathBuf>,
    runs: u32,
    made: MadeLog,
    rows: Vec<Row>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    match measure(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(options: &Options) -> Result<bool, String> {
    let fixwire = binary(options)?;
    let parent = options.folder.clone().unwrap_or_else(env::temp_dir);
    let root = tempfile::Builder::new()
        .prefix("fixwire-log-")
        .tempdir_in(parent)
        .map_err(|error| error.to_string())?;
    let made = LogMaker::make(root.path(), options.messages)?;
    let version = Command::new(&options.rg).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let version = version
        .ok()
        .and_then(|text| text.lines().next().map(str::to_owned));
    if version.is_none() {
        eprintln!(
            "ripgrep is not installed, so nothing is compared with it: `apt-get install ripgrep`, or \
             `cargo install ripgrep --root DIR` and `--rg DIR/bin/rg`"
        );
    }
    let mut bench = Bench {
        folder: root.path().to_owned(),
        fixwire,
        rg: version.is_some().then(|| options.rg.clone()),
        runs: options.runs.max(1),
        made,
        rows: Vec::new(),
    };
    bench.cache()?;
    bench.grep()?;
    bench.decode()?;
    bench.index_and_order()?;
    bench.memory()?;
    let title = format!(
        "fixwire log, {} messages: text {:.2} GB, journal {:.2} GB; {}; load {}",
        options.messages,
        bench.made.text_bytes as f64 / 1e9,
        bench.made.journal_bytes as f64 / 1e9,
        version.as_deref().unwrap_or("no ripgrep"),
        std::fs::read_to_string("/proc/loadavg")
            .unwrap_or_default()
            .trim(),
    );
    bench.show(&title, options)?;
    Ok(!options.assert || bench.rows.iter().all(Row::holds))
}

/// Path of the binary to measure.
fn binary(options: &Options) -> Result<PathBuf, String> {
    if let Some(path) = &options.fixwire {
        return Ok(path.clone());
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args([
            "build",
            "--release",
            "--package",
            "fixwire-cli",
            "--bin",
            "fixwire",
            "--locked",
        ])
        .status()
        .map_err(|error| format!("cargo build: {error}"))?;
    if !built.success() {
        return Err("cargo build failed: give a binary with --fixwire".to_owned());
    }
    // This program is in the folder `deps` next to it.
    let own = env::current_exe().map_err(|error| error.to_string())?;
    let folder = own.parent().and_then(Path::parent);
    Ok(folder.unwrap_or(Path::new(".")).join("fixwire"))
}

impl Bench {
    fn add(&mut self, name: impl Into<String>, figure: f64, unit: &'static str) -> &mut Row {
        self.rows.push(Row {
            name: name.into(),
            figure,
            unit,
            at_most: None,
            at_least: None,
        });
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    /// Reads all files once, so that they are in the page cache.
    fn cache(&self) -> Result<(), String> {
        let store = std::fs::read_dir(self.folder.join("store")).map_err(|it| it.to_string())?;
        let files = store.flatten().map(|entry| entry.path());
        for path in files.chain([self.folder.join(LOG)]) {
            let mut file = File::open(&path).map_err(|error| error.to_string())?;
            let _ = io::copy(&mut file, &mut io::sink());
        }
        Ok(())
    }

    /// The best time of one of our commands, and its peak memory.
    fn best(&self, args: &[&str]) -> Result<(f64, u64), String> {
        let mut best = (f64::INFINITY, 0);
        for _ in 0..self.runs {
            let ran = run(&self.fixwire, args, &self.folder)?;
            best = (best.0.min(ran.seconds), best.1.max(ran.peak));
        }
        Ok(best)
    }

    fn ripgrep(&self, id: &str) -> Result<Option<f64>, String> {
        let Some(rg) = &self.rg else {
            return Ok(None);
        };
        let args = ["--no-config", "-a", "-F", &format!("11={id}"), LOG];
        let ran = run(rg, &args, &self.folder)?;
        match ran.printed {
            0 => Err(format!("ripgrep found no {id}")),
            _ => Ok(Some(ran.seconds)),
        }
    }

    fn grep(&mut self) -> Result<(), String> {
        let id = self.made.id.clone();
        let query = format!("11={id}");
        let (mut theirs, mut ours) = (None::<f64>, f64::INFINITY);
        for _ in 0..self.runs {
            let seconds = self.ripgrep(&id)?;
            theirs = seconds.map(|it| it.min(theirs.unwrap_or(it))).or(theirs);
            let args = ["log", "grep", "--no-index", &query, LOG];
            let ran = run(&self.fixwire, &args, &self.folder)?;
            if ran.printed == 0 {
                return Err(format!("log grep found no {id}"));
            }
            ours = ours.min(ran.seconds);
        }
        self.add("grep 11=ID, no index", ours, "s");
        if let Some(theirs) = theirs {
            self.add("ripgrep 11=ID", theirs, "s");
            self.add("grep / ripgrep", ours / theirs, "x").at_most = Some(1.5);
        }
        Ok(())
    }

    fn decode(&mut self) -> Result<(), String> {
        let (text, journal) = (self.made.text_bytes as f64, self.made.journal_bytes as f64);
        for (name, path, bytes) in [("text", LOG, text), ("journal", "store", journal)] {
            let (seconds, _) = self.best(&["log", "grep", DECODES, path])?;
            let name = format!("decode every message, {name}");
            self.add(name, bytes / 1e9 / seconds, "GB/s").at_least = Some(1.0);
        }
        Ok(())
    }

    fn index_and_order(&mut self) -> Result<(), String> {
        let bytes = self.made.text_bytes as f64;
        let mut best = f64::INFINITY;
        let cache = self.folder.join("cache");
        for _ in 0..self.runs {
            let _ = std::fs::remove_dir_all(&cache);
            let ran = run(&self.fixwire, &["log", "index", LOG], &self.folder)?;
            best = best.min(ran.seconds);
        }
        self.add("index built", bytes / 1e9 / best, "GB/s").at_least = Some(0.5);
        let index = std::fs::read_dir(cache.join("fixwire/index")).map_err(|it| it.to_string())?;
        let size: u64 = index
            .flatten()
            .map(|it| it.metadata().map_or(0, |it| it.len()))
            .sum();
        self.add("index / log", size as f64 / bytes * 100.0, "%")
            .at_most = Some(4.0);
        let (seconds, _) = self.best(&["log", "order", CHAIN[3], LOG])?;
        let printed = std::fs::read(self.folder.join("printed")).map_err(|it| it.to_string())?;
        let printed = String::from_utf8_lossy(&printed);
        if let Some(id) = CHAIN.iter().find(|id| !printed.contains(**id)) {
            return Err(format!("log order does not show {id}:\n{printed}"));
        }
        self.add("order, three replaces", seconds, "s").at_most = Some(0.5);
        let mut passes = 0.0;
        for id in CHAIN {
            let mut best = f64::INFINITY;
            for _ in 0..self.runs {
                let Some(seconds) = self.ripgrep(id)? else {
                    return Ok(());
                };
                best = best.min(seconds);
            }
            passes += best;
        }
        self.add("ripgrep, a pass for each id", passes, "s");
        self.add("order / ripgrep", seconds / passes, "x").at_most = Some(0.1);
        Ok(())
    }

    /// Runs each command once.
    fn memory(&mut self) -> Result<(), String> {
        let query = format!("11={}", self.made.id);
        let commands: [&[&str]; 15] = [
            &["grep", "--no-index", &query, LOG],
            &["grep", DECODES, LOG],
            &["grep", DECODES, "store"],
            &["order", CHAIN[0], LOG],
            &["order", "--no-index", CHAIN[0], LOG],
            &["order", CHAIN[0], "store"],
            &["index", LOG],
            &["summary", LOG],
            &["gaps", LOG],
            &["latency", LOG],
            &["throughput", LOG],
            &["validate", "--counts", LOG],
            &["export", "--of", "35=8", LOG],
            &["diff", LOG, "store"],
            &["anonymise", LOG, "--to", "anonymous"],
        ];
        for args in commands {
            let _ = std::fs::remove_dir_all(self.folder.join("anonymous"));
            if args[0] == "index" {
                let _ = std::fs::remove_dir_all(self.folder.join("cache"));
            }
            let shown = args.join(" ").replace(LOG, "LOG");
            let all = [&["log"], args].concat();
            let ran = run(&self.fixwire, &all, &self.folder)?;
            let name = format!("memory: {shown} ({:.1} s)", ran.seconds);
            self.add(name, ran.peak as f64 / MEBI, "MiB").at_most = Some(MOST_MEMORY);
        }
        Ok(())
    }

    fn show(&self, title: &str, options: &Options) -> Result<(), String> {
        let to_stdout = options.json.as_deref() == Some(Path::new("-"));
        if let Some(path) = &options.json {
            let object = serde_json::json!({ "title": title, "rows": self.rows });
            let text = format!("{object:#}\n");
            match to_stdout {
                true => print!("{text}"),
                false => std::fs::write(path, text).map_err(|error| error.to_string())?,
            }
        }
        if to_stdout {
            return Ok(());
        }
        println!("{title}");
        let width = self
            .rows
            .iter()
            .map(|row| row.name.len())
            .max()
            .unwrap_or(0);
        for row in &self.rows {
            let missed = if row.holds() { "" } else { "  MISSED" };
            let line = format!(
                "  {:width$} {:>9.3} {:<5} {}{missed}",
                row.name,
                row.figure,
                row.unit,
                row.bound()
            );
            println!("{}", line.trim_end());
        }
        Ok(())
    }
}
