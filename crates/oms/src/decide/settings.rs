//! Finds settings by the numbers of the state: of a session, an instrument, a line.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::tag;

use crate::decide::core::Core;
use crate::decide::queue::{Lines, SymbolRoute};
use crate::decide::spreads;
use crate::decide::work::is_unknown;
use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::orders::own::OwnOrders;
use crate::state::orders::venue_names::{NameOf, is_same_instrument, value_of};
use crate::state::pools::Pools;
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo, Table};
use crate::values::reason::{Reason, Why};
use crate::values::rules::{
    InstrumentRule, LineGroup, Rights, RiskRules, StatusRule, TickBand, UserRule, matches,
};
use crate::values::scope::Scope;
use crate::values::units::tick_scale;
use crate::values::value::Number;

impl Core {
    pub(crate) fn rule(&self, instrument: InstrumentNo) -> Result<&InstrumentRule, Reason> {
        let rule = self.instruments.get(instrument);
        let rule = rule.and_then(Option::as_ref);
        rule.ok_or(Reason::of(Why::Symbol))
    }

    /// Checks that an instrument and the legs of a spread take new orders on this trading day.
    ///
    /// # Errors
    ///
    /// The first expired instrument, with the trading day from which it takes no new orders.
    #[inline]
    pub(crate) fn check_not_expired(
        &self,
        instrument: InstrumentNo,
        rule: &InstrumentRule,
    ) -> Result<(), Reason> {
        let day = self.state.day();
        let check = |of: InstrumentNo, rule: &InstrumentRule| match rule.security.expires {
            Some(expires) if expires <= day => Err(Reason {
                scope: Scope::Instrument(of),
                value: expires.into(),
                ..Reason::of(Why::SecurityExpired)
            }),
            _ => Ok(()),
        };
        check(instrument, rule)?;
        if rule.legs.is_some() {
            let legs = self.state.spreads.legs(instrument);
            for leg in legs.into_iter().flatten() {
                check(leg.instrument, self.rule(leg.instrument)?)?;
            }
        }
        Ok(())
    }

    pub(crate) fn user(&self, session: SessionNo) -> Result<&UserRule, Reason> {
        let user = self.users.get(session).and_then(Option::as_ref);
        user.ok_or(Reason::of(Why::NotAllowed))
    }

    /// Whether a session has a right for all orders of an account and its sub-accounts; `account` is `None` for all
    /// orders of the session.
    pub(crate) fn may_with_all(
        &self,
        session: SessionNo,
        account: Option<AccountNo>,
        right: fn(&Rights) -> bool,
    ) -> bool {
        let Ok(user) = self.user(session) else {
            return false;
        };
        let Some(account) = account.filter(|_| user.rights.len() > 1) else {
            return user.may_always(right);
        };
        // Sub-accounts are included.
        let accounts = self.state.accounts();
        let is_its = |of: &AccountNo| {
            let mut owners = core::iter::successors(Some(*of), |&of| self.state.parent(of));
            owners.any(|owner| owner == account)
        };
        let mut meant = accounts.numbers().filter(is_its);
        meant.all(|of| user.may(accounts.name(of), right))
    }

    /// Whether a session may request the status of the order with this ClOrdID(11).
    pub(crate) fn may_ask(&self, session: SessionNo, id: &[u8]) -> bool {
        let Ok(user) = self.user(session) else {
            return false;
        };
        let state = &self.state;
        let order = state.used(session, id);
        match order.and_then(|order| state.orders().get(order)) {
            Some(order) => user.may(state.accounts().name(order.account), |it| it.status),
            // A session with any right to status requests gets an answer for an unknown order, which reveals nothing
            // about an account.
            None => user.rights.iter().any(|it| it.status),
        }
    }

    /// Whether a session is a session to a venue.
    #[must_use]
    pub fn is_line(&self, session: SessionNo) -> bool {
        self.lines.has(session)
    }

    /// Whether the venue of an order does not support replace.
    pub(crate) fn cannot_replace(&self, order: &Order) -> bool {
        let group = self.lines.group_of(&self.state, order);
        group.is_some_and(|group| self.lines.groups[group].cannot_replace)
    }

    /// Whether the venue of a line group does not support stop orders, so that the OMS holds them.
    pub(crate) fn cannot_stop(&self, group: Option<usize>) -> bool {
        group.is_some_and(|group| self.lines.groups[group].cannot_stop)
    }

