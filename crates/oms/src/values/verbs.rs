//! All commands and queries of operators, each with its right, its arguments and its help.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::OperatorRight;

/// The author of a change, and the reason for it.
#[derive(Clone, Copy, Debug)]
pub struct By<'a> {
    /// The name of a person, of a file, or of a part of the OMS.
    pub who: &'a [u8],
    /// The reason, as text.
    pub why: &'a [u8],
}

/// A command or query of operators.
#[derive(Clone, Copy, Debug)]
pub struct OperatorVerb<V: 'static> {
    pub(crate) verb: V,
    /// Name of the command.
    pub name: &'static str,
    /// The right that the command requires.
    pub right: OperatorRight,
    /// Arguments of the command, for its help.
    pub words: &'static str,
    /// Help of the command.
    pub help: &'static str,
    /// Whether the arguments are checked only when the command is carried out.
    pub(crate) is_free: bool,
}

/// Defines an enum of verbs and their table. An entry has the help, the name, the arguments and the right; with `free`,
/// the verb checks its arguments only when it is carried out.
macro_rules! verbs {
    (@is_free) => { false };
    (@is_free free) => { true };
    ($(#[$about:meta])+ $kind:ident, $all:ident[$count:literal];
     $( $(#[doc = $help:literal])+ $verb:ident: $name:literal, $words:literal, $right:ident $($free:ident)?; )+) => {
        $(#[$about])+
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum $kind { $( $(#[doc = $help])+ $verb, )+ }

        $(#[$about])+
        pub const $all: [OperatorVerb<$kind>; $count] = [$( OperatorVerb {
            verb: $kind::$verb,
            name: $name,
            right: OperatorRight::$right,
            words: $words,
            help: concat!($($help),+),
            is_free: verbs!(@is_free $($free)?),
        } ),+];
    };
}

verbs! {
    /// Commands: each changes something, and needs a reason. A scope is `firm`, `session=NAME`, `account=NAME`,
    /// `symbol=NAME`, or `account=NAME symbol=NAME`.
    CommandVerb, COMMANDS[20];
    /// Sets limits; `CODE=none` removes one. With `until` the previous limit applies again from this time (UTC) on.
    Limit: "limit", "SCOPE CODE=VALUE ... [until=17:00]", Limit;
    /// Cancels the open orders of the scope; new orders are accepted.
    Cancel: "cancel", "SCOPE", Kill;
    /// Rejects new orders and replaces of the scope from the next message on, and cancels its open orders.
    Kill: "kill", "SCOPE", Kill;
    /// Accepts only orders that reduce a position. For a killed scope it needs the right `arm` too.
    Reducing: "reducing", "SCOPE", Kill;
    /// Trading resumes.
    Arm: "arm", "SCOPE", Arm;
    /// Sets the state of a market: `open`, `auction`, `halted` or `closed`.
    Market: "market", "symbol=NAME STATE", Market;
    /// Sets prices of a market, also `bid` and `offer`, for conditional orders.
    Price: "price", "symbol=NAME last=PRICE", Market;
    /// Enters a report of a venue by hand.
    Report: "report", "order=NUMBER type=TYPE ...", Report free;
    /// Takes a fill back. The report is named by its order and the venue's ExecID(17), or by the ExecID(17) that the
    /// client has.
    Bust: "bust", "fill=ORDER/EXECID", Report free;
    /// Corrects the quantity and price of a fill.
    Correct: "correct", "fill=ORDER/EXECID quantity=QUANTITY price=PRICE", Report free;
    /// Takes a closed order into memory again, as the journal has it. `fixwire oms bust`, `correct`, `report-in` and `breaks settle` do
    /// this by themselves.
    Recall: "recall", "order=NUMBER price-scale=DECIMALS quantity-scale=DECIMALS row=HEXADECIMAL", Report free;
    /// Places an order again that a control rejected; `order` may also be SESSION/ClOrdID.
    Rerun: "rerun", "order=NUMBER without=RC8", Rerun free;
    /// Closes a break between a line and a drop copy of the venue.
    Accept: "accept", "break=NUMBER", Break;
    /// Settles a break between a report of a venue and its order, with the value of the `venue` or with `ours`.
    Settle: "settle", "break=NUMBER venue", Settle free;
    /// Starts a trading day; `cancel` cancels the Day orders that are open first.
    Roll: "roll", "day=2026-11-23 [cancel]", Roll;
    /// Asks an exchange over TMP for its bulletins.
    Bulletin: "bulletin", "line=NAME from=NUMBER", Market free;
    /// Applies the settings that were put beside the OMS ([`SettingsSource`](crate::SettingsSource)).
    Reload: "reload", "", Reload;
    /// Sets the position of an account in a symbol, or changes it by a quantity.
    Position: "position", "set|adjust account=NAME symbol=NAME long=QUANTITY short=QUANTITY", Position free;
    /// Loads positions: totals, or changes. A row is `ACCOUNT SYMBOL LONG SHORT`, and for totals as of an earlier moment
    /// the position without the fills since then. All rows are applied, or none is.
    Load: "load", "totals|deltas [as-of=TIME read=EVENT] [again] file=NAME; ROW; ROW ...", Position free;
    /// Raises an event: the positions or fills of a file differ from those of the OMS.
    Differ: "differ", "rows=NUMBER file=NAME", Read free;
}

verbs! {
    /// Queries: the first line of an answer names its columns, which tabs separate.
    QueryVerb, QUERIES[15];
    /// The state: trading day, open and unknown orders, whether it trades.
    Status: "status", "", Read;
    /// Orders in memory, at most the newest 1000 whose numbers are below `before`.
    Orders: "orders", "[account=NAME] [open] [before=NUMBER]", Read;
    /// An order by its OrderID(37).
    Order: "order", "NUMBER", Read free;
    /// Positions, and the open quantity to buy and sell; `check` answers with the mistakes in a command `load`.
    Positions: "positions", "[check COMMAND]", Read free;
    /// Limits and kill switches.
    Limits: "limits", "", Read;
    /// The pools of order numbers: the next number, and how many are left.
    Pools: "pools", "", Read;
    /// The conditional orders that are held.
    Held: "held", "", Read;
    /// Today's orders that a control rejected.
    Rejected: "rejected", "", Read;
    /// Differences with venues and drop copies.
    Breaks: "breaks", "", Read;
    /// Open quantity and trades of each account, and whether it trades.
    Accounts: "accounts", "", Read;
    /// Tick, lot, reference price, state of the market and line group of each symbol.
    Symbols: "symbols", "", Read;
    /// A line for `fixwire status`.
    Counts: "counts", "", Read;
    /// The state, with a name for each figure.
    Figures: "figures", "", Read;
    /// The mistakes in commands `report`.
    CheckReports: "check-reports", "REPORT; REPORT ...", Read free;
    /// The mistakes in commands `price`.
    CheckPrices: "check-prices", "PRICE; PRICE ...", Read free;
}

impl<V> OperatorVerb<V> {
    /// The verb with this name.
    pub(crate) fn named(all: &'static [Self], name: &str) -> Option<&'static Self> {
        all.iter().find(|it| it.name == name)
    }

    /// The names of all verbs, with the verb that was probably meant.
    pub(crate) fn listed(all: &'static [Self], name: &str) -> String {
        let names: Vec<&str> = all.iter().map(|it| it.name).collect();
        let nearest = fixwire_text::nearest(name, names.iter().copied());
        let meant = nearest.map(|it| format!("; did you mean {it}?"));
        format!("{}{}", names.join(", "), meant.unwrap_or_default())
    }
}
