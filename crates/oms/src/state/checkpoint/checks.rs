//! Checks and completes a state that was read from a checkpoint: no part may contradict another.

use fixwire_protocol::tag;

use crate::state::apply::parents::quantity_of;
use crate::state::orders::Place;
use crate::state::orders::strays::{Stray, StrayUndo};
use crate::state::orders::venue_names::{LineNames, is_name};
use crate::state::tally::Tally;
use crate::state::{Holding, OmsState, pair};
use crate::values::ids::SessionNo;
use crate::values::units::MOST_DECIMALS;
use crate::values::value::{MOST_QUANTITY_DECIMALS, Number};

impl OmsState {
    /// Checks that there are as many names as there are sessions, accounts and instruments.
    pub(super) fn check_names(&self) -> Option<()> {
        let mut instruments = self.instruments.iter();
        let scales = instruments
            .all(|it| it.scale <= MOST_DECIMALS && it.quantity_scale <= MOST_QUANTITY_DECIMALS);
        let fits = self.session_names.len() as usize == self.sessions.len()
            && self.account_names.len() as usize == self.accounts.len()
            && self.instrument_names.len() as usize == self.instruments.len()
            && self.pool_names.len() as usize == self.pools.len();
        (scales && fits).then_some(())
    }

    /// Adds the holding of an account in an instrument. Both must exist, and the account must have no other holding in
    /// the instrument.
    pub(super) fn add_holding(&mut self, holding: Holding) -> Option<()> {
        let (account, instrument) = (holding.account, holding.instrument);
        self.accounts.get(account)?;
        self.instruments.get(instrument)?;
        let is_new = self.holding(account, instrument).is_none();
        is_new.then(|| *self.holding_mut(account, instrument) = holding)
    }

    /// Checks that each loaded total is of a known account and instrument.
    pub(super) fn check_totals(&self) -> Option<()> {
        let mut totals = self.totals.iter();
        let fits = totals.all(|(key, total)| {
            *key == pair(total.account, total.instrument)
                && self.accounts.get(total.account).is_some()
                && self.instruments.get(total.instrument).is_some()
        });
        fits.then_some(())
    }

    /// Checks that no account is its own parent, directly or through others.
    pub(super) fn check_parents(&self) -> Option<()> {
        for account in self.account_names.numbers() {
            let mut above = self.parent(account);
            let mut steps = 0;
            while let Some(of) = above {
                self.accounts.get(of)?;
                if steps > self.accounts.len() {
                    return None;
                }
                steps += 1;
                above = self.parent(of);
            }
        }
        Some(())
    }

    /// Checks that the quantities of parents are the sums of their children.
    pub(super) fn complete_families(&mut self) -> Option<()> {
        let mut families = core::mem::take(&mut self.families);
        let held = |number| {
            let order = self.orders.get(number);
            order.map_or(0, |order| {
                let tally = self.counted(order, self.orders.request_of(order));
                quantity_of(&tally, order.side.is_buy())
            })
        };
        families.complete(&self.orders, held)?;
        self.families = families;
        Some(())
    }

    /// Checks that each fill of an unknown order, and each bust of such a fill, has an existing line, account and
    /// instrument.
    pub(super) fn check_strays(&self) -> Option<()> {
        let is_known = |it: &Stray| {
            self.sessions.get(it.line).is_some()
                && self.accounts.get(it.account).is_some()
                && self.instruments.get(it.instrument).is_some()
        };
        let mut undos = self.strays.undos.values();
        let is_recalled = |(order, left): (&Number, &Option<u64>)| {
            *order <= self.last && left.is_none() == self.orders.get(*order).is_some()
        };
        let mut recalled = self.strays.recalled.iter();
        (recalled.all(is_recalled)
            && self.strays.iter().all(|(_, stray)| is_known(stray))
            && undos.all(|undo| self.is_undo_of_known(undo)))
        .then_some(())
    }

    /// Whether the line, account and instrument of a bust or correction exist.
    pub(crate) fn is_undo_of_known(&self, undo: &StrayUndo) -> bool {
        let (account, instrument) = (undo.account, undo.instrument);
        self.sessions.get(undo.line).is_some()
            && account.is_none_or(|it| self.accounts.get(it).is_some())
            && instrument.is_none_or(|it| self.instruments.get(it).is_some())
    }

    /// Checks that carried fields belong to an order, or to a request that is pending or may be reported late.
    pub(super) fn check_carried(&self) -> Option<()> {
        let is_known = |number: &Number| {
            self.orders.get(*number).is_some()
                || self.orders.request(*number).is_some()
                || self.late.knows(*number)
        };
        let mut marks = self.carried.marks.keys();
        let are_of_fields = marks.all(|it| self.carried.has(*it));
        let fields = self.carried.fields.numbers();
        (are_of_fields && fields.iter().all(is_known)).then_some(())
    }

    /// Checks that the orders and sessions of routes exist.
    pub(super) fn check_routed(&self) -> Option<()> {
        let mut routed = self.routed.0.iter();
        let is_known = |(order, line): (&Number, &SessionNo)| {
            self.orders.get(*order).is_some() && self.sessions.get(*line).is_some()
        };
        routed.all(is_known).then_some(())
    }

    /// Checks that ExecIDs of venues belong to orders.
    pub(super) fn check_exec_ids(&self) -> Option<()> {
        let mut orders = self.exec_ids.all.keys();
        let is_known = orders.all(|(order, _)| self.orders.get(*order).is_some());
        is_known.then_some(())
    }

    /// Checks that names at venues consist of whole fields, and belong to sessions, instruments and accounts that
    /// exist.
    pub(super) fn check_venue_names(&self) -> Option<()> {
        let mut lines = self.venue_names.0.iter();
        let is_known = |(line, names): (&SessionNo, &LineNames)| {
            let mut instruments = names.instruments.iter();
            let mut accounts = names.accounts.iter();
            let has = |fields: &[u8], first| !fields.is_empty() && is_name(fields, first);
            self.sessions.get(*line).is_some()
                && *names != LineNames::default()
                && instruments.all(|(of, fields)| {
                    self.instruments.get(*of).is_some() && has(fields, tag::SYMBOL)
                })
                && accounts.all(|(of, fields)| {
                    self.accounts.get(*of).is_some() && has(fields, tag::ACCOUNT)
                })
        };
        lines.all(is_known).then_some(())
    }

    /// Checks that each closed order is listed exactly once, and that no number overflows.
    pub(super) fn check_ended(&self) -> Option<()> {
        const MOST: u64 = 1 << 62;
        let mut ended = self.orders.ended();
        let count = ended.len();
        ended.sort_unstable();
        ended.dedup();
        let all = self.orders.iter().filter(|order| !order.state.is_open());
        let is_whole = ended.len() == count && count == all.count();
        (is_whole && self.last < MOST && self.events < MOST).then_some(())
    }

    pub(super) fn count_order(&mut self, place: Place) -> Option<()> {
        let order = self.orders.at(place)?;
        let tally = self.counted(order, self.orders.request_of(order));
        let party = order.party();
        self.count(party, &Tally::default(), &tally);
        Some(())
    }
}
