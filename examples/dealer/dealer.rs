//! The application of the dealer: it fills orders, and knows of its fills and positions by its notes alone.

use std::collections::BTreeMap;

use fixwire::protocol::{
    Application, BodyError, Message, Now, Outbox, Refusal, SessionId, Timestamp, tag,
};

/// What an order has become; the note that is kept of it has the same fields.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fill {
    /// SenderCompID(49) and ClOrdID(11): what the client calls it.
    order: (String, String),
    symbol: String,
    side: u8,
    quantity: u64,
    price: String,
    /// ExecID(17).
    number: u64,
}

impl Fill {
    fn note(&self) -> String {
        let Self {
            order: (client, id),
            symbol,
            side,
            quantity,
            price,
            number,
        } = self;
        format!("{number}\x01{client}\x01{id}\x01{symbol}\x01{side}\x01{quantity}\x01{price}")
    }

    fn read(note: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(note).ok()?;
        let mut parts = text.split('\x01').map(str::to_owned);
        let number = parts.next()?.parse().ok()?;
        Some(Self {
            number,
            order: (parts.next()?, parts.next()?),
            symbol: parts.next()?,
            side: parts.next()?.parse().ok()?,
            quantity: parts.next()?.parse().ok()?,
            price: parts.next()?,
        })
    }

    /// Writes an ExecutionReport about it.
    fn report(&self, exec_type: u8, to: SessionId, outbox: &mut Outbox) -> Result<(), BodyError> {
        let exec_id = match exec_type {
            // An OrderStatus is no execution.
            b'I' => "0".to_owned(),
            _ => format!("E{}", self.number),
        };
        let mut report = outbox.begin(to, b"8");
        report
            .field(tag::ORDER_ID, format!("O{}", self.number).as_bytes())
            .field(tag::CL_ORD_ID, self.order.1.as_bytes())
            .field(tag::EXEC_ID, exec_id.as_bytes())
            .char(tag::EXEC_TYPE, exec_type)
            .char(tag::ORD_STATUS, b'2')
            .field(tag::SYMBOL, self.symbol.as_bytes())
            .char(tag::SIDE, self.side);
        if exec_type == b'F' {
            report
                .uint(tag::LAST_QTY, self.quantity)
                .field(tag::LAST_PX, self.price.as_bytes());
        }
        report
            .uint(tag::LEAVES_QTY, 0)
            .uint(tag::CUM_QTY, self.quantity)
            .field(tag::AVG_PX, self.price.as_bytes());
        report.finish()
    }
}

/// The application. All that it knows is what [`Dealer::take`] was given.
#[derive(Default)]
pub struct Dealer {
    fills: BTreeMap<(String, String), Fill>,
    positions: BTreeMap<String, i64>,
}

impl Dealer {
    /// What it has bought less what it has sold, by Symbol(55).
    pub fn positions(&self) -> &BTreeMap<String, i64> {
        &self.positions
    }

    /// What it has filled, by SenderCompID(49) and ClOrdID(11).
    pub fn fills(&self) -> &BTreeMap<(String, String), Fill> {
        &self.fills
    }

    /// The one place where the state changes: when an order is filled, and when its note comes back.
    fn take(&mut self, fill: Fill) {
        let quantity = fill.quantity.cast_signed();
        let position = self.positions.entry(fill.symbol.clone()).or_default();
        // The client buys what the dealer sells.
        *position += if fill.side == b'1' {
            -quantity
        } else {
            quantity
        };
        self.fills.insert(fill.order.clone(), fill);
    }
}

impl Application for Dealer {
    fn on_message(
        &mut self,
        _now: Now,
        from: SessionId,
        order: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if order.msg_type() != b"D" {
            return Err(Refusal::UnsupportedMessageType);
        }
        let text = |tag| {
            let value = order.get(tag);
            let value = value.ok_or(Refusal::ConditionallyRequiredFieldMissing(tag))?;
            Ok(String::from_utf8_lossy(value).into_owned())
        };
        let id = (text(tag::SENDER_COMP_ID)?, text(tag::CL_ORD_ID)?);
        if let Some(known) = self.fills.get(&id) {
            // It was filled before: the client gets its state, and nothing changes.
            let told = known.report(b'I', from, outbox);
            return told.map_err(|_| Refusal::NotAvailable);
        }
        let fill = Fill {
            order: id,
            symbol: text(tag::SYMBOL)?,
            side: text(tag::SIDE)?.as_bytes()[0],
            quantity: match order.uint(tag::ORDER_QTY) {
                Some(Ok(quantity @ 1..=1_000_000_000)) => quantity,
                _ => return Err(Refusal::ValueOutOfRange(tag::ORDER_QTY)),
            },
            price: text(tag::PRICE)?,
            number: self.fills.len() as u64 + 1,
        };
        // Note and report stand in one record with the order: all of it happens, or the order comes again.
        let note = outbox.note(fill.note().as_bytes());
        note.map_err(|_| Refusal::NotAvailable)?;
        self.take(fill.clone());
        let told = fill.report(b'F', from, outbox);
        told.map_err(|_| Refusal::NotAvailable)
    }

    fn on_note(&mut self, _at: Timestamp, note: &[u8]) {
        if let Some(fill) = Fill::read(note) {
            self.take(fill);
        }
    }

    /// An exception would leave the state ahead of the notes.
    fn survives_panics(&self) -> bool {
        false
    }
}
