//! Events and alarms for operators, with their text.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt::{self, Write as _};

use fixwire_tmp::{LinkEnd, LinkWarning, TmpStatus};

use crate::decide::venue::strays::UndoDoubt;
use crate::values::fields::{RefusedField, first_orders};
use crate::values::rules::RateRule;
use crate::values::show::counted;
use crate::values::value::{BreakKind, Market, MassEnd};

/// Maximum number of bytes of a bulletin in its event; the journal has the whole bulletin.
const BULLETIN_SHOWN: usize = 500;

/// An event for operators.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OmsEvent<'a> {
    /// A fill of a closed order: the position includes it.
    LateFill {
        /// The order.
        order: u64,
    },
    /// A fill, bust or correction from before the moment of a loaded total was received after the load. The total
    /// includes it, and the position now has it twice.
    FillInTotal {
        /// The order.
        order: u64,
        /// The account of the total.
        account: &'a [u8],
        /// The symbol of the total.
        symbol: &'a [u8],
        /// Name of the file with the total.
        file: &'a [u8],
    },
    /// The fills of an order are more than its OrderQty(38): the position includes them.
    Overfilled {
        /// The order.
        order: u64,
    },
    /// A fill of an order that the OMS does not have: the position includes it.
    StrayFill {
        /// The number of the break.
        number: u64,
        /// ClOrdID(11) of the fill at the venue.
        id: &'a [u8],
        /// Whether PositionEffect(77), which the symbol needs, is missing: the fill closes the opposite position first.
        nets: bool,
        /// Whether ClOrdID(11) names an order in memory, which cannot have the fill.
        is_known: bool,
    },
    /// A report that cannot be read, or that belongs to no order and no account of the OMS; the OMS ignores it.
    StrayReport {
        /// ClOrdID(11) at the venue.
        id: &'a [u8],
        /// Whether the report cannot be read.
        unreadable: bool,
        /// Whether the order is in memory.
        is_known: bool,
        /// The fault of the report, and its text about a fill; empty when nothing else is known.
        why: &'a str,
    },
    /// A venue cancels or corrects a trade that the OMS does not have so: nothing is changed.
    StrayUndo {
        /// The number of the break.
        number: u64,
        /// ClOrdID(11) at the venue.
        id: &'a [u8],
        /// ExecRefID(19): the venue's ExecID(17) of the fill; empty when missing.
        fill: &'a [u8],
        /// Why nothing is changed.
        doubt: UndoDoubt,
    },
    /// A venue restates an order in a way that the OMS cannot apply: a person has to ask the venue.
    Restatement {
        /// ClOrdID(11) at the venue.
        id: &'a [u8],
        /// ExecRestatementReason(378); empty when missing.
        reason: &'a [u8],
    },
    /// A report that the OMS does not use: its order is suspended, stopped or calculated, or its trade is in a clearing
    /// hold.
    NotFollowed {
        /// The order.
        order: u64,
        /// ExecType(150); OrdStatus(39) in FIX 4.0 and in answers to status requests.
        exec_type: &'a [u8],
        /// OrdStatus(39); 0 for none.
        status: u8,
    },
    /// A message of a venue that the OMS does not use. The event is raised for the first message of a MsgType(35) on a
    /// line, the tenth, the hundredth and so on.
    NotUsed {
        /// The line.
        line: &'a [u8],
        /// MsgType(35).
        msg_type: &'a [u8],
        /// Number of such messages since the start.
        count: u64,
    },
    /// A Reject(3) or BusinessMessageReject(j) of a venue that refers to no order or request of the OMS; the OMS
    /// ignores it.
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
        /// The limit, with the value that exceeds it and the maximum.
        why: &'a [u8],
    },
    /// A temporary limit ended.
    LimitEnded {
        /// The scope.
        scope: &'a str,
        /// The control, such as RC6.
        control: &'a str,
        /// The limit that applies again; `none` if there was no limit.
        limit: &'a str,
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
        /// Number of orders in flight.
        orders: usize,
        /// Whether the OMS requests their status when the session logs on again.
        asks: bool,
    },
    /// A session to a venue logged on again, with orders whose state is unknown, and the settings forbid status
    /// requests to this venue.
    NotAsked {
        /// The line.
        line: &'a [u8],
        /// Number of orders whose state is unknown.
        orders: usize,
    },
    /// A venue did not list orders that may be open, or did not answer for all of its orders.
    MassAnswered {
        /// The line.
        line: &'a [u8],
        /// How the venue's answer ended.
        how: MassEnd,
        /// Number of orders whose status the OMS requests one by one.
        orders: u64,
    },
    /// A final state has waited too long for missing fills: the OMS requests the status of the order.
    FillsMissing {
        /// The order.
        order: u64,
        /// Whether the OMS requests the status of the order.
        asks: bool,
    },
    /// The fills of an order's legs have differed from the fills of its spread for too long.
    LegsMissing {
        /// The order.
        order: u64,
    },
    /// The venue reports that it does not have an order that is open in the OMS.
    NotAtVenue {
        /// The order.
        order: u64,
    },
    /// An order that is closed in the OMS is open at the venue under the id of a replace: the OMS sent a cancel.
    LiveAfterEnd {
        /// The order.
        order: u64,
        /// Number that the order had at the venue before.
        former: u64,
    },
    /// A line is up whose venue may still have an order of an earlier trading day: the OMS sent a cancel.
    LapseCancelled {
        /// The line.
        line: &'a [u8],
        /// The order.
        order: u64,
    },
    /// A line reports on an order that is at another venue: nothing of the report is applied.
    ForeignReport {
        /// The line.
        line: &'a [u8],
        /// The order that the report's ClOrdID(11) names.
        order: u64,
        /// Values of the report.
        text: &'a [u8],
    },
    /// The venue has answered neither a request nor the status request for its order.
    NoAnswer {
        /// The order.
        order: u64,
        /// The request, by its number at the venue.
        request: u64,
        /// Whether the request is a cancel; otherwise it is a replace.
        is_cancel: bool,
        /// Whether the status of the order was requested.
        was_asked: bool,
    },
    /// The login of a line that speaks TMP is complete.
    LinkReady {
        /// The line.
        line: &'a str,
        /// Number of messages that the exchange accepts within a second.
        limit: u16,
    },
    /// The link of a line was closed.
    LinkClosed {
        /// The line.
        line: &'a str,
        /// The reason.
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
        /// The status of the warning: 248 or 249.
        status: TmpStatus,
    },
    /// The exchange accepts fewer messages of a line per second than the `flow` of its line group allows.
    FlowAbove {
        /// The line.
        line: &'a str,
        /// The line group.
        group: &'a str,
        /// Number of messages that the exchange accepts within a second.
        limit: u16,
    },
    /// The OMS closed the link of a line.
    LinkStopped {
        /// The line.
        line: &'a str,
        /// The reason.
        why: &'static str,
    },
    /// A request has values that its line cannot carry: it was not sent, and is rejected.
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
        /// Number of order numbers that are left.
        left: u64,
    },
    /// A venue reports the state of a market.
    MarketStatus {
        /// The line.
        line: &'a [u8],
        /// The state.
        state: Market,
        /// Number of symbols whose state changed.
        symbols: usize,
    },
    /// A report of a line and a drop copy of its venue differ.
    CopyBreak {
        /// The number of the break.
        number: u64,
        /// The kind of the break.
        kind: BreakKind,
        /// The order; 0 for none.
        order: u64,
        /// OrderID(37) and ExecID(17) of the venue, if known.
        text: &'a [u8],
    },
    /// A report of a venue differs from an order, and the venue has not settled the difference.
    VenueBreak {
        /// The number of the break.
        number: u64,
        /// The kind of the break.
        kind: BreakKind,
        /// The order.
        order: u64,
        /// The value of the OMS.
        ours: &'a [u8],
        /// The value of the venue.
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
        /// The status that gives the reason.
        status: TmpStatus,
    },
    /// The reports that a client has requested again could not be read from the journal.
    NoReports {
        /// Why the journal cannot be read.
        why: &'a str,
    },
    /// New settings are in force.
    Reloaded {
        /// The operator who reloaded the settings.
        who: &'a [u8],
        /// Whether the settings from before the last reload are in force again.
        back: bool,
    },
    /// An operator requested a reload, or other limits or positions; another operator must give the same request.
    ReloadAsked {
        /// The operator.
        who: &'a [u8],
    },
    /// Positions or fills of a file, such as one of the clearing house, differ from those of the OMS.
    PositionsDiffer {
        /// Name of the file.
        file: &'a str,
        /// Number of accounts and symbols that differ.
        rows: u64,
        /// The operator who compared them.
        who: &'a str,
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
        /// Number of open orders at each venue, as text.
        open: &'a str,
    },
    /// The OMS has started while a trading day was ending: the roll that began before goes on.
    DayGoesOn {
        /// The trading day that ends.
        from: u32,
        /// The trading day that starts.
        day: u32,
        /// Number of open orders at each venue, as text.
        open: &'a str,
    },
    /// A new trading day started.
    DayStarted {
        /// The new trading day.
        day: u32,
        /// Orders of earlier trading days that venues may still have, by line; empty when there are no such orders.
        unconfirmed: &'a str,
    },
    /// An operator went back to an earlier trading day.
    DayBack {
        /// The earlier trading day.
        day: u32,
        /// The operator.
        who: &'a [u8],
    },
    /// The files of an ended trading day are complete.
    DayFiles {
        /// The trading day.
        day: u32,
        /// The folder of the files.
        folder: &'a str,
    },
    /// The files of an ended trading day begin in the middle of the day: its first segments are no longer in the
    /// journal.
    DayFilesCut {
        /// The trading day.
        day: u32,
        /// The folder of the files.
        folder: &'a str,
    },
    /// The files of an ended trading day cannot be written.
    DayFilesFailed {
        /// The trading day; `None` when the days in the journal cannot be read.
        day: Option<u32>,
        /// The file and its error.
        why: &'a str,
        /// Whether it is tried again; otherwise the journal no longer has the day.
        again: bool,
    },
    /// The database, or a file that is needed for its rows, failed.
    DatabaseFailed {
        /// Why.
        why: &'a str,
        /// Number of events whose rows are missing; `None` while the position in the database is unknown.
        events: Option<u64>,
    },
    /// The database does not keep up.
    DatabaseSlow {
        /// Number of events whose rows are missing.
        events: u64,
    },
    /// The rows in the database are complete again.
    DatabaseCaughtUp {
        /// The number of the last event.
        event: u64,
    },
    /// No row is written: the tables are not those of this journal or version.
    DatabaseRefused {
        /// Why, and what to do.
        why: &'a str,
    },
    /// The journal no longer has what is needed for some rows.
    DatabaseIncomplete {
        /// The number of the first event without rows.
        from: u64,
        /// The number of the last one.
        to: u64,
    },
    /// The state before the trading day is not known, so rows of its orders lack values.
    DatabaseDayCut {
        /// The trading day.
        day: u32,
        /// The number of the event after which the rows are whole.
        after: u64,
    },
    /// The clock is too many days ahead of the trading day, so no new trading day starts.
    DayFar {
        /// The present trading day.
        day: u32,
        /// The trading day according to the clock.
        clock: u32,
    },
    /// Open orders at a venue have a name that the settings change: the name stays.
    NameKept {
        /// The named object, the line and the orders.
        name: &'a str,
    },
    /// Notes of the journal could not be read at the start: new orders are rejected.
    Incomplete {
        /// Number of unreadable notes.
        notes: u64,
    },
    /// At the start there are open orders with fields that the settings or the dictionaries of their lines refuse.
    FieldsRefused {
        /// The orders.
        orders: &'a [RefusedField],
    },
}

