//! Reads the exchange's reports on orders. R02, R32 and R22 become the same reports as over FIX; R03 becomes a reject.

use core::fmt::Write as _;

use fixwire_protocol::Decimal;
use fixwire_tmp::messages::{R02, R03, R08, R12, R22, R32, R38, VenueExecution};
use fixwire_tmp::{
    TmpExecType, TmpFrame, TmpLayout, TmpPositionEffect, TmpSide, TmpStatus, TmpSymbol, TmpTime,
};
use siphasher::sip::SipHasher13;

use super::ids::resolve;
use super::orders::{LONG_SYMBOL, account_number, wire_price};
use crate::decide::core::{Core, Sink};
use crate::decide::venue::rejects::VenueReject;
use crate::decide::venue::spreads::FillOfLeg;
use crate::decide::venue::{ReportKind, ReportOutcome, VenueId, VenueReport};
use crate::fix::lines::HashedExecs;
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::state::spreads::SpreadLeg;
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::rules::RejectCode;
use crate::values::show::{Sentence, digits};
use crate::values::value::{Effect, End, Market, Number, Price, RequestKind, Side, Text};

/// Offset at which the body of a frame begins: after MsgSeqNum and the sending time.
const BODY: usize = 17;
/// Offset of the codes for TMP statuses in a venue's error table: a code is 40,000 plus the status.
pub(super) const CODES: u64 = 40_000;

/// The fields of an R02, R32 or R22 that the OMS uses.
#[derive(Clone, Copy)]
pub(super) struct Execution {
    pub(super) status: TmpStatus,
    pub(super) exec_type: TmpExecType,
    pub(super) id: ([u8; 5], u32, [u8; 8]),
    /// Symbol as text; empty for a symbol given as a number, and in R22.
    symbol: ([u8; LONG_SYMBOL], usize),
    pub(super) account: Option<u32>,
    pub(super) side: TmpSide,
    pub(super) effect: TmpPositionEffect,
    pub(super) price: i32,
    pub(super) last_price: i32,
    pub(super) last_quantity: u16,
    /// Side, price and quantity of each leg of a spread.
    legs: [(TmpSide, i32, u16); 2],
    /// Filled quantity; `None` in R22.
    filled: Option<u16>,
    pub(super) leaves: u16,
    pub(super) before: u16,
    pub(super) at: TmpTime,
}

impl Execution {
    pub(super) fn of<const SYMBOL: usize>(body: &VenueExecution<SYMBOL>) -> Self {
        let mut symbol = ([0; LONG_SYMBOL], 0);
        if let Ok(TmpSymbol::Text(text)) = TmpSymbol::read(body.symbol_type, &body.symbol) {
            symbol.0[..text.len()].copy_from_slice(text);
            symbol.1 = text.len();
        }
        Self {
            status: body.status,
            exec_type: body.exec_type,
            id: (body.order_no, body.ord_id, body.user_define),
            symbol,
            account: Some(body.account),
            side: body.side,
            effect: body.position_effect,
            price: body.price,
            last_price: body.last_px,
            last_quantity: body.last_qty,
            legs: [0, 1].map(|at| {
                let side = TmpSide(body.leg_side[at]);
                (side, body.leg_px[at], body.leg_qty[at])
            }),
            filled: Some(body.cum_qty),
            leaves: body.leaves_qty,
            before: body.before_qty,
            at: body.transact_time,
        }
    }

    /// The content of an R22. The fill of an R22 is the fill of the first leg; for a spread see
    /// [`Core::short_of_spread`].
    fn of_short(body: &R22) -> Self {
        Self {
            status: body.status,
            exec_type: body.exec_type,
            id: (body.order_no, body.ord_id, body.user_define),
            symbol: ([0; LONG_SYMBOL], 0),
            account: None,
            side: body.side,
            effect: body.position_effect,
            price: body.price,
            last_price: body.leg_px[0],
            last_quantity: body.leg_qty[0],
            legs: [0, 1].map(|at| (TmpSide(0), body.leg_px[at], body.leg_qty[at])),
            filled: None,
            leaves: body.leaves_qty,
            before: body.before_qty,
            at: body.transact_time,
        }
    }

