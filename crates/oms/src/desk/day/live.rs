//! The rows of the present trading day as they change, for a target that has the rows before.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{DayOrder, DayReport, DayRow, DayTable, DayTableRow, order_row};
use crate::state::OmsState;
use crate::state::event::{
    BreakEvent, ConditionEvent, CopyEvent, DayEvent, InquiryEvent, LifecycleEvent, LineEvent,
    OrderEvent, ParentEvent, PoolEvent, QuoteEvent, RejectedEvent, ReloadEvent, RemadeEvent,
    RequestEvent, SetupEvent, SpreadEvent, StrayEvent, UndoEvent,
};
use crate::values::fields::carried::CarriedFields;
use crate::values::show::carried;
use crate::values::value::Number;

/// The orders whose rows changed since they were last read.
#[derive(Debug, Default)]
pub(super) struct Changes {
    orders: BTreeSet<Number>,
    all: bool,
    /// The row of the last rejected request changed.
    rejected: bool,
}

/// The orders whose rows an event may change.
enum Touched {
    Nothing,
    One(Number),
    Two(Number, Number),
    All,
}

impl DayReport {
    /// As [`DayReport::new`], for rows that are read while the day goes on, with [`DayReport::changed`].
    #[must_use]
    pub fn live(state: OmsState) -> Self {
        let changes = Some(Changes::default());
        Self {
            changes,
            ..Self::new(state)
        }
    }

    /// The state after the last note.
    #[must_use]
    pub fn state(&self) -> &OmsState {
        &self.state
    }

    /// Number of orders that changed since [`DayReport::changed`], without those of an event that changes all orders.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.changes.as_ref().map_or(0, |it| it.orders.len())
    }

    /// The rows of orders that changed since the last call, and the row of a last rejected request, to which the next
    /// note may add values, if it changed too.
    #[must_use = "the rows belong into the tables"]
    pub fn changed(&mut self) -> Vec<DayTableRow> {
        let changes = self.changes.as_mut().map(core::mem::take);
        let Changes {
            orders,
            all,
            rejected,
        } = changes.unwrap_or_default();
        let numbers = match all {
            false => orders,
            true => {
                let open = self.state.orders().iter().filter(|it| it.state.is_open());
                let open = open.map(|it| it.number);
                open.chain(self.orders.keys().copied()).collect()
            }
        };
        let rows = numbers.into_iter().filter_map(|it| self.present_row(it));
        let rows = rows
            .map(DayTableRow::of(DayTable::Orders))
            .collect::<Vec<_>>();
        let rejected = self.rejected.clone().filter(|_| rejected);
        rows.into_iter().chain(rejected).collect()
    }

    /// The last rows of the trading day; the next note is the first one of another day.
    #[must_use = "the rows belong into the tables"]
    pub fn end_day(&mut self) -> Vec<DayTableRow> {
        self.note_all();
        let mut rows = self.changed();
        rows.extend(self.standing_rows());
        self.rejected = None;
        self.has_begun = false;
        self.orders = BTreeMap::new();
        rows
    }

    /// The row of an order of the day as a report that ended now would have it. An order that is no longer in memory is
    /// removed from the report: its row does not change again.
    fn present_row(&mut self, number: Number) -> Option<DayRow> {
        let Some(order) = self.state.orders().get(number) else {
            return self.orders.remove(&number)?.row;
        };
        let known = self.orders.get(&number);
        if known.is_none() && !order.state.is_open() {
            return None;
        }
        let CarriedFields { header, body, .. } = self.state.carried.of(number);
        let known = DayOrder {
            fields: carried(&[header, body]),
            ..known.cloned().unwrap_or_default()
        };
        Some(order_row(&self.state, order, &known))
    }

    /// All rows may have changed.
    pub(super) fn note_all(&mut self) {
        if let Some(changes) = &mut self.changes {
            changes.all = true;
        }
    }

    /// The row of the last rejected request changed.
    pub(super) fn note_rejected(&mut self) {
        if let Some(changes) = &mut self.changes {
            changes.rejected = true;
        }
    }

    /// Notes the orders whose rows an event changes, before it is applied.
    pub(super) fn note_touched(&mut self, event: &OrderEvent<'_>) {
        let Some(changes) = &mut self.changes else {
            return;
        };
        match touched(&self.state, event) {
            Touched::Nothing => {}
            Touched::One(order) => {
                changes.orders.insert(order);
            }
            Touched::Two(order, other) => changes.orders.extend([order, other]),
            Touched::All => changes.all = true,
        }
    }
}

