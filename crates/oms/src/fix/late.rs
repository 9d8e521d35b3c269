//! Reports of terms that a venue reports late: those of a pending replace, of one that was given up, or set elsewhere.

use fixwire_protocol::Outbox;

use super::clients::{Before, Client, Extra, plain};
use crate::state::OmsState;
use crate::value::Number;

/// ExecRestatementReason(378): market (exchange) option.
const MARKET_OPTION: u64 = 8;
/// Broker option: FIX 4.2 has no other.
const BROKER_OPTION: u64 = 4;

/// Writes the report of an order whose terms the venue has set.
#[cold]
pub(super) fn terms(
    state: &OmsState,
    number: Number,
    before: &Before,
    client: Client,
    outbox: &mut Outbox,
) {
    let order = state.orders().get(number);
    if order.is_none_or(|order| order.is_external()) {
        return plain(state, number, (b'5', b"", None), client, outbox);
    }
    if before.order() == Some(number) {
        let extra = before.original().map(Extra::Original);
        return plain(state, number, (b'5', b"", extra), client, outbox);
    }
    let reason = if client.is_old() {
        BROKER_OPTION
    } else {
        MARKET_OPTION
    };
    let text = b"the venue has carried out a replace that was rejected as not received";
    let extra = Some(Extra::Restated(reason));
    plain(state, number, (b'D', text, extra), client, outbox);
}
