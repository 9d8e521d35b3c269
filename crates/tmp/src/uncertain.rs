//! What the public specification leaves open, or says twice in different ways, and what was chosen.
//!
//! Each choice is one constant or function, so that a venue that does otherwise is one change.

use crate::codes::TmpExecType;
use crate::frame::TmpFrame;
use crate::header::{TYPE_AT, checksum};
use crate::status::TmpStatus;

/// L70 (from the exchange) and L80 (from the broker) end the application in the text of the login flow; no layout
/// is given and no public implementation has them. Chosen: neither is sent. A frame with this MessageType and a right
/// checksum ends the link at either end, at once, as [`crate::LinkEnd::EndOfApplication`].
pub const END_OF_APPLICATION: [u8; 2] = [70, 80];

/// Whether the bytes are an L70 or L80, whose layout is unknown.
pub(crate) fn ends_application(bytes: &[u8]) -> bool {
    let Some((sum, before)) = bytes.split_last() else {
        return false;
    };
    let code = before.get(TYPE_AT);
    code.is_some_and(|code| END_OF_APPLICATION.contains(code)) && checksum(before) == *sum
}

/// Whether a login resends messages. The text says "request + 1 >= end" means none and gives an example with request
/// 698 and end 697, which is off by one. Chosen: `request < end` resends request + 1 to end.
#[must_use]
pub const fn resends(request_start_seq: u32, end_out_bound_num: u32) -> bool {
    request_start_seq < end_out_bound_num
}

/// Whether a message may be split over two L41 blocks is not said. Chosen: the broker accepts it, by keeping the tail
/// of a block; the exchange does so only with [`crate::ExchangeLinkSettings::split_messages`].
pub const SPLIT_MESSAGES_DEFAULT: bool = false;

/// The meaning of `file_size` in L41 is not said. Chosen: the exchange writes the bytes of the block's data; the broker
/// reads the data up to the checksum and does not look at it.
#[must_use]
pub const fn file_size(block_bytes: usize) -> u32 {
    // At most 65,514.
    block_bytes as u32
}

/// R12 means the state of trading in two ways: section 2.3.4 says 2 open, 3 closed, 4 pre-open; section 3.6 says 2
/// pre-open, 3 open, 4 closed. Chosen: 3.6, the later and longer text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TradeStatus {
    /// Orders are accepted, nothing trades.
    PreOpen,
    /// Trading.
    Open,
    /// Closed.
    Closed,
}

impl TradeStatus {
    /// The value in R12.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::PreOpen => 2,
            Self::Open => 3,
            Self::Closed => 4,
        }
    }

    /// The state of a value in R12; none for another value.
    #[must_use]
    pub const fn of(code: u8) -> Option<Self> {
        match code {
            2 => Some(Self::PreOpen),
            3 => Some(Self::Open),
            4 => Some(Self::Closed),
            _ => None,
        }
    }
}

/// The request types of R11 are 0, 1 and 2, without words. Chosen: those of SubscriptionRequestType(263) of FIX, whose
/// TradingSessionStatusRequest the message is like: 0 the state now, 1 each change too, 2 no more changes.
pub const TRADE_REQUEST_UPDATES: u8 = 1;

/// What a subscription of reports (R15) is of. The target_id of each is said, not what a 1 or a 2 in front of a digit means;
/// nor which reports a stream has. Chosen: codes with the same last digit are one stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReportTarget {
    /// 8 and 18: all reports of the brokers that clear with the member.
    Downline,
    /// 9 and 19: their fills.
    Fills,
    /// 3, 13 and 23: all reports of the broker itself.
    Branches,
    /// 7 and 17: the same, on a drop copy link (TMPDC).
    DropCopy,
}

impl ReportTarget {
    /// The stream of a target_id; none for another value.
    #[must_use]
    pub const fn of(target_id: u8) -> Option<Self> {
        match target_id {
            8 | 18 => Some(Self::Downline),
            9 | 19 => Some(Self::Fills),
            3 | 13 | 23 => Some(Self::Branches),
            7 | 17 => Some(Self::DropCopy),
            _ => None,
        }
    }
}

