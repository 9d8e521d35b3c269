//! A slow OMS: what docs/reference/oms.md and FIX 4.4 say, with maps, vectors and sums over all orders. It shares no code with
//! the OMS, and says which messages the OMS has to write.

pub mod again;
mod breaks;
pub mod busts;
mod by_hand;
mod checks;
mod clients;
mod ends;
mod family;
mod fields;
pub mod held;
mod holding;
mod lapsed;
pub mod late;
mod mass;
mod number;
pub mod pools;
mod positions;
mod quotes;
mod refused;
pub mod remade;
mod requests;
mod rerun;
mod restated;
pub mod settled;
pub mod spreads;
mod tasks;
mod venue;
mod writes;
mod writes_fills;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::desk::Input;
pub use holding::Holding;
pub use number::Number;
pub use writes::line;

pub const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;
/// Prices and quantities up to here are in range.
const MOST: i128 = 1 << 53;

/// Why something is refused: the control of Text(58) with OrdRejReason(103), or both reasons without a control.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// A control; CxlRejReason(102) is 2, or 6 for an id used twice.
    Rc(&'static str, u32),
    /// OrdRejReason(103) and CxlRejReason(102).
    Other(u32, u32),
    /// The venue, with its Text(58) and the tag and value of its code.
    Venue(String, Option<(u32, u32)>),
}

impl Why {
    fn ord_rej_reason(&self) -> u32 {
        match self {
            Self::Rc(_, reason) | Self::Other(reason, _) => *reason,
            // Unknown security.
            Self::Venue(_, Some((380, 2))) => 1,
            Self::Venue(_, Some((103, code))) => *code,
            Self::Venue(_, Some(_)) => 99,
            Self::Venue(_, None) => 0,
        }
    }

    fn cxl_rej_reason(&self) -> u32 {
        match self {
            Self::Rc("RC4", _) => 6,
            Self::Rc(..) => 2,
            Self::Other(_, reason) => *reason,
            Self::Venue(_, Some((102, code))) => *code,
            Self::Venue(_, Some((103, 4))) => 0,
            Self::Venue(_, Some((103, 5) | (380, 1))) => 1,
            Self::Venue(_, Some((103, 6))) => 6,
            Self::Venue(_, Some(_)) => 99,
            Self::Venue(_, None) => 0,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            Self::Rc(code, _) => Some(code),
            Self::Venue(text, _) if !text.is_empty() => Some(text),
            _ => None,
        }
    }
}

pub const NOT_ALLOWED: Why = Why::Rc("RC2", 0);
pub const UNSUPPORTED: Why = Why::Other(11, 2);
pub const TOO_LATE: Why = Why::Other(4, 0);
pub const UNKNOWN_ORDER: Why = Why::Other(5, 1);
pub const PENDING: Why = Why::Other(99, 3);
pub const NO_LINE: Why = Why::Other(0, 2);

#[derive(Clone, Debug)]
pub struct Symbol {
    pub name: &'static str,
    pub scale: u32,
    pub tick: i128,
    pub lot: i128,
    /// Multiplier times rate, in 10^-9.
    pub worth: i128,
    pub reference: Option<i128>,
    /// Long and short are held beside each other.
    pub has_effect: bool,
    /// The lines that take its orders.
    pub lines: &'static [usize],
    /// Of a spread.
    pub legs: Option<[spreads::Leg; 2]>,
}

#[derive(Clone, Debug)]
pub struct Account {
    pub name: &'static str,
    pub parent: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Client {
    pub session: usize,
    pub is_old: bool,
    /// Its accounts, the first for orders that name none when there is a default.
    pub accounts: &'static [usize],
    pub default: Option<usize>,
    pub may: &'static [&'static str],
    /// Nanoseconds after a Logout, and after a lost connection, when its orders are cancelled.
    pub cancels: Option<(i64, i64)>,
    /// The pool of its orders, and whether it may name their numbers.
    pub pool: Option<usize>,
    pub names_numbers: bool,
    /// So many of its orders may be held at a time; none without it.
    pub conditional: Option<usize>,
    /// So many of its parent orders may be open at a time; none without it.
    pub parents: Option<usize>,
}