    pub(super) fn symbol(&self) -> &[u8] {
        &self.symbol.0[..self.symbol.1]
    }

    /// CumQty(14) of the report, or of the order if the report does not give it.
    pub(super) fn filled(&self, order: Option<&Order>) -> u64 {
        let known = || order.map_or(0, |order| order.filled);
        self.filled.map_or_else(known, u64::from)
    }

    /// OrderQty(38) of the order, if the report gives it.
    fn total(&self, order: Option<&Order>) -> Option<u64> {
        let filled = self.filled(order);
        let [leaves, before, last] = [self.leaves, self.before, self.last_quantity].map(u64::from);
        match self.exec_type {
            // The quantity that the exchange deleted is part of OrderQty(38).
            TmpExecType::FILL => (filled + before).checked_sub(last),
            TmpExecType::CANCEL => Some(filled + before),
            // The order is closed, or its open quantity was deleted. The report does not give the deleted quantity.
            TmpExecType::QUERY | TmpExecType::NEW_FILL if leaves == 0 => None,
            _ => Some(filled + leaves),
        }
    }

    /// An R22 with CumQty(14), which follows from the remaining quantity and the quantity of the order.
    fn with_filled(&self, order: &Order) -> Self {
        let known = |left: u16, last: u16| {
            let filled = order.quantity.checked_sub(left.into())? + u64::from(last);
            u16::try_from(filled).ok()
        };
        let filled = match self.exec_type {
            TmpExecType::NEW => Some(0),
            TmpExecType::NEW_FILL => Some(self.last_quantity),
            TmpExecType::FILL => known(self.before, self.last_quantity),
            TmpExecType::CANCEL | TmpExecType::REDUCE => known(self.before, 0),
            // The order is closed, but the report does not say how it ended.
            TmpExecType::QUERY if self.leaves == 0 => None,
            _ => known(self.leaves, 0),
        };
        Self { filled, ..*self }
    }

    /// Price of the order; `None` if dynamic price banding may have changed it.
    fn limit(&self) -> Option<i32> {
        let is_banded = matches!(
            self.status,
            TmpStatus::BANDING_REMAINDER | TmpStatus::BANDING_LIMIT
        );
        (!is_banded).then_some(self.price)
    }

    /// The kinds of FIX reports that correspond to this report, in order.
    pub(super) fn kinds(&self, order: Option<&Order>) -> [Option<ReportKind>; 3] {
        let fill = (self.last_quantity > 0).then_some(ReportKind::Fill);
        let cancelled = ReportKind::End(End::Cancelled);
        let cut = |before: u64| {
            let left = before.saturating_sub(self.last_quantity.into());
            // The exchange has cancelled the rest if a part of the earlier quantity is neither filled nor left.
            (left > 0 && self.leaves == 0).then_some(cancelled)
        };
        match self.exec_type {
            TmpExecType::NEW => [Some(ReportKind::New), None, None],
            // The order was placed elsewhere, so only its fill is reported.
            TmpExecType::NEW_FILL if order.is_none() => [fill, None, None],
            TmpExecType::NEW_FILL => {
                let before = order.map_or(0, |order| order.quantity);
                [Some(ReportKind::New), fill, cut(before)]
            }
            TmpExecType::FILL => [fill, cut(self.before.into()), None],
            TmpExecType::CANCEL => [Some(cancelled), None, None],
            // Nothing was filled and nothing is left, so the order is cancelled.
            TmpExecType::REDUCE if self.leaves == 0 && self.filled(order) == 0 => {
                [Some(cancelled), None, None]
            }
            TmpExecType::REDUCE | TmpExecType::PRICE | TmpExecType::PRICE_HERE => {
                [Some(ReportKind::Replaced), None, None]
            }
            TmpExecType::QUERY => [Some(ReportKind::Status(self.ord_status(order))), None, None],
            _ => [None; 3],
        }
    }

