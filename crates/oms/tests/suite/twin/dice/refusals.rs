//! Random rejects of a venue.

use super::Dice;
use crate::desk::Input;
use crate::model::Model;
use crate::twin::floors::LINES;

impl Dice {
    /// OrderCancelReject(9), or BusinessMessageReject(j).
    pub(super) fn refusal(&mut self, model: &Model) -> Input {
        let Some(order) = self.order(model) else {
            return self.new_order(model);
        };
        let line = if order.line == usize::MAX {
            LINES[0]
        } else {
            order.line
        };
        let request = match (&order.asked, self.below(10)) {
            (_, 0) => 1 + self.below(model.last + 1),
            (Some(asked), _) => asked.number,
            (None, 1) => order.number,
            (None, _) => model.attempt(order.number),
        };
        let number = order.number;
        let id = if request == number {
            number.to_string()
        } else {
            format!("{number}-{request}")
        };
        if self.once_in(4) {
            let of = self.any(&["D", "F", "G", "H"]);
            let reason = self.any(&["0", "4"]);
            let msg_type = self.any(&["j", "3"]);
            // A Reject(3) names it by its number alone, and so do most engines in a BusinessMessageReject(j).
            let named = match (msg_type, self.below(6)) {
                ("j", 0) => format!("379={id}|"),
                ("j", 1) => format!("45={id}|379={id}|"),
                ("j", 2) => format!("45={id}|379={}|", model.last),
                (_, 3) => format!("45={}|", model.last + 7),
                _ => format!("45={id}|"),
            };
            let body = format!("372={of}|{named}380={reason}|58=v: what|");
            return Input::Says(line, msg_type, body);
        }
        let reason = self.any(&["0", "0", "2"]);
        let body = format!("37=V{number}|11={id}|41={number}|39=0|434=1|102={reason}|58=v: no|");
        Input::Says(line, "9", body)
    }
}