/// The order with this number, or that of the request with this number.
fn order_of(state: &OmsState, number: Number) -> Touched {
    let request = state.orders().request(number);
    Touched::One(request.map_or(number, |(_, order)| order.number))
}

/// The orders whose rows an event changes.
fn touched(state: &OmsState, event: &OrderEvent<'_>) -> Touched {
    match event {
        OrderEvent::Setup(event) => touched_by_setup(event),
        OrderEvent::Day(
            DayEvent::Day { .. }
            | DayEvent::DayBack { .. }
            | DayEvent::DayAsked { .. }
            | DayEvent::NumbersAfter { .. },
        )
        | OrderEvent::Line(LineEvent::LineDown { .. })
        | OrderEvent::Reload(ReloadEvent::Reloaded { .. }) => Touched::All,
        OrderEvent::Request(event) => touched_by_request(state, event),
        OrderEvent::Order(event) => touched_by_lifecycle(state, event),
        OrderEvent::Parent(
            ParentEvent::ChildOf { order, parent }
            | ParentEvent::ParentFilled {
                order,
                child: parent,
                ..
            },
        )
        | OrderEvent::Undo(UndoEvent::ParentCorrected {
            order,
            child: parent,
            ..
        }) => Touched::Two(*order, *parent),
        OrderEvent::Quote(
            QuoteEvent::Quoted { order, .. } | QuoteEvent::QuoteSent { order, .. },
        ) => Touched::Two(*order, order.saturating_add(1)),
        OrderEvent::Pool(PoolEvent::Numbered { order, .. }) => order_of(state, *order),
        OrderEvent::Remade(
            RemadeEvent::CancelHeld { order, .. }
            | RemadeEvent::ReplacedAsNew { order, .. }
            | RemadeEvent::CancelDropped { order },
        )
        | OrderEvent::Stray(
            StrayEvent::StrayCancelled { order, .. } | StrayEvent::Recalled { order, .. },
        )
        | OrderEvent::Condition(
            ConditionEvent::Held { order, .. } | ConditionEvent::Triggered { order },
        )
        | OrderEvent::Parent(ParentEvent::ParentAccepted { order })
        | OrderEvent::Rejected(RejectedEvent::Rerun { order, .. })
        | OrderEvent::Copy(
            CopyEvent::Copied { order, .. }
            | CopyEvent::LegCopied { order, .. }
            | CopyEvent::CopyBroken { order, .. }
            | CopyEvent::External { order, .. }
            | CopyEvent::Restated { order, .. },
        )
        | OrderEvent::Spread(
            SpreadEvent::LegFilled { order, .. }
            | SpreadEvent::LegUndone { order, .. }
            | SpreadEvent::LegsMissing { order },
        )
        | OrderEvent::Break(
            BreakEvent::VenueBroken { order, .. }
            | BreakEvent::TermsSettled { order, .. }
            | BreakEvent::TermsRestated { order, .. }
            | BreakEvent::FillsSettled { order, .. },
        )
        | OrderEvent::Undo(UndoEvent::Busted { order, .. } | UndoEvent::Corrected { order, .. }) => {
            Touched::One(*order)
        }
        OrderEvent::Line(
            LineEvent::LineUp { .. }
            | LineEvent::LinkNumbers { .. }
            | LineEvent::MassAsked { .. }
            | LineEvent::MassAnswered { .. },
        )
        | OrderEvent::Limit(_)
        | OrderEvent::Reload(ReloadEvent::ReloadAsked { .. })
        | OrderEvent::Pool(PoolEvent::Pool { .. } | PoolEvent::NumbersLow { .. })
        | OrderEvent::Stray(StrayEvent::StrayFill { .. } | StrayEvent::StrayUndo { .. })
        | OrderEvent::Condition(ConditionEvent::Touched { .. })
        | OrderEvent::Quote(QuoteEvent::QuoteRefused { .. } | QuoteEvent::QuotesWithdrawn { .. })
        | OrderEvent::Inquiry(
            InquiryEvent::Inquired { .. } | InquiryEvent::InquiryAnswered { .. },
        )
        | OrderEvent::Rejected(RejectedEvent::RejectKept { .. })
        | OrderEvent::Copy(
            CopyEvent::CopyLine { .. }
            | CopyEvent::BreakClosed { .. }
            | CopyEvent::VenueMarket { .. },
        )
        | OrderEvent::Spread(SpreadEvent::SpreadLegs { .. })
        | OrderEvent::Break(
            BreakEvent::BreakAlarmed { .. }
            | BreakEvent::SettleAsked { .. }
            | BreakEvent::BreakSettled { .. },
        ) => Touched::Nothing,
    }
}

