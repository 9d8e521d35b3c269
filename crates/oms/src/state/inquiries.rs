//! Price inquiries that a venue has not answered yet.

use alloc::collections::BTreeMap;

use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::value::{Number, Text};
use fixwire_ledger::record;

/// A price inquiry that was sent to a venue.
#[derive(Clone, Debug)]
pub(crate) struct Inquiry {
    /// The client session.
    pub session: SessionNo,
    pub instrument: InstrumentNo,
    /// The session to the venue.
    pub line: SessionNo,
    /// Time at which it was sent, in nanoseconds since 1970.
    pub at: i64,
    /// QuoteReqID(131) of the client.
    pub id: Text,
    /// The order_no from a pool; empty if it has none.
    pub order_no: Text,
}

record! { Inquiry { session, instrument, line, at, id, order_no } }

/// A QuoteReqID(131) in the form in which it is kept among the ids of a session: after a byte that no ClOrdID(11)
/// contains.
pub(crate) struct InquiryKey {
    bytes: [u8; Text::MAX],
    len: usize,
}

impl InquiryKey {
    /// Maximum length of QuoteReqID(131), in bytes.
    pub(crate) const MOST: usize = Text::MAX - 2;

    pub(crate) fn new(id: &[u8]) -> Self {
        let mut bytes = [0; Text::MAX];
        bytes[..2].copy_from_slice(b"R\x01");
        let len = id.len().min(Self::MOST);
        bytes[2..len + 2].copy_from_slice(&id[..len]);
        Self {
            bytes,
            len: len + 2,
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// All inquiries, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inquiries(pub(crate) BTreeMap<Number, Inquiry>);

record! { Inquiries(_) }

impl Inquiries {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn add(&mut self, number: Number, inquiry: Inquiry) {
        self.0.insert(number, inquiry);
    }

    /// Removes an inquiry; `None` if the inquiry is not waiting for an answer.
    pub(crate) fn remove(&mut self, number: Number) -> Option<()> {
        self.0.remove(&number).map(|_| ())
    }

    pub(crate) fn get(&self, inquiry: Number) -> Option<&Inquiry> {
        self.0.get(&inquiry)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Number, &Inquiry)> {
        self.0.iter().map(|(number, inquiry)| (*number, inquiry))
    }

    /// Number of inquiries of a session that wait for an answer.
    pub(crate) fn of_session(&self, session: SessionNo) -> usize {
        let all = self.0.values();
        all.filter(|inquiry| inquiry.session == session).count()
    }
}
