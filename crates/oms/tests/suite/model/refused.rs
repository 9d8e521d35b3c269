//! Model: rejects of a venue that do not agree with their order.

use super::breaks::{Broken, OPEN, status};
use super::{Fate, Fields, Model};

impl Model {
    /// OrdStatus(39) of a reject, and a reject of what the venue has done; `was_asked` when it answers a request.
    pub fn reject_agrees(
        &mut self,
        (number, request): (u64, u64),
        was_asked: bool,
        fields: &Fields<'_>,
    ) {
        let Some(order) = self.orders.get(&number) else {
            return;
        };
        if !self.is_compared(order, request)
            || order.waiting.is_some()
            || order.fate == Fate::Lapsed
        {
            return;
        }
        // OrdStatus(39) of an ExecutionReport(8) is that of the request.
        let status = status(fields).filter(|_| !fields.contains_key(&150));
        let is = |tag: u32| fields.get(&tag) == Some(&"1");
        let is_gone =
            !fields.contains_key(&150) && (is(102) || (is(380) && !fields.contains_key(&102)));
        let is_open = order.is_open();
        let is_done = match order.fate {
            Fate::Over('4') => request > order.current,
            _ => request == order.current && request != number,
        };
        let is_wrong = match status {
            None => !was_asked && is_done,
            Some('0') => !is_open || order.filled > 0,
            Some('1') => !is_open || order.filled == 0,
            Some('2') => order.filled < order.quantity,
            Some('3') => is_open && order.fate != Fate::Done,
            Some('4' | 'C') => is_open || order.fate == Fate::Over('2'),
            Some('8') => is_open,
            Some('6' | 'E') => !is_open || order.asked.is_none(),
            Some(other) => OPEN.contains(other) && !is_open,
        };
        if !(is_wrong || is_gone && is_open) {
            return;
        }
        let may_trade = !is_open && !status.is_some_and(|it| "2348C".contains(it));
        let ours = order.status().to_string();
        let total = if may_trade { order.quantity } else { 0 };
        let said = match (is_gone, status) {
            (true, _) => "gone".to_owned(),
            (false, status) => format!("{status:?} in a reject"),
        };
        self.raise(
            fields,
            Broken {
                status: match status {
                    None if is_gone => '8',
                    status => status.unwrap_or(' '),
                },
                total,
                sides: (ours, said),
                ..Broken::new("status", number)
            },
        );
    }

    /// The venue rejects an order that it has acknowledged.
    pub fn refused_late(&mut self, number: u64, request: u64) {
        let Some(order) = self.orders.get(&number) else {
            return;
        };
        let is_live = order.is_open() || order.fate == Fate::Over('2');
        if !is_live || !self.is_compared(order, request) {
            return;
        }
        let ours = order.status().to_string();
        self.raise(
            &Fields::new(),
            Broken {
                status: '8',
                sides: (ours, "rejects the order".to_owned()),
                ..Broken::new("status", number)
            },
        );
    }
}
