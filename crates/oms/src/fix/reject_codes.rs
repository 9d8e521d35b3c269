//! OrdRejReason(103) and CxlRejReason(102) for a client. It is the venue's code if the client's FIX version has that
//! code, else 99 (Other). FIX 4.2 does not have 99; there it is the code for an option of the broker or the exchange.

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::tag;

use crate::values::reason::{Reason, Why};

/// 99, Other, in both fields.
const OTHER: u64 = 99;

/// The tag of the venue's code, and the code; `None` if the reason has no code of a venue.
fn venue_code(reason: &Reason) -> Option<(u32, u64)> {
    let tag = u32::try_from(reason.limit).ok().filter(|tag| *tag > 0)?;
    let is_venue = reason.why == Why::Venue;
    is_venue.then_some((tag, u64::try_from(reason.value).ok()?))
}

/// OrdRejReason(103) for a reason, in a client's FIX version.
pub(super) fn ord_rej_reason(reason: &Reason, version: Version) -> u64 {
    let code = match venue_code(reason) {
        Some((tag::ORD_REJ_REASON, code)) => code,
        // BusinessRejectReason(380) = 2, Unknown Security, becomes 1, Unknown symbol.
        Some((tag::BUSINESS_REJECT_REASON, 2)) => 1,
        Some(_) => OTHER,
        None => reason.why.ord_rej_reason(),
    };
    let is_known = match version {
        Version::Fix40 | Version::Fix41 | Version::Fix42 => code <= 8,
        Version::Fix43 => code <= 12,
        Version::Fix44 => code <= 15 || code == OTHER,
        _ => matches!(code, 0..=16 | 18 | OTHER..),
    };
    match is_known {
        true => code,
        false if version < Version::Fix44 => 0,
        false => OTHER,
    }
}

/// CxlRejReason(102) for a reason, in a client's FIX version.
pub(super) fn cxl_rej_reason(reason: &Reason, version: Version) -> u64 {
    let code = match (venue_code(reason), reason.why) {
        (Some((tag::CXL_REJ_REASON, code)), _) => code,
        // The venue rejected the request by an ExecutionReport(8). OrdRejReason(103): 4 too late to enter, 5 unknown
        // order, 6 duplicate.
        (Some((tag::ORD_REJ_REASON, 4)), _) => 0,
        (Some((tag::ORD_REJ_REASON, 5) | (tag::BUSINESS_REJECT_REASON, 1)), _) => 1,
        (Some((tag::ORD_REJ_REASON, 6)), _) => 6,
        (Some(_), _) => OTHER,
        (None, why) => why.cxl_rej_reason(),
    };
    let is_known = match version {
        Version::Fix40 | Version::Fix41 | Version::Fix42 => code <= 3,
        Version::Fix43 => code <= 6,
        Version::Fix44 => code <= 6 || code == OTHER,
        _ => matches!(code, 0..=8 | 18 | OTHER..),
    };
    match is_known {
        true => code,
        false if version < Version::Fix44 => 2,
        false => OTHER,
    }
}
