//! The settings as values, such as rights and routes. These settings are not part of the state.

mod conversion;
pub(crate) mod currency;
mod route;
pub(crate) mod security;
mod user_template;
pub(crate) mod venue_names;

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::num::NonZeroUsize;

use crate::values::fields::contract::Contract;
use crate::values::fields::report_tags::ReportTags;
use crate::values::fields::tmp_fields::TmpFields;
use crate::values::form::NumberForm;
use crate::values::marks::RequestMarks;
use crate::values::own_tags::OwnTags;
use crate::values::texts::TextTable;
use crate::values::value::{Effect, End, Price, Quantity, Side};
pub use conversion::{ConversionFile, ConversionFiles};
use currency::SymbolCurrency;
pub use route::{Route, RouteCondition};
pub use security::{Maturity, SecurityData, SecurityId, SecurityIndex};
pub use user_template::{CreatedName, UserTemplate};
pub(crate) use user_template::{is_pattern, patterns_overlap};
pub use venue_names::{NamePlaces, VenueNameFile, VenueNameRule};

/// An instrument of the instruments file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InstrumentRule {
    /// Symbol(55).
    pub symbol: String,
    /// Number of decimals of the symbol's prices.
    pub scale: u8,
    /// Number of decimals of the symbol's quantities.
    pub quantity_scale: u8,
    /// Multiplier times exchange rate, in 10^-9.
    pub worth: u64,
    /// Tick size of prices below the first of [`ticks`](Self::ticks).
    pub tick: Price,
    /// Tick sizes of higher prices, the lowest first.
    pub ticks: Vec<TickBand>,
    /// Lot size, in units of the symbol's quantities.
    pub lot: Quantity,
    /// Whether PositionEffect(77) must be O or C, and long and short positions are separate.
    pub has_effect: bool,
    /// The reference price.
    pub reference: Option<Price>,
    /// The currency of the symbol, whose rate is included in `worth`.
    pub currency: Option<SymbolCurrency>,
    /// Flow group of the symbol over TMP. Each flow group has its own state of trading.
    pub flow_group: u8,
    /// The legs of a spread.
    pub legs: Option<[LegRule; 2]>,
    /// The lowest price at which the value of an order is reserved. For a spread, the OMS computes this price from the
    /// prices of the legs; for other instruments it is 0.
    pub least_hold: Price,
    /// The lowest price from which the collar (RC8) takes its percentage. For a spread, the OMS computes it as the sum
    /// of the legs' reference prices; for other instruments it is 0.
    pub collar_base: Price,
    /// Identifiers and reference data.
    pub security: SecurityData,
}

/// A row of a tick table: the tick size that applies from a price upwards.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TickBand {
    /// The lowest price for which the tick size applies.
    pub from: Price,
    /// Tick size.
    pub tick: Price,
}

impl InstrumentRule {
    /// Tick size for a price; for a negative price, the tick size of its absolute value.
    #[inline]
    pub(crate) fn tick_at(&self, price: Price) -> Price {
        let above = self.ticks.iter().rev();
        let mut above = above.filter(|band| band.from.unsigned_abs() <= price.unsigned_abs());
        above.next().map_or(self.tick, |band| band.tick)
    }

    /// The tick sizes as text, such as `0.01, 0.05 from 10`.
    pub(crate) fn tick_text(&self) -> String {
        let shown = |value| crate::values::show::price(value, self.scale);
        let mut text = alloc::format!("{}", shown(self.tick));
        for TickBand { from, tick } in &self.ticks {
            text += &alloc::format!(", {} from {}", shown(*tick), shown(*from));
        }
        text
    }
}

/// A leg of a spread of the instruments file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LegRule {
    /// Symbol of the leg.
    pub symbol: String,
    /// Side of the leg when the spread is bought.
    pub side: Side,
    /// Quantity of the leg in one set of the spread.
    pub ratio: u32,
}

