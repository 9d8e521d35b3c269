//! Rights of clients, by session and account.

use crate::decide::core::Core;
use crate::values::ids::{AccountNo, SessionNo};
use crate::values::reason::{Reason, Why};
use crate::values::rules::{Rights, UserRule};

impl Core {
    pub(crate) fn user(&self, session: SessionNo) -> Result<&UserRule, Reason> {
        let user = self.users.get(session).and_then(Option::as_ref);
        user.ok_or(Reason::of(Why::NotAllowed))
    }

    /// Whether a session has a right for all orders of an account, or for all its orders.
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
            // An unknown order reveals nothing about an account.
            None => user.rights.iter().any(|it| it.status),
        }
    }
}
