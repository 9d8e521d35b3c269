//! TMP members: converts their requests to the form that the market uses, and the market's reports to TMP.
//!
//! ```text
//!   R01  > request  > fields of D, F, G as in notes, with a ticket as ClOrdID   > market
//!   R02, R03 < link < reports < order, ticket of its last successful request    < market
//! ```

pub(crate) mod bulletin;
pub(crate) mod copies;
pub(crate) mod line;
pub(crate) mod reports;
pub(crate) mod request;
pub(crate) mod store;
pub(crate) mod ticket;
