//! `fixwire log index`: lists the ids in each block of a log, so that `order` and `grep` read few blocks.

use std::env;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use fixwire_protocol::readable::Escaped;
use fixwire_reader::{BlockChoice, LogIndexes, LogZone};

use super::sources::{Sources, exit_code};
use super::summary::table;
use crate::failure::{Failure, tell};

/// Minimum size of a log that a search for an order indexes, in bytes.
pub const LARGE: u64 = 64 << 20;

/// Arguments of `fixwire log index`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log index logs
  fixwire log index FIX.4.4-BROKER-CLIENT.messages.current.log

An index lists the ids (11, 41, 526, 37, 198, 17, 19 and others) in each block of a log. With an index, `log order` and
`log grep 11=ID` read only the blocks that may have the id; their output is the same. The size of an index is about
2 % of the log. Indexes are in $XDG_CACHE_HOME/fixwire or ~/.cache/fixwire, and only their user can read them. When the
log has grown, the index is extended; when the log was written again from its start, the index is built again. `log
order` indexes logs of 64 MiB or more by itself.
Only plain text logs can be indexed, not compressed logs, captures or journals. The exit code is 1 if a file was not
indexed.")]
pub struct IndexArgs {
    /// Logs, or folders with them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The time zone of lines whose time has none; must be the --zone of `order` and `grep`, because an index is for
    /// one time zone [default: UTC]
    #[arg(long, value_name = "ZONE", value_parser = LogZone::parse)]
    zone: Option<LogZone>,
}

/// Whether indexes are used.
#[derive(Args, Clone, Debug)]
pub struct IndexUse {
    /// Read logs whole, without an index
    #[arg(long)]
    no_index: bool,
}

impl IndexUse {
    /// The blocks to read, according to the indexes of the logs. Builds an index for logs of `build_from` bytes or
    /// more.
    pub fn blocks(
        &self,
        sources: &Sources,
        wanted: &BlockChoice,
        build_from: Option<u64>,
    ) -> BlockChoice {
        let Some(folder) = cache_folder().filter(|_| !self.no_index) else {
            return wanted.clone();
        };
        let indexes = LogIndexes::new(&folder, sources.zone());
        let files = LogIndexes::files(&sources.paths);
        wanted
            .clone()
            .with_indexes(indexes.open_all(&files, build_from))
    }
}

/// The folder of the indexes; `None` when the environment has no cache folder.
fn cache_folder() -> Option<PathBuf> {
    let absolute = |name| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("fixwire").join("index"))
}

/// Runs the command.
pub fn run(args: &IndexArgs) -> Result<ExitCode, Failure> {
    if args.paths.iter().any(|path| path == Path::new("-")) {
        let why = "the standard input has no index: write it to a file first";
        return Err(Failure::Text(why.to_owned()));
    }
    let folder = cache_folder().ok_or_else(|| {
        let why = "no folder for indexes: neither XDG_CACHE_HOME nor HOME is an absolute path";
        Failure::Text(why.to_owned())
    })?;
    let indexes = LogIndexes::new(&folder, args.zone.clone().unwrap_or_else(LogZone::utc));
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    for path in LogIndexes::files(&args.paths) {
        let name = Escaped(path.as_os_str().as_encoded_bytes()).to_string();
        match indexes.update(&path) {
            Ok(update) => rows.push([
                name,
                match (update.blocks, update.extended, update.read) {
                    (0, ..) => "less than a block: no index needed",
                    (_, false, _) => "built",
                    (_, true, 0) => "up to date",
                    (_, true, _) => "extended",
                }
                .to_owned(),
                update.covered.to_string(),
                update.blocks.to_string(),
                if update.blocks == 0 { 0 } else { update.size }.to_string(),
            ]),
            Err(why) => failures.push(format!("not indexed: {name}: {why}")),
        }
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let heads = ["file", "index", "bytes covered", "blocks", "bytes of index"];
    table(&mut out, heads, rows)?;
    out.flush()?;
    for failure in &failures {
        tell("error", failure);
    }
    Ok(exit_code(failures.is_empty()))
}
