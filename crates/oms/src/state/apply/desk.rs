//! Applies events of the desk: reruns of rejected orders, drop copies of a venue, orders placed elsewhere, positions
//! that operators set.

use alloc::vec::Vec;

use fixwire_ledger::NestedEvents;

use crate::state::apply::fill_time::{FillTime, fill_time, traded};
use crate::state::copies::{Awaited, CopiedOrder, CopyBreak, FillTerms};
use crate::state::event::{CopyEvent, OrderEvent, RejectedEvent, SetupEvent};
use crate::state::orders::carried::Fields;
use crate::state::orders::rejected::RejectedOrder;
use crate::state::orders::transition::Transition;
use crate::state::orders::{Place, Placement};
use crate::state::tally::{LoadedTotal, Tally};
use crate::state::{OmsState, pair};
use crate::values::fields::carried::CarriedFields;
use crate::values::ids::{InstrumentNo, Party};
use crate::values::units::MOST;
use crate::values::value::Text;

impl OmsState {
    pub(crate) fn apply_rejected(&mut self, event: &RejectedEvent<'_>) -> Option<()> {
        match *event {
            RejectedEvent::RejectKept {
                terms,
                id,
                header,
                body,
            } => {
                self.sessions.get(terms.session)?;
                self.accounts.get(terms.account)?;
                self.instruments.get(terms.instrument)?;
                self.rejected.add(RejectedOrder {
                    number: self.events - 1,
                    terms,
                    id: Text::new(id),
                    rerun: 0,
                    fields: Fields::of(CarriedFields {
                        header,
                        body,
                        kept: b"",
                    }),
                });
                Some(())
            }
            RejectedEvent::Rerun { order, reject, .. } => {
                self.orders.get(order)?;
                self.rejected.rerun(reject, order)
            }
        }
    }

    pub(crate) fn apply_copy(&mut self, event: &CopyEvent<'_>) -> Option<()> {
        match *event {
            CopyEvent::CopyLine { line, session } => {
                self.sessions.get(line)?;
                self.copies.set_line(line, session);
                Some(())
            }
            CopyEvent::External { order, venue_id } => self.change(order, |state, place| {
                state.step(place, Transition::Send)?;
                state.step(place, Transition::Accept)?;
                let order = state.orders.at_mut(place)?;
                order.placement = Placement::Elsewhere;
                order.venue_id = Text::new(venue_id);
                Some(())
            }),
            CopyEvent::Restated {
                order,
                quantity,
                price,
            } => self.change(order, |state, place| {
                let all = state.orders.at(place)?.filled >= quantity;
                state.step(place, Transition::Replace { all })?;
                let order = state.orders.at_mut(place)?;
                (order.quantity, order.price) = (quantity, price);
                if order.kind.has_price() {
                    // The value of an order for a spread is reserved at the prices of the legs.
                    let least = match state.spreads.legs(order.instrument) {
                        Some(_) => order.hold,
                        None => 0,
                    };
                    order.hold = price.saturating_abs().max(least);
                }
                Some(())
            }),
            CopyEvent::Copied {
                order,
                exec,
                quantity,
                price,
            } => {
                let known = self.orders.get(order);
                let new = Awaited {
                    line: known.and_then(|it| it.line()),
                    of: known.map(CopiedOrder::new),
                    since: self.time,
                    ours: None,
                    copy: Some((quantity, price)),
                };
                self.copies.hear((order, exec), new);
                Some(())
            }
            CopyEvent::LegCopied {
                order,
                leg,
                exec,
                quantity,
                price,
            } => {
                let known = self.orders.get(order)?;
                let leg = self.spreads.legs(known.instrument)?.get(usize::from(leg))?;
                let new = Awaited {
                    line: known.line(),
                    of: Some(CopiedOrder::of(known, leg.instrument)),
                    since: self.time,
                    ours: None,
                    copy: Some((quantity, price)),
                };
                self.copies.hear((order, exec), new);
                Some(())
            }
            CopyEvent::VenueMarket { state, symbols, .. } => {
                for (instrument, known) in self.instruments.iter_mut().enumerate() {
                    let byte = symbols.get(instrument / 8).copied().unwrap_or(0);
                    if byte & (1 << (instrument % 8)) != 0 {
                        known.market = state;
                    }
                }
                Some(())
            }
            CopyEvent::CopyBroken {
                kind,
                order,
                exec,
                text,
            } => {
                let key = (order, exec);
                let what = match kind {
                    kind if kind.is_of_copy_alone() => Awaited {
                        line: None,
                        of: None,
                        since: self.time,
                        ours: None,
                        copy: None,
                    },
                    _ => self.copies.settle(key)?,
                };
                let text = Text::new(text);
                let found = CopyBreak {
                    kind,
                    key,
                    what,
                    text,
                };
                self.copies.add_break(self.events, found);
                Some(())
            }
            CopyEvent::BreakClosed { number, .. } => match self.breaks.get(number) {
                Some(_) => self.break_closed(number),
                None => self.copies.close(number),
            },
        }
    }

