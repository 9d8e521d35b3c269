//! Requests of clients that the OMS refuses because a field would not reach the venue.

use fixwire_protocol::{Tag, tag};

use crate::decide::core::{Change, Core, NewOrder, Sink};
use crate::decide::mass::MassCancel;
use crate::decide::quotes::NewQuote;
use crate::state::OmsState;
use crate::state::event::{OrderEvent, QuoteEvent, RequestEvent};
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::values::day::compact;
use crate::values::fields::{LostBecause, LostField};
use crate::values::ids::SessionNo;
use crate::values::reason::{Reason, Why};
use crate::values::units::scaled;

impl Reason {
    /// The reason for a lost field: it would not reach the venue, it makes the carried fields too long, it is a displayed
    /// quantity above that of the order, its value does not fit TMP, or it has a reason of its own.
    pub(crate) fn of_field(LostField { tag, why }: LostField) -> Self {
        let (why, limit) = match why {
            LostBecause::NotSent => (Why::NotCarried, 0),
            LostBecause::TooLong(limit) => (Why::NotCarried, limit as i128),
            LostBecause::AboveQuantity => (Why::Displayed, 0),
            LostBecause::NotOverTmp(field) => (Why::TmpField, field.number().into()),
            LostBecause::Rejected(reason) => return reason,
        };
        Self {
            value: tag.into(),
            limit,
            ..Self::of(why)
        }
    }

    /// The reason for a field that would not reach the venue.
    pub(crate) fn not_carried(tag: Tag) -> Self {
        Self::of_field(tag.into())
    }
}

impl NewOrder<'_> {
    /// The tag of a price that an order of this type cannot have; `None` when the type may have each of the order's
    /// prices.
    #[inline]
    pub(crate) fn odd_price(&self) -> Option<Tag> {
        let kind = self.kind?;
        match (self.price, self.stop) {
            (Some(_), _) if !kind.has_price() => Some(tag::PRICE),
            (_, Some(_)) if !kind.has_stop() => Some(tag::STOP_PX),
            _ => None,
        }
    }
}

impl Change<'_> {
    /// The tag of the first value that differs from the order's, although no request can change it.
    ///
    /// # Errors
    ///
    /// StopPx(99) has more decimals than the instrument, or is out of range.
    pub(crate) fn differs(&self, state: &OmsState, order: &Order) -> Result<Option<Tag>, Reason> {
        let symbol = state.instruments().name(order.instrument);
        let account = state.accounts().name(order.account);
        let others = &self.others;
        let scale = state.scale(order.instrument);
        let is_other = |value: &[u8], own: &[u8]| !value.is_empty() && value != own;
        let differs = [
            (tag::SYMBOL, is_other(self.symbol, symbol)),
            (tag::SIDE, self.side.is_some_and(|it| it != order.side)),
            (tag::ACCOUNT, is_other(others.account, account)),
            (
                tag::ORD_TYPE,
                others.kind.is_some_and(|it| it != order.kind.byte()),
            ),
            (
                tag::TIME_IN_FORCE,
                others.tif.is_some_and(|it| it != order.tif.byte()),
            ),
            (
                tag::EXPIRE_DATE,
                !others.until.is_empty() && compact(others.until) != order.until,
            ),
            (
                tag::POSITION_EFFECT,
                is_other(others.effect, order.effect.field().as_slice()),
            ),
        ];
        if let Some((tag, _)) = differs.into_iter().find(|(_, differs)| *differs) {
            return Ok(Some(tag));
        }
        let stop = others.stop.map(|stop| scaled(stop, scale)).transpose()?;
        Ok(stop
            .filter(|stop| *stop != order.stop)
            .map(|_| tag::STOP_PX))
    }

    /// Checks that a replace has no field that its order cannot have.
    pub(crate) fn check_values(&self, order: &Order) -> Result<(), Reason> {
        if self.price.is_some() && !order.kind.has_price() {
            return Err(Reason::not_carried(tag::PRICE));
        }
        if self.others.stop.is_some() && !order.kind.has_stop() {
            return Err(Reason::not_carried(tag::STOP_PX));
        }
        let is_parent = order.state == OrderState::Parent;
        let handling = self.others.handling;
        let is_fit = match handling {
            None => true,
            Some(b'1' | b'2') => !is_parent,
            Some(handling) => handling == b'3' && is_parent,
        };
        if is_fit {
            Ok(())
        } else {
            Err(Reason::not_carried(tag::HANDL_INST))
        }
    }
}

impl Core {
    /// Refuses a new order.
    fn refuse_new(&mut self, at: i64, new: &NewOrder<'_>, reason: Reason, sink: &mut impl Sink) {
        self.refuse_with(at, new, None, reason, sink);
    }

    /// Refuses a new order with a field that would not reach the venue.
    #[cold]
    pub(crate) fn refuse_field(
        &mut self,
        at: i64,
        new: &NewOrder<'_>,
        lost: LostField,
        sink: &mut impl Sink,
    ) {
        let reason = self.of_field((new.session, new.id), lost);
        self.refuse_new(at, new, reason, sink);
    }

    /// Refuses a replace or cancel with a field that would not reach the venue.
    #[cold]
    pub(crate) fn refuse_field_of_change(
        &mut self,
        at: i64,
        change: &Change<'_>,
        lost: LostField,
        sink: &mut impl Sink,
    ) {
        let order = self.named(change);
        let order = order.map(|order| order.number);
        let reason = self.of_field((change.session, change.id), lost);
        self.refuse_change_of(at, change, order, reason, sink);
    }

    /// Refuses a mass cancel with a field that the OMS would ignore.
    #[cold]
    pub(crate) fn refuse_field_of_mass_cancel(
        &mut self,
        at: i64,
        cancel: &MassCancel<'_>,
        tag: Tag,
        sink: &mut impl Sink,
    ) {
        let reason = self.of_field((cancel.session, cancel.id), tag.into());
        let event = OrderEvent::Request(RequestEvent::MassCancelRefused {
            session: cancel.session,
            id: cancel.id,
            used: reason.why != Why::Duplicate,
            reason,
        });
        self.emit(at, &event, sink);
    }

    /// Refuses a quote with a field that would not reach the venue.
    #[cold]
    pub(crate) fn refuse_field_of_quote(
        &mut self,
        at: i64,
        quote: &NewQuote<'_>,
        lost: LostField,
        sink: &mut impl Sink,
    ) {
        self.refuse_quote(at, quote, Reason::of_field(lost), sink);
    }

    /// Refuses a cancel of quotes or a price inquiry; `id` is the request's QuoteID(117) or QuoteReqID(131).
    #[cold]
    pub(crate) fn refuse_field_with_id(
        &mut self,
        at: i64,
        session: SessionNo,
        kind: u8,
        id: &[u8],
        tag: Tag,
        sink: &mut impl Sink,
    ) {
        let reason = Reason::not_carried(tag);
        let event = OrderEvent::Quote(QuoteEvent::QuoteRefused {
            session,
            kind,
            id,
            reason,
        });
        self.emit(at, &event, sink);
    }

    /// The reason for a lost field; a duplicate ClOrdID(11) has precedence as the reason.
    fn of_field(&self, (session, id): (SessionNo, &[u8]), lost: LostField) -> Reason {
        match self.state.used(session, id) {
            Some(_) => Reason::of(Why::Duplicate),
            None => Reason::of_field(lost),
        }
    }
}
