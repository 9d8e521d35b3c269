//! Events and alarms for operators, with their text.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::{self, Write as _};

use fixwire_tmp::{LinkEnd, LinkWarning, TmpStatus};

use crate::values::rules::RateRule;
use crate::values::value::{BreakKind, Market, MassEnd};

/// Bytes of a bulletin that its event has; the journal has all of them.
const BULLETIN_SHOWN: usize = 500;

/// An event for operators.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OmsEvent<'a> {
    /// A fill of a closed order: the position includes it.
    LateFill {
        /// The order.
        order: u64,
    },
    /// The fills of an order are more than its OrderQty(38): the position includes them.
    Overfilled {
        /// The order.
        order: u64,
    },
    /// A fill of an unknown order: the position includes it.
    StrayFill {
        /// The number of the break.
        number: u64,
        /// ClOrdID(11) at the venue.
        id: &'a [u8],
        /// PositionEffect(77), which its symbol needs, is missing: the opposite position is closed first.
        nets: bool,
    },
    /// A report that is unreadable, or for an unknown order and account; it is ignored.
    StrayReport {
        /// ClOrdID(11) at the venue.
        id: &'a [u8],
        /// The report cannot be read.
        unreadable: bool,
    },
    /// A venue restates an order, and somebody has to ask it why; nothing of it is applied.
    Restatement {
        /// ClOrdID(11) at the venue.
        id: &'a [u8],
        /// ExecRestatementReason(378); empty when missing.
        reason: &'a [u8],
    },
    /// A report that changes nothing here: its order is suspended, stopped or calculated, or its trade in a clearing hold.
    NotFollowed {
        /// The order.
        order: u64,
        /// ExecType(150); of FIX 4.0 and of answers OrdStatus(39).
        exec_type: &'a [u8],
        /// OrdStatus(39); 0 for none.
        status: u8,
    },
    /// A message of a venue that the OMS makes no use of. Reported for the first of its MsgType(35) on a line, the tenth, the
    /// hundredth and so on.
    NotUsed {
        /// The line.
        line: &'a [u8],
        /// MsgType(35).
        msg_type: &'a [u8],
        /// How many have come since the start.
        count: u64,
    },
    /// A Reject(3) or BusinessMessageReject(j) of a venue that refers to no order or request of ours; it is ignored.
    StrayReject {
        /// The line.
        line: &'a [u8],
        /// RefSeqNum(45).
        number: &'a [u8],
        /// BusinessRejectRefID(379).
        id: &'a [u8],
    },
    /// A limit that activates the kill switch was exceeded.
    Killed {
        /// The scope.
        scope: &'a str,
        /// The limit, with value and maximum.
        why: &'a [u8],
    },
    /// A client is logged out: too many requests above its rate limit were rejected.
    LoggedOut {
        /// The name of its session.
        session: &'a str,
        /// The rate limit.
        rate: RateRule,
    },
    /// A session to a venue disconnected with orders in flight.
    Unknown {
        /// How many.
        orders: usize,
        /// The OMS requests their status when the session logs on again.
        asks: bool,
    },
    /// A session to a venue that is not to be asked is back, with orders whose state is unknown.
    NotAsked {
        /// The line.
        line: &'a [u8],
        /// How many.
        orders: usize,
    },
    /// A venue did not list orders that may be open, or did not answer for all of its orders.
    MassAnswered {
        /// The line.
        line: &'a [u8],
        /// How the venue's answer ended.
        how: MassEnd,
        /// Orders whose status is requested one by one.
        orders: u64,
    },
    /// A final state has waited too long for missing fills: the order status is requested.
    FillsMissing {
        /// The order.
        order: u64,
        /// The order status is requested.
        asks: bool,
    },
    /// The fills of the legs of an order differ from the fills of the spread for too long.
    LegsMissing {
        /// The order.
        order: u64,
    },
    /// The venue reports that it does not have an order that is open here.
    NotAtVenue {
        /// The order.
        order: u64,
    },
    /// The venue has open, under the id of a replace, an order that is closed here: a cancel of it was sent.
    LiveAfterEnd {
        /// The order.
        order: u64,
        /// Number of the order at the venue.
        former: u64,
    },
    /// A line is up on which the venue may still have an order of a former trading day: a cancel of it was sent.
    LapseCancelled {
        /// The line.
        line: &'a [u8],
        /// The order.
        order: u64,
    },
    /// A line reports on an order that another venue has: nothing of it is applied.
    ForeignReport {
        /// The line.
        line: &'a [u8],
        /// The order, which its ClOrdID(11) names.
        order: u64,
        /// Values of the report.
        text: &'a [u8],
    },
    /// The venue answers neither a request nor the status request for its order.
    NoAnswer {
        /// The order.
        order: u64,
        /// The request, by its number at the venue.
        request: u64,
        /// The request is a cancel; otherwise a replace.
        is_cancel: bool,
        /// The order status was requested.
        was_asked: bool,
    },
    /// The login of a line that speaks TMP is complete.
    LinkReady {
        /// The line.
        line: &'a str,
        /// Messages that the exchange takes within a second.
        limit: u16,
    },
    /// The link of a line was closed.
    LinkClosed {
        /// The line.
        line: &'a str,
        /// Why.
        why: LinkEnd,
    },
    /// A line raised a warning.
    LinkWarned {
        /// The line.
        line: &'a str,
        /// The warning.
        warning: LinkWarning,
    },
    /// The exchange warns that the flow limit of a line is nearly used; raised once for each status and connection.
    FlowWarned {
        /// The line.
        line: &'a str,
        /// 248 or 249.
        status: TmpStatus,
    },
    /// The exchange takes fewer messages of a line than the flow of its line group lets go.
    FlowAbove {
        /// The line.
        line: &'a str,
        /// The line group.
        group: &'a str,
        /// Messages that the exchange takes within a second.
        limit: u16,
    },
    /// The link of a line was closed by the OMS.
    LinkStopped {
        /// The line.
        line: &'a str,
        /// Why.
        why: &'static str,
    },
    /// A request has values that its line cannot carry; nothing was sent, and it is rejected.
    NotSendable {
        /// The line.
        line: &'a [u8],
        /// The number of the order or request.
        number: u64,
    },
    /// At most a tenth of the numbers of a pool is left.
    NumbersLow {
        /// The pool.
        pool: &'a [u8],
        /// How many.
        left: u64,
    },
    /// A venue reports the state of a market.
    MarketStatus {
        /// The line.
        line: &'a [u8],
        /// The state.
        state: Market,
        /// Symbols whose state changes.
        symbols: usize,
    },
    /// A line and a drop copy of its venue differ.
    CopyBreak {
        /// The number of the break.
        number: u64,
        /// The kind of the break.
        kind: BreakKind,
        /// The order; 0 for none.
        order: u64,
        /// OrderID(37) and ExecID(17) of the venue, as far as they are known.
        text: &'a [u8],
    },
    /// A report of a venue does not agree with an order, and the venue has not settled it.
    VenueBreak {
        /// The number of the break.
        number: u64,
        /// The kind of the break.
        kind: BreakKind,
        /// The order.
        order: u64,
        /// Value of the OMS.
        ours: &'a [u8],
        /// Value of the venue.
        venue: &'a [u8],
    },
    /// A bulletin of an exchange, or the answer to a request for bulletins.
    Bulletin {
        /// The line.
        line: &'a str,
        /// Number of the bulletin; 0 for an answer without a bulletin.
        number: u32,
        /// The status of the answer.
        status: TmpStatus,
        /// Text of the bulletin.
        text: &'a [u8],
    },
    /// The exchange refuses the subscription of copies over TMP.
    SubscriptionRefused {
        /// The line.
        line: &'a str,
        /// Why.
        status: TmpStatus,
    },
    /// Reports could not be sent again.
    NoReports {
        /// Why the journal cannot be read.
        why: &'a str,
    },
    /// New settings are in force.
    Reloaded {
        /// The operator who reloaded the settings.
        who: &'a [u8],
        /// The settings from before the last reload apply again.
        back: bool,
    },
    /// A reload or other limits were requested; another operator must give the same request.
    ReloadAsked {
        /// Who did it.
        who: &'a [u8],
    },
    /// Settings were not reloaded; the old settings stay in force.
    NotReloaded {
        /// The operator who wanted to reload the settings.
        who: &'a str,
        /// Every mistake, each on a separate line.
        why: &'a str,
    },
    /// A new trading day was requested.
    DayAsked {
        /// The trading day that ends.
        from: u32,
        /// The trading day that starts.
        day: u32,
        /// The operator who requested the roll.
        who: &'a [u8],
        /// Open orders at each venue.
        open: &'a str,
    },
    /// A new trading day started.
    DayStarted {
        /// The new trading day.
        day: u32,
        /// Orders of days before that venues may still have, by line; empty without one.
        unconfirmed: &'a str,
    },
    /// An operator went back to an earlier trading day.
    DayBack {
        /// The earlier trading day.
        day: u32,
        /// Who did it.
        who: &'a [u8],
    },
    /// The clock is too far ahead of the trading day.
    DayFar {
        /// The trading day.
        day: u32,
        /// Trading day by the clock.
        clock: u32,
    },
    /// Notes of the journal could not be read: new orders are rejected.
    Incomplete {
        /// How many.
        notes: u64,
    },
}

