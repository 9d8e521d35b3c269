//! History of an order: what becomes of its requests.

use alloc::format;
use alloc::string::String;

use super::History;
use crate::state::event::{LifecycleEvent, OrderEvent, RequestEvent};
use crate::values::show::text;
use crate::values::value::{End, RequestKind};

impl History {
    pub(super) fn refused(&self, event: &OrderEvent<'_>) -> Option<String> {
        let OrderEvent::Request(RequestEvent::Refused {
            kind,
            id,
            ref reason,
            ..
        }) = *event
        else {
            return None;
        };
        let kind = match kind? {
            RequestKind::Cancel => "cancel",
            RequestKind::Replace => "replace",
        };
        Some(format!(
            "{kind} {} rejected: {}",
            text(id),
            self.why(reason, b"")
        ))
    }

    pub(super) fn requested(&mut self, event: &OrderEvent<'_>) -> String {
        match *event {
            OrderEvent::Request(RequestEvent::ReplaceTaken {
                request,
                quantity,
                price,
                id,
                ..
            }) => {
                self.requests.push(request);
                let at = self.price(price);
                format!(
                    "replace {request} requested as {}: {quantity} at {at}",
                    text(id)
                )
            }
            OrderEvent::Request(RequestEvent::CancelTaken { request, id, .. }) => {
                self.requests.push(request);
                match id {
                    b"" => format!("cancel {request} requested by the OMS"),
                    id => format!("cancel {request} requested as {}", text(id)),
                }
            }
            _ => String::new(),
        }
    }

    pub(super) fn answered(&mut self, event: &OrderEvent<'_>) -> Option<String> {
        let ended = |how| match how {
            End::Filled => "filled",
            End::Cancelled => "cancelled",
            End::Rejected => "rejected",
            End::Expired => "expired",
            End::DoneForDay => "done for the day",
        };
        match *event {
            OrderEvent::Order(LifecycleEvent::Lapsed { order }) if order == self.order => {
                Some("expired: its trading day is over, which the venue has not confirmed".into())
            }
            OrderEvent::Order(LifecycleEvent::Ended {
                order,
                how,
                text: said,
                ..
            })
            | OrderEvent::Order(LifecycleEvent::LapseConfirmed {
                order,
                how,
                text: said,
                ..
            }) if order == self.order => {
                self.line = None;
                let said = if said.is_empty() {
                    String::new()
                } else {
                    format!(": {}", text(said))
                };
                Some(format!("{}{said}", ended(how)))
            }
            OrderEvent::Order(LifecycleEvent::Pended {
                order, how, filled, ..
            }) if order == self.order => Some(format!(
                "the venue reports {}, CumQty(14) {filled}: waiting for missing fills",
                ended(how)
            )),
            OrderEvent::Order(LifecycleEvent::Replaced {
                request,
                quantity,
                price,
                ..
            }) if self.requests.contains(&request) => {
                self.quantity = quantity;
                let at = self.price(price);
                Some(format!("replace {request} accepted: {quantity} at {at}"))
            }
            OrderEvent::Order(LifecycleEvent::TermsSet {
                order,
                request,
                quantity,
                price,
                ..
            }) if order == self.order => {
                self.quantity = quantity;
                let at = self.price(price);
                Some(match request {
                    Some(request) => format!("replace {request} accepted: {quantity} at {at}"),
                    None => format!("the venue has replaced it: {quantity} at {at}"),
                })
            }
            OrderEvent::Order(LifecycleEvent::Declined {
                request,
                ref reason,
                text: said,
            }) if self.requests.contains(&request) => Some(format!(
                "request {request} rejected: {}",
                self.why(reason, said)
            )),
            _ => None,
        }
    }
}
