//! Finds the session of a settings file to which a message of a log belongs, by the message's CompIDs.

use std::collections::HashMap;

use fixwire::settings::{Id, SessionSettings};
use fixwire_oms::rules::CreatedName;
use fixwire_protocol::{Message, SOH, SessionId, Tag, tag};
use fixwire_reader::MessageHead;

/// The CompIDs, SubIDs and LocationIDs in messages from a session's peer.
pub struct SessionIdentity {
    begin_string: Vec<u8>,
    /// SenderCompID, SenderSubID, SenderLocationID.
    peer: [Vec<u8>; 3],
    /// TargetCompID, TargetSubID, TargetLocationID.
    own: [Vec<u8>; 3],
}

/// The sender of a message: one side of a session. The value is the session's index in the settings file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sender {
    /// The session's peer.
    Peer(SessionId),
    /// Our side of the session.
    Ours(SessionId),
}

const SENDER: [Tag; 3] = [
    tag::SENDER_COMP_ID,
    tag::SENDER_SUB_ID,
    tag::SENDER_LOCATION_ID,
];
const TARGET: [Tag; 3] = [
    tag::TARGET_COMP_ID,
    tag::TARGET_SUB_ID,
    tag::TARGET_LOCATION_ID,
];

impl SessionIdentity {
    pub fn of(session: &SessionSettings) -> Self {
        let text = |id| session.text(id).unwrap_or_default().as_bytes().to_vec();
        Self {
            begin_string: text(Id::BeginString),
            peer: [Id::TargetCompID, Id::TargetSubID, Id::TargetLocationID].map(text),
            own: [Id::SenderCompID, Id::SenderSubID, Id::SenderLocationID].map(text),
        }
    }

    /// Number of optional identity fields that are equal in the session and the message; `None` when the message does
    /// not belong to the session.
    fn fits(
        &self,
        message: &Message<'_>,
        sender: &[Vec<u8>; 3],
        target: &[Vec<u8>; 3],
    ) -> Option<usize> {
        if message.begin_string() != self.begin_string {
            return None;
        }
        let get = |tag| message.get(tag).unwrap_or_default();
        let named = SENDER.iter().zip(sender).chain(TARGET.iter().zip(target));
        let mut shared = 0;
        for (tag, name) in named {
            let optional = ![tag::SENDER_COMP_ID, tag::TARGET_COMP_ID].contains(tag);
            if optional && name.is_empty() {
                continue;
            }
            if get(*tag) != name {
                return None;
            }
            shared += 1;
        }
        Some(shared)
    }

    /// As [`fits`](Self::fits), for a message from the peer or to the peer.
    fn shared(&self, message: &Message<'_>, peer_sent: bool) -> Option<usize> {
        match peer_sent {
            true => self.fits(message, &self.peer, &self.own),
            false => self.fits(message, &self.own, &self.peer),
        }
    }

    /// Whether SubIDs or LocationIDs belong to the session's identity.
    fn has_sub_ids(&self) -> bool {
        let mut sub_ids = self.peer[1..].iter().chain(&self.own[1..]);
        sub_ids.any(|id| !id.is_empty())
    }
}

/// A section with `AcceptorTemplate`. Logons create its sessions, which differ in TargetCompID.
pub struct TemplateIdentity {
    /// Its TargetCompID is `*`.
    identity: SessionIdentity,
    name: CreatedName,
}

/// A session that a Logon has created.
pub struct CreatedIdentity {
    pub identity: SessionIdentity,
    /// Name of the session in the engine.
    pub name: String,
}

impl TemplateIdentity {
    /// `None` when TargetCompID is not the only `*`.
    pub fn of(session: &SessionSettings) -> Option<Self> {
        Some(Self {
            identity: SessionIdentity::of(session),
            name: CreatedName::new(&session.name())?,
        })
    }

