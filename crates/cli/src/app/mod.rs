//! The built-in applications of `fixwire run`.

pub mod conformance;
pub mod echo;
pub mod log;

use clap::ValueEnum;
use fixwire_lab::scenario::Echo;
use fixwire_protocol::session::Config;
use fixwire_protocol::{Application, Message, Mono, Now, Outbox, PeerLogout, Refusal, SessionId};

/// The name of an application on the command line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum Name {
    /// Accepts each order with an ExecutionReport of its own fields; cancels and replaces orders, fills none
    Echo,
    /// Answers each NewOrderSingle with the same report, that of the published benchmark; FIX 4.2 only
    Bench,
    /// Behaves as the public conformance suites ask for
    Conformance,
    /// Prints what arrives
    #[default]
    Log,
}

/// One of the built-in applications.
pub enum BuiltIn {
    /// See [`echo`].
    Echo(echo::OrderEcho),
    /// Answers with the report of the benchmarks.
    Bench(Echo),
    /// See [`conformance`].
    Conformance(conformance::Conformance),
    /// See [`log`].
    Log(log::Log),
}

impl BuiltIn {
    fn get(&mut self) -> &mut dyn Application {
        match self {
            Self::Echo(app) => app,
            Self::Bench(app) => app,
            Self::Conformance(app) => app,
            Self::Log(app) => app,
        }
    }
}

impl Application for BuiltIn {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        match self {
            // The one that is timed; its call is direct.
            Self::Bench(app) => app.on_message(now, from, message, outbox),
            other => other.get().on_message(now, from, message, outbox),
        }
    }

    fn on_logon(&mut self, now: Now, session: SessionId, logon: &Message<'_>, outbox: &mut Outbox) {
        self.get().on_logon(now, session, logon, outbox);
    }

    fn on_logout(&mut self, now: Now, session: SessionId, logout: PeerLogout<'_>) {
        self.get().on_logout(now, session, logout);
    }

    fn on_session_added(&mut self, now: Now, session: SessionId, name: &str, config: &Config) {
        self.get().on_session_added(now, session, name, config);
    }

    fn on_time(&mut self, _now: Now, _outbox: &mut Outbox) -> Option<Mono> {
        // None of them has work that depends on time.
        None
    }
}

#[cfg(test)]
pub mod tests {
    use fixwire_protocol::Decoder;

    use super::*;

    /// What an application answers to a message (`|` for SOH): MsgType and body of each message.
    pub fn answer(app: &mut dyn Application, text: &str) -> Result<Vec<String>, Refusal> {
        let bytes = text.replace('|', "\x01").into_bytes();
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(&bytes);
        let mut outbox = Outbox::new(1 << 16, 16, 256);
        app.on_message(Now::default(), SessionId(0), &message, &mut outbox)?;
        let said = (0..outbox.entries().len()).map(|index| {
            let body = String::from_utf8_lossy(outbox.body(index)).replace('\x01', "|");
            format!("{} {body}", String::from_utf8_lossy(outbox.msg_type(index)))
        });
        Ok(said.collect())
    }
}
