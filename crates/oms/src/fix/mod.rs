//! FIX on both sides. Requests of clients become inputs of the core. The core's events become reports to clients and
//! orders to venues.

pub(crate) mod before;
pub(crate) mod carried;
mod changed;
pub(crate) mod clients;
pub(crate) mod inquiries;
pub(crate) mod leg_reports;
pub(crate) mod lines;
pub(crate) mod market_requests;
pub(crate) mod markets;
pub(crate) mod mass;
pub(crate) mod prices;
pub(crate) mod quotes;
mod reject_codes;
pub(crate) mod report_requests;
pub(crate) mod reports;
pub(crate) mod requests;
pub(crate) mod spreads;
pub(crate) mod status;
pub(crate) mod terms;
pub(crate) mod venue_fields;

use fixwire_protocol::{Body, Tag};

use crate::values::show::price;
use crate::values::value::Quantity;
pub(crate) use lines::names;

/// Writes quantities.
pub(crate) trait PutQuantity {
    /// Writes a quantity of an instrument whose quantities have this number of decimals.
    fn quantity(&mut self, tag: Tag, quantity: Quantity, scale: u8) -> &mut Self;
}

impl PutQuantity for Body<'_> {
    #[inline]
    fn quantity(&mut self, tag: Tag, quantity: Quantity, scale: u8) -> &mut Self {
        match scale {
            0 => self.uint(tag, quantity),
            _ => put_parts(self, tag, quantity, scale),
        }
    }
}

#[cold]
fn put_parts<'b, 'o>(
    out: &'b mut Body<'o>,
    tag: Tag,
    quantity: Quantity,
    scale: u8,
) -> &'b mut Body<'o> {
    // An order has far less.
    let parts = i64::try_from(quantity).unwrap_or(i64::MAX);
    out.decimal(tag, price(parts, scale))
}