/// Which number the req_seq of R15 counts is not said: R06 has no MsgSeqNum. Chosen: rpt_seq, and req_seq is the first one
/// that is wanted, so that a broker asks for the last one received and 1; 0 asks for all. They ascend, and need not be
/// contiguous.
#[must_use]
pub const fn is_subscribed(rpt_seq: u32, req_seq: u32) -> bool {
    rpt_seq >= req_seq
}

/// Which fields of R15 the statuses 208 to 210 are about is not said. Chosen: 208 member, 209 target_id; a link that does not
/// receive copies gets 203.
pub const WRONG_MEMBER: TmpStatus = TmpStatus::SUBSCRIPTION_208;
/// See [`WRONG_MEMBER`].
pub const WRONG_TARGET: TmpStatus = TmpStatus::SUBSCRIPTION_209;

/// An exchange takes one R13 of a link in this time, and refuses another with status 121. What R13 asks for, and how R14 answers
/// it, is not said beyond their fields. Chosen: an R14 for each bulletin whose bulletin_seq is at least bulletin_req_id, with
/// the fcm_req_id of the request; without any, or with an error, one with bulletin_seq 0 and no data. A refused R13 does not
/// count for the time, and a bulletin that nobody asked for has fcm_req_id 0.
pub const BULLETIN_EVERY_NS: u64 = 10_000_000_000;

/// The MessageType that refuses a price inquiry (R07, R37). The specification says R03, a public implementation sees
/// R08. Chosen: R08, or R38 for a symbol of 40 bytes, with the status; a broker has to accept both.
#[must_use]
pub const fn inquiry_refusal(inquiry: u8) -> u8 {
    match inquiry {
        137 => 138,
        _ => 108,
    }
}

/// How one side of a quote is changed, cancelled or queried: R09 has an ExecType, but no Side. Chosen: by an R01 (R31) with
/// the quote's order_no and the Side of the order, which an exchange finds by both; R09 (R39) only enters quotes.
#[must_use]
pub const fn is_quote_entry(exec_type: TmpExecType) -> bool {
    exec_type.0 == TmpExecType::NEW.0
}

/// Whether a frame takes a sequence number. Said: R01, R31, R09, R39 from the broker and R02, R32, R03, R22 from the
/// exchange, but for queries (ExecType I) and R03 with status 1 or 99. Open: whether an R03 with status 240 takes one.
/// Chosen: it does, as any R03 that is not listed.
#[must_use]
#[inline]
pub fn is_numbered(frame: &TmpFrame<'_>) -> bool {
    let query = TmpExecType::QUERY.0;
    match frame.code() {
        101 | 131 | 109 | 139 => frame.byte(17) != query,
        102 | 132 | 122 => frame.byte(18) != query,
        103 => {
            let status = TmpStatus(frame.byte(17));
            status != TmpStatus::CLOSED
                && status != TmpStatus::MAJOR_ERROR
                && frame.byte(18) != query
        }
        _ => false,
    }
}

/// Whether messages of this type have sequence numbers. One with a number is checked even where [`is_numbered`] expects
/// none.
#[must_use]
pub const fn may_be_numbered(code: u8) -> bool {
    matches!(code, 101 | 131 | 109 | 139 | 102 | 132 | 122 | 103)
}

/// Whether an exchange accepts this number as the broker's first one after a login. Section 2.1.1 says that the first is
/// not verified; section 3.8 says "based on start_in_bound_num", which section 2.2.1 fixes at 0. Chosen: 2.1.1, any
/// number but 0.
#[must_use]
pub const fn accepts_first(msg_seq_num: u32) -> bool {
    msg_seq_num != 0
}

/// Status of a frame whose bytes are wrong: 92 is "length", 93 "format". Which one a wrong checksum gets is not said.
/// Chosen: 93.
#[must_use]
pub const fn frame_status(is_length: bool) -> TmpStatus {
    match is_length {
        true => TmpStatus::LENGTH,
        false => TmpStatus::FORMAT,
    }
}

