//! What the settings allow: who may do what, and where orders go. Nothing of it is state.

use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroUsize;

use crate::form::NumberForm;
use crate::value::{Price, Quantity};

/// An instrument as its file has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InstrumentRule {
    /// Symbol(55).
    pub symbol: String,
    /// Digits of its prices behind the point.
    pub scale: u8,
    /// Multiplier times rate of exchange, in 10^-6.
    pub worth: u64,
    /// Prices are multiples of it.
    pub tick: Price,
    /// Quantities are multiples of it.
    pub lot: Quantity,
    /// PositionEffect(77) has to be O or C; long and short are held beside each other.
    pub has_effect: bool,
    /// The price that others are compared with.
    pub reference: Option<Price>,
}

/// An account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AccountRule {
    /// Account(1).
    pub name: String,
    /// The one that it belongs to; it stands before this one.
    pub parent: Option<String>,
}

/// What a client's session may do.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UserRule {
    /// The session's name.
    pub session: String,
    /// By account; for each account those of the pattern that fits it best.
    pub rights: Vec<Rights>,
    /// So long after it has logged out its orders are cancelled, in nanoseconds.
    pub on_logout: Option<i64>,
    /// So long after its connection was lost its orders are cancelled, in nanoseconds.
    pub on_disconnect: Option<i64>,
    /// The account of an order that names none.
    pub default_account: Option<String>,
    /// The pool that its orders have their numbers from.
    pub number_pool: Option<String>,
    /// It may say which number an order has.
    pub own_numbers: bool,
    /// How many requests it may send.
    pub rate: Option<RateRule>,
}

/// What a client may do with orders of some accounts.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rights {
    /// Accounts, with `*` for any end of a name.
    pub accounts: Vec<String>,
    /// It may place orders.
    pub new: bool,
    /// It may replace them.
    pub replace: bool,
    /// It may cancel them.
    pub cancel: bool,
    /// It may cancel all of them at once.
    pub mass_cancel: bool,
    /// It may ask how they stand.
    pub status: bool,
}

/// How many requests a client may send in a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RateRule {
    /// Requests.
    pub count: NonZeroUsize,
    /// In nanoseconds.
    pub time: i64,
    /// It is logged out when so many were rejected since one was taken.
    pub logout_after: Option<usize>,
}

/// Lines that share orders.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LineGroup {
    /// Its name.
    pub name: String,
    /// The names of their sessions.
    pub lines: Vec<String>,
    /// Which orders stay on a line; they take turns without it.
    pub affinity: Option<Affinity>,
    /// What the venue takes of a line.
    pub flow: Option<FlowRule>,
    /// How long orders and replaces may wait for a line, in nanoseconds.
    pub queue: Option<i64>,
    /// The venue does not replace orders.
    pub cannot_replace: bool,
    /// What is done when the venue rejects something; the first that fits decides.
    pub errors: Vec<ErrorRule>,
    /// The pool that orders of users without one have their numbers from.
    pub number_pool: Option<String>,
}

/// What is done when a venue rejects something.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ErrorRule {
    /// The reason that it gives.
    pub code: Option<RejectCode>,
    /// Text(58), with `*` for any end of it.
    pub text: Option<String>,
    /// What is done with a new order.
    pub remedy: Remedy,
    /// How often an order is sent again, at most.
    pub times: u8,
    /// So long after the reject, in nanoseconds.
    pub after: i64,
    /// Text(58) for the client, in place of the venue's.
    pub say: Option<String>,
}

/// The reason of a reject, in the field that its message has for it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RejectCode {
    /// OrdRejReason(103) of an ExecutionReport(8).
    Order(u64),
    /// CxlRejReason(102) of an OrderCancelReject(9).
    Cancel(u64),
    /// BusinessRejectReason(380) of a BusinessMessageReject(j).
    Business(u64),
}

impl RejectCode {
    /// OrdRejReason(103) = 6: an order with this ClOrdID(11) may live at the venue.
    pub const DUPLICATE: Self = Self::Order(6);
}

/// What is done with a new order that a venue has rejected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Remedy {
    /// The client is told.
    Reject,
    /// It is sent again.
    Retry,
    /// It is sent again, on another line than before.
    AnotherLine,
}

impl ErrorRule {
    /// Whether it is about such a reject.
    #[must_use]
    pub fn fits(&self, code: Option<RejectCode>, text: &[u8]) -> bool {
        let mut pattern = self.text.iter();
        (self.code.is_none() || self.code == code) && pattern.all(|it| matches(it, text))
    }
}

/// A pool of order numbers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PoolRule {
    /// Its name.
    pub name: String,
    /// How its numbers are written.
    pub form: NumberForm,
    /// The first one.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// The field that venues get them in.
    pub tag: u32,
    /// It begins anew with each trading day.
    pub each_day: bool,
}

/// Orders that go out on the same line while it is ready.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Affinity {
    /// Those of an account.
    Account,
    /// Those of a symbol.
    Symbol,
}

/// How many messages a venue takes of a line in a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FlowRule {
    /// Messages.
    pub count: usize,
    /// In nanoseconds.
    pub time: i64,
    /// So many of them only for cancels.
    pub kept: usize,
}

