//! Fills of orders that are not known here. The position includes each of them, and it stands among the breaks until an
//! operator decides whether it counts, or the venue cancels it.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::core::{Core, Sink};
use crate::event::OrderEvent;
use crate::fix::price;
use crate::query::text;
use crate::spreads::leg_exec;
use crate::state::OmsState;
use crate::value::{Effect, Price, Quantity, Side, Text};
use crate::venue::{Heard, VenueReport};
use crate::wire::Wire;

/// A fill of an order that is not known here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stray {
    pub line: u32,
    pub account: u32,
    pub instrument: u32,
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
pub(crate) struct Strays(BTreeMap<u64, Stray>);

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

    pub fn iter(&self) -> impl Iterator<Item = &Stray> {
        self.0.values()
    }

    pub fn get(&self, number: u64) -> Option<&Stray> {
        self.0.get(&number)
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut Stray> {
        self.0.get_mut(&number)
    }

    /// Rescales the prices of those of some instruments.
    pub fn rescale(&mut self, is_its: impl Fn(u32) -> bool, factor: i64) {
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
            stray.asked_by = by.map(|by| (by, venue));
            all.insert(number, stray).is_none().then_some(())?;
        }
        Some(Self(all))
    }
}

impl OmsState {
    /// Somebody decided whether a fill of no order counts: unless the venue is right, the position gives it back.
    pub(crate) fn stray_settled(&mut self, number: u64, venue: bool) -> Option<()> {
        let stray = self.strays.0.remove(&number)?;
        if !venue {
            let of = (stray.line, stray.account, stray.instrument);
            let side = (stray.side.is_buy(), stray.effect);
            let quantity = i128::from(stray.quantity);
            let worth = quantity.saturating_mul(stray.price.into());
            self.trade_worth(of, side, -quantity, -worth);
        }
        Some(())
    }
}

impl Core {
    /// A venue cancels a fill of an order that is not known here.
    pub(crate) fn stray_busted(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> Heard {
        let mut strays = self.state().strays.0.iter();
        let found =
            strays.find(|(_, it)| (it.line, Some(it.exec)) == (report.line, report.reference));
        let Some((&number, _)) = found else {
            return Heard::Unknown;
        };
        let event = OrderEvent::BreakSettled {
            number,
            venue: false,
            who: b"",
            why: b"Trade Cancel of the venue",
        };
        self.emit(at, &event, sink);
        Heard::Taken
    }

    /// A drop copy of the venue has a fill too.
    pub(crate) fn stray_confirmed(
        &mut self,
        at: i64,
        exec: u64,
        instrument: u32,
        sink: &mut impl Sink,
    ) {
        let execs = [exec, leg_exec(exec, instrument)];
        let mut strays = self.state().strays.0.iter();
        let found = strays.find(|(_, it)| it.instrument == instrument && execs.contains(&it.exec));
        if let Some((&number, _)) = found {
            let event = OrderEvent::BreakSettled {
                number,
                venue: true,
                who: b"",
                why: b"the drop copy of the venue has it",
            };
            self.emit(at, &event, sink);
        }
    }

    /// The lines of `oms breaks` for them.
    pub(crate) fn list_strays(&self, list: &mut String) {
        let state = self.state();
        for (number, stray) in &state.strays.0 {
            let scale = state.scale(stray.instrument);
            let side = if stray.side.is_buy() { "buy" } else { "sell" };
            let _ = write!(
                list,
                "\n{number}\tfill of an order that is not known here\t0\t{}\t{}\t{}\tin the position\t{side} {} at {}\t{}",
                text(state.sessions().name(stray.line)),
                text(state.accounts().name(stray.account)),
                text(state.instruments().name(stray.instrument)),
                stray.quantity,
                price(stray.price, scale),
                text(stray.id.bytes()),
            );
        }
    }
}
