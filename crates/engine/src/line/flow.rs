//! How much passes between a peer and its session: counted in messages, both ways.
//!
//! ```text
//!   peer -> Inbound: beyond its rate  Reject      answered, the application does not see it
//!                                     Delay       the connection is not read until a token is there
//!                                     Disconnect  Logout, and the connection is closed
//!   peer <- Pacer:   beyond its rate              waits in the journal, in order
//! ```

use fixwire_protocol::{Message, Mono, Refusal, tag};

use crate::bucket::{Bucket, Rate};
use crate::config::{Excess, Throttle};

/// What a peer may send.
pub(crate) struct Inbound {
    bucket: Bucket,
    excess: Excess,
    /// The connection is not read.
    pub(crate) paused: bool,
}

/// What becomes of a message that has come in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pass {
    /// It is taken.
    Now,
    /// It stays in the receive buffer until then.
    At(Mono),
    /// The connection ends.
    Never,
}

impl Inbound {
    pub(crate) fn new(throttle: Throttle) -> Self {
        Self {
            bucket: Bucket::new(&throttle.rate),
            excess: throttle.excess,
            paused: false,
        }
    }

    /// A message stands in the receive buffer.
    pub(crate) fn arrives(&mut self, now: Mono) -> Pass {
        match self.excess {
            Excess::Reject => Pass::Now,
            _ if self.bucket.take(now) => Pass::Now,
            Excess::Delay => Pass::At(self.bucket.next()),
            Excess::Disconnect => Pass::Never,
        }
    }

    /// A message is about to be given to the application: whether it may.
    #[cold]
    pub(crate) fn admits(&mut self, now: Mono, message: &Message<'_>) -> Result<(), Refusal> {
        let repeated = || message.get(tag::POSS_DUP_FLAG) == Some(b"Y");
        match self.excess == Excess::Reject && !repeated() && !self.bucket.take(now) {
            true => Err(Refusal::ThrottleLimitExceeded),
            false => Ok(()),
        }
    }
}

/// What a peer is sent.
pub(crate) struct Pacer {
    bucket: Bucket,
    /// No message may be written before this.
    out_until: Option<Mono>,
}

impl Pacer {
    pub(crate) fn new(rate: Rate) -> Self {
        Self {
            bucket: Bucket::new(&rate),
            out_until: None,
        }
    }

    /// Nothing may be written until the session is woken.
    pub(crate) fn is_out(&self) -> bool {
        self.out_until.is_some()
    }

    /// How many messages may be written now.
    pub(crate) fn allowance(&mut self, now: Mono) -> u64 {
        let available = self.bucket.available(now);
        if available > 0 {
            self.out_until = None;
        }
        available
    }

    /// So many were written; when the next one may be, if not now.
    pub(crate) fn spend(&mut self, now: Mono, count: u64) -> Option<Mono> {
        self.bucket.spend(now, count);
        self.out_until = (self.bucket.available(now) == 0).then(|| self.bucket.next());
        self.out_until
    }

    /// Time has passed: when it has to be looked at again.
    pub(crate) fn elapse(&mut self, now: Mono) -> Option<Mono> {
        self.out_until = self.out_until.filter(|until| *until > now);
        self.out_until
    }
}
