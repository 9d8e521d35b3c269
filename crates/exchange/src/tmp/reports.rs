//! Reports to TMP members: R02 and R03 as frames; the link writes their header later.

use alloc::vec::Vec;

use fixwire_protocol::{Decimal, Timestamp, tag};
use fixwire_tmp::messages::{R02, R03, R32, VenueExecution};
use fixwire_tmp::{
    TmpExecType, TmpFrame, TmpHeader, TmpLayout, TmpSide, TmpStatus, TmpSymbol, TmpSymbolType,
    TmpTime, TmpTimeInForce,
};

use crate::dialect::Kind;
use crate::fields::{RequestFields, number};
use crate::instrument::Instrument;
use crate::orders::Order;
use crate::report::{Entry, Said};
use crate::tmp::ticket::TmpTicket;

/// `protocol_type` of R02: the order was entered over TMP.
const OVER_TMP: u8 = 1;

/// `target_id` of R02 and R32: the report is for a trading line.
const TO_TRADER: u8 = 4;

/// A report: the member that gets it, its MsgType for faults and checkpoints, and its frame.
pub(crate) type TmpReport = (u32, u8, Vec<u8>);

/// The values of a report that depend on what happened to the order.
#[derive(Clone, Copy, Debug)]
struct Change {
    exec_type: TmpExecType,
    status: TmpStatus,
    /// Remaining quantity of the order before the event, in lots.
    before: u64,
}

/// A report on an order; `None` when TMP has no message for it.
pub(crate) fn execution(
    order: &Order,
    instrument: &Instrument,
    exec_id: u64,
    at: Timestamp,
    said: &Said<'_>,
) -> Option<TmpReport> {
    let current = TmpTicket::read(order.cl_ord_id())?;
    // A report about a request has the values of that request, whether the request has changed the order or not.
    let asked = said.cl_ord_id.and_then(TmpTicket::read);
    let ticket = match said.kind {
        // With these kinds, a script reports on the order itself, whatever changes the script has accepted before.
        Kind::New | Kind::Rejected => entered(order).unwrap_or(current),
        _ => asked.unwrap_or(current),
    };
    let (left, rest) = (order.leaves(), order.quantity.saturating_sub(order.filled));
    let (to, change) = match said.kind {
        Kind::New => (ticket.via, answer(&ticket, left)),
        Kind::Status => (ticket.via, answer(&ticket, left)),
        Kind::Replaced => {
            let removed = match ticket.exec_type {
                TmpExecType::REDUCE => lots(ticket.qty, instrument),
                _ => 0,
            };
            (ticket.via, answer(&ticket, left.saturating_add(removed)))
        }
        Kind::Canceled if asked.is_some() => (ticket.via, answer(&ticket, rest)),
        Kind::Trade => {
            let last = said.last.map_or(0, |(lots, _)| lots);
            let status = match said.entry {
                Entry { ends: true, .. } => deleted(order),
                Entry {
                    acknowledges: true, ..
                } => ticket.status,
                _ => TmpStatus::OK,
            };
            let before = if said.entry.ends { rest } else { left };
            (ticket.home, fill(status, before.saturating_add(last)))
        }
        // The exchange deletes the rest: this is reported as a fill of quantity 0, after which nothing is left.
        Kind::Canceled | Kind::Expired | Kind::DoneForDay => {
            (ticket.home, fill(deleted(order), rest))
        }
        Kind::Rejected => {
            let status = RequestFields::new(said.more)
                .get(tag::ORD_REJ_REASON)
                .and_then(number);
            let status = status.and_then(|status| u8::try_from(status).ok());
            let status = status.map_or(TmpStatus::MAJOR_ERROR, TmpStatus);
            let frame = reject(&ticket, status, side(order.side), exec_id);
            return Some((current.home, b'9', frame));
        }
        _ => return None,
    };
    let change = match said.entry.acknowledges {
        true => Change {
            exec_type: TmpExecType::NEW_FILL,
            ..change
        },
        false => change,
    };
    let frame = match ticket.symbol_type {
        TmpSymbolType::TEXT_40 => encode(&venue_execution::<40>(
            order, instrument, exec_id, at, said, &ticket, change,
        )?),
        _ => encode(&venue_execution::<20>(
            order, instrument, exec_id, at, said, &ticket, change,
        )?),
    };
    Some((to, b'8', frame))
}

