//! All state as sorted `name=value` lines, for the proof that a change of the code changes nothing else.
//!
//! ```text
//!   order 17 side=1                     values of FIX where FIX has one
//!   order 17 price=100.05               prices in decimals, times in nanoseconds since 1970
//!   order 17 line=L1                    sessions, accounts, instruments by name; orders by number
//!   tally account A1 buying=100         what is 0, empty or missing has no line
//!   line group 1 queue 1=order 17       what has an order of its own is counted
//! ```
//!
//! The lines say what a trader or an operator would say, so that they stay the same when types and modules change. Each
//! struct is taken apart without `..`: a new field compiles when it is said here, or when it is named among those that
//! are derived or set by the settings.
//!
//! Compiled for tests and with the feature `state-lines`; never in a release.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Write as _};

use crate::state::OmsState;
use crate::state::tally::Position;
use crate::values::scope::Scope;
use crate::values::value::{Number, Text};

mod core_parts;
mod orders;
mod records;
mod scopes;

/// Lines that are being written.
#[derive(Debug, Default)]
pub(crate) struct StateLines {
    text: String,
    ends: Vec<usize>,
    /// What the next lines are about.
    subject: String,
}

impl StateLines {
    /// What the next lines are about.
    pub(crate) fn of(&mut self, subject: fmt::Arguments<'_>) {
        self.subject.clear();
        // A String takes everything.
        let _ = self.subject.write_fmt(subject);
    }

    /// A line.
    pub(crate) fn say(&mut self, name: &str, value: impl Display) {
        let _ = write!(self.text, "{} {name}={value}", self.subject);
        self.ends.push(self.text.len());
    }

    /// A line of a value that is not 0.
    pub(crate) fn count<T: Display + Default + PartialEq>(&mut self, name: &str, value: T) {
        if value != T::default() {
            self.say(name, value);
        }
    }

    /// A line of what is there.
    pub(crate) fn some(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.say(name, value);
        }
    }

    /// A line of what is true.
    pub(crate) fn flag(&mut self, name: &str, is: bool) {
        if is {
            self.say(name, "yes");
        }
    }

    /// A line of a text that is not empty.
    pub(crate) fn text(&mut self, name: &str, text: &Text) {
        if !text.bytes().is_empty() {
            self.say(name, text.bytes().escape_ascii());
        }
    }

    /// Lines of values whose order counts, from 1.
    pub(crate) fn each<T: Display>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        for (place, value) in (1_u64..).zip(values) {
            let _ = write!(self.text, "{} {name} {place}={value}", self.subject);
            self.ends.push(self.text.len());
        }
    }

    /// All of them, sorted, each with a newline.
    pub(crate) fn sorted(&self) -> String {
        let starts = core::iter::once(0).chain(self.ends.iter().copied());
        let lines = starts.zip(&self.ends);
        let mut lines: Vec<&str> = lines.map(|(start, end)| &self.text[start..*end]).collect();
        lines.sort_unstable();
        let mut all = String::with_capacity(self.text.len() + lines.len());
        for line in lines {
            all.push_str(line);
            all.push('\n');
        }
        all
    }
}

/// A price, or a sum of prices, with so many decimals.
pub(crate) struct Scaled(pub i128, pub u8);

impl Display for Scaled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(value, scale) = *self;
        // Of a damaged checkpoint.
        let Some(one) = 10_u128.checked_pow(scale.into()) else {
            return write!(f, "{value}e-{scale}");
        };
        let sign = if value < 0 { "-" } else { "" };
        let (whole, part) = (value.unsigned_abs() / one, value.unsigned_abs() % one);
        match scale {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{part:0width$}", width = scale.into()),
        }
    }
}

/// Money, in 10^-9.
pub(crate) fn money(value: i128) -> Scaled {
    Scaled(value, 9)
}

/// A hash, of an ExecID(17) or a ClOrdID(11).
pub(crate) struct Hash(pub u64);

impl Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A hash that is there.
pub(crate) fn hash(value: u64) -> Option<Hash> {
    (value != 0).then_some(Hash(value))
}

/// An order, by its number.
pub(crate) struct OrderNo(pub Number);

impl Display for OrderNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "order {}", self.0)
    }
}

/// A time and what it is of.
pub(crate) struct At<T>(pub i64, pub T);

impl<T: Display> Display for At<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.1, self.0)
    }
}

/// A name, or the number that has none.
pub(crate) enum Name<'a> {
    Known(&'a [u8]),
    Unknown(u32),
}

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(name) => write!(f, "{}", name.escape_ascii()),
            Self::Unknown(number) => write!(f, "without name {number}"),
        }
    }
}

/// FIX has a byte for it.
pub(crate) fn byte(value: u8) -> core::ascii::EscapeDefault {
    core::ascii::escape_default(value)
}

