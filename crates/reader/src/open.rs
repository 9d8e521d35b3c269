//! Detects the content type of a path, and opens it.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::ahead::AheadInput;
use crate::capture::CaptureInput;
use crate::entry::Hints;
use crate::feed::{Content, Feed, FileFeed, ReadFeed, START, Unzstd, gunzip, peek};
use crate::index_choice::{BlockChoice, BlockPlan};
use crate::input::LogInput;
use crate::journal::JournalInput;
use crate::left_out::{LeftOut, LeftOuts};
use crate::reader::ReadOptions;
use crate::text::{FeedReader, TextInput};
use crate::zone::Clock;

/// Maximum depth of folders within folders.
const DEPTH: usize = 16;
/// Extensions of files in which QuickFIX stores messages, next to its logs. QuickFIX stores sent messages in these
/// files a second time.
const STORES: [&str; 1] = [".body"];
/// Bytes per read when only some blocks of a file are read.
const PLANNED: usize = 1 << 17;
/// A source of at least this size is read by a thread of its own, unless there are many sources. Bytes.
const AHEAD: u64 = 4 << 20;
/// Maximum depth of packed data within packed data.
const LAYERS: usize = 3;

/// An opened source.
pub(crate) struct Opened {
    pub(crate) kind: String,
    pub(crate) input: Box<dyn LogInput>,
}

/// The files and journals at a path; `-` is standard input.
pub(crate) fn sources(path: &Path, left_out: &mut LeftOuts) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if path == Path::new("-") || !path.is_dir() {
        return vec![path.to_owned()];
    }
    let name = path.display().to_string();
    if let Err(error) = in_folder(path, DEPTH, &mut found, left_out) {
        left_out.push(LeftOut::whole(&name, error));
    } else if found.is_empty() {
        left_out.push(LeftOut::whole(
            &name,
            "the folder contains no log and no journal",
        ));
    }
    found
}

/// Whether the messages of this file are in another file too: file stores contain the sent messages, and event logs
/// quote the message log.
fn repeats(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    STORES.iter().any(|end| name.ends_with(end))
        || name.contains(".event.")
            && path
                .with_file_name(name.replace(".event.", ".messages."))
                .is_file()
}

fn in_folder(
    folder: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
    left_out: &mut LeftOuts,
) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    if entries.iter().any(|entry| is_segment(&entry.path())) {
        found.push(folder.to_owned());
        return Ok(());
    }
    for entry in entries {
        let path = entry.path();
        // A link to a folder may lead back to this folder.
        if entry.file_type()?.is_dir() {
            match depth {
                0 => left_out.push(LeftOut::whole(
                    &path.display().to_string(),
                    "more than 16 folders deep",
                )),
                _ => in_folder(&path, depth - 1, found, left_out)?,
            }
        } else if !repeats(&path) && path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

fn is_segment(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| end == "fwj" || end == "fwz")
}

/// How to open a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenMode {
    /// Read size, bytes.
    pub(crate) block: usize,
    /// Whether a thread of its own may read the source.
    pub(crate) ahead: bool,
    /// Whether this is the only source. If so, messages without a match need not be merged with those of other
    /// sources.
    pub(crate) alone: bool,
}

/// Opens a file, a journal or standard input.
///
/// # Errors
///
/// A sentence that says why the source cannot be read.
pub(crate) fn open(
    path: &Path,
    options: &ReadOptions,
    mode: OpenMode,
    (choice, left_out): (&BlockChoice, &mut LeftOuts),
) -> Result<Opened, String> {
    let plan = choice.plan(path).filter(|_| !options.follow);
    let has_plan = plan.is_some();
    let opened = open_here(path, options, mode, (plan, left_out))?;
    // A source is read in this thread if it needs journal records or index blocks.
    let is_plain = !options.follow && !options.records && !has_plan;
    let is_searched = mode.alone && options.needle.is_some() && opened.kind == "text";
    if !mode.ahead || !is_plain || is_searched || size(path) < AHEAD {
        return Ok(opened);
    }
    let (name, hints) = named(path, options);
    let input = AheadInput::start(name, hints, opened.input)?;
    Ok(Opened {
        input: Box::new(input),
        ..opened
    })
}

/// Size of a file, or of all segments of a journal together, bytes.
fn size(path: &Path) -> u64 {
    let of = |path: &Path| fs::metadata(path).map_or(0, |facts| facts.len());
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| of(&entry.path())).sum(),
        Err(_) => of(path),
    }
}

/// The name of a source, and what is known about its messages.
fn named(path: &Path, options: &ReadOptions) -> (String, Hints) {
    let name = match path == Path::new("-") {
        true => "stdin".to_owned(),
        false => path.display().to_string(),
    };
    let clock = Clock::new(options.zone.clone());
    let hints = Hints::new(&name, &options.ours, clock, options.shift_of(&name));
    (name, hints)
}

