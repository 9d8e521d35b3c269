//! Finds in the journal an order that has left memory, and takes it into memory again by a command.
//!
//! ```text
//!   journal: ... Forgotten 17 ...   the state just before it has order 17 and its fills
//!   command: recall order=17 left=4711 price-scale=2 quantity-scale=0 row=0a11...
//!   event:   Recalled 17            the OMS has order 17 as it was
//! ```

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::decide::venue::undo::has_fill_named;
use crate::state::OmsState;
use crate::state::checkpoint::recalled::RecalledOrder;
use crate::state::event::{LifecycleEvent, OrderEvent, timed_event};
use crate::values::units::{Rescale, Scales};
use crate::values::value::Number;
use crate::values::words::{LeftMemory, Words, no_order};

/// Finds orders that have left memory, from the notes of a journal, the oldest first.
#[derive(Debug)]
pub struct OrderRecall {
    state: OmsState,
    wanted: Vec<LeftMemory>,
    /// The commands for the orders that fit, for each one that is wanted.
    found: Vec<BTreeMap<Number, String>>,
    /// The parents that left memory before their children.
    parents: BTreeMap<Number, Number>,
}

impl OrderRecall {
    /// `state` is the state before the first note.
    #[must_use]
    pub fn new(state: OmsState, wanted: &[LeftMemory]) -> Self {
        Self {
            state,
            wanted: wanted.to_vec(),
            found: wanted.iter().map(|_| BTreeMap::new()).collect(),
            parents: BTreeMap::new(),
        }
    }

    /// Reads the next note.
    pub fn take(&mut self, note: &[u8]) {
        if let Some((_, OrderEvent::Order(LifecycleEvent::Forgotten { order }))) = timed_event(note)
        {
            self.leaves(order);
        }
        self.state.apply_note(note);
    }

    /// Notes an order that is about to leave memory, if it is wanted.
    fn leaves(&mut self, order: Number) {
        let state = &self.state;
        let children = state.families.children(order);
        self.parents.extend(children.map(|child| (child, order)));
        for (wanted, found) in self.wanted.iter().zip(&mut self.found) {
            let is_it = match wanted {
                LeftMemory::Order(number) => *number == order,
                LeftMemory::Fill(name) => has_fill_named(state, order, name),
            };
            if let Some(mut known) = is_it.then(|| RecalledOrder::of(state, order)).flatten() {
                known.parent = known.parent.or(self.parents.get(&order).copied());
                let scales = state.scales(known.order.instrument);
                let left = state.events() + 1;
                let text = RecallCommand::text(order, left, scales, &known.row());
                found.insert(order, text);
            }
        }
    }

    /// The command `recall` for an order that is wanted; `None` when the notes do not have it.
    ///
    /// # Errors
    ///
    /// Several orders have the fill.
    pub fn command(&self, wanted: &LeftMemory) -> Result<Option<&str>, String> {
        let place = self.wanted.iter().position(|it| it == wanted);
        let Some(found) = place.and_then(|place| self.found.get(place)) else {
            return Ok(None);
        };
        let mut orders = found.keys();
        match (wanted, orders.next(), orders.next()) {
            (LeftMemory::Fill(name), Some(order), Some(other)) => Err(format!(
                "orders {order} and {other} both have a fill {name}: name it as {order}/EXECID or {other}/EXECID, with the ExecID(17) of the venue"
            )),
            _ => Ok(found.values().next().map(String::as_str)),
        }
    }
}

/// The command that takes a closed order into memory again.
#[derive(Debug)]
pub(crate) struct RecallCommand {
    pub order: Number,
    /// Number of the event by which the order has left memory.
    pub left: u64,
    /// The decimals in which the row has prices and quantities.
    pub scales: Scales,
    /// The order, in the form of a checkpoint.
    pub row: Vec<u8>,
}

impl RecallCommand {
    /// Writes the command.
    fn text(order: Number, left: u64, scales: Scales, row: &[u8]) -> String {
        let mut text = format!(
            "recall order={order} left={left} price-scale={} quantity-scale={} row=",
            scales.price, scales.quantity
        );
        for byte in row {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }

    /// Reads the command.
    pub(crate) fn parse(words: &Words<'_>) -> Result<Self, String> {
        let wrong = |key: &str| format!("{key}={} is not a number", words.get(key));
        let scale = |key: &str| words.get(key).parse().map_err(|_| wrong(key));
        let row = words.get("row");
        let row = bytes(row).ok_or("row must have two hexadecimal digits for each byte")?;
        // A field of a note has at most so many bytes.
        if row.len() > usize::from(u16::MAX) {
            return Err(format!(
                "row has {} bytes: an order in a command has at most {}",
                row.len(),
                u16::MAX
            ));
        }
        Ok(Self {
            order: words.get("order").parse().map_err(|_| wrong("order"))?,
            left: words.get("left").parse().map_err(|_| wrong("left"))?,
            scales: Scales {
                price: scale("price-scale")?,
                quantity: scale("quantity-scale")?,
            },
            row,
        })
    }

    /// Says why the order cannot be taken into memory.
    pub(crate) fn check(&self, state: &OmsState) -> Result<(), String> {
        let number = self.order;
        let other = || {
            format!(
                "order {number}: the row is not of this journal, or another build has written it"
            )
        };
        let known = RecalledOrder::read(&self.row).ok_or_else(other)?;
        let left = state.strays.recalled.get(&number);
        if left.is_some_and(|it| *it != Some(self.left)) {
            return Err(format!(
                "order {number} was in memory again after the journal was read, and has left it since: give the command again"
            ));
        }
        if state.legs(known.order.instrument).is_some() {
            return Err(format!(
                "order {number} is of a spread, and a report by hand has no legs: change the position with fixwire oms position adjust"
            ));
        }
        let has = |parent: &Number| state.families.is_parent(*parent);
        if let Some(parent) = known.parent.filter(|it| !has(it)) {
            return Err(format!(
                "order {number} is a child order, and its parent is not known: {}",
                no_order(parent)
            ));
        }
        let is_its = known.fits(state, number)
            && Rescale::between(self.scales, state.scales(known.order.instrument)).is_some();
        is_its.then_some(()).ok_or_else(other)
    }
}

/// The bytes that hexadecimal digits mean.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? * 16 + digit(*low)?).ok();
    let bytes = pairs.iter().map(byte).collect::<Option<Vec<u8>>>();
    bytes.filter(|_| rest.is_empty() && !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn a_row_is_hexadecimal_digits() {
        assert_eq!(bytes("00ff1A"), Some(alloc::vec![0, 255, 26]));
        for wrong in ["", "0", "0g", "00f"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_answer_names_what_has_left_memory() {
        let order = no_order(17);
        assert_eq!(LeftMemory::of_answer(&order), Some(LeftMemory::Order(17)));
        let within = format!("order 18 is a child order, and its parent is not known: {order}");
        assert_eq!(LeftMemory::of_answer(&within), Some(LeftMemory::Order(17)));
        let fill = crate::values::words::no_fill("OMS-9");
        let wanted = LeftMemory::Fill("OMS-9".to_string());
        assert_eq!(LeftMemory::of_answer(&fill), Some(wanted));
        let other = "order 17 has no fill 17/E9: fixwire oms history 17 lists its fills";
        assert_eq!(LeftMemory::of_answer(other), None);
    }
}
