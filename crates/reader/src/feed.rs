//! Sources of bytes: a file, which may grow or be replaced; standard input; and packed data in either.

use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, ErrorKind, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use fixwire_sys::regular;
use flate2::read::MultiGzDecoder;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// The largest zstd window that is unpacked. This window is enough for `zstd --ultra --long=26`.
const MOST_WINDOW: u64 = 64 << 20;

/// Result of a read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fed {
    /// This number of bytes.
    Bytes(usize),
    /// The file has a hole up to this position. The hole is skipped.
    Hole(u64),
    /// Nothing is available now, but more may follow.
    Wait,
    /// The path has a new file, or the file was truncated; the text says which of the two. The next byte is the
    /// file's first byte.
    Restart(&'static str),
    /// The end.
    End,
}

/// A source of bytes.
pub(crate) trait Feed: Send {
    fn feed(&mut self, into: &mut [u8]) -> io::Result<Fed>;

    /// Continues at another position, if the source is a file.
    fn go_to(&mut self, _place: u64) {}
}

/// A file.
pub(crate) struct FileFeed {
    path: PathBuf,
    file: File,
    at: u64,
    follow: bool,
    /// The end of the current data range, where the next hole begins; `None` for a file without holes.
    data_end: Option<u64>,
}

impl FileFeed {
    pub(crate) fn open(path: &Path, follow: bool) -> io::Result<Self> {
        let file = regular::open(path)?;
        let facts = file.metadata()?;
        let has_holes = facts.blocks().saturating_mul(512) < facts.len();
        Ok(Self {
            path: path.to_owned(),
            file,
            at: 0,
            follow,
            data_end: has_holes.then_some(0),
        })
    }

    /// The first bytes.
    pub(crate) fn start(&mut self, len: usize) -> io::Result<Vec<u8>> {
        let mut start = vec![0; len];
        let mut filled = 0;
        while filled < len {
            match self.file.read_at(&mut start[filled..], filled as u64)? {
                0 => break,
                more => filled += more,
            }
        }
        start.truncate(filled);
        Ok(start)
    }

    /// The feed for packed data: holes are not skipped, and the end of the file is final.
    pub(crate) fn packed(self) -> Self {
        Self {
            follow: false,
            data_end: None,
            ..self
        }
    }

    /// If there is a hole at the current position, its end; otherwise the current position.
    fn behind_hole(&mut self) -> io::Result<u64> {
        if self.data_end.is_none_or(|end| self.at < end) {
            return Ok(self.at);
        }
        let data = match seek(&self.file, SeekFrom::Data(self.at)) {
            Ok(data) => data,
            Err(Errno::NXIO) => self.file.metadata()?.len().max(self.at),
            // The file system does not report holes.
            Err(_) => self.at,
        };
        self.data_end = match seek(&self.file, SeekFrom::Hole(data)) {
            Ok(end) if end > data => Some(end),
            Ok(_) | Err(Errno::NXIO) => Some(data),
            Err(_) => None,
        };
        Ok(data)
    }

    /// The action at the end of a followed file.
    fn at_end(&mut self) -> io::Result<Fed> {
        let own = self.file.metadata()?;
        if own.len() < self.at {
            self.at = 0;
            return Ok(Fed::Restart(
                "the file became shorter: it is read from its start",
            ));
        }
        let named = match fs::metadata(&self.path) {
            Ok(named) => named,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Fed::Wait),
            Err(error) => return Err(error),
        };
        if (named.dev(), named.ino()) == (own.dev(), own.ino()) {
            return Ok(Fed::Wait);
        }
        *self = Self::open(&self.path, true)?;
        Ok(Fed::Restart(""))
    }
}

