//! ClOrdIDs(11) at venues.

use crate::values::value::Number;

/// A ClOrdID(11) that the OMS uses at venues. Order 17 has `17`. `17-25` is the id of request 25 for order 17, or of
/// order 17 itself when it was sent again under number 25.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct VenueId {
    /// The number of the order; 0 when the id is not one of the OMS.
    pub order: Number,
    /// The number of the request; for a new order the number of the order.
    pub request: Number,
}

impl VenueId {
    /// Reads a ClOrdID(11) of the OMS; `None` for other ids.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = text.splitn(2, |byte| *byte == b'-');
        let number = |part: &[u8]| fixwire_protocol::value::uint(part).ok();
        let order = number(parts.next()?)?;
        let request = match parts.next() {
            Some(part) => number(part)?,
            None => order,
        };
        Some(Self { order, request })
    }
}
