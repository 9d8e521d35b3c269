//! Quantities in messages, with the decimals of their instrument.

use fixwire_protocol::{Body, Tag};

use crate::values::show::price;
use crate::values::value::Quantity;

/// Writes quantities.
pub(super) trait PutQuantity {
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