    /// The OrdStatus(39) that corresponds to the answer to a query.
    fn ord_status(&self, order: Option<&Order>) -> u8 {
        let filled = self.filled(order);
        let is_all = order.is_some_and(|order| filled > 0 && filled >= order.quantity);
        match (self.leaves, filled) {
            (0, _) if is_all => b'2',
            (0, _) => b'4',
            (_, 0) => b'0',
            _ => b'1',
        }
    }
}

/// The changes that a frame of the exchange has made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TmpOutcome {
    pub heard: ReportOutcome,
    /// The order_no of the frame, for events.
    pub order_no: [u8; 5],
    /// Whether the order of a frame that is ignored is in memory.
    pub is_known: bool,
    /// Status of the frame.
    pub status: TmpStatus,
    /// The present state of the markets in the frame, and the number of markets whose state changed.
    pub market: Option<(Market, usize)>,
}

impl Core {
    /// Handles an application message of the exchange; `None` for a message that is not about orders. A message that is
    /// not about orders is only written to the journal.
    pub(crate) fn tmp_says(
        &mut self,
        at: i64,
        line: SessionNo,
        frame: &TmpFrame<'_>,
        sink: &mut impl Sink,
    ) -> Option<TmpOutcome> {
        let execution = match frame.code() {
            R02::CODE => Execution::of(&frame.body::<R02>().ok()?),
            R32::CODE => Execution::of(&frame.body::<R32>().ok()?),
            R22::CODE => Execution::of_short(&frame.body().ok()?),
            R12::CODE => return self.tmp_market(at, line, frame, sink),
            R08::CODE | R38::CODE => return self.tmp_answers(at, line, frame, sink),
            R03::CODE => {
                let reject = frame.body::<R03>().ok()?;
                let ids = (reject.order_no, reject.ord_id, reject.user_define);
                let heard = self.tmp_rejects(at, line, &reject, sink);
                return Some(TmpOutcome {
                    is_known: self.tmp_knows(heard, ids, reject.side),
                    heard,
                    order_no: reject.order_no,
                    status: reject.status,
                    market: None,
                });
            }
            _ => return None,
        };
        let heard = self.tmp_reports(at, line, &execution, frame, sink);
        Some(TmpOutcome {
            is_known: self.tmp_knows(heard, execution.id, execution.side),
            heard,
            order_no: execution.id.0,
            status: execution.status,
            market: None,
        })
    }

    /// Whether the order of an ignored frame is in memory.
    fn tmp_knows(&self, heard: ReportOutcome, ids: ([u8; 5], u32, [u8; 8]), side: TmpSide) -> bool {
        if !matches!(heard, ReportOutcome::Unknown | ReportOutcome::Unreadable) {
            return false;
        }
        let (order, _) = resolve(self.state(), ids, side);
        self.state().orders().get(order).is_some()
    }

