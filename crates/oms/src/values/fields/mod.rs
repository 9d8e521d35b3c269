//! What becomes of fields that the OMS has no use for itself: on the way to a venue, and back to a client.

pub(crate) mod carried;
pub mod contract;
pub mod field_table;
