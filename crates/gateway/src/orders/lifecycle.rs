//! How an ExecutionReport changes the state of an order.

/// The state of an order in an ExecutionReport, in any FIX version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Said {
    /// A cancel or a replace was received, but is not decided yet.
    Pending,
    /// The order, cancel or replace is rejected.
    Rejected,
    /// The order continues under the ClOrdID of its replace.
    Replaced,
    /// The order is filled, canceled, expired, or done for the day.
    Ended,
    /// The order may trade.
    Live,
    /// The response to an OrderStatusRequest, about an order that may trade.
    Status,
}

/// Reads ExecType(150) and OrdStatus(39). One of the two fields may be missing: FIX 4.0 has no ExecType. Before FIX 4.3
/// a fill has ExecType 1 or 2, and a status has ExecTransType(20)=3. Later versions have ExecType F and I.
///
/// # Source
///
/// FIX 4.2 and 4.4, ExecutionReport; FIX 4.4 Volume 4, the order state change matrices.
pub(super) fn said(
    exec_type: Option<&[u8]>,
    ord_status: Option<&[u8]>,
    exec_trans_type: Option<&[u8]>,
) -> Said {
    let either = |codes: &[u8]| {
        let is = |value: Option<&[u8]>| matches!(value, Some([code]) if codes.contains(code));
        is(exec_type) || is(ord_status)
    };
    if either(b"8") {
        Said::Rejected
    } else if has_ended(ord_status) || has_ended(exec_type) {
        Said::Ended
    } else if exec_type == Some(b"I") || exec_trans_type == Some(b"3") {
        Said::Status
    } else if either(b"5") {
        Said::Replaced
    } else if either(b"6E") {
        Said::Pending
    } else {
        Said::Live
    }
}

/// Whether an OrdStatus(39), or the ExecType(150) of the same code, ends an order: filled, done for
/// the day, canceled, rejected, calculated, expired.
pub(super) fn has_ended(code: Option<&[u8]>) -> bool {
    matches!(code, Some(b"2" | b"3" | b"4" | b"8" | b"B" | b"C"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_say_the_same() {
        let some = |text: &'static str| (!text.is_empty()).then_some(text.as_bytes());
        for (exec_type, ord_status, exec_trans_type, expected) in [
            ("0", "0", "0", Said::Live),
            ("0", "0", "", Said::Live),
            ("1", "1", "0", Said::Live),
            ("F", "1", "", Said::Live),
            ("2", "2", "0", Said::Ended),
            ("F", "2", "", Said::Ended),
            // ExecType ends the order, whatever OrdStatus is.
            ("2", "0", "0", Said::Ended),
            ("4", "4", "0", Said::Ended),
            ("C", "C", "", Said::Ended),
            ("3", "3", "", Said::Ended),
            ("", "4", "0", Said::Ended),
            ("8", "8", "", Said::Rejected),
            ("", "8", "0", Said::Rejected),
            ("5", "5", "0", Said::Replaced),
            ("5", "1", "", Said::Replaced),
            ("5", "2", "", Said::Ended),
            ("", "5", "0", Said::Replaced),
            ("6", "6", "0", Said::Pending),
            ("E", "E", "", Said::Pending),
            ("0", "0", "3", Said::Status),
            ("I", "0", "", Said::Status),
            ("I", "4", "", Said::Ended),
            // A bust and a correction of a fill.
            ("H", "1", "", Said::Live),
            ("1", "1", "1", Said::Live),
            ("G", "2", "", Said::Ended),
            // A restatement of an order that is good till canceled.
            ("D", "0", "", Said::Live),
        ] {
            let heard = said(some(exec_type), some(ord_status), some(exec_trans_type));
            assert_eq!(heard, expected, "150={exec_type} 39={ord_status}");
        }
    }
}