/// An account.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AccountRule {
    /// Account(1).
    pub name: String,
    /// Parent of the account, which is defined before it.
    pub parent: Option<String>,
}

/// Settings of a client session.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UserRule {
    /// The session's name.
    pub session: String,
    /// Rights by account; for each account the most specific pattern applies.
    pub rights: Vec<Rights>,
    /// Delay after a logout until the user's orders are cancelled, in nanoseconds; `None` if the orders stay.
    pub on_logout: Option<i64>,
    /// Delay after a disconnect until the user's orders are cancelled, in nanoseconds; `None` if the orders stay.
    pub on_disconnect: Option<i64>,
    /// The account of orders without Account(1).
    pub default_account: Option<String>,
    /// The number pool of the user's orders.
    pub number_pool: Option<String>,
    /// Whether the user may choose order numbers.
    pub own_numbers: bool,
    /// Rate limit of the user.
    pub rate: Option<RateRule>,
    /// Whether reports to the user have ApplID(1180) and ApplSeqNum(1181).
    pub report_numbers: bool,
    /// Maximum number of the user's held conditional orders; `None` if the user may not place conditional orders.
    pub conditional: Option<usize>,
    /// Maximum number of sessions that Logons create for a pattern; `None` for no other limit than that of the engine.
    pub max_sessions: Option<usize>,
    /// Maximum number of the user's open parent orders; `None` if the user may not place parent and child orders.
    pub parents: Option<usize>,
    /// The user's orders must not be sent later than this number of nanoseconds after they were received, unless an
    /// order itself sets a time.
    pub validity: Option<i64>,
    /// Language of the user's texts in addition to English.
    pub language: Option<String>,
    /// Treatment of the fields of the user's requests.
    pub contract: Contract,
    /// Fields of venues' reports that the user does not get.
    pub report_drop: ReportTags,
    /// Values of the user's orders over TMP that do not come from the terms of the orders.
    pub marks: UserMarks,
}

/// Values for a user's orders over TMP that do not come from the terms of the orders. These values have precedence over
/// the values of the line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct UserMarks {
    /// The clearing member.
    pub cm_id: Option<u16>,
    /// Source of the orders.
    pub order_source: Option<u8>,
    /// The information vendor.
    pub info_source: Option<[u8; 3]>,
    /// The kind of investor.
    pub investor_flag: Option<u8>,
    /// PositionEffect of orders without PositionEffect(77).
    pub position_effect: Option<Effect>,
}

impl UserMarks {
    /// The values as requests have them; 0 where the value of the line applies. PositionEffect comes from each order.
    pub(crate) fn of_requests(&self) -> RequestMarks {
        RequestMarks {
            cm_id: self.cm_id.unwrap_or(0),
            effect: 0,
            order_source: self.order_source.unwrap_or(0),
            info_source: self.info_source.unwrap_or_default(),
            investor_flag: self.investor_flag.unwrap_or(0),
        }
    }
}

/// Rights of a client for some accounts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rights {
    /// Accounts; `*` matches any suffix.
    pub accounts: Vec<String>,
    /// Whether the user may place orders.
    pub new: bool,
    /// Whether the user may replace orders.
    pub replace: bool,
    /// Whether the user may cancel orders.
    pub cancel: bool,
    /// Whether the user may cancel all orders by one request.
    pub mass_cancel: bool,
    /// Whether the user may request the status of orders.
    pub status: bool,
    /// Whether the user may request reports again.
    pub reports: bool,
    /// Whether the user may place and cancel quotes.
    pub quote: bool,
    /// Whether the user may send price inquiries.
    pub inquiry: bool,
    /// Whether the user may request definitions and lists of instruments.
    pub securities: bool,
}

/// Rate limit of a client.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RateRule {
    /// Maximum number of requests within the time window.
    pub count: NonZeroUsize,
    /// The time window, in nanoseconds.
    pub time: i64,
    /// Number of consecutive rejects after which the client is logged out.
    pub logout_after: Option<usize>,
}