/// The ticket of the request that entered the order.
fn entered(order: &Order) -> Option<TmpTicket> {
    order.ids.get(1).and_then(|id| TmpTicket::read(id))
}

/// The normal reply to the request of a ticket.
fn answer(ticket: &TmpTicket, before: u64) -> Change {
    Change {
        exec_type: ticket.exec_type,
        status: ticket.status,
        before,
    }
}

fn fill(status: TmpStatus, before: u64) -> Change {
    Change {
        exec_type: TmpExecType::FILL,
        status,
        before,
    }
}

/// Status code of the report that the exchange has deleted the remaining quantity of an order.
fn deleted(order: &Order) -> TmpStatus {
    match order.time_in_force {
        b'3' if order.filled == 0 => TmpStatus::IOC_KILLED,
        b'3' => TmpStatus::IOC_REMAINDER,
        b'4' => TmpStatus::FOK_KILLED,
        _ => TmpStatus::OK,
    }
}

fn venue_execution<const SYMBOL: usize>(
    order: &Order,
    instrument: &Instrument,
    exec_id: u64,
    at: Timestamp,
    said: &Said<'_>,
    ticket: &TmpTicket,
    change: Change,
) -> Option<VenueExecution<SYMBOL>> {
    let text = TmpSymbol::Text(instrument.symbol.as_bytes());
    let (symbol_type, symbol) = text.field::<SYMBOL>().ok()?;
    let entered = entered(order);
    let account = core::str::from_utf8(&order.account).ok();
    let (last_qty, last_px) = said.last.map_or((0, 0), |(lots, ticks)| {
        (qty(lots, instrument), price(ticks, instrument))
    });
    let of_legs = said.legs.map(|legs| {
        legs.map(|leg| {
            let quantity = u16::try_from(leg.quantity.mantissa).unwrap_or(u16::MAX);
            (side(leg.side).0, wire_price(leg.price), quantity)
        })
    });
    let side = side(order.side);
    let worth = order
        .notional
        .saturating_mul(i128::from(instrument.tick.mantissa))
        .saturating_mul(i128::from(instrument.lot.mantissa));
    // A fill of an instrument that is not a spread has no legs.
    let legs = of_legs.unwrap_or_default();
    Some(VenueExecution {
        status: change.status,
        exec_type: change.exec_type,
        cm_id: ticket.cm_id,
        fcm_id: ticket.fcm_id,
        order_no: ticket.order_no,
        ord_id: ticket.ord_id,
        user_define: ticket.user_define,
        symbol_type,
        symbol,
        price: order.price.map_or(0, |ticks| price(ticks, instrument)),
        qty: qty(order.quantity, instrument),
        account: account.and_then(|it| it.parse().ok()).unwrap_or_default(),
        account_flag: ticket.account_flag,
        side,
        ord_type: ticket.ord_type,
        time_in_force: ticket.time_in_force,
        position_effect: ticket.position_effect,
        last_px,
        last_qty,
        px_subtotal: i64::try_from(worth).unwrap_or(i64::MAX),
        cum_qty: qty(order.filled, instrument),
        leaves_qty: qty(order.leaves(), instrument),
        before_qty: qty(change.before, instrument),
        leg_side: legs.map(|leg| leg.0),
        leg_px: legs.map(|leg| leg.1),
        leg_qty: legs.map(|leg| leg.2),
        org_trans_time: time(entered.map_or(ticket.at, |it| it.at)),
        transact_time: time(at.0.max(0).cast_unsigned()),
        target_id: TO_TRADER,
        // The low 32 bits of the ExecID. They are unique, because each report has an ExecID of its own and a day has
        // fewer reports.
        uniq_id: exec_id as u32,
        rpt_seq: exec_id as u32,
        protocol_type: OVER_TMP,
    })
}

