//! Typed order messages; `fixwire_protocol::dictionary::generate` writes others the same way.

/// NewOrderSingle, OrderCancelRequest, OrderCancelReplaceRequest, OrderStatusRequest,
/// ExecutionReport and OrderCancelReject of FIX 4.2.
pub mod fix42 {
    include!(concat!(env!("OUT_DIR"), "/fix42.rs"));
}

/// The same messages of FIX 4.4.
pub mod fix44 {
    include!(concat!(env!("OUT_DIR"), "/fix44.rs"));
}
