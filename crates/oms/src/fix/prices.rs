//! Reads market data: MarketDataSnapshotFullRefresh(W) and MarketDataIncrementalRefresh(X).

use fixwire_protocol::{Decimal, Message, Tag, tag};

use crate::values::value::PriceField;

/// An entry of NoMDEntries(268).
#[derive(Clone, Copy, Debug, Default)]
struct Entry<'a> {
    kind: Option<PriceField>,
    /// Whether the entry has MDEntryType(269), with any value.
    has_type: bool,
    symbol: Option<&'a [u8]>,
    /// SecurityID(48).
    id: Option<&'a [u8]>,
    price: Option<Decimal>,
    /// Whether MDUpdateAction(279) is 2 (Delete), or 3 or 4, which also delete further price levels.
    is_deleted: bool,
    /// Whether the price is at another price level than the best.
    is_deep: bool,
}

/// A function that gets a symbol, the kind of price, and the price; `None` for a price that is no longer known.
type Found<'a> = dyn FnMut(&[u8], PriceField, Option<Decimal>) + 'a;

/// Passes each price of a message to `found`.
pub(crate) fn each(message: &Message<'_>, found: &mut Found<'_>) {
    if message.msg_type() == b"W" {
        snapshot(message, found);
    } else {
        increments(message, found);
    }
}

/// Reads all prices of a symbol. A bid or offer that the message does not have is no longer known; the last price stays
/// known.
fn snapshot(message: &Message<'_>, found: &mut Found<'_>) {
    let symbol = message.get(tag::SYMBOL).unwrap_or_default();
    let (mut bid, mut offer, mut last) = (None, None, None);
    entries(message, tag::MD_ENTRY_TYPE, |entry| {
        let (Some(kind), Some(price)) = (entry.kind, entry.price) else {
            return;
        };
        match kind {
            PriceField::Bid if bid.is_none_or(|bid| price > bid) => bid = Some(price),
            PriceField::Offer if offer.is_none_or(|offer| price < offer) => offer = Some(price),
            PriceField::Last => last = Some(price),
            PriceField::Bid | PriceField::Offer => {}
        }
    });
    if last.is_some() {
        found(symbol, PriceField::Last, last);
    }
    found(symbol, PriceField::Bid, bid);
    found(symbol, PriceField::Offer, offer);
}

/// Reads changes of prices. An entry without Symbol(55) is about the symbol of the entry before it, unless the two have
/// different SecurityIDs(48).
fn increments(message: &Message<'_>, found: &mut Found<'_>) {
    let (mut symbol, mut id) = (None, None);
    entries(message, tag::MD_UPDATE_ACTION, |entry| {
        if entry.symbol.is_some() || (entry.id.is_some() && entry.id != id) {
            (symbol, id) = (entry.symbol, entry.id);
        }
        let Some(symbol) = symbol else {
            return;
        };
        if !entry.has_type {
            // MDEntryID(278) or MDEntryRefID(280) names the entry, but the OMS does not store these ids.
            found(symbol, PriceField::Bid, None);
            found(symbol, PriceField::Offer, None);
            return;
        }
        let Some(kind) = entry.kind else {
            return;
        };
        match (kind, entry.price) {
            _ if entry.is_deep => {}
            // When the entry of a trade is deleted, the last price stays.
            (PriceField::Last, _) if entry.is_deleted => {}
            (kind, _) if entry.is_deleted => found(symbol, kind, None),
            (kind, Some(price)) => found(symbol, kind, Some(price)),
            (_, None) => {}
        }
    });
}

/// Passes the entries of a message to `each`; each entry begins with the tag `first`.
fn entries<'a>(message: &Message<'a>, first: Tag, mut each: impl FnMut(&Entry<'a>)) {
    let fields = message.fields().iter();
    let mut fields = fields.skip_while(|field| field.tag != tag::NO_MD_ENTRIES);
    fields.next();
    let mut entry: Option<Entry<'a>> = None;
    for field in fields {
        if field.tag == first
            && let Some(entry) = entry.replace(Entry::default())
        {
            each(&entry);
        }
        let Some(entry) = &mut entry else {
            continue;
        };
        let value = message.value(*field);
        match field.tag {
            tag::MD_ENTRY_TYPE => {
                entry.has_type = true;
                entry.kind = match value {
                    [byte] => PriceField::of(*byte),
                    _ => None,
                };
            }
            tag::MD_ENTRY_PX => entry.price = Decimal::parse(value).ok(),
            tag::MD_UPDATE_ACTION => entry.is_deleted = matches!(value, b"2" | b"3" | b"4"),
            tag::MD_ENTRY_POSITION_NO | tag::MD_PRICE_LEVEL => entry.is_deep = value != b"1",
            tag::SYMBOL => entry.symbol = Some(value),
            tag::SECURITY_ID => entry.id = Some(value),
            _ => {}
        }
    }
    if let Some(entry) = entry {
        each(&entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use alloc::{format, vec::Vec};
    use fixwire_protocol::Decoder;

    fn read(text: &str) -> Vec<String> {
        let text = format!("8=FIX.4.4|9=0|{text}").replace('|', "\x01");
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(text.as_bytes());
        let mut all = Vec::new();
        each(&message, &mut |symbol, field, price| {
            let symbol = String::from_utf8_lossy(symbol);
            let price = price.map_or("-".to_string(), |price| price.to_string());
            all.push(format!("{symbol} {field:?} {price}"));
        });
        all
    }

    #[test]
    fn a_snapshot_gives_the_best_prices_and_takes_away_the_others() {
        let levels = "35=W|55=XYZ|268=4|269=0|270=99|269=0|270=99.5|269=1|270=101|269=2|270=100|";
        assert_eq!(
            read(levels),
            ["XYZ Last 100", "XYZ Bid 99.5", "XYZ Offer 101"]
        );
        assert_eq!(read("35=W|55=XYZ|268=0|"), ["XYZ Bid -", "XYZ Offer -"]);
    }

    #[test]
    fn an_entry_with_another_identifier_is_not_of_the_symbol_before_it() {
        let entries = "279=0|269=2|55=XYZ|48=1|270=10|279=0|269=2|48=1|270=11|279=0|269=2|270=12|";
        let others = "279=0|269=2|48=2|270=13|279=0|269=2|270=14|";
        assert_eq!(
            read(&format!("35=X|268=5|{entries}{others}")),
            ["XYZ Last 10", "XYZ Last 11", "XYZ Last 12"]
        );
    }

    #[test]
    fn increments_change_one_price_each() {
        let changes = "35=X|268=5|279=0|269=2|55=XYZ|270=100|279=1|269=0|270=99|290=1|279=1|269=0|270=98|290=2|\
                       279=2|269=1|55=ABC|279=0|269=4|270=5|";
        assert_eq!(read(changes), ["XYZ Last 100", "XYZ Bid 99", "ABC Offer -"]);
        assert_eq!(
            read("35=X|268=2|279=3|269=0|55=XYZ|270=99|279=1|278=7|270=102|"),
            ["XYZ Bid -", "XYZ Bid -", "XYZ Offer -"],
            "deleted, and one by its MDEntryID alone"
        );
        assert!(
            read("35=X|268=1|279=0|269=2|270=100|").is_empty(),
            "of what?"
        );
    }
}
