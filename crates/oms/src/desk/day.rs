//! The tables of a trading day, made from the notes of a journal: orders, rejected requests, fills, positions, limits.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::desk::history::own_exec_id;
use crate::desk::query::side_name;
use crate::state::OmsState;
use crate::state::event::{
    BreakEvent, CopyEvent, DayEvent, LifecycleEvent, OrderEvent, ParentEvent, QuoteEvent,
    RejectedEvent, RequestEvent, SpreadEvent, StrayEvent, UndoEvent, timed_event,
};
use crate::state::orders::Order;
use crate::state::orders::rejected::{RefusedTerms, RejectedTerms};
use crate::state::orders::strays::Stray;
use crate::state::show::{reason_text, scope_name, state_name};
use crate::values::fields::carried::CarriedFields;
use crate::values::limits::RiskControl;
use crate::values::reason::Why;
use crate::values::scope::Scope;
use crate::values::show::{average, carried, figure, price, text};
use crate::values::units::half_even;
use crate::values::value::{Amount, Number, Price, Quantity, RequestKind};

mod live;
mod notes;
mod tables;

use live::Changes;
pub use notes::{DayNotes, DayStart, note_hash};
pub use tables::{
    ACTION_COLUMNS, DayColumn, DayColumnKind, DayRow, DayTable, DayTableRow, DayValue,
};

/// An order of the trading day.
#[derive(Clone, Debug, Default)]
struct DayOrder {
    entered: Option<i64>,
    closed: Option<i64>,
    reason: String,
    fields: String,
    /// The parent, also when the parent is no longer in memory.
    parent: Option<Number>,
    /// The finished row of the order, once the order is no longer in memory.
    row: Option<DayRow>,
}

/// Collects the rows of one trading day.
#[derive(Debug)]
pub struct DayReport {
    state: OmsState,
    /// Whether a note of the day was read.
    has_begun: bool,
    orders: BTreeMap<Number, DayOrder>,
    /// The row of the last rejected request: the next event may add the terms of the order.
    rejected: Option<DayTableRow>,
    /// The order to which an operator has just given the venue's values: the next event may be the fill that it lacked.
    settling: Option<Number>,
    /// The orders whose rows changed; `None` when the rows are read at the end only.
    changes: Option<Changes>,
}

impl DayReport {
    /// A report of one day; `state` is the state before the first note that the report gets.
    #[must_use]
    pub fn new(state: OmsState) -> Self {
        Self {
            state,
            has_begun: false,
            orders: BTreeMap::new(),
            rejected: None,
            settling: None,
            changes: None,
        }
    }

    /// Reads a note of an earlier trading day.
    pub fn pass(&mut self, note: &[u8]) {
        self.state.apply_note(note);
    }

    /// Reads a note of the trading day. Returns the rows that this note finishes; most notes finish none.
    #[must_use = "the rows belong into the tables"]
    pub fn take(&mut self, note: &[u8]) -> impl Iterator<Item = DayTableRow> + use<> {
        let [rejected, fill] = self.finished(note);
        rejected.into_iter().chain(fill)
    }

    /// The row of the rejected request before a note, and the row of the note's fill.
    fn finished(&mut self, note: &[u8]) -> [Option<DayTableRow>; 2] {
        let Some((at, event)) = timed_event(note) else {
            self.pass(note);
            return [None, None];
        };
        if !self.has_begun {
            self.has_begun = true;
            // These are the orders that continue from the day before.
            self.keep_all();
            self.note_all();
        }
        self.note_touched(&event);
        let rejected = if let OrderEvent::Rejected(RejectedEvent::RejectKept { terms, .. }) = &event
        {
            self.add_terms(terms);
            self.note_rejected();
            None
        } else {
            self.rejected.take()
        };
        if let OrderEvent::Order(LifecycleEvent::Forgotten { order }) = event {
            self.keep(order);
        }
        if let OrderEvent::Day(DayEvent::Day { .. }) = event {
            self.keep_all();
        }
        let changed = self.changed_order(&event);
        let was_open = changed.is_some_and(|order| {
            let order = self.state.orders().get(order);
            order.is_none_or(|order| order.state.is_open())
        });
        if let Some(order) = changed {
            self.keep_fields(order);
        }
        let before = self.before(&event);
        let declined = self.declined_row(at, &event);
        self.state.apply(at, &event);
        if let Some(order) = changed {
            self.note_change(at, order, &event, was_open);
        }
        let number = self.state.events();
        let of = |table| {
            move |row| DayTableRow {
                table,
                event: Some(number),
                row,
            }
        };
        if let Some(row) = declined.or_else(|| self.rejected_row(at, &event)) {
            self.rejected = Some(of(DayTable::Rejected)(row));
            self.note_rejected();
        }
        let fill = self.fill_row(at, &event, &before);
        self.settling = None;
        if let OrderEvent::Break(BreakEvent::BreakSettled {
            venue: true, order, ..
        }) = event
        {
            self.settling = order;
        }
        [rejected, fill.map(of(DayTable::Fills))]
    }