/// The set-up of the model.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub names: Vec<&'static str>,
    pub symbols: Vec<Symbol>,
    pub accounts: Vec<Account>,
    pub clients: Vec<Client>,
    pub old_lines: Vec<usize>,
    pub groups: Vec<&'static [usize]>,
    /// Groups that send the new orders of others while these have no line.
    pub helpers: Vec<(&'static [usize], &'static [usize])>,
    /// For each group what is done when its venue rejects something.
    pub errors: Vec<Vec<again::Entry>>,
    pub pools: Vec<pools::Pool>,
    pub pool_of_group: Vec<Option<usize>>,
    /// Groups whose venues have no stop orders.
    pub no_stops: Vec<&'static [usize]>,
    /// The session that gives prices.
    pub feed: Option<usize>,
    pub remembered: usize,
    pub rejects_self_trades: bool,
    /// Symbol, account, what.
    pub restricted: Vec<(usize, Option<usize>, &'static str)>,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum At {
    Firm,
    Session(usize),
    Account(usize),
    Symbol(usize),
    Holding(usize, usize),
}

/// Where an order stands: at its OrdStatus(39) once it is over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// Its children are sent.
    Parent,
    /// Until its condition is met.
    Held,
    /// It was rejected, and waits to be sent again.
    Waits,
    Sent,
    Unknown,
    Working,
    /// Until the next day.
    Done,
    /// Its day is over, and the venue has not said that it has ended.
    Lapsed,
    Over(char),
}

#[derive(Clone, Debug)]
pub struct Asked {
    pub number: u64,
    /// F or G.
    pub what: char,
    pub quantity: i128,
    pub price: i128,
    pub hold: i128,
    pub unknown: bool,
    pub id: String,
}

/// An end that waits for fills: how, by which request, at which CumQty(14).
#[derive(Clone, Debug)]
pub struct Waiting {
    pub how: char,
    pub request: Option<u64>,
    pub filled: i128,
    /// When the venue is asked.
    pub due: i64,
}

#[derive(Clone, Debug)]
pub struct Order {
    pub number: u64,
    /// The number that the venue knows it by.
    pub current: u64,
    pub client: usize,
    pub account: usize,
    pub symbol: usize,
    pub side: char,
    pub kind: char,
    pub tif: char,
    /// ExpireDate(432), of an order until a date.
    pub until: Option<String>,
    /// LocateReqd(114) and LocateBroker(5700), as far as the order has them.
    pub locate: Vec<(u32, String)>,
    /// PositionEffect(77); `-` for none.
    pub effect: char,
    pub price: i128,
    pub stop: i128,
    pub hold: i128,
    pub quantity: i128,
    pub filled: i128,
    pub paid: i128,
    pub fate: Fate,
    pub id: String,
    pub line: usize,
    pub asked: Option<Asked>,
    pub waiting: Option<Waiting>,
    pub fills: Vec<busts::Fill>,
    pub withdrawn: bool,
    pub replaces: i128,
    pub again: Option<again::Again>,
    /// Its number of a pool, and whether the client named it.
    pub pool_number: Option<(usize, String)>,
    pub named_number: bool,
    pub condition: Option<held::Condition>,
    pub is_parent: bool,
    pub parent: Option<u64>,
    pub triggered: bool,
    /// When it must have been sent.
    pub valid_until: Option<i64>,
    /// The bid of its quote.
    pub quote: Option<u64>,
    pub legs: spreads::Legs,
    pub late: Option<late::Late>,
    pub remade: Option<remade::Remade>,
}

impl Order {
    pub fn is_open(&self) -> bool {
        !matches!(self.fate, Fate::Over(_))
    }

    pub fn buys(&self) -> bool {
        self.side == '1'
    }

    pub fn leaves(&self) -> i128 {
        if self.is_open() {
            (self.quantity - self.filled).max(0)
        } else {
            0
        }
    }

    /// As its client knows it.
    pub fn told_leaves(&self) -> i128 {
        match self.fate {
            Fate::Lapsed => 0,
            _ => self.leaves(),
        }
    }

