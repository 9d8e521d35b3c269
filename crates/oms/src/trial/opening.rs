//! The state before the first message of a record. The trial begins with the positions of this state, but does not have
//! its orders.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::Decimal;

use super::result::Findings;
use crate::state::OmsState;
use crate::values::rules::{PositionRule, RiskRules};
use crate::values::units::units;
use crate::values::value::{Number, Quantity};

/// The state before the record.
pub(super) struct Opening {
    state: OmsState,
    /// Session and ClOrdID(11) of requests in the record for orders from before the record.
    requests: BTreeSet<(Vec<u8>, Vec<u8>)>,
}

impl Opening {
    pub fn new(state: OmsState) -> Self {
        Self {
            state,
            requests: BTreeSet::new(),
        }
    }

    /// Whether a ClOrdID(11) of a session belongs to an order from before the record, or to a request for such an
    /// order.
    pub fn knows(&self, session: &[u8], id: &[u8]) -> bool {
        let known = self.state.sessions().find(session);
        known.is_some_and(|session| self.state.used(session, id).is_some())
            || self.requests.contains(&(session.to_vec(), id.to_vec()))
    }

    /// Whether a replace or cancel is for an order from before the record. If so, the ClOrdID(11) of the request
    /// belongs to this order from now on.
    pub fn has_order(&mut self, session: &[u8], original: &[u8], id: &[u8]) -> bool {
        let knows = self.knows(session, original);
        if knows {
            self.add(session, id);
        }
        knows
    }

    /// Records the ClOrdID(11) of a request that is not played, because its order or parent order is from before the
    /// record.
    pub fn add(&mut self, session: &[u8], id: &[u8]) {
        self.requests.insert((session.to_vec(), id.to_vec()));
    }

    /// Whether an order with this number was a parent before the record.
    pub fn has_parent(&self, number: Number) -> bool {
        self.state.families.is_parent(number)
    }
}

/// Makes the positions of a state the opening positions of settings. Counts the positions that the settings cannot
/// have: the account or symbol is not configured, or the quantity has more decimals than those of the symbol.
pub(super) fn set_positions(rules: &mut RiskRules, state: &OmsState, findings: &mut Findings) {
    rules.positions.clear();
    for (account, instrument, position) in state.positions() {
        if (position.long, position.short) == (0, 0) {
            continue;
        }
        let account = String::from_utf8_lossy(state.accounts().name(account)).into_owned();
        let symbol = String::from_utf8_lossy(state.instruments().name(instrument)).into_owned();
        let is_known = rules.accounts.iter().any(|it| it.name == account);
        let rule = rules.instruments.iter().find(|it| it.symbol == symbol);
        let quantity = |quantity: Quantity| {
            let scale = rule.filter(|_| is_known)?.quantity_scale;
            let quantity = i64::try_from(quantity).ok()?;
            let quantity = Decimal::new(quantity, state.scales(instrument).quantity)?;
            units(quantity, scale).ok()
        };
        match (quantity(position.long), quantity(position.short)) {
            (Some(long), Some(short)) => rules.positions.push(PositionRule {
                account,
                symbol,
                long,
                short,
            }),
            _ => findings.leave_out(b"opening positions that the settings cannot have"),
        }
    }
}
