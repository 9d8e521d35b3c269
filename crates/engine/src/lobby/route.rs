//! Finds the session or template for a first Logon, and checks password and certificate.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;

use fixwire_net::network::allows;
use fixwire_passwords::{Question, same};
use fixwire_protocol::session::{BeginString, LogonIdentity, Party};
use fixwire_protocol::{Message, Secret, tag};

use super::doorman::{Target, recount, source};
use crate::canary::{self, PlantedFault};
use crate::config::Access;
use crate::host::ListenerId;
use crate::tls::Pin;

/// A session or template that accepts connections.
pub(super) struct Route {
    pub(super) listener: ListenerId,
    pub(super) target: Target,
    pub(super) begin_string: BeginString,
    pub(super) own: Party,
    pub(super) peer: Party,
    pub(super) access: Access,
    pub(super) username: Vec<u8>,
    pub(super) password: Secret,
    /// The certificates that the peer may present; empty if every certificate is allowed.
    pub(super) certificates: Vec<Pin>,
}

/// Result of checking the password in a Logon.
pub(super) enum Password {
    Right,
    Wrong,
    /// The password must be compared on another thread.
    Compare(Question),
}

pub(super) fn has_password(route: &Route, message: &Message<'_>) -> Password {
    let demands = |demanded: &[u8], tag| {
        demanded.is_empty() || same(demanded, message.get(tag).unwrap_or_default())
    };
    if canary::is(PlantedFault::AnyPassword) {
        return Password::Right;
    }
    // Both are checked, even if the first check fails.
    if !(demands(&route.username, tag::USERNAME) & demands(&route.password, tag::PASSWORD)) {
        return Password::Wrong;
    }
    let Some(users) = &route.access.users else {
        return Password::Right;
    };
    let value = |tag| message.get(tag).unwrap_or_default();
    Password::Compare(Question::compare(
        users,
        value(tag::USERNAME),
        value(tag::PASSWORD),
        message.get(tag::NEW_PASSWORD),
    ))
}

/// The sessions and templates that accept connections. The cost of a Logon or of a connection does not grow with
/// their number. The exception is sessions with `AllowedRemoteAddresses`, which are searched one by one.
#[derive(Default)]
pub(super) struct Routes {
    /// The route of each session that has one.
    sessions: Vec<Option<Route>>,
    /// Sessions, by a hash of listener, BeginString and CompIDs.
    by_ids: HashMap<u64, Vec<usize>>,
    hasher: RandomState,
    ports: HashMap<ListenerId, Port>,
    /// For sessions without address restrictions: the number of sessions that last logged on from each address.
    known: HashMap<(ListenerId, IpAddr), usize>,
}

/// The sessions of one listener, for look-ups by address.
#[derive(Default)]
struct Port {
    templates: Vec<Route>,
    /// Number of sessions without address restrictions.
    open: usize,
    /// The sessions that have `AllowedRemoteAddresses`.
    restricted: Vec<usize>,
}

impl Routes {
    /// Adds a template, or a session that has no route yet. The session last logged on from `known`.
    pub(super) fn add(&mut self, route: Route, known: Option<IpAddr>) {
        let port = self.ports.entry(route.listener).or_default();
        let session = match route.target {
            Target::Template(_) => return port.templates.push(route),
            Target::Session(session) => session,
        };
        match route.access.addresses.is_empty() {
            true => port.open += 1,
            false => port.restricted.push(session),
        }
        let hash = self.hash_of(&route);
        self.by_ids.entry(hash).or_default().push(session);
        if session >= self.sessions.len() {
            self.sessions.resize_with(session + 1, || None);
        }
        self.sessions[session] = Some(route);
        self.moved(session, None, known);
    }

    /// Removes the route of a session. The session last logged on from `known`.
    pub(super) fn remove(&mut self, session: usize, known: Option<IpAddr>) {
        self.moved(session, known, None);
        let Some(route) = self.sessions.get_mut(session).and_then(Option::take) else {
            return;
        };
        let port = self.ports.entry(route.listener).or_default();
        match route.access.addresses.is_empty() {
            true => port.open -= 1,
            false => port.restricted.retain(|other| *other != session),
        }
        if let Entry::Occupied(mut same) = self.by_ids.entry(self.hash_of(&route)) {
            same.get_mut().retain(|other| *other != session);
            if same.get().is_empty() {
                same.remove();
            }
        }
    }

    /// Records that a session logged on from an address other than `before`.
    pub(super) fn moved(&mut self, session: usize, before: Option<IpAddr>, now: Option<IpAddr>) {
        let route = self.sessions.get(session).and_then(Option::as_ref);
        if let Some(route) = route.filter(|route| route.access.addresses.is_empty()) {
            let at = |address| (route.listener, address);
            recount(&mut self.known, before.map(at), now.map(at));
        }
    }

