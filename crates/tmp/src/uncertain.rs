//! Where the public specification leaves something open, or contradicts itself, and what was chosen.
//!
//! Each choice is one constant or one function, so that a venue that does it differently needs one change.

use crate::codes::TmpExecType;
use crate::frame::TmpFrame;
use crate::header::{TYPE_AT, checksum};
use crate::status::TmpStatus;

/// L70 (from the exchange) and L80 (from the broker) end the application, according to the text of the login flow. No
/// layout is given, and no public implementation has them. Chosen: neither is sent. A frame with this MessageType and
/// a correct checksum ends the link at either end, at once, as [`crate::LinkEnd::EndOfApplication`].
pub const END_OF_APPLICATION: [u8; 2] = [70, 80];

/// Whether the bytes are an L70 or L80, whose layout is unknown.
pub(crate) fn ends_application(bytes: &[u8]) -> bool {
    let Some((sum, before)) = bytes.split_last() else {
        return false;
    };
    let code = before.get(TYPE_AT);
    code.is_some_and(|code| END_OF_APPLICATION.contains(code)) && checksum(before) == *sum
}

/// Whether a login resends messages. The text says that "request + 1 >= end" means none, and gives an example with
/// request 698 and end 697, which is off by one. Chosen: if `request < end`, the messages from request + 1 to end are
/// resent.
#[must_use]
pub const fn resends(request_start_seq: u32, end_out_bound_num: u32) -> bool {
    request_start_seq < end_out_bound_num
}

/// The specification does not say whether a message may be split over two L41 blocks. Chosen: the broker accepts it,
/// by keeping the tail of a block; the exchange does it only with [`crate::ExchangeLinkSettings::split_messages`].
pub const SPLIT_MESSAGES_DEFAULT: bool = false;

/// The specification does not say what `file_size` in L41 means. Chosen: the exchange writes the number of data bytes
/// in the block; the broker reads the data up to the checksum and ignores the field.
#[must_use]
pub const fn file_size(block_bytes: usize) -> u32 {
    // At most 65,514.
    block_bytes as u32
}

/// The trading state in R12 is described in two ways: section 2.3.4 says 2 open, 3 closed, 4 pre-open; section 3.6
/// says 2 pre-open, 3 open, 4 closed. Chosen: section 3.6, the later and longer text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TradeStatus {
    /// Orders are accepted, but nothing trades.
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

    /// The state for a value in R12; `None` for another value.
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

/// The request types of R11 are 0, 1 and 2; the specification does not explain them. Chosen: the values of FIX
/// SubscriptionRequestType(263), because R11 is like TradingSessionStatusRequest(g): 0 the state now, 1 also each
/// change, 2 no more changes.
pub const TRADE_REQUEST_UPDATES: u8 = 1;

/// What a subscription to reports (R15) includes. The specification explains each target_id, but neither the 1 or 2
/// in front of a digit, nor which reports a stream has. Chosen: codes with the same last digit are one stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReportTarget {
    /// 8 and 18: all reports of the brokers for which the member clears.
    Downline,
    /// 9 and 19: the fills of these brokers.
    Fills,
    /// 3, 13 and 23: all reports of the broker itself.
    Branches,
    /// 7 and 17: the same reports as 3, 13 and 23, on a drop copy link (TMPDC).
    DropCopy,
}