/// The R03 for a request that reaches no book, and the member that receives it. OrdRejReason(103) has the status
/// code.
pub(crate) fn refused(fields: RequestFields<'_>, exec_id: u64) -> Option<(u32, Vec<u8>)> {
    let ticket = TmpTicket::read(fields.text(tag::CL_ORD_ID))?;
    let status = fields.get(tag::ORD_REJ_REASON).and_then(number);
    let status = status.and_then(|status| u8::try_from(status).ok());
    let status = status.map_or(TmpStatus::MAJOR_ERROR, TmpStatus);
    let side = side(fields.char(tag::SIDE).unwrap_or_default());
    Some((ticket.via, reject(&ticket, status, side, exec_id)))
}

/// The R03 for the request of a ticket, and the member that receives it.
pub(crate) fn reject(
    ticket: &TmpTicket,
    status: TmpStatus,
    side: TmpSide,
    exec_id: u64,
) -> Vec<u8> {
    encode(&R03 {
        status,
        exec_type: ticket.exec_type,
        fcm_id: ticket.fcm_id,
        order_no: ticket.order_no,
        ord_id: ticket.ord_id,
        user_define: ticket.user_define,
        rpt_seq: exec_id as u32,
        side,
    })
}

/// Converts an R02 or R32 to its short form, for lines that use R22. Other frames stay unchanged.
pub(crate) fn shorten(frame: &mut Vec<u8>) {
    let short = TmpFrame::read(frame)
        .ok()
        .and_then(|read| match read.code() {
            R02::CODE => read.body::<R02>().ok().map(|it| it.short()),
            R32::CODE => read.body::<R32>().ok().map(|it| it.short()),
            _ => None,
        });
    if let Some(short) = short {
        *frame = encode(&short);
    }
}

/// A message as a frame whose header is empty; the link writes the header.
pub(crate) fn encode<'a, T: TmpLayout<'a>>(message: &T) -> Vec<u8> {
    let mut frame = alloc::vec![0; T::SIZE];
    // The message has no data of variable length, so it fits.
    let encoded = message.encode(&TmpHeader::default(), &mut frame);
    debug_assert_eq!(encoded, Ok(T::SIZE));
    frame
}

/// The TMP value for Side(54).
pub(crate) fn side(side: u8) -> TmpSide {
    match side {
        b'1' => TmpSide::BUY,
        b'2' => TmpSide::SELL,
        _ => TmpSide(0),
    }
}

/// Whether the part of an order that does not trade at once is cancelled.
pub(crate) fn is_immediate(time_in_force: TmpTimeInForce) -> bool {
    matches!(time_in_force, TmpTimeInForce::IOC | TmpTimeInForce::FOK)
}

fn price(ticks: i64, instrument: &Instrument) -> i32 {
    wire_price(instrument.price(ticks))
}

/// A price in TMP. The unit of a price is the last decimal of the tick; a spread has the decimals of its legs.
fn wire_price(price: Decimal) -> i32 {
    let price = price.mantissa;
    i32::try_from(price).unwrap_or(if price < 0 { i32::MIN } else { i32::MAX })
}

fn qty(lots: u64, instrument: &Instrument) -> u16 {
    u16::try_from(instrument.quantity(lots).mantissa).unwrap_or(u16::MAX)
}

/// A quantity in lots, rounded down.
pub(crate) fn lots(qty: u16, instrument: &Instrument) -> u64 {
    let lot = u64::try_from(instrument.lot.mantissa).unwrap_or_default();
    u64::from(qty).checked_div(lot).unwrap_or_default()
}

fn time(nanos: u64) -> TmpTime {
    TmpTime::from_wall_ns(nanos)
}
