//! Requests with the order numbers of the trial in place of those of the record.

use alloc::vec::Vec;

use fixwire_protocol::{Decoder, Dictionary, Field, Message};

use crate::app::OmsSession;
use crate::values::show::digits;
use crate::values::value::Number;

/// No order has this number.
pub(super) const NO_ORDER: Number = 0;

/// Writes requests with other numbers.
pub(super) struct Renumbering {
    /// Decodes the written requests. The decoder knows the data fields of all clients.
    decoder: Decoder,
    /// The bytes of the written request.
    bytes: Vec<u8>,
}

impl Renumbering {
    pub fn new(sessions: &[OmsSession]) -> Self {
        let mut decoder = Decoder::with_capacity(1024);
        for session in sessions {
            decoder.learn(&session.dictionary);
        }
        Self {
            decoder,
            bytes: Vec::new(),
        }
    }

    /// Learns the data fields of a session.
    pub fn learn(&mut self, dictionary: &Dictionary) {
        self.decoder.learn(dictionary);
    }

    /// A request with a number as the value of each field for which `number` returns one.
    pub fn renumbered(
        &mut self,
        request: &Message<'_>,
        number: impl Fn(Field) -> Option<Number>,
    ) -> Message<'_> {
        self.bytes.clear();
        for (at, field) in request.fields().iter().enumerate() {
            let Some(number) = number(*field) else {
                self.bytes.extend_from_slice(request.raw(at..at + 1));
                continue;
            };
            self.bytes
                .extend_from_slice(digits(field.tag.into()).bytes());
            self.bytes.push(b'=');
            self.bytes.extend_from_slice(digits(number).bytes());
            self.bytes.push(b'\x01');
        }
        self.decoder.decode(&self.bytes)
    }
}
