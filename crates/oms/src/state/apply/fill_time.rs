//! The time at which the fill of an event was made. It decides whether a position of an earlier time includes the fill.

use crate::state::event::{
    BreakEvent, LifecycleEvent, OrderEvent, SpreadEvent, StrayEvent, UndoEvent,
};
use crate::values::value::Number;

/// The time at which the fill, bust or correction of an event was made.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FillTime {
    /// At TransactTime(60), or when it was received if the report has none; in nanoseconds since 1970.
    At(i64),
    /// The event does not say.
    Unknown,
}

/// The time at which the fill of an event was made, for an event received at `received`; `None` if the event is not
/// about a fill.
#[inline]
pub(crate) fn fill_time(event: &OrderEvent<'_>, received: i64) -> Option<FillTime> {
    let made = |at: i64| Some(FillTime::At(if at == 0 { received } else { at }));
    match event {
        OrderEvent::Order(LifecycleEvent::Filled { at, .. })
        | OrderEvent::Spread(
            SpreadEvent::LegFilled { at, .. } | SpreadEvent::LegUndone { at, .. },
        )
        | OrderEvent::Undo(UndoEvent::Busted { at, .. } | UndoEvent::Corrected { at, .. }) => {
            made(*at)
        }
        OrderEvent::Stray(StrayEvent::StrayFill { .. })
        | OrderEvent::Break(BreakEvent::BreakSettled { .. } | BreakEvent::FillsSettled { .. }) => {
            Some(FillTime::Unknown)
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
        | OrderEvent::Undo(_) => None,
    }
}

/// Whether an event may be about a fill. All other events need no further check.
#[inline]
pub(crate) fn may_be_of_fill(event: &OrderEvent<'_>) -> bool {
    matches!(
        event,
        OrderEvent::Order(LifecycleEvent::Filled { .. } | LifecycleEvent::ReportEntered { .. })
            | OrderEvent::Spread(_)
            | OrderEvent::Stray(_)
            | OrderEvent::Break(_)
            | OrderEvent::Undo(_)
    )
}

/// The order of a fill, bust or correction.
#[inline]
pub(crate) fn traded(event: &OrderEvent<'_>) -> Option<Number> {
    if let OrderEvent::Order(LifecycleEvent::Filled { order, .. })
    | OrderEvent::Spread(
        SpreadEvent::LegFilled { order, .. } | SpreadEvent::LegUndone { order, .. },
    )
    | OrderEvent::Undo(UndoEvent::Busted { order, .. } | UndoEvent::Corrected { order, .. }) =
        *event
    {
        Some(order)
    } else {
        None
    }
}

/// Whether a fill was made more than a second before it was received at `received`, or may have been. A position of an
/// earlier time may include such a fill.
pub(crate) fn is_dated_back(event: &OrderEvent<'_>, received: i64) -> bool {
    const SECOND: i64 = 1_000_000_000;
    match fill_time(event, received) {
        Some(FillTime::At(at)) => at < received.saturating_sub(SECOND),
        Some(FillTime::Unknown) => true,
        // The next event, a fill that an operator entered, has no time.
        None => matches!(
            event,
            OrderEvent::Order(LifecycleEvent::ReportEntered { .. })
        ),
    }
}
