//! Lines about what a venue took back, and about what does not agree with it.

use alloc::format;
use alloc::string::String;

use super::{History, text};
use crate::state::event::{BreakEvent, OrderEvent, UndoEvent};

impl History {
    /// Describes what the venue took back, what it says and does not agree with it, and what an operator decided.
    pub(super) fn broken(&self, event: &OrderEvent<'_>) -> Option<String> {
        match *event {
            OrderEvent::Undo(UndoEvent::Busted {
                order,
                quantity,
                price,
                ..
            }) if order == self.order => Some(format!(
                "busted by the venue: {quantity} at {} is no fill any more",
                self.price(price)
            )),
            OrderEvent::Undo(UndoEvent::Corrected {
                order,
                was_quantity,
                was_price,
                quantity,
                price,
                ..
            })
            | OrderEvent::Undo(UndoEvent::ParentCorrected {
                order,
                was_quantity,
                was_price,
                quantity,
                price,
                ..
            }) if order == self.order => Some(format!(
                "corrected by the venue: {was_quantity} at {} is {quantity} at {}",
                self.price(was_price),
                self.price(price)
            )),
            OrderEvent::Break(BreakEvent::VenueBroken {
                kind,
                order,
                ours,
                venue,
                ..
            }) if order == self.order => Some(format!(
                "break: {kind}: {} here, the venue says {}",
                text(ours),
                text(venue)
            )),
            OrderEvent::Break(BreakEvent::TermsSettled {
                order,
                quantity,
                price,
            }) if order == self.order => Some(format!(
                "settled by an operator: {quantity} at {}",
                self.price(price)
            )),
            OrderEvent::Break(BreakEvent::TermsRestated {
                order,
                quantity,
                price,
                reason,
                text: said,
                ..
            }) if order == self.order => {
                let said = match said {
                    b"" => String::new(),
                    said => format!(": {}", text(said)),
                };
                Some(format!(
                    "restated by the venue: {quantity} at {}, ExecRestatementReason {reason}{said}",
                    self.price(price)
                ))
            }
            OrderEvent::Break(BreakEvent::FillsSettled { order, filled, .. })
                if order == self.order =>
            {
                Some(format!("settled by an operator: {filled} filled"))
            }
            _ => None,
        }
    }
}