    fn tmp_reports(
        &mut self,
        at: i64,
        line: SessionNo,
        said: &Execution,
        frame: &TmpFrame<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let of_spread = self.short_of_spread(said);
        let said = of_spread.as_ref().unwrap_or(said);
        let state = self.state();
        let (number, request) = resolve(state, said.id, said.side);
        let order = state.orders().get(number);
        let shown = order.filter(|_| said.exec_type == TmpExecType::QUERY);
        let shown = shown.and_then(|order| self.tmp_shown(said, order));
        let short = order.filter(|_| said.filled.is_none() && shown.is_none());
        let short = short.map(|order| said.with_filled(order));
        let said = short.as_ref().unwrap_or(said);
        let request = shown.unwrap_or(request);
        let instrument = match order {
            Some(order) => Some(order.instrument),
            None => state.instruments().find(said.symbol()),
        };
        let scale = instrument.and_then(|it| self.tmp_scales.get(it));
        let scale = scale.copied().unwrap_or_default();
        let price = |price: i32| Decimal::new(price.into(), scale);
        let quantity = |quantity: u64| i64::try_from(quantity).ok().map(Decimal::from_int);
        let is_reduce = said.exec_type == TmpExecType::REDUCE;
        let total = said.total(order).and_then(quantity);
        let has_price = order.is_some_and(|order| self.tmp_says_price(said, order, scale));
        let kinds = said.kinds(order);
        let hashed = HashedExecs::of_lines(state);
        let is_last = |at: usize| kinds[at + 1..].iter().all(Option::is_none);
        let (account, mut room) = (self.tmp_account(said.account), Sentence::new());
        let report = VenueReport {
            line,
            id: VenueId {
                order: number,
                request,
            },
            original: None,
            text_id: &said.id.0,
            kind: ReportKind::Other,
            venue_id: &said.id.0,
            exec: match kinds.iter().flatten().any(|kind| hashed.has(*kind)) {
                true => exec_of(frame.bytes()),
                false => 0,
            },
            last_quantity: quantity(said.last_quantity.into()),
            last_price: price(said.last_price),
            filled: said.filled.and_then(|filled| quantity(filled.into())),
            leaves: None,
            average: None,
            reference: None,
            fill_id: b"",
            quantity: total.filter(|_| said.filled.is_some() || is_reduce),
            price: said.limit().and_then(price).filter(|_| has_price),
            account: account.bytes(),
            symbol: said.symbol(),
            side: side_of(said.side, order),
            effect: match said.effect {
                TmpPositionEffect::OPEN => Some(Effect::Open),
                TmpPositionEffect::CLOSE => Some(Effect::Close),
                _ => None,
            },
            status: 0,
            at: said.at.wall_ns().cast_signed(),
            reason: None,
            text: status_text(said.status, &mut room),
        };
        let mut heard = ReportOutcome::Known;
        for (place, kind) in kinds.iter().enumerate() {
            let Some(kind) = *kind else {
                continue;
            };
            // The remaining quantity of the frame is that of the last of its reports.
            let leaves = quantity(said.leaves.into()).filter(|_| is_last(place));
            let report = VenueReport {
                kind,
                leaves,
                ..report
            };
            let next = self.hear(at, &report, sink);
            if heard == ReportOutcome::Known
                || !matches!(next, ReportOutcome::Known | ReportOutcome::Taken)
            {
                heard = next;
            }
        }
        if kinds.contains(&Some(ReportKind::Fill)) && !self.state().spreads.is_empty() {
            let report = VenueReport {
                kind: ReportKind::Fill,
                ..report
            };
            let of_legs = self.tmp_legs(at, &report, said, sink);
            if matches!(heard, ReportOutcome::Known | ReportOutcome::Unknown) {
                heard = of_legs.unwrap_or(heard);
            }
        }
        self.forget(at, sink);
        heard
    }

    /// Whether the price of a report can be compared with the price of its order. The prices cannot be compared if the
    /// order was entered while the tick size had more decimals.
    fn tmp_says_price(&self, said: &Execution, order: &Order, scale: u8) -> bool {
        let is_comparable = match said.exec_type {
            TmpExecType::REDUCE => false,
            TmpExecType::PRICE | TmpExecType::PRICE_HERE => true,
            _ => {
                let known = self.state().scale(order.instrument);
                wire_price(order.price, known, scale).is_some()
            }
        };
        is_comparable && order.sent_kind().has_price()
    }