    /// Whether a line speaks TMP.
    pub(crate) fn speaks_tmp(&self, line: SessionNo) -> bool {
        let line = self.lines.line(line);
        line.is_some_and(|line| self.lines.groups[line.group].over_tmp)
    }

    pub(crate) fn group_of(&self, line: SessionNo) -> Option<&LineGroup> {
        self.rules.groups.get(self.group_at(line)?)
    }

    /// The index of the line group of a line.
    pub(crate) fn group_at(&self, line: SessionNo) -> Option<usize> {
        Some(self.lines.line(line)?.group)
    }

    /// Whether the OMS may request the status of orders from the venue of a line.
    pub(crate) fn answers_status(&self, line: SessionNo) -> bool {
        let group = self.group_of(line);
        group.is_none_or(|group| group.status != StatusRule::Never)
    }

    /// Whether the OMS requests the status of all open orders of a line at each logon.
    pub(crate) fn answers_mass_status(&self, line: SessionNo) -> bool {
        let group = self.group_of(line);
        group.is_some_and(|it| it.mass_status && !it.over_tmp && it.status != StatusRule::Never)
    }

    /// Number of orders in an unknown state on a connected line, whose status the OMS may not request.
    pub(crate) fn not_asked(&self, line: SessionNo) -> usize {
        if self.answers_status(line) {
            return 0;
        }
        let orders = self.state.orders().iter();
        let unknown = orders.filter(|it| it.line() == Some(line) && is_unknown(&self.state, it));
        unknown.count()
    }

    /// Finds the settings that belong to the numbers of the state.
    pub(crate) fn index(&mut self) {
        let group_of = self.index_rules();
        self.lines = Lines::new(&self.state, &self.rules.groups, group_of);
        self.own.rebuild(&self.state);
        self.prices.rebuild(&self.state);
    }

    /// Updates what depends only on the settings and on the numbers of the state; returns the line groups of each
    /// instrument.
    pub(crate) fn index_rules(&mut self) -> Table<InstrumentNo, SymbolRoute> {
        self.taken_names = taken_names(&self.state, &self.rules);
        self.unchecked = self.state.last;
        let (state, rules) = (&self.state, &self.rules);
        self.instruments = Table::of(None, state.instruments().len());
        for rule in &rules.instruments {
            if let Some(index) = state.instruments().find(rule.symbol.as_bytes()) {
                // The units are those of the state, which may have more decimals than the settings.
                let scale = state.scale(index);
                let factor = 10_i64.pow(scale.saturating_sub(rule.scale).into());
                let parts = state.scales(index).quantity;
                // The state has fewer decimals only if quantities would otherwise be out of range.
                let one = |more: u8| 10_u64.pow(more.into());
                let lot = rule
                    .lot
                    .div_ceil(one(rule.quantity_scale.saturating_sub(parts)));
                let lot = lot.saturating_mul(one(parts.saturating_sub(rule.quantity_scale)));
                self.instruments[index] = Some(InstrumentRule {
                    scale,
                    quantity_scale: parts,
                    lot,
                    tick: rule.tick.saturating_mul(factor),
                    ticks: rule
                        .ticks
                        .iter()
                        .map(|band| TickBand {
                            from: band.from.saturating_mul(factor),
                            tick: band.tick.saturating_mul(factor),
                        })
                        .collect(),
                    reference: rule.reference.map(|it| it.saturating_mul(factor)),
                    ..rule.clone()
                });
            }
        }
        for index in state.instruments().numbers() {
            let (least, prices) = (
                spreads::least_hold(self, index),
                spreads::leg_prices(self, index),
            );
            if let Some(Some(rule)) = self.instruments.get_mut(index)
                && let Some((sum, total)) = prices
            {
                (rule.least_hold, rule.collar_base) = (least, total);
                rule.reference = rule.reference.or(Some(sum));
            }
        }
        let (state, rules) = (&self.state, &self.rules);
        let restrictions = state.instruments().iter().map(|symbol| {
            let rules = rules.restricted.iter();
            let rules = rules.filter(|rule| matches(&rule.symbol, symbol));
            rules.cloned().collect()
        });
        self.restrictions = restrictions.collect();
        let symbols = state.instruments().iter();
        let group_of = symbols.map(|symbol| SymbolRoute {
            group: rules.group_of(symbol),
            chosen: rules
                .routes_of(symbol)
                .filter(|route| route.when.is_some())
                .map(|route| route.group)
                .collect(),
        });
        let group_of = group_of.collect();
        self.tmp_scales = if rules.groups.iter().any(|group| group.over_tmp) {
            let scale = |(index, symbol): (InstrumentNo, &[u8])| {
                let mut rules = rules.instruments.iter();
                let rule = rules.find(|rule| rule.symbol.as_bytes() == symbol);
                // An instrument that is no longer in the file may still have orders.
                rule.map_or(state.scale(index), tick_scale)
            };
            state
                .instruments()
                .numbers()
                .zip(state.instruments().iter())
                .map(scale)
                .collect()
        } else {
            Table::default()
        };
        self.index_users();
        group_of
    }