impl fmt::Display for OmsEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LateFill { order } => write!(
                f,
                "order {order}: fill received after the order was closed; the position includes it: check with the venue"
            ),
            Self::StrayFill { number, id, nets } => write!(
                f,
                "break {number}: fill for unknown order {}{}; the position includes it: check with the venue; fixwire oms breaks settle",
                String::from_utf8_lossy(id),
                if *nets {
                    " without PositionEffect(77): it closed the opposite position first"
                } else {
                    ""
                }
            ),
            Self::StrayReport { id, unreadable } => write!(
                f,
                "{} order {} ignored: check with the venue",
                if *unreadable {
                    "unreadable report for"
                } else {
                    "report for unknown"
                },
                String::from_utf8_lossy(id)
            ),
            Self::StrayReject { .. }
            | Self::Unknown { .. }
            | Self::NotAsked { .. }
            | Self::MassAnswered { .. }
            | Self::FillsMissing { .. }
            | Self::Restatement { .. }
            | Self::NotUsed { .. }
            | Self::NotFollowed { .. }
            | Self::Overfilled { .. }
            | Self::NotAtVenue { .. }
            | Self::LiveAfterEnd { .. }
            | Self::LapseCancelled { .. }
            | Self::ForeignReport { .. }
            | Self::NoAnswer { .. } => self.write_doubt(f),
            Self::Killed { scope, why } => write!(
                f,
                "kill switch on for {scope}: {}; resume trading with fixwire oms arm",
                String::from_utf8_lossy(why)
            ),
            Self::LoggedOut { session, rate } => write!(
                f,
                "{session} logged out: {} requests above its rate limit of {rate} were rejected; it may log on again",
                rate.logout_after.unwrap_or(0)
            ),
            Self::LegsMissing { order } => write!(
                f,
                "order {order}: the fills of its legs do not add up to those of the spread: ask the venue, then enter the missing fills with fixwire oms report-in"
            ),
            Self::LinkReady { line, limit } => write!(
                f,
                "line {line} logged in: the exchange takes {limit} messages in a second"
            ),
            Self::LinkClosed { line, why } => {
                let then = what_to_do(why);
                write!(
                    f,
                    "line {line} closed: {why}; {then}the engine connects again"
                )
            }
            Self::LinkWarned { line, warning } => write!(f, "line {line}: {warning}"),
            Self::FlowWarned { line, status } => write!(
                f,
                "line {line}: {status}; set flow of its line_group below the limit of the exchange"
            ),
            Self::FlowAbove { line, group, limit } => write!(
                f,
                "line {line}: flow of line_group {group} exceeds the exchange's limit of {limit} messages/s: write flow = \"{} in 1s\"",
                (limit - limit / 10).max(1)
            ),
            Self::LinkStopped { line, why } => {
                write!(f, "line {line} closed: {why}; the engine connects again")
            }
            Self::NotSendable { line, number } => write!(
                f,
                "request {number} not sent on line {}: TMP has no place for its values, and it is rejected; an order from before a change of settings needs its account, instrument and number_pool as they were",
                String::from_utf8_lossy(line)
            ),
            Self::NumbersLow { .. }
            | Self::MarketStatus { .. }
            | Self::CopyBreak { .. }
            | Self::VenueBreak { .. }
            | Self::Bulletin { .. }
            | Self::SubscriptionRefused { .. }
            | Self::NoReports { .. } => self.write_market(f),
            Self::Reloaded { .. } | Self::ReloadAsked { .. } | Self::NotReloaded { .. } => {
                self.write_reload(f)
            }
            Self::DayAsked { .. }
            | Self::DayStarted { .. }
            | Self::DayBack { .. }
            | Self::DayFar { .. }
            | Self::Incomplete { .. } => self.write_day(f),
        }
    }
}

