//! Gives a message its MsgSeqNum, header and trailer.

use super::Session;
use super::phase::Phase;
use crate::outbox::{AdminOut, MsgSeqNumSource, Outbox};
use crate::{Now, tag};

impl Session {
    /// Gives a message its MsgSeqNum, header and trailer. Call this for every new entry of this session, in order,
    /// directly after the call that has written the entry.
    pub fn seal(&mut self, now: Now, outbox: &mut Outbox, index: usize) {
        let number = self.number(now, outbox, index);
        let time = self.stamp.format(now.wall, self.config.precision);
        outbox.seal(index, &self.header, number, time);
    }

    /// As [`seal`](Self::seal), for an admin message. `change` may change its fields first.
    pub fn seal_changed(
        &mut self,
        now: Now,
        outbox: &mut Outbox,
        index: usize,
        change: impl FnOnce(&mut AdminOut<'_>),
    ) {
        let number = self.number(now, outbox, index);
        let time = self.stamp.format(now.wall, self.config.precision);
        outbox.change_admin(index, &self.header, number, time, change);
        outbox.seal(index, &self.header, number, time);
    }

    /// The MsgSeqNum that a message gets. From now on this MsgSeqNum is in use.
    #[inline(always)]
    fn number(&mut self, now: Now, outbox: &mut Outbox, index: usize) -> u64 {
        let entry = outbox.entries()[index];
        let number = match entry.number {
            MsgSeqNumSource::Fixed(number) => number,
            MsgSeqNumSource::Next => {
                if !self.config.keep_own_poss_dup {
                    outbox.leave_out_poss_dup(index);
                }
                let number = self.next_out;
                self.next_out += 1;
                number
            }
        };
        if let Phase::LoggedOn(up) = &mut self.phase {
            up.pulse = up.pulse.sent(now.mono);
            if entry.number == MsgSeqNumSource::Next && entry.msg_type() == b"2" {
                up.inbound = up.inbound.sealed(number);
            }
        }
        if self.config.last_msg_seq_num_processed {
            self.header
                .set_last(tag::LAST_MSG_SEQ_NUM_PROCESSED, self.next_in - 1);
        }
        number
    }
}