impl Feed for FileFeed {
    fn feed(&mut self, into: &mut [u8]) -> io::Result<Fed> {
        let data = self.behind_hole()?;
        if data > self.at {
            self.at = data;
            return Ok(Fed::Hole(data));
        }
        let room = match self.data_end {
            Some(end) if end > self.at => into.len().min((end - self.at) as usize),
            _ => into.len(),
        };
        loop {
            match self.file.read_at(&mut into[..room], self.at) {
                Ok(0) if self.follow => return self.at_end(),
                Ok(0) => return Ok(Fed::End),
                Ok(len) => {
                    self.at += len as u64;
                    return Ok(Fed::Bytes(len));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn go_to(&mut self, place: u64) {
        self.at = place;
        // The data ranges of the new file must be determined.
        self.data_end = self.data_end.map(|_| 0);
    }
}

/// A reader whose end is final.
pub(crate) struct ReadFeed<R>(pub(crate) R);

impl<R: Read + Send> Feed for ReadFeed<R> {
    fn feed(&mut self, into: &mut [u8]) -> io::Result<Fed> {
        loop {
            match self.0.read(into) {
                Ok(0) => return Ok(Fed::End),
                Ok(len) => return Ok(Fed::Bytes(len)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// The content of a file or a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Content {
    Text,
    Gzip,
    Zstd,
    Pcap,
    PcapNg,
    /// One segment of a journal.
    Segment,
    /// A text in UTF-16.
    Wide,
}

impl Content {
    /// The type of content that begins with these bytes.
    pub(crate) fn of(start: &[u8]) -> Self {
        const SKIPPABLE: [u8; 3] = [0x2a, 0x4d, 0x18];
        match start {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            [0x50..=0x5f, rest @ ..] if rest.starts_with(&SKIPPABLE) => Self::Zstd,
            [0xa1, 0xb2, 0xc3, 0xd4, ..] | [0xa1, 0xb2, 0x3c, 0x4d, ..] => Self::Pcap,
            [0xd4, 0xc3, 0xb2, 0xa1, ..] | [0x4d, 0x3c, 0xb2, 0xa1, ..] => Self::Pcap,
            [0x0a, 0x0d, 0x0d, 0x0a, ..] => Self::PcapNg,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Self::Wide,
            _ if start.starts_with(&fixwire_journal::segment::MAGIC) => Self::Segment,
            _ => Self::Text,
        }
    }
}

/// Number of bytes that [`Content::of`] examines.
pub(crate) const START: usize = 8;

/// Reads the first bytes. Returns the first bytes, and a reader that still includes them.
pub(crate) fn peek(
    mut reader: Box<dyn Read + Send>,
) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut start = Vec::new();
    Read::take(&mut reader, START as u64).read_to_end(&mut start)?;
    let whole = Cursor::new(start.clone()).chain(reader);
    Ok((start, Box::new(whole)))
}

/// Unpacks gzip; the data may have several members.
pub(crate) fn gunzip(reader: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
    Box::new(MultiGzDecoder::new(BufReader::with_capacity(
        1 << 16,
        reader,
    )))
}

/// Unpacks the frames of zstd.
pub(crate) struct Unzstd {
    /// The packed bytes between two frames; `None` while a frame is being read.
    source: Option<BufReader<Box<dyn Read + Send>>>,
    frame: Option<StreamingDecoder<Whole, FrameDecoder>>,
}

/// The header that was examined, followed by the rest.
type Whole = io::Chain<Cursor<Vec<u8>>, BufReader<Box<dyn Read + Send>>>;

impl Unzstd {
    pub(crate) fn new(reader: Box<dyn Read + Send>) -> Self {
        Self {
            source: Some(BufReader::with_capacity(1 << 16, reader)),
            frame: None,
        }
    }

    /// Opens the next frame; false at the end of the data.
    fn open_frame(&mut self) -> io::Result<bool> {
        let Some(mut source) = self.source.take() else {
            return Ok(false);
        };
        let mut magic = Vec::new();
        Read::take(&mut source, 4).read_to_end(&mut magic)?;
        if magic.is_empty() {
            return Ok(false);
        }
        let is_skippable = matches!(magic[..], [0x50..=0x5f, 0x2a, 0x4d, 0x18]);
        if is_skippable {
            let mut len = [0; 4];
            source.read_exact(&mut len)?;
            let len = u64::from(u32::from_le_bytes(len));
            let skipped = io::copy(&mut Read::take(&mut source, len), &mut io::sink())?;
            if skipped < len {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.source = Some(source);
            return Ok(true);
        }
        let whole = Cursor::new(magic).chain(source);
        let frame = StreamingDecoder::new_with_max_window_size(whole, MOST_WINDOW);
        self.frame = Some(frame.map_err(|error| io::Error::other(error.to_string()))?);
        Ok(true)
    }
}

impl Read for Unzstd {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let len = frame.read(into)?;
                if len > 0 || into.is_empty() {
                    return Ok(len);
                }
                let decoder = &frame.decoder;
                let sums = (
                    decoder.get_checksum_from_data(),
                    decoder.get_calculated_checksum(),
                );
                if let (Some(stated), Some(counted)) = sums
                    && stated != counted
                {
                    self.frame = None;
                    return Err(io::Error::other("the checksum of a zstd frame is wrong"));
                }
                let rest = self
                    .frame
                    .take()
                    .map(|frame| frame.into_inner().into_inner().1);
                self.source = rest;
            }
            if !self.open_frame()? {
                return Ok(0);
            }
        }
    }
}