    /// Whether any session of this listener allows the address.
    pub(super) fn lets_in(&self, listener: ListenerId, address: IpAddr) -> bool {
        let allows = |route: &Route| allows(&route.access.addresses, address);
        self.ports.get(&listener).is_some_and(|port| {
            port.open > 0
                || port.templates.iter().any(allows)
                || self.of(&port.restricted).any(allows)
        })
    }

    /// Number of a listener's sessions and templates that belong to an address: by `AllowedRemoteAddresses`, or
    /// because they last logged on from it (`knows`).
    pub(super) fn belonging(
        &self,
        listener: ListenerId,
        address: IpAddr,
        knows: impl Fn(usize) -> bool,
    ) -> usize {
        let Some(port) = self.ports.get(&listener) else {
            return 0;
        };
        let names = |route: &Route| {
            let addresses = &route.access.addresses;
            !addresses.is_empty() && allows(addresses, address)
        };
        let known = self.known.get(&(listener, source(address))).copied();
        let templates = port.templates.iter().filter(|route| names(route));
        let restricted = self.of(&port.restricted).filter(|route| {
            names(route) || matches!(route.target, Target::Session(session) if knows(session))
        });
        known.unwrap_or_default() + templates.count() + restricted.count()
    }

    /// The routes of these sessions.
    fn of<'a>(&'a self, sessions: &'a [usize]) -> impl Iterator<Item = &'a Route> {
        sessions
            .iter()
            .filter_map(|session| self.sessions[*session].as_ref())
    }

    /// The session or template of a listener for a Logon. CompIDs must be equal; SubIDs and LocationIDs must be equal
    /// where they are configured. A session takes precedence over a template. Of several sessions, the one with most
    /// of these ids is taken; of several templates, the first one.
    pub(super) fn find(
        &self,
        listener: ListenerId,
        identity: &LogonIdentity<'_>,
    ) -> Option<&Route> {
        let (own, peer) = (identity.own_comp_id, identity.peer_comp_id);
        let hash = self.hash(listener, identity.begin_string, own, peer);
        let sessions = self.by_ids.get(&hash).map_or(&[][..], |same| same);
        let templates = self.ports.get(&listener).map(|port| &port.templates[..]);
        let matches = |route: &&Route| {
            let template = matches!(route.target, Target::Template(_));
            let is = |ours: &[u8], theirs: &[u8]| ours == theirs || template && ours == b"*";
            let fits = |ours: &[u8], theirs: &[u8]| ours.is_empty() || is(ours, theirs);
            route.listener == listener
                && route.begin_string == identity.begin_string
                && is(&route.own.comp_id, own)
                && is(&route.peer.comp_id, peer)
                && fits(&route.own.sub_id, identity.own_sub_id)
                && fits(&route.own.location_id, identity.own_location_id)
                && fits(&route.peer.sub_id, identity.peer_sub_id)
                && fits(&route.peer.location_id, identity.peer_location_id)
        };
        self.of(sessions)
            .chain(templates.unwrap_or_default())
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

    fn hash_of(&self, route: &Route) -> u64 {
        let (own, peer) = (&route.own.comp_id, &route.peer.comp_id);
        self.hash(route.listener, route.begin_string, own, peer)
    }

    fn hash(&self, listener: ListenerId, version: BeginString, own: &[u8], peer: &[u8]) -> u64 {
        self.hasher.hash_one((listener, version, own, peer))
    }
}

#[cfg(test)]
mod tests {
    use fixwire_net::network::Network;
    use proptest::prelude::*;

    use super::*;

    const HERE: [ListenerId; 2] = [ListenerId(0), ListenerId(1)];
    const IDS: [&[u8]; 3] = [b"", b"A", b"B"];

