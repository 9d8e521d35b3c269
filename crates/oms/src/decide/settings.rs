//! Finds settings by the numbers of the state: of a session, an instrument, a line.

use alloc::string::String;

use crate::decide::core::Core;
use crate::decide::queue::{Lines, SymbolRoute};
use crate::decide::spreads;
use crate::decide::work::is_unknown;
use crate::state::orders::Order;
use crate::state::orders::own::OwnOrders;
use crate::state::pools::Pools;
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo, Table};
use crate::values::reason::{Reason, Why};
use crate::values::rules::{
    InstrumentRule, LineGroup, Rights, StatusRule, TickBand, UserRule, matches,
};
use crate::values::units::tick_scale;

impl Core {
    pub(crate) fn rule(&self, instrument: InstrumentNo) -> Result<&InstrumentRule, Reason> {
        let rule = self.instruments.get(instrument);
        let rule = rule.and_then(Option::as_ref);
        rule.ok_or(Reason::of(Why::Symbol))
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
            // Any right to status requests is enough for an unknown order, which reveals nothing about an account.
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

    /// Whether the venue of a line group does not support stop orders: the OMS holds them.
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

    /// Whether the venue of a line may be asked for the status of orders.
    pub(crate) fn answers_status(&self, line: SessionNo) -> bool {
        let group = self.group_of(line);
        group.is_none_or(|group| group.status != StatusRule::Never)
    }

    /// Whether the OMS requests the status of all open orders of a line at each logon.
    pub(crate) fn answers_mass_status(&self, line: SessionNo) -> bool {
        let group = self.group_of(line);
        group.is_some_and(|it| it.mass_status && !it.over_tmp && it.status != StatusRule::Never)
    }

    /// Number of orders of a line that is up whose state is unknown, and whose status the OMS does not request.
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

    /// Updates what follows from the settings and the numbers of the state alone; returns the line groups of each
    /// instrument.
    pub(crate) fn index_rules(&mut self) -> Table<InstrumentNo, SymbolRoute> {
        let (state, rules) = (&self.state, &self.rules);
        self.instruments = Table::of(None, state.instruments().len());
        for rule in &rules.instruments {
            if let Some(index) = state.instruments().find(rule.symbol.as_bytes()) {
                // Prices and quantities in the units of the state, which may have more decimals than the settings.
                let scale = state.scale(index);
                let factor = 10_i64.pow(scale.saturating_sub(rule.scale).into());
                let parts = state.scales(index).quantity;
                // The state has fewer decimals only if its quantities would be out of range otherwise.
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
                // An instrument that the file no longer has may still have orders.
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
        self.users = Table::of(None, state.sessions().len());
        for user in &rules.users {
            if let Some(index) = state.sessions().find(user.session.as_bytes()) {
                self.users[index] = Some(user.clone());
            }
        }
        self.pools = self.pools_by_number();
        group_of
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
