//! [`RejectedNumbers`]: the MsgSeqNums of our messages that a peer has rejected.

/// MsgSeqNums to which Rejects(3) of the peer have referred.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RejectedNumbers {
    /// The epoch of the MsgSeqNums, that is, the number of resets before them.
    epoch: u64,
    /// The highest of the MsgSeqNums.
    last: u64,
    /// One bit for each of the last 64 MsgSeqNums up to `last`. The lowest bit is for `last`.
    seen: u64,
}

impl RejectedNumbers {
    /// Whether no Reject has referred to this MsgSeqNum before. Records the MsgSeqNum.
    pub(crate) fn is_new(&mut self, epoch: u64, number: u64) -> bool {
        if epoch != self.epoch {
            *self = Self {
                epoch,
                ..Self::default()
            };
        }
        if let Some(above) = number.checked_sub(self.last).filter(|above| *above > 0) {
            self.seen = u32::try_from(above)
                .ok()
                .and_then(|it| self.seen.checked_shl(it))
                .unwrap_or(0)
                | 1;
            self.last = number;
            return true;
        }
        let below = u32::try_from(self.last - number).unwrap_or(u32::MAX);
        let bit = 1_u64.checked_shl(below).unwrap_or(0);
        let is_new = bit != 0 && self.seen & bit == 0;
        self.seen |= bit;
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::RejectedNumbers;

    #[test]
    fn each_number_is_new_once_in_whatever_order() {
        let mut numbers = RejectedNumbers::default();
        let mut is_new = |epoch, number| numbers.is_new(epoch, number);
        assert!(is_new(1, 5) && !is_new(1, 5));
        assert!(
            is_new(1, 3),
            "a Reject of an earlier message that comes later"
        );
        assert!(!is_new(1, 3) && is_new(1, 8) && !is_new(1, 5) && is_new(1, 4));
        assert!(is_new(1, 100) && !is_new(1, 8), "too far below");
        assert!(is_new(1, 37) && !is_new(1, 36), "63 below, 64 below");
        assert!(is_new(2, 5), "numbers were reset");
    }
}
