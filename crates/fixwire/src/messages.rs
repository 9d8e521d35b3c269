//! Typed order messages. `fixwire_dictionary::generate` writes types for other messages in the same form.
//!
//! ```
//! use fixwire::messages::fix44::{NewOrderSingle, ord_type_values, side_values};
//! use fixwire::protocol::{Decimal, Outbox, SessionId, Timestamp};
//!
//! let mut outbox = Outbox::new(4096, 4, 200);
//! let quantity = Decimal::from_int(100);
//! let (id, buy, market) = (b"A1", side_values::BUY, ord_type_values::MARKET);
//! NewOrderSingle::write(&mut outbox, SessionId(0), id, buy, Timestamp(0), market)
//!     .symbol(b"VOD")
//!     .order_qty(quantity)
//!     .finish()?;
//! # Ok::<(), fixwire::protocol::BodyError>(())
//! ```

/// NewOrderSingle, OrderCancelRequest, OrderCancelReplaceRequest, OrderStatusRequest,
/// ExecutionReport and OrderCancelReject of FIX 4.2.
pub mod fix42 {
    include!(concat!(env!("OUT_DIR"), "/fix42.rs"));
}

/// The same messages of FIX 4.4.
pub mod fix44 {
    include!(concat!(env!("OUT_DIR"), "/fix44.rs"));
}

#[cfg(test)]
mod tests {
    use fixwire_protocol::{Decoder, Message};

    use super::fix44::{ExecutionReport, NewOrderSingle, components::Instrument};

    fn symbol<'a>(of: Instrument<'a>) -> (Option<&'a [u8]>, usize) {
        (of.symbol(), of.no_security_alt_id().count())
    }

    fn read<T>(text: &str, see: impl FnOnce(&Message<'_>) -> T) -> T {
        let text = text.replace('|', "\x01");
        see(&Decoder::with_capacity(64).decode(text.as_bytes()))
    }

    #[test]
    fn one_function_reads_the_instrument_of_any_message() {
        let part = "55=MSFT|454=2|455=a|456=1|455=b|456=2|";
        let order = read(&format!("8=FIX.4.4|9=5|35=D|{part}10=000|"), |message| {
            let order = NewOrderSingle::of(message).expect("an order");
            let (symbol, others) = symbol(order.instrument());
            (symbol.map(<[u8]>::to_vec), others)
        });
        let report = read(&format!("8=FIX.4.4|9=5|35=8|{part}10=000|"), |message| {
            let report = ExecutionReport::of(message).expect("a report");
            let (symbol, others) = symbol(report.instrument());
            (symbol.map(<[u8]>::to_vec), others)
        });
        assert_eq!(order, (Some(b"MSFT".to_vec()), 2));
        assert_eq!(report, order);
    }
}