/// A line group: sessions to a venue that share orders.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LineGroup {
    /// Name of the line group.
    pub name: String,
    /// The names of the sessions.
    pub lines: Vec<String>,
    /// Names of groups to the same venue whose sessions send new orders while no session of this group is logged on.
    pub helpers: Vec<String>,
    /// The orders that stay on one session; `None`: orders go to the sessions in turn.
    pub affinity: Option<Affinity>,
    /// Rate limit of the venue for each session.
    pub flow: Option<FlowRule>,
    /// Maximum time that orders and replaces stay queued, in nanoseconds; `None`: they are not queued.
    pub queue: Option<i64>,
    /// Whether the venue does not support replace.
    pub cannot_replace: bool,
    /// Whether the venue does not support stop orders, so that the OMS holds them.
    pub cannot_stop: bool,
    /// Whether the lines of the group speak TMP; set by [`Oms::with_tmp_lines`](crate::Oms::with_tmp_lines).
    pub over_tmp: bool,
    /// Whether a line of the group needs PositionEffect even in orders of symbols with netting positions; set by
    /// [`Oms::with_tmp_lines`](crate::Oms::with_tmp_lines).
    pub needs_effect: bool,
    /// Whether a line of the group is for futures, which do not have PositionEffect A; set by
    /// [`Oms::with_tmp_lines`](crate::Oms::with_tmp_lines).
    pub has_futures: bool,
    /// Whether the OMS requests the state of trading at each logon of a line.
    pub market_status: bool,
    /// The OMS's actions after rejects of the venue; the first matching entry decides.
    pub errors: Vec<ErrorRule>,
    /// The number pool for orders of users that have no pool.
    pub number_pool: Option<String>,
    /// Treatment of the fields of requests to lines of the group.
    pub contract: Contract,
    /// Fields of reports on the lines that clients and drop copies get beside those of the table of fields.
    pub report_carry: ReportTags,
    /// The fields of requests that fill fields of TMP, if the lines speak TMP.
    pub tmp_fields: TmpFields,
    /// Whether the OMS adds to a replace those fields of the order that the client's replace leaves out.
    pub merges: bool,
    /// Whether the OMS requests the status of orders from the venue.
    pub status: StatusRule,
    /// Whether the OMS requests the status of all open orders at each logon of a line, by OrderMassStatusRequest(AF).
    pub mass_status: bool,
    /// The ExDestination(100) that orders for the group may have, since its lines lead to this destination.
    pub ex_destination: Option<String>,
    /// The field of reports that has the venue's ExecID(17); `None` if no field has it.
    pub venue_exec_id: Option<VenueExecId>,
    /// The venue's names of instruments.
    pub symbols: VenueNameFile,
    /// The venue's names of accounts.
    pub accounts: VenueNameFile,
}

impl LineGroup {
    /// Whether a session is one of its lines.
    #[must_use]
    pub fn has_line(&self, name: &[u8]) -> bool {
        self.lines.iter().any(|line| line.as_bytes() == name)
    }
}

/// The field of a client's report that has the venue's ExecID(17).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum VenueExecId {
    /// ExecID(17), or SecondaryExecID(527) in reports that cannot have the venue's ExecID as ExecID(17).
    Own,
    /// SecondaryExecID(527).
    Second,
}

/// Whether the OMS requests the status of orders from a venue.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum StatusRule {
    /// Only when the state of an order is in doubt.
    #[default]
    FromBook,
    /// Also when a client requests the status. The client's OrderStatusRequest(H) is then passed on to the venue.
    PassOn,
    /// Never: an order in doubt is an alarm at once.
    Never,
}

