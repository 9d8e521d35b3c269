//! Fills of orders that are not known here. The position includes each of them, and it stands among the breaks until an
//! operator decides whether it counts, or the venue cancels it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::value::{Effect, Price, Quantity, Side, Text};
use fixwire_ledger::Wire;

/// A fill of an order that is not known here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stray {
    pub line: SessionNo,
    pub account: AccountNo,
    pub instrument: InstrumentNo,
    pub side: Side,
    pub effect: Effect,
    /// Hash of ExecID(17).
    pub exec: u64,
    pub quantity: Quantity,
    pub price: Price,
    /// ClOrdID(11) at the venue.
    pub id: Text,
    /// The operator who decided it, and for the venue or not; another one must decide the same.
    pub asked_by: Option<(Text, bool)>,
}

/// Those that nobody has decided yet, by number: that of their event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strays(pub(crate) BTreeMap<u64, Stray>);

impl Strays {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn add(&mut self, number: u64, stray: Stray) {
        self.0.insert(number, stray);
    }

    pub fn iter(&self) -> impl Iterator<Item = (u64, &Stray)> {
        self.0.iter().map(|(number, stray)| (*number, stray))
    }

    pub fn get(&self, number: u64) -> Option<&Stray> {
        self.0.get(&number)
    }

    /// The number of the first of which this is true.
    pub fn find(&self, is: impl Fn(&Stray) -> bool) -> Option<u64> {
        let mut all = self.0.iter();
        all.find(|(_, stray)| is(stray)).map(|(number, _)| *number)
    }

    pub fn remove(&mut self, number: u64) -> Option<Stray> {
        self.0.remove(&number)
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut Stray> {
        self.0.get_mut(&number)
    }

    /// Rescales the prices of those of some instruments.
    pub fn rescale(&mut self, is_its: impl Fn(InstrumentNo) -> bool, factor: i64) {
        for stray in self.0.values_mut().filter(|it| is_its(it.instrument)) {
            stray.price = stray.price.saturating_mul(factor);
        }
    }

    pub fn put(&self, to: &mut Vec<u8>) {
        (self.0.len() as u32).put(to);
        for (number, stray) in &self.0 {
            number.put(to);
            stray.line.put(to);
            stray.account.put(to);
            stray.instrument.put(to);
            stray.side.put(to);
            stray.effect.put(to);
            stray.exec.put(to);
            stray.quantity.put(to);
            stray.price.put(to);
            stray.id.put(to);
            let asked = stray.asked_by.as_ref();
            asked.map(|(by, _)| by.clone()).put(to);
            asked.is_some_and(|(_, venue)| *venue).put(to);
        }
    }

    pub fn take(from: &mut &[u8]) -> Option<Self> {
        let mut all = BTreeMap::new();
        for _ in 0..u32::take(from)? {
            let number = Wire::take(from)?;
            let mut stray = Stray {
                line: Wire::take(from)?,
                account: Wire::take(from)?,
                instrument: Wire::take(from)?,
                side: Wire::take(from)?,
                effect: Wire::take(from)?,
                exec: Wire::take(from)?,
                quantity: Wire::take(from)?,
                price: Wire::take(from)?,
                id: Wire::take(from)?,
                asked_by: None,
            };
            let by: Option<Text> = Wire::take(from)?;
            let venue = bool::take(from)?;
            // Nobody decided for the venue.
            (by.is_some() || !venue).then_some(())?;
            stray.asked_by = by.map(|by| (by, venue));
            all.insert(number, stray).is_none().then_some(())?;
        }
        Some(Self(all))
    }
}
