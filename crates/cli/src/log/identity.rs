//! Finds the session of a settings file to which a message of a log belongs, by the message's CompIDs.

use fixwire::settings::{Id, SessionSettings};
use fixwire_protocol::{Message, SOH, SessionId, Tag, tag};

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

/// Number of fields at the beginning of a message that have BeginString(8), MsgType(35) and the CompIDs.
const HEAD: usize = 10;

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

    /// Whether BeginString(8) and the CompIDs of the session's messages are these, in either direction.
    fn has_ends(&self, begin_string: &[u8], ids: [&[u8]; 2]) -> bool {
        let [sender, target] = ids;
        let (peer, own) = (&self.peer[0], &self.own[0]);
        self.begin_string == begin_string
            && (peer == sender && own == target || own == sender && peer == target)
    }

    /// Whether SubIDs or LocationIDs belong to the session's identity.
    fn has_sub_ids(&self) -> bool {
        let mut sub_ids = self.peer[1..].iter().chain(&self.own[1..]);
        sub_ids.any(|id| !id.is_empty())
    }
}

/// Whether a condition on the session and MsgType(35) holds for every session that a message may belong to by its
/// BeginString(8) and CompIDs; the message is not decoded. False when no session has these CompIDs, when a session also
/// has SubIDs, and when the fields are not at the beginning of the message.
pub fn holds_for_sender(
    sessions: &[SessionIdentity],
    message: &[u8],
    holds: impl Fn(SessionId, &[u8]) -> bool,
) -> bool {
    let mut found = [None; 4];
    // The CompIDs follow BeginString(8), BodyLength(9) and MsgType(35), mostly before SendingTime(52).
    for field in message.split(|byte| *byte == SOH).take(HEAD) {
        let prefixes: [&[u8]; 4] = [b"8=", b"35=", b"49=", b"56="];
        for (prefix, value) in prefixes.iter().zip(&mut found) {
            *value = value.or_else(|| field.strip_prefix(*prefix));
        }
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    let [Some(begin), Some(msg_type), Some(sender), Some(target)] = found else {
        return false;
    };
    let numbered = (0..).map(SessionId).zip(sessions);
    let mut fitting = numbered.filter(|(_, it)| it.has_ends(begin, [sender, target]));
    let is_known = fitting.clone().next().is_some();
    is_known && fitting.all(|(at, it)| !it.has_sub_ids() && holds(at, msg_type))
}

/// The session of a message, and the side that sent it.
///
/// # Errors
///
/// No session of the file has these CompIDs.
pub fn sender(sessions: &[SessionIdentity], message: &Message<'_>) -> Result<Sender, String> {
    let best = |peer_sent: bool| {
        let numbered = (0..).map(SessionId).zip(sessions);
        let fitting = numbered.filter_map(|(at, session)| {
            let shared = match peer_sent {
                true => session.fits(message, &session.peer, &session.own),
                false => session.fits(message, &session.own, &session.peer),
            };
            Some((shared?, at))
        });
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