    /// The replace in flight that the answer to a query shows as carried out. The order at the exchange then has the
    /// terms of the replace, and not the former terms.
    #[cold]
    fn tmp_shown(&self, said: &Execution, order: &Order) -> Option<Number> {
        let request = self.state().orders().request_of(order)?;
        let is_sent = matches!(request.state, OrderState::Sent | OrderState::Unknown);
        if request.kind != RequestKind::Replace || !is_sent || said.leaves == 0 {
            return None;
        }
        let scale = self.tmp_scales.get(order.instrument).copied()?;
        let known = self.state().scale(order.instrument);
        let is = |quantity: u64, price: Price| {
            let has_price = order.sent_kind().has_price();
            let is_price = wire_price(price, known, scale) == Some(said.price);
            said.total(Some(order)) == Some(quantity) && (!has_price || is_price)
        };
        let is_done = is(request.quantity, request.price) && !is(order.quantity, order.price);
        is_done.then_some(request.number)
    }

    /// The legs of a fill of a spread; `None` for an instrument that is no spread.
    #[cold]
    fn tmp_legs(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        said: &Execution,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let of_legs = self.tmp_legs_of(report, said)?;
        Some(self.legs_of_fill(at, report, &of_legs, sink))
    }

    /// The legs in the report of a spread's fill.
    pub(super) fn tmp_legs_of(
        &self,
        report: &VenueReport<'_>,
        said: &Execution,
    ) -> Option<[FillOfLeg<'static>; 2]> {
        let legs = self.spread_of(report.id.order, report.symbol)?;
        Some([0, 1].map(|place| {
            let (side, price, quantity) = said.legs[place];
            let scale = self.tmp_scales.get(legs[place].instrument);
            FillOfLeg {
                symbol: b"",
                side: side_of(side, None),
                price: Decimal::new(price.into(), scale.copied().unwrap_or_default()),
                quantity: Some(Decimal::from_int(quantity.into())),
            }
        }))
    }

    /// The legs of the spread of an order. Without an order, the legs of the spread with this symbol.
    fn spread_of(&self, order: Number, symbol: &[u8]) -> Option<[SpreadLeg; 2]> {
        let state = self.state();
        let instrument = match state.orders().get(order) {
            Some(order) => order.instrument,
            None => state.instruments().find(symbol)?,
        };
        state.spreads.legs(instrument).copied()
    }

    /// An R22 for an order of a spread, in sets. The number of sets and the price follow from the legs in the report.
    fn short_of_spread(&self, said: &Execution) -> Option<Execution> {
        if self.state().spreads.is_empty() || said.filled.is_some() {
            return None;
        }
        let (number, _) = resolve(self.state(), said.id, said.side);
        let order = self.state().orders().get(number)?;
        let legs = self.state().spreads.legs(order.instrument)?;
        let scale = |instrument: InstrumentNo| {
            let scale = self.tmp_scales.get(instrument);
            i32::from(scale.copied().unwrap_or_default())
        };
        let price = legs.iter().zip(said.legs).fold(0_i64, |sum, (leg, it)| {
            let more = scale(order.instrument) - scale(leg.instrument);
            let one = 10_i64.pow(more.unsigned_abs().min(9));
            let price = i64::from(it.1) * i64::from(leg.ratio);
            let price = if more < 0 { price / one } else { price * one };
            if leg.side.is_buy() {
                sum + price
            } else {
                sum - price
            }
        });
        Some(Execution {
            last_quantity: said.last_quantity / u16::try_from(legs[0].ratio).unwrap_or(u16::MAX),
            last_price: i32::try_from(price).unwrap_or_default(),
            ..*said
        })
    }

    /// Account(1) for an account number of the exchange. Account(1) is the digits, or the account whose name is these
    /// digits after zeros.
    pub(super) fn tmp_account(&self, number: Option<u32>) -> Text {
        let Some(number) = number else {
            return Text::EMPTY;
        };
        let text = digits(number.into());
        let accounts = self.state().accounts();
        if accounts.find(text.bytes()).is_none()
            && let Some(name) = accounts
                .iter()
                .find(|name| account_number(name) == Some(number))
        {
            return Text::new(name);
        }
        Text::new(text.bytes())
    }

