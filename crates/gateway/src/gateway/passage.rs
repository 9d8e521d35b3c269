//! [`Passage`]: the kind of a message that the gateway forwards.

use fixwire_ledger::bytes;

bytes! {
    /// The kind of a forwarded or held message.
    Passage {
        /// A request that opens or replaces an order. While the request is held, a cancel of the order removes it.
        Opens = 0,
        /// Any other request.
        Sent = 1,
        /// A copy.
        Copied = 2,
        /// A response on its way back.
        Returned = 3,
    }
}
