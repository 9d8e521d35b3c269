//! What becomes of fields that the OMS has no use for itself: on the way to a venue, and back to a client.

pub(crate) mod carried;
pub mod contract;
pub mod field_table;

use fixwire_protocol::Tag;

use contract::{Contract, Passage, Treatment};
use field_table::{Messages, request_treatment};

/// The most that `carried_bytes` may be: with it, what one message causes still fits into the outbox.
pub(crate) const CARRIED_MAX: usize = 4096;
/// Maximum length of the fields of `set` of one contract, with tags and SOH.
pub(crate) const SETS_MAX: usize = 1024;
/// Maximum length of what a message carries, as it is sent: there is room for as much.
pub(crate) const SENT_MAX: usize = CARRIED_MAX + SETS_MAX;

/// The most that each order of a quote carries of it: both are sent at once, and what they replace is cancelled.
pub(crate) const QUOTE_MAX: usize = 1024;

/// Whether the contract of a line group takes a field that a request carries, whose user has this contract.
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
