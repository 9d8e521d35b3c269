//! Sparse index of the outbound messages of a session.

use super::JournalPosition;

/// The outbound messages of one session since its last reset.
///
/// The index has every `stride`-th message. When the index is full, it drops every second entry and doubles the
/// stride, so its size never changes. From an entry, a reader follows the links in the records to the earlier
/// messages.
#[derive(Debug)]
pub(super) struct Index {
    entries: Vec<(u64, JournalPosition)>,
    room: usize,
    stride: u64,
    /// Number of messages since the last entry was added.
    since: u64,
    last: (u64, JournalPosition),
    /// A position at or before the first message; `None` if the first entry gives the position.
    first: Option<JournalPosition>,
    /// Number of times that the index was cleared.
    generation: u64,
}

impl Index {
    pub(super) fn new(room: usize) -> Self {
        Self {
            entries: Vec::new(),
            room,
            stride: 1,
            since: 0,
            last: (0, JournalPosition::START),
            first: None,
            generation: 0,
        }
    }

    /// Allocates all of the index's memory now, so that [`Self::push`] allocates nothing. A session that is only in
    /// the journal, and not in use, gets no more memory than its messages need.
    pub(super) fn reserve(&mut self) {
        self.entries.reserve_exact(self.room - self.entries.len());
    }

    /// An index that has only the last message, because earlier messages are no longer kept.
    pub(super) fn resume(room: usize, last: (u64, JournalPosition)) -> Self {
        Self {
            last,
            first: (last.0 > 0).then_some(last.1),
            ..Self::new(room)
        }
    }

    /// MsgSeqNum and position of the last message; MsgSeqNum 0 if the session has no message.
    pub(super) fn last(&self) -> (u64, JournalPosition) {
        self.last
    }

    /// The position of the first message, or of an earlier message that is no longer kept; `None` if the session has
    /// no message.
    pub(super) fn first(&self) -> Option<JournalPosition> {
        let entry = || self.entries.first().map(|entry| entry.1);
        self.first.or_else(entry)
    }

    /// Records that messages before this position are no longer kept.
    pub(super) fn begin_at(&mut self, first: JournalPosition) {
        self.first = Some(first);
    }

    /// Clears the index, because the sequence numbers were reset.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.stride = 1;
        self.since = 0;
        self.last = (0, JournalPosition::START);
        self.first = None;
        self.generation += 1;
    }

    /// A number that changes whenever the sequence numbers are reset.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Adds a message whose MsgSeqNum is above [`Self::last`].
    #[inline]
    pub(super) fn push(&mut self, seq: u64, at: JournalPosition) {
        self.last = (seq, at);
        self.since += 1;
        if self.since >= self.stride {
            self.since = 0;
            if self.entries.len() == self.room {
                self.thin();
            }
            self.entries.push((seq, at));
        }
    }

    fn thin(&mut self) {
        self.first = self.first();
        let mut keep = false;
        // Keep the later entry of each pair, because an entry is at the end of its stride.
        self.entries.retain(|_| {
            keep = !keep;
            !keep
        });
        self.stride *= 2;
    }

    /// The indexed message with the lowest MsgSeqNum that is at least `seq` and whose position is at least `oldest`;
    /// `None` if the index has none.
    #[inline]
    pub(super) fn at_or_above(
        &self,
        seq: u64,
        oldest: JournalPosition,
    ) -> Option<(u64, JournalPosition)> {
        if self.last.0 < seq || self.last.0 == 0 || self.last.1 < oldest {
            return None;
        }
        // MsgSeqNums and positions increase together.
        let at = self
            .entries
            .partition_point(|entry| entry.0 < seq || entry.1 < oldest);
        Some(self.entries.get(at).copied().unwrap_or(self.last))
    }

    /// Maximum number of messages between two entries.
    pub(super) fn stride(&self) -> u64 {
        self.stride
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_keeps_its_size_and_an_entry_near_every_number() {
        let mut index = Index::new(8);
        for seq in 1..=1000 {
            index.push(seq, JournalPosition::new(1, seq as u32 * 8));
            assert!(index.len() <= 8);
        }
        assert_eq!(index.stride, 128);
        assert_eq!(index.first(), Some(JournalPosition::new(1, 8)));
        index.begin_at(JournalPosition::new(1, 16));
        assert_eq!(index.first(), Some(JournalPosition::new(1, 16)));
        for seq in 1..=1000 {
            let (near, at) = index.at_or_above(seq, JournalPosition::START).unwrap();
            assert!(near >= seq && near - seq < 256, "{seq}: {near}");
            assert_eq!(at.offset(), near as u32 * 8);
        }
        assert_eq!(index.at_or_above(1001, JournalPosition::START), None);
        let oldest = JournalPosition::new(1, 900 * 8);
        assert!(index.at_or_above(1, oldest).unwrap().1 >= oldest);
        assert_eq!(index.at_or_above(1, JournalPosition::new(2, 0)), None);
        index.clear();
        assert_eq!(index.at_or_above(1, JournalPosition::START), None);
        assert_eq!(index.first(), None);
        index.push(1, JournalPosition::new(3, 8));
        assert_eq!(index.first(), Some(JournalPosition::new(3, 8)));
    }

    #[test]
    fn an_index_that_goes_on_knows_that_messages_were_before() {
        let mut index = Index::resume(8, (7, JournalPosition::new(2, 64)));
        index.push(8, JournalPosition::new(9, 64));
        assert_eq!(index.first(), Some(JournalPosition::new(2, 64)));
        let mut index = Index::resume(8, (0, JournalPosition::START));
        index.push(1, JournalPosition::new(9, 64));
        assert_eq!(index.first(), Some(JournalPosition::new(9, 64)));
    }
}