    /// OrdStatus(39) by precedence.
    pub fn status(&self) -> char {
        let asked = self.asked.as_ref().filter(|asked| !asked.id.is_empty());
        match (asked, self.fate) {
            (Some(asked), _) if asked.what == 'F' => '6',
            (Some(_), _) => 'E',
            (None, Fate::Over(how)) => how,
            (None, Fate::Done) => '3',
            (None, Fate::Lapsed) => 'C',
            (None, _) if self.filled > 0 => '1',
            (None, Fate::Working | Fate::Parent) => '0',
            (None, _) => 'A',
        }
    }

    pub fn is_answered(&self) -> bool {
        !matches!(self.fate, Fate::Waits | Fate::Sent | Fate::Unknown)
    }

    /// The venue does not have it.
    pub fn is_unsent(&self) -> bool {
        matches!(self.fate, Fate::Parent | Fate::Held | Fate::Waits)
    }

    /// OrdType(40) at the venue.
    pub fn sent_kind(&self) -> char {
        if self.triggered {
            held::triggered(self.kind)
        } else {
            self.kind
        }
    }

    /// It stays when this day begins.
    pub fn outlives(&self, day: i64) -> bool {
        match self.tif {
            '6' => self.until.as_ref() >= Some(&date(day)),
            tif => tif == '1',
        }
    }

    /// It is done for the day before this one, or will be when its fills are there.
    pub fn rests_until(&self, day: i64) -> bool {
        let waits = self.waiting.as_ref().is_some_and(|it| it.how == '3');
        self.outlives(day) && (self.fate == Fate::Done || (self.fate == Fate::Working && waits))
    }

    fn is_unknown(&self) -> bool {
        self.fate == Fate::Unknown || self.asked.as_ref().is_some_and(|it| it.unknown)
    }
}

