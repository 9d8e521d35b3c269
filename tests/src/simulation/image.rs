//! The contents of a journal, apart from where they are stored.

use fixwire::journal::sim::SimDisk;
use fixwire::journal::{
    Journal, JournalConfig, JournalError, JournalPosition, Record, RecordKind, SequenceCounters,
};

/// The contents of a journal.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Image {
    /// One digest for each record, in order, without records that register or carry a session.
    pub records: Vec<u64>,
    /// The places of all records.
    pub spans: Vec<Span>,
    /// The end of the last record; a segment without one may be there or not.
    pub end: JournalPosition,
    /// The counters of all sessions.
    pub counters: Vec<SequenceCounters>,
}

impl Image {
    /// Whether the other image continues this one, perhaps after segments were retired here.
    pub fn begins_with(&self, other: &Self) -> bool {
        let first = self
            .spans
            .first()
            .map_or(JournalPosition::START, |span| span.at);
        let retired = other.spans.iter().take_while(|span| span.at < first);
        self.spans.starts_with(&other.spans[retired.count()..])
    }
}

/// One record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Span {
    /// The beginning of the record.
    pub at: JournalPosition,
    /// The end of the record.
    pub end: JournalPosition,
    /// The synced position that the record states.
    pub synced: JournalPosition,
    digest: u64,
}

/// Opens a copy of the disk and reads its content.
///
/// # Errors
///
/// The reason why it cannot be opened.
pub fn image(disk: &SimDisk, config: JournalConfig) -> Result<Image, JournalError> {
    let (mut journal, _) = Journal::open(disk.copy(), config)?;
    let (mut records, mut spans) = (Vec::new(), Vec::new());
    for record in journal.reading()?.records(JournalPosition::START) {
        let digest = digest(&record);
        spans.push(Span {
            at: record.at,
            end: record.end,
            synced: record.synced,
            digest,
        });
        if !matches!(record.kind, RecordKind::Session | RecordKind::Carried) {
            records.push(digest);
        }
    }
    Ok(Image {
        records,
        end: spans.last().map_or(JournalPosition::START, |last| last.end),
        spans,
        counters: journal.sessions().map(|known| known.2).collect(),
    })
}

/// The content of a record.
fn digest(record: &Record<'_>) -> u64 {
    let mut digest = Digest::default();
    digest.add(record.body);
    for effect in record.effects {
        digest.add(&effect.seq.to_le_bytes());
        digest.add(effect.bytes);
    }
    let SequenceCounters {
        next_in,
        next_out,
        epoch,
    } = record.counters;
    for number in [
        next_in,
        next_out,
        u64::from(epoch),
        record.wall.0.cast_unsigned(),
    ] {
        digest.add(&number.to_le_bytes());
    }
    digest.0
}

/// FNV-1a over eight bytes at a time: enough to distinguish records.
#[derive(Default)]
struct Digest(u64);

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        let mut mix = |word: u64| {
            self.0 = (self.0 ^ word)
                .wrapping_mul(0x0000_0100_0000_01B3)
                .rotate_left(29);
        };
        mix(bytes.len() as u64);
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            mix(u64::from_le_bytes(word));
        }
    }
}