    /// The rows of orders, positions and limits at the end of the trading day, and of a last rejected request.
    #[must_use = "the rows belong into the tables"]
    pub fn finish(mut self) -> impl Iterator<Item = DayTableRow> {
        self.keep_all();
        let standing = self.standing_rows();
        let rejected = self.rejected.take().into_iter();
        let orders = self.orders.into_values().filter_map(|order| order.row);
        let orders = orders.map(DayTableRow::of(DayTable::Orders));
        rejected.chain(orders).chain(standing)
    }

    /// The rows of all positions and limits in the present state.
    fn standing_rows(&self) -> Vec<DayTableRow> {
        let positions = self.positions().into_iter();
        let positions = positions.map(DayTableRow::of(DayTable::Positions));
        let limits = self.limits().into_iter();
        let limits = limits.map(DayTableRow::of(DayTable::Limits));
        positions.chain(limits).collect()
    }

    /// Finishes the rows of all orders of the day that are in memory.
    fn keep_all(&mut self) {
        let state = &self.state;
        let orders = state.orders().iter();
        let of_day = orders.filter(|it| it.state.is_open() || self.orders.contains_key(&it.number));
        let numbers: Vec<Number> = of_day.map(|it| it.number).collect();
        for number in numbers {
            self.keep_fields(number);
            self.orders.entry(number).or_default();
            self.keep(number);
        }
    }

    /// Finishes the row of an order of the day, in the present state of the order.
    fn keep(&mut self, number: Number) {
        let Some(order) = self.state.orders().get(number) else {
            return;
        };
        let Some(known) = self.orders.get(&number) else {
            return;
        };
        let row = order_row(&self.state, order, known);
        if let Some(known) = self.orders.get_mut(&number) {
            known.row = Some(row);
        }
    }

    /// Keeps the carried fields and the parent of an order that is in memory.
    fn keep_fields(&mut self, number: Number) {
        if self.state.orders().get(number).is_some() {
            let CarriedFields { header, body, .. } = self.state.carried.of(number);
            let known = self.orders.entry(number).or_default();
            known.fields = carried(&[header, body]);
            known.parent = self.state.families.parent_of(number).or(known.parent);
        }
    }

    fn note_change(&mut self, at: i64, number: Number, event: &OrderEvent<'_>, was_open: bool) {
        let state = &self.state;
        let Some(order) = state.orders().get(number) else {
            return;
        };
        let scales = state.scales(order.instrument);
        let known = self.orders.entry(number).or_default();
        if let OrderEvent::Request(RequestEvent::Taken { .. }) = event {
            known.entered = Some(at);
        }
        known.parent = state.families.parent_of(number).or(known.parent);
        known.closed = match (order.state.is_open(), was_open) {
            (true, _) => None,
            (false, true) => Some(at),
            (false, false) => known.closed,
        };
        if let OrderEvent::Order(LifecycleEvent::Rejected {
            reason, text: b"", ..
        }) = event
        {
            known.reason = text(reason_text(state, reason, scales).bytes());
        } else if let OrderEvent::Order(
            LifecycleEvent::Rejected { text: said, .. }
            | LifecycleEvent::Ended { text: said, .. }
            | LifecycleEvent::LapseConfirmed { text: said, .. },
        ) = event
        {
            known.reason = text(said);
        }
    }

