//! The market as bytes, for checkpoints.
//!
//! ```text
//! state   = last OrderID u64, last ExecID u64, remembered u32,
//!           members: count u32, (name, version, digits u8)...,
//!           instruments: count u32, instrument..., orders: count u32, order...,
//!           closed: count u32, OrderID u64..., waiting: count u32, (member u32, MsgType u8, body)...,
//!           if there are any, or lines: scripted: count u32, scripted order...,
//!           if there are any, or copies: TMP lines: count u32, line...,
//!           if they are kept: copies: removed u64, count u32, (member u32, frame)..., FNV-1a of all before it u64
//! instrument = words of its note, gone u8, state, low i64, high i64, last, lowest, highest: optional i64,
//!           4 queues (buy, sell, buy that wait, sell that wait): count u32, (OrderID u64, visible u64, has stop u8)...
//! order   = OrderID u64, member u32, instrument u32, ids: count u32, text..., account, Side, OrdType,
//!           TimeInForce u8, quantity u64, filled u64, notional i128, display, price, stop: optional, closed u8,
//!           fills: count u32, (ExecID u64, lots u64, ticks i64)...
//! ```
//! scripted order = OrderID u64, script as its note has it, next step u32, end of its wait: optional i64, is new u8,
//!           asked: count u32, (MsgType u8, is pending u8, fields)...
//! line    = member u32, last MsgSeqNum received u32, sent u32, the last frames sent: count u32, frame...
//!
//! Numbers are little-endian, texts are prefixed with their length as u32, and optional numbers with a
//! u8 that is 1 if present. All other data of an order in a book is in the order itself.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_book::{BookOrder, PriceBand, Side, TimeInForce};
use fixwire_protocol::{Timestamp, TimestampWriter};

use crate::config::{state_name, state_of};
use crate::dialect::Dialect;
use crate::instrument::Instrument;
use crate::market::{Market, Member};
use crate::orders::{Filled, Order, Orders};
use crate::outgoing::Report;
use crate::script::Asking;
use crate::scripted::{Asked, Scripted, ScriptedOrders};
use crate::tmp::copies::ReportCopies;
use crate::tmp::store::TmpStore;

/// Length of the checksum at the end, in bytes.
pub(crate) const SUM: usize = 8;

impl Market {
    /// A hash of the market.
    pub(crate) fn hash(&self) -> u64 {
        let mut sum = Fnv::new();
        self.put(&mut |bytes| sum.add(bytes));
        sum.0
    }

    /// Encodes the market in pieces, with its checksum.
    pub(crate) fn write(&self, put: &mut dyn FnMut(&[u8])) {
        let mut sum = Fnv::new();
        self.put(&mut |bytes| {
            sum.add(bytes);
            put(bytes);
        });
        put(&sum.0.to_le_bytes());
    }

    fn put(&self, put: &mut dyn FnMut(&[u8])) {
        let mut out = Out(put);
        out.u64(self.last_order);
        out.u64(self.last_exec);
        out.u32(self.orders.remembered_max());
        out.count(self.members.len());
        for member in &self.members {
            out.text(member.name.as_bytes());
            out.text(member.dialect.name().as_bytes());
            out.u8(member.digits);
        }
        out.count(self.instruments.len());
        for instrument in &self.instruments {
            put_instrument(&mut out, instrument);
        }
        out.count(self.orders.iter().count());
        for order in self.orders.iter() {
            put_order(&mut out, order);
        }
        let closed = self.orders.closed();
        out.count(closed.len());
        for id in closed {
            out.u64(id);
        }
        out.count(self.waiting.len());
        for report in &self.waiting {
            out.u32(report.member);
            out.u8(report.msg_type);
            out.text(&report.body);
        }
        if self.scripted.len() > 0 || !self.links.is_empty() || self.copies.is_some() {
            out.count(self.scripted.len());
            for (id, scripted) in self.scripted.iter() {
                put_scripted(&mut out, id, scripted);
            }
        }
        if !self.links.is_empty() || self.copies.is_some() {
            out.count(self.links.len());
            for (member, store) in &self.links {
                put_store(&mut out, *member, store);
            }
        }
        if let Some(copies) = &self.copies {
            out.u64(copies.removed);
            out.count(copies.reports.len());
            for (member, frame) in &copies.reports {
                out.u32(*member);
                out.text(frame);
            }
        }
    }