    /// Finds the users of the sessions of the state, and their pools.
    pub(crate) fn index_users(&mut self) {
        let (state, rules) = (&self.state, &self.rules);
        self.users = Table::of(None, state.sessions().len());
        for user in &rules.users {
            if let Some(index) = state.sessions().find(user.session.as_bytes()) {
                self.users[index] = Some(user.clone());
            }
        }
        self.pools = self.pools_by_number();
    }

    pub(crate) fn pools_by_number(&self) -> Pools {
        let (state, rules) = (&self.state, &self.rules);
        if rules.pools.is_empty() {
            return Pools::default();
        }
        let find = |name: &Option<String>| state.pool_names.find(name.as_ref()?.as_bytes());
        let form = |name: &[u8]| {
            let rule = rules.pools.iter().find(|rule| rule.name.as_bytes() == name);
            rule.map(|rule| rule.form.clone())
        };
        let users = self.users.iter().map(Option::as_ref);
        Pools {
            forms: state.pool_names.iter().map(form).collect(),
            of_session: users.map(|user| find(&user?.number_pool)).collect(),
            of_group: rules
                .groups
                .iter()
                .map(|it| find(&it.number_pool))
                .collect(),
        }
    }

    /// Finds the settings again after they have changed. Queues, counts of sent messages, and prices stay.
    pub(crate) fn index_again(&mut self, scales: &Table<InstrumentNo, u8>) {
        let group_of = self.index_rules();
        self.lines.follow(&self.state, &self.rules.groups, group_of);
        self.own = OwnOrders::new(self.rules.rejects_self_trades);
        self.own.rebuild(&self.state);
        self.has_parents = self.rules.users.iter().any(|user| user.parents.is_some());
        self.prices.rescale(&self.state, scales);
    }

    /// Whether any client may place parent orders.
    pub(crate) fn has_parents(&self) -> bool {
        self.has_parents
    }

    /// Whether a client may place parent and child orders.
    pub(crate) fn may_have_parents(&self, session: SessionNo) -> bool {
        self.user(session).is_ok_and(|user| user.parents.is_some())
    }
}

impl Core {
    /// Checks that an order's names on a line are not the names of another instrument or account there.
    ///
    /// # Errors
    ///
    /// The name, and the instrument or account to which it belongs now.
    #[inline]
    pub(crate) fn check_names(&self, number: Number, line: SessionNo) -> Result<(), Reason> {
        match self.taken_names.is_empty() {
            true => Ok(()),
            false => self.check_taken_names(number, line),
        }
    }

    #[cold]
    fn check_taken_names(&self, number: Number, line: SessionNo) -> Result<(), Reason> {
        let Some(order) = self.state.orders().get(number) else {
            return Ok(());
        };
        let instrument = (
            Scope::Instrument(order.instrument),
            NameOf::Instrument(order.instrument),
        );
        let account = (
            Scope::Account(order.account),
            NameOf::Account(order.account),
        );
        for (scope, of) in [instrument, account] {
            if let Some(other) = self.taken_names.get(&(line, of)) {
                return Err(Reason {
                    scope,
                    limit: match other {
                        NameOf::Instrument(of) => of.place().into(),
                        NameOf::Account(of) => of.place().into(),
                    },
                    ..Reason::of(Why::NameTaken)
                });
            }
        }
        Ok(())
    }
}

/// A name on a line that differs between the settings and the state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangedName<'r> {
    pub line: SessionNo,
    pub of: NameOf,
    /// The fields in the settings; empty if messages use the OMS's own name.
    pub fields: &'r [u8],
}

