//! Applies events of price inquiries to the state.

use crate::state::OmsState;
use crate::state::event::InquiryEvent;
use crate::state::inquiries::{Inquiry, InquiryKey};
use crate::state::orders::ids::IdOwner;
use crate::values::ids::SessionNo;
use crate::values::value::Text;

impl OmsState {
    /// Number of price inquiries that no venue has answered yet.
    #[must_use]
    pub fn open_inquiries(&self) -> usize {
        self.quotes.inquiries.len()
    }

    /// Whether a session has used a QuoteReqID(131) today.
    pub(crate) fn has_inquired(&self, session: SessionNo, id: &[u8]) -> bool {
        self.used(session, InquiryKey::new(id).bytes()).is_some()
    }

    pub(crate) fn apply_inquiry(&mut self, event: &InquiryEvent<'_>) -> Option<()> {
        match *event {
            InquiryEvent::Inquired {
                inquiry,
                session,
                instrument,
                line,
                pool,
                number,
                order_no,
                id,
                ..
            } => {
                self.sessions.get(session)?;
                self.sessions.get(line)?;
                self.instruments.get(instrument)?;
                if inquiry != self.last + 1 {
                    return None;
                }
                if let Some(pool) = pool {
                    if self.has_number(order_no) {
                        return None;
                    }
                    self.pools.get_mut(pool)?.used(number, false);
                    self.ids.add(IdOwner::Pools, order_no, inquiry);
                }
                self.last = inquiry;
                let key = InquiryKey::new(id);
                self.ids.add(session, key.bytes(), inquiry);
                let new = Inquiry {
                    session,
                    instrument,
                    line,
                    at: self.time,
                    id: Text::new(id),
                    order_no: Text::new(order_no),
                };
                self.quotes.inquiries.add(inquiry, new);
                Some(())
            }
            InquiryEvent::InquiryAnswered { inquiry, .. } => self.quotes.inquiries.remove(inquiry),
        }
    }
}