    /// The session of a message, if a Logon can have created it.
    pub fn session_of(&self, message: &Message<'_>) -> Option<CreatedIdentity> {
        let peers = [(true, tag::SENDER_COMP_ID), (false, tag::TARGET_COMP_ID)];
        peers.into_iter().find_map(|(peer_sent, tag)| {
            let id = str::from_utf8(message.get(tag)?).ok()?;
            let of = &self.identity;
            let [_, sub_id, location] = &of.peer;
            let identity = SessionIdentity {
                begin_string: of.begin_string.clone(),
                peer: [id.into(), sub_id.clone(), location.clone()],
                own: of.own.clone(),
            };
            identity.shared(message, peer_sent)?;
            let name = self.name.of(id);
            (!id.is_empty()).then_some(CreatedIdentity { identity, name })
        })
    }
}

/// The sender of all messages with the same BeginString(8) and CompIDs.
pub struct SenderByIds {
    /// The sender.
    pub sender: Sender,
    /// All sessions with these CompIDs, in either direction.
    pub sessions: Vec<SessionId>,
}

/// Finds the senders of messages by BeginString(8) and CompIDs alone.
#[derive(Default)]
pub struct SendersByIds {
    all: Vec<KnownSender>,
    /// The place of each, by BeginString and CompIDs.
    places: HashMap<Vec<u8>, usize>,
    /// The places that were found last: most messages of a log have the same few senders.
    recent: [usize; 4],
    /// The place in `recent` that is replaced next.
    oldest: usize,
    key: Vec<u8>,
}

/// BeginString(8), SenderCompID(49) and TargetCompID(56), with their sender.
struct KnownSender {
    ids: [Vec<u8>; 3],
    /// `None` if the sender also depends on other fields.
    sender: Option<SenderByIds>,
}

impl SendersByIds {
    /// The senders of all messages of sessions. Messages whose session also depends on SubIDs or LocationIDs have none.
    pub fn new(sessions: &[SessionIdentity]) -> Self {
        let mut senders = Self::default();
        for at in 0..sessions.len() {
            senders.add(sessions, at);
        }
        senders
    }

    /// Adds the senders of messages of one of these sessions.
    pub fn add(&mut self, sessions: &[SessionIdentity], at: usize) {
        let session = &sessions[at];
        for ends in [[&session.peer, &session.own], [&session.own, &session.peer]] {
            let [from, to] = ends.map(|ids| ids[0].as_slice());
            let begin_string = session.begin_string.as_slice();
            let sender = SenderByIds::of(sessions, begin_string, [from, to]);
            let ids = [begin_string, from, to].map(<[u8]>::to_vec);
            set_key(&mut self.key, [begin_string, from, to]);
            let known = KnownSender { ids, sender };
            match self.places.get(self.key.as_slice()) {
                Some(place) => self.all[*place] = known,
                None => {
                    self.places.insert(self.key.clone(), self.all.len());
                    self.all.push(known);
                }
            }
        }
    }

    /// The sender of a message with these fields.
    pub fn find(&mut self, head: &MessageHead<'_>) -> Option<&SenderByIds> {
        let ids = [head.begin_string, head.sender, head.target];
        let mut recent = self.recent.iter();
        let is_it = |place: &&usize| self.all.get(**place).is_some_and(|it| it.ids == ids);
        let place = match recent.find(is_it) {
            Some(place) => *place,
            None => {
                set_key(&mut self.key, ids);
                let place = *self.places.get(self.key.as_slice())?;
                self.recent[self.oldest] = place;
                self.oldest = (self.oldest + 1) % self.recent.len();
                place
            }
        };
        self.all.get(place)?.sender.as_ref()
    }
}

/// Writes BeginString(8) and CompIDs as one key.
fn set_key(key: &mut Vec<u8>, ids: [&[u8]; 3]) {
    key.clear();
    for id in ids {
        key.extend_from_slice(id);
        key.push(SOH);
    }
}

impl SenderByIds {
    fn of(
        sessions: &[SessionIdentity],
        begin_string: &[u8],
        [sender, target]: [&[u8]; 2],
    ) -> Option<Self> {
        let numbered = || (0..).map(SessionId).zip(sessions);
        let of = |peer_sent: bool| {
            let named = numbered().filter(move |(_, it)| {
                let (from, to) = match peer_sent {
                    true => (&it.peer, &it.own),
                    false => (&it.own, &it.peer),
                };
                it.begin_string == begin_string && from[0] == sender && to[0] == target
            });
            named.map(|(at, _)| at)
        };
        let all: Vec<SessionId> = of(true).chain(of(false)).collect();
        let has_sub_ids = |at: &SessionId| sessions[at.0 as usize].has_sub_ids();
        if all.iter().any(has_sub_ids) {
            return None;
        }
        let peer = of(true).last().map(Sender::Peer);
        Some(Self {
            sender: peer.or_else(|| of(false).last().map(Sender::Ours))?,
            sessions: all,
        })
    }
}

