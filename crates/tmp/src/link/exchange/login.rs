//! The login: from L10 to L60.

use super::{ExchangeLinkState, LinkExchange, Wrong};
use crate::frame::TmpFrame;
use crate::header::FRAME_BYTES_MOST;
use crate::layout::TmpLayout;
use crate::link::actions::LinkActions;
use crate::link::end::{LinkEnd, LinkReady};
use crate::link::heartbeat::HeartbeatClock;
use crate::link::resend::ResendStore;
use crate::link::settings::LinkNow;
use crate::messages::{L10, L30, L40, L41, L50};
use crate::status::TmpStatus;
use crate::uncertain::{WRONG_LOGINS_MOST, file_size, resends};

/// Minimum and maximum number of data bytes in an L41.
const BLOCK_LEAST: usize = 256;
const BLOCK_MOST: usize = FRAME_BYTES_MOST - L41::SIZE;

impl LinkExchange {
    /// Answers L10.
    pub(super) fn greet(
        &mut self,
        now: LinkNow,
        frame: &TmpFrame<'_>,
        out: &mut LinkActions,
    ) -> Result<(), Wrong> {
        if self.locked {
            return Err((TmpStatus::LOCKED, LinkEnd::Locked));
        }
        let status = TmpStatus(frame.byte(17));
        if status != TmpStatus::OK {
            let message = frame.name();
            return Err((TmpStatus::FORMAT, LinkEnd::Refused { message, status }));
        }
        self.emit(now, &L10::default(), out);
        self.step(now, ExchangeLinkState::AwaitL20);
        Ok(())
    }

    /// Sends L30.
    pub(super) fn challenge(&mut self, now: LinkNow, out: &mut LinkActions) {
        self.append_no = append_no(self.settings.seed, self.connections);
        self.end = self.numbers.outbound;
        let l30 = L30 {
            status: TmpStatus::OK,
            append_no: self.append_no,
            end_out_bound_num: self.end,
            system_type: self.settings.system_type,
            encrypt: 0,
        };
        self.emit(now, &l30, out);
        self.step(now, ExchangeLinkState::AwaitL40);
    }

    /// Verifies an L40. Sends the first L41 if messages were missed, otherwise L50.
    pub(super) fn log_in(
        &mut self,
        now: LinkNow,
        l40: &L40,
        store: &mut dyn ResendStore,
        out: &mut LinkActions,
    ) -> Result<(), Wrong> {
        let status = self.wrong_field(l40);
        if status != TmpStatus::OK {
            self.wrong_logins += 1;
            self.locked |= self.wrong_logins >= WRONG_LOGINS_MOST;
            return Err((status, LinkEnd::LoginRefused { status }));
        }
        self.wrong_logins = 0;
        self.cancel_order_sec = l40.cancel_order_sec;
        if !resends(l40.request_start_seq, self.end) {
            self.agree(now, out);
            return Ok(());
        }
        self.resend.begin(l40.request_start_seq, self.end);
        self.send_block(now, store, out)
    }

    /// The status for the first wrong field, in the order of the status codes.
    fn wrong_field(&self, l40: &L40) -> TmpStatus {
        let own = &self.settings;
        let checks = [
            (l40.append_no == self.append_no, TmpStatus::APPEND_NO),
            (l40.fcm_id == own.fcm_id, TmpStatus::FCM_ID),
            (l40.ap_code == own.ap_code, TmpStatus::AP_CODE),
            (
                l40.key_value == own.password.key_value(self.append_no),
                TmpStatus::KEY_VALUE,
            ),
            (l40.session_id == own.session_id, TmpStatus::SESSION_ID),
            (l40.system_type == own.system_type, TmpStatus::SYSTEM_TYPE),
        ];
        let wrong = checks.into_iter().find(|(right, _)| !right);
        wrong.map_or(TmpStatus::OK, |(_, status)| status)
    }

    /// Handles the confirmation of a block: sends the next block, or L50.
    pub(super) fn next_block(
        &mut self,
        now: LinkNow,
        store: &mut dyn ResendStore,
        out: &mut LinkActions,
    ) -> Result<(), Wrong> {
        if self.resend.is_done() {
            self.agree(now, out);
            return Ok(());
        }
        self.send_block(now, store, out)
    }

    /// Sends L41.
    fn send_block(
        &mut self,
        now: LinkNow,
        store: &mut dyn ResendStore,
        out: &mut LinkActions,
    ) -> Result<(), Wrong> {
        let most = usize::from(self.settings.block_bytes).clamp(BLOCK_LEAST, BLOCK_MOST);
        let missing = |msg_seq_num| {
            let cause = LinkEnd::StoreMissing { msg_seq_num };
            (TmpStatus::MAJOR_ERROR, cause)
        };
        let block = self.resend.read(most, self.settings.split_messages, store);
        let block = block.map_err(missing)?;
        let l41 = L41 {
            status: TmpStatus::OK,
            is_eof: u8::from(block.is_last),
            file_size: file_size(block.bytes),
            data: &self.resend.bytes()[..block.bytes],
        };
        let header = self.header(now, 0);
        self.buffer.resize(FRAME_BYTES_MOST, 0);
        let encoded = l41.encode(&header, &mut self.buffer);
        let len = encoded.map_err(|it| (TmpStatus::MAJOR_ERROR, LinkEnd::BadFrame(it)))?;
        out.send(&self.buffer[..len]);
        self.resend.sent(block);
        self.heartbeat.spoke(now.mono_ns);
        self.step(now, ExchangeLinkState::AwaitL42);
        Ok(())
    }

    /// Sends L50.
    fn agree(&mut self, now: LinkNow, out: &mut LinkActions) {
        let l50 = L50 {
            status: TmpStatus::OK,
            heart_bt_int: self.settings.heart_bt_int,
            max_flow_ctrl_cnt: self.settings.max_flow_ctrl_cnt,
        };
        self.emit(now, &l50, out);
        self.step(now, ExchangeLinkState::AwaitL60);
    }

    /// Completes the login: sends the messages that got a MsgSeqNum meanwhile.
    pub(super) fn become_ready(
        &mut self,
        now: LinkNow,
        store: &mut dyn ResendStore,
        out: &mut LinkActions,
    ) -> Result<(), Wrong> {
        self.state = ExchangeLinkState::Ready;
        let (rule, interval) = (self.settings.heartbeat, self.settings.heart_bt_int);
        self.heartbeat = HeartbeatClock::new(rule, interval, now.mono_ns);
        out.ready(LinkReady {
            heart_bt_int: interval,
            max_flow_ctrl_cnt: self.settings.max_flow_ctrl_cnt,
            cancel_order_sec: self.cancel_order_sec,
        });
        while self.end < self.numbers.outbound {
            let msg_seq_num = self.end + 1;
            self.buffer.clear();
            if !store.append(msg_seq_num, &mut self.buffer) {
                let cause = LinkEnd::StoreMissing { msg_seq_num };
                return Err((TmpStatus::MAJOR_ERROR, cause));
            }
            out.send(&self.buffer);
            self.end = msg_seq_num;
        }
        Ok(())
    }
}

/// The append_no of a login, a number from 1 to 999.
fn append_no(seed: u64, connections: u64) -> u16 {
    // One round of SplitMix64.
    let mut mixed = seed.wrapping_add(connections.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    1 + ((mixed ^ (mixed >> 31)) % 999) as u16
}
