//! Answers requests for the status of sessions.
//!
//! # Source
//!
//! FIX 4.4 Volume 3, NetworkCounterpartySystemStatusRequest and NetworkCounterpartySystemStatusResponse.

use alloc::vec::Vec;
use fixwire_protocol::tag;

use fixwire_protocol::dictionary::Dictionary;
use fixwire_protocol::{Body, BodyError, Message, Outbox, SessionId};

use super::answer::turned;
use crate::rules::{STATUS_REQUEST, STATUS_RESPONSE};

const CONNECTED: &[u8] = b"1";
const DOWN_EXPECTED_UP: &[u8] = b"2";
const DOWN_EXPECTED_DOWN: &[u8] = b"3";

/// A status response before it is written.
pub(super) struct Status<'a> {
    /// The session that receives the response.
    pub to: SessionId,
    pub dictionary: &'a Dictionary,
    pub message: &'a Message<'a>,
    /// The CompIDs of peers, sorted, with their sessions.
    pub peers: &'a [(Vec<u8>, usize)],
    /// For each session, whether it is logged on.
    pub active: &'a [bool],
    /// For each session, whether it is within its schedule.
    pub open: &'a [bool],
    /// A unique number for NetworkResponseID(932).
    pub number: i64,
}

impl Status<'_> {
    /// Writes the status of the requested peers; of all peers if the request names none.
    pub fn write(&self, outbox: &mut Outbox) -> Result<(), BodyError> {
        let mut body = outbox.begin(self.to, STATUS_RESPONSE);
        turned(self.dictionary, self.message, &mut body);
        body.field(tag::NETWORK_STATUS_RESPONSE_TYPE, b"1");
        let request = self.message.get(tag::NETWORK_REQUEST_ID);
        if let Some(id) = request.filter(|id| !id.is_empty()) {
            body.field(tag::NETWORK_REQUEST_ID, id);
        }
        let mut number = itoa::Buffer::new();
        let id = number.format(self.number).as_bytes();
        body.field(tag::NETWORK_RESPONSE_ID, id);
        let same = |one: &(Vec<u8>, usize), other: &(Vec<u8>, usize)| one.0 == other.0;
        let all = || self.peers.chunk_by(same);
        let count = match self.asked().count() {
            0 => all().count(),
            asked => asked,
        };
        body.field(tag::NO_COMP_IDS, number.format(count).as_bytes());
        match self.asked().next() {
            Some(_) => self
                .asked()
                .for_each(|peer| self.entry(peer, self.sessions(peer), &mut body)),
            None => all().for_each(|sessions| self.entry(&sessions[0].0, sessions, &mut body)),
        }
        body.finish()
    }

    /// The requested CompIDs.
    fn asked(&self) -> impl Iterator<Item = &[u8]> {
        let group = self.dictionary.group(STATUS_REQUEST, tag::NO_COMP_IDS);
        let group = group.and_then(|group| self.message.group(group));
        let entries = group.into_iter().flatten();
        let names = entries.filter_map(|entry| entry.get(tag::REF_COMP_ID));
        names.filter(|name| !name.is_empty())
    }

    /// The sessions whose peer has this CompID.
    fn sessions(&self, peer: &[u8]) -> &[(Vec<u8>, usize)] {
        let start = self.peers.partition_point(|(known, _)| **known < *peer);
        let behind = &self.peers[start..];
        let len = behind.partition_point(|(known, _)| **known == *peer);
        &behind[..len]
    }

    fn entry(&self, peer: &[u8], sessions: &[(Vec<u8>, usize)], body: &mut Body<'_>) {
        let any = |all: &[bool]| sessions.iter().any(|(_, at)| all[*at]);
        let status = match (any(self.active), any(self.open)) {
            (true, _) => CONNECTED,
            (false, true) => DOWN_EXPECTED_UP,
            (false, false) => DOWN_EXPECTED_DOWN,
        };
        body.field(tag::REF_COMP_ID, peer);
        body.field(tag::STATUS_VALUE, status);
        if sessions.is_empty() {
            body.field(tag::STATUS_TEXT, b"unknown CompID");
        }
    }
}
