//! Names of FIX codes.

/// Side(54).
pub(crate) fn side(code: &str) -> &str {
    match code {
        "1" => "buy",
        "2" => "sell",
        "3" => "buy minus",
        "4" => "sell plus",
        "5" => "sell short",
        "6" => "sell short exempt",
        "7" => "undisclosed",
        "8" => "cross",
        "9" => "cross short",
        other => other,
    }
}

/// ExecType(150).
pub(crate) fn exec_type(code: &str) -> &str {
    match code {
        "1" => "Partial fill",
        "2" => "Fill",
        "5" => "Replaced",
        "D" => "Restated",
        "F" => "Trade",
        "G" => "Trade correct",
        "H" => "Trade cancel",
        "I" => "Order status",
        "J" => "Trade in a clearing hold",
        "K" => "Trade has been released to clearing",
        "L" => "Triggered",
        other => ord_status(other),
    }
}

/// OrdStatus(39) in words; empty for an order that has no report.
pub(crate) fn ord_status(code: &str) -> &str {
    match code {
        "" => "no report yet",
        "0" => "New",
        "1" => "Partially filled",
        "2" => "Filled",
        "3" => "Done for day",
        "4" => "Canceled",
        "5" => "Replaced",
        "6" => "Pending cancel",
        "7" => "Stopped",
        "8" => "Rejected",
        "9" => "Suspended",
        "A" => "Pending new",
        "B" => "Calculated",
        "C" => "Expired",
        "D" => "Accepted for bidding",
        "E" => "Pending replace",
        other => other,
    }
}

/// Whether this OrdStatus(39) is final. Done for day is not final, because the order may be working again the next
/// day.
pub(crate) fn is_final(ord_status: &str) -> bool {
    matches!(ord_status, "2" | "4" | "8" | "C")
}