/// Flow of a scope at a time.
#[derive(Clone, Copy, Debug, Default)]
struct Passed {
    at: i64,
    messages: i128,
    refused: i128,
    cancels: i128,
    executions: i128,
    quantity: i128,
    value: i128,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub world: World,
    pub now: i64,
    pub day: i64,
    pub last: u64,
    /// The last number when the day began.
    yesterday: u64,
    pub orders: BTreeMap<u64, Order>,
    /// Orders that have ended and are remembered, the first that ended first.
    pub ended: Vec<u64>,
    /// ClOrdIDs of the day by client, and their orders; 0 for one that was refused.
    used: BTreeMap<(usize, String), u64>,
    /// Why new orders were refused today, by their ids.
    why_refused: BTreeMap<(usize, String), Why>,
    /// Executions of the day whose orders are not remembered.
    strays: BTreeSet<String>,
    /// Fills of orders that are not known here, until somebody decides.
    pub stray_fills: Vec<settled::StrayFill>,
    pub stray_undos: settled::StrayUndos,
    pub holdings: BTreeMap<(usize, usize), Holding>,
    pub traded: BTreeMap<At, i128>,
    pub gained: BTreeMap<At, i128>,
    pub limits: BTreeMap<(At, &'static str), i128>,
    /// Scopes that count what passes, since one of their limits is of a time.
    counts: BTreeMap<At, (Passed, VecDeque<Passed>)>,
    /// New orders, while same ones are limited: when, and what they say.
    recent: Option<Vec<(i64, String)>>,
    /// Killed, or only reducing.
    pub trading: BTreeMap<At, &'static str>,
    pub markets: BTreeMap<usize, &'static str>,
    /// Known prices by symbol and MDEntryType(269).
    pub prices: BTreeMap<(usize, char), i128>,
    /// Held orders whose condition is met.
    touched: BTreeSet<u64>,
    pub ready: BTreeSet<usize>,
    leaving: BTreeSet<usize>,
    reset: BTreeSet<usize>,
    next_line: BTreeMap<usize, usize>,
    /// Numbers of each pool that were given out, and all of today as they are written.
    given: BTreeMap<usize, pools::Given>,
    texts: BTreeSet<String>,
    /// Disconnected clients: whether they have logged out.
    gone: BTreeMap<usize, bool>,
    /// When orders of disconnected clients are cancelled.
    withdrawals: BTreeMap<usize, i64>,
    cancelling: VecDeque<u64>,
    /// Parents of which a child has ended.
    settling: VecDeque<u64>,
    /// The day that is about to begin.
    rolls_to: Option<i64>,
    /// What has become of parents.
    pub steps: Vec<&'static str>,
    asking: VecDeque<u64>,
    /// Requests on lines that are up: when the venue is asked, or was asked before.
    unanswered: VecDeque<(i64, u64, bool)>,
    /// Lapsed orders that a venue is asked about, and until when it may answer once it was.
    lapsed: BTreeMap<u64, Option<i64>>,
    /// Orders with a cancel that was on its way when the line went down, and that is not sent again yet.
    lost: BTreeSet<u64>,
    /// Orders that a venue has acknowledged.
    acknowledged: BTreeSet<u64>,
    /// What venues say that does not agree.
    pub breaks: Vec<breaks::Broken>,
    /// The report that is heard was not believed.
    is_doubted: bool,
    /// What the report that is heard says beside its values.
    words: Option<writes_fills::Words>,
    /// The report that is heard was entered by an operator.
    is_by_hand: bool,
    /// Orders that the venue would not cancel: when it is tried again.
    later: VecDeque<(i64, u64)>,
    /// Mass status requests that are not answered yet.
    listings: Vec<clients::Listing>,
    pub late_fills: u64,
    /// Quotes by their bids.
    quotes: BTreeMap<u64, quotes::Quote>,
    /// Orders that a control rejected today.
    pub rejected: Vec<rerun::Rejected>,
    /// Files of position changes that were loaded.
    loaded: BTreeSet<String>,
    /// Messages written for the last input.
    said: Vec<String>,
}

/// Fields of a message by tag.
pub type Fields<'a> = BTreeMap<u32, &'a str>;

/// 555 has all that follows it: the legs.
pub fn fields(body: &str) -> Fields<'_> {
    let fields = body.split('|').filter_map(|field| field.split_once('='));
    let mut fields: Fields<'_> = fields
        .map(|(tag, value)| (tag.parse().unwrap(), value))
        .collect();
    if let Some((_, legs)) = body.split_once("|555=2|") {
        fields.insert(555, legs);
    }
    fields
}