    /// Decodes a market.
    pub(crate) fn read(state: &[u8]) -> Result<Self, String> {
        let wrong = || "the state of the exchange is truncated".to_string();
        let (body, sum) = state.split_last_chunk::<SUM>().ok_or_else(wrong)?;
        let mut own = Fnv::new();
        own.add(body);
        if own.0.to_le_bytes() != *sum {
            return Err("the state of the exchange is damaged: its checksum is wrong".into());
        }
        let mut parts = Parts(body);
        let market = parts
            .market()
            .ok_or("the state of the exchange cannot be read")?;
        if !parts.0.is_empty() {
            return Err("the state of the exchange has extra bytes at its end".into());
        }
        market.check()?;
        Ok(market)
    }

    /// Checks that the books are consistent and contain exactly the open orders.
    pub(crate) fn check(&self) -> Result<(), String> {
        for instrument in &self.instruments {
            let book = &instrument.book;
            let whole = book.check();
            whole.map_err(|what| format!("the book of {}: {what}", instrument.symbol))?;
            let sides = [Side::Buy, Side::Sell];
            let resting = sides.into_iter().flat_map(|side| book.resting(side));
            let waiting = sides.into_iter().flat_map(|side| book.waiting(side));
            for order in resting.chain(waiting) {
                let is_same = |it: &Order| {
                    let quantities = (it.quantity, it.filled) == (order.quantity, order.filled);
                    quantities && it.price == order.price && it.closed.is_none()
                };
                if !self.orders.get(order.id).is_some_and(is_same) {
                    return Err(format!("order {} differs from that in its book", order.id));
                }
            }
        }
        let in_books: usize = self.instruments.iter().map(|it| it.book.len()).sum();
        let is_open = |id| Some(self.orders.get(id)?.closed.is_none());
        let scripted: Option<Vec<bool>> = self.scripted.iter().map(|(id, _)| is_open(id)).collect();
        let scripted = scripted.ok_or("a script has no order")?;
        let scripted = scripted.into_iter().filter(|open| *open).count();
        let open = self.orders.open();
        if in_books + scripted != open {
            return Err(format!(
                "{in_books} orders are in the books, {scripted} follow scripts, and {open} are open"
            ));
        }
        Ok(())
    }
}

fn put_instrument(out: &mut Out<'_>, instrument: &Instrument) {
    let book = &instrument.book;
    out.text(instrument.noted.as_bytes());
    out.u8(u8::from(instrument.is_gone));
    out.text(state_name(book.state()).as_bytes());
    out.i64(book.band().low);
    out.i64(book.band().high);
    let swing = book.swing();
    for price in [book.last(), swing.map(|it| it.0), swing.map(|it| it.1)] {
        out.optional(price);
    }
    for side in [Side::Buy, Side::Sell] {
        out.queue(book.resting(side));
    }
    for side in [Side::Buy, Side::Sell] {
        out.queue(book.waiting(side));
    }
}

fn put_order(out: &mut Out<'_>, order: &Order) {
    out.u64(order.id);
    out.u32(order.member);
    out.u32(order.instrument);
    out.count(order.ids.len());
    for id in &order.ids {
        out.text(id);
    }
    out.text(&order.account);
    for code in [order.side, order.ord_type, order.time_in_force] {
        out.u8(code);
    }
    out.u64(order.quantity);
    out.u64(order.filled);
    (out.0)(&order.notional.to_le_bytes());
    out.optional(order.display.map(u64::cast_signed));
    out.optional(order.price);
    out.optional(order.stop);
    out.u8(order.closed.unwrap_or_default());
    out.count(order.fills.len());
    for fill in &order.fills {
        out.u64(fill.exec_id);
        out.u64(fill.lots);
        out.i64(fill.ticks);
    }
}

fn put_scripted(out: &mut Out<'_>, id: u64, scripted: &Scripted) {
    out.u64(id);
    out.text(scripted.script.as_bytes());
    out.count(scripted.at);
    out.optional(scripted.until.map(|until| until.0));
    out.u8(u8::from(scripted.is_new));
    out.count(scripted.asked.len());
    for asked in &scripted.asked {
        out.u8(match asked.asking {
            Asking::Cancel => b'F',
            Asking::Replace => b'G',
        });
        out.u8(u8::from(asked.is_pending));
        out.text(&asked.fields);
    }
}

fn put_store(out: &mut Out<'_>, member: u32, store: &TmpStore) {
    out.u32(member);
    out.u32(store.inbound);
    out.u32(store.outbound);
    out.count(store.frames.len());
    for frame in &store.frames {
        out.text(frame);
    }
}