/// Where orders go.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Route {
    /// Symbols, with `*` for any end of one.
    pub symbols: Vec<String>,
    /// The place of the group.
    pub group: usize,
}

/// A limit as a file has it: scope, control, value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LimitRule {
    /// For whom or what.
    pub scope: ScopeName,
    /// Its control.
    pub control: crate::limits::Control,
    /// In the control's unit.
    pub value: i128,
}

/// A session that is told of every execution report.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DropCopyRule {
    /// Its name.
    pub session: String,
    /// Of which accounts, with `*` for any end of a name.
    pub accounts: Vec<String>,
}

/// An operator.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OperatorRule {
    /// The name of the user at the control socket.
    pub user: String,
    /// Of limit, kill, arm, market, roll.
    pub may: Vec<String>,
}

/// What may not be traded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RestrictedRule {
    /// Symbol, with `*` for any end of one.
    pub symbol: String,
    /// Account, with `*` for any end of a name.
    pub account: String,
    /// The first day, as 20261122; 0 for all before the last.
    pub from: u32,
    /// The last day.
    pub to: u32,
    /// What of it.
    pub what: Restricted,
}

/// What of an instrument may not be traded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Restricted {
    /// Nothing may.
    All,
    /// It may not be bought.
    Buy,
    /// It may not be sold.
    Sell,
    /// It may not be sold short.
    Short,
    /// It may be sold short only when it was borrowed.
    Locate,
}

impl RestrictedRule {
    /// Whether it holds for an account on a day.
    #[must_use]
    pub fn is_of(&self, account: &[u8], day: u32) -> bool {
        matches(&self.account, account) && (self.from..=self.to).contains(&day)
    }
}

/// A [`Scope`](crate::Scope) by names.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ScopeName {
    /// Everything.
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

/// A position as a file has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PositionRule {
    /// Account(1).
    pub account: String,
    /// Symbol(55).
    pub symbol: String,
    /// Bought and not sold.
    pub long: Quantity,
    /// Sold and not bought.
    pub short: Quantity,
}

/// All of it, as files say.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rules {
    /// Instruments.
    pub instruments: Vec<InstrumentRule>,
    /// Accounts, parents first.
    pub accounts: Vec<AccountRule>,
    /// Clients.
    pub users: Vec<UserRule>,
    /// Groups of lines.
    pub groups: Vec<LineGroup>,
    /// Pools of order numbers.
    pub pools: Vec<PoolRule>,
    /// Routes; the first that has the symbol decides.
    pub routes: Vec<Route>,
    /// Limits.
    pub limits: Vec<LimitRule>,
    /// Where those stand, for the journal.
    pub limits_file: String,
    /// Who is told of every execution report.
    pub drop_copies: Vec<DropCopyRule>,
    /// Who may tell what; whoever may use the socket when it is empty.
    pub operators: Vec<OperatorRule>,
    /// Two people have to arm what was stopped, and not the one who stopped it.
    pub two_arm: bool,
    /// When trading days begin while it runs, in nanoseconds after midnight UTC.
    pub day_begins: Option<i64>,
    /// What may not be traded.
    pub restricted: Vec<RestrictedRule>,
    /// An order that could trade with another one of the same owner is rejected.
    pub rejects_self_trades: bool,
    /// The hash of all files.
    pub hash: u64,
    /// The program that runs by them, in its own words.
    pub build: String,
    /// Positions that hold at the beginning of a journal.
    pub positions: Vec<PositionRule>,
    /// Where those stand.
    pub positions_file: String,
    /// The file beside the settings for the times at which requests pass.
    pub stamps: Option<String>,
    /// Room for orders that is made at start.
    pub orders: usize,
    /// Orders that have ended and are still known for late fills.
    pub remembered: usize,
}

/// Whether a name is one of a pattern: the same, or with what stands before `*` in front.
#[must_use]
pub fn matches(pattern: &str, name: &[u8]) -> bool {
    match pattern.strip_suffix('*') {
        Some(front) => name.starts_with(front.as_bytes()),
        None => name == pattern.as_bytes(),
    }
}

impl UserRule {
    /// The rights of the pattern that fits an account best: its own name, else the longest one before `*`. `None`
    /// when none fits: it may not use the account.
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

    /// Whether it may do something with orders of an account. With one that it may not use, which it may have been
    /// able to use before: when it may with all that it may use.
    pub(crate) fn may(&self, account: &[u8], right: fn(&Rights) -> bool) -> bool {
        let rights = self.rights(account);
        rights.map_or_else(|| self.may_always(right), right)
    }

    /// Whether it may do something with all accounts that it may use.
    pub(crate) fn may_always(&self, right: fn(&Rights) -> bool) -> bool {
        self.rights.iter().all(right)
    }
}

impl Rules {
    /// The group that orders of a symbol go to.
    #[must_use]
    pub fn group_of(&self, symbol: &[u8]) -> Option<usize> {
        let found = self.routes.iter().find(|route| {
            let mut symbols = route.symbols.iter();
            symbols.any(|pattern| matches(pattern, symbol))
        });
        found.map(|route| route.group)
    }
}
