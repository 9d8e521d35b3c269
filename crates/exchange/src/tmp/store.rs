//! The state of a TMP line that is kept when its connection closes: MsgSeqNums, and frames that a later login may
//! request.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use fixwire_tmp::{LinkNumbers, ResendStore};

/// Maximum number of frames that are kept for a line. A login that requests an older frame is refused with status 99.
pub(crate) const KEPT_MAX: usize = 1_000_000;

/// MsgSeqNums and kept frames of a TMP line. Only notes change the MsgSeqNums and the kept frames.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct TmpStore {
    /// The last MsgSeqNum received.
    pub(crate) inbound: u32,
    /// The last MsgSeqNum sent, which is the MsgSeqNum of the last kept frame.
    pub(crate) outbound: u32,
    pub(crate) frames: VecDeque<Box<[u8]>>,
}

impl TmpStore {
    pub(crate) fn numbers(&self) -> LinkNumbers {
        LinkNumbers {
            inbound: self.inbound,
            outbound: self.outbound,
        }
    }

    /// Keeps a frame; `None` if its MsgSeqNum is not the next one.
    pub(crate) fn keep(&mut self, msg_seq_num: u32, frame: &[u8]) -> Option<()> {
        if self.outbound.checked_add(1)? != msg_seq_num {
            return None;
        }
        self.outbound = msg_seq_num;
        self.frames.push_back(frame.into());
        if self.frames.len() > KEPT_MAX {
            self.frames.pop_front();
        }
        Some(())
    }

    fn get(&self, msg_seq_num: u32) -> Option<&[u8]> {
        let behind = self.outbound.checked_sub(msg_seq_num)? as usize;
        let at = self.frames.len().checked_sub(behind + 1)?;
        self.frames.get(at).map(|frame| &**frame)
    }
}

/// The kept frames of a line, from which a login receives those that it requests.
pub(crate) struct KeptFrames<'a>(pub(crate) Option<&'a TmpStore>);

impl ResendStore for KeptFrames<'_> {
    fn append(&mut self, msg_seq_num: u32, to: &mut Vec<u8>) -> bool {
        let frame = self.0.and_then(|store| store.get(msg_seq_num));
        to.extend_from_slice(frame.unwrap_or_default());
        frame.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_by_their_numbers() {
        let mut store = TmpStore::default();
        assert_eq!(store.keep(2, b"two"), None);
        assert_eq!(store.keep(1, b"one"), Some(()));
        assert_eq!(store.keep(2, b"two"), Some(()));
        let mut found = Vec::new();
        let mut kept = KeptFrames(Some(&store));
        assert!(kept.append(2, &mut found) && kept.append(1, &mut found));
        assert_eq!(found, b"twoone");
        assert!(!kept.append(0, &mut found) && !kept.append(3, &mut found));
        assert!(!KeptFrames(None).append(1, &mut found));
    }
}
