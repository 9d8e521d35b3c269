//! The terms of an order: its fields in ticks and lots.

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_protocol::{Decimal, Tag, tag};

use crate::dialect::{Dialect, Why};
use crate::fields::RequestFields;
use crate::instrument::{Instrument, Unfit, units};
use crate::report::display_tag;

/// Why a request is rejected, and the Text(58) for it.
pub(super) type Objection = (Why, String);

/// The terms of an order, in ticks and lots.
pub(super) struct Terms {
    pub(super) ord_type: u8,
    pub(super) quantity: u64,
    pub(super) price: Option<i64>,
    pub(super) stop: Option<i64>,
    pub(super) display: Option<u64>,
}

/// The quantity and the prices of a request, in lots and ticks.
pub(super) fn terms(
    instrument: &Instrument,
    fields: RequestFields<'_>,
    dialect: Dialect,
) -> Result<Terms, Objection> {
    let ord_type = fields.char(tag::ORD_TYPE).unwrap_or_default();
    let (has_price, has_stop) = match ord_type {
        b'1' => (false, false),
        b'2' => (true, false),
        b'3' => (false, true),
        b'4' => (true, true),
        _ => return Err(unsupported(tag::ORD_TYPE, "OrdType", "1, 2, 3 or 4")),
    };
    let price = |is_needed: bool, tag: Tag, name: &str| -> Result<Option<i64>, Objection> {
        let value = fields.decimal(tag).flatten();
        if !is_needed {
            return Ok(None);
        }
        let Some(value) = value else {
            let text = format!("{name}({tag}) is missing: this OrdType(40) needs it");
            return Err((Why::Other, text));
        };
        let ticks = units(value, instrument.tick);
        ticks
            .map(Some)
            .map_err(|unfit| misfit(unfit, name, tag, "tick", instrument.tick))
    };
    let (price, stop) = (
        price(has_price, tag::PRICE, "Price")?,
        price(has_stop, tag::STOP_PX, "StopPx")?,
    );
    let quantity = |tag: Tag, name: &str| -> Result<Option<u64>, Objection> {
        let Some(value) = fields.decimal(tag).flatten() else {
            return Ok(None);
        };
        let lots = units(value, instrument.lot);
        let mut lots = lots.map_err(|unfit| misfit(unfit, name, tag, "lot", instrument.lot))?;
        if value.mantissa < 0 {
            lots = -1;
        }
        let negative = || (Why::Quantity, format!("{name}({tag}) is below zero"));
        u64::try_from(lots).map(Some).map_err(|_| negative())
    };
    let total = quantity(tag::ORDER_QTY, "OrderQty")?.ok_or_else(|| {
        let text = "OrderQty(38) is missing: other quantity fields are not supported";
        (Why::Quantity, text.to_string())
    })?;
    let shown = display_tag(dialect);
    let display = match quantity(shown, "The displayed quantity")? {
        None if shown != tag::MAX_FLOOR => quantity(tag::MAX_FLOOR, "MaxFloor")?,
        display => display,
    };
    Ok(Terms {
        ord_type,
        quantity: total,
        price,
        stop,
        display,
    })
}

fn misfit(unfit: Unfit, name: &str, tag: Tag, unit: &str, size: Decimal) -> Objection {
    let size = crate::fields::text(size);
    let size = String::from_utf8_lossy(&size);
    let why = if unit == "lot" {
        Why::Quantity
    } else {
        Why::Tick
    };
    let text = match unfit {
        Unfit::NotMultiple => format!("{name}({tag}) must be a multiple of the {unit}, {size}"),
        Unfit::Range => format!("{name}({tag}) is too large for the {unit}, {size}"),
    };
    (why, text)
}

pub(super) fn unsupported(tag: Tag, name: &str, known: &str) -> Objection {
    (
        Why::Unsupported,
        format!("{name}({tag}) must be {known} here"),
    )
}