/// How long the exchange waits before it disconnects after an L10 with a status: "about 0.1 s".
pub const DROP_AFTER_NS: u64 = 100_000_000;

/// How long after R04 an answer is awaited. Only R05 is named as the answer. Chosen: any message counts.
pub const ANSWER_WITHIN_NS: u64 = 5_000_000_000;

/// HeartBtInt 0 is not described. Chosen: no heartbeats.
#[must_use]
pub const fn has_heartbeats(heart_bt_int: u8) -> bool {
    heart_bt_int != 0
}

/// A flow limit of 0 is not described. Chosen: no limit.
#[must_use]
pub const fn has_flow_limit(max_flow_ctrl_cnt: u16) -> bool {
    max_flow_ctrl_cnt != 0
}

/// The window of the flow limit. A rule of 2021 counts more than three times the limit within 3 s, or within 1 s; the
/// two cannot both be meant. Chosen: the limit within any 1 s, which keeps all three.
pub const FLOW_WINDOW_NS: u64 = 1_000_000_000;

/// How often the flow limit may be exceeded before the session is locked ("more than 10 times"). Chosen: counted over
/// all connections since the last unlock.
pub const FLOW_EXCEEDED_MOST: u32 = 10;

/// How many L40 with a wrong field lock the session.
pub const WRONG_LOGINS_MOST: u32 = 3;

/// A difference of the clocks above this is status 200.
pub const CLOCK_DIFFERENCE_MOST_NS: u64 = 500_000_000;

/// The values of order_source. What each stands for is not in the public texts.
pub const ORDER_SOURCES: &[u8; 7] = b"DAMWPVG";

/// Whether a request says where it comes from: order_source is one of [`ORDER_SOURCES`], info_source has no blank.
#[must_use]
pub fn has_sources(order_source: u8, info_source: &[u8; 3]) -> bool {
    ORDER_SOURCES.contains(&order_source) && !info_source.iter().any(|it| matches!(it, 0 | b' '))
}

/// The status of a request with a wrong order_source or info_source is not known. Chosen: 93, the format of the message.
pub const WRONG_SOURCE: TmpStatus = TmpStatus::FORMAT;
/// The status of a new order without investor_flag is not known. Chosen: that of the account, whose flag it is.
pub const WRONG_INVESTOR: TmpStatus = TmpStatus::ACCOUNT;

/// The filler behind text symbols: blanks, in every message. Peers cut blanks only, so that zero bytes would be part of the
/// symbol for them. Zero bytes are read too.
pub const TEXT_FILLER: u8 = b' ';

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_at_the_end_resends_nothing() {
        assert!(resends(0, 1) && resends(696, 697));
        assert!(!resends(697, 697) && !resends(698, 697) && !resends(0, 0));
    }

    #[test]
    fn targets_with_the_same_last_digit_are_one_stream() {
        let streams: [(ReportTarget, &[u8]); 4] = [
            (ReportTarget::Downline, &[8, 18]),
            (ReportTarget::Fills, &[9, 19]),
            (ReportTarget::Branches, &[3, 13, 23]),
            (ReportTarget::DropCopy, &[7, 17]),
        ];
        let known = streams.iter().flat_map(|(_, codes)| *codes);
        assert_eq!(
            known.count(),
            (0..=u8::MAX).filter_map(ReportTarget::of).count()
        );
        for (stream, codes) in streams {
            assert!(
                codes
                    .iter()
                    .all(|code| ReportTarget::of(*code) == Some(stream))
            );
        }
        assert!(is_subscribed(5, 5) && is_subscribed(5, 0) && !is_subscribed(5, 6));
    }

    #[test]
    fn trade_status_reads_back() {
        for status in [TradeStatus::PreOpen, TradeStatus::Open, TradeStatus::Closed] {
            assert_eq!(TradeStatus::of(status.code()), Some(status));
        }
        assert_eq!(TradeStatus::of(1), None);
    }
}