/// The session of a message, and the side that sent it.
///
/// # Errors
///
/// No session of the file has the CompIDs of the message.
pub fn sender(sessions: &[SessionIdentity], message: &Message<'_>) -> Result<Sender, String> {
    let best = |peer_sent: bool| {
        let numbered = (0..).map(SessionId).zip(sessions);
        let fitting =
            numbered.filter_map(|(at, session)| Some((session.shared(message, peer_sent)?, at)));
        fitting.max_by_key(|(shared, _)| *shared).map(|(_, at)| at)
    };
    if let Some(at) = best(true) {
        return Ok(Sender::Peer(at));
    }
    if let Some(at) = best(false) {
        return Ok(Sender::Ours(at));
    }
    let text = |tag| String::from_utf8_lossy(message.get(tag).unwrap_or_default()).into_owned();
    let (begin, sender, target) = (
        text(tag::BEGIN_STRING),
        text(tag::SENDER_COMP_ID),
        text(tag::TARGET_COMP_ID),
    );
    Err(format!(
        "no session for {begin} messages from {sender} to {target}"
    ))
}

#[cfg(test)]
mod tests {
    use fixwire_protocol::Decoder;
    use fixwire_random::Random;

    use super::*;

    fn session(begin_string: &str, peer: [&str; 3], own: [&str; 3]) -> SessionIdentity {
        let bytes = |ids: [&str; 3]| ids.map(|id| id.as_bytes().to_vec());
        SessionIdentity {
            begin_string: begin_string.into(),
            peer: bytes(peer),
            own: bytes(own),
        }
    }

    #[test]
    fn the_sender_by_the_head_of_a_message_is_that_of_the_decoded_message() {
        let sessions = [
            session("FIX.4.2", ["A", "", ""], ["OMS", "", ""]),
            session("FIX.4.4", ["A", "", ""], ["OMS", "", ""]),
            session("FIX.4.4", ["B", "", ""], ["OMS", "", ""]),
            session("FIX.4.4", ["B", "SUB", ""], ["OMS", "", ""]),
            session("FIX.4.4", ["OMS", "", ""], ["OMS", "", ""]),
            // The same CompIDs in the other direction, and twice.
            session("FIX.4.4", ["OMS", "", ""], ["A", "", ""]),
            session("FIX.4.2", ["A", "", ""], ["OMS", "", ""]),
        ];
        let mut senders = SendersByIds::new(&sessions);
        let mut random = Random::xorshift_star(7);
        let mut decoder = Decoder::with_capacity(64);
        let mut found = 0;
        for _ in 0..40_000 {
            let mut fields = Vec::new();
            let ids = ["A", "B", "OMS", "SUB"];
            for tag in [35, 49, 56, 50, 57, 52, 58, 49, 90] {
                if random.one_in(if tag == 90 { 8 } else { 5 }) {
                    continue;
                }
                let value = match tag {
                    35 => "D",
                    90 => "6\x0191=X\x0149=A",
                    _ => ids[random.place(ids.len())],
                };
                fields.push(format!("{tag}={value}\x01"));
                if tag == 90 && random.one_in(2) {
                    fields.pop();
                }
            }
            for at in (1..fields.len()).rev() {
                fields.swap(at, random.place(at + 1));
            }
            let begin = ["FIX.4.2", "FIX.4.4", "FIX.4.3"][random.place(3)];
            let text = format!("8={begin}\x019=5\x01{}", fields.concat());
            let message = decoder.decode(text.as_bytes());
            let Some(head) = MessageHead::of(text.as_bytes()) else {
                continue;
            };
            assert_eq!(head.msg_type, message.msg_type());
            if let Some(by_ids) = senders.find(&head) {
                assert_eq!(sender(&sessions, &message), Ok(by_ids.sender), "{text}");
                found += 1;
            }
        }
        assert!(found > 1_000, "{found}");
    }
}
