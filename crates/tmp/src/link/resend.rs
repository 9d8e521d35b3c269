//! What a broker has missed, cut into blocks for L41.

use alloc::vec::Vec;

/// The messages with numbers that the exchange has sent, for a broker that has missed them. It is filled from
/// [`crate::LinkAction::Keep`].
pub trait ResendStore {
    /// Appends the whole frame with this MsgSeqNum; `false` if it is missing.
    fn append(&mut self, msg_seq_num: u32, to: &mut Vec<u8>) -> bool;
}

/// Messages that are still to be resent at a login.
#[derive(Default)]
pub(crate) struct ResendBlocks {
    /// The next one to be read from the store; 64 bits, so that it can exceed the last number.
    next: u64,
    end: u64,
    /// Read, and not yet sent.
    rest: Vec<u8>,
}

/// The next block: its length in [`ResendBlocks::bytes`], and whether it is the last one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ResendBlock {
    pub bytes: usize,
    pub is_last: bool,
}

impl ResendBlocks {
    /// All messages after `last` up to `end`.
    pub fn begin(&mut self, last: u32, end: u32) {
        (self.next, self.end) = (u64::from(last) + 1, u64::from(end));
        self.rest.clear();
    }

    /// Whether all blocks were sent.
    pub fn is_done(&self) -> bool {
        self.next > self.end && self.rest.is_empty()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.rest
    }

    /// Reads the next block of at most `most` bytes; whole messages, unless `split`.
    ///
    /// # Errors
    ///
    /// The number of a message that the store does not have.
    pub fn read(
        &mut self,
        most: usize,
        split: bool,
        store: &mut dyn ResendStore,
    ) -> Result<ResendBlock, u32> {
        let mut whole = self.rest.len();
        while self.rest.len() < most && self.next <= self.end {
            // Not beyond `end`, which has 32 bits.
            let number = self.next as u32;
            let before = self.rest.len();
            if !store.append(number, &mut self.rest) || self.rest.len() == before {
                return Err(number);
            }
            self.next += 1;
            if self.rest.len() <= most {
                whole = self.rest.len();
            }
        }
        let bytes = match split {
            true => self.rest.len().min(most),
            // A message that is longer than a block is sent alone.
            false if whole == 0 => self.rest.len(),
            false => whole,
        };
        let is_last = self.next > self.end && bytes == self.rest.len();
        Ok(ResendBlock { bytes, is_last })
    }

    /// The block was sent.
    pub fn sent(&mut self, block: ResendBlock) {
        self.rest.drain(..block.bytes);
        if block.is_last {
            self.rest = Vec::new();
        }
    }
}
