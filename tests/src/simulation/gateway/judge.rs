//! Invariants of the views of clients and venues when all is settled.

use super::Token;
use super::client::Client;
use super::venue::Venue;

/// Compares all views.
///
/// # Errors
///
/// The first invariant that does not hold.
pub(super) fn judge(clients: &[Client], venues: &[Venue], rules: u64) -> Result<(), String> {
    for client in clients {
        let letter = client.peer.identity().letter;
        for (at, order) in client.orders.iter().enumerate() {
            let venue = &venues[order.venue];
            for (place, request) in order.requests.iter().enumerate() {
                let token = Token {
                    client: letter,
                    order: at,
                    request: place,
                };
                let what = request.kind;
                let arrived = venue.arrived.get(&token);
                if request.answers != 1 {
                    let answers = request.answers;
                    return Err(format!("G2: {what} {token} has {answers} answers"));
                }
                let Some(arrived) = arrived else {
                    if request.rejected_by_gateway {
                        continue;
                    }
                    return Err(format!("G1: {what} {token} never reached its venue"));
                };
                if request.rejected_by_gateway {
                    return Err(format!(
                        "G1: {what} {token} reached its venue, and was rejected"
                    ));
                }
                let same = arrived.kind == what as u8 && arrived.quantity == request.quantity;
                if !same || !(request.rules..=rules).contains(&arrived.rules) {
                    return Err(format!("G4: {what} {token} has become {arrived:?}"));
                }
            }
        }
    }
    for (place, venue) in venues.iter().enumerate() {
        for (report, letter) in &venue.reports {
            let mut clients = clients.iter();
            let client = clients.find(|client| client.peer.identity().letter == *letter);
            if !client.is_some_and(|client| client.reports.contains(report)) {
                return Err(format!("G2: report {report} never reached client {letter}"));
            }
        }
        let sent = |token: &Token| {
            let mut clients = clients.iter();
            let client = clients.find(|client| client.peer.identity().letter == token.client);
            let order = client.and_then(|client| client.orders.get(token.order));
            order.is_some_and(|order| order.venue == place && token.request < order.requests.len())
        };
        if let Some(token) = venue.arrived.keys().find(|token| !sent(token)) {
            return Err(format!(
                "G1: venue {place} has {token}, which is not for it"
            ));
        }
    }
    Ok(())
}