    /// The row of a client's request that the OMS had accepted and that it rejects by itself, such as a cancel that the
    /// venue did not receive. The event is not applied yet.
    fn declined_row(&self, at: i64, event: &OrderEvent<'_>) -> Option<DayRow> {
        let OrderEvent::Order(LifecycleEvent::Declined {
            request, reason, ..
        }) = event
        else {
            return None;
        };
        let state = &self.state;
        let (request, order) = state.orders().request(*request)?;
        if reason.why == Why::Venue || request.id.bytes().is_empty() {
            return None;
        }
        let scales = state.scales(order.instrument);
        let mut row = vec![
            DayValue::Time(Some(at)),
            DayValue::of(text(state.sessions().name(order.session))),
            DayValue::of(request_name(Some(request.kind))),
            DayValue::of(text(request.id.bytes())),
            DayValue::of(order.number),
        ];
        row.extend(traded(state, order));
        row.extend(match request.kind {
            RequestKind::Cancel => [DayValue::none(), DayValue::none()],
            RequestKind::Replace => [
                DayValue::of(state.shown(order.instrument, request.quantity)),
                match order.kind.has_price() {
                    true => DayValue::of(price(request.price, scales.price)),
                    false => DayValue::none(),
                },
            ],
        });
        row.push(DayValue::of(text(
            reason_text(state, reason, scales).bytes(),
        )));
        Some(row)
    }

    /// The row of a rejected request.
    fn rejected_row(&self, at: i64, event: &OrderEvent<'_>) -> Option<DayRow> {
        let state = &self.state;
        let (session, request, id, order, reason) =
            if let OrderEvent::Request(RequestEvent::Refused {
                session,
                kind,
                order,
                id,
                reason,
                ..
            }) = event
            {
                (*session, request_name(*kind), *id, *order, reason)
            } else if let OrderEvent::Request(RequestEvent::MassCancelRefused {
                session,
                id,
                reason,
                ..
            }) = event
            {
                (*session, "mass cancel", *id, None, reason)
            } else if let OrderEvent::Quote(QuoteEvent::QuoteRefused {
                session,
                kind,
                id,
                reason,
            }) = event
            {
                let request = match kind {
                    b'S' => "quote",
                    b'Z' => "quote cancel",
                    _ => "price inquiry",
                };
                (*session, request, *id, None, reason)
            } else {
                return None;
            };
        let mut terms = RefusedTerms::default();
        if let OrderEvent::Request(RequestEvent::Refused { terms: given, .. }) = event {
            terms = *given;
        }
        let known = order.and_then(|order| state.orders().get(order));
        let instrument = known.map(|known| known.instrument).or(terms.instrument);
        let scales = instrument.map(|it| state.scales(it));
        let scales = scales.unwrap_or_default();
        let of = |value: Option<String>| value.map_or_else(DayValue::none, DayValue::of);
        let mut row = vec![
            DayValue::Time(Some(at)),
            DayValue::of(text(state.sessions().name(session))),
            DayValue::of(request),
            DayValue::of(text(id)),
            order.map_or_else(DayValue::none, DayValue::of),
        ];
        row.extend(match known {
            Some(known) => traded(state, known),
            None => [
                of(terms.account.map(|it| text(state.accounts().name(it)))),
                of(instrument.map(|it| text(state.instruments().name(it)))),
                terms
                    .side
                    .map_or_else(DayValue::none, |it| DayValue::of(side_name(it))),
            ],
        });
        let quantity = instrument.zip(terms.quantity);
        row.extend([
            of(quantity.map(|(it, quantity)| state.shown(it, quantity).to_string())),
            of(terms.price.map(|it| price(it, scales.price).to_string())),
            DayValue::of(text(reason_text(state, reason, scales).bytes())),
        ]);
        Some(row)
    }