/// The OMS's action after a reject of a venue.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ErrorRule {
    /// The reject code to match; `None` for any code.
    pub code: Option<RejectCode>,
    /// Text(58) to match; `*` matches any suffix. `None` for any text.
    pub text: Option<String>,
    /// Treatment of a rejected new order.
    pub remedy: Remedy,
    /// Maximum number of retries.
    pub times: u8,
    /// Delay between the reject and the retry, in nanoseconds.
    pub after: i64,
    /// Text(58) for the client, instead of the venue's Text.
    pub say: Option<String>,
    /// The final state of an order that is not sent again; `None` for rejected.
    pub state: Option<End>,
}

/// The code of a reject, with the field that has it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RejectCode {
    /// OrdRejReason(103) of an ExecutionReport(8).
    Order(u64),
    /// CxlRejReason(102) of an OrderCancelReject(9).
    Cancel(u64),
    /// BusinessRejectReason(380) of a BusinessMessageReject(j).
    Business(u64),
    /// A code of TMP: 40,000 plus the status of an R03.
    Tmp(u64),
}

impl RejectCode {
    /// OrdRejReason(103) = 6: an order with this ClOrdID(11) may be open at the venue.
    pub const DUPLICATE: Self = Self::Order(6);
}

/// The start of trading days: a time of day in a time zone.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DayBegins {
    /// The time, in nanoseconds after midnight.
    pub time: i64,
    /// The time zone, such as `America/New_York`; the caller looks it up.
    pub zone: String,
    /// Byte offset of the value in the settings.
    pub place: usize,
}

impl DayBegins {
    /// The time zone that needs no time-zone database.
    pub const UTC: &'static str = "UTC";

    /// The value as settings have it.
    #[must_use]
    pub fn text(&self) -> String {
        alloc::format!("{} {}", crate::values::day::clock(self.time), self.zone)
    }
}

/// The folder for the files of ended trading days.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DayFolder {
    /// The folder, relative to that of the settings.
    pub name: String,
    /// Byte offset of the value in the settings.
    pub place: usize,
}

/// The database for the rows of trading days.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DayDatabase {
    /// The address of the database, such as `postgresql://USER@HOST:PORT/DATABASE`.
    pub address: String,
    /// Byte offset of the value in the settings.
    pub place: usize,
}

/// Beginning of the names of the tables in the database.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TablePrefix(pub String);

impl Default for TablePrefix {
    fn default() -> Self {
        Self("oms_".into())
    }
}

/// The form of the files of ended trading days.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum DayFormat {
    /// Comma-separated values with a heading.
    #[default]
    Csv,
    /// Parquet.
    Parquet,
}

impl DayFormat {
    /// All forms, with their names in the settings.
    pub const NAMES: [(&'static str, Self); 2] = [("csv", Self::Csv), ("parquet", Self::Parquet)];

    /// Name of the form in the settings; files of this form have it as their extension.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
        }
    }
}

/// Treatment of a new order that a venue rejected.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Remedy {
    /// The client receives the reject.
    #[default]
    Reject,
    /// The order is sent again.
    Retry,
    /// The order is sent again on another session.
    AnotherLine,
}

impl ErrorRule {
    /// Whether the entry matches a reject.
    #[must_use]
    pub fn fits(&self, code: Option<RejectCode>, text: &[u8]) -> bool {
        let mut pattern = self.text.iter();
        (self.code.is_none() || self.code == code) && pattern.all(|it| matches(it, text))
    }
}

/// A pool of order numbers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PoolRule {
    /// Name of the pool.
    pub name: String,
    /// Format of the pool's numbers.
    pub form: NumberForm,
    /// The first number.
    pub first: u64,
    /// The last number.
    pub last: u64,
    /// The tag that carries the numbers to venues.
    pub tag: u32,
    /// Whether the pool starts again with each trading day.
    pub each_day: bool,
}

/// The orders that stay on the same session while it is ready.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Affinity {
    /// Orders of an account.
    Account,
    /// Orders of a symbol.
    Symbol,
}