impl OmsEvent<'_> {
    fn write_reload(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reloaded { who, back } => {
                let who = String::from_utf8_lossy(who);
                let which = if *back {
                    "settings from before the last reload"
                } else {
                    "settings reloaded and"
                };
                write!(f, "{which} in force, by {who}")
            }
            Self::ReloadAsked { who } => {
                let who = String::from_utf8_lossy(who);
                write!(
                    f,
                    "change of settings or limits requested by {who}: another operator must request the same (fixwire oms reload, reload --back, or limit)"
                )
            }
            Self::NotReloaded { who, why } => {
                let why = why.replace('\n', "; ");
                write!(
                    f,
                    "settings not reloaded by {who}, those in force stay: {why}"
                )
            }
            _ => Ok(()),
        }
    }

    /// Writes what happens to the trading day, and to the journal.
    fn write_day(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DayAsked {
                from,
                day,
                who,
                open,
            } => write!(
                f,
                "trading day {from} ends, by {}: {open}; {day} starts when its orders are closed",
                String::from_utf8_lossy(who)
            ),
            Self::DayStarted {
                day,
                unconfirmed: "",
            } => write!(f, "trading day {day} started"),
            Self::DayStarted { day, unconfirmed } => write!(
                f,
                "trading day {day} started: orders of days before are closed here, not confirmed by the venue: {unconfirmed}; fixwire oms orders shows them, fixwire oms cancel and kill reach them"
            ),
            Self::DayBack { day, who } => write!(
                f,
                "{day} is the trading day again, by {}",
                String::from_utf8_lossy(who)
            ),
            Self::DayFar { day, clock } => write!(
                f,
                "trading day {day} stays, and new orders are rejected: by the clock it is {clock}, more than a month later; correct the clock, or start a trading day with fixwire oms roll"
            ),
            Self::Incomplete { notes } => write!(
                f,
                "{notes} notes in the journal cannot be read: new orders are rejected until the journal is restored"
            ),
            _ => Ok(()),
        }
    }

    /// Writes venue reports that do not belong to orders of the lines.
    fn write_market(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MarketStatus {
                line,
                state,
                symbols,
            } => write!(
                f,
                "line {}: the market is {state} for {symbols} symbols",
                String::from_utf8_lossy(line)
            ),
            Self::NoReports { why } => write!(
                f,
                "a request for reports was refused: the journal cannot be read: {why}"
            ),
            Self::SubscriptionRefused { line, status } => write!(
                f,
                "line {line}: subscription of reports refused with {status}: no fills are compared with copies; correct target of its drop_copy_in, or fcm_id and ap_code of the link, and restart"
            ),
            Self::Bulletin { line, status, .. } if !status.is_success() => {
                write!(
                    f,
                    "line {line}: request for bulletins refused with {status}"
                )
            }
            Self::Bulletin {
                line, number: 0, ..
            } => write!(f, "line {line}: the exchange has no such bulletins"),
            Self::Bulletin {
                line, number, text, ..
            } => {
                write!(f, "line {line}: bulletin {number} of the exchange: ")?;
                let text = String::from_utf8_lossy(&text[..text.len().min(BULLETIN_SHOWN)]);
                for letter in text
                    .chars()
                    .map(|it| if it.is_control() { ' ' } else { it })
                {
                    f.write_char(letter)?;
                }
                Ok(())
            }
            Self::NumbersLow { pool, left } => write!(
                f,
                "{left} order numbers left in pool {}: orders are rejected when it is empty; extend the pool",
                String::from_utf8_lossy(pool)
            ),
            Self::VenueBreak {
                number,
                kind,
                order,
                ours,
                venue,
            } => write!(
                f,
                "break {number}: order {order}: {kind}: {} here, the venue says {}: check with the venue; fixwire oms breaks settle",
                String::from_utf8_lossy(ours),
                String::from_utf8_lossy(venue)
            ),
            Self::CopyBreak {
                number,
                kind,
                order,
                text,
            } => {
                write!(f, "break {number}: {kind}")?;
                if *order > 0 {
                    write!(f, ", order {order}")?;
                }
                if !text.is_empty() {
                    write!(f, ", {}", String::from_utf8_lossy(text))?;
                }
                f.write_str(": check with the venue; fixwire oms breaks lists what is open")
            }
            _ => Ok(()),
        }
    }
}

/// Task of an operator after a login that the exchange refused.
fn what_to_do(why: &LinkEnd) -> &'static str {
    match why {
        LinkEnd::Refused { status, .. } if *status == TmpStatus::LOCKED => {
            "stop the program and ask the exchange to unlock the session: until then "
        }
        why if is_wrong_login(why) => {
            "stop the program and correct the link in its settings; a second refused login is the last, since a third locks the session: "
        }
        _ => "",
    }
}

/// Whether a login was refused that will be refused again.
pub(crate) fn is_wrong_login(why: &LinkEnd) -> bool {
    matches!(why, LinkEnd::Refused { status, .. }
        if (TmpStatus::APPEND_NO.0..=TmpStatus::SYSTEM_TYPE.0).contains(&status.0))
}

/// The function that receives [`OmsEvent`]s.
pub type OmsListener = Box<dyn FnMut(OmsEvent<'_>) + Send>;

mod doubts;
#[cfg(test)]
mod tests;
