//! Tags of requests that change no order.

use fixwire_protocol::Tag;

pub(crate) const QUOTE_ID: Tag = 117;
pub(crate) const QUOTE_REQ_ID: Tag = 131;
pub(crate) const NO_RELATED_SYM: Tag = 146;
pub(crate) const SUBSCRIPTION_REQUEST_TYPE: Tag = 263;
pub(crate) const QUOTE_STATUS: Tag = 297;
pub(crate) const QUOTE_REJECT_REASON: Tag = 300;
pub(crate) const SECURITY_STATUS_REQ_ID: Tag = 324;
pub(crate) const SECURITY_TRADING_STATUS: Tag = 326;
pub(crate) const TRAD_SES_REQ_ID: Tag = 335;
pub(crate) const TRADING_SESSION_ID: Tag = 336;
pub(crate) const TRAD_SES_STATUS: Tag = 340;
pub(crate) const QUOTE_REQUEST_REJECT_REASON: Tag = 658;