/// Rate limit of a venue for one session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FlowRule {
    /// Maximum number of messages within the time window.
    pub count: usize,
    /// The time window, in nanoseconds.
    pub time: i64,
    /// Number of the messages of [`count`](Self::count) that only cancels may use.
    pub kept: usize,
}

impl FlowRule {
    /// Maximum number of messages that the rate limit allows within a second.
    pub(crate) fn in_a_second(self) -> usize {
        let times = (1_000_000_000 + self.time - 1) / self.time.max(1);
        self.count
            .saturating_mul(usize::try_from(times).unwrap_or(1).max(1))
    }
}

/// A limit of the limits file: scope, control, value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LimitRule {
    /// The scope.
    pub scope: ScopeName,
    /// Control of the limit.
    pub control: crate::values::limits::RiskControl,
    /// The limit, in the control's unit.
    pub value: i128,
}

/// A session that receives a copy of every execution report.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct DropCopyRule {
    /// Name of the session.
    pub session: String,
    /// Accounts of the drop copy; `*` matches any suffix.
    pub accounts: Vec<String>,
    /// Whether reports to the session have ApplID(1180) and ApplSeqNum(1181).
    pub report_numbers: bool,
    /// Fields of venues' reports that the session does not get.
    pub report_drop: ReportTags,
}

/// A session on which a venue sends copies of the reports of lines.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CopySourceRule {
    /// Name of the session.
    pub session: String,
    /// The names of the lines whose reports are copied.
    pub lines: Vec<String>,
    /// Over TMP, the target_id of the subscription; `None`: 7 for a drop copy, 3 for a clearing member.
    pub target: Option<u8>,
}

/// An operator.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OperatorRule {
    /// The name of the user at the control socket.
    pub user: String,
    /// Rights, by the names of [`OperatorRight`](fixwire_protocol::OperatorRight).
    pub may: Vec<String>,
}

/// The reference price. RC8 measures the distance of other prices from the reference price. The value of an order
/// without a limit price is also reserved at the reference price.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReferencePrice {
    /// The reference price in the instrument's row of the file.
    #[default]
    File,
    /// The last market price while it is known, else the reference price in the row.
    Last,
    /// The best price of the opposite side, offer or bid, while it is known, else the reference price in the row.
    Best,
}

impl ReferencePrice {
    /// All values, with their names in the settings.
    pub const NAMES: [(&'static str, Self); 3] = [
        ("file", Self::File),
        ("last", Self::Last),
        ("best", Self::Best),
    ];

    /// Name of the reference price in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        let names = Self::NAMES.into_iter();
        let mut own = names.filter(|(_, price)| *price == self);
        own.next().map_or("", |(name, _)| name)
    }
}

/// An entry of the restricted list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RestrictedRule {
    /// Symbol; `*` matches any suffix.
    pub symbol: String,
    /// Account; `*` matches any suffix.
    pub account: String,
    /// The first day of the restriction, as 20261122; `None` for no first day.
    pub from: Option<u32>,
    /// The last day of the restriction; `None` for no last day.
    pub to: Option<u32>,
    /// Kind of restriction.
    pub what: Restricted,
}

/// Kind of a restriction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Restricted {
    /// All orders are restricted.
    All,
    /// Buy orders are restricted.
    Buy,
    /// Sell orders are restricted.
    Sell,
    /// Short sales are restricted.
    Short,
    /// Short sales need a locate.
    Locate,
}

impl RestrictedRule {
    /// Whether the restriction applies to an account on a date.
    #[must_use]
    pub fn is_of(&self, account: &[u8], day: u32) -> bool {
        let has_begun = self.from.is_none_or(|from| from <= day);
        matches(&self.account, account) && has_begun && self.to.is_none_or(|to| day <= to)
    }
}

/// A [`Scope`](crate::Scope) by names.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ScopeName {
    /// The whole firm.
    Firm,
    /// A client's session.
    Session(String),
    /// An account.
    Account(String),
    /// An instrument.
    Instrument(String),
    /// An account in an instrument.
    Holding(String, String),
}

