//! Which session or template a first Logon is for, and whether it has its password and certificate.

use std::sync::Arc;

use fixwire_protocol::session::{BeginString, LogonIdentity, Party};
use fixwire_protocol::{Message, Secret, tag};

use crate::access::Target;
use crate::canary::{self, Fault};
use crate::config::Access;
use crate::host::{ConnId, Host, ListenerId};
use crate::passwords::{Question, Task, same};
use crate::tls::{self, Pin};

/// A session or template that takes connections.
pub(crate) struct Route {
    pub(crate) listener: ListenerId,
    pub(crate) target: Target,
    pub(crate) begin_string: BeginString,
    pub(crate) own: Party,
    pub(crate) peer: Party,
    pub(crate) access: Access,
    pub(crate) username: Vec<u8>,
    pub(crate) password: Secret,
    /// Certificates of which the peer must show one, if there are any.
    pub(crate) certificates: Vec<Pin>,
}

/// What a Logon says of its password.
pub(crate) enum Password {
    Right,
    Wrong,
    /// Only a comparison elsewhere can tell; the ticket is missing.
    Compare(Question),
}

/// Whether the peer has shown a certificate of the session.
pub(crate) fn has_certificate(host: &impl Host, conn: ConnId, route: &Route) -> bool {
    route.certificates.is_empty() || tls::allowed(&route.certificates, host.peer(conn).certificate)
}

pub(crate) fn has_password(route: &Route, message: &Message<'_>) -> Password {
    let demands = |demanded: &[u8], tag| {
        demanded.is_empty() || same(demanded, message.get(tag).unwrap_or_default())
    };
    if canary::is(Fault::AnyPassword) {
        return Password::Right;
    }
    // Both are looked at, whatever the first one says.
    if !(demands(&route.username, tag::USERNAME) & demands(&route.password, tag::PASSWORD)) {
        return Password::Wrong;
    }
    let Some(users) = &route.access.users else {
        return Password::Right;
    };
    let value = |tag| message.get(tag).unwrap_or_default();
    Password::Compare(Question {
        ticket: 0,
        users: Arc::clone(users),
        name: value(tag::USERNAME).to_vec(),
        task: Task::Compare(
            Secret::from(value(tag::PASSWORD)),
            message.get(tag::NEW_PASSWORD).map(Secret::from),
        ),
    })
}

/// The session or template of a listener that a Logon is for: the CompIDs are the same, and so are
/// those SubIDs and LocationIDs that it has. A session goes before a template, and whoever has most of
/// them before the others; of templates, the first one.
pub(crate) fn find<'a>(
    routes: &'a [Route],
    listener: ListenerId,
    identity: &LogonIdentity<'_>,
) -> Option<&'a Route> {
    let matches = |route: &&Route| {
        let template = matches!(route.target, Target::Template(_));
        let is = |ours: &[u8], theirs: &[u8]| ours == theirs || template && ours == b"*";
        let fits = |ours: &[u8], theirs: &[u8]| ours.is_empty() || is(ours, theirs);
        route.listener == listener
            && route.begin_string == identity.begin_string
            && is(&route.own.comp_id, identity.own_comp_id)
            && is(&route.peer.comp_id, identity.peer_comp_id)
            && fits(&route.own.sub_id, identity.own_sub_id)
            && fits(&route.own.location_id, identity.own_location_id)
            && fits(&route.peer.sub_id, identity.peer_sub_id)
            && fits(&route.peer.location_id, identity.peer_location_id)
    };
    routes
        .iter()
        .filter(matches)
        .min_by_key(|route| match route.target {
            Target::Session(_) => {
                let ids = [
                    &route.own.sub_id,
                    &route.own.location_id,
                    &route.peer.sub_id,
                    &route.peer.location_id,
                ];
                ids.iter().filter(|id| id.is_empty()).count()
            }
            Target::Template(_) => usize::MAX,
        })
}
