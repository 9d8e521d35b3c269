//! Data of an order and its request that the report of an event needs. The data is noted before the event is applied,
//! because applying the event removes it from the state.

use crate::state::OmsState;
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::values::value::{Number, RequestKind, Text};

/// Data that a report needs, noted before the event is applied.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// ClOrdID(11) of the order.
    pub(super) id: Text,
    /// Kind and ClOrdID(11) of the pending request.
    pub(super) request: Option<(RequestKind, Text)>,
    /// The order.
    pub(super) order: Number,
    /// Whether the client already got the acknowledgement of an order that the venue now accepts.
    pub(super) is_known: bool,
}

impl Before {
    /// Called before the event is applied.
    pub(crate) fn note(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        self.request = None;
        let OrderEvent::Order(event) = event else {
            return;
        };
        let request = match *event {
            LifecycleEvent::Replaced { request, .. } | LifecycleEvent::Declined { request, .. } => {
                Some(request)
            }
            LifecycleEvent::Ended { request, .. }
            | LifecycleEvent::LapseConfirmed { request, .. }
            | LifecycleEvent::TermsSet { request, .. } => request,
            LifecycleEvent::Accepted { order, .. } => {
                let order = state.orders().get(order);
                self.is_known = order.is_some_and(|it| !it.venue_id.bytes().is_empty());
                None
            }
            LifecycleEvent::Rejected { .. }
            | LifecycleEvent::Filled { .. }
            | LifecycleEvent::Pended { .. }
            | LifecycleEvent::Retried { .. }
            | LifecycleEvent::Asked { .. }
            | LifecycleEvent::Forgotten { .. }
            | LifecycleEvent::DoneForDay { .. }
            | LifecycleEvent::Renewed { .. }
            | LifecycleEvent::ReportEntered { .. }
            | LifecycleEvent::Lapsed { .. }
            | LifecycleEvent::LapseCancelled { .. }
            | LifecycleEvent::Unanswered { .. }
            | LifecycleEvent::NoAnswer { .. }
            | LifecycleEvent::NotAtVenue { .. }
            | LifecycleEvent::ForeignReport { .. }
            | LifecycleEvent::VenueIdSet { .. }
            | LifecycleEvent::ExecIdPassed { .. } => None,
        };
        if let Some((request, order)) = request.and_then(|it| state.orders().request(it)) {
            self.id = order.id.clone();
            self.order = order.number;
            self.request = Some((request.kind, request.id.clone()));
        }
    }

    /// The former ClOrdID(11) of the order, when the event answers a client's request.
    pub(super) fn original(&self) -> Option<&Text> {
        let id = self.request.as_ref().map(|(_, id)| id);
        id.filter(|id| !id.bytes().is_empty()).map(|_| &self.id)
    }

    /// The order of the last event that was about a request.
    pub(crate) fn order(&self) -> Option<Number> {
        self.request.as_ref().map(|_| self.order)
    }
}