    fn tmp_rejects(
        &mut self,
        at: i64,
        line: SessionNo,
        said: &R03,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        if !self.state().quotes.inquiries.is_empty()
            && let Some(heard) = self.tmp_refuses(at, line, said, sink)
        {
            return heard;
        }
        let ids = (said.order_no, said.ord_id, said.user_define);
        let (order, request) = resolve(self.state(), ids, said.side);
        let id = VenueId { order, request };
        if order == 0 {
            return ReportOutcome::Unknown;
        }
        if said.status.is_success() {
            return ReportOutcome::Known;
        }
        let mut room = Sentence::new();
        let text = status_text(said.status, &mut room);
        if !self.may_reject(line, order) {
            return self.foreign_message(at, line, order, b"R03", sink);
        }
        if said.exec_type == TmpExecType::QUERY {
            return self.tmp_state(at, line, id, said, text, sink);
        }
        let reject = VenueReject {
            code: Some(RejectCode::Tmp(CODES + u64::from(said.status.0))),
            status: 0,
            text,
        };
        self.refused(at, id, &reject, sink)
    }

    /// Handles the exchange's answer to a query that it does not have the order, or no longer has it.
    fn tmp_state(
        &mut self,
        at: i64,
        line: SessionNo,
        id: VenueId,
        said: &R03,
        text: &[u8],
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let status = match said.status {
            TmpStatus::NO_SUCH_ORDER | TmpStatus::NOT_IN_BOOK => b'8',
            TmpStatus::FILLED => b'2',
            TmpStatus::CANCELLED => b'4',
            // The exchange refused the query, which says nothing about the order.
            _ => return ReportOutcome::Known,
        };
        // A filled order has all its quantity filled, which may show that fills are missing.
        let all = self.state().orders().get(id.order);
        let all = all.filter(|_| status == b'2').map(|order| order.quantity);
        let all = all.and_then(|all| i64::try_from(all).ok());
        let report = VenueReport {
            text_id: &said.order_no,
            venue_id: &said.order_no,
            filled: all.map(Decimal::from_int),
            text,
            ..VenueReport::of(line, id, ReportKind::Status(status))
        };
        self.report(at, &report, sink)
    }
}

/// The hash that stands for ExecID(17) of a report over TMP. The hash is made from the body of the report, so a report
/// that is sent again has the same hash, even if its MsgSeqNum or the target_id of a copy differs.
pub(super) fn exec_of(frame: &[u8]) -> u64 {
    let body = frame.get(BODY..frame.len() - 1).unwrap_or_default();
    let mut room = [0; R32::SIZE];
    let Some(known) = room.get_mut(..body.len()) else {
        return SipHasher13::new().hash(body);
    };
    known.copy_from_slice(body);
    let target = match frame.len() {
        R02::SIZE => Some(105),
        R32::SIZE => Some(125),
        _ => None,
    };
    if let Some(target) = target.and_then(|at: usize| known.get_mut(at)) {
        *target = 0;
    }
    SipHasher13::new().hash(known)
}

/// Side(54) of a report. TMP has no value for a short sale, so a short sale is known from the order.
pub(super) fn side_of(side: TmpSide, order: Option<&Order>) -> Option<Side> {
    match side {
        TmpSide::BUY => Some(Side::Buy),
        TmpSide::SELL => match order.map(|order| order.side) {
            Some(side) if side.is_short() => Some(side),
            _ => Some(Side::Sell),
        },
        _ => None,
    }
}

/// The meaning of a status in words, and its code; empty for a status without a meaning.
fn status_text(status: TmpStatus, room: &mut Sentence) -> &[u8] {
    if !status.is_success() {
        let words = status.text().unwrap_or("rejected by the exchange");
        // The buffer is always long enough for the text.
        let _ = write!(room, "{words} ({})", CODES + u64::from(status.0));
    }
    room.bytes()
}
