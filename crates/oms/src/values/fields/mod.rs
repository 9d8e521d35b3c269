//! Fields that the OMS itself does not use: which of them reach a venue, and which reach a client.

pub(crate) mod carried;
pub mod contract;
pub mod field_table;

use fixwire_protocol::Tag;

use contract::{Contract, Passage, Treatment};
use field_table::{Messages, request_treatment};

/// Maximum value of `carried_bytes`: with it, all messages that one message causes still fit into the outbox.
pub(crate) const CARRIED_MAX: usize = 4096;
/// Maximum length of the fields of `set` of one contract, with tags and SOH.
pub(crate) const SETS_MAX: usize = 1024;
/// Maximum length of all carried fields of a message as it is sent, in bytes: the outbox has room for that.
pub(crate) const SENT_MAX: usize = CARRIED_MAX + SETS_MAX;

/// Maximum length of the fields that each order of a quote carries, in bytes. It is smaller since both orders are sent
/// at once, together with the cancels of the replaced quote.
pub(crate) const QUOTE_MAX: usize = 1024;

/// Whether the contract of a line group accepts a field that a request carries; `user` is the contract of the user.
pub(crate) fn is_taken(
    group: &Contract,
    user: Option<&Contract>,
    message: Messages,
    tag: Tag,
    value: &[u8],
) -> bool {
    if let Some(treatment) = group.of(tag) {
        return treatment.pass(value) != Passage::Refused;
    }
    let of_user = user.and_then(|contract| contract.of(tag));
    let is_named = of_user.is_some_and(|it| !matches!(it, Treatment::Drop | Treatment::Refuse));
    is_named || request_treatment(tag, message) == Some(Treatment::Carry)
}