impl OmsState {
    pub(crate) fn session_name(&self, session: u32) -> Name<'_> {
        match self.session_names.name(session) {
            b"" => Name::Unknown(session),
            name => Name::Known(name),
        }
    }

    pub(crate) fn account_name(&self, account: u32) -> Name<'_> {
        match self.account_names.name(account) {
            b"" => Name::Unknown(account),
            name => Name::Known(name),
        }
    }

    pub(crate) fn symbol(&self, instrument: u32) -> Name<'_> {
        match self.instrument_names.name(instrument) {
            b"" => Name::Unknown(instrument),
            name => Name::Known(name),
        }
    }

    /// A price of an instrument.
    pub(crate) fn price_in(&self, instrument: u32, price: impl Into<i128>) -> Scaled {
        Scaled(price.into(), self.scale(instrument))
    }

    /// The instrument of an order in memory.
    pub(crate) fn instrument_of(&self, order: Number) -> u32 {
        let order = self.orders.get(order);
        order.map_or(u32::MAX, |order| order.instrument)
    }

    fn scope_name(&self, scope: Scope) -> String {
        match scope {
            Scope::Firm => "firm".into(),
            Scope::Session(session) => alloc::format!("session {}", self.session_name(session)),
            Scope::Account(account) => alloc::format!("account {}", self.account_name(account)),
            Scope::Instrument(instrument) => {
                alloc::format!("symbol {}", self.symbol(instrument))
            }
            Scope::Holding(account, instrument) => alloc::format!(
                "account {} symbol {}",
                self.account_name(account),
                self.symbol(instrument)
            ),
        }
    }

    /// All of the state, as sorted lines.
    #[must_use]
    pub fn state_lines(&self) -> String {
        let mut lines = StateLines::default();
        self.put_lines(&mut lines);
        lines.sorted()
    }

    pub(crate) fn put_lines(&self, to: &mut StateLines) {
        let Self {
            time,
            events,
            day,
            last,
            yesterday,
            ids,
            spent,
            session_names,
            account_names,
            instrument_names,
            firm,
            sessions,
            accounts,
            instruments,
            holdings,
            holding_places: _, // Derived from holdings.
            orders,
            pool_names,
            pools,
            conditions,
            families,
            quotes,
            spreads,
            late,
            remade,
            locates,
            rejected,
            copies,
            breaks,
            strays,
            recent,
            has_flow: _, // Derived from the standings.
            next_day,
            expiries,
            stops,
            build,
            settings,
            pending_reload,
            violations,
            late_fills,
        } = self;
        to.of(format_args!("oms"));
        to.say("time", time);
        to.say("events", events);
        to.count("day", *day);
        to.count("requested day", *next_day);
        to.count("last order", *last);
        to.count("last order of yesterday", *yesterday);
        to.text("build", build);
        to.say("settings", Hash(*settings));
        to.count("violations", *violations);
        to.count("late fills", *late_fills);
        if let Some(pending) = pending_reload {
            let crate::state::reload::PendingReload { by, settings } = pending;
            to.say("reload asked by", by.bytes().escape_ascii());
            to.say("reload to settings", Hash(*settings));
        }
        // In the order in which they were made known: pages and answers list them so.
        to.each("session", session_names.iter().map(|it| it.escape_ascii()));
        to.each("account", account_names.iter().map(|it| it.escape_ascii()));
        to.each(
            "symbol",
            instrument_names.iter().map(|it| it.escape_ascii()),
        );
        scopes::standing(self, Scope::Firm, firm, to);
        scopes::sessions(self, sessions, to);
        scopes::accounts(self, accounts, to);
        scopes::instruments(self, instruments, to);
        scopes::holdings(self, holdings, to);
        scopes::expiries(self, expiries, to);
        scopes::stops(self, stops, to);
        scopes::recent(recent, to);
        orders::ids(ids, to);
        orders::spent(spent, to);
        orders::orders(self, orders, to);
        orders::pools(pool_names, pools, to);
        orders::conditions(self, conditions, to);
        orders::families(self, families, to);
        orders::quotes(self, quotes, to);
        orders::spreads(self, spreads, to);
        records::late(self, late, to);
        records::remade(remade, to);
        records::locates(locates, to);
        records::rejected(self, rejected, to);
        records::copies(self, copies, to);
        records::breaks(self, breaks, to);
        records::strays(self, strays, to);
    }
}

/// A position of an account in an instrument, in lines of their own.
fn position(state: &OmsState, instrument: u32, position: &Position, to: &mut StateLines) {
    let Position {
        long,
        short,
        bought,
        sold,
        paid,
        received,
    } = position;
    to.count("long", *long);
    to.count("short", *short);
    to.count("bought today", *bought);
    to.count("sold today", *sold);
    if *paid != 0 {
        to.say("paid today", state.price_in(instrument, *paid));
    }
    if *received != 0 {
        to.say("received today", state.price_in(instrument, *received));
    }
}