/// Writes numbers and texts.
struct Out<'a>(&'a mut dyn FnMut(&[u8]));

impl Out<'_> {
    fn u8(&mut self, value: u8) {
        (self.0)(&[value]);
    }

    fn u32(&mut self, value: u32) {
        (self.0)(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        (self.0)(&value.to_le_bytes());
    }

    fn i64(&mut self, value: i64) {
        (self.0)(&value.to_le_bytes());
    }

    fn optional(&mut self, value: Option<i64>) {
        self.u8(u8::from(value.is_some()));
        if let Some(value) = value {
            self.i64(value);
        }
    }

    fn count(&mut self, value: usize) {
        self.u32(value as u32);
    }

    fn text(&mut self, text: &[u8]) {
        self.count(text.len());
        (self.0)(text);
    }

    fn queue<'a>(&mut self, orders: impl Iterator<Item = &'a BookOrder>) {
        let orders: Vec<&BookOrder> = orders.collect();
        self.count(orders.len());
        for order in orders {
            self.u64(order.id);
            self.u64(order.visible);
            self.u8(u8::from(order.stop.is_some()));
        }
    }
}

/// An order in a queue: OrderID, visible quantity, whether it waits for its stop price.
type Queued = (u64, u64, bool);

/// Reads the remaining bytes.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take::<1>().map(|bytes| bytes[0])
    }

    fn flag(&mut self) -> Option<bool> {
        match self.u8()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_le_bytes)
    }

    fn optional(&mut self) -> Option<Option<i64>> {
        if self.flag()? {
            self.i64().map(Some)
        } else {
            Some(None)
        }
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()? as usize;
        let (text, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(text)
    }

    fn text(&mut self) -> Option<&'a str> {
        core::str::from_utf8(self.bytes()?).ok()
    }

    fn market(&mut self) -> Option<Market> {
        let (last_order, last_exec) = (self.u64()?, self.u64()?);
        let remembered_max = self.u32()?;
        let mut members = Vec::new();
        for _ in 0..self.u32()? {
            members.push(Member {
                name: self.text()?.to_string(),
                dialect: Dialect::from_name(self.text()?)?,
                digits: self.u8()?,
            });
        }
        let mut instruments = Vec::new();
        let mut queues: Vec<Vec<Queued>> = Vec::new();
        for _ in 0..self.u32()? {
            instruments.push(self.instrument(&mut queues)?);
        }
        let mut orders = Orders::default();
        // No order is removed while they are read; the limit follows.
        orders.set_remembered_max(u32::MAX);
        for _ in 0..self.u32()? {
            let order = self.order()?;
            let known = members.len() > order.member as usize;
            if !known || instruments.len() <= order.instrument as usize || order.ids.is_empty() {
                return None;
            }
            orders.insert(order);
        }
        let mut closed = VecDeque::new();
        for _ in 0..self.u32()? {
            closed.push_back(self.u64()?);
        }
        orders.set_closed(closed)?;
        orders.set_remembered_max(remembered_max);
        for (index, queue) in queues.iter().enumerate() {
            let instrument: &mut Instrument = instruments.get_mut(index / 4)?;
            for queued in queue {
                let order = orders.get(queued.0)?;
                let fits = order.instrument as usize == index / 4
                    && order.closed.is_none()
                    && (order.stop.is_some() || !queued.2);
                let order = fits.then(|| in_book(order, *queued))?;
                instrument.book.put_back(order).ok()?;
            }
        }
        let mut waiting = VecDeque::new();
        for _ in 0..self.u32()? {
            waiting.push_back(Report {
                member: self.u32()?,
                msg_type: self.u8()?,
                body: self.bytes()?.to_vec(),
            });
        }
        let mut scripted = ScriptedOrders::default();
        if !self.0.is_empty() {
            for _ in 0..self.u32()? {
                let id = self.u64()?;
                orders.get(id)?;
                scripted.insert(id, self.scripted()?);
            }
        }
        let mut links = BTreeMap::new();
        if !self.0.is_empty() {
            for _ in 0..self.u32()? {
                let member = self.u32()?;
                members.get(member as usize)?;
                links.insert(member, self.store()?);
            }
        }
        let copies = match self.0.is_empty() {
            true => None,
            false => Some(self.copies()?),
        };
        let mut market = Market {
            members,
            instruments,
            orders,
            scripted,
            last_order,
            last_exec,
            waiting,
            links,
            copies,
            times: TimestampWriter::new(),
        };
        let ids: Vec<u64> = market.scripted.iter().map(|it| it.0).collect();
        for id in ids {
            market.restate_pending(id);
        }
        Some(market)
    }

    fn copies(&mut self) -> Option<ReportCopies> {
        let removed = self.u64()?;
        let mut reports = VecDeque::new();
        for _ in 0..self.u32()? {
            reports.push_back((self.u32()?, self.bytes()?.into()));
        }
        Some(ReportCopies { removed, reports })
    }

    fn store(&mut self) -> Option<TmpStore> {
        let (inbound, outbound) = (self.u32()?, self.u32()?);
        let mut frames: VecDeque<Box<[u8]>> = VecDeque::new();
        for _ in 0..self.u32()? {
            frames.push_back(self.bytes()?.into());
        }
        (frames.len() <= outbound as usize).then_some(TmpStore {
            inbound,
            outbound,
            frames,
        })
    }

    fn scripted(&mut self) -> Option<Scripted> {
        let mut scripted = Scripted::begin(self.text()?)?;
        scripted.at = self.u32()? as usize;
        scripted.until = self.optional()?.map(Timestamp);
        scripted.is_new = self.flag()?;
        for _ in 0..self.u32()? {
            scripted.asked.push_back(Asked {
                asking: match self.u8()? {
                    b'F' => Asking::Cancel,
                    b'G' => Asking::Replace,
                    _ => return None,
                },
                is_pending: self.flag()?,
                fields: self.bytes()?.into(),
            });
        }
        Some(scripted)
    }

    fn instrument(&mut self, queues: &mut Vec<Vec<Queued>>) -> Option<Instrument> {
        let mut instrument = Instrument::read(self.text()?)?;
        instrument.is_gone = self.flag()?;
        let state = state_of(self.text()?)?;
        let book = &mut instrument.book;
        // The book is empty: a change of state has no effect on orders.
        book.set_state(state, &mut |_| {});
        book.set_band(PriceBand {
            low: self.i64()?,
            high: self.i64()?,
        });
        let (last, low, high) = (self.optional()?, self.optional()?, self.optional()?);
        book.put_back_last(last, low.zip(high));
        for _ in 0..4 {
            let mut queue = Vec::new();
            for _ in 0..self.u32()? {
                queue.push((self.u64()?, self.u64()?, self.flag()?));
            }
            queues.push(queue);
        }
        Some(instrument)
    }

    fn order(&mut self) -> Option<Order> {
        let (id, member, instrument) = (self.u64()?, self.u32()?, self.u32()?);
        let mut ids: Vec<Box<[u8]>> = Vec::new();
        for _ in 0..self.u32()? {
            ids.push(self.bytes()?.into());
        }
        let mut order = Order {
            id,
            member,
            instrument,
            ids,
            account: self.bytes()?.into(),
            side: self.u8()?,
            ord_type: self.u8()?,
            time_in_force: self.u8()?,
            quantity: self.u64()?,
            filled: self.u64()?,
            notional: self.take().map(i128::from_le_bytes)?,
            display: self.optional()?.map(i64::cast_unsigned),
            price: self.optional()?,
            stop: self.optional()?,
            closed: Some(self.u8()?).filter(|status| *status != 0),
            fills: Vec::new(),
            pending: None,
        };
        for _ in 0..self.u32()? {
            order.fills.push(Filled {
                exec_id: self.u64()?,
                lots: self.u64()?,
                ticks: self.i64()?,
            });
        }
        Some(order)
    }
}

/// The order as its book has it.
pub(crate) fn in_book(order: &Order, (id, visible, waits): Queued) -> BookOrder {
    BookOrder {
        id,
        side: if order.side == b'1' {
            Side::Buy
        } else {
            Side::Sell
        },
        price: order.price,
        stop: order.stop.filter(|_| waits),
        quantity: order.quantity,
        filled: order.filled,
        visible,
        display: order.display,
        time_in_force: match order.time_in_force {
            b'1' => TimeInForce::GoodTillCancel,
            b'3' => TimeInForce::ImmediateOrCancel,
            b'4' => TimeInForce::FillOrKill,
            _ => TimeInForce::Day,
        },
    }
}

/// FNV-1a with 64 bits: detects damage, not tampering.
pub(crate) struct Fnv(pub(crate) u64);

impl Fnv {
    pub(crate) fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}
