//! Why the OMS ignores a report of a venue, in words, for the event about the report.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Decimal;

use crate::decide::venue::{ReportKind, VenueId, VenueReport};
use crate::state::OmsState;
use crate::state::orders::Order;
use crate::values::show::text;

/// An ignored report.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ignored {
    /// Whether its order is in memory.
    pub is_known: bool,
    /// The fault of the report, and its fill; empty when nothing else is known.
    pub why: String,
}

/// Describes an ExecutionReport(8); `None` for one that has no kind.
#[cold]
pub(crate) fn report(
    state: &OmsState,
    report: Option<&VenueReport<'_>>,
    is_unreadable: bool,
) -> Ignored {
    let Some(report) = report else {
        return Ignored {
            is_known: false,
            why: "ExecType(150) is missing".to_string(),
        };
    };
    let order = state.orders().get(report.id.order);
    let mut why = Vec::new();
    if let Some(order) = order {
        differences(state, order, report, &mut why);
    }
    match report.kind {
        ReportKind::Fill | ReportKind::Bust | ReportKind::Correct => {
            if !is_unreadable && order.is_none() {
                unknown(state, report, &mut why);
            }
            for (name, value) in [
                ("LastQty(32)", report.last_quantity),
                ("LastPx(31)", report.last_price),
            ] {
                why.push(value_text(name, value, is_unreadable));
            }
        }
        ReportKind::Replaced if is_unreadable && order.is_some() => {
            why.push("ClOrdID(11) names no replace in flight".to_string());
        }
        _ => {}
    }
    Ignored {
        is_known: order.is_some(),
        why: why.join("; "),
    }
}

/// Describes an OrderCancelReject(9) that rejects no request in flight.
#[cold]
pub(crate) fn reject(state: &OmsState, id: Option<VenueId>, original: Option<VenueId>) -> Ignored {
    let known = |id: VenueId| state.orders().get(id.order).is_some();
    let is_known = id.is_some_and(known) || original.is_some_and(known);
    let why = match is_known {
        true => "its OrderCancelReject(9) names no request in flight".to_string(),
        false => String::new(),
    };
    Ignored { is_known, why }
}

fn differences(state: &OmsState, order: &Order, report: &VenueReport<'_>, why: &mut Vec<String>) {
    let symbol = state.instruments().name(order.instrument);
    if !report.symbol.is_empty() && report.symbol != symbol {
        why.push(format!(
            "Symbol(55) is {}, that of the order is {}",
            text(report.symbol),
            text(symbol)
        ));
    }
    if let Some(side) = report.side.filter(|side| !side.agrees(order.side)) {
        why.push(format!(
            "Side(54) is {}, that of the order is {}",
            char::from(side.byte()),
            char::from(order.side.byte())
        ));
    }
    if order.state.is_unsent() {
        why.push("the order was not sent".to_string());
    }
}

/// The data that a fill of an unknown order lacks to change a position.
fn unknown(state: &OmsState, report: &VenueReport<'_>, why: &mut Vec<String>) {
    let mut check = |name: &str, value: &[u8], is_known: bool| match (value, is_known) {
        (_, true) => {}
        (b"", false) => why.push(format!("{name} is missing")),
        (value, false) => why.push(format!("{name} {} is unknown", text(value))),
    };
    let account = state.accounts().find(report.account);
    check("Account(1)", report.account, account.is_some());
    let symbol = state.instruments().find(report.symbol);
    check("Symbol(55)", report.symbol, symbol.is_some());
    check("Side(54)", b"", report.side.is_some());
}

fn value_text(name: &str, value: Option<Decimal>, is_unreadable: bool) -> String {
    match value {
        Some(value) => format!("{name} {value}"),
        None if is_unreadable => format!("{name} is missing, or no number"),
        None => format!("{name} is missing"),
    }
}