impl ReportTarget {
    /// The stream of a target_id; `None` for another value.
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

/// The specification does not say which number the req_seq of R15 counts; R06 has no MsgSeqNum. Chosen: rpt_seq.
/// req_seq is the first wanted report, so a broker requests the last one received plus 1; 0 requests all. The numbers
/// ascend, but need not be contiguous.
#[must_use]
pub const fn is_subscribed(rpt_seq: u32, req_seq: u32) -> bool {
    rpt_seq >= req_seq
}

/// The specification does not say to which fields of R15 the statuses 208 to 210 refer. Chosen: 208 is for the
/// member, 209 for the target_id; a link that does not receive copies gets 203.
pub const WRONG_MEMBER: TmpStatus = TmpStatus::SUBSCRIPTION_208;
/// See [`WRONG_MEMBER`].
pub const WRONG_TARGET: TmpStatus = TmpStatus::SUBSCRIPTION_209;

/// An exchange accepts one R13 of a link within this time, and refuses another one with status 121. The specification
/// lists the fields of R13 and R14, but not what R13 requests and how R14 answers. Chosen: an R14 for each bulletin
/// whose bulletin_seq is at least bulletin_req_id, with the fcm_req_id of the request. Without such bulletins, or
/// with an error, one R14 with bulletin_seq 0 and no data. A refused R13 does not start the time again. An
/// unsolicited bulletin has fcm_req_id 0.
pub const BULLETIN_EVERY_NS: u64 = 10_000_000_000;

/// The MessageType that refuses a price inquiry (R07, R37). The specification says R03, a public implementation sees
/// R08. Chosen: R08, or R38 for a symbol of 40 bytes, with the status. A broker must accept both R03 and R08.
#[must_use]
pub const fn inquiry_refusal(inquiry: u8) -> u8 {
    match inquiry {
        137 => 138,
        _ => 108,
    }
}

/// How one side of a quote is changed, cancelled or queried. R09 has an ExecType, but no Side. Chosen: by an R01
/// (R31) with the quote's order_no and the Side of the order; an exchange finds the order by both. R09 (R39) only
/// enters quotes.
#[must_use]
pub const fn is_quote_entry(exec_type: TmpExecType) -> bool {
    exec_type.0 == TmpExecType::NEW.0
}

/// Whether a frame uses a MsgSeqNum. Specified: R01, R31, R09, R39 from the broker and R02, R32, R03, R22 from the
/// exchange do, except queries (ExecType I) and R03 with status 1 or 99. Open: whether an R03 with status 240 uses
/// one. Chosen: it does, as any R03 that is not excepted.
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

/// Whether messages of this type may have a MsgSeqNum. A MsgSeqNum that is present is checked, even where
/// [`is_numbered`] expects none.
#[must_use]
pub const fn may_be_numbered(code: u8) -> bool {
    matches!(code, 101 | 131 | 109 | 139 | 102 | 132 | 122 | 103)
}

/// Whether an exchange accepts this MsgSeqNum as the broker's first one after a login. Section 2.1.1 says that the
/// first is not verified; section 3.8 says "based on start_in_bound_num", which section 2.2.1 fixes at 0. Chosen:
/// section 2.1.1, so any number except 0.
#[must_use]
pub const fn accepts_first(msg_seq_num: u32) -> bool {
    msg_seq_num != 0
}

/// The status for a frame whose bytes are wrong: 92 is "length", 93 is "format". The specification does not say which
/// one a wrong checksum gets. Chosen: 93.
#[must_use]
pub const fn frame_status(is_length: bool) -> TmpStatus {
    match is_length {
        true => TmpStatus::LENGTH,
        false => TmpStatus::FORMAT,
    }
}

/// How long the exchange waits before it disconnects after an L10 with a status: "about 0.1 s".
pub const DROP_AFTER_NS: u64 = 100_000_000;

/// How long the answer to an R04 may take. The specification names only R05 as the answer. Chosen: any message counts
/// as an answer.
pub const ANSWER_WITHIN_NS: u64 = 5_000_000_000;

/// The specification does not describe HeartBtInt 0. Chosen: no heartbeats.
#[must_use]
pub const fn has_heartbeats(heart_bt_int: u8) -> bool {
    heart_bt_int != 0
}

/// The specification does not describe a flow limit of 0. Chosen: no limit.
#[must_use]
pub const fn has_flow_limit(max_flow_ctrl_cnt: u16) -> bool {
    max_flow_ctrl_cnt != 0
}

/// The window of the flow limit. A rule of 2021 counts more than three times the limit within 3 s, or more than the
/// limit within 1 s; both cannot be meant. Chosen: the limit within any 1 s, which satisfies all readings.
pub const FLOW_WINDOW_NS: u64 = 1_000_000_000;

/// How often the flow limit may be exceeded before the session is locked ("more than 10 times"). Chosen: counted over
/// all connections since the last unlock.
pub const FLOW_EXCEEDED_MOST: u32 = 10;

/// How many L40 with a wrong field lock the session.
pub const WRONG_LOGINS_MOST: u32 = 3;

/// Clocks that differ by more than this get status 200.
pub const CLOCK_DIFFERENCE_MOST_NS: u64 = 500_000_000;

/// The values of order_source. The public texts do not explain them.
pub const ORDER_SOURCES: &[u8; 7] = b"DAMWPVG";

/// Whether a request says where it comes from: its order_source is one of [`ORDER_SOURCES`], and its info_source
/// contains no blank.
#[must_use]
pub fn has_sources(order_source: u8, info_source: &[u8; 3]) -> bool {
    ORDER_SOURCES.contains(&order_source) && !info_source.iter().any(|it| matches!(it, 0 | b' '))
}

/// The status for a request with a wrong order_source or info_source is not known. Chosen: 93, format of the message.
pub const WRONG_SOURCE: TmpStatus = TmpStatus::FORMAT;
/// The status for a new order without investor_flag is not known. Chosen: the status for the account, to which the
/// flag belongs.
pub const WRONG_INVESTOR: TmpStatus = TmpStatus::ACCOUNT;

/// The filler after text symbols: blanks, in every message. Peers remove only blanks, so for them zero bytes would be
/// part of the symbol. Received zero bytes are accepted as filler too.
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