/// A position of the positions file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PositionRule {
    /// Account(1).
    pub account: String,
    /// Symbol(55).
    pub symbol: String,
    /// Long quantity.
    pub long: Quantity,
    /// Short quantity.
    pub short: Quantity,
}

/// All settings.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RiskRules {
    /// Instruments.
    pub instruments: Vec<InstrumentRule>,
    /// Finds instruments by identifier.
    pub securities: Arc<SecurityIndex>,
    /// Accounts, parents first.
    pub accounts: Vec<AccountRule>,
    /// Clients.
    pub users: Vec<UserRule>,
    /// Templates of clients; the clients themselves are in [`users`](Self::users).
    pub templates: Vec<UserTemplate>,
    /// Line groups.
    pub groups: Vec<LineGroup>,
    /// Pools of order numbers.
    pub pools: Vec<PoolRule>,
    /// Routes; the first one that fits an order decides.
    pub routes: Vec<Route>,
    /// Limits.
    pub limits: Vec<LimitRule>,
    /// Name of the file with the limits, which the journal records.
    pub limits_file: String,
    /// The sessions that provide market prices.
    pub market_data: Vec<String>,
    /// The sessions that receive a copy of every execution report.
    pub drop_copies: Vec<DropCopyRule>,
    /// Sessions on which venues send copies of reports.
    pub copy_sources: Vec<CopySourceRule>,
    /// Time that the OMS waits for the drop copy of a report, or for the report of a drop copy, in nanoseconds.
    pub copy_within: i64,
    /// Operators and their rights. If the list is empty, everybody with access to the socket has all rights.
    pub operators: Vec<OperatorRule>,
    /// Whether two operators must arm a stopped scope. Neither of the two operators may be the operator who stopped the
    /// scope.
    pub two_arm: bool,
    /// Start of trading days.
    pub day_begins: DayBegins,
    /// How long a roll waits for the venues to confirm cancels of Day orders, in nanoseconds.
    pub roll_wait: i64,
    /// Time of the daily reload of the CSV files, in nanoseconds after midnight UTC.
    pub reload_at: Option<i64>,
    /// Entries of the restricted list.
    pub restricted: Vec<RestrictedRule>,
    /// Whether self-trade prevention is on. Self-trade prevention rejects an order that could trade with another order
    /// of the same owner.
    pub rejects_self_trades: bool,
    /// The reference price of RC8.
    pub reference_price: ReferencePrice,
    /// The hash of all settings files.
    pub hash: u64,
    /// Name and version of the program.
    pub build: String,
    /// Initial positions of a new journal.
    pub positions: Vec<PositionRule>,
    /// Name of the file with the initial positions.
    pub positions_file: String,
    /// Name of the file for the stamps, the times at which requests pass the OMS; `None` for no stamps.
    pub stamps: Option<String>,
    /// The folder for the files of ended trading days; `None` when the OMS writes none.
    pub day_files: Option<DayFolder>,
    /// Form of the files of ended trading days.
    pub day_format: DayFormat,
    /// The database for the rows of trading days; `None` when the OMS writes none.
    pub database: Option<DayDatabase>,
    /// The file with the password for the database, relative to the folder of the settings.
    pub database_password_file: Option<String>,
    /// Beginning of the names of the tables in the database.
    pub database_prefix: TablePrefix,
    /// Tags of the user-defined fields of this OMS.
    pub own_tags: OwnTags,
    /// Conversion tables that replace built-in ones.
    pub conversions: ConversionFiles,
    /// Names of lines that speak TMP, with the values of their requests; set by
    /// [`Oms::with_tmp_lines`](crate::Oms::with_tmp_lines).
    pub(crate) line_marks: Vec<(String, RequestMarks)>,
    /// ApplID(1180) of numbered reports.
    pub appl_id: String,
    /// Maximum age of currency rates, in nanoseconds; `None` for any age.
    pub rates_max_age: Option<i64>,
    /// Translations of Text(58).
    pub texts: TextTable,
    /// Number of orders for which memory is allocated at the start.
    pub orders: usize,
    /// Number of closed orders that stay in memory for late fills.
    pub remembered: usize,
    /// Maximum number of bytes of the fields that a request carries to its venue.
    pub carried_bytes: usize,
}

