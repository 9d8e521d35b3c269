//! The whole state as sorted `name=value` lines. These lines prove that a change of the code leaves the state as it
//! was.
//!
//! ```text
//!   order 17 side=1                     values of FIX where FIX has one
//!   order 17 price=100.05               prices in decimals, times in nanoseconds since 1970
//!   order 17 line=L1                    sessions, accounts, instruments by name; orders by number
//!   tally account A1 buying=100         what is 0, empty or missing has no line
//!   line group 1 queue 1=order 17       where the order matters, the place counts
//! ```
//!
//! The lines use the words of a trader or operator, so that they stay the same when types and modules change. Each
//! struct is destructured without `..`. A new field therefore compiles only if a line shows it, or if it is listed
//! among the fields that are derived or that the settings set.
//!
//! Compiled for tests and with the feature `state-lines`; never in a release.

use alloc::string::String;

use self::line::{Hash, Name, Scaled, StateLines};
use crate::state::OmsState;
use crate::state::tally::LoadedTotal;
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::scope::Scope;
use crate::values::value::Number;

mod core_parts;
pub(crate) mod line;
mod orders;
mod records;
mod scopes;

impl OmsState {
    pub(crate) fn session_name(&self, session: impl Into<Option<SessionNo>>) -> Name<'_> {
        let Some(session) = session.into() else {
            return Name::None;
        };
        match self.session_names.name(session) {
            b"" => Name::Unknown(session.place()),
            name => Name::Known(name),
        }
    }

    pub(crate) fn account_name(&self, account: AccountNo) -> Name<'_> {
        match self.account_names.name(account) {
            b"" => Name::Unknown(account.place()),
            name => Name::Known(name),
        }
    }

    pub(crate) fn symbol(&self, instrument: InstrumentNo) -> Name<'_> {
        match self.instrument_names.name(instrument) {
            b"" => Name::Unknown(instrument.place()),
            name => Name::Known(name),
        }
    }

    /// A price of an instrument as text; as a whole number if the OMS does not have the instrument.
    pub(crate) fn price_in(
        &self,
        instrument: impl Into<Option<InstrumentNo>>,
        price: impl Into<i128>,
    ) -> Scaled {
        let scale = instrument.into().map_or(0, |it| self.scale(it));
        Scaled(price.into(), scale)
    }

    /// The instrument of an order in memory.
    pub(crate) fn instrument_of(&self, order: Number) -> Option<InstrumentNo> {
        self.orders.get(order).map(|order| order.instrument)
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

    /// The whole state, as sorted lines.
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
            used_day,
            last,
            yesterday,
            ids,
            used_execs,
            session_names,
            account_names,
            instrument_names,
            firm,
            sessions,
            accounts,
            instruments,
            holdings,
            holding_places: _, // Derived from holdings.
            last_holding: _,   // Derived from holdings.
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
            carried,
            routed,
            exec_ids,
            venue_names,
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
            positions_set,
            position_files,
            totals,
        } = self;
        to.of(format_args!("oms"));
        to.say("time", time);
        to.say("events", events);
        to.some("day", *day);
        to.some("last used day", *used_day);
        to.some("requested day", *next_day);
        to.count("last order", *last);
        to.count("last order of yesterday", *yesterday);
        to.text("build", build);
        to.say("settings", Hash(*settings));
        to.count("violations", *violations);
        to.count("late fills", *late_fills);
        to.count("positions set by event", *positions_set);
        to.each(
            "loaded file of positions",
            position_files.iter().map(|it| Hash(*it)),
        );
        to.each(
            "loaded total",
            totals.values().map(|it| {
                let LoadedTotal {
                    account,
                    instrument,
                    moment,
                    file,
                } = it;
                let account = account_names.name(*account).escape_ascii();
                let instrument = instrument_names.name(*instrument).escape_ascii();
                alloc::format!(
                    "{account} {instrument} at {moment} of {}",
                    file.escape_ascii()
                )
            }),
        );
        if let Some(pending) = pending_reload {
            let crate::state::reload::PendingReload { by, settings } = pending;
            to.say("reload asked by", by.bytes().escape_ascii());
            to.say("reload to settings", Hash(*settings));
        }
        // The names are in the order in which they were added, because pages and answers list them in this order.
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
        orders::used_execs(used_execs, to);
        orders::orders(self, orders, to);
        orders::pools(pool_names, pools, to);
        orders::conditions(self, conditions, to);
        orders::families(self, families, to);
        orders::quotes(self, quotes, to);
        orders::spreads(self, spreads, to);
        records::late(self, late, to);
        records::remade(remade, to);
        records::locates(locates, to);
        records::carried(carried, to);
        records::routed(self, routed, to);
        records::exec_ids(exec_ids, to);
        records::venue_names(self, venue_names, to);
        records::rejected(self, rejected, to);
        records::copies(self, copies, to);
        records::breaks(self, breaks, to);
        records::strays(self, strays, to);
    }
}
