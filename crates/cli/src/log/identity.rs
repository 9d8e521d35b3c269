//! Finds the session of a settings file to which a message of a log belongs, by the message's CompIDs.

use fixwire::settings::{Id, SessionSettings};
use fixwire_protocol::{Message, SessionId, Tag, tag};

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
        (message.begin_string() == self.begin_string).then_some(shared)
    }
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
