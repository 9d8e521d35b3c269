//! History of an order: its requests, and the messages that are sent for them.

use alloc::format;
use alloc::string::String;

use fixwire_ledger::Wire as _;
use fixwire_protocol::{Precision, Timestamp, TimestampWriter};

use super::{History, name};
use crate::state::event::RequestEvent;
use crate::values::marks::RequestMarks;
use crate::values::show::{carried, text};
use crate::values::value::{RequestKind, Side};

impl History {
    pub(super) fn of_request(&mut self, event: &RequestEvent<'_>) -> Option<String> {
        Some(match *event {
            RequestEvent::Taken { order, .. }
            | RequestEvent::ReplaceTaken { order, .. }
            | RequestEvent::CancelTaken { order, .. }
            | RequestEvent::Located { order, .. }
            | RequestEvent::Routed { order, .. }
                if order != self.order =>
            {
                return None;
            }
            RequestEvent::Taken {
                session,
                account,
                instrument,
                side,
                kind,
                price,
                stop,
                quantity,
                id,
                ..
            } => {
                (self.instrument, self.quantity, self.filled) = (Some(instrument), quantity, 0);
                self.client = Some(session);
                let side = match side {
                    Side::Buy => "buy",
                    Side::Sell => "sell",
                    Side::SellShort => "sell short",
                    Side::SellShortExempt => "sell short exempt",
                };
                let at = match kind.has_price() {
                    true => format!(" at {}", self.price(price)),
                    false => " at the market".into(),
                };
                let stop = match kind.has_stop() {
                    true => format!(", stop {}", self.price(stop)),
                    false => String::new(),
                };
                format!(
                    "{} as {} for {}: {side} {} {}{at}{stop}",
                    self.session(session),
                    text(id),
                    name(self.state.accounts().name(account), "account", account),
                    self.quantity(quantity),
                    name(
                        self.state.instruments().name(instrument),
                        "instrument",
                        instrument
                    ),
                )
            }
            RequestEvent::Refused {
                kind: Some(kind),
                order,
                id,
                ref reason,
                ..
            } if order == Some(self.order) => {
                let kind = match kind {
                    RequestKind::Cancel => "cancel",
                    RequestKind::Replace => "replace",
                };
                format!("{kind} {} rejected: {}", text(id), self.why(reason, b""))
            }
            RequestEvent::ReplaceTaken {
                request,
                quantity,
                price,
                id,
                ..
            } => {
                self.requests.push(request);
                format!(
                    "replace {request} requested as {}: {}",
                    text(id),
                    self.terms(quantity, price)
                )
            }
            RequestEvent::CancelTaken { request, id, .. } => {
                self.requests.push(request);
                match id {
                    b"" => format!("cancel {request} requested by the OMS"),
                    id => format!("cancel {request} requested as {}", text(id)),
                }
            }
            RequestEvent::Sent { number, line } => {
                let what = self.what(number)?;
                self.line = Some(line);
                format!("{what} sent on {}", self.session(line))
            }
            RequestEvent::Queued { number } => format!(
                "{} queued: waiting for a session to the venue",
                self.what(number)?
            ),
            RequestEvent::Located { reqd, broker, .. } => {
                let reqd = match reqd {
                    0 => "none".into(),
                    reqd => String::from(char::from(reqd)),
                };
                let broker = match broker {
                    b"" => String::new(),
                    broker => format!(", LocateBroker {}", text(broker)),
                };
                format!("LocateReqd {reqd}{broker}")
            }
            RequestEvent::Routed { line, .. } => {
                format!(
                    "routed by a condition to the line_group of {}",
                    self.session(line)
                )
            }
            RequestEvent::Fields {
                number,
                header,
                body,
                kept,
            } => {
                let (fields, kept) = (carried(&[header, body]), carried(&[kept]));
                let what = self.what(number)?;
                match (fields.is_empty(), kept.is_empty()) {
                    (_, true) => format!("{what} carries {fields}"),
                    (true, false) => format!("{what} carries no fields; its order keeps {kept}"),
                    (false, false) => format!("{what} carries {fields}; its order keeps {kept}"),
                }
            }
            RequestEvent::Marked { number, mut marks } => {
                let marks = RequestMarks::take(&mut marks)?;
                format!("{} has over TMP {marks}", self.what(number)?)
            }
            RequestEvent::ValidUntil { number, until } => {
                let mut stamp = TimestampWriter::new();
                let until = text(stamp.format(Timestamp(until), Precision::Millis));
                format!("{} not to be sent after {until}", self.what(number)?)
            }
            RequestEvent::Refused { .. }
            | RequestEvent::MassCancelTaken { .. }
            | RequestEvent::MassCancelRefused { .. }
            | RequestEvent::Marks { .. } => return None,
        })
    }
}
