//! `fixwire log anonymise`: makes logs safe to share.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use fixwire_protocol::Tag;
use fixwire_protocol::readable::Escaped;
use fixwire_reader::{Anonymiser, LogEntry, LogStep};

use super::sources::{NotWritten, Sources, exit_code, tell_left_out, way, write_time};
use super::summary::table;
use crate::dictionary::load;
use crate::failure::Failure;

/// Maximum number of open files.
const MOST_OPEN: usize = 64;
/// Minimum length of a key, and length of a random key, in bytes.
const KEY: [u64; 2] = [16, 32];
/// Maximum length of a key, in bytes.
const LONGEST_KEY: u64 = 1 << 20;

/// Arguments of `fixwire log anonymise`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log anonymise logs --to anonymous
  fixwire log anonymise logs capture.pcapng --to anonymous --key-file key --keep 1 --text 5001

CompIDs, ids of orders, executions and requests, accounts, firms, users and all fields from 5000 on are replaced by
pseudonyms of the same form: digits for digits, letters for letters. The same value has the same pseudonym in all
files, so you can still follow orders; with --key-file it has the same pseudonym in a later run too. Texts, names,
addresses and data fields are replaced by x, secrets by *. Prices, quantities, symbols, times and sequence numbers do
not change. Lengths do not change, and CheckSum(10) is right.
FOLDER gets one text file for each input file; its name does not show which one. Of the rest of each log line, only
the time (in UTC) and the direction are kept. The command prints which text file comes from which input file; this
table is not written to FOLDER.
Messages with a wrong frame or a malformed field are left out; the output names them, and the exit code is 1. It is
also 1 if something could not be read.")]
pub struct AnonymiseArgs {
    #[command(flatten)]
    sources: Sources,
    /// Folder for the text files: a new folder, or an empty one
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
    /// The key of pseudonyms, at least 16 bytes, which must stay secret [default: a random one, which is not kept]
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Fields that are not changed; secrets are always masked
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    keep: Vec<Tag>,
    /// More fields whose values get pseudonyms
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    id: Vec<Tag>,
    /// More fields whose values are replaced by x
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    text: Vec<Tag>,
    /// A dictionary whose data fields are replaced too
    #[arg(long, value_name = "NAME|FILE")]
    dictionary: Option<String>,
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::Text(format!("{}: {error}", path.display()))
}

fn key(args: &AnonymiseArgs) -> Result<Vec<u8>, Failure> {
    let (path, most) = match &args.key_file {
        Some(path) => (path.as_path(), LONGEST_KEY),
        None => (Path::new("/dev/urandom"), KEY[1]),
    };
    let file = File::open(path).map_err(|error| cannot(path, &error))?;
    let mut key = Vec::new();
    file.take(most)
        .read_to_end(&mut key)
        .map_err(|error| cannot(path, &error))?;
    while args.key_file.is_some() && key.ends_with(b"\n") {
        key.pop();
    }
    if (key.len() as u64) < KEY[0] {
        let path = path.display();
        let why = format!(
            "{path}: a key has at least {} bytes, but this key has {}",
            KEY[0],
            key.len()
        );
        return Err(Failure::Text(why));
    }
    Ok(key)
}

/// The output texts of one run.
struct Texts<'a> {
    folder: &'a Path,
    /// By input file: the index of its output text, and the number of its messages.
    of: HashMap<String, (usize, u64)>,
    open: HashMap<usize, BufWriter<File>>,
}

impl Texts<'_> {
    fn name(number: usize) -> String {
        format!("log-{number:03}.log")
    }

    /// Appends a message to the text of its file.
    fn write(&mut self, entry: &LogEntry<'_>, message: &[u8]) -> Result<(), Failure> {
        let next = self.of.len() + 1;
        if !self.of.contains_key(entry.file) {
            self.of.insert(entry.file.to_owned(), (next, 0));
        }
        let (number, count) = self.of.get_mut(entry.file).expect("it was put there");
        *count += 1;
        let (number, is_new) = (*number, *count == 1);
        let path = self.folder.join(Self::name(number));
        if !self.open.contains_key(&number) {
            if self.open.len() >= MOST_OPEN {
                self.close()?;
            }
            let mut how = OpenOptions::new();
            how.append(true).create_new(is_new).mode(0o600);
            let file = how.open(&path).map_err(|error| cannot(&path, &error))?;
            self.open.insert(number, BufWriter::new(file));
        }
        let out = self.open.get_mut(&number).expect("it was put there");
        let mut write = || {
            if entry.time().0.is_some() {
                write_time(entry, out)?;
                out.write_all(b" ")?;
            }
            if entry.direction().is_some() {
                write!(out, "<{}> ", way(entry.direction()))?;
            }
            out.write_all(b": ")?;
            out.write_all(message)?;
            out.write_all(b"\n")
        };
        write().map_err(|error| cannot(&path, &error))
    }

    fn close(&mut self) -> Result<(), Failure> {
        for (number, mut file) in self.open.drain() {
            let path = self.folder.join(Self::name(number));
            file.flush().map_err(|error| cannot(&path, &error))?;
        }
        Ok(())
    }
}

/// Runs the command.
pub fn run(args: &AnonymiseArgs) -> Result<ExitCode, Failure> {
    let mut anonymiser = Anonymiser::new(&key(args)?);
    if let Some(name) = &args.dictionary {
        anonymiser.learn(&load(name)?);
    }
    anonymiser.add_ids(&args.id);
    anonymiser.add_texts(&args.text);
    anonymiser.keep(&args.keep);
    fs::create_dir_all(&args.to).map_err(|error| cannot(&args.to, &error))?;
    let mut inside = fs::read_dir(&args.to).map_err(|error| cannot(&args.to, &error))?;
    if inside.next().is_some() {
        let folder = args.to.display();
        let why = format!("{folder}: the folder is not empty: name a new one");
        return Err(Failure::Text(why));
    }
    let mut texts = Texts {
        folder: &args.to,
        of: HashMap::new(),
        open: HashMap::new(),
    };
    let mut reader = args.sources.open(false)?;
    let mut not_written = NotWritten::default();
    while let LogStep::Message(entry) = reader.next_step() {
        match anonymiser.message(&entry) {
            Ok(message) => texts.write(&entry, &message)?,
            Err(why) => not_written.add(&entry, &why),
        }
    }
    texts.close()?;
    let all_written = not_written.tell();
    let mut rows: Vec<(String, (usize, u64))> = texts.of.into_iter().collect();
    rows.sort_by_key(|(_, (number, _))| *number);
    let rows = rows.into_iter().map(|(file, (number, count))| {
        let file = Escaped(file.as_bytes()).to_string();
        [Texts::name(number), count.to_string(), file]
    });
    let mut out = io::stdout().lock();
    table(&mut out, ["text", "messages", "of"], rows.collect())?;
    out.flush()?;
    let is_whole = tell_left_out(&reader.take_left_out());
    Ok(exit_code(is_whole && all_written))
}
