//! Reads a whole journal, one record after another.

use super::read::Records;
use super::resent::Arrival;
use super::{Disk, Journal, JournalError, JournalPosition, Record, RecordKind, Segment};

/// All segments of a journal. The segments are mapped while this value exists. An engine never needs this type: it
/// maps a few segments at a time.
pub struct MappedJournal<'j, D: Disk> {
    journal: &'j Journal<D>,
    /// The segments that the journal itself does not keep mapped, beginning with its first segment.
    older: Vec<D::Segment>,
}

impl<D: Disk> Journal<D> {
    /// Maps all segments, so that any record can be read.
    ///
    /// # Errors
    ///
    /// A segment cannot be mapped.
    pub fn reading(&mut self) -> Result<MappedJournal<'_, D>, JournalError> {
        let mut older = Vec::new();
        for number in self.segments.first()..=self.segments.last() {
            if self.segments.newest(number).is_none() {
                older.push(self.disk.open(number)?);
            }
        }
        let journal = &*self;
        Ok(MappedJournal { journal, older })
    }
}

impl<D: Disk> MappedJournal<'_, D> {
    /// All records from a position on. The position is [`JournalPosition::START`], or the `at` or `end` of a record.
    #[must_use]
    pub fn records(&self, from: JournalPosition) -> Records<'_> {
        let (first, end) = self.journal.positions();
        let segment = |number| {
            let newest = self.journal.segments.newest(number);
            let older = || self.older.get((number - first.segment()) as usize);
            newest.or_else(older).map(Segment::bytes)
        };
        let numbers = first.segment()..=end.segment();
        let segments = numbers.map_while(segment).collect();
        Records::new(first.segment(), segments, from.max(first), end)
    }

    /// Like [`Originals::inbound`](super::Originals::inbound), for an open journal.
    #[must_use]
    pub fn inbound<'a>(&'a self, record: &Record<'a>) -> Option<&'a [u8]> {
        if record.kind.is_inbound() {
            return Some(record.body);
        }
        let arrival = Arrival::read(record.body).filter(|_| record.kind == RecordKind::Dequeued)?;
        let found = self.records(arrival.at).next()?;
        (found.at == arrival.at && found.kind.is_inbound()).then_some(found.body)
    }
}
