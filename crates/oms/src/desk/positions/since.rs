//! The changes of positions by fills after a given time, from the notes of a journal.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::Place;
use crate::state::OmsState;
use crate::state::apply::fill_time::{FillTime, fill_time, traded};
use crate::state::event::{
    BreakEvent, DayEvent, LifecycleEvent, OrderEvent, SpreadEvent, StrayEvent, timed_event,
};
use crate::values::show::figure;
use crate::values::value::{Effect, Number};

/// Long and short quantity, and the decimals of both.
#[derive(Clone, Copy, Debug, Default)]
struct Quantities {
    long: i128,
    short: i128,
    scale: u8,
}

impl Quantities {
    /// The same quantities in units with at least this number of decimals.
    fn with_scale(self, scale: u8) -> Self {
        let one = 10_i128.pow(scale.saturating_sub(self.scale).into());
        Self {
            long: self.long * one,
            short: self.short * one,
            scale: scale.max(self.scale),
        }
    }

    fn texts(self) -> [String; 2] {
        [self.long, self.short].map(|units| figure(units, self.scale))
    }
}

/// The position of an account in an instrument, with the changes by fills after the given time. Quantities are
/// decimals.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PositionSince {
    /// Account(1).
    pub account: String,
    /// Symbol(55).
    pub symbol: String,
    /// Long quantity.
    pub long: String,
    /// Short quantity.
    pub short: String,
    /// Change of the long quantity by fills after the given time.
    pub long_since: String,
    /// Change of the short quantity by fills after the given time.
    pub short_since: String,
    /// Long quantity without the fills after the given time.
    pub long_before: String,
    /// Short quantity without the fills after the given time.
    pub short_before: String,
    /// Fills that may have been made after the given time, but whose time is unknown; each as a text.
    pub doubts: Vec<String>,
    /// The order of a fill after the given time that closed more than the position and opened the rest.
    pub turned: Option<Number>,
}

/// Collects the changes of positions by fills after a given time, `moment`.
///
/// The time of a fill, bust or correction is TransactTime(60), or if that is missing the time at which it was received.
#[derive(Debug)]
pub struct PositionsSince {
    moment: i64,
    state: OmsState,
    changed: BTreeMap<Place, Quantities>,
    doubts: BTreeMap<Place, Vec<String>>,
    turned: BTreeMap<Place, Number>,
    /// When an operator last entered a report or settled a break. Fills with the same time come from that command.
    decided: Option<i64>,
    /// The time from which on the notes have all fills, if it is after `moment`.
    known_from: Option<i64>,
}

impl PositionsSince {
    /// A collection; `state` is the state before the first note; `moment` is in nanoseconds since 1970.
    #[must_use]
    pub fn new(state: OmsState, moment: i64) -> Self {
        let is_later = state.events() > 0 && state.time() > moment;
        Self {
            known_from: is_later.then(|| state.time()),
            moment,
            state,
            changed: BTreeMap::new(),
            doubts: BTreeMap::new(),
            turned: BTreeMap::new(),
            decided: None,
        }
    }

    /// Reads the next note.
    pub fn take(&mut self, note: &[u8]) {
        let Some((at, event)) = timed_event(note) else {
            return self.state.apply_note(note);
        };
        if let OrderEvent::Order(LifecycleEvent::ReportEntered { .. })
        | OrderEvent::Break(BreakEvent::BreakSettled { .. }) = event
        {
            self.decided = Some(at);
        }
        // The journal before this one was removed together with its fills.
        if let OrderEvent::Day(DayEvent::NumbersAfter { .. }) = event
            && at > self.moment
        {
            self.known_from = Some(at);
        }
        let Some(time) = fill_time(&event, at) else {
            self.state.apply(at, &event);
            return;
        };
        let time = match self.decided {
            Some(decided) if decided == at => FillTime::Unknown,
            _ => time,
        };
        let is_since = match time {
            FillTime::At(made) => made > self.moment,
            FillTime::Unknown => at > self.moment,
        };
        if !is_since {
            self.state.apply(at, &event);
            return;
        }
        let places = places(&self.state, &event);
        let before: Vec<Quantities> = places.iter().map(|place| self.position(*place)).collect();
        self.state.apply(at, &event);
        for (place, before) in places.into_iter().zip(before) {
            let now = self.position(place);
            let more = Quantities {
                long: now.long - before.long,
                short: now.short - before.short,
                scale: now.scale,
            };
            if (more.long, more.short) == (0, 0) {
                continue;
            }
            let known = self.changed.entry(place).or_default();
            *known = known.with_scale(more.scale);
            known.long += more.long;
            known.short += more.short;
            if let Some(order) = turning(&self.state, &event, place, more) {
                self.turned.insert(place, order);
            }
            if time == FillTime::Unknown {
                let what = doubt(&event);
                self.doubts.entry(place).or_default().push(what);
            }
        }
    }

    /// The time from which on the notes have all fills, in nanoseconds since 1970; `None` if it is not after `moment`.
    #[must_use]
    pub fn is_known_from(&self) -> Option<i64> {
        self.known_from
    }