    /// Adds the terms of a rejected order to its row.
    fn add_terms(&mut self, terms: &RejectedTerms) {
        let state = &self.state;
        let Some(DayTableRow { row, .. }) = &mut self.rejected else {
            return;
        };
        let scale = state.scale(terms.instrument);
        row[5] = DayValue::of(text(state.accounts().name(terms.account)));
        row[6] = DayValue::of(text(state.instruments().name(terms.instrument)));
        row[7] = DayValue::of(side_name(terms.side));
        row[8] = DayValue::of(state.shown(terms.instrument, terms.quantity));
        if terms.kind.has_price() {
            row[9] = DayValue::of(price(terms.price, scale));
        }
    }

    /// The order whose row an event changes, if it may be closed.
    fn changed_order(&self, event: &OrderEvent<'_>) -> Option<Number> {
        match *event {
            OrderEvent::Request(RequestEvent::Taken { order, .. })
            | OrderEvent::Order(
                LifecycleEvent::Rejected { order, .. }
                | LifecycleEvent::Filled { order, .. }
                | LifecycleEvent::Ended { order, .. }
                | LifecycleEvent::DoneForDay { order, .. }
                | LifecycleEvent::Renewed { order, .. }
                | LifecycleEvent::TermsSet { order, .. }
                | LifecycleEvent::Lapsed { order }
                | LifecycleEvent::LapseConfirmed { order, .. },
            )
            | OrderEvent::Parent(ParentEvent::ParentFilled { order, .. })
            | OrderEvent::Copy(
                CopyEvent::External { order, .. } | CopyEvent::Restated { order, .. },
            )
            | OrderEvent::Spread(
                SpreadEvent::LegFilled { order, .. } | SpreadEvent::LegUndone { order, .. },
            )
            | OrderEvent::Break(
                BreakEvent::TermsSettled { order, .. }
                | BreakEvent::TermsRestated { order, .. }
                | BreakEvent::FillsSettled { order, .. },
            )
            | OrderEvent::Undo(
                UndoEvent::Busted { order, .. }
                | UndoEvent::Corrected { order, .. }
                | UndoEvent::ParentCorrected { order, .. },
            ) => Some(order),
            OrderEvent::Order(LifecycleEvent::Replaced { request, .. }) => {
                let found = self.state.orders().request(request);
                found.map(|(_, order)| order.number)
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
            | OrderEvent::Break(_) => None,
        }
    }

    /// The values that an event is about to change.
    fn before(&self, event: &OrderEvent<'_>) -> Before {
        let orders = self.state.orders();
        if let OrderEvent::Break(BreakEvent::BreakSettled {
            number,
            venue: false,
            ..
        }) = *event
            && let Some(stray) = self.state.strays.get(number)
        {
            return Before::Stray(number, stray.clone());
        }
        if let OrderEvent::Break(BreakEvent::FillsSettled { order, .. }) = *event
            && let Some(order) = orders.get(order)
        {
            return Before::Filled(order.filled, order.paid);
        }
        let (OrderEvent::Undo(
            UndoEvent::Busted { order, exec, .. } | UndoEvent::Corrected { order, exec, .. },
        )
        | OrderEvent::Spread(SpreadEvent::LegUndone { order, exec, .. })) = *event
        else {
            return Before::Nothing;
        };
        match orders.fill(order, exec) {
            Some(fill) => Before::Fill(self.exec_id(order, exec, fill.report)),
            None => Before::Nothing,
        }
    }

    /// The fill of an event; `None` if the event is not a fill. Fills of children also count for their parents, but the
    /// parents get no rows for them.
    fn fill(&self, event: &OrderEvent<'_>, before: &Before) -> Option<DayFill> {
        match event {
            OrderEvent::Order(event) => {
                let LifecycleEvent::Filled {
                    order,
                    exec,
                    quantity,
                    price,
                    at,
                } = *event
                else {
                    return None;
                };
                let kind = match self.settling == Some(order) {
                    true => "settled",
                    false => "fill",
                };
                Some(
                    DayFill::new(kind, order, quantity, price)
                        .at(at)
                        .with_exec(exec),
                )
            }
            OrderEvent::Undo(event) => match *event {
                UndoEvent::Busted {
                    order,
                    by,
                    quantity,
                    price,
                    at,
                    text,
                    ..
                } => Some(
                    DayFill::new("bust", order, quantity, price)
                        .with_exec(by)
                        .at(at)
                        .says(text),
                ),
                UndoEvent::Corrected {
                    order,
                    by,
                    quantity,
                    price,
                    at,
                    text,
                    ..
                } => Some(
                    DayFill::new("correction", order, quantity, price)
                        .with_exec(by)
                        .at(at)
                        .says(text),
                ),
                UndoEvent::ParentCorrected { .. } => None,
            },
            OrderEvent::Spread(event) => match *event {
                SpreadEvent::LegFilled {
                    order,
                    leg,
                    quantity,
                    price,
                    at,
                    ..
                } => Some(
                    DayFill::new("leg fill", order, quantity, price)
                        .at(at)
                        .of_leg(leg),
                ),
                SpreadEvent::LegUndone {
                    order,
                    leg,
                    was_quantity,
                    was_price,
                    quantity,
                    price,
                    at,
                    text,
                    ..
                } => {
                    let fill = match quantity {
                        0 => DayFill::new("leg bust", order, was_quantity, was_price),
                        _ => DayFill::new("leg correction", order, quantity, price),
                    };
                    Some(fill.at(at).says(text).of_leg(leg))
                }
                SpreadEvent::SpreadLegs { .. } | SpreadEvent::LegsMissing { .. } => None,
            },
            OrderEvent::Break(event) => {
                let (BreakEvent::FillsSettled { order, .. }, Before::Filled(was, paid)) =
                    (event, before)
                else {
                    return None;
                };
                let now = self.state.orders().get(*order)?;
                let fewer = was.saturating_sub(now.filled);
                let more = now.filled.saturating_sub(*was);
                let worth = now.paid.saturating_sub(*paid).saturating_abs();
                let each = i128::from(more.max(fewer).max(1));
                let price = i64::try_from(half_even(worth, each)).unwrap_or_default();
                let kind = if fewer > 0 { "settled away" } else { "settled" };
                Some(DayFill::new(kind, *order, more.max(fewer), price))
            }
            OrderEvent::Setup(_)
            | OrderEvent::Day(_)
            | OrderEvent::Line(_)
            | OrderEvent::Limit(_)
            | OrderEvent::Reload(_)
            | OrderEvent::Pool(_)
            | OrderEvent::Request(_)
            | OrderEvent::Remade(_)
            | OrderEvent::Stray(_)
            | OrderEvent::Condition(_)
            | OrderEvent::Parent(_)
            | OrderEvent::Quote(_)
            | OrderEvent::Inquiry(_)
            | OrderEvent::Rejected(_)
            | OrderEvent::Copy(_) => None,
        }
    }

    fn fill_row(&self, at: i64, event: &OrderEvent<'_>, before: &Before) -> Option<DayRow> {
        let state = &self.state;
        if let OrderEvent::Stray(StrayEvent::StrayFill { .. }) = event {
            let stray = state.strays.get(state.events())?;
            return Some(self.stray_row(at, "fill of an unknown order", None, stray));
        }
        if let Before::Stray(number, stray) = before {
            return Some(self.stray_row(at, "settled away", Some(*number), stray));
        }
        let fill = self.fill(event, before)?;
        let order = state.orders().get(fill.order)?;
        let leg = fill.leg.and_then(|leg| {
            let legs = state.spreads.legs(order.instrument)?;
            legs.get(usize::from(leg)).copied()
        });
        let [account, mut symbol, mut side] = traded(state, order);
        let mut instrument = order.instrument;
        if let Some(leg) = leg {
            instrument = leg.instrument;
            symbol = DayValue::of(text(state.instruments().name(instrument)));
            let buys = leg.side.is_buy() == order.side.is_buy();
            side = DayValue::of(if buys { "buy" } else { "sell" });
        }
        let reference = match before {
            Before::Fill(report) => DayValue::of(report),
            Before::Nothing | Before::Filled(..) | Before::Stray(..) => DayValue::none(),
        };
        let line = order.line().map(|line| state.sessions().name(line));
        Some(vec![
            DayValue::Time(Some(at)),
            DayValue::of(self.exec_id(fill.order, fill.exec, state.events())),
            DayValue::of(fill.kind),
            reference,
            DayValue::of(fill.order),
            DayValue::of(text(state.sessions().name(order.session))),
            DayValue::of(text(order.id.bytes())),
            account,
            symbol,
            side,
            DayValue::of(state.shown(instrument, fill.quantity)),
            DayValue::of(price(fill.price, state.scale(instrument))),
            DayValue::of(line.map(text).unwrap_or_default()),
            DayValue::Time(Some(fill.at).filter(|at| *at != 0)),
            DayValue::Text(fill.text),
        ])
    }

    fn stray_row(&self, at: i64, kind: &str, reference: Option<u64>, stray: &Stray) -> DayRow {
        let state = &self.state;
        let scale = state.scale(stray.instrument);
        vec![
            DayValue::Time(Some(at)),
            DayValue::of(state.events()),
            DayValue::of(kind),
            reference.map_or_else(DayValue::none, DayValue::of),
            DayValue::none(),
            DayValue::none(),
            DayValue::of(text(stray.id.bytes())),
            DayValue::of(text(state.accounts().name(stray.account))),
            DayValue::of(text(state.instruments().name(stray.instrument))),
            DayValue::of(side_name(stray.side)),
            DayValue::of(state.shown(stray.instrument, stray.quantity)),
            DayValue::of(price(stray.price, scale)),
            DayValue::of(text(state.sessions().name(stray.line))),
            DayValue::Time(None),
            DayValue::none(),
        ]
    }

    /// ExecID(17) in the client's report of an event: the venue's ExecID or the OMS's.
    fn exec_id(&self, order: Number, exec: u64, event: u64) -> String {
        let ids = &self.state.exec_ids;
        match ids.of(order, exec) {
            Some((_, id)) => text(id),
            None => own_exec_id(ids, event),
        }
    }

    fn positions(&self) -> Vec<DayRow> {
        let state = &self.state;
        let rows = state.positions().map(|(account, instrument, position)| {
            vec![
                DayValue::of(text(state.accounts().name(account))),
                DayValue::of(text(state.instruments().name(instrument))),
                DayValue::of(state.shown(instrument, position.long)),
                DayValue::of(state.shown(instrument, position.short)),
                DayValue::of(state.shown(instrument, position.bought)),
                DayValue::of(state.shown(instrument, position.sold)),
            ]
        });
        rows.collect()
    }

    fn limits(&self) -> Vec<DayRow> {
        let state = &self.state;
        let mut rows = Vec::new();
        for scope in state.limited_scopes() {
            let Some(standing) = state.standing(scope) else {
                continue;
            };
            let tally = &standing.tally;
            let today = standing.flow.as_ref().map(|flow| &flow.day);
            let holding = match scope {
                Scope::Holding(account, instrument) => {
                    Some((instrument, state.position(account, instrument)))
                }
                Scope::Firm | Scope::Session(_) | Scope::Account(_) | Scope::Instrument(_) => None,
            };
            for control in RiskControl::ALL {
                let Some(limit) = standing.limits.get(*control) else {
                    continue;
                };
                let used = match control {
                    RiskControl::OpenOrders => Some(tally.orders.into()),
                    RiskControl::Credit => Some(tally.reserved.saturating_add(tally.traded)),
                    RiskControl::Long => holding.map(|(instrument, it)| {
                        state.in_limits(instrument, it.long.saturating_add(tally.buying))
                    }),
                    RiskControl::Short => holding.map(|(instrument, it)| {
                        state.in_limits(instrument, it.short.saturating_add(tally.selling))
                    }),
                    RiskControl::ValueDay => today.map(|it| it.value),
                    RiskControl::QuantityDay => today.map(|it| it.quantity),
                    RiskControl::Unanswered => Some(tally.unanswered.into()),
                    RiskControl::Loss => Some((-tally.gained).max(0)),
                    RiskControl::OrderQuantity
                    | RiskControl::Value
                    | RiskControl::Collar
                    | RiskControl::Repeated
                    | RiskControl::ValueSecond
                    | RiskControl::ValueMinute
                    | RiskControl::QuantitySecond
                    | RiskControl::QuantityMinute
                    | RiskControl::Rate
                    | RiskControl::CancelRate
                    | RiskControl::KillRate
                    | RiskControl::Replaces
                    | RiskControl::Ratio
                    | RiskControl::Executions => None,
                };
                let digits = control.unit().digits();
                rows.push(vec![
                    DayValue::of(scope_name(state, scope)),
                    DayValue::of(control),
                    DayValue::of(figure(limit, digits)),
                    used.map_or_else(DayValue::none, |used| DayValue::of(figure(used, digits))),
                ]);
            }
        }
        rows
    }
}

/// The values that an event is about to change.
#[derive(Debug)]
enum Before {
    Nothing,
    /// ExecID(17) of a fill that is cancelled or corrected, as in the client's report.
    Fill(String),
    /// A fill of an unknown order, and the number of its event.
    Stray(u64, Stray),
    /// CumQty(14) of an order, and the amount paid for it.
    Filled(Quantity, Amount),
}

/// A fill, bust or correction.
#[derive(Debug)]
struct DayFill {
    kind: &'static str,
    order: Number,
    /// The hash of the venue's ExecID(17); 0 without one.
    exec: u64,
    leg: Option<u8>,
    quantity: Quantity,
    price: Price,
    /// TransactTime(60), in nanoseconds since 1970; 0 when the venue sent none.
    at: i64,
    text: String,
}

impl DayFill {
    fn new(kind: &'static str, order: Number, quantity: Quantity, price: Price) -> Self {
        Self {
            kind,
            order,
            exec: 0,
            leg: None,
            quantity,
            price,
            at: 0,
            text: String::new(),
        }
    }