/// A day since 1970 as 20261122.
pub fn date(day: i64) -> String {
    let (mut left, mut year, mut month) = (day, 1970, 1);
    let leap = |year: i64| i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    while left >= 365 + leap(year) {
        left -= 365 + leap(year);
        year += 1;
    }
    let length = |month: i64| match month {
        2 => 28 + leap(year),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    while left >= length(month) {
        left -= length(month);
        month += 1;
    }
    format!("{year:04}{month:02}{:02}", left + 1)
}

impl Model {
    pub fn new(world: World, now: i64) -> Self {
        let mut model = Self {
            world,
            now,
            day: now / DAY,
            ..Self::default()
        };
        model.start();
        model.drain();
        model.said.clear();
        model
    }

    /// The messages that the OMS writes because of an input.
    pub fn hear(&mut self, input: &Input) -> Vec<String> {
        self.now += 1_000_000;
        match input {
            Input::Says(from, msg_type @ ("W" | "X"), body) => {
                if self.world.feed == Some(*from) {
                    self.market_data(msg_type, body);
                }
            }
            Input::Says(from, msg_type, body) => {
                let client = self.client_of(*from);
                let fields = fields(body);
                match client {
                    Some(client) => self.client_says(client, msg_type, &fields),
                    None => self.venue_says(*from, msg_type, &fields),
                }
            }
            Input::Up(session, reset) => self.up(*session, *reset),
            Input::Down(session, logged_out) => self.down(*session, *logged_out),
            Input::Leaves(session) => {
                self.leaving.insert(*session);
            }
            Input::Pass(time) => self.now += time,
            Input::Command(text) => self.command(text),
            Input::Restart(days, _) => {
                self.now += days * DAY;
                self.restart();
            }
        }
        self.drain();
        std::mem::take(&mut self.said)
    }

    pub fn client_of(&self, session: usize) -> Option<usize> {
        let mut clients = self.world.clients.iter();
        clients.position(|client| client.session == session)
    }

    /// The scopes of an order, the widest first.
    pub fn scopes(&self, session: usize, account: usize, symbol: usize) -> Vec<At> {
        let mut scopes = vec![At::Firm, At::Session(session)];
        let mut above = self.world.accounts[account].parent;
        while let Some(of) = above {
            scopes.push(At::Account(of));
            above = self.world.accounts[of].parent;
        }
        scopes.extend([
            At::Account(account),
            At::Symbol(symbol),
            At::Holding(account, symbol),
        ]);
        scopes
    }

    pub fn scopes_of(&self, order: &Order) -> Vec<At> {
        let session = self.world.clients[order.client].session;
        self.scopes(session, order.account, order.symbol)
    }

    /// The worth of price times quantity, in 10^-9 and away from zero; nothing beyond 10^30.
    pub fn money(&self, symbol: usize, amount: i128) -> Option<i128> {
        let symbol = &self.world.symbols[symbol];
        let one = 10_i128.pow(symbol.scale);
        let rest = amount % one * symbol.worth;
        let whole = (amount / one).checked_mul(symbol.worth)?;
        let amount = whole.checked_add(rest / one + (rest % one).signum())?;
        (amount.abs() <= 10_i128.pow(30)).then_some(amount)
    }

    /// The same; what is beyond counts for 10^30.
    pub fn worth(&self, symbol: usize, amount: i128) -> i128 {
        let worth = self.money(symbol, amount);
        worth.unwrap_or(10_i128.pow(30))
    }

    /// Profit; a loss beyond 10^30 counts as 10^33.
    pub fn gain(&self, symbol: usize, amount: i128) -> i128 {
        match self.money(symbol, amount) {
            Some(gain) => gain,
            None if amount < 0 => -(10_i128.pow(33)),
            None => 10_i128.pow(30),
        }
    }

    /// Reservation of an open order: quantity and value, the larger of before and after its pending request.
    pub fn reserved(&self, order: &Order) -> (i128, i128) {
        let (held, opposite, hold) = self.held_at(order);
        (held, self.worth(order.symbol, hold * (held + opposite)))
    }

    /// What an order may still trade on its side and, as its venue says, on the other, and the price to reserve for.
    pub fn held_at(&self, order: &Order) -> (i128, i128, i128) {
        let (total, opposite, price) = self.exposure(order.number).unwrap_or((0, 0, 0));
        let (mut quantity, mut hold) = (total, order.hold.max(price));
        if order.is_open() {
            quantity = quantity.max(order.quantity);
        }
        if let Some(asked) = order
            .asked
            .as_ref()
            .filter(|it| it.what == 'G' && order.is_open())
        {
            quantity = quantity.max(asked.quantity);
            hold = hold.max(asked.hold);
        }
        let mut held = quantity - order.filled;
        if order.fate == Fate::Parent {
            held -= self.held_by_children(order.number);
        }
        (held.max(0), opposite, hold)
    }

    /// Something passes scopes.
    fn pass(&mut self, scopes: &[At], passed: Passed) {
        let now = self.now;
        for scope in scopes {
            if let Some((day, times)) = self.counts.get_mut(scope) {
                times.push_back(Passed { at: now, ..passed });
                day.add(&passed);
            }
        }
    }

    /// Flow of a scope within a window, counted in slots, including the current one.
    fn within(&self, scope: At, parts: i64, part: i64) -> Passed {
        let mut sum = Passed::default();
        if let Some((_, times)) = self.counts.get(&scope) {
            let oldest = self.now / part - parts;
            let recent = times.iter().rev();
            let recent = recent.take_while(|passed| passed.at / part >= oldest);
            recent.for_each(|passed| sum.add(passed));
        }
        sum
    }

    fn today(&self, scope: At) -> Passed {
        self.counts
            .get(&scope)
            .map_or_else(Passed::default, |it| it.0)
    }
}