    fn ip(host: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, host])
    }

    fn party(comp_id: usize, sub_id: usize) -> Party {
        Party {
            comp_id: IDS[comp_id].into(),
            sub_id: IDS[sub_id].into(),
            ..Party::default()
        }
    }

    fn route(target: Target, ids: [usize; 4], addresses: &[u8]) -> Route {
        let networks = addresses.iter().map(|host| ip(*host).to_string());
        Route {
            listener: HERE[ids[3]],
            target,
            begin_string: BeginString::Fix42,
            own: party(1 + ids[0], ids[1]),
            peer: party(1, ids[2]),
            access: Access {
                addresses: networks
                    .map(|text| text.parse::<Network>().unwrap())
                    .collect(),
                ..Access::default()
            },
            username: Vec::new(),
            password: Secret::from(&b""[..]),
            certificates: Vec::new(),
        }
    }

    /// The same, by a search through all routes.
    #[derive(Default)]
    struct Plain {
        routes: Vec<(Target, [usize; 4], Vec<u8>)>,
        known: HashMap<usize, IpAddr>,
    }

    impl Plain {
        fn here(&self, port: usize) -> impl Iterator<Item = &(Target, [usize; 4], Vec<u8>)> {
            self.routes.iter().filter(move |route| route.1[3] == port)
        }

        fn lets_in(&self, port: usize, host: u8) -> bool {
            self.here(port)
                .any(|(_, _, hosts)| hosts.is_empty() || hosts.contains(&host))
        }

        fn belonging(&self, port: usize, host: u8) -> usize {
            let belongs = |(target, _, hosts): &&(Target, [usize; 4], Vec<u8>)| {
                let knows = matches!(target, Target::Session(session)
                    if self.known.get(session) == Some(&ip(host)));
                knows || hosts.contains(&host)
            };
            self.here(port).filter(belongs).count()
        }

        fn find(&self, port: usize, ids: [usize; 3]) -> Option<Target> {
            let fits = |ours: usize, theirs: usize| ours == 0 || ours == theirs;
            let matches = |route: &&(Target, [usize; 4], Vec<u8>)| {
                let [own, sub_id, peer, _] = route.1;
                own == ids[0] && fits(sub_id, ids[1]) && fits(peer, ids[2])
            };
            let order = |route: &&(Target, [usize; 4], Vec<u8>)| match route.0 {
                Target::Session(_) => route.1[1..3].iter().filter(|id| **id == 0).count(),
                Target::Template(_) => usize::MAX,
            };
            self.here(port)
                .filter(matches)
                .min_by_key(order)
                .map(|route| route.0)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Add(bool, [usize; 4], Vec<u8>),
        Remove(usize),
        LogOn(usize, u8),
    }

    fn step() -> impl Strategy<Value = Step> {
        let ids = [0..2_usize, 0..3, 0..3, 0..2];
        let hosts = prop_oneof![Just(Vec::new()), prop::collection::vec(0..3_u8, 1..3)];
        prop_oneof![
            2 => (any::<bool>(), ids, hosts).prop_map(|(template, ids, hosts)| Step::Add(template, ids, hosts)),
            1 => (0..20_usize).prop_map(Step::Remove),
            3 => (0..20_usize, 0..3_u8).prop_map(|(session, host)| Step::LogOn(session, host)),
        ]
    }

    proptest! {
        #[test]
        fn what_is_looked_up_is_what_a_look_at_each_route_finds(steps in prop::collection::vec(step(), 1..40)) {
            let (mut routes, mut plain) = (Routes::default(), Plain::default());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Add(template, ids, hosts) => {
                        let target = match template {
                            true => Target::Template(number),
                            false => Target::Session(number),
                        };
                        routes.add(route(target, ids, &hosts), plain.known.get(&number).copied());
                        plain.routes.push((target, ids, hosts));
                    }
                    Step::Remove(session) => {
                        routes.remove(session, plain.known.get(&session).copied());
                        plain.routes.retain(|route| route.0 != Target::Session(session));
                    }
                    Step::LogOn(session, host) => {
                        let before = plain.known.insert(session, ip(host));
                        routes.moved(session, before, Some(ip(host)));
                    }
                }
                for (port, host) in [(0, 0), (0, 1), (1, 0), (1, 2)] {
                    let knows = |session| plain.known.get(&session) == Some(&ip(host));
                    prop_assert_eq!(routes.lets_in(HERE[port], ip(host)), plain.lets_in(port, host));
                    prop_assert_eq!(
                        routes.belonging(HERE[port], ip(host), knows),
                        plain.belonging(port, host)
                    );
                }
                for ids in [[0, 0, 0], [1, 1, 0], [0, 2, 1], [1, 1, 1]] {
                    let (own, peer) = (party(1 + ids[0], ids[1]), party(1, ids[2]));
                    let identity = LogonIdentity {
                        begin_string: BeginString::Fix42,
                        own_comp_id: &own.comp_id,
                        own_sub_id: &own.sub_id,
                        own_location_id: b"",
                        peer_comp_id: &peer.comp_id,
                        peer_sub_id: &peer.sub_id,
                        peer_location_id: b"",
                    };
                    let found = routes.find(HERE[0], &identity).map(|route| route.target);
                    prop_assert_eq!(found, plain.find(0, ids));
                }
            }
        }
    }
}
