//! Replaces that take away a quantity, instead of naming the new one.

use fixwire_protocol::Decimal;

use crate::decide::core::Core;
use crate::values::ids::SessionNo;
use crate::values::value::Quantity;

impl Core {
    /// OrderQty(38) of an order less a quantity, not below 0; `None` when the order is unknown. What fills meanwhile makes no
    /// difference: OrderQty includes it.
    #[cold]
    pub(crate) fn reduced(
        &self,
        session: SessionNo,
        original: &[u8],
        by: Quantity,
    ) -> Option<Decimal> {
        let order = self.find(session, original)?;
        let left = order.quantity.saturating_sub(by);
        i64::try_from(left).ok().map(Decimal::from_int)
    }
}
