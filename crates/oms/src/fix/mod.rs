//! FIX on both sides: client requests become inputs; events become reports to clients and orders to venues.

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
mod quantities;
pub(crate) mod quotes;
mod reject_codes;
pub(crate) mod report_requests;
pub(crate) mod reports;
pub(crate) mod requests;
pub(crate) mod spreads;
pub(crate) mod status;
pub(crate) mod terms;
pub(crate) mod venue_fields;
