//! Which session of the engine is which client, line or drop copy of the state.

use fixwire_protocol::SessionId;

use super::{Oms, OmsSession};
use crate::fix::clients::Client;
use crate::state::client_rate::ClientRates;
use crate::values::ids::{SessionNo, Table};
use crate::values::report_numbers::ReportNumbers;

impl Oms {
    pub(super) fn find_sessions(&mut self) {
        self.find_clients();
        self.rates = ClientRates::new(&self.core.users);
        self.find_links();
    }

    /// Finds the clients and drop copies in the state.
    pub(super) fn find_clients(&mut self) {
        let numbers = ReportNumbers::new(self.core.rules().appl_id.as_bytes());
        let names = self.core.state().sessions();
        let find = |session: &OmsSession| names.find(session.name.as_bytes());
        self.indices = self.sessions.iter().map(find).collect();
        self.links.clients = Table::of(None, names.len());
        for (at, index) in (0..).zip(&self.indices) {
            if let Some(index) = index {
                let is_numbered = self.core.user(*index).is_ok_and(|it| it.report_numbers);
                self.links.clients[*index] = Some(Client {
                    session: SessionId(at),
                    version: self.sessions[at as usize].version,
                    is_copy: false,
                    numbers: is_numbered.then_some(numbers),
                });
            }
        }
        let copies = self.core.rules().drop_copies.iter().filter_map(|rule| {
            let at = self
                .sessions
                .iter()
                .position(|it| it.name == rule.session)?;
            let client = Client {
                session: SessionId(u32::try_from(at).ok()?),
                version: self.sessions[at].version,
                is_copy: true,
                numbers: rule.report_numbers.then_some(numbers),
            };
            Some((client, rule.accounts.clone()))
        });
        self.copies = copies.collect();
        self.find_watchers();
    }

    pub(super) fn index(&self, session: SessionId) -> Option<SessionNo> {
        match self.indices.get(session.0 as usize) {
            Some(index) => *index,
            None => self.links.tmp.index(session),
        }
    }

    /// State number of a session to a venue.
    pub(super) fn line(&self, session: SessionId) -> Option<SessionNo> {
        let index = self.index(session)?;
        self.core.is_line(index).then_some(index)
    }
}
