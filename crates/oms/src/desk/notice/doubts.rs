//! The texts of events about reports of a venue that leave something in doubt.

use alloc::string::String;
use core::fmt;

use super::OmsEvent;
use crate::decide::venue::strays::UndoDoubt;
use crate::values::value::MassEnd;

impl OmsEvent<'_> {
    /// Writes the text of an event about a doubtful report of a venue.
    pub(super) fn write_doubt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAtVenue { order } => write!(
                f,
                "order {order}: the venue does not have it, but it is open here: ask the venue, and enter what it says with fixwire oms report-in"
            ),
            Self::Restatement { id, reason } => write!(
                f,
                "restatement of order {} by the venue, ExecRestatementReason(378) {}, is not applied: check with the venue",
                String::from_utf8_lossy(id),
                if reason.is_empty() {
                    "missing".into()
                } else {
                    String::from_utf8_lossy(reason)
                }
            ),
            Self::NotUsed {
                line,
                msg_type,
                count,
            } => write!(
                f,
                "line {}: message with MsgType(35) {} is not used: it is in the journal only ({count} since the start)",
                String::from_utf8_lossy(line),
                String::from_utf8_lossy(msg_type)
            ),
            Self::Overfilled { order } => write!(
                f,
                "order {order}: its fills are more than its OrderQty(38); the position includes them: check with the venue"
            ),
            Self::NotFollowed {
                order,
                exec_type,
                status,
            } => {
                let status = if *status == 0 { b'-' } else { *status };
                write!(
                    f,
                    "order {order}: ExecType(150) {}, OrdStatus(39) {} of the venue changes nothing here: check with the venue",
                    String::from_utf8_lossy(exec_type),
                    char::from(status)
                )
            }
            Self::LiveAfterEnd { order, former } => write!(
                f,
                "order {order}: the venue has it open as {order}-{former}, but it is closed here: a cancel of {order}-{former} was sent; check with the venue"
            ),
            Self::LapseCancelled { line, order } => write!(
                f,
                "order {order}: its trading day is over, and the venue has not said that it has ended: cancelled on line {}",
                String::from_utf8_lossy(line)
            ),
            Self::StrayReject { line, number, id } => write!(
                f,
                "line {}: reject of MsgSeqNum {}, BusinessRejectRefID(379) {}, refers to no order or request that was sent, or to two; it is ignored: check with the venue",
                String::from_utf8_lossy(line),
                String::from_utf8_lossy(number),
                String::from_utf8_lossy(id)
            ),
            Self::StrayReport {
                id,
                unreadable,
                is_known,
                why,
            } => write!(
                f,
                "{} order {} ignored{}{why}: check with the venue",
                match (*unreadable, *is_known) {
                    (true, _) => "unreadable report for",
                    (false, true) => "report for",
                    (false, false) => "report for unknown",
                },
                String::from_utf8_lossy(id),
                if why.is_empty() { "" } else { ": " }
            ),
            Self::StrayUndo {
                number,
                id,
                fill,
                doubt,
            } => {
                let (fill, id) = (String::from_utf8_lossy(fill), String::from_utf8_lossy(id));
                write!(
                    f,
                    "break {number}: bust or correction of fill {fill} of order {id}, "
                )?;
                match doubt {
                    UndoDoubt::NotInMemory => f.write_str(
                        "which is not in memory: nothing is changed: check with the venue; fixwire oms breaks settle finds the order in the journal",
                    ),
                    UndoDoubt::Order => f.write_str(
                        "which has another symbol or side, or no such fill: nothing is changed: check with the venue; then fixwire oms bust or correct, and breaks settle with ours",
                    ),
                    UndoDoubt::Stray(fill) => write!(
                        f,
                        "which does not fit the fill in break {fill}: nothing is changed: check with the venue; fixwire oms breaks settle"
                    ),
                }
            }
            Self::ForeignReport { line, order, text } => write!(
                f,
                "line {} reports on order {order}, which it does not have: {}; nothing of it is applied, and a fill is in no position: check with both venues",
                String::from_utf8_lossy(line),
                String::from_utf8_lossy(text)
            ),
            Self::NoAnswer {
                order,
                request,
                is_cancel,
                was_asked,
            } => {
                let what = if *is_cancel { "cancel" } else { "replace" };
                match was_asked {
                    true => write!(
                        f,
                        "order {order}: the venue has not answered {what} {order}-{request}, nor the request for the order's status: ask the venue; another cancel of the order is sent over it"
                    ),
                    false => write!(
                        f,
                        "order {order}: the venue has not answered {what} {order}-{request}: ask the venue; another cancel of the order is sent over it"
                    ),
                }
            }
            Self::NameKept { name } => {
                write!(f, "{name}; reload the settings once they are closed")
            }
            Self::Unknown { .. }
            | Self::NotAsked { .. }
            | Self::FillsMissing { .. }
            | Self::MassAnswered { .. } => self.write_question(f),
            _ => Ok(()),
        }
    }

    /// Writes the text of an event about a status request to a venue.
    fn write_question(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { orders, asks } => write!(
                f,
                "{orders} orders in flight on a session that disconnected: {}",
                match asks {
                    true => "their status is requested when it logs on again",
                    false => "ask the venue, which has status_request = \"no\"",
                }
            ),
            Self::NotAsked { line, orders } => write!(
                f,
                "line {}: {orders} orders are unknown, and the venue is not asked, status_request = \"no\": ask it, and enter what it says with fixwire oms report-in",
                String::from_utf8_lossy(line)
            ),
            Self::FillsMissing { order, asks } => write!(
                f,
                "order {order}: CumQty(14) of the venue exceeds the fills received; {}",
                match asks {
                    true => "order status requested",
                    false => "ask the venue, which has status_request = \"no\"",
                }
            ),
            Self::MassAnswered { line, how, orders } => write!(
                f,
                "line {}: {} the status of {orders} orders is requested one by one",
                String::from_utf8_lossy(line),
                match how {
                    MassEnd::Complete => "the venue does not list orders that are open here:",
                    MassEnd::Incomplete => "the venue lists fewer orders than it says it has:",
                    MassEnd::Silent => "the venue does not answer OrderMassStatusRequest(AF):",
                    MassEnd::Refused =>
                        "the venue rejects OrderMassStatusRequest(AF), see mass_status of its line_group:",
                }
            ),
            _ => Ok(()),
        }
    }
}