fn touched_by_setup(event: &SetupEvent<'_>) -> Touched {
    match event {
        // Other decimals.
        SetupEvent::Instrument { .. } => Touched::All,
        SetupEvent::Session { .. }
        | SetupEvent::Account { .. }
        | SetupEvent::Build { .. }
        | SetupEvent::Position { .. }
        | SetupEvent::PositionSet { .. }
        | SetupEvent::PositionsLoaded { .. }
        | SetupEvent::Client { .. }
        | SetupEvent::Market { .. }
        | SetupEvent::ExecIds { .. }
        | SetupEvent::VenueSymbol { .. }
        | SetupEvent::VenueAccount { .. } => Touched::Nothing,
    }
}

fn touched_by_request(state: &OmsState, event: &RequestEvent<'_>) -> Touched {
    match *event {
        RequestEvent::Taken { order, .. }
        | RequestEvent::ReplaceTaken { order, .. }
        | RequestEvent::CancelTaken { order, .. }
        | RequestEvent::Located { order, .. }
        | RequestEvent::Routed { order, .. } => Touched::One(order),
        RequestEvent::Sent { number, .. }
        | RequestEvent::Queued { number }
        | RequestEvent::Fields { number, .. }
        | RequestEvent::Marked { number, .. }
        | RequestEvent::ValidUntil { number, .. } => order_of(state, number),
        RequestEvent::Refused { .. }
        | RequestEvent::MassCancelTaken { .. }
        | RequestEvent::MassCancelRefused { .. }
        | RequestEvent::Marks { .. } => Touched::Nothing,
    }
}

fn touched_by_lifecycle(state: &OmsState, event: &LifecycleEvent<'_>) -> Touched {
    match *event {
        LifecycleEvent::Accepted { order, .. }
        | LifecycleEvent::Rejected { order, .. }
        | LifecycleEvent::Filled { order, .. }
        | LifecycleEvent::Ended { order, .. }
        | LifecycleEvent::Pended { order, .. }
        | LifecycleEvent::Retried { order, .. }
        | LifecycleEvent::Asked { order, .. }
        | LifecycleEvent::Forgotten { order }
        | LifecycleEvent::DoneForDay { order, .. }
        | LifecycleEvent::Renewed { order, .. }
        | LifecycleEvent::TermsSet { order, .. }
        | LifecycleEvent::ReportEntered { order, .. }
        | LifecycleEvent::Lapsed { order }
        | LifecycleEvent::LapseConfirmed { order, .. }
        | LifecycleEvent::LapseCancelled { order, .. }
        | LifecycleEvent::NotAtVenue { order }
        | LifecycleEvent::ForeignReport { order, .. }
        | LifecycleEvent::VenueIdSet { order, .. }
        | LifecycleEvent::ExecIdPassed { order, .. } => Touched::One(order),
        LifecycleEvent::Replaced { request, .. }
        | LifecycleEvent::Declined { request, .. }
        | LifecycleEvent::Unanswered { request }
        | LifecycleEvent::NoAnswer { request } => order_of(state, request),
    }
}