    /// The number of the last event that was read.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.state.events()
    }

    /// The position of an account in a symbol; `None` if the journal does not have these names.
    #[must_use]
    pub fn of(&self, account: &str, symbol: &str) -> Option<PositionSince> {
        let account = self.state.accounts().find(account.as_bytes())?;
        let instrument = self.state.instruments().find(symbol.as_bytes())?;
        Some(self.row((account, instrument)))
    }

    /// All positions.
    pub fn rows(&self) -> impl Iterator<Item = PositionSince> {
        let positions = self.state.positions();
        positions.map(|(account, instrument, _)| self.row((account, instrument)))
    }

    fn position(&self, (account, instrument): Place) -> Quantities {
        let position = self.state.position(account, instrument);
        Quantities {
            long: position.long.into(),
            short: position.short.into(),
            scale: self.state.scales(instrument).quantity,
        }
    }

    fn row(&self, place: Place) -> PositionSince {
        let now = self.position(place);
        let since = self.changed.get(&place).copied().unwrap_or_default();
        let since = since.with_scale(now.scale);
        let before = Quantities {
            long: now.long - since.long,
            short: now.short - since.short,
            ..now
        };
        let name = |name: &[u8]| String::from_utf8_lossy(name).to_string();
        let ([long, short], [long_since, short_since]) = (now.texts(), since.texts());
        let [long_before, short_before] = before.texts();
        PositionSince {
            account: name(self.state.accounts().name(place.0)),
            symbol: name(self.state.instruments().name(place.1)),
            long,
            short,
            long_since,
            short_since,
            long_before,
            short_before,
            doubts: self.doubts.get(&place).cloned().unwrap_or_default(),
            turned: self.turned.get(&place).copied(),
        }
    }
}

/// The positions that an event about a fill may change.
fn places(state: &OmsState, event: &OrderEvent<'_>) -> Vec<Place> {
    let of_order = |number: Number| {
        let order = state.orders().get(number);
        order.map(|order| (order.account, order.instrument))
    };
    let place = if let Some(order) = traded(event) {
        of_order(order)
    } else if let OrderEvent::Break(BreakEvent::FillsSettled { order, .. }) = *event {
        of_order(order)
    } else if let OrderEvent::Stray(StrayEvent::StrayFill {
        account,
        instrument,
        ..
    }) = *event
    {
        Some((account, instrument))
    } else if let OrderEvent::Break(BreakEvent::BreakSettled { number, .. }) = *event {
        let stray = state.strays.get(number);
        stray.map(|stray| (stray.account, stray.instrument))
    } else {
        None
    };
    let Some((account, instrument)) = place else {
        return Vec::new();
    };
    match state.legs(instrument) {
        Some(legs) => legs.iter().map(|leg| (account, leg.instrument)).collect(),
        None => alloc::vec![(account, instrument)],
    }
}

/// The order of a fill, bust or correction that opened the quantity that it could not close. The effect of such an
/// order depends on the position at that time.
fn turning(
    state: &OmsState,
    event: &OrderEvent<'_>,
    (_, instrument): Place,
    more: Quantities,
) -> Option<Number> {
    let order = state.orders().get(traded(event)?)?;
    let legs = state.legs(order.instrument).into_iter().flatten();
    let mut legs = legs.filter(|leg| leg.instrument == instrument);
    let side = legs
        .next()
        .map_or(order.side, |leg| leg.side_in(order.side));
    let (this, other) = match side.is_buy() {
        true => (more.long, more.short),
        false => (more.short, more.long),
    };
    let turns = match order.effect.counted() {
        Effect::Open => other > 0,
        Effect::Close => this > 0,
        _ => this > 0 || other > 0,
    };
    turns.then_some(order.number)
}

/// A fill whose time is unknown, as a text.
fn doubt(event: &OrderEvent<'_>) -> String {
    match *event {
        OrderEvent::Order(LifecycleEvent::Filled { order, .. })
        | OrderEvent::Spread(SpreadEvent::LegFilled { order, .. }) => {
            format!("a fill of order {order} was entered by hand, or settled")
        }
        OrderEvent::Break(BreakEvent::FillsSettled { order, .. }) => {
            format!("the fills of order {order} were settled")
        }
        OrderEvent::Break(BreakEvent::BreakSettled { number, .. }) => {
            format!("break {number}, a fill of an unknown order, was settled")
        }
        OrderEvent::Stray(StrayEvent::StrayFill { id, .. }) => {
            let id = String::from_utf8_lossy(id);
            format!("the time of a fill of {id}, an unknown order, is not recorded")
        }
        OrderEvent::Setup(_)
        | OrderEvent::Day(_)
        | OrderEvent::Line(_)
        | OrderEvent::Limit(_)
        | OrderEvent::Reload(_)
        | OrderEvent::Pool(_)
        | OrderEvent::Request(_)
        | OrderEvent::Order(_)
        | OrderEvent::Remade(_)
        | OrderEvent::Stray(_)
        | OrderEvent::Condition(_)
        | OrderEvent::Parent(_)
        | OrderEvent::Quote(_)
        | OrderEvent::Inquiry(_)
        | OrderEvent::Rejected(_)
        | OrderEvent::Copy(_)
        | OrderEvent::Spread(_)
        | OrderEvent::Break(_)
        | OrderEvent::Undo(_) => "a fill".to_string(),
    }
}
