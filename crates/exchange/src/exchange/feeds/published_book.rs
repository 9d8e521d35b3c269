//! The book as last sent to a member, and the changes since then.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use fixwire_book::Side;
use fixwire_ledger::bytes;
use fixwire_protocol::{Decimal, Precision, Timestamp, TimestampWriter, tag};

use crate::fields::FieldWriter;
use crate::instrument::{DayTrades, Instrument};
use crate::market::tape::TapeTrade;

/// Maximum number of entries on each side. The limit also applies when a member requests the full book.
pub(crate) const DEPTH_MAX: usize = 500;

bytes! {
    /// MDEntryType(269).
    MdEntryType {
        /// Bid.
        Bid = b'0',
        /// Offer.
        Offer = b'1',
        /// Trade.
        Trade = b'2',
        /// Opening price.
        Opening = b'4',
        /// Highest price of the trading day.
        High = b'7',
        /// Lowest price of the trading day.
        Low = b'8',
        /// Traded quantity of the trading day.
        Volume = b'B',
    }
}

bytes! {
    /// MDUpdateAction(279).
    MdUpdateAction {
        /// A new entry.
        New = b'0',
        /// A changed entry.
        Change = b'1',
        /// A deleted entry.
        Delete = b'2',
    }
}

/// The entries that a member requests.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct FeedTerms {
    /// Maximum number of entries of a side.
    pub(crate) depth: usize,
    /// Whether entries are aggregated by price (one entry per price); otherwise each order has an entry.
    pub(crate) is_aggregated: bool,
    pub(crate) types: Vec<MdEntryType>,
}

impl FeedTerms {
    pub(super) fn has(&self, kind: MdEntryType) -> bool {
        self.types.contains(&kind)
    }
}

/// The key of an entry on one side of the book.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum LevelId {
    /// The price, in ticks.
    Price(i64),
    /// OrderID(37).
    Order(u64),
}

/// An entry on one side of the book: a price, or an order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct PublishedLevel {
    pub(crate) id: LevelId,
    pub(crate) ticks: i64,
    pub(crate) lots: u64,
    /// Number of orders at the price.
    pub(crate) orders: u32,
    /// MDEntryPositionNo(290): 1 for the best entry.
    pub(crate) position: u32,
}

impl PublishedLevel {
    /// Whether a member sees no difference between both entries. A member also sees the position of an entry.
    fn is_same(&self, other: &Self) -> bool {
        let of = |it: &Self| (it.id, it.ticks, it.lots, it.orders, it.position == 1);
        of(self) == of(other)
    }
}

/// The book as last sent to a member.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct PublishedBook {
    pub(crate) bids: Vec<PublishedLevel>,
    pub(crate) offers: Vec<PublishedLevel>,
    pub(crate) day: Option<DayTrades>,
}

impl PublishedBook {
    pub(super) fn of(instrument: &Instrument, terms: &FeedTerms) -> Self {
        let side = |kind, side| {
            if terms.has(kind) {
                levels(instrument, side, terms)
            } else {
                Vec::new()
            }
        };
        Self {
            bids: side(MdEntryType::Bid, Side::Buy),
            offers: side(MdEntryType::Offer, Side::Sell),
            day: instrument.day,
        }
    }
}

/// The entries of one side, the best first. Market orders in an auction call have no price and are not published.
fn levels(instrument: &Instrument, side: Side, terms: &FeedTerms) -> Vec<PublishedLevel> {
    let level =
        |(position, (id, ticks, lots, orders)): (u32, (LevelId, i64, u64, u32))| PublishedLevel {
            id,
            ticks,
            lots,
            orders,
            position,
        };
    let book = &instrument.book;
    if terms.is_aggregated {
        let levels = book.depth(side).filter_map(|it| {
            let (ticks, lots) = (it.price?, u64::try_from(it.visible).unwrap_or(u64::MAX));
            Some((LevelId::Price(ticks), ticks, lots, it.orders))
        });
        return (1..).zip(levels.take(terms.depth)).map(level).collect();
    }
    let orders = book
        .resting(side)
        .filter_map(|it| Some((LevelId::Order(it.id), it.price?, it.visible, 1)));
    (1..).zip(orders.take(terms.depth)).map(level).collect()
}

/// Writes entries of NoMDEntries(268).
#[derive(Debug)]
pub(super) struct EntryWriter<'a> {
    pub(super) terms: &'a FeedTerms,
    pub(super) instrument: &'a Instrument,
    pub(super) times: &'a mut TimestampWriter,
    pub(super) fields: FieldWriter,
    pub(super) count: u64,
}