fn open_here(
    path: &Path,
    options: &ReadOptions,
    mode: OpenMode,
    (plan, left_out): (Option<BlockPlan>, &mut LeftOuts),
) -> Result<Opened, String> {
    let (name, hints) = named(path, options);
    let failed = |error: io::Error| error.to_string();
    if path.is_dir() {
        let input = JournalInput::new(path, name, hints, options.follow, options.dequeued);
        return Ok(Opened {
            kind: "journal".to_owned(),
            input: Box::new(input),
        });
    }
    let needle = options.needle.clone();
    let opening = Opening {
        name,
        hints,
        block: mode.block,
        needle: needle.filter(|_| mode.alone && !options.follow),
    };
    if path == Path::new("-") {
        let (start, reader) = peek(Box::new(io::stdin())).map_err(failed)?;
        return opening.of_reader(Content::of(&start), reader);
    }
    let mut feed = FileFeed::open(path, options.follow).map_err(failed)?;
    let start = feed.start(START).map_err(failed)?;
    match Content::of(&start) {
        Content::Text => Ok(opening.plain_text(feed, plan, left_out)),
        Content::Pcap => Ok(opening.capture(Box::new(feed), "pcap".to_owned(), "")),
        Content::PcapNg => Ok(opening.capture(Box::new(feed), "pcapng".to_owned(), "")),
        Content::Segment => Err(SEGMENT.to_owned()),
        Content::Wide => Err(WIDE.to_owned()),
        packed => opening.of_reader(packed, Box::new(FeedReader(Box::new(feed.packed())))),
    }
}

const WIDE: &str = "a text in UTF-16: convert it first, with iconv -f UTF-16 -t UTF-8";
const SEGMENT: &str = "a segment of a journal: name the journal's folder";

struct Opening {
    name: String,
    hints: Hints,
    block: usize,
    needle: Option<Vec<u8>>,
}

impl Opening {
    fn text(self, feed: Box<dyn Feed>, packing: String, packed: &'static str) -> Opened {
        let input = TextInput::new(self.name, self.hints, feed, self.block, packed);
        Opened {
            kind: format!("text{packing}"),
            input: Box::new(input),
        }
    }

    /// A plain text. With a plan, only some of its blocks are read.
    fn plain_text(
        self,
        feed: FileFeed,
        plan: Option<BlockPlan>,
        left_out: &mut LeftOuts,
    ) -> Opened {
        let block = match plan {
            Some(_) => self.block.min(PLANNED),
            None => self.block,
        };
        let mut input = TextInput::new(self.name, self.hints, Box::new(feed), block, "");
        match (plan, self.needle) {
            (Some(plan), _) => input.follow_plan(plan, left_out),
            (None, Some(needle)) => input.pass_over(&needle),
            (None, None) => {}
        }
        Opened {
            kind: "text".to_owned(),
            input: Box::new(input),
        }
    }

    fn capture(self, feed: Box<dyn Feed>, kind: String, packed: &'static str) -> Opened {
        let input = CaptureInput::new(self.name, self.hints, feed, packed);
        Opened {
            kind,
            input: Box::new(input),
        }
    }

    /// The content of a reader whose first bytes were examined. The content is unpacked as often as necessary.
    fn of_reader(self, content: Content, reader: Box<dyn Read + Send>) -> Result<Opened, String> {
        let (mut content, mut reader) = (content, reader);
        let (mut packing, mut packed) = (String::new(), "");
        for _ in 0..LAYERS {
            let unpacked: Box<dyn Read + Send> = match content {
                Content::Gzip => {
                    (packing, packed) = (format!("{packing}, gzip"), "gzip: ");
                    gunzip(reader)
                }
                Content::Zstd => {
                    (packing, packed) = (format!("{packing}, zstd"), "zstd: ");
                    Box::new(Unzstd::new(reader))
                }
                _ => break,
            };
            let (start, whole) = peek(unpacked).map_err(|error| format!("{packed}{error}"))?;
            (content, reader) = (Content::of(&start), whole);
        }
        let feed = Box::new(ReadFeed(reader));
        match content {
            Content::Text => Ok(self.text(feed, packing, packed)),
            Content::Pcap => Ok(self.capture(feed, format!("pcap{packing}"), packed)),
            Content::PcapNg => Ok(self.capture(feed, format!("pcapng{packing}"), packed)),
            Content::Segment => Err(SEGMENT.to_owned()),
            Content::Wide => Err(WIDE.to_owned()),
            Content::Gzip | Content::Zstd => Err("packed more than three times".to_owned()),
        }
    }
}
