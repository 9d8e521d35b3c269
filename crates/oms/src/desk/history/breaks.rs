//! History of an order: busts and corrections of its fills, and breaks with its venue.

use alloc::format;
use alloc::string::String;

use super::{History, text};
use crate::state::event::{BreakEvent, UndoEvent};

impl History {
    /// The operator or venue that busted or corrected a fill. A report that an operator enters comes directly before.
    fn undoer(&self, event: &UndoEvent<'_>) -> &'static str {
        let (UndoEvent::Busted { order, .. }
        | UndoEvent::Corrected { order, .. }
        | UndoEvent::ParentCorrected { child: order, .. }) = *event;
        match self.entered == Some(order) {
            true => "an operator",
            false => "the venue",
        }
    }

    /// Describes a bust or correction of a fill.
    pub(super) fn undone(&self, event: &UndoEvent<'_>) -> Option<String> {
        match *event {
            UndoEvent::Busted { order, .. }
            | UndoEvent::Corrected { order, .. }
            | UndoEvent::ParentCorrected { order, .. }
                if order != self.order =>
            {
                None
            }
            UndoEvent::Busted {
                quantity, price, ..
            } => Some(format!(
                "busted by {}: {} is no fill any more",
                self.undoer(event),
                self.terms(quantity, price)
            )),
            UndoEvent::Corrected {
                was_quantity,
                was_price,
                quantity,
                price,
                ..
            }
            | UndoEvent::ParentCorrected {
                was_quantity,
                was_price,
                quantity,
                price,
                ..
            } => Some(format!(
                "corrected by {}: {} is {}",
                self.undoer(event),
                self.terms(was_quantity, was_price),
                self.terms(quantity, price)
            )),
        }
    }

    /// Describes a break with the venue, and what an operator decided about it.
    pub(super) fn broken(&self, event: &BreakEvent<'_>) -> Option<String> {
        match *event {
            BreakEvent::VenueBroken { order, .. }
            | BreakEvent::TermsSettled { order, .. }
            | BreakEvent::TermsRestated { order, .. }
            | BreakEvent::FillsSettled { order, .. }
                if order != self.order =>
            {
                None
            }
            BreakEvent::SettleAsked { order, .. } | BreakEvent::BreakSettled { order, .. }
                if order != Some(self.order) =>
            {
                None
            }
            BreakEvent::SettleAsked {
                number,
                venue,
                who,
                why,
                ..
            } => Some(format!(
                "break {number}: {} asks to settle it with {}: {}",
                text(who),
                right(venue),
                text(why)
            )),
            BreakEvent::BreakSettled {
                number,
                venue,
                who,
                why,
                ..
            } => Some(format!(
                "break {number} settled with {} by {}: {}",
                right(venue),
                text(who),
                text(why)
            )),
            BreakEvent::VenueBroken {
                kind, ours, venue, ..
            } => Some(format!(
                "break: {kind}: {} here, the venue says {}",
                text(ours),
                text(venue)
            )),
            BreakEvent::TermsSettled {
                quantity, price, ..
            } => Some(format!(
                "settled by an operator: {}",
                self.terms(quantity, price)
            )),
            BreakEvent::TermsRestated {
                quantity,
                price,
                reason,
                text: said,
                ..
            } => {
                let said = match said {
                    b"" => String::new(),
                    said => format!(": {}", text(said)),
                };
                Some(format!(
                    "restated by the venue: {}, ExecRestatementReason {reason}{said}",
                    self.terms(quantity, price)
                ))
            }
            BreakEvent::FillsSettled { filled, .. } => {
                let filled = self.quantity(filled);
                Some(format!("settled by an operator: {filled} filled"))
            }
            BreakEvent::BreakAlarmed { .. } => None,
        }
    }
}

/// Whose values an operator has chosen.
fn right(venue: bool) -> &'static str {
    match venue {
        true => "the venue's value",
        false => "our value",
    }
}