impl EntryWriter<'_> {
    /// Writes the whole book.
    pub(super) fn snapshot(&mut self, book: &PublishedBook) {
        for (kind, levels) in [
            (MdEntryType::Bid, &book.bids),
            (MdEntryType::Offer, &book.offers),
        ] {
            for level in levels {
                self.level(None, kind, level);
            }
        }
        let Some(day) = &book.day else {
            return;
        };
        self.trade(None, None, day.ticks, day.lots);
        for kind in DAY {
            self.day(None, kind, day);
        }
    }

    /// Writes trades and the changes of the book. Deleted entries come before new entries.
    pub(super) fn update(
        &mut self,
        before: &PublishedBook,
        after: &PublishedBook,
        trades: &[TapeTrade],
    ) {
        for trade in trades {
            let new = Some(MdUpdateAction::New);
            self.trade(new, Some(trade.at), trade.ticks, trade.lots);
        }
        self.side(MdEntryType::Bid, &before.bids, &after.bids);
        self.side(MdEntryType::Offer, &before.offers, &after.offers);
        for kind in DAY {
            let value = |day: &Option<DayTrades>| day.as_ref().map(|day| day_value(kind, day));
            let action = match (&before.day, &after.day) {
                _ if value(&before.day) == value(&after.day) => continue,
                (None, _) => MdUpdateAction::New,
                (Some(_), Some(_)) => MdUpdateAction::Change,
                (Some(_), None) => MdUpdateAction::Delete,
            };
            if let Some(day) = after.day.as_ref().or(before.day.as_ref()) {
                self.day(Some(action), kind, day);
            }
        }
    }

    fn side(&mut self, kind: MdEntryType, before: &[PublishedLevel], after: &[PublishedLevel]) {
        let by_id = |levels: &[PublishedLevel]| -> BTreeMap<LevelId, PublishedLevel> {
            levels.iter().map(|level| (level.id, *level)).collect()
        };
        let (old, new) = (by_id(before), by_id(after));
        for level in before.iter().filter(|it| !new.contains_key(&it.id)) {
            self.level(Some(MdUpdateAction::Delete), kind, level);
        }
        for level in after {
            match old.get(&level.id) {
                Some(old) if old.is_same(level) => {}
                Some(_) => self.level(Some(MdUpdateAction::Change), kind, level),
                None => self.level(Some(MdUpdateAction::New), kind, level),
            }
        }
    }

    fn begin(&mut self, action: Option<MdUpdateAction>, kind: MdEntryType) -> &mut FieldWriter {
        self.count += 1;
        let out = &mut self.fields;
        if let Some(action) = action {
            out.char(tag::MD_UPDATE_ACTION, action.byte());
        }
        out.char(tag::MD_ENTRY_TYPE, kind.byte());
        if action.is_some() {
            out.put(tag::SYMBOL, self.instrument.symbol.as_bytes());
        }
        out
    }

    fn level(&mut self, action: Option<MdUpdateAction>, kind: MdEntryType, it: &PublishedLevel) {
        let instrument = self.instrument;
        let out = self.begin(action, kind);
        out.decimal(tag::MD_ENTRY_PX, instrument.price(it.ticks));
        let is_there = action != Some(MdUpdateAction::Delete);
        if is_there {
            out.decimal(tag::MD_ENTRY_SIZE, instrument.quantity(it.lots));
        }
        match it.id {
            LevelId::Order(id) => {
                out.uint(tag::ORDER_ID, id);
            }
            LevelId::Price(_) if is_there => {
                out.uint(tag::NUMBER_OF_ORDERS, u64::from(it.orders));
            }
            LevelId::Price(_) => {}
        }
        out.uint(tag::MD_ENTRY_POSITION_NO, u64::from(it.position));
    }

    fn trade(
        &mut self,
        action: Option<MdUpdateAction>,
        at: Option<Timestamp>,
        ticks: i64,
        lots: u64,
    ) {
        if !self.terms.has(MdEntryType::Trade) {
            return;
        }
        let instrument = self.instrument;
        let out = self.begin(action, MdEntryType::Trade);
        out.decimal(tag::MD_ENTRY_PX, instrument.price(ticks));
        out.decimal(tag::MD_ENTRY_SIZE, instrument.quantity(lots));
        // A timestamp such as 20260302-08:00:00.000 is split into date and time.
        let at = at.map(|at| self.times.format(at, Precision::Millis));
        if let Some((date, time)) = at.and_then(|at| at.split_at_checked(8)) {
            let time = time.get(1..).unwrap_or_default();
            self.fields.put(tag::MD_ENTRY_DATE, date);
            self.fields.put(tag::MD_ENTRY_TIME, time);
        }
    }

    fn day(&mut self, action: Option<MdUpdateAction>, kind: MdEntryType, day: &DayTrades) {
        if !self.terms.has(kind) {
            return;
        }
        let instrument = self.instrument;
        let out = self.begin(action, kind);
        match day_value(kind, day) {
            DayValue::Ticks(ticks) => {
                out.decimal(tag::MD_ENTRY_PX, instrument.price(ticks));
            }
            DayValue::Lots(lots) => {
                let total: Decimal = instrument.quantity(lots);
                out.decimal(tag::MD_ENTRY_SIZE, total);
            }
        }
    }
}

/// Entries about the trading day.
const DAY: [MdEntryType; 4] = [
    MdEntryType::Opening,
    MdEntryType::High,
    MdEntryType::Low,
    MdEntryType::Volume,
];

/// The value of an entry about the trading day.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum DayValue {
    Ticks(i64),
    Lots(u64),
}

fn day_value(kind: MdEntryType, day: &DayTrades) -> DayValue {
    match kind {
        MdEntryType::Opening => DayValue::Ticks(day.opening),
        MdEntryType::High => DayValue::Ticks(day.high),
        MdEntryType::Low => DayValue::Ticks(day.low),
        MdEntryType::Volume => DayValue::Lots(day.volume),
        MdEntryType::Bid | MdEntryType::Offer | MdEntryType::Trade => DayValue::Ticks(day.ticks),
    }
}
