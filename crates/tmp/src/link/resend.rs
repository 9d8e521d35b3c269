//! The messages that a broker has missed, divided into blocks for L41.

use alloc::vec::Vec;

/// The messages with a MsgSeqNum that the exchange has sent, for a broker that has missed some. The store is filled
/// by [`crate::LinkAction::Keep`].
pub trait ResendStore {
    /// Appends the complete frame with this MsgSeqNum; `false` if the store lacks it.
    fn append(&mut self, msg_seq_num: u32, to: &mut Vec<u8>) -> bool;
}

/// The messages that a login still has to resend.
#[derive(Default)]
pub(crate) struct ResendBlocks {
    /// MsgSeqNum of the message to be read next from the store. The MsgSeqNum has 64 bits, so that it can exceed the
    /// last MsgSeqNum of the protocol.
    next: u64,
    end: u64,
    /// Bytes that were read from the store and are not sent yet.
    rest: Vec<u8>,
}

/// The next block: its length within [`ResendBlocks::bytes`], and whether it is the last block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ResendBlock {
    pub bytes: usize,
    pub is_last: bool,
}

impl ResendBlocks {
    /// Begins to resend all messages after `last`, up to `end`.
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

    /// Reads the next block, of at most `most` bytes. The block has complete messages only, unless `split`.
    ///
    /// # Errors
    ///
    /// The MsgSeqNum of a message that the store lacks.
    pub fn read(
        &mut self,
        most: usize,
        split: bool,
        store: &mut dyn ResendStore,
    ) -> Result<ResendBlock, u32> {
        let mut whole = self.rest.len();
        while self.rest.len() < most && self.next <= self.end {
            // `next` does not exceed `end`, which has 32 bits.
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

    /// Removes the block that was sent.
    pub fn sent(&mut self, block: ResendBlock) {
        self.rest.drain(..block.bytes);
        if block.is_last {
            self.rest = Vec::new();
        }
    }
}