    /// Whether an event sets a position, and the old position in the event is the position in the state.
    fn is_of_position(&self, event: &SetupEvent<'_>) -> bool {
        let SetupEvent::PositionSet {
            account,
            instrument,
            was_long,
            was_short,
            long,
            short,
            ..
        } = *event
        else {
            return false;
        };
        let is_known =
            self.accounts.get(account).is_some() && self.instruments.get(instrument).is_some();
        let known = self.position(account, instrument);
        is_known && (known.long, known.short) == (was_long, was_short) && long.max(short) <= MOST
    }

    /// Sets a position by an event PositionSet; profit and loss follow.
    pub(crate) fn set_position(&mut self, event: &SetupEvent<'_>) -> Option<()> {
        self.is_of_position(event).then_some(())?;
        let SetupEvent::PositionSet {
            account,
            instrument,
            long,
            short,
            ..
        } = *event
        else {
            return None;
        };
        let holding = self.holding_mut(account, instrument);
        let before = holding.gained();
        (holding.position.long, holding.position.short) = (long, short);
        let after = holding.gained();
        let tally = |gained| Tally {
            gained,
            ..Tally::default()
        };
        // The profit belongs to no session.
        let party = Party {
            session: None,
            account: Some(account),
            instrument: Some(instrument),
        };
        let (old, new) = (self.gain(instrument, before), self.gain(instrument, after));
        self.count(party, &tally(old), &tally(new));
        Some(())
    }

    /// Sets the positions of a file.
    pub(crate) fn load_positions(
        &mut self,
        deltas: Option<u64>,
        changes: NestedEvents<'_>,
    ) -> Option<()> {
        let changes = changes.each().map(|event| OrderEvent::of(event?));
        let changes = changes.collect::<Option<Vec<_>>>()?;
        let fits = |event: &OrderEvent<'_>| matches!(event, OrderEvent::Setup(event) if self.is_of_position(event));
        changes.iter().all(fits).then_some(())?;
        let mut done = Some(());
        for change in &changes {
            if let OrderEvent::Setup(change) = change {
                done = done.and(self.set_position(change));
            }
        }
        self.position_files.extend(deltas);
        self.positions_are_set();
        done
    }

    /// Keeps up to which moment the totals of a file have all fills.
    pub(super) fn totals_are_loaded(
        &mut self,
        file: &[u8],
        moment: i64,
        changes: NestedEvents<'_>,
    ) {
        for change in changes.each() {
            if let Some(OrderEvent::Setup(SetupEvent::PositionSet {
                account,
                instrument,
                ..
            })) = change.and_then(OrderEvent::of)
            {
                let total = LoadedTotal {
                    account,
                    instrument,
                    moment,
                    file: file.into(),
                };
                self.totals.insert(pair(account, instrument), total);
            }
        }
    }

    /// Each loaded total that has the fill of an event already: the fill was made before the moment of the total.
    pub(crate) fn totals_with(&self, event: &OrderEvent<'_>) -> impl Iterator<Item = &LoadedTotal> {
        let made = match fill_time(event, self.time) {
            Some(FillTime::At(made)) => Some(made),
            Some(FillTime::Unknown) | None => None,
        };
        let order = traded(event).and_then(|order| self.orders.get(order));
        let (account, instrument) = order.map(|it| (it.account, it.instrument)).unzip();
        let legs = instrument.and_then(|it| self.legs(it));
        let legs = legs.into_iter().flatten().map(|leg| leg.instrument);
        let places = instrument.into_iter().chain(legs);
        let totals = places.filter_map(move |it| self.totals.get(&pair(account?, it)));
        totals.filter(move |total| made.is_some_and(|made| made <= total.moment))
    }

    /// Handles that an operator set positions with the current event.
    pub(crate) fn positions_are_set(&mut self) -> Option<()> {
        self.positions_set = self.events;
        self.pending_reload = None;
        Some(())
    }

    /// Handles a fill on a line.
    ///
    /// If a drop copy session reports the fills of the line, the copy of this fill is awaited. If the order was placed
    /// elsewhere, the ExecID(17) is recorded, so that the fill counts once.
    /// `instrument` is that of the order, or the leg of its spread that is filled.
    #[cold]
    pub(crate) fn fill_heard(
        &mut self,
        place: Place,
        instrument: InstrumentNo,
        exec: u64,
        fill: FillTerms,
    ) {
        let Some(order) = self.orders.at(place) else {
            return;
        };
        let (number, line) = (order.number, order.line());
        let of = Some(CopiedOrder::of(order, instrument));
        if order.is_external() {
            self.used_execs.add(exec);
        } else if line.is_some_and(|line| self.copies.session_of(line).is_some()) {
            let new = Awaited {
                line,
                of,
                since: self.time,
                ours: Some(fill),
                copy: None,
            };
            self.copies.hear((number, exec), new);
        }
    }
}