/// The names on lines that differ between the settings and the state.
pub(crate) fn changed_names<'r>(state: &OmsState, rules: &'r RiskRules) -> Vec<ChangedName<'r>> {
    let mut changed = Vec::new();
    for group in &rules.groups {
        let is_plain = group.symbols.rows.is_empty() && group.accounts.rows.is_empty();
        if is_plain && state.venue_names.is_empty() {
            continue;
        }
        let symbols = group.symbols.rows.iter().filter_map(|row| {
            let instrument = state.instruments().find(row.name.as_bytes())?;
            Some((NameOf::Instrument(instrument), &*row.fields))
        });
        let accounts = group.accounts.rows.iter().filter_map(|row| {
            let account = state.accounts().find(row.name.as_bytes())?;
            Some((NameOf::Account(account), &*row.fields))
        });
        let wanted: BTreeMap<NameOf, &[u8]> = symbols.chain(accounts).collect();
        for line in &group.lines {
            let Some(line) = state.sessions().find(line.as_bytes()) else {
                continue;
            };
            let known = known_names(state, line);
            let gone = known.keys().filter(|of| !wanted.contains_key(of));
            let gone = gone.map(|of| (*of, &b""[..]));
            let new = wanted.iter().map(|(of, fields)| (*of, *fields));
            let new = new.filter(|(of, fields)| known.get(of) != Some(fields));
            changed.extend(
                new.chain(gone)
                    .map(|(of, fields)| ChangedName { line, of, fields }),
            );
        }
    }
    changed
}

fn known_names(state: &OmsState, line: SessionNo) -> BTreeMap<NameOf, &[u8]> {
    let Some(names) = state.venue_names.on(line) else {
        return BTreeMap::new();
    };
    let instruments = names.instruments.iter();
    let instruments = instruments.map(|(of, fields)| (NameOf::Instrument(*of), &**fields));
    let accounts = names.accounts.iter();
    let accounts = accounts.map(|(of, fields)| (NameOf::Account(*of), &**fields));
    instruments.chain(accounts).collect()
}

/// The open orders at venues, by line and by the instrument or account that messages on the line name.
pub(crate) fn named_by_orders(state: &OmsState) -> BTreeMap<(SessionNo, NameOf), Vec<Number>> {
    let mut named = BTreeMap::<_, Vec<Number>>::new();
    for order in state.orders().iter() {
        let Some(line) = order.line().filter(|_| order.state.is_open()) else {
            continue;
        };
        let mut add = |of| named.entry((line, of)).or_default().push(order.number);
        add(NameOf::Account(order.account));
        add(NameOf::Instrument(order.instrument));
        for leg in state.spreads.legs(order.instrument).into_iter().flatten() {
            add(NameOf::Instrument(leg.instrument));
        }
    }
    named
}

/// The names that open orders at venues keep, on the line of an order and on the other lines of its group.
#[derive(Debug)]
pub(crate) struct KeptNames {
    named: BTreeMap<(SessionNo, NameOf), Vec<Number>>,
    /// The lines of each line's group.
    groups: BTreeMap<SessionNo, Vec<SessionNo>>,
}

impl KeptNames {
    pub(crate) fn of(state: &OmsState, rules: &RiskRules) -> Self {
        let mut groups = BTreeMap::new();
        for group in &rules.groups {
            let lines = group.lines.iter();
            let lines = lines.filter_map(|it| state.sessions().find(it.as_bytes()));
            let lines: Vec<SessionNo> = lines.collect();
            groups.extend(lines.iter().map(|line| (*line, lines.clone())));
        }
        Self {
            named: named_by_orders(state),
            groups,
        }
    }

    /// The line from which `line` keeps a name: the line itself, or another line of its group. `None` if no open order
    /// has the name.
    pub(crate) fn line_of(&self, line: SessionNo, of: NameOf) -> Option<SessionNo> {
        let others = self.groups.get(&line).into_iter().flatten();
        let mut lines = [line].into_iter().chain(others.copied());
        lines.find(|line| self.named.contains_key(&(*line, of)))
    }
}