/// Whether a name matches a pattern: the name itself, or a prefix before `*`.
#[must_use]
pub fn matches(pattern: &str, name: &[u8]) -> bool {
    match pattern.strip_suffix('*') {
        Some(front) => name.starts_with(front.as_bytes()),
        None => name == pattern.as_bytes(),
    }
}

impl UserRule {
    /// Whether the user may request instruments.
    pub(crate) fn may_list_securities(&self) -> bool {
        self.rights.iter().any(|rights| rights.securities)
    }

    /// The rights of the pattern that fits an account best: the account's own name, else the longest prefix before `*`.
    /// `None` when no pattern fits, so that the user may not use the account.
    #[must_use]
    pub fn rights(&self, account: &[u8]) -> Option<&Rights> {
        let mut best: Option<(usize, &Rights)> = None;
        for rights in &self.rights {
            for pattern in rights.accounts.iter().filter(|it| matches(it, account)) {
                if !pattern.ends_with('*') {
                    return Some(rights);
                }
                if best.is_none_or(|(longest, _)| pattern.len() > longest) {
                    best = Some((pattern.len(), rights));
                }
            }
        }
        best.map(|(_, rights)| rights)
    }

    /// Whether the user has a right for orders of an account. For an account that the user may no longer use, the user
    /// needs the right for all accounts that it may use.
    pub(crate) fn may(&self, account: &[u8], right: fn(&Rights) -> bool) -> bool {
        let rights = self.rights(account);
        rights.map_or_else(|| self.may_always(right), right)
    }

    /// Whether the user has a right for all accounts that it may use.
    pub(crate) fn may_always(&self, right: fn(&Rights) -> bool) -> bool {
        self.rights.iter().all(right)
    }
}

impl RiskRules {
    /// Whether a session may request reports again.
    #[must_use]
    pub fn recovers_reports(&self) -> bool {
        let mut rights = self.users.iter().flat_map(|user| &user.rights);
        !self.drop_copies.is_empty() || rights.any(|rights| rights.reports)
    }

    /// The template from which the user of a session has its settings; `None` if the user has a table of its own.
    #[must_use]
    pub fn template_of(&self, session: &str) -> Option<&UserTemplate> {
        let mut templates = self.templates.iter();
        templates.find(|it| it.sessions.iter().any(|name| name == session))
    }

    /// The line group of orders in a symbol for which no condition decides.
    #[must_use]
    pub fn group_of(&self, symbol: &[u8]) -> Option<usize> {
        let mut routes = self.routes.iter();
        let found = routes.find(|route| route.when.is_none() && route.has(symbol));
        found.map(|route| route.group)
    }

    /// The routes that orders in a symbol may take, in order. The result has the routes with a condition before the
    /// first route without one, and that route.
    pub fn routes_of<'s>(&'s self, symbol: &'s [u8]) -> impl Iterator<Item = &'s Route> {
        let mut is_decided = false;
        let routes = self.routes.iter().filter(|route| route.has(symbol));
        routes.take_while(move |route| {
            let was_decided = is_decided;
            is_decided |= route.when.is_none();
            !was_decided
        })
    }

    /// Whether orders of a symbol may go to a group.
    #[must_use]
    pub fn may_reach(&self, group: usize, symbol: &[u8]) -> bool {
        self.routes_of(symbol).any(|route| route.group == group)
    }

    /// Whether a route has a condition.
    #[must_use]
    pub fn has_conditions(&self) -> bool {
        self.routes.iter().any(|route| route.when.is_some())
    }
}