impl fmt::Display for OmsEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LateFill { order } => write!(
                f,
                "order {order}: fill received after the order was closed; the position includes it: check with the venue"
            ),
            Self::StrayFill {
                number,
                id,
                nets,
                is_known,
            } => write!(
                f,
                "break {number}: fill {} {}{}; the position includes it: check with the venue; fixwire oms breaks settle",
                if *is_known {
                    "that does not belong to order"
                } else {
                    "for unknown order"
                },
                String::from_utf8_lossy(id),
                if *nets {
                    " without PositionEffect(77): it closed the opposite position first"
                } else {
                    ""
                }
            ),
            Self::FillInTotal {
                order,
                account,
                symbol,
                file,
            } => write!(
                f,
                "order {order}: a fill, bust or correction from before the moment of the total for account {} and symbol {} in {} was received after the load and counts twice: load the totals again",
                account.escape_ascii(),
                symbol.escape_ascii(),
                file.escape_ascii()
            ),
            Self::FieldsRefused { orders } => write!(
                f,
                "{} with fields that their lines refuse since the settings or a dictionary changed: {}; cancel them, or give the lines these fields again",
                counted(orders.len() as u64, "open order"),
                first_orders(orders)
            ),
            Self::StrayReject { .. }
            | Self::Unknown { .. }
            | Self::NotAsked { .. }
            | Self::NameKept { .. }
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
            | Self::StrayReport { .. }
            | Self::StrayUndo { .. }
            | Self::NoAnswer { .. } => self.write_doubt(f),
            Self::LimitEnded {
                scope,
                control,
                limit,
            } => write!(
                f,
                "temporary limit {control} of {scope} ended: the limit is {limit} again"
            ),
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
            Self::PositionsDiffer { file, rows, who } => write!(
                f,
                "{file}: {rows} accounts and symbols differ from those of the OMS, compared by {who}: fixwire oms reconcile lists them"
            ),
            Self::DayAsked { .. }
            | Self::DayGoesOn { .. }
            | Self::DayStarted { .. }
            | Self::DayBack { .. }
            | Self::DayFiles { .. }
            | Self::DayFilesCut { .. }
            | Self::DayFilesFailed { .. }
            | Self::DayFar { .. }
            | Self::Incomplete { .. } => self.write_day(f),
            Self::DatabaseFailed { .. }
            | Self::DatabaseSlow { .. }
            | Self::DatabaseCaughtUp { .. }
            | Self::DatabaseRefused { .. }
            | Self::DatabaseIncomplete { .. }
            | Self::DatabaseDayCut { .. } => self.write_database(f),
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
                    "change of settings, limits, positions or a fill requested by {who}: another operator must request the same (fixwire oms reload, reload --back, limit, position, positions load, bust or correct)"
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

    /// Writes the text of events about the trading day and the journal.
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
            Self::DayGoesOn { from, day, open } => write!(
                f,
                "trading day {from} ends, as before the restart: {open}; {day} starts when its orders are closed"
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
                "{day} is the trading day now, by {}",
                String::from_utf8_lossy(who)
            ),
            Self::DayFiles { day, folder } => {
                write!(f, "trading day {day}: files written in {folder}")
            }
            Self::DayFilesCut { day, folder } => write!(
                f,
                "trading day {day}: files in {folder} begin at the oldest checkpoint of the day, since the state before the day is not known: set JournalKeep longer than a day, and remove no .begin- file"
            ),
            Self::DayFilesFailed { day, why, again } => {
                if let Some(day) = day {
                    write!(f, "trading day {day}: ")?;
                }
                let what_to_do = match again {
                    true => {
                        "fixwire tries again: make the file writable and free space on its disk, or correct [oms] day_files and restart"
                    }
                    false => "set JournalKeep longer than a day, and remove no .begin- file",
                };
                write!(f, "files not written: {why}; {what_to_do}")
            }
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

    /// Writes the text of events about the rows in a database.
    fn write_database(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DatabaseFailed {
                why,
                events: Some(events),
            } => write!(
                f,
                "database failed: {why}: rows of the last {events} events are missing; trading goes on, and fixwire tries again"
            ),
            Self::DatabaseFailed { why, events: None } => write!(
                f,
                "database failed: {why}: it is not known how many rows are missing; trading goes on, and fixwire tries again"
            ),
            Self::DatabaseSlow { events } => write!(
                f,
                "database is slow: rows of the last {events} events are missing; trading goes on"
            ),
            Self::DatabaseCaughtUp { event } => {
                write!(f, "database has the rows of all events, up to {event}")
            }
            Self::DatabaseRefused { why } => {
                write!(f, "database refused, no row is written: {why}")
            }
            Self::DatabaseIncomplete { from, to } => write!(
                f,
                "database has no rows of the events {from} to {to}, whose state is no longer in the journal: set JournalKeep longer than outages of the database"
            ),
            Self::DatabaseDayCut { day, after } => write!(
                f,
                "trading day {day}: rows that change in the database lack what happened before event {after}, since the state before the day is missing: leave the files in oms-database in the folder of the journal"
            ),
            _ => Ok(()),
        }
    }

    /// Writes the text of events about venue reports that belong to no order.
    fn write_market(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MarketStatus {
                line,
                state,
                symbols,
            } => {
                let s = if *symbols == 1 { "" } else { "s" };
                write!(
                    f,
                    "line {}: the market is {state} for {symbols} symbol{s}",
                    String::from_utf8_lossy(line)
                )
            }
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

/// The operator's task after the exchange refused a login.
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

/// Whether the exchange refused a login that it would refuse again.
pub(crate) fn is_wrong_login(why: &LinkEnd) -> bool {
    matches!(why, LinkEnd::Refused { status, .. }
        if (TmpStatus::APPEND_NO.0..=TmpStatus::SYSTEM_TYPE.0).contains(&status.0))
}

/// The function that receives [`OmsEvent`]s.
pub type OmsListener = Box<dyn FnMut(OmsEvent<'_>) + Send>;

mod doubts;
pub(crate) mod ignored;
pub(crate) mod logons;
#[cfg(test)]
mod tests;