/// The fields of a name on a line; empty if messages use the OMS's own name.
pub(crate) fn name_on(state: &OmsState, line: SessionNo, of: NameOf) -> &[u8] {
    let fields = match of {
        NameOf::Instrument(of) => state.venue_names.instrument(line, of),
        NameOf::Account(of) => state.venue_names.account(line, of),
    };
    fields.unwrap_or_default()
}

/// The names that open orders keep, and that the settings give to another instrument or account on the line.
pub(crate) fn taken_names(
    state: &OmsState,
    rules: &RiskRules,
) -> BTreeMap<(SessionNo, NameOf), NameOf> {
    let changed = changed_names(state, rules);
    let kept: BTreeSet<_> = changed.iter().map(|it| (it.line, it.of)).collect();
    let taken = kept.iter().filter_map(|&(line, of)| {
        let known = known_names(state, line);
        let is_other = |other: &NameOf| *other != of && !kept.contains(&(line, *other));
        let (first, own) = match of {
            NameOf::Instrument(of) => (tag::SYMBOL, state.instruments().name(of)),
            NameOf::Account(of) => (tag::ACCOUNT, state.accounts().name(of)),
        };
        let own = [format!("{first}=").as_bytes(), own, b"\x01"].concat();
        let name = known.get(&of).map_or(&*own, |fields| *fields);
        let is_same = |other: NameOf, fields: &[u8]| match (of, other) {
            (NameOf::Instrument(_), NameOf::Instrument(_)) => is_same_instrument(name, fields),
            (NameOf::Account(_), NameOf::Account(_)) => name == fields,
            _ => false,
        };
        let mut others = known.iter().filter(|(other, _)| is_other(other));
        let other = others.find(|(other, fields)| is_same(**other, fields));
        // An instrument or account without a row has the OMS's own name at the venue.
        let plain = || {
            let value = value_of(name, first)?;
            let other = match of {
                NameOf::Instrument(_) => NameOf::Instrument(state.instruments().find(value)?),
                NameOf::Account(_) => NameOf::Account(state.accounts().find(value)?),
            };
            (is_other(&other) && !known.contains_key(&other)).then_some(other)
        };
        let other = other.map(|(other, _)| *other).or_else(plain)?;
        Some(((line, of), other))
    });
    taken.collect()
}

/// A name that cannot change yet, because open orders at the venue have it.
#[derive(Clone, Debug)]
pub(crate) struct KeptName {
    pub line: SessionNo,
    pub of: NameOf,
    /// Numbers of the orders.
    pub orders: Vec<Number>,
}

/// The names that differ between the settings and the state, and that open orders at venues have.
pub(crate) fn kept_names(state: &OmsState, rules: &RiskRules) -> Vec<KeptName> {
    let changed = changed_names(state, rules);
    if changed.is_empty() {
        return Vec::new();
    }
    let mut named = named_by_orders(state);
    let kept = changed.iter().filter_map(|name| {
        let mut orders = named.remove(&(name.line, name.of))?;
        orders.sort_unstable();
        Some(KeptName {
            line: name.line,
            of: name.of,
            orders,
        })
    });
    kept.collect()
}

impl KeptName {
    /// Whether two versions of the settings have the same row for the name.
    pub(crate) fn is_same_in(&self, state: &OmsState, one: &RiskRules, other: &RiskRules) -> bool {
        let line = state.sessions().name(self.line);
        let row = |rules: &RiskRules| {
            let group = rules.groups.iter().find(|group| group.has_line(line))?;
            let (file, name) = match self.of {
                NameOf::Instrument(of) => (&group.symbols, state.instruments().name(of)),
                NameOf::Account(of) => (&group.accounts, state.accounts().name(of)),
            };
            let row = file.rows.iter().find(|row| row.name.as_bytes() == name)?;
            Some(row.fields.clone())
        };
        row(one) == row(other)
    }

    /// Text that the name `verb` (such as "cannot change") while its orders are open.
    pub(crate) fn text(&self, state: &OmsState, verb: &str) -> String {
        /// Maximum number of orders that are listed.
        const LISTED: usize = 5;
        let of = self.of.text(state);
        let listed = self.orders.iter().take(LISTED).map(Number::to_string);
        let listed = listed.collect::<Vec<_>>().join(", ");
        let more = match self.orders.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let line = String::from_utf8_lossy(state.sessions().name(self.line));
        format!(
            "{of} on {line}: its name at the venue {verb} while these orders are open: {listed}{more}"
        )
    }
}
