//! Applies new settings to the state: all changes, or none.

use alloc::vec::Vec;

use crate::state::OmsState;
use crate::state::event::{
    LimitEvent, OrderEvent, PoolEvent, ReloadEvent, RequestEvent, SetupEvent, SpreadEvent,
};
use crate::state::orders::exec_ids::ExecIds;
use crate::state::reload::{PendingReload, short};

impl OmsState {
    pub(crate) fn apply_reload(&mut self, event: &ReloadEvent<'_>) -> Option<()> {
        match *event {
            ReloadEvent::Reloaded {
                settings, changes, ..
            } => {
                let changes = changes.each().map(|event| OrderEvent::of(event?));
                let changes = changes.collect::<Option<Vec<_>>>()?;
                changes.iter().all(is_of_settings).then_some(())?;
                let mut done = Some(());
                for change in &changes {
                    done = done.and(self.apply_event(change));
                }
                self.settings = settings;
                self.pending_reload = None;
                done
            }
            ReloadEvent::ReloadAsked { settings, who, .. } => {
                let by = short(who);
                self.pending_reload = Some(PendingReload { by, settings });
                Some(())
            }
        }
    }

    /// The part of the state with which settings are compared: names, values and limits, without orders.
    pub(crate) fn outline(&self) -> Self {
        Self {
            time: self.time,
            day: self.day,
            session_names: self.session_names.clone(),
            account_names: self.account_names.clone(),
            instrument_names: self.instrument_names.clone(),
            firm: self.firm.clone(),
            sessions: self.sessions.clone(),
            accounts: self.accounts.clone(),
            instruments: self.instruments.clone(),
            holdings: self.holdings.clone(),
            holding_places: self.holding_places.clone(),
            pool_names: self.pool_names.clone(),
            pools: self.pools.clone(),
            spreads: self.spreads.without_orders(),
            exec_ids: ExecIds {
                since: self.exec_ids.since,
                ..ExecIds::default()
            },
            venue_names: self.venue_names.clone(),
            ..Self::default()
        }
    }
}

/// Whether this event may be part of the event of a reload.
fn is_of_settings(event: &OrderEvent<'_>) -> bool {
    matches!(
        event,
        OrderEvent::Setup(SetupEvent::Account { .. })
            | OrderEvent::Setup(SetupEvent::ExecIds { .. })
            | OrderEvent::Setup(SetupEvent::Instrument { .. })
            | OrderEvent::Setup(SetupEvent::VenueSymbol { .. })
            | OrderEvent::Setup(SetupEvent::VenueAccount { .. })
            | OrderEvent::Spread(SpreadEvent::SpreadLegs { .. })
            | OrderEvent::Pool(PoolEvent::Pool { .. })
            | OrderEvent::Limit(LimitEvent::Limit { .. })
            | OrderEvent::Request(RequestEvent::Marks { .. })
    )
}