    fn at(self, at: i64) -> Self {
        Self { at, ..self }
    }

    fn with_exec(self, exec: u64) -> Self {
        Self { exec, ..self }
    }

    fn of_leg(self, leg: u8) -> Self {
        Self {
            leg: Some(leg),
            ..self
        }
    }

    fn says(self, said: &[u8]) -> Self {
        Self {
            text: text(said),
            ..self
        }
    }
}

/// The name of a kind of request; `None` for a new order.
fn request_name(kind: Option<RequestKind>) -> &'static str {
    match kind {
        None => "new order",
        Some(RequestKind::Replace) => "replace",
        Some(RequestKind::Cancel) => "cancel",
    }
}

/// Account, symbol and side of an order.
fn traded(state: &OmsState, order: &Order) -> [DayValue; 3] {
    [
        DayValue::of(text(state.accounts().name(order.account))),
        DayValue::of(text(state.instruments().name(order.instrument))),
        DayValue::of(side_name(order.side)),
    ]
}

fn order_row(state: &OmsState, order: &Order, known: &DayOrder) -> DayRow {
    let scale = state.scale(order.instrument);
    let price_of = |has: bool, value: Price| match has {
        true => DayValue::of(price(value, scale)),
        false => DayValue::none(),
    };
    let line = order.line().map(|line| state.sessions().name(line));
    let parent = state.families.parent_of(order.number).or(known.parent);
    let [account, symbol, side] = traded(state, order);
    vec![
        DayValue::of(order.number),
        DayValue::of(text(state.sessions().name(order.session))),
        DayValue::of(text(order.id.bytes())),
        account,
        symbol,
        side,
        DayValue::of(char::from(order.kind.byte())),
        DayValue::of(char::from(order.tif.byte())),
        DayValue::of(state.shown(order.instrument, order.quantity)),
        price_of(order.kind.has_price(), order.price),
        price_of(order.kind.has_stop(), order.stop),
        DayValue::of(state_name(order)),
        DayValue::of(state.shown(order.instrument, order.filled)),
        DayValue::of(average(order.paid, order.filled, scale)),
        DayValue::of(line.map(text).unwrap_or_default()),
        DayValue::of(text(order.venue_id.bytes())),
        DayValue::of(text(order.pool_number.bytes())),
        parent.map_or_else(DayValue::none, DayValue::of),
        DayValue::Time(known.entered),
        DayValue::Time(known.closed.filter(|_| !order.state.is_open())),
        DayValue::of(&known.reason),
        DayValue::of(&known.fields),
    ]
}
